//! Merge cases as folders: `tests/merge/<case>/{base,left,right,expected}` are trees, `conflicts.json` is what must be
//! left to a person, `decisions.txt` what rules settled, one line each. No such file: none. `tests/merge/README.md`
//! lists the scenarios. What no folder can say (several merges, options, errors) is a test of its own below.

use std::fs;
use std::path::Path;

use crate::merge_trees::{Tree, Trees, merge, merge_with};
use git_brain::delta::{Effect, RunRecord};
use git_brain::merge::{Conflict, MergeError, Options, three_way};
use git_brain::model::settings::{MergePolicy, Rule};
use git_brain::model::{Link, Neuron, NeuronId, Origin, RunId, Stamp, layout};

fn cases() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/merge");
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

/// A side's tree; a side without files has no folder.
fn tree(case: &Path, side: &str) -> Tree {
    let root = case.join(side);
    let files = walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok).filter(|e| e.file_type().is_file());
    let relative = |path: &Path| path.strip_prefix(&root).unwrap().components().map(part).collect::<Vec<_>>().join("/");
    files.map(|e| (relative(e.path()), fs::read(e.path()).unwrap())).collect()
}

fn part(component: std::path::Component<'_>) -> String {
    component.as_os_str().to_str().unwrap().to_owned()
}

fn text(tree: &Tree) -> String {
    tree.iter().map(|(path, bytes)| format!("=== {path}\n{}", String::from_utf8_lossy(bytes))).collect()
}

/// The tree with its neurons in the newest format: the cases are written in the first, which says every field.
fn in_newest(tree: Tree) -> Tree {
    let anew = |(path, bytes): (String, Vec<u8>)| match Neuron::decode(&bytes, &path) {
        Ok(neuron) if path.starts_with(layout::NEURONS) => (path, neuron.encode()),
        _ => (path, bytes),
    };
    tree.into_iter().map(anew).collect()
}

