//! Embeddings in recall, end to end: off unless asked for and trusted, each text sent once, and whatever an endpoint does, recall
//! answers in time as it would without.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::endpoint::request;
use crate::sandbox::{Answer, NOW, Sandbox};
use serde_json::{Value, json};

/// What an endpoint does with a request.
#[derive(Clone, Debug)]
enum Manner {
    /// Answers with vectors.
    Good,
    /// Answers with this, as it stands.
    Says(String),
    /// Answers with this the first time, then with vectors.
    First(String),
    /// Reads and says nothing.
    Hangs,
    /// Says that so much comes, and sends it.
    Floods { announced: bool },
    /// Begins an answer, then one byte now and then.
    Drips,
    /// Closes the connection in the middle of an answer.
    Cuts,
    /// Answers one text alone, and nothing to several.
    OneAlone,
    /// Refuses requests that hold a text with this word.
    Refuses(&'static str),
}

#[derive(Default)]
struct Seen {
    connections: usize,
    requests: usize,
    keys: Vec<String>,
    texts: Vec<String>,
}

/// An endpoint on this machine, in threads of the test.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    manner: Arc<Mutex<Manner>>,
}

impl Server {
    fn new() -> Self {
        let (seen, manner) = (Arc::new(Mutex::new(Seen::default())), Arc::new(Mutex::new(Manner::Good)));
        let shared = (Arc::clone(&seen), Arc::clone(&manner));
        let address = request::listen(move |connection| {
            shared.0.lock().unwrap().connections += 1;
            // A client may go away at any moment.
            drop(serve(connection, &shared.0, &shared.1));
        });
        Self { address: address.unwrap(), seen, manner }
    }

    fn behaves(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The texts that were sent since the last call, sorted.
    fn texts(&self) -> Vec<String> {
        let mut texts = std::mem::take(&mut self.seen.lock().unwrap().texts);
        texts.sort();
        texts
    }

    fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    fn requests(&self) -> usize {
        std::mem::take(&mut self.seen.lock().unwrap().requests)
    }
}

fn serve(connection: TcpStream, seen: &Mutex<Seen>, manner: &Mutex<Manner>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut out = connection;
    loop {
        let Some(request::Request { line, key, body: asked, .. }) = request::read(&mut reader)? else { return Ok(()) };
        assert_eq!(line, "POST /v1/embeddings HTTP/1.1");
        seen.lock().unwrap().keys.extend(key);
        let mut line = String::new();
        assert_eq!(asked["model"], "tiny");
        let texts: Vec<String> =
            asked["input"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().into()).collect();
        {
            let mut seen = seen.lock().unwrap();
            seen.requests += 1;
            seen.texts.extend(texts.iter().cloned());
        }
        let now = manner.lock().unwrap().clone();
        match now {
            Manner::Refuses(word) if texts.iter().any(|text| text.contains(word)) => {
                out.write_all(plain("400 Bad Request", "", "{}").as_bytes())?;
            }
            Manner::OneAlone if texts.len() > 1 => drop(reader.read_line(&mut line)?),
            Manner::Good | Manner::OneAlone | Manner::Refuses(_) => out.write_all(good(&texts).as_bytes())?,
            Manner::Says(text) => out.write_all(text.as_bytes())?,
            Manner::First(text) => {
                *manner.lock().unwrap() = Manner::Good;
                out.write_all(text.as_bytes())?;
            }
            // Waits until the other side has closed the connection.
            Manner::Hangs => drop(reader.read_line(&mut line)?),
            Manner::Drips => {
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{")?;
                loop {
                    out.write_all(b" ")?;
                    std::thread::park_timeout(std::time::Duration::from_millis(50));
                }
            }
            Manner::Cuts => {
                out.write_all(&good(&texts).as_bytes()[..80])?;
                return Ok(());
            }
            Manner::Floods { announced } => {
                let length = if announced { "content-length: 100000000\r\n" } else { "" };
                out.write_all(format!("HTTP/1.1 200 OK\r\n{length}connection: close\r\n\r\n").as_bytes())?;
                for _ in 0..100 {
                    out.write_all(&[b' '; 1_000_000])?;
                }
                return Ok(());
            }
        }
    }
}

fn plain(status: &str, header: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{header}content-length: {}\r\n\r\n{body}", body.len())
}

fn good(texts: &[String]) -> String {
    let vector = |(index, text): (usize, &String)| json!({"index": index, "embedding": vector(text)});
    plain("200 OK", "", &json!({"data": texts.iter().enumerate().map(vector).collect::<Vec<_>>()}).to_string())
}

/// The meaning of a text, as far as this model goes: one number for each group of words that mean the same.
fn vector(text: &str) -> Vec<f64> {
    const GROUPS: [&[&str]; 4] =
        [&["hound", "dog", "pet"], &["violin", "music"], &["harbour", "ship", "sea"], &["bread", "baker"]];
    let has = |group: &[&str]| group.iter().any(|word| text.contains(word));
    let mut vector: Vec<f64> = GROUPS.iter().map(|group| if has(group) { 1.0 } else { 0.05 }).collect();
    vector.push(text.len() as f64 / 1000.0);
    vector
}

const KEY: &str = "sk-0123456789-never-to-be-seen";
/// On a busy machine the last of several processes may wait for long.
const PATIENT: &str = "recall.embeddings_timeout_ms=300000";
const QUESTION: &str = "Which pet do you keep?";
const HOUND: &str = "My hound chewed the slippers.";
const SAID: [&str; 5] = [
    HOUND,
    "She practises the violin at night.",
    "We watched a ship leave.",
    "The baker opens at six.",
    "Taxes are due on Friday.",
];

/// A brain with some memories whose `brain.toml` names the server, not trusted.
fn brain(server: &Server, more: &str) -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "embeddings").with("TINY_KEY", KEY).with("BRAIN_LOG", "trace");
    remember(&sandbox, "one", &SAID);
    configure(&sandbox, &server.url(), more);
    sandbox
}

