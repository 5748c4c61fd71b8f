//! From wake's tip to a consolidated tree on the sleep's own branch.
//!
//! Steps: (1) main's own changes come into wake; (2) one look at every neuron; (3) what is tainted is left out of the snapshot; (4) rules:
//! strengthen, replay, scale down; (5) prune. (4) and (5) are a commit each on `sleep/<run>`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::settle::Note;
use super::survey::{Survey, read_all, read_shared};
use super::{DOCUMENTS, Evening, Mode, Sleep, agent, branch_of};
use crate::consolidation::{self, Line, Neurons, Now, SleepRecord, Why, candidates};
use crate::cycle::file::{Level, examine};
use crate::cycle::merge::{Candidate, Fate};
use crate::cycle::network::format_of;
use crate::cycle::trailers::{SLEEP_TRAILER, SNAPSHOT_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::delta::{LedgerEntry, RunOutline, RunRecord};
use crate::model::ids::{NeuronId, RunId};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::model::origin::Origins;
use crate::model::{Neuron, Stamp, plural};
use crate::store::{
    Author, BlobId, Branch, CommitId, CommitSpec, FileChange, ObjectWriter, RefChange, RefOutcome, Trailer, TreeEdit,
    TreeId,
};
use crate::world::progress::report;

/// A sleep that is consolidated and not on main yet.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The sleep.
    pub run: RunId,
    /// Its clock.
    pub at: Stamp,
    /// Its branch.
    pub branch: Branch,
    /// The branch's tip.
    pub tip: CommitId,
    /// The tree of the tip.
    pub tree: TreeId,
    /// The commit of wake that is consolidated.
    pub snapshot: CommitId,
    /// Its tree without what is tainted.
    pub snapshot_tree: TreeId,
    /// Neurons that stay in wake, because their origin is not approved.
    pub left_out: usize,
    /// Candidates of consolidation.
    pub candidates: usize,
    /// Why each thing changed.
    pub why: Vec<Why>,
    /// What was read on the way, for the record.
    pub(super) read: Rc<Read>,
    /// Whether it waited for a person: then a cut-off attempt leaves the branch.
    pub waited: bool,
}

/// What a sleep has read of its day. Nothing but speed depends on it.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Neurons by their files' content.
    pub neurons: HashMap<BlobId, Arc<Neuron>>,
    /// The day's records, in outline.
    pub runs: Vec<(String, RunOutline)>,
    /// The folder of those that were there before it.
    pub since: Option<TreeId>,
}

impl Cycle {
    /// Consolidates wake on a branch of its own, which waits; unless nothing happened since the last sleep, or nothing is to be
    /// written.
    pub(super) fn prepare(&self, mode: Mode) -> Result<Sleep, CycleError> {
        if mode != Mode::Dry {
            self.settle_by_history()?;
            self.bring_main_into_wake()?; // (1)
        }
        let wake = self.store.need_tip(self.store.wake())?;
        // After an undone sleep the same day can be slept over again.
        let evening = self.evening(wake)?;
        let tree = self.store.tree_of(wake)?;
        if self.store.folder(tree, layout::NETWORK)? == self.store.folder(evening.wake, layout::NETWORK)? {
            return Ok(Sleep::Quiet);
        }
        self.require_readable(evening.main, tree)?;
        let run = self.sleep_id(wake)?;
        if mode == Mode::Dry {
            // Nothing of the batch is published.
            let writer = self.store.writer()?;
            let prepared = self.consolidate(&writer, run, wake, evening)?;
            return Ok(Sleep::Dry(Box::new(self.record(&writer, &prepared)?)));
        }
        self.write_note(&Note::begun(&run))?;
        let made = self.make_branch(run, wake, evening, mode);
        if mode == Mode::Review || made.is_err() {
            self.forget_note();
        }
        Ok(Sleep::Waiting(Box::new(made?)))
    }

