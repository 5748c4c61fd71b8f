//! Messages between agents, with the fields of the seed's proto (3.5) as JSON, and the checks of a message that comes in.
//!
//! The proto has no id of a message. Here it is the SHA-256 of the signed bytes, so that another signature makes no other message.
//! Signatures are checked by a `Verifier` outside: this room holds no keys.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::{canonical, sha256_hex};
use super::ids::{MemberId, MessageId, ThreadId};
use super::vote::BROADCAST;
use crate::limits;

/// The recipient of votes.
pub const CHAIR: &str = "council";

/// The type of a message, in the proto's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MessageType {
    /// A question.
    #[default]
    Query,
    /// An answer.
    Response,
    /// A request to vote.
    VoteRequest,
    /// A seal or its opening.
    VoteSubmit,
    /// A verdict.
    ConsensusResult,
    /// A question for a person.
    Escalation,
    /// A request for memories, or the answer.
    MemorySync,
}

impl MessageType {
    /// The number in the proto: the part of the signed bytes that no renaming changes.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// A message of an agent. A field that is left out is empty, as in proto3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentMessage {
    /// The sender.
    pub sender_id: MemberId,
    /// The recipient, or `broadcast`.
    pub recipient_id: MemberId,
    /// The type.
    #[serde(rename = "type")]
    pub message_type: MessageType,
    /// The content, such as JSON of a seal.
    pub content: String,
    /// The time of sending, in milliseconds since 1970.
    pub timestamp: i64,
    /// The signature over the canonical bytes, as the `Verifier` reads it.
    pub signature: String,
    /// The thread.
    pub thread_id: ThreadId,
    /// The message that this one answers; empty: none.
    pub parent_message_id: MessageId,
}

impl AgentMessage {
    /// Bytes that are signed: every field but the signature.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        let fields: [&[u8]; 7] = [
            self.sender_id.as_str().as_bytes(),
            self.recipient_id.as_str().as_bytes(),
            &[self.message_type.number()],
            self.content.as_bytes(),
            &self.timestamp.to_be_bytes(),
            self.thread_id.as_str().as_bytes(),
            self.parent_message_id.as_str().as_bytes(),
        ];
        canonical("alaya council message 1", &fields)
    }

    /// The id of the message.
    pub fn id(&self) -> MessageId {
        sha256_hex(&self.canonical_bytes()).into()
    }
}

/// A check of signatures.
pub trait Verifier {
    /// Whether a signature over bytes is the sender's. An unknown sender has none.
    fn verify(&self, sender_id: &MemberId, bytes: &[u8], signature: &str) -> bool;
}

/// A reason to refuse a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MessageFault {
    /// A message without a signature.
    #[error("the message of {0} is unsigned")]
    Unsigned(MemberId),
    /// A signature that is not the sender's over this message.
    #[error("the signature is not that of {0} over this message")]
    Forged(MemberId),
    /// A message that was taken before.
    #[error("message {0} was taken before")]
    Replayed(MessageId),
    /// A message older than the window.
    #[error("the message of {sender_id} is {age_ms} ms old, too old to tell from a replay")]
    Stale {
        /// The sender.
        sender_id: MemberId,
        /// Its age.
        age_ms: i64,
    },
    /// A message from further in the future than clocks differ.
    #[error("the message of {sender_id} is dated {lead_ms} ms ahead")]
    Ahead {
        /// The sender.
        sender_id: MemberId,
        /// Its lead.
        lead_ms: i64,
    },
    /// A message of another thread.
    #[error("the message belongs to thread {0}, not to this one")]
    WrongThread(ThreadId),
    /// A message to another recipient.
    #[error("the message is addressed to {0}")]
    WrongRecipient(MemberId),
    /// A content larger than `limits::COUNCIL_CONTENT_BYTES`.
    #[error("the content has {0} bytes, at most {max} are allowed", max = limits::COUNCIL_CONTENT_BYTES)]
    TooLong(usize),
}

