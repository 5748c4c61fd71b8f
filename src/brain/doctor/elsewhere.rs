//! What waits for a person, and what other machines would refuse of what is here.

use std::collections::BTreeSet;

use super::Visit;
use crate::brain::BrainError;
use crate::brain::check::way_on;
use crate::cycle::merge::{Candidate, waits_because};
use crate::cycle::{Cycle, signed};
use crate::limits;
use crate::model::plural;
use crate::store::StoreError;

impl Visit<'_> {
    /// Branches of runs that wait for a person.
    pub(super) fn waiting(&mut self, cycle: &Cycle, pending: &[Candidate]) -> Result<(), BrainError> {
        let mut held = cycle.run_branches()?;
        held.retain(|(branch, _)| !pending.iter().any(|candidate| candidate.branch.as_ref() == Some(branch)));
        if let Some(more) = held.len().checked_sub(limits::TOLD_FILES).filter(|more| *more > 0) {
            let message = format!("{} more wait for a person", plural(more, "branch of a run", "branches of runs"));
            self.needs("runs", message, Some("`git branch --list '*agents/*'`".to_owned()));
        }
        for (branch, tip) in held.into_iter().take(limits::TOLD_FILES) {
            let (why, hint) = waits_because(&self.store.commit(tip)?, &branch);
            self.needs("runs", format!("{branch} {why}"), Some(hint));
        }
        Ok(())
    }

    /// Commits of wake on main, beyond what the remotes had when they were last seen.
    pub(super) fn wake_on_main(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let mut known = None;
        for remote in self.store.remotes()? {
            known = known.or(self.store.seen(&remote)?.get(self.store.main()).copied());
        }
        if let Some(error) = cycle.wake_on_main(known)? {
            self.needs("main", error.to_string(), error.hint());
        }
        Ok(())
    }

    /// Refs in the place of branches of runs, or of decisions.
    pub(super) fn in_the_way(&mut self) -> Result<(), BrainError> {
        for (other, place) in self.store.all_in_the_way_here()? {
            let error = StoreError::InTheWay { name: place, other };
            self.needs("refs", error.to_string(), error.hint());
        }
        Ok(())
    }

    /// What stopped a sync and is not settled.
    pub(super) fn standoffs(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        for standoff in cycle.standoffs()? {
            self.needs("sync", standoff.line(), standoff.hint);
        }
        Ok(())
    }

    /// Commits that the remote lacks and would refuse.
    pub(super) fn outgoing(&mut self, cycle: &Cycle) -> Result<(), BrainError> {
        let refused = cycle.refused_here()?;
        // A commit of main is in wake as well.
        let mut named = BTreeSet::new();
        let all = refused.iter().flat_map(|(branch, faults)| faults.iter().map(move |fault| (branch, fault)));
        let faults: Vec<_> = all.filter(|(_, fault)| named.insert(*fault)).collect();
        for (branch, fault) in faults.iter().take(limits::TOLD_FILES) {
            self.needs("commits", format!("other machines refuse {fault}"), Some(way_on(cycle, branch)));
        }
        if let Some(more) = faults.len().checked_sub(limits::TOLD_FILES).filter(|more| *more > 0) {
            self.needs("commits", format!("and {more} more"), Some("`git brain check`".to_owned()));
        }
        Ok(())
    }

    /// Newest commits of wake whose key may not sign any more: a machine that lacks them refuses them.
    pub(super) fn signatures(&mut self) -> Result<(), BrainError> {
        let store = self.store;
        if !store.requires_signatures()? {
            return Ok(());
        }
        let tip = store.need_tip(store.wake())?;
        let since = store.signed_since()?;
        let commits = store.commits_beyond(tip, &since)?;
        for id in commits.iter().rev().take(limits::SIGNATURES_LOOKED_AT) {
            if let Some(why) = signed::unsigned_commit(store, &store.commit(*id)?)? {
                self.needs("signatures", format!("commit {id} {why}"), Some(signed::remedy(store, &tip.to_string())));
                return Ok(());
            }
        }
        self.fine("signatures", "the newest commits of wake are signed by keys that may");
        Ok(())
    }
}
