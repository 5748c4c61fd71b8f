//! A document under construction: every operation a reflex can propose, held to the limits of a delta.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::kind;
use crate::cognition::{Network, Snapshot};
use crate::delta::Operation;
use crate::delta::operation::{
    Acknowledge, Activate, Adjust, Archive, Connect, Create, Document, Edge, Prediction, Send, SetFlag,
};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId};
use crate::model::{Kind, Neuron, Signal, within};

/// Signals that one run answers; the rest stay unanswered. Leaves most of a delta for what the answers are about.
pub(super) const SIGNALS: usize = 200;

/// What an agent is about to propose.
pub(super) struct Proposal<'a> {
    pub snapshot: &'a Snapshot,
    pub network: &'a dyn Network,
    document: Document,
    created: BTreeSet<NeuronId>,
    archived: BTreeSet<NeuronId>,
}

impl<'a> Proposal<'a> {
    pub fn new(snapshot: &'a Snapshot, network: &'a dyn Network) -> Self {
        let document = Document { agent: Some(snapshot.agent.clone()), ..Document::default() };
        Self { snapshot, network, document, created: BTreeSet::new(), archived: BTreeSet::new() }
    }

    /// The document.
    pub fn finish(self) -> Document {
        self.document
    }

    /// The signals that this run answers, oldest first.
    pub fn signals(&self) -> &'a [Signal] {
        let signals = &self.snapshot.signals;
        &signals[..signals.len().min(SIGNALS)]
    }

    /// How many more operations fit.
    pub fn room(&self) -> usize {
        limits::RUN_OPS - self.document.ops.len()
    }

    /// A neuron that is there and not archived, also not by this document.
    pub fn live(&self, id: &NeuronId) -> Option<Neuron> {
        self.network.neuron(id).filter(|n| !n.is_archived() && !self.archived.contains(id))
    }

    /// Whether operations may refer to the neuron.
    pub fn knows(&self, id: &NeuronId) -> bool {
        self.created.contains(id) || self.live(id).is_some()
    }

    fn push(&mut self, op: Operation) {
        if self.room() > 0 {
            self.document.ops.push(op);
        }
    }

    /// Adds an operation as it is.
    pub fn take(&mut self, op: Operation) {
        self.push(op);
    }

    /// Makes the neuron unless the network has one with that id, archived or not.
    pub fn create_if_missing(&mut self, id: &NeuronId, concept: &str, kind: Kind) {
        if !self.network.has(id) && self.room() > 0 && self.created.insert(id.clone()) {
            let (id, concept) = (Some(id.clone()), concept.to_owned());
            let (source, session, stimulus, at) = (None, None, None, None);
            self.push(Operation::Create(Create { id, concept, kind, source, session, stimulus, at }));
        }
    }

    /// Activates a neuron, if it is there.
    pub fn activate(&mut self, id: &NeuronId, strength: f64) {
        if self.knows(id) {
            let strength = strength.clamp(0.0, 1.0);
            self.push(Operation::Activate(Activate { id: id.clone(), strength, at: None }));
        }
    }

    /// Connects two neurons.
    pub fn connect(&mut self, edge: Edge, weight: u16) {
        let Edge { from, to, link } = edge;
        self.push(Operation::Connect(Connect { from, to, link, weight: weight.max(1) }));
    }

    /// Changes a weight, if by anything.
    pub fn adjust(&mut self, edge: Edge, by: i32) {
        if by != 0 {
            let Edge { from, to, link } = edge;
            self.push(Operation::Adjust(Adjust { from, to, link, by }));
        }
    }

    /// Marks a neuron for removal, once.
    pub fn archive(&mut self, id: &NeuronId, reason: String) {
        if self.archived.insert(id.clone()) {
            self.push(Operation::Archive(Archive { id: id.clone(), reason }));
        }
    }

    /// Sends a message; an agent never writes to itself.
    pub fn send(&mut self, to: &AgentName, payload: Value) {
        if *to != self.snapshot.agent {
            self.push(Operation::Signal(Send { to: to.clone(), payload }));
        }
    }

    /// Answers a signal.
    pub fn acknowledge(&mut self, signal: &Signal, payload: Value) {
        self.push(Operation::Acknowledge(Acknowledge { signal: signal.id.clone(), payload }));
    }

    /// Answers a signal that only tells something, or asks for nothing that this agent does.
    pub fn acknowledge_other(&mut self, signal: &Signal) {
        let payload = match signal.payload_kind() {
            Some(kind::INTRODUCTION | kind::DECISION | kind::PREDICTION) => json!({"done": "noted"}),
            _ => json!({"understood": false}),
        };
        self.acknowledge(signal, payload);
    }

    /// Sets a flag, if it is not so already.
    pub fn flag(&mut self, name: &str, value: bool, reason: &str) {
        let on = self.snapshot.flags.iter().any(|f| f.as_str() == name);
        if on != value {
            let name = AgentName::parse(name).expect("invariant: a constant name");
            self.push(Operation::Flag(SetFlag { name, value, reason: reason.to_owned() }));
        }
    }

    /// Sets a flag that somebody else has raised, so that it is the agent's own.
    pub fn take_flag(&mut self, name: &AgentName, reason: &str) {
        self.push(Operation::Flag(SetFlag { name: name.clone(), value: true, reason: reason.to_owned() }));
    }

    /// Says what the agent expects.
    pub fn predict(&mut self, mut prediction: Prediction) {
        prediction.pathway.truncate(limits::CREDITED_EDGES);
        self.document.prediction = Some(prediction);
    }
}

/// The id of a neuron that the program itself names.
pub(super) fn constant_id(id: &str) -> NeuronId {
    NeuronId::parse(id).expect("invariant: a constant id")
}

/// The beginning of a text, at most `bytes` long, with an ellipsis if something was left out.
pub fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", within(text, bytes.saturating_sub('…'.len_utf8())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_text_fits_and_stays_text() {
        assert_eq!(clip("tea", 3), "tea");
        assert_eq!(clip("green tea", 7), "gree…");
        for bytes in 3..12 {
            assert!(clip("お茶とお菓子", bytes).len() <= bytes);
        }
    }
}
