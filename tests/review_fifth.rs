//! Decisions of two machines that cross: the texts, the words and the lessons of the one that gave way.

use crate::machines::World;
use crate::review_second::{apply, as_person, run_of, world};
use serde_json::{Value, json};

const BOTH: &str = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\", \"listener\"]\n";

fn belief(text: &str) -> Value {
    json!({"op": "create", "concept": text, "type": "semantic"})
}

/// A world of two machines, and a second agent that perceives what is fed, whose runs wait.
fn with_listener() -> World {
    let world = world(World::gated(), BOTH);
    let mut listener: Value = serde_json::from_str(&world.read("a", "agents/perception.json")).unwrap();
    listener["name"] = json!("listener");
    world.write("a", "agents/listener.json", &listener.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "listener"]);
    world.brain("a", &["trust", "--yes"]);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    world
}

/// The run of the listener that waits.
fn heard(world: &World, machine: &str) -> String {
    let waiting = world.json(machine, &["review"])["waiting"].clone();
    let mut runs = waiting.as_array().unwrap().iter().filter_map(|one| one["run"].as_str());
    runs.rfind(|run| run.ends_with("-listener")).unwrap().to_owned()
}

#[test]
fn decision_that_gives_way_puts_no_text_back_into_the_queue() {
    let world = with_listener();
    world.brain("a", &["feed", "Anna grows mint on the balcony."]);
    let run = heard(&world, "a");
    world.sync("a");
    world.sync("b");
    as_person(&world, "a", "ben", &["reject", &run, "--why", "no balcony"]).exits(0);
    world.sync("a");
    as_person(&world, "b", "mara", &["approve", &run]).exits(0);
    as_person(&world, "b", "mara", &["sync"]).exits(0);
    for machine in ["b", "a", "b"] {
        world.sync(machine);
        assert_eq!(world.json(machine, &["run"])["runs"], json!([]), "{machine} wakes an agent by it again");
        assert_eq!(world.json(machine, &["review"])["waiting"], json!([]), "{machine}");
    }
    world.same(&["a", "b"]);
}

#[test]
fn text_is_perceived_where_another_agents_run_of_it_waits_and_the_own_is_gone() {
    let world = with_listener();
    world.sync("b");
    world.brain("b", &["feed", "The archive lies on shelf nine."]);
    world.brain("a", &["feed", "Anna grows mint on the balcony."]);
    world.sync("a");
    // Plain git puts the run of perception elsewhere, without its history.
    world.git("b", &["checkout", "-q", "-f", "wake"]);
    world.git("b", &["pull", "-q", "--rebase", "--no-edit", "origin", "wake"]);
    world.git("b", &["checkout", "-q", "-f", "main"]);
    world.try_brain("b", &["sync"]).exits(3);
    world.brain("b", &["sync", "--without-refused"]);
    world.brain("b", &["run"]);
    let found = world.json("b", &["recall", "archive shelf"])["results"][0]["concept"].to_string();
    assert!(found.contains("shelf nine"), "{found}");
}

/// Two rewordings of one memory that wait on both machines: its id, and the runs, the older first.
fn reworded(world: &World) -> (String, [String; 2]) {
    let id = "n-export";
    world.apply(
        "a",
        json!([{"op": "create", "id": id, "concept": "The export takes twelve minutes.", "type": "semantic"}]),
    );
    let runs = ["forty", "thirty"].map(|many| {
        let op = json!({"op": "reword", "id": id, "concept": format!("The export takes {many} minutes.")});
        run_of(apply(world, "a", json!([op]))["branch"].as_str().unwrap()).to_owned()
    });
    world.sync("a");
    world.clone("b");
    world.sync("b");
    (id.to_owned(), runs)
}

