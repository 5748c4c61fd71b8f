//! Doors for programs without the tool protocol: `/feed`, `/recall`, `/apply` and `/outcome` of a real server, over real connections.

use crate::sandbox::Sandbox;
use crate::web::{Response, Server, TOKEN};
use serde_json::{Value, json};

/// A program that says its name.
fn by(server: &Server, client: &str, method: &str, path: &str, body: Option<&str>) -> Response {
    let token = format!("Bearer {TOKEN}");
    let mut headers = vec![("host", server.host.as_str()), ("authorization", &token), ("client", client)];
    headers.extend(body.map(|_| ("content-type", "application/json")));
    server.send(method, path, &headers, body.unwrap_or_default().as_bytes())
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn asked(question: &str, rest: &str) -> String {
    format!("/recall?question={}{rest}", encoded(question))
}

#[test]
fn a_program_feeds_recalls_proposes_and_reports_under_its_name() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    let texts = json!({"texts": ["The release branch is cut on Thursdays.", "Ann owns the installer."]});
    let kept = by(&server, "Nightly Build", "POST", "/feed", Some(&texts.to_string())).is(200).json();
    let memories: Vec<&str> = kept["memories"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((memories.len(), &kept["known"]), (2, &json!(0)), "{kept}");
    // It is in git when the answer is there, under the program's name.
    let stimuli = sandbox.documents("wake", "network/stimuli");
    let fed = stimuli.values().find(|one| one["text"] == "Ann owns the installer.").expect("it is stored");
    assert_eq!(fed["origin"], "http:nightly-build");
    assert_eq!(sandbox.neuron(memories[0])["origin"], "http:nightly-build");
    // A second time nothing is stored, whatever the order.
    let again = json!({"texts": ["Ann owns the installer.", "The release branch is cut on Thursdays."]});
    let known = by(&server, "Nightly Build", "POST", "/feed", Some(&again.to_string())).is(200).json();
    assert_eq!((&known["known"], &known["memories"]), (&json!(2), &json!([])));

    let found = by(&server, "other", "GET", &asked("Who owns the installer?", "&tokens=400"), None).is(200).json();
    let best = &found["memories"][0];
    assert_eq!((&best["text"], &best["trusted"]), (&json!("Ann owns the installer."), &json!(false)), "{found}");
    assert_eq!(best["origin"], "http:nightly-build");
    assert!(found["notice"].as_str().unwrap().contains("not instructions"));
    let cite = best["cite"].as_str().unwrap().to_owned();
    assert!(cite.starts_with(memories[1]) || cite.starts_with(memories[0]), "{cite}");

    let tip = sandbox.tip("wake");
    let delta = json!({"ops": [{"op": "create", "concept": "Installers are signed.", "type": "semantic"}]});
    let proposal = by(&server, "nightly-build", "POST", "/apply", Some(&delta.to_string())).is(200).json();
    assert_eq!(proposal["state"], "waits", "{proposal}");
    let run = proposal["run"].as_str().unwrap();
    assert!(run.ends_with("-http-nightly-build"), "{run}");
    assert_eq!(sandbox.tip("wake"), tip, "what waits is not in wake");
    assert!(sandbox.brain(&["review"]).exits(0).out.contains(run));

    // What came of a memory, and then of the run that waits.
    let came = json!({"of": cite, "text": "Ann had left the team.", "value": 0.1});
    let judged = by(&server, "nightly-build", "POST", "/outcome", Some(&came.to_string())).is(200).json();
    assert!(judged["run"].as_str().unwrap().ends_with("-http-nightly-build"), "{judged}");
    assert!(judged["expected"].is_number(), "{judged}");
    let waits = json!({"of": run, "text": "It went well."}).to_string();
    by(&server, "nightly-build", "POST", "/outcome", Some(&waits)).is(422);
    // A program that says no name has one.
    let unnamed = json!({"texts": ["The wiki moved."]});
    server.ask("POST", "/feed", Some(&unnamed)).is(200);
    let stimuli = sandbox.documents("wake", "network/stimuli");
    assert!(stimuli.values().any(|one| one["text"] == "The wiki moved." && one["origin"] == "http:client"));
    sandbox.fsck();
}

#[test]
fn a_definition_lets_a_program_land_and_settings_refuse_it() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    let definition = json!({
        "name": "http-build", "role": "The build.", "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": ["create"], "types": ["semantic"], "origins": ["http"]}
    });
    std::fs::write(sandbox.dir().join("agents/http-build.json"), definition.to_string()).unwrap();
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["commit", "--quiet", "-m", "build"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let delta = json!({"ops": [{"op": "create", "concept": "Builds are signed.", "type": "semantic"}]}).to_string();
    assert_eq!(by(&server, "build", "POST", "/apply", Some(&delta)).is(200).json()["state"], "landed");
    assert_eq!(by(&server, "other", "POST", "/apply", Some(&delta)).is(200).json()["state"], "waits");
    std::fs::write(sandbox.dir().join("brain.toml"), "[origins]\nhttp = \"refused\"\n").unwrap();
    sandbox.git(&["commit", "--quiet", "-a", "-m", "settings"]);
    let refs = sandbox.refs();
    for (path, body) in [("/feed", json!({"texts": ["Something."]}).to_string()), ("/apply", delta)] {
        let refused = by(&server, "build", "POST", path, Some(&body)).is(422).json();
        assert!(refused["error"].as_str().unwrap().contains("http"), "{refused}");
    }
    assert_eq!(sandbox.refs(), refs);
}

