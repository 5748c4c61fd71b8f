//! A night as a ratio to reading the network once, measured in one run on one machine.
//!
//! ```text
//! cargo bench --bench sleep -- [--size 10000,100000] [--nights 5]
//! ```
//!
//! For brains of each size: a plain read (every neuron's file is read and parsed, by one thread, and by as many as sleep uses);
//! the first night after the import; then nights after days of 100 runs. Prints Markdown; nothing is asserted.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks and writes files")]

#[path = "../snapshot/network.rs"]
mod network;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use git_brain::brain::{Brain, InitRequest, SleepRequest, SleepState, Source, World};
use git_brain::model::{Neuron, layout};
use git_brain::store::Store;

/// Runs of a day.
const RUNS: usize = 100;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let flag = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let nights: usize = flag("--nights").map_or(Ok(5), |text| text.parse()).context("--nights")?;
    println!(
        "| neurons | plain read, 1 thread | plain read, all threads | first night | ÷ | night after {RUNS} runs (median of {nights}) | ÷ 1 thread | ÷ all threads | undo |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for size in flag("--size").map_or("10000,100000", String::as_str).split(',') {
        let neurons: usize = size.parse().with_context(|| format!("--size {size}"))?;
        let folder = tempfile::tempdir()?;
        measure(&brain(&folder.path().join("brain"), neurons)?, neurons, nights)?;
    }
    Ok(())
}

fn brain(dir: &Path, neurons: usize) -> Result<PathBuf> {
    eprintln!("… making a brain of {neurons} neurons");
    let request = InitRequest { dir: dir.to_owned(), in_repo: true, program: "git-brain".to_owned() };
    ensure!(std::process::Command::new("git").args(["init", "-q"]).arg(dir).status()?.success(), "git init");
    let (brain, _) = Brain::init(&request, World::default())?;
    let file = dir.with_extension("json");
    network::write(&file, neurons)?;
    brain.import(&file, false, &mut |_| {})?;
    fs::remove_file(file)?;
    Ok(dir.to_owned())
}

fn measure(dir: &Path, neurons: usize, nights: usize) -> Result<()> {
    eprintln!("… {neurons} neurons");
    let open = || Ok::<_, anyhow::Error>(Brain::open(dir, World::default(), &[])?);
    let alone = median((0..5).map(|_| timed(|| read(dir, 1))).collect::<Result<_>>()?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let together = median((0..5).map(|_| timed(|| read(dir, threads))).collect::<Result<_>>()?);
    let sleep = || {
        let report = open()?.sleep(SleepRequest::default())?;
        ensure!(report.state == SleepState::Slept, "{report:?}");
        Ok(report)
    };
    let first = timed(|| sleep().map(drop))?;
    let mut slept = Vec::new();
    for night in 0..nights {
        day(&open()?, neurons, night)?;
        slept.push(timed(|| sleep().map(drop))?);
    }
    let undo = timed(|| Ok(open()?.undo_sleep(false).map(drop)?))?;
    let night = median(slept);
    println!(
        "| {neurons} | {alone:.0} ms | {together:.0} ms | {first:.0} ms | {:.2} | {night:.0} ms | {:.2} | {:.2} | {undo:.0} ms |",
        first / alone,
        night / alone,
        night / together
    );
    Ok(())
}

/// A day: runs that each touch twenty neurons.
fn day(brain: &Brain, neurons: usize, night: usize) -> Result<()> {
    for run in 0..RUNS {
        let delta = network::run(neurons, night * RUNS + run).to_string();
        let _ = brain.apply(&Source::Text(delta), None, false, false)?;
    }
    Ok(())
}

/// Reads and parses every neuron of wake.
fn read(dir: &Path, threads: usize) -> Result<()> {
    let store = Store::open(dir)?;
    let wake = store.tip(store.wake())?.context("no wake")?;
    let files = store.files(store.tree_of(wake)?, layout::NEURONS)?;
    let share = files.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let shares: Vec<_> = files
            .chunks(share)
            .map(|files| {
                scope.spawn(move || {
                    let store = Store::open(dir)?;
                    for (path, file) in files {
                        black_box(Neuron::decode(&store.content(file.blob)?, path)?);
                    }
                    Ok(())
                })
            })
            .collect();
        shares.into_iter().try_for_each(|share| share.join().expect("a reader"))
    })
}

fn timed(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
