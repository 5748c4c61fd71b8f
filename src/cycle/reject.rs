//! Runs that wait for a person: throwing one away, on all machines; and whether what caused it was answered meanwhile.
//!
//! A rejected run is in wake as what is left of it: its record, without effects and without operations but that it answered, and the number that it had expected: no words of it. So what
//! caused it is seen to, its agent is not woken by that again, and no machine takes the branch, because wake has a record of the run. The record follows
//! from the run and from which of its answers are let in: two machines that reject it write the same.

use super::commit::edits;
use super::commit::run_of;
use super::merge::{Candidate, Fate};
use super::network::{TreeNetwork, format_of};
use super::settled::rescued_words;
use super::{Cycle, CycleError};
use crate::delta::{self, ApplyError, Document, Limits, Operation, RunRecord};
use crate::model::Acknowledgement;
use crate::model::ids::{RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::store::{
    Author, Branch, Commit, CommitId, CommitSpec, LockName, ObjectWriter, RefChange, RefOutcome, TreeEdit, TreeId,
};

/// A run that was thrown away.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The run.
    pub run: RunId,
    /// The branch that it waited on.
    pub branch: Branch,
    /// Whether wake says so, and with it every machine that syncs.
    pub everywhere: bool,
}

/// A decision by which a run is thrown away, or lands in another form.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// Name and address of the person.
    pub by: String,
    /// The word for it in the subject of the commit.
    pub verb: &'a str,
    /// The review, if one is recorded: two machines that decide in the same second make two commits.
    pub review: Option<&'a RunId>,
    /// Whether the run is not to be looked at later.
    pub forget: bool,
    /// The operations of the run that are let in, from 1: its answers among them are delivered in their words.
    pub kept: &'a [usize],
}

impl Cycle {
    /// Throws a run away that waits on its branch; with `dry_run` it is only found.
    pub fn reject_run(
        &self,
        name: &str,
        decision: Option<Decision<'_>>,
        dry_run: bool,
    ) -> Result<Rejected, CycleError> {
        let candidate = self.candidate(name)?;
        let (Some(branch), Some(run)) = (candidate.branch, candidate.run) else {
            let last = name.rsplit('/').next().unwrap_or(name);
            return Err(match RunId::parse(last) {
                Ok(run) => CycleError::Refused {
                    message: format!("{run} is in wake already, and waits nowhere"),
                    hint: Some(format!("`git brain revert --run {run}` takes back what it did")),
                },
                Err(_) => CycleError::Usage {
                    message: format!("{name} is no branch of a run or a sleep that waits"),
                    hint: Some("`git branch --list 'agents/*' 'sleep/*'` shows those that wait".to_owned()),
                },
            });
        };
        let _trunk = self.store.lock(LockName::Trunk)?;
        let (wake, tip) = (self.store.need_tip(self.store.wake())?, self.store.need_tip(&branch)?);
        let mut changes = Vec::new();
        let writer = self.store.writer()?;
        let forget = decision.as_ref().is_some_and(|decision| decision.forget);
        let rest = self.rest_of(&writer, &branch, &run, (wake, tip), decision)?;
        let everywhere = rest.is_some() || self.record_in(self.store.tree_of(wake)?, &run)?.is_some();
        if dry_run {
            return Ok(Rejected { run, branch, everywhere });
        }
        if let Some(rest) = rest {
            writer.publish()?;
            changes.push(RefChange::advance(self.store.wake().clone(), wake, rest));
        } else {
            drop(writer);
        }
        changes.push(RefChange::delete(branch.clone(), tip));
        // Whoever asks later what was refused can see it here.
        if !self.goes_with_its_run(&run, tip, rest.unwrap_or(wake))? {
            self.store.rescue(tip)?;
            self.tell_once(rescued_words(&branch, tip));
        }
        if !forget {
            self.store.keep_refused(self.commit_of_run(tip, &run)?.id)?;
        }
        match self.store.update_refs(&changes, "git-brain: reject")? {
            RefOutcome::Done { .. } => Ok(Rejected { run, branch, everywhere }),
            RefOutcome::Modified { branch, .. } => Err(CycleError::Busy(format!(
                "{branch} was moved meanwhile, by something that does not know our locks"
            ))),
        }
    }

