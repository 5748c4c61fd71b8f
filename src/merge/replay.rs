//! Applying a recorded run to another tree: its effects are merged in, its operations are never executed again.
//!
//! `base'` is the target with the values from before the run, `right'` the target with the values after it, left is the
//! target. So weights move by what the run moved them, names follow their ranks, and what the run did not touch stays.

use super::decision::{Conflict, Decision};
use super::neuron::{NeuronMerge, merge_neuron};
use crate::delta::{Effect, RunRecord};
use crate::model::ids::{NeuronId, RunId};
use crate::model::settings::{MergePolicy, Rule};
use crate::model::{Neuron, salience};

/// Which way a record is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction<'a> {
    /// The run once more, on a tree that has not got it.
    Again,
    /// The run taken back, by a run of its own with this id. Never lowers a stamp. What the run created stays as a file,
    /// empty and archived: only sleep removes files.
    Back(&'a RunId),
}

/// One neuron that an application changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The neuron before; `None`: it did not exist.
    pub before: Option<Neuron>,
    /// The neuron after.
    pub after: Neuron,
    /// What rules settled.
    pub decisions: Vec<Decision>,
    /// What they could not.
    pub conflicts: Vec<Conflict>,
}

/// Applies a record to the neurons that `lookup` knows; gives those that change, in the record's order (by id).
///
/// An effect on a neuron that does not exist is passed over, unless it is the creation itself.
pub fn apply_record<E>(
    record: &RunRecord,
    direction: Direction<'_>,
    policy: &MergePolicy,
    mut lookup: impl FnMut(&NeuronId) -> Result<Option<Neuron>, E>,
) -> Result<Vec<Replayed>, E> {
    let mut changed = Vec::new();
    for effect in &record.effects {
        let Some(id) = effect.id() else { continue };
        let before = lookup(id)?;
        let merged = apply_effect(effect, &record.run, direction, before.as_ref(), policy);
        if let Some(after) = merged.neuron.filter(|after| Some(after) != before.as_ref()) {
            changed.push(Replayed { before, after, decisions: merged.decisions, conflicts: merged.conflicts });
        }
    }
    Ok(changed)
}

fn apply_effect(
    effect: &Effect,
    run: &RunId,
    direction: Direction<'_>,
    target: Option<&Neuron>,
    policy: &MergePolicy,
) -> NeuronMerge {
    match (direction, &effect.created, target) {
        (Direction::Again, Some(created), target) => merge_neuron(None, target, Some(created), &decisive(policy)),
        (direction, _, Some(target)) if effect.removed.is_some() => match (direction, &effect.removed) {
            // What a person took back and others touched stays as a file without what was taken back. Whether a file that one side
            // removed goes is the tree's question, and asked of the sides themselves.
            (Direction::Again, Some(removed)) => without_creation(removed, run, target, &decisive(policy)),
            _ => NeuronMerge { neuron: Some(target.clone()), ..NeuronMerge::default() },
        },
        (Direction::Again, None, Some(target)) => {
            let base = effect.set_on(target, false);
            let right = marked(effect, effect.set_on(target, true), run);
            merge_neuron(Some(&base), Some(target), Some(&right), &decisive(policy))
        }
        (Direction::Back(by), Some(created), Some(target)) => without_creation(created, by, target, policy),
        (Direction::Back(by), None, Some(target)) => {
            let base = effect.set_on(target, true);
            let mut right = effect.set_on(target, false);
            // The values from before, as they would stand at the stamp from after.
            let newest = base.last_salience_update.max(right.last_salience_update);
            right.salience = salience::salience_at(right.salience, right.last_salience_update, newest);
            right.last_salience_update = newest;
            right.last_activated = base.last_activated.max(right.last_activated);
            merge_neuron(Some(&base), Some(target), Some(&touched(right, by)), policy)
        }
        (_, _, None) => NeuronMerge::default(),
    }
}

/// The policy for runs that are merged already: it was decided then, so nothing is left to review.
fn decisive(policy: &MergePolicy) -> MergePolicy {
    let default = MergePolicy::default();
    let or = |rule: Rule, default: Rule| if rule == Rule::Review { default } else { rule };
    MergePolicy {
        weight: or(policy.weight, default.weight),
        salience: or(policy.salience, default.salience),
        activation_count: or(policy.activation_count, default.activation_count),
        last_activated: or(policy.last_activated, default.last_activated),
        concept: or(policy.concept, default.concept),
        kind: or(policy.kind, default.kind),
    }
}

/// With the mark of a run, or with those that it left there instead.
fn marked(effect: &Effect, mut neuron: Neuron, run: &RunId) -> Neuron {
    let Some((before, after)) = &effect.marks else { return touched(neuron, run) };
    neuron.version = neuron.version.xor(before.version).xor(after.version);
    if neuron.run == before.run {
        neuron.run.clone_from(&after.run);
    }
    neuron
}

