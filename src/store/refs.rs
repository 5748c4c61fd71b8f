//! Refs: moved by compare-and-swap only, and listed.

mod advance;

use std::time::Duration;

use backon::{BackoffBuilder, BlockingRetryable, ExponentialBuilder};
use git2::{ErrorClass, ErrorCode, Oid};

use super::disk::sync_folder;
use super::intent::{Intent, Plan};
use super::left::Left;
use super::{Branch, CommitId, Store, StoreError};
use crate::limits;

/// Where branches lie.
const HEADS: &str = "refs/heads/";

/// A wish: the branch is `expected` (`None`: it does not exist) and shall be `new` (`None`: not exist).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    /// The branch.
    pub branch: Branch,
    /// What it must be now.
    pub expected: Option<CommitId>,
    /// What it shall be.
    pub new: Option<CommitId>,
}

impl RefChange {
    /// Makes a branch that must not exist.
    pub fn create(branch: Branch, new: CommitId) -> Self {
        Self { branch, expected: None, new: Some(new) }
    }

    /// Moves a branch.
    pub fn advance(branch: Branch, expected: CommitId, new: CommitId) -> Self {
        Self { branch, expected: Some(expected), new: Some(new) }
    }

    /// Removes a branch.
    pub fn delete(branch: Branch, expected: CommitId) -> Self {
        Self { branch, expected: Some(expected), new: None }
    }
}

/// What became of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a lost race is no error, and must be answered"]
pub enum RefOutcome {
    /// All changes were made. The files that people have edited in a work tree of a moved branch were left alone.
    Done {
        /// Those files.
        left: Vec<Left>,
    },
    /// A branch was not what was expected: redo the merge from what it is. Changes listed before it were made.
    Modified {
        /// The branch.
        branch: Branch,
        /// What it is.
        found: Option<CommitId>,
    },
}

/// Tries of something that must be done again when another process moves a branch first.
#[derive(Debug)]
pub struct Races {
    branch: Branch,
    pauses: backon::ExponentialBackoff,
}

impl Races {
    /// Waits a little, by chance longer or shorter, before the next try.
    ///
    /// # Errors
    /// Busy, after [`limits::REF_RETRIES`] lost races: somebody moves the branch without our lock, and without end.
    pub fn lost(&mut self) -> Result<(), StoreError> {
        let Some(pause) = self.pauses.next() else {
            let what = format!("{}, which something that does not know our locks moves again and again,", self.branch);
            return Err(StoreError::Busy { what, holder: None });
        };
        std::thread::sleep(pause);
        Ok(())
    }
}

/// Pauses between tries, each by chance up to twice as long.
fn pauses() -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(1))
        .with_max_delay(Duration::from_millis(100))
        .with_max_times(limits::REF_RETRIES)
        .with_jitter()
}

enum Step {
    Made,
    Found(Option<CommitId>),
}

impl Store {
    /// The commit that a branch points to.
    pub fn tip(&self, branch: &Branch) -> Result<Option<CommitId>, StoreError> {
        self.ref_target(&branch.full())
    }

    /// The commit that a branch points to, which must exist.
    pub fn need_tip(&self, branch: &Branch) -> Result<CommitId, StoreError> {
        self.tip(branch)?.ok_or_else(|| StoreError::NoBranch { branch: branch.to_string() })
    }

    pub(super) fn ref_target(&self, name: &str) -> Result<Option<CommitId>, StoreError> {
        if let Some(rehearsed) = self.rehearsed(name) {
            return Ok(rehearsed);
        }
        let read = self.with(|r| Ok(r.find_reference(name)?.resolve()?.target()));
        match read {
            Ok(target) => Ok(target.map(|id| self.stand_in(CommitId(id)))),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
            Err(e) => Err(StoreError::git(name, e)),
        }
    }

    pub(super) fn stand_in(&self, id: CommitId) -> CommitId {
        self.stand_ins.borrow().get(&id).copied().unwrap_or(id)
    }

