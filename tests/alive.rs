//! The write-back of activation: input lights a path through the core, what is lit wakes agents, and perception looks at what somebody
//! else lit.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};

fn salience(sandbox: &Sandbox, id: &str) -> u64 {
    sandbox.neuron(id)["salience"].as_u64().unwrap_or(0)
}

fn agents(answer: &Value) -> Vec<&str> {
    answer["runs"].as_array().unwrap().iter().map(|r| r["agent"].as_str().unwrap()).collect()
}

#[test]
fn input_lights_a_path_through_the_core_and_a_bright_core_costs_nothing() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "alive");
    let core = ["external_stimulus", "n_core_perception", "n_core_memory", "n_core_affect"];
    let before = core.map(|id| salience(&sandbox, id));
    sandbox.json(&["feed", "Anna planted apple trees behind the school."]);
    let lit = core.map(|id| salience(&sandbox, id));
    assert!(before.iter().zip(lit).all(|(before, lit)| lit > *before), "{before:?} {lit:?}");
    assert!(lit[2] > before[2] + 10_000, "{before:?} {lit:?}");
    // After some stimuli of the hour the core is as bright as they make it, and is written no more.
    for name in ["Bob", "Carol", "Dora", "Emil", "Fritz", "Gerda"] {
        sandbox.json(&["feed", &format!("{name} mended the roof of the barn.")]);
    }
    let bright = core.map(|id| salience(&sandbox, id));
    let perceived = sandbox.json(&["feed", "Hanna paints the door."]);
    assert_eq!(agents(&perceived), ["perception", "memory"]);
    assert_eq!(core.map(|id| salience(&sandbox, id)), bright);
    assert!(salience(&sandbox, "n_core_affect") < 13_107, "input is no urgency");
    // Nor does a bound write what has faded by a hundredth.
    sandbox.at("2026-01-26T09:00:00Z");
    let later = sandbox.json(&["feed", "Ida paints the gate."]);
    assert_eq!(agents(&later)[0], "perception");
    assert_eq!(salience(&sandbox, "n_core_affect"), bright[3]);
}

#[test]
fn a_week_lights_all_of_the_core() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "alive");
    for day in 1..8 {
        sandbox.at(&format!("2026-02-0{day}T08:00:00Z"));
        sandbox.json(&["feed", &format!("On day {day} Anna planted a tree behind the school.")]);
        sandbox.json(&["decide", "Where to plant next", "--option", "school", "--option", "barn"]);
    }
    for id in ["n_core_perception", "n_core_memory", "n_core_affect", "n_core_decision"] {
        let count = sandbox.neuron(id)["activation_count"].as_u64().unwrap();
        assert!(count > 3, "{id} was lit {count} times, the first at its birth");
    }
}

#[test]
fn what_the_wave_reaches_wakes_agents() {
    let watcher = json!({
        "name": "watcher", "role": "Watches memory.",
        "trigger": {"any": [{"neuron": {"id": "n_core_memory", "salience_above": 20_000}}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", "cat > /dev/null; echo '{\"ops\": [{\"op\": \"signal\", \"to\": \"human\", \"payload\": {\"kind\": \"seen\"}}]}'"]},
        "capabilities": {"operations": ["signal"]},
    });
    for (setting, wakes) in [("activation.write_back=8", true), ("activation.write_back=0", false)] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.dir().join("agents/watcher.json"), watcher.to_string()).unwrap();
        sandbox.git(&["add", "agents"]);
        sandbox.git(&["commit", "-q", "-m", "agents: a watcher"]);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        let told = "Anna planted apple trees behind the school.";
        let answer = sandbox.brain(&["--json", "-c", setting, "feed", told]).exits(0).document();
        assert_eq!(agents(&answer).contains(&"watcher"), wakes, "{setting}: {answer:#}");
    }
}

