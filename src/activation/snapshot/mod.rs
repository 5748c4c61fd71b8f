//! A snapshot: the network of one tree as arrays, for propagation and for recall, and how it follows the tree.
//!
//! A base holds everything. An overlay holds what differs from its base, so that following a run costs what the run changed;
//! when it has grown, [`Snapshot::compacted`] makes a base of both without reading any text again. Both answer to the
//! last bit what a snapshot built at once answers. Place in the flow: neurons → **snapshot** → graph, index. Must not
//! know files: bytes come in and go out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::graph::{Change, Columns, ColumnsBuf, ColumnsBuilder, Graph, NodeIx, Patch, PatchView};
use super::index::{self, Index};
use super::reading::Batch;
use super::sections::{Damaged, Key, Sections, Writer};
use crate::limits;
use crate::model::Neuron;
use crate::model::ids::NeuronId;

mod tag {
    pub const ID_OFFSETS: u32 = 1;
    pub const ID_BYTES: u32 = 2;
    pub const KINDS: u32 = 3;
    pub const SALIENCES: u32 = 4;
    pub const STAMPS: u32 = 5;
    pub const ROWS: u32 = 6;
    pub const TARGETS: u32 = 7;
    pub const WEIGHTS: u32 = 8;
    pub const LINKS: u32 = 9;
    pub const PATCH_NODES: u32 = 10;
    pub const PATCH_ROW_NODES: u32 = 11;
    pub const PATCH_ORDERS: u32 = 12;
    pub const PATCH_BY_ID: u32 = 13;
}

/// The network of one tree.
#[derive(Clone, Debug)]
pub struct Snapshot {
    base: Sections,
    over: Option<Sections>,
}

/// Collects neurons for a snapshot. Threads that read neurons each fill one.
#[derive(Default)]
pub struct Collector {
    columns: ColumnsBuilder,
    batch: Batch,
}

impl Collector {
    /// Adds a neuron. No two of one id, in all collectors together.
    pub fn add(&mut self, neuron: &Neuron) {
        self.columns.add(neuron);
        self.batch.read(&neuron.id, Some(neuron));
    }
}

impl Snapshot {
    /// The snapshot of all collected neurons; their order does not matter. `key` says of what tree.
    pub fn build(collectors: impl IntoIterator<Item = Collector>, key: Key) -> Self {
        let (mut columns, mut batches) = (ColumnsBuilder::default(), Vec::new());
        for collector in collectors {
            columns.append(collector.columns);
            batches.push(collector.batch);
        }
        let columns = columns.finish();
        let graph = columns.graph();
        let numbered = batches.into_iter().map(|batch| {
            let nodes = batch.ids.iter().filter_map(|id| graph.number(id)).map(|node| node.0).collect();
            (batch, nodes)
        });
        let numbered: Vec<(Batch, Vec<u32>)> = numbered.collect();
        let mut writer = Writer::default();
        put_columns(graph.base, &mut writer);
        index::write_base(&graph, &numbered, &mut writer);
        Self::over_nothing(writer, key)
    }

    /// The snapshot of these neurons; of two with one id the first counts.
    pub fn of(neurons: impl IntoIterator<Item = Neuron>) -> Self {
        let mut collector = Collector::default();
        let mut distinct: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
        for neuron in neurons {
            distinct.entry(neuron.id.clone()).or_insert(neuron);
        }
        distinct.values().for_each(|neuron| collector.add(neuron));
        Self::build([collector], Key::default())
    }

    fn over_nothing(writer: Writer, key: Key) -> Self {
        let base = Sections::open(writer.finish(key, None)).expect("invariant: what was just written is whole");
        Self { base, over: None }
    }

    /// The snapshot of these bytes: a base, and perhaps what lies over it. Their arrays' checksums are not verified here.
    ///
    /// # Errors
    /// The overlay is another base's, or an array is missing.
    pub fn open(base: Sections, over: Option<Sections>) -> Result<Self, Damaged> {
        let belongs = over.as_ref().is_none_or(|over| over.beneath() == Some(base.key()));
        if base.beneath().is_some() || !belongs {
            return Err(Damaged::Key);
        }
        let this = Self { base, over };
        columns(&this.base)?.fit().then_some(()).ok_or(Damaged::Section(tag::KINDS))?;
        if let Some(over) = &this.over {
            patch(over)?.fit().then_some(()).ok_or(Damaged::Section(tag::PATCH_NODES))?;
        }
        Index::of(Graph::default(), &this.base, this.over.as_ref())?;
        Ok(this)
    }

