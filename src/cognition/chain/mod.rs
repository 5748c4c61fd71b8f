//! The reflexive chain: a question is answered in steps, each by a model of its own, and none of them can loop.
//!
//! ```text
//! question ─▶ classify ─▶ research ─▶ analysis ─▶ review ─▶ the last step that said something
//!                            │ ▲
//!                            ▼ │
//!                          tools, as far as nothing repeats itself
//! ```
//!
//! So a person is answered; and so, in the same steps, an agent thinks whose last step [writes](Task::Write) a document of a form.
//!
//! [`machine`] is the chain as a state machine that is driven from outside: it says what it wants next and is told what
//! came of it. `repeat` sees that a call was made before, `spoken` reads the calls that small models write as text, `prompt`
//! words the questions, `asked` is the message, `classify` says whether it needs all steps, `extract` answers without any model.
//!
//! Pure: calling models, running tools and asking people is the cycle's work, so that every loop that a model could run into
//! is a test without one.

pub mod asked;
pub mod classify;
pub mod extract;
pub mod machine;
#[cfg(test)]
mod machine_tests;
mod prompt;
mod repeat;
mod spoken;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::exchange::{Form, Tool};
use crate::model::chain::{ChainStep, Role};

pub use machine::{Finished, Machine, Outcome, Skipped, Stop, Told, Want, Why};
pub use prompt::quoted;

/// How many steps answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One: the first that is there and says something.
    Simple,
    /// All of them, one after the other.
    Reflexive,
    /// None: the members of a council vote.
    Council,
}

impl Mode {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Reflexive => "reflexive",
            Self::Council => "council",
        }
    }
}

/// One step, as the settings have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// The `[models.NAME]` that thinks.
    pub model: String,
    /// What it is to do.
    pub role: Role,
    /// Most calls of the model, at least 1.
    pub turns: u32,
}

impl From<&ChainStep> for Step {
    fn from(step: &ChainStep) -> Self {
        Self { name: step.name.clone(), model: step.model.clone(), role: step.role, turns: step.turns }
    }
}

/// A tool that is offered, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// As models see it.
    pub tool: Tool,
    /// Whether it changes something: then a person confirms every call, and what was read before may be read again.
    pub changes: bool,
    /// Arguments that are meant where none are given, an object.
    pub defaults: Value,
}

/// Something that came from outside, for models to read: never instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datum {
    /// What it is, in our words.
    pub label: String,
    /// What it says.
    pub text: String,
}

/// What all of it is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// A person is answered: what the person says. The answer is what the last step said that said anything.
    Answer(String),
    /// A document is written for an agent, by the last step that is there. It has no tools, and its answer is held to a form.
    Write(Writing),
}

/// What a document is written by.
#[derive(Clone, Debug, PartialEq)]
pub struct Writing {
    /// What the agent is told: instructions that a person trusts.
    pub instructions: String,
    /// What the agent sees, marked as data.
    pub data: String,
    /// The form of the document.
    pub form: Form,
    /// How often a document that is refused may be written once more.
    pub repairs: u32,
}

/// What a chain starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What all of it is for.
    pub task: Task,
    /// How many steps answer.
    pub mode: Mode,
    /// Most calls of models, all steps together, at least 1.
    pub turns: u32,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The tools.
    pub tools: Vec<Offer>,
    /// What all steps are shown: memories, the conversation so far.
    pub background: Vec<Datum>,
    /// What instructions of an answer end with; may be empty. Ours, or a text that a person trusts.
    pub steering: String,
    /// Most bytes of what steps said and tools gave that one question holds, and most of an exchange of calls.
    pub room: usize,
}

/// A call of a tool and what came of it, as the answer lists it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ToolUse {
    /// The tool's name, as it was called.
    pub name: String,
    /// Its arguments.
    pub args: Value,
    /// What it gave; an object with `error` if it failed.
    pub result: Value,
}
