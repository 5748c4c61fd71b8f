//! Deliberation on two machines: what both decide counts once, and lands once.

use serde_json::{Value, json};

use crate::deliberation::{SMALL, fed, results, until_fruit};
use crate::machines::World;

fn shown(world: &World, name: &str) -> Value {
    world.json(name, &["deliberate", "recall", "--show"])
}

#[test]
fn a_cycle_that_is_entered_twice_counts_once() {
    let world = fed(SMALL, 60);
    let first = world.json("a", &["deliberate", "recall", "--trees", "turbine"]);
    let run = first["cycles"][0]["run"].as_str().unwrap();
    let path = world.path_of("a", "wake", &format!("{run}.json")).replace("network/runs", "network/deliberations");
    let stored: Value = serde_json::from_str(&world.git("a", &["show", &format!("wake:{path}")])).unwrap();
    let before = shown(&world, "a");
    world.apply("a", json!([{"op": "deliberate", "goal": "recall", "cycle": stored["cycle"]}]));
    let after = shown(&world, "a");
    assert_eq!((&before["trees"], &before["cycle"]), (&after["trees"], &after["cycle"]));
}

/// Two clones that decide alike: the forest has it once, and of the two runs with the same fruit one can be approved.
#[test]
fn fruit_that_two_clones_brought_lands_once() {
    let world = fed(SMALL, 120);
    world.brain("a", &["sleep"]);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let (mut runs, mut cycles) = (Vec::new(), Vec::new());
    for name in ["a", "b"] {
        for _ in 0..5 {
            let report = world.json(name, &["deliberate", "recall", "--trees", "turbine"]);
            let fruit = results(&report).into_iter().find(|one| one["class"] == "fruit");
            if let Some(fruit) = fruit {
                runs.push((fruit["key"].clone(), fruit["run"].as_str().unwrap().to_owned()));
                cycles.push(report["cycles"][0]["run"].as_str().unwrap().to_owned());
                break;
            }
        }
    }
    let [(one, first), (other, second)] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(one, other, "they decide alike");
    let trees = shown(&world, "a")["trees"].clone();
    for name in ["a", "b", "a"] {
        world.brain(name, &["sleep"]);
        world.sync(name);
    }
    let after = shown(&world, "a");
    assert_eq!((&after["trees"], after["fruits"].as_object().unwrap().len()), (&trees, 1));
    let state = |name: &str| -> Vec<String> {
        let mut fates: Vec<(String, String)> = shown(&world, name)["became"][one.as_str().unwrap()]
            .as_array()
            .unwrap()
            .iter()
            .map(|fate| (fate["run"].as_str().unwrap().to_owned(), fate["state"].as_str().unwrap().to_owned()))
            .collect();
        fates.sort_by_key(|(run, _)| run != first);
        fates.into_iter().map(|(_, state)| state).collect()
    };
    assert_eq!(state("a"), ["waits", "waits"]);
    assert!(world.brain("a", &["review", second]).contains("the same fruit as"), "review says that there are two");
    world.brain("a", &["approve", first]);
    let said = world.try_brain("a", &["approve", second]).exits(3);
    assert!(said.err.contains("has the same fruit as") && said.err.contains("would count twice"), "{said}");
    // Nor where the cycle of the one that landed is taken back: its ties stay.
    world.sync("a");
    world.sync("b");
    world.brain("b", &["revert", &cycles[0]]);
    assert!(world.brain("b", &["review", second]).contains("came into wake since this was measured"));
    let said = world.try_brain("b", &["approve", second]).exits(3);
    assert!(said.err.contains("came into wake meanwhile") && said.err.contains("would count twice"), "{said}");
    world.brain("a", &["reject", second, "--why", "it is there"]);
    assert_eq!(state("a"), ["landed", "rejected"]);
    assert!(world.brain("a", &["deliberate", "recall", "--show"]).contains(&format!("rejected {second}")));
    world.brain("a", &["revert", first]);
    assert_eq!(state("a"), ["taken back", "rejected"]);
    world.brain("a", &["check"]);
}

/// Taking a cycle back says which of its fruit still waits; fruit that a process left open is said to become a run.
#[test]
fn fruit_that_waits_after_a_revert_and_fruit_that_was_left_open_are_said() {
    let world = fed(SMALL, 120);
    let report = until_fruit(&world, &[]);
    let is_fruit = |one: &&Value| one["class"] == "fruit";
    let cycles = report["cycles"].as_array().unwrap();
    let cycle = cycles.iter().find(|cycle| cycle["results"].as_array().unwrap().iter().any(|one| is_fruit(&one)));
    let entered = cycle.unwrap()["run"].as_str().unwrap();
    let fruit = results(&report).iter().find(is_fruit).unwrap()["run"].as_str().unwrap().to_owned();
    let path = world.path_of("a", "wake", &format!("{entered}.json")).replace("network/runs", "network/deliberations");
    let stored: Value = serde_json::from_str(&world.git("a", &["show", &format!("wake:{path}")])).unwrap();
    let reverted = world.json("a", &["revert", entered]);
    let notes = reverted["notes"].to_string();
    assert!(notes.contains(&fruit) && notes.contains("still waits for review"), "{reverted:#}");
    world.brain("a", &["reject", &fruit, "--why", "it goes with its cycle"]);
    world.apply("a", json!([{"op": "deliberate", "goal": "recall", "cycle": stored["cycle"]}]));
    let next = world.json("a", &["deliberate", "recall", "--trees", "turbine"]);
    assert!(next["notes"].to_string().contains("that was still open, waits for review"), "{next:#}");
}
