//! What stopped a sync is shown until it is settled: by `status`, `review` and `doctor`, with who said what.

use crate::machines::World;
use crate::review_second::{apply, as_person, run_of, world};
use serde_json::json;

const RULES: &str = "[review]\nreviewers = [\"anna@example.invalid\", \"ben@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n\n[merge]\nconcept = \"review\"\n";

/// What each of the three says of a stopped sync.
fn told(world: &World) -> Vec<String> {
    ["status", "review", "doctor"].map(|command| as_person(world, "b", "ben", &[command]).out).to_vec()
}

#[test]
fn two_approved_rewordings_are_shown_until_one_is_chosen() {
    let world = world(World::gated(), RULES);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let reword = |words: &str| {
        apply(&world, "a", json!([{"op": "reword", "id": "x", "concept": words}]))["branch"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (hers, his) = (reword("In Brazil we need a CNPJ"), reword("In Brazil we need a CPF"));
    as_person(&world, "a", "anna", &["sync"]).exits(0);
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    assert!(told(&world).iter().all(|said| !said.contains("is stopped")), "{:?}", told(&world));
    as_person(&world, "a", "anna", &["approve", run_of(&hers), "--why", "CNPJ is the word"]).exits(0);
    as_person(&world, "b", "ben", &["approve", run_of(&his), "--why", "people have a CPF"]).exits(0);
    as_person(&world, "a", "anna", &["sync"]).exits(0);
    let stopped = as_person(&world, "b", "ben", &["--json", "sync"]).exits(3);
    let (error, hint) = (stopped.error()["error"].to_string(), stopped.error()["hint"].as_str().unwrap().to_owned());
    let all = told(&world);
    for said in all.iter().chain([&error]) {
        for words in
            ["approved by anna: CNPJ is the word", "approved by ben: people have a CPF", run_of(&hers), run_of(&his)]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
    assert!(all.iter().all(|said| said.contains("sync with origin is stopped") && said.contains(&hint)), "{all:?}");
    let listed = as_person(&world, "b", "ben", &["--json", "review"]).exits(0).document();
    assert_eq!(listed["standoffs"][0]["remote"], "origin", "{listed}");
    assert_eq!(as_person(&world, "b", "ben", &["doctor"]).code, 1);
    // The command of the hint settles it.
    let delta = hint.split_once("echo '").unwrap().1.split_once("' |").unwrap().0;
    let dir = world.dir("b").display().to_string();
    world.sandbox.brain_with(&["-C", &dir, "apply", "-"], delta.as_bytes()).exits(0);
    assert!(told(&world).iter().all(|said| !said.contains("is stopped")), "{:?}", told(&world));
    as_person(&world, "b", "ben", &["sync"]).exits(0);
    assert_eq!(world.neuron("b", "wake", "x")["concept"], "In Brazil we need a CNPJ");
}

#[test]
fn settings_that_both_changed_are_shown_until_one_is_chosen() {
    let world = world(World::gated(), RULES);
    world.clone("b");
    for (name, origin) in [("a", "webhook"), ("b", "mcp")] {
        world.write(name, "brain.toml", &format!("{RULES}\n[origins]\n{origin} = \"review\"\n"));
        world.git(name, &["commit", "-qam", "settings"]);
    }
    world.sync("a");
    world.try_brain("b", &["sync"]).exits(3);
    for said in told(&world) {
        assert!(said.contains("sync with origin is stopped: main was changed here and there"), "{said}");
    }
    let file = world.git("b", &["show", "refs/git-brain/remotes/origin/main:brain.toml"]);
    world.write("b", "brain.toml", &(file + "\n"));
    world.git("b", &["commit", "-qam", "theirs"]);
    assert!(told(&world).iter().all(|said| !said.contains("is stopped")), "{:?}", told(&world));
    world.sync("b");
}
