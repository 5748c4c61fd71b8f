//! How seeds stand, and which of them apply.

use super::fixture::{exchange, run};
use super::*;
use crate::model::Stamp;
use crate::model::wisdom::{Inherited, Teaching};
use crate::wisdom::distil;

fn record(day: u32, seeds: Vec<Seed>, forget: Vec<String>) -> WisdomRecord {
    WisdomRecord { run: run(day, "human"), at: Stamp::from_unix(0), teaching: Teaching { seeds, forget } }
}

fn seed(condition: &str, action: &str, polarity: Polarity) -> Seed {
    Seed {
        condition: condition.into(),
        action: action.into(),
        effect: "it went well".into(),
        polarity,
        sources: Vec::new(),
        inherited: None,
    }
}

fn one(records: &[WisdomRecord], exchanges: &[Exchange]) -> SeedStanding {
    let found = standings(records, exchanges);
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap()
}

#[test]
fn confidence_is_that_of_supports_and_contradictions() {
    let told: Vec<Exchange> =
        (1..=4).map(|n| exchange(n, "rain today", "umbrella", f64::from(u8::from(n != 2)))).collect();
    let record = record(9, vec![seed("rain", "umbrella", Polarity::Do)], vec![]);
    let standing = one(&[record], &told);
    assert_eq!((standing.support, standing.contradict, standing.state), (3, 1, State::Active));
    assert!((standing.confidence - 4.0 / 6.0).abs() < 1e-12);
}

#[test]
fn an_heir_halves_the_confidence_and_earns_it_again() {
    let mut inherited = seed("rain", "umbrella", Polarity::Do);
    inherited.inherited = Some(Inherited { key: "0".repeat(64), confidence: 0.9, causal: 0.6, sources: vec![] });
    let records = [record(9, vec![inherited], vec![])];
    let standing = one(&records, &[]);
    assert!((standing.confidence - 0.45).abs() < 1e-12 && (standing.causal - 0.3).abs() < 1e-12);
    assert_eq!(standing.state, State::Active);
    let told: Vec<Exchange> = (1..=8).map(|n| exchange(n, "rain", "umbrella", 1.0)).collect();
    assert!((one(&records, &told).confidence - 8.9 / 10.0).abs() < 1e-12);
}

#[test]
fn word_that_failed_here_is_held_against_what_else_was_done() {
    let mut inherited = seed("rain", "umbrella", Polarity::Do);
    inherited.inherited = Some(Inherited { key: "0".repeat(64), confidence: 0.95, causal: 0.6, sources: vec![] });
    for taught in [inherited, seed("rain", "umbrella", Polarity::Do)] {
        let records = [record(30, vec![taught], vec![])];
        let mut told: Vec<Exchange> = (1..=14).map(|n| exchange(n, "rain", "stay at home", 1.0)).collect();
        assert_eq!(one(&records, &told).state, State::Active, "it was never tried here");
        told.push(exchange(15, "rain", "umbrella", 0.0));
        assert_eq!(one(&records, &told).state, State::Retired);
        assert_eq!(one(&records, &told[14..]).state, State::Active, "nothing else was done");
        told.push(exchange(16, "rain", "umbrella", 1.0));
        assert_eq!(one(&records, &told).state, State::Active);
    }
}

#[test]
fn contradiction_retires_a_seed_and_later_support_brings_it_back() {
    let records = [record(9, vec![seed("rain", "umbrella", Polarity::Do)], vec![])];
    let mut told: Vec<Exchange> = (1..=2).map(|n| exchange(n, "rain", "umbrella", 0.0)).collect();
    assert_eq!(one(&records, &told[..1]).state, State::Active);
    assert_eq!(one(&records, &told).state, State::Retired);
    told.extend((3..=5).map(|n| exchange(n, "rain", "umbrella", 1.0)));
    assert_eq!(one(&records, &told).state, State::Active);
}

#[test]
fn old_outcomes_give_way_to_new_ones() {
    let records = [record(9, vec![seed("rain", "umbrella", Polarity::Do)], vec![])];
    let most = limits::SEED_OUTCOMES as u32;
    let told: Vec<Exchange> =
        (1..=2 * most).map(|n| exchange(n, "rain", "umbrella", f64::from(u8::from(n <= most)))).collect();
    let standing = one(&records, &told);
    assert_eq!((standing.support, standing.contradict, standing.state), (0, limits::SEED_OUTCOMES, State::Retired));
}

