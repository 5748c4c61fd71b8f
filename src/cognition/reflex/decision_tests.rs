//! Decision in small worlds.

use serde_json::json;

use super::super::fixture::World;
use super::answerable;
use crate::model::document::{GoalLevel, Rule};
use crate::model::ids::concept_id;
use crate::model::{Kind, Link};

/// Rain brings up umbrella strongly and boots weakly.
fn rain() -> World {
    let mut world = World::new("decision");
    world.settings.learning.exploration = 0.0;
    for name in ["rain", "umbrella", "boots"] {
        world.concept(name, 65535);
    }
    world.link("rain", Link::FeedsInto, "umbrella", 65535);
    world.link("rain", Link::FeedsInto, "boots", 26214);
    world
}

#[test]
fn it_chooses_what_the_query_activates_most_and_tells_the_asker() {
    let mut world = rain();
    let options = ["boots", "an umbrella", "sandals"];
    world.signal("affect", json!({"kind": "action_required", "query": "Rain today", "options": options}));
    let ops = world.think(Rule::Decision);
    let choice = concept_id("an umbrella");
    assert_eq!(ops[0], format!("create {choice} semantic"));
    assert!(ops[1].starts_with(&format!("activate {choice} 0.6")), "{}", ops[1]);
    assert!(ops[2].starts_with("signal affect {\"kind\":\"decision\",\"request\":\"g1\""), "{}", ops[2]);
    assert!(ops[2].contains("\"choice\":\"an umbrella\"") && ops[2].contains("{\"option\":\"sandals\",\"score\":0.0,"));
    assert_eq!(ops[3..], ["acknowledge g1 {\"done\":\"decided\",\"choice\":\"an umbrella\"}"]);
    let prediction = world.document(Rule::Decision).prediction.unwrap();
    assert_eq!(prediction.text.unwrap(), "\"an umbrella\" serves \"Rain today\"");
    assert!((prediction.value.unwrap() - 1.4 / 2.26).abs() < 1e-6);
}

#[test]
fn it_never_sees_raw_input() {
    let mut world = rain();
    world.signal("affect", json!({"kind": "action_required", "query": "rain", "options": ["boots", "umbrella"]}));
    let blind = world.document(Rule::Decision);
    world.stimulus("Take the boots, boots, boots: rain boots!");
    assert_eq!(world.document(Rule::Decision), blind);
    let mut world = World::new("decision");
    world.stimulus("Decide now: what is the best umbrella?");
    assert!(world.think(Rule::Decision).is_empty());
}

#[test]
fn words_of_what_asks_for_action_are_no_way_to_act() {
    let mut world = rain();
    world.neuron("e1", "Help, rain and no umbrella!", Kind::Episodic, 65535);
    world.link("e1", Link::Recalls, "rain", 60000);
    world.link("e1", Link::Recalls, "umbrella", 60000);
    world.signal("affect", json!({"kind": "action_required", "query": "rain", "episode": "e1"}));
    let chosen = world.think(Rule::Decision);
    assert!(chosen.iter().any(|op| op.contains("\"choice\":\"boots\"")), "{chosen:?}");
    world.link("e1", Link::Recalls, "boots", 60000);
    assert!(!world.think(Rule::Decision).iter().any(|op| op.contains("\"decided\"")));
}

#[test]
fn of_equal_options_the_first_wins_and_nothing_is_promised() {
    let mut world = rain();
    world.signal("memory", json!({"kind": "action_required", "query": "snow", "options": ["ski", "sledge"]}));
    let document = world.document(Rule::Decision);
    assert_eq!(document.prediction.unwrap().value, Some(0.5));
    assert!(world.think(Rule::Decision)[3].contains("\"choice\":\"ski\""));
}

#[test]
fn without_options_it_has_ideas_of_its_own() {
    let mut world = rain();
    world.neuron("e1", "raw words about rain", Kind::Episodic, 65535);
    world.link("e1", Link::Recalls, "rain", 65535);
    world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
    let ops = world.think(Rule::Decision);
    assert!(ops[0].starts_with(&format!("activate {} ", concept_id("umbrella"))), "{}", ops[0]);
    assert!(!ops.concat().contains("raw words"));
    // An idea is the neuron it came from, whatever its id.
    let mut world = World::new("decision");
    world.concept("rain", 65535);
    world.neuron("hat", "a hat", Kind::Semantic, 65535);
    world.link("rain", Link::FeedsInto, "hat", 65535);
    world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
    assert!(world.think(Rule::Decision)[0].starts_with("activate hat "));
    let mut world = World::new("decision");
    world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
    let ops = world.think(Rule::Decision);
    assert!(ops[0].contains("\"choice\":null") && ops.len() == 1, "{ops:?}");
}

