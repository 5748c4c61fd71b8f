//! The `command` cognition: any program as an agent. A snapshot goes in as JSON on standard input, a delta document
//! comes out on standard output.
//!
//! The program gets a cleared environment plus what its definition names, a folder that is not the brain's, a deadline, and a
//! bound on what it may print; and it is confined: see [`confine`]. At the end all that it started is killed. Nothing here
//! runs before the definition is trusted; see `trust`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::confine::{self, Orders};
use crate::limits;
use crate::model::document::Cognition;

/// Variables that every program gets, if they are set: without them most programs cannot start or speak UTF-8.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
/// How much of standard error is kept for the report, bytes.
const STDERR_BYTES: u64 = 4096;
/// Exit codes by which shells say that a program could not be started.
const UNSTARTED: [i32; 2] = [126, 127];
/// Parts of complaints that confinement causes.
const REFUSALS: [&str; 13] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "no such file or directory",
    "cannot open shared object",
    "function not implemented",
    "network is unreachable",
    "could not resolve",
    "name resolution",
    "no module named",
    "eacces",
    "enoent",
    "eperm",
];

/// Why a program gave no delta.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("cannot start {program:?}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// It did not finish in time, and was killed.
    #[error("{program:?} did not finish within {timeout_ms} ms and was killed")]
    Timeout {
        /// The program.
        program: String,
        /// Its deadline.
        timeout_ms: u64,
    },
    /// It printed too much, and was killed.
    #[error("{program:?} printed more than {max} bytes and was killed")]
    Large {
        /// The program.
        program: String,
        /// The bound.
        max: usize,
    },
    /// It said that it failed.
    #[error("{program:?} ended with {status}{stderr}")]
    Failed {
        /// The program.
        program: String,
        /// Its exit status.
        status: String,
        /// The beginning of its standard error, on a line of its own, and what confined it if that may be why; empty if it said nothing.
        stderr: String,
    },
    /// It printed no JSON, and said something on standard error.
    #[error("{program:?} printed no JSON ({source}){stderr}")]
    NoDocument {
        /// The program.
        program: String,
        /// What is wrong with its output.
        source: serde_json::Error,
        /// As of one that failed.
        stderr: String,
    },
}

/// A program as its definition has it.
#[derive(Clone, Debug)]
pub struct Program {
    argv: Vec<String>,
    timeout_ms: u64,
    environment: Vec<String>,
    reads: Vec<String>,
    writes: Vec<String>,
    network: bool,
    cpu_seconds: u64,
    memory_mb: u64,
    /// Files and folders that it does not see.
    hidden: Vec<PathBuf>,
    /// Whoever chose the arguments.
    chosen_by: ChosenBy,
}

/// Whoever chose a program's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChosenBy {
    /// A person, by trusting the definition: it may read the files that they name.
    Person,
    /// A model: they open nothing.
    Model,
}

impl Program {
    /// The program that an agent thinks with; `None` if it thinks otherwise.
    #[must_use]
    pub fn of(cognition: &Cognition) -> Option<Self> {
        let Cognition::Command { argv, timeout_ms, environment, reads, writes, network, cpu_seconds, memory_mb } =
            cognition.clone()
        else {
            return None;
        };
        let (hidden, chosen_by) = (Vec::new(), ChosenBy::Person);
        Some(Self { argv, timeout_ms, environment, reads, writes, network, cpu_seconds, memory_mb, hidden, chosen_by })
    }

    /// A program that a model asks for: it reads and writes in the folders alone, and sees nothing of what is hidden there.
    #[must_use]
    pub fn of_model(argv: Vec<String>, folders: Vec<String>, hidden: Vec<PathBuf>) -> Self {
        Self {
            argv,
            timeout_ms: limits::TOOL_EXEC_MS,
            environment: Vec::new(),
            reads: Vec::new(),
            writes: folders,
            network: false,
            cpu_seconds: 0,
            memory_mb: limits::CHILD_MEMORY_MB,
            hidden,
            chosen_by: ChosenBy::Model,
        }
    }

