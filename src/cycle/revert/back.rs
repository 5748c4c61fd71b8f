//! The work of taking back, neuron by neuron.

use std::collections::{BTreeMap, BTreeSet};

use super::{Chosen, Reverted};
use crate::cycle::network::TreeNetwork;
use crate::cycle::statement::{Made, revived, settled, takes_back, without_lost_ties};
use crate::cycle::{Cycle, CycleError};
use crate::delta::{Effect, Operation, RunRecord};
use crate::limits;
use crate::merge;
use crate::model::document::Goal;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::model::neuron::Version;
use crate::model::settings::MergePolicy;
use crate::model::{Acknowledgement, Flag, Kind, Neuron, Signal, Stamp, json};
use crate::store::{CommitId, TreeEdit, TreeId};

/// Reverts of other machines that the merge counted once with one that is taken back now.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Those of nothing else: they are taken back with it, and have nothing of their own to give back.
    pub(super) twins: Vec<RunRecord>,
    /// Runs that others of them take back besides: these stay taken back.
    pub(super) stays: Vec<RunRecord>,
}

/// Taking back on its way.
pub(super) struct Back<'a> {
    pub(super) cycle: &'a Cycle,
    pub(super) tree: TreeId,
    pub(super) base: CommitId,
    pub(super) by: &'a RunId,
    pub(super) network: TreeNetwork<'a>,
    /// The runs that are taken back once this is done.
    pub(super) taken_back: BTreeSet<RunId>,
    pub(super) out: Reverted,
}

/// What the runs did to one neuron, newest first.
type Touches<'r> = Vec<(&'r RunRecord, &'r Effect)>;

