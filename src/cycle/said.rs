//! The measures of what a model said: the trailer by which the drift of an agent is read off the history.

use super::CycleError;
use super::trailers::INTEGRITY;
use crate::delta::{Document, Operation};
use crate::integrity::lang::{Lang, detect};
use crate::integrity::metrics::Counts;
use crate::model::ids::{AgentName, RunId};
use crate::model::json;
use crate::review::belief::is_said;
use crate::store::{CommitId, Store, Trailer};

/// The sentences that a run states, and what it expects.
pub(super) fn said_by(document: &Document) -> String {
    let stated = document.ops.iter().filter_map(|op| match op {
        Operation::Create(create) if is_said(create.kind, &create.concept) => Some(create.concept.as_str()),
        Operation::Reword(reword) => Some(reword.concept.as_str()),
        _ => None,
    });
    let expected = document.prediction.as_ref().and_then(|prediction| prediction.text.as_deref());
    stated.chain(expected).collect::<Vec<_>>().join("\n")
}

/// The measures of a text of a model, as the trailer of its commit; `None`: it said nothing.
pub(super) fn measured(text: &str) -> Option<Trailer> {
    measured_about(text, "")
}

/// The same of an answer to what a person said.
pub(super) fn measured_about(text: &str, subject: &str) -> Option<Trailer> {
    let lang = detect(text).unwrap_or(Lang::En);
    let counts = Counts::of(text, lang, crate::text::tokens(text) as u64).about(subject);
    (!text.trim().is_empty()).then(|| (INTEGRITY.to_owned(), json::inline(&counts)))
}

/// A reply of a model that was measured.
pub struct MeasuredReply {
    /// The agent; `None`: an answer of the chat.
    pub agent: Option<AgentName>,
    /// The agent's run.
    pub run: Option<RunId>,
    /// When it was committed, seconds.
    pub at: i64,
    /// Its counts.
    pub counts: Counts,
}

/// What models said, newest first, along the line of a tip and the runs that it merged: an item for each commit, so that callers can bound
/// the walk.
pub fn replies(store: &Store, tip: CommitId) -> impl Iterator<Item = Result<Option<MeasuredReply>, CycleError>> + '_ {
    store.first_parents(tip, None).map(|commit| {
        let mut commit = commit?;
        if let [_, run] = commit.parents[..] {
            commit = store.commit(run)?;
        }
        let counts = commit.trailer(INTEGRITY).and_then(|text| serde_json::from_str::<Counts>(text).ok());
        Ok(counts.map(|counts| MeasuredReply {
            agent: commit.agent(),
            run: commit.trailer("Run").and_then(|run| RunId::parse(run).ok()),
            at: commit.at,
            counts,
        }))
    })
}
