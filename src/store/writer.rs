//! Writing objects: a batch gathered in memory and published as one pack.
//!
//! A pack of exactly the new objects needs a handful of fsyncs however many objects it has, and half the time and a
//! quarter of the space of loose objects. libgit2's packing is not used: `Mempack::dump` packs the whole tree, and
//! its pack builder always looks for deltas.
//!
//! The batch is this store's own map and not a memory backend on the repository's database. So writing costs no look
//! into the pack folder per object, a dropped batch leaves nothing behind (libgit2 would keep its trees in its
//! cache and think them stored), and what is published is exactly what was written.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use fs2::FileExt;
use git2::{ObjectType, Oid};

use super::bulk::{KEEP_TEXT, WholePack};
use super::commit::{CommitSpec, parse};
use super::object::Pending;
use super::{BlobId, CommitId, Store, StoreError, TreeId};

/// How often a pack is written: `git gc --prune=now` takes one that has no name yet for rubbish.
const WRITES: usize = 4;
/// How the folders in `objects/` began in which packs were once made.
pub(super) const SCRATCH: &str = "git-brain-";

/// A batch of new objects, readable through its store at once, on disk after [`ObjectWriter::publish`].
#[must_use = "objects that are not published are lost"]
pub struct ObjectWriter<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// Begins a batch. There is one at a time.
    pub fn writer(&self) -> Result<ObjectWriter<'_>, StoreError> {
        if self.writing.replace(true) {
            return Err(StoreError::BatchOpen);
        }
        Ok(ObjectWriter { store: self })
    }
}

impl ObjectWriter<'_> {
    /// Adds a file's content.
    pub fn blob(&self, content: &[u8]) -> Result<BlobId, StoreError> {
        self.blob_of(content.to_vec())
    }

    pub(super) fn blob_of(&self, content: Vec<u8>) -> Result<BlobId, StoreError> {
        self.add(ObjectType::Blob, content).map(BlobId)
    }

    /// Adds a commit, signed where this machine signs.
    pub fn commit(&self, spec: &CommitSpec) -> Result<CommitId, StoreError> {
        let bytes = spec.encode(&self.store.user())?;
        // Before it is signed: signatures are chance, and chance spells every token some day.
        self.store.guard().check(ObjectType::Commit, &bytes)?;
        self.keep(ObjectType::Commit, self.store.signed(bytes, &spec.author)?).map(CommitId)
    }

    pub(super) fn tree(&self, bytes: Vec<u8>) -> Result<TreeId, StoreError> {
        self.add(ObjectType::Tree, bytes).map(TreeId)
    }

    /// The lowest point: every object of a batch is looked at here, or before it is signed.
    pub(super) fn add(&self, kind: ObjectType, bytes: Vec<u8>) -> Result<Oid, StoreError> {
        self.store.guard().check(kind, &bytes)?;
        self.keep(kind, bytes)
    }

    fn keep(&self, kind: ObjectType, bytes: Vec<u8>) -> Result<Oid, StoreError> {
        let id = Oid::hash_object(kind, &bytes).map_err(|e| StoreError::git(format!("hash of a {kind}"), e))?;
        self.store.pending.borrow_mut().entry(id).or_insert_with(|| (kind, Arc::from(bytes)));
        Ok(id)
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.store.pending.borrow().is_empty()
    }

    /// Takes the batch out instead of publishing it: another thread's writer publishes it with its own.
    pub fn take(self) -> Batch {
        Batch(self.store.pending.take())
    }

    /// Adds what another writer gathered.
    pub fn add_batch(&self, batch: &Batch) {
        let mut pending = self.store.pending.borrow_mut();
        for (id, (kind, bytes)) in &batch.0 {
            pending.entry(*id).or_insert_with(|| (*kind, Arc::clone(bytes)));
        }
    }

    /// Writes the batch as one pack with its index and waits until both and their folder are on disk.
    ///
    /// Until refs name the batch's last commits, a `.keep` file saves the pack from `git gc --prune=now` and
    /// `git repack -ad`, which would take it for rubbish. The store withdraws it in [`Store::update_refs`], at the
    /// latest when it is dropped. The files appear in git's own order: keep, pack, index. A `git gc` that sees an index
    /// without its pack removes it.
    ///
    /// After an error nothing of the batch may be relied on; no ref names it, so the state is the old one.
    pub fn publish(self) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        let pending = self.store.pending.borrow();
        let mut objects: Vec<(Oid, ObjectType, &[u8])> =
            pending.iter().map(|(id, (kind, bytes))| (*id, *kind, &**bytes)).collect();
        objects.sort_unstable_by_key(|(id, ..)| *id);
        let folder = self.store.common.join("objects/pack");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let whole = WholePack::of(&objects)?;
        let appear = || -> Result<Keep, StoreError> {
            let pack = whole.write(&folder)?;
            let keep = Keep::new(pack.place("keep"), &pending)?;
            pack.appear().map(|()| keep)
        };
        let mut kept = appear();
        for _ in 1..WRITES {
            match &kept {
                Err(StoreError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    kept = appear()
                }
                _ => break,
            }
        }
        self.store.kept.borrow_mut().push(kept?);
        for (id, (kind, bytes)) in pending.iter() {
            self.store.recent.put(*id, (*kind, Arc::clone(bytes)), bytes.len());
        }
        self.store.list_packs().map_err(|e| StoreError::git("new pack", e))
    }
}

