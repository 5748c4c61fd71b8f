//! JSON with comments: our members and elements, put in and taken out of the text.

use serde_json::Value;

use super::{Edited, is_same_hook, is_same_server, runs_our_hook, runs_our_server};
use crate::limits;

/// A value and where it stands.
struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

enum Kind {
    /// Keys with the place where each begins.
    Object(Vec<(String, usize, Node)>),
    Array(Vec<Node>),
    Other,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

type Read<T> = Result<T, String>;

impl Reader<'_> {
    fn fail<T>(&self, what: &str) -> Read<T> {
        let line = self.text[..self.at.min(self.text.len())].matches('\n').count() + 1;
        Err(format!("line {line}: {what}"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over space and comments.
    fn space(&mut self) -> Read<()> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
            self.at += blank;
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail("a comment has no end"),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Read<Node> {
        if depth > limits::JSON_DEPTH {
            return self.fail("values are nested too deeply");
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.elements(depth)?),
            Some(b'"') => {
                self.string()?;
                Kind::Other
            }
            _ => {
                let rest = &self.text[self.at..];
                let length =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
                if serde_json::from_str::<Value>(&rest[..length]).is_err() {
                    return self.fail("a value is expected");
                }
                self.at += length;
                Kind::Other
            }
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn string(&mut self) -> Read<String> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.fail("a key in quotes is expected");
        }
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'\\') => self.at += 2,
                Some(b'"') => break,
                None | Some(b'\n') => return self.fail("a text has no end"),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        match self.text.get(start..self.at).and_then(|text| serde_json::from_str(text).ok()) {
            Some(text) => Ok(text),
            None => self.fail("a text is not written as JSON has it"),
        }
    }

    fn members(&mut self, depth: usize) -> Read<Vec<(String, usize, Node)>> {
        let mut members: Vec<(String, usize, Node)> = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(members);
            }
            let start = self.at;
            let key = self.string()?;
            if members.iter().any(|(other, ..)| *other == key) {
                return self.fail(&format!("the key {key:?} stands twice"));
            }
            self.space()?;
            if self.peek() != Some(b':') {
                return self.fail("a colon is expected");
            }
            self.at += 1;
            self.space()?;
            let value = self.value(depth + 1)?;
            members.push((key, start, value));
            self.space()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {}
                _ => return self.fail("a comma or } is expected"),
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Read<Vec<Node>> {
        let mut elements = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(elements);
            }
            elements.push(self.value(depth + 1)?);
            self.space()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {}
                _ => return self.fail("a comma or ] is expected"),
            }
        }
    }
}

/// The document of a text; `None` of one that has nothing but space.
fn document(text: &str) -> Read<Option<Node>> {
    let mut reader = Reader { text, at: 0 };
    reader.space()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.value(0)?;
    reader.space()?;
    if reader.peek().is_some() {
        return reader.fail("something follows the document");
    }
    match node.kind {
        Kind::Object(_) => Ok(Some(node)),
        _ => Err("line 1: it is no object".to_owned()),
    }
}

/// The value without comments and commas at ends.
fn plain(text: &str, node: &Node) -> Value {
    match &node.kind {
        Kind::Object(members) => {
            Value::Object(members.iter().map(|(key, _, node)| (key.clone(), plain(text, node))).collect())
        }
        Kind::Array(elements) => Value::Array(elements.iter().map(|node| plain(text, node)).collect()),
        Kind::Other => serde_json::from_str(&text[node.start..node.end]).unwrap_or(Value::Null),
    }
}

/// The nodes along a path, from the document on, as far as it is there.
fn along<'n>(root: &'n Node, path: &[&str]) -> Read<Vec<&'n Node>> {
    let mut nodes = vec![root];
    for (depth, key) in path.iter().enumerate() {
        let Kind::Object(members) = &nodes[depth].kind else {
            return Err(format!("{} is no object", path[..depth].join(".")));
        };
        match members.iter().find(|(name, ..)| name == key) {
            Some((_, _, node)) => nodes.push(node),
            None => break,
        }
    }
    Ok(nodes)
}

/// The value at a path.
pub(super) fn value_at(text: &str, path: &[&str]) -> Read<Option<Value>> {
    let Some(root) = document(text)? else { return Ok(None) };
    let nodes = along(&root, path)?;
    Ok((nodes.len() > path.len()).then(|| plain(text, nodes[path.len()])))
}

pub(super) fn has(text: &str, path: &[&str]) -> Read<bool> {
    Ok(value_at(text, path)?.is_some())
}

