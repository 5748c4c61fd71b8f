//! The canonical form of a run's record, in both formats of a brain.
//!
//! Effects imply operations: a `create` of each neuron that the run made, a `connect` of each new connection, an `adjust` of each
//! whose weight has changed, a `disconnect` of each that has none left. Where the run proposed each of them word for word, a record of format 2
//! has their number as `implied`, and under `ops` the other operations in their order. Reading puts the implied ones first. The proposal stays
//! the same: an operation whose effect stands unchanged at the end has that effect wherever among the others it comes, as long
//! as the others make, connect, adjust, disconnect, activate, send, answer and raise flags only. Any other record has all of its operations; so
//! has that of a document that was applied and has them in another order, because its author and its reviewer count them there.

use std::collections::HashMap;
use std::fmt::Write;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::operation::{Adjust, Connect, Create, Edge, Operation, Prediction};
use super::record::{APPLIED, Effect, REJECTED, RunOutline, RunRecord, WeightEffect};
use crate::limits;
use crate::model::form::{self, Format, Lines, Pointing};
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::json::{self, JsonError};
use crate::model::{Link, Neuron, Origin, Stamp};

/// A record as its file has it, in any format.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordFile {
    /// The format of the record; absent: 1.
    format: Option<u32>,
    /// The run.
    run: RunId,
    /// The agent that it executed.
    agent: AgentName,
    /// What woke it.
    trigger: String,
    /// How it thought, such as `reflex:memory` or `apply`.
    cognition: String,
    /// The run's clock: its stimulus' time.
    at: Stamp,
    /// Causal distance from a stimulus; 0: by hand.
    #[serde(default)]
    depth: u32,
    /// The commit that it started from; null for the very first.
    base: Option<String>,
    /// Where what it brings comes from.
    #[serde(default)]
    origin: Origin,
    /// The stimuli that it consumed or descends from.
    #[serde(default)]
    stimuli: Vec<StimulusId>,
    /// What it expected, said before the act.
    #[serde(default)]
    prediction: Option<Prediction>,
    /// The number of operations that `effects` imply and `ops` leaves out: a `create` of each neuron that the run made, a `connect`,
    /// `adjust` or `disconnect` of each connection that changed.
    implied: Option<usize>,
    /// What it proposed, but for those.
    #[serde(default)]
    ops: Vec<Operation>,
    /// What that did, one entry a neuron, sorted by id.
    #[serde(default)]
    effects: Vec<Effect>,
    /// What the engine changed of the proposal or clamped, one sentence each.
    #[serde(default)]
    notes: Vec<String>,
    /// The runs whose effects a person takes back by it.
    #[serde(default)]
    reverts: Vec<RunId>,
    /// The runs of origins that are not trusted which a person approves by it.
    #[serde(default)]
    approves: Vec<RunId>,
}

impl<'de> Deserialize<'de> for RunRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(RecordFile::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl RecordFile {
    /// With the neuron that each effect is about under its own name, as format 1 has it.
    fn named(mut self) -> Result<Self, String> {
        if let Some(format) = self.format.filter(|format| *format != Format::Two.number()) {
            return Err(format!("format is {format}; of records this program knows 2, and 1, which does not say it"));
        }
        if self.format.is_some() {
            for effect in self.effects.iter_mut().filter(|effect| effect.neuron.is_none()) {
                effect.neuron = effect.created.as_ref().or(effect.removed.as_ref()).map(|neuron| neuron.id.clone());
            }
        }
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for RunOutline {
    /// Without the operations that effects imply, none of which an outline has.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = RecordFile::deserialize(deserializer)?.named().map_err(D::Error::custom)?;
        Ok(Self::of(file.run, file.origin, file.ops, file.effects, file.reverts, file.approves))
    }
}

impl TryFrom<RecordFile> for RunRecord {
    type Error = String;

    fn try_from(file: RecordFile) -> Result<Self, String> {
        let file = file.named()?;
        let effects = file.effects;
        let mut ops = file.ops;
        if let Some(count) = file.implied {
            let mut all = implied(&effects, file.at);
            if all.len() != count {
                return Err(format!("implied is {count}, and its effects say {} operations", all.len()));
            }
            all.append(&mut ops);
            ops = all;
        }
        Ok(Self {
            run: file.run,
            agent: file.agent,
            trigger: file.trigger,
            cognition: file.cognition,
            at: file.at,
            depth: file.depth,
            base: file.base,
            origin: file.origin,
            stimuli: file.stimuli,
            prediction: file.prediction,
            ops,
            effects,
            notes: file.notes,
            reverts: file.reverts,
            approves: file.approves,
        })
    }
}

impl schemars::JsonSchema for RunRecord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RunRecord".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RecordFile::json_schema(generator)
    }
}

