//! Notes in Markdown as pages, to the byte: a note is cut at blank lines, and what was cut is put together again.
//!
//! Owns where a piece begins. A heading, an introduction that ends with a colon, and a line of two words belong to what follows; code in a fence is
//! one piece. Blank lines beyond one, and blank lines at the beginning, stay at the head of the next piece. What is lost: carriage returns,
//! and how many newlines the note ends with.

use super::page::{Page, Piece, Role, relation_line, scalar, stem};
use super::place;
use crate::model::Stamp;
use crate::text::date::day_named;
use crate::text::wiki;

/// Longest piece that headings and introductions may make, bytes.
const GLUED: usize = 1_600;
/// Fewer words than this are no memory of their own.
const FEW_WORDS: usize = 3;
/// The key of front matter that says a page's name where its path and title do not.
const PAGE: &str = "page";
/// Keys of front matter that say when a note was written.
const DATES: [&str; 6] = ["created", "created_at", "date", "updated", "updated_at", "modified"];

/// Reads a note. `name` is its path without `.md`; `by_line` makes a piece of each line of a list.
pub fn read(name: &str, text: &str, by_line: bool) -> Page {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let (properties, body) = front_matter(&text);
    let mut pieces: Vec<Piece> = properties.map(|lines| Piece::new(Role::Properties, lines)).into_iter().collect();
    let title = properties.and_then(|lines| wiki::property(lines, "title")).unwrap_or_else(|| stem(name).to_owned());
    let at = properties.and_then(|lines| DATES.iter().find_map(|key| stamp(&wiki::property(lines, key)?)));
    let day = || stamp(stem(name).get(..10)?);
    let said = [PAGE, "title"].map(|key| properties.and_then(|lines| wiki::property(lines, key)));
    let said: Vec<&str> = said.iter().flatten().map(String::as_str).collect();
    let own = place::named(name, &said).unwrap_or_else(|| name.to_owned());
    cut(body, by_line, &mut pieces);
    Page { name: own, title, pieces, at: at.or_else(day) }
}

/// The lines between the marks of front matter, and the rest of a note.
pub fn front_matter(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let inner = rest[..at].strip_suffix('\n').unwrap_or(&rest[..at]);
            // A mark with spaces behind it, or an empty block with a blank line, would not come out as it was.
            let is_exact = line.trim_end_matches('\n') == "---" && (at == 0 || rest[..at].ends_with('\n'));
            let is_empty_line = at > 0 && inner.is_empty();
            return if is_exact && !is_empty_line { (Some(inner), &rest[at + line.len()..]) } else { (None, text) };
        }
        at += line.len();
    }
    (None, text)
}

/// A day, or a time as most programs write it.
pub fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if let Ok(stamp) = text.parse() {
        return Some(stamp);
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Stamp::exactly(at.as_second());
    }
    if let Ok(local) = text.replacen(' ', "T", 1).parse::<jiff::civil::DateTime>()
        && text.contains(':')
    {
        return Stamp::exactly(local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second());
    }
    let day = day_named(text)?;
    Stamp::exactly(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second() + 12 * 3600)
}

/// Cuts a body at blank lines.
fn cut(body: &str, by_line: bool, pieces: &mut Vec<Piece>) {
    let body = body.trim_end_matches('\n');
    let mut held = String::new();
    let mut fence: Option<&str> = None;
    // Newlines that the next piece begins with, beyond the blank line that separates it.
    let mut extra = 0;
    let mut lines = body.split('\n').peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if let Some(mark) = fence {
            held.push_str(line);
            if trimmed.starts_with(mark) && trimmed.trim_end().chars().all(|c| mark.starts_with(c)) {
                fence = None;
            }
        } else {
            fence = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
            held.push_str(line);
        }
        let Some(next) = lines.peek() else { break };
        if fence.is_none() && next.is_empty() && !held.is_empty() && !is_glued(&held) {
            flush(&mut held, extra, by_line, pieces);
            extra = 0;
            lines.next();
            while lines.peek().is_some_and(|line| line.is_empty()) {
                extra += 1;
                lines.next();
            }
        } else {
            held.push('\n');
        }
    }
    if !held.is_empty() || extra > 0 {
        flush(&mut held, extra, by_line, pieces);
    }
}

