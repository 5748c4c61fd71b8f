//! Every bound at its edge: what is just allowed, and what is just not.

use super::*;
use crate::model::Stamp;

const SELF: &str = "memory";

fn limits(json: &str) -> Limits {
    Limits::of(&SELF.parse().unwrap(), &serde_json::from_str(json).unwrap())
}

fn id(text: &str) -> NeuronId {
    NeuronId::parse(text).unwrap()
}

fn op(json: &str) -> Operation {
    let text = format!("{{\"ops\": [{json}]}}");
    crate::delta::Document::parse(text.as_bytes(), "test").unwrap().ops.remove(0)
}

/// A neuron whose concept that agent gave.
fn named_by(agent: &str) -> Neuron {
    let mut neuron = Neuron::new(id("x1"), "x", Kind::Semantic, Stamp::from_unix(0));
    neuron.named_by.concept.run = Some(RunId::parse(&format!("20260126t143200123z-abcd2345-{agent}")).unwrap());
    neuron
}

#[test]
fn an_operation_needs_its_name_and_what_it_names() {
    let signal = op(r#"{"op": "signal", "to": "critic", "payload": {}}"#);
    let flag = op(r#"{"op": "flag", "name": "urgence", "value": true}"#);
    for (allowed, op, expected) in [
        (r#"{"operations": ["signal", "flag"]}"#, &signal, true),
        (r#"{"operations": ["flag"]}"#, &signal, false),
        (r#"{"operations": ["signal"], "signals_to": ["critic", "b"]}"#, &signal, true),
        (r#"{"operations": ["signal"], "signals_to": ["b"]}"#, &signal, false),
        (r#"{"operations": ["signal"], "signals_to": []}"#, &signal, false),
        (r#"{"operations": ["flag"], "flags": ["urgence"]}"#, &flag, true),
        (r#"{"operations": ["flag"], "flags": ["critic"]}"#, &flag, false),
    ] {
        assert_eq!(limits(allowed).check_operation(op).is_ok(), expected, "{allowed} {}", op.name());
    }
}

#[test]
fn nobody_judges_his_own_runs_nor_those_he_may_not() {
    let judge = |agent: &str, allowed: &str| {
        let run = format!("20260126t143200123z-abcd2345-{agent}");
        let op = op(&format!(r#"{{"op": "outcome", "run": "{run}", "value": 0.5, "error": 0.1, "method": "number"}}"#));
        limits(&format!(r#"{{"operations": ["outcome"]{allowed}}}"#)).check_operation(&op).is_ok()
    };
    assert!(judge("critic", ""));
    assert!(!judge(SELF, ""));
    assert!(!judge(SELF, r#", "judges": ["memory"]"#));
    assert!(judge("critic", r#", "judges": ["critic"]"#));
    assert!(!judge("other", r#", "judges": ["critic"]"#));
}

#[test]
fn a_derived_id_is_made_for_what_it_is_derived_of_alone() {
    let create = |id: &NeuronId, concept: &str| {
        let op = op(&format!(r#"{{"op": "create", "id": "{id}", "concept": "{concept}", "type": "semantic"}}"#));
        limits(r#"{"operations": ["create"]}"#).check_operation(&op).is_ok()
    };
    assert!(create(&ids::concept_id("green tea"), "green tea"));
    assert!(create(&ids::speaker_id("Anna"), "Anna"));
    assert!(!create(&ids::concept_id("green tea"), "poison"));
    assert!(create(&id("plain"), "poison"));
}

#[test]
fn types_and_regions_and_targets_bound_what_is_changed() {
    let of = limits(r#"{"types": ["semantic"], "regions": ["a*", "@own"], "links": ["recalls", "triggers"]}"#);
    assert!(of.check_kind(Kind::Semantic).is_ok() && of.check_kind(Kind::Core).is_err());
    assert!(of.check_region(&id("a1"), Some(&named_by("critic"))).is_ok());
    assert!(of.check_region(&id("x1"), Some(&named_by("critic"))).is_err());
    assert!(of.check_region(&id("x1"), Some(&named_by(SELF))).is_ok());
    assert!(of.check_region(&id("x1"), None).is_ok(), "what it makes now is its own");
    // Without targets, what is pointed to has to lie in the regions.
    let other = named_by("critic");
    assert!(of.check_target(&id("a1"), Some(&other), Link::Recalls).is_ok());
    assert!(of.check_target(&id("x1"), Some(&other), Link::Recalls).is_err());
    assert!(of.check_target(&id("a1"), Some(&other), Link::Inhibits).is_err(), "a type that is not among its links");
    // With targets, these count; but what it triggers has to lie in the regions all the same.
    let of = limits(r#"{"regions": ["a*"], "targets": ["x*"]}"#);
    assert!(of.check_target(&id("x1"), Some(&other), Link::Recalls).is_ok());
    assert!(of.check_target(&id("a1"), Some(&other), Link::Recalls).is_err());
    assert!(of.check_target(&id("x1"), Some(&other), Link::Triggers).is_err());
    let free = limits("{}");
    assert!(free.check_region(&id("x1"), Some(&other)).is_ok());
    assert!(free.check_target(&id("x1"), Some(&other), Link::Triggers).is_ok());
}

#[test]
fn sub_goals_are_bounded_by_their_ids() {
    let goal = |name: &str| GoalId::parse(name).unwrap();
    let of = limits(r#"{"goals": ["tea-*", "@own"]}"#);
    assert!(of.check_goal(&goal("tea-more"), false).is_ok());
    assert!(of.check_goal(&goal("rule-all"), false).is_err());
    assert!(of.check_goal(&goal("rule-all"), true).is_ok());
    assert!(limits(r#"{"goals": []}"#).check_goal(&goal("tea-more"), true).is_err());
    assert!(limits("{}").check_goal(&goal("rule-all"), false).is_ok());
}

#[test]
fn numbers_are_allowed_up_to_their_bound_and_no_further() {
    let of = limits(r#"{"max_weight_delta": 100, "max_operations": 3, "max_created": 2}"#);
    for (change, expected) in [(100, true), (-100, true), (101, false), (-101, false), (0, true)] {
        assert_eq!(of.check_change(change).is_ok(), expected, "{change}");
    }
    assert!(of.check_count(3).is_ok() && of.check_count(4).is_err());
    let mut spent = Spent::default();
    let made: Vec<bool> = (0..4).map(|_| of.check_created(&mut spent).is_ok()).collect();
    assert_eq!(made, [true, true, false, false]);
    assert_eq!(of.capabilities().max_created, Some(2));
}

#[test]
fn strengths_add_up_for_a_neuron_and_for_all() {
    let ask = |of: &Limits, steps: &[(&str, f64)]| -> Vec<bool> {
        let mut spent = Spent::default();
        steps.iter().map(|(name, strength)| of.check_strength(&id(name), *strength, &mut spent).is_ok()).collect()
    };
    let one = limits(r#"{"max_strength": 0.3}"#);
    // 0.1 + 0.1 + 0.1 is a little more than 0.3 in floating point.
    assert_eq!(
        ask(&one, &[("a", 0.1), ("a", 0.1), ("a", 0.1), ("b", 0.3), ("a", 0.01)]),
        [true, true, true, true, false]
    );
    assert_eq!(ask(&one, &[("a", 0.3 + TOLERANCE)]), [true]);
    assert_eq!(ask(&one, &[("a", 0.3 + 2.0 * TOLERANCE)]), [false]);
    let all = limits(r#"{"max_total_strength": 0.3}"#);
    assert_eq!(ask(&all, &[("a", 0.1), ("b", 0.1), ("c", 0.1), ("d", 0.01)]), [true, true, true, false]);
    assert_eq!(ask(&all, &[("a", 0.3 + TOLERANCE)]), [true]);
    assert_eq!(ask(&all, &[("a", 0.3 + 2.0 * TOLERANCE)]), [false]);
    let both = limits(r#"{"max_strength": 0.5, "max_total_strength": 0.6}"#);
    assert_eq!(ask(&both, &[("a", 0.5), ("b", 0.1), ("b", 0.1)]), [true, true, false]);
    assert_eq!(ask(&limits("{}"), &[("a", 1.0), ("a", 1.0)]), [true, true]);
}