fn remember(sandbox: &Sandbox, session: &str, said: &[&str]) {
    let row = |(n, said): (usize, &&str)| {
        let speaker = if n % 2 == 0 { "Anna" } else { "Ivo" };
        let source = format!("{session}-{n}");
        json!({"text": format!("{speaker}: {said}"), "source": source, "session": format!("{source}")}).to_string()
    };
    let rows: Vec<String> = said.iter().enumerate().map(row).collect();
    let file = sandbox.file(&format!("{session}.jsonl"), rows.join("\n"));
    sandbox.brain(&["feed", "--file", &file]).exits(0);
}

fn configure(sandbox: &Sandbox, url: &str, more: &str) {
    let text = format!(
        "[recall]\nembeddings = \"small\"\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\nbase_url = \"{url}\"\n{more}"
    );
    std::fs::write(sandbox.dir().join("brain.toml"), text).unwrap();
    sandbox.git(&["add", "brain.toml"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "settings: embeddings"]);
}

fn trusted(server: &Server, more: &str) -> Sandbox {
    let sandbox = brain(server, more);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn ask(sandbox: &Sandbox, args: &[&str]) -> Answer {
    let answer = sandbox.brain(&[&["--json", "recall"], args].concat()).exits(0);
    assert!(!answer.out.contains(KEY) && !answer.err.contains(KEY), "{answer}");
    answer
}

/// Sources of the answers, and notes.
fn answers(sandbox: &Sandbox, args: &[&str]) -> (Vec<String>, String) {
    let document = ask(sandbox, args).document();
    let sources = document["results"].as_array().unwrap().iter().map(|r| r["source"].as_str().unwrap().to_owned());
    let notes = document["notes"].as_array().into_iter().flatten().map(|n| n.as_str().unwrap().to_owned());
    (sources.collect(), notes.collect::<Vec<_>>().join("\n"))
}

fn sorted(texts: &[&str]) -> Vec<String> {
    let mut texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    texts.sort();
    texts
}

/// The files of vectors.
fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.dir().join(".git/git-brain/embeddings");
    std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_means_the_same_is_found_and_nothing_is_sent_twice() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    let (without, _) = answers(&sandbox, &["-c", "recall.embeddings=", QUESTION]);
    assert_eq!((without.as_slice(), server.connections()), (&[][..], 0), "no word leads there");

    let document = ask(&sandbox, &[QUESTION]).document();
    assert_eq!(document["results"][0]["text"], format!("Anna: {HOUND}"), "{document}");
    assert_eq!(document["results"][0]["path"][1]["via"], "meaning", "{document}");
    let mut all = SAID.to_vec();
    all.push(QUESTION);
    assert_eq!(server.texts(), sorted(&all), "each once, and without the name of who says it");

    let again = ask(&sandbox, &[QUESTION]).document();
    assert_eq!((&again, server.texts()), (&document, Vec::new()), "all is known");
    answers(&sandbox, &["Where is the sea?"]);
    assert_eq!(server.texts(), ["Where is the sea?"], "another question costs itself");

    remember(&sandbox, "two", &[SAID[1], "A new text."]);
    let (found, notes) = answers(&sandbox, &[QUESTION]);
    assert_eq!((found[0].as_str(), notes.as_str()), ("one-0", ""));
    assert_eq!(server.texts(), ["A new text."], "the same text said again, by another, in another state, is known");
    let (past, _) = answers(&sandbox, &["--at", "wake~1", QUESTION]);
    assert_eq!((past[0].as_str(), server.texts()), ("one-0", Vec::new()));
    let connections = server.connections();
    answers(&sandbox, &["-c", "recall.embeddings=", "ship"]);
    assert_eq!(server.connections(), connections, "off is off");
}

