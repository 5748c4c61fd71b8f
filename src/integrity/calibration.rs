//! Calibration: two measures that need hardly a lexicon. Do hedges mean anything, and do stances move without evidence?

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The normal quantile of a two-sided 95 % interval.
const NORMAL: f64 = 1.96;

/// Different predictions that each side needs before anything is said of hedges. Source: Newcombe (1998) tried the interval on groups of 5 to 50.
pub const LEAST: usize = 5;

/// A prediction whose outcome is known. The same words of the same mind are one prediction, however many runs made it: what is
/// said once and judged often is no further evidence of what a hedge means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Whether it was made with reserve.
    pub hedged: bool,
    /// The share of its runs in which it was right, 0..=1.
    pub right: f64,
}

/// What outcomes say of hedges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HedgeMeaning {
    /// A side has fewer than [`LEAST`] different predictions.
    TooFew,
    /// The interval has 0 in it.
    Unknown,
    /// Plain predictions are right more often.
    Meant,
    /// Hedged predictions are right more often.
    Reversed,
}

/// The difference in accuracy between plain and hedged predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HedgeValue {
    /// Different hedged predictions.
    pub hedged: usize,
    /// Different plain predictions.
    pub plain: usize,
    /// P(right | plain) − P(right | hedged), −1..=1. Positive: hedges mean something.
    pub difference: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// What follows from it.
    pub meaning: HedgeMeaning,
}

/// The score interval of a share of `n` at 95 %. Source: Wilson (1927), *Probable inference, the law of succession, and statistical inference*.
fn wilson(share: f64, n: usize) -> (f64, f64) {
    let (n, z2) = (n as f64, NORMAL * NORMAL);
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let reach = NORMAL * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    ((centre - reach).clamp(0.0, share), (centre + reach).clamp(share, 1.0))
}

/// Measures the value of hedges, with the hybrid score interval of a difference of two shares. `None`: a side is empty.
///
/// Source: Newcombe (1998), *Interval estimation for the difference between independent proportions*, method 10. A share of runs counts as one
/// observation, which varies no more than one that is right or wrong: the interval is rather too wide.
pub fn hedge_value(predictions: &[Prediction]) -> Option<HedgeValue> {
    let side = |hedged| {
        let rights: Vec<f64> = predictions.iter().filter(|one| one.hedged == hedged).map(|one| one.right).collect();
        let share = (rights.iter().sum::<f64>() / rights.len() as f64).clamp(0.0, 1.0);
        (!rights.is_empty()).then_some((share, rights.len()))
    };
    let ((hedged, of_hedged), (plain, of_plain)) = (side(true)?, side(false)?);
    let ((hedged_low, hedged_high), (plain_low, plain_high)) = (wilson(hedged, of_hedged), wilson(plain, of_plain));
    let difference = plain - hedged;
    let low = difference - (plain - plain_low).hypot(hedged_high - hedged);
    let high = difference + (plain_high - plain).hypot(hedged - hedged_low);
    let meaning = match (of_hedged.min(of_plain) < LEAST, low > 0.0, high < 0.0) {
        (true, ..) => HedgeMeaning::TooFew,
        (_, true, _) => HedgeMeaning::Meant,
        (.., true) => HedgeMeaning::Reversed,
        _ => HedgeMeaning::Unknown,
    };
    Some(HedgeValue { hedged: of_hedged, plain: of_plain, difference, low, high, meaning })
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
            (0..all).map(move |index| Prediction { hedged, right: if index < right { 1.0 } else { 0.0 } })
        };
        make(true, hedged).chain(make(false, plain)).collect()
    }

    #[test]
    fn difference_of_shares_has_the_interval_of_newcombe() {
        // Examples (a), (b), (d), (e) and (h) of his table II, method 10.
        let cases = [
            ((48, 80), (56, 70), (0.0524, 0.3339)),
            ((3, 10), (9, 10), (0.1705, 0.8090)),
            ((0, 29), (5, 56), (-0.0381, 0.1926)),
            ((0, 20), (0, 10), (-0.1611, 0.2775)),
            ((0, 10), (10, 10), (0.6075, 1.0)),
        ];
        for (hedged, plain, (low, high)) in cases {
            let value = hedge_value(&predictions(hedged, plain)).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 2e-4;
            assert!(near(value.low, low) && near(value.high, high), "{hedged:?} {plain:?}: {value:?}");
        }
    }

    #[test]
    fn hedges_mean_something_only_where_enough_predictions_say_so() {
        let meaning = |hedged, plain| hedge_value(&predictions(hedged, plain)).unwrap().meaning;
        assert_eq!(meaning((40, 100), (80, 100)), HedgeMeaning::Meant);
        assert_eq!(meaning((80, 100), (40, 100)), HedgeMeaning::Reversed);
        assert_eq!(meaning((50, 100), (50, 100)), HedgeMeaning::Unknown);
        assert_eq!(meaning((6, 12), (11, 12)), HedgeMeaning::Meant);
        assert_eq!(meaning((2, 5), (4, 5)), HedgeMeaning::Unknown);
        for few in [((0, 1), (1, 1)), ((0, 1), (16, 16)), ((0, 4), (50, 50))] {
            assert_eq!(meaning(few.0, few.1), HedgeMeaning::TooFew, "{few:?}");
        }
        let first = hedge_value(&predictions((0, 1), (1, 1))).unwrap();
        assert!(first.low < 0.0 && first.high > 0.0, "one of each shows nothing: {first:?}");
        assert_eq!(hedge_value(&predictions((1, 2), (0, 0))), None);
        assert_eq!(hedge_value(&[]), None);
    }

    #[test]
    fn interval_of_any_shares_holds_the_difference_and_stays_in_range() {
        for (n, m) in [(1, 1), (1, 40), (5, 7), (30, 30)] {
            for (a, b) in (0..=n).flat_map(|a| (0..=m).map(move |b| (a, b))) {
                let HedgeValue { difference, low, high, .. } = hedge_value(&predictions((a, n), (b, m))).unwrap();
                let is_in_order = -1.0 - 1e-12 <= low && low <= difference && difference <= high && high <= 1.0 + 1e-12;
                assert!(is_in_order, "{a}/{n} {b}/{m}: {low} {difference} {high}");
            }
        }
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
