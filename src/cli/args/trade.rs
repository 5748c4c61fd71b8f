//! Moving in and out.

use std::path::PathBuf;

use clap::Args;

use super::Writer;

/// `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// A file or a folder; `-` reads standard input
    ///
    /// Its format is recognised from its content. Memories of other programs come in as stimuli of the origin import:FORMAT: what was imported
    /// once is not imported again. What cannot be held is listed at the end, and stops nothing else. A document of git-brain and triples bring
    /// neurons, all of them or none.
    #[arg(value_name = "PATH", required_unless_present = "triples")]
    pub file: Option<PathBuf>,
    /// The format, see below
    #[arg(long, value_name = "FORMAT", conflicts_with = "triples")]
    pub format: Option<String>,
    /// Triples {subject, relation, object, source}, one JSON object a line.
    #[arg(long, value_name = "F.jsonl", conflicts_with = "file")]
    pub triples: Option<PathBuf>,
    /// The first source of the memories; import:FORMAT by default. The settings say how far that is trusted
    #[arg(long, value_name = "CLASS[:DETAIL]", conflicts_with = "triples")]
    pub origin: Option<String>,
    /// Only store memories; run no agents.
    #[arg(long, conflicts_with = "triples")]
    pub no_run: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}

/// `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The format, see below; the document of git-brain by default
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Write to this file, or into this new folder, instead of standard output
    #[arg(long, value_name = "PATH")]
    pub to: Option<PathBuf>,
    /// The commit; wake by default.
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}
