//! Is it a brain yet: what `status` says of a small brain, against what can be counted by hand.

use crate::sandbox::{self, NOW, Sandbox};
use serde_json::{Value, json};

const BIRDS: [&str; 12] = [
    "heron",
    "otter",
    "curlew",
    "osprey",
    "bittern",
    "kestrel",
    "plover",
    "sparrow",
    "cormorant",
    "gannet",
    "puffin",
    "wren",
];
const PLACES: [&str; 5] = ["lock", "mill", "harbour", "orchard", "lighthouse"];
const DEEDS: [&str; 4] = ["slept", "fished", "sang", "hid"];

/// Twelve memories of this day, and twelve of two years ago.
fn fed() -> Sandbox {
    let sandbox = Sandbox::fixed(NOW, "vitals");
    let mut lines = String::new();
    for (n, bird) in BIRDS.iter().enumerate() {
        for (at, when) in [("2026-01-26T12:00:00Z", "today"), ("2024-01-26T12:00:00Z", "back then")] {
            let place = PLACES[n % 5];
            let deed = DEEDS[(n + when.len()) % 4];
            let text = format!("A {bird} {deed} beside the old {place} {when} while the miller watched.");
            lines += &format!("{}\n", json!({"text": text, "at": at, "session": format!("{when} {}", n % 3)}));
        }
    }
    let file = sandbox.file("birds.jsonl", lines);
    sandbox.json(&["feed", "--file", &file]);
    sandbox
}

fn vitals(sandbox: &Sandbox) -> Value {
    sandbox.json(&["status"])["vitals"].clone()
}

/// Every field, without lists' elements.
fn fields(value: &Value, at: &str, out: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{at}{key}");
        fields(value, &format!("{path}."), out);
        out.push(path);
    }
}

#[test]
fn status_has_every_figure() {
    let sandbox = fed();
    let found = vitals(&sandbox);
    let mut paths = Vec::new();
    fields(&found, "", &mut paths);
    for path in [
        "saliences.histogram",
        "saliences.deciles",
        "saliences.active",
        "saliences.active_share",
        "branching.ratio",
        "structure.measured",
        "structure.null_models",
        "structure.modularity.value",
        "structure.modularity.null.deviation",
        "structure.modularity.z",
        "structure.small_world.sigma",
        "structure.small_world.clustering_null.mean",
        "structure.small_world.path_length",
        "structure.integration.relative",
        "structure.integration.reach",
        "calibration",
        "narrative_gap",
        "recall_by_age.ages",
        "since_sleep.connections_made",
    ] {
        assert!(paths.iter().any(|p| p == path), "{path} is not in {found:#}");
    }
    assert!(!found["structure"]["small_world"]["sigma"].is_null(), "{found:#}");
    assert_eq!(found, vitals(&sandbox), "the same brain at the same clock has the same figures");
    let quick = sandbox.json(&["status", "--quick"]);
    assert_eq!((&quick["vitals"], quick["stimuli"].as_u64()), (&Value::Null, Some(24)));
    assert!(!sandbox.brain(&["status", "--quick"]).exits(0).out.contains("vital signs"));
}

