//! `feed` and `run`, from the outside: what goes in is remembered once, in its own words, by runs that git can tell.

use std::collections::{BTreeMap, BTreeSet};

use crate::sandbox::{self, NOW, Sandbox};
use serde_json::{Value, json};

/// 126 turns of seven conversations between four people, in English, French and Japanese.
const CONVERSATION: &str = include_str!("data/conversation.jsonl");

fn turns() -> Vec<Value> {
    CONVERSATION.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} of {value} is no text"))
}

fn fed() -> (Sandbox, Value) {
    let sandbox = Sandbox::new();
    let file = sandbox.file("conversation.jsonl", CONVERSATION);
    let report = sandbox.json(&["feed", "--file", &file]);
    (sandbox, report)
}

/// Episodic neurons of wake by their source.
fn episodes(sandbox: &Sandbox) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, neuron) in sandbox.neurons("wake") {
        if neuron["type"] == "episodic" {
            found.entry(neuron["source"].as_str().unwrap_or_default().to_owned()).or_default().push(neuron);
        }
    }
    found
}

fn queue(sandbox: &Sandbox, revision: &str) -> Vec<String> {
    sandbox.lines(&["ls-tree", "-r", "--name-only", revision, "network/stimuli/queue"])
}

#[test]
fn a_conversation_is_remembered_turn_by_turn() {
    let (sandbox, report) = fed();
    let turns = turns();
    assert!(turns.len() >= 120);
    assert_eq!(report["stimuli"].as_array().unwrap().len(), turns.len());
    assert_eq!((&report["known"], &report["failures"]), (&json!(0), &json!([])));
    let episodes = episodes(&sandbox);
    assert_eq!(episodes.len(), turns.len());
    for turn in &turns {
        let found = &episodes[text(turn, "source")];
        assert_eq!(found.len(), 1, "{turn}");
        assert_eq!(found[0]["concept"], turn["text"]);
        assert_eq!(found[0]["session"], turn["session"]);
        assert_eq!(found[0]["created_at"], turn["at"]);
    }
    assert_eq!(queue(&sandbox, "wake"), Vec::<String>::new());
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
    sandbox.fsck();
    assert!(sandbox.stale_locks().is_empty());
}