    /// Refuses a day with a file that cannot be read and that a night would carry to main for ever. Neurons and records are read anyway.
    fn require_readable(&self, main: TreeId, tree: TreeId) -> Result<(), CycleError> {
        for folder in DOCUMENTS {
            for change in self.store.diff(Some(main), Some(tree), folder)? {
                let Some(file) = change.new.filter(|file| file.is_regular()) else { continue };
                let findings = examine(&change.path, &self.store.content(file.blob)?).findings;
                if let Some(finding) = findings.into_iter().find(|finding| finding.level == Level::Error) {
                    return Err(JsonError::at(&change.path, finding.line, "", finding.message).into());
                }
            }
        }
        Ok(())
    }

    fn make_branch(&self, run: RunId, wake: CommitId, evening: Evening, mode: Mode) -> Result<Prepared, CycleError> {
        let writer = self.store.writer()?;
        let mut prepared = self.consolidate(&writer, run, wake, evening)?;
        if mode == Mode::Review {
            prepared = self.keep_reasons(&writer, prepared)?;
        }
        writer.publish()?;
        let change = RefChange::create(prepared.branch.clone(), prepared.tip);
        match self.store.update_refs(&[change], "git-brain: sleep")? {
            RefOutcome::Done { .. } => Ok(prepared),
            RefOutcome::Modified { branch, .. } => {
                Err(CycleError::refused(format!("the branch {branch} exists already")))
            }
        }
    }

    /// What a person committed on main since the last sleep: settings, agents, corrections. They are merged into wake first, so
    /// that the sleep has them on both sides.
    fn bring_main_into_wake(&self) -> Result<(), CycleError> {
        let (main, wake) = (self.store.need_tip(self.store.main())?, self.store.need_tip(self.store.wake())?);
        if self.store.is_ancestor(main, wake)? {
            return Ok(());
        }
        let candidate =
            Candidate { name: self.store.main().to_string(), commit: main, branch: None, run: None, reviewed_by: None };
        match self.merge(vec![candidate], false)?.fates.pop() {
            Some((_, Fate::Conflict(conflicts))) => Err(CycleError::Refused {
                message: format!(
                    "{} and wake disagree: {}",
                    self.store.main(),
                    crate::cycle::merge::in_words(&conflicts)
                ),
                hint: Some("settle it on one of the two branches, then sleep again".to_owned()),
            }),
            Some((_, Fate::Refused(why))) => Err(CycleError::refused(why)),
            _ => Ok(()),
        }
    }

    /// A new sleep's id: above every run, and of no branch that waits.
    fn sleep_id(&self, wake: CommitId) -> Result<RunId, CycleError> {
        let newest = self.newest_run(wake)?;
        for attempt in 0.. {
            let run = self.new_run_id(&agent(), wake, newest.as_ref(), &[b"sleep"], attempt)?;
            if self.store.tip(&branch_of(self.store.wake(), &run)?)?.is_none() {
                return Ok(run);
            }
        }
        unreachable!("invariant: some attempt has a free name")
    }

