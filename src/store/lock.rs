//! Locks between processes: files in the private folder that the kernel releases when their holder dies.
//!
//! They give order and throughput. They do not give correctness, which compare-and-swap of refs does: git and editors
//! know nothing of them.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use fs2::FileExt;

use super::{Store, StoreError};
use crate::limits;

/// First and longest pause between two tries, milliseconds; chance makes each up to twice as long, so that those who wait do not
/// come all at once. Short: a merge under the lock takes some tens of milliseconds.
const PAUSE_MS: (u64, u64) = (1, 8);

/// What a lock protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockName {
    /// The movement of main and wake.
    Trunk,
    /// The loop that starts agents.
    Cycle,
    /// Sleeping, and taking a sleep back.
    Sleep,
    /// Talking to another repository of the brain.
    Sync,
    /// Repacking.
    Maintenance,
    /// The removal of what dead processes left.
    Recovery,
    /// Making a snapshot of all neurons.
    Snapshot,
    /// Getting vectors of texts: nothing is paid for twice.
    Vectors,
    /// The account of what was spent.
    Account,
    /// Deciding on a run that waits.
    Review,
    /// Running cycles of a deliberation.
    Deliberation,
    /// Bringing in what coding agents' sessions said.
    Capture,
    /// Asking a council that decides on a run. The number follows from the commit of that run and is below [`limits::COUNCIL_LOCKS`].
    Council(u8),
}

impl LockName {
    fn file(self) -> Cow<'static, str> {
        let name = match self {
            Self::Council(number) => return Cow::Owned(format!("locks/council-{number}")),
            Self::Trunk => "locks/trunk",
            Self::Cycle => "locks/cycle",
            Self::Sleep => "locks/sleep",
            Self::Sync => "locks/sync",
            Self::Maintenance => "locks/maintenance",
            Self::Recovery => "locks/recovery",
            Self::Snapshot => "locks/snapshot",
            Self::Review => "locks/review",
            Self::Deliberation => "locks/deliberation",
            Self::Capture => "locks/capture",
            Self::Vectors => "locks/vectors",
            Self::Account => "locks/account",
        };
        Cow::Borrowed(name)
    }

    fn label(self) -> &'static str {
        match self {
            Self::Trunk => "the trunk (main and wake)",
            Self::Review => "a decision on a waiting run",
            Self::Deliberation => "a deliberation",
            Self::Council(_) => "a council on a run",
            Self::Capture => "keeping what a session said",
            Self::Cycle => "the cycle",
            Self::Sleep => "sleep",
            Self::Sync => "sync",
            Self::Maintenance => "maintenance",
            Self::Recovery => "recovery",
            Self::Snapshot => "making a snapshot",
            Self::Vectors => "getting embeddings",
            Self::Account => "the account of the budget",
        }
    }
}

/// A held lock; dropping it releases it. Its file stays, because deleting it would let two processes hold "the" lock.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file is not enough: a program that another thread is just starting has it open too until it runs.
    fn drop(&mut self) {
        let _ = FileExt::unlock(&self.file);
    }
}

/// How waiting for a lock ended.
#[derive(Debug)]
pub enum Turn<T> {
    /// The lock is held.
    Mine(Lock),
    /// What it was wanted for is done.
    Done(T),
}

impl Store {
    /// Takes a lock, waiting up to [`limits::LOCK_WAIT_MS`]. With [`LockName::Trunk`], what a killed process left behind is put right
    /// before this returns.
    pub fn lock(&self, name: LockName) -> Result<Lock, StoreError> {
        let lock = self.lock_within(name, Duration::from_millis(limits::LOCK_WAIT_MS))?;
        if name == LockName::Trunk {
            self.recover()?;
        }
        Ok(lock)
    }

