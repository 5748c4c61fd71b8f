//! Reviews of plain days: runs with nothing to decide on, reasons that are kept, words of bots, parts of ids.

use crate::machines::World;
use crate::review_second::{apply, run_of, world};
use crate::sandbox::create;
use serde_json::json;

const SCRIBE: &str =
    "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

#[test]
fn a_run_without_operations_waits_for_nobody() {
    let world = world(World::gated(), SCRIBE);
    world.clone("b");
    let report = apply(&world, "a", json!([]));
    assert_eq!(report["merged"], true, "{report}");
    assert_eq!(world.json("a", &["review"])["waiting"], json!([]));
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
    // One that was asked for waits, stands last, and teaches nothing.
    let (empty, _) = world.waiting("a", "scribe", json!([]));
    apply(&world, "a", json!([create("tea")]));
    let waiting = world.json("a", &["review"])["waiting"].clone();
    assert_eq!((waiting.as_array().unwrap().len(), &waiting[1]["branch"]), (2, &json!(empty)), "{waiting}");
    world.brain("a", &["reject", &empty]);
    assert_eq!(world.json("a", &["ledger"])["entries"], json!([]));
    world.sync("a");
    world.sync("b");
    world.same(&["a", "b"]);
}

#[test]
fn the_word_of_a_bot_counts_for_logins_alone() {
    let text = "[review]\nreviewers = [\"ben@example.invalid\", \"github:ben\"]\nbots = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
    let world = world(World::gated(), text);
    let (branch, commit) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let (run, wake) = (run_of(&branch).to_owned(), world.tip("a", "wake"));
    let merge = world.commit("a", &commit, &[&wake, &commit], &[], "merge", &[]);
    for (by, counts) in [("ben@example.invalid", false), ("github:", false), ("github:ben", true)] {
        let review = format!("{}-zzzz234{}-human", &run[..19], if counts { 6 } else { 5 - u8::from(by.len() < 9) });
        let record = json!({
            "review": review, "run": run, "commit": commit, "verdict": "approve", "reviewer": "Ann <ann@example.invalid>",
            "via": format!("https://example.invalid/1 by {by}"), "at": world.json("a", &["review", &branch])["reviews"][0]["at"],
        });
        let path = format!("{}/{}/{}/{run}/{review}.json", &run[..4], &run[4..6], &run[6..8]);
        let text = serde_json::to_string_pretty(&record).unwrap() + "\n";
        let forged =
            world.commit("a", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", &[], &[(&path, Some(&text))], "forged", &[]);
        world.git("a", &["update-ref", "refs/brain/reviews", &forged]);
        let decided = world.json("a", &["review", "--decided"])["decisions"][0].clone();
        assert_eq!(decided["counts"], counts, "{by}: {decided}");
        let specs = [format!("{forged}:refs/brain/reviews"), format!("{merge}:refs/heads/wake")];
        let (pushed, said) = world.git_try("a", &["push", "--atomic", "origin", &specs[0], &specs[1]]);
        assert_eq!(pushed, counts, "{by}: {said}");
        assert!(counts || said.contains("none of them has approved it"), "{by}: {said}");
    }
}

#[test]
fn the_reason_of_an_approved_origin_is_kept() {
    let world = World::new();
    world.brain("a", &["feed", "--origin", "web:news.example", "The depot closes at six."]);
    let run = world.json("a", &["review"])["waiting"][0]["run"].as_str().unwrap().to_owned();
    world.brain("a", &["approve", &run]);
    world.brain("a", &["approve", "--origin", "web:news.example", "--why", "the owner\nsaid so"]);
    let id = world.json("a", &["recall", "depot"])["results"][0]["id"].as_str().unwrap().to_owned();
    let why = world.brain("a", &["why", &id]);
    assert!(why.contains("approve: the owner said so"), "{why}");
    assert!(world.brain("a", &["log"]).contains("the owner said so"));
    world.sync("a");
    world.same(&["a"]);
}

#[test]
fn a_part_of_an_id_is_enough_to_merge_and_to_revert() {
    let world = world(World::new(), "");
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let part = run_of(&branch).split('-').nth(1).unwrap().to_owned();
    world.brain("a", &["merge", &part]);
    let (branch, _) = world.waiting("a", "scribe", json!([create("milk")]));
    world.brain("a", &["approve", &branch]);
    // The name of an agent is no run that is meant.
    assert_ne!(world.try_brain("a", &["revert", "scribe"]).code, 0);
    world.brain("a", &["revert", run_of(&branch).split('-').nth(1).unwrap()]);
    assert_ne!(world.try_brain("a", &["show", "milk"]).code, 0);
    world.brain("a", &["show", "tea"]);
}

#[test]
fn the_gate_names_the_decision_where_a_branch_is_deleted_by_hand() {
    let world = world(World::gated(), SCRIBE);
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea")]));
    world.sync("a");
    let said = world.git_fails("a", &["push", "origin", "--delete", &branch]);
    assert!(said.contains("git brain reject RUN") && !said.contains("--without-refused"), "{said}");
}
