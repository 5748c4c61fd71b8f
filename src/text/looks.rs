//! The look of a text: two texts that a reader cannot tell apart have one. For comparison alone, and no key of anything that is kept.

use std::sync::LazyLock;

use icu_normalizer::DecomposingNormalizerBorrowed;
use regex::Regex;

use crate::model::ids::{is_invisible, normalise};

static MARKS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{Mn}\p{Me}]+").expect("invariant: the tests compile this pattern"));

/// Marks that make another kana of one. They stay where they do.
const VOICING: [char; 2] = ['\u{3099}', '\u{309a}'];

/// Whether a reader sees a character, or at least its place: letters without width, fillers, tags and selectors are not seen.
pub fn is_seen(c: char) -> bool {
    let is_none = matches!(c, '\u{fff9}'..='\u{fffc}' | '\u{2800}' | '\u{1d159}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
        || matches!(u32::from(c), 0xfdd0..=0xfdef)
        || u32::from(c) & 0xfffe == 0xfffe
        || c.is_control() && !c.is_whitespace();
    !is_invisible(c) && !is_none
}

/// Whether a blank is so narrow that letters on both sides of it read as one word.
fn is_hair(c: char) -> bool {
    matches!(c, '\u{2004}'..='\u{2006}' | '\u{2008}'..='\u{200a}' | '\u{202f}' | '\u{205f}')
}

/// The words of a text as it looks, in small letters, with single spaces between them: without what nobody sees, without marks on letters, by NFKC,
/// and without punctuation. A text of nothing else keeps its punctuation.
///
/// A weakness: letters of two alphabets that look alike, as Latin and Cyrillic `a`, stay two.
pub fn looks(text: &str) -> String {
    let seen: String = text.chars().filter(|c| is_seen(*c) && !is_hair(*c)).collect();
    let apart = DecomposingNormalizerBorrowed::new_nfkd().normalize(&seen);
    let bare = MARKS.replace_all(&apart, |found: &regex::Captures<'_>| {
        found[0].chars().filter(|c| VOICING.contains(c)).collect::<String>()
    });
    // Small letters may have marks of their own, and a voicing mark that found no kana is a mark as any.
    let normal: String = normalise(&bare).chars().filter(|c| is_seen(*c) && !VOICING.contains(c)).collect();
    let normal = MARKS.replace_all(&normal, "");
    let words: Vec<&str> = normal.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { normal.into_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_read_alike_look_alike() {
        let plain = "The backup holds its lock at two.";
        let between = |mark: &str| plain.chars().map(|c| format!("{c}{mark}")).collect::<String>();
        let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).filter(|_| c.is_ascii_graphic()).unwrap_or(c);
        for other in [
            plain.to_uppercase(),
            plain.replace(' ', " \n "),
            plain.replace(' ', ", "),
            plain.chars().map(wide).collect(),
            format!("{plain}{}", "\u{e0020}\u{e0041}\u{3164}\u{2800}"),
        ] {
            assert_eq!(looks(&other), "the backup holds its lock at two", "{other:?}");
        }
        for mark in [
            "\u{200b}",
            "\u{200d}",
            "\u{ad}",
            "\u{2060}",
            "\u{feff}",
            "\u{fe0f}",
            "\u{fe0e}",
            "\u{e0100}",
            "\u{34f}",
            "\u{301}",
            "\u{489}",
            "\u{5b0}",
            "\u{64b}",
            "\u{93c}",
            "\u{20dd}",
            "\u{3099}",
            "\u{200a}",
            "\u{fffa}",
        ] {
            assert_eq!(looks(&between(mark)), "the backup holds its lock at two", "{:?}", mark);
        }
        assert_eq!(looks("e\u{301}té"), looks("ÉTÉ"));
        assert_eq!(looks("İ"), looks("i"));
        assert_eq!(looks("x."), looks("ｘ"));
    }

    #[test]
    fn texts_that_read_otherwise_look_otherwise() {
        assert_eq!(looks("か\u{3099}"), looks("が"));
        assert_ne!(looks("が"), looks("か"));
        assert_ne!(looks("ab c"), looks("a bc"));
        assert_eq!((looks("⛔ …"), looks(""), looks("\u{200b}")), ("⛔ ...".to_owned(), String::new(), String::new()));
        assert_eq!(looks("gpt-4, C++"), "gpt 4 c");
    }
}
