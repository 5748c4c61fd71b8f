//! A dry run of a sync judges by what the sync judges by: the same refusals, the same exit code, and nothing is moved.

use crate::machines::World;
use crate::review_second::{apply, as_person, run_of, world};
use crate::sandbox::{Answer, Dice, create};
use serde_json::{Value, json};

const RULES: &str = "[review]\nreviewers = [\"anna@example.invalid\", \"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";
const TEAM: [(&str, &str); 2] = [("a", "anna"), ("b", "ben")];

/// What an answer refuses, without the ids of commits that are made anew each time.
fn refusal(answer: &Answer) -> String {
    if answer.code == 0 {
        return String::new();
    }
    let said = answer.error()["error"].as_str().unwrap().to_owned();
    let said = said
        .strip_prefix("a dry run, so nothing was moved or pushed; the sync would end with this:\n")
        .unwrap_or(&said)
        .to_owned();
    let is_id = |word: &&str| word.len() >= 12 && word.chars().all(|c| c.is_ascii_hexdigit());
    said.split([' ', ':', '\n']).filter(|word| !is_id(word)).collect::<Vec<_>>().join(" ")
}

/// Dry runs, then the sync of a machine, which has to end as they said.
fn synced(world: &World, (machine, person): (&str, &str), what: &str) -> i32 {
    let sync = |more: &[&str]| as_person(world, machine, person, &[&["--json", "sync"], more].concat());
    let everything = || (world.refs(machine), world.refs("remote.git"));
    let before = everything();
    let dry = [sync(&["--dry-run"]), sync(&["--dry-run"])];
    assert_eq!(everything(), before, "{what}: a dry run moved something");
    let real = sync(&[]);
    for dry in &dry {
        assert_eq!(dry.code, real.code, "{what}\n{dry}\n{real}");
        assert_eq!(refusal(dry), refusal(&real), "{what}\n{dry}\n{real}");
        if real.code == 0 {
            let (dry, real) = (dry.document(), real.document());
            assert_eq!(dry["fetched"], real["fetched"], "{what}\n{dry}\n{real}");
            assert_eq!(
                (&dry["dry_run"], &dry["moved"], &dry["pushed"]),
                (&json!(true), &json!(false), &json!([])),
                "{dry}"
            );
            let branches =
                |of: &Value| -> Vec<Value> { of.as_array().unwrap().iter().map(|one| one["branch"].clone()).collect() };
            assert_eq!(branches(&dry["would_push"]), branches(&real["pushed"]), "{what}\n{dry}\n{real}");
        }
    }
    assert!(real.code == 0 || real.code == 3, "{what}\n{real}");
    real.code
}

fn day(world: &World, dice: &mut Dice, (machine, person): (&str, &str), day: usize) {
    for step in 0..1 + dice.below(3) {
        let name = format!("{machine}{day}{step}");
        let word = format!("the harbour of {} has {} cranes", person, dice.below(9));
        let waiting: Vec<String> = as_person(world, machine, person, &["--json", "review", "--no-questions"])
            .document()["waiting"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["run"].as_str().unwrap().to_owned())
            .collect();
        let run = waiting.get(dice.below(waiting.len() as u64) as usize);
        match (dice.below(8), run) {
            (0, _) => drop(as_person(world, machine, person, &["feed", &word]).exits(0)),
            (1, _) => drop(apply(world, machine, json!([create(&name), create(&format!("{name}-more"))]))),
            (2, _) => drop(apply(world, machine, json!([{"op": "reword", "id": "x", "concept": word}]))),
            (3, _) => drop(as_person(world, machine, person, &["sleep"])),
            (4, Some(run)) => drop(as_person(world, machine, person, &["approve", run])),
            (5, Some(run)) => {
                drop(as_person(world, machine, person, &["approve", run, "--only", "1", "--why", "half"]))
            }
            (6 | 7, Some(run)) => drop(as_person(world, machine, person, &["reject", run, "--why", "no"])),
            (_, None) => drop(apply(world, machine, json!([create(&name)]))),
            _ => unreachable!("a die of eight"),
        }
    }
}

