//! A memory that several runs made, as it is without those that are taken back: its history told once more without them. Place in the flow: taking
//! back, and machines that meet → **statement** → what becomes of the memory. Must not write anything.

use std::collections::{BTreeSet, HashSet};

use super::network::{TreeNetwork, decode_neuron};
use super::trailers::SLEEP_TRAILER;
use super::{Cycle, CycleError};
use crate::delta::{Applied, Effect, RunRecord};
use crate::merge;
use crate::model::ids::{NeuronId, RunId};
use crate::model::{Kind, Neuron, layout};
use crate::store::{Commit, CommitId};
use crate::{limits, store};

/// The trigger of runs by which a machine settles what taking back leaves: like those that take back they say nothing of their own.
pub const SETTLED: &str = "revert";

/// Memories of a run that are looked for in history; of a text with more none is.
const STATEMENTS: usize = 16;

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
    before: Option<Neuron>,
    after: Neuron,
}

/// Whether a run only takes back what others did, or settles what that leaves.
pub fn takes_back(record: &RunRecord) -> bool {
    !record.reverts.is_empty() || record.trigger == SETTLED
}

/// The memories that a run made, without the concepts that it made beside them; none of a long text.
pub fn statements(record: &RunRecord) -> BTreeSet<NeuronId> {
    let made = || record.effects.iter().filter_map(|effect| effect.created.as_deref());
    let has_memory = made().any(|neuron| neuron.kind == Kind::Episodic);
    let said = made().filter(|neuron| !has_memory || neuron.kind == Kind::Episodic);
    let ids: BTreeSet<NeuronId> = said.map(|neuron| neuron.id.clone()).collect();
    if ids.len() > STATEMENTS { BTreeSet::new() } else { ids }
}

