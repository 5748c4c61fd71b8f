//! Hypotheses that come back and those that do not: other weights, other rules, unanswered questions, hidden gates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::classes::Class;
use super::contested::settle;
use super::cycle::{Setting, conclude, rules_of};
use super::events::Action;
use super::forest::{Forest, validate};
use super::gates::{ALIGNMENT, GATES, GateRecord, GateResult, NOVELTY};
use super::record::CycleRecord;
use super::roles::Role;
use super::sky::Weather;
use super::tests::{cast, minds, names};
use super::tree::{Told, TreeDeliberation, Unanswered, Want};
use super::verdict::{Alignment, Judgement, Mechanism, Proposal};
use super::weather::forecast;
use crate::model::Stamp;
use crate::model::deliberation::{Deliberation, UserGate};
use crate::model::ids::RunId;

/// Of two records of one candidate on the same evidence by the same rules the first stands, whoever wrote the other down.
#[test]
fn a_later_cycle_cannot_contradict_what_gates_measured() {
    let settings = own(&[user_gate("known", false)]);
    let proposals = [tie("one", "memory-1", 100)];
    let case = |passes: &'static dyn Fn(&str, &Proposal) -> bool, rules: &'static str| {
        run(&Forest::default(), &Case { settings: &settings, rules, proposals: &proposals, passes, score: Some(3) }).0
    };
    let failed = |rules| case(&|_, _| false, rules);
    let passed = |rules| case(&|_, _| true, rules);
    let fruits = |cycles: Vec<CycleRecord>| {
        let run = |at: usize| RunId::parse(&format!("20260101t10000{at}000z-abcd2345-human")).unwrap();
        let named = cycles.into_iter().enumerate().map(|(at, cycle)| {
            let after = at.checked_sub(1).map(run).into_iter().collect();
            (run(at), CycleRecord { after, ..cycle })
        });
        let mut named: Vec<(RunId, CycleRecord)> = named.collect();
        settle(&mut named, &std::collections::BTreeSet::new());
        let of = |rules| Forest::after(named.iter().map(|(_, cycle)| cycle), &settings, rules).fruits.len();
        [of(Some("a")), of(Some("b")), of(None)]
    };
    assert_eq!(fruits(vec![passed("a")]), [1, 0, 1], "own gates of another day let nothing through today");
    assert_eq!(fruits(vec![failed("a"), passed("a")]), [0, 0, 0], "a claim against a measurement");
    assert_eq!(fruits(vec![failed("a"), passed("b")]), [0, 1, 1], "other rules measure anew");
    assert_eq!(fruits(vec![passed("a"), failed("a")]), [1, 0, 1]);
    assert_eq!(
        fruits(vec![passed("a"), failed("b")]),
        [1, 0, 0],
        "gates that are what they were let through what they did"
    );
}

fn tie(name: &str, to: &str, weight: u32) -> Proposal {
    let mechanism = Mechanism { name: name.into(), intuition: "it did".into(), ..Mechanism::default() };
    let op = json!({"op": "connect", "from": "lamp-1", "to": to, "type": "feeds_into", "weight": weight});
    Proposal { mechanism, payload: json!({ "ops": [op] }) }
}

fn user_gate(name: &str, hidden: bool) -> UserGate {
    UserGate { name: name.into(), argv: vec!["judge".into()], hard: true, hidden, timeout_ms: 1, reads: Vec::new() }
}

/// The answers of gates and aligner in [`run`].
struct Case<'a> {
    settings: &'a Deliberation,
    rules: &'a str,
    proposals: &'a [Proposal],
    /// Whether a gate of the settings passes a proposal.
    passes: &'a dyn Fn(&str, &Proposal) -> bool,
    /// The aligner's score; `None`: nobody answers.
    score: Option<u32>,
}

