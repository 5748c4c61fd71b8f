//! Merges, sleeps and their undoing from elsewhere: done again, as far as that costs no more than it did there.
//!
//! A merge that names its policy is held against the typed merge of its parents. One that does not is a person's, and
//! held against the rules of the format only. A sleep is not slept again: its record must name every neuron that it
//! changed, and nothing that is written once may go.

use std::collections::{BTreeSet, HashSet};

use super::{Judge, Kind};
use crate::consolidation::record::EVERY_LINE;
use crate::cycle::CycleError;
use crate::cycle::file::told_by_sleep;
use crate::cycle::merge::edits_of;
use crate::cycle::sleep::Night;
use crate::cycle::trailers::{SLEEP, SLEEP_TRAILER};
use crate::limits;
use crate::merge::Options;
use crate::model::Neuron;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::settings::{MergePolicy, Settings};
use crate::store::{BlobId, Commit, CommitId, FileChange, Store, TreeId};

impl Judge<'_> {
    pub(super) fn merge(&mut self, commit: &Commit, left: CommitId, right: CommitId) -> Result<(), CycleError> {
        // A sleep ends with a merge of its own, which names it.
        let hand = match commit.trailer(SLEEP_TRAILER) {
            Some(_) => commit.waking_hand(),
            None => commit.agents_hand(),
        };
        if let Some(hand) = hand {
            let message = format!("is a merge by {hand}: an agent commits its own runs alone");
            self.fault_of(Kind::Agent, commit, "", 0, message);
        }
        if let Some(undone) = commit.trailer("Undoes") {
            let undone = undone.to_owned();
            return self.merge_of_undoing(commit, &undone, left, right);
        }
        let Some(policy) = commit.trailer("Policy").map(str::to_owned) else {
            return self.merged_by_hand(commit, left, right);
        };
        let Some(policy) = self.policy(commit, &policy, [left, right])? else {
            self.fault(commit, "", 0, format!("names the policy {policy}, which is no brain.toml of this brain"));
            return Ok(());
        };
        let store = &self.cycle.store;
        let snapshot = match (commit.trailer("Sleep"), commit.trailer("Snapshot")) {
            (Some(sleep), Some(id)) => {
                let Ok(run) = RunId::parse(sleep) else {
                    self.fault(commit, "", 0, "names a sleep by what is no run's id");
                    return Ok(());
                };
                let slept = store.commit(right)?;
                let same = slept.trailer("Sleep") == Some(sleep) && slept.trailer("Snapshot") == Some(id);
                // The sleep itself, and no merge of it.
                if !same || slept.parents.len() != 1 {
                    self.fault(commit, "", 0, "merges a sleep that is another than it says");
                    return Ok(());
                }
                Some((run, CommitId::parse(id)?))
            }
            _ => None,
        };
        let right_tree = store.tree_of(right)?;
        let writer = store.writer()?;
        let of_sleep = snapshot.is_some();
        let policy = if of_sleep { policy.of_a_night() } else { policy };
        let agrees = match snapshot {
            // Without what is tainted, which takes a look at the whole network: only if it is not the snapshot as it is, or if something
            // goes. What is tainted stays in wake, and goes where the snapshot as it is passes for the one without it.
            Some((run, snapshot)) => {
                let plain = store.tree_of(snapshot)?;
                let mut agrees = self.gives(&writer, commit, &policy, plain, left, right_tree)?
                    && !self.something_goes(commit, left)?;
                let main = store.commit(right)?.parents.first().copied();
                for origins in self.origins_of_night(main.map_or(Ok(plain), |main| store.tree_of(main))?)? {
                    if agrees {
                        break;
                    }
                    let base = self.cycle.snapshot_tree(&writer, &run, snapshot, &origins)?;
                    agrees = self.gives(&writer, commit, &policy, base, left, right_tree)?;
                }
                agrees
            }
            None => match self.cycle.base_of(&writer, left, right)? {
                Some(base) => self.gives(&writer, commit, &policy, base, left, right_tree)?,
                None => false,
            },
        };
        drop(writer);
        if !agrees {
            self.fault(commit, "", 0, "says that it is a typed merge, and its tree is not that of its parents' merge");
            return Ok(());
        }
        self.names_what_it_brings(commit, left, right)?;
        // What a merge gives of good parents is good; outside the network it has what main has, which was judged there.
        let mut new = store.diff_beside(store.tree_of(left)?, commit.tree, layout::NETWORK)?;
        let changed: HashSet<&str> = new.iter().map(|change| change.path.as_str()).collect();
        let mut of_none = HashSet::new();
        for change in store.diff_beside(right_tree, commit.tree, layout::NETWORK)? {
            if of_sleep {
                let message = "is not as main has it, and a sleep brings it to wake as it is there";
                self.fault(commit, &change.path, 1, message);
            } else if changed.contains(change.path.as_str()) && !self.is_of_main(&change)? {
                self.fault(commit, &change.path, 1, "is as neither side of the merge has it");
            }
            of_none.insert(change.path);
        }
        // What the other side has is wrong in the commit that brought it there.
        new.retain(|change| of_none.contains(&change.path));
        self.files(commit, &new)
    }

    /// Refuses trailers that name another run or agent than a night or its undoing may.
    fn names_alone(&mut self, commit: &Commit, run: Option<&str>) {
        let other = commit.trailer_values("Run").find(|named| Some(*named) != run);
        let other = other.or_else(|| commit.trailer_values("Agent").find(|named| *named != SLEEP));
        if let Some(other) = other {
            let message = format!("is of a sleep, and names {other}");
            self.fault_of(Kind::Trailer, commit, "", 0, message);
        }
    }

    /// Refuses a merge in the name of a run or an agent that it does not bring: whoever reads the log takes its word.
    fn names_what_it_brings(&mut self, commit: &Commit, left: CommitId, right: CommitId) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let before = store.tree_of(left)?;
        let mut brought = Vec::new();
        for name in commit.trailer_values("Run") {
            let is_brought = match RunId::parse(name) {
                Ok(run) if commit.trailer(SLEEP_TRAILER) == Some(name) => {
                    self.cycle.sleep_file(commit.tree, &run)?.is_some()
                }
                Ok(run) => {
                    let path = layout::run(&run);
                    store.file(commit.tree, &path)?.is_some() && store.file(before, &path)?.is_none()
                }
                Err(_) => false,
            };
            if !is_brought {
                let message = format!("is a merge in the name of {name}, and brings no record of that run");
                self.fault_of(Kind::Trailer, commit, "", 0, message);
                return Ok(());
            }
            brought.extend(RunId::parse(name).map(|run| run.agent().to_string()));
        }
        // A branch whose run wake has already can bring what was noted about it.
        brought.extend(store.commit(right)?.trailer_values("Agent").map(str::to_owned));
        let agent =
            commit.trailer_values("Agent").find(|agent| !brought.iter().any(|one| one == agent)).map(str::to_owned);
        if let Some(agent) = agent {
            let message = format!("is a merge in the name of {agent}, and brings no run of it");
            self.fault_of(Kind::Trailer, commit, "", 0, message);
        }
        Ok(())
    }

    /// Whether a file is as main has it, or had it when the machine that merged saw main last: a merge brings people's files along with it.
    fn is_of_main(&self, change: &FileChange) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        let mains = [self.main, self.before, store.tip(store.main())?].into_iter().flatten();
        for main in mains.collect::<BTreeSet<_>>() {
            // What was never there is not gone.
            let walk = if change.new.is_some() { limits::HISTORY_WALK } else { 1 };
            for older in store.first_parents(main, None).take(walk) {
                if store.file(older?.tree, &change.path)? == change.new {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a merge takes neurons or what is written once away from its first parent.
    fn something_goes(&self, commit: &Commit, left: CommitId) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        let changes = store.diff(Some(store.tree_of(left)?), Some(commit.tree), layout::NETWORK)?;
        Ok(changes.iter().filter(|change| change.new.is_none()).any(|change| {
            let place = Place::of(&change.path);
            place.is_immutable() || matches!(place, Place::Neuron(_))
        }))
    }

    /// Whether the typed merge gives the commit's network.
    fn gives(
        &self,
        writer: &crate::store::ObjectWriter<'_>,
        commit: &Commit,
        policy: &MergePolicy,
        base: TreeId,
        left: CommitId,
        right: TreeId,
    ) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        let left = store.tree_of(left)?;
        let options = Options::default();
        let outcome = self.cycle.merge_trees_by(policy, base, left, right, options)?;
        if !outcome.conflicts.is_empty() {
            return Ok(false);
        }
        let merged = writer.edit(Some(left), edits_of(&outcome))?;
        Ok(store.folder(merged, layout::NETWORK)? == store.folder(commit.tree, layout::NETWORK)?)
    }

    /// The merge policy of a `brain.toml` that the brain has or had at that merge.
    fn policy(&self, commit: &Commit, named: &str, parents: [CommitId; 2]) -> Result<Option<MergePolicy>, CycleError> {
        if named == "default" {
            return Ok(Some(MergePolicy::default()));
        }
        let store = &self.cycle.store;
        let blob = BlobId::parse(named)?;
        let mut known = self.grounds.iter().any(|grounds| grounds.blob == Some(blob));
        for tree in [commit.tree, store.tree_of(parents[0])?, store.tree_of(parents[1])?] {
            known |= store.file(tree, layout::SETTINGS)?.is_some_and(|file| file.blob == blob);
        }
        // A machine that was offline merged by what main had been when it last saw it.
        let main = store.tip(store.main())?;
        let mut history = main.into_iter().flat_map(|main| store.first_parents(main, None)).take(limits::HISTORY_WALK);
        while !known {
            let Some(older) = history.next() else { return Ok(None) };
            known = store.file(older?.tree, layout::SETTINGS)?.is_some_and(|file| file.blob == blob);
        }
        Ok(Some(Settings::read(&String::from_utf8_lossy(&store.blob(blob)?), &[])?.merge))
    }

    /// A merge by plain git. It may decide as it likes, but takes nothing away that is written once.
    fn merged_by_hand(&mut self, commit: &Commit, left: CommitId, right: CommitId) -> Result<(), CycleError> {
        self.names_what_it_brings(commit, left, right)?;
        let store = &self.cycle.store;
        let bases = store.merge_bases(left, right)?;
        let bases = bases.iter().map(|base| store.tree_of(*base)).collect::<Result<Vec<_>, _>>()?;
        let (left, right) = (store.tree_of(left)?, store.tree_of(right)?);
        let changes = store.diff(Some(left), Some(commit.tree), "")?;
        let others: HashSet<String> =
            store.diff(Some(right), Some(commit.tree), "")?.into_iter().map(|change| change.path).collect();
        let mut faults = Vec::new();
        for (tree, other, name) in [(left, right, "one"), (right, left, "the other")] {
            for change in store.diff(Some(tree), Some(commit.tree), layout::NETWORK)? {
                let merged = self.gives_way(&change)? && store.file(other, &change.path)? == change.new;
                if Place::of(&change.path).is_immutable() && change.old.is_some() && !merged {
                    faults.push((
                        change.path,
                        format!("is written once for ever, and is not as {name} of its parents has it"),
                    ));
                }
            }
        }
        for (path, message) in faults {
            self.fault(commit, &path, 1, message);
        }
        let own: Vec<FileChange> = changes.iter().filter(|change| others.contains(&change.path)).cloned().collect();
        for change in &own {
            // What both sides have, or neither: a merge has nothing to decide there.
            if matches!(Place::of(&change.path), Place::Goal | Place::Flag(_))
                && store.file(right, &change.path)? == change.old
            {
                self.fault(commit, &change.path, 1, "is as neither side of the merge has it, and they agree");
            }
        }
        self.files(commit, &own)?;
        self.events_by_hand(commit, &own)?;
        self.approves_by_hand(commit, &own, Some(right))?;
        let touched = changes.iter().map(|change| &change.path).chain(&others);
        let neurons = touched.filter(|path| matches!(Place::of(path), Place::Neuron(_))).cloned().collect();
        self.decides_between(commit, (left, right), &bases, neurons)?;
        let cycle = self.cycle;
        let writer = cycle.store.writer()?;
        for change in &own {
            if let Place::Run(run) = Place::of(&change.path)
                && change.old.is_none()
            {
                self.brought(commit, &run, (&writer, left), &changes, false)?;
            }
        }
        drop(writer);
        self.metadata(commit, left)?;
        self.metadata(commit, right)?;
        self.connections(commit, &changes, Some(left))
    }

    /// Refuses a merge that changes what only one of its sides had changed, of a neuron that both had also its words, its origin and whether it is
    /// archived: it decides between sides, and what it says itself would be taken for what the run says that it lands. Of several bases one may show
    /// that both had.
    fn decides_between(
        &mut self,
        commit: &Commit,
        (left, right): (TreeId, TreeId),
        bases: &[TreeId],
        paths: BTreeSet<String>,
    ) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let mut wrong = Vec::new();
        for path in paths {
            let file = |tree| store.file(tree, &path);
            let (ours, theirs, merged) = (file(left)?, file(right)?, file(commit.tree)?);
            let mut is_wrong = !bases.is_empty();
            for base in bases {
                let before = file(*base)?;
                let is_one_sided = before == ours || before == theirs;
                is_wrong &= is_lost(&before, &ours, &theirs, &merged)
                    || !is_one_sided && loses(store, &path, [*base, left, right, commit.tree])?;
            }
            if is_wrong || ours == theirs && merged != ours {
                wrong.push(path);
            }
        }
        for path in wrong {
            let message = "is as the side that changed it does not have it: a merge decides between sides, and a commit of your own says more";
            self.fault(commit, &path, 1, message);
        }
        Ok(())
    }

    /// S: its record names what it changed.
    pub(super) fn squash(
        &mut self,
        commit: &Commit,
        parent: CommitId,
        changes: &[FileChange],
    ) -> Result<(), CycleError> {
        let run = commit.trailer("Sleep").and_then(|run| RunId::parse(run).ok());
        let record = run.as_ref().map(|run| self.cycle.sleep_file(commit.tree, run)).transpose()?.flatten();
        let Some(record) = record else {
            self.fault(commit, "", 0, "calls itself a sleep, and has no record of it");
            return Ok(());
        };
        self.names_alone(commit, Some(record.run.as_str()));
        if record.base != parent.to_string() || commit.trailer("Snapshot") != Some(record.snapshot.as_str()) {
            self.fault(commit, &layout::sleep(&record.run), 1, "is the record of a sleep that began elsewhere");
        }
        let Some(snapshot) = self.judged(&record.snapshot)? else {
            self.fault_of(
                Kind::NoDay,
                commit,
                &layout::sleep(&record.run),
                1,
                "is the record of a sleep over a snapshot that is missing".to_owned(),
            );
            return Ok(());
        };
        // Format 2 names what the trees do not say; `logged` holds it against them.
        let names_all = record.format == EVERY_LINE;
        let lines = record.learnt.iter().chain(&record.consolidated);
        // A line begins with a neuron's id, or with `neuron` and the id of one that comes or goes.
        let named: HashSet<&str> = lines
            .filter_map(|line| line.what.strip_prefix("neuron ").unwrap_or(&line.what).split(' ').next())
            .collect();
        for change in changes {
            let place = Place::of(&change.path);
            if !change.path.starts_with("network/") {
                self.fault(commit, &change.path, 1, "lies outside the network, and a sleep changes it");
            }
            if place.is_immutable() && change.old.is_some() && !self.gives_way(change)? {
                self.fault(commit, &change.path, 1, "is written once for ever, and a sleep changes it");
            }
            if place.is_immutable()
                && !told_by_sleep(&place, &record.run)
                && change.new.is_some()
                && self.cycle.store.file(snapshot.tree, &change.path)? != change.new
            {
                self.fault(commit, &change.path, 1, "is brought by a sleep, and the day that it slept over has it not");
            }
            if let Place::Neuron(id) = &place
                && names_all
                && !named.contains(id.as_str())
                && !self.says_the_same(change)?
            {
                self.fault(commit, &change.path, 1, "is changed by a sleep whose record does not name it");
            }
        }
        Ok(())
    }

    /// True where main has what one machine wrote and the day has the lesser content of another one: the merge of both, which wake has.
    fn gives_way(&self, change: &FileChange) -> Result<bool, CycleError> {
        let (Some(old), Some(new)) = (change.old, change.new) else { return Ok(false) };
        let read = |file| self.cycle.store.read_file(file, &change.path);
        let place = Place::of(&change.path);
        Ok(place.lesser_stands() && new.is_regular() && place.order(&read(new)?, &read(old)?).is_lt())
    }

    /// Whether a commit puts an answer in the place of one that stands in for it.
    pub(super) fn is_answered(&self, change: &FileChange) -> Result<bool, CycleError> {
        let place = Place::of(&change.path);
        let (Place::Acknowledgement(..), Some(old), Some(new)) = (&place, change.old, change.new) else {
            return Ok(false);
        };
        let read = |file| self.cycle.store.read_file(file, &change.path);
        Ok(new.is_regular() && place.is_answered(&read(old)?, &read(new)?))
    }

    /// True for a neuron that is only laid out anew, as an upgrade of the format does.
    fn says_the_same(&self, change: &FileChange) -> Result<bool, CycleError> {
        let (Some(old), Some(new)) = (change.old, change.new) else { return Ok(false) };
        let read = |file| -> Result<Option<Neuron>, CycleError> {
            Ok(Neuron::decode(&self.cycle.store.read_file(file, &change.path)?, &change.path).ok())
        };
        Ok(old.is_regular()
            && new.is_regular()
            && read(old)?.is_some_and(|old| read(new).is_ok_and(|new| new == Some(old))))
    }

    /// U: main without a sleep.
    pub(super) fn undone(&mut self, commit: &Commit, parent: CommitId) -> Result<(), CycleError> {
        self.names_alone(commit, None);
        let Some(night) = self.night(commit, parent)? else {
            self.fault(commit, "", 0, "takes back a sleep that main never had");
            return Ok(());
        };
        let store = &self.cycle.store;
        let before = night.parents.first().map(|id| store.tree_of(*id)).transpose()?;
        let Some(before) = before else { return Ok(()) };
        let agrees = match store.tree_of(parent)? == night.tree {
            true => commit.tree == before,
            false => self.gives(&store.writer()?, commit, &MergePolicy::default(), night.tree, parent, before)?,
        };
        if !agrees {
            self.fault(commit, "", 0, format!("does not do what taking {} back does", night.id));
        }
        Ok(())
    }

    /// The sleep that a commit takes back, in the history of main behind it.
    fn night(&self, commit: &Commit, main: CommitId) -> Result<Option<Commit>, CycleError> {
        let Some(run) = commit.trailer("Undoes") else { return Ok(None) };
        for found in self.cycle.store.first_parents(main, None).take(limits::HISTORY_WALK) {
            let found = found?;
            if found.trailer("Sleep") == Some(run) && found.parents.len() == 1 {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Wake without a sleep: `left` without what led from the snapshot to S.
    fn merge_of_undoing(
        &mut self,
        commit: &Commit,
        undone: &str,
        left: CommitId,
        right: CommitId,
    ) -> Result<(), CycleError> {
        self.names_alone(commit, None);
        let store = &self.cycle.store;
        if store.commit(right)?.trailer("Undoes") != Some(undone) {
            self.fault(commit, "", 0, format!("says that {undone} is taken back, and merges no undoing of it"));
            return Ok(());
        }
        let night = self.night(commit, right)?;
        let wake = left;
        let snapshot = night.as_ref().and_then(|night| {
            Some((RunId::parse(night.trailer("Sleep")?).ok()?, CommitId::parse(night.trailer("Snapshot")?).ok()?))
        });
        let (Some(night), Some((run, snapshot))) = (night, snapshot) else {
            self.fault(commit, "", 0, format!("takes back {undone}, a sleep that main never had"));
            return Ok(());
        };
        let options = Options { returning: true };
        let left = store.tree_of(left)?;
        let writer = store.writer()?;
        let main = night.parents.first().map_or(Ok(night.tree), |main| store.tree_of(*main))?;
        let night = Night { run, commit: night, snapshot };
        let mut agrees = commit.tree == left;
        if !self.cycle.took_back(wake, &night)? {
            agrees = false;
            for origins in self.origins_of_night(main)? {
                let slept = night.commit.tree;
                let returned = self.cycle.snapshot_tree(&writer, &night.run, snapshot, &origins)?;
                let outcome = self.cycle.merge_trees_by(&MergePolicy::default(), slept, left, returned, options)?;
                agrees = outcome.conflicts.is_empty() && writer.edit(Some(left), edits_of(&outcome))? == commit.tree;
                if agrees {
                    break;
                }
            }
        }
        drop(writer);
        if !agrees {
            self.fault(commit, "", 0, format!("does not do what taking {undone} back does"));
        }
        Ok(())
    }
}

/// Whether a merge has something otherwise than the side that alone changed it, or otherwise than both sides that did not.
fn is_lost<T: PartialEq>(base: &T, ours: &T, theirs: &T, merged: &T) -> bool {
    (ours == base && merged != theirs) || (theirs == base && merged != ours)
}

/// The same of the words, the origin and the archiving of a neuron that both sides changed; the trees are those of the base, of the sides and of the
/// merge.
fn loses(store: &Store, path: &str, trees: [TreeId; 4]) -> Result<bool, CycleError> {
    let mut neurons = Vec::with_capacity(trees.len());
    for tree in trees {
        neurons.extend(store.read(tree, path)?.and_then(|bytes| Neuron::decode(&bytes, path).ok()));
    }
    let [base, ours, theirs, merged] = &neurons[..] else { return Ok(false) };
    Ok(is_lost(&base.concept, &ours.concept, &theirs.concept, &merged.concept)
        || is_lost(&base.archived, &ours.archived, &theirs.archived, &merged.archived)
        || is_lost(&base.origin, &ours.origin, &theirs.origin, &merged.origin))
}
