//! Stage 6, sleep: what wake has learnt becomes one commit on main.
//!
//! ```text
//! main   o───────────────S        S: the squash, with every change in its record
//!                       ╱ ╲
//! wake   o──M──M──●────╱──M──W    ●: the snapshot; W: merge(base: snapshot, left: wake, right: S)
//!                  ╲c──p╱         c, p: consolidated and pruned, on sleep/<run>
//! ```
//!
//! Agents go on meanwhile: their runs are merged before or after W by the same typed merge. One sleep at a time holds the sleep lock; the trunk is
//! locked only to move the two branches, wake first. What a killed process left is settled by the next command, see `settle`.
//!
//! - `prepare`: the snapshot without what is tainted, the rules, the branch; `taint`, `survey`: one look at every neuron
//! - `squash`: S and W; `journal`: the record of every change
//! - `undo`, `restore`: taking back; `due`: when it is time; `settle`: after a kill

mod due;
mod journal;
mod prepare;
mod restore;
mod settle;
mod squash;
mod survey;
mod taint;
mod undo;

pub use due::DueBecause;
pub(super) use journal::largest as largest_of;
pub use prepare::Prepared;
pub use restore::Restored;
pub use squash::Slept;
pub(super) use squash::message as message_of;
pub(super) use taint::{SetBy, settled as settled_runs};
pub use undo::Undone;

use super::trailers::{SLEEP, SLEEP_TRAILER, SNAPSHOT_TRAILER, UNDOES_TRAILER};
use super::{Cycle, CycleError};
use crate::consolidation::SleepRecord;
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::layout;
use crate::store::{Branch, Commit, CommitId, TreeId};

/// The folders of documents, beside neurons and records of runs, that a night carries to main.
const DOCUMENTS: [&str; 8] = [
    layout::STIMULI,
    layout::SIGNALS,
    layout::FLAGS,
    layout::GOALS,
    layout::LEDGER,
    layout::DELIBERATIONS,
    layout::WISDOM,
    layout::SEALED,
];

/// A sleep as main has it.
#[derive(Clone, Debug)]
pub struct Night {
    /// The sleep.
    pub run: RunId,
    /// S.
    pub commit: Commit,
    /// The commit of wake that was consolidated.
    pub snapshot: CommitId,
}

/// The state that a day began with.
#[derive(Clone, Copy, Debug)]
struct Evening {
    /// What was consolidated already: what changed since is the day.
    wake: TreeId,
    /// What main was: it has nothing that is not approved.
    main: TreeId,
}

/// What became of the wish to sleep.
#[derive(Debug)]
pub enum Sleep {
    /// Nothing happened since the last one.
    Quiet,
    /// What would be done; nothing was written.
    Dry(Box<SleepRecord>),
    /// It waits on its branch for a person.
    Waiting(Box<Prepared>),
    /// It is on main.
    Done(Box<Slept>),
}

/// How to sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Consolidate and move main.
    #[default]
    Whole,
    /// Leave the branch for a person to approve.
    Review,
    /// Write nothing.
    Dry,
}

/// The branch of a sleep.
pub fn branch_of(wake: &Branch, run: &RunId) -> Result<Branch, CycleError> {
    let prefix = wake.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Ok(Branch::parse(&format!("{prefix}sleep/{run}"))?)
}

/// The sleep that a branch is of.
pub fn run_of(branch: &str) -> Option<RunId> {
    let (folder, last) = branch.rsplit_once('/')?;
    let is_sleep = folder == SLEEP || folder.ends_with("/sleep");
    RunId::parse(last).ok().filter(|run| is_sleep && run.agent().as_str() == SLEEP)
}

fn agent() -> AgentName {
    AgentName::parse(SLEEP).expect("invariant: a valid name")
}

impl Cycle {
    /// Sleeps once. Nothing is written on a night after a day without activity.
    pub fn sleep(&self, mode: Mode) -> Result<Sleep, CycleError> {
        // Whoever only looks waits for nobody, and may look where nobody can write.
        let _sleep = (mode != Mode::Dry).then(|| self.bedtime()).transpose()?;
        let slept = self.prepare(mode).and_then(|sleep| match sleep {
            Sleep::Waiting(prepared) if mode == Mode::Whole => Ok(Sleep::Done(Box::new(self.squash(&prepared)?))),
            other => Ok(other),
        });
        // A file that cannot be read would be on main by morning.
        slept.map_err(|error| self.on_branches(error))
    }

