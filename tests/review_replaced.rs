//! A correction that waits for a person: the memory that it corrects stays until it lands, goes with it, and comes back with it.

use crate::machines::World;

const OLD: &str = "Anna lives in Lyon.";
const NEW: &str = "Anna lives in Riga.";
const BY_ORIGIN: &str = "[origins]\nwebhook = \"review\"\n";
const BY_RULE: &str = "[[review.rule]]\nname = \"perceived\"\nagents = [\"perc*\"]\n";

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
}

fn branch(world: &World, name: &str) -> String {
    let list = world.json(name, &["review"]);
    list["waiting"][0]["branch"].as_str().unwrap_or_else(|| panic!("nothing waits: {list}")).to_owned()
}

/// The texts that recall finds on a machine.
fn found(world: &World, name: &str) -> String {
    world.json(name, &["recall", "where does Anna live"])["results"].to_string()
}

/// A machine that remembers where Anna lives, and a correction that waits; its branch.
fn corrected(world: &World, rules: &str, origin: &[&str]) -> String {
    settings(world, rules);
    world.sync("a");
    world.brain("a", &[&["feed", OLD], origin].concat());
    world.brain("a", &["approve", &branch(world, "a")]);
    let old = world.json("a", &["recall", "Lyon"])["results"][0]["id"].as_str().unwrap().to_owned();
    let fed = world.json("a", &[&["feed", "--corrects", &old, NEW], origin].concat());
    assert!(fed["notes"].to_string().contains("1 memory stays until a person approves"), "{fed}");
    assert!(found(world, "a").contains(OLD) && !found(world, "a").contains(NEW));
    let branch = branch(world, "a");
    let shown = world.brain("a", &["review", &branch]);
    assert!(
        shown.contains("archived: replaced by what lands") && shown.contains(&old) && shown.contains(OLD),
        "{shown}"
    );
    branch
}

#[test]
fn an_approved_correction_archives_the_memory_it_corrects() {
    for (rules, origin) in [(BY_ORIGIN, &["--origin", "webhook:x"][..]), (BY_RULE, &[])] {
        for verb in ["approve", "merge"] {
            let world = World::new();
            let branch = corrected(&world, rules, origin);
            world.brain("a", &[verb, &branch]);
            let now = found(&world, "a");
            assert!(now.contains(NEW) && !now.contains(&format!("\"text\":\"{OLD}")), "{verb}: {now}");
        }
    }
}

#[test]
fn a_correction_from_elsewhere_takes_the_place_of_what_is_believed_once_a_person_lets_it_in() {
    for word in ["neuron", "origin"] {
        let world = World::gated();
        world.clone("b");
        world.brain("a", &["feed", OLD]);
        let old = world.json("a", &["recall", "Lyon"])["results"][0]["id"].as_str().unwrap().to_owned();
        world.brain("a", &["feed", "--origin", "web:x.example", "--corrects", &old, NEW]);
        let branch = branch(&world, "a");
        let run = branch.rsplit('/').next().unwrap().to_owned();
        let stays = format!("{old} stays believed");
        for args in [&["review", &branch][..], &["approve", "--dry-run", &branch], &["approve", &branch]] {
            let said = world.brain("a", args);
            assert!(said.contains(&stays) && !said.contains("archives"), "{args:?}: {said}");
        }
        // Agents are told what is trusted, by day and after a night, here and there.
        world.brain("a", &["sleep"]);
        world.sync("a");
        world.sync("b");
        for name in ["a", "b"] {
            let told = world.brain(name, &["prime"]);
            assert!(told.contains(OLD) && !told.contains(NEW), "{told}");
            assert!(found(&world, name).contains(NEW), "recall says both");
        }
        let new = world.json("a", &["recall", "Riga"])["results"][0]["id"].as_str().unwrap().to_owned();
        let args = if word == "neuron" { vec!["approve", &new] } else { vec!["approve", "--origin", "web:x.example"] };
        let dry = world.brain("a", &[&args[..], &["--dry-run"]].concat());
        assert!(dry.contains(&format!("{old} would be archived")), "{dry}");
        let said = world.brain("a", &args);
        assert!(said.contains("archived the memories that these replace"), "{said}");
        world.brain("a", &["sleep"]);
        world.sync("a");
        world.sync("b");
        for name in ["a", "b"] {
            let told = world.brain(name, &["prime"]);
            assert!(told.contains(NEW) && !told.contains(OLD), "{told}");
        }
        world.same(&["a", "b"]);
        // The correction taken back, what it replaced comes back.
        world.brain("a", &["revert", &run]);
        let now = found(&world, "a");
        assert!(!now.contains(NEW), "{now}");
    }
}

