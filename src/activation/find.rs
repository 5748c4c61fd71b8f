//! Concepts by their words: what a network has a name for.
//!
//! Place in the flow: words of a person → **concepts**, with how much each brings to mind. Memories are recall's.

use super::graph::NodeIx;
use super::index::Index;
use crate::model::Stamp;
use crate::model::ids::NeuronId;
use crate::text;

/// A concept whose words match.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The neuron.
    pub id: NeuronId,
    /// How many of the words asked for match one of its own, by stem or as the beginning of it.
    pub words: usize,
    /// How many memories recall reaches by it.
    pub memories: usize,
    /// Its salience now, 0..=65535.
    pub salience: u16,
}

/// The concepts with exactly these words, by their stems, in the order of their ids.
pub fn called(index: &Index<'_>, words: &str) -> Vec<NeuronId> {
    let stems: Vec<String> = text::words(words).into_iter().map(|word| word.stem).collect();
    let named = index.name(&stems.join(" ")).map(|name| index.concepts_of(name)).unwrap_or_default();
    named.into_iter().filter_map(|node| NeuronId::parse(index.graph.id(node)).ok()).collect()
}

/// The concepts that match some words: first those that match most of them, then those with the fewest other words, then those that
/// most memories share, then by salience and id.
pub fn find(index: &Index<'_>, words: &str, now: Stamp, top: usize) -> Vec<Match> {
    let asked = text::words_in(words, index.language());
    let all_stop = asked.iter().all(|word| word.is_stop);
    let asked: Vec<(Vec<String>, String)> = asked
        .into_iter()
        .filter(|word| all_stop || !word.is_stop)
        .map(|word| (index.forms(&word).stems().map(str::to_owned).collect(), text::fold(&word.key)))
        .collect();
    let mut nodes: Vec<NodeIx> = Vec::new();
    for (stems, beginning) in &asked {
        nodes.extend(stems.iter().flat_map(|stem| index.concepts_with(stem)));
        nodes.extend(index.concepts_starting(beginning));
    }
    nodes.sort_unstable();
    nodes.dedup();
    let matched = |node: &NodeIx| {
        let own = index.stems_in(*node);
        let has = |(stems, beginning): &&(Vec<String>, String)| {
            own.iter().any(|word| stems.iter().any(|stem| stem == word) || word.starts_with(beginning.as_str()))
        };
        let is_form = |word: &&&str| asked.iter().any(|(stems, _)| stems.iter().any(|stem| stem == *word));
        let exact = own.iter().filter(is_form).count();
        (asked.iter().filter(has).count(), own.len() - exact)
    };
    let mut found: Vec<(NodeIx, usize, usize)> = (nodes.iter())
        .map(|node| {
            let (words, others) = matched(node);
            (*node, words, others)
        })
        .collect();
    // To count memories costs a look at each: only where that can still decide.
    found.sort_by_key(|(node, words, others)| (std::cmp::Reverse(*words), *others, index.graph.order(*node)));
    let last = found.get(top.saturating_sub(1)).map(|(_, words, others)| (*words, *others));
    found.retain(|(_, words, others)| {
        last.is_none_or(|(most, least)| *words > most || (*words == most && *others <= least))
    });
    let mut found: Vec<(usize, u64, Match)> = found
        .into_iter()
        .filter_map(|(node, words, others)| {
            let id = NeuronId::parse(index.graph.id(node)).ok()?;
            let salience = index.graph.salience_at(node, now);
            let matched = Match { id, words, memories: index.memories_of(node), salience };
            Some((others, index.graph.order(node), matched))
        })
        .collect();
    found.sort_by_key(|(others, order, found)| {
        let counts = (std::cmp::Reverse(found.memories), std::cmp::Reverse(found.salience));
        (std::cmp::Reverse(found.words), *others, counts, *order)
    });
    found.truncate(top);
    found.into_iter().map(|(.., found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::{Collector, Snapshot};
    use crate::model::{Kind, Neuron};

    fn snapshot() -> Snapshot {
        let mut collector = Collector::default();
        for (id, concept, kind) in [
            ("m1", "Anna: We drank Green Tea in Uji.", Kind::Episodic),
            ("m2", "Ben: the Green Tea from Uji was good, and so were the gardens.", Kind::Episodic),
            ("c1", "green tea", Kind::Semantic),
            ("c2", "tea", Kind::Semantic),
            ("c3", "Uji", Kind::Semantic),
            ("c4", "teapot lid", Kind::Semantic),
            ("c5", "garden", Kind::Semantic),
            ("x1", "tea core", Kind::Core),
        ] {
            collector.add(&Neuron::new(id.parse().unwrap(), concept, kind, Stamp::from_unix(0)));
        }
        Snapshot::build([collector], [7; 20])
    }

    fn found(words: &str, top: usize) -> Vec<(String, usize)> {
        let snapshot = snapshot();
        let found = find(&snapshot.index(), words, Stamp::from_unix(0), top);
        found.into_iter().map(|found| (found.id.to_string(), found.memories)).collect()
    }

    #[test]
    fn concepts_match_by_stem_and_by_beginning() {
        let ids = |words, top| found(words, top).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(ids("tea", 9), ["c2", "c1", "c4"]);
        assert_eq!(ids("Green TEAS", 9), ["c1", "c2"]);
        assert_eq!(ids("gardens", 9), ["c5"]);
        assert_eq!(ids("gar", 9), ["c5"]);
        assert_eq!(ids("tea", 1), ["c2"]);
        assert!(ids("coffee", 9).is_empty() && ids("", 9).is_empty() && ids("tea", 0).is_empty());
    }

    #[test]
    fn the_memories_of_a_concept_are_counted() {
        assert_eq!(found("green tea", 1), [("c1".to_owned(), 2)]);
        assert_eq!(found("uji", 1), [("c3".to_owned(), 2)]);
        assert_eq!(found("garden", 1), [("c5".to_owned(), 1)]);
    }
}
