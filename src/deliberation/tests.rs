//! The invariants of a deliberation, each as a test that drives whole cycles with minds of its own.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::classes::Class;
use super::cycle::{Setting, answers, conclude, rules_of};
use super::events::Action;
use super::forest::{Forest, read_cycle, validate};
use super::gates::{ALIGNMENT, ExecutionMode, GATES, GateRecord, GateResult};
use super::record::{CycleRecord, Standing};
use super::roles::{Cast, CastError};
use super::sky::Weather;
use super::tree::{Grown, Told, TreeDeliberation, TreeError, Unanswered, Want};
use super::verdict::{Alignment, Decision, Judgement, Mechanism, Proposal, Verdict};
use super::weather::forecast;
use crate::model::Stamp;
use crate::model::deliberation::{Deliberation, Severity};
use crate::model::ids::splitmix;

/// Minds that answer by the seed of a proposal, so that the same proposal gets the same answer wherever it is asked about.
#[derive(Clone, Copy)]
pub(super) struct Minds {
    seed: u64,
    /// What the skeptic says of candidates: `None`: as of hypotheses.
    second: Option<Decision>,
    mode: ExecutionMode,
}

impl Minds {
    fn number(self, salt: &str, proposal: &Proposal) -> u64 {
        let mut state = self.seed ^ u64::from_str_radix(&proposal.key(), 16).unwrap();
        salt.bytes().for_each(|byte| state = state.wrapping_mul(31).wrapping_add(u64::from(byte)));
        splitmix(&mut state)
    }

    fn verdict(self, salt: &str, proposal: &Proposal) -> Verdict {
        let n = self.number(salt, proposal);
        Verdict {
            weaknesses: vec![format!("weak {}", n % 7)],
            overfit_risk: 0.5,
            alt_explanations: Vec::new(),
            lookahead_suspicion: 0.0,
            verdict: [Decision::Proceed, Decision::Revise, Decision::Reject][(n % 3) as usize],
            severity: [Severity::Low, Severity::Medium, Severity::High][(n / 3 % 3) as usize],
        }
    }

    pub fn record(self, tree: &str, proposal: &Proposal) -> GateRecord {
        let n = self.number("gates", proposal);
        let gates = GATES.iter().filter(|(.., handoff)| !handoff).enumerate().map(|(at, (name, hard, _))| {
            // Half of them pass everything.
            let passed = n.is_multiple_of(2) || n >> (at + 1) & 1 == 0;
            let figure = match (&name[..2], passed) {
                ("G4", true) | ("G5" | "G9", false) => 2.0,
                ("G6", true) => 0.5,
                ("G4" | "G6", false) | (_, true) => 1.0,
                (_, false) => 0.5,
            };
            GateResult {
                name: (*name).to_owned(),
                hard: *hard,
                passed,
                figure: Some(figure),
                threshold: 1.0,
                note: String::new(),
                broken: false,
            }
        });
        GateRecord {
            domain: tree.to_owned(),
            candidate: proposal.key(),
            asked: GATES.iter().map(|(name, ..)| (*name).to_owned()).collect(),
            gates: gates.collect(),
            execution_mode: self.mode,
        }
    }

    pub fn answer(self, tree: &str, want: &Want, asked: &mut u64) -> Told {
        *asked += 1;
        match want {
            Want::Mine { count, .. } => {
                Told::Proposals((0..*count).map(|n| proposal(&format!("{tree}-{}-{n}", self.seed % 5))).collect())
            }
            Want::Critique(all) => Told::Verdicts(all.iter().map(|one| self.verdict("first", one)).collect()),
            Want::Revise { of: all, .. } => {
                let another = |one: &Proposal| {
                    let is_new = !self.number("revise", one).is_multiple_of(4);
                    is_new.then(|| proposal(&format!("{}'", one.mechanism.name)))
                };
                Told::Replacements(all.iter().map(|(one, _)| another(one)).collect())
            }
            Want::Diverge(all) => {
                Told::Proposals(all.iter().map(|one| proposal(&format!("{}+", one.mechanism.name))).collect())
            }
            Want::Inspect(all) => Told::Judgements(all.iter().map(|one| Some(self.judgement(one))).collect()),
            Want::Examine(all) => Told::Records(all.iter().map(|one| self.record(tree, one)).collect()),
            Want::Challenge(all) => {
                let second = |one: &Proposal| {
                    let verdict = self.verdict("second", one);
                    Verdict { verdict: self.second.unwrap_or(verdict.verdict), ..verdict }
                };
                Told::Verdicts(all.iter().map(|(one, _)| second(one)).collect())
            }
            Want::Align(all) => {
                let score = |one: &Proposal| {
                    let n = self.number("align", one) % 5;
                    match n {
                        4 => Err(Unanswered::TimedOut),
                        n => Ok(Alignment { score: n as u32, reason: String::new() }),
                    }
                };
                Told::Alignments(all.iter().map(|(one, _)| score(one)).collect())
            }
            Want::Done => unreachable!(),
        }
    }

