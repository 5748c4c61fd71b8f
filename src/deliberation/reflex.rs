//! Minds without a model: two algorithms that share no rule, each of which can mine, attack and judge, so that one can be the gardener and the
//! other the skeptic. They are families as models are.
//!
//! - `reflex-lexical` reads the order of memories: which concept was followed by which.
//! - `reflex-structural` reads the ties alone: which concepts stand beside the same others, whatever came when.
//!
//! Both see the older half of the evidence and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::trial::{Evidence, Memory};
use crate::model::Link;
use crate::model::ids::{NeuronId, hash_fields};

/// Memories that one mechanism ties to a concept, at most.
const TIED: usize = 3;
/// The weight of such a tie, of 65535: that of perception's own.
const WEIGHT: u16 = 38_778;
/// Most pairs that are drawn from: the best of all.
const POOL: usize = 64;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// By what followed what.
    Lexical,
    /// By what stands beside the same.
    Structural,
}

impl Algorithm {
    /// The algorithm of a family's name.
    pub fn named(family: &str) -> Option<Self> {
        match family {
            "reflex-lexical" => Some(Self::Lexical),
            "reflex-structural" => Some(Self::Structural),
            _ => None,
        }
    }
}

/// A concept, and another that it should bring to mind.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    from: NeuronId,
    to: NeuronId,
    score: f64,
}

/// What a mechanism says of two concepts, with the delta that would do it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mined {
    /// The concept that is asked by.
    pub from: NeuronId,
    /// The concept that it should bring to mind.
    pub to: NeuronId,
    /// Why, in a sentence.
    pub intuition: String,
    /// The delta document.
    pub payload: Value,
}

/// Mines so many mechanisms from the older half. A larger temperature reaches further down the list; what was refused is not mined again.
pub fn mine(
    algorithm: Algorithm,
    evidence: &Evidence,
    count: usize,
    temperature: f64,
    seed: u64,
    refused: &BTreeSet<(NeuronId, NeuronId)>,
) -> Vec<Mined> {
    let mut pairs = match algorithm {
        Algorithm::Lexical => followed(evidence),
        Algorithm::Structural => beside(evidence),
    };
    pairs.retain(|pair| !refused.contains(&(pair.from.clone(), pair.to.clone())));
    pairs.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to))));
    pairs.truncate(POOL);
    // Gumbel's trick: the greatest of score^(1/T) × noise is a draw without replacement.
    let noise = |pair: &Pair| {
        let hash = hash_fields(&[&seed.to_be_bytes(), pair.from.as_str().as_bytes(), pair.to.as_str().as_bytes()]);
        let uniform = ((hash >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        pair.score.ln() / temperature.max(0.05) - (-uniform.ln()).ln()
    };
    let mut drawn: Vec<(f64, Pair)> = pairs.into_iter().map(|pair| (noise(&pair), pair)).collect();
    drawn.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1.from, &a.1.to).cmp(&(&b.1.from, &b.1.to))));
    let mut mined: Vec<Mined> = Vec::new();
    for (_, pair) in drawn {
        if mined.len() == count {
            break;
        }
        if mined.iter().all(|one| one.from != pair.from) {
            mined.extend(mechanism(evidence, &pair, algorithm));
        }
    }
    mined
}

fn mechanism(evidence: &Evidence, pair: &Pair, algorithm: Algorithm) -> Option<Mined> {
    let without = |memory: &&Memory| memory.concepts.contains(&pair.to) && !memory.concepts.contains(&pair.from);
    let targets: Vec<&Memory> = evidence.older().iter().rev().filter(without).take(TIED).collect();
    if targets.is_empty() {
        return None;
    }
    let ops: Vec<Value> = targets
        .iter()
        .map(|memory| {
            json!({"op": "connect", "from": pair.from, "to": memory.id, "type": Link::FeedsInto, "weight": WEIGHT})
        })
        .collect();
    let (from, to) = (&pair.from, &pair.to);
    let why = match algorithm {
        Algorithm::Lexical => format!("memories with {from} were followed by memories with {to}"),
        Algorithm::Structural => format!("{from} and {to} stand beside the same concepts, and never together"),
    };
    Some(Mined { from: from.clone(), to: to.clone(), intuition: why, payload: json!({"ops": ops}) })
}

/// Pairs by how much more often the second followed the first than it stands in memories anyway.
fn followed(evidence: &Evidence) -> Vec<Pair> {
    let mut support: BTreeMap<(&NeuronId, &NeuronId), f64> = BTreeMap::new();
    for (first, next) in Evidence::pairs(evidence.older()).into_iter().filter(|(a, b)| a.is_of_tree || b.is_of_tree) {
        for from in first.concepts.iter().filter(|concept| evidence.tells(concept)) {
            for to in next.concepts.difference(&first.concepts).filter(|concept| evidence.tells(concept)) {
                *support.entry((from, to)).or_default() += 1.0;
            }
        }
    }
    let all = evidence.older().len() as f64;
    let pairs = support.into_iter().map(|((from, to), support)| {
        let expected = evidence.spread(from) as f64 * evidence.spread(to) as f64 / all;
        Pair { from: from.clone(), to: to.clone(), score: support * support / (expected + 1.0) }
    });
    pairs.collect()
}

