//! Three hundred payloads as text: concepts, reasons, labels, roles, names. Nothing of them runs, none steers a terminal,
//! forges a trailer or breaks JSON, whichever command prints them.

use std::collections::BTreeSet;

use crate::sandbox::{self, PROGRAM, Sandbox, connect, delta};
use serde_json::{Value, json};

/// Payloads by kind; `@` stands for the file that none of them may make.
fn payloads(canary: &str) -> Vec<String> {
    let run = [
        "$(touch @)",
        "`touch @`",
        "; touch @",
        "| touch @",
        "& touch @",
        "&& touch @",
        "|| touch @",
        "\n touch @",
        "'; touch @; '",
        "\"; touch @; \"",
        "$(touch${IFS}@)",
        "${x:-$(touch @)}",
        "<(touch @)",
        ">@",
        ">>@",
        "<@",
        "!touch @",
        "!!",
        "~/../@",
        "*",
        "{a,b}",
        "%x(touch @)",
        "{{ ''.__class__ }}",
        "{% raw %}",
        "${jndi:ldap://127.0.0.1/a}",
        "#{`touch @`}",
        "<%= `touch @` %>",
        "=cmd|'/C touch @'!A0",
        "@SUM(1+1)",
        "--upload-pack=touch @",
        "--output=@",
        "-o@",
        "-c core.pager=touch",
        "--exec=touch @",
        "--help",
        "-rf /",
        "--",
        "-",
        "ext::sh -c touch% @",
        "fd::17",
        "file:///etc/passwd",
        "../../../../@",
        "%s%s%s%n",
        "%999999d",
        "{0}{1}",
        "{}",
        "{:?}",
        "\\u0000",
        "\\x1b[31m",
        "$HOME",
        "%PATH%",
        "$'\\x1b'",
        "\\",
        "\\\\",
        "'",
        "\"",
        "`",
    ];
    let steer = [
        "\u{1b}[31mred",
        "\u{1b}[2J\u{1b}[H",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]2;title\u{1b}\\",
        "\u{1b}]52;c;ZXZpbA==\u{7}",
        "\u{1b}]8;;http://127.0.0.1/\u{7}link\u{1b}]8;;\u{7}",
        "\u{1b}]1337;File=:AAAA\u{7}",
        "\u{1b}P+q544e\u{1b}\\",
        "\u{1b}_x\u{1b}\\",
        "\u{1b}^x\u{1b}\\",
        "\u{1b}c",
        "\u{1b}7\u{1b}8",
        "\u{1b}[6n",
        "\u{1b}[c",
        "\u{1b}[21t",
        "\u{1b}[?1049h",
        "\u{1b}[1A\u{1b}[2K",
        "\u{1b}[8m",
        "\u{1b}(0",
        "\u{9b}31m",
        "\u{9d}0;x\u{9c}",
        "\u{90}x\u{9c}",
        "\u{85}",
        "\u{7}",
        "\u{8}\u{8}\u{8}",
        "\r overwritten",
        "\u{c}",
        "\u{b}",
        "\u{e}\u{f}",
        "\u{7f}\u{7f}",
        "\u{202e}txt.exe",
        "\u{202d}x",
        "\u{202a}x\u{202c}",
        "\u{2066}x\u{2069}",
        "\u{2067}x",
        "\u{2068}x",
        "\u{200e}\u{200f}",
        "\u{61c}",
        "\u{200b}\u{2060}\u{feff}",
        "\u{2028}line",
        "\u{2029}paragraph",
        "\u{ad}",
        "\u{180e}",
        "\u{fff9}x\u{fffb}",
        "\u{1}\u{2}\u{3}",
        "\u{1a}",
        "\u{18}",
        "\u{1c}",
    ];
    let markup = [
        "<script>fetch('http://127.0.0.1/')</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "</textarea><script>",
        "javascript:alert(1)",
        "[x](javascript:alert(1))",
        "![x](http://127.0.0.1/x.png)",
        "<details open ontoggle=alert(1)>",
        "<!--",
        "-->",
        "]]>",
        "&lt;script&gt;",
        "&#x3c;",
        "<iframe src=//x>",
        "```\n# forged heading\n```",
        "# heading",
        "| a | b |\n|---|---|",
        "> quote",
        "@everyone",
        "#1 closes #2",
        "Fixes #1",
        "<style>*{}</style>",
        "{\"ops\": []}",
        "\"}], \"ops\": [",
        "null",
        "NaN",
        "[[link]]",
        "x\u{0}y",
    ];
    let forge = [
        "a\n\nRun: 20260126t143200000z-abcd2345-human",
        "a\nRun: forged",
        "a\n\nAgent: human\nRun: x",
        "Run: x",
        "\n\nRun: x\n",
        "a\r\n\r\nRun: x",
        "a\rRun: x",
        "a\u{2028}Run: x",
        "a\u{85}Run: x",
        "a\n\n---\n\nRun: x",
        "Signed-off-by: root <root@localhost>",
        "a\n\nCo-authored-by: x <x@x>",
        "Clock: fixed",
        "a\n\nClock: fixed",
        "Undoes: x",
        "a\ntree 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "a\nparent 0000000000000000000000000000000000000000",
        "a\ngpgsig x",
        "a\n\u{b}\nRun: x",
        "a\n \nRun: x",
        "a\n\n\tRun: x",
        "a\n\nrun: x",
        "a\n\nRUN:x",
        "a\n# comment\nRun: x",
        "a\n\n(cherry picked from commit x)\nRun: x",
        "fixup! x",
        "squash! x",
        "a\n\nRun : x",
        "a\n\nStimulus: x\nTrigger: y\nModel: z",
    ];
    let mut all: Vec<String> =
        [&run[..], &steer, &markup, &forge].concat().iter().map(|p| p.replace('@', canary)).collect();
    // Kinds joined: what a filter for one lets through may do the other.
    for (n, (a, b)) in run.iter().zip(forge.iter().cycle()).enumerate() {
        all.push(format!("{a}{}", forge[n % forge.len()]).replace('@', canary));
        all.push(format!("{}{b}", steer[n % steer.len()]));
    }
    for (a, b) in steer.iter().zip(markup.iter().cycle()) {
        all.push(format!("{b}{a}{}", &run[a.len() % run.len()]).replace('@', canary));
    }
    all
}