#[test]
fn repositories_do_not_grow() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    let (objects, refs) = (sandbox.object_count(), sandbox.refs());
    assert_eq!(answers(&sandbox, &[QUESTION]).0[0], "one-0");
    assert_eq!((sandbox.object_count(), sandbox.refs()), (objects, refs));
    assert_eq!(kept(&sandbox).len(), 1);
    sandbox.fsck();
}

#[test]
fn nothing_is_sent_anywhere_before_a_person_trusts_it() {
    let server = Server::new();
    let sandbox = brain(&server, "key_env = \"TINY_KEY\"\n");
    let plain = answers(&sandbox, &["-c", "recall.embeddings=", "ship"]).0;
    let inert = |args: &[&str]| {
        let (found, notes) = answers(&sandbox, args);
        assert_eq!((&found, server.connections()), (&plain, 0));
        assert!(notes.contains("brain.toml is not trusted") && notes.contains("git brain trust"), "{notes}");
    };
    inert(&["ship"]);
    // Part of it from a person does not make the rest theirs.
    inert(&["-c", "recall.embeddings=small", "ship"]);
    sandbox.git(&["config", "brain.recall.embeddings", "small"]);
    inert(&["ship"]);
    let shown = sandbox.brain(&["recall", "ship"]).exits(0);
    assert!(shown.err.contains("not trusted") && shown.out.contains("one-2"), "{shown}");

    let listed = sandbox.brain(&["trust", "--list"]).exits(0);
    assert!(listed.out.contains("every memory") && listed.out.contains(&server.url()), "{listed}");
    assert!(listed.out.contains("TINY_KEY") && !listed.out.contains(KEY), "{listed}");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    assert_eq!(answers(&sandbox, &["ship"]).1, "");
    assert!(server.connections() > 0);

    let other = Server::new();
    configure(&sandbox, &other.url(), "");
    let (found, notes) = answers(&sandbox, &["ship"]);
    assert_eq!((found, other.connections()), (plain, 0), "another content is another matter");
    assert!(notes.contains("not trusted"), "{notes}");
}

#[test]
fn what_a_person_asks_for_at_the_command_line_needs_no_trust() {
    let server = Server::new();
    let sandbox = Sandbox::new();
    remember(&sandbox, "one", &SAID);
    let model = format!("models.mine={{provider = \"openai\", model = \"tiny\", base_url = \"{}\"}}", server.url());
    let (found, notes) = answers(&sandbox, &["-c", &model, "-c", "recall.embeddings=mine", QUESTION]);
    assert_eq!((found[0].as_str(), notes.as_str()), ("one-0", ""));
    let (_, notes) = answers(&sandbox, &["-c", "recall.embeddings=nobody", QUESTION]);
    assert!(notes.contains("there is no [models.nobody]"), "{notes}");
}