/// The operations that effects say: neurons in the order of their ids, then connections in the order of their ends.
fn implied(effects: &[Effect], clock: Stamp) -> Vec<Operation> {
    let made = effects.iter().filter_map(|effect| effect.created.as_deref());
    let mut ops: Vec<Operation> = made.map(|neuron| creation(neuron, clock)).collect();
    for effect in effects {
        let own = effect.created.iter().flat_map(|neuron| &neuron.connections);
        let own = own.map(|c| (&c.target, c.link, (None, Some(c.weight))));
        let changed = effect.connections.iter().map(|c| (&c.target, c.link, c.weight));
        let Some(from) = effect.id() else { continue };
        ops.extend(own.chain(changed).filter_map(|(to, link, weight)| {
            let (from, to) = (from.clone(), to.clone());
            match weight {
                (None, Some(weight)) => Some(Operation::Connect(Connect { from, to, link, weight })),
                (Some(_), Some(0)) => Some(Operation::Disconnect(Edge { from, to, link })),
                (Some(before), Some(after)) => {
                    Some(Operation::Adjust(Adjust { from, to, link, by: i32::from(after) - i32::from(before) }))
                }
                (_, None) => None,
            }
        }));
    }
    ops
}

fn creation(neuron: &Neuron, clock: Stamp) -> Operation {
    Operation::Create(Create {
        id: Some(neuron.id.clone()),
        concept: neuron.concept.clone(),
        kind: neuron.kind,
        source: neuron.source.clone(),
        session: neuron.session.clone(),
        stimulus: neuron.stimulus.clone(),
        at: (neuron.created_at != clock).then_some(neuron.created_at),
    })
}

/// The operations of a record that its effects do not imply, in their order; `None` where an implied one was not proposed so, or another
/// operation could tell whether it came before, or the order is to be kept.
fn left_over<'r>(record: &'r RunRecord, implied: &[Operation]) -> Option<Vec<&'r Operation>> {
    let simple = |op: &Operation| {
        matches!(
            op,
            Operation::Create(_)
                | Operation::Connect(_)
                | Operation::Adjust(_)
                | Operation::Disconnect(_)
                | Operation::Activate(_)
                | Operation::Signal(_)
                | Operation::Acknowledge(_)
                | Operation::Flag(_)
        )
    };
    if implied.is_empty() || !record.ops.iter().all(simple) {
        return None;
    }
    let mut wanted: HashMap<Key<'_>, &Operation> = implied.iter().filter_map(|op| Some((Key::of(op)?, op))).collect();
    if wanted.len() != implied.len() {
        return None;
    }
    let mut rest = Vec::new();
    for op in &record.ops {
        match Key::of(op).and_then(|key| wanted.remove(&key)) {
            // The first that asks for it is the one that was done.
            Some(said) if said == op => {}
            Some(_) => return None,
            None => rest.push(op),
        }
    }
    // People decide about the operations of a document that was applied by the numbers that they have there.
    let is_read = record.cognition == APPLIED;
    if is_read && !implied.iter().chain(rest.iter().copied()).eq(&record.ops) {
        return None;
    }
    wanted.is_empty().then_some(rest)
}

/// What a `create`, or an operation on a connection, is about.
#[derive(PartialEq, Eq, Hash)]
enum Key<'o> {
    Neuron(&'o str),
    Edge(&'o str, &'o str, Link),
}

impl<'o> Key<'o> {
    fn of(op: &'o Operation) -> Option<Self> {
        match op {
            Operation::Create(op) => op.id.as_ref().map(|id| Self::Neuron(id.as_str())),
            Operation::Connect(op) => Some(Self::Edge(op.from.as_str(), op.to.as_str(), op.link)),
            Operation::Adjust(op) => Some(Self::Edge(op.from.as_str(), op.to.as_str(), op.link)),
            Operation::Disconnect(edge) => Some(Self::Edge(edge.from.as_str(), edge.to.as_str(), edge.link)),
            _ => None,
        }
    }
}

/// Whether a key is in a file.
fn names(bytes: &[u8], key: &[u8]) -> bool {
    bytes.windows(key.len()).any(|part| part == key)
}

impl RunRecord {
    /// Whether a record may take runs back; false is certain. For those who look for the few that do.
    pub fn may_revert(bytes: &[u8]) -> bool {
        names(bytes, b"\"reverts\"")
    }

    /// Whether a record may take runs back or approve some; false is certain.
    pub fn may_settle(bytes: &[u8]) -> bool {
        Self::may_revert(bytes) || names(bytes, b"\"approves\"")
    }

    /// Whether a record may have a prediction; false is certain.
    pub fn may_predict(bytes: &[u8]) -> bool {
        !names(bytes, b"\"prediction\": null")
    }

    /// Whether a record may have a choice among options; false is certain.
    pub fn may_choose(bytes: &[u8]) -> bool {
        names(bytes, b"\"chosen\"")
    }

