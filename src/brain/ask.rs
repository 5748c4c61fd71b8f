//! Questions: recall and propagation. Nothing is written, but for a recall that is asked to learn.

use std::collections::BTreeMap;

use serde::Serialize;

use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::activation::recall::{Answer, Filters, answer};
use crate::activation::{ColumnsBuf, Cue, Index, NodeIx, Profile, learn, propagate};
use crate::cycle::network::all_neurons;
use crate::delta::Document;
use crate::model::ids::{AgentName, NeuronId};
use crate::model::{Neuron, Stamp, json};
use crate::store::CommitId;

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
    /// Activate what was answered, as a run of `human`. Not together with `at`.
    pub learn: bool,
}

/// The best memories, best first.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RecallAnswer {
    /// The memories.
    pub results: Vec<Answer>,
    /// The commit that was asked.
    pub at: String,
    /// The run that learnt from it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt: Option<String>,
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
    ///
    /// # Errors
    /// A revision that names no commit, and learning from a past one (exit code 2).
    pub fn recall(&self, request: &RecallRequest) -> Result<RecallAnswer, BrainError> {
        if request.learn && request.at.is_some() {
            return Err(BrainError::usage("what is asked of the past cannot be learnt from: --learn or --at"));
        }
        let commit = self.at(request.at.as_deref())?;
        let index = self.index_of(commit)?;
        let settings = &self.cycle.shared.policy.settings;
        let filters = Filters {
            top: request.top,
            since: request.since,
            until: request.until,
            tokens: request.tokens,
            concepts: false,
        };
        let results = answer(&index, &request.query, self.cycle.shared.world.now(), settings, &filters);
        let learnt = if request.learn { self.learn(&index, &results)? } else { None };
        Ok(RecallAnswer { results, at: commit.to_string(), learnt })
    }

    /// One run that activates what a recall answered; none if it answered nothing.
    fn learn(&self, index: &Index, answers: &[Answer]) -> Result<Option<String>, BrainError> {
        let ops = learn(index, answers);
        if ops.is_empty() {
            return Ok(None);
        }
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let document = Document { agent: Some(agent.clone()), prediction: None, ops };
        let bytes = json::pretty(&document);
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: "recall", cognition: "recall" };
        Ok(Some(self.apply_given(given, false, false)?.run))
    }

    /// The index of the brain at a revision, wake's tip by default: for many questions at once, and for measurements.
    pub fn index(&self, at: Option<&str>) -> Result<Index, BrainError> {
        self.index_of(self.at(at)?)
    }

    /// Every neuron of a revision, wake's tip by default.
    pub fn neurons(&self, at: Option<&str>) -> Result<Vec<Neuron>, BrainError> {
        self.neurons_of(self.at(at)?)
    }

    fn neurons_of(&self, commit: CommitId) -> Result<Vec<Neuron>, BrainError> {
        let store = &self.cycle.store;
        all_neurons(store, store.tree_of(commit)?)
    }

    fn index_of(&self, commit: CommitId) -> Result<Index, BrainError> {
        Ok(Index::build(self.neurons_of(commit)?))
    }

    /// Spreads activation from neurons by plain propagation.
    pub fn propagate(&self, from: &[(NeuronId, f64)], at: Option<&str>) -> Result<Propagated, BrainError> {
        let commit = self.at(at)?;
        let store = &self.cycle.store;
        let columns = ColumnsBuf::build(all_neurons(store, store.tree_of(commit)?)?);
        let graph = columns.graph();
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
