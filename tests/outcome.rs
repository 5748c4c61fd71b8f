//! Outcomes from outside: what came of a run, what its pathway learns, what the ledger says, and who may set goals.

use crate::sandbox::{self, NOW, Sandbox, connect, create, delta};
use serde_json::{Value, json};

/// A brain with a --feeds_into 50000--> b.
fn brain() -> Sandbox {
    with_pathway(Sandbox::new())
}

fn with_pathway(sandbox: Sandbox) -> Sandbox {
    let ops = json!([create("a"), create("b"), connect("a", "b", "feeds_into", 50_000)]);
    sandbox.apply(&delta(ops), &[]);
    sandbox
}

/// A run of an agent that relies on a → b.
fn predicted(sandbox: &Sandbox, agent: &str, prediction: Value) -> String {
    let mut prediction = prediction;
    prediction["pathway"] = json!([{"from": "a", "to": "b", "type": "feeds_into"}]);
    let ops = json!([{"op": "activate", "id": "a", "strength": 0.1}]);
    run_of(&sandbox.apply(&json!({"agent": agent, "prediction": prediction, "ops": ops}), &[]))
}

fn run_of(report: &Value) -> String {
    report["run"].as_str().expect("a run").to_owned()
}

fn weight(sandbox: &Sandbox) -> u64 {
    sandbox.weight("a", "b", "feeds_into").expect("a connection")
}

fn ledger(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.documents("wake", "network/ledger").into_values().collect()
}

fn agents(report: &Value) -> Vec<&str> {
    report["runs"].as_array().expect("runs").iter().map(|r| r["agent"].as_str().expect("an agent")).collect()
}

#[test]
fn an_outcome_below_the_prediction_weakens_the_pathway_by_the_formula() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"text": "it rains", "value": 0.7}));
    let report = sandbox.json(&["-c", "learning.rate=26214", "outcome", &run, "--value", "0.4"]);
    assert_eq!(weight(&sandbox), 44_000);
    assert_eq!(
        (&report["judged"], &report["merged"], &report["method"]),
        (&json!(run), &json!(true), &json!("number"))
    );
    assert!((report["error"].as_f64().unwrap() + 0.3).abs() < 1e-9, "{report}");
    assert_eq!((&report["credited"], &report["wake"]), (&json!(1), &json!(sandbox.tip("wake"))));
    let [entry] = ledger(&sandbox).try_into().unwrap();
    assert_eq!((&entry["run"], &entry["judged"], &entry["agent"]), (&report["run"], &json!(run), &json!("human")));
    assert_eq!(entry["prediction"], json!({"text": "it rains", "value": 0.7}));
    assert_eq!((&entry["outcome"], &entry["pathway"][0]["to"]), (&json!({"value": 0.4}), &json!("b")));
    let target = sandbox.neuron("b");
    assert_eq!((&target["salience"], &target["activation_count"]), (&json!(6_000), &json!(1)));
    let message = sandbox.git(&["log", "-1", "--format=%B", report["commit"].as_str().unwrap()]);
    assert!(message.contains("expected 0.7, came 0.4, error -0.3 (number)"), "{message}");
    sandbox.brain(&["check"]).exits(0);
    sandbox.fsck();
}

