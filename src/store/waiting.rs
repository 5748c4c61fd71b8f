//! Waiting runs: what a process hands over while another holds the trunk, so that many runs share one pack, one set of
//! fsyncs and one move of wake.
//!
//! A waiting run is a file `waiting/<run>` of the private folder: the run's commit and its objects, behind a checksum. It is not
//! synced, because nothing is acknowledged yet. **Its submitter holds a kernel lock on it, which is the proof that
//! somebody waits for the answer.** Whoever has the trunk renames it to `<run>.taken`, merges it, writes the answer behind
//! its content and removes it; the submitter, who has it open, sees that its file has no name any more, and reads the
//! answer. So no file is left over, however the two end:
//!
//! * The submitter dies: its file is unlocked, and is removed unread. Nobody was told that the run is in, so that not to take
//!   it is right, and nothing that nobody waits for is ever merged: neither a torn file after a power failure, nor
//!   one that somebody put there.
//! * The taker dies: the lock of the trunk is free. The submitter, or whoever comes next, finds the run in wake, or
//!   takes it again.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs2::FileExt;
use git2::{ObjectType, Oid};
use sha2::{Digest, Sha256};

use super::lock::is_contended;
use super::object::Pending;
use super::{Batch, CommitId, Store, StoreError};
use crate::limits;
use crate::model::RunId;

const FOLDER: &str = "waiting";
/// What the name of a file ends in that somebody is merging. A run's id has no dot.
const TAKEN: &str = "taken";
/// And of one that is not whole yet.
const UNFINISHED: &str = ".new";
/// How often one is made, if it is taken away before it is whole: between the making of a file and the lock on it, its writer
/// looks dead. A run that is not handed over is in nobody's group, and waits for the trunk among all others.
const HANDINGS: usize = 16;
/// How such a file begins.
const MAGIC: &[u8] = b"git-brain waiting run 1\n";
/// Bytes of an id.
const ID: usize = 20;
/// Bytes of the checksum.
const SUM: usize = 32;

/// A run that this process handed over. Dropping it takes it back, unless it is merged by then.
#[derive(Debug)]
#[must_use = "the run is taken back when this is dropped"]
pub struct Waiting {
    path: PathBuf,
    file: File,
    /// Bytes before the answer.
    length: u64,
}

/// A run that another process handed over and waits for.
#[derive(Debug)]
pub struct Waited {
    /// The run.
    pub run: RunId,
    /// Its commit.
    pub commit: CommitId,
    /// Its objects.
    pub batch: Batch,
    path: PathBuf,
    file: File,
    length: u64,
}

impl Store {
    /// Hands a run over to whoever holds the trunk. `None`: it is too large to be worth it, or that run waits already.
    pub fn hand_over(&self, run: &RunId, commit: CommitId, batch: &Batch) -> Result<Option<Waiting>, StoreError> {
        // In a rehearsal nobody else may take it, nor are those of others taken.
        let Some(bytes) = encode(commit, &batch.0).filter(|_| !self.is_rehearsal()) else { return Ok(None) };
        let folder = self.private_dir().join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let path = folder.join(run.as_str());
        for _ in 0..HANDINGS {
            let mut made =
                tempfile::Builder::new().suffix(UNFINISHED).tempfile_in(&folder).map_err(StoreError::file(&folder))?;
            let failed = |made: &tempfile::NamedTempFile| StoreError::file(made.path().to_owned());
            // Locked before it gets the name under which others look at it.
            FileExt::lock_exclusive(made.as_file()).map_err(failed(&made))?;
            made.as_file_mut().write_all(&bytes).map_err(failed(&made))?;
            match made.persist_noclobber(&path) {
                Ok(file) => return Ok(Some(Waiting { path, file, length: bytes.len() as u64 })),
                Err(e) if e.error.kind() == ErrorKind::AlreadyExists => return Ok(None),
                // Whoever took the runs that wait came by before it was locked.
                Err(e) if e.error.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(StoreError::File { path, source: e.error }),
            }
        }
        Ok(None)
    }

    /// Takes the runs that wait, in the order of their ids, at most [`limits::GROUP_RUNS`]. Call it under the trunk lock.
    ///
    /// What nobody waits for is removed. A file that is not whole, or whose content is not what its checksum says, is passed
    /// over: its submitter lives, and will see to its run itself.
    pub fn take_waiting(&self, except: &[&RunId]) -> Result<Vec<Waited>, StoreError> {
        if self.is_rehearsal() {
            return Ok(Vec::new());
        }
        let folder = self.private_dir().join(FOLDER);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(StoreError::file(&folder)(e)),
        };
        // Nothing but plain files: opening a pipe would wait for its writer.
        let plain = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let mut paths: Vec<PathBuf> = plain.map(|entry| entry.path()).collect();
        paths.sort();
        let (mut taken, mut bytes) = (Vec::new(), 0);
        for path in paths {
            if taken.len() >= limits::GROUP_RUNS || bytes >= limits::GROUP_BYTES {
                break;
            }
            if let Some(waited) = take(&path, except) {
                bytes += waited.length;
                taken.push(waited);
            }
        }
        Ok(taken)
    }
}

