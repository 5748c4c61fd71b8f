//! What runs may cost, and what one run costs: words of settings and definitions. `cycle::budget` keeps the account.

use serde::{Deserialize, Serialize};

use crate::limits;

/// `[budget]`: what the runs of all agents together may cost, on all processes of this machine. 0: no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Runs on one day (UTC), reflexes included.
    pub runs_per_day: u64,
    /// Calls of programs and models on one day.
    pub turns_per_day: u64,
    /// Tokens on one day.
    pub tokens_per_day: u64,
    /// Money on one day, in millionths of the currency that you count in.
    pub micros_per_day: u64,
    /// Calls of programs and models that one stimulus may cause.
    pub turns_per_stimulus: u64,
    /// Tokens that one stimulus may cost.
    pub tokens_per_stimulus: u64,
    /// Money that one stimulus may cost, in millionths.
    pub micros_per_stimulus: u64,
}

impl Budget {
    /// No bound at all.
    pub const UNBOUNDED: Self = Self {
        runs_per_day: 0,
        turns_per_day: 0,
        tokens_per_day: 0,
        micros_per_day: 0,
        turns_per_stimulus: 0,
        tokens_per_stimulus: 0,
        micros_per_stimulus: 0,
    };
}

impl Default for Budget {
    fn default() -> Self {
        Self { turns_per_day: limits::TURNS_PER_DAY, turns_per_stimulus: limits::TURNS_PER_STIMULUS, ..Self::UNBOUNDED }
    }
}

/// What a run costs, or may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cost {
    /// Calls of a program or a model.
    pub turns: u64,
    /// Tokens, in and out.
    pub tokens: u64,
    /// Money, in millionths.
    pub micros: u64,
}

impl Default for Cost {
    /// One call of a program of which nothing is known.
    fn default() -> Self {
        Self { turns: 1, tokens: 0, micros: 0 }
    }
}
