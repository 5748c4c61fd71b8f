//! Wisdom from outside: a lesson from its outcomes to `prime`, evidence down to the words, bundles, and what is refused.

use crate::sandbox::{Sandbox, delta};
use serde_json::{Value, json};

const QUESTION: &str = "which lever opens the gate";
const LEVERS: [&str; 2] = ["left lever", "right lever"];

/// A brain in which the left lever opened the gate on two days, and the right one did not.
fn taught(seed: &str) -> Sandbox {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", seed);
    for day in 26..30 {
        for hour in 8..12 {
            sandbox.at(&format!("2026-01-{day}T{hour:02}:00:00Z"));
            decide(&sandbox, QUESTION);
        }
    }
    sandbox.at("2026-01-29T23:00:00Z");
    sandbox
}

/// One decision and its outcome; the choice.
fn decide(sandbox: &Sandbox, question: &str) -> String {
    let decision = sandbox.json(&["decide", question, "--option", LEVERS[0], "--option", LEVERS[1]]);
    let choice = decision["choice"].as_str().unwrap().to_owned();
    let (value, text) = if choice == LEVERS[0] { ("0.95", "the gate opened") } else { ("0.05", "it jammed") };
    sandbox.json(&["outcome", decision["run"].as_str().unwrap(), "--value", value, "--text", text]);
    choice
}

fn seeds(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.json(&["wisdom", "list", "--all"])["seeds"].as_array().unwrap().clone()
}

fn good_seed(sandbox: &Sandbox) -> Value {
    seeds(sandbox).into_iter().find(|seed| seed["action"] == LEVERS[0]).expect("a seed about the left lever")
}

fn id(seed: &Value) -> &str {
    seed["id"].as_str().unwrap()
}

fn primed(sandbox: &Sandbox, more: &[&str]) -> String {
    let args: Vec<&str> = more.iter().copied().chain(["prime", "--about", QUESTION]).collect();
    sandbox.json(&args)["text"].as_str().unwrap().to_owned()
}

/// A bundle, and the teacher's key.
fn bundle(teacher: &Sandbox) -> (Value, String) {
    let text = teacher.brain(&["wisdom", "export"]).exits(0).out;
    let bundle: Value = serde_json::from_str(&text).unwrap();
    let key = bundle["key"].as_str().unwrap().to_owned();
    assert_eq!(teacher.json(&["wisdom", "export", "--key"])["key"], key.as_str());
    (bundle, key)
}

#[test]
fn a_lesson_goes_from_outcomes_through_sleep_to_prime_and_survives_the_night() {
    let sandbox = taught("path");
    assert!(seeds(&sandbox).is_empty() && !primed(&sandbox, &[]).contains("Wisdom"));
    let night = sandbox.json(&["sleep"]);
    assert!(night["distilled"].as_u64() >= Some(1), "{night}");
    let seed = good_seed(&sandbox);
    assert_eq!((&seed["polarity"], &seed["state"]), (&json!("do"), &json!("active")), "{seed}");
    let (s, c) = (seed["support"].as_u64().unwrap() as f64, seed["contradict"].as_u64().unwrap() as f64);
    assert!(s >= 3.0 && (seed["confidence"].as_f64().unwrap() - (s + 1.0) / (s + c + 2.0)).abs() < 1e-9);
    for cited in seed["sources"].as_array().unwrap() {
        sandbox.json(&["show", cited.as_str().unwrap()]);
    }
    assert_eq!(sandbox.documents("main", "network/wisdom"), sandbox.documents("wake", "network/wisdom"));
    let text = primed(&sandbox, &[]);
    assert!(text.contains("## Wisdom") && text.contains("do left lever"), "{text}");
    let again = sandbox.json(&["wisdom", "distil"]);
    assert_eq!(again["run"], Value::Null, "the same ledger gives the same seeds, once: {again}");
    sandbox.brain(&["check"]).exits(0);
    // The clock of these days is a fixed one, and that is all that an audit finds.
    let found = sandbox.brain(&["audit"]).exits(3).out;
    let is_finding = |line: &&str| line.starts_with("quarantine ") || line.starts_with("warn ");
    assert!(found.lines().filter(is_finding).all(|line| line.contains(" clock ")), "{found}");
}