#[test]
fn words_alone_teach_nothing_and_wait_for_a_judge() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"text": "It rains in Uji", "value": 0.5}));
    let before = sandbox.refs();
    let tried = sandbox.json(&["outcome", &run, "--text", "it rains in Uji.", "--dry-run"]);
    assert_eq!((&tried["commit"], &tried["error"], &tried["method"]), (&Value::Null, &json!(0.0), &json!("unjudged")));
    assert_eq!(sandbox.refs(), before);
    let shown = sandbox.brain(&["outcome", &run, "--text", "It worked very well!"]).exits(0);
    assert!(
        shown.out.contains("It worked very well!, not judged") && shown.out.contains("words are no value"),
        "{shown}"
    );
    assert_eq!(weight(&sandbox), 50_000, "praise lowers nothing, and raises nothing");
    assert_eq!(ledger(&sandbox)[0]["method"], "unjudged");
    let report = sandbox.json(&["ledger"]);
    assert_eq!((&report["unjudged"], &report["all"]), (&json!(1), &Value::Null));
    let waiting = sandbox.brain(&["ledger", "--unjudged"]).exits(0);
    assert!(waiting.out.contains(&run) && waiting.out.contains("It worked very well!"), "{waiting}");
    // A person judges it: it waits no more.
    sandbox.json(&["outcome", &run, "--value", "1"]);
    assert_eq!(weight(&sandbox), 51_250);
    let report = sandbox.json(&["ledger", "--unjudged"]);
    assert_eq!((&report["unjudged"], &report["entries"], &report["all"]["count"]), (&json!(0), &json!([]), &json!(1)));
    // The story tells of what was judged; and what a person takes back counts no more.
    let judged = sandbox.json(&["ledger"])["entries"][0]["run"].as_str().unwrap().to_owned();
    sandbox.json(&["revert", "--run", &judged]);
    assert_eq!(sandbox.json(&["ledger"])["all"], Value::Null);
    assert_eq!((weight(&sandbox), ledger(&sandbox).len()), (50_000, 2));
}

#[test]
fn what_cannot_be_judged_says_why() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"value": 0.7}));
    let fails = |args: &[&str], code: i32, part: &str| {
        let answer = sandbox.brain(args).exits(code);
        assert!(answer.err.contains(part), "{answer}");
    };
    fails(&["outcome", &run], 2, "--value");
    fails(&["outcome", &run, "--value", "1.5"], 2, "not between 0 and 1");
    fails(&["outcome", &run, "--value", "-0.1"], 2, "not between 0 and 1");
    fails(&["outcome", &run, "--text", ""], 2, "is empty");
    fails(&["outcome", "rain", "--value", "1"], 2, "not a run id");
    fails(&["outcome", "20200101t000000000z-abcd2345-memory", "--value", "1"], 2, "no run");
    let held = run_of(&sandbox.apply(&delta(json!([create("c")])), &["--no-merge"]));
    fails(&["outcome", &held, "--value", "1"], 3, "waits on its branch");
    assert!(ledger(&sandbox).is_empty());
    // A run without a prediction expected nothing in particular; a second outcome counts beside the first.
    let silent = run_of(&sandbox.apply(&delta(json!([{"op": "activate", "id": "a", "strength": 0.1}])), &[]));
    let report = sandbox.json(&["outcome", &silent, "--value", "1"]);
    assert_eq!((&report["prediction"]["value"], &report["error"]), (&json!(0.5), &json!(0.5)));
    assert!(report["notes"].to_string().contains("0.5 is assumed"), "{report}");
    assert!(report["notes"].to_string().contains("nothing learns"), "{report}");
    let again = sandbox.json(&["outcome", &silent, "--value", "0"]);
    assert!(again["notes"].to_string().contains("judged once before"), "{again}");
    assert_eq!(ledger(&sandbox).len(), 2);
}

#[test]
fn outcomes_of_two_branches_commute() {
    let sandbox = with_pathway(Sandbox::fixed(NOW, "outcomes"));
    let run = predicted(&sandbox, "human", json!({"value": 0.5}));
    let outcome = |value: &str| run_of(&sandbox.json(&["outcome", &run, "--value", value, "--no-merge"]));
    let (one, other) = (outcome("1"), outcome("0.2"));
    let copy = sandbox.path("copy");
    let copied = sandbox.command("cp", &["-r", &sandbox.dir().display().to_string(), &copy]).status().unwrap();
    assert!(copied.success());
    for (dir, order) in [(".", [&one, &other]), (copy.as_str(), [&other, &one])] {
        for run in order {
            sandbox.brain(&["-C", dir, "merge", run]).exits(0);
        }
    }
    let tree = |dir: &str| sandbox.git(&["-C", dir, "rev-parse", "wake:network"]);
    assert_eq!(tree("."), tree(&copy));
    // 3277 · 50000/65535 is 2500.2: once by a half, once by -.3.
    assert_eq!(weight(&sandbox), 50_000 + 1_250 - 750);
    assert_eq!(ledger(&sandbox).len(), 2);
}

