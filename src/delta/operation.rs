//! The delta document: what a run proposes. Reading it, with every error at its line.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ledger::Method;
use crate::deliberation::forest::read_cycle;
use crate::limits;
use crate::model::capabilities::OPERATIONS;
use crate::model::document::{Goal, GoalLevel, GoalState};
use crate::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, StimulusId};
use crate::model::json::{self, JsonError};
use crate::model::neuron::{check_concept, check_label};
use crate::model::sealed::Sealing;
use crate::model::wisdom::Teaching;
use crate::model::{Kind, Link, Stamp};

/// A delta document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// Who proposes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What the agent expects of the outcome, said before the act.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// The operations, applied in order.
    pub ops: Vec<Operation>,
}

/// An expectation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// As a number, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The connections that it relies on, the one nearest to the outcome last: an outcome credits these. Without any, it credits what
    /// the run's record shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects")]
    pub pathway: Vec<Edge>,
    /// The standard deviation of the value, 0..=1: how far the true mean of such outcomes may be from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The option that was chosen, and of which question: by it an outcome is found when the question is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
}

/// An option of a question, both in the words of the agent or person who asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// The question, its beginning if it is long.
    pub question: String,
    /// The option.
    pub option: String,
}

/// A directed typed edge by its ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The neuron that stores the connection.
    pub from: NeuronId,
    /// The neuron it points to.
    pub to: NeuronId,
    /// Its type.
    #[serde(rename = "type")]
    pub link: Link,
}

/// One typed operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Makes a neuron. What exists with the same concept and type stays as it is.
    Create(Create),
    /// Adds salience by the write rule.
    Activate(Activate),
    /// Makes a connection. One that exists stays as it is.
    Connect(Connect),
    /// Changes a weight.
    Adjust(Adjust),
    /// Takes the whole weight that it sees away.
    Disconnect(Edge),
    /// Strengthens or weakens a pathway by a prediction error.
    Reinforce(Reinforce),
    /// Changes a concept.
    Reword(Reword),
    /// Changes a type.
    Retype(Retype),
    /// Marks a neuron for removal by the next sleep.
    Archive(Archive),
    /// Sends a message to an agent.
    Signal(Send),
    /// Answers a message.
    Acknowledge(Acknowledge),
    /// Sets a flag of the network.
    Flag(SetFlag),
    /// Enters what came of a run into the ledger; at most one in a document.
    Outcome(Outcome),
    /// Sets a goal as a whole.
    Goal(SetGoal),
    /// Enters a cycle of a deliberation; at most one in a document.
    Deliberate(Deliberate),
    /// Enters what was learnt, or forgets it; at most one in a document.
    Wisdom(Teaching),
    /// Enters sealed memories and subjects, or forgets subjects; at most one in a document, and a person's alone.
    Seal(Sealing),
}

/// `create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// The id; derived from the concept if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NeuronId>,
    /// The concept, 1 to 4096 bytes.
    pub concept: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Episodic: the label of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Episodic: the session of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Episodic: the stimulus that it remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<StimulusId>,
    /// The operation's own clock, if it differs from the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Stamp>,
}

/// `activate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Activate {
    /// The neuron.
    pub id: NeuronId,
    /// Strength, 0..=1.
    pub strength: f64,
    /// The operation's own clock, if it differs from the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Stamp>,
}

/// `connect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// The neuron that stores the connection.
    pub from: NeuronId,
    /// The neuron it points to.
    pub to: NeuronId,
    /// Its type.
    #[serde(rename = "type")]
    pub link: Link,
    /// Its weight, 1..=65535.
    pub weight: u16,
}

/// `adjust`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adjust {
    /// The neuron that stores the connection.
    pub from: NeuronId,
    /// The neuron it points to.
    pub to: NeuronId,
    /// Its type.
    #[serde(rename = "type")]
    pub link: Link,
    /// What is added to the weight, -65535..=65535; the weight saturates.
    pub by: i32,
}

/// `reinforce`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reinforce {
    /// The prediction error, -1..=1.
    pub error: f64,
    /// The connections that led to the outcome.
    #[serde(deserialize_with = "objects")]
    pub pathway: Vec<Edge>,
}

/// `reword`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reword {
    /// The neuron.
    pub id: NeuronId,
    /// Its new concept.
    pub concept: String,
}

/// `retype`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retype {
    /// The neuron.
    pub id: NeuronId,
    /// Its new type.
    #[serde(rename = "type")]
    pub kind: Kind,
}

