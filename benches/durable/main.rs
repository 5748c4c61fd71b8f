//! Durable throughput of many writers: processes that all write at once, and each waits until what it wrote is on disk.
//!
//! ```text
//! cargo bench --bench durable -- [--writers 1,4,16] [--rounds 3] [--seconds 4] [--modes library,process,loose,packed,grouped,git]
//! ```
//!
//! The same change of the same size (one file more, one file changed, one record, in the layout of a brain of a thousand
//! neurons) by each of these, which take turns in one run on one disk:
//!
//! * `git brain`, as a library in processes that open the brain once, as a host of agents would;
//! * `git brain apply`, a process for each delta;
//! * a lock and libgit2, with its fsync on: loose objects, one pack for each commit, and group commit (`baseline`);
//! * a lock, `git add` and `git commit` with `core.fsync=all` (`baseline`).
//!
//! Git-brain merges what the writers say by type, and records it as a run; the others overwrite files, which loses what two
//! writers say of one neuron at once. Here each writer changes a neuron of its own, so that nothing is lost to them.
//!
//! Prints Markdown: changes a second, the time that each writer waited for each of its own, fsyncs for each where `strace` is there
//! to count them, and whether plain git finds everything that was acknowledged. Nothing is asserted of times. `TMPDIR` says on which disk.
//! `--modes` leaves some of them out: ratios mean something only between those that one run measured.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

mod baseline;
#[path = "../room/mod.rs"]
mod room;
mod scene;
mod writer;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use scene::{Mode, Scene, Subject};
use writer::Score;

struct Sizes {
    writers: Vec<usize>,
    rounds: usize,
    time: Duration,
    modes: Vec<Mode>,
}

fn main() -> Result<()> {
    let mut sizes =
        Sizes { writers: vec![1, 4, 16], rounds: 3, time: Duration::from_secs(4), modes: Mode::ALL.to_vec() };
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} what?"));
        match arg.as_str() {
            // What this program calls itself with.
            "writer" => return writer::write(&value()?, &value()?, &value()?, &value()?),
            "--writers" => sizes.writers = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--rounds" => sizes.rounds = value()?.parse()?,
            "--seconds" => sizes.time = Duration::from_secs(value()?.parse()?),
            "--modes" => sizes.modes = value()?.split(',').map(Mode::named).collect::<Result<_>>()?,
            _ => bail!(
                "{arg}: --writers 1,4,16, --rounds N, --seconds N, --modes library,process,loose,packed,grouped,git"
            ),
        }
    }
    let scene = Scene::new()?;
    println!("{}", scene.machine()?);
    let most = sizes.writers.iter().copied().max().context("--writers: none")?;
    let subjects: Vec<Subject> = sizes.modes.iter().map(|mode| scene.make(*mode, most)).collect::<Result<_>>()?;
    let mut scores: BTreeMap<(usize, Mode), Score> = BTreeMap::new();
    for round in 0..=sizes.rounds {
        for writers in &sizes.writers {
            for subject in &subjects {
                // The first round fills caches.
                let time = if round == 0 { Duration::from_secs(1) } else { sizes.time };
                let score = writer::race(&scene, subject, *writers, time, false)?;
                eprintln!("… round {round}, {writers} writers, {}: {:.1}/s", subject.mode.label(), score.throughput());
                if round > 0 {
                    scores.entry((*writers, subject.mode)).or_default().add(score);
                }
            }
        }
    }
    for writers in &sizes.writers {
        print(&scene, &subjects, &scores, *writers)?;
    }
    for subject in &subjects {
        println!("- {}: {}", subject.mode.label(), scene.verify(subject)?);
    }
    Ok(())
}

fn print(scene: &Scene, subjects: &[Subject], scores: &BTreeMap<(usize, Mode), Score>, writers: usize) -> Result<()> {
    println!("\n### {writers} writers\n");
    println!(
        "| | changes/s, median of rounds (least–greatest) | library × this | process × this | wait p50 | p99 | max | fsyncs a change | n |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let of = |mode: Mode| scores.get(&(writers, mode)).map_or(f64::NAN, Score::throughput);
    for subject in subjects {
        let Some(score) = scores.get(&(writers, subject.mode)) else { continue };
        let counted = writer::count_fsyncs(scene, subject, writers)?;
        println!(
            "| {} | {} | {:.2} | {:.2} | {} | {} | {} | {} | {} |",
            subject.mode.label(),
            score.span(),
            of(Mode::Library) / score.throughput(),
            of(Mode::Process) / score.throughput(),
            score.wait(0.5),
            score.wait(0.99),
            score.wait(1.0),
            counted.map_or("not counted: no strace".to_owned(), |count| format!("{count:.1}")),
            score.count(),
        );
    }
    println!();
    Ok(())
}