/// The messages of one thread that one recipient takes, each once.
#[derive(Clone, Debug)]
pub struct Inbox {
    recipient_id: MemberId,
    thread_id: ThreadId,
    window_ms: i64,
    latest_ms: i64,
    seen: BTreeMap<MessageId, i64>,
}

impl Inbox {
    /// An inbox that has taken nothing, with a window of `limits::COUNCIL_WINDOW_MS`.
    pub fn new(recipient_id: MemberId, thread_id: ThreadId) -> Self {
        let window_ms = limits::COUNCIL_WINDOW_MS;
        Self { recipient_id, thread_id, window_ms, latest_ms: i64::MIN, seen: BTreeMap::new() }
    }

    /// Takes a message. Only a message that passed every check is remembered, so that a forger cannot block a real one.
    ///
    /// # Errors
    /// The first reason to refuse it.
    pub fn take(
        &mut self,
        message: &AgentMessage,
        now_ms: i64,
        verifier: &impl Verifier,
    ) -> Result<MessageId, MessageFault> {
        // A clock that is set back must not bring back messages that were forgotten as too old.
        let now_ms = now_ms.max(self.latest_ms);
        let sender_id = || message.sender_id.clone();
        if message.signature.trim().is_empty() {
            return Err(MessageFault::Unsigned(sender_id()));
        }
        if message.content.len() > limits::COUNCIL_CONTENT_BYTES {
            return Err(MessageFault::TooLong(message.content.len()));
        }
        if message.thread_id != self.thread_id {
            return Err(MessageFault::WrongThread(message.thread_id.clone()));
        }
        if message.recipient_id.as_str() != BROADCAST && message.recipient_id != self.recipient_id {
            return Err(MessageFault::WrongRecipient(message.recipient_id.clone()));
        }
        let age_ms = now_ms.saturating_sub(message.timestamp);
        if age_ms > self.window_ms {
            return Err(MessageFault::Stale { sender_id: sender_id(), age_ms });
        }
        if age_ms < -self.window_ms {
            return Err(MessageFault::Ahead { sender_id: sender_id(), lead_ms: age_ms.saturating_neg() });
        }
        let bytes = message.canonical_bytes();
        if !verifier.verify(&message.sender_id, &bytes, &message.signature) {
            return Err(MessageFault::Forged(sender_id()));
        }
        let id = MessageId::from(sha256_hex(&bytes));
        if self.seen.contains_key(&id) {
            return Err(MessageFault::Replayed(id));
        }
        self.latest_ms = now_ms;
        let window_ms = self.window_ms;
        self.seen.retain(|_, timestamp| now_ms.saturating_sub(*timestamp) <= window_ms);
        self.seen.insert(id.clone(), message.timestamp);
        Ok(id)
    }
}

/// A request for memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySyncRequest {
    /// The agent that asks.
    pub requesting_agent: MemberId,
    /// The keys; empty: all.
    pub memory_keys: Vec<String>,
    /// The time after which a memory is new, in milliseconds since 1970.
    pub since_timestamp: i64,
}

/// The answer to a request for memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySyncResponse {
    /// Memories by key.
    pub memories: BTreeMap<String, MemoryBytes>,
    /// The time of the answer, in milliseconds since 1970.
    pub sync_timestamp: i64,
}

/// Bytes of a memory, in JSON as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryBytes(pub Vec<u8>);

impl From<MemoryBytes> for String {
    fn from(bytes: MemoryBytes) -> Self {
        STANDARD.encode(&bytes.0)
    }
}

impl TryFrom<String> for MemoryBytes {
    type Error = MemoryBytesFault;

    fn try_from(text: String) -> Result<Self, MemoryBytesFault> {
        STANDARD.decode(&text).map(Self).map_err(|_| MemoryBytesFault)
    }
}

/// A text that is no base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a memory is not padded base64")]
pub struct MemoryBytesFault;
