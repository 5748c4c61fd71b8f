//! Trees: reading a path, editing many paths at once, and comparing two trees.
//!
//! Everything recurses over subtree ids and opens only what differs or is edited, so that the cost follows the
//! change and not the brain. Paths are `/`-separated and relative.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::CStr;

use git2::{ObjectType, Oid};

use super::{BlobId, ObjectWriter, Store, StoreError, TreeId};
use crate::limits;
use crate::model::layout;

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_644;
const EXECUTABLE: u32 = 0o100_755;
/// In a path, what stands for bytes that are not UTF-8.
pub(super) const NOT_UTF8: char = char::REPLACEMENT_CHARACTER;
/// Bytes of an id.
const ID: usize = 20;

/// A file of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its content.
    pub blob: BlobId,
    /// Its mode as git stores it: `0o100644`, `0o100755`, outside `network/` also symlinks and submodules.
    pub mode: u32,
}

impl File {
    /// A plain file with this content.
    pub fn plain(blob: BlobId) -> Self {
        Self { blob, mode: FILE }
    }

    /// True for a regular file, executable or not.
    pub fn is_regular(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// True for a commit of another repository.
    pub fn is_submodule(&self) -> bool {
        self.mode == 0o160_000
    }

    /// True for a regular file with its executable bit set.
    pub fn is_executable(&self) -> bool {
        self.is_regular() && self.mode & 0o100 != 0
    }
}

/// What becomes of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// New content; the mode stays, or is that of a plain file.
    Write(Vec<u8>),
    /// New content of an executable file.
    WriteExecutable(Vec<u8>),
    /// Content that is stored already.
    Put(File),
    /// A folder that is stored already, in place of whatever was there.
    PutFolder(TreeId),
    /// Nothing there any more, neither file nor folder. It need not have been there.
    Remove,
}

/// One path and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEdit {
    /// The path.
    pub path: String,
    /// What becomes of it.
    pub change: Change,
}

impl TreeEdit {
    /// New content for a path, or its removal.
    pub fn new(path: impl Into<String>, content: Option<Vec<u8>>) -> Self {
        Self { path: path.into(), change: content.map_or(Change::Remove, Change::Write) }
    }
}

/// A path whose file differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// What it was.
    pub old: Option<File>,
    /// What it is.
    pub new: Option<File>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    mode: u32,
    pub(super) id: Oid,
}

impl Entry {
    pub(super) fn is_folder(&self) -> bool {
        self.mode == FOLDER
    }

    fn file(&self) -> Option<File> {
        (!self.is_folder()).then_some(File { blob: BlobId(self.id), mode: self.mode })
    }
}

/// A folder's entries by name.
type Folder = BTreeMap<Vec<u8>, Entry>;
/// A folder under construction: names out of its old bytes, and new ones.
type Rows<'b> = Vec<(Cow<'b, [u8]>, Entry)>;

impl Store {
    /// The file at a path, if there is one.
    pub fn file(&self, root: TreeId, path: &str) -> Result<Option<File>, StoreError> {
        Ok(self.entry(root, path)?.and_then(|entry| entry.file()))
    }

    /// The folder at a path, if there is one. The empty path is the root.
    pub fn folder(&self, root: TreeId, path: &str) -> Result<Option<TreeId>, StoreError> {
        if path.is_empty() {
            return Ok(Some(root));
        }
        Ok(self.entry(root, path)?.filter(Entry::is_folder).map(|entry| TreeId(entry.id)))
    }

    /// The names of the folders inside a folder, ascending; none if it is not there.
    pub fn folder_names(&self, root: TreeId, path: &str) -> Result<Vec<String>, StoreError> {
        let Some(folder) = self.folder(root, path)? else { return Ok(Vec::new()) };
        let folders = self.load(folder.0)?.into_iter().filter(|(_, entry)| entry.is_folder());
        Ok(folders.filter_map(|(name, _)| String::from_utf8(name).ok()).collect())
    }

