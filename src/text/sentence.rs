//! Paragraphs: how a plain text becomes stimuli.

use icu_segmenter::SentenceSegmenter;
use icu_segmenter::options::SentenceBreakInvariantOptions;

use crate::limits;

/// The text cut at sentence boundaries, nothing dropped.
fn pieces(text: &str) -> Vec<&str> {
    let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
    let ends: Vec<usize> = segmenter.segment_str(text).collect();
    ends.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// The paragraphs of a text: what stands between blank lines, each a valid stimulus text of at most
/// [`limits::STIMULUS_BYTES`]. A longer one is split at sentences, a longer sentence at white space, and a longer word
/// anywhere. Control characters but tab and newline become spaces.
pub fn paragraphs(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let clean: String = text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect();
    let mut list = Vec::new();
    let mut block = String::new();
    for line in clean.split('\n').chain([""]) {
        if line.trim().is_empty() {
            packed(block.trim_end(), &mut list);
            block.clear();
        } else {
            block.push_str(line);
            block.push('\n');
        }
    }
    list
}

/// Packs the sentences of one paragraph into as few texts as fit.
fn packed(block: &str, list: &mut Vec<String>) {
    const MAX: usize = limits::STIMULUS_BYTES;
    let mut push = |text: &str| {
        if !text.trim().is_empty() {
            list.push(text.trim().to_owned());
        }
    };
    if block.trim().len() <= MAX {
        return push(block);
    }
    let mut held = 0..0;
    for sentence in pieces(block) {
        let start = held.end;
        if start + sentence.len() - held.start <= MAX {
            held.end += sentence.len();
            continue;
        }
        push(&block[held.clone()]);
        let mut rest = sentence;
        let mut from = start;
        while rest.len() > MAX {
            let cut = cut(rest, MAX);
            push(&rest[..cut]);
            rest = &rest[cut..];
            from += cut;
        }
        held = from..from + rest.len();
    }
    push(&block[held]);
}

/// Where to cut a text so that at most `max` bytes stand before: after the last white space, else between characters.
fn cut(text: &str, max: usize) -> usize {
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
    fn blank_lines_separate_paragraphs() {
        let text = "\u{feff}One\r\nline two\r\n \r\n\r\n\tThree\u{c}four\n\n\n";
        assert_eq!(paragraphs(text), ["One\nline two", "Three four"]);
        assert!(paragraphs("").is_empty() && paragraphs(" \n\n").is_empty());
    }

    #[test]
    fn long_paragraphs_split_at_sentences_and_lose_nothing() {
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        let english = (0..400).map(|i| format!("This is sentence number {i}. ")).collect::<String>();
        let japanese = "猫がお茶を飲む。".repeat(400);
        let spaced = "word ".repeat(3000);
        let mixed = format!("Short. {} End.", "x".repeat(9000));
        for text in [&english, &japanese, &spaced, &mixed, &"猫".repeat(3000), &"e\u{301}".repeat(4000)] {
            let list = paragraphs(text);
            assert!(list.len() > 1);
            assert!(list.iter().all(|p| p.len() <= limits::STIMULUS_BYTES && !p.trim().is_empty()));
            assert_eq!(squeeze(&list.concat()), squeeze(text));
        }
        assert!(paragraphs(&english).iter().all(|p| p.ends_with('.')));
        assert!(paragraphs(&japanese).iter().all(|p| p.ends_with('。')));
    }
}
