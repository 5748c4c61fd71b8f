//! Which commit brought a decision: who says that somebody decided is held against the author of that commit, wherever the ref came from.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cycle, CycleError};
use crate::store::CommitId;

/// The walk along the commits of decisions, newest first, as far as it was needed.
#[derive(Debug, Default)]
pub(super) struct Walk {
    tip: Option<CommitId>,
    open: Vec<CommitId>,
    visited: BTreeSet<CommitId>,
    found: BTreeMap<String, CommitId>,
}

impl Cycle {
    /// The commit that added the decision at a path. Costs the decisions since, once for a command.
    pub(super) fn decision_added_by(&self, path: &str) -> Result<Option<CommitId>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(None) };
        let mut walk = self.decisions_walked.borrow_mut();
        if walk.tip != Some(tip) {
            *walk = Walk { tip: Some(tip), open: vec![tip], ..Walk::default() };
        }
        while !walk.found.contains_key(path) {
            let Some(id) = walk.open.pop() else { return Ok(None) };
            if !walk.visited.insert(id) {
                continue;
            }
            let commit = self.store.commit(id)?;
            // A merge brings what its parents have, and nothing of its own.
            if commit.parents.len() < 2 {
                for path in self.added(&commit)? {
                    walk.found.insert(path, id);
                }
            }
            walk.open.extend(commit.parents.iter().rev());
        }
        Ok(walk.found.get(path).copied())
    }
}
