//! Which concepts lead to which memory: the edges from concepts to memories, from the memory's side.
//!
//! The graph has them from the concept's side. They are kept beside it because a wave goes from a memory to the names it
//! shares with others. Must not know texts.

use super::texts::{Rows, rows};
use crate::activation::graph::{Graph, NodeIx};
use crate::activation::sections::{Damaged, Sections, Writer};
use crate::model::{Kind, Link};

mod tag {
    pub const NODES: u32 = 200;
    pub const ROWS: u32 = 201;
    pub const CONCEPTS: u32 = 202;
    pub const WEIGHTS: u32 = 203;
    pub const LINKS: u32 = 204;
}

/// Links of a snapshot: of all memories, or of those that patched neurons lead to or are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links<'a> {
    /// The memories that have a row, ascending.
    nodes: &'a [u32],
    concepts: Rows<'a, u32>,
    weights: Rows<'a, u16>,
    links: Rows<'a, u8>,
}

/// A concept that leads to a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leading {
    pub concept: NodeIx,
    pub weight: u16,
    pub link: Link,
}

impl<'a> Links<'a> {
    pub fn of(sections: &'a Sections) -> Result<Self, Damaged> {
        Ok(Self {
            nodes: sections.array(tag::NODES)?,
            concepts: rows(sections, tag::ROWS, tag::CONCEPTS)?,
            weights: rows(sections, tag::ROWS, tag::WEIGHTS)?,
            links: rows(sections, tag::ROWS, tag::LINKS)?,
        })
    }

    /// The concepts that lead to a memory.
    pub fn row(&self, memory: NodeIx) -> impl Iterator<Item = Leading> + use<'a> {
        let row = self.nodes.binary_search(&memory.0).unwrap_or(usize::MAX - 1);
        let (concepts, weights, links) = (self.concepts.row(row), self.weights.row(row), self.links.row(row));
        concepts.iter().zip(weights).zip(links).filter_map(|((concept, weight), link)| {
            let link = *Link::ALL.get(usize::from(*link))?;
            Some(Leading { concept: NodeIx(*concept), weight: *weight, link })
        })
    }
}

/// Writes the links among these edges: (from, to, type, weight) as activation follows them. Those of neurons that are not
/// there now count as well, since they may come back without what owns the edge changing.
pub(super) fn write(graph: &Graph<'_>, edges: impl Iterator<Item = (NodeIx, NodeIx, u8, u16)>, writer: &mut Writer) {
    let follows = [Link::FeedsInto as u8, Link::Recalls as u8];
    let is = |node: NodeIx, kind: Kind| graph.kind(node) == kind || !graph.is_present(node);
    let leads = |from, to, link| follows.contains(&link) && is(from, Kind::Semantic) && is(to, Kind::Episodic);
    let leading = edges.filter(|(from, to, link, _)| leads(*from, *to, *link));
    let mut leading: Vec<(u32, u32, u8, u16)> =
        leading.map(|(from, to, link, weight)| (to.0, from.0, link, weight)).collect();
    leading.sort_unstable();
    let (mut nodes, mut starts) = (Vec::new(), vec![0_u32]);
    for row in leading.chunk_by(|a, b| a.0 == b.0) {
        nodes.push(row[0].0);
        starts.push(starts.last().copied().unwrap_or(0) + row.len() as u32);
    }
    writer.put(tag::NODES, &nodes);
    writer.put(tag::ROWS, &starts);
    writer.put(tag::CONCEPTS, &leading.iter().map(|row| row.1).collect::<Vec<_>>());
    writer.put(tag::WEIGHTS, &leading.iter().map(|row| row.3).collect::<Vec<_>>());
    writer.put(tag::LINKS, &leading.iter().map(|row| row.2).collect::<Vec<_>>());
}
