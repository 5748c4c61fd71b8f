//! Words: the surfaces of a text with their keys, stems and function words.

use std::collections::BTreeSet;

use super::language::{self, Language};
use super::surface::{key, surfaces};

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'t> {
    /// As it stands in the text, without a possessive or elision.
    pub surface: &'t str,
    /// What concepts are named by: NFKC, lower case, without invisible characters, at most [`crate::limits::WORD_BYTES`].
    pub key: String,
    /// What words are compared by: stemmed and folded; in Japanese the key.
    pub stem: String,
    /// A function word.
    pub is_stop: bool,
    /// Where the surface starts, bytes.
    pub start: usize,
}

/// The words of a text, in its own language as far as that can be told.
pub fn words(text: &str) -> Vec<Word<'_>> {
    words_in(text, None)
}

/// The words of a text; where its language cannot be told, it counts as `fallback`.
pub fn words_in(text: &str, fallback: Option<Language>) -> Vec<Word<'_>> {
    read_in(text, fallback).1
}

/// Letters of a word of which a key is made at a time: whatever they are, they fit.
const KEY_CHARS: usize = 16;

/// A text by which two are told to say the same: without case, blanks, the stop at its end and quotes around it. Other signs may mean something.
pub fn same_said(text: &str) -> String {
    // A key has a bound, and some languages no blanks.
    let whole = |word: &str| -> String {
        let letters: Vec<char> = word.chars().collect();
        letters.chunks(KEY_CHARS).map(|part| key(&part.iter().collect::<String>())).collect()
    };
    let said = text.trim().trim_matches(|c| "\"„“”«»「」".contains(c)).trim_end_matches(|c| ".!。！…".contains(c));
    said.split_whitespace().map(whole).collect::<Vec<_>>().join(" ")
}

/// Whether a text has few of the content words of another one: less than a quarter of them, and less than three.
pub fn has_few_words_of(text: &str, other: &str) -> bool {
    let (language, words) = read(other);
    let content = |words: Vec<Word<'_>>| -> BTreeSet<String> {
        words.into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
    };
    let (wanted, said) = (content(words), content(words_in(text, language)));
    let shared = wanted.intersection(&said).count();
    shared < 3 && 4 * shared < wanted.len()
}

/// The language of a text as far as that can be told, and its words.
pub fn read(text: &str) -> (Option<Language>, Vec<Word<'_>>) {
    read_in(text, None)
}

fn read_in(text: &str, fallback: Option<Language>) -> (Option<Language>, Vec<Word<'_>>) {
    let found = surfaces(text).into_iter().map(|(start, surface)| (start, surface, key(surface)));
    let found: Vec<(usize, &str, String)> = found.filter(|(.., key)| !key.is_empty()).collect();
    let guessed = language::guess(text, found.iter().map(|(.., key)| key.as_str()));
    let language = guessed.or(fallback);
    let word = |(start, surface, key): (usize, _, String)| {
        let (stem, is_stop) = (language::stem(&key, language), language::is_stop(&key, language));
        Word { surface, key, stem, is_stop, start }
    };
    (guessed, found.into_iter().map(word).collect())
}

/// The stems of the parts of an identifier, such as `is_executable`, `np.array` or `readLine`, without function words; nothing of a
/// word that is none.
pub fn identifier_parts(word: &Word<'_>, language: Option<Language>) -> Vec<String> {
    let surface = word.surface;
    if !surface.is_ascii() || surface.bytes().filter(u8::is_ascii_alphabetic).count() < 2 {
        return Vec::new();
    }
    let bytes = surface.as_bytes();
    let hump = |at: usize| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
    let mut ends: Vec<usize> = (1..bytes.len()).filter(|at| hump(*at)).collect();
    ends.push(bytes.len());
    let mut from = 0;
    let mut found = Vec::new();
    for end in ends {
        found.extend(surface[from..end].split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| part.len() > 1));
        from = end;
    }
    if found.len() < 2 {
        return Vec::new();
    }
    let keys = found.into_iter().map(key).filter(|key| !key.is_empty() && !language::is_stop(key, language));
    keys.map(|key| language::stem(&key, language)).collect()
}