#[test]
fn a_rejected_correction_leaves_the_memory_as_it_was() {
    for (rules, origin) in [(BY_ORIGIN, &["--origin", "webhook:x"][..]), (BY_RULE, &[])] {
        let world = World::new();
        let branch = corrected(&world, rules, origin);
        world.brain("a", &["reject", &branch, "--why", "she has not moved"]);
        let now = found(&world, "a");
        assert!(now.contains(OLD) && !now.contains(NEW), "{now}");
    }
}

#[test]
fn a_rule_that_holds_nothing_back_delays_no_correction() {
    let world = World::new();
    settings(&world, "[[review.rule]]\nname = \"large\"\nat_least = 500\n");
    world.brain("a", &["feed", OLD]);
    let old = world.json("a", &["recall", "Lyon"])["results"][0]["id"].as_str().unwrap().to_owned();
    let fed = world.json("a", &["feed", "--corrects", &old, NEW]);
    assert_eq!(fed["archived"].as_array().unwrap().len(), 1, "{fed}");
    assert!(!fed["notes"].to_string().contains("stays"), "{fed}");
    assert!(found(&world, "a").contains(NEW) && !found(&world, "a").contains(OLD));
    // A text that nobody runs on at once replaces when it lands.
    let new = world.json("a", &["recall", "Riga"])["results"][0]["id"].as_str().unwrap().to_owned();
    world.brain("a", &["feed", "--no-run", "--corrects", &new, "Anna lives in Oslo."]);
    assert!(found(&world, "a").contains(NEW));
    world.brain("a", &["run"]);
    assert!(found(&world, "a").contains("Oslo") && !found(&world, "a").contains(NEW));
}

