//! Expectations by hand, and choices in generated worlds beside controls that keep a running mean.

use super::*;

/// Even draws and normal ones, by a seed.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn even(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        normal(self.bits())
    }
}

/// How the options of a world change.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Not at all.
    Still,
    /// A little with each decision.
    Drift,
    /// All at once, twice.
    Jump,
    /// Not at all, and outcomes are 0 or 1.
    Coins,
}

const DECISIONS: usize = 100;

/// What each option is worth at each decision, and the noise of outcomes; none: coins.
struct World {
    worth: Vec<Vec<f64>>,
    noise: Option<f64>,
}

impl World {
    fn new(seed: u64, change: Change) -> Self {
        let mut dice = Dice(seed.wrapping_mul(7919) + change as u64 * 104_729 + 17);
        let options = 2 + (dice.bits() % 5) as usize;
        let noise = [0.0, 0.05, 0.1, 0.2][(dice.bits() % 4) as usize];
        let mut now: Vec<f64> = (0..options).map(|_| dice.even()).collect();
        let mut worth = Vec::new();
        for at in 0..DECISIONS {
            match change {
                Change::Drift => now.iter_mut().for_each(|x| *x = (*x + 0.03 * dice.normal()).clamp(0.0, 1.0)),
                Change::Jump if at > 0 && at % (DECISIONS / 3) == 0 => now.iter_mut().for_each(|x| *x = dice.even()),
                _ => {}
            }
            worth.push(now.clone());
        }
        Self { worth, noise: (!matches!(change, Change::Coins)).then_some(noise) }
    }

    /// The regret of a way to choose, and the mean absolute error of what it expected after the 20th decision. `policy` has the outcomes so
    /// far and answers with an option and what it expects.
    fn lived(&self, seed: u64, mut policy: impl FnMut(&[(usize, f64)], &mut Dice) -> (usize, f64)) -> (f64, f64) {
        let (mut outer, mut own) = (Dice(seed * 31 + 5), Dice(seed * 77 + 9));
        let (mut outcomes, mut regret, mut errors) = (Vec::new(), 0.0, 0.0);
        for (at, worth) in self.worth.iter().enumerate() {
            let (option, expected) = policy(&outcomes, &mut own);
            let outcome: f64 = match self.noise {
                Some(noise) => (worth[option] + noise * outer.normal()).clamp(0.0, 1.0),
                None => f64::from(u8::from(outer.even() < worth[option])),
            };
            regret += worth.iter().copied().fold(0.0, f64::max) - worth[option];
            errors += if at < 20 { 0.0 } else { (outcome - expected).abs() };
            outcomes.push((option, outcome));
        }
        (regret, errors / (DECISIONS - 20) as f64)
    }

