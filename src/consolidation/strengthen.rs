//! Strengthening connections between candidates, and scaling the others down.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Neurons;
use super::record::Why;
use crate::model::ids::{NeuronId, RunId};
use crate::model::{Link, Neuron};

/// `w ← min(65535, w + boost)` for each connection from a candidate to a candidate. A connection of weight 0 was cut and stays so, and one
/// that weighs less than the evening before is spared: its day said that it is wrong, and the night says nothing else.
/// `evening` has the neurons as the sleep before left them. Returns why each changed connection changed. Source: MagistraAI's technical
/// note, 6.2; sparing is ours: see docs/benchmarks.md.
pub fn strengthen(
    neurons: &mut Neurons,
    evening: &Neurons,
    candidates: &BTreeSet<NeuronId>,
    boost: u16,
    run: &RunId,
) -> Vec<Why> {
    let mut why = Vec::new();
    for id in candidates {
        let Some(neuron) = neurons.get_mut(id) else { continue };
        let then = |target: &NeuronId, link| evening.get(id).map_or(0, |neuron| neuron.weight(target, link));
        let boosted = |target: &NeuronId, link, weight: u16| {
            let gains = candidates.contains(target) && weight > 0 && weight >= then(target, link);
            if gains { weight.saturating_add(boost) } else { weight }
        };
        why.extend(reweigh(neuron, run, boosted, "consolidated: both ends were active"));
    }
    why
}

/// Takes a share of `part` (0..=1) off every connection that does not lead from a candidate to a candidate.
/// Source: the synaptic homeostasis hypothesis (Tononi and Cirelli, 2006). Off by default: see docs/benchmarks.md.
pub fn downscale(neurons: &mut Neurons, candidates: &BTreeSet<NeuronId>, part: f64, run: &RunId) -> Vec<Why> {
    let mut why = Vec::new();
    for (id, neuron) in neurons {
        let active = candidates.contains(id);
        let scaled = |target: &NeuronId, _, weight: u16| match active && candidates.contains(target) {
            true => weight,
            false => (f64::from(weight) * (1.0 - part)).round() as u16,
        };
        why.extend(reweigh(neuron, run, scaled, "scaled down: not active together"));
    }
    why
}

/// Sets every weight of a neuron to what `new` says, and marks the neuron if anything changed.
pub(super) fn reweigh(
    neuron: &mut Arc<Neuron>,
    run: &RunId,
    new: impl Fn(&NeuronId, Link, u16) -> u16,
    reason: &'static str,
) -> Vec<Why> {
    let mut why = Vec::new();
    if neuron.connections.iter().all(|c| new(&c.target, c.link, c.weight) == c.weight) {
        return why;
    }
    let neuron = Arc::make_mut(neuron);
    for connection in &mut neuron.connections {
        let weight = new(&connection.target, connection.link, connection.weight);
        if weight != connection.weight {
            connection.weight = weight;
            why.push(Why::connection(&neuron.id, &connection.target, connection.link, reason));
        }
    }
    touch(neuron, run);
    why
}

/// Marks a neuron as changed by this sleep, once.
pub(super) fn touch(neuron: &mut Neuron, run: &RunId) {
    if neuron.run.as_ref() != Some(run) {
        neuron.version = neuron.version.toggled(run);
        neuron.run = Some(run.clone());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{Kind, Stamp};

    pub fn id(text: &str) -> NeuronId {
        NeuronId::parse(text).unwrap()
    }

    pub fn run() -> RunId {
        RunId::parse("20260126t143200123z-abcd2345-sleep").unwrap()
    }

    /// Neurons by `from>to weight` lines.
    pub fn network(edges: &[(&str, &str, u16)]) -> Neurons {
        let mut neurons = Neurons::new();
        for (from, to, weight) in edges {
            for name in [from, to] {
                let new = || Arc::new(Neuron::new(id(name), *name, Kind::Semantic, Stamp::from_unix(0)));
                neurons.entry(id(name)).or_insert_with(new);
            }
            Arc::make_mut(neurons.get_mut(&id(from)).unwrap()).set_weight(&id(to), Link::FeedsInto, *weight);
        }
        neurons
    }

    pub fn weight(neurons: &Neurons, from: &str, to: &str) -> u16 {
        neurons[&id(from)].weight(&id(to), Link::FeedsInto)
    }

    #[test]
    fn only_connections_between_candidates_gain_and_they_saturate() {
        let mut neurons =
            network(&[("a", "b", 1000), ("b", "a", 65000), ("a", "c", 1000), ("c", "a", 7), ("b", "b", 0)]);
        let why = strengthen(&mut neurons, &Neurons::new(), &BTreeSet::from([id("a"), id("b")]), 3277, &run());
        let read = |f, t| weight(&neurons, f, t);
        assert_eq!(
            [read("a", "b"), read("b", "a"), read("a", "c"), read("c", "a"), read("b", "b")],
            [4277, 65535, 1000, 7, 0]
        );
        assert_eq!(why.len(), 2);
        assert_eq!(neurons[&id("a")].run, Some(run()));
        assert_eq!(neurons[&id("c")].run, None, "untouched");
    }

    #[test]
    fn what_the_day_weakened_is_spared() {
        let evening = network(&[("a", "b", 1001), ("b", "a", 1000), ("b", "b", 0)]);
        let mut neurons = network(&[("a", "b", 1000), ("b", "a", 1000), ("a", "a", 5), ("b", "b", 9)]);
        let both = BTreeSet::from([id("a"), id("b")]);
        let _ = strengthen(&mut neurons, &evening, &both, 100, &run());
        let read = |f, t| weight(&neurons, f, t);
        assert_eq!([read("a", "b"), read("b", "a"), read("a", "a"), read("b", "b")], [1000, 1100, 105, 109]);
    }

    #[test]
    fn scaling_down_spares_what_was_active_together() {
        let mut neurons = network(&[("a", "b", 1000), ("a", "c", 1000), ("c", "a", 15)]);
        let _ = downscale(&mut neurons, &BTreeSet::from([id("a"), id("b")]), 0.1, &run());
        let read = |f, t| weight(&neurons, f, t);
        assert_eq!([read("a", "b"), read("a", "c"), read("c", "a")], [1000, 900, 14]);
    }

    #[test]
    fn a_neuron_that_two_rules_change_counts_the_sleep_once() {
        let mut neurons = network(&[("a", "b", 1000), ("a", "c", 1000)]);
        let both = BTreeSet::from([id("a"), id("b")]);
        let before = neurons[&id("a")].version;
        let _ = strengthen(&mut neurons, &Neurons::new(), &both, 1, &run());
        let _ = downscale(&mut neurons, &both, 0.5, &run());
        assert_eq!(neurons[&id("a")].version, before.toggled(&run()));
    }
}
