//! `git brain serve` from end to end: a real server, real connections, real models of a scripted endpoint.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::endpoint::{self, Endpoint, Manner};
use crate::sandbox::{NOW, Sandbox};
use crate::web::{Server, TOKEN};
use serde_json::{Value, json};

const EVENTS: &str = "text/event-stream";

fn fed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "It rained all week. Ann moved to Oslo in May."]);
    sandbox
}

/// A brain whose chain asks an endpoint, and whose tools see a folder.
fn with_models(endpoint: &Endpoint, steps: &str) -> Sandbox {
    let sandbox = fed();
    sandbox.file("root/notes.txt", "Ann likes tea.\n");
    let settings = format!(
        "[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = {:?}\nretries = 0\nprice_in = 1000000\nprice_out = 2000000\n\
         [chain]\nroots = [{:?}]\n{steps}",
        endpoint.url(),
        sandbox.path("root")
    );
    std::fs::write(sandbox.dir().join("brain.toml"), settings).unwrap();
    sandbox.git(&["commit", "--quiet", "-a", "-m", "settings"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

const ONE: &str = "[[chain.step]]\nname = \"OL1\"\nmodel = \"small\"\nrole = \"research\"\nturns = 4\n";
const TWO: &str = "[[chain.step]]\nname = \"OL1\"\nmodel = \"small\"\nrole = \"research\"\nturns = 4\n[[chain.step]]\nname = \"M1\"\nmodel = \"small\"\nrole = \"review\"\nturns = 2\n";

fn says(text: &str) -> Manner {
    Manner::Says(text.to_owned())
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn a_message_is_answered_with_exactly_the_document_and_remembered() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let ask = |message: &str| {
        server.ask("POST", "/chat", Some(&json!({"message": message, "conversation": "c1", "mode": "reflexive"})))
    };
    let answer = ask("When did Ann move to Oslo?").is(200);
    assert_eq!(answer.header("conversation"), Some("c1"));
    let document = answer.json();
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["reply", "mode", "turns", "chain", "tools_used"]);
    for node in document["chain"].as_array().unwrap() {
        let keys: Vec<&String> = node.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["node", "model", "turns", "tools_used", "duration_ms"]);
        for tool in node["tools_used"].as_array().unwrap() {
            let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["name", "args", "result"]);
        }
    }
    assert_eq!(document["chain"].as_array().unwrap().len(), 3);
    assert!(document["reply"].as_str().unwrap().contains("Ann moved to Oslo in May. [1]"), "{document}");
    // What it cites stands in a header, and leads to the neuron and its commits.
    let link = answer.header("link").unwrap();
    let path = link.split(['<', '>']).nth(1).unwrap();
    let neuron = server.ask("GET", path, None).is(200).json();
    assert_eq!(neuron["neuron"]["concept"], "It rained all week. Ann moved to Oslo in May.");
    assert!(neuron["path"].as_str().unwrap().starts_with("network/neurons/"));
    assert!(neuron["concepts"].as_object().unwrap().values().any(|concept| concept == "oslo"), "{neuron}");
    let touch = &neuron["history"].as_array().unwrap().last().unwrap();
    assert_eq!(touch["author"], "perception");
    let commit = server.ask("GET", &format!("/commits/{}", touch["commit"].as_str().unwrap()), None).is(200).json();
    assert!(commit["changes"].to_string().contains("Ann moved to Oslo"), "{commit}");
    assert!(commit["message"].as_str().unwrap().contains("Run: "), "{commit}");
    // Both sides are remembered, as said by somebody who came by HTTP: tainted.
    let said = server.ask("GET", "/conversations/c1", None).is(200).json();
    let turns: Vec<&str> = said["turns"].as_array().unwrap().iter().filter_map(|turn| turn["who"].as_str()).collect();
    assert_eq!(turns, ["person", "brain"]);
    let asked = said["turns"][0]["id"].as_str().unwrap();
    assert_eq!(sandbox.neuron(asked)["origin"], "http");
    assert_eq!(said["turns"][1]["text"], document["reply"]);
    // The conversation goes on.
    ask("And who likes tea?").is(200);
    assert_eq!(server.ask("GET", "/conversations/c1", None).json()["turns"].as_array().unwrap().len(), 4);
    // A new one has a name of its own.
    let other = server.ask("POST", "/chat", Some(&json!({"message": "Oslo?"}))).is(200);
    assert!(other.header("conversation").unwrap().starts_with("c-"));
    assert_eq!(other.json()["mode"], "simple");
    assert_eq!(other.json()["chain"].as_array().unwrap().len(), 1, "in simple mode, the one node that answered");
    sandbox.fsck();
}

