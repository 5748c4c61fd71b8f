//! One broken thing stops nothing else: a stimulus that no reflex can perceive, and files that cannot be read on wake, on main or
//! on the branch of a run.

use crate::sandbox::{self, Sandbox, create, delta};
use git_brain::model::ids::{AgentName, SignalId, StimulusId};
use git_brain::model::layout::{self, Place};
use serde_json::json;

/// A token of GitHub's form in letters of full width.
fn wide() -> String {
    let token: String = "ghp_".chars().chain("zX9yW8vU7tS6rQ5pO4nM3lK2jI1h".chars().cycle().take(36)).collect();
    token.chars().map(|c| char::from_u32(c as u32 + 0xfee0).unwrap()).collect()
}

const ALLOW: &str = "secrets.allow=[\"github-token\"]";

/// A brain in whose queue one stimulus waits that perception refuses, between two that it does not.
fn with_a_refused_stimulus() -> Sandbox {
    let sandbox = Sandbox::new();
    let feed = |source: &str, text: &str| {
        let args = ["-c", ALLOW, "feed", "--no-run", "--session", "talk", "--source", source, text];
        sandbox.brain(&args).exits(0);
    };
    feed("first", "Anna: I drink tea in Uji.");
    feed("bad", &format!("# The tale of {}\n\nIt is told.", wide()));
    feed("last", "Ben: I drink coffee in Oslo.");
    sandbox
}

#[test]
fn a_stimulus_that_cannot_be_perceived_is_set_aside_and_stops_no_other() {
    let sandbox = with_a_refused_stimulus();
    let first = sandbox.brain(&["run"]).exits(3);
    assert!(first.out.contains("is set aside") && first.out.contains("git brain run --agent perception"), "{first}");
    // The others were perceived, together: they still follow each other.
    let status = sandbox.json(&["status", "--quick"]);
    assert_eq!(status["queue"], 1, "{status}");
    let aside = status["aside"].as_object().unwrap();
    let (id, reason) = aside.iter().next().unwrap();
    assert_eq!((aside.len(), reason["agent"].as_str()), (1, Some("perception")));
    assert!(reason["why"].as_str().unwrap().contains("github-token"), "{reason}");
    let records = sandbox.documents("wake", "network/runs");
    let consumed = records.values().filter_map(|record| record["stimuli"].as_array().filter(|_| record["depth"] == 1));
    assert_eq!(consumed.map(Vec::len).collect::<Vec<_>>(), [2], "{records:?}");
    // It is due no more, and the next commands do their work.
    sandbox.brain(&["run"]).exits(0);
    assert_eq!(sandbox.json(&["run", "--dry-run"])["due"], json!([]));
    sandbox.brain(&["feed", "--source", "next", "Claire: I drink milk in Bern."]).exits(0);
    let shown = sandbox.brain(&["status", "--quick"]).exits(0).out;
    assert!(shown.contains(&format!("{id} is set aside: ")), "{shown}");
    let told = sandbox.brain(&["doctor", "--dry-run"]).exits(1).out;
    assert!(told.contains(id.as_str()) && told.contains("git brain run --agent perception"), "{told}");
    // The way back: by hand it is tried again, and where it can be perceived it is.
    sandbox.brain(&["run", "--agent", "perception"]).exits(3);
    assert_eq!(sandbox.json(&["status", "--quick"])["aside"].as_object().unwrap().len(), 1);
    sandbox.brain(&["-c", ALLOW, "run", "--agent", "perception"]).exits(0);
    let status = sandbox.json(&["status", "--quick"]);
    assert_eq!((&status["queue"], &status["aside"]), (&json!(0), &json!({})), "{status}");
    sandbox.fsck();
}

