//! The code that a text was said about: the branch and commit of the checkout, and the lines that it cites.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// The checkout of code in which something was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// The branch that was checked out; absent: none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that was checked out.
    pub commit: String,
    /// The lines that the text cites, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<Cite>,
}

/// Lines of a file, as they were. Their text is not kept: git has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cite {
    /// The file's path from the root of the checkout.
    pub path: String,
    /// The first line, from 1.
    pub line: u32,
    /// The number of lines; absent: one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub lines: u32,
    /// The file's content, as git names it.
    pub blob: String,
    /// A hash of the lines.
    pub hash: String,
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

impl Cite {
    /// The same lines elsewhere, as people write it: `src/store.rs:42-50`.
    pub fn at(&self, path: &str, line: u32) -> String {
        match self.lines {
            1 => format!("{path}:{line}"),
            lines => format!("{path}:{line}-{}", line.saturating_add(lines - 1)),
        }
    }
}

impl fmt::Display for Cite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at(&self.path, self.line))
    }
}

impl Code {
    /// Checks what a file says.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_id = |id: &str, digits: usize| {
            id.len() == digits && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        if let Some(branch) = self.branch.as_ref().filter(|branch| !is_plain(branch, limits::LABEL_BYTES)) {
            return Err(format!("branch {branch:?} is no name of a branch"));
        }
        if !is_id(&self.commit, 40) {
            return Err("commit is no id of a commit".to_owned());
        }
        if self.cites.len() > limits::CITES {
            return Err(format!("cites has {} places, more than {}", self.cites.len(), limits::CITES));
        }
        for cite in &self.cites {
            let is_inside = cite.path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            if !is_inside || !is_plain(&cite.path, limits::CITED_PATH_BYTES) {
                return Err(format!("{:?} is no path in a checkout", cite.path));
            }
            let is_bounded = cite.line > 0 && (1..=limits::CITED_LINES).contains(&cite.lines);
            if !is_bounded || !is_id(&cite.blob, 40) || !is_id(&cite.hash, 16) {
                return Err(format!("{cite} has no lines, more than {}, or ids that are none", limits::CITED_LINES));
            }
        }
        Ok(())
    }
}

fn is_plain(text: &str, most: usize) -> bool {
    !text.is_empty() && text.len() <= most && !text.chars().any(char::is_control)
}