/// Whether a member is there as it should be or in a way of a person's own, and whether it is ours.
pub(super) fn member(text: &str, path: &[&str], value: &Value) -> Read<(bool, bool)> {
    let found = value_at(text, path)?;
    let is_there = found.as_ref().is_some_and(|found| is_same_server(found, value));
    Ok((is_there, found.as_ref().is_some_and(runs_our_server)))
}

/// Whether an element is there as it should be, and whether one like it is there.
pub(super) fn element(text: &str, path: &[&str], value: &Value) -> Read<(bool, bool)> {
    match value_at(text, path)? {
        None => Ok((false, false)),
        Some(Value::Array(found)) => {
            let ours: Vec<&Value> = found.iter().filter(|one| runs_our_hook(one, value)).collect();
            // A person may have given it a time, or a companion, or another brain.
            let is_there = match &ours[..] {
                [] => found.iter().any(|one| is_same_hook(one, value)),
                [one] => is_same_hook(one, value),
                _ => false,
            };
            Ok((is_there, !ours.is_empty()))
        }
        Some(_) => Err(format!("{} is no list", path.join("."))),
    }
}

pub(super) fn is_empty(text: &str) -> Read<bool> {
    let Some(root) = document(text)? else { return Ok(true) };
    Ok(!has_comment(text)
        && matches!(&root.kind, Kind::Object(members) if members.is_empty())
        && text[root.start + 1..root.end - 1].trim().is_empty())
}

pub(super) fn add_member(edited: &mut Edited, path: &[&str], value: &Value) -> Read<()> {
    let Some(root) = document(&edited.text)? else {
        // Behind a comment on the last line it would be one.
        let gap = if edited.text.is_empty() || edited.text.ends_with('\n') { "" } else { "\n" };
        let text = gap.to_owned() + &pretty(&nested(path, value), "", "  ", "\n") + "\n";
        let end = edited.text.len();
        edited.insert(end, &text);
        return Ok(());
    };
    let nodes = along(&root, path)?;
    let depth = nodes.len() - 1;
    if depth == path.len() {
        return Err(format!("{} is there already", path.join(".")));
    }
    if !matches!(nodes[depth].kind, Kind::Object(_)) {
        return Err(format!("{} is no object", path[..depth].join(".")));
    }
    let (key, rest) = (path[depth], nested(&path[depth + 1..], value));
    put(edited, &root, nodes[depth], Some(key), &rest);
    Ok(())
}

pub(super) fn add_element(edited: &mut Edited, path: &[&str], value: &Value) -> Read<()> {
    let Some(root) = document(&edited.text)? else {
        return add_member(edited, path, &Value::Array(vec![value.clone()]));
    };
    let nodes = along(&root, path)?;
    if nodes.len() <= path.len() {
        return add_member(edited, path, &Value::Array(vec![value.clone()]));
    }
    if !matches!(nodes[path.len()].kind, Kind::Array(_)) {
        return Err(format!("{} is no list", path.join(".")));
    }
    put(edited, &root, nodes[path.len()], None, value);
    Ok(())
}

fn nested(path: &[&str], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |value, key| Value::Object([((*key).to_owned(), value)].into_iter().collect()))
}

/// Puts a value behind the last one of an object or a list.
fn put(edited: &mut Edited, root: &Node, into: &Node, key: Option<&str>, value: &Value) {
    let text = edited.text.clone();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(&text, root);
    let (first, last) = match &into.kind {
        Kind::Object(members) => {
            (members.first().map(|(_, start, _)| *start), members.last().map(|(_, _, node)| node.end))
        }
        Kind::Array(elements) => (elements.first().map(|node| node.start), elements.last().map(|node| node.end)),
        Kind::Other => (None, None),
    };
    let outer = indent_of_line(&text, into.start);
    let inner = match first {
        Some(first) if text[into.start..first].contains('\n') => Some(indent_of_line(&text, first).to_owned()),
        Some(_) => None,
        None => Some(format!("{outer}{unit}")),
    };
    let indent = inner.as_deref().unwrap_or(outer);
    let name = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    let written = match &inner {
        Some(indent) => name + &pretty(value, indent, &unit, line_end),
        None => name + &value.to_string(),
    };
    let gap = if inner.is_some() { format!("{line_end}{indent}") } else { " ".to_owned() };
    let Some(last) = last else {
        // An empty one: its end is moved to a line of its own, if it is not on one.
        let inside = &text[into.start + 1..into.end - 1];
        let close = if inside.contains('\n') { String::new() } else { format!("{line_end}{outer}") };
        edited.insert(into.end - 1 - trailing_space(inside), &format!("{gap}{written}{close}"));
        return;
    };
    let mut reader = Reader { text: &text, at: last };
    let _ = reader.space();
    let has_comma = reader.peek() == Some(b',');
    let after = if has_comma { reader.at + 1 } else { last };
    let behind = after + rest_of_line(&text[after..into.end - 1]);
    let ending = if has_comma { "," } else { "" };
    edited.insert(behind, &format!("{gap}{written}{ending}"));
    if !has_comma {
        edited.insert(last, ",");
    }
}

