//! A level in which most of the network is active: one sweep over all rows instead of one look-up for each edge.
//!
//! The salience factor and the decay belong to the target, so the strongest arrival is that of what was sent strongest:
//! products with a number that is not negative, and their rounding, are monotone. The sweep keeps the strongest
//! `strength · share` per target, and multiplies once per target, with the same rounding as [`super::expand`].

use super::wave::Wave;
use super::{Parent, Query};
use crate::activation::graph::NodeIx;
use crate::model::Link;

/// Below this share of the network, 1/SHARE, a frontier is expanded instead.
const SHARE: usize = 4;
/// What was sent differs surely after two more products if it differs by more than this: each rounds by at most 2⁻⁵³.
const SURE: f64 = 1.0 + 1e-14;

/// The strongest sent to each node so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    winners: Vec<Winner>,
}

#[derive(Clone, Copy, Debug)]
struct Winner {
    strength: f64,
    parent: Parent,
}

const NOBODY: Winner = Winner { strength: 0.0, parent: Parent { record: u32::MAX, link: Link::FeedsInto } };

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
    /// Sends the excitation of a wave's frontier to the wave. Returns whether context or inhibition is left to expand.
    pub fn run(&mut self, query: &Query<'_>, wave: &mut Wave) -> bool {
        let graph = &query.graph;
        self.winners.resize(graph.len(), NOBODY);
        let mut frontier = std::mem::take(&mut wave.frontier);
        frontier.sort_unstable_by_key(|record| graph.order(wave.records[*record as usize].node));
        let mut is_left = false;
        for &record in &frontier {
            let source = &wave.records[record as usize];
            let (node, value) = (source.node, source.value);
            let is_patched = graph.is_patched(node.0);
            for link in [Link::FeedsInto, Link::Recalls, Link::Triggers] {
                let strength = if link == Link::Triggers { query.change(node, value) } else { Some(value) };
                let Some(strength) = strength else { continue };
                let parent = Parent { record, link };
                for (row, is_base) in graph.rows(node) {
                    for (target, weight, edge) in row.edges() {
                        is_left |= edge == Link::Influences as u8 || edge == Link::Inhibits as u8;
                        if edge != link as u8 || (is_base && graph.hides(is_patched, target, edge)) {
                            continue;
                        }
                        let strength = strength * (f64::from(weight) / 65535.0);
                        if let Some(winner) = self.winners.get_mut(target as usize) {
                            winner.meet(query, NodeIx(target), Winner { strength, parent });
                        }
                    }
                }
            }
        }
        wave.frontier = frontier;
        self.deliver(query, wave);
        is_left
    }

    /// Lets what was sent strongest to each node arrive, and forgets it.
    fn deliver(&mut self, query: &Query<'_>, wave: &mut Wave) {
        let settings = &query.profile.activation;
        for (node, winner) in self.winners.iter_mut().enumerate().filter(|(_, winner)| winner.strength > 0.0) {
            let node = NodeIx(node as u32);
            let Winner { strength, parent } = std::mem::replace(winner, NOBODY);
            let Some((place, factor)) = wave.touch(node, || query.factor(node)) else { continue };
            let strength = strength * factor * settings.decay;
            if strength >= settings.min {
                wave.arrive(place, strength, parent);
            }
        }
    }
}

impl Winner {
    /// Gives way to a challenger that arrives stronger; of equal ones the first stays.
    fn meet(&mut self, query: &Query<'_>, node: NodeIx, challenger: Winner) {
        if challenger.strength <= self.strength {
            return;
        }
        if challenger.strength < self.strength * SURE {
            let arrives = |sent: f64, factor: f64| sent * factor * query.profile.activation.decay;
            let Some(factor) = query.factor(node) else { return };
            if arrives(challenger.strength, factor) <= arrives(self.strength, factor) {
                return;
            }
        }
        *self = challenger;
    }
}
