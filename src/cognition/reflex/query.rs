//! What a query names in the network, and what that activates: a small propagation over an agent's context.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

use super::proposal::Proposal;
use crate::activation::{ColumnsBuf, Cue, Profile, Propagation, Step, propagate};
use crate::cognition::Network;
use crate::delta::Edge;
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Neuron, Stamp};

/// Words of a query that count; a longer one is a text, not a question.
const WORDS: usize = 64;
/// Words of the longest phrase that is looked up as one concept.
const PHRASE: usize = 4;
/// Neurons fetched beyond the context, and how far from what the query names.
const LOOK_UPS: usize = 256;
const HOPS: u32 = 2;
/// Concepts of one episode that count as strong.
pub(super) const STRONGEST: usize = 4;

/// Words as perception names concepts by them.
fn words(text: &str) -> Vec<String> {
    crate::text::words(text).into_iter().take(WORDS).map(|word| word.key).collect()
}

/// The ids of the concepts that the words and phrases of a text name, or would have, longest phrases first, each once.
pub(super) fn concept_ids(network: &dyn Network, text: &str) -> Vec<NeuronId> {
    let Ok(ids) = concepts_in(&|words| Ok::<_, Infallible>(network.concept_named(words)), text);
    ids
}

/// The same where looking for the neuron of a concept may fail.
///
/// # Errors
/// Those of `concept`.
pub fn concepts_in<E>(concept: &dyn Fn(&str) -> Result<NeuronId, E>, text: &str) -> Result<Vec<NeuronId>, E> {
    let words = words(text);
    let mut ids: Vec<NeuronId> = Vec::new();
    if !text.trim().is_empty() && text.len() <= crate::limits::LABEL_BYTES {
        ids.push(concept(text)?);
    }
    for length in (1..=PHRASE).rev() {
        for phrase in words.windows(length) {
            let id = concept(&phrase.join(" "))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}

/// True for what was said in a conversation and is evidence for nothing.
fn is_talk(neuron: &Neuron) -> bool {
    crate::text::talk::talk(neuron.source.as_deref(), neuron.session.as_deref(), &neuron.concept).is_some()
}

/// What a query brings up.
pub(super) struct Answer {
    /// The neurons it names.
    pub cues: Vec<NeuronId>,
    /// Everything within reach.
    pub neurons: BTreeMap<NeuronId, Neuron>,
    columns: ColumnsBuf,
    propagation: Propagation,
}

impl Answer {
    /// How much a neuron is activated, 0 if not at all or not within reach.
    pub fn strength(&self, id: &NeuronId) -> f64 {
        self.columns.graph().find(id).map_or(0.0, |node| self.propagation.strength(node))
    }

    /// How much other cues activate a neuron within the same reach, each with its strength.
    pub fn strength_by(&self, cues: &[(NeuronId, f64)], at: Stamp, profile: &Profile) -> impl Fn(&NeuronId) -> f64 {
        let graph = self.columns.graph();
        let starts = cues.iter().filter_map(|(id, strength)| Some(Cue::new(graph.find(id)?, *strength)));
        let found = propagate(&graph, &starts.collect::<Vec<_>>(), at, profile);
        move |id| self.columns.graph().find(id).map_or(0.0, |node| found.strength(node))
    }

    /// The connections from what the query names to a neuron, as they are stored; none to what it names itself or does not reach.
    pub fn pathway(&self, id: &NeuronId) -> Vec<Edge> {
        let graph = self.columns.graph();
        let steps = graph.find(id).and_then(|node| self.propagation.path(node)).unwrap_or_default();
        let id = |node| NeuronId::parse(graph.id(node)).expect("invariant: the graph is made of neurons");
        let edge = |step: &Step| match step.link {
            Link::Recalls => Edge { from: id(step.to), to: id(step.from), link: step.link },
            link => Edge { from: id(step.from), to: id(step.to), link },
        };
        steps.iter().map(edge).collect()
    }

    /// What is activated of `kinds`, neither named by the query itself nor talk, strongest first, then by id.
    pub fn ranked(&self, kinds: &[Kind]) -> Vec<(&Neuron, f64)> {
        let graph = self.columns.graph();
        let active = self.propagation.activation.iter().filter(|(_, x)| *x > 0.0);
        let found = active.filter_map(|(node, x)| Some((self.neurons.get(graph.id(*node))?, *x)));
        let mut list: Vec<_> =
            found.filter(|(n, _)| kinds.contains(&n.kind) && !self.cues.contains(&n.id) && !is_talk(n)).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
        list
    }
}

/// Propagates from the concepts that `text` names over the context of the run and what lies around those concepts.
/// `also` names neurons that must be within reach if they exist.
pub(super) fn ask(proposal: &Proposal<'_>, text: &str, also: &[NeuronId], profile: &Profile) -> Answer {
    let snapshot = proposal.snapshot;
    let context = snapshot.neurons.iter().filter(|n| !n.is_archived());
    let mut neurons: BTreeMap<NeuronId, Neuron> = context.map(|n| (n.id.clone(), n.clone())).collect();
    let named = concept_ids(proposal.network, text);
    let mut waiting: VecDeque<(NeuronId, u32)> = named.iter().chain(also).map(|id| (id.clone(), 0)).collect();
    let mut seen: std::collections::BTreeSet<NeuronId> = waiting.iter().map(|(id, _)| id.clone()).collect();
    let mut look_ups = 0;
    while let Some((id, hops)) = waiting.pop_front() {
        if !neurons.contains_key(&id) {
            // Names are always looked up; what lies around them within a bound.
            if hops > 0 && look_ups >= LOOK_UPS {
                continue;
            }
            look_ups += usize::from(hops > 0);
            let Some(neuron) = proposal.live(&id) else { continue };
            neurons.insert(id.clone(), neuron);
        }
        if hops < HOPS {
            for connection in &neurons[&id].connections {
                if connection.weight > 0 && seen.insert(connection.target.clone()) {
                    waiting.push_back((connection.target.clone(), hops + 1));
                }
            }
        }
    }
    let cues: Vec<NeuronId> = named.into_iter().filter(|id| neurons.contains_key(id)).collect();
    let columns = ColumnsBuf::build(neurons.values());
    let graph = columns.graph();
    let starts: Vec<Cue> = cues.iter().filter_map(|id| graph.find(id)).map(|node| Cue::new(node, 1.0)).collect();
    let propagation = propagate(&graph, &starts, snapshot.at, profile);
    Answer { cues, neurons, columns, propagation }
}

/// A concept of an episode, with its activity: salience now as a share of 65535.
pub(super) struct Concept {
    pub neuron: Neuron,
    pub activity: f64,
}

/// The active semantic neurons that an episode lights, strongest first by activity times weight, at most [`STRONGEST`].
pub(super) fn strongest_concepts(proposal: &Proposal<'_>, episode: &NeuronId) -> Vec<Concept> {
    let Some(episode) = proposal.live(episode).filter(|n| n.kind == Kind::Episodic) else { return Vec::new() };
    let mut weights: BTreeMap<&NeuronId, u16> = BTreeMap::new();
    for connection in episode.connections.iter().filter(|c| c.weight > 0 && c.link == Link::FeedsInto) {
        let weight = weights.entry(&connection.target).or_insert(0);
        *weight = connection.weight.max(*weight);
    }
    let mut concepts: Vec<(f64, Concept)> = Vec::new();
    for (target, weight) in weights {
        let Some(neuron) = proposal.live(target).filter(|n| n.kind == Kind::Semantic) else { continue };
        let activity = f64::from(neuron.salience_at(proposal.snapshot.at)) / 65535.0;
        if activity > 0.0 {
            concepts.push((activity * f64::from(weight), Concept { neuron, activity }));
        }
    }
    concepts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.neuron.id.cmp(&b.1.neuron.id)));
    concepts.truncate(STRONGEST);
    concepts.into_iter().map(|(_, concept)| concept).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::{PHRASE, WORDS, concept_ids};
    use crate::model::Kind;
    use crate::model::ids::{NeuronId, concept_id};

    #[test]
    fn phrases_come_before_words_and_nothing_twice() {
        let world = World::new("decision");
        let ids = concept_ids(&world, "Green tea, green TEA?");
        let expected = ["Green tea, green TEA?", "green tea green tea", "green tea green", "tea green tea"];
        assert_eq!(ids[..4], expected.map(concept_id));
        assert_eq!(ids[4..], ["green tea", "tea green", "green", "tea"].map(concept_id));
        assert!(concept_ids(&world, " ").is_empty());
        assert!(concept_ids(&world, &"word ".repeat(5000)).len() <= WORDS * PHRASE);
    }

    #[test]
    fn a_concept_is_found_whatever_its_id() {
        let mut world = World::new("decision");
        world.neuron("drink", "Green Tea", Kind::Semantic, 65535);
        world.neuron("green-tea", "a meadow", Kind::Semantic, 65535);
        let ids = concept_ids(&world, "More green tea!");
        assert!(ids.contains(&NeuronId::parse("drink").unwrap()), "{ids:?}");
        assert!(!ids.contains(&concept_id("green tea")), "the concept has a neuron: {ids:?}");
    }
}
