//! What a `git revert` may take back. It is the only way by which a file that is written once may go, so it is taken at its
//! word: all that the commit which it names brought goes, and nothing else of the network is touched.

use std::collections::{HashMap, HashSet};

use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::cycle::trailers::SLEEP_TRAILER;
use crate::model::layout::{self, Place};
use crate::store::{Commit, CommitId, File, FileChange, TreeId};

/// What git writes into the message of a revert.
pub(crate) const SAYS: &str = "This reverts commit ";

impl Judge<'_> {
    /// The commit that a revert names, and what its message says from there on.
    fn named_by<'c>(&self, commit: &'c Commit) -> Result<Option<(Commit, &'c str)>, CycleError> {
        let store = &self.cycle.store;
        let Some((_, rest)) = commit.message.split_once(SAYS) else { return Ok(None) };
        let Some(named) = rest.get(..40).and_then(|id| CommitId::parse(id).ok()) else { return Ok(None) };
        // It must be one that the commit descends from: anything else could be made up for the purpose.
        let is_below = named != commit.id && store.commit(named).is_ok() && store.is_ancestor(named, commit.id)?;
        Ok(if is_below { Some((store.commit(named)?, rest)) } else { None })
    }

    /// Refuses to take back a night by hand: what it brought to main wake has as well, and would lose.
    pub(super) fn night_by_hand(&mut self, commit: &Commit) -> Result<(), CycleError> {
        if let Some((named, _)) = self.named_by(commit)?
            && named.trailer(SLEEP_TRAILER).is_some()
        {
            let message = "takes back a night by hand, and its day would go from every wake: `git brain sleep --undo` takes it back".to_owned();
            self.fault_of(Kind::WrittenOnce, commit, "", 0, message);
        }
        Ok(())
    }

    /// The files that a commit may remove because it reverts the one that brought them. None, if it is no revert.
    pub(super) fn reverted(
        &self,
        commit: &Commit,
        before: TreeId,
        changes: &[FileChange],
    ) -> Result<HashSet<String>, CycleError> {
        let store = &self.cycle.store;
        let Some((named, rest)) = self.named_by(commit)? else { return Ok(HashSet::new()) };
        if named.trailer(SLEEP_TRAILER).is_some() {
            return Ok(HashSet::new());
        }
        // Of a merge, git says which side's changes it takes back; else they are those from the first parent.
        let mainline = named.parents.iter().find(|parent| rest.contains(&parent.to_string())).or(named.parents.first());
        let Some(mainline) = mainline else { return Ok(HashSet::new()) };
        let brought = store.diff(Some(store.tree_of(*mainline)?), Some(named.tree), layout::NETWORK)?;
        let after: HashMap<&str, Option<File>> =
            changes.iter().map(|change| (change.path.as_str(), change.new)).collect();
        for change in &brought {
            let now = store.file(before, &change.path)?;
            // What somebody changed since is for whoever reverts to settle.
            let becomes = after.get(change.path.as_str()).copied().unwrap_or(now);
            if now == change.new && becomes != change.old {
                return Ok(HashSet::new());
            }
        }
        let of_it: HashSet<&str> = brought.iter().map(|change| change.path.as_str()).collect();
        let beside =
            |change: &&FileChange| change.path.starts_with("network/") && !of_it.contains(change.path.as_str());
        if changes.iter().any(|change| beside(&change)) {
            return Ok(HashSet::new());
        }
        let gone: HashSet<String> =
            brought.into_iter().filter(|change| change.old.is_none()).map(|change| change.path).collect();
        // What is left of a run that was thrown away or amended stands for that decision.
        let settings = self.main.map(|main| self.settings_of(main)).transpose()?.flatten().unwrap_or_default();
        let may = |email: &String| settings.review.names(email);
        // Who threw it away may take that back, also if main names others by now: a decision that gives way does so.
        if settings.review.names_reviewers() && !may(&commit.email) && named.email != commit.email {
            for path in &gone {
                if let Place::Run(run) = Place::of(path)
                    && self.record(before, &run)?.is_some_and(|record| record.is_left_over())
                {
                    return Ok(HashSet::new());
                }
            }
        }
        Ok(gone)
    }
}
