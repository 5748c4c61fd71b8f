//! How good predictions are, for people: errors and calibration, from the ledger alone.

use serde::{Deserialize, Serialize};

use crate::delta::LedgerEntry;

/// Bins of a calibration, each a tenth of the scale.
const BINS: usize = 10;

/// Stated predictions that a calibration needs before anything is said of it: fewer fill no bin twice.
pub const LEAST_STATED: usize = 10;

/// The normal quantile of a two-sided 95 % interval.
const NORMAL: f64 = 1.96;

/// Predictions of a bin up to which the error by chance is computed exactly; above, outcomes are as good as normal.
const EXACT: usize = 100;

/// Predictions beside outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibration {
    /// Entries.
    pub count: usize,
    /// Entries whose run stated a value. Of the others .5 counts in the errors and the Brier score, and nothing in the calibration.
    pub stated: usize,
    /// Mean of `outcome − prediction`: above 0, things went better than expected.
    pub mean_error: f64,
    /// Mean of its absolute value.
    pub mean_absolute_error: f64,
    /// Brier score, the mean of its square, 0 (best) to 1. Source: Brier (1950), for outcomes between 0 and 1 as well.
    pub brier: f64,
    /// Expected calibration error: the distance of predicted and observed means of the bins, weighted by their counts, 0..=1. Null: no entry
    /// states a value.
    pub calibration_error: Option<f64>,
    /// The calibration error that a perfectly calibrated mind has by chance with these predictions, from and to, in 95 of 100 cases. Null: fewer
    /// than [`LEAST_STATED`] entries state a value.
    pub by_chance: Option<(f64, f64)>,
    /// The bins that have stated entries, ascending.
    pub bins: Vec<Bin>,
}

/// The entries whose prediction lies in one bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bin {
    /// The least prediction of the bin.
    pub from: f64,
    /// The greatest; it belongs to the next bin, but 1 to the last.
    pub to: f64,
    /// Entries.
    pub count: usize,
    /// The mean of what was predicted.
    pub predicted: f64,
    /// The mean of what came.
    pub observed: f64,
}

/// The calibration of some entries, each with whether its run stated a value; `None` if there are none.
pub fn calibration<'e>(entries: impl IntoIterator<Item = (&'e LedgerEntry, bool)>) -> Option<Calibration> {
    let mut sums: Vec<(Vec<f64>, f64)> = vec![(Vec::new(), 0.0); BINS];
    let (mut count, mut errors, mut absolute, mut squares) = (0_usize, 0.0, 0.0, 0.0);
    for (entry, is_stated) in entries {
        count += 1;
        errors += entry.error;
        absolute += entry.error.abs();
        squares += entry.error * entry.error;
        if is_stated {
            let (predictions, came) = &mut sums[((entry.prediction.value * BINS as f64) as usize).min(BINS - 1)];
            predictions.push(entry.prediction.value);
            *came += entry.outcome.value;
        }
    }
    if count == 0 {
        return None;
    }
    let bin = |(at, (predictions, came)): (usize, &(Vec<f64>, f64))| Bin {
        from: at as f64 / BINS as f64,
        to: (at + 1) as f64 / BINS as f64,
        count: predictions.len(),
        predicted: predictions.iter().sum::<f64>() / predictions.len() as f64,
        observed: came / predictions.len() as f64,
    };
    let filled = sums.iter().enumerate().filter(|(_, (predictions, _))| !predictions.is_empty());
    let bins: Vec<Bin> = filled.map(bin).collect();
    let stated: usize = bins.iter().map(|bin| bin.count).sum();
    let gap = bins.iter().map(|b| (b.predicted - b.observed).abs() * b.count as f64).sum::<f64>() / stated as f64;
    let all = count as f64;
    let (mean_error, mean_absolute_error, brier) = (errors / all, absolute / all, squares / all);
    Some(Calibration {
        count,
        stated,
        mean_error,
        mean_absolute_error,
        brier,
        calibration_error: (stated > 0).then_some(gap),
        by_chance: (stated >= LEAST_STATED)
            .then(|| by_chance(sums.iter().map(|(predictions, _)| predictions.as_slice()))),
        bins,
    })
}

/// The range of the calibration error where each prediction comes true as often as it says: mean and 1.96 deviations of the sum over bins of
/// |K − Σ p| / n, K being the number that comes true. Outcomes between 0 and 1 vary less, so that the range is rather too high for them.
fn by_chance<'b>(bins: impl Iterator<Item = &'b [f64]>) -> (f64, f64) {
    let (mut mean, mut variance, mut stated) = (0.0, 0.0, 0);
    for predictions in bins {
        let gap = mean_gap(predictions);
        mean += gap;
        variance += (spread(predictions) - gap * gap).max(0.0);
        stated += predictions.len();
    }
    let (all, reach) = (stated as f64, NORMAL * variance.sqrt());
    (((mean - reach) / all).max(0.0), ((mean + reach) / all).min(1.0))
}