impl Waiting {
    /// The answer, if the run was taken and is settled. An empty one: somebody removed the file and said nothing.
    pub fn answer(&mut self) -> Option<Vec<u8>> {
        if is_named(&self.file, &self.path) {
            return None;
        }
        let mut answer = Vec::new();
        let read = self.file.seek(SeekFrom::Start(self.length));
        // What cannot be read is as good as no answer: the run itself is in wake, or is not.
        let _ = read.and_then(|_| (&self.file).take(limits::GROUP_BYTES).read_to_end(&mut answer));
        Some(answer)
    }

    /// Takes the run back. False: somebody has taken it already, and what becomes of it is not decided yet.
    pub fn take_back(&self) -> bool {
        std::fs::remove_file(&self.path).is_ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for path in [self.path.clone(), self.path.with_extension(TAKEN)] {
            let _ = std::fs::remove_file(path);
        }
        let _ = FileExt::unlock(&self.file);
    }
}

impl Waited {
    /// Answers whoever waits, and removes the file. An answer that cannot be written is no matter: the submitter finds its run
    /// where it is.
    pub fn answer(mut self, answer: &[u8]) {
        // Behind the content there may be an answer that was cut off.
        let cut = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
        let _ = cut.and_then(|_| self.file.write_all(answer));
        let _ = std::fs::remove_file(&self.path);
    }
}

/// True while the file is in its folder, under either name.
fn is_named(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    if let Ok(metadata) = file.metadata() {
        return std::os::unix::fs::MetadataExt::nlink(&metadata) > 0;
    }
    let _ = file;
    path.exists() || path.with_extension(TAKEN).exists()
}

/// Takes one file: claims it under the name of what is taken, if it is whole and somebody waits for it.
fn take(path: &Path, except: &[&RunId]) -> Option<Waited> {
    let stem = path.file_stem()?.to_str()?;
    if except.iter().any(|run| run.as_str() == stem) {
        return None;
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    match FileExt::try_lock_exclusive(&file) {
        Err(e) if is_contended(&e) => {}
        Err(_) => return None,
        Ok(()) => {
            let _ = std::fs::remove_file(path);
            return None;
        }
    }
    let extension = path.extension();
    if extension.is_some_and(|e| e != TAKEN) {
        return None;
    }
    let run = RunId::parse(stem).ok()?;
    let mut bytes = Vec::new();
    (&mut file).take(2 * limits::WAITING_BYTES).read_to_end(&mut bytes).ok()?;
    let (commit, objects, length) = decode(&bytes)?;
    let claimed = path.with_extension(TAKEN);
    // Whoever took it back in between has done so for good.
    std::fs::rename(path, &claimed).ok()?;
    Some(Waited { run, commit, batch: Batch(objects), path: claimed, file, length })
}

/// The file: how it begins, the commit's id, the number of objects, for each its kind, length and content, the checksum of all of it.
/// `None`: it would be larger than [`limits::WAITING_BYTES`].
fn encode(commit: CommitId, objects: &Pending) -> Option<Vec<u8>> {
    let content: u64 = objects.values().map(|(_, bytes)| bytes.len() as u64 + 5).sum();
    if content + (MAGIC.len() + ID + 4 + SUM) as u64 > limits::WAITING_BYTES {
        return None;
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(commit.0.as_bytes());
    bytes.extend_from_slice(&u32::try_from(objects.len()).ok()?.to_be_bytes());
    for (kind, content) in objects.values() {
        bytes.push(match kind {
            ObjectType::Commit => 1,
            ObjectType::Tree => 2,
            _ => 3,
        });
        bytes.extend_from_slice(&u32::try_from(content.len()).ok()?.to_be_bytes());
        bytes.extend_from_slice(content);
    }
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);
    Some(bytes)
}

/// The commit, the objects, and how many bytes were read; what stands behind them is an answer that was cut off. Ids are made of
/// the contents anew, and the commit must be among them.
fn decode(bytes: &[u8]) -> Option<(CommitId, Pending, u64)> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut next = |count: usize| -> Option<&[u8]> {
        let (part, behind) = rest.split_at_checked(count)?;
        rest = behind;
        Some(part)
    };
    let commit = Oid::from_bytes(next(ID)?).ok()?;
    let count = u32::from_be_bytes(next(4)?.try_into().ok()?);
    let mut objects = Pending::new();
    for _ in 0..count {
        let kind = match next(1)? {
            [1] => ObjectType::Commit,
            [2] => ObjectType::Tree,
            [3] => ObjectType::Blob,
            _ => return None,
        };
        let length = u32::from_be_bytes(next(4)?.try_into().ok()?);
        let content = next(length as usize)?;
        let id = Oid::hash_object(kind, content).ok()?;
        objects.insert(id, (kind, Arc::from(content)));
    }
    let sum = next(SUM)?;
    let length = bytes.len() - rest.len();
    let whole = Sha256::digest(&bytes[..length - SUM])[..] == *sum;
    let named = objects.get(&commit).is_some_and(|(kind, _)| *kind == ObjectType::Commit);
    (whole && named).then_some((CommitId(commit), objects, length as u64))
}

#[cfg(test)]
mod tests;