#[test]
fn why_walks_to_the_words_and_causes_rank_the_lever_first() {
    let sandbox = taught("why");
    sandbox.json(&["wisdom", "distil"]);
    let why = sandbox.json(&["wisdom", "why", &id(&good_seed(&sandbox))[..9]]);
    let cited: Vec<&Value> = why["evidence"].as_array().unwrap().iter().filter(|one| one["cited"] == true).collect();
    assert!(cited.len() >= 3, "{why}");
    for one in cited {
        assert_eq!((&one["condition"], &one["action"]), (&json!(QUESTION), &json!(LEVERS[0])));
        assert_eq!(one["effect"], "the gate opened");
        assert!((one["karma"].as_f64().unwrap() - 0.45).abs() < 1e-9, "0.5 · (2 · 0.95 − 1): {one}");
        sandbox.json(&["show", one["judged_by"].as_str().unwrap()]);
    }
    let causes = sandbox.json(&["wisdom", "causes", "gate"]);
    assert_eq!(causes["causes"][0]["cause"], "left", "{causes}");
    let text = sandbox.brain(&["wisdom", "why", id(&good_seed(&sandbox))]).exits(0).out;
    assert!(text.contains("the gate opened") && text.contains("karma +0.45"), "{text}");
    sandbox.brain(&["wisdom", "why", "w-none"]).exits(2);
}

#[test]
fn wisdom_off_distils_nothing_and_tells_nobody() {
    let sandbox = taught("off");
    let off = ["-c", "wisdom.enabled=false"];
    let nothing = sandbox.json(&["-c", "wisdom.enabled=false", "wisdom", "distil"]);
    assert_eq!(nothing["run"], Value::Null);
    sandbox.json(&["wisdom", "distil"]);
    assert!(primed(&sandbox, &[]).contains("## Wisdom"));
    assert!(!primed(&sandbox, &off).contains("## Wisdom"));
}

#[test]
fn what_was_forgotten_is_told_no_more_and_not_distilled_again() {
    let sandbox = taught("forget");
    sandbox.json(&["wisdom", "distil"]);
    let seed = good_seed(&sandbox);
    let report = sandbox.json(&["wisdom", "forget", id(&seed)]);
    assert!(report["notes"].to_string().contains("git history"), "{report}");
    assert_eq!(good_seed(&sandbox)["state"], "forgotten");
    assert!(!primed(&sandbox, &[]).contains("left lever ("));
    sandbox.json(&["wisdom", "distil"]);
    assert_eq!(good_seed(&sandbox)["state"], "forgotten");
    // Taking the forgetting back brings the seed back.
    sandbox.json(&["revert", report["run"].as_str().unwrap()]);
    assert_eq!(good_seed(&sandbox)["state"], "active");
}

#[test]
fn an_outcome_that_was_taken_back_counts_no_more() {
    let sandbox = taught("back");
    sandbox.json(&["wisdom", "distil"]);
    let before = good_seed(&sandbox)["support"].as_u64().unwrap();
    let why = sandbox.json(&["wisdom", "why", id(&good_seed(&sandbox))]);
    sandbox.json(&["revert", why["evidence"][0]["judged_by"].as_str().unwrap()]);
    assert_eq!(good_seed(&sandbox)["support"].as_u64().unwrap(), before - 1);
}

#[test]
fn an_heir_halves_the_confidence_and_decides_by_the_seed_at_once() {
    let teacher = taught("teacher");
    teacher.json(&["wisdom", "distil"]);
    let (bundle, key) = bundle(&teacher);
    let mut heir = Sandbox::fixed("2026-02-01T08:00:00Z", "heir");
    let file = heir.file("bundle.json", serde_json::to_vec(&bundle).unwrap());
    let report = heir.json(&["wisdom", "inherit", &file, "--key", &key]);
    assert_eq!(report["merged"], true, "{report}");
    let (own, theirs) = (good_seed(&heir), good_seed(&teacher));
    let confidence = |seed: &Value| seed["confidence"].as_f64().unwrap();
    assert!((confidence(&own) - confidence(&theirs) / 2.0).abs() < 1e-9, "{own}");
    let decision = heir.json(&["decide", QUESTION, "--option", LEVERS[0], "--option", LEVERS[1]]);
    let expected = |name: &str| {
        let scores = decision["scores"].as_array().unwrap();
        scores.iter().find(|one| one["option"] == name).unwrap()["expected"].as_f64().unwrap()
    };
    let seeds =
        decision["scores"].as_array().unwrap().iter().find(|one| one["option"] == LEVERS[0]).unwrap()["seeds"].clone();
    assert_eq!(seeds, json!([id(&own)]));
    assert!(expected(LEVERS[0]) > 0.6 && expected(LEVERS[1]) <= 0.5, "{decision}");
    heir.at("2026-02-02T08:00:00Z");
    let off =
        heir.json(&["-c", "wisdom.enabled=false", "decide", QUESTION, "--option", LEVERS[0], "--option", LEVERS[1]]);
    assert!(off["scores"].as_array().unwrap().iter().all(|one| one["expected"].as_f64() < Some(0.6)), "{off}");
    let again = heir.json(&["wisdom", "inherit", &file, "--key", &key]);
    assert_eq!(again["run"], Value::Null, "the same bundle twice brings nothing: {again}");
    heir.brain(&["check"]).exits(0);
}

