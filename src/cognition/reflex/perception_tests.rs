use std::cell::RefCell;

use super::*;
use crate::cognition::AgentSummary;
use crate::model::ids::{RunId, StimulusId, concept_id};
use crate::model::salience::activation_gain;

/// A network in memory that takes documents, and panics at an operation that names what does not exist.
#[derive(Default)]
struct Net(RefCell<BTreeMap<NeuronId, Neuron>>);

impl Network for Net {
    fn neuron(&self, id: &NeuronId) -> Option<Neuron> {
        self.0.borrow().get(id).cloned()
    }
}

impl Net {
    fn apply(&self, document: &Document, run_at: Stamp) {
        let mut net = self.0.borrow_mut();
        for op in &document.ops {
            match op {
                Operation::Create(op) => {
                    let id = op.id.clone().unwrap();
                    let mut n = Neuron::new(id.clone(), op.concept.clone(), op.kind, op.at.unwrap_or(run_at));
                    (n.source, n.session, n.stimulus) = (op.source.clone(), op.session.clone(), op.stimulus.clone());
                    assert!(net.insert(id, n).is_none(), "{} is created twice", op.concept);
                }
                Operation::Activate(op) => {
                    let n = net.get_mut(&op.id).expect("activates what exists");
                    n.activate(activation_gain(op.strength, 65535), op.at.unwrap_or(run_at));
                }
                Operation::Connect(op) => {
                    assert!(net.contains_key(&op.to), "{} dangles", op.to);
                    let n = net.get_mut(&op.from).expect("connects what exists");
                    assert!(n.connection(&op.to, op.link).is_none(), "{} to {} is connected twice", op.from, op.to);
                    n.set_weight(&op.to, op.link, op.weight);
                }
                Operation::Disconnect(edge) => {
                    let n = net.get_mut(&edge.from).expect("disconnects what exists");
                    assert!(n.weight(&edge.to, edge.link) > 0);
                    n.set_weight(&edge.to, edge.link, 0);
                }
                Operation::Signal(_) => {}
                other => panic!("perception does not {}", other.name()),
            }
        }
    }

    fn feed(&self, stimuli: &[Stimulus]) -> Document {
        let snapshot = snapshot(stimuli);
        let document = think(&snapshot, self, &Settings::default());
        let bytes = serde_json::to_vec(&document).unwrap();
        if document.ops.len() <= limits::DELTA_OPS {
            assert_eq!(Document::parse(&bytes, "delta").unwrap(), document);
        }
        assert!(document.ops.len() <= OVERHEAD + stimuli.iter().map(cost).sum::<usize>());
        self.apply(&document, snapshot.at);
        document
    }

    fn get(&self, id: &NeuronId) -> Neuron {
        self.neuron(id).unwrap()
    }

    fn live(&self, session: &str) -> Vec<NeuronId> {
        let neuron = self.get(&session_id(session));
        neuron.connections.into_iter().filter(|c| c.weight > 0).map(|c| c.target).collect()
    }
}

fn snapshot(stimuli: &[Stimulus]) -> Snapshot {
    let agent = |name: &str| AgentSummary { name: AgentName::parse(name).unwrap(), role: "r".into() };
    Snapshot {
        run: RunId::parse("20260126t143200123z-abcd2345-perception").unwrap(),
        agent: AgentName::parse("perception").unwrap(),
        at: stimuli.iter().map(|s| s.at).max().unwrap_or_default(),
        trigger: "input_queue_not_empty".into(),
        stimuli: stimuli.to_vec(),
        signals: vec![],
        active: vec![],
        flags: vec![],
        answers: Vec::new(),
        raised: Vec::new(),
        agents: vec![agent("perception"), agent("memory"), agent("affect")],
        neurons: vec![],
        ledger: vec![],
        goals: vec![],
        counsel: vec![],
    }
}

