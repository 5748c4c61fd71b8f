//! Decisions by the command line: a question with options, what came of them, and what is expected next time.

use crate::sandbox::{NOW, Sandbox};
use serde_json::{Value, json};

const OPTIONS: [&str; 3] = ["opt-7", "mein Weg", "ferry"];

fn decide(sandbox: &Sandbox, question: &str, more: &[&str]) -> Value {
    let mut args = vec!["decide", question];
    OPTIONS.iter().for_each(|option| args.extend(["--option", option]));
    args.extend(more);
    sandbox.json(&args)
}

/// Decides so often, with outcomes by `worth`; the choices, and the absolute errors of the predictions.
fn lived(sandbox: &Sandbox, question: &str, times: u32, worth: impl Fn(&str, u32) -> f64) -> (Vec<String>, Vec<f64>) {
    let one = |at| {
        let decision = decide(sandbox, question, &[]);
        let (choice, run) = (decision["choice"].as_str().unwrap().to_owned(), decision["run"].as_str().unwrap());
        let outcome = worth(&choice, at);
        let report = sandbox.json(&["outcome", run, "--value", &outcome.to_string()]);
        assert_eq!(report["prediction"]["value"], decision["expected"]);
        (choice, report["error"].as_f64().unwrap().abs())
    };
    (0..times).map(one).unzip()
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn thirty_decisions_find_the_best_and_ten_more_the_new_best() {
    let sandbox = Sandbox::fixed(NOW, "decide");
    let noise = |at: u32| [0.04, -0.05, 0.0, 0.05, -0.04, 0.03, -0.03][at as usize % 7];
    let worth = |option: &str, at: u32| {
        noise(at)
            + if option == "mein Weg" {
                0.9
            } else if option == "ferry" {
                0.5
            } else {
                0.1
            }
    };
    let (choices, errors) = lived(&sandbox, "which way?", 30, worth);
    let best = |choices: &[String], name: &str| choices.iter().filter(|choice| *choice == name).count();
    assert!(mean(&errors[20..]) <= 0.10, "{errors:?}");
    assert!(best(&choices[15..], "mein Weg") >= 12, "{choices:?}");
    // Sleep takes nothing of it away, and who spells the question otherwise asks the same.
    sandbox.json(&["sleep"]);
    let (choices, errors) = lived(&sandbox, "Which way", 25, |option, at| 1.0 - worth(option, at));
    assert!(best(&choices[10..], "opt-7") >= 12, "{choices:?}");
    assert!(mean(&errors[15..]) <= 0.10, "{errors:?}");
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn affect_feels_what_came_otherwise_than_expected() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "felt");
    let affect = |sandbox: &Sandbox| sandbox.neuron("n_core_affect")["salience"].as_u64().unwrap_or(0);
    let mut felt = Vec::new();
    for (day, outcome) in [(27, 0.5), (28, 0.9), (29, 0.5)] {
        sandbox.at(&format!("2026-01-{day}T08:00:00Z"));
        let decision = decide(&sandbox, "which way?", &[]);
        let ran = decision["runs"].as_array().unwrap().iter().filter(|run| run["agent"] == "affect").count();
        felt.push((ran, affect(&sandbox) > 6_000));
        sandbox.json(&["outcome", decision["run"].as_str().unwrap(), "--value", &outcome.to_string()]);
    }
    // The first has no outcome before it, the second one as expected, the third one of .4 more.
    assert_eq!(felt.iter().map(|(ran, _)| *ran).collect::<Vec<_>>(), [0, 0, 1]);
    assert!(felt[2].1, "{felt:?}");
    let status = sandbox.json(&["status"]);
    let of = status["loops"].as_array().unwrap().iter().find(|l| l["agent"] == "affect").unwrap().clone();
    assert_eq!((&of["last_run"], &of["unanswered"]), (&json!("2026-01-29T08:00:00Z"), &json!(0)));
}

