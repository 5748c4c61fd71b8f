//! Tombstones of wake's history: the subjects that they forget, and whether sync would take the commits that brought them.
//!
//! Read from history and not from a tree, so that a later commit without the file brings no subject back; kept in the cache by how far history was
//! read. Place in the flow: history → **tombstones** → `sealed`, which destroys keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
        // A beginning has no history that could bear it out, and a night brings what its day has.
        let is_night = ["Sleep", "Undoes"].iter().any(|key| commit.trailer(key).is_some());
        if commit.parents.is_empty() || is_night || commit.agents_hand().is_some() {
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

    /// The first fault of commits that brought tombstones, as sync sees it; `None`: one of them is good.
    pub(super) fn fault_of_tombstones(&self, brought: &[CommitId]) -> Result<Option<String>, CycleError> {
        let mut first = None;
        for id in brought {
            match self.fault_of_landed(*id)? {
                None => return Ok(None),
                Some(fault) => first = first.or(Some(fault.to_string())),
            }
        }
        Ok(first)
    }
}
