//! The seed bank: what was not examined yet, or promised something, ranked for the next cycle. A rank orders and admits nothing.

use serde::{Deserialize, Serialize};

use super::gates::rounded;
use super::verdict::{Judgement, Proposal};

/// Why a seed is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// The nursery held it.
    Hold,
    /// There was too little to judge it by.
    Dormant,
    /// It was a golden leaf.
    Golden,
}

/// A seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Its key.
    pub key: String,
    /// The tree it lies under.
    pub tree: String,
    /// The tree it came from, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The hypothesis.
    pub proposal: Proposal,
    /// Why it is kept.
    pub kept: Kept,
    /// Its score, 0..=1.
    pub score: f64,
    /// The cycle that kept it first.
    pub since: u64,
    /// What it was judged on last: evidence and rules. On the same it is not judged again, because chance would have another try.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub judged_on: String,
}

/// What a score is made of, each 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Features {
    /// How new.
    pub novelty: f64,
    /// How sound.
    pub logic: f64,
    /// How much is open: the share of its tree's attempts that were no dead leaves.
    pub option: f64,
    /// Whether it came from another tree.
    pub cross_tree: f64,
    /// Whether it says where it holds.
    pub regime: f64,
    /// The share of gates that passed.
    pub evidence: f64,
    /// How much there is to judge it by.
    pub data: f64,
    /// What it costs.
    pub cost: f64,
    /// How likely it leaks.
    pub leakage: f64,
    /// How much of it is there.
    pub redundancy: f64,
}

impl Features {
    /// The figures of a judged hypothesis.
    pub fn of(judgement: &Judgement, proposal: &Proposal, option: f64, is_foreign: bool, evidence: f64) -> Self {
        Self {
            novelty: judgement.novelty,
            logic: judgement.logic,
            option,
            cross_tree: f64::from(u8::from(is_foreign)),
            regime: f64::from(u8::from(!proposal.mechanism.regime_suggestion.trim().is_empty())),
            evidence,
            data: judgement.data,
            cost: judgement.cost,
            leakage: judgement.leakage.max(proposal.mechanism.lookahead_risk),
            redundancy: judgement.redundancy,
        }
    }

    /// .25 novelty + .20 logic + .15 option + .15 cross-tree + .10 regime + .10 evidence + .05 data − .15 cost − .20 leakage − .10 redundancy, held
    /// between 0 and 1. Source: decisions on deliberation.md.
    pub fn score(&self) -> f64 {
        let for_it = 0.25 * self.novelty
            + 0.20 * self.logic
            + 0.15 * self.option
            + 0.15 * self.cross_tree
            + 0.10 * self.regime
            + 0.10 * self.evidence
            + 0.05 * self.data;
        let against = 0.15 * self.cost + 0.20 * self.leakage + 0.10 * self.redundancy;
        rounded((for_it - against).clamp(0.0, 1.0))
    }
}

/// The same, where of several seeds of one proposal the first that is given holds.
pub fn rank_latest(mut seeds: Vec<Seed>, is_closed: impl Fn(&str) -> bool, most: usize) -> Vec<Seed> {
    let mut known = std::collections::BTreeSet::new();
    seeds.retain(|seed| known.insert(seed.key.clone()));
    rank(seeds, is_closed, most)
}

/// The best seeds, best first, each proposal once, without those that are closed: what was rejected or quarantined never comes back.
pub fn rank(mut seeds: Vec<Seed>, is_closed: impl Fn(&str) -> bool, most: usize) -> Vec<Seed> {
    seeds.retain(|seed| !is_closed(&seed.key));
    seeds.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.key, &a.tree).cmp(&(&b.key, &b.tree))));
    let mut kept = std::collections::BTreeSet::new();
    seeds.retain(|seed| kept.insert(seed.key.clone()));
    seeds.truncate(most);
    seeds
}
