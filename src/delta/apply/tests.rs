//! What operations do, one by one.

use super::*;
use crate::model::document::GoalLevel;

#[derive(Default)]
struct Net(BTreeMap<NeuronId, Neuron>, Vec<(Signal, bool)>, Vec<RunRecord>, Vec<Goal>);

impl Lookup for Net {
    type Error = std::convert::Infallible;
    fn neuron(&self, id: &NeuronId) -> Result<Option<Neuron>, Self::Error> {
        Ok(self.0.get(id).cloned())
    }
    fn signal(&self, to: &AgentName, id: &SignalId) -> Result<Option<(Signal, bool)>, Self::Error> {
        Ok(self.1.iter().find(|(s, _)| s.id == *id && s.to == *to).cloned())
    }
    fn record(&self, run: &RunId) -> Result<Option<RunRecord>, Self::Error> {
        Ok(self.2.iter().find(|r| r.run == *run).cloned())
    }
    fn goal(&self, id: &GoalId) -> Result<Option<Goal>, Self::Error> {
        Ok(self.3.iter().find(|g| g.id == *id).cloned())
    }
}

fn id(text: &str) -> NeuronId {
    NeuronId::parse(text).unwrap()
}

fn author() -> Author {
    let run = RunId::parse("20260126t143200123z-abcd2345-memory").unwrap();
    Author {
        agent: run.agent(),
        run,
        clock: Stamp::from_unix(3_600_000),
        rank: 5,
        origin: Origin::local(),
        consumed: vec![],
    }
}

/// a --feeds_into 50000--> b, both semantic, made at hour 1000.
fn net() -> Net {
    let mut net = Net::default();
    for name in ["a", "b"] {
        net.0.insert(id(name), Neuron::new(id(name), name, Kind::Semantic, Stamp::from_unix(3_600_000)));
    }
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::FeedsInto, 50000);
    net
}

fn run(net: &Net, ops: &str, allowed: Option<&Limits>) -> Result<Applied, Refusal> {
    let text = format!("{{\"ops\": [{ops}]}}");
    let document = Document::parse(text.as_bytes(), "test").unwrap();
    let (learning, activation) = (Learning::default(), Activation::default());
    apply(&document, &author(), allowed, net, &learning, &activation).map_err(|e| match e {
        ApplyError::Refused(refusal) => refusal,
        ApplyError::Lookup(never) => match never {},
    })
}

fn weight(applied: &Applied, from: &str, to: &str, link: Link) -> u16 {
    applied.neurons[&id(from)].1.weight(&id(to), link)
}

const EDGE: &str = r#""from": "a", "to": "b", "type": "feeds_into""#;

