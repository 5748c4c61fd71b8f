//! Questions: recall and propagation. Nothing is written.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Brain, BrainError};
use crate::activation::recall::{Answer, Filters, recall};
use crate::activation::{Cue, Graph, NodeIx, Profile, propagate};
use crate::cycle::network::all_neurons;
use crate::model::Stamp;
use crate::model::ids::NeuronId;

/// What `recall` is asked for.
#[derive(Clone, Debug, Default)]
pub struct RecallRequest {
    /// The question.
    pub query: String,
    /// How many memories; the setting by default.
    pub top: Option<usize>,
    /// The brain as it was at this commit.
    pub at: Option<String>,
    /// Only memories from this time on.
    pub since: Option<Stamp>,
    /// Only memories up to this time.
    pub until: Option<Stamp>,
    /// The best memories that fit.
    pub tokens: Option<usize>,
}

/// The best memories, best first.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RecallAnswer {
    /// The memories.
    pub results: Vec<Answer>,
    /// The commit that was asked.
    pub at: String,
}

/// What `propagate` found.
#[derive(Clone, Debug, Serialize)]
pub struct Propagated {
    /// Activation, summed over cues and passes.
    pub activation: BTreeMap<String, f64>,
    /// Context, summed over passes.
    pub context: BTreeMap<String, f64>,
    /// Activation of each pass.
    pub passes: Vec<BTreeMap<String, f64>>,
    /// What the beam cut, and passes that were not run though something was left.
    pub cut: u64,
}

impl Brain {
    /// The best memories for a question.
    pub fn recall(&self, request: &RecallRequest) -> Result<RecallAnswer, BrainError> {
        let commit = self.at(request.at.as_deref())?;
        let store = &self.cycle.store;
        let neurons = all_neurons(store, store.tree_of(commit)?)?;
        let settings = &self.cycle.shared.policy.settings;
        let filters = Filters {
            top: request.top,
            since: request.since,
            until: request.until,
            tokens: request.tokens,
            concepts: false,
        };
        let results = recall(neurons, &request.query, self.cycle.shared.world.now(), settings, &filters);
        Ok(RecallAnswer { results, at: commit.to_string() })
    }

    /// Spreads activation from neurons by plain propagation.
    pub fn propagate(&self, from: &[(NeuronId, f64)], at: Option<&str>) -> Result<Propagated, BrainError> {
        let commit = self.at(at)?;
        let store = &self.cycle.store;
        let graph = Graph::build(all_neurons(store, store.tree_of(commit)?)?);
        let mut cues = Vec::new();
        for (id, strength) in from {
            let Some(node) = graph.find(id) else {
                return Err(BrainError::refused(format!("there is no neuron {id}")));
            };
            cues.push(Cue::new(node, *strength));
        }
        let profile = Profile::seed(&self.cycle.shared.policy.settings.activation);
        let found = propagate(&graph, &cues, self.cycle.shared.world.now(), &profile);
        let named = |list: &[(NodeIx, f64)]| list.iter().map(|(n, x)| (graph.id(*n).to_string(), *x)).collect();
        Ok(Propagated {
            activation: named(&found.activation),
            context: named(&found.context),
            passes: found.passes.iter().map(|pass| named(pass)).collect(),
            cut: found.cut.beam + u64::from(found.cut.passes),
        })
    }
}
