//! Words of runs that a decision keeps out: what they are worth, who is told of them, and how they are taken back.

use crate::machines::World;
use crate::review_second::{apply, run_of, world};
use serde_json::{Value, json};

const SCRIBE: &str =
    "[review]\nreviewers = [\"ann@example.invalid\"]\n\n[[review.rule]]\nname = \"scribe\"\nagents = [\"scribe\"]\n";

fn belief(text: &str) -> Value {
    json!({"op": "create", "concept": text, "type": "semantic"})
}

/// A run of the scribe that waits.
fn proposed(world: &World, machine: &str, texts: &[&str]) -> String {
    let ops: Vec<Value> = texts.iter().map(|text| belief(text)).collect();
    run_of(apply(world, machine, json!(ops))["branch"].as_str().unwrap()).to_owned()
}

/// The forms in which the same words can be written.
fn capitalised(text: &str) -> Vec<String> {
    let title = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().to_string() + letters.as_str())
    };
    let words: Vec<&str> = text.split(' ').collect();
    let mixed = words.iter().enumerate().map(|(at, word)| if at % 2 == 0 { title(word) } else { (*word).to_owned() });
    vec![
        text.to_owned(),
        title(text),
        words.iter().map(|word| title(word)).collect::<Vec<_>>().join(" "),
        mixed.collect::<Vec<_>>().join(" "),
        text.to_uppercase(),
    ]
}

#[test]
fn a_claim_counts_the_same_in_all_capitals() {
    let world = world(World::gated(), SCRIBE);
    let names = ["stripe", "kafka", "olga", "postgres", "berlin", "nina"];
    let joints = ["is", "should not be", "is to be with", "was over"];
    let ends = ["down every friday", "in brazil before christmas", "and the team of oslo", "with ben on monday"];
    // A generator of sentences that always makes the same ones.
    let mut seed = 17_usize;
    let mut pick = |list: &[&'static str]| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list[(seed >> 33) % list.len()]
    };
    let mut count = 0;
    let mut runbook = move || {
        count += 1;
        format!("Runbook {count} of the payment service lies in the wiki")
    };
    for _ in 0..4 {
        let text = format!("{} {} {}", pick(&names), pick(&joints), pick(&ends));
        for text in capitalised(&text) {
            let run = proposed(&world, "a", &[&runbook(), &text]);
            let listed = world.json("a", &["review"])["waiting"][0]["consequence"].clone();
            assert_eq!(listed, 0.2, "{text}");
            let report = world.json("a", &["approve", &run, "--only", "1"]);
            assert_eq!(report["value"], 0.5, "{text}: {report}");
        }
    }
    // A name says nothing.
    let run = proposed(&world, "a", &[&runbook(), "The Lord of the Rings"]);
    assert_eq!(world.json("a", &["review"])["waiting"][0]["consequence"], 0.12);
    assert_eq!(world.json("a", &["approve", &run, "--only", "1"])["value"], 1.0);
}

#[test]
fn all_that_was_kept_out_is_a_lesson() {
    let world = world(World::gated(), SCRIBE);
    let gossip = [
        "Mateo is leaving the team in March",
        "Olga broke production twice last Friday",
        "Stripe is blocked by the bank in Brazil",
    ];
    let run = proposed(&world, "a", &["The runbook lies in the wiki of the team", gossip[0], gossip[1], gossip[2]]);
    world.brain("a", &["approve", &run, "--only", "1", "--why", "talk about people"]);
    world.apply(
        "a",
        json!([{"op": "create", "id": "old", "concept": "The nightly import takes forty minutes", "type": "episodic"}]),
    );
    let ops = json!([belief("The team will rewrite the payment service in Go next year"), {"op": "archive", "id": "old", "reason": "it was fixed"}]);
    let other = run_of(apply(&world, "a", ops)["branch"].as_str().unwrap()).to_owned();
    world.brain("a", &["reject", &other, "--why", "no source"]);
    world.sync("a");
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    world.sync("b");
    for machine in ["a", "b"] {
        let primed = world.json(machine, &["prime"]);
        for text in gossip
            .iter()
            .chain(&["The team will rewrite the payment service in Go next year", "archives: The nightly import"])
        {
            assert!(primed["lessons"].to_string().contains(text), "{machine} {text}: {primed:#}");
            assert!(primed["text"].as_str().unwrap().contains(text), "{machine} {text}: {primed:#}");
        }
        assert_eq!(primed["lessons"].as_array().unwrap().len(), 2, "{primed:#}");
    }
    for text in gossip {
        let run = proposed(&world, "b", &[text]);
        let shown = world.brain("b", &["review", &run]);
        assert!(shown.contains(&format!("\"{text}\" was kept out before: amended by ")), "{shown}");
    }
    // Names are no statements, and however many there are, a decision stays small.
    let texts: Vec<String> =
        (0..25).map(|at| format!("The service number {at} will be switched off by Olga")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).chain(["Bay of Biscay"]).collect();
    world.brain("a", &["reject", &proposed(&world, "a", &texts)]);
    let declined = world.json("a", &["review", "--decided"])["decisions"][0]["declined"].clone();
    assert_eq!(declined.as_array().unwrap().len(), 20, "{declined}");
    assert!(!declined.to_string().contains("Biscay"), "{declined}");
}