    /// Wake with what is left of a run that is rejected. `None`: wake has the run, or the run started from what wake has not, or its record
    /// cannot be read; no machine takes such a branch.
    fn rest_of(
        &self,
        writer: &ObjectWriter<'_>,
        branch: &Branch,
        run: &RunId,
        (wake, tip): (CommitId, CommitId),
        decision: Option<Decision<'_>>,
    ) -> Result<Option<CommitId>, CycleError> {
        let store = &self.store;
        let commit = self.commit_of_run(tip, run)?;
        let Some(base) = commit.parents.first().copied() else { return Ok(None) };
        let known = self.record_in(store.tree_of(wake)?, run)?.is_some();
        if known || store.is_ancestor(commit.id, wake)? || !store.is_ancestor(base, wake)? {
            return Ok(None);
        }
        let Some(record) = self.record_in(commit.tree, run)? else { return Ok(None) };
        let before = store.tree_of(base)?;
        let kept = decision.as_ref().map_or(&[][..], |decision| decision.kept);
        let answers = (1..).zip(&record.ops).filter_map(|(number, op)| match op {
            Operation::Acknowledge(_) if kept.contains(&number) => Some(op.clone()),
            Operation::Acknowledge(answer) => {
                let mut answer = answer.clone();
                answer.payload = Acknowledgement::stands_in(run);
                Some(Operation::Acknowledge(answer))
            }
            _ => None,
        });
        let rest = RunRecord {
            ops: answers.collect(),
            effects: Vec::new(),
            notes: vec![delta::REJECTED.to_owned()],
            reverts: Vec::new(),
            approves: Vec::new(),
            ..record.without_words()
        };
        let author = delta::Author {
            run: run.clone(),
            agent: rest.agent.clone(),
            clock: rest.at,
            rank: 0,
            origin: rest.origin.clone(),
            consumed: Vec::new(),
        };
        let limits = self.shared.policy.agents.get(&rest.agent).map(|member| Limits::from(&member.agent));
        let document =
            Document { agent: Some(rest.agent.clone()), prediction: rest.prediction.clone(), ops: rest.ops.clone() };
        let settings = &self.shared.policy.settings;
        let network = TreeNetwork::new(store, before);
        let applied =
            delta::apply(&document, &author, limits.as_ref(), &network, &settings.learning, &settings.activation)
                .map_err(|error| match error {
                    ApplyError::Refused(refusal) => CycleError::refused(refusal.to_string()),
                    ApplyError::Lookup(error) => error,
                })?;
        let mut all = edits(&applied, &rest, format_of(store, before)?);
        let consumed = self.causes_of(&commit)?.stimuli;
        all.extend(consumed.iter().map(|id| TreeEdit::new(layout::queue_entry(id), None)));
        let mut trailers = vec![("Agent".to_owned(), rest.agent.to_string()), ("Run".to_owned(), run.to_string())];
        let review = decision.as_ref().and_then(|decision| decision.review);
        trailers.extend(review.map(|review| ("Decided".to_owned(), review.to_string())));
        trailers.extend(self.shared.clock_trailer());
        let left = writer.commit(&CommitSpec {
            tree: writer.edit(Some(before), all)?,
            parents: vec![base],
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject: format!("{} {run}", decision.as_ref().map_or("reject", |decision| decision.verb)),
            body: String::new(),
            trailers,
        })?;
        let candidate = Candidate {
            name: branch.to_string(),
            commit: left,
            branch: None,
            run: Some(run.clone()),
            reviewed_by: decision.map(|decision| decision.by),
        };
        let mut newest = self.newest_run(wake)?;
        match self.merge_one(writer, wake, &candidate, &mut newest)? {
            Fate::Merged { commit, .. } => Ok(Some(commit)),
            Fate::Already => Ok(None),
            Fate::Conflict(conflicts) => Err(CycleError::refused(super::merge::in_words(&conflicts))),
            Fate::Refused(why) => Err(CycleError::refused(why)),
        }
    }

    /// The run's own commit: a note about a conflict lies above it.
    pub(super) fn commit_of_run(&self, tip: CommitId, run: &RunId) -> Result<Commit, CycleError> {
        let tip = self.store.commit(tip)?;
        let own = |commit: &Commit| commit.trailer_values("Run").any(|named| named == run.as_str());
        if !own(&tip)
            && let [below] = tip.parents[..]
        {
            let below = self.store.commit(below)?;
            if own(&below) {
                return Ok(below);
            }
        }
        Ok(tip)
    }

    /// A run's record in a tree, if it is there and can be read.
    pub(super) fn record_in(&self, tree: TreeId, run: &RunId) -> Result<Option<RunRecord>, CycleError> {
        let path = layout::run(run);
        Ok(self.store.read(tree, &path)?.and_then(|bytes| RunRecord::decode(&bytes, &path).ok()))
    }

    /// Whether a tree says that a run was thrown away.
    pub(super) fn is_rejected(&self, tree: TreeId, branch: &Branch) -> Result<bool, CycleError> {
        let Some(run) = run_of(&self.store.runs_prefix(), branch) else { return Ok(false) };
        let record = self.record_in(tree, &run)?;
        Ok(record.is_some_and(|record| record.is_left_over()))
    }

