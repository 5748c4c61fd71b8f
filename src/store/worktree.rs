//! Work trees that follow: people browse the files of a checked-out branch, and it moves under them.
//!
//! For each path that the move changed, a file that is as it was (on disk and in the index) becomes what it shall be. What a
//! person has edited, removed or put in the way is left alone on disk and reported; its index entry follows, or the person's next
//! commit would take the move back. What is staged is left alone in the index too. Nothing is written through a symlink, and
//! what a sparse checkout leaves out is nobody's obstacle. The index is written under git's own `index.lock`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use git2::{Index, IndexEntry, IndexTime, ObjectType, Oid};

use super::confine::{leads_here, present};
use super::disk::{discard, sync_folder};
use super::left::{LOCKED, Left, UNREADABLE, UNWRITABLE};
use super::shadow::Shadow;
use super::sparse::Sparse;
use super::tree::{File as TreeFile, NOT_UTF8};
use super::{Branch, CommitId, FileChange, Store, StoreError, child};

/// How often, and with what pause, a held `index.lock` is tried again: a `git status` lets go in milliseconds, an
/// open `git commit` editor does not.
const INDEX_TRIES: u32 = 50;
const INDEX_PAUSE_MS: u64 = 20;
/// The flag by which a sparse checkout says that a file is not on disk.
const SKIP_WORKTREE: u16 = 1 << 14;
/// The version of an index in which a name says what differs from the one before it: most names of a brain begin alike.
const SHARED_NAMES: u32 = 4;

/// The flag that says that an entry has flags like that one; libgit2 sets it by itself in indexes of version 3 alone.
const EXTENDED: u16 = 1 << 14;
/// The flag in the extended half of `git add -N`.
const INTENT_TO_ADD: u16 = 1 << 13;

/// A work tree that has a branch checked out.
pub(super) struct WorkTree {
    root: PathBuf,
    git_dir: PathBuf,
}

impl WorkTree {
    pub(super) fn index_lock(&self) -> PathBuf {
        self.git_dir.join("index.lock")
    }
}