#[test]
fn outcomes_by_signal_are_judged_one_a_run_and_answered() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"text": "it rains", "value": 0.5}));
    let signal = |payload: Value| json!({"op": "signal", "to": "evaluator", "payload": payload});
    let outcome = |rest: Value| {
        let mut payload = json!({"kind": "outcome", "run": run});
        payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        signal(payload)
    };
    let gone = json!({"run": "20200101t000000000z-abcd2345-memory", "value": 1});
    let ops = json!([outcome(json!({"value": 1})), outcome(json!({"text": "It rains"})), outcome(gone)]);
    sandbox.apply(&delta(ops), &[]);
    let report = sandbox.json(&["run"]);
    assert_eq!(agents(&report), ["evaluator"; 3], "{report}");
    assert_eq!(ledger(&sandbox).len(), 2);
    assert_eq!(weight(&sandbox), 50_000 + 1_250, "words teach nothing");
    let answers = sandbox.documents("wake", "network/signals/evaluator");
    let answers: Vec<&Value> = answers.iter().filter(|(path, _)| path.ends_with(".ack.json")).map(|(_, a)| a).collect();
    assert_eq!(answers.iter().filter(|a| a["payload"]["done"] == "judged").count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|a| a["payload"]["understood"] == false).count(), 1, "{answers:?}");
}

#[test]
fn a_draft_of_a_prediction_is_read_and_strengthens_nothing() {
    let sandbox = Sandbox::new();
    let concept = |text: &str| json!({"op": "create", "concept": text, "type": "semantic"});
    sandbox.apply(&delta(json!([concept("rain"), concept("umbrella")])), &[]);
    let id = |text: &str| {
        let neurons = sandbox.neurons("wake");
        neurons.into_iter().find(|(_, n)| n["concept"] == text).expect("it was just made").0
    };
    let (rain, umbrella) = (id("rain"), id("umbrella"));
    sandbox.apply(&delta(json!([connect(&rain, &umbrella, "feeds_into", 50_000)])), &[]);
    let weight = || sandbox.weight(&rain, &umbrella, "feeds_into").unwrap();
    let ask = json!({"kind": "action_required", "query": "rain", "options": ["umbrella", "boots"]});
    sandbox.apply(&delta(json!([{"op": "signal", "to": "decision", "payload": ask}])), &[]);
    let report = sandbox.json(&["-c", "learning.exploration=0", "run"]);
    assert_eq!(agents(&report), ["decision", "evaluator"], "{report}");
    let records = sandbox.documents("wake", "network/runs");
    let record = |name: &str| {
        let found = |r: &&Value| r["agent"] == name && r["trigger"] != "signal introduction";
        records.values().filter(found).max_by_key(|r| r["run"].as_str().map(str::to_owned)).unwrap()
    };
    let draft = record("decision")["ops"].as_array().unwrap().iter().find(|op| op["to"] == "evaluator").unwrap();
    assert_eq!(
        (&draft["payload"]["kind"], &draft["payload"]["text"]),
        (&json!("prediction"), &json!("\"umbrella\" serves \"rain\""))
    );
    assert_eq!(
        record("decision")["prediction"]["pathway"][0],
        json!({"from": rain, "to": umbrella, "type": "feeds_into"})
    );
    let read = record("evaluator");
    assert_eq!((&read["trigger"], read.get("effects")), (&json!("signal prediction"), None));
    assert_eq!((weight(), ledger(&sandbox).len()), (50_000, 0));
    // What came of it goes the way that the decision had come.
    let run = record("decision")["run"].as_str().unwrap().to_owned();
    sandbox.json(&["outcome", &run, "--value", "1"]);
    assert!(weight() > 50_000);
}

