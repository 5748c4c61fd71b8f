//! Apart: causes that a run fails at are set aside with the reason, and what they came with runs without them.
//!
//! A reflex is a rule: what it refuses now, it refuses at every command. Such a stimulus stays in the queue, and such a signal
//! unanswered, but neither is due before a person asks for it: `run --agent` looks at everything. The list lies in the private
//! folder, because another machine, with other settings or another version, may be able to do what this one cannot. An entry
//! whose stimulus has left the queue, or whose signal was answered, counts no more.

use std::collections::BTreeMap;
use std::io::Write;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::Broken;
use super::file::{Level, examine};
use super::job::Job;
use super::merge::{Candidate, Fate, Report};
use super::run::{Failure, Ran};
use super::{Cycle, CycleError};
use crate::model::ids::{AgentName, SignalId, StimulusId};
use crate::model::json;
use crate::model::layout::{self, Place};
use crate::store::{CommitId, StoreError, TreeId};

/// The list's file.
const FILE: &str = "aside";

/// Why a cause of a run is set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reason {
    /// The agent that failed at it.
    pub agent: AgentName,
    /// Why.
    pub why: String,
}

/// What is set aside here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Aside {
    /// Stimuli that wait.
    pub stimuli: BTreeMap<StimulusId, Reason>,
    /// Signals that are not answered.
    pub signals: BTreeMap<SignalId, Reason>,
    /// Signals that an agent which is no reflex has seen and not answered.
    pub silent: BTreeMap<SignalId, Reason>,
}

impl Job {
    /// How many stimuli and signals it has.
    pub(super) fn causes(&self) -> usize {
        self.stimuli.len() + self.signals.len()
    }

    /// The older and the newer half of its causes.
    fn halves(self) -> Vec<Self> {
        let (mut first, mut second) = (self.clone(), self);
        second.stimuli = first.stimuli.split_off(first.stimuli.len().div_ceil(2));
        second.signals = first.signals.split_off(first.signals.len().div_ceil(2));
        [first, second].into_iter().map(Self::rooted).filter(|half| half.causes() > 0).collect()
    }

    /// The same without what others failed at; `None` if nothing is left.
    fn without(mut self, failures: &[Failure]) -> Option<Self> {
        let failed = |id: &StimulusId| failures.iter().any(|f| f.job.stimuli.iter().any(|s| s.id == *id));
        let refused = |id: &SignalId| failures.iter().any(|f| f.job.signals.iter().any(|s| s.id == *id));
        self.stimuli.retain(|stimulus| !failed(&stimulus.id));
        self.signals.retain(|signal| !refused(&signal.id));
        (self.causes() > 0).then(|| self.rooted())
    }

    /// A run on stimuli descends from those, and from no others.
    fn rooted(mut self) -> Self {
        if !self.stimuli.is_empty() {
            self.roots = self.stimuli.iter().map(|stimulus| stimulus.id.clone()).collect();
            self.counts_for = None;
        }
        self
    }
}

impl Cycle {
    /// Runs the jobs side by side, all from the same tip. A job of several causes that fails is run again without those that it
    /// fails at, which are failures of their own.
    ///
    /// A reflex is asked as often as it takes to find them. What costs money is halved as long as one half succeeds: where both
    /// fail, no single cause is to blame.
    pub(super) fn run_apart(&self, tip: CommitId, jobs: Vec<Job>) -> Result<Vec<Ran>, CycleError> {
        let mut tried = 0;
        let mut all = Vec::new();
        for ran in self.run_jobs(tip, jobs, &mut tried)? {
            match ran {
                Ran::Failed(failure) if is_divisible(&failure) => {
                    let whole = failure.job.clone();
                    let (mut failures, mut parts) = (Vec::new(), Vec::new());
                    self.divide(tip, *failure, &mut tried, &mut failures, &mut parts)?;
                    let unpublished =
                        |ran: &Ran| matches!(ran, Ran::Committed(run) if run.unpublished.is_some()) || is_nothing(ran);
                    // Nothing of the parts is written yet, and together they see each other.
                    if parts.len() > 1
                        && parts.iter().all(unpublished)
                        && let Some(rest) = whole.without(&failures)
                    {
                        let again = self.run_jobs(tip, vec![rest], &mut tried)?;
                        if !again.iter().any(|ran| matches!(ran, Ran::Failed(_))) {
                            parts = again;
                        }
                    }
                    all.extend(parts);
                    all.extend(failures.into_iter().map(|failure| Ran::Failed(Box::new(failure))));
                }
                other => all.push(other),
            }
        }
        Ok(all)
    }

