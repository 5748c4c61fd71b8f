//! The outcome to be expected of each option of a question, from what came of them before.
//!
//! A normal model with conjugate prior, discounted: older outcomes weigh less, because options change. Sources: the posterior mean of a
//! normal variable whose mean has a normal prior (Gelman et al., Bayesian Data Analysis, 2.5); discounting (Raj and Kalyani 2017);
//! a pooled variance under a scaled inverse χ² prior (Gelman et al., 2.6); a change is found by cumulative sums (Page, Continuous
//! inspection schemes, 1954), and what was before it forgotten, after Fortescue, Kershenbaum and Ydstie (1981), who let the factor of
//! forgetting follow the error.

use crate::model::ids::splitmix;

/// Variance of what an option is worth before any outcome: that of a number of which only 0..=1 is known.
const PRIOR_VARIANCE: f64 = 1.0 / 12.0;
/// Standard deviation that outcomes of one option are taken to have while nothing is known of it, and the judgements that this counts as.
/// Chosen with the others here on the even seeds of generated worlds; docs/learning.md has the figures of the odd ones.
const PRIOR_NOISE: f64 = 0.1;
const PRIOR_NOISE_WEIGHT: f64 = 1.0;
/// Outcomes of an option that deviate to one side add up, in standard deviations less an allowance; beyond the bound the world has
/// changed, and all outcomes before the first of them keep this part of their weights.
const ALLOWANCE: f64 = 0.5;
const SURPRISE: f64 = 4.0;
const KEPT_AT_SURPRISE: f64 = 0.2;

/// What to expect of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The posterior mean of its outcome, 0..=1.
    pub value: f64,
    /// The standard deviation of that mean: how far it may be from the truth.
    pub spread: f64,
    /// Outcomes behind it, the old ones faded.
    pub evidence: f64,
}

/// The discounted sums of one option.
#[derive(Clone, Copy, Default)]
struct Sums {
    weight: f64,
    outcomes: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, weight: f64, outcome: f64) {
        self.weight += weight;
        self.outcomes += weight * outcome;
        self.squares += weight * outcome * outcome;
    }

    fn fade(&mut self, kept: f64) {
        (self.weight, self.outcomes, self.squares) = (self.weight * kept, self.outcomes * kept, self.squares * kept);
    }

    /// The weighted sum of squared distances from the mean.
    fn scatter(&self) -> f64 {
        if self.weight > 0.0 { (self.squares - self.outcomes * self.outcomes / self.weight).max(0.0) } else { 0.0 }
    }

    /// `m = (μ₀/τ² + Σwy/s²) / (1/τ² + Σw/s²)`, with a variance of `1/(1/τ² + Σw/s²)`.
    fn posterior(&self, prior: f64, noise: f64) -> (f64, f64) {
        let precision = 1.0 / PRIOR_VARIANCE + self.weight / noise;
        ((prior / PRIOR_VARIANCE + self.outcomes / noise) / precision, 1.0 / precision)
    }
}

/// The variance of outcomes round what their option is worth, pooled over all options: `(ν₀s₀² + Σ scatter) / (ν₀ + Σ max(Σw − 1, 0))`.
fn noise(sums: &[Sums]) -> f64 {
    let scatter: f64 = sums.iter().map(Sums::scatter).sum();
    let freedom: f64 = sums.iter().map(|s| (s.weight - 1.0).max(0.0)).sum();
    (PRIOR_NOISE_WEIGHT * PRIOR_NOISE * PRIOR_NOISE + scatter) / (PRIOR_NOISE_WEIGHT + freedom)
}

/// How far the newest outcomes of one option deviate to one side, and the outcome with which they began to.
#[derive(Clone, Copy, Default)]
struct Deviation {
    sum: f64,
    since: usize,
}

/// The sums of each option, of all outcomes with their weights.
fn summed(options: usize, outcomes: &[(usize, f64)], weights: &[f64]) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); options];
    for (weight, (option, outcome)) in weights.iter().zip(outcomes) {
        sums[*option].add(*weight, *outcome);
    }
    sums
}

