//! Learning from use: what a committed recall activates.
//!
//! Answers in, operations out; the write rule (decay to the clock, add, saturate, stamp) is the delta's. Must not know who
//! asked, or when. Place in the flow: question → recall → answers → **learn** → one run of `human`, whose prediction is the ways that
//! led to the answers: an outcome of that run credits them.
//!
//! A recall makes what it answered a little more salient, and what led there; weights stay as they are. As recall counts
//! salience with a small exponent, use moves answers that are close to each other and cannot bury what is never asked for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::graph::{NodeIx, Spread};
use super::index::Index;
use super::reading::Role;
use super::recall::{Found, Way};
use crate::delta::operation::Activate;
use crate::delta::{Edge, Operation};
use crate::limits;
use crate::model::Link;
use crate::model::ids::{NeuronId, concept_id};

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

/// The connections on the ways to the answers, the way of the best one last, each once: what a recall relies on. A hop that is no
/// connection of the network (a word that a memory only has in its text) is none here either.
pub fn ways<'f>(index: &Index<'_>, answers: impl DoubleEndedIterator<Item = &'f Found>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for answer in answers.rev() {
        let way: Vec<Edge> = answer.path.windows(2).filter_map(|hop| hop_edge(index, &hop[0], &hop[1])).collect();
        // What a better answer relies on as well stands with that one.
        edges.retain(|edge| !way.contains(edge));
        edges.extend(way);
    }
    let worst = edges.len().saturating_sub(limits::CREDITED_EDGES);
    edges.split_off(worst)
}

/// The connection along which one step of a way follows the other, as it is stored: of several the strongest.
fn hop_edge(index: &Index<'_>, from: &Way, to: &Way) -> Option<Edge> {
    let (sources, target) = (nodes_at(index, from), *nodes_at(index, to).first()?);
    let named = Link::ALL.iter().copied().find(|link| link.as_str() == to.via);
    let carries = |link: Link| named.map_or(matches!(link, Link::Recalls | Link::FeedsInto), |named| link == named);
    let leads = |hop: &Spread| hop.target == target && hop.weight > 0 && carries(hop.link);
    let from = |source: NodeIx| index.graph.spread(source).filter(leads).map(move |hop| (source, hop));
    let hops = sources.into_iter().flat_map(from);
    let (source, hop) = hops.max_by_key(|(source, hop)| (hop.weight, hop.link, Reverse(index.graph.order(*source))))?;
    let id = |node: NodeIx| NeuronId::parse(index.graph.id(node)).ok();
    // `recalls` is stored on what it leads to.
    let (from, to) = if hop.link == Link::Recalls { (id(target)?, id(source)?) } else { (id(source)?, id(target)?) };
    Some(Edge { from, to, link: hop.link })
}

/// The neuron of a step; of a cue, which is known by its stem, the concepts that its words can be.
fn nodes_at(index: &Index<'_>, way: &Way) -> Vec<NodeIx> {
    if way.via != "cue" {
        return NeuronId::parse(&way.at).ok().and_then(|id| index.graph.find(&id)).into_iter().collect();
    }
    let named = index.name(&way.at).and_then(|name| index.concepts_of(name).first().copied());
    let spelt = || index.graph.find(&concept_id(&way.at));
    let mut nodes: Vec<NodeIx> = named.or_else(spelt).into_iter().collect();
    nodes.extend(index.concepts_with(&way.at));
    nodes
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
    fn the_ways_are_connections_as_they_are_stored_the_best_answers_last() {
        let link = |from: &mut Neuron, to: &str, weight| {
            for link in [Link::Recalls, Link::FeedsInto] {
                from.set_weight(&NeuronId::parse(to).unwrap(), link, weight);
            }
        };
        let mut episodes = [
            neuron("e-1", "Anna drinks tea.", Kind::Episodic),
            neuron("e-2", "Tea, tea and only tea.", Kind::Episodic),
            neuron("e-3", "It is cold.", Kind::Episodic),
        ];
        let tea = concept_id("tea");
        link(&mut episodes[0], tea.as_str(), 30_000);
        link(&mut episodes[1], tea.as_str(), 50_000);
        link(&mut episodes[2], "e-2", 36_000);
        let [a, b, c] = episodes;
        let snapshot = Snapshot::of([a, b, c, neuron(tea.as_str(), "tea", Kind::Semantic)]);
        let index = snapshot.index();
        let found = answer(&index, "tea?", Stamp::from_unix(0), &Settings::default(), &Filters::default());
        let edges = ways(&index, found.iter());
        let shown: Vec<String> = edges.iter().map(|e| format!("{} {} {}", e.from, e.link, e.to)).collect();
        let recalls = |from: &str, to: &str| format!("{from} recalls {to}");
        // The third is reached along the turn behind the second.
        let expected = [recalls("e-3", "e-2"), recalls("e-1", tea.as_str()), recalls("e-2", tea.as_str())];
        assert_eq!(shown, expected, "{found:?}");
        assert!(ways(&index, [].iter()).is_empty());
    }

    #[test]
    fn a_cue_is_known_by_its_stem_and_its_concept_by_its_word() {
        let grows = concept_id("grows");
        let mut episode = neuron("e-1", "Anna grows it.", Kind::Episodic);
        episode.set_weight(&grows, Link::Recalls, 30_000);
        let snapshot = Snapshot::of([episode, neuron(grows.as_str(), "grows", Kind::Semantic)]);
        let index = snapshot.index();
        let found = answer(&index, "Who is growing?", Stamp::from_unix(0), &Settings::default(), &Filters::default());
        let edges = ways(&index, found.iter());
        assert_eq!(edges.len(), 1, "{found:?}");
        assert_eq!((edges[0].from.as_str(), &edges[0].to), ("e-1", &grows));
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
