//! Runs that wait for a person on several machines: thrown away, let in, and answered twice.

use crate::machines::World;
use crate::sandbox::create;
use serde_json::json;

fn remote() -> World {
    let world = World::gated();
    world.clone("b");
    world
}

fn branches(world: &World, name: &str) -> String {
    world.git(name, &["branch", "--list", "agents/*"])
}

#[test]
fn a_run_that_is_rejected_is_gone_on_all_machines_and_stays_so() {
    let world = remote();
    let (branch, first) = world.waiting("a", "perception", json!([create("tea")]));
    world.sync("a");
    world.sync("b");
    assert!(branches(&world, "b").contains(&branch));
    let run = branch.rsplit('/').next().unwrap();
    for command in ["status", "doctor"] {
        let said = world.try_brain("b", &[command]).out;
        assert!(said.contains(&format!("git brain reject {run}")), "{command}: {said}");
    }
    let wake = world.tip("b", "wake");
    assert_eq!(world.json("b", &["reject", "--dry-run", &branch])["everywhere"], true);
    assert_eq!(world.tip("b", "wake"), wake);
    let rejected = world.json("b", &["reject", &branch]);
    assert_eq!((&rejected["branch"], &rejected["everywhere"]), (&json!(branch), &json!(true)), "{rejected}");
    // Another machine says the same meanwhile.
    let run = branch.rsplit('/').next().unwrap();
    world.brain("a", &["reject", run]);
    for name in ["b", "a", "b"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    for name in ["a", "b", "remote.git"] {
        assert_eq!(branches(&world, name), "", "{name}");
    }
    let neurons = world.git("b", &["ls-tree", "-r", "--name-only", "wake", "network/neurons"]);
    assert!(!neurons.contains("/tea.json"), "{neurons}");
    // A machine that has it still brings nothing back.
    world.git("a", &["branch", &branch, &first]);
    world.sync("a");
    world.sync("b");
    for name in ["a", "b", "remote.git"] {
        assert_eq!(branches(&world, name), "", "{name}");
    }
    let said = world.brain("a", &["reject", run]);
    assert!(said.contains("was rejected by"), "{said}");
    let said = world.try_brain("a", &["reject", "main"]).exits(2).err;
    assert!(said.contains("no branch of a run or a sleep"), "{said}");
}

#[test]
fn a_branch_at_a_remote_without_a_gate_goes_with_the_next_sync() {
    let world = World::new();
    world.clone("b");
    let (branch, first) = world.waiting("a", "perception", json!([create("tea")]));
    world.brain("a", &["reject", &branch]);
    world.sync("a");
    // By a program that does not know.
    world.git("a", &["push", "-q", "origin", &format!("{first}:refs/heads/{branch}")]);
    world.sync("b");
    for name in ["a", "b", "remote.git"] {
        assert_eq!(branches(&world, name), "", "{name}");
    }
}

#[test]
fn what_caused_a_rejected_run_does_not_wake_its_agent_again() {
    let world = remote();
    world.git("a", &["config", "brain.origins.webhook", "review"]);
    world.brain("a", &["feed", "--origin", "webhook", "Anna grows tea."]);
    let branch = branches(&world, "a").trim().to_owned();
    assert!(branch.starts_with("agents/perception/"), "{branch}");
    world.brain("a", &["reject", &branch]);
    let ran = world.json("a", &["run"]);
    assert_eq!(ran["runs"], json!([]), "{ran}");
    assert_eq!(branches(&world, "a"), "");
    // The same words can be fed again.
    world.brain("a", &["feed", "Anna grows tea."]);
    assert!(world.json("a", &["recall", "Anna"])["results"].to_string().contains("grows tea"));
}

#[test]
fn a_run_that_another_machine_let_in_waits_nowhere() {
    let world = remote();
    let (branch, _) = world.waiting("a", "perception", json!([create("tea")]));
    world.sync("a");
    world.sync("b");
    world.brain("b", &["merge", &branch]);
    world.sync("b");
    assert!(branches(&world, "a").contains(&branch));
    let synced = world.sync("a");
    assert!(synced["notes"].to_string().contains(&format!("{branch} is gone here")), "{synced}");
    assert_eq!(branches(&world, "a"), "");
    world.same(&["a", "b"]);
}

#[test]
fn of_two_runs_that_answer_the_same_one_is_let_in() {
    let world = remote();
    let sent = world.apply("a", json!([{"op": "signal", "to": "memory", "payload": {"kind": "note"}}]));
    let run = sent["run"].as_str().unwrap();
    world.sync("a");
    world.sync("b");
    let path = world.git("a", &["ls-tree", "-r", "--name-only", "wake", "network/signals/memory"]);
    let signals: Vec<&str> =
        path.lines().filter(|path| world.git("a", &["show", &format!("wake:{path}")]).contains(run)).collect();
    let signal = signals[0].rsplit('/').next().unwrap().trim_end_matches(".json").to_owned();
    let ops = json!([
        {"op": "acknowledge", "signal": signal, "payload": {}},
        {"op": "adjust", "from": "x", "to": "y", "type": "feeds_into", "by": 100}
    ]);
    let (first, _) = world.waiting("a", "memory", ops.clone());
    let (second, _) = world.waiting("b", "memory", ops);
    for name in ["a", "b", "a"] {
        world.sync(name);
    }
    let before = world.weight("a");
    world.brain("a", &["merge", &first]);
    assert_eq!(world.weight("a"), before + 100);
    let said = world.try_brain("a", &["merge", &second]).exits(3).out;
    assert!(said.contains("was answered already") && said.contains(&signal), "{said}");
    assert!(said.contains(&format!("git brain reject {second}")), "{said}");
    world.brain("a", &["reject", &second]);
    for name in ["a", "b"] {
        world.sync(name);
    }
    world.same(&["a", "b"]);
    assert_eq!(world.weight("b"), before + 100);
    assert_eq!(branches(&world, "b"), "");
}

/// What a machine did not hear of, because wake there is not let in, is not pushed against it: the rest goes, and the cause is named.
#[test]
fn a_run_that_was_rejected_elsewhere_and_merged_here_stops_no_other() {
    let world = remote();
    let (first, _) = world.waiting("a", "perception", json!([create("tea")]));
    let (second, _) = world.waiting("a", "perception", json!([create("rum")]));
    world.sync("a");
    world.sync("b");
    for branch in [&first, &second] {
        world.brain("b", &["reject", branch]);
    }
    world.sync("b");
    let (third, _) = world.waiting("a", "perception", json!([create("milk")]));
    world.brain("a", &["merge", &second]);
    // The decision that reached the remote first stands, against a merge by hand as well.
    let notes = world.sync("a")["notes"].to_string();
    assert!(notes.contains(second.rsplit('/').next().unwrap()) && notes.contains("that decision stands"), "{notes}");
    assert!(branches(&world, "remote.git").contains(&third), "what nobody decided on goes on");
    for name in ["b", "a"] {
        world.sync(name);
    }
    assert!(!world.git("a", &["ls-tree", "-r", "--name-only", "wake"]).contains("/rum.json"), "it is taken back");
    world.same(&["a", "b"]);
}