enum Action {
    /// Write or remove the file and its index entry.
    Both,
    /// The file is right already, or is not to be on disk.
    IndexOnly,
    /// The file is a person's; the index follows.
    Keep(&'static str),
    Leave(&'static str),
}

enum OnDisk {
    Absent,
    Content(Oid),
    /// A folder, a symlink, or something behind one.
    Obstacle,
}

impl Store {
    /// The work trees, main and linked, whose HEAD is this branch. A folder that does not say itself that it is one of
    /// them is none: what the git folder says about it may be anybody's word.
    pub(super) fn work_trees_on(&self, branch: &Branch) -> Result<Vec<WorkTree>, StoreError> {
        let wrap = |e| StoreError::git("work trees", e);
        let mut candidates = vec![self.common.clone()];
        let linked = self.common.join("worktrees");
        let failed = |path: &Path| StoreError::file(path.to_owned());
        for entry in present(std::fs::read_dir(&linked)).map_err(failed(&linked))?.into_iter().flatten() {
            candidates.push(entry.map_err(failed(&linked))?.path());
        }
        let mut found = Vec::new();
        let head = format!("ref: {}", branch.full());
        for git_dir in candidates {
            let text = match present(std::fs::read_to_string(git_dir.join("HEAD"))) {
                // Another user's, of a brain that several share: not ours to write into.
                Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied && git_dir != self.common => None,
                text => text.map_err(failed(&git_dir.join("HEAD")))?,
            };
            if text.is_none_or(|text| text.trim_end() != head) {
                continue;
            }
            let repository = match git2::Repository::open(&git_dir) {
                Ok(repository) => repository,
                // A linked work tree whose folder was deleted by hand.
                Err(e) if git_dir != self.common && e.class() != git2::ErrorClass::Os => continue,
                Err(e) => return Err(wrap(e)),
            };
            let Some(root) = repository.workdir() else { continue };
            if leads_here(root, repository.path()).map_err(failed(root))? {
                found.push(WorkTree { root: root.to_owned(), git_dir: repository.path().to_owned() });
            }
        }
        Ok(found)
    }

    /// Takes work trees off a branch that is about to be removed: HEAD stays at its commit, on no branch, and files and index stay as they are. Git would
    /// see no commit there else, and take every file for a new one.
    pub(super) fn step_off(&self, branch: &Branch, tip: CommitId) -> Result<(), StoreError> {
        if self.tip(branch)? != Some(tip) {
            return Ok(());
        }
        for tree in self.work_trees_on(branch)? {
            let detached = git2::Repository::open(&tree.git_dir).and_then(|r| r.set_head_detached(tip.0));
            detached.map_err(|e| StoreError::git(format!("HEAD of {}", tree.root.display()), e))?;
            self.note(format!(
                "{branch} was checked out in {}, and is gone: HEAD is still at {tip} there, on no branch; `git switch {}` leaves it, `git switch -c NAME` keeps \
                 what you commit upon it",
                tree.root.display(),
                self.wake()
            ));
        }
        Ok(())
    }

    /// Lets every work tree of a branch follow its move. What cannot follow is returned, sorted.
    pub(super) fn follow(
        &self,
        branch: &Branch,
        old: Option<CommitId>,
        new: CommitId,
    ) -> Result<Vec<Left>, StoreError> {
        let trees = self.work_trees_on(branch)?;
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let before = old.map(|old| self.tree_of(old)).transpose()?;
        let changes = self.diff(before, Some(self.tree_of(new)?), "")?;
        let mut left = Vec::new();
        if !changes.is_empty() {
            for tree in &trees {
                self.follow_in(tree, &changes, &mut left)?;
            }
        }
        left.sort_by(|a, b| (&a.work_tree, &a.path).cmp(&(&b.work_tree, &b.path)));
        Ok(left)
    }

    fn follow_in(&self, tree: &WorkTree, changes: &[FileChange], left: &mut Vec<Left>) -> Result<(), StoreError> {
        let mut leave = |path: &str, reason| {
            left.push(Left { work_tree: tree.root.clone(), path: path.to_owned(), reason });
        };
        let mut plain = false;
        let (lock, mut index) = loop {
            let Some(lock) = IndexLock::take(tree)? else {
                leave("(index)", LOCKED);
                return Ok(());
            };
            match lock.read() {
                Ok(index) => break (lock, index),
                // The disk's fault, which may pass.
                Err(error) if error.is_of_the_system() => return Err(error),
                // Split, or with folders as entries: git makes it a plain one, and its own kind again when it likes.
                Err(_) if !plain => {
                    drop(lock);
                    plain = true;
                    self.make_plain(tree)?;
                }
                Err(_) => {
                    let reason = "the index is of a kind that cannot be edited here";
                    changes.iter().for_each(|change| leave(&change.path, reason));
                    return Ok(());
                }
            }
        };
        let sparse = Sparse::of(&tree.git_dir);
        // Removals first: a file may make room for a folder of the same name.
        let (removals, others): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.new.is_none());
        for change in removals.into_iter().chain(others) {
            let entry = index.get_path(Path::new(&change.path), 0);
            if change.path.contains(NOT_UTF8) {
                leave(&change.path, "its name is not UTF-8");
                continue;
            }
            // A file that the index does not have yet is left out where its place is.
            let left_out = match &entry {
                Some(entry) => entry.flags_extended & SKIP_WORKTREE != 0,
                None => sparse.leaves_out(&change.path),
            };
            match decide(&tree.root, change, entry, left_out) {
                Action::Leave(reason) => leave(&change.path, reason),
                Action::Keep(reason) => {
                    leave(&change.path, reason);
                    enter(&mut index, None, change, false)?;
                }
                Action::IndexOnly => enter(&mut index, (!left_out).then_some(&tree.root), change, left_out)?,
                Action::Both => match self.place(&tree.root, change) {
                    Ok(()) => enter(&mut index, Some(&tree.root), change, false)?,
                    Err(StoreError::File { .. }) => leave(&change.path, UNWRITABLE),
                    Err(e) => return Err(e),
                },
            }
        }
        lock.write(index)
    }

    fn place(&self, root: &Path, change: &FileChange) -> Result<(), StoreError> {
        let path = root.join(&change.path);
        let Some(file) = change.new else {
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(path)(e)),
                _ => {}
            }
            let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
            for folder in folders {
                if std::fs::remove_dir(folder).is_err() {
                    break;
                }
            }
            return Ok(());
        };
        let content = self.blob(file.blob)?;
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
        // In the private folder first, where nobody takes what a killed process left for a file of the brain.
        let scratch = self.private_dir();
        let persist = |at: &Path| -> Result<(), std::io::Error> {
            let mut made = temporary(at, file)?;
            made.write_all(&content)?;
            match change.old {
                Some(_) => made.persist(&path).map(drop).map_err(|e| e.error),
                None => made.persist_noclobber(&path).map(drop).map_err(|e| e.error),
            }
        };
        match persist(&scratch) {
            Err(e) if e.kind() == std::io::ErrorKind::CrossesDevices => persist(folder),
            other => other,
        }
        .map_err(StoreError::file(&path))
    }

    /// Lets git write an index that is in one file and has an entry for each file.
    fn make_plain(&self, tree: &WorkTree) -> Result<(), StoreError> {
        let shadow = Shadow::over(&tree.git_dir, &self.common, &self.private_dir())?;
        let mut git = shadow.git();
        git.current_dir(&tree.root).env("GIT_WORK_TREE", &tree.root);
        git.args(["-c", "index.sparse=false", "-c", "core.splitIndex=false"]);
        git.args(["update-index", "--no-split-index", "--force-write-index"]);
        // Whether it did is seen by who reads the index again.
        child::ended(&mut git, b"").map(drop).map_err(StoreError::file("git update-index"))
    }
}

