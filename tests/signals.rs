//! Signals: each is answered or refused, whoever asked hears of it, and a person can list them and ask again.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};

fn define(sandbox: &Sandbox, agents: &[Value]) {
    for agent in agents {
        let name = agent["name"].as_str().unwrap();
        std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).unwrap();
    }
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: more"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

/// An agent that answers each signal to it, and then says more.
fn answers(name: &str, more: &str) -> Value {
    let script = format!(
        "acks=$(tr -d '\\n' | sed 's/\"answers\": *\\[.*//' | grep -o '\"id\": *\"g-[0-9a-f]*\"' | sed 's/\"id\": *\\(.*\\)/{{\"op\": \"acknowledge\", \"signal\": \\1, \"payload\": {{\"done\": \"so\"}}}},/'); \
         printf '{{\"ops\": [%s' \"$acks\" | sed 's/,$//'; echo '{more}]}}'"
    );
    json!({
        "name": name, "role": "Answers.", "trigger": {"any": [{"signal": "any"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script]},
        "capabilities": {"operations": ["signal", "acknowledge"]},
    })
}

#[test]
fn after_days_of_input_no_signal_is_unanswered() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "signals");
    for day in 0..4 {
        sandbox.at(&format!("2026-01-{}T08:00:00Z", 26 + day));
        sandbox.json(&["feed", &format!("Anna planted {day} apple trees behind the school.")]);
        sandbox.json(&["feed", "Help! The kitchen is on fire, please come right away!"]);
        sandbox.json(&["feed", "What did Anna plant? Should she water the trees or prune them?"]);
        sandbox.json(&["run"]);
        let listed = sandbox.json(&["signals", "-n", "1000"]);
        assert_eq!(listed["unanswered"], 0, "{listed:#}");
        sandbox.at(&format!("2026-01-{}T23:00:00Z", 26 + day));
        sandbox.json(&["sleep"]);
    }
    let all = sandbox.json(&["signals", "-n", "1000"]);
    let signals = all["signals"].as_array().unwrap();
    assert!(signals.len() > 8 && signals.iter().all(|s| s["answered_by"].is_string()), "{all:#}");
    let some = sandbox.json(&["signals", "--agent", "memory", "-n", "1"]);
    assert_eq!(some["signals"].as_array().unwrap().len(), 1);
    assert!(some["total"].as_u64() < all["total"].as_u64());
    assert_eq!(sandbox.json(&["signals", "--unanswered"])["total"], 0);
    let shown = sandbox.brain(&["signals", "-n", "2"]).exits(0).out;
    assert!(shown.contains(" → ") && shown.contains("0 unanswered; the newest 2 are shown"), "{shown}");
}

#[test]
fn agents_that_ask_each_other_for_ever_end_and_the_last_is_refused() {
    let sandbox = Sandbox::new();
    let ask = |to: &str| format!(r#", {{"op": "signal", "to": "{to}", "payload": {{"kind": "ping"}}}}"#);
    define(&sandbox, &[answers("ping", &ask("pong")), answers("pong", &ask("ping"))]);
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": "ping", "payload": {"kind": "start"}}]}), &[]);
    sandbox.json(&["run"]);
    let listed = sandbox.json(&["signals", "--agent", "ping"]);
    let states: Vec<&str> =
        listed["signals"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
    assert_eq!(states[0], "refused", "{listed:#}");
    assert!(states[1..].iter().all(|state| *state == "answered"), "{states:?}");
    assert_eq!((listed["total"].as_u64(), &listed["unanswered"]), (Some(4), &json!(0)), "{listed:#}");
    assert!(sandbox.json(&["run"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn whoever_asked_is_woken_by_the_answer_and_sees_it() {
    let sandbox = Sandbox::new();
    let notes = json!({
        "name": "notes", "role": "Notes answers.", "trigger": {"any": [{"signal": "go"}, {"ack": "question"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", r#"
            text=$(cat)
            case "$text" in
              *'"done": "so"'*) echo '{"ops": [{"op": "create", "id": "heard", "concept": "heard it", "type": "semantic"}]}' ;;
              *) echo '{"ops": [{"op": "signal", "to": "oracle", "payload": {"kind": "question"}}]}' ;;
            esac"#]},
        "capabilities": {"operations": ["signal", "create"], "types": ["semantic"]},
    });
    define(&sandbox, &[notes, answers("oracle", "")]);
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": "notes", "payload": {"kind": "go"}}]}), &[]);
    let ran = sandbox.json(&["run"]);
    let agents: Vec<&str> = ran["runs"].as_array().unwrap().iter().map(|r| r["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["notes", "oracle", "notes"], "{ran:#}");
    assert_eq!(sandbox.neuron("heard")["concept"], "heard it");
}

#[test]
fn a_person_asks_again() {
    let sandbox = Sandbox::new();
    let asked = sandbox.apply(&json!({"ops": [{"op": "signal", "to": "memory", "payload": {"query": "tea"}}]}), &[]);
    sandbox.json(&["run"]);
    let again = sandbox.json(&["signals", "--replay", asked["run"].as_str().unwrap()]);
    assert_eq!((&again["count"], again["runs"][0]["agent"].as_str()), (&json!(1), Some("memory")), "{again:#}");
    assert_eq!(sandbox.json(&["signals", "--agent", "human"])["total"], 2);
    sandbox.brain(&["signals", "--replay", "20260101t000000000z-aaaaaaaa-memory"]).exits(2);
    sandbox.brain(&["signals", "--replay", "x"]).exits(2);
    sandbox.brain(&["signals", "--agent", "No Name"]).exits(2);
}

#[test]
fn a_flag_that_a_person_raises_is_felt_and_asks_for_action() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "The cellar of the school was flooded. Anna has a pump in the cellar."]);
    let flag = json!({"op": "flag", "name": "priority_override", "value": true, "reason": "cellar"});
    sandbox.apply(&json!({"ops": [flag]}), &[]);
    let ran = sandbox.json(&["run"]);
    let agents: Vec<&str> = ran["runs"].as_array().unwrap().iter().map(|r| r["agent"].as_str().unwrap()).collect();
    assert!(agents.contains(&"affect") && agents.contains(&"decision"), "{ran:#}");
    let flags = sandbox.documents("wake", "network/flags");
    let urgence = flags.iter().find(|(path, _)| path.contains("urgence")).expect("it is urgent");
    assert_eq!(urgence.1["value"], true);
    assert_eq!(sandbox.json(&["signals", "--unanswered"])["total"], 0);
}

#[test]
fn a_flag_that_is_raised_without_a_reason_asks_for_action_as_well() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "The cellar of the school was flooded."]);
    sandbox.apply(&json!({"ops": [{"op": "flag", "name": "urgence", "value": true}]}), &[]);
    let ran = sandbox.json(&["run"]);
    let agents: Vec<&str> = ran["runs"].as_array().unwrap().iter().map(|r| r["agent"].as_str().unwrap()).collect();
    assert!(agents.contains(&"affect") && agents.contains(&"decision"), "{ran:#}");
}

#[test]
fn what_nobody_approved_is_not_asked_again_in_a_persons_name() {
    let sandbox = Sandbox::new();
    let fed = sandbox.json(&["feed", "The harbour was closed on Monday.", "--origin", "webhook:mail"]);
    let run = fed["runs"][0]["run"].as_str().unwrap().to_owned();
    let refused = sandbox.brain(&["signals", "--replay", &run]).exits(3).err;
    assert!(refused.contains("comes of webhook:mail") && refused.contains("git brain apply"), "{refused}");
    assert_eq!(sandbox.json(&["signals", "--agent", "human"])["total"], 0);
}
