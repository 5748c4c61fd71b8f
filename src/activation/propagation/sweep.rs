//! A level in which most of the network is active: one sweep over all rows instead of one look-up for each edge.
//!
//! The salience factor and the decay belong to the target, so the strongest arrival is that of what was sent strongest:
//! products with a number that is not negative, and their rounding, are monotone. The sweep keeps the strongest
//! `strength · share` per target, and multiplies once per target, with the same rounding as [`super::expand`].

use super::wave::Wave;
use super::{Parent, Profile, Query};
use crate::activation::graph::{Graph, NodeIx, prefetch};
use crate::model::{Link, Stamp};

/// Below this share of the network, 1/SHARE, a frontier is expanded instead.
const SHARE: usize = 4;
/// Units in the last place by which two strengths must differ so that they surely arrive different: each of the two products
/// rounds each of them by at most half a unit, or one below a power of two, so that more than eight would do.
const CLOSE: u64 = 16;
/// How many edges ahead the place of a winner is asked for.
const AHEAD: usize = 32;

/// The strongest sent to each node so far.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    winners: Vec<Winner>,
    /// Edges of a row that are sent after its `feeds_into`: target, weight, type.
    rest: Vec<(u32, u16, u8)>,
}

#[derive(Clone, Copy, Debug)]
struct Winner {
    strength: f64,
    /// The record of the parent, shifted by eight bits, and the type.
    parent: u64,
}

const NOBODY: Winner = Winner { strength: 0.0, parent: 0 };

/// Whether a frontier of that size is swept. A fan penalty differs from source to source, so that what is sent strongest need
/// not arrive strongest; and extreme settings could lose the last bits to underflow.
pub(super) fn pays(query: &Query<'_>, frontier: usize) -> bool {
    let settings = &query.profile.activation;
    let is_plain = query.profile.fan.iter().all(|exponent| *exponent == 0.0)
        && query.is_bounded()
        && settings.decay <= 1.0
        && settings.min >= 1e-100;
    is_plain && frontier > 0 && frontier * SHARE >= query.graph.len()
}

/// The types along which a source's edges go, as bits.
type Links = u8;

fn bit(link: Link) -> Links {
    1 << link as u8
}

/// A weight as a share of its greatest value.
fn share(weight: u16) -> f64 {
    f64::from(weight) / 65535.0
}

impl Sweep {
    /// Sends the excitation of a wave's frontier to the wave. Returns whether context or inhibition is left to expand.
    pub(super) fn run(&mut self, query: &Query<'_>, wave: &mut Wave) -> bool {
        let order = |record: &u32| query.graph.order(wave.records[*record as usize].node);
        let mut frontier = std::mem::take(&mut wave.frontier);
        frontier.sort_unstable_by_key(order);
        let active = frontier.iter().map(|record| {
            let source = &wave.records[*record as usize];
            (*record, source.node, source.value)
        });
        let met = self.send(query, active);
        wave.frontier = frontier;
        self.deliver(query, |node, strength, parent| wave.arrive(node, strength, parent));
        met & (bit(Link::Influences) | bit(Link::Inhibits)) != 0
    }

    /// Sends what (record, node, activation), ascending by id, excite along their edges. Returns the types of all their edges.
    pub(super) fn send(&mut self, query: &Query<'_>, active: impl Iterator<Item = (u32, NodeIx, f64)>) -> Links {
        self.winners.resize(query.graph.len(), NOBODY);
        let mut all = 0;
        for (record, node, value) in active {
            let is_plain = !query.graph.is_patched(node.0) && query.graph.patch_row(node).is_none();
            all |=
                if is_plain { self.feed(query, node, value, record) } else { self.gather(query, node, value, record) };
            self.send_rest(query, node, value, record);
        }
        all
    }

    /// Sends along `feeds_into` of a row that no patch has touched, without a branch that is often mispredicted, and keeps the
    /// rest. Returns the types of all edges.
    fn feed(&mut self, query: &Query<'_>, node: NodeIx, value: f64, record: u32) -> Links {
        let parent = Parent { record, link: Link::FeedsInto };
        let ahead = query.graph.edges_after(node, AHEAD);
        let mut met = 0;
        for (at, (target, weight, link)) in query.graph.base.row(node.0).edges().enumerate() {
            if let Some(next) = ahead.get(at) {
                prefetch(&self.winners, *next as usize);
            }
            met |= 1 << (link & 7);
            if link >= Link::Recalls as u8 && !query.graph.hides(false, target, link) {
                self.rest.push((target, weight, link));
            }
            let sent = value * share(weight);
            let mask = u64::from(link == Link::FeedsInto as u8).wrapping_neg();
            let strength = f64::from_bits(sent.to_bits() & mask);
            if let Some(winner) = self.winners.get_mut(target as usize) {
                winner.meet(query, NodeIx(target), Winner::new(strength, parent));
            }
        }
        met
    }

