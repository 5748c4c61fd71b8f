//! The code that people work on beside a brain: its work tree, the commit that is checked out, and older versions of its files. Nothing is
//! written there.

use std::cell::{OnceCell, RefCell};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::{BlobId, Branch, CommitId, Store, TreeId};
use crate::limits;
use crate::model::layout;

/// A work tree of code.
pub struct Checkout<'s> {
    store: Reader<'s>,
    root: PathBuf,
    branch: Option<Branch>,
    commit: CommitId,
    tree: TreeId,
    line: RefCell<Line>,
    /// Files that came since commits.
    came: RefCell<HashMap<String, Came>>,
    index: OnceCell<Option<git2::Index>>,
}

/// Files with their contents' ids and their paths.
type Came = Rc<Vec<(String, String)>>;

/// The way by which its repository is read.
enum Reader<'s> {
    /// The brain is inside of it.
    Own(&'s Store),
    /// The brain is elsewhere.
    Other(Box<Store>),
}

/// Commits of the present line that were seen so far, newest first.
struct Line {
    seen: HashSet<CommitId>,
    next: BinaryHeap<(i64, CommitId)>,
    left: usize,
}

impl Store {
    /// The code around the brain: the work tree that it was opened in, or else that of the folder `around`, unless what is checked out there
    /// is a brain.
    pub fn checkout(&self, around: &Path) -> Option<Checkout<'_>> {
        if let Some(own) = Checkout::of(Reader::Own(self)) {
            return Some(own);
        }
        let repository = super::discover(around).ok()?;
        if repository.commondir() == self.common {
            return None;
        }
        let other = Self::over(repository, self.main.clone(), self.wake.clone());
        Checkout::of(Reader::Other(Box::new(other)))
    }
}

impl<'s> Checkout<'s> {
    fn of(store: Reader<'s>) -> Option<Self> {
        let reader = store.get();
        let root = std::fs::canonicalize(reader.work_dir()?).ok()?;
        let (branch, commit) = reader.head().ok()?;
        let commit = commit?;
        let tree = reader.tree_of(commit).ok()?;
        // Beside code, a brain has branches of its own; a brain by itself is known by its files.
        let beside = reader.main().as_str().rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
        let is_brain = match (&beside, &branch) {
            (Some(folder), Some(branch)) => branch.as_str().starts_with(folder),
            _ => reader.file(tree, layout::METADATA).ok()?.is_some(),
        };
        let line =
            Line { seen: HashSet::new(), next: BinaryHeap::from([(i64::MAX, commit)]), left: limits::CODE_COMMITS };
        let (came, index) = (RefCell::default(), OnceCell::new());
        (!is_brain).then_some(Self { store, root, branch, commit, tree, line: RefCell::new(line), came, index })
    }

    /// The branch that is checked out.
    pub fn branch(&self) -> Option<&Branch> {
        self.branch.as_ref()
    }

    /// The commit that is checked out.
    pub fn commit(&self) -> CommitId {
        self.commit
    }

    /// True if memories with such a commit were made in this repository: the brain is inside of it, or it has the commit.
    pub fn knows(&self, commit: CommitId) -> bool {
        matches!(self.store, Reader::Own(_)) || self.store.get().has(commit.0)
    }

    /// The path from the root of a file that somebody names: from the root, or else from the folder `from`, or as a whole. Links are followed inside of
    /// the work tree, and what git ignores is none.
    pub fn path_of(&self, named: &str, from: &Path) -> Option<String> {
        let named = Path::new(named);
        let from = std::fs::canonicalize(from).ok().filter(|from| from.starts_with(&self.root));
        let folders = [Some(self.root.clone()), from];
        folders.into_iter().flatten().find_map(|folder| self.inside(&folder.join(named)))
    }

    fn inside(&self, path: &Path) -> Option<String> {
        let path = std::fs::canonicalize(path).ok()?;
        let inside = path.strip_prefix(&self.root).ok()?;
        let is_git = inside.components().any(|part| part == Component::Normal(".git".as_ref()));
        let is_file = std::fs::symlink_metadata(&path).ok()?.is_file();
        let name = inside.to_str().filter(|_| is_file && !is_git)?;
        let is_tracked = || self.store.get().file(self.tree, name).is_ok_and(|file| file.is_some());
        let is_ignored = || self.store.get().with(|r| r.is_path_ignored(inside)).unwrap_or(true);
        (is_tracked() || !is_ignored()).then(|| name.to_owned())
    }

    /// The text of a file of the work tree; none if it is no file, too large or no text.
    pub fn text(&self, path: &str) -> Option<String> {
        let whole = self.root.join(path);
        // A link that came since may lead anywhere.
        let real = std::fs::canonicalize(&whole).ok().filter(|real| real.starts_with(&self.root))?;
        let size = std::fs::symlink_metadata(&real).ok().filter(std::fs::Metadata::is_file)?.len();
        if size > limits::CITED_FILE_BYTES as u64 {
            return None;
        }
        String::from_utf8(std::fs::read(real).ok()?).ok()
    }

