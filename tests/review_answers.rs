//! What a reviewer is shown and what agents are told: answers of wake, and lessons about what was kept out.

use crate::machines::World;
use crate::review_second::{run_of, world};
use crate::sandbox::create;
use serde_json::{Value, json};

/// The answers of a belief diff are those of wake as it is, and as it would be: with what a correction archives, and what landed meanwhile.
#[test]
fn answers_that_change_are_those_of_wake() {
    let world = world(World::gated(), "[origins]\nother = \"review\"\n");
    // Of one origin both: the correction takes the place of the old one when it lands.
    let old = ["feed", "--origin", "web:x.example", "The office printer is called pr1 and stands in room 12."];
    world.brain("a", &old);
    let first = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    world.brain("a", &["approve", &first]);
    let old = world.json("a", &["recall", "office printer"])["results"][0]["id"].as_str().unwrap().to_owned();
    let news = "The office printer is called pr9 and stands in the cellar.";
    world.brain("a", &["feed", "--origin", "web:x.example", "--corrects", &old, news]);
    let waiting = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    let belief = world.json("a", &["review", &waiting])["reviews"][0].clone();
    let says = |question: &Value, side: &str, text: &str| question[side].to_string().contains(text);
    let asked = belief["questions"].as_array().unwrap();
    assert!(asked.iter().any(|one| says(one, "before", "pr1") && !says(one, "after", "pr1")), "{belief:#}");
    assert!(asked.iter().all(|one| !says(one, "after", "pr1")), "{belief:#}");
    // Sentences of any type, and what landed since the run was made.
    let sentence = |days: u32| json!([{"op": "create", "concept": format!("The deploy token is renewed every {days} days by the platform team."), "type": "semantic"}]);
    let runs: Vec<String> = [90, 30].map(|days| world.waiting("a", "scribe", sentence(days)).0).to_vec();
    world.brain("a", &["approve", &runs[0]]);
    let belief = world.json("a", &["review", &runs[1]])["reviews"][0].clone();
    assert!(belief["beside"].to_string().contains("90 days"), "{belief:#}");
    let asked = belief["questions"].as_array().unwrap();
    assert!(asked.iter().any(|one| says(one, "before", "90 days")), "{belief:#}");
    // A part of an id names one of several as well.
    let more: Vec<String> = [14, 21].map(|days| world.waiting("a", "scribe", sentence(days)).0).to_vec();
    let parts: Vec<&str> = more.iter().map(|branch| branch.rsplit('-').nth(1).unwrap()).collect();
    world.brain("a", &["approve", parts[0], parts[1]]);
    let shown = world.brain("a", &["review", run_of(&more[0])]);
    assert!(shown.contains("approved by "), "{shown}");
    world.brain("a", &["revert", run_of(&more[0])]);
    let shown = world.brain("a", &["review", run_of(&more[0])]);
    assert!(shown.contains("taken back by "), "{shown}");
}

/// A lesson tells what was kept out, on every machine, and nothing where all landed.
#[test]
fn a_lesson_is_about_what_was_kept_out() {
    let world = world(World::gated(), "");
    let ops = json!([
        {"op": "create", "concept": "Health checks must test the Redis connection before traffic is switched.", "type": "episodic"},
        {"op": "create", "concept": "Deploys happen on Monday.", "type": "episodic"},
    ]);
    let (branch, _) = world.waiting("a", "scribe", ops);
    world.brain("a", &["approve", &branch, "--only", "1", "--why", "the days are wrong"]);
    let (whole, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.brain("a", &["approve", &whole, "--only", "1", "--why", "good"]);
    let (gone, _) = world.waiting(
        "a",
        "scribe",
        json!([{"op": "create", "concept": "The moon is made of cheese.", "type": "episodic"}]),
    );
    world.brain("a", &["reject", &gone, "--why", "a joke"]);
    world.sync("a");
    world.clone("b");
    world.sync("b");
    for machine in ["a", "b"] {
        let lessons = world.json(machine, &["prime"])["lessons"].clone();
        let about: Vec<&str> = lessons.as_array().unwrap().iter().filter_map(|one| one["about"].as_str()).collect();
        assert_eq!(about, ["The moon is made of cheese.", "Deploys happen on Monday."], "{machine}: {lessons:#}");
        assert_eq!(lessons.as_array().unwrap().len(), 2, "{machine}: {lessons:#}");
    }
    let shown = world.brain("a", &["show", run_of(&branch)]);
    assert!(shown.contains("amended by ") && !shown.contains("rejected by a person"), "{shown}");
}
