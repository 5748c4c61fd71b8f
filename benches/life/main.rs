//! Does a brain get better by living? A world tells it its days, asks, lets it decide, and says what came; nights pass. Beside it, on the same
//! days, live a brain without one part each, a list of texts with keyword search and a running mean, and chance.
//!
//! ```text
//! cargo bench --bench life -- [days=200] [seeds=10] [first=1] [lives=whole,plain,…] [svg=docs/life.svg]
//! ```
//!
//! Intervals are of the mean over seeds (bootstrap, 95 %). Settings are the defaults. Prints Markdown; nothing is asserted: figures go to
//! `docs/life.md`.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks and writes files")]

mod lived;
mod plot;
#[path = "../experiments/statistics.rs"]
mod statistics;
mod world;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use lived::{Decided, LIVES, Life, Lived, live};
use statistics::{Interval, for_each_seed};
use world::{AGES, About, World};

/// Decisions after which predictions should be good.
const SCHOOLED: usize = 50;

/// A seed's world, and the lives in it.
struct Seed {
    world: World,
    lives: BTreeMap<Life, Lived>,
}

fn main() -> Result<()> {
    let (mut days, mut seeds, mut first) = (200, 10, 1);
    let (mut chosen, mut svg) = (LIVES.to_vec(), None);
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        let (key, value) = arg.split_once('=').with_context(|| format!("{arg}: not key=value"))?;
        match key {
            "days" => days = value.parse().context("days")?,
            "seeds" => seeds = value.parse().context("seeds")?,
            "first" => first = value.parse().context("first")?,
            "svg" => svg = Some(value.to_owned()),
            "lives" => {
                let asked: Vec<&str> = value.split(',').collect();
                chosen.retain(|life| asked.iter().any(|name| life.name().contains(name)));
            }
            _ => bail!("{key}: days, seeds, first, lives or svg"),
        }
    }
    let of_seed = |seed: u64| -> Result<Seed> {
        let world = World::new(seed, days);
        let mut lives = BTreeMap::new();
        for life in &chosen {
            let folder = tempfile::Builder::new().prefix("git-brain-bench-").tempdir()?;
            lives.insert(*life, live(*life, &world, seed, &folder.path().join("brain"))?);
            eprintln!("seed {seed}: {}", life.name());
        }
        Ok(Seed { world, lives })
    };
    let lived = for_each_seed(first..first + seeds, of_seed).into_iter().collect::<Result<Vec<Seed>>>()?;
    println!("{days} days, seeds {first} to {}; what is told in a life: {} texts", first + seeds - 1, texts(&lived));
    for (title, figures) in tables(days) {
        println!("\n| {title} |{}", figures.iter().map(|f| format!(" {} |", f.0)).collect::<String>());
        println!("|---|{}", "---:|".repeat(figures.len()));
        for life in &chosen {
            let cells = figures.iter().map(|(_, figure)| match interval(&lived, *life, figure) {
                Some(interval) => format!(" {interval:.3} |"),
                None => " – |".to_owned(),
            });
            println!("| {} |{}", life.name(), cells.collect::<String>());
        }
    }
    println!("\nThe whole, less each other life, where that is told from 0:\n");
    for life in chosen.iter().filter(|life| **life != Life::Whole) {
        for (_, figures) in tables(days).into_iter().take(2) {
            for (name, figure) in figures {
                if let Some(gain) = gain(&lived, *life, &figure).filter(|gain| gain.low > 0.0 || gain.high < 0.0) {
                    println!("- {name}, less {}: {gain:+.3}", life.name());
                }
            }
        }
    }
    agents(&lived, days);
    if let Some(path) = svg {
        std::fs::write(&path, plot::svg(&lived_by_life(&lived, &chosen), days)).context(path)?;
    }
    Ok(())
}

fn texts(lived: &[Seed]) -> usize {
    lived.iter().map(|seed| seed.world.days.iter().map(|day| day.told.len()).sum::<usize>()).sum::<usize>()
        / lived.len().max(1)
}

fn lived_by_life<'l>(lived: &'l [Seed], chosen: &[Life]) -> Vec<(&'static str, Vec<(&'l World, &'l Lived)>)> {
    let of = |life: &Life| lived.iter().map(|seed| (&seed.world, &seed.lives[life])).collect();
    chosen.iter().map(|life| (life.name(), of(life))).collect()
}

type Figure = Box<dyn Fn(&World, &Lived) -> Option<f64>>;
type Figures = Vec<(String, Figure)>;

