//! The network as arrays: one row of edges per neuron, in the direction in which activation follows them.
//!
//! A [`Graph`] reads [`Columns`] and a [`Patch`] upon them as one network; it owns nothing. `recalls` is stored on A and
//! followed from B to A (B can retrieve A); it is in B's row here. Archived neurons are not there, and edges of
//! weight 0, and to neurons that are not there, are not followed. Must not know files: who maps one gives slices.

mod columns;
mod compact;
mod patch;
mod prefetch;
#[cfg(test)]
mod tests;

pub(crate) use columns::has_rule;
pub(super) use columns::{Attributes, Row};
pub use columns::{Columns, ColumnsBuf, ColumnsBuilder};
pub use patch::{Change, Patch, PatchView};

use self::prefetch::prefetch;
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Stamp, salience};

/// The number of a node in a [`Graph`]. A node of the columns has its rank among their ids, a new one of a patch a number
/// after those: compare [`Graph::order`], not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct NodeIx(pub u32);

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

/// The network as it is read: columns, and what has changed since.
#[derive(Clone, Copy, Debug, Default)]
pub struct Graph<'a> {
    /// The network as it was when the columns were built.
    pub base: Columns<'a>,
    /// What has changed since.
    pub patch: Option<PatchView<'a>>,
}

impl<'a> Graph<'a> {
    /// How many nodes are numbered, present or not.
    pub fn len(&self) -> usize {
        self.base.len() + self.patch.map_or(0, |patch| patch.orders.len())
    }

    /// Whether no node is numbered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node of a neuron, if it is present.
    pub fn find(&self, id: &NeuronId) -> Option<NodeIx> {
        self.number(id).filter(|node| self.is_present(*node))
    }

    /// The node of an id, also of one that is archived, gone or only mentioned.
    pub fn number(&self, id: &NeuronId) -> Option<NodeIx> {
        self.number_of(id.as_str())
    }

    fn number_of(&self, id: &str) -> Option<NodeIx> {
        let new = |patch: PatchView<'_>| Some(NodeIx(self.base.len() as u32 + patch.number(id)?));
        self.base.number(id).ok().or_else(|| self.patch.and_then(new))
    }