    /// The content of the file at a path. A symlink or submodule there is refused.
    pub fn read(&self, root: TreeId, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.file(root, path)?.map(|file| self.read_file(file, path)).transpose()
    }

    /// The content of a file that was found at a path. A symlink or submodule is refused.
    pub fn read_file(&self, file: File, path: &str) -> Result<Vec<u8>, StoreError> {
        match file.is_regular() {
            true => self.blob(file.blob),
            false => Err(bad_path(path, "it is a symlink or submodule")),
        }
    }

    /// Calls `see` with each file under a folder (`""`: all), in the order of their paths' components.
    pub fn each_file(
        &self,
        root: TreeId,
        prefix: &str,
        see: &mut dyn FnMut(&str, File) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(folder) = self.folder(root, prefix)? else { return Ok(()) };
        self.walk(folder.0, prefix, &mut Opened::default(), see)
    }

    /// All files under a folder (`""`: all).
    pub fn files(&self, root: TreeId, prefix: &str) -> Result<Vec<(String, File)>, StoreError> {
        let mut found = Vec::new();
        self.each_file(root, prefix, &mut |path, file| {
            found.push((path.to_owned(), file));
            Ok(())
        })?;
        Ok(found)
    }

    /// The paths of the folders in a folder, by name.
    pub fn folders(&self, root: TreeId, prefix: &str) -> Result<Vec<String>, StoreError> {
        let Some(folder) = self.folder(root, prefix)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (name, entry) in self.load(folder.0)?.into_iter().filter(|(_, entry)| entry.is_folder()) {
            found.push(join(prefix, &name, &entry)?);
        }
        Ok(found)
    }

    fn entry(&self, root: TreeId, path: &str) -> Result<Option<Entry>, StoreError> {
        let mut entry = Entry { mode: FOLDER, id: root.0 };
        for name in path.split('/') {
            if !entry.is_folder() {
                return Ok(None);
            }
            let bytes = self.object(entry.id, ObjectType::Tree, "tree")?;
            match find(&bytes, name.as_bytes()) {
                Ok(None) => return Ok(None),
                Ok(Some(found)) => entry = found,
                Err(()) => return Err(bad_tree(entry.id)),
            }
        }
        Ok(Some(entry))
    }

    fn load(&self, id: Oid) -> Result<Folder, StoreError> {
        let bytes = self.object(id, ObjectType::Tree, "tree")?;
        difference::folder(&bytes, id)
    }

    fn walk(
        &self,
        id: Oid,
        prefix: &str,
        opened: &mut Opened,
        see: &mut dyn FnMut(&str, File) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let folder = self.load(id)?;
        opened.add(id, || folder.len(), prefix)?;
        for (name, entry) in folder {
            let path = join(prefix, &name, &entry)?;
            match entry.file() {
                Some(file) => see(&path, file)?,
                None => self.walk(entry.id, &path, opened, see)?,
            }
        }
        Ok(())
    }
}