#[test]
fn what_answers_a_run_is_remembered_and_judged() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"text": "The tea was sold out", "value": 0.5}));
    let report = sandbox.json(&["feed", "The tea is sold out", "--answers", &run]);
    assert!(agents(&report).starts_with(&["perception"]) && agents(&report).contains(&"evaluator"), "{report}");
    let stimulus = sandbox.documents("wake", "network/stimuli").into_values().next().unwrap();
    assert_eq!(stimulus["answers"], json!(run));
    let [entry] = ledger(&sandbox).try_into().unwrap();
    assert_eq!((&entry["judged"], &entry["method"]), (&json!(run), &json!("unjudged")));
    assert_eq!((&entry["outcome"]["text"], weight(&sandbox)), (&json!("The tea is sold out"), 50_000));
    assert!(report["notes"].to_string().contains("teach nothing until"), "{report}");
    assert!(sandbox.neurons("wake").values().any(|n| n["concept"] == "The tea is sold out"), "a memory as any other");
    let line = json!({"text": "Nothing was left of the tea", "answers": run}).to_string();
    sandbox.json(&["feed", "--file", &sandbox.file("more.jsonl", line)]);
    assert_eq!(ledger(&sandbox).len(), 2);
    let report = sandbox.json(&["feed", "All was gone by noon", "--answers", &run, "--value", "1"]);
    assert!(report["notes"].to_string().contains("came 1.000, error +0.500"), "{report}");
    assert_eq!((ledger(&sandbox).len(), weight(&sandbox)), (3, 51_250));
    // The same words about another run are its outcome, too, though the text is known; fed again, they count once.
    let other = predicted(&sandbox, "human", json!({"value": 0.5}));
    for _ in 0..2 {
        let report = sandbox.json(&["feed", "All was gone by noon", "--answers", &other, "--value", "0"]);
        assert_eq!((&report["known"], ledger(&sandbox).len()), (&json!(1), 4), "{report}");
    }
    let silent = run_of(&sandbox.apply(&delta(json!([{"op": "activate", "id": "a", "strength": 0.1}])), &[]));
    let report = sandbox.json(&["feed", "Nothing came of it", "--answers", &silent, "--value", "0"]);
    assert!(report["notes"].to_string().contains("0.5 is assumed"), "{report}");
    sandbox.brain(&["feed", "y", "--answers", &run, "--value", "1.5"]).exits(2);
    sandbox.brain(&["feed", "y", "--value", "0.5"]).exits(2);
    sandbox.brain(&["feed", "x", "--answers", "20200101t000000000z-abcd2345-memory"]).exits(2);
    assert_eq!(sandbox.json(&["status"])["stimuli"], 4);
}

