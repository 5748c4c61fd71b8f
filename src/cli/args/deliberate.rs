//! Arguments of what agents start with, and of what they deliberate on.

use clap::Args;

use super::Writer;

/// `deliberate`.
#[derive(Debug, Args)]
pub struct Deliberate {
    /// The goal: lowercase letters, digits, `-` and `_`.
    #[arg(required_unless_present_any = ["handoffs", "answer"])]
    pub goal: Option<String>,
    /// Words of topics, one a tree; by default those of earlier cycles, or the concepts with most memories.
    #[arg(long, value_name = "TOPIC,…", value_delimiter = ',')]
    pub trees: Vec<String>,
    /// Number of cycles.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub cycles: u32,
    /// An agent whose cognition is a deliberation, instead of you.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Show what the gates say of a delta on the topic of `--trees`, and run no cycle; `-` reads standard input.
    #[arg(long, value_name = "FILE", requires = "trees", conflicts_with_all = ["cycles", "agent"])]
    pub examine: Option<std::path::PathBuf>,
    /// Show the forest that earlier cycles have left, and run none.
    #[arg(long, conflicts_with_all = ["trees", "cycles", "agent", "dry_run"])]
    pub show: bool,
    /// List the questions that wait for a person or a watching agent.
    #[arg(long, conflicts_with_all = ["goal", "show"])]
    pub handoffs: bool,
    /// Answer such a question with a JSON document; `-` reads standard input.
    #[arg(long, num_args = 2, value_names = ["ID", "FILE"], conflicts_with_all = ["goal", "show", "handoffs"])]
    pub answer: Vec<String>,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `events`.
#[derive(Debug, Args)]
pub struct Events {
    /// The goal; by default all.
    pub goal: Option<String>,
    /// Print those that come, until you stop it.
    #[arg(long)]
    pub follow: bool,
}

/// `prime`.
#[derive(Debug, Args)]
pub struct Prime {
    /// Most tokens.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub tokens: usize,
    /// Words that say what the work is about, such as the names of a repository and its branch.
    #[arg(long, value_name = "TEXT")]
    pub about: Option<String>,
    /// Lessons of this agent alone.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Tell what is new since this commit or branch.
    #[arg(long, value_name = "REV", conflicts_with = "client")]
    pub since: Option<String>,
    /// Tell what is new since this client asked last, on this machine.
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
}
