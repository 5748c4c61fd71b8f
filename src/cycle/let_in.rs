//! Statements that decisions let in, word for word: of several decisions on one statement the newest holds. Place in the flow: decisions and wake →
//! **let in** → the words that people and agents are told were kept out. Must not write anything.

use std::collections::BTreeMap;

use super::network::TreeNetwork;
use super::{Cycle, CycleError};
use crate::model::ids::{RunId, normalise};
use crate::review::kept_out::{clip, digest};
use crate::review::{ReviewRecord, Verdict};

/// Decisions that are looked through.
const DECISIONS: usize = 100;

/// The statements that decisions let in and wake still says.
#[derive(Debug, Default)]
pub struct LetIn {
    /// By statement, the decision or the run that takes a rejection back, and the decision in words.
    statements: BTreeMap<String, (RunId, String)>,
}

impl Cycle {
    /// The statements that the newest decisions let in and wake still says.
    pub fn let_in(&self, network: &TreeNetwork<'_>) -> Result<LetIn, CycleError> {
        let mut found = LetIn::default();
        for review in self.newest_reviews(DECISIONS)? {
            let review = match review.verdict {
                Verdict::Reject => self.with_remarks(review)?,
                _ => review,
            };
            let Some(landed) = review.landed() else { continue };
            let at = review.again.as_ref().unwrap_or(&review.review);
            let Some(record) = network.record(landed)? else { continue };
            let mut said_by_it = Vec::new();
            for effect in &record.effects {
                let Some(said) = effect.said() else { continue };
                let Some(neuron) = effect.id().map(|id| network.shared(id)).transpose()?.flatten() else { continue };
                if neuron.is_archived() || neuron.concept != said {
                    continue;
                }
                said_by_it.push(normalise(&clip(said)));
            }
            // Whether it counts is asked last: that may walk along wake.
            if said_by_it.is_empty() || !self.holds_for_its_run(&review)? {
                continue;
            }
            for said in said_by_it {
                let newest = found.statements.entry(said).or_insert_with(|| (at.clone(), review.words()));
                if newest.0 < *at {
                    *newest = (at.clone(), review.words());
                }
            }
        }
        Ok(found)
    }
}

impl LetIn {
    /// The decision that let a statement in, in words.
    pub fn by(&self, said: &str) -> Option<&str> {
        self.statements.get(&normalise(said)).map(|(_, words)| words.as_str())
    }

    /// Whether a later decision let in what that one kept out.
    pub fn is_later(&self, review: &ReviewRecord, said: &str) -> bool {
        self.statements.get(&normalise(said)).is_some_and(|(at, _)| *at > review.review)
    }

    /// A decision without the statements that a later one let in; `None`: it kept nothing else out.
    #[must_use]
    pub fn without(&self, mut review: ReviewRecord) -> Option<ReviewRecord> {
        let before = review.declined.0.len() + review.forgotten.len();
        let mut declined = std::mem::take(&mut review.declined.0);
        declined.retain(|said| !self.is_later(&review, said));
        review.declined.0 = declined;
        let later = self.statements.iter().filter(|(_, (at, _))| *at > review.review);
        let digests: Vec<String> = later.map(|(said, _)| digest(&review.review, said)).collect();
        review.forgotten.retain(|known| !digests.contains(known));
        let left = review.declined.0.len() + review.forgotten.len();
        (before == 0 || left > 0).then_some(review)
    }
}
