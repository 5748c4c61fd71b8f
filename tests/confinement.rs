//! Programs as agents are confined: what they may read, write, reach and use up. Each case is a program that tries.

use std::io::Read;
use std::net::{TcpListener, UdpSocket};

use crate::sandbox::{self, Answer, Sandbox, create, delta};
use serde_json::{Value, json};

const NOTHING: &str = r#"{"ops": []}"#;

/// A brain with a trusted agent `echo` that runs a script, and what its definition says beside that.
fn brain(script: &str, more: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    define(&sandbox, script, more);
    sandbox
}

fn define(sandbox: &Sandbox, script: &str, more: &Value) {
    let mut cognition = json!({"kind": "command", "argv": ["sh", "-c", script], "timeout_ms": 20_000});
    for (key, value) in more.as_object().into_iter().flatten() {
        cognition[key] = value.clone();
    }
    let definition = json!({
        "name": "echo", "role": "Answers by a program.", "trigger": {"any": []}, "cognition": cognition,
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    std::fs::write(sandbox.dir().join("agents/echo.json"), format!("{definition:#}\n")).unwrap();
    sandbox.git(&["add", "agents/echo.json"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "agents: echo"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
}

fn run(sandbox: &Sandbox) -> Answer {
    sandbox.brain(&["--json", "run", "--agent", "echo"])
}

/// What the program said before it failed.
fn said(sandbox: &Sandbox) -> String {
    let answer = run(sandbox);
    let failures = answer.document()["failures"].clone();
    failures[0]["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// True where the kernel confines paths; says so where it does not.
fn has_landlock(sandbox: &Sandbox) -> bool {
    let report = sandbox.brain(&["--json", "doctor", "--dry-run"]);
    let has = report.out.contains("Landlock");
    if !has {
        println!("skipped: this kernel has no Landlock 6");
    }
    has
}

#[test]
fn no_secret_of_the_environment_reaches_a_program() {
    let names = [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITLAB_TOKEN",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "HF_TOKEN",
        "NPM_TOKEN",
        "SSH_AUTH_SOCK",
        "GPG_AGENT_INFO",
        "DATABASE_URL",
        "BRAIN_TOKEN",
        "KUBECONFIG",
        "LD_PRELOAD_CANARY",
        "GIT_ASKPASS",
        "HTTP_PROXY",
        "NETRC",
    ];
    let mut sandbox = Sandbox::new();
    for name in names {
        sandbox = sandbox.with(name, "canary-of-the-environment");
    }
    let script =
        "{ env; cat /proc/self/environ; cat /proc/$PPID/environ; tr '\\0' '\\n' < /proc/$PPID/cmdline; } >&2; exit 1";
    define(&sandbox, script, &json!({}));
    let said = said(&sandbox);
    assert!(!said.contains("canary") && !said.contains("redacted"), "{said}");
    assert!(said.contains("HOME="), "it did run: {said}");
}

#[test]
fn a_program_reads_the_system_and_not_what_is_yours() {
    let sandbox = brain("exit 0", &json!({}));
    if !has_landlock(&sandbox) {
        return;
    }
    let key = sandbox.file("home/.ssh/id_ed25519", "canary-of-ssh");
    let brain = sandbox.dir().join("brain.toml").display().to_string();
    let git = sandbox.dir().join(".git/config").display().to_string();
    let listed = sandbox.file("listed/data", "may be read");
    let sneaky = sandbox.dir().join(".git/git-brain").display().to_string();
    let script = format!(
        "{{ ls /usr/bin >/dev/null && echo system; cat /etc/passwd >/dev/null && echo etc; cat '{listed}'; \
         for f in '{key}' '{brain}' '{git}' /etc/shadow /etc/hostname /etc/machine-id /proc/1/environ; do cat \"$f\" && echo READ; done; \
         ls '{sneaky}' '{home}' /tmp && echo LISTED; cat < \"$HOME/../$(basename '{key}')\"; \
         ln -s '{key}' \"$HOME/link\" && cat \"$HOME/link\" && echo LINKED; }} >&2; exit 1",
        home = sandbox.path("home"),
    );
    define(&sandbox, &script, &json!({"reads": [sandbox.path("listed")]}));
    let said = said(&sandbox);
    for good in ["system", "etc", "may be read"] {
        assert!(said.contains(good), "{good}: {said}");
    }
    for bad in ["canary", "READ", "LISTED", "LINKED", "[core]"] {
        assert!(!said.contains(bad), "{bad}: {said}");
    }
}

#[test]
fn a_program_writes_where_its_definition_says_and_nowhere_else() {
    let sandbox = brain("exit 0", &json!({}));
    if !has_landlock(&sandbox) {
        return;
    }
    std::fs::create_dir(sandbox.beside("open")).unwrap();
    let outside =
        [sandbox.path("outside"), sandbox.path("home/outside"), sandbox.dir().join("outside").display().to_string()];
    let hook = sandbox.dir().join(".git/hooks/post-commit").display().to_string();
    let script = format!(
        "echo x > own && echo x > \"$HOME/own\" && echo x > /dev/null && echo x > '{open}/it' && echo allowed >&2; \
         for f in '{a}' '{b}' '{c}' '{hook}' /etc/outside /usr/outside /tmp/git-brain-outside; do \
         (echo x > \"$f\") && echo WROTE >&2; mkdir \"$f.d\" && echo MADE >&2; done; \
         rm -rf '{dir}/brain.toml' '{dir}/.git'; exit 1",
        dir = sandbox.dir().display(),
        open = sandbox.path("open"),
        a = outside[0],
        b = outside[1],
        c = outside[2],
    );
    define(&sandbox, &script, &json!({"writes": [sandbox.path("open")]}));
    let said = said(&sandbox);
    assert!(said.contains("allowed"), "{said}");
    for bad in ["WROTE", "MADE"] {
        assert!(!said.contains(bad), "{said}");
    }
    assert!(sandbox.beside("open/it").exists());
    assert!(sandbox.dir().join("brain.toml").exists());
    assert!(outside.iter().all(|path| !std::path::Path::new(path).exists()));
    sandbox.fsck();
}

/// A program that tries every way out that a socket is.
fn calling(tcp: u16, udp: u16) -> String {
    format!(
        "import socket, json\nways = []\n\
         def tcp():\n  socket.create_connection(('127.0.0.1', {tcp}), 2).sendall(b'canary')\n\
         def udp():\n  socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'canary', ('127.0.0.1', {udp}))\n\
         def unix():\n  socket.socket(socket.AF_UNIX)\n\
         def bind():\n  s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
         for way in (tcp, udp, unix, bind):\n  try:\n    way(); ways.append(way.__name__)\n  except OSError:\n    pass\n\
         import sys\nprint('ways', *ways, 'end', file=sys.stderr)\nsys.exit(1)"
    )
}

#[test]
fn a_program_reaches_nobody_unless_its_definition_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let script = calling(listener.local_addr().unwrap().port(), datagrams.local_addr().unwrap().port());
    let sandbox = Sandbox::new();
    let file = sandbox.file("call.py", &script);
    if sandbox.command("/usr/bin/python3", &["-c", ""]).status().is_err() {
        println!("skipped: there is no /usr/bin/python3");
        return;
    }
    define(&sandbox, &format!("exec /usr/bin/python3 '{file}'"), &json!({"reads": [file]}));
    let refused = said(&sandbox);
    assert!(refused.contains("ways end"), "{refused}");
    assert!(listener.accept().is_err(), "nobody called");
    assert!(datagrams.recv(&mut [0; 16]).is_err(), "nothing came");
    define(&sandbox, &format!("exec /usr/bin/python3 '{file}'"), &json!({"reads": [file], "network": true}));
    let open = said(&sandbox);
    let namespaces = sandbox.brain(&["doctor", "--dry-run"]).out.contains("confined by namespaces");
    let ways = if namespaces { "ways tcp udp unix bind end" } else { "ways tcp udp bind end" };
    assert!(open.contains(ways), "{open}");
    assert!(listener.accept().is_ok(), "and the listener does hear");
    assert!(datagrams.recv(&mut [0; 16]).is_ok());
    // A person who trusts it is told.
    let listed = sandbox.brain(&["trust", "--list"]).exits(0).out;
    assert!(listed.contains("network"), "{listed}");
}

#[test]
fn no_descriptor_is_inherited() {
    let sandbox = Sandbox::new();
    let secret = sandbox.file("home/secret", "canary-of-a-file");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    define(
        &sandbox,
        "{ cat <&7; echo canary >&8; echo canary >&9; ls /proc/self/fd; echo tried; } >&2; exit 1",
        &json!({}),
    );
    let brain = sandbox::PROGRAM;
    let left_open =
        format!("exec 7<'{secret}' 8<>/dev/tcp/127.0.0.1/{port} 9>>'{secret}'; exec '{brain}' --json run --agent echo");
    if sandbox.command("bash", &["-c", ""]).status().is_err() {
        println!("skipped: there is no bash");
        return;
    }
    let output = sandbox.command("bash", &["-c", &left_open]).stdin(std::process::Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("tried") && !said.contains("canary"), "{said}");
    let (mut heard, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    heard.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes, std::fs::read_to_string(&secret).unwrap()), (Vec::new(), "canary-of-a-file".to_owned()));
}

#[test]
fn a_program_that_its_confinement_stops_says_so() {
    let sandbox = Sandbox::new();
    let hidden = sandbox.file("home/lib/module.py", "x = 1");
    let shim = sandbox.file("home/shims/python3", "#!/bin/sh\nexec \"$(dirname \"$0\")/../versions/python3\" \"$@\"\n");
    let real = sandbox.file("home/versions/python3", "#!/bin/sh\necho '{\"ops\": []}'\n");
    for file in [&shim, &real] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let cases = [
        (json!({"argv": [shim]}), true),
        (json!({"argv": ["sh", "-c", format!("cat '{hidden}'")]}), true),
        (json!({"argv": ["sh", "-c", "no-such-program"]}), true),
        (json!({"argv": ["sh", "-c", format!("cat '{hidden}'; echo no JSON")]}), true),
        (json!({"argv": ["sh", "-c", "echo 'it is \u{1b}[31mmy own fault' >&2; echo no JSON"]}), false),
        (json!({"argv": ["sh", "-c", "echo 'it is my own fault' >&2; exit 3"]}), false),
    ];
    for (more, confined) in cases {
        define(&sandbox, "", &more);
        let said = said(&sandbox);
        assert_eq!(
            said.contains("it ran confined: it reads the system, and has no network"),
            confined,
            "{more}: {said}"
        );
        assert!(confined == said.contains("`reads`") && (confined || said.contains("my own fault")), "{more}: {said}");
        assert_eq!(
            more["argv"][2].as_str().is_some_and(|script| script.ends_with("echo no JSON")),
            said.contains("printed no JSON"),
            "{said}"
        );
        let shown = sandbox.brain(&["run", "--agent", "echo"]).out;
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
    // What it says to allow is what it takes.
    define(&sandbox, "", &json!({"argv": [shim], "reads": ["~/versions"]}));
    run(&sandbox).exits(0);
}

#[test]
fn what_holds_programs_here_is_said() {
    let sandbox = brain("exit 0", &json!({}));
    let doctor = sandbox.brain(&["--json", "doctor", "--dry-run"]).document();
    let found = doctor["findings"].as_array().unwrap().iter().find(|found| found["what"] == "confinement").cloned();
    let holds = found.unwrap()["message"].as_str().unwrap().to_owned();
    assert!(holds.contains("programs of agents"), "{holds}");
    assert_eq!(sandbox.json(&["trust", "--list"])["confinement"], holds);
    assert!(sandbox.brain(&["trust", "--list"]).exits(0).out.contains(&holds));
    let (_, lack) = holds.split_once("; ").unwrap_or((&holds, ""));
    let notes = run(&sandbox).document()["notes"].to_string();
    assert_eq!(!lack.is_empty(), notes.contains("programs of agents"), "{holds}: {notes}");
    assert!(notes.contains(lack), "{holds}: {notes}");
}

#[test]
fn what_a_program_uses_up_has_bounds() {
    let sandbox = Sandbox::new();
    if !std::path::Path::new("/usr/bin/python3").exists() {
        println!("skipped: there is no /usr/bin/python3");
        return;
    }
    let python = |code: &str| format!("exec /usr/bin/python3 -c '{code}'");
    let cases = [
        (
            "processor time",
            "while :; do :; done".to_owned(),
            json!({"cpu_seconds": 1, "timeout_ms": 600_000}),
            "signal",
        ),
        ("memory", python("x = bytearray(1 << 30)"), json!({"memory_mb": 200}), "MemoryError"),
        ("a large file", "head -c 1200000000 /dev/zero > big".to_owned(), json!({}), "ended with"),
        ("output", "head -c 1000000000 /dev/zero".to_owned(), json!({}), "more than"),
        ("what it complains", "head -c 100000000 /dev/zero >&2; exit 1".to_owned(), json!({}), "exit status"),
        (
            "processes",
            "i=0; while [ $i -lt 400 ]; do sleep 60 & i=$((i+1)); done; wait".to_owned(),
            json!({}),
            "too many processes",
        ),
        ("time", "sleep 600".to_owned(), json!({"timeout_ms": 300}), "did not finish"),
        ("files", python("[open(\"/dev/null\") for _ in range(2000)]"), json!({}), "Too many open files"),
    ];
    for (name, script, more, why) in cases {
        define(&sandbox, &script, &more);
        let said = said(&sandbox);
        assert!(said.contains(why), "{name}: {said}");
        // A program that keeps to its bounds runs on the same machine right after.
        define(&sandbox, &format!("cat > /dev/null; echo '{NOTHING}'"), &json!({}));
        run(&sandbox).exits(0);
    }
}

#[test]
fn what_cannot_start_says_so_and_costs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("tea")])), &[]);
    let file = sandbox.file("script-without-a-head", "not a program");
    for argv in [json!(["no-such-program"]), json!(["/nonexistent"]), json!(["./relative"]), json!([file])] {
        define(&sandbox, "", &json!({"argv": argv}));
        let said = said(&sandbox);
        assert!(said.contains("cannot start"), "{argv}: {said}");
    }
    let status = sandbox.json(&["status", "--quick"]);
    let turns = status["budget"].as_array().unwrap().iter().find(|b| b["bound"] == "budget.turns_per_day").cloned();
    assert_eq!(turns.unwrap()["spent"], 0, "{status}");
}
