//! Personal facts in a text: names, places, numbers and words that speak of one person. What is found keeps a seed out of a bundle.
//!
//! Made to err on the side of silence: a seed that names `PostgreSQL` in the middle of a sentence stays at home, too. What it cannot see is a name in
//! small letters, or at the beginning of a sentence, that is on no list.

mod rules;

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text;
use icu_normalizer::ComposingNormalizerBorrowed;
use rules::RULES;

/// Given names and surnames, folded, one a line.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| list(include_str!("names.txt")));
/// Countries, regions and cities, folded, one a line.
static PLACES: LazyLock<HashSet<&str>> = LazyLock::new(|| list(include_str!("places.txt")));
/// The same of Japanese, looked for inside texts, because words are not apart there.
static JAPANESE: LazyLock<HashSet<&str>> = LazyLock::new(|| list(include_str!("japanese.txt")));

fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

fn list(text: &'static str) -> HashSet<&'static str> {
    text.lines().flat_map(|line| line.split(' ')).filter(|word| !word.is_empty()).collect()
}

/// The kind of the first personal fact of a text; `None`: none is seen.
///
/// Looked at as it reads: without characters that nobody sees, then without the marks on letters that French has none for, then without any; and
/// with words that are written together taken apart, and words that are broken up put together.
pub fn first(text: &str) -> Option<&'static str> {
    if text.contains(['\u{202d}', '\u{202e}']) {
        return Some("a text that is read in another direction than it is written");
    }
    let visible: String = text.chars().filter(|c| text::is_seen(*c)).collect();
    let bare = text::fold(&visible);
    let other = [apart(&visible), together(&visible)];
    if let Some(rule) = other.iter().find_map(|look| in_rules(&crate::model::ids::normalise(look))) {
        return Some(rule);
    }
    let looks = [visible.clone(), unmarked(&visible), bare];
    looks.iter().find_map(|look| {
        // Numbers in full width are numbers; capitals say what is a name, and are looked at as they stand.
        let plain = crate::model::ids::normalise(look);
        in_rules(&plain).or_else(|| named(look))
    })
}

fn in_rules(plain: &str) -> Option<&'static str> {
    RULES.iter().find(|rule| rule.is_in(plain)).map(|rule| rule.kind)
}

/// A text with its `camelCase` and `snake_case` as words of their own, and Latin letters apart from Japanese ones.
fn apart(text: &str) -> String {
    let is_japanese = |c: char| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '々');
    let (mut told, mut was_small, mut last) = (String::with_capacity(text.len()), false, ' ');
    for c in text.chars() {
        let meets = |one: char, other: char| is_japanese(one) && other.is_ascii_alphabetic();
        if c.is_uppercase() && was_small || meets(last, c) || meets(c, last) {
            told.push(' ');
        }
        (was_small, last) = (c.is_lowercase(), c);
        told.push(if c == '_' { ' ' } else { c });
    }
    told
}

/// A text without points and hyphens between letters.
fn together(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphabetic());
    let is_between = |at: usize| is_letter(at.checked_sub(1)) && is_letter(Some(at + 1));
    let kept = chars
        .iter()
        .enumerate()
        .filter(|(at, c)| !(matches!(c, '.' | '-' | '_' | '\u{2010}' | '\u{2011}') && is_between(*at)));
    kept.map(|(_, c)| *c).collect()
}

/// A text whose letters have no marks but those of French.
fn unmarked(text: &str) -> String {
    const FRENCH: &str = "àâäçèéêëîïôöùûüÿÀÂÄÇÈÉÊËÎÏÔÖÙÛÜŸ";
    let mut told = String::with_capacity(text.len());
    for c in composed(text).chars() {
        match FRENCH.contains(c) || c.is_ascii() {
            true => told.push(c),
            false => told.push_str(&text::fold(c.encode_utf8(&mut [0; 4]))),
        }
    }
    composed(&told)
}

/// A name or a place.
fn named(text: &str) -> Option<&'static str> {
    if text::speaker(text).is_some() {
        return Some("name");
    }
    // A name in katakana is a word of its own: inside of longer ones it is part of something else.
    let is_katakana = |name: &str| name.chars().all(|c| matches!(c, '\u{30a1}'..='\u{30fc}'));
    if JAPANESE.iter().any(|name| !is_katakana(name) && text.contains(name)) {
        return Some("name or place in Japanese");
    }
    let words = text::words(text);
    for word in &words {
        if JAPANESE.contains(word.key.as_str()) {
            return Some("name or place in Japanese");
        }
        let folded = text::fold(&word.key);
        for part in folded.split(['-', '\'', '\u{2019}']) {
            if NAMES.contains(part) {
                return Some("name");
            }
            if PLACES.contains(part) {
                return Some("place");
            }
        }
    }
    let is_inside = |start: usize| {
        let before = text[..start].trim_end_matches(|c: char| c.is_whitespace() || "\"'“”«»([".contains(c));
        let ends_sentence = before.ends_with(['.', '!', '?', ':', '\n', '。', '！', '？', '-', '•']);
        // `J. Okafor`: the point behind an initial ends nothing.
        let mut last = before.chars().rev();
        let is_initial = last.next() == Some('.')
            && last.next().is_some_and(char::is_uppercase)
            && last.next().is_none_or(|c| !c.is_alphanumeric());
        !before.is_empty() && (!ends_sentence || is_initial)
    };
    let capital = words.iter().any(|word| {
        let mut letters = word.surface.chars();
        let starts = letters.next().is_some_and(char::is_uppercase);
        // `CI`, `HTTP` and `I` are no names.
        let is_short = word.surface.chars().all(|c| !c.is_lowercase()) && word.surface.chars().count() <= 5;
        starts && !is_short && is_inside(word.start)
    });
    capital.then_some("a word written as a name")
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