/// Applies the effect of a run on one neuron again, with the rules that settle everything.
pub fn again(effect: &Effect, run: &RunId, target: &Neuron) -> Option<Neuron> {
    apply_effect(effect, run, Direction::Again, Some(target), &MergePolicy::default()).neuron
}

/// Takes the effect of a run on one neuron back, as the run `by`; see [`Direction::Back`].
pub fn take_back(effect: &Effect, by: &RunId, target: &Neuron, policy: &MergePolicy) -> NeuronMerge {
    apply_effect(effect, by, Direction::Back(by), Some(target), policy)
}

/// Gives a neuron whose name or type is of a run that is taken back the one before it, as often as it takes: what was taken back does not return
/// because what came after it is taken back as well.
///
/// # Errors
/// A record could not be read.
pub fn give_way<E>(
    neuron: &mut Neuron,
    is_taken_back: impl Fn(&RunId) -> bool,
    mut record: impl FnMut(&RunId) -> Result<Option<RunRecord>, E>,
) -> Result<(), E> {
    let mut effect_of = |run: &RunId| -> Result<Option<Effect>, E> {
        let effects = record(run)?.map(|record| record.effects).unwrap_or_default();
        Ok(effects.into_iter().find(|effect| effect.id() == Some(&neuron.id)))
    };
    let (mut concept, mut kind) = (None, None);
    let mut by = neuron.named_by.concept.clone();
    while let Some(run) = by.run.filter(|run| is_taken_back(run)) {
        let Some((before, _)) = effect_of(&run)?.and_then(|effect| effect.concept) else { break };
        // Ids grow along history: anything else is made up.
        if before.by.run.as_ref().is_some_and(|giver| *giver >= run) {
            break;
        }
        by = before.by.clone();
        concept = Some(before);
    }
    let mut by = neuron.named_by.kind.clone();
    while let Some(run) = by.run.filter(|run| is_taken_back(run)) {
        let Some((before, _)) = effect_of(&run)?.and_then(|effect| effect.kind) else { break };
        // Ids grow along history: anything else is made up.
        if before.by.run.as_ref().is_some_and(|giver| *giver >= run) {
            break;
        }
        by = before.by.clone();
        kind = Some(before);
    }
    if let Some(named) = concept {
        (neuron.concept, neuron.named_by.concept) = (named.value, named.by);
    }
    if let Some(named) = kind {
        (neuron.kind, neuron.named_by.kind) = (named.value, named.by);
    }
    Ok(())
}

/// A neuron without what its creation brought, as the run `by`: what others did to it since stays.
fn without_creation(created: &Neuron, by: &RunId, target: &Neuron, policy: &MergePolicy) -> NeuronMerge {
    let base = Neuron { version: target.version, run: target.run.clone(), ..created.clone() };
    let right = touched(emptied(&base, by), by);
    merge_neuron(Some(&base), Some(target), Some(&right), policy)
}

/// With the mark of a run.
fn touched(mut neuron: Neuron, run: &RunId) -> Neuron {
    neuron.version = neuron.version.toggled(run);
    neuron.run = neuron.run.max(Some(run.clone()));
    neuron
}

