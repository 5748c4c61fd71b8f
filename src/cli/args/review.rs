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
