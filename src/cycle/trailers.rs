//! How commits of a sleep are told from others: its name, and the trailers that only a sleep writes; and what a run that waits answers.

/// The name that sleeps have in run ids and as authors.
pub const SLEEP: &str = "sleep";
/// Trailer of S, W and the commits of a sleep's branch: the sleep.
pub const SLEEP_TRAILER: &str = "Sleep";
/// Trailer of the same: the commit of wake that is consolidated.
pub const SNAPSHOT_TRAILER: &str = "Snapshot";
/// Trailer of a run that waits for a person: a signal that it answers.
pub const ANSWERS: &str = "Answers";
/// Trailer of a run: a memory that its agent was shown and that is not trusted.
pub const SHOWN: &str = "Shown";
/// Trailer of a text of a model: its measures, as counts.
pub const INTEGRITY: &str = "Integrity";
/// Trailer of the commits that take a sleep back: the sleep.
pub const UNDOES_TRAILER: &str = "Undoes";