/// An evaluator on main that is a program; what it reads is kept beside the brain.
fn programmed(sandbox: &Sandbox) -> String {
    let seen = sandbox.file("judge/seen", "");
    let script = format!(
        "cat > '{seen}'; run=$(grep -o '[0-9]*t[0-9]*z-[a-z2-7]*-somebody' '{seen}' | tail -1); \
         signal=$(grep -o 'g-[0-9a-f]\\{{16\\}}' '{seen}' | head -1); \
         echo \"{{\\\"ops\\\": [{{\\\"op\\\": \\\"outcome\\\", \\\"run\\\": \\\"$run\\\", \\\"value\\\": 0.9, \\\"error\\\": 0.2, \
         \\\"method\\\": \\\"model\\\"}}, {{\\\"op\\\": \\\"acknowledge\\\", \\\"signal\\\": \\\"$signal\\\", \\\"payload\\\": {{}}}}]}}\""
    );
    let definition = json!({
        "name": "evaluator", "role": "Compares by a program.", "trigger": {"any": [{"signal": "outcome"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script], "writes": [sandbox.path("judge")]},
        "capabilities": {
            "operations": ["reinforce", "outcome", "goal", "acknowledge"], "types": ["semantic", "contextual", "episodic"],
        },
    });
    std::fs::write(sandbox.dir().join("agents/evaluator.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["commit", "-q", "-am", "agents: a program evaluates"]);
    seen
}

#[test]
fn a_program_that_judges_sees_both_texts_and_not_who_wrote_them() {
    let sandbox = brain();
    let run = predicted(&sandbox, "decision", json!({"text": "it will rain", "value": 0.7}));
    let seen = programmed(&sandbox);
    let inert = sandbox.brain(&["outcome", &run, "--text", "it poured"]).exits(3);
    assert!(inert.err.contains("git brain trust"), "{inert}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let report = sandbox.json(&["outcome", &run, "--text", "it poured"]);
    assert_eq!((&report["method"], &report["outcome"]["value"]), (&json!("model"), &json!(0.9)));
    assert_eq!((&report["judged"], &report["outcome"]["text"]), (&json!(run), &json!("it poured")));
    assert_eq!(weight(&sandbox), 50_500, "3277 · .2 · 50000/65535");
    let read = || std::fs::read_to_string(&seen).unwrap();
    let shown = read();
    assert!(shown.contains("it will rain") && shown.contains("it poured"), "{shown}");
    for name in ["decision", "human", "perception"] {
        assert!(!shown.contains(name), "{name} in {shown}");
    }
    // The same by a signal; a number needs no program.
    std::fs::remove_file(&seen).unwrap();
    sandbox.json(&["outcome", &run, "--value", "0.7"]);
    assert!(!std::path::Path::new(&seen).exists());
    let fed = sandbox.json(&["feed", "It poured all day", "--answers", &run]);
    assert!(agents(&fed).contains(&"evaluator"), "{fed}");
    let shown = read();
    assert!(shown.contains("It poured all day"), "{shown}");
    for name in ["decision", "human", "perception"] {
        assert!(!shown.contains(name), "{name} in {shown}");
    }
    let methods: Vec<String> = ledger(&sandbox).iter().map(|e| e["method"].as_str().unwrap().to_owned()).collect();
    assert_eq!(methods.iter().filter(|m| *m == "model").count(), 2, "{methods:?}");
}

#[test]
fn a_brain_without_an_evaluator_has_the_programs_own() {
    let sandbox = brain();
    let run = predicted(&sandbox, "human", json!({"value": 0.5}));
    sandbox.git(&["rm", "-q", "agents/evaluator.json"]);
    sandbox.git(&["commit", "-q", "-m", "agents: no evaluator"]);
    sandbox.json(&["outcome", &run, "--value", "1"]);
    assert_eq!(weight(&sandbox), 51_250);
    // What answers a run is judged by nobody there, and that is said.
    let fed = sandbox.json(&["feed", "it rained", "--answers", &run]);
    assert!(fed["notes"].to_string().contains(&format!("`git brain outcome {run}`")), "{fed}");
}

#[test]
fn a_recall_that_learns_predicts_by_its_ways_and_an_outcome_rewards_them() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Anna grows tea in Uji"]);
    sandbox.json(&["feed", "Bob repairs bicycles"]);
    let answer = sandbox.json(&["recall", "Who grows tea?", "--learn"]);
    let run = answer["learnt"].as_str().unwrap().to_owned();
    let records = sandbox.documents("wake", "network/runs");
    let prediction = &records.values().find(|r| r["run"] == json!(run)).unwrap()["prediction"];
    assert_eq!(prediction["text"], "Anna grows tea in Uji");
    let edge = prediction["pathway"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&edge["type"], &edge["from"]), (&json!("recalls"), &answer["results"][0]["id"]));
    let part = |key: &str| edge[key].as_str().unwrap().to_owned();
    let weight = || sandbox.weight(&part("from"), &part("to"), "recalls").unwrap();
    let before = weight();
    sandbox.json(&["outcome", &run, "--value", "1"]);
    let change = (0.5 * 3277.0 * before as f64 / 65535.0).round() as u64;
    assert!(change > 0);
    assert_eq!(weight(), before + change);
}

#[test]
fn terminal_goals_are_peoples_and_sub_goals_emerge_from_what_proves_itself() {
    let sandbox = brain();
    let set = sandbox.json(&["goal", "add", "Be dry", "--neuron", "b"]);
    let goal = set["goal"].as_str().unwrap().to_owned();
    let file = sandbox.git(&["show", &format!("wake:network/goals/{goal}.json")]);
    assert!(file.contains("\"level\": \"terminal\"") && file.contains("-human\""), "{file}");
    sandbox.brain(&["goal", "add", "x", "--neuron", "ghost"]).exits(3);
    let as_agent = |level: &str, rest: Value| {
        let mut op = json!({"op": "goal", "text": "Be dry", "level": level});
        op.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        sandbox.try_apply(&json!({"agent": "evaluator", "ops": [op]}), &[])
    };
    for level in ["terminal", "sub"] {
        let denied = as_agent(level, json!({"state": "abandoned"})).exits(3);
        assert!(denied.error()["error"].as_str().unwrap().contains("only people"), "{denied}");
    }
    as_agent("terminal", json!({"id": "mine"})).exits(3);
    as_agent("sub", json!({"id": "ours", "parent": goal})).exits(0);

    let run = predicted(&sandbox, "human", json!({"value": 0.5}));
    let goals = || sandbox.json(&["goal", "list"])["goals"].as_array().unwrap().clone();
    let emerged = || goals().into_iter().find(|g| g["id"].as_str().unwrap().starts_with("sub-"));
    for value in ["0.8", "0.9", "0.7"] {
        assert_eq!(emerged(), None);
        sandbox.json(&["outcome", &run, "--value", value]);
    }
    let sub = emerged().expect("three good outcomes");
    assert_eq!((&sub["state"], &sub["neuron"], &sub["parent"]), (&json!("open"), &json!("b"), &json!(goal)));
    for _ in 0..3 {
        sandbox.json(&["outcome", &run, "--value", "0"]);
    }
    assert_eq!(emerged().unwrap()["state"], "abandoned");
    assert!(goals().iter().any(|g| g["id"] == json!(goal) && g["state"] == "open"));
    sandbox.json(&["goal", "close", &goal, "--reached"]);
    let shown = sandbox.brain(&["goal", "list"]).exits(0);
    assert!(shown.out.lines().any(|l| l.starts_with("reached   terminal") && l.contains("Be dry")), "{shown}");
    sandbox.brain(&["goal", "close", "nothing"]).exits(2);
    sandbox.brain(&["check"]).exits(0);
}

/// Puts a file on an agent's branch beside its run, as a program with access to the repository could.
fn smuggled(sandbox: &Sandbox, path: &str, change: impl Fn(&str) -> String) -> sandbox::Answer {
    let document = json!({"agent": "perception", "ops": [sandbox::create("honest")]});
    let branch = sandbox.apply(&document, &["--no-merge"])["branch"].as_str().unwrap().to_owned();
    sandbox.brain(&["checkout"]).exits(0);
    sandbox.git(&["checkout", "-q", &branch]);
    let there = sandbox.dir().join(path);
    let text = change(&std::fs::read_to_string(&there).unwrap_or_default());
    sandbox.file(&format!("here/{path}"), text);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "more"]);
    sandbox.git(&["checkout", "-q", "main"]);
    let answer = sandbox.brain(&["--json", "merge", &branch]);
    sandbox.git(&["branch", "-D", &branch]);
    answer
}