    fn consolidate(
        &self,
        writer: &ObjectWriter<'_>,
        run: RunId,
        wake: CommitId,
        evening: Evening,
    ) -> Result<Prepared, CycleError> {
        let settings = &self.shared.policy.settings;
        let now = Now { at: self.shared.world.now(), settings: &settings.sleep, origins: &settings.origins };
        let tree = self.store.tree_of(wake)?;
        let changed = self.changed_neurons(evening.wake, tree)?;
        let mut survey = Survey::of(&self.store, tree, now, &changed)?; // (2)
        report("consolidating", 0, 0);
        let snapshot = self.without_tainted(writer, &survey, &run, [evening.main, tree], now.origins)?; // (3)
        let going = self.going(&survey, snapshot.tree, evening, now)?;
        let stays = |id: &NeuronId| !snapshot.left_out.contains(id) && !going.contains_key(id);
        // What nothing touched since the last night was consolidated then, however vivid it still is.
        let of_the_day: HashSet<&NeuronId> = survey.changed.iter().map(|(_, id)| id).collect();
        let vivid = survey.noticed(|glance| now.is_vivid(glance));
        let counts = |id: &NeuronId| stays(id) && !snapshot.untouched.contains(id);
        let vivid = vivid.filter(|id| of_the_day.contains(id) && counts(id)).cloned();
        let day = survey.changed.iter().filter(|(_, id)| counts(id)).cloned();
        let candidates = candidates(vivid, day, settings.sleep.top);
        let ledger = if settings.sleep.replay { self.ledger_between(evening.wake, snapshot.tree)? } else { Vec::new() };

        let mut wanted: BTreeSet<NeuronId> = candidates.clone();
        wanted.extend(ledger.iter().flat_map(|entry| &entry.pathway).map(|edge| edge.from.clone()));
        wanted.extend(survey.noticed(|glance| glance.weak).cloned());
        wanted.extend(survey.pointing_to(&going.keys().cloned().collect()));
        wanted.extend(going.keys().cloned());
        if settings.sleep.downscale > 0.0 {
            wanted.extend(survey.ids().cloned());
        }
        let mut neurons = read_shared(&self.store, snapshot.tree, wanted, &survey.kept)?;
        let before = neurons.clone();
        let since = self.store.folder(evening.main, layout::RUNS)?;
        let evening = read_shared(&self.store, evening.wake, candidates.clone(), &survey.kept)?;
        let mut why = consolidation::strengthen(&mut neurons, &evening, &candidates, settings.sleep.boost, &run); // (4)
        let order = consolidation::interleaved(&ledger);
        why.extend(consolidation::replay(&mut neurons, order, settings.learning.rate, &run));
        if settings.sleep.downscale > 0.0 {
            why.extend(consolidation::downscale(&mut neurons, &candidates, settings.sleep.downscale, &run));
        }
        let stage = Stage { cycle: self, writer, run: &run, snapshot: wake };
        let (tip, consolidated) = stage.commit(
            wake,
            snapshot.tree,
            &before,
            &neurons,
            format!("sleep: consolidate {}", plural(candidates.len(), "neuron", "neurons")),
        )?;
        let strengthened = neurons.clone();
        let pruned = consolidation::prune(&mut neurons, &going, settings.sleep.prune_weight, &run); // (5)
        let subject = format!("sleep: prune {}", plural(pruned.removed.len(), "neuron", "neurons"));
        let (tip, tree) = stage.commit(tip, consolidated, &strengthened, &neurons, subject)?;
        why.extend(pruned.why);
        Ok(Prepared {
            branch: branch_of(self.store.wake(), &run)?,
            at: now.at,
            tip,
            tree,
            snapshot: wake,
            snapshot_tree: snapshot.tree,
            left_out: snapshot.left_out.len(),
            candidates: candidates.len(),
            why,
            read: Rc::new(Read { neurons: std::mem::take(&mut survey.kept), runs: snapshot.runs, since }),
            waited: false,
            run,
        })
    }

    /// The blobs of neurons that differ from the evening before: in what they say, not in how it is written.
    fn changed_neurons(&self, evening: TreeId, tree: TreeId) -> Result<HashSet<BlobId>, CycleError> {
        let mut changed = HashSet::new();
        for FileChange { path, old, new } in self.store.diff(Some(evening), Some(tree), layout::NEURONS)? {
            let Some(new) = new else { continue };
            if let (Some(old), Place::Neuron(id)) = (old, Place::of(&path)) {
                let read = |file| self.shared.neurons.read(&self.store, file, &path, &id).ok();
                if read(old).zip(read(new)).is_some_and(|(old, new)| old == new) {
                    continue;
                }
            }
            changed.insert(new.blob);
        }
        Ok(changed)
    }

    /// Neurons of a tree that may have a connection to one of those; rarely others.
    pub(in crate::cycle) fn pointing_to(
        &self,
        tree: TreeId,
        targets: &BTreeSet<NeuronId>,
    ) -> Result<BTreeSet<NeuronId>, CycleError> {
        if targets.is_empty() {
            return Ok(BTreeSet::new());
        }
        let settings = &self.shared.policy.settings;
        let now = Now { at: self.shared.world.now(), settings: &settings.sleep, origins: &settings.origins };
        Ok(Survey::of(&self.store, tree, now, &HashSet::new())?.pointing_to(targets))
    }