#[test]
fn counts_are_those_of_the_files() {
    let sandbox = fed();
    let found = vitals(&sandbox);
    let (before, after) = (sandbox.neurons("main"), sandbox.neurons("wake"));
    let since = &found["since_sleep"];
    let made = after.keys().filter(|id| !before.contains_key(*id)).count();
    let changed = after.iter().filter(|(id, neuron)| before.get(*id).is_some_and(|b| b != *neuron)).count();
    assert_eq!(
        (since["neurons_made"].as_u64(), since["neurons_changed"].as_u64()),
        (Some(made as u64), Some(changed as u64))
    );
    assert_eq!((&since["neurons_gone"], &since["read"]), (&json!(0), &json!(made + changed)));
    let connections = |all: &std::collections::BTreeMap<String, Value>| -> usize {
        all.values().map(|n| n["connections"].as_array().expect("connections").len()).sum()
    };
    assert_eq!(since["connections_made"].as_u64(), Some((connections(&after) - connections(&before)) as u64));
    let saliences = &found["saliences"];
    assert_eq!(saliences["neurons"].as_u64(), Some(after.len() as u64));
    let counted: u64 = saliences["histogram"].as_array().expect("tenths").iter().filter_map(Value::as_u64).sum();
    assert_eq!(counted, after.len() as u64);
    let active = saliences["active"].as_u64().expect("a count");
    assert!(
        active >= 12 && active < after.len() as u64,
        "what was told today is vivid, what was told long ago is not: {saliences}"
    );
    // Perception's runs are stimuli's, memory's are perception's.
    let branching = &found["branching"];
    assert!(branching["children"].as_u64() > Some(0) && branching["ratio"].as_f64() > Some(0.0), "{branching}");
}

#[test]
fn memories_are_asked_for_by_age_without_the_word_that_is_asked() {
    let sandbox = fed();
    let ages = vitals(&sandbox)["recall_by_age"]["ages"].clone();
    let of = |name: &str| ages.as_array().expect("ages").iter().find(|a| a["age"] == name).expect("an age").clone();
    for name in ["day", "older"] {
        let age = of(name);
        assert_eq!((&age["memories"], &age["asked"]), (&json!(12), &json!(12)), "{age}");
        let (share, chance) = (age["share"].as_f64().expect("a share"), age["chance"].as_f64().expect("a chance"));
        assert!(share > 0.5 && share <= 1.0 && chance > 0.0 && chance < 1.0, "{age}");
        let (hits, rank) = (age["hits"].as_u64().expect("hits"), age["reciprocal_rank"].as_f64().expect("a rank"));
        assert!(age["first"].as_u64() <= Some(hits) && rank > 0.0 && rank <= 1.0, "{age}");
    }
    // All of them tell of an old place and a miller.
    assert_eq!(of("day")["distractors"], json!(23.0));
    for name in ["week", "month", "year"] {
        let age = of(name);
        assert_eq!((&age["memories"], &age["asked"], &age["share"]), (&json!(0), &json!(0), &Value::Null), "{age}");
    }
    // What was never told cannot be found again.
    let fresh = vitals(&Sandbox::fixed(NOW, "nothing"));
    assert!(fresh["recall_by_age"]["ages"].as_array().expect("ages").iter().all(|age| age["asked"] == 0));
}

#[test]
fn what_was_only_asked_is_neither_asked_for_nor_an_answer() {
    let sandbox = fed();
    let before = vitals(&sandbox)["recall_by_age"].clone();
    let texts = sandbox.neurons("wake").into_values().filter(|neuron| neuron["type"] == "episodic");
    let echo = |text: &str| json!({"text": format!("Is it true: {text}?"), "source": "chat:c1", "session": "c1"});
    let echoes: String =
        texts.map(|neuron| format!("{}\n", echo(neuron["concept"].as_str().expect("a text")))).collect();
    let file = sandbox.file("echoes.jsonl", echoes);
    sandbox.json(&["feed", "--file", &file]);
    assert_eq!(vitals(&sandbox)["recall_by_age"], before);
}

#[test]
fn calibration_reads_the_ledger_of_wake() {
    let sandbox = fed();
    assert_eq!(vitals(&sandbox)["calibration"], Value::Null);
    for (n, came) in ["1.0", "0.0"].into_iter().enumerate() {
        let document = json!({"prediction": {"value": 0.8}, "ops": [sandbox::create(&format!("act{n}"))]});
        let run = sandbox.apply(&document, &[])["run"].as_str().expect("a run").to_owned();
        sandbox.json(&["outcome", &run, "--value", came]);
    }
    let found = vitals(&sandbox)["calibration"].clone();
    assert_eq!((&found["count"], found["bins"].as_array().map(Vec::len)), (&json!(2), Some(1)), "{found}");
    let near = |key: &str, expected: f64| {
        let x = found[key].as_f64().unwrap_or(f64::NAN);
        assert!((x - expected).abs() < 1e-9, "{key}: {x} is not {expected}");
    };
    near("brier", (0.04 + 0.64) / 2.0);
    near("mean_error", -0.3);
    near("calibration_error", 0.3);
}