    fn divide(
        &self,
        tip: CommitId,
        failure: Failure,
        tried: &mut usize,
        failures: &mut Vec<Failure>,
        parts: &mut Vec<Ran>,
    ) -> Result<(), CycleError> {
        let halves = failure.job.clone().halves();
        let is_free = self.reflex(&failure.job.agent).is_some();
        if !is_free {
            self.enter(&halves)?;
        }
        let ran = self.run_jobs(tip, halves, tried)?;
        if !is_free && ran.iter().all(|ran| matches!(ran, Ran::Failed(_))) {
            failures.push(failure);
            return Ok(());
        }
        for ran in ran {
            match ran {
                Ran::Failed(failure) if is_divisible(&failure) => self.divide(tip, *failure, tried, failures, parts)?,
                Ran::Failed(failure) => failures.push(*failure),
                other => parts.push(other),
            }
        }
        Ok(())
    }

    /// Sets aside what a reflex failed at, if that is one cause and the fault is not a file's or the machine's. Says so.
    pub(super) fn set_aside(&self, failure: &Failure) -> Result<Option<String>, CycleError> {
        let Failure { job, error, .. } = failure;
        if !error.is_passing() && !error.is_of_a_file() {
            self.note_silence(job, &error.to_string())?;
        }
        if self.reflex(&job.agent).is_none() || job.causes() != 1 || error.is_passing() || error.is_of_a_file() {
            return Ok(None);
        }
        let reason = Reason { agent: job.agent.clone(), why: error.to_string() };
        let mut aside = self.aside();
        let stimuli = job.stimuli.iter().map(|stimulus| (stimulus.id.clone(), reason.clone()));
        let signals = job.signals.iter().map(|signal| (signal.id.clone(), reason.clone()));
        aside.stimuli.extend(stimuli);
        aside.signals.extend(signals);
        self.keep_private(FILE, &aside)?;
        let ids = job.stimuli.iter().map(|s| s.id.as_str()).chain(job.signals.iter().map(|s| s.id.as_str()));
        let ids: Vec<&str> = ids.collect();
        Ok(Some(format!("{} is set aside; `git brain run --agent {}` tries it again", ids.join(", "), job.agent)))
    }

    /// Keeps why an agent that is no reflex left signals without an answer.
    pub(super) fn note_silence(&self, job: &Job, why: &str) -> Result<(), CycleError> {
        if self.reflex(&job.agent).is_some() || job.signals.is_empty() {
            return Ok(());
        }
        let reason = Reason { agent: job.agent.clone(), why: why.to_owned() };
        let wake = self.store.need_tip(self.store.wake())?;
        let mut aside = self.aside_in(self.store.tree_of(wake)?)?;
        aside.silent.extend(job.signals.iter().map(|signal| (signal.id.clone(), reason.clone())));
        self.keep_private(FILE, &aside)
    }

    /// What is set aside, whatever has become of it since.
    pub(super) fn aside(&self) -> Aside {
        self.private_document(FILE)
    }

