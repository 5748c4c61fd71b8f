//! Decisions that nobody made: parts that are none, rules that hold of nothing, reviewers who are claimed, what is not seen.

use crate::machines::{World, refused};
use crate::sandbox::{create, delta};
use serde_json::json;

fn settings(world: &World, text: &str) {
    world.write("a", "brain.toml", text);
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "settings"]);
}

/// A brain with an agent that may much; with a gate or without one.
fn scribed(world: World) -> World {
    let operations = ["create", "connect", "adjust", "retype", "reword", "goal", "signal", "flag", "acknowledge"];
    let scribe = json!({
        "name": "scribe", "role": "Writes down what people decide.", "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {"operations": operations, "types": ["semantic", "episodic", "contextual", "core"]},
    });
    world.write("a", "agents/scribe.json", &scribe.to_string());
    world.git("a", &["add", "agents"]);
    world.git("a", &["commit", "-qm", "scribe"]);
    world.brain("a", &["trust", "--yes"]);
    world.sync("a");
    world
}

fn apply(world: &World, agent: &str, ops: serde_json::Value) -> serde_json::Value {
    let dir = world.dir("a").display().to_string();
    let input = delta(ops).to_string();
    let args = ["-C", &dir, "--json", "apply", "--agent", agent, "-"];
    world.sandbox.brain_with(&args, input.as_bytes()).exits(0).document()
}

#[test]
fn a_part_that_names_nothing_is_not_the_whole() {
    let world = scribed(World::new());
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk"), create("cup")]));
    for part in ["3-1", "0-0", "0", "9-7", ""] {
        let said = world.try_brain("a", &["approve", &branch, "--only", part]);
        assert_ne!(said.code, 0, "{part}: {said}");
        assert!(said.err.contains("--only"), "{part}: {said}");
    }
    let dir = world.dir("a");
    let input = b"only 3-1\nonly\nquit\n";
    let said = world.sandbox.brain_with(&["-C", dir.to_str().unwrap(), "review", "-i"], input).exits(0);
    assert_eq!(said.out.matches("error: --only").count(), 2, "{said}");
    assert_eq!(world.json("a", &["review", "--decided"])["decisions"], json!([]));
    world.brain("a", &["approve", &branch, "--only", "2-2"]);
    assert!(world.try_brain("a", &["show", "milk"]).code == 0 && world.try_brain("a", &["show", "tea"]).code != 0);
}

#[test]
fn a_region_lets_in_nothing_beside_its_neurons() {
    let world = scribed(World::new());
    settings(
        &world,
        "[[review.rule]]\nname = \"notes\"\nthen = \"land\"\nneurons = [\"note-*\"]\n\n[[review.rule]]\nname = \"rest\"\nagents = [\"scribe\"]\n",
    );
    let goal = json!({"op": "goal", "id": "own", "text": "sell the brain", "level": "sub"});
    let waits = |ops| apply(&world, "scribe", ops)["merged"] == json!(false);
    assert!(!waits(json!([create("note-a")])));
    assert!(waits(json!([goal])), "no neuron at all");
    assert!(waits(json!([create("note-b"), goal])), "a goal beside a note");
}

#[test]
fn a_type_guards_what_was_of_it() {
    let world = scribed(World::new());
    settings(&world, "[[review.rule]]\nname = \"guarded\"\ntypes = [\"contextual\"]\n");
    world.apply("a", json!([{"op": "create", "id": "law", "concept": "law", "type": "contextual"}]));
    let retype = json!([{"op": "retype", "id": "law", "type": "semantic"}]);
    assert_eq!(apply(&world, "scribe", retype)["merged"], json!(false));
}

