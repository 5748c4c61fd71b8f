//! kill -9 at any moment of apply, merge, a decision, feed, init, sleep and its undoing. Whatever the moment: git finds no fault, the next command works
//! unaided, what was acknowledged is there once, and what was not is there whole or not at all.
//!
//! The moments come from a seeded generator, over the time that an undisturbed command takes on this machine; the seed is
//! printed, and `GIT_BRAIN_TEST_SEED` repeats it. The same seed draws the same moments; what the kernel does in them is
//! its own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::sandbox::{Dice, Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

/// Kills that must take effect: together more than 300.
const KILLS: [(&str, usize); 9] = [
    ("apply", 160),
    ("merge", 40),
    ("feed", 24),
    ("long feed", 6),
    ("edited file", 14),
    ("decision", 20),
    ("init", 15),
    ("sleep", 26),
    ("undo", 14),
];

/// Who kills: a generator, the time of an undisturbed command, and the score.
struct Killer {
    what: &'static str,
    dice: Dice,
    span: Duration,
    kills: usize,
    wanted: usize,
}

impl Killer {
    /// `prepare` makes ready for the command, and `undisturbed` runs it.
    fn new<T>(what: &'static str, mut prepare: impl FnMut() -> T, mut undisturbed: impl FnMut(T)) -> Self {
        let given = std::env::var("GIT_BRAIN_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let random = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        let seed = given.unwrap_or_else(random);
        let wanted = KILLS.iter().find(|(name, _)| *name == what).expect("a known command").1;
        let times = (0..3).map(|_| {
            let ready = prepare();
            let start = Instant::now();
            undisturbed(ready);
            start.elapsed()
        });
        let span = times.max().expect("three");
        println!("{what}: GIT_BRAIN_TEST_SEED={seed}, an undisturbed command takes {span:?}");
        Self { what, dice: Dice(seed), span, kills: 0, wanted }
    }

    fn goes_on(&self) -> bool {
        self.kills < self.wanted
    }

    /// Starts a command and kills it at a drawn moment; its answer, if it was printed whole.
    fn kill(&mut self, sandbox: &Sandbox, args: &[&str], input: &[u8]) -> Option<Value> {
        let moment = Duration::from_nanos(self.dice.below(self.span.as_nanos() as u64));
        let mut child = sandbox.spawn(args, input);
        // One that has ended before is not taken by the kill.
        std::thread::sleep(moment);
        child.kill().expect("a child of ours");
        let output = child.wait_with_output().expect("a child that is dead");
        match output.status.code() {
            None => self.kills += 1,
            Some(0) => {}
            Some(code) => panic!("{}: exit {code}: {}", self.what, String::from_utf8_lossy(&output.stderr)),
        }
        serde_json::from_slice(&output.stdout).ok()
    }
}

/// How often each run's own commit is reachable from wake.
fn commits_of_runs(sandbox: &Sandbox) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for run in sandbox.lines(&["log", "--no-merges", "--format=%(trailers:key=Run,valueonly,separator=%x2C)", "wake"]) {
        *found.entry(run).or_default() += 1;
    }
    found
}

fn tidy(sandbox: &Sandbox) {
    assert_eq!(sandbox.run_branches(), Vec::<String>::new());
    assert_eq!(sandbox.stale_locks(), Vec::<std::path::PathBuf>::new());
    sandbox.fsck();
}

fn pair() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 10000)])), &[]);
    sandbox
}

#[test]
fn apply_is_all_or_nothing() {
    let sandbox = pair();
    let by = |turn: u64| 1 + (turn % 7) as i64;
    let document = |turn: u64| delta(json!([create(&format!("n{turn}")), adjust("a", "b", "feeds_into", by(turn))]));
    let mut acknowledged: BTreeMap<u64, String> = BTreeMap::new();
    let mut turn = 0;
    let mut note = |turn: u64, answer: Option<Value>| {
        if let Some(answer) = answer {
            assert_eq!(answer["merged"], true);
            acknowledged.insert(turn, answer["run"].as_str().expect("a run").to_owned());
        }
    };
    let next = || {
        turn += 1;
        turn
    };
    let mut killer = Killer::new("apply", next, |turn| note(turn, Some(sandbox.apply(&document(turn), &[]))));
    while killer.goes_on() {
        turn += 1;
        let answer = killer.kill(&sandbox, &["--json", "apply", "-"], document(turn).to_string().as_bytes());
        note(turn, answer);
        if killer.kills.is_multiple_of(4) {
            turn += 1;
            note(turn, Some(sandbox.apply(&document(turn), &[])));
        }
        if killer.kills.is_multiple_of(40) {
            sandbox.fsck();
        }
    }
    sandbox.json(&["merge"]);
    tidy(&sandbox);
    let neurons = sandbox.neurons("wake");
    let landed: BTreeSet<u64> = (1..=turn).filter(|turn| neurons.contains_key(&format!("n{turn}"))).collect();
    let commits = commits_of_runs(&sandbox);
    let recorded = sandbox.recorded_runs("wake");
    for (turn, run) in &acknowledged {
        assert!(landed.contains(turn), "{run} was acknowledged and is lost");
        assert_eq!(neurons[&format!("n{turn}")]["run"], run.as_str());
        assert_eq!((commits.get(run), recorded.contains(run)), (Some(&1), true), "{run}");
    }
    let sum: i64 = landed.iter().map(|turn| by(*turn)).sum();
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some((10000 + sum) as u64), "of {} runs", landed.len());
    assert!(commits.values().all(|count| *count == 1), "{commits:?}");
    assert!(acknowledged.len() < turn as usize, "nothing was ever cut off");
}

