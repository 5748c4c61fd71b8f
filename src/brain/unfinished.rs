//! A decision that a kill cut off: the next command that moves something carries it out, or finishes what is left of it, so that a decision that is
//! known elsewhere is what stands here.

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError, ReviewRequest};
use crate::cycle::network::TreeNetwork;
use crate::model::ids::RunId;
use crate::model::json;
use crate::review::ReviewRecord;
use crate::store::LockName;

/// A decision under way, as it is kept on this machine.
#[derive(Serialize, Deserialize)]
struct Begun {
    run: RunId,
    review: String,
    /// Whether its run learns from it.
    teaches: bool,
    request: ReviewRequest,
}

impl Brain {
    /// Marks a decision as under way, under the lock of reviews.
    pub(super) fn begin_decision(
        &self,
        review: &ReviewRecord,
        request: &ReviewRequest,
        teaches: bool,
    ) -> Result<(), BrainError> {
        let request = ReviewRequest {
            run: review.run.to_string(),
            seen: Some(review.commit.clone()),
            why: review.why.clone(),
            ..request.clone()
        };
        let begun = Begun { run: review.run.clone(), review: review.review.to_string(), teaches, request };
        Ok(self.cycle.store.begin_decision(&json::pretty(&begun))?)
    }

    /// Goes on with what a killed process left of a decision, and says so. What cannot be finished stops nobody.
    pub(super) fn finish_left(&self) -> Vec<String> {
        let store = &self.cycle.store;
        if store.is_rehearsal() || store.begun_decision().is_none() {
            return Vec::new();
        }
        // Where somebody has the lock, the decision is under way.
        let finished = store.try_lock(LockName::Review).map_err(BrainError::from).and_then(|lock| match lock {
            Some(_alone) => self.finish_begun(),
            None => Ok(Vec::new()),
        });
        finished.unwrap_or_else(|error| {
            tracing::warn!("a decision that was cut off is not finished: {error}");
            Vec::new()
        })
    }

    /// The same, under the lock of reviews.
    pub(super) fn finish_begun(&self) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let Some(text) = store.begun_decision() else { return Ok(Vec::new()) };
        let begun = serde_json::from_slice::<Begun>(&text).ok();
        let known = match &begun {
            Some(begun) => {
                self.cycle.reviews_of(&begun.run)?.into_iter().find(|known| known.review.as_str() == begun.review)
            }
            None => None,
        };
        // What does not parse, or was never recorded, was decided by nobody.
        let (Some(begun), Some(review)) = (begun, known) else {
            store.end_decision();
            return Ok(Vec::new());
        };
        let mut notes = vec![format!(
            "{} was {} by {}, which was cut off, and is finished now",
            begun.run,
            review.verdict.done(),
            review.reviewer
        )];
        if self.cycle.waiting_named(begun.run.as_str())?.is_some() {
            return match self.decide_alone(&begun.request, Vec::new()) {
                Ok(_) => Ok(notes),
                // What stands in its way now, who decides again is told.
                Err(error @ (BrainError::Refused { .. } | BrainError::Usage { .. })) => {
                    store.end_decision();
                    Ok(vec![format!("a decision on {} that was cut off cannot be carried out: {error}", begun.run)])
                }
                Err(error) => Err(error),
            };
        }
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        match network.record(&begun.run)? {
            Some(record) if self.cycle.counts_for_its_run(&review)? && self.cycle.stands(&network, &review)? => {
                self.replaced_by_review(&record, &review, &review.named(), &mut notes)?;
                if begun.teaches {
                    self.learn_from_review(&record, &review, &mut notes)?;
                }
            }
            _ => notes.clear(),
        }
        store.end_decision();
        Ok(notes)
    }
}
