//! What a person's own agents remember stands in her sessions, and no colleague's agent takes away what she said.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::machines::World;
use crate::sandbox::{PROGRAM, Sandbox};

const ANN: &str = "ann@example.invalid";
const BEN: &str = "ben@example.invalid";

/// Runs the program in a folder as the person of an address.
fn run(sandbox: &Sandbox, dir: &std::path::Path, person: &str, args: &[&str], input: &str) -> String {
    let mut command = sandbox.command(PROGRAM, args);
    command.current_dir(dir).env("GIT_AUTHOR_EMAIL", person).env("GIT_COMMITTER_EMAIL", person);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// A machine with the sessions of people.
struct Desk<'w>(&'w World, &'static str);

impl Desk<'_> {
    fn run(&self, person: &str, args: &[&str], input: &str) -> String {
        run(&self.0.sandbox, &self.0.dir(self.1), person, args, input)
    }

    /// Says something in a session with OpenCode.
    fn says(&self, person: &str, text: &str) -> String {
        let turns = json!({"session_id": format!("{person}1"), "messages": [{"role": "user", "text": text}]});
        self.run(person, &["hook", "opencode", "idle"], &turns.to_string());
        for _ in 0..600 {
            let found = self.0.json(self.1, &["recall", text]);
            let one = found["results"].as_array().unwrap().iter().find(|one| one["text"] == text);
            if let Some(one) = one {
                return one["id"].as_str().unwrap().to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{text} is not kept");
    }

    /// A call of a tool of the server, by the person's agent.
    fn call(&self, person: &str, tool: &str, arguments: &Value) -> Value {
        let meta = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "opencode", "version": "1"}});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": meta}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}),
        ];
        let said = self.run(person, &["mcp"], &lines.map(|line| line.to_string() + "\n").concat());
        let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        last["result"]["structuredContent"].clone()
    }

    fn remember(&self, person: &str, text: &str, corrects: Option<&str>) -> Value {
        self.call(person, "remember", &json!({"texts": [text], "corrects": corrects}))
    }

    fn starts(&self, person: &str) -> String {
        self.run(person, &["hook", "opencode", "start"], &json!({"session_id": "s"}).to_string())
    }

    fn asks(&self, person: &str, prompt: &str) -> String {
        let input = json!({"prompt": prompt, "session_id": "s"}).to_string();
        self.run(person, &["hook", "opencode", "prompt"], &input)
    }
}

#[test]
fn own_agent_is_heard_in_the_next_session_and_corrects_what_was_said() {
    let world = World::new();
    let desk = Desk(&world, "a");
    desk.remember(ANN, "Always flush the cache after a deploy.", None);
    let start = desk.starts(ANN);
    assert!(start.contains("Always flush the cache") && start.contains("mcp:opencode"), "{start}");
    assert!(start.contains("Data that others wrote"), "{start}");
    assert!(!desk.starts(BEN).contains("flush the cache"));
    let said = desk.says(ANN, "Our cache is memcached on the host cache1.");
    desk.remember(ANN, "Our cache is Valkey on the host cache2.", Some(&said));
    for text in [desk.starts(ANN), desk.asks(ANN, "On which host is our cache?")] {
        assert!(text.contains("Valkey") && !text.contains("memcached"), "{text}");
    }
    // However much others say.
    let lines: String = (0..300)
        .map(|at| format!("{}\n", json!({"text": format!("The label of button {at} reads Save{at} now.")})))
        .collect();
    let file = world.sandbox.file("flood.jsonl", &lines);
    world.brain("a", &["feed", "--origin", "mcp:flood", &file]);
    let start = desk.starts(ANN);
    assert!(start.contains("Valkey") && start.contains("flush the cache") && !start.contains("button"), "{start}");
}

