//! Minds of a deliberation that are models or programs: what they are asked, and what of their answers counts.

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Manner};
use crate::machines::World;

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "--allow-empty", "-qm", "settings"]);
    world.brain("a", &["trust", "--yes"]);
}

fn proposal(name: &str, payload: &Value) -> Value {
    let mechanism =
        json!({"name": name, "intuition": "x", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0});
    json!({"mechanism": mechanism, "payload": payload})
}

fn says(proposals: &[Value]) -> Manner {
    Manner::Says(json!({ "proposals": proposals }).to_string())
}

fn results(report: &Value) -> Vec<Value> {
    let cycles = report["cycles"].as_array().unwrap();
    cycles.iter().flat_map(|cycle| cycle["results"].as_array().unwrap().clone()).collect()
}

/// A goal that a model searches, with a program as skeptic that wants x1 done anew, and a program as gate that asks for x of 5.
fn goal_of(endpoint: &Endpoint, more: &str) -> World {
    let world = World::new();
    let verdict = |decision: &str| json!({"weaknesses": ["too small"], "overfit_risk": 0.5, "alt_explanations": [], "lookahead_suspicion": 0, "verdict": decision, "severity": "low"});
    let skeptic = format!(
        "case \"$(cat)\" in\n*'\"x\":1'*) echo '{}';;\n*) echo '{}';;\nesac\n",
        verdict("revise"),
        verdict("proceed")
    );
    let judge = "case \"$(cat)\" in\n*'\"x\":5'*) echo '{\"passed\": true, \"figure\": 5, \"threshold\": 5}';;\n\
                 *) echo '{\"passed\": false, \"figure\": 1, \"threshold\": 5}';;\nesac\n";
    let (skeptic, judge) = (world.sandbox.file("skeptic.sh", skeptic), world.sandbox.file("judge.sh", judge));
    let rules = format!(
        "[models.tiny]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{}\"\nfamily = \"tiny\"\nretries = 0\nstream = false\n\n\
         [deliberation]\ngardener = \"tiny\"\nskeptic = \"command\"\nargv = [\"sh\", \"{skeptic}\"]\nslots = 1\nhypotheses = 1\nmax_debate_rounds = 1\n\
         about = \"The best x of a small machine.\"\n{more}\n[deliberation.gates]\nbrain = false\n\n\
         [[deliberation.gate]]\nname = \"known\"\nargv = [\"sh\", \"{judge}\"]\n",
        endpoint.url()
    );
    settings(&world, &rules);
    world
}

#[test]
fn a_model_drives_a_goal_of_ones_own_with_the_schema_of_its_payload() {
    let wrong = json!({"x": "many"});
    let endpoint = Endpoint::new(&[
        says(&[proposal("no number", &wrong)]),
        says(&[proposal("one", &json!({"x": 1}))]),
        says(&[proposal("two", &json!({"x": 2}))]),
        says(&[proposal("five", &json!({"x": 5}))]),
    ]);
    let payload = "payload = { type = \"object\", required = [\"x\"], additionalProperties = false, properties = { x = { type = \"integer\", minimum = 0, maximum = 9 } } }\n";
    let world = goal_of(&endpoint, payload);
    let report = world.json("a", &["deliberate", "search", "--trees", "x", "--cycles", "2"]);
    let classes: Vec<(Value, Value)> =
        results(&report).into_iter().map(|one| (one["name"].clone(), one["class"].clone())).collect();
    assert_eq!(classes, [(json!("two"), json!("dead_leaf")), (json!("five"), json!("fruit"))], "{report:#}");
    let asked: Vec<Value> = endpoint.asked().into_iter().map(|one| one.body).collect();
    let form = &asked[0]["response_format"]["json_schema"];
    let payload = &form["schema"]["properties"]["proposals"]["items"]["properties"]["payload"];
    assert_eq!(payload["properties"]["x"]["maximum"], 9, "{form:#}");
    let told = |at: usize| asked[at]["messages"].to_string();
    assert!(told(0).contains("The best x of a small machine."), "{}", told(0));
    assert!(!told(0).contains("ties concepts"), "what a goal of the brain asks for is not asked here: {}", told(0));
    assert!(told(1).contains("is no integer"), "an answer without the form is asked for again: {}", told(1));
    let plain = told(2).replace('\\', "");
    assert!(plain.contains("\"payload\":{\"x\":1}"), "what was refused is told with its payload: {plain}");
    assert!(told(3).contains("dead_leaf"), "the past: {}", told(3));
}

#[test]
fn a_payload_without_a_schema_may_have_any_fields() {
    let endpoint = Endpoint::new(&[says(&[proposal("five", &json!({"x": 5}))])]);
    let world = goal_of(&endpoint, "");
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(results(&report)[0]["class"], "fruit", "{report:#}");
    let asked = &endpoint.asked()[0].body;
    assert_eq!(asked["response_format"], json!({"type": "json_object"}), "no strict form would let fields through");
    assert!(asked["messages"].to_string().contains("lookahead_risk"), "the form is told in words");
}

#[test]
fn the_schema_of_a_payload_has_to_be_one_of_an_object() {
    let world = World::new();
    world.write("a", "brain.toml", "[deliberation]\npayload = { type = \"array\" }\n");
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
    let said = world.try_brain("a", &["status"]);
    assert!(said.code != 0 && said.err.contains("deliberation.payload"), "{said}");
}

#[test]
fn a_proposal_without_a_form_costs_itself_and_not_the_answer() {
    let world = World::new();
    let all = json!({"proposals": [
        proposal("good", &json!({"x": 1})), {"mechanism": {"name": "bad", "intuition": "y", "lookahead_risk": "none"}, "payload": {}}, 7,
    ]});
    let gardener = world.sandbox.file("propose.sh", format!("cat > /dev/null\necho '{all}'\n"));
    let judge = world.sandbox.file("judge.sh", "cat > /dev/null\necho '{\"passed\": true, \"figure\": 1}'\n");
    settings(
        &world,
        &format!(
            "[deliberation]\ngardener = \"command\"\nargv = [\"sh\", \"{gardener}\"]\nslots = 1\nhypotheses = 3\nmax_debate_rounds = 0\n\n\
             [deliberation.gates]\nbrain = false\n\n[[deliberation.gate]]\nname = \"known\"\nargv = [\"sh\", \"{judge}\"]\n"
        ),
    );
    let report = world.json("a", &["deliberate", "search", "--trees", "x"]);
    assert_eq!(results(&report).len(), 1, "{report:#}");
    let held = report["cycles"][0]["held"].to_string();
    assert!(held.contains("proposals[1]") && held.contains("proposals[2]") && held.contains("left out"), "{held}");
    assert!(world.brain("a", &["events", "search"]).contains("proposals[2]"));
}
