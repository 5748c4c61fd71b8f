//! Decisions that people change their minds about, or that cross: of each statement all machines and agents are told the newest word.

use crate::machines::World;
use crate::review_second::{as_person, run_of, world};
use serde_json::{Value, json};

pub const TWO: &str = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\", \"perception\"]\n";
pub const LOCK: &str = "The lock keeper sleeps between two and four.";
pub const OLD: &str = "The parrot of Anna lives in Kyoto.";
pub const NEW: &str = "The parrot of Anna lives in Osaka.";

pub fn belief(id: &str, text: &str) -> Value {
    json!({"op": "create", "id": id, "concept": text, "type": "semantic"})
}

/// Two machines, a brain and a gate.
pub fn two(rules: &str) -> World {
    let world = world(World::gated(), rules);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    world.sync("b");
    world
}

pub fn sync(world: &World, machines: &[&str]) {
    machines.iter().for_each(|machine| drop(world.sync(machine)));
}

/// A run of the scribe that waits on both machines.
pub fn waiting(world: &World, ops: Value) -> String {
    let (branch, _) = world.waiting("a", "scribe", ops);
    sync(world, &["a", "b"]);
    run_of(&branch).to_owned()
}

pub fn found(world: &World, machine: &str) -> String {
    world.json(machine, &["recall", "where does the parrot of Anna live"])["results"].to_string()
}

#[test]
fn approval_that_gave_way_leaves_the_memory_that_it_replaced() {
    let world = two("[origins]\nother = \"review\"\n");
    world.brain("a", &["feed", OLD]);
    let old = world.json("a", &["recall", "Kyoto"])["results"][0]["id"].as_str().unwrap().to_owned();
    world.brain("a", &["feed", "--origin", "web:x.example", "--corrects", &old, NEW]);
    sync(&world, &["a", "b"]);
    let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    as_person(&world, "b", "ben", &["reject", &run, "--why", "not true"]).exits(0);
    as_person(&world, "a", "mara", &["approve", &run]).exits(0);
    let said = as_person(&world, "a", "mara", &["approve", "--origin", "web:x.example"]).exits(0);
    assert!(said.out.contains("archived the memories that these replace"), "{said}");
    sync(&world, &["b", "a", "b"]);
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        let now = found(&world, machine);
        assert!(now.contains(OLD) && !now.contains(NEW), "{machine}: {now}");
        assert!(world.brain(machine, &["check"]).contains("all good"));
    }
    world.brain("b", &["sleep"]);
    assert!(found(&world, "b").contains(OLD), "a night keeps it");
}

#[test]
fn approval_that_was_taken_back_stays_so_where_another_machine_approved_as_well() {
    for night in [false, true] {
        let world = two(TWO);
        as_person(&world, "a", "ben", &["feed", OLD]).exits(0);
        let first = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
        as_person(&world, "a", "ben", &["approve", &first]).exits(0);
        let old = world.json("a", &["recall", "Kyoto"])["results"][0]["id"].as_str().unwrap().to_owned();
        world.brain("a", &["feed", "--corrects", &old, NEW]);
        sync(&world, &["a", "b"]);
        let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
        as_person(&world, "b", "ben", &["approve", &run]).exits(0);
        as_person(&world, "a", "mara", &["approve", &run]).exits(0);
        as_person(&world, "a", "mara", &["revert", &run]).exits(0);
        let now = found(&world, "a");
        assert!(now.contains(OLD) && !now.contains(NEW), "{now}");
        if night {
            world.brain("a", &["sleep"]);
        }
        sync(&world, &["b", "a", "b", "a"]);
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let now = found(&world, machine);
            assert!(now.contains(OLD) && !now.contains(NEW), "night: {night}, {machine}: {now}");
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
    }
}

