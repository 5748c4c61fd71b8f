//! A rejection that is taken back: what the run said becomes a run of the person, and nobody is told any more that it was kept out.

use std::collections::BTreeSet;

use serde::Serialize;

use super::answers::{answer_for, lands};
use super::replaced::Landing;
use super::write::Given;
use super::{ApplyReport, Brain, BrainError, RemarkRequest};
use crate::cycle::EVALUATOR;
use crate::cycle::commit::Draft;
use crate::cycle::judging::Corrective;
use crate::cycle::merge::Fate;
use crate::cycle::network::TreeNetwork;
use crate::cycle::reviewing::WaitingRun;
use crate::delta::apply::derived_id;
use crate::delta::{Document, Operation, RunRecord};
use crate::model::ids::{AgentName, NeuronId, RunId};
use crate::model::{json, plural};
use crate::review::{LESSON, TAKEN_BACK, Verdict};
use crate::store::{CommitId, LockName};

/// A rejection that was taken back.
#[derive(Clone, Debug, Serialize)]
pub struct Reconsidered {
    /// The run that was rejected.
    pub run: String,
    /// The run of the person that says the same.
    pub again: ApplyReport,
    /// The prediction error that the run's pathway learns from; null where nothing is learnt.
    pub error: Option<f64>,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

impl Brain {
    /// Takes a rejection back: the operations of the run become a run of the person, with the origin, the stimuli and the time of that one, which
    /// waits where its origin is under review. The words that the rejection kept out are told nobody as such, and the run is judged as one that
    /// landed.
    ///
    /// # Errors
    /// No such run was rejected, or its commit is not on this machine (2); the person may not decide, or it was taken back already (3).
    pub fn reconsider(&self, name: &str, why: Option<&str>, dry_run: bool) -> Result<Reconsidered, BrainError> {
        if self.cycle.shared.world.in_hook() {
            return Err(BrainError::Refused {
                message: "nothing was taken back: git-brain started this program (BRAIN_IN_HOOK is set), and only a person decides".to_owned(),
                hint: Some("`git brain review --decided` in a terminal of yours".to_owned()),
            });
        }
        let _alone = self.cycle.store.lock(LockName::Review)?;
        let mut notes = if dry_run { Vec::new() } else { self.finish_begun()? };
        let review = self.cycle.with_remarks(self.decision_named(name)?)?;
        let run = review.run.clone();
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        if review.verdict != Verdict::Reject {
            return Err(BrainError::Usage {
                message: format!("{run} was {} by {}, not rejected", review.verdict.done(), review.reviewer),
                hint: Some(format!(
                    "`git brain revert {}` takes back what landed",
                    review.lands.as_ref().unwrap_or(&run)
                )),
            });
        }
        let (by, address) = self.cycle.store.user();
        if !self.cycle.may_forget(&address)? {
            return Err(BrainError::Refused {
                message: format!("{address} may not decide on {run}"),
                hint: Some("`[review]` of brain.toml names the reviewers".to_owned()),
            });
        }
        let commit = CommitId::parse(&review.commit).ok().and_then(|id| self.cycle.store.commit(id).ok());
        let record = commit.map(|commit| TreeNetwork::new(&self.cycle.store, commit.tree).record(&run)).transpose()?;
        let Some(record) = record.flatten() else {
            return Err(BrainError::Usage {
                message: format!(
                    "the commit of {run} is not on this machine: only what was decided is known of it here"
                ),
                hint: Some("a machine that had the run still has it; `git brain apply` states it anew".to_owned()),
            });
        };
        let taught = self.entries_of(&run)?.iter().any(|entry| {
            let text = entry.outcome.text.as_deref();
            text.is_some_and(|text| text.starts_with(TAKEN_BACK))
        });
        let waits = |again: &RunId| Ok::<_, BrainError>(self.cycle.waiting_named(again.as_str())?.is_some());
        if let Some(again) = &review.again {
            // Cut off after it had landed: what is left is to learn from it.
            if !waits(again)? && !taught && !dry_run {
                self.replaced_again(again, &mut notes)?;
                self.credit(&record, 1.0, &review.why, &mut notes)?;
            }
            return Err(BrainError::refused(format!("the rejection of {run} was taken back already, as {again}")));
        }
        let (draft, applied) = self.drafted_again(&record, &network, wake, &mut notes)?;
        let (again, held) = (draft.run.clone(), draft.held.is_some());
        let reason = match why.map(str::trim).filter(|why| !why.is_empty()) {
            Some(why) => format!("{TAKEN_BACK}{by}, as {again}: {why}"),
            None => format!("{TAKEN_BACK}{by}, as {again}"),
        };
        // What is said of the decision comes first: it is refused where no machine would take it, and a run that does not follow is made by the next try.
        let (why, taken_back) = (Some(reason.clone()), Some(again.clone()));
        let forget = !review.declined.is_empty();
        let remark = RemarkRequest { run: run.to_string(), why, forget, again: taken_back, dry_run };
        self.remark_alone(&remark)?;
        let landed = self.land(draft, &applied, dry_run)?;
        if landed.merged && !dry_run {
            self.replaced_again(&again, &mut notes)?;
        }
        let error = match landed.merged && !dry_run && !taught {
            true => Some(self.credit(&record, 1.0, &reason, &mut notes)?.0),
            false => None,
        };
        if held && !dry_run {
            notes.push(format!("it waits as {again}, as the run did: `git brain approve {again}` lets it in"));
        }
        Ok(Reconsidered { run: run.to_string(), again: landed, error, notes })
    }

