//! Taking the last sleep back: main gets the tree before it, and wake loses nothing but the consolidation.

use std::collections::BTreeMap;

use super::settle::Note;
use super::squash::settled;
use super::{Night, agent};
use crate::cycle::merge::edits_of;
use crate::cycle::trailers::{SLEEP_TRAILER, UNDOES_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::merge::{Options, Outcome};
use crate::model::ids::RunId;
use crate::model::settings::MergePolicy;
use crate::store::{Author, CommitId, CommitSpec, Left, LockName, ObjectWriter, Trailer, TreeId};

/// A sleep that was taken back.
#[derive(Debug)]
pub struct Undone {
    /// The sleep.
    pub run: RunId,
    /// S, which stays in main's history.
    pub squash: CommitId,
    /// Main's new tip.
    pub main: CommitId,
    /// Wake's new tip.
    pub wake: CommitId,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<Left>,
}

impl Cycle {
    /// Undoes the latest sleep not already undone. With `dry_run` it is only found.
    ///
    /// # Errors
    /// There is none; or the policy leaves a later change to a person.
    pub fn undo_sleep(&self, dry_run: bool) -> Result<Undone, CycleError> {
        let _sleep = (!dry_run).then(|| self.bedtime()).transpose()?;
        if !dry_run {
            self.settle_by_history()?;
        }
        let Some(night) = self.last_night()? else {
            return Err(CycleError::Usage { message: "there is no sleep to take back".to_owned(), hint: None });
        };
        let (run, squash) = (night.run.clone(), night.commit.id);
        if dry_run {
            let (main, wake) = (self.store.need_tip(self.store.main())?, self.store.need_tip(self.store.wake())?);
            return Ok(Undone { run, squash, main, wake, left: Vec::new() });
        }
        let snapshot = self.snapshot_to_return_to(&run, night.snapshot)?;
        let mut races = self.store.races(self.store.wake());
        loop {
            let trunk = self.store.lock(LockName::Trunk)?;
            let (main, wake) = (self.store.need_tip(self.store.main())?, self.store.need_tip(self.store.wake())?);
            let writer = self.store.writer()?;
            let (undo, back) = self.undo_commits(&writer, &night, snapshot, (main, wake))?;
            writer.publish()?;
            self.write_note(&Note::moving(&run, (wake, back), (main, undo), None).undoing())?;
            let moved = self.move_both((wake, back), (main, undo), "git-brain: sleep --undo")?;
            self.forget_note();
            if let Some(left) = moved {
                drop(trunk);
                self.tidy_up();
                return Ok(Undone { run, squash, main: undo, wake: back, left });
            }
            drop(trunk);
            races.lost()?;
        }
    }

    fn snapshot_to_return_to(&self, run: &RunId, snapshot: CommitId) -> Result<TreeId, CycleError> {
        let writer = self.store.writer()?;
        let tree = self.snapshot_tree(&writer, run, snapshot, &self.shared.policy.settings.origins)?;
        writer.publish()?;
        Ok(tree)
    }

    /// `left` without what led from `right` to `base`. Taking back is subtraction: `max` would keep what is to go, `right` would lose what was
    /// learnt since, so the brain's own policy is not asked.
    fn without(&self, base: TreeId, left: TreeId, right: TreeId, options: Options) -> Result<Outcome, CycleError> {
        settled(self.merge_trees_by(&MergePolicy::default(), base, left, right, options)?)
    }

    /// The base of a merge without the nights that each side took back by itself, so that they are taken back once.
    pub(in crate::cycle) fn without_nights_of_both(
        &self,
        writer: &ObjectWriter<'_>,
        base: TreeId,
        bases: &[CommitId],
        [left, right]: [CommitId; 2],
    ) -> Result<TreeId, CycleError> {
        // The branch of a run, and a side that has nothing of its own, take no night back.
        if bases == [left] || bases == self.store.commit(right)?.parents {
            return Ok(base);
        }
        let theirs = self.undone_beyond(right, left)?;
        if theirs.is_empty() {
            return Ok(base);
        }
        let mut tree = base;
        for (run, undo) in self.undone_beyond(left, right)?.into_iter().filter(|(run, _)| theirs.contains_key(run)) {
            let Some(night) = self.night_behind(&run, undo)? else { continue };
            // In the base it must be, and not taken back there.
            let (mut slept, mut taken_back) = (false, false);
            for base in bases {
                slept |= self.store.is_ancestor(night.commit.id, *base)?;
                taken_back |= self.took_back(*base, &night)?;
            }
            if !slept || taken_back {
                continue;
            }
            let snapshot =
                self.snapshot_tree(writer, &night.run, night.snapshot, &self.shared.policy.settings.origins)?;
            let options = Options { returning: true };
            let outcome = self.merge_trees_by(&MergePolicy::default(), night.commit.tree, tree, snapshot, options)?;
            if outcome.conflicts.is_empty() {
                tree = writer.edit(Some(tree), edits_of(&outcome))?;
            }
        }
        Ok(tree)
    }

    /// Whether the history of a tip of wake has the undoing of a night, whatever main says of it.
    pub(in crate::cycle) fn took_back(&self, wake: CommitId, night: &Night) -> Result<bool, CycleError> {
        Ok(self.undone_beyond(wake, night.commit.id)?.contains_key(night.run.to_string().as_str()))
    }

    /// The nights that wake took back in commits that another tip has not, each with the commit of main that did.
    fn undone_beyond(&self, tip: CommitId, other: CommitId) -> Result<BTreeMap<String, CommitId>, CycleError> {
        let mut found = BTreeMap::new();
        for id in self.store.commits_beyond(tip, &[other])?.into_iter().take(limits::HISTORY_WALK) {
            let commit = self.store.commit(id)?;
            if let (Some(run), [_, undo]) = (commit.trailer(UNDOES_TRAILER), &commit.parents[..]) {
                found.insert(run.to_owned(), *undo);
            }
        }
        Ok(found)
    }

    /// A sleep in the history of main behind a commit.
    fn night_behind(&self, run: &str, main: CommitId) -> Result<Option<Night>, CycleError> {
        for commit in self.store.first_parents(main, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            if commit.trailer(SLEEP_TRAILER) == Some(run) && commit.parents.len() == 1 {
                return super::night(commit).map(Some);
            }
        }
        Ok(None)
    }

    fn undo_commits(
        &self,
        writer: &ObjectWriter<'_>,
        night: &Night,
        snapshot: TreeId,
        (main, wake): (CommitId, CommitId),
    ) -> Result<(CommitId, CommitId), CycleError> {
        let slept = night.commit.tree;
        let parent = night.commit.parents.first().copied();
        let before = parent.map(|id| self.store.tree_of(id)).transpose()?;
        let before = before.ok_or_else(|| CycleError::Merge(format!("{} has no parent", night.commit.id)))?;
        let left = self.store.tree_of(main)?;
        let tree = if left == slept {
            before
        } else {
            writer.edit(Some(left), edits_of(&self.without(slept, left, before, Options::default())?))?
        };
        let newest = self.newest_run(wake)?;
        let commit = |tree, parents, subject: String, newest: Option<RunId>| {
            let mut trailers: Vec<Trailer> =
                vec![("Agent".to_owned(), agent().to_string()), (UNDOES_TRAILER.to_owned(), night.run.to_string())];
            trailers.extend(newest.map(|run| ("Newest-Run".to_owned(), run.to_string())));
            trailers.extend(self.shared.clock_trailer());
            let at = self.shared.world.commit_seconds();
            writer.commit(&CommitSpec {
                tree,
                parents,
                author: Author::User,
                at,
                subject,
                body: String::new(),
                trailers,
            })
        };
        let undo = commit(tree, vec![main], format!("sleep: undo {}", night.run), newest.clone())?;
        let left = self.store.tree_of(wake)?;
        // Where a main was given up that had its undoing, wake is without it already.
        let tree = match self.took_back(wake, night)? {
            true => left,
            false => {
                let options = Options { returning: true };
                writer.edit(Some(left), edits_of(&self.without(slept, left, snapshot, options)?))?
            }
        };
        let back = commit(tree, vec![wake, undo], format!("merge the undoing of {}", night.run), newest)?;
        Ok((undo, back))
    }
}