#[test]
fn what_is_left_of_a_rejected_run_has_no_words_of_it() {
    for decision in
        [&["reject"][..], &["reject", "--forget"], &["approve", "--only", "1"], &["approve", "--only", "1,3"]]
    {
        let world = two("");
        let scribe: Value = serde_json::from_str(&world.read("a", "agents/scribe.json")).unwrap();
        let mut scribe = scribe;
        scribe["capabilities"]["operations"] = json!(["create", "acknowledge"]);
        world.write("a", "agents/scribe.json", &scribe.to_string());
        world.git("a", &["commit", "-qam", "scribe answers"]);
        world.brain("a", &["trust", "--yes"]);
        world.apply("a", json!([{"op": "signal", "to": "scribe", "payload": {"kind": "note", "query": "who?"}}]));
        let open = world.json("a", &["signals", "--unanswered"]).to_string();
        let signal = open.split('"').find(|word| word.starts_with("g-")).unwrap_or_else(|| panic!("{open}")).to_owned();
        let document = json!({
            "agent": "scribe",
            "prediction": {"text": "zqpred Ben owes Ann 5000 euros", "value": 0.9},
            "ops": [
                belief("n-violin", "The violin was sold to Osaka."),
                belief("n-drum", "The drum was sold to Paris."),
                {"op": "acknowledge", "signal": signal, "payload": {"text": "zqanswer Ben has the drum"}},
            ],
        });
        let dir = world.dir("a").display().to_string();
        let args = ["-C", &dir, "--json", "apply", "--agent", "scribe", "--no-merge", "-"];
        let made = world.sandbox.brain_with(&args, document.to_string().as_bytes()).exits(0).document();
        let run = made["run"].as_str().unwrap();
        let mut args = decision.to_vec();
        args.insert(1, run);
        let decided = world.json("a", &args);
        world.sync("a");
        world.brain("a", &["sleep"]);
        let delivers = decision.contains(&"1,3");
        for tip in ["wake", "main"] {
            let said =
                world.git("a", &["grep", "-h", "-e", "zq[a-z]*", "-e", "rejected by a person", tip, "--", "network"]);
            assert!(!said.contains("zqpred"), "{decision:?}, {tip}: {said}");
            assert_eq!(said.contains("zqanswer"), delivers, "{decision:?}, {tip}: {said}");
        }
        // The number teaches, and the signal is answered.
        let error = decided["error"].as_f64().or(decided["decided"][0]["error"].as_f64());
        assert!(error.is_some_and(|error| error < 0.0), "{decided:#}");
        let open = world.json("a", &["signals", "--unanswered"]).to_string();
        assert!(!open.contains(&signal), "{open}");
        assert!(!world.brain("a", &["story"]).contains("zqpred") && !world.brain("a", &["ledger"]).contains("zqpred"));
        assert!(world.brain("a", &["check"]).contains("all good"));
    }
}

#[test]
fn rejection_by_two_people_is_taken_back_once() {
    for (crosses, also_mara) in [(true, false), (true, true), (false, false)] {
        let world = two(TWO);
        let run = waiting(&world, json!([belief("n-lock", LOCK)]));
        as_person(&world, "b", "ben", &["reject", &run, "--why", "ben says no"]).exits(0);
        as_person(&world, "a", "mara", &["reject", &run, "--why", "mara says no"]).exits(0);
        if also_mara {
            as_person(&world, "a", "mara", &["review", &run, "--again"]).exits(0);
        }
        world.sync("b");
        world.sync("a");
        if !crosses {
            world.sync("b");
        }
        as_person(&world, "b", "ben", &["review", &run, "--again", "--why", "it was seen"])
            .exits(if also_mara && !crosses { 3 } else { 0 });
        sync(&world, &["b", "a", "b", "a"]);
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let case = format!("crosses: {crosses}, both: {also_mara}, {machine}");
            assert!(world.brain(machine, &["recall", "lock keeper"]).contains(LOCK), "{case}");
            let prime = world.brain(machine, &["prime"]);
            assert!(!prime.contains("rejected") && !prime.contains("says no"), "{case}: {prime}");
            let ledger = world.json(machine, &["ledger"]).to_string();
            assert!(ledger.contains("taken back by"), "{case}: {ledger}");
            let twice = as_person(&world, machine, "ben", &["review", &run, "--again"]).exits(3);
            assert!(twice.err.contains("was taken back already"), "{case}: {twice}");
        }
    }
}

#[test]
fn rejection_that_is_taken_back_before_it_went_out_is_no_lesson() {
    let world = two("");
    let (branch, _) = world.waiting("a", "scribe", json!([belief("n-lock", LOCK)]));
    let run = run_of(&branch);
    world.brain("a", &["reject", run, "--why", "unseen"]);
    world.brain("a", &["review", run, "--again", "--why", "Jonas saw it"]);
    sync(&world, &["a", "b"]);
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert!(!prime.contains("Lessons of reviews") && prime.contains(LOCK), "{machine}: {prime}");
        assert!(world.brain(machine, &["review", "--decided"]).contains("Jonas saw it"), "{machine}");
        assert!(!world.git(machine, &["log", "-p", "--format=%B", "refs/brain/reviews"]).contains(LOCK), "{machine}");
    }
    let twice = world.try_brain("a", &["review", run, "--again"]).exits(3);
    assert!(twice.err.contains("was taken back already"), "{twice}");
    // Third thoughts: without the run that says the same the rejection is what it was.
    let again = world.json("a", &["review", "--decided"])["decisions"][0]["why"].as_str().unwrap().to_owned();
    let again = again.split(", as ").nth(1).unwrap().split(':').next().unwrap().to_owned();
    world.brain("a", &["revert", &again]);
    assert!(world.brain("a", &["prime"]).contains("unseen"));
    world.brain("a", &["review", run, "--why", "Jonas erred"]);
    sync(&world, &["a", "b"]);
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert!(prime.contains("Jonas erred") && !prime.contains(LOCK), "{machine}: {prime}");
    }
}