/// What to expect of each option: `priors` are what the question itself says of them, `outcomes` the outcomes of the question, oldest
/// first, each with the place of its option. With each outcome those before it keep `kept` of their weights. A cumulative sum of each
/// option's deviations to each side says when the world has changed.
pub fn expectations(priors: &[f64], outcomes: &[(usize, f64)], kept: f64) -> Vec<Expectation> {
    let mut sums = vec![Sums::default(); priors.len()];
    let mut weights: Vec<f64> = Vec::with_capacity(outcomes.len());
    let mut deviations = vec![[Deviation::default(); 2]; priors.len()];
    for (at, (option, outcome)) in outcomes.iter().enumerate() {
        sums.iter_mut().for_each(|s| s.fade(kept));
        weights.iter_mut().for_each(|weight| *weight *= kept);
        weights.push(1.0);
        let mut changed = None;
        if sums[*option].weight > 0.0 {
            let noise = noise(&sums);
            let (mean, variance) = sums[*option].posterior(priors[*option], noise);
            let deviates = (outcome - mean) / (variance + noise).sqrt();
            for (side, sign) in deviations[*option].iter_mut().zip([1.0, -1.0]) {
                if side.sum <= 0.0 {
                    side.since = at;
                }
                side.sum = (side.sum + sign * deviates - ALLOWANCE).max(0.0);
                if side.sum > SURPRISE {
                    changed = Some(side.since);
                }
            }
        }
        match changed {
            Some(since) => {
                weights[..since].iter_mut().for_each(|weight| *weight *= KEPT_AT_SURPRISE);
                sums = summed(priors.len(), outcomes, &weights);
                deviations.fill([Deviation::default(); 2]);
            }
            None => sums[*option].add(1.0, *outcome),
        }
    }
    let noise = noise(&sums);
    let of = |(sums, prior): (&Sums, &f64)| {
        let (value, variance) = sums.posterior(*prior, noise);
        Expectation { value: value.clamp(0.0, 1.0), spread: variance.sqrt(), evidence: sums.weight }
    };
    sums.iter().zip(priors).map(of).collect()
}

/// How far one option must be expected to lead every other to be taken without a draw, in standard deviations of the difference.
const LEAD: f64 = 1.0;

/// What is known of an option when it is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Prospect {
    /// What to expect of it.
    pub expected: Expectation,
    /// Whether it only disappointed of late.
    pub is_abandoned: bool,
}

/// The place of the option to take, and whether it leads surely. Those that disappointed are left, unless nothing else is there. One that
/// leads each other by a standard deviation of their difference is taken. Else each is given a draw from its posterior, its spread
/// times `width`, and the greatest is taken: Thompson sampling (Thompson 1933). `draw` is a standard normal number for a place. Of equal
/// ones the first is taken.
pub fn choose(prospects: &[Prospect], width: f64, draw: impl Fn(usize) -> f64) -> Option<(usize, bool)> {
    let all_left = prospects.iter().all(|p| p.is_abandoned);
    let open = || prospects.iter().enumerate().filter(move |(_, p)| all_left || !p.is_abandoned);
    let greatest = |worth: &dyn Fn(usize, &Prospect) -> f64| {
        let best = |best: Option<(usize, f64)>, (at, p): (usize, &Prospect)| {
            let value = worth(at, p);
            if best.is_none_or(|(_, most)| value > most) { Some((at, value)) } else { best }
        };
        open().fold(None, best).map(|(at, _)| at)
    };
    let first = greatest(&|_, p| p.expected.value)?;
    let lead = prospects[first].expected;
    let leads =
        |p: &Expectation| lead.value - p.value > LEAD * (lead.spread * lead.spread + p.spread * p.spread).sqrt();
    if open().all(|(at, p)| at == first || leads(&p.expected)) {
        return Some((first, true));
    }
    let drawn = greatest(&|at, p| p.expected.value + width * p.expected.spread * draw(at));
    drawn.map(|at| (at, false))
}

/// A standard normal number by a seed: the sum of twelve even draws less six (Irwin and Hall 1927), which every machine adds up alike.
pub fn normal(seed: u64) -> f64 {
    let mut state = seed;
    let mut even = || (splitmix(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
    (0..12).map(|_| even()).sum::<f64>() - 6.0
}

#[cfg(test)]
#[path = "expectation_tests.rs"]
mod tests;
