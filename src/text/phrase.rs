//! Names: who speaks, and which spans are written as names.

use super::date::is_date;
use super::language::{Language, is_japanese, is_stop};
use super::markup::Markup;
use super::surface::key;
use super::urgency::is_called_out;
use super::word::{Word, words};

/// A span of a text that is written as a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase<'t> {
    /// As it stands in the text.
    pub surface: &'t str,
    /// As a concept's name.
    pub key: String,
    /// How many words it has.
    pub words: usize,
    /// Where it starts, bytes.
    pub start: usize,
    /// Whether it stands inside a sentence, where a capital says that it is a name; or its script has none.
    pub inside: bool,
}

/// Words in lower case that names are joined by.
const JOINTS: [&str; 17] =
    ["of", "the", "and", "de", "du", "des", "d", "la", "le", "les", "l", "von", "van", "der", "da", "del", "di"];
/// A longer row of capitalised words is a heading or shouting, not a name.
const NAME_WORDS: usize = 6;
/// A longer first line is a sentence.
const TITLE_WORDS: usize = 12;
/// A shorter first line is taken for a title whatever stands under it.
const CUT_WORDS: usize = 5;
/// Words from which on a text says something.
const STATED_WORDS: usize = 5;
/// How many of them are no joints: with two there is no more than a name, or less than a sentence.
const STATED_BESIDE: usize = 3;
/// Characters that the name before a colon may have.
const NAME_CHARS: usize = 40;

/// The speaker and what is said, of a text such as `Marie: Bonjour`, `太郎：こんにちは`, `assistant: Hello`.
///
/// A name is up to four words of letters and digits, each capitalised or of a script without case; one word alone may be
/// in lower case. What follows is white space (nothing need follow the full-width colon), then something said.
pub fn speaker(text: &str) -> Option<(&str, &str)> {
    let (at, colon) = text.char_indices().take(NAME_CHARS + 2).find(|(_, c)| matches!(c, ':' | '：'))?;
    let name = text[..at].trim();
    let after = &text[at + colon.len_utf8()..];
    let said = after.trim();
    let spaced = colon == '：' || after.starts_with(char::is_whitespace);
    if !spaced || name.is_empty() || said.is_empty() || name.contains(['\n', '\t']) {
        return None;
    }
    let good = |c: char| c.is_alphanumeric() || " .-_'’・#".contains(c) || is_mark(c);
    if !name.chars().all(good) || !name.chars().any(char::is_alphabetic) {
        return None;
    }
    let parts: Vec<&str> = name.split_whitespace().collect();
    let capital = |word: &&str| word.chars().next().is_some_and(|c| !c.is_lowercase());
    let joint = |word: &&str| JOINTS.contains(word);
    let cased = parts.len() == 1 || (capital(&parts[0]) && parts.iter().all(|w| capital(w) || joint(w)));
    let inside = words(name);
    let sentence = inside.iter().any(|w| w.is_stop && w.key.chars().any(is_japanese))
        || (parts.len() > 1 && is_stop(&key(parts[0]), Some(Language::English)));
    // `Urgent: …` is called out, `Tuesday: …` is a day: nobody's names.
    (cased && parts.len() <= 4 && !sentence && !is_called_out(name) && !is_date(name)).then_some((name, said))
}

/// Whether somebody could ask for something by that key: no date, no number of a version control system, no sign of code, and no word that
/// every text has.
pub fn is_askable(key: &str) -> bool {
    const NOTHING: [&str; 8] = ["mon", "tue", "wed", "thu", "fri", "http", "https", "www"];
    let is_hash = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= 7 && 0 < digits && digits < word.len() && word.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let is_code = key.contains(['=', '<', '>', '{', '}', ';', '\\']);
    !is_code
        && !NOTHING.contains(&key)
        && !is_stop(key, Some(Language::English))
        && !is_date(key)
        && !key.split(|c: char| !c.is_alphanumeric()).any(is_hash)
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}' | '\u{0900}'..='\u{0dff}' | '\u{3099}' | '\u{309a}' | 'ー')
}