#[test]
fn of_decisions_on_one_statement_the_newest_is_told() {
    let world = two("");
    let first = waiting(&world, json!([belief("lock", LOCK)]));
    world.brain("a", &["reject", &first, "--why", "unseen"]);
    let second = waiting(&world, json!([belief("keeper", LOCK)]));
    let shown = world.brain("a", &["review", &second, "--no-questions"]);
    assert!(shown.contains("was kept out before: rejected by"), "{shown}");
    assert!(world.brain("a", &["prime"]).contains("unseen"));
    world.brain("a", &["approve", &second, "--why", "Jonas saw it"]);
    sync(&world, &["a", "b"]);
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert!(prime.contains(LOCK) && !prime.contains("unseen"), "{machine}: {prime}");
    }
    let third = waiting(&world, json!([belief("sleeper", LOCK)]));
    let shown = world.brain("b", &["review", &third, "--no-questions"]);
    assert!(shown.contains("is believed already: approved by") && !shown.contains("was kept out before"), "{shown}");
    // What was taken back since is kept out again.
    world.brain("a", &["revert", &second]);
    let prime = world.brain("a", &["prime"]);
    assert!(prime.contains("unseen") && prime.contains(LOCK), "{prime}");
}

#[test]
fn rejection_that_does_not_stand_is_no_note() {
    let world = two("");
    let run = waiting(&world, json!([belief("lock", LOCK)]));
    world.brain("a", &["approve", &run]);
    as_person(&world, "b", "ben", &["reject", &run, "--why", "he is awake"]).exits(0);
    sync(&world, &["a", "b", "a"]);
    let other = waiting(&world, json!([belief("keeper", LOCK)]));
    let shown = world.brain("b", &["review", &other, "--no-questions"]);
    assert!(!shown.contains("he is awake") && shown.contains("is believed already"), "{shown}");
}

#[test]
fn statement_that_lands_by_an_edit_word_for_word_is_not_kept_out() {
    let world = two("");
    let run = waiting(&world, json!([belief("lock", LOCK), belief("tug", "The tug is called Merel.")]));
    let edited = json!({"ops": [belief("lock-keeper", LOCK), belief("tug", "The tug is called Zeeland.")]});
    let file = world.sandbox.file("edited.json", edited.to_string());
    let decided = world.json("a", &["approve", &run, "--document", &file, "--why", "another name"]);
    assert_eq!(decided["told"], json!(["The tug is called Merel."]), "{decided:#}");
    sync(&world, &["a", "b"]);
    let prime = world.brain("b", &["prime"]);
    let lessons = prime.split("## Memories").next().unwrap();
    assert!(lessons.contains("Merel") && !lessons.contains(LOCK) && prime.contains(LOCK), "{prime}");
}

#[test]
fn statement_of_a_stranger_that_was_rejected_is_known_again() {
    let world = two("[origins]\nother = \"review\"\n");
    for round in 0..2 {
        world.brain("a", &["feed", "--again", "--origin", "web:pilots.example", LOCK]);
        let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
        let shown = world.brain("a", &["review", &run, "--no-questions"]);
        assert_eq!(shown.contains("was kept out before: rejected by"), round == 1, "{shown}");
        world.brain("a", &["reject", &run, "--why", "pilots err"]);
        world.sync("a");
        let said = world.git("a", &["log", "-p", "--format=%B", "refs/brain/reviews"]);
        assert!(said.contains("forgotten") && !said.contains("lock keeper"), "{said}");
        // It can be looked at, as before.
        assert!(world.brain("a", &["review", &run, "--no-questions"]).contains(LOCK));
    }
    let prime = world.brain("a", &["prime"]);
    assert!(prime.contains("pilots err") && !prime.contains(LOCK), "{prime}");
}