#[test]
fn a_long_answer_comes_in_pages_of_one_commit_within_their_budget() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    let texts: Vec<String> =
        (0..30).map(|n| format!("Gate {n} of the tea garden opens at {n} minutes past nine.")).collect();
    server.ask("POST", "/feed", Some(&json!({ "texts": texts }))).is(200);
    let (mut path, mut seen) = (asked("tea garden gate", "&tokens=300"), Vec::new());
    loop {
        let page = server.ask("GET", &path, None).is(200);
        assert!(page.body.len().div_ceil(4) <= 300, "{}", page.body.len());
        let page = page.json();
        seen.extend(page["memories"].as_array().unwrap().iter().map(|one| one["cite"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        // What is said meanwhile shifts no page.
        server.ask("POST", "/feed", Some(&json!({"texts": [format!("Gate {} of the tea garden.", seen.len() + 100)]})));
        path = asked("tea garden gate", &format!("&tokens=300&cursor={next}"));
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), all), (30, 30));
    assert!(seen.iter().all(|cite| cite.split('@').nth(1) == seen[0].split('@').nth(1)), "one commit");
}

#[test]
fn wrong_requests_of_programs_name_their_place_and_change_nothing() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    server.ask("POST", "/feed", Some(&json!({"texts": ["Ann owns the installer."]}))).is(200);
    let refs = sandbox.refs();
    let many = json!({"texts": vec!["x"; 101]}).to_string();
    let large = json!({"texts": ["x".repeat(257 << 10)]}).to_string();
    let huge = json!({"texts": ["x".repeat(2 << 20)]}).to_string();
    for (path, body, status, place) in [
        ("/feed", "", 400, "the body"),
        ("/feed", "[\"a\"]", 400, "the body"),
        ("/feed", "{\n \"texts\": \"a\"}", 400, "line 2"),
        ("/feed", "{\"texts\": []}", 400, "no text"),
        ("/feed", "{\"texts\": [\"  \"]}", 400, "no text"),
        ("/feed", "{\"texts\": [\"a\"], \"origin\": \"local\"}", 400, "origin"),
        ("/feed", &many, 400, "100 texts"),
        ("/feed", &large, 400, "262144"),
        ("/feed", &huge, 413, "bytes"),
        ("/apply", "{\"ops\": []}", 400, "no operations"),
        ("/apply", "nonsense", 400, "line 1"),
        ("/apply", "{\n\"ops\": [\n{\"op\": \"create\", \"colour\": 1}]}", 400, "line 3"),
        (
            "/apply",
            "{\"agent\": \"human\", \"ops\": [{\"op\": \"archive\", \"id\": \"x\", \"reason\": \"y\"}]}",
            422,
            "human",
        ),
        (
            "/apply",
            "{\n\"ops\": [\n{\"op\": \"adjust\", \"from\": \"no-such\", \"to\": \"none\", \"type\": \"feeds_into\", \"by\": 1}]}",
            422,
            "no-such",
        ),
        ("/outcome", "{\"of\": \"nothing-here\", \"text\": \"x\"}", 404, "nothing-here"),
        (
            "/outcome",
            "{\"of\": \"20200101t143200123z-abcd2345-decision\", \"text\": \"x\"}",
            404,
            "20200101t143200123z",
        ),
        ("/outcome", "{\"of\": \"no id\", \"text\": \"x\"}", 404, "no id"),
        ("/outcome", "{\"of\": \"n_core_memory\", \"text\": \"\"}", 400, "text"),
        ("/outcome", "{\"of\": \"n_core_memory\", \"text\": \"x\", \"value\": 2}", 400, "between 0 and 1"),
        ("/outcome", "{\"text\": \"x\"}", 400, "of"),
    ] {
        let answer = by(&server, "build", "POST", path, Some(body)).is(status).json();
        assert!(answer["error"].as_str().unwrap().contains(place), "{path} {}: {answer}", &body[..body.len().min(80)]);
    }
    for (query, place) in [
        ("", "question"),
        ("?question=a&question=b", "question"),
        ("?question=a&tokens=10", "between 150 and 20000"),
        ("?question=a&tokens=many", "tokens"),
        ("?question=a&colour=red", "colour"),
        ("?question=a&since=nonsense", "since"),
        ("?question=a&cursor=x", "cursor"),
    ] {
        let answer = server.ask("GET", &format!("/recall{query}"), None).is(400).json();
        assert!(answer["error"].as_str().unwrap().contains(place), "{query}: {answer}");
    }
    for path in ["/feed", "/apply", "/outcome"] {
        server.ask("GET", path, None).is(405);
        server.send("POST", path, &[("host", &server.host), ("content-type", "application/json")], b"{}").is(401);
    }
    server.send("GET", "/recall?question=a", &[("host", &server.host)], b"").is(401);
    let (token, host) = (format!("Bearer {TOKEN}"), server.host.as_str());
    let twice = [("host", host), ("authorization", &token), ("client", "a"), ("client", "b")];
    server.send("GET", "/recall?question=a", &twice, b"").is(400);
    assert_eq!(sandbox.refs(), refs);
}

