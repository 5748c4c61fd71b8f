//! Deltas: what a run proposes, what it does to the neurons it touches, and the record that stays.
//!
//! Pure. Imports `model` and `limits` only.

pub mod apply;
pub mod capability;
pub mod ledger;
pub mod operation;
pub mod record;
mod record_form;
pub mod render;

pub use apply::{Applied, ApplyError, Author, Lookup, Refusal, apply, hebbian_change, weight_change};
pub use capability::Limits;
pub use ledger::{LedgerEntry, Method, UNSTATED, Valued};
pub use operation::{Chosen, Document, DocumentError, Edge, Operation, Prediction};
pub use record::{APPLIED, Effect, OUTCOME, REJECTED, RunOutline, RunRecord, reverted_among};
