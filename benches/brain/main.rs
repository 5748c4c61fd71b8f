//! Performance as ratios, measured in one run on one machine: the real program and the real `git` in temp folders.
//!
//! ```text
//! cargo bench --bench brain -- [commit|import|merge|all] [--size small=1000,large=100000,rounds=41,…]
//! cargo bench --bench brain -- [--size …] make DIR        the two brains, kept, to look at with a profiler
//! ```
//!
//! Prints Markdown. Nothing is asserted here: figures go to `docs/benchmarks.md`, what is missed included. `TMPDIR`
//! says where the brains are made; a large one with its work tree takes some gigabytes and 300,000 files.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

mod commit;
mod figures;
mod import;
mod merge;
#[path = "../room/mod.rs"]
mod room;
mod scene;

use anyhow::{Context, Result, bail};
use scene::Scene;

/// What can be set by `--size`.
pub struct Sizes {
    /// Neurons of the small brain.
    pub small: usize,
    /// Neurons of the large brain, and its signals and runs.
    pub large: usize,
    /// Commits of each kind.
    pub rounds: usize,
    /// Runs that wait for the merge.
    pub runs: usize,
    /// Repetitions of the merge.
    pub merges: usize,
    /// Repetitions of the import.
    pub imports: usize,
}

impl Sizes {
    /// 41 rounds, so that the repacking that comes every some thirty commits takes part.
    const DEFAULT: Self = Self { small: 1_000, large: 100_000, rounds: 41, runs: 100, merges: 5, imports: 3 };

    fn set(&mut self, text: &str) -> Result<()> {
        for pair in text.split(',') {
            let (key, value) = pair.split_once('=').with_context(|| format!("--size {pair}: not KEY=NUMBER"))?;
            let slot = match key {
                "small" => &mut self.small,
                "large" => &mut self.large,
                "rounds" => &mut self.rounds,
                "runs" => &mut self.runs,
                "merges" => &mut self.merges,
                "imports" => &mut self.imports,
                _ => bail!("--size {key}: small, large, rounds, runs, merges, imports"),
            };
            *slot = value.parse().with_context(|| format!("--size {pair}"))?;
        }
        match self.small >= 1_000 && self.large >= 1_000 {
            true => Ok(()),
            false => bail!("--size: brains have at least 1000 neurons"),
        }
    }
}

/// Progress, beside the tables.
pub fn note(text: &str) {
    eprintln!("… {text}");
}

fn main() -> Result<()> {
    let mut sizes = Sizes::DEFAULT;
    let mut wanted = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--size" => sizes.set(&args.next().context("--size KEY=NUMBER,…")?)?,
            "all" => wanted.extend(["commit", "import", "merge"].map(str::to_owned)),
            "commit" | "import" | "merge" => wanted.push(arg),
            "make" => return make(&args.next().context("make DIR")?, &sizes),
            _ => bail!("{arg}: commit, import, merge or all, and --size KEY=NUMBER,…"),
        }
    }
    if wanted.is_empty() {
        bail!("what to measure: commit, import, merge or all");
    }
    println!("{}", machine()?);
    for what in wanted {
        // A fresh folder each, so that one measurement's files do not weigh on the next.
        let scene = Scene::new()?;
        match what.as_str() {
            "commit" => commit::measure(&scene, &sizes)?,
            "import" => import::measure(&scene, &sizes)?,
            _ => merge::measure(&scene, &sizes)?,
        }
    }
    Ok(())
}

/// Makes the two brains and leaves them there. Sizes are those given before `make`.
fn make(dir: &str, sizes: &Sizes) -> Result<()> {
    let scene = Scene::new()?;
    let dir = std::path::absolute(dir)?;
    std::fs::create_dir_all(&dir)?;
    for (name, neurons, grown) in [("small", sizes.small, false), ("large", sizes.large, true)] {
        let made = scene.make_brain(&dir.join(name).to_string_lossy(), neurons, grown)?;
        println!("{}", made.display());
    }
    Ok(())
}

fn machine() -> Result<String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let scene = Scene::new()?;
    let git = scene::run(&mut scene.git(&scene.room.path(""), &["--version"]))?.1;
    let brain = scene::run(&mut scene.brain(&scene.room.path(""), &["--version"]))?.1;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let system = (std::env::consts::OS, std::env::consts::ARCH);
    Ok(format!("{cores} cores, {}-{}, {}, {}, load {load} at the start.", system.0, system.1, git.trim(), brain.trim()))
}
