//! Decisions that are taken back, that cross with merges by hand, or that nobody would take; and runs that a person's commit brings in part.

use crate::admission_signed::signing;
use crate::machines::{World, refused};
use crate::review_second::{as_person, run_of, world};
use crate::sandbox::create;
use serde_json::{Value, json};

const BOTH: &str = "[review]\nreviewers = [\"ben@example.invalid\", \"mara@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
const ROASTS: &str = "Hana roasts the tea of Uji on Mondays.";

fn belief(id: &str, text: &str) -> Value {
    json!({"op": "create", "id": id, "concept": text, "type": "semantic"})
}

/// Two machines, and a run of two beliefs that waits on both.
fn waiting(rules: &str) -> (World, String, String) {
    let world = world(World::gated(), rules);
    let ops = json!([belief("n-tea", ROASTS), belief("n-oven", "The oven of the bakery stays warm until noon.")]);
    let (branch, _) = world.waiting("a", "scribe", ops);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    world.sync("b");
    let run = run_of(&branch).to_owned();
    (world, branch, run)
}

#[test]
fn rejection_is_taken_back_by_whoever_may_decide() {
    let (world, _, run) = waiting(BOTH);
    as_person(&world, "a", "ben", &["reject", &run, "--why", "a rumour"]).exits(0);
    assert!(world.brain("a", &["prime"]).contains("rejected by ben: a rumour"));
    world.sync("a");
    world.sync("b");
    // Of somebody who may not decide nothing is taken.
    as_person(&world, "b", "eve", &["review", &run, "--again"]).exits(3);
    let before = world.refs("b");
    as_person(&world, "b", "mara", &["review", &run, "--again", "--dry-run"]).exits(0);
    assert_eq!(world.refs("b"), before, "a dry run writes nothing");
    let again =
        as_person(&world, "b", "mara", &["--json", "review", &run, "--again", "--why", "the source was checked"]);
    let again = again.exits(0).document()["again"][0].clone();
    assert_eq!(again["again"]["merged"], true, "{again}");
    assert_eq!(again["error"], 0.5, "{again}");
    for machine in ["b", "a", "b"] {
        world.sync(machine);
    }
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        assert!(world.brain(machine, &["recall", "tea of Uji"]).contains(ROASTS), "{machine}");
        let prime = world.brain(machine, &["prime"]);
        assert!(!prime.contains("rejected") && !prime.contains("kept out"), "{machine}: {prime}");
        let decided = world.brain(machine, &["review", "--decided"]);
        assert!(decided.contains("taken back by mara") && decided.contains("the source was checked"), "{decided}");
    }
    // Another reason of whoever rejected it brings no lesson back.
    as_person(&world, "a", "ben", &["review", &run, "--why", "no source"]).exits(0);
    assert!(!world.brain("a", &["prime"]).contains("rejected by ben"));
    let twice = as_person(&world, "b", "mara", &["review", &run, "--again"]).exits(3);
    assert!(twice.err.contains("was taken back already"), "{twice}");
}

#[test]
fn run_of_an_origin_under_review_waits_again() {
    let world = world(World::gated(), BOTH);
    world.brain("a", &["feed", "--origin", "web:example.org", "Tea heals everything, says the shop."]);
    let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    as_person(&world, "a", "ben", &["reject", &run, "--why", "an advertisement"]).exits(0);
    as_person(&world, "a", "ben", &["review", &run, "--again"]).exits(0);
    assert!(!world.brain("a", &["recall", "tea heals"]).contains("heals everything"), "it has to be approved");
    let waits = world.json("a", &["review"])["waiting"][0].clone();
    assert_eq!(waits["origin"], "web:example.org", "{waits}");
    as_person(&world, "a", "ben", &["approve", waits["run"].as_str().unwrap()]).exits(0);
    assert!(world.brain("a", &["recall", "tea heals"]).contains("heals everything"));
    world.sync("a");
}

#[test]
fn the_decision_that_stands_is_told_where_an_amendment_came_before_a_rejection() {
    let (world, _, run) = waiting(BOTH);
    // The later one by the clock comes second to the remote.
    as_person(&world, "a", "ben", &["approve", &run, "--only", "n-tea", "--why", "the oven is a guess"]).exits(0);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    as_person(&world, "b", "mara", &["reject", &run, "--why", "no source for Hana"]).exits(0);
    world.sync("a");
    let notes = world.sync("b")["notes"].to_string();
    assert!(notes.contains("amended by ben") && notes.contains("that decision stands"), "{notes}");
    world.sync("a");
    for machine in ["a", "b"] {
        let prime = world.brain(machine, &["prime"]);
        assert!(prime.contains("amended by ben") && !prime.contains("rejected by mara"), "{machine}: {prime}");
        let ledger = world.brain(machine, &["ledger"]);
        assert!(!ledger.contains("mara"), "{machine}: {ledger}");
    }
    // What a program is shown of earlier runs.
    let snapshot = shown_to_a_program(&world);
    assert!(snapshot.contains("amended by ben") && !snapshot.contains("rejected by mara"), "{snapshot}");
}

