//! Sleeping, waking from it, and bringing back what it removed.

use serde::Serialize;

use super::write::ApplyReport;
use super::{Brain, BrainError};
use crate::consolidation::{SleepRecord, Totals};
use crate::cycle::commit::Draft;
use crate::cycle::revert::RESTORE;
use crate::cycle::sleep::{Mode, Sleep, run_of};
use crate::cycle::{HUMAN, RunBounds};
use crate::model::ids::AgentName;
use crate::model::layout;
use crate::store::{Branch, Left};

/// How to sleep.
#[derive(Clone, Copy, Debug, Default)]
pub struct SleepRequest {
    /// Leave a branch to approve.
    pub review: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// Only if it is time.
    pub if_due: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SleepState {
    /// Nothing happened since the last sleep, so nothing was written.
    Quiet,
    /// It is not time.
    NotDue,
    /// What would be done; nothing was written.
    DryRun,
    /// It waits on its branch for a person.
    Waiting,
    /// It is on main.
    Slept,
    /// It was thrown away.
    Rejected,
}

/// A sleep.
#[derive(Clone, Debug, Serialize)]
pub struct SleepReport {
    /// What became of it.
    pub state: SleepState,
    /// Why it was time, where that was asked.
    pub because: Option<String>,
    /// The sleep.
    pub run: Option<String>,
    /// Its branch, if it waits there.
    pub branch: Option<String>,
    /// Main's tip.
    pub main: String,
    /// Wake's tip.
    pub wake: String,
    /// Where its record lies in main's tree.
    pub record: Option<String>,
    /// From main before it to the snapshot.
    pub learnt: Totals,
    /// From the snapshot to main after it.
    pub consolidated: Totals,
    /// From main before it to main after it.
    pub totals: Totals,
    /// Neurons that stay in wake, because their origin is not approved.
    pub left_out: usize,
    /// What consolidation changed, a line each; for `dry_run` and `waiting`.
    pub changes: Vec<String>,
    /// Seeds of wisdom that were distilled before it.
    #[serde(skip_serializing_if = "is_zero")]
    pub distilled: usize,
    /// Files of a work tree that people have edited and that were left alone.
    pub left: Vec<String>,
}

/// Whether nothing is to be said of a number.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A sleep that was taken back.
#[derive(Clone, Debug, Serialize)]
pub struct UndoReport {
    /// The sleep.
    pub undone: String,
    /// Its commit, which stays in main's history.
    pub commit: String,
    /// Main's tip.
    pub main: String,
    /// Wake's tip.
    pub wake: String,
    /// Files of a work tree that people have edited and that were left alone.
    pub left: Vec<String>,
}

impl Brain {
    /// Consolidates what wake has learnt into one commit on main.
    pub fn sleep(&self, request: SleepRequest) -> Result<SleepReport, BrainError> {
        let mut because = None;
        if request.if_due {
            match self.cycle.sleep_due(true)? {
                Some(due) => because = Some(due.to_string()),
                None => return self.no_sleep(SleepState::NotDue),
            }
        }
        let mode = match request {
            SleepRequest { dry_run: true, .. } => Mode::Dry,
            SleepRequest { review: true, .. } => Mode::Review,
            _ => Mode::Whole,
        };
        if mode != Mode::Dry {
            self.finish_left();
        }
        if mode == Mode::Whole && request.if_due {
            self.look_back();
        }
        let distilled = if mode == Mode::Dry { 0 } else { self.distil_before_sleep() };
        let report = match self.cycle.sleep(mode)? {
            Sleep::Quiet => self.no_sleep(SleepState::Quiet)?,
            Sleep::Dry(record) => self.told(SleepState::DryRun, &record)?,
            Sleep::Waiting(prepared) => {
                let tree = self.cycle.store.tree_of(prepared.tip)?;
                let record = self.cycle.sleep_record(tree, &prepared.run)?;
                let record = record.expect("invariant: a sleep that waits was just given its record");
                SleepReport {
                    branch: Some(prepared.branch.to_string()),
                    record: None,
                    ..self.told(SleepState::Waiting, &record)?
                }
            }
            Sleep::Done(slept) => {
                self.leave_vitals();
                self.slept(&slept)?
            }
        };
        Ok(SleepReport { because, distilled, ..report })
    }

    /// Lets agents that look back on the day do so before a night that is due. What fails of it stops no night.
    fn look_back(&self) {
        if self.cycle.waits_for_sleep()
            && let Err(error) =
                self.cycle.until_quiet(&RunBounds { is_evening: true, ..RunBounds::default() }, &mut |_| ())
        {
            self.cycle.store.add_note(format!("agents did not look back on the day: {error}"));
        }
    }

    fn no_sleep(&self, state: SleepState) -> Result<SleepReport, BrainError> {
        Ok(SleepReport {
            state,
            because: None,
            run: None,
            branch: None,
            main: self.cycle.store.need_tip(self.cycle.store.main())?.to_string(),
            wake: self.at(None)?.to_string(),
            record: None,
            learnt: Totals::default(),
            consolidated: Totals::default(),
            totals: Totals::default(),
            left_out: 0,
            changes: Vec::new(),
            distilled: 0,
            left: Vec::new(),
        })
    }

    /// Distils what the day supports, so that the night carries it to main. A file that cannot be read keeps nobody from sleeping: the night names it.
    fn distil_before_sleep(&self) -> usize {
        match self.distil(false) {
            Ok(report) => report.seeds.len(),
            Err(error) => {
                tracing::info!("nothing is distilled: {error}");
                0
            }
        }
    }