/// One cycle of one tree whose inspector finds everything sound. Also the proposals that the aligner was asked of, with what he saw.
fn run(before: &Forest, case: &Case<'_>) -> (CycleRecord, Vec<(Proposal, GateRecord)>) {
    let Case { settings, rules, proposals, passes, score } = case;
    let (cast, trees) = (cast(settings), names(1));
    let sky = forecast(before, &trees, &BTreeSet::new(), settings);
    let share = (proposals.len() as u32, 1.0);
    let mut tree = TreeDeliberation::new("tree-0", share, Vec::new(), &before.closed, &cast, settings);
    let mut aligned = Vec::new();
    loop {
        let told = match tree.want().clone() {
            Want::Done => break,
            Want::Mine { .. } => Told::Proposals(proposals.to_vec()),
            Want::Inspect(all) => {
                let sound =
                    Judgement { logic: 1.0, novelty: 1.0, data: 1.0, next_plan: "x".into(), ..Judgement::default() };
                Told::Judgements(vec![Some(sound); all.len()])
            }
            Want::Examine(all) => Told::Records(all.iter().map(|one| record(settings, one, passes)).collect()),
            Want::Align(all) => {
                aligned.extend(all.clone());
                let said = || match score {
                    Some(score) => Ok(Alignment { score: *score, reason: "it fits".into() }),
                    None => Err(Unanswered::TimedOut),
                };
                Told::Alignments(all.iter().map(|_| said()).collect())
            }
            want => minds(3).answer("tree-0", &want, &mut 0),
        };
        tree.take(told).unwrap();
    }
    let evidence = BTreeMap::from([("tree-0".to_owned(), "e".to_owned())]);
    let setting = Setting {
        goal: "recall",
        before,
        after: &[],
        settings,
        cast: &cast,
        forecast: &sky,
        rules: (*rules).to_owned(),
        evidence: &evidence,
        at: Stamp::from_unix(0),
        initiative: "person",
        timed_out: &[],
    };
    (conclude(&setting, vec![tree.grown()], Vec::new()).unwrap(), aligned)
}

fn record(settings: &Deliberation, proposal: &Proposal, passes: &dyn Fn(&str, &Proposal) -> bool) -> GateRecord {
    let mut record = minds(2).record("tree-0", proposal);
    record.asked.clear();
    record.gates.clear();
    let mut enter = |name: &str, passed: bool, figure: f64| {
        let (name, note) = (name.to_owned(), String::new());
        record.gates.push(GateResult {
            name,
            hard: true,
            passed,
            figure: Some(figure),
            threshold: 1.0,
            note,
            broken: false,
        });
    };
    if settings.gates.brain {
        for (name, ..) in GATES.iter().filter(|(.., handoff)| !handoff) {
            enter(
                name,
                true,
                if name.starts_with("G6") {
                    0.0
                } else if name.starts_with("G4") || name.starts_with("G2") {
                    2.0
                } else {
                    1.0
                },
            );
        }
    }
    for gate in &settings.gate {
        let passed = passes(&gate.name, proposal);
        enter(&gate.name, passed, f64::from(u8::from(passed)));
    }
    record.asked = record.gates.iter().map(|gate| gate.name.clone()).chain([ALIGNMENT.to_owned()]).collect();
    record
}

fn plain() -> Deliberation {
    Deliberation { skeptic: String::new(), max_debate_rounds: 0, slots: 1, ..Deliberation::default() }
}

fn own(gates: &[UserGate]) -> Deliberation {
    let mut settings = Deliberation { gate: gates.to_vec(), aligner: "handoff".into(), ..plain() };
    settings.gates.brain = false;
    settings
}

fn number(name: &str, x: u32) -> Proposal {
    let mechanism = Mechanism { name: name.into(), intuition: "x".into(), ..Mechanism::default() };
    Proposal { mechanism, payload: json!({ "x": x }) }
}

