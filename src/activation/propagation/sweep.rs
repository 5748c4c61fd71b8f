//! A level in which most of the network is active: every target looks for what arrives strongest, in one sweep over the edges
//! that excite, ordered by target. Nothing is written but what arrives.
//!
//! The salience factor and the decay belong to the target, so the strongest arrival is among those that were sent strongest:
//! products with a number that is not negative, and their rounding, are monotone. [`super::strongest`] finds the edge; here its
//! arrival is computed, with the same rounding as in [`super::expand`], or those of the whole row where no edge stands out.

use super::strongest::{BLOCK, NONE, SEVERAL, Shadows, may_reach};
use super::wave::Wave;
use super::{Parent, Profile, Query};
use crate::activation::graph::{Graph, NodeIx, prefetch};
use crate::model::{Link, Stamp};

/// Below this share of the network, 1/SHARE, a frontier is expanded instead.
const SHARE: usize = 4;

/// What a sweep works with.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// By node. Only those of the level's sources count, which have a shadow.
    senders: Vec<Sender>,
    shadows: Shadows,
    /// The exciting edges of the patch that leave an active source, ascending by target.
    patched: Vec<Edge>,
}

/// What a source sends, and its record.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    value: f64,
    record: u32,
}

/// An edge that excites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    target: u32,
    source: u32,
    link: u8,
    weight: u16,
}

/// The strongest arrival at a target so far.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    strength: f64,
    source: u32,
    link: Link,
}

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

impl Sweep {
    /// Sends the excitation of a wave's frontier to the wave. Returns whether context or inhibition may be left to expand.
    pub(super) fn run(&mut self, query: &Query<'_>, wave: &mut Wave) -> bool {
        let active = wave.frontier.iter().map(|record| {
            let source = &wave.records[*record as usize];
            (*record, source.node, source.value)
        });
        self.activate(query, active);
        self.deliver(query, |node, strength, parent| wave.arrive(node, strength, parent));
        let base = &query.graph.base;
        base.in_sources.len() < base.targets.len() || query.graph.patch.is_some()
    }

    /// Makes (record, node, activation) the sources of this level.
    fn activate(&mut self, query: &Query<'_>, active: impl Iterator<Item = (u32, NodeIx, f64)> + Clone) {
        let graph = &query.graph;
        self.senders.resize(graph.len(), Sender::default());
        self.shadows.clear(graph.len());
        self.patched.clear();
        let mut greatest = 0.0;
        for (record, node, value) in active.clone() {
            if let Some(sender) = self.senders.get_mut(node.0 as usize) {
                *sender = Sender { value, record };
            }
            greatest = if value > greatest { value } else { greatest };
        }
        for (_, node, value) in active {
            self.shadows.set(node.0, value, greatest);
            if let Some(row) = graph.patch_row(node) {
                let edge = |(target, weight, link)| Edge { target, source: node.0, link, weight };
                self.patched.extend(row.edges().map(edge));
            }
        }
        self.patched.sort_unstable();
    }

    /// Tells what arrives strongest at each node, if it is not too little, ascending by the numbers of nodes.
    fn deliver(&mut self, query: &Query<'_>, mut arrive: impl FnMut(NodeIx, f64, Parent)) {
        let graph = &query.graph;
        let mut patched = std::mem::take(&mut self.patched).into_iter().peekable();
        let mut best = [NONE; BLOCK];
        for first in (0..graph.len()).step_by(BLOCK) {
            self.shadows.strongest(&graph.base, first, &mut best);
            for edge in best {
                if let Some(source) = graph.base.in_sources.get(edge as usize) {
                    prefetch(&self.senders, *source as usize);
                    prefetch(graph.base.in_links, edge as usize);
                }
            }
            for (target, best) in (first as u32..graph.len() as u32).zip(best) {
                while patched.next_if(|edge| edge.target < target).is_some() {}
                if best == NONE && patched.peek().is_none_or(|edge| edge.target > target) {
                    continue;
                }
                let Some(factor) = query.factor(NodeIx(target)) else { continue };
                let mut strongest = self.strongest_of_base(query, target, best, factor);
                while let Some(edge) = patched.next_if(|edge| edge.target == target) {
                    self.meet(query, &mut strongest, edge, factor);
                }
                if let Some(Arrival { strength, source, link }) = strongest {
                    let record = self.senders[source as usize].record;
                    arrive(NodeIx(target), strength, Parent { record, link });
                }
            }
        }
    }