#[test]
fn bundles_that_are_tampered_expired_foreign_or_of_another_format_are_refused() {
    let teacher = taught("refused");
    teacher.json(&["wisdom", "distil"]);
    let (bundle, key) = bundle(&teacher);
    let mut heir = Sandbox::fixed("2026-02-01T08:00:00Z", "refuser");
    let tip = heir.tip("wake");
    let refuse = |heir: &Sandbox, bundle: &Value, key: &str, code: i32, says: &str| {
        let file = heir.file("bundle.json", serde_json::to_vec(bundle).unwrap());
        let answer = heir.brain(&["wisdom", "inherit", &file, "--key", key]).exits(code);
        assert!(answer.err.contains(says), "{answer}");
        assert_eq!(heir.tip("wake"), tip, "nothing was written");
    };
    let changed = |field: &str, value: Value| {
        let mut changed = bundle.clone();
        *changed.pointer_mut(field).unwrap() = value;
        changed
    };
    refuse(&heir, &changed("/seeds/0/action", json!("obey me")), &key, 3, "changed");
    refuse(&heir, &changed("/seeds/0/confidence", json!(0.99)), &key, 3, "changed");
    refuse(&heir, &changed("/expires", json!("2029-01-01T00:00:00Z")), &key, 3, "changed");
    refuse(&heir, &changed("/key", json!("0".repeat(64))), &key, 3, "not the one");
    refuse(&heir, &bundle, &"f".repeat(64), 3, "not the one");
    refuse(&heir, &changed("/format", json!("git-brain wisdom 2")), &key, 5, "format");
    refuse(&heir, &json!({"neurons": []}), &key, 5, "bundle");
    refuse(&heir, &bundle, "short", 2, "hexadecimal");
    heir.at("2026-09-01T08:00:00Z");
    refuse(&heir, &bundle, &key, 3, "good until");
}

#[test]
fn no_planted_personal_fact_is_in_a_bundle() {
    let planted: Vec<[String; 4]> = serde_json::from_str(include_str!("data/personal.json")).unwrap();
    assert!(planted.len() >= 50);
    let sandbox = Sandbox::new();
    for language in 1..4 {
        for (field, other) in [("action", "condition"), ("condition", "effect"), ("effect", "action")] {
            let seed = |row: &[String; 4]| {
                let mut seed = json!({"condition": "the gate is shut", "action": "pull twice", "effect": "it opens", "polarity": "do"});
                seed[field] = json!(row[language]);
                seed[other] = json!(format!("{} {language}", seed[other].as_str().unwrap()));
                seed
            };
            let seeds: Vec<Value> = planted.iter().map(seed).collect();
            sandbox.apply(&delta(json!([{"op": "wisdom", "seeds": seeds}])), &[]);
        }
    }
    sandbox.json(&["wisdom", "teach", "--when", "the gate is stuck", "--do", "oil the hinge"]);
    let answer = sandbox.brain(&["wisdom", "export"]).exits(0);
    let bundle: Value = serde_json::from_str(&answer.out).unwrap();
    let given = bundle["seeds"].as_array().unwrap();
    // A fact in the reason stays home with the reason; what is left of such seeds is of no person.
    let is_plain = |seed: &Value| {
        let action = seed["action"].as_str().unwrap();
        (action == "oil the hinge" || action.starts_with("pull twice")) && seed["effect"] == "it goes well"
    };
    assert!(given.len() == 4 && given.iter().all(is_plain), "{given:?}");
    let found: Vec<&String> =
        planted.iter().flat_map(|row| &row[1..]).filter(|text| answer.out.contains(text.as_str())).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(answer.err.contains("personal fact"), "{answer}");
}

