use super::*;
use crate::activation::recall::{Filters, Found, answer, talk};
use crate::activation::{Cue, Profile, propagate};
use crate::model::ids::{concept_id, speaker_id};
use crate::model::{Kind, Link, RunId, Settings, Stamp};

/// A small generator of its own, so that a failure is its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }
}

const WORDS: [&str; 14] = [
    "river",
    "stone",
    "Harbour",
    "harbour",
    "club",
    "Velden",
    "velden",
    "met",
    "old",
    "the",
    "who",
    "May",
    "yesterday",
    "painting",
];
const PHRASES: [&str; 8] = [
    "Velden Harbour",
    "Velden Harbour Club",
    "old river",
    "club in Velden",
    "stone",
    "river",
    "Harbour",
    "12 May 2023",
];
const TITLES: [&str; 4] = ["Velden Harbour (club)", "Harbour", "River Stone", "Velden"];
const SPEAKERS: [&str; 3] = ["Anna", "Ivo Karlsen", "Ivo"];
const SESSIONS: [&str; 3] = ["s1", "s2", "s3"];

fn at(n: usize) -> Stamp {
    Stamp::from_unix(1_683_900_000 + n as i64 * 40_000)
}

fn memory(dice: &mut Dice, n: usize) -> Neuron {
    let mut text = match dice.roll(4) {
        0 => String::new(),
        1 => format!("{}\n", dice.pick(&TITLES)),
        _ => format!("{}: ", dice.pick(&SPEAKERS)),
    };
    for _ in 0..2 + dice.roll(7) {
        text += if dice.roll(4) == 0 { dice.pick(&PHRASES) } else { dice.pick(&WORDS) };
        text += if dice.roll(6) == 0 { ". " } else { " " };
    }
    let mut neuron = Neuron::new(NeuronId::parse(&format!("e-{n:03}")).unwrap(), text.trim(), Kind::Episodic, at(n));
    neuron.session = (dice.roll(4) > 0).then(|| dice.pick(&SESSIONS).to_owned());
    neuron.activate(20_000 + dice.roll(40_000) as u16, at(n));
    neuron
}

fn concept(text: &str) -> Neuron {
    Neuron::new(concept_id(text), text, Kind::Semantic, at(0))
}

/// Changes some neuron, or makes one, or removes one.
fn edit(dice: &mut Dice, network: &mut BTreeMap<NeuronId, Neuron>) -> (NeuronId, Option<Neuron>) {
    let ids: Vec<NeuronId> = network.keys().cloned().collect();
    let some = |dice: &mut Dice| ids.get(dice.roll(ids.len().max(1))).cloned();
    let made = |neuron: Neuron| (neuron.id.clone(), Some(neuron));
    let n = dice.roll(40);
    let (id, neuron) = match dice.roll(12) {
        0..=2 => made(memory(dice, n)),
        3 => made(concept(dice.pick(&PHRASES))),
        4 => {
            let name = dice.pick(&SPEAKERS);
            made(Neuron::new(speaker_id(name), name, Kind::Contextual, at(0)))
        }
        5 => match some(dice) {
            Some(id) => (id, None),
            None => made(memory(dice, n)),
        },
        6 => match some(dice).map(|id| network[&id].clone()) {
            Some(mut neuron) => {
                neuron.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
                neuron.archived = if neuron.is_archived() { None } else { neuron.run.clone() };
                made(neuron)
            }
            None => made(memory(dice, n)),
        },
        7 => match some(dice).map(|id| network[&id].clone()) {
            Some(mut neuron) => {
                neuron.kind = [Kind::Semantic, Kind::Episodic, Kind::Contextual][dice.roll(3)];
                made(neuron)
            }
            None => made(memory(dice, n)),
        },
        _ => match (some(dice).map(|id| network[&id].clone()), some(dice)) {
            (Some(mut neuron), Some(target)) => {
                let link = [Link::FeedsInto, Link::Recalls, Link::Inhibits][dice.roll(3)];
                neuron.set_weight(&target, link, [0, 9_000, 40_000, 65_535][dice.roll(4)]);
                neuron.activate(dice.roll(9_000) as u16, at(50));
                made(neuron)
            }
            _ => made(memory(dice, n)),
        },
    };
    match &neuron {
        Some(neuron) => network.insert(id.clone(), neuron.clone()),
        None => network.remove(&id),
    };
    (id, neuron)
}

