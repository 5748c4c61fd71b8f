//! A network in memory, changed by nothing but deltas: every run of an experiment goes through [`git_brain::delta::apply`].

#![allow(dead_code, reason = "shared by experiments; none of them uses all of it")]

use std::collections::BTreeMap;
use std::convert::Infallible;

use anyhow::Result;
use git_brain::delta::{Author, Document, Lookup, Operation, RunRecord, apply};
use git_brain::model::document::Goal;
use git_brain::model::ids::{AgentName, GoalId, RunId, SignalId};
use git_brain::model::{Neuron, NeuronId, Origin, Settings, Signal, Stamp};

/// The network, and what it goes by.
pub struct Laboratory {
    /// The neurons.
    pub neurons: BTreeMap<NeuronId, Neuron>,
    /// The product's settings, where the experiment does not say otherwise.
    pub settings: Settings,
    agent: AgentName,
    runs: u64,
}

struct View<'a>(&'a BTreeMap<NeuronId, Neuron>);

impl Lookup for View<'_> {
    type Error = Infallible;

    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Infallible> {
        Ok(self.0.get(id).cloned())
    }

    fn signal(&self, _: &AgentName, _: &SignalId) -> Result<Option<(Signal, bool)>, Infallible> {
        Ok(None)
    }

    fn record(&self, _: &RunId) -> Result<Option<RunRecord>, Infallible> {
        Ok(None)
    }

    fn goal(&self, _: &GoalId) -> Result<Option<Goal>, Infallible> {
        Ok(None)
    }
}

impl Laboratory {
    /// A laboratory with these neurons.
    pub fn new(neurons: impl IntoIterator<Item = Neuron>, settings: Settings) -> Self {
        let neurons = neurons.into_iter().map(|neuron| (neuron.id.clone(), neuron)).collect();
        Self { neurons, settings, agent: AgentName::parse("experiment").expect("a name"), runs: 0 }
    }

    /// One run: applies operations at a clock, and returns which neurons it changed.
    pub fn run(&mut self, ops: Vec<Operation>, at: Stamp) -> Result<Vec<NeuronId>> {
        self.runs += 1;
        let author = Author {
            run: RunId::new(at.unix() * 1000, self.runs, &self.agent),
            agent: self.agent.clone(),
            clock: at,
            rank: 0,
            origin: Origin::local(),
            consumed: Vec::new(),
        };
        let document = Document { ops, ..Document::default() };
        let (learning, activation) = (&self.settings.learning, &self.settings.activation);
        let applied = apply(&document, &author, None, &View(&self.neurons), learning, activation)?;
        let changed = applied.neurons.keys().cloned().collect();
        self.neurons.extend(applied.neurons.into_iter().map(|(id, (_, after))| (id, after)));
        Ok(changed)
    }
}

/// A neuron's id.
pub fn id(name: &str) -> NeuronId {
    NeuronId::parse(name).expect("letters and digits")
}