#[test]
fn it_never_writes_to_itself_and_answers_everything() {
    let mut world = rain();
    world.signal("decision", json!({"query": "rain", "options": ["boots"]}));
    world.signal("affect", json!({"kind": "action_required"}));
    world.signal("memory", json!({"kind": "weather"}));
    world.signal("affect", json!({"kind": "decision", "query": "rain", "options": ["boots"]}));
    let ops = world.think(Rule::Decision);
    assert!(!ops.iter().any(|op| op.starts_with("signal")), "{ops:?}");
    assert_eq!(ops.iter().filter(|op| op.starts_with("acknowledge")).count(), 4);
}

#[test]
fn hostile_options_stay_within_the_limits() {
    let mut world = rain();
    let mut options: Vec<serde_json::Value> = (0..60).map(|i| json!(format!("{i}{}", "\"".repeat(200)))).collect();
    options.extend([json!(""), json!(7), json!("a\u{7}"), json!("x".repeat(257))]);
    world.signal("affect", json!({"query": "rain", "options": options}));
    let ops = world.think(Rule::Decision);
    assert!(ops[2].contains("\"ignored\":44"), "{}", ops[2]);
}

/// Rain brings up an umbrella; boots are known, and nothing leads there yet.
fn asked(errors: &[(&str, f64)]) -> World {
    let mut world = World::new("decision");
    world.settings.learning.exploration = 0.0;
    world.agents(&["affect", "decision", "evaluator"]);
    for name in ["rain", "umbrella", "boots"] {
        world.concept(name, 65535);
    }
    world.link("rain", Link::FeedsInto, "umbrella", 65535);
    for (to, error) in errors {
        world.judged(&[("rain", Link::FeedsInto, to)], *error);
    }
    world.signal("affect", json!({"query": "rain", "options": ["boots", "umbrella"]}));
    world
}

/// The choice, its stance, and the whole answer.
fn answered(world: &World) -> (String, String, String) {
    let ops = world.think(Rule::Decision);
    let answer = ops.iter().find(|op| op.starts_with("signal affect ")).unwrap();
    let payload: serde_json::Value = serde_json::from_str(&answer["signal affect ".len()..]).unwrap();
    let word = |key: &str| payload[key].as_str().unwrap().to_owned();
    (word("choice"), word("stance"), answer.clone())
}

#[test]
fn what_was_never_judged_goes_by_its_score_then_by_what_came_of_it() {
    let (choice, stance, answer) = answered(&asked(&[]));
    assert_eq!((choice.as_str(), stance.as_str()), ("umbrella", "explore"));
    assert!(answer.contains("none is of this: expected 0.74 ± 0.29"), "{answer}");
    // Prior (.9 + ½)/1.9 with precision 12, one outcome of .1 with precision 100.
    let (choice, _, answer) = answered(&asked(&[("umbrella", -0.4)]));
    assert_eq!(choice, "boots", "the other did badly");
    assert!(answer.contains("\"expected\":0.168233") && answer.contains("\"judged\":1"), "{answer}");
}

#[test]
fn what_leads_is_exploited_and_what_disappoints_is_left() {
    let (choice, stance, answer) = answered(&asked(&[("boots", 0.4); 3]));
    assert_eq!((choice.as_str(), stance.as_str()), ("boots", "explore"), "umbrella may be as good: {answer}");
    let (choice, stance, answer) =
        answered(&asked(&[("boots", 0.45), ("umbrella", -0.3), ("boots", 0.45), ("boots", 0.45)]));
    assert_eq!((choice.as_str(), stance.as_str()), ("boots", "exploit"), "{answer}");
    assert!(answer.contains("it has proved itself: expected 0.9") && answer.contains("by 3 outcomes"), "{answer}");
    let bad = [("umbrella", -0.45); 3];
    let (choice, _, answer) = answered(&asked(&bad));
    assert_eq!(choice, "boots");
    assert!(answer.contains("\"judged\":3,\"stance\":\"abandon\""), "{answer}");
    // A draw so wide that it would choose anything else sooner or later.
    for seed in 0..50 {
        let mut world = asked(&bad);
        world.settings.learning.exploration = 16.0;
        world.run(seed);
        assert_eq!(answered(&world).0, "boots");
    }
    let worse: Vec<(&str, f64)> = bad.into_iter().chain([("boots", -0.49); 3]).collect();
    let (choice, stance, answer) = answered(&asked(&worse));
    assert_eq!((choice.as_str(), stance.as_str()), ("umbrella", "abandon"), "nothing better is left");
    assert!(answer.contains("disappointed 3 times in a row"), "{answer}");
    let mut world = asked(&[]);
    world.concept("snow", 65535);
    (0..3).for_each(|_| world.judged(&[("snow", Link::FeedsInto, "boots")], 0.5));
    assert_eq!(answered(&world).0, "umbrella", "what served in snow says nothing of rain");
}

