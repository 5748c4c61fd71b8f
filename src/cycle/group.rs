//! Group commit: runs of many processes that are merged by one of them, with one pack, one set of fsyncs and one move of wake.
//!
//! A process that has a run to land tries for the trunk. While another holds it, the run waits in a file
//! (`store::Waiting`), and whoever gets the trunk next merges all that wait, in run-id order, together with its own. The
//! others see that theirs is settled and answer their callers without writing anything. So the more processes write at once,
//! the fewer fsyncs each of them costs, and one that is alone does not wait for anybody.
//!
//! Nothing is acknowledged before wake, or the run's branch if it is not merged, is on disk: answers are given after that. A
//! process that is killed with the trunk leaves what a single one would leave; those who wait for it go on by themselves.

use serde::{Deserialize, Serialize};

use super::commit::Committed;
use super::merge::{Candidate, Fate, Report};
use super::{Cycle, CycleError};
use crate::merge::{Conflict, Decision};
use crate::model::ids::RunId;
use crate::model::layout;
use crate::store::{CommitId, LockName, StoreError, Turn, Waited, Waiting};

/// What became of a run that was to land.
#[derive(Clone, Debug, PartialEq)]
pub struct Landed {
    /// Its fate.
    pub fate: Fate,
    /// Wake's tip then.
    pub wake: CommitId,
}

/// A run of another process, merged together with one's own.
#[derive(Debug)]
pub(super) struct Guest {
    pub candidate: Candidate,
    waited: Waited,
}

/// What the process that merged a run tells the one that waits for it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    wake: String,
    fate: Told,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Told {
    Merged { commit: String, decisions: Vec<Decision> },
    Already,
    Conflict(Vec<Conflict>),
    Refused(String),
}

impl Guest {
    /// It and its objects.
    pub fn offered(&self) -> (&Candidate, &crate::store::Batch) {
        (&self.candidate, &self.waited.batch)
    }
}

impl Cycle {
    /// Merges a run that is not published yet into wake, alone or in a group, or puts it on its branch for a person. Durable
    /// when this returns.
    ///
    /// # Errors
    /// Busy: nobody merged it, and it is nowhere. If the message names the run, whoever took it may still merge it.
    pub fn land(&self, run: &Committed) -> Result<Landed, CycleError> {
        let batch = run.unpublished.as_ref().expect("invariant: a run that lands is not published");
        let (mut waiting, mut handed_over): (Option<Waiting>, bool) = (None, false);
        let mut wait = |waiting: &mut Option<Waiting>| {
            self.store.lock_unless(LockName::Trunk, &mut || match waiting {
                None if !handed_over => {
                    handed_over = true;
                    *waiting = self.store.hand_over(&run.run, run.commit, batch)?;
                    Ok(None)
                }
                None => Ok(None),
                Some(handed) => {
                    let answer = handed.answer();
                    let landed = answer.as_deref().and_then(Landed::read);
                    if answer.is_some() && landed.is_none() {
                        // Removed by hand, or the answer was cut off: the trunk will show what became of the run.
                        *waiting = None;
                    }
                    Ok(landed)
                }
            })
        };
        let turn = match wait(&mut waiting) {
            Err(StoreError::Busy { .. }) if waiting.as_ref().is_some_and(|waiting| !waiting.take_back()) => {
                // Somebody is merging it: a second time is enough for any group.
                wait(&mut waiting).map_err(|error| match error {
                    StoreError::Busy { what, .. } => CycleError::Busy(format!(
                        "{what} is held by another process, which may still merge {}",
                        run.run
                    )),
                    other => other.into(),
                })?
            }
            other => other?,
        };
        let landed = match turn {
            Turn::Done(landed) => return Ok(landed),
            Turn::Mine(_trunk) => {
                let answer = waiting.as_mut().and_then(Waiting::answer);
                if let Some(landed) = answer.as_deref().and_then(Landed::read) {
                    return Ok(landed);
                }
                // Nobody need take it any more. Before the trunk is free again.
                drop(waiting);
                self.lead(run)?
            }
        };
        self.store.maintain();
        Ok(landed)
    }

