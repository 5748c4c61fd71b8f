//! The snapshot that recall and propagation read instead of all neurons: it sees what was just merged, answers as if there
//! were none, and is never trusted when damaged.

use std::fs;
use std::path::PathBuf;

use crate::sandbox::{self, NOW, Sandbox, connect, create, delta};
use serde_json::{Value, json};

const QUESTIONS: [&str; 4] =
    ["Where did Olga go?", "What did Anna say of the ferry?", "ferry harbour", "Velden Harbour"];

/// A brain that remembers some turns.
fn brain() -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "snapshot");
    feed(
        &sandbox,
        &["Anna: Olga took the ferry to Velden Harbour.", "Bob: The ferry was late again.", "Anna: I stayed."],
    );
    sandbox
}

fn feed(sandbox: &Sandbox, texts: &[&str]) {
    let lines: Vec<String> = texts.iter().map(|text| json!({"text": text, "session": "s1"}).to_string()).collect();
    let file = sandbox.file("turns.jsonl", lines.join("\n"));
    sandbox.brain(&["feed", "--file", &file]).exits(0);
}

fn answers(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    QUESTIONS
        .iter()
        .map(|question| sandbox.json(&[&["recall", question, "--explain"], args].concat())["results"].clone())
        .collect()
}

/// The same answers from the same brain without anything kept.
fn answers_anew(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    drop(fs::remove_dir_all(cache(sandbox)));
    answers(sandbox, args)
}

fn cache(sandbox: &Sandbox) -> PathBuf {
    sandbox.dir().join(".git/git-brain/cache")
}

fn kept(sandbox: &Sandbox, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache(sandbox)).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|found| found == suffix)).collect()
}

#[test]
fn recall_sees_a_run_the_moment_it_is_merged() {
    let sandbox = brain();
    let first = answers(&sandbox, &[]);
    // The base was made where perception looked up the first concept.
    assert_eq!(kept(&sandbox, "base").len(), 1);
    let before = sandbox.tip("wake");
    let mut texts = vec!["Bob: Olga went to Oslo."];
    for text in ["Carl: The harbour of Velden is cold.", "Anna: We met at Velden Harbour Club.", "Bob: A ferry sank."] {
        feed(&sandbox, &texts);
        let followed = answers(&sandbox, &[]);
        assert!(!kept(&sandbox, "over").is_empty(), "what changed lies over the first snapshot");
        assert_eq!(kept(&sandbox, "base").len(), 1);
        assert_eq!(followed, answers_anew(&sandbox, &[]));
        assert_ne!(followed, first);
        texts = vec![text];
    }
    let oslo = sandbox.json(&["recall", "Oslo"]);
    assert_eq!(oslo["results"][0]["text"], "Bob: Olga went to Oslo.");
    assert_eq!(answers(&sandbox, &["--at", &before]), first, "the past is answered as it was");
    sandbox.fsck();
}

#[test]
fn propagation_sees_a_changed_weight_at_once() {
    let sandbox = Sandbox::fixed(NOW, "snapshot");
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 60000)])), &[]);
    let spread = || sandbox.json(&["propagate", "--from", "a"])["activation"]["b"].clone();
    let first = spread();
    sandbox.apply(&delta(json!([sandbox::adjust("a", "b", "feeds_into", -20000)])), &[]);
    let second = spread();
    assert!(second.as_f64().unwrap() < first.as_f64().unwrap(), "{first} {second}");
    drop(fs::remove_dir_all(cache(&sandbox)));
    assert_eq!(spread(), second);
}

/// What can happen to a file.
fn damages(good: &[u8]) -> Vec<Vec<u8>> {
    let flipped = |at: usize| {
        let mut bad = good.to_vec();
        bad[at] ^= 0xff;
        bad
    };
    let (middle, last) = (good.len() / 2, good.len() - 1);
    let mut list: Vec<Vec<u8>> = [0, 9, 30, 100, 700, middle, last].map(flipped).to_vec();
    list.extend([Vec::new(), good[..50].to_vec(), good[..last].to_vec(), [good, b"x"].concat(), vec![0; good.len()]]);
    list
}