    /// Puts a sleep that waits on its branch on main.
    pub fn approve_sleep(&self, branch: &Branch) -> Result<Slept, CycleError> {
        let _sleep = self.bedtime()?;
        let writer = self.store.writer()?;
        let prepared = self.prepared(&writer, branch)?;
        writer.publish()?;
        let main = self.store.tree_of(self.store.need_tip(self.store.main())?)?;
        let changed = self.changed_by_night((main, prepared.snapshot_tree), prepared.tree, &prepared.run)?;
        // No other machine would take it.
        if let Some((path, why)) = changed.into_iter().next() {
            return Err(CycleError::Refused {
                message: format!("{path} {why}"),
                hint: Some(format!(
                    "give {path} the concept, kind and origin of {} on {branch}, and change them there",
                    self.store.wake()
                )),
            });
        }
        self.squash(&prepared)
    }

    /// The record that a sleep which waits on its branch would have on main now. Nothing of it is published.
    pub fn waiting_sleep(&self, branch: &Branch) -> Result<SleepRecord, CycleError> {
        let writer = self.store.writer()?;
        let prepared = self.prepared(&writer, branch)?;
        self.record(&writer, &prepared)
    }

    /// Throws a sleep that waits on its branch away, unless it is only to be found. Wake has lost nothing by it.
    pub fn reject_sleep(&self, branch: &Branch, dry_run: bool) -> Result<RunId, CycleError> {
        if dry_run {
            return Ok(self.waiting(branch)?.0);
        }
        let _sleep = self.bedtime()?;
        let (run, tip) = self.waiting(branch)?;
        self.remove_branch(branch, tip)?;
        Ok(run)
    }

    /// The sleep that waits on a branch, and the branch's tip.
    fn waiting(&self, branch: &Branch) -> Result<(RunId, CommitId), CycleError> {
        let no = |message: String| CycleError::Usage {
            message,
            hint: Some(format!("`git branch --list '{}'` shows the sleeps that wait", self.sleeps())),
        };
        let run = run_of(branch.as_str()).ok_or_else(|| no(format!("{branch} is no branch of a sleep")))?;
        let tip = self.store.tip(branch)?.ok_or_else(|| no(format!("there is no branch {branch}")))?;
        Ok((run, tip))
    }

    /// The branches of sleeps that wait for a person.
    pub fn waiting_sleeps(&self) -> Result<Vec<Branch>, CycleError> {
        let branches = self.store.branches(self.sleeps().trim_end_matches('*'))?;
        let branches = branches.into_iter().map(|(branch, _)| branch);
        Ok(branches.filter(|branch| self.waiting_sleep(branch).is_ok()).collect())
    }

    /// The pattern of all branches of sleeps.
    fn sleeps(&self) -> String {
        let wake = self.store.wake().as_str();
        wake.rsplit_once('/').map_or("sleep/*".to_owned(), |(folder, _)| format!("{folder}/sleep/*"))
    }