/// An estimate of a text's tokens for models whose tokenizer is not at hand: one for each character of Japanese script,
/// and one for every four bytes of anything else, rounded up.
pub fn tokens(text: &str) -> usize {
    let (mut japanese, mut bytes) = (0_usize, 0_usize);
    for c in text.chars() {
        if language::is_japanese(c) { japanese += 1 } else { bytes += c.len_utf8() }
    }
    japanese + bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;
    use crate::text::surface::fold;

    fn content(text: &str) -> Vec<String> {
        words(text).into_iter().filter(|w| !w.is_stop).map(|w| w.key).collect()
    }

    #[test]
    fn texts_say_the_same_but_for_case_blanks_and_signs() {
        let said = same_said("The lab is in Graz.");
        for same in ["the LAB is  in Graz", "The lab is in Graz!", "\"The lab is in Graz.\""] {
            assert_eq!(same_said(same), said, "{same}");
        }
        for other in ["Is the lab in Graz?", "The lab is in Graz?", "The lab is not in Graz."] {
            assert_ne!(same_said(other), said, "{other}");
        }
        for (one, other) in [
            ("We use C++.", "We use C."),
            ("x = y holds here.", "x != y holds here."),
            ("Ship if ready now.", "Ship if !ready now."),
            ("Config in env file.", "Config in .env file."),
            ("No deploy.", "No, deploy."),
            ("The build is green :)", "The build is green :("),
        ] {
            assert_ne!(same_said(one), same_said(other), "{one}");
        }
        assert_ne!(same_said("It takes 3.5 s."), same_said("It takes 35 s."));
        for long in ["The lock ".repeat(40), "水門は朝に開き".repeat(20)] {
            assert_ne!(same_said(&format!("{long}opens.")), same_said(&format!("{long}closes.")));
            assert_eq!(same_said(&format!("{long}opens.")), same_said(&format!("{long}Opens!")));
        }
    }

    #[test]
    fn few_words_of_another_text_are_those_that_a_question_for_it_misses() {
        let old = "The staging server for the billing team lives on host copper-7 in rack nine.";
        for (text, is_few) in [
            ("Billing moved to zinc-3 in June.", true),
            ("No, zinc-3.", true),
            ("The staging server for the billing team lives on host zinc-3 in rack two.", false),
            ("The billing team's servers live on zinc-3.", false),
        ] {
            assert_eq!(has_few_words_of(text, old), is_few, "{text}");
        }
        assert!(!has_few_words_of("anything", "of the"));
        assert!(has_few_words_of("Nun in Basel.", "Der Brückenmeister wohnt seit dem Frühjahr in Zürich am Hafen."));
    }

    #[test]
    fn numbers_in_a_row_without_blanks_are_words_of_their_own() {
        let found = |text| surfaces(text).into_iter().map(|(_, word)| word).collect::<Vec<_>>();
        assert_eq!(found("5501,5502,5503"), ["5501", "5502", "5503"]);
        assert_eq!(found("6601;6602 x"), ["6601", "6602", "x"]);
        assert_eq!(found("4712,2026-03-02,12.50"), ["4712", "2026", "03", "02", "12.50"]);
        assert_eq!(found("1,234,567.8 of 3,5"), ["1,234,567.8", "of", "3", "5"]);
    }

    #[test]
    fn content_words_in_three_languages() {
        for (text, expected) in [
            ("Caroline's sister painted a sunrise in 2022.", vec!["caroline", "sister", "painted", "sunrise", "2022"]),
            ("I don't know what that’s about, let's go!", vec![]),
            ("O'Brien and the Oréal", vec!["o'brien", "oréal"]),
            ("L'été dernier, j’habitais à l'hôtel d'Oslo.", vec!["été", "dernier", "habitais", "hôtel", "oslo"]),
            ("Il n'y a qu'une école aujourd'hui", vec!["école", "aujourd'hui"]),
            ("私は東京で猫を飼っています。", vec!["東京", "猫", "飼"]),
            ("ﾈｺとＣａｔ", vec!["ネコ", "cat"]),
        ] {
            assert_eq!(content(text), expected, "{text}");
        }
    }

    #[test]
    fn surfaces_and_starts_point_into_the_text() {
        for text in ["L’été de Marie's  amis", "猫がお茶を飲む", "a\u{202e}b\u{200d} cafe\u{301}s"] {
            for word in words(text) {
                assert_eq!(&text[word.start..word.start + word.surface.len()], word.surface);
            }
        }
    }

    #[test]
    fn forms_that_look_alike_have_one_key() {
        for (a, b) in [("Cafe\u{301}", "café"), ("te\u{ad}a", "tea"), ("\u{202e}tea\u{202c}", "TEA"), ("ｔｅａ", "tea")]
        {
            assert_eq!(key(a), key(b), "{a:?}");
            assert_eq!(crate::model::ids::normalise(&key(a)), key(a));
        }
        assert_eq!(fold("déjà vu ガ"), "deja vu ガ");
    }

    #[test]
    fn a_plain_word_takes_the_short_way_to_the_same_key() {
        for text in ["Tea", "O'Brien", "x_Y.z9", "~", "A"] {
            // An invisible character at its end takes the long way.
            assert_eq!(key(text), key(&format!("{text}\u{200b}")));
        }
        assert_eq!(key(&"A".repeat(limits::WORD_BYTES + 1)), "a".repeat(limits::WORD_BYTES));
    }

    #[test]
    fn tokens_are_estimated_by_script() {
        for (text, expected) in [("", 0), ("tea", 1), ("green tea", 3), ("抹茶", 2), ("抹茶 tea", 3)] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn hostile_text_stays_small_and_valid() {
        let row = |c: char, n: usize| std::iter::repeat_n(c, n).collect::<String>();
        for text in [
            row('a', 4096),
            row('\u{fdfa}', 1365),
            row('\u{301}', 2048),
            format!("a{}", row('\u{301}', 2000)),
            row('猫', 1365),
            row('ก', 1365),
            row('👩', 1024),
            row('\u{200d}', 1365),
            row('\'', 4096),
            "l'".repeat(2048),
            "🇫🇷👨‍👩‍👧 1️⃣ \u{202e}olleh\u{202c}".to_owned(),
        ] {
            for word in words(&text) {
                assert!(!word.key.is_empty() && word.key.len() <= limits::WORD_BYTES);
                assert_eq!(crate::model::neuron::check_concept(&word.key), Ok(()), "{:?}", word.key);
                assert!(!word.stem.is_empty());
            }
        }
    }
}
