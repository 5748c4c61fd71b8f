//! After a kill: a sleep or its undoing ends in the state before or the state after, and the next command says which.
//!
//! Whoever sleeps writes a note into the private folder before it makes a branch, and again before it moves wake. The kernel
//! releases its lock when it dies. Wake moves first: if it has moved, main follows; if not, nothing happened. The note only saves the search: history
//! alone says the same ([`Cycle::settle_by_history`]), for a clone that got wake without main.

use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::branch_of;
use crate::cycle::trailers::{SLEEP_TRAILER, UNDOES_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::store::{Branch, CommitId, Left, Lock, LockName, RefChange, RefOutcome, StoreError};

/// What a process is about to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Note {
    /// The sleep.
    run: String,
    /// Wake's old and new tip, once they are known.
    wake: Option<(String, String)>,
    /// Main's old and new tip.
    main: Option<(String, String)>,
    /// The branch that goes with it.
    branch: Option<String>,
    /// Whether the sleep is being taken back.
    #[serde(default)]
    undoes: bool,
}

impl Note {
    /// A sleep begins.
    pub(super) fn begun(run: &RunId) -> Self {
        Self { run: run.to_string(), wake: None, main: None, branch: None, undoes: false }
    }

    /// Both branches are about to move.
    pub(super) fn moving(
        run: &RunId,
        wake: (CommitId, CommitId),
        main: (CommitId, CommitId),
        branch: Option<Branch>,
    ) -> Self {
        let pair = |(old, new): (CommitId, CommitId)| Some((old.to_string(), new.to_string()));
        Self { wake: pair(wake), main: pair(main), branch: branch.map(|b| b.to_string()), ..Self::begun(run) }
    }
}

impl Note {
    /// The same of the undoing of that sleep.
    pub(super) fn undoing(self) -> Self {
        Self { undoes: true, ..self }
    }

    /// The sleep or its undoing, as messages name it.
    fn subject(&self) -> String {
        subject(&self.run, self.undoes)
    }
}

fn subject(run: &str, undoes: bool) -> String {
    if undoes { format!("the undoing of {run}") } else { run.to_owned() }
}

impl Cycle {
    fn note_file(&self) -> PathBuf {
        self.store.private_dir().join("sleep")
    }

