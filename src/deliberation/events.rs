//! Events: every step of a cycle, with who took it. What a picture of the deliberation is drawn from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::roles::Role;
use crate::model::Stamp;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The forest was checked before the cycle.
    ValidatePre,
    /// Attention was divided.
    Route,
    /// Gardeners were sent to trees.
    GardenerParallelDispatch,
    /// A gardener mined.
    Mine,
    /// A round of debate ended.
    DebateRound,
    /// A skeptic spoke about a hypothesis or a candidate.
    SkepticChallenge,
    /// A diverger proposed alternatives.
    Diverge,
    /// An inspector judged.
    Judge,
    /// The nursery decided.
    NurseryCheck,
    /// The gates were run.
    Evaluate,
    /// A question went to a watching person or agent.
    HandoffRequest,
    /// It was answered.
    HandoffResponse,
    /// It was not answered in time.
    HandoffTimeout,
    /// Its answer was not of the form.
    HandoffSchemaViolation,
    /// An aligner answered that is no handoff.
    Align,
    /// A result got its class.
    Classify,
    /// Seeds were ranked and carried on.
    RankAndRouteSeeds,
    /// The forest was checked after the cycle.
    ValidatePostSave,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The clock of the cycle's run.
    pub ts: Stamp,
    /// The mind, or `rules`.
    pub agent: String,
    /// Its role.
    pub role: Role,
    /// The step.
    pub action: Action,
    /// What it is about: the forest, a tree, a candidate.
    pub target: String,
    /// What it went by.
    pub inputs: Value,
    /// What came of it.
    pub outputs: Value,
    /// Why.
    pub reason: String,
    /// The cycle.
    pub cycle: u64,
    /// What started it: `person` or the name of an agent.
    pub initiative: String,
}

impl Event {
    /// Whether two events tell the same, whenever they came.
    pub fn is_same(&self, other: &Self) -> bool {
        Self { ts: other.ts, ..self.clone() } == *other
    }
}

/// Events as lines of JSON.
pub fn jsonl(events: &[Event]) -> String {
    events.iter().filter_map(|event| serde_json::to_string(event).ok()).map(|line| line + "\n").collect()
}
