//! Decisions at their edges: what was refused stays to be seen, and what is no decision decides nothing.

use std::process::Command;

use crate::admission_signed::signing;
use crate::machines::World;
use crate::sandbox::create;
use serde_json::{Value, json};

fn waiting(world: &World, ids: &[&str]) -> (String, String) {
    let ops: Vec<Value> = ids.iter().map(|id| create(id)).collect();
    world.waiting("a", "perception", json!(ops))
}

fn run_of(branch: &str) -> &str {
    branch.rsplit('/').next().unwrap()
}

/// Whoever made a document says "1 and 3 are fine" of its first and its third operation.
#[test]
fn operations_have_the_numbers_of_the_document() {
    let world = World::gated();
    world.clone("b");
    let ops = json!([
        {"op": "create", "id": "s-runbook2", "concept": "The runbook of Harbour is in the wiki.", "type": "semantic"},
        {"op": "create", "id": "a-password", "concept": "The staging door opens with 4711.", "type": "semantic"},
        {"op": "connect", "from": "s-runbook2", "to": "x", "type": "feeds_into", "weight": 2000},
    ]);
    let (branch, _) = world.waiting("a", "perception", ops);
    world.sync("a");
    world.sync("b");
    for name in ["a", "b"] {
        let belief = world.json(name, &["review", &branch])["reviews"][0].clone();
        let starts = ["create", "create", "connect"];
        let operations = belief["operations"].as_array().unwrap();
        assert!(operations.iter().zip(starts).all(|(op, start)| op.as_str().unwrap().starts_with(start)), "{belief:#}");
        assert!(operations[0].as_str().unwrap().contains("runbook"), "{belief:#}");
        let password = belief["neurons"].as_array().unwrap().iter().find(|one| one["id"] == "a-password").unwrap();
        assert_eq!(password["operations"], json!([2]), "{belief:#}");
    }
    world.brain("b", &["approve", &branch, "--only", "1,3"]);
    world.sync("b");
    world.sync("a");
    for name in ["a", "b"] {
        let files = world.git(name, &["ls-tree", "-r", "--name-only", "wake", "network/neurons"]);
        assert!(files.contains("/s-runbook2.json") && !files.contains("a-password"), "{name}: {files}");
    }
    world.same(&["a", "b"]);
}

#[test]
fn what_was_rejected_can_be_looked_at_later() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["rumour"]);
    world.brain("a", &["reject", &branch, "--why", "nobody has seen it"]);
    world.git("a", &["gc", "-q", "--prune=now"]);
    let said = world.brain("a", &["review", run_of(&branch)]);
    for words in ["was rejected by Ann", "rumour", "nobody has seen it"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("git brain approve"), "nothing waits: {said}");
    // What was thrown away is no history that was judged: a push of it into wake is refused as before.
    world.sync("a");
    let commit = world.git("a", &["for-each-ref", "--format=%(objectname)", "refs/git-brain/refused"]);
    assert_eq!(commit.lines().count(), 1, "{commit}");
    assert_eq!(world.git("remote.git", &["for-each-ref", "refs/git-brain/refused"]), "");
}

#[test]
fn a_part_names_the_operations_behind_each_belief() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea", "cup"]);
    let diff = world.json("a", &["review", &branch]);
    let numbers: Vec<(&Value, &Value)> = diff["reviews"][0]["neurons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (&change["id"], &change["operations"]))
        .collect();
    let operations = diff["reviews"][0]["operations"].as_array().unwrap();
    for (id, numbers) in numbers {
        let [number] = &numbers.as_array().unwrap()[..] else { panic!("{numbers}") };
        let operation = operations[number.as_u64().unwrap() as usize - 1].as_str().unwrap();
        assert!(operation.contains(id.as_str().unwrap()), "{id}: {operation}");
    }
    assert!(world.brain("a", &["review", &branch]).contains("semantic, cup  ["));
}