    /// A node's id; empty if there is no such node.
    pub fn id(&self, node: NodeIx) -> &'a str {
        match (self.new_id(node), self.patch) {
            (Some(new), Some(patch)) => patch.id(new),
            _ => self.base.id(node),
        }
    }

    /// A key that orders nodes as their ids are ordered.
    pub fn order(&self, node: NodeIx) -> u64 {
        let new = self.new_id(node).and_then(|new| self.patch?.orders.get(new).copied());
        new.unwrap_or((u64::from(node.0) + 1) << 32)
    }

    /// A node's type.
    pub fn kind(&self, node: NodeIx) -> Kind {
        self.attributes(node.0).state.kind()
    }

    /// Whether the neuron exists and is not archived.
    pub fn is_present(&self, node: NodeIx) -> bool {
        self.attributes(node.0).state.is_present()
    }

    /// Whether the neuron exists and is archived.
    pub fn is_archived(&self, node: NodeIx) -> bool {
        self.attributes(node.0).state.is_archived()
    }

    /// Whether the neuron comes from where the settings decide on trust.
    pub fn is_foreign(&self, node: NodeIx) -> bool {
        self.attributes(node.0).state.is_foreign()
    }

    /// Whether a person said it in a conversation, or her program was told to remember it.
    pub fn is_said(&self, node: NodeIx) -> bool {
        self.attributes(node.0).state.is_said()
    }

    /// Whether a memory has a rule for all that comes.
    pub fn is_rule(&self, node: NodeIx) -> bool {
        self.attributes(node.0).state.is_rule()
    }

    /// A node's salience at `now`, 0..=65535: a pure read.
    pub fn salience_at(&self, node: NodeIx, now: Stamp) -> u16 {
        let node = self.attributes(node.0);
        salience::salience_at(node.salience, node.stamp(), now)
    }

    /// A node's salience as it is stored, and when it was stored.
    pub fn stored_salience(&self, node: NodeIx) -> (u16, Stamp) {
        let node = self.attributes(node.0);
        (node.salience, node.stamp())
    }

    /// How many edges are followed out of a node.
    pub fn out_degree(&self, node: NodeIx) -> usize {
        self.spread(node).count()
    }

    /// The edges that are followed out of a node: those of the columns, strongest first, then the patch's, strongest first.
    pub fn spread(&self, node: NodeIx) -> impl Iterator<Item = Spread> + use<'a> {
        let graph = *self;
        let rows = graph.rows(node).into_iter().flat_map(move |(row, is_base)| {
            let hidden = is_base && graph.is_patched(node.0);
            row.edges().filter(move |(target, _, link)| !is_base || !graph.hides(hidden, *target, *link))
        });
        rows.filter_map(move |(target, weight, link)| {
            let (target, link) = (NodeIx(target), *Link::ALL.get(usize::from(link))?);
            graph.is_present(target).then_some(Spread { target, link, weight })
        })
    }

    /// Every node that is present, ascending by id.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIx> + 'a {
        let graph = *self;
        let base = graph.base.len() as u32;
        let patch = graph.patch.unwrap_or_default();
        // How many ids of the columns stand before the new id at that place.
        let before = move |place: usize| match patch.by_id.get(place).and_then(|new| patch.orders.get(*new as usize)) {
            Some(order) => ((order >> 32) as u32).min(base),
            None => base,
        };
        let all = (0..=patch.by_id.len()).flat_map(move |place| {
            let from = if place == 0 { 0 } else { before(place - 1) };
            let new = patch.by_id.get(place).map(|new| base + new);
            (from..before(place)).chain(new)
        });
        all.map(NodeIx).filter(move |node| graph.is_present(*node))
    }

    /// Which new id of the patch a node is.
    fn new_id(&self, node: NodeIx) -> Option<usize> {
        (node.0 as usize).checked_sub(self.base.len())
    }

    /// Asks for where a node's row begins, to be followed by [`Self::expect_edges`].
    pub(super) fn expect_row(&self, node: NodeIx) {
        prefetch(self.base.rows, node.0 as usize);
        prefetch(self.base.kinds, node.0 as usize);
    }

    /// Asks for a node's edges.
    pub(super) fn expect_edges(&self, node: NodeIx) {
        let Some(from) = self.base.rows.get(node.0 as usize) else { return };
        prefetch(self.base.targets, *from as usize);
        prefetch(self.base.weights, *from as usize);
        prefetch(self.base.links, *from as usize);
    }

    /// Asks for what a node has beside its edges.
    pub(super) fn expect_attributes(&self, node: u32) {
        prefetch(self.base.kinds, node as usize);
        prefetch(self.base.saliences, node as usize);
        prefetch(self.base.stamps, node as usize);
    }

    pub(super) fn attributes(&self, node: u32) -> Attributes {
        let patched = self.patch.and_then(|patch| patch.attributes(node));
        patched.unwrap_or_else(|| self.base.attributes(node))
    }

    /// A node's row in the columns and in the patch. Of the first, what the patch [hides](Self::hides) does not count.
    pub(super) fn rows(&self, node: NodeIx) -> [(Row<'a>, bool); 2] {
        [(self.base.row(node.0), true), (self.patch_row(node).unwrap_or_default(), false)]
    }

    /// A node's row in the patch, if it has one there.
    pub(super) fn patch_row(&self, node: NodeIx) -> Option<Row<'a>> {
        self.patch?.row(node.0)
    }

    /// Whether the patch has a node's neuron.
    pub(super) fn is_patched(&self, node: u32) -> bool {
        self.patch.is_some_and(|patch| patch.has(node))
    }

    /// Whether an edge of the columns no longer counts, because the patch has its owner. `of_row`: whether it has that of the
    /// edge's row.
    pub(super) fn hides(&self, of_row: bool, target: u32, link: u8) -> bool {
        if link == Link::Recalls as u8 { self.is_patched(target) } else { of_row }
    }
}
