//! What users of other tools with a memory have lost, each as a test of its own. The first words name the tool, or the kind of
//! tool, and what its users report; the test holds that it does not happen here.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use crate::sandbox::{Dice, PROGRAM, Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

fn pair() -> Sandbox {
    pair_in(Sandbox::new())
}

fn pair_in(sandbox: Sandbox) -> Sandbox {
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20_000)])), &[]);
    sandbox
}

fn write(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.dir().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Labels that a question finds, best first.
fn found(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let all: Vec<&str> = ["recall"].iter().chain(args).copied().collect();
    let answer = sandbox.json(&all);
    let results = answer["results"].as_array().unwrap().clone();
    results.iter().map(|r| r["source"].as_str().unwrap_or_default().to_owned()).collect()
}

/// beads: an empty store on a command that only reads wiped the file.
#[test]
fn a_read_command_on_an_empty_store_wipes_nothing() {
    let sandbox = Sandbox::new();
    // A clone without a wake, and a private folder that is gone: nothing is there to read yet.
    let (from, to) = (sandbox.dir().display().to_string(), sandbox.path("clone"));
    sandbox.git(&["clone", "-q", &from, &to]);
    sandbox.git(&["-C", &to, "config", "brain.main", "main"]);
    sandbox.git(&["-C", &to, "config", "brain.wake", "wake"]);
    let files = |dir: &str| -> Vec<_> {
        let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().filter_entry(|e| e.file_name() != ".git");
        walk.flatten()
            .filter(|e| e.file_type().is_file())
            .map(|e| (e.path().to_owned(), std::fs::read(e.path()).unwrap()))
            .collect()
    };
    let before = files(&to);
    assert!(before.len() > 10);
    for args in [
        &["status"][..],
        &["log"],
        &["recall", "x"],
        &["show", "a"],
        &["diff"],
        &["export"],
        &["check"],
        &["ledger"],
        &["story"],
    ] {
        let all: Vec<&str> = ["-C", &to].iter().chain(args).copied().collect();
        sandbox.brain(&all);
        assert_eq!(files(&to), before, "{args:?}");
    }
    assert_eq!(sandbox.git(&["-C", &to, "status", "--porcelain"]), "");
}

/// beads: its hooks overwrite those of others, and survive its own uninstall.
#[test]
#[cfg(unix)]
fn hooks_of_others_survive_install_and_removal_to_the_byte() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let folder = sandbox.dir().join(".git/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let theirs: [(&str, &[u8]); 4] = [
        ("pre-commit", b"#!/bin/sh\nexec lint --all"),
        ("post-commit", b"#!/usr/bin/env bash\r\necho \xff\r\nexit 0\r\n"),
        ("post-merge", b"#!/usr/bin/env python3\nprint('no shell')\n"),
        ("commit-msg", b"#!/bin/sh\n"),
    ];
    for (name, text) in theirs {
        std::fs::write(folder.join(name), text).unwrap();
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o750)).unwrap();
    }
    for _ in 0..2 {
        sandbox.brain(&["hooks", "install"]);
        sandbox.brain(&["hooks", "install"]);
        assert_ne!(std::fs::read(folder.join("pre-commit")).unwrap(), theirs[0].1);
        sandbox.brain(&["hooks", "remove"]);
        for (name, text) in theirs {
            assert_eq!(std::fs::read(folder.join(name)).unwrap(), text, "{name}");
            assert_eq!(std::fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777, 0o750, "{name}");
        }
    }
    let names = std::fs::read_dir(&folder).unwrap().flatten().map(|e| e.file_name());
    assert_eq!(
        names.filter(|n| !n.to_string_lossy().ends_with(".sample")).count(),
        theirs.len(),
        "nothing else was left there"
    );
}

