//! The writers: this program again, as a process for each, that writes as fast as it can until its time is over.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use git_brain::brain::{Brain, Source, World};
use serde_json::{Value, json};

use crate::baseline::{self, How};
use crate::room::clean;
use crate::scene::{Mode, Scene, Subject, done, own, target};

/// What came of a race.
#[derive(Debug, Default)]
pub struct Score {
    /// Changes a second, a figure for each round.
    throughputs: Vec<f64>,
    waits_ms: Vec<f64>,
}

impl Score {
    pub fn add(&mut self, other: Self) {
        self.throughputs.extend(other.throughputs);
        self.waits_ms.extend(other.waits_ms);
        self.throughputs.sort_by(f64::total_cmp);
        self.waits_ms.sort_by(f64::total_cmp);
    }

    /// The median of the rounds.
    pub fn throughput(&self) -> f64 {
        self.throughputs.get(self.throughputs.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub fn span(&self) -> String {
        let (least, greatest) = (self.throughputs.first(), self.throughputs.last());
        let of = |value: Option<&f64>| value.copied().unwrap_or(f64::NAN);
        format!("{:.1} ({:.1}–{:.1})", self.throughput(), of(least), of(greatest))
    }

    /// A quantile of the waits.
    pub fn wait(&self, quantile: f64) -> String {
        let at = ((self.waits_ms.len() as f64 * quantile).ceil() as usize).clamp(1, self.waits_ms.len().max(1)) - 1;
        format!("{:.0} ms", self.waits_ms.get(at).copied().unwrap_or(f64::NAN))
    }

    pub fn count(&self) -> usize {
        self.waits_ms.len()
    }
}

/// Lets writers write side by side for so long. With `traced`, under strace, whose output goes to a file for each.
pub fn race(scene: &Scene, subject: &Subject, writers: usize, time: Duration, traced: bool) -> Result<Score> {
    let mut children: Vec<Child> =
        (0..writers).map(|writer| start(scene, subject, writer, time, traced)).collect::<Result<_>>()?;
    for child in &mut children {
        let mut ready = [0; 6];
        child.stdout.as_mut().context("a pipe")?.read_exact(&mut ready).context("a writer that did not start")?;
    }
    let began = Instant::now();
    for child in &mut children {
        child.stdin.take().context("a pipe")?.write_all(b"go\n")?;
    }
    let mut waits_ms = Vec::new();
    for mut child in children {
        for line in BufReader::new(child.stdout.take().context("a pipe")?).lines() {
            waits_ms.push(line?.trim().parse::<f64>().context("a wait")?);
        }
        if !child.wait()?.success() {
            bail!("a writer failed");
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut score = Score::default();
    score.add(Score { throughputs: vec![waits_ms.len() as f64 / seconds], waits_ms });
    Ok(score)
}

fn start(scene: &Scene, subject: &Subject, writer: usize, time: Duration, traced: bool) -> Result<Child> {
    let program = std::env::current_exe()?;
    let mut command = match traced {
        false => scene.room.program(&program, &subject.dir),
        true => {
            let mut command = scene.room.program("strace", &subject.dir);
            let trace = scene.room.path(&format!("trace-{writer}"));
            command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync,syncfs,sync_file_range", "-o"]).arg(trace);
            command.arg(&program);
            command
        }
    };
    let acknowledged = subject.acknowledged.join(format!("{writer}"));
    let (writer, time) = (writer.to_string(), time.as_millis().to_string());
    command.args(["writer", subject.mode.name(), &writer, &time]).arg(acknowledged);
    Ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?)
}

/// How many fsyncs an acknowledged change costs, if `strace` is there. A race of its own: tracing slows it down.
pub fn count_fsyncs(scene: &Scene, subject: &Subject, writers: usize) -> Result<Option<f64>> {
    if done(scene.room.program("strace", &subject.dir).arg("-V")).is_err() {
        return Ok(None);
    }
    let changes = race(scene, subject, writers, Duration::from_secs(2), true)?.count();
    let mut fsyncs = 0;
    for writer in 0..writers {
        let trace = std::fs::read_to_string(scene.room.path(&format!("trace-{writer}")))?;
        fsyncs += trace.lines().filter(|line| line.contains("sync") && !line.contains("resumed>")).count();
    }
    Ok(Some(fsyncs as f64 / changes.max(1) as f64))
}

/// What a writer does, in its own process: waits for the word, writes until the time is over, says how long each took.
pub fn write(mode: &str, writer: &str, millis: &str, acknowledged: &str) -> Result<()> {
    let mode = Mode::named(mode)?;
    let (writer, time) = (writer.parse::<usize>()?, Duration::from_millis(millis.parse()?));
    let dir = std::env::current_dir()?;
    let mut change: Box<dyn FnMut(usize) -> Result<String>> = match mode {
        Mode::Library => {
            let brain = Brain::open(&dir, World::from_environment()?, &[])?;
            Box::new(move |turn| {
                let report = brain.apply(&Source::Text(delta(writer, turn)), None, false, false)?;
                match report.merged {
                    true => report.commit.context("a commit"),
                    false => bail!("{} was not merged", report.run),
                }
            })
        }
        Mode::Process => Box::new(move |turn| apply(&dir, &delta(writer, turn))),
        Mode::Loose => baseline::libgit2(&dir, writer, How::Loose)?,
        Mode::Packed => baseline::libgit2(&dir, writer, How::Packed)?,
        Mode::Grouped => baseline::grouped(&dir, writer)?,
        Mode::Git => baseline::git(&dir, writer)?,
    };
    // A number that no earlier writer of this repository had.
    let first = std::fs::read_to_string(acknowledged).map_or(0, |text| text.lines().count());
    let mut told = std::fs::OpenOptions::new().create(true).append(true).open(acknowledged)?;
    println!("ready");
    std::io::stdout().flush()?;
    std::io::stdin().lock().read_line(&mut String::new())?;
    let (began, mut waits) = (Instant::now(), Vec::new());
    let mut turn = first;
    while began.elapsed() < time {
        let asked = Instant::now();
        let commit = change(turn)?;
        waits.push(asked.elapsed());
        writeln!(told, "{commit}")?;
        turn += 1;
    }
    waits.iter().for_each(|wait| println!("{}", wait.as_secs_f64() * 1e3));
    Ok(())
}

/// One neuron more, and one connection changed.
fn delta(writer: usize, turn: usize) -> String {
    let by = if turn.is_multiple_of(2) { 3 } else { -2 };
    let id = format!("w{writer}-{turn}");
    json!({"ops": [
        {"op": "create", "id": id, "concept": format!("the concept of {id}"), "type": "semantic"},
        {"op": "adjust", "from": own(writer), "to": target(writer), "type": "feeds_into", "by": by},
    ]})
    .to_string()
}

fn apply(dir: &Path, delta: &str) -> Result<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-brain"));
    clean(&mut command);
    command.current_dir(dir).args(["--json", "apply", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().context("a pipe")?.write_all(delta.as_bytes())?;
    let output = child.wait_with_output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    match (output.status.success() && answer["merged"] == true, answer["commit"].as_str()) {
        (true, Some(commit)) => Ok(commit.to_owned()),
        _ => bail!("apply: {answer}"),
    }
}
