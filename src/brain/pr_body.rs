//! Words of a request for review: what a run would change in the network.

use super::{Brain, BrainError};
use crate::model::plural;

impl Brain {
    /// Title and Markdown body for the branch of a run. Texts of memories stand in a fenced block, where no forge obeys them.
    pub fn belief_markdown(&self, branch: &str) -> Result<(String, String), BrainError> {
        let store = &self.cycle.store;
        let candidate = self.cycle.candidate(branch)?;
        let bases = store.merge_bases(self.at(None)?, candidate.commit)?;
        let base = bases.first().copied().unwrap_or(candidate.commit);
        let found = self.differences(base, candidate.commit)?;
        let agent = candidate.run.as_ref().map_or("a run".to_owned(), |run| run.agent().to_string());
        let changed = found.effects.len() + found.removed.len();
        let title = format!("{agent}: {}", plural(changed, "neuron changes", "neurons change"));
        let lines = found.lines.join("\n");
        let fence = fence(&lines);
        Ok((title, format!("{fence}text\n{lines}\n{fence}\n")))
    }
}

/// Backticks, more than any line of the text has in a row.
fn fence(text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest.max(2) + 1)
}