impl Back<'_> {
    pub(super) fn neurons(&mut self, chosen: &Chosen, beside: &Beside) -> Result<(), CycleError> {
        let mut touched: BTreeMap<NeuronId, Touches<'_>> = BTreeMap::new();
        for record in chosen.iter().chain(&beside.stays) {
            for effect in &record.effects {
                let Some(id) = effect.id() else { continue };
                let mut touch = (record, effect);
                // What one machine removed is there, because another one had more in it, and says what went.
                if effect.removed.is_some() && self.network.neuron(id)?.is_some() {
                    let effects = beside.twins.iter().flat_map(|twin| twin.effects.iter().map(move |e| (twin, e)));
                    let mut same = effects.filter(|(_, e)| e.id() == Some(id) && e.removed.is_none());
                    touch = same.next().unwrap_or(touch);
                }
                touched.entry(id.clone()).or_default().push(touch);
            }
        }
        let mut exact: BTreeMap<NeuronId, Option<Neuron>> = BTreeMap::new();
        let mut summed: BTreeSet<NeuronId> = BTreeSet::new();
        for (id, touches) in &touched {
            match self.as_before(id, touches)? {
                Some(before) => drop(exact.insert(id.clone(), before)),
                None => drop(summed.insert(id.clone())),
            }
        }
        // Something else may point to what would go: then it stays, emptied.
        let mut results: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
        for id in &summed {
            results.extend(self.subtracted(id, &touched[id])?.map(|after| (id.clone(), after)));
        }
        loop {
            let gone: BTreeSet<NeuronId> =
                exact.iter().filter(|(_, n)| n.is_none()).map(|(id, _)| id.clone()).collect();
            let stay = self.still_pointed_to(&gone, &exact, &results)?;
            if stay.is_empty() {
                break;
            }
            for id in stay {
                exact.remove(&id);
                results.extend(self.subtracted(&id, &touched[&id])?.map(|after| (id.clone(), after)));
            }
        }
        self.statements(chosen, &touched, &exact, &mut results)?;
        self.keep_shared_concepts(&touched, &exact, &mut results)?;
        self.out.exact = exact.len();
        let gone: BTreeSet<NeuronId> = exact.iter().filter(|(_, n)| n.is_none()).map(|(id, _)| id.clone()).collect();
        for (id, before) in exact {
            let now = self.network.neuron(&id)?;
            match (now, before) {
                (Some(now), None) => drop(self.out.amends.removed.insert(id, now)),
                (now, Some(before)) if now.as_ref() != Some(&before) => {
                    self.out.amends.unmarked.insert(id.clone());
                    self.out.applied.neurons.insert(id, (now, before));
                }
                _ => {}
            }
        }
        for (id, mut after) in results {
            let now = self.network.neuron(&id)?;
            after.connections.retain(|c| !gone.contains(&c.target));
            after.version = now.as_ref().unwrap_or(&after).version.toggled(self.by);
            after.run = Some(self.by.clone());
            self.out.applied.neurons.insert(id, (now, after));
        }
        Ok(())
    }

    /// The neuron as it was before the runs (`Some(None)`: there was none), if nothing else has touched it since; else `None`.
    ///
    /// Equal versions are the same set of runs. What people changed by hand leaves no mark there, so the values are compared too.
    fn as_before(&self, id: &NeuronId, touches: &Touches<'_>) -> Result<Option<Option<Neuron>>, CycleError> {
        let now = self.network.neuron(id)?;
        let Some((oldest, first)) = touches.last() else { return Ok(None) };
        let moved =
            touches.iter().fold(Version::default(), |sum, (record, effect)| sum.xor(effect.version_moved(&record.run)));
        let version = now.as_ref().map_or(Version::default(), |n| n.version).xor(moved);
        let before = match oldest.base.as_deref().and_then(|base| CommitId::parse(base).ok()) {
            Some(base) => match self.cycle.store.commit(base) {
                Ok(base) => TreeNetwork::new(&self.cycle.store, base.tree).neuron(id)?,
                // A shallow clone may not have it.
                Err(_) => return Ok(None),
            },
            None => None,
        };
        if before.as_ref().map_or(Version::default(), |n| n.version) != version {
            return Ok(None);
        }
        let made = first.created.is_some();
        if before.is_none() && !made {
            return Ok(None);
        }
        let Some(mut undone) = now else { return Ok(touches[0].1.removed.is_some().then_some(before)) };
        // Where several of the runs made it side by side, what each brought cannot be told from the values.
        if before.is_none() && touches.iter().filter(|(_, effect)| effect.created.is_some()).count() > 1 {
            return Ok(Some(None));
        }
        for (_, effect) in touches.iter().filter(|(_, effect)| effect.created.is_none()) {
            undone = effect.set_on(&undone, false);
        }
        let expected = match (&before, &first.created) {
            (Some(before), _) => before.clone(),
            (None, Some(created)) => (**created).clone(),
            (None, None) => return Ok(None),
        };
        let same = Neuron { version: expected.version, run: expected.run.clone(), ..undone } == expected;
        Ok(same.then_some(before))
    }

    /// The neuron without what the runs did to it; `None`: it is gone.
    fn subtracted(&self, id: &NeuronId, touches: &Touches<'_>) -> Result<Option<Neuron>, CycleError> {
        let Some(mut neuron) = self.network.neuron(id)? else { return Ok(None) };
        for (_, effect) in touches {
            let merged = merge::take_back(effect, self.by, &neuron, &MergePolicy::default());
            neuron = merged.neuron.unwrap_or(neuron);
        }
        merge::give_way(&mut neuron, |run| self.taken_back.contains(run), |run| self.network.record(run))?;
        Ok(Some(neuron))
    }

    /// What several made stays while one of them stands, and comes back once one does again: as those say that stand.
    fn statements(
        &mut self,
        chosen: &Chosen,
        touched: &BTreeMap<NeuronId, Touches<'_>>,
        exact: &BTreeMap<NeuronId, Option<Neuron>>,
        results: &mut BTreeMap<NeuronId, Neuron>,
    ) -> Result<(), CycleError> {
        let taken_back = std::mem::take(&mut self.taken_back);
        let is_taken_back = |run: &RunId| taken_back.contains(run);
        let mut said = self.cycle.said_by(&self.network, chosen, &is_taken_back)?;
        // What others archived or restored as well.
        let was_archived = |id: &NeuronId| touched[id].iter().any(|(_, effect)| effect.archived.is_some());
        for (id, after) in results.iter().filter(|(id, _)| was_archived(id)) {
            said.entry(id.clone()).or_insert(after.created_at);
        }
        let (mut open, mut made) = (BTreeMap::new(), Made::new());
        for (id, oldest) in said.into_iter().filter(|(id, _)| !exact.contains_key(id)) {
            let after = match results.get(&id) {
                Some(after) => Some(after.clone()),
                None => self.cycle.as_it_is_or_went(&self.network, &id)?,
            };
            let Some(after) = after else { continue };
            made.insert(id.clone(), after.created_at.min(oldest));
            open.insert(id, after);
        }
        let mut stays: BTreeMap<String, Vec<NeuronId>> = BTreeMap::new();
        let once_more = self.taken_back_once_more(chosen, &taken_back)?;
        for (id, told) in self.cycle.told_without(&made, self.base, &is_taken_back)? {
            let now = self.network.neuron(&id)?;
            let Some(mut after) = open.remove(&id) else { continue };
            let Some(said) = told.neuron else {
                // When it was taken back first, others said it as well, so that nothing went then.
                let lives = now.is_some() && !after.is_archived();
                for effect in once_more.iter().filter(|effect| lives && effect.id() == Some(&id)) {
                    let merged = merge::take_back(effect, self.by, &after, &MergePolicy::default());
                    after = merged.neuron.unwrap_or(after);
                }
                if after.archived.as_ref() == Some(self.by) {
                    results.insert(id, after);
                }
                continue;
            };
            let is_emptied = match &after.archived {
                // A revert or a night took it away, and those that say it stand.
                _ if now.is_none() && !said.is_archived() => true,
                Some(by) => by == self.by || self.network.record(by)?.is_some_and(|record| takes_back(&record)),
                None => false,
            };
            let now_is_there = now.is_some();
            let now = now.filter(|now| !now.is_archived());
            if now.is_some()
                && !said.is_archived()
                && let Some(maker) = told.makers.first()
            {
                let by = maker.as_ref().map_or_else(|| "a commit by hand".to_owned(), RunId::to_string);
                stays.entry(by).or_default().push(id.clone());
            }
            let is_settled = !is_emptied && now_is_there && settled(&after, &said);
            after = match (is_emptied, is_settled) {
                (true, _) => revived(&after, &said),
                (_, true) => Neuron { origin: said.origin, archived: said.archived, ..after },
                _ => Neuron { origin: said.origin, ..after },
            };
            if let Some(now) = now.filter(|now| is_emptied && now.salience > 0) {
                (after.salience, after.last_salience_update) = (now.salience, now.last_salience_update);
                after.activation_count = now.activation_count;
            }
            if is_emptied || is_settled || results.contains_key(&id) {
                results.insert(id, after);
            }
        }
        self.out.applied.notes.extend(stays.into_iter().map(|(by, ids)| match &ids[..] {
            [id] => format!("{id} stays: {by} says it as well"),
            _ => format!("{} memories stay, {} among them: {by} says them as well", ids.len(), ids[0]),
        }));
        self.taken_back = taken_back;
        let there: BTreeSet<NeuronId> = results.keys().cloned().collect();
        for neuron in results.values_mut() {
            let is_there = |id: &NeuronId| Ok(there.contains(id) || self.network.shared(id)?.is_some());
            *neuron = without_lost_ties(neuron.clone(), is_there)?;
        }
        Ok(())
    }

    /// Effects of the runs, newest first, that are taken back again because what had brought them back is taken back.
    fn taken_back_once_more(&self, chosen: &Chosen, taken_back: &BTreeSet<RunId>) -> Result<Vec<Effect>, CycleError> {
        let before = self.cycle.reverted(self.tree)?;
        let is_chosen = |run: &RunId| chosen.iter().any(|record| record.run == *run);
        let mut effects = Vec::new();
        for run in taken_back.iter().rev().filter(|run| !before.contains_key(*run) && !is_chosen(run)) {
            let record = self.network.record(run)?.filter(|record| !takes_back(record));
            effects.extend(record.into_iter().flat_map(|record| record.effects));
        }
        Ok(effects)
    }

    /// Of neurons that would go, those that something which stays points to.
    fn still_pointed_to(
        &self,
        gone: &BTreeSet<NeuronId>,
        exact: &BTreeMap<NeuronId, Option<Neuron>>,
        results: &BTreeMap<NeuronId, Neuron>,
    ) -> Result<BTreeSet<NeuronId>, CycleError> {
        let mut stay = BTreeSet::new();
        for source in self.cycle.pointing_to(self.tree, gone)? {
            let after = match (exact.get(&source), results.get(&source)) {
                (Some(before), _) => before.clone(),
                // What only the runs tied has no weight any more, and is cut.
                (None, Some(after)) => {
                    let mut after = after.clone();
                    after.connections.retain(|c| c.weight > 0);
                    Some(after)
                }
                (None, None) => self.network.neuron(&source)?,
            };
            let targets = after.into_iter().flat_map(|n| n.connections).map(|c| c.target);
            stay.extend(targets.filter(|target| *target != source && gone.contains(target)));
        }
        Ok(stay)
    }

    /// A concept that the runs made, and that memories which stay have as well, is theirs: it is no more archived than before, nor duller.
    fn keep_shared_concepts(
        &self,
        touched: &BTreeMap<NeuronId, Touches<'_>>,
        exact: &BTreeMap<NeuronId, Option<Neuron>>,
        results: &mut BTreeMap<NeuronId, Neuron>,
    ) -> Result<(), CycleError> {
        let made = |id: &NeuronId| touched[id].iter().any(|(_, effect)| effect.created.is_some());
        let concepts = results.iter().filter(|(id, after)| after.kind == Kind::Semantic && made(id));
        let concepts: BTreeSet<NeuronId> = concepts.map(|(id, _)| id.clone()).collect();
        for source in self.cycle.pointing_to(self.tree, &concepts)? {
            let memory = match (exact.get(&source), results.get(&source)) {
                (Some(before), _) => before.clone(),
                (None, Some(after)) => Some(after.clone()),
                (None, None) => self.network.neuron(&source)?,
            };
            let Some(memory) = memory.filter(|n| n.kind == Kind::Episodic && n.archived.is_none()) else { continue };
            for tie in memory.connections.iter().filter(|tie| tie.weight > 0 && concepts.contains(&tie.target)) {
                let Some(now) = self.network.neuron(&tie.target)? else { continue };
                let Some(after) = results.get_mut(&tie.target) else { continue };
                after.archived = now.archived;
                (after.salience, after.last_salience_update) = (now.salience, now.last_salience_update);
            }
        }
        Ok(())
    }

    /// Answers the signals of the runs that still wait.
    pub(super) fn signals(&mut self, chosen: &Chosen, clock: Stamp) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        for record in chosen {
            let sent =
                record.ops.iter().filter_map(|op| if let Operation::Signal(op) = op { Some(&op.to) } else { None });
            for (index, to) in sent.enumerate() {
                let id = Signal::id_of(&record.run, index);
                let there = store.file(self.tree, &layout::signal(to, &id))?.is_some();
                if there && store.file(self.tree, &layout::acknowledgement(to, &id))?.is_none() {
                    self.out.applied.acknowledgements.push(Acknowledgement {
                        signal: id,
                        by: to.clone(),
                        run: self.by.clone(),
                        created_at: clock,
                        payload: serde_json::json!({"reverted": record.run}),
                    });
                }
            }
        }
        Ok(())
    }

    /// Flags and goals that one of the runs set last, as they were before.
    pub(super) fn switches(&mut self, chosen: &Chosen) -> Result<(), CycleError> {
        let runs: BTreeSet<&RunId> = chosen.iter().map(|record| &record.run).collect();
        let mut paths: BTreeMap<String, &RunRecord> = BTreeMap::new();
        for record in chosen {
            for op in &record.ops {
                let path = match op {
                    Operation::Flag(op) => layout::flag(&op.name),
                    Operation::Goal(op) => layout::goal(&op.id.clone().unwrap_or_else(|| Goal::id_of(&op.text))),
                    _ => continue,
                };
                // The last one is the oldest.
                paths.insert(path, record);
            }
        }
        for (path, oldest) in paths {
            let Some(bytes) = self.cycle.store.read(self.tree, &path)? else { continue };
            if !set_by(&path, &bytes)?.is_some_and(|run| runs.contains(&run)) {
                continue;
            }
            let base = oldest.base.as_deref().and_then(|base| CommitId::parse(base).ok());
            let before = match base.map(|base| self.cycle.store.tree_of(base)) {
                Some(Ok(tree)) => self.cycle.store.read(tree, &path)?,
                _ => None,
            };
            if before.as_ref() != Some(&bytes) {
                self.out.amends.files.push(TreeEdit::new(path, before));
            }
        }
        Ok(())
    }
}

/// The run that set a flag or goal last.
fn set_by(path: &str, bytes: &[u8]) -> Result<Option<RunId>, CycleError> {
    Ok(match Place::of(path) {
        Place::Flag(_) => json::strict::<Flag>(bytes, path, limits::DOCUMENT_BYTES)?.run,
        _ => Goal::decode(bytes, path)?.run,
    })
}
