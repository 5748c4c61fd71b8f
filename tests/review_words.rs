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

/// Whether any object that a repository has, whatever leads to it, has those bytes.
fn holds(world: &World, machine: &str, words: &str) -> bool {
    let all = world.git(machine, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    let readable = all.lines().filter(|line| line.ends_with(" blob") || line.ends_with(" commit"));
    readable
        .into_iter()
        .any(|line| world.git(machine, &["cat-file", "-p", line.split(' ').next().unwrap()]).contains(words))
}

/// What a machine tells of decisions.
fn told(world: &World, machine: &str) -> String {
    let decided = world.json(machine, &["review", "--decided"]);
    format!("{}\n{decided}\n{}", world.brain(machine, &["prime"]), world.brain(machine, &["ledger"]))
}

#[test]
fn a_secret_is_not_published_by_its_rejection() {
    let world = world(World::gated(), SCRIBE);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let (secret, gossip) = ("The staging password is hunter2-Harbour-2026", "Olga broke production twice last Friday");
    let plain = "Deploys of the shop happen on Mondays at ten";
    // A run that was never synced: a known word makes it safe, and `--forget` everything else.
    let run = proposed(&world, "a", &[secret, plain]);
    let report = world.json("a", &["reject", &run, "--why", "not true"]);
    assert_eq!((&report["told"], &report["forgotten"]), (&json!([plain]), &json!(1)), "{report}");
    let run = proposed(&world, "a", &["The harbour lamp is called summer in the cellar"]);
    assert_eq!(world.json("a", &["reject", &run, "--why", "that is the password"])["forgotten"], 1);
    let run = proposed(&world, "a", &[gossip, "Mateo is leaving the team in March"]);
    let said = world.brain("a", &["reject", &run, "--forget", "--why", "talk about people"]);
    assert!(said.contains("2 statements that stay out are told nobody"), "{said}");
    let run =
        proposed(&world, "a", &["The runbook lies in the wiki of the team", "Nina has been ill since the summer"]);
    world.brain("a", &["approve", &run, "--only", "1", "--forget", "--why", "ask Nina"]);
    world.sync("a");
    world.sync("b");
    for words in ["hunter2", "summer in the cellar", "Olga broke", "Mateo", "Nina has"] {
        assert!(!holds(&world, "remote.git", words), "{words}");
        assert!(!holds(&world, "b", words), "{words}");
        assert!(!told(&world, "a").contains(words), "{words}");
    }
    for words in ["talk about people", "ask Nina", plain] {
        assert!(told(&world, "b").contains(words), "{words}");
    }
    // Proposed again, in whatever capitals, it is known; another claim is not.
    for (text, known) in [
        (secret.to_uppercase(), true),
        (gossip.to_owned(), true),
        ("Olga mended production twice last Friday".to_owned(), false),
    ] {
        let shown = world.brain("b", &["review", &proposed(&world, "b", &[&text])]);
        assert_eq!(shown.contains("was kept out before: rejected by"), known, "{shown}");
    }
}

#[test]
fn words_that_were_told_are_taken_back() {
    let world = world(World::gated(), SCRIBE);
    world.clone("b");
    let gossip = "Olga broke production twice last Friday";
    let run = proposed(&world, "a", &[gossip]);
    let report = world.json("a", &["reject", &run, "--why", "talk about people"]);
    assert_eq!(report["told"], json!([gossip]));
    world.sync("a");
    world.sync("b");
    assert!(told(&world, "b").contains(gossip));
    // They stand in the decision alone.
    for branch in ["wake", "main"] {
        assert!(!world.git_try("remote.git", &["grep", "-q", "Olga", branch]).0, "{branch}");
    }
    let entries = world.json("a", &["ledger"])["entries"].as_array().unwrap().len();
    let said = world.brain("a", &["review", &run, "--forget"]);
    assert!(said.contains("1 statement of") && said.contains("told nobody any more"), "{said}");
    world.sync("a");
    world.sync("b");
    for machine in ["a", "b"] {
        assert!(!told(&world, machine).contains("Olga"), "{machine}");
        assert!(told(&world, machine).contains("talk about people"), "{machine}");
        assert!(!world.brain(machine, &["review", &run]).contains("Olga"), "{machine}");
        assert_eq!(world.json(machine, &["ledger"])["entries"].as_array().unwrap().len(), entries, "{machine}");
    }
    assert_eq!(world.git("a", &["for-each-ref", "refs/git-brain/refused"]), "");
    // Once more changes nothing, and of a run that nobody decided on there is nothing to take back.
    let tip = world.tip("a", "refs/brain/reviews");
    world.brain("a", &["review", &run, "--forget"]);
    world.brain("a", &["reject", &run, "--forget"]);
    assert_eq!(world.tip("a", "refs/brain/reviews"), tip);
    let waiting = proposed(&world, "a", &[gossip]);
    assert!(world.brain("a", &["review", &waiting]).contains("was kept out before"));
    assert!(world.try_brain("a", &["review", &waiting, "--forget"]).exits(2).err.contains("no decision on such a run"));
    world.brain("a", &["check"]);
}

#[test]
fn words_that_the_run_does_not_say_are_refused_at_the_gate() {
    let world = world(World::gated(), SCRIBE);
    let gossip = "Olga broke production twice last Friday";
    let run = proposed(&world, "a", &[gossip, "Deploys of the shop happen on Mondays at ten"]);
    world.sync("a");
    world.brain("a", &["reject", &run, "--why", "talk about people"]);
    let tip = world.tip("a", "refs/brain/reviews");
    let path = world.git("a", &["ls-tree", "-r", "--name-only", &tip]).trim().to_owned();
    let text = world.git("a", &["show", &format!("{tip}:{path}")]);
    let mut record: Value = serde_json::from_str(&text).unwrap();
    let author = [("GIT_AUTHOR_EMAIL", "ann@example.invalid"), ("GIT_COMMITTER_EMAIL", "ann@example.invalid")];
    let mut push = |declined: Option<Value>| {
        let mut text = text.clone();
        if let Some(words) = declined {
            record["declined"] = words;
            let from = text.find("  \"declined\"").unwrap();
            text.truncate(from);
            text += &format!(
                "  \"declined\": {}\n}}\n",
                serde_json::to_string_pretty(&record["declined"]).unwrap().replace('\n', "\n  ")
            );
        } else {
            let from = text.find(",\n  \"declined\"").unwrap();
            text.truncate(from);
            text += "\n}\n";
        }
        let commit = world.commit("a", &tip, &[], &[(&path, Some(&text))], "reject\n", &author);
        world.git_try("a", &["push", "origin", &format!("{commit}:refs/brain/reviews")])
    };
    let other = json!(["Ben broke production twice last Friday", gossip]);
    for (words, says) in [
        (other, "quotes words that its run does not say"),
        (json!("Olga"), "quotes words that its run does not say"),
        (json!(["Olga"]), "not canonical"),
        (json!("AKIAQ3EGJX5T7RKW2LMN is the key of the bucket"), "holds a secret"),
    ] {
        let (taken, said) = push(Some(words.clone()));
        assert!(!taken && said.contains(says), "{words}: {said}");
    }
    let (taken, said) = push(None);
    assert!(taken, "{said}");
}
