//! Keys of subjects: 32 random bytes each, one file each, outside any repository, readable by their owner alone.
//!
//! A key is on disk, with the folders above it, before the caller goes on. Destroying one writes over its file, removes it and waits for the disk.
//! All files of a key, also one that was cut off while it was written, begin with the subject's id, so that destroying finds them.
//! A folder says where its brain lies, and an id that lies there: by that a brain that was moved knows its keys, also where something else lies at its old
//! place. Keys of a brain that is not there are destroyed where a person forgets their subject, and by no tombstone that comes: a disk may be away.
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
/// The end of the names of keys that are being written.
const UNFINISHED: &str = ".new";
/// The file that says where the brain of a folder lies, and its id in a second line.
const PLACE: &str = "place";
/// The file of a brain with that id.
const OF_BRAIN: &str = "keys-of";

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

/// The brain of a folder of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// This one, here or where it lay before it was moved.
    Own,
    /// One that is where it says.
    Another,
    /// One that is not where it says: it was removed or moved, or its disk is away.
    Away,
}

/// The keys of the subjects of one brain.
#[derive(Clone, Debug)]
pub struct SubjectKeys {
    folder: PathBuf,
    brain: PathBuf,
}

impl SubjectKeys {
    /// Those of the brain with that private git folder.
    ///
    /// # Errors
    /// There is no place for them.
    pub fn of(world: &World, brain: &Path) -> Result<Self, SubjectKeyError> {
        let folder = world.state_dir().ok_or(SubjectKeyError::NoPlace)?.join("subjects");
        let folder = folder.join(hex_hash(brain.display().to_string().as_bytes(), 16));
        Ok(Self { folder, brain: brain.to_owned() })
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
        let whole = |name: String| name.strip_suffix(SUFFIX).and_then(|id| SubjectId::parse(id).ok());
        Ok(names_in(&self.folder)?.into_iter().filter_map(whole).collect())
    }

