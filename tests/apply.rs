//! The contract of delta documents, of `apply` and of `merge`: what each operation does to a neuron's file as git has
//! it, what is refused with which exit code, and what stays as it was.

use crate::sandbox::{NOW, Sandbox, adjust, connect, create, delta, weight};
use serde_json::{Value, json};

/// A brain in which the neurons `a` and `b` exist, at a fixed time, by `human`.
fn pair() -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "pair");
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20000)])), &[]);
    sandbox
}

fn apply(sandbox: &Sandbox, op: Value) -> Value {
    sandbox.apply(&delta(json!([op])), &[])
}

#[test]
fn an_answer_says_where_the_run_is() {
    let sandbox = Sandbox::new();
    let before = sandbox.tip("wake");
    let answer = apply(&sandbox, create("tea"));
    assert_eq!(answer["merged"], true);
    let (run, commit) = (answer["run"].as_str().unwrap(), answer["commit"].as_str().unwrap());
    assert_eq!(answer["branch"], format!("agents/human/{run}"));
    assert_eq!(answer["wake"], sandbox.tip("wake"));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%P", commit]), before);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%P", "wake"]), format!("{before} {commit}"));
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
    assert!(sandbox.recorded_runs("wake").contains(run));
    sandbox.fsck();
}

#[test]
fn create_makes_a_file_of_a_neuron() {
    let sandbox = Sandbox::fixed(NOW, "create");
    let run = apply(&sandbox, json!({"op": "create", "id": "tea-1f3c", "concept": "Tea", "type": "semantic"}));
    let neuron = sandbox.neuron("tea-1f3c");
    assert_eq!(
        (&neuron["id"], &neuron["concept"], &neuron["type"]),
        (&json!("tea-1f3c"), &json!("Tea"), &json!("semantic"))
    );
    assert_eq!((&neuron["run"], &neuron["created_at"]), (&run["run"], &json!(NOW)));
    assert_eq!((&neuron["salience"], &neuron["activation_count"]), (&json!(0), &json!(0)));
    // The same again changes nothing; another concept or type under that id is refused.
    apply(&sandbox, json!({"op": "create", "id": "tea-1f3c", "concept": "Tea", "type": "semantic"}));
    assert_eq!(sandbox.neuron("tea-1f3c"), neuron);
    for (concept, kind) in [("Coffee", "semantic"), ("Tea", "contextual")] {
        let op = json!({"op": "create", "id": "tea-1f3c", "concept": concept, "type": kind});
        let refused = sandbox.try_apply(&delta(json!([op])), &[]).exits(3);
        assert!(refused.error()["error"].as_str().unwrap().contains("tea-1f3c"), "{refused}");
    }
}

