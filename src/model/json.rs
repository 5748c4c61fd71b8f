//! Reading JSON that comes from outside, strictly: size, depth, duplicate keys, unknown fields, all refused with the
//! place; and writing the compact form.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use crate::limits;

/// Why a document does not parse or is not of its schema, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}, line {line}{at}: {message}", at = if path.is_empty() { String::new() } else { format!(", {path}") })]
pub struct JsonError {
    /// What was read, such as a path or "delta".
    pub what: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1; 0 where only the line is known.
    pub column: usize,
    /// Path inside the document, such as `ops[3].weight`; empty at the top.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl JsonError {
    /// An error at a line.
    pub fn at(what: &str, line: usize, path: &str, message: impl Into<String>) -> Self {
        Self { what: what.to_owned(), line, column: 0, path: path.to_owned(), message: message.into() }
    }
}

/// The line where a text first stands, for what is found wrong after parsing; 1 if it stands nowhere.
pub fn line_of(bytes: &[u8], text: &str) -> usize {
    let whole = String::from_utf8_lossy(bytes);
    whole.find(text).map_or(1, |at| whole[..at].matches('\n').count() + 1)
}

/// The line where a key first stands.
pub fn line_of_key(bytes: &[u8], key: &str) -> usize {
    line_of(bytes, &format!("\"{key}\""))
}

/// Reads a document of at most `max_bytes`, with every check of this module.
pub fn strict<T: DeserializeOwned>(bytes: &[u8], what: &str, max_bytes: usize) -> Result<T, JsonError> {
    guard(bytes, what, max_bytes)?;
    typed(bytes, what)
}

/// Size, encoding, depth, duplicate keys, whole numbers that would be rounded, and that it is an object: what types alone do not
/// check.
pub fn guard(bytes: &[u8], what: &str, max_bytes: usize) -> Result<(), JsonError> {
    if bytes.len() > max_bytes {
        let message = format!("{} bytes, the limit is {max_bytes}", bytes.len());
        return Err(JsonError::at(what, 1, "", message));
    }
    depth(bytes, what)?;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    de::Deserializer::deserialize_any(&mut reader, NoDuplicates)
        .and_then(|()| reader.end())
        .map_err(|e| from_serde(what, String::new(), &e))?;
    whole_numbers(bytes, what)?;
    object(bytes, what)
}

/// Reads a type without the checks of [`guard`]: for bytes that were written by this program or are guarded already.
pub fn typed<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, JsonError> {
    // Keeping track of the path costs as much again as reading, and is wanted for what is wrong only.
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
        let path = match e.path().to_string() {
            p if p == "." => String::new(),
            p => p,
        };
        from_serde(what, path, e.inner())
    })?;
    reader.end().map_err(|e| from_serde(what, String::new(), &e))?;
    Ok(value)
}

/// As [`typed`], for types that borrow from the text.
pub fn typed_str<'de, T: serde::Deserialize<'de>>(text: &'de str, what: &str) -> Result<T, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(&mut reader).map_err(|e| from_serde(what, String::new(), &e))?;
    reader.end().map_err(|e| from_serde(what, String::new(), &e))?;
    Ok(value)
}

fn from_serde(what: &str, path: String, error: &serde_json::Error) -> JsonError {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let mut message = text.strip_suffix(&suffix).unwrap_or(&text).to_owned();
    // It quotes what it found, however long that is.
    if let Some((end, _)) = message.char_indices().nth(limits::ERROR_CHARS) {
        message.replace_range(end.., "…");
    }
    JsonError { what: what.to_owned(), line: error.line().max(1), column: error.column(), path, message }
}

/// Every document is an object. A derived reader of a struct would also take an array of its fields, in order.
pub fn object(bytes: &[u8], what: &str) -> Result<(), JsonError> {
    let start = bytes.len() - bytes.trim_ascii_start().len();
    match bytes.get(start) {
        Some(b'{') => Ok(()),
        _ => {
            let line = 1 + bytes[..start].iter().filter(|b| **b == b'\n').count();
            Err(JsonError::at(what, line, "", "is no JSON object"))
        }
    }
}

