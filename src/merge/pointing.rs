//! What the neurons of a merged tree point to: looked at once the sides are merged, so that nothing dangles.

use std::collections::BTreeSet;

use crate::model::Neuron;
use crate::model::ids::NeuronId;

/// A neuron of the merged tree, and the targets that left's file of it has already: those exist in left.
pub(super) struct Pointing {
    pub targets: BTreeSet<NeuronId>,
    pub known: BTreeSet<NeuronId>,
}

impl Pointing {
    pub fn new(neuron: &Neuron, left: Option<&Neuron>) -> Self {
        let targets = |n: &Neuron| n.connections.iter().map(|c| c.target.clone()).collect();
        Self { targets: targets(neuron), known: left.map(targets).unwrap_or_default() }
    }
}
