use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::activation::{Cue, Profile, propagate};
use crate::model::settings::Activation;
use crate::model::{Connection, Neuron, RunId};

const NOW: i64 = 1_769_437_920;

fn id(name: &str) -> NeuronId {
    NeuronId::parse(name).unwrap()
}

fn neuron(name: &str, edges: &[(&str, Link, u16)]) -> Neuron {
    let mut n = Neuron::new(id(name), name, Kind::Semantic, Stamp::from_unix(NOW));
    for (target, link, weight) in edges {
        n.set_weight(&id(target), *link, *weight);
    }
    n
}

fn archived(mut n: Neuron) -> Neuron {
    n.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
    n.archived = n.run.clone();
    n
}

/// Every followed edge as text, rows by id, each row sorted.
fn rows(graph: Graph<'_>) -> Vec<String> {
    let row = |node: NodeIx| {
        let edge = |e: Spread| format!("{}-{}-{}={}", graph.id(node), e.link, graph.id(e.target), e.weight);
        let mut row: Vec<String> = graph.spread(node).map(edge).collect();
        assert_eq!(graph.out_degree(node), row.len());
        row.sort();
        row
    };
    graph.nodes().flat_map(row).collect()
}

#[test]
fn rows_follow_the_direction_of_activation_whatever_the_order_of_neurons() {
    let a = neuron("a", &[("b", Link::Recalls, 3), ("c", Link::FeedsInto, 1), ("b", Link::FeedsInto, 2)]);
    let (b, c) = (neuron("b", &[("a", Link::Inhibits, 4)]), neuron("c", &[]));
    let expected = ["a-feeds_into-b=2", "a-feeds_into-c=1", "b-inhibits-a=4", "b-recalls-a=3"];
    for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
        let columns = ColumnsBuf::build(order);
        let graph = columns.graph();
        assert!(columns.view().fit());
        assert_eq!(rows(graph), expected);
        assert_eq!((graph.len(), graph.find(&b.id), graph.id(NodeIx(1))), (3, Some(NodeIx(1)), "b"));
        let weights = |node| graph.spread(node).map(|e| e.weight).collect::<Vec<_>>();
        assert_eq!((weights(NodeIx(0)), weights(NodeIx(1))), (vec![2, 1], vec![4, 3]), "strongest first");
    }
}

