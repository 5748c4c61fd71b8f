//! Pruning: neurons that fell silent or were archived go, with the connections to them; so do weak connections.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Neurons;
use super::record::Why;
use super::strengthen::touch;
use crate::model::ids::{NeuronId, RunId};

/// What pruning did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// Neurons whose files go.
    pub removed: BTreeSet<NeuronId>,
    /// Why, for each neuron and connection.
    pub why: Vec<Why>,
}

/// Removes the neurons of `going` (with the reason of each), connections to them, and connections below `least`.
///
/// `neurons` must have every neuron that goes, points to one that does, or has a weak connection. What goes leaves it.
pub fn prune(neurons: &mut Neurons, going: &BTreeMap<NeuronId, String>, least: u16, run: &RunId) -> Pruned {
    let mut pruned = Pruned::default();
    for (id, reason) in going {
        if neurons.remove(id).is_some() {
            pruned.removed.insert(id.clone());
            pruned.why.push(Why::neuron(id, reason.clone()));
        }
    }
    for (id, neuron) in neurons {
        let mut why = Vec::new();
        if neuron.connections.iter().all(|c| c.weight >= least && !pruned.removed.contains(&c.target)) {
            continue;
        }
        let neuron = Arc::make_mut(neuron);
        neuron.connections.retain(|c| {
            let reason = if pruned.removed.contains(&c.target) {
                Cow::Borrowed("its target went")
            } else if c.weight < least {
                Cow::Owned(format!("pruned: weaker than {least}"))
            } else {
                return true;
            };
            why.push(Why::connection(id, &c.target, c.link, reason));
            false
        });
        touch(neuron, run);
        pruned.why.extend(why);
    }
    pruned
}

#[cfg(test)]
mod tests {
    use super::super::strengthen::tests::{id, network, run, weight};
    use super::*;

    #[test]
    fn what_goes_takes_the_connections_to_it_along() {
        let mut neurons =
            network(&[("a", "old", 5000), ("a", "b", 5000), ("b", "a", 63), ("old", "a", 9000), ("b", "c", 64)]);
        let going = BTreeMap::from([(id("old"), "pruned".to_owned()), (id("gone-already"), "x".to_owned())]);
        let pruned = prune(&mut neurons, &going, 64, &run());
        assert_eq!(pruned.removed, BTreeSet::from([id("old")]));
        assert!(!neurons.contains_key(&id("old")));
        let read = |f, t| weight(&neurons, f, t);
        assert_eq!([read("a", "old"), read("a", "b"), read("b", "a"), read("b", "c")], [0, 5000, 0, 64]);
        assert!(neurons[&id("b")].connections.len() == 1, "a weak connection is gone, not at 0");
        assert_eq!(pruned.why.len(), 3);
        assert_eq!(neurons[&id("c")].run, None);
    }
}