/// The variance of K: Σ p (1 − p).
fn spread(predictions: &[f64]) -> f64 {
    predictions.iter().map(|p| p * (1.0 - p)).sum()
}

/// The mean of |K − Σ p|, by the distribution of K (Poisson's binomial), or of many predictions by the normal one.
fn mean_gap(predictions: &[f64]) -> f64 {
    if predictions.len() > EXACT {
        return (spread(predictions) * 2.0 / std::f64::consts::PI).sqrt();
    }
    let mut chances = vec![1.0];
    for p in predictions {
        let mut next = vec![0.0; chances.len() + 1];
        for (come, chance) in chances.iter().enumerate() {
            next[come] += chance * (1.0 - p);
            next[come + 1] += chance * p;
        }
        chances = next;
    }
    let expected: f64 = predictions.iter().sum();
    chances.iter().enumerate().map(|(come, chance)| chance * (come as f64 - expected).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::{Method, Valued};
    use crate::model::Stamp;
    use crate::model::ids::RunId;

    fn entry(prediction: f64, outcome: f64) -> LedgerEntry {
        let run = RunId::parse("20260126t143200123z-abcd2345-evaluator").unwrap();
        LedgerEntry {
            agent: run.agent(),
            judged: run.clone(),
            run,
            at: Stamp::from_unix(0),
            prediction: Valued { text: None, value: prediction },
            outcome: Valued { text: None, value: outcome },
            error: outcome - prediction,
            method: Method::Number,
            chosen: None,
            pathway: vec![],
        }
    }

    #[test]
    fn bins_hold_what_was_predicted_beside_what_came() {
        let entries = [entry(0.75, 1.0), entry(0.75, 0.0), entry(0.75, 1.0), entry(1.0, 1.0), entry(0.0, 0.5)];
        let found = calibration(entries.iter().map(|entry| (entry, true))).unwrap();
        let bins: Vec<_> = found.bins.iter().map(|b| (b.from, b.to, b.count, b.predicted, b.observed)).collect();
        assert_eq!(bins, [(0.0, 0.1, 1, 0.0, 0.5), (0.7, 0.8, 3, 0.75, 2.0 / 3.0), (0.9, 1.0, 1, 1.0, 1.0)]);
        assert!((found.mean_error - 0.05).abs() < 1e-12, "{found:?}");
        assert!((found.mean_absolute_error - 0.35).abs() < 1e-12);
        assert!((found.brier - (0.0625 + 0.5625 + 0.0625 + 0.25) / 5.0).abs() < 1e-12);
        assert!((found.calibration_error.unwrap() - (0.5 + 0.25) / 5.0).abs() < 1e-12);
        assert_eq!((found.stated, found.by_chance), (5, None), "too few to say");
        assert_eq!(calibration([]), None);
    }

    #[test]
    fn calibration_of_values_that_nobody_stated_is_none() {
        let entries = [entry(0.5, 1.0), entry(0.5, 0.0), entry(0.9, 1.0)];
        let found = calibration(entries.iter().map(|entry| (entry, false))).unwrap();
        assert_eq!((found.count, found.stated, found.calibration_error), (3, 0, None));
        assert!(found.bins.is_empty() && found.by_chance.is_none());
        let found = calibration(entries.iter().map(|entry| (entry, entry.prediction.value > 0.5))).unwrap();
        assert_eq!((found.count, found.stated, found.bins.len()), (3, 1, 1));
        assert!((found.calibration_error.unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn calibration_error_by_chance_is_that_of_a_calibrated_mind() {
        // One of .5: |K − .5| is always .5. Two: 1, 0, 1 with chances ¼, ½, ¼.
        assert_eq!((mean_gap(&[0.5]), mean_gap(&[0.5, 0.5]), mean_gap(&[1.0, 0.0])), (0.5, 0.5, 0.0));
        let many = [0.3; EXACT + 1];
        assert!((mean_gap(&many) - mean_gap(&many[..EXACT])).abs() < 0.05, "both ways agree");
        // 3 of each of .15, .25, …, .85: in a simulation of 20,000 calibrated minds .12 to .32.
        let bins: Vec<Vec<f64>> = (1..9).map(|n| vec![f64::from(n) / 10.0 + 0.05; 3]).collect();
        let (low, high) = by_chance(bins.iter().map(Vec::as_slice));
        assert!(low > 0.09 && low < 0.14 && high > 0.29 && high < 0.34, "{low} to {high}");
        let sure: Vec<Vec<f64>> = vec![vec![1.0; 20], vec![0.0; 20]];
        assert_eq!(by_chance(sure.iter().map(Vec::as_slice)), (0.0, 0.0), "who is sure has no chance to be wrong");
    }
}
