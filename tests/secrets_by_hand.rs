//! Secrets that people type into files and commit by plain git: named before the commit, by `check`, before a push and at the gate.

use crate::machines::{self, World};
use crate::real_git::{Brain, said};
use crate::sandbox::create;
use serde_json::json;

/// Made up, in the forms that vendors document.
const TOKENS: [(&str, &str); 2] =
    [("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "github-token"), ("AKIAQ3EGRTPVZ7KLMN2D", "aws-access-key")];

const NEURON: &str = "network/neurons/14/2/external_stimulus.json";

#[test]
fn the_hook_names_file_and_line_of_a_secret_and_never_the_secret() {
    let brain = Brain::new();
    let neuron = std::fs::read_to_string(brain.path().join(NEURON)).unwrap();
    let concept = neuron.lines().find(|line| line.contains("\"concept\"")).unwrap().to_owned();
    for (token, kind) in TOKENS {
        brain.write(NEURON, &neuron.replacen(&concept, &format!("  \"concept\": \"a key {token}\","), 1));
        brain.git(&["add", "-A"]);
        let ended = brain.try_git(&["commit", "-q", "-m", "by hand"]);
        let told = said(&ended);
        assert!(!ended.status.success() && told.contains(&format!("{NEURON}:3: holds a secret ({kind})")), "{told}");
        assert!(told.contains("secrets.allow") && !told.contains(token), "{told}");
    }
    // A word about it is none.
    brain.write(NEURON, &neuron.replacen(&concept, "  \"concept\": \"a word about tokens\",", 1));
    brain.git(&["add", "-A"]);
    brain.git(&["commit", "-q", "-m", "by hand"]);
}

/// A commit on wake that puts that text into the concept of `x`.
fn typed(world: &World, text: &str) -> String {
    let (wake, path) = (world.tip("a", "wake"), world.path_of("a", "wake", "/x.json"));
    let neuron = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let with = neuron.replace("\"concept\": \"x\"", &format!("\"concept\": \"x {text}\""));
    world.commit("a", &wake, &[&wake], &[(&path, Some(&with))], "typed\n", &[])
}

#[test]
fn check_sync_and_the_gate_refuse_a_secret_that_a_commit_adds() {
    for (token, kind) in TOKENS {
        let world = World::gated();
        let commit = typed(&world, token);
        let says = format!("x.json:3: holds a secret ({kind})");
        machines::refused(&world, kind, &commit, "wake", &says);
        world.git("a", &["update-ref", "refs/heads/wake", &commit]);
        for (command, code) in [("check", 1), ("sync", 3)] {
            let answer = world.try_brain("a", &[command]).exits(code);
            assert!(format!("{}{}", answer.out, answer.err).contains(&says), "{answer}");
            assert!(!answer.out.contains(token) && !answer.err.contains(token), "{answer}");
        }
        let told = world.json("a", &["sync", "--without-refused"]);
        assert!(!told.to_string().contains(token), "{told}");
        assert_eq!(world.neuron("a", "wake", "x")["concept"], "x");
        world.same(&["a"]);
        // In the message of a commit as well.
        let wake = world.tip("a", "wake");
        let told = world.commit("a", &wake, &[&wake], &[("notes.txt", Some("x\n"))], &format!("key {token}\n"), &[]);
        machines::refused(&world, kind, &told, "wake", "has a secret in its message");
    }
}

#[test]
fn what_main_lets_through_is_let_through_everywhere() {
    let world = World::gated();
    let settings = world.git("a", &["show", "main:brain.toml"]) + "\n[secrets]\nallow = [\"github-token\"]\n";
    let main = world.tip("a", "main");
    let allowed = world.commit("a", &main, &[&main], &[("brain.toml", Some(&settings))], "allow\n", &[]);
    world.git("a", &["update-ref", "refs/heads/main", &allowed]);
    let commit = typed(&world, TOKENS[0].0);
    world.git("a", &["update-ref", "refs/heads/wake", &commit]);
    world.git("a", &["push", "-q", "origin", "main", "wake"]);
    world.sync("a");
    world.same(&["a"]);
}

#[test]
fn a_secret_of_before_does_not_stop_what_is_done_to_its_neuron() {
    let world = World::new();
    let commit = typed(&world, TOKENS[0].0);
    world.git("a", &["update-ref", "refs/heads/wake", &commit]);
    // By a program that did not look.
    world.git("a", &["push", "-q", "origin", "wake"]);
    world.clone("b");
    world.apply("b", json!([create("later"), {"op": "activate", "id": "x", "strength": 0.5}]));
    world.sync("b");
    world.sync("a");
    world.same(&["a", "b"]);
    let said = world.brain("b", &["check"]);
    assert!(said.contains("warning: ") && said.contains("x.json:3: holds a secret (github-token)"), "{said}");
}
