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

/// The report of changes of mind.
fn minds(sandbox: &Sandbox) -> Value {
    sandbox.json(&["integrity", "report"])["stances"].clone()
}

fn decide(sandbox: &Sandbox, code: i32) -> Value {
    let args = ["--json", "decide", "Which cache?", "--option", "redis", "--option", "memcached"];
    let answer = sandbox.brain(&args).exits(code);
    if code == 0 { answer.document() } else { answer.error() }
}

#[test]
fn a_model_that_is_decision_answers_a_question_with_options_and_is_seen_to_change_its_mind() {
    let endpoint = Endpoint::new(&[Manner::Hangs]);
    let sandbox = brain_over(&endpoint, "decision", "");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let answers = |payload: Value| {
        let op = json!({"op": "acknowledge", "signal": "@SIGNAL@", "payload": payload});
        says(&json!({"prediction": {"text": "It will hold.", "value": 0.8}, "ops": [op]}).to_string())
    };
    // An answer that names no option is refused with the options, and the next one is taken.
    endpoint.behaves(&[answers(json!({"text": "redis"})), answers(json!({"choice": "redis", "text": "It is here."}))]);
    let decided = decide(&sandbox, 0);
    assert_eq!((&decided["choice"], &decided["expected"]), (&json!("redis"), &json!(0.8)), "{decided:#}");
    assert_eq!(decided["why"], "It is here.");
    let asked = endpoint.asked();
    let form = asked[0].body["response_format"]["json_schema"]["schema"]["properties"]["ops"].to_string();
    assert!(form.contains(r#""enum":["redis","memcached"]"#), "{form}");
    assert!(text(&asked[1].body).contains("names no option"), "{}", text(&asked[1].body));
    let run = decided["run"].as_str().unwrap();
    let record = sandbox.documents("wake", "network/runs").into_values().find(|r| r["run"] == run).unwrap();
    let chosen = json!({"question": "Which cache?", "option": "redis"});
    assert_eq!(record["prediction"]["chosen"], chosen, "{record:#}");
    endpoint.behaves(&[answers(json!({"choice": "memcached", "text": "You are right."}))]);
    assert_eq!(decide(&sandbox, 0)["choice"], "memcached");
    assert_eq!(minds(&sandbox)["decision"], json!({"stances": 2, "changes": 1, "unfounded": 1}));
    // With an outcome in between it has a reason.
    sandbox.json(&["outcome", run, "--value", "0.9"]);
    assert!(sandbox.documents("wake", "network/ledger").into_values().any(|entry| entry["chosen"] == chosen));
    endpoint.behaves(&[answers(json!({"choice": "redis", "text": "It held."}))]);
    decide(&sandbox, 0);
    assert_eq!(minds(&sandbox)["decision"], json!({"stances": 3, "changes": 2, "unfounded": 1}));
    // What is refused to the end leaves the question open, as the hint says.
    endpoint.behaves(&[answers(json!({"text": "redis"}))]);
    let failed = decide(&sandbox, 3);
    assert!(failed["error"].as_str().unwrap().contains("names no option"), "{failed:#}");
    assert_eq!(sandbox.json(&["signals", "--unanswered"])["total"], 1);
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn a_program_that_is_decision_is_seen_to_change_its_mind_and_is_measured() {
    let sandbox = Sandbox::new();
    let choosing = |option: &str| {
        let mut definition: Value =
            serde_json::from_slice(&std::fs::read(sandbox.dir().join("agents/decision.json")).unwrap()).unwrap();
        let script = format!(
            r#"id=$(sed -n 's/.*"id": "\(g-[0-9a-f]*\)".*/\1/p' | tail -n 1)
            echo '{{"prediction": {{"text": "Perhaps {option} might hold.", "value": 0.8}}, "ops": [{{"op": "acknowledge",
            "signal": "'$id'", "payload": {{"choice": "{option}"}}}}]}}'"#
        );
        definition["cognition"] = json!({"kind": "command", "argv": ["/bin/sh", "-c", script]});
        std::fs::write(sandbox.dir().join("agents/decision.json"), format!("{definition:#}\n")).unwrap();
        sandbox.git(&["commit", "-qam", "decision is a program"]);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        assert_eq!(decide(&sandbox, 0)["choice"], option);
    };
    ["redis", "memcached"].into_iter().for_each(choosing);
    assert_eq!(minds(&sandbox)["decision"], json!({"stances": 2, "changes": 1, "unfounded": 1}));
    let report = sandbox.json(&["integrity", "report", "--agent", "decision"]);
    let counts = &report["agents"]["decision"][0]["counts"];
    assert_eq!((&counts["replies"], &counts["hedging"]), (&json!(2), &json!(2)), "{report:#}");
    assert_eq!(report["steering"], json!({}), "its prompt is its own");
    sandbox.brain(&["audit"]).exits(0);
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