    fn judgement(self, proposal: &Proposal) -> Judgement {
        let n = self.number("inspect", proposal);
        let share = |at: u64| (n >> at & 7) as f64 / 7.0;
        let next_plan = if n.is_multiple_of(9) { "" } else { "examine it" };
        Judgement {
            logic: share(3).max(0.3),
            novelty: share(6),
            leakage: if n.is_multiple_of(11) { 0.9 } else { 0.1 },
            redundancy: if n.is_multiple_of(7) { 0.95 } else { 0.2 },
            data: share(9).max(0.2),
            cost: 0.1,
            next_plan: next_plan.to_owned(),
        }
    }
}

pub(super) fn proposal(name: &str) -> Proposal {
    let mechanism = Mechanism { name: name.into(), intuition: "it did".into(), ..Mechanism::default() };
    Proposal { mechanism, payload: json!({"ops": [{"op": "connect", "from": name}]}) }
}

pub(super) fn settings() -> Deliberation {
    Deliberation { diverger: "reflex-structural".into(), ..Deliberation::default() }
}

pub(super) fn cast(settings: &Deliberation) -> Cast {
    Cast::of(settings, |mind| if mind == "nobody" { Err(()) } else { Ok(Some(mind.to_owned())) }).unwrap()
}

pub(super) fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("tree-{n}")).collect()
}

/// Runs a cycle, the trees side by side in an order that `turn` chooses.
pub(super) fn cycle(
    minds: Minds,
    before: &Forest,
    trees: &[String],
    settings: &Deliberation,
    turn: u64,
) -> CycleRecord {
    let (cast, sky) = (cast(settings), forecast(before, trees, &BTreeSet::new(), settings));
    let mut open: Vec<(String, TreeDeliberation)> = sky
        .allocated()
        .map(|(id, sky)| {
            let seeds = before.seeds_of(id).map(|seed| seed.proposal.clone()).collect();
            let share = (sky.hypotheses, sky.temperature);
            (id.clone(), TreeDeliberation::new(id, share, seeds, &before.closed, &cast, settings))
        })
        .collect();
    let (mut grown, mut turn, mut asked): (Vec<Grown>, u64, u64) = (Vec::new(), turn, 0);
    while !open.is_empty() {
        let at = splitmix(&mut turn) as usize % open.len();
        let (id, tree) = &mut open[at];
        match tree.want().clone() {
            Want::Done => grown.push(open.swap_remove(at).1.grown()),
            want => tree.take(minds.answer(id, &want, &mut asked)).unwrap(),
        }
    }
    let evidence: BTreeMap<String, String> = trees.iter().map(|id| (id.clone(), "e".to_owned())).collect();
    let setting = Setting {
        goal: "recall",
        before,
        after: &[],
        settings,
        cast: &cast,
        forecast: &sky,
        rules: rules_of(settings, ""),
        evidence: &evidence,
        at: Stamp::from_unix(0),
        initiative: "person",
        timed_out: &[],
    };
    conclude(&setting, grown, Vec::new()).unwrap()
}

