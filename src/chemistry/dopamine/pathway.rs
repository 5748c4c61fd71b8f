//! The connections that led to an outcome, and which part of the error each of them gets.

use std::collections::BTreeSet;

use crate::delta::operation::Reinforce;
use crate::delta::{Edge, Operation, RunRecord};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::settings::Learning;
use crate::model::{Link, Neuron};

/// One connection and its part of the error.
#[derive(Clone, Debug, PartialEq)]
pub struct Credit {
    /// The connection.
    pub edge: Edge,
    /// What its weight learns by, -1..=1.
    pub error: f64,
}

/// The pathway of a run, at most [`limits::CREDITED_EDGES`] connections, each once, all of them still there with a weight above 0.
///
/// The one that its prediction states, as it is stated. Else what its record shows: connections that it made or changed, and connections
/// between two neurons that it activated, ascending; of too many the strongest. `neuron` looks into the network of now.
pub fn pathway(record: &RunRecord, neuron: &dyn Fn(&NeuronId) -> Option<Neuron>) -> Vec<Edge> {
    let weight = |edge: &Edge| neuron(&edge.from).map_or(0, |n| n.weight(&edge.to, edge.link));
    let stated = record.prediction.as_ref().map_or(&[][..], |p| &p.pathway);
    if !stated.is_empty() {
        let mut seen = BTreeSet::new();
        let live = stated.iter().filter(|edge| weight(edge) > 0 && seen.insert(*edge));
        return live.take(limits::CREDITED_EDGES).cloned().collect();
    }
    let mut found: Vec<(u16, Edge)> = shown(record, neuron).into_iter().map(|edge| (weight(&edge), edge)).collect();
    found.retain(|(weight, _)| *weight > 0);
    found.sort_by(|(v, a), (w, b)| w.cmp(v).then_with(|| a.cmp(b)));
    found.truncate(limits::CREDITED_EDGES);
    let mut edges: Vec<Edge> = found.into_iter().map(|(_, edge)| edge).collect();
    edges.sort();
    edges
}

/// What a record shows of the connections that its run used.
fn shown(record: &RunRecord, neuron: &dyn Fn(&NeuronId) -> Option<Neuron>) -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    let mut active: BTreeSet<&NeuronId> = BTreeSet::new();
    for effect in &record.effects {
        let Some(id) = &effect.neuron else { continue };
        let edge = |to: &NeuronId, link: Link| Edge { from: id.clone(), to: to.clone(), link };
        let made = effect.created.as_ref().map_or(&[][..], |made| &made.connections);
        edges.extend(made.iter().map(|c| edge(&c.target, c.link)));
        edges.extend(effect.connections.iter().map(|c| edge(&c.target, c.link)));
        let rose = effect.activation_count.is_some_and(|(before, after)| after > before);
        if rose || effect.created.as_ref().is_some_and(|made| made.activation_count > 0) {
            active.insert(id);
        }
    }
    for id in &active {
        let Some(source) = neuron(id) else { continue };
        let inside = source.connections.iter().filter(|c| active.contains(&c.target));
        edges.extend(inside.map(|c| Edge { from: (*id).clone(), to: c.target.clone(), link: c.link }));
    }
    edges
}

/// Where activation enters a connection and where it leaves it: `recalls` is followed from its target to its source.
fn flow(edge: &Edge) -> (&NeuronId, &NeuronId) {
    match edge.link {
        Link::Recalls => (&edge.to, &edge.from),
        _ => (&edge.from, &edge.to),
    }
}

/// The neuron that a pathway ends at: where activation leaves its last connection.
pub fn end(pathway: &[Edge]) -> Option<&NeuronId> {
    pathway.last().map(|edge| flow(edge).1)
}

