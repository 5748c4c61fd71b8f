//! Wisdom: seeds that were learnt, and bundles of them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Writer;

/// `wisdom`.
#[derive(Debug, Args)]
pub struct Wisdom {
    /// The action.
    #[command(subcommand)]
    pub action: WisdomAction,
}

/// An action on seeds.
#[derive(Debug, Subcommand)]
pub enum WisdomAction {
    /// List seeds, the surest first
    List {
        /// Words of a case; only seeds that apply to it, the best first
        about: Vec<String>,
        /// Also seeds that are unproven, retired or forgotten; with words, those that have any of them
        #[arg(long)]
        all: bool,
    },
    /// Show what speaks for and against a seed, down to the words
    Why {
        /// The seed, or the beginning of its id
        seed: String,
    },
    /// Rank what goes with a good outcome, or with another effect
    Causes {
        /// Words that the case must have; none: all cases
        about: Vec<String>,
        /// The effect: `well`, `badly`, or a word of an outcome
        #[arg(long, default_value = "well", value_name = "EFFECT")]
        effect: String,
        /// Causes to list
        #[arg(short = 'n', long, default_value_t = 12)]
        number: usize,
    },
    /// State a seed yourself
    Teach {
        /// The case
        #[arg(long, value_name = "CASE")]
        when: String,
        /// The action
        #[arg(long = "do", value_name = "ACTION", conflicts_with = "avoid", required_unless_present = "avoid")]
        action: Option<String>,
        /// The action, as one to avoid
        #[arg(long, value_name = "ACTION")]
        avoid: Option<String>,
        /// The effect
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
    /// Stop telling seeds to agents
    Forget {
        /// The seeds, or the beginnings of their ids
        #[arg(required = true)]
        seeds: Vec<String>,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
    /// Distil seeds from past outcomes now, as every sleep does
    Distil {
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
    /// Print a signed bundle of the best seeds for another brain
    Export {
        /// Days that it is good for
        #[arg(long, default_value_t = 90)]
        days: u32,
        /// Print the public key of this brain's bundles instead
        #[arg(long)]
        key: bool,
    },
    /// Take over the seeds of another brain's bundle, with half the confidence
    Inherit {
        /// The bundle; `-` is standard input
        file: PathBuf,
        /// The teacher's public key
        #[arg(long, value_name = "KEY")]
        key: String,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
}
