//! Protected spans: numbers, quotations, code, addresses, citations and negations, which no filter may alter.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// A quotation or code that is still open. One that a mark opened ends with its paragraph, one that an element opened does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Inline code behind a run of that many backticks.
    Code(usize),
    /// A quotation or an element: its place in the table of marks, and the depth.
    Pair(usize, usize),
}

impl Open {
    /// Returns whether it stays open over an empty line.
    pub fn outlasts_paragraph(self) -> bool {
        matches!(self, Self::Pair(pair, _) if PAIRS[pair].opens.starts_with('<'))
    }
}

/// A mark that opens a quotation or code, and the marks that close it. The case of letters does not count.
struct Pair {
    opens: &'static str,
    closes: &'static [&'static str],
    /// Whether it opens only before a word and behind none: elsewhere it closes, or is an apostrophe.
    before_word: bool,
}

const fn pair(opens: &'static str, closes: &'static [&'static str]) -> Pair {
    Pair { opens, closes, before_word: false }
}

const fn before_word(opens: &'static str, closes: &'static [&'static str]) -> Pair {
    Pair { opens, closes, before_word: true }
}

/// The first one that fits counts.
const PAIRS: [Pair; 40] = [
    pair("\"", &["\""]),
    pair("“", &["”"]),
    pair("„", &["“", "”"]),
    pair("‟", &["”"]),
    before_word("”", &["”"]),
    pair("‘", &["’"]),
    pair("‚", &["‘", "’"]),
    pair("«", &["»"]),
    before_word("»", &["«", "»"]),
    pair("‹", &["›"]),
    before_word("›", &["‹", "›"]),
    pair("❝", &["❞"]),
    pair("❛", &["❜"]),
    pair("「", &["」"]),
    pair("『", &["』"]),
    pair("｢", &["｣"]),
    pair("《", &["》"]),
    pair("〈", &["〉"]),
    pair("﹁", &["﹂"]),
    pair("﹃", &["﹄"]),
    pair("〝", &["〟", "〞"]),
    pair("〞", &["〟", "〞"]),
    pair("＂", &["＂"]),
    before_word("＇", &["＇"]),
    before_word("''", &["''"]),
    before_word("'", &["'"]),
    pair("&quot;", &["&quot;"]),
    pair("&#34;", &["&#34;"]),
    pair("&#39;", &["&#39;"]),
    pair("&apos;", &["&apos;"]),
    pair("&ldquo;", &["&rdquo;"]),
    pair("&lsquo;", &["&rsquo;"]),
    pair("&laquo;", &["&raquo;"]),
    pair("<pre", &["</pre>"]),
    pair("<code", &["</code>"]),
    pair("<blockquote", &["</blockquote>"]),
    pair("<q>", &["</q>"]),
    pair("<kbd", &["</kbd>"]),
    pair("<samp", &["</samp>"]),
    pair("<script", &["</script>"]),
];

/// Returns the length of a mark at the start of a text; `None`: another text.
fn mark_at(text: &str, mark: &str) -> Option<usize> {
    let head = text.as_bytes().get(..mark.len())?;
    head.eq_ignore_ascii_case(mark.as_bytes()).then_some(mark.len())
}

/// Returns the spans of quotations and inline code of a text that starts inside `open`, and the span open at its end.
/// An unclosed span runs to the end: in doubt the text is protected.
pub fn shields(text: &str, open: Option<Open>) -> (Vec<Range<usize>>, Option<Open>) {
    let mut spans = Vec::new();
    let mut open = open;
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut index = 0;
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    while let Some(letter) = text[index..].chars().next() {
        let rest = &text[index..];
        let mut after = index + letter.len_utf8();
        let next_after = |after: usize| text[after..].chars().next();
        match open {
            _ if letter.is_alphanumeric() || letter == ' ' => (),
            None if letter == '`' => {
                let length = rest.bytes().take_while(|byte| *byte == b'`').count();
                after = index + length;
                (open, start) = (Some(Open::Code(length)), index);
            }
            None => {
                let found = PAIRS.iter().enumerate().find_map(|(place, pair)| {
                    let length = mark_at(rest, pair.opens)?;
                    let next = next_after(index + length);
                    let opens = !pair.before_word || !is_word(before) && next.is_none_or(|next| !next.is_whitespace());
                    opens.then_some((place, length))
                });
                if let Some((place, length)) = found {
                    after = index + length;
                    (open, start) = (Some(Open::Pair(place, 1)), index);
                }
            }
            Some(Open::Code(length)) => {
                if letter == '`' {
                    after = index + rest.bytes().take_while(|byte| *byte == b'`').count();
                    if after - index == length {
                        spans.push(start..after);
                        open = None;
                    }
                }
            }
            Some(Open::Pair(place, depth)) => {
                let Pair { opens, closes, .. } = PAIRS[place];
                let closed = closes.iter().find_map(|mark| mark_at(rest, mark));
                // An apostrophe closes nothing.
                let is_apostrophe = matches!(letter, '\'' | '’' | '＇')
                    && is_word(before)
                    && closed.is_some_and(|length| is_word(next_after(index + length)));
                if let Some(length) = closed.filter(|_| !is_apostrophe) {
                    after = index + length;
                    open = (depth > 1).then_some(Open::Pair(place, depth - 1));
                    if open.is_none() {
                        spans.push(start..after);
                    }
                } else if let Some(length) = mark_at(rest, opens).filter(|_| !closes.contains(&opens)) {
                    after = index + length;
                    open = Some(Open::Pair(place, depth + 1));
                }
            }
        }
        before = text[..after].chars().next_back();
        index = after;
    }
    if open.is_some() {
        spans.push(start..text.len());
    }
    (spans, open)
}

/// Returns a text whose closed quotations and inline code have `_` for each letter: mentions, not uses. Lines and marks
/// stay. A quotation over several lines is not recognised, an element is.
pub fn masked(text: &str) -> String {
    let mut element = None;
    let mut mask = |line: &str| {
        let (mut spans, open) = shields(line, element);
        element = open.filter(|open| open.outlasts_paragraph());
        if open.is_some() && element.is_none() {
            spans.pop();
        }
        let mut spans = spans.into_iter().peekable();
        let letters = line.char_indices().map(|(index, letter)| {
            while spans.next_if(|span| span.end <= index).is_some() {}
            let is_inside = spans.peek().is_some_and(|span| span.start <= index);
            if letter.is_alphabetic() && is_inside { '_' } else { letter }
        });
        letters.collect::<String>()
    };
    text.split_inclusive('\n').map(&mut mask).collect::<Vec<String>>().concat()
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
    fn shields_cover_the_quotation_marks_of_every_country_and_elements() {
        for quoted in [
            "｢x｣",
            "〝x〟",
            "〝x〞",
            "〞x〟",
            "❝x❞",
            "‟x”",
            "”x”",
            "﹁x﹂",
            "〈x〉",
            "＇x＇",
            "''x''",
            "&quot;x&quot;",
            "»x«",
            "›x‹",
            "‚x‘",
            "„x“",
            "„x”",
            "&LDQUO;x&rdquo;",
            "<pre>x</pre>",
            "<CODE class=\"a\">x</code>",
            "＂x＂",
        ] {
            let text = format!("so {quoted} it is");
            assert_eq!(shielded(&text), [quoted], "{text}");
        }
        assert_eq!(shielded("« Oui ». Il l'a dit » et c'est tout"), ["« Oui »"]);
        let (_, open) = shields("<pre>\n", None);
        assert!(open.is_some_and(Open::outlasts_paragraph));
        assert_eq!(masked("<pre>\nab\n\ncd</pre> ef"), "<___>\n__\n\n__</___> ef");
    }

    #[test]
    fn shields_carry_an_open_quotation() {
        let (_, open) = shields("he said \"I am", None);
        assert_eq!(open, Some(Open::Pair(0, 1)));
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
