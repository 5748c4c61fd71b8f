//! Many machines over one remote: real git, bare remotes in folders, the real clock.

use std::collections::BTreeMap;

use crate::machines::World;
use crate::sandbox::{self, adjust, create, delta};
use serde_json::{Value, json};

#[test]
fn a_clone_becomes_a_brain_and_both_write() {
    let world = World::new();
    world.clone("b");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("of-a")]));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 30), create("of-b")]));
    let dry = world.json("b", &["sync", "--dry-run"]);
    assert_eq!((&dry["dry_run"], &dry["pushed"]), (&json!(true), &json!([])));
    world.sync("a");
    let report = world.sync("b");
    assert_eq!(report["races"], 0, "{report}");
    world.sync("a");
    world.same(&["a", "b"]);
    for name in ["a", "b"] {
        assert_eq!(world.weight(name), 20130);
        assert_eq!(world.neuron(name, "wake", "of-a")["id"], "of-a");
        assert_eq!(world.neuron(name, "wake", "of-b")["id"], "of-b");
    }
    // Again: nothing moves.
    let before = (world.refs("a"), world.refs("remote.git"));
    let report = world.sync("a");
    assert_eq!((&report["fetched"], &report["pushed"]), (&json!(0), &json!([])));
    assert_eq!((world.refs("a"), world.refs("remote.git")), before);
}