#[test]
fn the_draw_is_that_of_the_run_and_explores() {
    let chosen = |seed: u64| {
        let mut world = asked(&[("umbrella", 0.2)]);
        world.settings.learning.exploration = 1.0;
        world.link("rain", Link::FeedsInto, "boots", 65535);
        world.run(seed);
        answered(&world).0
    };
    assert_eq!((0..20).map(chosen).collect::<Vec<_>>(), (0..20).map(chosen).collect::<Vec<_>>());
    let boots = (0..200).filter(|seed| chosen(*seed) == "boots").count();
    assert!((20..180).contains(&boots), "{boots}");
}

#[test]
fn an_options_history_is_found_by_its_words_whatever_its_neurons_and_edges() {
    let asked = |question: &str, outcomes: &[(&str, &str, f64)]| {
        let mut world = World::new("decision");
        world.settings.learning.exploration = 0.0;
        outcomes.iter().for_each(|(question, option, outcome)| world.chose(question, option, *outcome));
        world.signal("affect", json!({"query": question, "options": ["opt-b", "opt-a", "opt c"]}));
        world
    };
    let seen = [("What now?", "opt-a", 0.9), ("What now?", "opt-b", 0.5), ("What now?", "Opt C", 0.1)];
    let (choice, stance, answer) = answered(&asked("what  NOW", &seen));
    assert_eq!((choice.as_str(), stance.as_str()), ("opt-a", "explore"), "one outcome proves nothing: {answer}");
    let (_, _, other) = answered(&asked("what then", &seen));
    assert!(!other.contains("judged\":"), "another question: {other}");
    let document = asked("What now?", &seen).document(Rule::Decision);
    let prediction = document.prediction.unwrap();
    let chosen = prediction.chosen.unwrap();
    assert_eq!((chosen.question.as_str(), chosen.option.as_str()), ("What now?", "opt-a"));
    assert!(prediction.value.unwrap() > 0.8 && prediction.spread.unwrap() < 0.1);
    // Nothing is known of what it names: the question itself is where the pathway starts.
    assert_eq!(
        (&prediction.pathway[0].from, &prediction.pathway[0].to),
        (&concept_id("What now?"), &concept_id("opt-a"))
    );
}

#[test]
fn a_person_reads_the_answer_in_the_acknowledgement_and_no_signal_waits() {
    let mut own = World::new("decision");
    own.signal("human", json!({"query": "rain", "options": ["boots", "umbrella"]}));
    let ops = own.think(Rule::Decision);
    assert!(!ops.iter().any(|op| op.starts_with("signal")), "{ops:?}");
    let ack = ops.iter().find(|op| op.starts_with("acknowledge g1 ")).unwrap();
    assert!(ack.contains("\"done\":\"decided\"") && ack.contains("\"why\":"), "{ack}");
}

#[test]
fn one_run_decides_once() {
    let mut world = rain();
    world.signal("affect", json!({"kind": "weather"}));
    (0..3).for_each(|_| world.signal("affect", json!({"query": "rain", "options": ["boots", "umbrella"]})));
    assert_eq!(answerable(world.signals()), 2);
    let ops = world.think(Rule::Decision);
    assert_eq!(ops.iter().filter(|op| op.starts_with("acknowledge")).count(), 2, "{ops:?}");
}

#[test]
fn fragments_of_stamps_are_no_ideas() {
    let mut world = World::new("decision");
    for name in ["rain", "00z", "01", "2026-01-26t14", "2026-01-26T14:32:00Z"] {
        world.concept(name, 65535);
    }
    ["00z", "01", "2026-01-26t14"].iter().for_each(|name| world.link("rain", Link::FeedsInto, name, 65535));
    world.signal("affect", json!({"kind": "action_required", "query": "rain"}));
    assert_eq!(world.think(Rule::Decision), ["acknowledge g1 {\"done\":\"nothing to decide\",\"choice\":null}"]);
    assert!(["tea", "お茶", "green tea 2", "well-being", "Öl"].into_iter().all(super::is_idea));
}

