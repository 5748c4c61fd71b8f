//! Councils as the cognition of agents: a trigger convenes one, and its verdict is the run.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A brain with an agent `board` that thinks with a council of main, or with the three rules.
fn board(members: Option<Value>, capabilities: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut cognition = json!({"kind": "council", "timeout_s": 30});
    if let Some(members) = members {
        std::fs::create_dir_all(sandbox.dir().join("councils")).unwrap();
        std::fs::write(sandbox.dir().join("councils/board.json"), json!({"members": members}).to_string()).unwrap();
        cognition["members"] = json!("councils/board.json");
    }
    let definition = json!({
        "name": "board", "role": "Decides together.", "trigger": {"any": [{"signal": "any"}]},
        "cognition": cognition, "capabilities": capabilities,
    });
    std::fs::write(sandbox.dir().join("agents/board.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "a board"]);
    sandbox
}

fn may() -> Value {
    json!({"operations": ["acknowledge", "flag", "signal"], "flags": ["board"], "signals_to": ["affect"]})
}

fn program(id: &str, family: &str, decision: &str, why: &str) -> Value {
    let vote = json!({"decision": decision, "confidence": 0.9, "reasoning": why, "evidence": []});
    let script = format!("cat >/dev/null; echo '{vote}'");
    json!({"id": id, "family": family, "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}})
}

fn agreed() -> Value {
    json!([
        program("a", "x", "approve", "The colour has gone."),
        program("b", "y", "approve", "Paint is cheap this week, and Tom has time."),
    ])
}

fn ask(sandbox: &Sandbox, question: &str) {
    let ops = json!([{"op": "signal", "to": "board", "payload": {"kind": "question", "text": question}}]);
    sandbox.apply(&json!({"ops": ops}), &[]);
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    if !sandbox.refs().contains_key("refs/brain/reviews") {
        return Vec::new();
    }
    let all = sandbox.documents("refs/brain/reviews", "councils").into_values();
    all.filter(|document| document.get("verdict").is_some()).collect()
}

fn answers(sandbox: &Sandbox) -> Vec<Value> {
    let signals = sandbox.documents("wake", "network/signals").into_values();
    signals.filter(|document| document["payload"]["kind"] == "verdict").collect()
}

fn run_of(sandbox: &Sandbox) -> Value {
    sandbox.documents("wake", "network/runs").into_values().find(|run| run["agent"] == "board").unwrap_or(Value::Null)
}

#[test]
fn a_signal_convenes_a_council_of_rules_that_leaves_it_to_a_person() {
    let sandbox = board(None, &may());
    for text in ["Painting the hall went well.", "We paint the hall every summer."] {
        sandbox.brain(&["feed", text]).exits(0);
    }
    ask(&sandbox, "Shall we paint the hall?");
    sandbox.brain(&["--json", "run"]).exits(0);
    assert_eq!(run_of(&sandbox), Value::Null, "inert until trusted");
    let list = sandbox.brain(&["trust", "--list"]).exits(0).out;
    assert!(list.contains("convene the council of council.json, or three rules"), "{list}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    // The signal was seen by a round that had nobody to answer it.
    sandbox.brain(&["--json", "run", "--agent", "board"]).exits(0);
    let (kept, run) = (records(&sandbox), run_of(&sandbox));
    assert_eq!((kept.len(), &run["cognition"]), (1, &json!("council:council.json")), "{run:#}");
    let id = kept[0]["id"].as_str().unwrap().to_owned();
    let answer = &answers(&sandbox)[0]["payload"];
    assert_eq!((&answer["council"], &answer["escalated"]), (&json!(id), &json!(true)), "{answer:#}");
    assert_eq!(answer["decision"], "abstain");
    let flag = sandbox.documents("wake", "network/flags").into_values().find(|flag| flag["run"] == run["run"]).unwrap();
    assert!(
        flag["value"] == true && flag["reason"].as_str().unwrap().contains(&format!("git brain approve {id}")),
        "{flag}"
    );
    assert!(run["prediction"].is_null(), "nothing was decided: {run:#}");

    sandbox.brain(&["approve", &id, "--why", "it rains"]).exits(0);
    ask(&sandbox, "Shall we paint the hall blue?");
    sandbox.brain(&["--json", "run"]).exits(0);
    assert_eq!(records(&sandbox).len(), 2, "another question is another council");
    sandbox.brain(&["check"]).exits(0);
    sandbox.fsck();
}

#[test]
fn a_decision_answers_predicts_and_lowers_the_flag() {
    let sandbox = board(Some(agreed()), &may());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    ask(&sandbox, "Shall we paint the hall?");
    sandbox.brain(&["--json", "run"]).exits(0);
    let (answer, run) = (answers(&sandbox)[0]["payload"].clone(), run_of(&sandbox));
    assert_eq!((&answer["decision"], &answer["escalated"]), (&json!("approve"), &json!(false)), "{answer:#}");
    assert_eq!(run["cognition"], "council:councils/board.json");
    assert_eq!(run["prediction"]["value"], answer["confidence"], "{run:#}");
    // How it turned out is judged as of any run.
    sandbox.json(&["outcome", run["run"].as_str().unwrap(), "--value", "0.1"]);
    let ledger = sandbox.documents("wake", "network/ledger");
    assert!(ledger.values().any(|entry| entry["judged"] == run["run"]), "{ledger:#?}");
    assert!(sandbox.documents("wake", "network/flags").values().all(|flag| flag["run"] != run["run"]), "no flag");
    sandbox.brain(&["--json", "run"]).exits(0);
    assert_eq!(records(&sandbox).len(), 1, "what was answered is not asked again");
}

#[test]
fn outcomes_of_runs_teach_the_council_that_decided_them() {
    let sandbox = board(Some(agreed()), &may());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let listed = |sandbox: &Sandbox| sandbox.json(&["council", "--list"])["councils"].as_array().unwrap().clone();
    let (mut judged, mut passed_on) = (Vec::<String>::new(), 0);
    for hall in 1..=4 {
        ask(&sandbox, &format!("Shall hall {hall} be painted?"));
        sandbox.brain(&["--json", "run"]).exits(0);
        let runs = sandbox.documents("wake", "network/runs").into_values();
        let new: Vec<Value> = runs
            .filter(|run| run["agent"] == "board" && !judged.contains(&run["run"].as_str().unwrap().to_owned()))
            .collect();
        let run = new[0]["run"].as_str().unwrap().to_owned();
        judged.push(run.clone());
        if new[0]["prediction"].is_null() {
            passed_on += 1;
            continue;
        }
        sandbox.json(&["outcome", &run, "--value", "0.0"]);
        let wrong = listed(&sandbox).iter().filter(|council| council["outcome"] == "wrong").count();
        assert_eq!(wrong, judged.len() - passed_on, "hall {hall}");
    }
    assert!(passed_on > 0, "two members that erred together each time are one mind");
    // The word of a person on the council itself counts before.
    let wrong = listed(&sandbox).into_iter().find(|council| council["outcome"] == "wrong").unwrap();
    let id = wrong["id"].as_str().unwrap().to_owned();
    sandbox.brain(&["council", "--outcome", &id, "right"]).exits(0);
    assert_eq!(sandbox.json(&["council", "--show", &id])["outcome"], "right");
    // Where main names reviewers, the outcome of a run is no word on the council.
    let settings = std::fs::read_to_string(sandbox.dir().join("brain.toml")).unwrap();
    let named = settings + "\n[review]\nreviewers = [\"nora@example.invalid\"]\n";
    std::fs::write(sandbox.dir().join("brain.toml"), named).unwrap();
    sandbox.git(&["commit", "--quiet", "-am", "Nora reviews"]);
    assert_eq!(listed(&sandbox).iter().filter(|council| council["outcome"] == "wrong").count(), 0);
}

#[test]
fn board_that_nothing_asks_lowers_its_flag_and_asks_nobody() {
    let sandbox = board(None, &may());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    ask(&sandbox, "Shall we paint the hall?");
    sandbox.brain(&["--json", "run"]).exits(0);
    let flag = |sandbox: &Sandbox| {
        let flags = sandbox.documents("wake", "network/flags").into_values();
        flags.filter(|flag| flag["reason"].to_string().contains("council")).map(|flag| flag["value"] == true).collect()
    };
    let up: Vec<bool> = flag(&sandbox);
    assert_eq!((up, records(&sandbox).len()), (vec![true], 1));
    // While it waits nothing asks, and nobody is asked.
    sandbox.brain(&["run", "--agent", "board"]).exits(3);
    assert_eq!(records(&sandbox).len(), 1);
    let id = records(&sandbox)[0]["id"].as_str().unwrap().to_owned();
    sandbox.brain(&["approve", &id]).exits(0);
    sandbox.brain(&["run", "--agent", "board"]).exits(0);
    let down: Vec<bool> = flag(&sandbox);
    assert_eq!((down, records(&sandbox).len()), (vec![false], 1), "its own notice is no question");
}

#[test]
fn a_run_that_was_cut_off_behind_its_council_asks_nobody_again() {
    let sandbox = board(None, &json!({"operations": ["acknowledge", "connect"], "types": []}));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    ask(&sandbox, "Shall we paint the hall?");
    let tip = sandbox.tip("wake");
    sandbox.brain(&["--json", "run", "--max-runs", "1"]).exits(0);
    let first = records(&sandbox);
    assert_eq!(first.len(), 1);
    // As if it had been killed before its run was in: wake is where it was, the record stays.
    sandbox.git(&["update-ref", "refs/heads/wake", &tip]);
    sandbox.brain(&["--json", "run", "--agent", "board"]).exits(0);
    let second = records(&sandbox);
    assert_eq!(first, second, "the same votes, the same nonces");
    assert_eq!(answers(&sandbox).len(), 1, "and the signal has its answer");
}

#[test]
fn stimuli_ask_one_question_and_others_hear_of_the_verdict() {
    let sandbox = board(Some(agreed()), &may());
    let path = sandbox.dir().join("agents/board.json");
    let mut definition: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    definition["trigger"] = json!({"any": [{"state": "input_queue_not_empty"}]});
    std::fs::write(&path, definition.to_string()).unwrap();
    sandbox.git(&["commit", "-qam", "the board listens"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["feed", "Shall we paint the hall?"]).exits(0);
    let told = answers(&sandbox);
    assert!(
        told.iter().any(|signal| signal["to"] == "affect" && signal["payload"]["decision"] == "approve"),
        "{told:#?}"
    );
    assert_eq!(records(&sandbox).len(), 1);
}

#[test]
fn hostile_definitions_are_refused_with_their_place() {
    let sandbox = board(None, &may());
    let path = sandbox.dir().join("agents/board.json");
    let good: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (field, value, says) in [
        ("timeout_s", json!(0), "is not between 1 and"),
        ("timeout_s", json!(1_000_000), "is not between 1 and"),
        ("voters", json!(["a"]), "voters"),
    ] {
        let mut bad = good.clone();
        bad["cognition"][field] = value;
        std::fs::write(&path, bad.to_string()).unwrap();
        sandbox.git(&["commit", "-qam", "bad"]);
        let said = sandbox.brain(&["check"]).exits(1);
        assert!(said.out.contains("agents/board.json") && said.out.contains(says), "{said}");
    }
    // A document that is not there: the run fails, the signal stays, and other agents go on.
    let mut lost = good.clone();
    lost["cognition"]["members"] = json!("councils/nowhere.json");
    std::fs::write(&path, lost.to_string()).unwrap();
    sandbox.git(&["commit", "-qam", "lost"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    ask(&sandbox, "Shall we paint the hall?");
    let said = sandbox.brain(&["run"]);
    assert!(format!("{said}").contains("councils/nowhere.json"), "{said}");
    assert!(records(&sandbox).is_empty());
    assert_eq!(sandbox.json(&["signals", "--unanswered"])["total"], 1);
}

#[test]
fn a_question_that_is_too_long_or_empty_is_answered_and_asked_of_nobody() {
    let sandbox = board(Some(agreed()), &may());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let long = format!("Shall we keep the lamp, given this: {} and sell the house?", "the lamp is fine. ".repeat(600));
    let answers_of = |question: &str| {
        ask(&sandbox, question);
        sandbox.brain(&["run"]).exits(0);
        let signals = sandbox.documents("wake", "network/signals").into_values();
        signals
            .filter(|document| document["payload"]["kind"] == "refused")
            .map(|one| one["payload"]["text"].to_string())
            .collect::<Vec<_>>()
    };
    let said = answers_of(&long);
    assert!(said.iter().any(|text| text.contains("a council is asked at most 8192")), "{said:?}");
    let said = answers_of(" ");
    assert!(said.iter().any(|text| text.contains("the question is empty")), "{said:?}");
    assert_eq!(records(&sandbox), Vec::<Value>::new());
}
