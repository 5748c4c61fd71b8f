//! `find`.

use clap::Args;

/// `find`.
#[derive(Debug, Args)]
pub struct Find {
    /// The words, or how they begin; in any form, without quotes.
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Concepts to print; `recall.top` by default.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}
