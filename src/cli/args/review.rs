//! `pr`.

use clap::Args;

use super::Writer;

/// `pr`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git brain pr --dry-run\n  git brain pr agents/memory/20261125t140116623z-gyefw5fd-memory --remote origin"
)]
pub struct Pr {
    /// Runs that wait, or their branches; by default all that wait for review.
    #[arg(value_name = "BRANCH")]
    pub branches: Vec<String>,
    /// A remote's name, or an address; by default the one that `sync` takes.
    #[arg(long, value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `review`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git brain review\n  git brain review agents/memory/RUN\n  git brain review -i\n  git brain review RUN --why \"no source\"\n  git brain review RUN --forget\n  git brain review RUN --again\n  git brain review RUN --format html > review.html"
)]
pub struct Review {
    /// Runs, by branch or id: those that wait, or of wake. Without any, the list of those that wait.
    pub runs: Vec<String>,
    /// Go through the runs that wait, one after the other, and decide.
    #[arg(short, long, conflicts_with_all = ["format", "edit", "decided"])]
    pub interactive: bool,
    /// Edit what the run proposes, as a delta document, and let that land instead.
    #[arg(long, requires = "runs", conflicts_with_all = ["format", "decided"])]
    pub edit: bool,
    /// Print it as text, Markdown or HTML.
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub format: ReviewFormat,
    /// Fold nothing.
    #[arg(long)]
    pub all: bool,
    /// Do not ask recall what it would answer differently.
    #[arg(long)]
    pub no_questions: bool,
    /// List the decisions that were made, newest first.
    #[arg(long, conflicts_with_all = ["runs", "format"])]
    pub decided: bool,
    /// Number of decisions.
    #[arg(short = 'n', long, default_value_t = 20, requires = "decided")]
    pub number: usize,
    /// Reason, in words: a lesson for the agent. With --edit that of the decision; else of the one that you made on RUN before.
    #[arg(long, value_name = "TEXT", requires = "runs", conflicts_with_all = ["interactive", "format", "decided"])]
    pub why: Option<String>,
    /// With --edit, keep the words that do not land out of the decision; else take back those of the decision on RUN: machines and agents are told
    /// them no more.
    #[arg(long, requires = "runs", conflicts_with_all = ["interactive", "format", "decided"])]
    pub forget: bool,
    /// Take back the rejection of RUN: what it says becomes a run of yours, and its words no longer count as kept out.
    #[arg(long, requires = "runs", conflicts_with_all = ["interactive", "format", "decided", "edit", "forget"])]
    pub again: bool,
    /// With --again, write nothing.
    #[arg(long, requires = "again")]
    pub dry_run: bool,
}

/// Form of a belief diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReviewFormat {
    /// For a terminal.
    Text,
    /// For a forge.
    Markdown,
    /// A whole page for a browser.
    Html,
}

/// `ci`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git brain ci\n  git brain ci --no-forge --dry-run")]
pub struct Ci {
    /// A remote's name, or an address; by default the one to sync with.
    #[arg(long, value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Ask no forge: sync, merge runs that wait for no person, and carry out decisions that synced.
    #[arg(long)]
    pub no_forge: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}
