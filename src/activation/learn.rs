//! Learning from use: what a committed recall activates.
//!
//! Answers in, operations out; the write rule (decay to the clock, add, saturate, stamp) is the delta's. Must not know who
//! asked, or when. Place in the flow: question → recall → answers → **learn** → one run of `human`.
//!
//! A recall makes what it answered a little more salient, and what led there; weights stay as they are. As recall counts
//! salience with a small exponent, use moves answers that are close to each other and cannot bury what is never asked for.

use std::collections::BTreeMap;

use super::index::Index;
use super::reading::Role;
use super::recall::Found;
use crate::delta::Operation;
use crate::delta::operation::Activate;
use crate::limits;
use crate::model::ids::NeuronId;

/// Strength with which the best answer is activated: an eighth of an episode's when it is new.
const STRENGTH: f64 = 0.1;

/// What a recall teaches: the memories that were answered, each by its share of the best one's activation, and the concepts
/// on their ways, each by the best answer that it led to. Ascending by id; nothing for no answers.
pub fn learn<'f>(index: &Index<'_>, answers: impl Iterator<Item = &'f Found> + Clone) -> Vec<Operation> {
    let best = answers.clone().map(|answer| answer.activation).fold(0.0, f64::max);
    if best <= 0.0 {
        return Vec::new();
    }
    let mut strengths: BTreeMap<NeuronId, f64> = BTreeMap::new();
    let mut raise = |id: &NeuronId, strength: f64| {
        let known = strengths.entry(id.clone()).or_insert(0.0);
        *known = known.max(strength);
    };
    for answer in answers {
        // Thousandths, so that a document reads well.
        let strength = (STRENGTH * answer.activation / best * 1000.0).round() / 1000.0;
        if strength <= 0.0 {
            continue;
        }
        raise(&answer.id, strength);
        for way in &answer.path {
            let led = match way.via {
                "cue" => index.name(&way.at).and_then(|name| index.concepts_of(name).first().copied()),
                _ => NeuronId::parse(&way.at).ok().and_then(|id| index.graph.find(&id)),
            };
            let concept = led.filter(|node| matches!(index.role(*node), Role::Concept | Role::Dated));
            let led = concept.and_then(|node| NeuronId::parse(index.graph.id(node)).ok());
            if let Some(id) = led {
                raise(&id, strength);
            }
        }
    }
    let activate = |(id, strength)| Operation::Activate(Activate { id, strength, at: None });
    strengths.into_iter().map(activate).take(limits::DELTA_OPS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Snapshot;
    use crate::activation::recall::{Filters, answer};
    use crate::model::ids::concept_id;
    use crate::model::{Kind, Neuron, Settings, Stamp};

    fn neuron(id: &str, concept: &str, kind: Kind) -> Neuron {
        Neuron::new(NeuronId::parse(id).unwrap(), concept, kind, Stamp::from_unix(0))
    }

    #[test]
    fn answers_and_the_concepts_that_led_there_are_activated_a_little() {
        let concept = |text: &str| neuron(concept_id(text).as_str(), text, Kind::Semantic);
        let neurons = [
            neuron("e-1", "Blue Harvest\nA film that was directed by Ivo Karlsen.", Kind::Episodic),
            neuron("e-2", "Ivo Karlsen\nHe grew up near a lake.", Kind::Episodic),
            neuron("e-3", "Lunch is ready.", Kind::Episodic),
            concept("blue harvest"),
            concept("ivo karlsen"),
            concept("film"),
            concept("lunch"),
        ];
        let snapshot = Snapshot::of(neurons);
        let index = snapshot.index();
        let answers =
            answer(&index, "Who made Blue Harvest?", Stamp::from_unix(0), &Settings::default(), &Filters::default());
        let ops: BTreeMap<String, f64> = learn(&index, answers.iter())
            .into_iter()
            .map(|op| match op {
                Operation::Activate(activate) => (activate.id.to_string(), activate.strength),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ops["e-1"], STRENGTH, "the best answer");
        assert!(ops["e-2"] > 0.0 && ops["e-2"] < STRENGTH);
        assert!(ops.contains_key(concept_id("ivo karlsen").as_str()), "it led to the second");
        assert!(!ops.contains_key("e-3") && !ops.contains_key(concept_id("lunch").as_str()));
        assert!(ops.values().all(|strength| (0.001..=STRENGTH).contains(strength)));
        assert!(learn(&index, [].iter()).is_empty());
    }
}
