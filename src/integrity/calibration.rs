//! Calibration: two measures that need no lexicon. Do hedges mean anything, and do stances move without evidence?

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::integrity::seeded::SplitMix64;

/// A prediction whose outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Whether it was made with reserve.
    pub hedged: bool,
    /// Whether it came true.
    pub right: bool,
}

/// The difference in accuracy between plain and hedged predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HedgeValue {
    /// Hedged predictions.
    pub hedged: usize,
    /// Plain predictions.
    pub plain: usize,
    /// P(right | plain) − P(right | hedged), −1..=1. Positive: hedges mean something.
    pub difference: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
}

/// Measures the value of hedges, with a percentile bootstrap (Efron 1979) inside each group. `None`: a group is empty or
/// nothing is resampled. With fewer than about ten predictions in a group the interval is too narrow.
pub fn hedge_value(predictions: &[Prediction], resamples: usize, seed: u64) -> Option<HedgeValue> {
    let group = |hedged| predictions.iter().filter(|one| one.hedged == hedged).map(|one| one.right).collect::<Vec<_>>();
    let (hedged, plain) = (group(true), group(false));
    if hedged.is_empty() || plain.is_empty() || resamples == 0 {
        return None;
    }
    let share = |right: usize, group: &[bool]| right as f64 / group.len() as f64;
    let rights = |group: &[bool]| group.iter().filter(|right| **right).count();
    let mut random = SplitMix64::new(seed);
    let mut draw = |group: &[bool]| (0..group.len()).filter(|_| group[random.below(group.len())]).count();
    let mut differences: Vec<f64> =
        (0..resamples).map(|_| share(draw(&plain), &plain) - share(draw(&hedged), &hedged)).collect();
    differences.sort_by(f64::total_cmp);
    let at = |quantile: f64| differences[((resamples - 1) as f64 * quantile).round() as usize];
    Some(HedgeValue {
        hedged: hedged.len(),
        plain: plain.len(),
        difference: share(rights(&plain), &plain) - share(rights(&hedged), &hedged),
        low: at(0.025),
        high: at(0.975),
    })
}

/// A stance on one question at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stance {
    /// The stance, such as `approve`.
    pub value: String,
    /// Ids of the evidence at hand.
    #[serde(default)]
    pub evidence: BTreeSet<String>,
}

/// Changes of stance in a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StanceChanges {
    /// Stances.
    pub stances: usize,
    /// Changes from one to the next.
    pub changes: usize,
    /// Changes with no id that was not there before: a sign of giving in.
    pub unfounded: usize,
}

impl std::ops::AddAssign for StanceChanges {
    fn add_assign(&mut self, other: Self) {
        self.stances += other.stances;
        self.changes += other.changes;
        self.unfounded += other.unfounded;
    }
}

/// Counts changes of stance on one question, oldest first. Evidence is new once: an id seen at any earlier stance, even
/// one that went missing between, founds no change.
pub fn stance_changes(stances: &[Stance]) -> StanceChanges {
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    let mut counted = StanceChanges { stances: stances.len(), ..StanceChanges::default() };
    for (index, stance) in stances.iter().enumerate() {
        let has_grown = stance.evidence.iter().any(|id| !seen.contains(id));
        if index > 0 && stances[index - 1].value != stance.value {
            counted.changes += 1;
            counted.unfounded += usize::from(!has_grown);
        }
        seen.extend(&stance.evidence);
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictions(hedged: (usize, usize), plain: (usize, usize)) -> Vec<Prediction> {
        let make = |hedged, (right, all): (usize, usize)| {
            (0..all).map(move |index| Prediction { hedged, right: index < right })
        };
        make(true, hedged).chain(make(false, plain)).collect()
    }

    #[test]
    fn hedges_that_mean_something_have_an_interval_above_zero() {
        let value = hedge_value(&predictions((40, 100), (80, 100)), 2_000, 7).unwrap();
        assert!((value.difference - 0.4).abs() < 1e-12);
        // The normal interval: 0.4 ± 1.96 · √(.24/100 + .16/100) = 0.4 ± 0.124.
        assert!((value.low - 0.276).abs() < 0.03 && (value.high - 0.524).abs() < 0.03, "{value:?}");
        assert_eq!(
            hedge_value(&predictions((40, 100), (80, 100)), 2_000, 7),
            Some(value),
            "equal seeds, equal figures"
        );
    }

    #[test]
    fn hedges_that_mean_nothing_have_an_interval_around_zero() {
        let value = hedge_value(&predictions((50, 100), (50, 100)), 1_000, 3).unwrap();
        assert!(value.difference == 0.0 && value.low < 0.0 && value.high > 0.0);
        assert_eq!(hedge_value(&predictions((1, 2), (0, 0)), 1_000, 3), None);
        assert_eq!(hedge_value(&[], 1_000, 3), None);
    }

    #[test]
    fn changes_need_evidence_never_seen_before() {
        let stance = |value: &str, ids: &[&str]| Stance {
            value: value.to_owned(),
            evidence: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let sequence = [
            stance("yes", &["a"]),
            stance("no", &["a"]),
            stance("yes", &["a", "b"]),
            stance("yes", &[]),
            stance("no", &["b"]),
            stance("maybe", &["c"]),
        ];
        assert_eq!(stance_changes(&sequence), StanceChanges { stances: 6, changes: 4, unfounded: 2 });
        assert_eq!(stance_changes(&[]), StanceChanges::default());
    }
}