#[test]
fn an_agent_that_costs_is_asked_again_without_what_it_failed_at() {
    let sandbox = Sandbox::new();
    let count = sandbox.path("asked");
    let script = format!(
        "echo x >> '{count}'; if grep -q poison; then echo no; else echo '{{\"ops\": [{{\"op\": \"signal\", \"to\": \"memory\", \
         \"payload\": {{\"kind\": \"note\"}}}}]}}'; fi"
    );
    let definition = json!({
        "name": "echo", "role": "Fails at some.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", script], "writes": [sandbox.path(".")]},
        "capabilities": {"operations": ["signal"]}, "priority": 9,
    });
    std::fs::remove_file(sandbox.dir().join("agents/perception.json")).unwrap();
    std::fs::write(sandbox.dir().join("agents/echo.json"), definition.to_string()).unwrap();
    sandbox.git(&["add", "-A", "agents"]);
    sandbox.git(&["commit", "-q", "-m", "agents: echo"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    for (source, text) in [("a", "tea"), ("b", "poison"), ("c", "milk"), ("d", "coffee")] {
        sandbox.brain(&["feed", "--no-run", "--session", "s", "--source", source, text]).exits(0);
    }
    let ran = sandbox.brain(&["run"]);
    assert_ne!(ran.code, 0, "{ran}");
    assert_eq!(sandbox.json(&["status", "--quick"])["queue"], 1, "{ran}");
    let asked = std::fs::read_to_string(&count).unwrap().lines().count();
    assert!((2..=6).contains(&asked), "{asked}");
    // Where everything fails, no single stimulus is to blame: three questions, and not one for each.
    for (source, text) in [("e", "poison one"), ("f", "poison two"), ("g", "poison three")] {
        sandbox.brain(&["feed", "--no-run", "--session", "s", "--source", source, text]).exits(0);
    }
    std::fs::remove_file(&count).unwrap();
    assert_ne!(sandbox.brain(&["run"]).code, 0);
    assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 3);
}

/// Commits a file on a branch as a person does who skips the gate.
fn commit_on(sandbox: &Sandbox, branch: &str, path: &str, content: &str) {
    let tree = sandbox.path("other");
    sandbox.git(&["worktree", "add", "-q", &tree, branch]);
    let file = std::path::Path::new(&tree).join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
    sandbox.git(&["-C", &tree, "add", "--sparse", path]);
    sandbox.git(&["-C", &tree, "commit", "-q", "--no-verify", "-m", "by hand"]);
    sandbox.git(&["worktree", "remove", "--force", &tree]);
}

/// A brain with a day behind it, and the path of a neuron that has been touched.
fn lived() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.brain(&["feed", "--source", "one", "Anna drinks green tea in Uji."]).exits(0);
    sandbox.apply(&delta(json!([create("victim")])), &[]);
    let path = sandbox.neuron_path("wake", "victim").unwrap();
    (sandbox, path)
}

/// What must go on whatever cannot be read.
fn goes_on(sandbox: &Sandbox) {
    sandbox.brain(&["feed", "--source", "two", "Ben drinks black coffee in Oslo."]).exits(0);
    sandbox.brain(&["run"]).exits(0);
    for (question, answer) in [("who drinks coffee", "coffee in Oslo"), ("who drinks tea", "tea in Uji")] {
        let found = sandbox.brain(&["recall", question]).exits(0);
        assert!(found.out.contains(answer), "{found}");
    }
}

/// That `doctor`, `check` and `status` name branch, file and remedy.
fn named(sandbox: &Sandbox, branch: &str, path: &str) {
    for command in [&["doctor", "--dry-run"][..], &["check"], &["status"]] {
        let answer = sandbox.brain(command);
        assert_eq!(answer.code, i32::from(command[0] != "status"), "{answer}");
        assert!(answer.out.contains(path) && answer.out.contains(branch), "{answer}");
        assert!(command[0] == "check" || answer.out.contains(&format!("correct it on {branch}")), "{answer}");
    }
}

#[test]
fn a_file_of_wake_that_cannot_be_read_stops_nothing_else() {
    let (sandbox, path) = lived();
    let good = sandbox.git(&["show", &format!("wake:{path}")]) + "\n";
    commit_on(&sandbox, "wake", &path, "{\"id\": garbage");
    goes_on(&sandbox);
    named(&sandbox, "wake", &path);
    // Sleep would carry it to main: it says what stops it, and nothing has moved.
    let refs = sandbox.refs();
    for _ in 0..2 {
        let sleep = sandbox.brain(&["sleep"]).exits(5);
        assert!(sleep.err.contains(&format!("wake: {path}, line 1")), "{sleep}");
        assert!(sleep.err.contains("correct it on wake"), "{sleep}");
        assert_eq!(sandbox.refs(), refs);
    }
    // The remedy works.
    commit_on(&sandbox, "wake", &path, &good);
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.brain(&["check"]).exits(0);
    sandbox.fsck();
}