/// The threat is a page of another site in the browser of who runs this. Every combination of what it can send, over the wire.
#[test]
fn sixty_combinations_of_headers_are_refused_and_change_nothing() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let before = sandbox.refs();
    let port = server.host.rsplit(':').next().unwrap().to_owned();
    let ours = format!("http://{}", server.host);
    let localhost = format!("localhost:{port}");
    let rebound = format!("evil.example:{port}");
    let hosts = [server.host.as_str(), &localhost, &rebound, "127.0.0.1"];
    let origins = [None, Some(ours.as_str()), Some("http://evil.example"), Some("null"), Some("https://127.0.0.1")];
    let bearer = format!("Bearer {TOKEN}");
    let tokens = [None, Some("Bearer wrong"), Some(bearer.as_str())];
    let body = br#"{"message": "Ann moved back to Bergen.", "surplus": 1}"#;
    let (mut refused, mut let_in) = (0, 0);
    for host in hosts {
        for origin in origins {
            for token in tokens {
                let mut headers = vec![("host", host), ("content-type", "application/json")];
                headers.extend(origin.map(|origin| ("origin", origin)));
                headers.extend(token.map(|token| ("authorization", token)));
                let good_place =
                    (host == server.host || host == localhost) && (origin.is_none() || origin == Some(&ours));
                // Who is let in has a field too many, so that nothing is said in this test.
                let expected = match (good_place, token == Some(&bearer)) {
                    (false, _) => 403,
                    (true, false) => 401,
                    (true, true) => 400,
                };
                let answer = server.send("POST", "/chat", &headers, body).is(expected);
                assert_eq!(answer.header("access-control-allow-origin"), None);
                assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
                if expected == 400 { let_in += 1 } else { refused += 1 }
            }
        }
    }
    assert_eq!((refused, let_in), (56, 4));
    // A form of another site cannot say that it is JSON.
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let headers = [("host", server.host.as_str()), ("authorization", &bearer), ("content-type", kind)];
        server.send("POST", "/chat", &headers, br#"{"message": "x"}"#).is(415);
    }
    server.send("OPTIONS", "/chat", &[("host", &server.host), ("origin", "http://evil.example")], b"").is(403);
    assert_eq!(sandbox.refs(), before);
}

#[test]
fn what_needs_no_token_holds_no_data() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let get = |path: &str| server.send("GET", path, &[("host", &server.host)], b"");
    let alive = get("/healthz").is(200).json();
    assert_eq!(alive["status"], "ok");
    let page = get("/").is(200);
    let policy = page.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(!page.body.contains("Oslo") && !page.body.contains(TOKEN), "{page:?}");
    let mut files = 0;
    for path in page.body.split('"').filter(|part| part.starts_with("/assets/")) {
        let kind = get(path).is(200).header("content-type").unwrap().to_owned();
        let expected = match path.rsplit('.').next() {
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            _ => "text/javascript",
        };
        assert!(kind.starts_with(expected), "{path}: {kind}");
        files += 1;
    }
    assert!(files >= 2);
    get("/assets/../Cargo.toml").is(404);
    get("/assets/%2e%2e%2fmod.rs").is(404);
    for path in ["/neurons/perception", "/conversations/c1", "/commits/wake", "/confirm", "/nowhere", "/chat"] {
        get(path).is(401);
    }
    assert_eq!(server.ask("GET", "/nowhere", None).is(404).json()["code"], 2);
    assert_eq!(server.ask("GET", "/chat", None).is(405).json()["code"], 2);
    server.ask("GET", "/neurons/no-such-neuron", None).is(404);
    server.ask("GET", "/neurons/..%2f..", None).is(400);
    server.ask("GET", "/neurons/perception?at=no-such-commit", None).is(400);
    server.ask("GET", "/commits/no-such-commit", None).is(400);
    server.ask("GET", "/commits/00000000", None).is(404);
    server.ask("GET", "/conversations/%0a", None).is(400);
}

