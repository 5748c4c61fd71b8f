//! Agents that think with models: inert until trusted, held to the form of a delta, given one more try, and whatever an
//! endpoint does, over by the deadline without a commit of anything invalid.

use std::time::{Duration, Instant};

use crate::endpoint::{Endpoint, Manner, status};
use crate::sandbox::{Answer, Sandbox, create, delta, some_of};
use serde_json::{Value, json};

const NOW: &str = "2026-01-26T14:32:00Z";
const MADE: &str = r#"{"prediction": {"text": "tea is asked for", "value": 0.75}, "ops": [{"op": "create", "concept": "green tea", "type": "semantic"}]}"#;

fn says(text: &str) -> Manner {
    Manner::Says(text.to_owned())
}

/// A brain with an agent `scholar` that thinks with the endpoint's model when `tea` is activated. Not trusted yet.
fn brain_over(endpoint: &Endpoint, sandbox: Sandbox, more: &str) -> Sandbox {
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    let definition = json!({
        "name": "scholar",
        "role": "Knows about tea.",
        "trigger": {"any": [{"neuron": {"id": "tea", "salience_above": 40000}}]},
        "cognition": {"kind": "llm", "model": "small"},
        "capabilities": {"operations": ["create", "activate", "connect"], "types": ["semantic"]},
    });
    std::fs::write(sandbox.dir().join("agents/scholar.json"), format!("{definition:#}\n")).unwrap();
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    let patience = if more.contains("timeout_ms") { "" } else { "timeout_ms = 60000" };
    text += &format!(
        "\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n{patience}\n{more}\n",
        endpoint.url()
    );
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "scholar"]);
    sandbox.apply(&delta(json!([{"op": "activate", "id": "tea", "strength": 1}])), &[]);
    sandbox
}