    /// Takes from now on the newest commit behind a tip that cannot be read for that tip. Whether there is one.
    pub fn pass_over(&self, tip: CommitId) -> bool {
        let behind = self.first_parents(tip, None).find_map(Result::ok);
        behind.is_some_and(|behind| self.stand_ins.borrow_mut().insert(tip, behind.id).is_none())
    }

    /// The commit that a revision names (`HEAD~2`, a branch, a tag, an id), as git reads it; `wake` and `main` are those of the brain, whatever they are
    /// called here.
    pub fn resolve(&self, revision: &str) -> Result<Option<CommitId>, StoreError> {
        let (name, rest) = revision.split_at(revision.find(['~', '^', '@']).unwrap_or(revision.len()));
        let meant = match name {
            "wake" => format!("refs/heads/{}{rest}", self.wake()),
            "main" => format!("refs/heads/{}{rest}", self.main()),
            _ => revision.to_owned(),
        };
        match self.with(|r| Ok(r.revparse_single(&meant)?.peel_to_commit()?.id())) {
            Ok(id) => Ok(Some(CommitId(id))),
            Err(e)
                if matches!(
                    e.code(),
                    ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Ambiguous | ErrorCode::Peel
                ) =>
            {
                Ok(None)
            }
            Err(e) => Err(StoreError::git(format!("revision {revision}"), e)),
        }
    }

    /// The commit of that id, whole or the beginning of it; `None` if there is none, or more than one. No name of a ref is taken for one.
    pub fn resolve_id(&self, id: &str) -> Result<Option<CommitId>, StoreError> {
        match self.with(|r| Ok(r.find_commit_by_prefix(id)?.id())) {
            Ok(id) => Ok(Some(CommitId(id))),
            Err(e) if matches!(e.code(), ErrorCode::NotFound | ErrorCode::Ambiguous) => Ok(None),
            Err(e) => Err(StoreError::git(format!("commit {id}"), e)),
        }
    }

    /// The branches below a prefix that ends at a slash (`agents/`; `""`: all), sorted. Names that we would
    /// refuse are passed over.
    pub fn branches(&self, prefix: &str) -> Result<Vec<(Branch, CommitId)>, StoreError> {
        let mut branches: Vec<(Branch, CommitId)> = self
            .refs_below(&format!("{HEADS}{prefix}"))?
            .into_iter()
            .filter_map(|(name, id)| Some((Branch::parse(name.strip_prefix(HEADS)?).ok()?, id)))
            .collect();
        branches.sort();
        Ok(branches)
    }

    /// Makes changes one after the other, each by compare-and-swap, and lets the work trees of moved branches follow.
    /// `reason` goes into the reflog. Publish the objects first.
    ///
    /// Another process that holds a ref's lock is waited for, [`limits::REF_RETRIES`] times; then: busy.
    pub fn update_refs(&self, changes: &[RefChange], reason: &str) -> Result<RefOutcome, StoreError> {
        if let Some(outcome) = self.update_rehearsed(changes)? {
            return Ok(outcome);
        }
        let mut left = Vec::new();
        for change in changes {
            if let (Some(old), None) = (change.expected, change.new) {
                self.step_off(&change.branch, old)?;
            }
            // The intent covers the work trees too, and so lives until they have followed.
            let (step, intent) = self.update_ref(change, reason)?;
            let synced = match change.expected {
                None => self.sync_ref_folders(&change.branch),
                Some(_) => Ok(()),
            };
            match (step, change.new) {
                (Step::Found(found), _) => return Ok(RefOutcome::Modified { branch: change.branch.clone(), found }),
                (Step::Made, Some(new)) => {
                    self.named(new);
                    left.extend(self.follow_or_hand_on(change, new, intent));
                }
                (Step::Made, None) => intent.removed(&self.common),
            }
            synced?;
        }
        Ok(RefOutcome::Done { left })
    }

    /// Counts the races that a piece of work loses for a branch: see [`Races::lost`].
    pub fn races(&self, branch: &Branch) -> Races {
        Races { branch: branch.clone(), pauses: pauses().build() }
    }

