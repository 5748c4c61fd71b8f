//! Does the story keep an agent going through a losing streak, and at what price?
//!
//! A bandit of five arms that pay 0 or 1. The best arm pays more in the long run and in runs: a two-state chain (good days,
//! bad days) makes it lose many times in a row. Each agent predicts by the mean that it has seen of an arm, takes the arm that
//! promises most (one time in twenty any), learns by the prediction error, and differs from the others only in when it abandons:
//!
//! - **dopamine only**: after three negative errors in a row (`abandon_after`);
//! - **with serotonin**: the same, unless the arm's mood is above a floor or its told confidence is at least what the next arm
//!   promises. Mood, calibrated and confidence are the product's (`chemistry::serotonin`), one feeling an arm;
//! - the raw rule with two and four times the patience: is serotonin more than that?
//! - **control**: abandons at the rate of the raw rule, or of serotonin, at random moments; **never**: abandons nothing;
//! - **Thompson sampling** and **UCB1**, for scale.
//!
//! An abandoned arm comes back after a rest, or only when all are abandoned: then all do. Regret is against the best arm's
//! long-run mean.
//! `cargo bench --bench motivation`; `-- seeds=400,steps=1000` for other sizes.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use git_brain::chemistry::serotonin::Feeling;
use git_brain::model::settings::Serotonin;

/// Negative errors in a row after which the raw rule abandons an arm.
const ABANDON_AFTER: u32 = 3;
/// How often an agent tries any arm that it has not abandoned.
const EXPLORES: f64 = 0.05;
/// Mood above which an agent goes on, whatever the streak. Set before anything was measured, and not tuned.
const FLOOR: f64 = -0.3;
/// Steps after which an abandoned arm may be tried again; the last: not before all are abandoned.
const RESTS: [usize; 2] = [50, usize::MAX];
/// The default of `serotonin.bias`.
const BIAS: f64 = 0.05;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    /// A normal variate (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit().max(1e-300), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A gamma variate of a shape of at least 1 (Marsaglia and Tsang 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().max(1e-300).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a), self.gamma(b));
        x / (x + y)
    }
}

/// How the arms pay.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    /// What the best arm pays on good and on bad days.
    best: (f64, f64),
    /// Chances that a good day is followed by a bad one, and a bad one by a good one.
    turns: (f64, f64),
    /// What the others pay.
    others: [f64; 4],
}

const WORLDS: [World; 3] = [
    World { name: "losing streaks", best: (0.95, 0.05), turns: (0.05, 0.12), others: [0.5, 0.45, 0.4, 0.3] },
    World { name: "no streaks, same means", best: (0.685, 0.685), turns: (0.5, 0.5), others: [0.5, 0.45, 0.4, 0.3] },
    World {
        name: "the streaky arm is not the best",
        best: (0.95, 0.05),
        turns: (0.16, 0.08),
        others: [0.6, 0.5, 0.4, 0.3],
    },
];

impl World {
    /// Long-run means of the arms; the streaky one is the first.
    fn means(&self) -> [f64; 5] {
        let (to_bad, to_good) = self.turns;
        let good = to_good / (to_bad + to_good);
        let mut means = [good * self.best.0 + (1.0 - good) * self.best.1, 0.0, 0.0, 0.0, 0.0];
        means[1..].copy_from_slice(&self.others);
        means
    }
}

/// When an agent abandons an arm.
#[derive(Clone, Copy)]
enum Rule {
    /// After so many negative errors in a row.
    Raw(u32),
    /// The same, held back by mood and confidence.
    Serotonin { bias: f64, smoothing: f64, floor: f64, by: By },
    /// At random, at this rate for each negative error.
    Random(f64),
    /// Never.
    Never,
    /// No greedy agent: Thompson sampling.
    Thompson,
    /// No greedy agent: UCB1 with this width (Auer, Cesa-Bianchi and Fischer 2002).
    Ucb(f64),
}

/// What holds an agent back.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Mood,
    Confidence,
    Both,
}

