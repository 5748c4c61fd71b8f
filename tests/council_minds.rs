//! Minds of councils: their errors go with them under any id, copies of one count once, and outcomes reach those who decided.

use std::process::Output;

use serde_json::{Value, json};

use crate::audit::audit;
use crate::council_gate::{commit, run_of, says, seated};
use crate::machines::World;
use crate::sandbox::{Sandbox, create};

const WHYS: [&str; 3] = ["The harbour is ready.", "Everybody is there, and it costs nothing.", "Tom has time for it."];

/// Members with these ids: the first three think with three programs of three families, the next three with the same.
fn members(ids: &[&str], families: [&str; 3]) -> String {
    let member = |(at, id): (usize, &&str)| {
        let vote = json!({"decision": "approve", "confidence": 0.8, "reasoning": WHYS[at % 3], "evidence": []});
        let script = format!("cat >/dev/null; echo '{vote}' # {}", families[at % 3]);
        json!({"id": id, "family": families[at % 3], "mind": {"kind": "command", "argv": ["/bin/sh", "-c", script]}})
    };
    json!({"members": ids.iter().enumerate().map(member).collect::<Vec<Value>>()}).to_string()
}

fn seat(sandbox: &Sandbox, members: &str) {
    std::fs::write(sandbox.dir().join("council.json"), members).unwrap();
    sandbox.git(&["add", "council.json"]);
    sandbox.git(&["commit", "-qm", "members"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

/// The effective minds for a drill, of a council that is not kept.
fn minds(sandbox: &Sandbox) -> f64 {
    let asked = sandbox.brain(&["--json", "council", "Shall harbour 9 get a drill?", "--dry-run"]).document();
    asked["verdict"]["quorum"]["approve"]["minds"].as_f64().unwrap()
}

fn wrong_together(sandbox: &Sandbox, times: usize) {
    for harbour in 1..=times {
        let question = format!("Shall harbour {harbour} get a drill?");
        let report = sandbox.brain(&["--json", "council", &question]).document();
        let id = report["id"].as_str().unwrap();
        if report["state"] == "pending" {
            sandbox.brain(&["approve", id]).exits(0);
        }
        sandbox.brain(&["council", "--outcome", id, "wrong"]).exits(0);
    }
}

#[test]
fn mind_keeps_its_errors_under_another_id_and_a_new_mind_under_an_old_id_has_none() {
    let (sandbox, old) = (Sandbox::new(), ["x", "y", "z"]);
    seat(&sandbox, &members(&["a", "b", "c"], old));
    assert_eq!(minds(&sandbox), 3.0);
    wrong_together(&sandbox, 4);
    let of_three = minds(&sandbox);
    assert!(of_three < 2.0, "{of_three}");
    seat(&sandbox, &members(&["a2", "b2", "c2"], old));
    assert_eq!(minds(&sandbox), of_three, "the same minds in other seats");
    seat(&sandbox, &members(&["a", "b", "c", "a2", "b2", "c2"], old));
    assert_eq!(minds(&sandbox), of_three, "a second seat is no second mind");
    let view = sandbox.brain(&["--json", "council", "Shall harbour 9 get a drill?"]).exits(1).document();
    assert_eq!(view["minds"][0]["members"], json!(["a", "a2"]), "{view:#}");
    assert_eq!((&view["minds"][0]["right"], &view["minds"][0]["judged"]), (&json!(0), &json!(4)));
    let alike = &view["most_alike"];
    assert_eq!((&alike["questions"], &alike["correlation"]), (&json!(4), &json!(0.285714)), "{view:#}");
    let id = view["id"].as_str().unwrap();
    let told = sandbox.brain(&["council", "--show", id]).exits(0).out;
    assert!(told.contains("so far   a+a2 right 0 of 4, b+b2 right 0 of 4"), "{told}");
    assert!(
        told.contains("a+a2 and b+b2 cost the most minds: their errors correlate by 0.29 over 4 questions"),
        "{told}"
    );
    seat(&sandbox, &members(&["a", "b", "c"], ["u", "v", "w"]));
    assert_eq!(minds(&sandbox), 3.0, "other minds in the old seats");
    let told = sandbox.brain(&["council", "Shall harbour 9 get a drill?", "--dry-run"]).exits(0).out;
    assert!(!told.contains("alike") && !told.contains("so far"), "{told}");
}

#[test]
fn outcome_of_a_run_that_a_council_let_in_is_told_of_the_council_by_its_reviewers() {
    let yes = [says("approve", "The record states one thing."), says("approve", "Nobody else says otherwise.")];
    let world = seated(&yes, 2);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let id = world.json("a", &["council", "--branch", &run])["id"].as_str().unwrap().to_owned();
    let outcome = || world.json("a", &["council", "--show", &id])["outcome"].clone();
    assert_eq!(outcome(), Value::Null, "that it let the run in does not make it right");
    // Ann reviews nothing here, and the outcome of a run is nobody's word on the council.
    world.json("a", &["outcome", &run, "--value", "0"]);
    assert_eq!(outcome(), Value::Null);
    let boss = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "boss@example.invalid"));
    let mut told = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["council", "--outcome", &id, "wrong"]);
    assert!(told.current_dir(world.dir("a")).envs(boss).status().unwrap().success());
    assert_eq!(outcome(), "wrong");
}