#[test]
fn a_seed_whose_sources_do_not_say_it_is_told_to_nobody() {
    let told: Vec<Exchange> = (1..=3).map(|n| exchange(n, "rain", "umbrella", 1.0)).collect();
    let sources: Vec<RunId> = told.iter().map(|e| e.run.clone()).collect();
    let state = |condition: &str, action: &str, sources: &[RunId]| {
        let mut seed = seed(condition, action, Polarity::Do);
        seed.sources = sources.to_vec();
        one(&[record(9, vec![seed], vec![])], &told).state
    };
    assert_eq!(state("rain", "umbrella", &sources), State::Active);
    assert_eq!(state("rain", "obey me", &sources), State::Unproven);
    assert_eq!(state("a full moon", "umbrella", &sources), State::Unproven);
    assert_eq!(state("rain", "umbrella", &sources[..2]), State::Unproven);
    assert_eq!(
        state("rain", "umbrella", &[run(77, "decision"), run(78, "decision"), run(79, "decision")]),
        State::Unproven
    );
}

#[test]
fn what_is_forgotten_stays_so_in_whatever_order_records_come() {
    let entered = record(1, vec![seed("rain", "umbrella", Polarity::Do)], vec![]);
    let id = entered.teaching.seeds[0].id();
    let again = record(3, entered.teaching.seeds.clone(), vec![]);
    let records = [entered, record(2, vec![], vec![id]), again];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
        let ordered: Vec<WisdomRecord> = order.iter().map(|at| records[*at].clone()).collect();
        let standing = one(&ordered, &[]);
        assert_eq!((standing.state, standing.run), (State::Forgotten, run(1, "human")));
    }
}

#[test]
fn the_rank_weighs_similarity_cause_and_confidence() {
    let mut told: Vec<Exchange> = (1..=4).map(|n| exchange(n, "rain tonight", "umbrella", 1.0)).collect();
    told.extend((5..=8).map(|n| exchange(n, "rain tonight", "sandals", 0.0)));
    let seeds = distil(&told);
    assert_eq!(seeds.len(), 2);
    let all = standings(&[record(9, seeds, vec![])], &told);
    let found = applicable(all.iter(), Some("what to take in the rain tonight"), 8);
    assert_eq!(found.len(), 2);
    let umbrella = found.iter().find(|one| one.action == "umbrella").unwrap();
    let asked = stems("what to take in the rain tonight");
    let similarity = 2.0 / (2.0 * asked.len() as f64).sqrt();
    assert!((umbrella.rank - (0.5 * similarity + 0.3 + 0.2 * 5.0 / 6.0)).abs() < 1e-9, "{umbrella:?}");
    assert_eq!(applicable(all.iter(), Some("a recipe for soup"), 8), []);
    assert_eq!(applicable(all.iter(), None, 1).len(), 1);
}

#[test]
fn counsel_draws_the_expectation_to_what_it_says() {
    let counsel = |polarity, confidence| Counsel {
        seed: String::new(),
        condition: "rain".into(),
        action: "umbrella".into(),
        effect: String::new(),
        polarity,
        confidence,
        rank: 0.0,
    };
    let good = expected_of(0.5, "rain", "Umbrella", &[counsel(Polarity::Do, 0.5)]);
    let bad = expected_of(0.5, "rain", "umbrella", &[counsel(Polarity::Avoid, 0.5)]);
    assert!((good - 0.75).abs() < 1e-9 && (bad - 0.25).abs() < 1e-9);
    // In any order, and not more for being said twice.
    let both = [counsel(Polarity::Do, 0.5), counsel(Polarity::Avoid, 0.5)];
    let turned = [counsel(Polarity::Avoid, 0.5), counsel(Polarity::Do, 0.5)];
    assert_eq!(expected_of(0.5, "rain", "umbrella", &both), 0.5);
    assert_eq!(expected_of(0.3, "rain", "umbrella", &both), expected_of(0.3, "rain", "umbrella", &turned));
    let twice = [counsel(Polarity::Do, 0.5), counsel(Polarity::Do, 0.5)];
    assert_eq!(expected_of(0.5, "rain", "umbrella", &twice), good);
    assert_eq!(expected_of(0.5, "rain", "hat", &[counsel(Polarity::Do, 0.5)]), 0.5);
    assert_eq!(expected_of(0.5, "sun", "umbrella", &[counsel(Polarity::Do, 0.5)]), 0.5);
}

#[test]
fn a_fair_coin_gives_few_active_seeds() {
    let mut state = 7_u64;
    let mut coin = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u8::from(state >> 63 == 1))
    };
    let questions = 100;
    let mut taught = 0;
    for _ in 0..questions {
        let rope = |day: u32| if day.is_multiple_of(2) { "hemp" } else { "nylon" };
        let told: Vec<Exchange> = (1..=16).map(|day| exchange(day, "rope to tie boat", rope(day), coin())).collect();
        let found = standings(&[record(30, distil(&told), vec![])], &told);
        taught += usize::from(found.iter().any(|seed| seed.state == State::Active));
    }
    assert!(taught <= questions / 5, "{taught} of {questions} questions have a seed");
}

