//! Cassettes: exchanges with models, recorded in a file and played back from it.
//!
//! One line of JSON for each exchange: the model's name in the settings, the request, and the reply. Played back, a request gets
//! the reply that it got; the same request a second time gets the second one. What is on no cassette is an error, never
//! a call. So a run can be repeated to the byte, offline and without keys. Secrets were taken out before.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::LlmError;
use crate::cognition::exchange::{Reply, Request};
use crate::model::ids::hex_hash;

/// What is done with exchanges.
#[derive(Debug)]
pub enum Cassette {
    /// They are made and added to the file.
    Record(PathBuf, Mutex<()>),
    /// They are taken from the file.
    Replay(PathBuf, Mutex<HashMap<String, VecDeque<Reply>>>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    model: String,
    request: Request,
    reply: Reply,
}

fn key(model: &str, request: &Request) -> String {
    let text = serde_json::to_vec(&(model, request)).expect("invariant: a request is plain data");
    hex_hash(&text, 16)
}

impl Cassette {
    /// From `record:FILE` or `replay:FILE`. A file to be played back is read whole, here.
    ///
    /// # Errors
    /// Another word, or a file that cannot be read or holds something else.
    pub fn open(said: &str) -> Result<Self, LlmError> {
        let fail = |message: String| LlmError::Cassette { message };
        match said.split_once(':') {
            Some(("record", path)) if !path.is_empty() => Ok(Self::Record(path.into(), Mutex::new(()))),
            Some(("replay", path)) if !path.is_empty() => {
                let text = std::fs::read_to_string(path).map_err(|e| fail(format!("{path}: {e}")))?;
                let mut replies: HashMap<String, VecDeque<Reply>> = HashMap::new();
                for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                    let exchange: Exchange =
                        serde_json::from_str(line).map_err(|e| fail(format!("{path}:{}: {e}", at + 1)))?;
                    let key = key(&exchange.model, &exchange.request);
                    replies.entry(key).or_default().push_back(exchange.reply);
                }
                Ok(Self::Replay(path.into(), Mutex::new(replies)))
            }
            _ => Err(fail(format!("{said:?} is neither record:FILE nor replay:FILE"))),
        }
    }

    /// The recorded reply to a request; `None`: it has to be asked for.
    ///
    /// # Errors
    /// The cassette is played back, and the request is not on it.
    pub fn play(&self, model: &str, request: &Request) -> Result<Option<Reply>, LlmError> {
        let Self::Replay(path, replies) = self else { return Ok(None) };
        let mut replies = replies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let reply = replies.get_mut(&key(model, request)).and_then(VecDeque::pop_front);
        reply.map(Some).ok_or_else(|| LlmError::Cassette {
            message: format!("{} has no (further) reply of {model} to this request", path.display()),
        })
    }

    /// Adds an exchange, durable when this returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, model: &str, request: &Request, reply: &Reply) -> Result<(), LlmError> {
        let Self::Record(path, alone) = self else { return Ok(()) };
        let _alone = alone.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let exchange = Exchange { model: model.to_owned(), request: request.clone(), reply: reply.clone() };
        let mut line = serde_json::to_vec(&exchange).expect("invariant: an exchange is plain data");
        line.push(b'\n');
        append(path, &line).map_err(|e| LlmError::Cassette { message: format!("{}: {e}", path.display()) })
    }
}

fn append(path: &Path, line: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(line)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cognition::exchange::{Message, Voice};

    fn asked(text: &str) -> Request {
        Request { messages: vec![Message::new(Voice::User, text)], ..Request::default() }
    }

    fn said(text: &str) -> Reply {
        Reply { text: text.to_owned(), ..Reply::default() }
    }

    #[test]
    fn what_was_recorded_is_played_back_in_its_order_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let tape = Cassette::open(&format!("record:{}", path.display())).unwrap();
        assert_eq!(tape.play("small", &asked("hi")).unwrap(), None);
        for (question, answer) in [("hi", "one"), ("ho", "two"), ("hi", "three")] {
            tape.keep("small", &asked(question), &said(answer)).unwrap();
        }
        let tape = Cassette::open(&format!("replay:{}", path.display())).unwrap();
        assert_eq!(tape.play("small", &asked("hi")).unwrap(), Some(said("one")));
        assert_eq!(tape.play("small", &asked("hi")).unwrap(), Some(said("three")));
        assert_eq!(tape.play("small", &asked("ho")).unwrap(), Some(said("two")));
        assert!(tape.play("small", &asked("hi")).is_err(), "no third one");
        assert!(tape.play("large", &asked("ho")).is_err(), "another model");
    }

    #[test]
    fn a_cassette_that_is_none_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        std::fs::write(&path, "\n{\"model\": 1}\n").unwrap();
        let error = Cassette::open(&format!("replay:{}", path.display())).unwrap_err().to_string();
        assert!(error.contains("tape.jsonl:2:"), "{error}");
        for said in ["", "replay", "replay:", "play:x", "replay:/no/such/file"] {
            assert!(Cassette::open(said).is_err(), "{said}");
        }
    }
}