#[test]
fn an_agents_branch_brings_no_terminal_goal_and_changes_nothing_that_was_judged() {
    let sandbox = brain();
    let set = sandbox.json(&["goal", "add", "Be dry"]);
    let goal = set["goal"].as_str().unwrap().to_owned();
    let run = predicted(&sandbox, "human", json!({"value": 0.5}));
    sandbox.json(&["outcome", &run, "--value", "0.2"]);
    let wake = sandbox.tip("wake");
    let of_goal = sandbox.git(&["show", &format!("wake:network/goals/{goal}.json")]);
    let entry = sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network/ledger"]).remove(0);
    let refused = [
        smuggled(&sandbox, "network/goals/mine.json", |_| of_goal.replace(&goal, "mine") + "\n"),
        smuggled(&sandbox, &format!("network/goals/{goal}.json"), |text| text.replace("open", "reached")),
        smuggled(&sandbox, &entry, |text| text.replace("0.2", "0.9")),
    ];
    for (answer, why) in refused.iter().zip(["only people", "only people", "is written once for ever"]) {
        assert!(answer.code == 3 && answer.to_string().contains(why), "{answer}");
    }
    assert_eq!(sandbox.tip("wake"), wake);
}

#[test]
fn the_ledger_shows_predictions_beside_outcomes_and_how_calibrated_they_are() {
    let sandbox = brain();
    assert!(sandbox.brain(&["ledger"]).exits(0).out.contains("nothing was judged yet"));
    let nobody = sandbox.brain(&["ledger", "--agent", "memory"]).exits(0);
    assert!(nobody.out.contains("no run of memory was judged yet"), "{nobody}");
    let sure = predicted(&sandbox, "human", json!({"text": "sun", "value": 0.9}));
    let unsure = predicted(&sandbox, "decision", json!({"value": 0.2}));
    for (run, value) in [(&sure, "1"), (&sure, "0"), (&unsure, "0.2")] {
        sandbox.json(&["outcome", run, "--value", value]);
    }
    let report = sandbox.json(&["ledger"]);
    let judged: Vec<&Value> = report["entries"].as_array().unwrap().iter().map(|e| &e["judged"]).collect();
    assert_eq!(judged, [&json!(unsure), &json!(sure), &json!(sure)], "newest first");
    let human = report["agents"].as_array().unwrap().iter().find(|a| a["agent"] == "human").unwrap();
    assert_eq!(human["count"], 2);
    let close = |value: &Value, expected: f64| assert!((value.as_f64().unwrap() - expected).abs() < 1e-9, "{value}");
    close(&human["mean_error"], -0.4);
    close(&human["mean_absolute_error"], 0.5);
    close(&human["brier"], 0.41);
    close(&human["bins"][0]["predicted"], 0.9);
    close(&human["bins"][0]["observed"], 0.5);
    assert_eq!((&report["all"]["count"], &report["considered"]), (&json!(3), &json!(3)));
    let mine = sandbox.json(&["ledger", "--agent", "human", "-n", "1"]);
    assert_eq!((mine["entries"].as_array().unwrap().len(), &mine["all"]["count"]), (1, &json!(2)));
    let shown = sandbox.brain(&["ledger"]).exits(0).out;
    assert!(shown.contains("-0.900  expected 0.900, came 0.000 (number)"), "{shown}");
    assert!(shown.contains("2 judged, mean error -0.400, mean absolute error 0.500, Brier score 0.410"), "{shown}");
}

