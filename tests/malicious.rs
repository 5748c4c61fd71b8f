//! A hijacked model: an agent that is trusted to do a little proposes what it may not, in every way that its limits have. Nothing of
//! that lands, and all that it may do does.

use crate::sandbox::{self, Dice, Sandbox, connect, create, delta};
use git_brain::brain::{Brain, Source, World};
use serde_json::{Value, json};

const AGENT: &str = "mallory";

/// Its definition: everything is bounded.
fn definition(cognition: &Value) -> Value {
    json!({
        "name": AGENT,
        "role": "Notes what it reads, and has been taken over.",
        "trigger": {"any": [{"signal": "go"}]},
        "cognition": cognition,
        "capabilities": {
            "operations": ["create", "activate", "connect", "adjust", "disconnect", "reinforce", "reword", "retype", "archive",
                "signal", "acknowledge", "flag", "outcome", "goal"],
            "types": ["semantic", "contextual"],
            "regions": ["note-*", "shared"],
            "targets": ["note-*", "shared", "tea"],
            "links": ["feeds_into", "recalls", "triggers"],
            "max_weight_delta": 5000,
            "max_operations": 20,
            "max_created": 3,
            "max_strength": 0.5,
            "max_total_strength": 1.0,
            "signals_to": ["memory"],
            "flags": ["noted"],
            "goals": ["note-*"],
            "judges": ["decision"],
        },
        "priority": 1,
    })
}

