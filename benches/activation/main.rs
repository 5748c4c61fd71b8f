//! Propagation beside its peers, as ratios, measured in one run on one machine.
//!
//! ```text
//! cargo bench --bench activation -- [--size 10k,100k,1m] [ours] [scipy] [igraph] [alaya]
//! ```
//!
//! Without names, all of them. Needs `python3` with `venv`, and the network for the first run: numpy, scipy, python-igraph and
//! the `alaya` crate are installed by name below `target/`. Prints Markdown; nothing is asserted about time. That scipy finds
//! what we find is.

#![allow(clippy::disallowed_methods, reason = "a benchmark starts processes, reads clocks and writes files")]

mod network;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use git_brain::activation::{ColumnsBuf, Cue, NodeIx, Profile, Propagation, Scratch, propagate_with};
use git_brain::model::Stamp;
use git_brain::model::settings::Activation;

/// Questions to each network, ours and scipy's; fewer where each takes seconds.
const QUESTIONS: usize = 200;
const SLOW_QUESTIONS: usize = 5;
/// How long a peer may store, and how long one of its questions may take before it is the last, seconds.
const PATIENCE: &str = "120";
/// The beams: the usual one, which never cuts in this network, and one that cuts in every question.
const BEAMS: [u32; 2] = [1024, 16];
/// The best that are asked for.
const TOP: usize = 50;
const PARTS: [&str; 4] = ["ours", "scipy", "igraph", "alaya"];

/// Progress, beside the tables.
fn note(text: &str) {
    eprintln!("… {text}");
}

/// A network, its questions, and where it lies for the peers.
struct Scene {
    size: u64,
    columns: ColumnsBuf,
    questions: Vec<Vec<Cue>>,
    folder: PathBuf,
}

fn main() -> Result<()> {
    let mut sizes = vec![10_000, 100_000, 1_000_000];
    let mut parts: Vec<String> = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--size" => {
                sizes = args.next().context("--size 10k,100k,1m")?.split(',').map(size).collect::<Result<_>>()?
            }
            part if PARTS.contains(&part) => parts.push(arg),
            _ => bail!("{arg}: {}, and --size 10k,100k,1m", PARTS.join(", ")),
        }
    }
    if parts.is_empty() {
        parts = PARTS.map(str::to_owned).to_vec();
    }
    let wants = |part: &str| parts.iter().any(|p| p == part);
    let mut scenes = Vec::new();
    for size in sizes {
        scenes.push(Scene::new(size)?);
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{}-{}, load {}",
        std::env::consts::OS,
        std::env::consts::ARCH,
        load.split(' ').next().unwrap_or_default()
    );
    println!(
        "\n| neurons | beam | peer | ms, median (least–greatest) | × ours | questions |\n|---|---|---|---|---|---|"
    );
    let mut firsts = Vec::new();
    for scene in &scenes {
        for beam in BEAMS {
            let ours = compare_peers(scene, beam, wants)?;
            firsts.push((scene.size, beam, ours));
        }
    }
    for beam in BEAMS {
        let mut ours = firsts.iter().filter(|first| first.1 == beam);
        if let (Some((small, _, first)), Some((large, _, last))) = (ours.next(), ours.next_back()) {
            println!("\nFrom {small} to {large} neurons with a beam of {beam}: × {:.2}.", last / first);
        }
    }
    Ok(())
}

/// Prints the rows of one network and one beam; returns our median.
fn compare_peers(scene: &Scene, beam: u32, wants: impl Fn(&str) -> bool) -> Result<f64> {
    let (ours, found) = scene.ours(beam);
    let row = |peer: &str, times: &[f64]| row(scene.size, beam, peer, times, &ours);
    row("git-brain", &ours);
    let cut = found.iter().filter(|found| found.cut.beam > 0).count();
    note(&format!("a beam of {beam} cuts in {cut} of {} questions", found.len()));
    if wants("scipy") {
        for (way, name) in [("lockstep", "scipy, all waves at once"), ("waves", "scipy, wave by wave")] {
            row(name, &scene.python(way, beam)?);
            scene.compare(&found)?;
        }
    }
    // These have no beam.
    if beam == BEAMS[0] && wants("igraph") {
        row("igraph", &scene.python("igraph", beam)?);
    }
    if beam == BEAMS[0] && wants("alaya") && scene.size <= 100_000 {
        row("alaya", &scene.alaya()?);
    }
    // Again, so that it shows how far the machine's other work moves a figure.
    row("git-brain, again", &scene.ours(beam).0);
    Ok(median(&ours))
}

fn size(text: &str) -> Result<u64> {
    let text = text.to_lowercase();
    let (digits, unit) = match (text.strip_suffix('k'), text.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (text.as_str(), 1),
    };
    let number: u64 = digits.parse().with_context(|| format!("--size {text}"))?;
    ensure!((100..=9_999_999).contains(&(number * unit)), "--size {text}: from 100 to 9,999,999 neurons");
    Ok(number * unit)
}

