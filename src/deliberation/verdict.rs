//! What minds say: proposals, verdicts, judgements, alignments, each with the schema that a model's answer is held to.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::limits;
use crate::model::deliberation::Severity;
use crate::model::ids::hash_fields;
use crate::model::json::whole_numbers;

/// Why something should work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// A short name.
    pub name: String,
    /// The reason, in a sentence.
    pub intuition: String,
    /// What it does, step by step.
    #[serde(default)]
    pub pseudocode: String,
    /// Where it should hold.
    #[serde(default)]
    pub regime_suggestion: String,
    /// How likely it is that it knows what it could not know, 0..=1.
    #[serde(default)]
    pub lookahead_risk: f64,
}

/// A mechanism, and what would put it into effect: a delta document, or whatever the goal's gates understand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// Why.
    pub mechanism: Mechanism,
    /// What.
    pub payload: Value,
}

impl Proposal {
    /// What keeps its payload out, if anything does: a cycle must be read by everybody who has it.
    pub fn too_large(&self) -> Option<String> {
        too_large(&self.payload)
    }

    /// Its identity: equal payloads are the same proposal, whatever is said of them.
    pub fn key(&self) -> String {
        format!("{:016x}", hash_fields(&[canonical(&self.payload).to_string().as_bytes()]))
    }
}

/// A document as all who write the same have it: fields by name, whole numbers without a fraction.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            Value::Object(sorted.into_iter().map(|(name, value)| (name.clone(), canonical(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Number(number) => match number.as_f64() {
            // As far as a double is exact.
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => Value::from(float as i64),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// What a skeptic decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It holds.
    Proceed,
    /// It should be mined anew.
    Revise,
    /// It does not hold.
    Reject,
}

/// What a skeptic says of a proposal or of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What is weak, one sentence each.
    pub weaknesses: Vec<String>,
    /// How likely it fits the examples alone, 0..=1.
    pub overfit_risk: f64,
    /// What else could explain it.
    #[serde(default)]
    pub alt_explanations: Vec<String>,
    /// Whether it seems to know what it could not know, 0..=1.
    #[serde(default)]
    pub lookahead_suspicion: f64,
    /// What follows.
    pub verdict: Decision,
    /// How grave it is.
    pub severity: Severity,
}

/// What an inspector says of a hypothesis, each 0..=1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Whether its reasoning holds.
    pub logic: f64,
    /// How new it is.
    pub novelty: f64,
    /// How likely it uses what it must not see.
    pub leakage: f64,
    /// How much of it is there already.
    pub redundancy: f64,
    /// Whether there is enough to judge it by.
    pub data: f64,
    /// What it costs to try.
    pub cost: f64,
    /// What is tried next, in a sentence; empty: nobody knows.
    pub next_plan: String,
}

/// How far mechanism and evidence agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// 0: not at all; 3: in all that the mechanism says.
    pub score: u32,
    /// Why.
    pub reason: String,
}

/// Most characters of a mechanism's name.
const NAME_CHARS: usize = 300;
/// Most characters of its other texts.
const TEXT_CHARS: usize = 4000;
/// Most characters of a text that another mind than a gardener says.
pub const SAID_CHARS: usize = 300;
/// Most items of a list of such texts.
const SAID_ITEMS: usize = 6;

/// An answer of a mind that is not of the form that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct Malformed {
    /// The field, or the place.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

/// The reason why a payload is too large for a cycle, if it is.
pub fn too_large(payload: &Value) -> Option<String> {
    let bytes = payload.to_string().len();
    if bytes > limits::DELIBERATED_PAYLOAD_BYTES {
        return Some(format!("payload has {bytes} bytes, and {} fit", limits::DELIBERATED_PAYLOAD_BYTES));
    }
    (depth(payload) > limits::DELIBERATED_PAYLOAD_DEPTH)
        .then(|| format!("payload is nested deeper than {}", limits::DELIBERATED_PAYLOAD_DEPTH))
}

/// How deep a document is nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    if !is_object(text.as_bytes()) {
        return Err(Malformed { field: "line 1".to_owned(), message: "it is no object".to_owned() });
    }
    serde_json::from_str(text).map_err(|e| Malformed { field: format!("line {}", e.line()), message: e.to_string() })
}

/// Whether a document can only be an object. An array with as many items as an answer has fields would be read as one.
pub fn is_object(document: &[u8]) -> bool {
    document.trim_ascii_start().first() == Some(&b'{')
}

fn share(field: &str, value: f64) -> Result<(), Malformed> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(Malformed { field: field.to_owned(), message: format!("{value} is not between 0 and 1") }),
    }
}

/// The answer of a gardener or a diverger: its proposals, and the faults of those that have no form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Those of the form.
    pub proposals: Vec<Proposal>,
    /// The faults of the others.
    pub left_out: Vec<Malformed>,
}

impl Said {
    /// The proposals, where all of them have the form.
    ///
    /// # Errors
    /// The first that has none.
    pub fn whole(self) -> Result<Vec<Proposal>, Malformed> {
        self.left_out.into_iter().next().map_or(Ok(self.proposals), Err)
    }

