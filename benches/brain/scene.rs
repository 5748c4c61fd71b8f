//! Temp folders, child processes that are timed, and brains of any size in the real layout.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use git_brain::delta::{Effect, RunRecord};
use git_brain::model::{AgentName, Kind, Link, Neuron, NeuronId, Origin, RunId, Signal, Stamp, json, layout};

use crate::room::Room;

/// 2024-01-01: older than anything that the benchmark applies.
const BEGAN: i64 = 1_704_067_200;
/// Connections of a neuron.
pub const CONNECTIONS: usize = 10;

/// Where everything happens.
pub struct Scene {
    pub room: Room,
}

impl Scene {
    pub fn new() -> Result<Self> {
        Ok(Self { room: Room::new()? })
    }

    pub fn brain(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = self.room.program(env!("CARGO_BIN_EXE_git-brain"), dir);
        command.args(args);
        command
    }

    pub fn git(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = self.room.program("git", dir);
        command.args(args);
        command
    }

    /// Lays out a brain: `neurons` of [`CONNECTIONS`] connections each; with `grown`, also as many signals and run records, and
    /// two commits a run behind wake's tip.
    pub fn make_brain(&self, name: &str, neurons: usize, grown: bool) -> Result<PathBuf> {
        let dir = self.room.path(name);
        timed(&mut self.brain(self.room.folder(), &["init", &dir.to_string_lossy()]))?;
        let mut import = self.git(&dir, &["fast-import", "--quiet", "--depth=0"]);
        let mut child = import.stdin(Stdio::piped()).spawn().context("git fast-import")?;
        let pipe = child.stdin.take().context("a pipe to git fast-import")?;
        write_history(&mut BufWriter::with_capacity(1 << 20, pipe), neurons, grown)?;
        if !child.wait()?.success() {
            bail!("git fast-import failed");
        }
        Ok(dir)
    }
}

/// Runs a command to its end and says how long that took. Its failure ends the benchmark.
pub fn timed(command: &mut Command) -> Result<Duration> {
    run(command).map(|(time, _)| time)
}

/// The same, with what it printed.
pub fn run(command: &mut Command) -> Result<(Duration, String)> {
    let began = Instant::now();
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let time = began.elapsed();
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok((time, String::from_utf8(output.stdout)?))
}

fn write_history(out: &mut impl Write, neurons: usize, grown: bool) -> Result<()> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let agent = AgentName::parse("perception")?;
    for i in 0..neurons {
        let mut neuron = neuron(i, neurons)?;
        let run = run_id(i, &agent);
        neuron.run = Some(run.clone());
        neuron.version = neuron.version.toggled(&run);
        if grown {
            let record = record(&run, &neuron);
            files.push((layout::run(&run), record.encode()));
            let signal = signal(&run, &agent)?;
            files.push((layout::signal(&signal.to, &signal.id), json::pretty(&signal)));
        }
        files.push((layout::neuron(&neuron.id), neuron.encode()));
    }
    files.sort();
    head(out, "wake", 1, &format!("bench: {neurons} neurons\n"))?;
    writeln!(out, "from refs/heads/wake^0")?;
    write_files(out, &files)?;
    writeln!(out)?;
    for i in 0..if grown { neurons } else { 0 } {
        let (run, wake) = (run_id(i, &agent), 1 + 2 * i);
        head(out, "passing", wake + 1, &format!("perception: 1 new neuron\n\nAgent: perception\nRun: {run}\n"))?;
        writeln!(out, "from :{wake}\n")?;
        let text = format!("merge perception\n\nAgent: perception\nRun: {run}\nPolicy: default\nNewest-Run: {run}\n");
        head(out, "wake", wake + 2, &text)?;
        writeln!(out, "from :{wake}\nmerge :{}\n", wake + 1)?;
    }
    writeln!(out, "reset refs/heads/passing\nfrom {}\n\ndone", "0".repeat(40))?;
    Ok(out.flush()?)
}

fn head(out: &mut impl Write, branch: &str, mark: usize, message: &str) -> Result<()> {
    let at = BEGAN + mark as i64;
    write!(out, "commit refs/heads/{branch}\nmark :{mark}\ncommitter Bench <bench@example.invalid> {at} +0000\n")?;
    Ok(write!(out, "data {}\n{message}", message.len())?)
}

/// Files as a fast-import stream has them.
pub fn write_files(out: &mut impl Write, files: &[(String, Vec<u8>)]) -> Result<()> {
    for (path, content) in files {
        write!(out, "M 100644 inline {path}\ndata {}\n", content.len())?;
        out.write_all(content)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The id of the `i`-th neuron.
pub fn id(i: usize) -> String {
    format!("n-{i:06}")
}

/// The neuron that connection `k` of neuron `i` points to: another one, and a different one for each `k`.
pub fn target(i: usize, k: usize, neurons: usize) -> usize {
    (i + 1 + k * (neurons / (CONNECTIONS + 1))) % neurons
}

/// The `i`-th neuron.
pub fn neuron(i: usize, neurons: usize) -> Result<Neuron> {
    let at = Stamp::from_unix(BEGAN);
    let mut neuron = Neuron::new(NeuronId::parse(&id(i))?, format!("concept number {i}"), Kind::Semantic, at);
    neuron.activate(20_000, at);
    for k in 0..CONNECTIONS {
        neuron.set_weight(&NeuronId::parse(&id(target(i, k, neurons)))?, Link::FeedsInto, 20_000 + k as u16);
    }
    Ok(neuron)
}

/// A thousand runs a day.
fn run_id(i: usize, agent: &AgentName) -> RunId {
    RunId::new(BEGAN * 1000 + i as i64 * 86_400, i as u64, agent)
}

fn record(run: &RunId, neuron: &Neuron) -> RunRecord {
    RunRecord {
        run: run.clone(),
        agent: run.agent(),
        trigger: "the queue has stimuli".to_owned(),
        cognition: "reflex:perception".to_owned(),
        at: neuron.created_at,
        depth: 1,
        base: Some("0".repeat(40)),
        origin: Origin::local(),
        stimuli: Vec::new(),
        prediction: None,
        ops: Vec::new(),
        effects: vec![Effect::between(None, neuron)],
        notes: Vec::new(),
        reverts: Vec::new(),
        approves: Vec::new(),
    }
}

fn signal(run: &RunId, from: &AgentName) -> Result<Signal> {
    Ok(Signal {
        id: Signal::id_of(run, 0),
        kind: Kind::Signal,
        from: from.clone(),
        to: AgentName::parse("memory")?,
        run: run.clone(),
        created_at: Stamp::from_unix(BEGAN),
        payload: serde_json::json!({"kind": "episode", "text": "a few words, as messages have them"}),
    })
}
