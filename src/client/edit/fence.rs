//! Markdown: a block of ours between two comments, at the end of the text.

use super::Edited;

const OPEN: &str = "<!-- git-brain -->";
const CLOSE: &str = "<!-- /git-brain -->";

fn written(block: &str) -> String {
    format!("{OPEN}\n{}\n{CLOSE}\n", block.trim_end())
}

/// Whether the block is there as it should be, and whether one is there.
pub(super) fn found(text: &str, block: &str) -> (bool, bool) {
    (text.replace("\r\n", "\n").contains(&written(block)), text.contains(OPEN))
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
    while let Some(start) = text.find(OPEN) {
        // A block without an end is that one line.
        let end = text[start..].find(CLOSE).map_or(start + OPEN.len(), |at| start + at + CLOSE.len());
        let rest = &text[end..];
        let end = end + if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
        let before = &text[..start];
        let start = match () {
            () if before.ends_with("\r\n\r\n") => start - 2,
            () if before.ends_with("\n\n") => start - 1,
            () => start,
        };
        text.replace_range(start..end, "");
    }
}
