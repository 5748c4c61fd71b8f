//! Confirmations: calls of tools that wait for a person. One table, shared by the thread that waits and those that answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::limits;

/// What waits for a person. Clones share one table.
#[derive(Clone, Debug, Default)]
pub struct Confirmations {
    shared: Arc<Shared>,
}

/// Ids, each with its answer once it has one.
type Table = BTreeMap<String, Option<bool>>;

#[derive(Debug, Default)]
struct Shared {
    table: Mutex<Table>,
    answered: Condvar,
}

impl Confirmations {
    fn open(&self) -> MutexGuard<'_, Table> {
        // Whoever panicked while answering has changed one entry or none.
        self.shared.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what waits under that id. False if nothing waits there, or it was answered already.
    pub fn answer(&self, id: &str, yes: bool) -> bool {
        let answered = match self.open().get_mut(id) {
            Some(waiting @ None) => {
                *waiting = Some(yes);
                true
            }
            _ => false,
        };
        self.shared.answered.notify_all();
        answered
    }

    /// Lets something wait under an id, before anybody is told of it.
    pub(super) fn expect(&self, id: &str) {
        self.open().insert(id.to_owned(), None);
    }

    /// Waits for the answer; `None` if nobody answers in time.
    pub(super) fn wait(&self, id: &str) -> Option<bool> {
        let patience = Duration::from_millis(limits::CONFIRM_MS);
        let unanswered = |table: &mut Table| table.get(id).is_some_and(Option::is_none);
        let waited = self.shared.answered.wait_timeout_while(self.open(), patience, unanswered);
        let (mut table, _) = waited.unwrap_or_else(PoisonError::into_inner);
        table.remove(id).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thread_answers_once() {
        let waiting = Confirmations::default();
        assert!(!waiting.answer("a", true), "nothing waits");
        waiting.expect("a");
        let other = waiting.clone();
        let thread = std::thread::spawn(move || other.answer("a", true));
        assert_eq!(waiting.wait("a"), Some(true));
        assert!(thread.join().unwrap());
        assert!(!waiting.answer("a", false), "it is answered");
        waiting.expect("b");
        assert!(waiting.answer("b", false) && !waiting.answer("b", true));
        assert_eq!(waiting.wait("b"), Some(false));
    }
}
