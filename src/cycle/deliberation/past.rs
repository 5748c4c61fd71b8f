//! The past of a tree: results of earlier cycles with their gates, and proposals that were measured on the same evidence.

use serde_json::{Value, json};

use super::Job;
use crate::deliberation::record::CycleRecord;
use crate::deliberation::verdict::Proposal;

/// Results that a gardener is told of, the newest.
const TOLD: usize = 200;

impl Job<'_> {
    /// Proposals that were measured on the same evidence by the same rules, whichever tree asked: chance has no other throw.
    pub(super) fn measured_on(&self, evidence: &str) -> Vec<Proposal> {
        let is_same = |cycle: &CycleRecord, tree: &str| {
            cycle.rules == self.rules && cycle.evidence.get(tree).is_some_and(|hash| hash == evidence)
        };
        let results = self.past.iter().flat_map(|(_, cycle)| cycle.results.iter().map(move |result| (cycle, result)));
        let measured =
            results.filter(|(cycle, result)| is_same(cycle, &result.tree) && result.is_measured(self.settings));
        measured.map(|(_, result)| result.proposal.clone()).collect()
    }

    /// The newest results of a tree with what their gates said.
    pub(super) fn past_of(&self, tree: &str) -> Vec<Value> {
        let results = self.past.iter().flat_map(|(_, cycle)| &cycle.results);
        let results = results.filter(|result| result.tree == tree && !result.asked_again);
        let told = results.map(|result| {
            let record = result.record.as_ref().map(|record| record.without_hidden(self.settings));
            let class = result.open_class(self.settings);
            json!({"proposal": result.proposal, "class": class, "gates": record.map(|record| record.gates)})
        });
        let mut told: Vec<Value> = told.collect();
        told.drain(..told.len().saturating_sub(TOLD));
        told
    }
}
