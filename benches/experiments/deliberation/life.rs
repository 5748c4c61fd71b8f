//! Conversations with questions: what cycles of deliberation change of the answers, beside merging every proposal and merging none.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Draw, brain};

/// Answers that count.
const ANSWERS: &str = "10";
const RESAMPLES: usize = 2000;

/// The part of a cycle that lands.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Nothing,
    Fruit,
    Everything,
}

#[derive(Deserialize)]
struct Set {
    worlds: Vec<World>,
}

#[derive(Deserialize)]
struct World {
    rows: Vec<Value>,
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    gold: Vec<String>,
}

/// What one way of merging came to on all worlds.
#[derive(Default)]
struct Figures {
    recall: Vec<f64>,
    examined: usize,
    merged: usize,
    seconds: f64,
}

/// Lives through a set in each of three ways and prints a table.
pub fn live(set: &Path, cycles: usize) -> Result<()> {
    let set: Set = serde_json::from_slice(&std::fs::read(set)?)?;
    let ways = [("none", Way::Nothing), ("by the gates", Way::Fruit), ("every proposal", Way::Everything)];
    let mut all: [Figures; 3] = Default::default();
    for world in &set.worlds {
        for ((_, way), figures) in ways.iter().zip(&mut all) {
            lived(world, *way, cycles, figures)?;
        }
    }
    println!("{} worlds, {} questions, {cycles} cycles each.\n", set.worlds.len(), all[0].recall.len());
    println!(
        "| merged | recall@{ANSWERS} | against none, with 95 % | examined | merged | s a cycle |\n|---|---|---|---|---|---|"
    );
    let none = all[0].recall.clone();
    for ((name, _), figures) in ways.iter().zip(&all) {
        let mean = figures.recall.iter().sum::<f64>() / figures.recall.len().max(1) as f64;
        let gains: Vec<f64> = figures.recall.iter().zip(&none).map(|(with, without)| with - without).collect();
        let (gain, low, high) = interval(&gains);
        println!(
            "| {name} | {mean:.3} | {gain:+.3} ({low:+.3} to {high:+.3}) | {} | {} | {:.1} |",
            figures.examined,
            figures.merged,
            figures.seconds / (cycles * set.worlds.len()).max(1) as f64
        );
    }
    Ok(())
}

/// One world in one way.
fn lived(world: &World, way: Way, cycles: usize, figures: &mut Figures) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("brain");
    brain(Path::new("."), &["init", "--no-hooks", dir.to_str().context("a path")?], None)?;
    let rows: String = world.rows.iter().map(|row| row.to_string() + "\n").collect();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(&file, rows)?;
    brain(&dir, &["feed", "--file", file.to_str().context("a path")?], None)?;
    if way != Way::Nothing {
        let agent = json!({
            "name": "gardener", "role": "Finds what follows from what.", "trigger": {"any": [{"signal": "any"}]},
            "cognition": {"kind": "deliberation", "goal": "recall"},
            "capabilities": {"operations": ["deliberate", "connect"], "types": ["semantic", "episodic"]},
        });
        std::fs::write(dir.join("agents/gardener.json"), agent.to_string())?;
        commit(&dir, &["agents"])?;
        let start = Instant::now();
        let told =
            brain(&dir, &["deliberate", "recall", "--agent", "gardener", "--cycles", &cycles.to_string()], None)?;
        figures.seconds += start.elapsed().as_secs_f64();
        let results = told["cycles"]
            .as_array()
            .context("cycles")?
            .iter()
            .flat_map(|cycle| cycle["results"].as_array().into_iter().flatten());
        for result in results {
            figures.examined += 1;
            figures.merged += usize::from(way == Way::Fruit && result["landed"] == true);
        }
        if way == Way::Everything {
            for payload in payloads(&dir)? {
                figures.merged += usize::from(brain(&dir, &["apply", "-"], Some(&payload)).is_ok());
            }
        }
    }
    for asked in world.questions.iter().filter(|asked| !asked.gold.is_empty()) {
        let found = brain(&dir, &["recall", "--top", ANSWERS, &asked.question], None)?;
        let sources = found["results"].as_array().context("results")?.iter().filter_map(|one| one["source"].as_str());
        let sources: Vec<&str> = sources.map(|source| source.split('#').next().unwrap_or(source)).collect();
        let there = asked.gold.iter().filter(|gold| sources.contains(&gold.as_str())).count();
        figures.recall.push(there as f64 / asked.gold.len() as f64);
    }
    Ok(())
}

/// The deltas of all results, as the cycles' files have them.
fn payloads(dir: &Path) -> Result<Vec<String>> {
    let git = |args: &[&str]| -> Result<String> {
        let output = std::process::Command::new("git").arg("-C").arg(dir).args(args).output()?;
        anyhow::ensure!(output.status.success(), "git {args:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let mut found = Vec::new();
    for path in git(&["ls-tree", "-r", "--name-only", "wake", "network/deliberations"])?.lines() {
        let cycle: Value = serde_json::from_str(&git(&["show", &format!("wake:{path}")])?)?;
        let results = cycle["cycle"]["results"].as_array().into_iter().flatten();
        found.extend(results.map(|result| result["proposal"]["payload"].to_string()));
    }
    Ok(found)
}

/// Commits files of main and trusts them.
pub fn commit(dir: &Path, files: &[&str]) -> Result<()> {
    for args in [&[&["add", "--sparse"][..], files].concat()[..], &["commit", "-qm", "settings"]] {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(dir).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(args);
        anyhow::ensure!(git.status()?.success(), "git {args:?}");
    }
    brain(dir, &["trust", "--yes"], None).map(drop)
}

/// The mean with its 95 % interval, by the bootstrap.
pub fn interval(values: &[f64]) -> (f64, f64, f64) {
    let mut draw = Draw(7);
    let count = values.len().max(1);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| (0..count).map(|_| values[draw.of(count)]).sum::<f64>() / count as f64).collect();
    means.sort_by(f64::total_cmp);
    (values.iter().sum::<f64>() / count as f64, means[RESAMPLES / 40], means[RESAMPLES - RESAMPLES / 40 - 1])
}
