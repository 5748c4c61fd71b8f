//! Accounts that all processes of a machine share: a small file that is changed under a kernel lock, and leases, which say
//! whether whoever has entered something is still alive.
//!
//! A lease is a file that its process holds a kernel lock on. **The lock is the proof**, as with intents: whoever can take it
//! knows that the holder is dead, and a reused process id deceives nobody. The pid and the start time in it are for people.
//!
//! Beside it, what only grows is appended to a file of its day and never rewritten: a tally of what stimuli have caused, a round at a
//! time, and what they have cost, an act at a time.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fs2::FileExt;

use super::StoreError;
use super::disk::sync_folder;
use super::lock::{LockName, acquire, is_contended};
use crate::limits;

const FOLDER: &str = "account";
const FILE: &str = "spent.json";
const LEASES: &str = "leases";
const TALLY: &str = "caused-";
const ACTS: &str = "acts-";

/// One act and what it did cost: whole numbers, as the caller reads them. The first is what acts are asked for by.
pub type Act = [u64; 6];

/// The shared account of one brain, as one process sees it. Its threads share it.
#[derive(Debug)]
pub struct Account {
    private: PathBuf,
    lease: Mutex<Option<Lease>>,
}

/// What a process holds as long as it lives.
#[derive(Debug)]
struct Lease {
    name: String,
    path: PathBuf,
    _file: File,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The account, open and locked.
pub struct Entry<'a> {
    account: &'a Account,
    /// What the file has; empty if there is none.
    pub content: Vec<u8>,
    _lock: super::Lock,
}

impl Account {
    /// The account in a brain's private folder. Nothing is made before it is used.
    pub fn at(private: &Path) -> Self {
        Self { private: private.to_owned(), lease: Mutex::default() }
    }

    fn folder(&self) -> PathBuf {
        self.private.join(FOLDER)
    }

