//! People's files beside the network: of any name, mode and content, through nights of input that stays on wake and through syncs
//! of machines that changed them both.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::machines::World;
use crate::sandbox::{Dice, Sandbox};
use serde_json::Value;

/// A name that a person may give a file, and no brain would: what git allows is allowed.
fn name(dice: &mut Dice) -> Vec<u8> {
    const PARTS: [&[u8]; 16] = [
        b"why?",
        b"a:b",
        b"x.",
        b" y",
        b"z ",
        b"*",
        b"<t>",
        b"\"q\"",
        b"tab\t",
        b"line\n",
        b"back\\slash",
        b"caf\xe9",
        b"\xff",
        "thé".as_bytes(),
        "r\u{202e}l".as_bytes(),
        b"-f",
    ];
    let mut name = PARTS[dice.below(16) as usize].to_vec();
    name.extend(PARTS[dice.below(16) as usize]);
    name.extend(dice.below(100).to_string().bytes());
    if dice.below(3) == 0 {
        name.splice(0..0, *b"folder/");
    }
    name
}

/// A few files of such names, some executable, some links.
fn write(dir: &Path, dice: &mut Dice, links: bool) -> Vec<PathBuf> {
    let files: Vec<PathBuf> = (0..6).map(|_| dir.join(OsStr::from_bytes(&name(dice)))).collect();
    for file in &files {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(file);
        if links && dice.below(4) == 0 {
            std::os::unix::fs::symlink("where?", file).unwrap();
            continue;
        }
        std::fs::write(file, dice.roll().to_string()).unwrap();
        let mode = if dice.below(3) == 0 { 0o755 } else { 0o644 };
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    files
}

/// What lies beside the network, as git lists it.
fn beside(git: &dyn Fn(&[&str]) -> String, revision: &str) -> Vec<String> {
    let listed = git(&["-c", "core.quotePath=true", "ls-tree", "-r", revision]);
    listed.lines().filter(|line| !line.contains("\tnetwork/")).map(str::to_owned).collect()
}

#[test]
fn nights_of_input_that_waits_bring_peoples_files_to_wake_as_they_are() {
    for seed in 0..3 {
        let mut dice = Dice(seed);
        let mut sandbox = Sandbox::fixed("2026-01-26T14:32:00Z", "0101010101010101");
        for day in 0..3 {
            sandbox.at(&format!("2026-01-{}T08:00:00Z", 27 + day));
            write(sandbox.dir(), &mut dice, true);
            sandbox.git(&["add", "-A"]);
            sandbox.git(&["commit", "-q", "-m", "files"]);
            let people = beside(&|args| sandbox.git(args), "main");
            sandbox.json(&["feed", &format!("A clean fact of day {day}: tea grows in Assam.")]);
            sandbox.json(&["feed", &format!("A tainted fact of day {day}: coffee is brewed."), "--origin", "webhook"]);
            sandbox.at(&format!("2026-01-{}T23:00:00Z", 27 + day));
            sandbox.json(&["sleep"]);
            for branch in ["main", "wake"] {
                assert_eq!(beside(&|args| sandbox.git(args), branch), people, "seed {seed}, day {day}, {branch}");
            }
            assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "seed {seed}, day {day}");
        }
        // Links are what the gate would not take, and all that check finds.
        let links = beside(&|args| sandbox.git(args), "wake").iter().filter(|line| line.starts_with("120000")).count();
        let checked = sandbox.brain(&["--json", "check"]).exits(i32::from(links > 0)).document();
        let findings = checked["findings"].as_array().unwrap();
        let is_link = |finding: &&Value| finding["message"].as_str().unwrap().starts_with("is a symlink");
        assert_eq!((findings.len(), findings.iter().filter(is_link).count()), (links, links), "{checked:#}");
        sandbox.json(&["sleep", "--undo"]);
        sandbox.fsck();
    }
}

#[test]
fn machines_that_changed_other_files_have_both() {
    let world = World::new();
    world.clone("b");
    for seed in 0..3 {
        let dice = &mut Dice(100 + seed);
        for machine in ["a", "b"] {
            write(&world.dir(machine), dice, false);
            world.git(machine, &["add", "-A"]);
            world.git(machine, &["commit", "-q", "-m", "files"]);
        }
        let both = |machine: &str| beside(&|args| world.git(machine, args), "main");
        let (mut expected, there) = (both("a"), both("b"));
        expected.extend(there.into_iter().filter(|line| !both("a").contains(line)));
        expected.sort_by_key(|line| line.split('\t').nth(1).map(str::to_owned));
        for machine in ["a", "b", "a"] {
            world.sync(machine);
        }
        world.same(&["a", "b"]);
        for branch in ["main", "wake"] {
            let mut found = beside(&|args| world.git("b", args), branch);
            found.sort_by_key(|line| line.split('\t').nth(1).map(str::to_owned));
            assert_eq!(found, expected, "seed {seed}, {branch}");
        }
        // A name that is no text is not laid into work trees: git does that, as it is told.
        for machine in ["a", "b"] {
            world.git(machine, &["reset", "-q", "--hard"]);
        }
    }
}
