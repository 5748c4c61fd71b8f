//! The network as arrays: one row of edges per neuron, in the direction in which activation follows them.
//!
//! A node's index is the rank of its neuron's id, so the smallest index is the smallest id. `recalls` is stored on A
//! and followed from B to A (B can retrieve A); it is in B's row here. Archived neurons are left out, and so are edges of
//! weight 0 and edges to neurons that are not there.

use crate::model::ids::NeuronId;
use crate::model::{Connection, Kind, Link, Neuron, Stamp, salience};

/// A node of a [`Graph`]: the rank of its neuron's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub u32);

impl NodeIx {
    fn at(self) -> usize {
        self.0 as usize
    }
}

/// An edge as activation follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Where it leads.
    pub target: NodeIx,
    /// Its type.
    pub link: Link,
    /// Its weight, 1..=65535.
    pub weight: u16,
}

/// The compact network.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ids: Vec<NeuronId>,
    kinds: Vec<Kind>,
    saliences: Vec<u16>,
    stamps: Vec<Stamp>,
    /// Row `i` is `rows[i]..rows[i + 1]` of the three arrays below.
    rows: Vec<u32>,
    targets: Vec<NodeIx>,
    weights: Vec<u16>,
    links: Vec<Link>,
}

/// What building keeps of a neuron.
struct Source {
    id: NeuronId,
    kind: Kind,
    salience: u16,
    stamp: Stamp,
    connections: Vec<Connection>,
}

impl Graph {
    /// Builds the graph of these neurons; their order does not matter. Of two with one id the first counts.
    pub fn build(neurons: impl IntoIterator<Item = Neuron>) -> Self {
        let mut sources: Vec<Source> = neurons
            .into_iter()
            .filter(|n| !n.is_archived())
            .map(|n| Source {
                id: n.id,
                kind: n.kind,
                salience: n.salience,
                stamp: n.last_salience_update,
                connections: n.connections,
            })
            .collect();
        sources.sort_by(|a, b| a.id.cmp(&b.id));
        sources.dedup_by(|later, first| later.id == first.id);

        let mut edges: Vec<(NodeIx, NodeIx, Link, u16)> = Vec::new();
        for (from, source) in sources.iter().enumerate() {
            let from = NodeIx(from as u32);
            for edge in source.connections.iter().filter(|c| c.weight > 0) {
                let Ok(to) = sources.binary_search_by(|s| s.id.cmp(&edge.target)) else { continue };
                let to = NodeIx(to as u32);
                let (start, end) = if edge.link == Link::Recalls { (to, from) } else { (from, to) };
                edges.push((start, end, edge.link, edge.weight));
            }
        }
        edges.sort_unstable();

        let mut graph = Self::default();
        graph.rows.reserve(sources.len() + 1);
        graph.rows.push(0);
        let mut rest = edges.as_slice();
        for (ix, source) in sources.into_iter().enumerate() {
            let row = rest.partition_point(|(from, ..)| from.at() <= ix);
            for (_, target, link, weight) in &rest[..row] {
                graph.targets.push(*target);
                graph.links.push(*link);
                graph.weights.push(*weight);
            }
            rest = &rest[row..];
            graph.rows.push(graph.targets.len() as u32);
            graph.ids.push(source.id);
            graph.kinds.push(source.kind);
            graph.saliences.push(source.salience);
            graph.stamps.push(source.stamp);
        }
        graph
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The node of a neuron, if it is in the graph.
    pub fn find(&self, id: &NeuronId) -> Option<NodeIx> {
        self.ids.binary_search(id).ok().map(|ix| NodeIx(ix as u32))
    }

    /// A node's neuron. The node must be one of this graph, as in every method below.
    pub fn id(&self, node: NodeIx) -> &NeuronId {
        &self.ids[node.at()]
    }

    /// A node's type.
    pub fn kind(&self, node: NodeIx) -> Kind {
        self.kinds[node.at()]
    }

    /// A node's salience at `now`, 0..=65535: a pure read.
    pub fn salience_at(&self, node: NodeIx, now: Stamp) -> u16 {
        salience::salience_at(self.saliences[node.at()], self.stamps[node.at()], now)
    }

    /// How many edges lead out of a node, in the direction in which they are followed.
    pub fn out_degree(&self, node: NodeIx) -> usize {
        self.row(node).len()
    }

    /// The edges out of a node, ascending by target and type.
    pub fn spread(&self, node: NodeIx) -> impl ExactSizeIterator<Item = Spread> + '_ {
        self.row(node).map(|e| Spread { target: self.targets[e], link: self.links[e], weight: self.weights[e] })
    }

    /// Every node, ascending.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeIx> + use<> {
        (0..self.ids.len() as u32).map(NodeIx)
    }

    fn row(&self, node: NodeIx) -> std::ops::Range<usize> {
        self.rows[node.at()] as usize..self.rows[node.at() + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RunId;

    fn neuron(id: &str, edges: &[(&str, Link, u16)]) -> Neuron {
        let mut n = Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, Stamp::from_unix(0));
        for (target, link, weight) in edges {
            n.set_weight(&NeuronId::parse(target).unwrap(), *link, *weight);
        }
        n
    }

    fn rows(graph: &Graph) -> Vec<String> {
        let name = |n| graph.id(n).as_str();
        let row = |n| graph.spread(n).map(move |e| format!("{}-{}-{}={}", name(n), e.link, name(e.target), e.weight));
        graph.nodes().flat_map(row).collect()
    }

    #[test]
    fn rows_follow_the_direction_of_activation_in_order_of_ids() {
        let a = neuron("a", &[("b", Link::Recalls, 3), ("c", Link::FeedsInto, 1), ("b", Link::FeedsInto, 2)]);
        let (b, c) = (neuron("b", &[("a", Link::Inhibits, 4)]), neuron("c", &[]));
        let expected = ["a-feeds_into-b=2", "a-feeds_into-c=1", "b-inhibits-a=4", "b-recalls-a=3"];
        for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
            let graph = Graph::build(order.into_iter().cloned());
            assert_eq!(rows(&graph), expected);
            assert_eq!((graph.len(), graph.out_degree(NodeIx(1))), (3, 2));
            assert_eq!(graph.find(&b.id), Some(NodeIx(1)));
        }
    }

    #[test]
    fn what_cannot_be_followed_is_left_out() {
        let a = neuron("a", &[("b", Link::FeedsInto, 0), ("x", Link::FeedsInto, 9), ("z", Link::Recalls, 9)]);
        let mut z = neuron("z", &[("a", Link::FeedsInto, 9)]);
        z.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
        z.archived = z.run.clone();
        let graph = Graph::build([z.clone(), neuron("b", &[]), a]);
        assert!(rows(&graph).is_empty(), "{:?}", rows(&graph));
        assert_eq!((graph.len(), graph.find(&z.id)), (2, None));
        assert!(Graph::build([]).is_empty());
    }
}