/// Whether what is held belongs to what follows.
fn is_glued(held: &str) -> bool {
    let last = held.lines().next_back().unwrap_or_default().trim();
    held.len() < GLUED
        && (last.starts_with('#') && last.trim_start_matches('#').starts_with(' ')
            || last.ends_with(':')
            || held.split_whitespace().count() < FEW_WORDS)
}

fn flush(held: &mut String, extra: usize, by_line: bool, pieces: &mut Vec<Piece>) {
    let text = "\n".repeat(extra) + held;
    held.clear();
    // A line of a list stands directly below the piece before it, so nothing can be lost between them.
    let is_item = |line: &str| by_line && (line.starts_with("- ") || line.starts_with("* "));
    let mut role = Role::Paragraph;
    let mut from = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > from && is_item(line) && !text.contains("```") && !is_glued_line(&text[from..at]) {
            pieces.push(Piece::new(role, &text[from..at - 1]));
            (role, from) = (Role::Line, at);
        }
        at += line.len();
    }
    pieces.push(Piece::new(role, &text[from..]));
}

/// Whether the lines above an item are a heading: the first item stays with it.
fn is_glued_line(above: &str) -> bool {
    above.lines().all(|line| line.trim().is_empty() || line.starts_with('#'))
}

/// Writes a page as a note.
pub fn write(page: &Page, more: &[String]) -> String {
    let mut text = String::new();
    let properties = page.pieces.iter().filter(|piece| piece.role == Role::Properties);
    let mut lines: Vec<&str> = properties.map(|piece| piece.text.as_str()).collect();
    let has_block = !lines.is_empty() || !more.is_empty();
    lines.retain(|lines| !lines.is_empty());
    lines.extend(more.iter().map(String::as_str));
    if has_block {
        text += "---\n";
        for line in lines {
            text += line;
            text.push('\n');
        }
        text += "---\n";
    }
    let mut before: Option<Role> = None;
    for piece in page.pieces.iter().filter(|piece| piece.role != Role::Properties) {
        let is_listed = |role: Role| matches!(role, Role::Line | Role::Observation | Role::Relation);
        text += match (before, piece.role) {
            (None, _) => "",
            (Some(_), Role::Line) => "\n",
            (Some(above), role) if is_listed(above) && is_listed(role) => "\n",
            _ => "\n\n",
        };
        match piece.role {
            Role::Observation => text += &format!("- {}", piece.text.replace('\n', "\n  ")),
            Role::Relation => text += &format!("- {}", relation_line(&piece.text)),
            _ => text += &piece.text,
        }
        before = Some(piece.role);
    }
    if before.is_some() {
        text.push('\n');
    }
    text
}

/// A page as `export` writes it to a path: with a title and a name that the path does not say, and links to names that no piece of it links to.
pub fn exported(page: &Page, path: &str, names: &[String]) -> String {
    let path = path.strip_suffix(".md").unwrap_or(path);
    // A property that the page has itself is not said again.
    let own: Vec<&str> = page
        .pieces
        .iter()
        .filter(|piece| piece.role == Role::Properties)
        .flat_map(|piece| piece.text.lines())
        .collect();
    let has = |key: &str| own.iter().any(|line| line.split(':').next() == Some(key));
    let mut more = Vec::new();
    if stem(path) != page.title && !has("title") {
        more.push(format!("title: {}", scalar(&page.title)));
    }
    if path != page.name && !has(PAGE) && place::named(path, &[&page.title]).is_none_or(|name| name != page.name) {
        more.push(format!("{PAGE}: {}", scalar(&page.name)));
    }
    if !names.is_empty() && !has("concepts") {
        more.push("concepts:".to_owned());
        more.extend(names.iter().map(|name| format!("  - \"[[{name}]]\"")));
    }
    write(page, &more)
}