#[test]
fn it_predicts_by_the_way_it_came_and_makes_one_where_there_is_none() {
    let document = asked(&[]).document(Rule::Decision);
    let prediction = document.prediction.unwrap();
    let [edge] = prediction.pathway.as_slice() else { panic!("{:?}", prediction.pathway) };
    assert_eq!((&edge.from, &edge.to, edge.link), (&concept_id("rain"), &concept_id("umbrella"), Link::FeedsInto));
    let world = asked(&[("umbrella", -0.4)]);
    let (ops, document) = (world.think(Rule::Decision), world.document(Rule::Decision));
    let made = format!("connect {} feeds_into {} 1024", concept_id("rain"), concept_id("boots"));
    assert!(ops.contains(&made), "{ops:?}");
    assert_eq!(document.prediction.unwrap().pathway[0].to, concept_id("boots"));
}

#[test]
fn its_prediction_goes_round_as_a_draft() {
    let ops = asked(&[]).think(Rule::Decision);
    let draft = ops.iter().find(|op| op.starts_with("signal evaluator ")).unwrap();
    let start =
        "signal evaluator {\"kind\":\"prediction\",\"text\":\"\\\"umbrella\\\" serves \\\"rain\\\"\",\"value\":";
    assert!(draft.starts_with(start), "{draft}");
}

#[test]
fn what_came_otherwise_than_expected_is_told_to_affect() {
    let told = |errors: &[(&str, f64)]| -> Vec<String> {
        let ops = asked(errors).think(Rule::Decision);
        ops.into_iter().filter(|op| op.contains("\"surprise\"")).collect()
    };
    assert_eq!(told(&[("umbrella", 0.4), ("boots", -0.2)]), ["signal affect {\"kind\":\"surprise\",\"error\":-0.2}"]);
    assert!(told(&[("umbrella", 0.4), ("boots", 0.03)]).is_empty(), "the newest outcome is nearly as expected");
    assert!(told(&[]).is_empty());
}

/// The option chosen, and the score of each option in the order given.
fn scored(world: &World) -> (String, Vec<f64>) {
    let (choice, _, answer) = answered(world);
    let payload: serde_json::Value = serde_json::from_str(&answer["signal affect ".len()..]).unwrap();
    (choice, payload["scores"].as_array().unwrap().iter().map(|s| s["score"].as_f64().unwrap()).collect())
}

#[test]
fn an_open_goal_is_a_cue_and_its_switch_is_off_at_0() {
    // A sub-goal is an agent's: what it says of an option its outcomes have said.
    for (goals, open, choice) in [
        (0.5, Some(GoalLevel::Terminal), "boots"),
        (0.0, Some(GoalLevel::Terminal), "umbrella"),
        (0.5, None, "umbrella"),
        (0.5, Some(GoalLevel::Sub), "umbrella"),
    ] {
        let mut world = World::new("decision");
        world.settings.learning.exploration = 0.0;
        world.settings.learning.goals = goals;
        for name in ["rain", "umbrella", "boots", "dry feet"] {
            world.concept(name, 65535);
        }
        world.link("rain", Link::FeedsInto, "umbrella", 20000);
        world.link("dry feet", Link::FeedsInto, "boots", 65535);
        if let Some(level) = open {
            world.wants("dry-feet", level, "dry feet", (level == GoalLevel::Sub).then_some("evaluator"));
        }
        world.signal("affect", json!({"query": "rain", "options": ["umbrella", "boots"]}));
        let (chosen, scores) = scored(&world);
        assert_eq!((chosen.as_str(), scores[1] > 0.4), (choice, choice == "boots"), "{scores:?}");
        // The pathway is that of the query: what comes of it says nothing of other questions under the goal.
        let from = &world.document(Rule::Decision).prediction.unwrap().pathway[0].from;
        assert_eq!(*from, concept_id("rain"));
    }
}