#[test]
fn bad_bodies_are_refused_by_their_place_and_nothing_is_remembered() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let before = sandbox.refs();
    let token = format!("Bearer {TOKEN}");
    let headers = [("host", server.host.as_str()), ("authorization", &token), ("content-type", "application/json")];
    let deep = format!("{{\"message\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let long = json!({"message": "x".repeat((64 << 10) + 1)}).to_string();
    let large = json!({"message": "x".repeat(2 << 20)}).to_string();
    for (body, status, place) in [
        ("", 400, "the body"),
        ("{", 400, "the body"),
        ("[]", 400, "the body"),
        ("{\n\"message\": 1}", 400, "line 2"),
        ("{\"message\": \"a\", \"message\": \"b\"}", 400, "message"),
        ("{\"message\": \"a\", \"dry_run\": true}", 400, "dry_run"),
        ("{\"message\": \"a\", \"mode\": \"other\"}", 400, "mode"),
        (&deep, 400, "deep"),
        ("{\"message\": \"  \"}", 400, "empty"),
        ("{\"message\": \"a\", \"conversation\": \"a\\nb\"}", 400, "conversation"),
        (&long, 422, "65537"),
        (&large, 413, "bytes"),
    ] {
        let answer = server.send("POST", "/chat", &headers, body.as_bytes()).is(status);
        assert!(answer.json()["error"].as_str().unwrap().contains(place), "{answer:?}");
    }
    server.send("POST", "/chat", &headers, b"{\"message\": \"\xff\"}").is(400);
    server.send("POST", "/confirm", &headers, b"{\"id\": \"abc\", \"allowed\": false}").is(400);
    server.send("POST", "/confirm", &headers, b"{\"id\": \"abc\"}").is(404);
    assert_eq!(sandbox.refs(), before);
}

#[test]
fn what_happens_comes_as_it_happens() {
    let endpoint = Endpoint::new(&[
        Manner::Calls("recall", json!({"query": "Ann"})),
        says("Ann moved in May [1]."),
        says("She moved to Oslo in May [1]."),
    ]);
    let sandbox = with_models(&endpoint, TWO);
    let server = Server::start(&sandbox);
    let body = json!({"message": "Where is Ann?", "mode": "reflexive", "conversation": "c1"});
    let answer = server.ask_accepting(EVENTS, "POST", "/chat", Some(&body)).is(200);
    assert!(answer.header("content-type").unwrap().starts_with(EVENTS));
    let events = answer.events();
    let mut kinds = names(&events);
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "begins",
            "step_begins",
            "tool_called",
            "tool_gave",
            "text",
            "step_ends",
            "step_begins",
            "text",
            "step_ends",
            "answered",
            "remembered"
        ]
    );
    let of = |name: &str| events.iter().filter(|(kind, _)| kind == name).map(|(_, data)| data).collect::<Vec<_>>();
    assert!(events.iter().all(|(name, data)| data["event"] == **name));
    let streamed: String =
        of("text").iter().filter(|text| text["node"] == "M1").filter_map(|text| text["text"].as_str()).collect();
    let answered = &of("answered")[0]["answer"];
    assert_eq!((answered["reply"].as_str(), answered["conversation"].as_str()), (Some(streamed.as_str()), Some("c1")));
    assert_eq!(answered["citations"][0]["n"], 1);
    // 2 calls of 100 tokens in and 20 out, at 1 and 2 millionths a token.
    assert_eq!(
        (of("step_ends")[0]["usage"]["input"].as_u64(), of("step_ends")[0]["cost"].as_u64()),
        (Some(200), Some(280))
    );
    assert!(of("remembered")[0]["notes"].is_array());
}

#[test]
fn failures_are_told_in_both_ways() {
    let endpoint = Endpoint::new(&[endpoint::status("500 Internal Server Error", "", "{}")]);
    let sandbox = with_models(&endpoint, ONE);
    let server = Server::start(&sandbox);
    let body = json!({"message": "Quiddity zymurgy?"});
    let whole = server.ask("POST", "/chat", Some(&body)).is(502).json();
    assert_eq!(whole["code"], 4);
    let events = server.ask_accepting(EVENTS, "POST", "/chat", Some(&body)).is(200).events();
    let (name, data) = events.last().unwrap();
    assert_eq!((name.as_str(), data["code"].as_u64()), ("failed", Some(4)), "{events:?}");
    assert_eq!(names(&events)[..2], ["begins", "step_begins"]);
}

