//! The ledger: what a run expected, what came of it, and by how much it was wrong. One immutable file per corrective run,
//! `network/ledger/<yyyy>/<mm>/<dd>/ab/<run>.json`. The honest record: nothing that tells the story writes here.

use serde::{Deserialize, Serialize};

use super::{Chosen, Edge, Prediction};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::json::{self, JsonError};
use crate::model::{Stamp, within};

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The corrective run, which wrote this entry: the file's name.
    pub run: RunId,
    /// The run that is judged.
    pub judged: RunId,
    /// The agent whose run is judged.
    pub agent: AgentName,
    /// The clock of the judgement.
    pub at: Stamp,
    /// What was expected, committed before the act.
    pub prediction: Valued,
    /// What came of it.
    pub outcome: Valued,
    /// The prediction error, `outcome.value − prediction.value`, -1..=1.
    pub error: f64,
    /// How the outcome got its value.
    pub method: Method,
    /// The option that the run had chosen, if it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// The connections that led to the outcome, the one nearest to it last.
    pub pathway: Vec<Edge>,
}

/// A text and what it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Valued {
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// As a number, 0..=1.
    pub value: f64,
}

/// What a prediction without a value counts as: neither that it will come, nor that it will not.
pub const UNSTATED: f64 = 0.5;

impl Valued {
    /// What a run expected, its text clipped to what a ledger holds.
    pub fn expected(prediction: Option<&Prediction>) -> Self {
        let text = prediction.and_then(|p| p.text.as_deref());
        let fits = |text: &str| within(text, limits::CONCEPT_BYTES).to_owned();
        Self { text: text.map(fits), value: prediction.and_then(|p| p.value).unwrap_or(UNSTATED) }
    }
}

/// How an outcome got its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// It was given as a number.
    Number,
    /// An agent that thinks with a model or program compared both texts.
    Model,
    /// The two texts were compared, word by word: older brains did, and nothing is learnt from it any more.
    Similarity,
    /// It is a text that nobody has judged yet: its value is that of the prediction, and its error 0.
    Unjudged,
}

impl Method {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Model => "model",
            Self::Similarity => "similarity",
            Self::Unjudged => "unjudged",
        }
    }

    /// Whether somebody said what the outcome is worth.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Number | Self::Model)
    }
}

impl LedgerEntry {
    /// The canonical bytes of the entry: one field a line, one connection a line.
    pub fn encode(&self) -> Vec<u8> {
        let mut lines: Vec<String> = Vec::new();
        let mut field = |key: &str, value: String| lines.push(format!("  \"{key}\": {value}"));
        field("run", json::inline(&self.run));
        field("judged", json::inline(&self.judged));
        field("agent", json::inline(&self.agent));
        field("at", json::inline(&self.at));
        field("prediction", json::inline(&self.prediction));
        field("outcome", json::inline(&self.outcome));
        field("error", json::inline(&self.error));
        field("method", json::inline(&self.method));
        if let Some(chosen) = &self.chosen {
            field("chosen", json::inline(chosen));
        }
        let edges: Vec<String> = self.pathway.iter().map(|edge| format!("\n    {}", json::inline(edge))).collect();
        let end = if edges.is_empty() { "" } else { "\n  " };
        field("pathway", format!("[{}{end}]", edges.join(",")));
        format!("{{\n{}\n}}\n", lines.join(",\n")).into_bytes()
    }

    /// Reads an entry; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        let entry: Self = json::strict(bytes, what, limits::DOCUMENT_BYTES)?;
        let unit = |x: f64| (0.0..=1.0).contains(&x);
        for (path, good) in [
            ("prediction.value", unit(entry.prediction.value)),
            ("outcome.value", unit(entry.outcome.value)),
            ("error", (-1.0..=1.0).contains(&entry.error)),
        ] {
            if !good {
                return Err(JsonError::at(what, 1, path, "is out of range"));
            }
        }
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_back_and_ranges_are_held() {
        let run = RunId::parse("20260126t143200123z-abcd2345-evaluator").unwrap();
        let judged = RunId::parse("20260126t143100123z-abcd2345-decision").unwrap();
        let entry = LedgerEntry {
            run,
            agent: judged.agent(),
            judged,
            at: Stamp::from_unix(1000),
            prediction: Valued { text: Some("it rains".into()), value: 0.7 },
            outcome: Valued { text: None, value: 0.4 },
            error: -0.3,
            method: Method::Number,
            chosen: None,
            pathway: vec![serde_json::from_str(r#"{"from": "a", "to": "b", "type": "recalls"}"#).unwrap()],
        };
        assert_eq!(String::from_utf8(entry.encode()).unwrap().lines().count(), 13);
        assert_eq!(LedgerEntry::decode(&entry.encode(), "l").unwrap(), entry);
        let chosen = Some(Chosen { question: "what to wear".into(), option: "boots".into() });
        let chose = LedgerEntry { chosen, ..entry.clone() };
        assert_eq!(LedgerEntry::decode(&chose.encode(), "l").unwrap(), chose);
        let wrong = LedgerEntry { error: -2.0, ..entry };
        assert!(LedgerEntry::decode(&wrong.encode(), "l").unwrap_err().to_string().contains("error"));
    }

    #[test]
    fn an_expectation_has_a_number_and_no_more_text_than_a_ledger_holds() {
        assert_eq!(Valued::expected(None), Valued { text: None, value: UNSTATED });
        let said = |text: &str| Prediction { text: Some(text.into()), value: Some(0.7), ..Prediction::default() };
        assert_eq!(Valued::expected(Some(&said("rain"))), Valued { text: Some("rain".into()), value: 0.7 });
        // Three bytes a letter: the bound lies inside one, which goes as a whole.
        let long = "会".repeat(limits::CONCEPT_BYTES);
        let kept = Valued::expected(Some(&said(&long))).text.unwrap();
        assert_eq!(kept.len(), limits::CONCEPT_BYTES / 3 * 3);
        assert!(kept.len() < limits::CONCEPT_BYTES && long.starts_with(&kept));
    }

    #[test]
    fn a_methods_word_is_the_one_in_the_file() {
        for method in [Method::Number, Method::Model, Method::Similarity, Method::Unjudged] {
            assert_eq!(json::inline(&method), format!("{:?}", method.as_str()));
        }
    }
}
