//! Commits here that other machines refuse: `sync` and `check` find them before anything is pushed, and `sync --without-refused` goes on.

use crate::machines::World;
use crate::sandbox::{create, delta};
use serde_json::{Value, json};

/// A remote, with the gate or without, and a second machine.
fn remote(gate: bool) -> World {
    let world = if gate { World::gated() } else { World::new() };
    world.clone("b");
    world
}

/// Sync in `a` is refused before anything is pushed, for that reason; `check` and `doctor` find the same; the remedy is named and works.
#[track_caller]
fn mended(world: &World, says: &str) -> Value {
    let before = world.refs("remote.git");
    let answer = world.try_brain("a", &["--json", "sync"]).exits(3);
    let (error, hint) = (answer.error()["error"].to_string(), answer.error()["hint"].to_string());
    assert!(error.contains(says) && error.contains("nothing was pushed"), "{answer}");
    assert!(hint.contains("git brain sync --without-refused"), "{answer}");
    assert_eq!(world.refs("remote.git"), before);
    for command in ["check", "doctor"] {
        let answer = world.try_brain("a", &[command]).exits(1);
        assert!(answer.out.contains(says) && answer.out.contains("--without-refused"), "{command}: {answer}");
    }
    let refs = world.refs("a");
    let told = world.json("a", &["sync", "--without-refused", "--dry-run"]);
    assert!(told["notes"].to_string().contains(says), "{told}");
    assert_eq!(world.refs("a"), refs, "a dry run moves nothing");
    let old = world.tip("a", "wake");
    let synced = world.json("a", &["sync", "--without-refused"]);
    assert!(synced["notes"].to_string().contains(says), "{synced}");
    assert_eq!(world.tip("a", &format!("refs/git-brain/rescue/{old}")), old);
    world.brain("a", &["run"]);
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    synced
}

/// A command in `a` under a variable of the environment; its standard error.
fn brain_under(world: &World, (name, value): (&str, &str), args: &[&str]) -> String {
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), args);
    let ended = command.current_dir(world.dir("a")).env(name, value).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{args:?}: {said}");
    said
}

#[test]
fn a_broken_neuron_of_main_that_was_mended_later_does_not_cut_the_machine_off() {
    for gate in [true, false] {
        let world = remote(gate);
        world.brain("a", &["feed", "Anna grows tea."]);
        let path = world.path_of("a", "main", "/n_core_memory.json");
        let good = world.git("a", &["show", &format!("main:{path}")]) + "\n";
        let main = world.tip("a", "main");
        let bad = good.replacen('\n', "\n\n", 1);
        let broken =
            world.commit("a", &main, &[&main], &[(&path, Some(&bad)), ("plan.txt", Some("one\n"))], "broken\n", &[]);
        world.git("a", &["update-ref", "refs/heads/main", &broken]);
        world.git("a", &["reset", "-q", "--hard"]);
        world.brain("a", &["hook", "ring", "main"]);
        let fixed = good.replace("\"concept\": \"memory\"", "\"concept\": \"memories\"");
        let mended_commit = world.commit("a", &broken, &[&broken], &[(&path, Some(&fixed))], "mended\n", &[]);
        world.git("a", &["update-ref", "refs/heads/main", &mended_commit]);
        world.git("a", &["reset", "-q", "--hard"]);
        world.brain("a", &["hook", "ring", "main"]);
        world.apply("a", json!([create("later")]));
        world.brain("a", &["feed", "Ben drinks coffee."]);
        let synced = mended(&world, "is not in canonical form");
        assert!(synced["notes"].to_string().contains("is done again"), "{synced}");
        assert_eq!(world.git("b", &["show", "main:plan.txt"]), "one");
        assert_eq!(world.neuron("b", "wake", "later")["id"], "later");
        for question in ["Anna", "Ben"] {
            let found = world.json("b", &["recall", question]);
            assert!(found["results"].to_string().contains(question), "{gate} {question}: {found}");
        }
        let log = world.git("b", &["log", "--format=%H", "main", "wake"]);
        assert!(!log.contains(&broken), "{gate}");
    }
}

#[test]
fn texts_that_were_fed_under_a_clock_ahead_are_fed_again() {
    let world = remote(true);
    let said = brain_under(&world, ("BRAIN_NOW", "2031-12-01T00:00:00Z"), &["feed", "Anna grows tea."]);
    assert!(said.contains("warning: BRAIN_NOW"), "{said}");
    world.brain("a", &["feed", "Ben drinks coffee."]);
    mended(&world, "made under a fixed clock");
    for question in ["Anna", "Ben"] {
        let found = world.json("b", &["recall", question]);
        assert!(found["results"].to_string().contains(question), "{question}: {found}");
    }
    // Later runs do not go on from the clock ahead.
    let run = world.apply("a", json!([create("later")]))["run"].clone();
    assert!(!run.as_str().unwrap().starts_with("2031"), "{run}");
}

