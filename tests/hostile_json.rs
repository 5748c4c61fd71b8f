//! Hostile documents: every kind of file that is read, with every kind of damage. Each is refused with its path and
//! line, and nothing is written. The documents are the examples of docs/format.md.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use crate::sandbox::Sandbox;
use serde_json::Value;

/// The examples of the format's page: tag, path (empty for what lies in no brain), text.
fn examples() -> Vec<(String, String, String)> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/format.md")).unwrap();
    let (mut found, mut path) = (Vec::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(alone) = line.strip_prefix('`').and_then(|l| l.strip_suffix('`')).filter(|l| !l.contains('`')) {
            alone.clone_into(&mut path);
        }
        let Some(tag) = line.strip_prefix("```json ") else { continue };
        let body: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
        found.push((tag.to_owned(), std::mem::take(&mut path), body));
    }
    found
}

/// What is done to a document: its name, the damaged bytes, and the line where it shows; `None`: any line.
type Damage = (&'static str, Vec<u8>, Option<usize>);

/// The second line of an example is its first field, whole.
fn damages(text: &str) -> Vec<Damage> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines[1].trim_end_matches(',');
    let key = first.split_once(':').expect("a field").0;
    let inserted = |line: &str| format!("{}\n{line}\n{}\n", lines[0], lines[1..].join("\n")).into_bytes();
    let replaced = |line: &str| format!("{}\n{line}\n{}\n", lines[0], lines[2..].join("\n")).into_bytes();
    let raw = |bytes: &[u8]| {
        let mut made = format!("{}\n  \"zzz\": \"", lines[0]).into_bytes();
        made.extend(bytes);
        made.extend(format!("\",\n{}\n", lines[1..].join("\n")).bytes());
        made
    };
    vec![
        ("a key twice", inserted(&format!("{first},")), Some(3)),
        ("an unknown field", inserted("  \"zzz\": 1,"), Some(2)),
        ("a wrong type", replaced(&format!("{key}: [[]],")), Some(2)),
        ("not a number", inserted("  \"zzz\": NaN,"), Some(2)),
        ("infinity", inserted("  \"zzz\": -Infinity,"), Some(2)),
        ("beyond a double", inserted("  \"zzz\": 1e999,"), Some(2)),
        ("four hundred digits", inserted(&format!("  \"zzz\": {},", "9".repeat(400))), Some(2)),
        ("depth", inserted(&format!("  \"zzz\": {}{},", "[".repeat(100_000), "]".repeat(100_000))), Some(2)),
        ("trailing garbage", format!("{text}x\n").into_bytes(), Some(lines.len() + 1)),
        ("two documents", format!("{text}{text}").into_bytes(), Some(lines.len() + 1)),
        ("a byte order mark", format!("\u{feff}{text}").into_bytes(), Some(1)),
        ("no UTF-8", raw(b"\xff\xfe"), Some(2)),
        ("an overlong form", raw(b"\xc0\x80"), Some(2)),
        ("a lone surrogate", raw(b"\\ud800"), Some(2)),
        ("a raw control character", raw(b"\x07"), Some(2)),
        ("a comment", inserted("  // no"), Some(2)),
        ("a merge marker", inserted("<<<<<<< ours"), Some(2)),
        ("a cut", lines[..lines.len() - 1].join("\n").into_bytes(), None),
        ("emptiness", Vec::new(), Some(1)),
        ("null", b"null\n".to_vec(), Some(1)),
        ("a list", b"[]\n".to_vec(), Some(1)),
        ("a list of its fields", fields(text), None),
    ]
}

/// The document's values without their names, which a derived reader would take in their order.
fn fields(text: &str) -> Vec<u8> {
    let document: serde_json::Map<String, Value> = serde_json::from_str(text).unwrap();
    serde_json::to_vec(&document.values().collect::<Vec<_>>()).unwrap()
}

