//! Author and committer of commits that bring runs: the gate, `sync` and the audit hold them against the record by one rule.

use serde_json::json;

use crate::audit::{audit, named};
use crate::machines::{World, refused};
use crate::sandbox::create;

const SAYS: &str = "its record says that";

fn address(name: &str) -> String {
    format!("{name}@git-brain.invalid")
}

/// A run's commit once more, with another author, committer and message.
fn renamed(world: &World, run: &str, [author, committer]: [&str; 2], message: &str) -> String {
    let parent = world.tip("a", &format!("{run}^"));
    let variables = [("GIT_AUTHOR_EMAIL", author), ("GIT_COMMITTER_EMAIL", committer)];
    world.commit("a", run, &[&parent], &[], message, &variables)
}

/// The newest run of a person on `a`, in all names that are none of a person.
fn forgeries(world: &World) -> Vec<(String, String)> {
    let run = world.tip("a", "wake^2");
    let message = world.git("a", &["log", "-1", "--format=%B", &run]);
    let (person, sleep, memory) = ("ann@example.invalid", address("sleep"), address("memory"));
    let mut made = Vec::new();
    for hands in
        [[&sleep, person], [person, &sleep], [&sleep, &sleep], [&memory, &memory], [&address("Memory"), person]]
    {
        for message in [message.as_str(), "tidy\n"] {
            made.push((format!("{hands:?} {message}"), renamed(world, &run, hands, message)));
        }
    }
    made
}

#[test]
fn run_of_a_person_in_the_name_of_an_agent_is_refused_and_named() {
    let world = World::gated();
    world.json("a", &["subject", "add", "Zora"]);
    world.sync("a");
    for args in [&["goal", "add", "keep owls"][..], &["subject", "forget", "Zora"]] {
        let wake = world.tip("a", "wake");
        world.json("a", args);
        for (what, forged) in forgeries(&world) {
            refused(&world, &what, &forged, "wake", SAYS);
            world.git("a", &["update-ref", "refs/heads/wake", &forged]);
            let report = audit(&world, &[], 3);
            assert!(named(&report, &forged, "forged-author"), "{what}: {report}");
            let findings = report["findings"].as_array().unwrap();
            let of_it = findings.iter().find(|finding| finding["rule"] == "forged-author").unwrap();
            assert!(of_it["run"].as_str().is_some_and(|run| run.ends_with("-human")), "{report}");
            world.git("a", &["update-ref", "refs/heads/wake", &wake]);
            world.try_brain("a", &["audit", "--all"]);
        }
    }
}

#[test]
fn sync_takes_no_run_in_another_name() {
    let world = World::new();
    world.clone("b");
    world.json("a", &["goal", "add", "keep owls"]);
    let before = world.tip("remote.git", "wake");
    for (what, forged) in forgeries(&world) {
        world.git("a", &["push", "-q", "origin", &format!("+{forged}:refs/heads/wake")]);
        assert!(world.refused("b").contains(SAYS), "{what}");
        assert_eq!(world.tip("b", "wake"), before, "{what}");
    }
    world.git("a", &["push", "-q", "origin", &format!("+{before}:refs/heads/wake")]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn run_of_an_agent_is_by_that_agent_or_squashed_by_a_person() {
    let world = World::gated();
    let (_, run) = world.waiting("a", "perception", json!([create("z")]));
    let message = world.git("a", &["log", "-1", "--format=%B", &run]);
    let (person, own, memory) = ("ann@example.invalid", address("perception"), address("memory"));
    for (hands, message) in [
        ([memory.as_str(), person], "tidy\n"),
        ([&memory, person], &message),
        ([&own, &memory], &message),
        ([&own, &address("sleep")], &message),
        ([person, &own], "tidy\n"),
    ] {
        let forged = renamed(&world, &run, hands, message);
        refused(&world, &format!("{hands:?} {message}"), &forged, "wake", SAYS);
    }
    let before = world.tip("remote.git", "wake");
    for (hands, message) in [
        ([own.as_str(), person], message.as_str()),
        ([&own, &own], &message),
        ([person, person], "squashed\n"),
        ([person, person], &message),
    ] {
        let good = renamed(&world, &run, hands, message);
        world.git("a", &["push", "-q", "origin", &format!("{good}:refs/heads/wake")]);
        world.git("remote.git", &["update-ref", "refs/heads/wake", &before]);
    }
}