/// What a program sees of the ledger.
fn shown_to_a_program(world: &World) -> String {
    let program = "import json, sys\nsnapshot = json.load(sys.stdin)\nprint(json.dumps({'ops': [{'op': 'create', 'concept': 'ledger ' + json.dumps(snapshot.get('ledger', []))[:900], 'type': 'semantic'}]}))\n";
    let script = world.sandbox.file("reader.py", program);
    let agent = json!({
        "name": "scribe", "role": "Reads the ledger.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "command", "argv": ["/usr/bin/python3", script], "timeout_ms": 20000},
        "capabilities": {"operations": ["create"], "types": ["semantic", "episodic"]}, "priority": 2,
    });
    world.write("a", "agents/scribe.json", &agent.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "scribe reads"]);
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "The front desk opens at nine."]);
    world.brain("a", &["review", "--format", "markdown", "--all", "--no-questions"])
}

#[test]
fn what_was_merged_elsewhere_without_a_decision_stands() {
    for decision in [vec!["reject"], vec!["approve", "--only", "n-tea"]] {
        let (world, branch, run) = waiting("");
        let mut args = decision.clone();
        args.insert(1, &run);
        as_person(&world, "b", "mara", &args).exits(0);
        world.brain("b", &["feed", "The harbour was cold in March."]);
        world.brain("a", &["merge", &branch]);
        world.sync("a");
        let notes = world.sync("b")["notes"].to_string();
        assert!(notes.contains("merged elsewhere first"), "{decision:?}: {notes}");
        for machine in ["a", "b", "a"] {
            world.sync(machine);
        }
        world.same(&["a", "b"]);
        assert!(world.brain("a", &["recall", "harbour"]).contains("cold in March"), "{decision:?}");
        let decided = world.json("b", &["review", "--decided"])["decisions"][0].clone();
        assert_eq!(decided["stands"], false, "{decided}");
        assert_eq!(world.neuron("b", "wake", "n-oven")["id"], "n-oven", "the whole run is in wake");
        assert!(world.brain("b", &["check"]).contains("all good"));
    }
}

/// The commit of a person upon wake with the files that a waiting run made, some of them otherwise.
fn squashed(world: &World, branch: &str, other: &[(&str, Option<&str>)]) -> String {
    let base = world.git("a", &["merge-base", "wake", branch]);
    let wake = world.git("remote.git", &["rev-parse", "wake"]);
    let made = world.git("a", &["diff", "--name-only", &base, branch]);
    let texts: Vec<(String, String)> = made
        .lines()
        .map(|path| (path.to_owned(), world.git("a", &["show", &format!("{branch}:{path}")]) + "\n"))
        .collect();
    let mut files: Vec<(&str, Option<&str>)> = texts.iter().map(|(path, text)| (&**path, Some(&**text))).collect();
    files.retain(|(path, _)| !other.iter().any(|(other, _)| path == other));
    files.extend(other.iter().filter(|(_, text)| text.is_some()));
    world.commit("a", &wake, &[&wake], &files, "Squashed\n", &[])
}

#[test]
fn squash_brings_all_that_its_run_made_or_nothing() {
    let world = world(World::gated(), "");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    // Wake goes on, so that the run's base is no parent.
    world.apply("a", json!([create("cup")]));
    world.sync("a");
    let (tea, milk) = (world.path_of("a", &branch, "/tea.json"), world.path_of("a", &branch, "/milk.json"));
    let words = world.git("a", &["show", &format!("{branch}:{tea}")]) + "\n";
    let other = words.replace("\"concept\": \"", "\"concept\": \"Not ");
    assert_ne!(words, other);
    refused(
        &world,
        "other words",
        &squashed(&world, &branch, &[(&tea, Some(&other))]),
        "wake",
        "is brought without what its run made",
    );
    refused(
        &world,
        "a part",
        &squashed(&world, &branch, &[(&milk, None)]),
        "wake",
        "is brought without what its run made",
    );
    refused(
        &world,
        "the record alone",
        &squashed(&world, &branch, &[(&milk, None), (&tea, None)]),
        "wake",
        "is not as",
    );
    let whole = squashed(&world, &branch, &[]);
    world.git("a", &["push", "-q", "origin", &format!("{whole}:refs/heads/wake")]);
    world.sync("a");
    assert_eq!(world.neuron("a", "wake", "milk")["id"], "milk");
    assert_eq!(world.json("a", &["review"])["waiting"], json!([]));
}

