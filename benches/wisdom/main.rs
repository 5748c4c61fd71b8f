//! Wisdom: does the causal index find one hidden cause among nine decoys, and does a brain that inherits seeds learn sooner?
//!
//! ```text
//! cargo bench --bench wisdom -- [--seeds 20] [--first 101]
//! ```
//!
//! Real repositories, through the library as a front door uses it: `decide`, `outcome`, `sleep`, `export`, `inherit`. A day is a session.
//!
//! **Cause.** Ten sessions of six decisions between two mixes of ten additives. A mix has each additive with a chance of 0.5; the first decoy comes
//! with the cause four times in five. A mix with the cause goes well 9 times in 10, one without it 2 in 10. Figure: the cause's rank by ΔP among the
//! ten, beside its rank by how often it was there when it went well. With wisdom off decisions are the same, and nothing is distilled.
//!
//! **Heir.** Ten levers, one of which works. Every session asks in other words, so that nothing but seeds carries over. A teacher lives ten sessions and
//! exports its bundle. Heirs are a brain with the bundle, one with the same seeds and their actions shuffled, an empty one, and one with the bundle
//! and wisdom off. Figure: sessions until one scores 95 % of the teacher's last three; `--sessions` + 1 where none did. Nothing is asserted.

#![allow(clippy::disallowed_methods, reason = "a benchmark makes folders and reads its command line")]

#[path = "../experiments/statistics.rs"]
mod statistics;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use git_brain::brain::{Brain, DecideRequest, InitRequest, OutcomeRequest, Override, SleepRequest, Source, World};
use git_brain::model::{Stamp, json};
use git_brain::wisdom::{Bundle, WELL};
use git_brain::world::MemberKey;
use statistics::{Dice, Interval};

/// 2025-01-06T08:00:00Z.
const BIRTH: i64 = 1_736_150_400;
const DAY: i64 = 86_400;
/// Sessions of a teacher, and decisions of a session.
const SESSIONS: usize = 10;
const TRIALS: usize = 6;
const GOOD: f64 = 0.9;
const BAD: f64 = 0.2;
/// A session reaches the teacher's score from this share on.
const REACHED: f64 = 0.95;

/// Words that are their own stems: causes are told as stems.
const ADDITIVES: [&str; 10] =
    ["borax", "chalk", "ash", "salt", "cobalt", "talc", "quartz", "zircon", "feldspar", "kaolin"];
/// Words by which the question differs from session to session.
const TIMES: [&str; 20] = [
    "at dawn",
    "at dusk",
    "in fog",
    "in frost",
    "after rain",
    "before noon",
    "by night",
    "in summer",
    "in winter",
    "in wind",
    "at low tide",
    "at high tide",
    "during drought",
    "under stars",
    "past midnight",
    "amid thunder",
    "with dew",
    "near spring",
    "since harvest",
    "through haze",
];

fn main() -> Result<()> {
    let (mut seeds, mut first, mut sessions) = (20_u64, 101_u64, 6_usize);
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("{arg} needs a number"))?;
        match arg.as_str() {
            "--seeds" => seeds = value.parse()?,
            "--first" => first = value.parse()?,
            "--sessions" => sessions = value.parse()?,
            other => bail!("{other} is not --seeds, --first or --sessions"),
        }
    }
    let range = first..first + seeds;
    let found: Result<Vec<_>> = statistics::for_each_seed(range.clone(), cause).into_iter().collect();
    let found = found?;
    println!("## Cause\n\n| index | cause ranked first | mean rank |\n|---|---|---|");
    for (name, of) in [("ΔP", 0), ("frequency", 1)] {
        let ranks: Vec<f64> = found.iter().map(|ranks| ranks[of] as f64).collect();
        let firsts: Vec<f64> = ranks.iter().map(|rank| f64::from(u8::from(*rank == 1.0))).collect();
        println!("| {name} | {:.2} | {:.2} |", Interval::mean(&firsts), Interval::mean(&ranks));
    }
    let lived: Result<Vec<_>> = statistics::for_each_seed(range, |seed| heirs(seed, sessions)).into_iter().collect();
    let lived = lived?;
    println!("\n## Heir\n\n| brain | sessions to the teacher's score | first session | seeds |\n|---|---|---|---|");
    let teacher: Vec<f64> = lived.iter().map(|one| one.teacher).collect();
    println!("| teacher, last three sessions | | {:.2} | |", Interval::mean(&teacher));
    for (at, heir) in HEIRS.iter().enumerate() {
        let of = |figure: fn(&Lived) -> f64| -> Vec<f64> { lived.iter().map(|one| figure(&one.heirs[at])).collect() };
        let (until, score, held) = (of(|l| l.until as f64), of(|l| l.first), of(|l| l.seeds as f64));
        println!(
            "| {} | {:.2} | {:.2} | {:.1} |",
            heir.name(),
            Interval::mean(&until),
            Interval::mean(&score),
            held.iter().sum::<f64>() / held.len() as f64
        );
    }
    let until = |at: usize| -> Vec<f64> { lived.iter().map(|one| one.heirs[at].until as f64).collect() };
    for (at, heir) in HEIRS.iter().enumerate().skip(1) {
        let gain = Interval::gain(&until(0), &until(at));
        println!("\nWith the bundle less {}: {gain:+.2} sessions, {}", heir.name(), gain.sign());
    }
    Ok(())
}

