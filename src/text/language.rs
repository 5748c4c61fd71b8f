//! Languages: the guess, the stop lists, the stemmers.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use super::surface::{self, fold};

/// A language that has a stop list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// English.
    English,
    /// French.
    French,
    /// Japanese.
    Japanese,
    /// German.
    German,
    /// Spanish.
    Spanish,
}

struct Lists {
    english: HashSet<&'static str>,
    french: HashSet<&'static str>,
    japanese: HashSet<&'static str>,
    german: HashSet<&'static str>,
    spanish: HashSet<&'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    english: list(include_str!("stop/en.txt")),
    french: list(include_str!("stop/fr.txt")),
    japanese: list(include_str!("stop/ja.txt")),
    german: list(include_str!("stop/de.txt")),
    spanish: list(include_str!("stop/es.txt")),
});

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static FRENCH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::French));
static GERMAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::German));
static SPANISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Spanish));

/// The languages that are told apart by their function words, each with letters that few others of them have.
const LATIN: [(Language, &str); 4] = [
    (Language::English, ""),
    (Language::French, "àâçèéêëîïôùûœÀÂÇÈÉÊÎÔÙÛŒ"),
    (Language::German, "äöüßÄÖÜ"),
    (Language::Spanish, "áéíóúñ¿¡ÁÉÍÓÚÑ"),
];

fn list(text: &'static str) -> HashSet<&'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// The language of a text by its script and its function words, or `None` where neither tells.
///
/// Kana and Chinese characters together decide for Japanese where they outnumber half of the Latin letters (one of them
/// says as much as two letters). Otherwise the list that holds more of the words than any other; four letters that few other languages have,
/// and a rest of them, count as a word.
pub fn language(text: &str) -> Option<Language> {
    let keys: Vec<String> = surface::surfaces(text).into_iter().map(|(_, surface)| surface::key(surface)).collect();
    guess(text, keys.iter().map(String::as_str))
}

/// The same from the keys of its words.
pub(super) fn guess<'k>(text: &str, keys: impl Iterator<Item = &'k str>) -> Option<Language> {
    let (mut japanese, mut latin, mut letters) = (0_usize, 0_usize, [0_usize; LATIN.len()]);
    for c in text.chars() {
        if c.is_ascii() {
            latin += usize::from(c.is_ascii_alphabetic());
        } else if is_japanese(c) {
            japanese += 1;
        } else {
            latin += usize::from(c.is_alphabetic());
            for ((_, few), count) in LATIN.iter().zip(&mut letters) {
                *count += usize::from(few.contains(c));
            }
        }
    }
    if japanese > 0 && japanese * 2 >= latin {
        return Some(Language::Japanese);
    }
    let mut counts = letters.map(|count| count.div_ceil(4));
    for key in keys {
        for ((language, _), count) in LATIN.iter().zip(&mut counts) {
            *count += usize::from(stops(*language).contains(key));
        }
    }
    let most = counts.into_iter().max().filter(|most| *most > 0)?;
    let mut found = LATIN.iter().zip(counts).filter(|(_, count)| *count == most).map(|((language, _), _)| *language);
    found.next().filter(|_| found.next().is_none())
}

fn stops(language: Language) -> &'static HashSet<&'static str> {
    match language {
        Language::English => &LISTS.english,
        Language::French => &LISTS.french,
        Language::Japanese => &LISTS.japanese,
        Language::German => &LISTS.german,
        Language::Spanish => &LISTS.spanish,
    }
}

/// Kana, the prolonged sound mark, iteration marks, Chinese characters.
pub(super) fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}')
}

pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// Whether a key is a function word. Words in Japanese script ask the Japanese list whatever the text's language is, and
/// a single hiragana is always one; other words ask the text's list, the English one where the language is not known.
pub fn is_stop(key: &str, language: Option<Language>) -> bool {
    if key.chars().any(is_japanese) {
        let mut chars = key.chars();
        let single = chars.next().is_some_and(is_hiragana) && chars.next().is_none();
        return single || LISTS.japanese.contains(key);
    }
    stops(spelt(language)).contains(key)
}

/// The language by which words in Latin letters are read in a text of a language.
fn spelt(language: Option<Language>) -> Language {
    language.filter(|language| *language != Language::Japanese).unwrap_or(Language::English)
}

/// The stem of a key: Snowball of the language, then folded. A key in Japanese script is its own stem, and words of a
/// text of no known language, or Latin words in a Japanese one, are stemmed as English.
pub fn stem(key: &str, language: Option<Language>) -> String {
    if key.chars().any(is_japanese) {
        return key.to_owned();
    }
    let stemmer = match spelt(language) {
        Language::French => &FRENCH,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::English | Language::Japanese => &ENGLISH,
    };
    let stem = fold(&stemmer.stem(key));
    if stem.is_empty() { key.to_owned() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_and_function_words_tell_the_language() {
        for (text, expected) in [
            ("Where does she work on Mondays?", Some(Language::English)),
            ("Où travaille-t-elle le lundi ?", Some(Language::French)),
            ("Ma sœur habite à Lyon depuis l'été.", Some(Language::French)),
            ("彼女はどこで働いていますか。", Some(Language::Japanese)),
            ("Rust で git を書く", Some(Language::Japanese)),
            ("Wer hat die Parzelle übernommen?", Some(Language::German)),
            ("Auf Parzelle 41 wurde eingebrochen.", Some(Language::German)),
            ("¿Quién toca el piano?", Some(Language::Spanish)),
            ("Rafa vendió su moto y se compró un piano de segunda mano.", Some(Language::Spanish)),
            ("The war was over, and so the man did not die.", Some(Language::English)),
            ("La mesa es para los invitados.", Some(Language::Spanish)),
            ("Les invités sont à la table.", Some(Language::French)),
            ("Kyoto 2023", None),
            ("", None),
            ("🍵🍵", None),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn lists_are_what_the_keys_look_like() {
        for name in ["en", "fr", "ja", "de", "es"] {
            let text = match name {
                "en" => include_str!("stop/en.txt"),
                "fr" => include_str!("stop/fr.txt"),
                "ja" => include_str!("stop/ja.txt"),
                "de" => include_str!("stop/de.txt"),
                _ => include_str!("stop/es.txt"),
            };
            for word in list(text) {
                assert_eq!(surface::key(word), word, "a line that no key can equal");
            }
            assert!(list(text).len() > 300);
        }
    }

    #[test]
    fn stems_join_forms_and_fold_accents() {
        let english = Some(Language::English);
        let french = Some(Language::French);
        for (a, b, language) in [
            ("paintings", "painting", english),
            ("adopted", "adopting", english),
            ("études", "étude", french),
            ("mangé", "manger", french),
            ("études", "etudes", french),
            ("café", "cafe", None),
            ("parzellen", "parzelle", Some(Language::German)),
            ("invitados", "invitado", Some(Language::Spanish)),
        ] {
            assert_eq!(stem(a, language), stem(b, language), "{a} {b}");
        }
        assert_eq!(stem("東京", Some(Language::Japanese)), "東京");
        assert_ne!(stem("tea", english), stem("team", english));
    }
}