#[test]
fn the_ledger_says_what_no_run_stated_what_chance_gives_and_what_has_no_outcome() {
    let sandbox = brain();
    let unknown = sandbox.brain(&["ledger", "--agent", "nosuch"]).exits(2);
    assert!(unknown.err.contains("there is no such agent"), "{unknown}");
    for came in ["1", "0"] {
        let run = predicted(&sandbox, "human", json!({"text": "sun"}));
        sandbox.json(&["outcome", &run, "--value", came]);
    }
    let report = sandbox.json(&["ledger", "--agent", "human"]);
    let human = &report["agents"][0];
    assert_eq!((&human["count"], &human["stated"], &human["calibration_error"]), (&json!(2), &json!(0), &Value::Null));
    assert_eq!(human["bins"], json!([]), "the 0.5 is not the agent's: {report:#}");
    let shown = sandbox.brain(&["ledger"]).exits(0).out;
    assert!(shown.contains("expected 0.500 (not said by the run), came 1.000 (number)"), "{shown}");
    assert!(shown.contains("2 judged (2 without a value, taken as 0.5)"), "{shown}");
    assert!(shown.contains("no calibration: no run stated a value"), "{shown}");
    for at in 0..10 {
        let run = predicted(&sandbox, "decision", json!({"text": format!("sun {at}"), "value": 0.5}));
        if at == 9 {
            let shown = sandbox.brain(&["ledger"]).exits(0).out;
            assert!(shown.contains("of 9 stated: too few to say, 10 are needed"), "{shown}");
            assert!(shown.contains("  1 prediction has no outcome yet"), "{shown}");
        }
        sandbox.json(&["outcome", &run, "--value", if at % 2 == 0 { "1" } else { "0" }]);
    }
    predicted(&sandbox, "memory", json!({"text": "rain", "value": 0.3}));
    let shown = sandbox.brain(&["ledger"]).exits(0).out;
    assert!(shown.contains("calibration error 0.000 of 10 stated: no more than chance, which gives 0."), "{shown}");
    assert!(shown.contains("memory: 1 prediction has no outcome yet"), "{shown}");
    let report = sandbox.json(&["ledger"]);
    assert_eq!(report["without_outcome"], json!({"memory": 1}), "{report:#}");
}

