//! Branches of runs that are settled: which of them may go, and what is kept of one that has more than the run that was decided on.
//!
//! People commit upon a run to work on it, and amend its commit. A decision is about one commit, so a branch that is another one goes
//! here only once its tip is kept, and stays at a remote. Place in the flow: decisions and wake → **settled** → `sync`, `reject`.

use super::commit::run_of;
use super::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::store::{Branch, CommitId, RefChange, RefOutcome};

/// Most commits of a branch beyond wake that are looked at.
const MOST_UPON_WAKE: usize = 1024;

/// A branch of a settled run that was removed.
pub(super) struct Cleared {
    pub branch: Branch,
    /// The fate of its run, in words.
    pub became: &'static str,
    /// Its tip, kept as a rescue ref because it was not the commit that was decided on.
    pub kept: Option<CommitId>,
}

impl Cycle {
    /// Whether a branch may go with its run: wake has its tip, or a person decided on just that commit, or nothing is in it but what became of the run.
    pub(super) fn goes_with_its_run(&self, run: &RunId, tip: CommitId, wake: CommitId) -> Result<bool, CycleError> {
        let store = &self.store;
        if store.is_ancestor(tip, wake)? {
            return Ok(true);
        }
        let own = self.commit_of_run(tip, run)?;
        if !self.is_run_alone(run, tip)? {
            return Ok(false);
        }
        let reviews = self.reviews_of(run)?;
        let seen = own.id.to_string();
        if store.is_ancestor(own.id, wake)? || reviews.iter().any(|review| review.commit == seen) {
            return Ok(true);
        }
        let [parent] = own.parents[..] else { return Ok(false) };
        let named = own.trailer_values("Run").any(|named| named == run.as_str());
        if !named && reviews.is_empty() || !store.is_ancestor(parent, wake)? {
            return Ok(false);
        }
        let changes = store.diff(Some(store.tree_of(parent)?), Some(own.tree), "")?;
        if changes.iter().any(|change| !change.path.starts_with("network/")) {
            return Ok(false);
        }
        let is_left_over = || {
            Ok::<_, CycleError>(self.record_in(store.tree_of(wake)?, run)?.is_some_and(|record| record.is_left_over()))
        };
        Ok(self.has_landed(run, tip, wake)? || reviews.is_empty() && is_left_over()?)
    }

    /// Whether a branch ends at one commit, of its run or of a person who made that again, with at most the engine's note about a conflict above it, which changes no file.
    pub(super) fn is_run_alone(&self, run: &RunId, tip: CommitId) -> Result<bool, CycleError> {
        let own = self.commit_of_run(tip, run)?;
        let above = self.store.commit(tip)?;
        if own.id != tip {
            return Ok(above.trailer("Review") == Some("conflict") && above.tree == own.tree);
        }
        // Two commits upon the run hide it from a look at the tip.
        let wake = self.store.need_tip(self.store.wake())?;
        // A long line that wake has nothing of is more than a run.
        let Ok(beyond) = self.store.commits_within(tip, &[wake], MOST_UPON_WAKE) else { return Ok(false) };
        for below in beyond {
            if below != tip && self.store.commit(below)?.trailer("Run") == Some(run.as_str()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps the commits of a branch that is about to go: as a refused run that can be looked at, unless its words were taken back, or as a rescue ref where
    /// the branch has more than the run that was decided on. The tip, where it was rescued.
    pub(super) fn keep_before_removal(
        &self,
        run: &RunId,
        tip: CommitId,
        wake: CommitId,
    ) -> Result<Option<CommitId>, CycleError> {
        if !self.goes_with_its_run(run, tip, wake)? {
            self.store.rescue(tip)?;
            return Ok(Some(tip));
        }
        let own = self.commit_of_run(tip, run)?.id;
        if !self.store.is_ancestor(own, wake)? && !self.is_forgotten(run, own)? {
            self.store.keep_refused(own)?;
        }
        Ok(None)
    }

    /// Whether a decision about that commit of a run tells nobody the words that stay out.
    fn is_forgotten(&self, run: &RunId, own: CommitId) -> Result<bool, CycleError> {
        let seen = own.to_string();
        for review in self.reviews_of(run)?.into_iter().filter(|review| review.commit == seen) {
            let told = self.with_remarks(review)?;
            if self.is_untold(&told)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the branches of runs that wake has, or that were thrown away: what is settled waits nowhere.
    pub(super) fn clear_settled(&self, wake: CommitId) -> Result<Vec<Cleared>, CycleError> {
        let tree = self.store.tree_of(wake)?;
        let mut cleared = Vec::new();
        for (branch, tip) in self.run_branches()? {
            let Some(run) = run_of(&self.store.runs_prefix(), &branch) else { continue };
            let in_wake = self.has_landed(&run, tip, wake)?;
            let is_rejected = self.is_rejected(tree, &branch)?;
            if !in_wake && !is_rejected {
                continue;
            }
            let kept = self.keep_before_removal(&run, tip, wake)?;
            // Whoever moved the branch meanwhile knows more.
            if let RefOutcome::Done { .. } =
                self.store.update_refs(&[RefChange::delete(branch.clone(), tip)], "git-brain: sync")?
            {
                let amended = || -> Result<bool, CycleError> {
                    for landed in self.reviews_of(&run)?.into_iter().filter_map(|review| review.lands) {
                        if self.record_in(tree, &landed)?.is_some() && self.run_to_revert(&landed, tree).is_ok() {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                };
                let became = match is_rejected {
                    false => "has landed",
                    true if amended()? => "landed in part or in another form",
                    true => "was rejected",
                };
                cleared.push(Cleared { branch, became, kept });
            }
        }
        Ok(cleared)
    }
}

impl Cleared {
    /// That it is gone, and where its commits are.
    pub fn words(&self) -> String {
        let Self { branch, became, .. } = self;
        let kept = self.kept.map(|tip| format!(". {}", rescued_words(branch, tip))).unwrap_or_default();
        format!("{branch} is gone here: its run {became}; `git brain review --decided` says by whom{kept}")
    }
}

/// The place of commits that were upon a run.
pub(super) fn rescued_words(branch: &Branch, tip: CommitId) -> String {
    format!(
        "{branch} had commits that no decision was about: {tip} is kept as refs/git-brain/rescue/{tip}, and `git log -p {tip}` shows it"
    )
}
