//! The words of a run that a decision keeps out, and branches that say nothing to judge.

use std::collections::BTreeSet;

use super::decision::{ReviewReport, ReviewRequest};
use super::prime::clip;
use super::replaced::of_two;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reject::Decision;
use crate::cycle::reviewing::WaitingRun;
use crate::delta::{Document, Operation, RunRecord};
use crate::model::Origin;
use crate::model::ids::{NeuronId, episode_id};
use crate::review::belief::{ChangeKind, operation};
use crate::review::kept_out::{digest, is_about_a_secret, kept_out, speaks_of_a_secret};
use crate::review::{Belief, ReviewRecord, Verdict};
use crate::store::Commit;

/// Lines of each kind that a dry run shows.
const SHOWN: usize = 20;

/// Decisions that are looked through for what was kept out before.
const LOOKED_AT: usize = 100;

/// Of a branch that brings nothing to judge: why.
pub(super) const SECOND: &str = "wake has another record of the same run: nothing learns from that";
/// Of a branch whose run says nothing.
pub(super) const UNREAD: &str = "its record cannot be read: nothing learns from it";

impl Brain {
    /// Puts the words of a run that a decision keeps out into it, and digests of those that it does not keep: all of a run of strangers, or if the reviewer
    /// says so or the reason is that they hold a secret, else those that speak of one. What lands by an edit word for word is not kept out. What a
    /// council's decision tells follows from the run alone, whichever machine carries it out: there every other origin is a stranger's.
    pub(super) fn quote_declined(
        &self,
        (record, own): (&RunRecord, &Commit),
        lands: Option<&Document>,
        review: &mut ReviewRecord,
        forget: bool,
    ) -> Result<(), BrainError> {
        let shared = &self.cycle.shared;
        let by_council = review.council.is_some();
        let is_strange = |origin: &Origin| match by_council {
            true => origin.is_foreign(),
            false => shared.policy.settings.origins.is_tainted(origin),
        };
        if review.verdict == Verdict::Approve {
            return Ok(());
        }
        // As the run has them, so that a gate finds them there as well.
        let network = TreeNetwork::new(&self.cycle.store, own.tree);
        let words_of = |id: &NeuronId| {
            // Words of strangers teach nobody, also where a trusted run speaks of them.
            let neuron = network.neuron(id).ok().flatten().filter(|neuron| !is_strange(&neuron.origin));
            neuron.map_or_else(|| id.to_string(), |neuron| neuron.concept)
        };
        let forget = forget || is_strange(&record.origin) || is_about_a_secret(&review.why);
        let ops = lands.map(|document| document.ops.clone()).unwrap_or_default();
        let lands = kept_out(Verdict::Reject, &[], &RunRecord { ops, ..record.clone() }, words_of);
        let stays_out = |said: &String| !lands.iter().any(|landed| clip(landed) == clip(said));
        for said in kept_out(review.verdict, &review.kept, record, words_of).into_iter().filter(stays_out) {
            // A secret of this machine's variables never came into a record here.
            let is_secret =
                speaks_of_a_secret(&said) || (!by_council && !shared.secrets.find(said.as_bytes()).is_empty());
            match forget || is_secret {
                true => review.forgotten.push(digest(&review.review, &clip(&said))),
                false => review.declined.0.push(clip(&said)),
            }
        }
        Ok(())
    }