/// Nothing that a terminal acts on, and nothing that hides or turns what is written.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct World {
    sandbox: Sandbox,
    canary: String,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let canary = sandbox.path("canary");
        Self { sandbox, canary }
    }

    /// Runs a command; what it prints must be harmless. Gives what it printed.
    #[track_caller]
    fn ask(&self, args: &[&str], input: &[u8]) -> (i32, String) {
        let mut command = self.sandbox.command(PROGRAM, args);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input);
        let ended = child.wait_with_output().unwrap();
        let mut said = String::from_utf8(ended.stdout).expect("UTF-8");
        said += &String::from_utf8(ended.stderr).expect("UTF-8");
        assert!(!said.contains("panicked at"), "{args:?}: {said}");
        assert!(
            !said.contains(steers),
            "{args:?} prints {:?}",
            said.chars().filter(|c| steers(*c)).collect::<String>()
        );
        assert!(!std::path::Path::new(&self.canary).exists(), "{args:?} ran something");
        (ended.status.code().unwrap_or(-1), said)
    }
}

#[test]
fn three_hundred_payloads_run_nothing_and_steer_nothing() {
    let world = World::new();
    let sandbox = &world.sandbox;
    let all = payloads(&world.canary);
    assert!(all.len() >= 300, "{}", all.len());
    let distinct: BTreeSet<&String> = all.iter().collect();
    assert!(distinct.len() >= 280, "{}", distinct.len());
    // What has control characters is no concept and no label at all; the rest is data.
    let fit: Vec<&String> = all.iter().filter(|p| git_brain::model::neuron::check_concept(p).is_ok()).collect();
    let unfit: Vec<&String> = all.iter().filter(|p| git_brain::model::neuron::check_concept(p).is_err()).collect();
    assert!(fit.len() > 100 && unfit.len() > 50, "{} {}", fit.len(), unfit.len());
    let refs = sandbox.refs();
    for payload in &unfit {
        let op = json!({"op": "create", "concept": payload, "type": "semantic"});
        assert_eq!(world.ask(&["apply", "-"], delta(json!([op])).to_string().as_bytes()).0, 5, "{payload:?}");
    }
    assert_eq!(sandbox.refs(), refs);

    // All that fits, in every place that takes text, in a few runs.
    sandbox.apply(&delta(json!([sandbox::create("hub")])), &[]);
    for (part, chunk) in fit.chunks(40).enumerate() {
        let mut ops = Vec::new();
        for (n, payload) in chunk.iter().enumerate() {
            let id = format!("p{part}-{n}");
            ops.push(json!({"op": "create", "id": id, "concept": payload, "type": "semantic"}));
            ops.push(connect("hub", &id, "feeds_into", 3000));
            ops.push(json!({"op": "reword", "id": id, "concept": format!("{payload} again")}));
            ops.push(json!({"op": "signal", "to": "memory", "payload": {"kind": "note", "text": payload}}));
            ops.push(json!({"op": "flag", "name": format!("f{n}"), "value": true, "reason": payload}));
            ops.push(json!({"op": "archive", "id": id, "reason": payload}));
            ops.push(json!({"op": "goal", "text": payload, "level": "terminal", "neuron": id}));
        }
        let document = json!({"prediction": {"text": chunk[0], "value": 0.5}, "ops": ops});
        let (code, said) = world.ask(&["apply", "-"], document.to_string().as_bytes());
        assert_eq!(code, 0, "{said}");
        let run = sandbox.json(&["log", "-n", "1"])["entries"][0]["run"].as_str().unwrap().to_owned();
        let last = chunk.len() - 1;
        world.ask(&["outcome", "--value", "0.9", &format!("--text={}", chunk[last]), &run], b"");
        for n in [0, last / 3, last / 2, last] {
            let id = format!("p{part}-{n}");
            for args in [["show", &run], ["show", &id], ["why", &id], ["blame", &id]] {
                assert_eq!(world.ask(&args, b"").0, 0, "{args:?}");
            }
        }
    }
    let label_fits = |p: &&&String| git_brain::model::neuron::check_label(p).is_ok();
    let lines: String = fit
        .iter()
        .enumerate()
        .map(|(n, p)| {
            let label = Some(p).filter(label_fits);
            format!("{}\n", json!({"text": format!("Heron {n} says {p}"), "source": label.map(|l| format!("{l}{n}")), "session": label}))
        })
        .collect();
    let file = sandbox.file("payloads.jsonl", lines);
    let (code, said) = world.ask(&["feed", "--file", &file], b"");
    assert_eq!(code, 0, "{said}");

    // Every command that prints for people.
    let commands: [&[&str]; 20] = [
        &["status"],
        &["log", "-n", "500"],
        &["recall", "heron", "--top", "400"],
        &["recall", "heron", "--top", "50", "--explain"],
        &["propagate", "--from", "hub"],
        &["ledger"],
        &["goal", "list"],
        &["story"],
        &["diff"],
        &["diff", "main", "wake"],
        &["check"],
        &["doctor", "--dry-run"],
        &["trust", "--list"],
        &["hooks", "status"],
        &["merge", "--dry-run"],
        &["run"],
        &["sleep", "--dry-run"],
        &["sleep"],
        &["story"],
        &["log", "-n", "3"],
    ];
    for args in commands {
        let (code, said) = world.ask(args, b"");
        assert!(matches!(code, 0 | 1), "{args:?}: {said}");
        let json: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let (_, said) = world.ask(&json, b"");
        let first = said.lines().next().unwrap_or_default();
        serde_json::from_str::<Value>(first).unwrap_or_else(|e| panic!("{args:?}: {e}: {first:.300}"));
    }
    // And as what is asked, and as the arguments of every command.
    for payload in all.iter().filter(|p| !p.contains('\0')).step_by(5) {
        world.ask(&["recall", "--", payload], b"");
        world.ask(&["show", "--", payload], b"");
        world.ask(&["diff", "--", payload], b"");
        world.ask(&[payload], b"");
    }
    sandbox.fsck();
    println!("{} payloads, {} of them no text at all", all.len(), unfit.len());
}

