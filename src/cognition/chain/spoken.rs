//! What a model said: its text without its thoughts, and the calls that small models write into it, `[TOOL:name:{json}]`.

use serde_json::{Map, Value};

use crate::limits;

/// A reply's text, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Spoken {
    /// What is left for people, trimmed; empty if nothing of it is a word.
    pub text: String,
    /// The calls, in order: name and arguments. Arguments that are no JSON are the text as it stands.
    pub calls: Vec<(String, Value)>,
}

const OPEN: &str = "[TOOL:";

/// Reads a reply's text.
pub(super) fn read(said: &str) -> Spoken {
    let said = without_thoughts(said);
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut rest = said.as_str();
    while let Some(at) = find(rest, OPEN) {
        let (before, from) = rest.split_at(at);
        text += before;
        match call(&from[OPEN.len()..]) {
            Some((name, arguments, length)) => {
                calls.push((name, arguments));
                rest = &from[OPEN.len() + length..];
            }
            // No call after all, such as a sentence about how to write one.
            None => {
                text += &from[..OPEN.len()];
                rest = &from[OPEN.len()..];
            }
        }
    }
    text += rest;
    Spoken { text: meaning(&text), calls }
}

/// The text, bounded; nothing if no letter or figure is in it: dots and dashes answer nobody.
pub(super) fn meaning(text: &str) -> String {
    let text = text.trim();
    if !text.chars().any(char::is_alphanumeric) {
        return String::new();
    }
    super::prompt::clipped(text, limits::CHAIN_REPLY_BYTES).0.to_owned()
}

/// Where `wanted` (ASCII) stands, whatever its case.
fn find(text: &str, wanted: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.windows(wanted.len()).position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Reads `name]`, `name:{json}]` or `name:anything]`: the name, the arguments, and how long all of it is.
fn call(text: &str) -> Option<(String, Value, usize)> {
    let end = text.find([':', ']', '\n', '{'])?;
    let name = text[..end].trim();
    let good = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    if name.is_empty() || name.len() > limits::ID_BYTES || !name.chars().all(good) {
        return None;
    }
    let name = name.to_owned();
    let mut at = match text.as_bytes()[end] {
        b']' => return Some((name, Value::Object(Map::new()), end + 1)),
        b':' => end + 1,
        b'{' => end,
        _ => return None,
    };
    at += blanks(&text[at..]);
    // A value is read by its grammar, so that no brace or bracket inside a text ends it.
    let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    if let Some(Ok(value)) = values.next() {
        let mut after = at + values.byte_offset();
        after += blanks(&text[after..]);
        let closed = text[after..].starts_with(']');
        if closed || value.is_object() {
            return Some((name, value, after + usize::from(closed)));
        }
    }
    let line = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let close = text[at..line].rfind(']').map_or(line, |n| at + n);
    let after = if close < line { close + 1 } else { close };
    Some((name, Value::String(text[at..close].trim().to_owned()), after))
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Drops `<think>…</think>`. What is not closed is thought to the end.
pub(super) fn without_thoughts(said: &str) -> String {
    const MARKS: (&str, &str) = ("<think>", "</think>");
    let mut text = String::new();
    let mut rest = said;
    while let Some(at) = find(rest, MARKS.0) {
        text += &rest[..at];
        let inside = &rest[at + MARKS.0.len()..];
        rest = find(inside, MARKS.1).map_or("", |end| &inside[end + MARKS.1.len()..]);
    }
    // Some servers leave the opening mark out.
    if text.is_empty() && rest.len() == said.len() {
        rest = find(rest, MARKS.1).map_or(rest, |end| &rest[end + MARKS.1.len()..]);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_out_of_texts() {
        let one = |said: &str, name: &str, arguments: Value, text: &str| {
            let spoken = read(said);
            assert_eq!(spoken.calls, [(name.to_owned(), arguments)], "{said}");
            assert_eq!(spoken.text, text, "{said}");
        };
        one("[TOOL:list_dir:{\"path\": \".\"}]", "list_dir", json!({"path": "."}), "");
        one("Look. [TOOL:read_file:{\"path\": \"a}]b\"}] So.", "read_file", json!({"path": "a}]b"}), "Look.  So.");
        one("[tool:recall:{\"query\": \"\\\"]}[TOOL:x:{}]\"}]", "recall", json!({"query": "\"]}[TOOL:x:{}]"}), "");
        one("[TOOL: list_dir ]", "list_dir", json!({}), "");
        one("[TOOL:list_dir:{\"path\": {\"a\": [1, \"]\"]}}\n]", "list_dir", json!({"path": {"a": [1, "]"]}}), "");
        one("[TOOL:list_dir{\"path\": \"x\"}]", "list_dir", json!({"path": "x"}), "");
        one("[TOOL:list_dir:{\"path\": \"x\"} and on", "list_dir", json!({"path": "x"}), "and on");
        one("[TOOL:ls:src/]", "ls", json!("src/"), "");
        one("[TOOL:ls:{'path': 'src'}]", "ls", json!("{'path': 'src'}"), "");
        one("[TOOL:ls:src", "ls", json!("src"), "");
        one("<think>[TOOL:no:{}]</think>[TOOL:yes:{}]", "yes", json!({}), "");
    }

    #[test]
    fn several_calls_keep_their_order_and_nothing_panics() {
        let spoken = read("a [TOOL:x:{\"n\":1}][TOOL:y:{\"n\":2}] b [TOOL:x:{\"n\":1}]");
        let names: Vec<&str> = spoken.calls.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, spoken.text.as_str()), (vec!["x", "y", "x"], "a  b"));
        for text in
            ["[TOOL:", "[TOOL::{}]", "[TOOL:é", "[TOOL:a\n:{}]", "[TOOL:a:", "[TOOL:a:{", "é[TOOL:é:é]é", "[TOOL:]"]
        {
            read(text);
        }
        assert_eq!(read("write [TOOL:\nname]").text, "write [TOOL:\nname]");
    }

    #[test]
    fn thoughts_and_dots_are_no_answer() {
        for (said, text) in [
            ("<think>hm</think>Tea.", "Tea."),
            ("hm</think>Tea.", "Tea."),
            ("<THINK>hm", ""),
            ("…", ""),
            (" - ", ""),
            ("お茶", "お茶"),
            ("a <think>b</think> c <think>d", "a  c"),
        ] {
            assert_eq!(read(said).text, text, "{said}");
        }
    }
}