/// A memory that was emptied as those say that stand: what else happened to it since is kept in its marks alone.
pub fn revived(emptied: &Neuron, told: &Neuron) -> Neuron {
    Neuron {
        version: emptied.version,
        run: emptied.run.clone(),
        activation_count: emptied.activation_count.max(told.activation_count),
        last_activated: emptied.last_activated.max(told.last_activated),
        ..told.clone()
    }
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
    /// A memory as the runs and commits behind `tip` say that are not taken back. `None`: history does not tell.
    pub fn told_without(
        &self,
        id: &NeuronId,
        tip: CommitId,
        is_taken_back: &dyn Fn(&RunId) -> bool,
    ) -> Result<Option<Told>, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(tip)?);
        let Some(mut touches) = self.touches(id, tip, &network)? else { return Ok(None) };
        touches.sort_by(|a, b| (a.at, &a.run).cmp(&(b.at, &b.run)));
        let mut told = Told::default();
        for touch in touches {
            let effect = match &touch.run {
                Some(run) if is_taken_back(run) => continue,
                Some(run) => {
                    let Some(record) = network.record(run)?.filter(|record| !takes_back(record)) else { continue };
                    record.effects.into_iter().find(|effect| effect.id() == Some(id)).unwrap_or_default()
                }
                None => Effect::between(touch.before.as_ref(), &touch.after),
            };
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
                    Some(touch.after)
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
        Ok(Some(told))
    }

    /// The memories that these runs made, and that runs made which they take back or bring back; of what they bring back the concepts as well.
    pub fn said_by(
        &self,
        network: &TreeNetwork<'_>,
        chosen: &[RunRecord],
        is_taken_back: &dyn Fn(&RunId) -> bool,
    ) -> Result<BTreeSet<NeuronId>, CycleError> {
        let mut said: BTreeSet<NeuronId> = chosen.iter().flat_map(statements).collect();
        let mut open: Vec<RunId> = chosen.iter().flat_map(|record| record.reverts.clone()).collect();
        let mut seen = BTreeSet::new();
        while let Some(run) = open.pop().filter(|_| seen.len() < limits::REPLACED_CHAIN) {
            if !seen.insert(run.clone()) {
                continue;
            }
            let Some(record) = network.record(&run)? else { continue };
            let mut made = statements(&record);
            if !made.is_empty() && !is_taken_back(&run) {
                let created = record.effects.iter().filter(|effect| effect.created.is_some());
                made.extend(created.filter_map(Effect::id).cloned());
            }
            said.append(&mut made);
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
        let mut applied = Applied::default();
        for id in self.said_by(&network, brought, &is_taken_back)? {
            let now = network.neuron(&id)?;
            let Some(was) = self.as_it_is_or_went(&network, &id)? else { continue };
            let is_emptied = only_takes_back(&was.archived)?;
            // What people did with it since stays.
            let is_left = now.is_some() && !was.is_archived() && !was.pinned && only_takes_back(&was.run)?;
            if !is_emptied && !is_left {
                continue;
            }
            let Some(told) = self.told_without(&id, tip, &is_taken_back)? else { continue };
            let after = match told.neuron {
                Some(told) if is_emptied && !told.is_archived() => {
                    applied.notes.push(format!("{id} is brought back by {by}: not all that say so are taken back"));
                    without_lost_ties(revived(&was, &told), |id| Ok(network.shared(id)?.is_some()))?
                }
                None if is_left => {
                    applied.notes.push(format!("{id} is archived by {by}: all that say so are taken back"));
                    Neuron { archived: Some(by.clone()), ..was }
                }
                _ => continue,
            };
            let after = Neuron { version: after.version.toggled(by), run: Some(by.clone()), ..after };
            applied.neurons.insert(id, (now, after));
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

    /// The commits that changed a memory, nights left out; `None`: there are none, or too many to look at.
    fn touches(
        &self,
        id: &NeuronId,
        tip: CommitId,
        network: &TreeNetwork<'_>,
    ) -> Result<Option<Vec<Touch>>, CycleError> {
        let (store, path) = (&self.store, layout::neuron(id));
        let mut touches = Vec::new();
        // Behind one that brought it back from history it may be absent for a while; what took it away says from where.
        let (mut open, mut seen) = (vec![(tip, true)], HashSet::new());
        for record in self.reverting_records(store.tree_of(tip)?)? {
            let took = record.effects.iter().any(|effect| effect.removed.is_some() && effect.id() == Some(id));
            let base = record.base.filter(|_| took).and_then(|base| CommitId::parse(&base).ok());
            open.extend(base.filter(|base| store.commit(*base).is_ok()).map(|base| (base, false)));
        }
        while let Some((at, mut may_be_absent)) = open.pop() {
            if seen.len() >= limits::HISTORY_WALK {
                return Ok(None);
            }
            if !seen.insert((at, may_be_absent)) {
                continue;
            }
            let commit = store.commit(at)?;
            let here = store.file(commit.tree, &path)?.map(|file| file.blob);
            let mut there = Vec::new();
            for parent in &commit.parents {
                there.push((*parent, store.file(store.tree_of(*parent)?, &path)?.map(|file| file.blob)));
            }
            let (is_made, changed) =
                (there.iter().all(|(_, blob)| blob.is_none()), there.iter().all(|(_, blob)| *blob != here));
            if here.is_some() && changed && (there.len() < 2 || is_made) && commit.trailer(SLEEP_TRAILER).is_none() {
                let touch = self.touch(&commit, id, &path)?;
                may_be_absent |= is_made && self.brings_back(touch.as_ref(), network)?;
                touches.extend(touch);
            }
            may_be_absent &= here.is_none() || is_made;
            open.extend(
                there
                    .into_iter()
                    .filter(|(_, blob)| may_be_absent || blob.is_some())
                    .map(|(parent, _)| (parent, may_be_absent)),
            );
        }
        Ok((!touches.is_empty()).then_some(touches))
    }

    fn touch(&self, commit: &Commit, id: &NeuronId, path: &str) -> Result<Option<Touch>, store::StoreError> {
        let read = |tree| -> Result<Option<Neuron>, store::StoreError> {
            Ok(self.store.read(tree, path)?.and_then(|bytes| decode_neuron(&bytes, path, id).ok()))
        };
        let before = match commit.parents.first() {
            Some(parent) => read(self.store.tree_of(*parent)?)?,
            None => None,
        };
        let run = commit.trailer("Run").and_then(|run| RunId::parse(run).ok());
        let at = run.as_ref().map_or(commit.at.saturating_mul(1000).saturating_add(999), RunId::unix_ms);
        Ok(read(commit.tree)?.map(|after| Touch { at, run, before, after }))
    }

    /// Whether a commit that made a memory took it from history.
    fn brings_back(&self, touch: Option<&Touch>, network: &TreeNetwork<'_>) -> Result<bool, CycleError> {
        let Some(run) = touch.and_then(|touch| touch.run.as_ref()) else { return Ok(false) };
        Ok(network.record(run)?.is_some_and(|record| takes_back(&record) || record.cognition == "restore"))
    }
}