    /// The outlines of the records of runs that came between two trees.
    pub(in crate::cycle) fn outlines_between(
        &self,
        old: TreeId,
        new: TreeId,
    ) -> Result<Vec<(String, RunOutline)>, CycleError> {
        self.runs_between(old, new, RunOutline::decode)
    }

    /// The records of runs that came between two trees, by their paths, as `decode` reads them.
    pub(super) fn runs_between<T>(
        &self,
        old: TreeId,
        new: TreeId,
        decode: impl Fn(&[u8], &str) -> Result<T, JsonError>,
    ) -> Result<Vec<(String, T)>, CycleError> {
        let mut runs = Vec::new();
        for change in self.store.diff(Some(old), Some(new), layout::RUNS)? {
            let (Place::Run(_), None, Some(file)) = (Place::of(&change.path), change.old, change.new) else { continue };
            let run = decode(&self.store.content(file.blob)?, &change.path)?;
            runs.push((change.path, run));
        }
        Ok(runs)
    }

    /// The entries of the ledger that came between two trees, oldest first.
    fn ledger_between(&self, old: TreeId, new: TreeId) -> Result<Vec<LedgerEntry>, CycleError> {
        let mut entries = Vec::new();
        for change in self.store.diff(Some(old), Some(new), layout::LEDGER)? {
            if let (None, Some(file)) = (change.old, change.new) {
                entries.push(LedgerEntry::decode(&self.store.content(file.blob)?, &change.path)?);
            }
        }
        entries.sort_by(|a, b| a.run.cmp(&b.run));
        Ok(entries)
    }

    /// Neurons that go, with the reason of each: archived ones that no later run has connected to, and silent ones.
    fn going(
        &self,
        survey: &Survey,
        tree: TreeId,
        evening: Evening,
        now: Now<'_>,
    ) -> Result<BTreeMap<NeuronId, String>, CycleError> {
        let mut going = BTreeMap::new();
        let archived: BTreeSet<NeuronId> =
            survey.noticed(|glance| glance.archived && !glance.tainted).cloned().collect();
        let silent: BTreeSet<NeuronId> = survey.noticed(|glance| glance.silent && !glance.tainted).cloned().collect();
        if archived.is_empty() && silent.is_empty() {
            return Ok(going);
        }
        let goals = crate::cycle::goals::terminal_goal_neurons(&self.store, tree)?;
        let settings = now.settings;
        for id in silent.difference(&goals) {
            let reason = format!(
                "pruned: activated less than {}, and nothing touched it for {}",
                plural(settings.prune_below, "time", "times"),
                plural(settings.prune_age_days, "day", "days")
            );
            going.insert(id.clone(), reason);
        }
        let candidates: Vec<NeuronId> = archived.difference(&goals).cloned().collect();
        let neurons = read_all(&self.store, tree, candidates)?;
        let mut spared = self.connected_later(&neurons, evening.wake, tree)?;
        spared.extend(self.spared_before(survey, &neurons, evening.main, tree)?);
        for (id, neuron) in neurons.into_iter().filter(|(id, _)| !spared.contains(id)) {
            let run = neuron.archived.map_or_else(String::new, |run| format!(" by {run}"));
            going.insert(id, format!("archived{run}"));
        }
        Ok(going)
    }

    /// Of archived neurons, those that a run after the one that archived them has connected to.
    fn connected_later(
        &self,
        archived: &BTreeMap<NeuronId, Neuron>,
        evening: TreeId,
        tree: TreeId,
    ) -> Result<BTreeSet<NeuronId>, CycleError> {
        let mut spared = BTreeSet::new();
        if archived.is_empty() {
            return Ok(spared);
        }
        for (_, record) in self.runs_between(evening, tree, RunRecord::decode)? {
            for effect in &record.effects {
                let made = effect.created.iter().flat_map(|n| n.connections.iter().map(|c| (&c.target, true)));
                let grown = |(old, new): (Option<u16>, Option<u16>)| new.unwrap_or(0) > old.unwrap_or(0);
                let changed = effect.connections.iter().map(|c| (&c.target, grown(c.weight)));
                let later = |id: &NeuronId| archived.get(id).is_some_and(|n| n.archived.as_ref() < Some(&record.run));
                spared.extend(made.chain(changed).filter(|(id, grown)| *grown && later(id)).map(|(id, _)| id.clone()));
            }
        }
        Ok(spared)
    }

