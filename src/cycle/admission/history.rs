//! The judge over a history that is here already, for the audit: by main's own settings and definitions, each version of them, and by nothing
//! that this machine or this command says otherwise.

use std::collections::{BTreeSet, HashSet};

use super::run::Grounds;
use super::signing::Signing;
use super::{Door, Fault, Judge};
use crate::cycle::council::{DOCUMENT as COUNCIL_DOCUMENT, FOLDER as COUNCIL_FOLDER};
use crate::cycle::policy::secrets_of;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::AgentName;
use crate::model::layout;
use crate::model::{Agent, Settings};
use crate::store::{Branch, Commit, CommitId, Tips};

/// A version of what main says, and since when.
pub(in crate::cycle) struct Era {
    /// The commit of main that brought it.
    pub commit: CommitId,
    /// Its committer's time, seconds since 1970.
    pub since: i64,
    grounds: usize,
}

/// The judge of the gate, walking history.
pub(in crate::cycle) struct Historian<'c> {
    judge: Judge<'c>,
    /// Versions of main, oldest first.
    eras: Vec<Era>,
    roots: HashSet<CommitId>,
}

impl Cycle {
    /// The first fault for which sync would not take a commit that leads to a tip: wake, or the day of a night that wake has.
    pub(in crate::cycle) fn fault_of_landed(
        &self,
        id: CommitId,
        (tip, day): (CommitId, Option<CommitId>),
    ) -> Result<Option<Fault>, CycleError> {
        let store = &self.store;
        let mut tips: Tips = [(store.wake().clone(), store.need_tip(store.wake())?)].into_iter().collect();
        tips.extend(store.tip(store.main())?.map(|main| (store.main().clone(), main)));
        if let Some(day) = day {
            tips.insert(Branch::parse("day")?, day);
        }
        let mut historian = self.historian(&tips)?;
        // Sync asks nobody for secrets.
        historian.judge.secrets = None;
        Ok(historian.commit(id, tip)?.into_iter().next())
    }

    /// A judge over the history behind those tips.
    pub(in crate::cycle) fn historian(&self, tips: &Tips) -> Result<Historian<'_>, CycleError> {
        let store = &self.store;
        let mut judge = self.judge_at(tips, &[], &Door::Merge)?;
        judge.signing = match store.requires_signatures()? {
            true => Some(Signing { since: store.signed_since()?, lets_other_keys: false }),
            false => None,
        };
        (judge.had, judge.before) = (None, None);
        judge.fixed_clock = false;
        judge.is_audit = true;
        judge.grounds.clear();
        let (mut eras, mut last, mut roots) = (Vec::new(), None, HashSet::new());
        let main = store.need_tip(store.main())?;
        // One that cannot be read is told of, and says nothing.
        let line: Vec<Commit> =
            store.first_parents(main, None).take(limits::AUDIT_WALK).filter_map(Result::ok).collect();
        for commit in line.into_iter().rev() {
            if commit.parents.is_empty() {
                roots.insert(commit.id);
            }
            let said = (
                store.file(commit.tree, layout::SETTINGS)?.map(|file| file.blob),
                store.folder(commit.tree, layout::AGENTS)?,
                // Councils that decide are a part of what main says.
                store.file(commit.tree, COUNCIL_DOCUMENT)?.map(|file| file.blob),
                store.folder(commit.tree, COUNCIL_FOLDER)?,
            );
            if last != Some(said) {
                // Settings that cannot be read are a fault already, and no ground for anything.
                if let Ok(grounds) = Grounds::of_tree(store, commit.tree) {
                    // Clocks differ: a version is in force from the time of those before it on.
                    let since = eras.last().map_or(commit.committed, |era: &Era| era.since.max(commit.committed));
                    eras.push(Era { commit: commit.id, since, grounds: judge.grounds.len() });
                    judge.grounds.push(grounds);
                }
                last = Some(said);
            }
        }
        let allow = judge.grounds.last().map(|grounds| grounds.settings.secrets.allow.clone()).unwrap_or_default();
        judge.secrets = Some(secrets_of(&allow, &[])?);
        if judge.grounds.is_empty() {
            judge.grounds.push(Grounds::of_tree(store, store.tree_of(main)?)?);
        }
        Ok(Historian { judge, eras, roots })
    }
}

