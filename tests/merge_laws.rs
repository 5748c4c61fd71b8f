//! The merge's laws as properties, over trees of several neurons whose runs are made as real runs are: a run reads the
//! tree it starts from, changes neurons, and leaves a record of its effects.
//!
//! The cases of all properties together are more than 10,000; `BRAIN_CASES` sets how many each one has.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::merge_trees::{Tree, merge};
use git_brain::delta::{Effect, RunRecord};
use git_brain::merge::Outcome;
use git_brain::model::ids::{NeuronId, RunId};
use git_brain::model::layout::{self, Place};
use git_brain::model::salience::salience_at;
use git_brain::model::{AgentName, Format, Kind, Link, Name, NamedBy, Neuron, Origin, Stamp};
use proptest::prelude::*;

/// Neurons that the base has; two more ids can be created on branches.
const OLD: usize = 4;
const IDS: usize = OLD + 2;

#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Activate(usize, u16),
    Connect(usize, usize, Link, u16),
    Adjust(usize, usize, i32),
    Disconnect(usize, usize),
    Reword(usize),
    Retype(usize, usize),
    Archive(usize),
    Taint(usize, bool),
    /// Sleep only: the neuron and every connection to it go.
    Prune(usize),
}

#[derive(Clone, Debug)]
struct Run {
    steps: Vec<Step>,
    priority: u32,
    /// Its clock, minutes after that of the run before.
    minutes: i64,
}

fn any_step() -> impl Strategy<Value = Step> {
    let (a, b) = (0..IDS, 0..OLD);
    let weight = prop_oneof![9 => 1024_u16..4000, 1 => 50_000_u16..];
    let by = prop_oneof![12 => -3000..3000, 1 => -60_000..60_000];
    let gain = prop_oneof![9 => 0_u16..9000, 1 => 40_000_u16..];
    let link = prop_oneof![Just(Link::FeedsInto), Just(Link::Recalls)];
    prop_oneof![
        2 => (OLD..IDS).prop_map(Step::Create),
        4 => (a.clone(), gain).prop_map(|(a, g)| Step::Activate(a, g)),
        3 => (a.clone(), 0..IDS, link, weight).prop_map(|(a, b, l, w)| Step::Connect(a, b, l, w)),
        5 => (b.clone(), b.clone(), by).prop_map(|(a, b, by)| Step::Adjust(a, b, by)),
        1 => (b.clone(), b.clone()).prop_map(|(a, b)| Step::Disconnect(a, b)),
        1 => a.clone().prop_map(Step::Reword),
        1 => (a.clone(), 0..3_usize).prop_map(|(a, k)| Step::Retype(a, k)),
        1 => a.clone().prop_map(Step::Archive),
        1 => (a, any::<bool>()).prop_map(|(a, t)| Step::Taint(a, t)),
    ]
}

fn any_run() -> impl Strategy<Value = Run> {
    let steps = prop::collection::vec(any_step(), 1..5);
    (steps, 0..4_u32, 0..600_i64).prop_map(|(steps, priority, minutes)| Run { steps, priority, minutes })
}

/// A sleep in the middle of things: it weakens, strengthens and prunes.
fn any_sleep() -> impl Strategy<Value = Run> {
    let step = prop_oneof![
        (0..OLD).prop_map(Step::Prune),
        (0..OLD, 0..OLD, 0..500).prop_map(|(a, b, by)| Step::Adjust(a, b, by)),
    ];
    prop::collection::vec(step, 1..4).prop_map(|steps| Run { steps, priority: 0, minutes: 1 })
}

fn id(index: usize) -> NeuronId {
    NeuronId::parse(&format!("n{index}")).unwrap()
}

fn path(index: usize) -> String {
    layout::neuron(&id(index))
}

/// The id of the `number`-th run: ids grow with their numbers.
fn run_id(number: usize) -> RunId {
    RunId::new(1_769_437_920_000 + number as i64 * 3_600_000, number as u64, &AgentName::parse("memory").unwrap())
}

fn clock(number: usize, run: &Run) -> Stamp {
    Stamp::from_unix(1_769_437_920 + number as i64 * 3600 + run.minutes * 60)
}

