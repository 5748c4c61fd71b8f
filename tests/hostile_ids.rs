//! Hostile names: in every place where a name comes in, none reaches a path. All are refused before anything is written.

use std::io::Write;
use std::process::Stdio;

use crate::sandbox::{Answer, Sandbox, create, delta};
use serde_json::{Value, json};

/// Names that no id may be.
fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "../../etc/passwd",
        "a/../b",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "C:\\x",
        "~",
        "~root",
        ".git",
        ".GIT",
        ".Git",
        "git~1",
        "GIT~1",
        ".git ",
        ".git.",
        ".git/config",
        ".git\\config",
        ".git::$INDEX_ALLOCATION",
        ".gitattributes",
        ".gitmodules",
        ".gitignore",
        ".mailmap",
        "gitmod~1",
        // Code points that HFS+ ignores.
        ".g\u{200c}it",
        ".\u{200d}git",
        "\u{feff}.git",
        ".gi\u{2060}t",
        // Case, and what normalises to something else.
        "Tea",
        "TEA",
        "t\u{e9}",
        "te\u{301}",
        "\u{ff54}ea",
        "\u{212a}elvin",
        "\u{df}",
        "\u{130}",
        "\u{fb01}ne",
        "con",
        "CON",
        "nul",
        "nul.txt",
        "prn",
        "aux",
        "com1",
        "COM1.json",
        "lpt9",
        "com\u{b9}",
        "conin$",
        "a b",
        "a\nb",
        "a\r",
        "a\tb",
        "\u{7f}",
        "a\u{1b}[31mb",
        "a\u{9b}2J",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{200b}",
        "a\u{2028}b",
        "\u{0}x",
        "-rf",
        "--upload-pack=touch x",
        "-c",
        "--exec=x",
        "-",
        "_x",
        "wake:network",
        "HEAD^",
        "@{-1}",
        "a..b",
        "tea.lock",
        "a*",
        "a?",
        "[a]",
        "a;b",
        "$(touch x)",
        "`x`",
        "a|b",
        "a&b",
        "%2e%2e%2f",
        "a%00b",
        "{}",
        "<a>",
        "a\"b",
        "a'b",
        "a,b",
        "a=b",
        "#",
        "!",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("x".repeat(65));
    names.push("x".repeat(10_000));
    names
}

/// Arguments of processes end at a NUL.
fn arguments() -> Vec<String> {
    hostile().into_iter().filter(|name| !name.contains('\0')).collect()
}

/// What must not change: all refs, and all objects.
fn state(sandbox: &Sandbox) -> (std::collections::BTreeMap<String, String>, usize) {
    (sandbox.refs(), sandbox.object_count())
}

fn is_clean(answer: &Answer) {
    let raw = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!answer.out.contains(raw) && !answer.err.contains(raw), "{answer:?}");
}

