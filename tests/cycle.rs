//! The loop from outside: what wakes, how often, how deep, and that nothing is forgotten or done twice.

use crate::sandbox::{NOW, Sandbox};
use serde_json::{Value, json};

fn runs(answer: &Value) -> Vec<&str> {
    answer["runs"].as_array().expect("runs").iter().map(|r| r["agent"].as_str().expect("an agent")).collect()
}

/// A command agent on main that answers every signal with a signal to another agent.
fn echo(sandbox: &Sandbox, name: &str, to: &str) {
    let delta = json!({"ops": [{"op": "signal", "to": to, "payload": {"kind": "echo"}}]});
    let agent = json!({
        "name": name, "role": "Answers.", "trigger": {"any": [{"signal": "any"}]},
        "cognition": {"kind": "command", "argv": ["echo", delta.to_string()]},
        "capabilities": {"operations": ["signal"]},
    });
    std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).expect("a definition");
}

#[test]
fn what_was_seen_is_in_git_so_a_lost_marker_wakes_nobody_twice() {
    let sandbox = Sandbox::new();
    let marker = sandbox.dir().join(".git/git-brain/seen");
    let before = std::fs::read(&marker).expect("a marker");
    assert_eq!(runs(&sandbox.json(&["feed", "Otters hold hands while they sleep."])), ["perception", "memory"]);
    let tip = sandbox.tip("wake");
    // As if the process had died between the last merge and the marker; then as in a fresh copy of the repository.
    std::fs::write(&marker, before).expect("the old marker");
    assert!(runs(&sandbox.json(&["run"])).is_empty());
    std::fs::remove_file(&marker).expect("no marker");
    assert!(runs(&sandbox.json(&["run"])).is_empty());
    assert_eq!(sandbox.tip("wake"), tip);
}

#[test]
fn what_was_not_seen_wakes_also_without_a_marker() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "--no-run", "Otters hold hands while they sleep."]);
    std::fs::remove_file(sandbox.dir().join(".git/git-brain/seen")).expect("a marker");
    assert_eq!(runs(&sandbox.json(&["run"])), ["perception", "memory"]);
}

#[test]
fn a_run_that_is_held_claims_no_stimulus_that_lay_there_when_it_began() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "--no-run", "Otters hold hands while they sleep."]);
    sandbox.apply(&json!({"ops": [{"op": "create", "concept": "a raft", "type": "semantic"}]}), &["--no-merge"]);
    assert_eq!(runs(&sandbox.json(&["run"])), ["perception", "memory"]);
}

#[test]
fn agents_that_answer_each_other_stop_three_steps_from_their_cause() {
    let sandbox = Sandbox::new();
    echo(&sandbox, "ping", "pong");
    echo(&sandbox, "pong", "ping");
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: two that answer each other"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": "ping", "payload": {"kind": "start"}}]}), &[]);
    assert_eq!(runs(&sandbox.json(&["run"])), ["ping", "pong", "ping"]);
    assert!(runs(&sandbox.json(&["run"])).is_empty(), "the next command does not take it up again");
}

#[test]
fn one_stimulus_causes_no_more_runs_than_it_may() {
    let sandbox = Sandbox::new();
    let answer = sandbox.json(&["-c", "cycle.runs_per_stimulus=1", "feed", "Otters hold hands while they sleep."]);
    assert_eq!(runs(&answer), ["perception", "memory"]);
    let notes = answer["notes"].to_string();
    assert!(notes.contains("memory was held back"), "{notes}");
    let records = sandbox.documents("wake", "network/runs");
    let refused = records.values().filter(|r| r["agent"] == "memory" && r["cognition"] == "refused").count();
    assert_eq!(refused, 1, "the engine answers for it: {records:?}");
    let free = Sandbox::new();
    assert_eq!(runs(&free.json(&["feed", "Otters hold hands while they sleep."])), ["perception", "memory"]);
}