/// A brain in a folder of its own, at a moment.
struct Place {
    folder: tempfile::TempDir,
    seed: String,
    flags: Vec<Override>,
}

impl Place {
    fn new(seed: &str, is_on: bool) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("git-brain-bench-").tempdir()?;
        let value = is_on.to_string();
        let flags = vec![Override { place: "the bench".into(), key: "wisdom.enabled".into(), value }];
        let place = Self { folder, seed: seed.to_owned(), flags };
        Brain::init(
            &InitRequest { dir: place.dir(), in_repo: false, program: "git-brain".to_owned() },
            place.world(0, 0),
        )?;
        Ok(place)
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("brain")
    }

    fn world(&self, session: usize, minute: usize) -> World {
        let at = BIRTH + session as i64 * DAY + minute as i64 * 60;
        World::fixed(Stamp::from_unix(at), &format!("{} {session} {minute}", self.seed))
            .with_state_dir(self.folder.path().join("state"))
    }

    fn brain(&self, session: usize, minute: usize) -> Result<Brain> {
        Ok(Brain::open(&self.dir(), self.world(session, minute), &self.flags)?)
    }

    /// One decision and its outcome. Returns the choice.
    fn decide(
        &self,
        at: (usize, usize),
        question: &str,
        options: &[String],
        worth: impl Fn(&str) -> f64,
    ) -> Result<String> {
        let brain = self.brain(at.0, 1 + 2 * at.1)?;
        let request = DecideRequest { question: question.to_owned(), options: options.to_vec() };
        let decision = brain.decide(&request, &mut |_| ())?;
        let value = Some(worth(&decision.choice));
        let brain = self.brain(at.0, 2 + 2 * at.1)?;
        brain.outcome(&OutcomeRequest { run: decision.run, value, ..OutcomeRequest::default() })?;
        Ok(decision.choice)
    }

    fn sleep(&self, session: usize) -> Result<()> {
        self.brain(session, 600)?.sleep(SleepRequest::default())?;
        Ok(())
    }
}

/// The place of the hidden cause among the ten, by ΔP and by frequency.
fn cause(seed: u64) -> Result<[usize; 2]> {
    let mut dice = Dice::new(seed);
    let mut additives = ADDITIVES;
    dice.shuffle(&mut additives);
    let hidden = additives[0];
    let place = Place::new(&format!("cause {seed}"), true)?;
    for session in 0..SESSIONS {
        for trial in 0..TRIALS {
            let options = [mix(&mut dice, &additives), mix(&mut dice, &additives)];
            if options[0] == options[1] {
                continue;
            }
            let draw = dice.unit();
            let worth = |choice: &str| {
                let chance = if choice.split(' ').any(|word| word == hidden) { GOOD } else { BAD };
                f64::from(u8::from(draw < chance))
            };
            place.decide((session, trial), "which mix makes the glaze smooth", &options, worth)?;
        }
        place.sleep(session)?;
    }
    let mut causes = place.brain(SESSIONS, 0)?.causes(None, WELL, usize::MAX)?;
    causes.retain(|cause| ADDITIVES.contains(&cause.cause.as_str()));
    let rank = |causes: &[git_brain::brain::wisdom::Causal]| {
        causes.iter().position(|cause| cause.cause == hidden).map_or(ADDITIVES.len(), |at| at + 1)
    };
    let by_strength = rank(&causes);
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.with[1]));
    Ok([by_strength, rank(&causes)])
}

/// Some of the additives; the second comes with the first four times in five.
fn mix(dice: &mut Dice, additives: &[&str; 10]) -> String {
    let mut has: Vec<bool> = additives.iter().map(|_| dice.unit() < 0.5).collect();
    has[1] = if dice.unit() < 0.8 { has[0] } else { !has[0] };
    let mut words: Vec<&str> = additives.iter().zip(has).filter(|(_, has)| *has).map(|(word, _)| *word).collect();
    if words.is_empty() {
        words.push(additives[2]);
    }
    words.join(" ")
}