/// beads: a daemon writes back what a person has just reset.
#[test]
fn what_a_person_resets_stays_reset() {
    let sandbox = pair();
    let before = sandbox.tip("wake");
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 500)])), &[]);
    sandbox.json(&["recall", "a"]);
    sandbox.git(&["update-ref", "refs/heads/wake", &before]);
    for args in [&["recall", "a"][..], &["status"], &["run"], &["watch", "--once"], &["doctor"], &["merge"]] {
        let answer = sandbox.brain(args);
        // `doctor` has something to say of a brain without hooks.
        assert!(answer.code == 0 || args[0] == "doctor", "{answer}");
        assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_000), "{args:?}");
    }
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 1)])), &[]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_001));
}

/// beads: the database beside the files is a second source of truth, and loses data when the two differ.
#[test]
fn there_is_no_second_source_of_truth() {
    // What fades while the test runs is no second truth.
    let sandbox = pair_in(Sandbox::fixed("2026-05-03T12:00:00Z", "heron"));
    sandbox.json(&["feed", "--source", "mail", "The heron flew over Kyoto."]);
    let answers = sandbox.json(&["recall", "heron"])["results"].clone();
    // All that is not in git may be lost or garbage at any time.
    let private = sandbox.dir().join(".git/git-brain");
    for entry in walkdir::WalkDir::new(private.join("cache")).into_iter().flatten().filter(|e| e.file_type().is_file())
    {
        std::fs::write(entry.path(), b"garbage").unwrap();
    }
    assert_eq!(sandbox.json(&["recall", "heron"])["results"], answers);
    std::fs::remove_dir_all(&private).unwrap();
    assert_eq!(sandbox.json(&["recall", "heron"])["results"], answers);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_000));
}

/// Letta MemFS: with nobody at the terminal it just ends on a conflict, and there is no policy to choose.
#[test]
fn a_conflict_without_a_terminal_has_an_exit_code_and_a_policy() {
    let sandbox = pair();
    let reword = |text: &str| delta(json!([{"op": "reword", "id": "a", "concept": text}]));
    let one = sandbox.apply(&reword("one"), &["--no-merge"]);
    let two = sandbox.apply(&reword("two"), &["--no-merge"]);
    let branch = |report: &Value| report["branch"].as_str().unwrap().to_owned();
    let (one, two) = (branch(&one), branch(&two));
    sandbox.brain(&["-c", "merge.concept=review", "merge", &one]).exits(0);
    let wake = sandbox.tip("wake");
    let held = sandbox.brain(&["--json", "-c", "merge.concept=review", "merge", &two]).exits(3);
    assert!(held.out.contains("concept"), "{held}");
    assert_eq!(sandbox.tip("wake"), wake, "nothing half done");
    assert!(sandbox.run_branches().contains(&two), "it waits");
    // Another policy, and it is merged: the later run's name wins.
    sandbox.brain(&["-c", "merge.concept=priority", "merge", &two]).exits(0);
    assert_eq!(sandbox.neuron("a")["concept"], "two");
}

/// Letta MemFS: a force-push replaced 79 files by 8. Here what was fetched is merged as a branch, and takes nothing away.
#[test]
fn a_rewritten_remote_takes_nothing_away() {
    let sandbox = pair();
    let (from, to) = (sandbox.dir().display().to_string(), sandbox.path("clone"));
    sandbox.git(&["clone", "-q", &from, &to]);
    sandbox.git(&["-C", &to, "branch", "-q", "wake", "origin/wake"]);
    sandbox.git(&["-C", &to, "config", "brain.main", "main"]);
    sandbox.git(&["-C", &to, "config", "brain.wake", "wake"]);
    let before = sandbox.neurons("wake");
    // The remote's wake is now an orphan with next to nothing in it.
    let tree = sandbox.git(&["mktree"]);
    let orphan = sandbox.git(&["commit-tree", "-m", "rewritten", &tree]);
    sandbox.git(&["update-ref", "refs/heads/wake", &orphan]);
    sandbox.git(&["-C", &to, "fetch", "-q", "--force"]);
    let wake = sandbox.git(&["-C", &to, "rev-parse", "wake"]);
    let answer = sandbox.brain(&["-C", &to, "merge", "origin/wake"]);
    assert_ne!(answer.code, 0, "{answer}");
    assert_eq!(sandbox.git(&["-C", &to, "rev-parse", "wake"]), wake);
    assert_eq!(
        sandbox.git(&["-C", &to, "ls-tree", "-r", "--name-only", "wake", "network/neurons"]).lines().count(),
        before.len()
    );
}

