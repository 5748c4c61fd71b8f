//! Charts as files: the ledger beside the story, and the days of a brain.

use crate::sandbox::{Sandbox, create};
use serde_json::{Value, json};

/// The title of each point of a chart.
fn titles(chart: &str) -> Vec<&str> {
    chart.split("<title>").skip(1).map(|rest| rest.split("</title>").next().unwrap()).collect()
}

fn decided(sandbox: &Sandbox, value: f64, came: &str) {
    let report = sandbox.apply(&json!({"prediction": {"value": value}, "ops": []}), &[]);
    sandbox.json(&["outcome", report["run"].as_str().unwrap(), "--value", came]);
}

#[test]
fn ledger_draws_expectations_beside_outcomes_and_the_story_below() {
    let mut sandbox = Sandbox::fixed("2026-03-01T10:00:00Z", "charts");
    let file = sandbox.path("ledger.svg");
    let drawn = |sandbox: &Sandbox, more: &[&str]| {
        let said = sandbox.brain(&[&["ledger", "--svg", &file], more].concat()).exits(0);
        let is_told = said.err.contains("wrote") && said.err.contains("ledger.svg");
        assert_eq!(is_told, !more.contains(&"--json"), "{said}");
        std::fs::read_to_string(&file).unwrap()
    };
    assert!(drawn(&sandbox, &[]).contains("nothing was judged yet"));
    decided(&sandbox, 0.75, "0.25");
    sandbox.at("2026-03-02T10:00:00Z");
    decided(&sandbox, 0.5, "1");
    sandbox.json(&["sleep"]);
    let chart = drawn(&sandbox, &["--json"]);
    assert!(
        chart.starts_with("<svg ") && chart.contains("2 judgements") && chart.contains("human: 2 judgements"),
        "{chart}"
    );
    let titles = titles(&chart);
    let points = |name: &str| titles.iter().filter(|title| title.contains(name)).copied().collect::<Vec<_>>();
    assert_eq!((points(": expected ").len(), points(": came ").len()), (2, 2), "{titles:?}");
    assert!(
        points(": expected 0.75")[0].contains("error -0.50") && points(": came 1")[0].contains("2026-03-02"),
        "{titles:?}"
    );
    assert_eq!(
        (points(": gap ").len(), points(": mood ").len(), points(": confidence ").len()),
        (1, 2, 2),
        "{titles:?}"
    );
    // The same commit has the same chart, whatever day it is by now.
    sandbox.at("2026-07-01T10:00:00Z");
    assert_eq!(chart, drawn(&sandbox, &[]));
    assert!(!drawn(&sandbox, &["--agent", "memory"]).contains(": expected "));
    sandbox.brain(&["ledger", "--svg", &sandbox.path("ledger.svg/no")]).exits(2);
}

#[test]
fn status_draws_the_days_that_history_has() {
    let mut sandbox = Sandbox::fixed("2026-03-01T10:00:00Z", "days");
    sandbox.apply(&json!({"ops": [create("a-x"), create("b-x")]}), &[]);
    let count = |sandbox: &Sandbox| sandbox.json(&["status", "--quick"])["neurons"].as_u64().unwrap();
    let first = count(&sandbox);
    // A day without a commit lies between.
    sandbox.at("2026-03-03T10:00:00Z");
    sandbox.apply(&json!({"ops": [create("c-x")]}), &[]);
    decided(&sandbox, 0.5, "1");
    sandbox.json(&["sleep"]);
    let last = count(&sandbox);
    let file = sandbox.path("days.svg");
    let drawn = |sandbox: &Sandbox| {
        sandbox.brain(&["status", "--quick", "--svg", &file]).exits(0);
        std::fs::read_to_string(&file).unwrap()
    };
    let chart = drawn(&sandbox);
    assert!(chart.contains("3 days, commit"), "{chart}");
    let titles = titles(&chart);
    let has = |title: String| assert!(titles.contains(&title.as_str()), "{title}: {titles:?}");
    has(format!("2026-03-01: neurons {first}"));
    has("2026-03-02: runs 0".to_owned());
    has(format!("2026-03-03: neurons {last}"));
    has("2026-03-03: mean error 0.50".to_owned());
    assert!(titles.iter().any(|title| title.starts_with("2026-03-03: mood ")), "{titles:?}");
    let runs: Value = sandbox.json(&["log", "-n", "50"]);
    let merged = runs["entries"].as_array().unwrap().iter().filter(|entry| {
        entry["at"].as_str().unwrap().starts_with("2026-03-03") && entry["run"].is_string() && entry["agent"] != "sleep"
    });
    has(format!("2026-03-03: runs {}", merged.count()));
    sandbox.at("2026-07-01T10:00:00Z");
    assert_eq!(chart, drawn(&sandbox));
}
