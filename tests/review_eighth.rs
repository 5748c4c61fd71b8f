//! Decisions that give way or are taken back after a night: memories, answers and words are what the decision that stands makes of them.

use crate::machines::{World, refused};
use crate::review_ninth::leaves;
use crate::review_second::as_person;
use crate::review_seventh::{LOCK, NEW, OLD, TWO, belief, found, sync, two, waiting};
use crate::sandbox::{create, some_of};
use serde_json::{Value, json};

/// A memory and a correction of it that waits, on both machines: the memory, the correction, and the run.
fn corrected(world: &World, is_local: bool) -> (String, String, String) {
    as_person(world, "a", "ben", &["feed", OLD]).exits(0);
    if is_local {
        let first = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
        as_person(world, "a", "ben", &["approve", &first]).exits(0);
    }
    let old = world.json("a", &["recall", "Kyoto"])["results"][0]["id"].as_str().unwrap().to_owned();
    let mut feed = vec!["feed", "--corrects", &old, NEW];
    if !is_local {
        feed.extend(["--origin", "web:x.example"]);
    }
    world.brain("a", &feed);
    sync(world, &["a", "b"]);
    let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    let shown = world.json("b", &["review", &run]).to_string();
    let is_id = |word: &&str| word.starts_with("e-") && word.len() == 18 && **word != old;
    let new = shown.split('"').find(is_id).unwrap_or_else(|| panic!("{shown}")).to_owned();
    (old, new, run)
}

#[test]
fn night_takes_no_memory_whose_replacement_is_taken_back_elsewhere() {
    for (is_local, order) in some_of([(true, "ab"), (true, "ba"), (false, "ba"), (false, "early")], 2) {
        let world = two(if is_local { TWO } else { "[origins]\nother = \"review\"\n" });
        let (_, _, run) = corrected(&world, is_local);
        let approve = |machine: &str, person: &str| {
            as_person(&world, machine, person, &["approve", &run]).exits(0);
            if !is_local {
                as_person(&world, machine, person, &["approve", "--origin", "web:x.example"]).exits(0);
            }
        };
        approve("b", "ben");
        world.sync("b");
        if order == "early" {
            as_person(&world, "b", "ben", &["revert", &run]).exits(0);
            world.sync("b");
        }
        approve("a", "mara");
        world.brain("a", &["sleep"]);
        if order != "early" {
            as_person(&world, "b", "ben", &["revert", &run]).exits(0);
        }
        match order {
            "ab" => sync(&world, &["a", "b", "a", "b"]),
            _ => sync(&world, &["b", "a", "b", "a"]),
        }
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let now = found(&world, machine);
            assert!(now.contains(OLD) && !now.contains(NEW), "{order}, local: {is_local}, {machine}: {now}");
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
        world.brain("b", &["sleep"]);
        assert!(found(&world, "b").contains(OLD), "a night keeps it");
        assert!(!world.git("b", &["grep", "-l", OLD, "main", "--", "network/neurons"]).is_empty());
    }
}

#[test]
fn night_takes_no_memory_whose_replacement_was_let_in_by_itself_and_gave_way() {
    let world = two("[origins]\nother = \"review\"\n");
    let (_, new, run) = corrected(&world, false);
    as_person(&world, "b", "ben", &["reject", &run, "--why", "not true"]).exits(0);
    as_person(&world, "a", "mara", &["approve", &run]).exits(0);
    as_person(&world, "a", "mara", &["approve", &new]).exits(0);
    world.brain("a", &["sleep"]);
    sync(&world, &["b", "a", "b"]);
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        let now = found(&world, machine);
        assert!(now.contains(OLD) && !now.contains(NEW), "{machine}: {now}");
        assert!(world.brain(machine, &["check"]).contains("all good"));
    }
}

/// A signal to the scribe, who may answer, on both machines.
fn asked(world: &World) -> String {
    let mut scribe: Value = serde_json::from_str(&world.read("a", "agents/scribe.json")).unwrap();
    scribe["capabilities"]["operations"] = json!(["create", "acknowledge"]);
    world.write("a", "agents/scribe.json", &scribe.to_string());
    world.git("a", &["commit", "-qam", "scribe answers"]);
    world.brain("a", &["trust", "--yes"]);
    world.apply("a", json!([{"op": "signal", "to": "scribe", "payload": {"kind": "note", "query": "who?"}}]));
    sync(world, &["a", "b"]);
    world.brain("b", &["trust", "--yes"]);
    let open = world.json("a", &["signals", "--unanswered"]).to_string();
    open.split('"').find(|word| word.starts_with("g-")).unwrap_or_else(|| panic!("{open}")).to_owned()
}

/// A run of the scribe that waits: a memory and an answer.
fn answering(world: &World, signal: &str, number: u32) -> String {
    let document = json!({
        "agent": "scribe",
        "prediction": {"text": format!("zqpred {number}"), "value": 0.9},
        "ops": [
            belief(&format!("n-violin-{number}"), &format!("The violin number {number} was sold to Osaka.")),
            belief(&format!("n-drum-{number}"), &format!("The drum number {number} was sold to Paris.")),
            {"op": "acknowledge", "signal": signal, "payload": {"text": format!("zqanswer {number}")}},
        ],
    });
    let dir = world.dir("a").display().to_string();
    let args = ["-C", &dir, "--json", "apply", "--agent", "scribe", "--no-merge", "-"];
    let made = world.sandbox.brain_with(&args, document.to_string().as_bytes()).exits(0).document();
    made["run"].as_str().unwrap().to_owned()
}

