//! A reviewer's day: what the web says corrects nothing before a person has agreed, parts land with what they need and keep their time, and nothing
//! about who decides changes in silence.

use serde_json::{Value, json};

use crate::machines::World;

const WEB: &str = "[origins]\nother = \"review\"\n";

fn settings(world: &World, name: &str, text: &str) {
    world.write(name, "brain.toml", text);
    world.git(name, &["add", "brain.toml"]);
    world.git(name, &["commit", "-qm", "settings"]);
}

fn waiting(world: &World) -> Value {
    world.json("a", &["review"])["waiting"][0].clone()
}

fn texts(world: &World, question: &str) -> Vec<(String, String)> {
    let found = world.json("a", &["recall", question]);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    found["results"].as_array().unwrap().iter().map(|one| (text(one, "text"), text(one, "at"))).collect()
}

#[test]
fn what_waits_may_correct_a_memory_of_yours_and_goes_by_the_decision() {
    let world = World::new();
    settings(&world, "a", WEB);
    world.brain("a", &["feed", "The phone number of Lena is 1142."]);
    let old = world.json("a", &["recall", "Lena"])["results"][0]["id"].as_str().unwrap().to_owned();
    let new = "The phone number of Lena is 1199.";
    let corrects = ["feed", "--origin", "web:example.org", "--corrects", &old, new];
    world.brain("a", &corrects);
    assert!(texts(&world, "phone number of Lena").iter().all(|(text, _)| text != new));
    assert_eq!(waiting(&world)["origin"], "web:example.org");
    let run = waiting(&world)["run"].as_str().unwrap().to_owned();
    let shown = world.brain("a", &["review", &run]);
    assert!(shown.contains(&format!("{old} stays believed")) && !shown.contains("archived"), "{shown}");
    world.brain("a", &["approve", &run]);
    // Both are found, and yours is believed until the other is let in.
    let now = texts(&world, "phone number of Lena");
    assert!(now.iter().any(|(text, _)| text == new) && now.iter().any(|(text, _)| text.contains("1142")), "{now:?}");
    world.brain("a", &["approve", "--origin", "web:example.org"]);
    let now = texts(&world, "phone number of Lena");
    assert!(now[0].0 == new && now.iter().all(|(text, _)| !text.contains("1142")), "{now:?}");
    // What lands by itself and is trusted less corrects nothing, and the way out is named.
    settings(&world, "a", "[origins]\nother = \"tainted\"\n");
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "The phone number of Ida is 7."]);
    let old = world.json("a", &["recall", "Ida"])["results"][0]["id"].as_str().unwrap().to_owned();
    let corrects = ["feed", "--origin", "web:x", "--corrects", &old, "The phone number of Ida is 8."];
    let said = world.try_brain("a", &corrects).exits(3);
    assert!(said.err.contains("lets it propose"), "{said}");
}

#[test]
fn a_belief_lands_by_its_name_with_what_it_needs_and_keeps_its_time() {
    let world = World::new();
    settings(&world, "a", WEB);
    world.brain("a", &["feed", "--origin", "web:x", "--at", "2026-01-05", "The harbour at Uji closes at nine."]);
    let run = waiting(&world)["run"].as_str().unwrap().to_owned();
    let belief = world.json("a", &["review", &run])["reviews"][0].clone();
    let memory = belief["neurons"].as_array().unwrap().iter().find(|one| one["type"] == "episodic").unwrap().clone();
    let id = memory["id"].as_str().unwrap();
    // A tie alone lacks what it starts from: said before anything is recorded, by the number that was typed.
    let tie =
        belief["operations"].as_array().unwrap().iter().position(|op| op.as_str().unwrap().starts_with("connect"));
    let tie = (tie.unwrap() + 1).to_string();
    let said = world.try_brain("a", &["approve", &run, "--only", &tie, "--dry-run"]).exits(3);
    assert!(said.err.contains(&format!("operation {tie}")), "{said}");
    let dry = world.brain("a", &["approve", &run, "--only", id, "--dry-run"]);
    assert!(dry.contains("would be in wake") && !dry.contains("is in wake in its place"), "{dry}");
    world.try_brain("a", &["approve", &run, "--only", "nothing-of-it"]).exits(2);
    let report = world.json("a", &["approve", &run, "--only", id]);
    assert_eq!(report["value"], 1.0, "all that it states has landed: {report}");
    let now = texts(&world, "harbour at Uji");
    assert!(now[0].0.contains("closes at nine") && now[0].1.starts_with("2026-01-05"), "{now:?}");
}

#[test]
fn a_part_without_the_memory_is_worth_nothing() {
    let world = World::new();
    settings(&world, "a", WEB);
    world.brain("a", &["feed", "--origin", "web:x", "The harbour at Uji closes at nine."]);
    let run = waiting(&world)["run"].as_str().unwrap().to_owned();
    let belief = world.json("a", &["review", &run])["reviews"][0].clone();
    let ops = belief["operations"].as_array().unwrap();
    let concept = ops.iter().position(|op| op.as_str().unwrap().starts_with("create semantic")).unwrap() + 1;
    let report = world.json("a", &["approve", &run, "--only", &concept.to_string()]);
    assert_eq!(report["value"], 0.0, "{report}");
}