/// A command in a clone, as another person.
fn as_person(world: &World, address: &str, args: &[&str]) -> Output {
    let person = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, address));
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
    command.current_dir(world.dir("a")).envs(person).output().unwrap()
}

#[test]
fn councils_are_judged_and_closed_by_the_reviewers_of_rules_and_by_nobody_else() {
    let yes = [says("approve", "The record states one thing."), says("approve", "Nobody else says otherwise.")];
    let world = seated(&yes, 2);
    let rule = "[[review.rule]]\nname = \"all\"\nagents = [\"scribe\"]\nreviewers = [\"nora@example.invalid\"]\ncouncil = \"council.json\"\n";
    let rules = json!({"members": [{"id": "rule", "mind": {"kind": "reflex", "rule": "memories"}}]}).to_string();
    commit(&world, "a", &[("brain.toml", rule.to_owned()), ("councils/rules.json", rules)]);
    world.sync("a");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let id = world.json("a", &["council", "--branch", &run])["id"].as_str().unwrap().to_owned();
    let asked = ["--json", "council", "--members", "councils/rules.json", "Shall we paint the hall?"];
    let waits = world.try_brain("a", &asked).exits(1).document()["id"].as_str().unwrap().to_owned();
    let told = |id: &str| {
        let shown = world.json("a", &["council", "--show", id]);
        (shown["state"].clone(), shown["outcome"].clone())
    };
    world.json("a", &["outcome", &run, "--value", "0"]);
    for refused in
        [&["council", "--outcome", &id, "wrong"][..], &["approve", &waits], &["reject", &waits, "--why", "no"]]
    {
        let said = world.try_brain("a", refused).exits(3);
        assert!(said.err.contains("nora@example.invalid may"), "{said}");
    }
    assert_eq!((told(&id), told(&waits)), ((json!("decided"), Value::Null), (json!("pending"), Value::Null)));
    // Nor by a main of one's own, on which nobody is named.
    commit(&world, "a", &[("brain.toml", String::new())]);
    world.brain("a", &["council", "--outcome", &id, "wrong"]);
    world.brain("a", &["approve", &waits]);
    world.git("a", &["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!((told(&id), told(&waits)), ((json!("decided"), Value::Null), (json!("pending"), Value::Null)));
    for (address, args) in [
        ("nora@example.invalid", ["council", "--outcome", &id, "right"]),
        ("nora@example.invalid", ["reject", &waits, "--why", "it rains"]),
    ] {
        let said = as_person(&world, address, &args);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
    assert_eq!((told(&id).1, told(&waits).0), (json!("right"), json!("rejected")));
    // Beside reviewers of all runs those of a rule are as good.
    let both = format!("[review]\nreviewers = [\"boss@example.invalid\"]\n\n{rule}");
    commit(&world, "a", &[("brain.toml", both)]);
    for (address, outcome) in [("nora@example.invalid", "wrong"), ("boss@example.invalid", "right")] {
        let said = as_person(&world, address, &["council", "--outcome", &id, outcome]);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        assert_eq!(told(&id).1, outcome);
    }
    let said = world.try_brain("a", &["council", "--outcome", &id, "wrong"]).exits(3);
    assert!(said.err.contains("boss@example.invalid, nora@example.invalid may"), "{said}");
    // The audit judges by the same reviewers: the words under a main of one's own are named, and no other.
    let report = audit(&world, &["--all"], 3);
    let findings = report["findings"].as_array().unwrap().iter();
    let forged: Vec<String> = findings.filter(|one| one["rule"] == "review-forged").map(Value::to_string).collect();
    assert!(!forged.is_empty(), "{report:#}");
    for one in forged {
        assert!(!one.contains("by nora@") && !one.contains("by boss@") && one.contains("is closed by"), "{one}");
    }
}

#[test]
fn machine_without_the_keys_of_programs_says_so_and_holds_nobody_back() {
    let yes = [says("approve", "The record states one thing."), says("approve", "Nobody else says otherwise.")];
    let world = seated(&yes, 2);
    world.clone("b");
    world.sync("b");
    world.brain("b", &["trust", "--yes"]);
    let (branch, _) = world.waiting("b", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    // Whether a program signs by itself is known once it was asked.
    let said = world.try_brain("b", &["run"]).exits(0).to_string();
    assert!(
        said.contains("the keys that the document names for votes of m0, m1 are not kept on this machine"),
        "{said}"
    );
    let councils = |name: &str| world.json(name, &["council", "--list"])["councils"].as_array().unwrap().len();
    assert_eq!(councils("b"), 1);
    let refused = world.json("b", &["council", "--list"])["councils"][0]["verdict"]["refused"].clone();
    assert!(refused[0]["reason"].as_str().unwrap().contains("is not kept on this machine"), "{refused:#}");
    let said = world.try_brain("b", &["council", "--branch", &run]).exits(3);
    assert!(said.err.contains("no member was asked") && said.err.contains("m0, m1 are not kept"), "{said}");
    let (branch, _) = world.waiting("b", "scribe", json!([create("coffee")]));
    world.brain("b", &["run"]);
    assert_eq!(councils("b"), 1, "nobody is asked here about another run either: {branch}");
    world.sync("b");
    world.sync("a");
    let said = world.try_brain("a", &["run"]).exits(0).to_string();
    assert!(said.contains(&format!("approved {run}")), "no hour is waited for a round without keys: {said}");
}
