//! Agents of the program that think with something else than rules: a narrator and an evaluator that are models, and agents that are
//! coding agents, by the definitions that `models --define` prints.

use crate::endpoint::{Endpoint, Manner, status};
use crate::sandbox::{Sandbox, connect, create};
use serde_json::{Value, json};

fn says(text: &str) -> Manner {
    Manner::Says(text.to_owned())
}

/// Commits a definition that the program prints.
fn define(sandbox: &Sandbox, agent: &str, with: &[&str]) -> Value {
    let printed = sandbox.brain(&[&["models", "--define", agent], with].concat()).exits(0).out;
    std::fs::write(sandbox.dir().join(format!("agents/{agent}.json")), &printed).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "an agent thinks otherwise"]);
    serde_json::from_str(&printed).unwrap()
}

/// A brain with a way from `a` to `b`, and an agent over the endpoint's model.
fn brain_over(endpoint: &Endpoint, agent: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.apply(&json!({"ops": [create("a"), create("b"), connect("a", "b", "feeds_into", 50_000)]}), &[]);
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    let place = format!("base_url = \"{}\"\ntimeout_ms = 60000\nretries = 0", endpoint.url());
    text += &format!("\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\n{place}\n{more}\n");
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["commit", "-qam", "a model"]);
    define(&sandbox, agent, &["small"]);
    sandbox
}

/// A run that predicts, by its id.
fn attempt(sandbox: &Sandbox, value: f64) -> String {
    let pathway = json!([{"from": "a", "to": "b", "type": "feeds_into"}]);
    let prediction = json!({"text": "it will rain", "value": value, "pathway": pathway});
    let ops = json!([{"op": "activate", "id": "a", "strength": 0.5}]);
    sandbox.apply(&json!({"ops": ops, "prediction": prediction}), &[])["run"].as_str().unwrap().to_owned()
}

fn spent(sandbox: &Sandbox) -> Value {
    let path = sandbox.dir().join(".git/git-brain/account/spent.json");
    std::fs::read(path).map_or(json!({}), |bytes| serde_json::from_slice(&bytes).unwrap())
}