#[test]
fn merge_is_all_or_nothing() {
    let sandbox = pair();
    let mut turn = 0;
    let mut sum = 0;
    let mut held = || -> Vec<String> {
        let one = |_| {
            turn += 1;
            sum += turn % 5 + 1;
            let ops = json!([create(&format!("n{turn}")), adjust("a", "b", "feeds_into", turn % 5 + 1)]);
            sandbox.apply(&delta(ops), &["--no-merge"])["branch"].as_str().expect("a branch").to_owned()
        };
        (0..2).map(one).collect()
    };
    let merge = |branches: &[String]| {
        let names: Vec<&str> = ["merge"].into_iter().chain(branches.iter().map(String::as_str)).collect();
        sandbox.json(&names);
    };
    let mut killer = Killer::new("merge", &mut held, |branches| merge(&branches));
    while killer.goes_on() {
        let branches = held();
        let names: Vec<&str> = ["--json", "merge"].into_iter().chain(branches.iter().map(String::as_str)).collect();
        let answer = killer.kill(&sandbox, &names, b"");
        let left = sandbox.run_branches();
        assert!(answer.is_none() || left.is_empty(), "acknowledged, and {left:?} are still there");
        if !left.is_empty() {
            merge(&left);
        }
    }
    tidy(&sandbox);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some((10000 + sum) as u64));
    let neurons = sandbox.neurons("wake");
    assert!((1..=turn).all(|turn| neurons.contains_key(&format!("n{turn}"))));
    let commits = commits_of_runs(&sandbox);
    assert!(commits.values().all(|count| *count == 1), "{commits:?}");
}

#[test]
fn a_decision_that_was_cut_off_is_finished_and_teaches_once() {
    let sandbox = pair();
    let mut turn = 0;
    let mut held = || {
        turn += 1;
        let ops = delta(json!([create(&format!("n{turn}"))])).to_string();
        let args = ["--json", "apply", "--agent", "perception", "--no-merge", "-"];
        let made = sandbox.brain_with(&args, ops.as_bytes()).exits(0).document();
        (turn, made["run"].as_str().expect("a run").to_owned())
    };
    let verb = |turn: usize| if turn.is_multiple_of(3) { "reject" } else { "approve" };
    let mut killer = Killer::new("decision", &mut held, |(turn, run)| drop(sandbox.json(&[verb(turn), &run])));
    while killer.goes_on() {
        let (turn, run) = held();
        killer.kill(&sandbox, &["--json", verb(turn), &run], b"");
        // Another command goes on with what was recorded; what was not is decided again.
        sandbox.json(&[if turn.is_multiple_of(2) { "run" } else { "sleep" }]);
        let waits = sandbox.run_branches().iter().any(|branch| branch.ends_with(&run));
        let decided = sandbox.json(&["review", "--decided"])["decisions"].to_string().contains(&run);
        assert!(!(waits && decided), "{turn} {run} was decided on, and is not carried out");
        if waits {
            sandbox.json(&[verb(turn), &run]);
        }
        let ledger = sandbox.json(&["ledger"]);
        let lessons =
            ledger["entries"].as_array().expect("a list").iter().filter(|entry| entry["judged"] == run.as_str());
        assert_eq!(lessons.count(), 1, "{turn} {run}: {ledger}");
        assert_eq!(sandbox.neurons("wake").contains_key(&format!("n{turn}")), verb(turn) == "approve");
    }
    tidy(&sandbox);
}