/// Objects that a writer gathered, and that are nowhere else yet.
#[derive(Clone)]
#[must_use = "objects that are not published are lost"]
pub struct Batch(pub(super) Pending);

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Batch of {} objects", self.0.len())
    }
}

/// Git's own way to save a pack that no ref names yet: `pack-<name>.keep`. Locked while it is meant, so that one whose
/// writer was killed is known.
pub(super) struct Keep {
    path: PathBuf,
    _file: File,
    /// The batch's commits that are no parents of others in it, and that no ref names yet.
    tips: HashSet<Oid>,
}

impl Keep {
    fn new(path: PathBuf, pending: &Pending) -> Result<Self, StoreError> {
        let mut file = File::create(&path).map_err(StoreError::file(&path))?;
        // Only another writer of the very same pack can hold it; it saves the pack as well.
        let _ = FileExt::try_lock_exclusive(&file);
        file.write_all(KEEP_TEXT.as_bytes()).map_err(StoreError::file(&path))?;
        let commits = || pending.iter().filter(|(_, (kind, _))| *kind == ObjectType::Commit);
        let mut tips: HashSet<Oid> = commits().map(|(id, _)| *id).collect();
        for (id, (_, bytes)) in commits() {
            for parent in parse(CommitId(*id), bytes).into_iter().flat_map(|commit| commit.parents) {
                tips.remove(&parent.0);
            }
        }
        Ok(Self { path, _file: file, tips })
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// A ref names the commit now.
    pub(super) fn named(&self, commit: CommitId) {
        self.kept.borrow_mut().retain_mut(|keep| !(keep.tips.remove(&commit.0) && keep.tips.is_empty()));
    }
}

impl Drop for ObjectWriter<'_> {
    fn drop(&mut self) {
        self.store.pending.borrow_mut().clear();
        self.store.writing.set(false);
    }
}

#[cfg(test)]
mod tests {
    use crate::store::sandbox::{Sandbox, commit_on, spec, write};
    use crate::store::{BlobId, RefChange, RefOutcome, StoreError};

    fn packs(sandbox: &Sandbox) -> usize {
        let folder = std::fs::read_dir(sandbox.path().join(".git/objects/pack")).unwrap();
        folder.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
    }