impl Historian<'_> {
    /// The faults of a commit that leads to that tip, as the gate has them.
    pub fn commit(&mut self, id: CommitId, tip: CommitId) -> Result<BTreeSet<Fault>, CycleError> {
        self.judge.commit(id)?;
        self.judge.still_missing(tip)?;
        self.judge.still_linked(tip)?;
        Ok(std::mem::take(&mut self.judge.faults))
    }

    /// The faults of a commit on main's own line.
    pub fn on_main(&mut self, id: CommitId) -> Result<BTreeSet<Fault>, CycleError> {
        let known = self.judge.grounds.len();
        self.judge.taken_by_main(id)?;
        // Each version of main is a ground already.
        self.judge.grounds.truncate(known);
        Ok(std::mem::take(&mut self.judge.faults))
    }

    /// Whether main names people who decide on runs.
    pub fn names_reviewers(&self) -> Result<bool, CycleError> {
        Ok(self.settings_now()?.is_some_and(|here| here.review.names_reviewers()))
    }

    /// The settings of main as it is.
    pub fn settings_now(&self) -> Result<Option<Settings>, CycleError> {
        Ok(self.judge.main.map(|main| self.judge.settings_of(main)).transpose()?.flatten())
    }

    /// The faults of what a commit of wake's own line brings, if those who decide did not approve it.
    ///
    /// Also of what a later commit took back: whether that settles it is another question.
    pub fn landing(&mut self, id: CommitId) -> Result<BTreeSet<Fault>, CycleError> {
        let Some(here) = self.settings_now()?.filter(|here| here.review.names_reviewers()) else {
            return Ok(BTreeSet::new());
        };
        let commit = self.judge.cycle.store.commit(id)?;
        if let Some(parent) = commit.parents.first().copied() {
            self.judge.landing(&commit, parent, (&here, id), true)?;
        }
        Ok(std::mem::take(&mut self.judge.faults))
    }

    /// Since when each version of main is in force, oldest first.
    pub fn times(&self) -> Vec<(String, i64)> {
        self.eras.iter().map(|era| (era.commit.to_string(), era.since)).collect()
    }

    /// Whether a commit begins the history of main.
    pub fn is_root(&self, id: CommitId) -> bool {
        self.roots.contains(&id)
    }

    /// The versions of main between two times, with those that a clock may have met which differs as far as admission tolerates; and which of them was
    /// in force at the second.
    pub fn eras_around(&self, from: i64, until: i64) -> (&[Era], usize) {
        let known = |at: i64| self.eras.partition_point(|era| era.since <= at).max(1).min(self.eras.len());
        let (begin, end) =
            (known(from - limits::FUTURE_SECONDS).saturating_sub(1), known(until + limits::FUTURE_SECONDS));
        let begin = begin.min(end);
        (&self.eras[begin..end], known(until).saturating_sub(1).max(begin) - begin)
    }

    /// The settings and definitions of main between two times, those in force at the first included.
    pub fn eras_between(&self, from: i64, until: i64) -> &[Era] {
        let end = self.eras.partition_point(|era| era.since <= until).max(1).min(self.eras.len());
        // Whoever commits in the same second, or by a clock that runs a little behind, met either.
        let begin = self.eras[..end].partition_point(|era| era.since <= from.saturating_sub(1)).saturating_sub(1);
        &self.eras[begin.min(end)..end]
    }

    /// The definition of an agent in that version of main.
    pub fn agent(&self, era: &Era, name: &AgentName) -> Option<&Agent> {
        self.judge.grounds.get(era.grounds)?.agent(name)
    }

    /// The settings of that version.
    pub fn settings(&self, era: &Era) -> Option<&Settings> {
        self.judge.grounds.get(era.grounds).map(|grounds| &grounds.settings)
    }

    /// Whether a run's commit is the run where it was made: `None` where it is none of an agent.
    pub fn run_in_place(
        &self,
        commit: &Commit,
        parent: CommitId,
        records: &[crate::model::ids::RunId],
    ) -> Result<Option<crate::delta::RunRecord>, CycleError> {
        self.judge.in_place(commit, parent, records)
    }
}
