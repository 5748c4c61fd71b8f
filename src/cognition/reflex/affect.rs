//! Affect: watches urgency. It raises and clears the flags `urgence` and `priority_override`, and when something cannot
//! wait it asks decision to act.
//!
//! How urgent things still are is the salience of its own core neuron, which fades like any other; so a second look at
//! the same state proposes nothing, and no flag of an agent stays on for ever. A flag that somebody else raised is an urgency as well: `urgence` of
//! 0.5, `priority_override` of 0.8; an agent's becomes affect's own, a person's stays until a person takes it down. An outcome that decision did not expect is felt below that: it lights the neuron, and raises no flag. Source: MagistraAI's technical note, 5.2.

use serde_json::{Value, json};

use super::proposal::{Proposal, clip, constant_id};
use super::{AFFECT, AROUSAL, kind, query};
use crate::activation::ripple::RISE;
use crate::cognition::{Network, Raised, Snapshot};
use crate::delta::Document;
use crate::limits;
use crate::model::document::{Condition, State};
use crate::model::ids::NeuronId;
use crate::model::origin::Origins;
use crate::model::{HUMAN, Signal};

const URGENCE: &str = "urgence";
const OVERRIDE: &str = "priority_override";
/// Below this level, 0..=1, all is calm.
const CALM_BELOW: f64 = 0.2;
/// From this level on, it goes before everything else.
const OVERRIDE_FROM: f64 = 0.8;
/// The level of an urgency that does not say how urgent.
const UNSAID: f64 = 0.5;
/// The agent that is asked to act.
const ACTOR: &str = "decision";

/// Signals that one run answers: each costs an answer, and the worst of them a handful of operations.
pub(super) const SIGNALS: usize = 100;

/// What affect proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network, origins: &Origins) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let signals = proposal.signals();
    // The most urgent since the last word of calm.
    let mut worst: Option<(f64, &Signal)> = None;
    let (mut calm, mut decided) = (false, false);
    for signal in signals {
        match reading(signal) {
            Some(level) if level < CALM_BELOW => (worst, calm) = (None, true),
            Some(level) if worst.is_none_or(|(most, _)| level > most) => worst = Some((level, signal)),
            Some(_) => {}
            None => decided |= signal.payload_kind() == Some(kind::DECISION),
        }
    }
    if let Some((level, signal)) = worst {
        let why = reason(level, signal);
        proposal.flag(URGENCE, true, &why);
        proposal.activate(&constant_id(AFFECT), level);
        if level >= OVERRIDE_FROM {
            proposal.flag(OVERRIDE, true, &why);
            ask_to_act(&mut proposal, level, signal, origins);
        }
    } else if calm {
        clear(&mut proposal, "all is calm");
    }
    let raised = raised_by_others(&proposal, calm).filter(|_| worst.is_none());
    if let Some((level, raised)) = raised {
        let reason = clip(&raised.reason, limits::LABEL_BYTES);
        // An agent's is affect's own from now on, which fades.
        if !is_a_persons(raised) {
            proposal.take_flag(&raised.name, &reason);
        }
        if raised.name.as_str() != URGENCE {
            proposal.flag(URGENCE, true, &reason);
        }
        proposal.activate(&constant_id(AFFECT), level);
        // Whoever raised it need not say why.
        let query = if reason.is_empty() { raised.name.as_str() } else { &reason };
        ask(&mut proposal, level, query, None);
    } else if worst.is_none() && !calm && !still_urgent(&proposal) {
        clear(&mut proposal, "nothing urgent is left");
    }
    if decided && worst.is_none_or(|(level, _)| level < OVERRIDE_FROM) && !calm && still_urgent(&proposal) {
        take_down(&mut proposal, OVERRIDE, "decided");
    }
    if worst.is_none() {
        feel(&mut proposal, signals);
    }
    for signal in signals {
        match (reading(signal), surprise(signal)) {
            (Some(level), _) => proposal.acknowledge(signal, json!({"done": "felt", "level": level})),
            (None, Some(error)) => proposal.acknowledge(signal, json!({"done": "felt", "error": error})),
            (None, None) => proposal.acknowledge_other(signal),
        }
    }
    proposal.finish()
}

