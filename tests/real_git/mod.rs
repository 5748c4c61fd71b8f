//! A brain in a temporary folder, worked on with the real program and real git, in an environment of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_git-brain");

pub struct Brain {
    folder: tempfile::TempDir,
}

impl Brain {
    /// A fresh brain with hooks, main checked out with its network.
    pub fn new() -> Self {
        let brain = Self::as_made();
        brain.brain(&["checkout"]);
        brain
    }

    /// The same as `init` leaves it: without the network in the work tree.
    pub fn as_made() -> Self {
        Self::with(&["init", "brain"])
    }

    /// A fresh brain without hooks, so that only plain git acts.
    pub fn without_hooks() -> Self {
        let brain = Self::with(&["init", "--no-hooks", "brain"]);
        brain.brain(&["checkout"]);
        brain
    }

    fn with(init: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let brain = Self { folder };
        let ended = brain.command(PROGRAM, brain.folder.path(), init).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        brain
    }

    /// An empty repository with one commit of code.
    pub fn code() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let brain = Self { folder };
        std::fs::create_dir(brain.path()).unwrap();
        brain.git(&["init", "-q", "-b", "trunk"]);
        brain.write("README", "code\n");
        brain.git(&["add", "."]);
        brain.git(&["commit", "-q", "-m", "code"]);
        brain
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("brain")
    }

    pub fn command(&self, program: &str, dir: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::sandbox::place_of(program));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path()).env("LC_ALL", "C");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ann").env(format!("GIT_{role}_EMAIL"), "ann@example.invalid");
        }
        command.current_dir(dir).args(arguments).stdin(Stdio::null());
        command
    }

    pub fn try_git(&self, arguments: &[&str]) -> Output {
        self.command("git", &self.path(), arguments).output().unwrap()
    }

    /// What git prints; it must succeed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let ended = self.try_git(arguments);
        assert!(ended.status.success(), "git {arguments:?}: {}", said(&ended));
        String::from_utf8(ended.stdout).unwrap()
    }

    pub fn rev(&self, name: &str) -> String {
        self.git(&["rev-parse", name]).trim().to_owned()
    }

    pub fn try_brain(&self, arguments: &[&str]) -> Output {
        self.command(PROGRAM, &self.path(), arguments).output().unwrap()
    }

    /// What the program prints; it must succeed.
    pub fn brain(&self, arguments: &[&str]) -> String {
        let ended = self.try_brain(arguments);
        assert!(ended.status.success(), "git brain {arguments:?}: {}", said(&ended));
        String::from_utf8(ended.stdout).unwrap()
    }

    /// Applies operations as one run of a person that stays on its branch; gives the branch.
    pub fn pending(&self, operations: &str) -> String {
        let mut command = self.command(PROGRAM, &self.path(), &["apply", "--json", "--no-merge", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{{\"ops\": [{operations}]}}").as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{operations}: {}", said(&ended));
        let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        report["branch"].as_str().unwrap().to_owned()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Replaces a text in a file of the work tree.
    pub fn edit(&self, path: &str, old: &str, new: &str) {
        let text = self.read(path);
        assert!(text.contains(old), "{text}");
        self.write(path, &text.replace(old, new));
    }
}

/// All that a process said.
pub fn said(ended: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr))
}