fn temporary(folder: &Path, file: TreeFile) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".git-brain-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As git does it: all bits, less the user's umask.
        builder.permissions(std::fs::Permissions::from_mode(if file.is_executable() { 0o777 } else { 0o666 }));
    }
    #[cfg(not(unix))]
    let _ = file;
    builder.tempfile_in(folder)
}

fn decide(root: &Path, change: &FileChange, entry: Option<IndexEntry>, left_out: bool) -> Action {
    let regular = |file: Option<TreeFile>| file.is_none_or(|f| f.is_regular());
    if !regular(change.old) || !regular(change.new) {
        return Action::Leave("it is a symlink or a submodule");
    }
    let Ok(disk) = on_disk(root, &change.path) else { return Action::Leave(UNREADABLE) };
    let is = |file: Option<TreeFile>| match (&disk, file) {
        (OnDisk::Absent, None) => true,
        (OnDisk::Content(id), Some(file)) => *id == file.blob.0,
        _ => false,
    };
    let added = entry.as_ref().is_some_and(|e| e.flags_extended & INTENT_TO_ADD != 0);
    let staged = entry.map(|e| e.id);
    let indexed = |file: Option<TreeFile>| staged == file.map(|f| f.blob.0);
    if added || !(indexed(change.old) || indexed(change.new)) {
        return Action::Leave("other content of it is staged");
    }
    match disk {
        OnDisk::Absent | OnDisk::Obstacle if left_out => Action::IndexOnly,
        // Before the plain case: a change of mode alone has the same content on both sides.
        _ if is(change.old) && indexed(change.old) => Action::Both,
        _ if is(change.new) => Action::IndexOnly,
        OnDisk::Obstacle => Action::Keep("something else is in its place"),
        _ => Action::Keep("it was edited"),
    }
}

fn on_disk(root: &Path, path: &str) -> std::io::Result<OnDisk> {
    let mut at = root.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Ok(OnDisk::Obstacle) };
        at.push(name);
        let found = match std::fs::symlink_metadata(&at) {
            Ok(found) => found.file_type(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(OnDisk::Absent),
            Err(e) => return Err(e),
        };
        let last = parts.peek().is_none();
        if !(if last { found.is_file() } else { found.is_dir() }) {
            return Ok(OnDisk::Obstacle);
        }
    }
    let content = std::fs::read(&at)?;
    Ok(Oid::hash_object(ObjectType::Blob, &content).map_or(OnDisk::Obstacle, OnDisk::Content))
}