#[test]
fn what_cannot_be_followed_is_numbered_and_left_out() {
    let a = neuron("a", &[("b", Link::FeedsInto, 0), ("x", Link::FeedsInto, 9), ("z", Link::Recalls, 9)]);
    let z = archived(neuron("z", &[("a", Link::FeedsInto, 9)]));
    let columns = ColumnsBuf::build([&z, &neuron("b", &[]), &a]);
    let graph = columns.graph();
    assert!(rows(graph).is_empty(), "{:?}", rows(graph));
    assert_eq!(graph.nodes().map(|n| graph.id(n)).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((graph.len(), graph.find(&z.id), graph.number(&z.id)), (4, None, Some(NodeIx(3))));
    assert_eq!((graph.number(&id("x")), graph.is_present(NodeIx(2))), (Some(NodeIx(2)), false));
    assert_eq!((graph.is_archived(NodeIx(3)), graph.is_archived(NodeIx(2))), (true, false));
    assert!(ColumnsBuf::build(Vec::<Neuron>::new()).graph().is_empty());
}

#[test]
fn a_patch_brings_and_takes_without_renumbering() {
    let a = neuron("a", &[("c", Link::FeedsInto, 9), ("m", Link::Recalls, 8)]);
    let z = archived(neuron("z", &[("a", Link::FeedsInto, 7)]));
    let columns = ColumnsBuf::build([&a, &neuron("m", &[("a", Link::FeedsInto, 6)]), &z]);
    assert_eq!(rows(columns.graph()), ["m-feeds_into-a=6", "m-recalls-a=8"]);
    // c comes, z is back, b is new, m forgets.
    let (b, c, m) = (neuron("b", &[("z", Link::Triggers, 5)]), neuron("c", &[]), neuron("m", &[]));
    let z = neuron("z", &[("a", Link::FeedsInto, 7)]);
    let changes = [Change::Is(&b), Change::Is(&c), Change::Is(&m), Change::Is(&z)];
    let patch = Patch::build(columns.view(), None, changes);
    assert!(patch.view().fit());
    let graph = Graph { base: columns.view(), patch: Some(patch.view()) };
    assert_eq!(rows(graph), ["a-feeds_into-c=9", "b-triggers-z=5", "m-recalls-a=8", "z-feeds_into-a=7"]);
    assert_eq!(graph.nodes().map(|n| graph.id(n)).collect::<Vec<_>>(), ["a", "b", "c", "m", "z"]);
    assert_eq!(graph.find(&b.id), Some(NodeIx(4)));
    // A later patch keeps the numbers of the older one; a goes, and with it what it stores.
    let aa = neuron("aa", &[("bb", Link::FeedsInto, 1)]);
    let later = Patch::build(columns.view(), Some(patch.view()), [Change::Is(&aa), Change::Gone(&a.id)]);
    let graph = Graph { base: columns.view(), patch: Some(later.view()) };
    assert_eq!(rows(graph), ["b-triggers-z=5"]);
    assert_eq!((graph.find(&b.id), graph.find(&a.id), graph.number(&a.id)), (Some(NodeIx(4)), None, Some(NodeIx(0))));
    let mut ids: Vec<NodeIx> = (0..graph.len() as u32).map(NodeIx).collect();
    ids.sort_by_key(|node| graph.order(*node));
    assert_eq!(ids.iter().map(|n| graph.id(*n)).collect::<Vec<_>>(), ["a", "aa", "b", "bb", "c", "m", "z"]);
}

#[test]
fn builders_of_several_threads_make_the_same_columns() {
    let name = |i: usize| format!("n{}-{i}", i * 7 % 10);
    let edges = |i: usize| [(name(i * 3 % 50), Link::FeedsInto, 9), (name(i * i % 60), Link::Recalls, i as u16)];
    let all: Vec<Neuron> = (0..50)
        .map(|i| {
            let edges = edges(i);
            neuron(&name(i), &edges.each_ref().map(|(target, link, weight)| (target.as_str(), *link, *weight)))
        })
        .collect();
    let whole = ColumnsBuf::build(&all);
    for parts in [1, 2, 3, 7] {
        let mut builder = ColumnsBuilder::default();
        for share in all.chunks(all.len().div_ceil(parts)) {
            let mut own = ColumnsBuilder::default();
            share.iter().for_each(|n| own.add(n));
            // Said twice, with another salience and its edges turned: the first counts.
            let mut again = all[0].clone();
            again.salience = 7;
            again.connections.iter_mut().for_each(|c| c.link = Link::Triggers);
            own.add(&again);
            builder.append(own);
        }
        assert_eq!(builder.finish(), whole, "{parts} parts");
    }
}

#[test]
fn odd_columns_give_odd_answers_and_no_panic() {
    let columns = ColumnsBuf::build([neuron("a", &[("b", Link::FeedsInto, 9)]), neuron("b", &[])]);
    let whole = columns.view();
    let odd = [
        Columns { targets: &[77], ..whole },
        Columns { links: &[9], ..whole },
        Columns { rows: &[5, 1, 900], ..whole },
        Columns { id_offsets: &[9, 1, 3], ..whole },
        Columns { id_bytes: &[0xff, 0xfe], ..whole },
        Columns { kinds: &[0xff, 0xff, 0xff, 0xff], ..whole },
        Columns { stamps: &[i64::MIN, i64::MAX], ..whole },
        Columns { weights: &[], ..whole },
    ];
    for base in odd {
        let graph = Graph { base, patch: None };
        rows(graph);
        let _ = (graph.find(&id("a")), graph.find(&id("b")), graph.order(NodeIx(50)), graph.id(NodeIx(50)));
        let cues = [Cue::new(NodeIx(0), 1.0), Cue::new(NodeIx(70), 1.0)];
        propagate(&graph, &cues, Stamp::from_unix(NOW), &Profile::seed(&Activation::default()));
    }
    assert!(whole.fit() && Columns::default().fit());
    let unfit = [
        Columns { weights: &[], ..whole },
        Columns { rows: &[0, 1, 9], ..whole },
        Columns { rows: &[], ..whole },
        Columns { id_bytes: &[], ..whole },
        Columns { kinds: &[0], ..whole },
    ];
    assert!(unfit.iter().all(|c| !c.fit()));
}

/// A step of a brain's life: neuron `who` becomes what is said, or goes.
#[derive(Clone, Debug)]
struct Edit {
    who: usize,
    gone: bool,
    is_archived: bool,
    kind: usize,
    salience: u16,
    hours: i64,
    edges: Vec<(usize, usize, u16)>,
}

impl Edit {
    fn name(who: usize) -> NeuronId {
        // An order that is not that of numbers.
        id(&format!("{}-{who}", ["m", "c", "x", "a", "q"][who % 5]))
    }

    fn neuron(&self) -> Neuron {
        let at = Stamp::from_unix(NOW - self.hours * 3600);
        let mut n = Neuron::new(Self::name(self.who), "x", Kind::ALL[self.kind], at);
        n.salience = self.salience;
        for (target, link, weight) in &self.edges {
            let (target, link) = (Self::name(*target), Link::ALL[*link]);
            if n.connection(&target, link).is_none() {
                n.connections.push(Connection { target, link, weight: *weight });
                n.connections.sort();
            }
        }
        if self.is_archived { archived(n) } else { n }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let weight = prop_oneof![Just(65535), Just(52428), Just(0), 1..=65535_u16];
    let edges = prop::collection::vec((0..9_usize, 0..5_usize, weight), 0..8);
    let salience = prop_oneof![Just(65535), any::<u16>()];
    let flags = (prop::bool::weighted(0.15), prop::bool::weighted(0.15));
    (0..9_usize, flags, 0..5_usize, salience, 0..40_i64, edges).prop_map(
        |(who, (gone, is_archived), kind, salience, hours, edges)| Edit {
            who,
            gone,
            is_archived,
            kind,
            salience,
            hours,
            edges,
        },
    )
}

/// All that a graph and propagation over it say, numbers as their bits.
fn all_of(graph: Graph<'_>, settings: &Activation, cues: &[(usize, f64)]) -> Vec<String> {
    let mut said = rows(graph);
    for node in graph.nodes() {
        let of = (graph.id(node), graph.kind(node), graph.stored_salience(node), graph.out_degree(node));
        said.push(format!("{of:?}"));
    }
    let mut profile = Profile::seed(settings);
    profile.fan[Kind::Episodic as usize] = 0.0;
    let cue = |(who, strength): &(usize, f64)| Some(Cue::new(graph.find(&Edit::name(*who))?, *strength));
    let cues: Vec<Cue> = cues.iter().filter_map(cue).collect();
    let found = propagate(&graph, &cues, Stamp::from_unix(NOW), &profile);
    let list = |list: &[(NodeIx, f64)]| -> Vec<String> {
        list.iter().map(|(n, x)| format!("{} {:x}", graph.id(*n), x.to_bits())).collect()
    };
    said.push(format!("{:?} {:?}", list(&found.activation), list(&found.context)));
    said.extend(found.passes.iter().map(|pass| format!("{:?}", list(pass))));
    said.push(format!("{:?}", found.cut));
    for (node, x) in &found.activation {
        assert_eq!(found.strength(*node).to_bits(), x.to_bits());
        let step = |s: &crate::activation::Step| {
            format!("{} {} {} {:x}", graph.id(s.from), s.link, graph.id(s.to), s.activation.to_bits())
        };
        said.push(format!("{:?}", found.path(*node).unwrap().iter().map(step).collect::<Vec<_>>()));
    }
    said
}

fn apply(brain: &mut BTreeMap<usize, Neuron>, edits: &[Edit]) {
    for edit in edits {
        if edit.gone {
            brain.remove(&edit.who);
        } else {
            brain.insert(edit.who, edit.neuron());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_with_patches_say_what_new_columns_say(
        first in prop::collection::vec(edit(), 0..16),
        steps in prop::collection::vec(prop::collection::vec(edit(), 0..6), 1..4),
        (beam, fan, passes) in (prop_oneof![2 => Just(0), 1 => 1..4_u32], prop_oneof![Just(0.0), Just(0.5)], 0..3_u32),
        cues in prop::collection::vec((0..9_usize, prop_oneof![Just(1.0), Just(0.6)]), 1..4),
    ) {
        let settings = Activation { beam, fan, passes, min: 0.001, theta: 0.1, ..Activation::default() };
        let mut brain = BTreeMap::new();
        apply(&mut brain, &first);
        let base = ColumnsBuf::build(brain.values());
        let mut patch: Option<Patch> = None;
        for edits in &steps {
            apply(&mut brain, edits);
            let changed: Vec<Neuron> = edits.iter().map(Edit::neuron).collect();
            let changes = edits.iter().zip(&changed).map(|(edit, neuron)| match edit.gone {
                true => Change::Gone(&neuron.id),
                false => Change::Is(neuron),
            });
            patch = Some(Patch::build(base.view(), patch.as_ref().map(Patch::view), changes));
            let patched = Graph { base: base.view(), patch: patch.as_ref().map(Patch::view) };
            prop_assert!(patched.patch.is_some_and(|patch| patch.fit()));
            let fresh = ColumnsBuf::build(brain.values());
            prop_assert_eq!(all_of(patched, &settings, &cues), all_of(fresh.graph(), &settings, &cues));
        }
    }
}