#[test]
fn several_are_rejected_at_once_and_a_part_of_an_id_names_a_decided_one() {
    let world = World::new();
    settings(&world, "a", WEB);
    for text in ["Herons sleep.", "Boats sink."] {
        world.brain("a", &["feed", "--origin", "web:x", text]);
    }
    let list = world.json("a", &["review"]);
    let runs: Vec<&str> = list["waiting"].as_array().unwrap().iter().map(|one| one["run"].as_str().unwrap()).collect();
    world.brain("a", &["reject", runs[0], runs[1]]);
    assert_eq!(world.json("a", &["review"])["waiting"], json!([]));
    let part = runs[0].split('-').nth(1).unwrap();
    assert!(world.brain("a", &["review", part]).contains("was rejected"));
    // A reason that was left out may come later.
    world.brain("a", &["reject", part, "--why", "too late"]);
    let decided = world.json("a", &["review", "--decided"])["decisions"].clone();
    let why = decided.as_array().unwrap().iter().filter(|one| one["why"] == "too late").count();
    assert_eq!(why, 1, "{decided:#}");
}

#[test]
fn the_second_of_two_rewordings_says_what_it_replaces() {
    let world = World::new();
    world.brain("a", &["feed", "The freeze begins on the 18th."]);
    let id = world.json("a", &["recall", "freeze"])["results"][0]["id"].as_str().unwrap().to_owned();
    let reword = |day: &str| -> String {
        let op = json!({"op": "reword", "id": id, "concept": format!("The freeze begins on the {day}th.")});
        let file = world.sandbox.file("delta.json", json!({ "ops": [op] }).to_string());
        world.json("a", &["apply", "--no-merge", &file])["run"].as_str().unwrap().to_owned()
    };
    let (first, second) = (reword("16"), reword("21"));
    world.brain("a", &["approve", &first]);
    let shown = world.brain("a", &["review", &second]);
    assert!(shown.contains("was reworded in wake since"), "{shown}");
}

#[test]
fn sync_says_that_others_may_decide_now() {
    let world = World::new();
    settings(&world, "a", "[review]\nreviewers = [\"rita@example.org\"]\n");
    world.sync("a");
    world.clone("b");
    world.sync("b");
    settings(&world, "a", "[review]\nreviewers = [\"rita@example.org\", \"mallory@example.org\"]\n");
    world.sync("a");
    let notes = world.sync("b")["notes"].to_string();
    assert!(notes.contains("mallory@example.org may decide, before rita@example.org"), "{notes}");
    assert!(!world.sync("b")["notes"].to_string().contains("may decide"));
}

/// Two versions came in before anybody looked: what the second replaces, of which the first never landed, goes as well.
#[test]
fn a_correction_of_what_never_landed_replaces_what_that_would_have() {
    for rejects in [true, false] {
        let world = World::new();
        settings(&world, "a", WEB);
        let page = world.sandbox.file("ferry.md", "");
        let feed = |pier: u32| {
            std::fs::write(&page, format!("The ferry leaves from pier {pier}.\n")).unwrap();
            world.brain("a", &["feed", "--file", &page, "--origin", "web:ferry.example"]);
            let list = world.json("a", &["review"]);
            list["waiting"].as_array().unwrap().iter().map(|one| one["run"].as_str().unwrap().to_owned()).max().unwrap()
        };
        world.brain("a", &["approve", &feed(3)]);
        let (five, seven) = (feed(5), feed(7));
        if rejects {
            world.brain("a", &["reject", &five, "--why", "an old page"]);
        }
        assert!(world.brain("a", &["review", &seven]).contains("archived: replaced by what lands"));
        world.brain("a", &["approve", &seven]);
        let now = texts(&world, "ferry leaves from pier 3");
        assert!(now.iter().all(|(text, _)| !text.contains("pier 3")), "{now:?}");
        assert!(now[0].0.contains("pier 7"), "{now:?}");
        // The older version that lands last is replaced already.
        if !rejects {
            world.brain("a", &["approve", &five]);
            let now = texts(&world, "ferry leaves from pier 5");
            assert!(now.iter().all(|(text, _)| !text.contains("pier 5")), "{now:?}");
        }
    }
}

/// Nobody changed anything twice: the night alone takes apart what is not approved, and meets its own day.
#[test]
fn a_night_asks_nobody_about_weights_where_merges_do() {
    let world = World::gated();
    world.brain("a", &["feed", "The kiln of the pottery is at 1200 degrees in the cellar."]);
    world.brain("a", &["sleep"]);
    settings(&world, "a", "[merge]\nweight = \"review\"\n\n[origins]\nother = \"tainted\"\n");
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "--origin", "web:x", "The kiln of the pottery is at 1300 degrees in the cellar."]);
    world.brain("a", &["feed", "The kiln in the cellar of the pottery is old."]);
    let slept = world.json("a", &["sleep"]);
    assert_eq!((&slept["state"], &slept["left_out"]), (&json!("slept"), &json!(1)), "{slept}");
    world.sync("a");
    world.clone("b");
    world.sync("b");
    world.same(&["a", "b"]);
}