#[test]
fn what_would_change_something_waits_for_a_person() {
    let write = |name: &str| Manner::Calls("write_file", json!({"path": name, "content": "tea\n"}));
    let endpoint = Endpoint::new(&[write("yes.txt"), says("Written."), write("no.txt"), says("Not written.")]);
    let sandbox = with_models(&endpoint, ONE);
    let server = Server::start(&sandbox);
    for (file, allow) in [("yes.txt", true), ("no.txt", false)] {
        let body = json!({"message": format!("Write {file}"), "mode": "simple"});
        let mut reader = BufReader::new(server.say(EVENTS, &body));
        let (mut line, mut asked) = (String::new(), None);
        while reader.read_line(&mut line).unwrap() > 0 {
            if asked.is_none() && line.contains("\"needs_confirm\"") {
                let data: Value = serde_json::from_str(line.trim().strip_prefix("data:").unwrap()).unwrap();
                assert_eq!((data["name"].as_str(), data["args"]["path"].as_str()), (Some("write_file"), Some(file)));
                let waiting = server.ask("GET", "/confirm", None).is(200).json();
                assert_eq!(waiting["waiting"][0]["id"], data["id"], "{waiting}");
                assert!(!sandbox.beside("root").join(file).exists(), "written before it was allowed");
                let said = json!({"id": data["id"], "allow": allow});
                assert_eq!(server.ask("POST", "/confirm", Some(&said)).is(200).json()["allowed"], allow);
                server.ask("POST", "/confirm", Some(&said)).is(404);
                asked = Some(data);
            }
            line.clear();
        }
        assert!(asked.is_some(), "nobody was asked");
        assert_eq!(sandbox.beside("root").join(file).exists(), allow);
    }
    assert_eq!(server.ask("GET", "/confirm", None).json()["waiting"], json!([]));
}

#[test]
fn exec_reads_nothing_outside_the_folders() {
    let exec = |argv: Value| Manner::Calls("exec", json!({ "argv": argv }));
    let endpoint = Endpoint::new(&[says("Done.")]);
    let sandbox = with_models(&endpoint, ONE);
    let [key, tool, notes] = ["home/.ssh/id", "home/tools/run", "root/notes.txt"].map(|name| sandbox.path(name));
    sandbox.file("home/.ssh/id", "canary-of-ssh");
    sandbox.file("home/tools/run", "#!/bin/sh\necho canary-of-a-tool\n");
    sandbox.file("root/.git/config", "canary-of-git");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&tool, sandbox.beside("root/link")).unwrap();
    let link = sandbox.path("root/link");
    let script = format!("cat '{key}'; echo x > '{key}'; cat '{}'; echo tried", sandbox.path("root/.git/config"));
    let tries = [
        (json!(["cat", key]), "ended with"),
        (json!(["head", "-c", "9", key]), "ended with"),
        (json!(["sh", "-c", script]), "tried"),
        (json!([tool]), "neither in PATH"),
        (json!([link]), "neither in PATH"),
        (json!(["cat", notes]), "Ann likes tea."),
    ];
    let namespaces = sandbox.brain(&["doctor", "--dry-run"]).out.contains("by namespaces");
    let server = Server::start(&sandbox);
    for (argv, expected) in tries {
        endpoint.behaves(&[exec(argv.clone()), says("Done.")]);
        let mut reader =
            BufReader::new(server.say(EVENTS, &json!({"message": format!("Run {argv}"), "mode": "simple"})));
        let (mut line, mut gave) = (String::new(), String::new());
        while reader.read_line(&mut line).unwrap() > 0 {
            if line.contains("\"needs_confirm\"") {
                let data: Value = serde_json::from_str(line.trim().strip_prefix("data:").unwrap()).unwrap();
                server.ask("POST", "/confirm", Some(&json!({"id": data["id"], "allow": true}))).is(200);
            }
            if line.contains("\"tool_gave\"") {
                gave.push_str(&line);
            }
            line.clear();
        }
        assert!(gave.contains(expected), "{argv}: {gave}");
        let canary = if namespaces { gave.contains("canary") } else { gave.contains("canary-of-ssh") };
        assert!(!canary, "{argv}: {gave}");
    }
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "canary-of-ssh");
}

