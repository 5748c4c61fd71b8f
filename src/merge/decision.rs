//! What a merge says about itself: decisions that a rule took, and conflicts that no rule could take. Both are data.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::{RunId, hex_hash};

/// The rule that a decision followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Both changes were added up.
    Sum,
    /// The greater value.
    Max,
    /// The lesser value.
    Min,
    /// The mean, rounded half up.
    Mean,
    /// Left's value.
    Left,
    /// Right's value.
    Right,
    /// The greater (rank, run id).
    Priority,
    /// The value of the larger run id.
    LaterRun,
    /// The labels of both sides.
    Union,
    /// A file of a neuron or of a run that one side removed and the other changed: the change.
    ChangedWins,
    /// A neuron's file that one side removed and a connection points to: it stays.
    PointedTo,
    /// What waited on one side and was consumed on the other: consumed.
    RemovalWins,
    /// A person's change before an agent's.
    Person,
    /// Of two people's changes the later; of the same moment the greater content.
    Later,
    /// The same runs on both sides, numbers apart by the order of their rounding or clamping: nothing is brought.
    SameRuns,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Sum => "sum",
            How::Max => "max",
            How::Min => "min",
            How::Mean => "mean",
            How::Left => "left",
            How::Right => "right",
            How::Priority => "priority",
            How::LaterRun => "later run",
            How::Union => "union",
            How::ChangedWins => "changed wins",
            How::PointedTo => "pointed to",
            How::RemovalWins => "removal wins",
            How::Person => "a person's",
            How::Later => "later",
            How::SameRuns => "same runs",
        })
    }
}

/// A difference that a rule settled. `Display` is its one line in a merge commit's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The neuron's id; for a file that is no neuron, its path.
    pub neuron: String,
    /// The field, such as `salience` or `connections.<target>.<type>`; `file` for a whole file.
    pub field: String,
    /// The value in the base; null: absent.
    pub base: Value,
    /// The value here.
    pub left: Value,
    /// The value there.
    pub right: Value,
    /// What was decided.
    pub result: Value,
    /// By which rule.
    pub rule: How,
    /// True where the result was held to the field's range, so that a part of a change is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clamped: bool,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { neuron, field, rule, .. } = self;
        let [base, left, right, result] = [&self.base, &self.left, &self.right, &self.result].map(short);
        write!(f, "{neuron} {field}: base {base}, left {left}, right {right} -> {result} ({rule}")?;
        f.write_str(if self.clamped { ", clamped)" } else { ")" })
    }
}

/// A difference that the policy cannot decide, or leaves to a person. The field stays as left has it until then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conflict {
    /// The neuron's id; for a file that is no neuron, its path.
    pub neuron: String,
    /// The field, as in [`Decision::field`].
    pub field: String,
    /// The value in the base; null: absent.
    pub base: Value,
    /// The value here.
    pub left: Value,
    /// The value there.
    pub right: Value,
    /// The runs that touched the sides last: left's, then right's, where known.
    pub runs: Vec<RunId>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { neuron, field, .. } = self;
        let [base, left, right] = [&self.base, &self.left, &self.right].map(short);
        write!(f, "{neuron} {field}: base {base}, left {left}, right {right}: undecided")
    }
}

/// A value as a decision shows it, at most 80 characters, always on one line.
fn short(value: &Value) -> String {
    // Salience is one unit with its stamp; a reader of a message wants the number.
    let value = value.get("salience").unwrap_or(value);
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// How a conflict shows a file that is no neuron: its size and the first 64 bits of its SHA-256.
pub(crate) fn file_value(content: Option<&[u8]>) -> Value {
    content.map_or(Value::Null, |bytes| serde_json::json!({"bytes": bytes.len(), "sha256": hex_hash(bytes, 16)}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_one_short_line() {
        let mut decision = Decision {
            neuron: "tea-1f3c".into(),
            field: "connections.milk.feeds_into".into(),
            base: 50.into(),
            left: 57.into(),
            right: Value::Null,
            result: 7.into(),
            rule: How::Sum,
            clamped: false,
        };
        let line = "tea-1f3c connections.milk.feeds_into: base 50, left 57, right null -> 7 (sum)";
        assert_eq!(decision.to_string(), line);
        decision.clamped = true;
        decision.base = Value::String("line\n".repeat(100));
        let line = decision.to_string();
        assert!(line.ends_with("(sum, clamped)") && !line.contains('\n') && line.len() < 200, "{line}");
    }

    #[test]
    fn a_conflict_is_one_short_line_and_a_salience_is_its_number() {
        let conflict = Conflict {
            neuron: "tea".into(),
            field: "salience".into(),
            base: Value::Null,
            left: serde_json::json!({"salience": 7, "at": "2026-01-26T14:32:00Z"}),
            right: 9.into(),
            runs: vec![],
        };
        assert_eq!(conflict.to_string(), "tea salience: base null, left 7, right 9: undecided");
    }

    #[test]
    fn a_file_is_told_by_its_length_and_hash() {
        assert_eq!(file_value(None), Value::Null);
        assert_eq!(file_value(Some(b"abc")), serde_json::json!({"bytes": 3, "sha256": "ba7816bf8f01cfea"}));
    }
}
