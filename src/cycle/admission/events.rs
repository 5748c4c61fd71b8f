//! Events that a commit of a person adds: files that are written once and name the run that made them, without that run.
//!
//! People may change the network by hand, and may not say that a run entered an outcome, sent a signal or answered one: others learn by it.

use std::collections::BTreeSet;

use super::run::is_taught_by;
use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::cycle::tombstones::is_sealed_by;
use crate::model::document::Acknowledgement;
use crate::model::ids::RunId;
use crate::model::layout::Place;
use crate::model::sealed::SealedRecord;
use crate::model::wisdom::WisdomRecord;
use crate::model::{Signal, json};
use crate::store::{Commit, FileChange};

impl Judge<'_> {
    /// Refuses what names a run that neither made it so nor comes with it.
    pub(super) fn events_by_hand(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        let brought =
            changes.iter().filter(|change| change.new.is_some()).filter_map(|change| match Place::of(&change.path) {
                Place::Run(run) => Some(run),
                _ => None,
            });
        let brought: BTreeSet<RunId> = brought.collect();
        for change in changes.iter().filter(|change| change.old.is_none()) {
            let Some(new) = change.new else { continue };
            let text = || self.cycle.store.content(new.blob);
            // What does not parse was told already.
            let (run, kind, what) = match Place::of(&change.path) {
                Place::Ledger(run) => (run, Kind::Ledger, "an outcome"),
                Place::Signal(..) => match json::typed::<Signal>(&text()?, &change.path) {
                    Ok(signal) => (signal.run, Kind::Signal, "a signal"),
                    Err(_) => continue,
                },
                Place::Acknowledgement(..) => match json::typed::<Acknowledgement>(&text()?, &change.path) {
                    Ok(answer) if !answer.is_stand_in() => (answer.run, Kind::Signal, "an answer"),
                    _ => continue,
                },
                _ => continue,
            };
            if !brought.contains(&run) {
                let message = format!("is {what} of {run}, and comes without that run");
                self.fault_of(kind, commit, &change.path, 1, message);
            }
        }
        self.wisdom_by_hand(commit, changes)?;
        self.sealed_by_hand(commit, changes)
    }

    /// Refuses wisdom that no run taught so: what stands behind it could not be walked to.
    fn wisdom_by_hand(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        for change in changes.iter().filter(|change| change.old.is_none()) {
            let (Place::Wisdom(run), Some(new)) = (Place::of(&change.path), change.new) else { continue };
            // What does not parse was told already.
            let Ok(wisdom) = json::typed::<WisdomRecord>(&self.cycle.store.content(new.blob)?, &change.path) else {
                continue;
            };
            if !self.record(commit.tree, &run)?.is_some_and(|record| is_taught_by(&record, &wisdom)) {
                let message = format!("is wisdom of {run}, and no run of that name taught it so");
                self.fault_of(Kind::Wisdom, commit, &change.path, 1, message);
            }
        }
        Ok(())
    }

    /// Refuses sealed memories that no run of a person sealed just so: an agent seals nothing, and a tombstone destroys keys.
    pub(super) fn sealed_by_hand(&mut self, commit: &Commit, changes: &[FileChange]) -> Result<(), CycleError> {
        for change in changes.iter().filter(|change| change.old.is_none()) {
            let (Place::Sealed(run), Some(new)) = (Place::of(&change.path), change.new) else { continue };
            // What does not parse was told already.
            let Ok(sealed) = json::typed::<SealedRecord>(&self.cycle.store.content(new.blob)?, &change.path) else {
                continue;
            };
            if let Some(hand) = commit.agents_hand() {
                let message = format!("is brought by {hand}, and only people seal and forget");
                self.fault_of(Kind::Sealed, commit, &change.path, 1, message);
            }
            if !self.record(commit.tree, &run)?.is_some_and(|record| is_sealed_by(&record, &sealed)) {
                let message = format!("is sealed by {run}, and no run of a person of that name sealed it so");
                self.fault_of(Kind::Sealed, commit, &change.path, 1, message);
            }
        }
        Ok(())
    }
}