fn stimulus(n: u32, session: Option<&str>, text: &str) -> Stimulus {
    Stimulus {
        id: StimulusId::parse(&format!("s-{n}")).unwrap(),
        at: Stamp::from_unix(1_700_000_000 + i64::from(n)),
        text: text.into(),
        source: Some(format!("T{n}")),
        session: session.map(Into::into),
        origin: Default::default(),
        answers: None,
        value: None,
        supersedes: Vec::new(),
        order: n,
        code: None,
    }
}

fn episode(n: u32) -> NeuronId {
    episode_id(&StimulusId::parse(&format!("s-{n}")).unwrap())
}

#[test]
fn three_languages_become_episodes_and_concepts() {
    for (text, concepts) in [
        ("Anna: I painted the old Bay of Biscay.", vec!["painted", "old", "bay of biscay"]),
        ("Marie : j'ai peint l'église de Lyon", vec!["peint", "église", "lyon"]),
        ("太郎：東京で猫を見た", vec!["東京", "猫"]),
    ] {
        let net = Net::default();
        net.feed(&[stimulus(1, Some("s"), text)]);
        let remembered = net.get(&episode(1));
        assert_eq!((remembered.concept.as_str(), remembered.kind), (text, Kind::Episodic));
        assert_eq!((remembered.source.as_deref(), remembered.session.as_deref()), (Some("T1"), Some("s")));
        for concept in concepts {
            let id = concept_id(concept);
            assert_eq!(net.get(&id).kind, Kind::Semantic);
            assert!(net.get(&id).salience > 45_000, "{concept} wakes memory");
            for link in [Link::Recalls, Link::FeedsInto] {
                assert!((20_000..60_000).contains(&remembered.weight(&id, link)), "{text} {link} {concept}");
            }
            assert!(net.get(&id).connections.is_empty(), "hubs do not grow");
        }
        let speaker = speaker_id(text::speaker(text).unwrap().0);
        assert_eq!(net.get(&speaker).kind, Kind::Contextual);
        assert!(remembered.weight(&speaker, Link::Recalls) > 0);
        assert!(net.neuron(&concept_id(text::speaker(text).unwrap().0)).is_none(), "a speaker is no word of his turn");
    }
}

#[test]
fn concepts_are_names_and_a_few_words_that_stand_for_something() {
    let made = |text: &str| {
        let net = Net::default();
        let ops = net.feed(&[stimulus(1, None, text)]).ops;
        let concept = |op: &Operation| match op {
            Operation::Create(made) if made.kind == Kind::Semantic => Some(made.concept.clone()),
            _ => None,
        };
        ops.iter().filter_map(concept).collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("It was 1, then 2026-01-26t14, then np.array and is_executable.", vec![]),
        // Said more than once, then longer ones, verbs and adverbs last.
        (
            "The cat slowly followed another cat beside the lighthouse near some harbour wall.",
            vec!["cat", "lighthouse", "harbour", "wall"],
        ),
        (
            "Then Olga met Ben Okri with Ida near Bergen on a boat.",
            vec!["olga", "met", "ben okri", "ida", "bergen", "boat"],
        ),
        ("東京で猫を見た", vec!["東京", "猫", "見"]),
    ] {
        assert_eq!(made(text), expected, "{text}");
    }
    for (first, named) in [
        ("Python 3.12", true),
        ("The Old Man and the Sea", true),
        ("-m", false),
        ("final = 9000", false),
        ("Mar 03 16:18:05 host7 sshd[19115]: reload", false),
        ("the rest of a sentence about boats", false),
    ] {
        let made = made(&format!("{first}\nIt is so."));
        assert_eq!(made.contains(&first.to_lowercase()), named, "{first}: {made:?}");
    }
    assert_eq!(made("It was with H and with B."), Vec::<String>::new());
}

#[test]
fn feeding_again_proposes_nothing() {
    let net = Net::default();
    let stimuli =
        [stimulus(1, Some("s"), "Anna: tea?"), stimulus(2, Some("s"), "Bob: urgent tea"), stimulus(3, None, "x y")];
    let first = net.feed(&stimuli);
    assert!(!first.ops.is_empty());
    assert_eq!(net.feed(&stimuli).ops, vec![]);
    let doubled = [stimuli.clone(), stimuli].concat();
    let fresh = Net::default();
    assert_eq!(fresh.feed(&doubled).ops, first.ops);
    assert_eq!(fresh.feed(&[]).ops, vec![]);
}

