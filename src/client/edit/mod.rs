//! A settings file's text with our pieces in it, and without them. Comments, order, indentation and ends of lines of everything else stay.
//!
//! Pieces are only ever inserted, and it is told where: cut out again, the text is as it was, to the byte. A text that was changed since is
//! searched for them instead, and what became empty goes with them.

mod fence;
mod jsonc;
mod signed;
mod table;

use std::collections::BTreeSet;

use serde_json::Value;

pub use signed::signed;

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
        let (is_there, is_like) = found_one(text, piece)?;
        whole += usize::from(is_there);
        any |= is_there && !matches!(piece, Piece::Needed(..)) || is_like;
    }
    Ok(match (whole == pieces.len(), any) {
        (true, _) => Found::All,
        (false, true) => Found::Some,
        (false, false) => Found::None,
    })
}

/// The pieces that a text does not have as they should be.
///
/// # Errors
/// The text cannot be read.
pub fn missing(text: &str, pieces: &[Piece]) -> Result<Vec<Piece>, String> {
    let mut missing = Vec::new();
    for piece in pieces {
        if !found_one(text, piece)?.0 {
            missing.push(piece.clone());
        }
    }
    Ok(missing)
}

/// Whether a piece is there as it should be, and whether one like it is there that is ours.
fn found_one(text: &str, piece: &Piece) -> Result<(bool, bool), String> {
    Ok(match piece {
        Piece::Member(path, value) => jsonc::member(text, path, value)?,
        Piece::Needed(path, _) => (jsonc::has(text, path)?, false),
        Piece::Element(path, value) => jsonc::element(text, path, value)?,
        Piece::Table(path, lines) => table::found(text, path, lines)?,
        Piece::Fence(block) => fence::found(text, block),
        Piece::Whole(own) => {
            (text.replace("\r\n", "\n") == *own, signed::is_ours(text, own) || begins_alike(text, own))
        }
    })
}