    /// Waits until what a branch is now is on disk: a process that was killed may have moved it and not have waited itself.
    pub fn sync_ref(&self, branch: &Branch) -> Result<(), StoreError> {
        let path = self.common.join(branch.full());
        // The ref's content was synced before it got its name. One in `packed-refs` has no file, nor perhaps a folder.
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.common));
        folders.filter(|folder| folder.is_dir()).try_for_each(sync_folder)
    }

    /// The branch has moved, whatever becomes of work trees: what fails for now is tried again by the next command.
    fn follow_or_hand_on(&self, change: &RefChange, new: CommitId, intent: Intent) -> Vec<Left> {
        match self.follow(&change.branch, change.expected, new) {
            Ok(left) if !left.iter().any(Left::is_passing) => left,
            Ok(left) => {
                intent.hand_on(&self.common, left.iter().any(Left::is_locked));
                left
            }
            Err(error) => {
                intent.hand_on(&self.common, false);
                let branch = &change.branch;
                self.note(format!("the work tree could not follow {branch}, the next command tries again: {error}"));
                Vec::new()
            }
        }
    }

    /// Keeps a commit from being pruned, under `refs/git-brain/rescue/`.
    pub fn rescue(&self, commit: CommitId) -> Result<(), StoreError> {
        self.keep("rescue", commit)
    }

    /// Keeps the commit of a run that was thrown away, so that it can be looked at; unlike a rescued one it is no history that was judged.
    pub fn keep_refused(&self, commit: CommitId) -> Result<(), StoreError> {
        self.keep("refused", commit)
    }

    /// Keeps a commit that was refused no longer: once git prunes, it is gone here. One that is not kept is none.
    pub fn drop_refused(&self, commit: &str) -> Result<(), StoreError> {
        let name = format!("refs/git-brain/refused/{commit}");
        self.outwait(&name);
        self.with(|r| match r.find_reference(&name) {
            Ok(mut kept) => kept.delete(),
            Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(()),
            Err(e) => Err(e),
        })
        .map_err(|e| StoreError::git(name.clone(), e))
    }

    fn keep(&self, folder: &str, commit: CommitId) -> Result<(), StoreError> {
        let name = format!("refs/git-brain/{folder}/{commit}");
        if self.move_rehearsed(&name, Some(commit)) {
            return Ok(());
        }
        self.outwait(&name);
        let kept = self.with(|r| r.reference(&name, commit.0, true, "rescued").map(|_| ()));
        kept.map_err(|e| StoreError::git(name, e))?;
        self.named(commit);
        Ok(())
    }

    /// The commits kept by [`Store::rescue`], sorted.
    pub fn rescued(&self) -> Result<Vec<CommitId>, StoreError> {
        let mut found: Vec<CommitId> = self.refs_below("refs/git-brain/rescue/")?.into_values().collect();
        found.sort();
        Ok(found)
    }

    fn update_ref(&self, change: &RefChange, reason: &str) -> Result<(Step, Intent), StoreError> {
        self.refuse_ref_over_folder(change)?;
        let tries = std::cell::Cell::new(0_usize);
        let attempt = || {
            tries.set(tries.get() + 1);
            // Made for each try: while it stands, nobody removes a lock that it names, also not a dead one.
            let intent = self.intend(self.plan(change)?)?;
            let step = self.attempt(change, reason, tries.get() > 1);
            let failed = |e| StoreError::git(format!("branch {}", change.branch), e);
            match step.map_err(failed) {
                Ok(step) => Ok((step, intent)),
                // It has its name, or may have, and the disk did not confirm that: an error, and yet the work trees are to follow.
                Err(error)
                    if change.new.is_some() && self.tip(&change.branch).map_or(true, |tip| tip == change.new) =>
                {
                    intent.hand_on(&self.common, false);
                    Err(error)
                }
                Err(error) => Err(error),
            }
        };
        // A lock that a dead process left goes away under our eyes; one that lives is waited for.
        let made = attempt.retry(pauses()).when(is_passing).notify(|_, _| drop(self.recover())).call();
        made.map_err(|e| match is_passing(&e) {
            true => StoreError::Busy {
                what: self.common.join(format!("{}.lock", change.branch.full())).display().to_string(),
                holder: None,
            },
            false => e,
        })
    }

    /// libgit2 syncs the folder of a new ref, not those above, which may be as new.
    fn sync_ref_folders(&self, branch: &Branch) -> Result<(), StoreError> {
        let heads = self.common.join("refs/heads");
        let path = heads.join(branch.as_str());
        for folder in path.ancestors().skip(2).take_while(|folder| folder.starts_with(&heads)) {
            match sync_folder(folder) {
                // Another process removed the branch already, and the folder with it.
                Err(StoreError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(())
    }

    fn plan(&self, change: &RefChange) -> Result<Plan, StoreError> {
        let content = change.new.map_or(String::new(), |new| format!("{new}\n"));
        let mut plan = Plan::default().lock(format!("{}.lock", change.branch.full()), Some(content));
        match (change.expected, change.new) {
            (_, None) => return Ok(plan.lock("packed-refs.lock", None)),
            (old, Some(new)) => plan = plan.moving(&change.branch, old, new),
        }
        for tree in self.work_trees_on(&change.branch)? {
            plan = plan.lock(tree.index_lock(), None);
        }
        Ok(plan)
    }

    fn attempt(&self, change: &RefChange, reason: &str, again: bool) -> Result<Step, git2::Error> {
        let name = change.branch.full();
        let repository = &self.repository;
        if let (Some(expected), Some(new)) = (change.expected, change.new) {
            match self.advance(&change.branch, expected, new, reason)? {
                Some(Step::Found(found)) if again && found == change.new => return Ok(Step::Made),
                Some(step) => return Ok(step),
                None => {}
            }
        }
        let made = match (change.expected, change.new) {
            (None, None) => Ok(()),
            // A zero id means "must not exist", and is compared under the ref's lock as any other.
            (expected, Some(new)) => {
                let expected = expected.map_or(Oid::ZERO_SHA1, |id| id.0);
                repository.reference_matching(&name, new.0, true, expected, reason).map(|_| ())
            }
            (Some(expected), None) => match repository.find_reference(&name) {
                // An earlier try may have removed it and failed at the empty folders around it.
                Err(e) if e.code() == ErrorCode::NotFound && again => Ok(()),
                Err(e) => Err(e),
                Ok(reference) if reference.target() != Some(expected.0) => {
                    return Ok(Step::Found(reference.target().map(CommitId)));
                }
                Ok(mut reference) => reference.delete(),
            },
        };
        match made {
            Ok(()) => Ok(Step::Made),
            Err(e) if matches!(e.code(), ErrorCode::Modified | ErrorCode::NotFound | ErrorCode::Exists) => {
                let found = repository.find_reference(&name).ok().and_then(|r| r.target()).map(CommitId);
                match found {
                    Some(_) if again && found == change.new => Ok(Step::Made),
                    // The ref is as expected: what was not found is the folder that its lock was about to be made in.
                    _ if found == change.expected && change.new.is_some() && is_vanished(&e) => Err(e),
                    _ => Ok(Step::Found(found)),
                }
            }
            Err(e) => Err(e),
        }
    }

    /// A branch `a/b` cannot be where a branch `a` is.
    fn refuse_ref_over_folder(&self, change: &RefChange) -> Result<(), StoreError> {
        if change.expected.is_some() {
            return Ok(());
        }
        let name = change.branch.full();
        match self.in_the_way_here(&name)? {
            Some(other) => Err(StoreError::InTheWay { name, other }),
            None => Ok(()),
        }
    }
}

/// Whether trying again may help: somebody holds the lock, or removed the empty folder that the ref was about to enter.
fn is_passing(error: &StoreError) -> bool {
    let StoreError::Git { source: error, .. } = error else { return false };
    error.code() == ErrorCode::Locked || is_vanished(error)
}

/// Whether a folder was not there that had just been.
fn is_vanished(error: &git2::Error) -> bool {
    error.class() == ErrorClass::Os && error.message().contains("No such file or directory")
}

#[cfg(test)]
mod tests;
