//! Reflexes: agents that think by rules of this program, offline, without any model.
//!
//! Pure: a snapshot in, a delta document out, and the same document for the same snapshot. A rule reacts only to what its
//! snapshot shows, sees the network beyond it through [`Network`] alone, and knows neither git nor clock. Whether its
//! document is allowed is for the engine to say.
//!
//! Perception turns stimuli into neurons and tells memory; memory links what fired together; affect watches urgency and
//! asks decision to act; decision answers whoever asked; the evaluator judges outcomes by what was predicted. Bootstrap introduces them
//! to each other. Source: MagistraAI's technical note, 3.3, 5 and 7.

mod affect;
mod bootstrap;
mod decision;
pub mod evaluator;
#[cfg(test)]
mod fixture;
mod memory;
pub mod perception;
mod proposal;
mod query;

pub(super) use proposal::clip;
pub use query::concepts_in;

use super::{Network, Snapshot};
use crate::activation::ripple::{RISE, Source, ripple};
use crate::delta::Document;
use crate::limits;
use crate::model::document::Rule;
use crate::model::ids::NeuronId;
use crate::model::{Settings, Signal};

/// Whether the rule looks at the ledger and at goals: for the others they are not read.
pub fn looks_back(rule: Rule) -> bool {
    matches!(rule, Rule::Decision | Rule::Evaluator)
}

/// What the agent of `snapshot` proposes when it thinks by `rule`.
pub fn think(rule: Rule, snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    match rule {
        Rule::Bootstrap => bootstrap::think(snapshot, network),
        Rule::Perception => perception::think(snapshot, network, settings),
        Rule::Memory => memory::think(snapshot, network, settings),
        Rule::Decision => decision::think(snapshot, network, settings),
        Rule::Affect => affect::think(snapshot, network, &settings.origins),
        Rule::Evaluator => evaluator::think(snapshot, network, settings),
    }
}

/// How many of the first signals one run can answer that thinks by `rule`: what comes with many stimuli is answered
/// together, what takes thought a few at a time.
pub fn answerable(rule: Rule, signals: &[Signal]) -> usize {
    match rule {
        Rule::Memory => memory::answerable(signals),
        Rule::Affect => affect::SIGNALS,
        Rule::Evaluator => evaluator::answerable(signals),
        Rule::Decision => decision::answerable(signals),
        Rule::Bootstrap | Rule::Perception => limits::SIGNALS_PER_RUN,
    }
}

/// By how much to activate what a wave from `sources` reaches. Affect is never raised to what it calls urgent.
fn reached(
    sources: &[Source],
    snapshot: &Snapshot,
    network: &dyn Network,
    settings: &Settings,
) -> Vec<(NeuronId, f64)> {
    let mut reached = ripple(sources, &|id| network.neuron(id), snapshot.at, settings);
    for (id, rise) in reached.iter_mut().filter(|(id, _)| id.as_str() == AFFECT) {
        let now = network.neuron(id).map_or(0, |n| n.salience_at(snapshot.at));
        *rise = rise.min(AROUSAL - f64::from(now) / 65535.0);
    }
    // Affect fades a little with every stimulus: what is no rise by itself is none either where its bound cuts it.
    reached.retain(|(id, rise)| id.as_str() != AFFECT || *rise >= RISE);
    reached
}

/// Neurons that the brain starts with and triggers rely on: no reflex archives them, whatever their type.
const FOUNDATIONS: [&str; 7] = [
    "n_core_perception",
    "n_core_memory",
    "n_core_decision",
    "n_core_affect",
    "external_stimulus",
    "decision_point",
    "self",
];
/// The neuron whose salience is how urgent things still are.
const AFFECT: &str = "n_core_affect";
/// The level to which other agents raise affect at most: below what it calls urgent.
const AROUSAL: f64 = 0.15;
/// Kinds of signals, as they stand in `payload.kind`.
pub(crate) mod kind {
    pub const INTRODUCTION: &str = "introduction";
    pub const PERCEIVED: &str = "perceived";
    pub const ARCHIVE: &str = "archive";
    pub const ACTION_REQUIRED: &str = "action_required";
    pub const DECISION: &str = "decision";
    pub const PREDICTION: &str = "prediction";
    pub const OUTCOME: &str = "outcome";
    pub const URGENCY: &str = "urgency";
    pub const CALM: &str = "calm";
    pub const SURPRISE: &str = "surprise";
}
