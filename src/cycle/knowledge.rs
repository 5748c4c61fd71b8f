//! The network as a rule looks at it: neurons by id, by the words of a concept, and by what recalls them.
//!
//! Concepts are looked up in the index of a snapshot. What runs change after it was made is noted beside it, so that a round costs what
//! the round before changed, whatever the size of the brain.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::network::{Neurons, TreeNetwork};
use super::snapshot::snapshot;
use super::spawn::Part;
use super::{CycleError, Shared};
use crate::activation::recall::Filters;
use crate::activation::{Snapshot, find};
use crate::cognition::Network;
use crate::delta::{Document, Operation, RunRecord};
use crate::model::document::Goal;
use crate::model::ids::{AgentName, GoalId, NeuronId, RunId, SignalId, concept_id, hash64, looks_derived, normalise};
use crate::model::layout::{self, Place};
use crate::model::{Kind, Neuron, Stamp, json};
use crate::store::{CommitId, Store, TreeId};
use crate::text;

/// Concepts by their words, for all runs of a command.
#[derive(Clone, Default)]
pub struct Concepts(Arc<Mutex<Option<Named>>>);

/// The concepts of a tree, and of trees that were looked at since.
struct Named {
    /// The newest folder of neurons that was looked at.
    folder: TreeId,
    snapshot: Snapshot,
    /// Neurons that changed since the snapshot and whose ids are not those that their concepts give, by these.
    since: HashMap<NeuronId, BTreeSet<NeuronId>>,
}

impl std::fmt::Debug for Concepts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Concepts")
    }
}

impl Concepts {
    /// Forgets all of them.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Neurons that may say these words, whose ids are not the one that the words give.
    fn candidates(
        &self,
        store: &Store,
        neurons: &Neurons,
        tree: TreeId,
        words: &str,
    ) -> Result<Vec<NeuronId>, CycleError> {
        let Some(folder) = store.folder(tree, layout::NEURONS)? else { return Ok(Vec::new()) };
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = match guard.take() {
            Some(mut named) => {
                named.follow(store, neurons, folder)?;
                named
            }
            None => Named { folder, snapshot: snapshot(store, tree)?, since: HashMap::new() },
        };
        let mut found = find::called(&named.snapshot.index(), words);
        found.extend(named.since.get(&concept_id(words)).into_iter().flatten().cloned());
        *guard = Some(named);
        Ok(found)
    }
}

impl Named {
    /// Notes the concepts that differ between the last folder and this one.
    fn follow(&mut self, store: &Store, neurons: &Neurons, folder: TreeId) -> Result<(), CycleError> {
        if self.folder == folder {
            return Ok(());
        }
        for change in store.diff(Some(self.folder), Some(folder), "")? {
            let path = format!("{}/{}", layout::NEURONS, change.path);
            let (Place::Neuron(id), Some(file)) = (Place::of(&path), change.new) else { continue };
            // A neuron that cannot be read stands for nothing; `check` names it.
            let read = match neurons.read(store, file, &path, &id) {
                Err(error) if error.is_of_a_file() => continue,
                read => read?,
            };
            if read.kind == Kind::Semantic {
                let by_words = concept_id(&read.concept);
                if by_words != id {
                    self.since.entry(by_words).or_default().insert(id);
                }
            }
        }
        self.folder = folder;
        Ok(())
    }
}

impl Shared {
    /// The id of the neuron of a tree that stands for a concept: the one that its words give, unless only another neuron says the same.
    ///
    /// # Errors
    /// Neurons that cannot be read.
    pub fn concept(&self, network: &TreeNetwork<'_>, words: &str) -> Result<NeuronId, CycleError> {
        let id = concept_id(words);
        let is_live = |id: &NeuronId| Ok::<_, CycleError>(network.shared(id)?.filter(|n| !n.is_archived()));
        if is_live(&id)?.is_some() {
            return Ok(id);
        }
        let mut candidates = self.concepts.candidates(network.store, &self.neurons, network.tree, words)?;
        candidates.sort();
        for candidate in candidates {
            let says_it = |neuron: &Neuron| neuron.kind == Kind::Semantic && concept_id(&neuron.concept) == id;
            if is_live(&candidate)?.is_some_and(|neuron| says_it(&neuron)) {
                return Ok(candidate);
            }
        }
        Ok(id)
    }