fn said(world: &World, machine: &str, tip: &str) -> String {
    world.git(machine, &["grep", "-h", "-A3", "-e", "\"payload\"", tip, "--", "network/signals"])
}

#[test]
fn answer_that_was_let_in_stands_before_one_that_stays_out() {
    for order in ["approve first", "reject first", "cross", "again"] {
        let world = two("");
        let signal = asked(&world);
        let (first, second) = (answering(&world, &signal, 1), answering(&world, &signal, 2));
        sync(&world, &["a", "b"]);
        match order {
            "approve first" => {
                as_person(&world, "b", "ben", &["approve", &second]).exits(0);
                sync(&world, &["b", "a"]);
                as_person(&world, "a", "mara", &["reject", &first]).exits(0);
            }
            "reject first" => {
                as_person(&world, "b", "ben", &["reject", &first]).exits(0);
                sync(&world, &["b", "a"]);
                as_person(&world, "a", "mara", &["approve", &second]).exits(0);
            }
            "cross" => {
                as_person(&world, "b", "ben", &["reject", &first]).exits(0);
                as_person(&world, "a", "mara", &["approve", &second]).exits(0);
            }
            _ => {
                as_person(&world, "b", "ben", &["reject", &second]).exits(0);
                sync(&world, &["b", "a"]);
                as_person(&world, "a", "mara", &["review", &second, "--again"]).exits(0);
            }
        }
        sync(&world, &["b", "a", "b"]);
        world.brain("b", &["sleep"]);
        sync(&world, &["b", "a"]);
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            for tip in ["wake", "main"] {
                let said = said(&world, machine, tip);
                assert!(said.contains("zqanswer 2") && !said.contains("rejected"), "{order}, {machine}, {tip}: {said}");
            }
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
    }
}

#[test]
fn edited_document_shows_the_answer_and_keeps_out_one_that_it_leaves_out() {
    for (answer, lands) in [(None, ""), (Some("zqanswer 1"), "zqanswer 1"), (Some("zqother"), "zqother")] {
        let world = two("");
        let signal = asked(&world);
        let run = answering(&world, &signal, 1);
        sync(&world, &["a", "b"]);
        let shown = world.dir("b").join("shown.json").display().to_string();
        let editor = world.sandbox.file("editor", format!("#!/bin/sh\ncp \"$1\" {shown}\nexit 1\n"));
        world.sandbox.command("chmod", &["+x", &editor]).status().unwrap();
        world.git("b", &["config", "user.email", "ben@example.invalid"]);
        let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["review", &run, "--edit"]);
        let _ = command.current_dir(world.dir("b")).env("GIT_EDITOR", &editor).output().unwrap();
        let mut document: Value = serde_json::from_str(&world.read("b", "shown.json")).unwrap();
        let ops = document["ops"].as_array_mut().unwrap();
        assert!(ops[2]["op"] == "acknowledge" && ops[2]["payload"]["text"] == "zqanswer 1", "{ops:#?}");
        ops.remove(1);
        match answer {
            None => drop(ops.remove(1)),
            Some(answer) => ops[1]["payload"]["text"] = json!(answer),
        }
        world.write("b", "shown.json", &document.to_string());
        as_person(&world, "b", "ben", &["approve", &run, "--document", &shown, "--forget"]).exits(0);
        sync(&world, &["b", "a"]);
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            let said = said(&world, machine, "wake");
            match lands {
                "" => assert!(said.contains("rejected") && !said.contains("zqanswer"), "{machine}: {said}"),
                lands => assert!(said.contains(lands) && !said.contains("rejected"), "{machine}: {said}"),
            }
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
    }
}

#[test]
fn prediction_of_a_run_whose_approval_gave_way_is_told_by_nothing() {
    let world = two("");
    let signal = asked(&world);
    let run = answering(&world, &signal, 1);
    sync(&world, &["a", "b"]);
    as_person(&world, "b", "ben", &["reject", &run, "--forget"]).exits(0);
    world.sync("b");
    as_person(&world, "a", "mara", &["approve", &run]).exits(0);
    as_person(&world, "a", "mara", &["outcome", &run, "--value", "0.9"]).exits(0);
    sync(&world, &["a", "b"]);
    world.brain("b", &["feed", "The moon is full."]);
    world.brain("b", &["sleep"]);
    sync(&world, &["b", "a"]);
    for machine in ["a", "b"] {
        for told in [&["ledger"][..], &["story"], &["prime"], &["signals"], &["wisdom", "list"]] {
            let said = world.brain(machine, told);
            assert!(!["zqpred", "zqanswer"].iter().any(|word| said.contains(word)), "{machine}, {told:?}: {said}");
        }
        let (is_told, chapters) = world.git_try(machine, &["grep", "-h", "zqpred", "main", "--", "network/narrative"]);
        assert!(!is_told, "{machine}: {chapters}");
    }
}

