//! `setup`.

use clap::Args;

use super::Writer;

/// `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// The coding agent: claude-code, codex, cursor, vscode, opencode or gemini.
    pub client: String,
    /// Set up all projects of this user, instead of this one.
    #[arg(long)]
    pub user: bool,
    /// Write the same as a plugin folder, for `claude --plugin-dir`.
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub plugin: Option<std::path::PathBuf>,
    /// Look whether it is set up, and change nothing.
    #[arg(long, conflicts_with = "remove")]
    pub check: bool,
    /// Take everything out again, to the byte.
    #[arg(long)]
    pub remove: bool,
    /// Options of every writer.
    #[command(flatten)]
    pub writer: Writer,
}
