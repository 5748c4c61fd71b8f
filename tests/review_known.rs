//! What was decided is where one looks for it: `why` names who let a belief in and why, and agents are told what a reviewer approved first.

use crate::machines::World;
use crate::review_second::{apply, as_person, run_of, world};
use serde_json::json;

const RULES: &str =
    "[review]\nreviewers = [\"anna@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
const OLD: &str = "We deploy Harbour on Fridays at 16:00.";
const NEW: &str = "We deploy Harbour on Mondays at 10:00, and never before the board of the harbour has met in Lisbon.";

#[test]
fn why_names_who_let_a_belief_in_and_what_it_says_whole() {
    let world = world(World::gated(), RULES);
    world.clone("b");
    let branch = |ops| apply(&world, "a", ops)["branch"].as_str().unwrap().to_owned();
    let whole = branch(json!([{"op": "create", "id": "s-deploy", "concept": OLD, "type": "semantic"}]));
    as_person(&world, "a", "anna", &["approve", run_of(&whole), "--why", "as ever"]).exits(0);
    let part = branch(json!([
        {"op": "reword", "id": "s-deploy", "concept": NEW},
        {"op": "create", "id": "s-other", "concept": "Stripe is down every Friday.", "type": "semantic"},
    ]));
    as_person(&world, "a", "anna", &["approve", run_of(&part), "--only", "1", "--why", "the board decided"]).exits(0);
    world.sync("a");
    world.sync("b");
    for name in ["a", "b"] {
        let said = world.brain(name, &["why", "s-deploy"]);
        for words in ["approved by anna: as ever", "amended by anna: the board decided", &format!("says: {NEW}")] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains(&format!("says: {OLD}")), "what is not cut is not said twice: {said}");
        let entries = world.json(name, &["why", "s-deploy"])["runs"].clone();
        assert_eq!(entries[0]["decision"], "approved by anna: as ever", "{entries}");
        assert_eq!(entries[1]["says"], NEW, "{entries}");
    }
    let said = world.brain("a", &["why", "x"]);
    assert!(!said.contains("approved by"), "nobody decided on that: {said}");
}

#[test]
fn agents_are_told_what_a_reviewer_approved_before_an_older_note_that_says_otherwise() {
    let world = world(World::gated(), RULES);
    world.brain("a", &["feed", OLD]);
    for note in 0..12 {
        world.brain("a", &["feed", &format!("Note {note}: Mateo waters the {note} plants of the third floor.")]);
    }
    let ops = json!([{"op": "create", "id": "s-deploy", "concept": NEW, "type": "semantic"}]);
    let waits = apply(&world, "a", ops)["branch"].as_str().unwrap().to_owned();
    let told = |tokens: &str| world.brain("a", &["prime", "--tokens", tokens]);
    assert!(told("1000").contains(OLD) && !told("1000").contains(NEW), "{}", told("1000"));
    as_person(&world, "a", "anna", &["approve", run_of(&waits), "--why", "the board decided"]).exits(0);
    for tokens in ["60", "100", "200", "400", "1000"] {
        let said = told(tokens);
        let (old, new) = (said.find(OLD), said.find(NEW));
        assert!(old.is_none_or(|old| new.is_some_and(|new| new < old)), "{tokens}: {said}");
    }
    let said = told("1000");
    assert!(said.contains(&format!("(s-deploy, approved by a reviewer) {NEW}")) && said.contains(OLD), "{said}");
    // What has been reworded since is nobody's approved words.
    let dir = world.dir("a").display().to_string();
    let delta =
        json!({"ops": [{"op": "reword", "id": "s-deploy", "concept": "We deploy Harbour on Sundays."}]}).to_string();
    world.sandbox.brain_with(&["-C", &dir, "apply", "-"], delta.as_bytes()).exits(0);
    assert!(!told("1000").contains("approved by a reviewer"), "{}", told("1000"));
}

/// What a reviewer kept out stays kept out, and agents go on being told why, when main names other reviewers.
#[test]
fn reviewer_who_leaves_takes_no_lesson_along() {
    let rules = RULES.replace("[\"anna@example.invalid\"]", "[\"anna@example.invalid\", \"ben@example.invalid\"]");
    let world = world(World::gated(), &rules);
    world.clone("b");
    let rumour = json!([{"op": "create", "id": "s-leaves", "concept": "Cleo is said to leave the company in December.", "type": "semantic"}]);
    let waits = apply(&world, "a", rumour.clone())["branch"].as_str().unwrap().to_owned();
    as_person(&world, "a", "ben", &["reject", run_of(&waits), "--why", "a rumour without a source"]).exits(0);
    world.sync("a");
    world.sync("b");
    let settings = world.dir("a").join("brain.toml");
    let text = std::fs::read_to_string(&settings).unwrap().replace(", \"ben@example.invalid\"", "");
    std::fs::write(&settings, text).unwrap();
    world.git("a", &["commit", "-qam", "Ben leaves"]);
    world.sync("a");
    world.sync("b");
    for name in ["a", "b"] {
        assert!(world.brain(name, &["prime"]).contains("a rumour without a source"), "{name}");
    }
    world.brain("b", &["trust", "--yes"]);
    let again = apply(&world, "b", rumour)["branch"].as_str().unwrap().to_owned();
    let said = world.brain("b", &["review", run_of(&again)]);
    assert!(said.contains("was kept out before"), "{said}");
    // He decides no more.
    as_person(&world, "b", "ben", &["reject", run_of(&again), "--why", "still none"]).exits(3);
}
