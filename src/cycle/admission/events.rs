//! Events that a commit of a person adds: files that are written once and name the run that made them, without that run.
//!
//! People may change the network by hand, and may not say that a run entered an outcome, sent a signal or answered one: others learn by it.

use std::collections::BTreeSet;

use super::run::is_taught_by;
use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::cycle::tombstones::is_sealed_by;
use crate::delta::{LedgerEntry, Operation, RunRecord};
use crate::model::document::Acknowledgement;
use crate::model::ids::RunId;
use crate::model::layout::Place;
use crate::model::sealed::SealedRecord;
use crate::model::wisdom::WisdomRecord;
use crate::model::{Signal, json};
use crate::review::REASON;
use crate::store::{Commit, FileChange};

/// An event, by its place.
enum Event {
    Outcome(Box<LedgerEntry>),
    Signal(Signal),
    Answer(Acknowledgement),
}

impl Event {
    /// The event of a new file, with the run that it names. What does not parse was told already.
    fn of(change: &FileChange, text: &[u8]) -> Option<(RunId, Self)> {
        match Place::of(&change.path) {
            Place::Ledger(run) => {
                json::typed(text, &change.path).ok().map(|entry| (run, Self::Outcome(Box::new(entry))))
            }
            Place::Signal(..) => {
                json::typed::<Signal>(text, &change.path).ok().map(|signal| (signal.run.clone(), Self::Signal(signal)))
            }
            Place::Acknowledgement(..) => json::typed::<Acknowledgement>(text, &change.path)
                .ok()
                .filter(|answer| !answer.is_stand_in())
                .map(|answer| (answer.run.clone(), Self::Answer(answer))),
            _ => None,
        }
    }

    fn name(&self) -> (Kind, &'static str) {
        match self {
            Self::Outcome(_) => (Kind::Ledger, "an outcome"),
            Self::Signal(_) => (Kind::Signal, "a signal"),
            Self::Answer(_) => (Kind::Signal, "an answer"),
        }
    }

    /// Whether an operation of the run makes it, in the name of the run's agent.
    fn is_of(&self, record: &RunRecord) -> bool {
        if let Self::Answer(answer) = self {
            // A person's amendment of a run answers what that run answered, in the name of its agent.
            let amended = record.trigger.strip_prefix(REASON).and_then(|about| RunId::parse(about).ok());
            let is_amended = amended.is_some_and(|amended| record.run.is_a_persons() && answer.by == amended.agent());
            // A run that takes others back answers what they asked, in the name of whoever was asked.
            let is_reverted = record.reverts.iter().any(|run| answer.payload == serde_json::json!({"reverted": run}));
            if is_amended || is_reverted {
                return true;
            }
        }
        record.ops.iter().any(|op| match (self, op) {
            (Self::Outcome(entry), Operation::Outcome(op)) => {
                (&op.run, op.value) == (&entry.judged, entry.outcome.value)
            }
            (Self::Signal(signal), Operation::Signal(op)) => {
                signal.from == record.agent && op.to == signal.to && op.payload == signal.payload
            }
            (Self::Answer(answer), Operation::Acknowledge(op)) => {
                answer.by == record.agent && op.signal == answer.signal && op.payload == answer.payload
            }
            _ => false,
        })
    }
}

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
            let is_event =
                matches!(Place::of(&change.path), Place::Ledger(_) | Place::Signal(..) | Place::Acknowledgement(..));
            let Some(new) = change.new.filter(|_| is_event) else { continue };
            let Some((run, event)) = Event::of(change, &self.cycle.store.content(new.blob)?) else { continue };
            let (kind, what) = event.name();
            if !brought.contains(&run) {
                let message = format!("is {what} of {run}, and comes without that run");
                self.fault_of(kind, commit, &change.path, 1, message);
                continue;
            }
            let record = self.record(commit.tree, &run)?;
            let is_of = match &event {
                Event::Outcome(entry) if self.record(commit.tree, &entry.judged)?.is_none() => false,
                event => record.is_some_and(|record| event.is_of(&record)),
            };
            if !is_of {
                self.fault_of(kind, commit, &change.path, 1, format!("is {what} that {run} did not make so"));
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