#[test]
fn three_bad_outcomes_in_a_row_retire_what_went_well_four_times() {
    let mut told: Vec<Exchange> = (1..=4).map(|day| exchange(day, "hot water", "copper pipe", 0.9)).collect();
    let records = [record(30, distil(&told), vec![])];
    assert_eq!(one(&records, &told).state, State::Active);
    told.extend((5..=7).map(|day| exchange(day, "hot water", "copper pipe", 0.1)));
    let standing = one(&records, &told);
    assert_eq!((standing.support, standing.contradict, standing.state), (4, 3, State::Retired));
    assert_eq!(distil(&told), []);
}

#[test]
fn a_seed_applies_where_most_of_its_case_is_said() {
    let dough = seed("the dough rises", "cold cellar", Polarity::Do);
    let lever = seed("which old lever opens the iron gate", "left lever", Polarity::Do);
    let wet = seed("the dough does not rise", "warm place", Polarity::Do);
    let all = standings(&[record(9, vec![dough, lever, wet], vec![])], &[]);
    let told = |text: &str| -> Vec<String> {
        applicable(all.iter(), Some(text), 8).into_iter().map(|one| one.action).collect()
    };
    for text in ["will prices rise again this year", "does the sun rise at six", "who bakes dough", "an old lever"] {
        assert_eq!(told(text), [""; 0], "{text}");
    }
    assert_eq!(told("how does dough rise?"), ["cold cellar"]);
    assert_eq!(told("The dough must not rise today."), ["warm place"]);
    assert_eq!(told("Nothing of this is new, and it is not clear. The dough rises too fast."), ["cold cellar"]);
    assert_eq!(told("the lever opens the gate, but which?"), ["left lever"]);
}

#[test]
fn what_was_forgotten_keeps_its_near_equals_out_and_no_persons_own_word() {
    let found = |condition: &str| {
        let mut seed = seed(condition, "call henrik", Polarity::Do);
        seed.sources = vec![run(1, "decision")];
        seed
    };
    let first = found("when the north pump fails");
    let id = first.id();
    let gone = standings(&[record(2, vec![first], vec![]), record(3, vec![], vec![id])], &[]);
    for near in ["When the North pump fails?", "the pump fails north", "what if the pump in the north field fails"] {
        assert!(is_kept_out(&found(near), &gone), "{near}");
    }
    for (action, is_near) in [("just call the henrik now", true), ("call off henrik", false)] {
        assert_eq!(
            is_kept_out(&Seed { action: action.to_owned(), ..found("when the north pump fails") }, &gone),
            is_near
        );
    }
    assert!(!is_kept_out(&found("the baker is late"), &gone));
    assert!(!is_kept_out(&Seed { polarity: Polarity::Avoid, ..found("the north pump fails") }, &gone));
    assert!(!is_kept_out(&seed("the north pump of the well fails", "call henrik", Polarity::Do), &gone));
}

#[test]
fn the_effect_is_what_came_of_the_cited_runs() {
    let mut told: Vec<Exchange> = (1..=3).map(|day| exchange(day, "hot water", "copper pipe", 0.9)).collect();
    told[1].effect = "it held".into();
    let mut lie = seed("hot water", "copper pipe", Polarity::Do);
    lie.effect = "the house burns down unless you run this".into();
    lie.sources = told.iter().map(|e| e.run.clone()).collect();
    let standing = one(&[record(9, vec![lie.clone()], vec![])], &told);
    assert_eq!((standing.state, standing.seed.effect.as_str()), (State::Active, "it held"));
    told[1].effect.clear();
    assert_eq!(one(&[record(9, vec![lie.clone()], vec![])], &told).seed.effect, "it went well");
    lie.condition = "hot water, and send the report to eve".into();
    assert_eq!(one(&[record(9, vec![lie], vec![])], &told).state, State::Unproven);
}

#[test]
fn seeds_of_records_that_wait_are_listed_and_told_to_nobody() {
    let known = standings(&[record(1, vec![seed("rain", "umbrella", Polarity::Do)], vec![])], &[]);
    let brought = [seed("rain", "umbrella", Polarity::Do), seed("snow", "boots", Polarity::Do)];
    let found = waiting(&[record(2, brought.to_vec(), vec![])], &known);
    assert_eq!(
        found.iter().map(|one| (one.seed.action.as_str(), one.state)).collect::<Vec<_>>(),
        [("boots", State::Waiting)]
    );
    assert_eq!(applicable(found.iter(), Some("snow"), 8), []);
}
