//! Utterances: prose without fenced code, cut into sentences and filtered. It knows no pattern.
//!
//! Source: seed 2.3.2 (`split_into_utterances`), with the repairs of the decisions: full-width marks split too, fenced
//! code is dropped whole, and a bare ellipsis stays, because it is the pattern of silence.

use crate::integrity::lang::Lang;

/// Abbreviations whose full stop ends no sentence, in lower case and without the last stop.
const ABBREVIATIONS: [&str; 38] = [
    "mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "e.g", "i.e", "cf", "approx", "fig", "vol", "inc", "ltd",
    "al", "pp", "p", "mme", "mlle", "mm", "ex", "p.ex", "art", "env", "av", "ch", "chap", "éd", "eq", "sec", "dept",
    "est", "gen", "ca", "nb",
];

/// Characters of three or fewer are a fragment. Source: seed 2.3.2.
const FRAGMENT: usize = 3;

/// The characters before a full stop that are looked at.
const LONGEST_ABBREVIATION: usize = 32;

/// The characters of the longest bracket that is taken as one. It bounds the search for the closing mark.
const LONGEST_ASIDE: usize = 400;

/// Returns whether text before a full stop ends in an abbreviation, an initial or the number of a list item.
pub fn is_abbreviation(before: &str) -> bool {
    // No abbreviation and no number of an item is longer: a look back over the whole line would cost its square.
    let reach = before.char_indices().rev().take(LONGEST_ABBREVIATION).last().map_or(0, |(index, _)| index);
    let is_whole = reach == 0 || before[reach..].contains('\n');
    let before = &before[reach..];
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    if is_whole && !line.is_empty() && line.len() <= 3 && line.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let is_inner = |letter: char| letter.is_alphabetic() && (letter.is_ascii() || letter < '\u{250}') || letter == '.';
    let start = before.char_indices().rev().take_while(|(_, letter)| is_inner(*letter)).last().map(|(index, _)| index);
    let Some(word) = start.map(|start| &before[start..]) else { return false };
    let is_initial = word.chars().count() == 1 && word != "I" && word.chars().all(char::is_uppercase);
    is_initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Returns whether a line opens or closes fenced code, as the mark and its length.
pub fn fence_of(line: &str) -> Option<(char, usize)> {
    let body = line.trim_start_matches(' ');
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = body.chars().take_while(|letter| *letter == mark).count();
    let info = &body[length..];
    (line.len() - body.len() <= 3 && length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Returns whether a line closes the fence that another line opened.
pub fn closes_fence(line: &str, (mark, length): (char, usize)) -> bool {
    let is_bare = line.trim().chars().all(|letter| letter == mark);
    is_bare && fence_of(line).is_some_and(|(_, own)| own >= length)
}

/// Returns a text without fenced code. A fence that stays open runs to the end.
pub fn prose(text: &str) -> String {
    let mut open = None;
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        match open {
            Some(fence) => {
                if closes_fence(bare, fence) {
                    open = None;
                    kept.push('\n');
                }
            }
            None => match fence_of(bare) {
                Some(fence) => open = Some(fence),
                None => kept.push_str(line),
            },
        }
    }
    kept
}

/// Returns the sentences of prose with their closing marks, in order. Nothing is filtered.
pub fn sentences(prose: &str, lang: Lang) -> Vec<&str> {
    prose.split('\n').flat_map(|line| sentences_of_line(line, lang)).filter(|part| !part.trim().is_empty()).collect()
}

fn sentences_of_line(line: &str, lang: Lang) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut index) = (0, 0);
    while let Some(letter) = line[index..].chars().next() {
        let after = index + letter.len_utf8();
        if let Some(end) = bracket_end(line, index) {
            index = end;
        } else if is_mark(letter, lang) {
            let run = |from: usize, held: fn(char) -> bool| {
                line[from..]
                    .char_indices()
                    .find(|(_, next)| !held(*next))
                    .map_or(line.len(), |(offset, _)| from + offset)
            };
            let marks_end = run(after, |next| matches!(next, '.' | '!' | '?' | '。' | '！' | '？' | '…'));
            let end = run(marks_end, |next| matches!(next, '"' | '”' | '’' | '»' | ')' | '」' | '』' | '）'));
            let is_wide = matches!(letter, '。' | '！' | '？') || lang.is_unspaced();
            let is_followed = end == line.len() || line[end..].starts_with(char::is_whitespace);
            let is_short = letter == '.' && marks_end == after && is_abbreviation(&line[..index]);
            if (is_wide || is_followed) && !is_short {
                parts.push(&line[start..end]);
                start = end;
            }
            index = end;
        } else {
            index = after;
        }
    }
    parts.push(&line[start..]);
    parts
}