#[test]
fn ten_programs_at_once_lose_nothing_and_secrets_stay_out() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    std::thread::scope(|scope| {
        for program in 0..10 {
            let server = &server;
            scope.spawn(move || {
                for n in 0..5 {
                    let texts = json!({"texts": [format!("Program {program} measured value {n}.")]}).to_string();
                    by(server, &format!("p{program}"), "POST", "/feed", Some(&texts)).is(200);
                }
            });
        }
    });
    let stimuli = sandbox.documents("wake", "network/stimuli");
    assert_eq!(stimuli.values().filter(|one| one["origin"].as_str().unwrap().starts_with("http:p")).count(), 50);
    let secret = format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let texts = json!({"texts": [format!("The token of the build is {secret} today.")]}).to_string();
    let kept = by(&server, "p0", "POST", "/feed", Some(&texts)).is(200);
    assert!(!kept.body.contains(&secret));
    assert!(!sandbox.documents("wake", "network/stimuli").values().any(|one| one.to_string().contains(&secret)));
    sandbox.fsck();
}

#[test]
fn the_description_holds_for_every_door() {
    let sandbox = Sandbox::new();
    let server = Server::start(&sandbox);
    let document = server.ask("GET", "/openapi.json", None).is(200).json();
    let holds = |schema: &Value, instance: &Value| {
        assert!(schema.is_object(), "nothing is described");
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&whole).expect("a schema");
        let faults: Vec<String> = validator.iter_errors(instance).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?} in {instance}");
    };
    let of = |path: &str, method: &str| document["paths"][path][method].clone();
    let kind = "/content/application~1json/schema";
    let answer = |operation: &Value, status: u16| operation["responses"][status.to_string()].pointer(kind).cloned();
    let texts = json!({"texts": ["Ann owns the installer."]});
    let delta = json!({"ops": [{"op": "create", "concept": "Installers are signed.", "type": "semantic"}]});
    let fed = server.ask("POST", "/feed", Some(&texts)).is(200).json();
    let came = json!({"of": fed["memories"][0], "text": "Right.", "value": 1.0});
    for (path, body) in [("/feed", texts), ("/apply", delta), ("/outcome", came)] {
        let operation = of(path, "post");
        holds(operation["requestBody"].pointer(kind).unwrap(), &body);
        holds(&answer(&operation, 200).unwrap(), &server.ask("POST", path, Some(&body)).is(200).json());
        holds(&answer(&operation, 400).unwrap(), &server.ask("POST", path, Some(&json!({"x": 1}))).is(400).json());
    }
    let operation = of("/recall", "get");
    holds(&answer(&operation, 200).unwrap(), &server.ask("GET", "/recall?question=installer", None).is(200).json());
    let parameters: Vec<(&str, bool)> = operation["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["required"] == true))
        .collect();
    for expected in [
        ("Client", false),
        ("question", true),
        ("tokens", false),
        ("since", false),
        ("until", false),
        ("cursor", false),
    ] {
        assert!(parameters.contains(&expected), "{parameters:?}");
    }
    assert!(of("/mcp", "post").is_object() && of("/mcp", "get").is_object());
}
