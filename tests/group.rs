//! Group commit: runs of many processes, merged by one of them. What was acknowledged is there once, whoever was killed; what one
//! run does wrong hurts no other; nothing is left over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::sandbox::{Dice, Sandbox, adjust, connect, create, delta};
use fs2::FileExt;
use serde_json::{Value, json};

fn pair() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20000)])), &[]);
    sandbox
}

/// The trunk, held by nobody that merges anything.
fn trunk(sandbox: &Sandbox) -> File {
    let file = File::options().write(true).open(sandbox.dir().join(".git/git-brain/locks/trunk")).unwrap();
    FileExt::lock_exclusive(&file).unwrap();
    file
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.dir().join(".git/git-brain/waiting")
}

/// What is in the folder of those who wait.
fn waiting(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(folder(sandbox)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Starts processes that apply a delta each, and returns when all of them wait for the trunk.
fn queue(sandbox: &Sandbox, deltas: &[Value], args: &[&str]) -> Vec<Child> {
    let args: Vec<&str> = ["--json"].iter().chain(args).chain(&["apply", "-"]).copied().collect();
    let children = deltas.iter().map(|delta| sandbox.spawn(&args, delta.to_string().as_bytes())).collect();
    while waiting(sandbox).iter().filter(|name| !name.ends_with(".new")).count() < deltas.len() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    children
}

/// The exit code and the answer.
fn end(child: Child) -> (Option<i32>, Value) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

fn packs(sandbox: &Sandbox) -> usize {
    let entries = std::fs::read_dir(sandbox.dir().join(".git/objects/pack")).unwrap().flatten();
    entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
}

fn tidy(sandbox: &Sandbox) {
    assert_eq!(sandbox.stale_locks(), Vec::<PathBuf>::new());
    assert_eq!(waiting(sandbox), Vec::<String>::new());
    sandbox.fsck();
}

#[test]
fn those_who_wait_share_one_pack() {
    let sandbox = pair();
    let (packs_before, tip) = (packs(&sandbox), sandbox.tip("wake"));
    let held = trunk(&sandbox);
    let by = [5, -3, 7, 11];
    let deltas = by.map(|by| delta(json!([adjust("a", "b", "feeds_into", by), create(&format!("n{by}"))])));
    let children = queue(&sandbox, &deltas, &[]);
    assert_eq!((packs(&sandbox), sandbox.tip("wake")), (packs_before, tip.clone()), "nothing is written yet");
    drop(held);
    let answers: Vec<(Option<i32>, Value)> = children.into_iter().map(end).collect();
    for (code, answer) in &answers {
        assert_eq!((*code, &answer["merged"]), (Some(0), &json!(true)), "{answer}");
        sandbox.git(&["merge-base", "--is-ancestor", answer["commit"].as_str().unwrap(), "wake"]);
    }
    assert_eq!(packs(&sandbox), packs_before + 1);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20020));
    // In the order of their ids, a merge commit each.
    let merged = sandbox.lines(&[
        "log",
        "--first-parent",
        "--reverse",
        "--format=%(trailers:key=Run,valueonly,separator=%x2C)",
        &format!("{tip}..wake"),
    ]);
    let mut runs: Vec<&str> = answers.iter().map(|(_, answer)| answer["run"].as_str().unwrap()).collect();
    runs.sort_unstable();
    assert_eq!(merged, runs);
    // What the policy settled is told to those who waited for it.
    assert!(answers.iter().any(|(_, answer)| answer["decisions"].to_string().contains("sum")), "{answers:?}");
    tidy(&sandbox);
}

#[test]
fn a_conflict_stays_with_its_run() {
    let sandbox = pair();
    let held = trunk(&sandbox);
    let deltas = [
        delta(json!([adjust("a", "b", "feeds_into", 5)])),
        delta(json!([adjust("a", "b", "feeds_into", 9)])),
        delta(json!([create("c")])),
        delta(json!([create("d")])),
    ];
    let children = queue(&sandbox, &deltas, &["-c", "merge.weight=review"]);
    drop(held);
    let answers: Vec<(Option<i32>, Value)> = children.into_iter().map(end).collect();
    let of = |code: i32| {
        answers.iter().filter(|(found, _)| *found == Some(code)).map(|(_, answer)| answer).collect::<Vec<_>>()
    };
    let (merged, conflicts) = (of(0), of(3));
    assert_eq!((merged.len(), conflicts.len()), (3, 1), "{answers:?}");
    assert_eq!((&conflicts[0]["merged"], &conflicts[0]["conflicts"][0]["neuron"]), (&json!(false), &json!("a")));
    // It waits for a person, on its branch, with what was not decided.
    assert_eq!(sandbox.run_branches(), [conflicts[0]["branch"].as_str().unwrap()]);
    let kept = sandbox.documents(&sandbox.run_branches()[0], "network/runs");
    assert!(kept.values().any(|note| note["conflicts"] == conflicts[0]["conflicts"]));
    let neurons = sandbox.neurons("wake");
    assert!(neurons.contains_key("c") && neurons.contains_key("d"));
    tidy(&sandbox);
}

#[test]
fn a_run_that_is_held_does_not_wait() {
    let sandbox = pair();
    let held = trunk(&sandbox);
    let answer = sandbox.apply(&delta(json!([create("c")])), &["--no-merge"]);
    assert_eq!((&answer["merged"], waiting(&sandbox)), (&json!(false), Vec::new()));
    drop(held);
    assert_eq!(sandbox.run_branches(), [answer["branch"].as_str().unwrap()]);
    tidy(&sandbox);
}

