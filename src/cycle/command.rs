//! The `command` cognition: any program as an agent. A snapshot goes in as JSON on standard input, a delta document
//! comes out on standard output.
//!
//! The program gets a cleared environment plus what its definition names, no path of the brain, a folder that is not
//! the brain's, its own process group, a deadline, and a bound on what it may print. At the end the whole group is
//! killed. Nothing here runs before the definition is trusted; see `trust`.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::limits;

/// Variables that every program gets, if they are set: without them most programs cannot start or speak UTF-8.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
/// How much of standard error is kept for the report, bytes.
const STDERR_BYTES: u64 = 4096;

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
        /// The end of its standard error, on a line of its own; empty if it said nothing.
        stderr: String,
    },
}

/// Runs `argv` with `input` on its standard input and returns what it printed.
pub async fn think(
    argv: &[String],
    environment: &[String],
    timeout_ms: u64,
    input: Vec<u8>,
) -> Result<Vec<u8>, CommandError> {
    let program = argv.first().cloned().unwrap_or_default();
    let start = |source| CommandError::Start { program: program.clone(), source };
    let folder = tempfile::tempdir().map_err(start)?;
    let mut command = Command::new(&program);
    command
        .args(&argv[1..])
        .env_clear()
        .env("BRAIN_IN_HOOK", "command")
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    for name in ALLOWED.iter().copied().chain(environment.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let mut child = command.spawn().map_err(start)?;
    let group = child.id();
    let outcome = tokio::time::timeout(Duration::from_millis(timeout_ms), talk(&mut child, input)).await;
    kill_group(group);
    let late = || CommandError::Timeout { program: program.clone(), timeout_ms };
    let (status, stdout, stderr) = outcome.map_err(|_| late())?.map_err(start)?;
    if stdout.len() > limits::DELTA_BYTES {
        return Err(CommandError::Large { program, max: limits::DELTA_BYTES });
    }
    if !status.success() {
        let text = String::from_utf8_lossy(&stderr);
        let said = if text.trim().is_empty() { String::new() } else { format!("\n{}", text.trim()) };
        return Err(CommandError::Failed { program, status: status.to_string(), stderr: said });
    }
    Ok(stdout)
}

type Said = (std::process::ExitStatus, Vec<u8>, Vec<u8>);

/// Feeds the program and reads it at the same time, so that neither side waits for the other. Reading stops at the
/// bound; a program that prints more is killed by the caller.
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
    let read_out = async move {
        let mut bytes = Vec::new();
        if let Some(pipe) = stdout {
            pipe.take(limits::DELTA_BYTES as u64 + 1).read_to_end(&mut bytes).await?;
        }
        std::io::Result::Ok(bytes)
    };
    let read_err = async move {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = stderr {
            (&mut pipe).take(STDERR_BYTES).read_to_end(&mut bytes).await?;
            tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
        }
        std::io::Result::Ok(bytes)
    };
    let talk = async {
        let ((), out, err) = tokio::join!(write, read_out, read_err);
        std::io::Result::Ok((out?, err?))
    };
    tokio::pin!(talk);
    // The program may leave children behind that hold its pipes: its own end is the end, after a last moment to drain.
    let (out, err) = tokio::select! {
        said = &mut talk => said?,
        status = child.wait() => {
            status?;
            match tokio::time::timeout(Duration::from_millis(500), &mut talk).await {
                Ok(said) => said?,
                Err(_) => return Err(std::io::Error::other("a child of the program keeps its output open")),
            }
        }
    };
    if out.len() > limits::DELTA_BYTES {
        child.start_kill()?;
    }
    Ok((child.wait().await?, out, err))
}

/// Kills what is left of the program's process group.
fn kill_group(leader: Option<u32>) {
    let pid = leader.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // Usually there is nothing left to kill, and that is no error.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, timeout_ms: u64) -> Result<Vec<u8>, CommandError> {
        let argv = ["sh", "-c", script].map(str::to_owned);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(think(&argv, &[], timeout_ms, b"input".to_vec()))
    }

    #[test]
    fn a_program_reads_its_input_and_answers() {
        assert_eq!(run("cat", 20_000).unwrap(), b"input");
        assert_eq!(run("echo out; exec 0<&-", 20_000).unwrap(), b"out\n");
    }

    #[test]
    fn failure_time_and_size_are_told_apart() {
        let failed = run("echo why >&2; exit 3", 20_000).unwrap_err().to_string();
        assert!(failed.contains("exit status: 3") && failed.contains("why"), "{failed}");
        assert!(matches!(run("sleep 60", 300), Err(CommandError::Timeout { .. })));
        assert!(matches!(run("yes", 20_000), Err(CommandError::Large { .. })));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let missing = runtime.block_on(think(&["/nonexistent".to_owned()], &[], 1000, vec![]));
        assert!(matches!(missing, Err(CommandError::Start { .. })));
    }

    #[test]
    fn the_environment_is_cleared_and_no_path_leads_to_the_brain() {
        let seen = String::from_utf8(run("env; pwd", 20_000).unwrap()).unwrap();
        assert!(!seen.contains("CARGO"), "{seen}");
        assert!(!seen.contains(env!("CARGO_MANIFEST_DIR")), "{seen}");
    }

    #[test]
    fn children_of_the_program_die_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; sleep 600", file.display());
        assert!(matches!(run(&script, 800), Err(CommandError::Timeout { .. })));
        let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        // The kernel ends it in its own time, and it may linger as a zombie until it is reaped; its state then is Z.
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
            if status.is_empty() || status.contains(") Z") || status.contains(") X") {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{status}");
            std::thread::yield_now();
        }
    }
}