/// Commits files on top of wake, as a ref; all refs in one stream, as git itself would take them from anybody.
fn import(sandbox: &Sandbox, commits: &BTreeMap<String, Vec<(String, Vec<u8>)>>) {
    let wake = sandbox.tip("wake");
    let mut stream = Vec::new();
    for (name, files) in commits {
        write!(stream, "commit {name}\ncommitter E <e@example.invalid> 1769437920 +0000\ndata 1\nx\nfrom {wake}\n")
            .unwrap();
        for (path, bytes) in files {
            write!(stream, "M 100644 inline {path}\ndata {}\n", bytes.len()).unwrap();
            stream.extend(bytes);
            stream.push(b'\n');
        }
        stream.push(b'\n');
    }
    let mut git = sandbox.command("git", &["fast-import", "--quiet", "--force"]);
    let mut child = git.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&stream).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn every_kind_of_file_is_refused_with_path_and_line() {
    let sandbox = Sandbox::new();
    let kinds: Vec<_> =
        examples().into_iter().filter(|(tag, path, _)| !path.is_empty() && tag != "conflicts").collect();
    assert!(kinds.len() >= 12, "{}", kinds.len());
    let (mut commits, mut expected) = (BTreeMap::<String, Vec<_>>::new(), BTreeMap::new());
    for (_, path, text) in &kinds {
        for (number, (name, bytes, line)) in damages(text).into_iter().enumerate() {
            let commit = format!("refs/heads/hostile/{number:02}");
            commits.entry(commit.clone()).or_default().push((path.clone(), bytes));
            expected.entry(commit).or_insert_with(|| (name, Vec::new())).1.push((path.clone(), line));
        }
    }
    import(&sandbox, &commits);
    let mut checked = 0;
    for (commit, (name, files)) in expected {
        let answer = sandbox.brain(&["--json", "check", &commit]).exits(1);
        let findings = answer.document()["findings"].as_array().unwrap().clone();
        for (path, line) in files {
            let of = findings.iter().find(|f| f["path"] == path.as_str() && f["level"] == "error");
            let found = of.unwrap_or_else(|| panic!("{name} in {path} is not found: {findings:#?}"));
            if let Some(line) = line {
                assert_eq!(found["line"], line, "{name} in {path}: {found}");
            }
            checked += 1;
        }
    }
    println!("{checked} damaged files");
}

#[test]
fn every_kind_of_input_is_refused_with_its_line_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let of = |tag: &str| examples().into_iter().find(|(t, ..)| t == tag).expect("an example").2;
    // On one line each, between good ones: the line of what is wrong is the document's own.
    let line = r#"{"text": "fine", "source": null}"#;
    let triple = of("triple");
    let mut checked = 0;
    for (tag, command) in [("delta", &["apply"][..]), ("network", &["import"])] {
        for (name, bytes, line) in damages(&of(tag)) {
            let file = sandbox.file("hostile.json", bytes);
            let args: Vec<&str> = ["--json"].iter().chain(command).copied().chain([file.as_str()]).collect();
            let answer = sandbox.brain(&args);
            assert_eq!(answer.code, 5, "{name}: {answer}");
            let message = answer.error()["error"].as_str().unwrap().to_owned();
            let place = line.map_or("line ".to_owned(), |line| format!("line {line}"));
            // A network is read piece by piece, so an end that is missing shows where the piece began.
            let is_exact = tag == "delta" || message.contains(&place);
            assert!(message.contains("hostile.json") && (is_exact || message.contains("line ")), "{name}: {message}");
            assert!(tag != "delta" || message.contains(&place), "{name}: {message}");
            checked += 1;
        }
    }
    for (good, command) in [(line, &["feed", "--file"][..]), (triple.trim(), &["import", "--triples"])] {
        let spread = good.replacen('{', "{\n", 1).replacen(',', ",\n", 1);
        for (name, bytes, _) in damages(&spread) {
            let one: Vec<u8> = bytes.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect();
            // Two documents on one line are as bad as any other garbage; nothing at all is an empty line, which is fine.
            if one.trim_ascii().is_empty() {
                continue;
            }
            let mut text = format!("{good}\n\n").into_bytes();
            text.extend(one);
            text.extend(format!("\n{good}\n").bytes());
            let file = sandbox.file("hostile.jsonl", text);
            let args: Vec<&str> = ["--json"].iter().chain(command).copied().chain([file.as_str()]).collect();
            let answer = sandbox.brain(&args);
            assert_eq!(answer.code, 5, "{name}: {answer}");
            let message = answer.error()["error"].as_str().unwrap().to_owned();
            assert!(message.contains("hostile.jsonl") && message.contains('3'), "{name}: {message}");
            checked += 1;
        }
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
    println!("{checked} damaged inputs");
}

