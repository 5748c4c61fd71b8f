//! Notes of a store: what it put right or left alone on the way, for whoever tells people.

use std::sync::{Arc, Mutex, PoisonError};

/// Sentences, in the order in which they came. A clone is the same list.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Takes what was noted since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether nobody else has the list any more.
    pub fn is_closed(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Adds a sentence, unless it is there.
    pub(super) fn add(&self, text: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
}