#[test]
fn every_turn_is_found_by_its_own_words() {
    let (sandbox, _) = fed();
    let mut missed = Vec::new();
    for turn in turns() {
        let answer = sandbox.json(&["recall", "--top", "3", "--", text(&turn, "text")]);
        let results = answer["results"].as_array().unwrap();
        assert!(results.len() <= 3);
        if !results.iter().any(|found| found["source"] == turn["source"]) {
            missed.push(format!("{turn}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn every_run_is_a_commit_that_git_can_tell() {
    let (sandbox, report) = fed();
    let runs = report["runs"].as_array().unwrap();
    assert!(runs.len() >= 7, "a run for each session at least: {}", runs.len());
    let recorded = sandbox.recorded_runs("wake");
    for run in runs {
        let (id, commit, agent) = (text(run, "run"), text(run, "commit"), text(run, "agent"));
        let trailer = |key: &str| {
            let format = format!("--format=%(trailers:key={key},valueonly,separator=%x2C)");
            sandbox.git(&["log", "-1", &format, commit])
        };
        assert_eq!((trailer("Agent"), trailer("Run")), (agent.to_owned(), id.to_owned()));
        assert_eq!(trailer("Trigger"), text(run, "trigger"));
        let message = sandbox.file("message", sandbox.git(&["log", "-1", "--format=%B", commit]));
        let parsed = sandbox.git(&["interpret-trailers", "--parse", &message]);
        for line in [format!("Agent: {agent}"), format!("Run: {id}"), format!("Trigger: {}", text(run, "trigger"))] {
            assert!(parsed.lines().any(|l| l == line), "{line} is not in {parsed}");
        }
        let author = sandbox.git(&["log", "-1", "--format=%an <%ae>", commit]);
        assert_eq!(author, format!("{agent} <{agent}@git-brain.invalid>"));
        sandbox.git(&["merge-base", "--is-ancestor", commit, "wake"]);
        // One commit of deltas, merged by a commit of two parents that is its child.
        let merged = text(run, "merged");
        let parents = sandbox.git(&["log", "-1", "--format=%P", merged]);
        assert_eq!(parents.split(' ').nth(1), Some(commit), "{merged}");
        assert!(recorded.contains(id), "{id} has no record in wake");
    }
    let subjects = sandbox.git(&["log", "--format=%(trailers:key=Agent,valueonly)", "--no-merges", "wake"]);
    let agents: BTreeSet<&str> = subjects.lines().filter(|l| !l.is_empty()).collect();
    assert!(agents.is_superset(&BTreeSet::from(["bootstrap", "memory", "perception"])), "{agents:?}");
}

#[test]
fn feeding_again_changes_nothing() {
    let (sandbox, _) = fed();
    let (tip, refs) = (sandbox.tip("wake"), sandbox.refs());
    let file = sandbox.path("conversation.jsonl");
    let again = sandbox.json(&["feed", "--file", &file]);
    assert_eq!((&again["stimuli"], &again["known"], &again["runs"]), (&json!([]), &json!(126), &json!([])));
    assert_eq!((sandbox.tip("wake"), sandbox.refs()), (tip.clone(), refs));
    // The same turns in another order, in two files, with a new one among them.
    let lines: Vec<&str> = CONVERSATION.lines().rev().collect();
    let new = r#"{"text": "Nora: Goodnight, canal.", "at": "2024-06-15T22:00:00Z", "source": "festival:19"}"#;
    let (some, others) = lines.split_at(50);
    let first = sandbox.file("first.jsonl", format!("{}\n{new}\n", some.join("\n")));
    let second = sandbox.file("second.jsonl", format!("{}\n{}\n", others.join("\n"), some.join("\n")));
    let third = sandbox.json(&["feed", "--file", &first, "--file", &second]);
    assert_eq!((third["stimuli"].as_array().unwrap().len(), &third["known"]), (1, &json!(176)));
    let neurons = sandbox.neurons("wake");
    let mut names = BTreeSet::new();
    for neuron in neurons.values().filter(|n| n["type"] != "episodic") {
        assert!(names.insert((neuron["type"].to_string(), text(neuron, "concept").to_lowercase())), "{neuron} twice");
    }
    assert_eq!(neurons.values().filter(|n| n["type"] == "episodic").count(), 127);
    assert_ne!(sandbox.tip("wake"), tip);
}

#[test]
fn a_text_file_is_a_session_of_its_paragraphs() {
    let sandbox = Sandbox::new();
    let file =
        sandbox.file("walk.md", "The heron stood\nin the reeds.\n\n\nThe kingfisher was faster.\n\nIt rained.\n");
    sandbox.json(&["feed", "--file", &file, "--at", "2025-05-05T05:05:05Z"]);
    let episodes = episodes(&sandbox);
    assert!(episodes.keys().all(|source| source.starts_with(&format!("{file}#"))), "{:?}", episodes.keys());
    let concepts: BTreeSet<&str> = episodes.values().map(|e| text(&e[0], "concept")).collect();
    let expected = ["It rained.", "The heron stood\nin the reeds.", "The kingfisher was faster."];
    assert_eq!(concepts, BTreeSet::from(expected));
    assert!(episodes.values().all(|e| e[0]["session"] == file && e[0]["created_at"] == "2025-05-05T05:05:05Z"));
}

#[test]
fn standard_input_is_a_text() {
    let sandbox = Sandbox::new();
    sandbox.brain_with(&["feed", "-", "--source", "diary"], "Mes bottes sont mouillées.\n".as_bytes()).exits(0);
    let episodes = episodes(&sandbox);
    assert_eq!(episodes["diary"][0]["concept"], "Mes bottes sont mouillées.");
    let empty = sandbox.brain_with(&["--json", "feed", "-"], b" \n").exits(2);
    assert!(text(&empty.error(), "error").contains("empty"), "{empty}");
}

#[test]
fn what_is_only_stored_waits_for_run() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["feed", "--no-run", "--source", "s", "The lighthouse keeper painted his door green."]);
    assert_eq!((report["stimuli"].as_array().unwrap().len(), &report["runs"]), (1, &json!([])));
    assert_eq!(queue(&sandbox, "wake").len(), 1);
    assert!(episodes(&sandbox).is_empty());
    assert_eq!(sandbox.json(&["status"])["queue"], 1);
    let due = sandbox.json(&["run", "--dry-run"]);
    assert_eq!(due["due"], json!([{"agent": "perception", "trigger": "input_queue_not_empty"}]));
    assert_eq!(queue(&sandbox, "wake").len(), 1);
    let ran = sandbox.json(&["run"]);
    assert!(ran["runs"].as_array().unwrap().iter().any(|r| r["agent"] == "perception"));
    assert_eq!((queue(&sandbox, "wake").len(), episodes(&sandbox).len()), (0, 1));
    assert_eq!(sandbox.json(&["run"])["runs"], json!([]), "quiet is quiet");
}

#[test]
fn a_source_is_remembered_once_and_so_is_a_text_without_one() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.json(&["feed", "--source", "note", "--at", "2025-01-01T00:00:00Z", "The ferry leaves at nine."]);
        sandbox.json(&["feed", "The gulls are loud."]);
    }
    let other_time = ["feed", "--source", "note", "--at", "2025-01-02T00:00:00Z", "The ferry leaves at nine."];
    sandbox.json(&other_time);
    let episodes = episodes(&sandbox);
    assert_eq!((episodes["note"].len(), episodes[""].len()), (2, 1));
}

