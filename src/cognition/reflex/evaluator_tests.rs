//! What the evaluator proposes, and what it leaves alone.

use serde_json::json;

use super::super::fixture::World;
use super::*;
use crate::delta::operation::Acknowledge;
use crate::model::Link;
use crate::model::document::Rule;
use crate::model::ids::{SignalId, concept_id};

const WAY: (&str, Link, &str) = ("rain", Link::FeedsInto, "umbrella");

/// Rain → umbrella, relied on by a run of decision that expected 0.7.
fn world() -> (World, RunId) {
    let mut world = World::new("evaluator");
    world.concept("rain", 0);
    world.concept("umbrella", 0);
    world.link("rain", Link::FeedsInto, "umbrella", 50_000);
    let run = world.recorded("decision", 0.7, &[WAY], vec![]);
    (world, run)
}

fn edge() -> String {
    format!("{} feeds_into {}", concept_id("rain"), concept_id("umbrella"))
}

#[test]
fn an_outcome_becomes_an_error_that_the_pathway_learns_from() {
    let (mut world, run) = world();
    world.signal("perception", json!({"kind": "outcome", "run": run, "value": 0.4}));
    let ops = world.think(Rule::Evaluator);
    assert_eq!(ops[..2], [format!("reinforce -0.300 {}", edge()), "outcome decision 0.4 -0.300 number".to_owned()]);
    assert!(ops[2].starts_with("acknowledge g1 {\"done\":\"judged\""), "{ops:?}");
    assert_eq!(ops.len(), 3);
}

#[test]
fn a_text_is_kept_and_teaches_nothing() {
    let (mut world, run) = world();
    world.signal("perception", json!({"kind": "outcome", "run": run, "text": "It went very well."}));
    let ops = world.think(Rule::Evaluator);
    assert_eq!(ops[0], "outcome decision 0.7 0.000 unjudged");
    assert!(ops[1].starts_with("acknowledge g1 {\"done\":\"kept\"") && ops.len() == 2, "{ops:?}");
}

#[test]
fn what_was_expected_is_entered_and_teaches_nothing() {
    let (mut world, run) = world();
    world.signal("perception", json!({"kind": "outcome", "run": run, "value": 0.7}));
    assert_eq!(world.think(Rule::Evaluator)[0], "outcome decision 0.7 0.000 number");
}

#[test]
fn one_run_judges_one_outcome_and_answers_what_lies_before_the_next() {
    let (mut world, run) = world();
    let outcome = json!({"kind": "outcome", "run": run, "value": 0.4});
    for payload in [&json!({"kind": "prediction"}), &outcome, &json!({"kind": "introduction"}), &outcome, &outcome] {
        world.signal("perception", payload.clone());
    }
    let ops = world.think(Rule::Evaluator);
    assert_eq!(ops.iter().filter(|op| op.starts_with("outcome")).count(), 1);
    let answered: Vec<&str> = ops.iter().filter_map(|op| op.strip_prefix("acknowledge ")?.get(..2)).collect();
    assert_eq!(answered, ["g1", "g2", "g3"]);
    assert_eq!(answerable(world.signals()), 3);
    assert_eq!(answerable(&world.signals()[..2]), 2);
}

#[test]
fn a_draft_strengthens_nothing_whoever_reads_it() {
    for (agent, rule) in [("evaluator", Rule::Evaluator), ("memory", Rule::Memory)] {
        let mut world = World::new(agent);
        world.concept("rain", 65535);
        world.signal("decision", json!({"kind": "prediction", "text": "rain", "value": 1.0}));
        assert_eq!(world.think(rule), ["acknowledge g1 {\"done\":\"noted\"}"]);
    }
}