#[test]
fn other_weights_of_one_fact_make_one_fruit_of_a_cycle() {
    let settings = plain();
    let ties = |more: &Proposal, to: &str| {
        let mut payload = more.payload.clone();
        let op = tie("", to, 5).payload["ops"][0].clone();
        payload["ops"].as_array_mut().unwrap().push(op);
        Proposal { payload, ..more.clone() }
    };
    // The second says the first with another weight, the third a part of the fourth.
    let four =
        [tie("a", "one-1", 9), tie("b", "one-1", 8), ties(&tie("c", "two-1", 9), "three-1"), tie("d", "two-1", 7)];
    let case = Case { settings: &settings, rules: "r", proposals: &four, passes: &|_, _| true, score: Some(3) };
    let (made, _) = run(&Forest::default(), &case);
    assert_eq!(validate(&Forest::default(), &made), []);
    let fruits = made.results.iter().filter(|result| result.class == Class::Fruit);
    let names: BTreeSet<&str> = fruits.map(|result| result.proposal.mechanism.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["a", "c"]), "{:#?}", made.results);
    let last = made.results.iter().find(|result| result.proposal.mechanism.name == "d").unwrap();
    let novelty = last.record.as_ref().unwrap().gates.iter().find(|gate| gate.name == NOVELTY).unwrap();
    assert_eq!((novelty.figure, novelty.passed), (Some(1.0), false));
}

/// A payload for gates of one's own is no delta of the brain, also where it has operations.
#[test]
fn own_gates_measure_each_payload_as_it_is() {
    let settings = own(&[user_gate("known", false)]);
    let two = [tie("a", "one-1", 9), tie("b", "one-1", 8)];
    let case = Case { settings: &settings, rules: "r", proposals: &two, passes: &|_, _| true, score: Some(3) };
    let (made, _) = run(&Forest::default(), &case);
    assert_eq!(made.results.iter().filter(|result| result.class == Class::Fruit).count(), 2, "{:#?}", made.results);
}

#[test]
fn what_gates_rejected_is_open_again_and_fruit_that_lands_is_not() {
    let settings = own(&[user_gate("known", false)]);
    let one = [number("one", 1)];
    let case = |rules, pass: bool| {
        let passes: &'static dyn Fn(&str, &Proposal) -> bool = if pass { &|_, _| true } else { &|_, _| false };
        Case { settings: &settings, rules, proposals: &one, passes, score: Some(3) }
    };
    let (first, _) = run(&Forest::default(), &case("r1", false));
    assert_eq!(first.results[0].class, Class::DeadLeaf);
    assert!(first.results[0].is_measured(&settings), "on the same evidence by the same rules it is not measured again");
    let forest = Forest::default().with(&first, &settings);
    assert!(forest.closed.is_empty());
    let (second, _) = run(&forest, &case("r2", true));
    assert_eq!(second.results[0].class, Class::Fruit, "a mended judge is asked again");
    let forest = forest.with(&second, &settings);
    assert_eq!(forest.fruits.len(), 1);
    let (third, _) = run(&forest, &case("r3", false));
    assert!(forest.with(&third, &settings).fruits.is_empty(), "fruit of a gate that was mended since is none");
    // What lands is closed by any rules.
    let on_brain = plain();
    let ties = [tie("a", "one-1", 9)];
    let case = Case { settings: &on_brain, rules: "r1", proposals: &ties, passes: &|_, _| true, score: Some(3) };
    let (made, _) = run(&Forest::default(), &case);
    let forest = Forest::default().with(&made, &on_brain);
    assert_eq!(forest.closed.len(), 1);
}