/// DiffMem, Graphiti, mem0: a write takes 12 to 600 seconds, because a model is asked; users want one without.
#[test]
fn a_write_asks_no_model() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let sandbox = Sandbox::new();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let model = format!("models.mine={{provider = \"openai\", model = \"m\", base_url = \"{url}\"}}");
    // Even where a model is set up and allowed, only a question may ask it.
    let with = ["-c", model.as_str(), "-c", "recall.embeddings=mine"];
    let ask = |args: &[&str]| {
        let all: Vec<&str> = with.iter().chain(args).copied().collect();
        sandbox.brain(&all).exits(0);
        assert!(listener.accept().is_err(), "{args:?} asked a model");
    };
    ask(&["feed", "--source", "mail", "The heron flew over Kyoto."]);
    ask(&["run"]);
    ask(&["sleep"]);
    ask(&["goal", "add", "see the heron"]);
    let file = sandbox.file("delta.json", delta(json!([create("x")])).to_string());
    ask(&["apply", &file]);
    assert_eq!(found(&sandbox, &["heron"])[0], "mail");
}

/// server-memory: two processes that write drop each other's memories, and say nothing.
#[test]
fn two_processes_never_drop_each_others_writes() {
    let sandbox = Sandbox::new();
    let each = 8;
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for n in 0..each {
                    let text = format!("Writer {writer} saw heron number {n}.");
                    sandbox.json(&["feed", "--no-run", "--source", &format!("w{writer}-{n}"), &text]);
                }
            });
        }
    });
    sandbox.json(&["run"]);
    let neurons = sandbox.neurons("wake");
    let kept: BTreeSet<&str> = neurons.values().filter_map(|n| n["source"].as_str()).collect();
    assert_eq!(kept.len(), 2 * each, "{kept:?}");
}

/// server-memory: 200 calls sent down one pipe at once, and one of them is kept.
#[test]
fn two_hundred_calls_at_once_are_all_kept() {
    let sandbox = Sandbox::new();
    let lines: String = (0..200)
        .map(|n| format!("{}\n", json!({"text": format!("Call {n} came in."), "source": format!("call:{n}")})))
        .collect();
    let file = sandbox.file("calls.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    let kept =
        sandbox.neurons("wake").into_values().filter(|n| n["source"].as_str().is_some_and(|s| s.starts_with("call:")));
    assert_eq!(kept.count(), 200);
}

/// server-memory: one bad line of the file, and the whole memory is unreadable or gone.
#[test]
fn a_corrupt_file_is_named_and_loses_nothing_else() {
    let sandbox = pair();
    sandbox.json(&["feed", "--source", "mail", "The heron flew over Kyoto."]);
    let good = sandbox.tip("wake");
    let path = sandbox.neuron_path("wake", "a").unwrap();
    let file = sandbox.file("bad", "{\"id\": \"a\",\n  \"concept\": \"cut o");
    let blob = sandbox.git(&["hash-object", "-w", "--no-filters", &file]);
    sandbox.git(&["read-tree", "wake"]);
    sandbox.git(&["update-index", "--cacheinfo", &format!("100644,{blob},{path}")]);
    let tree = sandbox.git(&["write-tree"]);
    let bad = sandbox.git(&["commit-tree", "-p", "wake", "-m", "damaged by hand", &tree]);
    sandbox.git(&["read-tree", "main"]);
    sandbox.git(&["update-ref", "refs/heads/wake", &bad]);
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    for args in [&["recall", "heron"][..], &["show", "a"], &["run"], &["sleep"]] {
        let answer = sandbox.brain(args);
        assert!(answer.code == 5 && answer.err.contains(&path) || answer.code == 0, "{answer}");
    }
    assert!(sandbox.brain(&["recall", "heron"]).exits(0).out.contains("The heron flew over Kyoto."));
    let check = sandbox.brain(&["check"]).exits(1);
    assert!(check.out.contains(&format!("{path}:2")), "{check}");
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects), "it is left as it is");
    sandbox.git(&["update-ref", "refs/heads/wake", &good]);
    assert_eq!(found(&sandbox, &["heron"])[0], "mail");
}

