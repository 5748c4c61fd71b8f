//! Writing objects: a batch gathered in memory and published as one pack.
//!
//! A pack of exactly the new objects needs three fsyncs however many objects it has, and half the time and a
//! quarter of the space of loose objects. libgit2's own `Mempack::dump` is not used: it packs the whole tree.
//!
//! The batch is this store's own map and not a memory backend on the repository's database. So writing costs no look
//! into the pack folder per object, a dropped batch leaves nothing behind (libgit2 would keep its trees in its
//! cache and think them stored), and what is published is exactly what was written.

use std::io::Write;
use std::sync::Arc;

use git2::{Buf, ObjectType, Odb, Oid, Repository};

use super::commit::CommitSpec;
use super::{BlobId, CommitId, Store, StoreError, TreeId};

/// Above every other backend of the in-memory database, which has no other.
const PRIORITY: i32 = 1000;

/// A batch of new objects, readable through its store at once, on disk after [`ObjectWriter::publish`].
#[must_use = "what is not published is lost"]
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
        self.add(ObjectType::Blob, content.to_vec()).map(BlobId)
    }

    /// Adds a commit.
    pub fn commit(&self, spec: &CommitSpec) -> Result<CommitId, StoreError> {
        let bytes = spec.encode(&self.store.user())?;
        self.add(ObjectType::Commit, bytes).map(CommitId)
    }

    pub(super) fn tree(&self, bytes: Vec<u8>) -> Result<TreeId, StoreError> {
        self.add(ObjectType::Tree, bytes).map(TreeId)
    }

    fn add(&self, kind: ObjectType, bytes: Vec<u8>) -> Result<Oid, StoreError> {
        let id = Oid::hash_object(kind, &bytes).map_err(|e| StoreError::git(format!("hash of a {kind}"), e))?;
        self.store.pending.borrow_mut().entry(id).or_insert_with(|| (kind, Arc::from(bytes)));
        Ok(id)
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.store.pending.borrow().is_empty()
    }

    /// Writes the batch as one pack with its index and waits until both and their folder are on disk.
    ///
    /// After an error nothing of the batch may be relied on; no ref names it, so the state is the old one.
    pub fn publish(self) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        let pack = self.pack().map_err(|e| StoreError::git("packing new objects", e))?;
        let repository = self.store.repository.borrow();
        let odb = repository.odb().map_err(|e| StoreError::git("object database", e))?;
        let folder = self.store.common.join("objects/pack");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let mut sink = odb.packwriter().map_err(|e| StoreError::git("new pack", e))?;
        sink.write_all(&pack).map_err(StoreError::file(&folder))?;
        sink.commit().map_err(|e| StoreError::git("new pack", e))?;
        Ok(())
    }

    fn pack(&self) -> Result<Buf, git2::Error> {
        let odb = Odb::new()?;
        odb.add_new_mempack_backend(PRIORITY)?;
        let pending = self.store.pending.borrow();
        for (kind, bytes) in pending.values() {
            odb.write(*kind, bytes)?;
        }
        let scratch = Repository::from_odb(odb)?;
        let mut builder = scratch.packbuilder()?;
        let mut ids: Vec<Oid> = pending.keys().copied().collect();
        ids.sort();
        for id in ids {
            builder.insert_object(id, None)?;
        }
        let mut buffer = Buf::new();
        builder.write_buf(&mut buffer)?;
        Ok(buffer)
    }
}

impl Drop for ObjectWriter<'_> {
    fn drop(&mut self) {
        self.store.pending.borrow_mut().clear();
        self.store.writing.set(false);
    }
}
