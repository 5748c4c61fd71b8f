//! Questions of deliberations that runs of agents leave to a person: what becomes of the answers.

use serde_json::{Value, json};

use crate::machines::World;

/// A goal whose gardener proposes one candidate on every topic, an agent that works on two of them, one at a time, and a gate that reads a file.
pub struct Searched {
    pub world: World,
    data: String,
    judge: String,
}

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
    world.brain("a", &["trust", "--yes"]);
}

fn judge_of(data: &str) -> String {
    format!(
        "cat > /dev/null\nread x < '{data}'\nif [ \"$x\" -ge 2 ]; then p=true; else p=false; fi\necho \"{{\\\"passed\\\": $p, \\\"figure\\\": $x, \\\"threshold\\\": 2}}\"\n"
    )
}

pub fn searched(minutes: u32) -> Searched {
    searched_by("aligner", minutes)
}

/// The same, where a person fills that role.
fn searched_by(role: &str, minutes: u32) -> Searched {
    let world = World::new();
    let mechanism =
        json!({"name": "one", "intuition": "x", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0});
    let proposals = json!({"proposals": [{"mechanism": mechanism, "payload": {"x": 1}}]});
    let gardener = world.sandbox.file("propose.sh", format!("cat > /dev/null\necho '{proposals}'\n"));
    let data = world.sandbox.file("data.txt", "3\n");
    let judge = world.sandbox.file("judge.sh", judge_of(&data));
    let rules = format!(
        "[deliberation]\ngardener = \"command\"\nargv = [\"sh\", \"{gardener}\"]\nslots = 1\nhypotheses = 1\nmax_debate_rounds = 0\n\
         {role} = \"handoff\"\nhandoff_minutes = {minutes}\n\n[deliberation.gates]\nbrain = false\n\n\
         [[deliberation.gate]]\nname = \"known\"\nargv = [\"sh\", \"{judge}\"]\nreads = [\"{data}\"]\n"
    );
    settings(&world, &rules);
    let agent = json!({
        "name": "searcher", "role": "Searches.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "deliberation", "goal": "search", "trees": ["x", "y"]},
        "capabilities": {"operations": ["deliberate"], "types": ["semantic"]},
    });
    world.write("a", "agents/searcher.json", &agent.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "searcher"]);
    world.brain("a", &["trust", "--yes"]);
    Searched { world, data, judge }
}

impl Searched {
    pub fn cycle(&self) {
        self.world.brain("a", &["run", "--agent", "searcher"]);
    }

    pub fn questions(&self) -> Vec<Value> {
        self.world.json("a", &["deliberate", "--handoffs"])["handoffs"].as_array().unwrap().clone()
    }

    fn answer(&self, score: u32) -> String {
        let [asked] = &self.questions()[..] else { panic!("{:?}", self.questions()) };
        let id = asked["id"].as_str().unwrap().to_owned();
        let file = self.world.sandbox.file("answer.json", json!({"score": score, "reason": "it fits"}).to_string());
        self.world.brain("a", &["deliberate", "--answer", &id, &file]);
        id
    }

    fn fruits(&self) -> usize {
        self.world.json("a", &["deliberate", "search", "--show"])["fruits"].as_object().unwrap().len()
    }