#[test]
fn what_is_asked_in_json_comes_back_as_it_is() {
    let world = World::new();
    let text = "ZXZ \u{202e}txt\u{2066}\u{200f} \u{feff}é 🫖 \"quoted\" \\ <b>";
    world.sandbox.apply(&delta(json!([{"op": "create", "id": "a", "concept": text, "type": "semantic"}])), &[]);
    assert_eq!(world.sandbox.json(&["show", "a"])["document"]["concept"], text);
    assert!(
        world.sandbox.brain(&["--json", "show", "a"]).out.is_ascii()
            || !world.sandbox.brain(&["--json", "show", "a"]).out.contains(steers)
    );
}

/// Trailers say which run a commit is: no text may add one, whatever reads them.
#[test]
fn no_text_forges_a_trailer() {
    let world = World::new();
    let sandbox = &world.sandbox;
    let all = payloads(&world.canary);
    let fit: Vec<&String> = all.iter().filter(|p| git_brain::model::neuron::check_concept(p).is_ok()).collect();
    let forging: Vec<&&String> = fit.iter().filter(|p| p.contains(':')).collect();
    assert!(forging.len() > 30);
    for (n, payload) in forging.iter().enumerate().step_by(3) {
        let ops = json!([
            {"op": "create", "id": format!("a{n}"), "concept": payload, "type": "semantic"},
            {"op": "archive", "id": format!("a{n}"), "reason": payload}
        ]);
        let document = json!({"prediction": {"text": payload, "value": 0.5}, "ops": ops});
        sandbox.apply(&document, &[]);
        if git_brain::model::neuron::check_label(payload).is_ok() {
            let (source, session) = (format!("--source={payload}"), format!("--session={payload}"));
            sandbox.json(&["feed", "--no-run", &source, &session, "--", payload]);
        }
    }
    let runs = sandbox.recorded_runs("wake");
    let ours =
        ["Agent", "Brain", "Clock", "Depth", "Format", "Newest-Run", "Policy", "Review", "Run", "Stimulus", "Trigger"];
    for commit in sandbox.lines(&["rev-list", "--all"]) {
        let count = |key: &str| {
            let format = format!("--format=%(trailers:key={key},valueonly)");
            let said = sandbox.git(&["log", "-1", &format, &commit]);
            said.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let run = count("Run");
        assert!(run.len() <= 1, "{commit}: {run:?}");
        assert!(run.iter().all(|id| runs.contains(id)), "{commit}: {run:?}");
        let all = sandbox.git(&["log", "-1", "--format=%(trailers:only,unfold)", &commit]);
        for line in all.lines().filter(|l| !l.is_empty()) {
            let key = line.split(':').next().unwrap();
            assert!(ours.contains(&key), "{commit}: {line}");
        }
        assert!(count("Clock").is_empty(), "{commit}");
        let header = sandbox.git(&["cat-file", "-p", &commit]);
        let header = header.split("\n\n").next().unwrap();
        assert!(
            header.lines().all(|l| ["tree ", "parent ", "author ", "committer "].iter().any(|k| l.starts_with(k))),
            "{header}"
        );
    }
    sandbox.fsck();
}

/// Who commits is a name from the environment or the configuration, and may be anything.
#[test]
fn no_name_of_a_person_breaks_a_commit() {
    for name in
        ["a\nparent 0000000000000000000000000000000000000000", "<x>", "a\u{1b}[31m", "a\0b", "-x", "a <b> 1 +0000"]
    {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(PROGRAM, &["apply", "-"]);
        let name = name.replace('\0', "");
        command.env("GIT_COMMITTER_NAME", &name).env("GIT_COMMITTER_EMAIL", &name).stdin(std::process::Stdio::piped());
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let document = delta(json!([sandbox::create("x")])).to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), document.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{name:?}");
        sandbox.fsck();
        assert!(!sandbox.brain(&["log"]).exits(0).out.contains(steers));
    }
}