    /// The content of a file of the work tree as git names it: the one that is committed, if that has the same lines.
    pub fn blob_of(&self, path: &str, text: &str) -> Option<String> {
        let committed = self.store.get().file(self.tree, path).ok().flatten().filter(|file| file.is_regular());
        if let Some(file) = committed
            && self.content(file.blob).is_some_and(|old| old.lines().eq(text.lines()))
        {
            return Some(file.blob.to_string());
        }
        git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).ok().map(|id| id.to_string())
    }

    /// A content of an older version; none if it is not here.
    pub fn was(&self, blob: &str) -> Option<String> {
        self.content(BlobId::parse(blob).ok()?)
    }

    fn content(&self, blob: BlobId) -> Option<String> {
        let store = self.store.get();
        let size = store.with(|r| r.odb()?.read_header(blob.0)).ok()?.0;
        if size > limits::CITED_FILE_BYTES {
            return None;
        }
        String::from_utf8(store.content(blob).ok()?.to_vec()).ok()
    }

    /// Files that came since a commit and may be one that is gone, most alike first: with its content, with its name, others. At most
    /// [`limits::CITED_CANDIDATES`].
    pub fn came_since(&self, commit: &str, blob: &str, path: &str) -> Vec<String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let mut found: Vec<(u8, String)> = Vec::new();
        let came = self.committed_since(commit);
        let staged = if self.root.join(path).exists() { Vec::new() } else { self.staged(blob, &name(path)) };
        for (id, there) in came.iter().chain(&staged).filter(|(_, there)| there != path) {
            let rank = if id == blob { 0 } else { 1 + u8::from(name(there) != name(path)) };
            if found.iter().all(|(_, known)| known != there) {
                found.push((rank, there.clone()));
            }
        }
        found.sort();
        found.truncate(limits::CITED_CANDIDATES);
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// Files that the present commit has and an older one has not, with their contents' ids. Compared once.
    fn committed_since(&self, commit: &str) -> Came {
        if let Some(known) = self.came.borrow().get(commit) {
            return Rc::clone(known);
        }
        let store = self.store.get();
        let before = CommitId::parse(commit).ok().filter(|commit| store.has(commit.0));
        let before = before.and_then(|commit| store.tree_of(commit).ok());
        let changes = before.and_then(|before| {
            store.diff_within(Some(before), Some(self.tree), "", limits::CITED_CHANGES).ok().flatten()
        });
        let came = changes.unwrap_or_default().into_iter().filter(|change| change.old.is_none()).filter_map(|change| {
            let file = change.new.filter(super::File::is_regular)?;
            Some((file.blob.to_string(), change.path))
        });
        let came = Rc::new(came.collect::<Vec<_>>());
        self.came.borrow_mut().insert(commit.to_owned(), Rc::clone(&came));
        came
    }

    /// Files with a content or a name in git's index that the present commit has not: what is renamed there and not committed yet.
    fn staged(&self, blob: &str, name: &str) -> Vec<(String, String)> {
        let store = self.store.get();
        let index = self.index.get_or_init(|| store.with(git2::Repository::index).ok());
        let alike = index.iter().flat_map(git2::Index::iter).filter_map(|entry| {
            let (id, there) = (entry.id.to_string(), String::from_utf8(entry.path).ok()?);
            let is_new = || store.file(self.tree, &there).is_ok_and(|file| file.is_none());
            let is_alike = id == blob || there.rsplit('/').next() == Some(name);
            (is_alike && is_new()).then_some((id, there))
        });
        alike.take(limits::CITED_CANDIDATES).collect()
    }

    /// True if a commit is the present one or an ancestor of it, as far as a bounded part of the history tells. What is asked for first should be
    /// the newest.
    pub fn descends_from(&self, commit: CommitId) -> bool {
        if commit == self.commit {
            return true;
        }
        let store = self.store.get();
        let mut line = self.line.borrow_mut();
        if line.seen.contains(&commit) {
            return true;
        }
        let Some(wanted) = store.has(commit.0).then(|| store.commit(commit).ok()).flatten() else { return false };
        // Clocks of people differ.
        const SLACK_SECONDS: i64 = 86_400;
        while line.next.peek().is_some_and(|(at, _)| *at >= wanted.committed - SLACK_SECONDS) && line.left > 0 {
            let Some((_, id)) = line.next.pop() else { break };
            if !line.seen.insert(id) {
                continue;
            }
            line.left -= 1;
            for parent in store.commit(id).map(|commit| commit.parents).unwrap_or_default() {
                if !line.seen.contains(&parent)
                    && store.has(parent.0)
                    && let Ok(parent) = store.commit(parent)
                {
                    line.next.push((parent.committed, parent.id));
                }
            }
            if id == commit {
                return true;
            }
        }
        line.seen.contains(&commit)
    }
}

impl Reader<'_> {
    fn get(&self) -> &Store {
        match self {
            Self::Own(store) => store,
            Self::Other(store) => store,
        }
    }
}
