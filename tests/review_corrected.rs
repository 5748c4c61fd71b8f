//! Corrections beside decisions: of all that is said in place of a memory one statement is told, on each machine the same, and what nobody who may let it in
//! let in replaces nothing.

use crate::machines::World;
use crate::review_second::as_person;
use crate::review_seventh::{sync, two};
use crate::sandbox::some_of;

const RULE: &str = "[origins]\nwebhook = \"trusted\"\n\n[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"mail\"\nagents = [\"perception\"]\norigins = [\"webhook\"]\n";

/// The statement about the release, by place.
fn text(place: &str) -> String {
    format!("The Birch release happens beside the harbour of {place}.")
}

/// The id of what is told of a place.
fn id(world: &World, place: &str) -> String {
    let told = world.json("a", &["recall", &text(place)]);
    let found = told["results"].as_array().unwrap().iter().find(|one| one["text"] == text(place).as_str());
    found.unwrap_or_else(|| panic!("{place}: {told}"))["id"].as_str().unwrap().to_owned()
}

/// Corrects a memory, in a second of its own: by hand, or by a text from elsewhere that waits. The run of it.
fn corrects(world: &World, old: &str, place: &str, waits: bool) -> String {
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let text = text(place);
    let mut args = vec!["feed", "--corrects", old, &text];
    args.extend(if waits { &["--origin", "webhook:a"][..] } else { &[] });
    let fed = world.json("a", &args);
    fed["runs"].as_array().unwrap().iter().find(|run| run["agent"] == "perception").unwrap()["run"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn begun() -> (World, String) {
    let world = two(RULE);
    world.brain("a", &["feed", &text("Lyon")]);
    let old = id(&world, "Lyon");
    (world, old)
}

/// The places that both machines tell, once they have met, and after a night.
fn told(world: &World, places: &[&str]) {
    sync(world, &["a", "b", "a", "b"]);
    for night in [false, true] {
        if night {
            world.brain("a", &["sleep"]);
            sync(world, &["a", "b"]);
        }
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let prime = world.brain(machine, &["prime"]);
            // Above it stand the lessons, with the words that stay out.
            let prime = prime.split("## Memories").last().unwrap();
            let found: Vec<&str> =
                ["Lyon", "Osaka", "Quito"].into_iter().filter(|place| prime.contains(&text(place))).collect();
            assert_eq!(found, places, "{machine}, night {night}: {prime}");
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
    }
}

#[test]
fn of_two_approved_corrections_the_later_stays() {
    for first_is_first in some_of([true, false], 1) {
        let (world, old) = begun();
        let runs = [corrects(&world, &old, "Osaka", true), corrects(&world, &old, "Quito", true)];
        let order = if first_is_first { [0, 1] } else { [1, 0] };
        as_person(&world, "a", "mara", &["approve", &runs[order[0]]]).exits(0);
        for args in [&["approve", "--dry-run", &runs[order[1]]][..], &["approve", &runs[order[1]]]] {
            let said = as_person(&world, "a", "mara", args).exits(0);
            assert!(said.out.contains("corrected one memory: the later"), "{args:?}: {said}");
        }
        told(&world, &["Quito"]);
    }
}

#[test]
fn correction_that_waited_and_a_later_one_by_hand_leave_the_later() {
    for approved_elsewhere in some_of([true, false], 1) {
        let (world, old) = begun();
        let run = corrects(&world, &old, "Osaka", true);
        sync(&world, &["a", "b"]);
        corrects(&world, &old, "Quito", false);
        as_person(&world, if approved_elsewhere { "b" } else { "a" }, "mara", &["approve", &run]).exits(0);
        told(&world, &["Quito"]);
    }
}

#[test]
fn taking_back_a_correction_leaves_here_what_every_machine_has_then() {
    // The one between; then the newest as well; and one that a person had archived.
    let (world, old) = begun();
    let middle = corrects(&world, &old, "Osaka", false);
    let newest = corrects(&world, &id(&world, "Osaka"), "Quito", false);
    sync(&world, &["a", "b"]);
    world.brain("a", &["revert", &middle]);
    told(&world, &["Quito"]);
    let said = world.brain("a", &["revert", &newest]);
    assert!(world.brain("a", &["prime"]).contains(&text("Lyon")), "{said}");
    told(&world, &["Lyon"]);

    let (world, old) = begun();
    let run = corrects(&world, &old, "Osaka", false);
    let delta = format!("{{\"ops\":[{{\"op\":\"archive\",\"id\":\"{}\",\"reason\":\"wrong\"}}]}}", id(&world, "Osaka"));
    let dir = world.dir("a").display().to_string();
    world.sandbox.brain_with(&["-C", &dir, "apply", "-"], delta.as_bytes()).exits(0);
    sync(&world, &["a", "b"]);
    let said = world.brain("a", &["revert", &run]);
    assert!(world.brain("a", &["prime"]).contains(&text("Lyon")), "{said}");
    told(&world, &["Lyon"]);
}

#[test]
fn decision_that_does_not_count_archives_nothing_and_lets_nothing_in() {
    for decisions in [&["approve"][..], &["reject", "again"]] {
        let (world, old) = begun();
        let run = corrects(&world, &old, "Osaka", true);
        sync(&world, &["a", "b"]);
        world.write("a", "brain.toml", &RULE.replace("\"ben@example.invalid\", ", ""));
        world.git("a", &["commit", "-qam", "ben leaves"]);
        world.brain("a", &["trust", "--yes"]);
        world.sync("a");
        for decision in decisions {
            let args: [&str; 3] =
                if *decision == "again" { ["review", &run, "--again"] } else { [decision, &run, "--why=known"] };
            as_person(&world, "b", "ben", &args).exits(0);
        }
        as_person(&world, "b", "ben", &["sync"]).exits(3);
        let said = as_person(&world, "b", "ben", &["sync", "--without-refused"]).exits(0);
        assert!(said.out.contains("is not done again: that decision does not count"), "{said}");
        told(&world, &["Lyon"]);
        assert!(world.brain("b", &["review"]).contains(&run), "{decisions:?}");
        as_person(&world, "a", "mara", &["reject", &run, "--why", "rumour"]).exits(0);
        told(&world, &["Lyon"]);
    }
}

#[test]
fn who_may_decide_no_more_takes_no_rejection_back() {
    let (world, old) = begun();
    let run = corrects(&world, &old, "Osaka", true);
    as_person(&world, "a", "ben", &["reject", &run, "--why", "rumour"]).exits(0);
    world.write("a", "brain.toml", &RULE.replace("\"ben@example.invalid\", ", ""));
    world.git("a", &["commit", "-qam", "ben leaves"]);
    world.brain("a", &["trust", "--yes"]);
    let said = as_person(&world, "a", "ben", &["review", &run, "--again"]).exits(3);
    assert!(said.err.contains("may not decide"), "{said}");
    as_person(&world, "a", "mara", &["review", &run, "--again"]).exits(0);
    sync(&world, &["a", "b"]);
    world.brain("b", &["trust", "--yes"]);
    told(&world, &["Osaka"]);
}

/// A commit of a fixed clock, which no other machine takes.
fn refused(world: &World) {
    let dir = world.dir("a").display().to_string();
    let program = env!("CARGO_BIN_EXE_git-brain");
    let mut planted = world.sandbox.command(program, &["-C", &dir, "feed", "The goose is grey."]);
    let now = world.git("a", &["log", "-1", "--format=%cI", "wake"]);
    assert!(planted.env("BRAIN_NOW", now.trim().replace("+00:00", "Z")).output().unwrap().status.success());
}

#[test]
fn own_decisions_are_carried_out_again_without_what_is_refused() {
    // The run waits already, or begins after what is refused.
    let cases = [
        (false, &["approve"][..], &["Osaka"][..]),
        (false, &["approve", "revert"], &["Lyon"]),
        (false, &["reject"], &["Lyon"]),
        (false, &["reject", "again"], &["Osaka"]),
        (false, &["only"], &["Osaka"]),
        (false, &["only", "revert amended"], &["Lyon"]),
        (true, &["approve"], &["Osaka"]),
        (true, &["approve", "revert"], &["Lyon"]),
        (true, &["reject"], &["Lyon"]),
        (true, &["reject", "again"], &["Osaka"]),
        (true, &["only"], &["Osaka"]),
    ];
    for (after, decisions, places) in some_of(cases, 4) {
        let (world, old) = begun();
        if after {
            sync(&world, &["a", "b"]);
            refused(&world);
        }
        let run = corrects(&world, &old, "Osaka", true);
        if !after {
            sync(&world, &["a", "b"]);
            refused(&world);
        }
        let count = world.json("a", &["review", &run])["reviews"][0]["operations"].as_array().unwrap().len();
        let some = format!("1-{}", count - 1);
        for decision in decisions {
            let landed = world.json("a", &["review", "--decided"])["decisions"][0]["lands"].clone();
            let args = match *decision {
                "again" => vec!["review", &run, "--again"],
                "revert" => vec!["revert", &run],
                "revert amended" => vec!["revert", landed.as_str().unwrap()],
                "only" => vec!["approve", &run, "--only", &some],
                verb => vec![verb, &run, "--why=known"],
            };
            as_person(&world, "a", "mara", &args).exits(0);
        }
        as_person(&world, "a", "mara", &["sync"]).exits(3);
        let said = as_person(&world, "a", "mara", &["sync", "--without-refused"]).exits(0);
        as_person(&world, "a", "mara", &["run"]).exits(0);
        told(&world, places);
        let decided = world.brain("b", &["review", "--decided"]);
        assert!(!decided.contains("not carried out"), "{after}, {decisions:?}: {decided}\n{said}");
        assert!(world.brain("b", &["review"]).contains("Nothing waits"), "{after}, {decisions:?}: {said}");
    }
}

#[test]
fn what_was_taken_back_or_archived_is_not_fed_again_without_what_is_refused() {
    for how in some_of(["revert", "archive", "correct", "revert the correction", "restore"], 2) {
        let (world, old) = begun();
        let archive = |id: &str| {
            let delta = format!("{{\"ops\":[{{\"op\":\"archive\",\"id\":\"{id}\",\"reason\":\"wrong\"}}]}}");
            let dir = world.dir("a").display().to_string();
            world.sandbox.brain_with(&["-C", &dir, "apply", "-"], delta.as_bytes()).exits(0);
        };
        if how == "restore" {
            archive(&old);
        }
        sync(&world, &["a", "b"]);
        refused(&world);
        if how == "restore" {
            world.brain("a", &["restore", &old]);
        } else if how == "revert the correction" {
            world.brain("a", &["revert", &corrects(&world, &old, "Osaka", false)]);
        } else {
            let fed = world.json("a", &["feed", &text("Osaka")]);
            match how {
                "revert" => drop(world.brain("a", &["revert", fed["runs"][0]["run"].as_str().unwrap()])),
                "archive" => archive(&id(&world, "Osaka")),
                _ => drop(corrects(&world, &id(&world, "Osaka"), "Quito", false)),
            }
        }
        as_person(&world, "a", "mara", &["sync"]).exits(3);
        let said = as_person(&world, "a", "mara", &["sync", "--without-refused"]).exits(0);
        let is_told = said.out.contains("here, and is not fed again");
        assert_eq!(is_told, !["correct", "restore"].contains(&how), "{how}: {said}");
        as_person(&world, "a", "mara", &["run"]).exits(0);
        told(&world, if how == "correct" { &["Lyon", "Quito"] } else { &["Lyon"] });
    }
}

#[test]
fn earlier_correction_comes_back_when_the_later_is_taken_back() {
    for (waits, elsewhere) in some_of([(false, false), (true, false), (true, true)], 2) {
        let (world, old) = begun();
        let runs = [corrects(&world, &old, "Osaka", waits), corrects(&world, &old, "Quito", waits)];
        if waits {
            as_person(&world, "a", "mara", &["approve", &runs[0]]).exits(0);
            as_person(&world, "a", "mara", &["approve", &runs[1]]).exits(0);
        }
        told(&world, &["Quito"]);
        world.brain(if elsewhere { "b" } else { "a" }, &["revert", &runs[1]]);
        told(&world, &["Osaka"]);
    }
}

#[test]
fn correction_by_a_rejection_that_was_taken_back_meets_another_one() {
    let (world, old) = begun();
    sync(&world, &["a", "b"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    world.brain("b", &["feed", "--corrects", &old, &text("Quito")]);
    let run = corrects(&world, &old, "Osaka", true);
    as_person(&world, "a", "mara", &["reject", &run, "--why", "rumour"]).exits(0);
    as_person(&world, "a", "mara", &["review", &run, "--again"]).exits(0);
    told(&world, &["Osaka"]);
}

#[test]
fn revert_that_is_taken_back_brings_nothing_beside_what_corrects_it() {
    for knows in [true, false] {
        let (world, old) = begun();
        let run = world.json("a", &["why", &old])["runs"][0]["run"].as_str().unwrap().to_owned();
        sync(&world, &["a", "b"]);
        let back = world.json("a", &["revert", &run]);
        world.brain("b", &["feed", "--corrects", &old, &text("Quito")]);
        sync(&world, &["a", "b", "a", "b"]);
        world.brain("b", &["sleep"]);
        sync(&world, &if knows { vec!["b", "a"] } else { vec!["b"] });
        world.brain("a", &["revert", back["by"][0].as_str().unwrap()]);
        told(&world, &["Quito"]);
    }
}

#[test]
fn night_before_a_decision_that_gives_way_stops_no_machine() {
    let (world, old) = begun();
    let run = world.json("a", &["why", &old])["runs"][0]["run"].as_str().unwrap().to_owned();
    world.brain("a", &["feed", &text("Quito")]);
    world.brain("a", &["feed", "--origin", "webhook:a", &text("Osaka")]);
    let waiting = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    sync(&world, &["a", "b"]);
    world.brain("b", &["revert", &run]);
    world.brain("b", &["sleep"]);
    as_person(&world, "b", "ben", &["reject", &waiting, "--why=no"]).exits(0);
    as_person(&world, "a", "mara", &["approve", &waiting]).exits(0);
    as_person(&world, "a", "mara", &["sync"]).exits(0);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    told(&world, &["Osaka", "Quito"]);
}

#[test]
fn what_a_person_brings_back_stands_beside_what_replaced_it() {
    for how in ["restore", "revert the archiving"] {
        let (world, old) = begun();
        corrects(&world, &old, "Osaka", false);
        let osaka = id(&world, "Osaka");
        corrects(&world, &old, "Quito", false);
        if how == "restore" {
            world.brain("a", &["restore", &osaka]);
        } else {
            let runs = world.json("a", &["why", &osaka])["runs"].clone();
            let archived = runs.as_array().unwrap().last().unwrap()["run"].as_str().unwrap().to_owned();
            world.brain("a", &["revert", &archived]);
        }
        told(&world, &["Osaka", "Quito"]);
    }
}

#[test]
fn correction_of_what_another_machine_takes_back_replaces_what_that_had() {
    let (world, old) = begun();
    let middle = corrects(&world, &old, "Osaka", false);
    sync(&world, &["a", "b"]);
    let osaka = id(&world, "Osaka");
    world.brain("b", &["revert", &middle]);
    corrects(&world, &osaka, "Quito", false);
    told(&world, &["Quito"]);
}

#[test]
fn neuron_that_becomes_executable_in_the_same_push_is_refused() {
    let world = two("");
    world.brain("a", &["feed", "Otto eats kelp."]);
    let listed = world.git("a", &["ls-tree", "-r", "wake", "network/neurons"]);
    let (before, path) = listed.lines().find(|line| line.contains("kelp")).unwrap().split_once('\t').unwrap();
    let blob = before.split(' ').nth(2).unwrap();
    world.git("a", &["read-tree", "wake"]);
    world.git("a", &["update-index", "--cacheinfo", &format!("100755,{blob},{path}")]);
    let tree = world.git("a", &["write-tree"]);
    let commit = world.git("a", &["commit-tree", tree.trim(), "-p", "wake", "-m", "by hand"]);
    world.git("a", &["update-ref", "refs/heads/wake", commit.trim()]);
    assert!(world.refused("a").contains("is executable"));
    assert!(world.try_brain("a", &["audit", "--all"]).exits(3).out.contains("is executable"));
}
