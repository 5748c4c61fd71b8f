//! The command line as users meet it: help, exit codes, JSON, pipes, colours, hostile arguments; and whether what
//! `log`, `show`, `diff`, `why` and `blame` say of a small scripted history is true.

use std::process::Stdio;

use crate::sandbox::{NOW, PROGRAM, Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

const LATER: &str = "2026-01-26T15:32:00Z";

/// Three runs: `human` makes a and b and connects them; `memory` adjusts the connection; `human` renames a and archives b.
struct Scripted {
    sandbox: Sandbox,
    made: Value,
    adjusted: Value,
    renamed: Value,
}

fn scripted() -> Scripted {
    let mut sandbox = Sandbox::fixed(NOW, "scripted");
    let made = sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20000)])), &[]);
    let by_memory = json!({"agent": "memory", "ops": [adjust("a", "b", "feeds_into", -120)]});
    let adjusted = sandbox.apply(&by_memory, &[]);
    sandbox.at(LATER);
    let ops = json!([{"op": "reword", "id": "a", "concept": "alpha"}, {"op": "archive", "id": "b", "reason": "done"}]);
    let renamed = sandbox.apply(&delta(ops), &[]);
    Scripted { sandbox, made, adjusted, renamed }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} of {value} is no text"))
}

#[test]
fn help_lists_every_command() {
    let sandbox = Sandbox::empty();
    let help = sandbox.brain(&["--help"]).exits(0);
    let groups = help.out.split("\nOptions:").next().unwrap();
    let headings: Vec<&str> = groups.lines().filter_map(|line| line.strip_suffix(':')).collect();
    assert_eq!(headings, ["Remember", "Ask", "Agents", "History", "Review", "Share", "Look after"], "{help}");
    assert_eq!(sandbox.brain(&["help"]).exits(0).out, help.out);
    let names = groups.lines().filter_map(|l| l.strip_prefix("  ")?.split(' ').next());
    let listed: Vec<&str> = names.filter(|name| name.starts_with(char::is_lowercase) && *name != "help").collect();
    assert!(listed.len() > 40 && listed.contains(&"feed"), "{help}");
    for command in &listed {
        let own = sandbox.brain(&[command, "--help"]).exits(0);
        assert!(own.out.contains(&format!("git brain {command}")), "{own}");
    }
    // What git calls is not for people, and is there.
    for command in ["hook", "merge-driver"] {
        assert!(!listed.contains(&command));
        sandbox.brain(&[command, "--help"]).exits(0);
    }
    assert!(sandbox.brain(&["--version"]).exits(0).out.starts_with("git-brain 0."));
    // As git itself calls it.
    let path = std::env::join_paths(
        [std::path::Path::new(PROGRAM).parent().unwrap().to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = sandbox.command("git", &["brain", "--version"]).env("PATH", path.unwrap()).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"git-brain 0."), "{output:?}");
}

#[test]
fn wrong_usage_is_exit_2_and_says_what_to_do() {
    let sandbox = Sandbox::new();
    for args in [
        &["frobnicate"][..],
        &[],
        &["recall"],
        &["feed"],
        &["recall", "x", "--top", "many"],
        &["status", "--frobnicate"],
        &["-c", "nonsense", "status"],
        &["recall", "x", "--since", "yestreday"],
        &["recall", "x", "--at", "no-such-branch"],
        &["show", "nothing-of-that-name"],
        &["why", "nothing-of-that-name"],
        &["diff", "no-such-branch"],
        &["merge", "no-such-branch"],
        &["apply", "no-such-file.json"],
        &["feed", "--file", "no-such-file.txt"],
    ] {
        let answer = sandbox.brain(args);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer}");
        assert!(!answer.err.is_empty(), "{answer}");
    }
    // A bad value of a known key is bad data, and names its place.
    let answer = sandbox.brain(&["-c", "activation.decay=7", "status"]).exits(5);
    assert!(answer.err.contains("activation.decay"), "{answer}");
}