    /// What confines it, for whoever wonders why it failed.
    fn bounds(&self) -> String {
        let list = |what: &str, paths: &[String]| match paths {
            [] => String::new(),
            paths => format!(", {what} {}", paths.join(" ")),
        };
        let (read, write) = (list("reads", &self.reads), list("writes", &self.writes));
        let reach = if self.network { "has the network" } else { "has no network" };
        let remedy = match self.chosen_by {
            ChosenBy::Person => {
                "if that is why, allow what it lacks by `reads`, `writes`, `environment` or `network` in its definition \
                 (docs/agents.md#confinement). Programs that lie in your home, as those of pyenv, need their whole folder in `reads`"
            }
            ChosenBy::Model => "chain.roots names the folders",
        };
        format!("\nit ran confined: it reads the system{read}{write}, and {reach}; {remedy}")
    }

    /// What it said on standard error, and what confines it where that may be why it failed.
    fn complaint(&self, said: &str, code: Option<i32>) -> String {
        let lower = said.to_lowercase();
        let refused =
            code.is_some_and(|code| UNSTARTED.contains(&code)) || REFUSALS.iter().any(|part| lower.contains(part));
        let bounds = if refused { self.bounds() } else { String::new() };
        let said = if said.trim().is_empty() { String::new() } else { format!("\n{}", said.trim()) };
        said + &bounds
    }

    fn name(&self) -> String {
        self.argv.first().cloned().unwrap_or_default()
    }

    /// What it may, on this machine.
    fn orders(&self, folder: &Path, place: &Place) -> std::io::Result<Orders> {
        let path = std::env::var_os("PATH");
        let named = self.name();
        // A path that is not whole means a file in the program's own folder, which is empty.
        let named = if named.contains('/') { folder.join(named).display().to_string() } else { named };
        let by_name = !named.contains('/');
        let program = confine::locate(&named, path.as_deref())?;
        let here = |listed: &String| match (listed.strip_prefix("~/"), &place.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(listed),
        };
        let home = place.home.as_deref();
        let mut writes: Vec<PathBuf> = self.writes.iter().map(here).collect();
        let named = match self.chosen_by {
            ChosenBy::Person => self.argv.get(1..).unwrap_or_default(),
            ChosenBy::Model if by_name || confine::lies_in(&program, &writes) => &[],
            ChosenBy::Model => {
                let folders = self.writes.join(", ");
                return Err(std::io::Error::other(format!(
                    "it is neither in PATH, nor of the system, nor in {folders}"
                )));
            }
        };
        let mut reads = confine::needs(&program, named, path.as_deref(), &place.private, home);
        reads.extend(self.reads.iter().map(here));
        writes.push(folder.to_owned());
        Ok(Orders {
            program,
            argv: self.argv.clone(),
            folder: folder.to_owned(),
            reads,
            writes,
            hidden: self.hidden.clone(),
            network: self.network,
            cpu_seconds: if self.cpu_seconds == 0 { self.timeout_ms.div_ceil(1000) } else { self.cpu_seconds },
            memory_bytes: self.memory_mb << 20,
            deadline_ms: self.timeout_ms,
            namespaces: confine::Confinement::of_machine().namespaces,
        })
    }
}

/// Where programs run: what of this machine no program is let near unless its definition says so.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The home of who runs the brain.
    pub home: Option<PathBuf>,
    /// The brain's repository: git folder and work tree.
    pub private: Vec<PathBuf>,
}

/// Runs a program with `input` on its standard input and returns the document that it printed, without a code fence around it.
///
/// # Errors
/// It printed no JSON and complained, or as of [`output_of`].
pub async fn think(program: &Program, place: &Place, input: Vec<u8>) -> Result<Vec<u8>, CommandError> {
    let (output, said) = output_of(program, place, input).await?;
    let document = crate::cognition::llm::unfenced(&output);
    let stderr = program.complaint(&said, None);
    match serde_json::from_slice::<serde::de::IgnoredAny>(document) {
        // Whoever reads the document says best what is wrong with it, where that is all there is to say.
        Err(source) if !stderr.is_empty() => Err(CommandError::NoDocument { program: program.name(), source, stderr }),
        _ => Ok(document.to_vec()),
    }
}

