//! Runs that come to wake: one that waited for a person lands with the approval of those whom the settings name, whatever way it takes.
//!
//! A merge of its branch, the branch itself, a copy of its commit or of its record are all the same here: wake gets a record of that run.
//! Whether it had to wait is read off its own commit where that is there, and off the rules that main had when it landed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::{Door, Fault, Judge, Kind};
use crate::cycle::commit::{branch_of, run_of};
use crate::cycle::council::{DOCUMENT as COUNCIL_DOCUMENT, FOLDER as COUNCIL_FOLDER};

use crate::cycle::{Cycle, CycleError};
use crate::delta::RunRecord;
use crate::limits;
use crate::model::Settings;
use crate::model::ids::{HUMAN, RunId};
use crate::model::layout::{self, Place};
use crate::review::rules::is_beside;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{Branch, Commit, CommitId, File, Tips};

impl Cycle {
    /// What is wrong with runs that wake here has already, such as those of a clone: they had to wait, and nobody who may has approved them.
    pub fn unapproved_here(&self) -> Result<Vec<Fault>, CycleError> {
        let (store, wake) = (&self.store, self.store.need_tip(self.store.wake())?);
        let mut judge = self.judge_at(&Tips::new(), &self.known()?, &Door::Merge)?;
        let Some(here) = judge.main.map(|main| judge.settings_of(main)).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        if !here.review.names_reviewers() {
            return Ok(Vec::new());
        }
        let mut at = store.commit(wake)?;
        while let Some(parent) = at.parents.first().copied() {
            judge.landing(&at, parent, (&here, wake), true)?;
            judge.reviewers(&at)?;
            at = store.commit(parent)?;
        }
        Ok(judge.faults.into_iter().collect())
    }
}

