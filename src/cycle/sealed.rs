//! Sealed memories of a tree, opened by the keys of this machine; and keys that a tombstone of wake's history ends.
//!
//! A tombstone counts by the commit that brought it (`tombstones`), whatever trees have later. Words that are opened here go to the caller and nowhere else: no cache, no index, no neuron. Place in the flow: tree and keys → **sealed** →
//! `brain::subject`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::ledger::settled;
use super::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::{RunId, SubjectId};
use crate::model::json;
use crate::model::layout::{self, Place};
use crate::model::sealed::SealedRecord;
use crate::sealed::{Held, SubjectKey, read_card};
use crate::store::TreeId;
use crate::world::{SubjectKeyError, SubjectKeys};

/// Keys that tombstones ended.
#[derive(Clone, Debug, Default)]
pub struct EndedKeys {
    /// The subjects whose keys were destroyed.
    pub destroyed: Vec<SubjectId>,
    /// Subjects whose tombstones count for nothing, each with what is wrong.
    pub refused: BTreeMap<SubjectId, String>,
    /// Forgotten subjects of which a brain that is not where it lay has a key, with the folder of that.
    pub away: Vec<(SubjectId, PathBuf)>,
}

impl From<SubjectKeyError> for CycleError {
    fn from(error: SubjectKeyError) -> Self {
        Self::refused(error.to_string())
    }
}

impl Cycle {
    /// The place of the keys of this brain's subjects.
    ///
    /// # Errors
    /// There is none.
    pub fn subject_keys(&self) -> Result<SubjectKeys, CycleError> {
        Ok(SubjectKeys::of(&self.shared.world, &self.store.private_dir())?)
    }

    /// The subjects of a tree and the memories that the keys of this machine open.
    ///
    /// # Errors
    /// A record or a key that cannot be read.
    pub fn held(&self, tree: TreeId) -> Result<Held, CycleError> {
        let records = self.sealed_records(tree)?;
        if records.is_empty() {
            return Ok(Held::default());
        }
        let oldest = records.iter().map(|(_, record)| &record.run).min();
        let taken_back: BTreeSet<RunId> = settled(&self.store, tree, oldest)?.back;
        let keys = self.subject_keys()?.all()?;
        let mut forgotten = BTreeSet::new();
        for (subject, brought) in self.tombstones()? {
            // The fault of one whose key is not here is looked for where a key is to be taken.
            if !keys.contains_key(&subject) || self.fault_of_tombstones(&subject, &brought)?.is_none() {
                forgotten.insert(subject);
            }
        }
        Ok(Held::of(records, &keys, &taken_back, &forgotten))
    }

    /// Whether a run of a person that sync would take has forgotten a subject.
    ///
    /// # Errors
    /// History cannot be read.
    pub fn is_subject_forgotten(&self, subject: &SubjectId) -> Result<bool, CycleError> {
        match self.tombstones()?.get(subject) {
            Some(brought) => Ok(self.fault_of_tombstones(subject, brought)?.is_none()),
            None => Ok(false),
        }
    }

    /// The records of sealed memories in a tree, each with its path.
    fn sealed_records(&self, tree: TreeId) -> Result<Vec<(String, SealedRecord)>, CycleError> {
        let mut records = Vec::new();
        let Some(folder) = self.store.folder(tree, layout::SEALED)? else { return Ok(records) };
        for (path, file) in self.store.files(folder, "")? {
            let path = format!("{}/{path}", layout::SEALED);
            let Place::Sealed(run) = Place::of(&path) else { continue };
            let record: SealedRecord =
                json::strict(&self.store.read_file(file, &path)?, &path, limits::DOCUMENT_BYTES)?;
            record.sealing.check().map_err(|(field, why)| json::JsonError::at(&path, 1, field, why))?;
            if record.run != run {
                let why = format!("is {}, and the file is that of {run}", record.run);
                return Err(json::JsonError::at(&path, 1, "run", why).into());
            }
            records.push((path, record));
        }
        Ok(records)
    }

    /// Destroys the keys of this machine of subjects that wake's history says are forgotten. A forgetting that was cut off, here or on another
    /// machine, ends here. This cannot be undone, so each tombstone is judged anew.
    ///
    /// # Errors
    /// A key that cannot be destroyed, or a history that cannot be read.
    pub fn end_forgotten_keys(&self) -> Result<EndedKeys, CycleError> {
        let mut ended = EndedKeys::default();
        let Ok(keys) = self.subject_keys() else { return Ok(ended) };
        let (left, mut away) = (keys.left()?, keys.away()?);
        if left.is_empty() && away.is_empty() {
            return Ok(ended);
        }
        for (subject, brought) in self.tombstones()? {
            let away = away.remove(&subject);
            if away.is_none() && !left.contains(&subject) {
                continue;
            }
            match self.fault_of_tombstones(&subject, &brought)? {
                None => {
                    ended.away.extend(away.map(|place| (subject.clone(), place)));
                    if left.contains(&subject) {
                        keys.destroy(&subject)?;
                        ended.destroyed.push(subject);
                    }
                }
                Some(fault) if left.contains(&subject) => drop(ended.refused.insert(subject, fault)),
                Some(_) => {}
            }
        }
        Ok(ended)
    }

    /// The subject whose card a key opens, with its name.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn subject_of(&self, tree: TreeId, key: &SubjectKey) -> Result<Option<(SubjectId, String)>, CycleError> {
        let cards = self.sealed_records(tree)?.into_iter().flat_map(|(_, record)| record.sealing.subjects);
        Ok(cards.into_iter().find_map(|card| Some((card.subject.clone(), read_card(key, &card)?))))
    }
}
