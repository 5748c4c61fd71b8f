//! Subjects: people and customers whose memories are sealed under keys of their own.

use clap::{Args, Subcommand};

use super::Writer;

/// `subject`.
#[derive(Debug, Args)]
pub struct Subject {
    /// The action.
    #[command(subcommand)]
    pub action: SubjectAction,
}

/// An action on subjects.
#[derive(Debug, Subcommand)]
pub enum SubjectAction {
    /// Add a subject with a new key, or take its key from another machine
    Add {
        /// The name
        name: String,
        /// The subject's key, as `subject key` printed it on another machine; `-` reads it from standard input, which keeps it out of the shell's
        /// history
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
    /// List subjects, with the memories that are sealed for each
    List,
    /// Print all memories of a subject
    Show {
        /// The name, or the id
        name: String,
    },
    /// Print a subject's key for another machine
    Key {
        /// The name, or the id
        name: String,
    },
    /// Destroy the keys of subjects, here and on each machine that syncs
    ///
    /// Without its key nothing that was sealed for a subject can be read again, in any clone and in all of history. This cannot be undone.
    Forget {
        /// The names, or the ids
        #[arg(required = true)]
        names: Vec<String>,
        /// Options of every writer.
        #[command(flatten)]
        writer: Writer,
    },
}
