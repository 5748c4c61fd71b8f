//! Coding agents: what their hooks say and are answered, their transcripts as turns, and the settings that join them to a brain. Place in the
//! flow: a hook's JSON → **client** → `prime`, `recall` or stimuli; and the text of a settings file → **client** → the same text with our entries.
//! Must not know the brain, and reads or writes no file.
//!
//! - `call`: a hook's input, and its answer; `transcript`: turns of a conversation
//! - `plan`: files of a set-up; `edit`: one file's text with and without our entries, by `jsonc`, `table` and `fence`

mod call;
pub mod edit;
mod plan;
mod transcript;

pub use call::{Call, Moment, answer};
pub use plan::{PlannedFile, Purpose, Root, Scope, plan, remarks};
pub use transcript::{Said, Turn, turns};

use std::fmt;
use std::str::FromStr;

/// A coding agent that can be joined to a brain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex, in its command line and editors.
    Codex,
    /// Cursor.
    Cursor,
    /// GitHub Copilot in VS Code.
    Vscode,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
}

impl Client {
    /// The client that a program of the tool protocol is a part of, by the name that it says: `codex-mcp-client` is Codex'.
    pub fn of_program(name: &str) -> Option<Self> {
        let is_of = |client: &&Self| {
            let rest = name.strip_prefix(client.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let code = (name == "visual-studio-code").then_some(Self::Vscode);
        Self::ALL.iter().find(is_of).copied().or(code)
    }

    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Vscode, Self::Opencode, Self::Gemini];

    /// The word of the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
        }
    }

    /// The name as people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Opencode => "OpenCode",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// The client's own names of its events, in the order of a session.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"],
            Self::Codex => &["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"],
            Self::Cursor => &["sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"],
            Self::Vscode => &["SessionStart", "UserPromptSubmit", "PreCompact", "Stop"],
            Self::Opencode => &["start", "prompt", "idle"],
            Self::Gemini => &["SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"],
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Client {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|client| client.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("{text:?} is none of {names}")
        })
    }
}
