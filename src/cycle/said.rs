//! The measures of what a model said: the trailer by which the drift of an agent is read off the history.

use super::trailers::INTEGRITY;
use crate::delta::{Document, Operation};
use crate::integrity::lang::{Lang, detect};
use crate::integrity::metrics::Counts;
use crate::model::json;
use crate::review::belief::is_said;
use crate::store::Trailer;

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
    let lang = detect(text).unwrap_or(Lang::En);
    let counts = Counts::of(text, lang, crate::text::tokens(text) as u64);
    (!text.trim().is_empty()).then(|| (INTEGRITY.to_owned(), json::inline(&counts)))
}
