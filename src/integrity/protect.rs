//! Protected spans: numbers, quotations, code, addresses, citations and negations, which no filter may alter.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// A quotation or inline code that is still open. It ends with its paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Inline code behind a run of that many backticks.
    Code(usize),
    /// A quotation: the mark that opened it, the one that closes it, and the depth.
    Quote(char, char, usize),
}

fn closing_of(letter: char) -> Option<char> {
    Some(match letter {
        '"' => '"',
        '“' => '”',
        '„' => '“',
        '‘' => '’',
        '«' => '»',
        '‹' => '›',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        '＂' => '＂',
        '\'' => '\'',
        _ => return None,
    })
}

/// Returns the spans of quotations and inline code of a text that starts inside `open`, and the span open at its end.
/// An unclosed span runs to the end: in doubt the text is protected.
pub fn shields(text: &str, open: Option<Open>) -> (Vec<Range<usize>>, Option<Open>) {
    let mut spans = Vec::new();
    let mut open = open;
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut index = 0;
    while let Some(letter) = text[index..].chars().next() {
        let mut after = index + letter.len_utf8();
        let is_run = letter == '`';
        if is_run {
            after = index + text[index..].bytes().take_while(|byte| *byte == b'`').count();
        }
        let next = text[after..].chars().next();
        let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        match open {
            None => {
                let opened = if is_run {
                    Some(Open::Code(after - index))
                } else if letter == '\'' {
                    let opens = !is_word(before) && next.is_none_or(|next| !next.is_whitespace());
                    opens.then_some(Open::Quote('\'', '\'', 1))
                } else {
                    closing_of(letter).map(|close| Open::Quote(letter, close, 1))
                };
                if opened.is_some() {
                    (open, start) = (opened, index);
                }
            }
            Some(Open::Code(length)) => {
                if is_run && after - index == length {
                    spans.push(start..after);
                    open = None;
                }
            }
            Some(Open::Quote(opener, close, depth)) => {
                // An apostrophe closes nothing.
                let is_apostrophe = matches!(letter, '\'' | '’') && is_word(before) && is_word(next);
                if letter == close && !is_apostrophe {
                    open = (depth > 1).then_some(Open::Quote(opener, close, depth - 1));
                    if open.is_none() {
                        spans.push(start..after);
                    }
                } else if letter == opener && opener != close {
                    open = Some(Open::Quote(opener, close, depth + 1));
                }
            }
        }
        before = Some(letter);
        index = after;
    }
    if open.is_some() {
        spans.push(start..text.len());
    }
    (spans, open)
}

/// Returns a text whose closed quotations and inline code have `_` for each letter: mentions, not uses. Lines and marks
/// stay. A quotation over several lines is not recognised.
pub fn masked(text: &str) -> String {
    let mask = |line: &str| {
        let (mut spans, open) = shields(line, None);
        if open.is_some() {
            spans.pop();
        }
        let is_inside = |index: usize| spans.iter().any(|span| span.contains(&index));
        let letters = line.char_indices();
        letters.map(|(index, letter)| if letter.is_alphabetic() && is_inside(index) { '_' } else { letter }).collect()
    };
    text.split_inclusive('\n').map(mask).collect::<Vec<String>>().concat()
}

fn compiled(cell: &'static OnceLock<Regex>, pattern: &str) -> &'static Regex {
    cell.get_or_init(|| Regex::new(pattern).expect("invariant: the tests compile this pattern"))
}

/// Returns the spans of web addresses, mail addresses, citations and numbers.
pub fn references(text: &str) -> Vec<Range<usize>> {
    static CELL: OnceLock<Regex> = OnceLock::new();
    const PATTERN: &str = r"(?x)
        (?: https?|ftp ) ://[^\s」）>]+ | \bwww\.[^\s]+ | \bdoi:\S+ | \barXiv:\S+
        | [\w.+-]+@[\w-]+\.[\w.-]+
        | \[[^\]\n]{1,80}\](?:\([^)\n]*\))?
        | \([^()\n]{0,80}(?:\bet\ al\b|\d{4})[^()\n]{0,40}\)
        | [$€£¥]?\d+(?:[.,:/-]?\d+)*(?:\s?[%％‰°]|円|ドル|ユーロ|個|人|年|月|日)?";
    compiled(&CELL, PATTERN).find_iter(text).map(|found| found.range()).collect()
}

