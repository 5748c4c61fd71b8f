//! The network of one tree, as deltas and agents look at it: neurons and signals by id, read once each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::CycleError;
use super::ledger::{each_from_newest, is_of_review};
use crate::delta::{LedgerEntry, Lookup, RunOutline, RunRecord};
use crate::limits;
use crate::model::document::Goal;
use crate::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, StimulusId, episode_id};
use crate::model::{Acknowledgement, Format, Metadata, Neuron, Origin, Signal, Stamp, Stimulus, json, layout};
use crate::store::{BlobId, File, Recent, Store, StoreError, TreeId};

/// Neurons as they were read, by their files' content. Shared by the runs of a command.
#[derive(Clone)]
pub struct Neurons(Arc<Recent<BlobId, Arc<Neuron>>>);

impl Default for Neurons {
    fn default() -> Self {
        Self(Arc::new(Recent::new(limits::RECENT_BYTES)))
    }
}

impl Neurons {
    /// The neuron in a file, whose id must be its name's.
    pub fn read(&self, store: &Store, file: File, path: &str, id: &NeuronId) -> Result<Arc<Neuron>, CycleError> {
        if let Some(known) = self.known(file.blob, id) {
            return Ok(known);
        }
        let bytes = store.content(file.blob)?;
        let neuron = Arc::new(decode_neuron(&bytes, path, id)?);
        self.remember(file.blob, &neuron);
        Ok(neuron)
    }

    /// The neuron in a file, if somebody has read or written that content.
    pub fn known(&self, blob: BlobId, id: &NeuronId) -> Option<Arc<Neuron>> {
        self.0.get(&blob).filter(|known| known.id == *id)
    }

    /// Remembers what is in a file.
    pub fn remember(&self, blob: BlobId, neuron: &Arc<Neuron>) {
        self.0.put(blob, Arc::clone(neuron), neuron.bytes());
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// Whether none is remembered.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        !self.0.any(|_| true)
    }
}

impl std::fmt::Debug for Neurons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Neurons")
    }
}

/// A tree of the brain. Costs what is looked at, never the size of the brain.
pub struct TreeNetwork<'s> {
    pub(super) store: &'s Store,
    pub(super) tree: TreeId,
    neurons: Neurons,
    seen: RefCell<HashMap<NeuronId, Option<Arc<Neuron>>>>,
    failed: RefCell<Option<CycleError>>,
}

impl<'s> TreeNetwork<'s> {
    /// The network in that tree.
    pub fn new(store: &'s Store, tree: TreeId) -> Self {
        Self::remembering(store, tree, &Neurons::default())
    }

    /// The network in that tree, with what was read of others.
    pub fn remembering(store: &'s Store, tree: TreeId, neurons: &Neurons) -> Self {
        let neurons = neurons.clone();
        Self { store, tree, neurons, seen: RefCell::default(), failed: RefCell::default() }
    }

    /// The neuron with that id.
    pub fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, CycleError> {
        Ok(self.shared(id)?.map(|neuron| (*neuron).clone()))
    }

    /// The neuron with that id, as whoever else looks at it has it.
    pub fn shared(&self, id: &NeuronId) -> Result<Option<Arc<Neuron>>, CycleError> {
        if let Some(found) = self.seen.borrow().get(id) {
            return Ok(found.clone());
        }
        let path = layout::neuron(id);
        let file = self.store.file(self.tree, &path)?;
        let found = file.map(|file| self.neurons.read(self.store, file, &path, id)).transpose()?;
        self.seen.borrow_mut().insert(id.clone(), found.clone());
        Ok(found)
    }

    /// A run's record.
    pub fn record(&self, run: &RunId) -> Result<Option<RunRecord>, CycleError> {
        let path = layout::run(run);
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|b| RunRecord::decode(&b, &path)).transpose()?)
    }

    /// Where what a run brought comes from, by its record.
    pub fn origin_of(&self, run: &RunId) -> Result<Option<Origin>, CycleError> {
        let path = layout::run(run);
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|bytes| RunOutline::decode(&bytes, &path)).transpose()?.map(|run| run.origin))
    }

    /// The answer to a signal.
    pub fn acknowledgement(&self, to: &AgentName, id: &SignalId) -> Result<Option<Acknowledgement>, CycleError> {
        let path = layout::acknowledgement(to, id);
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|b| json::strict(&b, &path, limits::DOCUMENT_BYTES)).transpose()?)
    }

    /// A stimulus by its id. As long as it waits, the queue knows its place; afterwards its episode knows its time. `None`: it is
    /// not there, or nobody remembers it.
    pub fn stimulus(&self, id: &StimulusId) -> Result<Option<Stimulus>, CycleError> {
        if let Some(pointer) = self.store.read(self.tree, &layout::queue_entry(id))? {
            return self.queued(id, &pointer);
        }
        let Some(episode) = self.shared(&episode_id(id))? else { return Ok(None) };
        let path = layout::stimulus(id, episode.created_at);
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|b| Stimulus::decode(&b, &path)).transpose()?)
    }

    /// A stimulus by its id, also one that nobody remembers: then the months are looked through, newest first.
    pub fn stimulus_ever(&self, id: &StimulusId) -> Result<Option<Stimulus>, CycleError> {
        if let Some(found) = self.stimulus(id)? {
            return Ok(Some(found));
        }
        for year in self.store.folder_names(self.tree, layout::STIMULI)?.iter().rev() {
            let months = self.store.folder_names(self.tree, &format!("{}/{year}", layout::STIMULI))?;
            for month in months.iter().rev() {
                let path = layout::stimulus_of_month(id, year, month);
                let is_place = matches!(layout::Place::of(&path), layout::Place::Stimulus(_));
                if let Some(bytes) = is_place.then(|| self.store.read(self.tree, &path)).transpose()?.flatten() {
                    return Ok(Some(Stimulus::decode(&bytes, &path)?));
                }
            }
        }
        Ok(None)
    }

    /// The path of a queued stimulus and the stimulus.
    pub fn queued(&self, id: &StimulusId, pointer: &[u8]) -> Result<Option<Stimulus>, CycleError> {
        let Some(path) = layout::queued_path(id, pointer) else {
            return Err(json::JsonError::at(&layout::queue_entry(id), 1, "", "does not name its stimulus").into());
        };
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|b| Stimulus::decode(&b, &path)).transpose()?)
    }

    /// What an agent gets of a look-up: nothing, and a note, of one that fails.
    pub(super) fn noted<T>(&self, found: Result<Option<T>, CycleError>) -> Option<T> {
        found.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            None
        })
    }

    /// What went wrong in a look-up of an agent, whose interface has no errors. Taken once.
    pub fn take_failure(&self) -> Option<CycleError> {
        self.failed.take()
    }
}

