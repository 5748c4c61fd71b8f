//! What recall looks things up in: the words, names, turns, sessions and speakers of a network's memories.
//!
//! Built from neurons, in memory, never stored, apart from any question. It reads texts again instead of trusting edges alone, so that a concept
//! named by one memory is found in all others, in any form of its words. Must not know questions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::{ColumnsBuf, Graph, NodeIx};
use crate::model::ids::{NeuronId, speaker_id};
use crate::model::{Kind, Link, Neuron, Stamp};
use crate::text::date::{self, Asked, Period};
use crate::text::{self, Language, Word};

/// BM25's saturation and length exponent, as measured on conversations.
const K1: f64 = 0.9;
const B: f64 = 0.4;

/// A memory's place among the memories, ascending by id.
pub(super) type Place = usize;

/// What is kept of an episodic neuron, beside the neuron itself.
pub(super) struct Memory {
    pub neuron: Neuron,
    pub node: NodeIx,
    pub speaker: Option<NeuronId>,
    /// Names that it is linked to, with a weight in 0..=1.
    pub names: Vec<(usize, f64)>,
    /// Memories that it retrieves or brings to mind, with a weight in 0..=1.
    pub turns: Vec<(Place, Link, f64)>,
    /// The day on which it happened, and the times that its text names.
    periods: Vec<Period>,
    /// Content words.
    length: usize,
}

/// A concept that memories share: a phrase, or a word that is written as a name.
pub(super) struct Name {
    /// Its neuron, where there is one.
    pub neuron: Option<NeuronId>,
    pub memories: Vec<(Place, f64)>,
}

/// The words of one session, as if it were one text.
pub(super) struct Session {
    pub memories: Vec<Place>,
    length: usize,
}

/// The index of a network.
pub struct Index {
    columns: ColumnsBuf,
    pub(super) memories: Vec<Memory>,
    pub(super) names: Vec<Name>,
    pub(super) sessions: Vec<Session>,
    /// Neurons that are no memories, for answers that ask for them: semantic ones, ascending by id.
    pub(super) concepts: Vec<Neuron>,
    /// The language of most memories: that of a question that does not show its own.
    pub(super) language: Option<Language>,
    /// (the words of a speaker's name, his neuron)
    pub(super) speakers: Vec<(Vec<String>, NeuronId)>,
    /// Words of the longest name.
    pub(super) longest: usize,
    /// Stem → memories that have it, and how often.
    postings: HashMap<String, Vec<(Place, f64)>>,
    /// Stem → memories that a concept of that stem retrieves without their text having it.
    retrieved: HashMap<String, Vec<(Place, f64)>>,
    /// Stems joined by spaces → name.
    by_stems: HashMap<String, usize>,
    session_of: HashMap<Place, usize>,
    mean_length: f64,
    mean_session: f64,
}

impl Index {
    /// Builds the index. Archived neurons are left out; the order of the neurons does not matter.
    pub fn build(neurons: impl IntoIterator<Item = Neuron>) -> Self {
        let mut neurons: Vec<Neuron> = neurons.into_iter().filter(|n| !n.is_archived()).collect();
        neurons.sort_by(|a, b| a.id.cmp(&b.id));
        neurons.dedup_by(|later, first| later.id == first.id);
        let columns = ColumnsBuf::build(&neurons);
        let mut index = Self {
            columns,
            memories: Vec::new(),
            names: Vec::new(),
            sessions: Vec::new(),
            concepts: Vec::new(),
            language: None,
            speakers: Vec::new(),
            longest: 1,
            postings: HashMap::new(),
            retrieved: HashMap::new(),
            by_stems: HashMap::new(),
            session_of: HashMap::new(),
            mean_length: 1.0,
            mean_session: 1.0,
        };
        for neuron in neurons {
            index.sort_in(neuron);
        }
        index.read_texts();
        index.read_edges();
        index
    }

