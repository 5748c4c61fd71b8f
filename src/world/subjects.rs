//! Keys of subjects: 32 random bytes each, one file each, outside any repository, readable by their owner alone.
//!
//! A key is on disk, with the folders above it, before the caller goes on. Destroying one writes over its file, removes it and waits for the disk.
//! A weakness: a file system that keeps old blocks (copy on write, snapshots, flash) may hold the bytes longer, as a backup does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::World;
use crate::model::ids::{SubjectId, hex_hash};
use crate::sealed::SubjectKey;
use crate::sealed::cipher::{KEY_BYTES, hex};

/// The end of the names of keys.
const SUFFIX: &str = ".key";

/// A failure to read, keep or destroy a key.
#[derive(Debug, thiserror::Error)]
pub enum SubjectKeyError {
    /// There is no place outside the repository.
    #[error("neither HOME nor XDG_STATE_HOME is set, so there is no place for keys of subjects")]
    NoPlace,
    /// The key could not be read, written or destroyed.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The reason.
        source: Error,
    },
    /// The file is no key.
    #[error("{path} is no key of {KEY_BYTES} bytes")]
    Damaged {
        /// The file.
        path: String,
    },
    /// The system gives no randomness.
    #[error("the system gives no random bits: {0}")]
    Random(String),
}

/// The keys of the subjects of one brain.
#[derive(Clone, Debug)]
pub struct SubjectKeys {
    folder: PathBuf,
}

impl SubjectKeys {
    /// Those of the brain with that private git folder.
    ///
    /// # Errors
    /// There is no place for them.
    pub fn of(world: &World, brain: &Path) -> Result<Self, SubjectKeyError> {
        let folder = world.state_dir().ok_or(SubjectKeyError::NoPlace)?.join("subjects");
        Ok(Self { folder: folder.join(hex_hash(brain.display().to_string().as_bytes(), 16)) })
    }

    /// The folder that they lie in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The subjects whose keys are here.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn ids(&self) -> Result<BTreeSet<SubjectId>, SubjectKeyError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(failed(&self.folder)(error)),
        };
        let mut ids = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(failed(&self.folder))?.file_name().to_string_lossy().into_owned();
            ids.extend(name.strip_suffix(SUFFIX).and_then(|id| SubjectId::parse(id).ok()));
        }
        Ok(ids)
    }

    /// All keys that are here.
    ///
    /// # Errors
    /// One that cannot be read, or is none.
    pub fn all(&self) -> Result<BTreeMap<SubjectId, SubjectKey>, SubjectKeyError> {
        let mut keys = BTreeMap::new();
        for id in self.ids()? {
            let path = self.path(&id);
            let mut bytes = Vec::new();
            let file = File::open(&path).map_err(failed(&path))?;
            file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed(&path))?;
            let damaged = |_| SubjectKeyError::Damaged { path: path.display().to_string() };
            keys.insert(id, SubjectKey::new(bytes.try_into().map_err(damaged)?));
        }
        Ok(keys)
    }

    /// A new key. It is kept nowhere yet.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn random() -> Result<SubjectKey, SubjectKeyError> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| SubjectKeyError::Random(error.to_string()))?;
        Ok(SubjectKey::new(bytes))
    }

    /// Keeps a key, whole and on disk, or not at all.
    ///
    /// # Errors
    /// It cannot be written, or another key of that subject is there.
    pub fn keep(&self, id: &SubjectId, key: &SubjectKey) -> Result<(), SubjectKeyError> {
        let path = self.path(id);
        let fail = failed(&path);
        std::fs::create_dir_all(&self.folder).map_err(&fail)?;
        // A temporary file of this crate is made with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(&fail)?;
        file.write_all(key.bytes()).and_then(|()| file.as_file().sync_all()).map_err(&fail)?;
        file.persist_noclobber(&path).map_err(|error| fail(error.error))?;
        // The folders may be new: this brain's, that of all brains, that of the program, and the one above.
        self.folder.ancestors().take(4).try_for_each(synced).map_err(&fail)
    }

    /// Destroys the key of a subject; whether there was one.
    ///
    /// # Errors
    /// It cannot be written over or removed.
    pub fn destroy(&self, id: &SubjectId) -> Result<bool, SubjectKeyError> {
        let path = self.path(id);
        let fail = failed(&path);
        let mut file = match OpenOptions::new().write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(fail(error)),
        };
        file.write_all(&[0; KEY_BYTES]).and_then(|()| file.sync_all()).map_err(&fail)?;
        drop(file);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        synced(&self.folder).map_err(&fail)?;
        Ok(true)
    }

    fn path(&self, id: &SubjectId) -> PathBuf {
        self.folder.join(format!("{id}{SUFFIX}"))
    }
}

/// An id that says nothing: a prefix and 32 random hexadecimal digits.
///
/// # Errors
/// The system gives no randomness.
pub fn random_id(prefix: &str) -> Result<String, SubjectKeyError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| SubjectKeyError::Random(error.to_string()))?;
    Ok(format!("{prefix}{}", hex(&bytes)))
}

fn failed(path: &Path) -> impl Fn(Error) -> SubjectKeyError + '_ {
    |source| SubjectKeyError::File { path: path.display().to_string(), source }
}

/// Waits until a folder's entries are on disk.
fn synced(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(folder: &Path) -> SubjectKeys {
        SubjectKeys::of(&World::default().with_state_dir(folder.to_owned()), Path::new("/brain")).unwrap()
    }

    fn id() -> SubjectId {
        SubjectId::parse(&random_id("subject-").unwrap()).unwrap()
    }

    #[test]
    fn key_is_kept_once_and_destroyed_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        assert!(keys.all().unwrap().is_empty());
        let (one, other, key) = (id(), id(), SubjectKeys::random().unwrap());
        keys.keep(&one, &key).unwrap();
        assert!(keys.keep(&one, &SubjectKeys::random().unwrap()).is_err(), "no key takes another's place");
        keys.keep(&other, &SubjectKeys::random().unwrap()).unwrap();
        assert_eq!(keys.all().unwrap()[&one], key);
        assert!(keys.destroy(&one).unwrap() && !keys.destroy(&one).unwrap());
        assert_eq!(keys.all().unwrap().into_keys().collect::<Vec<_>>(), [other]);
    }

    #[test]
    fn destroyed_key_is_written_over_before_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let one = id();
        keys.keep(&one, &SubjectKeys::random().unwrap()).unwrap();
        let beside = folder.path().join("link");
        std::fs::hard_link(keys.folder().join(format!("{one}.key")), &beside).unwrap();
        keys.destroy(&one).unwrap();
        assert_eq!(std::fs::read(beside).unwrap(), [0; KEY_BYTES]);
    }

    #[test]
    fn file_that_is_no_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let one = id();
        keys.keep(&one, &SubjectKeys::random().unwrap()).unwrap();
        std::fs::write(keys.folder().join(format!("{one}.key")), "short").unwrap();
        assert!(keys.all().unwrap_err().to_string().contains(one.as_str()));
        // Files of other names are not ours.
        std::fs::write(keys.folder().join("notes.txt"), "short").unwrap();
        keys.destroy(&one).unwrap();
        assert!(keys.all().unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn key_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let one = id();
        keys.keep(&one, &SubjectKeys::random().unwrap()).unwrap();
        let mode = std::fs::metadata(keys.folder().join(format!("{one}.key"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
