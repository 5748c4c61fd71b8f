//! TOML: a table of ours at the end of the text.

use super::{Edited, anothers, is_same_server, runs_our_server};

type Read<T> = Result<T, String>;

fn document(text: &str) -> Read<toml::Table> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", error.message())
    })
}

fn value_at(text: &str, path: &[&str]) -> Read<Option<toml::Value>> {
    let mut here = toml::Value::Table(document(text)?);
    for key in path {
        match here {
            toml::Value::Table(mut table) => match table.remove(*key) {
                Some(value) => here = value,
                None => return Ok(None),
            },
            _ => return Err(format!("something else stands where the table {} belongs", path.join("."))),
        }
    }
    Ok(Some(here))
}

fn header(path: &[&str]) -> String {
    format!("[{}]", path.join("."))
}

/// Whether a table is there as it should be, and whether one of its name is there.
pub(super) fn found(text: &str, path: &[&str], lines: &str) -> Read<(bool, bool)> {
    let (Some(found), wanted) = values(text, path, lines)? else { return Ok((false, false)) };
    let is_there = is_same_server(&found, &wanted);
    Ok((is_there, runs_our_server(&found)))
}

/// The table that is there, and the one that is ours.
pub(super) fn values(text: &str, path: &[&str], lines: &str) -> Read<(Option<serde_json::Value>, serde_json::Value)> {
    let plain = |table: Option<toml::Value>| table.and_then(|table| serde_json::to_value(table).ok());
    let own = plain(value_at(&format!("{}\n{lines}", header(path)), path)?);
    Ok((plain(value_at(text, path)?), own.unwrap_or_default()))
}

pub(super) fn add(edited: &mut Edited, path: &[&str], lines: &str) -> Read<()> {
    if value_at(&edited.text, path)?.is_some() {
        return Err(anothers(path));
    }
    let line_end = if edited.text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match &edited.text {
        text if text.is_empty() => String::new(),
        text if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    let block = format!("{gap}{}\n{lines}", header(path)).replace("\r\n", "\n").replace('\n', line_end);
    let end = edited.text.len();
    edited.insert(end, &block);
    // `mcp_servers = {}` takes no table behind it.
    document(&edited.text).map_err(|why| format!("no table {} can be added: {why}", header(path)))?;
    Ok(())
}

/// Takes the table out, and the tables below it, with the blank line before it. A comment below its last key is not ours.
pub(super) fn remove(text: &mut String, path: &[&str]) -> Read<()> {
    if value_at(text, path)?.is_none() {
        return Ok(());
    }
    let (own, below) = (header(path), format!("[{}.", path.join(".")));
    let (mut kept, mut is_ours, mut was_found) = (String::new(), false, false);
    // Comments and blank lines behind the last key, of which nobody knows yet whether another key follows.
    let mut behind = String::new();
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            kept += commented(&behind);
            behind.clear();
            is_ours = plain == own || plain.starts_with(&below) || plain.starts_with(&format!("{own} "));
            was_found |= is_ours;
            if is_ours && kept.ends_with("\n\n") {
                kept.pop();
            } else if is_ours && kept.ends_with("\r\n\r\n") {
                kept.truncate(kept.len() - 2);
            }
        }
        match () {
            () if !is_ours => kept.push_str(line),
            () if plain.is_empty() || plain.starts_with('#') => behind.push_str(line),
            () => behind.clear(),
        }
    }
    kept += commented(&behind);
    if !was_found || value_at(&kept, path)?.is_some() {
        return Err(format!("{} is not written as a table of its own; take it out by hand", path.join(".")));
    }
    *text = kept;
    Ok(())
}

/// Lines of comments with the blank lines around them; without a comment nothing.
fn commented(lines: &str) -> &str {
    if lines.contains('#') { lines } else { "" }
}