fn trusted(endpoint: &Endpoint, more: &str) -> Sandbox {
    let sandbox = brain_over(endpoint, Sandbox::new(), more);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn run(sandbox: &Sandbox) -> Answer {
    sandbox.brain(&["--json", "run", "--agent", "scholar"])
}

fn commits(sandbox: &Sandbox) -> usize {
    sandbox.lines(&["log", "--all", "--no-merges", "--author=^scholar <", "--format=%H"]).len()
}

/// What is still reserved of the budget.
fn reserved(sandbox: &Sandbox) -> usize {
    let path = sandbox.dir().join(".git/git-brain/account/spent.json");
    let Ok(text) = std::fs::read(path) else { return 0 };
    serde_json::from_slice::<Value>(&text).unwrap()["reserved"].as_array().map_or(0, Vec::len)
}

fn concepts(sandbox: &Sandbox) -> Vec<String> {
    sandbox.neurons("wake").values().map(|n| n["concept"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_model_is_asked_only_once_it_is_trusted() {
    let endpoint = Endpoint::new(&[says(MADE)]);
    let sandbox = brain_over(&endpoint, Sandbox::new(), "");
    run(&sandbox).exits(3);
    sandbox.brain(&["run"]).exits(0);
    assert!(endpoint.asked().is_empty(), "inert");
    let listed = sandbox.brain(&["trust", "--list"]).exits(0);
    assert!(listed.out.contains("ask the model small"), "{listed}");
    assert!(listed.out.contains(&format!("(at {}", endpoint.url())), "where it would be asked: {listed}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    run(&sandbox).exits(0);
    assert_eq!(endpoint.asked().len(), 1);
}

#[test]
fn its_answer_is_a_run_like_any_other() {
    let endpoint = Endpoint::new(&[says(MADE)]);
    let sandbox = trusted(&endpoint, "price_in = 1000000\nprice_out = 2000000");
    let answer = sandbox.json(&["run"]);
    assert_eq!(commits(&sandbox), 1, "{answer}");
    assert!(concepts(&sandbox).contains(&"green tea".to_owned()));
    let record = sandbox.documents("wake", "network/runs").into_values().find(|r| r["agent"] == "scholar").unwrap();
    assert_eq!(record["cognition"], "llm:small");
    assert_eq!(record["prediction"]["value"], 0.75);
    let log = sandbox.git(&[
        "log",
        "-1",
        "--author=^scholar <",
        "--no-merges",
        "--all",
        "--format=%(trailers:key=Model,valueonly)",
    ]);
    assert_eq!(log.trim(), "small");
    let asked = endpoint.asked();
    assert_eq!((asked[0].path.as_str(), asked[0].key.as_str()), ("/v1/chat/completions", ""));
    let body = &asked[0].body;
    assert_eq!(body["model"], "tiny");
    let (system, data) =
        (body["messages"][0]["content"].as_str().unwrap(), body["messages"][1]["content"].as_str().unwrap());
    assert!(system.contains("You are scholar") && data.contains("neuron tea ("), "{body:#}");
    let schema = &body["response_format"]["json_schema"]["schema"];
    let ids = schema["properties"]["ops"]["items"]["anyOf"][1]["properties"]["id"]["enum"].as_array().unwrap();
    assert!(ids.contains(&json!("tea")), "{schema:#}");
    let spent: Value =
        serde_json::from_slice(&std::fs::read(sandbox.dir().join(".git/git-brain/account/spent.json")).unwrap())
            .unwrap();
    assert_eq!(spent["agents"]["scholar"], json!({"runs": 1, "turns": 1, "tokens": 120, "micros": 140}));
    assert_eq!(reserved(&sandbox), 0);
    sandbox.fsck();
}

#[test]
fn an_answer_that_is_not_streamed_is_the_same() {
    for (more, streamed) in [("", true), ("stream = false", false)] {
        let endpoint = Endpoint::new(&[says(MADE)]);
        let sandbox = trusted(&endpoint, more);
        run(&sandbox).exits(0);
        assert!(concepts(&sandbox).contains(&"green tea".to_owned()));
        assert_eq!(endpoint.asked()[0].body["stream"] == true, streamed);
    }
}

/// What the account has of an agent's day.
fn spent(sandbox: &Sandbox, agent: &str) -> Value {
    let path = sandbox.dir().join(".git/git-brain/account/spent.json");
    serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap()["agents"][agent].clone()
}

#[test]
fn an_answer_that_says_the_same_again_and_again_is_broken_off_and_paid() {
    for more in ["price_out = 1000000", "price_out = 1000000\nstream = false"] {
        let endpoint = Endpoint::new(&[Manner::Streams("I look into the folder.\n".into())]);
        if more.contains("false") {
            endpoint.behaves(&[says(&"I look into the folder.\n".repeat(3000))]);
        }
        let sandbox = trusted(&endpoint, more);
        let before = sandbox.object_count();
        let said = run(&sandbox).exits(3);
        assert!(said.out.contains("broken off: it said the same 24 bytes"), "{said}");
        assert_eq!(endpoint.asked().len(), 1, "no repair, no try");
        assert_eq!((commits(&sandbox), reserved(&sandbox), sandbox.object_count()), (0, 0, before));
        let spent = spent(&sandbox, "scholar");
        assert_eq!((&spent["runs"], &spent["turns"]), (&json!(1), &json!(1)), "{spent}");
        if !more.contains("false") {
            // It never ends by itself; what had come is paid, and what was reserved is not.
            let written = spent["micros"].as_u64().unwrap();
            assert!((100..1000).contains(&written), "{spent}");
            assert!(endpoint.is_left(), "the connection is closed");
        }
        endpoint.behaves(&[says(MADE)]);
        run(&sandbox).exits(0);
        assert_eq!(commits(&sandbox), 1);
    }
}

#[test]
fn thoughts_that_turn_in_circles_are_broken_off_as_well() {
    let endpoint = Endpoint::new(&[Manner::Thinks("Wait, let me think again. ".into())]);
    let sandbox = trusted(&endpoint, "");
    let said = run(&sandbox).exits(3);
    assert!(said.out.contains("broken off: it said the same 26 bytes"), "{said}");
    assert!(endpoint.is_left());
    let spent = spent(&sandbox, "scholar");
    assert!((200..4000).contains(&spent["tokens"].as_u64().unwrap()), "{spent}");
}

#[test]
fn a_step_of_a_chat_that_is_broken_off_leaves_its_text_out() {
    let endless = Endpoint::new(&[Manner::Streams("Ann likes Ann. ".into())]);
    let works = Endpoint::new(&[says("Ann likes tea.")]);
    let sandbox = chain_over([&endless, &works, &endless]);
    let said = sandbox.brain(&["--json", "chat", "analyse what Ann likes", "--mode", "reflexive"]).exits(0);
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answer["reply"], "Ann likes tea.");
    let expected = [("OL1", "m0", 1), ("M1", "m1", 1), ("M2", "m2", 1)];
    assert_eq!(badges(&answer), expected.map(|(node, model, turns)| (node.to_owned(), model.to_owned(), turns)));
    assert!(!works.asked()[0].body.to_string().contains("Ann likes Ann"), "the next step is not shown it");
    let said = sandbox.brain(&["chat", "analyse what Ann likes", "--mode", "reflexive"]).exits(0);
    assert!(said.err.contains("OL1 was stopped: its answer was broken off: it said the same 15 bytes"), "{said}");
    assert_eq!(reserved(&sandbox), 0);
}

#[test]
fn a_run_is_one_run_however_often_it_is_repaired() {
    let coffee = r#"{"ops": [{"op": "activate", "id": "coffee", "strength": 1}]}"#;
    let endpoint = Endpoint::new(&[says(coffee), says(MADE)]);
    let sandbox = trusted(&endpoint, "\n[budget]\nruns_per_day = 1000");
    run(&sandbox).exits(0);
    assert_eq!((endpoint.asked().len(), commits(&sandbox)), (2, 1));
    assert_eq!(spent(&sandbox, "scholar"), json!({"runs": 1, "turns": 2, "tokens": 240, "micros": 0}));
    // And so is one answer of a chat.
    let step = |text: &str| Endpoint::new(&[says(text)]);
    let (a, b, c) = (step("Tea."), step("Green tea."), step("Green tea, always."));
    let sandbox = chain_over([&a, &b, &c]);
    sandbox.json(&["chat", "analyse what Ann likes", "--mode", "reflexive"]);
    assert_eq!(spent(&sandbox, "human"), json!({"runs": 1, "turns": 3, "tokens": 360, "micros": 0}));
}

#[test]
fn an_endless_repair_ends_with_the_budget_or_the_bound() {
    let endpoint = Endpoint::new(&[says("no")]);
    let sandbox = trusted(&endpoint, "\n[budget]\nturns_per_day = 1");
    run(&sandbox).exits(6);
    assert_eq!((endpoint.asked().len(), commits(&sandbox), reserved(&sandbox)), (1, 0, 0));
}

#[test]
fn a_refused_answer_may_be_given_once_more() {
    let coffee = r#"{"ops": [{"op": "activate", "id": "coffee", "strength": 1}]}"#;
    let endpoint = Endpoint::new(&[says(coffee), says(&format!("Sorry! ```json\n{MADE}\n```"))]);
    let sandbox = trusted(&endpoint, "");
    run(&sandbox).exits(0);
    assert!(concepts(&sandbox).contains(&"green tea".to_owned()));
    let asked = endpoint.asked();
    let messages = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["content"], coffee);
    assert!(messages[3]["content"].as_str().unwrap().contains("coffee"), "{messages:#?}");
}

#[test]
fn what_is_refused_twice_leaves_nothing_and_says_why() {
    for answer in
        ["no idea", r#"{"ops": [{"op": "archive", "id": "tea", "reason": "x"}]}"#, r#"{"ops": [], "sudo": true}"#, ""]
    {
        let endpoint = Endpoint::new(&[says(answer)]);
        let sandbox = trusted(&endpoint, "");
        let before = (sandbox.tip("wake"), sandbox.object_count());
        let said = run(&sandbox);
        assert_ne!(said.code, 0, "{said}");
        assert_eq!(endpoint.asked().len(), 2, "one more try: {answer}");
        assert_eq!((sandbox.tip("wake"), sandbox.object_count()), before, "{answer}");
        assert_eq!((commits(&sandbox), reserved(&sandbox)), (0, 0));
    }
}

#[test]
fn whatever_an_endpoint_does_it_ends_by_the_deadline_without_a_commit() {
    let faults: Vec<(&str, Manner)> = vec![
        ("500", status("500 Internal Server Error", "", "{}")),
        ("429 for an hour", status("429 Too Many Requests", "retry-after: 3600\r\n", "{}")),
        ("401", status("401 Unauthorized", "", "{}")),
        ("redirect", status("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "")),
        ("hang", Manner::Hangs),
        ("half-open", Manner::HalfOpen),
        ("a byte now and then", Manner::Drips),
        ("cut", Manner::Cuts),
        ("100 MB", Manner::Floods),
        ("no protocol", status("200 OK", "", r#"{"vectors": []}"#)),
        ("no JSON", status("200 OK", "", "<html>")),
        ("a tool that there is not", Manner::Calls("list_dir", json!({"path": "/"}))),
    ];
    for more in some_of(["timeout_ms = 2500", "timeout_ms = 2500\nstream = false"], 1) {
        for (name, fault) in &faults {
            let endpoint = Endpoint::new(std::slice::from_ref(fault));
            let sandbox = trusted(&endpoint, more);
            let before = sandbox.tip("wake");
            let from = Instant::now();
            let said = run(&sandbox);
            assert!(from.elapsed() < Duration::from_secs(30), "{name}: {:?}", from.elapsed());
            assert_ne!(said.code, 0, "{name} {more}: {said}");
            assert!(!said.err.contains("panicked") && !said.err.contains("<html>"), "{name}: {said}");
            assert_eq!((sandbox.tip("wake"), commits(&sandbox), reserved(&sandbox)), (before, 0, 0), "{name}");
            // The endpoint recovers, and so does the agent.
            endpoint.behaves(&[says(MADE)]);
            run(&sandbox).exits(0);
            assert_eq!(commits(&sandbox), 1, "{name}");
        }
    }
}

#[test]
fn what_passes_is_asked_again_when_the_endpoint_says() {
    let wait = status("429 Too Many Requests", "retry-after: 1\r\n", "{}");
    let endpoint = Endpoint::new(&[wait, says(MADE)]);
    let sandbox = trusted(&endpoint, "");
    let from = Instant::now();
    run(&sandbox).exits(0);
    assert!(from.elapsed() >= Duration::from_secs(1), "it waited as it was told");
    assert_eq!((endpoint.asked().len(), commits(&sandbox)), (2, 1));
}

#[test]
fn a_recorded_run_is_repeated_to_the_byte_without_the_model() {
    let endpoint = Endpoint::new(&[says(MADE)]);
    let tape = tempfile::tempdir().unwrap();
    let tape = tape.path().join("tape.jsonl");
    let made = |how: &str| {
        let sandbox = Sandbox::fixed(NOW, "7").with("BRAIN_CASSETTE", &format!("{how}:{}", tape.display()));
        let sandbox = brain_over(&endpoint, sandbox, "");
        sandbox.brain(&["trust", "--yes"]).exits(0);
        run(&sandbox).exits(0);
        let run = sandbox.git(&["log", "-1", "--author=^scholar <", "--all", "--format=%T"]);
        (run, sandbox.neurons("wake"))
    };
    let first = made("record");
    assert_eq!(endpoint.asked().len(), 1);
    endpoint.behaves(&[Manner::Hangs]);
    assert_eq!(made("replay"), first);
    assert!(endpoint.asked().is_empty(), "nobody was asked");
}

#[test]
fn keys_go_to_the_endpoint_and_nowhere_else() {
    let key = "sk-canary-0123456789abcdef";
    let endpoint = Endpoint::new(&[says(&MADE.replace("green tea", &format!("green tea {key}")))]);
    let sandbox = brain_over(&endpoint, Sandbox::new().with("SMALL_KEY", key), "key_env = \"SMALL_KEY\"");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let said = run(&sandbox).exits(0);
    assert_eq!(endpoint.asked()[0].key, format!("Bearer {key}"));
    assert!(!said.out.contains(key) && !said.err.contains(key), "{said}");
    let objects = sandbox.command("git", &["cat-file", "--batch-all-objects", "--batch"]).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&objects).contains("green tea"), "it landed");
    assert!(!String::from_utf8_lossy(&objects).contains(key));
}

/// A key that looks like no vendor's and stands in no variable: the endpoint says it again, in a text and in a call of a tool.
#[test]
fn a_key_that_git_keeps_goes_nowhere_else_either() {
    let key = "plum-canary-0123456789abcdef";
    let endpoint = Endpoint::new(&[
        Manner::Calls("recall", json!({"query": key})),
        says(&format!("Your key is {key}.")),
        says(&MADE.replace("green tea", &format!("green tea {key}"))),
    ]);
    let sandbox = Sandbox::new();
    let helper = format!("[credential]\n\thelper = \"!f() {{ echo username=x; echo password={key}; }}; f\"\n");
    let config = sandbox.file("gitconfig", helper);
    let step =
        "key_from_git = true\n[[chain.step]]\nname = \"OL1\"\nmodel = \"small\"\nrole = \"research\"\nturns = 4\n";
    let sandbox = brain_over(&endpoint, sandbox.with("GIT_CONFIG_GLOBAL", &config), step);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let answer = sandbox.json(&["chat", "What is my key?"]);
    assert!(answer["reply"].as_str().unwrap().contains("Your key is [redacted"), "{answer}");
    assert!(!answer.to_string().contains(key), "{answer}");
    run(&sandbox).exits(0);
    let asked = endpoint.asked();
    assert!(asked.len() >= 3, "{}", asked.len());
    assert!(asked.iter().all(|asked| asked.key == format!("Bearer {key}") && !asked.body.to_string().contains(key)));
    let objects = sandbox.command("git", &["cat-file", "--batch-all-objects", "--batch"]).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&objects).contains("green tea"), "it landed");
    assert!(!String::from_utf8_lossy(&objects).contains(key));
}

#[test]
fn a_person_can_edit_the_prompt_and_must_trust_it() {
    let endpoint = Endpoint::new(&[says(MADE)]);
    let sandbox = trusted(&endpoint, "");
    let write = |text: &str| {
        std::fs::write(sandbox.dir().join("agents/scholar.prompt.md"), text).unwrap();
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "prompt"]);
    };
    write("Only ever say what {{ agent }} would.");
    run(&sandbox).exits(3);
    assert!(endpoint.asked().is_empty());
    sandbox.brain(&["trust", "--yes"]).exits(0);
    run(&sandbox).exits(0);
    assert_eq!(endpoint.asked()[0].body["messages"][0]["content"], "Only ever say what scholar would.");
    write("one\n{{ agent");
    let status = sandbox.brain(&["status"]).exits(0);
    assert!(status.out.contains("broken: agents/scholar.prompt.md, line 2"), "{status}");
}

/// A brain with a chain of three steps over three endpoints, trusted, and a folder that its tools may see.
fn chain_over(endpoints: [&Endpoint; 3]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("root/notes.txt", "Ann likes tea.\n");
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text += &format!("\n[chain]\nroots = [{:?}]\n", sandbox.path("root"));
    for (n, (name, role, turns)) in
        [("OL1", "research", 4), ("M1", "analysis", 3), ("M2", "review", 2)].into_iter().enumerate()
    {
        text += &format!("\n[[chain.step]]\nname = \"{name}\"\nmodel = \"m{n}\"\nrole = \"{role}\"\nturns = {turns}\n");
    }
    for (n, endpoint) in endpoints.into_iter().enumerate() {
        let url = endpoint.url();
        text += &format!(
            "\n[models.m{n}]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{url}\"\ntimeout_ms = 60000\n"
        );
    }
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chain"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn badges(answer: &Value) -> Vec<(String, String, u64)> {
    let nodes = answer["chain"].as_array().unwrap().iter();
    nodes
        .map(|n| {
            (n["node"].as_str().unwrap().into(), n["model"].as_str().unwrap().into(), n["turns"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn a_model_that_lists_one_folder_for_ever_stops_at_the_second_call_and_the_chain_answers() {
    let listing = Manner::Calls("list_dir", json!({"path": "."}));
    let looping = Endpoint::new(&[listing]);
    let (thinks, reviews) =
        (Endpoint::new(&[says("There is one file.")]), Endpoint::new(&[says("One file: notes.txt.")]));
    let sandbox = chain_over([&looping, &thinks, &reviews]);
    let answer = sandbox.json(&["chat", "list the files and compare them", "--mode", "reflexive"]);
    assert_eq!(answer["reply"], "One file: notes.txt.");
    let badges = badges(&answer);
    assert_eq!(badges[0].0, "OL1");
    assert!(looping.asked().len() <= 3 && badges[0].2 <= 3, "{badges:?}");
    let listed = answer["tools_used"].as_array().unwrap().iter().filter(|t| t["name"] == "list_dir").count();
    assert_eq!(listed, 1, "{answer}");
    assert_eq!(badges.last().unwrap().1, "m2");
    let shown = thinks.asked()[0].body.to_string();
    assert!(shown.contains("notes.txt"), "the next step sees what the tool gave: {shown}");
}

#[test]
fn no_step_is_asked_more_than_its_model_can_read() {
    let reads = Endpoint::new(&[
        Manner::Calls("read_file", json!({"path": "long.txt"})),
        Manner::Calls("read_file", json!({"path": "long.txt", "from_line": 100})),
        says(&(0..600).map(|n| format!("It says {n}. ")).collect::<String>()),
    ]);
    let last = Endpoint::new(&[says("A long text.")]);
    let sandbox = chain_over([&reads, &last, &last]);
    let lines: String = (0..3000).map(|n| format!("line {n} of a long text\n")).collect();
    sandbox.file("root/long.txt", lines);
    let settings = sandbox.dir().join("brain.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(settings, text.replace("timeout_ms", "context = 4000\nmax_tokens = 500\ntimeout_ms")).unwrap();
    sandbox.git(&["commit", "-qam", "small models"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["chat", "what does long.txt say?", "--mode", "reflexive"]).exits(0);
    let asked: Vec<_> = reads.asked().into_iter().chain(last.asked()).collect();
    assert!(asked.len() >= 4, "{}", asked.len());
    let mut most = 0;
    for body in asked.iter().map(|asked| &asked.body) {
        let messages = body["messages"].as_array().unwrap().iter();
        let said: usize = messages.filter_map(|message| message["content"].as_str()).map(str::len).sum();
        let tools = if body["tools"].is_null() { 0 } else { body["tools"].to_string().len() };
        assert!(said + tools <= 3500 * 4, "{} bytes", said + tools);
        most = most.max(said + tools);
    }
    assert!(most > 8000, "and it is used: {most} bytes");
}

#[test]
fn steps_that_are_offline_are_skipped_and_the_badges_say_who_answered() {
    let (works, down) =
        (Endpoint::new(&[says("Tea.")]), Endpoint::new(&[status("500 Internal Server Error", "", "{}")]));
    let sandbox = chain_over([&works, &down, &down]);
    let answer = sandbox.json(&["chat", "analyse what Ann likes", "--mode", "reflexive"]);
    assert_eq!(answer["reply"], "Tea.");
    assert_eq!(badges(&answer), [("OL1".to_owned(), "m0".to_owned(), 1)]);
    let nobody = chain_over([&down, &down, &down]);
    let said = nobody.brain(&["--json", "chat", "analyse what Ann likes", "--mode", "reflexive"]);
    assert!(said.code == 4 || said.out.contains("extractive"), "{said}");
    assert_eq!(reserved(&sandbox) + reserved(&nobody), 0);
}

#[test]
fn a_model_is_shown_what_its_stimuli_bring_to_mind() {
    let endpoint = Endpoint::new(&[says(r#"{"ops": []}"#)]);
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ann grows oolong in Taiwan."]);
    sandbox.json(&["feed", "The harbour was closed all winter."]);
    let sandbox = brain_over(&endpoint, sandbox, "");
    let definition = sandbox.brain(&["models", "small", "--define", "perception"]).exits(0).out;
    std::fs::write(sandbox.dir().join("agents/perception.json"), definition).unwrap();
    sandbox.git(&["commit", "-qam", "perception thinks"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.json(&["feed", "Who grows oolong?", "--no-run"]);
    sandbox.brain(&["run", "--agent", "perception"]).exits(0);
    let data = endpoint.asked()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(data.contains("\"Ann grows oolong in Taiwan.\""), "{data}");
}