/// Nobody listens any more, so a model that is silent is left, and no other asked; what was said is remembered. As it comes, and whole.
#[test]
fn a_model_is_not_asked_on_for_who_has_gone() {
    for accept in [EVENTS, "*/*"] {
        let endpoint = Endpoint::new(&[Manner::Hangs]);
        let sandbox = with_models(&endpoint, TWO);
        let server = Server::start(&sandbox);
        let body = json!({"message": "Ann likes coffee now.", "mode": "reflexive", "conversation": "gone"});
        let stream = server.say(accept, &body);
        while endpoint.asked().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(stream);
        assert!(endpoint.is_left());
        let stimuli = sandbox.documents("wake", "network/stimuli");
        assert!(stimuli.values().any(|stimulus| stimulus["text"] == "Ann likes coffee now."));
        assert!(endpoint.asked().is_empty(), "another model was asked for nobody");
        assert_eq!(server.stop("-TERM"), 0);
        sandbox.fsck();
    }
}

#[test]
fn a_token_is_made_and_printed_where_none_is_given() {
    let sandbox = fed();
    let server = Server::start_with(&sandbox, &[], &["serve", "--addr", "localhost:0"]);
    let token = server.printed.split("#token=").nth(1).expect("the address has the token").to_owned();
    assert_eq!(token.len(), 32);
    assert!(server.printed.starts_with("http://127.0.0.1:"), "{}", server.printed);
    let ask = |token: &str| {
        let bearer = format!("Bearer {token}");
        server.send("GET", "/confirm", &[("host", &server.host), ("authorization", &bearer)], b"").status
    };
    assert_eq!((ask(&token), ask(TOKEN), ask("")), (200, 401, 401));
    let other = Server::start_with(&sandbox, &[("BRAIN_SEED", "s")], &["--json", "serve", "--addr", "127.0.0.1:0"]);
    let said: Value = serde_json::from_str(&other.printed).unwrap();
    assert!(!said["page"].as_str().unwrap().contains(&token), "another server has another token");
    let third = Server::start_with(&sandbox, &[("BRAIN_SEED", "s")], &["--json", "serve", "--addr", "127.0.0.1:0"]);
    let token_of = |printed: &str| printed.split("#token=").nth(1).unwrap()[..32].to_owned();
    assert_ne!(token_of(&other.printed), token_of(&third.printed), "a secret is not made of the seed");
    // Where a token is given, it is not printed.
    assert!(!Server::start(&sandbox).printed.contains(TOKEN));
}

#[test]
fn other_machines_are_not_let_near() {
    let sandbox = fed();
    for (addr, code) in [("0.0.0.0:0", 3), ("[::]:0", 3), ("8.8.8.8:80", 3), ("nonsense", 2), ("127.0.0.1", 2)] {
        sandbox.brain(&["--json", "serve", "--addr", addr]).exits(code).error();
    }
    let server = Server::start(&sandbox);
    let taken = sandbox.brain(&["serve", "--addr", &server.host]).exits(2);
    assert!(taken.err.contains("cannot listen at"), "{taken}");
    Sandbox::empty().brain(&["serve"]).exits(2);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let sandbox = fed();
    assert_eq!(Server::start(&sandbox).stop("-INT"), 130);
    assert_eq!(Server::start(&sandbox).stop("-TERM"), 0);
    // Also with a connection open that says nothing.
    let server = Server::start(&sandbox);
    let _silent = std::net::TcpStream::connect(&server.host).unwrap();
    assert_eq!(server.stop("-TERM"), 0);
}

#[test]
fn several_talk_at_once_and_nothing_is_lost() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    std::thread::scope(|scope| {
        for n in 0..6 {
            let server = &server;
            scope.spawn(move || {
                let body = json!({"message": format!("Fact number {n} is green."), "conversation": format!("c{n}")});
                server.ask("POST", "/chat", Some(&body)).is(200);
            });
        }
    });
    for n in 0..6 {
        let said = server.ask("GET", &format!("/conversations/c{n}"), None).is(200).json();
        assert_eq!(said["turns"].as_array().map(Vec::len), Some(2), "{said}");
    }
    sandbox.fsck();
}

