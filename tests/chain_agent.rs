//! Agents that think with the chain: the same steps as in a chat, the same end of loops, tools that only read, and a last step whose
//! answer is a delta like any other.

use crate::endpoint::{Endpoint, Manner, status};
use crate::sandbox::{Answer, Sandbox, create, delta};
use serde_json::{Value, json};

const MADE: &str = r#"{"prediction": {"text": "tea is asked for", "value": 0.75}, "ops": [{"op": "create", "concept": "green tea", "type": "semantic"}]}"#;

fn says(text: &str) -> Manner {
    Manner::Says(text.to_owned())
}

fn down() -> Endpoint {
    Endpoint::new(&[status("500 Internal Server Error", "", "{}")])
}

/// A brain with an agent `scholar` that thinks with three steps over three endpoints when `tea` is activated. Not trusted yet.
fn brain_over(endpoints: [&Endpoint; 3], sandbox: Sandbox) -> Sandbox {
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    let definition = json!({
        "name": "scholar",
        "role": "Knows about tea.",
        "trigger": {"any": [{"neuron": {"id": "tea", "salience_above": 40000}}]},
        "cognition": {"kind": "chain"},
        "capabilities": {"operations": ["create", "activate", "connect"], "types": ["semantic"]},
    });
    std::fs::write(sandbox.dir().join("agents/scholar.json"), format!("{definition:#}\n")).unwrap();
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    sandbox.file("root/notes.txt", "no agent sees this");
    text += &format!("\n[chain]\nroots = [{:?}]\n", sandbox.path("root"));
    for (n, (name, role, turns)) in
        [("OL1", "research", 4), ("M1", "analysis", 3), ("M2", "review", 2)].into_iter().enumerate()
    {
        text += &format!("\n[[chain.step]]\nname = \"{name}\"\nmodel = \"m{n}\"\nrole = \"{role}\"\nturns = {turns}\n");
    }
    for (n, endpoint) in endpoints.into_iter().enumerate() {
        let place = format!("base_url = \"{}\"\ntimeout_ms = 60000\nretries = 0", endpoint.url());
        text += &format!("\n[models.m{n}]\nprovider = \"openai\"\nmodel = \"tiny\"\n{place}\n");
    }
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "scholar"]);
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    sandbox
}

