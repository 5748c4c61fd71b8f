//! `upgrade`: the files of an older brain in the newest format.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::model::document::FORMAT;

/// What an upgrade did.
#[derive(Clone, Debug, Serialize)]
pub struct UpgradeReport {
    /// The format before.
    pub from: u32,
    /// The newest format.
    pub to: u32,
    /// Neurons that are written anew.
    pub rewritten: usize,
    /// Its commit on wake; null where nothing was to be done, and with `--dry-run`.
    pub commit: Option<String>,
}

impl Brain {
    /// Writes wake's neurons in the newest format, in one commit. What they say does not change, and what is written once for ever
    /// stays as it is.
    ///
    /// # Errors
    /// A neuron that cannot be read (exit code 5).
    pub fn upgrade(&self, dry_run: bool) -> Result<UpgradeReport, BrainError> {
        let done = self.cycle.upgrade(dry_run)?;
        let commit = done.commit.map(|commit| commit.to_string());
        Ok(UpgradeReport { from: done.from, to: FORMAT, rewritten: done.rewritten, commit })
    }
}
