//! A rehearsal: refs move in memory alone and nothing is pushed, so that the code of a sync itself says what a sync would do. Objects are
//! written as ever; no ref names them, and git drops them in time.

use std::collections::BTreeMap;

use super::{CommitId, RefChange, RefOutcome, Store, StoreError};

/// A rehearsal that goes on until this is dropped.
#[must_use = "the rehearsal ends when this is dropped"]
pub struct Rehearsal<'s>(&'s Store);

/// Refs as they would be; `None`: gone.
pub(super) type Refs = BTreeMap<String, Option<CommitId>>;

impl Drop for Rehearsal<'_> {
    fn drop(&mut self) {
        self.0.rehearsed.replace(None);
    }
}

impl Store {
    /// Begins a rehearsal.
    pub fn rehearse(&self) -> Rehearsal<'_> {
        self.rehearsed.replace(Some(Refs::new()));
        Rehearsal(self)
    }

    /// Whether nothing of what is done now is to stay.
    pub fn is_rehearsal(&self) -> bool {
        self.rehearsed.borrow().is_some()
    }

    /// A ref as the rehearsal has it, where it has moved it.
    pub(super) fn rehearsed(&self, name: &str) -> Option<Option<CommitId>> {
        self.rehearsed.borrow().as_ref()?.get(name).copied()
    }

    /// Moves a ref in a rehearsal; false where there is none.
    pub(super) fn move_rehearsed(&self, name: &str, new: Option<CommitId>) -> bool {
        match self.rehearsed.borrow_mut().as_mut() {
            Some(refs) => {
                refs.insert(name.to_owned(), new);
                true
            }
            None => false,
        }
    }

    /// Moves branches in a rehearsal, as [`Store::update_refs`] does; `None` where there is none.
    pub(super) fn update_rehearsed(&self, changes: &[RefChange]) -> Result<Option<RefOutcome>, StoreError> {
        if !self.is_rehearsal() {
            return Ok(None);
        }
        for change in changes {
            let found = self.tip(&change.branch)?;
            if found != change.expected {
                return Ok(Some(RefOutcome::Modified { branch: change.branch.clone(), found }));
            }
            self.move_rehearsed(&change.branch.full(), change.new);
        }
        Ok(Some(RefOutcome::Done { left: Vec::new() }))
    }

    /// The direct refs whose names begin with a prefix, sorted.
    pub(super) fn refs_below(&self, prefix: &str) -> Result<BTreeMap<String, CommitId>, StoreError> {
        let found = self.with(|r| {
            let mut found = BTreeMap::new();
            // Looks into the folders under the prefix only. A ref may vanish while we look.
            for reference in r.references_glob(&format!("{prefix}*"))?.flatten() {
                let name = reference.name().ok().filter(|name| name.starts_with(prefix)).map(str::to_owned);
                found.extend(name.zip(reference.target().map(|id| self.stand_in(CommitId(id)))));
            }
            Ok(found)
        });
        let mut found = found.map_err(|e| StoreError::git(prefix, e))?;
        for (name, new) in self.rehearsed.borrow().iter().flatten().filter(|(name, _)| name.starts_with(prefix)) {
            match new {
                Some(new) => drop(found.insert(name.clone(), *new)),
                None => drop(found.remove(name)),
            }
        }
        Ok(found)
    }
}