#[test]
fn perception_looks_at_what_somebody_lit() {
    let sandbox = Sandbox::new();
    let edge = json!({"op": "connect", "from": "storm", "to": "cellar", "type": "feeds_into", "weight": 60_000});
    let create = |id: &str| json!({"op": "create", "id": id, "concept": id, "type": "semantic"});
    sandbox.apply(&json!({"ops": [create("storm"), create("cellar"), edge]}), &[]);
    sandbox.json(&["run"]);
    assert_eq!(salience(&sandbox, "cellar"), 0);
    let lit = |id: &str| json!({"op": "activate", "id": id, "strength": 0.9});
    sandbox.apply(&json!({"ops": [lit("external_stimulus"), lit("storm")]}), &[]);
    let ran = sandbox.json(&["run"]);
    assert!(agents(&ran).contains(&"perception"), "{ran:#}");
    assert!(salience(&sandbox, "cellar") > 20_000, "the storm brings the cellar to mind");
    assert!(salience(&sandbox, "n_core_memory") > 8_000);
}

#[test]
fn status_says_which_loops_are_alive_and_what_an_agent_waits_for_in_vain() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Anna planted apple trees behind the school."]);
    let idle = json!({
        "name": "idle", "role": "Waits.", "trigger": {"any": [{"neuron": {"id": "no_such_neuron", "salience_above": 1}}]},
        "cognition": {"kind": "command", "argv": ["true"]}, "capabilities": {"operations": ["signal"]},
    });
    std::fs::write(sandbox.dir().join("agents/idle.json"), idle.to_string()).unwrap();
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: one that waits"]);
    let asked = sandbox.brain(&["trust"]);
    let asked = asked.out + &asked.err;
    assert!(asked.contains("no_such_neuron, which does not exist"), "{asked}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.apply(&json!({"ops": [{"op": "signal", "to": "idle", "payload": {"kind": "hello"}}]}), &[]);
    let status = sandbox.json(&["status"]);
    let of = |name: &str| {
        let loops = status["loops"].as_array().unwrap();
        loops.iter().find(|l| l["agent"] == name).unwrap_or_else(|| panic!("{name} in {loops:?}")).clone()
    };
    assert!(of("perception")["last_run"].is_string() && of("memory")["last_run"].is_string());
    assert_eq!((&of("idle")["last_run"], &of("idle")["unanswered"]), (&Value::Null, &json!(1)));
    assert_eq!(of("idle")["missing"], json!(["no_such_neuron"]));
    let told = sandbox.brain(&["status"]).exits(0).out;
    assert!(told.contains("1 signal unanswered") && told.contains("waits for no_such_neuron"), "{told}");
}

#[test]
fn memory_looks_back_on_the_day_before_the_brain_sleeps() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "alive");
    sandbox.json(&["feed", "Anna planted apple trees behind the school."]);
    let weight = |sandbox: &Sandbox| {
        let neurons = sandbox.neurons("wake");
        let of = |word: &str| neurons.values().find(|n| n["concept"] == word).unwrap().clone();
        let (anna, apple) = (of("anna"), of("apple"));
        let ties = anna["connections"].as_array().unwrap();
        let tie = ties.iter().find(|tie| tie["target"] == apple["id"] && tie["type"] == "feeds_into").unwrap();
        tie["weight"].as_u64().unwrap()
    };
    let before = weight(&sandbox);
    sandbox.at("2026-01-27T09:00:00Z");
    let evening = sandbox.json(&["run"]);
    assert_eq!(agents(&evening), ["memory"]);
    assert_eq!(evening["runs"][0]["trigger"], "consolidation_due");
    assert!(weight(&sandbox) > before, "what fired together that day is linked more strongly");
    assert!(agents(&sandbox.json(&["run"])).is_empty(), "once an evening");
    sandbox.json(&["sleep"]);
}

