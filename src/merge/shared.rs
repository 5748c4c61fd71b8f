//! A neuron of the base to which the runs that both sides have were applied.
//!
//! The same runs merged in another order can differ: by the rounding of salience, and by clamps of a weight. Such a
//! difference is no change that a side brings, and merging it would count it twice.

use std::collections::BTreeMap;

use crate::delta::Effect;
use crate::model::ids::NeuronId;
use crate::model::{Link, Neuron};

/// The neuron, and between which bounds each weight could move in any order of the runs.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub neuron: Neuron,
    spans: BTreeMap<(NeuronId, Link), (i64, i64)>,
}

impl Shared {
    /// `before` is the base's neuron, if it has one.
    pub fn new(before: Option<Neuron>, effect: &Effect, after: Neuron) -> Self {
        let mut shared = Self { neuron: before.unwrap_or_else(|| blank(&after)), spans: BTreeMap::new() };
        shared.add(effect, after);
        shared
    }

    /// Goes on to `after` by one more run's effect.
    pub fn add(&mut self, effect: &Effect, after: Neuron) {
        let weight = |w: Option<u16>| i64::from(w.unwrap_or(0));
        let changes = effect.connections.iter().map(|c| (&c.target, c.link, weight(c.weight.1) - weight(c.weight.0)));
        let made = effect.created.iter().flat_map(|n| &n.connections).map(|c| (&c.target, c.link, i64::from(c.weight)));
        for (target, link, moved) in changes.chain(made) {
            let start = i64::from(self.neuron.weight(target, link));
            let (low, high) = self.spans.entry((target.clone(), link)).or_insert((start, start));
            *low += moved.min(0);
            *high += moved.max(0);
        }
        self.neuron = after;
    }

    /// True if `side` has the same runs, and nothing but what their order explains.
    pub fn is_the_same_runs(&self, side: &Neuron) -> bool {
        if side.version != self.neuron.version || side.last_salience_update != self.neuron.last_salience_update {
            return false;
        }
        let mut like = Neuron { salience: self.neuron.salience, ..side.clone() };
        for ((target, link), (low, high)) in &self.spans {
            let clamped_in_some_order = *low < 0 || *high > i64::from(u16::MAX);
            if clamped_in_some_order && like.connection(target, *link).is_some() {
                like.set_weight(target, *link, self.neuron.weight(target, *link));
            }
        }
        like == self.neuron
    }
}

/// Before its creation a neuron has no weights.
fn blank(after: &Neuron) -> Neuron {
    Neuron { connections: Vec::new(), ..after.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::RunId;
    use crate::model::{Kind, Stamp};

    fn neuron(weight: u16) -> Neuron {
        let mut neuron = Neuron::new("a".parse().unwrap(), "a", Kind::Semantic, Stamp::from_unix(0));
        neuron.set_weight(&"b".parse().unwrap(), Link::FeedsInto, weight);
        neuron
    }

    fn step(shared: &mut Shared, to: u16) {
        let after = Neuron { connections: neuron(to).connections, ..shared.neuron.clone() };
        let effect = Effect::between(Some(&shared.neuron.clone()), &after);
        shared.add(&effect, after);
    }

    #[test]
    fn only_what_the_order_explains_counts_as_the_same() {
        let mut shared = Shared::new(Some(neuron(50)), &Effect::default(), neuron(50));
        step(&mut shared, 60);
        assert!(shared.is_the_same_runs(&neuron(60)));
        assert!(!shared.is_the_same_runs(&neuron(61)), "no order of +10 gives 61: a person did");
        step(&mut shared, 0);
        assert!(shared.is_the_same_runs(&neuron(10)), "−60 first is held at 0, then +10");
        assert!(shared.is_the_same_runs(&Neuron { salience: 1, ..neuron(0) }), "rounding");
        assert!(!shared.is_the_same_runs(&Neuron { pinned: true, ..neuron(0) }));
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let other = Neuron { version: neuron(0).version.toggled(&run), ..neuron(0) };
        assert!(!shared.is_the_same_runs(&other), "another run");
    }

    #[test]
    fn a_weight_that_one_run_made_has_no_other_order() {
        let made = neuron(40_000);
        let shared = Shared::new(None, &Effect::between(None, &made), made.clone());
        assert!(shared.is_the_same_runs(&made));
        assert!(!shared.is_the_same_runs(&neuron(1)), "from nothing to 40000 leaves the range in no order");
    }
}
