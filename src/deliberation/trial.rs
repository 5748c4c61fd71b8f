//! What a candidate is measured on: the memories of a tree, the older half to learn from and the newer half to be judged by.
//!
//! A probe asks recall with the words of one memory, and looks whether older memories come back that have to do with what came next:
//! with concepts of the next memory that the question did not have. What counts is the activation that lies on them and not their places: a place moves by
//! chance with whatever stands around it. A candidate that knows what follows what raises that, also in
//! the half that nobody mined; a candidate that learnt its own examples by heart does not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::Stamp;
use crate::model::ids::{NeuronId, hash_fields};

/// Words of a question.
const WORDS: usize = 24;
/// Answers that a probe looks at.
pub const ANSWERS: usize = 20;
/// Most probes of one half that a candidate touches, the newest of them.
const TOUCHED: usize = 48;
/// Probes of one half beside those: what a candidate spoils.
const BESIDE: usize = 16;

/// A memory of a tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// The neuron.
    pub id: NeuronId,
    /// What it says.
    pub text: String,
    /// The conversation or document that it is of.
    pub session: Option<String>,
    /// When it happened.
    pub at: Stamp,
    /// The concepts that it leads to, by id.
    pub concepts: BTreeSet<NeuronId>,
    /// Whether it is of the tree; the others are there to measure by.
    pub is_of_tree: bool,
    /// Its place in what the words of the tree recall, the best first.
    #[serde(skip)]
    pub place: usize,
    /// The memory that it followed in its session, as the network ties turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<NeuronId>,
}

/// One question, and what its answer should have to do with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The words that recall is asked.
    pub question: String,
    /// Concepts of the memory that came next, which the question has not, each with its rarity.
    pub wanted: BTreeMap<NeuronId, f64>,
    /// The memories that the question and its answer were made of: they are no answers.
    pub aside: [NeuronId; 2],
}

/// The memories of a tree in the order of time, in two halves.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    memories: Vec<Memory>,
    /// Of each concept, how many memories of the older half have it.
    spread: BTreeMap<NeuronId, usize>,
}

impl Evidence {
    /// Orders memories by time, session and id.
    pub fn new(mut memories: Vec<Memory>) -> Self {
        memories.sort_by(|a, b| (a.at, &a.session, &a.id).cmp(&(b.at, &b.session, &b.id)));
        memories.dedup_by(|a, b| a.id == b.id);
        let half = memories.len() / 2;
        let mut spread = BTreeMap::new();
        for concept in memories[..half].iter().flat_map(|memory| &memory.concepts) {
            *spread.entry(concept.clone()).or_default() += 1;
        }
        Self { memories, spread }
    }

    /// The hash of all that is measured on, so that a record says on what it was.
    pub fn hash(&self) -> String {
        let fields: Vec<&[u8]> =
            self.memories.iter().flat_map(|memory| [memory.id.as_str().as_bytes(), memory.text.as_bytes()]).collect();
        format!("{:016x}", hash_fields(&fields))
    }

    /// The half that candidates may be mined from.
    pub fn older(&self) -> &[Memory] {
        &self.memories[..self.memories.len() / 2]
    }

    /// Memories of the older half for a mind that has room for few: those that the words of the tree recall, best first, each with the one that came
    /// next, and then the newest of the others. In the order of time.
    pub fn told(&self, most: usize) -> Vec<&Memory> {
        let older = self.older();
        let next: BTreeMap<&NeuronId, &Memory> =
            Self::pairs(older).into_iter().map(|(first, next)| (&first.id, next)).collect();
        let mut recalled: Vec<&Memory> = older.iter().filter(|memory| memory.is_of_tree).collect();
        recalled.sort_by_key(|memory| memory.place);
        let with_next =
            recalled.into_iter().flat_map(|memory| std::iter::once(memory).chain(next.get(&memory.id).copied()));
        let mut told: BTreeSet<&NeuronId> = BTreeSet::new();
        for memory in with_next.chain(older.iter().rev()) {
            if told.len() == most {
                break;
            }
            told.insert(&memory.id);
        }
        older.iter().filter(|memory| told.contains(&memory.id)).collect()
    }