impl ObjectWriter<'_> {
    /// Applies edits to a tree (`None`: the empty one) and gives the new root. Only folders on the way to an edited
    /// path are read and written; folders that become empty vanish. A path may be named once; a path through a file, a
    /// file in place of a folder, and names outside the grammar are refused before anything is written.
    pub fn edit(&self, root: Option<TreeId>, mut edits: Vec<TreeEdit>) -> Result<TreeId, StoreError> {
        for edit in &edits {
            check_path(&edit.path)?;
        }
        edits.sort_by(|a, b| components(&a.path).cmp(components(&b.path)));
        if let Some(twice) = edits.windows(2).find(|pair| pair[0].path == pair[1].path) {
            return Err(bad_path(&twice[0].path, "it is edited twice"));
        }
        let mut edits: Vec<(String, Option<Change>)> = edits.into_iter().map(|e| (e.path, Some(e.change))).collect();
        let base = root.map(|root| Entry { mode: FOLDER, id: root.0 });
        match self.edit_folder(base, &mut edits, 0)? {
            Some(id) => Ok(TreeId(id)),
            None => self.tree(Vec::new()),
        }
    }

    /// Edits one folder. `edits` are those below it, sorted; `skip` is the length of its own path with the slash.
    fn edit_folder(
        &self,
        base: Option<Entry>,
        edits: &mut [(String, Option<Change>)],
        skip: usize,
    ) -> Result<Option<Oid>, StoreError> {
        let bytes = base.map(|entry| self.store.object(entry.id, ObjectType::Tree, "tree")).transpose()?;
        let id = base.map_or(Oid::ZERO_SHA1, |entry| entry.id);
        let before: Option<Vec<(&[u8], Entry)>> = entries(bytes.as_deref().unwrap_or_default()).collect();
        let mut before = before.ok_or_else(|| bad_tree(id))?;
        let is_in_order = before.windows(2).all(|pair| in_order(pair[0], pair[1]).is_lt());
        before.sort_unstable_by_key(|(name, _)| *name);
        if !is_in_order || before.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(disordered_tree(id));
        }
        let mut olds = before.iter().peekable();
        let mut after: Rows<'_> = Vec::with_capacity(before.len() + edits.len());
        let mut changed = false;
        let mut rest = edits;
        while let Some((path, _)) = rest.first() {
            let name = path[skip..].split('/').next().unwrap_or_default().to_owned();
            let count = rest.iter().take_while(|(p, _)| p[skip..].split('/').next() == Some(&name)).count();
            let (group, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            while let Some((passed, entry)) = olds.next_if(|(n, _)| *n < name.as_bytes()) {
                after.push((Cow::Borrowed(passed), *entry));
            }
            let old = olds.next_if(|(n, _)| *n == name.as_bytes()).map(|(_, entry)| *entry);
            let new = self.edit_name(old, &name, group, skip)?;
            changed |= old != new;
            after.extend(new.map(|entry| (Cow::Owned(name.into_bytes()), entry)));
        }
        after.extend(olds.map(|(name, entry)| (Cow::Borrowed(*name), *entry)));
        match base {
            _ if after.is_empty() => Ok(None),
            Some(entry) if !changed => Ok(Some(entry.id)),
            _ => Ok(Some(self.tree(encode(after))?.0)),
        }
    }

    /// What becomes of one name in a folder.
    fn edit_name(
        &self,
        old: Option<Entry>,
        name: &str,
        group: &mut [(String, Option<Change>)],
        skip: usize,
    ) -> Result<Option<Entry>, StoreError> {
        let below = skip + name.len() + 1;
        let (mut now, mut group) = (old, group);
        if group[0].0.len() < below {
            let (here, others) = group.split_at_mut(1);
            let (path, change) = &mut here[0];
            let removed = matches!(change, Some(Change::Remove));
            if !others.is_empty() && !removed {
                return Err(bad_path(path, "it is edited both as a file and as a folder"));
            }
            now = self.edit_entry(old, path, change.take())?;
            group = others;
        }
        if group.is_empty() {
            return Ok(now);
        }
        if now.is_some_and(|entry| !entry.is_folder()) {
            return match group.iter().all(|(_, change)| matches!(change, Some(Change::Remove))) {
                true => Ok(now),
                false => Err(bad_path(&group[0].0, "a part of it is a file")),
            };
        }
        Ok(self.edit_folder(now, group, below)?.map(|id| Entry { mode: FOLDER, id }))
    }

    fn edit_entry(&self, old: Option<Entry>, path: &str, change: Option<Change>) -> Result<Option<Entry>, StoreError> {
        let over_folder = old.is_some_and(|entry| entry.is_folder());
        let refuse_folder = || match over_folder {
            true => Err(bad_path(path, "it is a folder")),
            false => Ok(()),
        };
        Ok(match change {
            None | Some(Change::Remove) => None,
            Some(Change::PutFolder(id)) => Some(Entry { mode: FOLDER, id: id.0 }),
            Some(Change::Put(file)) => {
                refuse_folder()?;
                refuse_link(path, file.mode)?;
                Some(Entry { mode: file.mode, id: file.blob.0 })
            }
            Some(Change::Write(bytes)) => {
                refuse_folder()?;
                // A mode that no git writes today goes with the bytes that it was of.
                let kept = old.map(|entry| entry.mode).filter(|mode| matches!(*mode, FILE | EXECUTABLE));
                Some(Entry { mode: kept.unwrap_or(FILE), id: self.blob_of(bytes).map_err(|e| e.at(path))?.0 })
            }
            Some(Change::WriteExecutable(bytes)) => {
                refuse_folder()?;
                Some(Entry { mode: EXECUTABLE, id: self.blob_of(bytes).map_err(|e| e.at(path))?.0 })
            }
        })
    }
}

