//! The settings that hold agents in: how far origins are trusted, what runs may cost, what no object may hold.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::model::origin::{Level, Origin};

/// `[origins]`: how far what comes from outside is trusted, by its class, and how much of it there may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Origins {
    /// What a person imports.
    pub import: Level,
    /// What programs remember through the Model Context Protocol.
    pub mcp: Level,
    /// What comes in over HTTP.
    pub http: Level,
    /// What other clones bring.
    pub clone: Level,
    /// What webhooks bring.
    pub webhook: Level,
    /// Every class that is not known.
    pub other: Level,
    /// Most stimuli of one origin that is not trusted which are perceived in a day; the rest waits. 0: no bound.
    pub influence: u32,
    /// What the score of a memory that is not trusted counts in `recall` beside that of a trusted one, 0 to 1000 thousandths.
    pub weight: u32,
    /// Most places in a hundred that memories of one origin that is not trusted may have in an answer of `recall`, 0 to 100.
    pub share: u32,
}

impl Default for Origins {
    fn default() -> Self {
        Self {
            import: Level::Trusted,
            mcp: Level::Tainted,
            http: Level::Tainted,
            clone: Level::Tainted,
            webhook: Level::Tainted,
            other: Level::Review,
            influence: 200,
            weight: 500,
            share: 30,
        }
    }
}

impl Origins {
    /// How far an origin is trusted.
    pub fn level(&self, origin: &Origin) -> Level {
        match origin.class() {
            "bootstrap" | "local" | "approved" => Level::Trusted,
            "import" => self.import,
            "mcp" => self.mcp,
            "http" => self.http,
            "clone" => self.clone,
            "webhook" => self.webhook,
            _ => self.other,
        }
    }

    /// True if what has this origin needs approval before it may enter consolidated memory.
    pub fn is_tainted(&self, origin: &Origin) -> bool {
        self.level(origin) != Level::Trusted
    }

    /// The less trusting of two in everything: what a file that nobody here has accepted may ask for beside what a person here did.
    pub fn stricter(&self, other: &Self) -> Self {
        let bound = |a: u32, b: u32| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        Self {
            import: self.import.max(other.import),
            mcp: self.mcp.max(other.mcp),
            http: self.http.max(other.http),
            clone: self.clone.max(other.clone),
            webhook: self.webhook.max(other.webhook),
            other: self.other.max(other.other),
            influence: bound(self.influence, other.influence),
            weight: self.weight.min(other.weight),
            share: self.share.min(other.share),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.weight > 1000 || self.share > 100 {
            return Err("origins.weight is at most 1000, origins.share at most 100".to_owned());
        }
        Ok(())
    }
}

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

/// `[secrets]`: what no object of the repository may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// Kinds of secrets, or patterns, that are let through. In `brain.toml`: inert until trusted.
    pub allow: Vec<String>,
    /// Names of environment variables whose values are secrets, beside those that models and agents name.
    pub environment: Vec<String>,
}
