//! Signatures, where they are required.

use super::{Judge, Kind};
use crate::cycle::{CycleError, signed};
use crate::store::{Commit, CommitId};

/// That commits must be signed here.
pub(super) struct Signing {
    /// The commits up to which none need be.
    pub(super) since: Vec<CommitId>,
    /// Whether a whole signature by another key is told and no fault: on the way out. Its key may have been removed since, and the machine that
    /// has the commits goes on; the other side says what it needs.
    pub(super) lets_other_keys: bool,
}

impl Judge<'_> {
    /// Whether that commit must be signed here.
    pub(super) fn must_be_signed(&self, commit: &Commit) -> Result<bool, CycleError> {
        let Some(signing) = &self.signing else { return Ok(false) };
        Ok(!self.cycle.store.leads_to_any(commit.id, &signing.since)?)
    }

    /// Where signatures are required here: by a key that may sign for its author.
    pub(super) fn signature(&mut self, commit: &Commit) -> Result<(), CycleError> {
        if !self.must_be_signed(commit)? {
            return Ok(());
        }
        let store = &self.cycle.store;
        let lets_other_keys = self.signing.as_ref().is_some_and(|signing| signing.lets_other_keys);
        match signed::lack(store, commit)? {
            Some(lack) if lack.is_by_another_key && lets_other_keys => {
                self.other_keys.insert(format!("{} {}", commit.id, lack.why));
            }
            Some(lack) => self.fault_of(Kind::Signature, commit, "", 0, lack.why),
            None => {}
        }
        Ok(())
    }
}
