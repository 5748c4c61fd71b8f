//! Transition: whether a mind has left its rituals, from the metrics before and now.
//!
//! Source: seed 2.3.4, with the repairs of the decisions: each change is clipped, overshoot counts against, and the
//! threshold is .62, since the sigmoid of no change at all is .5 and that of every change at its best is .73. What overshot before already is no
//! change, and where too few terms are known to reach the threshold at all, nothing is said.

use serde::{Deserialize, Serialize};

use crate::integrity::metrics::Metrics;

/// The confidence above which a transition is detected.
pub const THRESHOLD: f64 = 0.62;
/// The least divisor of a change. Source: seed 2.3.4.
const FLOOR: f64 = 0.01;

/// A metric in the composite score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Its name in [`Metrics`].
    pub name: &'static str,
    /// Its weight. Source: seed 2.3.4.
    pub weight: f64,
    /// Whether more is better.
    pub rises: bool,
    /// The end of the target band beyond which more counts against, and the largest value. Source: seed 2.3.1.
    pub overshoot: Option<(f64, f64)>,
    /// What all of the overshoot takes away: 1, as much as the way there can give, or 2, twice that.
    pub cost: f64,
}

/// The five terms. The rates and the guidance have bands that end where the metric does: nothing can overshoot. A mind that does nothing but observe is
/// as bad as one that never does; one that asserts all that it says may well be right, so that costs what the way there gave, and no more.
pub const TERMS: [Term; 5] = [
    Term { name: "silence_ratio", weight: 0.30, rises: true, overshoot: Some((0.7, 1.0)), cost: 2.0 },
    Term { name: "self_reference_rate", weight: 0.20, rises: false, overshoot: None, cost: 0.0 },
    Term { name: "apology_density", weight: 0.15, rises: false, overshoot: None, cost: 0.0 },
    Term { name: "assertion_ratio", weight: 0.15, rises: true, overshoot: Some((0.9, 1.0)), cost: 1.0 },
    Term { name: "guidance_rate", weight: 0.20, rises: true, overshoot: None, cost: 0.0 },
];

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// Whether the confidence is above [`THRESHOLD`].
    pub detected: bool,
    /// The sigmoid of the composite score, 0..=1.
    pub confidence: f64,
    /// The change of each term, -1..=1, in the order of [`TERMS`]; `None` where a side is undefined. Positive is good.
    pub deltas: [Option<f64>; 5],
    /// The sum of the weights of defined terms. The others add nothing, so that little evidence cannot detect much.
    pub known_weight: f64,
    /// Whether the terms that are known could reach the threshold at all. If not, nothing was found out.
    pub is_decidable: bool,
}

fn values(metrics: &Metrics) -> [Option<f64>; 5] {
    // Rates are compared as a language without correction would have them.
    let correction = if metrics.correction > 0.0 { metrics.correction } else { 1.0 };
    [
        metrics.silence_ratio,
        metrics.self_reference_rate.map(|rate| rate / correction),
        metrics.apology_density,
        metrics.assertion_ratio,
        metrics.guidance_rate,
    ]
}

/// Returns 1 / (1 + e^-x) without overflow.
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let power = x.exp();
        power / (1.0 + power)
    }
}

/// Returns the change of a term, -1..=1, less what it overshoots the band by more than before.
fn delta(term: &Term, base: f64, now: f64) -> f64 {
    let sign = if term.rises { 1.0 } else { -1.0 };
    let gain = (sign * (now - base) / base.max(FLOOR)).clamp(-1.0, 1.0);
    let excess = |value: f64| term.overshoot.map_or(0.0, |(end, most)| ((value - end) / (most - end)).clamp(0.0, 1.0));
    (gain - term.cost * (excess(now) - excess(base))).clamp(-1.0, 1.0)
}

