//! People who run plain git: merge, rebase, cherry-pick and revert give what the engine gives.

use crate::real_git::{Brain, said};

const STIMULUS: &str = "network/neurons/14/2/external_stimulus.json";
const ADJUST_7: &str =
    r#"{"op": "adjust", "from": "external_stimulus", "to": "n_core_perception", "type": "feeds_into", "by": 7}"#;
const ADJUST_5: &str =
    r#"{"op": "adjust", "from": "external_stimulus", "to": "n_core_perception", "type": "feeds_into", "by": 5}"#;
const TEA: &str = r#"{"op": "create", "id": "tea", "concept": "tea", "type": "semantic"},
    {"op": "connect", "from": "external_stimulus", "to": "tea", "type": "feeds_into", "weight": 20000},
    {"op": "activate", "id": "decision_point", "strength": 0.5}"#;

/// A brain with two runs that touch the same neurons, and a branch `plain` at the commit that both started from.
fn two_runs(first: &str, second: &str) -> (Brain, String, String) {
    let brain = Brain::without_hooks();
    let one = brain.pending(first);
    let two = brain.pending(second);
    brain.git(&["checkout", "-q", "-b", "plain", "wake"]);
    (brain, one, two)
}

/// The tree that the engine makes of both runs.
fn engine(brain: &Brain, one: &str, two: &str) -> String {
    brain.brain(&["merge", one, two]);
    brain.rev("wake^{tree}")
}

#[test]
fn merge_agrees_with_the_engine_in_both_orders() {
    for (first, second) in [(ADJUST_7, ADJUST_5), (TEA, ADJUST_5), (TEA, ADJUST_7)] {
        let (brain, one, two) = two_runs(first, second);
        brain.git(&["merge", "-q", "--no-edit", &one]);
        brain.git(&["merge", "-q", "--no-edit", &two]);
        brain.git(&["checkout", "-q", "-b", "other", "wake"]);
        brain.git(&["merge", "-q", "--no-ff", "--no-edit", &two]);
        brain.git(&["merge", "-q", "--no-ff", "--no-edit", &one]);
        let tree = engine(&brain, &one, &two);
        assert_eq!((brain.rev("plain^{tree}"), brain.rev("other^{tree}")), (tree.clone(), tree));
    }
}

#[test]
fn both_deltas_count() {
    let (brain, one, two) = two_runs(ADJUST_7, ADJUST_5);
    brain.git(&["merge", "-q", "--no-edit", &one]);
    brain.git(&["merge", "-q", "--no-edit", &two]);
    assert!(brain.read(STIMULUS).contains("\"feeds_into\": 50012"), "{}", brain.read(STIMULUS));
}

#[test]
fn cherry_pick_and_rebase_agree_with_the_engine() {
    let (brain, one, two) = two_runs(TEA, ADJUST_5);
    brain.git(&["merge", "-q", "--ff-only", &one]);
    brain.git(&["cherry-pick", &two]);
    brain.git(&["checkout", "-q", "-b", "moved", &two]);
    brain.git(&["rebase", "-q", &one]);
    let tree = engine(&brain, &one, &two);
    assert_eq!((brain.rev("plain^{tree}"), brain.rev("moved^{tree}")), (tree.clone(), tree));
}

#[test]
fn a_run_that_is_here_already_is_not_counted_twice() {
    let (brain, one, two) = two_runs(ADJUST_7, ADJUST_5);
    brain.git(&["merge", "-q", "--ff-only", &one]);
    brain.git(&["cherry-pick", &two]);
    // The same run once more, by another commit: the merge base has neither.
    brain.git(&["merge", "-q", "--no-edit", &two]);
    let tree = engine(&brain, &one, &two);
    assert_eq!(brain.rev("plain^{tree}"), tree);
}

#[test]
fn revert_takes_one_run_back_and_leaves_the_other() {
    let (brain, one, two) = two_runs(ADJUST_7, ADJUST_5);
    brain.git(&["merge", "-q", "--no-edit", &one]);
    brain.git(&["merge", "-q", "--no-edit", &two]);
    brain.git(&["revert", "--no-edit", &one]);
    assert!(brain.read(STIMULUS).contains("\"feeds_into\": 50005"), "{}", brain.read(STIMULUS));
    let report = brain.brain(&["check", "HEAD"]);
    assert!(report.contains("all good"), "{report}");
    let run = one.rsplit('/').next().unwrap();
    assert_eq!(brain.git(&["ls-files", &format!("*{run}*")]), "", "its record is gone");
}

#[test]
fn what_is_no_neuron_is_never_blended() {
    let (brain, one, _) = two_runs(ADJUST_7, ADJUST_5);
    brain.git(&["checkout", "-q", "-b", "hand", &one]);
    brain.edit(STIMULUS, "\"feeds_into\": 50007", "\"feeds_into\": \"many\"");
    brain.git(&["commit", "-q", "-am", "broken by hand"]);
    brain.git(&["checkout", "-q", "plain"]);
    brain.edit(STIMULUS, "\"feeds_into\": 50000", "\"feeds_into\": 50001");
    brain.git(&["commit", "-q", "-am", "by hand"]);
    let before = brain.read(STIMULUS);
    let ended = brain.try_git(&["merge", "hand"]);
    assert!(!ended.status.success());
    assert!(said(&ended).contains("expected u16"), "{}", said(&ended));
    assert_eq!(brain.read(STIMULUS), before, "no marks in the file");
}

#[test]
fn code_beside_a_brain_merges_as_text() {
    let repository = Brain::code();
    repository.brain(&["init", "--in-repo"]);
    let path = "network/neurons/net/layer.json";
    let side = |branch: &str, old: &str, new: &str| {
        repository.git(&["checkout", "-q", "-B", branch, "trunk"]);
        repository.edit(path, old, new);
        repository.git(&["commit", "-q", "-am", branch]);
    };
    repository.write(path, "one\n2\n3\n4\nfive\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "weights of a network of another kind"]);
    side("a", "one", "1");
    side("b", "five", "5");
    side("c", "five", "6");
    repository.git(&["merge", "-q", "--no-edit", "a"]);
    assert_eq!(repository.read(path), "1\n2\n3\n4\n6\n");
    assert!(!repository.try_git(&["merge", "-q", "b"]).status.success());
    assert!(repository.read(path).contains("<<<<<<< ours"), "{}", repository.read(path));
}