#[test]
fn a_correction_that_another_machine_rejected_first_gives_the_memory_back() {
    let world = World::gated();
    world.clone("b");
    let branch = corrected(&world, BY_RULE, &[]);
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.brain("a", &["approve", &branch]);
    world.brain("b", &["reject", &branch, "--why", "she has not moved"]);
    ["b", "a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.same(&["a", "b"]);
    let now = found(&world, "a");
    assert!(now.contains(OLD) && !now.contains(NEW), "{now}");
}

#[test]
fn a_review_shows_what_wake_says_of_the_same() {
    let world = World::new();
    world.brain("a", &["feed", OLD]);
    world.brain("a", &["feed", "Bob repaired the printer."]);
    settings(&world, BY_RULE);
    world.brain("a", &["feed", NEW]);
    let waits = branch(&world, "a");
    let beside = &world.json("a", &["review", &waits])["reviews"][0]["beside"];
    assert_eq!((beside.as_array().unwrap().len(), &beside[0]["text"]), (1, &serde_json::json!(OLD)), "{beside}");
    let shown = world.brain("a", &["review", &waits]);
    assert!(shown.contains("Beside what is remembered") && !shown.contains("printer"), "{shown}");
}

#[test]
fn a_paragraph_that_a_page_under_review_no_longer_has_goes_with_an_approval() {
    const FIRST: &str = "The lab opens at eight in the morning.";
    const THIRD: &str = "Samples are kept in the freezer of room twelve.";
    const SECOND: &str = "The centrifuge is serviced by Rolf every March.";
    let world = World::gated();
    let page = |paragraphs: &[&str]| world.write(".", "lab.md", &(paragraphs.join("\n\n") + "\n"));
    let file = world.dir("lab.md").display().to_string();
    let feed = || world.json("a", &["feed", "--origin", "web:wiki.example", &file]);
    let waits = || -> Vec<String> {
        let list = world.json("a", &["review"]);
        let runs = list["waiting"].as_array().unwrap();
        runs.iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
    };
    let recalls = |words: &str| world.json("a", &["recall", words])["results"].to_string().contains(words);
    page(&[FIRST, SECOND, THIRD]);
    feed();
    world.brain("a", &["approve", &branch(&world, "a")]);
    assert!(recalls(THIRD));
    // One is changed and one is gone: two decisions.
    page(&["The lab opens at nine in the morning.", SECOND]);
    let notes = feed()["notes"].to_string();
    assert!(notes.contains("1 memory stays until a person approves the text that corrects it"), "{notes}");
    assert!(
        notes.contains("1 memory that the file no longer has stays until a person approves its removal"),
        "{notes}"
    );
    let runs = waits();
    assert_eq!(runs.len(), 2, "{runs:?}");
    feed();
    assert_eq!(waits(), runs, "what waits is not proposed twice");
    let removal = runs.iter().find(|run| run.ends_with("-human")).unwrap();
    let shown = world.brain("a", &["review", removal, "--no-questions"]);
    assert!(shown.contains(THIRD) && !shown.contains(FIRST), "{shown}");
    let text = runs.iter().find(|run| *run != removal).unwrap();
    world.brain("a", &["approve", text]);
    assert!(recalls(THIRD) && !recalls(FIRST));
    world.brain("a", &["approve", removal]);
    assert!(!recalls(THIRD));
    // A removal alone.
    page(&["The lab opens at nine in the morning."]);
    feed();
    let [removal] = &waits()[..] else { panic!("{:?}", waits()) };
    world.brain("a", &["reject", removal]);
    assert!(recalls(SECOND));
    assert!(feed()["notes"].to_string().contains("stays until a person approves its removal"));
    world.brain("a", &["approve", &waits()[0]]);
    assert!(!recalls(SECOND) && recalls("The lab opens at nine in the morning."));
    world.sync("a");
    world.clone("b");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn a_part_of_a_run_keeps_the_speaker_and_the_session_of_its_memory() {
    let world = World::new();
    let lines =
        ["ladder of house three is broken", "roof of house three is wet", "gutter of house three is full of leaves"]
            .map(|words| format!("{{\"text\":\"Rolf: the {words}\",\"session\":\"s1\"}}\n"));
    world.write(".", "said.jsonl", &lines.concat());
    world.brain("a", &["feed", "--origin", "web:x.example", &world.dir("said.jsonl").display().to_string()]);
    let waiting = branch(&world, "a");
    let shown = world.json("a", &["review", &waiting]);
    let neurons = shown["reviews"][0]["neurons"].as_array().unwrap();
    let is_roof = |neuron: &&serde_json::Value| {
        neuron["type"] == "episodic" && neuron["concept"].as_str().is_some_and(|concept| concept.contains("roof"))
    };
    let roof = neurons.iter().find(is_roof).unwrap()["id"].as_str().unwrap().to_owned();
    let said = world.json("a", &["approve", &waiting, "--only", &roof]);
    let value = said["reviews"][0]["value"].as_f64().or(said["value"].as_f64()).unwrap_or_else(|| panic!("{said}"));
    assert!((value - 1.0 / 3.0).abs() < 0.001, "one of three memories landed: {said}");
    let memory = world.neuron("a", "wake", &roof);
    let speaker = memory["connections"].to_string();
    assert!(speaker.contains("rolf"), "{memory}");
}
