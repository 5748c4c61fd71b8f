//! Brains of an older format: they are read and go on as they are, until somebody upgrades them; machines of both formats
//! stay one brain.

use crate::machines::{self, World};
use crate::sandbox::{self, Sandbox, adjust, connect, create};
use serde_json::{Value, json};

/// Neurons of wake in each format, told apart by what format 1 always has.
fn formats(sandbox: &Sandbox) -> (usize, usize) {
    let all = sandbox.documents("wake", "network/neurons");
    let first = all.values().filter(|neuron| neuron["connections"].is_array()).count();
    (first, all.len() - first)
}

/// Says in wake's tree that the brain is in that format, by plain git.
fn relabel(git: &dyn Fn(&[&str]) -> String, format: u32) {
    let metadata = git(&["show", "wake:network/metadata.json"]);
    let mut metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["format"] = json!(format);
    let folder = git(&["rev-parse", "--absolute-git-dir"]);
    let text = std::path::Path::new(folder.trim()).join("relabelled");
    std::fs::write(&text, format!("{metadata:#}\n")).unwrap();
    let blob = git(&["hash-object", "-w", text.to_str().unwrap()]);
    let index = std::path::Path::new(folder.trim()).join("relabelling");
    let index = format!("GIT_INDEX_FILE={}", index.display());
    // `git -c alias` with an environment of its own, so that no index of a work tree is touched.
    let run = |script: &str| git(&["-c", &format!("alias.x=!{index} git {script}"), "x"]);
    run("read-tree wake");
    run(&format!("update-index --add --cacheinfo 100644,{},network/metadata.json", blob.trim()));
    let tree = run("write-tree");
    let commit = git(&["commit-tree", "-p", "wake", "-m", "another format", tree.trim()]);
    git(&["update-ref", "refs/heads/wake", commit.trim()]);
}

#[test]
fn a_brain_of_format_1_goes_on_until_it_is_upgraded() {
    let sandbox = Sandbox::fixed(sandbox::NOW, "upgrade");
    relabel(&|args| sandbox.git(args), 1);
    sandbox.brain(&["feed", "--source", "m:1", "Anna keeps green tea from Uji in a tin."]).exits(0);
    sandbox.brain(&["feed", "--source", "m:2", "Boris drinks black coffee in Oslo."]).exits(0);
    let (first, second) = formats(&sandbox);
    assert!(first > 4 && second < 7, "{first} of format 1, {second} of format 2");
    let run = sandbox.json(&["log", "-n", "1"])["entries"][0]["run"].as_str().unwrap().to_owned();
    let records = sandbox.documents("wake", "network/runs");
    assert!(
        records.values().any(|r| r.get("format").is_none() && r["ops"].as_array().is_some_and(|ops| ops.len() > 5))
    );
    sandbox.brain(&["check"]).exits(0);
    let doctor = || sandbox.brain(&["--json", "doctor"]).document();
    let found = doctor();
    let says = |found: &Value, text: &str| found["findings"].to_string().contains(text);
    assert!(says(&found, "git brain upgrade"), "{found}");

    // What is put into canonical form is put into that of the brain.
    sandbox.git(&["checkout", "-q", "wake"]);
    let path = sandbox.neuron_path("wake", "decision_point").unwrap();
    let text = sandbox.git(&["show", &format!("wake:{path}")]);
    sandbox.file(&format!("here/{path}"), text.replace('\n', " "));
    sandbox.brain(&["check", "--fix"]).exits(0);
    let fixed = std::fs::read_to_string(sandbox.path(&format!("here/{path}"))).unwrap();
    assert!(fixed.contains("  \"named_by\": {\"concept\""), "{fixed}");
    sandbox.git(&["checkout", "-q", "-f", "main"]);

    let before = (sandbox.neurons("wake"), sandbox.json(&["recall", "Where is the tea from?"])["answers"].clone());
    let dry = sandbox.json(&["upgrade", "--dry-run"]);
    assert_eq!((&dry["from"], &dry["to"], &dry["commit"]), (&json!(1), &json!(2), &Value::Null));
    assert_eq!(dry["rewritten"], json!(first));
    assert_eq!(formats(&sandbox), (first, second), "a rehearsal");
    let done = sandbox.json(&["upgrade"]);
    assert_eq!((&done["rewritten"], &done["from"]), (&json!(first), &json!(1)));
    assert_eq!(formats(&sandbox), (0, first + second));
    sandbox.brain(&["check"]).exits(0);
    let values = |neurons: std::collections::BTreeMap<String, Value>| -> Vec<(String, Value)> {
        let strip = |mut neuron: Value| {
            neuron.as_object_mut().unwrap().retain(|field, _| field != "version" && field != "named_by");
            neuron
        };
        neurons.into_iter().map(|(id, neuron)| (id, strip(neuron))).collect()
    };
    assert_eq!(values(sandbox.neurons("wake")), values(before.0), "what it says did not change");
    assert_eq!(sandbox.json(&["recall", "Where is the tea from?"])["answers"], before.1);
    let nothing = sandbox.brain(&["diff", "wake~1", "wake"]);
    assert!(!nothing.out.contains("~ "), "{nothing}");
    let again = sandbox.json(&["upgrade"]);
    assert_eq!((&again["rewritten"], &again["commit"]), (&json!(0), &Value::Null));
    assert!(!says(&doctor(), "git brain upgrade"));

    // What was recorded in format 1 is explained and taken back, in format 2.
    sandbox.brain(&["revert", "--run", &run]).exits(0);
    sandbox.brain(&["feed", "--source", "m:3", "Clara bakes bread in Lyon."]).exits(0);
    let records = sandbox.documents("wake", "network/runs");
    assert!(records.values().any(|record| record["format"] == 2 && record["implied"].as_u64() > Some(5)));
    let new = sandbox.documents("wake", "network/neurons").into_values().find(|n| n["source"] == "m:3").unwrap();
    let fields: Vec<&String> = new.as_object().unwrap().keys().collect();
    assert!(!fields.iter().any(|field| ["version", "origin", "last_activated"].contains(&field.as_str())), "{new}");
    sandbox.brain(&["check"]).exits(0);
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.brain(&["check", "main"]).exits(0);
    assert!(sandbox.git(&["show", "main:network/metadata.json"]).contains("\"format\": 2"));
    sandbox.brain(&["sleep", "--undo"]).exits(0);
    sandbox.brain(&["check"]).exits(0);
    sandbox.brain(&["check", "main"]).exits(0);
}