    /// Opens the account; others wait until the entry is dropped.
    pub fn open(&self) -> Result<Entry<'_>, StoreError> {
        let lock = acquire(&self.private, LockName::Account, Duration::from_millis(limits::LOCK_WAIT_MS))?;
        Ok(Entry { account: self, content: self.look()?, _lock: lock })
    }

    /// What the account has, without waiting for anybody.
    pub fn look(&self) -> Result<Vec<u8>, StoreError> {
        let path = self.folder().join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(bytes),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(StoreError::file(path)(e)),
        }
    }

    /// The name of this process' lease, made now if it has none.
    fn lease(&self) -> Result<String, StoreError> {
        let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lease) = lease.as_ref() {
            return Ok(lease.name.clone());
        }
        let folder = self.folder().join(LEASES);
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let made = tempfile::Builder::new()
            .prefix(&format!("{}-", std::process::id()))
            .tempfile_in(&folder)
            .map_err(StoreError::file(&folder))?;
        // Nobody looks at it before an entry names it, and that happens after this.
        FileExt::lock_exclusive(made.as_file()).map_err(StoreError::file(made.path()))?;
        let text = format!("pid {} started {}\n", std::process::id(), started());
        made.as_file().write_all(text.as_bytes()).map_err(StoreError::file(made.path()))?;
        let (file, path) = made.keep().map_err(|e| StoreError::file(&folder)(e.error))?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        *lease = Some(Lease { name: name.clone(), path, _file: file });
        Ok(name)
    }

    /// How often each hash stands in the tallies of some days.
    pub fn tally(&self, days: &[i64]) -> Result<HashMap<u64, u32>, StoreError> {
        let mut counts = HashMap::new();
        for day in days {
            let bytes = self.day(TALLY, *day)?;
            for entry in bytes.as_chunks::<8>().0 {
                *counts.entry(u64::from_be_bytes(*entry)).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Adds to a day's tally, and forgets what is older than `oldest`. The caller holds the lock of the cycle, so that one
    /// process appends at a time.
    pub fn count(&self, day: i64, oldest: i64, hashes: &[u64]) -> Result<(), StoreError> {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect();
        self.append(TALLY, day, oldest, 8, &bytes).map(drop)
    }

    /// Appends whole records of `width` bytes to a day's file, which is open afterwards, and removes files of its kind that are
    /// older than `oldest`. What a killed process left half written is cut off. One process at a time.
    fn append(
        &self,
        kind: &str,
        day: i64,
        oldest: i64,
        width: u64,
        bytes: &[u8],
    ) -> Result<Option<Appended>, StoreError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let folder = self.folder();
        let path = folder.join(format!("{kind}{day}"));
        let append = || -> std::io::Result<Appended> {
            std::fs::create_dir_all(&folder)?;
            let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
            let length = file.metadata()?.len();
            if length % width != 0 {
                file.set_len(length - length % width)?;
            }
            file.write_all(bytes)?;
            Ok(Appended { file, is_new: length == 0 })
        };
        let appended = append().map_err(StoreError::file(&path))?;
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().filter(|_| appended.is_new) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let of = name.strip_prefix(kind).and_then(|day| day.parse::<i64>().ok());
            if of.is_some_and(|of| of < oldest) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(Some(appended))
    }

    /// What a day's file of a kind has; nothing if there is none.
    fn day(&self, kind: &str, day: i64) -> Result<Vec<u8>, StoreError> {
        let path = self.folder().join(format!("{kind}{day}"));
        match std::fs::read(&path) {
            Ok(bytes) => Ok(bytes),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(StoreError::file(path)(e)),
        }
    }
}

/// A day's file, after something was appended to it.
struct Appended {
    file: File,
    is_new: bool,
}

impl Entry<'_> {
    /// The name under which this process enters what it has not settled yet.
    pub fn lease(&self) -> Result<String, StoreError> {
        self.account.lease()
    }

    /// Whether the process that holds the lease is alive. The lease of a dead one is removed.
    pub fn is_alive(&self, name: &str) -> Result<bool, StoreError> {
        let own = self.account.lease.lock().unwrap_or_else(PoisonError::into_inner);
        if own.as_ref().is_some_and(|lease| lease.name == name) {
            return Ok(true);
        }
        // A name with a folder in it is none that was made here.
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
            return Ok(false);
        }
        let path = self.account.folder().join(LEASES).join(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(StoreError::file(path)(e)),
        };
        match FileExt::try_lock_exclusive(&file) {
            Ok(()) => {
                let _ = std::fs::remove_file(&path);
                Ok(false)
            }
            Err(e) if is_contended(&e) => Ok(true),
            Err(e) => Err(StoreError::file(path)(e)),
        }
    }

    /// The acts of some days that have one of these numbers first.
    pub fn acts(&self, days: &[i64], of: &[u64]) -> Result<Vec<Act>, StoreError> {
        let mut found = Vec::new();
        for day in days {
            let bytes = self.account.day(ACTS, *day)?;
            for act in bytes.as_chunks::<{ size_of::<Act>() }>().0 {
                let number = |at: usize| act.as_chunks::<8>().0.get(at).map_or(0, |bytes| u64::from_be_bytes(*bytes));
                if of.contains(&number(0)) {
                    found.push(std::array::from_fn(number));
                }
            }
        }
        Ok(found)
    }

    /// Adds acts to those of a day, waits for the disk, and forgets what is older than `oldest`.
    pub fn add_acts(&self, day: i64, oldest: i64, acts: &[Act]) -> Result<(), StoreError> {
        let bytes: Vec<u8> = acts.iter().flatten().flat_map(|number| number.to_be_bytes()).collect();
        let appended = self.account.append(ACTS, day, oldest, size_of::<Act>() as u64, &bytes)?;
        let Some(Appended { file, is_new }) = appended else { return Ok(()) };
        let folder = self.account.folder();
        file.sync_data().map_err(StoreError::file(&folder))?;
        if is_new { sync_folder(&folder) } else { Ok(()) }
    }

    /// Replaces what the file has, whole or not at all, and waits for the disk.
    pub fn write(&self, content: &[u8]) -> Result<(), StoreError> {
        self.write_later(content)?;
        sync_folder(&self.account.folder())
    }

    /// The same, but after a loss of power the file may have what it had before.
    pub fn write_later(&self, content: &[u8]) -> Result<(), StoreError> {
        let folder = self.account.folder();
        let path = folder.join(FILE);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(content)?;
            file.as_file().sync_data()?;
            file.persist(&path).map(drop).map_err(|e| e.error)
        };
        write().map_err(StoreError::file(&path))
    }
}