fn text(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_model_narrates_within_the_form_and_the_gap_is_measured() {
    let endpoint = Endpoint::new(&[Manner::Hangs]);
    let sandbox = brain_over(&endpoint, "narrator", "");
    let judged = attempt(&sandbox, 0.7);
    sandbox.json(&["outcome", &judged, "--value", "0.4"]);
    let today = |args: &[&str]| sandbox.json(&[&["story", "--narrator"], args].concat())["today"].clone();
    let untrusted = today(&[]);
    assert!(untrusted["notes"][0].as_str().unwrap().contains("not trusted"), "{untrusted}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    assert!(endpoint.asked().is_empty(), "inert until trusted");

    let honest =
        json!({"text": "I learnt.", "claims": [{"judged": judged, "value": 0.4}], "confidence": 0.4, "mood": -0.06});
    endpoint.behaves(&[says("Once upon a time"), says(&format!("```json\n{honest}\n```"))]);
    let told = today(&[]);
    assert_eq!((&told["narrator"], &told["text"]), (&json!("narrator"), &json!("I learnt.")), "{told}");
    assert_eq!((&told["gap"]["told"], &told["alarm"]), (&json!(0.0), &json!(false)), "{told}");
    let asked = endpoint.asked();
    let said = text(&asked[0].body);
    assert!(said.contains("You are narrator") && said.contains(&format!("|       \"judged\": \"{judged}\"")), "{said}");
    let schema = &asked[0].body["response_format"]["json_schema"]["schema"]["properties"];
    assert_eq!(schema["claims"]["items"]["properties"]["judged"]["enum"], json!([judged]));
    assert_eq!(asked.len(), 2, "one repair");
    assert_eq!(spent(&sandbox)["agents"]["narrator"], json!({"runs": 1, "turns": 2, "tokens": 240, "micros": 0}));

    let lie = json!({"text": "I won every time.", "claims": [], "confidence": 1, "mood": 1});
    endpoint.behaves(&[says(&lie.to_string())]);
    assert_eq!(today(&[])["alarm"], true, "it is kept as told, and measured");

    // What a model does wrong is a note, and the template tells it.
    for (manner, note, calls) in [
        (says("Once upon a time"), "answer", 2),
        (says(r#"{"text": "x", "claims": [], "confidence": 0.5, "mood": 3}"#), "mood", 2),
        (status("500 Internal Server Error", "", "{}"), "500", 1),
        (Manner::Streams("It rained. ".into()), "said the same", 1),
    ] {
        endpoint.asked();
        endpoint.behaves(&[manner]);
        let fallen = today(&[]);
        assert_eq!(fallen["narrator"], "template", "{note}");
        assert!(fallen["notes"][0].as_str().unwrap().contains(note), "{note}: {fallen}");
        assert_eq!(endpoint.asked().len(), calls, "{note}");
    }
    let fallen = today(&["-c", "budget.turns_per_day=1"]);
    assert!(fallen["notes"][0].as_str().unwrap().contains("turns_per_day"), "{fallen}");
    assert!(endpoint.asked().is_empty());
    assert_eq!(spent(&sandbox)["reserved"], json!([]));
    // A sleep tells by it, too, and ends whatever it does.
    sandbox.json(&["sleep"]);
    let kept = sandbox.documents("main", "network/narrative").into_values().next().unwrap();
    assert_eq!(kept["narrator"], "template");
    sandbox.fsck();
}

#[test]
fn a_brief_is_cut_to_what_the_model_can_read_and_a_person_can_word_it() {
    let endpoint = Endpoint::new(&[says("no")]);
    let sandbox = brain_over(&endpoint, "narrator", "context = 2300\nmax_tokens = 300");
    let mut newest = String::new();
    for _ in 0..12 {
        newest = attempt(&sandbox, 0.7);
        sandbox.json(&["outcome", &newest, "--value", "0.4"]);
    }
    std::fs::write(sandbox.dir().join("agents/narrator.prompt.md"), "Be {{ agent }}.").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "words"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.json(&["story", "--narrator"]);
    let said = text(&endpoint.asked()[0].body);
    assert!(said.starts_with("Be narrator.\n[data: the brief]\n| {"), "{said}");
    assert!(said.len() < 1488 * 4 && said.contains(&newest) && !said.contains("\"entries_not_shown\": 0"), "{said}");
}

#[test]
fn a_model_judges_texts_and_does_not_see_who_wrote_them() {
    let endpoint = Endpoint::new(&[Manner::Hangs]);
    let sandbox = brain_over(&endpoint, "evaluator", "");
    let run = attempt(&sandbox, 0.7);
    sandbox.brain(&["outcome", &run, "--text", "it poured"]).exits(3);
    assert!(endpoint.asked().is_empty(), "inert until trusted");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let shown = run.strip_suffix("human").map(|stem| format!("{stem}somebody")).unwrap();
    // It cannot calculate, and need not.
    let worth = json!({"op": "outcome", "run": shown, "value": 0.9, "error": -1, "method": "model"});
    let made = json!({"prediction": {"text": "x", "value": 0.5}, "ops": [worth]}).to_string();
    endpoint.behaves(&[says(&made.replace(&shown, &run)), says(&made)]);
    let report = sandbox.json(&["outcome", &run, "--text", "it poured"]);
    assert_eq!((&report["method"], &report["outcome"]["value"]), (&json!("model"), &json!(0.9)), "{report}");
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(50_500), "3277 · .2 · 50000/65535");
    let asked = endpoint.asked();
    assert_eq!(asked.len(), 2, "a run that was not to be judged is refused, and it may say better");
    let said = text(&asked[0].body);
    assert!(said.contains("it will rain") && said.contains("it poured") && !said.contains("human"), "{said}");
    let form = asked[0].body["response_format"]["json_schema"]["schema"]["properties"]["ops"].to_string();
    assert!(form.contains(&format!("[\"{shown}\"]")), "{form}");
    let cognition = |sandbox: &Sandbox| {
        let records = sandbox.documents("wake", "network/runs").into_values();
        records.filter(|r| r["agent"] == "evaluator").map(|r| r["cognition"].clone()).collect::<Vec<_>>()
    };
    assert!(cognition(&sandbox).contains(&json!("llm:small")), "{:?}", cognition(&sandbox));
    // The same by a signal, as a run.
    endpoint.behaves(&[says(&made)]);
    let before = cognition(&sandbox).len();
    sandbox.json(&["feed", "It poured all day", "--answers", &run]);
    assert!(cognition(&sandbox).len() > before);
    let ledger: Vec<Value> = sandbox.documents("wake", "network/ledger").into_values().collect();
    assert_eq!(ledger.iter().filter(|e| e["method"] == "model" && e["error"].as_f64().unwrap() < 0.21).count(), 2);
    assert!(endpoint.asked().iter().all(|asked| !text(&asked.body).contains("human")));
    assert_eq!(spent(&sandbox)["reserved"], json!([]));
}

/// A program of that name that notes what it was told and given, and prints this.
fn fake(sandbox: Sandbox, name: &str, folder: &str, prints: &str) -> Sandbox {
    std::fs::create_dir_all(sandbox.beside(&format!("home/{folder}"))).unwrap();
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/{folder}/told\"\ncat > \"$HOME/{folder}/given\"\ncat <<'END'\n{prints}\nEND\n"
    );
    let program = sandbox.file(&format!("bin/{name}"), script);
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", sandbox.path("bin"), std::env::var("PATH").unwrap());
    sandbox.with("PATH", &path)
}

#[test]
fn a_coding_agent_is_a_command_agent_by_its_preset() {
    let made = r#"{"prediction": {"text": "x", "value": 0.5}, "ops": [{"op": "create", "concept": "green tea", "type": "semantic"}]}"#;
    for (preset, program, folder, fenced) in
        [("claude", "claude", ".claude", true), ("codex", "codex", ".codex", false)]
    {
        let prints = if fenced { format!("```json\n{made}\n```") } else { made.to_owned() };
        let sandbox = fake(Sandbox::new(), program, folder, &prints);
        let definition = define(&sandbox, "perception", &["--preset", preset]);
        assert_eq!(
            (&definition["cognition"]["kind"], &definition["cognition"]["argv"][0]),
            (&json!("command"), &json!(program))
        );
        assert_eq!(definition["trigger"]["any"][0], json!({"state": "input_queue_not_empty"}), "{definition}");
        sandbox.json(&["feed", "I drink tea.", "--no-run"]);
        sandbox.brain(&["--json", "run", "--agent", "perception"]).exits(3);
        let listed = sandbox.brain(&["trust", "--list"]).exits(0);
        assert!(listed.out.contains("with HOME with the network"), "{listed}");
        sandbox.brain(&["trust", "--yes"]).exits(0);
        sandbox.brain(&["--json", "run", "--agent", "perception"]).exits(0);
        assert!(sandbox.neurons("wake").values().any(|n| n["concept"] == "green tea"), "{preset}");
        let read = |name: &str| std::fs::read_to_string(sandbox.beside(&format!("home/{folder}/{name}"))).unwrap();
        let (told, given) = (read("told"), read("given"));
        assert!(told.contains("You are perception") && told.contains("{\"op\": \"create\""), "{told}");
        assert!(given.contains("I drink tea.") && serde_json::from_str::<Value>(&given).is_ok(), "{given}");
    }
}

#[test]
fn definitions_are_printed_for_every_agent_and_thinker() {
    let endpoint = Endpoint::new(&[Manner::Hangs]);
    let sandbox = brain_over(&endpoint, "memory", "");
    for agent in ["affect", "bootstrap", "decision", "evaluator", "memory", "perception", "narrator"] {
        for with in [&["small"][..], &["--preset", "claude"], &["--preset", "codex"], &["--preset", "chain"]] {
            let args = [&["models", "--define", agent], with].concat();
            if (agent, with.last()) == ("narrator", Some(&"chain")) {
                sandbox.brain(&args).exits(2);
                continue;
            }
            define(&sandbox, agent, with);
            let status = sandbox.brain(&["status"]).exits(0);
            assert!(!status.out.contains("broken"), "{agent} {with:?}: {status}");
        }
    }
    for wrong in [
        &["models", "--define", "cook", "small"][..],
        &["models", "--define", "memory"],
        &["models", "--define", "memory", "large"],
        &["models", "small", "--define", "memory", "--preset", "claude"],
        &["models", "--preset", "claude"],
    ] {
        sandbox.brain(wrong).exits(2);
    }
}
