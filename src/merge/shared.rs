//! A neuron of the base to which the runs that both sides have were applied.
//!
//! The same runs merged in another order can differ: by the rounding of salience, and where a sum is held to its range. Such a
//! difference is no change that a side brings, and merging it would count it twice. It is told for each number by itself: what no
//! order of the runs can give was changed by somebody.

use std::collections::BTreeMap;

use crate::delta::Effect;
use crate::model::ids::NeuronId;
use crate::model::salience::salience_at;
use crate::model::{Link, Neuron, Stamp};

/// The neuron, and where its numbers could be in any order of the runs.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub neuron: Neuron,
    weights: BTreeMap<(NeuronId, Link), Reach>,
    salience: Reach,
    /// The moment that the salience's reach is of.
    at: Stamp,
    runs: u32,
}

/// The numbers that some changes of a number can give, in any order, where each step is held to `0..=65535`.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    start: f64,
    up: f64,
    down: f64,
    /// The most that a step can have lost above the range, as far as it has not faded.
    lost: f64,
}

const MOST: f64 = u16::MAX as f64;

impl Reach {
    fn from(start: u16) -> Self {
        Self { start: f64::from(start), ..Self::default() }
    }

    fn move_by(&mut self, by: f64) {
        self.up += by.max(0.0);
        self.down += (-by).max(0.0);
        self.lost = self.lost.max(self.start + self.up - MOST);
    }

    fn fade(&mut self, factor: f64) {
        for part in [&mut self.start, &mut self.up, &mut self.down, &mut self.lost] {
            *part *= factor;
        }
    }

    /// Whether some order gives that number, or one that is no further from it than `rounding`.
    fn has(&self, number: u16, rounding: f64) -> bool {
        let least = (self.start + self.up - self.lost - self.down).max(0.0);
        let greatest = ((self.start - self.down).max(0.0) + self.up).min(MOST);
        (least - rounding..=greatest + rounding).contains(&f64::from(number))
    }
}

impl Shared {
    /// `before` is the base's neuron, if it has one.
    pub fn new(before: Option<Neuron>, effect: &Effect, after: Neuron) -> Self {
        let neuron = before.unwrap_or_else(|| blank(&after));
        let (salience, at) = (Reach::from(neuron.salience), neuron.last_salience_update);
        let mut shared = Self { neuron, weights: BTreeMap::new(), salience, at, runs: 0 };
        shared.add(effect, after);
        shared
    }

    /// Goes on to `after` by one more run's effect.
    pub fn add(&mut self, effect: &Effect, after: Neuron) {
        let weight = |w: Option<u16>| f64::from(w.unwrap_or(0));
        let changes = effect.connections.iter().map(|c| (&c.target, c.link, weight(c.weight.1) - weight(c.weight.0)));
        let made = effect.created.iter().flat_map(|n| &n.connections).map(|c| (&c.target, c.link, f64::from(c.weight)));
        for (target, link, moved) in changes.chain(made) {
            let start = self.neuron.weight(target, link);
            self.weights.entry((target.clone(), link)).or_insert_with(|| Reach::from(start)).move_by(moved);
        }
        let created =
            effect.created.as_ref().map(|n| ((0, n.last_salience_update), (n.salience, n.last_salience_update)));
        let changed = effect.salience.as_ref().map(|(old, new)| ((old.salience, old.at), (new.salience, new.at)));
        if let Some((old, new)) = changed.or(created) {
            let moved = f64::from(new.0) - f64::from(salience_at(old.0, old.1, new.1));
            self.salience.fade(share_left(self.at, new.1));
            self.at = self.at.max(new.1);
            self.salience.move_by(moved * share_left(new.1, self.at));
        }
        self.runs += 1;
        self.neuron = after;
    }

    /// Whether all that the salience of a side differs by is how it was rounded.
    pub fn differs_by_rounding(&self, side: &Neuron) -> bool {
        side.version == self.neuron.version
            && side.last_salience_update == self.neuron.last_salience_update
            && f64::from(side.salience.abs_diff(self.neuron.salience)) <= self.rounding()
    }

    /// A run rounds a salience once, and so does each merge.
    fn rounding(&self) -> f64 {
        f64::from(self.runs) + 2.0
    }

    /// A side with the numbers that the order of these runs explains as they are here; with other runs, the side as it is.
    pub fn settled(&self, side: &Neuron) -> Neuron {
        let mut settled = side.clone();
        if side.version != self.neuron.version {
            return settled;
        }
        let same_moment = side.last_salience_update == self.neuron.last_salience_update;
        if same_moment && self.salience.has(side.salience, self.rounding()) {
            settled.salience = self.neuron.salience;
        }
        for ((target, link), reach) in &self.weights {
            let weight = side.connection(target, *link).map(|c| c.weight);
            if weight.is_some_and(|weight| reach.has(weight, 0.0)) && self.neuron.connection(target, *link).is_some() {
                settled.set_weight(target, *link, self.neuron.weight(target, *link));
            }
        }
        settled
    }
}

/// The part of a salience that is left later on; 1 for no later moment.
fn share_left(from: Stamp, to: Stamp) -> f64 {
    f64::from(salience_at(u16::MAX, from, from.max(to))) / MOST
}

