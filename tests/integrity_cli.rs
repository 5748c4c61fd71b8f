//! `integrity` by the command line, and what runs of models carry in their commits.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn a_text_is_measured_filtered_and_compared() {
    let sandbox = Sandbox::empty();
    let before = "As an AI language model, I am sorry. I'm sorry. I'm sorry for that. Perhaps it might rain.";
    let file = sandbox.file("before.txt", before);
    let measured = sandbox.json(&["integrity", "measure", &file]);
    assert_eq!(measured["lang"], "en");
    assert_eq!(
        (&measured["counts"]["self_references"], &measured["metrics"]["apology_density"]),
        (&json!(1), &Value::Null)
    );
    let answer = sandbox.brain_with(&["--json", "integrity", "filter", "-"], before.as_bytes()).exits(0).document();
    let text = answer["text"].as_str().unwrap();
    assert!(!text.contains("AI language model") && text.matches("sorry").count() == 2, "{text}");
    let again = sandbox.brain_with(&["--json", "integrity", "filter"], text.as_bytes()).exits(0).document();
    assert_eq!(again["text"], text, "twice is once");
    let now = sandbox.file("now.txt", "It rains tomorrow. Take a coat.");
    let compared = sandbox.json(&["integrity", "measure", &now, "--since", &file]);
    assert!(compared["transition"]["confidence"].as_f64().is_some_and(|c| (0.0..=1.0).contains(&c)), "{compared}");
    sandbox.brain(&["integrity", "measure", "--lang", "xx", &file]).exits(2);
    sandbox.brain(&["integrity", "measure", "nowhere.txt"]).exits(2);
}

#[test]
fn replies_are_judged_and_samples_scored_line_by_line() {
    let sandbox = Sandbox::empty();
    let cases = sandbox.brain(&["integrity", "evaluate", "--cases"]).exits(0).out;
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), 200);
    let replies: String = cases
        .iter()
        .map(|case| {
            let mut reply = case.clone();
            reply["reply"] = json!("I can't help with that. You could ask a lawyer instead.");
            reply["tokens"] = json!(14);
            reply.to_string() + "\n"
        })
        .collect();
    let judged = sandbox.brain_with(&["--json", "integrity", "evaluate"], replies.as_bytes()).exits(0).document();
    let categories = judged["categories"].as_object().unwrap();
    assert_eq!(categories.len(), 4, "{categories:?}");
    assert!(categories.values().all(|summary| summary["total"] == 50), "{categories:?}");
    assert!(categories.values().any(|summary| summary["passed"] != summary["total"]), "a refusal answers no question");
    let said = sandbox.brain_with(&["integrity", "evaluate"], b"{}\nno\n").exits(2);
    assert!(said.err.contains("line 1"), "{said}");
    let samples = "{\"id\": \"a\", \"text\": \"It rains.\", \"loss\": 1.0}\n{\"id\": \"b\", \"text\": \"As an AI, I think it might rain.\", \"loss\": 1.0}\n";
    let scored = sandbox.brain_with(&["integrity", "score"], samples.as_bytes()).exits(0).out;
    let loss: Vec<f64> =
        scored.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["loss"].as_f64().unwrap()).collect();
    assert!(loss[1] > loss[0] && loss[0] >= 1.0, "a penalty is added: {loss:?}");
}

/// Copies of one mind count once, and what a person must decide is said.
#[test]
fn a_council_counts_families_and_says_why_a_person_decides() {
    let sandbox = Sandbox::empty();
    let reasons = [
        "The night is quiet.",
        "Nobody waits for it before noon, and an hour is enough.",
        "Backups start at two: they would collide.",
        "We did the same in March without trouble.",
        "Costs nothing.",
        "Our users in Osaka are awake by then!",
        "What if power fails halfway?",
    ];
    let vote = |n: usize, family: &str, decision: &str| {
        json!({"member": format!("m{n}"), "family": family, "decision": decision, "confidence": 0.9,
            "reasoning": reasons[n], "evidence": []})
    };
    let council = |families: &[&str], decisions: &[&str]| {
        let members: Vec<Value> =
            families.iter().enumerate().map(|(n, family)| json!({"id": format!("m{n}"), "family": family})).collect();
        let votes: Vec<Value> = decisions.iter().enumerate().map(|(n, what)| vote(n, families[n], what)).collect();
        let document = json!({"question": "tea?", "members": members, "votes": votes}).to_string();
        sandbox.brain_with(&["--json", "council", "--votes", "-"], document.as_bytes())
    };
    let apart = council(&["a", "b", "c"], &["approve", "approve", "reject"]).exits(0).document();
    assert_eq!((&apart["decision"], &apart["quorum"]["tolerated_faults"]), (&json!("approve"), &json!(0)));
    assert_eq!(apart["dissent"][0]["member"], "m2");
    let copies = council(
        &["a", "a", "a", "a", "a", "b", "c"],
        &["approve", "approve", "approve", "approve", "approve", "reject", "reject"],
    )
    .exits(1)
    .document();
    assert_eq!(copies["decision"], "abstain", "{copies:#}");
    let alone = council(&["a", "a", "a"], &["approve", "approve", "approve"]).exits(1).document();
    assert!(alone["concerns"].to_string().contains("one_family"), "{alone:#}");
    sandbox.brain_with(&["council", "--votes", "-"], b"{}").exits(2);
}