#[derive(Clone, Copy, PartialEq)]
enum Heir {
    Bundle,
    Shuffled,
    Empty,
    Off,
}

const HEIRS: [Heir; 4] = [Heir::Bundle, Heir::Shuffled, Heir::Empty, Heir::Off];

impl Heir {
    fn name(self) -> &'static str {
        match self {
            Self::Bundle => "the bundle",
            Self::Shuffled => "shuffled seeds",
            Self::Empty => "nothing",
            Self::Off => "the bundle, wisdom off",
        }
    }
}

struct Lived {
    until: usize,
    first: f64,
    seeds: usize,
}

struct Family {
    teacher: f64,
    heirs: Vec<Lived>,
}

/// The score of a session of decisions, by the worth of its choices.
fn session(place: &Place, number: usize, words: &str, levers: &[String], good: &str, dice: &mut Dice) -> Result<f64> {
    let question = format!("which lever opens the old sluice gate {words}");
    let mut score = 0.0;
    for trial in 0..TRIALS {
        let draw = dice.unit();
        let chance = |choice: &str| if choice == good { GOOD } else { BAD };
        let worth = |choice: &str| f64::from(u8::from(draw < chance(choice)));
        score += chance(&place.decide((number, trial), &question, levers, worth)?);
    }
    place.sleep(number)?;
    Ok(score / TRIALS as f64)
}

fn heirs(seed: u64, most: usize) -> Result<Family> {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let mut levers: Vec<String> = ADDITIVES.iter().map(|word| format!("{word} lever")).collect();
    dice.shuffle(&mut levers);
    let good = levers[dice.below(levers.len())].clone();
    let mut times = TIMES;
    dice.shuffle(&mut times);
    let teacher = Place::new(&format!("teacher {seed}"), true)?;
    let mut scores = Vec::new();
    for (number, words) in times.iter().take(SESSIONS).enumerate() {
        scores.push(session(&teacher, number, words, &levers, &good, &mut dice)?);
    }
    let wanted = scores[SESSIONS - 3..].iter().sum::<f64>() / 3.0;
    // A teacher that has learnt nothing for sure has nothing to give: its heirs begin with nothing, and count.
    let bundle = teacher.brain(SESSIONS, 0)?.export_wisdom(90).ok().map(|exported| exported.bundle);
    let heirs: Result<Vec<Lived>> = HEIRS
        .iter()
        .map(|heir| {
            // Every heir meets the same chances.
            let mut dice = Dice::new(seed ^ 0x4e12);
            let place = Place::new(&format!("heir {seed}"), *heir != Heir::Off)?;
            let given = match heir {
                Heir::Empty => None,
                Heir::Shuffled => bundle
                    .as_ref()
                    .map(|bundle| shuffled(bundle, &mut Dice::new(seed), teacher.folder.path()))
                    .transpose()?,
                _ => bundle.clone(),
            };
            let seeds = given.as_ref().map_or(0, |bundle| bundle.seeds.len());
            if let Some(bundle) = given {
                let text = String::from_utf8(json::pretty(&bundle))?;
                place.brain(SESSIONS, 1)?.inherit(&Source::Text(text), &bundle.key, false)?;
            }
            let (mut until, mut first) = (most + 1, 0.0);
            for (number, words) in times.iter().skip(SESSIONS).take(most).enumerate() {
                let score = session(&place, SESSIONS + 1 + number, words, &levers, &good, &mut dice)?;
                if number == 0 {
                    first = score;
                }
                if score >= REACHED * wanted {
                    until = number + 1;
                    break;
                }
            }
            Ok(Lived { until, first, seeds })
        })
        .collect();
    Ok(Family { teacher: wanted, heirs: heirs? })
}

/// The same seeds with their actions moved round, signed by a key of its own.
fn shuffled(bundle: &Bundle, dice: &mut Dice, folder: &Path) -> Result<Bundle> {
    let mut moved = bundle.clone();
    let mut actions: Vec<String> = moved.seeds.iter().map(|seed| seed.action.clone()).collect();
    dice.shuffle(&mut actions);
    moved.seeds.iter_mut().zip(actions).for_each(|(seed, action)| seed.action = action);
    let world = World::fixed(moved.made, "shuffled").with_state_dir(folder.join("forger"));
    let key = MemberKey::of(&world, folder, "forger")?;
    moved.key = key.public();
    moved.signature = key.sign(&moved.signed_bytes());
    Ok(moved)
}
