//! Feeding.

use std::path::PathBuf;

use clap::Args;

use super::Writer;

/// `feed`.
#[derive(Debug, Args)]
pub struct Feed {
    /// A text, or files, folders and patterns; `-` reads standard input
    ///
    /// A word that names a file or a folder, or a pattern that matches some, is read; other words are one text. A folder's text files are read, without
    /// hidden ones and those that git ignores. A `.jsonl` file is a batch of {"text", "at", "source", "session", "answers", "value"}. Any other is
    /// split into its paragraphs, and standard input as well. A file that is fed again replaces changed paragraphs, and archives those that are gone.
    #[arg(value_name = "PATH|TEXT|-", required_unless_present_any = ["file", "said", "gone"])]
    pub inputs: Vec<String>,
    /// A text, also if it is written like a path
    #[arg(long = "text", value_name = "TEXT")]
    pub said: Option<String>,
    /// A file, also if it is called like an option or `-`
    #[arg(long, value_name = "F")]
    pub file: Vec<PathBuf>,
    /// Archive the memories of a file that is not there any more, or of all such files of a folder
    #[arg(long, value_name = "PATH")]
    pub gone: Vec<PathBuf>,
    /// Time of the event: a moment (RFC 3339), or a date such as 2026-03-05 or yesterday, which is its noon, UTC; now by default.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// A label instead of the path of a file: the same label, session, time and text are remembered once.
    #[arg(long, value_name = "S")]
    pub source: Option<String>,
    /// The session; turns are linked inside one session.
    #[arg(long, value_name = "S")]
    pub session: Option<String>,
    /// The run whose action this answers: it is remembered, and that run's outcome; see --value.
    #[arg(long, value_name = "RUN")]
    pub answers: Option<String>,
    /// Value of that run's outcome, 0 to 1; without it the text waits for a judge
    #[arg(long, value_name = "V", requires = "answers", allow_negative_numbers = true)]
    pub value: Option<f64>,
    /// Archive this memory, and put the text in its place
    #[arg(long, value_name = "NEURON")]
    pub corrects: Option<String>,
    /// Remember a text once more though it is known
    #[arg(long)]
    pub again: bool,
    /// The first source of the text, such as web:example.org or mcp:editor; this machine by default. The settings say how far that is trusted; what
    /// they do not name, as web, waits for review
    #[arg(long, value_name = "CLASS[:DETAIL]")]
    pub origin: Option<String>,
    /// Seal the texts for this subject: they become no memories of the network, and are erased with its key; see `git brain subject --help`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["gone", "source", "session", "answers", "value", "corrects", "again", "origin", "no_run"])]
    pub subject: Option<String>,
    /// Only store it; run no agents.
    #[arg(long)]
    pub no_run: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}