#[test]
fn creating_names_stamps_and_versions_a_neuron() {
    let out = run(&net(), r#"{"op": "create", "concept": "Green Tea", "type": "semantic"}"#, None).unwrap();
    let (before, after) = out.neurons.values().next().unwrap();
    assert!(before.is_none());
    assert_eq!(after.id, ids::concept_id("green tea"));
    assert_eq!((after.named_by.kind.rank, after.run.clone()), (5, Some(author().run)));
    assert_eq!(after.version.0, author().run.hash64());
}

#[test]
fn what_exists_stays_and_another_meaning_is_refused() {
    let same =
        r#"{"op": "create", "id": "a", "concept": "a", "type": "semantic"}, {"op": "connect", EDGE, "weight": 7}"#;
    assert!(run(&net(), &same.replace("EDGE", EDGE), None).unwrap().neurons.is_empty());
    let spelt = r#"{"op": "create", "id": "a", "concept": " A", "type": "semantic"}"#;
    assert!(run(&net(), spelt, None).unwrap().neurons.is_empty());
    let other = r#"{"op": "create", "id": "a", "concept": "b", "type": "semantic"}"#;
    assert!(matches!(run(&net(), other, None).unwrap_err().reason, Reason::Taken { .. }));
}

#[test]
fn weights_change_saturate_and_are_noted() {
    let adjust = |by: i32| run(&net(), &format!(r#"{{"op": "adjust", {EDGE}, "by": {by}}}"#), None).unwrap();
    assert_eq!(weight(&adjust(-120), "a", "b", Link::FeedsInto), 49880);
    let clamped = adjust(60000);
    assert_eq!((weight(&clamped, "a", "b", Link::FeedsInto), clamped.notes.len()), (65535, 1));
    let gone = run(&net(), &format!(r#"{{"op": "disconnect", {EDGE}}}"#), None).unwrap();
    assert_eq!(weight(&gone, "a", "b", Link::FeedsInto), 0);
    assert_eq!(gone.neurons[&id("a")].1.connections.len(), 1, "only sleep removes edges");
}

#[test]
fn a_disconnected_edge_can_be_connected_again() {
    let ops = format!(r#"{{"op": "disconnect", {EDGE}}}, {{"op": "connect", {EDGE}, "weight": 9000}}"#);
    assert_eq!(weight(&run(&net(), &ops, None).unwrap(), "a", "b", Link::FeedsInto), 9000);
}

#[test]
fn reinforcement_has_the_seeds_figure_and_wakes_the_target() {
    assert_eq!(weight_change(-0.3, 26214, 50000), -6000);
    let ops = format!(r#"{{"op": "reinforce", "error": 0.5, "pathway": [{{{EDGE}}}]}}"#);
    let out = run(&net(), &ops, None).unwrap();
    assert_eq!(weight(&out, "a", "b", Link::FeedsInto), 51250); // .5 · 3277 · 50000/65535 = 1250.1
    assert_eq!((out.neurons[&id("b")].1.salience, out.neurons[&id("b")].1.activation_count), (1250, 1));
}

#[test]
fn a_great_move_fires_triggers_in_the_same_run() {
    let mut net = net();
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::Triggers, 1);
    let strong = run(&net, r#"{"op": "activate", "id": "a", "strength": 0.6}"#, None).unwrap();
    assert_eq!(strong.neurons[&id("b")].1.salience, 39321);
    let weak = run(&net, r#"{"op": "activate", "id": "a", "strength": 0.4}"#, None).unwrap();
    assert!(!weak.neurons.contains_key(&id("b")));
}

#[test]
fn a_missing_end_refuses_the_whole_delta_with_its_index() {
    let ops = r#"{"op": "activate", "id": "a", "strength": 1},
        {"op": "connect", "from": "a", "to": "ghost", "type": "recalls", "weight": 5}"#;
    let refusal = run(&net(), ops, None).unwrap_err();
    assert_eq!((refusal.index, refusal.reason), (1, Reason::NoNeuron(id("ghost"))));
    for ops in [
        r#"{"op": "activate", "id": "ghost", "strength": 1}"#,
        r#"{"op": "adjust", "from": "b", "to": "a", "type": "recalls", "by": 1}"#,
        r#"{"op": "acknowledge", "signal": "g1", "payload": {}}"#,
        r#"{"op": "activate", "id": "a", "strength": 1, "at": "2026-01-01T00:00:00Z"}"#,
    ] {
        assert!(run(&net(), ops, None).is_err(), "{ops}");
    }
}

#[test]
fn core_and_pinned_neurons_are_never_archived() {
    let archive = r#"{"op": "archive", "id": "a", "reason": "old"}"#;
    let out = run(&net(), archive, None).unwrap();
    assert!(out.neurons[&id("a")].1.is_archived());
    let mut pinned = net();
    pinned.0.get_mut(&id("a")).unwrap().pinned = true;
    assert!(run(&pinned, archive, None).is_err());
    let ops = format!(r#"{{"op": "retype", "id": "a", "type": "core"}}, {archive}"#);
    assert!(run(&net(), &ops, None).is_err());
}

#[test]
fn capabilities_hold_operations_types_changes_and_counts() {
    let capabilities = crate::model::document::Capabilities {
        operations: vec!["activate".into(), "connect".into(), "adjust".into()],
        types: vec![Kind::Semantic],
        max_weight_delta: 2000,
        max_operations: 2,
        ..crate::model::document::Capabilities::default()
    };
    let limits = Limits::of(&author().agent, &capabilities);
    let try_it = |ops: &str| run(&net(), ops, Some(&limits));
    assert!(try_it(r#"{"op": "activate", "id": "a", "strength": 1}"#).is_ok());
    assert!(try_it(&format!(r#"{{"op": "adjust", {EDGE}, "by": 2000}}"#)).is_ok());
    let low = try_it(r#"{"op": "connect", "from": "b", "to": "a", "type": "recalls", "weight": 5}"#).unwrap();
    assert_eq!((weight(&low, "b", "a", Link::Recalls), low.notes.len()), (1024, 1));
    for ops in [
        &format!(r#"{{"op": "adjust", {EDGE}, "by": -2001}}"#),
        r#"{"op": "reword", "id": "a", "concept": "x"}"#,
        r#"{"op": "create", "concept": "x", "type": "semantic"}"#,
        &[r#"{"op": "activate", "id": "a", "strength": 1}"#; 3].join(","),
    ] {
        assert!(matches!(try_it(ops).unwrap_err().reason, Reason::Capability(_)), "{ops}");
    }
    let mut core = net();
    core.0.get_mut(&id("a")).unwrap().kind = Kind::Core;
    assert!(run(&core, r#"{"op": "activate", "id": "a", "strength": 1}"#, Some(&limits)).is_err());
}

const JUDGED: &str = "20260126t143100000z-abcd2345-decision";

#[test]
fn an_outcome_becomes_a_ledger_entry_if_its_sum_is_right() {
    let mut net = net();
    let record = |prediction: &str| {
        let text = format!(
            r#"{{"run": "{JUDGED}", "agent": "decision", "trigger": "t", "cognition": "apply", "at": "2026-01-26T14:31:00Z",
            "depth": 0, "base": null, "origin": "local", "prediction": {prediction}, "ops": [], "effects": []}}"#
        );
        RunRecord::decode(text.as_bytes(), "record").unwrap()
    };
    let op = |value: f64, error: f64| {
        format!(r#"{{"op": "outcome", "run": "{JUDGED}", "value": {value}, "error": {error}, "method": "number"}}"#)
    };
    assert_eq!(run(&net, &op(0.4, -0.3), None).unwrap_err().reason, Reason::NoRun(RunId::parse(JUDGED).unwrap()));
    net.2.push(record(r#"{"text": "rain", "value": 0.7}"#));
    let entry = run(&net, &op(0.4, -0.3), None).unwrap().outcome.unwrap();
    assert_eq!((entry.run.clone(), entry.agent.as_str()), (author().run, "decision"));
    assert_eq!((entry.prediction.text.as_deref(), entry.prediction.value), (Some("rain"), 0.7));
    assert!(matches!(run(&net, &op(0.4, -0.2), None).unwrap_err().reason, Reason::WrongError { .. }));
    let twice = format!("{}, {}", op(0.4, -0.3), op(0.4, -0.3));
    assert_eq!(run(&net, &twice, None).unwrap_err().reason, Reason::SecondOutcome);
    net.2[0] = record("null");
    let assumed = run(&net, &op(1.0, 0.5), None).unwrap();
    assert!(assumed.notes[0].contains("0.5 is assumed"), "{:?}", assumed.notes);
}

#[test]
fn terminal_goals_are_for_people_alone() {
    let capabilities = crate::model::document::Capabilities {
        operations: vec!["goal".into()],
        ..crate::model::document::Capabilities::default()
    };
    let limits = Limits::of(&author().agent, &capabilities);
    let mut net = net();
    let op = |level: &str, rest: &str| format!(r#"{{"op": "goal", "text": "tea", "level": "{level}"{rest}}}"#);
    let set = run(&net, &op("terminal", ""), None).unwrap();
    let goal = set.goals.values().next().unwrap().clone();
    assert_eq!((goal.level, goal.run.clone()), (GoalLevel::Terminal, Some(author().run)));
    let denied = Reason::Terminal(goal.id.clone());
    assert_eq!(run(&net, &op("terminal", ""), Some(&limits)).unwrap_err().reason, denied);
    net.3.push(goal.clone());
    // Neither changed, nor turned into a lesser one.
    for level in ["terminal", "sub"] {
        let close = op(level, r#", "state": "abandoned""#);
        assert_eq!(run(&net, &close, Some(&limits)).unwrap_err().reason, denied);
    }
    let rest = format!(r#", "id": "milk", "neuron": "a", "parent": "{}""#, goal.id);
    let sub = run(&net, &op("sub", &rest), Some(&limits)).unwrap().goals.into_values().next().unwrap();
    assert_eq!((sub.run, sub.parent), (Some(author().run), Some(goal.id)));
    for rest in
        [r#", "id": "g", "neuron": "ghost""#, r#", "id": "g", "parent": "ghost""#, r#", "id": "g", "parent": "g""#]
    {
        assert!(run(&net, &op("sub", rest), Some(&limits)).is_err(), "{rest}");
    }
}

#[test]
fn signals_are_numbered_and_answered_once() {
    let mut net = net();
    let sent = run(&net, r#"{"op": "signal", "to": "memory", "payload": {"kind": "x"}}, {"op": "signal", "to": "memory", "payload": {}}"#, None).unwrap();
    assert_ne!(sent.signals[0].id, sent.signals[1].id);
    net.1.push((sent.signals[0].clone(), false));
    let ack = format!(r#"{{"op": "acknowledge", "signal": "{}", "payload": {{}}}}"#, sent.signals[0].id);
    assert_eq!(run(&net, &format!("{ack}, {ack}"), None).unwrap().acknowledgements.len(), 1);
    net.1[0].1 = true;
    assert!(run(&net, &ack, None).unwrap().acknowledgements.is_empty());
}

#[test]
fn what_is_bounded_as_a_sum_is_asked_for_at_every_operation() {
    let capabilities = crate::model::document::Capabilities {
        operations: vec!["create".into(), "activate".into()],
        types: vec![Kind::Semantic],
        max_created: Some(1),
        max_strength: Some(0.5),
        ..Default::default()
    };
    let limits = Limits::of(&author().agent, &capabilities);
    let create = |concept: &str| format!(r#"{{"op": "create", "concept": "{concept}", "type": "semantic"}}"#);
    let activate = r#"{"op": "activate", "id": "a", "strength": 0.3}"#;
    assert!(run(&net(), &format!("{}, {activate}", create("tea")), Some(&limits)).is_ok());
    for ops in [format!("{}, {}", create("tea"), create("coffee")), format!("{activate}, {activate}")] {
        let refusal = run(&net(), &ops, Some(&limits)).unwrap_err();
        assert!(refusal.index == 1 && matches!(refusal.reason, Reason::Capability(_)), "{ops}: {refusal}");
        assert!(run(&net(), &ops, None).is_ok());
    }
}

/// What an agent may do who may do all this, with those changes.
fn allowed(change: impl FnOnce(&mut crate::model::document::Capabilities)) -> Limits {
    let mut capabilities = crate::model::document::Capabilities {
        operations: Operation::NAMES.map(str::to_owned).to_vec(),
        types: Kind::ALL.to_vec(),
        ..Default::default()
    };
    change(&mut capabilities);
    Limits::of(&author().agent, &capabilities)
}

#[test]
fn hebbian_growth_has_the_notes_figure_and_saturates() {
    assert_eq!(hebbian_change(1000, 0.5, 0.8, 0), 400);
    assert_eq!(hebbian_change(1000, 0.5, 0.8, 13107), 320, "a fifth is grown already");
    assert_eq!(hebbian_change(1000, 1.0, 1.0, 65535), 0);
    assert_eq!(hebbian_change(u32::MAX, 1.0, 1.0, 0), 65535);
}

#[test]
fn people_get_the_weight_they_write_and_agents_one_that_learning_can_move() {
    let connect = r#"{"op": "connect", "from": "b", "to": "a", "type": "recalls", "weight": 5}"#;
    let by_hand = run(&net(), connect, None).unwrap();
    assert_eq!((weight(&by_hand, "b", "a", Link::Recalls), by_hand.notes.len()), (5, 0));
    let great = connect.replace('5', "5000");
    let kept = run(&net(), &great, Some(&allowed(|_| {}))).unwrap();
    assert_eq!((weight(&kept, "b", "a", Link::Recalls), kept.notes.len()), (5000, 0));
    // The bound is that of the raised weight.
    assert!(run(&net(), connect, Some(&allowed(|c| c.max_weight_delta = 1023))).is_err());
    assert!(run(&net(), connect, Some(&allowed(|c| c.max_weight_delta = 1024))).is_ok());
}

#[test]
fn small_steps_of_a_weight_add_up_from_before_the_delta() {
    let adjust = |by: i32| format!(r#"{{"op": "adjust", {EDGE}, "by": {by}}}"#);
    let limits = allowed(|c| c.max_weight_delta = 2000);
    let refused = run(&net(), &format!("{}, {}", adjust(1500), adjust(501)), Some(&limits)).unwrap_err();
    assert!(refused.index == 1 && matches!(refused.reason, Reason::Capability(_)), "{refused}");
    assert!(run(&net(), &format!("{}, {}", adjust(1500), adjust(500)), Some(&limits)).is_ok());
    assert!(run(&net(), &format!("{}, {}", adjust(2000), adjust(-2000)), Some(&limits)).is_ok());
    let back = format!(r#"{{"op": "disconnect", {EDGE}}}, {{"op": "connect", {EDGE}, "weight": 49000}}"#);
    let wide = allowed(|c| c.max_weight_delta = 50000);
    assert!(run(&net(), &back, Some(&wide)).is_ok(), "a thousand less than before");
}

#[test]
fn reinforcement_asks_for_the_target_too_and_nothing_moves_what_is_zero() {
    let ops = format!(r#"{{"op": "reinforce", "error": 0.5, "pathway": [{{{EDGE}}}]}}"#);
    let region = |names: &str| {
        let (regions, targets) = (format!(r#"[{names}]"#), r#"["*"]"#);
        allowed(|c| {
            c.regions = Some(serde_json::from_str(&regions).unwrap());
            c.targets = Some(serde_json::from_str(targets).unwrap());
        })
    };
    assert!(run(&net(), &ops, Some(&region(r#""a", "b""#))).is_ok());
    assert!(run(&net(), &ops, Some(&region(r#""a""#))).is_err(), "the target's salience grows");
    assert!(run(&net(), &ops, Some(&region(r#""b""#))).is_err());
    // What it brings along counts as strength: 1250 of 65535 here.
    assert!(run(&net(), &ops, Some(&allowed(|c| c.max_strength = Some(0.0191)))).is_ok());
    assert!(run(&net(), &ops, Some(&allowed(|c| c.max_strength = Some(0.0190)))).is_err());
    let mut zero = net();
    zero.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::FeedsInto, 0);
    assert!(run(&zero, &ops, None).unwrap().neurons.is_empty());
}

#[test]
fn a_trigger_fires_from_its_threshold_on_and_each_neuron_once() {
    let mut net = net();
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::Triggers, 1);
    net.0.get_mut(&id("b")).unwrap().set_weight(&id("a"), Link::Triggers, 1);
    let fire = |net: &Net, strength: f64, theta: f64| {
        let text = format!(r#"{{"ops": [{{"op": "activate", "id": "a", "strength": {strength}}}]}}"#);
        let document = Document::parse(text.as_bytes(), "test").unwrap();
        let activation = Activation { theta, ..Activation::default() };
        let out = apply(&document, &author(), None, net, &Learning::default(), &activation).unwrap();
        ["a", "b"].map(|name| out.neurons.get(&id(name)).map_or(0, |(_, n)| n.activation_count))
    };
    // b is fired by a, and fires a, which does not fire again.
    assert_eq!(fire(&net, 0.6, 0.5), [2, 1]);
    assert_eq!(fire(&net, 0.4, 0.5), [1, 0]);
    assert_eq!(fire(&net, 1.0, 1.0), [2, 1], "a move as great as the threshold is one");
    assert_eq!(fire(&net, 0.0, 0.0), [1, 0], "no move is none");
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::Triggers, 0);
    assert_eq!(fire(&net, 0.6, 0.5), [1, 0], "a weight of 0 fires nothing");
    // What was there before, decayed to the run's clock, is no move.
    net.0.get_mut(&id("a")).unwrap().set_weight(&id("b"), Link::Triggers, 1);
    net.0.get_mut(&id("a")).unwrap().salience = 40000;
    assert_eq!(fire(&net, 0.3, 0.5), [1, 0]);
}

#[test]
fn a_name_changes_with_its_rank_and_its_origin_and_only_if_it_changes() {
    let mut net = net();
    net.0.get_mut(&id("a")).unwrap().named_by.concept.rank = 9;
    let other = Author { origin: Origin::parse("http").unwrap(), ..author() };
    let run_as = |ops: &str, limits: Option<&Limits>, net: &Net| {
        let document = Document::parse(format!("{{\"ops\": [{ops}]}}").as_bytes(), "test").unwrap();
        apply(&document, &other, limits, net, &Learning::default(), &Activation::default())
    };
    let reword = r#"{"op": "reword", "id": "a", "concept": "x"}"#;
    let retype = r#"{"op": "retype", "id": "a", "type": "contextual"}"#;
    let after = run_as(&format!("{reword}, {retype}"), None, &net).unwrap().neurons[&id("a")].1.clone();
    assert_eq!((after.concept.as_str(), after.kind), ("x", Kind::Contextual));
    assert_eq!(after.named_by.concept, Name { rank: 9, run: Some(author().run) }, "no weaker than it was");
    assert_eq!(after.named_by.kind, Name { rank: 5, run: Some(author().run) });
    for op in [reword, retype] {
        assert_eq!(run_as(op, None, &net).unwrap().neurons[&id("a")].1.origin, other.origin, "{op}");
    }
    let same = [r#"{"op": "reword", "id": "a", "concept": "a"}"#, r#"{"op": "retype", "id": "a", "type": "semantic"}"#];
    assert!(run_as(&same.join(","), None, &net).unwrap().neurons.is_empty());
    // Agents name neither what is pinned nor the core.
    let limits = allowed(|_| {});
    assert!(run_as(reword, Some(&limits), &net).is_ok());
    for change in [|n: &mut Neuron| n.pinned = true, |n: &mut Neuron| n.kind = Kind::Core] {
        let mut kept = Net(net.0.clone(), vec![], vec![], vec![]);
        change(kept.0.get_mut(&id("a")).unwrap());
        for op in [reword, retype] {
            assert!(run_as(op, Some(&limits), &kept).is_err(), "{op}");
            assert!(run_as(op, None, &kept).is_ok(), "{op}");
        }
    }
    let few = allowed(|c| c.types = vec![Kind::Semantic]);
    assert!(run_as(retype, Some(&few), &net).is_err(), "nor a type that they may not make");
}

#[test]
fn what_is_made_has_its_clock_its_stimulus_and_its_bytes() {
    let at = |stamp: &str| format!(r#"{{"op": "activate", "id": "a", "strength": 1, "at": "{stamp}"}}"#);
    assert!(run(&net(), &at("1970-02-11T16:00:00Z"), None).is_ok(), "the run's own moment");
    assert_eq!(
        run(&net(), &at("1970-02-11T16:00:01Z"), None).unwrap_err().reason,
        Reason::Future(Stamp::from_unix(3_600_000 + 1))
    );
    let episode = r#"{"op": "create", "concept": "it rained", "type": "episodic", "stimulus": "s1"}"#;
    let limits = allowed(|_| {});
    assert!(matches!(run(&net(), episode, Some(&limits)).unwrap_err().reason, Reason::NotConsumed(_)));
    let made = run(&net(), episode, None).unwrap();
    let s1 = StimulusId::parse("s1").unwrap();
    assert_eq!(made.neurons.keys().collect::<Vec<_>>(), [&ids::episode_id(&s1)]);
    let document = Document::parse(format!("{{\"ops\": [{episode}]}}").as_bytes(), "test").unwrap();
    let consumer = Author { consumed: vec![s1], ..author() };
    let taken = apply(&document, &consumer, Some(&limits), &net(), &Learning::default(), &Activation::default());
    assert_eq!(taken.unwrap().neurons.len(), 1);
    // Of another type it is the concept that names it.
    let fact = run(&net(), &episode.replace("episodic", "semantic"), None).unwrap();
    assert_eq!(fact.neurons.keys().collect::<Vec<_>>(), [&ids::concept_id("it rained")]);
    let retyped = r#"{"op": "create", "id": "a", "concept": "a", "type": "core"}"#;
    assert!(matches!(run(&net(), retyped, None).unwrap_err().reason, Reason::Taken { .. }));
    let few = allowed(|c| c.types = vec![Kind::Semantic]);
    assert!(run(&net(), retyped, Some(&few)).is_err());
    assert!(run(&net(), r#"{"op": "create", "concept": "x", "type": "core"}"#, Some(&few)).is_err());
}

#[test]
fn a_neuron_has_as_many_bytes_as_a_file_may_have_and_no_more() {
    let mut full = net();
    let neuron = full.0.get_mut(&id("a")).unwrap();
    for n in 0..limits::NEURON_BYTES / 120 {
        neuron.set_weight(&id(&format!("{n:060}")), Link::Recalls, 7);
    }
    let touch = r#"{"op": "connect", "from": "a", "to": "b", "type": "recalls", "weight": 7}"#;
    let bytes =
        |net: &Net| run(net, touch, None).map(|out| out.neurons[&id("a")].1.encode_as(crate::model::Format::One).len());
    let missing = limits::NEURON_BYTES - bytes(&full).unwrap();
    full.0.get_mut(&id("a")).unwrap().concept.push_str(&"x".repeat(missing));
    assert_eq!(bytes(&full), Ok(limits::NEURON_BYTES));
    full.0.get_mut(&id("a")).unwrap().concept.push('x');
    assert_eq!(bytes(&full).unwrap_err().reason, Reason::Large(id("a")));
    // It goes on firing.
    assert!(run(&full, r#"{"op": "activate", "id": "a", "strength": 0.1}"#, None).is_ok());
}

#[test]
fn a_sub_goal_is_its_setters_own_and_no_parent_of_itself() {
    let limits = allowed(|c| c.goals = Some(serde_json::from_str(r#"["@own"]"#).unwrap()));
    let op = r#"{"op": "goal", "id": "g", "text": "tea", "level": "sub"}"#;
    let mut net = net();
    let mut goal = run(&net, op, Some(&limits)).unwrap().goals.into_values().next().unwrap();
    assert_eq!(goal.run, Some(author().run));
    net.3.push(goal.clone());
    assert!(run(&net, op, Some(&limits)).is_ok());
    goal.run = Some(RunId::parse(JUDGED).unwrap());
    net.3[0] = goal.clone();
    assert!(run(&net, op, Some(&limits)).is_err(), "another agent's");
    goal.run = None;
    net.3[0] = goal;
    assert!(run(&net, op, Some(&limits)).is_err(), "a person's");
    // What this delta set before counts.
    let child = r#"{"op": "goal", "id": "h", "text": "milk", "level": "sub", "parent": "new"}"#;
    let parent = r#"{"op": "goal", "id": "new", "text": "cup", "level": "sub"}"#;
    assert!(run(&net, &format!("{parent}, {child}"), None).is_ok());
    assert!(run(&net, &format!("{child}, {parent}"), None).is_err());
}