/// Runs a program with `input` on its standard input and returns what it printed, and the beginning of what it said on standard error.
///
/// # Errors
/// It could not be started, was killed, or said that it failed.
pub async fn output_of(program: &Program, place: &Place, input: Vec<u8>) -> Result<(Vec<u8>, String), CommandError> {
    let (name, timeout_ms) = (program.name(), program.timeout_ms);
    let start = |source| CommandError::Start { program: name.clone(), source };
    let folder = tempfile::tempdir().map_err(start)?;
    let path = folder.path().canonicalize().map_err(start)?;
    let orders = program.orders(&path, place).map_err(start)?;
    let orders = serde_json::to_string(&orders).map_err(|e| start(e.into()))?;
    let mut command = Command::new(confine::myself().map_err(start)?);
    command
        .args(["confine", &orders])
        .env_clear()
        .env("BRAIN_IN_HOOK", "command")
        .env("HOME", &path)
        .env("TMPDIR", &path)
        .current_dir(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    for name in ALLOWED.iter().copied().chain(program.environment.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let mut child = command.spawn().map_err(start)?;
    let outcome = tokio::time::timeout(Duration::from_millis(timeout_ms), talk(&mut child, input)).await;
    // The pipes are closed by now: that is how the supervisor is told to end what is left.
    let patience = Duration::from_millis(2 * limits::CHILD_KILL_MS);
    let ended = tokio::time::timeout(patience, child.wait()).await;
    if ended.is_err() {
        kill_group(child.id());
    }
    let late = || CommandError::Timeout { program: name.clone(), timeout_ms };
    let (stdout, stderr) = outcome.map_err(|_| late())?.map_err(start)?;
    if stdout.len() > limits::DELTA_BYTES {
        return Err(CommandError::Large { program: name, max: limits::DELTA_BYTES });
    }
    let status = ended.map_err(|_| late())?.map_err(start)?;
    let text = String::from_utf8_lossy(&stderr).into_owned();
    if status.success() {
        return Ok((stdout, text));
    }
    let unstarted = status.code() == Some(i32::from(confine::CANNOT_START));
    if let (true, Some(why)) = (unstarted, text.strip_prefix(confine::VOICE)) {
        return Err(start(std::io::Error::other(program.complaint(why, status.code()).trim().to_owned())));
    }
    let stderr = program.complaint(&text, status.code());
    Err(CommandError::Failed { program: name, status: status.to_string(), stderr })
}

type Said = (Vec<u8>, Vec<u8>);

/// Feeds the program and reads it at the same time, so that neither side waits for the other. Reading stops at the
/// bound, and the pipes are closed when this ends or is dropped.
async fn talk(child: &mut Child, input: Vec<u8>) -> std::io::Result<Said> {
    let mut stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let write = async move {
        if let Some(mut pipe) = stdin.take() {
            // A program that does not read its input may still answer.
            let _ = pipe.write_all(&input).await;
            let _ = pipe.shutdown().await;
        }
    };
    let read_err = async move {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = stderr {
            (&mut pipe).take(STDERR_BYTES).read_to_end(&mut bytes).await?;
            tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
        }
        std::io::Result::Ok(bytes)
    };
    let beside = async { tokio::join!(write, read_err).1 };
    tokio::pin!(beside);
    let read_out = async move {
        let mut bytes = Vec::new();
        if let Some(pipe) = stdout {
            pipe.take(limits::DELTA_BYTES as u64 + 1).read_to_end(&mut bytes).await?;
        }
        std::io::Result::Ok(bytes)
    };
    tokio::pin!(read_out);
    // The supervisor holds both pipes until nothing of the program is left, so that the end of both is the end.
    let mut err = None;
    let out = loop {
        tokio::select! {
            out = &mut read_out => break out?,
            said = &mut beside, if err.is_none() => err = Some(said?),
        }
    };
    if out.len() > limits::DELTA_BYTES {
        return Ok((out, Vec::new()));
    }
    let err = match err {
        Some(err) => err,
        None => beside.await?,
    };
    Ok((out, err))
}

/// Kills what is left of the program's process group.
fn kill_group(leader: Option<u32>) {
    let pid = leader.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // Usually there is nothing left to kill, and that is no error.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}
