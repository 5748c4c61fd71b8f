//! Of several decisions on a run, the one that stands: wake has what it decided.

use super::let_in::LetIn;
use super::network::TreeNetwork;
use super::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::review::{ReviewRecord, Verdict};

impl Cycle {
    /// Whether wake has what a review decided. Of several decisions on a run one stands: an amendment whose run is in wake and was not taken
    /// back leaves of the run itself what a rejection leaves.
    pub fn stands(&self, network: &TreeNetwork<'_>, review: &ReviewRecord) -> Result<bool, CycleError> {
        let lives = |review: &ReviewRecord| match &review.lands {
            Some(landed) => self.lives(network, landed),
            None => Ok(false),
        };
        let record = network.record(&review.run)?;
        let is_left = record.as_ref().is_some_and(|record| record.effects.is_empty());
        Ok(match review.verdict {
            Verdict::Approve => {
                record.is_some_and(|record| !record.is_left_over()) && self.lives(network, &review.run)?
            }
            // Where somebody merged the whole run beside it, it keeps nothing out.
            Verdict::Amend if review.lands.is_some() => {
                record.is_none_or(|record| record.is_left_over()) && lives(review)?
            }
            Verdict::Amend | Verdict::Reject => {
                let mut others = self.reviews_of(&review.run)?.into_iter();
                is_left && !others.try_fold(false, |any, other| Ok::<_, CycleError>(any || lives(&other)?))?
            }
        })
    }

    /// The same, also if what an amendment landed was taken back since: its reason holds.
    pub fn was_carried_out(&self, network: &TreeNetwork<'_>, review: &ReviewRecord) -> Result<bool, CycleError> {
        if self.stands(network, review)? {
            return Ok(true);
        }
        let landed = review.lands.as_ref().map(|landed| network.record(landed)).transpose()?.flatten();
        // The whole run landed otherwise: the decision gave way to that.
        if network.record(&review.run)?.is_some_and(|record| !record.is_left_over()) {
            return Ok(false);
        }
        // One that gave way to another decision teaches nothing.
        let first = self.decision_that_stands(network, &review.run)?;
        Ok(landed.is_some() && first.is_none_or(|first| first.review == review.review))
    }

    /// The decision on a run that wake has, of several; else the newest.
    pub fn decision_that_stands(
        &self,
        network: &TreeNetwork<'_>,
        run: &RunId,
    ) -> Result<Option<ReviewRecord>, CycleError> {
        let mut reviews = self.reviews_of(run)?;
        // Who accepts a finding decides on no run.
        reviews.retain(|review| !review.is_of_audit());
        for at in (0..reviews.len()).rev() {
            if self.holds_for_its_run(&reviews[at])? && self.stands(network, &reviews[at])? {
                return Ok(Some(reviews.swap_remove(at)));
            }
        }
        Ok(reviews.pop())
    }

    /// Whether wake has a run that nobody took back.
    pub fn lives(&self, network: &TreeNetwork<'_>, run: &RunId) -> Result<bool, CycleError> {
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        Ok(network.record(run)?.is_some() && self.run_to_revert(run, tree).is_ok())
    }

    /// The words of the decision on a run that stands, without statements that a later one let in.
    pub fn words_of_review(&self, run: &RunId, let_in: &LetIn) -> Result<Option<String>, CycleError> {
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::new(&self.store, wake);
        match self.decision_that_stands(&network, run)? {
            Some(review) if self.holds_for_its_run(&review)? => {
                let review = self.with_remarks(review)?;
                let words = review.words();
                Ok(Some(let_in.without(review).map_or(words, |review| review.lesson())))
            }
            _ => Ok(None),
        }
    }
}