/// Makes the index say what the change made; `left_out` of the work tree or not. `root`: where the file on disk is that.
fn enter(index: &mut Index, root: Option<&PathBuf>, change: &FileChange, left_out: bool) -> Result<(), StoreError> {
    let path = Path::new(&change.path);
    let wrap = |e| StoreError::git(format!("index entry {}", change.path), e);
    let Some(file) = change.new else {
        // A process that was killed may have got as far as that.
        return match index.remove(path, 0) {
            Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(()),
            removed => removed.map_err(wrap),
        };
    };
    let zero = IndexTime::new(0, 0);
    let mut entry = IndexEntry {
        ctime: zero,
        mtime: zero,
        dev: 0,
        ino: 0,
        mode: if file.is_executable() { 0o100_755 } else { 0o100_644 },
        uid: 0,
        gid: 0,
        file_size: 0,
        id: file.blob.0,
        flags: if left_out { EXTENDED } else { 0 },
        flags_extended: if left_out { SKIP_WORKTREE } else { 0 },
        path: change.path.as_bytes().to_vec(),
    };
    if let Some(root) = root {
        stat_into(&mut entry, &root.join(path));
    }
    index.add(&entry).map_err(wrap)
}

/// Fills in what git compares to see without reading that a file is unchanged. Left zero, git reads the file.
#[cfg(unix)]
fn stat_into(entry: &mut IndexEntry, path: &Path) {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return };
    // Git keeps the low 32 bits of each.
    entry.ctime = IndexTime::new(meta.ctime() as i32, meta.ctime_nsec() as u32);
    entry.mtime = IndexTime::new(meta.mtime() as i32, meta.mtime_nsec() as u32);
    entry.dev = meta.dev() as u32;
    entry.ino = meta.ino() as u32;
    entry.uid = meta.uid();
    entry.gid = meta.gid();
    entry.file_size = meta.len() as u32;
}

#[cfg(not(unix))]
fn stat_into(_: &mut IndexEntry, _: &Path) {}

/// Git's lock on an index, held by us while the index is read, changed and replaced. libgit2 takes it for the writing
/// alone, and would overwrite what a person staged in between.
struct IndexLock {
    lock: PathBuf,
    index: PathBuf,
    scratch: PathBuf,
}

impl IndexLock {
    fn take(tree: &WorkTree) -> Result<Option<Self>, StoreError> {
        let lock = tree.index_lock();
        for _ in 0..INDEX_TRIES {
            match OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => {
                    let index = tree.git_dir.join("index");
                    return Ok(Some(Self { lock, index, scratch: tree.git_dir.join("index.git-brain") }));
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                    std::thread::sleep(Duration::from_millis(INDEX_PAUSE_MS));
                }
                Err(e) => return Err(StoreError::file(lock)(e)),
            }
        }
        Ok(None)
    }

    /// A copy of the index under a name of our own, which libgit2 may lock and write as it likes.
    fn read(&self) -> Result<Index, StoreError> {
        for leftover in [self.scratch.clone(), self.scratch.with_extension("git-brain.lock")] {
            match std::fs::remove_file(&leftover) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(leftover)(e)),
                _ => {}
            }
        }
        let is_new = match std::fs::copy(&self.index, &self.scratch) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(&self.scratch)(e)),
            copied => copied.is_err(),
        };
        let open = || -> Result<Index, git2::Error> {
            let mut index = Index::open(&self.scratch)?;
            index.read(true)?;
            if is_new {
                index.set_version(SHARED_NAMES)?;
            }
            Ok(index)
        };
        // libgit2 says of an index that the disk does not give that it is none. One that everybody else can read is of a kind that
        // libgit2 does not know.
        open().or_else(|_| open()).map_err(|error| match present(std::fs::read(&self.scratch)) {
            Err(e) => StoreError::file(&self.scratch)(e),
            Ok(_) => StoreError::git(format!("index {}", self.index.display()), error),
        })
    }

    fn write(self, mut index: Index) -> Result<(), StoreError> {
        index.write().map_err(|e| StoreError::git(format!("index {}", self.index.display()), e))?;
        // libgit2 does not wait for it, and git reads no index that a loss of power has emptied.
        File::open(&self.scratch).and_then(|file| file.sync_all()).map_err(StoreError::file(&self.scratch))?;
        std::fs::rename(&self.scratch, &self.index).map_err(StoreError::file(&self.index))?;
        let folder = self.index.parent().unwrap_or(&self.index);
        sync_folder(folder)
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        discard(&self.scratch);
        discard(&self.lock);
    }
}

#[cfg(test)]
mod tests;