    /// Lets a document make no second neuron of a concept: what it creates under no id of its own is the neuron that is there. `lines`
    /// are those of its operations.
    ///
    /// # Errors
    /// Neurons that cannot be read.
    pub fn make_no_doubles(
        &self,
        network: &TreeNetwork<'_>,
        document: &mut Document,
        lines: &mut Vec<usize>,
    ) -> Result<(), CycleError> {
        let mut index = 0;
        while let Some(op) = document.ops.get_mut(index) {
            index += 1;
            let Operation::Create(create) = op else { continue };
            if create.id.is_some() || create.kind != Kind::Semantic {
                continue;
            }
            let there = self.concept(network, &create.concept)?;
            if there == concept_id(&create.concept) {
                continue;
            }
            if !looks_derived(&there) {
                create.id = Some(there);
                continue;
            }
            // An id in the form of another concept's cannot be said with this one: it is there, and that is all.
            index -= 1;
            document.ops.remove(index);
            if index < lines.len() {
                lines.remove(index);
            }
        }
        Ok(())
    }
}

/// Names what minds and people state in sentences of the form that names have: under the id of its form it would be a name, which answers nothing.
pub fn name_statements(document: &mut Document) {
    let whole = json::inline(document);
    for op in &mut document.ops {
        let Operation::Create(create) = op else { continue };
        let derived = concept_id(&create.concept);
        let normal = normalise(&create.concept);
        let is_statement = create.id.is_none()
            && create.kind == Kind::Semantic
            && normal == create.concept
            && text::states(&normal)
            && !whole.contains(&format!("\"{derived}\""));
        if is_statement {
            create.id = NeuronId::parse(&format!("n-{:016x}", hash64(normal.as_bytes()))).ok();
        }
    }
}

/// The network that a run starts from.
pub(super) struct Knowledge<'a> {
    pub part: &'a Part,
    pub tip: CommitId,
    pub network: &'a TreeNetwork<'a>,
}

impl Knowledge<'_> {
    fn try_recall(&self, question: &str, at: Stamp, top: usize) -> Result<Vec<(NeuronId, f64)>, CycleError> {
        let cycle = self.part.whole()?;
        let snapshot = snapshot(self.network.store, self.network.tree)?;
        let filters = Filters { top: Some(top), ..Filters::default() };
        let (remembered, _) = cycle.recall(self.tip, &snapshot, question, filters, at, &mut |_, _| ())?;
        Ok(remembered.into_iter().map(|recalled| (recalled.neuron.id, recalled.found.activation)).collect())
    }
}

impl Network for Knowledge<'_> {
    fn neuron(&self, id: &NeuronId) -> Option<Neuron> {
        Network::neuron(self.network, id)
    }

    fn has(&self, id: &NeuronId) -> bool {
        Network::has(self.network, id)
    }

    fn concept_named(&self, words: &str) -> NeuronId {
        self.network.noted(self.part.shared.concept(self.network, words).map(Some)).unwrap_or_else(|| concept_id(words))
    }

    fn recall(&self, question: &str, at: Stamp, top: usize) -> Vec<(NeuronId, f64)> {
        self.network.noted(self.try_recall(question, at, top).map(Some)).unwrap_or_default()
    }

    fn record(&self, run: &RunId) -> Option<RunRecord> {
        Network::record(self.network, run)
    }

    fn goal(&self, id: &GoalId) -> Option<Goal> {
        Network::goal(self.network, id)
    }

    fn sender(&self, to: &AgentName, id: &SignalId) -> Option<RunId> {
        Network::sender(self.network, to, id)
    }
}
