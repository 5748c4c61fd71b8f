//! The part of a network that is drawn: the neighbourhood of some neurons, or of the most salient ones.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{Edge, Mark};
use crate::activation::{Graph, NodeIx};
use crate::limits;
use crate::model::{Link, Stamp};

/// A neuron that could come next.
struct Open {
    score: f64,
    order: u64,
    node: NodeIx,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.order.cmp(&self.order))
    }
}

/// Share of a neuron's score that a connection of full weight passes on.
const PASSED: f64 = 0.9;
/// One in so many of the neurons that are shown is a starting point, where none is named.
const STARTS: usize = 12;

/// Neurons of a network, the most important first: the starting points, then what is nearest to them along strong connections, the
/// salient before others. Without starting points, those are the most salient neurons. What is out of reach follows by salience.
pub fn ranked(graph: &Graph<'_>, starts: &[NodeIx], now: Stamp, most: usize) -> Vec<NodeIx> {
    let share = |node: NodeIx| f64::from(graph.salience_at(node, now)) / 65535.0;
    let open = |node: NodeIx, score: f64| Open { score, order: graph.order(node), node };
    let mut by_salience = if starts.is_empty() { graph.nodes().collect() } else { Vec::new() };
    // Of many that are equally salient, as texts fed at once are, those that are tied most matter.
    let tied = |node: NodeIx| graph.spread(node).map(|edge| u64::from(edge.weight)).sum::<u64>();
    by_salience
        .sort_by_cached_key(|node| (Reverse(graph.salience_at(*node, now)), Reverse(tied(*node)), graph.order(*node)));
    let mut seen = vec![false; graph.len()];
    let mut found = Vec::new();
    let mut heap = BinaryHeap::new();
    if starts.is_empty() {
        let first = by_salience.iter().take(most.div_ceil(STARTS));
        heap.extend(first.map(|node| open(*node, 1.0 + share(*node))));
    } else {
        // The order in which they were named is their order in the picture.
        heap.extend(starts.iter().enumerate().map(|(at, node)| open(*node, 1e9 - at as f64)));
        heap.extend(pointing_to(graph, starts).into_iter().map(|(node, weight)| open(node, PASSED * weight)));
    }
    let mut rest = by_salience.into_iter();
    while found.len() < most {
        let Some(Open { score, node, .. }) = heap.pop() else {
            match rest.find(|node| !seen[node.0 as usize]) {
                Some(next) => heap.push(open(next, share(next))),
                None => break,
            }
            continue;
        };
        if std::mem::replace(&mut seen[node.0 as usize], true) {
            continue;
        }
        found.push(node);
        let near = graph.spread(node).filter(|edge| !seen[edge.target.0 as usize]);
        heap.extend(near.take(limits::MEASURED_NEIGHBOURS).map(|edge| {
            let passed = score.min(2.0) * PASSED * f64::from(edge.weight) / 65535.0;
            open(edge.target, passed * (0.5 + 0.5 * share(edge.target)))
        }));
    }
    found
}

/// The connections that lead to a neuron, by the neurons that have them, strongest first.
pub fn leading_to(graph: &Graph<'_>, to: NodeIx) -> Vec<(NodeIx, Link, u16)> {
    let own =
        graph.spread(to).filter(|edge| edge.link == Link::Recalls).map(|edge| (edge.target, edge.link, edge.weight));
    let mut found: Vec<_> = own.collect();
    for node in graph.nodes().filter(|node| *node != to) {
        let edges = graph.spread(node).filter(|edge| edge.target == to && edge.link != Link::Recalls);
        found.extend(edges.map(|edge| (node, edge.link, edge.weight)));
    }
    found.sort_by_key(|(node, _, weight)| (Reverse(*weight), graph.order(*node)));
    found
}

/// Neurons from which activation flows to one of these, with the strongest weight.
fn pointing_to(graph: &Graph<'_>, to: &[NodeIx]) -> Vec<(NodeIx, f64)> {
    let weight = |node: NodeIx| {
        graph.spread(node).filter(|edge| to.contains(&edge.target)).map(|edge| edge.weight).max().unwrap_or(0)
    };
    graph.nodes().map(|node| (node, f64::from(weight(node)) / 65535.0)).filter(|(_, weight)| *weight > 0.0).collect()
}

/// The connections between these neurons, in the direction that their files have, by the places of their ends; of each neuron the strongest of those
/// by which activation leaves it.
pub fn between(graph: &Graph<'_>, nodes: &[NodeIx]) -> Vec<Edge> {
    let mut place = vec![u32::MAX; graph.len()];
    nodes.iter().enumerate().for_each(|(at, node)| place[node.0 as usize] = at as u32);
    let mut edges = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let inside = graph.spread(*node).filter_map(|edge| {
            let to = place[edge.target.0 as usize];
            // Activation follows this one from its target to its source.
            let (from, to) = if edge.link == Link::Recalls { (to, at as u32) } else { (at as u32, to) };
            (from != to && from != u32::MAX && to != u32::MAX).then_some(Edge {
                from,
                to,
                link: Some(edge.link),
                weight: edge.weight,
                mark: Mark::None,
            })
        });
        edges.extend(inside.take(limits::DRAWN_CONNECTIONS));
    }
    edges
}