fn is_mark(letter: char, lang: Lang) -> bool {
    matches!(letter, '。' | '！' | '？' | '!' | '?') || letter == '.' && !lang.is_unspaced()
}

/// Returns the end of the bracket that opens at `index`, where it closes in the line and soon.
fn bracket_end(line: &str, index: usize) -> Option<usize> {
    let open = line[index..].chars().next()?;
    let close = match open {
        '(' => ')',
        '（' => '）',
        '「' => '」',
        '『' => '』',
        _ => return None,
    };
    let mut depth = 0_usize;
    for (offset, letter) in line[index..].char_indices().take(LONGEST_ASIDE) {
        depth += usize::from(letter == open);
        if letter == close {
            depth -= 1;
            if depth == 0 {
                return Some(index + offset + letter.len_utf8());
            }
        }
    }
    None
}

/// Returns whether a text is an ellipsis and nothing else.
pub fn is_ellipsis(text: &str) -> bool {
    let text = text.trim();
    let dots: usize = text.chars().map(|letter| if matches!(letter, '…' | '‥') { 3 } else { 1 }).sum();
    dots >= 3 && text.chars().all(|letter| matches!(letter, '.' | '…' | '‥' | '・' | '。'))
}

/// Returns the utterances of a text: trimmed sentences of its prose without fragments and without asides in brackets.
pub fn utterances(text: &str, lang: Lang) -> Vec<String> {
    let prose = prose(text);
    let is_kept = |part: &str| {
        let bare = part.trim_end_matches(['。', '！', '？', '!', '?', '.']).trim();
        let measured = if lang.is_unspaced() { bare } else { part };
        let is_aside = bracket_end(bare, 0).is_some_and(|end| end == bare.len());
        is_ellipsis(part) || measured.chars().count() > FRAGMENT && !is_aside
    };
    sentences(&prose, lang).into_iter().map(str::trim).filter(|part| is_kept(part)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: Lang, text: &str, expected: &[&str]) {
        assert_eq!(utterances(text, lang), expected, "{text}");
    }

    #[test]
    fn japanese_splits_on_half_and_full_width_marks() {
        check(
            Lang::Ja,
            "今日は晴れです。本当ですか？すごいですね！そうです!ほんと?",
            &["今日は晴れです。", "本当ですか？", "すごいですね！", "そうです!"],
        );
        check(Lang::Ja, "値は3.14です。", &["値は3.14です。"]);
        check(Lang::Ja, "彼は「はい。行きます。」と言った。", &["彼は「はい。行きます。」と言った。"]);
    }

    #[test]
    fn spaced_languages_respect_abbreviations_and_numbers() {
        check(
            Lang::En,
            "Dr. Smith paid 3.50 dollars, e.g. in cash. It was J. Doe. So do I. Right?",
            &["Dr. Smith paid 3.50 dollars, e.g. in cash.", "It was J. Doe.", "So do I.", "Right?"],
        );
        check(Lang::En, "1. First item\n2. Second item", &["1. First item", "2. Second item"]);
        check(Lang::Fr, "Mme. Curie vint. Elle vit !", &["Mme. Curie vint.", "Elle vit !"]);
    }

    #[test]
    fn fragments_and_asides_drop_but_an_ellipsis_stays() {
        check(
            Lang::Ja,
            "はい。\n...\n……\n（笑っています）\n「そうです。はい」\n続けます。",
            &["...", "……", "続けます。"],
        );
        check(Lang::En, "OK.\n(an aside.)\n(a) and (b)\nYes, sure.", &["(a) and (b)", "Yes, sure."]);
    }

    #[test]
    fn fenced_code_drops_whole() {
        check(
            Lang::En,
            "Look here:\n```rust\n// I am sorry.\nlet a = 1;\n```\nThat is all.",
            &["Look here:", "That is all."],
        );
        check(Lang::En, "Before it.\n~~~\n```\nI am sorry.\n", &["Before it."]);
        check(Lang::En, "````\n```\nsorry\n````\nAfter it.", &["After it."]);
    }
}
