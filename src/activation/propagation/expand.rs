//! Expanding a frontier: what each of its neurons sends along its edges, in ascending order of sources and then of waves.

use super::table::Sums;
use super::wave::Wave;
use super::{Parent, Query, power};
use crate::activation::graph::NodeIx;
use crate::model::Link;

/// Sources that are expanded together: what one step needs from memory was asked for a step earlier.
const BATCH: usize = 32;

/// The sources of one level, and what they send.
#[derive(Clone, Debug, Default)]
pub(super) struct Expansion {
    sources: Vec<Source>,
    sent: Vec<Sent>,
}

/// A record that spreads. Ascending by order, then wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    order: u64,
    wave: u32,
    node: NodeIx,
    record: u32,
}

/// Something on its way to a target.
#[derive(Clone, Copy, Debug)]
struct Sent {
    wave: u32,
    target: NodeIx,
    /// Strength times the weight's share of 65535.
    strength: f64,
    fan: f64,
    parent: Parent,
}

impl Expansion {
    pub fn clear(&mut self) {
        self.sources.clear();
    }

    /// Adds the frontier of a wave.
    pub fn add(&mut self, query: &Query<'_>, at: usize, wave: &Wave) {
        let source = |record: &u32| {
            let node = wave.records[*record as usize].node;
            Source { order: query.graph.order(node), wave: at as u32, node, record: *record }
        };
        self.sources.extend(wave.frontier.iter().map(source));
    }

    pub fn run(&mut self, query: &Query<'_>, waves: &mut [Wave], context: &mut Sums, inhibition: &mut Sums) {
        self.sources.sort_unstable();
        for batch in self.sources.chunks(BATCH) {
            self.sent.clear();
            batch.iter().for_each(|source| query.graph.expect_row(source.node));
            batch.iter().for_each(|source| query.graph.expect_edges(source.node));
            for source in batch {
                send(query, &waves[source.wave as usize], source, &mut self.sent);
            }
            for sent in &self.sent {
                deliver(query, sent, &mut waves[sent.wave as usize], context, inhibition);
            }
        }
    }
}

/// What a source sends along its edges.
fn send(query: &Query<'_>, wave: &Wave, source: &Source, out: &mut Vec<Sent>) {
    let settings = &query.profile.activation;
    let record = &wave.records[source.record as usize];
    let (node, value) = (source.node, record.value);
    let exponent = query.profile.fan[query.graph.kind(node) as usize];
    let fan = if exponent == 0.0 { 1.0 } else { 1.0 / power(query.graph.out_degree(node) as f64, exponent) };
    let change = std::cell::LazyCell::new(|| query.change(node, value));
    let is_bounded = query.is_bounded();
    for (row, is_base) in query.graph.rows(node) {
        let hidden = is_base && query.graph.is_patched(node.0);
        for (target, weight, link) in row.edges() {
            let share = f64::from(weight) / 65535.0;
            // What arrives is `strength · share · factor · decay · fan`, rounded after each product, with a strength of at most
            // `value` and a factor of at most 1. Rounding is monotone, and so is each product with something that is not
            // negative: what arrives is at most this, here and along all later edges of the row, whose weights are no greater.
            if is_bounded && value * share * settings.decay * fan < settings.min {
                break;
            }
            let Some(&link) = Link::ALL.get(usize::from(link)) else { continue };
            if is_base && query.graph.hides(hidden, target, link as u8) {
                continue;
            }
            let strength = match link {
                Link::FeedsInto | Link::Recalls | Link::Influences | Link::Inhibits => Some(value),
                Link::Triggers => *change,
            };
            let Some(strength) = strength else { continue };
            let parent = Parent { record: source.record, link };
            query.graph.expect_attributes(target);
            out.push(Sent { wave: source.wave, target: NodeIx(target), strength: strength * share, fan, parent });
        }
    }
}

/// Adds what was sent to its target, or drops it if too little arrives.
fn deliver(query: &Query<'_>, sent: &Sent, wave: &mut Wave, context: &mut Sums, inhibition: &mut Sums) {
    let settings = &query.profile.activation;
    let Some(factor) = query.factor(sent.target) else { return };
    let strength = sent.strength * factor * settings.decay * sent.fan;
    if strength < settings.min {
        return;
    }
    match sent.parent.link {
        Link::Influences => context.add(sent.target.0, strength),
        Link::Inhibits => inhibition.add(sent.target.0, strength),
        Link::FeedsInto | Link::Recalls | Link::Triggers => wave.arrive(sent.target, strength, sent.parent),
    }
}
