//! Conversations.

use clap::{Args, ValueEnum};

use super::Writer;

/// `chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// What to say; `-` reads standard input. Without it, a conversation on the terminal.
    pub message: Option<String>,
    /// The conversation to go on with, or to begin; a new one by default.
    #[arg(long, value_name = "C")]
    pub conversation: Option<String>,
    /// How many steps of the chain answer: one, all, or as the message needs.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Mode::Auto)]
    pub mode: Mode,
    /// What kind of message it is: those that the settings list are answered by all steps.
    #[arg(long, value_name = "C")]
    pub category: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// How many steps answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// As the message needs.
    Auto,
    /// One.
    Simple,
    /// All.
    Reflexive,
}