/// The spans of a text that are written as names: rows of capitalised words, of katakana words, or of such words joined by
/// `of`, `de` and the like; at most six words. A function word that only starts a sentence is not part of one.
pub fn phrases(text: &str) -> Vec<Phrase<'_>> {
    let words = words(text);
    let markup = Markup::of(text);
    let mut list = Vec::new();
    let shouted = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    if shouted && words.len() > NAME_WORDS {
        return list;
    }
    let mut row: Vec<usize> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let adjacent = i > 0 && !row.is_empty() && joins(text, &words[i - 1], word);
        if !adjacent {
            close(&markup, text, &words, &mut row, &mut list);
        }
        let joint = !row.is_empty() && JOINTS.contains(&word.surface);
        if is_name(word) && !(row.is_empty() && word.is_stop) || joint {
            row.push(i);
        } else {
            close(&markup, text, &words, &mut row, &mut list);
        }
    }
    close(&markup, text, &words, &mut row, &mut list);
    list
}

fn is_name(word: &Word<'_>) -> bool {
    let katakana = |c: char| matches!(c, '\u{30a1}'..='\u{30fa}' | 'ー');
    let mut chars = word.surface.chars();
    let first = chars.next().unwrap_or(' ');
    first.is_uppercase() || first.is_numeric() && !word.is_stop || word.surface.chars().all(katakana)
}

/// Whether only a space, a hyphen, an apostrophe or a middle dot stands between two words.
fn joins(text: &str, left: &Word<'_>, right: &Word<'_>) -> bool {
    let between = &text[left.start + left.surface.len()..right.start];
    matches!(between, " " | "\u{a0}" | "-" | "'" | "’" | "・" | "＝" | "=" | ". " | "")
        && (between != ". " || left.surface.chars().count() == 1)
}

fn close<'t>(markup: &Markup<'_>, text: &'t str, words: &[Word<'t>], row: &mut Vec<usize>, list: &mut Vec<Phrase<'t>>) {
    // What ends a row must itself be a name, not a joint; and a row of numbers names nothing.
    while row.last().is_some_and(|i| !is_name(&words[*i]) || words[*i].is_stop) {
        row.pop();
    }
    let lettered = row.iter().any(|i| words[*i].surface.chars().any(char::is_alphabetic));
    if let (Some(first), Some(last)) = (row.first(), row.last())
        && lettered
        && row.len() <= NAME_WORDS
    {
        let (start, end) = (words[*first].start, words[*last].start + words[*last].surface.len());
        let surface = &text[start..end];
        let caseless = !surface.chars().any(|c| c.is_uppercase() || c.is_lowercase());
        let inside = if caseless { !markup.is_marked(start) } else { markup.is_inside(start) };
        list.push(Phrase { surface, key: key(surface), words: row.len(), start, inside });
    }
    row.clear();
}

/// The title of a text: a first line of at most twelve words that does not end as a sentence, with more text under it.
pub fn title(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    let title = first.trim().trim_start_matches('#').trim();
    let ends = title.ends_with(['.', '!', '?', ',', ';', ':', '。', '！', '？', '、', '：']);
    let count = words(title).len();
    (!ends && (1..=TITLE_WORDS).contains(&count) && !rest.trim().is_empty()).then_some(title)
}

/// The [`title`] of a text if it can be a name that somebody asks for: no line of code or of a log, no date or number, no option, and no
/// sentence that goes on in the next line.
pub fn named_title(text: &str) -> Option<&str> {
    let title = title(text)?;
    let is_shouted = !title.chars().any(char::is_lowercase) && title.chars().any(char::is_uppercase);
    if is_shouted && words(title).len() > NAME_WORDS {
        return None;
    }
    let below = text.trim_start().split_once('\n').map_or("", |(_, rest)| rest);
    (!is_code(title) && !is_counted(title) && !goes_on(title, below)).then_some(title)
}