#[test]
fn existing_concepts_are_used_and_never_made_again() {
    let net = Net::default();
    net.feed(&[stimulus(1, None, "green tea")]);
    net.0.borrow_mut().get_mut(&concept_id("tea")).unwrap().concept = "infusion".into();
    let ops = net.feed(&[stimulus(2, None, "tea tea milk")]).ops;
    let created: Vec<_> = ops.iter().filter(|op| op.name() == "create").collect();
    assert_eq!(created.len(), 2, "the episode and milk");
    let tea = ops.iter().filter(|op| matches!(op, Operation::Activate(a) if a.id == concept_id("tea")));
    assert_eq!(tea.count(), 1);
    let remembered = net.get(&episode(2));
    let weight = |key| remembered.weight(&concept_id(key), Link::Recalls);
    assert!(weight("tea") > weight("milk"));
}

#[test]
fn turns_are_linked_inside_one_session_only() {
    let net = Net::default();
    net.feed(&[
        stimulus(1, Some("a"), "Anna: where were you?"),
        stimulus(2, Some("b"), "Carl: elsewhere"),
        stimulus(3, Some("a"), "Bob: in Oslo."),
        stimulus(4, None, "alone"),
        stimulus(5, None, "alone too"),
        stimulus(6, Some("a"), "Anna: nice"),
    ]);
    let weight = |from, to, link| net.get(&episode(from)).weight(&episode(to), link);
    assert_eq!(weight(3, 1, Link::Recalls), (0.8_f64 * 65535.0).round() as u16, "a question retrieves its answer");
    assert_eq!(weight(6, 3, Link::Recalls), (0.55_f64 * 65535.0).round() as u16);
    assert_eq!(weight(6, 3, Link::FeedsInto), (0.45_f64 * 65535.0).round() as u16);
    for n in 1..=6 {
        let turns = net.get(&episode(n)).connections.into_iter().filter(|c| c.target.as_str().starts_with("e-"));
        assert_eq!(turns.count(), if n == 3 || n == 6 { 2 } else { 0 }, "turn {n}");
    }
}

#[test]
fn a_session_goes_on_in_the_next_run() {
    let net = Net::default();
    net.feed(&[stimulus(1, Some("a"), "one?"), stimulus(2, Some("a"), "two?")]);
    assert_eq!(net.live("a"), [episode(2)]);
    net.feed(&[stimulus(3, Some("a"), "three"), stimulus(4, Some("a"), "four")]);
    assert_eq!(net.live("a"), [episode(4)]);
    let third = net.get(&episode(3));
    assert_eq!(third.weight(&episode(2), Link::Recalls), (0.8_f64 * 65535.0).round() as u16);
    assert_eq!(third.weight(&episode(1), Link::Recalls), 0);
}

#[test]
fn a_turn_follows_the_newest_that_is_not_archived() {
    let net = Net::default();
    let turns: Vec<Stimulus> = (1..=3).map(|n| stimulus(n, Some("s"), "It rained on the canal.")).collect();
    net.feed(&turns);
    for n in 2..=3 {
        let run = Some(RunId::parse("20260126t143200123z-abcd2345-human").unwrap());
        let mut all = net.0.borrow_mut();
        let turn = all.get_mut(&episode(n)).unwrap();
        (turn.run, turn.archived) = (run.clone(), run);
    }
    net.feed(&[stimulus(4, Some("s"), "The sun was out.")]);
    let follows = |n: u32| net.get(&episode(4)).weight(&episode(n), Link::FeedsInto) > 0;
    assert_eq!([follows(1), follows(2), follows(3)], [true, false, false]);
    assert_eq!(net.live("s"), [episode(4)]);
}