#[test]
fn a_damaged_file_is_made_anew_and_never_believed() {
    let sandbox = brain();
    answers(&sandbox, &[]);
    feed(&sandbox, &["Bob: Olga went to Oslo."]);
    let expected = answers(&sandbox, &[]);
    let read = |suffix: &str| (kept(&sandbox, suffix)[0].clone(), fs::read(&kept(&sandbox, suffix)[0]).unwrap());
    let whole = [read("base"), read("over")];
    for (path, good) in &whole {
        for (case, bad) in damages(good).into_iter().enumerate() {
            fs::remove_dir_all(cache(&sandbox)).unwrap();
            fs::create_dir(cache(&sandbox)).unwrap();
            whole.iter().for_each(|(path, good)| fs::write(path, good).unwrap());
            fs::write(path, &bad).unwrap();
            let answer = sandbox.brain(&["recall", "Oslo"]).exits(0);
            let place = format!("{}, case {case}: {}", path.display(), answer);
            assert!(answer.out.contains("Olga went to Oslo") && answer.err.contains("made anew"), "{place}");
            assert_eq!(answers(&sandbox, &[]), expected, "{place}");
        }
    }
}

#[test]
fn many_processes_may_ask_for_the_first_time_at_once() {
    let sandbox = brain();
    let expected = answers(&sandbox, &[]);
    drop(fs::remove_dir_all(cache(&sandbox)));
    let children: Vec<_> =
        (0..8).map(|_| sandbox.spawn(&["recall", QUESTIONS[0], "--json", "--explain"], b"")).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["results"], expected[0]);
    }
    assert_eq!(kept(&sandbox, "base").len(), 1);
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let sandbox = brain();
    let expected = answers_anew(&sandbox, &[]);
    fs::remove_dir_all(cache(&sandbox)).unwrap();
    fs::write(cache(&sandbox), "not a folder").unwrap();
    assert_eq!(answers(&sandbox, &[]), expected);
}

#[test]
fn the_best_memories_that_fit_are_answered() {
    let sandbox = Sandbox::fixed(NOW, "snapshot");
    feed(&sandbox, &["tea number 1", "tea number 2", "tea number 3"]);
    let few = sandbox.json(&["recall", "tea", "--tokens", "6"]);
    assert_eq!(few["results"].as_array().unwrap().len(), 2, "each text has three tokens: {few}");
}

#[test]
fn few_overlays_are_kept_however_many_feeds_there_were() {
    let sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "overlays");
    for name in ["Anna", "Bob", "Carol", "Dora", "Emil", "Fritz"] {
        sandbox.json(&["feed", &format!("{name} mended the roof of the barn.")]);
        sandbox.json(&["recall", &format!("What did {name} mend?")]);
    }
    let files = std::fs::read_dir(sandbox.path("here/.git/git-brain/cache")).unwrap();
    let overlays = files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|x| x == "over")).count();
    assert!((1..=2).contains(&overlays), "{overlays}");
}

#[test]
fn wake_has_one_whole_snapshot_and_a_past_that_is_asked_its_own() {
    let sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "bases");
    let import = |name: &str, count: usize| {
        let triple = |n: usize| json!({"subject": format!("{name}{n}"), "relation": "knows", "object": format!("{name}{}", n + 1)});
        let lines: Vec<String> = (0..count).map(|n| triple(n).to_string()).collect();
        let file = sandbox.file("triples.jsonl", lines.join("\n"));
        sandbox.brain(&["import", "--triples", &file]).exits(0);
    };
    let asked = |at: &[&str]| sandbox.json(&[&["recall", "who knows s7"], at].concat())["results"].clone();
    import("s", 500);
    let before = (sandbox.tip("wake"), asked(&[]));
    assert_eq!(kept(&sandbox, "base").len(), 1);
    // More than what a snapshot follows, as after a night that strengthens much.
    import("t", 2_500);
    asked(&[]);
    assert_eq!(kept(&sandbox, "base").len(), 1, "what wake has left goes");
    assert_eq!(asked(&["--at", &before.0]), before.1);
    assert_eq!(kept(&sandbox, "base").len(), 2, "a past that was asked stays beside it");
    sandbox.brain(&["feed", "Anna mended the roof of the barn."]).exits(0);
    asked(&[]);
    assert_eq!(kept(&sandbox, "base").len(), 2);
    import("u", 2_500);
    assert_eq!(kept(&sandbox, "base").len(), 1);
}

#[test]
fn damaged_counts_are_made_anew() {
    let sandbox = brain();
    let status = || {
        let status = sandbox.json(&["status"]);
        (status["neurons"].as_u64().unwrap(), status["runs"].as_u64().unwrap())
    };
    let expected = status();
    let path = cache(&sandbox).join("counts.json");
    let good = fs::read(&path).unwrap();
    let at = good.windows(9).position(|part| part == b"\"neurons\"").unwrap() + 10;
    for bad in [[&good[..at], b"9", &good[at..]].concat(), good[..at].to_vec(), Vec::new(), b"{}".to_vec()] {
        fs::write(&path, bad).unwrap();
        assert_eq!(status(), expected);
    }
}