/// The tree after a run: what it touches bears its mark, and its record is there.
fn after(tree: &Tree, number: usize, run: &Run) -> Tree {
    let mut net: BTreeMap<NeuronId, Neuron> = neurons(tree).into_iter().map(|n| (n.id.clone(), n)).collect();
    let before = net.clone();
    for step in &run.steps {
        take(&mut net, step, run_id(number), run.priority, clock(number, run));
    }
    let mut next = tree.clone();
    let mut effects = Vec::new();
    for (id, neuron) in &mut net {
        if before.get(id) != Some(neuron) {
            neuron.run = Some(run_id(number));
            neuron.version = neuron.version.toggled(&run_id(number));
            effects.push(Effect::between(before.get(id), neuron));
            next.insert(layout::neuron(id), neuron.encode());
        }
    }
    for id in before.keys().filter(|id| !net.contains_key(*id)) {
        next.remove(&layout::neuron(id));
    }
    let record = RunRecord {
        run: run_id(number),
        agent: run_id(number).agent(),
        trigger: "by hand".into(),
        cognition: "apply".into(),
        at: clock(number, run),
        depth: 0,
        base: None,
        origin: Origin::local(),
        stimuli: vec![],
        prediction: None,
        ops: vec![],
        effects,
        notes: vec![],
        reverts: vec![],
        approves: vec![],
    };
    next.insert(layout::run(&record.run), record.encode());
    next
}

fn take(net: &mut BTreeMap<NeuronId, Neuron>, step: &Step, run: RunId, priority: u32, clock: Stamp) {
    let name = |old: &Name| Name { rank: priority.max(old.rank), run: Some(run.clone()) };
    match *step {
        Step::Create(a) => {
            net.entry(id(a)).or_insert_with(|| {
                let mut neuron = Neuron::new(id(a), format!("made by {run}"), Kind::Semantic, clock);
                neuron.named_by = NamedBy { concept: name(&Name::default()), kind: name(&Name::default()) };
                neuron.source = Some(format!("source {priority}"));
                neuron
            });
        }
        Step::Prune(a) => {
            net.remove(&id(a));
            net.values_mut().for_each(|n| n.connections.retain(|c| c.target != id(a)));
        }
        Step::Connect(a, b, link, weight) if net.contains_key(&id(b)) => {
            if let Some(n) = net.get_mut(&id(a)).filter(|n| n.connection(&id(b), link).is_none()) {
                n.set_weight(&id(b), link, weight);
            }
        }
        Step::Connect(..) => {}
        Step::Adjust(a, b, by) => {
            if let Some(n) = net.get_mut(&id(a)).filter(|n| n.connection(&id(b), Link::FeedsInto).is_some()) {
                let weight = i32::from(n.weight(&id(b), Link::FeedsInto)) + by;
                n.set_weight(&id(b), Link::FeedsInto, weight.clamp(0, 65535) as u16);
            }
        }
        Step::Disconnect(a, b) => take(net, &Step::Adjust(a, b, -65535), run, priority, clock),
        Step::Activate(a, _) | Step::Reword(a) | Step::Retype(a, _) | Step::Archive(a) | Step::Taint(a, _) => {
            let Some(n) = net.get_mut(&id(a)) else { return };
            match *step {
                Step::Activate(_, gain) => n.activate(gain, clock),
                Step::Reword(_) => {
                    n.concept = format!("reworded by {run}");
                    n.named_by.concept = name(&n.named_by.concept);
                }
                Step::Retype(_, k) => {
                    n.kind = Kind::ALL[k];
                    n.named_by.kind = name(&n.named_by.kind);
                }
                Step::Archive(_) => n.archived = Some(run),
                Step::Taint(_, mcp) => {
                    let from = Origin::parse(if mcp { "mcp:editor" } else { "http" }).unwrap();
                    n.origin = n.origin.and(&from);
                }
                _ => unreachable!("matched above"),
            }
        }
    }
}

/// The base: four neurons in a full net of weights far from both ends, and a settings file.
fn base() -> Tree {
    static BASE: LazyLock<Tree> = LazyLock::new(make_base);
    BASE.clone()
}

fn make_base() -> Tree {
    let mut tree = Tree::from([("brain.toml".to_owned(), b"\n".to_vec())]);
    for a in 0..OLD {
        let mut neuron = Neuron::new(id(a), format!("concept {a}"), Kind::Semantic, Stamp::from_unix(1_769_400_000));
        neuron.activate(20_000, Stamp::from_unix(1_769_430_000 + a as i64));
        for b in (0..OLD).filter(|b| *b != a) {
            neuron.set_weight(&id(b), Link::FeedsInto, 20_000 + (a * OLD + b) as u16);
        }
        tree.insert(path(a), neuron.encode());
    }
    tree
}

