//! Secrets: canaries of many kinds and encodings go in by every door, and none is in any object, ref log or private file.

use std::io::Read;

use crate::sandbox::{Sandbox, create, delta};
use serde_json::json;

/// Made up, in the forms that vendors document.
fn canaries() -> Vec<String> {
    let fill = |n: usize| "zX9yW8vU7tS6rQ5pO4nM3lK2jI1h".chars().cycle().take(n).collect::<String>();
    vec![
        "AKIAZX9YW8VU7TS6RQ5P".to_owned(),
        format!("ghp_{}", fill(36)),
        format!("github_pat_{}", fill(50)),
        format!("glpat-{}", fill(20)),
        format!("xoxb-{}", fill(30)),
        format!("sk_live_{}", fill(24)),
        format!("AIza{}", fill(35)),
        format!("sk-ant-api03-{}", fill(60)),
        format!("sk-proj-{}", fill(60)),
        format!("npm_{}", fill(36)),
        format!("pypi-{}", fill(60)),
        format!("eyJhbGciOiJI.eyJzdWIiOiIx.{}", fill(43)),
    ]
}

/// Of other forms, touched by other letters, and in other letters.
fn more_canaries() -> Vec<String> {
    let fill = |n: usize| "zX9yW8vU7tS6rQ5pO4nM3lK2jI1h".chars().cycle().take(n).collect::<String>();
    let wide: String = canaries()[1].chars().map(|c| char::from_u32(c as u32 + 0xfee0).unwrap()).collect();
    vec![
        format!("glptt-{}", "0a1b2c3d4e".repeat(4)),
        format!("xapp-1-A0ZX9YW8VU-7201839456123-{}", "0a1b2c3d".repeat(8)),
        format!("gsk_{}", fill(52)),
        format!("hvs.{}", fill(95)),
        format!("dckr_pat_{}", fill(27)),
        format!("sk-or-v1-{}", "0a1b2c3d".repeat(8)),
        format!("AccountKey={}==", fill(86)),
        format!("7201839456:AA{}", fill(33)),
        format!("GITHUB_{}", canaries()[1]),
        format!("\\n{}%0A", canaries()[3]),
        format!("#{wide}"),
        wide,
    ]
}

const KEY: &str = "correct horse/\"battery\" Zürich+staple";

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let all = (0..3).fold(0_u32, |n, k| n << 8 | u32::from(chunk.get(k).copied().unwrap_or(0)));
        for k in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(all >> (18 - 6 * k) & 63) as usize]));
        }
        text.push_str(&"=="[..3 - chunk.len()]);
    }
    text
}

