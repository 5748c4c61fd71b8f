//! What a person approved happens, whatever came between the proposal and the decision.

use crate::machines::World;
use crate::review_second::as_person;
use crate::review_seventh::{LOCK, TWO, belief, sync, two, waiting};
use serde_json::json;

/// Whether each machine tells the words of the lock keeper.
fn told(world: &World, is_told: bool) {
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert_eq!(prime.contains(LOCK), is_told, "{machine}: {prime}");
        assert!(world.brain(machine, &["check"]).contains("all good"));
    }
}

#[test]
fn archival_that_was_approved_holds_whatever_touches_the_memory_before_and_after() {
    let world = two(TWO);
    world.apply("a", json!([belief("n-lock", LOCK)]));
    let run = waiting(&world, json!([{"op": "archive", "id": "n-lock", "reason": "the lock is closed"}]));
    // A night and a touch between; and one on a machine that does not know of the decision.
    world.apply("a", json!([{"op": "activate", "id": "n-lock", "strength": 0.5}]));
    world.brain("a", &["sleep"]);
    sync(&world, &["a", "b"]);
    as_person(&world, "b", "mara", &["approve", &run]).exits(0);
    world.apply("a", json!([{"op": "activate", "id": "n-lock", "strength": 0.5}]));
    world.brain("a", &["sleep"]);
    sync(&world, &["b", "a", "b"]);
    told(&world, false);
    as_person(&world, "b", "mara", &["revert", &run]).exits(0);
    sync(&world, &["b", "a"]);
    told(&world, true);
}
