//! `council`: the votes of several minds on one question, counted. Needs no brain.

use serde::Deserialize;

use super::BrainError;
use crate::council::independence::PastQuestion;
pub use crate::council::quorum::Tally;
pub use crate::council::verdict::{Opinion, Thresholds, Verdict};
use crate::council::vote::{Members, Vote};

/// The document that a council is counted from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    question: String,
    members: Members,
    votes: Vec<Vote>,
    /// Questions that were voted on before and whose outcome is known: errors that members share are discounted.
    #[serde(default)]
    history: Vec<PastQuestion>,
    #[serde(default)]
    thresholds: Thresholds,
}

/// Counts the votes of a council.
///
/// # Errors
/// A document of another form (2), with its line.
pub fn count(document: &str) -> Result<Verdict, BrainError> {
    let asked: Asked =
        serde_json::from_str(document).map_err(|error| BrainError::usage(format!("the council: {error}")))?;
    let Asked { question, members, votes, history, thresholds } = asked;
    Ok(crate::council::verdict::decide(&question, &members, &votes, &history, &thresholds))
}