#[test]
fn other_files_of_wake_that_cannot_be_read_stop_nothing_either() {
    let memory = AgentName::parse("memory").unwrap();
    for path in [
        "network/flags/urgence.json".to_owned(),
        layout::signal(&memory, &SignalId::parse("g-0123456789abcdef").unwrap()),
        layout::queue_entry(&StimulusId::parse("s-0123456789abcdef").unwrap()),
        "network/goals/tea.json".to_owned(),
    ] {
        let path = path.as_str();
        assert!(!matches!(Place::of(path), Place::Other | Place::Misplaced), "{path} is a place of the layout");
        let (sandbox, _) = lived();
        commit_on(&sandbox, "wake", path, "{\"garbage");
        goes_on(&sandbox);
        named(&sandbox, "wake", path);
    }
}

#[test]
fn what_is_written_once_and_cannot_be_read_stops_nothing_but_the_night() {
    for folder in ["network/stimuli/2", "network/signals/", "network/stimuli/queue/"] {
        let (sandbox, _) = lived();
        sandbox.brain(&["feed", "--no-run", "--source", "late", "Carla drinks cold milk in Bern."]).exits(0);
        let paths = sandbox.git(&["ls-tree", "-r", "--name-only", "wake", "--", "network"]);
        let path = paths.lines().find(|path| path.starts_with(folder) && !path.ends_with(".ack.json")).unwrap();
        let good = sandbox.git(&["show", &format!("wake:{path}")]) + "\n";
        commit_on(&sandbox, "wake", path, "garbage\n");
        for question in ["who drinks tea", "who drinks milk"] {
            sandbox.brain(&["recall", question]).exits(0);
        }
        sandbox.brain(&["feed", "--source", "two", "Ben drinks black coffee in Oslo."]).exits(0);
        for command in [&["doctor", "--dry-run"][..], &["check"]] {
            let told = sandbox.brain(command).exits(1).out;
            assert!(told.contains(path), "{path}: {told}");
        }
        let refs = sandbox.refs();
        let sleep = sandbox.brain(&["sleep"]).exits(5);
        assert!(sleep.err.contains(&format!("wake: {path}, line 1")), "{sleep}");
        assert_eq!(sandbox.refs(), refs, "main has nothing of it");
        commit_on(&sandbox, "wake", path, &good);
        sandbox.brain(&["run"]).exits(0);
        sandbox.brain(&["sleep"]).exits(0);
        sandbox.brain(&["check"]).exits(0);
    }
}

#[test]
fn what_says_the_format_is_named_by_all_that_it_stops() {
    let (sandbox, _) = lived();
    commit_on(&sandbox, "wake", "network/metadata.json", "{\"garbage");
    for command in [&["feed", "Ben drinks coffee."][..], &["run"]] {
        let said = sandbox.brain(command).exits(5).err;
        assert!(said.contains("wake: network/metadata.json, line 1") && said.contains("correct it on wake"), "{said}");
    }
    sandbox.brain(&["recall", "who drinks tea"]).exits(0);
}

#[test]
fn a_file_of_main_that_cannot_be_read_stops_nothing_else() {
    let (sandbox, path) = lived();
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.git(&["reset", "-q", "--hard"]);
    commit_on_main(&sandbox, &path, "{\"garbage");
    goes_on(&sandbox);
    named(&sandbox, "main", &path);
    let refs = sandbox.refs();
    let sleep = sandbox.brain(&["sleep"]).exits(5);
    assert!(sleep.err.contains(&format!("main: {path}, line 1")), "{sleep}");
    assert!(sleep.err.contains("correct it on main"), "{sleep}");
    assert_eq!(sandbox.refs(), refs);
}

