//! Bounds of the room, each with its reason.

/// Members of a council at most: pairs are compared, so the cost grows with the square.
pub const MEMBERS: usize = 64;

/// Bytes of a reasoning at most: longer ones cost time in every pair, and no reader follows them.
pub const REASONING_BYTES: usize = 16 * 1024;

/// Items of evidence in one vote at most: as many as a voter can have been shown.
pub const EVIDENCE_ITEMS: usize = 64;

/// Bytes of one item of evidence at most: an item is a pointer or a quotation, not a document.
pub const EVIDENCE_BYTES: usize = 4 * 1024;

/// Bytes of the content of a message at most: a vote of the largest size, written as JSON, fits.
pub const CONTENT_BYTES: usize = 1024 * 1024;

/// Age and lead of a message's timestamp at most: ids of this span are remembered, and clocks differ by less.
pub const WINDOW_MS: i64 = 5 * 60 * 1000;

/// Effective minds that a decision needs: with fewer than two, one error decides. Source: decisions on phase 2.
pub const MINDS: f64 = 2.0;

/// Confidence below which a unanimous vote looks like a shared failure. Source: seed 3.3.2.
pub const LOW_CONFIDENCE: f64 = 0.5;

/// Likeness above which two reasonings are the same. Source: seed 3.3.2.
pub const ALIKE: f64 = 0.9;

/// Shared questions at which a measured correlation counts half. Ten: phi of ten pairs has a standard error of about .3.
pub const SHRINKAGE: f64 = 10.0;

/// One of so many items of evidence is shown to every voter: enough for a common ground, too few to make contexts equal.
pub const SHARED_EVERY: usize = 3;
