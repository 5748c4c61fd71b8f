//! The network by HTTP: its picture as arrays, its history, the review queue, and what happens to it while somebody watches.

use std::io::{BufRead, BufReader};

use crate::sandbox::{Sandbox, connect, create};
use crate::web::{Server, TOKEN};
use serde_json::{Value, json};

fn fed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ann moved to Oslo in May. Ben likes green tea."]);
    sandbox
}

/// The head of a picture's bytes, and how many bytes follow it.
fn head(bytes: &[u8]) -> (Value, usize) {
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[4..4 + length]).unwrap(), bytes.len() - 4 - length)
}

#[test]
fn the_network_comes_as_arrays_of_a_commit() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let ask = |query: &str| server.bytes("GET", &format!("/network{query}"));
    let (document, rest) = head(&ask("?most=7"));
    let (n, m) = (document["nodes"].as_u64().unwrap() as usize, document["edges"].as_u64().unwrap() as usize);
    assert_eq!((n, document["ids"].as_array().unwrap().len(), rest), (7, 7, 17 * n + 12 * m));
    assert_eq!(document["at"], sandbox.tip("wake"));
    // A commit never changes, so neither does its picture.
    let old = ask(&format!("?at={}&most=7", sandbox.tip("wake")));
    assert_eq!(old, ask("?most=7"));
    sandbox.apply(&json!({"ops": [create("x"), create("y"), connect("x", "y", "feeds_into", 9)]}), &[]);
    assert_eq!(old, ask(&format!("?at={}&most=7", sandbox.tip("wake~1"))));
    let (changed, _) = head(&ask(&format!("?since={}&most=5", sandbox.tip("wake~1"))));
    assert!(changed["ids"].as_array().unwrap()[..2].iter().all(|id| id == "x" || id == "y"), "{changed}");
    let (around, _) = head(&ask("?around=x"));
    assert_eq!(around["ids"][0], "x");
    server.ask("GET", "/network?around=nobody", None).is(404);
    let named = |query: &str| server.ask("GET", &format!("/network/names{query}"), None);
    let both = named("?ids=y,nobody,x").is(200).json();
    assert_eq!(
        both,
        json!({"neurons": [
            {"id": "y", "label": "y", "origin": "local"}, {"id": "x", "label": "x", "origin": "local"}
        ]})
    );
    let before = named(&format!("?ids=x&at={}", sandbox.tip("wake~1"))).is(200).json();
    assert_eq!(before, json!({"neurons": []}), "x was not there yet");
    let many = vec!["x"; 201].join(",");
    for wrong in ["", "?ids=x&at=wake", &format!("?ids={many}")] {
        named(wrong).is(400);
    }
    for wrong in ["?most=0", "?most=many", "?at=wake", "?other=1"] {
        server.ask("GET", &format!("/network{wrong}"), None).is(400);
    }
    for path in [
        "/network",
        "/network/names?ids=x",
        "/history",
        "/reviews",
        "/changes",
        "/status",
        "/ledger",
        "/search?question=x",
        "/neurons/x/blame",
    ] {
        server.send("GET", path, &[("host", &server.host)], b"").is(401);
    }
}

#[test]
fn history_search_blame_and_status_are_the_commands() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let history = server.ask("GET", "/history?number=2", None).is(200).json();
    assert_eq!(history["entries"].as_array().unwrap().len(), 2);
    assert_eq!(history["entries"][0]["commit"], sandbox.tip("wake"));
    assert_eq!(history["entries"][0]["base"], sandbox.tip("wake^2^"), "where the run left from");
    let found = server.ask("GET", "/search?question=who+likes+tea&top=1", None).is(200).json();
    let id = found["results"][0]["id"].as_str().unwrap();
    assert!(found["results"][0]["concept"].as_str().unwrap().contains("green tea"), "{found}");
    let blame = server.ask("GET", &format!("/neurons/{id}/blame"), None).is(200).json();
    let fields: Vec<&str> = blame["fields"].as_array().unwrap().iter().filter_map(|f| f["field"].as_str()).collect();
    assert!(fields.contains(&"concept"), "{fields:?}");
    server.ask("GET", "/neurons/no-such/blame", None).is(404);
    assert!(server.ask("GET", "/status", None).is(200).json()["neurons"].as_u64().unwrap() > 5);
}

