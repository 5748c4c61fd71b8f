//! Time that a review takes: the list of runs that wait, and a belief diff, beside plain git on the same branches.
//!
//! ```text
//! cargo bench --bench review -- [neurons=100000] [waiting=1000] [lines=2000] [rounds=9]
//! ```
//!
//! `lines` texts are fed from an origin under review, so that one run waits that makes thousands of neurons. Prints Markdown; nothing is
//! asserted here. Medians of whole processes, in one run on one machine.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

#[path = "../room/mod.rs"]
mod room;
#[allow(dead_code, reason = "shared with the benchmark of writing")]
#[path = "../brain/scene.rs"]
mod scene;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use scene::{Scene, run, timed};

struct Sizes {
    neurons: usize,
    waiting: usize,
    lines: usize,
    rounds: usize,
}

fn main() -> Result<()> {
    let mut sizes = Sizes { neurons: 100_000, waiting: 1_000, lines: 2_000, rounds: 9 };
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').with_context(|| format!("{argument}: not KEY=NUMBER"))?;
        let slot = match key {
            "neurons" => &mut sizes.neurons,
            "waiting" => &mut sizes.waiting,
            "lines" => &mut sizes.lines,
            "rounds" => &mut sizes.rounds,
            _ => bail!("{key}: neurons, waiting, lines, rounds"),
        };
        *slot = value.parse().with_context(|| argument.clone())?;
    }
    let scene = Scene::new()?;
    let dir = scene.make_brain("brain", sizes.neurons, false)?;
    for (key, value) in [("brain.origins.webhook", "review"), ("brain.origins.influence", "0")] {
        timed(&mut scene.git(&dir, &["config", key, value]))?;
    }
    let large = feed(&scene, &dir, sizes.lines)?;
    for number in 0..sizes.waiting {
        hold(&scene, &dir, number, sizes.neurons)?;
    }
    let list = run(&mut scene.brain(&dir, &["review", "--json"]))?.1;
    let list: serde_json::Value = serde_json::from_str(&list)?;
    let waiting = list["waiting"].as_array().map_or(0, Vec::len);
    let diff = run(&mut scene.brain(&dir, &["review", &large, "--json", "--no-questions"]))?.1;
    let diff: serde_json::Value = serde_json::from_str(&diff)?;
    let changes = diff["reviews"][0]["neurons"].as_array().map_or(0, Vec::len);
    println!("{} neurons, {waiting} runs wait, the largest changes {changes}.\n", sizes.neurons);
    println!("| | ms | beside plain git |\n|---|---|---|");
    let median = |make: &dyn Fn() -> Command| -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..sizes.rounds {
            times.push(timed(make().stdout(Stdio::piped()))?.as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    };
    let small = list["waiting"][waiting - 1]["run"].as_str().context("a run")?.to_owned();
    let branch = format!("agents/perception/{large}");
    let of = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let (scene, dir) = (&scene, &dir);
        move || scene.brain(dir, &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let log = median(&|| scene.git(&dir, &["log", "--no-walk", "--branches=agents/*", "--format=%s%n%b"]))?;
    let patch = median(&|| scene.git(&dir, &["diff", &format!("wake...{branch}")]))?;
    for (what, milliseconds, beside) in [
        ("`review`: the list", median(&of(&["review"]))?, Some(("git log of all branches", log))),
        ("`review RUN`, a small run", median(&of(&["review", &small]))?, None),
        ("the same, `--no-questions`", median(&of(&["review", &small, "--no-questions"]))?, None),
        ("`review RUN`, the largest", median(&of(&["review", &large]))?, None),
        ("the same, `--no-questions`", median(&of(&["review", &large, "--no-questions"]))?, None),
        (
            "the same, `--no-questions --all`",
            median(&of(&["review", &large, "--no-questions", "--all"]))?,
            Some(("git diff", patch)),
        ),
    ] {
        let ratio = beside.map(|(name, time)| format!("{:.2} of {name} ({time:.0} ms)", milliseconds / time));
        println!("| {what} | {milliseconds:.0} | {} |", ratio.unwrap_or_default());
    }
    Ok(())
}

/// Feeds texts from an origin under review, and returns the run that waits.
fn feed(scene: &Scene, dir: &Path, lines: usize) -> Result<String> {
    let text: String = (0..lines)
        .map(|line| {
            format!(
                "{{\"text\": \"Person{line} from Town{} keeps {} blue lamps in the Hall{line}.\"}}\n",
                line % 97,
                line + 2
            )
        })
        .collect();
    let file = scene.room.path("texts.jsonl");
    std::fs::write(&file, text)?;
    let file = file.display().to_string();
    timed(&mut scene.brain(dir, &["feed", "--origin", "webhook", "--file", &file]))?;
    let list = run(&mut scene.brain(dir, &["review", "--json"]))?.1;
    let list: serde_json::Value = serde_json::from_str(&list)?;
    let largest = list["waiting"][0]["run"].as_str().context("no run waits: were the texts perceived?")?;
    Ok(largest.to_owned())
}

/// One run of a few operations that waits.
fn hold(scene: &Scene, dir: &Path, number: usize, neurons: usize) -> Result<()> {
    let id = |at: usize| scene::id(at % neurons);
    let document = serde_json::json!({"agent": "memory", "prediction": {"text": "it holds", "value": 0.6}, "ops": [
        {"op": "activate", "id": id(number * 7), "strength": 0.5},
        {"op": "activate", "id": id(number * 7 + 3), "strength": 0.25},
        {"op": "connect", "from": id(number * 7), "to": id(number * 13 + 5), "type": "feeds_into", "weight": 1234},
    ]});
    let file = scene.room.path("delta.json");
    std::fs::write(&file, document.to_string())?;
    timed(&mut scene.brain(dir, &["apply", "--no-merge", &file.display().to_string()])).map(|_| ())
}
