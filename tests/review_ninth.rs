//! Days of a team: reviewers who leave, runs beside the one that remembers, words that come from elsewhere, texts that stand twice.

use crate::machines::World;
use crate::mcp::Client;
use crate::review_second::{as_person, world};
use crate::review_seventh::{LOCK, NEW, OLD, TWO, belief, sync, two, waiting};
use crate::sandbox::{Sandbox, delta};
use crate::subjects::{NAME, keys, recalled, shared};
use serde_json::{Value, json};

/// Main names that person no more as one who may decide.
pub fn leaves(world: &World, person: &str) {
    let settings = world.read("a", "brain.toml").replace(&format!("\"{person}@example.invalid\", "), "");
    world.write("a", "brain.toml", &settings.replace(&format!(", \"{person}@example.invalid\""), ""));
    world.git("a", &["commit", "-qam", &format!("{person} leaves")]);
    world.brain("a", &["trust", "--yes"]);
    sync(world, &["a", "b"]);
    world.brain("b", &["trust", "--yes"]);
}

#[test]
fn words_that_a_reviewer_took_back_stay_so_when_the_reviewer_leaves() {
    let world = two(TWO);
    let run = waiting(&world, json!([belief("n-lock", LOCK)]));
    as_person(&world, "b", "ben", &["reject", &run, "--why", "not ours"]).exits(0);
    sync(&world, &["b", "a"]);
    as_person(&world, "a", "mara", &["review", &run, "--forget"]).exits(0);
    sync(&world, &["a", "b"]);
    leaves(&world, "mara");
    for machine in ["a", "b"] {
        for question in [&["prime"][..], &["--json", "review", "--decided"]] {
            let said = world.brain(machine, question);
            assert!(said.contains("not ours") && !said.contains("lock keeper"), "{machine} {question:?}: {said}");
        }
    }
}

#[test]
fn belief_keeps_who_let_it_in_when_the_reviewer_leaves_and_when_a_rejection_was_taken_back() {
    let world = two(TWO);
    let run = waiting(&world, json!([belief("n-lock", LOCK)]));
    as_person(&world, "b", "mara", &["approve", &run, "--why", "legal said so"]).exits(0);
    sync(&world, &["b", "a"]);
    let other = waiting(&world, json!([belief("n-boat", "The green boat of Nils leaks at the bow.")]));
    as_person(&world, "b", "mara", &["reject", &other, "--why", "a rumour"]).exits(0);
    as_person(&world, "b", "ben", &["review", &other, "--again", "--why", "ben saw it"]).exits(0);
    sync(&world, &["b", "a"]);
    leaves(&world, "mara");
    for machine in ["a", "b"] {
        let why = world.brain(machine, &["why", "n-lock"]);
        assert!(why.contains("approved by mara: legal said so"), "{machine}: {why}");
        let why = world.brain(machine, &["why", "n-boat"]);
        assert!(why.contains("the rejection was taken back by ben, as "), "{machine}: {why}");
        assert!(why.contains("ben saw it"), "{machine}: {why}");
        let prime = world.brain(machine, &["prime"]);
        assert_eq!(
            prime.matches("approved by a reviewer").count(),
            2,
            "{machine}: {prime} {}",
            world.brain(machine, &["review", "--decided"])
        );
    }
}

#[test]
fn run_that_is_no_memory_of_a_correction_archives_nothing_and_says_nothing_else() {
    let world = world(World::new(), "");
    as_person(&world, "a", "ben", &["feed", OLD]).exits(0);
    let old = world.json("a", &["recall", "Kyoto"])["results"][0]["id"].as_str().unwrap().to_owned();
    let noter = json!({
        "name": "noter", "role": "Notes.", "trigger": {"any": [{"state": "input_queue_not_empty"}]},
        "cognition": {"kind": "command", "argv": ["sh", "-c", "cat >/dev/null; echo '{\"ops\":[]}'"]},
        "capabilities": {"operations": ["create"], "types": ["semantic"]},
    });
    world.write("a", "agents/noter.json", &noter.to_string());
    world.write("a", "brain.toml", "[[review.rule]]\nname = \"all\"\nagents = [\"*\"]\n");
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qam", "noter"]);
    world.brain("a", &["trust", "--yes"]);
    world.brain("a", &["feed", "--corrects", &old, NEW]);
    let waiting = world.json("a", &["review"])["waiting"].clone();
    let of = |agent: &str| -> Value {
        let run = waiting.as_array().unwrap().iter().find(|one| one["agent"] == agent);
        world.json("a", &["review", run.unwrap_or_else(|| panic!("{waiting}"))["run"].as_str().unwrap()])
    };
    assert!(!of("noter").to_string().contains("Kyoto"), "{}", of("noter"));
    assert!(of("perception").to_string().contains("Kyoto"), "{}", of("perception"));
}

