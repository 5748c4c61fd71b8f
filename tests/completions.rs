//! Completion and manual pages: the answers to shells that ask, and the pages that the program writes.

#![cfg(unix)]

use std::path::Path;

use serde_json::json;

use crate::sandbox::{Sandbox, create, delta};

/// The candidates of the last word, as fish is told them.
fn completed(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let mut args = vec!["--", "git-brain"];
    args.extend(words);
    let output =
        sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &args).env("BRAIN_COMPLETE", "fish").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    told.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn completion_knows_commands_options_values_runs_and_agents() {
    let sandbox = Sandbox::new();
    let waiting = sandbox.apply(&delta(json!([create("tea")])), &["--no-merge"]);
    let run = waiting["run"].as_str().unwrap();
    assert_eq!(completed(&sandbox, &["appr"]), ["approve"]);
    assert_eq!(completed(&sandbox, &["recall", "--sin"]), ["--since"]);
    assert_eq!(completed(&sandbox, &["goal", "a"]), ["add"]);
    assert_eq!(completed(&sandbox, &["completions", "zs"]), ["zsh"]);
    assert!(completed(&sandbox, &["approve", ""]).contains(&run.to_owned()));
    assert_eq!(completed(&sandbox, &["reject", &run[..6]]), [run]);
    assert_eq!(completed(&sandbox, &["log", "--agent", "perc"]), ["perception"]);
    assert!(!completed(&sandbox, &[""]).iter().any(|name| name == "merge-driver"), "a hidden command is offered");
    // Of another folder, and where there is no brain.
    let here = sandbox.dir().display().to_string();
    let elsewhere = Sandbox::empty();
    assert_eq!(completed(&elsewhere, &["-C", &here, "reject", &run[..6]]), [run]);
    assert_eq!(completed(&elsewhere, &["reject", &run[..6]]), [""; 0]);
}

#[test]
fn completion_is_asked_for_by_the_variable_and_words_alone() {
    let sandbox = Sandbox::empty();
    let output = sandbox
        .command(env!("CARGO_BIN_EXE_git-brain"), &["--version"])
        .env("BRAIN_COMPLETE", "fish")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("git-brain "), "{output:?}");
    let words = ["--", "git-brain", "appr"];
    let output =
        sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &words).env("BRAIN_COMPLETE", "tcsh").output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn scripts_ask_the_program_and_have_a_function_for_git() {
    let sandbox = Sandbox::empty();
    let script = |shell: &str| sandbox.brain(&["completions", shell]).exits(0).out;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = script(shell);
        assert!(text.contains("BRAIN_COMPLETE") && text.len() < 4096, "{shell}: {text}");
    }
    assert!(script("bash").contains("_git_brain()"));
    let zsh = script("zsh");
    let mut lines = zsh.lines();
    assert_eq!(lines.next(), Some("#compdef git-brain"));
    assert!(lines.next().is_some_and(|line| line.starts_with("#description ")), "{zsh}");
}

#[test]
fn man_writes_a_page_of_every_command() {
    let sandbox = Sandbox::empty();
    let folder = sandbox.path("share/man/man1");
    let told = sandbox.brain(&["man", &folder]).exits(0).out;
    let pages: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    assert!(told.contains(&format!("{} manual pages", pages.len())), "{told}");
    for command in git_brain::cli::help::command().get_subcommands().filter(|c| !c.is_hide_set()) {
        assert!(pages.contains(&format!("git-brain-{}.1", command.get_name())), "{}", command.get_name());
    }
    assert!(pages.contains(&"git-brain.1".to_owned()) && pages.contains(&"git-brain-goal-add.1".to_owned()));
    // Written again, nothing is added or left half-written beside.
    let report = sandbox.json(&["man", &folder]);
    assert_eq!(report["pages"].as_array().unwrap().len(), pages.len());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), pages.len());
    let error = sandbox.brain(&["man", &format!("{folder}/git-brain.1")]).exits(2).err;
    assert!(error.contains("git-brain.1"), "{error}");
    if Path::new("/usr/bin/man").exists() {
        let page = format!("{folder}/git-brain-recall.1");
        let output =
            sandbox.command("man", &["-l", &page]).env("MANPAGER", "cat").env("MANWIDTH", "100").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success() || text.contains("git brain recall who likes green tea"), "{text}");
    }
}