#[test]
fn a_list_is_the_same_from_the_cache_and_without_it() {
    let world = World::new();
    let (first, _) = waiting(&world, &["tea"]);
    let list = world.json("a", &["review"]);
    assert_eq!(world.json("a", &["review"]), list);
    let kept = world.dir("a").join(".git/git-brain/cache/waiting.json");
    assert!(kept.exists(), "{}", kept.display());
    std::fs::write(&kept, "{\"x\": garbage").unwrap();
    assert_eq!(world.json("a", &["review"]), list);
    // Another commit of the branch is another entry, and what is decided goes.
    let (second, commit) = waiting(&world, &["cup"]);
    let moved = world.recommit("a", &commit, &[]);
    let message = world.git("a", &["log", "-1", "--format=%B", &commit]).replace("Review: asked", "Review: rule large");
    let parent = world.git("a", &["log", "-1", "--format=%P", &moved]);
    let moved =
        world.commit("a", &moved, &[&parent], &[], &message, &[("GIT_AUTHOR_EMAIL", "perception@git-brain.invalid")]);
    world.git("a", &["update-ref", &format!("refs/heads/{second}"), &moved]);
    let waits = |list: &Value, branch: &str| {
        let lines = list["waiting"].as_array().unwrap().iter();
        lines
            .filter(|line| line["branch"] == branch)
            .map(|line| line["waits"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let list = world.json("a", &["review"]);
    assert_eq!(
        (waits(&list, &first), waits(&list, &second)),
        (vec!["asked".to_owned()], vec!["rule large".to_owned()])
    );
    world.brain("a", &["approve", &first]);
    assert_eq!(waits(&world.json("a", &["review"]), &first), Vec::<String>::new());
}

#[test]
fn an_unsigned_record_in_the_ref_here_is_no_decision() {
    let Some(world) = signing() else { return };
    let (branch, tip) = waiting(&world, &["tea"]);
    let wake = world.tip("a", "wake");
    // The evaluator has no key here, so nothing is learnt; the decision is made.
    world.try_brain("a", &["approve", &branch]);
    let signed = world.tip("a", "refs/brain/reviews");
    let message = world.git("a", &["log", "-1", "--format=%B", &signed]);
    let unsigned = world.commit("a", &signed, &[], &[], &message, &[]);
    for (record, lands) in [(&unsigned, false), (&signed, true)] {
        // As after a kill between the record and the merge.
        world.git("a", &["update-ref", "refs/heads/wake", &wake]);
        world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &tip]);
        world.git("a", &["update-ref", "refs/brain/reviews", record]);
        let said = world.try_brain("a", &["--json", "ci", "--no-forge"]);
        let files = world.git("a", &["ls-tree", "-r", "--name-only", "wake"]);
        assert_eq!(files.contains("/tea.json"), lands, "{said}");
    }
}

#[test]
fn a_pipe_that_nobody_writes_to_is_no_document() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea"]);
    let pipe = world.sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = world.try_brain("a", &["approve", &branch, "--document", &pipe]).exits(2);
    assert!(said.err.contains("pipe"), "{said}");
}

#[test]
fn reviews_of_another_form_are_refused_and_stop_nothing_else() {
    let world = World::new();
    let blob = world.sandbox.file("blob", "no commit");
    let blob = world.git("remote.git", &["hash-object", "-w", &blob]);
    world.git("remote.git", &["update-ref", "refs/brain/reviews", &blob]);
    let (branch, _) = waiting(&world, &["tea"]);
    world.brain("a", &["approve", &branch]);
    let answer = world.try_brain("a", &["sync"]).exits(3);
    assert!(answer.err.contains("the reviews of origin are not let in"), "{answer}");
    assert_eq!(world.tip("a", "wake"), world.tip("remote.git", "wake"), "all else is done");
}

#[test]
fn a_commit_upon_a_run_that_waits_is_told_and_left_out() {
    let world = World::new();
    let (branch, tip) = waiting(&world, &["tea"]);
    let above = world.commit("a", &tip, &[&tip], &[], "more", &[]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &above]);
    let notes = world.sync("a")["notes"].to_string();
    assert!(notes.contains(&branch) && notes.contains("another commit upon the run"), "{notes}");
    world.brain("a", &["merge"]);
    let files = world.git("a", &["ls-tree", "-r", "--name-only", "wake"]);
    assert!(!files.contains("/tea.json"), "it lets nothing in: {files}");
}