#[test]
fn the_ledger_comes_beside_the_story() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let ask = |query: &str| server.ask("GET", &format!("/ledger{query}"), None).is(200).json();
    assert_eq!((&ask("")["entries"], &ask("")["story"]), (&json!([]), &Value::Null));
    let mut runs = Vec::new();
    for (expected, came) in [(0.75, "0.25"), (0.5, "1")] {
        let prediction = json!({"text": "it rains\nall day", "value": expected});
        let report = sandbox.apply(&json!({"prediction": prediction, "ops": []}), &[]);
        runs.push(report["run"].clone());
        sandbox.json(&["outcome", report["run"].as_str().unwrap(), "--value", came]);
    }
    let before = sandbox.tip("wake");
    let view = ask("");
    let judged: Vec<&Value> = view["entries"].as_array().unwrap().iter().map(|entry| &entry["judged"]).collect();
    assert_eq!(judged, [&runs[1], &runs[0]], "newest first: {view}");
    let entry = &view["entries"][1];
    assert_eq!((&entry["expected"], &entry["came"], &entry["error"]), (&json!(0.75), &json!(0.25), &json!(-0.5)));
    assert_eq!((&entry["expected_text"], &entry["came_text"]), (&json!("it rains all day"), &Value::Null));
    assert_eq!((&view["at"], &view["story"]["told"]), (&json!(before), &json!(false)), "no night passed yet: {view}");
    sandbox.json(&["sleep"]);
    let view = ask("?number=1");
    assert_eq!((view["entries"].as_array().unwrap().len(), &view["story"]["told"]), (1, &json!(true)));
    assert_eq!(view["story"]["entries"], 2);
    assert!(view["story"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{view}");
    assert_eq!(ask(&format!("?at={before}"))["story"]["told"], false, "as it was then");
    // A link leads to the run that was judged.
    server.ask("GET", &format!("/reviews/{}", runs[0].as_str().unwrap()), None).is(200);
    for wrong in ["?number=-1", "?at=wake", "?other=1"] {
        server.ask("GET", &format!("/ledger{wrong}"), None).is(400);
    }
}

#[test]
fn a_run_is_read_and_decided_at_the_page_as_by_the_command() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let mut runs = Vec::new();
    for name in ["a-x", "b-x"] {
        let waiting = sandbox.apply(&json!({"ops": [create(name)]}), &["--no-merge"]);
        runs.push(waiting["run"].as_str().unwrap().to_owned());
    }
    let list = server.ask("GET", "/reviews", None).is(200).json();
    assert_eq!(list["waiting"].as_array().unwrap().len(), 2);
    let read = server.ask("GET", &format!("/reviews/{}", runs[0]), None).is(200).json();
    assert_eq!((&read["run"], &read["waits"]), (&json!(runs[0]), &json!(true)));
    assert!(read["blocks"].to_string().contains("a-x"), "{read}");
    // Another commit than the one that was looked at is not decided on.
    let word = |run: &str, commit: &Value, approve: bool| json!({"run": run, "commit": commit, "approve": approve, "why": "so"});
    let wake = sandbox.tip("wake");
    server.ask("POST", "/reviews", Some(&word(&runs[0], &json!("0123456789"), true))).is(422);
    assert_eq!(sandbox.tip("wake"), wake, "nothing was decided");
    server.ask("POST", "/reviews", Some(&json!({"run": runs[0], "approve": true}))).is(400);
    let done = server.ask("POST", "/reviews", Some(&word(&runs[0], &read["commit"], true))).is(200).json();
    assert_eq!(done["verdict"], "approve");
    assert_ne!(sandbox.tip("wake"), wake);
    sandbox.neuron("a-x");
    let other = server.ask("GET", &format!("/reviews/{}", runs[1]), None).is(200).json();
    server.ask("POST", "/reviews", Some(&word(&runs[1], &other["commit"], false))).is(200);
    let decided = sandbox.json(&["review", "--decided"]);
    let verdicts: Vec<&str> =
        decided["decisions"].as_array().unwrap().iter().filter_map(|d| d["verdict"].as_str()).collect();
    assert_eq!(verdicts.len(), 2, "{decided}");
    assert_eq!(server.ask("GET", "/reviews", None).json()["waiting"], json!([]));
    server.ask("GET", "/reviews/20991231t000000000z-aaaaaaaa-human", None).is(400);
}

#[test]
fn a_watcher_hears_what_other_commands_do() {
    let sandbox = fed();
    let server = Server::start(&sandbox);
    let token = format!("Bearer {TOKEN}");
    let headers = [("host", server.host.as_str()), ("authorization", &token), ("accept", "text/event-stream")];
    let stream = server.open("GET", "/changes", &headers, b"");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("an event in time"));
    let mut hear = |name: &str| -> Value {
        loop {
            let line = lines.by_ref().find_map(|line| line.strip_prefix("data:").map(str::to_owned)).expect("an event");
            let event: Value = serde_json::from_str(line.trim()).unwrap();
            if event["event"] == name {
                return event;
            }
        }
    };
    let before = sandbox.tip("wake");
    assert_eq!(hear("stands")["wake"], before);
    sandbox.apply(&json!({"ops": [create("lit-x"), create("lit-y"), connect("lit-x", "lit-y", "feeds_into", 9)]}), &[]);
    let moved = hear("moved");
    assert_eq!((&moved["from"], &moved["wake"]), (&json!(before), &json!(sandbox.tip("wake"))));
    let lit: Vec<&str> = moved["neurons"].as_array().unwrap().iter().filter_map(|n| n["id"].as_str()).collect();
    assert!(lit.contains(&"lit-x") && lit.contains(&"lit-y"), "{lit:?}");
    assert_eq!(moved["entries"][0]["agent"], "human");
    sandbox.apply(&json!({"ops": [create("w-x")]}), &["--no-merge"]);
    assert_eq!(hear("waiting")["waiting"], 1);
    sandbox.brain(&["sleep"]).exits(0);
    assert_eq!(hear("slept")["main"], sandbox.tip("main"));
    // Who watches holds nobody up who stops the server.
    assert_eq!(server.stop("-TERM"), 0);
}