    /// What arrives strongest at a target along the edges of the columns, of which `best` stands out.
    fn strongest_of_base(&self, query: &Query<'_>, target: u32, best: u32, factor: f64) -> Option<Arrival> {
        let base = &query.graph.base;
        let mut strongest = None;
        if best == NONE {
            return None;
        }
        if best != SEVERAL {
            let edge = base.in_edge(best).map(|(source, weight, link)| Edge { target, source, link, weight })?;
            // What goes along `triggers` is less than its source's activation, and a hidden edge is not there: no telling then.
            let counts = edge.link != Link::Triggers as u8
                && !query.graph.hides(query.graph.is_patched(edge.source), target, edge.link);
            if counts {
                self.meet(query, &mut strongest, edge, factor);
                return strongest;
            }
        }
        let is_hidden = |source, link| query.graph.hides(query.graph.is_patched(source), target, link);
        let edges = base.in_row(target).edges().filter(|(source, _, link)| !is_hidden(*source, *link));
        let sure = edges.clone().filter(|(.., link)| *link != Link::Triggers as u8);
        let top = sure.map(|(source, weight, _)| self.shadows.bound(source, weight)).max().unwrap_or(0);
        for (source, weight, link) in edges {
            if may_reach(self.shadows.bound(source, weight), top) {
                self.meet(query, &mut strongest, Edge { target, source, link, weight }, factor);
            }
        }
        strongest
    }

    /// Gives way to what arrives stronger along an edge; of equal ones to that of the smaller source, then of the smaller type.
    fn meet(&self, query: &Query<'_>, strongest: &mut Option<Arrival>, edge: Edge, factor: f64) {
        let settings = &query.profile.activation;
        let (Some(link), Some(sender)) =
            (Link::ALL.get(usize::from(edge.link)), self.senders.get(edge.source as usize))
        else {
            return;
        };
        let sent = match link {
            Link::FeedsInto | Link::Recalls => Some(sender.value),
            Link::Triggers => query.change(NodeIx(edge.source), sender.value),
            Link::Influences | Link::Inhibits => None,
        };
        let Some(sent) = sent else { return };
        let strength = sent * (f64::from(edge.weight) / 65535.0) * factor * settings.decay;
        let rank = |source: u32, link: Link| (query.graph.order(NodeIx(source)), link);
        let wins = strength >= settings.min
            && strongest.is_none_or(|known| {
                strength > known.strength
                    || (strength == known.strength && rank(edge.source, *link) < rank(known.source, known.link))
            });
        if wins {
            *strongest = Some(Arrival { strength, source: edge.source, link: *link });
        }
    }
}

/// One level of excitation by itself, for measurements.
pub struct Level<'a> {
    query: Query<'a>,
    sweep: Sweep,
    arrivals: Vec<(NodeIx, f64)>,
}

impl<'a> Level<'a> {
    /// A level in a graph at `now`; with vector instructions where the processor has them, or without.
    pub fn new(graph: &Graph<'a>, now: Stamp, profile: &'a Profile, is_portable: bool) -> Self {
        let mut sweep = Sweep::default();
        sweep.shadows.is_portable = is_portable;
        Self { query: Query { graph: *graph, now, profile }, sweep, arrivals: Vec::new() }
    }

    /// Makes these the sources. No node twice.
    pub fn activate(&mut self, active: &[(NodeIx, f64)]) {
        let active = active.iter().zip(0..).map(|((node, value), record)| (record, *node, *value));
        self.sweep.activate(&self.query, active);
    }

    /// Goes over all edges, and tells at how many targets one stands out.
    pub fn edges(&mut self) -> usize {
        let base = &self.query.graph.base;
        let mut best = [NONE; BLOCK];
        let blocks = (0..base.len()).step_by(BLOCK).map(|first| {
            self.sweep.shadows.strongest(base, first, &mut best);
            best.iter().filter(|edge| **edge < SEVERAL).count()
        });
        blocks.sum()
    }