#[test]
fn while_an_override_is_on_the_most_important_runs_first() {
    let order = |raised: bool| -> Vec<String> {
        let sandbox = Sandbox::new();
        for (name, priority) in [("aide", 1), ("zeus", 9)] {
            let agent = json!({
                "name": name, "role": "Answers.", "priority": priority, "trigger": {"any": [{"signal": "any"}]},
                "cognition": {"kind": "command", "argv": ["sh", "-c",
                    "cat > /dev/null; echo '{\"ops\": [{\"op\": \"signal\", \"to\": \"human\", \"payload\": {\"kind\": \"done\"}}]}'"]},
                "capabilities": {"operations": ["signal"]},
            });
            std::fs::write(sandbox.dir().join(format!("agents/{name}.json")), agent.to_string()).unwrap();
        }
        sandbox.git(&["add", "agents"]);
        sandbox.git(&["commit", "-q", "-m", "agents: two"]);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        let mut ops: Vec<Value> =
            ["aide", "zeus"].map(|to| json!({"op": "signal", "to": to, "payload": {"kind": "go"}})).into();
        if raised {
            ops.push(json!({"op": "flag", "name": "priority_override", "value": true, "reason": "fire"}));
        }
        sandbox.apply(&json!({"ops": ops}), &[]);
        let ran = sandbox.json(&["run", "--max-runs", "1"]);
        agents(&ran).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(order(false), ["aide"], "by name");
    assert_eq!(order(true), ["zeus"]);
}

#[test]
fn while_an_override_is_on_runs_begin_in_the_order_of_priority() {
    let sandbox = Sandbox::new();
    let priorities = [1, 12, 3, 9, 5, 7];
    for priority in priorities {
        let agent = json!({
            "name": format!("p{priority:02}"), "role": "Says when it began.", "priority": priority,
            "trigger": {"any": [{"signal": "any"}]},
            "cognition": {"kind": "command", "argv": ["sh", "-c",
                "cat > /dev/null; echo '{\"ops\": [{\"op\": \"signal\", \"to\": \"human\", \"payload\": {\"kind\": \"begun\", \"at\": \"'$(date +%s%N)'\"}}]}'"]},
            "capabilities": {"operations": ["signal"]},
        });
        std::fs::write(sandbox.dir().join(format!("agents/p{priority:02}.json")), agent.to_string()).unwrap();
    }
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: six"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let go = |p: &i32| json!({"op": "signal", "to": format!("p{p:02}"), "payload": {"kind": "go"}});
    let mut ops: Vec<Value> = priorities.iter().map(go).collect();
    ops.push(json!({"op": "flag", "name": "priority_override", "value": true, "reason": "fire"}));
    sandbox.apply(&json!({"ops": ops}), &[]);
    sandbox.brain(&["run", "-c", "cycle.parallel=1"]).exits(0);
    let signals = sandbox.json(&["signals", "--agent", "human"]);
    let mut begun: Vec<(&str, &str)> = (signals["signals"].as_array().unwrap().iter())
        .filter(|s| s["payload"]["kind"] == "begun")
        .map(|s| (s["payload"]["at"].as_str().unwrap(), s["from"].as_str().unwrap()))
        .collect();
    begun.sort_unstable();
    let order: Vec<&str> = begun.into_iter().map(|(_, from)| from).collect();
    assert_eq!(order, ["p12", "p09", "p07", "p05", "p03", "p01"]);
}

#[test]
fn a_query_at_a_lit_decision_point_wakes_and_either_alone_does_not() {
    let judge = json!({
        "name": "judge", "role": "Answers at a decision point.",
        "trigger": {"any": [{"neuron": {"id": "decision_point", "salience_above": 40_000, "with_query": true}}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c",
            "cat > /dev/null; echo '{\"ops\": [{\"op\": \"signal\", \"to\": \"human\", \"payload\": {\"kind\": \"done\"}}]}'"]},
        "capabilities": {"operations": ["signal"]},
    });
    let lit = || json!({"op": "activate", "id": "decision_point", "strength": 0.9});
    let asked = || json!({"op": "signal", "to": "judge", "payload": {"kind": "choose", "query": "tea or coffee"}});
    let told = || json!({"op": "signal", "to": "judge", "payload": {"kind": "choose"}});
    for (ops, wakes) in
        [(vec![lit(), asked()], true), (vec![lit()], false), (vec![asked()], false), (vec![lit(), told()], false)]
    {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.dir().join("agents/judge.json"), judge.to_string()).unwrap();
        sandbox.git(&["add", "agents"]);
        sandbox.git(&["commit", "-q", "-m", "agents: a judge"]);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        sandbox.json(&["run"]);
        sandbox.apply(&json!({"ops": ops}), &[]);
        let ran = sandbox.json(&["run"]);
        assert_eq!(agents(&ran).contains(&"judge"), wakes, "{ops:?}: {ran:#}");
    }
}