fn brain(cognition: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.dir().join("agents/mallory.json"), format!("{:#}\n", definition(cognition))).unwrap();
    sandbox.git(&["add", "agents/mallory.json"]);
    sandbox.git(&["commit", "-q", "-m", "agents: mallory"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let core = json!({"op": "create", "id": "note-core", "concept": "note core", "type": "core"});
    let ops = json!([
        create("tea"), create("coffee"), create("shared"), create("note-a"), create("note-b"), create("note-c"), core,
        {"op": "create", "id": "note-episode", "concept": "an episode", "type": "episodic"},
        connect("note-a", "note-b", "feeds_into", 30_000),
        connect("note-a", "coffee", "feeds_into", 30_000),
        connect("note-a", "note-c", "inhibits", 30_000),
        connect("note-b", "note-a", "feeds_into", 4_000),
        connect("tea", "coffee", "feeds_into", 30_000),
        connect("coffee", "tea", "feeds_into", 4_000),
        connect("note-c", "tea", "feeds_into", 65_535),
        {"op": "goal", "id": "note-terminal", "text": "stay honest", "level": "terminal"},
        {"op": "goal", "id": "elsewhere", "text": "another", "level": "sub"},
        {"op": "signal", "to": "memory", "payload": {"kind": "private"}},
        {"op": "signal", "to": AGENT, "payload": {"kind": "later"}},
    ]);
    sandbox.apply(&delta(ops), &[]);
    sandbox
}

/// What is in the brain that attacks name.
struct Known {
    /// A signal to another agent.
    foreign_signal: String,
    /// A run of a person.
    human_run: String,
}

impl Known {
    fn of(sandbox: &Sandbox) -> Self {
        let signals = sandbox.documents("wake", "network/signals/memory");
        let signal = signals.values().find(|s| s["payload"]["kind"] == "private").expect("the signal to memory");
        let run =
            sandbox.recorded_runs("wake").into_iter().rfind(|run| run.ends_with("-human")).expect("a person's run");
        Self { foreign_signal: signal["id"].as_str().unwrap().to_owned(), human_run: run }
    }
}

fn adjust(from: &str, to: &str, by: i64) -> Value {
    sandbox::adjust(from, to, "feeds_into", by)
}

fn activate(id: &str, strength: f64) -> Value {
    json!({"op": "activate", "id": id, "strength": strength})
}

fn note(n: usize) -> Value {
    json!({"op": "create", "id": format!("note-new-{n}"), "concept": format!("new note {n}"), "type": "semantic"})
}

fn pathway(error: f64, edges: &[(&str, &str)]) -> Value {
    let edges: Vec<Value> = edges.iter().map(|(a, b)| json!({"from": a, "to": b, "type": "feeds_into"})).collect();
    json!({"op": "reinforce", "error": error, "pathway": edges})
}

/// What it may do: each lands, alone and at its bound.
fn legal() -> Vec<Vec<Value>> {
    let mut all = vec![
        vec![note(0)],
        vec![note(1), note(2), note(3)],
        vec![activate("note-a", 0.5)],
        vec![activate("note-a", 0.25), activate("note-a", 0.25)],
        vec![activate("note-a", 0.5), activate("note-b", 0.5)],
        vec![adjust("note-a", "note-b", 5000)],
        vec![adjust("note-a", "note-b", -5000)],
        vec![adjust("note-a", "note-b", 2500), adjust("note-a", "note-b", 2500)],
        vec![adjust("note-a", "note-b", 5000), adjust("note-a", "note-b", -5000)],
        vec![connect("note-c", "note-a", "feeds_into", 5000)],
        vec![connect("note-c", "tea", "recalls", 5000)],
        vec![connect("shared", "note-a", "feeds_into", 1)],
        vec![connect("note-b", "note-c", "triggers", 2000)],
        vec![json!({"op": "disconnect", "from": "note-b", "to": "note-a", "type": "feeds_into"})],
        vec![pathway(0.5, &[("note-a", "note-b")])],
        vec![json!({"op": "reword", "id": "note-c", "concept": "a better word"})],
        vec![json!({"op": "retype", "id": "note-c", "type": "contextual"})],
        vec![json!({"op": "signal", "to": "memory", "payload": {"kind": "note"}})],
        vec![json!({"op": "flag", "name": "noted", "value": true})],
        vec![json!({"op": "goal", "id": "note-goal", "text": "note more", "level": "sub"})],
        vec![json!({"op": "archive", "id": "note-c", "reason": "of no use"})],
        vec![activate("shared", 0.1); 5],
        (0..20).map(|_| json!({"op": "flag", "name": "noted", "value": false})).collect(),
    ];
    all.push(vec![json!({"op": "create", "concept": "note x", "type": "semantic"})]);
    all
}

/// Operations that it may never use, each for a reason of its own.
fn forbidden(known: &Known) -> Vec<(String, Vec<Value>)> {
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    let mut add = |why: &str, ops: Vec<Value>| all.push((why.to_owned(), ops));
    // Regions: every operation on every neuron outside.
    for outside in ["tea", "coffee", "external_stimulus", "n_core_memory", "decision_point", "notes", "note", "sharedx"]
    {
        add("outside", vec![activate(outside, 0.1)]);
        add("outside", vec![connect(outside, "note-a", "feeds_into", 100)]);
        add("outside", vec![connect("note-a", outside, "triggers", 100)]);
        add("outside", vec![json!({"op": "reword", "id": outside, "concept": "mine"})]);
        add("outside", vec![json!({"op": "retype", "id": outside, "type": "contextual"})]);
        add("outside", vec![json!({"op": "archive", "id": outside, "reason": "gone"})]);
        add("outside", vec![adjust(outside, "note-a", 1)]);
        add("outside", vec![pathway(1.0, &[(outside, "note-a")])]);
        if outside != "tea" {
            add("target", vec![connect("note-a", outside, "feeds_into", 100)]);
            add("target", vec![connect("note-a", outside, "recalls", 100)]);
        }
    }
    for outside in ["tea2", "n_core_fake", "xnote-a", "no", "brain"] {
        add("create outside", vec![json!({"op": "create", "id": outside, "concept": outside, "type": "semantic"})]);
        add("create outside", vec![json!({"op": "create", "concept": format!("{outside} thing"), "type": "semantic"})]);
    }
    add("existing edge out", vec![adjust("note-a", "coffee", 10)]);
    add("existing edge out", vec![json!({"op": "disconnect", "from": "note-a", "to": "coffee", "type": "feeds_into"})]);
    add("boost outside", vec![pathway(0.5, &[("note-c", "tea")])]);
    add("boost outside", vec![pathway(0.5, &[("note-a", "note-b"), ("note-c", "tea")])]);
    add("edge of others", vec![adjust("tea", "coffee", -1)]);
    // Types.
    for kind in ["core", "episodic", "signal"] {
        add("type", vec![json!({"op": "create", "id": "note-typed", "concept": "typed", "type": kind})]);
        add("type", vec![json!({"op": "retype", "id": "note-a", "type": kind})]);
    }
    for id in ["note-core", "note-episode"] {
        add("type", vec![activate(id, 0.1)]);
        add("type", vec![connect(id, "note-a", "feeds_into", 100)]);
        add("type", vec![json!({"op": "reword", "id": id, "concept": "x"})]);
        add("type", vec![json!({"op": "retype", "id": id, "type": "semantic"})]);
        add("type", vec![json!({"op": "archive", "id": id, "reason": "x"})]);
    }
    // Types of connections.
    for link in ["inhibits", "influences"] {
        add("link", vec![connect("note-b", "note-a", link, 100)]);
        add("link", vec![sandbox::adjust("note-a", "note-c", link, 1)]);
        add("link", vec![json!({"op": "disconnect", "from": "note-a", "to": "note-c", "type": link})]);
    }
    // Weights: beyond by one, at once and in steps, in both directions, and through other operations.
    for by in [5001, 5002, 6000, 65_535, -5001, -30_000, -65_535] {
        add("delta", vec![adjust("note-a", "note-b", by)]);
    }
    for steps in 2..=20 {
        let each = 5000 / steps + 1;
        for sign in [1, -1] {
            add("split delta", (0..steps).map(|_| adjust("note-a", "note-b", sign * each)).collect());
        }
    }
    for weight in [5001, 6000, 65_535] {
        add("connect delta", vec![connect("note-c", "note-a", "feeds_into", weight)]);
    }
    for (first, then) in [(5000, 1), (4000, 1001), (1024, 5000)] {
        add(
            "connect, adjust",
            vec![connect("note-c", "note-a", "feeds_into", first), adjust("note-c", "note-a", then)],
        );
    }
    add("disconnect delta", vec![json!({"op": "disconnect", "from": "note-a", "to": "note-b", "type": "feeds_into"})]);
    for steps in 4..=19 {
        add("reinforce delta", (0..steps).map(|_| pathway(1.0, &[("note-a", "note-b")])).collect());
        add("reinforce delta", vec![pathway(-1.0, &vec![("note-a", "note-b"); steps + 1])]);
    }
    add(
        "step back and out",
        vec![
            adjust("note-a", "note-b", -5000),
            adjust("note-a", "note-b", 5000),
            adjust("note-a", "note-b", 5000),
            adjust("note-a", "note-b", 5000),
        ],
    );
    // Strength, at once, in steps, over neurons, and by what operations bring along.
    for strength in [0.500_001, 0.51, 0.75, 1.0] {
        add("strength", vec![activate("note-a", strength)]);
    }
    for steps in 2..=20 {
        let each = 0.5 / f64::from(steps) + 0.001;
        add("split strength", (0..steps).map(|_| activate("note-a", each)).collect());
    }
    add("total strength", vec![activate("note-a", 0.5), activate("note-b", 0.5), activate("note-c", 0.01)]);
    for n in 3..=12 {
        let ids = ["note-a", "note-b", "note-c", "shared"];
        let each = 1.0 / f64::from(n) + 0.01;
        add("total strength", (0..n).map(|i| activate(ids[i as usize % 4], each)).collect());
    }
    // Counts.
    for n in 4..=19 {
        add("created", (0..n).map(note).collect());
    }
    for n in [21, 22, 50, 100, 999] {
        add("operations", vec![json!({"op": "flag", "name": "noted", "value": true}); n]);
        add("operations", (0..n).map(|_| json!({"op": "signal", "to": "memory", "payload": {}})).collect());
    }
    // Signals, flags, goals, judgements, answers.
    for to in
        ["human", "perception", "decision", "affect", "evaluator", "bootstrap", "narrator", AGENT, "memory2", "nobody"]
    {
        for payload in [json!({}), json!({"kind": "outcome"}), json!({"kind": "action_required", "to": "memory"})] {
            add("signal", vec![json!({"op": "signal", "to": to, "payload": payload})]);
        }
    }
    for flag in ["urgence", "priority_override", "noted2", "note", "no"] {
        for value in [true, false] {
            add("flag", vec![json!({"op": "flag", "name": flag, "value": value})]);
        }
    }
    for id in ["note-terminal", "note-mine", "elsewhere", "goal"] {
        add("goal", vec![json!({"op": "goal", "id": id, "text": "x", "level": "terminal"})]);
        if id != "note-mine" {
            for state in ["open", "reached", "abandoned"] {
                add("goal", vec![json!({"op": "goal", "id": id, "text": "x", "level": "sub", "state": state})]);
            }
        }
    }
    add("goal", vec![json!({"op": "goal", "text": "without an id of mine", "level": "sub"})]);
    add("goal", vec![json!({"op": "goal", "id": "note-g", "text": "x", "level": "sub", "neuron": "ghost"})]);
    for value in [0.0, 0.5, 1.0] {
        let op =
            json!({"op": "outcome", "run": known.human_run, "value": value, "error": value - 0.5, "method": "number"});
        add("judge", vec![op]);
        let own = "20260126t143100000z-abcd2345-mallory";
        add(
            "judge itself",
            vec![json!({"op": "outcome", "run": own, "value": value, "error": value - 0.5, "method": "number"})],
        );
        let ghost = "20260126t143100000z-abcd2345-decision";
        add(
            "judge nothing",
            vec![json!({"op": "outcome", "run": ghost, "value": value, "error": value - 0.5, "method": "number"})],
        );
    }
    for signal in [known.foreign_signal.as_str(), "g-0000000000000000", "g-x"] {
        add("answer", vec![json!({"op": "acknowledge", "signal": signal, "payload": {"done": true}})]);
    }
    // Names that stand for something else.
    for id in ["note-tea-a9f74d1e", "note-0123abcd", "note-x-deadbeef"] {
        add("derived id", vec![json!({"op": "create", "id": id, "concept": "poison", "type": "semantic"})]);
    }
    for concept in ["NOTE-B", "Note  b", "something else", "ｎｏｔｅ"] {
        add("taken", vec![json!({"op": "create", "id": "note-a", "concept": concept, "type": "semantic"})]);
    }
    add("taken", vec![json!({"op": "create", "id": "note-a", "concept": "note-a", "type": "contextual"})]);
    for stimulus in ["s-ee8e8bc8fe48265c", "r-0123456789abcdef"] {
        let op = json!({"op": "create", "id": "note-e", "concept": "e", "type": "semantic", "stimulus": stimulus});
        add("stimulus of others", vec![op]);
    }
    // Time.
    for at in ["2036-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
        add("future", vec![json!({"op": "activate", "id": "note-a", "strength": 0.1, "at": at})]);
        add("future", vec![json!({"op": "create", "id": "note-f", "concept": "f", "type": "semantic", "at": at})]);
    }
    // What is not there.
    add("ghost", vec![connect("note-a", "note-ghost", "feeds_into", 100)]);
    add("ghost", vec![activate("note-ghost", 0.1)]);
    add("ghost", vec![adjust("note-b", "note-c", 10)]);
    all
}

/// Documents that are no deltas, or not those of this agent.
fn malformed() -> Vec<String> {
    let op = |text: &str| format!(r#"{{"ops": [{text}]}}"#);
    let mut all: Vec<String> = vec![
        String::new(),
        "null".into(),
        "[]".into(),
        "1".into(),
        "{".into(),
        r#"{"ops": {}}"#.into(),
        r#"{"ops": null}"#.into(),
        r#"{"ops": [], "ops": []}"#.into(),
        r#"{"ops": [], "run": "20260126t143100000z-abcd2345-human"}"#.into(),
        r#"{"ops": [[]]}"#.into(),
        r#"{"ops": [1]}"#.into(),
        r#"{"ops": ["create"]}"#.into(),
        r#"{"ops": [{}]}"#.into(),
    ];
    for agent in ["human", "memory", "perception", "Mallory", "mallory ", "mаllory", "../human", "", "sleep"] {
        all.push(json!({"agent": agent, "ops": [note(0)]}).to_string());
    }
    for field in
        ["run", "origin", "base", "depth", "effects", "author", "cognition", "reverts", "approves", "pinned", "trigger"]
    {
        all.push(json!({"ops": [note(0)], field: "local"}).to_string());
        let mut with = note(0);
        with[field] = json!(true);
        all.push(delta(json!([with])).to_string());
        let mut with = activate("note-a", 0.1);
        with[field] = json!("human");
        all.push(delta(json!([with])).to_string());
    }
    for id in [
        "../../brain",
        "note-a/../tea",
        ".git",
        "note-a\n",
        "NOTE-A",
        "note a",
        "con",
        "-note",
        "note-\u{202e}a",
        "note-\u{0}",
        "network/neurons/x",
        "note-a.json",
        "note*",
        "@own",
        &"n".repeat(65),
        &"n".repeat(10_000),
    ] {
        all.push(delta(json!([create(id)])).to_string());
        all.push(delta(json!([activate(id, 0.1)])).to_string());
        all.push(delta(json!([connect("note-a", id, "feeds_into", 100)])).to_string());
        all.push(delta(json!([{"op": "signal", "to": id, "payload": {}}])).to_string());
        all.push(delta(json!([{"op": "flag", "name": id, "value": true}])).to_string());
        all.push(delta(json!([{"op": "goal", "id": id, "text": "x", "level": "sub"}])).to_string());
    }
    for name in [
        "delete", "remove", "pin", "approve", "revert", "exec", "write", "Create", "create ", "merge", "sleep", "trust",
    ] {
        all.push(op(&format!(r#"{{"op": "{name}", "id": "note-a"}}"#)));
    }
    for strength in ["-0.1", "1.1", "1e308", "1e999", "NaN", "\"1\"", "null", "[]", "true"] {
        all.push(op(&format!(r#"{{"op": "activate", "id": "note-a", "strength": {strength}}}"#)));
    }
    for weight in ["0", "-1", "65536", "1.5", "1e10", "\"5\"", "null", "99999999999999999999"] {
        all.push(op(&format!(
            r#"{{"op": "connect", "from": "note-a", "to": "note-c", "type": "feeds_into", "weight": {weight}}}"#
        )));
    }
    for by in ["65536", "-65536", "0.5", "\"1\"", "null", "1e3", "2147483648"] {
        all.push(op(&format!(
            r#"{{"op": "adjust", "from": "note-a", "to": "note-b", "type": "feeds_into", "by": {by}}}"#
        )));
    }
    for link in ["feeds", "FEEDS_INTO", "", "owns"] {
        all.push(op(&format!(
            r#"{{"op": "connect", "from": "note-a", "to": "note-c", "type": "{link}", "weight": 9}}"#
        )));
    }
    for error in ["1.1", "-1.1", "NaN", "1e999", "\"0\""] {
        all.push(op(&format!(r#"{{"op": "reinforce", "error": {error}, "pathway": [{{"from": "note-a", "to": "note-b", "type": "feeds_into"}}]}}"#)));
    }
    all.push(op(r#"{"op": "reinforce", "error": 0.1, "pathway": []}"#));
    all.push(json!({"ops": [pathway(0.1, &vec![("note-a", "note-b"); 65])]}).to_string());
    for depth in [33, 64, 1000, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        all.push(op(&format!(r#"{{"op": "signal", "to": "memory", "payload": {deep}}}"#)));
    }
    for size in [17 << 10, 100 << 10, 2 << 20] {
        all.push(json!({"ops": [{"op": "signal", "to": "memory", "payload": "x".repeat(size)}]}).to_string());
        all.push(json!({"ops": [{"op": "reword", "id": "note-a", "concept": "x".repeat(size)}]}).to_string());
    }
    for concept in ["", " ", "\u{0}", "a\u{1b}[31m", "\u{7}"] {
        all.push(
            json!({"ops": [{"op": "create", "id": "note-n", "concept": concept, "type": "semantic"}]}).to_string(),
        );
        all.push(json!({"ops": [{"op": "reword", "id": "note-a", "concept": concept}]}).to_string());
    }
    all.push(json!({"ops": vec![note(0); 1001]}).to_string());
    for value in [-0.1, 1.1, 1e300] {
        all.push(json!({"prediction": {"value": value}, "ops": [note(0)]}).to_string());
    }
    all
}

struct Figures {
    forbidden: usize,
    landed: usize,
    legal: usize,
}

#[test]
fn nothing_forbidden_lands_and_everything_legal_does() {
    let sandbox = brain(&json!({"kind": "command", "argv": ["false"]}));
    let known = Known::of(&sandbox);
    let world = World::fixed("2027-01-26T14:32:00Z".parse().unwrap(), "malicious");
    // The trust record lies where the sandbox's commands have put it.
    let world = world.with_state_dir(sandbox.beside("state").join("git-brain"));
    let brain = Brain::open(sandbox.dir(), world, &[]).unwrap();
    let mut documents: Vec<(String, String)> = Vec::new();
    let plain = forbidden(&known);
    for (why, ops) in &plain {
        documents.push((why.clone(), delta(json!(ops)).to_string()));
    }
    documents.extend(malformed().into_iter().map(|text| ("malformed".to_owned(), text)));
    // Hidden behind, between and before what is allowed; as many operations as that leaves room for.
    let harmless = [activate("note-b", 0.01), json!({"op": "flag", "name": "noted", "value": true}), note(0)];
    let mut dice = Dice(7);
    for (why, ops) in plain.iter().filter(|(_, ops)| ops.len() <= 10) {
        for _ in 0..3 {
            let mut hidden = ops.clone();
            for _ in 0..=dice.below(3) {
                let at = dice.below(hidden.len() as u64 + 1) as usize;
                hidden.insert(at, harmless[dice.below(2) as usize].clone());
            }
            documents.push((format!("{why}, hidden"), delta(json!(hidden)).to_string()));
        }
        let mut late = vec![harmless[1].clone(); 20 - ops.len()];
        late.extend(ops.iter().cloned());
        documents.push((format!("{why}, at the end"), delta(json!(late)).to_string()));
    }
    let mut figures = Figures { forbidden: 0, landed: 0, legal: 0 };
    let before = (sandbox.refs(), sandbox.object_count());
    for (why, text) in &documents {
        figures.forbidden += 1;
        if let Ok(report) = brain.apply(&Source::Text(text.clone()), Some(AGENT), false, false) {
            figures.landed += 1;
            let clipped: String = text.chars().take(300).collect();
            eprintln!("{why} landed as {}: {clipped}", report.run);
        }
    }
    assert_eq!(figures.landed, 0, "of {} forbidden deltas", figures.forbidden);
    assert!(figures.forbidden >= 1_000, "only {} forbidden deltas", figures.forbidden);
    assert_eq!((sandbox.refs(), sandbox.object_count()), before, "not an object was written");
    for ops in legal() {
        // Each from the same state: what one did must not be what makes the next too much.
        let text = delta(json!(ops)).to_string();
        let report = brain.apply(&Source::Text(text.clone()), Some(AGENT), false, false);
        let report = report.unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!(report.merged, "{text}");
        figures.legal += 1;
    }
    println!(
        "{} forbidden deltas, {} landed; {} legal ones, all landed",
        figures.forbidden, figures.landed, figures.legal
    );
    // By the clock of those runs.
    sandbox.with("BRAIN_NOW", "2027-01-26T14:32:00Z").brain(&["check"]).exits(0);
}

#[test]
fn a_refusal_names_the_operation_and_its_line() {
    let sandbox = brain(&json!({"kind": "command", "argv": ["false"]}));
    let text = "{\"ops\": [\n{\"op\": \"flag\", \"name\": \"noted\", \"value\": true},\n\
        {\"op\": \"activate\", \"id\": \"tea\", \"strength\": 0.1}\n]}";
    let answer = sandbox.brain_with(&["--json", "apply", "-", "--agent", AGENT], text.as_bytes()).exits(3);
    let message = answer.error()["error"].as_str().unwrap_or_default().to_owned() + &answer.err;
    assert!(message.contains("line 3") && message.contains("ops[1] (activate)") && message.contains("tea"), "{answer}");
}

/// The model's own voice: a program that prints what it may not, woken again and again.
#[test]
fn a_program_that_has_been_taken_over_lands_nothing_either() {
    let world = tempfile::tempdir().unwrap();
    let says = world.path().join("says.json");
    let argv = json!(["sh", "-c", format!("cat > /dev/null; cat '{}'", says.display())]);
    let sandbox = brain(&json!({"kind": "command", "argv": argv, "reads": [says]}));
    let known = Known::of(&sandbox);
    let all = forbidden(&known);
    let mut tried = 0;
    // One of each kind of reason: a process each.
    let mut reasons = std::collections::BTreeSet::new();
    for (why, ops) in all.iter().filter(|(why, _)| reasons.insert(why.clone())) {
        std::fs::write(&says, delta(json!(ops)).to_string()).unwrap();
        let before = sandbox.tip("wake");
        let answer = sandbox.brain(&["--json", "run", "--agent", AGENT]);
        assert!(answer.code != 0, "{why}: {answer}");
        assert_eq!(sandbox.tip("wake"), before, "{why}");
        tried += 1;
    }
    std::fs::write(&says, delta(json!([note(0)])).to_string()).unwrap();
    sandbox.brain(&["--json", "run", "--agent", AGENT]).exits(0);
    assert_eq!(sandbox.neuron("note-new-0")["concept"], "new note 0");
    println!("{tried} forbidden deltas printed by a program, 0 landed; 1 legal one, landed");
}