#[test]
fn a_missing_id_is_derived_so_that_equal_concepts_meet() {
    let sandbox = Sandbox::new();
    let op = |concept: &str| json!({"op": "create", "concept": concept, "type": "semantic"});
    apply(&sandbox, op("Green Tea"));
    apply(&sandbox, op("green tea"));
    let found: Vec<String> = sandbox.neurons("wake").into_keys().filter(|id| id.starts_with("green-tea-")).collect();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn activate_writes_salience_by_the_write_rule() {
    let mut sandbox = pair();
    apply(&sandbox, json!({"op": "activate", "id": "a", "strength": 0.5}));
    let neuron = sandbox.neuron("a");
    assert_eq!((&neuron["salience"], &neuron["activation_count"]), (&json!(32768), &json!(1)));
    assert_eq!((&neuron["last_salience_update"], &neuron["last_activated"]), (&json!(NOW), &json!(NOW)));
    apply(&sandbox, json!({"op": "activate", "id": "a", "strength": 1}));
    assert_eq!(sandbox.neuron("a")["salience"], 65535);
    // A day later: decay to the clock, then add.
    sandbox.at("2026-01-27T14:32:00Z");
    apply(&sandbox, json!({"op": "activate", "id": "a", "strength": 0.1}));
    let neuron = sandbox.neuron("a");
    assert_eq!((&neuron["salience"], &neuron["activation_count"]), (&json!(51489 + 6554), &json!(3)));
    assert_eq!(neuron["last_activated"], "2026-01-27T14:32:00Z");
}

#[test]
fn connections_are_made_changed_and_taken_away() {
    let sandbox = pair();
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20000));
    // One that exists stays as it is; another type is another connection.
    apply(&sandbox, connect("a", "b", "feeds_into", 9));
    apply(&sandbox, connect("a", "b", "inhibits", 7000));
    assert_eq!(
        (sandbox.weight("a", "b", "feeds_into"), sandbox.weight("a", "b", "inhibits")),
        (Some(20000), Some(7000))
    );
    apply(&sandbox, adjust("a", "b", "feeds_into", -120));
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(19880));
    let clamped = apply(&sandbox, adjust("a", "b", "feeds_into", 65000));
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(65535));
    assert_eq!(clamped["notes"].as_array().unwrap().len(), 1, "{clamped}");
    apply(&sandbox, json!({"op": "disconnect", "from": "a", "to": "b", "type": "inhibits"}));
    // At 0 an edge is not followed; only sleep removes it.
    assert_eq!(sandbox.weight("a", "b", "inhibits"), Some(0));
    let path = sandbox.neuron_path("wake", "a").unwrap();
    let text = sandbox.git(&["show", &format!("wake:{path}")]);
    let line = text.lines().filter(|l| l.starts_with("    ")).collect::<Vec<_>>();
    assert_eq!(line, [r#"    "b": {"feeds_into": 65535, "inhibits": 0}"#], "one target a line: {text}");
}

#[test]
fn reinforce_changes_a_weight_by_its_own_size() {
    let sandbox = pair();
    apply(&sandbox, adjust("a", "b", "feeds_into", 30000));
    let edge = json!({"from": "a", "to": "b", "type": "feeds_into"});
    let op = |error: f64| delta(json!([{"op": "reinforce", "error": error, "pathway": [edge]}]));
    // The worked figure of the rule: error -0.3, rate 26214: 50000 → 44000.
    let answer = sandbox.brain_with(&["-c", "learning.rate=26214", "apply", "-"], op(-0.3).to_string().as_bytes());
    answer.exits(0);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(44000));
    sandbox.apply(&op(1.0), &[]);
    // round(3277 · 44000 / 65535) = 2200
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(46200));
}

#[test]
fn names_types_and_archives_change() {
    let sandbox = pair();
    let run = apply(&sandbox, json!({"op": "reword", "id": "a", "concept": "the letter A"}));
    let neuron = sandbox.neuron("a");
    assert_eq!(neuron["concept"], "the letter A");
    assert!(neuron["named_by"].to_string().contains(run["run"].as_str().unwrap()), "{neuron}");
    apply(&sandbox, json!({"op": "retype", "id": "a", "type": "core"}));
    assert_eq!(sandbox.neuron("a")["type"], "core");
    let archived = apply(&sandbox, json!({"op": "archive", "id": "b", "reason": "silent"}));
    assert_eq!(sandbox.neuron("b")["archived"], archived["run"]);
    let refused = json!({"op": "archive", "id": "a", "reason": "core neurons stay"});
    sandbox.try_apply(&delta(json!([refused])), &[]).exits(3);
}

#[test]
fn signals_are_files_and_so_are_answers_and_flags() {
    let sandbox = pair();
    let sent = apply(&sandbox, json!({"op": "signal", "to": "memory", "payload": {"kind": "note", "text": "hello"}}));
    let signals = sandbox.documents("wake", "network/signals/memory");
    let mine: Vec<&Value> = signals.values().filter(|s| s["run"] == sent["run"]).collect();
    assert_eq!(mine.len(), 1);
    assert_eq!((&mine[0]["from"], &mine[0]["payload"]["text"]), (&json!("human"), &json!("hello")));
    let id = mine[0]["id"].as_str().unwrap();
    // The answer is the receiver's; the person is not it.
    let answer = json!({"op": "acknowledge", "signal": id, "payload": {"heard": true}});
    sandbox.try_apply(&delta(json!([answer])), &[]).exits(3);
    sandbox.apply(&json!({"agent": "memory", "ops": [answer]}), &[]);
    let signals = sandbox.documents("wake", "network/signals/memory");
    let ack = signals.iter().find(|(path, _)| path.ends_with(&format!("{id}.ack.json"))).unwrap().1;
    assert_eq!((&ack["by"], &ack["payload"]["heard"]), (&json!("memory"), &json!(true)));
    apply(&sandbox, json!({"op": "flag", "name": "urgence", "value": true, "reason": "fire"}));
    let flag: Value = serde_json::from_str(&sandbox.git(&["show", "wake:network/flags/urgence.json"])).unwrap();
    assert_eq!((&flag["value"], &flag["reason"]), (&json!(true), &json!("fire")));
}

