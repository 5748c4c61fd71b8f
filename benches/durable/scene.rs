//! Repositories to write to, and what plain git finds in them afterwards.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use git_brain::model::{Kind, Link, Neuron, NeuronId, Stamp, layout};
use serde_json::json;

use crate::room::Room;

/// A way to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Library,
    Process,
    Loose,
    Packed,
    Grouped,
    Git,
}

impl Mode {
    pub const ALL: [Self; 6] = [Self::Library, Self::Process, Self::Loose, Self::Packed, Self::Grouped, Self::Git];

    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Process => "process",
            Self::Loose => "loose",
            Self::Packed => "packed",
            Self::Grouped => "grouped",
            Self::Git => "git",
        }
    }

    pub fn named(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.with_context(|| format!("{name} is no mode: library, process, loose, packed, grouped, git"))
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Library => "git-brain, the library in a process that stays",
            Self::Process => "git-brain, `git brain apply` for each delta",
            Self::Loose => "lock + libgit2 commit, loose objects, fsync",
            Self::Packed => "lock + libgit2 commit, one pack each, fsync",
            Self::Grouped => "lock + libgit2 group commit, one pack a group, fsync",
            Self::Git => "lock + git add + git commit, core.fsync=all",
        }
    }

    pub fn is_brain(self) -> bool {
        matches!(self, Self::Library | Self::Process)
    }
}

/// Neurons in each repository before anybody writes.
const NEURONS: usize = 1_000;
/// Most operations of one delta.
const DELTA: usize = 400;

/// Where everything happens.
pub struct Scene {
    pub room: Room,
}

/// A repository that one kind of writers writes to.
pub struct Subject {
    pub mode: Mode,
    pub dir: PathBuf,
    /// Where the writers say what was acknowledged: a commit a line.
    pub acknowledged: PathBuf,
}

/// The neuron that a writer changes again and again.
pub fn own(writer: usize) -> String {
    format!("n-{:06}", writer * 13 % NEURONS)
}

/// The one that it is connected to.
pub fn target(writer: usize) -> String {
    format!("n-{:06}", (writer * 13 + 1) % NEURONS)
}

/// A neuron as the bootstrap's layout has it.
pub fn neuron(id: &str, to: &str, weight: u16) -> Result<Neuron> {
    let at = Stamp::from_unix(1_767_225_600);
    let mut neuron = Neuron::new(NeuronId::parse(id)?, format!("the concept of {id}"), Kind::Semantic, at);
    neuron.set_weight(&NeuronId::parse(to)?, Link::FeedsInto, weight);
    Ok(neuron)
}

impl Scene {
    pub fn new() -> Result<Self> {
        Ok(Self { room: Room::new()? })
    }

    /// Makes the repository of one mode: the same neurons in each.
    pub fn make(&self, mode: Mode, writers: usize) -> Result<Subject> {
        let dir = self.room.path(mode.name());
        let acknowledged = self.room.path(&format!("{}.acknowledged", mode.name()));
        std::fs::create_dir(&acknowledged)?;
        let path = dir.to_string_lossy().into_owned();
        let brain = env!("CARGO_BIN_EXE_git-brain");
        if mode.is_brain() {
            done(self.room.program(brain, self.room.folder()).args(["init", "--no-hooks", &path]))?;
            let ids: Vec<String> = (0..NEURONS).map(|n| format!("n-{n:06}")).collect();
            let creates = ids.iter().map(
                |id| json!({"op": "create", "id": id, "concept": format!("the concept of {id}"), "type": "semantic"}),
            );
            let connects = (0..writers).map(
                |w| json!({"op": "connect", "from": own(w), "to": target(w), "type": "feeds_into", "weight": 20000}),
            );
            let ops: Vec<_> = creates.chain(connects).collect();
            for part in ops.chunks(DELTA) {
                let file = self.room.path("delta.json");
                std::fs::write(&file, json!({"ops": part}).to_string())?;
                done(self.room.program(brain, &dir).args(["apply", &file.to_string_lossy()]))?;
            }
        } else {
            done(self.room.program("git", self.room.folder()).args(["init", "-q", "-b", "wake", &path]))?;
            for n in 0..NEURONS {
                let id = format!("n-{n:06}");
                let file = dir.join(layout::neuron(&NeuronId::parse(&id)?));
                std::fs::create_dir_all(file.parent().context("a folder")?)?;
                std::fs::write(file, neuron(&id, &target(0), 20_000)?.encode())?;
            }
            done(self.room.program("git", &dir).args(["add", "."]))?;
            done(self.room.program("git", &dir).args(["commit", "-q", "-m", "a thousand neurons"]))?;
            // As `init` has it: maintenance at a time of one's choosing.
            done(self.room.program("git", &dir).args(["config", "gc.auto", "0"]))?;
        }
        Ok(Subject { mode, dir, acknowledged })
    }

    /// Looks with plain git whether all that was acknowledged is in wake, and whether the repository is sound.
    pub fn verify(&self, subject: &Subject) -> Result<String> {
        let reachable: BTreeSet<String> = done(self.room.program("git", &subject.dir).args(["rev-list", "wake"]))?
            .lines()
            .map(str::to_owned)
            .collect();
        let (mut acknowledged, mut lost) = (0, 0);
        for file in std::fs::read_dir(&subject.acknowledged)? {
            for commit in std::fs::read_to_string(file?.path())?.lines() {
                acknowledged += 1;
                lost += usize::from(!reachable.contains(commit));
            }
        }
        let began = std::time::Instant::now();
        done(self.room.program("git", &subject.dir).args(["fsck", "--strict", "--no-dangling", "--no-progress"]))?;
        let counted = done(self.room.program("git", &subject.dir).args(["count-objects", "-v"]))?;
        let line = |key: &str| counted.lines().find(|l| l.starts_with(key)).unwrap_or_default().to_owned();
        let (packs, loose) = (line("packs: "), line("count: "));
        let waiting = std::fs::read_dir(subject.dir.join(".git/git-brain/waiting")).map_or(0, Iterator::count);
        Ok(format!(
            "{acknowledged} acknowledged, {lost} of them not in wake; fsck --strict is silent ({:.1} s); {packs}, loose {loose}; {waiting} \
             waiting files left",
            began.elapsed().as_secs_f64()
        ))
    }

    /// What it was measured on.
    pub fn machine(&self) -> Result<String> {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let git = done(self.room.program("git", self.room.folder()).arg("--version"))?;
        let disk = done(self.room.program("df", self.room.folder()).args(["--output=source,fstype", "."]));
        let disk =
            disk.ok().and_then(|text| Some(text.lines().nth(1)?.split_whitespace().collect::<Vec<_>>().join(", ")));
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or_default().to_owned();
        let fsync = self.fsync_ms()?;
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        Ok(format!(
            "{cores} cores, {os}-{arch}, {}, disk: {}; one fsync of a new file of 4 KiB: {fsync:.2} ms in the median; load {load} at the start.",
            git.trim(),
            disk.unwrap_or_else(|| "unknown".to_owned())
        ))
    }

    fn fsync_ms(&self) -> Result<f64> {
        let mut times = Vec::new();
        for n in 0..21 {
            let mut file = std::fs::File::create(self.room.path(&format!("fsync-{n}")))?;
            std::io::Write::write_all(&mut file, &[7; 4096])?;
            let began = std::time::Instant::now();
            file.sync_all()?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// Runs a command to its end; its output. Its failure ends the benchmark.
pub fn done(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
