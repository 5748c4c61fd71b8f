//! Escalations: questions that a person closes, once.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::sha256_hex;
use super::verdict::Verdict;

/// The state of an escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum State {
    /// It waits for a person.
    Pending,
    /// A person approved.
    Approved {
        /// The person.
        by: String,
        /// The time, in milliseconds since 1970.
        at_ms: i64,
    },
    /// A person rejected.
    Rejected {
        /// The person.
        by: String,
        /// The time, in milliseconds since 1970.
        at_ms: i64,
    },
}

/// The ruling of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    /// Yes.
    Approve,
    /// No.
    Reject,
}

/// A question that a person must close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escalation {
    /// The id.
    pub id: String,
    /// The context, such as the question and the branch.
    pub context: String,
    /// The number of escalations before it, which tells equal contexts apart.
    pub number: u64,
    /// The time of its opening, in milliseconds since 1970.
    pub opened_ms: i64,
    /// The verdict with its reasons.
    pub verdict: Verdict,
    /// The state.
    pub state: State,
}

/// A reason to refuse the closing of an escalation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EscalationFault {
    /// An escalation that is closed.
    #[error("escalation {id} was {state} by {by} already")]
    Closed {
        /// Its id.
        id: String,
        /// Its state in a word.
        state: &'static str,
        /// The person that closed it.
        by: String,
    },
    /// A closing without a person.
    #[error("escalation {0} needs the name of the person that closes it")]
    NoPerson(String),
}

/// The id of an escalation: the first 12 hexadecimal digits of SHA-256 over `context:number`. Source: seed 3.3.3.
pub fn escalation_id(context: &str, number: u64) -> String {
    let mut id = sha256_hex(format!("{context}:{number}").as_bytes());
    id.truncate(12);
    id
}

impl Escalation {
    /// Opens an escalation.
    pub fn open(context: &str, number: u64, verdict: Verdict, opened_ms: i64) -> Self {
        let id = escalation_id(context, number);
        Self { id, context: context.to_owned(), number, opened_ms, verdict, state: State::Pending }
    }

    /// Whether the id follows from context and number. A file that was edited by hand may say otherwise.
    pub fn has_own_id(&self) -> bool {
        self.id == escalation_id(&self.context, self.number)
    }

    /// Closes a pending escalation.
    ///
    /// # Errors
    /// It is closed already, or no person is named.
    pub fn close(&mut self, ruling: Ruling, by: &str, at_ms: i64) -> Result<(), EscalationFault> {
        let closed = |state, by: &str| EscalationFault::Closed { id: self.id.clone(), state, by: by.to_owned() };
        match &self.state {
            State::Approved { by, .. } => return Err(closed("approved", by)),
            State::Rejected { by, .. } => return Err(closed("rejected", by)),
            State::Pending if by.trim().is_empty() => return Err(EscalationFault::NoPerson(self.id.clone())),
            State::Pending => {}
        }
        let by = by.trim().to_owned();
        self.state = match ruling {
            Ruling::Approve => State::Approved { by, at_ms },
            Ruling::Reject => State::Rejected { by, at_ms },
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, votes};
    use super::super::verdict::{Thresholds, decide};
    use super::*;

    fn pending() -> Escalation {
        let members = members("xyz");
        let verdict = decide("merge it?", &members, &votes(&members, "AR-"), &[], &Thresholds::default());
        Escalation::open("merge it?", 3, verdict, 1000)
    }

    #[test]
    fn escalation_id_matches_sha256sum() {
        // printf 'merge it?:3' | sha256sum
        assert_eq!(pending().id, "32d4380d9782");
        assert!(pending().has_own_id());
        assert_ne!(escalation_id("merge it?", 4), pending().id);
        assert!(!Escalation { number: 4, ..pending() }.has_own_id());
    }

    #[test]
    fn escalation_is_closed_once() {
        for (ruling, word) in [(Ruling::Approve, "approved"), (Ruling::Reject, "rejected")] {
            let mut escalation = pending();
            escalation.close(ruling, " ada ", 2000).unwrap();
            let closed = escalation.clone();
            for again in [Ruling::Approve, Ruling::Reject] {
                let fault = escalation.close(again, "bob", 3000).unwrap_err().to_string();
                assert_eq!(fault, format!("escalation {} was {word} by ada already", closed.id));
            }
            assert_eq!(escalation, closed, "a refused closing changes nothing");
        }
    }

    #[test]
    fn escalation_is_not_closed_by_no_person() {
        let mut escalation = pending();
        assert!(matches!(escalation.close(Ruling::Approve, " ", 2000), Err(EscalationFault::NoPerson(_))));
        assert_eq!(escalation.state, State::Pending);
    }

    #[test]
    fn escalation_survives_json() {
        let mut escalation = pending();
        for state in ["pending", "approved"] {
            let text = serde_json::to_string(&escalation).unwrap();
            assert!(text.contains(&format!("\"status\":\"{state}\"")), "{text}");
            assert_eq!(serde_json::from_str::<Escalation>(&text).unwrap(), escalation);
            escalation.close(Ruling::Approve, "ada", 2000).ok();
        }
    }
}
