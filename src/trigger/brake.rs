//! The brake: inhibition of the cycle. From how many runs the rounds so far have caused to how many the next one may start.
//!
//! It stands here and not with the chemistry, because it decides what this room decides: who wakes. In the flow: what is due →
//! **brake** → runs. Pure: rounds in, a bound out. Propagation has its own inhibition, in [`crate::activation`].
//!
//! The measure is the branching ratio of Beggs and Plenz (Neuronal avalanches in neocortical circuits, 2003): descendants per
//! ancestor. Above one, activity grows from round to round. `cycle.max_depth` and `cycle.runs_per_stimulus` bound one stimulus;
//! this sees what many of them do together.

use crate::model::settings::Inhibition;

/// One round: the runs that started from one tip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Runs that it started.
    pub started: usize,
    /// Of those, the runs that other runs caused: two steps and more from a stimulus.
    pub caused: usize,
    /// Whether one of its runs was as far from its stimulus as a run may be: its effects wake nobody, whatever they are.
    pub at_bound: bool,
}

/// What the rounds so far say about the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brake {
    settings: (f64, u32),
    last: Option<Round>,
    ratio: Option<f64>,
    above: u32,
    on: bool,
}

impl Brake {
    /// A brake that is off.
    pub fn new(settings: &Inhibition) -> Self {
        Self { settings: (settings.ratio, settings.cycles), last: None, ratio: None, above: 0, on: false }
    }

    /// The brake after those rounds, oldest first.
    pub fn after(settings: &Inhibition, rounds: impl IntoIterator<Item = Round>) -> Self {
        let mut brake = Self::new(settings);
        for round in rounds {
            brake.judge(round.caused);
            brake.ran(round);
        }
        brake
    }

    /// Judges a round by the runs that are due in it because of other runs: their number over that of all runs before.
    ///
    /// Nothing due after a round that came to the bound of depth says nothing: it was the bound that ended it.
    pub fn judge(&mut self, caused: usize) {
        let Some(last) = self.last else { return };
        if caused == 0 && last.at_bound {
            return;
        }
        let ratio = caused as f64 / last.started.max(1) as f64;
        self.ratio = Some(ratio);
        let (most, cycles) = self.settings;
        if ratio > most {
            self.above = self.above.saturating_add(1);
            self.on |= cycles > 0 && self.above >= cycles;
        } else {
            (self.above, self.on) = (0, false);
        }
    }

    /// Takes note of a round that was started.
    pub fn ran(&mut self, round: Round) {
        if round.started > 0 {
            self.last = Some(round);
        }
    }

    /// How many runs that other runs caused the round that was judged may start: half of the runs before, at least one.
    /// `None`: as many as are due.
    pub fn most(&self) -> Option<usize> {
        self.on.then(|| (self.last.map_or(0, |last| last.started) / 2).max(1))
    }

    /// The ratio of the newest round that has one.
    pub fn ratio(&self) -> Option<f64> {
        self.ratio
    }

    /// How many rounds in a row were above the bound.
    pub fn above(&self) -> u32 {
        self.above
    }

    /// Whether it holds runs back.
    pub fn is_on(&self) -> bool {
        self.on
    }
}

/// Which of the due runs may start: the greatest priority first, among equals the earlier one, `most` at most.
/// Takes each run's priority; `None` for a run that is never held back. Answers with one flag a run.
pub fn starting(priorities: &[Option<u32>], most: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..priorities.len()).filter(|at| priorities[*at].is_some()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(priorities[*at]), *at));
    let mut starts: Vec<bool> = priorities.iter().map(Option::is_none).collect();
    order.into_iter().take(most).for_each(|at| starts[at] = true);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Inhibition {
        Inhibition::default()
    }

    fn round(started: usize, caused: usize) -> Round {
        Round { started, caused, at_bound: false }
    }

    #[test]
    fn three_rounds_of_growth_brake_the_fourth_to_half_and_calm_releases() {
        let mut brake = Brake::after(&settings(), [round(1, 0), round(2, 2), round(4, 4)]);
        assert_eq!((brake.above(), brake.ratio(), brake.most()), (2, Some(2.0), None));
        brake.judge(8);
        assert_eq!((brake.above(), brake.most()), (3, Some(2)), "half of four");
        brake.ran(round(2, 2));
        brake.judge(9);
        assert_eq!(brake.most(), Some(1));
        brake.ran(round(1, 1));
        brake.judge(3);
        assert_eq!(brake.most(), Some(1), "at least one");
        brake.ran(round(1, 1));
        brake.judge(1);
        assert_eq!((brake.most(), brake.above()), (None, 0), "one for one is no growth");
    }

    #[test]
    fn a_ratio_of_one_and_a_single_burst_never_brake() {
        let steady = Brake::after(&settings(), (0..50).map(|_| round(5, 5)));
        assert!(!steady.is_on());
        let bursts = Brake::after(&settings(), (0..50).flat_map(|_| [round(1, 0), round(7, 7), round(3, 3)]));
        assert!(!bursts.is_on());
    }

    #[test]
    fn stimuli_alone_are_no_growth_however_many() {
        let feed = Brake::after(&settings(), (0..10).map(|n| round(1 << n, 0)));
        assert_eq!((feed.is_on(), feed.above()), (false, 0));
    }

    #[test]
    fn what_the_bound_of_depth_ended_was_not_calm() {
        let bounded = |started, caused| Round { started, caused, at_bound: true };
        let day = || [round(1, 0), round(3, 3), bounded(9, 9)];
        let two: Vec<Round> = day().into_iter().chain(day()).collect();
        assert!(Brake::after(&settings(), two).is_on());
        let calm = || [round(1, 0), round(3, 3), round(9, 9)];
        let two: Vec<Round> = calm().into_iter().chain(calm()).collect();
        assert!(!Brake::after(&settings(), two).is_on());
    }

    #[test]
    fn no_cycles_means_no_brake() {
        let off = Inhibition { cycles: 0, ..settings() };
        assert!(!Brake::after(&off, (0..9).map(|n| round(1 << n, 1 << n))).is_on());
    }

    #[test]
    fn the_greatest_priority_starts_first_and_stimuli_always() {
        let due = [Some(1), None, Some(5), Some(5), Some(9)];
        assert_eq!(starting(&due, 2), [false, true, true, false, true]);
        assert_eq!(starting(&due, 0), [false, true, false, false, false]);
        assert_eq!(starting(&due, 9), [true; 5]);
    }
}