#[derive(Clone, Copy, Default)]
struct Arm {
    pulls: f64,
    won: f64,
    streak: u32,
    /// The step before which it is not tried again.
    rests_until: usize,
    feeling: Feeling,
}

impl Arm {
    /// What an agent predicts: the posterior mean, which starts at even odds.
    fn promise(&self) -> f64 {
        (1.0 + self.won) / (2.0 + self.pulls)
    }
}

/// What came of one life.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Mean loss a step against the best arm.
    regret: f64,
    /// Share of the time that the best arm stood abandoned.
    lost: f64,
    /// How often it was abandoned.
    times: f64,
    /// Abandonments for each negative error.
    rate: f64,
}

fn live(world: &World, rule: Rule, rest: usize, seed: u64, steps: usize) -> Life {
    let means = world.means();
    let best = (0..means.len()).max_by(|a, b| means[*a].total_cmp(&means[*b])).expect("arms");
    // What the world does is the same for every agent; what an agent draws is its own.
    let (mut weather, mut dice) = (Dice(seed), Dice(seed ^ 0x5eed));
    let settings = match rule {
        Rule::Serotonin { smoothing, .. } => Serotonin { smoothing, ..Serotonin::default() },
        _ => Serotonin::default(),
    };
    let mut arms = [Arm::default(); 5];
    let (to_bad, to_good) = world.turns;
    let mut good = weather.unit() < to_good / (to_bad + to_good);
    let (mut life, mut negative, mut abandoned) = (Life::default(), 0.0_f64, 0.0);
    for step in 0..steps {
        good = if good { weather.unit() >= to_bad } else { weather.unit() < to_good };
        let pays = [if good { world.best.0 } else { world.best.1 }];
        let pays: Vec<f64> = pays.into_iter().chain(world.others).map(|p| f64::from(weather.unit() < p)).collect();
        let at = choose(rule, &arms, step, &mut dice);
        life.lost += f64::from(arms[best].rests_until > step) / steps as f64;
        life.regret += (means[best] - means[at]) / steps as f64;
        let arm = &mut arms[at];
        let (prediction, outcome) = (arm.promise(), pays[at]);
        let error = outcome - prediction;
        arm.pulls += 1.0;
        arm.won += outcome;
        arm.streak = if error < 0.0 { arm.streak + 1 } else { 0 };
        arm.feeling = arm.feeling.after(error, outcome, &settings);
        if error >= 0.0 {
            continue;
        }
        negative += 1.0;
        if abandons(rule, &arms, at, step, &mut dice) {
            arms[at].rests_until = step.saturating_add(rest);
            arms[at].streak = 0;
            abandoned += 1.0;
            life.times += f64::from(at == best);
        }
        if arms.iter().all(|a| a.rests_until > step + 1) {
            arms.iter_mut().for_each(|a| a.rests_until = 0);
        }
    }
    Life { rate: abandoned / negative.max(1.0), ..life }
}

fn choose(rule: Rule, arms: &[Arm], step: usize, dice: &mut Dice) -> usize {
    let worth = |arm: &Arm, dice: &mut Dice| match rule {
        Rule::Thompson => dice.beta(1.0 + arm.won, 1.0 + arm.pulls - arm.won),
        Rule::Ucb(_) if arm.pulls == 0.0 => 2.0,
        Rule::Ucb(width) => arm.won / arm.pulls + width * ((step as f64 + 1.0).ln() / arm.pulls).sqrt(),
        _ => arm.promise(),
    };
    let ties = dice.below(arms.len());
    let explores = dice.unit() < EXPLORES && !matches!(rule, Rule::Thompson | Rule::Ucb(_));
    let order = (0..arms.len()).map(|i| (i + ties) % arms.len()).filter(|i| arms[*i].rests_until <= step);
    if explores {
        let open: Vec<usize> = order.collect();
        return open[dice.below(open.len())];
    }
    let worths: Vec<(usize, f64)> = order.map(|i| (i, worth(&arms[i], dice))).collect();
    worths.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("an arm that is not abandoned").0
}

