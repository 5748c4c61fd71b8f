//! What agents get to see and find: the most active and salient neurons first, memories by recall, concepts whatever their ids, and no
//! raw input for the agent that decides.

use crate::endpoint::{Endpoint, Manner};
use crate::sandbox::{Sandbox, delta};
use serde_json::{Value, json};

const RAW: &str = "Ann grows oolong in the hills of Taiwan, and Bob sells it in Oslo.";

/// A brain that was told something, and is asked to act on it, with `decision` thinking by this cognition.
fn deciding(cognition: Value, settings: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", RAW]);
    sandbox.json(&["feed", "The harbour of Bergen was closed all winter."]);
    let path = sandbox.dir().join("agents/decision.json");
    let mut definition: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    definition["cognition"] = cognition;
    // Also where somebody lets it wait for input.
    definition["trigger"]["any"].as_array_mut().unwrap().push(json!({"state": "input_queue_not_empty"}));
    std::fs::write(path, format!("{definition:#}\n")).unwrap();
    let file = sandbox.dir().join("brain.toml");
    let text = std::fs::read_to_string(&file).unwrap() + settings;
    std::fs::write(file, text).unwrap();
    sandbox.git(&["commit", "-qam", "decision thinks otherwise"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.json(&["feed", "Carol waters the oolong at dawn.", "--no-run"]);
    let payload = json!({"kind": "action_required", "query": "Who grows oolong?"});
    sandbox.apply(&delta(json!([{"op": "signal", "to": "decision", "payload": payload}])), &[]);
    sandbox
}

/// Judged outcomes in words are texts as they came, too.
fn with_an_outcome(sandbox: &Sandbox) {
    let prediction = json!({"text": "oolong sells", "value": 0.5});
    let ops = json!([{"op": "activate", "id": "n_core_memory", "strength": 0.1}]);
    let run = sandbox.apply(&json!({"ops": ops, "prediction": prediction}), &[])["run"].as_str().unwrap().to_owned();
    sandbox.json(&["outcome", &run, "--text", "Every box was gone by noon."]);
}

fn has_no_raw_input(shown: &str) {
    for raw in [RAW, "closed all winter", "waters the oolong", "gone by noon"] {
        assert!(!shown.contains(raw), "{raw:?} in {shown}");
    }
    assert!(shown.contains("oolong"), "the concept is there: {shown}");
    assert!(shown.contains("Who grows oolong?"), "so is the question: {shown}");
}

#[test]
fn a_model_that_decides_sees_no_raw_input() {
    let endpoint = Endpoint::new(&[Manner::Says(r#"{"prediction": {"text": "x", "value": 0.5}, "ops": []}"#.into())]);
    let model = format!(
        "\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{}\"\ntimeout_ms = 60000\n",
        endpoint.url()
    );
    let sandbox = deciding(json!({"kind": "llm", "model": "small"}), &model);
    with_an_outcome(&sandbox);
    sandbox.brain(&["run", "--agent", "decision"]).exits(0);
    let body = endpoint.asked()[0].body.to_string();
    has_no_raw_input(&body);
    assert!(body.contains("neuron oolong-"), "{body}");
}

#[test]
fn a_program_that_decides_sees_no_raw_input() {
    let seen = tempfile::NamedTempFile::new().unwrap();
    let path = seen.path().to_str().unwrap();
    let script = format!("cat > '{path}'; echo '{{\"ops\": []}}'");
    let cognition = json!({"kind": "command", "argv": ["sh", "-c", script], "writes": [path]});
    let sandbox = deciding(cognition, "");
    with_an_outcome(&sandbox);
    sandbox.brain(&["run", "--agent", "decision"]).exits(0);
    let input = std::fs::read_to_string(path).unwrap();
    has_no_raw_input(&input);
    let snapshot: Value = serde_json::from_str(&input).unwrap();
    let kinds = snapshot["neurons"].as_array().unwrap().iter().map(|neuron| neuron["type"].as_str().unwrap());
    assert!(kinds.clone().any(|kind| kind == "semantic") && kinds.clone().all(|kind| kind != "episodic"), "{input}");
    assert_eq!(sandbox.json(&["status"])["queue"], 1, "it consumed nothing");
}

/// What a program of the name `echo` sees that is woken by the neuron `start`.
fn seen_by_a_program(sandbox: &Sandbox, tokens: u32) -> Vec<String> {
    let seen = tempfile::NamedTempFile::new().unwrap();
    let path = seen.path().to_str().unwrap();
    let definition = json!({
        "name": "echo",
        "role": "Looks.",
        "trigger": {"any": [{"neuron": {"id": "start", "salience_above": 40000}}, {"signal": "any"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", format!("cat > '{path}'; echo '{{\"ops\": []}}'")], "writes": [path]},
        "capabilities": {"operations": ["activate"]},
    });
    std::fs::write(sandbox.dir().join("agents/echo.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "echo"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.apply(&delta(json!([{"op": "activate", "id": "start", "strength": 1}])), &[]);
    sandbox.brain(&["run", "-c", &format!("context.tokens={tokens}")]).exits(0);
    let snapshot: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let neurons = snapshot["neurons"].as_array().unwrap().iter();
    neurons.map(|neuron| neuron["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_context_holds_the_most_active_and_salient_first_whatever_their_ids() {
    let sandbox = Sandbox::new();
    let mut ops = vec![json!({"op": "create", "id": "start", "concept": "start", "type": "semantic"})];
    for n in 0..30 {
        let id = format!("n{n:02}");
        ops.push(json!({"op": "create", "id": id, "concept": id, "type": "semantic"}));
        ops.push(json!({"op": "connect", "from": "start", "to": id, "type": "feeds_into", "weight": 9000}));
        // The later its id, the more salient.
        ops.push(json!({"op": "activate", "id": id, "strength": 0.1 + f64::from(n) * 0.02}));
    }
    sandbox.apply(&delta(json!(ops)), &[]);
    let seen = seen_by_a_program(&sandbox, 1500);
    let expected: Vec<String> = (0..30).rev().map(|n| format!("n{n:02}")).collect();
    assert_eq!(seen[0], "start", "{seen:?}");
    let others: Vec<&String> = seen.iter().filter(|id| id.starts_with("n") && id.len() == 3).collect();
    assert!(others.len() > 3 && others.len() < 30, "{seen:?}");
    assert_eq!(others, expected.iter().take(others.len()).collect::<Vec<_>>());
}

/// The answer of an agent to a signal.
fn answer(sandbox: &Sandbox, to: &str, payload: Value) -> Value {
    sandbox.apply(&delta(json!([{"op": "signal", "to": to, "payload": payload}])), &[]);
    sandbox.brain(&["run"]).exits(0);
    let answers = sandbox.documents("wake", "network");
    let of = answers.into_iter().filter(|(path, _)| path.contains(&format!("/{to}/")) && path.ends_with(".ack.json"));
    let mut of: Vec<Value> = of.map(|(_, answer)| answer).collect();
    of.sort_by_key(|answer| answer["created_at"].to_string() + answer["run"].as_str().unwrap_or(""));
    of.pop().unwrap_or_else(|| panic!("no answer of {to}"))["payload"].clone()
}

#[test]
fn memory_answers_with_the_sentence_that_a_question_recalls() {
    let sandbox = Sandbox::new();
    for text in [RAW, "The harbour of Bergen was closed all winter.", "Eva repairs clocks in the old mill."] {
        sandbox.json(&["feed", text]);
    }
    for (question, sentence) in [
        ("Which harbour was closed?", "The harbour of Bergen was closed all winter."),
        ("What does Eva repair?", "Eva repairs clocks in the old mill."),
        ("Who grows oolong?", RAW),
    ] {
        let answer = answer(&sandbox, "memory", json!({"kind": "question", "query": question}));
        assert_eq!(answer["text"], sentence, "{question}: {answer}");
        assert_eq!(answer["results"][0]["concept"], sentence, "{answer}");
    }
}

#[test]
fn no_second_neuron_is_made_for_a_concept_that_has_one() {
    let sandbox = Sandbox::new();
    let own = |id: &str, concept: &str| json!({"op": "create", "id": id, "concept": concept, "type": "semantic"});
    sandbox.apply(&delta(json!([own("my-tea", "Oolong"), own("city", "taiwan")])), &[]);
    sandbox.json(&["feed", RAW]);
    let says = |concept: &str| -> Vec<String> {
        let neurons = sandbox.neurons("wake").into_values();
        let same =
            neurons.filter(|n| n["type"] == "semantic" && n["concept"].as_str().unwrap().to_lowercase() == concept);
        same.map(|n| n["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((says("oolong"), says("taiwan")), (vec!["my-tea".to_owned()], vec!["city".to_owned()]));
    // Later in the same process and in later ones, by a document without an id as well.
    sandbox.apply(
        &delta(json!([own("my-hill", "hills of gold"), {"op": "create", "concept": "oolong", "type": "semantic"}])),
        &[],
    );
    sandbox.apply(&delta(json!([{"op": "create", "concept": "Hills of Gold", "type": "semantic"}])), &[]);
    assert_eq!((says("oolong"), says("hills of gold")), (vec!["my-tea".to_owned()], vec!["my-hill".to_owned()]));
    let episodes: Vec<Value> = sandbox.neurons("wake").into_values().filter(|n| n["type"] == "episodic").collect();
    let leads = |n: &Value| n["connections"].as_array().unwrap().iter().any(|c| c["target"] == "my-tea");
    assert!(episodes.len() == 1 && leads(&episodes[0]), "the memory leads to the user's neuron");
    // Decision weighs it by its concept.
    let options = json!(["Oolong", "coffee"]);
    sandbox.apply(
        &delta(json!([{"op": "signal", "to": "decision", "payload": {"kind": "action_required", "query": "taiwan", "options": options}}])),
        &[],
    );
    sandbox.brain(&["run"]).exits(0);
    assert_eq!(says("oolong"), ["my-tea"]);
    sandbox.fsck();
}

#[test]
fn salience_alone_shows_nobody_what_comes_from_elsewhere() {
    for (start, is_shown) in [("start", false), ("Whose code is the vault's?", true)] {
        let sandbox = Sandbox::new();
        sandbox.json(&["feed", "The code of the vault is seven.", "--origin", "mcp:editor"]);
        sandbox.apply(&delta(json!([{"op": "create", "id": "start", "concept": "start", "type": "semantic"}])), &[]);
        if is_shown {
            let payload = json!({"kind": "question", "query": start});
            sandbox.apply(&delta(json!([{"op": "signal", "to": "echo", "payload": payload}])), &[]);
        }
        let seen = seen_by_a_program(&sandbox, 5000);
        assert_eq!(seen.iter().any(|id| id.starts_with("e-")), is_shown, "{seen:?}");
    }
}
