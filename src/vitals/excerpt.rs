//! The part of a network whose structure is measured: all of it, or the surroundings of what is most salient.

use std::collections::VecDeque;

use super::community::Edge;
use crate::activation::{Graph, NodeIx};
use crate::limits;
use crate::model::{Link, Stamp};

/// A part of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// Its neurons, ascending by id. What follows numbers them by their place here.
    pub nodes: Vec<NodeIx>,
    /// How many neurons the network has.
    pub of: usize,
    /// Connections of every type without direction, each pair once, lower number first, weights summed, as shares of 65535.
    pub edges: Vec<Edge>,
    /// Where activation goes from each neuron in one hop.
    pub rows: Vec<Vec<u32>>,
}

impl Excerpt {
    /// Of a network at a clock: all of it, or `most` neurons. Those are the most salient one and what is nearest to it, along its
    /// strongest connections first; then from the most salient one that is left; and so on.
    pub fn of(graph: &Graph<'_>, now: Stamp, most: usize) -> Self {
        let all: Vec<NodeIx> = graph.nodes().collect();
        let of = all.len();
        let mut nodes = if of <= most { all } else { surroundings(graph, all, now, most) };
        nodes.sort_unstable_by_key(|node| graph.order(*node));
        let mut place = vec![u32::MAX; graph.len()];
        nodes.iter().enumerate().for_each(|(at, node)| place[node.0 as usize] = at as u32);
        let (mut edges, mut rows): (Vec<Edge>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        for (at, node) in nodes.iter().enumerate() {
            let mut row = Vec::new();
            for edge in graph.spread(*node) {
                let (from, to) = (at as u32, place[edge.target.0 as usize]);
                if to == u32::MAX || to == from {
                    continue;
                }
                edges.push((from.min(to), from.max(to), f64::from(edge.weight) / 65535.0));
                if matches!(edge.link, Link::FeedsInto | Link::Recalls | Link::Triggers) {
                    row.push(to);
                }
            }
            rows.push(row);
        }
        edges.sort_by_key(|(a, b, _)| (*a, *b));
        edges.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            first.2 += if same { later.2 } else { 0.0 };
            same
        });
        Self { nodes, of, edges, rows }
    }
}

fn surroundings(graph: &Graph<'_>, mut all: Vec<NodeIx>, now: Stamp, most: usize) -> Vec<NodeIx> {
    all.sort_by_cached_key(|node| (std::cmp::Reverse(graph.salience_at(*node, now)), graph.order(*node)));
    let mut seen = vec![false; graph.len()];
    let mut found = Vec::with_capacity(most);
    for start in all {
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front().filter(|_| found.len() < most) {
            if std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            found.push(node);
            let near = graph.spread(node).map(|edge| edge.target).filter(|to| !seen[to.0 as usize]);
            open.extend(near.take(limits::MEASURED_NEIGHBOURS));
        }
        if found.len() == most {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::ColumnsBuf;
    use crate::model::ids::NeuronId;
    use crate::model::{Kind, Neuron};

    fn network(edges: &[(usize, usize, Link, u16)], saliences: &[u16]) -> Vec<Neuron> {
        let id = |n: usize| NeuronId::parse(&format!("n{n:03}")).unwrap();
        let mut neurons: Vec<Neuron> = saliences
            .iter()
            .enumerate()
            .map(|(n, salience)| {
                let mut neuron = Neuron::new(id(n), "n", Kind::Semantic, Stamp::from_unix(0));
                neuron.salience = *salience;
                neuron
            })
            .collect();
        edges.iter().for_each(|(from, to, link, weight)| neurons[*from].set_weight(&id(*to), *link, *weight));
        neurons
    }

    fn excerpt(neurons: &[Neuron], most: usize) -> Excerpt {
        Excerpt::of(&ColumnsBuf::build(neurons).graph(), Stamp::from_unix(0), most)
    }

    #[test]
    fn both_directions_of_a_pair_are_one_edge_and_activation_keeps_its_way() {
        let links = [
            (0, 1, Link::FeedsInto, 13107),
            (1, 0, Link::FeedsInto, 26214),
            (1, 2, Link::Inhibits, 65535),
            (2, 0, Link::Recalls, 65535),
            (2, 2, Link::FeedsInto, 9),
        ];
        let all = excerpt(&network(&links, &[1, 1, 1]), 10);
        assert_eq!((all.of, all.nodes.len()), (3, 3));
        let pairs: Vec<(u32, u32)> = all.edges.iter().map(|(a, b, _)| (*a, *b)).collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
        assert!((all.edges[0].2 - 0.6).abs() < 1e-9);
        // What 2 recalls leads from 0 to 2; what inhibits carries no activation.
        assert_eq!(
            all.rows
                .iter()
                .map(|r| {
                    let mut r = r.clone();
                    r.sort();
                    r
                })
                .collect::<Vec<_>>(),
            [vec![1, 2], vec![0], vec![]]
        );
    }

    #[test]
    fn of_a_large_network_the_surroundings_of_the_most_salient_are_taken() {
        // Two chains of fifty; the most salient neuron is 70.
        let links: Vec<_> = (0..99).filter(|n| *n != 49).map(|n| (n, n + 1, Link::FeedsInto, 1000)).collect();
        let mut saliences = vec![10; 100];
        saliences[70] = 500;
        let part = excerpt(&network(&links, &saliences), 20);
        assert_eq!((part.of, part.nodes.len(), part.edges.len()), (100, 20, 19));
        let graph = ColumnsBuf::build(network(&links, &saliences));
        let ids: Vec<&str> = part.nodes.iter().map(|n| graph.graph().id(*n)).collect();
        assert_eq!((ids[0], ids[19]), ("n070", "n089"));
        assert_eq!(part, excerpt(&network(&links, &saliences), 20));
    }

    #[test]
    fn a_hub_does_not_fill_it() {
        let links: Vec<_> =
            (1..200).map(|n| (0, n, Link::FeedsInto, 1000)).chain([(1, 200, Link::FeedsInto, 1)]).collect();
        let mut saliences = vec![10; 201];
        saliences[0] = 500;
        let part = excerpt(&network(&links, &saliences), 50);
        assert!(
            part.nodes.len() == 50 && part.edges.iter().any(|(a, _, _)| *a == 1),
            "beyond the hub's first neighbours"
        );
    }
}