/// The space at the end of an empty object's inside, from its last line end on.
fn trailing_space(inside: &str) -> usize {
    match inside.rfind('\n') {
        Some(at) => {
            let at = if inside[..at].ends_with('\r') { at - 1 } else { at };
            inside.len() - at
        }
        None => 0,
    }
}

/// How much of a line is space and comments up to its end; 0 if something else follows on it.
fn rest_of_line(text: &str) -> usize {
    let line = text.find('\n').map_or(text.len(), |at| at);
    let part = text[..line].trim_end();
    let plain = part.trim_start();
    let is_comment = plain.starts_with("//") || plain.starts_with("/*") && plain.find("*/") == Some(plain.len() - 2);
    if is_comment { part.len() } else { 0 }
}

fn indent_of_line(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation, as the document has it.
fn unit(text: &str, root: &Node) -> String {
    let Kind::Object(members) = &root.kind else { return "  ".to_owned() };
    match members.first() {
        Some((_, start, _)) if text[root.start..*start].contains('\n') => {
            let found = indent_of_line(text, *start);
            if found.is_empty() { "  ".to_owned() } else { found.to_owned() }
        }
        _ => "  ".to_owned(),
    }
}

/// A value on lines of its own, all but the first indented.
fn pretty(value: &Value, indent: &str, unit: &str, line_end: &str) -> String {
    let deeper = format!("{indent}{unit}");
    let all = |open: char, parts: Vec<String>, close: char| {
        let lines: Vec<String> = parts.into_iter().map(|part| format!("{line_end}{deeper}{part}")).collect();
        format!("{open}{}{line_end}{indent}{close}", lines.join(","))
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), pretty(value, &deeper, unit, line_end))
            };
            all('{', fields.iter().map(field).collect(), '}')
        }
        Value::Array(values) if values.iter().any(|value| value.is_object() || value.is_array()) => {
            all('[', values.iter().map(|value| pretty(value, &deeper, unit, line_end)).collect(), ']')
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}

pub(super) fn remove_member(text: &mut String, path: &[&str]) -> Read<()> {
    let Some(root) = document(text)? else { return Ok(()) };
    let nodes = along(&root, path)?;
    if nodes.len() <= path.len() {
        return Ok(());
    }
    // What becomes empty by that goes too.
    let is_alone = |node: &Node| match &node.kind {
        Kind::Object(members) => members.len() == 1,
        Kind::Array(elements) => elements.len() == 1,
        Kind::Other => false,
    };
    let mut depth = path.len();
    // Where somebody comments on what is there, what is empty may be meant.
    while depth > 1 && is_alone(nodes[depth - 1]) && !is_commented(text, nodes[depth - 1], nodes[depth]) {
        depth -= 1;
    }
    let ranges = ranges_of(text, nodes[depth - 1], nodes[depth]);
    ranges.into_iter().for_each(|(start, end)| text.replace_range(start..end, ""));
    Ok(())
}

pub(super) fn remove_elements(text: &mut String, path: &[&str], like: &Value) -> Read<()> {
    loop {
        let Some(root) = document(text)? else { return Ok(()) };
        let nodes = along(&root, path)?;
        let Some(list) = nodes.get(path.len()) else { return Ok(()) };
        let Kind::Array(elements) = &list.kind else { return Ok(()) };
        let Some(ours) = elements.iter().find(|node| runs_our_hook(&plain(text, node), like)) else { return Ok(()) };
        // Hooks of a person's own in a group with ours stay.
        let group = match &ours.kind {
            Kind::Object(members) => members.iter().find(|(key, ..)| key == "hooks").map(|(.., hooks)| hooks),
            _ => None,
        };
        if let Some(hooks) = group
            && let Kind::Array(all) = &hooks.kind
            && all.len() > 1
            && let Some(inner) = all.iter().find(|node| runs_our_hook(&plain(text, node), like))
        {
            let ranges = ranges_of(text, hooks, inner);
            ranges.into_iter().for_each(|(start, end)| text.replace_range(start..end, ""));
            continue;
        }
        if elements.len() == 1 && !is_commented(text, list, ours) {
            return remove_member(text, path);
        }
        let ranges = ranges_of(text, list, ours);
        ranges.into_iter().for_each(|(start, end)| text.replace_range(start..end, ""));
    }
}

