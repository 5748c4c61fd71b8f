//! A run that is due, and what is known of the runs behind it. Plain data, from `wake` and `jobs` to `run`.

use std::collections::BTreeMap;

use crate::delta::RunRecord;
use crate::model::document::Answered;
use crate::model::ids::{AgentName, NeuronId, RunId, StimulusId};
use crate::model::{Origin, Signal, Stamp, Stimulus};
use crate::trigger::Happened;

/// A run that is due.
#[derive(Clone, Debug)]
pub struct Job {
    /// The agent.
    pub agent: AgentName,
    /// The reason why it woke, in words.
    pub reason: String,
    /// Stimuli to consume.
    pub stimuli: Vec<Stimulus>,
    /// Signals to answer.
    pub signals: Vec<Signal>,
    /// Neurons whose activation woke it.
    pub active: Vec<NeuronId>,
    /// Answers to signals that it sent.
    pub answers: Vec<Answered>,
    /// Why nobody thinks about these signals: the engine answers them with that.
    pub refusal: Option<String>,
    /// The stimuli that it descends from, its own included.
    pub roots: Vec<StimulusId>,
    /// The one of them that it counts for, where it is known; else the first.
    pub counts_for: Option<StimulusId>,
    /// Causal distance from a stimulus.
    pub depth: u32,
    /// The run's clock.
    pub clock: Stamp,
    /// Where what woke it comes from: its stimuli, and those of the runs that sent its signals, set its flags or changed
    /// its neurons last, and of those neurons.
    pub origin: Origin,
}

/// The events since a commit, and the runs that did them.
#[derive(Default)]
pub(super) struct Window {
    pub happened: Happened,
    pub runs: BTreeMap<RunId, Cause>,
}

/// What descends from a run: of its record, what the runs after it need to know.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Its clock.
    pub at: Stamp,
    /// Its causal distance from a stimulus.
    pub depth: u32,
    /// The stimuli that it descends from.
    pub stimuli: Vec<StimulusId>,
    /// Where what it brought comes from.
    pub origin: Origin,
}

impl From<RunRecord> for Cause {
    fn from(record: RunRecord) -> Self {
        Self { at: record.at, depth: record.depth, stimuli: record.stimuli, origin: record.origin }
    }
}
