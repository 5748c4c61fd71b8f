//! Branches of runs at a remote: those that wait there come in, and those that are settled may go.

use super::Synced;
use crate::cycle::commit::run_of;
use crate::cycle::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::store::{Branch, CommitId, RefChange, Tips, in_the_way};

impl Cycle {
    /// Whether the branch of a settled run may be removed at a remote. One with commits that nobody decided on stays there, and is named.
    pub(super) fn may_go_there(
        &self,
        branch: &Branch,
        tip: CommitId,
        wake: CommitId,
        synced: &mut Synced,
    ) -> Result<bool, CycleError> {
        let Some(run) = run_of(&self.store.runs_prefix(), branch) else { return Ok(false) };
        if self.goes_with_its_run(&run, tip, wake)? {
            return Ok(true);
        }
        let remote = synced.remote.clone();
        synced.note(format!(
            "{branch} stays at {remote}: its run is settled, and it has commits that no decision was about, the last one {tip}; \
             `git fetch {remote} {branch}` brings them, `git push {remote} --delete {branch}` removes them there"
        ));
        Ok(false)
    }

    /// The run that waits, below whatever somebody put upon it; the tip itself, if there is none.
    fn waiting_below(&self, tip: CommitId, wake: CommitId, run: &RunId) -> Result<CommitId, CycleError> {
        for id in self.store.commits_beyond(tip, &[wake])? {
            let commit = self.store.commit(id)?;
            if commit.trailer("Run") == Some(run.as_str()) && commit.trailer("Review").is_some() {
                return Ok(id);
            }
        }
        Ok(tip)
    }

    pub(super) fn waits_for_review(&self, tip: CommitId) -> Result<bool, CycleError> {
        Ok(self.store.commit(tip)?.trailer("Review").is_some())
    }

    /// Branches of runs that wait there for a person, and now here too.
    pub(super) fn take_over_waiting(
        &self,
        theirs: &Tips,
        wake: CommitId,
        synced: &mut Synced,
    ) -> Result<(), CycleError> {
        for (branch, tip) in theirs {
            let Some(run) = run_of(&self.store.runs_prefix(), branch) else { continue };
            // What somebody put upon a run that waits keeps nobody from deciding on the run.
            let waiting = match self.waits_for_review(*tip)? {
                true => *tip,
                false => self.waiting_below(*tip, wake, &run)?,
            };
            if !self.waits_for_review(waiting)?
                || self.store.is_ancestor(waiting, wake)?
                || self.has_landed(&run, waiting, wake)?
            {
                continue;
            }
            if waiting != *tip {
                synced.note(format!("{branch} has another commit upon the run that waits there, which is left out"));
            }
            if let Some(other) = self.store.in_the_way_here(&branch.full())? {
                synced.note(format!(
                    "{branch} does not come in, though its run waits: {}",
                    in_the_way(&branch.full(), &other)
                ));
                continue;
            }
            let change = match self.store.tip(branch)? {
                None => RefChange::create(branch.clone(), waiting),
                Some(here) if here != waiting && self.store.is_ancestor(here, waiting)? => {
                    RefChange::advance(branch.clone(), here, waiting)
                }
                Some(_) => continue,
            };
            // Whoever moved the branch meanwhile knows more.
            let _ = self.store.update_refs(&[change], "git-brain: sync")?;
        }
        Ok(())
    }
}
