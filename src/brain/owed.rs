//! Decisions that are carried out again, after commits were left out in which they stood.

use super::{Brain, BrainError, OutcomeRequest, ReviewRequest};
use crate::cycle::network::TreeNetwork;
use crate::cycle::sync::Owed;
use crate::delta::{Document, Method, Operation, RunRecord};
use crate::model::ids::RunId;
use crate::model::{Origin, json};
use crate::review::{ReviewRecord, Verdict};
use crate::store::CommitId;

impl Brain {
    /// Carries out again what was decided on runs that wait again, lets in what was approved and nobody has any more, takes back what people had taken
    /// back, restores what they had restored, and judges again what they had judged. A sentence for each.
    pub(super) fn decided_again(&self, owed: &Owed) -> Vec<String> {
        let mut notes = Vec::new();
        // What was carried out first comes first: a run is approved, and then taken back.
        match self.decided_and_waiting(owed.was) {
            Ok(requests) => {
                for request in requests {
                    match self.decide_run(&request) {
                        Ok(done) => notes.push(format!(
                            "{} is {} again, as {} decided",
                            done.run,
                            done.verdict.done(),
                            done.reviewer
                        )),
                        Err(error) => notes.push(format!("{} waits: {error}", request.run)),
                    }
                }
            }
            Err(error) => notes.push(format!("decisions on runs that wait again are not carried out: {error}")),
        }
        for (run, again, waits) in &owed.approved {
            match self.let_in_again(run, again, *waits) {
                Ok(told) => notes.extend(told),
                Err(error) => notes.push(format!("{again}, which says what you approved as {run}, waits: {error}")),
            }
        }
        for run in &owed.reverts {
            // What is not done again need not be taken back.
            let is_there = || {
                Ok::<_, BrainError>(self.cycle.run_to_revert(run, self.cycle.store.tree_of(self.at(None)?)?).is_ok())
            };
            match is_there().and_then(|there| there.then(|| self.revert_run(run.as_str(), false)).transpose()) {
                Ok(Some(report)) => notes.push(format!("{run} is taken back again, by {}", report.by.join(", "))),
                Ok(None) => {}
                Err(error) => notes.push(format!("{run} is not taken back again: {error}")),
            }
        }
        for neuron in &owed.restored {
            match self.restore(neuron.as_str(), false) {
                Ok(restored) => notes.push(format!("{neuron} is restored again, by {}", restored.run)),
                Err(error) => notes.push(format!("{neuron} is not restored again: {error}")),
            }
        }
        notes.extend(owed.outcomes.iter().flat_map(|record| self.judged_again(record)));
        notes
    }

    /// Judges again what a person had judged, in the words and of the origin that it had.
    fn judged_again(&self, record: &RunRecord) -> Vec<String> {
        let from = Some(&record.origin).filter(|origin| **origin != Origin::local());
        let outcomes = record.ops.iter().filter_map(|op| match op {
            Operation::Outcome(outcome) => Some(outcome),
            _ => None,
        });
        let judged = outcomes.map(|outcome| {
            let value = (outcome.method != Method::Unjudged).then_some(outcome.value);
            let (run, text) = (outcome.run.to_string(), outcome.text.clone());
            match self.outcome_from(&OutcomeRequest { run, value, text, ..OutcomeRequest::default() }, from) {
                Ok(report) => format!("the outcome of {} is entered again, by {}", outcome.run, report.run),
                Err(error) => {
                    let said = value.map_or_else(
                        || format!("{:?}", outcome.text.as_deref().unwrap_or_default()),
                        |value| value.to_string(),
                    );
                    format!(
                        "the outcome {said} of {}, entered by {}, is not entered again: {error}",
                        outcome.run, record.run
                    )
                }
            }
        });
        judged.collect()
    }

    /// Approves what says again what a run said that the person had approved, where it waits, and archives what that replaces.
    fn let_in_again(&self, run: &RunId, again: &RunId, waits: bool) -> Result<Vec<String>, BrainError> {
        let mut notes = Vec::new();
        if waits {
            let (_, person) = self.cycle.store.user();
            let own = |review: &ReviewRecord| review.verdict == Verdict::Approve && review.address() == person;
            let review = self.cycle.reviews_of(run)?.into_iter().rev().find(own);
            let (via, why) = review.map(|review| (review.via, review.why)).unwrap_or_default();
            let request = ReviewRequest { via, ..ReviewRequest::new(again.as_str(), Verdict::Approve, &why) };
            notes.extend(self.decide_run(&request)?.notes);
        } else {
            self.replaced_again(again, &mut notes)?;
        }
        notes.push(format!("{run} is let in again, as {again}, because you had approved it"));
        Ok(notes)
    }

    /// The decisions that count on runs that wait, as requests to carry them out; `was`: wake as it was when they were.
    fn decided_and_waiting(&self, was: CommitId) -> Result<Vec<ReviewRequest>, BrainError> {
        let (cycle, mut requests) = (&self.cycle, Vec::new());
        let network = TreeNetwork::new(&cycle.store, cycle.store.tree_of(self.at(None)?)?);
        let before = TreeNetwork::new(&cycle.store, cycle.store.tree_of(was)?);
        for (branch, tip, run) in cycle.branches_of_runs()? {
            let waiting = cycle.waiting_run(branch, tip, run)?;
            let Some(review) = self.decision_on_waiting(&waiting)? else { continue };
            let (verdict, document) = match review.verdict {
                // What landed of it is there, or was and is taken back again, and what is left of the run is not.
                Verdict::Amend => {
                    let Some(lands) = &review.lands else { continue };
                    let Some(landed) = network.record(lands)?.or(before.record(lands)?) else { continue };
                    let own = cycle.waiting_record(&waiting)?.ops;
                    let mut ops = landed.ops;
                    for op in review.kept.iter().filter_map(|number| own.get(number - 1)) {
                        if !ops.contains(op) {
                            ops.push(op.clone());
                        }
                    }
                    let document = Document { agent: None, prediction: None, ops };
                    (Verdict::Approve, Some(String::from_utf8_lossy(&json::pretty(&document)).into_owned()))
                }
                verdict => (verdict, None),
            };
            requests.push(ReviewRequest {
                seen: Some(review.commit),
                via: review.via,
                council: review.council,
                document,
                ..ReviewRequest::new(waiting.branch.as_str(), verdict, &review.why)
            });
        }
        Ok(requests)
    }
}
