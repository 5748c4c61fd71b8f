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
#[command(
    after_help = "Examples:\n  git brain approve agents/memory/RUN --why \"checked with Anna\"\n  git brain approve RUN --only 1,3\n  git brain approve RUN --take run\n  git brain approve --origin http"
)]
pub struct Approve {
    /// A run that waits, by its branch or its id; a branch of a sleep, `sleep/RUN`; the id of a council that waits; or neurons whose origin is
    /// not trusted.
    pub what: Vec<String>,
    /// All neurons and runs of this origin, or of this class of origins.
    #[arg(long, value_name = "CLASS[:DETAIL]")]
    pub origin: Option<String>,
    /// Reason, in words: a lesson for the agent of a run; of an origin or of neurons, `git brain why` shows it.
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    /// Keep the words that do not land out of the decision, so that neither machines nor agents are told them: for secrets, and talk about people.
    #[arg(long, conflicts_with = "origin")]
    pub forget: bool,
    /// Let only these operations of the run land, and of its answers to signals those that are named: numbers and ranges as `git brain review` has them (1,3-5), or the id of a neuron, which stands for
    /// its own operations and those that make what it leads to.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', conflicts_with = "origin")]
    pub only: Vec<String>,
    /// Settle conflicts: `run` or `wake` for all that is left, `N=run` for one by its number.
    #[arg(long, value_name = "[N=]SIDE", value_delimiter = ',', conflicts_with = "origin")]
    pub take: Vec<String>,
    /// Land this delta document instead of the run's own; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["origin", "only", "take"])]
    pub document: Option<std::path::PathBuf>,
    /// Refuse if the run's commit is another one than this.
    #[arg(long, value_name = "COMMIT", conflicts_with = "origin")]
    pub at: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

impl Approve {
    /// Whether it says something of one run that waits.
    pub fn of_one_run(&self) -> bool {
        !self.only.is_empty() || !self.take.is_empty() || self.document.is_some() || self.at.is_some() || self.forget
    }
}

/// `reject`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git brain reject agents/memory/RUN --why \"a rumour without a source\"\n  git brain reject RUN --forget --why \"a password\""
)]
pub struct Reject {
    /// Runs that wait, each by its branch or its id; or a branch of a sleep, `sleep/RUN`; or the id of a council that waits.
    #[arg(required = true, value_name = "RUN")]
    pub branches: Vec<String>,
    /// Reason, in words: a lesson for the agent.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub why: String,
    /// Keep the words that do not land out of the decision, so that neither machines nor agents are told them: for secrets, and talk about people.
    #[arg(long)]
    pub forget: bool,
    /// Refuse if the run's commit is another one than this.
    #[arg(long, value_name = "COMMIT")]
    pub at: Option<String>,
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
