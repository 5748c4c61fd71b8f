//! Two people and their files: whose a file is, and what is said where memories go that somebody else fed.

use crate::machines::World;
use crate::review_second::as_person;
use crate::sandbox::Answer;
use serde_json::json;

const HERS: &str = "# Standup\n\nThe rate limit of Harbour is 40 a second.\n\nNina repairs the importer on Tuesday.\n";
const HIS: &str = "# Standup\n\nThe android client crashes in Lisbon.\n";

/// Anna at `a`, Ben at `b`.
fn team() -> World {
    let world = World::gated();
    world.clone("b");
    world
}

fn run(world: &World, person: &str, args: &[&str]) -> Answer {
    as_person(world, if person == "anna" { "a" } else { "b" }, person, args).exits(0)
}

/// Both machines have what both know.
fn meet(world: &World) {
    for person in ["anna", "ben", "anna"] {
        run(world, person, &["sync"]);
    }
}

#[track_caller]
fn knows(world: &World, words: &str, knows: bool) {
    for person in ["anna", "ben"] {
        let said = run(world, person, &["recall", "--json", words]).document();
        let found = said["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|answer| answer["concept"].as_str().unwrap().contains(words));
        assert_eq!(found, knows, "{person}, {words}: {said}");
    }
}

#[test]
fn files_of_one_name_that_nobody_committed_are_two_peoples_files() {
    let world = team();
    world.write("a", "notes/standup.md", HERS);
    world.write("b", "notes/standup.md", HIS);
    run(&world, "anna", &["feed", "notes/standup.md"]);
    meet(&world);
    let said = run(&world, "ben", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 1 new\n"), "{said}");
    meet(&world);
    let both = || {
        knows(&world, "rate limit", true);
        knows(&world, "android client", true);
    };
    both();
    // Again, by file and by folder: all is known, and nobody misses the other's.
    for person in ["anna", "ben"] {
        for path in ["notes/standup.md", "notes"] {
            let said = run(&world, person, &["feed", path]);
            assert!(
                said.out.contains("known\n") && !said.out.contains("removed") && !said.out.contains("new"),
                "{said}"
            );
        }
    }
    // Each changes and leaves their own alone.
    world.write("b", "notes/standup.md", "# Standup\n\nThe android client is mended in Lisbon.\n");
    let said = run(&world, "ben", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 1 changed\n"), "{said}");
    std::fs::remove_file(world.dir("a").join("notes/standup.md")).unwrap();
    let said = run(&world, "anna", &["feed", "--gone", "notes/standup.md"]);
    assert!(said.out.contains("notes/standup.md: gone, 2 archived\n"), "{said}");
    meet(&world);
    knows(&world, "rate limit", false);
    knows(&world, "client is mended", true);
}

#[test]
fn a_file_that_git_has_is_everybodys_and_what_goes_is_told_with_who_fed_it() {
    let world = team();
    world.write("a", "notes/standup.md", HERS);
    // Fed as her own, and committed later.
    run(&world, "anna", &["feed", "notes/standup.md"]);
    for args in [&["add", "notes"][..], &["commit", "-qm", "notes"]] {
        world.git("a", args);
    }
    meet(&world);
    world.write("b", "notes/standup.md", HERS);
    let said = run(&world, "ben", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 2 known\n"), "{said}");
    world.write("b", "notes/standup.md", HIS);
    let dry = run(&world, "ben", &["--json", "feed", "--dry-run", "notes/standup.md"]).document();
    assert_eq!(dry["files"][0]["others"], json!({"anna@example.invalid": 2}), "{dry}");
    let said = run(&world, "ben", &["feed", "notes/standup.md"]);
    assert!(said.out.contains("2 removed (2 fed by anna@example.invalid)"), "{said}");
    meet(&world);
    knows(&world, "rate limit", false);
    // So is a correction of what another person said.
    run(&world, "anna", &["feed", "The retro is on Wednesday."]);
    meet(&world);
    let found = run(&world, "ben", &["recall", "--json", "When is the retro?"]).document();
    let memory = found["results"][0]["id"].as_str().unwrap();
    let said = run(&world, "ben", &["feed", "--corrects", memory, "The retro is on Thursday."]);
    assert!(said.out.contains(", fed by anna@example.invalid, is replaced by"), "{said}");
}

#[test]
fn what_was_fed_before_files_had_owners_is_that_of_who_fed_it() {
    let world = team();
    // Without a remote, nobody else feeds a brain, and its files have no owner.
    world.git("a", &["remote", "rename", "origin", "away"]);
    world.git("a", &["config", "--rename-section", "remote.away", "away.away"]);
    for seen in world.git("a", &["for-each-ref", "--format=%(refname)", "refs/git-brain/remotes"]).lines() {
        world.git("a", &["update-ref", "-d", seen]);
    }
    world.write("a", "notes/standup.md", HERS);
    run(&world, "anna", &["feed", "notes/standup.md"]);
    world.git("a", &["config", "--rename-section", "away.away", "remote.origin"]);
    meet(&world);
    world.write("b", "notes/standup.md", HIS);
    let said = run(&world, "ben", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 1 new\n"), "{said}");
    meet(&world);
    knows(&world, "rate limit", true);
    knows(&world, "android client", true);
    let said = run(&world, "anna", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 2 known\n"), "{said}");
    world.write("a", "notes/standup.md", "# Standup\n\nThe rate limit of Harbour is 50 a second.\n");
    let said = run(&world, "anna", &["feed", "notes/standup.md"]);
    assert!(said.out.starts_with("notes/standup.md: 1 changed, 1 removed\n"), "{said}");
    meet(&world);
    knows(&world, "40 a second", false);
    knows(&world, "android client", true);
}
