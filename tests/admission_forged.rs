//! Commits that no machine of ours makes, at a gate: what is later read of time, what main takes, nights that were written by
//! hand, what a revert may take back, and keys that were stolen from agents.

use crate::machines::{World, refused};
use crate::sandbox::{self, adjust, connect, create};
use serde_json::json;

const MCP: &str = "mcp:editor";
const LATE: &str = "20310126t143200123z-abcd2345-memory";
const LAST: &str = "99991231t235959999z-zzzzzzzz-memory";

/// A commit on the tip of a branch of `a`, with other files.
fn upon(world: &World, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> String {
    let tip = world.tip("a", branch);
    world.commit("a", &tip, &[&tip], files, message, &[])
}

#[test]
fn whatever_is_read_of_time_is_not_ahead_of_the_clock() {
    let world = World::gated();
    for key in ["Run", "Newest-Run", "Sleep", "Undoes", "Reverts", "Approves"] {
        for run in [LAST, LATE] {
            let forged = upon(&world, "wake", &[], &format!("by hand\n\n{key}: {run}\n"));
            refused(&world, key, &forged, "wake", &format!("names {run} ({key}), which is dated ahead"));
        }
    }
    let goal = "network/goals/late.json";
    for (path, text, says) in [
        (
            "network/flags/late.json",
            json!({"value": true, "at": "2099-01-01T00:00:00Z", "reason": "so", "run": null}),
            "at is ahead",
        ),
        (
            "network/flags/late.json",
            json!({"value": true, "at": "2026-01-01T00:00:00Z", "reason": "so", "run": LATE}),
            "run is ahead",
        ),
        (
            goal,
            json!({"id": "late", "text": "be late", "level": "terminal", "at": "2099-01-01T00:00:00Z", "run": LATE}),
            "at is ahead",
        ),
        (
            "network/metadata.json",
            json!({"bootstrap_complete": true, "seed_timestamp": "2099-01-01T00:00:00Z", "format": 2}),
            "seed_timestamp is ahead",
        ),
    ] {
        let forged = upon(&world, "wake", &[(path, Some(&format!("{text:#}\n")))], "by hand\n");
        refused(&world, path, &forged, "wake", says);
    }
    let x = world.path_of("a", "wake", "/x.json");
    let neuron = world.git("a", &["show", &format!("wake:{x}")]) + "\n";
    let run = neuron.lines().find(|line| line.contains("\"run\"")).unwrap();
    let forged = neuron.replace(run, &format!("  \"run\": \"{LATE}\","));
    refused(
        &world,
        "a neuron's run",
        &upon(&world, "wake", &[(&x, Some(&forged))], "by hand\n"),
        "wake",
        "run is ahead",
    );
}

#[test]
fn a_run_id_at_the_end_of_time_stops_no_command() {
    let world = World::new();
    let forged = upon(&world, "wake", &[], &format!("by hand\n\nNewest-Run: {LAST}\n"));
    world.git("a", &["update-ref", "refs/heads/wake", &forged]);
    for args in [&["feed", "Anna grows tea."][..], &["run"], &["sleep"], &["status"], &["check"]] {
        let answer = world.try_brain("a", args);
        assert!((0..=6).contains(&answer.code) && !answer.err.contains("panicked"), "{answer}");
    }
}

#[test]
fn a_run_says_the_same_in_its_commit_and_in_its_record() {
    let world = World::gated();
    let (branch, run) = world.waiting("a", "perception", json!([create("z")]));
    let message = world.git("a", &["log", "-1", "--format=%B", &run]);
    let parent = world.tip("a", &format!("{run}^"));
    let said = branch.rsplit('/').next().unwrap();
    for (old, new, key) in [
        (format!("Run: {said}"), "Run: 20260101t100000000z-abcd2345-perception".to_owned(), "Run"),
        ("Agent: perception".into(), "Agent: memory".into(), "Agent"),
        (format!("Run: {said}"), format!("Run: {said}\nDepth: 7"), "Depth"),
        (format!("Run: {said}"), format!("Run: {said}\nStimulus: s1"), "Stimulus"),
    ] {
        let forged = message.replace(&old, &new) + "\n";
        assert_ne!(forged.trim(), message.trim(), "{key}");
        let author = [("GIT_AUTHOR_EMAIL", "perception@git-brain.invalid")];
        let forged = world.commit("a", &run, &[&parent], &[], &forged, &author);
        refused(&world, key, &forged, &branch, &format!("is not the run that its commit names ({key})"));
    }
    // In a record a clock that is ahead, and a base that is no other.
    let own = world.path_of("a", &run, &format!("{said}.json"));
    let record = world.git("a", &["show", &format!("{run}:{own}")]) + "\n";
    let at = record.lines().find(|line| line.trim_start().starts_with("\"at\"")).unwrap();
    let late = record.replacen(at, "  \"at\": \"2099-01-01T00:00:00Z\",", 1);
    refused(&world, "a clock", &world.recommit("a", &run, &[(&own, Some(&late))]), &branch, "at is ahead of the clock");
    world.git("a", &["push", "-q", "origin", &branch]);
    // A branch of a run only grows, as wake does.
    let other = world.waiting("a", "perception", json!([create("other")])).1;
    refused(&world, "a rewritten branch", &other, &branch, "would lose commits");
}

#[test]
fn a_persons_record_says_what_its_commit_does() {
    let world = World::gated();
    let (branch, run) = world.waiting("a", "human", json!([create("z"), adjust("x", "y", "feeds_into", 9)]));
    let x = world.path_of("a", &run, "/x.json");
    let neuron = world.git("a", &["show", &format!("{run}:{x}")]) + "\n";
    let forged = neuron.replace(": 20009", ": 20010");
    assert_ne!(forged, neuron);
    let forged = world.recommit("a", &run, &[(&x, Some(&forged))]);
    refused(&world, "another weight", &forged, &branch, "does not say what its commit did");
    let y = world.path_of("a", &run, "/y.json");
    let more =
        world.git("a", &["show", &format!("{run}:{y}")]).replacen("\"salience\": 0", "\"salience\": 1", 1) + "\n";
    let forged = world.recommit("a", &run, &[(&y, Some(&more))]);
    refused(&world, "another neuron", &forged, &branch, "does not say what its commit did");
    world.git("a", &["push", "-q", "origin", &branch]);
}

#[test]
fn merges_are_typed_by_a_known_policy_and_of_two_histories() {
    let world = World::gated();
    let (wake, main) = (world.tip("a", "wake"), world.tip("a", "main"));
    let one = upon(&world, "wake", &[("notes", Some("one\n"))], "one\n");
    let other = upon(&world, "wake", &[("others", Some("two\n"))], "two\n");
    let octopus = world.commit("a", &wake, &[&wake, &one, &other], &[], "all at once\n", &[]);
    refused(&world, "an octopus", &octopus, "wake", "merges more than two histories at once");
    let blob = world.git("a", &["rev-parse", "wake:brain.toml"]);
    let (branch, run) = world.waiting("a", "perception", json!([create("z"), connect("x", "z", "feeds_into", 2000)]));
    let strange = world.git("a", &["rev-parse", "wake:agents/affect.json"]);
    for (policy, says) in [(strange.as_str(), "is no brain.toml of this brain"), ("nothing", "")] {
        let merge = world.commit("a", &run, &[&wake, &run], &[], &format!("merge\n\nPolicy: {policy}\n"), &[]);
        refused(&world, "an unknown policy", &merge, "wake", says);
    }
    // What a person merges by plain git is a person's; a run of an agent that it brings beside is done again.
    let own = world.path_of("a", &run, &format!("{}.json", branch.rsplit('/').next().unwrap()));
    let record = world.git("a", &["show", &format!("{run}:{own}")]) + "\n";
    let made_up = record.replace(
        "  \"effects\"",
        "  \"ops\": [\n    {\"op\":\"archive\",\"id\":\"y\",\"reason\":\"so\"}\n  ],\n  \"effects\"",
    );
    assert_ne!(made_up, record);
    let merge =
        world.commit("a", &one, &[&one, &other], &[("others", Some("two\n")), (&own, Some(&made_up))], "merge\n", &[]);
    refused(&world, "a made-up record in a merge", &merge, "wake", "may not archive");
    let merge = world.commit("a", &run, &[&wake, &run], &[], &format!("merge\n\nPolicy: {blob}\n"), &[]);
    world.git("a", &["push", "-q", "origin", &format!("{merge}:refs/heads/wake")]);
    assert_eq!(world.tip("a", "main"), main);
}

#[test]
fn main_takes_sleeps_and_what_people_commit_and_nothing_that_nobody_approved() {
    let world = World::gated();
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.sync("a");
    let trusted = world.tip("a", "wake");
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    world.sync("a");
    let main = world.tip("a", "main");
    // Wake, of which the gate has each commit already.
    for commit in [&trusted, &world.tip("a", "wake")] {
        refused(&world, "wake", commit, "main", "main takes");
    }
    // The same as a person's merge, and as one commit.
    let (wake, tree) = (world.tip("a", "wake"), world.tip("a", "wake"));
    let merge = world.commit("a", &tree, &[&main, &wake], &[], "merge wake\n", &[]);
    refused(&world, "a merge of wake", &merge, "main", "main takes");
    let squash = world.commit("a", &tree, &[&main], &[], "all of wake\n", &[]);
    refused(&world, "a squash of wake", &squash, "main", "comes from mcp:editor, and that was not approved for main");
    // A tainted run moves weights of neurons that are trusted: its record is enough.
    let records = world.git("a", &["grep", "-l", &format!("\"origin\": \"{MCP}\""), "wake", "--", "network/runs"]);
    let record = records.lines().next().unwrap().trim_start_matches("wake:").to_owned();
    let text = world.git("a", &["show", &format!("wake:{record}")]) + "\n";
    refused(
        &world,
        "a tainted record",
        &upon(&world, "main", &[(&record, Some(&text))], "x\n"),
        "main",
        "is of a run that comes from mcp:editor",
    );
    // An agent commits nothing on main, and main is not made a side line.
    let author = [("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")];
    let by_agent = world.commit("a", &main, &[&main], &[("notes", Some("x"))], "x\n", &author);
    refused(&world, "an agent's commit", &by_agent, "main", "is by the agent memory");
    world.slept("a");
    world.sync("a");
    let main = world.tip("a", "main");
    let before = format!("{main}^");
    // What a night made is a night's: a person's commit has of runs what they made.
    let slept = world.commit("a", &main, &[&before], &[("docs/a.md", Some("a\n"))], "feature\n", &[]);
    let slept = world.commit("a", &main, &[&main, &slept], &[("docs/a.md", Some("a\n"))], "merge feature\n", &[]);
    refused(&world, "a night by hand", &slept, "main", "is brought without what its run made");
    let feature = world.commit("a", &before, &[&before], &[("docs/a.md", Some("a\n"))], "feature\n", &[]);
    let foxtrot = world.commit("a", &main, &[&feature, &main], &[("docs/a.md", Some("a\n"))], "merge main\n", &[]);
    refused(&world, "a side line", &foxtrot, "main", "along first parents");
    let good = world.commit("a", &main, &[&main, &feature], &[("docs/a.md", Some("a\n"))], "merge feature\n", &[]);
    world.git("a", &["push", "-q", "origin", &format!("{good}:refs/heads/main")]);
    // What a person approves goes there by the next sleep.
    world.sync("a");
    world.brain("a", &["approve", "--origin", MCP]);
    world.slept("a");
    world.sync("a");
    world.same(&["a"]);
}

#[test]
fn a_brain_that_slept_over_tainted_memories_begins_an_empty_gate() {
    let world = World { sandbox: sandbox::Sandbox::empty() };
    world.brain(".", &["init", "--bare", "remote.git"]);
    world.brain(".", &["init", "--no-hooks", "a"]);
    world.git("a", &["remote", "add", "origin", "../remote.git"]);
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    world.slept("a");
    world.sync("a");
    world.same(&["a"]);
}

/// A true night of another machine, which `a` has fetched.
struct Night {
    slept: String,
    /// Where its record lies, the record's text, and what that says.
    path: String,
    log: String,
    record: serde_json::Value,
}

impl Night {
    fn of_a_sleeper(world: &World) -> Self {
        world.sync("a");
        world.clone("sleeper");
        let slept = world.slept("sleeper");
        world.git("a", &["fetch", "-q", "../sleeper", "main", "wake:slept-wake"]);
        let path = world.path_of("a", &slept, "-sleep.json");
        let log = world.git("a", &["show", &format!("{slept}:{path}")]) + "\n";
        let record = serde_json::from_str(&log).unwrap();
        Self { slept, path, log, record }
    }
}

#[test]
fn the_log_of_a_night_in_format_2_is_held_against_the_trees() {
    let world = World::gated();
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
    let Night { slept, path, log, record } = Night::of_a_sleeper(&world);
    assert_eq!((&record["format"], record.get("learnt")), (&json!(2), None));
    let whole = world.json("sleeper", &["show", record["run"].as_str().unwrap()])["document"].clone();
    let line = whole["consolidated"].as_array().unwrap().iter().find(|line| line["old"].is_u64()).unwrap();
    let (what, new) = (line["what"].as_str().unwrap().to_owned(), line["new"].as_u64().unwrap());
    let source = world.path_of("a", &slept, &format!("/{}.json", what.split(' ').next().unwrap()));
    let neuron = world.git("a", &["show", &format!("{slept}:{source}")]) + "\n";
    let relogged = |from: &str, to: &str| {
        let changed = log.replacen(from, to, 1);
        assert_ne!(changed, log, "{from}");
        world.recommit("a", &slept, &[(&path, Some(&changed))])
    };
    let forged = neuron.replacen(&new.to_string(), "65000", 1);
    assert_ne!(forged, neuron);
    let stronger = world.recommit("a", &slept, &[(&source, Some(&forged))]);
    refused(&world, "a weight beyond the totals", &stronger, "main", "says in all");
    let renamed = neuron.replacen("\"concept\": \"", "\"concept\": \"un", 1);
    let renamed = world.recommit("a", &slept, &[(&source, Some(&renamed))]);
    refused(&world, "a name that is not logged", &renamed, "main", "does not say that it changed");
    let usual = log.lines().find(|line| line.contains("\"usual\"")).unwrap();
    let unusual = relogged(&format!(",\n{usual}"), "");
    refused(&world, "no reason of weights", &unusual, "main", "does not say that it changed");
    let lines = "  \"consolidated\": [\n    {\"what\": \"x connections.x.recalls\", \"old\": 1, \"new\": 2, \"why\": \"so\"}\n  ]\n}\n";
    let more = log.trim_end().trim_end_matches('}').trim_end().trim_end_matches(',').to_owned() + ",\n" + lines;
    let more = world.recommit("a", &slept, &[(&path, Some(&more))]);
    refused(&world, "a line that is not so", &more, "main", "changed, and it did not");
    let learnt = lines.replace("consolidated", "learnt");
    let learnt = log.trim_end().trim_end_matches('}').trim_end().to_owned() + ",\n" + &learnt;
    let learnt = world.recommit("a", &slept, &[(&path, Some(&learnt))]);
    refused(&world, "a line of the day", &learnt, "main", "is what the trees say in format 2");
    refused(&world, "a newer format", &relogged("\"format\": 2", "\"format\": 3"), "main", "from 1 up to 2");
    let gained = format!("\"weight_gained\": {}", record["learnt_totals"]["weight_gained"]);
    refused(&world, "another sum of the day", &relogged(&gained, "\"weight_gained\": 1"), "main", "says in all");
    refused(&world, "another base", &relogged(&main, &wake), "main", "began elsewhere");
    let flag = "network/flags/calm.json";
    let text = format!("{:#}\n", json!({"value": true, "at": "2026-01-01T00:00:00Z", "reason": "so", "run": null}));
    let unlogged = world.recommit("a", &slept, &[(flag, Some(&text))]);
    refused(&world, "a flag", &unlogged, "main", &format!("does not say that it changed: {flag}"));
    let message = world.git("a", &["log", "-1", "--format=%B", &slept]);
    let author = [("GIT_AUTHOR_EMAIL", "sleep@git-brain.invalid")];
    let said = world.commit("a", &slept, &[&main], &[], &(message.replacen(" → ", " → 6", 1) + "\n"), &author);
    refused(&world, "another message", &said, "main", "is not that of its record");
    let back = world.tip("a", "slept-wake");
    world.git("a", &["push", "-q", "origin", &format!("{slept}:refs/heads/main"), &format!("{back}:refs/heads/wake")]);
}

#[test]
fn the_log_of_a_night_says_what_the_night_did() {
    let world = World::gated();
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.brain("a", &["feed", "--origin", MCP, "Green tea from Uji is poison, says Boris."]);
    let (main, wake) = (world.tip("a", "main"), world.tip("a", "wake"));
    let Night { slept, path, log, record } = Night::of_a_sleeper(&world);
    let line = record["consolidated"].as_array().unwrap().iter().find(|line| line["old"].is_u64()).unwrap();
    let what = line["what"].as_str().unwrap().to_owned();
    let source = world.path_of("a", &slept, &format!("/{}.json", what.split(' ').next().unwrap()));
    let neuron = world.git("a", &["show", &format!("{slept}:{source}")]) + "\n";
    let (old, new) = (line["old"].as_u64().unwrap(), line["new"].as_u64().unwrap());
    let relogged = |from: &str, to: &str| {
        let changed = log.replacen(from, to, 1);
        assert_ne!(changed, log, "{from}");
        world.recommit("a", &slept, &[(&path, Some(&changed))])
    };
    let says = format!("says that it went from {old} to");
    let logged = format!("\"what\": \"{what}\", \"old\": {old}, \"new\": {new}");
    let forged = neuron.replacen(&new.to_string(), "65000", 1);
    assert_ne!(forged, neuron);
    let stronger = world.recommit("a", &slept, &[(&source, Some(&forged))]);
    refused(&world, "a weight beyond the log", &stronger, "main", "65000");
    refused(&world, "another new value", &relogged(&logged, &logged.replace(&new.to_string(), "65000")), "main", &says);
    let other_old = logged.replace(&format!("\"old\": {old}"), "\"old\": 17");
    refused(&world, "another old value", &relogged(&logged, &other_old), "main", "says that it went from 17 to");
    let whole = log.lines().find(|line| line.contains(&logged)).unwrap().to_owned() + "\n";
    refused(&world, "a line less", &relogged(&whole, ""), "main", &format!("does not say that it changed: {what}"));
    refused(&world, "a line twice", &relogged(&whole, &whole.repeat(2)), "main", "says twice");
    let none = whole.replace(&what, "x connections.x.recalls");
    refused(
        &world,
        "a line more",
        &relogged(&whole, &(whole.clone() + &none)),
        "main",
        "says that x connections.x.recalls changed, and it did not",
    );
    let gained = format!("\"weight_gained\": {}", record["consolidated_totals"]["weight_gained"]);
    refused(&world, "another sum", &relogged(&gained, "\"weight_gained\": 1"), "main", "says in all");
    let flag = "network/flags/calm.json";
    let text = format!("{:#}\n", json!({"value": true, "at": "2026-01-01T00:00:00Z", "reason": "so", "run": null}));
    let unlogged = world.recommit("a", &slept, &[(flag, Some(&text))]);
    refused(&world, "a flag", &unlogged, "main", &format!("does not say that it changed: {flag}"));
    let of_day = world.path_of("a", &slept, "-perception.json");
    let unrecorded = world.recommit("a", &slept, &[(&of_day, None)]);
    refused(&world, "a record of the day that is left out", &unrecorded, "main", "the sleep leaves it out");
    // Where it began.
    refused(&world, "another base", &relogged(&main, &wake), "main", "began elsewhere");
    let message = world.git("a", &["log", "-1", "--format=%B", &slept]);
    let author = [("GIT_AUTHOR_EMAIL", "sleep@git-brain.invalid")];
    let night = |message: &str, parents: &[&str], files: &[(&str, Option<&str>)]| {
        world.commit("a", &slept, parents, files, &(message.to_owned() + "\n"), &author)
    };
    let snapshot = message.replace(&format!("Snapshot: {wake}"), &format!("Snapshot: {main}"));
    refused(&world, "another snapshot", &night(&snapshot, &[&main], &[]), "main", "began elsewhere");
    let nowhere = "1234567890123456789012345678901234567890";
    let of_nobody = night(&message.replace(&wake, nowhere), &[&main], &[(&path, Some(&log.replace(&wake, nowhere)))]);
    refused(&world, "a day that nobody has", &of_nobody, "main", "over a snapshot that is missing");
    let elsewhere = upon(&world, "main", &[("notes", Some("x"))], "x\n");
    refused(&world, "another parent", &night(&message, &[&elsewhere], &[]), "main", "began elsewhere");
    refused(
        &world,
        "another message",
        &night(&message.replacen(" → ", " → 6", 1), &[&main], &[]),
        "main",
        "is not that of its record",
    );
    // What no sleep does, logged as it should be.
    let x = world.path_of("a", &slept, "/x.json");
    let there = world.git("a", &["show", &format!("{slept}:{x}")]) + "\n";
    for (what, old, new, field, was, is) in [
        ("is called otherwise", "\"concept\": \"x\"", "\"concept\": \"z\"", "concept", "x", "z"),
        (
            "is said to come from elsewhere",
            "\"named_by\"",
            "\"origin\": \"import\",\n  \"named_by\"",
            "origin",
            "local",
            "import",
        ),
    ] {
        let (forged, line) =
            (there.replacen(old, new, 1), json!({"what": format!("x {field}"), "old": was, "new": is, "why": "so"}));
        assert_ne!(forged, there);
        let logged = log.replacen("  \"consolidated\": [\n", &format!("  \"consolidated\": [\n    {line},\n"), 1);
        let forged = world.recommit("a", &slept, &[(&x, Some(&forged)), (&path, Some(&logged))]);
        refused(&world, what, &forged, "main", what);
    }
    let by_agent = world.commit(
        "a",
        &slept,
        &[&main],
        &[],
        &(message.clone() + "\n"),
        &[("GIT_AUTHOR_EMAIL", "memory@git-brain.invalid")],
    );
    refused(&world, "a sleep of another agent", &by_agent, "main", "is by the agent memory");
    let night = message.lines().find(|line| line.starts_with("Sleep: ")).unwrap().replace("Sleep: ", "Undoes: ");
    let both = world.commit("a", &slept, &[&main], &[], &format!("{message}\n{night}\n"), &author);
    refused(&world, "a sleep that says it is an undoing", &both, "main", "a sleep, and that it takes one back");
    // Its way back into wake.
    let back = world.tip("a", "slept-wake");
    let with = world.git("a", &["log", "-1", "--format=%B", &back]);
    let w = |message: &str, from: &str, files: &[(&str, Option<&str>)]| {
        world.commit("a", from, &[&wake, &slept], files, &(message.to_owned() + "\n"), &author)
    };
    refused(
        &world,
        "a merge of another snapshot",
        &w(&with.replace(&wake, &main), &back, &[]),
        "wake",
        "another than it says",
    );
    refused(
        &world,
        "a merge that moves a weight",
        &w(&with, &back, &[(&source, Some(&forged))]),
        "wake",
        "not that of its parents' merge",
    );
    let twice = world.commit("a", &back, &[&wake, &back], &[], &with, &[]);
    refused(&world, "a merge of the merge of a sleep", &twice, "wake", "another than it says");
    let toml = world.git("a", &["show", &format!("{back}:brain.toml")]) + "\n# mine\n";
    refused(
        &world,
        "a merge that loses what is tainted",
        &w(&with, &slept, &[]),
        "wake",
        "not that of its parents' merge",
    );
    refused(
        &world,
        "a merge with settings",
        &w(&with, &back, &[("brain.toml", Some(&toml))]),
        "wake",
        "is not as main has it",
    );
    world.git("a", &["push", "-q", "origin", &format!("{slept}:refs/heads/main"), &format!("{back}:refs/heads/wake")]);
    // Taking it back.
    world.sync("sleeper");
    world.json("sleeper", &["sleep", "--undo"]);
    world.git("a", &["fetch", "-q", "../sleeper", "+main:undone", "+wake:undone-wake"]);
    let (undo, back) = (world.tip("a", "undone"), world.tip("a", "undone-wake"));
    let settings = format!("{toml}# more\n");
    let forged_undo = world.recommit("a", &undo, &[("brain.toml", Some(&settings))]);
    refused(&world, "an undo that does more", &forged_undo, "main", "does not do what taking");
    let kept = world.recommit("a", &undo, &[(&path, Some(&log))]);
    refused(&world, "an undo that does less", &kept, "main", "does not do what taking");
    let never = world.commit("a", &undo, &[&slept], &[], "x\n\nUndoes: 20260101t100000000z-abcd2345-sleep\n", &[]);
    refused(&world, "the undoing of nothing", &never, "main", "takes back a sleep that main never had");
    let parents = [format!("{back}^1"), format!("{back}^2")].map(|parent| world.tip("a", &parent));
    let message = world.git("a", &["log", "-1", "--format=%B", &back]) + "\n";
    let merged = |message: &str, files: &[(&str, Option<&str>)]| {
        world.commit("a", &back, &[&parents[0], &parents[1]], files, message, &[])
    };
    refused(
        &world,
        "a merge of the undoing that does more",
        &merged(&message, &[("brain.toml", Some(&settings))]),
        "wake",
        "does not do what taking",
    );
    let never = merged(&message.replace("Undoes: ", "Undoes: 20260101t100000000z-abcd2345-sleep\nX: "), &[]);
    refused(&world, "a merge of the undoing of nothing", &never, "wake", "merges no undoing of it");
    let beside = world.commit("a", &back, &[&parents[0], &slept], &[], &message, &[]);
    refused(&world, "a merge of an undoing that main has not", &beside, "wake", "merges no undoing of it");
    world.git("a", &["push", "-q", "origin", &format!("{undo}:refs/heads/main"), &format!("{back}:refs/heads/wake")]);
}

#[test]
fn only_a_true_revert_takes_a_record_back() {
    let world = World::gated();
    let applied = world.apply("a", json!([create("z"), adjust("x", "y", "feeds_into", 9)]));
    world.sync("a");
    let run = applied["commit"].as_str().unwrap().to_owned();
    let parent = world.tip("a", &format!("{run}^"));
    let record = world.path_of("a", "wake", &format!("{}.json", applied["run"].as_str().unwrap()));
    let (x, z) = (world.path_of("a", "wake", "/x.json"), world.path_of("a", "wake", "/z.json"));
    let before = world.git("a", &["show", &format!("{parent}:{x}")]) + "\n";
    let said = format!("Revert\n\nThis reverts commit {run}.\n");
    let other = format!("Revert\n\nThis reverts commit {}.\n", world.tip("a", "main"));
    let own = "network/flags/own.json";
    let flag = format!("{:#}\n", json!({"value": true, "at": "2026-01-01T00:00:00Z", "reason": "so", "run": null}));
    for (what, message, files) in [
        ("the record alone", &said, vec![(record.as_str(), None)]),
        ("not the weight", &said, vec![(&record, None), (&z, None)]),
        ("something beside", &said, vec![(&record, None), (&z, None), (&x, Some(before.as_str())), (own, Some(&flag))]),
        ("another commit", &other, vec![(&record, None), (&z, None), (&x, Some(&before))]),
    ] {
        let forged = upon(&world, "wake", &files, message);
        refused(&world, what, &forged, "wake", "is removed, and it is written once for ever");
    }
    let whole = [(record.as_str(), None), (z.as_str(), None), (x.as_str(), Some(before.as_str()))];
    let good = upon(&world, "wake", &whole, &said);
    world.git("a", &["push", "-q", "origin", &format!("{good}:refs/heads/wake")]);
}

#[test]
fn symlinks_and_submodules_are_refused_until_one_commit_more_takes_them_away() {
    let world = World::gated();
    for branch in ["main", "wake"] {
        let link = upon(&world, branch, &[("link", Some("link:/etc/passwd"))], "a link\n");
        refused(&world, "a symlink", &link, branch, "link:1: is a symlink or submodule");
        let below = upon(&world, branch, &[("docs/link", Some("link:../brain.toml"))], "a link\n");
        refused(&world, "a symlink below", &below, branch, "docs/link:1: is a symlink or submodule");
        let mended = world.commit("a", &link, &[&link], &[("link", None)], "no link\n", &[]);
        world.git("a", &["push", "-q", "origin", &format!("{mended}:refs/heads/{branch}")]);
        world.sync("a");
    }
    let main = world.tip("a", "main");
    world.git("a", &["update-index", "--add", "--cacheinfo", &format!("160000,{main},module")]);
    let tree = world.git("a", &["write-tree"]);
    let module = world.git("a", &["commit-tree", "-p", &main, "-m", "module", &tree]);
    world.git("a", &["reset", "-q"]);
    refused(&world, "a submodule", &module, "main", "module:1: is a symlink or submodule");
}

#[test]
fn a_branch_with_a_symlink_is_named_and_the_rest_goes_on() {
    let world = World::new();
    world.clone("b");
    let good = world.tip("a", "main");
    let link = upon(&world, "main", &[("link", Some("link:/etc/passwd"))], "a link\n");
    world.git("a", &["push", "-q", "origin", &format!("{link}:refs/heads/main")]);
    world.apply("a", json!([create("theirs")]));
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.apply("b", json!([create("ours")]));
    for _ in 0..2 {
        let answer = world.try_brain("b", &["sync"]).exits(3);
        for part in
            ["main of origin is not let in", "link:1: is a symlink", "git rm", &format!("+{good}:refs/heads/main")]
        {
            assert!(answer.err.contains(part), "{answer}");
        }
        assert_eq!((world.tip("b", "main"), world.tip("remote.git", "main")), (good.clone(), link.clone()));
    }
    world.neuron("b", "wake", "theirs");
    world.neuron("remote.git", "wake", "ours");
    // A machine that has it on its own main goes on too, and what takes it away there takes it away everywhere.
    world.git("a", &["update-ref", "refs/heads/main", &link]);
    world.git("a", &["reset", "-q", "--hard"]);
    world.sync("a");
    world.brain("a", &["feed", "Anna grows green tea in Uji."]);
    world.slept("a");
    world.sync("a");
    let mended = upon(&world, "main", &[("link", None)], "no link\n");
    world.git("a", &["push", "-q", "origin", &format!("{mended}:refs/heads/main")]);
    world.sync("a");
    world.sync("b");
    assert_eq!(world.tip("b", "main"), mended);
    assert_eq!(world.git("b", &["ls-tree", "--name-only", "wake", "link"]), "");
    world.same(&["a", "b"]);
}

/// A commit whose message a person's git shows otherwise than it was judged.
#[test]
fn messages_that_git_reads_otherwise_are_refused() {
    let world = World::gated();
    let run = world.apply("a", json!([create("z")]))["run"].as_str().unwrap().to_owned();
    world.sync("a");
    let raw = |header: &str, message: &str| {
        let tip = world.tip("a", "wake");
        let tree = world.git("a", &["rev-parse", "wake^{tree}"]);
        let who = "Ann <ann@example.invalid> 1769437920 +0000";
        let text = format!("tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n{header}\n{message}");
        let file = world.sandbox.file("commit", text);
        world.git("a", &["hash-object", "-t", "commit", "-w", &file]).trim().to_owned()
    };
    for (header, message, says) in [
        ("encoding UTF-16\n", "by hand\n".to_owned(), "says that its message is in UTF-16"),
        ("encoding latin1\n", "by hand\n".to_owned(), "says that its message is in latin1"),
        ("", format!("by hand\n\nRun : {run}\n"), "a trailer Run that git"),
        ("", format!("by hand\n\nRun: {run}\n of another\n"), "a trailer Run that git"),
        ("", format!("by hand\n\nso\nSleep: {run}\nSigned-off-by: Ann\n"), "a trailer Sleep that git"),
        ("", format!("by hand\n\n# so\nAgent: memory\nRun: {run}\n"), "that git and this program do not read alike"),
    ] {
        refused(&world, message.as_str(), &raw(header, &message), "wake", says);
    }
    // What people write goes on to be taken.
    for (header, message) in [
        ("encoding UTF-8\n", "von Hand: \u{e9}\n\nSigned-off-by: Ann\n"),
        ("", "by hand\n\nsee below\nNote : this\n"),
        ("", "by hand\n\nFirst: this\nthen that\n"),
    ] {
        let commit = raw(header, message);
        let (pushed, said) = world.git_try("a", &["push", "origin", &format!("{commit}:refs/heads/wake")]);
        assert!(pushed, "{message}: {said}");
        world.git("a", &["update-ref", "refs/heads/wake", &commit]);
    }
}

/// People change the network by hand, and say of no run that it judged, asked or answered.
#[test]
fn an_outcome_a_signal_or_an_answer_comes_with_its_run_or_not_at_all() {
    let world = World::gated();
    let made = world.json("a", &["decide", "which way?", "--option", "bridge", "--option", "ferry"]);
    world.sync("a");
    let tip = world.tip("a", "wake");
    world.brain("a", &["outcome", made["run"].as_str().unwrap(), "--value", "0"]);
    world.brain("a", &["feed", "Anna grows tea."]);
    let new = |folder: &str| -> Vec<String> {
        let changed = world.git("a", &["diff", "--name-only", "--diff-filter=A", &tip, "wake", "--", folder]);
        changed.lines().map(str::to_owned).collect()
    };
    let text = |path: &str| world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let (ledger, signals) = (new("network/ledger"), new("network/signals"));
    let answer = signals.iter().find(|path| path.ends_with(".ack.json")).unwrap();
    let signal = answer.replace(".ack.json", ".json");
    let forge = |paths: &[&str]| {
        let texts: Vec<String> = paths.iter().map(|path| text(path)).collect();
        let files: Vec<(&str, Option<&str>)> =
            paths.iter().zip(&texts).map(|(path, text)| (*path, Some(text.as_str()))).collect();
        world.commit("a", &tip, &[&tip], &files, "by hand\n", &[])
    };
    for (paths, says) in [
        (vec![ledger[0].as_str()], "is an outcome of"),
        (vec![signal.as_str()], "is a signal of"),
        (vec![signal.as_str(), answer.as_str()], "is an answer of"),
    ] {
        let forged = forge(&paths);
        refused(&world, says, &forged, "wake", says);
    }
    // Nor does a run that comes along, and did something else.
    let run = world.apply("a", json!([create("later")]))["run"].as_str().unwrap().to_owned();
    let record = new("network/runs").into_iter().find(|path| path.ends_with(&format!("{run}.json"))).unwrap();
    let later = world.path_of("a", "wake", "/later.json");
    let entry = record.replace("network/runs", "network/ledger");
    let judge = ledger[0].rsplit('/').next().unwrap().trim_end_matches(".json");
    let files = [(&record, text(&record)), (&later, text(&later)), (&entry, text(&ledger[0]).replace(judge, &run))];
    let files: Vec<(&str, Option<&str>)> =
        files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    let forged = world.commit("a", &tip, &[&tip], &files, "by hand\n", &[]);
    refused(&world, "an outcome of another run", &forged, "wake", "did not make so");
    let wake = world.tip("a", "wake");
    world.git("a", &["update-ref", "refs/heads/wake", &forge(&[&signal, answer])]);
    let report = world.try_brain("a", &["--json", "audit", "--all"]).exits(3).document();
    assert!(report["findings"].to_string().contains("signal-gap"), "{report}");
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    world.sync("a");
}

/// A run of a clock that is ahead stays in history; what is done after it is numbered by the clock of who does it.
#[test]
fn a_run_ahead_of_the_clock_numbers_no_other() {
    let world = World::gated();
    let now = world.apply("a", json!([create("before")]))["run"].as_str().unwrap().to_owned();
    let forged = upon(&world, "wake", &[], &format!("by hand\n\nNewest-Run: {LATE}\n"));
    world.git("a", &["update-ref", "refs/heads/wake", &forged]);
    let mut runs = vec![now];
    for id in ["one", "two"] {
        runs.push(world.apply("a", json!([create(id)]))["run"].as_str().unwrap().to_owned());
        assert!(!world.git("a", &["log", "-1", "--format=%B", "wake"]).contains(LATE));
    }
    world.brain("a", &["feed", "Anna grows tea."]);
    world.brain("a", &["sleep"]);
    assert!(runs.is_sorted() && runs[2].as_str() < LATE, "{runs:?}");
    // Of all of it the machines refuse the forged commit alone.
    let said = world.refused("a");
    assert_eq!(said.matches("is dated ahead").count(), 1, "{said}");
}

/// A run of an agent that started long ago lands by the typed merge alone: its own files would set back what was learnt since.
#[test]
fn an_agents_run_that_started_long_ago_sets_nothing_back() {
    let world = crate::review_second::world(World::gated(), "");
    world.apply("a", json!([create("tea"), create("cup"), connect("tea", "cup", "feeds_into", 2000)]));
    world.sync("a");
    world.clone("b");
    world.apply("a", json!([adjust("tea", "cup", "feeds_into", 3000)]));
    world.sync("a");
    world.brain("b", &["trust", "--yes"]);
    let (branch, run) = world.waiting("b", "scribe", json!([connect("tea", "cup", "inhibits", 5)]));
    world.git("a", &["fetch", "-q", &world.dir("b").display().to_string(), &run]);
    let files = |revision: &str| {
        let changed = world.git("a", &["diff-tree", "-r", "--no-commit-id", "--name-only", revision]);
        let content = |path: &str| (path.to_owned(), world.git("a", &["show", &format!("{revision}:{path}")]) + "\n");
        changed.lines().map(content).collect::<Vec<_>>()
    };
    let own = files(&run);
    let edits: Vec<(&str, Option<&str>)> =
        own.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    let (wake, message) = (world.tip("a", "wake"), world.git("a", &["log", "-1", "--format=%B", &run]));
    let scribe = [("GIT_AUTHOR_NAME", "scribe"), ("GIT_AUTHOR_EMAIL", "scribe@git-brain.invalid")];
    let forged = world.commit("a", &wake, &[&wake], &edits, &message, &scribe);
    let says = "does otherwise than the merge of its run with what was there";
    refused(&world, "a run that sets a weight back", &forged, "wake", says);
    world.git("a", &["update-ref", "refs/heads/wake", &forged]);
    let report = world.try_brain("a", &["--json", "audit", "--all"]).exits(3).document();
    assert!(report["findings"].to_string().contains(says), "{report}");
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    // An agent's hand is an agent's, as author as well as committer, whatever the case of its address.
    let weight = world.path_of("a", "wake", "/tea.json");
    let other = world.git("a", &["show", &format!("wake:{weight}")]).replace(": 5000", ": 1") + "\n";
    for hand in [("GIT_COMMITTER_EMAIL", "scribe@git-brain.invalid"), ("GIT_AUTHOR_EMAIL", "SCRIBE@Git-Brain.Invalid.")]
    {
        let forged = world.commit("a", &wake, &[&wake], &[(&weight, Some(&other))], "tidy\n", &[hand]);
        refused(&world, "an agent's hand", &forged, "wake", "and has no record of a run");
    }
    // Wisdom is what a run taught.
    let seed = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/runs"]);
    let taught = seed.lines().next().unwrap().replace("network/runs", "network/wisdom");
    let forged = world.commit("a", &wake, &[&wake], &[(&taught, Some("{}\n"))], "tidy\n", &[]);
    refused(&world, "wisdom of nobody", &forged, "wake", "");
    // By plain git, with the engine's merge of files, it lands.
    world.git("a", &["checkout", "-q", "wake"]);
    world.git("a", &["cherry-pick", &run]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    let tea = world.neuron("a", "wake", "tea").to_string();
    assert!(tea.contains("5000") && tea.contains("inhibits"), "{branch}: {tea}");
}
