//! Messages: JSON as in the proto, signed bytes, and every refusal.

use std::collections::BTreeMap;

use super::super::ids::{MemberId, MessageId};
use super::super::message::{
    AgentMessage, Inbox, MemoryBytes, MemorySyncRequest, MemorySyncResponse, MessageFault, MessageType, Verifier,
};
use super::SplitMix;
use crate::limits;

/// A stand-in for signatures: the sender's key before a sum over the bytes.
struct Keys(BTreeMap<MemberId, u64>);

fn sign(key: u64, bytes: &[u8]) -> String {
    bytes.iter().fold(key, |sum, byte| sum.wrapping_mul(0x100_0000_01B3).wrapping_add(u64::from(*byte))).to_string()
}

impl Verifier for Keys {
    fn verify(&self, sender_id: &MemberId, bytes: &[u8], signature: &str) -> bool {
        self.0.get(sender_id).is_some_and(|key| sign(*key, bytes) == signature)
    }
}

fn keys() -> Keys {
    Keys([("a".into(), 11), ("b".into(), 22)].into())
}

const NOW_MS: i64 = 1_700_000_000_000;

fn signed(change: impl FnOnce(&mut AgentMessage)) -> AgentMessage {
    let mut message = AgentMessage {
        sender_id: "a".into(),
        recipient_id: "broadcast".into(),
        message_type: MessageType::VoteSubmit,
        content: "{}".into(),
        timestamp: NOW_MS,
        thread_id: "t1".into(),
        ..AgentMessage::default()
    };
    change(&mut message);
    let key = keys().0.get(&message.sender_id).copied().unwrap_or(99);
    message.signature = sign(key, &message.canonical_bytes());
    message
}

fn inbox() -> Inbox {
    Inbox::new("me".into(), "t1".into())
}

#[test]
fn message_is_taken() {
    for recipient in ["broadcast", "me"] {
        let message = signed(|m| m.recipient_id = recipient.into());
        assert_eq!(inbox().take(&message, NOW_MS, &keys()), Ok(message.id()));
    }
}

#[test]
fn message_is_refused_with_a_reason() {
    let take = |message: &AgentMessage| inbox().take(message, NOW_MS, &keys()).unwrap_err();
    let unsigned = AgentMessage { signature: " ".into(), ..signed(|_| {}) };
    assert_eq!(take(&unsigned), MessageFault::Unsigned("a".into()));
    let of_another = AgentMessage { sender_id: "b".into(), ..signed(|_| {}) };
    assert_eq!(take(&of_another), MessageFault::Forged("b".into()));
    assert_eq!(take(&signed(|m| m.sender_id = "z".into())), MessageFault::Forged("z".into()));
    assert_eq!(take(&signed(|m| m.thread_id = "t0".into())), MessageFault::WrongThread("t0".into()));
    assert_eq!(take(&signed(|m| m.recipient_id = "you".into())), MessageFault::WrongRecipient("you".into()));
    let too_long = signed(|m| m.content = "x".repeat(limits::COUNCIL_CONTENT_BYTES + 1));
    assert_eq!(take(&too_long), MessageFault::TooLong(limits::COUNCIL_CONTENT_BYTES + 1));
    let reason = take(&of_another).to_string();
    assert_eq!(reason, "the signature is not that of b over this message");
}

#[test]
fn message_is_forged_where_any_signed_field_changes() {
    type Change = fn(&mut AgentMessage);
    let changes: [Change; 6] = [
        |m| m.recipient_id = "me".into(),
        |m| m.message_type = MessageType::Escalation,
        |m| m.content.push(' '),
        |m| m.timestamp += 1,
        |m| m.parent_message_id = "p".into(),
        |m| (m.sender_id, m.recipient_id) = ("b".into(), "me".into()),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let mut message = signed(|_| {});
        change(&mut message);
        let fault = inbox().take(&message, NOW_MS, &keys()).unwrap_err();
        assert_eq!(fault, MessageFault::Forged(message.sender_id), "change {place}");
    }
}

