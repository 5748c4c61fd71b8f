//! Intents: what a process is about to touch with lock files of git's kind, written down before it does.
//!
//! Git's locks (`refs/heads/wake.lock`, `index.lock`) are plain files: a process killed between making and renaming one
//! blocks everybody for ever. So whoever moves refs first writes an intent that lists those files, and holds a kernel lock
//! on it. **The intent's lock is the proof**: if another process can take it, its writer is dead, in whatever container
//! or user account it ran, and a reused process id deceives nobody. Then exactly the listed files are removed, if
//! nothing speaks against it (see [`Store::recover`]), and a work tree that should have followed does. Where a living process
//! could not let it follow, because a disk was full or failed, it hands that part of its intent on, as a `.follow` file. A plan
//! names lock files of this git folder and nothing else: one that came with a copied folder might name any.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs2::FileExt;
use serde::{Deserialize, Serialize};

use super::confine::own_lock;
use super::disk::{absent_is_fine, discard};
use super::left::Left;
use super::lock::{LockName, is_contended};
use super::{Branch, CommitId, Store, StoreError};
use crate::limits;

const FOLDER: &str = "intents";
const SUFFIX: &str = "intent";
/// What is left of an intent whose branch moved and whose work tree could not follow: its locks are no matter any more.
const UNFOLLOWED: &str = "follow";
/// Youngest lock file that is removed: git itself holds a lock without having it open for some milliseconds.
const QUIET: Duration = Duration::from_secs(1);
/// A file that was never renamed to an intent is rubbish after this long.
const RUBBISH: Duration = Duration::from_secs(60);

/// What an intent says.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Plan {
    pid: u32,
    /// Lock files, absolute or relative to the common git folder.
    locks: Vec<PlannedLock>,
    /// Branches that move: name, old tip (empty: there was none) and new tip.
    moves: Vec<(String, String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PlannedLock {
    file: PathBuf,
    /// What will be in it, if that is known: a foreign lock differs.
    content: Option<String>,
}

impl Plan {
    /// A lock file that will be held.
    pub(super) fn lock(mut self, file: impl Into<PathBuf>, content: Option<String>) -> Self {
        self.locks.push(PlannedLock { file: file.into(), content });
        self
    }

    /// A branch that will move.
    pub(super) fn moving(mut self, branch: &Branch, old: Option<CommitId>, new: CommitId) -> Self {
        self.moves.push((branch.to_string(), old.map(|id| id.to_string()).unwrap_or_default(), new.to_string()));
        self
    }
}

/// A written intent; dropping it withdraws it.
#[must_use = "the intent ends when this is dropped"]
pub(super) struct Intent {
    path: PathBuf,
    locks: Vec<PathBuf>,
    _file: File,
}

impl Intent {
    /// Leaves to the next process what this one could not do: let work trees follow. The locks are no part of that, because
    /// an `index.lock` that a person's editor holds looks like a dead one; unless one is there that could not be removed, or
    /// the disk takes no other file: then the intent stays as it is, and is that of a dead process soon. `anothers`: the one that is there is
    /// somebody else's.
    pub(super) fn hand_on(mut self, common: &Path, anothers: bool) {
        let path = std::mem::take(&mut self.path);
        let stuck = !anothers && self.locks.iter().any(|lock| common.join(lock).exists());
        let name = path.with_extension(UNFOLLOWED);
        if !stuck && std::fs::rename(&path, &name).is_err() {
            match std::fs::copy(&path, &name) {
                Ok(_) => discard(&path),
                Err(_) => discard(&name),
            }
        }
    }
}

impl Intent {
    /// Ends it after a branch was removed. If the branch's own lock is still there, because the disk did not remove it, the intent
    /// stays, and is that of a dead process soon: the next command takes both away.
    pub(super) fn removed(mut self, common: &Path) {
        if self.locks.first().is_some_and(|lock| common.join(lock).exists()) {
            self.path = PathBuf::new();
        }
    }
}

impl Drop for Intent {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            discard(&self.path);
        }
    }
}