#[test]
fn decision_with_a_key_of_nobody_is_not_recorded() {
    let Some(world) = signing() else { return };
    let (branch, _) = world.waiting("a", "perception", json!([create("tea")]));
    let stray = world.sandbox.file("stray", "");
    std::fs::remove_file(&stray).unwrap();
    let made = world.sandbox.command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &stray]).status().unwrap();
    assert!(made.success());
    let own = world.git("a", &["config", "brain.signingKey"]);
    world.git("a", &["config", "brain.signingKey", &stray]);
    let before = world.refs("a");
    let said = world.try_brain("a", &["reject", &branch, "--why", "no source"]).exits(3);
    assert!(said.err.contains("nothing was recorded") && said.err.contains("is not signed by"), "{said}");
    let said = world.try_brain("a", &["feed", "The tug is in dock until Friday."]).exits(3);
    assert!(said.err.contains("nothing was recorded") && said.err.contains("is not signed by"), "{said}");
    assert_eq!(world.refs("a"), before);
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"], json!([]));
    world.git("a", &["config", "brain.signingKey", &own]);
    world.brain("a", &["reject", &branch, "--why", "no source"]);
    world.sync("a");
    // Nor does a run of that person stay behind that would land once the key counts.
    let said =
        world.brain("a", &["apply", &world.sandbox.file("said", json!({"ops": [create("coffee")]}).to_string())]);
    let landed = said.split_whitespace().find(|word| word.ends_with("-human")).unwrap().to_owned();
    world.git("a", &["config", "brain.signingKey", &stray]);
    let before = world.refs("a");
    let run = branch.rsplit('/').next().unwrap();
    for words in [&["revert", &landed][..], &["review", run, "--again"], &["approve", "--origin", "local"]] {
        let said = world.try_brain("a", words);
        assert!(said.err.contains("nothing was recorded") || words[0] == "approve", "{said}");
        assert_eq!(world.refs("a"), before, "{words:?}");
    }
}

#[test]
fn sync_says_which_decisions_came_and_went() {
    let (world, _, run) = waiting("");
    as_person(&world, "a", "ben", &["reject", &run, "--why", "a first reason"]).exits(0);
    world.sync("a");
    world.sync("b");
    as_person(&world, "a", "ben", &["review", &run, "--why", "a better reason"]).exits(0);
    let counts = |report: &Value| (report["decisions_in"].as_u64().unwrap(), report["decisions_out"].as_u64().unwrap());
    let tried = world.json("a", &["sync", "--dry-run"]);
    assert_eq!(counts(&tried), (0, 1), "{tried}");
    assert_eq!(counts(&world.sync("a")), (0, 1));
    let said = world.brain("b", &["sync"]);
    assert!(said.contains("1 decision came in") && !said.contains("nothing new"), "{said}");
    assert!(world.brain("b", &["sync"]).contains("nothing new here or there"));
    assert!(world.brain("b", &["prime"]).contains("a better reason"));
}

#[test]
fn run_that_was_merged_by_hand_and_left_out_waits_once() {
    let (world, branch, run) = waiting(BOTH);
    world.git("b", &["checkout", "-q", "-f", "wake"]);
    world.git("b", &["merge", "-q", "--no-ff", "--no-edit", &branch]);
    world.git("b", &["checkout", "-q", "-f", "main"]);
    world.try_brain("b", &["sync"]).exits(3);
    world.brain("b", &["sync", "--without-refused"]);
    let waiting = world.json("b", &["review"])["waiting"].clone();
    let runs: Vec<&str> = waiting.as_array().unwrap().iter().map(|one| one["run"].as_str().unwrap()).collect();
    assert_eq!(runs, [run.as_str()], "{waiting}");
}

#[test]
fn prime_says_how_many_statements_stayed_out() {
    let world = world(World::gated(), "");
    let ops: Vec<Value> = (0..9)
        .map(|n| {
            belief(
                &format!("n-{n}"),
                &format!(
                    "Customer number {n} of the list of spring wants another colour on every one of its invoices."
                ),
            )
        })
        .collect();
    let (branch, _) = world.waiting("a", "scribe", json!(ops));
    let run = run_of(&branch).to_owned();
    as_person(&world, "a", "ben", &["reject", &run, "--why", "none has a source"]).exits(0);
    let prime = world.brain("a", &["prime", "--tokens", "5000"]);
    assert!(prime.contains("and 3 more") && prime.contains("every one of its invoices."), "{prime}");
}
