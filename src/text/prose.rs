//! Sentences as people read them: abbreviations, initials and numbers end none, and a line that is only wrapped goes on.
//!
//! Unicode's rules find where a sentence may end; this joins what they cut too often, and keeps headings and items of lists apart.
//! A sentence is a part of the text, as it stands there; [`unwrapped`] is how it reads on one line.

use std::ops::Range;

use icu_segmenter::SentenceSegmenter;
use icu_segmenter::options::SentenceBreakInvariantOptions;

use super::language::{self, Language, is_japanese};
use super::surface::{fold, key};

/// A line this wide, in columns, is wrapped where it ends without punctuation; a shorter one is a line of its own.
const WRAPPED: usize = 40;
/// Abbreviations before a name.
const BEFORE_NAMES: &str = "mr mrs ms dr prof st ste mme mlle m mm mgr capt col gen lt sgt rev hon pres gov rd ft mt fbg pl rte imp maj cpt cdt dir univ dept str";
/// Abbreviations before a number.
const BEFORE_NUMBERS: &str = "no nr nos fig figs vol ch chap art sec p pp tel ext n num ed";
/// Abbreviations before anything.
const BEFORE_ANYTHING: &str = "bd av blvd ave e.g i.e eg ie vs cf approx ca resp p.ex ex bzw z.b al viz incl";

/// Months in German, behind an ordinal number: `am 12. Mai`.
const MONTHS: &str = "januar jänner februar märz april mai juni juli august september oktober november dezember \
    feb mär apr jun jul aug sep sept okt nov dez";
/// Words before an ordinal number in German.
const BEFORE_ORDINALS: &str = "am im vom zum beim zur ab bis seit der die das den dem des ein eine einen einem einer jeder jede jedes jeden mein \
    dein sein ihr unser euer";

/// The sentences of a text, trimmed, none empty: without the marks of items and headings before them.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    for block in blocks(text) {
        // Every line end is one byte, and a space is one.
        let line = text[block.clone()].replace(['\n', '\r'], " ");
        let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
        let ends: Vec<usize> = segmenter.segment_str(&line).collect();
        let mut start = 0;
        for pair in ends.windows(2) {
            let (piece, rest) = (&line[start..pair[1]], &line[pair[1]..]);
            if rest.trim().is_empty() || !goes_on(piece.trim(), rest.trim_start()) {
                let sentence = text[block.start + start..block.start + pair[1]].trim();
                if !sentence.is_empty() {
                    list.push(sentence);
                }
                start = pair[1];
            }
        }
    }
    list
}

/// A text on one line: a line end, with the spaces around it, is one space, and in Japanese nothing.
pub fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        let (before, after) = (rest[..at].trim_end(), rest[at..].trim_start());
        out.push_str(before);
        let joins = |c: Option<char>| c.is_some_and(|c| is_japanese(c) || "、。「」！？".contains(c));
        if !(joins(before.chars().next_back()) && joins(after.chars().next())) {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What belongs together: paragraphs, items of lists, headings, and lines that are too short to be wrapped.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    let mut last = "";
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let start = at;
        at += whole.len();
        let line = whole.trim();
        let mark = marker(line);
        let rule = !line.is_empty() && line.chars().all(|c| "-=*_~#`|:+ \t".contains(c));
        if line.is_empty() || rule {
            open = false;
            continue;
        }
        let inset = whole.len() - whole.trim_start().len();
        let content = start + inset + mark..start + inset + line.len();
        if open && mark == 0 && continues(last, line) {
            blocks.last_mut().expect("invariant: a block is open").end = content.end;
        } else {
            blocks.push(content);
        }
        // Nothing goes on under a heading.
        open = !line.starts_with('#') && !line.starts_with('|');
        last = line;
    }
    blocks
}

/// Bytes of the mark of an item, a heading or a quotation before a line's words.
fn marker(line: &str) -> usize {
    let bare = line.trim_start_matches(['#', '>']).trim_start();
    let dropped = line.len() - bare.len();
    let item = ["- ", "* ", "+ ", "• ", "・", "– "].iter().find(|mark| bare.starts_with(**mark));
    if let Some(mark) = item {
        return dropped + mark.len();
    }
    let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = (1..=3).contains(&digits) && [". ", ") ", "、"].iter().any(|end| bare[digits..].starts_with(end));
    if numbered { line.len() - bare[digits..].trim_start_matches(['.', ')', '、', ' ']).len() } else { dropped }
}

/// Whether a line goes on in the next: it was cut at the width of a page, or the next begins in the middle of a sentence.
fn continues(line: &str, next: &str) -> bool {
    let ends = line
        .trim_end_matches(['"', '\'', ')', '»', '”', '」', '』', '*', '_'])
        .ends_with(['.', '!', '?', '。', '！', '？', '…']);
    let begins_small = next.starts_with(char::is_lowercase);
    let columns: usize = line.chars().map(|c| 1 + usize::from(is_japanese(c) || "、。「」！？（）".contains(c))).sum();
    // Where a sentence ends at a line's end, Unicode's rules cut as well.
    ends || begins_small || line.ends_with([',', ';', '、', '-', '(']) || columns >= WRAPPED
}

