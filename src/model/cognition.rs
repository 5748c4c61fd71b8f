//! How an agent thinks, as its definition says.

use serde::{Deserialize, Serialize};

use super::ids::AgentName;
use crate::limits;

/// How an agent thinks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Cognition {
    /// Rules of this program: no model, offline.
    Reflex {
        /// Which rules.
        rule: Rule,
    },
    /// Any program: a snapshot as JSON on standard input, a delta document on standard output. Inert until trusted.
    Command {
        /// Program and arguments; no shell.
        argv: Vec<String>,
        /// How long it may take, milliseconds.
        #[serde(default = "default_timeout")]
        timeout_ms: u64,
        /// Names of environment variables that it may see; all others are cleared.
        #[serde(default)]
        environment: Vec<String>,
        /// Files and folders that it may read, beside those of the system and its own; `~/` is your home.
        #[serde(default)]
        reads: Vec<String>,
        /// Files and folders that it may read and write, beside its own folder, which goes away with it.
        #[serde(default)]
        writes: Vec<String>,
        /// True: it may open sockets.
        #[serde(default)]
        network: bool,
        /// Processor time of each of its processes, seconds; 0: as long as it may take.
        #[serde(default)]
        cpu_seconds: u64,
        /// Memory of all its processes together, MiB.
        #[serde(default = "default_memory")]
        memory_mb: u64,
    },
    /// A model: the snapshot as a prompt, an answer in the form of a delta document. Inert until trusted.
    Llm {
        /// The `[models.NAME]` of the settings.
        model: String,
        /// How often an answer that is refused may be given once more.
        #[serde(default = "default_repairs")]
        repairs: u32,
    },
    /// A cycle of a deliberation for each run, by `[deliberation]` of the settings: what becomes fruit lands as runs of the agent.
    Deliberation {
        /// The goal.
        goal: AgentName,
        /// Words of topics, one a tree; none: those of earlier cycles, or the concepts with most memories.
        #[serde(default)]
        trees: Vec<String>,
    },
    /// A council: its members vote on what signals and stimuli ask, and the verdicts are the run. Inert until trusted.
    Council {
        /// The document of members, a file of main: `council.json` or `councils/NAME.json`; empty: `council.json`, else three rules.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        members: String,
        /// How long members may take, seconds.
        #[serde(default = "default_council_timeout")]
        timeout_s: u64,
    },
    /// The models of `[[chain.step]]`, one after the other, as in a chat: those before gather and conclude, with tools that only read,
    /// the last one writes the delta document. Inert until trusted.
    Chain {
        /// How often an answer that is refused may be given once more.
        #[serde(default = "default_repairs")]
        repairs: u32,
    },
}

fn default_council_timeout() -> u64 {
    limits::COUNCIL_TIMEOUT_S
}

fn default_repairs() -> u32 {
    limits::MODEL_REPAIRS
}

fn default_memory() -> u64 {
    limits::CHILD_MEMORY_MB
}

fn default_timeout() -> u64 {
    limits::COMMAND_TIMEOUT_MS
}

/// The reflex rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Introduces every agent and completes the bootstrap.
    Bootstrap,
    /// Turns stimuli into episodic and concept neurons.
    Perception,
    /// Links what fires together, answers questions, archives.
    Memory,
    /// Scores options by activation, predicts, asks for action.
    Decision,
    /// Watches urgency.
    Affect,
    /// Judges outcomes by predictions, and lets pathways learn from the difference.
    Evaluator,
}
