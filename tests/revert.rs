//! Taking back: exactly what a run did, or all that came from an origin; what others did since stays.

use crate::machines::World;
use crate::sandbox::{self, Sandbox, adjust, connect, create, delta};
use serde_json::{Value, json};

const MCP: &str = "mcp:editor";

fn brain() -> Sandbox {
    let sandbox = Sandbox::fixed(sandbox::NOW, "revert");
    sandbox.json(&["feed", "Anna grows green tea in Uji."]);
    sandbox
}

fn tree(sandbox: &Sandbox, folder: &str) -> String {
    sandbox.git(&["rev-parse", &format!("wake:network/{folder}")])
}

fn run_of(report: &Value) -> String {
    report["run"].as_str().unwrap().to_owned()
}

#[test]
fn an_origin_taken_back_leaves_exactly_the_tree_of_before() {
    let sandbox = brain();
    let neurons = tree(&sandbox, "neurons");
    let folder = |name: &str| sandbox.documents("wake", &format!("network/{name}"));
    let (flags, goals) = (folder("flags"), folder("goals"));
    for text in ["Urgent! Immediately! Green tea from Uji is poison.", "Boris sells poison in Uji.", "Anna is Boris."] {
        sandbox.json(&["feed", text, "--origin", MCP]);
    }
    sandbox.json(&["feed", "Anna waits.", "--origin", MCP, "--no-run"]);
    assert_ne!(tree(&sandbox, "neurons"), neurons);
    let refs = sandbox.refs();
    let shown = sandbox.json(&["revert", "--origin", "mcp", "--dry-run"]);
    assert!(shown["runs"].as_array().unwrap().len() >= 6, "{shown}");
    assert_eq!(sandbox.refs(), refs, "a dry run writes nothing");
    let done = sandbox.json(&["revert", "--origin", MCP]);
    assert_eq!(tree(&sandbox, "neurons"), neurons, "{done}");
    assert_eq!((folder("flags"), folder("goals")), (flags, goals));
    assert_eq!(
        done["exact"].as_u64().unwrap() as usize,
        done["neurons"].as_array().unwrap().len() + done["removed"].as_array().unwrap().len()
    );
    let message = sandbox.git(&["log", "-1", "--format=%B", "wake^2"]);
    assert!(message.contains("Reverts: "), "{message}");
    let quiet = sandbox.json(&["run"]);
    assert!(quiet["runs"].as_array().unwrap().is_empty(), "neither its queue nor its signals wake anybody: {quiet}");
    assert_eq!(tree(&sandbox, "neurons"), neurons);
    let again = sandbox.json(&["revert", "--origin", MCP]);
    assert!(again["runs"].as_array().unwrap().is_empty() && !again["notes"].as_array().unwrap().is_empty(), "{again}");
    sandbox.brain(&["check"]).exits(0);
    sandbox.fsck();
    println!("{} runs taken back, {} neurons exactly as before", done["runs"].as_array().unwrap().len(), done["exact"]);
}

#[test]
fn what_others_did_meanwhile_stays() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20_000)])), &[]);
    let bad = run_of(&sandbox.apply(
        &delta(json!([adjust("a", "b", "feeds_into", 5_000), create("c"), connect("a", "c", "feeds_into", 3_000),
            {"op": "flag", "name": "alarm", "value": true}, {"op": "reword", "id": "b", "concept": "evil"}])),
        &[],
    ));
    sandbox.apply(
        &delta(json!([adjust("a", "b", "feeds_into", 70), create("d"), connect("d", "c", "recalls", 900)])),
        &[],
    );
    sandbox.json(&["revert", "--run", &bad]);
    assert_eq!(sandbox.weight("a", "b", "feeds_into"), Some(20_070), "what was added since stays");
    assert_eq!(sandbox.neuron("b")["concept"], "b");
    assert_eq!(sandbox.weight("d", "c", "recalls"), Some(900), "what others tied to it stays tied");
    let made = sandbox.neuron("c");
    assert!(made["archived"] == made["run"], "emptied and archived, because something still points to it: {made}");
    assert!(sandbox.documents("wake", "network/flags").is_empty());
    sandbox.brain(&["revert", "--run", &bad]).exits(3);
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn taking_back_what_was_taken_back_restores_it() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20_000)])), &[]);
    let before = tree(&sandbox, "neurons");
    let run =
        run_of(&sandbox.apply(
            &delta(json!([create("c"), adjust("a", "b", "feeds_into", 7), connect("c", "a", "recalls", 5)])),
            &[],
        ));
    let after = tree(&sandbox, "neurons");
    let back = sandbox.json(&["revert", "--run", &run]);
    assert_eq!(tree(&sandbox, "neurons"), before);
    let again = sandbox.json(&["revert", "--run", back["by"][0].as_str().unwrap()]);
    assert_eq!(tree(&sandbox, "neurons"), after, "{again}");
    let third = sandbox.json(&["revert", "--run", &run]);
    assert_eq!(tree(&sandbox, "neurons"), before, "it is in force again, and can be taken back again: {third}");
}