/// vestige, alaya: processes are blind to each other until they are started again.
/// basic-memory: the index runs after the files, and a search misses what was just written.
#[test]
fn what_was_written_is_found_by_the_next_question() {
    let sandbox = Sandbox::new();
    sandbox.json(&["recall", "heron"]);
    for n in 0..6 {
        let label = format!("note:{n}");
        sandbox.json(&["feed", "--source", &label, &format!("The bird called zyx{n} flew over.")]);
        assert_eq!(found(&sandbox, &[&format!("zyx{n}")])[0], label, "by another process");
    }
    // Also where the commit came by plain git, whatever the index was made of.
    let before = sandbox.tip("wake~1");
    let tip = sandbox.tip("wake");
    sandbox.git(&["update-ref", "refs/heads/wake", &before]);
    let _ = found(&sandbox, &["zyx5"]);
    sandbox.git(&["update-ref", "refs/heads/wake", &tip]);
    assert_eq!(found(&sandbox, &["zyx5"])[0], "note:5");
}

/// Gas Town, vibe-kanban: a branch is deleted before it is merged, and the work with it.
#[test]
fn a_branch_is_deleted_after_its_merge_and_never_before() {
    let sandbox = pair();
    let report = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 7)])), &["--no-merge"]);
    let (branch, commit) =
        (report["branch"].as_str().unwrap().to_owned(), report["commit"].as_str().unwrap().to_owned());
    for args in [&["run"][..], &["status"], &["doctor"], &["sleep"], &["watch", "--once"], &["merge", "--dry-run"]] {
        sandbox.brain(args);
        let merged = sandbox.recorded_runs("wake").contains(report["run"].as_str().unwrap());
        assert!(merged || sandbox.run_branches().contains(&branch), "{args:?}");
    }
    sandbox.brain(&["merge", &branch]).exits(0);
    assert!(!sandbox.run_branches().contains(&branch));
    let reachable = sandbox.command("git", &["merge-base", "--is-ancestor", &commit, "wake"]).status().unwrap();
    assert!(reachable.success(), "what the branch had is in wake's history");
}

/// Gas Town, vibe-kanban: a dirty work tree stops the agents, or is cleaned of what a person was writing.
#[test]
fn a_dirty_work_tree_stops_nobody_and_stays_dirty() {
    let sandbox = pair();
    sandbox.git(&["checkout", "-q", "wake"]);
    let path = sandbox.neuron_path("wake", "a").unwrap();
    write(&sandbox, &path, "my draft\n");
    write(&sandbox, "notes.txt", "mine\n");
    write(&sandbox, "network/stray.txt", "mine too\n");
    sandbox.git(&["add", "notes.txt"]);
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 7)])), &[]);
    sandbox.json(&["feed", "The heron flew over Kyoto."]);
    sandbox.json(&["sleep"]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_007));
    let read = |path: &str| std::fs::read_to_string(sandbox.dir().join(path)).unwrap();
    assert_eq!(
        (read(&path), read("notes.txt"), read("network/stray.txt")),
        ("my draft\n".into(), "mine\n".into(), "mine too\n".into())
    );
    assert!(sandbox.git(&["diff", "--cached", "--name-only"]).contains("notes.txt"), "what was staged is staged");
}

