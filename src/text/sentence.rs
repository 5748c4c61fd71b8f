//! Sentences: where a text may be cut.

use icu_segmenter::SentenceSegmenter;
use icu_segmenter::options::SentenceBreakInvariantOptions;

/// The sentences of a text, trimmed, none empty.
pub fn sentences(text: &str) -> Vec<&str> {
    segments(text).into_iter().map(str::trim).filter(|s| !s.is_empty()).collect()
}

/// The text cut at sentence boundaries, nothing dropped.
pub(super) fn segments(text: &str) -> Vec<&str> {
    let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
    let ends: Vec<usize> = segmenter.segment_str(text).collect();
    ends.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Where to cut a text so that at most `max` bytes stand before: after the last white space, else between characters.
pub(super) fn cut(text: &str, max: usize) -> usize {
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let space = text[..end].char_indices().rev().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
    space.filter(|at| !text[..*at].trim().is_empty()).unwrap_or(end)
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
            (" \n ", vec![]),
        ] {
            assert_eq!(sentences(text), expected);
        }
    }
}
