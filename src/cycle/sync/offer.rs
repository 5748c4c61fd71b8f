//! A branch of a run that is offered to people at another repository, before they decide on it.
//!
//! What goes out is judged as in a sync. Here too nothing is forced.

use crate::cycle::admission::{Door, Fault};
use crate::cycle::commit::run_of;
use crate::cycle::{Cycle, CycleError};
use crate::forge::{ForgeError, PushOrder, Said};
use crate::store::{Branch, CommitId, PushOutcome, RefChange, Remote, Target, Tips};

/// A remote, and what it has.
pub struct Outlet {
    /// The remote.
    pub remote: Remote,
    /// Its address, as git understands it.
    pub address: String,
    tips: Tips,
}

impl Cycle {
    /// The remote that a person names, else the one to sync with; asked for its branches.
    pub fn outlet(&self, asked: Option<&str>) -> Result<Outlet, CycleError> {
        let remote = self.store.remote(asked)?;
        self.refuse_untrusted(&remote)?;
        let address = self.store.address(&remote)?;
        let (tips, _) = self.store.remote_tips(&remote)?;
        if !tips.contains_key(self.store.wake()) {
            return Err(CycleError::Refused {
                message: format!(
                    "{} has no branch {}, so nothing can be reviewed against it",
                    remote.name,
                    self.store.wake()
                ),
                hint: Some(format!("first `git brain sync {}`", remote.name)),
            });
        }
        Ok(Outlet { remote, address, tips })
    }

    /// Brings branches of runs here that wait at a remote for no person, as plain git pushes them; a sync leaves those to the machine that
    /// made them. What is not let in is a note.
    pub fn adopt_pending(&self, asked: Option<&str>) -> Result<Vec<String>, CycleError> {
        let remote = self.store.remote(asked)?;
        self.refuse_untrusted(&remote)?;
        let prefix = self.store.runs_prefix();
        let (mut tips, _) = self.store.remote_tips(&remote)?;
        tips.retain(|branch, _| run_of(&prefix, branch).is_some());
        let missing = |branch: &Branch| Ok::<bool, CycleError>(self.store.tip(branch)?.is_none());
        let mut wanted = Tips::new();
        for (branch, tip) in tips {
            if missing(&branch)? {
                wanted.insert(branch, tip);
            }
        }
        let tips = self.store.fetch(&remote, &wanted)?;
        let judged = self.judge(&tips, &self.known()?, &Door::Sync)?;
        let mut notes = Vec::new();
        for (branch, tip) in &tips {
            match judged.refused.get(branch) {
                Some(faults) => {
                    let why: Vec<String> = faults.iter().map(Fault::to_string).collect();
                    notes.push(format!("{branch} of {} is not let in: {}", remote.name, why.join("; ")));
                }
                None => {
                    let made = RefChange::create(branch.clone(), *tip);
                    // Another process may have brought it at this moment.
                    let _ = self.store.update_refs(&[made], "git-brain: ci")?;
                }
            }
        }
        self.store.forget_incoming(&remote)?;
        Ok(notes)
    }

    /// What is wrong with a commit as the next wake, as our gate would say it of a push.
    pub fn judge_as_wake(&self, commit: CommitId) -> Result<Vec<String>, CycleError> {
        let tips = Tips::from([(self.store.wake().clone(), commit)]);
        let judged = self.judge(&tips, &self.known()?, &Door::Sync)?;
        Ok(judged.refused.into_values().flatten().map(|fault| fault.to_string()).collect())
    }

    /// Refuses a branch that the remote would not take. Returns whether it would show more there than its own run.
    pub fn judge_offer(&self, outlet: &Outlet, branch: &Branch, commit: CommitId) -> Result<bool, CycleError> {
        let name = &outlet.remote.name;
        let mut there = self.store.seen(&outlet.remote)?;
        // What others pushed since the last sync is not here, and says nothing about what is.
        let is_here = |tip: &CommitId| self.store.commit(*tip).is_ok();
        there.extend(outlet.tips.iter().filter(|(_, tip)| is_here(tip)).map(|(branch, tip)| (branch.clone(), *tip)));
        if let Some(tip) = outlet.tips.get(branch)
            && *tip != commit
            && !(is_here(tip) && self.store.is_ancestor(*tip, commit)?)
        {
            return Err(CycleError::Refused {
                message: format!("{name} has another {branch}, which is not below the one here"),
                hint: Some(format!("`git brain sync {name}` says what is there")),
            });
        }
        let tips = Tips::from([(branch.clone(), commit)]);
        let Some(faults) = self.judge_outgoing(&tips, &there, None)?.refused.remove(branch) else {
            let wake = there.get(self.store.wake()).copied();
            let is_there = |base| wake.map_or(Ok(false), |wake| self.store.is_ancestor(base, wake));
            let bases = self.store.merge_bases(self.store.need_tip(self.store.wake())?, commit)?;
            return Ok(!bases.into_iter().map(is_there).collect::<Result<Vec<_>, _>>()?.into_iter().all(|there| there));
        };
        let why: Vec<String> = faults.iter().map(Fault::to_string).collect();
        Err(CycleError::Refused {
            message: format!("{branch} stays here, {name} would refuse it: {}", why.join("; ")),
            hint: Some(format!("`git brain reject {branch}` throws it away")),
        })
    }

    /// Pushes a branch that was judged, as a forge wants it; nothing where the remote has it already.
    pub fn offer(
        &self,
        outlet: &Outlet,
        (branch, commit): (&Branch, CommitId),
        order: &PushOrder,
    ) -> Result<Said, ForgeError> {
        let target = match &order.reference {
            Some(name) => Target::Reference(name.clone()),
            None => {
                let old = outlet.tips.get(branch).copied();
                if old == Some(commit) {
                    return Ok(Said { moved: false, text: String::new() });
                }
                Target::Branch(branch.clone(), old)
            }
        };
        let reference = order.reference.clone().unwrap_or_else(|| branch.to_string());
        match self.store.propose(&outlet.remote, (commit, &target), &order.options)? {
            (PushOutcome::Done, text) => Ok(Said { moved: true, text }),
            (PushOutcome::Modified, _) => {
                let message = "another push moved it there at this moment; try again".to_owned();
                Err(ForgeError::Push { reference, message })
            }
            (PushOutcome::Refused(message), _) => Err(ForgeError::Push { reference, message }),
        }
    }

    /// Whether a branch was proposed to a remote that cannot be asked for its requests, at this commit or an older one.
    pub fn offered(&self, outlet: &Outlet, branch: &Branch) -> Result<Option<CommitId>, CycleError> {
        Ok(self.store.proposed(&outlet.remote, branch)?)
    }

    /// Remembers that a branch was proposed.
    pub fn note_offered(&self, outlet: &Outlet, branch: &Branch, commit: CommitId) -> Result<(), CycleError> {
        Ok(self.store.note_proposed(&outlet.remote, branch, commit)?)
    }
}