/// How urgent a signal says things are, 0..=1; none if it is about something else.
fn reading(signal: &Signal) -> Option<f64> {
    match signal.payload_kind()? {
        kind::CALM => Some(0.0),
        kind::URGENCY => {
            let level = signal.payload.get("level").and_then(Value::as_f64);
            Some(level.unwrap_or(UNSAID).clamp(0.0, 1.0))
        }
        _ => None,
    }
}

/// How far an outcome was from what decision expected, -1..=1.
fn surprise(signal: &Signal) -> Option<f64> {
    let told = signal.payload_kind() == Some(kind::SURPRISE);
    signal.payload.get("error").and_then(Value::as_f64).filter(|error| told && (-1.0..=1.0).contains(error))
}

/// Lights affect up to the greatest surprise, below what is urgent.
fn feel(proposal: &mut Proposal<'_>, signals: &[Signal]) {
    let greatest = signals.iter().filter_map(surprise).map(f64::abs).fold(0.0, f64::max);
    let rise = greatest.min(AROUSAL) - level_now(proposal);
    if rise >= RISE {
        proposal.activate(&constant_id(AFFECT), (rise * 1000.0).round() / 1000.0);
    }
}

/// How bright affect's own neuron is, 0..=1.
fn level_now(proposal: &Proposal<'_>) -> f64 {
    let salience = proposal.live(&constant_id(AFFECT)).map_or(0, |n| n.salience_at(proposal.snapshot.at));
    f64::from(salience) / 65535.0
}

fn still_urgent(proposal: &Proposal<'_>) -> bool {
    level_now(proposal) >= CALM_BELOW
}

/// Whether a person raised a flag, by hand or by a delta.
fn is_a_persons(raised: &Raised) -> bool {
    raised.by.as_ref().is_none_or(|by| by.as_str() == HUMAN)
}

/// The most urgent flag that somebody else raised and that is not felt yet, with its level: a person's when it wakes, an agent's unless there was a
/// word of calm.
fn raised_by_others<'s>(proposal: &Proposal<'s>, calm: bool) -> Option<(f64, &'s Raised)> {
    let snapshot = proposal.snapshot;
    let woke = |raised: &Raised| {
        let by_state =
            raised.name.as_str() == OVERRIDE && snapshot.trigger.contains(State::PriorityOverrideDetected.as_str());
        by_state || snapshot.trigger.contains(&Condition::Flag(raised.name.clone()).to_string())
    };
    let is_new = |raised: &&Raised| match is_a_persons(raised) {
        true => woke(raised),
        false => !calm && raised.by.as_ref() != Some(&snapshot.agent),
    };
    let others = snapshot.raised.iter().filter(is_new);
    let levels = others.filter_map(|raised| match raised.name.as_str() {
        OVERRIDE => Some((OVERRIDE_FROM, raised)),
        URGENCE => Some((UNSAID, raised)),
        _ => None,
    });
    levels.max_by(|a, b| a.0.total_cmp(&b.0))
}

fn clear(proposal: &mut Proposal<'_>, why: &str) {
    take_down(proposal, URGENCE, why);
    take_down(proposal, OVERRIDE, why);
}

/// Takes a flag down, unless it is a person's.
fn take_down(proposal: &mut Proposal<'_>, name: &str, why: &str) {
    let raised = proposal.snapshot.raised.iter().find(|raised| raised.name.as_str() == name);
    if !raised.is_some_and(is_a_persons) {
        proposal.flag(name, false, why);
    }
}

/// The words that made it urgent, as one line.
fn words(signal: &Signal) -> String {
    let words = signal.payload.get("words").and_then(Value::as_array);
    let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
    let line: String = words.join(", ").chars().filter(|c| !c.is_control()).collect();
    clip(&line, limits::LABEL_BYTES)
}

fn reason(level: f64, signal: &Signal) -> String {
    match words(signal).as_str() {
        "" => format!("urgency {level:.2} from {}", signal.from),
        words => format!("urgency {level:.2} from {}: {words}", signal.from),
    }
}

