//! Many processes on one brain. Nothing acknowledged is lost, nothing is counted twice, nothing is left behind.

use std::collections::BTreeSet;

use crate::sandbox::{self, Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

const PROCESSES: usize = 16;
const ROUNDS: usize = 30;

/// What nobody may leave behind.
fn tidy(sandbox: &Sandbox) {
    assert_eq!(sandbox.stale_locks(), Vec::<std::path::PathBuf>::new());
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
    sandbox.fsck();
}

#[test]
fn sixteen_processes_write_one_connection() {
    let sandbox = Sandbox::new();
    let first = sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20000)])), &[]);
    let before = sandbox.recorded_runs("wake");
    // Even processes adjust one connection, each by a number of its own; odd ones make neurons of their own.
    let by = |process: usize| process as i64 * 3 - 17;
    let answers: Vec<(usize, usize, Value)> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let write = move |process: usize| {
            let one = move |round: usize| {
                let op = match process % 2 {
                    0 => adjust("a", "b", "feeds_into", by(process)),
                    _ => create(&format!("p{process}r{round}")),
                };
                (process, round, sandbox.apply(&delta(json!([op])), &[]))
            };
            (0..ROUNDS).map(one).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..PROCESSES).map(|process| scope.spawn(move || write(process))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(answers.len(), PROCESSES * ROUNDS);
    let runs: BTreeSet<String> = answers.iter().map(|(_, _, a)| a["run"].as_str().unwrap().to_owned()).collect();
    assert_eq!(runs.len(), answers.len(), "every run has an id of its own");
    assert!(answers.iter().all(|(_, _, answer)| answer["merged"] == true));
    let recorded: BTreeSet<String> = sandbox.recorded_runs("wake").difference(&before).cloned().collect();
    assert_eq!(recorded, runs);
    let reachable: BTreeSet<String> = sandbox.lines(&["rev-list", "wake"]).into_iter().collect();
    let lost: Vec<_> = answers.iter().filter(|(_, _, a)| !reachable.contains(a["commit"].as_str().unwrap())).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let sum: i64 = (0..PROCESSES).step_by(2).map(|process| by(process) * ROUNDS as i64).sum();
    assert_ne!(sum, 0);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some((20000 + sum) as u64));
    let neurons = sandbox.neurons("wake");
    for (process, round, answer) in answers.iter().filter(|(process, ..)| process % 2 == 1) {
        assert_eq!(neurons[&format!("p{process}r{round}")]["run"], answer["run"]);
    }
    // Wake only ever moved forward: from the first run, by first parents, one commit a run.
    let trunk = sandbox.lines(&["rev-list", "--first-parent", &format!("{}..wake", first["wake"].as_str().unwrap())]);
    assert_eq!(trunk.len(), answers.len());
    tidy(&sandbox);
}

#[test]
fn six_processes_feed_and_run_side_by_side() {
    let sandbox = Sandbox::new();
    const FEEDERS: usize = 6;
    let text = |feeder: usize, turn: usize| {
        format!("Feeder {feeder} saw {} herons near lock number {turn} of the canal.", feeder * 10 + turn + 2)
    };
    std::thread::scope(|scope| {
        for feeder in 0..FEEDERS {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let line = |turn| json!({"text": text(feeder, turn), "source": format!("f{feeder}:{turn}"), "session": format!("f{feeder}")});
                let lines: String = (0..5).map(|turn| format!("{}\n", line(turn))).collect();
                let file = sandbox.file(&format!("f{feeder}.jsonl"), lines);
                let report = sandbox.json(&["feed", "--file", &file]);
                assert_eq!(report["failures"], json!([]), "{report}");
                assert_eq!(report["stimuli"].as_array().unwrap().len(), 5);
            });
        }
    });
    // Who comes last has run what the others left; one more command makes sure.
    sandbox.json(&["run"]);
    let status = sandbox.json(&["status"]);
    assert_eq!((&status["queue"], &status["stimuli"]), (&json!(0), &json!(FEEDERS * 5)));
    let neurons = sandbox.neurons("wake");
    for feeder in 0..FEEDERS {
        for turn in 0..5 {
            let (label, text) = (format!("f{feeder}:{turn}"), text(feeder, turn));
            let found: Vec<&Value> = neurons.values().filter(|n| n["source"] == label.as_str()).collect();
            assert_eq!(found.len(), 1, "{label}");
            assert_eq!(
                (&found[0]["concept"], &found[0]["activation_count"]),
                (&json!(text), &json!(1)),
                "{}",
                found[0]
            );
        }
    }
    tidy(&sandbox);
}

#[test]
fn readers_see_whole_states_while_others_write() {
    let sandbox = Sandbox::new();
    sandbox.apply(
        &delta(json!([
            create("a"),
            create("b"),
            connect("a", "b", "feeds_into", 1024),
            connect("b", "a", "feeds_into", 1024)
        ])),
        &[],
    );
    std::thread::scope(|scope| {
        let sandbox = &sandbox;
        for _ in 0..3 {
            scope.spawn(move || {
                for _ in 0..15 {
                    sandbox.apply(
                        &delta(json!([adjust("a", "b", "feeds_into", 1), adjust("b", "a", "feeds_into", 1)])),
                        &[],
                    );
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(move || {
                for _ in 0..15 {
                    let there = sandbox.json(&["propagate", "--from", "a", "-c", "activation.min=0.0001"]);
                    assert!(there["activation"]["b"].as_f64().unwrap() > 0.0);
                    let tip = sandbox.tip("wake");
                    let weight = |from, to| sandbox::weight(&sandbox.neuron_at(&tip, from), to, "feeds_into");
                    assert_eq!(weight("a", "b"), weight("b", "a"), "{tip} has half a run");
                    sandbox.json(&["status"]);
                }
            });
        }
    });
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(1024 + 45));
    tidy(&sandbox);
}

#[test]
fn people_who_move_wake_by_plain_git_lose_nothing() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 1024)])), &[]);
    // git knows nothing of our locks: compare-and-swap alone stands between it and us.
    let commits: Vec<String> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let writers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    for _ in 0..30 {
                        sandbox.apply(&delta(json!([adjust("a", "b", "feeds_into", 1)])), &[]);
                    }
                })
            })
            .collect();
        let mut commits = Vec::new();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let tip = sandbox.tip("wake");
            let tree = format!("{tip}^{{tree}}");
            let commit = sandbox.git(&["commit-tree", &tree, "-p", &tip, "-m", "by hand"]);
            let moved = sandbox.command("git", &["update-ref", "refs/heads/wake", &commit, &tip]).output();
            if moved.expect("git is on the path").status.success() {
                commits.push(commit);
            }
        }
        commits
    });
    assert!(!commits.is_empty(), "nobody ever met");
    let reachable: BTreeSet<String> = sandbox.lines(&["rev-list", "wake"]).into_iter().collect();
    let lost: Vec<&String> = commits.iter().filter(|commit| !reachable.contains(*commit)).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), commits.len());
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(1024 + 60));
    tidy(&sandbox);
}