fn trusted(endpoints: [&Endpoint; 3], sandbox: Sandbox) -> Sandbox {
    let sandbox = brain_over(endpoints, sandbox);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn run(sandbox: &Sandbox) -> Answer {
    sandbox.brain(&["--json", "run", "--agent", "scholar"])
}

fn record(sandbox: &Sandbox) -> Value {
    let mut all = sandbox.documents("wake", "network/runs").into_values();
    all.find(|record| record["agent"] == "scholar").unwrap_or(Value::Null)
}

fn account(sandbox: &Sandbox) -> Value {
    let path = sandbox.dir().join(".git/git-brain/account/spent.json");
    std::fs::read(path).map_or(json!({}), |bytes| serde_json::from_slice(&bytes).unwrap())
}

#[test]
fn its_last_step_writes_a_delta_and_the_commit_names_who_answered() {
    let first = Endpoint::new(&[
        Manner::Calls("recall", json!({"query": "oolong"})),
        Manner::Calls("write_file", json!({"path": "/tmp/x", "content": "x"})),
        says("Ann grows oolong."),
    ]);
    let (second, last) = (Endpoint::new(&[says("So there is tea in Taiwan.")]), Endpoint::new(&[says(MADE)]));
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ann grows oolong in Taiwan."]);
    let sandbox = brain_over([&first, &second, &last], sandbox);
    run(&sandbox).exits(3);
    assert!(first.asked().is_empty() && second.asked().is_empty() && last.asked().is_empty(), "inert until trusted");
    let listed = sandbox.brain(&["trust", "--list"]).exits(0);
    assert!(
        listed.out.contains("ask the models of the chain (m0, m1, m2), which may read the whole network"),
        "{listed}"
    );
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let models = sandbox.json(&["models"]);
    assert_eq!(models["models"][1]["agents"], json!(["scholar"]), "{models}");

    sandbox.json(&["run"]);
    let record = record(&sandbox);
    assert_eq!((&record["cognition"], &record["prediction"]["value"]), (&json!("chain:m0,m1,m2"), &json!(0.75)));
    let format = "--format=%(trailers:key=Model,valueonly)";
    let log = sandbox.git(&["log", "-1", "--author=^scholar <", "--no-merges", "--all", format]);
    assert_eq!(log.trim(), "m0,m1,m2");
    // The first two have tools that only read, and no form; the last has a form and no tools.
    let asked = first.asked();
    let names: Vec<&str> =
        asked[0].body["tools"].as_array().unwrap().iter().filter_map(|t| t["function"]["name"].as_str()).collect();
    assert_eq!(names, ["recall", "read_neuron", "query_network"]);
    assert!(asked[2].body.to_string().contains("there is no tool"), "{:#}", asked[2].body);
    assert!(asked.iter().all(|asked| asked.body["response_format"].is_null()));
    let body = &last.asked()[0].body;
    assert!(body["tools"].is_null() && body["messages"].as_array().unwrap().len() == 2, "{body:#}");
    let (system, data) =
        (body["messages"][0]["content"].as_str().unwrap(), body["messages"][1]["content"].as_str().unwrap());
    assert!(system.contains("You are scholar") && data.contains("neuron tea ("), "{body:#}");
    assert!(data.contains("| So there is tea in Taiwan.") && data.contains("| Ann grows oolong."), "{data}");
    // What a tool has shown may be spoken of.
    let shown = sandbox.neurons("wake").into_values().find(|n| n["concept"] == "Ann grows oolong in Taiwan.").unwrap();
    let ids = body["response_format"]["json_schema"]["schema"]["properties"]["ops"]["items"]["anyOf"][1].to_string();
    assert!(ids.contains("\"tea\"") && ids.contains(shown["id"].as_str().unwrap()), "{ids}");
    assert_eq!(account(&sandbox)["agents"]["scholar"], json!({"runs": 1, "turns": 5, "tokens": 600, "micros": 0}));
    assert_eq!(account(&sandbox)["reserved"], json!([]));
    sandbox.fsck();
}

#[test]
fn a_small_model_in_a_loop_ends_and_the_delta_lands() {
    let looping = Endpoint::new(&[Manner::Calls("recall", json!({"query": "tea"}))]);
    let babbling = Endpoint::new(&[Manner::Streams("I think about tea. ".into())]);
    let last = Endpoint::new(&[says("no document"), says(MADE)]);
    let sandbox = trusted([&looping, &babbling, &last], Sandbox::new());
    run(&sandbox).exits(0);
    assert_eq!(looping.asked().len(), 3, "two calls, and what it has to say");
    assert_eq!((babbling.asked().len(), babbling.is_left()), (1, true));
    let asked = last.asked();
    assert_eq!(asked.len(), 2, "one repair");
    assert!(!asked[0].body.to_string().contains("I think about tea"), "what was broken off is not passed on");
    assert!(asked[1].body["messages"][3]["content"].as_str().unwrap().contains("refused"), "{:#}", asked[1].body);
    assert_eq!(record(&sandbox)["effects"].as_array().unwrap().len(), 1);
    // What is refused twice leaves nothing.
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    last.behaves(&[says(r#"{"ops": [{"op": "archive", "id": "tea", "reason": "x"}]}"#)]);
    let before = sandbox.tip("wake");
    run(&sandbox).exits(3);
    assert_eq!((last.asked().len(), sandbox.tip("wake")), (2, before));
    assert_eq!(account(&sandbox)["reserved"], json!([]));
}

#[test]
fn who_is_not_there_is_skipped_and_where_nobody_is_the_stimuli_wait() {
    let (gathers, writes) = (Endpoint::new(&[says("Tea.")]), Endpoint::new(&[says("So: tea."), says(MADE)]));
    let (gone, also_gone, too) = (down(), down(), down());
    // The last is not there: the one before it writes.
    let sandbox = trusted([&gathers, &writes, &gone], Sandbox::new());
    run(&sandbox).exits(0);
    assert_eq!(record(&sandbox)["cognition"], "chain:m0,m1");
    let asked = writes.asked();
    assert!(asked[0].body["response_format"].is_null() && asked[1].body["response_format"].is_object());

    let sandbox = brain_over([&gone, &also_gone, &too], Sandbox::new());
    let definition = sandbox.brain(&["models", "m0", "--define", "perception"]).exits(0).out;
    let mut definition: Value = serde_json::from_str(&definition).unwrap();
    definition["cognition"] = json!({"kind": "chain"});
    std::fs::write(sandbox.dir().join("agents/perception.json"), definition.to_string()).unwrap();
    sandbox.git(&["commit", "-qam", "perception thinks in steps"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.json(&["feed", "Who grows oolong?", "--no-run"]);
    let before = sandbox.tip("wake");
    let said = sandbox.brain(&["--json", "run", "--agent", "perception"]).exits(4);
    assert!(said.out.contains("no model wrote the document"), "{said}");
    assert_eq!(sandbox.tip("wake"), before, "no commit");
    assert_eq!(sandbox.json(&["status"])["queue"], 1, "the stimulus waits");
    assert_eq!(account(&sandbox)["reserved"], json!([]));
}

#[test]
fn a_run_is_as_far_trusted_as_what_its_tools_have_shown() {
    let first = Endpoint::new(&[Manner::Calls("recall", json!({"query": "vault code"})), says("It is seven.")]);
    let (second, last) = (Endpoint::new(&[says("Seven.")]), Endpoint::new(&[says(MADE)]));
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "The vault code of Oslo is seven.", "--origin", "mcp:editor"]);
    let sandbox = trusted([&first, &second, &last], sandbox);
    run(&sandbox).exits(0);
    let shown = first.asked()[1].body.to_string();
    assert!(shown.contains("The vault code of Oslo is seven."), "{shown}");
    assert!(
        !last.asked()[0].body["messages"][1]["content"].as_str().unwrap().contains("neuron e-"),
        "by the tool alone"
    );
    let trailers = "--format=%(trailers:key=Origin,valueonly)%(trailers:key=Review,valueonly)";
    let log = sandbox.git(&["log", "-1", "--author=^scholar <", "--no-merges", "--all", trailers]);
    assert!(log.contains("mcp:editor") || record(&sandbox)["origin"] == "mcp:editor", "{log}");
}

#[test]
fn the_budget_holds_a_chain_back() {
    let (a, b, c) = (Endpoint::new(&[says("a")]), Endpoint::new(&[says("b")]), Endpoint::new(&[says(MADE)]));
    let sandbox = trusted([&a, &b, &c], Sandbox::new());
    let said = sandbox.brain(&["--json", "-c", "budget.turns_per_day=2", "run", "--agent", "scholar"]).exits(6);
    assert!(said.out.contains("turns_per_day"), "{said}");
    assert_eq!((a.asked().len(), b.asked().len(), c.asked().len()), (1, 1, 0));
    assert_eq!((record(&sandbox), account(&sandbox)["reserved"].clone()), (Value::Null, json!([])));
    run(&sandbox).exits(0);
    assert_eq!(record(&sandbox)["agent"], "scholar");
}