    /// Goes over all edges and nodes: what arrives at each node, if it is not too little.
    pub fn arrivals(&mut self) -> &[(NodeIx, f64)] {
        self.arrivals.clear();
        self.sweep.deliver(&self.query, |node, strength, _| self.arrivals.push((node, strength)));
        &self.arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::graph::{Change, ColumnsBuf, Patch};
    use crate::activation::propagation::{Cue, propagate};
    use crate::model::settings::Activation;
    use crate::model::{Connection, Kind, Neuron, NeuronId};

    const NOW: i64 = 1_769_437_920;
    const SIZE: usize = 40;

    /// A small generator of its own, so that a failure is its seed.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % sides as u64) as usize
        }
    }

    fn name(number: usize) -> NeuronId {
        NeuronId::parse(&format!("n{number:03}")).unwrap()
    }

    /// Few weights and saliences, so that arrivals tie; a fifth of the edges lead to one neuron, whose row is long.
    fn neuron(number: usize, dice: &mut Dice) -> Neuron {
        let mut neuron = Neuron::new(name(number), "x", Kind::Semantic, Stamp::from_unix(NOW));
        neuron.salience = [65535, 65535, 65535, 9000][dice.roll(4)];
        for _ in 0..dice.roll(9) {
            let target = name(if dice.roll(5) == 0 { 7 } else { dice.roll(SIZE) });
            let weight = [65535, 65535, 65535, 65534, 30000, 1 + dice.roll(65535) as u16][dice.roll(6)];
            let link = [Link::FeedsInto, Link::FeedsInto, Link::Recalls, Link::Triggers, Link::ALL[dice.roll(5)]];
            let link = link[dice.roll(5)];
            if neuron.connection(&target, link).is_none() {
                neuron.connections.push(Connection { target, link, weight });
                neuron.connections.sort();
            }
        }
        neuron
    }

    /// Everything that a propagation says, numbers as their bits; nodes by their ids.
    fn said(graph: &Graph<'_>, cues: &[usize], profile: &Profile) -> Vec<String> {
        let cues: Vec<Cue> =
            cues.iter().filter_map(|cue| Some(Cue::new(graph.find(&name(*cue))?, [1.0, 0.7][cue % 2]))).collect();
        let found = propagate(graph, &cues, Stamp::from_unix(NOW), profile);
        let bits = |list: &[(NodeIx, f64)]| -> Vec<String> {
            list.iter().map(|(node, x)| format!("{} {:x}", graph.id(*node), x.to_bits())).collect()
        };
        let mut all = vec![bits(&found.activation), bits(&found.context), vec![format!("{:?}", found.cut)]];
        all.extend(found.passes.iter().map(|pass| bits(pass)));
        for (node, _) in &found.activation {
            let steps = found.path(*node).unwrap();
            all.push(steps.iter().map(|s| format!("{}-{}-{}", graph.id(s.from), s.link, graph.id(s.to))).collect());
        }
        all.concat()
    }

    #[test]
    fn a_sweep_finds_to_the_last_bit_what_an_expansion_finds() {
        let mut swept = 0;
        for seed in 0..300 {
            let mut dice = Dice(seed);
            let neurons: Vec<Neuron> = (0..SIZE).filter(|n| n % 11 != 10).map(|n| neuron(n, &mut dice)).collect();
            // The same neurons among so many others that their frontier is always a small one.
            let others = (SIZE..6 * SIZE).map(|n| Neuron::new(name(n), "x", Kind::Semantic, Stamp::from_unix(NOW)));
            let all: Vec<Neuron> = neurons.iter().cloned().chain(others).collect();
            let (small, large) = (ColumnsBuf::build(&neurons), ColumnsBuf::build(&all));
            let edited = [(); 12].map(|()| dice.roll(SIZE)).map(|number| neuron(number, &mut dice));
            let gone = name(dice.roll(SIZE));
            let changes = || edited.iter().map(Change::Is).chain([Change::Gone(&gone)]);
            let patches = [&small, &large].map(|columns| Patch::build(columns.view(), None, changes()));
            let settings = Activation {
                beam: [0, 0, 5][dice.roll(3)],
                min: 0.001,
                theta: [0.1, -1.0][dice.roll(2)],
                ..Activation::default()
            };
            let profile = Profile::seed(&settings);
            let cues: Vec<usize> = (0..3).map(|_| dice.roll(SIZE)).collect();
            for patched in [false, true] {
                let graph = |columns: &'_ ColumnsBuf, patch: &'_ Patch| {
                    said(&Graph { base: columns.view(), patch: patched.then(|| patch.view()) }, &cues, &profile)
                };
                let (found, expanded) = (graph(&small, &patches[0]), graph(&large, &patches[1]));
                assert_eq!(found, expanded, "seed {seed}, patched: {patched}");
                swept += usize::from(found.len() > SIZE);
            }
        }
        assert!(swept > 300, "most reach a good part of the network: {swept}");
    }
}