/// Whether a line has the signs of code, of an option or of a quoted command. Brackets behind a name may hold a number, as in
/// `printf(3)`, or stand apart, as in `Brand (play)`.
fn is_code(line: &str) -> bool {
    let quoted =
        line.starts_with(['-', '+', '$', '%', '@', '~', '&', '.', ':', '!', '*', '`']) && !line.starts_with(".NET");
    let spaced = line.starts_with("//")
        || line.starts_with('/') && line.contains(' ')
        || line.ends_with('#') && line.contains(' ');
    let signs = line.contains(['=', '<', '>', '[', ']', '{', '}', '|', ';', '\\']);
    let marks = ["()", "( )", "/*", "*/", "\"\"\"", "'''"].iter().any(|mark| line.contains(mark));
    let orders = ["import ", "include ", "def "].iter().any(|word| line.starts_with(word))
        || line.starts_with("from ") && line.contains(" import ");
    let whole = line.starts_with('(') && line.find(')').is_none_or(|at| at + 1 == line.len());
    quoted
        || spaced
        || signs
        || marks
        || orders
        || whole
        || line.matches('(').count() != line.matches(')').count()
        || is_call(line)
}

/// Whether brackets with anything but a short number, such as a manual's section, stand right behind a name.
fn is_call(line: &str) -> bool {
    line.match_indices('(').any(|(at, _)| {
        let behind = line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let inside = line[at + 1..].split(')').next().unwrap_or_default();
        let section = inside.len() <= 3 && inside.starts_with(|c: char| c.is_ascii_digit());
        behind && !section
    })
}

/// Whether a line is a number, a date or a time with something behind it, or a single letter: more of its words are numbers than are not.
fn is_counted(line: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parted = |word: &str, by: char, least: usize| {
        let parts: Vec<&str> = word.trim_matches(|c: char| !c.is_ascii_digit()).split(by).collect();
        parts.len() >= least && parts.iter().all(|part| digits(part.split(['.', ',']).next().unwrap_or_default()))
    };
    let dated = line.split([' ', 'T']).next().is_some_and(|first| parted(first, '-', 3) || parted(first, '/', 3));
    let timed = line.split([' ', 'T']).any(|word| parted(word, ':', 3));
    let lettered = line.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let numbers = line.split_whitespace().filter(|word| !word.chars().any(char::is_alphabetic));
    let numbers = numbers.filter(|word| word.chars().any(char::is_numeric)).count();
    dated || timed || numbers > lettered || lettered == 0 || line.len() == 1
}

/// Whether a line of five words and more goes on in the next one: that begins in lower case, or this one does, or ends with a function word.
fn goes_on(line: &str, below: &str) -> bool {
    let words = words(line);
    if words.len() < CUT_WORDS || !line.chars().any(char::is_lowercase) {
        return false;
    }
    let lower = |text: &str| text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_lowercase);
    let next = below.lines().next().unwrap_or_default().trim();
    lower(line) || lower(next) || !next.is_empty() && words.last().is_some_and(|word| word.is_stop)
}

/// What a title names: without the explanation in brackets that encyclopaedias put at its end, as in `Brand (play)`.
pub fn bare_title(title: &str) -> &str {
    let open = match title.chars().last() {
        Some(')') => title.rfind('('),
        Some('）') => title.rfind('（'),
        _ => None,
    };
    open.map(|at| title[..at].trim_end()).filter(|bare| !bare.is_empty()).unwrap_or(title)
}

/// Whether a text says something by itself: it has five words or more, and three of them are more than what joins names, as in `The Lord of
/// the Rings`. Capitals tell nothing: whoever writes a text chooses them.
pub fn states(text: &str) -> bool {
    let words = words(text);
    let more = words.iter().filter(|word| !JOINTS.contains(&word.key.as_str())).count();
    words.len() >= STATED_WORDS && more >= STATED_BESIDE
}