#[test]
fn a_file_where_nothing_belongs_is_named_with_its_branch_by_what_it_stops() {
    let (sandbox, path) = lived();
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.git(&["reset", "-q", "--hard"]);
    let good = sandbox.git(&["show", &format!("main:{path}")]) + "\n";
    for (place, content) in
        [("network/neurons/00/0/zz.json", "garbage"), (path.as_str(), &good.replace("\"id\": \"", "\"id\": \"x"))]
    {
        let before = sandbox.git(&["rev-parse", "main"]);
        commit_on_main(&sandbox, place, content);
        goes_on(&sandbox);
        named(&sandbox, "main", place);
        let sleep = sandbox.brain(&["sleep"]).exits(5);
        assert!(sleep.err.contains(&format!("main: {place}, line 1")), "{sleep}");
        assert!(sleep.err.contains("correct it on main"), "{sleep}");
        sandbox.git(&["reset", "-q", "--hard", &before]);
    }
    sandbox.brain(&["sleep"]).exits(0);
}

/// The same on main, which is checked out.
fn commit_on_main(sandbox: &Sandbox, path: &str, content: &str) {
    let file = sandbox.dir().join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
    sandbox.git(&["add", "--sparse", path]);
    sandbox.git(&["commit", "-q", "--no-verify", "-m", "by hand"]);
}

