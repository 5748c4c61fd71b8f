//! Histories with files, commits and refs that cannot be read: the audit names them, and they keep no forgery from being named.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::audit::{agree, audit, lived, named, upon};
use crate::machines::World;

/// A world with a commit on main that an agent's hand made, which each audit has to name; that commit.
fn forged() -> (World, String) {
    let world = lived();
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n# gentler\n";
    let scribe = [("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid")];
    let forged = upon(&world, "main", &[("brain.toml", Some(&settings))], "settings", &scribe);
    (world, forged)
}

/// An object of git from its bytes, whatever they say.
pub fn object(world: &World, kind: &str, bytes: &[u8]) -> String {
    let mut git = Command::new("git")
        .arg("-C")
        .arg(world.dir("a"))
        .args(["hash-object", "-w", "--literally", "-t", kind, "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A commit upon a tip with one more entry at the root of its tree, of any mode.
fn with_entry(world: &World, tip: Option<&str>, entry: &str) -> String {
    let mut tree = tip.map(|tip| world.git("a", &["ls-tree", tip])).unwrap_or_default();
    let name = entry.rsplit('\t').next().unwrap();
    tree = tree.lines().filter(|line| line.rsplit('\t').next() != Some(name)).map(|line| format!("{line}\n")).collect();
    tree += &format!("{entry}\n");
    let mut git = Command::new("git")
        .arg("-C")
        .arg(world.dir("a"))
        .args(["mktree", "--missing"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(tree.as_bytes()).unwrap();
    let tree = String::from_utf8(git.wait_with_output().unwrap().stdout).unwrap().trim().to_owned();
    let parents: Vec<&str> = tip.iter().flat_map(|tip| ["-p", tip]).collect();
    world.git("a", &[&["commit-tree", &tree, "-m", "by hand"][..], &parents].concat())
}

fn moved(world: &World, name: &str, tip: &str) {
    world.git("a", &["update-ref", name, tip]);
}

/// Each form of an audit names the forgery, and ends with 3.
#[track_caller]
fn is_named(world: &World, forged: &str, what: &str) -> Value {
    let report = agree(world, 3);
    assert!(named(&report, forged, "policy-by-agent"), "{what}: {report:#}");
    let sarif = world.try_brain("a", &["audit", "--sarif"]).exits(3);
    assert!(sarif.out.contains(forged), "{what}: {sarif}");
    report
}

#[test]
fn links_and_folders_in_place_of_settings_and_definitions_hide_nothing() {
    let (world, forged) = forged();
    let link = object(&world, "blob", b"/etc/passwd");
    let main = world.tip("a", "main");
    for entry in [format!("120000 blob {link}\tbrain.toml"), format!("160000 commit {forged}\tbrain.toml")] {
        let broken = with_entry(&world, Some(&main), &entry);
        moved(&world, "refs/heads/main", &broken);
        let report = is_named(&world, &forged, &entry);
        assert!(named(&report, &broken, "format"), "{entry}: {report:#}");
    }
    moved(&world, "refs/heads/main", &main);
    let agents = world.git("a", &["rev-parse", "main:agents"]);
    let mut tree = world.git("a", &["ls-tree", &agents]) + "\n";
    tree += &format!("120000 blob {link}\tzealot.json\n");
    let mut git = Command::new("git")
        .arg("-C")
        .arg(world.dir("a"))
        .arg("mktree")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(tree.as_bytes()).unwrap();
    let tree = String::from_utf8(git.wait_with_output().unwrap().stdout).unwrap().trim().to_owned();
    let broken = with_entry(&world, Some(&main), &format!("040000 tree {tree}\tagents"));
    moved(&world, "refs/heads/main", &broken);
    let report = is_named(&world, &forged, "a link among definitions");
    assert!(named(&report, &broken, "format"), "{report:#}");
}

#[test]
fn decisions_that_are_none_hide_nothing_and_no_more_once_they_are_mended() {
    let (world, forged) = forged();
    let reviews = "refs/brain/reviews";
    let link = object(&world, "blob", b"elsewhere");
    let broken = with_entry(&world, None, &format!("120000 blob {link}\t2026"));
    moved(&world, reviews, &broken);
    let report = is_named(&world, &forged, "a link in place of a year");
    assert!(report["findings"].as_array().unwrap().iter().any(|one| one["commit"] == broken), "{report:#}");
    let empty = world.git("a", &["mktree", "--missing"]);
    let mended = world.git("a", &["commit-tree", &empty, "-p", &broken, "-m", "mended"]);
    moved(&world, reviews, &mended);
    is_named(&world, &forged, "mended");
    // A ref that names no commit at all.
    moved(&world, reviews, &link);
    let report = is_named(&world, &forged, "a blob in place of decisions");
    assert!(named(&report, &link, "unreadable"), "{report:#}");
}

#[test]
fn commits_whose_header_does_not_parse_are_named_and_passed() {
    let (world, forged) = forged();
    for branch in ["wake", "main"] {
        let tip = world.tip("a", branch);
        let tree = world.git("a", &["rev-parse", &format!("{branch}^{{tree}}")]);
        let text = format!("tree {tree}\nparent {tip}\nauthor x\ncommitter x\n\nby hand\n");
        let broken = object(&world, "commit", text.as_bytes());
        moved(&world, &format!("refs/heads/{branch}"), &broken);
        let report = audit(&world, &["--all"], 3);
        assert!(named(&report, &broken, "unreadable"), "{branch}: {report:#}");
        let mended = world.git("a", &["commit-tree", &tree, "-p", &broken, "-m", "goes on"]);
        moved(&world, &format!("refs/heads/{branch}"), &mended);
        for report in [is_named(&world, &forged, branch), audit(&world, &[], 3)] {
            assert!(named(&report, &broken, "unreadable"), "{branch}: {report:#}");
            // Who goes on honestly upon it is not named.
            let findings = report["findings"].as_array().unwrap();
            assert!(findings.iter().all(|one| one["commit"] != mended), "{branch}: {report:#}");
        }
        world.brain("a", &["audit", "accept", &broken[..12], "--why", "seen"]);
        assert!(audit(&world, &[], 3)["findings"].to_string().contains("seen"), "{branch}");
        moved(&world, &format!("refs/heads/{branch}"), &tip);
        world.git("a", &["update-ref", "-d", "refs/git-brain/rescue/none"]);
        std::fs::remove_file(world.dir("a").join(".git/git-brain/cache/audit.json")).ok();
    }
}

#[test]
fn commits_that_are_too_long_to_be_read_are_named_and_passed() {
    let (world, forged) = forged();
    let tree = world.git("a", &["rev-parse", "wake^{tree}"]);
    let tip = world.tip("a", "wake");
    let person = "Ann <ann@example.invalid> 1790000000 +0000";
    let mut text = format!("tree {tree}\nparent {tip}\nauthor {person}\ncommitter {person}\n\n").into_bytes();
    text.resize(40 << 20, b'x');
    let broken = object(&world, "commit", &text);
    for branch in ["refs/heads/agents/scribe/long", "refs/heads/wake"] {
        moved(&world, branch, &broken);
        let report = is_named(&world, &forged, branch);
        assert!(named(&report, &broken, "unreadable"), "{branch}: {report:#}");
    }
}

#[test]
fn definition_that_was_wrong_and_is_mended_leaves_no_merge_of_ours_named() {
    let world = lived();
    let path = "agents/scribe.json";
    let text = world.git("a", &["show", &format!("main:{path}")]);
    let wrong = upon(&world, "main", &[(path, Some(&format!("{text}\noops\n")))], "tune", &[]);
    world.brain("a", &["feed", "the lamp is on"]);
    world.try_brain("a", &["sleep"]);
    let report = audit(&world, &[], 3);
    assert!(named(&report, &wrong, "format"), "{report:#}");
    upon(&world, "main", &[(path, Some(&text))], "as before", &[]);
    world.brain("a", &["feed", "the lamp is off"]);
    // Its agent may have run on while its definition was away, which is a warning.
    let report = agree(&world, 0);
    assert_eq!(report["counts"]["merge-mismatch"], Value::Null, "{report:#}");
}