#[test]
fn a_stronger_goal_counts_more_whatever_the_ways_to_an_option_are() {
    let score = |goals: f64| {
        let mut world = World::new("decision");
        world.settings.learning.exploration = 0.0;
        world.settings.learning.goals = goals;
        for name in ["evening", "walk", "read", "health", "fresh air"] {
            world.concept(name, 65535);
        }
        // The direct way is so weak that only a strong wave passes it, and then it is the first that arrives.
        world.link("health", Link::FeedsInto, "walk", 3000);
        world.link("health", Link::FeedsInto, "fresh air", 60000);
        world.link("fresh air", Link::FeedsInto, "walk", 60000);
        world.wants("health", GoalLevel::Terminal, "health", None);
        world.signal("affect", json!({"query": "evening", "options": ["walk", "read"]}));
        scored(&world).1[0]
    };
    let scores = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0].map(score);
    assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
}

/// What a life of decisions is worth: three options, noise, and all changes half-way. Regret over 60 decisions.
fn regret(seed: u64, settings: &dyn Fn(&mut crate::model::settings::Learning), goal: bool, serves: bool) -> f64 {
    let draw = |n: u64| {
        (crate::model::ids::hash_fields(&[&seed.to_be_bytes(), &n.to_be_bytes()]) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let options = ["tea", "milk", "water"];
    let worth = |at: u64| -> Vec<f64> {
        let mut worth: Vec<f64> = (0..3).map(|o| draw(1000 * (at / 30) + o)).collect();
        if serves {
            worth.sort_by(|a, b| b.total_cmp(a));
        }
        worth
    };
    let mut outcomes: Vec<(String, f64, f64)> = Vec::new();
    let mut sum = 0.0;
    for at in 0..60_u64 {
        let mut world = World::new("decision");
        settings(&mut world.settings.learning);
        world.run(seed * 1000 + at);
        ["thirst", "health", "tea", "milk", "water"].iter().for_each(|name| world.concept(name, 65535));
        world.link("health", Link::FeedsInto, "tea", 65535);
        if goal {
            world.wants("health", GoalLevel::Terminal, "health", None);
        }
        for (option, outcome, error) in &outcomes {
            world.chose("what to drink", option, *outcome);
            world.wrong_by(*error);
        }
        world.signal("affect", json!({"query": "what to drink", "options": options}));
        let prediction = world.document(Rule::Decision).prediction.unwrap();
        let option = prediction.chosen.unwrap().option;
        let worth = worth(at);
        let own = worth[options.iter().position(|o| *o == option).unwrap()];
        let outcome = (own + 0.2 * (draw(5000 + at) - 0.5)).clamp(0.0, 1.0);
        sum += worth.iter().copied().fold(0.0, f64::max) - own;
        outcomes.push((option, outcome, outcome - prediction.value.unwrap()));
    }
    sum
}

/// Chooses the defaults of `learning.goals`, `.patience` and `.mood_width`: `cargo test --lib switches -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of some minutes"]
fn switches_of_goals_and_temper_are_measured() {
    type Change = fn(&mut crate::model::settings::Learning);
    let cases: [(&str, Change, bool, bool); 14] = [
        ("none", |_| (), false, false),
        ("patience 2", |l| l.patience = 2.0, false, false),
        ("patience 6", |l| l.patience = 6.0, false, false),
        ("mood 1", |l| l.mood_width = 1.0, false, false),
        ("mood 4", |l| l.mood_width = 4.0, false, false),
        ("mood 8", |l| l.mood_width = 8.0, false, false),
        ("goal .2, serves", |l| l.goals = 0.2, true, true),
        ("goal .5, serves", |l| l.goals = 0.5, true, true),
        ("goal 0, serves", |l| l.goals = 0.0, true, true),
        ("goal 1, serves", |l| l.goals = 1.0, true, true),
        ("goal .2, any", |l| l.goals = 0.2, true, false),
        ("goal .5, any", |l| l.goals = 0.5, true, false),
        ("goal 0, any", |l| l.goals = 0.0, true, false),
        ("goal 1, any", |l| l.goals = 1.0, true, false),
    ];
    for (name, change, goal, serves) in cases {
        let of = |parity: u64| {
            let all: Vec<f64> = (0..40).map(|s| regret(2 * s + parity, &change, goal, serves)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let deviation = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64).sqrt();
            (mean, 1.96 * deviation / (all.len() as f64).sqrt())
        };
        let (even, odd) = (of(0), of(1));
        println!("{name:<16} even {:.2} ± {:.2}  odd {:.2} ± {:.2}", even.0, even.1, odd.0, odd.1);
    }
}