#[test]
fn a_decision_of_somebody_else_is_marked_as_one_that_does_not_count() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea"]);
    world.brain("a", &["approve", &branch]);
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"][0]["counts"], true);
    world.write("a", "brain.toml", "[review]\nreviewers = [\"ben@example.org\"]\n");
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "reviewers"]);
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"][0]["counts"], false);
    assert!(world.brain("a", &["review", "--decided"]).contains("does not count"));
}

#[test]
fn what_an_agent_may_no_longer_do_is_said_in_its_belief_diff() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea"]);
    let path = "agents/perception.json";
    let mut agent: Value = serde_json::from_str(&world.read("a", path)).unwrap();
    agent["capabilities"]["operations"] = json!(["activate"]);
    world.write("a", path, &agent.to_string());
    world.git("a", &["commit", "-qam", "narrower"]);
    world.brain("a", &["trust", "--yes"]);
    let said = world.brain("a", &["review", &branch]);
    assert!(said.contains("perception may no longer create"), "{said}");
}

#[test]
fn what_wake_has_reworded_since_is_said_to_stay() {
    let world = World::new();
    world.apply("a", json!([create("tea")]));
    let reword = |concept: &str| json!([{"op": "reword", "id": "tea", "concept": concept}]);
    let (branch, _) = world.waiting("a", "human", reword("green tea"));
    world.apply("a", reword("black tea"));
    let diff = world.json("a", &["review", &branch]);
    let notes = diff["reviews"][0]["notes"].to_string();
    assert!(notes.contains("black tea") && notes.contains("green tea") && notes.contains("does not land"), "{diff}");
    assert_eq!(diff["reviews"][0]["neurons"], json!([]), "bookkeeping is no belief: {diff}");
}

/// Settings of main, committed in `a`.
fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
}

fn branches(world: &World, name: &str) -> Vec<String> {
    world
        .git(name, &["for-each-ref", "--format=%(refname:short)", "refs/heads/agents"])
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_answer_that_waits_is_not_asked_for_again() {
    let world = World::new();
    settings(&world, "[[review.rule]]\nname = \"memories\"\nagents = [\"memory\"]\n");
    world.brain("a", &["feed", "Anna keeps herons."]);
    assert_eq!(branches(&world, "a").len(), 1);
    for args in [&["run"][..], &["run", "--agent", "memory"]] {
        world.brain("a", args);
        assert_eq!(branches(&world, "a").len(), 1, "{args:?}");
    }
    let said = world.brain("a", &["signals", "--unanswered"]);
    assert!(said.contains("its answer waits for review"), "{said}");
}

#[test]
fn two_agents_that_perceive_one_text_are_two_decisions() {
    let world = World::new();
    let mut agent: Value = serde_json::from_str(&world.read("a", "agents/perception.json")).unwrap();
    agent["name"] = json!("second");
    world.write("a", "agents/second.json", &agent.to_string());
    world.git("a", &["add", "agents"]);
    settings(&world, "[[review.rule]]\nname = \"second\"\nagents = [\"second\"]\n");
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "Anna keeps herons."]);
    let waits = branches(&world, "a");
    assert!(matches!(&waits[..], [one] if one.contains("second")), "{waits:?}");
    world.brain("a", &["approve", &waits[0]]);
}