/// Takes a member out if it is the last one, and as we wrote it.
pub(super) fn remove_last(text: &mut String, path: &[&str], value: &Value) -> Read<()> {
    let Some(root) = document(text)? else { return Ok(()) };
    let is_last = matches!(&root.kind, Kind::Object(members) if members.len() == 1);
    if is_last && value_at(text, path)?.as_ref() == Some(value) {
        remove_member(text, path)?;
    }
    Ok(())
}

/// The parts of a text that go with a value of an object or a list, the last first: the value, its key, and the comma and space that part it
/// from the one before, or the one after.
fn ranges_of(text: &str, within: &Node, wanted: &Node) -> Vec<(usize, usize)> {
    let spans: Vec<(usize, usize)> = match &within.kind {
        Kind::Object(members) => members.iter().map(|(_, start, node)| (*start, node.end)).collect(),
        Kind::Array(elements) => elements.iter().map(|node| (node.start, node.end)).collect(),
        Kind::Other => Vec::new(),
    };
    let at = spans.iter().position(|(_, end)| *end == wanted.end).expect("invariant: it is one of them");
    match (at.checked_sub(1).map(|before| spans[before]), spans.get(at + 1)) {
        (Some(before), None) => {
            // A comment behind the one before stays where it is.
            let mut reader = Reader { text, at: before.1 };
            let _ = reader.space();
            let comma = reader.at;
            let kept = rest_of_line(&text[comma + 1..spans[at].0]);
            match (comma_behind(text, spans[at].1), kept) {
                // A comma behind the last one was there before it: the one before it keeps its own.
                (Some(behind), _) => vec![(comma + 1 + kept, behind + 1)],
                (None, 0) => vec![(comma, spans[at].1)],
                (None, _) => vec![(comma + 1 + kept, spans[at].1), (comma, comma + 1)],
            }
        }
        (_, Some(next)) if has_comment(&text[spans[at].1..next.0]) => {
            // What stands above the next one is about that one.
            let comma = text[spans[at].1..next.0].find(',').map_or(0, |comma| comma + 1);
            vec![lines_of(text, (spans[at].0, spans[at].1 + comma))]
        }
        (_, Some(next)) => vec![(spans[at].0, next.0)],
        (None, None) if is_commented(text, within, wanted) => match comma_behind(text, spans[at].1) {
            Some(comma) if text[spans[at].1..comma].trim().is_empty() => {
                vec![lines_of(text, (spans[at].0, comma + 1))]
            }
            Some(comma) => vec![(comma, comma + 1), spans[at]],
            None => vec![lines_of(text, spans[at])],
        },
        (None, None) => vec![(within.start + 1, within.end - 1)],
    }
}

/// The place of a comma that follows, behind space and comments.
fn comma_behind(text: &str, at: usize) -> Option<usize> {
    let mut behind = Reader { text, at };
    let _ = behind.space();
    (behind.peek() == Some(b',')).then_some(behind.at)
}

/// A range with the lines that nothing else stands on.
fn lines_of(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let rest = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    match text[line..start].trim().is_empty() && text[end..rest].trim().is_empty() {
        true => (line, rest),
        false => (start, end),
    }
}

/// Whether somebody comments on a value: inside it, but for a part that goes, or on a line above its key.
fn is_commented(text: &str, node: &Node, but: &Node) -> bool {
    let line = text[..node.start].rfind('\n').unwrap_or(0);
    let above = text[..line].trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let inside = has_comment(&text[node.start..but.start]) || has_comment(&text[but.end..node.end]);
    inside || above.starts_with("//") || above.ends_with("*/")
}

/// Whether a text has a comment outside of its strings.
fn has_comment(text: &str) -> bool {
    let (mut is_string, mut bytes) = (false, text.bytes().peekable());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_string => drop(bytes.next()),
            b'"' => is_string = !is_string,
            b'/' if !is_string && matches!(bytes.peek(), Some(b'/' | b'*')) => return true,
            _ => {}
        }
    }
    false
}
