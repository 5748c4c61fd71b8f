//! Tombstones and keys between machines: a night that brings a tombstone before its day, and clones that were moved.

use serde_json::json;

use crate::sandbox::create;
use crate::subjects::{NAME, is_forgotten_in, keys, recalled, shared};

#[test]
fn tombstone_that_a_night_brings_without_its_day_destroys_the_key() {
    let (world, key) = shared();
    world.json("a", &["subject", "forget", NAME]);
    let forgotten = world.tip("a", "wake");
    world.apply("a", json!([create("owl")]));
    world.slept("a");
    world.sync("a");
    // Wake of the remote is one that no machine takes.
    let wake = world.tip("a", "wake");
    let broken = world.path_of("a", "wake", "/x.json");
    let bad = world.commit("a", &wake, &[&wake], &[(&broken, Some("{}\n"))], "tidy\n", &[]);
    world.git("a", &["push", "-q", "origin", &format!("{bad}:refs/heads/wake")]);
    assert_eq!(keys(&world.sandbox).len(), 1);
    let said = world.try_brain("b", &["sync"]).exits(3);
    assert!(said.err.contains("its key on this machine is destroyed"), "{said}");
    assert!(keys(&world.sandbox).is_empty());
    assert!(!world.git_try("b", &["merge-base", "--is-ancestor", &forgotten, "wake"]).0, "b has the day");
    assert_eq!(recalled(&world.json("b", &["recall", "--sealed", "marzipan"])), []);
    assert_eq!(is_forgotten_in(&world, "b"), json!(true));
    assert!(world.try_brain("b", &["subject", "add", NAME, "--key", &key]).exits(3).err.contains("forgotten"));
}

#[test]
fn night_over_a_forged_tombstone_destroys_no_key() {
    let (world, _) = shared();
    let memory = [("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")];
    // The run of another machine, told in an agent's name; and its night.
    let old = world.tip("a", "wake");
    world.json("a", &["subject", "forget", NAME]);
    let run = world.tip("a", "wake^2");
    let forged = world.commit("a", &run, &[&old], &[], "tidy\n", &memory);
    world.git("a", &["update-ref", "refs/heads/wake", &forged]);
    world.apply("a", json!([create("owl")]));
    world.slept("a");
    for branch in ["main", "wake"] {
        world.git("a", &["push", "-q", "origin", &format!("{branch}:refs/heads/{branch}")]);
    }
    world.try_brain("b", &["sync"]).exits(3);
    assert_eq!(keys(&world.sandbox).len(), 1);
    assert_eq!(recalled(&world.json("b", &["recall", "--sealed", "marzipan"])).len(), 1);
}

#[test]
fn tombstone_of_a_fork_destroys_no_key_of_a_brain_that_is_away() {
    let (world, _) = shared();
    // Somebody else forgets it in a clone of their own; the brain with the key is away, and a clone of that fork is looked at.
    world.json("b", &["subject", "forget", NAME]);
    assert_eq!(keys(&world.sandbox).len(), 1);
    std::fs::rename(world.dir("a"), world.dir("away")).unwrap();
    let from = world.dir("b").display().to_string();
    world.git(".", &["clone", "-q", "--no-checkout", &from, "look"]);
    world.brain("look", &["init"]);
    let said = world.brain("look", &["subject", "list"]);
    assert!(said.contains("a brain that is not where it lay"), "{said}");
    world.json("look", &["recall", "--sealed", "marzipan"]);
    assert_eq!(keys(&world.sandbox).len(), 1);
    std::fs::rename(world.dir("away"), world.dir("a")).unwrap();
    assert_eq!(recalled(&world.json("a", &["recall", "--sealed", "marzipan"])).len(), 1);
    // A person who says so means it.
    std::fs::rename(world.dir("a"), world.dir("away")).unwrap();
    let id = world.json("look", &["subject", "list"])["subjects"][0]["id"].as_str().unwrap().to_owned();
    let said = world.brain("look", &["subject", "forget", &id]);
    assert!(said.contains("forgotten already; its key"), "{said}");
    assert!(keys(&world.sandbox).is_empty());
}

#[test]
fn key_of_a_clone_that_was_moved_goes_whatever_stands_at_its_old_place() {
    for other in ["a link", "another brain"] {
        let (world, key) = shared();
        std::fs::rename(world.dir("b"), world.dir("c")).unwrap();
        match other {
            #[cfg(unix)]
            "a link" => std::os::unix::fs::symlink(world.dir("c"), world.dir("b")).unwrap(),
            _ => drop(world.brain(".", &["init", "--no-hooks", "b"])),
        }
        if other == "a link" {
            world.json("c", &["subject", "add", NAME, "--key", &key]);
        }
        world.json("a", &["subject", "forget", NAME]);
        world.sync("a");
        let report = world.json("c", &["sync", &world.dir("remote.git").display().to_string()]);
        // Whichever brain of the subject is first: a link leads to a brain that has its keys still.
        let is_said = report["notes"].to_string().contains("its key on this machine is destroyed");
        assert_eq!(is_said, other == "a link", "{other}: {report}");
        assert!(keys(&world.sandbox).is_empty(), "{other}");
    }
}