fn median(times_ms: &[f64]) -> f64 {
    let mut times = times_ms.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn row(size: u64, beam: u32, peer: &str, times_ms: &[f64], ours: &[f64]) {
    let (least, most) = times_ms.iter().fold((f64::MAX, 0.0_f64), |(a, b), t| (a.min(*t), b.max(*t)));
    let (middle, count) = (median(times_ms), times_ms.len());
    match count {
        0 => println!("| {size} | {beam} | {peer} | not within {PATIENCE} s | — | 0 |"),
        _ => println!(
            "| {size} | {beam} | {peer} | {middle:.3} ({least:.3}–{most:.3}) | {:.1} | {count} |",
            middle / median(ours)
        ),
    }
}

impl Scene {
    fn new(size: u64) -> Result<Self> {
        let start = Instant::now();
        let columns = network::build(size);
        note(&format!("{size} neurons made, and built into columns, in {:.1} s", start.elapsed().as_secs_f64()));
        let questions = network::questions(size, QUESTIONS);
        let folder = target().join(format!("activation-peers/{size}"));
        let (graph, now) = (columns.graph(), Stamp::from_unix(network::NOW));
        let saliences: Vec<u16> = graph.nodes().map(|node| graph.salience_at(node, now)).collect();
        network::write(&columns.view(), &saliences, &questions, &folder)?;
        Ok(Self { size, columns, questions, folder })
    }

    /// Milliseconds of each question, and what was found.
    fn ours(&self, beam: u32) -> (Vec<f64>, Vec<Propagation>) {
        let (graph, profile) = (self.columns.graph(), Profile::seed(&Activation { beam, ..Activation::default() }));
        let mut scratch = Scratch::default();
        let mut ask = |question: &Vec<Cue>| {
            let start = Instant::now();
            let found = propagate_with(&mut scratch, &graph, question, Stamp::from_unix(network::NOW), &profile);
            std::hint::black_box(best(&found));
            (start.elapsed().as_secs_f64() * 1e3, found)
        };
        self.questions.iter().map(&mut ask).unzip()
    }

    fn python(&self, peer: &str, beam: u32) -> Result<Vec<f64>> {
        let questions = if peer == "igraph" { SLOW_QUESTIONS } else { QUESTIONS };
        note(&format!("{peer}, {} neurons", self.size));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/activation/peers.py");
        // One thread, as ours.
        let threads = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        let mut command = Command::new(python()?);
        command
            .envs(threads.map(|name| (name, "1")))
            .arg(script)
            .arg(peer)
            .arg(&self.folder)
            .args([questions.to_string(), beam.to_string()]);
        times(&mut command)
    }

    fn alaya(&self) -> Result<Vec<f64>> {
        note(&format!("alaya, {} memories", self.size));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/activation/alaya");
        let built = target().join("alaya");
        run(Command::new("cargo").current_dir(folder).args(["build", "--release", "--target-dir"]).arg(&built))?;
        let questions = SLOW_QUESTIONS.to_string();
        times(Command::new(built.join("release/alaya-peer")).arg(&self.folder).args([&questions, PATIENCE]))
    }

    /// That scipy found what we found: the same neurons, and activations that differ by rounding.
    fn compare(&self, ours: &[Propagation]) -> Result<()> {
        let bytes = std::fs::read(self.folder.join("active.f64"))?;
        let numbers: Vec<f64> =
            bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
        let mut theirs = numbers.chunks_exact(2);
        for (at, found) in ours.iter().enumerate() {
            let question: Vec<&[f64]> = theirs.by_ref().take_while(|pair| pair[0] >= 0.0).collect();
            let same = |((node, x), pair): (&(NodeIx, f64), &&[f64])| {
                f64::from(node.0) == pair[0] && (x - pair[1]).abs() <= 1e-9 * x.abs().max(1.0)
            };
            let agree = question.len() == found.activation.len() && found.activation.iter().zip(&question).all(same);
            ensure!(agree, "{} neurons, question {at}: scipy finds something else", self.size);
        }
        note("scipy finds what we find");
        Ok(())
    }
}

/// The strongest, best first.
fn best(found: &Propagation) -> Vec<(NodeIx, f64)> {
    let mut list = found.activation.clone();
    let better = |a: &(NodeIx, f64), b: &(NodeIx, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if list.len() > TOP {
        list.select_nth_unstable_by(TOP, better);
        list.truncate(TOP);
    }
    list.sort_unstable_by(better);
    list
}

fn target() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(default, PathBuf::from)
}

/// The Python of an environment below `target/` that has the peers.
fn python() -> Result<PathBuf> {
    let home = target().join("activation-peers/venv");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let ready = home.join("ready");
    if !ready.exists() {
        note("installing numpy, scipy, python-igraph");
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "numpy", "scipy", "python-igraph"]))?;
        std::fs::write(&ready, "")?;
    }
    Ok(python)
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.stderr(std::process::Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// The times that a peer prints.
fn times(command: &mut Command) -> Result<Vec<f64>> {
    Ok(serde_json::from_str(run(command)?.trim())?)
}