/// `archive`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// The neuron.
    pub id: NeuronId,
    /// Why.
    pub reason: String,
}

/// `signal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// The receiver.
    pub to: AgentName,
    /// Anything; `kind` inside it names the kind of signal.
    pub payload: Value,
}

/// `acknowledge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledge {
    /// The signal that is answered.
    pub signal: SignalId,
    /// Anything.
    pub payload: Value,
}

/// `flag`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetFlag {
    /// Which flag.
    pub name: AgentName,
    /// On or off.
    pub value: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// `outcome`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The run that is judged.
    pub run: RunId,
    /// What the outcome is worth, 0..=1.
    pub value: f64,
    /// The outcome in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `value` minus the value of the run's prediction, -1..=1.
    pub error: f64,
    /// How the outcome got its value.
    pub method: Method,
    /// The connections that led to it, the one nearest to it last.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "objects")]
    pub pathway: Vec<Edge>,
}

/// `goal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetGoal {
    /// The id; derived from the text if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<GoalId>,
    /// What is to be reached, 1 to 4096 bytes.
    pub text: String,
    /// `terminal` is for people only.
    pub level: GoalLevel,
    /// The neuron that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neuron: Option<NeuronId>,
    /// The goal that it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<GoalId>,
    /// How it stands.
    #[serde(default)]
    pub state: GoalState,
}

/// `deliberate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deliberate {
    /// The goal: lowercase letters, digits and dashes.
    pub goal: AgentName,
    /// What was proposed, judged and decided, as docs/deliberation.md describes it.
    pub cycle: Value,
}

impl SetGoal {
    /// Its id, given or of its text.
    pub fn goal_id(&self) -> GoalId {
        self.id.clone().unwrap_or_else(|| Goal::id_of(&self.text))
    }
}

impl Operation {
    /// The word in `op`.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Create(_) => "create",
            Operation::Activate(_) => "activate",
            Operation::Connect(_) => "connect",
            Operation::Adjust(_) => "adjust",
            Operation::Disconnect(_) => "disconnect",
            Operation::Reinforce(_) => "reinforce",
            Operation::Reword(_) => "reword",
            Operation::Retype(_) => "retype",
            Operation::Archive(_) => "archive",
            Operation::Signal(_) => "signal",
            Operation::Acknowledge(_) => "acknowledge",
            Operation::Flag(_) => "flag",
            Operation::Outcome(_) => "outcome",
            Operation::Goal(_) => "goal",
            Operation::Deliberate(_) => "deliberate",
            Operation::Wisdom(_) => "wisdom",
            Operation::Seal(_) => "seal",
        }
    }

    /// Every word that `op` can be.
    pub const NAMES: [&'static str; 17] = OPERATIONS;

    /// Ranges that types alone do not hold. The error is (field, what is wrong).
    fn check(&self) -> Result<(), (&'static str, String)> {
        match self {
            Operation::Create(op) => {
                check_concept(&op.concept).map_err(|m| ("concept", m))?;
                for (name, label) in [("source", &op.source), ("session", &op.session)] {
                    if let Some(label) = label {
                        check_label(label).map_err(|m| (name, m))?;
                    }
                }
                Ok(())
            }
            Operation::Activate(op) => in_range("strength", op.strength, 0.0, 1.0),
            Operation::Connect(op) if op.weight == 0 => Err(("weight", "is 0: such an edge is never followed".into())),
            Operation::Adjust(op) => in_range("by", f64::from(op.by), -65535.0, 65535.0),
            Operation::Reinforce(op) => {
                in_range("error", op.error, -1.0, 1.0)?;
                if op.pathway.is_empty() || op.pathway.len() > limits::PATHWAY_EDGES {
                    let message = format!("has {} edges, not 1 to {}", op.pathway.len(), limits::PATHWAY_EDGES);
                    return Err(("pathway", message));
                }
                Ok(())
            }
            Operation::Reword(op) => check_concept(&op.concept).map_err(|m| ("concept", m)),
            Operation::Archive(op) => check_concept(&op.reason).map_err(|m| ("reason", m)),
            Operation::Signal(op) => check_payload(&op.payload),
            Operation::Acknowledge(op) => check_payload(&op.payload),
            Operation::Outcome(op) => {
                in_range("value", op.value, 0.0, 1.0)?;
                in_range("error", op.error, -1.0, 1.0)?;
                op.text.as_deref().map_or(Ok(()), check_concept).map_err(|m| ("text", m))?;
                check_credited(&op.pathway).map_err(|m| ("pathway", m))
            }
            Operation::Goal(op) => check_concept(&op.text).map_err(|m| ("text", m)),
            Operation::Deliberate(op) => {
                let bytes = op.cycle.to_string().len();
                if bytes > limits::DELIBERATION_BYTES {
                    return Err(("cycle", format!("has {bytes} bytes, the limit is {}", limits::DELIBERATION_BYTES)));
                }
                read_cycle(&op.cycle).map(drop).map_err(|m| ("cycle", m))
            }
            Operation::Wisdom(op) => op.check(),
            Operation::Seal(op) => op.check(),
            Operation::Connect(_) | Operation::Disconnect(_) | Operation::Retype(_) | Operation::Flag(_) => Ok(()),
        }
    }
}