#[test]
fn feed_is_all_or_nothing_and_is_resumed() {
    let sandbox = Sandbox::new();
    let batch = |turn: usize| {
        let line = |n: usize| {
            let text = format!("In round {turn} the heron caught fish number {n}.");
            json!({"text": text, "source": format!("r{turn}:{n}"), "session": format!("r{turn}")})
        };
        sandbox.file("batch.jsonl", (0..3).map(|n| format!("{}\n", line(n))).collect::<String>())
    };
    let mut turn = 0;
    let next = || {
        turn += 1;
        batch(turn)
    };
    let mut killer = Killer::new("feed", next, |file| {
        sandbox.json(&["feed", "--file", &file]);
    });
    while killer.goes_on() {
        turn += 1;
        let file = batch(turn);
        let answer = killer.kill(&sandbox, &["--json", "feed", "--file", &file], b"");
        let stored = sandbox.json(&["status"])["stimuli"].as_u64().expect("a number");
        assert_eq!(stored % 3, 0, "a batch is stored whole or not at all");
        assert!(answer.is_none() || stored == 3 * turn as u64);
        // Feeding again goes on where the killed one was, or begins.
        let again = sandbox.json(&["feed", "--file", &file]);
        let (new, known) = (again["stimuli"].as_array().expect("a list").len(), again["known"].as_u64());
        assert!((new, known) == (3, Some(0)) || (new, known) == (0, Some(3)), "{again}");
        assert_eq!(again["failures"], json!([]));
    }
    sandbox.json(&["run"]);
    tidy(&sandbox);
    assert_eq!(sandbox.json(&["status"])["queue"], 0);
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, neuron) in sandbox.neurons("wake").into_iter().filter(|(_, neuron)| neuron["type"] == "episodic") {
        found.entry(neuron["source"].as_str().expect("a source").to_owned()).or_default().push(neuron);
    }
    for turn in 1..=turn {
        for n in 0..3 {
            let episodes = &found[&format!("r{turn}:{n}")];
            assert_eq!((episodes.len(), &episodes[0]["activation_count"]), (1, &json!(1)), "{episodes:?}");
        }
    }
    assert_eq!(found.len(), 3 * turn);
    let commits = commits_of_runs(&sandbox);
    assert!(commits.iter().all(|(run, count)| *count == 1 || run.is_empty()), "{commits:?}");
}

#[test]
fn an_edited_file_is_what_it_says_after_the_next_feed() {
    let sandbox = Sandbox::new();
    let pieces = |turn: usize| -> BTreeSet<String> {
        let day = |n: usize| format!("On day {n} the heron caught {} fish at lock {}.", (turn * n) % 7, n % 3);
        (turn % 3..6 + turn % 2).map(day).collect()
    };
    let write = |turn: usize| {
        let pieces: Vec<String> = pieces(turn).into_iter().collect();
        sandbox.file("diary.md", pieces.join("\n\n"))
    };
    let live = || -> Vec<String> {
        let neurons = sandbox.neurons("wake").into_values().filter(|neuron| neuron["type"] == "episodic");
        let live = neurons.filter(|neuron| neuron["archived"].is_null() || neuron["archived"] != neuron["run"]);
        live.map(|neuron| neuron["concept"].as_str().expect("a text").to_owned()).collect()
    };
    let mut turn = 0;
    let next = || {
        turn += 1;
        write(turn)
    };
    let mut killer = Killer::new("edited file", next, |file| drop(sandbox.json(&["feed", &file])));
    while killer.goes_on() {
        turn += 1;
        let file = write(turn);
        killer.kill(&sandbox, &["--json", "feed", &file], b"");
        let again = sandbox.json(&["feed", &file]);
        assert_eq!(again["failures"], json!([]));
        let live = live();
        assert_eq!((live.len(), live.into_iter().collect()), (pieces(turn).len(), pieces(turn)), "turn {turn}");
    }
    tidy(&sandbox);
    assert_eq!(sandbox.json(&["status"])["queue"], 0);
}

/// What a network holds, without who did it.
fn content(sandbox: &Sandbox) -> BTreeMap<String, Value> {
    let mut neurons = sandbox.neurons("wake");
    for neuron in neurons.values_mut().filter_map(Value::as_object_mut) {
        neuron.retain(|field, _| !["run", "version", "named_by"].contains(&field.as_str()));
    }
    neurons
}

#[test]
fn a_long_feed_that_is_killed_ends_in_the_same_network() {
    const NOW: &str = "2026-01-26T14:32:00Z";
    let ready = || {
        let sandbox = Sandbox::fixed(NOW, "long");
        let line = |n: usize| {
            let text = format!("On day {n} heron {} caught {} fish at lock {}.", n % 7, n % 5, n % 3);
            json!({"text": text, "source": format!("d{n}"), "session": format!("s{}", n % 20)})
        };
        let file = sandbox.file("long.jsonl", (0..120).map(|n| format!("{}\n", line(n))).collect::<String>());
        (sandbox, file)
    };
    let mut undisturbed = None;
    let mut killer = Killer::new("long feed", ready, |(sandbox, file)| {
        sandbox.json(&["feed", "--file", &file]);
        undisturbed = Some(content(&sandbox));
    });
    let undisturbed = undisturbed.expect("three feeds");
    while killer.goes_on() {
        let (sandbox, file) = ready();
        killer.kill(&sandbox, &["--json", "feed", "--file", &file], b"");
        sandbox.json(&["feed", "--file", &file]);
        assert_eq!(sandbox.json(&["status"])["queue"], 0);
        tidy(&sandbox);
        let again = content(&sandbox);
        let differ: Vec<_> = undisturbed.iter().filter(|(id, neuron)| again.get(*id) != Some(neuron)).take(3).collect();
        assert!(differ.is_empty() && again.len() == undisturbed.len(), "{differ:#?}");
    }
}