#[test]
fn one_bad_line_and_nothing_is_stored() {
    let sandbox = Sandbox::new();
    let (tip, objects) = (sandbox.tip("wake"), sandbox.object_count());
    let good = r#"{"text": "fine"}"#;
    let bad = [
        "{\"text\": 1}",
        "{\"txt\": \"unknown field\"}",
        "{\"text\": \"  \"}",
        "{\"text\": \"a\", \"text\": \"twice\"}",
        "{\"text\": \"a\", \"at\": \"yesterday\"}",
        "{\"text\": \"cut off",
        "[\"no object\"]",
    ];
    for line in bad {
        let file = sandbox.file("bad.jsonl", format!("{good}\n\n{good}\n{line}\n{good}\n"));
        let answer = sandbox.brain(&["--json", "feed", "--file", &file]).exits(5);
        let error = answer.error();
        let message = text(&error, "error");
        assert!(message.contains("bad.jsonl") && message.contains('4'), "{line}: {message}");
    }
    let file = sandbox.file("latin1.txt", b"two\nlines \xe9\n");
    assert!(sandbox.brain(&["feed", "--file", &file]).exits(5).err.contains("UTF-8"));
    assert_eq!((sandbox.tip("wake"), sandbox.object_count()), (tip, objects));
}

#[test]
fn the_future_is_refused() {
    let mut sandbox = Sandbox::fixed(NOW, "future");
    let tip = sandbox.tip("wake");
    let answer = sandbox.brain(&["--json", "feed", "--at", "2026-01-26T14:42:01Z", "Tomorrow."]).exits(3);
    assert!(text(&answer.error(), "error").contains("2026-01-26T14:42:01Z"), "{answer}");
    let file =
        sandbox.file("ahead.jsonl", "{\"text\": \"now\"}\n{\"text\": \"later\", \"at\": \"2093-01-01T00:00:00Z\"}\n");
    let answer = sandbox.brain(&["feed", "--file", &file]).exits(3);
    assert!(answer.err.contains("ahead.jsonl, line 2, at: "), "{answer}");
    assert_eq!(sandbox.tip("wake"), tip);
    // Ten minutes ahead is a clock that is a little fast.
    sandbox.brain(&["feed", "--at", "2026-01-26T14:42:00Z", "Soon."]).exits(0);
    assert_eq!(episodes(&sandbox)[""].len(), 1);
    sandbox.at("2026-01-26T15:00:00Z");
    sandbox.brain(&["feed", "--at", "2026-01-26T14:42:01Z", "Tomorrow."]).exits(0);
}