fn check_credited(pathway: &[Edge]) -> Result<(), String> {
    let (edges, most) = (pathway.len(), limits::CREDITED_EDGES);
    if edges <= most { Ok(()) } else { Err(format!("has {edges} edges, the limit is {most}")) }
}

fn check_chosen(chosen: &Chosen) -> Result<(), (&'static str, String)> {
    for (field, text) in [("question", &chosen.question), ("option", &chosen.option)] {
        check_concept(text).map_err(|m| (field, m))?;
        if text.len() > limits::LABEL_BYTES {
            return Err((field, format!("is longer than {} bytes", limits::LABEL_BYTES)));
        }
    }
    Ok(())
}

fn in_range(field: &'static str, x: f64, low: f64, high: f64) -> Result<(), (&'static str, String)> {
    if (low..=high).contains(&x) { Ok(()) } else { Err((field, format!("{x} is not between {low} and {high}"))) }
}

fn check_payload(payload: &Value) -> Result<(), (&'static str, String)> {
    let bytes = payload.to_string().len();
    if bytes > limits::PAYLOAD_BYTES {
        return Err(("payload", format!("has {bytes} bytes, the limit is {}", limits::PAYLOAD_BYTES)));
    }
    Ok(())
}

/// The outer shape; operations stay raw, so that an error inside one knows its own line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer<'a> {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    #[serde(default)]
    agent: Option<AgentName>,
    #[serde(default, deserialize_with = "object")]
    prediction: Option<Prediction>,
    #[serde(borrow)]
    ops: Vec<&'a RawValue>,
}

/// Reads objects and nothing else: serde would take an array of the fields for one as well.
fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let list = Vec::<serde_json::Map<String, Value>>::deserialize(deserializer)?;
    list.into_iter().map(|fields| serde_json::from_value(Value::Object(fields)).map_err(Error::custom)).collect()
}

/// Reads an object or null, and nothing else.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let fields = Option::<serde_json::Map<String, Value>>::deserialize(deserializer)?;
    fields.map(|fields| serde_json::from_value(Value::Object(fields)).map_err(Error::custom)).transpose()
}

/// Why a document is not accepted at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It does not parse or is not of the schema: bad data.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It is well formed and beyond a limit: refused.
    #[error("{0}")]
    Limit(String),
}

impl Document {
    /// The line of each operation, for what is found wrong only after parsing. Empty if the document does not parse.
    pub fn lines(bytes: &[u8]) -> Vec<usize> {
        let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
        let Ok(outer) = json::typed_str::<Outer<'_>>(text, "delta") else { return Vec::new() };
        outer.ops.iter().map(|raw| line_in(raw.get(), text)).collect()
    }