    /// Merges a run, the runs that wait, and the branches that killed processes left. Under the trunk lock.
    fn lead(&self, run: &Committed) -> Result<Landed, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        if self.is_recorded(wake, &run.run)? {
            // Whoever merged it was killed before it could say so, and perhaps before wake was on disk.
            self.store.sync_ref(self.store.wake())?;
            return Ok(Landed { fate: Fate::Already, wake });
        }
        let mut candidates = self.judged_pending()?;
        if !candidates.iter().any(|candidate| candidate.run.as_ref() == Some(&run.run)) {
            candidates.push(Candidate::of_run(run));
        }
        let report = self.merge_held(candidates, std::slice::from_ref(run), false)?;
        let fate = report.of_run(&run.run).cloned().unwrap_or(Fate::Already);
        Ok(Landed { fate, wake: report.wake })
    }

    /// The runs of other processes that wait. Under the trunk lock.
    pub(super) fn guests(&self, own: &[Candidate]) -> Result<Vec<Guest>, CycleError> {
        let except: Vec<&RunId> = own.iter().filter_map(|candidate| candidate.run.as_ref()).collect();
        let mut guests = Vec::new();
        for waited in self.store.take_waiting(&except)? {
            let wake = self.store.need_tip(self.store.wake())?;
            if self.is_recorded(wake, &waited.run)? {
                self.store.sync_ref(self.store.wake())?;
                waited.answer(&Landed { fate: Fate::Already, wake }.told());
                continue;
            }
            let branch = super::commit::branch_of(self.store.wake(), &waited.run)?;
            let candidate = Candidate {
                name: branch.to_string(),
                commit: waited.commit,
                branch: Some(branch),
                run: Some(waited.run.clone()),
                reviewed_by: None,
            };
            guests.push(Guest { candidate, waited });
        }
        Ok(guests)
    }

    /// Tells those who wait what became of their runs, and takes these out of the report. Everything is on disk by now.
    pub(super) fn answer_guests(&self, guests: Vec<Guest>, report: &mut Report) {
        for guest in guests {
            let Some(at) = report.fates.iter().position(|(candidate, _)| *candidate == guest.candidate) else {
                continue;
            };
            let (_, fate) = report.fates.remove(at);
            guest.waited.answer(&Landed { fate, wake: report.wake }.told());
        }
    }

    fn is_recorded(&self, wake: CommitId, run: &RunId) -> Result<bool, CycleError> {
        Ok(self.store.file(self.store.tree_of(wake)?, &layout::run(run))?.is_some())
    }
}

impl Landed {
    fn told(&self) -> Vec<u8> {
        let fate = match &self.fate {
            Fate::Merged { commit, decisions } => {
                Told::Merged { commit: commit.to_string(), decisions: decisions.clone() }
            }
            Fate::Already => Told::Already,
            Fate::Conflict(conflicts) => Told::Conflict(conflicts.clone()),
            Fate::Refused(why) => Told::Refused(why.clone()),
        };
        let answer = Answer { wake: self.wake.to_string(), fate };
        serde_json::to_vec(&answer).expect("invariant: an answer is plain data")
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let Answer { wake, fate } = serde_json::from_slice(bytes).ok()?;
        let fate = match fate {
            Told::Merged { commit, decisions } => Fate::Merged { commit: CommitId::parse(&commit).ok()?, decisions },
            Told::Already => Fate::Already,
            Told::Conflict(conflicts) => Fate::Conflict(conflicts),
            Told::Refused(why) => Fate::Refused(why),
        };
        Some(Self { fate, wake: CommitId::parse(&wake).ok()? })
    }
}

#[cfg(test)]
mod tests;
