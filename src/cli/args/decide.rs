//! What people decide: what is trusted, approved, rejected, taken back and brought back.

use clap::Args;

use super::Writer;

/// `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// The neuron's id.
    pub neuron: String,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `approve`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("approved").required(true).args(["what", "origin"])))]
pub struct Approve {
    /// The branch, `sleep/RUN`; or neurons whose origin is not trusted.
    pub what: Vec<String>,
    /// All neurons and runs of this origin, or of this class of origins.
    #[arg(long, value_name = "CLASS[:DETAIL]")]
    pub origin: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `revert`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("reverted").required(true).args(["what", "run", "origin"])))]
pub struct Revert {
    /// A run, or its commit.
    pub what: Option<String>,
    /// The same.
    #[arg(long, value_name = "RUN", hide = true)]
    pub run: Option<String>,
    /// All runs of this origin, or of this class of origins, and what descends from them.
    #[arg(long, value_name = "CLASS[:DETAIL]")]
    pub origin: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `reject`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  git brain reject agents/memory/20261125t140116623z-gyefw5fd-memory")]
pub struct Branch {
    /// A run that waits, or its branch `agents/NAME/RUN`; or the branch of a sleep, `sleep/RUN`.
    pub branch: String,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `trust`.
#[derive(Debug, Args)]
pub struct Trust {
    /// Only list what is trusted and what is not.
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Trust all that is listed without asking, for scripts; refused inside of a program or a hook that git-brain started.
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    pub yes: bool,
    /// Forget all trust in this brain.
    #[arg(long)]
    pub revoke: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}
