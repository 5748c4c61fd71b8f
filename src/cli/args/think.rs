//! Thinking with models: which there are.

use clap::Args;

/// `models`.
#[derive(Debug, Args)]
pub struct Models {
    /// Models of the settings; all if none is named.
    pub names: Vec<String>,
    /// Ask each one short question, which costs what it costs.
    #[arg(long)]
    pub test: bool,
    /// Print the definition of one of the program's own agents that thinks with the model, to be committed as agents/AGENT.json.
    #[arg(long, value_name = "AGENT", conflicts_with = "test")]
    pub define: Option<String>,
}