    /// Says what is about to happen, durably.
    pub(super) fn write_note(&self, note: &Note) -> Result<(), CycleError> {
        if self.store.is_rehearsal() {
            return Ok(());
        }
        let path = self.note_file();
        let write = || -> std::io::Result<()> {
            let folder = self.store.private_dir();
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&serde_json::to_vec(note).map_err(std::io::Error::other)?)?;
            file.as_file().sync_data()?;
            file.persist(&path).map_err(|e| e.error)?;
            // Its name too: the note before it would say that nothing was about to move.
            if cfg!(unix) {
                std::fs::File::open(&folder)?.sync_all()?;
            }
            Ok(())
        };
        write().map_err(|source| StoreError::File { path: path.clone(), source })?;
        Ok(())
    }

    /// It has happened, or will not.
    pub(super) fn forget_note(&self) {
        if self.store.is_rehearsal() {
            return;
        }
        // A note that stays is settled by the next command, which finds nothing to do.
        let _ = std::fs::remove_file(self.note_file());
    }

    /// Moves wake, then main, each if it is where it was. `None`: somebody else moved one before anything was moved.
    pub(super) fn move_both(
        &self,
        wake: (CommitId, CommitId),
        main: (CommitId, CommitId),
        reason: &str,
    ) -> Result<Option<Vec<Left>>, CycleError> {
        let advance = |branch: &Branch, (old, new): (CommitId, CommitId)| RefChange::advance(branch.clone(), old, new);
        let mut left = match self.store.update_refs(&[advance(self.store.wake(), wake)], reason)? {
            RefOutcome::Done { left } => left,
            RefOutcome::Modified { .. } => return Ok(None),
        };
        match self.store.update_refs(&[advance(self.store.main(), main)], reason)? {
            RefOutcome::Done { left: more } => left.extend(more),
            RefOutcome::Modified { found, .. } => {
                let found = found.map_or("gone".to_owned(), |c| c.to_string());
                return Err(CycleError::refused(format!(
                    "{} was moved to {found} by something that does not know our locks; {} stays reachable from wake, and the next \
                     sleep's log includes it",
                    self.store.main(),
                    main.1
                )));
            }
        }
        Ok(Some(left))
    }

    /// Settles what a killed process left, if it did and nobody else is at it. Told as a note of the command at hand.
    pub(in crate::cycle) fn settle(&self) -> Result<(), CycleError> {
        if !self.note_file().exists() || self.shared.world.in_hook() {
            return Ok(());
        }
        // Whoever cannot lock here cannot write here either, and only reads.
        let Ok(Some(_sleep)) = self.store.try_lock(LockName::Sleep) else { return Ok(()) };
        self.settle_held()
    }

    /// Waits until nobody else sleeps, and settles what whoever did so last has left if he was killed meanwhile.
    pub(super) fn bedtime(&self) -> Result<Lock, CycleError> {
        let lock = self.store.lock(LockName::Sleep)?;
        self.settle_held()?;
        Ok(lock)
    }

    /// The same under the lock.
    fn settle_held(&self) -> Result<(), CycleError> {
        let path = self.note_file();
        let note = match std::fs::read(&path) {
            Ok(note) => note,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            // It may say that main is to follow: whoever slept now would write over it.
            Err(source) => return Err(StoreError::File { path, source }.into()),
        };
        let note: Option<Note> = serde_json::from_slice(&note).ok();
        let told = match &note {
            Some(note) => self.settle_note(note)?,
            None => "a sleep was cut off before it moved anything: this is the state before it".to_owned(),
        };
        self.store.add_note(told);
        self.forget_note();
        Ok(())
    }

    fn settle_note(&self, note: &Note) -> Result<String, CycleError> {
        let run = &note.run;
        let _trunk = self.store.lock(LockName::Trunk)?;
        let tip = self.store.need_tip(self.store.wake())?;
        let parse = |pair: &Option<(String, String)>| -> Option<(CommitId, CommitId)> {
            let (old, new) = pair.as_ref()?;
            Some((CommitId::parse(old).ok()?, CommitId::parse(new).ok()?))
        };
        let moved = match parse(&note.wake) {
            Some((_, new)) => self.store.commit(new).is_ok() && self.store.is_ancestor(new, tip)?,
            None => false,
        };
        if !moved {
            let branch = match &note.branch {
                Some(name) => Some(Branch::parse(name)?),
                None if note.wake.is_none() => {
                    RunId::parse(run).ok().map(|id| branch_of(self.store.wake(), &id)).transpose()?
                }
                None => None,
            };
            if let Some(branch) = branch
                && let Some(tip) = self.store.tip(&branch)?
            {
                self.remove_branch(&branch, tip)?;
            }
            return Ok(format!("{} was cut off before it moved anything: this is the state before it", note.subject()));
        }
        let told = self.follow(parse(&note.main), &note.subject())?;
        if let Some(branch) = note.branch.as_deref().map(Branch::parse).transpose()?
            && let Some(tip) = self.store.tip(&branch)?
        {
            self.remove_branch(&branch, tip)?;
        }
        Ok(told)
    }

    /// Lets main follow wake, which has moved.
    fn follow(&self, main: Option<(CommitId, CommitId)>, run: &str) -> Result<String, CycleError> {
        let tip = self.store.need_tip(self.store.main())?;
        let Some((old, new)) = main else { return Ok(format!("{run} was cut off; main stays as it is")) };
        if self.store.is_ancestor(new, tip)? {
            return Ok(format!("{run} was cut off after both branches had moved: this is the state after it"));
        }
        // Whether main is still where it was is for the move itself to say: plain git does not know our locks.
        let change = RefChange::advance(self.store.main().clone(), old, new);
        Ok(match self.store.update_refs(&[change], "git-brain: sleep, completed")? {
            RefOutcome::Done { .. } => {
                format!("{run} was cut off between its two branches and is completed: this is the state after it")
            }
            RefOutcome::Modified { .. } => format!(
                "{run} was cut off, and {} has moved on since: what it did is in wake, and the next sleep's log includes it",
                self.store.main()
            ),
        })
    }

    /// Completes what the newest sleep (or undoing) under wake says, if main is still where that started from. Needs no note.
    pub(super) fn settle_by_history(&self) -> Result<(), CycleError> {
        let (wake, main) = (self.store.need_tip(self.store.wake())?, self.store.need_tip(self.store.main())?);
        let Some(commit) = self.walk_to_waking(wake)? else { return Ok(()) };
        let undone = commit.trailer(UNDOES_TRAILER).map(|run| subject(run, true));
        let name = commit.trailer(SLEEP_TRAILER).map(str::to_owned).or(undone).unwrap_or_default();
        let Some(new) = commit.parents.get(1).copied() else { return Ok(()) };
        let old = self.store.commit(new)?.parents.first().copied();
        if old == Some(main) {
            let _trunk = self.store.lock(LockName::Trunk)?;
            let told = self.follow(Some((main, new)), &name)?;
            let branch = self.store.main();
            // Nobody left a note of it: a person may have moved main back.
            self.store.add_note(match self.store.need_tip(branch)? == new {
                true => format!("{branch} stood before {name}, which wake has: it is on {branch} again; `git brain sleep --undo` takes it back"),
                false => told,
            });
        }
        Ok(())
    }
}
