//! A text before and after, word by word.

use serde::Serialize;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

use crate::limits;

/// What became of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It stayed.
    Kept,
    /// It came.
    Added,
    /// It went.
    Removed,
}

/// A part of a text, with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What became of it.
    pub became: Became,
    /// The part.
    pub text: String,
}

/// The difference between two texts. Texts beyond [`limits::REVIEWED_TEXT_BYTES`] are one part removed and one added.
pub fn difference(before: &str, after: &str) -> Vec<Part> {
    let part = |became, text: &str| Part { became, text: text.to_owned() };
    if before.len().max(after.len()) > limits::REVIEWED_TEXT_BYTES {
        return vec![part(Became::Removed, before), part(Became::Added, after)];
    }
    let (old, new) = (tokens(before), tokens(after));
    let mut parts: Vec<Part> = Vec::new();
    let operations = capture_diff_slices(Algorithm::Patience, &old, &new);
    for change in operations.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
        let became = match change.tag() {
            ChangeTag::Equal => Became::Kept,
            ChangeTag::Insert => Became::Added,
            ChangeTag::Delete => Became::Removed,
        };
        match parts.last_mut() {
            Some(last) if last.became == became => last.text.push_str(change.value()),
            _ => parts.push(part(became, change.value())),
        }
    }
    parts
}

/// The words of a text and what lies between them; of scripts without spaces, the characters. Together they are the text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let class = class(c);
        if at > start && (last != Some(class) || class == Class::Alone) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(class);
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    /// Punctuation, and scripts that write without spaces.
    Alone,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_whitespace() => Class::Space,
        '\u{0E00}'..='\u{0EFF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => {
            Class::Alone
        }
        _ if c.is_alphanumeric() || c == '\u{0301}' || ('\u{0300}'..='\u{036F}').contains(&c) => Class::Word,
        _ => Class::Alone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let marked = |part: Part| match part.became {
            Became::Kept => part.text,
            Became::Added => format!("[+{}]", part.text),
            Became::Removed => format!("[-{}]", part.text),
        };
        difference(before, after).into_iter().map(marked).collect()
    }

    #[test]
    fn words_change_and_the_rest_stays() {
        for (before, after, expected) in [
            ("Anna likes green tea", "Anna likes black tea", "Anna likes [-green][+black] tea"),
            ("", "tea", "[+tea]"),
            ("tea", "tea", "tea"),
            ("お茶が好き", "お酒が好き", "お[-茶][+酒]が好き"),
            ("été à Paris", "été à Lyon", "été à [-Paris][+Lyon]"),
        ] {
            assert_eq!(shown(before, after), expected);
        }
    }

    #[test]
    fn parts_give_back_both_texts() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let alphabet = ["a", "b ", " ", "é", "茶", "-", "\n", "🎉", "e\u{301}"];
        for _ in 0..2_000 {
            let mut text = || (0..next(12)).map(|_| alphabet[next(9) as usize]).collect::<String>();
            let (before, after) = (text(), text());
            let side = |gone: Became| -> String {
                let parts = difference(&before, &after).into_iter();
                parts.filter(|part| part.became != gone).map(|part| part.text).collect()
            };
            assert_eq!((side(Became::Added), side(Became::Removed)), (before.clone(), after.clone()));
        }
    }

    #[test]
    fn long_texts_are_not_compared() {
        let long = "a b ".repeat(limits::REVIEWED_TEXT_BYTES);
        assert_eq!(difference(&long, "x").len(), 2);
    }
}
