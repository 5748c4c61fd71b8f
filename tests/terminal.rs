//! Conversations on a terminal: the question before something is changed, its answer, and what a program may do that was allowed. A
//! terminal is made by `script` of util-linux; where that is missing, these tests say so and end.

use std::io::{Read, Write};
use std::process::{Child, Stdio};

use crate::endpoint::{Endpoint, Manner};
use crate::sandbox::{PROGRAM, Sandbox};
use serde_json::json;

/// True where a terminal can be made.
fn has_terminal(sandbox: &Sandbox) -> bool {
    let version = sandbox.command("script", &["--version"]).output();
    let has = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"));
    if !has {
        println!("skipped: there is no `script` of util-linux to make a terminal with");
    }
    has
}

/// The program on a terminal of its own.
struct Terminal {
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let line = format!("'{PROGRAM}' {}", quoted.join(" "));
        let mut command = sandbox.command("script", &["--quiet", "--return", "--command", &line, "/dev/null"]);
        command.env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Self { child: command.spawn().unwrap(), seen: String::new() }
    }

    /// Reads until the screen ends with this.
    fn waits_at(&mut self, prompt: &str) {
        let screen = self.child.stdout.as_mut().unwrap();
        let mut byte = [0];
        let mut bytes = Vec::new();
        while !bytes.ends_with(prompt.as_bytes()) {
            assert_eq!(
                screen.read(&mut byte).unwrap(),
                1,
                "it ended before {prompt:?}: {}",
                String::from_utf8_lossy(&bytes)
            );
            bytes.push(byte[0]);
        }
        self.seen += &String::from_utf8_lossy(&bytes);
    }

    fn types(&mut self, keys: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Everything on the screen, once it has ended, and its exit code.
    fn ends(mut self) -> (String, Option<i32>) {
        let mut rest = Vec::new();
        self.child.stdout.as_mut().unwrap().read_to_end(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        (self.seen + &String::from_utf8_lossy(&rest), code)
    }
}

/// A brain whose one model wants to run this program, and a folder that its tools may see.
fn brain_over(endpoint: &Endpoint) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("root/notes.txt", "Ann likes tea.\n");
    sandbox.file("outside/secret.txt", "nobody reads this\n");
    let settings = sandbox.dir().join("brain.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text += &format!("\n[chain]\nroots = [{:?}]\n", sandbox.path("root"));
    text += "\n[[chain.step]]\nname = \"OL1\"\nmodel = \"small\"\nrole = \"research\"\nturns = 4\n";
    let place = format!("base_url = \"{}\"\ntimeout_ms = 60000", endpoint.url());
    text += &format!("\n[models.small]\nprovider = \"openai\"\nmodel = \"tiny\"\n{place}\n");
    std::fs::write(settings, text).unwrap();
    sandbox.git(&["commit", "-qam", "chain"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    sandbox
}

fn wants_to_run(sandbox: &Sandbox) -> Manner {
    let (root, secret) = (sandbox.path("root"), sandbox.path("outside/secret.txt"));
    let script =
        format!("cat {root}/notes.txt; echo made > {root}/made.txt; cat {secret} 2>/dev/null || echo kept $((40 + 2))");
    Manner::Calls("exec", json!({"argv": ["sh", "-c", script]}))
}

fn done() -> Manner {
    Manner::Says("That is all.".to_owned())
}

#[test]
fn a_program_runs_confined_once_a_person_allows_it_and_else_does_not() {
    let endpoint = Endpoint::new(&[done()]);
    let sandbox = brain_over(&endpoint);
    if !has_terminal(&sandbox) {
        return;
    }
    let made = sandbox.beside("root/made.txt");
    for (answer, runs) in [("n\n", false), ("\n", false), ("x\n", false), ("y\n", true)] {
        endpoint.behaves(&[wants_to_run(&sandbox), done()]);
        let mut terminal = Terminal::start(&sandbox, &["chat", "What can you do?", "--mode", "simple"]);
        terminal.waits_at("allow it? [y/N] ");
        assert!(terminal.seen.contains("OL1 wants to exec {\"argv\":[\"sh\",\"-c\",\"cat "), "{}", terminal.seen);
        assert!(!made.exists(), "not before it is answered");
        terminal.types(answer);
        let (screen, code) = terminal.ends();
        assert_eq!((code, made.exists()), (Some(0), runs), "{answer:?}: {screen}");
        assert!(screen.contains("That is all."), "{screen}");
        let asked = endpoint.asked();
        let told = asked[1].body.to_string();
        assert_eq!(told.contains("the person does not allow it"), !runs, "{told}");
        assert_eq!(told.contains("Ann likes tea."), runs, "its output is what the model reads: {told}");
        let doctor = sandbox.brain(&["--json", "doctor", "--dry-run"]).out;
        if doctor.contains("are confined (Landlock") {
            assert_eq!(told.contains("kept 42"), runs, "{told}");
            assert!(!told.contains("nobody reads this"), "{told}");
        } else {
            println!("skipped: this kernel has no Landlock 6");
        }
    }
}

#[test]
fn where_nobody_sits_nothing_is_allowed() {
    let endpoint = Endpoint::new(&[done()]);
    let sandbox = brain_over(&endpoint);
    endpoint.behaves(&[wants_to_run(&sandbox), done()]);
    let said = sandbox.brain_with(&["chat", "What can you do?", "--mode", "simple"], b"y\n").exits(0);
    assert!(said.err.contains("refused, because there is no terminal to confirm it on"), "{said}");
    assert!(!sandbox.beside("root/made.txt").exists());
}

#[test]
fn a_conversation_goes_on_until_the_end_of_the_input() {
    let endpoint = Endpoint::new(&[done()]);
    let sandbox = brain_over(&endpoint);
    if !has_terminal(&sandbox) {
        return;
    }
    let mut terminal = Terminal::start(&sandbox, &["chat", "--mode", "simple"]);
    terminal.waits_at("\n> ");
    terminal.types("What is tea?\n");
    terminal.waits_at("\n> ");
    assert!(terminal.seen.contains("That is all.") && terminal.seen.contains("[OL1"), "{}", terminal.seen);
    endpoint.behaves(&[wants_to_run(&sandbox), done()]);
    terminal.types("And now?\n");
    terminal.waits_at("allow it? [y/N] ");
    terminal.types("y\n");
    terminal.waits_at("\n> ");
    assert!(sandbox.beside("root/made.txt").exists());
    terminal.types("\u{4}");
    let (screen, code) = terminal.ends();
    assert_eq!(code, Some(0), "{screen}");
    let turns = sandbox.documents("wake", "network/stimuli").into_values();
    let sessions: std::collections::BTreeSet<String> =
        turns.filter_map(|s| Some(s["session"].as_str()?.to_owned())).collect();
    assert_eq!(sessions.len(), 1, "one conversation: {sessions:?}");
}

#[test]
fn words_that_were_asked_are_bold_on_a_terminal_alone() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ann likes green tea."]);
    if !has_terminal(&sandbox) {
        return;
    }
    let bold = "Ann likes \u{1b}[1mgreen\u{1b}[0m \u{1b}[1mtea\u{1b}[0m.";
    let args = ["recall", "green", "teas"];
    let sandbox = sandbox.with("TERM", "xterm-256color");
    let (screen, code) = Terminal::start(&sandbox, &args).ends();
    assert!(code == Some(0) && screen.contains(bold), "{screen:?}");
    assert!(!sandbox.brain(&args).out.contains('\u{1b}'));
    let sandbox = sandbox.with("NO_COLOR", "1");
    let (screen, _) = Terminal::start(&sandbox, &args).ends();
    assert!(screen.contains("Ann likes green tea.") && !screen.contains('\u{1b}'), "{screen:?}");
}

#[test]
fn an_interrupted_feed_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    if !has_terminal(&sandbox) {
        return;
    }
    let slow = json!({
        "name": "slow",
        "role": "Takes its time.",
        "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "command", "argv": ["sleep", "20"], "timeout_ms": 60000},
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    std::fs::write(sandbox.dir().join("agents/slow.json"), format!("{slow:#}\n")).unwrap();
    sandbox.git(&["add", "agents/slow.json"]);
    sandbox.git(&["commit", "-q", "-m", "agents: slow"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let sandbox = sandbox.with("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&sandbox, &["feed", "Ann likes tea."]);
    terminal.waits_at("storing ");
    terminal.types("\u{3}");
    let (screen, code) = terminal.ends();
    assert_eq!(code, Some(130), "{screen}");
    assert!(screen.contains("interrupted; everything acknowledged is kept"), "{screen}");
    assert!(screen.contains("hint: give the same command again: no text is stored twice."), "{screen}");
}
