//! What has changed since columns were built, so that a change costs what it changes, not the size of the network.
//!
//! A patched node is one whose neuron's file has changed, come or gone: the patch has its new attributes and all edges that
//! its file stores (it *owns* them), and the columns' edges of that owner no longer count. New ids get the numbers after
//! those of the columns, in order of mention; a later patch built upon this one keeps them. Flat sorted arrays only, so
//! that a patch can lie in a mapped file too.

use std::collections::BTreeMap;

use super::columns::{Attributes, Columns, Edge, Row, State, text};
use super::{Graph, NodeIx};
use crate::model::{Neuron, NeuronId};

/// What happened to one neuron.
#[derive(Clone, Copy, Debug)]
pub enum Change<'n> {
    /// This is the neuron now.
    Is(&'n Neuron),
    /// There is no neuron of that id any more.
    Gone(&'n NeuronId),
}

/// A patch that owns its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    nodes: Vec<u32>,
    kinds: Vec<u8>,
    saliences: Vec<u16>,
    stamps: Vec<i64>,
    row_nodes: Vec<u32>,
    rows: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<u16>,
    links: Vec<u8>,
    id_offsets: Vec<u32>,
    id_bytes: Vec<u8>,
    orders: Vec<u64>,
    by_id: Vec<u32>,
}

/// A patch as borrowed columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchView<'a> {
    /// Numbers of patched nodes, ascending.
    pub nodes: &'a [u32],
    /// Their types and flags now, as in [`Columns`]; 0: gone.
    pub kinds: &'a [u8],
    /// Their stored saliences.
    pub saliences: &'a [u16],
    /// When those were stored.
    pub stamps: &'a [i64],
    /// Numbers of nodes that have patched edges in their row, ascending.
    pub row_nodes: &'a [u32],
    /// Row `row_nodes[i]` is `rows[i]..rows[i + 1]` of the three columns below.
    pub rows: &'a [u32],
    /// Where each edge leads.
    pub targets: &'a [u32],
    /// Its weight, descending within a row.
    pub weights: &'a [u16],
    /// Its type.
    pub links: &'a [u8],
    /// New id `i` (number: nodes of the columns + `i`) is bytes `id_offsets[i]..id_offsets[i + 1]` of `id_bytes`.
    pub id_offsets: &'a [u32],
    /// The new ids one after the other, in order of their numbers.
    pub id_bytes: &'a [u8],
    /// [`Graph::order`] of each new id.
    pub orders: &'a [u64],
    /// The new ids (as 0, 1, …) in ascending order of their texts.
    pub by_id: &'a [u32],
}

impl<'a> PatchView<'a> {
    /// Whether the lengths fit each other; constant time. For a patch that comes from elsewhere.
    pub fn fit(&self) -> bool {
        let last = |offsets: &[u32]| offsets.last().map_or(0, |last| *last as usize);
        let offsets = |offsets: &[u32], of: usize| offsets.len() == of + 1 || (of == 0 && offsets.is_empty());
        let (nodes, edges, ids) = (self.nodes.len(), self.targets.len(), self.orders.len());
        self.kinds.len() == nodes
            && self.saliences.len() == nodes
            && self.stamps.len() == nodes
            && offsets(self.rows, self.row_nodes.len())
            && self.weights.len() == edges
            && self.links.len() == edges
            && last(self.rows) == edges
            && offsets(self.id_offsets, ids)
            && self.by_id.len() == ids
            && last(self.id_offsets) == self.id_bytes.len()
    }

    /// Whether the neuron of a node is the patch's.
    pub(crate) fn has(&self, node: u32) -> bool {
        self.nodes.binary_search(&node).is_ok()
    }

    pub(crate) fn attributes(&self, node: u32) -> Option<Attributes> {
        let at = self.nodes.binary_search(&node).ok()?;
        let (state, salience, stamp) = (self.kinds.get(at)?, self.saliences.get(at)?, self.stamps.get(at)?);
        Some(Attributes { state: State(*state), salience: *salience, stamp: *stamp })
    }

    pub(crate) fn row(&self, node: u32) -> Option<Row<'a>> {
        let at = self.row_nodes.binary_search(&node).ok()?;
        let [from, to] = self.rows.get(at..)?.first_chunk()?;
        Some(Row::of(self.targets, self.weights, self.links, *from as usize..*to as usize))
    }

    /// The text of a new id.
    pub(super) fn id(&self, new: usize) -> &'a str {
        text(self.id_offsets, self.id_bytes, new)
    }

    /// Which new id that is, if it is one.
    pub(super) fn number(&self, id: &str) -> Option<u32> {
        let at = self.by_id.binary_search_by(|new| self.id(*new as usize).cmp(id)).ok()?;
        Some(self.by_id[at])
    }

    fn edges(self) -> impl Iterator<Item = Edge> + 'a {
        self.row_nodes.iter().flat_map(move |node| {
            self.row(*node)
                .unwrap_or_default()
                .edges()
                .map(|(target, weight, link)| Edge::new(*node, target, weight, link))
        })
    }
}

