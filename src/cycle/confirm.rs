//! Confirmations: calls of tools that wait for a person. One table, shared by the thread that waits and those that answer.
//!
//! How long somebody is waited for is real time, also where `BRAIN_NOW` holds the clock of a brain still.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::limits;

/// What waits for a person. Clones share one table.
#[derive(Clone, Debug)]
pub struct Confirmations {
    shared: Arc<Shared>,
    patience: Duration,
}

impl Default for Confirmations {
    fn default() -> Self {
        Self::with_patience(Duration::from_millis(limits::CONFIRM_MS))
    }
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Waiting {
    /// What to answer under.
    pub id: String,
    /// The step that made it.
    pub node: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Value,
    /// How long it still waits, whole seconds, rounded up.
    pub seconds: u64,
}

/// A call of the table.
#[derive(Debug)]
struct Entry {
    node: String,
    name: String,
    args: Value,
    until: Instant,
    answer: Option<bool>,
}

type Table = BTreeMap<String, Entry>;

#[derive(Debug, Default)]
struct Shared {
    table: Mutex<Table>,
    answered: Condvar,
}

impl Confirmations {
    /// An empty table in which nothing waits longer than that.
    #[must_use]
    pub fn with_patience(patience: Duration) -> Self {
        Self { shared: Arc::default(), patience }
    }

    fn open(&self) -> MutexGuard<'_, Table> {
        // Whoever panicked while answering has changed one entry or none.
        self.shared.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a call waits, whole seconds, rounded up.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        whole_seconds(self.patience)
    }

    /// What waits and has no answer yet, in the order in which it stops waiting.
    #[must_use]
    pub fn waiting(&self) -> Vec<Waiting> {
        let now = Instant::now();
        let table = self.open();
        let mut open: Vec<(&String, &Entry)> = table.iter().filter(|(_, entry)| entry.answer.is_none()).collect();
        open.sort_by_key(|(id, entry)| (entry.until, *id));
        let waiting = open.into_iter().map(|(id, entry)| Waiting {
            id: id.clone(),
            node: entry.node.clone(),
            name: entry.name.clone(),
            args: entry.args.clone(),
            seconds: whole_seconds(entry.until.saturating_duration_since(now)),
        });
        waiting.collect()
    }

    /// Answers what waits under that id. False if nothing waits there, or it was answered already.
    pub fn answer(&self, id: &str, yes: bool) -> bool {
        let answered = match self.open().get_mut(id) {
            Some(entry) if entry.answer.is_none() => {
                entry.answer = Some(yes);
                true
            }
            _ => false,
        };
        self.shared.answered.notify_all();
        answered
    }

    /// Lets a call wait under an id, before anybody is told of it.
    pub(super) fn expect(&self, id: &str, node: &str, name: &str, args: &Value) {
        let until = Instant::now() + self.patience;
        let entry = Entry { node: node.to_owned(), name: name.to_owned(), args: args.clone(), until, answer: None };
        self.open().insert(id.to_owned(), entry);
    }

    /// Waits for the answer; `None` if nobody answers in time.
    pub(super) fn wait(&self, id: &str) -> Option<bool> {
        let mut table = self.open();
        let left = table.get(id).map_or(Duration::ZERO, |entry| entry.until.saturating_duration_since(Instant::now()));
        let unanswered = |table: &mut Table| table.get(id).is_some_and(|entry| entry.answer.is_none());
        let waited = self.shared.answered.wait_timeout_while(table, left, unanswered);
        (table, _) = waited.unwrap_or_else(PoisonError::into_inner);
        table.remove(id).and_then(|entry| entry.answer)
    }

    /// Lets nothing wait under that id any more.
    pub(super) fn forget(&self, id: &str) {
        self.open().remove(id);
    }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect(table: &Confirmations, id: &str) {
        table.expect(id, "OL1", "exec", &serde_json::json!({"argv": ["ls"]}));
    }

    #[test]
    fn another_thread_answers_once() {
        let waiting = Confirmations::default();
        assert!(!waiting.answer("a", true), "nothing waits");
        expect(&waiting, "a");
        let other = waiting.clone();
        let thread = std::thread::spawn(move || other.answer("a", true));
        assert_eq!(waiting.wait("a"), Some(true));
        assert!(thread.join().unwrap());
        assert!(!waiting.answer("a", false), "it is answered");
        expect(&waiting, "b");
        assert!(waiting.answer("b", false) && !waiting.answer("b", true));
        assert_eq!(waiting.wait("b"), Some(false));
    }

    #[test]
    fn what_waits_is_listed_until_it_is_answered() {
        let table = Confirmations::default();
        for id in ["b", "a"] {
            expect(&table, id);
        }
        let listed = table.clone().waiting();
        let ids: Vec<&str> = listed.iter().map(|w| w.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"], "the one that waits longest first");
        assert_eq!((listed[0].node.as_str(), listed[0].name.as_str()), ("OL1", "exec"));
        assert_eq!(listed[0].args["argv"][0], "ls");
        assert!((1..=table.seconds()).contains(&listed[0].seconds), "{listed:?}");
        table.answer("b", true);
        assert_eq!(table.waiting().len(), 1);
        table.forget("a");
        assert!(table.waiting().is_empty() && !table.answer("a", true));
    }

    #[test]
    fn nobody_is_waited_for_longer_than_the_patience() {
        let table = Confirmations::with_patience(Duration::ZERO);
        expect(&table, "a");
        assert_eq!((table.wait("a"), table.seconds()), (None, 0));
        assert!(!table.answer("a", true), "too late");
    }
}
