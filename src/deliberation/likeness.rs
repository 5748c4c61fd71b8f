//! Whether what a payload would do is new: its facts, whatever the weights.
//!
//! Weights are amounts. A tie that was promoted with 38,778 is no other tie with 38,777, and both landed would add up to one that no gate has measured.

use std::collections::BTreeSet;

use serde_json::Value;

/// Fields of an operation that say how much, and not what.
const AMOUNTS: [&str; 5] = ["weight", "by", "strength", "error", "at"];

/// The fact that an operation is about: its kind, its ends and its type.
pub fn fact(op: &Value) -> String {
    let text = |field: &str| op.get(field).and_then(Value::as_str).unwrap_or_default();
    let tie = |kind: &str| format!("{kind} {} {} {}", text("from"), text("type"), text("to"));
    match text("op") {
        "connect" => tie("tie"),
        "adjust" if op.get("by").and_then(Value::as_i64).is_some_and(|by| by < 0) => tie("untie"),
        "adjust" => tie("tie"),
        "disconnect" => tie("untie"),
        "create" => {
            let words = text("concept").split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            format!("create {} {words}", text("type"))
        }
        _ => {
            let mut op = op.clone();
            if let Some(fields) = op.as_object_mut() {
                fields.retain(|name, _| !AMOUNTS.contains(&name.as_str()));
            }
            op.to_string()
        }
    }
}

/// The facts of a payload. One without operations is a fact as a whole.
pub fn facts(payload: &Value) -> BTreeSet<String> {
    match payload.get("ops").and_then(Value::as_array) {
        Some(ops) => ops.iter().map(fact).collect(),
        None => std::iter::once(payload.to_string()).collect(),
    }
}

/// Whether a payload names one of these ids, at whatever place.
pub fn names_any(payload: &Value, ids: &BTreeSet<String>) -> bool {
    !ids.is_empty() && says(payload, &|text| ids.contains(text))
}

/// Whether a payload names an id, at whatever place.
pub fn names(payload: &Value, id: &str) -> bool {
    says(payload, &|text| text == id)
}

fn says(value: &Value, is_it: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_it(text),
        Value::Array(items) => items.iter().any(|item| says(item, is_it)),
        Value::Object(fields) => fields.values().any(|value| says(value, is_it)),
        _ => false,
    }
}

/// Whether two payloads say the same with other weights, or in another order.
pub fn is_same(one: &Value, other: &Value) -> bool {
    facts(one) == facts(other)
}

/// Whether two deltas have a fact in common: landed side by side, its weights would add up.
pub fn overlaps(one: &Value, other: &Value) -> bool {
    let has_ops = |payload: &Value| payload.get("ops").is_some_and(Value::is_array);
    has_ops(one) && has_ops(other) && !facts(one).is_disjoint(&facts(other))
}

/// The share of a payload's facts that are known: one of the others has them, or they are there already. So a part of what was promoted is not new
/// either, nor is what puts parts of several together.
pub fn known_share(payload: &Value, others: &[&Value], is_there: impl Fn(&Value) -> bool) -> f64 {
    let known: BTreeSet<String> = others.iter().flat_map(|other| facts(other)).collect();
    let ops = payload.get("ops").and_then(Value::as_array).into_iter().flatten();
    let there: BTreeSet<String> = ops.filter(|op| is_there(op)).map(fact).collect();
    let own = facts(payload);
    let old = own.iter().filter(|fact| known.contains(*fact) || there.contains(*fact)).count();
    if own.is_empty() { 0.0 } else { old as f64 / own.len() as f64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ties(pairs: &[(&str, u32)]) -> Value {
        let op = |(to, weight): &(&str, u32)| json!({"op": "connect", "from": "lamp-1", "to": to, "type": "feeds_into", "weight": weight});
        json!({"ops": pairs.iter().map(op).collect::<Vec<_>>()})
    }

    #[test]
    fn likeness_sees_another_weight_as_the_same_fact() {
        let promoted = ties(&[("a-1", 9), ("b-1", 9), ("c-1", 9)]);
        let share = |payload: &Value| known_share(payload, &[&promoted], |_| false);
        assert_eq!(share(&ties(&[("c-1", 8), ("b-1", 7), ("a-1", 6)])), 1.0, "other weights, another order");
        assert_eq!(share(&ties(&[("a-1", 9), ("b-1", 9)])), 1.0, "a part");
        assert!((share(&ties(&[("a-1", 9), ("d-1", 9)])) - 0.5).abs() < 1e-9);
        assert_eq!(share(&ties(&[("d-1", 9)])), 0.0);
        assert!(is_same(&promoted, &ties(&[("c-1", 1), ("a-1", 2), ("b-1", 3)])));
        assert!(overlaps(&promoted, &ties(&[("a-1", 1), ("d-1", 2)])) && !overlaps(&promoted, &ties(&[("d-1", 2)])));
    }

    #[test]
    fn likeness_counts_a_tie_that_is_there_and_tells_directions_apart() {
        let payload = ties(&[("a-1", 9), ("b-1", 9)]);
        let is_there = |op: &Value| op["to"] == "a-1";
        assert!((known_share(&payload, &[], is_there) - 0.5).abs() < 1e-9);
        let adjust =
            |by: i64| json!({"ops": [{"op": "adjust", "from": "lamp-1", "to": "a-1", "type": "feeds_into", "by": by}]});
        assert!(overlaps(&adjust(5), &payload) && !overlaps(&adjust(-5), &payload));
        assert!(!is_same(&json!({"x": 1}), &json!({"x": 2})), "what has no operations is its own fact");
    }
}