    /// Whether a record may be what is left of a run that was thrown away or amended; false is certain.
    pub fn may_be_left_over(bytes: &[u8]) -> bool {
        names(bytes, REJECTED.as_bytes())
    }

    /// The canonical bytes of the record in the newest format.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_as(Format::NEWEST)
    }

    /// The canonical bytes of the record: header fields one a line, one operation a line, one effect a line.
    pub fn encode_as(&self, format: Format) -> Vec<u8> {
        let whole = format == Format::One;
        let mut out = String::with_capacity(1024 + 512 * self.effects.len());
        let mut first = true;
        let mut field = |out: &mut String, key: &str| {
            out.push_str(if first { "{\n  \"" } else { ",\n  \"" });
            first = false;
            out.push_str(key);
            out.push_str("\": ");
        };
        if !whole {
            field(&mut out, "format");
            write!(out, "{}", format.number()).expect("invariant: a string takes what is written to it");
        }
        for (key, is_default, value) in [
            ("run", false, json::inline(&self.run)),
            ("agent", false, json::inline(&self.agent)),
            ("trigger", false, json::inline(&self.trigger)),
            ("cognition", false, json::inline(&self.cognition)),
            ("at", false, json::inline(&self.at)),
            ("depth", self.depth == 0, self.depth.to_string()),
            ("base", self.base.is_none(), json::inline(&self.base)),
            ("origin", self.origin == Origin::local(), json::inline(&self.origin)),
            ("stimuli", self.stimuli.is_empty(), json::inline(&self.stimuli)),
            ("prediction", self.prediction.is_none(), json::inline(&self.prediction)),
        ] {
            if whole || !is_default {
                field(&mut out, key);
                out.push_str(&value);
            }
        }
        let said = if whole { Vec::new() } else { implied(&self.effects, self.at) };
        let rest = left_over(self, &said);
        if rest.is_some() {
            field(&mut out, "implied");
            write!(out, "{}", said.len()).expect("invariant: a string takes what is written to it");
        }
        let ops = rest.unwrap_or_else(|| self.ops.iter().collect());
        if whole || !ops.is_empty() {
            field(&mut out, "ops");
            rows(&ops, |op, out| out.push_str(&json::inline(op)), &mut out);
        }
        if whole || !self.effects.is_empty() {
            field(&mut out, "effects");
            match whole {
                true => rows(&self.effects, |effect, out| out.push_str(&json::inline(effect)), &mut out),
                false => rows(&self.effects, write_effect, &mut out),
            }
        }
        if !self.notes.is_empty() {
            field(&mut out, "notes");
            rows(&self.notes, |note, out| out.push_str(&json::inline(note)), &mut out);
        }
        for (key, runs) in [("reverts", &self.reverts), ("approves", &self.approves)] {
            if !runs.is_empty() {
                field(&mut out, key);
                rows(runs, |run, out| out.push_str(&json::inline(run)), &mut out);
            }
        }
        out.push_str("\n}\n");
        out.into_bytes()
    }

    /// Reads a record of any format; `what` names it in errors.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        json::strict(bytes, what, limits::DOCUMENT_BYTES)
    }
}

fn rows<T>(items: &[T], write: impl Fn(&T, &mut String), out: &mut String) {
    if items.is_empty() {
        out.push_str("[]");
        return;
    }
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "[\n    " } else { ",\n    " });
        write(item, out);
    }
    out.push_str("\n  ]");
}

/// Format 2: a neuron as its file has it, connections by target.
fn write_effect(effect: &Effect, out: &mut String) {
    let alone = effect.marks.is_none() && effect.connections.is_empty() && effect.fields().is_empty();
    let whole = match (&effect.created, &effect.removed) {
        (Some(neuron), None) => Some(("created", neuron)),
        (None, Some(neuron)) => Some(("removed", neuron)),
        _ => None,
    };
    if let Some((key, neuron)) = whole.filter(|(_, neuron)| alone && effect.neuron.as_ref() == Some(&neuron.id)) {
        write!(out, "{{\"{key}\": ").expect("invariant: a string takes what is written to it");
        neuron.write_inline(out);
        out.push('}');
        return;
    }
    if effect.created.is_some() || effect.removed.is_some() || effect.connections.is_empty() {
        out.push_str(&json::inline(effect));
        return;
    }
    let rest = json::inline(&Effect { connections: Vec::new(), ..effect.clone() });
    out.push_str(rest.strip_suffix('}').unwrap_or(&rest));
    out.push_str(", \"connections\": ");
    form::by_target(&effect.connections, Lines::One, out);
    out.push('}');
}

impl Pointing for WeightEffect {
    fn target(&self) -> &NeuronId {
        &self.target
    }
    fn link(&self) -> Link {
        self.link
    }
    fn write(&self, out: &mut String) {
        out.push_str(&json::inline(&self.weight));
    }
}

#[cfg(test)]
#[path = "record_form_tests.rs"]
mod tests;
