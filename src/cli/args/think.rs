//! Thinking with models.

use clap::{Args, ValueEnum};

/// `models`.
#[derive(Debug, Args)]
pub struct Models {
    /// Models of the settings; all if none is named.
    pub names: Vec<String>,
    /// Ask each one a short question, at its price.
    #[arg(long)]
    pub test: bool,
    /// Print the definition of one of the program's own agents, or of a narrator, that thinks with the model, to be committed as
    /// agents/AGENT.json.
    #[arg(long, value_name = "AGENT", conflicts_with = "test")]
    pub define: Option<String>,
    /// With --define: let it think with this in place of a model of the settings.
    #[arg(long, value_name = "WITH", requires = "define", conflicts_with = "names")]
    pub preset: Option<Preset>,
}

/// A way to think without a model of the settings.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Preset {
    /// `claude -p`, a coding agent that you are logged in to.
    Claude,
    /// `codex exec`, the same.
    Codex,
    /// The steps of the chain.
    Chain,
}