/// The key of a variable, as programs print it.
fn encodings() -> Vec<String> {
    let hex = |upper: bool| -> String {
        KEY.bytes().map(|b| if upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect()
    };
    let percent: String = KEY
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    let mut all = vec![KEY.to_owned(), serde_json::to_string(KEY).unwrap(), hex(false), hex(true), percent];
    for before in ["", "x", "xy"] {
        let standard = base64(format!("{before}{KEY}").as_bytes());
        all.extend([standard.replace('+', "-").replace('/', "_").replace('=', ""), standard]);
    }
    all
}

/// Every byte that the git folder holds: objects unpacked, reachable or not, and all other files.
fn everything(sandbox: &Sandbox) -> Vec<u8> {
    let objects = sandbox.command("git", &["cat-file", "--batch-all-objects", "--batch"]).output().unwrap();
    assert!(objects.status.success());
    let mut all = objects.stdout;
    for entry in walkdir::WalkDir::new(sandbox.dir().join(".git")).into_iter().flatten() {
        if entry.file_type().is_file() && !entry.path().to_string_lossy().contains("/objects/") {
            std::fs::File::open(entry.path()).unwrap().read_to_end(&mut all).unwrap();
        }
    }
    all
}

fn holds(all: &[u8], part: &str) -> bool {
    all.windows(part.len()).any(|window| window == part.as_bytes())
}

/// What of a secret must not be seen: its middle, which no encoding of its surroundings changes.
fn core(secret: &str) -> &str {
    let (from, to) = (secret.len() / 3, secret.len() - 5);
    secret.get(from..to).unwrap_or(secret)
}

#[test]
fn no_door_lets_a_secret_in() {
    let sandbox = Sandbox::new().with("SMALL_KEY", KEY).with("BRAIN_TOKEN", "a-token-of-this-machine");
    let settings = "[models.small]\nprovider = \"openai\"\nmodel = \"m\"\nkey_env = \"SMALL_KEY\"\n";
    std::fs::write(sandbox.dir().join("brain.toml"), settings).unwrap();
    sandbox.git(&["commit", "-q", "-am", "settings: a model"]);
    let mut secrets = canaries();
    secrets.extend(encodings());
    secrets.push("a-token-of-this-machine".to_owned());
    secrets.extend(more_canaries());

    // Each by a way of its own, so that every kind goes through every door.
    let lines: String = secrets
        .iter()
        .enumerate()
        .map(|(n, s)| json!({"text": format!("Thé {n}: {s} and tea"), "source": format!("src {s}"), "session": format!("ses {s}")}))
        .map(|line| format!("{line}\n"))
        .collect();
    let batch = sandbox.file("batch.jsonl", &lines);
    sandbox.brain(&["feed", "--no-run", "--file", &batch]).exits(0);
    let note = sandbox.file(&format!("{}.txt", canaries()[1]), secrets.join("\n"));
    sandbox.brain(&["feed", "--no-run", "--file", &note]).exits(0);
    for secret in [&secrets[1], &secrets[12], &secrets[13]] {
        sandbox.brain(&["feed", "--no-run", "--source", secret, "--session", secret, secret]).exits(0);
    }
    let ops: Vec<_> = secrets
        .iter()
        .flat_map(|s| {
            [
                json!({"op": "create", "concept": format!("about {s}"), "type": "semantic"}),
                json!({"op": "signal", "to": "memory", "payload": {"kind": "note", s: [s, {"deep": s}]}}),
            ]
        })
        .collect();
    let document = json!({"prediction": {"text": secrets.join(" "), "value": 0.5}, "ops": ops});
    sandbox.apply(&document, &[]);
    let run = sandbox.apply(&delta(json!([create("tea")])), &[])["run"].as_str().unwrap().to_owned();
    let shown = format!("it worked with {} and {}", secrets[0], secrets[12]);
    sandbox.brain(&["outcome", &run, "--value", "1", "--text", &shown]);
    sandbox.brain(&["goal", "add", &format!("rotate {} soon {}", secrets[2], KEY)]).exits(0);
    let neurons: Vec<_> = secrets
        .iter()
        .enumerate()
        .map(|(n, s)| json!({"id": format!("i{n}"), "concept": format!("imported {s}"), "type": "semantic"}))
        .collect();
    let network = sandbox.file("network.json", json!({"neurons": neurons}).to_string());
    sandbox.brain(&["import", &network]).exits(0);
    let triples: String = secrets
        .iter()
        .map(|s| format!("{}\n", json!({"subject": format!("sub {s}"), "relation": "r", "object": s, "source": s})))
        .collect();
    let triples = sandbox.file("triples.jsonl", triples);
    sandbox.brain(&["import", "--triples", &triples]).exits(0);

    // A program says it, on both of its outputs.
    let said = json!({"ops": [{"op": "create", "concept": secrets.join(" "), "type": "semantic"}]});
    let answer = sandbox.file("answer.json", said.to_string());
    for script in [format!("cat '{answer}'"), format!("cat '{answer}' >&2; exit 1")] {
        let definition = json!({
            "name": "echo", "role": "Says.", "trigger": {"any": []},
            "cognition": {"kind": "command", "argv": ["sh", "-c", script], "reads": [answer]},
            "capabilities": {"operations": ["create"], "types": ["semantic"]},
        });
        std::fs::write(sandbox.dir().join("agents/echo.json"), definition.to_string()).unwrap();
        sandbox.git(&["add", "agents"]);
        sandbox.git(&["commit", "-q", "-m", "agents: echo"]);
        sandbox.brain(&["trust", "--yes"]).exits(0);
        let ended = sandbox.brain(&["run", "--agent", "echo"]);
        for secret in &secrets {
            assert!(!ended.out.contains(core(secret)) && !ended.err.contains(core(secret)), "{secret}: {ended}");
        }
    }
    sandbox.brain(&["run"]);
    sandbox.brain(&["sleep"]);
    let all = everything(&sandbox);
    assert!(holds(&all, "[redacted:github-token]") && holds(&all, "[redacted:known-value]"));
    assert!(holds(&all, "imported [redacted") && holds(&all, "rotate [redacted:github-token] soon"));
    for secret in &secrets {
        assert!(!holds(&all, core(secret)), "{secret} is in the repository");
    }
    // The text around it is as it was.
    assert!(holds(&all, "Thé 1: [redacted:github-token] and tea"));
    sandbox.fsck();
}

#[test]
fn what_is_wrong_beside_a_secret_is_told_with_its_own_line() {
    let sandbox = Sandbox::new();
    let token = &canaries()[1];
    // Three on one line, nothing on the next: as nobody's program would write it.
    let first = format!(r#"{{"op": "create", "id": "a", "concept": "about {token}", "type": "semantic"}}"#);
    let others = [
        // A field that is none, a key that stands twice, an id that is none because a secret was in it.
        (r#"{"op": "create", "concept": "b", "typo": "semantic"}"#.to_owned(), "line 6"),
        (r#"{"op": "create", "concept": "b", "concept": "c", "type": "semantic"}"#.to_owned(), "line 6"),
        (format!(r#"{{"op": "create", "id": "{token}", "concept": "b", "type": "semantic"}}"#), "line 6"),
    ];
    for (other, says) in others {
        let document = format!(
            "{{\"ops\": [{first}, {{\"op\": \"reword\", \"id\": \"a\",\n\n\n\"concept\": \"x\"}},\n\n{other}]}}"
        );
        let file = sandbox.file("delta.json", &document);
        let answer = sandbox.brain(&["apply", &file]);
        assert!([3, 5].contains(&answer.code) && answer.err.contains("delta.json"), "{answer}");
        assert!(answer.err.contains(says) && !answer.err.contains(core(token)), "{answer}");
    }
    let network = format!(
        "{{\"neurons\": [{{\"id\": \"a\", \"concept\": \"{token}\", \"type\": \"semantic\"}},\n\n{{\"id\": \"b\", \"concept\": \"{token}\",\n\"typo\": 1}}]}}"
    );
    let answer = sandbox.brain(&["import", &sandbox.file("net.json", network)]).exits(5);
    assert!(answer.err.contains("line 4"), "{answer}");
    // A program's answer as well.
    let said = format!("{{\"ops\": [{first},\n\n{{\"op\": \"create\", \"typo\": 1}}]}}");
    let definition = json!({
        "name": "echo", "role": "Says.", "trigger": {"any": []},
        "cognition": {"kind": "command", "argv": ["printf", "%s", said]},
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    std::fs::write(
        sandbox.dir().join("agents/echo.json"),
        definition.to_string().replace(token.as_str(), "glpat-zX9yW8vU7tS6rQ5pO4nM"),
    )
    .unwrap();
    sandbox.git(&["add", "agents"]);
    sandbox.git(&["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "agents: echo"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let ended = sandbox.brain(&["run", "--agent", "echo"]);
    assert!(ended.out.contains("line 3"), "{ended}");
}

#[test]
fn what_is_allowed_or_was_there_before_stays() {
    let sandbox = Sandbox::new();
    let token = &canaries()[1];
    sandbox
        .brain(&["-c", "secrets.allow=[\"github-token\"]", "feed", "--source", "a", &format!("old {token}")])
        .exits(0);
    assert!(holds(&everything(&sandbox), token));
    // The neuron that has it changes and is merged by who allows nothing.
    let neurons = sandbox.neurons("wake");
    let (id, _) = neurons.iter().find(|(_, n)| n["concept"].as_str().unwrap().contains(token.as_str())).unwrap();
    sandbox.apply(&delta(json!([{"op": "activate", "id": id, "strength": 1}])), &[]);
    assert!(sandbox.neuron(id)["concept"].as_str().unwrap().contains(token.as_str()));
    // A clone's brain.toml opens nothing until a person has looked at it.
    std::fs::write(sandbox.dir().join("brain.toml"), "[secrets]\nallow = [\".*\"]\n").unwrap();
    sandbox.git(&["commit", "-q", "-am", "settings: all is allowed"]);
    sandbox.brain(&["feed", "--no-run", "--source", "b", &format!("new {}", canaries()[3])]).exits(0);
    assert!(!holds(&everything(&sandbox), &canaries()[3]));
    assert!(sandbox.brain(&["trust", "--list"]).exits(0).out.contains("let through"));
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox.brain(&["feed", "--no-run", "--source", "b", &format!("new {}", canaries()[3])]).exits(0);
    assert!(holds(&everything(&sandbox), &canaries()[3]));
}

#[test]
fn conversations_hold_nothing_that_is_taken_for_a_secret() {
    let secrets = git_brain::model::secret::Secrets::default();
    let mut looked = 0;
    for entry in walkdir::WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).into_iter().flatten() {
        let name = entry.path().to_string_lossy().into_owned();
        if !entry.file_type().is_file() || name.ends_with(".rs") {
            continue;
        }
        let content = std::fs::read(entry.path()).unwrap();
        looked += content.len();
        assert_eq!(secrets.find(&content), [], "{name}");
    }
    assert!(looked > 100_000, "{looked} bytes");
}