/// vibe-kanban: a merge fails without a word when its target is checked out somewhere.
#[test]
fn a_merge_into_what_is_checked_out_moves_branch_and_files() {
    let sandbox = pair();
    sandbox.git(&["checkout", "-q", "wake"]);
    sandbox.brain(&["checkout"]).exits(0);
    let linked = sandbox.path("linked");
    sandbox.git(&["worktree", "add", "-q", "--force", &linked, "wake"]);
    let report = sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 7)])), &["--no-merge"]);
    sandbox.brain(&["merge", report["branch"].as_str().unwrap()]).exits(0);
    let path = sandbox.neuron_path("wake", "a").unwrap();
    for root in [sandbox.dir().to_owned(), Path::new(&linked).to_owned()] {
        let text = std::fs::read_to_string(root.join(&path)).unwrap();
        assert!(text.contains("20007"), "{}: {text}", root.display());
        assert_eq!(
            sandbox.git(&["-C", &root.display().to_string(), "status", "--porcelain"]),
            "",
            "{}",
            root.display()
        );
    }
}

/// HippoRAG: 50 GB of memory for 50 documents.
#[test]
#[cfg(unix)]
fn memory_is_bounded_by_the_text() {
    let sandbox = Sandbox::new();
    let mut dice = Dice(7);
    let words = ["heron", "garden", "bridge", "letter", "winter", "Kyoto", "Ann", "kettle", "river", "lantern"];
    let text: String = (0..50)
        .flat_map(|document| (0..40).map(move |n| (document, n)))
        .map(|(document, n)| {
            let said: Vec<&str> = (0..30).map(|_| words[dice.below(10) as usize]).collect();
            format!("Document {document} says in {n}: {}.\n\n", said.join(" "))
        })
        .collect();
    let file = sandbox.file("fifty.txt", text);
    let bounded = |args: &[&str]| {
        let script = "ulimit -v 1048576 && exec \"$0\" \"$@\"";
        let all: Vec<&str> = ["-c", script, PROGRAM].into_iter().chain(args.iter().copied()).collect();
        let ended = sandbox.command("sh", &all).stdin(Stdio::null()).output().unwrap();
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    bounded(&["feed", "--no-run", "--file", &file]);
    bounded(&["run", "--max-runs", "200"]);
    bounded(&["recall", "heron in the garden", "--top", "50"]);
}

/// alaya: evidence recall falls from .582 to .499 by answering questions. Here asking changes nothing, and learning from
/// what was asked does not push the answers out.
#[test]
fn recall_gets_no_worse_with_use() {
    let sandbox = Sandbox::new();
    let lines: String = (0..40)
        .map(|n| format!("{}\n", json!({"text": format!("The herald of house h{n}x keeps the k{n}y in the tower."), "source": format!("s{n}")})))
        .collect();
    let file = sandbox.file("houses.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    let world = git_brain::brain::World::from_environment().unwrap();
    let open = || git_brain::brain::Brain::open(sandbox.dir(), world.clone(), &[]).unwrap();
    let ask = |brain: &git_brain::brain::Brain, n: usize, learn: bool| {
        let request = git_brain::brain::RecallRequest {
            query: format!("Who keeps the k{}y of house h{}x?", n % 40, n % 40),
            top: Some(3),
            learn,
            ..Default::default()
        };
        let answer = brain.recall(&request).unwrap();
        usize::from(answer.results.iter().any(|r| r.source.as_deref() == Some(format!("s{}", n % 40).as_str())))
    };
    let brain = open();
    let before: usize = (0..40).map(|n| ask(&brain, n, false)).sum();
    let tip = sandbox.tip("wake");
    let asked: usize = (0..500).map(|n| ask(&brain, n, false)).sum();
    assert_eq!((asked, sandbox.tip("wake")), (before * 500 / 40, tip), "asking writes nothing");
    // Some are asked again and again: what they make vivid must not hide the others.
    for n in 0..60 {
        ask(&brain, n % 6, true);
    }
    let after: usize = (0..40).map(|n| ask(&open(), n, false)).sum();
    assert!(after >= before && before >= 38, "{before} of 40 before, {after} after");
}

/// alaya: a raw question finds nothing, because all its words must be there at once.
#[test]
fn a_raw_question_finds_what_its_words_find() {
    let sandbox = Sandbox::new();
    for (source, text) in [
        ("one", "Ann moved to Kyoto in the spring to restore old lanterns."),
        ("two", "Bertrand sold the boat after the storm."),
        ("three", "The kettle in the kitchen whistles off key."),
    ] {
        sandbox.json(&["feed", "--source", source, text]);
    }
    for (question, source) in [
        ("So, could you please tell me where exactly Ann went to live, and was it for her work?", "one"),
        ("what on earth happened to that boat of Bertrand's, does anybody remember?", "two"),
        ("hmm why is there a whistling noise — kettle??", "three"),
    ] {
        assert_eq!(found(&sandbox, &[question]).first().map(String::as_str), Some(source), "{question}");
    }
}

/// Plain git: a killed process leaves `wake.lock`, and everyone after it is blocked.
#[test]
fn a_stale_lock_of_a_dead_process_blocks_nobody() {
    let sandbox = pair();
    let git = sandbox.dir().join(".git");
    let tip = sandbox.tip("wake");
    std::fs::create_dir_all(git.join("git-brain/intents")).unwrap();
    // As a process leaves them that was killed between lock and rename.
    let plan = json!({"pid": 999_999, "locks": [{"file": "refs/heads/wake.lock", "content": format!("{tip}\n")}], "moves": []});
    std::fs::write(git.join("git-brain/intents/killed.intent"), plan.to_string()).unwrap();
    std::fs::write(git.join("refs/heads/wake.lock"), format!("{tip}\n")).unwrap();
    for lock in ["trunk", "cycle", "sleep"] {
        std::fs::write(git.join("git-brain/locks").join(lock), "pid 999999\n").unwrap();
    }
    sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 7)])), &[]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_007));
    assert_eq!(sandbox.stale_locks(), Vec::<std::path::PathBuf>::new());
    sandbox.fsck();
}