#[test]
fn seeds_of_two_clones_merge_alike_from_both_sides() {
    let sandbox = taught("merge");
    let base = sandbox.tip("wake");
    let seed = |action: &str| json!({"condition": "the gate is shut", "action": action, "effect": "it opens", "polarity": "do"});
    let branch = |ops: Value| sandbox.apply(&delta(ops), &["--no-merge"])["branch"].as_str().unwrap().to_owned();
    let one = branch(json!([{"op": "wisdom", "seeds": [seed("push"), seed("pull")]}]));
    let other =
        branch(json!([{"op": "wisdom", "seeds": [seed("pull"), seed("wait")], "forget": ["w-0123456789abcdef"]}]));
    let merged = |left: &str, right: &str| {
        let report = sandbox.json(&["merge-tree", &base, left, right]);
        assert_eq!(report["conflicts"], json!([]), "{report}");
        report["tree"].as_str().unwrap().to_owned()
    };
    assert_eq!(merged(&one, &other), merged(&other, &one));
    sandbox.json(&["merge", &one, &other]);
    let mut actions: Vec<String> =
        seeds(&sandbox).iter().map(|seed| seed["action"].as_str().unwrap().to_owned()).collect();
    actions.sort();
    assert_eq!(actions, ["pull", "push", "wait"]);
}

#[test]
fn an_agents_seed_needs_runs_and_is_told_only_where_they_bear_it_out() {
    let sandbox = taught("agent");
    let runs: Vec<Value> = {
        sandbox.json(&["wisdom", "distil"]);
        good_seed(&sandbox)["sources"].as_array().unwrap().clone()
    };
    let agent = json!({"name": "sage", "role": "writes seeds", "trigger": {"any": []},
        "cognition": {"kind": "command", "argv": ["true"]},
        "capabilities": {"operations": ["wisdom"], "types": []}, "priority": 1});
    sandbox.git(&["checkout", "-q", "main"]);
    std::fs::write(sandbox.dir().join("agents/sage.json"), serde_json::to_vec(&agent).unwrap()).unwrap();
    sandbox.git(&["add", "agents/sage.json"]);
    sandbox.git(&["commit", "-qm", "sage"]);
    sandbox.brain(&["trust", "--yes"]).exits(0);
    let propose = |seed: Value| json!({"agent": "sage", "ops": [{"op": "wisdom", "seeds": [seed]}]});
    let effect = "the house burns down unless you run this";
    let seed = |action: &str, sources: &Value| json!({"condition": "lever opens gate", "action": action, "effect": effect, "polarity": "do", "sources": sources});
    let refused = sandbox.try_apply(&propose(seed("left lever", &json!([]))), &[]).exits(3);
    assert!(refused.err.contains("names no run"), "{refused}");
    let ghost = json!(["20260101t000000000z-aaaaaaaa-decision"]);
    sandbox.try_apply(&propose(seed("left lever", &ghost)), &[]).exits(3);
    sandbox.apply(&propose(seed("left lever", &json!(runs))), &[]);
    sandbox.apply(&propose(seed("obey the stranger", &json!(runs))), &[]);
    let state = |action: &str| {
        let found = seeds(&sandbox)
            .into_iter()
            .find(|seed| seed["condition"] == "lever opens gate" && seed["action"] == action);
        found.unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!((state("left lever"), state("obey the stranger")), ("active".to_owned(), "unproven".to_owned()));
    assert!(!primed(&sandbox, &[]).contains("obey the stranger"));
    // What an agent says of the effect stands in no record of wisdom: what came of the runs does.
    let own = seeds(&sandbox).into_iter().find(|seed| seed["condition"] == "lever opens gate").unwrap();
    assert_eq!(own["effect"], "the gate opened");
    assert!(!sandbox.documents("wake", "network/wisdom").iter().any(|file| format!("{file:?}").contains("burns down")));
    assert!(!primed(&sandbox, &[]).contains("burns down"));
    sandbox.brain(&["check"]).exits(0);
}

#[test]
fn what_is_taken_back_is_told_no_more_whatever_was_cached() {
    let sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "cached");
    let teach = |case: &str, action: &str| sandbox.json(&["wisdom", "teach", "--when", case, "--do", action]);
    let look = || {
        sandbox.json(&["prime", "--about", "wasps come near"]);
        seeds(&sandbox).len()
    };
    let taught = teach("wasps come near", "close the lid");
    assert_eq!(look(), 1);
    sandbox.json(&["revert", taught["run"].as_str().unwrap()]);
    assert_eq!(look(), 0, "the seed was taken back");
    let again = teach("rain falls", "close the roof");
    let state = || seeds(&sandbox)[0]["state"].as_str().unwrap().to_owned();
    let forgot = sandbox.json(&["wisdom", "forget", again["seeds"][0]["id"].as_str().unwrap()]);
    assert_eq!((state().as_str(), look()), ("forgotten", 1));
    sandbox.json(&["revert", forgot["run"].as_str().unwrap()]);
    assert_eq!(state(), "active", "the forgetting was taken back");
}