#[test]
fn a_reverted_run_stays_reverted_when_its_branch_is_merged_again() {
    let sandbox = Sandbox::new();
    sandbox.apply(&delta(json!([create("a"), create("b"), connect("a", "b", "feeds_into", 20_000)])), &[]);
    let before = tree(&sandbox, "neurons");
    let report = sandbox.apply(&delta(json!([create("c"), adjust("a", "b", "feeds_into", 7)])), &["--no-merge"]);
    let commit = report["commit"].as_str().unwrap().to_owned();
    sandbox.json(&["merge", report["branch"].as_str().unwrap()]);
    // A copy of the run that shares no merge with wake, as a squash or a cherry-pick makes it.
    let tree_id = sandbox.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    let parent = sandbox.git(&["rev-parse", &format!("{commit}^")]);
    let copy = sandbox.git(&["commit-tree", &tree_id, "-p", &parent, "-m", "the same again"]);
    sandbox.json(&["revert", "--run", &run_of(&report)]);
    assert_eq!(tree(&sandbox, "neurons"), before);
    sandbox.json(&["merge", &copy]);
    assert_eq!(tree(&sandbox, "neurons"), before);
}

#[test]
fn what_sleep_has_put_on_main_goes_with_the_next_one() {
    let mut sandbox = brain();
    let poison = run_of(
        &sandbox.apply(&delta(json!([create("poison"), connect("poison", "n_core_memory", "recalls", 9_000)])), &[]),
    );
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "poison").is_some());
    sandbox.json(&["revert", "--run", &poison]);
    sandbox.at("2026-01-27T14:32:00Z");
    sandbox.json(&["sleep"]);
    assert!(sandbox.neuron_path("main", "poison").is_none());
    assert!(sandbox.neuron_path("wake", "poison").is_none());
    sandbox.brain(&["check", "main"]).exits(0);
}

#[test]
fn only_outsiders_are_taken_back_whole() {
    let sandbox = brain();
    for origin in ["local", "bootstrap"] {
        sandbox.brain(&["revert", "--origin", origin]).exits(3);
    }
    sandbox.brain(&["revert"]).exits(2);
    sandbox.brain(&["revert", "--run", "20260126t143100000z-abcd2345-memory"]).exits(3);
    sandbox.brain(&["revert", "--run", "x"]).exits(2);
}

/// What git itself takes back is taken back: the text that the run perceived does not wait again.
#[test]
fn a_merge_that_git_reverts_is_not_perceived_again() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "Ben keeps nine herons in Oslo."]);
    let merges = sandbox.lines(&["log", "--merges", "--format=%H %s", "wake"]);
    let merge = merges.iter().find(|line| line.contains("perception")).unwrap().split(' ').next().unwrap();
    // What `git revert -m 1` makes, but for the runs that came after it, which would only conflict.
    let message = format!("Revert\n\nThis reverts commit {merge}, reversing\nchanges made to {merge}^1.");
    let reverted = sandbox.git(&["commit-tree", "-p", "wake", "-m", &message, &format!("{merge}^1^{{tree}}")]);
    sandbox.git(&["update-ref", "refs/heads/wake", &reverted]);
    assert!(sandbox.brain(&["status"]).out.contains("(1 waiting)"));
    sandbox.brain(&["doctor"]);
    sandbox.brain(&["run"]).exits(0);
    let found = sandbox.brain(&["recall", "herons"]);
    assert!(!found.out.contains("nine herons"), "{found}");
    assert!(sandbox.brain(&["status"]).out.contains("1 stimulus (0 waiting)"), "{}", sandbox.brain(&["status"]));
}