fn abandons(rule: Rule, arms: &[Arm], at: usize, step: usize, dice: &mut Dice) -> bool {
    let arm = &arms[at];
    match rule {
        Rule::Raw(most) => arm.streak >= most,
        Rule::Serotonin { bias, floor, by, .. } => {
            let others = arms.iter().enumerate().filter(|(i, a)| *i != at && a.rests_until <= step);
            let next = others.map(|(_, a)| a.promise()).fold(0.0, f64::max);
            let in_mood = arm.feeling.mood > floor;
            let confident = arm.feeling.confidence(bias) >= next;
            let goes_on = match by {
                By::Mood => in_mood,
                By::Confidence => confident,
                By::Both => in_mood || confident,
            };
            arm.streak >= ABANDON_AFTER && !goes_on
        }
        Rule::Random(rate) => dice.unit() < rate,
        Rule::Never | Rule::Thompson | Rule::Ucb(_) => false,
    }
}

/// A mean with its 95 % interval: percentiles of the bootstrap (Efron 1979).
fn interval(values: &[f64]) -> (f64, f64, f64) {
    let mut dice = Dice(7);
    let mean = |sum: f64| sum / values.len() as f64;
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean((0..values.len()).map(|_| values[dice.below(values.len())]).sum())).collect();
    means.sort_by(f64::total_cmp);
    (mean(values.iter().sum()), means[RESAMPLES * 25 / 1000], means[RESAMPLES * 975 / 1000])
}

struct Row {
    name: String,
    lives: Vec<Life>,
}

impl Row {
    fn column(&self, of: fn(&Life) -> f64) -> Vec<f64> {
        self.lives.iter().map(of).collect()
    }
}

fn cell((mean, low, high): (f64, f64, f64)) -> String {
    format!("{mean:.3} ({low:.3} to {high:.3})")
}

fn serotonin(bias: f64, by: By) -> Rule {
    Rule::Serotonin { bias, smoothing: Serotonin::default().smoothing, floor: FLOOR, by }
}

fn rules(raw_rate: f64, serotonin_rate: f64) -> Vec<(String, Rule)> {
    let mut rules = vec![
        ("dopamine only: 3 negative in a row".to_owned(), Rule::Raw(ABANDON_AFTER)),
        ("dopamine only: 6 in a row".to_owned(), Rule::Raw(6)),
        ("dopamine only: 12 in a row".to_owned(), Rule::Raw(12)),
        ("control: at random, at the rate of 3 in a row".to_owned(), Rule::Random(raw_rate)),
        ("control: at random, at the rate of serotonin".to_owned(), Rule::Random(serotonin_rate)),
        ("never abandons".to_owned(), Rule::Never),
    ];
    for bias in [0.0, 0.05, 0.1] {
        rules.push((format!("serotonin, bias {bias}"), serotonin(bias, By::Both)));
    }
    rules.push(("serotonin by mood alone".to_owned(), serotonin(0.0, By::Mood)));
    for bias in [0.0, 0.05, 0.1] {
        rules.push((format!("serotonin by confidence alone, bias {bias}"), serotonin(bias, By::Confidence)));
    }
    let unsmoothed = Rule::Serotonin { bias: 0.05, smoothing: 1.0, floor: FLOOR, by: By::Both };
    rules.push(("serotonin, mood not smoothed, bias 0.05".to_owned(), unsmoothed));
    rules.push(("Thompson sampling".to_owned(), Rule::Thompson));
    rules.extend([0.2, 0.5, 1.0].map(|width| (format!("UCB1, width {width}"), Rule::Ucb(width))));
    rules
}