#[test]
fn numbers_of_a_delta_stay_in_their_ranges() {
    let sandbox = Sandbox::new();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let edge = r#""from": "external_stimulus", "to": "n_core_perception", "type": "feeds_into""#;
    for op in [
        r#"{"op": "activate", "id": "decision_point", "strength": NaN}"#.to_owned(),
        r#"{"op": "activate", "id": "decision_point", "strength": 1e999}"#.to_owned(),
        r#"{"op": "activate", "id": "decision_point", "strength": -0.1}"#.to_owned(),
        r#"{"op": "activate", "id": "decision_point", "strength": "1"}"#.to_owned(),
        r#"{"op": "activate", "id": "decision_point", "strength": null}"#.to_owned(),
        format!("{{\"op\": \"adjust\", {edge}, \"by\": 65536}}"),
        format!("{{\"op\": \"adjust\", {edge}, \"by\": 1.5}}"),
        format!("{{\"op\": \"adjust\", {edge}, \"by\": 9223372036854775808}}"),
        format!("{{\"op\": \"connect\", {edge}, \"weight\": 0}}"),
        format!("{{\"op\": \"connect\", {edge}, \"weight\": -1}}"),
        format!("{{\"op\": \"connect\", {edge}, \"weight\": 1e3}}"),
        r#"{"op": "reinforce", "error": 1.01, "pathway": []}"#.to_owned(),
        r#"{"op": "reinforce", "error": 0.5, "pathway": [["a", "b", "feeds_into"]]}"#.to_owned(),
        r#"["activate", "decision_point", 1]"#.to_owned(),
        r#"{"activate": {"id": "decision_point", "strength": 1}}"#.to_owned(),
    ] {
        let answer = sandbox.brain_with(&["--json", "apply", "-"], format!("{{\"ops\": [\n{op}\n]}}").as_bytes());
        assert_eq!(answer.code, 5, "{op}: {answer}");
        let message = answer.error()["error"].as_str().unwrap().to_owned();
        assert!(message.contains("line 2"), "{op}: {message}");
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn settings_are_refused_with_their_line() {
    let sandbox = Sandbox::new();
    let bad: [(&[u8], usize); 12] = [
        (b"[activation]\ndecay = 0.9\ndecay = 0.8\n", 3),
        (b"[activation]\nspeed = 1\n", 2),
        (b"[activation]\ndecay = nan\n", 2),
        (b"[activation]\ndecay = inf\n", 2),
        (b"[activation]\nbeam = 99999999999999999999999\n", 2),
        (b"[activation]\ndecay = \"fast\"\n", 2),
        (b"[activation]\ndecay = 7\n", 2),
        (b"[nonsense]\n", 1),
        (b"[activation]\ndecay = 0.9\n}\n", 3),
        (b"[activation]\n<<<<<<< ours\n", 2),
        (b"[activation]\ndecay = \xff\n", 1),
        (b"activation = 1\n", 1),
    ];
    let commits = bad
        .iter()
        .enumerate()
        .map(|(n, (text, _))| (format!("refs/heads/hostile/{n:02}"), vec![("brain.toml".to_owned(), text.to_vec())]));
    import(&sandbox, &commits.collect());
    let main = sandbox.tip("main");
    for (n, (text, line)) in bad.iter().enumerate() {
        let shown = String::from_utf8_lossy(text);
        let revision = format!("hostile/{n:02}");
        let findings = sandbox.brain(&["--json", "check", &revision]).exits(1).document();
        let found = findings["findings"].as_array().unwrap().iter().find(|f| f["path"] == "brain.toml").cloned();
        let found = found.unwrap_or_else(|| panic!("{shown}: {findings}"));
        // Ranges are checked on the whole, which knows no lines.
        assert!(found["line"] == *line || found["line"] == 1, "{shown}: {found}");
        sandbox.git(&["update-ref", "refs/heads/main", &revision]);
        let objects = sandbox.object_count();
        for args in [&["status"][..], &["recall", "tea"], &["feed", "x"]] {
            let answer = sandbox.brain(args).exits(5);
            assert!(answer.err.contains("brain.toml"), "{shown}: {answer}");
        }
        assert_eq!(sandbox.object_count(), objects);
        sandbox.git(&["update-ref", "refs/heads/main", &main]);
    }
}

#[test]
fn commands_that_meet_a_bad_file_name_it_and_write_nothing() {
    let sandbox = Sandbox::new();
    let examples = examples();
    let bad = |tag: &str| {
        let (_, path, text) = examples.iter().find(|(t, ..)| t == tag).expect("an example");
        (path.clone(), text.replacen('{', "{\n  \"zzz\": 1,", 1).into_bytes())
    };
    // Recall goes on with every other neuron: `unreadable`. So do lists with every other file, and say which they leave alone.
    let cases: [(&str, i32, &[&str]); 6] = [
        ("neuron", 5, &["show", "tea-1f3c"]),
        ("metadata", 5, &["export"]),
        ("ledger", 0, &["ledger"]),
        ("goal", 0, &["goal", "list"]),
        ("chapter", 0, &["story"]),
        ("run", 5, &["show", "20260126t143200003z-q344a2m6-memory"]),
    ];
    let wake = sandbox.tip("wake");
    let commits = cases.iter().map(|(tag, ..)| (format!("refs/heads/hostile/{tag}"), vec![bad(tag)])).collect();
    import(&sandbox, &commits);
    for (tag, code, args) in cases {
        sandbox.git(&["update-ref", "refs/heads/wake", &format!("hostile/{tag}")]);
        let (refs, objects) = (sandbox.refs(), sandbox.object_count());
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let answer = sandbox.brain(&args).exits(code);
        let message = match code {
            0 => answer.err.clone(),
            _ => answer.error()["error"].as_str().unwrap().to_owned(),
        };
        assert!(message.contains(&bad(tag).0) && message.contains("line 2"), "{tag}: {message}");
        assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects), "{tag}");
        sandbox.git(&["update-ref", "refs/heads/wake", &wake]);
    }
}