#[test]
fn init_is_run_again() {
    let mut killer = Killer::new("init", Sandbox::empty, |sandbox| {
        sandbox.brain(&["init", "--no-hooks", "."]).exits(0);
    });
    while killer.goes_on() {
        let sandbox = Sandbox::empty();
        killer.kill(&sandbox, &["--json", "init", "--no-hooks", "."], b"");
        let again = sandbox.brain(&["init", "--no-hooks", "."]);
        assert!(again.code == 0 || again.err.contains("already is a brain"), "{again}");
        sandbox.json(&["run"]);
        assert_eq!(sandbox.json(&["status"])["bootstrap_complete"], true);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        tidy(&sandbox);
    }
}

/// Something new to sleep over: a connection between two vivid neurons, which a sleep raises.
fn a_day(sandbox: &Sandbox, turn: u64) {
    let id = format!("n{turn}");
    let ops = json!([create(&id), connect(&id, "a", "feeds_into", 20000),
        {"op": "activate", "id": "a", "strength": 1.0}, {"op": "activate", "id": id, "strength": 1.0}]);
    sandbox.apply(&delta(ops), &[]);
}

/// Where main stands, and that connection's weight in wake.
fn stands(sandbox: &Sandbox, turn: u64) -> (String, Option<u64>) {
    (sandbox.tip("main"), sandbox.weight(&format!("n{turn}"), "a", "feeds_into"))
}

#[test]
fn a_sleep_ends_in_the_state_before_or_after_and_the_next_command_says_which() {
    let sandbox = pair();
    let mut turn = 0;
    let mut told = BTreeMap::new();
    let prepare = || {
        turn += 1;
        a_day(&sandbox, turn);
    };
    let mut killer = Killer::new("sleep", prepare, |()| drop(sandbox.json(&["sleep"])));
    while killer.goes_on() {
        turn += 1;
        a_day(&sandbox, turn);
        let (main, weight) = stands(&sandbox, turn);
        let answer = killer.kill(&sandbox, &["--json", "sleep"], b"");
        let next = sandbox.brain(&["log", "-n", "1"]).exits(0);
        let (now, after) = stands(&sandbox, turn);
        let parent = sandbox.git(&["rev-parse", &format!("{now}~")]);
        match now == main {
            true => {
                assert!(answer.is_none(), "acknowledged, and not there");
                assert_eq!(after, weight, "before");
            }
            false => {
                assert_eq!((parent, sandbox.git(&["merge-base", "main", "wake"])), (main, now));
                assert_eq!(after, weight.map(|w| w + 3277), "after");
            }
        }
        assert!(!sandbox.refs().keys().any(|name| name.contains("sleep/")), "{:?}", sandbox.refs());
        for words in ["the state before it", "the state after it"] {
            if next.err.contains(words) {
                *told.entry(words).or_insert(0) += 1;
            }
        }
    }
    println!("what the next command said: {told:?}");
    assert!(told.contains_key("the state before it"), "{told:?}");
    tidy(&sandbox);
}

#[test]
fn an_undoing_ends_in_the_state_before_or_after() {
    let sandbox = pair();
    let mut turn = 0;
    let slept = |turn: &mut u64| {
        *turn += 1;
        a_day(&sandbox, *turn);
        sandbox.json(&["sleep"]);
    };
    let mut killer = Killer::new("undo", || slept(&mut turn), |()| drop(sandbox.json(&["sleep", "--undo"])));
    while killer.goes_on() {
        slept(&mut turn);
        let (main, weight) = stands(&sandbox, turn);
        let before = sandbox.git(&["rev-parse", "main~^{tree}"]);
        killer.kill(&sandbox, &["--json", "sleep", "--undo"], b"");
        sandbox.brain(&["log", "-n", "1"]).exits(0);
        let (now, after) = stands(&sandbox, turn);
        if now == main {
            assert_eq!(after, weight, "before");
        } else {
            assert_eq!(sandbox.git(&["rev-parse", "main^{tree}"]), before);
            assert_eq!(after, weight.map(|w| w - 3277), "after");
        }
    }
    tidy(&sandbox);
}