    pub(super) fn graph(&self) -> Graph<'_> {
        self.columns.graph()
    }

    fn sort_in(&mut self, neuron: Neuron) {
        let Some(node) = self.columns.graph().find(&neuron.id) else { return };
        match neuron.kind {
            Kind::Episodic => {
                let speaker = text::speaker(&neuron.concept).map(|(name, _)| speaker_id(name));
                let (names, turns) = (Vec::new(), Vec::new());
                self.memories.push(Memory { neuron, node, speaker, names, turns, periods: Vec::new(), length: 0 });
            }
            Kind::Contextual if neuron.id == speaker_id(&neuron.concept) => {
                let parts = text::words(&neuron.concept).into_iter().map(|word| word.key).collect();
                self.speakers.push((parts, neuron.id));
            }
            Kind::Semantic => self.concepts.push(neuron),
            _ => {}
        }
    }

    /// Words, sessions, and names wherever they stand in a text.
    fn read_texts(&mut self) {
        let texts: Vec<String> = self.memories.iter().map(|m| said(&m.neuron).to_owned()).collect();
        let words: Vec<Vec<Word<'_>>> = texts.iter().map(|text| text::words(text)).collect();
        let mut languages: BTreeMap<Language, usize> = BTreeMap::new();
        for (place, text) in texts.iter().enumerate() {
            if let Some(language) = text::language(text) {
                *languages.entry(language).or_insert(0) += 1;
            }
            let mut frequency: BTreeMap<&str, f64> = BTreeMap::new();
            for word in &words[place] {
                *frequency.entry(&word.stem).or_insert(0.0) += 1.0;
            }
            for (stem, n) in frequency {
                self.postings.entry(stem.to_owned()).or_default().push((place, n));
            }
            if let Some(day) = date::day_of(self.memories[place].neuron.created_at.unix()) {
                self.memories[place].periods = date::periods(text, day);
                self.memories[place].periods.push(Period::day(day));
            }
            self.memories[place].length = words[place].iter().filter(|word| !word.is_stop).count();
        }
        self.language = languages.into_iter().max_by_key(|(_, n)| *n).map(|(language, _)| language);
        let total: usize = self.memories.iter().map(|m| m.length).sum();
        self.mean_length = (total as f64 / self.memories.len().max(1) as f64).max(1.0);
        self.group_sessions();
        self.find_names(&texts, &words);
    }

    fn group_sessions(&mut self) {
        let mut sessions: BTreeMap<&str, Session> = BTreeMap::new();
        for (place, memory) in self.memories.iter().enumerate() {
            if let Some(label) = &memory.neuron.session {
                let session = sessions.entry(label).or_insert(Session { memories: Vec::new(), length: 0 });
                session.memories.push(place);
                session.length += memory.length;
            }
        }
        self.sessions = sessions.into_values().collect();
        let of = |(at, session): (usize, &Session)| session.memories.iter().map(|m| (*m, at)).collect::<Vec<_>>();
        self.session_of = self.sessions.iter().enumerate().flat_map(of).collect();
        let total: usize = self.sessions.iter().map(|s| s.length).sum();
        self.mean_session = (total as f64 / self.sessions.len().max(1) as f64).max(1.0);
    }

    /// Names are the phrases among concepts, and words that stand capitalised inside sentences more often than not. A
    /// date is none: what happened on one day of the year has nothing to do with what happened on the same one.
    fn find_names(&mut self, texts: &[String], words: &[Vec<Word<'_>>]) {
        let mut keys: BTreeMap<String, Option<NeuronId>> =
            capitalised(texts, words).into_iter().map(|k| (k, None)).collect();
        for concept in self.concepts.iter().filter(|concept| !date::is_date(&concept.concept)) {
            let stems: Vec<String> = text::words(&concept.concept).into_iter().map(|word| word.stem).collect();
            let key = stems.join(" ");
            match keys.get_mut(&key) {
                Some(neuron) => *neuron = neuron.take().or_else(|| Some(concept.id.clone())),
                None if stems.len() > 1 => {
                    self.longest = self.longest.max(stems.len());
                    keys.insert(key, Some(concept.id.clone()));
                }
                None => {}
            }
        }
        keys.retain(|key, _| !date::is_date(key));
        // Longer names first: of two that bring the same, a way names the longer one.
        let mut keys: Vec<(String, Option<NeuronId>)> = keys.into_iter().collect();
        keys.sort_by_key(|(key, _)| std::cmp::Reverse(key.split(' ').count()));
        for (key, neuron) in keys {
            self.by_stems.insert(key, self.names.len());
            self.names.push(Name { neuron, memories: Vec::new() });
        }
        for (place, words) in words.iter().enumerate() {
            let stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
            for name in self.names_in(&stems) {
                self.link(place, name, 1.0);
            }
        }
    }

    /// The names in a row of words: at each word the longest that starts there, and single words only where no longer
    /// name covers them, so that a town in the name of a club is not taken for the town.
    fn names_in(&self, stems: &[&str]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut covered = vec![false; stems.len()];
        for at in 0..stems.len() {
            let ends = (at + 2..=stems.len().min(at + self.longest)).rev();
            if let Some((to, name)) = ends.into_iter().find_map(|to| Some((to, self.name(&stems[at..to])?))) {
                found.insert(name);
                covered[at..to].fill(true);
            }
        }
        let single = (0..stems.len()).filter(|at| !covered[*at]);
        found.extend(single.filter_map(|at| self.name(&stems[at..=at])));
        found
    }

    fn link(&mut self, place: Place, name: usize, weight: f64) {
        raise(&mut self.names[name].memories, place, weight);
        raise(&mut self.memories[place].names, name, weight);
    }

    /// Turn links, and what concepts retrieve by an edge that no text shows.
    fn read_edges(&mut self) {
        let places: HashMap<NodeIx, Place> = self.memories.iter().enumerate().map(|(at, m)| (m.node, at)).collect();
        let follows = |link: Link| matches!(link, Link::FeedsInto | Link::Recalls);
        for place in 0..self.memories.len() {
            let edges = self.columns.graph().spread(self.memories[place].node).filter(|e| follows(e.link));
            let turns = edges.filter_map(|e| Some((*places.get(&e.target)?, e.link, f64::from(e.weight) / 65535.0)));
            let turns = turns.collect();
            self.memories[place].turns = turns;
        }
        let mut links: Vec<(Place, usize, f64)> = Vec::new();
        for concept in &self.concepts {
            let Some(node) = self.columns.graph().find(&concept.id) else { continue };
            let words = text::words(&concept.concept);
            let stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
            let name = self.name(&stems);
            for edge in self.columns.graph().spread(node).filter(|e| follows(e.link)) {
                let Some(&place) = places.get(&edge.target) else { continue };
                let weight = f64::from(edge.weight) / 65535.0;
                if let Some(name) = name {
                    links.push((place, name, weight));
                } else if let [stem] = stems[..]
                    && self
                        .postings
                        .get(stem)
                        .is_none_or(|list| list.binary_search_by_key(&place, |(p, _)| *p).is_err())
                {
                    self.retrieved.entry(stem.to_owned()).or_default().push((place, weight));
                }
            }
        }
        for (place, name, weight) in links {
            self.link(place, name, weight);
        }
    }

    /// The name that is written with these stems.
    pub(super) fn name(&self, stems: &[&str]) -> Option<usize> {
        self.by_stems.get(&stems.join(" ")).copied()
    }

    /// Inverse document frequency of what `found` of `all` texts have (BM25, never negative).
    pub(super) fn idf(found: usize, all: usize) -> f64 {
        let (found, all) = (found as f64, (all as f64).max(found as f64));
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    /// What a word brings to mind: memories with a strength in (0, 1), the saturated frequency of the word in them.
    pub(super) fn word(&self, stem: &str) -> Vec<(Place, f64)> {
        let written = self.postings.get(stem).into_iter().flatten();
        let saturated =
            written.map(|(place, n)| (*place, saturated(*n, self.memories[*place].length, self.mean_length)));
        saturated.chain(self.retrieved.get(stem).into_iter().flatten().copied()).collect()
    }

    /// What a date brings to mind: memories of that time, and those whose texts speak of it.
    pub(super) fn date(&self, asked: &Asked) -> Vec<(Place, f64)> {
        let meets = |memory: &Memory| memory.periods.iter().any(|period| asked.meets(period));
        let places = self.memories.iter().enumerate().filter(|(_, memory)| meets(memory));
        places.map(|(place, _)| (place, 1.0)).collect()
    }

    /// How well each session matches some words, as if it were one text.
    pub(super) fn session_scores(&self, stems: &[&str]) -> Vec<f64> {
        let mut scores = vec![0.0; self.sessions.len()];
        for stem in stems {
            let mut frequency = vec![0.0; self.sessions.len()];
            for (place, n) in self.postings.get(*stem).into_iter().flatten() {
                if let Some(session) = self.session_of.get(place) {
                    frequency[*session] += n;
                }
            }
            let found = frequency.iter().filter(|n| **n > 0.0).count();
            let idf = Self::idf(found, self.sessions.len());
            for (session, n) in frequency.into_iter().enumerate() {
                scores[session] += idf * saturated(n, self.sessions[session].length, self.mean_session);
            }
        }
        scores
    }

    /// When a memory happened.
    pub(super) fn at(&self, place: Place) -> Stamp {
        self.memories[place].neuron.created_at
    }
}

/// Raises the weight of a key in a list that is ascending by key, adding it in its place.
fn raise(list: &mut Vec<(usize, f64)>, key: usize, weight: f64) {
    match list.binary_search_by_key(&key, |(k, _)| *k) {
        Ok(at) => list[at].1 = list[at].1.max(weight),
        Err(at) => list.insert(at, (key, weight)),
    }
}

/// Saturated term frequency of BM25, in [0, 1).
fn saturated(frequency: f64, length: usize, mean: f64) -> f64 {
    frequency / (frequency + K1 * (1.0 - B + B * length as f64 / mean))
}

/// What a memory says, without who said it.
fn said(neuron: &Neuron) -> &str {
    text::speaker(&neuron.concept).map_or(neuron.concept.as_str(), |(_, said)| said)
}

/// Stems of words that stand with a capital inside a sentence more often than without one anywhere.
fn capitalised(texts: &[String], words: &[Vec<Word<'_>>]) -> BTreeSet<String> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for (text, words) in texts.iter().zip(words) {
        for word in words.iter().filter(|word| !word.is_stop) {
            let before = text[..word.start].trim_end_matches([' ', '"', '\'', '(', '«', '“']).chars().last();
            let initial = before.is_none_or(|c| ".!?。！？:：\n".contains(c));
            let first = word.surface.chars().next().unwrap_or(' ');
            let (upper, lower) = counts.entry(&word.stem).or_default();
            *upper += usize::from(first.is_uppercase() && !initial);
            *lower += usize::from(first.is_lowercase());
        }
    }
    counts.into_iter().filter(|(_, (upper, lower))| upper > lower).map(|(stem, _)| stem.to_owned()).collect()
}
