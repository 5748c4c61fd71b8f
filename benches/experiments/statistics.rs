//! Seeds and intervals of the experiments.

#![allow(dead_code, reason = "shared by experiments; none of them uses all of it")]

use std::fmt;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;
/// The seed of every bootstrap.
const SEED: u64 = 20_261_121;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed. Seeds that are neighbours give streams that have nothing to do with each other.
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        Self(dice.next())
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two others.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Puts a list into any order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// A figure with its 95 % interval, by the percentiles of a bootstrap (Efron 1979).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The figure of what was measured.
    pub value: f64,
    /// 2.5 % of the resamples are below.
    pub low: f64,
    /// 2.5 % of the resamples are above.
    pub high: f64,
}

impl Interval {
    /// The interval of a figure over `cases` that are drawn again with replacement: `figure` gets their numbers.
    pub fn of(cases: usize, figure: impl Fn(&[usize]) -> f64) -> Self {
        let mut dice = Dice::new(SEED);
        let mut drawn: Vec<usize> = (0..cases).collect();
        let value = figure(&drawn);
        let mut resampled = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            drawn.iter_mut().for_each(|case| *case = dice.below(cases));
            resampled.push(figure(&drawn));
        }
        resampled.sort_by(f64::total_cmp);
        let at = |share: f64| resampled[((RESAMPLES - 1) as f64 * share).round() as usize];
        Self { value, low: at(0.025), high: at(0.975) }
    }

    /// Of a mean.
    pub fn mean(values: &[f64]) -> Self {
        Self::of(values.len(), |drawn| mean_of(values, drawn))
    }

    /// Of the mean difference of two figures of the same cases.
    pub fn gain(after: &[f64], before: &[f64]) -> Self {
        let gains: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        Self::mean(&gains)
    }

    /// Of the ratio of the means of two figures of the same cases.
    pub fn ratio(above: &[f64], below: &[f64]) -> Self {
        Self::of(above.len(), |drawn| mean_of(above, drawn) / mean_of(below, drawn))
    }

    /// `above 0`, `below 0` or `not told from 0`.
    pub fn sign(&self) -> &'static str {
        match (self.low > 0.0, self.high < 0.0) {
            (true, _) => "above 0",
            (_, true) => "below 0",
            _ => "not told from 0",
        }
    }
}

fn mean_of(values: &[f64], drawn: &[usize]) -> f64 {
    drawn.iter().map(|case| values[*case]).sum::<f64>() / drawn.len() as f64
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        let Self { value, low, high } = self;
        match f.sign_plus() {
            true => write!(f, "{value:+.digits$} ({low:+.digits$} to {high:+.digits$})"),
            false => write!(f, "{value:.digits$} ({low:.digits$} to {high:.digits$})"),
        }
    }
}

/// Does `work` for each of `seeds`, on as many threads as there are processors; the results in the order of the seeds.
pub fn for_each_seed<T: Send>(seeds: std::ops::Range<u64>, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let seeds: Vec<u64> = seeds.collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = seeds.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let of = |part: &[u64]| -> Vec<T> { part.iter().map(|seed| work(*seed)).collect() };
        let parts: Vec<_> = seeds.chunks(part).map(|part| scope.spawn(move || of(part))).collect();
        let results =
            parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.flatten().collect()
    })
}
