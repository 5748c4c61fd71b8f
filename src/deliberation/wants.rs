//! Questions of the deliberation of a tree to the world, and the answers.

use super::gates::GateRecord;
use super::roles::Role;
use super::verdict::{Alignment, Judgement, Proposal, Verdict};

/// The next question of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// So many proposals, at a temperature.
    Mine {
        /// How many.
        count: usize,
        /// The gardener's temperature.
        temperature: f64,
    },
    /// A verdict on each hypothesis.
    Critique(Vec<Proposal>),
    /// For each hypothesis another one, given what is weak in it, and what was refused before.
    Revise {
        /// The hypotheses.
        of: Vec<(Proposal, Vec<String>)>,
        /// What skeptics refused in earlier rounds, and what was culled.
        refused: Vec<(Proposal, Vec<String>)>,
    },
    /// Alternatives to what survived.
    Diverge(Vec<Proposal>),
    /// A judgement on each hypothesis.
    Inspect(Vec<Proposal>),
    /// A gate record of each sprout.
    Examine(Vec<Proposal>),
    /// A verdict on each candidate that passed: recorded, and nothing else.
    Challenge(Vec<(Proposal, GateRecord)>),
    /// An alignment of each of them.
    Align(Vec<(Proposal, GateRecord)>),
    /// Nothing: it is done.
    Done,
}

/// The answer to a want.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Proposals, of a gardener or a diverger.
    Proposals(Vec<Proposal>),
    /// Verdicts, one each.
    Verdicts(Vec<Verdict>),
    /// Replacements, one each; `None`: the gardener has none, and the hypothesis stays.
    Replacements(Vec<Option<Proposal>>),
    /// Judgements, one each; `None`: the inspector's answer had no form.
    Judgements(Vec<Option<Judgement>>),
    /// Gate records, one each.
    Records(Vec<GateRecord>),
    /// Alignments, one each, or why there is none.
    Alignments(Vec<Result<Alignment, Unanswered>>),
    /// A handoff of alternatives was not answered in time.
    TimedOut,
    /// It is left for a later cycle.
    Left,
    /// A gardener or a diverger answered in another form.
    Malformed(String),
    /// The mind of a role cannot be reached.
    Unreachable(Role, String),
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody answered in time.
    TimedOut,
    /// The question is left for a later cycle.
    Left,
    /// The answer has another form.
    Malformed(String),
}

impl Want {
    /// Its name, for an error.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Mine { .. } => "proposals",
            Self::Critique(_) | Self::Challenge(_) => "verdicts",
            Self::Revise { .. } => "replacements",
            Self::Diverge(_) => "alternatives",
            Self::Inspect(_) => "judgements",
            Self::Examine(_) => "gate records",
            Self::Align(_) => "alignments",
            Self::Done => "nothing",
        }
    }
}
