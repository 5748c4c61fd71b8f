//! The recipe of docs/recipes/search: parameters of a small program, judged by gates in Python, beside random search with as many tries.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::life::{commit, interval};
use crate::{Draw, brain};

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recipes/search");

/// So many tasks, each with so many cycles.
pub fn search(tasks: usize, cycles: usize) -> Result<()> {
    let (mut ours, mut random, mut tries, mut seconds) = (Vec::new(), Vec::new(), 0, 0.0);
    for task in 1..=tasks {
        let goal = format!("search-{task}");
        let folder = tempfile::tempdir()?;
        let dir = folder.path().join("brain");
        brain(Path::new("."), &["init", "--no-hooks", dir.to_str().context("a path")?], None)?;
        let settings = format!(
            "\n[deliberation]\ngardener = \"command\"\nargv = [\"python3\", \"{RECIPE}/propose.py\"]\nskeptic = \"reflex-structural\"\n\
             slots = 1\nhypotheses = 6\nmax_debate_rounds = 0\n\n[deliberation.gates]\nbrain = false\n\n\
             [[deliberation.gate]]\nname = \"known\"\nargv = [\"python3\", \"{RECIPE}/judge.py\", \"known\"]\n\n\
             [[deliberation.gate]]\nname = \"hidden\"\nhidden = true\nargv = [\"python3\", \"{RECIPE}/judge.py\", \"hidden\"]\n"
        );
        let toml = std::fs::read_to_string(dir.join("brain.toml"))? + &settings;
        std::fs::write(dir.join("brain.toml"), toml)?;
        commit(&dir, &["brain.toml"])?;
        let start = std::time::Instant::now();
        let told = brain(&dir, &["deliberate", &goal, "--trees", "holt", "--cycles", &cycles.to_string()], None)?;
        seconds += start.elapsed().as_secs_f64();
        let results = told["cycles"].as_array().context("cycles")?.iter();
        let results: Vec<&Value> =
            results.flat_map(|cycle| cycle["results"].as_array().into_iter().flatten()).collect();
        let figure = |result: &Value, name: &str| {
            let gates = result["gates"].as_array().into_iter().flatten();
            gates.filter(|gate| gate["name"] == name).find_map(|gate| gate["figure"].as_f64())
        };
        let tried: Vec<(f64, f64)> =
            results.iter().filter_map(|result| Some((figure(result, "known")?, figure(result, "hidden")?))).collect();
        ensure!(!tried.is_empty(), "{goal}: nothing was examined");
        let mut draw = Draw(task as u64);
        let mut chance = Vec::new();
        for _ in 0..tried.len() {
            let share = |draw: &mut Draw| draw.of(10_001) as f64 / 10_000.0;
            let (level, trend, season) = (share(&mut draw), share(&mut draw), share(&mut draw));
            let payload = json!({"level": level, "trend": trend, "season": season, "period": 2 + draw.of(15)});
            chance.push((judged(&goal, &payload, "known")?, judged(&goal, &payload, "hidden")?));
        }
        let best = |all: &[(f64, f64)]| all.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |one| one.1);
        tries += tried.len();
        ours.push(best(&tried));
        random.push(best(&chance));
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let ratios: Vec<f64> = ours.iter().zip(&random).map(|(ours, random)| ours / random).collect();
    let (ratio, low, high) = interval(&ratios);
    let better = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    println!(
        "{tasks} tasks, {cycles} cycles, {:.0} tries each, {:.1} s a task.\n",
        tries as f64 / tasks as f64,
        seconds / tasks as f64
    );
    println!("| chosen by the known half | error on the hidden half |\n|---|---|");
    println!("| deliberated | {:.3} |\n| random search | {:.3} |", mean(&ours), mean(&random));
    println!("\nRatio {ratio:.3} ({low:.3} to {high:.3}, 95 % over tasks); lower in {better} of {tasks}.");
    Ok(())
}

fn judged(goal: &str, payload: &Value, part: &str) -> Result<f64> {
    let mut child = Command::new("python3")
        .args([&format!("{RECIPE}/judge.py"), part])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let asked = json!({"goal": goal, "proposal": {"payload": payload}}).to_string();
    child.stdin.take().context("standard input")?.write_all(asked.as_bytes())?;
    let said: Value = serde_json::from_slice(&child.wait_with_output()?.stdout)?;
    said["figure"].as_f64().context("a figure")
}