#[test]
fn a_full_session_stops_linking_runs() {
    let net = Net::default();
    net.feed(&[stimulus(0, Some("a"), "first")]);
    for n in 1..limits::SESSION_LINKS as u32 {
        net.feed(&[stimulus(n, Some("a"), "x")]);
        assert_eq!(net.live("a"), [episode(n)]);
    }
    let full = limits::SESSION_LINKS as u32;
    net.feed(&[stimulus(full, Some("a"), "x")]);
    assert_eq!(net.live("a"), []);
    net.feed(&[stimulus(full + 1, Some("a"), "x"), stimulus(full + 2, Some("a"), "x")]);
    let weight = |from, to| net.get(&episode(from)).weight(&episode(to), Link::Recalls);
    assert!(weight(full, full - 1) > 0 && weight(full + 2, full + 1) > 0);
    assert_eq!(weight(full + 1, full), 0);
    assert_eq!(net.get(&session_id("a")).connections.len(), limits::SESSION_LINKS);
}

#[test]
fn memory_and_affect_are_told() {
    let net = Net::default();
    let ops = net.feed(&[stimulus(1, None, "Emergency! Come at once"), stimulus(2, None, "tea")]).ops;
    let signals: Vec<_> = ops
        .iter()
        .filter_map(|op| if let Operation::Signal(s) = op { Some((s.to.as_str(), &s.payload)) } else { None })
        .collect();
    assert_eq!(signals.len(), 2);
    assert_eq!(signals[0], ("memory", &json!({"kind": "perceived", "episodes": [episode(1), episode(2)]})));
    assert_eq!((signals[1].0, &signals[1].1["kind"]), ("affect", &json!("urgency")));
    assert_eq!(signals[1].1["episode"], json!(episode(1)));
    assert!(signals[1].1["level"].as_f64().unwrap() > 0.9);
    let mut alone = snapshot(&[stimulus(1, None, "Emergency!")]);
    alone.agents.clear();
    let quiet = think(&alone, &Net::default(), &Settings::default());
    assert!(quiet.ops.iter().all(|op| op.name() != "signal"));
}

#[test]
fn core_neurons_stay_below_their_own_trigger() {
    let net = Net::default();
    let core = NeuronId::parse("external_stimulus").unwrap();
    let at = Stamp::from_unix(1_700_000_000);
    net.0.borrow_mut().insert(core.clone(), Neuron::new(core.clone(), "external_stimulus", Kind::Core, at));
    for n in 0..50 {
        net.feed(&[stimulus(n, None, "tea")]);
    }
    let salience = net.get(&core).salience;
    assert!(salience > 0 && salience < 40_000, "{salience}");
}

#[test]
fn operations_carry_their_own_clock_only_where_it_differs() {
    let ops = Net::default().feed(&[stimulus(1, None, "tea"), stimulus(2, None, "milk")]).ops;
    let at = |id: NeuronId| {
        ops.iter().find_map(|op| match op {
            Operation::Create(op) if op.id.as_ref() == Some(&id) => Some(op.at),
            _ => None,
        })
    };
    assert_eq!(at(concept_id("tea")), Some(Some(stimulus(1, None, "x").at)));
    assert_eq!(at(concept_id("milk")), Some(None));
}

#[test]
fn what_comes_from_later_than_the_run_happens_when_it_runs() {
    let late = [stimulus(1, Some("s"), "Anna: tea"), stimulus(2, Some("s"), "milk")];
    let snapshot = Snapshot { at: Stamp::from_unix(1_600_000_000), ..snapshot(&late) };
    let document = think(&snapshot, &Net::default(), &Settings::default());
    let times = document.ops.iter().filter_map(|op| match op {
        Operation::Create(op) => Some(op.at),
        Operation::Activate(op) => Some(op.at),
        _ => None,
    });
    assert!(times.clone().count() > 4 && times.into_iter().all(|at| at.is_none()), "{:?}", document.ops);
}

