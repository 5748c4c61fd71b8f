//! The commands of `.ci` fail where they have tried nothing: a check that checks nothing must not pass.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A command of `.ci`, with programs of these names that do nothing and succeed.
fn called(command: &str, args: &[&str], stubs: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for stub in stubs {
        let path = folder.path().join(stub);
        std::fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(root.join(command));
    command.args(args).env("PATH", path).env("GIT_BRAIN", env!("CARGO_BIN_EXE_git-brain"));
    command.current_dir(root).output().unwrap()
}

#[test]
fn fuzzing_that_ran_nothing_fails() {
    let ended = called(".ci/fuzz", &["1", "delta"], &["cargo", "cargo-fuzz"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("ran nothing"), "{said}");
    let ended = called(".ci/fuzz", &["1"], &["cargo", "cargo-fuzz"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("there is no target"), "{said}");
}

#[test]
fn a_storm_that_killed_nothing_fails() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("NOT CHECKED: there is no python3");
        return;
    }
    let ended = called(".ci/battery/storm.py", &["--kills", "0"], &[]);
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("nothing was killed"), "{said}");
}
