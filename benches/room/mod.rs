//! A room of a benchmark's own: a temporary folder, and child processes that see nothing of the user's configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

/// A folder for everything, with a home of its own; it goes away with the benchmark.
pub struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("git-brain-bench-").tempdir()?;
        std::fs::create_dir(folder.path().join("home"))?;
        Ok(Self { folder })
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program with nothing of the user's configuration, and nothing to read.
    pub fn program(&self, program: impl AsRef<OsStr>, dir: &Path) -> Command {
        let mut command = Command::new(program);
        clean(&mut command);
        command.current_dir(dir).env("HOME", self.path("home")).stdin(Stdio::null());
        command
    }
}

/// Takes everybody's configuration away from a command.
pub fn clean(command: &mut Command) {
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        if name.starts_with("GIT_") || name.starts_with("BRAIN_") || name.starts_with("XDG_") {
            command.env_remove(key);
        }
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Bench").env(format!("GIT_{role}_EMAIL"), "bench@example.invalid");
    }
}
