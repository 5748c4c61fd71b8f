//! Goals as the tree has them.

use std::collections::BTreeSet;

use super::CycleError;
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::{json, layout};
use crate::store::{Store, TreeId};

/// The neurons of terminal goals: sleep never prunes them.
pub fn terminal_goal_neurons(store: &Store, tree: TreeId) -> Result<BTreeSet<NeuronId>, CycleError> {
    let mut neurons = BTreeSet::new();
    for (path, file) in store.files(tree, layout::GOALS)? {
        let goal: serde_json::Value = json::strict(&store.blob(file.blob)?, &path, limits::DOCUMENT_BYTES)?;
        if goal["level"] == "terminal" {
            neurons.extend(goal["neuron"].as_str().and_then(|id| NeuronId::parse(id).ok()));
        }
    }
    Ok(neurons)
}
