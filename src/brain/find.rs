//! Concepts by their words, with what a person wants to know of each.

use serde::Serialize;

use super::{Brain, BrainError};
use crate::activation::find;
use crate::cycle::network::TreeNetwork;
use crate::model::ids::NeuronId;

/// A concept that was found.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Concept {
    /// The neuron.
    pub id: NeuronId,
    /// Its words.
    pub concept: String,
    /// Its salience now, 0..=65535.
    pub salience: u16,
    /// How many memories recall reaches by it.
    pub memories: usize,
}

/// What `find` found.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FindAnswer {
    /// The concepts, the best match first.
    pub results: Vec<Concept>,
    /// The commit that was asked.
    pub at: String,
}

impl Brain {
    /// The concepts that have some of these words, by stem or beginning; `recall.top` of them by default.
    ///
    /// # Errors
    /// No words, a revision that names no commit (exit code 2), and neurons that cannot be read.
    pub fn find(&self, words: &str, top: Option<usize>, at: Option<&str>) -> Result<FindAnswer, BrainError> {
        if words.trim().is_empty() {
            return Err(BrainError::usage("the words are empty"));
        }
        let commit = self.at(at)?;
        let snapshot = self.snapshot_of(commit)?;
        let shared = &self.cycle.shared;
        let top = top.unwrap_or(shared.policy.settings.recall.top);
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(commit)?);
        let mut results = Vec::new();
        for found in find(&snapshot.index(), words, shared.world.now(), top) {
            if let Some(neuron) = network.neuron(&found.id)? {
                let (salience, memories) = (found.salience, found.memories);
                results.push(Concept { id: found.id, concept: neuron.concept, salience, memories });
            }
        }
        Ok(FindAnswer { results, at: commit.to_string() })
    }
}
