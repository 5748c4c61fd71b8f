//! A settings file's text with our pieces in it, and without them. Comments, order, indentation and ends of lines of everything else stay.
//!
//! Pieces are only ever inserted, and it is told where: cut out again, the text is as it was, to the byte. A text that was changed since is
//! searched for them instead, and what became empty goes with them.

mod fence;
mod jsonc;
mod table;

use serde_json::Value;

/// A part of a file that is ours.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A member of a JSON object, by the keys that lead there.
    Member(&'static [&'static str], Value),
    /// An element of a JSON array, by the keys that lead there.
    Element(&'static [&'static str], Value),
    /// A member that the file needs, ours or not.
    Needed(&'static [&'static str], Value),
    /// A table of a TOML file: its keys, and its lines.
    Table(&'static [&'static str], String),
    /// A block of a Markdown file between two comments.
    Fence(String),
    /// The whole file.
    Whole(String),
}

/// A text, and where pieces were inserted into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edited {
    /// The text.
    pub text: String,
    /// Start and end of each insertion, in order.
    pub inserted: Vec<(usize, usize)>,
}

impl Edited {
    fn insert(&mut self, at: usize, text: &str) {
        self.text.insert_str(at, text);
        let is_inside = self.inserted.iter().any(|(start, end)| *start < at && at < *end);
        for range in &mut self.inserted {
            if range.0 >= at {
                range.0 += text.len();
            }
            if range.1 > at {
                range.1 += text.len();
            }
        }
        if !is_inside {
            self.inserted.push((at, at + text.len()));
            self.inserted.sort_unstable();
        }
    }
}

/// How much of its pieces a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// None.
    None,
    /// Some, or others than these.
    Some,
    /// All, as they are.
    All,
}

/// How much of its pieces a text has.
///
/// # Errors
/// The text cannot be read as what it should be: the line, and what is wrong.
pub fn found(text: &str, pieces: &[Piece]) -> Result<Found, String> {
    let (mut whole, mut any) = (0, false);
    for piece in pieces {
        let (is_there, is_like) = match piece {
            Piece::Member(path, value) => jsonc::member(text, path, value)?,
            Piece::Needed(path, _) => (jsonc::has(text, path)?, false),
            Piece::Element(path, value) => jsonc::element(text, path, value)?,
            Piece::Table(path, lines) => table::found(text, path, lines)?,
            Piece::Fence(block) => fence::found(text, block),
            Piece::Whole(own) => (text == own, begins_alike(text, own)),
        };
        whole += usize::from(is_there);
        any |= is_there && !matches!(piece, Piece::Needed(..)) || is_like;
    }
    Ok(match (whole == pieces.len(), any) {
        (true, _) => Found::All,
        (false, true) => Found::Some,
        (false, false) => Found::None,
    })
}

/// Whether a file begins as one of ours does, of whatever version: with the same two lines. Another one is somebody's own.
fn begins_alike(text: &str, own: &str) -> bool {
    let head = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    !text.is_empty() && head(text) == head(own)
}

/// The text with all pieces. It must have none of them, but for what it needs.
///
/// # Errors
/// The text cannot be read, or something else stands where a piece belongs.
pub fn with(text: &str, pieces: &[Piece]) -> Result<Edited, String> {
    let mut edited = Edited { text: text.to_owned(), inserted: Vec::new() };
    for piece in pieces {
        match piece {
            Piece::Member(path, value) => jsonc::add_member(&mut edited, path, value)?,
            Piece::Needed(path, value) => {
                if !jsonc::has(&edited.text, path)? {
                    jsonc::add_member(&mut edited, path, value)?;
                }
            }
            Piece::Element(path, value) => jsonc::add_element(&mut edited, path, value)?,
            Piece::Table(path, lines) => table::add(&mut edited, path, lines)?,
            Piece::Fence(block) => fence::add(&mut edited, block),
            Piece::Whole(own) => {
                if !text.is_empty() {
                    return Err("another file is there".to_owned());
                }
                edited.insert(0, own);
            }
        }
    }
    Ok(edited)
}

/// The text without insertions, as it was before them.
pub fn cut(text: &str, inserted: &[(usize, usize)]) -> Option<String> {
    let mut rest = text.to_owned();
    for (start, end) in inserted.iter().rev() {
        rest.get(*start..*end)?;
        rest.replace_range(*start..*end, "");
    }
    Some(rest)
}

/// The text without our pieces, wherever they stand and however they were changed; `None`: nothing is left.
///
/// # Errors
/// The text cannot be read.
pub fn without(text: &str, pieces: &[Piece]) -> Result<Option<String>, String> {
    let mut text = text.to_owned();
    let is_json = pieces.iter().any(|piece| matches!(piece, Piece::Member(..) | Piece::Element(..)));
    for piece in pieces {
        match piece {
            Piece::Member(path, _) => jsonc::remove_member(&mut text, path)?,
            Piece::Element(path, value) => jsonc::remove_elements(&mut text, path, value)?,
            Piece::Needed(..) => {}
            Piece::Table(path, _) => table::remove(&mut text, path)?,
            Piece::Fence(_) => fence::remove(&mut text),
            Piece::Whole(_) => return Ok(None),
        }
    }
    for piece in pieces {
        if let Piece::Needed(path, value) = piece {
            jsonc::remove_last(&mut text, path, value)?;
        }
    }
    let is_empty = if is_json { jsonc::is_empty(&text)? } else { text.trim().is_empty() };
    Ok((!is_empty).then_some(text))
}

/// Whether a JSON value runs one of our hooks for the client that another one runs it for.
fn runs_our_hook(value: &Value, like: &Value) -> bool {
    let hook = |value: &Value| {
        let mut found = None;
        each_text(value, &mut |text| {
            if let Some((program, rest)) = text.rsplit_once(" hook ")
                && (program.contains("git-brain") || program.contains("git brain"))
            {
                found = rest.split_whitespace().next().map(str::to_owned);
            }
        });
        found
    };
    let wanted = hook(like);
    wanted.is_some() && hook(value) == wanted
}

fn each_text(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter().for_each(|value| each_text(value, visit)),
        Value::Object(fields) => fields.values().for_each(|value| each_text(value, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
