//! The network as flat columns, and how they are built from neurons.
//!
//! Nothing here is a pointer or a map, so [`Columns`] can lie in a file that is mapped into memory. Every id that a neuron
//! has or mentions gets a number, its rank among the ids: also archived neurons, and targets that do not exist, so that a
//! [`super::Patch`] can bring them without renumbering. Such nodes are not [`present`](State::PRESENT): they are not
//! activated, and nothing is followed to them.

use std::collections::HashMap;

use super::NodeIx;
use crate::model::{Kind, Link, Neuron, Stamp};
use crate::text::talk::{ASKED, is_rule};

/// What a node is, in one byte: its [`Kind`] in the low bits, and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(pub u8);

impl State {
    /// The neuron exists and is not archived.
    pub const PRESENT: u8 = 0x80;
    /// The neuron exists and is archived.
    pub const ARCHIVED: u8 = 0x40;
    /// It comes from outside: the settings say how far that is trusted.
    pub const FOREIGN: u8 = 0x20;
    /// A person said it in a conversation, or her program was told to remember it.
    pub const SAID: u8 = 0x10;
    /// It has a rule for all that comes.
    pub const RULE: u8 = 0x08;
    /// Nothing but a number.
    pub const ABSENT: State = State(0);

    pub fn of(neuron: &Neuron) -> Self {
        let there = if neuron.is_archived() { Self::ARCHIVED } else { Self::PRESENT };
        let foreign = if neuron.origin.is_foreign() { Self::FOREIGN } else { 0 };
        let source = neuron.source.as_deref();
        let said = source.is_some_and(|source| source.starts_with(ASKED)) || neuron.origin.is_remembered(source);
        Self(
            neuron.kind as u8
                | there
                | foreign
                | if said { Self::SAID } else { 0 }
                | if has_rule(neuron) { Self::RULE } else { 0 },
        )
    }

    pub fn is_present(self) -> bool {
        self.0 & Self::PRESENT != 0
    }

    pub fn is_archived(self) -> bool {
        self.0 & Self::ARCHIVED != 0
    }

    pub fn is_foreign(self) -> bool {
        self.0 & Self::FOREIGN != 0
    }

    pub fn is_said(self) -> bool {
        self.0 & Self::SAID != 0
    }

    pub fn is_rule(self) -> bool {
        self.0 & Self::RULE != 0
    }

    /// The type; of odd data the first one.
    pub fn kind(self) -> Kind {
        Kind::ALL.get(usize::from(self.0 & 0x07)).copied().unwrap_or(Kind::ALL[0])
    }
}

/// Whether a memory has a rule for all that comes. What a coding agent answers in a session is none: a rule is a person's.
pub(crate) fn has_rule(neuron: &Neuron) -> bool {
    let said = neuron.source.as_deref().is_some_and(|source| source.starts_with(ASKED));
    matches!(neuron.kind, Kind::Episodic | Kind::Semantic)
        && (said || !neuron.origin.came_by(HOOK))
        && is_rule(&neuron.concept)
}

/// The class of origins of what is said in sessions of coding agents.
const HOOK: &str = "hook";

/// What a node has beside its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub state: State,
    /// As stored at `stamp`, 0..=65535.
    pub salience: u16,
    /// Seconds since 1970.
    pub stamp: i64,
}

impl Attributes {
    pub const ABSENT: Attributes = Attributes { state: State::ABSENT, salience: 0, stamp: 0 };

    pub fn of(neuron: &Neuron) -> Self {
        let stamp = neuron.last_salience_update.unix();
        Self { state: State::of(neuron), salience: neuron.salience, stamp }
    }

    /// When the salience was stored.
    pub fn stamp(self) -> Stamp {
        Stamp::from_unix(self.stamp)
    }
}

/// An edge in the row of the node from which it is followed. The order of a row: strongest first, then target and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub row: u32,
    weight: std::cmp::Reverse<u16>,
    pub target: u32,
    pub link: u8,
}

impl Edge {
    pub fn new(row: u32, target: u32, weight: u16, link: u8) -> Self {
        Self { row, weight: std::cmp::Reverse(weight), target, link }
    }

    pub fn weight(&self) -> u16 {
        self.weight.0
    }

    /// The number of the neuron whose file stores the edge.
    pub fn owner(&self) -> u32 {
        if self.link == Link::Recalls as u8 { self.target } else { self.row }
    }

    /// The edges that a neuron's file stores and that can be followed; none of an archived one.
    pub fn owned_by<'n>(
        neuron: &'n Neuron,
        own: u32,
        mut number: impl FnMut(&'n str) -> u32,
    ) -> impl Iterator<Item = Edge> {
        let follow = !neuron.is_archived();
        neuron.connections.iter().filter_map(move |connection| {
            let other = number(connection.target.as_str());
            let recalls = connection.link == Link::Recalls;
            let (row, target) = if recalls { (other, own) } else { (own, other) };
            let edge = Edge::new(row, target, connection.weight, connection.link as u8);
            (follow && connection.weight > 0).then_some(edge)
        })
    }
}