/// The entry of that name in a tree's bytes; an error where they stop making sense. Reads no more of other entries than it
/// takes to pass them: a look-up of a neuron passes some hundred.
fn find(bytes: &[u8], name: &[u8]) -> Result<Option<Entry>, ()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        // A mode has five or six digits.
        let space = if rest.get(5) == Some(&b' ') { 5 } else { 6 };
        let after = rest.get(space + 1..).ok_or(())?;
        if after.starts_with(name) && after.get(name.len()) == Some(&0) {
            return first_entry(rest).map(|(_, entry, _)| Some(entry)).ok_or(());
        }
        let passed = CStr::from_bytes_until_nul(after).map_err(drop)?.to_bytes_with_nul().len();
        rest = after.get(passed + ID..).ok_or(())?;
    }
    Ok(None)
}

/// The entries of a tree's bytes; `None` where they stop making sense.
pub(super) fn entries(bytes: &[u8]) -> impl Iterator<Item = Option<(&[u8], Entry)>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((name, entry, tail)) = first_entry(rest) else {
            rest = &[];
            return Some(None);
        };
        rest = tail;
        Some(Some((name, entry)))
    })
}

fn first_entry(bytes: &[u8]) -> Option<(&[u8], Entry, &[u8])> {
    let space = bytes.iter().take(8).position(|b| *b == b' ')?;
    let octal = |mode: u32, digit: &u8| (b'0'..=b'7').contains(digit).then(|| mode << 3 | u32::from(digit - b'0'));
    let mode = bytes[..space].iter().try_fold(0, octal).filter(|_| bytes[0] != b'0')?;
    // The name ends at a zero, which the library finds faster than a loop does.
    let name = CStr::from_bytes_until_nul(&bytes[space + 1..]).ok()?.to_bytes();
    let rest = &bytes[space + 1 + name.len() + 1..];
    let id = Oid::from_bytes(rest.get(..20)?).ok()?;
    let sane = !name.is_empty() && !name.contains(&b'/');
    sane.then_some((name, Entry { mode, id }, &rest[20..]))
}