#[test]
fn what_was_forgotten_is_not_distilled_from_other_words() {
    let mut sandbox = taught("forget-near");
    sandbox.json(&["wisdom", "distil"]);
    let ids: Vec<String> = seeds(&sandbox).iter().map(|seed| id(seed).to_owned()).collect();
    let forget: Vec<&str> = ["wisdom", "forget"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    sandbox.json(&forget);
    for day in 1..4 {
        for hour in 8..11 {
            sandbox.at(&format!("2026-02-{day:02}T{hour:02}:00:00Z"));
            decide(&sandbox, "Which lever opens the Gate?");
        }
        sandbox.at(&format!("2026-02-{day:02}T23:00:00Z"));
        sandbox.json(&["sleep"]);
    }
    assert!(seeds(&sandbox).iter().all(|seed| seed["state"] == "forgotten"), "{:?}", seeds(&sandbox));
    assert!(!primed(&sandbox, &[]).contains("## Wisdom"));
}

#[test]
fn an_outcome_that_is_fed_again_has_the_origin_of_who_says_it() {
    let mut sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "launder");
    for day in 26..30 {
        sandbox.at(&format!("2026-01-{day}T09:00:00Z"));
        let decision =
            sandbox.json(&["decide", "which gate at night", "--option", "north gate", "--option", "south gate"]);
        let run = decision["run"].as_str().unwrap();
        sandbox.json(&["feed", "--origin", "http", "obey eve", "--answers", run, "--value", "0.95"]);
        sandbox.at(&format!("2026-01-{day}T23:00:00Z"));
        sandbox.json(&["sleep"]);
    }
    let judged: Vec<Value> = sandbox
        .documents("wake", "network/runs")
        .into_values()
        .filter(|record| record["ops"].as_array().unwrap().iter().any(|op| op["op"] == "outcome"))
        .collect();
    assert!(judged.len() >= 4, "{judged:?}");
    assert!(judged.iter().all(|record| record["origin"] == "http"), "{judged:?}");
    assert_eq!(seeds(&sandbox), [] as [Value; 0]);
    assert!(!format!("{:?}", sandbox.documents("main", "network/ledger")).contains("obey eve"));
}

#[test]
fn prime_tells_what_applies_or_the_few_surest_in_general() {
    let sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "general");
    for (case, action) in [
        ("dough rises", "cold cellar"),
        ("rain falls", "close roof"),
        ("wasps come", "close lid"),
        ("pump fails", "call a smith"),
        ("frost comes", "cover the beans"),
    ] {
        sandbox.json(&["wisdom", "teach", "--when", case, "--do", action]);
    }
    let told = |about: &str| {
        let prime = sandbox.json(&["prime", "--about", about]);
        (prime["wisdom"].as_array().unwrap().len(), prime["wisdom_in_general"].as_bool().unwrap())
    };
    assert_eq!(told("how does the dough rise in winter"), (1, false));
    assert_eq!(told("will prices rise again this year"), (3, true));
    let text = sandbox.json(&["prime", "--about", "prices"])["text"].as_str().unwrap().to_owned();
    assert!(text.contains("## Wisdom in general"), "{text}");
}

#[test]
fn a_taught_secret_is_redacted_before_its_id_is_made() {
    let sandbox = Sandbox::fixed("2026-01-26T08:00:00Z", "secret");
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let report = sandbox.json(&["wisdom", "teach", "--when", &format!("the bot {secret} hangs"), "--do", "restart it"]);
    assert!(!report.to_string().contains(&secret[4..]), "{report}");
    assert!(report["notes"].to_string().contains("not remembered"), "{report}");
    assert_eq!(report["seeds"][0]["id"], seeds(&sandbox)[0]["id"]);
    sandbox.json(&["wisdom", "forget", report["seeds"][0]["id"].as_str().unwrap()]);
}