#[test]
fn a_day_of_long_ago_is_lived_at_its_own_clock() {
    let sandbox = Sandbox::fixed(NOW, "clock");
    let answer = sandbox.json(&["feed", "--at", "2023-05-08T13:56:00Z", "Otters hold hands while they sleep."]);
    assert_eq!(runs(&answer), ["perception", "memory"], "salience is judged then, not three years later");
    let neurons = sandbox.neurons("wake");
    let otter = neurons.values().find(|n| n["concept"] == "otters").expect("a concept");
    assert_eq!(otter["created_at"], "2023-05-08T13:56:00Z");
    assert_eq!(otter["last_salience_update"], "2023-05-08T13:56:00Z");
}

#[test]
fn an_override_is_asked_for_decided_and_calmed_again() {
    let sandbox = Sandbox::new();
    let answer = sandbox.json(&["feed", "Urgent! Emergency! The cellar is under water, call the plumber immediately!"]);
    let agents = runs(&answer);
    assert!(agents.contains(&"affect") && agents.contains(&"decision"), "{agents:?}");
    assert!(sandbox.json(&["status"])["flags"].to_string().contains("urgence"));
    sandbox.json(&["feed", "--at", "2026-01-26T14:32:00Z", "The plumber came, all is dry."]);
    assert_eq!(sandbox.json(&["status"])["flags"], json!([]), "a calm stimulus ends the alarm");
}

#[test]
fn a_run_that_a_person_must_decide_about_is_not_repeated() {
    let sandbox = Sandbox::new();
    let day =
        "{\"text\": \"Tea in Kyoto is green\", \"session\": \"a\"}\n{\"text\": \"Kyoto tea\", \"session\": \"b\"}\n";
    let file = sandbox.file("day.jsonl", day);
    let answer = sandbox.brain(&["--json", "-c", "merge.salience=review", "feed", "--file", &file]).exits(3).document();
    let held = answer["runs"].as_array().expect("runs").iter().filter(|r| r["merged"].is_null()).count();
    assert_eq!((held, sandbox.run_branches().len()), (1, 1));
    assert!(runs(&sandbox.json(&["run"])).is_empty(), "its stimulus is on the branch, not due again");
    let branch = sandbox.run_branches().remove(0);
    sandbox.brain(&["merge", &branch]).exits(0);
    assert_eq!(sandbox.json(&["status"])["queue"], 0);
    sandbox.fsck();
}

#[test]
fn an_agent_can_be_run_by_hand_and_max_runs_bounds_a_round() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "--no-run", "Otters hold hands while they sleep."]);
    assert_eq!(runs(&sandbox.json(&["run", "--agent", "perception"])), ["perception"]);
    sandbox.brain(&["run", "--agent", "nobody"]).exits(3);
    sandbox.json(&["feed", "--no-run", "Beavers build dams."]);
    assert_eq!(sandbox.json(&["run", "--max-runs", "1"])["runs"].as_array().map(Vec::len), Some(1));
    let rest = sandbox.json(&["run"]);
    assert!(!runs(&rest).is_empty(), "what was cut is done by the next command");
    assert_eq!(sandbox.json(&["status"])["queue"], 0);
}

#[test]
fn the_runs_of_a_round_are_published_together() {
    let sandbox = Sandbox::new();
    let line = |n: usize| format!("{{\"text\": \"Heron {n} stands at lock {n}.\", \"session\": \"s{n}\"}}\n");
    let file = sandbox.file("day.jsonl", (0..8).map(line).collect::<String>());
    let packs = || {
        let folder = std::fs::read_dir(sandbox.dir().join(".git/objects/pack")).expect("a folder");
        folder.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
    };
    let before = packs();
    let answer = sandbox.json(&["feed", "--file", &file]);
    let perceived = runs(&answer).iter().filter(|agent| **agent == "perception").count();
    assert_eq!(perceived, 8, "a run for each session: {answer}");
    // The stimuli, what was perceived, what was linked.
    assert_eq!(packs() - before, 3);
    assert!(answer["runs"].as_array().expect("runs").iter().all(|run| run["merged"].is_string()));
    assert!(sandbox.run_branches().is_empty());
    sandbox.fsck();
}