fn tables(days: usize) -> Vec<(&'static str, Figures)> {
    let boxed = |name: &str, figure: fn(&World, &Lived) -> Option<f64>| (name.to_owned(), Box::new(figure) as Figure);
    let mut recall: Figures = Vec::new();
    for age in AGES {
        let name = format!("told once, {age} d ago");
        recall.push((name, Box::new(move |w, l| found(w, l, 5, |q| q.about == About::Once && q.age == age))));
    }
    for (name, about) in [
        ("changed since", About::Changed),
        ("a rumour put right", About::Rumour),
        ("a habit", About::Habit),
        ("an effect", About::Effect),
    ] {
        recall.push((format!("{name}, first"), Box::new(move |w, l| found(w, l, 1, |q| q.about == about))));
    }
    recall.push(("all, first 10 days".to_owned(), Box::new(|w, l| found_on(w, l, 5, &|_| true, &|day| day < 10))));
    recall.push((
        "all, last 10 days".to_owned(),
        Box::new(move |w, l| found_on(w, l, 5, &|_| true, &|day| day + 10 >= days)),
    ));
    recall.push((
        "first answers that are lies".to_owned(),
        Box::new(|_, l| {
            let answered = l.answered.len().max(1) as f64;
            Some(l.answered.iter().filter(|answered| answered.lie).count() as f64 / answered)
        }),
    ));
    recall.push(("told once, first".to_owned(), Box::new(|w, l| found(w, l, 1, |q| q.about == About::Once))));
    let decisions = vec![
        boxed("regret, sum", |_, l| Some(l.decided.iter().map(|d| d.regret).sum())),
        boxed("regret after the turn", |w, l| {
            Some(l.decided.iter().filter(|d| d.day >= w.turn).map(|d| d.regret).sum())
        }),
        boxed("error, first 10", |_, l| error(l.decided.iter().take(10))),
        boxed("error after 50", |_, l| error(l.decided.iter().skip(SCHOOLED))),
        boxed("the same but for 20 after the turn", |w, l| {
            let turned: Vec<usize> = (0..l.decided.len()).filter(|at| l.decided[*at].day >= w.turn).take(20).collect();
            let others = l.decided.iter().enumerate().skip(SCHOOLED).filter(|(at, _)| !turned.contains(at));
            error(others.map(|(_, decided)| decided))
        }),
    ];
    let cost = vec![
        boxed("signals", |_, l| Some(l.signals as f64)),
        boxed("unanswered", |_, l| Some(l.unanswered as f64)),
        boxed("runs reviewed", |_, l| Some(l.reviewed.0 as f64)),
        boxed("of them rejected", |_, l| Some(l.reviewed.1 as f64)),
        boxed("KB of text", |_, l| Some(l.text_bytes as f64 / 1000.0)),
        boxed("MB on disk", |_, l| Some(l.disk_bytes as f64 / 1e6)),
        boxed("s a day, first 10", |_, l| mean(l.seconds.iter().take(10).copied())),
        boxed("s a day, last 10", |_, l| mean(l.seconds.iter().rev().take(10).copied())),
    ];
    vec![("recall", recall), ("decisions", decisions), ("cost", cost)]
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn error<'d>(decided: impl Iterator<Item = &'d Decided>) -> Option<f64> {
    mean(decided.filter_map(|decided| decided.error))
}

/// The share of questions with a good answer among the first.
fn found(world: &World, lived: &Lived, first: usize, about: impl Fn(&world::Question) -> bool) -> Option<f64> {
    found_on(world, lived, first, &about, &|_| true)
}

fn found_on(
    world: &World,
    lived: &Lived,
    first: usize,
    about: &dyn Fn(&world::Question) -> bool,
    on: &dyn Fn(usize) -> bool,
) -> Option<f64> {
    let asked = lived.answered.iter().filter(|a| on(a.day) && about(&world.days[a.day].questions[a.question]));
    mean(asked.map(|a| f64::from(u8::from(a.place.is_some_and(|place| place <= first)))))
}

fn values(lived: &[Seed], life: Life, figure: &Figure) -> Option<Vec<f64>> {
    lived.iter().map(|seed| figure(&seed.world, seed.lives.get(&life)?)).collect()
}

fn interval(lived: &[Seed], life: Life, figure: &Figure) -> Option<Interval> {
    Some(Interval::mean(&values(lived, life, figure)?))
}

fn gain(lived: &[Seed], life: Life, figure: &Figure) -> Option<Interval> {
    Some(Interval::gain(&values(lived, Life::Whole, figure)?, &values(lived, life, figure)?))
}

/// On how many days each agent of the whole brain ran.
fn agents(lived: &[Seed], days: usize) {
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    for whole in lived.iter().filter_map(|seed| seed.lives.get(&Life::Whole)) {
        whole.agents.iter().for_each(|(agent, number)| *sums.entry(agent).or_default() += number);
    }
    let shares = sums.iter().map(|(agent, sum)| format!("{agent} {:.2}", *sum as f64 / (days * lived.len()) as f64));
    println!("\nShare of days on which each agent of the whole brain ran: {}", shares.collect::<Vec<_>>().join(", "));
}
