//! `[forge]`: where requests for review are opened.

use serde::{Deserialize, Serialize};

use crate::limits;

/// The words for `forge.kind`.
pub const FORGES: [&str; 5] = ["github", "gitlab", "forgejo", "gitea", "radicle"];

/// `[forge]`: requests for review. A token goes where this says, so it is inert in `brain.toml` until trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Forge {
    /// Which forge it is: `github`, `gitlab`, `forgejo`, `gitea` or `radicle`; empty: as the remote's address says.
    pub kind: String,
    /// The address of its interface, such as `https://git.example.org/api/v1`; empty: at the remote's host.
    pub url: String,
    /// The repository there, `owner/name`; empty: as the remote's address says.
    pub repository: String,
    /// Longest time that one request to it takes, milliseconds.
    pub timeout_ms: u64,
}

impl Default for Forge {
    fn default() -> Self {
        let (kind, url, repository) = Default::default();
        Self { kind, url, repository, timeout_ms: limits::FORGE_TIMEOUT_MS }
    }
}

impl Forge {
    /// Whether it says where tokens go.
    pub fn sends(&self) -> bool {
        !(self.kind.is_empty() && self.url.is_empty() && self.repository.is_empty())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if !self.kind.is_empty() && !FORGES.contains(&self.kind.as_str()) {
            return Err(format!("forge.kind = {:?} is not one of {}", self.kind, FORGES.join(", ")));
        }
        let (wait, longest) = (self.timeout_ms, limits::FORGE_TIMEOUT_MAX_MS);
        if wait == 0 || wait > longest {
            return Err(format!("forge.timeout_ms = {wait} is not between 1 and {longest}"));
        }
        Ok(())
    }
}
