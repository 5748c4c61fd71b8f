//! What a run quotes: texts of little trust that stand in what it writes, though nothing of little trust woke it.
//!
//! A rule obeys no text, so what it looks up does not taint it; but its signals, answers, goals and predictions may name what it found.
//! A person's outcome, goal or restored neuron may as well. The run that quotes is trusted no further than what it quotes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::CycleError;
use super::jobs::all_of;
use super::network::TreeNetwork;
use crate::delta::{Applied, Document, Lookup, Operation};
use crate::model::Origin;
use crate::model::ids::{NeuronId, RunId};
use crate::model::origin::Origins;

/// From words to the neuron that has them as its concept.
pub(super) type Named<'a> = &'a dyn Fn(&str) -> Result<NeuronId, CycleError>;

/// The origin of what a rule's document quotes, beside what the rule was `given`: the payloads of its signals.
pub(super) fn by_rule<'g>(
    document: &Document,
    given: impl Iterator<Item = &'g Value>,
    network: &TreeNetwork<'_>,
    origins: &Origins,
    named: Named<'_>,
) -> Result<Origin, CycleError> {
    let mut known = BTreeSet::new();
    given.for_each(|payload| texts(payload, &mut known));
    let mut said = BTreeSet::new();
    for op in &document.ops {
        match op {
            Operation::Signal(op) => texts(&op.payload, &mut said),
            Operation::Acknowledge(op) => texts(&op.payload, &mut said),
            Operation::Flag(op) => phrases(&op.reason, &mut said),
            Operation::Goal(op) => phrases(&op.text, &mut said),
            _ => {}
        }
    }
    if let Some(prediction) = &document.prediction {
        prediction.text.iter().for_each(|text| phrases(text, &mut said));
    }
    let mut quoted = vec![by_hand(document, network, origins)?];
    for phrase in said.difference(&known) {
        let by_id = NeuronId::parse(phrase).ok().map(|id| network.neuron(&id)).transpose()?.flatten();
        let neuron = match by_id {
            Some(neuron) => Some(neuron),
            None => network.neuron(&named(phrase)?)?,
        };
        quoted.extend(neuron.map(|neuron| neuron.origin).filter(|origin| origins.is_tainted(origin)));
    }
    Ok(all_of(quoted))
}

/// The origin of what a document takes up: runs whose outcome it enters, goals that others set, and their neurons.
pub fn by_hand(document: &Document, network: &TreeNetwork<'_>, origins: &Origins) -> Result<Origin, CycleError> {
    let mut runs: Vec<RunId> = Vec::new();
    let mut quoted = Vec::new();
    for op in &document.ops {
        match op {
            Operation::Outcome(op) => runs.push(op.run.clone()),
            Operation::Wisdom(op) => runs.extend(op.seeds.iter().flat_map(|seed| seed.sources.iter().cloned())),
            Operation::Goal(op) => {
                let set = Lookup::goal(network, &op.goal_id())?;
                runs.extend(set.filter(|goal| goal.text == op.text).and_then(|goal| goal.run));
                let neuron = op.neuron.as_ref().map(|id| network.neuron(id)).transpose()?.flatten();
                quoted.extend(neuron.map(|neuron| neuron.origin).filter(|origin| origins.is_tainted(origin)));
            }
            _ => {}
        }
    }
    for run in runs {
        quoted.extend(network.origin_of(&run)?.filter(|origin| origins.is_tainted(origin)));
    }
    Ok(all_of(quoted))
}

/// The origin of the neurons whose text the record of a run has: those that it makes as they were, and those that it calls otherwise.
pub fn by_effects(applied: &Applied, origins: &Origins) -> Origin {
    let told = applied.neurons.values().filter_map(|(before, after)| match before {
        None => Some(&after.origin),
        Some(before) => (before.concept != after.concept).then_some(&before.origin),
    });
    all_of(told.filter(|origin| origins.is_tainted(origin)).cloned())
}

/// The texts of a payload, whole and in phrases.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => phrases(text, found),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// A text, and its parts between commas and inside quotation marks.
fn phrases(text: &str, found: &mut BTreeSet<String>) {
    let parts = text.split(", ").chain(text.split('"')).map(str::trim);
    found.extend(std::iter::once(text).chain(parts).filter(|part| !part.is_empty()).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        let mut found = BTreeSet::new();
        texts(&serde_json::json!({"a": ["tea, green tea"], "b": {"text": "reach \"kettle\""}, "n": 3}), &mut found);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["green tea", "kettle", "reach", "reach \"kettle\"", "tea", "tea, green tea"]);
    }
}
