//! Sealed memories of a tree, opened by the keys of this machine; and keys that a tombstone ends.
//!
//! Words that are opened here go to the caller and nowhere else: no cache, no index, no neuron. Place in the flow: tree and keys → **sealed** →
//! `brain::subject`.

use std::collections::BTreeSet;

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
        Ok(Held::of(records, &self.subject_keys()?.all()?, &taken_back))
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

    /// Destroys the keys of this machine of subjects that a tree says are forgotten, and returns those subjects. A forgetting that was cut off, here
    /// or on another machine, ends here.
    ///
    /// # Errors
    /// A key that cannot be destroyed, or a record that cannot be read.
    pub fn end_forgotten_keys(&self, tree: TreeId) -> Result<Vec<SubjectId>, CycleError> {
        let Ok(keys) = self.subject_keys() else { return Ok(Vec::new()) };
        let here = keys.ids()?;
        if here.is_empty() {
            return Ok(Vec::new());
        }
        let records = self.sealed_records(tree)?;
        let forgotten: BTreeSet<SubjectId> =
            records.into_iter().flat_map(|(_, record)| record.sealing.forget).collect();
        let ended: Vec<SubjectId> = here.intersection(&forgotten).cloned().collect();
        for id in &ended {
            keys.destroy(id)?;
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