#[test]
fn an_unanswered_alignment_is_a_seed_and_fog_also_where_gates_are_hidden() {
    for gates in [vec![user_gate("known", false), user_gate("secret", true)], vec![user_gate("secret", true)]] {
        let settings = own(&gates);
        let two = [number("good", 1), number("bad", 2)];
        let passes = |gate: &str, one: &Proposal| gate != "secret" || one.payload["x"] == 1;
        let case = Case { settings: &settings, rules: "r", proposals: &two, passes: &passes, score: None };
        let (made, asked) = run(&Forest::default(), &case);
        // Both are asked about, and what is shown has nothing of the hidden gate: so neither question nor seed tells of it.
        assert_eq!(asked.len(), 2);
        assert!(asked.iter().all(|(_, record)| record.gates.iter().all(|gate| gate.name != "secret")));
        assert_eq!(made.seeds.len(), 2, "{:#?}", made.seeds);
        assert!(made.seeds.iter().all(|seed| seed.judged_on.is_empty()), "asked about again");
        assert!(made.results.iter().all(|result| !result.is_measured(&settings) && !result.closes(&settings)));
        let forest = Forest::default().with(&made, &settings);
        assert!(forest.closed.is_empty());
        assert_eq!(forecast(&forest, &names(1), &BTreeSet::new(), &settings).trees["tree-0"].weather, Weather::Fog);
        // The next cycle has the answer.
        let (next, _) = run(&forest, &Case { score: Some(3), ..case });
        let class = |name: &str| next.results.iter().find(|one| one.proposal.mechanism.name == name).unwrap().class;
        assert_eq!(class("good"), Class::Fruit);
        assert_ne!(class("bad"), Class::Fruit, "the hidden gate decides");
        let open: Vec<Class> = next.results.iter().map(|result| result.open_class(&settings)).collect();
        assert_eq!(open[0], open[1], "proposers cannot tell them apart");
    }
}

#[test]
fn a_step_of_each_mind_is_an_event_and_a_result_says_who_proposed_it() {
    let settings = Deliberation { diverger: "command".into(), ..plain() };
    let proposals = [tie("a", "one-1", 9)];
    let case = Case { settings: &settings, rules: "r", proposals: &proposals, passes: &|_, _| true, score: Some(3) };
    let (made, _) = run(&Forest::default(), &case);
    let steps: BTreeSet<(Role, Action)> = made.events.iter().map(|event| (event.role, event.action)).collect();
    for step in [
        (Role::Gardener, Action::Mine),
        (Role::Diverger, Action::Diverge),
        (Role::Inspector, Action::Judge),
        (Role::Aligner, Action::Align),
    ] {
        assert!(steps.contains(&step), "{step:?}");
    }
    let by = |name: &str| made.results.iter().find(|one| one.proposal.mechanism.name == name).unwrap().by;
    assert_eq!((by("a"), by("a+")), (None, Some(Role::Diverger)));
    let stored: Value = serde_json::to_value(&made).unwrap();
    assert!(stored.to_string().contains("\"by\":\"diverger\""));
}

#[test]
fn rules_have_the_programs_of_the_gates_in_them() {
    let settings = own(&[user_gate("known", false)]);
    assert_ne!(rules_of(&settings, "a"), rules_of(&settings, "b"));
    assert_ne!(rules_of(&settings, "a"), rules_of(&settings, ""));
}

#[test]
fn a_tree_of_an_answered_question_comes_first_whatever_the_weather() {
    let settings = Deliberation { slots: 1, ..plain() };
    let answered = BTreeSet::from(["tree-2".to_owned()]);
    let mut forest = Forest::default();
    for id in names(3) {
        let tree = forest.trees.entry(id.clone()).or_default();
        (tree.burnt, tree.idle) = (id == "tree-2", 9);
    }
    let allocated = |answered: &BTreeSet<String>| -> Vec<String> {
        let sky = forecast(&forest, &names(3), answered, &settings);
        sky.allocated().map(|(id, _)| id.clone()).collect()
    };
    assert_eq!(allocated(&BTreeSet::new()), ["tree-0"]);
    assert_eq!(allocated(&answered), ["tree-2"]);
}