#[test]
fn a_run_that_waits_and_cannot_be_read_stops_nothing_else() {
    let (sandbox, path) = lived();
    let wait = |id: &str| {
        let run = sandbox.apply(&delta(json!([{"op": "activate", "id": id, "strength": 1}])), &["--no-merge"]);
        run["branch"].as_str().unwrap().to_owned()
    };
    let (bad, good) = (wait("victim"), wait("n_core_memory"));
    commit_on(&sandbox, &bad, &path, "{\"garbage");
    goes_on(&sandbox);
    named(&sandbox, &bad, &path);
    assert!(sandbox.brain(&["status"]).out.contains(&format!("git brain reject {bad}")));
    // A review of several: the one that cannot be read is refused, and the other is in.
    let merged = sandbox.brain(&["merge", &bad, &good]).exits(3);
    assert!(merged.out.contains(&format!("{bad}: refused: ")) && merged.out.contains(&path), "{merged}");
    assert_eq!(sandbox.run_branches(), [bad.as_str()]);
    sandbox.brain(&["sleep"]).exits(0);
    sandbox.git(&["branch", "-D", &bad]);
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn a_list_of_this_machine_that_cannot_be_read_is_said() {
    let sandbox = Sandbox::new();
    for name in ["held", "aside"] {
        std::fs::write(sandbox.dir().join(".git/git-brain").join(name), "garbage").unwrap();
        let ran = sandbox.brain(&["run"]).exits(0);
        assert!(ran.out.contains(&format!("git-brain/{name} cannot be read, and counts as empty")), "{ran}");
        std::fs::remove_file(sandbox.dir().join(".git/git-brain").join(name)).unwrap();
    }
}

#[test]
fn status_finds_what_cannot_be_read_among_few_changes_however_much_main_has_not() {
    let sandbox = Sandbox::fixed(sandbox::NOW, "many");
    let make = |from: usize, count: usize| {
        let ops: Vec<_> = (from..from + count).map(|n| create(&format!("n{n}"))).collect();
        sandbox.apply(&delta(json!(ops)), &[]);
    };
    let broken = |path: &str| sandbox.json(&["status"])["unread"].to_string().contains(path);
    make(0, 600);
    assert_eq!(sandbox.json(&["status"])["unread"], json!([]));
    make(600, 600);
    assert_eq!(sandbox.json(&["status"])["unread"], json!([]));
    // Main has none of the 1,200; of the tree that was found readable one file differs.
    let path = "network/goals/tea.json";
    commit_on(&sandbox, "wake", path, "{\"garbage");
    assert!(broken(path) && broken(path), "it is told as long as it is so");
}

/// Without settings nothing runs, and whoever looks sees the rest.
#[test]
fn settings_of_main_that_cannot_be_read_stop_nobody_who_looks() {
    let (sandbox, _) = lived();
    sandbox.brain(&["feed", "--no-run", "Ben drinks black coffee in Oslo."]).exits(0);
    let refs = sandbox.refs();
    for bad in ["garbage [[[ =\n", "[cycle]\nnever = 1\n", "\u{0}"] {
        commit_on_main(&sandbox, "brain.toml", bad);
        for (args, says) in [
            (&["status"][..], "(1 waiting)"),
            (&["log"], "stimulus:"),
            (&["trust", "--list"], "nothing here needs trust"),
        ] {
            let answer = sandbox.brain(args).exits(5);
            assert!(answer.out.contains(says), "{answer}");
            assert!(answer.err.contains("main: brain.toml"), "{answer}");
            assert!(answer.err.contains("correct it on main and commit it"), "{answer}");
        }
        let other = sandbox.brain(&["run"]).exits(5);
        assert!(other.err.contains("main: brain.toml") && other.out.is_empty(), "{other}");
        sandbox.git(&["update-ref", "refs/heads/main", &refs["refs/heads/main"]]);
    }
    sandbox.brain(&["status"]).exits(0);
}

#[test]
fn a_file_of_each_kind_that_cannot_be_read_stops_no_decision_and_no_outcome() {
    let (sandbox, _) = lived();
    let decide = |question: &str| {
        let made = sandbox.json(&["decide", question, "--option", "tea", "--option", "coffee"]);
        made["run"].as_str().unwrap().to_owned()
    };
    sandbox.brain(&["outcome", &decide("what to drink?"), "--value", "0.4"]).exits(0);
    sandbox.brain(&["goal", "add", "learn to swim"]).exits(0);
    sandbox.brain(&["sleep"]).exits(0);
    let (open, other) = (decide("what to pack?"), decide("what to buy?"));
    sandbox.brain(&["outcome", &other, "--value", "0.6"]).exits(0);
    let tree = sandbox.path("other");
    sandbox.git(&["worktree", "add", "-q", &tree, "wake"]);
    let mut broken: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for path in sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network"]) {
        let (place, about) = (format!("{:?}", Place::of(&path)), format!("{open} neuron metadata"));
        let kind = place.split(['(', ' ']).next().unwrap().to_owned();
        if !about.contains(&kind.to_lowercase()) && !path.contains(&open) && kind != "Sleep" {
            broken.entry(kind).or_insert(path);
        }
    }
    for path in broken.values() {
        let file = std::path::Path::new(&tree).join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "{\"run\":").unwrap();
    }
    assert!(broken.len() >= 7, "{broken:?}");
    sandbox.git(&["-C", &tree, "add", "--sparse", "network"]);
    sandbox.git(&["-C", &tree, "commit", "-q", "--no-verify", "-m", "by hand"]);
    sandbox.git(&["worktree", "remove", "--force", &tree]);
    goes_on(&sandbox);
    decide("what to wear?");
    let judged = sandbox.brain(&["outcome", &open, "--value", "0.7"]).exits(0);
    assert!(format!("{judged}").contains("left alone: network/ledger/"), "{judged}");
    for (command, left) in [("ledger", "network/ledger/"), ("story", "network/narrative/"), ("goal", "network/goals/")]
    {
        let listed =
            sandbox.brain(&[&[command][..], if command == "goal" { &["list"] } else { &[] }].concat()).exits(0);
        assert!(listed.err.contains(&format!("left alone: {left}")), "{listed}");
    }
    for command in [&["prime"][..], &["wisdom", "list"], &["signals"], &["status"]] {
        sandbox.brain(command).exits(0);
    }
}

#[test]
fn what_cannot_be_read_may_be_put_right_although_it_is_written_once() {
    let (sandbox, _) = lived();
    sandbox.brain(&["hooks", "install"]).exits(0);
    let path = sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network/runs"]).remove(0);
    let was = sandbox.git(&["show", &format!("wake:{path}")]);
    commit_on(&sandbox, "wake", &path, "{\"run\":");
    let tree = sandbox.path("mend");
    sandbox.git(&["worktree", "add", "-q", &tree, "wake"]);
    let commit = |content: &str| {
        let file = std::path::Path::new(&tree).join(&path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
        sandbox.git(&["-C", &tree, "add", "--sparse", &path]);
        let args = ["-C", &tree, "commit", "-q", "-m", "mend"];
        sandbox.command("git", &args).output().unwrap().status.success()
    };
    assert!(commit(&format!("{}\n", was.trim_end())));
    assert!(!commit("{\"run\":"), "it can be read now, and is written once");
    sandbox.git(&["worktree", "remove", "--force", &tree]);
    sandbox.brain(&["check"]).exits(0);
}