#[test]
fn a_long_text_is_split_and_nothing_is_lost() {
    let sandbox = Sandbox::new();
    let sentences: Vec<String> =
        (0..300).map(|n| format!("Sentence number {n} speaks of the {}th lock on the canal.", n * 7)).collect();
    sandbox.brain_with(&["feed", "-", "--source", "long"], sentences.join(" ").as_bytes()).exits(0);
    let episodes = episodes(&sandbox);
    assert!(episodes.len() >= 4, "{} parts", episodes.len());
    assert!(episodes.keys().all(|source| source == "long" || source.starts_with("long#")), "{:?}", episodes.keys());
    let parts: Vec<&str> = episodes.values().flatten().map(|e| text(e, "concept")).collect();
    assert!(parts.iter().all(|part| part.len() <= 4096));
    for sentence in &sentences {
        assert_eq!(parts.iter().filter(|part| part.contains(sentence.as_str())).count(), 1, "{sentence}");
    }
    assert_eq!(queue(&sandbox, "wake").len(), 0);
}

#[test]
fn a_dry_run_stores_nothing() {
    let sandbox = Sandbox::new();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let report = sandbox.json(&["feed", "--dry-run", "Perhaps."]);
    assert_eq!(report["stimuli"].as_array().unwrap().len(), 1);
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn the_same_clock_and_seed_make_the_same_commits() {
    let live = |seed: &str| {
        let sandbox = Sandbox::fixed("2024-07-01T00:00:00Z", seed);
        let file = sandbox.file("conversation.jsonl", CONVERSATION.lines().take(40).collect::<Vec<_>>().join("\n"));
        sandbox.json(&["feed", "--file", &file]);
        sandbox.json(&["feed", "No source, and said again, so chance makes its id.", "--again"]);
        sandbox.apply(&sandbox::delta(json!([sandbox::create("tea")])), &[]);
        sandbox
    };
    let (a, b, other) = (live("seed"), live("seed"), live("another"));
    assert_eq!(a.tip("wake"), b.tip("wake"));
    assert_eq!(a.tip("main"), b.tip("main"));
    assert_ne!(a.tip("wake"), other.tip("wake"));
    let unmarked: Vec<String> = a
        .lines(&["log", "--format=%H %(trailers:key=Clock,valueonly,separator=%x2C)", "wake"])
        .into_iter()
        .filter(|line| !line.ends_with(" fixed"))
        .collect();
    assert!(unmarked.is_empty(), "{unmarked:?}");
    let real = Sandbox::new();
    assert_eq!(real.git(&["log", "--format=%(trailers:key=Clock)", "wake"]).trim(), "");
}

/// A time that cannot be kept is named and refused, wherever it comes in; nothing is stored under another one.
#[test]
fn times_that_cannot_be_kept_are_refused_by_their_value() {
    let sandbox = Sandbox::new();
    let before = sandbox.refs();
    for at in ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-30T23:00:00Z", "@253402300799", "1950-05-01 15:00"] {
        let refused = sandbox.brain(&["feed", "--no-run", "--at", at, "Ann keeps herons."]).exits(2);
        assert!(refused.err.contains(at), "{refused}");
        let line = format!("{{\"text\": \"Ann keeps owls.\", \"at\": \"{at}\"}}\n");
        let file = sandbox.file("batch.jsonl", line);
        let refused = sandbox.brain(&["feed", "--no-run", &file]);
        assert!(refused.code == 5 && refused.err.contains(at), "{refused}");
    }
    let mut late = sandbox.command(crate::sandbox::PROGRAM, &["status"]);
    late.env("BRAIN_NOW", "9999-12-31T23:59:59Z");
    let ended = late.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(2) && said.contains("times that can be kept"), "{said}");
    assert_eq!(sandbox.refs(), before);
}