    /// Of archived neurons, those that an earlier sleep has spared and that something else still points to.
    fn spared_before(
        &self,
        survey: &Survey,
        archived: &BTreeMap<NeuronId, Neuron>,
        main: TreeId,
        tree: TreeId,
    ) -> Result<BTreeSet<NeuronId>, CycleError> {
        let mut spared = BTreeSet::new();
        for (id, then) in read_all(&self.store, main, archived.keys().cloned())? {
            if then.archived == archived[&id].archived {
                let only = BTreeSet::from([id.clone()]);
                let sources = read_all(&self.store, tree, survey.pointing_to(&only))?;
                let holds = |(source, neuron): (&NeuronId, &Neuron)| {
                    *source != id && neuron.connections.iter().any(|c| c.target == id && c.weight > 0)
                };
                if sources.iter().any(holds) {
                    spared.insert(id);
                }
            }
        }
        Ok(spared)
    }

    /// Keeps the reasons in the branch, for whoever approves it in another process.
    fn keep_reasons(&self, writer: &ObjectWriter<'_>, prepared: Prepared) -> Result<Prepared, CycleError> {
        let record = self.record(writer, &prepared)?;
        let record = SleepRecord { learnt: Vec::new(), ..record };
        let files = record.encode();
        let edits = files
            .into_iter()
            .enumerate()
            .map(|(index, bytes)| TreeEdit::new(record_path(&prepared.run, index), Some(bytes)));
        let tree = writer.edit(Some(prepared.tree), edits.collect())?;
        let stage = Stage { cycle: self, writer, run: &prepared.run, snapshot: prepared.snapshot };
        let tip = stage.commit_tree(prepared.tip, tree, "sleep: the record, for review".to_owned())?;
        Ok(Prepared { tip, tree, ..prepared })
    }

    /// A sleep that waits on its branch, and may be put on main.
    pub(super) fn prepared(&self, writer: &ObjectWriter<'_>, branch: &Branch) -> Result<Prepared, CycleError> {
        let (run, tip) = self.waiting(branch)?;
        // A person may have added commits; those of the sleep are below.
        let snapshot = self.store.first_parents(tip, None).take(crate::limits::HISTORY_WALK).find_map(|commit| {
            let commit = commit.ok()?;
            let own = commit.trailer(SLEEP_TRAILER) == Some(run.as_str());
            own.then(|| commit.trailer(SNAPSHOT_TRAILER).and_then(|id| CommitId::parse(id).ok())).flatten()
        });
        let snapshot =
            snapshot.ok_or_else(|| CycleError::Merge(format!("{branch} does not say what it consolidates")))?;
        let slept_since = self.nights(super::is_waking)?;
        if let Some(since) = slept_since
            && !self.store.is_ancestor(since.id, snapshot)?
        {
            return Err(CycleError::Refused {
                message: format!("{branch} consolidates a state from before {}", since.subject()),
                hint: Some(format!("`git brain reject {branch}`, then sleep again: wake has lost nothing")),
            });
        }
        if let Some(gave_way) = self.gave_way_since(snapshot)? {
            return Err(CycleError::Refused {
                message: format!(
                    "{branch} brings {gave_way} to {}, and {} has it otherwise since",
                    self.store.main(),
                    self.store.wake()
                ),
                hint: Some(format!("`git brain reject {branch}`, then sleep again: wake has lost nothing")),
            });
        }
        let tree = self.store.tree_of(tip)?;
        let record = self.sleep_file(tree, &run)?;
        let record =
            record.ok_or_else(|| CycleError::Merge(format!("{branch} has no record {}", layout::sleep(&run))))?;
        let why = |line: Line| Why { what: line.what, reason: line.why.into() };
        Ok(Prepared {
            branch: branch.clone(),
            at: record.at,
            tip,
            tree,
            snapshot,
            snapshot_tree: self.snapshot_tree(writer, &run, snapshot, &self.shared.policy.settings.origins)?,
            left_out: record.left_out,
            candidates: 0,
            why: record.consolidated.into_iter().map(why).collect(),
            read: Rc::default(),
            waited: true,
            run,
        })
    }

