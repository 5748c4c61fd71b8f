//! Has this call been made before? Two calls are alike if tool and arguments say the same, however they are written.

use serde_json::{Map, Value};

use super::Offer;
use crate::model::ids::hash_fields;

/// Arguments that are paths: `./a/` and `a` are the same.
const PATHS: [&str; 4] = ["path", "dir", "folder", "file"];

/// The hash of (tool, separator, canonical JSON of the normalised arguments).
pub(super) fn key(name: &str, arguments: &Value, offer: Option<&Offer>) -> u64 {
    let mut normal = normalised(arguments);
    if let (Value::Object(given), Some(Value::Object(defaults))) = (&mut normal, offer.map(|offer| &offer.defaults)) {
        for (field, value) in defaults {
            given.entry(field.clone()).or_insert_with(|| normalised_field(field, value));
        }
    }
    hash_fields(&[name.as_bytes(), canonical(&normal).as_bytes()])
}

/// A tool's name as it is compared.
pub(super) fn name(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Arguments as an object, whatever form a model gave them: nothing, or an object in a text.
pub(super) fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(object @ Value::Object(_)) => object,
            _ if text.trim().is_empty() => Value::Object(Map::new()),
            _ => arguments.clone(),
        },
        other => other.clone(),
    }
}

fn normalised(arguments: &Value) -> Value {
    match as_object(arguments) {
        Value::Object(fields) => {
            let known = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(field, value)| (field.clone(), normalised_field(field, value))).collect())
        }
        other => plain(&other),
    }
}

fn normalised_field(field: &str, value: &Value) -> Value {
    match value {
        Value::String(path) if PATHS.contains(&field) => Value::String(plain_path(path)),
        other => plain(other),
    }
}

/// Strings trimmed, whole numbers whole.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.trim().to_owned()),
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() && x.fract() == 0.0 && x.abs() < 9e15 => Value::from(x as i64),
            _ => value.clone(),
        },
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(fields) => {
            let known = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(field, value)| (field.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

fn plain_path(path: &str) -> String {
    let path = path.trim();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match (path.starts_with('/'), parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// JSON with sorted keys and no white space.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
            sorted.sort_by_key(|(field, _)| *field);
            let inner: Vec<String> =
                sorted.iter().map(|(field, v)| format!("{}:{}", Value::from(field.as_str()), canonical(v))).collect();
            format!("{{{}}}", inner.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cognition::exchange::Tool;

    #[test]
    fn calls_that_say_the_same_have_one_key() {
        let tool = Tool { name: "list_dir".into(), description: String::new(), parameters: json!({}) };
        let offer = Offer { tool, changes: false, defaults: json!({"path": "."}) };
        let of = |arguments: Value| key("list_dir", &arguments, Some(&offer));
        for (a, b) in [
            (json!({"a": 1, "b": "x"}), json!({"b": " x ", "a": 1.0})),
            (json!({"path": "src"}), json!({"path": "./src/"})),
            (json!({"path": "."}), json!({})),
            (json!({"path": "./"}), Value::Null),
            (json!({"path": "a//b"}), json!("{\"path\": \"a/b\", \"depth\": null}")),
        ] {
            assert_eq!(of(a.clone()), of(b.clone()), "{a} {b}");
        }
        for (a, b) in [
            (json!({"path": "src"}), json!({"path": "/src"})),
            (json!({"path": "a"}), json!({"path": "b"})),
            (json!({"n": 1}), json!({"n": "1"})),
            (json!({"n": 1.5}), json!({"n": 1})),
        ] {
            assert_ne!(of(a.clone()), of(b.clone()), "{a} {b}");
        }
        // Name and arguments do not run into each other.
        assert_ne!(key("a", &json!("b"), None), key("ab", &json!(""), None));
    }
}
