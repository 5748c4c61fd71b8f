//! Two mains and two wakes become one of each.
//!
//! *Main is an audit log*: one line of commits, and never two histories side by side. The main that was pushed first
//! stands. Whoever comes later gives up its own: a sleep's S stays as a rescue ref, and its effects are in wake, so that
//! the next sleep brings them to main and its log includes them. What people committed on the main that is given up:
//! settings, agents and hooks become one commit upon the other main, by the three-way rule (both changed the same file: a
//! conflict, and nothing moves); what they changed in the network is merged into wake, like any sleep's effects.
//!
//! *Wakes merge* by the typed merge from their real merge base. The first parent is the side that has the newest sleep of
//! main, so that who walks wake back finds it. Outside the network, wake has what main has.

use super::{Synced, remedy};
use crate::cycle::merge::{Candidate, conflict_of, decision_lines, edits_of, in_words};
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::merge::{Options, Outcome};
use crate::model::{layout, plural};
use crate::store::{
    Author, Branch, Change, CommitId, CommitSpec, FileChange, LockName, ObjectWriter, RefChange, RefOutcome, Remote,
    Tips, TreeEdit, TreeId,
};

/// The beginning of the subject of a merge of two wakes.
const JOINS: &str = "sync: ";

/// Where main and wake are after a sync.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub main: CommitId,
    pub wake: CommitId,
}

/// A main that is given up, and what stands instead.
struct Chosen {
    main: CommitId,
    /// The old tip here, if the new one does not descend from it.
    given_up: Option<CommitId>,
}

impl Cycle {
    /// Whether another commit of a candidate's run waits for a person at a remote.
    fn waits_there(&self, candidate: &Candidate, there: Option<&CommitId>) -> Result<bool, CycleError> {
        match (there, &candidate.run) {
            (Some(there), Some(run)) if *there != candidate.commit => self.is_held(*there, run),
            _ => Ok(false),
        }
    }

    /// (3) Moves main and wake to what both sides have together.
    pub(super) fn join(&self, theirs: &Tips, synced: &mut Synced) -> Result<Joined, CycleError> {
        // What a killed process left on branches goes along, unless what comes in has another record of it.
        let mut coming = Vec::new();
        for branch in [self.store.main(), self.store.wake()] {
            coming.extend(theirs.get(branch).map(|tip| self.store.tree_of(*tip)).transpose()?);
        }
        let mut pending = Vec::new();
        for candidate in self.pending()? {
            match &candidate.branch {
                Some(branch) if self.is_rejected_in(branch, &coming)? => {}
                Some(branch) if self.is_second_record(branch, candidate.commit, &coming)? => {
                    synced.note(super::remedy::second_record(branch, self.store.wake()));
                }
                // Whoever rewrites a commit here decides nothing: what waits there is looked at there.
                Some(branch) if self.waits_there(&candidate, theirs.get(branch))? => {
                    synced.note(format!(
                        "{branch} was left alone: the other side has another commit of that run, which waits for a decision: \
                         `git branch -D {branch}` here, and the next sync brings that one"
                    ));
                }
                _ => pending.push(candidate),
            }
        }
        if !pending.is_empty() {
            self.merge_judged(pending, false, false)?;
        }
        let _trunk = self.store.lock(LockName::Trunk)?;
        loop {
            let here =
                Joined { main: self.store.need_tip(self.store.main())?, wake: self.store.need_tip(self.store.wake())? };
            let writer = self.store.writer()?;
            let (joined, given_up) = self.joined(&writer, here, theirs)?;
            writer.publish()?;
            // Kept before main leaves it.
            given_up.map(|old| self.store.rescue(old)).transpose()?;
            let mut changes = Vec::new();
            for (branch, old, new) in
                [(self.store.wake(), here.wake, joined.wake), (self.store.main(), here.main, joined.main)]
            {
                if old != new {
                    changes.push(RefChange::advance(branch.clone(), old, new));
                }
            }
            match self.store.update_refs(&changes, "git-brain: sync")? {
                RefOutcome::Done { left } => {
                    synced.left.extend(left);
                    synced.rescued = given_up.or(synced.rescued);
                    self.take_over_waiting(theirs, joined.wake, synced)?;
                    return Ok(joined);
                }
                RefOutcome::Modified { .. } => continue,
            }
        }
    }