    fn told(&self, state: SleepState, record: &SleepRecord) -> Result<SleepReport, BrainError> {
        let own = |line: &&crate::consolidation::Line| !line.what.ends_with(" run") && !line.what.ends_with(" version");
        let line =
            |line: &crate::consolidation::Line| format!("{}  {} → {}  ({})", line.what, line.old, line.new, line.why);
        Ok(SleepReport {
            run: Some(record.run.to_string()),
            learnt: record.learnt_totals,
            consolidated: record.consolidated_totals,
            totals: record.totals,
            left_out: record.left_out,
            changes: record.consolidated.iter().filter(own).map(line).collect(),
            ..self.no_sleep(state)?
        })
    }

    fn slept(&self, slept: &crate::cycle::sleep::Slept) -> Result<SleepReport, BrainError> {
        Ok(SleepReport {
            main: slept.main.to_string(),
            wake: slept.wake.to_string(),
            record: Some(layout::sleep(&slept.record.run)),
            changes: Vec::new(),
            left: paths(&slept.left),
            ..self.told(SleepState::Slept, &slept.record)?
        })
    }

    /// Undoes the latest sleep not already undone.
    pub fn undo_sleep(&self, dry_run: bool) -> Result<UndoReport, BrainError> {
        let undone = self.cycle.undo_sleep(dry_run)?;
        Ok(UndoReport {
            undone: undone.run.to_string(),
            commit: undone.squash.to_string(),
            main: undone.main.to_string(),
            wake: undone.wake.to_string(),
            left: paths(&undone.left),
        })
    }

    /// Puts a sleep on main that waits on its branch; with `dry_run` it is only shown.
    pub fn approve(&self, branch: &str, dry_run: bool) -> Result<SleepReport, BrainError> {
        let branch = sleep_branch(branch)?;
        if dry_run {
            let record = self.cycle.waiting_sleep(&branch)?;
            return Ok(SleepReport { branch: Some(branch.to_string()), ..self.told(SleepState::DryRun, &record)? });
        }
        self.slept(&self.cycle.approve_sleep(&branch)?)
    }

    /// Throws a sleep away that waits on its branch; with `dry_run` it is only found.
    pub fn reject(&self, branch: &str, dry_run: bool) -> Result<SleepReport, BrainError> {
        let branch = sleep_branch(branch)?;
        let run = Some(self.cycle.reject_sleep(&branch, dry_run)?.to_string());
        let (state, branch) =
            if dry_run { (SleepState::DryRun, Some(branch.to_string())) } else { (SleepState::Rejected, None) };
        Ok(SleepReport { run, branch, ..self.no_sleep(state)? })
    }

    /// Brings a neuron back that was archived or pruned, as a run of yours.
    pub fn restore(&self, neuron: &str, dry_run: bool) -> Result<ApplyReport, BrainError> {
        self.restore_for(None, neuron, dry_run)
    }

    /// The same for a reason: what a revert or an exchange brings back no person asked for.
    pub(super) fn restore_for(
        &self,
        reason: Option<&str>,
        neuron: &str,
        dry_run: bool,
    ) -> Result<ApplyReport, BrainError> {
        let id = self.neuron_named(neuron, None)?;
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let (base, shared) = (self.at(None)?, &self.cycle.shared);
        let newest = self.cycle.newest_run(base)?;
        let run = self.cycle.new_run_id(&agent, base, newest.as_ref(), &[b"restore", id.as_str().as_bytes()], 0)?;
        let restored = self.cycle.restored(&id, self.cycle.store.tree_of(base)?, &run)?;
        let mut draft = Draft::by_hand(shared, base, run, RESTORE)?;
        draft.reason = reason.map_or(draft.reason, str::to_owned);
        self.land(draft, &restored.applied, dry_run)
    }
}

fn sleep_branch(name: &str) -> Result<Branch, BrainError> {
    let branch = Branch::parse(name)?;
    if run_of(name).is_none() {
        return Err(BrainError::Usage {
            message: format!("{name} is no branch of a sleep"),
            hint: Some(format!("runs that wait are merged by `git brain merge {name}`")),
        });
    }
    Ok(branch)
}

fn paths(left: &[Left]) -> Vec<String> {
    left.iter().map(Left::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brain::{InitRequest, World};
    use crate::store::{LockName, RefChange};

    #[test]
    fn whoever_waited_for_a_sleep_that_was_killed_clears_its_branch_away() {
        let folder = tempfile::tempdir().unwrap();
        let world = World::fixed("2026-01-26T14:32:00Z".parse().unwrap(), "s");
        let request = InitRequest { dir: folder.path().to_path_buf(), in_repo: false, program: "git-brain".into() };
        let (brain, _) = Brain::init(&request, world).unwrap();
        let store = &brain.cycle.store;
        // The brain is open when another process begins to sleep and is killed.
        let killed = "20260126t143100000z-abcd2345-sleep";
        let branch = Branch::parse(&format!("sleep/{killed}")).unwrap();
        let change = RefChange::create(branch.clone(), store.need_tip(store.wake()).unwrap());
        let _ = store.update_refs(&[change], "test").unwrap();
        std::fs::write(store.private_dir().join("sleep"), format!(r#"{{"run": "{killed}"}}"#)).unwrap();
        assert_eq!(brain.sleep(SleepRequest::default()).unwrap().state, SleepState::Slept);
        assert_eq!(store.tip(&branch).unwrap(), None);
        assert!(brain.take_notes().iter().any(|note| note.contains(killed)), "it is told");
        assert!(store.try_lock(LockName::Sleep).unwrap().is_some());
    }
}