    /// Archives the memories that a run replaces by which a rejection is taken back, as its approval would have.
    pub(super) fn replaced_again(&self, again: &RunId, notes: &mut Vec<String>) -> Result<(), BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let Some(record) = network.record(again)? else { return Ok(()) };
        self.replace(&Landing { record: &record, by: None, is_let_in: true }, notes)
    }

    /// The operations of a run as a run of the person, with the origin of that run.
    fn drafted_again(
        &self,
        record: &RunRecord,
        network: &TreeNetwork<'_>,
        wake: CommitId,
        notes: &mut Vec<String>,
    ) -> Result<(Draft, crate::delta::Applied), BrainError> {
        let run: RunId = self.new_persons_run(&["again", record.run.as_str()])?;
        let mut gone = BTreeSet::new();
        let ops = standing(record.ops.iter().filter(|op| lands(op)), network, &mut gone)?;
        if !gone.is_empty() {
            let names = gone.iter().map(NeuronId::as_str).collect::<Vec<_>>().join(", ");
            notes.push(format!("neurons that are no more are left out: {names}"));
        }
        let document = Document { agent: Some(run.agent()), prediction: None, ops };
        let draft = self.cycle.draft_again(network, wake, record, run, document)?;
        let mut applied = draft.apply(&self.cycle.store, &self.cycle.shared)?;
        answer_for(&record.agent, &record.ops, &draft, network, &mut applied)?;
        Ok((draft, applied))
    }

    /// Judges a run: its error, and how many connections learn.
    pub(super) fn credit(
        &self,
        record: &RunRecord,
        value: f64,
        text: &str,
        notes: &mut Vec<String>,
    ) -> Result<(f64, usize), BrainError> {
        let made = self.cycle.corrective(self.at(None)?, record, Some(value), Some(text))?;
        let Corrective { document, judgement, credited, cognition, .. } = made;
        let agent = AgentName::parse(EVALUATOR).expect("invariant: a constant name");
        let bytes = json::pretty(&document);
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: LESSON, cognition };
        match self.apply_given(given, false, false) {
            Ok(applied) if applied.merged => {}
            Ok(applied) => notes.push(format!("the lesson of it waits on {}", applied.branch)),
            // What was decided has landed; its lesson is on a branch, and one that nobody may merge stops nothing else.
            Err(error @ BrainError::Refused { .. }) => {
                match self.waiting_lesson(&record.run, &|known| known == text)? {
                    Some(lesson) => notes.push(lesson_waits(&lesson, &error.to_string())),
                    None => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
        Ok((judgement.error, credited))
    }

    /// The lesson of a decision on a run, where it waits on a branch of its own; `is_its` knows it by its text.
    pub(super) fn waiting_lesson(
        &self,
        judged: &RunId,
        is_its: &dyn Fn(&str) -> bool,
    ) -> Result<Option<WaitingRun>, BrainError> {
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            if run.agent().as_str() != EVALUATOR {
                continue;
            }
            let waiting = self.cycle.waiting_run(branch, tip, run)?;
            let Ok(record) = self.cycle.waiting_record(&waiting) else { continue };
            let teaches = |op: &Operation| match op {
                Operation::Outcome(outcome) => outcome.run == *judged && outcome.text.as_deref().is_some_and(is_its),
                _ => false,
            };
            if record.ops.iter().any(teaches) {
                return Ok(Some(waiting));
            }
        }
        Ok(None)
    }

    /// Merges a lesson that waits; a note where it waits on.
    pub(super) fn merge_lesson(&self, lesson: &WaitingRun) -> Result<Option<String>, BrainError> {
        let candidate = self.cycle.candidate(lesson.branch.as_str())?;
        let fates = self.cycle.merge_judged(vec![candidate], true, false)?.fates;
        Ok(fates.into_iter().next().and_then(|(_, fate)| match fate {
            Fate::Merged { .. } | Fate::Already => None,
            Fate::Conflict(conflicts) => Some(lesson_waits(lesson, &plural(conflicts.len(), "conflict", "conflicts"))),
            Fate::Refused(why) => Some(lesson_waits(lesson, &why)),
        }))
    }
}

/// That a lesson is not in wake yet, and why.
fn lesson_waits(lesson: &WaitingRun, why: &str) -> String {
    format!(
        "the decision is carried out; its lesson waits on {}, and the next `git brain run` merges it once it may: {why}",
        lesson.branch
    )
}

/// The operations of a run whose neurons are there, or made by it: a night may have pruned others since.
fn standing<'o>(
    ops: impl Iterator<Item = &'o Operation>,
    network: &TreeNetwork<'_>,
    gone: &mut BTreeSet<NeuronId>,
) -> Result<Vec<Operation>, BrainError> {
    let (mut made, mut kept) = (BTreeSet::new(), Vec::new());
    for op in ops {
        let mut stands = true;
        for id in needs(op) {
            if !made.contains(id) && network.neuron(id)?.is_none() {
                gone.insert(id.clone());
                stands = false;
            }
        }
        if let Operation::Create(create) = op {
            made.insert(create.id.clone().unwrap_or_else(|| derived_id(create)));
        }
        if stands {
            kept.push(op.clone());
        }
    }
    Ok(kept)
}

/// Neurons that have to be there for an operation.
fn needs(op: &Operation) -> Vec<&NeuronId> {
    match op {
        Operation::Activate(op) => vec![&op.id],
        Operation::Connect(op) => vec![&op.from, &op.to],
        Operation::Adjust(op) => vec![&op.from, &op.to],
        Operation::Disconnect(op) => vec![&op.from, &op.to],
        Operation::Reword(op) => vec![&op.id],
        Operation::Retype(op) => vec![&op.id],
        Operation::Archive(op) => vec![&op.id],
        _ => Vec::new(),
    }
}
