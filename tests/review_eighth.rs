//! Decisions that give way or are taken back after a night: memories, answers and words are what the decision that stands makes of them.

use crate::machines::World;
use crate::review_second::as_person;
use crate::review_seventh::{NEW, OLD, TWO, found, sync, two};

/// A memory and a correction of it that waits, on both machines: the memory, the correction, and the run.
fn corrected(world: &World, is_local: bool) -> (String, String, String) {
    as_person(world, "a", "ben", &["feed", OLD]).exits(0);
    if is_local {
        let first = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
        as_person(world, "a", "ben", &["approve", &first]).exits(0);
    }
    let old = world.json("a", &["recall", "Kyoto"])["results"][0]["id"].as_str().unwrap().to_owned();
    let mut feed = vec!["feed", "--corrects", &old, NEW];
    if !is_local {
        feed.extend(["--origin", "web:x.example"]);
    }
    world.brain("a", &feed);
    sync(world, &["a", "b"]);
    let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    let shown = world.json("b", &["review", &run]).to_string();
    let is_id = |word: &&str| word.starts_with("e-") && word.len() == 18 && **word != old;
    let new = shown.split('"').find(is_id).unwrap_or_else(|| panic!("{shown}")).to_owned();
    (old, new, run)
}

#[test]
fn night_takes_no_memory_whose_replacement_is_taken_back_elsewhere() {
    for (is_local, order) in [(true, "ab"), (true, "ba"), (false, "ba"), (false, "early")] {
        let world = two(if is_local { TWO } else { "[origins]\nother = \"review\"\n" });
        let (_, _, run) = corrected(&world, is_local);
        let approve = |machine: &str, person: &str| {
            as_person(&world, machine, person, &["approve", &run]).exits(0);
            if !is_local {
                as_person(&world, machine, person, &["approve", "--origin", "web:x.example"]).exits(0);
            }
        };
        approve("b", "ben");
        world.sync("b");
        if order == "early" {
            as_person(&world, "b", "ben", &["revert", &run]).exits(0);
            world.sync("b");
        }
        approve("a", "mara");
        world.brain("a", &["sleep"]);
        if order != "early" {
            as_person(&world, "b", "ben", &["revert", &run]).exits(0);
        }
        match order {
            "ab" => sync(&world, &["a", "b", "a", "b"]),
            _ => sync(&world, &["b", "a", "b", "a"]),
        }
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let now = found(&world, machine);
            assert!(now.contains(OLD) && !now.contains(NEW), "{order}, local: {is_local}, {machine}: {now}");
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
        world.brain("b", &["sleep"]);
        assert!(found(&world, "b").contains(OLD), "a night keeps it");
        assert!(!world.git("b", &["grep", "-l", OLD, "main", "--", "network/neurons"]).is_empty());
    }
}

#[test]
fn night_takes_no_memory_whose_replacement_was_let_in_by_itself_and_gave_way() {
    let world = two("[origins]\nother = \"review\"\n");
    let (_, new, run) = corrected(&world, false);
    as_person(&world, "b", "ben", &["reject", &run, "--why", "not true"]).exits(0);
    as_person(&world, "a", "mara", &["approve", &run]).exits(0);
    as_person(&world, "a", "mara", &["approve", &new]).exits(0);
    world.brain("a", &["sleep"]);
    sync(&world, &["b", "a", "b"]);
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        let now = found(&world, machine);
        assert!(now.contains(OLD) && !now.contains(NEW), "{machine}: {now}");
        assert!(world.brain(machine, &["check"]).contains("all good"));
    }
}