/// Whether a text ends as a question, in ASCII or full width, quotes and brackets aside.
pub fn asks(text: &str) -> bool {
    let end = text.chars().rev().find(|c| c.is_alphanumeric() || "?？.!。！…".contains(*c));
    end.is_some_and(|c| c == '?' || c == '？')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_in_three_languages() {
        for (text, expected) in [
            ("Caroline: Hey Mel!", Some(("Caroline", "Hey Mel!"))),
            ("Mary Ann O'Neil: no", Some(("Mary Ann O'Neil", "no"))),
            ("user: hello: you", Some(("user", "hello: you"))),
            ("URGENT: the gateway is down", None),
            ("Help: the gateway is down!", None),
            ("URGENT : la passerelle est tombée !", None),
            ("緊急：来てください", None),
            ("Éloïse de la Tour : bonjour", Some(("Éloïse de la Tour", "bonjour"))),
            ("太郎：こんにちは", Some(("太郎", "こんにちは"))),
            ("レオ・ダ・ヴィンチ: 絵", Some(("レオ・ダ・ヴィンチ", "絵"))),
            ("今日の予定：買い物", None),
            ("See http://x.example", None),
            ("At 12:30 we left", None),
            ("J'ai trois choses : pain", None),
            ("The Plan: buy milk", None),
            ("Well, Anna: no", None),
            ("Anna:", None),
            (": x", None),
            ("12: x", None),
            ("Tuesday: we met", None),
            ("1 May 2024: we met", None),
            ("\u{202e}annA: x", None),
            ("A name that is much too long to be anybody's name at all: x", None),
        ] {
            assert_eq!(speaker(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_found_in_running_text() {
        let keys = |text| phrases(text).into_iter().map(|p| (p.key, p.words)).collect::<Vec<_>>();
        for (text, expected) in [
            ("We saw the Bay of Biscay with Anna Lee.", vec![("bay of biscay", 3), ("anna lee", 2)]),
            ("The University of Oslo and", vec![("university of oslo", 3)]),
            ("Elle aime Le Havre et l'Île de Ré.", vec![("havre", 1), ("île de ré", 3)]),
            ("昨日ジョン・スミスに会った", vec![("ジョン・スミス", 2)]),
            ("Anna. Bob", vec![("anna", 1), ("bob", 1)]),
            ("in 2022 10", vec![]),
            ("A VERY LONG ROW OF SHOUTED WORDS GOES HERE", vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(k, n)| (k.to_owned(), n)).collect();
            let found: Vec<_> = keys(text).into_iter().filter(|(k, _)| k != "elle").collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn nobody_asks_for_dates_hashes_code_and_words_of_every_text() {
        for key in
            ["anna", "bay of biscay", "python 3.12", "utf-8", "boeing 747", "decade", "ip_ttl", "sun", "青い収穫"]
        {
            assert!(is_askable(key), "{key}");
        }
        for key in
            ["august 1997", "nov 28 16", "mon", "lundi", "8f956a2a", "fix 8f956a2a", "random=0", "which", "https"]
        {
            assert!(!is_askable(key), "{key}");
        }
    }

    #[test]
    fn a_title_is_a_short_first_line() {
        for (text, expected) in [
            ("# Blue Harvest\nA film.", Some("Blue Harvest")),
            ("青い収穫\n映画です。", Some("青い収穫")),
            ("A sentence.\nAnother.", None),
            ("Blue Harvest", None),
            ("Blue Harvest\n \n", None),
            (&format!("{}\nx", "word ".repeat(13)), None),
        ] {
            assert_eq!(title(text), expected, "{text}");
        }
    }

    #[test]
    fn a_title_that_names_something_is_no_code_log_number_or_part_of_a_sentence() {
        for name in [
            "The Old Man and the Sea",
            "README",
            "C++",
            "C#",
            "GPL-3.0",
            "Python 3.12",
            "v1.2",
            "B-52",
            "3:10 to Yuma",
            "2001: A Space Odyssey",
            "Brand (play)",
            "(I) Want",
            "printf(3)",
            "fchmod (2)",
            "upgrade (apt-get(8))",
            "src/main.rs",
            ".NET Framework",
            "ip_ttl (since Linux 1.0)",
            "青い収穫",
            "茶",
            "収穫（映画）",
            "Chat 31 on 2026-05-11",
            "How we count the days",
        ] {
            assert_eq!(named_title(&format!("{name}\nThen more.")), Some(name), "{name}");
        }
        for none in [
            "from json import scanner",
            "\"\"\"Implementation of JSONDecoder",
            "THIS SOFTWARE IS PROVIDED BY THE REGENTS AND CONTRIBUTORS",
            "Mar 03 16:18:05 host7 sshd[19115]: connect from unknown",
            "Mar 03 16:18:05 host7 cron: reload",
            "2025-06-24 14:36:25 startup packages configure",
            "2022-01-02 Uroš Bizjak",
            "2022-01-02",
            "2026-01-26T14:00:00Z started",
            "final = 9000",
            ">>> pstdev([1.5, 2.5])",
            "(here we could write more)",
            "(here we could write",
            "row.append(",
            "bytestring.register(bytes)",
            "cpu_equal ()",
            "/* MAC parameters */",
            "debian/*",
            "@classmethod",
            "-m",
            "--names-only, -n",
            "$ git gc",
            "h",
            "4",
            "14",
            "1984",
            "1.5 2.5 x",
            "\\h'-04'5.",
            "on Debian systems the complete text",
            "By default, the number of rounds is defined by the",
        ] {
            assert_eq!(named_title(&format!("{none}\nThen more.")), None, "{none}");
        }
        // A sentence that is wrapped, and one line over a paragraph.
        assert_eq!(named_title("The tests only cover the revised path, not\nadjusting it."), None);
        assert_eq!(
            named_title("What the tests cover and why they do\n\nthe rest"),
            Some("What the tests cover and why they do")
        );
    }

    #[test]
    fn texts_state_something_whatever_their_capitals() {
        for text in [
            "Stripe is down every Friday",
            "Kafka is to be over before Christmas",
            "Anna is with Ben on Monday",
            "OLGA BROKE PRODUCTION TWICE LATELY",
            "Olga And The Team Lied",
            "it is what it is",
            "Élodie n'est pas à Lyon",
            "京都の港は九時に閉まる",
        ] {
            assert!(states(text), "{text}");
        }
        for name in [
            "Bay of Biscay",
            "green tea",
            "Anna Lee",
            "The Lord of the Rings",
            "THE LORD OF THE RINGS",
            "抹茶",
            "",
            "  ...  ",
        ] {
            assert!(!states(name), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_same_words_state_the_same_in_all_capitals(
            picked in proptest::collection::vec((0..WORDS.len(), 0..4_u8, proptest::prelude::any::<u64>()), 1..12),
        ) {
            let plain: Vec<&str> = picked.iter().map(|(word, ..)| WORDS[*word]).collect();
            let shaped: Vec<String> = picked.iter().map(|(word, shape, bits)| shaped(WORDS[*word], *shape, *bits)).collect();
            let (plain, shaped) = (plain.join(" "), shaped.join(" "));
            let joints = plain.split(' ').filter(|word| JOINTS.contains(word)).count();
            let is_stated = picked.len() >= STATED_WORDS && picked.len() - joints >= STATED_BESIDE;
            proptest::prop_assert_eq!(states(&plain), is_stated, "{}", plain);
            proptest::prop_assert_eq!(states(&shaped), states(&plain), "{}", shaped);
        }
    }

    const WORDS: [&str; 24] = [
        "stripe",
        "is",
        "down",
        "every",
        "friday",
        "kafka",
        "to",
        "be",
        "over",
        "before",
        "christmas",
        "olga",
        "and",
        "the",
        "team",
        "of",
        "oslo",
        "lied",
        "été",
        "ärger",
        "не",
        "работает",
        "with",
        "twice",
    ];

    fn shaped(word: &str, shape: u8, bits: u64) -> String {
        let upper = |at: usize| match shape {
            0 => false,
            1 => at == 0,
            2 => true,
            _ => bits >> (at % 64) & 1 == 1,
        };
        let letters = word.chars().enumerate();
        letters.map(|(at, c)| if upper(at) { c.to_uppercase().to_string() } else { c.to_string() }).collect()
    }

    #[test]
    fn a_bare_title_has_no_explanation() {
        for (title, expected) in [
            ("Brand (play)", "Brand"),
            ("Harvest (2) (film)", "Harvest (2)"),
            ("収穫（映画）", "収穫"),
            ("(I) Want", "(I) Want"),
            ("(untitled)", "(untitled)"),
            ("odd)", "odd)"),
        ] {
            assert_eq!(bare_title(title), expected);
        }
    }

    #[test]
    fn questions_end_with_a_mark() {
        for yes in ["Why?", "Pourquoi ?", "なぜ？", "\"Why?\" 🙂", "Really?)"] {
            assert!(asks(yes), "{yes}");
        }
        for no in ["Why.", "", "Why? Because", "？なぜ"] {
            assert!(!asks(no), "{no}");
        }
    }
}