#[test]
fn whatever_an_endpoint_does_recall_answers_as_without_it() {
    let server = Server::new();
    let elsewhere = Server::new();
    let sandbox = trusted(&server, "");
    let plain = answers(&sandbox, &["-c", "recall.embeddings=", "ship"]).0;
    let redirect = format!("location: {}/embeddings\r\n", elsewhere.url());
    let vectors = |list: Value| Manner::Says(self::plain("200 OK", "", &json!({"data": list}).to_string()));
    let says = |status: &str, header: &str| Manner::Says(self::plain(status, header, "secret words of a server"));
    // (what it does, its deadline in ms, part of the note, how many requests it gets)
    let faults = [
        (says("500 Internal Server Error", ""), "20000", "answered 500", 3),
        (says("429 Too Many Requests", "retry-after: 0\r\n"), "20000", "answered 429", 3),
        (says("429 Too Many Requests", "retry-after: 3600\r\n"), "20000", "answered 429", 1),
        (says("401 Unauthorized", ""), "20000", "answered 401", 1),
        (says("307 Temporary Redirect", &redirect), "20000", "elsewhere", 1),
        (Manner::Says("garbage\r\n\r\n".to_owned()), "20000", "cannot be reached", 3),
        (says("200 OK", ""), "20000", "something else than it was asked for", 1),
        (vectors(json!([])), "20000", "0 vectors for 1 texts", 1),
        (vectors(json!([{"index": 0, "embedding": ["a"]}])), "20000", "something else than it was asked for", 1),
        (Manner::Floods { announced: true }, "20000", "more than", 1),
        (Manner::Floods { announced: false }, "20000", "more than", 1),
        (Manner::Cuts, "20000", "cannot be reached", 3),
        (Manner::Hangs, "300", "did not answer within", 1),
        (Manner::Drips, "300", "did not answer within", 1),
    ];
    for (manner, deadline, part, requests) in faults {
        server.behaves(manner.clone());
        let timeout = format!("recall.embeddings_timeout_ms={deadline}");
        let (found, notes) = answers(&sandbox, &["-c", &timeout, "ship"]);
        assert_eq!((&found, server.requests()), (&plain, requests), "{manner:?}: {notes}");
        assert!(notes.contains(part) && notes.contains("tiny (small) at http://127.0.0.1"), "{manner:?}: {notes}");
        assert!(!notes.contains("secret words"), "{notes}");
    }
    assert_eq!(elsewhere.connections(), 0);
    assert_eq!(kept(&sandbox), Vec::<PathBuf>::new(), "nothing of it is kept");

    server.behaves(Manner::First(self::plain("503 Service Unavailable", "retry-after: 0\r\n", "")));
    assert_eq!(answers(&sandbox, &[QUESTION]), answers(&sandbox, &[QUESTION]), "what passes is tried again");
    assert_eq!(answers(&sandbox, &[QUESTION]).0[0], "one-0");

    // The address of a server that is gone.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    configure(&sandbox, &format!("http://{free}/v1"), "");
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let (found, notes) = answers(&sandbox, &["ship"]);
    assert_eq!(found, plain);
    assert!(notes.contains("cannot be reached"), "{notes}");
}