/// A row of edges, strongest first: three slices of one length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row<'a> {
    pub targets: &'a [u32],
    pub weights: &'a [u16],
    pub links: &'a [u8],
}

impl<'a> Row<'a> {
    /// The edges as (target, weight, link).
    pub fn edges(self) -> impl Iterator<Item = (u32, u16, u8)> + Clone + 'a {
        let edges = self.targets.iter().zip(self.weights).zip(self.links);
        edges.map(|((target, weight), link)| (*target, *weight, *link))
    }

    /// Part `range` of three columns; empty if it is no part of them.
    pub fn of(targets: &'a [u32], weights: &'a [u16], links: &'a [u8], range: std::ops::Range<usize>) -> Self {
        match (targets.get(range.clone()), weights.get(range.clone()), links.get(range)) {
            (Some(targets), Some(weights), Some(links)) => Self { targets, weights, links },
            _ => Self::default(),
        }
    }
}

/// The network as borrowed columns. Node `i` is the `i`-th id in ascending order.
///
/// Odd data (of a damaged file) gives odd answers, never a panic: every access is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'a> {
    /// Id `i` is bytes `id_offsets[i]..id_offsets[i + 1]` of `id_bytes`; n + 1 numbers.
    pub id_offsets: &'a [u32],
    /// The ids one after the other, ascending.
    pub id_bytes: &'a [u8],
    /// Type of each node (its place in [`Kind::ALL`]), plus 0x80 if it is present, 0x40 if it is archived.
    pub kinds: &'a [u8],
    /// Stored salience, 0..=65535.
    pub saliences: &'a [u16],
    /// When that was stored, seconds since 1970.
    pub stamps: &'a [i64],
    /// Row `i` is `rows[i]..rows[i + 1]` of the three columns below; n + 1 numbers.
    pub rows: &'a [u32],
    /// Where each edge leads.
    pub targets: &'a [u32],
    /// Its weight, 1..=65535, descending within a row.
    pub weights: &'a [u16],
    /// Its type, as its place in [`Link::ALL`].
    pub links: &'a [u8],
}

impl<'a> Columns<'a> {
    /// How many nodes are numbered.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether the lengths fit each other; constant time. For columns that come from elsewhere.
    pub fn fit(&self) -> bool {
        let (nodes, edges) = (self.kinds.len(), self.targets.len());
        let last = |offsets: &[u32]| offsets.last().map_or(0, |last| *last as usize);
        let offsets = |offsets: &[u32]| offsets.len() == nodes + 1 || (nodes == 0 && offsets.is_empty());
        self.saliences.len() == nodes
            && self.stamps.len() == nodes
            && offsets(self.id_offsets)
            && offsets(self.rows)
            && self.weights.len() == edges
            && self.links.len() == edges
            && last(self.rows) == edges
            && last(self.id_offsets) == self.id_bytes.len()
    }

    /// The id of a node; empty if there is no such node.
    pub fn id(&self, node: NodeIx) -> &'a str {
        text(self.id_offsets, self.id_bytes, node.0 as usize)
    }

    /// The number of an id, or how many ids are smaller.
    ///
    /// # Errors
    /// The id is not numbered.
    pub fn number(&self, id: &str) -> Result<NodeIx, u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(NodeIx(middle)).cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(NodeIx(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    pub(crate) fn attributes(&self, node: u32) -> Attributes {
        let at = node as usize;
        match (self.kinds.get(at), self.saliences.get(at), self.stamps.get(at)) {
            (Some(kind), Some(salience), Some(stamp)) => {
                Attributes { state: State(*kind), salience: *salience, stamp: *stamp }
            }
            _ => Attributes::ABSENT,
        }
    }

    pub(crate) fn row(&self, node: u32) -> Row<'a> {
        Row::of(self.targets, self.weights, self.links, range(self.rows, node))
    }
}

/// Where the row of a node lies; empty if it has none.
fn range(rows: &[u32], node: u32) -> std::ops::Range<usize> {
    let row = rows.get(node as usize..).and_then(|rest| rest.first_chunk());
    row.map_or(0..0, |[from, to]| *from as usize..*to as usize)
}

/// Text `at` of a column of texts; empty if there is none.
pub(super) fn text<'a>(offsets: &[u32], bytes: &'a [u8], at: usize) -> &'a str {
    let Some([from, to]) = offsets.get(at..).and_then(|rest| rest.first_chunk()) else { return "" };
    let bytes = bytes.get(*from as usize..*to as usize).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Columns that own their data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnsBuf {
    pub(super) id_offsets: Vec<u32>,
    pub(super) id_bytes: Vec<u8>,
    pub(super) kinds: Vec<u8>,
    pub(super) saliences: Vec<u16>,
    pub(super) stamps: Vec<i64>,
    pub(super) rows: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) weights: Vec<u16>,
    pub(super) links: Vec<u8>,
}

