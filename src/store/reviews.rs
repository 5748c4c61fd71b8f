//! The ref of reviews: a chain of commits beside the branches, whose tree only ever gets files more.

use std::path::PathBuf;

use git2::ErrorCode;

use super::cache::write_whole;
use super::disk::discard;
use super::remote::REVIEWS;
use super::{CommitId, PushOutcome, Pushed, Remote, Store, StoreError};

impl Store {
    /// The newest commit of the reviews; `None`: nobody has decided on anything.
    pub fn reviews(&self) -> Result<Option<CommitId>, StoreError> {
        match self.incoming_reviews.get() {
            Some(incoming) => Ok(Some(incoming)),
            None if self.lacks_reviews.get() => Ok(None),
            None => self.ref_target(REVIEWS),
        }
    }

    /// Reads no decisions any more, because their ref names what holds none.
    pub fn go_on_without_reviews(&self) {
        self.lacks_reviews.set(true);
    }

    /// Whether a decision was here before a push that is judged.
    pub fn knows_review(&self, path: &str) -> Result<bool, StoreError> {
        let Some(known) = self.ref_target(REVIEWS)? else { return Ok(false) };
        Ok(self.file(self.tree_of(known)?, path)?.is_some())
    }

    /// Takes the decisions of a push that is judged for those that are known: wake may rest on them.
    pub fn expect_reviews(&self, incoming: CommitId) {
        self.incoming_reviews.set(Some(incoming));
    }

    /// Moves the reviews by compare-and-swap; false where another process was faster. Publish the objects first. A lock of git's that a
    /// killed process left is removed once it is old: nothing holds one for seconds.
    pub fn advance_reviews(&self, expected: Option<CommitId>, new: CommitId) -> Result<bool, StoreError> {
        if expected.is_none()
            && let Some(other) = self.in_the_way_here(REVIEWS)?
        {
            return Err(StoreError::InTheWay { name: REVIEWS.to_owned(), other });
        }
        if self.is_rehearsal() {
            let is_expected = self.ref_target(REVIEWS)? == expected;
            return Ok(is_expected && self.move_rehearsed(REVIEWS, Some(new)));
        }
        self.outwait(REVIEWS);
        let log = "git-brain: review";
        let moved = self.with(|r| match expected {
            None => r.reference(REVIEWS, new.0, false, log).map(|_| ()),
            Some(old) => r.reference_matching(REVIEWS, new.0, true, old.0, log).map(|_| ()),
        });
        match moved {
            Ok(()) => {
                self.named(new);
                Ok(true)
            }
            Err(e)
                if matches!(
                    e.code(),
                    ErrorCode::Modified | ErrorCode::Exists | ErrorCode::Locked | ErrorCode::NotFound
                ) =>
            {
                Ok(false)
            }
            Err(e) => Err(StoreError::git(REVIEWS, e)),
        }
    }

    /// Marks a decision as under way on this machine, so that what a kill leaves of it is found.
    pub fn begin_decision(&self, which: &[u8]) -> Result<(), StoreError> {
        let path = self.begun_file();
        std::fs::create_dir_all(self.private_dir())
            .and_then(|()| write_whole(&path, which))
            .map_err(StoreError::file(&path))
    }

    /// The decision that is under way, or that a kill has left.
    pub fn begun_decision(&self) -> Option<Vec<u8>> {
        std::fs::read(self.begun_file()).ok()
    }

    /// Notes that nothing of that decision is left to do.
    pub fn end_decision(&self) {
        discard(&self.begun_file());
    }

    fn begun_file(&self) -> PathBuf {
        self.private_dir().join("decision")
    }

    /// Fetches the reviews of a remote, objects checked by git and durable.
    pub fn fetch_reviews(&self, remote: &Remote) -> Result<Option<CommitId>, StoreError> {
        self.fetch_ref(remote, REVIEWS, "reviews")
    }

    /// Makes branches of an empty remote, and the reviews beside them, all or nothing.
    pub fn push_with_reviews(&self, remote: &Remote, wishes: &[Pushed]) -> Result<PushOutcome, StoreError> {
        let mut refs: Vec<_> = wishes.iter().map(Pushed::parts).collect();
        refs.extend(self.reviews()?.map(|ours| (REVIEWS.to_owned(), None, Some(ours))));
        self.push_refs(remote, &refs)
    }

    /// Moves the reviews of a remote from what is expected there.
    pub fn push_reviews(
        &self,
        remote: &Remote,
        old: Option<CommitId>,
        new: CommitId,
    ) -> Result<PushOutcome, StoreError> {
        self.push_refs(remote, &[(REVIEWS.to_owned(), old, Some(new))])
    }
}
