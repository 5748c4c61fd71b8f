//! The gap: how far a story is from the ledger, as one figure and its parts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Claim, Feeling, millionth};
use crate::delta::LedgerEntry;
use crate::model::ids::RunId;

/// How far a story is from the ledger. Every part is 0..=1, and 0 is the ledger itself.
///
/// The total is the greatest part and not their mean: otherwise many true claims would buy one lie. A story none of whose
/// claims names an entry has no anchor, and its total is 1. What the text says in words is not measured; only what it claims.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// The greatest of the parts; 1 without any anchor.
    pub total: f64,
    /// Mean of |told − actual outcome| over the claims that name an entry.
    pub told: f64,
    /// |told confidence − calibrated|.
    pub confidence: f64,
    /// Half of |told mood − measured mood|: moods lie within -1 and 1.
    pub mood: f64,
    /// The share of claims that name no entry of those covered.
    pub unanchored: f64,
    /// The share of entries with a negative error that no claim names.
    pub left_out: f64,
}

/// What a story says in figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told<'a> {
    /// The mood, -1..=1.
    pub mood: f64,
    /// The confidence, 0..=1.
    pub confidence: f64,
    /// Its claims.
    pub claims: &'a [Claim],
}

impl Gap {
    /// Whether the story is further from the ledger than `alarm`.
    pub fn is_alarming(&self, alarm: f64) -> bool {
        self.total > alarm
    }
}

/// The gap between a story and the entries that it covers. A run that was judged twice counts as it was judged last.
pub fn gap(told: Told<'_>, entries: &[LedgerEntry], feeling: Feeling) -> Gap {
    let outcomes: BTreeMap<&RunId, f64> = entries.iter().map(|e| (&e.judged, e.outcome.value)).collect();
    let anchored: Vec<(&RunId, f64)> = told
        .claims
        .iter()
        .filter_map(|claim| {
            let judged = claim.judged.as_ref()?;
            Some((judged, (claim.value - outcomes.get(judged)?).abs()))
        })
        .collect();
    let named: std::collections::BTreeSet<&RunId> = anchored.iter().map(|(judged, _)| *judged).collect();
    let negative = || entries.iter().filter(|e| e.error < 0.0);
    let left_out = negative().filter(|e| !named.contains(&e.judged)).count();
    let far: f64 = anchored.iter().map(|(_, distance)| distance).sum();
    let mut gap = Gap {
        total: 0.0,
        told: millionth(share(far, anchored.len())),
        confidence: millionth((told.confidence - feeling.calibrated).abs()),
        mood: millionth((told.mood - feeling.mood).abs() / 2.0),
        unanchored: millionth(share((told.claims.len() - anchored.len()) as f64, told.claims.len())),
        left_out: millionth(share(left_out as f64, negative().count())),
    };
    let parts = [gap.told, gap.confidence, gap.mood, gap.unanchored, gap.left_out];
    gap.total = if anchored.is_empty() { 1.0 } else { parts.into_iter().fold(0.0, f64::max) };
    gap
}

fn share(part: f64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { (part / of as f64).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{entry, judged};
    use super::*;

    fn claim(number: u32, value: f64) -> Claim {
        Claim { judged: Some(judged(number)), value }
    }

    fn of(claims: &[Claim], entries: &[LedgerEntry]) -> Gap {
        let feeling = Feeling { mood: 0.2, calibrated: 0.6, evidence: 4.0 };
        gap(Told { mood: 0.2, confidence: 0.6, claims }, entries, feeling)
    }

    #[test]
    fn the_ledger_itself_has_no_gap_and_each_lie_is_a_part_of_its_own() {
        let entries = [entry(1, 0.7, 0.4), entry(2, 0.5, 0.9)];
        let truth = [claim(1, 0.4), claim(2, 0.9)];
        assert_eq!(of(&truth, &entries).total, 0.0);
        let rosy = of(&[claim(1, 0.8), claim(2, 0.9)], &entries);
        assert_eq!((rosy.told, rosy.total), (0.2, 0.2));
        let silent = of(&[claim(2, 0.9)], &entries);
        assert_eq!((silent.left_out, silent.total), (1.0, 1.0));
        assert_eq!(of(&[claim(1, 0.4)], &entries).total, 0.0, "what went well may be left out");
        let invented = of(&[claim(1, 0.4), claim(2, 0.9), claim(9, 1.0), Claim { judged: None, value: 1.0 }], &entries);
        assert_eq!((invented.unanchored, invented.total), (0.5, 0.5));
        let feeling = Feeling { mood: -0.4, calibrated: 0.3, evidence: 4.0 };
        let proud = gap(Told { mood: 0.6, confidence: 0.9, claims: &truth }, &entries, feeling);
        assert_eq!((proud.mood, proud.confidence, proud.total), (0.5, 0.6, 0.6));
        let humble = gap(Told { mood: -0.4, confidence: 0.0, claims: &truth }, &entries, feeling);
        assert_eq!(humble.total, 0.3, "too little is a gap as well");
    }

    #[test]
    fn a_story_with_no_anchor_is_as_far_as_can_be() {
        let entries = [entry(2, 0.5, 0.9)];
        for (claims, entries) in [(&[][..], &entries[..]), (&[claim(9, 0.9)], &entries), (&[claim(2, 0.9)], &[])] {
            let gap = of(claims, entries);
            assert!(gap.total == 1.0 && gap.is_alarming(0.25), "{claims:?}: {gap:?}");
        }
        assert!(!of(&[claim(2, 0.9)], &entries).is_alarming(0.0), "the bound itself raises no alarm");
    }

    #[test]
    fn a_run_that_was_judged_twice_counts_as_judged_last() {
        let mut again = entry(2, 0.7, 0.9);
        again.judged = judged(1);
        assert_eq!(of(&[claim(1, 0.9)], &[entry(1, 0.7, 0.4), again]).total, 0.0);
    }
}
