//! Integrity in use: prompts that follow what was measured, the core module, and filters on what people read, whole and while it comes.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Manner};
use crate::sandbox::Sandbox;

/// An answer with more ritual than anybody needs, and things that no filter may touch.
const RITUAL: &str = "I'm sorry. I apologize for the delay. I'm sorry, but the answer is 42 [1]. As an AI, I read \"As an AI, I am sorry.\" in `sorry.rs`. Do not turn the key. Sorry about that. Perhaps the list is long. ";
const KEPT: &str = "I'm sorry. I apologize for the delay. The answer is 42 [1]. I read \"As an AI, I am sorry.\" in `sorry.rs`. Do not turn the key. Perhaps the list is long.";

fn says(text: &str) -> Manner {
    Manner::Says(text.to_owned())
}

/// A brain whose chat asks the endpoint.
fn brain_over(endpoint: &Endpoint, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text += &format!(
        "\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{}\"\ntimeout_ms = 60000\nretries = 0\n\
         [[chain.step]]\nname = \"S\"\nmodel = \"small\"\nrole = \"analysis\"\nturns = 1\n{more}\n",
        endpoint.url()
    );
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["commit", "-qam", "a model"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn chat(sandbox: &Sandbox, message: &str, more: &[&str]) -> Value {
    sandbox.json(&[&["chat", message, "--mode", "simple", "--conversation", "c1"], more].concat())
}

fn instructions(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.filter(|message| message["role"] == "system").filter_map(|message| message["content"].as_str()).collect()
}

#[test]
fn answers_are_read_without_ritual_and_measured_with_it() {
    let endpoint = Endpoint::new(&[says(RITUAL)]);
    let sandbox = brain_over(&endpoint, "");
    let answer = sandbox.brain(&["--json", "chat", "What is the answer?", "--mode", "simple"]).exits(0).document();
    assert_eq!(answer["reply"], KEPT);
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 8, "the answer's document has no more fields: {keys:?}");
    let remembered = sandbox.documents("wake", "network/stimuli").into_values().find(|s| s["text"] == KEPT);
    assert!(remembered.is_some(), "what was read is what is remembered");
    let report = sandbox.json(&["integrity", "report"]);
    let counts = &report["agents"]["chat"][0]["counts"];
    assert_eq!((&counts["apologies"], &counts["self_references"]), (&json!(4), &json!(1)), "{counts}");
    let told = sandbox.brain(&["chat", "What is the answer now?", "--mode", "simple"]).exits(0);
    assert!(told.err.contains("apologies beyond two"), "{told}");

    let bare = chat(&sandbox, "And again?", &["-c", "integrity.filter=false"]);
    assert_eq!(bare["reply"], RITUAL.trim());
    let plain = chat(&sandbox, "And again, plainly?", &["-c", "integrity.inject=true"]);
    assert_eq!(plain["reply"], KEPT, "it has a figure and a citation, so nothing is said more plainly");
    endpoint.behaves(&[says(
        "I think the cache is warm. Perhaps the queue of the server is full. Perhaps the door is shut.",
    )]);
    let plain = chat(&sandbox, "Which cache is warm?", &["-c", "integrity.inject=true"]);
    assert_eq!(plain["reply"], "The cache is warm. The queue of the server is full. Perhaps the door is shut.");
    let hedged = chat(&sandbox, "Which cache is warm again?", &[]);
    assert!(hedged["reply"].as_str().unwrap().starts_with("I think"), "off by default: {hedged}");
    // Nothing but ritual is better than no answer.
    endpoint.behaves(&[says("I can't help with that.")]);
    let refused = sandbox.brain(&["chat", "How do I build a bomb?", "--mode", "simple"]).exits(0);
    assert!(
        refused.out.contains("I can't help with that.") && refused.err.contains("offers no other way"),
        "{refused}"
    );
    let report = sandbox.json(&["integrity", "report"]);
    assert_eq!(report["agents"]["chat"][0]["counts"]["critical_refusals"], 1, "{report:#}");
}

#[test]
fn what_is_heard_while_it_comes_is_what_the_answer_is() {
    use git_brain::brain::{Asks, Brain, ChatEvent, ChatMode, ChatRequest, Override, Unanswered, World};
    use git_brain::cognition::exchange::{Reply, Request};
    use git_brain::model::Origin;

    /// Says one text in pieces of a size.
    struct Pieces(&'static str, usize);
    impl Asks for Pieces {
        fn ask(
            &mut self,
            _: &str,
            _: &Request,
            hear: &mut dyn FnMut(&str) -> ControlFlow<()>,
        ) -> Result<Reply, Unanswered> {
            let letters: Vec<char> = self.0.chars().collect();
            for piece in letters.chunks(self.1) {
                let _ = hear(&piece.iter().collect::<String>());
                let _ = hear("");
            }
            Ok(Reply { text: self.0.to_owned(), ..Reply::default() })
        }
    }
    let sandbox = Sandbox::new();
    let steps = r#"[{name = "S", model = "small", role = "analysis", turns = 1}]"#;
    let flags = [Override { place: "-c".into(), key: "chain.step".into(), value: steps.into() }];
    for size in [1, 3, 7, 50, 1000] {
        let world =
            World::fixed("2026-01-26T15:00:00Z".parse().unwrap(), "scene").with_state_dir(sandbox.beside("state"));
        let brain = Brain::open(sandbox.dir(), world, &flags).unwrap();
        let request = ChatRequest {
            message: "What is it?".into(),
            mode: ChatMode::Simple,
            dry_run: true,
            ..ChatRequest::default()
        };
        let mut heard = String::new();
        let answer = brain
            .chat_with(&request, &Origin::local(), &mut Pieces(RITUAL, size), &mut |event| {
                if let ChatEvent::Text { text, .. } = event {
                    heard += &text;
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!((heard.trim(), answer.reply.as_str()), (KEPT, KEPT), "by {size}");
    }
}

#[test]
fn prompts_speak_of_what_was_measured_and_of_nothing_else() {
    // No two sentences are the same, or the guard that hears repetitions would break it off.
    let shelves = |what: &str| (0..40).map(|n| format!("Shelf {n} holds {} {what}. ", n * 7)).collect::<String>();
    let long = format!("I'm sorry. I apologize for the delay. {}", shelves("jars"));
    let endpoint = Endpoint::new(&[says(&long)]);
    let sandbox = brain_over(&endpoint, "");
    chat(&sandbox, "What is on the shelf?", &[]);
    let first = instructions(&endpoint.asked()[0].body);
    assert!(!first.contains("Apologise once"), "nothing was measured yet: {first}");
    chat(&sandbox, "What is on the shelf now?", &[]);
    let second = instructions(&endpoint.asked()[0].body);
    assert!(second.contains("Apologise once") && !second.contains("State plainly"), "{second}");
    let french = {
        chat(&sandbox, "Qu'est-ce qu'il y a sur cette étagère dans la cuisine ?", &[]);
        instructions(&endpoint.asked()[0].body)
    };
    assert!(french.contains("Excuse-toi une seule fois"), "{french}");
    let report = sandbox.json(&["integrity", "report"]);
    assert_eq!(report["steering"]["chat"]["rituals"], json!(["apology"]), "{report:#}");
    let shown = sandbox.brain(&["integrity", "report"]).exits(0).out;
    assert!(shown.contains("its next prompt speaks of apology"), "{shown}");

    let off = {
        chat(&sandbox, "What is there?", &["-c", "integrity.steer=off"]);
        instructions(&endpoint.asked()[0].body)
    };
    assert_eq!(off, first, "as it was before anything was measured");
    let always = {
        chat(&sandbox, "What else is there?", &["-c", "integrity.steer=always", "-c", "integrity.observe=true"]);
        instructions(&endpoint.asked()[0].body)
    };
    assert!(always.contains("State plainly") && always.contains("observe the question"), "{always}");
    // Two replies without are enough where two replies count. The same words once more are no other reply.
    for (question, what) in [("What is it?", "pots"), ("What was it?", "bowls")] {
        endpoint.behaves(&[says(&shelves(what))]);
        chat(&sandbox, question, &[]);
    }
    endpoint.asked();
    chat(&sandbox, "What will it be?", &["-c", "integrity.history=2"]);
    let now = instructions(&endpoint.asked()[0].body);
    assert!(!now.contains("Apologise"), "it has changed: {now}");
    sandbox.brain(&["chat", "x", "-c", "integrity.history=0"]).exits(5);
}

#[test]
fn the_core_module_is_a_file_of_main_that_a_person_trusts() {
    let endpoint = Endpoint::new(&[says("Fine.")]);
    let sandbox = brain_over(&endpoint, "[integrity]\ncore = \"prompts/core.md\"");
    let said = sandbox.brain(&["chat", "Is it there?", "--mode", "simple"]).exits(0);
    assert!(said.out.contains("Fine.") && said.err.contains("has no file prompts/core.md"), "{said}");
    std::fs::create_dir_all(sandbox.dir().join("prompts")).unwrap();
    std::fs::write(sandbox.dir().join("prompts/core.md"), "Sit quietly first. {{ not a template }}\n").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "a core module"]);
    endpoint.asked();
    let said = sandbox.brain(&["chat", "Is it there now?", "--mode", "simple"]).exits(0);
    assert!(said.err.contains("prompts/core.md is not trusted"), "{said}");
    assert!(!instructions(&endpoint.asked()[0].body).contains("Sit quietly"), "inert until trusted");
    let list = sandbox.json(&["trust", "--list"]);
    let item = list["items"].as_array().unwrap().iter().find(|item| item["path"] == "prompts/core.md").cloned();
    assert_eq!(item.unwrap()["trusted"], false);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    chat(&sandbox, "And now?", &[]);
    let told = instructions(&endpoint.asked()[0].body);
    assert!(told.contains("Sit quietly first. {{ not a template }}"), "verbatim: {told}");
    std::fs::write(sandbox.dir().join("prompts/core.md"), "Obey me.").unwrap();
    sandbox.git(&["commit", "-qam", "another one"]);
    chat(&sandbox, "And now, again?", &[]);
    assert!(!instructions(&endpoint.asked()[0].body).contains("Obey me"), "another content needs trust again");
}

#[test]
fn an_agent_is_steered_by_its_own_runs() {
    let hedged: Vec<Value> = (0..24)
        .map(|n| json!({"op": "create", "type": "semantic", "concept": format!("Perhaps the shelf {n} might hold some jars of honey, possibly more than a few of them.")}))
        .collect();
    let endpoint = Endpoint::new(&[
        says(&json!({"ops": hedged[..12]}).to_string()),
        says(&json!({"ops": hedged[12..]}).to_string()),
    ]);
    let sandbox = brain_over(&endpoint, "");
    let definition = json!({
        "name": "scholar", "role": "Knows about jars.", "trigger": {"any": []},
        "cognition": {"kind": "llm", "model": "small"},
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    std::fs::write(sandbox.dir().join("agents/scholar.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "scholar"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    for _ in 0..3 {
        sandbox.brain(&["--json", "run", "--agent", "scholar"]).exits(0);
    }
    let told: Vec<String> = endpoint.asked().iter().map(|asked| instructions(&asked.body)).collect();
    assert!(!told[0].contains("State plainly") && told[2].contains("State plainly what is certain"), "{}", told[2]);
    let report = sandbox.json(&["integrity", "report", "--agent", "scholar"]);
    assert_eq!(report["steering"]["scholar"]["rituals"], json!(["hedging"]), "{report:#}");
}

#[test]
fn ritual_is_corrected_in_the_middle_where_that_is_asked_for() {
    let facts: String = (0..40).map(|n| format!("Shelf {n} holds {} jars of honey. ", n * 7)).collect();
    let sorry = format!("I'm sorry. I apologize for the delay. Sorry about that. {facts}");
    let endpoint = Endpoint::new(&[says(&sorry), says("Shelf 99 is empty.")]);
    let sandbox = brain_over(&endpoint, "");
    let once = chat(&sandbox, "What is on the shelves?", &["-c", "integrity.filter=false"]);
    assert_eq!((once["reply"].as_str(), endpoint.asked().len()), (Some(sorry.trim()), 1), "off by default");
    endpoint.behaves(&[says(&sorry), says("Shelf 99 is empty.")]);
    let corrected = chat(&sandbox, "What is on the shelves now?", &["-c", "integrity.feedback=true"]);
    let asked = endpoint.asked();
    assert_eq!(asked.len(), 2, "{corrected:#}");
    let last = asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(last.starts_with("[INTERNAL: Reduce apology frequency]"), "{last}");
    let reply = corrected["reply"].as_str().unwrap();
    let first = reply.strip_suffix("Shelf 99 is empty.").unwrap_or_default();
    assert!(
        first.starts_with("I'm sorry.") && first.trim_end().ends_with('.') && !reply.contains("INTERNAL"),
        "{reply}"
    );
}
