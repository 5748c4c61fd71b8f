//! `sync`: this brain and another repository of it.

use serde::Serialize;

use super::{Brain, BrainError};

/// What `sync` did.
#[derive(Clone, Debug, Serialize)]
pub struct SyncReport {
    /// The remote's name here.
    pub remote: String,
    /// Commits that came in.
    pub fetched: usize,
    /// Branches that the remote got, with what they are there now; null: removed, because their run is in wake.
    pub pushed: Vec<PushedBranch>,
    /// Main's tip.
    pub main: Option<String>,
    /// Wake's tip.
    pub wake: Option<String>,
    /// True if main or wake moved here.
    pub moved: bool,
    /// Main's old tip, where the remote's was not its descendant: kept under `refs/git-brain/rescue/`.
    pub rescued: Option<String>,
    /// How often somebody else pushed first.
    pub races: usize,
    /// True if nothing was moved.
    pub dry_run: bool,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<String>,
    /// Why other machines may refuse what is committed here.
    pub warnings: Vec<String>,
}

/// A branch that the remote got.
#[derive(Clone, Debug, Serialize)]
pub struct PushedBranch {
    /// The branch.
    pub branch: String,
    /// What it is there now.
    pub commit: Option<String>,
}

impl Brain {
    /// Brings this brain and a remote to the same main and wake; with `without_refused`, after leaving out the commits here that the remote
    /// would refuse.
    pub fn sync(&self, remote: Option<&str>, without_refused: bool, dry_run: bool) -> Result<SyncReport, BrainError> {
        let synced = self.cycle.sync(remote, without_refused, dry_run)?;
        let text = |id: crate::store::CommitId| id.to_string();
        let pushed = |(branch, commit): (crate::store::Branch, Option<_>)| PushedBranch {
            branch: branch.to_string(),
            commit: commit.map(text),
        };
        Ok(SyncReport {
            remote: synced.remote,
            fetched: synced.fetched,
            pushed: synced.pushed.into_iter().map(pushed).collect(),
            main: synced.main.map(text),
            wake: synced.wake.map(text),
            moved: synced.moved,
            rescued: synced.rescued.map(text),
            races: synced.races,
            dry_run,
            notes: synced.notes,
            warnings: self.warnings()?,
            left: synced.left.into_iter().map(|left| format!("{} ({})", left.path, left.reason)).collect(),
        })
    }
}