#[test]
fn machines_of_both_formats_are_one_brain() {
    for gated in [false, true] {
        let world = World { sandbox: Sandbox::empty() };
        match gated {
            true => drop(world.brain(".", &["init", "--bare", "remote.git"])),
            false => drop(world.git(".", &["init", "-q", "--bare", "-b", "main", "remote.git"])),
        }
        // A format never goes back, so the brain begins in it.
        world.brain(".", &["init", "--no-hooks", "a"]);
        relabel(&|args| world.git("a", args), 1);
        let first = world.git("a", &["commit-tree", "-m", "a brain", "wake^{tree}"]);
        for branch in ["main", "wake"] {
            world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &first]);
        }
        world.git("a", &["reset", "-q", "--hard"]);
        world.git("a", &["remote", "add", "origin", "../remote.git"]);
        world.apply("a", json!([create("x"), create("y"), connect("x", "y", "feeds_into", 20000)]));
        world.sync("a");
        world.clone("b");
        world.clone("c");
        // b works on in format 1, while a upgrades, and c was asleep.
        world.apply("b", json!([adjust("x", "y", "feeds_into", 30), create("of-b")]));
        world.apply("c", json!([create("of-c")]));
        world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("of-a")]));
        assert_eq!(world.json("a", &["upgrade"])["from"], 1);
        if gated {
            // A merge by plain git that has the metadata of its older side.
            let (old, new) = (world.tip("remote.git", "wake"), world.tip("a", "wake"));
            let metadata = world.git("a", &["show", &format!("{old}:network/metadata.json")]) + "\n";
            let files = [("network/metadata.json", Some(metadata.as_str()))];
            let merge = world.commit("a", &new, &[&old, &new], &files, "a merge by hand", &[]);
            machines::refused(&world, "an older format", &merge, "wake", "goes back from format 2 to 1");
        }
        world.apply("a", json!([create("of-a-later")]));
        for name in ["a", "b", "c", "a", "b"] {
            world.sync(name);
        }
        world.same(&["a", "b", "c"]);
        assert_eq!(world.weight("c"), 20130);
        for id in ["of-a", "of-b", "of-c", "of-a-later"] {
            assert_eq!(world.neuron("c", "wake", id)["id"], id);
        }
        let metadata: Value = serde_json::from_str(&world.git("b", &["show", "wake:network/metadata.json"])).unwrap();
        assert_eq!((&metadata["format"], &metadata["bootstrap_complete"]), (&json!(2), &json!(true)));
        // A night over both, on one machine and then on another.
        world.slept("b");
        for name in ["b", "a", "c", "b"] {
            world.sync(name);
        }
        world.same(&["a", "b", "c"]);
        world.brain("c", &["upgrade"]);
        world.brain("c", &["sleep", "--undo"]);
        for name in ["c", "a", "b", "c"] {
            world.sync(name);
        }
        world.same(&["a", "b", "c"]);
    }
}

#[test]
fn a_brain_that_a_newer_program_wrote_is_refused_with_what_to_do() {
    let sandbox = Sandbox::fixed(sandbox::NOW, "newer");
    relabel(&|args| sandbox.git(args), 3);
    for command in [&["recall", "tea"][..], &["feed", "tea"], &["status"], &["sleep"], &["upgrade"]] {
        let answer = sandbox.brain(&[&["--json"], command].concat()).exits(3);
        let error = answer.error();
        assert!(error["error"].to_string().contains("format 3"), "{answer}");
        assert!(error["hint"].to_string().contains("newer git-brain"), "{answer}");
    }
    assert!(sandbox.brain(&["check"]).exits(1).out.contains("formats from 1 up to 2"));
    let doctor = sandbox.brain(&["doctor"]).exits(1);
    assert!(
        doctor.out.contains("format: this brain is in format 3") && doctor.out.contains("newer git-brain"),
        "{doctor}"
    );
    assert!(!doctor.out.contains("correct it on"), "{doctor}");
    relabel(&|args| sandbox.git(args), 2);
    sandbox.brain(&["feed", "tea"]).exits(0);
}

#[test]
fn the_night_after_an_upgrade_strengthens_what_its_day_touched_alone() {
    let sandbox = Sandbox::fixed(sandbox::NOW, "upgraded night");
    relabel(&|args| sandbox.git(args), 1);
    for text in ["Anna keeps green tea from Uji in a tin.", "Boris drinks black coffee in Oslo."] {
        sandbox.brain(&["feed", text]).exits(0);
    }
    sandbox.json(&["sleep"]);
    sandbox.brain(&["feed", "Clara won a violin."]).exits(0);
    let due = |sandbox: &Sandbox| sandbox.json(&["sleep", "--dry-run"])["consolidated"].clone();
    let before = due(&sandbox);
    assert!(sandbox.json(&["upgrade"])["rewritten"].as_u64().unwrap() > 10);
    assert_eq!(due(&sandbox), before);
}
