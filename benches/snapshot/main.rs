//! The snapshot as ratios, measured in one run on one machine.
//!
//! ```text
//! cargo bench --bench snapshot -- [--size 10000,100000] [--keep DIR]
//! ```
//!
//! For brains of each size: making the snapshot of all neurons; opening the kept one and asking a first question, with nothing
//! of it in the page cache and unverified, and again; following one merged run; the whole command `recall`; the memory of
//! one. Prints Markdown; nothing is asserted: figures go to `docs/benchmarks.md`.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

mod network;

use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use git_brain::activation::recall::{Filters, answer};
use git_brain::brain::{Brain, InitRequest, World};
use git_brain::model::{Settings, layout};
use git_brain::store::{Store, TreeId};

const QUESTION: &str = "Where did Velden Harbour meet Tobias?";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let flag = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    if let Some(dir) = flag("--recall-once") {
        return recall_once(Path::new(dir));
    }
    let sizes = flag("--size").map_or("10000,100000", String::as_str);
    let keep = flag("--keep").map(PathBuf::from);
    println!(
        "| neurons | made of all neurons | opened cold, first question | ÷ made | opened warm | opened warm, first question | one run of 20 operations followed | ÷ made | `recall`, whole command | memory of it | snapshot |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for size in sizes.split(',') {
        let neurons: usize = size.parse().with_context(|| format!("--size {size}"))?;
        let folder = if keep.is_none() { Some(tempfile::tempdir()?) } else { None };
        let place = folder.as_ref().map_or_else(|| keep.clone().unwrap_or_default(), |folder| folder.path().to_owned());
        measure(&brain(&place.join(format!("brain-{neurons}")), neurons)?, neurons)?;
    }
    Ok(())
}

/// Makes a brain of so many neurons, or takes the one that was kept.
fn brain(dir: &Path, neurons: usize) -> Result<PathBuf> {
    if !dir.is_dir() {
        eprintln!("… making a brain of {neurons} neurons");
        let request = InitRequest { dir: dir.to_owned(), in_repo: false, program: "git-brain".to_owned() };
        let (brain, _) = Brain::init(&request, World::default())?;
        let file = dir.with_extension("json");
        network::write(&file, neurons)?;
        brain.import(&file, false, &mut |_| {})?;
        fs::remove_file(file)?;
    }
    Ok(dir.to_owned())
}

fn measure(dir: &Path, neurons: usize) -> Result<()> {
    eprintln!("… measuring {neurons} neurons");
    let cache = dir.join(".git/git-brain/cache");
    let settings = Settings::default();
    let now = World::default().now();
    let ask = |snapshot: &git_brain::activation::Snapshot| {
        black_box(answer(&snapshot.index(), QUESTION, now, &settings, &Filters::default()))
    };
    let open = || -> Result<(Store, TreeId)> {
        let store = Store::open(dir)?;
        let wake = store.tip(store.wake())?.context("no wake")?;
        let tree = store.folder(store.tree_of(wake)?, layout::NEURONS)?.context("no neurons")?;
        Ok((store, tree))
    };

    let mut made = Vec::new();
    for _ in 0..3 {
        drop(fs::remove_dir_all(&cache));
        made.push(timed(|| Ok(Brain::open(dir, World::default(), &[])?.snapshot(None)?))?);
    }
    let (store, tree) = open()?;
    let kept = |store: &Store| store.cached(tree).context("the snapshot was not kept");
    let mut cold = Vec::new();
    for _ in 0..5 {
        forget(&cache)?;
        cold.push(timed(|| kept(&store).map(|snapshot| ask(&snapshot)))?);
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(kept(&store)?);
    let warm = (0..201).map(|_| timed(|| kept(&store))).collect::<Result<Vec<_>>>()?;
    let asked = (0..51).map(|_| timed(|| kept(&store).map(|snapshot| ask(&snapshot)))).collect::<Result<Vec<_>>>()?;
    let size = fs::metadata(cache.join(format!("{tree}.base")))?.len();

    let whole = (0..21).map(|_| timed(|| recall(dir))).collect::<Result<Vec<_>>>()?;
    let memory = Command::new(std::env::current_exe()?).args(["--recall-once".as_ref(), dir.as_os_str()]).output()?;
    let memory_kib: f64 = String::from_utf8(memory.stdout)?.trim().parse().context("no memory figure")?;

    let mut followed = Vec::new();
    for round in 0..15 {
        apply(dir, neurons, round)?;
        followed.push(timed(|| Ok(Brain::open(dir, World::default(), &[])?.snapshot(None)?))?);
    }
    let (made, cold, followed) = (median(made), median(cold), median(followed));
    println!(
        "| {neurons} | {made:.0} ms | {cold:.1} ms | {:.2} % | {:.0} µs | {:.1} ms | {followed:.1} ms | {:.2} % | {:.1} ms | {:.0} MB | {:.0} MB |",
        cold / made * 100.0,
        median(warm) * 1e3,
        median(asked),
        followed / made * 100.0,
        median(whole),
        memory_kib / 1024.0,
        size as f64 / 1e6,
    );
    Ok(())
}

/// Milliseconds.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    let made = black_box(work()?);
    let time = start.elapsed();
    drop(made);
    Ok(time.as_secs_f64() * 1e3)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Takes the cache's files out of the page cache, and what says that they were verified.
fn forget(cache: &Path) -> Result<()> {
    for entry in fs::read_dir(cache)? {
        let path = entry?.path();
        if path.extension().is_some_and(|suffix| suffix == "verified") {
            fs::remove_file(&path)?;
            continue;
        }
        let file = File::open(&path)?;
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    Ok(())
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_git-brain")
}

fn recall(dir: &Path) -> Result<()> {
    let mut command = Command::new(program());
    command.arg("-C").arg(dir).args(["recall", "--json", "--top", "10", QUESTION]).stdout(Stdio::null());
    ensure!(command.status()?.success(), "recall failed");
    Ok(())
}

/// A run of twenty operations: it changes ten neurons' saliences and makes a memory with nine edges.
fn apply(dir: &Path, neurons: usize, round: usize) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), network::run(neurons, round).to_string())?;
    let mut command = Command::new(program());
    command.arg("-C").arg(dir).arg("apply").arg(file.path()).stdout(Stdio::null());
    ensure!(command.status()?.success(), "apply failed");
    Ok(())
}

/// One question, then the memory that it took, KiB: the most that this process ever had, without those pages of the snapshot that
/// the kernel mapped around others and nobody touched.
fn recall_once(dir: &Path) -> Result<()> {
    let snapshot = Brain::open(dir, World::default(), &[])?.snapshot(None)?;
    let (now, settings) = (World::default().now(), Settings::default());
    black_box(answer(&snapshot.index(), QUESTION, now, &settings, &Filters::default()));
    let maps = fs::read_to_string("/proc/self/smaps")?;
    let (mut of_snapshot, mut untouched) = (false, 0);
    for line in maps.lines() {
        let value = || line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        match line.split_whitespace().next().unwrap_or_default() {
            "Rss:" if of_snapshot => untouched += value(),
            "Referenced:" if of_snapshot => untouched -= value(),
            head if !head.ends_with(':') => of_snapshot = line.contains("/git-brain/cache/"),
            _ => {}
        }
    }
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
    let most: u64 = line.split_whitespace().nth(1).unwrap_or_default().parse()?;
    println!("{}", most - untouched);
    Ok(())
}