#[test]
fn in_delta_documents() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b")])), &[]);
    let before = state(&sandbox);
    let edge = |from: &str, to: &str| json!({"from": from, "to": to, "type": "feeds_into"});
    let with = |op: &str, mut edge: Value, more: Value| {
        edge["op"] = json!(op);
        edge.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edge
    };
    // The whole documents go through the library, as the command reads them: thousands of processes would say no more.
    let mut checked = 0;
    for name in &hostile() {
        let ops = [
            json!({"op": "create", "id": name, "concept": "x", "type": "semantic"}),
            json!({"op": "create", "concept": "x", "type": "episodic", "stimulus": name}),
            json!({"op": "activate", "id": name, "strength": 1}),
            with("connect", edge(name, "a"), json!({"weight": 9})),
            with("connect", edge("a", name), json!({"weight": 9})),
            with("adjust", edge("a", name), json!({"by": 9})),
            with("disconnect", edge(name, "a"), json!({})),
            json!({"op": "reinforce", "error": 0.5, "pathway": [edge("a", name)]}),
            json!({"op": "reword", "id": name, "concept": "x"}),
            json!({"op": "retype", "id": name, "type": "core"}),
            json!({"op": "archive", "id": name, "reason": "x"}),
            json!({"op": "signal", "to": name, "payload": {}}),
            json!({"op": "acknowledge", "signal": name, "payload": {}}),
            json!({"op": "flag", "name": name, "value": true}),
            json!({"op": "outcome", "run": name, "value": 1, "error": 0, "method": "number"}),
            json!({"op": "goal", "text": "x", "level": "terminal", "id": name}),
            json!({"op": "goal", "text": "x", "level": "terminal", "neuron": name}),
            json!({"op": "goal", "text": "x", "level": "terminal", "parent": name}),
        ];
        for op in ops {
            let text = format!("{{\"ops\": [\n{op}]}}");
            let error = git_brain::delta::Document::parse(text.as_bytes(), "delta").expect_err(&text).to_string();
            assert!(error.contains("delta, line 2, ops[0]"), "{error}");
            checked += 1;
        }
        let text = json!({"agent": name, "ops": []}).to_string();
        assert!(git_brain::delta::Document::parse(text.as_bytes(), "delta").is_err(), "{text}");
    }
    // And by the command, each name once.
    for name in &hostile() {
        let op = json!({"op": "signal", "to": name, "payload": {}});
        is_clean(&sandbox.try_apply(&delta(json!([op])), &[]).exits(5));
    }
    assert_eq!(state(&sandbox), before);
    println!("{checked} operations");
}

#[test]
fn on_the_command_line() {
    let sandbox = Sandbox::new();
    let before = state(&sandbox);
    for (turn, name) in arguments().iter().enumerate() {
        let agent = format!("--agent={name}");
        let from = format!("--from={name}");
        let answers = format!("--answers={name}");
        let calls: [(&[&str], &[u8]); 14] = [
            (&["why", "--", name], b""),
            (&["blame", "--", name], b""),
            (&["restore", "--", name], b""),
            (&["propagate", &from[..]], b""),
            (&["outcome", "--value", "1", "--", name], b""),
            (&["ledger", &agent], b""),
            (&["log", &agent], b""),
            (&["run", &agent], b""),
            (&["apply", &agent, "-"], b"{\"ops\": []}"),
            (&["feed", &answers, "text"], b""),
            (&["merge", "--", name], b""),
            (&["approve", "--", name], b""),
            (&["reject", "--", name], b""),
            (&["goal", "close", "--", name], b""),
        ];
        // Each name in a third of the places, each place with a third of the names.
        for (args, input) in calls.into_iter().skip(turn % 3).step_by(3) {
            // Git reads these as revisions, and `log` as a filter.
            let answer = sandbox.brain_with(args, input);
            let is_answer = args[0] == "log" || args[0] == "ledger";
            let refused = matches!(answer.code, 2 | 3 | 5) || (is_answer && answer.code == 0);
            assert!(refused, "{name:?}: {answer}");
            is_clean(&answer);
        }
    }
    assert_eq!(state(&sandbox), before);
}

/// Labels are free text, and never a part of a path: what they become is of our grammar.
#[test]
fn labels_never_become_paths() {
    let sandbox = Sandbox::new();
    let name = |path: &str| {
        path.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"/_-.".contains(&b))
            && !path.contains("..")
    };
    let lines: String = arguments().iter().enumerate().fold(String::new(), |mut lines, (n, label)| {
        let label = if git_brain::model::neuron::check_label(label).is_ok() { label } else { "plain" };
        lines += &format!(
            "{}\n",
            json!({"text": format!("Heron {n} is here."), "source": format!("{label}:{n}"), "session": label})
        );
        lines
    });
    let file = sandbox.file("labels.jsonl", lines.replace(&"x".repeat(10_000), "long"));
    sandbox.json(&["feed", "--file", &file]);
    for path in sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network"]) {
        assert!(name(&path), "{path}");
    }
    for (number, label) in arguments().iter().enumerate() {
        let bad = git_brain::model::neuron::check_label(label).is_err();
        if bad && number % 4 == 0 {
            let before = state(&sandbox);
            let (source, session) = (format!("--source={label}"), format!("--session={label}"));
            for flag in [source, session] {
                let answer = sandbox.brain(&["feed", &flag, "text"]);
                assert!(matches!(answer.code, 2 | 3 | 5), "{answer}");
                is_clean(&answer);
            }
            assert_eq!(state(&sandbox), before);
        }
    }
    sandbox.fsck();
}