#[test]
fn the_record_keeps_prediction_operations_and_effects() {
    let sandbox = pair();
    let ops = json!([adjust("a", "b", "feeds_into", 5)]);
    let answer = sandbox.apply(&json!({"prediction": {"text": "it helps", "value": 0.7}, "ops": ops}), &[]);
    let records = sandbox.documents("wake", "network/runs");
    let record = records.values().find(|r| r["run"] == answer["run"]).unwrap();
    // The effects say the operation already; whoever asks sees it.
    assert_eq!((&record["implied"], record.get("ops"), &record["prediction"]["value"]), (&json!(1), None, &json!(0.7)));
    let shown = sandbox.json(&["show", answer["run"].as_str().unwrap()]);
    assert_eq!(shown["document"]["ops"], ops);
    assert!(record["effects"].to_string().contains("20005"), "{record}");
}

#[test]
fn what_is_not_allowed_is_refused_and_leaves_no_trace() {
    let sandbox = pair();
    let edge = json!({"from": "b", "to": "a", "type": "feeds_into"});
    let many: Vec<Value> = (0..1001).map(|_| json!({"op": "activate", "id": "a", "strength": 0})).collect();
    let cases = [
        ("unknown id", json!({"ops": [{"op": "activate", "id": "nobody", "strength": 1}]})),
        ("dangling target", json!({"ops": [connect("a", "nobody", "feeds_into", 5)]})),
        ("dangling source", json!({"ops": [connect("nobody", "a", "feeds_into", 5)]})),
        ("no such connection", json!({"ops": [adjust("b", "a", "feeds_into", 1)]})),
        ("no such pathway", json!({"ops": [{"op": "reinforce", "error": 1, "pathway": [edge]}]})),
        ("operation", json!({"agent": "memory", "ops": [create("c")]})),
        (
            "neuron type",
            json!({"agent": "decision", "ops": [
            {"op": "create", "id": "c", "concept": "c", "type": "episodic"}]}),
        ),
        ("no such agent", json!({"agent": "nobody", "ops": []})),
        ("too many operations", json!({"ops": many})),
        ("all or nothing", json!({"ops": [create("c"), {"op": "activate", "id": "nobody", "strength": 1}]})),
    ];
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    for (name, document) in cases {
        let answer = sandbox.try_apply(&document, &[]);
        assert_eq!(answer.code, 3, "{name}: {answer}");
        answer.error();
    }
    let other = sandbox.try_apply(&json!({"agent": "memory", "ops": []}), &["--agent", "human"]).exits(3);
    assert!(other.error()["error"].as_str().unwrap().contains("memory"), "{other}");
    let large = format!("{{\"ops\": [], \"agent\": \"{}\"}}", "x".repeat(1 << 20));
    sandbox.brain_with(&["apply", "-"], large.as_bytes()).exits(3);
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn what_is_not_of_the_schema_is_bad_data_at_its_line() {
    let sandbox = pair();
    let cases = [
        (
            "{\n \"ops\": [\n  {\"op\": \"create\",\n   \"concept\": \"x\", \"type\": \"semantic\", \"extra\": 1}\n ]\n}",
            4,
        ),
        ("{\n \"ops\": [],\n \"note\": \"unknown\"\n}", 3),
        ("{\"ops\": [\n  {\"op\": \"create\", \"concept\": \"x\", \"type\": \"sementic\"}]}", 2),
        ("{\"ops\": [\n  {\"op\": \"explode\"}]}", 2),
        ("{\"ops\": [\n\n {\"op\": \"activate\", \"id\": \"a\",\n  \"strength\": 1.5}]}", 4),
        ("{\"ops\": [\n {\"op\": \"activate\", \"id\": \"../../etc\", \"strength\": 1}]}", 2),
        (
            "{\"ops\": [\n {\"op\": \"connect\", \"from\": \"a\", \"to\": \"b\", \"type\": \"feeds_into\", \"weight\": 65536}]}",
            2,
        ),
        ("{\"ops\": [],\n \"ops\": []}", 2),
        ("{\"ops\": [\n", 2),
        ("\n[null, \"human\", null, []]", 2),
    ];
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    for (document, line) in cases {
        let file = sandbox.file("delta.json", document);
        let answer = sandbox.brain(&["--json", "apply", &file]).exits(5);
        let error = answer.error();
        let message = error["error"].as_str().unwrap();
        assert!(message.contains(&format!("delta.json, line {line}")), "{document}\n{message}");
    }
    sandbox.brain(&["apply", "/nowhere/delta.json"]).exits(2);
    sandbox.brain(&["apply"]).exits(2);
    sandbox.brain(&["apply", "--frobnicate", "-"]).exits(2);
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn an_agent_may_do_what_its_definition_allows() {
    let sandbox = pair();
    let document = json!({"agent": "memory", "ops": [adjust("a", "b", "feeds_into", 10)]});
    let answer = sandbox.apply(&document, &["--agent", "memory"]);
    assert!(answer["branch"].as_str().unwrap().starts_with("agents/memory/"), "{answer}");
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20010));
    let run = answer["commit"].as_str().unwrap();
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an", run]), "memory");
    // The flag alone names the agent as well.
    let refused = sandbox.try_apply(&delta(json!([create("c")])), &["--agent", "memory"]).exits(3);
    assert!(refused.error()["error"].as_str().unwrap().contains("memory may not create"), "{refused}");
}