/// How many steps before the outcome each connection of a pathway stands. The last is 0; one from which activation flows into the next
/// stands a step before that; any other ends a way of its own, and is 0 as well.
fn steps(pathway: &[Edge]) -> Vec<i32> {
    let mut steps = vec![0; pathway.len()];
    for at in (1..pathway.len()).rev() {
        if flow(&pathway[at - 1]).1 == flow(&pathway[at]).0 {
            steps[at - 1] = steps[at] + 1;
        }
    }
    steps
}

/// Which part of an error each connection gets: `error · γ^k · λ^d`, where the connection stands k steps before the outcome, in the
/// pathway of a run d steps before the judged one in the chain of causes. `trails` has the judged run's pathway first, with d = 0. A
/// connection that stands in several gets its part once, of the nearest. λ = `learning.eligibility` = 0 and γ = `learning.discount` = 1
/// give the seed: the same error to every connection of the run's own pathway. Source: eligibility traces, Sutton and Barto, 12.
pub fn credits(error: f64, trails: &[(u32, Vec<Edge>)], learning: &Learning) -> Vec<Credit> {
    let mut seen: BTreeSet<&Edge> = BTreeSet::new();
    let mut credits = Vec::new();
    for (distance, pathway) in trails {
        // 0⁰ is 1: the judged run itself is always credited.
        let eligible = learning.eligibility.powi(*distance as i32);
        for (edge, k) in pathway.iter().zip(steps(pathway)) {
            let error = error * learning.discount.powi(k) * eligible;
            if error != 0.0 && credits.len() < limits::CREDITED_EDGES && seen.insert(edge) {
                credits.push(Credit { edge: edge.clone(), error });
            }
        }
    }
    credits
}