    /// Whether one of those trees says that a run was thrown away.
    fn is_rejected_in(&self, branch: &Branch, trees: &[TreeId]) -> Result<bool, CycleError> {
        for tree in trees {
            if self.is_rejected(*tree, branch)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn joined(
        &self,
        writer: &ObjectWriter<'_>,
        here: Joined,
        theirs: &Tips,
    ) -> Result<(Joined, Option<CommitId>), CycleError> {
        let store = &self.store;
        let their_main = theirs.get(store.main()).copied();
        let chosen = self.chosen_main(writer, here.main, their_main)?;
        let mut wake = here.wake;
        if let Some(old) = chosen.given_up {
            wake = self.with_main(writer, wake, old)?;
        }
        if let Some(their_wake) = theirs.get(store.wake()).copied() {
            let ours_is_newer = match their_main {
                Some(theirs) => theirs != here.main && store.is_ancestor(theirs, here.main)?,
                None => true,
            };
            wake = self.joined_wake(writer, (wake, their_wake), ours_is_newer, chosen.main)?;
        }
        let wake = self.with_main(writer, wake, chosen.main)?;
        Ok((Joined { main: chosen.main, wake }, chosen.given_up))
    }

    /// The tip of a trunk at a remote after a push: its own tip, where that and the one here stay beside each other.
    pub(super) fn trunk_there(&self, theirs: &Tips, branch: &Branch, here: CommitId) -> Result<CommitId, CycleError> {
        match theirs.get(branch) {
            Some(there) if !self.store.is_ancestor(*there, here)? => Ok(*there),
            _ => Ok(here),
        }
    }

    /// Whether main here stays beside that of a remote, which has not moved: another remote has it, they differ by nights alone, wake has both,
    /// and the remote is not the one that is synced with by default.
    pub(super) fn main_stays(&self, remote: &Remote, theirs: CommitId) -> Result<bool, CycleError> {
        let store = &self.store;
        let (here, wake) = (store.need_tip(store.main())?, store.need_tip(store.wake())?);
        let is_own = store.remote(None).is_ok_and(|own| own.name == remote.name);
        if is_own || here == theirs || store.is_ancestor(theirs, here)? || store.is_ancestor(here, theirs)? {
            return Ok(false);
        }
        Ok(store.is_ancestor(theirs, wake)?
            && self.other_line(remote, here, theirs)?.is_some()
            && self.outside_network(store.tree_of(theirs)?, store.tree_of(here)?)?.is_empty())
    }

    fn chosen_main(
        &self,
        writer: &ObjectWriter<'_>,
        ours: CommitId,
        theirs: Option<CommitId>,
    ) -> Result<Chosen, CycleError> {
        let store = &self.store;
        let Some(theirs) = theirs else { return Ok(Chosen { main: ours, given_up: None }) };
        if store.is_ancestor(theirs, ours)? {
            return Ok(Chosen { main: ours, given_up: None });
        }
        if store.is_ancestor(ours, theirs)? {
            return Ok(Chosen { main: theirs, given_up: None });
        }
        let Some(base) = store.merge_bases(ours, theirs)?.first().copied() else {
            return Err(another_brain(store.main().as_str()));
        };
        let (base_tree, our_tree, their_tree) = (store.tree_of(base)?, store.tree_of(ours)?, store.tree_of(theirs)?);
        let chosen = |main| Ok(Chosen { main, given_up: Some(ours) });
        let (tree, clashes) = writer.outside_merged(base_tree, their_tree, our_tree)?;
        if !clashes.is_empty() {
            let paths: Vec<String> = clashes.iter().map(|clash| clash.path.clone()).collect();
            let conflicts: Vec<_> =
                clashes.into_iter().map(|clash| conflict_of(store, clash)).collect::<Result<_, _>>()?;
            return Err(CycleError::Refused {
                message: format!("{} was changed here and there: {}", store.main(), in_words(&conflicts)),
                hint: Some(remedy::changed_twice(store.main(), ours, theirs, &paths)),
            });
        }
        if tree == their_tree {
            return chosen(theirs);
        }
        let subject = |several: usize| format!("sync: {several} changes of settings and agents");
        chosen(self.replayed(writer, tree, theirs, (ours, base), &subject)?)
    }

    /// A commit of a tree upon `parent` that stands for what people committed on main from `base` to `tip`: their own subject where it is
    /// one, else `subject` of how many.
    pub(super) fn replayed(
        &self,
        writer: &ObjectWriter<'_>,
        tree: TreeId,
        parent: CommitId,
        (tip, base): (CommitId, CommitId),
        subject: &dyn Fn(usize) -> String,
    ) -> Result<CommitId, CycleError> {
        let (subjects, replayed) = self.people_said(tip, base)?;
        let mut trailers: Vec<_> = replayed.iter().map(|id| ("Replays".to_owned(), id.to_string())).collect();
        trailers.extend(self.shared.clock_trailer());
        Ok(writer.commit(&CommitSpec {
            tree,
            parents: vec![parent],
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject: match subjects.as_slice() {
                [one] => one.clone(),
                several => subject(several.len()),
            },
            body: if subjects.len() > 1 { subjects.join("\n") } else { String::new() },
            trailers,
        })?)
    }

    /// Subjects and ids of the commits of main that change what lies outside the network, oldest first.
    fn people_said(&self, tip: CommitId, base: CommitId) -> Result<(Vec<String>, Vec<CommitId>), CycleError> {
        let mut found = (Vec::new(), Vec::new());
        for commit in self.store.first_parents(tip, Some(base)).take(limits::HISTORY_WALK) {
            let commit = commit?;
            let Some(parent) = commit.parents.first() else { break };
            if self.store.is_ancestor(commit.id, base)? {
                break;
            }
            if !self.outside_network(self.store.tree_of(*parent)?, commit.tree)?.is_empty() {
                found.0.insert(0, commit.subject().to_owned());
                found.1.insert(0, commit.id);
            }
        }
        Ok(found)
    }

    fn outside_network(&self, old: TreeId, new: TreeId) -> Result<Vec<FileChange>, CycleError> {
        let network = |tree| self.store.folder(tree, layout::NETWORK);
        let mut changes = self.store.diff(Some(old), Some(new), "")?;
        if network(old)? != network(new)? {
            changes.retain(|change| !change.path.starts_with("network/"));
        }
        Ok(changes)
    }

    fn joined_wake(
        &self,
        writer: &ObjectWriter<'_>,
        (ours, theirs): (CommitId, CommitId),
        ours_is_newer: bool,
        main: CommitId,
    ) -> Result<CommitId, CycleError> {
        let store = &self.store;
        if store.is_ancestor(theirs, ours)? {
            return Ok(ours);
        }
        if store.is_ancestor(ours, theirs)? {
            return Ok(theirs);
        }
        if store.is_ancestor(main, ours)? && store.leaves_seam(ours, theirs)? {
            return Ok(ours);
        }
        let (first, second) = if ours_is_newer { (ours, theirs) } else { (theirs, ours) };
        let Some(base) = self.base_of(writer, first, second)? else {
            return Err(another_brain(store.wake().as_str()));
        };
        let (left, right) = (store.tree_of(first)?, store.tree_of(second)?);
        let options = Options::default();
        let outcome = decided(self.merge_trees(base, left, right, options)?, ours_is_newer)?;
        let merged = writer.edit(Some(left), edits_of(&outcome))?;
        let mut tree = merged;
        if let Some(network) = store.folder(merged, layout::NETWORK)? {
            let put = TreeEdit { path: layout::NETWORK.to_owned(), change: Change::PutFolder(network) };
            tree = writer.edit(Some(store.tree_of(main)?), vec![put])?;
        }
        // A merge that adds nothing is the same commit on every machine: else two remotes would never have one wake.
        if tree == left
            && let Some(seam) = writer.seam(first, second)?
        {
            return Ok(seam);
        }
        let brought = plural(outcome.brought.len(), "run", "runs");
        self.wake_commit(writer, tree, [first, second], format!("{JOINS}{brought} of another machine"), &outcome)
    }

    /// Wake with what main has, if it has not.
    pub(super) fn with_main(
        &self,
        writer: &ObjectWriter<'_>,
        wake: CommitId,
        main: CommitId,
    ) -> Result<CommitId, CycleError> {
        let store = &self.store;
        if store.is_ancestor(main, wake)? {
            return Ok(wake);
        }
        let Some(base) = self.base_of(writer, wake, main)? else {
            return Err(another_brain(store.main().as_str()));
        };
        let (left, right) = (store.tree_of(wake)?, store.tree_of(main)?);
        let options = Options::default();
        let outcome = decided(self.merge_trees(base, left, right, options)?, true)?;
        let tree = writer.network_beside(writer.edit(Some(left), edits_of(&outcome))?, right)?;
        let subject = format!("merge {}", store.commit(main)?.subject());
        self.wake_commit(writer, tree, [wake, main], subject, &outcome)
    }

    fn wake_commit(
        &self,
        writer: &ObjectWriter<'_>,
        tree: TreeId,
        parents: [CommitId; 2],
        subject: String,
        outcome: &Outcome,
    ) -> Result<CommitId, CycleError> {
        let newest = [self.newest_run(parents[0])?, self.newest_run(parents[1])?].into_iter().flatten().max();
        let brought = &outcome.brought[..outcome.brought.len().min(limits::NAMED_RUNS)];
        Ok(writer.commit(&CommitSpec {
            tree,
            parents: parents.to_vec(),
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject,
            body: decision_lines(&outcome.decisions),
            trailers: self.merge_trailers(None, brought, newest.as_ref(), None),
        })?)
    }
}

/// Most commits that are looked at for words that gave way.
const LOOKED_AT: usize = 1024;

impl Cycle {
    /// Words of one machine that gave way to words of another since a wake: a line for each, as the merges say it.
    pub fn words_that_gave_way(&self, before: CommitId, now: CommitId) -> Result<Vec<String>, CycleError> {
        let mut told = Vec::new();
        // A first meeting brings a whole life, and nobody asks for its notes.
        let Ok(came) = self.store.commits_within(now, &[before], LOOKED_AT) else { return Ok(told) };
        for id in came {
            let commit = self.store.commit(id)?;
            let is_join = commit.parents.len() > 1 && commit.subject().starts_with(JOINS);
            let lines = commit.message.lines().skip(1).filter(|line| is_join && line.contains(" concept: base "));
            told.extend(
                lines.map(|line| format!("two machines gave a memory other words, and the later run's stand: {line}")),
            );
        }
        Ok(told)
    }
}

/// A merge that left nothing to a person.
fn decided(outcome: Outcome, left_is_ours: bool) -> Result<Outcome, CycleError> {
    if outcome.conflicts.is_empty() {
        return Ok(outcome);
    }
    Err(CycleError::Refused {
        message: format!("the policy leaves this to a person: {}", in_words(&outcome.conflicts)),
        hint: Some(super::remedy::undecided(&outcome.conflicts, left_is_ours)),
    })
}

fn another_brain(branch: &str) -> CycleError {
    CycleError::Refused {
        message: format!("{branch} here and {branch} there have no history in common: they are two brains"),
        hint: Some(
            "`git brain export` there and `git brain import` here bring the memories of another brain in".to_owned(),
        ),
    }
}