#[test]
fn a_run_for_review_waits_on_its_branch() {
    let sandbox = pair();
    let wake = sandbox.tip("wake");
    let held = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 300)])), &["--no-merge"]);
    let branch = held["branch"].as_str().unwrap();
    assert_eq!((&held["merged"], &held["wake"]), (&json!(false), &json!(wake)));
    assert_eq!(sandbox.tip("wake"), wake);
    assert_eq!(sandbox.run_branches(), [branch]);
    assert_eq!(sandbox.tip(branch), held["commit"].as_str().unwrap());
    // Other runs, and merging all that is pending, leave it alone.
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", -100)])), &[]);
    assert_eq!(sandbox.json(&["merge"])["merges"], json!([]));
    sandbox.json(&["run"]);
    assert_eq!(sandbox.run_branches(), [branch]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(19900));
    let dry = sandbox.json(&["merge", "--dry-run", branch]);
    assert_eq!((&dry["merges"][0]["merged"], sandbox.weight("a", "b", "feeds_into")), (&json!(true), Some(19900)));
    let merged = sandbox.json(&["merge", branch]);
    assert_eq!((&merged["merges"][0]["merged"], &merged["wake"]), (&json!(true), &json!(sandbox.tip("wake"))));
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20200));
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
}

#[test]
fn merging_twice_is_merging_once() {
    let sandbox = pair();
    let held = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 300)])), &["--no-merge"]);
    let commit = held["commit"].as_str().unwrap();
    sandbox.json(&["merge", held["run"].as_str().unwrap()]);
    let tip = sandbox.tip("wake");
    let again = sandbox.json(&["merge", commit]);
    assert_eq!((&again["merges"][0]["merged"], &again["merges"][0]["commit"]), (&json!(true), &Value::Null));
    assert_eq!((sandbox.tip("wake"), sandbox.weight("a", "b", "feeds_into")), (tip, Some(20300)));
    for name in [held["run"].as_str().unwrap(), held["branch"].as_str().unwrap()] {
        let again = sandbox.json(&["merge", name]);
        assert_eq!(again["merges"][0]["merged"], true, "its branch is gone and its record is in wake: {name}");
    }
    // A cherry-pick of the run has another commit id and is the same run.
    let tree = sandbox.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    let picked = sandbox.git(&["commit-tree", &tree, "-p", &sandbox.tip(&format!("{commit}^")), "-m", "x"]);
    let once_more = sandbox.json(&["merge", &picked]);
    assert_eq!(once_more["merges"][0]["conflicts"], json!([]));
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20300));
    sandbox.brain(&["merge", "agents/nobody/nothing"]).exits(2);
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = pair();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let answer = sandbox.apply(&delta(json!([create("c"), connect("c", "a", "influences", 4000)])), &["--dry-run"]);
    assert_eq!((&answer["commit"], &answer["merged"]), (&Value::Null, &json!(false)));
    assert!(answer["effects"].to_string().contains("4000"), "{answer}");
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
    sandbox.try_apply(&delta(json!([connect("c", "a", "influences", 4000)])), &["--dry-run"]).exits(3);
}

