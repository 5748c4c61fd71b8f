//! The log of a sleep, held against the trees: each value that it says was there before and after, and each that it leaves out.

use super::Judge;
use super::run::Grounds;
use crate::consolidation::SleepRecord;
use crate::cycle::sleep::{largest_of, message_of};
use crate::cycle::{Cycle, CycleError};
use crate::model::Neuron;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::origin::Origins;
use crate::store::{Author, Commit, CommitId, CommitSpec, FileChange, TreeId};

/// Whether the message of S is made of its record, which has all lines: people read that, and `git log`.
fn says_of(commit: &Commit, record: &SleepRecord) -> Result<bool, CycleError> {
    let (subject, body) = message_of(record, &largest_of(record));
    let spec = CommitSpec {
        tree: commit.tree,
        parents: commit.parents.clone(),
        author: Author::User,
        at: commit.at,
        subject,
        body,
        trailers: commit.trailers.clone(),
    };
    Ok(spec.message()?.trim_end() == commit.message.trim_end())
}

impl Judge<'_> {
    /// S, which changes main from `before`: its record says all that it changed, and of a neuron nothing changes that no sleep
    /// changes.
    pub(super) fn logged(&mut self, commit: &Commit, before: TreeId) -> Result<(), CycleError> {
        let run = commit.trailer("Sleep").and_then(|run| RunId::parse(run).ok());
        let record = run.as_ref().map(|run| self.cycle.sleep_file(commit.tree, run)).transpose()?.flatten();
        // What is no sleep, or one that began elsewhere, was told already.
        let Some((run, record)) = run.zip(record) else { return Ok(()) };
        let began = commit.parents.first().map(CommitId::to_string) == Some(record.base.clone());
        if !began || commit.trailer("Snapshot") != Some(&record.snapshot) {
            return Ok(());
        }
        let Some(snapshot) = self.judged(&record.snapshot)? else { return Ok(()) };
        // Without what is tainted, which takes a look at the whole network: only if it is not the snapshot as it is.
        let mut day = snapshot.tree;
        let mut misstated = self.cycle.misstated(&record, before, day, commit.tree)?;
        let writer = self.cycle.store.writer()?;
        if misstated.is_some() || self.left_out(day, commit.tree)?.is_some() {
            for origins in self.origins_of_night(before)? {
                let approved = self.cycle.snapshot_tree(&writer, &run, snapshot.id, &origins)?;
                if approved != day {
                    day = approved;
                    misstated = self.cycle.misstated(&record, before, day, commit.tree)?;
                }
                if misstated.is_none() && self.left_out(day, commit.tree)?.is_none() {
                    break;
                }
            }
        }
        let record = self.cycle.with_lines(record, before, day, commit.tree)?;
        let told = says_of(commit, &record)?;
        let changed = self.cycle.changed_by_night((before, day), commit.tree, &run)?;
        let left_out = self.left_out(day, commit.tree)?;
        drop(writer);
        if !told {
            self.fault(commit, "", 0, "is a sleep, and its message is not that of its record");
        }
        if let Some(why) = misstated {
            self.fault(commit, &layout::sleep(&run), 1, why);
        }
        if let Some(path) = left_out {
            self.fault(commit, &path, 1, "is written once for ever, and the sleep leaves it out");
        }
        for (path, message) in changed {
            self.fault(commit, &path, 1, message);
        }
        Ok(())
    }

    /// How far a night may have trusted: as this machine does now; as main said when it fell asleep; and as who had not accepted that yet.
    pub(super) fn origins_of_night(&self, main: TreeId) -> Result<Vec<Origins>, CycleError> {
        let mut all = vec![self.cycle.shared.policy.settings.origins.clone()];
        // Settings that cannot be read are a fault already.
        if let Ok(grounds) = Grounds::of_tree(&self.cycle.store, main) {
            let said = grounds.settings.origins;
            for origins in [said.stricter(&Origins::default()), said] {
                if !all.contains(&origins) {
                    all.push(origins);
                }
            }
        }
        Ok(all)
    }

    /// A file of the day that is written once, and that the tree of a sleep does not have.
    fn left_out(&self, day: TreeId, tree: TreeId) -> Result<Option<String>, CycleError> {
        let changes = self.cycle.store.diff(Some(day), Some(tree), layout::NETWORK)?;
        let gone = |change: &FileChange| change.new.is_none() && Place::of(&change.path).is_immutable();
        Ok(changes.into_iter().find(gone).map(|change| change.path))
    }
}

impl Cycle {
    /// Neurons that a sleep makes, and those of which it says what they are or where they come from: the day does that, or main.
    pub(in crate::cycle) fn changed_by_night(
        &self,
        (main, day): (TreeId, TreeId),
        tree: TreeId,
        run: &RunId,
    ) -> Result<Vec<(String, String)>, CycleError> {
        let store = &self.store;
        let mut found = Vec::new();
        for change in store.diff(Some(day), Some(tree), layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&change.path) else { continue };
            let Some(new) = change.new.filter(|file| file.is_regular()) else { continue };
            // What does not parse was told already.
            let Ok(after) = self.shared.neurons.read(store, new, &change.path, &id) else { continue };
            let mut sources = Vec::new();
            for tree in [day, main] {
                if let Some(file) = store.file(tree, &change.path)?.filter(|file| file.is_regular()) {
                    sources.push(self.shared.neurons.read(store, file, &change.path, &id)?);
                }
            }
            let same = |of: fn(&Neuron, &Neuron) -> bool| sources.iter().any(|source| of(source, &after));
            let what = match () {
                () if sources.is_empty() => "is made",
                () if !same(|a, b| a.concept == b.concept && a.kind == b.kind) => "is called otherwise",
                () if !same(|a, b| a.origin == b.origin) => "is said to come from elsewhere",
                () => continue,
            };
            found.push((change.path, format!("{what} by the sleep {run}, and no sleep does that")));
        }
        Ok(found)
    }
}