#[test]
fn with_json_wrong_usage_is_one_document_too() {
    let sandbox = Sandbox::empty();
    for (args, says, hint) in [
        (&["--json", "frobnicate"][..], "'frobnicate'", "--help"),
        (&["frobnicate", "--json"], "'frobnicate'", "--help"),
        (&["--json"], "subcommand", "--help"),
        (&["status", "--json", "--frobnicate"], "'--frobnicate'", "git brain status"),
        (&["recall", "--json"], "required", "git brain recall"),
        (&["recall", "--json", "x", "--top", "many\u{1b}[31m"], "--top", "--help"),
        (&["-c", "nonsense", "--json", "status"], "KEY=VALUE", ""),
    ] {
        let answer = sandbox.brain(args).exits(2);
        assert_eq!((answer.out.as_str(), answer.err.lines().count()), ("", 1), "{answer}");
        let error = answer.error();
        assert!(text(&error, "error").contains(says) && !text(&error, "error").starts_with("error"), "{error}");
        assert!(error["hint"].as_str().unwrap_or_default().contains(hint), "{error}");
    }
    // What is text is no option, and without the option it is text as ever.
    let answer = sandbox.brain(&["frobnicate", "--", "--json"]).exits(2);
    assert!(answer.err.starts_with("error: "), "{answer}");
    // Who asks for help gets it.
    assert!(sandbox.brain(&["--json", "--help"]).exits(0).out.contains("Usage"));
}