    /// Keeps the excitation of any row. Returns the types of all edges.
    fn gather(&mut self, query: &Query<'_>, node: NodeIx, value: f64, record: u32) -> Links {
        let (graph, mut met) = (&query.graph, 0);
        let is_patched = graph.is_patched(node.0);
        for (row, is_base) in graph.rows(node) {
            for (target, weight, link) in row.edges() {
                met |= 1 << (link & 7);
                if is_base && graph.hides(is_patched, target, link) {
                    continue;
                }
                self.rest.push((target, weight, link));
            }
        }
        self.send_kept(query, value, Parent { record, link: Link::FeedsInto });
        met
    }

    /// Sends along what was kept, in the order of types, so that of equal ones of a source the first type wins.
    fn send_rest(&mut self, query: &Query<'_>, node: NodeIx, value: f64, record: u32) {
        if self.rest.is_empty() {
            return;
        }
        self.send_kept(query, value, Parent { record, link: Link::Recalls });
        if self.rest.iter().any(|(.., link)| *link == Link::Triggers as u8)
            && let Some(change) = query.change(node, value).filter(|change| *change > 0.0)
        {
            self.send_kept(query, change, Parent { record, link: Link::Triggers });
        }
        self.rest.clear();
    }

    /// Sends along what was kept of one type.
    fn send_kept(&mut self, query: &Query<'_>, strength: f64, parent: Parent) {
        for (target, weight, _) in self.rest.iter().filter(|(.., link)| *link == parent.link as u8) {
            if let Some(winner) = self.winners.get_mut(*target as usize) {
                winner.meet(query, NodeIx(*target), Winner::new(strength * share(*weight), parent));
            }
        }
    }

    /// Tells what was sent strongest to each node, as it arrives, and forgets it.
    pub(super) fn deliver(&mut self, query: &Query<'_>, mut arrive: impl FnMut(NodeIx, f64, Parent)) {
        let settings = &query.profile.activation;
        for (node, winner) in self.winners.iter_mut().enumerate().filter(|(_, winner)| winner.strength > 0.0) {
            let node = NodeIx(node as u32);
            let winner = std::mem::replace(winner, NOBODY);
            let (Some(factor), Some(parent)) = (query.factor(node), winner.parent()) else { continue };
            let strength = winner.strength * factor * settings.decay;
            if strength >= settings.min {
                arrive(node, strength, parent);
            }
        }
    }
}

impl Winner {
    fn new(strength: f64, parent: Parent) -> Self {
        Self { strength, parent: u64::from(parent.record) << 8 | parent.link as u64 }
    }

    fn parent(self) -> Option<Parent> {
        let link = *Link::ALL.get((self.parent & 0xff) as usize)?;
        Some(Parent { record: (self.parent >> 8) as u32, link })
    }

    /// Gives way to a challenger that arrives stronger; of equal ones the first stays. No strength is negative.
    #[inline(always)]
    fn meet(&mut self, query: &Query<'_>, node: NodeIx, challenger: Winner) {
        // Numbers that are not negative are in the order of their bits. Chosen by a mask: a branch would be mispredicted for
        // every third edge.
        let (new, old) = (challenger.strength.to_bits(), self.strength.to_bits());
        if new.wrapping_sub(old).wrapping_sub(1) < CLOSE && !self.is_exceeded(query, node, challenger) {
            return;
        }
        let mask = u64::from(new > old).wrapping_neg();
        self.strength = f64::from_bits((new & mask) | (old & !mask));
        self.parent = (challenger.parent & mask) | (self.parent & !mask);
    }

    #[cold]
    fn is_exceeded(&self, query: &Query<'_>, node: NodeIx, challenger: Winner) -> bool {
        let arrives = |sent: f64, factor: f64| sent * factor * query.profile.activation.decay;
        query.factor(node).is_some_and(|factor| arrives(challenger.strength, factor) > arrives(self.strength, factor))
    }
}

/// One level of excitation by itself, for measurements: `active` neurons with their activation, ascending by id, over the rows
/// of a graph. The first step goes over all edges, the second over all nodes.
pub struct Level<'a> {
    query: Query<'a>,
    sweep: Sweep,
}

impl<'a> Level<'a> {
    /// A level in a graph at `now`.
    pub fn new(graph: &Graph<'a>, now: Stamp, profile: &'a Profile) -> Self {
        Self { query: Query { graph: *graph, now, profile }, sweep: Sweep::default() }
    }

    /// Sends along all edges.
    pub fn send(&mut self, active: &[(NodeIx, f64)]) {
        let active = active.iter().zip(0..).map(|((node, value), record)| (record, *node, *value));
        self.sweep.send(&self.query, active);
    }

    /// What arrives at each node, if it is not too little.
    pub fn arrivals(&mut self) -> Vec<(NodeIx, f64)> {
        let mut arrivals = Vec::new();
        self.sweep.deliver(&self.query, |node, strength, _| arrivals.push((node, strength)));
        arrivals
    }
}