#[test]
fn each_criterion_of_a_brain_has_a_verdict_in_words() {
    let sandbox = fed();
    let told = vitals(&sandbox)["verdicts"].clone();
    let told = told.as_array().expect("verdicts");
    let named = |criterion: &str| told.iter().find(|v| v["criterion"] == criterion).expect("a verdict").clone();
    assert_eq!(told.len(), 11, "{told:#?}");
    for verdict in told {
        let words = match verdict["answer"].as_str() {
            Some("yes") => "yes: ",
            Some("not_yet") => "not yet: ",
            Some("too_little") => "too little to tell: ",
            other => panic!("{other:?}"),
        };
        assert!(verdict["text"].as_str().expect("words").starts_with(words), "{verdict}");
    }
    let neurons = sandbox.json(&["status", "--quick"])["neurons"].clone();
    let format = format!("too little to tell: {neurons} of {neurons} files of neurons can be read; it takes 10000");
    assert_eq!(named("format")["text"], format);
    let asked: u64 = vitals(&sandbox)["recall_by_age"]["ages"]
        .as_array()
        .expect("ages")
        .iter()
        .map(|age| age["asked"].as_u64().expect("a count"))
        .sum();
    let comprehension = named("comprehension");
    assert!(
        comprehension["text"].as_str().expect("words").contains(&format!(" of {asked} missing words")),
        "{comprehension}"
    );
    assert!(comprehension["null"].as_f64().expect("chance") < 1.0);
    let shown = sandbox.brain(&["status"]).exits(0).out;
    assert!(shown.contains("is it a brain yet? not yet: ") || shown.contains("is it a brain yet? yes: "), "{shown}");
    assert!(
        shown.lines().any(|line| line.starts_with("  foresight      too little to tell: no prediction")),
        "{shown}"
    );
    assert!(sandbox.json(&["status", "--quick"])["vitals"].is_null());
}

#[test]
fn plots_are_drawn_in_what_the_terminal_can_show() {
    let sandbox = fed();
    let shown = sandbox.brain(&["status"]).exits(0).out;
    assert!(shown.contains('█') && shown.contains('σ') && !shown.contains('\u{1b}'), "{shown}");
    for (name, value) in [("LC_ALL", "C"), ("LC_ALL", "de_DE.ISO-8859-1"), ("TERM", "dumb")] {
        let output = sandbox.command(sandbox::PROGRAM, &["status"]).env(name, value).output().expect("an answer");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success() && text.contains("sigma") && text.is_ascii(), "{name}={value}: {text}");
    }
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(120), "{widest:?} columns: {shown}");
}

#[test]
fn status_of_a_large_brain_takes_no_vital_signs_and_says_which_command_does() {
    let sandbox = Sandbox::fixed(NOW, "large");
    let lines: Vec<String> = (0..5_100)
        .map(|n| json!({"subject": format!("s{n}"), "relation": "knows", "object": format!("s{}", n + 1)}).to_string())
        .collect();
    let file = sandbox.file("triples.jsonl", lines.join("\n"));
    sandbox.brain(&["import", "--triples", &file]).exits(0);
    let shown = sandbox.brain(&["status"]).exits(0).out;
    assert!(shown.contains("none were taken yet; `git brain status --vitals` takes them"), "{shown}");
    assert!(sandbox.json(&["status"])["vitals"].is_null());
    assert!(!sandbox.brain(&["status", "--quick"]).exits(0).out.contains("none were taken"));
    assert!(sandbox.json(&["status", "--vitals"])["vitals"].is_object());
    assert!(sandbox.json(&["status"])["vitals"].is_object(), "those that were taken are kept");
}