#[test]
fn an_answered_candidate_is_the_first_hypothesis_and_is_not_debated_again() {
    let settings = Deliberation { slots: 1, ..Deliberation::default() };
    let cast = cast(&settings);
    let start = |share: u32, closed: &BTreeSet<String>| {
        let seeds = vec![number("seed", 7), number("asked", 1)];
        TreeDeliberation::new("t", (share, 1.0), seeds, closed, &cast, &settings)
            .going_on_with(vec![number("asked", 1)])
    };
    let tree = start(4, &BTreeSet::new());
    let Want::Mine { count, .. } = tree.want() else { panic!("{:?}", tree.want()) };
    assert_eq!(*count, 2, "one that was answered, one of the bank");
    let mut alone = start(1, &BTreeSet::new());
    let Want::Inspect(all) = alone.want().clone() else { panic!("{:?}", alone.want()) };
    assert_eq!(all, [number("asked", 1)]);
    alone.take(Told::Judgements(vec![None])).unwrap();
    assert_eq!(alone.want(), &Want::Done);
    let said = |tree: &TreeDeliberation| {
        let told = tree.steps().iter().find(|told| told.action == Action::HandoffResponse);
        told.map(|told| told.step.reason.clone()).unwrap_or_default()
    };
    assert!(said(&alone).contains("was not used: nothing is asked about it"), "{}", said(&alone));
    let closed = BTreeSet::from([number("asked", 1).key()]);
    let mut closed = start(2, &closed);
    closed.take(Told::Proposals(Vec::new())).unwrap();
    while *closed.want() != Want::Done {
        let told = match closed.want().clone() {
            Want::Inspect(all) => Told::Judgements(vec![None; all.len()]),
            want => minds(3).answer("t", &want, &mut 0),
        };
        closed.take(told).unwrap();
    }
    assert!(said(&closed).contains("it is closed"), "{}", said(&closed));
}

/// Two machines may decide the same before they meet, or the same of a part.
#[test]
fn results_of_one_key_and_evidence_by_the_same_rules_count_once() {
    let settings = own(&[user_gate("known", false)]);
    let dead = [number("a", 1), number("b", 2)];
    let case = Case { settings: &settings, rules: "r", proposals: &dead, passes: &|_, _| false, score: None };
    let (one, _) = run(&Forest::default(), &case);
    let once = Forest::default().with(&one, &settings);
    assert_eq!((once.trees["tree-0"].attempts, once.trees["tree-0"].dead), (2, 2));
    let twice = once.clone().with(&one, &settings);
    assert_eq!((&twice.trees, twice.cycle), (&once.trees, once.cycle), "an equal cycle is the same cycle");
    // Another one that has a part of it, on the same evidence.
    let more = [number("b", 2), number("c", 3)];
    let (other, _) = run(&Forest::default(), &Case { proposals: &more, ..case });
    let both = once.with(&other, &settings);
    let tree = &both.trees["tree-0"];
    assert_eq!((tree.attempts, tree.deaths, tree.dead, both.cycle), (3, 3, 3, 2));
    assert_eq!(tree.recent, [2, 1]);
}

#[test]
fn what_names_a_memory_of_the_newer_half_is_quarantined_whatever_the_inspector_says() {
    let settings = plain();
    let sealed = BTreeSet::from(["one-2".to_owned()]);
    let (seen, ahead) = (tie("seen", "one-1", 9), tie("ahead", "one-2", 9));
    let mut tree = TreeDeliberation::new("t", (2, 1.0), Vec::new(), &BTreeSet::new(), &cast(&settings), &settings)
        .with_sealed(sealed);
    tree.take(Told::Proposals(vec![seen, ahead])).unwrap();
    let sound = Judgement { logic: 1.0, novelty: 1.0, data: 1.0, next_plan: "x".into(), ..Judgement::default() };
    while *tree.want() != Want::Done {
        let told = match tree.want().clone() {
            Want::Inspect(all) => Told::Judgements(vec![Some(sound.clone()); all.len()]),
            want => minds(3).answer("t", &want, &mut 0),
        };
        tree.take(told).unwrap();
    }
    let classes: BTreeMap<String, Class> =
        tree.grown().leaves.into_iter().map(|(leaf, ..)| (leaf.proposal.mechanism.name, leaf.class)).collect();
    assert_eq!(classes["ahead"], Class::SickLeaf);
    assert_ne!(classes["seen"], Class::SickLeaf);
}