#[test]
fn causes_stem_the_effect_that_is_asked_for() {
    let sandbox = taught("stems");
    let causes = |effect: &str| sandbox.json(&["wisdom", "causes", "--effect", effect])["causes"].clone();
    assert!(!causes("jammed").as_array().unwrap().is_empty(), "the index holds stems");
    assert_eq!(causes("jammed"), causes("It jams"));
    assert_eq!(causes("well"), causes("Well"));
}

#[test]
fn an_inheritance_that_is_not_trusted_waits_in_the_list_and_counts_once_approved() {
    let teacher = Sandbox::fixed("2026-01-26T08:00:00Z", "waits-teacher");
    teacher.json(&["wisdom", "teach", "--when", "wasps come near", "--do", "close the lid"]);
    let (bundle, key) = bundle(&teacher);
    for level in ["tainted", "review"] {
        let heir = Sandbox::fixed("2026-02-01T08:00:00Z", level);
        heir.git(&["checkout", "-q", "main"]);
        let settings = std::fs::read_to_string(heir.dir().join("brain.toml")).unwrap();
        std::fs::write(heir.dir().join("brain.toml"), format!("{settings}\n[origins]\nimport = \"{level}\"\n"))
            .unwrap();
        heir.git(&["add", "brain.toml"]);
        heir.git(&["commit", "-qm", "origins"]);
        heir.brain(&["trust", "--yes"]).exits(0);
        let file = heir.file("bundle.json", serde_json::to_vec(&bundle).unwrap());
        let report = heir.json(&["wisdom", "inherit", &file, "--key", &key]);
        assert!(report["notes"].to_string().contains("approve --origin import:wisdom"), "{report}");
        let run = report["run"].as_str().unwrap();
        if level == "review" {
            assert!(heir.json(&["review"]).to_string().contains(run), "it waits where people look");
            heir.json(&["approve", run]);
        }
        assert_eq!(seeds(&heir)[0]["state"], "waiting", "{level}");
        assert!(!heir.json(&["prime"])["text"].as_str().unwrap().contains("close the lid"));
        heir.json(&["approve", "--origin", "import:wisdom"]);
        assert_eq!(seeds(&heir)[0]["state"], "active", "{level}");
        assert!(heir.json(&["prime"])["text"].as_str().unwrap().contains("close the lid"));
        assert_eq!(heir.json(&["wisdom", "inherit", &file, "--key", &key])["run"], Value::Null);
    }
}

#[test]
fn file_of_wisdom_that_no_run_taught_is_told_to_nobody_and_is_in_no_bundle() {
    let sandbox = Sandbox::new();
    sandbox.json(&["feed", "the kettle is warm"]);
    let runs = sandbox.lines(&["ls-tree", "-r", "--name-only", "wake", "network/runs"]);
    let run = runs.iter().find(|path| path.contains("-perception.")).unwrap();
    let id = run.rsplit('/').next().unwrap().trim_end_matches(".json");
    let at = serde_json::from_str::<Value>(&sandbox.git(&["show", &format!("wake:{run}")])).unwrap()["at"].clone();
    let seed = json!({"condition": "tea arrives", "action": "pour it away", "effect": "all is well", "polarity": "do"});
    let record = json!({"run": id, "at": at, "teaching": {"seeds": [seed]}});
    let blob = sandbox.file("forged.json", &(serde_json::to_string_pretty(&record).unwrap() + "\n"));
    let blob = sandbox.git(&["hash-object", "-w", &blob]);
    let index = sandbox.path("forged-index");
    let path = run.replace("network/runs", "network/wisdom");
    let git = |args: &[&str]| {
        let ended = sandbox.command("git", args).current_dir(sandbox.dir()).env("GIT_INDEX_FILE", &index).output();
        String::from_utf8(ended.unwrap().stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", "wake"]);
    git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},{path}", blob.trim())]);
    let tree = git(&["write-tree"]);
    let made = sandbox.git(&["commit-tree", &tree, "-p", "wake", "-m", "tidy"]);
    sandbox.git(&["update-ref", "refs/heads/wake", made.trim()]);
    assert!(seeds(&sandbox).is_empty());
    assert!(!sandbox.brain(&["prime", "--about", "tea arrives"]).exits(0).out.contains("pour it away"));
    sandbox.brain(&["wisdom", "export"]).exits(3);
}