    /// Reads a document; `what` names it in errors.
    pub fn parse(bytes: &[u8], what: &str) -> Result<Self, DocumentError> {
        if bytes.len() > limits::DELTA_BYTES {
            let message = format!("{what} has {} bytes, the limit is {}", bytes.len(), limits::DELTA_BYTES);
            return Err(DocumentError::Limit(message));
        }
        json::guard(bytes, what, limits::DELTA_BYTES)?;
        let text = std::str::from_utf8(bytes).map_err(|e| JsonError::at(what, 1, "", e.to_string()))?;
        let outer: Outer<'_> = json::typed_str(text, what)?;
        if outer.ops.len() > limits::DELTA_OPS {
            let message = format!("{what} has {} operations, the limit is {}", outer.ops.len(), limits::DELTA_OPS);
            return Err(DocumentError::Limit(message));
        }
        if let Some(value) = outer.prediction.as_ref().and_then(|p| p.value) {
            in_range("value", value, 0.0, 1.0).map_err(|(f, m)| {
                JsonError::at(what, json::line_of_key(bytes, "prediction"), &format!("prediction.{f}"), m)
            })?;
        }
        if let Some(prediction) = &outer.prediction {
            let at = |path: &str, m: String| JsonError::at(what, json::line_of_key(bytes, "prediction"), path, m);
            check_credited(&prediction.pathway).map_err(|m| at("prediction.pathway", m))?;
            if let Some(spread) = prediction.spread {
                in_range("spread", spread, 0.0, 1.0).map_err(|(_, m)| at("prediction.spread", m))?;
            }
            if let Some(chosen) = &prediction.chosen {
                check_chosen(chosen).map_err(|(f, m)| at(&format!("prediction.chosen.{f}"), m))?;
            }
        }
        let mut ops = Vec::with_capacity(outer.ops.len());
        for (index, raw) in outer.ops.iter().enumerate() {
            ops.push(operation(raw.get(), text, index, what)?);
        }
        Ok(Self { agent: outer.agent, prediction: outer.prediction, ops })
    }
}

/// Reads one operation; `text` is the document that `raw` is a slice of.
fn operation(raw: &str, text: &str, index: usize, what: &str) -> Result<Operation, JsonError> {
    let line = line_in(raw, text);
    let op: Operation = parse_tagged(raw).map_err(|(inner_line, message)| {
        JsonError::at(what, line + inner_line - 1, &format!("ops[{index}]"), message)
    })?;
    op.check().map_err(|(field, message)| {
        let key = format!("\"{field}\"");
        let inner = raw.find(&key).map_or(0, |at| raw[..at].matches('\n').count());
        JsonError::at(what, line + inner, &format!("ops[{index}].{field}"), message)
    })?;
    Ok(op)
}

/// Reads an operation by its tag without buffering, so that the line inside it is known. (line from 1, message)
fn parse_tagged(raw: &str) -> Result<Operation, (usize, String)> {
    #[derive(Deserialize)]
    struct Tag {
        op: String,
    }
    let fail = |e: serde_json::Error| {
        let text = e.to_string();
        let end = text.rfind(" at line ").unwrap_or(text.len());
        (e.line().max(1), text[..end].to_owned())
    };
    let tag: Tag = serde_json::from_str(raw).map_err(fail)?;
    macro_rules! read {
        ($($word:literal => $variant:ident),+ $(,)?) => {
            match tag.op.as_str() {
                $($word => untagged(raw).map(Operation::$variant).map_err(fail),)+
                other => {
                    let at = raw.find("\"op\"").map_or(0, |at| raw[..at].matches('\n').count());
                    Err((at + 1, format!("unknown op {other:?}, not one of {}", Operation::NAMES.join(", "))))
                }
            }
        };
    }
    read!("create" => Create, "activate" => Activate, "connect" => Connect, "adjust" => Adjust,
        "disconnect" => Disconnect, "reinforce" => Reinforce, "reword" => Reword, "retype" => Retype,
        "archive" => Archive, "signal" => Signal, "acknowledge" => Acknowledge, "flag" => Flag,
        "outcome" => Outcome, "goal" => Goal, "deliberate" => Deliberate, "wisdom" => Wisdom,
        "seal" => Seal)
}

/// Reads a struct from an object, passing over its `op`.
fn untagged<T: for<'de> Deserialize<'de>>(raw: &str) -> Result<T, serde_json::Error> {
    use serde::de::value::MapAccessDeserializer;
    use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
    struct WithoutOp<A>(A);
    impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithoutOp<A> {
        type Error = A::Error;
        fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
            use serde::de::IntoDeserializer;
            while let Some(key) = self.0.next_key::<std::borrow::Cow<'de, str>>()? {
                if key == "op" {
                    self.0.next_value::<serde::de::IgnoredAny>()?;
                    continue;
                }
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            Ok(None)
        }
        fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
            self.0.next_value_seed(seed)
        }
    }
    struct Object<T>(std::marker::PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an operation")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(WithoutOp(map)))
        }
    }
    let mut reader = serde_json::Deserializer::from_str(raw);
    (&mut reader).deserialize_map(Object(std::marker::PhantomData))
}

/// The line at which a slice of `text` begins.
fn line_in(slice: &str, text: &str) -> usize {
    let offset = slice.as_ptr() as usize - text.as_ptr() as usize;
    text[..offset].matches('\n').count() + 1
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