impl ColumnsBuf {
    /// The columns of these neurons; their order does not matter. Of two with one id the first counts.
    pub fn build<N: std::borrow::Borrow<Neuron>>(neurons: impl IntoIterator<Item = N>) -> Self {
        let mut builder = ColumnsBuilder::default();
        for neuron in neurons {
            builder.add(neuron.borrow());
        }
        builder.finish()
    }

    /// The same, borrowed.
    pub fn view(&self) -> Columns<'_> {
        Columns {
            id_offsets: &self.id_offsets,
            id_bytes: &self.id_bytes,
            kinds: &self.kinds,
            saliences: &self.saliences,
            stamps: &self.stamps,
            rows: &self.rows,
            targets: &self.targets,
            weights: &self.weights,
            links: &self.links,
        }
    }

    /// The graph of these columns alone.
    pub fn graph(&self) -> super::Graph<'_> {
        super::Graph { base: self.view(), patch: None }
    }
}

/// Collects neurons one by one, so that they need not be in memory together. Threads that read neurons each fill a
/// builder of their own; [`append`](Self::append) puts them together.
///
/// Room for fewer than 2³² ids, edges, and bytes of ids.
#[derive(Default)]
pub struct ColumnsBuilder {
    /// Id → number, in the order of mention.
    numbers: HashMap<Box<str>, u32>,
    /// By number.
    attributes: Vec<Attributes>,
    edges: Vec<Edge>,
}

impl ColumnsBuilder {
    /// Adds a neuron, unless there is one of its id.
    pub fn add(&mut self, neuron: &Neuron) {
        let own = number(&mut self.numbers, &mut self.attributes, neuron.id.as_str());
        if self.attributes[own as usize] != Attributes::ABSENT {
            return;
        }
        self.attributes[own as usize] = Attributes::of(neuron);
        let (numbers, attributes) = (&mut self.numbers, &mut self.attributes);
        self.edges.extend(Edge::owned_by(neuron, own, |id| number(numbers, attributes, id)));
    }

    /// Adds all that another builder has; of a neuron that both have, this one's counts.
    pub fn append(&mut self, other: Self) {
        let mut moved = vec![0; other.attributes.len()];
        let mut taken = vec![false; other.attributes.len()];
        for (id, there) in &other.numbers {
            let there = *there as usize;
            let here = number(&mut self.numbers, &mut self.attributes, id);
            moved[there] = here;
            if self.attributes[here as usize] == Attributes::ABSENT {
                self.attributes[here as usize] = other.attributes[there];
                taken[there] = true;
            }
        }
        let edges = other.edges.iter().filter(|edge| taken[edge.owner() as usize]);
        let place = |number: u32| moved[number as usize];
        self.edges.extend(edges.map(|e| Edge { row: place(e.row), target: place(e.target), ..*e }));
    }

    /// Numbers the ids by rank and lays out the columns.
    pub fn finish(self) -> ColumnsBuf {
        let mut ids: Vec<(Box<str>, u32)> = self.numbers.into_iter().collect();
        ids.sort_unstable();
        let mut columns = ColumnsBuf { id_offsets: vec![0], ..ColumnsBuf::default() };
        let mut rank = vec![0; ids.len()];
        for (at, (id, number)) in ids.into_iter().enumerate() {
            rank[number as usize] = at as u32;
            let node = self.attributes[number as usize];
            columns.id_bytes.extend_from_slice(id.as_bytes());
            columns.id_offsets.push(columns.id_bytes.len() as u32);
            columns.kinds.push(node.state.0);
            columns.saliences.push(node.salience);
            columns.stamps.push(node.stamp);
        }
        let mut edges = self.edges;
        for edge in &mut edges {
            (edge.row, edge.target) = (rank[edge.row as usize], rank[edge.target as usize]);
        }
        columns.lay_rows(&edges);
        columns
    }
}

/// The number of an id in a builder, the next one if it is new.
fn number(numbers: &mut HashMap<Box<str>, u32>, attributes: &mut Vec<Attributes>, id: &str) -> u32 {
    if let Some(number) = numbers.get(id) {
        return *number;
    }
    let next = attributes.len() as u32;
    numbers.insert(id.into(), next);
    attributes.push(Attributes::ABSENT);
    next
}

impl ColumnsBuf {
    /// Puts edges into their rows by counting, then each row in order.
    fn lay_rows(&mut self, edges: &[Edge]) {
        let nodes = self.kinds.len();
        self.rows = vec![0; nodes + 1];
        for edge in edges {
            self.rows[edge.row as usize + 1] += 1;
        }
        for at in 0..nodes {
            self.rows[at + 1] += self.rows[at];
        }
        let mut next = self.rows.clone();
        let mut placed = vec![Edge::new(0, 0, 0, 0); edges.len()];
        for edge in edges {
            let place = &mut next[edge.row as usize];
            placed[*place as usize] = *edge;
            *place += 1;
        }
        for row in self.rows.windows(2) {
            placed[row[0] as usize..row[1] as usize].sort_unstable();
        }
        self.targets = placed.iter().map(|edge| edge.target).collect();
        self.weights = placed.iter().map(Edge::weight).collect();
        self.links = placed.iter().map(|edge| edge.link).collect();
    }
}