/// Asks decision to act on the strongest concepts of what was perceived, or on the words that made it urgent. Concepts that nobody here
/// trusts are not named: who asks with them would be trusted no further.
fn ask_to_act(proposal: &mut Proposal<'_>, level: f64, signal: &Signal, origins: &Origins) {
    let episode = signal.payload.get("episode").and_then(Value::as_str).and_then(|id| NeuronId::parse(id).ok());
    let concepts = episode.as_ref().map(|id| query::strongest_concepts(proposal, id)).unwrap_or_default();
    let trusted = concepts.iter().filter(|c| !origins.is_tainted(&c.neuron.origin));
    let named: Vec<String> = trusted.map(|c| clip(&c.neuron.concept, limits::LABEL_BYTES)).collect();
    let query = if named.is_empty() { words(signal) } else { named.join(", ") };
    ask(proposal, level, &query, episode);
}

fn ask(proposal: &mut Proposal<'_>, level: f64, query: &str, episode: Option<NeuronId>) {
    let Some(actor) = proposal.snapshot.agents.iter().find(|a| a.name.as_str() == ACTOR) else { return };
    if query.is_empty() {
        return;
    }
    let payload = json!({"kind": kind::ACTION_REQUIRED, "query": query, "level": level, "episode": episode});
    proposal.send(&actor.name, payload);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture::World;
    use crate::model::document::Rule;
    use crate::model::{Kind, Link};

    fn fire() -> World {
        let mut world = World::new("affect");
        world.core();
        world.concept("fire", 65535);
        world.concept("kitchen", 65535);
        world.neuron("e1", "Help, fire in the kitchen!", Kind::Episodic, 65535);
        world.link("e1", Link::FeedsInto, "fire", 60000);
        world.link("e1", Link::FeedsInto, "kitchen", 30000);
        world
    }

    fn urgency(level: f64) -> serde_json::Value {
        json!({"kind": "urgency", "level": level, "episode": "e1", "words": ["help", "fire"]})
    }

    #[test]
    fn what_cannot_wait_overrides_and_asks_for_action() {
        let mut world = fire();
        world.signal("perception", urgency(0.9));
        let expected = [
            "flag urgence true urgency 0.90 from perception: help, fire",
            "activate n_core_affect 0.9",
            "flag priority_override true urgency 0.90 from perception: help, fire",
            "signal decision {\"kind\":\"action_required\",\"query\":\"fire, kitchen\",\"level\":0.9,\"episode\":\"e1\"}",
            "acknowledge g1 {\"done\":\"felt\",\"level\":0.9}",
        ];
        assert_eq!(world.think(Rule::Affect), expected);
    }

    #[test]
    fn a_second_look_at_the_same_state_proposes_nothing() {
        let mut world = fire();
        world.flags(&["urgence", "priority_override"]);
        world.salience("n_core_affect", 58982);
        assert!(world.think(Rule::Affect).is_empty());
        world.flags(&["urgence"]);
        assert!(world.think(Rule::Affect).is_empty());
        world.flags(&[]);
        world.salience("n_core_affect", 0);
        assert!(world.think(Rule::Affect).is_empty());
    }

    #[test]
    fn what_can_wait_raises_one_flag_once() {
        let mut world = fire();
        world.signal("perception", urgency(0.79));
        let ops = world.think(Rule::Affect);
        assert!(ops[0].starts_with("flag urgence true") && ops.len() == 3, "{ops:?}");
        world.flags(&["urgence"]);
        assert_eq!(world.think(Rule::Affect)[..1], ["activate n_core_affect 0.79"]);
    }

    #[test]
    fn calm_clears_the_flags_whatever_came_before_it() {
        for calm in [json!({"kind": "calm"}), urgency(0.19)] {
            let mut world = fire();
            world.salience("n_core_affect", 65535);
            world.flags(&["urgence", "priority_override"]);
            world.signal("perception", urgency(1.0));
            world.signal("perception", calm);
            let ops = world.think(Rule::Affect);
            assert_eq!(ops[..2], ["flag urgence false all is calm", "flag priority_override false all is calm"]);
            assert_eq!(ops.len(), 4);
        }
    }

    #[test]
    fn flags_fade_with_the_salience_of_affect() {
        let mut world = fire();
        world.flags(&["urgence"]);
        world.salience("n_core_affect", 13107);
        assert!(world.think(Rule::Affect).is_empty());
        world.salience("n_core_affect", 13106);
        assert_eq!(world.think(Rule::Affect), ["flag urgence false nothing urgent is left"]);
    }

    #[test]
    fn a_flag_of_a_person_stays_theirs_and_is_felt_once() {
        for (name, trigger) in [("urgence", "flag urgence"), ("priority_override", "priority_override_detected")] {
            let mut world = fire();
            world.raised(name, "human", "the cellar is flooded");
            world.trigger(trigger);
            let ops = world.think(Rule::Affect);
            assert!(!ops.iter().any(|op| op.starts_with(&format!("flag {name}"))), "{ops:?}");
            assert!(ops.iter().any(|op| op.contains("the cellar is flooded") && op.contains("action_required")));
            for (salience, calm) in [(0, false), (65535, true), (0, true)] {
                let mut later = fire();
                later.raised(name, "human", "the cellar is flooded");
                later.trigger("signal any");
                later.salience("n_core_affect", salience);
                if calm {
                    later.signal("perception", json!({"kind": "calm"}));
                }
                later.signal("decision", json!({"kind": "decision", "choice": "water"}));
                let ops = later.think(Rule::Affect);
                assert!(ops.iter().all(|op| op.starts_with("acknowledge")), "{ops:?}");
            }
        }
    }

    #[test]
    fn what_another_agent_raised_is_urgent_and_becomes_its_own() {
        for (name, level) in [("urgence", "0.5"), ("priority_override", "0.8")] {
            let mut world = fire();
            world.raised(name, "watcher", "the cellar is flooded");
            let mut expected = vec![format!("flag {name} true the cellar is flooded")];
            if name == "priority_override" {
                expected.push("flag urgence true the cellar is flooded".to_owned());
            }
            expected.push(format!("activate n_core_affect {level}"));
            expected.push(format!(
                "signal decision {{\"kind\":\"action_required\",\"query\":\"the cellar is flooded\",\"level\":{level},\"episode\":null}}"
            ));
            assert_eq!(world.think(Rule::Affect), expected);
            let mut own = fire();
            own.raised(name, "affect", "");
            assert_eq!(own.think(Rule::Affect), [format!("flag {name} false nothing urgent is left")]);
        }
    }

    #[test]
    fn a_decision_lifts_the_override_and_leaves_the_rest() {
        let mut world = fire();
        world.flags(&["urgence", "priority_override"]);
        world.salience("n_core_affect", 60000);
        world.signal("decision", json!({"kind": "decision", "choice": "water"}));
        let expected = ["flag priority_override false decided", "acknowledge g1 {\"done\":\"noted\"}"];
        assert_eq!(world.think(Rule::Affect), expected);
    }

    #[test]
    fn a_surprise_is_felt_below_what_is_urgent_and_raises_no_flag() {
        let surprise = |error: f64| json!({"kind": "surprise", "error": error});
        let mut world = fire();
        world.signal("decision", surprise(-0.1));
        world.signal("decision", surprise(0.05));
        let felt =
            ["acknowledge g1 {\"done\":\"felt\",\"error\":-0.1}", "acknowledge g2 {\"done\":\"felt\",\"error\":0.05}"];
        assert_eq!(world.think(Rule::Affect), [&["activate n_core_affect 0.1"], &felt[..]].concat());
        world.salience("n_core_affect", 6000);
        assert_eq!(world.think(Rule::Affect), felt, "it is nearly as bright");
        let mut shock = fire();
        shock.signal("decision", surprise(-0.9));
        assert_eq!(shock.think(Rule::Affect)[0], "activate n_core_affect 0.15");
        let mut nonsense = fire();
        nonsense.signal("decision", surprise(2.0));
        assert_eq!(nonsense.think(Rule::Affect), ["acknowledge g1 {\"understood\":false}"]);
    }

    #[test]
    fn other_signals_are_answered_and_change_nothing() {
        let mut world = fire();
        world.signal("memory", json!({"kind": "weather", "level": 1.0}));
        world.signal("bootstrap", json!({"kind": "introduction"}));
        let ops = world.think(Rule::Affect);
        assert_eq!(ops, ["acknowledge g1 {\"understood\":false}", "acknowledge g2 {\"done\":\"noted\"}"]);
    }
}
