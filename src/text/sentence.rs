//! Where a text may be cut: between sentences, else at white space.

use icu_segmenter::SentenceSegmenter;
use icu_segmenter::options::SentenceBreakInvariantOptions;

use crate::model::within;

/// The text cut at sentence boundaries, nothing dropped.
pub(super) fn segments(text: &str) -> Vec<&str> {
    let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
    let ends: Vec<usize> = segmenter.segment_str(text).collect();
    ends.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Where to cut a text so that at most `max` bytes stand before: after the last white space, else between characters.
pub(super) fn cut(text: &str, max: usize) -> usize {
    let most = within(text, max);
    let space = most.char_indices().rev().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
    space.filter(|at| !text[..*at].trim().is_empty()).unwrap_or(most.len())
}
