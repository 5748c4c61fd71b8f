//! Arguments of `signals`.

use clap::Args;

/// `signals`.
#[derive(Debug, Args)]
pub struct Signals {
    /// Signals to list, the newest first.
    #[arg(short = 'n', long, default_value_t = 20)]
    pub number: usize,
    /// Only those to or from this agent.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// Only those without an answer.
    #[arg(long)]
    pub unanswered: bool,
    /// Send the signals of this run again, and run the agents that they wake.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["agent", "unanswered", "at"])]
    pub replay: Option<String>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}
