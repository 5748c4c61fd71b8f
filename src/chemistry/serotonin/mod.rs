//! Serotonin: the story that the brain tells itself, from the ledger and on a path of its own.
//!
//! Entries of the ledger and the chapter before → [`Feeling`] (mood, and the confidence that the ledger supports) → a
//! [`Chapter`], told by the template or by an agent, with the [`Gap`] between what it says and what the ledger says.
//!
//! It owns the bias: the told figures may be better than the measured ones, and both stand in the chapter. It must not know
//! neurons, weights or runs, and nothing that the backend does may depend on it; `tests/architecture.rs` names the few files
//! that may import it. The page is `docs/narrative.md`.

mod chapter;
mod gap;
mod narrator;
mod template;
mod wording;

pub use chapter::{Chapter, Claim};
pub use gap::{Gap, Told, gap};
pub use narrator::{Brief, Figures, Narration, Previous, narrated};
pub use template::{Slice, told};

use crate::model::settings::Serotonin;

/// The name under which the template narrates.
pub const TEMPLATE: &str = "template";

/// What the ledger makes the brain feel. Figures of the engine, never those that a narrator told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feeling {
    /// The moving average of prediction errors, -1..=1.
    pub mood: f64,
    /// What the ledger supports: the outcome to be expected of the next attempt, 0..=1.
    pub calibrated: f64,
    /// How many judgements stand behind `calibrated`, the old ones faded; 0..=`serotonin.memory`.
    pub evidence: f64,
}

impl Default for Feeling {
    /// Before any judgement: no mood, and even odds.
    fn default() -> Self {
        Self { mood: 0.0, calibrated: 0.5, evidence: 0.0 }
    }
}

impl Feeling {
    /// One judgement later.
    ///
    /// Mood is an exponential moving average (Brown 1956), `mood + smoothing · (error − mood)`: one jump of the error moves
    /// it by `smoothing` of the jump, so that a single failure is felt and does not decide.
    ///
    /// Calibrated is the mean of a Beta posterior under the uniform prior (Laplace's rule of succession, 1774),
    /// `(1 + Σ outcome) / (2 + n)`, where older outcomes fade by `1 − 1/memory` with each new one (discounted
    /// Thompson sampling; Raj and Kalyani 2017). The prior shrinks it to a half while little is known. It is made of
    /// outcomes and not of errors: who expects little and gets it has small errors, and no reason for confidence.
    #[must_use]
    pub fn after(self, error: f64, outcome: f64, settings: &Serotonin) -> Self {
        let kept = 1.0 - 1.0 / f64::from(settings.memory.max(1));
        let sum = (self.calibrated * (2.0 + self.evidence) - 1.0).max(0.0);
        let (sum, evidence) = (sum * kept + outcome, self.evidence * kept + 1.0);
        Self {
            mood: self.mood + settings.smoothing * (error - self.mood),
            calibrated: ((1.0 + sum) / (2.0 + evidence)).clamp(0.0, 1.0),
            evidence,
        }
    }

    /// What the brain tells itself that it can do: `clamp(calibrated + bias, 0, 1)`.
    pub fn confidence(&self, bias: f64) -> f64 {
        (self.calibrated + bias).clamp(0.0, 1.0)
    }
}

/// A figure as chapters have it: to a millionth, so that files stay legible.
pub(super) fn millionth(x: f64) -> f64 {
    // Adding zero turns a negative zero into zero.
    (x * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mood_damps_a_jump_and_follows_a_trend() {
        let settings = Serotonin::default();
        let calm = (0..50).fold(Feeling::default(), |f, _| f.after(0.1, 0.6, &settings));
        assert!((calm.mood - 0.1).abs() < 1e-4);
        let shaken = calm.after(-0.9, 0.0, &settings);
        // 0.1 + 0.2 · (−0.9 − 0.1)
        assert!((shaken.mood + 0.1).abs() < 1e-4, "{shaken:?}");
        let down = (0..20).fold(calm, |f, _| f.after(-0.9, 0.0, &settings));
        assert!(down.mood < -0.85);
        let raw = Serotonin { smoothing: 1.0, ..settings };
        assert_eq!(calm.after(-0.9, 0.0, &raw).mood, -0.9);
    }

    #[test]
    fn calibrated_is_shrunk_to_a_half_and_forgets() {
        let settings = Serotonin { memory: 1_000_000, ..Serotonin::default() };
        let after = |outcomes: &[f64]| outcomes.iter().fold(Feeling::default(), |f, o| f.after(0.0, *o, &settings));
        assert_eq!(after(&[]).calibrated, 0.5);
        assert!((after(&[1.0]).calibrated - 2.0 / 3.0).abs() < 1e-6);
        assert!((after(&[1.0, 0.0, 1.0, 1.0]).calibrated - 4.0 / 6.0).abs() < 1e-5);
        let short = Serotonin { memory: 10, ..settings };
        let rise = (0..100).fold(Feeling::default(), |f, _| f.after(0.0, 1.0, &short));
        assert!((rise.evidence - 10.0).abs() < 1e-3 && (rise.calibrated - 11.0 / 12.0).abs() < 1e-3);
        let fall = (0..100).fold(rise, |f, _| f.after(0.0, 0.0, &short));
        assert!((fall.calibrated - 1.0 / 12.0).abs() < 1e-3, "what was long ago is forgotten");
    }

    #[test]
    fn confidence_is_calibrated_with_a_bias_and_stays_a_share() {
        let feeling = Feeling { calibrated: 0.6, ..Feeling::default() };
        assert_eq!(feeling.confidence(0.0), 0.6);
        assert!((feeling.confidence(0.05) - 0.65).abs() < 1e-12);
        assert_eq!(Feeling { calibrated: 0.98, ..feeling }.confidence(0.1), 1.0);
    }
}