#[test]
fn what_embeddings_cost_is_in_the_budget_and_beyond_it_nothing_is_sent() {
    let server = Server::new();
    let sandbox = trusted(&server, "price_in = 1000000");
    let (_, notes) = answers(&sandbox, &["-c", "budget.turns_per_day=1", QUESTION]);
    assert!(notes.contains("budget.turns_per_day = 1 would be passed"), "{notes}");
    let account = || -> Value {
        let bytes = std::fs::read(sandbox.dir().join(".git/git-brain/account/spent.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let first = account();
    let human = &first["agents"]["human"];
    assert_eq!((&human["runs"], &human["turns"], &first["reserved"]), (&json!(0), &json!(1), &json!([])), "{first}");
    assert!(human["tokens"].as_u64().unwrap() > 0 && human["tokens"] == human["micros"], "{first}");
    let sent = server.requests();
    assert_eq!(sent, 1, "the question, and none of the memories");
    answers(&sandbox, &[QUESTION]);
    assert!(account()["agents"]["human"]["turns"].as_u64().unwrap() > 1);
    server.behaves(Manner::Says(plain("401 Unauthorized", "", "no")));
    let before = account();
    answers(&sandbox, &["another question"]);
    assert_eq!(account()["agents"], before["agents"], "what was not read is not paid");
}

#[test]
fn vectors_of_another_length_are_not_mixed_in() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    answers(&sandbox, &[QUESTION]);
    let plain = answers(&sandbox, &["-c", "recall.embeddings=", "ship"]).0;
    let short = json!({"data": [{"index": 0, "embedding": [1, 0]}]}).to_string();
    server.behaves(Manner::Says(self::plain("200 OK", "", &short)));
    let (found, notes) = answers(&sandbox, &["ship"]);
    assert_eq!(found, plain);
    assert!(notes.contains("a vector of 2 numbers, where the kept ones have 5") && notes.contains("remove"), "{notes}");
}

#[test]
fn what_is_not_finished_in_time_goes_on_the_next_time() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    server.behaves(Manner::OneAlone);
    let (_, notes) = answers(&sandbox, &["-c", "recall.embeddings_timeout_ms=2000", QUESTION]);
    assert!(notes.contains("5 memories have no embedding yet"), "{notes}");
    server.behaves(Manner::Good);
    server.texts();
    let (found, notes) = answers(&sandbox, &[QUESTION]);
    assert_eq!((found[0].as_str(), notes.as_str()), ("one-0", ""));
    assert_eq!(server.texts(), sorted(&SAID), "the question was known already");
}

#[test]
fn a_text_that_the_model_refuses_holds_back_no_other() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    server.behaves(Manner::Refuses("violin"));
    let (found, notes) = answers(&sandbox, &[QUESTION]);
    assert_eq!((found[0].as_str(), notes.as_str()), ("one-0", ""));
    server.texts();
    answers(&sandbox, &[QUESTION]);
    assert_eq!(server.texts(), Vec::<String>::new(), "it is not sent again");
}

#[test]
fn the_key_is_sent_and_seen_nowhere_else() {
    let server = Server::new();
    let sandbox = trusted(&server, "key_env = \"TINY_KEY\"\n");
    answers(&sandbox, &[QUESTION]);
    server.behaves(Manner::Says(plain("401 Unauthorized", "", &format!("wrong key {KEY}"))));
    answers(&sandbox, &["another"]);
    let keys = server.seen.lock().unwrap().keys.clone();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == format!("Bearer {KEY}")), "{keys:?}");
    for entry in
        walkdir::WalkDir::new(sandbox.dir()).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file())
    {
        let bytes = std::fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{}", entry.path().display());
    }
    let sandbox = sandbox.with("TINY_KEY", "");
    let (_, notes) = answers(&sandbox, &["a third"]);
    assert!(notes.contains("the variable TINY_KEY is not set"), "{notes}");
}

#[test]
fn two_processes_at_once_send_no_text_twice() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    let many: Vec<String> = (0..60).map(|n| format!("Note number {n} of the baker.")).collect();
    remember(&sandbox, "many", &many.iter().map(String::as_str).collect::<Vec<_>>());
    let started: Vec<_> = (0..4).map(|_| sandbox.spawn(&["--json", "recall", "-c", PATIENT, QUESTION], b"")).collect();
    let outputs: Vec<String> = started
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .map(|output| {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    assert!(outputs.iter().all(|out| *out == outputs[0] && !out.contains("notes")), "{outputs:?}");
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    server.texts().into_iter().for_each(|text| *times.entry(text).or_default() += 1);
    assert_eq!(times.len(), SAID.len() + many.len() + 1);
    assert!(times.values().all(|n| *n == 1), "{times:?}");
}

#[test]
fn damaged_vectors_are_got_anew() {
    let server = Server::new();
    let sandbox = trusted(&server, "");
    let expected = ask(&sandbox, &[QUESTION]).document();
    let file = kept(&sandbox).remove(0);
    let good = std::fs::read(&file).unwrap();
    server.texts();
    // (what is left of the file, how many texts that costs)
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    let cases = [
        (Vec::new(), 6),
        (good[..20].to_vec(), 6),
        (changed(9), 6),
        (changed(good.len() - 7), 1),
        (good[..good.len() - 3].to_vec(), 1),
        ([&good[..], b"half a record"].concat(), 0),
    ];
    for (bytes, cost) in cases {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(ask(&sandbox, &[QUESTION]).document(), expected, "{} bytes", bytes.len());
        assert_eq!(server.texts().len(), cost, "{} bytes", bytes.len());
        assert_eq!(ask(&sandbox, &[QUESTION]).document(), expected);
        assert_eq!(server.texts().len(), 0, "{} bytes: whole again", bytes.len());
    }
}
