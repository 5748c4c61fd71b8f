//! Programs as agents: inert until a person trusts exactly that definition; then woken by their trigger, held to their
//! capabilities, and harmless when they fail.

use crate::sandbox::{Answer, Sandbox, create, delta};
use serde_json::{Value, json};

/// The definition of `echo`: a shell script that wakes when `tea` is activated.
fn definition(script: &str, timeout_ms: u64) -> Value {
    json!({
        "name": "echo",
        "role": "Answers by a program.",
        "trigger": {"any": [{"neuron": {"id": "tea", "salience_above": 40000}}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script], "timeout_ms": timeout_ms},
        "capabilities": {"operations": ["create", "activate"], "types": ["semantic"]},
    })
}

/// A brain with a neuron `tea`, and `echo` committed on main by a person with plain git in the work tree.
fn brain_with(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    define(&sandbox, &definition(script, 20_000));
    sandbox
}

fn define(sandbox: &Sandbox, definition: &Value) {
    std::fs::write(sandbox.dir().join("agents/echo.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "agents/echo.json"]);
    sandbox.git(&["commit", "-q", "-m", "agents: echo"]);
}

fn trust(sandbox: &Sandbox) {
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

fn wake(sandbox: &Sandbox) {
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
}

fn run(sandbox: &Sandbox) -> Answer {
    sandbox.brain(&["--json", "run"])
}

fn is_trusted(sandbox: &Sandbox) -> bool {
    let agents = sandbox.json(&["status"])["agents"].as_array().unwrap().clone();
    agents.iter().find(|a| a[0] == "echo").unwrap_or_else(|| panic!("no echo in {agents:?}"))[2] == true
}

fn commits_of_echo(sandbox: &Sandbox) -> Vec<String> {
    sandbox.lines(&["log", "--all", "--no-merges", "--author=^echo <", "--format=%H"])
}

/// A script that proposes a delta.
fn proposing(delta: &str) -> String {
    format!("cat > /dev/null; echo '{delta}'")
}

const MADE: &str = r#"{"ops": [{"op": "create", "id": "from-echo", "concept": "from echo", "type": "semantic"}]}"#;

#[test]
fn a_program_is_inert_until_it_is_trusted() {
    let sandbox = brain_with("exit 0");
    let mut definition = definition(&format!("touch '{}'; echo '{MADE}'", sandbox.path("ran/it")), 20_000);
    std::fs::create_dir(sandbox.beside("ran")).unwrap();
    definition["cognition"]["writes"] = json!([sandbox.path("ran")]);
    define(&sandbox, &definition);
    assert!(!is_trusted(&sandbox));
    let shown = sandbox.brain(&["status"]).exits(0);
    assert!(shown.out.lines().any(|l| l.contains("echo") && l.contains("inert until `git brain trust`")), "{shown}");
    wake(&sandbox);
    let answer = run(&sandbox).exits(0).document();
    assert!(answer["runs"].as_array().unwrap().iter().all(|r| r["agent"] != "echo"), "{answer}");
    let by_name = sandbox.brain(&["--json", "run", "--agent", "echo"]).exits(3);
    assert!(by_name.error()["hint"].as_str().unwrap().contains("git brain trust"), "{by_name}");
    sandbox.try_apply(&json!({"agent": "echo", "ops": []}), &[]).exits(3);
    for look in [&["trust", "--list"][..], &["trust", "--dry-run"], &["show", "echo"], &["log"]] {
        sandbox.brain(look).exits(0);
    }
    assert!(!is_trusted(&sandbox) && !sandbox.beside("ran/it").exists());
    assert_eq!(commits_of_echo(&sandbox), Vec::<String>::new());

    trust(&sandbox);
    assert!(is_trusted(&sandbox));
    wake(&sandbox);
    run(&sandbox).exits(0);
    assert!(sandbox.beside("ran/it").exists());
    assert_eq!(commits_of_echo(&sandbox).len(), 1);
}

#[test]
fn a_trusted_program_wakes_by_its_trigger_and_its_delta_lands() {
    let sandbox = brain_with(&proposing(MADE));
    trust(&sandbox);
    assert!(run(&sandbox).exits(0).document()["runs"].as_array().unwrap().iter().all(|r| r["agent"] != "echo"));
    wake(&sandbox);
    let answer = run(&sandbox).exits(0).document();
    let runs: Vec<&Value> = answer["runs"].as_array().unwrap().iter().filter(|r| r["agent"] == "echo").collect();
    assert_eq!(runs.len(), 1, "{answer}");
    assert!(runs[0]["trigger"].as_str().unwrap().contains("neuron tea above 40000"));
    let neuron = sandbox.neuron("from-echo");
    assert_eq!((&neuron["concept"], &neuron["run"]), (&json!("from echo"), &runs[0]["run"]));
    let commit = runs[0]["commit"].as_str().unwrap();
    assert_eq!(sandbox.git(&["log", "-1", "--format=%(trailers:key=Agent)", commit]).trim(), "Agent: echo");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an <%ae>", commit]), "echo <echo@git-brain.invalid>");
    assert!(run(&sandbox).exits(0).document()["runs"].as_array().unwrap().is_empty(), "nothing new, nothing runs");
}

#[test]
fn what_was_trusted_is_that_content_and_no_other() {
    let sandbox = brain_with(&proposing(MADE));
    trust(&sandbox);
    define(&sandbox, &definition(&proposing(&MADE.replace("from-echo", "other")), 20_000));
    assert!(!is_trusted(&sandbox), "a changed definition is inert again");
    wake(&sandbox);
    run(&sandbox).exits(0);
    assert_eq!(commits_of_echo(&sandbox), Vec::<String>::new());
    define(&sandbox, &definition(&proposing(MADE), 20_000));
    assert!(is_trusted(&sandbox), "the trusted content is back");
    sandbox.brain(&["trust", "--revoke"]).exits(0);
    assert!(!is_trusted(&sandbox));
    // Trust does not travel: not in a clone, not on another machine.
    trust(&sandbox);
    let clone = sandbox.path("clone");
    sandbox.git(&["clone", "-q", &sandbox.dir().display().to_string(), &clone]);
    sandbox.git(&["-C", &clone, "fetch", "-q", "origin"]);
    sandbox.brain(&["-C", &clone, "init", "--in-repo"]).exits(0);
    let agents = sandbox.json(&["-C", &clone, "status"])["agents"].to_string();
    assert!(agents.contains(r#"["echo","Answers by a program.",false]"#), "{agents}");
}

#[test]
fn an_agents_own_branch_defines_no_agents() {
    let sandbox = Sandbox::new();
    let held = sandbox.apply(&delta(json!([create("tea")])), &["--no-merge"]);
    // Somebody puts a definition on a run's branch; policy comes from main alone, and such a run is refused.
    let branch = held["branch"].as_str().unwrap();
    let tree = sandbox.path("review");
    sandbox.git(&["worktree", "add", "-q", &tree, branch]);
    std::fs::write(format!("{tree}/agents/echo.json"), definition("exit 0", 1000).to_string()).unwrap();
    sandbox.git(&["-C", &tree, "add", "."]);
    sandbox.git(&["-C", &tree, "commit", "-q", "-m", "sneak"]);
    sandbox.git(&["worktree", "remove", &tree]);
    let wake = sandbox.tip("wake");
    let refused = sandbox.brain(&["--json", "merge", branch]).exits(3).document();
    assert!(refused["merges"][0]["refused"].as_str().unwrap().contains("agents/echo.json"), "{refused}");
    assert_eq!(sandbox.tip("wake"), wake);
    assert!(!sandbox.json(&["status"])["agents"].to_string().contains("echo"));
}

#[test]
fn a_program_that_fails_is_reported_and_commits_nothing() {
    let big = "yes '{\"ops\": []}' | head -c 2097152";
    let cases = [
        ("hangs", "sleep 3600".to_owned(), 400, 3, "did not finish"),
        ("leaves a child behind", "sleep 3600 & sleep 3600".to_owned(), 400, 3, "did not finish"),
        ("prints garbage", "echo 'I think therefore I am'".to_owned(), 20_000, 5, "line 1"),
        ("prints nothing", "exit 0".to_owned(), 20_000, 5, "line 1"),
        ("prints 2 MB", big.to_owned(), 20_000, 3, "more than"),
        ("says that it failed", "echo because >&2; exit 1".to_owned(), 20_000, 3, "because"),
        ("is killed", "kill -9 $$".to_owned(), 20_000, 3, "signal"),
        ("unknown field", proposing(r#"{"ops": [], "thoughts": "x"}"#), 20_000, 5, "thoughts"),
        ("another name", proposing(&MADE.replace("{\"ops", "{\"agent\": \"human\", \"ops")), 20_000, 3, "human"),
        (
            "operation",
            proposing(r#"{"ops": [{"op": "archive", "id": "tea", "reason": "r"}]}"#),
            20_000,
            3,
            "may not archive",
        ),
        ("type", proposing(r#"{"ops": [{"op": "create", "concept": "me", "type": "core"}]}"#), 20_000, 3, "core"),
        ("unknown id", proposing(r#"{"ops": [{"op": "activate", "id": "ghost", "strength": 1}]}"#), 20_000, 3, "ghost"),
        (
            "half of it",
            proposing(
                r#"{"ops": [{"op": "create", "concept": "ok", "type": "semantic"}, {"op": "activate", "id": "ghost", "strength": 1}]}"#,
            ),
            20_000,
            3,
            "ghost",
        ),
    ];
    let sandbox = brain_with("exit 0");
    for (name, script, timeout_ms, code, why) in cases {
        define(&sandbox, &definition(&script, timeout_ms));
        trust(&sandbox);
        wake(&sandbox);
        let answer = run(&sandbox);
        assert_eq!(answer.code, code, "{name}: {answer}");
        let failures = answer.document()["failures"].as_array().unwrap().clone();
        assert_eq!(failures.len(), 1, "{name}: {answer}");
        assert_eq!((&failures[0]["agent"], &failures[0]["code"]), (&json!("echo"), &json!(code)), "{name}");
        assert!(failures[0]["error"].as_str().unwrap().contains(why), "{name}: {failures:?}");
        assert_eq!(commits_of_echo(&sandbox), Vec::<String>::new(), "{name}");
        assert_eq!(sandbox.run_branches(), Vec::<String>::new(), "{name}");
    }
    // A program that is not there at all.
    let mut missing = definition("", 1000);
    missing["cognition"]["argv"] = json!(["/nonexistent/program"]);
    define(&sandbox, &missing);
    trust(&sandbox);
    wake(&sandbox);
    assert!(run(&sandbox).exits(3).document()["failures"][0]["error"].as_str().unwrap().contains("cannot start"));
    sandbox.fsck();
}

#[test]
fn a_program_sees_its_snapshot_and_nothing_of_this_machine() {
    let sandbox = brain_with("exit 0").with("CANARY_KEY", "tweet").with("ALLOWED_KEY", "sesame");
    let (seen, input) = (sandbox.file("environment", ""), sandbox.file("input", ""));
    let script =
        format!("env > '{seen}'; pwd >> '{seen}'; echo \"args $@\" >> '{seen}'; cat > '{input}'; echo '{MADE}'");
    let mut definition = definition(&script, 20_000);
    definition["cognition"]["environment"] = json!(["ALLOWED_KEY"]);
    definition["cognition"]["writes"] = json!([seen, input]);
    define(&sandbox, &definition);
    trust(&sandbox);
    wake(&sandbox);
    run(&sandbox).exits(0);
    let environment = std::fs::read_to_string(&seen).unwrap();
    assert!(!environment.contains("CANARY") && !environment.contains("tweet"), "{environment}");
    assert!(environment.contains("ALLOWED_KEY=sesame"), "{environment}");
    for name in ["GIT_", "XDG_", "here"] {
        assert!(!environment.contains(name), "{name} in {environment}");
    }
    assert!(!environment.contains(&sandbox.dir().display().to_string()), "no path leads to the brain: {environment}");
    let snapshot: Value = serde_json::from_str(&std::fs::read_to_string(&input).unwrap()).unwrap();
    assert_eq!(snapshot["agent"], "echo");
    assert_eq!(snapshot["active"], json!(["tea"]));
    let neurons = snapshot["neurons"].as_array().unwrap();
    assert!(neurons.iter().any(|n| n["id"] == "tea"), "{snapshot}");
    assert!(!snapshot.to_string().contains(&sandbox.dir().display().to_string()));
}