/// Decodes, and remembers: most files of a tree are those of the base.
fn decoded(bytes: &[u8], path: &str) -> Neuron {
    thread_local!(static SEEN: RefCell<HashMap<Vec<u8>, Neuron>> = RefCell::default());
    SEEN.with_borrow_mut(|seen| {
        if let Some(neuron) = seen.get(bytes) {
            return neuron.clone();
        }
        if seen.len() > 10_000 {
            seen.clear();
        }
        let neuron = Neuron::decode(bytes, path).unwrap();
        assert_eq!(neuron.encode(), bytes, "{path} is canonical");
        seen.insert(bytes.to_vec(), neuron.clone());
        neuron
    })
}

fn neurons(tree: &Tree) -> Vec<Neuron> {
    let in_order = tree.range("network/neurons/".to_owned().."network/neurons0".to_owned());
    in_order.map(|(path, bytes)| decoded(bytes, path)).collect()
}

/// The same brain, written whole in a format: as an older program leaves it, or `git brain upgrade`.
fn written(tree: &Tree, format: Format) -> Tree {
    let mut tree: Tree = tree
        .iter()
        .map(|(path, bytes)| {
            let bytes = match Place::of(path) {
                Place::Neuron(_) => Neuron::decode(bytes, path).unwrap().encode_as(format),
                Place::Run(_) => RunRecord::decode(bytes, path).unwrap().encode_as(format),
                _ => bytes.clone(),
            };
            (path.clone(), bytes)
        })
        .collect();
    let lines = ["\"bootstrap_complete\": true", "\"seed_timestamp\": null"].join(",\n  ");
    let metadata = format!("{{\n  \"format\": {},\n  {lines}\n}}\n", format.number());
    tree.insert(layout::METADATA.to_owned(), metadata.into_bytes());
    tree
}

fn any_format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::One), Just(Format::Two)]
}

fn after_all(tree: &Tree, first: usize, runs: &[Run]) -> Tree {
    runs.iter().enumerate().fold(tree.clone(), |tree, (i, run)| after(&tree, first + i, run))
}

/// (neuron, field) that some merge held to its range.
type Clamped = BTreeSet<(String, String)>;

fn note_clamps(clamped: &mut Clamped, outcome: &Outcome) {
    assert_eq!(outcome.conflicts, [], "runs never conflict under the default policy");
    let held = outcome.decisions.iter().filter(|d| d.clamped);
    clamped.extend(held.map(|d| (d.neuron.clone(), d.field.clone())));
}

/// Equal, but for salience within `units` and fields that were clamped.
fn assert_alike(one: &Tree, other: &Tree, units: u16, clamped: &Clamped) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (path, bytes) in one {
        let theirs = &other[path];
        if !matches!(Place::of(path), Place::Neuron(_)) {
            assert_eq!(bytes, theirs, "{path}");
            continue;
        }
        let mut a = decoded(bytes, path);
        let b = decoded(theirs, path);
        let is_clamped = |field: &str| clamped.contains(&(a.id.to_string(), field.to_owned()));
        let salience_clamped = is_clamped("salience");
        let weights: Vec<bool> =
            a.connections.iter().map(|c| is_clamped(&format!("connections.{}.{}", c.target, c.link))).collect();
        if salience_clamped || a.salience.abs_diff(b.salience) <= units {
            a.salience = b.salience;
        }
        for (i, held) in weights.into_iter().enumerate() {
            if held && b.connection(&a.connections[i].target, a.connections[i].link).is_some() {
                a.connections[i].weight = b.weight(&a.connections[i].target, a.connections[i].link);
            }
        }
        assert_eq!(a, b, "{path} beyond {units} units of salience");
    }
}

fn assert_sound(tree: &Tree) {
    let all = neurons(tree);
    let ids: BTreeSet<&NeuronId> = all.iter().map(|n| &n.id).collect();
    for neuron in &all {
        assert!(tree.contains_key(&layout::neuron(&neuron.id)), "in its place");
        for c in &neuron.connections {
            assert!(ids.contains(&c.target), "{} -> {} dangles", neuron.id, c.target);
        }
    }
}

/// A branch: runs, and perhaps a sleep at their end.
fn any_branch() -> impl Strategy<Value = Vec<Run>> {
    (prop::collection::vec(any_run(), 0..3), prop::option::weighted(0.3, any_sleep())).prop_map(|(mut runs, sleep)| {
        runs.extend(sleep);
        runs
    })
}