    /// What is set aside and still waits in that tree of wake.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub fn aside_in(&self, tree: TreeId) -> Result<Aside, CycleError> {
        let mut aside = self.aside();
        for id in aside.stimuli.keys().cloned().collect::<Vec<_>>() {
            if self.store.file(tree, &layout::queue_entry(&id))?.is_none() {
                aside.stimuli.remove(&id);
            }
        }
        for signals in [&mut aside.signals, &mut aside.silent] {
            for (id, reason) in signals.clone() {
                let sent = self.store.file(tree, &layout::signal(&reason.agent, &id))?.is_some();
                if !sent || self.store.file(tree, &layout::acknowledgement(&reason.agent, &id))?.is_some() {
                    signals.remove(&id);
                }
            }
        }
        Ok(aside)
    }

    /// Merges candidates into wake. One that cannot be read is refused by itself, and holds up none of the others.
    pub fn merge_each(&self, candidates: Vec<Candidate>, dry_run: bool) -> Result<Report, CycleError> {
        match self.merge(candidates.clone(), dry_run) {
            Err(error) if error.is_of_a_file() => {}
            report => return report,
        }
        let wake = self.store.need_tip(self.store.wake())?;
        let mut all = Report { fates: Vec::new(), wake, left: Vec::new() };
        for candidate in candidates {
            match self.merge(vec![candidate.clone()], dry_run) {
                Ok(report) => {
                    all.fates.extend(report.fates);
                    all.left.extend(report.left);
                    all.wake = report.wake;
                }
                Err(error) if error.is_of_a_file() => {
                    let error = self.on_branches(error);
                    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                    all.fates.push((candidate, Fate::Refused(format!("{error}{hint}"))));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// A document of the private folder. One that cannot be read counts as empty, which is said.
    pub(super) fn private_document<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let path = self.store.private_dir().join(name);
        let read = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return T::default(),
            Err(error) => Err(error.to_string()),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
        };
        read.unwrap_or_else(|error| {
            self.tell_once(format!("{} cannot be read, and counts as empty: {error}", path.display()));
            T::default()
        })
    }

    /// Keeps a document in the private folder, whole or not at all.
    pub(super) fn keep_private<T: Serialize>(&self, name: &str, document: &T) -> Result<(), CycleError> {
        let path = self.store.private_dir().join(name);
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(self.store.private_dir())?;
            file.write_all(&json::pretty(document))?;
            file.persist(&path).map_err(|e| e.error).map(|_| ())
        };
        write().map_err(|source| StoreError::File { path: path.clone(), source })?;
        Ok(())
    }

    /// What was read; of a file that cannot be, nothing, which is said once in a command: it stops nobody who does not need it.
    pub fn readable<T>(&self, read: Result<T, CycleError>) -> Result<Option<T>, CycleError> {
        match read {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_of_a_file() => {
                let error = self.on_branches(error);
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                self.tell_once(format!("left alone: {error}{hint}"));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// An error about a file of the brain, with the branches where that file cannot be read; any other as it is.
    pub fn on_branches(&self, error: CycleError) -> CycleError {
        let CycleError::Json(error) = error else { return error };
        let on = self.broken_on(&error.what).unwrap_or_default();
        match on.is_empty() {
            true => CycleError::Json(error),
            false => {
                let stays = [self.store.wake(), self.store.main()].iter().any(|branch| on[0] == branch.as_str());
                CycleError::Broken(Box::new(Broken { on, error, stays }))
            }
        }
    }

    /// The branches whose file at a path cannot be read: wake, main, then runs that wait and have another one there than wake.
    fn broken_on(&self, path: &str) -> Result<Vec<String>, CycleError> {
        let mut branches = Vec::new();
        for branch in [self.store.wake(), self.store.main()] {
            branches.push((branch.clone(), self.store.need_tip(branch)?));
        }
        branches.extend(self.run_branches()?);
        let (mut on, mut of_wake) = (Vec::new(), None);
        for (branch, tip) in branches {
            let Some(file) = self.store.file(self.store.tree_of(tip)?, path)? else { continue };
            if branch == *self.store.wake() {
                of_wake = Some(file.blob);
            } else if of_wake == Some(file.blob) && branch != *self.store.main() {
                continue;
            }
            let examined = examine(path, &self.store.content(file.blob)?);
            if Place::of(path) == Place::Misplaced
                || examined.findings.iter().any(|finding| finding.level == Level::Error)
            {
                on.push(branch.to_string());
            }
        }
        Ok(on)
    }

    /// Adds a sentence to what this command says, once.
    pub(super) fn tell_once(&self, text: String) {
        if self.told.borrow_mut().insert(text.clone()) {
            self.store.add_note(text);
        }
    }
}

/// Whether a part of the job may succeed where the whole failed.
fn is_divisible(failure: &Failure) -> bool {
    failure.job.causes() > 1 && !failure.error.is_passing()
}

fn is_nothing(ran: &Ran) -> bool {
    matches!(ran, Ran::Nothing(_))
}
