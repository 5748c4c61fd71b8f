//! Runs of agents that a person's commit brings elsewhere than they were made: by cherry-pick, by a squash on a forge, by hand.
//!
//! Their records were held against their operations. Here the commit is held against the records: it has all that those runs made, as
//! the typed merge lands it. A record alone would say that a run landed whose words nobody has, and other words beside a record would
//! stand under its approval.

use std::collections::BTreeMap;

use super::{Judge, Kind};
use crate::cycle::CycleError;
use crate::cycle::merge::edits_of;
use crate::delta::Effect;
use crate::merge::Options;
use crate::model::Neuron;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::settings::MergePolicy;
use crate::store::{Commit, ObjectWriter, TreeId};

/// A run that a commit brings, and what it made where it was made.
pub(super) struct Brought {
    pub run: RunId,
    /// The tree that it started from.
    pub base: TreeId,
    /// That tree with what it did.
    pub own: TreeId,
}

impl Judge<'_> {
    /// Refuses a commit of a person that has something else in place of what its runs made.
    pub(super) fn brings_whole(
        &mut self,
        writer: &ObjectWriter<'_>,
        commit: &Commit,
        (records, before): (&[RunId], TreeId),
        brought: &[Brought],
    ) -> Result<(), CycleError> {
        if brought.is_empty() {
            return Ok(());
        }
        let mut wrong: Option<Vec<(String, RunId)>> = None;
        let default = MergePolicy::default();
        for policy in self.grounds.iter().map(|grounds| &grounds.settings.merge).chain([&default]) {
            let found = self.not_as_merged(writer, (commit, records, before), brought, policy)?;
            if found.is_empty() {
                return Ok(());
            }
            wrong = wrong.or(Some(found));
        }
        let mut by_run: BTreeMap<RunId, Vec<String>> = BTreeMap::new();
        wrong.into_iter().flatten().for_each(|(path, run)| by_run.entry(run).or_default().push(path));
        for (run, paths) in by_run {
            let more = if paths.len() > 1 { format!(", and {} more", paths.len() - 1) } else { String::new() };
            let message = format!("is brought without what its run made: {} is not as it made it{more}", paths[0]);
            self.fault_of(Kind::Other, commit, &layout::run(&run), 1, message);
        }
        Ok(())
    }

    /// The files that runs made and that a commit has otherwise than the typed merge of those runs into the tree before it.
    fn not_as_merged(
        &self,
        writer: &ObjectWriter<'_>,
        (commit, records, before): (&Commit, &[RunId], TreeId),
        brought: &[Brought],
        policy: &MergePolicy,
    ) -> Result<Vec<(String, RunId)>, CycleError> {
        let store = &self.cycle.store;
        let (mut merged, mut wrong) = (before, Vec::new());
        for one in brought {
            let outcome = self.cycle.merge_trees_by(policy, one.base, merged, one.own, Options::default())?;
            let undecided = outcome.conflicts.iter().map(|conflict| (conflict.neuron.clone(), one.run.clone()));
            wrong.extend(undecided);
            merged = writer.edit(Some(merged), edits_of(&outcome))?;
        }
        for one in brought {
            for change in store.diff(Some(one.base), Some(one.own), layout::NETWORK)? {
                let place = Place::of(&change.path);
                // The queue is what a commit consumed; a run that was taken in elsewhere may have been answered meanwhile.
                if matches!(place, Place::Queue(_)) {
                    continue;
                }
                let there = store.file(commit.tree, &change.path)?;
                if there == store.file(merged, &change.path)? {
                    continue;
                }
                let is_neuron = matches!(place, Place::Neuron(_));
                if is_neuron && self.is_of_a_person(commit, merged, &change.path, records)? {
                    continue;
                }
                wrong.push((change.path, one.run.clone()));
            }
        }
        Ok(wrong)
    }

    /// Whether a run of a person, whose record the commit brings as well, says just what became of a neuron after the runs of agents.
    fn is_of_a_person(
        &self,
        commit: &Commit,
        merged: TreeId,
        path: &str,
        records: &[RunId],
    ) -> Result<bool, CycleError> {
        let store = &self.cycle.store;
        let neuron = |tree: TreeId| -> Result<Option<Neuron>, CycleError> {
            let bytes = store.read(tree, path)?;
            Ok(bytes.and_then(|bytes| Neuron::decode(&bytes, path).ok()))
        };
        let Some(after) = neuron(commit.tree)? else { return Ok(false) };
        let Some(run) = after.run.as_ref().filter(|run| run.is_a_persons() && records.contains(run)) else {
            return Ok(false);
        };
        let Some(record) = self.record(commit.tree, run)? else { return Ok(false) };
        let effect = Effect::between(neuron(merged)?.as_ref(), &after);
        Ok(record.effects.contains(&effect))
    }
}