    /// A run of a commit of wake that gave way to another record of it, or was taken back, since, and that main has not as it was.
    fn gave_way_since(&self, snapshot: CommitId) -> Result<Option<RunId>, CycleError> {
        let store = &self.store;
        let (then, now) = (store.tree_of(snapshot)?, store.tree_of(store.need_tip(store.wake())?)?);
        let main = store.tree_of(store.need_tip(store.main())?)?;
        let (before, since) = (self.reverted(then)?, self.reverted(now)?);
        let taken_back = since.keys().filter(|run| !before.contains_key(*run)).map(layout::run);
        let changed = store.diff(Some(then), Some(now), layout::RUNS)?;
        let changed = changed.into_iter().filter(|change| change.old.is_some()).map(|change| change.path);
        for path in changed.chain(taken_back) {
            let file = store.file(then, &path)?;
            if let Place::Run(run) = Place::of(&path)
                && file.is_some()
                && store.file(main, &path)? != file
            {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The tree that a sleep started from: that of the commit without what is tainted. The same for the same commit.
    pub(in crate::cycle) fn snapshot_tree(
        &self,
        writer: &ObjectWriter<'_>,
        run: &RunId,
        snapshot: CommitId,
        origins: &Origins,
    ) -> Result<TreeId, CycleError> {
        let tree = self.store.tree_of(snapshot)?;
        let now = Now { at: self.shared.world.now(), settings: &self.shared.policy.settings.sleep, origins };
        let survey = Survey::of(&self.store, tree, now, &HashSet::new())?;
        let evening = self.evening(snapshot)?;
        Ok(self.without_tainted(writer, &survey, run, [evening.main, tree], origins)?.tree)
    }
}

/// Where the files of a sleep's record lie: the first, then the further parts from 2.
pub(super) fn record_path(run: &RunId, index: usize) -> String {
    if index == 0 { layout::sleep(run) } else { layout::sleep_part(run, index + 1) }
}

/// Commits on the branch of a sleep.
struct Stage<'a, 's> {
    cycle: &'a Cycle,
    writer: &'a ObjectWriter<'s>,
    run: &'a RunId,
    snapshot: CommitId,
}

impl Stage<'_, '_> {
    /// A commit of what differs between two states of some neurons; a stage that changed nothing has none.
    fn commit(
        &self,
        parent: CommitId,
        tree: TreeId,
        before: &Neurons,
        after: &Neurons,
        subject: String,
    ) -> Result<(CommitId, TreeId), CycleError> {
        let same = |a: &Arc<Neuron>, b: &Arc<Neuron>| Arc::ptr_eq(a, b) || a == b;
        let changed = before.iter().filter(|(id, neuron)| after.get(*id).is_none_or(|now| !same(now, neuron)));
        let format = format_of(&self.cycle.store, tree)?;
        let written = |id: &NeuronId| after.get(id).map(|neuron| neuron.encode_as(format));
        let edits: Vec<TreeEdit> = changed.map(|(id, _)| TreeEdit::new(layout::neuron(id), written(id))).collect();
        let first = parent == self.snapshot;
        if edits.is_empty() && !first {
            return Ok((parent, tree));
        }
        let tree = self.writer.edit(Some(tree), edits)?;
        Ok((self.commit_tree(parent, tree, subject)?, tree))
    }

    fn commit_tree(&self, parent: CommitId, tree: TreeId, subject: String) -> Result<CommitId, CycleError> {
        let mut trailers: Vec<Trailer> = vec![
            (SLEEP_TRAILER.to_owned(), self.run.to_string()),
            (SNAPSHOT_TRAILER.to_owned(), self.snapshot.to_string()),
        ];
        trailers.extend(self.cycle.shared.clock_trailer());
        Ok(self.writer.commit(&CommitSpec {
            tree,
            parents: vec![parent],
            author: Author::Agent(agent()),
            at: self.cycle.shared.world.commit_seconds(),
            subject,
            body: String::new(),
            trailers,
        })?)
    }
}