    #[test]
    fn a_batch_is_one_pack_of_exactly_its_objects() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let before = packs(&sandbox);
        let parent = store.need_tip(store.wake()).unwrap();
        let edits = (0..20).map(|n| write(&format!("network/neurons/ab/c/n{n}.json"), &format!("{n}\n"))).collect();
        let commit = commit_on(&store, parent, edits);
        assert_eq!(packs(&sandbox), before + 1);
        let counted = sandbox.git(&["count-objects", "-v"]);
        assert!(counted.contains("count: 0\n"), "no loose objects: {counted}");
        // The first commit: 4 blobs, 6 folders, itself. This one: 20 blobs, 5 folders, itself.
        assert!(counted.contains(&format!("in-pack: {}\n", 11 + 26)), "{counted}");
        assert_eq!(
            sandbox.git(&["log", "-1", "--format=%an <%ae> %cn", &commit.to_string()]).trim(),
            "memory <memory@git-brain.invalid> Ann"
        );
        sandbox.git(&["branch", "look", &commit.to_string()]);
        sandbox.fsck();
    }

    #[test]
    fn a_batch_is_readable_at_once_and_leaves_nothing_when_dropped() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let before = packs(&sandbox);
        let parent = store.need_tip(store.wake()).unwrap();
        let writer = store.writer().unwrap();
        assert!(matches!(store.writer().err(), Some(StoreError::BatchOpen)));
        let tree = writer.edit(None, vec![write("a", "unpublished")]).unwrap();
        let commit = writer.commit(&spec(tree, &[parent], "x", &[])).unwrap();
        assert_eq!(store.read(store.tree_of(commit).unwrap(), "a").unwrap().unwrap(), b"unpublished");
        drop(writer);
        assert!(matches!(store.commit(commit), Err(StoreError::Missing { .. })));
        assert_eq!(packs(&sandbox), before);
        // The same tree again is written again, not taken for stored.
        let commit = commit_on(&store, parent, vec![write("a", "unpublished")]);
        sandbox.git(&["branch", "look", &commit.to_string()]);
        sandbox.fsck();
    }

    #[test]
    fn a_batch_that_was_taken_is_published_by_another_writer_with_its_own() {
        let sandbox = Sandbox::brain();
        let (store, other) = (sandbox.store(), sandbox.store());
        let before = packs(&sandbox);
        let parent = store.need_tip(store.wake()).unwrap();
        let writer = other.writer().unwrap();
        let tree = writer.edit(None, vec![write("a", "x")]).unwrap();
        let run = writer.commit(&spec(tree, &[parent], "run", &[])).unwrap();
        let batch = writer.take();
        assert!(matches!(other.commit(run), Err(StoreError::Missing { .. })));
        let writer = store.writer().unwrap();
        writer.add_batch(&batch);
        assert_eq!(store.merge_bases(parent, run).unwrap(), [parent]);
        let merge = writer.commit(&spec(store.tree_of(run).unwrap(), &[parent, run], "merge", &[])).unwrap();
        writer.publish().unwrap();
        assert_eq!(packs(&sandbox), before + 1);
        sandbox.git(&["branch", "look", &merge.to_string()]);
        assert!(store.is_ancestor(run, merge).unwrap());
        sandbox.fsck();
    }

    #[test]
    fn what_no_ref_names_yet_survives_a_reckless_repack() {
        let sandbox = Sandbox::brain();
        let keeps = || {
            let folder = std::fs::read_dir(sandbox.path().join(".git/objects/pack")).unwrap();
            folder.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "keep")).count()
        };
        assert_eq!(keeps(), 0);
        let store = sandbox.store();
        let old = store.need_tip(store.wake()).unwrap();
        let new = commit_on(&store, old, vec![write("a", "1")]);
        sandbox.git(&["repack", "-adq"]);
        sandbox.git(&["gc", "-q", "--prune=now"]);
        let changes = [RefChange::advance(store.wake().clone(), old, new)];
        assert!(matches!(store.update_refs(&changes, "test").unwrap(), RefOutcome::Done { .. }));
        assert_eq!(keeps(), 0, "withdrawn when a ref names it");
        sandbox.git(&["gc", "-q", "--prune=now"]);
        sandbox.fsck();
        commit_on(&store, new, vec![write("a", "2")]);
        assert_eq!(keeps(), 1);
        drop(store);
        assert_eq!(keeps(), 0, "and with the store");
    }

    #[test]
    fn trailers_are_read_by_git() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let writer = store.writer().unwrap();
        let tree = writer.edit(None, vec![write("a", "x")]).unwrap();
        let mut spec = spec(tree, &[], "run: tea", &[("Agent", "memory"), ("Run", "r1"), ("Run", "r2\nRun: forged")]);
        spec.body = "Two words.\n\nRun: not a trailer\n---\n# neither".into();
        let commit = writer.commit(&spec).unwrap();
        writer.publish().unwrap();
        let id = commit.to_string();
        let runs = sandbox.git(&["log", "-1", "--format=%(trailers:key=Run,valueonly)", &id]);
        assert_eq!(runs.trim().lines().collect::<Vec<_>>(), ["r1", "r2\\nRun: forged"]);
        assert_eq!(store.commit(commit).unwrap().trailer_values("Run").collect::<Vec<_>>(), ["r1", "r2\nRun: forged"]);
    }

    #[test]
    fn a_missing_object_is_named() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let id = BlobId::parse("0123456789012345678901234567890123456789").unwrap();
        assert!(matches!(store.blob(id), Err(StoreError::Missing { what: "blob", .. })));
        let tree = store.tree_of(store.need_tip(store.wake()).unwrap()).unwrap();
        assert!(matches!(store.blob(BlobId(tree.0)), Err(StoreError::BadObject { .. })));
    }
}