    /// The sleeps and undone sleeps of main's history, newest first, up to the first that `stop` says yes to.
    fn nights(&self, mut stop: impl FnMut(&Commit) -> bool) -> Result<Option<Commit>, CycleError> {
        let tip = self.store.need_tip(self.store.main())?;
        for commit in self.store.first_parents(tip, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if stop(&commit) {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// S of that sleep, on main, also if it was taken back since, or else where wake had it from.
    pub fn night_of(&self, run: &RunId) -> Result<Option<Commit>, CycleError> {
        let is_of_run = |commit: &Commit| commit.trailer(SLEEP_TRAILER) == Some(run.as_str());
        if let Some(found) = self.nights(is_of_run)? {
            return Ok(Some(found));
        }
        // A night of another machine came in behind a merge of two wakes.
        let wake = self.store.need_tip(self.store.wake())?;
        for id in self.store.commits_beyond(wake, &[])? {
            let commit = self.store.commit(id)?;
            if let (true, [_, squash]) = (is_of_run(&commit), &commit.parents[..]) {
                return Ok(Some(self.store.commit(*squash)?));
            }
        }
        Ok(None)
    }

    /// The newest sleep of main that was not taken back.
    pub fn last_night(&self) -> Result<Option<Night>, CycleError> {
        let mut undone = Vec::new();
        let found = self.nights(|commit| {
            undone.extend(commit.trailer(UNDOES_TRAILER).map(str::to_owned));
            commit.trailer(SLEEP_TRAILER).is_some_and(|run| !undone.iter().any(|u| u == run))
        })?;
        found.map(night).transpose()
    }

    /// The newest commit of wake that a sleep or its undoing made. Where main knows of none, wake's history is not walked.
    fn last_waking(&self, wake: CommitId) -> Result<Option<Commit>, CycleError> {
        match self.nights(is_waking)? {
            Some(_) => self.walk_to_waking(wake),
            None => Ok(None),
        }
    }

    /// The same, whatever main knows.
    fn walk_to_waking(&self, wake: CommitId) -> Result<Option<Commit>, CycleError> {
        for commit in self.store.first_parents(wake, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if is_waking(&commit) {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// When the day began that is to be consolidated: right after the last sleep that was not taken back, or at birth.
    fn evening(&self, wake: CommitId) -> Result<Evening, CycleError> {
        let mut undone: Vec<String> = Vec::new();
        for commit in self.store.first_parents(wake, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            // Both branches begin with the same commit, and a gate that is empty yet has no main to ask.
            if commit.parents.is_empty() {
                return Ok(Evening { wake: commit.tree, main: commit.tree });
            }
            undone.extend(commit.trailer(UNDOES_TRAILER).map(str::to_owned));
            if commit.trailer(SLEEP_TRAILER).is_some_and(|run| !undone.iter().any(|u| u == run)) {
                return self.evening_of(&commit);
            }
        }
        let birth = self.birth()?;
        Ok(Evening { wake: birth, main: birth })
    }

    /// The same for a commit by which a sleep, or the undoing of one, moved wake.
    fn evening_of(&self, waking: &Commit) -> Result<Evening, CycleError> {
        let [before, slept, ..] = waking.parents[..] else {
            return Ok(Evening { wake: waking.tree, main: waking.tree });
        };
        let main = self.store.tree_of(slept)?;
        let snapshot = waking.trailer(SNAPSHOT_TRAILER).and_then(|id| CommitId::parse(id).ok());
        // Runs that were merged while the brain slept are part of the next day.
        let wake = if snapshot.is_none_or(|snapshot| snapshot == before) { waking.tree } else { main };
        Ok(Evening { wake, main })
    }

    /// What main was at first.
    fn birth(&self) -> Result<TreeId, CycleError> {
        let tip = self.store.need_tip(self.store.main())?;
        let first = self.store.first_parents(tip, None).take(limits::HISTORY_WALK).last();
        Ok(first.transpose()?.map_or(self.store.tree_of(tip)?, |commit| commit.tree))
    }

    /// Removes a branch, if it is still where it was.
    fn remove_branch(&self, branch: &Branch, tip: CommitId) -> Result<(), CycleError> {
        let change = crate::store::RefChange::delete(branch.clone(), tip);
        let _ = self.store.update_refs(&[change], "git-brain: sleep")?;
        Ok(())
    }
}

/// True for commits by which a sleep, or the undoing of one, moved main or wake.
fn is_waking(commit: &Commit) -> bool {
    commit.trailer(SLEEP_TRAILER).is_some() || commit.trailer(UNDOES_TRAILER).is_some()
}

/// S, read.
fn night(commit: Commit) -> Result<Night, CycleError> {
    let wrong = || CycleError::Merge(format!("{} calls itself a sleep and does not say of what", commit.id));
    let run = commit.trailer(SLEEP_TRAILER).and_then(|run| RunId::parse(run).ok()).ok_or_else(wrong)?;
    let snapshot = commit.trailer(SNAPSHOT_TRAILER).and_then(|id| CommitId::parse(id).ok()).ok_or_else(wrong)?;
    Ok(Night { run, commit, snapshot })
}