    /// Leaves out what something else is wrong with.
    ///
    /// # Errors
    /// Nothing is left, of an answer that had proposals.
    pub fn holding(mut self, fault: impl Fn(usize, &Proposal) -> Option<Malformed>) -> Result<Self, Malformed> {
        let proposals = std::mem::take(&mut self.proposals);
        for (at, proposal) in proposals.into_iter().enumerate() {
            match fault(at, &proposal) {
                Some(fault) => self.left_out.push(fault),
                None => self.proposals.push(proposal),
            }
        }
        match (self.proposals.is_empty(), self.left_out.first()) {
            (true, Some(fault)) => Err(fault.clone()),
            _ => Ok(self),
        }
    }
}

/// Proposals of a gardener or diverger: `{"proposals": [{"mechanism": …, "payload": …}]}`, at most `most`. One without the form costs itself alone.
///
/// # Errors
/// The answer has no form, or none of its proposals has.
pub fn proposals(text: &str, most: usize) -> Result<Said, Malformed> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Answer {
        proposals: Vec<Box<RawValue>>,
    }
    let answer: Answer = read(text)?;
    let mut said = Said::default();
    for (at, proposal) in answer.proposals.into_iter().take(most).enumerate() {
        match proposal_of(at, &proposal) {
            Ok(proposal) => said.proposals.push(proposal),
            Err(fault) => said.left_out.push(fault),
        }
    }
    said.holding(|_, _| None)
}

fn proposal_of(at: usize, proposal: &RawValue) -> Result<Proposal, Malformed> {
    let wrong = |message: &str| Malformed { field: format!("proposals[{at}]"), message: message.to_owned() };
    whole_numbers(proposal.get().as_bytes(), "the proposal").map_err(|error| wrong(&error.to_string()))?;
    let proposal: Value = serde_json::from_str(proposal.get()).map_err(|error| wrong(&error.to_string()))?;
    if !proposal.is_object() || !proposal.get("mechanism").is_some_and(Value::is_object) {
        return Err(wrong("it is no object with a mechanism that is one"));
    }
    let proposal: Proposal = serde_json::from_value(proposal).map_err(|error| wrong(&error.to_string()))?;
    let Mechanism { name, intuition, pseudocode, regime_suggestion, .. } = &proposal.mechanism;
    if name.trim().is_empty() {
        return Err(wrong("mechanism.name is empty"));
    }
    for (field, text, most) in [
        ("name", name, NAME_CHARS),
        ("intuition", intuition, TEXT_CHARS),
        ("pseudocode", pseudocode, TEXT_CHARS),
        ("regime_suggestion", regime_suggestion, TEXT_CHARS),
    ] {
        if text.chars().count() > most {
            return Err(wrong(&format!("mechanism.{field} is longer than {most} characters")));
        }
    }
    share(&format!("proposals[{at}].mechanism.lookahead_risk"), proposal.mechanism.lookahead_risk)?;
    if !proposal.payload.is_object() {
        return Err(wrong("payload is no object"));
    }
    proposal.too_large().map_or(Ok(()), |why| Err(wrong(&why)))?;
    Ok(proposal)
}

/// Cuts a text to what the schema of an answer allows: a program is not held to it, nor is each endpoint.
fn cut(text: &mut String) {
    *text = text.chars().take(SAID_CHARS).collect();
}

/// A skeptic's verdict.
pub fn verdict(text: &str) -> Result<Verdict, Malformed> {
    let mut verdict: Verdict = read(text)?;
    for texts in [&mut verdict.weaknesses, &mut verdict.alt_explanations] {
        texts.truncate(SAID_ITEMS);
        texts.iter_mut().for_each(cut);
    }
    share("overfit_risk", verdict.overfit_risk)?;
    share("lookahead_suspicion", verdict.lookahead_suspicion)?;
    Ok(verdict)
}

/// An inspector's judgement.
pub fn judgement(text: &str) -> Result<Judgement, Malformed> {
    let mut judged: Judgement = read(text)?;
    cut(&mut judged.next_plan);
    for (field, value) in judged.figures() {
        share(field, value)?;
    }
    Ok(judged)
}

/// An aligner's score.
pub fn alignment(text: &str) -> Result<Alignment, Malformed> {
    let mut alignment: Alignment = read(text)?;
    cut(&mut alignment.reason);
    match alignment.score <= 3 {
        true => Ok(alignment),
        false => Err(Malformed { field: "score".to_owned(), message: format!("{} is above 3", alignment.score) }),
    }
}

impl Judgement {
    fn figures(&self) -> [(&'static str, f64); 6] {
        [
            ("logic", self.logic),
            ("novelty", self.novelty),
            ("leakage", self.leakage),
            ("redundancy", self.redundancy),
            ("data", self.data),
            ("cost", self.cost),
        ]
    }
}

fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties})
}