#[test]
fn two_machines_that_both_slept_become_one_again() {
    let world = World::gated();
    world.clone("b");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("of-a")]));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 30), create("of-b")]));
    let (of_a, of_b) = (world.slept("a"), world.slept("b"));
    world.sync("a");
    let report = world.sync("b");
    assert_eq!(report["rescued"], json!(of_b));
    assert_eq!(world.tip("b", "main"), of_a);
    assert_eq!(world.tip("b", &format!("refs/git-brain/rescue/{of_b}")), of_b);
    world.sync("a");
    world.same(&["a", "b"]);
    assert!(world.weight("a") >= 20130);
    assert_eq!(world.git("a", &["merge-base", "main", "wake"]), of_a);
    world.git("a", &["merge-base", "--is-ancestor", &of_b, "wake"]);
    // The next sleep brings to main what the given up one had consolidated, and says so.
    let next = world.slept("b");
    let record = world.json("b", &["sleep", "--undo", "--dry-run"]);
    assert_eq!(record["commit"], json!(next));
    assert_eq!(world.neuron("b", "main", "of-b")["id"], "of-b");
    let learnt = world.git("b", &["show", "main", "--stat=300", "--format="]);
    assert!(learnt.contains("of-b"), "{learnt}");
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.json("a", &["sleep"])["state"], "quiet");
    world.brain("a", &["sleep", "--undo"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn people_edit_settings_on_both_sides() {
    let world = World::gated();
    world.clone("b");
    let settings = world.read("a", "brain.toml");
    world.write("a", "brain.toml", &format!("{settings}\n# by a\n"));
    world.git("a", &["commit", "-q", "-am", "a remark of a"]);
    world.write("b", "agents/notes.md", "who is who\n");
    world.git("b", &["add", "agents"]);
    world.git("b", &["commit", "-q", "-m", "notes of b"]);
    world.apply("b", json!([create("of-b")]));
    let given_up = world.slept("b");
    world.sync("a");
    assert_eq!(world.sync("b")["rescued"], json!(given_up));
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.git("a", &["log", "-2", "--format=%s", "main"]), "notes of b\na remark of a");
    assert_eq!(world.git("a", &["rev-list", "--merges", "--count", "main"]), "0");
    for branch in ["main", "wake"] {
        assert!(world.git("b", &["show", &format!("{branch}:brain.toml")]).contains("# by a"));
        assert_eq!(world.git("b", &["show", &format!("{branch}:agents/notes.md")]), "who is who");
    }
    // The same file on both sides is a person's to decide.
    for name in ["a", "b"] {
        world.write(name, "brain.toml", &format!("{settings}\n# only {name}\n"));
        world.git(name, &["commit", "-q", "-am", name]);
    }
    world.sync("a");
    let before = world.git("b", &["for-each-ref", "refs/heads"]);
    assert!(world.refused("b").contains("brain.toml"));
    assert_eq!(world.git("b", &["for-each-ref", "refs/heads"]), before);
    world.write("b", "brain.toml", &format!("{settings}\n# only a\n"));
    world.git("b", &["commit", "-q", "-am", "theirs"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn agents_that_are_new_on_main_bring_their_runs_along() {
    let world = World::gated();
    world.clone("b");
    let agent = world.read("a", "agents/perception.json").replace("\"name\": \"perception\"", "\"name\": \"second\"");
    world.write("a", "agents/second.json", &agent);
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-q", "-m", "a second memory"]);
    world.brain("a", &["trust", "--yes"]);
    let (branch, _) = world.waiting("a", "second", json!([create("by-second")]));
    world.brain("a", &["merge", &branch]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    assert_eq!(world.neuron("b", "wake", "by-second")["id"], "by-second");
    // A machine that was offline while settings and agents changed ran by those that it knew.
    let settings = world.read("a", "brain.toml");
    let weaker = settings.replace("[learning]\n", "[learning]\nsalience_gain = 30000\n");
    assert_ne!(weaker, settings);
    world.write("a", "brain.toml", &weaker);
    world.git("a", &["rm", "-q", "agents/second.json"]);
    world.git("a", &["commit", "-q", "-am", "salience is gained slower, by one agent less"]);
    world.sync("a");
    world.brain("b", &["trust", "--yes"]);
    for agent in ["second", "perception"] {
        let (branch, _) = world.waiting("b", agent, json!([{"op": "activate", "id": "by-second", "strength": 0.5}]));
        world.brain("b", &["merge", &branch]);
    }
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    // From now on it is over.
    let dir = world.dir("b").display().to_string();
    let input = delta(json!([create("late")])).to_string();
    world.sandbox.brain_with(&["-C", &dir, "apply", "--agent", "second", "-"], input.as_bytes()).exits(3);
}

#[test]
fn what_waits_for_review_waits_everywhere() {
    let world = World::gated();
    world.clone("b");
    let (branch, commit) = world.waiting("a", "perception", json!([create("maybe")]));
    world.sync("a");
    world.sync("b");
    assert_eq!(world.tip("b", &branch), commit);
    world.brain("b", &["merge", &branch]);
    world.sync("b");
    assert!(!world.refs("remote.git").contains(&branch));
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn the_doorbell_of_a_remote_brings_what_was_pushed_into_the_loop() {
    let world = World::gated();
    world.brain("remote.git", &["hooks", "install"]);
    world.write("a", "brain.toml", &format!("{}\n# pushed\n", world.read("a", "brain.toml")));
    world.git("a", &["commit", "-q", "-am", "a remark"]);
    let wake = world.tip("remote.git", "wake");
    world.git("a", &["push", "-q", "origin", "main"]);
    // In the background, by a process that outlives the push.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !world.git("remote.git", &["show", "wake:brain.toml"]).contains("# pushed") {
        assert!(std::time::Instant::now() < end, "nobody came: {}", world.read("remote.git", "git-brain/hook.log"));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    world.git("remote.git", &["merge-base", "--is-ancestor", &wake, "wake"]);
    world.sync("a");
    world.brain("a", &["check"]);
}

#[test]
fn a_signal_that_two_machines_answered_does_not_stop_the_one_that_sleeps_later() {
    for first in ["a", "b"] {
        let world = World::gated();
        world.clone("b");
        let signal = json!({"op": "signal", "to": "memory", "payload": {"kind": "remember"}});
        world.apply("a", json!([signal]));
        world.sync("a");
        world.sync("b");
        let second = if first == "a" { "b" } else { "a" };
        world.brain(first, &["run"]);
        world.brain(second, &["run"]);
        world.slept("a");
        world.sync("a");
        world.sync("b");
        world.brain("b", &["feed", "Ada moved to Basel."]);
        world.slept("b");
        world.sync("b");
        world.sync("a");
        world.same(&["a", "b"]);
        let answers = |branch| world.git("a", &["ls-tree", "-r", branch, "network/signals"]);
        let both = (answers("main"), answers("wake"));
        assert!(both.0.contains(".ack.json"), "{both:?}");
        assert_eq!(both.0, both.1, "main and wake have one answer");
    }
}

#[test]
fn a_signal_that_two_machines_answered_may_be_merged_by_plain_git() {
    let world = World::gated();
    world.clone("b");
    world.apply("a", json!([{"op": "signal", "to": "memory", "payload": {"kind": "remember"}}]));
    world.sync("a");
    world.sync("b");
    world.brain("a", &["run"]);
    world.brain("b", &["run"]);
    world.sync("a");
    world.git("b", &["checkout", "-q", "wake"]);
    world.git("b", &["fetch", "-q", "origin"]);
    world.git("b", &["merge", "-q", "--no-edit", "origin/wake"]);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
}

#[test]
fn a_sleep_taken_back_beside_another_main_stops_no_later_one() {
    let world = World::gated();
    world.clone("b");
    world.apply("b", json!([adjust("x", "y", "feeds_into", 30)]));
    world.slept("b");
    world.sync("b");
    world.brain("b", &["sleep", "--undo"]);
    world.sync("a");
    std::fs::write(world.dir("a/note.md"), "text").unwrap();
    world.git("a", &["add", "note.md"]);
    world.git("a", &["commit", "-qm", "a note"]);
    world.sync("a");
    world.sync("b");
    world.sync("a");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 100)]));
    let sleeps = || world.git("a", &["ls-tree", "-r", "--name-only", "main", "network/sleep"]);
    let first = sleeps();
    world.slept("a");
    assert!(!first.is_empty() && sleeps().contains(&first), "main still has what happened: {first} in {}", sleeps());
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn a_goal_that_two_people_closed_is_closed() {
    let world = World::gated();
    let set = world.json("a", &["goal", "add", "Find the heron"]);
    let id = set["goal"].as_str().unwrap_or_else(|| panic!("{set}")).to_owned();
    world.sync("a");
    world.clone("b");
    world.brain("a", &["goal", "close", &id]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    world.brain("b", &["goal", "close", &id]);
    world.sync("a");
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    let later = world.git("b", &["log", "-1", "--no-merges", "--format=%(trailers:key=Run,valueonly)", "wake"]);
    let goal = world.git("a", &["show", &format!("wake:network/goals/{id}.json")]);
    assert!(goal.contains("reached") && goal.contains(later.trim()), "{goal}");
    // And it can be taken back like everything that a run did.
    world.brain("a", &["revert", "--run", later.trim()]);
    assert!(world.git("a", &["show", &format!("wake:network/goals/{id}.json")]).contains("\"open\""));
}

#[test]
fn a_signal_is_answered_beside_neurons_that_come_from_far_away() {
    let world = World::gated();
    world.brain("a", &["feed", "Anna saw a heron in Kyoto."]);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["run"]);
    world.apply("b", json!([{"op": "signal", "to": "memory", "payload": {"kind": "question", "query": "who?"}}]));
    for who in ["Ben", "Claire", "Yuki", "Olga"] {
        world.brain("a", &["feed", &format!("{who} saw green tea in Oslo. It is urgent. Who knows why?")]);
        world.brain("a", &["feed", &format!("{who} saw the boat in Lyon. It is urgent. Who knows why?")]);
    }
    world.brain("a", &["recall", "--learn", "who saw green tea"]);
    world.sync("a");
    world.sync("b");
    world.brain("b", &["run"]);
    let sent = world.git("b", &["ls-tree", "-r", "--name-only", "wake", "network/signals/memory"]);
    let unanswered: Vec<&str> = sent
        .lines()
        .filter(|path| !path.ends_with(".ack.json") && !sent.contains(&path.replace(".json", ".ack.json")))
        .collect();
    assert!(sent.contains(".json") && unanswered.is_empty(), "{unanswered:?}");
}

/// Two machines that know four memories; the one that is taken back, and the run that made it.
fn remembering() -> (World, String, String) {
    let world = World::gated();
    for text in [
        "Ben keeps the green tea in the cellar beside the old clock.",
        "Anna and Ben talk about the old clock in the cellar.",
        CLOCK,
    ] {
        world.brain("a", &["feed", text]);
    }
    world.sync("a");
    world.clone("b");
    world.sync("b");
    let id = answers(&world, "a").into_iter().find(|(_, text)| text == CLOCK).expect("it is remembered").0;
    let run = world.neuron("a", "wake", &id)["named_by"]["concept"]["run"].as_str().unwrap().to_owned();
    (world, id, run)
}

const CLOCK: &str = "The old clock in the cellar belongs to Anna.";

/// What a machine answers about the clock: ids and texts.
fn answers(world: &World, name: &str) -> Vec<(String, String)> {
    let answer = world.json(name, &["recall", "whose is the old clock in the cellar"]);
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
    answer["results"].as_array().unwrap().iter().map(|one| (text(one, "id"), text(one, "text"))).collect()
}

#[test]
fn what_a_person_took_back_stays_taken_back_whatever_another_machine_did_meanwhile() {
    let ask = ["recall", "--learn", "whose is the old clock in the cellar"];
    let meanwhile: [&[&str]; 3] = [&["sleep"], &ask, &["feed", "Somebody asked about the old clock of Anna."]];
    for (number, theirs) in meanwhile.iter().enumerate() {
        for corrected in [false, true] {
            let (world, id, run) = remembering();
            match corrected {
                true => world.brain("a", &["feed", "--corrects", &id, "The old clock in the cellar is Carl's."]),
                false => world.brain("a", &["revert", "--run", &run]),
            };
            world.brain("b", theirs);
            // Who comes first merges nothing; the other does.
            for name in if number == 1 { ["b", "a", "b"] } else { ["a", "b", "a"] } {
                world.sync(name);
            }
            world.same(&["a", "b"]);
            for name in ["a", "b"] {
                let found = answers(&world, name);
                assert!(!found.iter().any(|(_, text)| text == CLOCK), "{theirs:?} {corrected} {name}: {found:?}");
                assert!(found.len() > 1, "what others remembered stays: {found:?}");
            }
            world.brain("b", &["sleep"]);
            world.sync("b");
            world.sync("a");
            world.same(&["a", "b"]);
            assert!(
                !answers(&world, "a").iter().any(|(_, text)| text == CLOCK),
                "{theirs:?} {corrected} after a night"
            );
            if number > 0 {
                continue;
            }
            // Whoever says it again means it.
            world.brain("b", &["feed", "--again", CLOCK]);
            world.sync("b");
            world.sync("a");
            world.same(&["a", "b"]);
            for name in ["a", "b"] {
                let found = answers(&world, name);
                assert!(found.iter().any(|(_, text)| text == CLOCK), "{theirs:?} {corrected} {name}: {found:?}");
            }
        }
    }
}

fn run_of(report: &Value) -> String {
    report["run"].as_str().unwrap_or_else(|| panic!("{report}")).to_owned()
}

fn activate(id: &str) -> Value {
    json!({"op": "activate", "id": id, "strength": 0.1})
}

/// Each machine takes the run back, before they meet; the runs that did, of `a` and of `b`.
fn both_take_back(world: &World, run: &str) -> [String; 2] {
    let by = ["a", "b"].map(|name| {
        let report = world.json(name, &["revert", "--run", run]);
        report["by"][0].as_str().unwrap().to_owned()
    });
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    by
}

#[test]
fn a_run_that_two_machines_take_back_is_taken_back_once_and_comes_back_once() {
    let world = World::gated();
    world.clone("b");
    let run = run_of(&world.apply("a", json!([adjust("x", "y", "feeds_into", 100), create("z"), activate("x")])));
    world.sync("a");
    world.sync("b");
    world.apply("a", json!([adjust("x", "y", "feeds_into", 7)]));
    world.apply("b", json!([adjust("x", "y", "feeds_into", 5), activate("z")]));
    let [by_a, by_b] = both_take_back(&world, &run);
    assert_eq!(world.weight("a"), 20012);
    assert_eq!(world.neuron("a", "wake", "x")["activation_count"], 0);
    // One machine had removed it; what the other one did to it stays.
    assert_eq!(world.neuron("a", "wake", "z")["activation_count"], 1);
    // Taking one of the two back brings the run back, once, and says that it was both.
    let back = world.json("b", &["revert", "--run", &by_a]);
    assert_eq!(back["runs"], json!([by_a, by_b]), "{back}");
    assert_eq!(world.weight("b"), 20112);
    assert_eq!(world.neuron("b", "wake", "x")["activation_count"], 1);
    world.json("b", &["revert", "--run", &run]);
    assert_eq!(world.weight("b"), 20012, "and it can be taken back again");
}

/// The live neurons of wake: how often each was activated, and its connections that have weight.
fn live(world: &World, name: &str) -> BTreeMap<String, (u64, Vec<Value>)> {
    let files = world.git(name, &["ls-tree", "-r", "--name-only", "wake", "network/neurons"]);
    let neurons = files.lines().map(|path| world.git(name, &["show", &format!("wake:{path}")]));
    let neurons = neurons.map(|text| sandbox::whole(serde_json::from_str(&text).unwrap()));
    let live = neurons.filter(|n| n.get("archived").is_none_or(|run| run.is_null() || *run != n["run"]));
    let of = |n: Value| {
        let connections = n["connections"].as_array().cloned().unwrap_or_default();
        let weighty = connections.into_iter().filter(|c| c["weight"] != 0).collect();
        (n["id"].as_str().unwrap().to_owned(), (n["activation_count"].as_u64().unwrap(), weighty))
    };
    live.map(of).collect()
}

#[test]
fn reverts_of_an_origin_that_overlap_take_back_what_they_share_once() {
    let world = World::gated();
    world.clone("b");
    world.json("a", &["feed", "Anna grows green tea in Uji."]);
    let before = live(&world, "a");
    let feed = |name: &str, text: &str| world.json(name, &["feed", text, "--origin", "mcp:editor"]);
    feed("a", "Boris sells green tea in Uji.");
    world.sync("a");
    world.sync("b");
    feed("a", "Anna sells black tea in Uji.");
    feed("b", "Boris grows green tea in Kyoto.");
    let shared = live(&world, "a");
    let by = ["a", "b"].map(|name| {
        let report = world.json(name, &["revert", "--origin", "mcp"]);
        let by = report["by"].as_array().unwrap();
        assert_eq!((by.len(), live(&world, name)), (1, before.clone()), "{report}");
        (report["runs"].as_array().unwrap().len(), by[0].as_str().unwrap().to_owned())
    });
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    assert_eq!(live(&world, "a"), before);
    // Taken back alone, one of them brings back what the other one does not take back as well.
    let back = world.json("a", &["revert", "--run", &by[0].1]);
    assert_eq!(back["runs"], json!([by[0].1]));
    let half = live(&world, "a");
    assert_ne!(half, before);
    assert!(half.keys().all(|id| shared.contains_key(id)), "nothing of b's alone");
    world.json("a", &["revert", "--run", &by[1].1]);
    let all = live(&world, "a");
    assert!(shared.keys().chain(half.keys()).all(|id| all.contains_key(id)), "{all:?}");
}

#[test]
fn four_machines_that_take_one_run_back_take_it_back_once() {
    let world = World::gated();
    for name in ["b", "c", "d"] {
        world.clone(name);
    }
    let run = run_of(&world.apply("a", json!([adjust("x", "y", "feeds_into", 100)])));
    let names = ["a", "b", "c", "d"];
    names.iter().for_each(|name| drop(world.sync(name)));
    for (index, name) in (1..).zip(names) {
        world.apply(name, json!([adjust("x", "y", "feeds_into", index)]));
        world.json(name, &["revert", "--run", &run]);
    }
    // Two and two meet first, by a remote of their own, and then all.
    world.git(".", &["clone", "-q", "--bare", "remote.git", "other.git"]);
    for name in ["c", "d", "c"] {
        world.json(name, &["sync", "../other.git"]);
    }
    for name in ["a", "b", "a", "c", "d", "a", "b", "c"] {
        world.sync(name);
    }
    world.same(&names);
    assert_eq!(world.weight("a"), 20010);
}

#[test]
fn a_sleep_that_two_machines_take_back_is_taken_back_once() {
    let world = World::gated();
    world.clone("b");
    world.apply(
        "a",
        json!([{"op": "activate", "id": "x", "strength": 1.0}, {"op": "activate", "id": "y", "strength": 1.0}]),
    );
    let before = world.weight("a");
    world.slept("a");
    assert!(world.weight("a") > before, "the night strengthened it");
    world.sync("a");
    world.sync("b");
    for (name, by) in [("a", 7), ("b", 5)] {
        world.apply(name, json!([adjust("x", "y", "feeds_into", by)]));
        world.json(name, &["sleep", "--undo"]);
        assert_eq!(world.weight(name), before + u64::try_from(by).unwrap());
    }
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    assert_eq!(world.weight("a"), before + 12);
}

#[test]
fn a_sleep_whose_undoing_main_has_lost_is_not_taken_back_again_in_wake() {
    let world = World::gated();
    world.clone("b");
    let vivid = json!([{"op": "activate", "id": "x", "strength": 1.0}, {"op": "activate", "id": "y", "strength": 1.0}]);
    world.apply("a", vivid.clone());
    let before = world.weight("a");
    let first = world.slept("a");
    let night = world.weight("a") - before;
    assert!(night > 0);
    world.sync("a");
    world.sync("b");
    // The main that a's undoing is on is given up, because b's was pushed first.
    world.json("a", &["sleep", "--undo"]);
    world.apply("b", vivid);
    world.slept("b");
    for name in ["b", "a", "b"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    world.json("b", &["sleep", "--undo"]);
    assert_eq!(world.weight("b"), before, "both nights are taken back in wake");
    let again = world.json("b", &["sleep", "--undo"]);
    assert_eq!(again["commit"], json!(first), "{again}");
    assert_eq!(world.weight("b"), before);
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    assert_eq!(world.weight("a"), before);
}

#[test]
fn a_night_of_either_machine_is_shown_by_both() {
    let world = World::new();
    world.clone("b");
    for machine in ["a", "b"] {
        world.json(machine, &["feed", &format!("Anna of {machine} planted apple trees behind the school.")]);
        world.json(machine, &["sleep"]);
    }
    for machine in ["a", "b", "a"] {
        world.sync(machine);
    }
    for machine in ["a", "b"] {
        let listed = world.git(machine, &["ls-tree", "-r", "--name-only", "wake", "network/sleep"]);
        let nights: Vec<&str> = listed.lines().map(|path| path.rsplit('/').next().unwrap()).collect();
        assert_eq!(nights.len(), 2, "{listed}");
        for night in nights {
            let shown = world.json(machine, &["show", night.trim_end_matches(".json")]);
            assert!(!shown["document"]["consolidated"].as_array().unwrap().is_empty(), "{shown:#}");
        }
    }
}
