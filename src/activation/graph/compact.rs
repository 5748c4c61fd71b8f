//! Columns of a graph that consists of columns and a patch: the same network with the numbers in order again.

use super::columns::{ColumnsBuf, Edge};
use super::{Graph, NodeIx};
use crate::model::Link;

impl ColumnsBuf {
    /// The columns of what a graph says, and the new number of each old one. Archived neurons and ids that are only mentioned keep
    /// a number. Takes time in proportion to the network, without reading a neuron.
    pub fn compact(graph: Graph<'_>) -> (Self, Vec<u32>) {
        let old = in_order(graph);
        let mut places = vec![0; old.len()];
        old.iter().enumerate().for_each(|(place, node)| places[*node as usize] = place as u32);
        let mut columns = Self { id_offsets: vec![0], rows: vec![0], ..Self::default() };
        let mut row: Vec<Edge> = Vec::new();
        for node in old {
            let attributes = graph.attributes(node);
            columns.id_bytes.extend_from_slice(graph.id(NodeIx(node)).as_bytes());
            columns.id_offsets.push(columns.id_bytes.len() as u32);
            columns.kinds.push(attributes.state.0);
            columns.saliences.push(attributes.salience);
            columns.stamps.push(attributes.stamp);
            row.clear();
            for (edges, is_base) in graph.rows(NodeIx(node)) {
                let hidden = is_base && graph.is_patched(node);
                let counts = edges.edges().filter(|(to, _, link)| !is_base || !graph.hides(hidden, *to, *link));
                row.extend(counts.map(|(to, weight, link)| Edge::new(0, places[to as usize], weight, link)));
            }
            row.sort_unstable();
            columns.targets.extend(row.iter().map(|edge| edge.target));
            columns.weights.extend(row.iter().map(Edge::weight));
            columns.links.extend(row.iter().map(|edge| edge.link));
            columns.rows.push(columns.targets.len() as u32);
        }
        debug_assert!(columns.links.iter().all(|link| usize::from(*link) < Link::ALL.len()));
        (columns, places)
    }
}

/// All numbers, ascending by id.
fn in_order(graph: Graph<'_>) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..graph.len() as u32).collect();
    if graph.patch.is_some() {
        numbers.sort_by_key(|node| graph.order(NodeIx(*node)));
    }
    numbers
}