/// Whether a file begins as one of ours does: with the same two lines. A person may have changed it since.
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
            Piece::Member(path, value) => {
                if jsonc::has(&edited.text, path)? {
                    return Err(anothers(path));
                }
                jsonc::add_member(&mut edited, path, value)?;
            }
            Piece::Needed(path, value) => {
                if !jsonc::has(&edited.text, path)? {
                    jsonc::add_member(&mut edited, path, value)?;
                }
            }
            Piece::Element(path, value) => jsonc::add_element(&mut edited, path, value)?,
            Piece::Table(path, lines) => table::add(&mut edited, path, lines)?,
            Piece::Fence(block) => fence::add(&mut edited, block)?,
            Piece::Whole(own) => {
                if !text.is_empty() {
                    return Err(match begins_alike(text, own) {
                        true => {
                            "the text that `setup` wrote was changed there: keep it under another name, or take it away"
                        }
                        false => "another file is there",
                    }
                    .to_owned());
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

/// The text without our pieces, wherever they stand; `None`: nothing is left. Entries and hooks are ours that run the program as `setup`
/// writes it, whatever settings they have; texts that say by their hash that they are as they were written.
///
/// # Errors
/// The text cannot be read.
pub fn without(text: &str, pieces: &[Piece]) -> Result<Option<String>, String> {
    let mut text = text.to_owned();
    let is_json = pieces.iter().any(|piece| matches!(piece, Piece::Member(..) | Piece::Element(..)));
    for piece in pieces {
        match piece {
            Piece::Member(path, value) => {
                if jsonc::member(&text, path, value)?.1 {
                    jsonc::remove_member(&mut text, path)?;
                }
            }
            Piece::Element(path, value) => jsonc::remove_elements(&mut text, path, value)?,
            Piece::Needed(..) => {}
            Piece::Table(path, lines) => {
                if table::found(&text, path, lines)?.1 {
                    table::remove(&mut text, path)?;
                }
            }
            Piece::Fence(block) => fence::remove(&mut text, block),
            Piece::Whole(own) => {
                if signed::is_ours(&text, own) {
                    return Ok(None);
                }
            }
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

/// Why an entry of another is not written over.
fn anothers(path: &[&str]) -> String {
    format!("{} is there, and runs something else: give yours another name", path.join("."))
}

/// The words of the command that an entry runs.
fn command_of(entry: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for key in ["command", "args"] {
        entry.get(key).into_iter().for_each(|value| each_text(value, &mut |text| words.push(text.to_owned())));
    }
    words
}

/// Whether a word is a path of this program, of whatever version.
fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(name, "git-brain" | "git-brain.exe")
}

/// Whether an entry is one that `setup` writes: the program, and `mcp`.
fn runs_our_server(entry: &Value) -> bool {
    matches!(&command_of(entry)[..], [program, mcp] if is_program(program) && mcp == "mcp")
}

/// Whether an entry of a person's own runs our server in another way: for another brain, in a container, with options.
fn runs_it_otherwise(entry: &Value) -> bool {
    let words = command_of(entry).join(" ");
    let mut words = words.split_whitespace();
    !runs_our_server(entry) && words.any(|word| is_program(word) || word == "brain") && words.any(|word| word == "mcp")
}

/// Whether an entry runs the server as another one does, whatever settings a person gave it, or in a way of a person's own.
fn is_same_server(entry: &Value, like: &Value) -> bool {
    ["command", "args"].iter().all(|key| entry.get(key) == like.get(key)) || runs_it_otherwise(entry)
}

/// The commands of hooks of ours in a group: the word of the program, and the client with the event, as `setup` writes them or in a way of a person's
/// own.
fn hooks_in(group: &Value, is_ours: bool) -> Vec<String> {
    let mut found = Vec::new();
    each_text(group, &mut |text| {
        let Some((program, rest)) = text.split_once(" hook ") else { return };
        let (word, words) = (program.trim_matches(['\'', '"']), rest.split_whitespace().count());
        let is_plain =
            words == 2 && (is_program(word) || word == "git brain") && !program.contains(['=', ';', '|', '&']);
        let is_otherwise = !is_plain && (program.contains("git-brain") || program.contains("git brain"));
        if if is_ours { is_plain } else { is_otherwise } {
            let mut rest = rest.split_whitespace();
            found.extend(rest.next().zip(rest.next()).map(|(client, event)| format!("{client} {event}")));
        }
    });
    found
}

/// Whether a group has the hook of another one, as it is or in a way of a person's own.
fn is_same_hook(group: &Value, like: &Value) -> bool {
    let mut texts = Vec::new();
    each_text(group, &mut |text| texts.push(text.to_owned()));
    let mut is_there = false;
    each_text(like, &mut |text| is_there |= text.contains(" hook ") && texts.iter().any(|one| one == text));
    is_there || hooks_in(like, true).iter().any(|wanted| hooks_in(group, false).contains(wanted))
}

/// Refuses to write an entry or a hook of ours anew to which a person gave settings.
///
/// # Errors
/// The text cannot be read, or what is there has settings that ours has not.
pub fn keeps_settings(text: &str, pieces: &[Piece]) -> Result<(), String> {
    for piece in missing(text, pieces)? {
        let (path, found, own) = match &piece {
            Piece::Member(path, own) => (path, jsonc::value_at(text, path)?.filter(runs_our_server), own.clone()),
            Piece::Table(path, lines) => {
                let (found, own) = table::values(text, path, lines)?;
                (path, found.filter(runs_our_server), own)
            }
            Piece::Element(path, own) => {
                let all = jsonc::value_at(text, path)?;
                let mut ours = all.as_ref().and_then(Value::as_array).into_iter().flatten();
                (path, ours.find(|one| runs_our_hook(one, own)).cloned(), own.clone())
            }
            _ => continue,
        };
        let Some(found) = found else { continue };
        if let Some(key) = settings_beside(&found, &own).first() {
            let mut words = Vec::new();
            each_text(&own, &mut |text| words.push(text.to_owned()));
            let hook = words.iter().position(|word| word.contains(" hook "));
            let command =
                own.get("command").cloned().unwrap_or_else(|| hook.map_or(Value::Null, |at| words[at].clone().into()));
            return Err(format!(
                "{} has settings of yours ({key}): write {command} as its command there by hand, or take them away",
                path.join(".")
            ));
        }
    }
    Ok(())
}

/// The names of what a value has and another one has not, or has otherwise, at any depth; its commands do not count.
fn settings_beside(value: &Value, own: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match (value, own) {
        (Value::Object(fields), _) => {
            for (key, inner) in fields.iter().filter(|(key, _)| !matches!(key.as_str(), "command" | "args")) {
                match own.get(key.as_str()) {
                    Some(same) if same == inner => {}
                    Some(other) if inner.is_array() || inner.is_object() => found.extend(settings_beside(inner, other)),
                    _ => drop(found.insert(key.clone())),
                }
            }
        }
        // Hooks of a person's own stay where they are.
        (Value::Array(all), Value::Array(own)) => {
            let first = own.first().cloned().unwrap_or_default();
            let ours = all.iter().filter(|one| runs_our_hook(one, &first));
            ours.for_each(|one| found.extend(settings_beside(one, &first)));
        }
        _ => {}
    }
    found
}

/// Whether a JSON value runs the hook that another one runs, as `setup` writes it.
fn runs_our_hook(value: &Value, like: &Value) -> bool {
    let client =
        |value: &Value| hooks_in(value, true).first().and_then(|hook| Some(hook.split_once(' ')?.0.to_owned()));
    let wanted = client(like);
    wanted.is_some() && client(value) == wanted
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