#[test]
fn every_folder_merges_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 30, "the cases are there");
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap();
        let [base, left, right, expected] = ["base", "left", "right", "expected"].map(|side| tree(case, side));
        let (merged, outcome) = merge(&base, &left, &right);
        let (merged, expected) = (in_newest(merged), in_newest(expected));
        if merged != expected {
            wrong.push(format!("{name}: got\n{}\nexpected\n{}", text(&merged), text(&expected)));
        }
        let conflicts = fs::read(case.join("conflicts.json")).unwrap_or(b"[]".to_vec());
        let conflicts: Vec<Conflict> = serde_json::from_slice(&conflicts).unwrap();
        if outcome.conflicts != conflicts {
            wrong.push(format!("{name}: conflicts {:#?}", outcome.conflicts));
        }
        let decisions: String = outcome.decisions.iter().map(|d| format!("{d}\n")).collect();
        if decisions != fs::read_to_string(case.join("decisions.txt")).unwrap_or_default() {
            wrong.push(format!("{name}: decisions.txt should be\n{decisions}"));
        }
        // The mirror image gives the same tree, unless a person decides.
        let (mirrored, _) = merge(&base, &right, &left);
        let mirrored = in_newest(mirrored);
        if conflicts.is_empty() && mirrored != expected {
            wrong.push(format!("{name}, mirrored: got\n{}\nexpected\n{}", text(&mirrored), text(&expected)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn id(text: &str) -> NeuronId {
    NeuronId::parse(text).unwrap()
}

fn run(day: u32) -> RunId {
    RunId::parse(&format!("202601{day:02}t100000000z-abcd2345-memory")).unwrap()
}

fn tree_of(neurons: &[Neuron]) -> Tree {
    neurons.iter().map(|n| (layout::neuron(&n.id), n.encode())).collect()
}

fn neuron_in(tree: &Tree, name: &str) -> Neuron {
    let path = layout::neuron(&id(name));
    Neuron::decode(&tree[&path], &path).unwrap()
}

/// `neuron` as a run leaves it.
fn by(neuron: &Neuron, day: u32, change: impl FnOnce(&mut Neuron)) -> Neuron {
    let mut after = neuron.clone();
    after.version = after.version.toggled(&run(day));
    after.run = after.run.max(Some(run(day)));
    change(&mut after);
    after
}

fn plain(name: &str) -> Neuron {
    Neuron::decode(format!(r#"{{"id": "{name}", "concept": "{name}", "type": "semantic"}}"#).as_bytes(), name).unwrap()
}

fn weighing(weight: u16) -> Neuron {
    let mut neuron = plain("a");
    neuron.set_weight(&id("b"), Link::FeedsInto, weight);
    neuron
}

fn weigh(day: u32, before: &Neuron, weight: u16) -> Neuron {
    by(before, day, |n| n.set_weight(&id("b"), Link::FeedsInto, weight))
}

/// Merges branches of one base in every order of three.
fn in_every_order(base: &Neuron, branches: &[Neuron; 3]) -> Vec<(Neuron, bool)> {
    let others = [plain("b")];
    let whole = |n: &Neuron| tree_of(&[std::slice::from_ref(n), &others].concat());
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let merged = orders.map(|order| {
        let mut clamped = false;
        let wake = order.iter().fold(whole(base), |wake, i| {
            let (next, outcome) = merge(&whole(base), &wake, &whole(&branches[*i]));
            clamped |= outcome.decisions.iter().any(|d| d.clamped);
            next
        });
        (neuron_in(&wake, "a"), clamped)
    });
    merged.to_vec()
}

#[test]
fn removal_beside_plus_and_minus_in_every_order() {
    let base = weighing(50);
    let removed = by(&base, 5, |n| n.connections.clear());
    for (merged, clamped) in in_every_order(&base, &[removed, weigh(2, &base, 60), weigh(3, &base, 40)]) {
        assert_eq!(merged.connections.len(), 1, "present, whatever came first");
        assert_eq!(merged.connections[0].weight, if clamped { 10 } else { 0 });
    }
}

#[test]
fn minus_and_disconnect_then_plus_in_every_order() {
    let base = weighing(50);
    let branches = [weigh(2, &base, 40), weigh(3, &base, 0), weigh(4, &base, 60)];
    for (merged, clamped) in in_every_order(&base, &branches) {
        assert_eq!(merged.connections[0].weight, if clamped { 10 } else { 0 }, "the clamp is recorded");
    }
}

#[test]
fn touch_between_two_archives_in_every_order() {
    let base = weighing(50);
    let archive = |day| by(&base, day, |n| n.archived = Some(run(day)));
    let touch = weigh(4, &base, 51);
    for (merged, _) in in_every_order(&base, &[archive(2), touch.clone(), archive(6)]) {
        assert!(merged.is_archived() && merged.archived == Some(run(6)));
    }
    for (merged, _) in in_every_order(&base, &[archive(2), archive(3), touch]) {
        assert!(!merged.is_archived(), "the later touch lifts it");
    }
}

#[test]
fn renames_by_priorities_5_1_3_in_every_order() {
    let base = weighing(50);
    let rename = |before: &Neuron, day, rank: u32| {
        by(before, day, |n| {
            n.concept = format!("by {rank}");
            n.named_by.concept.rank = rank.max(n.named_by.concept.rank);
            n.named_by.concept.run = Some(run(day));
        })
    };
    let (five, one) = (rename(&base, 2, 5), rename(&base, 3, 1));
    for (merged, _) in in_every_order(&base, &[five.clone(), one.clone(), rename(&base, 4, 3)]) {
        assert_eq!(merged.concept, "by 5");
    }
    // The third renamed what the first had named: it inherits the rank.
    for (merged, _) in in_every_order(&base, &[five.clone(), one.clone(), rename(&five, 4, 3)]) {
        assert_eq!(merged.concept, "by 3");
    }
    // It renamed what the second had named: it has its own.
    for (merged, _) in in_every_order(&base, &[five, one.clone(), rename(&one, 4, 3)]) {
        assert_eq!(merged.concept, "by 5");
    }
}

#[test]
fn files_outside_the_network_are_left_as_they_are() {
    let tree = |settings: &str, agent: Option<&str>| {
        let mut tree = Tree::from([("brain.toml".to_owned(), settings.into())]);
        tree.extend(agent.map(|text| ("agents/a.json".to_owned(), text.into())));
        tree
    };
    let (base, left, right) = (tree("o", None), tree("l", Some("{}")), tree("r", None));
    let (merged, outcome) = merge_with(&base, &left, &right, &MergePolicy::default(), Options::default());
    assert_eq!((merged, outcome.conflicts), (left, vec![]));
}

#[test]
fn a_sleep_taken_back_returns_connections_and_leaves_neurons_as_they_are() {
    let here = weigh(9, &weighing(80), 90);
    let mut there = weighing(50);
    there.set_weight(&id("c"), Link::Recalls, 7);
    let trees = [tree_of(&[]), tree_of(std::slice::from_ref(&here)), tree_of(&[there])];
    let options = Options { returning: true };
    let (merged, _) = merge_with(&trees[0], &trees[1], &trees[2], &MergePolicy::default(), options);
    let mut expected = here;
    expected.set_weight(&id("c"), Link::Recalls, 7);
    assert_eq!(neuron_in(&merged, "a"), expected);
}

#[test]
fn a_policy_of_review_leaves_the_field_and_names_the_runs() {
    let base = weighing(50);
    let (left, right) = (weigh(2, &base, 57), weigh(3, &base, 58));
    let policy = MergePolicy { weight: Rule::Review, ..MergePolicy::default() };
    let trees = [base, left, right].map(|n| tree_of(&[n]));
    let (merged, outcome) = merge_with(&trees[0], &trees[1], &trees[2], &policy, Options::default());
    assert_eq!(neuron_in(&merged, "a").connections[0].weight, 57);
    let conflict = &outcome.conflicts[0];
    assert_eq!((conflict.field.as_str(), &conflict.runs), ("connections.b.feeds_into", &vec![run(2), run(3)]));
}

/// The record of a run that moved the weight of a to b.
fn record(day: u32, from: u16, to: u16) -> Tree {
    let effects = format!(
        r#"[{{"neuron": "a", "connections": [{{"target": "b", "type": "feeds_into", "weight": [{from}, {to}]}}]}}]"#
    );
    let text = format!(
        r#"{{"run": "{}", "agent": "memory", "trigger": "t", "cognition": "apply", "at": "2026-01-01T00:00:00Z",
            "depth": 0, "base": null, "origin": "local", "ops": [], "effects": {effects}}}"#,
        run(day)
    );
    Tree::from([(layout::run(&run(day)), text.into_bytes())])
}

fn with_records(neuron: &Neuron, records: &[&Tree]) -> Tree {
    let records = records.iter().flat_map(|r| r.iter().map(|(path, bytes)| (path.clone(), bytes.clone())));
    tree_of(std::slice::from_ref(neuron)).into_iter().chain(records).collect()
}

#[test]
fn same_runs_held_at_zero_in_another_order_bring_nothing() {
    let base = weighing(50);
    let (plus, minus, later) = (record(2, 50, 60), record(3, 60, 0), record(5, 0, 5));
    let other_order = weigh(3, &weigh(2, &base, 60), 10);
    let went_on = weigh(5, &weigh(3, &weigh(2, &base, 60), 0), 5);
    let base = tree_of(&[base]);
    let other_order = with_records(&other_order, &[&plus, &minus]);
    let went_on = with_records(&went_on, &[&plus, &minus, &later]);
    assert_eq!(merge(&base, &went_on, &other_order).1.edits, []);
    assert_eq!(merge(&base, &other_order, &went_on).0, went_on);
}

#[test]
fn what_both_sides_have_is_not_reviewed_again() {
    let base = weighing(50);
    let (one, two, later) = (record(2, 50, 57), record(3, 50, 57), record(5, 64, 70));
    let both = weigh(3, &weigh(2, &base, 57), 64);
    let left = with_records(&both, &[&one, &two]);
    let right = with_records(&weigh(5, &both, 70), &[&one, &two, &later]);
    let policy = MergePolicy { weight: Rule::Review, ..MergePolicy::default() };
    let (merged, outcome) = merge_with(&tree_of(&[base]), &left, &right, &policy, Options::default());
    assert_eq!(outcome.conflicts, []);
    assert_eq!((merged, outcome.shared, outcome.brought), (right, vec![run(2), run(3)], vec![run(5)]));
}

/// A record never changes. One that does is a conflict, and is not taken for a run that both sides have.
#[test]
fn a_record_that_was_changed_is_not_applied() {
    let base = with_records(&weighing(57), &[&record(2, 50, 57)]);
    let right = with_records(&weigh(3, &weighing(57), 60), &[&record(2, 50, 90)]);
    let left = with_records(&weigh(4, &weighing(57), 58), &[&record(2, 50, 57)]);
    let (_, outcome) = merge(&base, &left, &right);
    assert_eq!((outcome.shared, outcome.brought), (vec![], vec![]));
}

#[test]
fn other_policies_decide_otherwise() {
    let base = weighing(50);
    let trees = [base.clone(), weigh(2, &base, 60), weigh(3, &base, 41)].map(|n| tree_of(&[n]));
    for (rule, expected) in
        [(Rule::Sum, 51), (Rule::Max, 60), (Rule::Mean, 51), (Rule::Left, 60), (Rule::Right, 41), (Rule::Priority, 41)]
    {
        let policy = MergePolicy { weight: rule, ..MergePolicy::default() };
        let (merged, _) = merge_with(&trees[0], &trees[1], &trees[2], &policy, Options::default());
        assert_eq!(neuron_in(&merged, "a").connections[0].weight, expected, "{rule:?}");
    }
}

#[test]
fn what_does_not_belong_or_parse_is_an_error_that_names_the_path() {
    let policy = MergePolicy::default();
    let empty = Tree::new();
    let error = |path: &str, content: &[u8]| {
        let right = Tree::from([(path.to_owned(), content.to_vec())]);
        three_way(&mut Trees::new(&empty, &empty, &right), &policy).unwrap_err()
    };
    let path = layout::neuron(&id("a"));
    assert!(matches!(error("network/neurons/a.json", b"{}"), MergeError::Misplaced(p) if p.ends_with("a.json")));
    assert!(error(&path, b"<<<<<<<").to_string().contains(&path));
    assert!(matches!(error(&path, &plain("b").encode()), MergeError::WrongId { id, .. } if id == "b"));
    let record = layout::run(&run(3));
    let broken = Tree::from([(record.clone(), b"{".to_vec())]);
    let error = three_way(&mut Trees::new(&empty, &broken, &broken), &policy).unwrap_err();
    assert!(error.to_string().contains(&record), "{error}");
}

/// Left's list of changes is asked for only where right removed a neuron, and left's other files are not read.
#[test]
fn the_cost_is_that_of_rights_changes() {
    let base = tree_of(&[weighing(50), plain("b"), plain("c"), plain("d")]);
    let mut left = base.clone();
    left.extend(tree_of(&[by(&plain("c"), 2, |n| n.activation_count = 1)]));
    let mut right = base.clone();
    right.extend(tree_of(&[weigh(3, &weighing(50), 60)]));
    let mut trees = Trees::new(&base, &left, &right);
    let outcome = three_way(&mut trees, &MergePolicy::default()).unwrap();
    assert_eq!(outcome.edits.len(), 1);
    assert_eq!(trees.reads.iter().collect::<Vec<_>>(), [&layout::neuron(&id("a"))]);
    assert!(!trees.asked_left);
    right.remove(&layout::neuron(&id("d")));
    let mut trees = Trees::new(&base, &left, &right);
    assert_eq!(three_way(&mut trees, &MergePolicy::default()).unwrap().edits.len(), 2);
    assert!(trees.asked_left && !trees.reads.contains(&layout::neuron(&id("b"))));
}

/// The record of a run that activated a neuron once.
fn touched(day: u32, id: &str) -> Tree {
    let effects = format!(r#"[{{"neuron": "{id}", "activation_count": [0, 1]}}]"#);
    let text = format!(
        r#"{{"run": "{}", "agent": "memory", "trigger": "t", "cognition": "apply", "at": "2026-01-01T00:00:00Z",
            "depth": 0, "base": null, "origin": "local", "ops": [], "effects": {effects}}}"#,
        run(day)
    );
    Tree::from([(layout::run(&run(day)), text.into_bytes())])
}

#[test]
fn a_neuron_that_comes_back_after_a_sleep_pruned_it_keeps_what_it_learnt() {
    let (b, x) = (plain("b"), plain("x"));
    let base = tree_of(&[x.clone(), b.clone()]);
    let active = with_records(&by(&b, 2, |n| n.activation_count = 1), &[&touched(2, "b")]);
    let active: Tree = base.clone().into_iter().chain(active).collect();
    let mut pruned = active.clone();
    pruned.remove(&layout::neuron(&id("b")));
    let pointing = by(&x, 3, |n| n.set_weight(&id("b"), Link::FeedsInto, 50));
    let touching = by(&b, 3, |n| n.activation_count = 1);
    for (others, count) in [(vec![pointing, b], 1), (vec![x, touching], 2)] {
        let right = tree_of(&others);
        let one = merge(&base, &pruned, &right).0;
        let other = merge(&base, &right, &pruned).0;
        let line = merge(&active, &merge(&base, &active, &right).0, &pruned).0;
        for merged in [one, other, line] {
            assert_eq!(neuron_in(&merged, "b").activation_count, count);
        }
    }
}

#[test]
fn what_a_person_edited_by_hand_stays_beside_runs_that_both_sides_have() {
    let base = weighing(65_500);
    let records = [record(2, 65_500, 65_530), record(3, 65_500, 65_530), record(4, 65_500, 65_400)];
    let records: Vec<&Tree> = records.iter().collect();
    let after = |weight| weigh(4, &weigh(3, &weigh(2, &base, 0), 0), weight);
    let (in_order, other_order) = (after(65_435), after(65_460));
    let trees = |left: &Neuron, right: &Neuron| {
        let sides = (with_records(left, &records), with_records(right, &records));
        let one = neuron_in(&merge(&tree_of(&[base.clone(), plain("b")]), &sides.0, &sides.1).0, "a");
        let other = neuron_in(&merge(&tree_of(&[base.clone(), plain("b")]), &sides.1, &sides.0).0, "a");
        assert_eq!(one, other, "in both orders");
        one
    };
    assert_eq!(trees(&in_order, &other_order).connections[0].weight, 65_435, "the order of the runs decides");
    let vivid = Neuron { salience: 45_000, ..other_order.clone() };
    let merged = trees(&vivid, &in_order);
    assert_eq!((merged.salience, merged.connections[0].weight), (45_000, 65_435));
    assert_eq!(trees(&after(30_000), &in_order).connections[0].weight, 30_000);
    let pinned = Neuron { pinned: true, ..other_order };
    assert_eq!(trees(&pinned, &in_order).connections[0].weight, 65_435, "and counts once");
}

/// A run of a person on that day.
fn own(day: u32) -> RunId {
    RunId::parse(&format!("202601{day:02}t100000000z-abcd2345-human")).unwrap()
}

/// The record of a run that did so, and took runs back.
fn recorded(run: &RunId, reverts: &[RunId], effects: Vec<Effect>) -> Tree {
    let record = RunRecord {
        run: run.clone(),
        agent: run.agent(),
        trigger: "t".into(),
        cognition: "revert".into(),
        at: Stamp::from_unix(0),
        depth: 0,
        base: None,
        origin: Origin::local(),
        stimuli: vec![],
        prediction: None,
        ops: vec![],
        effects,
        notes: vec![],
        reverts: reverts.to_vec(),
        approves: vec![],
    };
    Tree::from([(layout::run(run), record.encode())])
}

/// A side on its way: the neuron a, the records, and how often a was weighed.
#[derive(Clone)]
struct Line {
    neuron: Neuron,
    records: Tree,
}

impl Line {
    fn new() -> Self {
        Self { neuron: weighing(50), records: Tree::new() }
    }

    /// A run moves the weight, and may take others back by that.
    fn then(mut self, run: &RunId, by: i32, reverts: &[RunId]) -> Self {
        let before = self.neuron.clone();
        let weight = u16::try_from(i32::from(before.weight(&id("b"), Link::FeedsInto)) + by).unwrap();
        self.neuron.set_weight(&id("b"), Link::FeedsInto, weight);
        self.neuron.version = before.version.toggled(run);
        self.neuron.run = before.run.clone().max(Some(run.clone()));
        self.records.extend(recorded(run, reverts, vec![Effect::between(Some(&before), &self.neuron)]));
        self
    }

    fn tree(&self) -> Tree {
        tree_of(&[self.neuron.clone(), plain("b")]).into_iter().chain(self.records.clone()).collect()
    }
}

/// The weight that a merge of both sides gives, whichever is left.
#[track_caller]
fn weight_of(base: &Tree, one: &Tree, other: &Tree) -> u16 {
    let merged = [merge(base, one, other), merge(base, other, one)];
    assert!(merged.iter().all(|(_, outcome)| outcome.conflicts.is_empty()));
    assert_eq!(merged[0].0, merged[1].0, "in both orders");
    neuron_in(&merged[0].0, "a").weight(&id("b"), Link::FeedsInto)
}

#[test]
fn a_run_that_both_sides_took_back_is_taken_back_once() {
    let start = Line::new();
    let base = start.clone().then(&run(2), 10, &[]);
    let here = base.clone().then(&run(3), 7, &[]).then(&own(5), -10, &[run(2)]);
    let there = base.clone().then(&run(4), 5, &[]).then(&own(6), -10, &[run(2)]);
    assert_eq!(weight_of(&base.tree(), &here.tree(), &there.tree()), 62);
    // It came to both by itself.
    assert_eq!(weight_of(&start.tree(), &here.tree(), &there.tree()), 62);
    // One side brought it back again: what the other one did counts.
    let again = here.clone().then(&own(8), 10, &[own(5)]);
    assert_eq!(weight_of(&base.tree(), &again.tree(), &there.tree()), 62);
    assert_eq!(weight_of(&base.tree(), &again.tree(), &base.tree()), 67);
    // Another run on each side, too.
    let base = base.then(&run(1), 100, &[]);
    let here = base.clone().then(&own(5), -110, &[run(1), run(2)]);
    let there = base.clone().then(&own(6), -10, &[run(2)]);
    assert_eq!(weight_of(&base.tree(), &here.tree(), &there.tree()), 50);
    let there = base.clone().then(&own(6), -100, &[run(1)]);
    let alone = base.clone().then(&own(7), -10, &[run(2)]);
    assert_eq!(weight_of(&base.tree(), &there.tree(), &alone.tree()), 50, "two runs, one each");
}

#[test]
fn a_run_that_was_taken_back_before_is_not_taken_back_again_by_those_who_also_did() {
    let base = Line::new().then(&run(2), 10, &[]);
    let once = base.clone().then(&own(5), -10, &[run(2)]);
    // Two pairs of machines met, and each pair counted it once.
    let here = once.clone().then(&own(6), 0, &[run(2)]).then(&run(3), 7, &[]);
    let there = once.clone().then(&own(7), 0, &[run(2)]).then(&run(4), 5, &[]);
    assert_eq!(weight_of(&base.tree(), &here.tree(), &there.tree()), 62, "a revert that both have");
    assert_eq!(weight_of(&once.tree(), &here.tree(), &there.tree()), 62, "a revert of the base");
}

#[test]
fn what_one_side_removed_by_a_revert_of_both_keeps_what_the_other_learnt() {
    let mut made = plain("c");
    made.activation_count = 3;
    made.version = made.version.toggled(&run(2));
    made.run = Some(run(2));
    let side = |neuron: Option<&Neuron>, records: &[Tree]| -> Tree {
        let neurons = tree_of(&neuron.cloned().into_iter().collect::<Vec<_>>());
        neurons.into_iter().chain(records.iter().flatten().map(|(p, b)| (p.clone(), b.clone()))).collect()
    };
    let making = recorded(&run(2), &[], vec![Effect::between(None, &made)]);
    let base = side(Some(&made), std::slice::from_ref(&making));
    let gone = side(None, &[making.clone(), recorded(&own(5), &[run(2)], vec![Effect::removal(&made)])]);
    let touched = by(&made, 4, |n| n.activation_count = 4);
    let mut left = touched.clone();
    (left.activation_count, left.archived) = (1, Some(own(6)));
    (left.version, left.run) = (left.version.toggled(&own(6)), Some(own(6)));
    let back = recorded(&own(6), &[run(2)], vec![Effect::between(Some(&touched), &left)]);
    let touch = recorded(&run(4), &[], vec![Effect::between(Some(&made), &touched)]);
    let there = side(Some(&left), &[making, touch, back]);
    for merged in [merge(&base, &gone, &there).0, merge(&base, &there, &gone).0] {
        assert_eq!(neuron_in(&merged, "c").activation_count, 1);
    }
}

/// What two sides add to one neuron has room beyond what either may add; of what no file holds the strongest connections stay, in either order.
#[test]
fn a_neuron_that_both_sides_grow_stays_readable() {
    let base = plain("hub");
    let grown = |day: u32, side: char, count: usize| {
        by(&base, day, |neuron| {
            (0..count).for_each(|n| {
                neuron.set_weight(&id(&format!("{side}-{n:055}")), Link::FeedsInto, (n % 900) as u16 + 7)
            });
        })
    };
    let sides = |count: usize| [grown(2, 'l', count), grown(3, 'r', count)];
    let merged = |[left, right]: &[Neuron; 2]| {
        let base = tree_of(std::slice::from_ref(&base));
        merge(&base, &tree_of(std::slice::from_ref(left)), &tree_of(std::slice::from_ref(right)))
    };
    // Each side's file is just below 2 MiB.
    let both = sides(15_000);
    let (tree, outcome) = merged(&both);
    assert_eq!((outcome.conflicts.len(), neuron_in(&tree, "hub").connections.len()), (0, 30_000));
    let [left, right] = sides(40_000);
    let (tree, outcome) = merged(&[left.clone(), right.clone()]);
    assert!(outcome.conflicts.is_empty() && outcome.decisions.iter().any(|d| d.field == "connections" && d.clamped));
    let kept = neuron_in(&tree, "hub");
    assert_eq!(neuron_in(&merged(&[right, left]).0, "hub").connections, kept.connections, "whichever side is here");
    let (count, weakest) = (kept.connections.len(), kept.connections.iter().map(|c| c.weight).min().unwrap());
    assert!((50_000..80_000).contains(&count) && weakest > 7, "{count} {weakest}");
}