fn questions(dice: &mut Dice) -> Vec<String> {
    let mut list: Vec<String> = [
        "Who met at Velden Harbour Club?",
        "What did Anna say of the old river in May 2023?",
        "Ivo Karlsen",
        "Is River Stone in Velden or in Harbour?",
        "the",
        "stone",
        "nothing known",
    ]
    .map(str::to_owned)
    .to_vec();
    list.push((0..4).map(|_| dice.pick(&WORDS)).collect::<Vec<_>>().join(" "));
    list
}

fn asked(snapshot: &Snapshot, question: &str) -> Vec<Found> {
    let filters = Filters { top: Some(6), ..Filters::default() };
    answer(&snapshot.index(), question, at(100), &Settings::default(), &filters)
}

fn spread(snapshot: &Snapshot) -> Vec<(String, u64)> {
    let graph = snapshot.graph();
    let cues: Vec<Cue> = graph.nodes().step_by(3).map(|node| Cue::new(node, 0.9)).collect();
    let active = propagate(&graph, &cues, at(100), &Profile::seed(&Settings::default().activation)).activation;
    active.into_iter().map(|(node, x)| (graph.id(node).to_owned(), x.to_bits())).collect()
}

/// Which memory has which names, by which weight, and what brings it to mind.
fn names(snapshot: &Snapshot) -> Vec<(String, String, u64)> {
    let index = snapshot.index();
    let names = index.all_memories().flat_map(|memory| {
        let id = index.graph.id(memory).to_owned();
        index
            .names_of(memory)
            .into_iter()
            .map(move |(name, weight)| (id.clone(), index.stems_of(name).to_owned(), weight.to_bits()))
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Which memory says what, by the hash of its text.
fn said(snapshot: &Snapshot) -> BTreeMap<String, u64> {
    let index = snapshot.index();
    index.said().map(|(node, text)| (index.graph.id(node).to_owned(), text)).collect()
}

#[test]
fn what_follows_edits_answers_like_what_is_built_at_once() {
    for seed in 0..60 {
        let dice = &mut Dice(seed);
        let mut network = BTreeMap::new();
        for _ in 0..dice.roll(30) {
            edit(dice, &mut network);
        }
        let mut followed = Snapshot::of(network.values().cloned());
        for step in 0..12 {
            let edits = 1 + dice.roll(4);
            let changes: BTreeMap<NeuronId, Option<Neuron>> = (0..edits).map(|_| edit(dice, &mut network)).collect();
            let changes: Vec<(NeuronId, Option<Neuron>)> = changes.into_iter().collect();
            followed = followed.advanced(&changes, [1 + step; 20]);
            let stored = followed.over().map(|over| Sections::open(over.bytes().clone()).unwrap());
            followed = Snapshot::open(Sections::open(followed.base().bytes().clone()).unwrap(), stored).unwrap();
            let at_once = Snapshot::of(network.values().cloned());
            let compacted = followed.compacted();
            for question in questions(dice) {
                let expected = asked(&at_once, &question);
                assert_eq!(asked(&followed, &question), expected, "seed {seed}, step {step}: {question}");
                assert_eq!(asked(&compacted, &question), expected, "seed {seed}, step {step}, in one: {question}");
            }
            assert_eq!(names(&followed), names(&at_once), "seed {seed}, step {step}");
            assert_eq!(said(&followed), said(&at_once), "seed {seed}, step {step}");
            assert_eq!(said(&compacted), said(&at_once), "seed {seed}, step {step}, in one");
            assert_eq!(spread(&followed), spread(&at_once), "seed {seed}, step {step}");
            assert_eq!(spread(&compacted), spread(&at_once), "seed {seed}, step {step}, in one");
            if dice.roll(5) == 0 {
                followed = compacted;
            }
        }
    }
}

/// A turn of a conversation that tells nothing, with connections of its own to memories and to other turns.
fn turn(dice: &mut Dice, n: usize, network: &BTreeMap<NeuronId, Neuron>) -> Neuron {
    let session = dice.pick(&["s1", "s2", "chat"]).to_owned();
    let asked = questions(dice);
    let (prefix, text) = match dice.roll(4) {
        0 => ("answer", format!("From memory: {}", memory(dice, n).concept)),
        1 => ("chat", format!("show me the {} of {}", dice.pick(&WORDS), dice.pick(&PHRASES))),
        2 => ("chat", "thanks".to_owned()),
        _ => ("chat", format!("{}?", asked[dice.roll(asked.len())])),
    };
    let mut neuron = Neuron::new(NeuronId::parse(&format!("e-t{n:03}")).unwrap(), text, Kind::Episodic, at(n));
    (neuron.source, neuron.session) = (Some(format!("{prefix}:{session}")), Some(session));
    neuron.activate(60_000, at(60));
    let ids: Vec<&NeuronId> = network.keys().collect();
    for link in [Link::FeedsInto, Link::Recalls, Link::Influences, Link::Inhibits] {
        if let Some(target) = ids.get(dice.roll(ids.len().max(1))) {
            neuron.set_weight(target, link, 50_000);
        }
    }
    neuron
}

/// Whatever is talked, evidence answers as if nothing had been said, to the last bit.
#[test]
fn talk_changes_no_answer() {
    for seed in 0..60 {
        let dice = &mut Dice(seed);
        let mut network = BTreeMap::new();
        for _ in 0..5 + dice.roll(30) {
            edit(dice, &mut network);
        }
        let mut silent = Snapshot::of(network.values().cloned());
        let mut talked: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
        let mut said_more = |dice: &mut Dice, network: &BTreeMap<NeuronId, Neuron>| {
            let n = dice.roll(30);
            let turn = turn(dice, n, network);
            let gone = dice.roll(6) == 0 && talked.remove(&turn.id).is_some();
            let neuron = (!gone).then(|| turn.clone());
            neuron.iter().for_each(|neuron| drop(talked.insert(neuron.id.clone(), neuron.clone())));
            (turn.id, neuron)
        };
        let first: Vec<Neuron> = (0..dice.roll(20)).filter_map(|_| said_more(dice, &network).1).collect();
        let mut loud = Snapshot::of(network.values().cloned().chain(first));
        for step in 0..8 {
            let edits = dice.roll(3);
            let changes: BTreeMap<NeuronId, Option<Neuron>> = (0..edits).map(|_| edit(dice, &mut network)).collect();
            silent = silent.advanced(&changes.clone().into_iter().collect::<Vec<_>>(), [1 + step; 20]);
            let turns: BTreeMap<NeuronId, Option<Neuron>> =
                (0..1 + dice.roll(4)).map(|_| said_more(dice, &network)).collect();
            let all: Vec<(NeuronId, Option<Neuron>)> = changes.into_iter().chain(turns).collect();
            loud = loud.advanced(&all, [1 + step; 20]);
            let compacted = loud.compacted();
            for question in questions(dice) {
                let (expected, in_one) = (asked(&silent, &question), asked(&silent.compacted(), &question));
                assert_eq!(asked(&loud, &question), expected, "seed {seed}, step {step}: {question}");
                assert_eq!(asked(&compacted, &question), in_one, "seed {seed}, step {step}, in one: {question}");
            }
            assert_eq!((names(&loud), said(&loud)), (names(&silent), said(&silent)), "seed {seed}, step {step}");
            // What is talked is followed as well as what is told.
            let of = |snapshot: &Snapshot| -> Vec<(String, u64)> {
                let index = snapshot.index();
                let found = talk(&index, "the old river in Velden?", at(100), &Filters::default());
                found.into_iter().map(|(node, score)| (index.graph.id(node).to_owned(), score.to_bits())).collect()
            };
            assert_eq!(of(&loud), of(&compacted), "seed {seed}, step {step}");
            if dice.roll(4) == 0 {
                (loud, silent) = (compacted, silent.compacted());
            }
        }
    }
}

#[test]
fn the_order_and_the_number_of_collectors_do_not_matter() {
    let dice = &mut Dice(7);
    let mut network = BTreeMap::new();
    (0..80).for_each(|_| drop(edit(dice, &mut network)));
    let built = |shares: usize, backwards: bool| {
        let mut neurons: Vec<&Neuron> = network.values().collect();
        if backwards {
            neurons.reverse();
        }
        let collectors = neurons.chunks(neurons.len().div_ceil(shares)).map(|share| {
            let mut collector = Collector::default();
            share.iter().for_each(|neuron| collector.add(neuron));
            collector
        });
        Snapshot::build(collectors, [3; 20]).base().bytes().to_vec()
    };
    let first = built(1, false);
    for (shares, backwards) in [(1, true), (2, false), (5, true)] {
        assert_eq!(built(shares, backwards), first, "{shares} collectors, backwards: {backwards}");
    }
}

#[test]
fn an_overlay_belongs_to_its_base() {
    let one = Snapshot::of([concept("stone")]).advanced(&[], [1; 20]);
    let other = Snapshot::build([Collector::default()], [2; 20]);
    assert!(Snapshot::open(one.base().clone(), one.over().cloned()).is_ok());
    assert_eq!(Snapshot::open(other.base().clone(), one.over().cloned()).map(drop), Err(Damaged::Key));
    assert_eq!(Snapshot::open(one.over().unwrap().clone(), None).map(drop), Err(Damaged::Key));
}