/// A folder's bytes, in git's own order, in which folders sort as `name/`.
fn encode(mut rows: Rows<'_>) -> Vec<u8> {
    rows.sort_by(|(a, x), (b, y)| in_order((a, *x), (b, *y)));
    let mut bytes = Vec::with_capacity(rows.iter().map(|(name, _)| name.len() + 8 + ID).sum());
    for (name, entry) in rows {
        match entry.mode {
            FOLDER => bytes.extend_from_slice(b"40000 "),
            FILE => bytes.extend_from_slice(b"100644 "),
            mode => bytes.extend_from_slice(format!("{mode:o} ").as_bytes()),
        }
        bytes.extend_from_slice(&name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

/// Git's order of entries, in which folders sort as `name/`.
fn in_order((a, x): (&[u8], Entry), (b, y): (&[u8], Entry)) -> std::cmp::Ordering {
    let end = |entry: Entry| entry.is_folder().then_some(b'/');
    a.iter().copied().chain(end(x)).cmp(b.iter().copied().chain(end(y)))
}

/// Path components in an order that keeps what is below a folder together.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
}

/// The path of an entry. People's files may have names of any bytes; what is not UTF-8 of them is [`NOT_UTF8`].
fn join(prefix: &str, name: &[u8], entry: &Entry) -> Result<String, StoreError> {
    let name = String::from_utf8_lossy(name);
    let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
    if is_inside(&path) && matches!(name, Cow::Owned(_)) {
        return Err(bad_path(&path, "its name is not UTF-8"));
    }
    if matches!(&*name, "." | "..") || name.eq_ignore_ascii_case(".git") {
        return Err(bad_path(&path, "no tree may have such a name"));
    }
    if path.matches('/').count() >= limits::TREE_DEPTH {
        return Err(bad_path(&path.chars().take(200).collect::<String>(), "it is too deep"));
    }
    refuse_link(&path, entry.mode)?;
    Ok(path)
}

/// The network holds files as git writes them today and folders: a symlink or submodule in it is somebody's trap, and another mode is another tree
/// than the one that a merge makes.
fn refuse_link(path: &str, mode: u32) -> Result<(), StoreError> {
    let is_ours = matches!(mode, FOLDER | FILE | EXECUTABLE);
    let is_known = is_ours || mode & 0o170_000 == 0o100_000 || matches!(mode, 0o120_000 | 0o160_000);
    match is_ours || is_known && !is_inside(path) {
        true => Ok(()),
        false => Err(bad_path(path, "it is a symlink, a submodule, or of an unknown mode")),
    }
}

/// True for the network's folder and what is in it.
fn is_inside(path: &str) -> bool {
    path.strip_prefix(layout::NETWORK).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses a path that no edit may write. People's own files are called what git lets them be called; the network's names are
/// such as every file system, shell and terminal bears.
fn check_path(path: &str) -> Result<(), StoreError> {
    let fail = |reason| Err(bad_path(&path.chars().take(200).collect::<String>(), reason));
    if path.len() > limits::PATH_BYTES {
        return fail("it is too long");
    }
    if path.matches('/').count() >= limits::TREE_DEPTH {
        return fail("it is too deep");
    }
    if path.contains(['\0', NOT_UTF8]) {
        return fail("its name cannot be written as it is");
    }
    let inside = is_inside(path);
    for name in path.split('/') {
        if matches!(name, "" | "." | "..") {
            return fail("a part of it is empty or made of dots");
        }
        if is_gits(name) {
            return fail("a part of it is special to git or a file system");
        }
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
        if inside && (name.starts_with(['.', '-']) || name.ends_with('.') || !name.bytes().all(plain)) {
            return fail("names in network/ are of a-z, 0-9, '.', '_' and '-'");
        }
    }
    Ok(())
}

/// True for what some file system takes for `.git`: other case, characters that it passes over, dots and spaces at the end, a
/// stream's name behind a colon, the short name `GIT~1`, or a backslash as a slash.
fn is_gits(name: &str) -> bool {
    let ignored =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    name.split('\\').any(|part| {
        let part: String = part.chars().filter(|c| !ignored(*c)).flat_map(char::to_lowercase).collect();
        let part = part.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
        part == ".git"
            || part.strip_prefix("git~").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn bad_path(path: &str, reason: &'static str) -> StoreError {
    StoreError::BadPath { path: path.to_owned(), reason }
}

fn bad_tree(id: Oid) -> StoreError {
    StoreError::BadObject { what: "tree", id: id.to_string(), reason: "its entries do not parse".to_owned() }
}

fn disordered_tree(id: Oid) -> StoreError {
    let reason = "its entries are not in git's order, or a name is there twice".to_owned();
    StoreError::BadObject { what: "tree", id: id.to_string(), reason }
}

mod difference;
mod outside;
use difference::Opened;
pub use outside::Clash;

#[cfg(test)]
mod tests;