    /// Whether wake has a run as its branch has it: its commit, or its record, whatever way that came.
    pub(super) fn has_landed(&self, run: &RunId, tip: CommitId, wake: CommitId) -> Result<bool, CycleError> {
        let (store, path) = (&self.store, layout::run(run));
        let own = self.commit_of_run(tip, run)?;
        if store.is_ancestor(own.id, wake)? {
            return Ok(true);
        }
        let record = store.file(own.tree, &path)?;
        Ok(record.is_some() && store.file(store.tree_of(wake)?, &path)? == record)
    }

    /// Why a run that waits for review would count twice: all that it answers was answered meanwhile.
    pub(super) fn answered_already(&self, candidate: &Candidate) -> Result<Option<String>, CycleError> {
        let (Some(branch), Some(run)) = (&candidate.branch, &candidate.run) else { return Ok(None) };
        let wake = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let causes = self.causes_of(&self.commit_of_run(candidate.commit, run)?)?;
        if causes.is_empty() || self.store.file(wake, &layout::run(run))?.is_some() {
            return Ok(None);
        }
        let mut told = Vec::new();
        for path in &causes.answers {
            let Some(bytes) = self.store.read(wake, path)? else { return Ok(None) };
            let Ok(answer) = serde_json::from_slice::<Acknowledgement>(&bytes) else { continue };
            if answer.is_stand_in() {
                return Ok(None);
            }
            told.push(format!("signal {} by {}", answer.signal, answer.run));
        }
        // Another agent that perceived the same text answers nothing of this one.
        let own = self.commit_of_run(candidate.commit, run)?;
        for id in &causes.stimuli {
            if self.store.file(wake, &layout::queue_entry(id))?.is_some() || !self.perceived_since(&own, run, id)? {
                return Ok(None);
            }
            told.push(format!("stimulus {id}"));
        }
        Ok(Some(format!(
            "{branch}: what it answers was answered already ({}), so that merging it as well would count it twice",
            told.join(", ")
        )))
    }

    /// Puts a run aside that waits for no person and would count twice: its branch goes, and its commits are kept. Why, in words; `None`: it would not.
    pub(super) fn put_answered_aside(&self, candidate: &Candidate) -> Result<Option<String>, CycleError> {
        let Some(why) = self.answered_already(candidate)? else { return Ok(None) };
        let (Some(branch), tip) = (&candidate.branch, candidate.commit) else { return Ok(Some(why)) };
        self.store.rescue(tip)?;
        match self.store.update_refs(&[RefChange::delete(branch.clone(), tip)], "git-brain: put aside")? {
            RefOutcome::Done { .. } => Ok(Some(format!(
                "{why}; it is put aside: `git log -p {tip}` shows it, which refs/git-brain/rescue/{tip} keeps"
            ))),
            RefOutcome::Modified { branch, .. } => Err(CycleError::Busy(format!(
                "{branch} was moved meanwhile, by something that does not know our locks"
            ))),
        }
    }

    /// Whether wake has another run of the same agent on a stimulus, made since the run's base.
    fn perceived_since(&self, own: &Commit, run: &RunId, stimulus: &StimulusId) -> Result<bool, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        for id in self.store.commits_beyond(wake, &own.parents)? {
            let commit = self.store.commit(id)?;
            if commit.agent().is_some_and(|agent| agent == run.agent())
                && commit.trailer("Run").is_some_and(|other| other != run.as_str())
                && commit.trailer_values("Stimulus").any(|named| named == stimulus.as_str())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The signals that a run's commit answers, and the stimuli that it takes out of the queue.
    fn causes_of(&self, commit: &Commit) -> Result<Causes, CycleError> {
        let mut causes = Causes::default();
        let Some(base) = commit.parents.first() else { return Ok(causes) };
        for change in self.store.diff(Some(self.store.tree_of(*base)?), Some(commit.tree), layout::NETWORK)? {
            match Place::of(&change.path) {
                Place::Acknowledgement(..) if change.old.is_none() => causes.answers.push(change.path),
                Place::Queue(id) if change.new.is_none() => causes.stimuli.push(id),
                _ => {}
            }
        }
        Ok(causes)
    }
}

/// What made a run.
#[derive(Debug, Default)]
struct Causes {
    /// The files of its answers to signals.
    answers: Vec<String>,
    stimuli: Vec<StimulusId>,
}

impl Causes {
    fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.stimuli.is_empty()
    }
}

/// Why a run that waits for a person would count twice, with the way out.
pub(super) fn and_remedy(why: &str, name: &str) -> String {
    format!("{why}; `git brain reject {name}` throws it away, and nothing learns from that")
}
