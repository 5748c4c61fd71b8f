//! `[integrity]`: what is done about ritual in what models say. What the settings may say of it.

use serde::{Deserialize, Serialize};

use crate::limits;

/// `[integrity]`: prompts that follow what was measured, and filters on what people read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Integrity {
    /// When instructions against ritual stand in prompts.
    pub steer: Steer,
    /// The newest replies of a mind that its metrics are taken of, 1 to 200.
    pub history: usize,
    /// Whether prompts ask to observe before an answer.
    pub observe: bool,
    /// The file of main whose text stands in prompts as core module; empty: none. Inert until trusted.
    pub core: String,
    /// Whether apologies beyond two, and mentions of being a model, are taken out of answers of a chat.
    pub filter: bool,
    /// Whether hedges of such an answer become plain statements where no guard forbids it.
    pub inject: bool,
    /// Whether an answer that goes beyond the bounds of ritual is broken off once, and asked to go on without.
    pub feedback: bool,
}

/// When instructions against ritual stand in prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steer {
    /// Never.
    Off,
    /// Each where the metric that it is about is out of its band.
    Measured,
    /// All of them, always.
    Always,
}

impl Default for Integrity {
    fn default() -> Self {
        Self {
            steer: Steer::Measured,
            history: limits::INTEGRITY_REPLIES,
            observe: false,
            core: String::new(),
            filter: true,
            inject: false,
            feedback: false,
        }
    }
}

impl Integrity {
    pub(super) fn check(&self) -> Result<(), String> {
        let most = limits::INTEGRITY_REPLIES_MAX;
        if self.history == 0 || self.history > most {
            return Err(format!("integrity.history = {} is not between 1 and {most}", self.history));
        }
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0']);
        if !self.core.is_empty() && !self.core.split('/').all(is_plain) {
            return Err(format!("integrity.core = {:?} is no path of a file of main", self.core));
        }
        Ok(())
    }
}