    fn events(&self) -> Vec<Value> {
        let lines = self.world.brain("a", &["events", "search"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn reasons(&self, action: &str) -> String {
        let events = self.events();
        let told = events.iter().filter(|event| event["action"] == action);
        told.map(|event| event["reason"].as_str().unwrap().to_owned() + "\n").collect()
    }

    fn later(&self, args: &[&str], code: i32) -> String {
        let mut command = self.world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
        let ended = command.current_dir(self.world.dir("a")).env("BRAIN_NOW", "2032-01-01T00:00:00Z").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{said}");
        said
    }
}

#[test]
fn an_answer_is_used_by_the_next_run_whatever_the_weather() {
    let searched = searched(60);
    searched.cycle();
    let request = searched.events().into_iter().find(|event| event["action"] == "handoff_request").unwrap();
    assert_eq!(request["outputs"]["waits"], false, "{request}");
    assert!(request["reason"].as_str().unwrap().contains("the next one on this tree goes on"), "{request}");
    assert_eq!(searched.reasons("handoff_timeout"), "", "nobody was waited for");
    searched.answer(3);
    // The topic of the question is in fog, and the other one would be next.
    searched.cycle();
    assert_eq!((searched.fruits(), searched.questions().len()), (1, 0), "{:#?}", searched.events());
    assert!(searched.reasons("handoff_response").contains("it fits"));
    searched.world.brain("a", &["check"]);
}

#[test]
fn an_answer_is_used_by_a_deliberation_of_a_person_too() {
    let searched = searched(60);
    searched.cycle();
    searched.answer(2);
    searched.world.brain("a", &["deliberate", "search"]);
    assert_eq!((searched.fruits(), searched.questions().len()), (1, 0), "{:#?}", searched.events());
}

#[test]
fn an_answer_counts_on_other_evidence_where_the_gates_decide_the_same_and_says_so() {
    let searched = searched(60);
    searched.cycle();
    searched.answer(3);
    std::fs::write(&searched.data, "4\n").unwrap();
    searched.cycle();
    assert_eq!(searched.fruits(), 1, "{:#?}", searched.events());
    let said = searched.reasons("handoff_response");
    assert!(said.contains("answered on other evidence: known was 3 and is 4"), "{said}");
}

#[test]
fn an_answer_about_what_fails_now_is_not_used_and_says_so() {
    let searched = searched(60);
    searched.cycle();
    searched.answer(3);
    std::fs::write(&searched.data, "1\n").unwrap();
    searched.cycle();
    assert_eq!((searched.fruits(), searched.questions().len()), (0, 0), "{:#?}", searched.events());
    let said = searched.reasons("handoff_response");
    assert!(said.contains("was not used: measured again, it fails known"), "{said}");
}

#[test]
fn an_answer_under_other_rules_is_asked_for_again() {
    let searched = searched(60);
    searched.cycle();
    let id = searched.answer(3);
    std::fs::write(&searched.judge, judge_of(&searched.data) + "# mended\n").unwrap();
    searched.cycle();
    let said = searched.reasons("handoff_response");
    assert!(said.contains(&format!("the answer to {id} does not count any more")), "{said}");
    assert_eq!(searched.fruits(), 0);
    assert_ne!(searched.questions()[0]["id"], id.as_str(), "another question");
    searched.answer(3);
    searched.cycle();
    assert_eq!(searched.fruits(), 1);
}

#[test]
fn a_question_that_nobody_answers_times_out_when_its_time_is_over() {
    let searched = searched(60);
    searched.cycle();
    let id = searched.questions()[0]["id"].as_str().unwrap().to_owned();
    let file = searched.world.sandbox.file("answer.json", json!({"score": 3, "reason": "late"}).to_string());
    let said = searched.later(&["deliberate", "--answer", &id, &file], 2);
    assert!(said.contains("is over"), "{said}");
    searched.later(&["run", "--agent", "searcher"], 0);
    let said = searched.reasons("handoff_timeout");
    assert!(said.contains(&format!("question {id} had no answer within 60 minutes")), "{said}");
}

#[test]
fn an_answer_that_ends_in_the_middle_is_none_yet() {
    let searched = searched(60);
    searched.cycle();
    let id = searched.questions()[0]["id"].as_str().unwrap().to_owned();
    let path = searched.world.dir("a").join(format!(".git/git-brain/handoffs/{id}.answer.json"));
    for half in ["", "{\"score\": 3, \"rea"] {
        std::fs::write(&path, half).unwrap();
        assert_eq!(searched.questions().len(), 1, "{half}");
    }
    searched.answer(3);
    searched.cycle();
    assert_eq!((searched.fruits(), searched.questions().len()), (1, 0), "{:#?}", searched.events());
}

#[test]
fn a_topic_is_redacted_before_its_tree_is_named() {
    let searched = searched(0);
    let token = ["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat();
    searched.world.brain("a", &["deliberate", "search", "--trees", &token, "--dry-run"]);
    let said =
        searched.world.brain("a", &["deliberate", "search", "--trees", &token, "--agent", "searcher", "--dry-run"]);
    assert!(said.contains("redacted") && !said.contains("abcdefghij"), "{said}");
}

#[test]
fn an_answer_without_the_form_leaves_an_event() {
    let searched = searched(60);
    searched.cycle();
    let id = searched.questions()[0]["id"].as_str().unwrap().to_owned();
    let file = searched.world.sandbox.file("wrong.json", json!({"score": 7, "reason": ""}).to_string());
    searched.world.try_brain("a", &["deliberate", "--answer", &id, &file]).exits(2);
    searched.answer(3);
    searched.cycle();
    let said = searched.reasons("handoff_schema_violation");
    assert!(said.contains("7 is above 3"), "{said}");
    assert_eq!(searched.fruits(), 1);
}

/// Alternatives are hypotheses of their own: they enter the next cycle of their topic, also where the gardener has nothing new.
#[test]
fn alternatives_are_used_by_the_next_run_whatever_is_proposed_there() {
    let searched = searched_by("diverger", 60);
    searched.cycle();
    let [asked] = &searched.questions()[..] else { panic!("{:?}", searched.questions()) };
    assert_eq!(asked["role"], "diverger");
    let mechanism =
        json!({"name": "other", "intuition": "y", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0});
    let answer = json!({"proposals": [{"mechanism": mechanism, "payload": {"x": 2}}]});
    let file = searched.world.sandbox.file("answer.json", answer.to_string());
    searched.world.brain("a", &["deliberate", "--answer", asked["id"].as_str().unwrap(), &file]);
    searched.cycle();
    let shown = searched.world.json("a", &["deliberate", "search", "--show"]);
    assert!(shown["fruits"].to_string().contains("\"payload\":{\"x\":2}"), "{shown:#}");
    assert!(!searched.questions().iter().any(|one| one["id"] == asked["id"]), "it is used");
}

/// Words of a client that nobody approved reach main neither by the cycle that uses them nor by those that go on from it.
#[test]
fn an_answer_of_a_client_marks_the_cycles_that_rest_on_it() {
    let searched = searched_by("diverger", 60);
    let world = &searched.world;
    searched.cycle();
    let [asked] = &searched.questions()[..] else { panic!("{:?}", searched.questions()) };
    let mechanism = json!({"name": "the clients alternative", "intuition": "y", "pseudocode": "", "regime_suggestion": "", "lookahead_risk": 0});
    let answer = json!({"proposals": [{"mechanism": mechanism, "payload": {"x": 2}}]});
    let info =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "evil", "version": "1"}});
    let call = json!({"name": "propose", "arguments": {"question": asked["id"], "answer": answer}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let dir = world.dir("a").display().to_string();
    let said = world.sandbox.brain_with(&["-C", &dir, "mcp"], lines.as_bytes()).exits(0);
    assert!(said.out.contains("answered"), "{said}");
    searched.cycle();
    let has = |branch: &str| world.git_try("a", &["grep", "-q", "the clients alternative", branch, "--", "network"]).0;
    let marked = || {
        let runs = world.git("a", &["grep", "-l", "\"origin\": \"mcp:evil\"", "wake", "--", "network/runs"]);
        runs.lines().filter(|path| path.ends_with("-searcher.json")).count()
    };
    assert!(has("wake"), "the cycle used it");
    assert_eq!(marked(), 1);
    searched.cycle();
    assert_eq!(marked(), 2, "it goes on from what the client said");
    world.slept("a");
    assert!(!has("main"), "nobody approved what the client said");
    world.brain("a", &["check"]);
}
