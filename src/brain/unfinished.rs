//! A decision that a kill cut off between its record and its lesson: the next command that moves something finishes it.

use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::model::ids::RunId;
use crate::review::ReviewRecord;
use crate::store::LockName;

/// The mark of a decision of which nothing is learnt.
const NO_LESSON: &str = "-";

impl Brain {
    /// Marks a decision as under way, under the lock of reviews.
    pub(super) fn begin_decision(&self, review: &ReviewRecord, teaches: bool) -> Result<(), BrainError> {
        let lesson = if teaches { "+" } else { NO_LESSON };
        Ok(self.cycle.store.begin_decision(&format!("{} {} {lesson}", review.run, review.review))?)
    }

    /// Finishes what a killed process left of a decision that landed, and says so. What cannot be finished stops nobody, and is tried again.
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
        let Some(begun) = store.begun_decision() else { return Ok(Vec::new()) };
        let mut words = begun.split_whitespace();
        let run = words.next().and_then(|run| RunId::parse(run).ok());
        let (review, lesson) = (words.next(), words.next());
        let Some(run) = run else {
            store.end_decision();
            return Ok(Vec::new());
        };
        // Nothing of it landed: the same decision again carries it out.
        if self.cycle.waiting_named(run.as_str())?.is_some() {
            return Ok(Vec::new());
        }
        let network = TreeNetwork::new(store, store.tree_of(self.at(None)?)?);
        let known = self.cycle.reviews_of(&run)?.into_iter().find(|known| Some(known.review.as_str()) == review);
        let mut notes = Vec::new();
        if let (Some(record), Some(review)) = (network.record(&run)?, known)
            && self.cycle.counts_for_its_run(&review)?
            && self.stands(&network, &review)?
        {
            notes.push(format!(
                "{run} was {} by {}, which was cut off, and is finished now",
                review.verdict.done(),
                review.reviewer
            ));
            self.replaced_by_review(&record, &review, &review.named(), &mut notes)?;
            if lesson != Some(NO_LESSON) {
                self.learn_from_review(&record, &review, &mut notes)?;
            }
        }
        store.end_decision();
        Ok(notes)
    }
}