#[test]
fn more_than_can_be_answered_are_asked_to_come_back() {
    let endpoint = Endpoint::new(&[Manner::Hangs]);
    let sandbox = with_models(&endpoint, ONE);
    let server = Server::start(&sandbox);
    let body = json!({"message": "Where is Ann?"});
    let mut open: Vec<BufReader<std::net::TcpStream>> = Vec::new();
    for _ in 0..8 {
        let stream = server.say(EVENTS, &body);
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        open.push(reader);
    }
    let answer = server.ask("POST", "/chat", Some(&json!({"message": "And Bob?"}))).is(429);
    assert!(answer.header("retry-after").is_some());
    // Everything else is still answered.
    server.ask("GET", "/confirm", None).is(200);
}

#[test]
fn a_question_of_a_deliberation_is_answered_where_it_is_seen() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    assert_eq!(server.ask("GET", "/handoffs", None).is(200).json()["handoffs"], json!([]));
    let folder = sandbox.dir().join(".git/git-brain/handoffs");
    std::fs::create_dir_all(&folder).unwrap();
    let question =
        json!({"id": "h-1", "role": "aligner", "goal": "recall", "tree": "tea-1", "about": {"x": "<b>"}, "schema": {}});
    std::fs::write(folder.join("h-1.json"), question.to_string()).unwrap();
    assert_eq!(server.ask("GET", "/handoffs", None).is(200).json()["handoffs"], json!([question]));
    let answer = json!({"score": 2, "reason": "it fits"});
    server.ask("POST", "/handoffs", Some(&json!({"id": "h-1", "answer": answer}))).is(200);
    let told: Value = serde_json::from_slice(&std::fs::read(folder.join("h-1.answer.json")).unwrap()).unwrap();
    assert_eq!(told, answer);
    for id in ["h-2", "../h-1", "h-1.answer", ""] {
        server.ask("POST", "/handoffs", Some(&json!({"id": id, "answer": answer}))).is(404);
    }
    server.ask("POST", "/handoffs", Some(&json!({"id": "h-1"}))).is(400);
    server.send("GET", "/handoffs", &[("host", &server.host)], b"").is(401);
}

#[test]
fn its_description_describes_what_it_does() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let document = server.ask("GET", "/openapi.json", None).is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    // A schema of the document as a schema by itself: with the definitions that it refers to.
    let holds = |schema: &Value, instance: &Value| {
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&whole).expect("a schema");
        let faults: Vec<String> =
            validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:?} in {instance}");
    };
    let answer_of = |path: &str, method: &str, status: &str, kind: &str| -> Value {
        let answer = &document["paths"][path][method]["responses"][status]["content"][kind]["schema"];
        assert!(answer.is_object(), "{path} {method} {status} is not described");
        answer.clone()
    };
    let json_kind = "application/json";
    let request = json!({"message": "When did Ann move?", "conversation": "c1", "mode": "reflexive"});
    holds(&document["paths"]["/chat"]["post"]["requestBody"]["content"][json_kind]["schema"], &request);
    let answer = server.ask("POST", "/chat", Some(&request)).is(200);
    holds(&answer_of("/chat", "post", "200", json_kind), &answer.json());
    let link = answer.header("link").unwrap().split(['<', '>']).nth(1).unwrap().to_owned();
    let neuron = server.ask("GET", &link, None).is(200).json();
    holds(&answer_of("/neurons/{id}", "get", "200", json_kind), &neuron);
    let commit = server.ask("GET", &format!("/commits/{}", sandbox.tip("wake")), None).is(200).json();
    holds(&answer_of("/commits/{id}", "get", "200", json_kind), &commit);
    let said = server.ask("GET", "/conversations/c1", None).is(200).json();
    holds(&answer_of("/conversations/{name}", "get", "200", json_kind), &said);
    holds(&answer_of("/confirm", "get", "200", json_kind), &server.ask("GET", "/confirm", None).json());
    holds(&answer_of("/healthz", "get", "200", json_kind), &server.ask("GET", "/healthz", None).json());
    let refused = server.send("GET", "/confirm", &[("host", &server.host)], b"").is(401).json();
    holds(&answer_of("/confirm", "get", "401", json_kind), &refused);
    // Every event but the last, which has a name of its own.
    let event = answer_of("/chat", "post", "200", EVENTS);
    let events = server.ask_accepting(EVENTS, "POST", "/chat", Some(&request)).is(200).events();
    assert_eq!(events.last().map(|(name, _)| name.as_str()), Some("remembered"));
    events.iter().rev().skip(1).for_each(|(_, data)| holds(&json!({"anyOf": event["anyOf"]}), data));
}