/// As many cases as stated, or as the variable `BRAIN_CASES` says: `.ci/long laws` runs 10,000 of each.
fn cases(cases: u32) -> ProptestConfig {
    let cases = std::env::var("BRAIN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// m(o,a,b) = m(o,b,a), to the byte, with sleeps; the result is canonical and nothing dangles.
    #[test]
    fn sides_can_be_swapped(a in any_branch(), b in any_branch()) {
        let o = base();
        let (a, b) = (after_all(&o, 1, &a), after_all(&o, 11, &b));
        let (one, outcome) = merge(&o, &a, &b);
        let (other, mirrored) = merge(&o, &b, &a);
        prop_assert_eq!(&one, &other);
        prop_assert_eq!(outcome.conflicts.len(), mirrored.conflicts.len());
        assert_sound(&one);
    }

    /// How files are written changes nothing: from a base in format 1 and sides in either the neurons and records come that come from
    /// one format, whichever side is first, and all that the merge writes is in the newer format of both sides.
    #[test]
    fn formats_change_nothing(a in any_branch(), b in any_branch(), left in any_format(), right in any_format()) {
        let o = base();
        let (a, b) = (after_all(&o, 1, &a), after_all(&o, 11, &b));
        let plain = written(&merge(&o, &a, &b).0, Format::Two);
        let old = written(&o, Format::One);
        let (here, there) = (written(&a, left), written(&b, right));
        let (one, outcome) = merge(&old, &here, &there);
        prop_assert_eq!(outcome.conflicts, vec![]);
        prop_assert_eq!(&written(&one, Format::Two), &plain);
        let newer = left.max(right);
        prop_assert_eq!(&one[layout::METADATA], &written(&o, newer)[layout::METADATA]);
        for edit in outcome.edits.iter().filter(|edit| matches!(Place::of(&edit.path), Place::Neuron(_))) {
            let Some(bytes) = &edit.content else { continue };
            let same_there = there.get(&edit.path) == Some(bytes);
            let neuron = Neuron::decode(bytes, &edit.path).unwrap();
            prop_assert!(same_there || &neuron.encode_as(newer) == bytes, "{} is in format {}", edit.path, newer.number());
        }
        let (other, _) = merge(&old, &there, &here);
        prop_assert_eq!(&written(&other, Format::Two), &plain);
        if left == right {
            prop_assert_eq!(&one, &other);
        }
    }

    /// m(o,o,b) = b; m(o,a,o) = a; m(o,a,a) = a.
    #[test]
    fn rule_0_holds(a in any_branch()) {
        let o = base();
        let a = after_all(&o, 1, &a);
        prop_assert_eq!(&merge(&o, &o, &a).0, &a);
        prop_assert_eq!(merge(&o, &a, &o).1.edits, vec![]);
        prop_assert_eq!(merge(&o, &a, &a).1.edits, vec![]);
        let unrecorded: Tree = a.into_iter().filter(|(path, _)| !path.contains("/runs/")).collect();
        prop_assert_eq!(merge(&o, &unrecorded, &unrecorded).1.edits, vec![]);
    }
}

proptest! {
    #![proptest_config(cases(1250))]

    /// Two runs that did the same: m(o,a,a') = 2a − o for what adds up.
    #[test]
    fn two_runs_that_did_the_same_count_twice(run in any_run()) {
        let o = base();
        let (a, twin) = (after(&o, 1, &run), after(&o, 1, &run));
        let twin: Tree = neurons(&twin).into_iter().map(|mut n| {
            if n.run == Some(run_id(1)) {
                n.version = n.version.toggled(&run_id(1)).toggled(&run_id(2));
                n.run = Some(run_id(2));
            }
            (layout::neuron(&n.id), n.encode())
        }).chain(o.iter().filter(|(p, _)| !p.contains("neurons")).map(|(p, b)| (p.clone(), b.clone()))).collect();
        let (merged, _) = merge(&o, &a, &twin);
        for n in neurons(&a) {
            let path = layout::neuron(&n.id);
            let was = o.get(&path).map(|b| decoded(b, &path));
            let is = decoded(&merged[&path], &path);
            for c in &n.connections {
                let old = was.as_ref().map_or(0, |w| w.weight(&c.target, c.link));
                let twice = 2 * i32::from(c.weight) - i32::from(old);
                prop_assert_eq!(i32::from(is.weight(&c.target, c.link)), twice.clamp(0, 65535));
            }
            let old = was.as_ref().map_or(0, |w| w.activation_count);
            prop_assert_eq!(is.activation_count, 2 * n.activation_count - old);
            let old = was.map_or(0, |w| salience_at(w.salience, w.last_salience_update, n.last_salience_update));
            let twice = 2 * i32::from(n.salience) - i32::from(old);
            prop_assert_eq!(i32::from(is.salience), twice.clamp(0, 65535));
        }
    }

    /// Runs of one base and a sleep, merged in two orders; the same order twice is the same to the bit.
    #[test]
    fn any_order_gives_the_same_tree(
        runs in prop::collection::vec(any_run(), 2..5),
        sleep in prop::option::weighted(0.3, any_sleep()),
        order in any::<[u8; 8]>(),
    ) {
        let o = base();
        let runs: Vec<Run> = runs.into_iter().chain(sleep).collect();
        let branches: Vec<Tree> = runs.iter().enumerate().map(|(i, run)| after(&o, 1 + i, run)).collect();
        let mut shuffled: Vec<&Tree> = branches.iter().collect();
        let keys: BTreeMap<*const Tree, u8> = branches.iter().map(|b| b as *const Tree).zip(order).collect();
        shuffled.sort_by_key(|b| keys[&std::ptr::from_ref(*b)]);
        let mut clamped = Clamped::new();
        let mut all = |order: &[&Tree]| order.iter().fold(o.clone(), |wake, branch| {
            let (next, outcome) = merge(&o, &wake, branch);
            note_clamps(&mut clamped, &outcome);
            next
        });
        let straight: Vec<&Tree> = branches.iter().collect();
        let (one, again, other) = (all(&straight), all(&straight), all(&shuffled));
        prop_assert_eq!(&one, &again);
        assert_alike(&one, &other, runs.len() as u16, &clamped);
        assert_sound(&other);
    }

    /// A run on top of another, a third beside them: whichever way the first came, by its own branch or with the second,
    /// and whichever merge base is found.
    #[test]
    fn a_chain_of_runs_merges_alike_by_every_way(runs in prop::collection::vec(any_run(), 3)) {
        let o = base();
        let first = after(&o, 1, &runs[0]);
        let second = after(&first, 2, &runs[1]);
        let third = after(&o, 3, &runs[2]);
        let mut clamped = Clamped::new();
        let mut step = |base: &Tree, left: &Tree, right: &Tree| {
            let (next, outcome) = merge(base, left, right);
            note_clamps(&mut clamped, &outcome);
            next
        };
        let wake = step(&o, &third, &first);
        let exact = step(&first, &wake, &second);
        let old_base = step(&o, &wake, &second);
        let together = step(&o, &third, &second);
        let late = step(&o, &second, &third);
        for other in [&old_base, &together, &late] {
            assert_alike(&exact, other, 3, &clamped);
        }
    }

    /// Both branches merged each other, then went on: either merge base gives what a linear history gives.
    #[test]
    fn a_criss_cross_equals_a_line(runs in prop::collection::vec(any_run(), 4)) {
        let o = base();
        let (a, b) = (after(&o, 1, &runs[0]), after(&o, 2, &runs[1]));
        let mut clamped = Clamped::new();
        let mut step = |base: &Tree, left: &Tree, right: &Tree| {
            let (next, outcome) = merge(base, left, right);
            note_clamps(&mut clamped, &outcome);
            next
        };
        let (here, there) = (step(&o, &a, &b), step(&o, &b, &a));
        let (here_on, there_on) = (after(&here, 3, &runs[2]), after(&there, 4, &runs[3]));
        let line = step(&here, &here_on, &there_on);
        let crossed = [&a, &b, &o].map(|base| step(base, &here_on, &there_on));
        for other in &crossed {
            assert_alike(&line, other, 4, &clamped);
        }
    }

    /// What is merged once is never merged again: a branch, several branches squashed in another order, from any base.
    #[test]
    fn a_replayed_run_changes_nothing(
        runs in prop::collection::vec(any_run(), 3..6),
        later in any_run(),
        turn in 1..5_usize,
    ) {
        let o = base();
        let first = after(&o, 1, &runs[0]);
        let mut branches = vec![first.clone(), after(&first, 2, &runs[1])];
        branches.extend(runs.iter().enumerate().skip(2).map(|(i, run)| after(&o, 1 + i, run)));
        let mut clamped = Clamped::new();
        let mut all = |order: &[Tree]| order.iter().fold(o.clone(), |wake, branch| {
            let (next, outcome) = merge(&o, &wake, branch);
            note_clamps(&mut clamped, &outcome);
            next
        });
        let squash = all(&branches);
        let turn = turn % branches.len();
        branches.rotate_left(turn);
        let wake = after(&all(&branches), 9, &later);
        for right in branches.iter().chain([&squash]) {
            let (next, outcome) = merge(&o, &wake, right);
            prop_assert_eq!(&outcome.brought, &vec![]);
            // What was held to a range in another order becomes what the order of the runs gives, once.
            note_clamps(&mut clamped, &outcome);
            assert_alike(&next, &wake, 0, &clamped);
            prop_assert_eq!(merge(&o, &next, right).1.edits, vec![]);
        }
    }
}
