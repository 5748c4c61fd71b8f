//! Arguments of `integrity` and `council`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `council`.
#[derive(Debug, Args)]
pub struct Council {
    /// A JSON document with the question, the members with their families, and the votes; `-` reads standard input.
    #[arg(default_value = "-")]
    pub file: PathBuf,
}

/// `integrity`.
#[derive(Debug, Args)]
pub struct Integrity {
    /// The action.
    #[command(subcommand)]
    pub action: IntegrityAction,
}

/// An action of `integrity`. `-` reads standard input.
#[derive(Debug, Subcommand)]
pub enum IntegrityAction {
    /// Measure a text by five metrics
    Measure {
        /// The text.
        #[arg(default_value = "-")]
        file: PathBuf,
        /// Its language: en, ja or fr; by default what it looks like.
        #[arg(long, value_name = "LANG")]
        lang: Option<String>,
        /// An earlier text of the same mind: whether it has left its rituals since.
        #[arg(long, value_name = "FILE")]
        since: Option<PathBuf>,
    },
    /// Print a text without apologies beyond two, and without mentions of being a model
    Filter {
        /// The text.
        #[arg(default_value = "-")]
        file: PathBuf,
        /// Its language: en, ja or fr; by default what it looks like.
        #[arg(long, value_name = "LANG")]
        lang: Option<String>,
    },
    /// Judge replies to cases, one JSON document a line
    Evaluate {
        /// The replies.
        #[arg(default_value = "-")]
        file: PathBuf,
        /// Print the cases instead, to be answered: fifty of each category.
        #[arg(long)]
        cases: bool,
    },
    /// Print the penalty of each sample of a training set, one JSON document a line
    Score {
        /// The samples.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Show the drift of what models said, day by day
    Report {
        /// One agent alone; `chat` is what the brain answered.
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
}
