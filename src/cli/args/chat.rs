//! Conversations.

use clap::{Args, ValueEnum};

use super::Writer;

/// `chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// The message; `-` reads standard input. Without it, a conversation on the terminal.
    pub message: Option<String>,
    /// The conversation to go on with, or to begin; a new one by default.
    #[arg(long, value_name = "C")]
    pub conversation: Option<String>,
    /// Steps of the chain that answer: one, all, or as the message needs; or the council, which votes on a question of yes or no.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Mode::Auto)]
    pub mode: Mode,
    /// The kind of the message: all steps answer the kinds that the settings list.
    #[arg(long, value_name = "C")]
    pub category: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// Number of steps that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// As the message needs.
    Auto,
    /// One.
    Simple,
    /// All.
    Reflexive,
    /// The members of council.json vote.
    Council,
}
