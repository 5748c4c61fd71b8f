//! The words of a run that a decision keeps out, and branches that say nothing to judge.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::{ReviewReport, ReviewRequest};
use super::prime::clip;
use super::replaced::of_two;
use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::cycle::reject::Decision;
use crate::cycle::reviewing::WaitingRun;
use crate::delta::{Document, Operation, RunRecord};
use crate::model::ids::{NeuronId, episode_id};
use crate::model::{Kind, Origin, plural};
use crate::review::belief::{ChangeKind, operation};
use crate::review::kept_out::{digest, is_about_a_secret, kept_out, speaks_of_a_secret};
use crate::review::{Belief, ReviewRecord, Verdict};
use crate::store::Commit;

/// Lines of each kind that a dry run shows.
const SHOWN: usize = 20;

/// Operations that a decision names of what it let land.
const LANDED: usize = 5;

/// Decisions that are looked through for what was kept out before.
const LOOKED_AT: usize = 100;

/// Of a branch that brings nothing to judge: why.
pub(super) const SECOND: &str = "wake has another record of the same run: nothing learns from that";
/// Of a branch whose run says nothing.
pub(super) const UNREAD: &str = "its record cannot be read: nothing learns from it";

impl Brain {
    /// Puts the words of a run that a decision keeps out into it, and digests of those that it does not keep: all of a run of strangers, or if the reviewer
    /// says so or the reason is that they hold a secret, else those that speak of one, or that an earlier decision kept back. What lands by an edit word for
    /// word is not kept out, nor is what wake believes already: lines say so. What a council's decision tells follows from the run alone, whichever
    /// machine carries it out: there every other origin is a stranger's.
    pub(super) fn quote_declined(
        &self,
        (record, own): (&RunRecord, &Commit),
        lands: Option<&Document>,
        review: &mut ReviewRecord,
        forget: bool,
    ) -> Result<Vec<String>, BrainError> {
        let shared = &self.cycle.shared;
        let by_council = review.council.is_some();
        let is_strange = |origin: &Origin| match by_council {
            true => origin.is_foreign(),
            false => shared.policy.settings.origins.is_tainted(origin),
        };
        if review.verdict == Verdict::Approve {
            return Ok(Vec::new());
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
        let believed = if by_council { BTreeMap::new() } else { self.believed_of(record)? };
        let earlier = if by_council { Vec::new() } else { self.decisions_that_keep_back()? };
        let mut notes = Vec::new();
        let stays_out = |said: &String| !lands.iter().any(|landed| clip(landed) == clip(said));
        for said in kept_out(review.verdict, &review.kept, record, words_of).into_iter().filter(stays_out) {
            let said = clip(&said);
            if let Some(id) = believed.get(&said) {
                notes.push(format!("{said:?} is believed already, as {id}: this decision says nothing of it"));
                continue;
            }
            // A secret of this machine's variables never came into a record here.
            let is_secret =
                speaks_of_a_secret(&said) || (!by_council && !shared.secrets.find(said.as_bytes()).is_empty());
            let before = earlier.iter().find(|earlier| earlier.forgotten.contains(&digest(&earlier.review, &said)));
            if let Some(before) = before.filter(|_| !forget && !is_secret) {
                notes.push(format!(
                    "the words of one statement are kept back, as those of {} are by {}",
                    before.run, before.reviewer
                ));
            }
            match forget || is_secret || before.is_some() {
                true => review.forgotten.push(digest(&review.review, &said)),
                false => review.declined.0.push(said),
            }
        }
        Ok(notes)
    }

    /// Statements of a run that wake has word for word, of an origin that is trusted, each with the neuron that says it.
    fn believed_of(&self, record: &RunRecord) -> Result<BTreeMap<String, NeuronId>, BrainError> {
        let shared = &self.cycle.shared;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let made = |said: &str| {
            let mut made = record.effects.iter().filter_map(|effect| effect.created.as_deref());
            made.find(|neuron| neuron.concept == said).map(|neuron| neuron.id.clone())
        };
        let mut believed = BTreeMap::new();
        for op in &record.ops {
            let (id, said) = match op {
                Operation::Create(create) => match create.id.clone().or_else(|| made(&create.concept)) {
                    Some(id) => (id, &create.concept),
                    None if create.kind == Kind::Semantic => {
                        (shared.concept(&network, &create.concept)?, &create.concept)
                    }
                    None => continue,
                },
                Operation::Reword(reword) => (reword.id.clone(), &reword.concept),
                _ => continue,
            };
            let is_believed = network.neuron(&id)?.is_some_and(|neuron| {
                let is_trusted = !shared.policy.settings.origins.is_tainted(&neuron.origin);
                is_trusted && !neuron.is_archived() && neuron.concept == *said
            });
            if is_believed {
                believed.insert(clip(said), id);
            }
        }
        Ok(believed)
    }

    /// The newest decisions that keep words of statements back because a person said so, or because they speak of a secret.
    fn decisions_that_keep_back(&self) -> Result<Vec<ReviewRecord>, BrainError> {
        let mut found = Vec::new();
        for review in self.cycle.newest_reviews(LOOKED_AT)? {
            let review = self.cycle.with_remarks(review)?;
            if review.again.is_none() && self.cycle.keeps_back(&review)? && self.cycle.holds_for_its_run(&review)? {
                found.push(review);
            }
        }
        Ok(found)
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

    /// After a rejection, other runs of the same agent on the same texts that wait: two machines perceived them. A sentence for each.
    pub(super) fn waits_as_well(&self, record: &RunRecord, verdict: Verdict) -> Result<Vec<String>, BrainError> {
        let mut notes = Vec::new();
        if verdict != Verdict::Reject || record.stimuli.is_empty() {
            return Ok(notes);
        }
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            if run.agent() != record.agent {
                continue;
            }
            let waiting = self.cycle.waiting_run(branch, tip, run)?;
            let Ok(other) = self.cycle.waiting_record(&waiting) else { continue };
            if other.stimuli.iter().any(|id| record.stimuli.contains(id)) {
                let run = &other.run;
                notes.push(format!("{run} rests on the same text, and waits as well: `git brain reject {run}`"));
            }
        }
        Ok(notes)
    }

    /// Lines that say which operations of a run landed.
    pub(super) fn landed_in_part(document: &Document) -> Vec<String> {
        let mut lines: Vec<String> =
            document.ops.iter().take(LANDED).map(|op| format!("landed: {}", operation(op))).collect();
        let more = document.ops.len().saturating_sub(LANDED);
        lines.extend((more > 0).then(|| format!("landed: {} besides", plural(more, "operation", "operations"))));
        lines
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
                notes.extend(again.iter().map(|said| {
                    let back = if review.declined.0.contains(said) { "" } else { "; its words are kept back" };
                    format!("{said:?} was kept out before: {}{back}", review.words())
                }));
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