#[test]
fn what_a_person_said_of_a_run_is_said_again_or_named() {
    let world = remote(true);
    let decide = || world.json("a", &["decide", "which way?", "--option", "bridge", "--option", "ferry"]);
    let run = |made: Value| made["run"].as_str().unwrap().to_owned();
    let early = run(decide());
    world.sync("a");
    brain_under(&world, ("BRAIN_NOW", "2031-12-01T00:00:00Z"), &["feed", "Anna grows tea."]);
    let late = run(decide());
    for judged in [&early, &late] {
        world.brain("a", &["outcome", judged, "--value", "0.7"]);
    }
    let synced = mended(&world, "made under a fixed clock");
    let notes = synced["notes"].to_string();
    assert!(notes.contains(&format!("the outcome of {early} is entered again")), "{notes}");
    assert!(notes.contains(&format!("the outcome 0.7 of {late}")) && notes.contains("is not entered again"), "{notes}");
    let ledger = world.json("b", &["ledger"]).to_string();
    assert!(ledger.contains(&early) && !ledger.contains(&late), "{ledger}");
}

#[test]
fn runs_by_settings_of_this_machine_are_done_again_without_them() {
    let world = remote(true);
    brain_under(&world, ("BRAIN_LEARNING_SALIENCE_GAIN", "30000"), &["feed", "Anna grows tea."]);
    world.apply("a", json!([create("later")]));
    mended(&world, "its record does not fit its operations");
    let found = world.json("b", &["recall", "Anna"]);
    assert!(found["results"].to_string().contains("grows tea"), "{found}");
    assert_eq!(world.neuron("b", "wake", "later")["id"], "later");
}

#[test]
fn a_waiting_run_that_would_be_refused_stays_here_and_the_rest_goes() {
    let world = remote(true);
    let dir = world.dir("a").display().to_string();
    let ops = delta(json!([create("z"), {"op": "activate", "id": "x", "strength": 0.5}])).to_string();
    let args = [
        "-C",
        &dir,
        "-c",
        "learning.salience_gain=30000",
        "--json",
        "apply",
        "--agent",
        "perception",
        "--no-merge",
        "-",
    ];
    let report = world.sandbox.brain_with(&args, ops.as_bytes()).exits(0).document();
    let branch = report["branch"].as_str().unwrap();
    world.apply("a", json!([create("later")]));
    let synced = world.sync("a");
    let note = synced["notes"][0].as_str().unwrap();
    assert!(note.contains(branch) && note.contains("git brain reject"), "{synced}");
    let said = world.try_brain("a", &["check"]).exits(1).out;
    assert!(said.contains(&format!("git brain reject {branch}")) && !said.contains("--without-refused"), "{said}");
    world.git("a", &["branch", "-q", "-D", branch]);
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn what_a_person_did_is_done_again_as_little_trusted_as_it_was() {
    let world = remote(true);
    world.brain("a", &["feed", "Anna grows tea."]);
    world.brain("a", &["feed", "--origin", "mcp:editor", "Zqxboris sells tea."]);
    world.sync("a");
    let found = world.json("a", &["recall", "zqxboris"]);
    let id = found["results"][0]["id"].as_str().unwrap().to_owned();
    brain_under(&world, ("BRAIN_LEARNING_SALIENCE_GAIN", "30000"), &["feed", "Ben drinks coffee."]);
    // Its record tells what the memory said.
    world.apply("a", json!([{"op": "reword", "id": id, "concept": "Somebody sells tea."}]));
    mended(&world, "its record does not fit its operations");
    let records = world.git("a", &["grep", "-l", "\"reword\"", "wake", "--", "network/runs"]);
    let record = world.git("a", &["show", records.lines().next().unwrap()]);
    assert!(record.contains("mcp:editor"), "{record}");
    world.brain("a", &["sleep"]);
    let told = world.git_try("a", &["grep", "-il", "zqxboris", "main", "--", "network"]);
    assert!(!told.0, "main has it: {}", told.1);
}

/// By plain git a run that waits can become wake itself: its commit is at the remote too, on its branch, and there it is right.
#[test]
fn a_waiting_run_that_became_wake_goes_back_to_its_branch() {
    let rules = "[review]\nreviewers = [\"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = crate::review_second::world(World::gated(), rules);
    world.clone("b");
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.git("b", &["update-ref", "refs/heads/wake", &commit]);
    let said = world.try_brain("b", &["sync"]).exits(3);
    assert!(said.err.contains("lands without its approval"), "{said}");
    world.brain("b", &["sync", "--without-refused"]);
    assert_eq!(world.json("b", &["review"])["waiting"][0]["branch"], branch.as_str());
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.same(&["a", "b"]);
}
