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
    assert!(said.contains("2 statements that stay out are kept back"), "{said}");
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
    assert!(said.contains("1 statement of") && said.contains("kept back from now on"), "{said}");
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
fn words_that_were_taken_back_before_they_went_out_go_nowhere() {
    let world = crate::review_second::world(World::gated(), SCRIBE);
    world.clone("b");
    world.brain("b", &["trust", "--yes"]);
    let rejected = |machine: &str, text: &str, why: &str| {
        let run = proposed(&world, machine, &[text]);
        world.brain(machine, &["reject", &run, "--why", why]);
        run
    };
    // Somebody else's decision comes in between, and decisions of one's own lie on both sides.
    let before = rejected("a", "Mateo is leaving the team in March", "a rumour");
    let run = rejected("a", "Olga broke production twice last Friday", "talk about Olga");
    let after = rejected("a", "The runbook lies in the cellar of the team", "it does not");
    let other = rejected("b", "Nina painted the harbour wall blue on Sunday", "no source");
    world.sync("b");
    world.brain("a", &["review", &run, "--forget", "--why", "talk about people"]);
    let decided = world.json("a", &["review", "--decided"]);
    // A rehearsal says so, and changes nothing.
    let tip = world.tip("a", "refs/brain/reviews");
    assert!(world.brain("a", &["sync", "--dry-run"]).contains("1 decision goes out without the words"));
    assert_eq!(world.tip("a", "refs/brain/reviews"), tip);
    let said = world.brain("a", &["sync"]);
    assert!(said.contains("1 decision goes out without the words that were taken back"), "{said}");
    world.sync("b");
    for place in ["remote.git", "b"] {
        assert!(!holds(&world, place, "Olga broke"), "{place}");
    }
    for machine in ["a", "b"] {
        let now = world.json(machine, &["review", "--decided"]);
        for run in [&before, &run, &after, &other] {
            assert!(now.to_string().contains(run.as_str()), "{machine} {run}: {now:#}");
        }
        assert!(now.to_string().contains("talk about people"), "{machine}: {now:#}");
        assert!(told(&world, machine).contains("Mateo is leaving"), "{machine}");
        world.brain(machine, &["check"]);
    }
    let kept = |all: &Value| -> Vec<Value> {
        let all = all["decisions"].as_array().unwrap().iter();
        all.filter(|one| !one.to_string().contains(other.as_str())).cloned().collect()
    };
    assert_eq!(kept(&world.json("a", &["review", "--decided"])), kept(&decided));
    assert!(!world.brain("a", &["sync"]).contains("taken back"));
    // The same for the first push to a remote that has nothing.
    let fresh = crate::review_second::world(World::new(), SCRIBE);
    let run = proposed(&fresh, "a", &["Olga broke production twice last Friday"]);
    fresh.brain("a", &["reject", &run, "--why", "talk"]);
    fresh.brain("a", &["review", &run, "--forget"]);
    fresh.git("a", &["init", "-q", "--bare", "../empty.git"]);
    fresh.git("a", &["remote", "set-url", "origin", "../empty.git"]);
    for branch in ["main", "wake"] {
        fresh.git("a", &["update-ref", "-d", &format!("refs/git-brain/remotes/origin/{branch}")]);
    }
    fresh.brain("a", &["sync"]);
    assert!(!holds(&fresh, "empty.git", "Olga broke"));
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

fn interactive(world: &World, machine: &str, answers: &str) -> String {
    let dir = world.dir(machine).display().to_string();
    world.sandbox.brain_with(&["-C", &dir, "review", "-i"], answers.as_bytes()).exits(0).out
}

#[test]
fn a_reason_is_asked_for_and_may_be_given_later_without_a_second_failure() {
    let world = world(World::gated(), SCRIBE);
    world.clone("b");
    let texts = ["Deploys of the shop happen on Mondays at ten", "The runbook lies in the wiki of the team"];
    let run = proposed(&world, "a", &texts);
    // What cannot be done asks for no reason; an approval never does.
    let said = interactive(&world, "a", "only 7\nreject\nno source\n");
    assert_eq!(said.matches("why? ").count(), 1, "{said}");
    let decided = |machine: &str| world.json(machine, &["review", "--decided"])["decisions"][0].clone();
    assert_eq!((&decided("a")["run"], &decided("a")["why"]), (&json!(run), &json!("no source")));
    let run = proposed(&world, "a", &["Redis is restarted by hand every night", texts[1]]);
    let said = interactive(&world, "a", "only 2\n\n");
    assert!(said.contains("why? ") && said.contains("Amended"), "{said}");
    assert_eq!((&decided("a")["run"], decided("a").get("why")), (&json!(run), None));
    // Said later by the same command, or of the run; the failure counts once.
    let judged = |machine: &str| {
        let ledger = world.json(machine, &["ledger"]);
        ledger["entries"].as_array().unwrap().iter().filter(|entry| entry["judged"] == json!(run)).count()
    };
    assert_eq!(judged("a"), 1);
    world.brain("a", &["approve", &run, "--only", "2", "--why", "the cron job does that"]);
    assert_eq!(decided("a")["why"], "the cron job does that");
    let said = world.brain("a", &["review", &run, "--why", "a cron job restarts it"]);
    assert!(said.contains("nothing is learnt twice"), "{said}");
    world.sync("a");
    world.sync("b");
    for machine in ["a", "b"] {
        assert_eq!(decided(machine)["why"], "a cron job restarts it", "{machine}");
        assert!(world.brain(machine, &["prime"]).contains("a cron job restarts it"), "{machine}");
        assert_eq!(judged(machine), 1, "{machine}");
    }
    // Nobody else gives the reason, here or at the gate.
    let said = crate::review_second::as_person(&world, "b", "ben", &["review", &run, "--why", "because"]).exits(3);
    assert!(said.err.contains("has nothing to say of it"), "{said}");
    let tip = world.tip("a", "refs/brain/reviews");
    let path = world.path_of("a", "refs/brain/reviews", "-human.json");
    assert!(path.starts_with("remarks/") || path.starts_with("20"), "{path}");
    let remark = world.git("a", &["ls-tree", "-r", "--name-only", &tip, "remarks/"]).lines().last().unwrap().to_owned();
    let id = remark.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned();
    let digit = if id[17..].starts_with('0') { '1' } else { '0' };
    let other = format!("{}{digit}{}", &id[..17], &id[18..]);
    let text = world.git("a", &["show", &format!("{tip}:{remark}")]).replace(&id, &other);
    let forged = |by: &str, text: &str| {
        let author = [("GIT_AUTHOR_EMAIL", by), ("GIT_COMMITTER_EMAIL", by)];
        let text = format!("{}\n", text.trim_end());
        let commit =
            world.commit("a", &tip, &[&tip], &[(&remark.replace(&id, &other), Some(&text))], "remark\n", &author);
        world.git_try("a", &["push", "origin", &format!("{commit}:refs/brain/reviews")])
    };
    let (taken, said) = forged("ben@example.invalid", &text);
    assert!(!taken && said.contains("and its commit by ben@example.invalid"), "{said}");
    let (taken, said) = forged("ann@example.invalid", &text.replace("\"why\": \"", "\"whi\": \""));
    assert!(!taken, "{said}");
    // In his own name he may push one, and it changes nothing.
    let own =
        text.replace("ann <ann@", "ben <ben@").replace("Ann <ann@", "ben <ben@").replace("a cron job", "a rumour");
    let (taken, said) = forged("ben@example.invalid", &own);
    assert!(taken, "{said}");
    world.sync("a");
    assert_eq!(decided("a")["why"], "a cron job restarts it");
}

#[test]
fn review_goes_on_with_words_that_nobody_is_told() {
    let world = world(World::gated(), SCRIBE);
    proposed(&world, "a", &["Olga broke production twice last Friday"]);
    let said = interactive(&world, "a", "?\nforget\ntalk about people\n");
    assert!(
        said.contains("and keep its words back") && said.contains("1 statement that stays out is kept back"),
        "{said}"
    );
    proposed(&world, "a", &["Mateo is leaving the team in March", "The runbook lies in the wiki of the team"]);
    interactive(&world, "a", "only 2 --forget that is private\n");
    world.sync("a");
    for words in ["Olga", "Mateo"] {
        assert!(!holds(&world, "remote.git", words), "{words}");
    }
    assert!(told(&world, "a").contains("talk about people") && told(&world, "a").contains("that is private"));
}
