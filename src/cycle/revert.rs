//! Taking back: from runs in wake to what one run of a person changes so that it is as if they had not been.
//!
//! A neuron that nothing else has touched since becomes what it was before, to the byte, marks included; one that the runs made goes.
//! Where others have touched it, the runs' effects are subtracted by the typed merge, and what the others did stays. Records, stimuli,
//! signals and answers stay: they are the audit. Signals that still wait are answered, so that they wake nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::commit::Amends;
use super::network::TreeNetwork;
use super::trailers::SLEEP;
use super::{Cycle, CycleError};
use crate::delta::{Applied, Effect, Operation, RunRecord, reverted_among};
use crate::limits;
use crate::merge;
use crate::model::document::Goal;
use crate::model::ids::{NeuronId, RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::neuron::Version;
use crate::model::settings::MergePolicy;
use crate::model::{Acknowledgement, Flag, Kind, Neuron, Origin, Signal, Stamp, json};
use crate::store::{CommitId, TreeEdit, TreeId};

/// What taking runs back does.
#[derive(Debug, Default)]
pub struct Reverted {
    /// What changes as by a delta.
    pub applied: Applied,
    /// What no delta can say.
    pub amends: Amends,
    /// Neurons that become exactly what they were before, those that go included.
    pub exact: usize,
}

/// What archived the memories that runs replaced.
#[derive(Debug, Default)]
pub struct Archivals {
    /// Runs that did nothing besides, newest first.
    pub alone: Chosen,
    /// Runs that did more.
    pub wider: Chosen,
    /// Memories that a night has removed since.
    pub removed: Vec<NeuronId>,
}

/// The runs that are to be taken back, newest first.
pub type Chosen = Vec<RunRecord>;

impl Cycle {
    /// One run, if it is in the tree and not taken back already.
    pub fn run_to_revert(&self, run: &RunId, tree: TreeId) -> Result<Chosen, CycleError> {
        let Some(record) = TreeNetwork::new(&self.store, tree).record(run)? else {
            let hint = match run.agent().as_str() == SLEEP {
                true => Some("that is a night: `git brain sleep --undo` takes the newest one back".to_owned()),
                false => self.hint_of_unknown_run()?,
            };
            return Err(CycleError::Refused { message: format!("there is no run {run} in wake"), hint });
        };
        if record.is_left_over() {
            let landed = self.reviews_of(run)?.into_iter().rev().find_map(|review| review.lands);
            return Err(CycleError::Refused {
                message: format!("{run} was thrown away or amended, so there is nothing of it to take back"),
                hint: Some(match landed {
                    Some(landed) => format!("`git brain revert {landed}` takes back what landed in its place"),
                    None => "feeding or proposing it again brings it back".to_owned(),
                }),
            });
        }
        if let Some(by) = self.reverted(tree)?.get(run) {
            return Err(CycleError::Refused {
                message: format!("{run} is taken back already, by {by}"),
                hint: Some(format!("`git brain revert {by}` brings it back")),
            });
        }
        Ok(vec![record])
    }

    /// Where a run may be that wake has not.
    pub fn hint_of_unknown_run(&self) -> Result<Option<String>, CycleError> {
        Ok(match self.store.has_remote()? {
            true => Some(
                "`git brain sync` brings the runs of other machines; `git brain log` shows those that are here"
                    .to_owned(),
            ),
            false => Some("`git brain log` shows runs".to_owned()),
        })
    }

    /// All runs of an origin, and those that descend from its stimuli, that are not taken back already.
    pub fn runs_of_origin(&self, origin: &Origin, tree: TreeId) -> Result<Chosen, CycleError> {
        let mut records = self.all_records(tree, |_| true)?;
        let reverted = reverted_among(&records);
        let stimuli: BTreeSet<StimulusId> = records
            .iter()
            .filter(|record| record.depth == 1 && record.origin.is_of(origin))
            .flat_map(|record| record.stimuli.iter().cloned())
            .collect();
        records.retain(|record| {
            let descends = record.stimuli.iter().any(|stimulus| stimuli.contains(stimulus));
            (record.origin.is_of(origin) || descends) && !reverted.contains_key(&record.run)
        });
        Ok(records)
    }

    /// The runs of an origin that a tree has and main has not, and the origins of those that come from it and from elsewhere.
    pub fn runs_of_origin_since(
        &self,
        origin: &Origin,
        main: TreeId,
        tree: TreeId,
    ) -> Result<(Vec<RunId>, BTreeSet<String>), CycleError> {
        let runs: Vec<crate::delta::RunOutline> =
            self.outlines_between(main, tree)?.into_iter().map(|(_, run)| run).collect();
        let origins = &self.shared.policy.settings.origins;
        let taken_back: BTreeSet<RunId> = runs.iter().flat_map(|run| run.reverts.iter().cloned()).collect();
        let approvals = runs.iter().filter(|run| !taken_back.contains(&run.run));
        let approved: BTreeSet<RunId> = approvals.flat_map(|run| run.approves.iter().cloned()).collect();
        let (whole, mixed): (Vec<_>, Vec<_>) = runs
            .into_iter()
            .filter(|run| run.origin.is_of(origin) && !approved.contains(&run.run))
            .partition(|run| origins.only_of(&run.origin, origin));
        Ok((whole.into_iter().map(|run| run.run).collect(), mixed.iter().map(|run| run.origin.to_string()).collect()))
    }

    /// What archived the memories that the stimuli of these runs replace: without those runs nothing replaces them.
    pub fn archivals_of(&self, chosen: &Chosen, tree: TreeId) -> Result<Archivals, CycleError> {
        let network = TreeNetwork::new(&self.store, tree);
        let going: BTreeSet<NeuronId> = chosen.iter().flat_map(|record| &record.stimuli).map(episode_id).collect();
        let mut removed = Vec::new();
        for op in chosen.iter().flat_map(|record| &record.ops) {
            if let Operation::Archive(archive) = op
                && network.neuron(&archive.id)?.is_none()
            {
                removed.push(archive.id.clone());
            }
        }
        // What replaced a memory and was replaced itself gives nothing back: what replaces it stands.
        // Of a run that is taken back already the memory is gone, or archived by a revert.
        let (mut open, reverted): (Vec<StimulusId>, _) = (Vec::new(), self.reverted(tree)?);
        for record in chosen {
            let is_taken_back = reverted.contains_key(&record.run);
            for id in &record.stimuli {
                let memory = network.neuron(&episode_id(id))?;
                let by = memory.as_ref().and_then(|memory| memory.archived.clone());
                let by = by.map(|by| network.record(&by)).transpose()?.flatten();
                let is_reverted = memory.as_ref().is_none_or(|_| by.is_some_and(|by| !by.reverts.is_empty()));
                let lives = memory.is_some_and(|memory| !memory.is_archived());
                if if is_taken_back { is_reverted } else { lives } {
                    open.push(id.clone());
                }
            }
        }
        let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
        while let Some(id) = open.pop() {
            if seen.len() >= limits::REPLACED_CHAIN {
                break;
            }
            let replaces = network.stimulus_ever(&id)?.map(|stimulus| stimulus.supersedes).unwrap_or_default();
            for old in replaces.into_iter().filter(|old| seen.insert(old.clone())) {
                let memory = network.neuron(&episode_id(&old))?;
                if memory.is_none() {
                    removed.push(episode_id(&old));
                    open.push(old);
                }
                let by = memory.and_then(|neuron| neuron.archived);
                let Some(by) = by.filter(|by| by.is_a_persons() && !found.contains_key(by)) else { continue };
                let Some(record) = network.record(&by)?.filter(|_| chosen.iter().all(|record| record.run != by)) else {
                    continue;
                };
                let own: Vec<bool> =
                    record.ops.iter().map(|op| archives_for(&network, &going, op)).collect::<Result<_, _>>()?;
                if own.contains(&true) {
                    found.insert(by, (record, !own.contains(&false)));
                }
            }
        }
        let (alone, wider): (Vec<_>, Vec<_>) = found.into_values().rev().partition(|(_, is_alone)| *is_alone);
        let records = |of: Vec<(RunRecord, bool)>| of.into_iter().map(|(record, _)| record).collect();
        Ok(Archivals { alone: records(alone), wider: records(wider), removed })
    }

    /// Whether a memory that is gone had been archived by one of these runs, or for what they brought; or by none that stands.
    pub fn went_for(&self, chosen: &Chosen, memory: &Neuron, tree: TreeId) -> Result<bool, CycleError> {
        let Some(by) = &memory.archived else { return Ok(true) };
        if chosen.iter().any(|record| record.run == *by) {
            return Ok(true);
        }
        let network = TreeNetwork::new(&self.store, tree);
        let going: BTreeSet<NeuronId> = chosen.iter().flat_map(|record| &record.stimuli).map(episode_id).collect();
        for op in network.record(by)?.into_iter().flat_map(|record| record.ops) {
            let is_its = matches!(&op, Operation::Archive(archive) if archive.id == memory.id);
            if is_its && archives_for(&network, &going, &op)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The run that took one back, if that stands.
    pub fn taken_back_by(&self, tree: TreeId, run: &RunId) -> Result<Option<RunId>, CycleError> {
        Ok(self.reverted(tree)?.get(run).cloned())
    }

    /// The runs of a tree that are taken back, and by which run.
    pub fn reverted(&self, tree: TreeId) -> Result<Rc<BTreeMap<RunId, RunId>>, CycleError> {
        if let Some((of, known)) = &*self.taken_back.borrow()
            && *of == tree
        {
            return Ok(Rc::clone(known));
        }
        let reverted = Rc::new(reverted_among(&self.all_records(tree, RunId::is_a_persons)?));
        *self.taken_back.borrow_mut() = Some((tree, Rc::clone(&reverted)));
        Ok(reverted)
    }

    /// Records of a tree, newest first.
    fn all_records(&self, tree: TreeId, wanted: impl Fn(&RunId) -> bool) -> Result<Vec<RunRecord>, CycleError> {
        let mut records = Vec::new();
        for (path, file) in self.store.files(tree, layout::RUNS)? {
            let Place::Run(run) = Place::of(&path) else { continue };
            if wanted(&run) {
                records.push(RunRecord::decode(&self.store.content(file.blob)?, &path)?);
            }
        }
        records.sort_by(|a, b| b.run.cmp(&a.run));
        Ok(records)
    }

    /// Cuts runs, newest first, into what one record can hold. Each part is taken back by a run of its own.
    pub fn parts_to_revert(chosen: Chosen) -> Vec<Chosen> {
        let mut parts: Vec<Chosen> = Vec::new();
        let mut effects = 0;
        for record in chosen {
            effects += record.effects.len();
            match parts.last_mut() {
                Some(last) if effects <= limits::REVERTED_EFFECTS => last.push(record),
                _ => {
                    effects = record.effects.len();
                    parts.push(vec![record]);
                }
            }
        }
        parts
    }

    /// What taking these runs back does to the tree of `base`, as the run `by` at `clock`.
    pub fn reverting(&self, chosen: &Chosen, base: CommitId, by: &RunId, clock: Stamp) -> Result<Reverted, CycleError> {
        let tree = self.store.tree_of(base)?;
        let beside = self.beside_reverts(chosen, tree)?;
        let mut back =
            Back { cycle: self, tree, by, network: TreeNetwork::new(&self.store, tree), out: Reverted::default() };
        back.neurons(chosen, &beside)?;
        back.signals(chosen, clock)?;
        back.switches(chosen)?;
        let mut out = back.out;
        let named = chosen.iter().chain(&beside.twins);
        out.amends.reverts = named.map(|record| record.run.clone()).collect();
        Ok(out)
    }

    /// Of what taking back would remove, archive or empty, makes what another tree has of it. What is archived here already stays so.
    pub fn as_there(&self, reverted: &mut Reverted, there: CommitId) -> Result<(), CycleError> {
        let theirs = TreeNetwork::new(&self.store, self.store.tree_of(there)?);
        let removed: Vec<(NeuronId, Neuron)> =
            reverted.amends.removed.iter().map(|(id, now)| (id.clone(), now.clone())).collect();
        let changed = reverted.applied.neurons.iter().filter_map(|(id, (now, _))| Some((id.clone(), now.clone()?)));
        let changed = changed.filter(|(_, now)| !now.is_archived());
        for (id, now) in removed.into_iter().chain(changed.collect::<Vec<_>>()) {
            let Some(their) = theirs.neuron(&id)?.filter(|their| !their.is_archived()) else { continue };
            reverted.amends.removed.remove(&id);
            // A record says what its commit does, and no more.
            if now == their {
                reverted.amends.unmarked.remove(&id);
                reverted.applied.neurons.remove(&id);
                continue;
            }
            reverted.amends.unmarked.insert(id.clone());
            reverted.applied.neurons.insert(id, (Some(now), their));
        }
        Ok(())
    }

    /// What other machines took back of what these runs took back.
    fn beside_reverts(&self, chosen: &Chosen, tree: TreeId) -> Result<Beside, CycleError> {
        let mut beside = Beside::default();
        let freed: BTreeSet<&RunId> = chosen.iter().flat_map(|record| &record.reverts).collect();
        if freed.is_empty() {
            return Ok(beside);
        }
        let records = self.all_records(tree, RunId::is_a_persons)?;
        let reverted = reverted_among(&records);
        let others = records.into_iter().filter(|record| {
            let other = chosen.iter().all(|chosen| chosen.run != record.run) && !reverted.contains_key(&record.run);
            other && record.reverts.iter().any(|run| freed.contains(run))
        });
        let (twins, wider): (Vec<_>, Vec<_>) =
            others.partition(|record| record.reverts.iter().all(|run| freed.contains(run)));
        beside.twins = twins;
        let stays: BTreeSet<RunId> = wider.into_iter().flat_map(|record| record.reverts).collect();
        let network = TreeNetwork::new(&self.store, tree);
        for run in stays.iter().rev().filter(|run| freed.contains(run)) {
            beside.stays.extend(network.record(run)?);
        }
        Ok(beside)
    }

    /// The queue entries of stimuli of that origin: what is taken back must not be perceived afterwards.
    pub fn queued_of_origin(&self, origin: &Origin, tree: TreeId) -> Result<Vec<TreeEdit>, CycleError> {
        let network = TreeNetwork::new(&self.store, tree);
        let mut edits = Vec::new();
        for (path, file) in self.store.files(tree, layout::QUEUE)? {
            let Place::Queue(id) = Place::of(&path) else { continue };
            let stimulus = network.queued(&id, &self.store.content(file.blob)?)?;
            if stimulus.is_some_and(|stimulus| stimulus.origin.is_of(origin)) {
                edits.push(TreeEdit::new(path, None));
            }
        }
        Ok(edits)
    }
}

/// Reverts of other machines that the merge counted once with one that is taken back now.
#[derive(Debug, Default)]
struct Beside {
    /// Those of nothing else: they are taken back with it, and have nothing of their own to give back.
    twins: Vec<RunRecord>,
    /// Runs that others of them take back besides: these stay taken back.
    stays: Vec<RunRecord>,
}

/// Taking back on its way.
struct Back<'a> {
    cycle: &'a Cycle,
    tree: TreeId,
    by: &'a RunId,
    network: TreeNetwork<'a>,
    out: Reverted,
}

/// What the runs did to one neuron, newest first.
type Touches<'r> = Vec<(&'r RunRecord, &'r Effect)>;

impl Back<'_> {
    fn neurons(&mut self, chosen: &Chosen, beside: &Beside) -> Result<(), CycleError> {
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
            let Some(now) = self.network.neuron(&id)? else { continue };
            after.connections.retain(|c| !gone.contains(&c.target));
            after.version = now.version.toggled(self.by);
            after.run = Some(self.by.clone());
            self.out.applied.neurons.insert(id, (Some(now), after));
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
        let reverted = self.cycle.reverted(self.tree)?;
        let is_taken_back =
            |run: &RunId| reverted.contains_key(run) || touches.iter().any(|(record, _)| record.run == *run);
        merge::give_way(&mut neuron, is_taken_back, |run| self.network.record(run))?;
        for (record, _) in touches.iter().filter(|(_, effect)| effect.created.is_some()) {
            if self.cycle.is_made_by_another(record, id, is_taken_back)? == Some(true)
                && let Some(now) = self.network.neuron(id)?
            {
                neuron.archived = now.archived;
                (neuron.salience, neuron.last_salience_update) = (now.salience, now.last_salience_update);
            }
        }
        Ok(Some(neuron))
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
    fn signals(&mut self, chosen: &Chosen, clock: Stamp) -> Result<(), CycleError> {
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
    fn switches(&mut self, chosen: &Chosen) -> Result<(), CycleError> {
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

/// Whether an operation archives a memory for one that goes, or that is gone or archived: of several that replace one memory the first archived it, and
/// may have been taken back since.
fn archives_for(network: &TreeNetwork<'_>, going: &BTreeSet<NeuronId>, op: &Operation) -> Result<bool, CycleError> {
    let Operation::Archive(archive) = op else { return Ok(false) };
    let by = ["replaced by ", "corrected by "].iter().find_map(|how| archive.reason.strip_prefix(how));
    let Some(by) = by.and_then(|by| NeuronId::parse(by).ok()) else { return Ok(false) };
    Ok(going.contains(&by) || network.neuron(&by)?.is_none_or(|by| by.is_archived()))
}

/// The run that set a flag or goal last.
fn set_by(path: &str, bytes: &[u8]) -> Result<Option<RunId>, CycleError> {
    Ok(match Place::of(path) {
        Place::Flag(_) => json::strict::<Flag>(bytes, path, limits::DOCUMENT_BYTES)?.run,
        _ => Goal::decode(bytes, path)?.run,
    })
}
