//! Seams: merges that add nothing. Where two lines of history have one tree, their merge follows from its two parents to the byte, so
//! every machine makes the same commit, and machines that sync with several remotes come to rest.
//!
//! Parents stand in the order of their ids, the date is the later one of theirs, author and committer are git-brain itself. No machine
//! signs a seam: whoever has its parents can make it, so it says no more than they do.

use git2::ObjectType;

use super::commit::{CommitSpec, FALLBACK_EMAIL, FALLBACK_NAME};
use super::{Author, Commit, CommitId, ObjectWriter, Store, StoreError};

/// The subject of a seam.
const SUBJECT: &str = "seam: two lines of history have one tree";

impl ObjectWriter<'_> {
    /// Adds the seam of two commits; `None`: their trees differ.
    pub fn seam(&self, one: CommitId, other: CommitId) -> Result<Option<CommitId>, StoreError> {
        let bytes = self.store.seam_of(one, other)?;
        bytes.map(|bytes| self.add(ObjectType::Commit, bytes).map(CommitId)).transpose()
    }
}

impl Store {
    /// Whether a commit is the seam of its parents.
    pub fn is_seam(&self, commit: &Commit) -> Result<bool, StoreError> {
        let [one, other] = commit.parents[..] else { return Ok(false) };
        if commit.subject() != SUBJECT {
            return Ok(false);
        }
        let Some(bytes) = self.seam_of(one, other)? else { return Ok(false) };
        let id = git2::Oid::hash_object(ObjectType::Commit, &bytes);
        Ok(id.map_err(|e| StoreError::git("hash of a commit", e))? == commit.id.0)
    }

    /// Whether two commits differ by seams alone, and the one here is not the one that goes on: of the two, that is the one with the smaller id.
    /// If both sides made seams, three machines could make new ones for ever.
    pub fn leaves_seam(&self, here: CommitId, there: CommitId) -> Result<bool, StoreError> {
        if here.to_string() <= there.to_string() || self.tree_of(here)? != self.tree_of(there)? {
            return Ok(false);
        }
        for (tip, other) in [(here, there), (there, here)] {
            for id in self.commits_beyond(tip, &[other])? {
                if !self.is_seam(&self.commit(id)?)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn seam_of(&self, one: CommitId, other: CommitId) -> Result<Option<Vec<u8>>, StoreError> {
        let mut parents = [self.commit(one)?, self.commit(other)?];
        parents.sort_by_key(|parent| parent.id.to_string());
        if parents[0].tree != parents[1].tree || one == other {
            return Ok(None);
        }
        let spec = CommitSpec {
            tree: parents[0].tree,
            parents: parents.iter().map(|parent| parent.id).collect(),
            author: Author::User,
            at: parents[0].committed.max(parents[1].committed),
            subject: SUBJECT.to_owned(),
            body: String::new(),
            trailers: Vec::new(),
        };
        spec.encode(&(FALLBACK_NAME.to_owned(), FALLBACK_EMAIL.to_owned())).map(Some)
    }
}