/// mergiraf: a number changed on both sides becomes a conflict, with markers that are no JSON.
#[test]
fn one_number_changed_on_both_sides_is_the_sum() {
    assert_eq!(
        both(adjust("a", "b", "feeds_into", 7), adjust("a", "b", "feeds_into", -3)).weight("a", "b", "feeds_into"),
        Some(20_004)
    );
}

/// mergiraf: two appends to one list are a conflict.
#[test]
fn two_appends_are_both_there() {
    let sandbox = both(connect("b", "a", "feeds_into", 2000), connect("b", "a", "recalls", 3000));
    assert_eq!(sandbox.weight("b", "a", "feeds_into"), Some(2000));
    assert_eq!(sandbox.weight("b", "a", "recalls"), Some(3000));
}

/// mergiraf: delete against edit is a conflict.
#[test]
fn a_removal_against_an_edit_keeps_the_edit() {
    let off = json!({"op": "disconnect", "from": "a", "to": "b", "type": "feeds_into"});
    assert_eq!(both(off, adjust("a", "b", "feeds_into", 500)).weight("a", "b", "feeds_into"), Some(500));
}

/// mergiraf: a counter that both sides raised silently keeps one of the two.
#[test]
fn a_counter_raised_on_both_sides_counts_both() {
    let up = json!({"op": "activate", "id": "a", "strength": 0.1});
    let sandbox = both(up.clone(), up);
    assert_eq!(sandbox.neuron("a")["activation_count"], 2);
}

/// Two runs from one base, merged one after the other.
fn both(one: Value, two: Value) -> Sandbox {
    let sandbox = pair();
    let pending =
        |op: Value| sandbox.apply(&delta(json!([op])), &["--no-merge"])["branch"].as_str().unwrap().to_owned();
    let (one, two) = (pending(one), pending(two));
    sandbox.brain(&["merge", &one]).exits(0);
    sandbox.brain(&["merge", &two]).exits(0);
    sandbox.brain(&["check"]).exits(0);
    let marked = sandbox.command("git", &["grep", "-q", "-e", "<<<<<<<", "wake"]).status().unwrap();
    assert!(!marked.success(), "no marks in any file");
    sandbox
}