    /// The half that judges alone see.
    pub fn newer(&self) -> &[Memory] {
        &self.memories[self.memories.len() / 2..]
    }

    /// Every memory.
    pub fn all(&self) -> &[Memory] {
        &self.memories
    }

    /// Pairs of memories of a half, the second of which came next: by the network's own ties between turns, and among memories without a session
    /// by time.
    pub fn pairs(half: &[Memory]) -> Vec<(&Memory, &Memory)> {
        let by: BTreeMap<&NeuronId, &Memory> = half.iter().map(|memory| (&memory.id, memory)).collect();
        let mut pairs = Vec::new();
        for (at, next) in half.iter().enumerate() {
            let first = match &next.after {
                Some(first) => by.get(first).copied(),
                None => at
                    .checked_sub(1)
                    .map(|at| &half[at])
                    .filter(|first| next.session.is_none() && first.session.is_none()),
            };
            pairs.extend(first.map(|first| (first, next)));
        }
        pairs
    }

    /// Whether a concept tells memories apart: more than one memory of the older half has it, and not more than a fifth.
    pub fn tells(&self, concept: &NeuronId) -> bool {
        let most = (self.older().len() / 5).max(3);
        self.spread.get(concept).is_some_and(|spread| (2..=most).contains(spread))
    }

    /// How many memories of the older half have a concept.
    pub fn spread(&self, concept: &NeuronId) -> usize {
        self.spread.get(concept).copied().unwrap_or(0)
    }

    /// The probes of a half for a candidate that names these neurons: those whose question has one of them, and some others, the newest first.
    pub fn probes(&self, half: &[Memory], named: &BTreeSet<NeuronId>) -> Vec<Probe> {
        let (mut touched, mut beside) = (Vec::new(), Vec::new());
        for (first, next) in Self::pairs(half).into_iter().rev() {
            let probes = if first.concepts.is_disjoint(named) { &mut beside } else { &mut touched };
            let new = next.concepts.difference(&first.concepts).filter(|concept| self.tells(concept));
            let rarity = |concept: &NeuronId| (self.older().len() as f64 / self.spread(concept) as f64).ln();
            let wanted: BTreeMap<NeuronId, f64> = new.map(|concept| (concept.clone(), rarity(concept))).collect();
            if !wanted.is_empty() {
                probes.push(Probe {
                    question: first.text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" "),
                    wanted,
                    aside: [first.id.clone(), next.id.clone()],
                });
            }
        }
        touched.truncate(TOUCHED);
        beside.truncate(BESIDE);
        // A candidate that no question touches cannot be measured.
        if touched.is_empty() {
            return Vec::new();
        }
        touched.append(&mut beside);
        touched
    }

    /// What an answer to a probe is worth, 0 to 1: the share of the answers' activation that lies on older memories with what is wanted, the wanted
    /// concepts weighted by rarity. Newer memories, and those that are no evidence, take no place.
    pub fn worth(&self, probe: &Probe, answers: &[(NeuronId, f64)]) -> f64 {
        let older: BTreeMap<&NeuronId, &Memory> = self.older().iter().map(|memory| (&memory.id, memory)).collect();
        let counts = |id: &NeuronId| older.contains_key(id) && !probe.aside.contains(id);
        let counted: Vec<&(NeuronId, f64)> = answers.iter().filter(|(id, _)| counts(id)).take(ANSWERS).collect();
        let (mut all, mut got) = (0.0, 0.0);
        let wanted: f64 = probe.wanted.values().sum();
        for (id, activation) in counted {
            let has = |concept: &NeuronId| older.get(id).is_some_and(|memory| memory.concepts.contains(concept));
            let rarity: f64 = probe.wanted.iter().filter(|(concept, _)| has(concept)).map(|(_, rarity)| rarity).sum();
            all += activation;
            got += activation * rarity;
        }
        if all > 0.0 && wanted > 0.0 { got / (all * wanted) } else { 0.0 }
    }
}
