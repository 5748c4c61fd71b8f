//! Recall against keyword search on sets: a table a set, and the variants of the method beside each other.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::{Context, Result, bail};
use git_brain::activation::recall::{Filters, Method, answer_by, closeness};
use git_brain::model::{Settings, Stamp};

use super::Wanted;
use super::sets::{self, Figures, Ready, Set};

/// The method with `KEY=VALUE` of the command line.
pub fn method(changes: &str) -> Result<(Method, Settings)> {
    let (mut method, mut settings) = (Method::default(), Settings::default());
    for change in changes.split(',').filter(|change| !change.is_empty()) {
        let (key, value) = change.split_once('=').context("KEY=VALUE")?;
        let number: f64 = value.parse().context("a number")?;
        match key {
            "fan" => settings.recall.fan = number,
            "salience" => settings.recall.salience_exponent = number,
            _ if method.set(key, number) => {}
            _ => bail!("{key}: no part of the method"),
        }
    }
    Ok((method, settings))
}

fn ask(
    set: &[Ready],
    half: Option<usize>,
    (method, settings): &(Method, Settings),
    now: Stamp,
    log: &mut Option<std::fs::File>,
) -> Vec<Figures> {
    let mut figures = Vec::new();
    for ready in set {
        let index = ready.snapshot.index();
        for question in chosen(ready, half) {
            let filters = Filters { top: Some(100), meaning: question.meaning.clone(), ..Filters::default() };
            let found = answer_by(&index, &question.text, now, settings, &filters, method);
            let items =
                found.iter().filter_map(|found| ready.held.get(&found.id)).map(|(s, t)| (s.as_str(), t.as_str()));
            let of = Figures::of(items, &question.gold);
            if let Some(log) = log {
                let _ = writeln!(
                    log,
                    "\n## {:.2} {:.2} | controls {:?} | {}   gold {:?}",
                    of.at10,
                    of.within[1],
                    question.controls.iter().map(|(_, f)| f.at10).collect::<Vec<_>>(),
                    question.text,
                    question.gold
                );
                for found in found.iter().take(10) {
                    let (source, text) = ready.held.get(&found.id).cloned().unwrap_or_default();
                    let way: Vec<String> = found
                        .path
                        .iter()
                        .map(|w| {
                            format!(
                                "{}:{}:{:.2}",
                                if w.via == "cue" || w.via == "name" { w.at.as_str() } else { "" },
                                w.via,
                                w.activation
                            )
                        })
                        .collect();
                    let _ = writeln!(
                        log,
                        "  {:8} {:6.2} {way:?} {:?} ({})",
                        source,
                        found.activation,
                        text.chars().take(100).collect::<String>(),
                        text.len()
                    );
                }
            }
            figures.push(of);
        }
    }
    figures
}

/// Every question, or every second one: one half is for choosing constants, the other for reporting.
fn chosen(ready: &Ready, half: Option<usize>) -> impl Iterator<Item = &sets::Question> {
    ready.questions.iter().enumerate().filter(move |(at, _)| half.is_none_or(|half| at % 2 == half)).map(|(_, q)| q)
}

fn mean(figures: &[Figures], of: impl Fn(&Figures) -> f64) -> f64 {
    figures.iter().map(of).sum::<f64>() / figures.len().max(1) as f64
}