/// Whether a sentence does not end here, whatever its last mark looks like.
fn goes_on(piece: &str, next: &str) -> bool {
    if next.starts_with(char::is_lowercase) {
        return true;
    }
    if piece.ends_with(['」', '』']) && (next.starts_with('と') || next.starts_with("って")) {
        return true;
    }
    let Some(bare) = piece.strip_suffix('.') else { return false };
    if bare.ends_with('.') {
        return false;
    }
    let last = bare.rsplit(|c: char| c.is_whitespace() || "('\"«“’".contains(c)).next().unwrap_or_default();
    let low = fold(&key(last));
    let is_in = |list: &str| !low.is_empty() && list.split_whitespace().any(|known| known == low);
    let number = next.starts_with(|c: char| c.is_ascii_digit());
    if is_in(BEFORE_ANYTHING) || is_in(BEFORE_NAMES) || number && is_in(BEFORE_NUMBERS) {
        return true;
    }
    if is_ordinal(bare, last, next) {
        return true;
    }
    // An initial, alone or after others: `J. K. Rowling`; but `plan B. We left`.
    let letter = last.rsplit('.').next().unwrap_or_default();
    let initial = letter.chars().count() == 1 && letter.chars().all(char::is_alphabetic) && letter != "I";
    let follows = next.split_whitespace().next().map(|word| key(word.trim_matches(|c: char| !c.is_alphanumeric())));
    let stops = |word: &str| {
        language::is_stop(word, Some(Language::English)) || language::is_stop(word, Some(Language::French))
    };
    initial && follows.is_some_and(|word| word.chars().count() == 1 || !stops(&word))
}

/// Whether a number with a point is an ordinal of German: before a month, or between a word such as `am` and a noun.
fn is_ordinal(before: &str, number: &str, next: &str) -> bool {
    let digits = number.rsplit(['.', '/', '-', '–']).next().unwrap_or_default();
    if !(1..=2).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let first = key(next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
    let above = key(before[..before.len() - number.len()].split_whitespace().next_back().unwrap_or_default());
    let is = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let is_noun = || first.starts_with(char::is_alphabetic) && !language::is_stop(&first, Some(Language::German));
    is(MONTHS, &first) || is(BEFORE_ORDINALS, &above) && is_noun()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_in_three_languages() {
        for (text, expected) in [
            ("It rained. We stayed in! Why?", vec!["It rained.", "We stayed in!", "Why?"]),
            ("Il a plu. On est restés ! Pourquoi ?", vec!["Il a plu.", "On est restés !", "Pourquoi ?"]),
            ("雨が降った。家にいた！なぜ？", vec!["雨が降った。", "家にいた！", "なぜ？"]),
            ("「行く。」と言った。", vec!["「行く。」と言った。"]),
            (" \n ", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text), expected);
        }
    }

    #[test]
    fn abbreviations_initials_and_numbers_end_no_sentence() {
        for (text, count) in [
            ("Dr. Berg saw us on Monday.", 1),
            ("We met J. K. Larsen and Mr. Holm. They left.", 2),
            ("Bring fruit, e.g. Apples or pears.", 1),
            ("J'ai vu M. Dupont et Mme. Roche hier. Il pleuvait.", 2),
            ("Un fruit, p. ex. Une pomme.", 1),
            ("See fig. 3 and no. 12 on p. 5.", 1),
            ("I said no. Then we left.", 2),
            ("It costs 3.50 euros, see https://shop.example/a.b?c=d for more. Fine.", 2),
            ("Apples, pears etc. are fruit. So are figs.", 2),
            ("We took plan B. We left at once.", 2),
            ("\"Really?\" she asked. Yes.", 2),
            ("Wait... What is that?", 2),
            ("Das Sommerfest wird auf den 12. Juli verschoben, weil die Blaskapelle nicht kann.", 1),
            ("Am 3. Tag kam sie zum 2. Vortrag. Es regnete.", 2),
            ("Vom 1. bis 3. Oktober ist zu. Dann nicht.", 2),
            ("Die Gießkanne steht bei Parzelle 12. Der Schlauch fehlt.", 2),
            ("Es waren die 12. Danach kam niemand.", 2),
            ("There were 12. Then we left.", 2),
        ] {
            assert_eq!(sentences(text).len(), count, "{text}: {:?}", sentences(text));
        }
    }

    #[test]
    fn a_wrapped_line_goes_on_and_a_heading_or_an_item_does_not() {
        let wrapped = "The spare key of the garden house hangs behind\nOlga's blue raincoat. The other one\nis lost.";
        assert_eq!(
            sentences(wrapped),
            ["The spare key of the garden house hangs behind\nOlga's blue raincoat.", "The other one\nis lost."]
        );
        assert_eq!(unwrapped(sentences(wrapped)[1]), "The other one is lost.");
        let list = "# Shopping\n\n- green tea\n- milk for\n  the cats\n1. bread\n12) salt";
        assert_eq!(sentences(list), ["Shopping", "green tea", "milk for\n  the cats", "bread", "salt"]);
        assert_eq!(unwrapped("milk for\n  the cats"), "milk for the cats");
        assert_eq!(sentences("Bike lock\nThe code is 4711."), ["Bike lock", "The code is 4711."]);
        assert_eq!(sentences("Oslo\n\nBergen\n====\nThe town."), ["Oslo", "Bergen", "The town."]);
        let japanese = "庭の小屋の予備の鍵は、オルガの青いレインコートの\n後ろに掛かっている。もう一つは無い。";
        assert_eq!(sentences(japanese).len(), 2);
        assert_eq!(
            unwrapped(sentences(japanese)[0]),
            "庭の小屋の予備の鍵は、オルガの青いレインコートの後ろに掛かっている。"
        );
    }

    #[test]
    fn every_sentence_is_a_part_of_its_text() {
        for text in [
            "1. 2. 3.",
            "#",
            "- ",
            "> > a",
            "a\r\nb. C\u{2028}d",
            "...",
            "\n\n.\n",
            "1、\u{3042}",
            "999) é. É.",
            "12、a",
        ] {
            for sentence in sentences(text) {
                assert!(text.contains(sentence) && !sentence.trim().is_empty(), "{text:?}: {sentence:?}");
            }
        }
    }
}