fn main() -> Result<()> {
    let mut sizes = BTreeMap::from([("seeds".to_owned(), 400_usize), ("steps".to_owned(), 1000)]);
    let given = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    for part in given.split(',').filter(|p| !p.is_empty()) {
        let (key, value) = part.split_once('=').context("sizes are KEY=NUMBER")?;
        *sizes.get_mut(key).with_context(|| format!("no size {key}"))? = value.parse()?;
    }
    let (seeds, steps) = (sizes["seeds"], sizes["steps"]);
    println!("{seeds} seeds, {steps} steps; means with 95 % intervals of the bootstrap over seeds");
    for world in &WORLDS {
        for rest in RESTS {
            measure(world, rest, seeds, steps);
        }
    }
    Ok(())
}

fn measure(world: &World, rest: usize, seeds: usize, steps: usize) {
    let lives =
        |rule: Rule| -> Vec<Life> { (0..seeds as u64).map(|s| live(world, rule, rest, s * 7919 + 1, steps)).collect() };
    let rate = |rule| lives(rule).iter().map(|l| l.rate).sum::<f64>() / seeds as f64;
    let (raw_rate, serotonin_rate) = (rate(Rule::Raw(ABANDON_AFTER)), rate(serotonin(BIAS, By::Both)));
    let rows: Vec<Row> =
        rules(raw_rate, serotonin_rate).into_iter().map(|(name, rule)| Row { name, lives: lives(rule) }).collect();
    let means = world.means();
    let back = if rest == usize::MAX { "until all are".to_owned() } else { format!("for {rest} steps") };
    println!("\n### {}, abandoned {back}\n", world.name);
    println!("Means of the arms: the streaky one {:.3}; {:?}.\n", means[0], world.others);
    println!(
        "| agent | best arm: times abandoned | share of the time | regret a step | less regret than dopamine only |"
    );
    println!("|---|---|---|---|---|");
    let raw = rows[0].column(|l| l.regret);
    for row in &rows {
        // The same seed is the same weather, so differences are paired.
        let regret = row.column(|l| l.regret);
        let gain: Vec<f64> = raw.iter().zip(&regret).map(|(raw, own)| raw - own).collect();
        println!(
            "| {} | {} | {} | {} | {} |",
            row.name,
            cell(interval(&row.column(|l| l.times))),
            cell(interval(&row.column(|l| l.lost))),
            cell(interval(&regret)),
            cell(interval(&gain))
        );
    }
    verdict(&rows, &raw);
}

/// What the figures say, and no more.
fn verdict(rows: &[Row], raw: &[f64]) {
    println!();
    let versus = |name: &str, base: &[f64], what: &str| {
        let Some(row) = rows.iter().find(|r| r.name == name) else { return };
        let gain: Vec<f64> = base.iter().zip(row.column(|l| l.regret)).map(|(b, own)| b - own).collect();
        let (mean, low, high) = interval(&gain);
        let word = if low > 0.0 {
            "less regret"
        } else if high < 0.0 {
            "MORE regret"
        } else {
            "no difference shown"
        };
        println!("- {name}, against {what}: {word} ({mean:+.4}, {low:+.4} to {high:+.4}).");
    };
    let regret = |name: &str| rows.iter().find(|r| r.name == name).map(|r| r.column(|l| l.regret)).unwrap_or_default();
    versus("serotonin, bias 0.05", raw, "dopamine only");
    versus("serotonin, bias 0.05", &regret("dopamine only: 6 in a row"), "twice the patience");
    versus("serotonin, bias 0.05", &regret("dopamine only: 12 in a row"), "four times the patience");
    versus("serotonin, bias 0.05", &regret("control: at random, at the rate of serotonin"), "chance at its own rate");
    versus("serotonin, bias 0.05", &regret("serotonin by confidence alone, bias 0.05"), "confidence alone");
    versus("serotonin, bias 0.05", &regret("never abandons"), "never abandoning");
    versus("serotonin, bias 0.05", &regret("serotonin, bias 0"), "no bias");
    versus("serotonin, bias 0.1", &regret("serotonin, bias 0"), "no bias");
    versus("serotonin by confidence alone, bias 0.05", &regret("serotonin by confidence alone, bias 0"), "no bias");
    versus("serotonin, bias 0.05", &regret("Thompson sampling"), "Thompson sampling");
}