pub(super) fn minds(seed: u64) -> Minds {
    Minds { seed, second: None, mode: ExecutionMode::ToolExecuted }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_same_replies_make_the_same_forest_whoever_is_done_first(seed: u64, turns: [u64; 2], count in 1usize..7) {
        let (settings, trees) = (settings(), names(count));
        let mut permuted = trees.clone();
        permuted.reverse();
        let (mut one, mut other) = (Forest::default(), Forest::default());
        for round in 0..6 {
            let a = cycle(minds(seed ^ round), &one, &trees, &settings, turns[0]);
            let b = cycle(minds(seed ^ round), &other, &permuted, &settings, turns[1]);
            prop_assert_eq!(serde_json::to_string(&a).unwrap(), serde_json::to_string(&b).unwrap());
            prop_assert_eq!(validate(&one, &a), vec![]);
            let again: CycleRecord = serde_json::from_str(&serde_json::to_string(&a).unwrap()).unwrap();
            prop_assert_eq!(&again, &a);
            one = one.with(&a, &settings);
            other = other.with(&b, &settings);
        }
        prop_assert_eq!(one, other);
    }

    #[test]
    fn what_a_skeptic_says_of_a_candidate_changes_no_record_and_no_class(seed: u64) {
        let (settings, trees) = (settings(), names(4));
        let told = |second| {
            let minds = Minds { second: Some(second), ..minds(seed) };
            cycle(minds, &Forest::default(), &trees, &settings, 1)
        };
        let (blessed, damned) = (told(Decision::Proceed), told(Decision::Reject));
        let read = |cycle: &CycleRecord| {
            let all = cycle.results.iter().map(|result| (result.key.clone(), result.record.clone(), result.class));
            serde_json::to_string(&all.collect::<Vec<_>>()).unwrap()
        };
        prop_assert_eq!(read(&blessed), read(&damned));
        let passed = blessed.results.iter().filter(|result| !result.risks.is_empty()).count();
        prop_assert_eq!(damned.amendments.len(), passed, "each is filed for a person, and none is in force");
        prop_assert_eq!(&blessed.rules, &damned.rules);
    }

    #[test]
    fn a_stub_never_becomes_fruit(seed: u64) {
        for mode in [ExecutionMode::PlanOnly, ExecutionMode::ManualResult, ExecutionMode::StubResult] {
            let made = cycle(Minds { mode, ..minds(seed) }, &Forest::default(), &names(4), &settings(), 1);
            prop_assert!(made.results.iter().all(|result| result.class != Class::Fruit));
        }
    }

    #[test]
    fn what_was_closed_never_comes_back(seed: u64) {
        let (settings, trees) = (settings(), names(3));
        let mut forest = Forest::default();
        for round in 0..10 {
            let made = cycle(minds(seed ^ (round / 2)), &forest, &trees, &settings, 1);
            for result in &made.results {
                prop_assert!(!forest.closed.contains(&result.key), "{} again", result.key);
            }
            forest = forest.with(&made, &settings);
            prop_assert!(forest.seeds.iter().all(|seed| !forest.closed.contains(&seed.key)));
            prop_assert!(forest.seeds.windows(2).all(|two| two[0].score >= two[1].score));
        }
    }
}

#[test]
fn a_debate_culls_at_and_above_the_severity_alone() {
    let severities = [Severity::Low, Severity::Medium, Severity::High];
    for cull in severities {
        for severity in severities {
            for verdict in [Decision::Proceed, Decision::Revise, Decision::Reject] {
                let settings = Deliberation { cull_severity: cull, max_debate_rounds: 1, ..Deliberation::default() };
                let mut tree =
                    TreeDeliberation::new("t", (1, 1.0), vec![], &BTreeSet::new(), &cast(&settings), &settings);
                tree.take(Told::Proposals(vec![proposal("a")])).unwrap();
                let said = Verdict { verdict, severity, ..minds(1).verdict("", &proposal("a")) };
                tree.take(Told::Verdicts(vec![said])).unwrap();
                let after = match tree.want() {
                    Want::Done => "culled",
                    Want::Inspect(_) => "kept",
                    Want::Revise { .. } => "revised",
                    other => panic!("{other:?}"),
                };
                let expected = match verdict {
                    Decision::Proceed => "kept",
                    Decision::Reject if severity >= cull => "culled",
                    _ => "revised",
                };
                assert_eq!(after, expected, "{verdict:?} {severity:?}, culled from {cull:?} on");
            }
        }
    }
}