#[test]
fn only_who_amended_makes_the_run_that_lands_in_its_place() {
    let world = scribed(World::gated());
    let (branch, _) = world.waiting("a", "scribe", json!([create("tea"), create("milk")]));
    world.sync("a");
    let before = world.tip("a", "wake");
    world.brain("a", &["approve", &branch, "--only", "1"]);
    world.git("a", &["push", "-q", "origin", "refs/brain/reviews"]);
    let lands = world.json("a", &["review", "--decided"])["decisions"][0]["lands"].as_str().unwrap().to_owned();
    let own = world.git("a", &["log", "wake", "--format=%H", "-1", &format!("--grep=^Run: {lands}$"), "--no-merges"]);
    // Somebody else makes that run, on the same parent.
    let message = world.git("a", &["log", "-1", "--format=%B", &own]);
    let parent = world.git("a", &["log", "-1", "--format=%P", &own]);
    let forged = world.commit("a", &own, &[&parent], &[], &message, &[("GIT_AUTHOR_EMAIL", "eve@example.invalid")]);
    refused(&world, "another's amendment", &forged, "wake", "and its commit is by eve@example.invalid");
    assert_eq!(world.tip("remote.git", "wake"), before);
    world.sync("a");
    assert_eq!(world.tip("remote.git", "wake"), world.tip("a", "wake"));
}

#[test]
fn a_reviewer_is_named_by_decisions_alone() {
    let world = scribed(World::gated());
    world.sync("a");
    world.apply("a", json!([create("mine")]));
    let own = world.git("a", &["log", "wake", "--format=%H", "-1", "--no-merges"]);
    let message = world.git("a", &["log", "-1", "--format=%B", &own]) + "\nReviewed-by: Anna <anna@example.invalid>\n";
    let (parent, email) =
        (world.git("a", &["log", "-1", "--format=%P", &own]), world.git("a", &["log", "-1", "--format=%ae", &own]));
    let forged = world.commit("a", &own, &[&parent], &[], &message, &[("GIT_AUTHOR_EMAIL", &email)]);
    refused(&world, "a reviewer", &forged, "wake", "no decision of that name is known");
}

#[test]
fn a_clone_names_what_landed_there_without_its_approval() {
    let world = scribed(World::new());
    settings(
        &world,
        "[review]\nreviewers = [\"mara@example.invalid\"]\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n",
    );
    let mara = [("GIT_AUTHOR_EMAIL", "mara@example.invalid"), ("GIT_COMMITTER_EMAIL", "mara@example.invalid")];
    let (good, _) = world.waiting("a", "scribe", json!([create("tea")]));
    let mut approve = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &["approve", &good]);
    assert!(approve.current_dir(world.dir("a")).envs(mara).status().unwrap().success());
    world.sync("a");
    assert_eq!(world.try_brain("a", &["check"]).code, 0, "{}", world.try_brain("a", &["check"]));
    // Plain git merges what waits, and the remote has no gate.
    let (bad, commit) = world.waiting("a", "scribe", json!([create("rumour")]));
    let parent = world.tip("a", "wake");
    let merge = world.commit("a", &commit, &[&parent, &commit], &[], "merge", &[]);
    world.git("a", &["push", "-q", "origin", &format!("{merge}:refs/heads/wake")]);
    world.clone("c");
    world.brain("c", &["sync"]);
    let said = world.try_brain("c", &["check"]).exits(1);
    let run = bad.rsplit('/').next().unwrap();
    assert!(said.out.contains("lands without its approval") && said.out.contains(run), "{said}");
    assert!(!said.out.contains(good.rsplit('/').next().unwrap()), "{said}");
}

#[test]
fn what_is_not_seen_is_written_out() {
    let world = scribed(World::new());
    let hidden =
        "tea\u{e0041}\u{e0042} \u{3164}is\u{ad} g\u{200b}reen, \u{202e}neerg \u{61c}and red; ❤\u{fe0f} می\u{200c}خواهم";
    let concept = json!([{"op": "create", "id": "tea", "concept": hidden, "type": "semantic"}]);
    let (branch, _) = world.waiting("a", "scribe", concept);
    for format in ["text", "markdown", "html"] {
        let shown = match format {
            "text" => world.brain("a", &["review", &branch]),
            format => world.brain("a", &["review", &branch, "--format", format]),
        };
        let plain = shown.replace('\\', "");
        for code in ["u{e0041}", "u{3164}", "u{ad}", "u{200b}", "u{202e}", "u{61c}"] {
            assert!(plain.contains(code), "{format}: no {code} in {shown}");
        }
        let raw = |c: char| matches!(c, '\u{e0041}' | '\u{3164}' | '\u{ad}' | '\u{202e}' | '\u{61c}');
        assert!(!shown.contains(raw), "{format}: {shown}");
        assert!(shown.contains("❤\u{fe0f}") && shown.contains("می\u{200c}خواهم"), "{format}: {shown}");
    }
}