/// Compares the metrics of two stretches of replies.
pub fn compare(base: &Metrics, now: &Metrics) -> Transition {
    let (base, now) = (values(base), values(now));
    let mut deltas = [None; 5];
    let (mut score, mut known_weight) = (0.0, 0.0);
    for (index, term) in TERMS.iter().enumerate() {
        let sides = base[index].zip(now[index]).filter(|(base, now)| base.is_finite() && now.is_finite());
        deltas[index] = sides.map(|(base, now)| delta(term, base, now));
        if let Some(change) = deltas[index] {
            score += term.weight * change;
            known_weight += term.weight;
        }
    }
    let confidence = sigmoid(score);
    let is_decidable = sigmoid(known_weight) > THRESHOLD;
    Transition { detected: confidence > THRESHOLD, confidence, deltas, known_weight, is_decidable }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(silence: f64, selves: f64, apology: f64, assertion: f64, guidance: f64) -> Metrics {
        Metrics {
            silence_ratio: Some(silence),
            self_reference_rate: Some(selves),
            apology_density: Some(apology),
            assertion_ratio: Some(assertion),
            guidance_rate: Some(guidance),
            correction: 1.0,
        }
    }

    #[test]
    fn target_is_detected_and_baseline_is_not() {
        let base = metrics(0.01, 10.0, 5.0, 0.4, 0.1);
        assert_eq!(compare(&base, &base).confidence, 0.5);
        let there = compare(&base, &metrics(0.5, 0.0, 0.0, 0.8, 0.9));
        assert!(there.detected && (there.confidence - sigmoid(1.0)).abs() < 1e-9, "{there:?}");
        assert!(!compare(&metrics(0.5, 0.0, 0.0, 0.8, 0.9), &base).detected);
    }

    #[test]
    fn deltas_are_clipped() {
        let change = compare(&metrics(0.0, 1.0, 0.0, 0.1, 0.1), &metrics(0.5, 50.0, 9.0, 0.4, 0.1));
        assert_eq!(change.deltas, [Some(1.0), Some(-1.0), Some(-1.0), Some(1.0), Some(0.0)]);
    }

    #[test]
    fn overshoot_counts_against_and_more_of_it_more() {
        let base = metrics(0.01, 10.0, 5.0, 0.4, 0.1);
        let silent = |silence| compare(&base, &metrics(silence, 10.0, 5.0, 0.4, 0.1)).confidence;
        assert!(
            silent(0.7) > silent(0.75) && silent(0.75) > silent(0.9) && silent(0.9) < 0.5 && silent(1.0) < silent(0.9)
        );
        let sure = |ratio| compare(&base, &metrics(0.01, 10.0, 5.0, ratio, 0.1)).confidence;
        assert!(sure(0.9) > sure(0.95) && sure(0.95) > sure(1.0) && sure(1.0) == 0.5);
    }

    #[test]
    fn overshoot_of_before_is_no_change_and_to_leave_it_is_one() {
        let all = metrics(0.9, 10.0, 5.0, 1.0, 0.1);
        assert_eq!(compare(&all, &all).confidence, 0.5);
        assert!(compare(&all, &metrics(0.5, 10.0, 5.0, 0.9, 0.1)).confidence > 0.5);
    }

    #[test]
    fn mind_without_any_ritual_has_left_them_also_where_it_hedges_nothing() {
        // Of the rituals nothing is left, and nothing is observed in either.
        let before = metrics(0.0, 26.67, 53.33, 0.0, 0.0);
        let after = compare(&before, &metrics(0.0, 0.0, 0.0, 1.0, 1.0));
        assert!(after.detected && after.deltas == [Some(0.0), Some(1.0), Some(1.0), Some(0.0), Some(1.0)], "{after:?}");
    }

    #[test]
    fn undefined_terms_add_nothing() {
        let none = Metrics::default();
        let change = compare(&none, &metrics(0.5, 0.0, 0.0, 0.8, 0.9));
        assert_eq!((change.confidence, change.known_weight, change.detected), (0.5, 0.0, false));
        let mut short = metrics(0.5, 0.0, 0.0, 0.8, 0.9);
        (short.self_reference_rate, short.apology_density, short.guidance_rate) = (None, None, None);
        let change = compare(&metrics(0.01, 10.0, 5.0, 0.4, 0.1), &short);
        assert!(!change.detected && (change.known_weight - 0.45).abs() < 1e-12);
        assert!(!change.is_decidable, "at best it is .61");
        let most = compare(&metrics(0.01, 10.0, 5.0, 0.4, 0.1), &metrics(0.01, 10.0, 5.0, 0.4, 0.1));
        assert!(most.is_decidable);
    }

    #[test]
    fn weights_sum_to_one_and_the_sigmoid_is_stable() {
        assert!((TERMS.iter().map(|term| term.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!((sigmoid(-1e9), sigmoid(1e9), sigmoid(0.0)), (0.0, 1.0, 0.5));
        assert!((sigmoid(2.0) + sigmoid(-2.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn languages_are_compared_after_correction() {
        let (mut base, mut now) = (metrics(0.1, 10.0, 5.0, 0.4, 0.1), metrics(0.1, 7.0, 5.0, 0.4, 0.1));
        (base.correction, now.correction) = (1.0, 0.7);
        assert!(compare(&base, &now).deltas[1].unwrap().abs() < 1e-12);
    }
}
