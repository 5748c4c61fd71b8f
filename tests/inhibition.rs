//! The brake of the cycle: what grows from round to round is slowed, nothing is lost, and input is never slowed.

use crate::sandbox::{Answer, Sandbox};
use serde_json::{Value, json};

const AGENTS: [&str; 4] = ["ant", "bee", "cat", "dog"];

/// Answers each signal, which the snapshot names once by its id before it tells of answers, and says what else is to be said.
const PROGRAM: &str = r#"answers=$(tr -d '\n' | sed 's/"answers": *\[.*//' | grep -o '"id": "g-[0-9a-f]*"' | sed 's/"id": \(.*\)/{"op": "acknowledge", "signal": \1, "payload": {}},/')
echo "{\"ops\": [$answers"
echo 'OTHERS]}'"#;

/// Four programs that answer every signal and send one to each of the others.
fn chatter(sandbox: &Sandbox) {
    for (priority, name) in AGENTS.iter().enumerate() {
        let others: Vec<String> = AGENTS
            .iter()
            .filter(|other| *other != name)
            .map(|to| json!({"op": "signal", "to": to, "payload": {"kind": "chat"}}).to_string())
            .collect();
        let script = PROGRAM.replace("OTHERS", &others.join(", "));
        let agent = json!({
            "name": name, "role": "Chats.", "trigger": {"any": [{"signal": "any"}]}, "priority": priority,
            "cognition": {"kind": "command", "argv": ["sh", "-c", script]},
            "capabilities": {"operations": ["signal", "acknowledge"]},
        });
        std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).expect("a definition");
    }
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: four that chat"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

fn start(sandbox: &Sandbox) {
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": "ant", "payload": {"kind": "start"}}]}), &[]);
}

fn run(sandbox: &Sandbox, more: &[&str]) -> Answer {
    let args: Vec<&str> = more.iter().chain(&["--json", "run"]).copied().collect();
    sandbox.brain(&args).exits(0)
}

/// The agents that thought; the engine's own refusals are left out.
fn agents(answer: &Value) -> Vec<String> {
    let runs = answer["runs"].as_array().expect("runs");
    let thinks = |run: &&Value| !run["trigger"].as_str().expect("a trigger").starts_with("refused");
    runs.iter().filter(thinks).map(|r| r["agent"].as_str().expect("an agent").to_owned()).collect()
}

fn inhibition(sandbox: &Sandbox) -> Value {
    sandbox.json(&["status"])["inhibition"].clone()
}

/// How many signals nobody has answered.
fn unanswered(sandbox: &Sandbox) -> Value {
    sandbox.json(&["signals", "--unanswered"])["total"].clone()
}

/// Twice four that chat: one start, then another.
fn two_bursts(sandbox: &Sandbox, setting: &[&str]) -> Value {
    chatter(sandbox);
    start(sandbox);
    let first = run(sandbox, setting).document();
    assert_eq!(agents(&first).len(), 1 + 3 + 5, "one, then three, then five: {first}");
    assert!(!first["notes"].to_string().contains("inhibition"), "{first}");
    start(sandbox);
    run(sandbox, setting).document()
}

#[test]
fn what_grows_round_after_round_is_braked_and_taken_up_by_the_next_command() {
    let free = Sandbox::new();
    let unbraked = agents(&two_bursts(&free, &["-c", "inhibition.cycles=0"]));
    assert_eq!(inhibition(&free)["held"], 0);

    let sandbox = Sandbox::new();
    let second = two_bursts(&sandbox, &[]);
    let braked = agents(&second);
    // The third round in a row that grows: of bee, cat and dog, one may start, and it is the one of the greatest priority.
    assert_eq!(braked, ["ant", "dog"], "{second}");
    assert!(braked.len() < unbraked.len());
    let notes = second["notes"].to_string();
    assert!(notes.contains("inhibition") && notes.contains("held back until the next"), "{notes}");
    let state = inhibition(&sandbox);
    assert_eq!((&state["on"], state["held"].as_u64().is_some_and(|held| held > 0)), (&json!(true), true), "{state}");
    assert!(sandbox.brain(&["status"]).exits(0).out.contains("held back"));

    // What was held back is still due.
    let mut later = Vec::new();
    while inhibition(&sandbox)["held"] != 0 {
        let more = agents(&run(&sandbox, &[]).document());
        assert!(!more.is_empty(), "each command goes on");
        later.extend(more);
    }
    for agent in ["ant", "bee", "cat"] {
        assert!(later.iter().any(|a| a == agent), "{agent} in {later:?}");
    }
    assert!(agents(&run(&sandbox, &[]).document()).is_empty(), "all is quiet");
    assert_eq!(inhibition(&sandbox)["on"], false);
    // The last were sent by runs that are as far from their cause as a run may be, braked or not: the engine answered those.
    assert_eq!((unanswered(&free), unanswered(&sandbox)), (json!(0), json!(0)));
    sandbox.fsck();
}

#[test]
fn a_lost_private_folder_leaves_no_brake_on() {
    let sandbox = Sandbox::new();
    two_bursts(&sandbox, &[]);
    let folder = sandbox.dir().join(".git/git-brain");
    std::fs::remove_file(folder.join("held")).expect("what is held back");
    let state = inhibition(&sandbox);
    assert_eq!((&state["on"], &state["held"]), (&json!(false), &json!(0)), "{state}");
    // A new stimulus is perceived as ever, and the signals that nobody has looked at yet are answered.
    std::fs::remove_file(folder.join("seen")).expect("the marker");
    let fed = agents(&sandbox.json(&["feed", "Otters hold hands while they sleep."]));
    assert!(fed.iter().any(|a| a == "perception"), "{fed:?}");
}

#[test]
fn input_is_perceived_while_the_brake_is_on() {
    let sandbox = Sandbox::new();
    chatter(&sandbox);
    start(&sandbox);
    run(&sandbox, &[]);
    start(&sandbox);
    let lines: String =
        (0..12).map(|n| format!("{{\"text\": \"Otter {n} sleeps.\", \"session\": \"s{n}\"}}\n")).collect();
    sandbox.json(&["feed", "--no-run", "--file", &sandbox.file("day.jsonl", lines)]);
    let braked = run(&sandbox, &["-c", "inhibition.cycles=1", "-c", "inhibition.ratio=0"]).document();
    assert!(braked["notes"].to_string().contains("held back"), "{braked}");
    assert_eq!(sandbox.json(&["status"])["queue"], 0, "stimuli are never held back");
}

#[test]
fn two_hundred_short_texts_are_fed_without_a_brake() {
    let sandbox = Sandbox::new();
    let line = |n: usize| {
        let urgent = if n.is_multiple_of(10) { "Urgent! Help immediately! " } else { "" };
        let session = if n.is_multiple_of(3) { String::new() } else { format!(", \"session\": \"s{}\"", n % 7) };
        format!("{{\"text\": \"{urgent}Heron {n} stands at the lock of Mill {}.\"{session}}}\n", n % 13)
    };
    let file = sandbox.file("bulk.jsonl", (0..200).map(line).collect::<String>());
    let fed = sandbox.json(&["feed", "--file", &file]);
    assert!(!fed["notes"].to_string().contains("inhibition"), "{}", fed["notes"]);
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["queue"], &status["inhibition"]["held"], &status["inhibition"]["on"]),
        (&json!(0), &json!(0), &json!(false))
    );
}