#[test]
fn a_brain_under_a_fixed_clock_is_served_as_well() {
    let sandbox = Sandbox::fixed(NOW, "serve");
    sandbox.json(&["feed", "Ann moved to Oslo in May."]);
    let server = Server::start(&sandbox);
    let answer = server.ask("POST", "/chat", Some(&json!({"message": "When did Ann move to Oslo?"}))).is(200).json();
    assert_eq!(answer["chain"][0]["duration_ms"], 0);
}

/// Whoever can connect needs no token for half a request: none of them keeps others out.
#[test]
fn half_requests_keep_nobody_out() {
    let sandbox = fed();
    let server = Server::start_with_files(&sandbox, 128);
    let half = || {
        let mut stream = TcpStream::connect(&server.host).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: ").unwrap();
        stream
    };
    let mut silent: Vec<TcpStream> = (0..140).map(|_| half()).collect();
    for _ in 0..3 {
        assert_eq!(server.ask("GET", "/healthz", None).is(200).json()["status"], "ok");
        let answer = server.ask("POST", "/chat", Some(&json!({"message": "When did Ann move to Oslo?"}))).is(200);
        assert!(answer.json()["reply"].as_str().unwrap().contains("Oslo"));
        silent.extend((0..40).map(|_| half()));
    }
    // Those that gave way were closed, and so is one that is silent for too long, though nobody needs its place.
    let closed = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        !matches!(stream.read(&mut [0; 1024]), Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    };
    assert!(closed(&mut silent[0]));
    assert!(closed(silent.last_mut().unwrap()), "a head has to come within a time");
}