#[test]
fn a_decision_says_what_it_expects_and_how_to_answer() {
    let sandbox = Sandbox::fixed(NOW, "decide");
    let decision = decide(&sandbox, "which way?", &["--why"]);
    assert_eq!(sandbox.json(&["status"])["signals"][1], 0, "no signal waits for a person");
    assert_eq!((&decision["expected"], &decision["stance"]), (&json!(0.5), &json!("explore")));
    assert!((decision["spread"].as_f64().unwrap() - 0.288675).abs() < 1e-6, "{decision}");
    let run = decision["run"].as_str().unwrap();
    let record = sandbox.documents("wake", "network/runs").into_values().find(|r| r["run"] == run).unwrap();
    assert_eq!(record["prediction"]["chosen"], json!({"question": "which way?", "option": decision["choice"]}));
    sandbox.json(&["outcome", run, "--value", "0.9"]);
    let entry = sandbox.documents("wake", "network/ledger").into_values().next().unwrap();
    assert_eq!(entry["chosen"]["option"], decision["choice"]);
    let shown =
        sandbox.brain(&["decide", "which", "way", "-o", "opt-7", "-o", "mein Weg", "-o", "ferry", "--why"]).exits(0);
    for part in [" ± ", "1 outcome ", "0 outcomes", "git brain outcome 2026"] {
        assert!(shown.out.contains(part), "{shown}");
    }
    // The same world decides the same.
    let again = Sandbox::fixed(NOW, "decide");
    assert_eq!(decide(&again, "which way?", &[])["run"], decision["run"]);
}

#[test]
fn what_cannot_be_decided_says_why_and_writes_nothing() {
    let sandbox = Sandbox::fixed(NOW, "decide");
    let before = sandbox.refs();
    let long = "x".repeat(257);
    for (args, part) in [
        (vec!["decide", "which way?"], "two options or more"),
        (vec!["decide", "which way?", "--option", "ferry"], "two options or more"),
        (vec!["decide", "which way?", "--option", "ferry", "--option", "Ferry "], "given twice"),
        (vec!["decide", "which way?", "--option", "ferry", "--option", ""], "is empty"),
        (vec!["decide", "", "--option", "ferry", "--option", "bridge"], "is empty"),
        (vec!["decide", "which way?", "--option", "ferry", "--option", &long], "the limit is 256"),
        (vec!["decide"], "QUESTION"),
    ] {
        let answer = sandbox.brain(&args).exits(2);
        assert!(answer.err.contains(part), "{answer}");
    }
    assert_eq!(sandbox.refs(), before);
}

#[test]
fn an_outcome_that_is_taken_back_counts_no_more() {
    let sandbox = Sandbox::fixed(NOW, "decide");
    let decision = decide(&sandbox, "which way?", &[]);
    let judged = sandbox.json(&["outcome", decision["run"].as_str().unwrap(), "--value", "1"]);
    let choice = decision["choice"].clone();
    let expected = |decision: &Value| {
        let scores = decision["scores"].as_array().unwrap();
        scores.iter().find(|score| score["option"] == choice).unwrap()["expected"].as_f64().unwrap()
    };
    assert!(expected(&decide(&sandbox, "which way?", &[])) > 0.9);
    sandbox.json(&["revert", "--run", judged["run"].as_str().unwrap()]);
    let after = expected(&decide(&sandbox, "which way?", &[]));
    assert!((after - 0.5).abs() < 0.1, "{after}");
}

/// Agents decide side by side: whoever asks gets the answer, also where another process ran the agent that gave it.
#[test]
fn whoever_asks_is_answered_whichever_process_runs_decision() {
    let sandbox = Sandbox::new();
    let ask =
        |n: usize| (0..3).map(|round| decide(&sandbox, &format!("which way {n} {round}?"), &[])).collect::<Vec<_>>();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || ask(n))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let runs: std::collections::BTreeSet<&str> = answers.iter().map(|a| a["run"].as_str().unwrap()).collect();
    assert_eq!(answers.len(), 12);
    assert!(answers.iter().all(|a| OPTIONS.contains(&a["choice"].as_str().unwrap())), "{answers:#?}");
    for run in runs {
        sandbox.brain(&["outcome", run, "--value", "0.5"]).exits(0);
    }
    assert_eq!(sandbox.json(&["signals", "--unanswered"])["total"], 0);
}
