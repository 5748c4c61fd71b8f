//! Bringing a neuron back: one that a run archived, or one that sleep removed. History keeps both.

use std::collections::BTreeMap;

use crate::cycle::network::{TreeNetwork, decode_neuron};
use crate::cycle::trailers::{SLEEP_TRAILER, SNAPSHOT_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::delta::Applied;
use crate::limits;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout;
use crate::model::{Link, Neuron};
use crate::store::{Commit, CommitId, TreeId};

/// What bringing a neuron back does.
#[derive(Debug)]
pub struct Restored {
    /// The neurons that change.
    pub applied: Applied,
    /// The commit that it is taken from; `None`: it is still there and only archived.
    pub from: Option<CommitId>,
}

impl Cycle {
    /// What the run `run` does to bring a neuron back into `tree`: as it was when it went, with its connections to neurons
    /// that are still there, and theirs to it.
    pub fn restored(&self, id: &NeuronId, tree: TreeId, run: &RunId) -> Result<Restored, CycleError> {
        let network = TreeNetwork::new(&self.store, tree);
        let mut neurons: BTreeMap<NeuronId, (Option<Neuron>, Neuron)> = BTreeMap::new();
        if let Some(there) = network.neuron(id)? {
            if !there.is_archived() {
                return Err(CycleError::refused(format!("{id} is there, and not archived")));
            }
            let after = touched(Neuron { archived: None, ..there.clone() }, run);
            neurons.insert(id.clone(), (Some(there), after));
            return Ok(Restored { applied: Applied { neurons, ..Applied::default() }, from: None });
        }
        let (neuron, from, removed_by) = self.as_it_went(id)?;
        let mut neuron = Neuron { archived: None, ..neuron };
        let mut gone = Vec::new();
        for connection in &neuron.connections {
            if connection.target != *id && network.shared(&connection.target)?.is_none() {
                gone.push(connection.target.clone());
            }
        }
        neuron.connections.retain(|c| !gone.contains(&c.target));
        neurons.insert(id.clone(), (None, touched(neuron, run)));
        let mut notes = vec![format!("as it was in {}", from.id)];
        notes
            .extend(gone.into_iter().map(|target| format!("its connection to {target} is left out: that is gone too")));
        for (source, link, weight) in
            removed_by.map(|commit| self.pointed(id, &commit)).transpose()?.unwrap_or_default()
        {
            let Some(before) = network.neuron(&source)?.filter(|n| n.connection(id, link).is_none()) else { continue };
            let entry = neurons.entry(source).or_insert_with(|| (Some(before.clone()), touched(before, run)));
            entry.1.set_weight(id, link, weight);
        }
        Ok(Restored { applied: Applied { neurons, notes, ..Applied::default() }, from: Some(from.id) })
    }

    /// A neuron that is gone, as it was when it went, with the commit that it is taken from and the one that removed it.
    pub(crate) fn as_it_went(&self, id: &NeuronId) -> Result<(Neuron, Commit, Option<Commit>), CycleError> {
        let (from, removed_by) = self.last_seen(id)?;
        // Wake knew more of it than main did the evening before.
        let from = self.consolidated_by(removed_by.as_ref(), id)?.unwrap_or(from);
        let path = layout::neuron(id);
        let gone = || CycleError::Merge(format!("{path} of {} is gone", from.id));
        let bytes = self.store.read(from.tree, &path)?.ok_or_else(gone)?;
        Ok((decode_neuron(&bytes, &path, id)?, from, removed_by))
    }

    /// The newest commit that has a neuron, on main or else on wake, and the one after it, which removed it.
    fn last_seen(&self, id: &NeuronId) -> Result<(Commit, Option<Commit>), CycleError> {
        let path = layout::neuron(id);
        for branch in [self.store.main(), self.store.wake()] {
            let mut above = None;
            for commit in self.store.first_parents(self.store.need_tip(branch)?, None).take(limits::HISTORY_WALK) {
                let commit = commit?;
                if self.store.file(commit.tree, &path)?.is_some() {
                    return Ok((commit, above));
                }
                above = Some(commit);
            }
        }
        Err(CycleError::Usage {
            message: format!("no commit of main or wake has a neuron {id}"),
            hint: Some("an id that was cut short has to be whole; `git brain log` and `git log --all -- network/neurons` show what there was".to_owned()),
        })
    }

    /// The state of wake that a sleep consolidated when it removed a neuron, if that sleep did.
    fn consolidated_by(&self, sleep: Option<&Commit>, id: &NeuronId) -> Result<Option<Commit>, CycleError> {
        let snapshot = sleep.and_then(|sleep| sleep.trailer(SNAPSHOT_TRAILER)).and_then(|id| CommitId::parse(id).ok());
        // A shallow clone may not have it.
        let Some(commit) = snapshot.and_then(|id| self.store.commit(id).ok()) else { return Ok(None) };
        Ok(self.store.file(commit.tree, &layout::neuron(id))?.is_some().then_some(commit))
    }

    /// The connections to a neuron that went with it: source, type, weight.
    fn pointed(&self, id: &NeuronId, removed_by: &Commit) -> Result<Vec<(NeuronId, Link, u16)>, CycleError> {
        let Some(run) = removed_by.trailer(SLEEP_TRAILER).and_then(|run| RunId::parse(run).ok()) else {
            return Ok(Vec::new());
        };
        // What went has its line in each format.
        let record = self.sleep_file(removed_by.tree, &run)?;
        let ends = format!(" connections.{id}.");
        let found =
            record.into_iter().flat_map(|r| r.consolidated).filter(|line| line.new.is_null()).filter_map(|line| {
                let (source, link) = line.what.split_once(&ends)?;
                let weight = u16::try_from(line.old.as_u64()?).ok()?;
                Some((NeuronId::parse(source).ok()?, link.parse().ok()?, weight))
            });
        Ok(found.collect())
    }
}

/// With the mark of a run.
fn touched(mut neuron: Neuron, run: &RunId) -> Neuron {
    neuron.version = neuron.version.toggled(run);
    neuron.run = Some(run.clone());
    neuron
}
