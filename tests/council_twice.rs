//! A council of one document has its say on a commit once: several commands at once ask it once, and of a later one nothing follows.

use git_brain::council::record::CouncilRecord;
use git_brain::review::ReviewRecord;
use serde_json::json;

use crate::council_gate::{claim, commit, has, run_of, says, seated_by, text};
use crate::machines::World;
use crate::sandbox::create;

/// A council of two programs: the second approves once its flag is there.
fn torn() -> World {
    seated_by(
        |world| {
            std::fs::create_dir_all(world.sandbox.path("flags")).unwrap();
            let no = says("reject", "The record names no source.");
            let yes = says("approve", "Nobody else says otherwise, and it is short.");
            let torn = format!("if test -e {}/yes; then {yes}; else {no}; fi", world.sandbox.path("flags"));
            vec![says("approve", "The record states one thing."), torn]
        },
        2,
        |world| vec![world.sandbox.path("flags")],
    )
}

fn councils(world: &World, name: &str) -> usize {
    world.json(name, &["council", "--list"])["councils"].as_array().unwrap().len()
}

#[test]
fn council_commands_at_the_same_time_ask_the_members_once() {
    let slow = |_: &World| {
        let slow = |why: &str| format!("sleep 1; {}", says("approve", why));
        vec![slow("The record states one thing."), slow("Nobody else says otherwise, and it is short.")]
    };
    let world = seated_by(slow, 2, |_| Vec::new());
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    let said: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..4).map(|_| scope.spawn(|| world.try_brain("a", &["--json", "council", "--branch", &run]))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert_eq!(councils(&world, "a"), 1, "{said:#?}");
    let first = world.json("a", &["council", "--list"])["councils"][0]["id"].clone();
    for said in said {
        let report = said.exits(0).document();
        assert_eq!((&report["id"], &report["carried"]["verdict"]), (&first, &json!("approve")), "{report:#}");
    }
    assert!(has(&world, "a", "tea"));
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"].as_array().unwrap().len(), 1);
}

/// The files of a council that was asked again after it had left a run to people, and approved: its record and its decision.
fn asked_again(world: &World, run: &str, branch: &str) -> Vec<(String, String)> {
    let refs = world.refs("a");
    world.try_brain("a", &["council", "--branch", run]).exits(1);
    world.sync("a");
    let left = world.refs("a");
    // As on a machine that knows nothing of it.
    world.reset("a", &refs);
    std::fs::write(world.sandbox.path("flags/yes"), "").unwrap();
    let report = world.json("a", &["council", "--branch", run]);
    assert_eq!(report["carried"]["verdict"], "approve", "{report:#}");
    let paths = world.git("a", &["ls-tree", "-r", "--name-only", "refs/brain/reviews"]);
    let records = paths.lines().filter(|path| path.ends_with("/council.json")).map(|path| {
        let bytes = world.git("a", &["show", &format!("refs/brain/reviews:{path}")]);
        CouncilRecord::decode(format!("{}\n", bytes.trim_end()).as_bytes(), path).unwrap()
    });
    let is_its = |record: &CouncilRecord| record.run.as_ref().is_some_and(|of| of.as_str() == run);
    let record = records.into_iter().find(is_its).unwrap();
    world.reset("a", &left);
    let review: ReviewRecord = claim(&record, run, &world.tip("a", branch));
    vec![(record.path(), text(record.encode())), (review.path(), text(review.encode()))]
}

fn decisions(world: &World, files: &[(String, String)], upon: &str) -> String {
    let files: Vec<(&str, Option<&str>)> =
        files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    world.commit("b", upon, &[upon], &files, "approve", &[])
}