/// An object of git's, made without git's own checks of names.
fn object(sandbox: &Sandbox, kind: &str, bytes: &[u8]) -> String {
    let args = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"];
    let mut child = sandbox.command("git", &args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    String::from_utf8(ended.stdout).unwrap().trim().to_owned()
}

fn raw(id: &str) -> Vec<u8> {
    (0..20).map(|i| u8::from_str_radix(&id[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// The tree `id` with one entry more below its folder `network`.
fn with_entry(sandbox: &Sandbox, id: &str, mode: &str, name: &str, target: &str) -> String {
    let listed = sandbox.lines(&["ls-tree", &format!("{id}:network")]);
    let mut entries: Vec<(String, String, String)> = listed
        .iter()
        .map(|line| {
            let (head, name) = line.split_once('\t').unwrap();
            let head: Vec<&str> = head.split(' ').collect();
            (head[0].trim_start_matches('0').to_owned(), name.to_owned(), head[2].to_owned())
        })
        .collect();
    entries.push((mode.to_owned(), name.to_owned(), target.to_owned()));
    let key =
        |(mode, name, _): &(String, String, String)| if mode == "40000" { format!("{name}/") } else { name.clone() };
    entries.sort_by_key(key);
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend(format!("{mode} {name}\0").bytes());
        bytes.extend(raw(&id));
    }
    let network = object(sandbox, "tree", &bytes);
    let root = sandbox.git(&["ls-tree", id]).lines().fold(Vec::new(), |mut bytes, line| {
        let (head, name) = line.split_once('\t').unwrap();
        let head: Vec<&str> = head.split(' ').collect();
        bytes.extend(format!("{} {name}\0", head[0].trim_start_matches('0')).bytes());
        bytes.extend(raw(if name == "network" { &network } else { head[2] }));
        bytes
    });
    object(sandbox, "tree", &root)
}

#[test]
fn in_trees_of_others() {
    let sandbox = Sandbox::new();
    let wake = sandbox.tip("wake");
    let blob = object(&sandbox, "blob", b"{}\n");
    let folder = object(&sandbox, "tree", &[b"100644 config\0".to_vec(), raw(&blob)].concat());
    let mut refused = 0;
    let names = hostile().into_iter().filter(|name| !name.is_empty() && !name.contains(['/', '\0']));
    for (turn, name) in names.enumerate() {
        let kinds = [("100644", &blob), ("40000", &folder), ("120000", &blob), ("160000", &wake)];
        for (mode, target) in [kinds[0], kinds[1 + turn % 3]] {
            let tree = with_entry(&sandbox, &wake, mode, &name, target);
            let date = "1769437920 +0000";
            let text = format!("tree {tree}\nparent {wake}\nauthor E <e@x> {date}\ncommitter E <e@x> {date}\n\nx\n");
            let commit = object(&sandbox, "commit", text.as_bytes());
            sandbox.git(&["update-ref", "refs/heads/agents/memory/20260126t143200000z-abcd2345-memory", &commit]);
            let answer = sandbox.brain(&["merge", "agents/memory/20260126t143200000z-abcd2345-memory"]);
            assert!(matches!(answer.code, 3 | 5), "{mode} {name:?}: {answer}");
            is_clean(&answer);
            assert_eq!(sandbox.tip("wake"), wake, "{mode} {name:?}");
            refused += 1;
        }
        // Checking it is safe as well, and finds it.
        let check = sandbox.brain(&["check", "agents/memory/20260126t143200000z-abcd2345-memory"]);
        assert!(matches!(check.code, 1 | 5), "{name:?}: {check}");
        is_clean(&check);
    }
    println!("{refused} trees");
}
