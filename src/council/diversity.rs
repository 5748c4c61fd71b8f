//! Diversity of votes, measured. A low one lowers the confidence.

use super::ids::rounded;
use super::likeness::Trigrams;
use super::vote::Vote;

/// The weight of the reasonings. Source: seed 3.3.3.
const REASONING_WEIGHT: f64 = 0.7;
/// The weight of the confidences. Source: seed 3.3.3.
const CONFIDENCE_WEIGHT: f64 = 0.3;
/// The factor that brings a variance of confidences, at most .25, to a range up to 1 and above. Source: seed 3.3.3.
const VARIANCE_FACTOR: f64 = 10.0;

/// Diversity of votes, 0..=1: `.7 · mean of (1 − likeness) over pairs of reasonings + .3 · min(10 · variance of confidences, 1)`.
///
/// The variance is that of a population. Fewer than two votes have none: 0. Source: seed 3.3.3, its placeholder .5 replaced by the likeness.
pub fn diversity(votes: &[Vote]) -> f64 {
    if votes.len() < 2 {
        return 0.0;
    }
    let trigrams: Vec<Trigrams> = votes.iter().map(|vote| Trigrams::of(&vote.reasoning)).collect();
    let mut unlikeness = 0.0;
    for (place, one) in trigrams.iter().enumerate() {
        unlikeness += trigrams[place + 1..].iter().map(|other| 1.0 - one.cosine(other)).sum::<f64>();
    }
    let count = votes.len() as f64;
    let pairs = count * (count - 1.0) / 2.0;
    let mean = votes.iter().map(|vote| vote.confidence).sum::<f64>() / count;
    let variance = votes.iter().map(|vote| (vote.confidence - mean).powi(2)).sum::<f64>() / count;
    rounded(REASONING_WEIGHT * unlikeness / pairs + CONFIDENCE_WEIGHT * (VARIANCE_FACTOR * variance).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, votes};
    use super::*;

    fn of(reasonings: &[&str], confidences: &[f64]) -> f64 {
        let members = members(&"xyz"[..reasonings.len()]);
        let mut votes = votes(&members, &"AAA"[..reasonings.len()]);
        for ((vote, reasoning), confidence) in votes.iter_mut().zip(reasonings).zip(confidences) {
            (vote.reasoning, vote.confidence) = ((*reasoning).to_owned(), *confidence);
        }
        diversity(&votes)
    }

    #[test]
    fn diversity_matches_figures_worked_by_hand() {
        assert_eq!(of(&["abc", "abc"], &[0.8, 0.8]), 0.0);
        assert_eq!(of(&["abc", "xyz"], &[0.8, 0.8]), 0.7);
        // One third alike; variance .01 of .7 and .9.
        assert_eq!(of(&["abc", "abd"], &[0.7, 0.9]), 0.496667);
        // Variance .25 is bounded.
        assert_eq!(of(&["abc", "xyz"], &[0.0, 1.0]), 1.0);
        // Of three pairs one is equal.
        assert_eq!(of(&["abc", "abc", "xyz"], &[0.8, 0.8, 0.8]), 0.466667);
        assert_eq!(of(&["abc"], &[0.8]), 0.0);
    }
}