/// Before its creation a neuron has no weights and no salience.
fn blank(after: &Neuron) -> Neuron {
    Neuron { connections: Vec::new(), salience: 0, ..after.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;
    use crate::model::ids::RunId;

    fn neuron(weight: u16) -> Neuron {
        let mut neuron = Neuron::new("a".parse().unwrap(), "a", Kind::Semantic, Stamp::from_unix(0));
        neuron.set_weight(&"b".parse().unwrap(), Link::FeedsInto, weight);
        neuron
    }

    fn step(shared: &mut Shared, change: impl FnOnce(&mut Neuron)) {
        let mut after = shared.neuron.clone();
        change(&mut after);
        let effect = Effect::between(Some(&shared.neuron.clone()), &after);
        shared.add(&effect, after);
    }

    fn weigh(shared: &mut Shared, to: u16) {
        step(shared, |n| n.connections = neuron(to).connections);
    }

    fn weight_of(shared: &Shared, side: u16) -> u16 {
        shared.settled(&neuron(side)).connections[0].weight
    }

    #[test]
    fn only_what_an_order_of_the_runs_gives_is_theirs() {
        let mut shared = Shared::new(Some(neuron(50)), &Effect::default(), neuron(50));
        weigh(&mut shared, 60);
        assert_eq!(weight_of(&shared, 61), 61, "no order of +10 gives 61: a person did");
        weigh(&mut shared, 0);
        assert_eq!(weight_of(&shared, 10), 0, "-60 first is held at 0, then +10");
        assert_eq!(weight_of(&shared, 11), 11, "and that is as far as it goes");
        let pinned = shared.settled(&Neuron { pinned: true, ..neuron(10) });
        assert_eq!((pinned.pinned, pinned.connections[0].weight), (true, 0), "each number by itself");
        let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
        let other = Neuron { version: neuron(0).version.toggled(&run), ..neuron(10) };
        assert_eq!(shared.settled(&other), other, "another run");
        assert_eq!(
            shared.settled(&Neuron { connections: vec![], ..neuron(0) }).connections,
            [],
            "taken away by a person"
        );
    }

    #[test]
    fn a_weight_at_the_top_is_theirs_as_far_as_it_was_held_there() {
        let mut shared = Shared::new(Some(neuron(65_500)), &Effect::default(), neuron(65_500));
        for to in [65_530, 65_535, 65_435] {
            weigh(&mut shared, to);
        }
        // +30, +5, -100: with -100 first nothing is lost.
        assert_eq!((weight_of(&shared, 65_435), weight_of(&shared, 65_460)), (65_435, 65_460));
        let mut shared = Shared::new(Some(neuron(65_500)), &Effect::default(), neuron(65_500));
        let by = |from: u16, to: u16| Effect::between(Some(&neuron(from)), &neuron(to));
        for (effect, to) in [(by(65_500, 65_530), 65_530), (by(65_500, 65_530), 65_535), (by(65_500, 65_400), 65_435)] {
            shared.add(&effect, neuron(to));
        }
        // +30, +30, -100 in the order of the runs is held at the top, and -100 first is not.
        assert_eq!((weight_of(&shared, 65_460), weight_of(&shared, 65_461)), (65_435, 65_461));
        assert_eq!(weight_of(&shared, 30_000), 30_000, "no order gives this");
    }

    #[test]
    fn a_weight_that_one_run_made_has_no_other_order() {
        let made = neuron(40_000);
        let shared = Shared::new(None, &Effect::between(None, &made), made.clone());
        assert_eq!(shared.settled(&made), made);
        assert_eq!(weight_of(&shared, 1), 1, "from nothing to 40000 leaves the range in no order");
    }

    #[test]
    fn a_salience_is_theirs_within_rounding_and_what_was_held_at_the_top() {
        let hours = |h: i64| Stamp::from_unix(h * 3600);
        let mut shared = Shared::new(Some(neuron(50)), &Effect::default(), neuron(50));
        step(&mut shared, |n| n.activate(20_000, hours(1)));
        step(&mut shared, |n| n.activate(20_000, hours(3)));
        let at = |shared: &Shared, salience: u16, at: Stamp| {
            let last_activated = shared.neuron.last_activated;
            let side = Neuron { salience, last_salience_update: at, last_activated, ..neuron(50) };
            shared.settled(&side).salience
        };
        let here = shared.neuron.salience;
        assert_eq!((at(&shared, here + 4, hours(3)), at(&shared, here - 4, hours(3))), (here, here));
        for by_hand in [0, here - 40, here + 40, 45_000] {
            assert_eq!(at(&shared, by_hand, hours(3)), by_hand);
        }
        assert_eq!(at(&shared, here, hours(4)), here, "the same number at another hour is as it is");
        // Two branches gave 40000 each, of which the second was held at the top here.
        let start = neuron(50);
        let mut one = start.clone();
        one.activate(40_000, hours(3));
        let mut both = one.clone();
        both.activate(40_000, hours(3));
        let effect = Effect::between(Some(&start), &one);
        let mut shared = Shared::new(Some(start), &effect, one);
        shared.add(&effect, both);
        step(&mut shared, |n| n.activate(0, hours(13)));
        // Held at the top ten hours ago, or not at all where they are added up now.
        let (held, free) = (shared.neuron.salience, 65_535);
        assert_eq!(held, salience_at(65_535, hours(3), hours(13)));
        assert_eq!((at(&shared, held + 5_000, hours(13)), at(&shared, free, hours(13))), (held, held));
        assert_eq!(at(&shared, held - 5_000, hours(13)), held - 5_000);
    }
}