enum Verdict {
    Settled,
    Keep,
}

impl Store {
    /// Writes an intent. It is locked before it gets the name under which others look at it.
    pub(super) fn intend(&self, mut plan: Plan) -> Result<Intent, StoreError> {
        plan.pid = std::process::id();
        let folder = self.private_dir().join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let text = serde_json::to_vec(&plan).expect("invariant: a plan is plain data");
        let made = tempfile::Builder::new().suffix(".new").tempfile_in(&folder).map_err(StoreError::file(&folder))?;
        FileExt::lock_exclusive(made.as_file()).map_err(StoreError::file(made.path()))?;
        made.as_file().write_all(&text).map_err(StoreError::file(made.path()))?;
        let path = made.path().with_extension(SUFFIX);
        let file = made.persist(&path).map_err(|e| StoreError::File { path: path.clone(), source: e.error })?;
        let locks = plan.locks.into_iter().map(|lock| lock.file).collect();
        Ok(Intent { path, locks, _file: file })
    }

    /// Puts right what dead processes left: removes their lock files and lets work trees follow.
    ///
    /// A lock file is removed only if the intent of a dead process names it, no live intent does, it is not older than
    /// that intent, its content is what that process would have written (or the beginning of it), no process has it
    /// open (where `/proc` tells), and it has been quiet for a second. Waits for that second at most, once.
    pub fn recover(&self) -> Result<(), StoreError> {
        let folder = self.private_dir().join(FOLDER);
        let mut entries = std::fs::read_dir(&folder).into_iter().flatten();
        if entries.next().is_none() {
            return Ok(());
        }
        let _alone = self.lock_within(LockName::Recovery, Duration::from_millis(limits::LOCK_WAIT_MS))?;
        let (dead, live) = survey(&folder)?;
        for (path, file, plan) in dead {
            let written = file.metadata().and_then(|m| m.modified()).map_err(StoreError::file(&path))?;
            let mut keep = false;
            for lock in &plan.locks {
                // A plan may be anybody's, in a folder that was copied from them.
                let Some(lock_path) = own_lock(&self.common, &lock.file) else { continue };
                let busy = live.contains(&lock.file);
                let verdict = if busy { Verdict::Keep } else { self.settle(&lock_path, lock, written, plan.pid)? };
                keep |= matches!(verdict, Verdict::Keep);
            }
            if keep {
                continue;
            }
            let gone = match self.resume(&plan) {
                true => std::fs::remove_file(&path),
                false => std::fs::rename(&path, path.with_extension(UNFOLLOWED)),
            };
            gone.or_else(absent_is_fine).map_err(StoreError::file(&path))?;
        }
        Ok(())
    }

    fn settle(&self, path: &Path, lock: &PlannedLock, written: SystemTime, pid: u32) -> Result<Verdict, StoreError> {
        let Some(first) = look(path)? else { return Ok(Verdict::Settled) };
        let expected = |content: &[u8]| {
            let plan = lock.content.as_deref().map(str::as_bytes);
            plan.is_none_or(|plan| plan.starts_with(content))
        };
        if first.modified < written || !expected(&first.content) {
            return Ok(Verdict::Settled); // somebody else's
        }
        let age = SystemTime::now().duration_since(first.modified).unwrap_or(Duration::ZERO);
        if age < QUIET {
            std::thread::sleep(QUIET - age);
        }
        let Some(second) = look(path)? else { return Ok(Verdict::Settled) };
        if second.modified != first.modified || second.content != first.content || is_open(path) {
            return Ok(Verdict::Keep);
        }
        std::fs::remove_file(path).or_else(absent_is_fine).map_err(StoreError::file(path))?;
        self.note(format!("removed {}, which process {pid} left when it was killed", path.display()));
        Ok(Verdict::Settled)
    }