#[test]
fn what_lies_among_those_who_wait_stops_nobody() {
    let sandbox = pair();
    let held = trunk(&sandbox);
    let children = queue(&sandbox, &[delta(json!([create("c")])), delta(json!([create("d")]))], &[]);
    let names = waiting(&sandbox);
    let whole = std::fs::read(folder(&sandbox).join(&names[0])).unwrap();
    let of = |number: u32| format!("20200101t00000000{number}z-abcd2345-memory");
    // A copy whose submitter is dead, a torn one, and garbage under names that sort before all others.
    std::fs::write(folder(&sandbox).join(of(1)), &whole).unwrap();
    std::fs::write(folder(&sandbox).join(of(2)), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder(&sandbox).join(format!("{}.taken", of(3))), b"\0garbage").unwrap();
    std::fs::write(folder(&sandbox).join("!"), b"garbage").unwrap();
    // One that somebody holds as a submitter does, and that is not what its checksum says.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    std::fs::write(folder(&sandbox).join(of(4)), damaged).unwrap();
    let alive = File::open(folder(&sandbox).join(of(4))).unwrap();
    FileExt::lock_exclusive(&alive).unwrap();
    drop(held);
    for child in children {
        let (code, answer) = end(child);
        assert_eq!((code, &answer["merged"]), (Some(0), &json!(true)), "{answer}");
    }
    assert_eq!(waiting(&sandbox), [of(4)]);
    drop(alive);
    sandbox.apply(&delta(json!([create("e")])), &[]);
    assert_eq!(sandbox.recorded_runs("wake").iter().filter(|run| run.starts_with("2020")).count(), 0);
    tidy(&sandbox);
}

#[test]
fn a_run_whose_submitter_was_killed_is_not_taken() {
    let sandbox = pair();
    let (held, tip) = (trunk(&sandbox), sandbox.tip("wake"));
    let mut children = queue(&sandbox, &[delta(json!([create("c")]))], &[]);
    children[0].kill().unwrap();
    children[0].wait().unwrap();
    drop(held);
    sandbox.apply(&delta(json!([create("d")])), &[]);
    let neurons = sandbox.neurons("wake");
    assert!(!neurons.contains_key("c") && neurons.contains_key("d"));
    assert_eq!(sandbox.lines(&["rev-list", "--first-parent", &format!("{tip}..wake")]).len(), 1);
    tidy(&sandbox);
}

#[test]
fn kills_among_sixteen_writers_lose_nothing() {
    const PROCESSES: u64 = 16;
    const ROUNDS: u64 = 12;
    let sandbox = pair();
    let seed = std::env::var("GIT_BRAIN_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("GIT_BRAIN_TEST_SEED={seed}");
    let began = Instant::now();
    sandbox.apply(&delta(json!([create("first")])), &[]);
    // Until most of them are at the trunk, and beyond it.
    let span = began.elapsed() * 6;
    let by = |process: u64, round: u64| (process * ROUNDS + round) as i64 % 13 + 1;
    let write = |process: u64| {
        let mut dice = Dice(seed ^ (process << 32));
        let mut told: Vec<(u64, String)> = Vec::new();
        for round in 0..ROUNDS {
            let ops =
                json!([create(&format!("p{process}r{round}")), adjust("a", "b", "feeds_into", by(process, round))]);
            let mut child = sandbox.spawn(&["--json", "apply", "-"], delta(ops).to_string().as_bytes());
            if dice.below(2) == 0 {
                let moment = Duration::from_nanos(dice.below(span.as_nanos() as u64));
                std::thread::sleep(moment);
                let _ = child.kill();
            }
            let (code, answer) = end(child);
            assert!(matches!(code, None | Some(0)), "exit {code:?}: {answer}");
            if answer["merged"] == true {
                told.push((round, answer["run"].as_str().unwrap().to_owned()));
            }
        }
        (process, told)
    };
    let told: Vec<(u64, Vec<(u64, String)>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PROCESSES).map(|process| scope.spawn(move || write(process))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    sandbox.apply(&delta(json!([create("last")])), &[]);
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
    let neurons = sandbox.neurons("wake");
    let mut commits: BTreeMap<String, usize> = BTreeMap::new();
    for run in sandbox.lines(&["log", "--no-merges", "--format=%(trailers:key=Run,valueonly,separator=%x2C)", "wake"]) {
        *commits.entry(run).or_default() += 1;
    }
    let recorded = sandbox.recorded_runs("wake");
    let mut acknowledged = BTreeSet::new();
    for (process, runs) in &told {
        for (round, run) in runs {
            acknowledged.insert(run.clone());
            assert_eq!(neurons[&format!("p{process}r{round}")]["run"], run.as_str(), "acknowledged");
            assert_eq!((commits.get(run), recorded.contains(run)), (Some(&1), true), "{run}");
        }
    }
    assert!(commits.values().all(|count| *count == 1), "{commits:?}");
    let landed = |process: u64, round: u64| neurons.contains_key(&format!("p{process}r{round}"));
    let all = (0..PROCESSES).flat_map(|process| (0..ROUNDS).map(move |round| (process, round)));
    let sum: i64 = all.filter(|(p, r)| landed(*p, *r)).map(|(process, round)| by(process, round)).sum();
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some((20000 + sum) as u64));
    assert!(acknowledged.len() < (PROCESSES * ROUNDS) as usize, "nobody was ever cut off");
    tidy(&sandbox);
}