impl Judge<'_> {
    /// Judges what new commits of wake's own line bring.
    pub(super) fn landings(
        &mut self,
        branch: &Branch,
        tip: CommitId,
        fresh: &HashSet<CommitId>,
    ) -> Result<(), CycleError> {
        let (is_wake, is_main) = (branch == self.cycle.store.wake(), branch == self.cycle.store.main());
        if !is_wake && !is_main {
            return self.stacked(branch, tip);
        }
        if is_main {
            // What a night brings on main landed by what main had become.
            let was = self.main.replace(tip);
            let judged = self.landings_of_main(branch, tip);
            self.main = was;
            return judged;
        }
        // What main says now: with a push that moves both, the main of that push.
        let Some(here) = self.main.map(|main| self.settings_of(main)).transpose()?.flatten() else { return Ok(()) };
        if !here.review.names_reviewers() {
            return Ok(());
        }
        let (mut at, mut landed) = (tip, HashSet::new());
        while fresh.contains(&at) {
            let commit = self.cycle.store.commit(at)?;
            let Some(parent) = commit.parents.first().copied() else { break };
            landed.extend(self.landing(&commit, parent, (&here, tip), false)?);
            at = parent;
        }
        if let Some(before) = self.there(branch)
            && before != tip
        {
            // What came on the line that goes on from here was judged by what main was when it came.
            let judged = if at == before { landed } else { HashSet::new() };
            self.landed_between(before, tip, &judged, &here)?;
        }
        Ok(())
    }

    /// The same of main: a night brings there what wake has, and a wake that was not let in is no way round.
    fn landings_of_main(&mut self, main: &Branch, tip: CommitId) -> Result<(), CycleError> {
        let Some(here) = self.settings_of(tip)?.filter(|here| here.review.names_reviewers()) else { return Ok(()) };
        match self.there(main) {
            Some(before) if before != tip => self.landed_between(before, tip, &HashSet::new(), &here),
            _ => Ok(()),
        }
    }

    /// Refuses a branch of a run that brings another run which waits, or more than its run and a note about a conflict: one decision is about
    /// one run, as it was shown.
    fn stacked(&mut self, branch: &Branch, tip: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let Some(run) = run_of(&store.runs_prefix(), branch) else { return Ok(()) };
        let mut trunks = Vec::new();
        for trunk in [store.main(), store.wake()] {
            trunks.extend(store.tip(trunk)?);
        }
        trunks.extend(self.main);
        trunks.extend(self.wake);
        let mut is_own = true;
        for id in store.commits_beyond(tip, &trunks)?.into_iter().rev() {
            let commit = store.commit(id)?;
            // A note about a conflict names no run.
            let of = commit.trailer("Run").filter(|of| *of != run.as_str() && commit.trailer("Review").is_some());
            if let Some(of) = of.map(str::to_owned) {
                self.fault(&commit, "", 0, format!("waits for a decision of its own, and {branch} rests on it: {of}"));
                is_own = false;
            }
        }
        // What lies below it is held to what wake is held to: a record that somebody squashed is one that lands with it.
        let here = self.main.map(|main| self.settings_of(main)).transpose()?.flatten();
        if let (Some(here), Some(wake)) =
            (here.filter(|here| here.review.names_reviewers()), self.wake.or(store.tip(store.wake())?))
        {
            self.landed_between(wake, tip, &HashSet::from([run.clone()]), &here)?;
        }
        let store = &self.cycle.store;
        // The run, or a note right upon it.
        let own = self.cycle.commit_of_run(tip, &run)?;
        let is_whole = own.trailer("Run") == Some(run.as_str())
            && (own.id == tip || store.commit(tip)?.trailer("Review") == Some("conflict"));
        let mut waits = false;
        for id in store.commits_beyond(tip, &trunks)? {
            let commit = store.commit(id)?;
            waits |= commit.trailer("Run") == Some(run.as_str()) && commit.trailer("Review").is_some();
        }
        if is_own && waits && !is_whole && self.records.all {
            let tip = store.commit(tip)?;
            self.fault(&tip, "", 0, "is another commit upon a run that waits");
        }
        Ok(())
    }

    /// Judges the records that wake would have more than before, whatever brings them: commits that were known here already, and lines
    /// that lie behind other parents, are no way round.
    fn landed_between(
        &mut self,
        before: CommitId,
        tip: CommitId,
        judged: &HashSet<RunId>,
        here: &Settings,
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let commit = store.commit(tip)?;
        let mut own: HashMap<RunId, Commit> = HashMap::new();
        let mut thrown: HashMap<RunId, Commit> = HashMap::new();
        for (commit, run) in self.cycle.runs_in(tip, &[before])? {
            if self.record(commit.tree, &run)?.is_some_and(|record| record.is_left_over()) {
                thrown.insert(run, commit);
            // Of several that name the run the one that had to wait speaks for it.
            } else if commit.trailer("Review").is_some() || !own.contains_key(&run) {
                own.insert(run, commit);
            }
        }
        'changes: for change in store.diff(Some(store.tree_of(before)?), Some(commit.tree), layout::RUNS)? {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            let mut refused = None;
            if change.old.is_some() || run.agent().as_str() == HUMAN {
                continue;
            }
            // What wake here has was judged when it came.
            if self.is_in_wake(change.new, &change.path)? {
                continue;
            }
            let Some(record) = self.record(commit.tree, &run)? else { continue };
            let own = own.get(&run);
            if record.is_left_over() {
                let by = thrown.get(&run).or(own);
                let from = by.and_then(|by| by.parents.first().copied()).unwrap_or(before);
                for settings in self.settings_since(from, here)?.iter() {
                    match self.thrown_away(&run, by, settings)? {
                        None => continue 'changes,
                        Some(why) => refused = Some(why),
                    }
                }
                if let Some(why) = refused {
                    let brought = self.cycle.brought_by(&commit, None, &change.path)?;
                    self.fault_of(Kind::Unapproved, &brought, &change.path, 1, why);
                }
                continue;
            }
            if lands_nothing(&record) || judged.contains(&run) {
                continue;
            }
            let from = own.and_then(|own| own.parents.first().copied()).unwrap_or(before);
            let by = self.settings_since(from, here)?;
            if let Some(why) = self.unapproved(&record, own, (&commit, before), &by)? {
                let brought = self.cycle.brought_by(&commit, own, &change.path)?;
                self.fault_of(Kind::Unapproved, &brought, &change.path, 1, why);
            }
        }
        Ok(())
    }

    /// Why what is left of a run may not come in its place: an agent says so, or nobody who may has decided.
    fn thrown_away(&self, run: &RunId, own: Option<&Commit>, here: &Settings) -> Result<Option<String>, CycleError> {
        if own.is_some_and(Commit::is_of_agents_domain) {
            return Ok(Some("is thrown away by an agent, and only people decide".to_owned()));
        }
        for review in self.cycle.reviews_of(run)?.iter().filter(|review| review.verdict != Verdict::Approve) {
            if self.may_decide(review, here)? {
                return Ok(None);
            }
        }
        let may: BTreeSet<&String> =
            self.rules_of(run, here)?.into_iter().flat_map(|rule| here.review.reviewers_of(rule)).collect();
        let may: Vec<&str> = may.into_iter().map(String::as_str).collect();
        Ok((!may.is_empty()).then(|| format!("is thrown away without a decision of {}", may.join(" or "))))
    }

    /// The rules of those settings by one of which a run waited, as far as it is known here. Where nothing of it came, those whom any rule names are
    /// believed, as they were where the run is known.
    fn rules_of<'s>(&self, run: &RunId, here: &'s Settings) -> Result<Vec<Option<&'s str>>, CycleError> {
        let mut names = here.review.rule.iter().map(|rule| rule.name.as_str());
        let Some((waited, record)) = self.cycle.commit_decided_on(run)? else {
            return Ok(std::iter::once(None).chain(names.map(Some)).collect());
        };
        let waits = self.cycle.waits_by(&record, Some(&waited), waited.tree, here)?;
        Ok(vec![names.find(|name| waits.as_deref().and_then(|waits| waits.strip_prefix("rule ")) == Some(*name))])
    }

    /// Whether a decision is of one who may, by those settings.
    pub(super) fn may_decide(&self, review: &ReviewRecord, here: &Settings) -> Result<bool, CycleError> {
        for rule in self.rules_of(&review.run, here)? {
            if self.cycle.counts(review, &here.review, rule)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Judges the runs that one commit of wake's line brings; these runs.
    pub(super) fn landing(
        &mut self,
        commit: &Commit,
        parent: CommitId,
        (here, tip): (&Settings, CommitId),
        again: bool,
    ) -> Result<Vec<RunId>, CycleError> {
        let store = &self.cycle.store;
        let tip = store.tree_of(tip)?;
        let (mut own, mut landed) = (None, Vec::new());
        for change in store.diff(Some(store.tree_of(parent)?), Some(commit.tree), layout::RUNS)? {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            if change.old.is_some() || run.agent().as_str() == HUMAN {
                continue;
            }
            // A commit more can have taken it back, such as one that gives way to a decision that came first.
            if store.file(tip, &change.path)? != change.new {
                continue;
            }
            // A merge with another machine brings what wake here has already, which is judged `again` only where a person asks.
            if !again && self.is_in_wake(change.new, &change.path)? {
                continue;
            }
            let Some(record) = self.record(commit.tree, &run)? else { continue };
            // What is left of a run that was thrown away or amended lands nothing.
            if lands_nothing(&record) {
                continue;
            }
            if own.is_none() {
                own = Some(self.own_commits(commit, parent)?);
            }
            let own = own.as_ref().and_then(|own| own.get(&run));
            let from = own.and_then(|own| own.parents.first().copied()).unwrap_or(parent);
            let by = self.settings_since(from, here)?;
            if let Some(why) = self.unapproved(&record, own, (commit, parent), &by)? {
                let brought = self.cycle.brought_by(commit, own, &change.path)?;
                self.fault_of(Kind::Unapproved, &brought, &change.path, 1, why);
            }
            landed.push(run);
        }
        Ok(landed)
    }

    /// Why a run may not land: it had to wait by all that main was meanwhile, and nobody who may has approved it.
    fn unapproved(
        &self,
        record: &RunRecord,
        own: Option<&Commit>,
        (landed, before): (&Commit, CommitId),
        by: &[Settings],
    ) -> Result<Option<String>, CycleError> {
        // A copy of a record, or a commit made again, says nothing of what its run asked for: at a gate the branch does that waits there, or
        // the commit that was decided on.
        let is_silent = own.is_none_or(|own| own.trailer("Review").is_none());
        let waited = match is_silent && self.as_now {
            true => match self.waits_there(&record.run)? {
                Some(commit) => Some(commit),
                None => self.cycle.commit_decided_on(&record.run)?.map(|(commit, _)| commit),
            },
            false => None,
        };
        let own = waited.as_ref().filter(|waited| waited.trailer("Review").is_some()).or(own);
        let (id, tree) = (own.map(|own| own.id), own.map_or(landed.tree, |own| own.tree));
        let before = self.cycle.store.tree_of(before)?;
        // A rule that main has given up holds nothing back.
        let lacks = |settings: &Settings| {
            let mut waits = self.cycle.waits_by(record, own, tree, settings)?;
            // A run that starts from an old wake meets the types of the one that it comes to.
            for tree in [before, landed.tree] {
                if waits.is_none() && settings.review.looks_at_types() {
                    waits = self.cycle.waits_by(record, own, tree, settings)?;
                }
            }
            let Some(waits) = waits else { return Ok(None) };
            self.cycle.lacks_approval_by(
                (&record.run, id),
                &settings.review,
                waits.strip_prefix("rule "),
                self.records.all,
            )
        };
        // Whatever a commit says: what lands is the record that was approved.
        let other = |settings: &Settings| -> Result<Option<String>, CycleError> {
            if self.cycle.waits_by(record, own, tree, settings)?.is_none() || !settings.review.names_reviewers() {
                return Ok(None);
            }
            let (store, path) = (&self.cycle.store, layout::run(&record.run));
            let landed = store.file(landed.tree, &path)?;
            let reviews = self.cycle.reviews_of(&record.run)?;
            let approved = reviews.iter().filter(|review| review.verdict == Verdict::Approve && !review.is_of_audit());
            let mut commits = approved.filter_map(|review| CommitId::parse(&review.commit).ok()).peekable();
            if commits.peek().is_none() {
                return Ok(None);
            }
            for commit in commits {
                if store.commit(commit).is_ok() && store.file(store.tree_of(commit)?, &path)? == landed {
                    return Ok(None);
                }
            }
            Ok(Some(format!("{} is another record than the one that was approved", record.run)))
        };
        for ask in [&lacks as &dyn Fn(&Settings) -> Result<Option<String>, CycleError>, &other] {
            let mut refused = None;
            for settings in by {
                refused = ask(settings)?;
                if refused.is_none() {
                    break;
                }
            }
            if let Some(why) = refused {
                return Ok(Some(format!("lands without its approval: {why}")));
            }
        }
        Ok(None)
    }

    /// The commit of a run that waits where this is to go.
    fn waits_there(&self, run: &RunId) -> Result<Option<Commit>, CycleError> {
        let branch = branch_of(self.cycle.store.wake(), run)?;
        let Some(tip) = self.waiting_there.get(&branch) else { return Ok(None) };
        let own = self.cycle.commit_of_run(*tip, run)?;
        let record = self.cycle.record_in(own.tree, run)?;
        Ok(record.filter(|record| !record.is_left_over()).map(|_| own))
    }

    /// Main or wake as the other side has it, as far as it is known here.
    fn there(&self, branch: &Branch) -> Option<CommitId> {
        let tip = if branch == self.cycle.store.main() { self.before } else { self.had };
        tip.filter(|tip| self.cycle.store.commit(*tip).is_ok())
    }

    fn is_in_wake(&self, file: Option<File>, path: &str) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        match self.had.map(|wake| store.commit(wake)) {
            Some(Ok(wake)) => Ok(store.file(wake.tree, path)? == file),
            // What lies elsewhere, and was not fetched, has nothing that is known.
            Some(Err(_)) | None => Ok(false),
        }
    }

    /// The settings by which something is judged that began at a commit: those of main as it is, and for a machine that was away each that main had
    /// since. Who starts from an old state passes no gate by that.
    pub(super) fn settings_since(&mut self, from: CommitId, here: &Settings) -> Result<Rc<[Settings]>, CycleError> {
        let store = &self.cycle.store;
        let then = match self.main.filter(|_| !self.as_now) {
            Some(main) => store.merge_bases(main, from)?.first().copied(),
            None => self.before.filter(|before| store.commit(*before).is_ok()),
        };
        let key = (self.main, then);
        if let Some(known) = self.meanwhile.get(&key) {
            return Ok(Rc::clone(known));
        }
        let (mut all, mut seen) = (vec![here.clone()], HashSet::new());
        let walked = self.main.filter(|_| !self.as_now).map(|main| store.first_parents(main, None));
        for commit in walked.into_iter().flatten().take(limits::HISTORY_WALK) {
            let commit = commit?;
            let blob = |path| Ok::<_, CycleError>(store.file(commit.tree, path)?.map(|file| file.blob));
            // Councils that decide are a part of what main says.
            let councils = store.folder(commit.tree, COUNCIL_FOLDER)?;
            if seen.insert((blob(layout::SETTINGS)?, blob(COUNCIL_DOCUMENT)?, councils)) {
                all.extend(self.settings_of(commit.id)?);
            }
            // What main merged lies behind the commit that has it.
            if then.is_none_or(|then| commit.id == then || !store.is_ancestor(then, commit.id).unwrap_or(false)) {
                break;
            }
        }
        all.extend(then.map(|then| self.settings_of(then)).transpose()?.flatten());
        let all: Rc<[Settings]> = Rc::from(all);
        self.meanwhile.insert(key, Rc::clone(&all));
        Ok(all)
    }

    pub(super) fn settings_of(&self, main: CommitId) -> Result<Option<Settings>, CycleError> {
        match self.cycle.settings_at(main) {
            Err(CycleError::Settings(_)) => Ok(None),
            read => read.map(Some),
        }
    }

    /// The own commits of runs, where a commit of wake is one or merges some, however deep they lie behind it.
    fn own_commits(&self, commit: &Commit, parent: CommitId) -> Result<HashMap<RunId, Commit>, CycleError> {
        let mut own: HashMap<RunId, Commit> = HashMap::new();
        for (commit, run) in self.cycle.runs_in(commit.id, &[parent])? {
            // Of several that name the run the one that had to wait speaks for it.
            if commit.trailer("Review").is_some() || !own.contains_key(&run) {
                own.insert(run, commit);
            }
        }
        Ok(own)
    }
}

/// Whether there is nothing to approve: what is left of a run, or one that does nothing but answer.
fn lands_nothing(record: &RunRecord) -> bool {
    record.effects.is_empty() && !is_beside(record.ops.iter())
}