#[test]
fn the_newest_entries_come_first_across_days_and_years() {
    let mut sandbox = with_pathway(Sandbox::fixed("2025-12-30T10:00:00Z", "days"));
    let run = predicted(&sandbox, "human", json!({"value": 0.5}));
    for (at, value) in
        [("2025-12-31T23:59:00Z", "0.1"), ("2026-01-01T00:01:00Z", "0.2"), ("2026-02-10T09:00:00Z", "0.3")]
    {
        sandbox.at(at);
        sandbox.json(&["outcome", &run, "--value", value]);
    }
    let came = |args: &[&str]| -> Vec<f64> {
        let report = sandbox.json(args);
        report["entries"].as_array().unwrap().iter().map(|e| e["outcome"]["value"].as_f64().unwrap()).collect()
    };
    assert_eq!(came(&["ledger"]), [0.3, 0.2, 0.1]);
    assert_eq!(came(&["ledger", "-n", "2"]), [0.3, 0.2]);
    // Who looks back on one entry sees one earlier outcome.
    let notes = |history: &str| {
        let report = sandbox.json(&["-c", history, "outcome", &run, "--value", "0.4", "--dry-run"]);
        report["notes"].to_string()
    };
    assert!(notes("learning.history=1").contains("judged once before"));
    assert!(notes("learning.history=256").contains("judged 3 times before"));
}

#[test]
fn a_batch_answers_runs_that_are_there_and_no_others() {
    let sandbox = brain();
    let run = predicted(&sandbox, "memory", json!({"text": "rain", "value": 0.5}));
    let line = |run: &str| format!("{{\"text\": \"it rained\", \"answers\": \"{run}\", \"value\": 0.4}}\n");
    let future = line("20991125t010226567z-eptrqr6t-decision");
    for (batch, code) in [(line(&run) + &future, 2), (line(&run), 0)] {
        std::fs::write(sandbox.dir().join("day.jsonl"), batch).unwrap();
        let stimuli = |sandbox: &Sandbox| sandbox.documents("wake", "network/stimuli").len();
        let before = stimuli(&sandbox);
        sandbox.brain(&["feed", "day.jsonl"]).exits(code);
        assert_eq!(stimuli(&sandbox), before + usize::from(code == 0), "one bad line and nothing is stored");
    }
    sandbox.brain(&["check"]).exits(0);
}
