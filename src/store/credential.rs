//! Keys that people keep with git, `git credential fill`, or with another program.

use super::plumbing::LOCAL_VARIABLES;
use super::{StoreError, child};

/// What git's credential helpers have for an address (`https://HOST/…`); `None`: nothing. Nobody is asked on the terminal.
///
/// It runs outside any repository: which helpers there are is the user's configuration, never a brain's.
pub fn credential(address: &str) -> Result<Option<String>, StoreError> {
    let mut git = std::process::Command::new("git");
    for name in LOCAL_VARIABLES {
        git.env_remove(name);
    }
    git.env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("SSH_ASKPASS", "")
        .env("GIT_CEILING_DIRECTORIES", "/");
    git.current_dir("/").args(["--no-pager", "-c", "core.askPass=", "credential", "fill"]);
    let ended = child::ended(&mut git, format!("url={address}\n\n").as_bytes());
    let ended = ended.map_err(StoreError::file("git credential fill"))?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let password = said.lines().find_map(|line| line.strip_prefix("password=")).filter(|key| !key.is_empty());
    Ok(password.filter(|_| ended.status.success()).map(str::to_owned))
}

/// Output of a program of the user that keeps keys, such as `gh auth token`; `None`: there is no such program, or it has none. It
/// runs outside any repository, and nobody is asked.
pub fn printed_by(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = std::process::Command::new(program);
    for name in LOCAL_VARIABLES {
        command.env_remove(name);
    }
    command.env("GH_PROMPT_DISABLED", "1").env("NO_PROMPT", "1").env("NO_COLOR", "1").current_dir("/").args(arguments);
    let ended = child::ended(&mut command, b"").ok().filter(|ended| ended.status.success())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Some print all of it on standard error; beside an answer that only has warnings.
    Some(if ended.stdout.trim_ascii().is_empty() { text(&ended.stderr) } else { text(&ended.stdout) })
}
