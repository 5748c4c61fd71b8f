//! The merge of three small networks: no panic, the same whichever side is left, canonical, nothing dangling; and what
//! one side alone did is what comes out.

#![no_main]

mod trees;

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use git_brain::merge::{Outcome, three_way};
use git_brain::model::ids::{NeuronId, RunId};
use git_brain::model::settings::MergePolicy;
use git_brain::model::{AgentName, Kind, Link, Name, Neuron, Origin, Stamp, layout};
use libfuzzer_sys::fuzz_target;
use trees::{Tree, Trees};

const IDS: u8 = 4;

#[derive(Arbitrary, Debug)]
enum Step {
    Create(u8),
    Activate(u8, u16, u32),
    Weigh(u8, u8, u8, u16),
    Reword(u8, u8),
    Retype(u8, u8),
    Archive(u8),
    Taint(u8, bool),
    Prune(u8),
}

#[derive(Arbitrary, Debug)]
struct Case {
    base: Vec<Step>,
    left: Vec<Vec<Step>>,
    right: Vec<Vec<Step>>,
}

type Network = BTreeMap<NeuronId, Neuron>;

fn id(n: u8) -> NeuronId {
    NeuronId::parse(&format!("n{}", n % IDS)).expect("an id")
}

fn run(number: u64) -> RunId {
    RunId::new(1_769_437_920_000 + number as i64 * 60_000, number, &AgentName::parse("memory").expect("a name"))
}

fn take(net: &mut Network, step: &Step, run: &RunId) {
    let stamp = |minutes: u32| Stamp::from_unix(1_769_437_920 + i64::from(minutes % 100_000) * 60);
    if let Step::Create(n) = step {
        let name = Name { rank: 0, run: Some(run.clone()) };
        net.entry(id(*n)).or_insert_with(|| {
            let mut neuron = Neuron::new(id(*n), format!("made by {run}"), Kind::Semantic, stamp(0));
            neuron.named_by.concept = name.clone();
            neuron.named_by.kind = name;
            neuron
        });
        return;
    }
    if let Step::Prune(n) = step {
        net.remove(&id(*n));
        net.values_mut().for_each(|other| other.connections.retain(|c| c.target != id(*n)));
        return;
    }
    let (Step::Activate(n, ..) | Step::Weigh(n, ..) | Step::Reword(n, _) | Step::Retype(n, _) | Step::Archive(n)
    | Step::Taint(n, _)) = step
    else {
        return;
    };
    let has_target = matches!(step, Step::Weigh(_, to, ..) if net.contains_key(&id(*to)));
    let Some(neuron) = net.get_mut(&id(*n)) else { return };
    let named = |rank: u8| Name { rank: u32::from(rank), run: Some(run.clone()) };
    match step {
        Step::Activate(_, gain, minutes) => neuron.activate(*gain, stamp(*minutes)),
        Step::Weigh(_, to, link, weight) if has_target => {
            let links = [Link::FeedsInto, Link::Recalls, Link::Inhibits, Link::Influences, Link::Triggers];
            neuron.set_weight(&id(*to), links[usize::from(*link) % links.len()], *weight);
        }
        Step::Reword(_, rank) => {
            neuron.concept = format!("reworded by {run}");
            neuron.named_by.concept = named(*rank);
        }
        Step::Retype(_, rank) => {
            neuron.kind = Kind::ALL[usize::from(*rank) % Kind::ALL.len()];
            neuron.named_by.kind = named(*rank);
        }
        Step::Archive(_) => neuron.archived = Some(run.clone()),
        Step::Taint(_, mcp) => {
            let from = Origin::parse(if *mcp { "mcp:editor" } else { "http" }).expect("an origin");
            neuron.origin = neuron.origin.and(&from);
        }
        _ => {}
    }
}

fn after(net: &Network, number: u64, steps: &[Step]) -> Network {
    let (run, mut next) = (run(number), net.clone());
    steps.iter().take(16).for_each(|step| take(&mut next, step, &run));
    for (id, neuron) in &mut next {
        if net.get(id) != Some(neuron) {
            neuron.run = Some(run.clone());
            neuron.version = neuron.version.toggled(&run);
        }
    }
    next
}

fn tree(net: &Network) -> Tree {
    net.values().map(|n| (layout::neuron(&n.id), n.encode())).collect()
}

fn merge(base: &Tree, left: &Tree, right: &Tree) -> (Tree, Outcome) {
    let outcome = three_way(&mut Trees([base, left, right]), &MergePolicy::default()).expect("three sound trees");
    let mut tree = left.clone();
    for edit in &outcome.edits {
        match &edit.content {
            Some(content) => tree.insert(edit.path.clone(), content.clone()),
            None => tree.remove(&edit.path),
        };
    }
    (tree, outcome)
}

fuzz_target!(|case: Case| {
    let chain = |from: &Network, first: u64, runs: &[Vec<Step>]| {
        (first..).zip(runs.iter().take(4)).fold(from.clone(), |net, (number, steps)| after(&net, number, steps))
    };
    let o = after(&Network::new(), 0, &case.base);
    let (a, b) = (chain(&o, 1, &case.left), chain(&o, 11, &case.right));
    let (o, a, b) = (tree(&o), tree(&a), tree(&b));
    let (one, outcome) = merge(&o, &a, &b);
    assert_eq!(outcome.conflicts, [], "runs never conflict under the default policy");
    assert_eq!(one, merge(&o, &b, &a).0, "sides can be swapped");
    assert_eq!((&merge(&o, &o, &b).0, &merge(&o, &a, &o).0), (&b, &a), "one side alone");
    let all: Vec<Neuron> = one
        .iter()
        .map(|(path, bytes)| {
            let neuron = Neuron::decode(bytes, path).expect("a merged neuron is read");
            assert_eq!(&neuron.encode(), bytes, "{path} is canonical");
            assert_eq!(&layout::neuron(&neuron.id), path);
            neuron
        })
        .collect();
    let ids: BTreeSet<&NeuronId> = all.iter().map(|n| &n.id).collect();
    for c in all.iter().flat_map(|n| &n.connections) {
        assert!(ids.contains(&c.target), "{} dangles", c.target);
    }
});