/// Nor do half bodies, of who has a token.
#[test]
fn half_bodies_keep_nobody_out() {
    let sandbox = fed();
    let server = Server::start_with_files(&sandbox, 128);
    let token = format!("Bearer {TOKEN}");
    let half = || {
        let mut stream = TcpStream::connect(&server.host).unwrap();
        let head = format!(
            "POST /chat HTTP/1.1\r\nhost: {}\r\nauthorization: {token}\r\ncontent-type: application/json\r\n\
             content-length: 100\r\n\r\n{{",
            server.host
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut slow: Vec<TcpStream> = (0..140).map(|_| half()).collect();
    for _ in 0..3 {
        let asked = std::time::Instant::now();
        server.ask("GET", "/healthz", None).is(200);
        assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
        slow.extend((0..40).map(|_| half()));
    }
    let answer = server.ask("POST", "/chat", Some(&json!({"message": "When did Ann move to Oslo?"}))).is(200);
    assert!(answer.json()["reply"].as_str().unwrap().contains("Oslo"));
}

/// Beyond the bound, and while all that are open are being answered, a new connection waits; it is not refused.
#[test]
fn a_connection_that_is_answered_does_not_give_way() {
    let endpoint = Endpoint::new(&[Manner::Streams("again ".into())]);
    let sandbox = with_models(&endpoint, ONE);
    let server = Server::start_with_files(&sandbox, 128);
    let lines = BufReader::new(server.say(EVENTS, &json!({"message": "Where is Ann?"}))).lines().map_while(Result::ok);
    let mut events = lines.filter(|line| line.starts_with("event: "));
    assert!(events.any(|event| event == "event: text"));
    let silent: Vec<TcpStream> = (0..140).map(|_| TcpStream::connect(&server.host).unwrap()).collect();
    server.ask("GET", "/healthz", None).is(200);
    endpoint.behaves(&[says("Ann moved in May.")]);
    let last = events.last();
    assert!(matches!(last.as_deref(), Some("event: remembered" | "event: failed")), "{last:?} is no end");
    drop(silent);
}

/// A commit is asked for by its id. What else git takes for a revision may walk all of the history.
#[test]
fn a_commit_is_named_by_its_id_alone() {
    let sandbox = fed();
    let tip = sandbox.tip("wake");
    sandbox.git(&["update-ref", "refs/heads/abcd", &tip]);
    let server = Server::start(&sandbox);
    server.ask("GET", &format!("/commits/{tip}"), None).is(200);
    server.ask("GET", &format!("/commits/{}", tip[..10].to_ascii_uppercase()), None).is(200);
    server.ask("GET", &format!("/neurons/perception?at={}", &tip[..10]), None);
    let long = "a".repeat(41);
    for name in [
        ":%2Fmerge",
        "%3A%2F.*",
        "wake",
        "HEAD",
        "wake~1",
        "@",
        "main%5E%7B%2Fx%7D",
        "wake..main",
        "abc",
        &long,
        "%00%00%00%00",
    ] {
        server.ask("GET", &format!("/commits/{name}"), None).is(400);
        server.ask("GET", &format!("/neurons/perception?at={name}"), None).is(400);
    }
    // A branch of such a name is none.
    server.ask("GET", "/commits/abcd", None).is(404);
}

#[test]
fn an_address_that_cannot_be_read_is_refused_by_a_document() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    for place in [
        "/neurons/perception?at=wake&at=main",
        "/neurons/perception?since=1",
        "/neurons/%ff",
        "/commits/%ff",
        "/conversations/%ff",
        "/assets/%ff",
    ] {
        let answer = server.ask("GET", place, None).is(400);
        assert_eq!(answer.json()["code"], 2, "{place}");
        assert!(answer.json()["error"].as_str().unwrap().contains("of the request"), "{place}");
    }
}

/// What a forge sends is held against its secret; nothing else of the server is opened by it.
#[test]
fn a_forge_rings_with_the_hmac_of_what_it_sends() {
    use hmac::{Hmac, KeyInit, Mac};
    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    let world = crate::machines::World::new();
    let (dir, variables) = (world.dir("a"), [("BRAIN_WEBHOOK_SECRET", SECRET), ("BRAIN_TOKEN", TOKEN)]);
    let dir = dir.to_str().unwrap().to_owned();
    let server = Server::start_with(&world.sandbox, &variables, &["-C", &dir, "serve", "--addr", "127.0.0.1:0"]);
    let signature = |body: &[u8]| {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(body);
        let bytes = mac.finalize().into_bytes();
        format!("sha256={}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let path = "/forge/webhook";
    let good = signature(b"{}");
    for (headers, body, status) in [
        (&[][..], &b"{}"[..], 401),
        (&[("x-hub-signature-256", "sha256=00")], b"{}", 401),
        (&[("x-hub-signature-256", good.as_str())], b"{ }", 401),
        (&[("x-hub-signature-256", good.as_str()), ("host", "brain.example.org")], b"{}", 200),
    ] {
        server.send("POST", path, headers, body).is(status);
    }
    let again = server.send("POST", path, &[("x-hub-signature-256", &good)], b"{}").is(200).json();
    assert_eq!(again["rung"], "known", "a replay rings nothing");
    let large = vec![b' '; (1 << 20) + 1];
    server.send("POST", path, &[("x-hub-signature-256", &signature(&large))], &large).is(413);
    // What it came to is for who has the token.
    server.send("GET", path, &[("host", &server.host), ("x-hub-signature-256", &good)], b"").is(401);
    let mut last = server.ask("GET", path, None).is(200).json();
    for _ in 0..600 {
        if last["running"] == false && !last["last"].is_null() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        last = server.ask("GET", path, None).is(200).json();
    }
    assert_eq!(last["last"]["ok"], true, "{last}");
    server.stop("-TERM");
    // Without a secret there is no such place, and with one that can be guessed no server.
    let server = Server::start_in(&world.sandbox, &world.dir("a"));
    let refused = server.send("POST", path, &[("x-hub-signature-256", &good)], b"{}");
    assert!([401, 403].contains(&refused.status), "{}", refused.status);
    server.stop("-TERM");
}