#[test]
fn what_cannot_land_is_not_recorded_as_approved() {
    let world = World::new();
    settings(&world, "[origins]\nwebhook = \"review\"\n");
    world.sync("a");
    world.clone("b");
    world.brain("a", &["feed", "--no-run", "--origin", "webhook:x", "Anna keeps herons."]);
    world.sync("a");
    world.sync("b");
    ["a", "b"].iter().for_each(|name| drop(world.brain(name, &["run"])));
    ["a", "b", "a"].iter().for_each(|name| drop(world.sync(name)));
    let waits = branches(&world, "a");
    assert_eq!(waits.len(), 2, "{waits:?}");
    world.brain("a", &["approve", &waits[0]]);
    for more in [&[][..], &["--dry-run"]] {
        let said = world.try_brain("a", &[&["approve", &waits[1]], more].concat()).exits(3);
        assert!(said.err.contains("was answered already"), "{said}");
    }
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"].as_array().unwrap().len(), 1);
    world.brain("a", &["reject", &waits[1], "--why", "twice"]);
}

#[test]
fn a_decision_that_was_cut_off_is_carried_out_or_changed() {
    let world = World::new();
    let (branch, tip) = waiting(&world, &["tea"]);
    let wake = world.tip("a", "wake");
    world.brain("a", &["approve", &branch]);
    // As after a kill between the record and the merge.
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &tip]);
    let decided = || world.json("a", &["review", "--decided"])["decisions"].as_array().unwrap().clone();
    assert_eq!((&decided()[0]["stands"], &decided()[0]["is_open"]), (&json!(false), &json!(true)));
    assert!(world.brain("a", &["review", "--decided"]).contains("not carried out yet"));
    world.brain("a", &["approve", &branch]);
    assert_eq!(branches(&world, "a"), Vec::<String>::new());
    assert_eq!(decided().len(), 1);
    // Who may decide may also change his mind, while nothing has landed: the newest decision holds.
    world.git("a", &["update-ref", "refs/heads/wake", &wake]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &tip]);
    world.brain("a", &["reject", &branch, "--why", "no"]);
    assert_eq!(branches(&world, "a"), Vec::<String>::new());
    let all: Vec<_> = decided().iter().map(|one| (one["verdict"].clone(), one["stands"].clone())).collect();
    assert_eq!(all, [(json!("reject"), json!(true)), (json!("approve"), json!(false))]);
}

#[test]
fn rules_that_main_has_given_up_stop_no_push() {
    let world = World::gated();
    let rule = |agent: &str| {
        format!("[review]\nreviewers = [\"mara@example.org\"]\n[[review.rule]]\nname = \"p\"\nagents = [\"{agent}\"]\n")
    };
    settings(&world, &rule("perception"));
    world.sync("a");
    world.clone("b");
    world.sync("b");
    settings(&world, &rule("nobody"));
    world.brain("a", &["feed", "Anna keeps herons."]);
    assert_eq!(branches(&world, "a"), Vec::<String>::new());
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn a_program_that_was_started_decides_nothing() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea"]);
    let dir = world.dir("a").display().to_string();
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["-C", &dir, "approve", &branch]);
    let ended = command.env("BRAIN_IN_HOOK", "command").output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(branches(&world, "a"), [branch]);
}

/// A gate where main names a reviewer, and a run that waits there and on a clone whose person is none.
fn named() -> (World, String) {
    let world = World::gated();
    settings(&world, "[review]\nreviewers = [\"ann@example.invalid\"]\n");
    world.sync("a");
    let (branch, _) = waiting(&world, &["tea"]);
    world.sync("a");
    world.clone("b");
    world.git("b", &["config", "user.email", "mallory@example.org"]);
    world.sync("b");
    (world, branch)
}

#[test]
fn commits_that_are_known_already_are_no_way_round_an_approval() {
    let (world, branch) = named();
    let run = format!("origin/{branch}");
    world.git("b", &["fetch", "-q"]);
    let said = world.git_fails("b", &["push", "origin", &format!("{run}:refs/heads/wake")]);
    assert!(said.contains("lands without its approval"), "{said}");
    // Wake as the second parent of a merge upon the run.
    world.brain("a", &["feed", "It rains."]);
    world.sync("a");
    world.git("b", &["fetch", "-q"]);
    let merged = world.git("b", &["merge-tree", "--write-tree", &run, "origin/wake"]);
    let tips = [world.tip("b", &run), world.tip("b", "origin/wake")];
    let merge = world.git("b", &["commit-tree", &merged, "-p", &tips[0], "-p", &tips[1], "-m", "x"]);
    let said = world.git_fails("b", &["push", "origin", &format!("{merge}:refs/heads/wake")]);
    assert!(said.contains("lands without its approval"), "{said}");
    // By any name of its commit.
    for name in [format!("refs/heads/{branch}"), world.tip("b", &branch), format!("{branch}^0")] {
        let said = world.try_brain("b", &["merge", &name]).exits(3);
        assert!(format!("{said}").contains("waits for a decision"), "{said}");
    }
    world.brain("a", &["approve", &branch]);
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.same(&["a", "b"]);
}

