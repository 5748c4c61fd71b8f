//! A memory that several runs made, as it is without those that are taken back: its history told once more without them. Place in the flow: taking
//! back, and machines that meet → **statement** → what becomes of the memory. Must not write anything.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::network::{TreeNetwork, decode_neuron};
use super::trailers::{SLEEP, SLEEP_TRAILER};
use super::{Cycle, CycleError};
use crate::delta::{Applied, Effect, RunRecord};
use crate::merge;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::model::{Kind, Neuron, Stamp};
use crate::store::{CommitId, TreeId};
use crate::{limits, store};

/// The trigger of runs by which a machine settles what taking back leaves: like those that take back they say nothing of their own.
pub const SETTLED: &str = "revert";

/// So many memories are looked up one by one at each commit; of more, all that it changed is.
const ONE_BY_ONE: usize = 4;

/// A memory as those say that stand.
#[derive(Debug, Default)]
pub struct Told {
    /// The memory; `None`: all that made it are taken back.
    pub neuron: Option<Neuron>,
    /// What made it and stands; `None` among them is a commit by hand.
    pub makers: Vec<Option<RunId>>,
}

/// A commit that changed a memory.
struct Touch {
    /// Milliseconds since 1970: ids of runs grow along history.
    at: i64,
    run: Option<RunId>,
    commit: CommitId,
    before: Option<TreeId>,
    after: TreeId,
}

/// Memories, and when each of them was made.
pub type Made = BTreeMap<NeuronId, Stamp>;

/// Whether a run only takes back what others did, or settles what that leaves.
pub fn takes_back(record: &RunRecord) -> bool {
    !record.reverts.is_empty() || record.trigger == SETTLED
}

/// The memories that a run made, without the concepts that it made beside them.
pub fn statements(record: &RunRecord) -> BTreeSet<NeuronId> {
    let made = || record.effects.iter().filter_map(|effect| effect.created.as_deref());
    let has_memory = made().any(|neuron| neuron.kind == Kind::Episodic);
    let said = made().filter(|neuron| !has_memory || neuron.kind == Kind::Episodic);
    said.map(|neuron| neuron.id.clone()).collect()
}

/// A memory that was emptied as those say that stand: what else happened to it since is kept in its marks alone.
pub fn revived(emptied: &Neuron, told: &Neuron) -> Neuron {
    Neuron {
        version: emptied.version,
        run: emptied.run.clone(),
        // Who said it first may come back.
        created_at: emptied.created_at.min(told.created_at),
        activation_count: emptied.activation_count.max(told.activation_count),
        last_activated: emptied.last_activated.max(told.last_activated),
        ..told.clone()
    }
}

/// Whether all that a run did to a memory is to restore it.
fn only_restores(record: &RunRecord, id: &NeuronId) -> bool {
    let effect = record.effects.iter().find(|effect| effect.id() == Some(id));
    effect.is_some_and(|effect| {
        let Effect { neuron, archived, marks, .. } = effect.clone();
        archived.is_some() && *effect == Effect { neuron, archived, marks, ..Effect::default() }
    })
}

/// Whether history archives a memory otherwise than it is: whoever archived or restored it was taken back. What a night archived stays so.
pub fn settled(is: &Neuron, told: &Neuron) -> bool {
    is.is_archived() != told.is_archived() && is.archived.as_ref().is_none_or(|by| by.agent().as_str() != SLEEP)
}

/// A neuron without its connections to what is not there.
pub fn without_lost_ties(
    mut neuron: Neuron,
    is_there: impl Fn(&NeuronId) -> Result<bool, CycleError>,
) -> Result<Neuron, CycleError> {
    let mut lost = BTreeSet::new();
    for tie in &neuron.connections {
        lost.extend((!is_there(&tie.target)?).then(|| tie.target.clone()));
    }
    neuron.connections.retain(|tie| !lost.contains(&tie.target));
    Ok(neuron)
}

