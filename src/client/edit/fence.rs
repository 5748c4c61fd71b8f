//! Markdown: a block of ours between two comments, at the end of the text. The first has the hash of what is between them: what a person changed there
//! is theirs, and so is everything between comments that have no such hash.

use std::ops::Range;

use super::Edited;
use super::signed::hash;

const OPEN: &str = "<!-- git-brain";
const CLOSE: &str = "<!-- /git-brain -->";

fn written(block: &str) -> String {
    format!("{OPEN} {} -->\n{}\n{CLOSE}\n", hash(block), block.trim_end())
}

/// A block in a text.
struct Block {
    at: Range<usize>,
    /// The first line, counted from 1.
    line: usize,
    /// Whether it is as it was written, by whichever version.
    is_ours: bool,
}

/// The hash that the first comment of a block has; an early version wrote none.
fn opened(line: &str) -> Option<&str> {
    let said = line.strip_prefix(OPEN)?.strip_suffix("-->")?.trim();
    (said.is_empty() || said.len() == 16 && said.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(said)
}

/// The letter and length of a line that begins or ends an example of code.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(sign).len();
    (length >= 3).then_some((sign, length))
}

/// The blocks of a text, `block` being what is written now. Prose may speak of them, and examples of code may have them; an example without an end is
/// none.
fn blocks(text: &str, block: &str) -> Vec<Block> {
    let (mut found, mut open, mut at, mut code) = (Vec::<Block>::new(), None, 0, None);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let (start, words) = (at, line.trim_end());
        at += line.len();
        match (code, fence(words)) {
            (None, Some((sign, length))) => code = Some((sign, length, found.len())),
            (Some((sign, length, before)), Some((other, longer)))
                if sign == other && longer >= length && words.trim().chars().all(|c| c == sign) =>
            {
                found.truncate(before);
                (code, open) = (None, None);
            }
            _ => {}
        }
        if let Some(said) = opened(words) {
            open = Some((start, at, number + 1, said));
        } else if words == CLOSE
            && let Some((from, inner, line, said)) = open.take()
        {
            let between = &text[inner..start];
            let is_ours = said == hash(between) || said.is_empty() && hash(between) == hash(block);
            // Comments without a hash around other words are somebody's own.
            if is_ours || !said.is_empty() {
                found.push(Block { at: from..at, line, is_ours });
            }
        }
    }
    found
}

/// Whether the block is there as it should be, and whether one is there.
pub(super) fn found(text: &str, block: &str) -> (bool, bool) {
    let blocks = blocks(text, block);
    let own = written(block);
    let is_own = |found: &Block| text[found.at.clone()].replace("\r\n", "\n").trim_end() == own.trim_end();
    (blocks.iter().any(is_own), !blocks.is_empty())
}

pub(super) fn add(edited: &mut Edited, block: &str) -> Result<(), String> {
    if let Some(changed) = blocks(&edited.text, block).first() {
        return Err(format!(
            "line {}: the text that `setup` wrote was changed there: take the two comments around it away to keep it as yours, or all of it",
            changed.line
        ));
    }
    let line_end = if edited.text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match &edited.text {
        text if text.is_empty() => String::new(),
        text if text.ends_with("\n\n") => String::new(),
        text if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    let end = edited.text.len();
    edited.insert(end, &(gap + &written(block).replace('\n', line_end)));
    Ok(())
}

/// Takes every block of ours out, each with the blank line before it.
pub(super) fn remove(text: &mut String, block: &str) {
    for found in blocks(text, block).into_iter().rev().filter(|found| found.is_ours) {
        let before = &text[..found.at.start];
        let start = match () {
            () if before.ends_with("\r\n\r\n") => found.at.start - 2,
            () if before.ends_with("\n\n") => found.at.start - 1,
            () => found.at.start,
        };
        text.replace_range(start..found.at.end, "");
    }
}