type Figure = (&'static str, fn(&Figures) -> f64);
const SHOWN: [Figure; 2] = [("@10", |f| f.at10), ("E1000", |f| f.within[1])];

/// Prints a table of the sets, a row a variant.
pub fn measure(wanted: &Wanted, now: Stamp) -> Result<()> {
    let mut log = wanted.log.as_ref().map(std::fs::File::create).transpose()?;
    let variants: Vec<String> = std::iter::once(String::new()).chain(wanted.with.iter().cloned()).collect();
    let variants: Vec<(String, (Method, Settings))> =
        variants.into_iter().map(|text| Ok((text.clone(), method(&text)?))).collect::<Result<_>>()?;
    let mut rows: BTreeMap<usize, Vec<(String, [f64; 2])>> = BTreeMap::new();
    for file in &wanted.sets {
        let (set, ready): (Set, Vec<Ready>) = sets::read(file, now)?;
        let mut controls: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
        for (name, figures) in ready.iter().flat_map(|ready| chosen(ready, wanted.half)).flat_map(|q| &q.controls) {
            controls.entry(name).or_default().push(*figures);
        }
        println!("\n{} ({}, {})", set.name, set.kind, set.language);
        if ready.iter().any(|ready| !ready.unanswerable.is_empty()) {
            separate(&ready, wanted.half, now);
            continue;
        }
        for (name, figures) in &controls {
            line(name, figures);
        }
        for (at, (name, variant)) in variants.iter().enumerate() {
            let found = ask(&ready, wanted.half, variant, now, &mut log);
            line(if name.is_empty() { "recall" } else { name }, &found);
            rows.entry(at).or_default().push((set.name.clone(), SHOWN.map(|(_, of)| mean(&found, of))));
            for (figure, of) in SHOWN.iter().filter(|_| name.is_empty()) {
                let (control, theirs) =
                    controls.iter().max_by(|a, b| mean(a.1, of).total_cmp(&mean(b.1, of))).context("a control")?;
                let differences: Vec<f64> = found.iter().zip(theirs).map(|(a, b)| of(a) - of(b)).collect();
                let [gain, low, high] = sets::interval(&differences);
                println!(
                    "  {figure} over {control}: {gain:+.3} [{low:+.3}, {high:+.3}]{}",
                    if low < -0.02 { "  <<" } else { "" }
                );
            }
        }
    }
    println!();
    if rows.is_empty() {
        return Ok(());
    }
    let head: Vec<String> = rows[&0].iter().map(|(name, _)| format!("{:>13.13}", name)).collect();
    println!("{:28} {:>13} {}", "", "mean", head.join(" "));
    for (at, (name, _)) in variants.iter().enumerate() {
        let n = rows[&at].len() as f64;
        let all = SHOWN
            .iter()
            .enumerate()
            .map(|(k, _)| format!("{:.3}", rows[&at].iter().map(|(_, f)| f[k]).sum::<f64>() / n));
        let cells: Vec<String> = rows[&at].iter().map(|(_, f)| format!("  {:.3}/{:.3}", f[0], f[1])).collect();
        println!(
            "{:28.28}   {} {}",
            if name.is_empty() { "recall" } else { name },
            all.collect::<Vec<_>>().join("/"),
            cells.join(" ")
        );
    }
    Ok(())
}

/// Prints how well closeness separates questions with an answer from unanswerable ones, and from those of another brain.
fn separate(set: &[Ready], half: Option<usize>, now: Stamp) {
    let (method, settings) = (Method::default(), Settings::default());
    let (mut answerable, mut unanswerable, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
    for (at, ready) in set.iter().enumerate() {
        let index = ready.snapshot.index();
        let close = |text: &str| {
            let filters = Filters { top: Some(10), ..Filters::default() };
            let found = answer_by(&index, text, now, &settings, &filters, &method);
            closeness(&index, text, &found)
        };
        answerable.extend(chosen(ready, half).map(|question| close(&question.text)));
        unanswerable.extend(ready.unanswerable.iter().map(|text| close(text)));
        foreign.extend(chosen(&set[(at + 1) % set.len()], half).map(|question| close(&question.text)));
    }
    for (name, others) in [("without an answer", &unanswerable), ("of another brain", &foreign)] {
        let wins: f64 = answerable
            .iter()
            .flat_map(|a| {
                others.iter().map(move |o| {
                    if a > o {
                        1.0
                    } else if a < o {
                        0.0
                    } else {
                        0.5
                    }
                })
            })
            .sum();
        let pairs = (answerable.len() * others.len()).max(1) as f64;
        println!(
            "  {} questions with an answer, {} {name}: area under the curve {:.3}",
            answerable.len(),
            others.len(),
            wins / pairs
        );
        for least in [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5] {
            let below = |list: &[f64]| list.iter().filter(|x| **x < least).count() as f64 / list.len().max(1) as f64;
            println!(
                "    below {least:.2}: {:.3} of those with an answer, {:.3} of the others",
                below(&answerable),
                below(others)
            );
        }
    }
}

fn line(name: &str, figures: &[Figures]) {
    let within: Vec<String> = (0..3).map(|k| format!("{:.3}", mean(figures, |f| f.within[k]))).collect();
    let until: Vec<String> = (0..3).map(|k| format!("{:.3}", mean(figures, |f| f.until[k]))).collect();
    println!(
        "  {name:28.60} @5 {:.3}  @10 {:.3}  E {}  (stopping {})",
        mean(figures, |f| f.at5),
        mean(figures, |f| f.at10),
        within.join(" "),
        until.join(" ")
    );
}