/// When this process started, in the system's clock ticks since the boot; empty where the system does not say.
fn started() -> String {
    let mut text = String::new();
    let read = File::open("/proc/self/stat").and_then(|mut file| file.read_to_string(&mut text));
    // The name of the program stands in brackets and may hold anything; the start is the 20th field after it.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().nth(19).unwrap_or_default().to_owned());
    read.ok().and(fields).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lives_as_long_as_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, other) = (Account::at(folder.path()), Account::at(folder.path()));
        let name = mine.open().unwrap().lease().unwrap();
        assert!(mine.open().unwrap().is_alive(&name).unwrap());
        assert!(other.open().unwrap().is_alive(&name).unwrap());
        let text = std::fs::read_to_string(folder.path().join("account/leases").join(&name)).unwrap();
        assert!(text.starts_with(&format!("pid {} started ", std::process::id())), "{text}");
        // The kernel lets go of the lock when the holder dies; the file stays.
        let lease = mine.lease.lock().unwrap().take().unwrap();
        FileExt::unlock(&lease._file).unwrap();
        assert!(!other.open().unwrap().is_alive(&name).unwrap());
        assert!(!other.open().unwrap().is_alive("../spent.json").unwrap());
    }

    #[test]
    fn acts_are_found_by_their_first_number_and_forgotten_with_their_days() {
        let folder = tempfile::tempdir().unwrap();
        let account = Account::at(folder.path());
        let entry = account.open().unwrap();
        assert!(entry.acts(&[6, 7], &[1]).unwrap().is_empty());
        let act = |first| [first, 2, 3, 4, 5, u64::MAX];
        entry.add_acts(7, 6, &[act(1), act(9), act(1)]).unwrap();
        // A process was killed while it wrote.
        let path = folder.path().join("account/acts-7");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&[0; 47]).unwrap();
        assert_eq!(entry.acts(&[7], &[1]).unwrap(), [act(1), act(1)]);
        entry.add_acts(7, 6, &[act(8)]).unwrap();
        entry.add_acts(8, 7, &[act(1)]).unwrap();
        assert_eq!(entry.acts(&[7, 8], &[8, 1]).unwrap(), [act(1), act(1), act(8), act(1)]);
        entry.add_acts(9, 8, &[act(3)]).unwrap();
        assert!(!path.exists(), "forgotten with its day");
    }

    #[test]
    fn an_account_is_replaced_whole_and_a_tally_only_grows() {
        let folder = tempfile::tempdir().unwrap();
        let account = Account::at(folder.path());
        assert!(account.open().unwrap().content.is_empty());
        account.open().unwrap().write(b"one").unwrap();
        assert_eq!(account.open().unwrap().content, b"one");
        account.count(7, 6, &[1, 2, 1]).unwrap();
        // A process was killed while it wrote.
        let path = folder.path().join("account/caused-7");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"half").unwrap();
        account.count(7, 6, &[1]).unwrap();
        assert_eq!(account.tally(&[6, 7]).unwrap(), HashMap::from([(1, 3), (2, 1)]));
        account.count(9, 8, &[5]).unwrap();
        assert_eq!(account.tally(&[8, 9]).unwrap(), HashMap::from([(5, 1)]));
        assert!(!path.exists(), "forgotten with its day");
    }
}