#[test]
fn rewording_from_elsewhere_says_that_agents_are_told_neither() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([belief("n-api", "The interface allows sixty requests a minute.")])), &[]);
    let concept = "The interface allows ninety requests a minute.";
    let change = delta(json!([{"op": "reword", "id": "n-api", "concept": concept}]));
    let made = Client::named(&sandbox, "editor").call("propose", json!({"delta": change}));
    let run = made["run"].as_str().unwrap();
    for args in [&["review", run][..], &["approve", run, "--dry-run"], &["approve", run]] {
        let said = sandbox.brain(args).exits(0);
        let is_said =
            ["agents are told n-api no more", "`git brain approve n-api`"].iter().all(|one| said.out.contains(one));
        assert!(is_said, "{args:?}: {said}");
    }
    sandbox.brain(&["approve", "n-api"]).exits(0);
    assert!(sandbox.brain(&["prime"]).exits(0).out.contains("ninety requests"));
}

#[test]
fn correction_names_the_memory_that_says_the_same() {
    let world = World::new();
    world.brain("a", &["feed", OLD]);
    world.brain("a", &["feed", "--again", OLD]);
    let found = world.json("a", &["recall", "Kyoto"])["results"][0].clone();
    let (old, twin) = (found["id"].as_str().unwrap(), found["also"][0]["id"].as_str().unwrap());
    for args in [&["feed", "--dry-run", "--corrects", old, NEW][..], &["feed", "--corrects", old, NEW]] {
        let said = world.brain("a", args);
        assert!(said.contains(&format!("{twin} says what {old} says, and stays")), "{said}");
    }
    assert!(!world.brain("a", &["feed", "--corrects", twin, NEW]).contains("says what"));
}

#[test]
fn forgetting_that_is_refused_is_not_done_again() {
    let (world, _) = shared();
    let old = world.tip("a", "wake");
    world.json("a", &["subject", "forget", NAME]);
    let run = world.tip("a", "wake^2");
    let forged = world.commit("a", &run, &[&old], &[], "tidy\n", &[("GIT_AUTHOR_EMAIL", "sleep@git-brain.invalid")]);
    let from = world.dir("a").display().to_string();
    world.git("a", &["update-ref", "refs/heads/side", &forged]);
    world.git("b", &["fetch", "-q", &from, "side"]);
    world.git("b", &["update-ref", "refs/heads/wake", &forged]);
    world.try_brain("b", &["sync"]).exits(3);
    for args in [&["sync", "--without-refused", "--dry-run"][..], &["sync", "--without-refused"]] {
        let said = world.brain("b", args);
        assert!(said.contains("is not done again: it forgets a subject"), "{said}");
    }
    assert_eq!(keys(&world.sandbox).len(), 1);
    assert_eq!(recalled(&world.json("b", &["recall", "--sealed", "marzipan"])).len(), 1);
}

/// A statement stands as long as one of those that made it does: whoever takes the others back, in whichever order, and whatever machines know.
#[test]
fn statement_stands_while_one_that_made_it_does() {
    // A person says what a run says that waits, which lands and is taken back; or its approval gives way.
    for crosses in [false, true] {
        let world = two(TWO);
        let run = waiting(&world, json!([belief("n-lock", LOCK)]));
        if crosses {
            as_person(&world, "b", "ben", &["reject", &run, "--why", "a lie"]).exits(0);
            world.sync("b");
        }
        world.apply("a", json!([belief("n-lock", LOCK)]));
        world.brain("a", &["sleep"]);
        as_person(&world, "a", "mara", &["approve", &run]).exits(0);
        if !crosses {
            sync(&world, &["a", "b"]);
            as_person(&world, "b", "ben", &["revert", &run]).exits(0);
        }
        sync(&world, &["b", "a", "b"]);
        told(&world, true);
    }
    // Two runs say it, and one is taken back by a machine that does not know of the other.
    let world = two(TWO);
    let runs = [waiting(&world, json!([belief("n-lock", LOCK)])), waiting(&world, json!([belief("n-lock", LOCK)]))];
    as_person(&world, "b", "ben", &["approve", &runs[0]]).exits(0);
    sync(&world, &["b", "a"]);
    as_person(&world, "a", "mara", &["revert", &runs[0]]).exits(0);
    as_person(&world, "b", "ben", &["approve", &runs[1]]).exits(0);
    sync(&world, &["a", "b", "a"]);
    told(&world, true);
    as_person(&world, "a", "mara", &["revert", &runs[1]]).exits(0);
    sync(&world, &["a", "b", "a"]);
    told(&world, false);
}

