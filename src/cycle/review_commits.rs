//! Which commit brought a decision: who says that somebody decided is held against the author of that commit, wherever the ref came from.

use std::collections::{BTreeMap, BTreeSet};

use super::reviews::is_of_reviewer;
use super::{Cycle, CycleError, signed};
use crate::limits;
use crate::model::{layout, settings};
use crate::review::{Remark, ReviewRecord, Verdict};
use crate::store::{Commit, CommitId};

/// The walk along the commits of decisions, newest first, as far as it was needed.
#[derive(Debug, Default)]
pub(super) struct Walk {
    tip: Option<CommitId>,
    open: Vec<CommitId>,
    visited: BTreeSet<CommitId>,
    found: BTreeMap<String, CommitId>,
}

/// A decision as an audit names it that counts for nothing: where it lies, and by whom it says that it is.
pub(super) fn void_mark(review: &ReviewRecord) -> String {
    format!("{} {}", review.path(), review.address())
}

impl Cycle {
    /// The commit that added the decision at a path. Costs the decisions since, once for a command.
    pub(super) fn decision_added_by(&self, path: &str) -> Result<Option<CommitId>, CycleError> {
        let Some(tip) = self.store.reviews()? else { return Ok(None) };
        let mut walk = self.decisions_walked.borrow_mut();
        if walk.tip != Some(tip) {
            *walk = Walk { tip: Some(tip), open: vec![tip], ..Walk::default() };
        }
        // An audit goes back to where each file was first: one that was taken away and brought back is of who made it.
        let is_auditing = self.is_auditing.get();
        while is_auditing || !walk.found.contains_key(path) {
            let Some(id) = walk.open.pop() else { break };
            if !walk.visited.insert(id) {
                continue;
            }
            let commit = self.store.commit(id)?;
            // A merge brings what its parents have, and nothing of its own.
            if commit.parents.len() < 2 {
                for path in self.read_or_told(self.added(&commit))? {
                    let is_same = || {
                        Ok::<_, CycleError>(
                            self.store.file(commit.tree, &path)? == self.store.file(self.store.tree_of(tip)?, &path)?,
                        )
                    };
                    if !walk.found.contains_key(&path) || self.read_or_told(is_same())? {
                        walk.found.insert(path, id);
                    }
                }
            }
            walk.open.extend(commit.parents.iter().rev());
        }
        Ok(walk.found.get(path).copied())
    }

    /// Whether a review is of one who may decide and who made the commit that brought it, signed where signatures are required: a record that
    /// somebody else wrote into the ref here is no decision. Of the councils of one document on one commit only the first decides.
    pub fn counts(
        &self,
        review: &ReviewRecord,
        settings: &settings::Review,
        rule: Option<&str>,
    ) -> Result<bool, CycleError> {
        Ok(self.is_of_its_author(review, settings, rule)?
            && (review.council.is_none() || self.is_by_first_council(review, settings, rule)?))
    }

    /// The same, also where the council was not the first: two machines that asked before they met have both decided.
    pub(super) fn is_of_its_author(
        &self,
        review: &ReviewRecord,
        settings: &settings::Review,
        rule: Option<&str>,
    ) -> Result<bool, CycleError> {
        let is_theirs = match &review.council {
            Some(council) => self.is_by_council(review, council, settings, rule)?,
            None => is_of_reviewer(review, settings, rule),
        };
        if !is_theirs || self.void.borrow().contains(&void_mark(review)) {
            return Ok(false);
        }
        self.is_added_by(&review.path(), review.address())
    }

    /// Whether a file of the decisions came by a commit of that person, signed where signatures are required.
    pub(super) fn is_added_by(&self, path: &str, address: &str) -> Result<bool, CycleError> {
        let Some(by) = self.decision_added_by(path)? else { return Ok(false) };
        let commit = self.store.commit(by)?;
        if commit.is_of_agents_domain() || commit.email != address {
            return Ok(false);
        }
        Ok(!self.store.requires_signatures()?
            || self.store.leads_to_any(by, &self.store.signed_since()?)?
            || signed::unsigned_commit(&self.store, &commit)?.is_none())
    }