/// Pairs that never stand in one memory, by how many of the concepts beside them are the same (Jaccard's index).
fn beside(evidence: &Evidence) -> Vec<Pair> {
    let mut around: BTreeMap<&NeuronId, BTreeSet<&NeuronId>> = BTreeMap::new();
    for memory in evidence.older().iter().filter(|memory| memory.is_of_tree) {
        let telling: Vec<&NeuronId> = memory.concepts.iter().filter(|concept| evidence.tells(concept)).collect();
        for concept in &telling {
            around.entry(concept).or_default().extend(telling.iter().filter(|other| other != &concept));
        }
    }
    let mut pairs = Vec::new();
    for (from, near) in &around {
        for (to, other) in &around {
            let shared = near.intersection(other).count();
            if from != to && shared > 0 && !near.contains(to) {
                let score = shared as f64 / near.union(other).count() as f64;
                pairs.push(Pair { from: (*from).clone(), to: (*to).clone(), score });
            }
        }
    }
    pairs
}

/// What a payload ties: the concept that it is asked by, and the memories.
pub fn ties(payload: &Value) -> Option<(NeuronId, Vec<NeuronId>)> {
    let ops = payload.get("ops")?.as_array()?;
    let end = |op: &Value, field: &str| NeuronId::parse(op.get(field)?.as_str()?).ok();
    let from = end(ops.first()?, "from")?;
    let to = ops.iter().filter_map(|op| end(op, "to")).collect();
    Some((from, to))
}

/// Figures of a payload against the older half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grounds {
    /// The share of the memories with the first concept that the claim fits, 0..=1.
    pub precision: f64,
    /// What that share would be by chance.
    pub expected: f64,
    /// How many memories it fits.
    pub support: usize,
    /// The share of the tied memories that judges alone may see.
    pub ahead: f64,
    /// The share of the ties that are there already.
    pub known: f64,
}

/// Memories on each side of one that count as its surroundings.
const AROUND: usize = 2;

/// Holds a payload against the older half, by one of the two algorithms: whether what the tied memories are about came next, or stood around. A
/// payload of another kind has no grounds.
pub fn grounds(algorithm: Algorithm, evidence: &Evidence, payload: &Value) -> Grounds {
    let Some((from, targets)) = ties(payload).filter(|(_, targets)| !targets.is_empty()) else {
        return Grounds::default();
    };
    let targets: BTreeSet<&NeuronId> = targets.iter().collect();
    let older = evidence.older();
    let tied: Vec<&Memory> = older.iter().filter(|memory| targets.contains(&memory.id)).collect();
    let ahead = evidence.newer().iter().filter(|memory| targets.contains(&memory.id)).count();
    let known = tied.iter().filter(|memory| memory.concepts.contains(&from)).count();
    // What most of the tied memories have in common.
    let mut shared: BTreeMap<&NeuronId, usize> = BTreeMap::new();
    for concept in tied.iter().flat_map(|memory| &memory.concepts).filter(|concept| evidence.tells(concept)) {
        *shared.entry(concept).or_default() += 1;
    }
    let about: BTreeSet<&NeuronId> =
        shared.into_iter().filter(|(_, count)| 2 * count > tied.len()).map(|(concept, _)| concept).collect();
    let is_about = |memory: &Memory| memory.concepts.iter().any(|concept| about.contains(concept));
    let pairs = Evidence::pairs(older);
    let with: Vec<usize> = (0..older.len()).filter(|at| older[*at].concepts.contains(&from)).collect();
    let fits = |at: &&usize| match algorithm {
        Algorithm::Lexical => pairs.iter().any(|(first, next)| first.id == older[**at].id && is_about(next)),
        Algorithm::Structural => {
            let around = at.saturating_sub(AROUND)..(**at + AROUND + 1).min(older.len());
            older[around].iter().any(|memory| memory.session == older[**at].session && is_about(memory))
        }
    };
    let support = with.iter().filter(fits).count();
    let share = older.iter().filter(|memory| is_about(memory)).count() as f64 / older.len().max(1) as f64;
    let looked_at = if algorithm == Algorithm::Lexical { 1 } else { 2 * AROUND + 1 };
    let of = |count: usize, all: usize| if all == 0 { 0.0 } else { count as f64 / all as f64 };
    Grounds {
        precision: of(support, with.len()),
        expected: 1.0 - (1.0 - share).powi(looked_at as i32),
        support,
        ahead: of(ahead, targets.len()),
        known: of(known, targets.len()),
    }
}