#[test]
fn two_runs_from_one_state_add_up() {
    let sandbox = pair();
    let held: Vec<Value> = [300, -120]
        .iter()
        .map(|by| sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", *by)])), &["--no-merge"]))
        .collect();
    let branches: Vec<&str> = held.iter().map(|h| h["branch"].as_str().unwrap()).collect();
    let merged = sandbox.json(&["merge", branches[1], branches[0]]);
    assert_eq!(merged["merges"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20180));
    let message = sandbox.git(&["log", "-1", "--format=%B", "wake"]);
    // The lesser run id is merged first, and is on the left when the other comes.
    let sides = match held[0]["run"].as_str() < held[1]["run"].as_str() {
        true => "left 20300, right 19880",
        false => "left 19880, right 20300",
    };
    assert!(message.contains(&format!("base 20000, {sides} -> 20180 (sum)")), "{message}");
    let policy = sandbox.git(&["rev-parse", "main:brain.toml"]);
    assert!(message.contains(&format!("Policy: {policy}")), "{message}");
}

#[test]
fn what_policy_leaves_to_a_person_does_not_move_wake() {
    let sandbox = pair();
    let held = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 300)])), &["--no-merge"]);
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", -120)])), &[]);
    let (branch, wake) = (held["branch"].as_str().unwrap(), sandbox.tip("wake"));
    let answer = sandbox.brain(&["--json", "-c", "merge.weight=review", "merge", branch]).exits(3);
    let report = answer.document();
    let conflict = &report["merges"][0]["conflicts"][0];
    assert_eq!((&conflict["neuron"], &conflict["base"]), (&json!("a"), &json!(20000)), "{answer}");
    assert_eq!((&conflict["left"], &conflict["right"]), (&json!(19880), &json!(20300)));
    assert!(conflict["runs"].to_string().contains(held["run"].as_str().unwrap()), "{conflict}");
    assert_eq!((&report["merges"][0]["merged"], sandbox.tip("wake")), (&json!(false), wake.clone()));
    assert_eq!(sandbox.run_branches(), [branch]);
    // The value is kept with the run, on its branch; nobody merges it by accident.
    let kept = sandbox.documents(branch, "network/runs");
    assert!(
        kept.iter().any(|(path, note)| path.ends_with(".conflicts.json") && note["conflicts"] == json!([conflict]))
    );
    sandbox.json(&["run"]);
    assert_eq!(sandbox.run_branches(), [branch]);
    assert_eq!(weight(&sandbox.neuron("a"), "b", "feeds_into"), Some(19880));
    // A person decides by a policy that can.
    sandbox.json(&["merge", branch]);
    assert_eq!(weight(&sandbox.neuron("a"), "b", "feeds_into"), Some(20180));
    sandbox.fsck();
}

#[test]
fn merge_tree_is_the_same_merge_without_a_branch() {
    let sandbox = pair();
    let base = sandbox.tip("wake");
    let sides: Vec<Value> = [7, 5]
        .iter()
        .map(|by| sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", *by)])), &["--no-merge"]))
        .collect();
    let side = |n: usize| sides[n]["commit"].as_str().unwrap();
    let one = sandbox.json(&["merge-tree", &base, side(0), side(1)]);
    let other = sandbox.json(&["merge-tree", &base, side(1), side(0)]);
    assert_eq!((&one["tree"], &one["conflicts"]), (&other["tree"], &json!([])));
    assert_eq!(weight(&sandbox.neuron_at(one["tree"].as_str().unwrap(), "a"), "b", "feeds_into"), Some(20012));
    assert_eq!(sandbox.tip("wake"), base);
    let branches: Vec<&str> = sides.iter().map(|s| s["branch"].as_str().unwrap()).collect();
    sandbox.json(&["merge", branches[0], branches[1]]);
    assert_eq!(sandbox.git(&["rev-parse", "wake^{tree}"]), one["tree"].as_str().unwrap());
}

#[test]
fn whole_numbers_of_a_payload_are_exact_or_refused() {
    let sandbox = Sandbox::new();
    let signal = |number: &str| {
        format!(
            "{{\"ops\": [\n{{\"op\": \"signal\", \"to\": \"memory\", \"payload\": {{\"kind\": \"n\", \"count\": {number}}}}}]}}"
        )
    };
    for exact in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
        sandbox.brain_with(&["apply", "-"], signal(exact).as_bytes()).exits(0);
        let sent = sandbox.git(&["grep", "-h", "count", "wake", "--", "network/signals"]);
        assert!(sent.contains(&format!("\"count\": {exact}")), "{sent}");
    }
    let refs = sandbox.refs();
    for rounded in ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"] {
        let refused = sandbox.brain_with(&["apply", "-"], signal(rounded).as_bytes()).exits(5);
        assert!(refused.err.contains("line 2, ops[0].payload.count: "), "{refused}");
        assert!(refused.err.contains(rounded) && refused.err.contains("would be rounded"), "{refused}");
    }
    assert_eq!(sandbox.refs(), refs);
}
