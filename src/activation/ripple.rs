//! The write-back of a wave: what activation reaches beside its cues, and by how much that is to be raised.
//!
//! Owns which neurons a wave may raise and to what level. The wave itself is [`propagate`]'s, in recall's profile, on the few neurons
//! around the cues: with the plain one a network that is not vivid yet never lights up (the salience of a target multiplies what
//! arrives, at each hop). A neuron is raised *to* what arrives, never by it, so that a busy hour lights it as brightly as one stimulus, and
//! a neuron that is bright already costs nothing. Source: MagistraAI's technical note, 2.1 and 2.2.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::ColumnsBuf;
use super::propagation::{Cue, Profile, propagate};
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Neuron, Settings, Stamp};

/// The least rise that is written: a thirty-second.
pub const RISE: f64 = 1.0 / 32.0;
/// Neurons that a wave looks at, at most.
const GATHERED: usize = 96;

/// Where a wave starts: a neuron, and its strength, 0..=1.
pub type Source = (NeuronId, f64);

/// By how much to activate what a wave from `sources` reaches, greatest rise first, at most `activation.write_back` neurons. Sources,
/// memories and what is archived are not raised. Reads the neurons around the sources, however large the network is.
pub fn ripple(
    sources: &[Source],
    read: &dyn Fn(&NeuronId) -> Option<Neuron>,
    at: Stamp,
    settings: &Settings,
) -> Vec<(NeuronId, f64)> {
    let most = settings.activation.write_back as usize;
    if most == 0 {
        return Vec::new();
    }
    let neurons = gather(sources, read, settings);
    let columns = ColumnsBuf::build(neurons.values());
    let graph = columns.graph();
    let cues: Vec<Cue> =
        sources.iter().filter_map(|(id, strength)| Some(Cue::new(graph.find(id)?, *strength))).collect();
    let mut profile = Profile::recall(&settings.activation, &settings.recall);
    // The core's few connections are its path, no hub's.
    profile.fan[Kind::Core as usize] = 0.0;
    let wave = propagate(&graph, &cues, at, &profile);
    let mut raised: Vec<(NeuronId, f64)> = Vec::new();
    for (node, arrived) in &wave.activation {
        let Some(neuron) = NeuronId::parse(graph.id(*node)).ok().and_then(|id| neurons.get(&id)) else { continue };
        let rise = arrived.min(1.0) - f64::from(neuron.salience_at(at)) / 65535.0;
        let is_source = sources.iter().any(|(id, _)| *id == neuron.id);
        if rise >= RISE && !is_source && neuron.kind != Kind::Episodic && !neuron.is_archived() {
            raised.push((neuron.id.clone(), (rise * 1000.0).round() / 1000.0));
        }
    }
    raised.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    raised.truncate(most);
    raised
}

/// The sources and, level by level, what could still be raised by them: the strongest first.
fn gather(
    sources: &[Source],
    read: &dyn Fn(&NeuronId) -> Option<Neuron>,
    settings: &Settings,
) -> BTreeMap<NeuronId, Neuron> {
    let mut gathered: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
    let mut asked: BTreeSet<NeuronId> = BTreeSet::new();
    let mut frontier: Vec<(f64, NeuronId)> = sources.iter().map(|(id, s)| (s.clamp(0.0, 1.0), id.clone())).collect();
    for _ in 0..=settings.activation.max_depth {
        frontier.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut next: BTreeMap<NeuronId, f64> = BTreeMap::new();
        for (bound, id) in frontier {
            if gathered.len() >= GATHERED || !asked.insert(id.clone()) {
                continue;
            }
            let Some(neuron) = read(&id) else { continue };
            for connection in neuron.connections.iter().filter(|c| c.link == Link::FeedsInto) {
                let share = f64::from(connection.weight) / 65535.0;
                let bound = bound * share * settings.activation.decay;
                if bound >= RISE && !asked.contains(&connection.target) {
                    let best = next.entry(connection.target.clone()).or_default();
                    *best = best.max(bound);
                }
            }
            gathered.insert(id, neuron);
        }
        frontier = next.into_iter().map(|(id, bound)| (bound, id)).collect();
        if frontier.is_empty() {
            break;
        }
    }
    gathered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Connection;

    fn id(name: &str) -> NeuronId {
        NeuronId::parse(name).unwrap()
    }

    fn network(edges: &[(&str, &str, u16)]) -> BTreeMap<NeuronId, Neuron> {
        let at = Stamp::from_unix(1_769_437_920);
        let mut neurons = BTreeMap::new();
        for (from, to, weight) in edges {
            for name in [from, to] {
                neurons.entry(id(name)).or_insert_with(|| Neuron::new(id(name), *name, Kind::Semantic, at));
            }
            let connection = Connection { target: id(to), weight: *weight, link: Link::FeedsInto };
            neurons.get_mut(&id(from)).unwrap().connections.push(connection);
        }
        neurons
    }

    fn raised(neurons: &BTreeMap<NeuronId, Neuron>, sources: &[(&str, f64)], settings: &Settings) -> Vec<String> {
        let sources: Vec<Source> = sources.iter().map(|(name, s)| (id(name), *s)).collect();
        let at = Stamp::from_unix(1_769_437_920);
        let raised = ripple(&sources, &|id| neurons.get(id).cloned(), at, settings);
        raised.iter().map(|(id, rise)| format!("{id} {rise}")).collect()
    }

    #[test]
    fn a_path_lights_up_and_lit_neurons_cost_nothing() {
        let mut settings = Settings::default();
        settings.recall.salience_exponent = 0.0;
        settings.recall.fan = 0.0;
        let mut neurons = network(&[("a", "b", 52428), ("b", "c", 52428), ("c", "d", 3000), ("a", "e", 2000)]);
        assert_eq!(raised(&neurons, &[("a", 1.0)], &settings), ["b 0.72", "c 0.518"]);
        // What is as bright is not raised; what is nearly as bright neither.
        neurons.get_mut(&id("b")).unwrap().salience = 46000;
        neurons.get_mut(&id("c")).unwrap().salience = 20000;
        assert_eq!(raised(&neurons, &[("a", 1.0)], &settings), ["c 0.213"]);
        settings.activation.write_back = 0;
        assert!(raised(&neurons, &[("a", 1.0)], &settings).is_empty());
    }

    #[test]
    fn the_greatest_rises_come_first_and_memories_are_left_alone() {
        let mut settings = Settings::default();
        settings.recall.salience_exponent = 0.0;
        settings.recall.fan = 0.0;
        settings.activation.write_back = 2;
        let mut neurons = network(&[("a", "b", 30000), ("a", "c", 40000), ("a", "d", 50000), ("a", "e", 60000)]);
        neurons.get_mut(&id("e")).unwrap().kind = Kind::Episodic;
        assert_eq!(raised(&neurons, &[("a", 1.0)], &settings), ["d 0.687", "c 0.549"]);
        assert!(raised(&neurons, &[("z", 1.0)], &settings).is_empty());
    }
}
