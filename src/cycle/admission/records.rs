//! One run, one record: a run's id names one content on all branches.
//!
//! Two contents could never be merged, and each machine would keep the one that it met first. So a second one is refused: at the
//! gate against every branch there is, in `sync` of main and wake against main and wake here, because what waits on a branch gives
//! way to what is merged.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Door, Judge, Kind};
use crate::cycle::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::store::{BlobId, Branch, Commit, CommitId, FileChange, Store, StoreError, TreeId};

/// The records of runs that branches have, and those that new commits bring.
pub(super) struct Records {
    /// Main and wake, as far as they were judged.
    trunks: Vec<(Branch, TreeId)>,
    /// The branches of runs that wait, by their run's record.
    waiting: BTreeMap<String, Vec<(Branch, BlobId)>>,
    /// Whether this is the gate: there main and wake are held against the branches of runs as well.
    pub(super) all: bool,
    brought: HashMap<CommitId, Vec<String>>,
}

impl Records {
    /// Those that are here.
    pub fn of(cycle: &Cycle, door: &Door) -> Result<Self, CycleError> {
        let store = &cycle.store;
        let all = matches!(door, Door::Push { .. });
        let mut records = Self { trunks: Vec::new(), waiting: BTreeMap::new(), all, brought: HashMap::new() };
        for branch in [store.main(), store.wake()] {
            if let Some(tip) = store.tip(branch)? {
                records.take_in(store, branch, tip)?;
            }
        }
        if let Door::Out { wake: Some(tip), .. } = door {
            records.take_in(store, store.wake(), *tip)?;
        }
        for (branch, tip) in cycle.run_branches()? {
            let removed = matches!(door, Door::Push { removed } if removed.contains(&branch));
            if !removed {
                records.take_in(store, &branch, tip)?;
            }
        }
        Ok(records)
    }

    /// A branch that is here, or may come in.
    pub fn take_in(&mut self, store: &Store, branch: &Branch, tip: CommitId) -> Result<(), StoreError> {
        let tree = store.tree_of(tip)?;
        if branch == store.main() || branch == store.wake() {
            self.trunks.push((branch.clone(), tree));
            return Ok(());
        }
        let Some(run) = own_run(branch) else { return Ok(()) };
        let path = layout::run(&run);
        if let Some(file) = store.file(tree, &path)? {
            self.waiting.entry(path).or_default().push((branch.clone(), file.blob));
        }
        Ok(())
    }

    /// A commit that adds records.
    pub fn note(&mut self, commit: CommitId, runs: &[RunId]) {
        if !runs.is_empty() {
            self.brought.insert(commit, runs.iter().map(layout::run).collect());
        }
    }

    /// The branch that has another record at that place.
    fn other(&self, store: &Store, branch: &Branch, path: &str, blob: BlobId) -> Result<Option<Branch>, StoreError> {
        for (trunk, tree) in &self.trunks {
            if store.file(*tree, path)?.is_some_and(|file| file.blob != blob) {
                return Ok(Some(trunk.clone()));
            }
        }
        if !self.all && (branch == store.main() || branch == store.wake()) {
            return Ok(None);
        }
        let waiting = self.waiting.get(path).into_iter().flatten();
        Ok(waiting.clone().find(|(_, other)| *other != blob).map(|(other, _)| other.clone()))
    }
}

/// The run that a branch is named after.
fn own_run(branch: &Branch) -> Option<RunId> {
    RunId::parse(branch.as_str().rsplit('/').next()?).ok()
}

impl Judge<'_> {
    /// Refuses a change of the network that names a run of which it brings no record, or an agent of which it brings no run: commands would show it
    /// as what that run did.
    pub(super) fn claims_a_run(&mut self, commit: &Commit, records: &[RunId], changes: &[FileChange]) {
        // What stays undecided of a run is noted beside its record.
        let is_note = |change: &FileChange| matches!(Place::of(&change.path), Place::RunNote(_));
        if !changes.iter().any(|change| change.path.starts_with("network/") && !is_note(change)) {
            return;
        }
        let is_brought = |run: &&str| records.iter().any(|record| record.as_str() == *run);
        let run = commit.trailer_values("Run").find(|run| !is_brought(run)).map(str::to_owned);
        let is_of = |agent: &&str| records.iter().any(|record| record.agent().as_str() == *agent);
        let agent = commit.trailer_values("Agent").find(|agent| !is_of(agent)).map(str::to_owned);
        if let Some(claim) = run.or(agent) {
            let message = format!("changes the network in the name of {claim}, and brings no record of that run");
            self.fault_of(Kind::Trailer, commit, "", 0, message);
        }
    }

    /// Refuses a tip that has, of a run that is new with it, another record than a branch has.
    pub(super) fn one_record(
        &mut self,
        branch: &Branch,
        tip: CommitId,
        fresh: &HashSet<CommitId>,
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(tip)?;
        let mut found = Vec::new();
        for (commit, paths) in self.records.brought.iter().filter(|(commit, _)| fresh.contains(*commit)) {
            for path in paths {
                // A commit more can have taken it back.
                let Some(file) = store.file(tree, path)? else { continue };
                if let Some(other) = self.records.other(store, branch, path, file.blob)? {
                    found.push((*commit, path.clone(), other));
                }
            }
        }
        for (commit, path, other) in found {
            let commit = self.cycle.store.commit(commit)?;
            self.fault_of(
                Kind::SecondRecord,
                &commit,
                &path,
                1,
                format!("is a second record of its run: {other} has another one"),
            );
        }
        Ok(())
    }
}

impl Cycle {
    /// Whether a branch is of a run of which one of those trees has another record.
    pub fn is_second_record(&self, branch: &Branch, tip: CommitId, trees: &[TreeId]) -> Result<bool, CycleError> {
        let Some(run) = own_run(branch) else { return Ok(false) };
        let path = layout::run(&run);
        let Some(own) = self.store.file(self.store.tree_of(tip)?, &path)? else { return Ok(false) };
        for tree in trees {
            if self.store.file(*tree, &path)?.is_some_and(|file| file.blob != own.blob) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
