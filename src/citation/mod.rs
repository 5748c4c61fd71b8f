//! Citations of code in a text, such as `src/store.rs:42`: where they are, what is kept of the lines, and where the lines are in a later
//! version of their file. Place in the flow: a text and files → **citation** → what a stimulus keeps; that and files → `current`, `moved` or
//! `stale`. Must not know files or git: contents come in as texts.
//!
//! - `mention`: citations in a text; `lines`: a file's lines, their hash, and where they went

mod lines;
mod mention;

pub use lines::{cite, found_in, place};
pub use mention::{Lines, Mention, is_secret, mentions};

use serde::Serialize;

/// The state of cited lines in the present checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase", tag = "state", content = "now")]
pub enum State {
    /// They stand where the text says.
    Current,
    /// They stand elsewhere: there.
    Moved(String),
    /// They were changed, or are gone.
    Stale,
}

/// A citation of a memory, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Checked {
    /// The lines as they were cited.
    pub cite: String,
    /// Their state.
    #[serde(flatten)]
    pub state: State,
}

/// The code that a memory was said about, as it is seen from the present checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Seen {
    /// The branch on which it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether that is neither the present branch nor a part of its history.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub elsewhere: bool,
    /// The lines that it cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub cites: Vec<Checked>,
}

impl Seen {
    /// The same in sentences for people and models: how each citation is, and the branch if that is another one.
    pub fn sentences(&self) -> Vec<String> {
        let branch = self.branch.as_ref().filter(|_| self.elsewhere).map(|branch| format!("said on branch {branch}"));
        self.cites.iter().map(ToString::to_string).chain(branch).collect()
    }
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.state {
            State::Current => write!(f, "{} is current", self.cite),
            State::Moved(now) => write!(f, "{} moved to {now}", self.cite),
            State::Stale => write!(f, "{} is stale", self.cite),
        }
    }
}
