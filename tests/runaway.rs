//! Runaway: agents that wake each other without end, programs that outlive their parents, processes that share a budget.

use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, create, delta};
use serde_json::{Value, json};

/// A trusted agent `echo` on main.
fn define(sandbox: &Sandbox, definition: &Value) {
    std::fs::write(sandbox.dir().join("agents/echo.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "agents/echo.json"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "agents: echo"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

fn settings(sandbox: &Sandbox, text: &str) {
    std::fs::write(sandbox.dir().join("brain.toml"), text).unwrap();
    sandbox.git(&["commit", "-q", "-am", "settings: budget"]);
}

/// An agent that wakes with every stimulus, and signals itself and others whatever happens.
fn spawner(more: &Value) -> Value {
    let signal = |to: &str| json!({"op": "signal", "to": to, "payload": {"kind": "again"}});
    let ops = json!({"ops": [signal("memory"), signal("affect"), signal("other"), signal("decision")]});
    let mut definition = json!({
        "name": "echo", "role": "Never stops.",
        "trigger": {"any": [{"signal": "any"}, {"state": "input_queue_not_empty"}, {"active": {"count": 1, "salience_above": 1}}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", format!("cat > /dev/null; echo '{ops}'")]},
        "capabilities": {"operations": ["signal"]}, "priority": 9,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        definition[key] = value.clone();
    }
    definition
}

/// How many runs each stimulus has caused, and the greatest depth, by the records in wake. Where the engine answered, nobody ran.
fn caused(sandbox: &Sandbox) -> (u64, u64) {
    let records = sandbox.documents("wake", "network/runs");
    let mut runs = std::collections::BTreeMap::<String, u64>::new();
    let mut deepest = 0;
    for record in records.values().filter(|record| record["cognition"] != "refused") {
        deepest = deepest.max(record["depth"].as_u64().unwrap_or(0));
        for stimulus in record["stimuli"].as_array().into_iter().flatten() {
            *runs.entry(stimulus.as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    (runs.into_values().max().unwrap_or(0), deepest)
}

#[test]
fn an_agent_that_always_spawns_ends_by_itself() {
    let sandbox = Sandbox::new();
    let mut other = spawner(&json!({"name": "other"}));
    other["trigger"] = json!({"any": [{"signal": "any"}]});
    let back = json!({"ops": [{"op": "signal", "to": "echo", "payload": {"kind": "again"}}]});
    other["cognition"]["argv"] = json!(["sh", "-c", format!("cat > /dev/null; echo '{back}'")]);
    std::fs::write(sandbox.dir().join("agents/other.json"), other.to_string()).unwrap();
    sandbox.git(&["add", "agents/other.json"]);
    define(&sandbox, &spawner(&json!({})));
    for number in 0..3 {
        sandbox.brain(&["feed", "--source", &format!("s{number}"), "tea at four"]).exits(0);
    }
    for _ in 0..3 {
        sandbox.brain(&["run"]);
    }
    let (most, deepest) = caused(&sandbox);
    assert!(deepest <= 3 && most <= 50, "depth {deepest}, {most} runs of one stimulus");
    assert!(most > 2, "it did spawn: {most}");
}

#[test]
fn a_stimulus_causes_no_more_runs_in_many_processes_than_in_one() {
    let sandbox = Sandbox::new();
    settings(&sandbox, "[cycle]\nruns_per_stimulus = 6\n");
    define(&sandbox, &spawner(&json!({})));
    sandbox.brain(&["feed", "--no-run", "--source", "s", "tea at four"]).exits(0);
    // By hand an agent sees all that is unanswered, again and again.
    let children: Vec<_> = (0..6).map(|_| sandbox.spawn(&["run", "--agent", "memory"], b"")).collect();
    sandbox.brain(&["run"]);
    for mut child in children {
        child.wait().unwrap();
    }
    for _ in 0..8 {
        sandbox.brain(&["run", "--agent", "echo"]);
    }
    let (most, _) = caused(&sandbox);
    assert!((2..=6).contains(&most), "{most}");
}

#[test]
fn the_engine_refuses_many_signals_in_few_runs() {
    let sandbox = Sandbox::new();
    settings(&sandbox, "[cycle]\nruns_per_stimulus = 6\n");
    let asks = |name: &str, other: &str| {
        let ops: Vec<Value> =
            (0..200).map(|n| json!({"op": "signal", "to": other, "payload": {"kind": "again", "n": n}})).collect();
        let ops = json!({"ops": ops});
        let definition = json!({
            "name": name, "role": "Asks and asks.", "trigger": {"any": [{"signal": "any"}, {"state": "input_queue_not_empty"}]},
            "cognition": {"kind": "command", "argv": ["sh", "-c", format!("cat > /dev/null; echo '{ops}'")]},
            "capabilities": {"operations": ["signal", "acknowledge"]}, "priority": 9,
        });
        std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), definition.to_string()).unwrap();
        sandbox.git(&["add", &format!("agents/{name}.json")]);
        definition
    };
    asks("other", "echo");
    define(&sandbox, &asks("echo", "other"));
    sandbox.brain(&["feed", "tea at four"]).exits(0);
    let records = sandbox.documents("wake", "network/runs");
    let refused = records.values().filter(|record| record["cognition"] == "refused").count();
    let (most, _) = caused(&sandbox);
    assert!((3..=6).contains(&most), "{most} runs of one stimulus");
    assert!((1..=8).contains(&refused), "{refused} runs of the engine");
}

#[test]
fn what_a_person_begins_causes_no_more_runs_than_a_stimulus() {
    let sandbox = Sandbox::new();
    settings(&sandbox, "[cycle]\nruns_per_stimulus = 6\n");
    let mut other = spawner(&json!({"name": "other"}));
    other["trigger"] = json!({"any": [{"signal": "any"}]});
    let back: Vec<Value> =
        (0..40).map(|n| json!({"op": "signal", "to": "echo", "payload": {"kind": "again", "n": n}})).collect();
    other["cognition"]["argv"] = json!(["sh", "-c", format!("cat > /dev/null; echo '{}'", json!({"ops": back}))]);
    std::fs::write(sandbox.dir().join("agents/other.json"), other.to_string()).unwrap();
    sandbox.git(&["add", "agents/other.json"]);
    define(&sandbox, &spawner(&json!({})));
    let before = sandbox.documents("wake", "network/runs").len();
    sandbox.apply(&delta(json!([{"op": "signal", "to": "echo", "payload": {"kind": "again"}}])), &[]);
    sandbox.brain(&["run"]);
    let records = sandbox.documents("wake", "network/runs");
    let ran = records.values().filter(|record| record["cognition"] != "refused").count() - before;
    // The person's own, and what it caused.
    assert!((3..=7).contains(&ran), "{ran}");
}

#[test]
fn a_hook_that_commits_rings_no_bell_twice() {
    let sandbox = Sandbox::new();
    define(&sandbox, &spawner(&json!({})));
    sandbox.brain(&["hooks", "install"]).exits(0);
    // Somebody's own hook commits in turn, which rings the bell again.
    let hook = sandbox.dir().join(".git/hooks/post-commit");
    let ours = std::fs::read_to_string(&hook).unwrap();
    let loops =
        "if [ -z \"$LOOP\" ] || [ ${#LOOP} -lt 4 ]; then LOOP=x$LOOP git commit -q --allow-empty -m again; fi\n";
    std::fs::write(&hook, format!("{ours}\n{loops}")).unwrap();
    std::fs::write(sandbox.dir().join("note.txt"), "x").unwrap();
    sandbox.git(&["add", "note.txt"]);
    sandbox.git(&["commit", "-q", "-m", "note"]);
    sandbox.brain(&["feed", "--source", "s", "tea at four"]);
    sandbox.brain(&["run"]);
    let (most, deepest) = caused(&sandbox);
    assert!(deepest <= 3 && most <= 50, "depth {deepest}, {most} runs of one stimulus");
}

#[test]
fn two_processes_share_a_budget_and_reserve_before_the_act() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.beside("acts")).unwrap();
    let acts = sandbox.path("acts");
    let act = format!("cat > /dev/null; mktemp '{acts}/XXXXXXXX' > /dev/null; echo '{{\"ops\": []}}'");
    define(
        &sandbox,
        &json!({
            "name": "echo", "role": "Costs.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
            "cognition": {"kind": "command", "argv": ["sh", "-c", act], "writes": [acts]},
            "capabilities": {}, "cost": {"turns": 1, "tokens": 1000, "micros": 20},
            "budget": {"tokens_per_day": 4500},
        }),
    );
    let children: Vec<_> = (0..8).map(|_| sandbox.spawn(&["run", "--agent", "echo"], b"")).collect();
    let codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code()).collect();
    let done = std::fs::read_dir(sandbox.beside("acts")).unwrap().count();
    assert_eq!(done, 4, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(6)).count(), 4, "{codes:?}");
    let status = sandbox.json(&["status", "--quick"]);
    let bound = status["budget"].as_array().unwrap().iter().find(|b| b["bound"] == "echo.tokens_per_day").cloned();
    assert_eq!(bound, Some(json!({"bound": "echo.tokens_per_day", "most": 4500, "spent": 4000})), "{status}");
    let shown = sandbox.brain(&["status", "--quick"]).exits(0).out;
    assert!(shown.contains("500 of 4500 left today (echo.tokens_per_day)"), "{shown}");
    let said = sandbox.brain(&["run", "--agent", "echo"]).exits(6).out;
    assert!(said.contains("echo.tokens_per_day = 4500"), "{said}");
}

#[test]
fn what_waits_for_its_budget_runs_when_there_is_one() {
    let mut sandbox = Sandbox::fixed("2026-01-26T14:32:00Z", "budget");
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    let made = r#"{"ops": [{"op": "create", "id": "from-echo", "concept": "from echo", "type": "semantic"}]}"#;
    define(
        &sandbox,
        &json!({
            "name": "echo", "role": "Costs.", "trigger": {"any": [{"neuron": {"id": "tea", "salience_above": 40000}}]},
            "cognition": {"kind": "command", "argv": ["sh", "-c", format!("cat > /dev/null; echo '{made}'")]},
            "capabilities": {"operations": ["create"], "types": ["semantic"]}, "cost": {"micros": 7},
        }),
    );
    settings(&sandbox, "[budget]\nmicros_per_day = 6\n");
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    for _ in 0..2 {
        let held = sandbox.brain(&["--json", "run"]).exits(6).document();
        assert!(held["unpaid"][0].as_str().unwrap().contains("budget.micros_per_day = 6"), "{held}");
    }
    assert!(sandbox.neuron_path("wake", "from-echo").is_none());
    settings(&sandbox, "[budget]\nmicros_per_day = 8\n");
    sandbox.brain(&["run"]).exits(0);
    assert!(sandbox.neuron_path("wake", "from-echo").is_some());
    // The budget of that day is spent; the next has its own.
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    sandbox.brain(&["run"]).exits(6);
    sandbox.at("2026-01-27T14:32:00Z");
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    sandbox.brain(&["run"]).exits(0);
}

#[test]
fn runs_of_a_day_are_bounded_reflexes_included() {
    let sandbox = Sandbox::fixed("2026-01-26T14:32:00Z", "runs");
    settings(&sandbox, "[budget]\nruns_per_day = 1000\n");
    let bound = sandbox.json(&["status", "--quick"])["budget"][0].clone();
    assert_eq!(bound["bound"], "budget.runs_per_day");
    settings(&sandbox, &format!("[budget]\nruns_per_day = {}\n", bound["spent"].as_u64().unwrap() + 1));
    let fed = sandbox.brain(&["--json", "feed", "--source", "s", "tea at four"]);
    assert_eq!(fed.code, 6, "{fed}");
    assert_eq!(fed.document()["runs"].as_array().unwrap().len(), 1, "{fed}");
    sandbox.brain(&["run"]).exits(6);
    settings(&sandbox, "");
    let rest = sandbox.brain(&["--json", "run"]).exits(0).document();
    assert!(!rest["runs"].as_array().unwrap().is_empty(), "{rest}");
}

/// Waits until something holds; fails after a long time, which only a machine that stands still needs.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_outlives_its_parent_and_a_crash_is_paid_for() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.beside("beats")).unwrap();
    let beats = sandbox.path("beats");
    // The program, a child of it, and a grandchild that leaves its session and its parents behind. Each writes as long as it lives: the
    // numbers that they have of themselves are those of their own world.
    let beat = |name: &str| format!("while :; do echo x >> {beats}/{name}; sleep 0.02; done");
    let (program, child, gone) = (beat("program"), beat("child"), beat("gone"));
    let script =
        format!("({child}) & (setsid sh -c 'trap \"\" TERM HUP INT; {gone}' </dev/null >/dev/null 2>&1 &) ; {program}");
    let mut definition = json!({
        "name": "echo", "role": "Hangs.", "trigger": {"any": []},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script], "timeout_ms": 3_000_000, "writes": [beats]},
        "capabilities": {}, "cost": {"turns": 3},
    });
    define(&sandbox, &definition);
    let names = ["program", "child", "gone"];
    let all = || names.map(|name| std::fs::metadata(sandbox.beside("beats").join(name)).map_or(0, |about| about.len()));
    let is_silent = || {
        let before = all();
        std::thread::sleep(Duration::from_millis(200));
        before == all()
    };
    let mut engine = sandbox.spawn(&["run", "--agent", "echo"], b"");
    until("the program has started", || all().iter().all(|length| *length > 4));
    engine.kill().unwrap();
    engine.wait().unwrap();
    let killed = Instant::now();
    until("all of them die with the engine", is_silent);
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());

    // What was reserved is spent: nobody can say any more what it did cost.
    definition["cognition"]["argv"] = json!(["sh", "-c", "echo '{\"ops\": []}'"]);
    definition["budget"] = json!({"turns_per_day": 5});
    define(&sandbox, &definition);
    let refused = sandbox.brain(&["run", "--agent", "echo"]).exits(6).out;
    assert!(refused.contains("echo.turns_per_day = 5"), "{refused}");

    // A deadline ends them all as well.
    names.iter().for_each(|name| std::fs::remove_file(sandbox.beside("beats").join(name)).unwrap());
    definition["cognition"]["argv"] = json!(["sh", "-c", script]);
    definition["cognition"]["timeout_ms"] = json!(2000);
    definition["budget"] = json!({});
    define(&sandbox, &definition);
    let late = sandbox.brain(&["run", "--agent", "echo"]).exits(3);
    assert!(late.out.contains("did not finish"), "{late}");
    assert!(all().iter().all(|length| *length > 0) && is_silent(), "{:?}", all());
}