#[test]
fn rejection_that_two_took_back_stays_so_while_one_of_their_runs_stands() {
    for reverted in ["a", "b"] {
        let world = two(TWO);
        let run = waiting(&world, json!([belief("n-lock", LOCK)]));
        as_person(&world, "b", "ben", &["reject", &run, "--why", "ben says no"]).exits(0);
        sync(&world, &["b", "a"]);
        let again = |machine: &str, person: &str| {
            let made = as_person(&world, machine, person, &["--json", "review", &run, "--again"]).exits(0).document();
            made["again"][0]["again"]["run"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
        };
        let (theirs, ours) = (again("b", "ben"), again("a", "mara"));
        sync(&world, &["a", "b", "a"]);
        as_person(&world, "a", "mara", &["revert", if reverted == "a" { &ours } else { &theirs }]).exits(0);
        sync(&world, &["a", "b"]);
        world.same(&["a", "b"]);
        for machine in ["a", "b"] {
            assert!(world.brain(machine, &["recall", "lock keeper"]).contains(LOCK), "{reverted}, {machine}");
            let prime = world.brain(machine, &["prime"]);
            assert!(!prime.contains("ben says no"), "{reverted}, {machine}: {prime}");
            assert!(world.brain(machine, &["check"]).contains("all good"));
        }
        as_person(&world, "b", "ben", &["revert", if reverted == "a" { &theirs } else { &ours }]).exits(0);
        assert!(!world.brain("b", &["recall", "lock keeper"]).contains(LOCK), "{reverted}");
        assert!(world.brain("b", &["prime"]).contains("ben says no"), "{reverted}");
    }
}

#[test]
fn rejection_that_a_reviewer_took_back_stays_so_when_the_reviewer_leaves() {
    let world = two(TWO);
    let run = waiting(&world, json!([belief("n-lock", LOCK)]));
    as_person(&world, "b", "ben", &["reject", &run, "--why", "ben says no"]).exits(0);
    sync(&world, &["b", "a"]);
    as_person(&world, "a", "mara", &["review", &run, "--again"]).exits(0);
    sync(&world, &["a", "b"]);
    leaves(&world, "mara");
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert!(prime.contains(LOCK) && !prime.contains("ben says no"), "{machine}: {prime}");
        let decided = world.brain(machine, &["review", "--decided"]);
        assert!(decided.contains("taken back by"), "{machine}: {decided}");
    }
}

#[test]
fn rejected_correction_that_is_taken_back_archives_what_it_corrects() {
    let world = two(TWO);
    let (_, _, run) = corrected(&world, true);
    as_person(&world, "b", "ben", &["reject", &run]).exits(0);
    sync(&world, &["b", "a"]);
    let made = as_person(&world, "a", "mara", &["--json", "review", &run, "--again"]).exits(0).document();
    sync(&world, &["a", "b"]);
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        let now = found(&world, machine);
        assert!(now.contains(NEW) && !now.contains(OLD), "{machine}: {now}");
        assert!(world.brain(machine, &["check"]).contains("all good"));
    }
    as_person(&world, "b", "ben", &["revert", made["again"][0]["again"]["run"].as_str().unwrap()]).exits(0);
    let now = found(&world, "b");
    assert!(now.contains(OLD) && !now.contains(NEW), "{now}");
}

/// A merge by plain git decides between the sides of a memory that both changed: not of the words that one of them alone changed.
#[test]
fn merge_by_hand_keeps_the_words_that_one_side_alone_changed() {
    let world = two("");
    world.apply("a", json!([create("tea")]));
    world.sync("a");
    let (_, run) = world.waiting("a", "scribe", json!([{"op": "reword", "id": "tea", "concept": "Green tea"}]));
    world.apply("a", json!([{"op": "activate", "id": "tea", "strength": 0.5}]));
    world.sync("a");
    let wake = world.tip("a", "wake");
    let show = |commit: &str, path: &str| world.git("a", &["show", &format!("{commit}:{path}")]) + "\n";
    let record = world.git("a", &["diff", "--name-only", &format!("{run}^"), &run, "--", "network/runs"]);
    let brought = show(&run, &record);
    let tea = world.path_of("a", &wake, "/tea.json");
    let ours = show(&wake, &tea);
    let merge = |words: &str| {
        let text = ours.replace("\"concept\": \"tea\"", &format!("\"concept\": \"{words}\""));
        let files = [(&*record, Some(&*brought)), (&*tea, Some(&*text))];
        world.commit("a", &wake, &[&wake, &run], &files, "Merged by hand\n", &[])
    };
    for words in ["tea", "Black tea"] {
        refused(&world, words, &merge(words), "wake", "is as the side that changed it does not have it");
    }
    let honest = merge("Green tea");
    world.git("a", &["push", "-q", "origin", &format!("{honest}:refs/heads/wake")]);
    sync(&world, &["a", "b"]);
    assert_eq!(world.neuron("b", "wake", "tea")["concept"], "Green tea");
}
