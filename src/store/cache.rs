//! Snapshots in the private folder: derived from trees, mapped into memory where they are large, never trusted when damaged.
//!
//! A file is written whole under another name, then renamed, and never changed: who has mapped it goes on with what it
//! mapped. Its header is verified at each opening. Its arrays are verified by whoever opens it first after a boot or after
//! anything has touched the file; a note beside it keeps which file that was. Nothing is synced to the disk: after a power
//! loss the checksum decides. Whatever cannot be read or written here is made anew or done without.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::{Store, TreeId};
use crate::activation::Snapshot;
use crate::activation::sections::{Bytes, Damaged, Key, Sections};
use crate::limits;
use crate::model::layout;

/// Bytes of the checksum before a small document.
const SUM: usize = 32;

/// Which of a tree's two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Base,
    Over,
}

impl Layer {
    fn suffix(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Over => "over",
        }
    }
}

impl Store {
    /// The snapshot of a tree, if it is kept and whole.
    pub fn cached(&self, tree: TreeId) -> Option<Snapshot> {
        let key = key_of(tree);
        if let Some(base) = self.sections(key, Layer::Base) {
            return self.whole(key, base, None);
        }
        let over = self.sections(key, Layer::Over)?;
        let base = self.sections(over.beneath()?, Layer::Base)?;
        self.whole(key, base, Some(over))
    }

    fn whole(&self, key: Key, base: Sections, over: Option<Sections>) -> Option<Snapshot> {
        let layer = if over.is_some() { Layer::Over } else { Layer::Base };
        let opened = Snapshot::open(base, over);
        opened.inspect_err(|damage| self.discard(&self.cache_path(key, layer), damage)).ok()
    }

    /// Another process may have put a whole file there meanwhile; then that one is made anew as well.
    fn discard(&self, path: &Path, damage: &dyn std::fmt::Display) {
        self.note(format!("{} was made anew: {damage}", path.display()));
        drop(std::fs::remove_file(path));
    }

    /// The trees of which snapshots are kept, the newest first.
    pub fn cached_trees(&self) -> Vec<TreeId> {
        let mut files = self.cache_files();
        files.sort_by_key(|(_, _, changed)| std::cmp::Reverse(*changed));
        let mut trees: Vec<TreeId> = Vec::new();
        for tree in files.iter().filter_map(|(path, ..)| TreeId::parse(path.file_stem()?.to_str()?).ok()) {
            if !trees.contains(&tree) {
                trees.push(tree);
            }
        }
        trees
    }

    /// Keeps a snapshot, and of the older ones those that are likely to be used again: of wake one base, and pasts that were asked since
    /// it was made. What fails is only noted: a snapshot can be made again.
    pub fn keep_cached(&self, snapshot: &Snapshot) {
        let (kept, key) = match snapshot.over() {
            Some(over) => (self.write_sections(over, Layer::Over), over.key()),
            None => (self.write_sections(snapshot.base(), Layer::Base), snapshot.base().key()),
        };
        let base = self.cache_path(snapshot.base().key(), Layer::Base);
        match kept {
            Ok(()) => self.sweep_cache(self.is_of_wake(key).then_some(base)),
            Err(error) => tracing::info!("a snapshot could not be kept: {error}"),
        }
    }