#[test]
fn rejection_that_two_took_back_stands_once_both_are_reverted_on_machines_that_did_not_know() {
    for known in [true, false] {
        let world = two(TWO);
        let run = waiting(&world, json!([belief("n-lock", LOCK)]));
        as_person(&world, "b", "ben", &["reject", &run, "--why", "a lie"]).exits(0);
        sync(&world, &["b", "a"]);
        let again = |machine: &str, person: &str| {
            let made = as_person(&world, machine, person, &["--json", "review", &run, "--again"]).exits(0).document();
            made["again"][0]["again"]["run"].as_str().unwrap().to_owned()
        };
        let (first, second) = (again("a", "mara"), again("b", "ben"));
        let order: &[&str] = if known { &["a", "b", "a"] } else { &["a", "b"] };
        sync(&world, order);
        as_person(&world, "a", "mara", &["revert", &first]).exits(0);
        if known {
            as_person(&world, "b", "ben", &["revert", &second]).exits(0);
        }
        sync(&world, &["a", "b", "a", "b"]);
        told(&world, !known);
    }
}

fn told(world: &World, is_told: bool) {
    world.same(&["a", "b"]);
    for machine in ["a", "b"] {
        told_at(world, machine, is_told);
    }
    let before = world.json("a", &["recall", "lock keeper"])["results"].to_string();
    assert_eq!(before.contains(LOCK), is_told, "{before}");
}

/// The run by which Ben takes something back.
fn taken_back(world: &World, args: &[&str]) -> String {
    let made = as_person(world, "b", "ben", &[&["--json"], args].concat()).exits(0).document();
    made["by"][0].as_str().unwrap_or_default().to_owned()
}

fn run_of(made: &Value) -> String {
    made["run"].as_str().unwrap().to_owned()
}

fn told_at(world: &World, machine: &str, is_told: bool) {
    let prime = world.brain(machine, &["prime"]);
    let memories = prime.split("Lessons").next().unwrap_or_default().to_owned()
        + prime.split("Memories").nth(1).unwrap_or_default();
    assert_eq!(memories.contains(LOCK), is_told, "{machine}: {prime}");
    assert!(world.brain(machine, &["check"]).contains("all good"));
}

/// Who archived it ends it for all who say it, whoever else took back what.
#[test]
fn what_a_person_archived_does_not_come_back_by_a_revert_elsewhere() {
    let world = two(TWO);
    let runs = [waiting(&world, json!([belief("n-lock", LOCK)])), waiting(&world, json!([belief("n-lock", LOCK)]))];
    as_person(&world, "b", "ben", &["approve", &runs[0]]).exits(0);
    sync(&world, &["b", "a"]);
    let archived = world.apply("a", json!([{"op": "archive", "id": "n-lock", "reason": "wrong"}]));
    as_person(&world, "b", "ben", &["approve", &runs[1]]).exits(0);
    as_person(&world, "b", "ben", &["revert", &runs[0]]).exits(0);
    sync(&world, &["a", "b", "a"]);
    told(&world, false);
    as_person(&world, "b", "ben", &["revert", archived["run"].as_str().unwrap()]).exits(0);
    sync(&world, &["b", "a"]);
    told(&world, true);
}