    /// Whether a decision counts, or did when it was carried out: what a reviewer taught stays when he leaves.
    pub fn holds_for_its_run(&self, review: &ReviewRecord) -> Result<bool, CycleError> {
        Ok(self.counts_for_its_run(review)? || self.held_when_carried_out(review)?)
    }

    /// Whether wake says that just this decision was carried out, under settings of main that let its reviewer decide. A gate has asked that before
    /// it took the commit; a decision that somebody writes later, with an older date, is named by no such commit.
    fn held_when_carried_out(&self, review: &ReviewRecord) -> Result<bool, CycleError> {
        let (store, path) = (&self.store, layout::run(&review.run));
        let wake = store.need_tip(store.wake())?;
        if store.file(store.tree_of(wake)?, &path)?.is_none() {
            return Ok(false);
        }
        let landed = store.commit(self.landed_in(wake, &review.run)?)?;
        let own = self.brought_by(&landed, None, &path)?;
        let merge = self.brought_by(&landed, Some(&own), &path)?;
        let is_named = match review.verdict {
            Verdict::Approve => merge.trailer("Reviewed-by") == Some(review.named().as_str()),
            Verdict::Amend | Verdict::Reject => {
                own.email == review.address() && own.trailer("Decided") == Some(review.review.as_str())
            }
        };
        match self.main_of_policy(&merge)? {
            Some(main) if is_named => {
                let waits = self.rule_that_held(review)?;
                self.counts(review, &self.settings_at(main)?.review, waits.as_deref())
            }
            _ => Ok(false),
        }
    }

    /// Whether wake has the run by which a remark takes a rejection back, let in under settings of main that let its author do that. A gate has asked
    /// that before it took the commit.
    pub(super) fn held_when_it_landed(&self, remark: &Remark) -> Result<bool, CycleError> {
        let Some(again) = &remark.again else { return Ok(false) };
        let (store, path) = (&self.store, layout::run(again));
        let wake = store.need_tip(store.wake())?;
        if store.file(store.tree_of(wake)?, &path)?.is_none() {
            return Ok(false);
        }
        let landed = store.commit(self.landed_in(wake, again)?)?;
        let own = self.brought_by(&landed, None, &path)?;
        let merge = self.brought_by(&landed, Some(&own), &path)?;
        Ok(match self.main_of_policy(&merge)? {
            Some(main) if own.email == remark.address() => self.settings_at(main)?.review.lets_decide(remark.address()),
            _ => false,
        })
    }

    /// The commit that let a record in: of a merge of two wakes that of the wake which had it, down to the one above the run's own.
    pub(super) fn brought_by(&self, commit: &Commit, own: Option<&Commit>, path: &str) -> Result<Commit, CycleError> {
        let store = &self.store;
        let mut at = commit.clone();
        for _ in 0..limits::HISTORY_WALK {
            let mut below = None;
            for parent in at.parents.iter().filter(|parent| own.is_none_or(|own| own.id != **parent)) {
                let parent = store.commit(*parent)?;
                if store.file(parent.tree, path)?.is_some() {
                    below = Some(parent);
                    break;
                }
            }
            match below {
                Some(below) => at = below,
                None => break,
            }
        }
        Ok(at)
    }

    /// The newest commit of main with the settings by which a merge was made.
    fn main_of_policy(&self, merge: &Commit) -> Result<Option<CommitId>, CycleError> {
        let store = &self.store;
        let Some(policy) = merge.trailer("Policy") else { return Ok(None) };
        for commit in store.first_parents(store.need_tip(store.main())?, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            let settings = store.file(commit.tree, layout::SETTINGS)?;
            if settings.is_some_and(|file| file.blob.to_string() == policy) {
                return Ok(Some(commit.id));
            }
        }
        Ok(None)
    }
}
