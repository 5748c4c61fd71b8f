//! The words of a run that a decision keeps out, and branches that say nothing to judge.

use super::decision::{ReviewReport, ReviewRequest};
use super::prime::clip;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reject::Decision;
use crate::cycle::reviewing::WaitingRun;
use crate::delta::RunRecord;
use crate::model::ids::NeuronId;
use crate::review::Verdict;
use crate::review::belief::declined;

/// Of a branch that brings nothing to judge: why.
pub(super) const SECOND: &str = "wake has another record of the same run: nothing learns from that";
/// Of a branch whose run says nothing.
pub(super) const UNREAD: &str = "its record cannot be read: nothing learns from it";

impl Brain {
    /// The words of a run that a decision keeps out; of a run of strangers nothing is told.
    pub(super) fn declined(&self, record: &RunRecord, verdict: Verdict, kept: &[usize]) -> Result<String, BrainError> {
        let is_tainted = self.cycle.shared.policy.settings.origins.is_tainted(&record.origin);
        let asked = verdict != Verdict::Approve && !is_tainted;
        if !asked {
            return Ok(String::new());
        }
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let words_of = |id: &NeuronId| {
            // Words of strangers teach nobody, also where a trusted run speaks of them.
            let origins = &self.cycle.shared.policy.settings.origins;
            let neuron = network.neuron(id).ok().flatten().filter(|neuron| !origins.is_tainted(&neuron.origin));
            neuron.map_or_else(|| id.to_string(), |neuron| neuron.concept)
        };
        Ok(declined(verdict, kept, record, words_of).map(|said| clip(&said)).unwrap_or_default())
    }

    /// Removes a branch that says nothing to judge: nothing is recorded, and nothing learns from it.
    pub(super) fn remove_unjudged(
        &self,
        request: &ReviewRequest,
        waiting: &WaitingRun,
        why: &str,
    ) -> Result<ReviewReport, BrainError> {
        let reviewer = self.reviewer(waiting, request.on_behalf.as_deref())?;
        let decision = Decision { by: reviewer.clone(), verb: "reject", review: None };
        let rejected = self.cycle.reject_run(waiting.branch.as_str(), Some(decision), request.dry_run)?;
        Ok(ReviewReport {
            run: waiting.run.to_string(),
            branch: waiting.branch.to_string(),
            verdict: Verdict::Reject,
            review: String::new(),
            reviewer,
            landed: None,
            expected: None,
            value: 0.0,
            error: None,
            credited: 0,
            everywhere: rejected.everywhere,
            wake: self.at(None)?.to_string(),
            notes: vec![why.to_owned()],
            already: false,
            dry_run: request.dry_run,
        })
    }
}