/// A revert of either revert brings the statement back, also after the nights that remove what nothing keeps.
#[test]
fn statement_of_two_comes_back_by_the_revert_of_either_revert() {
    for (nights, first) in [(0, true), (0, false), (3, true), (3, false)] {
        let world = two(TWO);
        let runs = [waiting(&world, json!([belief("n-lock", LOCK)])), waiting(&world, json!([belief("n-lock", LOCK)]))];
        let by = |args: &[&str]| taken_back(&world, args);
        runs.iter().for_each(|run| drop(as_person(&world, "b", "ben", &["approve", run]).exits(0)));
        let reverts = [by(&["revert", &runs[0]]), by(&["revert", &runs[1]])];
        for _ in 0..nights {
            world.brain("b", &["sleep"]);
        }
        let of = usize::from(!first);
        let told_before = as_person(&world, "b", "ben", &["revert", "--dry-run", &reverts[of]]).exits(0);
        assert!(told_before.out.contains("n-lock"), "{told_before}");
        by(&["revert", &reverts[of]]);
        sync(&world, &["b", "a"]);
        told(&world, true);
        by(&["revert", &runs[of]]);
        sync(&world, &["b", "a"]);
        told(&world, false);
    }
}

/// Reverts of reverts: what was taken back while another said it as well is taken back again once that one says it no more; what a night removed comes
/// back also when others said it since.
#[test]
fn statement_follows_reverts_of_reverts() {
    let world = two(TWO);
    let by = |args: &[&str]| taken_back(&world, args);
    let said = run_of(&world.apply("b", json!([belief("n-lock", LOCK)])));
    let other = waiting(&world, json!([belief("n-lock", LOCK)]));
    as_person(&world, "b", "ben", &["approve", &other]).exits(0);
    // Another says it while this is taken back, and back again.
    let back = by(&["revert", &said]);
    let again = by(&["revert", &back]);
    let of_other = by(&["revert", &other]);
    told_at(&world, "b", true);
    by(&["revert", &again]);
    told_at(&world, "b", false);
    // A night, then a new saying that is taken back to the byte, and the first comes back.
    world.brain("b", &["sleep"]);
    let anew = run_of(&world.apply("b", json!([belief("n-lock", LOCK)])));
    by(&["revert", &anew]);
    by(&["revert", &of_other]);
    told_at(&world, "b", true);
    sync(&world, &["b", "a"]);
    told(&world, true);
}

/// A memory that was archived and restored twice is archived by those archivals that no restoring knew of which stands.
#[test]
fn memory_follows_reverts_of_what_restored_it() {
    let world = two(TWO);
    let by = |args: &[&str]| taken_back(&world, args);
    let archive = || run_of(&world.apply("b", json!([{"op": "archive", "id": "n-lock", "reason": "old"}])));
    let restore = || run_of(&as_person(&world, "b", "ben", &["--json", "restore", "n-lock"]).exits(0).document());
    world.apply("b", json!([belief("n-lock", LOCK)]));
    let first = archive();
    let free = restore();
    let second = archive();
    let last = restore();
    // The last one knew of both archivals.
    by(&["revert", &free]);
    told_at(&world, "b", true);
    by(&["revert", &last]);
    told_at(&world, "b", false);
    by(&["revert", &second]);
    told_at(&world, "b", false);
    let back = by(&["revert", &first]);
    told_at(&world, "b", true);
    by(&["revert", &back]);
    told_at(&world, "b", false);
    sync(&world, &["b", "a"]);
    told(&world, false);
}

/// Words stay, with the origin of who still says them, and whoever takes a run back is told so.
#[test]
fn words_of_a_person_stay_that_persons_when_an_origin_is_taken_back() {
    let world = two(TWO);
    let dir = world.dir("a").display().to_string();
    let proposal = json!({"delta": delta(json!([belief("n-lock", LOCK)]))});
    let made = Client::within(&world.sandbox, &dir, "editor").call("propose", proposal);
    let theirs = made["run"].as_str().unwrap().to_owned();
    let own = world.apply("b", json!([belief("n-lock", LOCK)]))["run"].as_str().unwrap().to_owned();
    as_person(&world, "a", "ben", &["approve", &theirs]).exits(0);
    sync(&world, &["a", "b", "a"]);
    for args in [&["revert", "--dry-run", "--origin", "mcp:editor"][..], &["revert", "--origin", "mcp:editor"]] {
        let said = as_person(&world, "a", "ben", args).exits(0).out;
        assert!(said.contains(&format!("n-lock stays: {own} says it as well")), "{said}");
    }
    sync(&world, &["a", "b"]);
    told(&world, true);
    let review = world.brain("a", &["review", &theirs]);
    assert!(review.contains("of others wake has n-lock"), "{review}");
}