/// A text in an answer. Bounded, because small models end nothing by themselves.
fn text() -> Value {
    json!({"type": "string", "maxLength": SAID_CHARS})
}

fn texts() -> Value {
    json!({"type": "array", "items": text(), "maxItems": SAID_ITEMS})
}

/// A share in an answer: tenths, because no grammar holds a model to a range of decimals. Other numbers between 0 and 1 are read as well.
fn tenths() -> Value {
    let tenths: Vec<f64> = (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect();
    json!({ "enum": tenths })
}

/// The schema of `least` to `most` proposals whose payload has the schema `payload`.
pub fn proposals_schema(payload: &Value, (least, most): (usize, usize)) -> Value {
    let (text, number) = (text(), tenths());
    let mechanism = object(json!({
        "name": text, "intuition": text, "pseudocode": text, "regime_suggestion": text, "lookahead_risk": number,
    }));
    let proposal = object(json!({"mechanism": mechanism, "payload": payload}));
    object(json!({"proposals": {"type": "array", "items": proposal, "minItems": least, "maxItems": most}}))
}

/// The schema of a verdict.
pub fn verdict_schema() -> Value {
    let (texts, number) = (texts(), tenths());
    object(json!({
        "weaknesses": texts, "overfit_risk": number, "alt_explanations": texts, "lookahead_suspicion": number,
        "verdict": {"enum": ["proceed", "revise", "reject"]}, "severity": {"enum": ["low", "medium", "high"]},
    }))
}

/// The schema of a judgement.
pub fn judgement_schema() -> Value {
    let number = tenths();
    object(json!({
        "logic": number, "novelty": number, "leakage": number, "redundancy": number, "data": number, "cost": number,
        "next_plan": text(),
    }))
}

/// The schema of an alignment.
pub fn alignment_schema() -> Value {
    object(json!({"score": {"type": "integer", "minimum": 0, "maximum": 3}, "reason": text()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_without_a_form_costs_itself_alone() {
        let good = |x: u32| json!({"mechanism": {"name": "n", "intuition": ""}, "payload": {"x": x}});
        let bad = [
            json!({"mechanism": {"name": " ", "intuition": ""}, "payload": {}}),
            json!({"mechanism": {"name": "n", "intuition": "", "lookahead_risk": "none"}, "payload": {}}),
            json!({"mechanism": {"name": "n", "intuition": ""}, "payload": 3}),
            json!({"payload": {}}),
            json!("text"),
            json!([{"name": "n", "intuition": ""}, {}]),
            json!({"mechanism": ["n", "", "", "", 0.1], "payload": {}}),
        ];
        for bad in bad {
            let said = proposals(&json!({"proposals": [good(1), bad, good(2)]}).to_string(), 3).unwrap();
            assert_eq!((said.proposals.len(), said.left_out.len()), (2, 1));
            assert!(said.left_out[0].field.starts_with("proposals[1]"), "{said:?}");
            assert!(said.whole().is_err());
            assert!(proposals(&json!({"proposals": [bad]}).to_string(), 3).is_err(), "nothing is left of it");
        }
        // A number that a reader would round is another payload.
        let large = good(1).to_string().replace("\"x\":1", "\"x\":123456789012345678901234567890");
        let said = proposals(&format!("{{\"proposals\": [{large}, {}]}}", good(2)), 3).unwrap();
        assert_eq!((said.proposals.len(), said.left_out.len()), (1, 1));
        assert!(said.left_out[0].message.contains("beyond 64 bits"), "{said:?}");
        assert_eq!(proposals(&json!({"proposals": []}).to_string(), 3).unwrap(), Said::default());
        assert!(proposals("[]", 3).is_err());
        assert!(alignment("[3, \"all of it\"]").is_err(), "an array is no answer");
        let long = "w".repeat(900_000);
        let said = alignment(&json!({"score": 2, "reason": long}).to_string()).unwrap();
        assert_eq!(said.reason.len(), SAID_CHARS);
        let verdict = json!({"weaknesses": vec![&long; 9], "overfit_risk": 0, "verdict": "revise", "severity": "low"});
        let said = super::verdict(&verdict.to_string()).unwrap();
        assert_eq!((said.weaknesses.len(), said.weaknesses[5].len()), (SAID_ITEMS, SAID_CHARS));
    }

    #[test]
    fn equal_payloads_are_one_proposal_however_they_are_written() {
        let key = |text: &str| {
            let payload = serde_json::from_str(text).unwrap();
            Proposal { mechanism: Mechanism::default(), payload }.key()
        };
        let one = key(r#"{"x": 9, "h": [1, {"b": 2, "a": 3}]}"#);
        assert_eq!(one, key(r#"{"h": [1.0, {"a": 3, "b": 2}], "x": 9.0}"#));
        assert_ne!(one, key(r#"{"h": [1, {"a": 3, "b": 2}], "x": 9.5}"#));
        assert_ne!(one, key(r#"{"h": [{"a": 3, "b": 2}, 1], "x": 9}"#));
    }
}
