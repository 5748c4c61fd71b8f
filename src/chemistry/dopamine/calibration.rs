//! How good predictions are, for people: errors and calibration, from the ledger alone.

use serde::{Deserialize, Serialize};

use crate::delta::LedgerEntry;

/// Bins of a calibration, each a tenth of the scale.
const BINS: usize = 10;

/// Predictions beside outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibration {
    /// Entries.
    pub count: usize,
    /// Mean of `outcome − prediction`: above 0, things went better than expected.
    pub mean_error: f64,
    /// Mean of its absolute value.
    pub mean_absolute_error: f64,
    /// Brier score, the mean of its square, 0 (best) to 1. Source: Brier (1950), for outcomes between 0 and 1 as well.
    pub brier: f64,
    /// Expected calibration error: the distance of predicted and observed means of the bins, weighted by their counts, 0..=1.
    pub calibration_error: f64,
    /// The bins that have entries, ascending.
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

/// The calibration of these entries; `None` if there are none.
pub fn calibration(entries: &[LedgerEntry]) -> Option<Calibration> {
    calibration_of(entries)
}

/// The calibration of some entries; `None` if there are none.
pub fn calibration_of<'e>(entries: impl IntoIterator<Item = &'e LedgerEntry>) -> Option<Calibration> {
    let mut sums = [(0_usize, 0.0, 0.0); BINS];
    let (mut errors, mut absolute, mut squares) = (0.0, 0.0, 0.0);
    for entry in entries {
        let bin = &mut sums[((entry.prediction.value * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + 1, bin.1 + entry.prediction.value, bin.2 + entry.outcome.value);
        errors += entry.error;
        absolute += entry.error.abs();
        squares += entry.error * entry.error;
    }
    let count: usize = sums.iter().map(|(count, ..)| count).sum();
    if count == 0 {
        return None;
    }
    let bin = |(at, (count, predicted, observed)): (usize, &(usize, f64, f64))| Bin {
        from: at as f64 / BINS as f64,
        to: (at + 1) as f64 / BINS as f64,
        count: *count,
        predicted: predicted / *count as f64,
        observed: observed / *count as f64,
    };
    let bins: Vec<Bin> = sums.iter().enumerate().filter(|(_, (count, ..))| *count > 0).map(bin).collect();
    let all = count as f64;
    let gap = bins.iter().map(|b| (b.predicted - b.observed).abs() * b.count as f64).sum::<f64>() / all;
    let (mean_error, mean_absolute_error, brier) = (errors / all, absolute / all, squares / all);
    Some(Calibration { count, mean_error, mean_absolute_error, brier, calibration_error: gap, bins })
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
        let found = calibration(&entries).unwrap();
        let bins: Vec<_> = found.bins.iter().map(|b| (b.from, b.to, b.count, b.predicted, b.observed)).collect();
        assert_eq!(bins, [(0.0, 0.1, 1, 0.0, 0.5), (0.7, 0.8, 3, 0.75, 2.0 / 3.0), (0.9, 1.0, 1, 1.0, 1.0)]);
        assert!((found.mean_error - 0.05).abs() < 1e-12, "{found:?}");
        assert!((found.mean_absolute_error - 0.35).abs() < 1e-12);
        assert!((found.brier - (0.0625 + 0.5625 + 0.0625 + 0.25) / 5.0).abs() < 1e-12);
        assert!((found.calibration_error - (0.5 + 0.25) / 5.0).abs() < 1e-12);
        assert_eq!(calibration(&[]), None);
    }
}