/// What is left of a created neuron once its creation is taken back.
fn emptied(created: &Neuron, by: &RunId) -> Neuron {
    let mut neuron = Neuron { salience: 0, activation_count: 0, archived: Some(by.clone()), ..created.clone() };
    neuron.connections.iter_mut().for_each(|c| c.weight = 0);
    neuron
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Link, Origin, Stamp};

    fn run(day: u32) -> RunId {
        RunId::parse(&format!("202601{day:02}t143200123z-abcd2345-memory")).unwrap()
    }

    fn id(text: &str) -> NeuronId {
        NeuronId::parse(text).unwrap()
    }

    fn sample() -> Neuron {
        let mut neuron = Neuron::new(id("a"), "a", Kind::Semantic, Stamp::from_unix(0));
        neuron.set_weight(&id("b"), Link::FeedsInto, 50);
        neuron
    }

    fn record(day: u32, before: Option<&Neuron>, change: impl FnOnce(&mut Neuron)) -> (RunRecord, Neuron) {
        let mut after = touched(before.cloned().unwrap_or_else(sample), &run(day));
        change(&mut after);
        let record = RunRecord {
            run: run(day),
            agent: run(day).agent(),
            trigger: "by hand".into(),
            cognition: "apply".into(),
            at: Stamp::from_unix(0),
            depth: 0,
            base: None,
            origin: Origin::local(),
            stimuli: vec![],
            prediction: None,
            ops: vec![],
            effects: vec![Effect::between(before, &after)],
            notes: vec![],
            reverts: vec![],
            approves: vec![],
        };
        (record, after)
    }

    fn apply(record: &RunRecord, direction: Direction<'_>, target: Option<&Neuron>) -> Option<Neuron> {
        let policy = MergePolicy { weight: Rule::Sum, ..MergePolicy::default() };
        let found = apply_record::<()>(record, direction, &policy, |_| Ok(target.cloned())).unwrap();
        found.into_iter().next().map(|r| r.after)
    }

    #[test]
    fn on_its_own_base_a_record_gives_its_own_tree() {
        let base = sample();
        let (record, after) = record(7, Some(&base), |n| {
            n.set_weight(&id("b"), Link::FeedsInto, 57);
            n.activate(500, Stamp::from_unix(100));
        });
        assert_eq!(apply(&record, Direction::Again, Some(&base)), Some(after));
    }

    #[test]
    fn elsewhere_it_moves_weights_by_what_it_moved_them() {
        let (record, _) = record(7, Some(&sample()), |n| n.set_weight(&id("b"), Link::FeedsInto, 57));
        let mut target = touched(sample(), &run(9));
        target.set_weight(&id("b"), Link::FeedsInto, 1000);
        let after = apply(&record, Direction::Again, Some(&target)).unwrap();
        assert_eq!(after.weight(&id("b"), Link::FeedsInto), 1007);
        assert_eq!((after.run, after.version), (Some(run(9)), target.version.toggled(&run(7))));
        assert_eq!(apply(&record, Direction::Again, None), None, "nothing to apply it to");
    }

    #[test]
    fn a_creation_makes_the_neuron_or_joins_it() {
        let (record, created) = record(7, None, |n| n.salience = 10);
        assert_eq!(apply(&record, Direction::Again, None), Some(created.clone()));
        let other = touched(sample(), &run(9));
        let joined = apply(&record, Direction::Again, Some(&other)).unwrap();
        assert_eq!(joined.weight(&id("b"), Link::FeedsInto), 100);
        assert_eq!(joined.salience, 10);
    }

    #[test]
    fn a_run_taken_back_leaves_what_others_did_and_lowers_no_stamp() {
        let base = sample();
        let (record, mut after) = record(7, Some(&base), |n| {
            n.set_weight(&id("b"), Link::FeedsInto, 57);
            n.activate(500, Stamp::from_unix(100));
        });
        after.set_weight(&id("c"), Link::Recalls, 9);
        let by = run(12);
        let back = apply(&record, Direction::Back(&by), Some(&after)).unwrap();
        assert_eq!((back.weight(&id("b"), Link::FeedsInto), back.weight(&id("c"), Link::Recalls)), (50, 9));
        assert_eq!((back.salience, back.activation_count), (0, 0));
        assert_eq!(back.last_salience_update, Stamp::from_unix(100));
        assert_eq!((back.last_activated, back.run), (Some(Stamp::from_unix(100)), Some(by)));
    }

    #[test]
    fn a_creation_taken_back_empties_and_archives() {
        let (record, mut created) = record(7, None, |n| n.activate(500, Stamp::from_unix(100)));
        created.set_weight(&id("b"), Link::FeedsInto, 80);
        let by = run(12);
        let back = apply(&record, Direction::Back(&by), Some(&created)).unwrap();
        assert_eq!((back.salience, back.weight(&id("b"), Link::FeedsInto)), (0, 30), "30 came from elsewhere");
        assert!(back.is_archived());
    }

    #[test]
    fn a_creation_taken_back_leaves_what_came_after_it() {
        let (record, created) = record(7, None, |n| (n.salience, n.activation_count) = (10, 2));
        let mut target = touched(created.clone(), &run(9));
        (target.salience, target.activation_count) = (14, 5);
        let after = apply(&record, Direction::Back(&run(12)), Some(&target)).unwrap();
        assert_eq!((after.salience, after.activation_count), (4, 3));
        assert_eq!((after.version, after.weight(&id("b"), Link::FeedsInto)), (target.version.toggled(&run(12)), 0));
        assert_eq!((after.run, after.archived), (Some(run(12)), Some(run(12))));
        // The mark that stands is the later of the target's and of whoever takes back, not the creator's.
        let early = Neuron { run: Some(run(5)), ..target };
        assert_eq!(apply(&record, Direction::Back(&run(6)), Some(&early)).unwrap().run, Some(run(6)));
    }

    #[test]
    fn what_takes_a_removal_back_leaves_a_file_that_is_there_again() {
        let there = sample();
        let taken = take_back(&Effect::removal(&there), &run(12), &there, &MergePolicy::default());
        assert_eq!(taken, NeuronMerge { neuron: Some(there), ..NeuronMerge::default() });
    }
}