/// Refuses nesting beyond the limit before any recursive reader sees it.
fn depth(bytes: &[u8], what: &str) -> Result<(), JsonError> {
    let (mut depth, mut line, mut in_string, mut escaped) = (0_usize, 1_usize, false, false);
    for &b in bytes {
        match b {
            b'\n' => line += 1,
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > limits::JSON_DEPTH {
                    let message = format!("nested deeper than {}", limits::JSON_DEPTH);
                    return Err(JsonError::at(what, line, "", message));
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses whole numbers beyond 64 bits: a reader would round them, and say nothing. `bytes` are JSON.
pub fn whole_numbers(bytes: &[u8], what: &str) -> Result<(), JsonError> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'\n' => line += 1,
            b'{' => steps.push(Step::Field { key: 0..0, named: false }),
            b'[' => steps.push(Step::Item(0)),
            b'}' | b']' => drop(steps.pop()),
            b',' => match steps.last_mut() {
                Some(Step::Item(index)) => *index += 1,
                Some(Step::Field { named, .. }) => *named = false,
                None => {}
            },
            b'"' => {
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                if let Some(Step::Field { key, named: named @ false }) = steps.last_mut() {
                    (*key, *named) = (start + 1..at - 1, true);
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                at += bytes[at..].iter().take_while(is_part).count();
                let number = std::str::from_utf8(&bytes[start..at]).unwrap_or_default();
                let is_whole = !number.contains(['.', 'e', 'E']);
                if is_whole && number.len() > 18 && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    let shown: String = number.chars().take(limits::ERROR_CHARS).collect();
                    let message = format!("{shown} is beyond 64 bits, and would be rounded: write it as text");
                    return Err(JsonError::at(what, line, &path_of(&steps, bytes), message));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A step from a value into it.
enum Step {
    /// The field whose key stands there, once it is `named`.
    Field { key: std::ops::Range<usize>, named: bool },
    /// The item with that number.
    Item(usize),
}

/// Steps as a path, such as `ops[3].weight`.
fn path_of(steps: &[Step], bytes: &[u8]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Item(index) => path += &format!("[{index}]"),
            Step::Field { key, .. } => {
                path += if path.is_empty() { "" } else { "." };
                path += &String::from_utf8_lossy(&bytes[key.clone()]);
            }
        }
    }
    path
}

/// Walks any JSON value and fails at the first key that an object has twice.
struct NoDuplicates;

impl<'de> DeserializeSeed<'de> for NoDuplicates {
    type Value = ();
    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NoDuplicates {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(NoDuplicates)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(de::Error::custom(format!("the key {key:?} stands here twice")));
            }
            seen.insert(key);
            map.next_value_seed(NoDuplicates)?;
        }
        Ok(())
    }
}

/// One field per line, two spaces of indent, a trailing newline: how every document of ours that is no neuron is written.
pub fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("invariant: our documents have string keys");
    bytes.push(b'\n');
    bytes
}

/// A value on one line, with a space after `:` and `,` as in the canonical form.
pub fn inline<T: Serialize>(value: &T) -> String {
    struct Spaced;
    impl serde_json::ser::Formatter for Spaced {
        fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, w: &mut W, first: bool) -> std::io::Result<()> {
            if first { Ok(()) } else { w.write_all(b", ") }
        }
        fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, w: &mut W) -> std::io::Result<()> {
            w.write_all(b": ")
        }
        fn begin_array_value<W: ?Sized + std::io::Write>(&mut self, w: &mut W, first: bool) -> std::io::Result<()> {
            if first { Ok(()) } else { w.write_all(b", ") }
        }
    }
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Spaced);
    value.serialize(&mut serializer).expect("invariant: our documents have string keys");
    String::from_utf8(out).expect("invariant: serde_json writes UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> JsonError {
        strict::<serde_json::Value>(text.as_bytes(), "test", 1 << 20).unwrap_err()
    }

    #[test]
    fn hostile_documents_are_refused_with_the_line() {
        assert_eq!(refused("{\n \"a\": 1,\n \"a\": 2}").line, 3);
        assert!(refused("{\"a\": {\"b\": 1, \"b\": 2}}").message.contains("\"b\""));
        assert!(refused("{\"a\": 1e999}").message.contains("number"));
        assert!(refused(&format!("\n{}", "[".repeat(100_000))).message.contains("nested"));
        assert!(refused("{\"a\": NaN}").line == 1 && refused("{} x").line == 1);
        let large = strict::<serde_json::Value>(b"[1,2,3]", "test", 3).unwrap_err();
        assert!(large.message.contains("limit"));
        assert!(strict::<serde_json::Value>(b"{\"a\": \"\xff\"}", "test", 100).is_err());
    }

    #[test]
    fn whole_numbers_are_exact_or_refused_with_their_place() {
        let exact = r#"{"a": [9007199254740993, -9007199254740993, 18446744073709551615, -9223372036854775808, -0],
            "b, [{": "123456789012345678901234567890", "c\\": 1e30, "d": 100000000000000000000.0}"#;
        let read: serde_json::Value = strict(exact.as_bytes(), "test", 1000).unwrap();
        let kept = ["9007199254740993", "-9007199254740993", "18446744073709551615", "-9223372036854775808"];
        assert!(kept.iter().all(|number| inline(&read).contains(number)), "{read}");
        for (number, text) in [
            ("18446744073709551616", "{\"a\": [1, {\"b \\\"[\": 2, \"c\": [[0],\n N]}]}"),
            ("-9223372036854775809", "{\"a\": [1, {\"x\": {}, \"c\": [[0],\n N, 1]}], \"d\": 1}"),
            ("123456789012345678901234567890", "{\"a\": [[], {\"c\": [{},\n N]}]}"),
        ] {
            let error = refused(&text.replace('N', number));
            assert_eq!((error.line, error.path.as_str()), (2, "a[1].c[1]"), "{error}");
            assert!(error.message.starts_with(number), "{error}");
        }
        let long = refused(&format!("{{\"a\": {}}}", "9".repeat(200)));
        assert!(long.message.contains("would be rounded"), "{long}");
    }

    #[test]
    fn an_array_of_fields_is_no_object() {
        #[derive(serde::Deserialize)]
        struct One {
            _text: String,
        }
        assert!(strict::<One>(b"{\"_text\": \"a\"}", "test", 100).is_ok());
        let error = strict::<One>(b"\n[\"a\"]", "test", 100).err().unwrap();
        assert_eq!((error.line, error.message.as_str()), (2, "is no JSON object"));
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        let text = format!("{{\"a\": \"{}\\\"{}\"}}", "[".repeat(50), "{".repeat(50));
        assert!(strict::<serde_json::Value>(text.as_bytes(), "test", 1000).is_ok());
    }

    #[test]
    fn inline_is_one_spaced_line() {
        assert_eq!(
            inline(&serde_json::json!({"a": [1, {"b": null}], "c": "x"})),
            r#"{"a": [1, {"b": null}], "c": "x"}"#
        );
    }

    #[test]
    fn bounds_hold_at_their_edge_and_name_the_line() {
        let read = |text: &str, max| strict::<serde_json::Value>(text.as_bytes(), "test", max);
        assert!(read("{\"a\": 1}", 8).is_ok() && read("{\"a\": 1}", 7).is_err());
        let nested = |n: usize| format!("\n{{\"a\":{}{}}}", "[".repeat(n - 1), "]".repeat(n - 1));
        assert!(read(&nested(limits::JSON_DEPTH), 1000).is_ok());
        let error = read(&nested(limits::JSON_DEPTH + 1), 1000).unwrap_err();
        assert!(error.line == 2 && error.message.contains("nested deeper"), "{error}");
        // What is closed nests no more, be it a list or an object.
        let flat = format!("{{\"a\": [{}0]}}", "[], {}, ".repeat(limits::JSON_DEPTH));
        assert!(read(&flat, 10_000).is_ok());
        // A bracket behind an escaped quote, or behind an escaped backslash at a text's end.
        let escaped = format!("{{\"a\\\\\": {}1{}}}", "[".repeat(limits::JSON_DEPTH), "]".repeat(limits::JSON_DEPTH));
        assert!(read(&escaped, 1000).unwrap_err().message.contains("nested deeper"));
        // Guarded before, so that every kind of value passes.
        assert!(read(r#"{"a": [true, null, -1, 1, 1.5, "x", {"a": 1}], "b": {"a": 1}}"#, 1000).is_ok());
    }

    #[test]
    fn an_error_says_where_and_quotes_no_more_than_a_line_bears() {
        #[derive(Debug, serde::Deserialize)]
        struct Two {
            _list: Vec<u8>,
        }
        let error = typed::<Two>(b"{\n\"_list\": [1,\n \"x\"]}", "file").unwrap_err();
        assert_eq!((error.line, error.path.as_str()), (3, "_list[1]"));
        assert!(error.column > 0 && error.to_string().starts_with("file, line 3, _list[1]: invalid type"), "{error}");
        assert!(!error.message.contains(" at line "), "{error}");
        let top = typed::<Two>(b"1", "file").unwrap_err();
        assert_eq!(top.path, "");
        assert!(typed::<Two>(b"{\"_list\": []} x", "file").is_err());
        assert!(typed_str::<Two>("{\"_list\": []} x", "file").is_err());
        assert!(typed_str::<Two>("{\"_list\": []}", "file").is_ok());
        let text = format!("{{\"_list\": \"{}\"}}", "会".repeat(2 * limits::ERROR_CHARS));
        let long = typed::<Two>(text.as_bytes(), "file").unwrap_err();
        assert_eq!(long.message.chars().count(), limits::ERROR_CHARS + 1);
        assert!(long.message.ends_with('…'));
    }

    #[test]
    fn a_document_of_a_type_without_lines_is_still_an_object() {
        assert!(object(b"\n {}", "t").is_ok());
        for (bytes, line) in [(&b"\n\n []"[..], 3), (b"1", 1), (b"", 1), (b"\n", 2)] {
            assert_eq!(object(bytes, "t").unwrap_err().line, line);
        }
        assert_eq!(pretty(&serde_json::json!({"a": 1})), b"{\n  \"a\": 1\n}\n");
        assert_eq!(
            inline(&serde_json::json!([[1, 2], {"a": 1, "b": 2}, {}, []])),
            r#"[[1, 2], {"a": 1, "b": 2}, {}, []]"#
        );
    }
}