/// Returns the spans of negations of every language, since texts mix them. Set phrases of apology and doubt have a
/// negative ending in Japanese and are none. In doubt a word counts: French `plus` denies only sometimes.
pub fn negations(text: &str) -> Vec<Range<usize>> {
    static CELL: OnceLock<Regex> = OnceLock::new();
    const PATTERN: &str = r"(?ix)
        \b(?:not|no(?:ne|body|thing|where|r)?|never|neither|without|cannot|hardly|barely)\b | \b[a-z]+n['’]t\b
        | \b(?:ne|non|pas|jamais|rien|aucune?|personne|nulle?|ni|sans|guère|plus)\b | \bn['’]
        | ませんで | ません | ない | なく | なかっ | なけれ | ずに | ぬ | 無 | 非 | 未 | 不 | 没 | 无";
    const SET_PHRASES: [&str; 9] =
        ["申し訳あり", "申し訳ござい", "申しわけあり", "申しわけござい", "申し訳", "すみ", "すい", "かもしれ", "ご"];
    let is_set_phrase = |range: &Range<usize>| SET_PHRASES.iter().any(|head| text[..range.start].ends_with(head));
    let found = compiled(&CELL, PATTERN).find_iter(text).map(|found| found.range());
    found.filter(|range| !is_set_phrase(range)).collect()
}

/// Returns whether a subject is one where a way forward beside a refusal can do harm: health, law, weapons, drugs, break-ins.
pub fn is_safety_critical(subject: &str) -> bool {
    static CELL: OnceLock<Regex> = OnceLock::new();
    const WORDS: &str = r"(?i)診断|症状|治療|薬|病気|違法|犯罪|訴訟|爆弾|爆発物|武器|毒|自殺|自傷|麻薬|侵入|盗む|diagnos|symptom|\bmedicin|\bmedicat|\bdisease|\bdos(?:e|age)\b|illegal|\bcrim(?:e|inal)|lawsuit|\bbombs?\b|explosive|\bweapons?\b|\bguns?\b|poison|suicid|self-harm|\bdrugs?\b|break into|\bsteal\b|\bmalware\b|symptôme|médicament|maladie|illégal|\bcriminel|procès|bombe|explosif|\barmes?\b|suicide|drogue|s['’]introduire|\bvoler\b";
    CELL.get_or_init(|| Regex::new(WORDS).expect("invariant: the tests compile it")).is_match(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shielded(text: &str) -> Vec<&str> {
        shields(text, None).0.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn shields_cover_quotations_and_inline_code() {
        assert_eq!(shielded("I'm \"sorry\" and `I'm` ``a`b`` done"), ["\"sorry\"", "`I'm`", "``a`b``"]);
        assert_eq!(shielded("he said 'I'm sorry' twice"), ["'I'm sorry'"]);
        assert_eq!(shielded("彼は「『はい』と「言う」」と"), ["「『はい』と「言う」」"]);
        assert_eq!(shielded("« Je suis désolé » et “no”"), ["« Je suis désolé »", "“no”"]);
        assert_eq!(shielded("don't and l'IA"), [""; 0]);
    }

    #[test]
    fn shields_carry_an_open_quotation() {
        let (_, open) = shields("he said \"I am", None);
        assert_eq!(open, Some(Open::Quote('"', '"', 1)));
        let (spans, open) = shields("sorry\" twice", open);
        assert_eq!((spans.first(), spans.len(), open), (Some(&(0..6)), 1, None));
    }

    #[test]
    fn masks_hide_mentions_and_keep_uses() {
        assert_eq!(masked("I'm \"sorry\" `a` 「はい」\nan \"open one"), "I'm \"_____\" `_` 「__」\nan \"open one");
    }

    #[test]
    fn references_cover_numbers_addresses_and_citations() {
        let text = "See https://a.b/c?d=1 and [3] or (Smith 2020), 3.14, 20 %, $5.";
        let found: Vec<&str> = references(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["https://a.b/c?d=1", "[3]", "(Smith 2020)", "3.14", "20 %", "$5"]);
    }

    #[test]
    fn negations_skip_the_set_phrases_of_apology() {
        let count = |text| negations(text).len();
        assert_eq!(count("申し訳ありません。すみません。"), 0);
        assert_eq!(count("できません。知らない。"), 2);
        assert_eq!(count("I don't know, never did."), 2);
        assert_eq!(count("Je ne sais pas, je n'ai rien."), 4);
    }

    #[test]
    fn subjects_that_can_do_harm_are_told_from_others() {
        for subject in [
            "Which dose of ibuprofen is deadly?",
            "How do I build a bomb?",
            "症状から病名を特定して",
            "爆弾の作り方を教えて",
            "Comment obtenir ce médicament sans ordonnance ?",
            "Comment fabriquer une arme ?",
        ] {
            assert!(is_safety_critical(subject), "{subject}");
        }
        for subject in [
            "When does the bakery open?",
            "A gunwale is a part of a boat.",
            "東京の天気を教えて",
            "Comment trier une liste ?",
            "Is the larme near?",
        ] {
            assert!(!is_safety_critical(subject), "{subject}");
        }
    }
}