    /// Lines that say what a decision would let in and keep out.
    pub(super) fn would_land(
        &self,
        record: &RunRecord,
        document: Option<&Document>,
        review: &ReviewRecord,
        notes: Vec<String>,
    ) -> Result<Vec<String>, BrainError> {
        // Words that a newer run has in wake stay: what would not land is told by a note.
        let lands_as_it_is = |op: &&Operation| match op {
            Operation::Reword(reword) => {
                !notes.iter().any(|note| note.starts_with(reword.id.as_str()) && note.ends_with("does not land"))
            }
            _ => true,
        };
        let lands: Vec<String> = match (document, review.verdict) {
            (Some(document), _) => document.ops.iter().map(operation).collect(),
            (None, Verdict::Reject) => Vec::new(),
            (None, _) => record.ops.iter().filter(lands_as_it_is).map(operation).collect(),
        };
        let mut lines = notes.clone();
        lines.extend(lands.iter().take(SHOWN).map(|op| format!("lands: {op}")));
        lines.extend((lands.len() > SHOWN).then(|| format!("and {} more operations", lands.len() - SHOWN)));
        if review.verdict != Verdict::Approve {
            let out = (1..=record.ops.len()).filter(|number| !review.kept.contains(number));
            let out: Vec<String> =
                out.map(|number| format!("{number} {}", operation(&record.ops[number - 1]))).collect();
            let how = if review.edited > 0 { "does not land as it is" } else { "does not land" };
            lines.extend(out.iter().take(SHOWN).map(|op| format!("{how}: {op}")));
            lines.extend((out.len() > SHOWN).then(|| format!("nor {} more", out.len() - SHOWN)));
        }
        if review.verdict != Verdict::Reject {
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
            let replaced = self.cycle.replaced_by(&network, record, false)?;
            lines.extend(replaced.iter().take(SHOWN).map(|one| match one.stays {
                true => one.words(self.cycle.store.main()),
                false => format!("archives {}: {:?}", one.neuron.id, clip(&one.neuron.concept)),
            }));
            let rivals = self.rivals(record, true, false)?;
            lines.extend(rivals.iter().map(|rival| of_two(&episode_id(&rival.earlier.id), &rival.later)));
            lines.extend(self.cycle.hidden_by(&network, record, false)?);
        }
        Ok(lines)
    }

    /// Words of a waiting run that a decision which stands let in already, and words that were kept out before, each with who did and why.
    pub(super) fn declined_before(&self, belief: &Belief) -> Result<Vec<String>, BrainError> {
        let stated = belief.neurons.iter().filter(|change| !matches!(change.what, ChangeKind::Removed));
        let stated: BTreeSet<String> = stated.map(|change| clip(&change.concept)).collect();
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let let_in = self.cycle.let_in(&network)?;
        let believed = stated.iter().filter_map(|said| Some((said, let_in.by(said)?)));
        let mut notes: Vec<String> =
            believed.map(|(said, words)| format!("{said:?} is believed already: {words}")).collect();
        for review in self.cycle.newest_reviews(LOOKED_AT)? {
            if review.run.as_str() == belief.run || review.declined.is_empty() && review.forgotten.is_empty() {
                continue;
            }
            let review = self.cycle.with_remarks(review)?;
            let is_again = |said: &&String| {
                let is_known =
                    review.declined.0.contains(said) || review.forgotten.contains(&digest(&review.review, said));
                is_known && !let_in.is_later(&review, said)
            };
            let again: Vec<&String> = stated.iter().filter(is_again).collect();
            if !again.is_empty()
                && review.again.is_none()
                && self.cycle.holds_for_its_run(&review)?
                && self.cycle.was_carried_out(&network, &review)?
            {
                notes.extend(again.iter().map(|said| format!("{said:?} was kept out before: {}", review.words())));
            }
        }
        Ok(notes)
    }

    /// Removes a branch that says nothing to judge: nothing is recorded, and nothing learns from it.
    pub(super) fn remove_unjudged(
        &self,
        request: &ReviewRequest,
        waiting: &WaitingRun,
        why: &str,
    ) -> Result<ReviewReport, BrainError> {
        let reviewer = self.reviewer(waiting, request.on_behalf.as_deref())?;
        let decision =
            Decision { by: reviewer.clone(), verb: "reject", review: None, forget: request.forget, kept: &[] };
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
            told: Vec::new(),
            forgotten: 0,
            wake: self.at(None)?.to_string(),
            notes: vec![why.to_owned()],
            already: false,
            dry_run: request.dry_run,
        })
    }
}
