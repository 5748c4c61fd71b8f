//! A run that both sides took back, each by a run of its own, is taken back once.
//!
//! Two machines can revert the same run before they meet. Each revert is a run that one side alone has, so that the merge would
//! count both. Therefore the base gets what both did: the run is taken back there as well, and a side's own change is what is left.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::replay::{give_way, take_back};
use super::shared::Shared;
use super::tree::{Merge, MergeError, Merged, Side, Sides};
use crate::delta::{Effect, RunRecord, reverted_among};
use crate::model::Neuron;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::model::settings::MergePolicy;

impl<S: Sides> Merge<'_, S>
where
    S::Error: std::error::Error + 'static,
{
    /// Takes back in the base what each side took back by itself. Asks for left's changes only where right brings a revert.
    pub(super) fn take_back_what_both_did(&mut self, changed: &[String]) -> Merged<(), S> {
        let theirs = self.reverting(Side::Right, changed)?;
        if theirs.is_empty() {
            return Ok(());
        }
        let ours = self.changed(Side::Left)?;
        let ours = self.reverting(Side::Left, &ours)?;
        self.taken_back = self.own(&ours).union(&self.own(&theirs)).cloned().collect();
        let both: BTreeSet<RunId> = self.own(&ours).intersection(&self.own(&theirs)).cloned().collect();
        if both.is_empty() {
            return Ok(());
        }
        let before = self.sides.reverting(Side::Base);
        let before = before.map_err(|source| MergeError::Read { path: String::new(), source })?;
        let before: Vec<RunRecord> =
            before.iter().map(|(path, bytes)| RunRecord::decode(bytes, path)).collect::<Result<_, _>>()?;
        let before = reverted_among(&newest_first(before));
        self.both_took_back = both.into_iter().filter(|run| !before.contains_key(run)).collect();
        for run in self.both_took_back.clone().iter().rev() {
            let Some(record) = self.record(Side::Right, run)? else { continue };
            for effect in &record.effects {
                let Some(id) = effect.id() else { continue };
                let there = match self.shared_neurons.get(id) {
                    Some(shared) => Some(shared.neuron.clone()),
                    None => self.neuron(Side::Base, id)?.map(|neuron| Neuron::clone(&neuron)),
                };
                let Some(after) = without(effect, run, there.as_ref()) else { continue };
                match self.shared_neurons.entry(id.clone()) {
                    Entry::Occupied(mut shared) => shared.get_mut().neuron = after,
                    Entry::Vacant(free) => drop(free.insert(Shared::new(there, &Effect::default(), after))),
                }
            }
        }
        Ok(())
    }

    /// A merged neuron without names and types of runs that one of the sides took back, while the other took back what came after them.
    pub(super) fn without_names_taken_back(&mut self, neuron: &mut Neuron) -> Merged<(), S> {
        if self.taken_back.is_empty() {
            return Ok(());
        }
        let taken_back = std::mem::take(&mut self.taken_back);
        let given_way = give_way(neuron, |run| taken_back.contains(run), |run| self.record(Side::Right, run));
        self.taken_back = taken_back;
        given_way
    }

    /// A record that one side alone has, as it acts on one neuron beside what both sides took back already.
    pub(super) fn of_one_side(
        &mut self,
        side: Side,
        mut record: RunRecord,
        id: &NeuronId,
    ) -> Merged<Vec<RunRecord>, S> {
        record.effects.retain(|effect| effect.id() == Some(id));
        let alone: Vec<RunId> =
            record.reverts.iter().filter(|run| !self.both_took_back.contains(*run)).cloned().collect();
        if alone.len() == record.reverts.len() {
            return Ok(vec![record]);
        }
        // It also took back others: those alone, each the other way round.
        let mut found = Vec::new();
        for run in alone {
            let Some(mut other) = self.record(side, &run)? else { continue };
            other.effects.retain(|effect| effect.id() == Some(id));
            found.push(other);
        }
        Ok(found)
    }

    /// The records of people that take runs back, of those that a side has and the base has not, newest first.
    fn reverting(&mut self, side: Side, changed: &[String]) -> Merged<Vec<RunRecord>, S> {
        let mut records = Vec::new();
        for path in changed {
            let Place::Run(run) = Place::of(path) else { continue };
            if !run.is_a_persons() || self.read(Side::Base, path)?.is_some() {
                continue;
            }
            let Some(bytes) = self.read(side, path)? else { continue };
            if RunRecord::may_revert(&bytes) {
                records.push(RunRecord::decode(&bytes, path)?);
            }
        }
        Ok(newest_first(records))
    }

    /// The runs that a side took back by runs that it alone has, and that stay so there.
    fn own(&self, records: &[RunRecord]) -> BTreeSet<RunId> {
        let is_shared = |run: &RunId| self.outcome.shared.binary_search(run).is_ok();
        let shared: Vec<RunRecord> = records.iter().filter(|record| is_shared(&record.run)).cloned().collect();
        let shared = reverted_among(&shared);
        let stays: BTreeMap<RunId, RunId> = reverted_among(records);
        stays.into_keys().filter(|run| !shared.contains_key(run)).collect()
    }

    fn record(&mut self, side: Side, run: &RunId) -> Merged<Option<RunRecord>, S> {
        let path = layout::run(run);
        let bytes = self.read(side, &path)?;
        Ok(bytes.map(|bytes| RunRecord::decode(&bytes, &path)).transpose()?)
    }
}

fn newest_first(mut records: Vec<RunRecord>) -> Vec<RunRecord> {
    records.sort_by(|a, b| b.run.cmp(&a.run));
    records
}

/// A neuron of the base without what a run did to it. Marks stay those of the base: which runs touched the neuron, the sides say.
fn without(effect: &Effect, run: &RunId, there: Option<&Neuron>) -> Option<Neuron> {
    match (there, &effect.removed) {
        // A revert had removed it: it is back on both sides.
        (None, Some(removed)) => Some((**removed).clone()),
        (Some(there), None) => {
            let taken = take_back(effect, run, there, &MergePolicy::default()).neuron?;
            Some(Neuron { version: there.version, run: there.run.clone(), archived: there.archived.clone(), ..taken })
        }
        _ => None,
    }
}