/// The operations that give credits their due: connections of one error together, at most [`limits::PATHWAY_EDGES`] an operation.
pub fn reinforcements(credits: &[Credit]) -> Vec<Operation> {
    let mut groups: Vec<(f64, Vec<Edge>)> = Vec::new();
    for credit in credits {
        match groups.iter_mut().find(|(error, edges)| *error == credit.error && edges.len() < limits::PATHWAY_EDGES) {
            Some((_, edges)) => edges.push(credit.edge.clone()),
            None => groups.push((credit.error, vec![credit.edge.clone()])),
        }
    }
    groups.into_iter().map(|(error, pathway)| Operation::Reinforce(Reinforce { error, pathway })).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::delta::{Effect, Prediction};
    use crate::model::ids::RunId;
    use crate::model::{Kind, Origin, Stamp};

    fn id(text: &str) -> NeuronId {
        NeuronId::parse(text).unwrap()
    }

    fn edge(from: &str, to: &str) -> Edge {
        Edge { from: id(from), to: id(to), link: Link::FeedsInto }
    }

    fn record(effects: Vec<Effect>, pathway: Vec<Edge>) -> RunRecord {
        let run = RunId::parse("20260126t143200123z-abcd2345-decision").unwrap();
        RunRecord {
            agent: run.agent(),
            run,
            trigger: "a test".into(),
            cognition: "apply".into(),
            at: Stamp::from_unix(0),
            depth: 0,
            base: None,
            origin: Origin::local(),
            stimuli: vec![],
            prediction: Some(Prediction { pathway, ..Prediction::default() }),
            ops: vec![],
            effects,
            notes: vec![],
            reverts: vec![],
            approves: vec![],
        }
    }

    /// a → b → c, and d, where a, b and d were activated and a → d was made.
    fn network() -> (BTreeMap<NeuronId, Neuron>, Vec<Effect>) {
        let mut before: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
        for name in ["a", "b", "c", "d"] {
            before.insert(id(name), Neuron::new(id(name), name, Kind::Semantic, Stamp::from_unix(0)));
        }
        before.get_mut("a").unwrap().set_weight(&id("b"), Link::FeedsInto, 500);
        before.get_mut("b").unwrap().set_weight(&id("c"), Link::FeedsInto, 600);
        before.get_mut("b").unwrap().set_weight(&id("a"), Link::Recalls, 0);
        let mut after = before.clone();
        for name in ["a", "b", "d"] {
            after.get_mut(name).unwrap().activate(100, Stamp::from_unix(1));
        }
        after.get_mut("a").unwrap().set_weight(&id("d"), Link::FeedsInto, 2048);
        let effects = before.iter().map(|(id, n)| Effect::between(Some(n), &after[id])).collect();
        (after, effects)
    }

    #[test]
    fn a_stated_pathway_is_taken_as_it_is_without_what_is_gone() {
        let (network, effects) = network();
        let look = |id: &NeuronId| network.get(id).cloned();
        let stated = vec![edge("b", "c"), edge("a", "b"), edge("b", "c"), edge("c", "d"), edge("gone", "a")];
        assert_eq!(pathway(&record(effects, stated), &look), [edge("b", "c"), edge("a", "b")]);
    }

    #[test]
    fn else_it_is_what_the_run_made_and_what_lies_between_what_it_activated() {
        let (network, effects) = network();
        let look = |id: &NeuronId| network.get(id).cloned();
        assert_eq!(pathway(&record(effects, vec![]), &look), [edge("a", "b"), edge("a", "d")]);
        assert!(pathway(&record(vec![], vec![]), &look).is_empty());
    }

    #[test]
    fn the_seed_gives_every_connection_the_same_error() {
        let way = vec![edge("a", "b"), edge("b", "c"), edge("x", "y")];
        let older = vec![edge("p", "a")];
        let seed = credits(-0.3, &[(0, way.clone()), (1, older)], &Learning::default());
        assert!(seed.iter().all(|c| c.error == -0.3) && seed.len() == 3, "{seed:?}");
        assert_eq!(reinforcements(&seed), [Operation::Reinforce(Reinforce { error: -0.3, pathway: way })]);
        assert!(credits(0.0, &[(0, vec![edge("a", "b")])], &Learning::default()).is_empty());
    }

    #[test]
    fn discount_counts_steps_along_a_way_and_eligibility_runs() {
        let learning = Learning { discount: 0.5, eligibility: 0.5, ..Learning::default() };
        // Two ways: a → b → c, and x → y. The run before it came by p → a and used a → b as well.
        let trails =
            [(0, vec![edge("a", "b"), edge("b", "c"), edge("x", "y")]), (2, vec![edge("p", "a"), edge("a", "b")])];
        let errors: Vec<f64> = credits(0.8, &trails, &learning).into_iter().map(|c| c.error).collect();
        assert_eq!(errors, [0.4, 0.8, 0.8, 0.1]);
        let long = [(0, vec![edge("a", "b"), edge("b", "c"), edge("c", "d"), edge("d", "e")])];
        let errors: Vec<f64> = credits(0.8, &long, &learning).into_iter().map(|c| c.error).collect();
        assert_eq!(errors, [0.1, 0.2, 0.4, 0.8], "a factor for each step, and not for the first alone");
        let nothing = Learning { discount: 0.0, ..Learning::default() };
        assert_eq!(credits(0.8, &trails[..1], &nothing).len(), 2, "only what stands last");
    }

    #[test]
    fn recalls_are_followed_backwards() {
        let back = Edge { from: id("e"), to: id("b"), link: Link::Recalls };
        assert_eq!(steps(&[edge("a", "b"), back.clone()]), [1, 0]);
        assert_eq!(end(&[edge("a", "b"), back]), Some(&id("e")));
        assert_eq!(end(&[]), None);
    }

    #[test]
    fn a_long_pathway_is_cut_into_operations_and_bounded_in_all() {
        let way: Vec<Edge> = (0..2000).map(|i| edge(&format!("a{i}"), &format!("b{i}"))).collect();
        let ops = reinforcements(&credits(0.5, &[(0, way)], &Learning::default()));
        let sizes: Vec<usize> = ops
            .iter()
            .map(|op| match op {
                Operation::Reinforce(op) => op.pathway.len(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(sizes, [limits::PATHWAY_EDGES; limits::CREDITED_EDGES / limits::PATHWAY_EDGES]);
    }
}
