//! Decisions and their outcomes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Writer;

/// `decide`.
#[derive(Debug, Args)]
pub struct Decide {
    /// The question; needs no quotes
    #[arg(required = true, value_name = "QUESTION")]
    pub question: Vec<String>,
    /// An option; two or more
    #[arg(long = "option", short = 'o', value_name = "TEXT", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// Print the reason, and the expectation of each option
    #[arg(long)]
    pub why: bool,
}

/// `outcome`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("came").required(true).multiple(true).args(["value", "text"])))]
pub struct Outcome {
    /// The run.
    pub run: String,
    /// Value of the outcome, 0 to 1.
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub value: Option<f64>,
    /// The outcome in words; without a value it is kept until a person or a trusted evaluator judges it
    #[arg(long, value_name = "T")]
    pub text: Option<String>,
    /// Leave the corrective run on its branch, for review.
    #[arg(long)]
    pub no_merge: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `ledger`.
#[derive(Debug, Args)]
pub struct Ledger {
    /// Entries to list.
    #[arg(short = 'n', long, default_value_t = 20)]
    pub number: usize,
    /// Only runs of this agent.
    #[arg(long, value_name = "A")]
    pub agent: Option<String>,
    /// Only outcomes in words without a judgement
    #[arg(long)]
    pub unjudged: bool,
    /// The brain as it was at this commit.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Write a chart of expectations beside outcomes, with the story below, to a file too.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `goal`.
#[derive(Debug, Args)]
pub struct Goal {
    /// The action.
    #[command(subcommand)]
    pub action: GoalAction,
}

/// An action on goals.
#[derive(Debug, Subcommand)]
pub enum GoalAction {
    /// Set a terminal goal.
    Add {
        /// The text of the goal.
        text: String,
        /// The neuron that stands for it.
        #[arg(long, value_name = "ID")]
        neuron: Option<String>,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
    /// List all goals.
    List {
        /// The brain as it was at this commit.
        #[arg(long, value_name = "REV")]
        at: Option<String>,
    },
    /// Close a goal; reached unless said otherwise.
    Close {
        /// The goal.
        id: String,
        /// It was reached.
        #[arg(long, conflicts_with = "abandoned")]
        reached: bool,
        /// It is given up.
        #[arg(long)]
        abandoned: bool,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
}
