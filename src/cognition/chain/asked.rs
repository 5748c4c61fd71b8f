//! What a person says to the brain, as programs write it.

use serde::{Deserialize, Serialize};

/// How many steps are to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// As the message needs.
    #[default]
    Auto,
    /// One.
    Simple,
    /// All.
    Reflexive,
    /// None: the council of `council.json` votes on the message, a question that is answered by yes or no.
    Council,
}

/// What a person says to the brain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatRequest {
    /// The message.
    pub message: String,
    /// The conversation that it belongs to; a new one by default.
    #[serde(default)]
    pub conversation: Option<String>,
    /// How many steps are to answer.
    #[serde(default)]
    pub mode: Wanted,
    /// What kind of message it is, where somebody knows.
    #[serde(default)]
    pub category: Option<String>,
    /// Answer, and remember nothing.
    #[serde(skip)]
    pub dry_run: bool,
}