    fn ours(&self, seed: u64) -> (f64, f64) {
        let learning = crate::model::settings::Learning::default();
        let priors = vec![0.5; self.worth[0].len()];
        self.lived(seed, |outcomes, dice| {
            let prospect = |expected| Prospect { expected, is_abandoned: false };
            let prospects: Vec<_> = expectations(&priors, outcomes, learning.kept).into_iter().map(prospect).collect();
            let bits = dice.bits();
            let draw = |at: usize| normal(bits ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let (option, _) = choose(&prospects, learning.exploration, draw).unwrap();
            (option, prospects[option].expected.value)
        })
    }

    /// A running mean of each option, at first `untried`; now and then any option.
    fn control(&self, seed: u64, now_and_then: f64, untried: f64) -> (f64, f64) {
        let options = self.worth[0].len();
        self.lived(seed, |outcomes, dice| {
            let mean = |option: usize, none: f64| {
                let own: Vec<f64> = outcomes.iter().filter(|(at, _)| *at == option).map(|(_, x)| *x).collect();
                if own.is_empty() { none } else { own.iter().sum::<f64>() / own.len() as f64 }
            };
            let best = |a: &usize, b: &usize| mean(*a, untried).total_cmp(&mean(*b, untried)).then(b.cmp(a));
            let option = match dice.even() < now_and_then {
                true => (dice.bits() % options as u64) as usize,
                false => (0..options).max_by(best).unwrap(),
            };
            (option, mean(option, 0.5))
        })
    }
}

/// Constants were chosen on the even seeds below 200; these are the odd ones.
const SEEDS: std::ops::Range<u64> = 0..100;

#[test]
fn regret_in_generated_worlds_is_below_that_of_a_running_mean() {
    let mut sums = [0.0; 4];
    for change in [Change::Still, Change::Drift, Change::Jump, Change::Coins] {
        let mean = |lived: &dyn Fn(&World, u64) -> (f64, f64)| {
            let all: Vec<(f64, f64)> = SEEDS.map(|s| 2 * s + 1).map(|s| lived(&World::new(s, change), s)).collect();
            let count = all.len() as f64;
            (all.iter().map(|x| x.0).sum::<f64>() / count, all.iter().map(|x| x.1).sum::<f64>() / count)
        };
        let figures = [
            mean(&|world, seed| world.ours(seed)),
            mean(&|world, seed| world.control(seed, 0.0, 0.5)),
            mean(&|world, seed| world.control(seed, 0.1, 0.5)),
            mean(&|world, seed| world.control(seed, 0.0, 2.0)),
        ];
        println!("{change:?}: regret, error of ours, greedy, 1 in 10 at random, greedy after each once: {figures:.3?}");
        sums.iter_mut().zip(figures).for_each(|(sum, (regret, _))| *sum += regret);
        assert!(figures[0].0 < figures[1].0 && figures[0].0 < figures[2].0, "{change:?}: {figures:?}");
    }
    println!("all: {sums:.2?}");
    assert!(sums[0] < 0.6 * sums[1] && sums[0] < 0.6 * sums[2] && sums[0] < 0.8 * sums[3], "{sums:?}");
}

#[test]
fn an_expectation_is_the_posterior_mean_by_the_formula() {
    let [none, once] = expectations(&[0.4, 0.5], &[(1, 0.9)], 1.0).try_into().unwrap();
    assert!((none.value - 0.4).abs() < 1e-12 && none.evidence == 0.0);
    assert!((none.spread - (1.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    // Precisions 12 and 1/.01 = 100.
    assert!((once.value - (0.5 * 12.0 + 0.9 * 100.0) / 112.0).abs() < 1e-12);
    assert!((once.spread - (1.0_f64 / 112.0).sqrt()).abs() < 1e-12);
    // Two outcomes, the older at half of its weight: mean .7, scatter 1.5 · variance; 1.5 − 1 degrees of freedom.
    let [half] = expectations(&[0.5], &[(0, 0.6), (0, 0.75)], 0.5).try_into().unwrap();
    let scatter = 0.5 * 0.36 + 0.5625 - 1.05_f64.powi(2) / 1.5;
    let noise = (0.01 + scatter) / 1.5;
    assert!((half.value - (6.0 + 1.05 / noise) / (12.0 + 1.5 / noise)).abs() < 1e-12, "{half:?}");
}

#[test]
fn a_change_makes_all_that_was_known_uncertain_and_noise_does_not() {
    let steady: Vec<(usize, f64)> = (0..20).map(|i| (i % 2, if i % 2 == 0 { 0.9 } else { 0.5 })).collect();
    let before = expectations(&[0.5, 0.5], &steady, 0.97);
    let jumped: Vec<_> = steady.iter().copied().chain([(0, 0.1)]).collect();
    let after = expectations(&[0.5, 0.5], &jumped, 0.97);
    assert!(before[1].evidence > 7.0 && after[1].evidence < 2.0, "{before:?} {after:?}");
    assert!(after[0].value < 0.65 && after[1].spread > 1.5 * before[1].spread, "{after:?}");
    let coins: Vec<(usize, f64)> = (0..20).map(|i| (i % 2, f64::from(u8::from(i % 4 < 2)))).collect();
    assert!(expectations(&[0.5, 0.5], &coins, 0.97)[1].evidence > 7.0);
}

#[test]
fn small_deviations_to_one_side_add_up_to_a_change() {
    let noise = [0.08, -0.06, 0.02, -0.08, 0.05, -0.01, 0.07, -0.07];
    let known = (0..24).map(|i| (0, 0.7 + noise[i % 8]));
    let worse = [0.45, 0.5, 0.42, 0.46].map(|y| (0, y));
    let [expected] = expectations(&[0.5], &known.clone().chain(worse).collect::<Vec<_>>(), 1.0).try_into().unwrap();
    assert!(expected.value < 0.62, "with all at full weight it were 0.67: {expected:?}");
    // What tells of the change itself keeps its weight.
    assert!(expected.evidence > 4.0 && expected.evidence < 4.0 + 24.0 * 0.5, "{expected:?}");
    let [steady] = expectations(&[0.5], &known.collect::<Vec<_>>(), 1.0).try_into().unwrap();
    assert!((steady.evidence - 24.0).abs() < 1e-9, "{steady:?}");
}

#[test]
fn a_clear_lead_needs_no_draw_and_what_is_left_is_not_drawn() {
    let of = |value: f64, spread: f64, is_abandoned: bool| Prospect {
        expected: Expectation { value, spread, evidence: 1.0 },
        is_abandoned,
    };
    let up = |at: usize| if at == 1 { 9.0 } else { -9.0 };
    assert_eq!(choose(&[of(0.9, 0.1, false), of(0.5, 0.1, false)], 1.0, up), Some((0, true)));
    assert_eq!(choose(&[of(0.9, 0.3, false), of(0.5, 0.3, false)], 1.0, up), Some((1, false)));
    assert_eq!(choose(&[of(0.9, 0.3, false), of(0.5, 0.3, true)], 1.0, up), Some((0, true)));
    assert_eq!(choose(&[of(0.5, 0.3, false), of(0.5, 0.3, false)], 0.0, up), Some((0, false)));
    assert_eq!(choose(&[of(0.1, 0.1, true), of(0.5, 0.1, true)], 0.0, up), Some((1, true)));
    assert_eq!(choose(&[], 1.0, up), None);
}

#[test]
fn the_draws_are_normal() {
    let draws: Vec<f64> = (0..10_000).map(normal).collect();
    let mean = draws.iter().sum::<f64>() / 1e4;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
    assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
}