#[test]
fn what_cannot_be_judged_is_answered_with_the_reason() {
    let (mut world, run) = world();
    let gone = run.as_str().replace("decision", "memory");
    let cases = [
        (json!({}), "names no run"),
        (json!({"run": gone, "value": 1}), "no run"),
        (json!({"run": run}), "needs a value or a text"),
        (json!({"run": run, "value": 2}), "between 0 and 1"),
        (json!({"run": run, "value": "much"}), "no number"),
        (json!({"run": run, "text": "a\u{7}"}), "control"),
    ];
    for (mut payload, _) in cases.clone() {
        payload["kind"] = json!("outcome");
        world.signal("perception", payload);
    }
    world.signal("decision", json!({"kind": "outcome", "run": run, "value": 1}));
    let ops = world.think(Rule::Evaluator);
    let reasons: Vec<&str> = cases.iter().map(|(_, why)| *why).chain(["does not judge its own run"]).collect();
    assert_eq!(ops.len(), reasons.len(), "{ops:?}");
    for (op, why) in ops.iter().zip(reasons) {
        assert!(op.contains("\"understood\":false") && op.contains(why), "{op} has no {why}");
    }
}

#[test]
fn with_eligibility_the_runs_behind_it_are_credited_too() {
    let (mut world, run) = world();
    world.concept("cloud", 0);
    world.link("cloud", Link::FeedsInto, "rain", 40_000);
    let before = world.recorded("affect", 0.5, &[("cloud", Link::FeedsInto, "rain")], vec![]);
    world.sent("g-asked", &before);
    let signal = SignalId::parse("g-asked").unwrap();
    let answer = Operation::Acknowledge(Acknowledge { signal, payload: json!({}) });
    let judged = world.recorded("decision", 0.7, &[WAY], vec![answer]);
    assert_ne!(judged, run);
    world.signal("perception", json!({"kind": "outcome", "run": judged, "value": 0.9}));
    assert_eq!(world.think(Rule::Evaluator)[0], format!("reinforce 0.200 {}", edge()));
    assert!(world.think(Rule::Evaluator)[1].starts_with("outcome"));
    world.settings.learning.eligibility = 0.5;
    let ops = world.think(Rule::Evaluator);
    assert_eq!(ops[1], format!("reinforce 0.100 {} feeds_into {}", concept_id("cloud"), concept_id("rain")));
}

#[test]
fn a_pathway_that_proves_itself_becomes_a_sub_goal_of_what_it_serves() {
    let (mut world, run) = world();
    world.signal("perception", json!({"kind": "outcome", "run": run, "value": 0.9}));
    [0.2, 0.2].into_iter().for_each(|error| world.judged(&[WAY], error));
    let goal = |ops: Vec<String>| ops.into_iter().find(|op| op.starts_with("goal"));
    assert_eq!(goal(world.think(Rule::Evaluator)).unwrap(), "goal \"reach \\\"umbrella\\\"\" open parent none");
    world.concept("dry", 0);
    world.link("umbrella", Link::FeedsInto, "dry", 2048);
    world.wants("stay-dry", GoalLevel::Terminal, "dry", None);
    assert!(goal(world.think(Rule::Evaluator)).unwrap().ends_with("open parent stay-dry"));
    // It is there: nothing turns.
    world.wants(sub_goal_id(&concept_id("umbrella")).as_str(), GoalLevel::Sub, "umbrella", Some("evaluator"));
    assert_eq!(goal(world.think(Rule::Evaluator)), None);
}

#[test]
fn a_pathway_that_only_disappoints_loses_its_sub_goal_unless_a_person_set_it() {
    for (by, expected) in [(Some("evaluator"), true), (None, false)] {
        let (mut world, run) = world();
        world.signal("perception", json!({"kind": "outcome", "run": run, "value": 0.1}));
        [-0.2, -0.2].into_iter().for_each(|error| world.judged(&[WAY], error));
        world.wants(sub_goal_id(&concept_id("umbrella")).as_str(), GoalLevel::Sub, "umbrella", by);
        let ops = world.think(Rule::Evaluator);
        assert_eq!(ops.iter().any(|op| op.starts_with("goal") && op.contains("abandoned")), expected, "{ops:?}");
    }
}