#[test]
fn a_replacement_of_the_last_round_is_marked_and_one_that_proceeds_is_not_asked_about_again() {
    let settings = Deliberation { max_debate_rounds: 2, ..Deliberation::default() };
    let mut tree = TreeDeliberation::new("t", (2, 1.0), vec![], &BTreeSet::new(), &cast(&settings), &settings);
    tree.take(Told::Proposals(vec![proposal("a"), proposal("b")])).unwrap();
    let said = |verdict| Verdict { verdict, severity: Severity::Low, ..minds(1).verdict("", &proposal("a")) };
    tree.take(Told::Verdicts(vec![said(Decision::Proceed), said(Decision::Revise)])).unwrap();
    tree.take(Told::Replacements(vec![Some(proposal("b2"))])).unwrap();
    assert_eq!(*tree.want(), Want::Critique(vec![proposal("b2")]));
    tree.take(Told::Verdicts(vec![said(Decision::Reject)])).unwrap();
    tree.take(Told::Replacements(vec![Some(proposal("b3"))])).unwrap();
    let Want::Inspect(asked) = tree.want().clone() else { panic!("{:?}", tree.want()) };
    assert_eq!(asked, [proposal("a"), proposal("b3")]);
    tree.take(Told::Judgements(vec![
        Some(Judgement {
            next_plan: "x".into(),
            logic: 1.0,
            novelty: 1.0,
            data: 1.0,
            ..Judgement::default()
        });
        2
    ]))
    .unwrap();
    let records = asked.iter().map(|one| minds(1).record("t", one)).collect();
    tree.take(Told::Records(records)).unwrap();
    while *tree.want() != Want::Done {
        let told = minds(1).answer("t", &tree.want().clone(), &mut 0);
        tree.take(told).unwrap();
    }
    let marks: Vec<bool> = tree.grown().leaves.iter().map(|(result, ..)| result.uncritiqued).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn no_rounds_and_nobody_who_attacks_is_the_pipeline_of_one_pass() {
    let settings = Deliberation { skeptic: String::new(), max_debate_rounds: 0, slots: 1, ..Deliberation::default() };
    let made = cycle(minds(7), &Forest::default(), &names(1), &settings, 1);
    let debate = [Action::DebateRound, Action::SkepticChallenge];
    assert!(made.events.iter().all(|event| !debate.contains(&event.action)));
    let order: Vec<Action> = made.events.iter().map(|event| event.action).collect();
    let first = |action| order.iter().position(|one| *one == action).unwrap();
    assert!(first(Action::ValidatePre) < first(Action::Route) && first(Action::Route) < first(Action::Mine));
    assert!(first(Action::Mine) < first(Action::Judge) && first(Action::Judge) < first(Action::NurseryCheck));
    assert_eq!(order.last(), Some(&Action::ValidatePostSave));
    // With a skeptic and no rounds nothing is debated, and candidates are still challenged.
    let settings = Deliberation { max_debate_rounds: 0, ..settings };
    let mut with = Deliberation { skeptic: "reflex-structural".into(), ..settings.clone() };
    with.gardener = "reflex-lexical".into();
    let made = cycle(minds(7), &Forest::default(), &names(1), &with, 1);
    assert!(made.events.iter().all(|event| event.action != Action::DebateRound));
}

#[test]
fn a_skeptic_of_the_gardeners_family_or_of_none_plays_not() {
    let family = |mind: &str| match mind {
        "qwen-small" | "qwen-large" => Ok(Some("qwen".to_owned())),
        "mistral" => Ok(Some("mistral".to_owned())),
        "mystery" => Ok(None),
        mind if mind.starts_with("reflex-") => Ok(Some(mind.to_owned())),
        _ => Err(()),
    };
    let play = |gardener: &str, skeptic: &str| {
        let settings = Deliberation { gardener: gardener.into(), skeptic: skeptic.into(), ..Deliberation::default() };
        Cast::of(&settings, family)
    };
    assert!(play("qwen-small", "mistral").is_ok());
    assert!(matches!(play("qwen-small", "qwen-large"), Err(CastError::SameFamily { .. })));
    assert!(matches!(play("qwen-small", "qwen-small"), Err(CastError::SameFamily { .. })));
    assert!(matches!(play("qwen-small", "mystery"), Err(CastError::NoFamily { .. })));
    assert!(matches!(play("mystery", "mistral"), Err(CastError::NoFamily { .. })));
    assert!(matches!(play("qwen-small", "nobody"), Err(CastError::Unknown { .. })));
    assert!(matches!(play("qwen-small", ""), Err(CastError::NoSkeptic(2))));
}

#[test]
fn a_mind_that_cannot_be_reached_ends_the_tree() {
    let settings = Deliberation::default();
    let mut tree = TreeDeliberation::new("t", (2, 1.0), vec![], &BTreeSet::new(), &cast(&settings), &settings);
    tree.take(Told::Proposals(vec![proposal("a")])).unwrap();
    let gone = Told::Unreachable(super::roles::Role::Skeptic, "connection refused".into());
    let error = tree.take(gone).unwrap_err();
    assert!(matches!(error, TreeError::Unreachable { .. }) && error.to_string().contains("skeptic"));
    let mut other = TreeDeliberation::new("t", (2, 1.0), vec![], &BTreeSet::new(), &cast(&settings), &settings);
    assert!(matches!(other.take(Told::Verdicts(vec![])), Err(TreeError::Mismatch(_))));
}

#[test]
fn the_validator_finds_what_a_cycle_must_not_say() {
    let (settings, trees) = (settings(), names(4));
    let sound = (0..50).map(|seed| cycle(minds(seed), &Forest::default(), &trees, &settings, 1));
    let sound: CycleRecord = sound
        .into_iter()
        .find(|cycle| {
            let has = |class| cycle.results.iter().any(|result| result.class == class && result.record.is_some());
            has(Class::Fruit) && has(Class::GoldenLeaf) && !cycle.seeds.is_empty()
        })
        .unwrap();
    let before = Forest::default();
    assert_eq!(validate(&before, &sound), []);
    type Spoil = fn(&mut CycleRecord);
    fn fruit(cycle: &mut CycleRecord) -> &mut super::record::ResultRecord {
        cycle.results.iter_mut().find(|result| result.class == Class::Fruit).unwrap()
    }
    let cases: [(&str, Spoil); 18] = [
        ("a figure that was not met", |c| fruit(c).record.as_mut().unwrap().gates[1].figure = Some(-5.0)),
        ("no figure", |c| fruit(c).record.as_mut().unwrap().gates[1].figure = None),
        ("a gate made soft", |c| {
            let gate = &mut fruit(c).record.as_mut().unwrap().gates[1];
            (gate.hard, gate.passed, gate.figure) = (false, false, Some(0.0));
        }),
        ("gates that were not asked", |c| {
            let record = fruit(c).record.as_mut().unwrap();
            record.asked.truncate(1);
            record.gates.retain(|gate| record.asked.contains(&gate.name));
        }),
        ("no gates", |c| {
            let record = fruit(c).record.as_mut().unwrap();
            (record.asked, record.gates) = (Vec::new(), Vec::new());
        }),
        ("a gate that gave no answer", |c| fruit(c).record.as_mut().unwrap().gates[0].broken = true),
        ("two answers of one gate", |c| {
            let gates = &mut fruit(c).record.as_mut().unwrap().gates;
            gates.push(gates[0].clone());
        }),
        ("a cast of one family", |c| {
            let family = c.cast.gardener.family.clone().map(|family| format!(" {} ", family.to_uppercase()));
            c.cast.skeptic.as_mut().unwrap().family = family;
        }),
        ("a stub", |c| fruit(c).record.as_mut().unwrap().execution_mode = ExecutionMode::StubResult),
        ("an incomplete record", |c| fruit(c).record.as_mut().unwrap().gates.retain(|g| g.name != ALIGNMENT)),
        ("a failed gate", |c| fruit(c).record.as_mut().unwrap().gates[0].passed = false),
        ("a class", |c| {
            let golden = c.results.iter_mut().find(|r| r.class == Class::GoldenLeaf && r.record.is_some()).unwrap();
            golden.class = Class::Fruit;
        }),
        ("another payload", |c| fruit(c).proposal.payload = json!({"ops": []})),
        ("another's record", |c| fruit(c).record.as_mut().unwrap().candidate = "x".into()),
        ("a tree that is not there", |c| fruit(c).tree = "elsewhere".into()),
        ("a score", |c| c.seeds[0].score = 1.5),
        ("twice", |c| c.results.push(c.results[0].clone())),
        ("an event of another cycle", |c| c.events[0].cycle = 9),
    ];
    for (what, spoil) in cases {
        let mut cycle = sound.clone();
        spoil(&mut cycle);
        assert!(!validate(&before, &cycle).is_empty(), "{what}");
        let stored = serde_json::to_value(&cycle).unwrap();
        assert_eq!(read_cycle(&stored).is_err(), what != "a tree that is not there", "{what}, where it comes in");
    }
    let after = before.with(&sound, &settings);
    assert!(!validate(&after, &sound).is_empty(), "results that an earlier cycle closed");
}

#[test]
fn every_weather_has_its_tree_and_its_place() {
    let settings = Deliberation::default();
    let seed = |tree: &str, from: Option<&str>, n: usize| super::seeds::Seed {
        key: format!("{tree}-{n}"),
        tree: tree.into(),
        from: from.map(str::to_owned),
        proposal: proposal(&format!("{tree}{n}")),
        kept: super::seeds::Kept::Hold,
        score: 0.5,
        since: 1,
        judged_on: String::new(),
    };
    type Spoil = fn(&mut super::forest::Tree);
    let of_tree: [(Weather, Spoil); 7] = [
        (Weather::Wildfire, |t| t.burnt = true),
        (Weather::Frost, |t| t.frozen = 1),
        (Weather::Thunderstorm, |t| t.dead = 3),
        (Weather::Heatwave, |t| t.dry = 3),
        (Weather::Fog, |t| t.undecided = true),
        (Weather::Flood, |t| t.recent = vec![9]),
        (Weather::Drought, |t| t.idle = 3),
    ];
    let sky = |forest: &Forest| forecast(forest, &names(2), &BTreeSet::new(), &settings).trees["tree-0"].clone();
    let quiet = || {
        let mut forest = Forest { cycle: 1, ..Forest::default() };
        for (id, recent) in [("tree-0", 2), ("tree-1", 3)] {
            forest.trees.insert(id.into(), super::forest::Tree { recent: vec![recent], ..Default::default() });
        }
        forest
    };
    assert_eq!(sky(&quiet()).weather, Weather::Drizzle);
    // Each spoils the tree of all that come after it as well: the first of the order counts.
    let mut all = quiet();
    let mut seen = vec![Weather::Drizzle];
    all.seeds = (0..2).map(|n| seed("tree-0", None, n)).collect();
    seen.push(sky(&all).weather);
    all.seeds.extend((2..5).map(|n| seed("tree-0", None, n)));
    seen.push(sky(&all).weather);
    for (weather, spoil) in of_tree.iter().rev() {
        if *weather == Weather::Fog {
            all.seeds.push(seed("tree-0", Some("tree-1"), 9));
            seen.push(sky(&all).weather);
        }
        spoil(all.trees.get_mut("tree-0").unwrap());
        assert_eq!(sky(&all).weather, *weather);
        seen.push(*weather);
    }
    let mut order = seen.clone();
    order.sort();
    order.reverse();
    assert_eq!(seen, order, "the precedence is that of the kinds");
    assert_eq!(order.len(), 11);
    assert!((sky(&all).hypotheses, sky(&all).freezes) == (0, false), "a burning tree gets nothing");
}

#[test]
fn a_thunderstorm_freezes_for_two_cycles_and_every_fifth_tries_a_frozen_tree() {
    let settings = Deliberation::default();
    let trees = names(2);
    let mut forest = Forest::default();
    forest.trees.insert("tree-0".into(), super::forest::Tree { dead: 3, ..Default::default() });
    forest.trees.insert("tree-1".into(), Default::default());
    let mut seen = Vec::new();
    for _ in 0..5 {
        let sky = forecast(&forest, &trees, &BTreeSet::new(), &settings).trees["tree-0"].clone();
        seen.push((sky.weather, sky.hypotheses > 0));
        let made =
            cycle(Minds { mode: ExecutionMode::StubResult, ..minds(forest.cycle) }, &forest, &trees, &settings, 1);
        forest = forest.with(&made, &settings);
    }
    assert_eq!(seen[..3], [(Weather::Thunderstorm, false), (Weather::Frost, false), (Weather::Frost, false)]);
    assert!(seen[3].1, "thawed: {seen:?}");
    let mut frozen = Forest { cycle: 4, ..Forest::default() };
    frozen.trees.insert("tree-0".into(), super::forest::Tree { frozen: 9, ..Default::default() });
    let sky = forecast(&frozen, &trees, &BTreeSet::new(), &settings).trees["tree-0"].clone();
    assert_eq!((sky.weather, sky.hypotheses > 0), (Weather::Frost, true), "the fifth cycle");
}

#[test]
fn no_share_rounds_to_nothing_and_temperatures_follow_ids() {
    for (slots, each) in [(1, 1), (3, 1), (4, 3), (7, 2)] {
        for count in 1..9 {
            let settings = Deliberation { slots, hypotheses: each, ..Deliberation::default() };
            let sky = forecast(&Forest::default(), &names(count), &BTreeSet::new(), &settings);
            let shares: Vec<u32> = sky.allocated().map(|(_, sky)| sky.hypotheses).collect();
            let trees = (slots as usize).min(count);
            assert_eq!(
                (shares.len(), shares.iter().sum::<u32>()),
                (trees, trees as u32 * each),
                "{slots} {each} {count}"
            );
        }
    }
    let settings = Deliberation { slots: 9, ..Deliberation::default() };
    let few = forecast(&Forest::default(), &names(3), &BTreeSet::new(), &settings);
    let many = forecast(&Forest::default(), &names(9), &BTreeSet::new(), &settings);
    for (id, sky) in &few.trees {
        assert!((sky.temperature - many.trees[id].temperature).abs() < 1e-12, "{id}");
    }
    let different: BTreeSet<String> = many.trees.values().map(|sky| sky.temperature.to_string()).collect();
    assert!(different.len() > 1);
}

#[test]
fn thresholds_are_part_of_what_a_cycle_says_it_was_judged_by() {
    let mut other = Deliberation::default();
    other.gates.percentile = 50.0;
    assert_ne!(rules_of(&Deliberation::default(), ""), rules_of(&other, ""));
}

#[test]
fn an_amendment_is_told_to_the_next_cycle_until_a_person_has_changed_the_gates() {
    let (settings, trees) = (settings(), names(4));
    let damns = |seed| Minds { second: Some(Decision::Reject), ..minds(seed) };
    let made = (0..64).map(|seed| cycle(damns(seed), &Forest::default(), &trees, &settings, 1));
    let first = made.into_iter().find(|made| !made.amendments.is_empty()).unwrap();
    let forest = Forest::default().with(&first, &settings);
    let told = answers(&forest, &settings, &rules_of(&settings, ""));
    assert_eq!(told.len(), first.amendments.len().min(crate::limits::DELIBERATED_AMENDMENTS));
    assert!(told[0]["answer"].as_str().unwrap().starts_with("open"));
    let next = cycle(minds(1), &forest, &trees, &settings, 1);
    let pre = next.events.iter().find(|event| event.action == Action::ValidatePre).unwrap();
    assert_eq!(pre.outputs["amendments"], json!(told));
    let mut changed = settings.clone();
    changed.gates.percentile = 99.0;
    assert!(answers(&forest, &changed, &rules_of(&changed, ""))[0]["answer"].as_str().unwrap().starts_with("answered"));
    let after = forest.with(&cycle(minds(1), &Forest::default(), &trees, &changed, 1), &changed);
    assert!(after.amendments.is_empty() || after.rules == rules_of(&changed, ""));
    assert!(after.amendments.iter().all(|one| !first.amendments.contains(one)), "answered once");
}

#[test]
fn a_fruit_of_little_alignment_is_one_of_an_ensemble_and_closes_no_place() {
    let (settings, trees) = (settings(), names(4));
    let (mut promoted, mut ensemble) = (0, 0);
    for seed in 0..64 {
        let made = cycle(minds(seed), &Forest::default(), &trees, &settings, 1);
        let forest = Forest::default().with(&made, &settings);
        for result in &made.results {
            let aligned = result.record.iter().flat_map(|record| &record.gates).find(|gate| gate.name == ALIGNMENT);
            let is_one = aligned.and_then(|gate| gate.figure) == Some(1.0);
            let carries = if is_one { Standing::Ensemble } else { Standing::Promoted };
            let expected = (result.class == Class::Fruit).then_some(carries);
            assert_eq!(result.standing(), expected);
            assert_eq!(forest.fruits.get(&result.key).map(|fruit| fruit.standing), expected);
            promoted += usize::from(expected == Some(Standing::Promoted));
            ensemble += usize::from(expected == Some(Standing::Ensemble));
        }
    }
    assert!(promoted > 0 && ensemble > 0);
}