    /// The subjects of which this brain has a key, whole or not, also where it lay before it was moved.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn left(&self) -> Result<BTreeSet<SubjectId>, SubjectKeyError> {
        let mut ids = BTreeSet::new();
        for folder in self.folders(Whose::Own)? {
            ids.extend(names_in(&folder)?.iter().filter_map(|name| subject_of(name)));
        }
        Ok(ids)
    }

    /// The folders of keys of this machine that are somebody's, this brain's first.
    fn folders(&self, whose: Whose) -> Result<Vec<PathBuf>, SubjectKeyError> {
        let mut folders = if whose == Whose::Own { vec![self.folder.clone()] } else { Vec::new() };
        let Some(all) = self.folder.parent() else { return Ok(folders) };
        let others = names_in(all)?.into_iter().map(|name| all.join(name));
        folders.extend(others.filter(|folder| *folder != self.folder && self.whose(folder) == whose));
        Ok(folders)
    }

    /// The brain of a folder of keys, as far as that can be told from where it lay: a disk may be away, or a folder gone.
    fn whose(&self, folder: &Path) -> Whose {
        let Ok(text) = std::fs::read_to_string(folder.join(PLACE)) else { return Whose::Another };
        let (place, id) = text.rsplit_once('\n').map_or((text.as_str(), None), |(place, id)| (place, Some(id)));
        let place = Path::new(place);
        let is_at = |brain: &Path| id.is_some_and(|id| id_of(brain).is_ok_and(|there| there.as_deref() == Some(id)));
        match place.try_exists() {
            Ok(true) => {
                let is_here =
                    place.canonicalize().is_ok_and(|place| self.brain.canonicalize().is_ok_and(|here| here == place));
                match () {
                    () if is_here => Whose::Own,
                    () if id.is_none() || is_at(place) => Whose::Another,
                    () if is_at(&self.brain) => Whose::Own,
                    () => Whose::Away,
                }
            }
            Ok(false) if is_at(&self.brain) => Whose::Own,
            Ok(false) => Whose::Away,
            Err(_) => Whose::Another,
        }
    }

    /// The folders with keys whose brains are not where they lay, by the subject.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn away(&self) -> Result<BTreeMap<SubjectId, PathBuf>, SubjectKeyError> {
        let mut found = BTreeMap::new();
        for folder in self.folders(Whose::Away)? {
            found.extend(names_in(&folder)?.iter().filter_map(|name| Some((subject_of(name)?, folder.clone()))));
        }
        Ok(found)
    }

    /// The git folders of other brains of this machine that have a key of a subject: clones and copies, which destroy theirs themselves.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn elsewhere(&self, id: &SubjectId) -> Result<Vec<PathBuf>, SubjectKeyError> {
        let mut places = Vec::new();
        for folder in self.folders(Whose::Another)? {
            if names_in(&folder)?.iter().any(|name| subject_of(name).as_ref() == Some(id)) {
                let place = std::fs::read_to_string(folder.join(PLACE)).ok();
                let place = place.and_then(|text| Some(Path::new(text.lines().next()?).parent()?.to_owned()));
                places.push(place.unwrap_or(folder));
            }
        }
        places.sort();
        Ok(places)
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
        if let Some(place) = self.brain.to_str() {
            let id = self.own_id()?;
            std::fs::write(self.folder.join(PLACE), format!("{place}\n{id}")).map_err(&fail)?;
        }
        // A temporary file of this crate is made with mode 0600.
        let prefix = format!("{id}.");
        let mut file =
            tempfile::Builder::new().prefix(&prefix).suffix(UNFINISHED).tempfile_in(&self.folder).map_err(&fail)?;
        file.write_all(key.bytes()).and_then(|()| file.as_file().sync_all()).map_err(&fail)?;
        file.persist_noclobber(&path).map_err(|error| fail(error.error))?;
        // The folders may be new: this brain's, that of all brains, that of the program, and the one above.
        self.folder.ancestors().take(4).try_for_each(synced).map_err(&fail)
    }

    /// Destroys this brain's key of a subject; whether there was one.
    ///
    /// # Errors
    /// It cannot be written over or removed.
    pub fn destroy(&self, id: &SubjectId) -> Result<bool, SubjectKeyError> {
        destroyed_in(&self.folders(Whose::Own)?, id)
    }

    /// Destroys the keys of a subject whose brains are not where they lay; whether there was one. Only a person may say so: a disk may be away.
    ///
    /// # Errors
    /// It cannot be written over or removed.
    pub fn destroy_away(&self, id: &SubjectId) -> Result<bool, SubjectKeyError> {
        destroyed_in(&self.folders(Whose::Away)?, id)
    }

    /// The id of this brain, which it keeps from its first key on.
    fn own_id(&self) -> Result<String, SubjectKeyError> {
        let path = self.brain.join(OF_BRAIN);
        let fail = failed(&path);
        if let Some(id) = id_of(&self.brain).map_err(&fail)? {
            return Ok(id);
        }
        let id = random_id("")?;
        std::fs::create_dir_all(&self.brain).map_err(&fail)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.brain).map_err(&fail)?;
        file.write_all(id.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(&fail)?;
        match file.persist_noclobber(&path) {
            // Another process was first.
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                Ok(id_of(&self.brain).map_err(&fail)?.unwrap_or_default())
            }
            Err(error) => Err(fail(error.error)),
            Ok(_) => Ok(id),
        }
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

/// The names of a folder's entries; none, if it is not there.
fn names_in(folder: &Path) -> Result<Vec<String>, SubjectKeyError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder)(error)),
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<Result<_, _>>().map_err(failed(folder))
}

/// Destroys what folders have of a subject's key; whether there was any.
fn destroyed_in(folders: &[PathBuf], id: &SubjectId) -> Result<bool, SubjectKeyError> {
    let mut was_any = false;
    for folder in folders {
        for name in names_in(folder)?.iter().filter(|name| subject_of(name).as_ref() == Some(id)) {
            was_any |= destroyed(&folder.join(name))?;
        }
    }
    Ok(was_any)
}

