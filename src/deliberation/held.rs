//! Holds an answer of a person to the schema of its question: as far as schemas of [`super::verdict`] go.

use serde_json::Value;

use super::verdict::Malformed;

/// The first fault of a document, by its schema.
///
/// # Errors
/// The place, and what is wrong there.
pub fn hold(document: &Value, schema: &Value) -> Result<(), Malformed> {
    held(document, schema, "answer")
}

fn held(value: &Value, schema: &Value, place: &str) -> Result<(), Malformed> {
    let wrong = |message: String| Err(Malformed { field: place.to_owned(), message });
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        // 1 and 1.0 are the same number.
        let is = |one: &Value| one == value || one.as_f64().is_some_and(|one| value.as_f64() == Some(one));
        if !allowed.iter().any(is) {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            return wrong(format!("{value} is none of {}", allowed.join(", ")));
        }
    }
    let fits = match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => true,
    };
    if !fits {
        return wrong(format!("is no {}", schema["type"].as_str().unwrap_or_default()));
    }
    if let (Some(figure), Some(least)) = (value.as_f64(), number("minimum"))
        && figure < least
    {
        return wrong(format!("{figure} is below {least}"));
    }
    if let (Some(figure), Some(most)) = (value.as_f64(), number("maximum"))
        && figure > most
    {
        return wrong(format!("{figure} is above {most}"));
    }
    if let (Some(text), Some(most)) = (value.as_str(), number("maxLength")) {
        let chars = text.chars().count();
        if chars as f64 > most {
            return wrong(format!("has {chars} characters, and {most} fit"));
        }
    }
    if let Some(items) = value.as_array() {
        let count = items.len() as f64;
        if number("minItems").is_some_and(|least| count < least) || number("maxItems").is_some_and(|most| count > most)
        {
            return wrong(format!("has {count} entries"));
        }
        if let Some(of) = schema.get("items") {
            for (at, item) in items.iter().enumerate() {
                held(item, of, &format!("{place}[{at}]"))?;
            }
        }
    }
    if let Some(fields) = value.as_object() {
        let missing = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        if let Some(name) = missing.into_iter().find(|name| !fields.contains_key(*name)) {
            return wrong(format!("has no {name}"));
        }
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            match known.and_then(|known| known.get(name)) {
                Some(of) => held(value, of, &format!("{place}.{name}"))?,
                None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    return wrong(format!("has the unknown field {name}"));
                }
                None => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::deliberation::verdict::{alignment_schema, proposals_schema};

    #[test]
    fn an_answer_is_held_to_the_whole_schema() {
        let said = |answer: &Value, schema: &Value| hold(answer, schema).err().map(|error| error.to_string());
        let schema = alignment_schema();
        assert_eq!(said(&json!({"score": 3, "reason": "it does"}), &schema), None);
        for (answer, why) in [
            (json!({"score": 7, "reason": ""}), "answer.score: 7 is above 3"),
            (json!({"score": 3, "reason": "x".repeat(400)}), "answer.reason: has 400 characters, and 300 fit"),
            (json!({"score": 2.5, "reason": ""}), "answer.score: is no integer"),
            (json!({"score": 2}), "answer: has no reason"),
            (json!({"score": 2, "reason": "", "more": 1}), "answer: has the unknown field more"),
            (json!([]), "answer: is no object"),
        ] {
            assert_eq!(said(&answer, &schema).as_deref(), Some(why));
        }
        let schema = proposals_schema(&json!({"type": "object"}), (0, 2));
        let proposal = |risk: f64| {
            let mechanism = json!({"name": "n", "intuition": "", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": risk});
            json!({"proposals": [{"mechanism": mechanism, "payload": {}}]})
        };
        assert_eq!(said(&proposal(0.3), &schema), None);
        assert_eq!(said(&proposal(1.0), &schema), None);
        assert!(said(&proposal(0.35), &schema).unwrap().contains("lookahead_risk: 0.35 is none of"));
    }
}