#[test]
fn a_dry_init_says_what_it_would_make() {
    let sandbox = Sandbox::empty();
    for (args, says) in [
        (&["init", "--dry-run", "new"][..], "a brain in "),
        (&["init", "--dry-run", "--in-repo", "."], "a brain in the repository "),
        (&["init", "--dry-run", "--bare", "remote.git"], "a remote for brains"),
    ] {
        let answer = sandbox.brain(args).exits(0);
        assert!(answer.err.starts_with("would make ") && answer.err.contains(says), "{answer}");
    }
    assert_eq!(std::fs::read_dir(sandbox.dir()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn one_is_not_many() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "--no-run", "The gulls are loud."]);
    let answer = sandbox.brain(&["doctor"]);
    assert!(answer.out.contains("1 stimulus waits"), "{answer}");
    sandbox.json(&["feed", "--no-run", "The ferry is late."]);
    let answer = sandbox.brain(&["doctor"]);
    assert!(answer.out.contains("2 stimuli wait") && !answer.out.contains("stimuli waits"), "{answer}");
    let network = sandbox.file("one.json", r#"{"neurons": [{"id": "one", "concept": "one", "type": "semantic"}]}"#);
    let answer = sandbox.brain(&["import", &network]).exits(0);
    assert!(
        !format!("{}{}", answer.out, sandbox.git(&["log", "-3", "--format=%B", "wake"])).contains("1 neurons"),
        "{answer}"
    );
    sandbox.brain(&["run"]).exits(0);
    sandbox.apply(&delta(json!([create("b")])), &["--no-merge"]);
    let answer = sandbox.brain(&["doctor"]);
    assert!(answer.out.contains(" waits for review") && answer.out.contains("git brain reject"), "{answer}");
}

#[test]
fn outside_a_brain_there_is_a_hint() {
    let sandbox = Sandbox::empty();
    for args in [&["status"][..], &["recall", "x"], &["feed", "x"], &["run"], &["log"], &["check"], &["trust"]] {
        let answer = sandbox.brain(args).exits(2);
        assert!(answer.err.contains("hint: ") && answer.err.contains("git brain init"), "{answer}");
        let json: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let error = sandbox.brain(&json).exits(2).error();
        assert!(text(&error, "hint").contains("git brain init"), "{error}");
    }
    sandbox.git(&["init", "-q", "."]);
    assert!(sandbox.brain(&["status"]).exits(2).err.contains("--in-repo"));
    // A repository that only looks like a brain is none.
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    sandbox.git(&["branch", "wake"]);
    sandbox.brain(&["status"]).exits(2);
    assert_eq!(std::fs::read_dir(sandbox.dir()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn another_folder_is_named_by_c() {
    let Scripted { sandbox, .. } = scripted();
    sandbox.brain(&["checkout"]).exits(0);
    let here = sandbox.json(&["status"]);
    let dir = sandbox.dir().display().to_string();
    for (start, dir) in [("/", dir.as_str()), ("/", &format!("{dir}/agents")), ("home", "../here/network/neurons")] {
        let start = if start == "/" { start.into() } else { sandbox.beside(start) };
        let mut command = sandbox.command(PROGRAM, &["--json", "-C", dir, "status"]);
        let output = command.current_dir(start).output().unwrap();
        let there: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(there, here, "{dir}");
    }
    sandbox.brain(&["-C", "/nonexistent", "status"]).exits(2);
}

#[test]
fn every_question_answers_with_one_versioned_document() {
    let Scripted { sandbox, made, .. } = scripted();
    sandbox.json(&["feed", "--source", "s", "Ann likes green tea."]);
    let (run, commit) = (text(&made, "run"), text(&made, "commit"));
    let questions = [
        vec!["status"],
        vec!["log"],
        vec!["log", "-n", "1", "--agent", "memory"],
        vec!["show", "a"],
        vec!["show", run],
        vec!["show", commit],
        vec!["show", "memory"],
        vec!["why", "a"],
        vec!["blame", "a"],
        vec!["diff"],
        vec!["diff", "main", "wake"],
        vec!["diff", "wake", "wake"],
        vec!["recall", "tea"],
        vec!["recall", "nothing of that kind at all"],
        vec!["recall", "tea", "--full", "--explain"],
        vec!["find", "tea"],
        vec!["propagate", "--from", "a"],
        vec!["check"],
        vec!["trust", "--list"],
        vec!["run", "--dry-run"],
        vec!["merge", "--dry-run"],
        vec!["merge-tree", "main", "wake", "wake"],
        vec!["hooks", "status"],
        vec!["doctor", "--dry-run"],
        vec!["upgrade", "--dry-run"],
    ];
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    for question in questions {
        let args: Vec<&str> = ["--json"].iter().chain(&question).copied().collect();
        let answer = sandbox.brain(&args);
        // 1 says that there are differences or findings; all others were answered.
        assert!(answer.code == 0 || (answer.code == 1 && matches!(question[0], "diff" | "doctor")), "{answer}");
        assert_eq!(answer.out.lines().count(), 1, "{answer}");
        assert!(answer.document().is_object());
        // The flag may stand behind the command as well, and people get something else than JSON.
        let behind: Vec<&str> = question.iter().chain(&["--json"]).copied().collect();
        assert_eq!(sandbox.brain(&behind).out, answer.out);
        let plain = sandbox.brain(&question);
        assert!(plain.code == answer.code && serde_json::from_str::<Value>(&plain.out).is_err(), "{plain}");
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects), "questions write nothing");
}

#[test]
fn colours_are_for_terminals_and_never_with_no_color() {
    let sandbox = Sandbox::new().with("NO_COLOR", "1").with("CLICOLOR_FORCE", "1").with("TERM", "xterm-256color");
    for args in [&["status"][..], &["log"], &["frobnicate"], &["--help"], &["doctor"]] {
        let answer = sandbox.brain(args);
        assert!(!answer.out.contains('\u{1b}') && !answer.err.contains('\u{1b}'), "{answer}");
    }
    let sandbox = Sandbox::new();
    assert!(!sandbox.brain(&["status"]).out.contains('\u{1b}'));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let sandbox = Sandbox::new();
    let lines: String = (0..200).map(|n| format!("Paragraph {n} speaks of heron {n}.\n\n")).collect();
    let file = sandbox.file("long.txt", lines);
    sandbox.json(&["feed", "--file", &file]);
    for args in
        [&["log", "-n", "1000"][..], &["recall", "heron", "--top", "200", "--explain"], &["--help"], &["export"]]
    {
        // The reader is gone before the first line, whatever the size of the pipe.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = sandbox.command(PROGRAM, args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(0) && err.is_empty(), "{args:?}: {} {err}", output.status);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_its_disk_does_not_take_is_an_error() {
    let sandbox = Sandbox::new();
    for args in [&["--json", "status"][..], &["status"], &["export"], &["--json", "feed", "A heron.", "--no-run"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let child = sandbox.command(PROGRAM, args).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains("No space left"), "{args:?}: {} {err}", output.status);
    }
    assert_eq!(sandbox.documents("wake", "network/stimuli").len(), 1, "what the command was to do is done, as it says");
}

#[test]
fn hostile_names_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(10_000);
    let hostile = [
        "../../etc/passwd",
        "a/../b",
        "/etc/passwd",
        ".git",
        ".gitattributes",
        "CON",
        "con",
        "nul",
        "com1",
        "Tea",
        "té",
        "a b",
        "a\nb",
        "a\u{202e}b",
        "a\u{1b}[31mb",
        "-rf",
        "--upload-pack=touch /tmp/x",
        "",
        "wake:network",
        "$(touch x)",
        "a;b",
        "a\\b",
        "tea.lock",
        "@{-1}",
        long.as_str(),
    ];
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    for name in hostile {
        for command in ["why", "blame", "show"] {
            let answer = sandbox.brain(&[command, "--", name]);
            assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer}");
            // What came from outside cannot steer the terminal.
            assert!(!answer.err.contains('\u{1b}') && !answer.err.contains('\u{202e}'), "{answer}");
        }
        sandbox.brain(&["propagate", &format!("--from={name}")]).exits(2);
        let ops = json!([{"op": "create", "id": name, "concept": "x", "type": "semantic"}]);
        let answer = sandbox.try_apply(&delta(ops), &[]).exits(5);
        assert!(text(&answer.error(), "error").contains("ops[0]"), "{answer}");
        let agent = format!("--agent={name}");
        let answer = sandbox.try_apply(&delta(json!([])), &[&agent]);
        assert!(answer.code == 2 || answer.code == 3, "{answer}");
        let answer = sandbox.brain(&["merge", "--", name]);
        assert!(answer.code == 2, "{answer}");
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn log_tells_the_runs_newest_first() {
    let Scripted { sandbox, made, adjusted, renamed } = scripted();
    let log = sandbox.json(&["log", "-n", "3"]);
    let runs: Vec<&str> = log["entries"].as_array().unwrap().iter().map(|e| text(e, "run")).collect();
    assert_eq!(runs, [text(&renamed, "run"), text(&adjusted, "run"), text(&made, "run")]);
    let entry = &log["entries"][1];
    assert_eq!((text(entry, "agent"), text(entry, "trigger"), text(entry, "at")), ("memory", "by hand", NOW));
    assert_eq!(text(entry, "commit"), text(&adjusted, "wake"));
    let by_memory = sandbox.json(&["log", "--agent", "memory", "-n", "1"]);
    assert_eq!(by_memory["entries"][0]["run"], adjusted["run"]);
    let earlier = sandbox.json(&["log", "-n", "1", "--at", text(&made, "wake")]);
    assert_eq!(earlier["entries"][0]["run"], made["run"]);
    let plain = sandbox.brain(&["log", "-n", "3"]).exits(0);
    assert!(runs.iter().map(|run| plain.out.find(run).unwrap()).is_sorted(), "{plain}");
}

#[test]
fn show_tells_neurons_runs_agents_and_commits() {
    let Scripted { sandbox, made, adjusted, renamed } = scripted();
    let shown = sandbox.json(&["show", "b"]);
    assert_eq!((text(&shown, "kind"), &shown["document"]), ("neuron", &sandbox.neuron("b")));
    assert!(shown["facts"].to_string().contains("archived"));
    let before = sandbox.json(&["show", "a", "--at", text(&adjusted, "wake")]);
    assert_eq!(before["document"], sandbox.neuron_at(text(&adjusted, "wake"), "a"));
    assert_eq!(before["document"]["concept"], "a");
    let run = sandbox.json(&["show", text(&adjusted, "run")]);
    assert_eq!((text(&run, "kind"), &run["document"]["agent"]), ("run", &json!("memory")));
    assert!(run["facts"].to_string().contains("19880"), "{run}");
    let commit = sandbox.json(&["show", text(&renamed, "wake")]);
    assert_eq!((text(&commit, "kind"), &commit["document"]["run"]), ("commit", &renamed["run"]));
    assert!(commit["facts"].to_string().contains("alpha"), "{commit}");
    assert_eq!(sandbox.json(&["show", "memory"])["kind"], "agent");
    assert_eq!(sandbox.json(&["show", "HEAD"])["kind"], "commit");
    sandbox.brain(&["show", "b", "--at", &format!("{}^", text(&made, "wake"))]).exits(2);
}

#[test]
fn diff_tells_what_changed_between_two_states() {
    let Scripted { sandbox, made, adjusted, .. } = scripted();
    let answer = sandbox.brain(&["--json", "diff", text(&made, "wake"), text(&adjusted, "wake")]).exits(1);
    let found = answer.document();
    let effects = found["effects"].as_array().unwrap();
    assert_eq!((effects.len(), &effects[0]["neuron"]), (1, &json!("a")), "{found}");
    assert!(effects[0].get("created").is_none() && effects[0].get("concept").is_none(), "{found}");
    let changed = effects[0]["connections"].to_string();
    assert!(changed.contains("20000") && changed.contains("19880"), "{found}");
    assert_eq!(found["others"], json!({"runs": 1}));
    let last = sandbox.brain(&["diff"]).exits(1);
    assert!(last.out.contains("alpha") && !last.out.contains("19880"), "{last}");
    let none = sandbox.json(&["diff", "wake", "wake"]);
    assert_eq!((&none["effects"], &none["lines"]), (&json!([]), &json!([])));
    // Backwards, what was made is gone.
    let base = format!("{}^", text(&made, "wake"));
    let backwards = sandbox.brain(&["--json", "diff", "wake", &base]).exits(1).document();
    let mut removed: Vec<&str> = backwards["removed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    removed.sort_unstable();
    assert_eq!(removed, ["a", "b"]);
}

#[test]
fn why_tells_the_runs_of_a_neuron_and_what_they_were_for() {
    let Scripted { sandbox, made, adjusted, renamed } = scripted();
    let why = sandbox.json(&["why", "a"]);
    let runs: Vec<&Value> = why["runs"].as_array().unwrap().iter().map(|r| &r["run"]).collect();
    assert_eq!(runs, [&made["run"], &adjusted["run"], &renamed["run"]]);
    let agents: Vec<&str> = why["runs"].as_array().unwrap().iter().map(|r| text(r, "agent")).collect();
    assert_eq!(agents, ["human", "memory", "human"]);
    assert_eq!(sandbox.json(&["why", "b"])["runs"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.json(&["why", "a", "--at", text(&made, "wake")])["runs"].as_array().unwrap().len(), 1);
    sandbox.json(&["feed", "--source", "s", "Claire planted a quince tree."]);
    let (id, _) = sandbox.neurons("wake").into_iter().find(|(_, n)| n["source"] == "s").unwrap();
    let why = sandbox.json(&["why", &id]);
    assert_eq!(text(&why["runs"][0], "agent"), "perception");
    assert!(text(&why["runs"][0], "because").contains("quince tree"), "{why}");
}

#[test]
fn blame_tells_which_run_gave_each_field_its_value() {
    let Scripted { sandbox, made, adjusted, renamed } = scripted();
    let blame = sandbox.json(&["blame", "a"]);
    let of = |field: &str| {
        let found = blame["fields"].as_array().unwrap().iter().find(|f| f["field"] == field);
        found.unwrap_or_else(|| panic!("no {field} in {blame}"))
    };
    assert_eq!((&of("id")["run"], text(of("id"), "value")), (&made["run"], "\"a\""));
    assert_eq!((&of("concept")["run"], text(of("concept"), "value")), (&renamed["run"], "\"alpha\""));
    assert_eq!((&of("feeds_into b")["run"], text(of("feeds_into b"), "value")), (&adjusted["run"], "19880"));
    assert_eq!((&of("type")["run"], text(of("type"), "at")), (&made["run"], NOW));
    assert_eq!(text(of("concept"), "at"), LATER);
    // The fields are those of the file.
    let neuron = sandbox.neuron("a");
    let mut fields: Vec<&str> = blame["fields"].as_array().unwrap().iter().map(|f| text(f, "field")).collect();
    fields.retain(|field| *field != "feeds_into b");
    let keys: Vec<&String> = neuron.as_object().unwrap().keys().filter(|key| *key != "connections").collect();
    assert_eq!(fields, keys);
}

#[test]
fn the_demo_lives_a_day_anywhere() {
    let sandbox = Sandbox::empty();
    let told = sandbox.brain(&["demo", "day"]).exits(0);
    assert!(told.err.is_empty() || !told.err.contains("error"), "{told}");
    let brain = sandbox.path("here/day");
    let status = sandbox.json(&["-C", &brain, "status"]);
    assert_eq!((&status["queue"], &status["bootstrap_complete"]), (&json!(0), &json!(true)));
    assert_eq!(
        sandbox.json(&["-C", &brain, "recall", "Quand ferme le jardin ?"])["results"][0]["source"],
        "déjeuner:3"
    );
    sandbox.brain(&["--json", "demo", "other"]).exits(0).document();
}
