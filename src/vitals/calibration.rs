//! How far what agents expect is what comes: predictions of the ledger against outcomes.
//!
//! The Brier score is the mean squared difference (Brier, *Verification of forecasts expressed in terms of probability*, 1950);
//! the calibration error is the mean gap between what was expected and what came, bin by bin, weighted by the entries in it
//! (Naeini, Cooper and Hauskrecht, *Obtaining well calibrated probabilities using Bayesian binning*, 2015).

use serde::Serialize;

use crate::delta::LedgerEntry;

/// Bins of equal width over 0..=1.
const BINS: usize = 10;

/// Predictions against outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Calibration {
    /// Entries of the ledger.
    pub entries: usize,
    /// Mean squared difference, 0..=1; 0 is best; null without entries. Always saying 0.5 earns at most 0.25.
    pub brier: Option<f64>,
    /// Mean of outcome minus prediction, -1..=1: above 0 too cautious, below 0 too sure.
    pub mean_error: Option<f64>,
    /// Mean gap of the bins, 0..=1; 0 is best.
    pub calibration_error: Option<f64>,
    /// The bins that have entries, ascending.
    pub bins: Vec<Bin>,
}

/// Entries with predictions in `from..to`; the last bin has 1 as well.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Bin {
    /// Least prediction.
    pub from: f64,
    /// Bound of predictions.
    pub to: f64,
    /// How many.
    pub entries: usize,
    /// Mean prediction.
    pub predicted: f64,
    /// Mean outcome.
    pub came: f64,
}

impl Calibration {
    /// Of a ledger, in any order.
    pub fn of(ledger: &[LedgerEntry]) -> Self {
        Self::of_pairs(ledger.iter().map(|entry| (entry.prediction.value, entry.outcome.value)))
    }

    /// Of pairs of prediction and outcome, each 0..=1.
    pub fn of_pairs(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sums = [(0_usize, 0.0, 0.0); BINS];
        let (mut entries, mut squares, mut errors) = (0_usize, 0.0, 0.0);
        for (predicted, came) in pairs {
            let bin = &mut sums[((predicted * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + predicted, bin.2 + came);
            entries += 1;
            squares += (predicted - came).powi(2);
            errors += came - predicted;
        }
        let mean = |sum: f64| (entries > 0).then(|| sum / entries as f64);
        let gaps = sums.iter().map(|(_, predicted, came)| (predicted - came).abs()).sum();
        let bins = sums.iter().enumerate().filter(|(_, (n, ..))| *n > 0).map(|(at, (n, predicted, came))| Bin {
            from: at as f64 / BINS as f64,
            to: (at + 1) as f64 / BINS as f64,
            entries: *n,
            predicted: predicted / *n as f64,
            came: came / *n as f64,
        });
        Self {
            entries,
            brier: mean(squares),
            mean_error: mean(errors),
            calibration_error: mean(gaps),
            bins: bins.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_what_comes_is_calibrated_and_who_is_too_sure_is_not() {
        let eight_of_ten = |predicted: f64| (0..10).map(move |n| (predicted, if n < 8 { 1.0 } else { 0.0 }));
        let good = Calibration::of_pairs(eight_of_ten(0.8));
        assert!((good.brier.unwrap() - 0.16).abs() < 1e-12, "{good:?}");
        assert!(good.calibration_error.unwrap() < 1e-12 && good.mean_error.unwrap().abs() < 1e-12);
        let sure = Calibration::of_pairs(eight_of_ten(1.0));
        assert!((sure.brier.unwrap() - 0.2).abs() < 1e-12 && (sure.calibration_error.unwrap() - 0.2).abs() < 1e-12);
        assert!((sure.mean_error.unwrap() + 0.2).abs() < 1e-12, "too sure is below zero");
        assert_eq!((sure.bins.len(), sure.bins[0].from, sure.bins[0].entries), (1, 0.9, 10));
    }

    #[test]
    fn bins_do_not_cancel_each_other_and_no_entry_is_no_figure() {
        let both = Calibration::of_pairs([(0.0, 0.5), (1.0, 0.5)].into_iter());
        assert_eq!((both.mean_error, both.calibration_error), (Some(0.0), Some(0.5)));
        let none = Calibration::of(&[]);
        assert_eq!((none.entries, none.brier, none.bins), (0, None, vec![]));
    }
}