    /// The same for what another process may do while this one waits: asks `done` before each pause, and ends when it says so.
    pub fn lock_unless<T>(
        &self,
        name: LockName,
        done: &mut dyn FnMut() -> Result<Option<T>, StoreError>,
    ) -> Result<Turn<T>, StoreError> {
        let turn = take_turn(&self.private_dir(), name, Duration::from_millis(limits::LOCK_WAIT_MS), done)?;
        if name == LockName::Trunk && matches!(turn, Turn::Mine(_)) {
            self.recover()?;
        }
        Ok(turn)
    }

    /// Takes a lock if nobody holds it.
    pub fn try_lock(&self, name: LockName) -> Result<Option<Lock>, StoreError> {
        match self.lock_within(name, Duration::ZERO) {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::Busy { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Takes a lock, waiting so long.
    pub fn lock_within(&self, name: LockName, wait: Duration) -> Result<Lock, StoreError> {
        acquire(&self.private_dir(), name, wait)
    }
}

/// Takes a lock in a private folder, which is made if it is not there.
pub(super) fn acquire(folder: &Path, name: LockName, wait: Duration) -> Result<Lock, StoreError> {
    match take_turn::<std::convert::Infallible>(folder, name, wait, &mut || Ok(None))? {
        Turn::Mine(lock) => Ok(lock),
        Turn::Done(never) => match never {},
    }
}

fn take_turn<T>(
    folder: &Path,
    name: LockName,
    wait: Duration,
    done: &mut dyn FnMut() -> Result<Option<T>, StoreError>,
) -> Result<Turn<T>, StoreError> {
    // No name ends in `.lock`: these files stay, and must not be taken for a stale lock of git's.
    let path = &folder.join(name.file().as_ref());
    let folder = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = open.map_err(StoreError::file(path))?;
    let began = Instant::now();
    let (first, longest) = (Duration::from_millis(PAUSE_MS.0), Duration::from_millis(PAUSE_MS.1));
    let pauses = ExponentialBuilder::default().with_min_delay(first).with_max_delay(longest).with_jitter();
    let mut pauses = pauses.without_max_times().build();
    loop {
        match FileExt::try_lock_exclusive(&file) {
            Ok(()) => break,
            Err(e) if is_contended(&e) => {}
            Err(e) => return Err(StoreError::file(path)(e)),
        }
        if began.elapsed() >= wait {
            return Err(StoreError::Busy { what: name.label().to_owned(), holder: holder(&mut file) });
        }
        if let Some(done) = done()? {
            return Ok(Turn::Done(done));
        }
        std::thread::sleep(pauses.next().unwrap_or(longest));
    }
    // Who holds it is told to those that wait in vain. Not needed for anything else, so a failure is no matter.
    let _ = file.set_len(0).and_then(|()| file.write_all(format!("pid {}\n", std::process::id()).as_bytes()));
    Ok(Turn::Mine(Lock { file }))
}

pub(super) fn is_contended(error: &std::io::Error) -> bool {
    let contended = fs2::lock_contended_error();
    error.kind() == contended.kind() || error.raw_os_error() == contended.raw_os_error()
}

fn holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sandbox::Sandbox;

    #[test]
    fn a_held_lock_is_busy_and_names_its_holder() {
        let sandbox = Sandbox::brain();
        let (one, two) = (sandbox.store(), sandbox.store());
        let held = one.lock(LockName::Trunk).unwrap();
        let error = two.lock_within(LockName::Trunk, Duration::from_millis(5)).unwrap_err();
        assert!(error.to_string().contains(&format!("pid {}", std::process::id())), "{error}");
        assert!(two.try_lock(LockName::Trunk).unwrap().is_none());
        assert!(two.try_lock(LockName::Cycle).unwrap().is_some(), "another lock is free");
        drop(held);
        assert!(two.try_lock(LockName::Trunk).unwrap().is_some());
        assert!(one.private_dir().join("locks/trunk").exists());
    }

    #[test]
    fn a_dropped_lock_is_free_although_a_copy_of_its_file_is_open() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let held = store.lock(LockName::Maintenance).unwrap();
        let inherited = held.file.try_clone().unwrap();
        drop(held);
        assert!(store.try_lock(LockName::Maintenance).unwrap().is_some());
        drop(inherited);
    }
}