#[test]
fn words_that_give_way_to_words_of_another_machine_are_told_on_both() {
    let world = world(World::gated(), BOTH);
    let (id, [older, newer]) = reworded(&world);
    as_person(&world, "a", "ben", &["approve", &older]).exits(0);
    as_person(&world, "b", "mara", &["approve", &newer]).exits(0);
    world.sync("a");
    for machine in ["b", "a"] {
        let notes = world.sync(machine)["notes"].to_string();
        let says = ["two machines gave a memory other words", "forty minutes", "thirty minutes"];
        assert!(says.iter().all(|part| notes.contains(part)), "{machine}: {notes}");
        let body = world.git(machine, &["log", "-1", "--format=%b", "--grep=^sync: ", "wake"]);
        assert!(body.contains(&format!("{id} concept: base ")), "{body}");
        assert!(!world.sync(machine)["notes"].to_string().contains("two machines"), "once");
    }
    world.same(&["a", "b"]);
}

#[test]
fn dry_run_of_an_approval_says_which_words_do_not_land() {
    let world = world(World::gated(), BOTH);
    let (_, [older, newer]) = reworded(&world);
    as_person(&world, "a", "ben", &["approve", &newer]).exits(0);
    let told = as_person(&world, "a", "ben", &["approve", &older, "--dry-run"]).exits(0).to_string();
    assert!(told.contains("forty minutes.\" does not land"), "{told}");
    assert!(!told.contains("lands: reword"), "{told}");
    let done = as_person(&world, "a", "ben", &["approve", &older]).exits(0).to_string();
    assert!(done.contains("forty minutes.\" does not land"), "{done}");
}

/// Ben rejects what Mara amends before they meet; his decision stands.
fn crossed(first: &[&str]) -> (World, String) {
    let world = world(World::gated(), BOTH);
    let ops = json!([belief("The lion sleeps in the day"), belief("The zebra is the wife of the lion")]);
    let run = run_of(apply(&world, "a", ops)["branch"].as_str().unwrap()).to_owned();
    world.sync("a");
    world.clone("b");
    world.sync("b");
    let reject = [&["reject", &run], first].concat();
    as_person(&world, "a", "ben", &reject).exits(0);
    as_person(&world, "b", "mara", &["approve", &run, "--only", "1", "--why", "a zebra is no wife"]).exits(0);
    world.sync("a");
    for machine in ["b", "a", "b"] {
        world.sync(machine);
    }
    (world, run)
}

#[test]
fn decision_that_gave_way_teaches_agents_nothing() {
    let (world, _) = crossed(&["--why", "fables"]);
    for machine in ["a", "b"] {
        let told = world.brain(machine, &["prime"]);
        assert!(told.contains("rejected by") && !told.contains("amended by"), "{machine}: {told}");
    }
}

#[test]
fn words_are_taken_back_from_every_decision_on_a_run() {
    for first in [&["--why", "fables"][..], &["--forget"]] {
        let (world, run) = crossed(first);
        let told = as_person(&world, "a", "ben", &["review", &run, "--forget"]).exits(0);
        assert!(!told.err.contains("told already"), "{told}");
        world.sync("a");
        world.sync("b");
        for machine in ["a", "b"] {
            for command in [&["prime"][..], &["--json", "review", "--decided"], &["review", &run]] {
                let told = world.brain(machine, command);
                assert!(!told.contains("zebra is the wife"), "{machine} {command:?}: {told}");
            }
        }
        // With words taken back from the start, the decision that stands is told, and not the other.
        if first == ["--forget"] {
            let told = world.brain("b", &["review", &run]);
            assert!(told.contains("rejected by") && !told.contains("was amended by"), "{told}");
        }
    }
}

#[test]
fn approving_again_what_was_taken_back_says_so() {
    let world = world(World::gated(), BOTH);
    let run = run_of(apply(&world, "a", json!([belief("The lion sleeps in the day")]))["branch"].as_str().unwrap())
        .to_owned();
    as_person(&world, "a", "ben", &["approve", &run]).exits(0);
    as_person(&world, "a", "ben", &["revert", "--run", &run]).exits(0);
    let told = as_person(&world, "a", "ben", &["approve", &run]).exits(3).to_string();
    assert!(told.contains(&format!("took {run} back")) && told.contains("` brings it again"), "{told}");
}