impl Cycle {
    /// Memories as the runs and commits behind `tip` say that are not taken back; those of which history does not tell are left out.
    pub fn told_without(
        &self,
        ids: &Made,
        tip: CommitId,
        is_taken_back: &dyn Fn(&RunId) -> bool,
    ) -> Result<BTreeMap<NeuronId, Told>, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(tip)?);
        let (mut records, mut found) = (HashMap::new(), BTreeMap::new());
        for (id, mut touches) in self.touches(ids, tip, &network)? {
            touches.sort_by(|a, b| (a.at, &a.run).cmp(&(b.at, &b.run)));
            let path = layout::neuron(&id);
            let read = |tree| -> Result<Option<Neuron>, CycleError> {
                Ok(self.store.read(tree, &path)?.and_then(|bytes| decode_neuron(&bytes, &path, &id).ok()))
            };
            let (mut told, mut archivals) = (Told::default(), Vec::new());
            for touch in touches {
                let effect = match &touch.run {
                    Some(run) if is_taken_back(run) => continue,
                    Some(run) => {
                        if !records.contains_key(run) {
                            records.insert(run.clone(), network.record(run)?.filter(|record| !takes_back(record)));
                        }
                        let Some(record) = &records[run] else { continue };
                        record.effects.iter().find(|effect| effect.id() == Some(&id)).cloned().unwrap_or_default()
                    }
                    None => {
                        let Some(after) = read(touch.after)? else { continue };
                        Effect::between(touch.before.map(&read).transpose()?.flatten().as_ref(), &after)
                    }
                };
                match &effect.archived {
                    Some((_, Some(by))) => archivals.push((by.clone(), touch.commit)),
                    // Whoever restores it, or says it anew once it is gone, ends what archived it where they did.
                    Some((_, None)) => archivals = self.others(archivals, touch.commit)?,
                    None if effect.created.is_some() => archivals = self.others(archivals, touch.commit)?,
                    None => {}
                }
                let is_restored = match &effect.archived {
                    Some((Some(by), None)) => network.record(by)?.is_some_and(|record| takes_back(&record)),
                    _ => false,
                };
                told.neuron = match (told.neuron.take(), &effect.created, &touch.run) {
                    (None, Some(created), run) => {
                        told.makers.push(run.clone());
                        Some((**created).clone())
                    }
                    // Whoever brings back what all took back says it.
                    (None, None, run) if is_restored => {
                        told.makers.push(run.clone());
                        read(touch.after)?
                    }
                    (None, None, _) => None,
                    (Some(neuron), created, Some(run)) => {
                        told.makers.extend(created.is_some().then(|| Some(run.clone())));
                        merge::again(&effect, run, &neuron).or(Some(neuron))
                    }
                    (Some(neuron), Some(_), None) => {
                        told.makers.push(None);
                        Some(neuron)
                    }
                    (Some(neuron), None, None) => Some(effect.set_on(&neuron, true)),
                };
            }
            if let Some(neuron) = &mut told.neuron {
                neuron.archived = archivals.into_iter().map(|(by, _)| by).max();
            }
            found.insert(id, told);
        }
        Ok(found)
    }

    /// Of archivals those that a commit does not know of.
    fn others(
        &self,
        archivals: Vec<(RunId, CommitId)>,
        commit: CommitId,
    ) -> Result<Vec<(RunId, CommitId)>, CycleError> {
        let mut others = Vec::new();
        for archival in archivals {
            if !self.store.is_ancestor(archival.1, commit)? {
                others.push(archival);
            }
        }
        Ok(others)
    }

    /// The memories that these runs made, and that runs made, archived or restored which they take back or bring back; of what they bring back the
    /// concepts as well. With each the time of the oldest of those runs.
    pub fn said_by(
        &self,
        network: &TreeNetwork<'_>,
        chosen: &[RunRecord],
        is_taken_back: &dyn Fn(&RunId) -> bool,
    ) -> Result<Made, CycleError> {
        let mut said = Made::new();
        let mut add = |id: NeuronId, run: &RunId| {
            let at = Stamp::from_unix(run.unix_ms() / 1000);
            said.entry(id).and_modify(|oldest| *oldest = at.min(*oldest)).or_insert(at);
        };
        chosen.iter().for_each(|record| statements(record).into_iter().for_each(|id| add(id, &record.run)));
        let mut open: Vec<RunId> = chosen.iter().flat_map(|record| record.reverts.clone()).collect();
        let mut seen = BTreeSet::new();
        while let Some(run) = open.pop().filter(|_| seen.len() < limits::REPLACED_CHAIN) {
            if !seen.insert(run.clone()) {
                continue;
            }
            let Some(record) = network.record(&run)? else { continue };
            let mut made = statements(&record);
            let archivals = record.effects.iter().filter(|effect| effect.archived.is_some() && !takes_back(&record));
            archivals.filter_map(Effect::id).for_each(|id| add(id.clone(), &run));
            if !made.is_empty() && !is_taken_back(&run) {
                let created = record.effects.iter().filter(|effect| effect.created.is_some());
                made.extend(created.filter_map(Effect::id).cloned());
            }
            made.into_iter().for_each(|id| add(id, &run));
            open.extend(record.reverts);
        }
        Ok(said)
    }

    /// What the run `by` changes of memories that those records made, or runs that they took back or brought back: one comes back while something
    /// stands that made it, and goes once nothing does. The notes say so.
    pub fn settling(&self, brought: &[RunRecord], tip: CommitId, by: &RunId) -> Result<Applied, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let (network, reverted) = (TreeNetwork::new(&self.store, tree), self.reverted(tree)?);
        let is_taken_back = |run: &RunId| reverted.contains_key(run);
        let only_takes_back = |run: &Option<RunId>| -> Result<bool, CycleError> {
            let record = run.as_ref().map(|run| network.record(run)).transpose()?.flatten();
            Ok(record.is_some_and(|record| takes_back(&record)))
        };
        // Whoever restored it has said nothing of it.
        let says_nothing = |was: &Neuron| -> Result<bool, CycleError> {
            let record = was.run.as_ref().map(|run| network.record(run)).transpose()?.flatten();
            Ok(record.is_some_and(|record| takes_back(&record) || only_restores(&record, &was.id)))
        };
        // What was taken away as it was had not been archived.
        let took = brought.iter().flat_map(|record| &record.effects).filter(|effect| effect.removed.is_some());
        let took: BTreeSet<&NeuronId> = took.filter_map(Effect::id).collect();
        let (mut open, mut made) = (BTreeMap::new(), Made::new());
        for (id, oldest) in self.said_by(&network, brought, &is_taken_back)? {
            let now = network.neuron(&id)?;
            let was = match &now {
                Some(now) => Some(now.clone()),
                None if took.contains(&id) => None,
                None => self.as_it_is_or_went(&network, &id)?,
            };
            let Some(was) = was else { continue };
            let is_emptied = only_takes_back(&was.archived)?;
            // What people did with it since stays.
            let is_left = now.is_some() && !was.is_archived() && !was.pinned && says_nothing(&was)?;
            made.insert(id.clone(), was.created_at.min(oldest));
            open.insert(id, (now, was, is_emptied, is_left));
        }
        let (mut told, mut applied) = (self.told_without(&made, tip, &is_taken_back)?, Applied::default());
        let comes: BTreeSet<NeuronId> = open.keys().cloned().collect();
        let (mut back, mut gone, mut free, mut shut) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (id, (now, was, is_emptied, is_left)) in open {
            let Some(told) = told.remove(&id) else { continue };
            let after = match told.neuron {
                Some(told) if is_emptied && !told.is_archived() => {
                    back.push(id.clone());
                    let is_there = |id: &NeuronId| Ok(comes.contains(id) || network.shared(id)?.is_some());
                    without_lost_ties(revived(&was, &told), is_there)?
                }
                None if is_left => {
                    gone.push(id.clone());
                    Neuron { archived: Some(by.clone()), ..was }
                }
                Some(told) if !is_emptied && now.is_some() && settled(&was, &told) => {
                    if told.is_archived() { &mut shut } else { &mut free }.push(id.clone());
                    Neuron { archived: told.archived, ..was }
                }
                _ => continue,
            };
            let after = Neuron { version: after.version.toggled(by), run: Some(by.clone()), ..after };
            applied.neurons.insert(id, (now, after));
        }
        let said = [
            (back, "brought back", "not all that say so are taken back"),
            (gone, "archived", "all that say so are taken back"),
            (free, "brought back", "the run that archived it is taken back"),
            (shut, "archived", "the run that had restored it is taken back"),
        ];
        for (ids, done, why) in said {
            match &ids[..] {
                [] => {}
                [id] => applied.notes.push(format!("{id} is {done} by {by}: {why}")),
                [first, ..] => {
                    applied
                        .notes
                        .push(format!("{} memories, {first} among them, are {done} by {by}: {why}", ids.len()));
                }
            }
        }
        Ok(applied)
    }

    /// A neuron as it is, or as it was when a night removed it; `None`: history does not have it.
    pub fn as_it_is_or_went(&self, network: &TreeNetwork<'_>, id: &NeuronId) -> Result<Option<Neuron>, CycleError> {
        match network.neuron(id)? {
            Some(neuron) => Ok(Some(neuron)),
            // A shallow clone may have no history of it.
            None => Ok(self.as_it_went(id).ok().map(|(neuron, ..)| neuron)),
        }
    }

    /// The commits that changed memories, nights and merges left out; none where there are too many to look at.
    fn touches(
        &self,
        ids: &Made,
        tip: CommitId,
        network: &TreeNetwork<'_>,
    ) -> Result<BTreeMap<NeuronId, Vec<Touch>>, CycleError> {
        let (store, mut touches) = (&self.store, BTreeMap::<NeuronId, Vec<Touch>>::new());
        // What was taken away may have been made anew since.
        let reverting = self.reverting_records(network.tree)?;
        let took = reverting.iter().flat_map(|record| &record.effects).filter_map(|effect| effect.removed.as_deref());
        let took = took.filter(|removed| ids.contains_key(&removed.id)).map(|removed| removed.created_at);
        let Some(since) = ids.values().copied().chain(took).min() else { return Ok(touches) };
        let (mut open, mut seen) = (vec![tip], HashSet::new());
        while let Some(at) = open.pop() {
            if seen.len() >= limits::HISTORY_WALK {
                return Ok(BTreeMap::new());
            }
            if !seen.insert(at) {
                continue;
            }
            let commit = store.commit(at)?;
            if commit.at < since.unix() {
                continue;
            }
            open.extend(&commit.parents);
            if commit.parents.len() > 1 || commit.trailer(SLEEP_TRAILER).is_some() {
                continue;
            }
            let before = commit.parents.first().map(|parent| store.tree_of(*parent)).transpose()?;
            let run = commit.trailer("Run").and_then(|run| RunId::parse(run).ok());
            let ms = run.as_ref().map_or(commit.at.saturating_mul(1000).saturating_add(999), RunId::unix_ms);
            for id in self.changed_among(ids, before, commit.tree)? {
                let touch = Touch { at: ms, run: run.clone(), commit: at, before, after: commit.tree };
                touches.entry(id).or_default().push(touch);
            }
        }
        Ok(touches)
    }

    /// Of memories, those that are there and another than before.
    fn changed_among(
        &self,
        ids: &Made,
        before: Option<TreeId>,
        after: TreeId,
    ) -> Result<Vec<NeuronId>, store::StoreError> {
        let mut changed = Vec::new();
        if ids.len() > ONE_BY_ONE {
            for change in self.store.diff(before, Some(after), layout::NEURONS)? {
                if let (Place::Neuron(id), Some(_)) = (Place::of(&change.path), &change.new)
                    && ids.contains_key(&id)
                {
                    changed.push(id);
                }
            }
            return Ok(changed);
        }
        for id in ids.keys() {
            let path = layout::neuron(id);
            let blob =
                |tree| -> Result<_, store::StoreError> { Ok(self.store.file(tree, &path)?.map(|file| file.blob)) };
            let here = blob(after)?;
            if here.is_some() && before.map(blob).transpose()?.flatten() != here {
                changed.push(id.clone());
            }
        }
        Ok(changed)
    }
}