    /// A small document that was kept under this name, if it is as it was kept.
    pub fn cached_document<T: serde::de::DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.cache_dir().join(name);
        let small = |m: &std::fs::Metadata| m.is_file() && m.len() <= limits::CACHED_DOCUMENT_BYTES;
        std::fs::symlink_metadata(&path).ok().filter(small)?;
        let bytes = std::fs::read(path).ok()?;
        let (sum, text) = bytes.split_at_checked(SUM)?;
        if Sha256::digest(text)[..] != *sum {
            tracing::info!("{name} is damaged, and made anew");
            return None;
        }
        serde_json::from_slice(text).ok()
    }

    /// Keeps a small document in place of the one of that name.
    pub fn keep_document(&self, name: &str, document: &impl serde::Serialize) {
        let text = serde_json::to_vec(document).map_err(std::io::Error::other);
        let made = std::fs::create_dir_all(self.cache_dir()).and(text);
        let summed = |text: Vec<u8>| [&Sha256::digest(&text)[..], &text].concat();
        if let Err(error) = made.and_then(|text| write_whole(&self.cache_dir().join(name), &summed(text))) {
            tracing::info!("{name} could not be kept: {error}");
        }
    }

    fn cache_dir(&self) -> PathBuf {
        self.private_dir().join("cache")
    }

    fn cache_path(&self, key: Key, layer: Layer) -> PathBuf {
        let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.cache_dir().join(name).with_extension(layer.suffix())
    }

    /// A kept file, mapped and verified.
    fn sections(&self, key: Key, layer: Layer) -> Option<Sections> {
        let path = self.cache_path(key, layer);
        let file = File::open(&path).ok()?;
        let opened = (|| {
            let own = Identity::of(&file)?;
            let sections = Sections::open(map(&file)?)?;
            if sections.key() != key {
                return Err(CacheError::from(Damaged::Key));
            }
            if !own.is_noted(&path) {
                sections.verify()?;
                own.note(&path);
            }
            Ok(sections)
        })();
        match opened {
            Ok(sections) => Some(sections),
            Err(damage) => {
                self.discard(&path, &damage);
                None
            }
        }
    }

    fn write_sections(&self, sections: &Sections, layer: Layer) -> std::io::Result<()> {
        std::fs::create_dir_all(self.cache_dir())?;
        write_whole(&self.cache_path(sections.key(), layer), sections.bytes())
    }

    /// (path, layer, last change) of each kept file.
    fn cache_files(&self) -> Vec<(PathBuf, Layer, SystemTime)> {
        let entries = std::fs::read_dir(self.cache_dir()).into_iter().flatten().flatten();
        let known = entries.filter_map(|entry| {
            let path = entry.path();
            let layer = [Layer::Base, Layer::Over]
                .into_iter()
                .find(|layer| path.extension().is_some_and(|suffix| suffix == layer.suffix()))?;
            Some((path, layer, entry.metadata().ok()?.modified().ok()?))
        });
        known.collect()
    }

    fn is_of_wake(&self, key: Key) -> bool {
        let tip = self.need_tip(self.wake());
        let neurons = tip.and_then(|tip| self.folder(self.tree_of(tip)?, layout::NEURONS));
        matches!(neurons, Ok(Some(tree)) if key_of(tree) == key)
    }

    /// Removes all but the base that was used last, with as many others as there is room for, and the newest overlays over those; and what
    /// killed processes left. Bases that are older than the one of wake were wake's before it, and go.
    fn sweep_cache(&self, of_wake: Option<PathBuf>) {
        let mut files = self.cache_files();
        files.sort_by_key(|(_, _, changed)| std::cmp::Reverse(*changed));
        let of = |wanted: Layer| files.iter().filter(move |(_, layer, _)| *layer == wanted).map(|(path, ..)| path);
        let beneath = |path: &PathBuf| Some(self.cache_path(header(path)?.beneath()?, Layer::Base));
        // What lies over a base is a use of it.
        let mut bases: Vec<PathBuf> = Vec::new();
        for (path, layer, _) in &files {
            let base = if *layer == Layer::Base { Some(path.clone()) } else { beneath(path) };
            bases.extend(base.filter(|base| !bases.contains(base)));
        }
        let changed = |path: &PathBuf| files.iter().find(|(known, ..)| known == path).map(|(.., changed)| *changed);
        if let Some(present) = of_wake.as_ref().and_then(changed) {
            bases.retain(|base| changed(base).is_some_and(|changed| changed >= present));
        }
        let mut past = 0;
        let mut has_room = |path: &PathBuf| {
            past += std::fs::metadata(path).map_or(0, |file| file.len());
            past <= limits::PAST_SNAPSHOT_BYTES
        };
        let kept = 1 + bases.iter().skip(1).take(limits::SNAPSHOTS - 1).take_while(|path| has_room(path)).count();
        bases.truncate(kept);
        let overs: Vec<&PathBuf> =
            of(Layer::Over).filter(|path| beneath(path).is_some_and(|b| bases.contains(&b))).collect();
        let goes =
            |path: &&PathBuf| !bases.contains(path) && !overs.iter().take(limits::OVERLAYS).any(|over| over == path);
        for path in of(Layer::Over).chain(of(Layer::Base)).filter(goes) {
            drop(std::fs::remove_file(noted_at(path)));
            drop(std::fs::remove_file(path));
        }
        self.sweep_leftovers();
    }

    fn sweep_leftovers(&self) {
        let stale = SystemTime::now() - Duration::from_secs(limits::LEFTOVER_SECONDS);
        for entry in std::fs::read_dir(self.cache_dir()).into_iter().flatten().flatten() {
            let old = entry.metadata().and_then(|m| m.modified()).is_ok_and(|changed| changed < stale);
            if old && entry.file_name().to_string_lossy().starts_with("tmp-") {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new().prefix("tmp-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    Ok(file.persist(path).map(drop)?)
}

/// The same for a file that must not be there yet; false: it is, and stays as it is.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new().prefix("tmp-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(failed) => Err(failed.error),
    }
}

/// The key of a tree's snapshot: its id.
pub fn key_of(tree: TreeId) -> Key {
    tree.0.as_bytes().try_into().unwrap_or_default()
}

#[derive(Debug, thiserror::Error)]
enum CacheError {
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The bytes of a file: read, if there are few, and else mapped. Nobody of ours changes a file that has its name; a program that
/// writes another copy over it, such as one that restores a backup, would take mapped bytes away under whoever reads them, which ends
/// the process.
#[allow(unsafe_code, reason = "a mapped file is only sound while it is not changed")]
pub(super) fn map(file: &File) -> std::io::Result<Bytes> {
    if file.metadata()?.len() <= limits::READ_SNAPSHOT_BYTES {
        let mut bytes = Vec::new();
        file.take(limits::READ_SNAPSHOT_BYTES + 1).read_to_end(&mut bytes)?;
        return Ok(Bytes::copied(&bytes));
    }
    // SAFETY: what is read of a mapped file never changes: files of the cache are only replaced once they have their name, files of
    // vectors only grow behind their whole records. The folder is inside the git folder, whose owner is the user.
    let mapped = unsafe { memmap2::Mmap::map(file)? };
    Ok(Bytes::held(mapped))
}

fn header(path: &Path) -> Option<Sections> {
    Sections::open(map(&File::open(path).ok()?).ok()?).ok()
}

fn noted_at(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".verified");
    PathBuf::from(name)
}

/// Which file it is, and when it was last touched.
struct Identity {
    text: String,
    changed: Duration,
}

impl Identity {
    fn of(file: &File) -> std::io::Result<Self> {
        let m = file.metadata()?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let changed = Duration::new(m.ctime().unsigned_abs(), m.ctime_nsec().unsigned_abs() as u32);
        let text = format!(
            "{} {} {} {} {} {} {}.{:09}",
            boot.trim(),
            m.dev(),
            m.ino(),
            m.size(),
            m.mtime(),
            m.mtime_nsec(),
            m.ctime(),
            m.ctime_nsec()
        );
        Ok(Self { text, changed })
    }

    /// Whether the arrays of just this file were verified before.
    fn is_noted(&self, path: &Path) -> bool {
        !self.text.starts_with(' ') && std::fs::read_to_string(noted_at(path)).is_ok_and(|noted| noted == self.text)
    }

    /// Keeps that they were. Not if the file was touched so lately that another touch could have the same time.
    fn note(&self, path: &Path) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if now.saturating_sub(self.changed) < Duration::from_millis(100) {
            return;
        }
        if let Err(error) = write_whole(&noted_at(path), self.text.as_bytes()) {
            tracing::info!("{} will be verified again: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_is_read_and_may_be_cut_under_its_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let content: Vec<u8> = (0..100_003_u32).map(|n| n as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let bytes = map(&File::open(&path).unwrap()).unwrap();
        // Of a mapped file, reading on would end this process.
        File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
        assert_eq!(&bytes[..], content);
    }
}