/// Ctrl-Z stops the engine, which holds the deadline, and not the program, which has a session of its own.
#[test]
fn a_program_has_its_deadline_also_while_it_or_the_engine_is_stopped() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.beside("beats")).unwrap();
    let beats = sandbox.path("beats");
    let definition = |script: &str| {
        json!({
            "name": "echo", "role": "Hangs.", "trigger": {"any": []},
            "cognition": {"kind": "command", "argv": ["sh", "-c", script], "timeout_ms": 1000, "writes": [beats]},
            "capabilities": {},
        })
    };
    define(&sandbox, &definition(&format!("while :; do echo x >> {beats}/program; sleep 0.02; done")));
    let length = || std::fs::metadata(sandbox.beside("beats").join("program")).map_or(0, |about| about.len());
    let mut engine = sandbox.spawn(&["run", "--agent", "echo"], b"");
    until("the program has started", || length() > 2);
    let signal = |name: &str, pid: u32| {
        assert!(std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
    };
    signal("-STOP", engine.id());
    let stopped = Instant::now();
    until("the program dies while the engine is stopped", || {
        let before = length();
        std::thread::sleep(Duration::from_millis(300));
        before == length()
    });
    assert!(stopped.elapsed() < Duration::from_secs(20), "{:?}", stopped.elapsed());
    signal("-CONT", engine.id());
    assert!(!engine.wait().unwrap().success());

    // A program that stops itself is ended by the engine.
    define(&sandbox, &definition("kill -STOP $$"));
    let began = Instant::now();
    let late = sandbox.brain(&["run", "--agent", "echo"]).exits(3);
    assert!(late.out.contains("did not finish") && began.elapsed() < Duration::from_secs(20), "{late}");
}
