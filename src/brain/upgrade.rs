//! `upgrade`: the files of an older brain in the newest format.

use super::{Brain, BrainError};
pub use crate::cycle::upgrade::UpgradeReport;

impl Brain {
    /// Writes wake's neurons in the newest format, in one commit. No value changes; records, stimuli and signals stay as they are.
    ///
    /// # Errors
    /// A neuron that cannot be read (exit code 5).
    pub fn upgrade(&self, dry_run: bool) -> Result<UpgradeReport, BrainError> {
        self.cycle.upgrade(dry_run)
    }
}
