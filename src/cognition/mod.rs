//! How agents think: a snapshot in, a delta document out.
//!
//! Pure: the rules see the network only through [`Network`], the clock only through [`Snapshot::at`]. Running programs
//! and calling models is the cycle's work.

pub mod chain;
pub mod choice;
pub mod council;
pub mod exchange;
pub mod guard;
pub mod llm;
pub mod reflex;

use serde::Serialize;

use crate::delta::{LedgerEntry, RunRecord};
use crate::model::document::{Answered, Goal};
use crate::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, concept_id};
use crate::model::{Neuron, Signal, Stamp, Stimulus};
use crate::wisdom::Counsel;

/// What a run sees of the network: the context of its spawn. A command agent gets exactly this as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Snapshot {
    /// The run.
    pub run: RunId,
    /// The agent that thinks.
    pub agent: AgentName,
    /// The run's clock.
    pub at: Stamp,
    /// What woke it, in words.
    pub trigger: String,
    /// Stimuli to consume, oldest first.
    pub stimuli: Vec<Stimulus>,
    /// Unanswered signals to this agent, oldest first.
    pub signals: Vec<Signal>,
    /// Neurons whose activation woke it.
    pub active: Vec<NeuronId>,
    /// Flags that are on.
    pub flags: Vec<AgentName>,
    /// Answers to signals of this agent that came since it last looked, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answered>,
    /// Who raised the flags that are on, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raised: Vec<Raised>,
    /// The agents of the brain, with their roles.
    pub agents: Vec<AgentSummary>,
    /// The part of the network that fits the context, most salient first.
    pub neurons: Vec<Neuron>,
    /// The newest entries of the ledger, newest first: what runs expected, and what came of it. Empty for reflexes that do not ask.
    #[serde(default)]
    pub ledger: Vec<LedgerEntry>,
    /// Goals that are open, by id. Empty for reflexes that do not ask.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// What was learnt of cases like this one, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counsel: Vec<Counsel>,
}

/// A flag that is on.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Raised {
    /// The flag.
    pub name: AgentName,
    /// The agent that raised it; null for a person who edited the file.
    pub by: Option<AgentName>,
    /// Why.
    pub reason: String,
}

/// An agent as others see it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AgentSummary {
    /// Its name.
    pub name: AgentName,
    /// What it is for.
    pub role: String,
}

/// The network of the run's snapshot, for look-ups beyond the context.
pub trait Network {
    /// The neuron with that id, if there is one.
    fn neuron(&self, id: &NeuronId) -> Option<Neuron>;

    /// Whether there is one.
    fn has(&self, id: &NeuronId) -> bool {
        self.neuron(id).is_some()
    }

    /// The id of the neuron that stands for a concept: the one that its words give, unless only another neuron says the same.
    fn concept_named(&self, words: &str) -> NeuronId {
        concept_id(words)
    }

    /// What a question recalls at a moment, best first, at most so many, each with its activation.
    fn recall(&self, question: &str, at: Stamp, top: usize) -> Vec<(NeuronId, f64)> {
        let _ = (question, at, top);
        Vec::new()
    }

    /// The record of a run, if there is one.
    fn record(&self, run: &RunId) -> Option<RunRecord> {
        let _ = run;
        None
    }

    /// The goal with that id, whatever its state.
    fn goal(&self, id: &GoalId) -> Option<Goal> {
        let _ = id;
        None
    }

    /// The run that sent a signal to an agent.
    fn sender(&self, to: &AgentName, id: &SignalId) -> Option<RunId> {
        let _ = (to, id);
        None
    }
}
