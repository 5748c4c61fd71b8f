//! Steps of the deliberation of a tree, and what it gave in the end.

use serde_json::Value;

use super::events::Action;
use super::record::{Amendment, ResultRecord};
use super::roles::Role;
use super::seeds::Kept;
use super::verdict::Judgement;

/// The reason that a tree ended without results: then the cycle does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A mind that cannot be reached.
    #[error("the {} has given no answer: {why}", role.as_str())]
    Unreachable {
        /// Its role.
        role: Role,
        /// Why.
        why: String,
    },
    /// The caller answered something else than was asked.
    #[error("the tree wanted {0}, and was told something else")]
    Mismatch(&'static str),
}

/// A step, for the event of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it went by.
    pub inputs: Value,
    /// What came of it.
    pub outputs: Value,
    /// Why.
    pub reason: String,
}

/// A step with who took it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldStep {
    /// The mind, or `rules`.
    pub agent: String,
    /// Its role.
    pub role: Role,
    /// The step.
    pub action: Action,
    /// What it is about.
    pub target: String,
    /// What happened.
    pub step: Step,
}

/// The yield of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Grown {
    /// The tree.
    pub tree: String,
    /// Every hypothesis that reached the inspector, with his judgement, and why it is kept as a seed.
    pub leaves: Vec<(ResultRecord, Judgement, Option<Kept>)>,
    /// Gates that the skeptic wants changed.
    pub amendments: Vec<Amendment>,
    /// Its steps.
    pub told: Vec<ToldStep>,
}
