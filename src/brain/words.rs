//! Names that a command line takes: runs that wait, and agents.

use std::path::Path;

use super::{Brain, BrainError};
use crate::world;

pub use crate::world::{COMPLETE, asking_shell};

impl Brain {
    /// The runs that wait on branches of their own, the newest first.
    pub fn runs_on_branches(&self) -> Result<Vec<String>, BrainError> {
        let branches = self.cycle.run_branches()?;
        let mut runs: Vec<String> =
            branches.iter().filter_map(|(branch, _)| Some(branch.to_string().rsplit_once('/')?.1.to_owned())).collect();
        runs.sort_unstable_by(|a, b| b.cmp(a));
        Ok(runs)
    }

    /// The names of the agents.
    pub fn agent_names(&self) -> Vec<String> {
        self.cycle.shared.policy.agents.keys().map(ToString::to_string).collect()
    }

    /// Writes a manual page in place of the one that is there; makes its folders.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_manual(place: &Path, text: &str) -> Result<(), BrainError> {
        Ok(world::write_settings(place, text)?)
    }
}