#[test]
fn run_that_was_thrown_away_in_vain_waits_again() {
    for decision in [&["reject"][..], &["approve", "--only", "n-lock"]] {
        let world = two("[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n");
        let (branch, commit) =
            world.waiting("b", "scribe", json!([belief("n-lock", LOCK), belief("n-tug", "The tug is called Merel.")]));
        let run = run_of(&branch);
        let mut args = decision.to_vec();
        args.insert(1, run);
        as_person(&world, "b", "ben", &args).exits(0);
        world.write("a", "brain.toml", "[review]\nreviewers = [\"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n");
        world.git("a", &["commit", "-qam", "mara decides"]);
        world.sync("a");
        as_person(&world, "b", "ben", &["sync"]).exits(3);
        let said = as_person(&world, "b", "ben", &["sync", "--without-refused"]).exits(0);
        assert!(said.out.contains("waits again"), "{decision:?}: {said}");
        world.sync("a");
        for machine in ["a", "b"] {
            assert_eq!(world.tip(machine, &branch), commit, "{decision:?}: {machine}");
            assert!(world.brain(machine, &["review"]).contains(run), "{decision:?}: {machine}");
        }
        as_person(&world, "a", "mara", &["approve", run]).exits(0);
        sync(&world, &["a", "b"]);
        world.same(&["a", "b"]);
        assert!(world.brain("b", &["recall", "lock keeper"]).contains(LOCK), "{decision:?}");
    }
}

#[test]
fn rejection_is_taken_back_by_nobody_who_may_decide_no_more() {
    let world = two(TWO);
    let run = waiting(&world, json!([belief("n-lock", LOCK)]));
    as_person(&world, "b", "ben", &["reject", &run, "--why", "a lie"]).exits(0);
    sync(&world, &["b", "a"]);
    world.write("b", "brain.toml", &TWO.replace(", \"mara@example.invalid\"", ""));
    as_person(&world, "b", "ben", &["status"]).exits(0);
    world.git("b", &["commit", "-qam", "mara leaves"]);
    world.sync("b");
    as_person(&world, "a", "mara", &["review", &run, "--again"]).exits(0);
    let said = as_person(&world, "a", "mara", &["sync"]).exits(3);
    assert!(said.err.contains("may not decide on that"), "{said}");
    as_person(&world, "a", "mara", &["sync", "--without-refused"]).exits(0);
    sync(&world, &["b", "a"]);
    for machine in ["a", "b"] {
        assert!(!world.brain(machine, &["recall", "lock keeper"]).contains(LOCK), "{machine}");
        assert!(world.brain(machine, &["prime"]).contains("a lie"), "{machine}");
        assert!(!world.json(machine, &["ledger"]).to_string().contains("taken back by"), "{machine}");
    }
}

#[test]
fn sleep_that_waits_brings_nothing_that_gave_way_since() {
    for crosses in [true, false] {
        let world = two(TWO);
        let run = waiting(&world, json!([belief("n-lock", LOCK)]));
        as_person(&world, "a", "mara", &["approve", &run]).exits(0);
        let night = world.json("a", &["sleep", "--review"])["branch"].as_str().unwrap().to_owned();
        if crosses {
            as_person(&world, "b", "ben", &["reject", &run, "--why", "a lie"]).exits(0);
            sync(&world, &["b", "a"]);
        } else {
            as_person(&world, "a", "mara", &["revert", &run]).exits(0);
        }
        for args in [&["approve", "--dry-run", &night][..], &["approve", &night]] {
            let said = world.try_brain("a", args).exits(3);
            assert!(said.err.contains("otherwise since") && said.err.contains(&run), "{said}");
        }
        world.brain("a", &["reject", &night]);
        world.brain("a", &["sleep"]);
        sync(&world, &["a", "b"]);
        world.same(&["a", "b"]);
        assert!(!world.brain("b", &["recall", "lock keeper"]).contains(LOCK));
    }
}

#[test]
fn nobody_decides_where_git_names_no_committer() {
    let world = two("");
    let run = waiting(&world, json!([belief("n-lock", LOCK)]));
    let before = world.refs("a");
    for args in [&["approve", &run][..], &["reject", &run], &["approve", "--origin", "web:x.example"]] {
        let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
        for variable in ["GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"] {
            command.env_remove(variable);
        }
        let answer = command.current_dir(world.dir("a")).output().unwrap();
        let said = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.code() == Some(3) && said.contains("git names no committer"), "{args:?}: {said}");
    }
    assert_eq!(world.refs("a"), before);
}
