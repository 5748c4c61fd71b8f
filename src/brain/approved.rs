//! Runs that reviewers let in, with their words, for `why` and for agents that start. Place in the flow: decisions and wake →
//! **approved** → `why` and `prime`. Must not write anything.

use super::prime::PrimeMemory;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::model::Stamp;
use crate::model::ids::RunId;
use crate::review::belief::speak_of_the_same;
use crate::review::{REASON, ReviewRecord, Verdict};
use crate::store::CommitId;

/// Decisions that are looked through for what they let in.
const DECISIONS: usize = 100;
/// Beliefs of them that are held against the memories.
const BELIEFS: usize = 32;

impl Brain {
    /// The refusal to decide on a run that wake has, and on which nobody decided. A branch may have another commit of it.
    pub(super) fn has_landed(&self, run: &RunId, is_its_commit: bool) -> BrainError {
        let hint = match is_its_commit {
            true => format!("`git brain revert {run}` takes it back"),
            false => format!("`git brain reject {run}` removes its branch here, which has another commit of it"),
        };
        let message = format!("{run} has landed without a decision: {} has its record", self.cycle.store.wake());
        BrainError::Refused { message, hint: Some(hint) }
    }

    /// Who let in what a run did, and why, in words; `None`: nobody decided on it.
    pub(super) fn decision_on(&self, run: &str, trigger: Option<&str>) -> Result<Option<String>, BrainError> {
        let about = trigger.and_then(|trigger| trigger.strip_prefix(REASON)).unwrap_or(run);
        let Ok(run) = RunId::parse(about) else { return Ok(None) };
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let mut other = None;
        for review in self.cycle.reviews_of(&run)?.iter().rev() {
            if !self.cycle.holds_for_its_run(review)? {
                continue;
            }
            if review.verdict == Verdict::Reject {
                if let Some(words) = self.taken_back_in_words(review)? {
                    return Ok(Some(words));
                }
                continue;
            }
            // Of several the one by which it is there; of a run that was taken back since, the newest.
            if self.cycle.stands(&network, review)? {
                return Ok(Some(review.words()));
            }
            other = other.or_else(|| Some(review.words()));
        }
        Ok(other)
    }

    /// The words of who took a rejection back; `None`: it stands.
    fn taken_back_in_words(&self, review: &ReviewRecord) -> Result<Option<String>, BrainError> {
        let told = self.cycle.with_remarks(review.clone())?;
        let Some(again) = &told.again else { return Ok(None) };
        let by = self.cycle.taken_back_as(&review.run, again)?.map(|(remark, _)| remark);
        Ok(by.map(|remark| format!("the rejection was {}", remark.why)))
    }

    /// What reviewers approved and wake still says so, the newest decision first, with when they decided.
    fn approved_beliefs(&self, wake: CommitId) -> Result<Vec<(Stamp, PrimeMemory)>, BrainError> {
        let store = &self.cycle.store;
        let network = TreeNetwork::remembering(store, store.tree_of(wake)?, &self.cycle.shared.neurons);
        let mut found: Vec<(Stamp, PrimeMemory)> = Vec::new();
        for review in self.cycle.newest_reviews(DECISIONS)? {
            if found.len() >= BELIEFS {
                break;
            }
            let landed = match review.verdict {
                // One that was taken back lets in what the run says that took it back.
                Verdict::Reject => self.cycle.with_remarks(review.clone())?.again,
                _ => Some(review.lands.as_ref().unwrap_or(&review.run).clone()),
            };
            let Some(landed) = landed else { continue };
            if !self.cycle.holds_for_its_run(&review)? {
                continue;
            }
            let Some(record) = network.record(&landed)? else { continue };
            for effect in &record.effects {
                let Some(said) = effect.said() else { continue };
                let Some(neuron) = effect.id().map(|id| network.shared(id)).transpose()?.flatten() else { continue };
                let shown = self.shown(&neuron).filter(|one| one.text == said);
                found.extend(
                    shown.filter(|one| found.iter().all(|(_, known)| known.id != one.id)).map(|one| (review.at, one)),
                );
            }
        }
        Ok(found)
    }

    /// Puts what reviewers approved before the first older memory that speaks of the same and says something else.
    pub(super) fn approved_first(&self, memories: &mut Vec<PrimeMemory>, wake: CommitId) -> Result<(), BrainError> {
        let mut approved = self.approved_beliefs(wake)?;
        // The newest is placed last, and so comes first of several about one thing.
        approved.reverse();
        for (decided, belief) in approved {
            let is_older = |one: &PrimeMemory| one.id != belief.id && !one.approved && one.at <= decided;
            let other = memories.iter().position(|one| is_older(one) && speak_of_the_same(&one.text, &belief.text));
            let own = memories.iter().position(|one| one.id == belief.id);
            if let Some(own) = own {
                memories[own].approved = true;
            }
            let Some(other) = other.filter(|other| own.is_none_or(|own| own > *other)) else { continue };
            let code = own.map(|own| memories.remove(own).code).unwrap_or_default();
            memories.insert(other, PrimeMemory { approved: true, code, ..belief });
        }
        Ok(())
    }
}
