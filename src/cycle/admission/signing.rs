//! Signatures, where they are required.

use super::{Judge, Kind};
use crate::cycle::{CycleError, signed};
use crate::store::{Commit, CommitId};

/// That commits must be signed here.
pub(super) struct Signing {
    /// The commits up to which none need be.
    pub(super) since: Vec<CommitId>,
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
        if let Some(why) = signed::unsigned_commit(store, commit)? {
            self.fault_of(Kind::Signature, commit, "", 0, why);
        }
        Ok(())
    }
}