/// The subject of a file with a key, whole or not.
fn subject_of(name: &str) -> Option<SubjectId> {
    let (id, end) = name.split_once('.')?;
    let is_key = end == &SUFFIX[1..] || end.ends_with(UNFINISHED);
    SubjectId::parse(id).ok().filter(|_| is_key)
}

/// The id of the brain at that place; `None`: it has kept no key.
fn id_of(brain: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read_to_string(brain.join(OF_BRAIN)) {
        Ok(id) => Ok(Some(id)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes over a file with a key, removes it and waits for the disk; whether it was there.
fn destroyed(path: &Path) -> Result<bool, SubjectKeyError> {
    let fail = failed(path);
    let mut file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(fail(error)),
    };
    file.write_all(&[0; KEY_BYTES]).and_then(|()| file.sync_all()).map_err(&fail)?;
    drop(file);
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    path.parent().map_or(Ok(()), synced).map_err(&fail)?;
    Ok(true)
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
        SubjectKeys::of(&World::default().with_state_dir(folder.to_owned()), &folder.join("brain")).unwrap()
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
    fn unfinished_key_is_left_to_destroy() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(folder.path());
        let one = id();
        keys.keep(&one, &SubjectKeys::random().unwrap()).unwrap();
        let unfinished = keys.folder().join(format!("{one}.x1{UNFINISHED}"));
        std::fs::rename(keys.path(&one), &unfinished).unwrap();
        assert!(keys.ids().unwrap().is_empty() && keys.left().unwrap().contains(&one));
        assert!(keys.destroy(&one).unwrap() && !unfinished.exists());
    }

    #[test]
    fn keys_of_a_brain_that_is_gone_are_destroyed_by_a_person_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let of = |place: &Path| SubjectKeys::of(&World::default().with_state_dir(folder.path().to_owned()), place);
        let (there, here) = (folder.path().join("there"), folder.path().join("here"));
        std::fs::create_dir_all(&there).unwrap();
        let (there_keys, here_keys) = (of(&there).unwrap(), of(&here).unwrap());
        let (one, key) = (id(), SubjectKeys::random().unwrap());
        there_keys.keep(&one, &key).unwrap();
        assert!(here_keys.left().unwrap().is_empty() && !here_keys.destroy(&one).unwrap());
        // The folder above the one where a brain keeps its own.
        assert_eq!(here_keys.elsewhere(&one).unwrap(), [folder.path()]);
        assert!(there_keys.elsewhere(&one).unwrap().is_empty() && here_keys.elsewhere(&id()).unwrap().is_empty());
        let is_away = |keys: &SubjectKeys| keys.left().unwrap().is_empty() && keys.away().unwrap().contains_key(&one);
        let is_own = |keys: &SubjectKeys| keys.ids().unwrap().is_empty() && keys.left().unwrap().contains(&one);
        let moved = folder.path().join("moved");
        std::fs::rename(&there, &moved).unwrap();
        assert!(is_away(&here_keys) && is_own(&of(&moved).unwrap()));
        // Something else at the old place makes no difference; a link back to the brain is one for that brain alone.
        std::fs::create_dir(&there).unwrap();
        assert!(is_away(&here_keys) && is_own(&of(&moved).unwrap()));
        #[cfg(unix)]
        {
            std::fs::remove_dir(&there).unwrap();
            std::os::unix::fs::symlink(&moved, &there).unwrap();
            assert!(!is_away(&here_keys) && here_keys.left().unwrap().is_empty() && is_own(&of(&moved).unwrap()));
            std::fs::remove_file(&there).unwrap();
        }
        // What comes destroys nothing of a brain whose disk may be away.
        assert!(!here_keys.destroy(&one).unwrap() && is_away(&here_keys));
        assert!(here_keys.destroy_away(&one).unwrap() && there_keys.ids().unwrap().is_empty());
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