#[test]
fn council_that_left_a_run_to_people_decides_nothing_when_it_is_asked_again() {
    let world = torn();
    let (branch, _) = world.waiting("a", "scribe", json!([create("poison")]));
    let run = run_of(&branch);
    let files = asked_again(&world, &run, &branch);
    world.clone("b");
    world.sync("b");
    let tip = world.tip("b", "refs/brain/reviews");
    world.git("b", &["update-ref", "refs/brain/reviews", &decisions(&world, &files, &tip)]);
    let merged = world.try_brain("b", &["merge", &branch]);
    assert!(!has(&world, "b", "poison"), "{merged}");
    let listed = world.json("b", &["review", "--decided"]);
    assert_eq!(listed["decisions"][0]["counts"], false, "{listed:#}");
    let audit = world.try_brain("b", &["audit"]);
    assert!(audit.out.contains("council-twice") && !audit.out.contains("review-forged"), "{audit}");
    // By plain git, past all that our commands would refuse, to the gate.
    world.git("b", &["push", "-q", "origin", "refs/brain/reviews:refs/brain/reviews"]);
    let (pushed, said) = world.git_try("b", &["push", "origin", &format!("{branch}:refs/heads/wake")]);
    assert!(!pushed && said.contains("waits for a decision of boss@example.invalid or of the council"), "{said}");
}

#[test]
fn council_gate_lets_no_council_come_before_one_that_was_there_first() {
    let world = torn();
    let (branch, _) = world.waiting("a", "scribe", json!([create("poison")]));
    let run = run_of(&branch);
    world.try_brain("a", &["council", "Is it late?"]).exits(1);
    world.sync("a");
    world.clone("b");
    let before = world.tip("a", "refs/brain/reviews");
    let files = asked_again(&world, &run, &branch);
    world.sync("b");
    let there = world.tip("b", "refs/brain/reviews");
    // A join whose last parent is not what the remote has.
    let ours = decisions(&world, &files, &before);
    let files: Vec<(&str, Option<&str>)> =
        files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    let join = world.commit("b", &there, &[&there, &ours], &files, "merge reviews", &[]);
    let (pushed, said) = world.git_try("b", &["push", "origin", &format!("{join}:refs/brain/reviews")]);
    assert!(!pushed && said.contains("would come before a council on the same commit"), "{said}");
    let join = world.commit("b", &there, &[&ours, &there], &files, "merge reviews", &[]);
    let (pushed, said) = world.git_try("b", &["push", "origin", &format!("{join}:refs/brain/reviews")]);
    assert!(pushed, "{said}");
}

#[test]
fn council_machine_that_landed_a_run_by_the_later_council_takes_it_back() {
    let world = torn();
    let (branch, _) = world.waiting("a", "scribe", json!([create("poison")]));
    let run = run_of(&branch);
    let refs = world.refs("a");
    world.try_brain("a", &["council", "--branch", &run]).exits(1);
    world.sync("a");
    world.reset("a", &refs);
    std::fs::write(world.sandbox.path("flags/yes"), "").unwrap();
    world.json("a", &["council", "--branch", &run]);
    assert!(has(&world, "a", "poison"));
    let said = world.refused("a");
    assert!(said.contains("waits for a decision of boss@example.invalid or of the council"), "{said}");
    world.json("a", &["sync", "--without-refused"]);
    assert!(!has(&world, "a", "poison"));
    assert!(world.json("a", &["review"])["waiting"].to_string().contains(&run));
    let said = world.try_brain("a", &["council", "--branch", &run]).exits(3);
    assert!(said.err.contains("left it to people"), "{said}");
}

#[test]
fn council_of_another_document_may_be_asked_after_the_first() {
    let world = torn();
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let run = run_of(&branch);
    world.try_brain("a", &["council", "--branch", &run]).exits(1);
    world.try_brain("a", &["council", "--branch", &run]).exits(3);
    std::fs::write(world.sandbox.path("flags/yes"), "").unwrap();
    let document = world.git("a", &["show", "main:council.json"]);
    let other = document.replacen("{\"members\"", "{\"thresholds\":{\"confidence\":0.6},\"members\"", 1);
    assert_ne!(other, document);
    commit(&world, "a", &[("council.json", other)]);
    let report = world.json("a", &["council", "--branch", &run]);
    assert_eq!(report["carried"]["verdict"], "approve", "{report:#}");
}