#[test]
fn message_is_refused_a_second_time() {
    let mut inbox = inbox();
    let message = signed(|_| {});
    // A forgery that comes first does not block the real one.
    let forgery = AgentMessage { signature: "0".into(), ..message.clone() };
    assert!(inbox.take(&forgery, NOW_MS, &keys()).is_err());
    inbox.take(&message, NOW_MS, &keys()).unwrap();
    for later_ms in [0, 1, limits::COUNCIL_WINDOW_MS] {
        let fault = inbox.take(&message, NOW_MS + later_ms, &keys()).unwrap_err();
        assert_eq!(fault, MessageFault::Replayed(message.id()), "{later_ms}");
    }
    let next = signed(|m| m.timestamp += 2 * limits::COUNCIL_WINDOW_MS);
    inbox.take(&next, next.timestamp, &keys()).unwrap();
    // It is forgotten, and too old: also where the clock is set back.
    for now_ms in [next.timestamp, NOW_MS] {
        let fault = inbox.take(&message, now_ms, &keys()).unwrap_err();
        assert!(matches!(fault, MessageFault::Stale { .. }), "{fault}");
    }
}

#[test]
fn message_is_refused_outside_the_window() {
    let window = limits::COUNCIL_WINDOW_MS;
    let take = |age_ms: i64| inbox().take(&signed(|m| m.timestamp = NOW_MS - age_ms), NOW_MS, &keys());
    assert!(take(window).is_ok() && take(-window).is_ok());
    assert_eq!(take(window + 1), Err(MessageFault::Stale { sender_id: "a".into(), age_ms: window + 1 }));
    assert_eq!(take(-window - 1), Err(MessageFault::Ahead { sender_id: "a".into(), lead_ms: window + 1 }));
    for extreme in [i64::MIN, i64::MAX] {
        assert!(inbox().take(&signed(|m| m.timestamp = extreme), NOW_MS, &keys()).is_err());
    }
}

#[test]
fn message_json_has_the_fields_of_the_proto() {
    let message = signed(|m| m.parent_message_id = "p".into());
    let json = serde_json::to_value(&message).unwrap();
    let mut fields: Vec<&String> = json.as_object().unwrap().keys().collect();
    fields.sort();
    let proto =
        ["content", "parent_message_id", "recipient_id", "sender_id", "signature", "thread_id", "timestamp", "type"];
    assert_eq!(fields, proto);
    assert_eq!(json["type"], "VOTE_SUBMIT");
    assert_eq!(json["timestamp"], NOW_MS);
    assert_eq!(serde_json::from_value::<AgentMessage>(json).unwrap(), message);
    let sparse: AgentMessage = serde_json::from_str(r#"{"sender_id":"a"}"#).unwrap();
    assert_eq!(sparse.message_type, MessageType::Query, "a field left out has its proto default");
    assert!(serde_json::from_str::<AgentMessage>(r#"{"sender_id":"a","note":"unsigned"}"#).is_err());
}

#[test]
fn message_types_have_the_numbers_and_words_of_the_proto() {
    let words = ["QUERY", "RESPONSE", "VOTE_REQUEST", "VOTE_SUBMIT", "CONSENSUS_RESULT", "ESCALATION", "MEMORY_SYNC"];
    for (number, word) in words.into_iter().enumerate() {
        let read: MessageType = serde_json::from_value(word.into()).unwrap();
        assert_eq!(usize::from(read.number()), number);
    }
}

/// Messages that differ in any field, or in the border between two, have other bytes.
#[test]
fn message_bytes_are_unique() {
    let mut random = SplitMix(5);
    let mut seen: BTreeMap<Vec<u8>, AgentMessage> = BTreeMap::new();
    for _ in 0..20_000 {
        let mut text = || "aab"[..random.below(4)].to_owned();
        let message = AgentMessage {
            sender_id: text().into(),
            recipient_id: text().into(),
            content: text(),
            thread_id: text().into(),
            parent_message_id: MessageId::from(text()),
            ..AgentMessage::default()
        };
        let known = seen.entry(message.canonical_bytes()).or_insert_with(|| message.clone());
        assert_eq!(*known, message);
    }
    assert!(seen.len() > 500);
}

#[test]
fn memory_sync_json_has_the_fields_of_the_proto() {
    let request = r#"{"requesting_agent":"a","memory_keys":["k"],"since_timestamp":5}"#;
    let read: MemorySyncRequest = serde_json::from_str(request).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), request);
    let response = r#"{"memories":{"k":"Zm9v","l":""},"sync_timestamp":6}"#;
    let read: MemorySyncResponse = serde_json::from_str(response).unwrap();
    assert_eq!(read.memories["k"], MemoryBytes(b"foo".to_vec()));
    assert_eq!(serde_json::to_string(&read).unwrap(), response);
    assert!(serde_json::from_str::<MemorySyncResponse>(r#"{"memories":{"k":"Zm9"}}"#).is_err());
}
