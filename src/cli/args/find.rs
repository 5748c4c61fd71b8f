//! `find`.

use clap::Args;

/// `find`.
#[derive(Debug, Args)]
#[command(
    after_help = "Memories are for `git brain recall`.\n\nExamples:\n  git brain find tea\n  git brain find green tea --top 3"
)]
pub struct Find {
    /// The words, or how they begin; in any form, without quotes.
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// How many concepts; `recall.top` by default.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}
