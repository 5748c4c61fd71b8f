//! A run's record against what its commit did: each effect is set on the neuron before, and must give the neuron after. The engine goes the other
//! way, from operations to effects, and shares no step with this.

use std::collections::{BTreeMap, BTreeSet};

use crate::delta::{Effect, RunRecord};
use crate::model::Neuron;
use crate::model::ids::NeuronId;

/// A neuron before and after a commit; `None`: it was not there, or is not there any more.
pub type Change = (Option<Neuron>, Option<Neuron>);

/// The faults of a record, each with its neuron. `changes` are the neurons that the commit touched.
pub fn faults(record: &RunRecord, changes: &BTreeMap<NeuronId, Change>) -> Vec<(NeuronId, String)> {
    let mut faults = Vec::new();
    let mut said: BTreeSet<&NeuronId> = BTreeSet::new();
    for effect in &record.effects {
        let Some(id) = effect.id() else { continue };
        if !said.insert(id) {
            faults.push((id.clone(), "has two effects in one record".to_owned()));
            continue;
        }
        let unchanged = (None, None);
        let (before, after) = changes.get(id).unwrap_or(&unchanged);
        if !changes.contains_key(id) {
            // A record may name a neuron of which nothing changed in the end.
            if !says_nothing(effect) {
                faults.push((id.clone(), "is changed by the record, and not by its commit".to_owned()));
            }
            continue;
        }
        if let Some(fault) = fault_of(record, effect, before.as_ref(), after.as_ref()) {
            faults.push((id.clone(), fault));
        }
    }
    for (id, _) in changes.iter().filter(|(id, _)| !said.contains(id)) {
        faults.push((id.clone(), "is changed by the commit, and the record does not say so".to_owned()));
    }
    faults
}

fn says_nothing(effect: &Effect) -> bool {
    effect.created.is_none()
        && effect.removed.is_none()
        && effect.marks.is_none()
        && effect.connections.is_empty()
        && effect.fields().is_empty()
}

fn fault_of(record: &RunRecord, effect: &Effect, before: Option<&Neuron>, after: Option<&Neuron>) -> Option<String> {
    let (before, after) = match (before, after, &effect.created, &effect.removed) {
        (None, Some(after), Some(created), None) => return differs(created, after).map(|at| value("made", &at)),
        (Some(before), None, None, Some(removed)) => return differs(removed, before).map(|at| value("removed", &at)),
        (Some(before), Some(after), None, None) => (before, after),
        (before, after, ..) => {
            let did = match (before, after) {
                (None, _) => "makes",
                (Some(_), None) => "removes",
                _ => "changes",
            };
            return Some(format!("the commit {did} it, and the record says otherwise"));
        }
    };
    // All values before must be those of the neuron before, all others stay as they are.
    let back = effect.set_on(before, false);
    if let Some(at) = differs(&back, before) {
        return Some(format!("{at} was another before than the record says"));
    }
    let mut expected = effect.set_on(before, true);
    match &effect.marks {
        Some((_, marks)) => (expected.version, expected.run) = (marks.version, marks.run.clone()),
        None => (expected.version, expected.run) = (before.version.toggled(&record.run), Some(record.run.clone())),
    }
    differs(&expected, after).map(|at| format!("{at} is not what the record says"))
}

fn value(what: &str, at: &str) -> String {
    format!("is {what} with another {at} than the record says")
}

/// The first field in which two neurons differ.
fn differs(a: &Neuron, b: &Neuron) -> Option<String> {
    if a == b {
        return None;
    }
    for one in &a.connections {
        let other = b.connection(&one.target, one.link).map(|c| c.weight);
        if other != Some(one.weight) {
            return Some(format!("connections.{}.{}", one.target, one.link));
        }
    }
    let more = b.connections.iter().find(|one| a.connection(&one.target, one.link).is_none());
    if let Some(one) = more {
        return Some(format!("connections.{}.{}", one.target, one.link));
    }
    let (a, b) = (serde_json::to_value(a).ok()?, serde_json::to_value(b).ok()?);
    let (a, b) = (a.as_object()?, b.as_object()?);
    let key = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key));
    Some(key.map_or_else(|| "a field".to_owned(), Clone::clone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{AgentName, RunId};
    use crate::model::{Kind, Link, Origin, Stamp};

    fn neuron(id: &str) -> Neuron {
        Neuron::new(NeuronId::parse(id).unwrap(), id, Kind::Semantic, Stamp::from_unix(1000))
    }

    fn record(effects: Vec<Effect>) -> RunRecord {
        let agent = AgentName::parse("memory").unwrap();
        RunRecord {
            run: RunId::new(1_000_000, 7, &agent),
            agent,
            trigger: "manual".to_owned(),
            cognition: "apply".to_owned(),
            at: Stamp::from_unix(2000),
            depth: 0,
            base: None,
            origin: Origin::default(),
            stimuli: Vec::new(),
            prediction: None,
            ops: Vec::new(),
            effects,
            notes: Vec::new(),
            reverts: Vec::new(),
            approves: Vec::new(),
        }
    }

    #[test]
    fn a_record_that_says_what_was_done_has_no_fault_and_each_lie_is_named() {
        let target = NeuronId::parse("x").unwrap();
        let mut before = neuron("a");
        before.set_weight(&target, Link::FeedsInto, 100);
        let mut after = before.clone();
        after.set_weight(&target, Link::FeedsInto, 200);
        let run = record(Vec::new()).run;
        (after.run, after.version) = (Some(run.clone()), before.version.toggled(&run));
        let honest = record(vec![Effect::between(Some(&before), &after)]);
        let changes =
            |after: &Neuron| BTreeMap::from([(before.id.clone(), (Some(before.clone()), Some(after.clone())))]);
        assert_eq!(faults(&honest, &changes(&after)), []);

        let mut heavier = after.clone();
        heavier.set_weight(&target, Link::FeedsInto, 201);
        let told = faults(&honest, &changes(&heavier));
        assert!(told[0].1.contains("connections.x.feeds_into is not what the record says"), "{told:?}");

        let mut pinned = after.clone();
        pinned.pinned = true;
        assert!(faults(&honest, &changes(&pinned))[0].1.contains("pinned"));

        let silent = record(Vec::new());
        assert!(faults(&silent, &changes(&after))[0].1.contains("does not say so"));
        assert!(faults(&honest, &BTreeMap::new())[0].1.contains("not by its commit"));

        let mut other = honest.clone();
        other.effects[0].connections[0].weight.0 = Some(99);
        assert!(faults(&other, &changes(&after))[0].1.contains("before"));

        let gone = BTreeMap::from([(before.id.clone(), (Some(before.clone()), None))]);
        assert!(faults(&honest, &gone)[0].1.contains("removes"));
        assert_eq!(faults(&record(vec![Effect::removal(&before)]), &gone), []);
    }
}
