//! Tombstones of wake's history: the subjects that they forget, and whether sync would take the commits that brought them.
//!
//! Read from history and not from a tree, so that a later commit without the file brings no subject back; kept in the cache by how far history was
//! read. Place in the flow: history → **tombstones** → `sealed`, which destroys keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::trailers::{SLEEP_TRAILER, SNAPSHOT_TRAILER, UNDOES_TRAILER};
use super::{Cycle, CycleError, HUMAN};
use crate::delta::{Operation, RunRecord};
use crate::limits;
use crate::model::ids::SubjectId;
use crate::model::json;
use crate::model::layout::{self, Place};
use crate::model::sealed::SealedRecord;
use crate::store::{Commit, CommitId};

/// The name of the kept state.
const KEPT: &str = "tombstones.json";

/// The tombstones behind a commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// That commit; empty: nothing was read.
    until: String,
    /// By subject: the commits that brought its tombstones, oldest first.
    brought: BTreeMap<SubjectId, Vec<String>>,
}

/// Whether a run of a person sealed just that.
pub(in crate::cycle) fn is_sealed_by(record: &RunRecord, sealed: &SealedRecord) -> bool {
    let says = |op: &Operation| matches!(op, Operation::Seal(sealing) if *sealing == sealed.sealing);
    record.agent.as_str() == HUMAN && record.at == sealed.at && record.ops.iter().any(says)
}

impl Cycle {
    /// The subjects of tombstones in wake's history, each with the commits that brought one beside the run of a person that says so.
    pub(super) fn tombstones(&self) -> Result<BTreeMap<SubjectId, Vec<CommitId>>, CycleError> {
        let store = &self.store;
        let Some(wake) = store.tip(store.wake())? else { return Ok(BTreeMap::new()) };
        let mut known = store.cached_document::<Known>(KEPT).unwrap_or_default();
        let until = match CommitId::parse(&known.until) {
            Ok(until) if store.commit(until).is_ok() && store.is_ancestor(until, wake)? => Some(until),
            _ => None,
        };
        if until.is_none() {
            known = Known::default();
        }
        if until != Some(wake) {
            for id in store.commits_within(wake, until.as_slice(), limits::AUDIT_WALK)? {
                for subject in self.forgotten_by(&store.commit(id)?)? {
                    known.brought.entry(subject).or_default().push(id.to_string());
                }
            }
            known.until = wake.to_string();
            store.keep_document(KEPT, &known);
        }
        let ids = |brought: Vec<String>| brought.iter().filter_map(|id| CommitId::parse(id).ok()).collect();
        Ok(known.brought.into_iter().map(|(subject, brought)| (subject, ids(brought))).collect())
    }

    /// The subjects whose tombstones a commit brings, as none of its parents has them, with the record of the run of a person.
    fn forgotten_by(&self, commit: &Commit) -> Result<Vec<SubjectId>, CycleError> {
        let store = &self.store;
        let mut forgotten = Vec::new();
        // A beginning has no history that could bear it out, and an undoing brings nothing.
        let is_by_agent = commit.agents_hand().is_some() && day_of(commit).is_none();
        if commit.parents.is_empty() || commit.trailer(UNDOES_TRAILER).is_some() || is_by_agent {
            return Ok(forgotten);
        }
        let parents = commit.parents.iter().map(|id| store.tree_of(*id)).collect::<Result<Vec<_>, _>>()?;
        let folder = store.folder(commit.tree, layout::SEALED)?;
        for parent in &parents {
            if store.folder(*parent, layout::SEALED)? == folder {
                return Ok(forgotten);
            }
        }
        for change in store.diff(Some(parents[0]), Some(commit.tree), layout::SEALED)? {
            let (Place::Sealed(run), Some(new)) = (Place::of(&change.path), change.new) else { continue };
            let mut is_known = false;
            for parent in &parents {
                is_known |= store.file(*parent, &change.path)?.is_some();
            }
            if is_known || !new.is_regular() {
                continue;
            }
            let Ok(sealed) = json::typed::<SealedRecord>(&store.content(new.blob)?, &change.path) else { continue };
            if sealed.run == run && self.record_in(commit.tree, &run)?.is_some_and(|it| is_sealed_by(&it, &sealed)) {
                forgotten.extend(sealed.sealing.forget);
            }
        }
        Ok(forgotten)
    }

    /// The first fault of commits that brought tombstones of a subject, as sync sees it; `None`: one of them is good.
    pub(super) fn fault_of_tombstones(
        &self,
        subject: &SubjectId,
        brought: &[CommitId],
    ) -> Result<Option<String>, CycleError> {
        let (store, mut first) = (&self.store, None);
        let wake = store.need_tip(store.wake())?;
        for id in brought {
            let fault = match day_of(&store.commit(*id)?) {
                None => self.fault_of_landed(*id, (wake, None))?.map(|fault| fault.to_string()),
                Some(day) => self.fault_of_night(subject, *id, day, wake)?,
            };
            match fault {
                None => return Ok(None),
                fault => first = first.or(fault),
            }
        }
        Ok(first)
    }

    /// The same of a night, which brings what its day has: where wake has not got that day, its own commits must bear the night out.
    fn fault_of_night(
        &self,
        subject: &SubjectId,
        night: CommitId,
        day: CommitId,
        wake: CommitId,
    ) -> Result<Option<String>, CycleError> {
        let store = &self.store;
        let mut first = format!(
            "{night}: the day of that night is not here, and its commits say who forgot; `git brain sync` brings it"
        );
        if store.commit(day).is_err() {
            return Ok(Some(first));
        }
        if let Some(fault) = self.fault_of_landed(night, (wake, Some(day)))? {
            return Ok(Some(fault.to_string()));
        }
        for id in store.commits_within(day, &[wake], limits::AUDIT_WALK)? {
            let commit = store.commit(id)?;
            if day_of(&commit).is_some() || !self.forgotten_by(&commit)?.contains(subject) {
                continue;
            }
            match self.fault_of_landed(id, (day, Some(day)))? {
                None => return Ok(None),
                Some(fault) => first = fault.to_string(),
            }
        }
        Ok(Some(first))
    }
}

/// The day that a night slept over; `None`: the commit is no night.
fn day_of(commit: &Commit) -> Option<CommitId> {
    commit.trailer(SLEEP_TRAILER)?;
    CommitId::parse(commit.trailer(SNAPSHOT_TRAILER)?).ok().filter(|_| commit.parents.len() == 1)
}