#[test]
fn a_concept_that_memories_of_others_have_stays_theirs() {
    let sandbox = Sandbox::new();
    let texts =
        ["Emil: I sold the passport in Lyon.", "Anna: I sold the bicycle in Oslo.", "Ben: I sold the violin in Bern."];
    let first = sandbox.json(&["feed", texts[0]]);
    let run = first["runs"].as_array().unwrap().iter().find(|run| run["agent"] == "perception").unwrap()["run"].clone();
    for text in &texts[1..] {
        sandbox.brain(&["feed", text]).exits(0);
    }
    let sold = |sandbox: &Sandbox| sandbox.neurons("wake").into_values().find(|neuron| neuron["concept"] == "sold");
    let before = sold(&sandbox).expect("they share it");
    sandbox.json(&["revert", "--run", run.as_str().unwrap()]);
    sandbox.json(&["sleep"]);
    let after = sold(&sandbox).expect("Anna's and Ben's memories have it");
    assert!(after.get("archived").is_none(), "{after}");
    assert_eq!((&after["salience"], &after["activation_count"]), (&before["salience"], &json!(2)));
    let tied = |text: &str| {
        let memory = sandbox.neurons("wake").into_values().find(|neuron| neuron["concept"] == text).unwrap();
        let (memory, concept) = (memory["id"].as_str().unwrap(), after["id"].as_str().unwrap());
        sandbox.weight(memory, concept, "feeds_into").is_some()
    };
    assert!(tied(texts[1]) && tied(texts[2]));
    let gone = sandbox.neurons("wake").into_values().any(|neuron| neuron["concept"] == texts[0]);
    assert!(!gone, "what was taken back is gone after the night");
}

#[test]
fn a_run_is_reverted_by_its_id_its_commit_or_its_merge_and_a_neuron_names_its_runs() {
    let sandbox = Sandbox::new();
    let apply = |id: &str| sandbox.apply(&delta(json!([create(id)])), &[]);
    let has = |id: &str| sandbox.brain(&["show", id]).code == 0;
    for how in 0..3 {
        let made = apply("tea");
        let run = made["run"].as_str().unwrap();
        let own = sandbox.lines(&["log", "-1", "--no-merges", "--format=%H", "wake"]).remove(0);
        let name = [run, own.as_str(), made["commit"].as_str().unwrap()][how];
        assert!(has("tea") && sandbox.brain(&["show", name]).code == 0);
        sandbox.json(&["revert", name]);
        assert!(!has("tea"), "{name}");
    }
    apply("coffee");
    let said = sandbox.brain(&["revert", "coffee"]).exits(3).err;
    assert!(said.contains("only runs can be reverted") && said.contains("git brain why coffee"), "{said}");
    assert!(has("coffee"));
    let said = sandbox.brain(&["revert", "no-such-thing"]).exits(2).err;
    assert!(said.contains("git brain log"), "{said}");
    let first = sandbox.lines(&["rev-list", "--max-parents=0", "wake"]).remove(0);
    sandbox.brain(&["revert", &first]).exits(3);
}

/// Wordings and types that were taken back do not return because what came after them is taken back as well, in whatever order.
#[test]
fn what_was_taken_back_stays_so_when_what_came_after_it_is_taken_back() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let sandbox = Sandbox::new();
        let zero = json!([{"op": "create", "id": "n-a", "concept": "zero words", "type": "contextual"}]);
        sandbox.apply(&delta(zero), &[]);
        let runs: Vec<String> = [("one", "semantic"), ("two", "episodic"), ("three", "semantic")]
            .iter()
            .map(|(words, kind)| {
                let ops = json!([{"op": "reword", "id": "n-a", "concept": format!("{words} words")}, {"op": "retype", "id": "n-a", "type": kind}]);
                run_of(&sandbox.apply(&delta(ops), &[]))
            })
            .collect();
        let mut standing = vec!["zero", "one", "two", "three"];
        for at in order {
            sandbox.json(&["revert", &runs[at]]);
            standing.retain(|words| *words != ["one", "two", "three"][at]);
            let neuron = sandbox.neuron("n-a");
            assert_eq!(neuron["concept"], format!("{} words", standing.last().unwrap()), "{order:?} {at}");
        }
        assert_eq!(sandbox.neuron("n-a")["type"], "contextual", "{order:?}");
    }
}

#[test]
fn two_machines_that_take_back_one_wording_each_agree_on_the_one_before_both() {
    for first in ["a", "b"] {
        let world = World::new();
        world.apply("a", json!([{"op": "create", "id": "n-a", "concept": "zero words", "type": "semantic"}]));
        let reword = |words: &str| {
            let report = world.apply("a", json!([{"op": "reword", "id": "n-a", "concept": words}]));
            run_of(&report)
        };
        let (one, two) = (reword("one words"), reword("two words"));
        world.sync("a");
        world.clone("b");
        world.brain("a", &["revert", &one]);
        world.brain("b", &["revert", &two]);
        let second = if first == "a" { "b" } else { "a" };
        for machine in [first, second, first] {
            world.sync(machine);
        }
        world.same(&["a", "b"]);
        assert_eq!(world.neuron("a", "wake", "n-a")["concept"], "zero words");
        assert!(world.brain("b", &["check"]).contains("all good"));
    }
}
