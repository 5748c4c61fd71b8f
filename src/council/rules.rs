//! Thresholds of the rules, each with its source.

/// Effective minds that a decision needs: with fewer than two, one error decides. Source: decisions on phase 2.
pub const MINDS: f64 = 2.0;

/// Confidence below which a unanimous vote looks like a shared failure. Source: seed 3.3.2.
pub const LOW_CONFIDENCE: f64 = 0.5;

/// Likeness above which two reasonings are the same. Source: seed 3.3.2.
pub const ALIKE: f64 = 0.9;

/// Shared questions at which a measured correlation counts half. Ten: phi of ten pairs has a standard error of about .3.
pub const SHRINKAGE: f64 = 10.0;

/// The highest share of errors that passes for a sound mind's own. One half: Condorcet's jury theorem (1785) asks of jurors that they be right
/// more often than a coin.
pub const USUAL: f64 = 0.5;

/// One of so many items of evidence is shown to every voter: enough for a common ground, too few to make contexts equal.
pub const SHARED_EVERY: usize = 3;

/// Share of the words of a question that a text about it has. Ours.
pub const ABOUT: f64 = 0.5;

/// Mean outcome from which on a rule approves, and up to which it rejects. Ours: as far from even as a ledger's noise.
pub const GOOD_OUTCOME: f64 = 0.6;
/// See [`GOOD_OUTCOME`].
pub const POOR_OUTCOME: f64 = 0.4;

/// Confidence of a rule that abstains: as likely right as wrong.
pub const SURE_OF_NOTHING: f64 = 0.5;