    /// Of what tree it is.
    pub fn key(&self) -> Key {
        self.over.as_ref().unwrap_or(&self.base).key()
    }

    /// The base, to be stored.
    pub fn base(&self) -> &Sections {
        &self.base
    }

    /// What lies over the base, to be stored beside it.
    pub fn over(&self) -> Option<&Sections> {
        self.over.as_ref()
    }

    /// The network.
    pub fn graph(&self) -> Graph<'_> {
        let base = columns(&self.base).unwrap_or_default();
        Graph { base, patch: self.over.as_ref().map(|over| patch(over).unwrap_or_default()) }
    }

    /// What recall looks things up in.
    pub fn index(&self) -> Index<'_> {
        Index::of(self.graph(), &self.base, self.over.as_ref()).expect("invariant: opened or made whole")
    }

    /// The snapshot of the tree `key`, which differs from this one's in these neurons (`None`: gone).
    ///
    /// Costs what differs from the base, not the size of the network.
    #[must_use]
    pub fn advanced(&self, changes: &[(NeuronId, Option<Neuron>)], key: Key) -> Self {
        let before = self.graph();
        let told = changes.iter().map(|(id, neuron)| neuron.as_ref().map_or(Change::Gone(id), Change::Is));
        let patch = Patch::build(before.base, before.patch, told);
        let graph = Graph { base: before.base, patch: Some(patch.view()) };
        let mut batch = Batch::default();
        for (id, neuron) in changes {
            batch.read(id, neuron.as_ref());
        }
        let nodes: Vec<u32> = batch.ids.iter().map(|id| graph.number(id).map_or(u32::MAX, |node| node.0)).collect();
        let mut writer = Writer::default();
        put_patch(patch.view(), &mut writer);
        index::write_over(&self.index(), &graph, &batch, &nodes, &mut writer);
        let over = Sections::open(writer.finish(key, Some(self.base.key())));
        let over = over.expect("invariant: what was just written is whole");
        let base = Graph { base: before.base, patch: None };
        let retyped = nodes
            .iter()
            .map(|node| NodeIx(*node))
            .any(|node| base.is_present(node) && graph.is_present(node) && base.kind(node) != graph.kind(node));
        let this = Self { base: self.base.clone(), over: Some(over) };
        // Links from concepts to memories are kept by what both are.
        if retyped { this.compacted() } else { this }
    }

    /// Whether so much lies over the base that a new base pays.
    pub fn is_heavy(&self) -> bool {
        let over = self.over.as_ref().map_or(0, |over| over.bytes().len());
        over > limits::OVERLAY_BYTES + self.base.bytes().len() / limits::OVERLAY_SHARE
    }

    /// The same network in one base.
    #[must_use]
    pub fn compacted(&self) -> Self {
        let Some(over) = &self.over else { return self.clone() };
        let graph = self.graph();
        let (buf, places) = ColumnsBuf::compact(graph);
        let columns = buf.graph();
        let mut writer = Writer::default();
        put_columns(columns.base, &mut writer);
        index::write_compacted(&self.index(), &columns, &places, &mut writer);
        Self::over_nothing(writer, over.key())
    }
}

/// A view's arrays and their tags, once for reading and for writing.
macro_rules! arrays {
    ($view:ident, $read:ident, $put:ident: $($field:ident = $tag:ident),+ $(,)?) => {
        fn $read(sections: &Sections) -> Result<$view<'_>, Damaged> {
            Ok($view { $($field: sections.array(tag::$tag)?),+ })
        }

        fn $put(view: $view<'_>, writer: &mut Writer) {
            $(writer.put(tag::$tag, view.$field);)+
        }
    };
}

arrays!(Columns, columns, put_columns:
    id_offsets = ID_OFFSETS,
    id_bytes = ID_BYTES,
    kinds = KINDS,
    saliences = SALIENCES,
    stamps = STAMPS,
    rows = ROWS,
    targets = TARGETS,
    weights = WEIGHTS,
    links = LINKS,
);

arrays!(PatchView, patch, put_patch:
    nodes = PATCH_NODES,
    kinds = KINDS,
    saliences = SALIENCES,
    stamps = STAMPS,
    row_nodes = PATCH_ROW_NODES,
    rows = ROWS,
    targets = TARGETS,
    weights = WEIGHTS,
    links = LINKS,
    id_offsets = ID_OFFSETS,
    id_bytes = ID_BYTES,
    orders = PATCH_ORDERS,
    by_id = PATCH_BY_ID,
);