#[test]
fn colleagues_agent_takes_nothing_away_before_it_is_approved() {
    let world = World::new();
    let desk = Desk(&world, "a");
    let said = desk.says(ANN, "Our cache is memcached on the host cache1.");
    let remembered = desk.remember(ANN, "The cache needs a restart on Mondays.", None);
    world.sync("a");
    world.clone("b");
    let there = Desk(&world, "b");
    let kept = there.remember(BEN, "Our cache is Valkey on the host cache2.", Some(&said));
    assert!(kept["notes"].to_string().contains("stays believed: another person said it"), "{kept}");
    let monday = remembered["memories"][0].as_str().unwrap();
    there.remember(BEN, "The cache needs a restart on Sundays.", Some(monday));
    world.sync("b");
    world.sync("a");
    for desk in [&desk, &there] {
        let start = desk.starts(ANN);
        assert!(start.contains("memcached") && start.contains("Mondays") && !start.contains("Valkey"), "{start}");
        assert!(desk.asks(ANN, "On which host is our cache?").contains("memcached"));
        // Nothing is said to be replaced that is believed.
        let found = desk.0.brain(desk.1, &["recall", "On which host is our cache?"]);
        assert!(found.contains("Valkey") && found.contains("memcached") && !found.contains("replaces"), "{found}");
    }
    let new = kept["memories"][0].as_str().unwrap();
    world.brain("a", &["approve", new]);
    let start = desk.starts(ANN);
    assert!(start.contains("Valkey") && !start.contains("memcached"), "{start}");
    let found = world.brain("a", &["recall", "On which host is our cache?"]);
    assert!(found.contains("replaces"), "{found}");
}

#[test]
fn proposal_that_is_made_again_is_one_run() {
    let world = World::new();
    let desk = Desk(&world, "a");
    let create = |text: &str| json!({"delta": {"ops": [{"op": "create", "concept": text, "type": "semantic"}]}});
    let first = desk.call(ANN, "propose", &create("the quay floods in spring"));
    let again = desk.call(ANN, "propose", &create("the quay floods in spring"));
    assert_eq!(again["run"], first["run"], "{again}");
    assert_eq!(again["state"], "waits");
    assert!(again["notes"].to_string().contains("was proposed before"), "{again}");
    desk.call(ANN, "propose", &create("the quay floods in autumn"));
    let list = world.json("a", &["review"]);
    assert_eq!(list["waiting"].as_array().unwrap().len(), 2, "{list}");
    let shown = world.brain("a", &["review", first["run"].as_str().unwrap()]);
    assert!(!shown.contains("by by") && shown.contains("proposed by a client"), "{shown}");
}

#[test]
fn statements_that_wait_for_approval_are_counted_and_listed() {
    let world = World::new();
    let desk = Desk(&world, "a");
    desk.says(ANN, "Our cache is memcached on the host cache1.");
    for text in ["Zebra crossings are painted on Mondays.", "Anchors are greased on Fridays."] {
        desk.remember(ANN, text, None);
    }
    let list = world.json("a", &["review"]);
    let waiting = &list["unapproved"];
    assert_eq!(waiting[0]["origin"], "mcp:opencode", "{list}");
    assert_eq!(waiting[0]["statements"], 2);
    assert_eq!(waiting[0]["command"], "git brain approve --origin mcp:opencode");
    assert!(waiting[1]["origin"].as_str().unwrap().starts_with("hook:opencode:ann-"), "{list}");
    let line = "2 statements of mcp:opencode wait for approval: git brain approve --origin mcp:opencode";
    for said in [world.brain("a", &["review"]), world.brain("a", &["status"])] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(world.json("a", &["status"])["unapproved"], *waiting);
    assert_eq!(desk.call(ANN, "status", &json!({}))["unapproved"], *waiting);
    let prime = world.json("a", &["prime"]);
    assert_eq!(prime["unapproved"], *waiting);
    let text = prime["text"].as_str().unwrap();
    assert!(text.contains("3 statements wait for approval (`git brain review`)") && !text.contains("Zebra"), "{text}");
    // The count follows what comes and goes.
    desk.remember(ANN, "Buoys are counted on Sundays.", None);
    assert_eq!(world.json("a", &["review"])["unapproved"][0]["statements"], 3);
    std::fs::remove_file(world.dir("a").join(".git/git-brain/cache/unapproved.json")).unwrap();
    assert_eq!(world.json("a", &["review"])["unapproved"][0]["statements"], 3, "counted anew it is the same");
    let dry = world.brain("a", &["approve", "--origin", "mcp:opencode", "--dry-run"]);
    let lines: Vec<&str> = dry.lines().collect();
    for statement in ["Zebra crossings", "Anchors are", "Buoys are"] {
        assert!(lines[1..4].iter().any(|line| line.contains(statement)), "{dry}");
    }
    assert!(dry.contains("concepts, which these name") && !dry.contains("mondays"), "{dry}");
    let report = world.json("a", &["approve", "--origin", "mcp:opencode", "--dry-run"]);
    assert_eq!(report["statements"].as_array().unwrap().len(), 3, "{report}");
    world.brain("a", &["approve", "--origin", "mcp:opencode"]);
    let left = world.json("a", &["review"])["unapproved"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    let again = world.brain("a", &["approve", "--origin", "mcp"]);
    assert!(again.contains("nothing there needs approval"), "{again}");
}
