//! Markdown: a block of ours between two comments, at the end of the text.

use std::ops::Range;

use super::Edited;

const OPEN: &str = "<!-- git-brain -->";
const CLOSE: &str = "<!-- /git-brain -->";

fn written(block: &str) -> String {
    format!("{OPEN}\n{}\n{CLOSE}\n", block.trim_end())
}

/// Where our blocks stand: from a line that is the first comment to the line that is the second. Prose may speak of them, and examples of code
/// may have them.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut open, mut at, mut is_code) = (Vec::new(), None, 0, false);
    for line in text.split_inclusive('\n') {
        let (start, words) = (at, line.trim_end());
        at += line.len();
        if words.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        match (words, open) {
            (OPEN, None) if !is_code => open = Some(start),
            (CLOSE, Some(from)) => {
                found.push(from..at);
                open = None;
            }
            _ => {}
        }
    }
    found
}

/// Whether the block is there as it should be, and whether one is there.
pub(super) fn found(text: &str, block: &str) -> (bool, bool) {
    let blocks = blocks(text);
    let is_ours = |range: &Range<usize>| {
        let own = text[range.clone()].replace("\r\n", "\n");
        own.trim_end() == written(block).trim_end()
    };
    (blocks.iter().any(is_ours), !blocks.is_empty())
}

pub(super) fn add(edited: &mut Edited, block: &str) {
    let line_end = if edited.text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match &edited.text {
        text if text.is_empty() => String::new(),
        text if text.ends_with("\n\n") => String::new(),
        text if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    let end = edited.text.len();
    edited.insert(end, &(gap + &written(block).replace('\n', line_end)));
}

/// Takes every block out, each with the blank line before it.
pub(super) fn remove(text: &mut String) {
    for range in blocks(text).into_iter().rev() {
        let before = &text[..range.start];
        let start = match () {
            () if before.ends_with("\r\n\r\n") => range.start - 2,
            () if before.ends_with("\n\n") => range.start - 1,
            () => range.start,
        };
        text.replace_range(start..range.end, "");
    }
}
