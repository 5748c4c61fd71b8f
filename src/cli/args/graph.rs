//! The arguments of `graph`.

use clap::{Args, ValueEnum};

/// `graph`.
#[derive(Debug, Args)]
#[command(
    long_about = "Draw a neighbourhood, a run or a recall as a picture\n\nA neuron's id draws what is around it, a run's id or \
                        branch what the run changed or would change, and any other words draw the ways by which recall \
                        answers them. Without words the most salient neurons are drawn. The same commit has the same picture."
)]
pub struct Graph {
    /// A neuron, a run, or a question; needs no quotes.
    #[arg(value_name = "NEURON|RUN|QUESTION")]
    pub about: Vec<String>,
    /// The format.
    #[arg(long, value_enum, default_value_t)]
    pub format: GraphFormat,
    /// Most neurons; of a recall, most answers.
    #[arg(short = 'n', long, value_name = "N")]
    pub number: Option<usize>,
    /// Take the words for a question, even if a neuron or a run is called so.
    #[arg(long, requires = "about")]
    pub recall: bool,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Mark the differences to this commit, and begin with them.
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A picture for browsers and documents, light or dark as its reader's system is.
    #[default]
    Svg,
    /// A flowchart for Markdown.
    Mermaid,
    /// A document for Gephi, yEd and Cytoscape.
    Graphml,
    /// A graph for Graphviz.
    Dot,
}
