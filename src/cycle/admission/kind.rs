//! Kinds of faults that a history may have.

/// The kinds of faults that have a way out of their own, or a rule of the audit. Of several of one commit the last is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Any other.
    #[default]
    Other,
    /// A run that had to wait, and that lands without its approval.
    Unapproved,
    /// A second record of a run.
    SecondRecord,
    /// A signature that does not count here.
    Signature,
    /// Commits of wake on main.
    WakeOnMain,
    /// A date ahead of the clock.
    Ahead,
    /// A reviewer who decided nothing, or may not.
    Reviewer,
    /// A file that is written once, and is not as it was.
    WrittenOnce,
    /// A secret.
    Secret,
    /// A trailer that says otherwise than the record.
    Trailer,
    /// A name in which somebody commits a run of another one.
    Author,
    /// An agent that commits more than its own runs.
    Agent,
    /// A sleep over a day that is not here.
    NoDay,
    /// An outcome in the ledger without the run that entered it.
    Ledger,
    /// A signal, or an answer to one, without its run.
    Signal,
    /// Wisdom that no run taught.
    Wisdom,
    /// Sealed memories that no run of a person sealed so.
    Sealed,
    /// A commit under a fixed clock, which explains all else that is wrong with it.
    FixedClock,
}
