//! A part of a run: the operations that are about some neurons, with what they need and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::belief::numbered;
use crate::delta::{Operation, RunRecord};
use crate::model::Kind;
use crate::model::ids::NeuronId;

/// The numbers of the operations, from 1, that make and change the named neurons. Concepts, speakers and sessions that these lead to come
/// along, made alone; of memories that the run makes beside them nothing does, and ties to those stay out.
pub fn part_of(record: &RunRecord, named: &BTreeSet<NeuronId>) -> Vec<usize> {
    let made: BTreeMap<&NeuronId, Kind> =
        record.effects.iter().filter_map(|effect| effect.created.as_deref()).map(|new| (&new.id, new.kind)).collect();
    let mut by_number: BTreeMap<usize, BTreeSet<NeuronId>> = BTreeMap::new();
    for (id, numbers) in numbered(record) {
        for number in numbers {
            by_number.entry(number).or_default().insert(id.clone());
        }
    }
    let (mut part, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for (at, op) in record.ops.iter().enumerate() {
        let about = by_number.get(&(at + 1));
        if !about.is_some_and(|ids| ids.iter().any(|id| named.contains(id))) {
            continue;
        }
        if let Some(to) = end_of(op).filter(|to| !named.contains(*to)) {
            match made.get(to) {
                Some(Kind::Semantic | Kind::Contextual) => drop(needed.insert(to.clone())),
                Some(_) => continue,
                None => {}
            }
        }
        part.insert(at + 1);
    }
    for (at, op) in record.ops.iter().enumerate() {
        let makes = matches!(op, Operation::Create(_));
        let about = by_number.get(&(at + 1));
        if makes && about.is_some_and(|ids| ids.iter().any(|id| needed.contains(id))) {
            part.insert(at + 1);
        }
    }
    part.into_iter().collect()
}

/// The neuron that an operation ties to.
fn end_of(op: &Operation) -> Option<&NeuronId> {
    match op {
        Operation::Connect(op) => Some(&op.to),
        Operation::Adjust(op) => Some(&op.to),
        Operation::Disconnect(edge) => Some(&edge.to),
        _ => None,
    }
}