impl Patch {
    /// The patch upon `base` that says all that `older` says, and these changes. Of two changes of one neuron the later
    /// counts. Takes time in proportion to `older` and the changes.
    pub fn build<'n>(
        base: Columns<'_>,
        older: Option<PatchView<'_>>,
        changes: impl IntoIterator<Item = Change<'n>>,
    ) -> Self {
        let older = older.unwrap_or_default();
        let known = Graph { base, patch: Some(older) };
        let mut changed: BTreeMap<&str, Option<&Neuron>> = BTreeMap::new();
        for change in changes {
            match change {
                Change::Is(neuron) => changed.insert(neuron.id.as_str(), Some(neuron)),
                Change::Gone(id) => changed.insert(id.as_str(), None),
            };
        }
        let mut new: BTreeMap<&str, u32> = BTreeMap::new();
        let mut number = |id| match known.number_of(id) {
            Some(node) => node.0,
            None => {
                let next = (known.len() + new.len()) as u32;
                *new.entry(id).or_insert(next)
            }
        };
        let nodes = older.nodes.iter().map(|node| (*node, older.attributes(*node).unwrap_or(Attributes::ABSENT)));
        let mut nodes: BTreeMap<u32, Attributes> = nodes.collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut replaced: Vec<u32> = Vec::new();
        for (id, neuron) in changed {
            let own = number(id);
            replaced.push(own);
            nodes.insert(own, neuron.map_or(Attributes::ABSENT, Attributes::of));
            if let Some(neuron) = neuron {
                edges.extend(Edge::owned_by(neuron, own, &mut number));
            }
        }
        replaced.sort_unstable();
        edges.extend(older.edges().filter(|edge| replaced.binary_search(&edge.owner()).is_err()));
        edges.sort_unstable();

        let mut patch = Self::default();
        patch.lay_nodes(nodes);
        patch.lay_rows(&edges);
        patch.lay_ids(base, older, new);
        patch
    }

    fn lay_nodes(&mut self, nodes: BTreeMap<u32, Attributes>) {
        for (node, attributes) in nodes {
            self.nodes.push(node);
            self.kinds.push(attributes.state.0);
            self.saliences.push(attributes.salience);
            self.stamps.push(attributes.stamp);
        }
    }

    fn lay_rows(&mut self, edges: &[Edge]) {
        self.rows.push(0);
        for row in edges.chunk_by(|a, b| a.row == b.row) {
            self.row_nodes.push(row[0].row);
            for edge in row {
                self.targets.push(edge.target);
                self.weights.push(edge.weight());
                self.links.push(edge.link);
            }
            self.rows.push(self.targets.len() as u32);
        }
    }

    /// The older patch's ids keep their numbers, the new ones follow.
    fn lay_ids(&mut self, base: Columns<'_>, older: PatchView<'_>, new: BTreeMap<&str, u32>) {
        let mut ids: Vec<&str> = (0..older.orders.len()).map(|at| older.id(at)).collect();
        let mut added: Vec<(u32, &str)> = new.into_iter().map(|(id, number)| (number, id)).collect();
        added.sort_unstable();
        ids.extend(added.into_iter().map(|(_, id)| id));
        self.id_offsets.push(0);
        for id in &ids {
            self.id_bytes.extend_from_slice(id.as_bytes());
            self.id_offsets.push(self.id_bytes.len() as u32);
        }
        self.by_id = (0..ids.len() as u32).collect();
        self.by_id.sort_unstable_by_key(|new| ids[*new as usize]);
        self.orders = vec![0; ids.len()];
        for (rank, new) in self.by_id.iter().enumerate() {
            let smaller = base.number(ids[*new as usize]).unwrap_or_else(NodeIx).0;
            self.orders[*new as usize] = (u64::from(smaller) << 32) | (1 + rank as u64);
        }
    }

    /// The same, borrowed.
    pub fn view(&self) -> PatchView<'_> {
        PatchView {
            nodes: &self.nodes,
            kinds: &self.kinds,
            saliences: &self.saliences,
            stamps: &self.stamps,
            row_nodes: &self.row_nodes,
            rows: &self.rows,
            targets: &self.targets,
            weights: &self.weights,
            links: &self.links,
            id_offsets: &self.id_offsets,
            id_bytes: &self.id_bytes,
            orders: &self.orders,
            by_id: &self.by_id,
        }
    }
}