/// The format that the files of a tree are written in.
pub fn format_of(store: &Store, tree: TreeId) -> Result<Format, CycleError> {
    Ok(metadata_of(store, tree)?.form())
}

/// `network/metadata.json`.
pub fn metadata_of(store: &Store, tree: TreeId) -> Result<Metadata, CycleError> {
    match store.read(tree, layout::METADATA)? {
        Some(bytes) => Ok(json::strict(&bytes, layout::METADATA, limits::DOCUMENT_BYTES)?),
        None => Err(json::JsonError::at(layout::METADATA, 1, "", "is missing").into()),
    }
}

/// Reads a neuron's file, whose id must be its name's.
pub fn decode_neuron(bytes: &[u8], path: &str, id: &NeuronId) -> Result<Neuron, CycleError> {
    let neuron = Neuron::decode(bytes, path)?;
    if neuron.id != *id {
        return Err(json::JsonError::at(path, 1, "id", format!("is {}, not the file's {id}", neuron.id)).into());
    }
    Ok(neuron)
}

impl Lookup for TreeNetwork<'_> {
    type Error = CycleError;

    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, CycleError> {
        TreeNetwork::neuron(self, id)
    }

    fn signal(&self, to: &AgentName, id: &SignalId) -> Result<Option<(Signal, bool)>, CycleError> {
        let path = layout::signal(to, id);
        let Some(bytes) = self.store.read(self.tree, &path)? else { return Ok(None) };
        let signal: Signal = json::strict(&bytes, &path, limits::DOCUMENT_BYTES)?;
        let answered = self.acknowledgement(to, id)?.is_some_and(|answer| !answer.is_stand_in());
        Ok(Some((signal, answered)))
    }

    fn record(&self, run: &RunId) -> Result<Option<RunRecord>, CycleError> {
        TreeNetwork::record(self, run)
    }

    fn goal(&self, id: &GoalId) -> Result<Option<Goal>, CycleError> {
        let path = layout::goal(id);
        let bytes = self.store.read(self.tree, &path)?;
        Ok(bytes.map(|b| Goal::decode(&b, &path)).transpose()?)
    }

    fn outcomes(&self, runs: &[RunId]) -> Result<Vec<LedgerEntry>, CycleError> {
        let (mut found, mut seen) = (Vec::new(), 0);
        let Some(oldest) = runs.iter().min() else { return Ok(found) };
        each_from_newest(self.store, self.tree, &mut |_, entry| {
            seen += 1;
            let goes_on = seen < limits::WISDOM_ENTRIES && entry.run > *oldest;
            found.extend(Some(entry).filter(|entry| runs.contains(&entry.judged) && entry.method.is_value()));
            goes_on
        })?;
        let mut told = Vec::new();
        for mut entry in found {
            if self.origin_of(&entry.run)?.is_some_and(|origin| !origin.is_foreign()) {
                entry.outcome.text = entry.outcome.text.filter(|text| !is_of_review(text));
                told.push(entry);
            }
        }
        Ok(told)
    }
}

impl crate::cognition::Network for TreeNetwork<'_> {
    /// A file that cannot be read counts as absent for the agent; the run then fails with [`TreeNetwork::take_failure`].
    fn neuron(&self, id: &NeuronId) -> Option<Neuron> {
        self.noted(TreeNetwork::neuron(self, id))
    }

    fn has(&self, id: &NeuronId) -> bool {
        self.noted(self.shared(id)).is_some()
    }

    fn record(&self, run: &RunId) -> Option<RunRecord> {
        self.noted(TreeNetwork::record(self, run))
    }

    fn goal(&self, id: &GoalId) -> Option<Goal> {
        self.noted(Lookup::goal(self, id))
    }

    fn sender(&self, to: &AgentName, id: &SignalId) -> Option<RunId> {
        self.noted(Lookup::signal(self, to, id)).map(|(signal, _)| signal.run)
    }
}

/// Every neuron of a tree, in the order of the files.
pub fn all_neurons(store: &Store, tree: TreeId) -> Result<Vec<Neuron>, CycleError> {
    let mut neurons = Vec::new();
    let mut failed = None;
    store.each_file(tree, layout::NEURONS, &mut |path, file| {
        let bytes = store.blob(file.blob)?;
        match Neuron::decode(&bytes, path) {
            Ok(neuron) => neurons.push(neuron),
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
        Ok::<(), StoreError>(())
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(neurons),
    }
}

/// The latest of some stamps, or `otherwise`.
pub fn latest(stamps: impl Iterator<Item = Stamp>, otherwise: Stamp) -> Stamp {
    stamps.max().unwrap_or(otherwise)
}