#[test]
fn any_stimulus_fits_and_batches_are_cut_to_fit() {
    let hostile = [
        (0..700).map(|i| format!("w{i} ")).collect::<String>(),
        (0..300).map(|i| format!("Aa{i} Bb{i}, ")).collect::<String>(),
        "\u{fdfa}".repeat(1300),
        "\u{fdfa} ".repeat(1000),
        "👩‍👩‍👧".repeat(200),
        "\u{202e}x: y\u{202c}".into(),
        "Émile: \u{301}\u{301}".into(),
        "猫".repeat(1365),
        "?".into(),
    ];
    let net = Net::default();
    let mut all = Vec::new();
    for (n, text) in hostile.iter().enumerate() {
        let one = stimulus(n as u32, Some("s"), text);
        assert_eq!(one.check(), Ok(()));
        assert!(cost(&one) <= limits::RUN_OPS - OVERHEAD, "{}", cost(&one));
        net.feed(std::slice::from_ref(&one));
        all.push(one);
    }
    // Words beside names are taken for as many as there may be, and of names no more than the bound.
    let [terms, all_of_them] =
        [limits::STIMULUS_TERMS, limits::STIMULUS_CONCEPTS].map(|concepts| 2 + 4 * concepts + 12);
    assert_eq!([cost(&all[0]), cost(&all[1])], [terms, all_of_them], "the bounds are used");
    let many: Vec<Stimulus> = (0..3000).map(|n| stimulus(n, None, "tea")).collect();
    assert_eq!(fitting(&many), STIMULI);
    assert_eq!(fitting(&[]), 0);
    let wide: Vec<Stimulus> = (0..400).map(|n| stimulus(n, None, &hostile[0])).collect();
    assert_eq!(fitting(&wide), limits::RUN_BYTES / hostile[0].len());
    let long: Vec<Stimulus> = (0..200).map(|n| stimulus(n, None, &hostile[1])).collect();
    let fits = fitting(&long);
    assert!((100..150).contains(&fits), "{fits}");
    let document = Net::default().feed(&long[..fits]);
    assert!(document.ops.len() <= limits::RUN_OPS);
}

#[test]
fn talk_is_an_episode_of_its_session_and_nothing_else() {
    let net = Net::default();
    let turn = |n: u32, source: &str, text: &str| Stimulus {
        source: Some(format!("{source}:trip")),
        ..stimulus(n, Some("trip"), text)
    };
    net.feed(&[
        turn(1, "chat", "Where does Olga keep the spare key?"),
        turn(2, "answer", "Ben: Urgent! Behind the coat."),
    ]);
    let (asked, answered) = (net.get(&episode(1)), net.get(&episode(2)));
    assert_eq!((asked.kind, asked.session.as_deref()), (Kind::Episodic, Some("trip")));
    assert!(answered.weight(&episode(1), Link::FeedsInto) > 0 && net.live("trip") == [episode(2)]);
    let kinds: Vec<Kind> = net.0.borrow().values().map(|neuron| neuron.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Contextual).count(), 1, "the session, and no speaker");
    assert!(!kinds.contains(&Kind::Semantic), "no concept");
    let signals = |document: &Document| -> Vec<String> {
        let sent = document.ops.iter().filter_map(|op| match op {
            Operation::Signal(send) => Some(format!("{} {}", send.to, send.payload["kind"].as_str().unwrap_or(""))),
            _ => None,
        });
        sent.collect()
    };
    assert_eq!(signals(&net.feed(&[turn(3, "chat", "thanks")])), [""; 0], "nothing to link");
    assert_eq!(signals(&net.feed(&[turn(4, "answer", "Urgent: call 112!")])), [""; 0], "what is repeated is no alarm");
    assert_eq!(signals(&net.feed(&[turn(5, "chat", "It is urgent: where is the letter?")])), ["affect urgency"]);
    // What is told in a chat is a memory like any other.
    assert_eq!(signals(&net.feed(&[turn(6, "chat", "Olga has a spare key.")])), ["memory perceived"]);
    assert!(net.get(&episode(6)).weight(&concept_id("olga"), Link::Recalls) > 0);
    assert!(net.get(&episode(6)).weight(&episode(5), Link::FeedsInto) > 0);
    net.feed(&[turn(7, "chat", "Olga moved. Where is the ladder?")]);
    assert!(net.neuron(&concept_id("moved")).is_some() && net.neuron(&concept_id("ladder")).is_none());
}