    /// Lets the work trees follow the branches that a dead process moved; false if some still could not.
    fn resume(&self, plan: &Plan) -> bool {
        let mut followed = true;
        for (branch, old, new) in &plan.moves {
            let (Ok(branch), Ok(new)) = (Branch::parse(branch), CommitId::parse(new)) else { continue };
            let old = CommitId::parse(old).ok();
            followed &= self.resume_move(&branch, old, new).unwrap_or_else(|error| {
                self.note(format!("the work tree could not follow {branch}, the next command tries again: {error}"));
                false
            });
        }
        followed
    }

    fn resume_move(&self, branch: &Branch, old: Option<CommitId>, new: CommitId) -> Result<bool, StoreError> {
        let Some(tip) = self.tip(branch)? else { return Ok(true) };
        if old == Some(tip) || !old.is_none_or(|old| self.has(old.0)) || !self.has(new.0) {
            return Ok(true);
        }
        let left = self.follow(branch, old, tip)?;
        for left in &left {
            self.note(format!("left {} as it is: {}", left.path, left.reason));
        }
        Ok(!left.iter().any(Left::is_passing))
    }
}

struct Seen {
    modified: SystemTime,
    content: Vec<u8>,
}

fn look(path: &Path) -> Result<Option<Seen>, StoreError> {
    let read = || -> std::io::Result<Seen> {
        let file = File::open(path)?;
        let modified = file.metadata()?.modified()?;
        let mut content = Vec::new();
        // Longer than any ref: the rest of an index plays no part.
        file.take(512).read_to_end(&mut content)?;
        Ok(Seen { modified, content })
    };
    match read() {
        Ok(seen) => Ok(Some(seen)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::file(path)(e)),
    }
}

type Dead = Vec<(PathBuf, File, Plan)>;

/// Dead intents with their locks held by us, and the lock files that living ones name.
fn survey(folder: &Path) -> Result<(Dead, HashSet<PathBuf>), StoreError> {
    let (mut dead, mut live) = (Vec::new(), HashSet::new());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((dead, live)),
        Err(e) => return Err(StoreError::file(folder)(e)),
    };
    for entry in entries {
        let path = entry.map_err(StoreError::file(folder))?.path();
        let Ok(mut file) = File::open(&path) else { continue };
        let unfollowed = path.extension().is_some_and(|e| e == UNFOLLOWED);
        if !unfollowed && path.extension().is_none_or(|e| e != SUFFIX) {
            discard_rubbish(&path, &file);
            continue;
        }
        let held = match FileExt::try_lock_exclusive(&file) {
            Ok(()) => false,
            Err(e) if is_contended(&e) => true,
            Err(e) => return Err(StoreError::file(&path)(e)),
        };
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(StoreError::file(&path))?;
        // One that does not parse was cut off by a power failure: then no lock of its writer is known, or needed.
        let mut plan: Plan = serde_json::from_slice(&text).unwrap_or_default();
        if unfollowed {
            plan.locks.clear();
        }
        if held {
            live.extend(plan.locks.into_iter().map(|lock| lock.file));
        } else if path.exists() {
            dead.push((path, file, plan));
        }
    }
    Ok((dead, live))
}

/// Removes a file of a dead process that is too old to be under construction.
pub(super) fn discard_rubbish(path: &Path, file: &File) {
    let age = file.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age > RUBBISH) && FileExt::try_lock_exclusive(file).is_ok() {
        let _ = std::fs::remove_file(path);
    }
}

/// Whether a process that we may look into has the file open. Without `/proc`: false, and the other proofs stand alone.
fn is_open(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let numbered = |name: &std::ffi::OsStr| name.to_string_lossy().bytes().all(|b| b.is_ascii_digit());
    let open_in = |process: &Path| {
        let fds = std::fs::read_dir(process.join("fd"));
        fds.is_ok_and(|fds| fds.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|target| target == path)))
    };
    processes.flatten().any(|p| numbered(&p.file_name()) && open_in(&p.path()))
}

#[cfg(test)]
mod tests;