#[test]
fn a_run_is_thrown_away_by_a_decision_alone() {
    let (world, branch) = named();
    // What a rejection leaves in wake, without the decision.
    world.brain("a", &["reject", &branch]);
    let left = world.tip("a", "wake^2");
    world.git("remote.git", &["update-ref", "-d", "refs/brain/reviews"]);
    let push = ["push", "origin", &format!("{left}:refs/heads/wake"), &format!(":refs/heads/{branch}")];
    let said = world.git_fails("a", &push);
    assert!(said.contains("thrown away without a decision"), "{said}");
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn several_runs_are_approved_at_once_and_one_that_cannot_be_stops_no_other() {
    let world = World::new();
    let (first, _) = waiting(&world, &["tea"]);
    let (second, _) = waiting(&world, &["coffee"]);
    let said = world.try_brain("a", &["approve", &first, "20260101t000000000z-aaaaaaaa-memory", &second]).exits(2);
    assert!(said.err.contains("is no branch"), "{said}");
    assert_eq!(branches(&world, "a"), Vec::<String>::new());
    ["tea", "coffee"].iter().for_each(|id| drop(world.neuron("a", "wake", id)));
    world.try_brain("a", &["approve", &first, &second, "--only", "1"]).exits(2);
}

#[test]
fn a_second_decision_of_the_same_kind_changes_nothing_and_says_so() {
    let world = World::new();
    let (branch, _) = waiting(&world, &["tea"]);
    world.brain("a", &["reject", &branch, "--why", "a rumour"]);
    let wake = world.tip("a", "wake");
    let said = world.brain("a", &["reject", &branch, "--why", "another reason"]);
    assert!(said.contains("that decision and its reason stay") && !said.contains("Threw away"), "{said}");
    assert_eq!(world.tip("a", "wake"), wake);
    let decided = world.json("a", &["review", "--decided"]);
    assert_eq!(
        (&decided["decisions"][0]["why"], &decided["decisions"][0]["stands"]),
        (&json!("a rumour"), &json!(true))
    );
}

#[test]
fn of_two_decisions_the_list_says_which_stands() {
    let world = World::gated();
    world.clone("b");
    let (branch, _) = world.waiting("a", "perception", json!([create("tea")]));
    ["a", "b"].iter().for_each(|name| drop(world.sync(name)));
    world.brain("a", &["approve", &branch]);
    world.brain("b", &["reject", &branch, "--why", "a rumour"]);
    ["a", "b", "a"].iter().for_each(|name| drop(world.sync(name)));
    for name in ["a", "b"] {
        let decided = world.json(name, &["review", "--decided"]);
        let stands = |verdict: &str| {
            let all = decided["decisions"].as_array().unwrap();
            all.iter().find(|one| one["verdict"] == verdict).map(|one| one["stands"] == true)
        };
        assert_eq!((stands("approve"), stands("reject")), (Some(true), Some(false)), "{decided}");
        assert!(world.brain(name, &["review", "--decided"]).contains("does not stand"));
    }
}

#[test]
fn a_rule_about_an_agent_that_does_not_exist_is_told() {
    let world = World::new();
    settings(&world, "[[review.rule]]\nname = \"typo\"\nagents = [\"memry\", \"perc*\"]\n");
    let told = world.try_brain("a", &["doctor"]).out;
    assert!(told.contains("rule typo of [review] speaks of agent memry") && !told.contains("agent perc"), "{told}");
}
