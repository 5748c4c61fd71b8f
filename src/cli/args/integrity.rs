//! Arguments of `integrity` and `council`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Writer;

/// `council`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("action").required(true).args(["question", "branch", "votes", "list", "show", "outcome", "keys"])))]
pub struct Council {
    /// The question, to be answered by yes or no; needs no quotes. Members are shown memories that it recalls.
    pub question: Vec<String>,
    /// Ask whether a waiting run shall land, by its branch or its id. Where `[review] council` names the council, its decision is carried out; else the
    /// verdict is shown by `git brain review`, and lands nothing by itself.
    #[arg(long, value_name = "RUN")]
    pub branch: Option<String>,
    /// The document of members, a file on main: council.json or councils/NAME.json. By default council.json, else three rules of git-brain.
    #[arg(long, value_name = "FILE")]
    pub members: Option<String>,
    /// Seconds that members have, 1 to 3600. A member that is not done by then is absent.
    #[arg(long, value_name = "S", default_value_t = crate::limits::COUNCIL_TIMEOUT_S)]
    pub timeout: u64,
    /// Count votes that were collected already: a JSON document with the question, the members with their families, and the votes; `-` reads
    /// standard input. Needs no brain.
    #[arg(long, value_name = "FILE")]
    pub votes: Option<PathBuf>,
    /// List councils, newest first.
    #[arg(long)]
    pub list: bool,
    /// List only those that wait for a person.
    #[arg(long, requires = "list")]
    pub pending: bool,
    /// List only those whose question, or a person's reason, has all these words.
    #[arg(long, value_name = "WORDS", requires = "list")]
    pub about: Option<String>,
    /// Councils to list.
    #[arg(short = 'n', value_name = "N", default_value_t = 20, requires = "list", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: u32,
    /// Print the public keys of members that are kept on this machine, for `key` in the document of members.
    #[arg(long)]
    pub keys: bool,
    /// Show a council with its members, its votes and the memories that they cite, and closings.
    #[arg(long, value_name = "ID")]
    pub show: Option<String>,
    /// Say how the decision of a council turned out: right or wrong. Errors that members share count against them later.
    #[arg(long, num_args = 2, value_names = ["ID", "OUTCOME"])]
    pub outcome: Vec<String>,
    /// Reason of an outcome, in words.
    #[arg(long, value_name = "TEXT", requires = "outcome")]
    pub why: Option<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
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
    ///
    /// Says as well what the next prompt of each speaks of, whether plain predictions come true more often than hedged ones, and which changes of
    /// mind had no new evidence.
    Report {
        /// One agent alone; `chat` is what the brain answered.
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Write the drift as a picture to this file as well.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
}