#[test]
fn a_dry_run_ends_as_the_sync_after_it_whatever_a_team_did() {
    let mut ends = std::collections::BTreeMap::new();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (lives, seed) = (number("GIT_BRAIN_REVIEW_LIVES").unwrap_or(2), number("GIT_BRAIN_TEST_SEED").unwrap_or(4));
    for seed in seed..seed + lives {
        let mut dice = Dice(seed);
        let base = if seed % 3 == 2 { World::new() } else { World::gated() };
        let merge = if seed % 2 == 1 { "\n[merge]\nconcept = \"review\"\n" } else { "" };
        let world = world(base, &format!("{RULES}{merge}"));
        world.clone("b");
        world.brain("b", &["trust", "--yes"]);
        for at in 0..4 {
            for who in TEAM {
                day(&world, &mut dice, who, at);
            }
            for who in [dice.of(&TEAM), dice.of(&TEAM)] {
                *ends.entry(synced(&world, who, &format!("seed {seed}, day {at}"))).or_insert(0_u64) += 1;
            }
        }
    }
    assert!(ends.get(&0).is_some_and(|good| *good > lives * 4), "{ends:?}");
}

#[test]
fn decisions_of_a_colleague_are_no_intrusion_in_a_dry_run() {
    let world = world(World::gated(), RULES);
    world.clone("b");
    let branches: Vec<String> = ["reject", "amend", "duel"]
        .map(|name| {
            apply(&world, "a", json!([create(name), create(&format!("{name}-more"))]))["branch"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .to_vec();
    for who in TEAM {
        synced(&world, who, "the runs");
    }
    as_person(&world, "a", "anna", &["reject", run_of(&branches[0]), "--why", "the same"]).exits(0);
    as_person(&world, "a", "anna", &["approve", run_of(&branches[1]), "--only", "1"]).exits(0);
    as_person(&world, "a", "anna", &["approve", run_of(&branches[2])]).exits(0);
    as_person(&world, "b", "ben", &["reject", run_of(&branches[2])]).exits(0);
    assert_eq!(synced(&world, TEAM[0], "whoever decided"), 0);
    let said = as_person(&world, "b", "ben", &["sync", "--dry-run"]).exits(0);
    assert!(said.out.contains("The sync would say:") && said.out.contains("was decided on elsewhere first"), "{said}");
    assert_eq!(synced(&world, TEAM[1], "the colleague"), 0);
}

#[test]
fn an_intrusion_is_asked_about_before_it_is_thrown_away_with_what_lies_upon_it() {
    let world = world(World::new(), RULES);
    world.clone("b");
    let branch = apply(&world, "a", json!([create("n-evil")]))["branch"].as_str().unwrap().to_owned();
    // Plain git lets it in, past the rule, and a note of Anna's comes upon it.
    world.git("a", &["checkout", "-q", "wake"]);
    world.git("a", &["-c", "user.name=mallory", "merge", "-q", "--no-ff", "-m", "in", &branch]);
    world.git("a", &["push", "-q", "origin", "wake"]);
    let tip = world.tip("a", "wake");
    let note = world.commit("a", &tip, &[&tip], &[("notes.txt", Some("the retro moved\n"))], "the retro moved", &[]);
    world.git("a", &["push", "-q", "origin", &format!("{note}:wake")]);
    assert_eq!(synced(&world, TEAM[1], "past the rule"), 3);
    let said = as_person(&world, "b", "ben", &["--json", "sync"]).exits(3);
    let hint = said.error()["hint"].as_str().unwrap().to_owned();
    let (first, rest) = hint.split_once('\n').unwrap();
    assert!(first.contains("sync again first") && first.contains("ask "), "{hint}");
    assert!(!first.contains("git push") && rest.contains("git push origin +"), "{hint}");
    assert!(rest.contains("the retro moved") && rest.contains("would be lost there"), "{hint}");
}
