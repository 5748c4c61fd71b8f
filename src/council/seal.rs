//! Sealed votes: every vote is fixed before any is read.
//!
//! A member first hands in a seal, the SHA-256 over its vote and a nonce. When all have, or when the time for seals is over, votes are
//! opened and compared with their seals. So no member can follow another. A member without a valid opening is absent.
//!
//! The nonce must come from a random source and stay secret until the opening: votes are few, and without it a seal could be guessed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::{canonical, hex, sha256_hex};
use super::ids::{MemberId, ThreadId};
use super::vote::{Members, Refused, Vote, VoteFault};

/// Thirty-two random bytes, in JSON as hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce(pub [u8; 32]);

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> Self {
        hex(&nonce.0)
    }
}

impl TryFrom<String> for Nonce {
    type Error = NonceFault;

    fn try_from(text: String) -> Result<Self, NonceFault> {
        let is_hex = text.len() == 64 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let mut nonce = [0; 32];
        for (place, byte) in nonce.iter_mut().enumerate().filter(|_| is_hex) {
            *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).map_err(|_| NonceFault)?;
        }
        if is_hex { Ok(Self(nonce)) } else { Err(NonceFault) }
    }
}

/// A text that is no nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a nonce is 64 lower-case hexadecimal digits")]
pub struct NonceFault;

/// A seal over a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// The thread of the question.
    pub thread_id: ThreadId,
    /// The member that votes.
    pub member: MemberId,
    /// SHA-256 over the vote's canonical bytes and the nonce, in hexadecimal digits.
    pub digest: String,
}

impl Seal {
    /// Seals a vote.
    pub fn of(thread_id: &ThreadId, vote: &Vote, nonce: &Nonce) -> Self {
        let bytes = canonical("alaya council seal 1", &[&vote.canonical_bytes(thread_id), &nonce.0]);
        Self { thread_id: thread_id.clone(), member: vote.member.clone(), digest: sha256_hex(&bytes) }
    }
}

/// The opening of a seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The thread of the question.
    pub thread_id: ThreadId,
    /// The vote.
    pub vote: Vote,
    /// The nonce.
    pub nonce: Nonce,
}

/// A reason to refuse a seal or an opening.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SealFault {
    /// A seal of no member.
    #[error("{0} is not a member of this council")]
    Stranger(MemberId),
    /// A seal or opening from another thread: a replay.
    #[error("it belongs to thread {0}, which is another question")]
    WrongThread(ThreadId),
    /// A second seal of the same member. The first stands.
    #[error("member {0} has sealed a vote already")]
    DoubleSeal(MemberId),
    /// A seal after the time for seals, or after the first opening.
    #[error("the seal of member {0} came late")]
    LateSeal(MemberId),
    /// An opening while others may still seal.
    #[error("an opening came while {0} members could still seal")]
    EarlyOpening(usize),
    /// An opening after the time for openings.
    #[error("the opening of member {0} came late")]
    LateOpening(MemberId),
    /// An opening without a seal.
    #[error("member {0} has sealed no vote")]
    Unsealed(MemberId),
    /// A vote or nonce that is not the one sealed.
    #[error("the opening of member {0} is not the vote that it sealed")]
    Changed(MemberId),
    /// A second opening of the same member.
    #[error("member {0} has opened its vote already")]
    DoubleOpening(MemberId),
    /// A seal that was never opened.
    #[error("member {0} sealed a vote and did not open it")]
    Missing(MemberId),
    /// A vote that breaks the rules of votes.
    #[error(transparent)]
    Vote(#[from] VoteFault),
}

/// The times of a round, in milliseconds. Both are the last moment that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadlines {
    /// The end of the time for seals.
    pub seal_ms: i64,
    /// The end of the time for openings.
    pub open_ms: i64,
}

/// The votes of a round, and the members without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Votes that were opened, in the order of members.
    pub votes: Vec<Vote>,
    /// Absent members, in the order of members, each with the reason.
    pub absent: Vec<Refused>,
}

/// A round of sealed votes on one question.
#[derive(Clone, Debug)]
pub struct Round {
    members: Members,
    thread_id: ThreadId,
    deadlines: Deadlines,
    seals: BTreeMap<MemberId, Seal>,
    votes: BTreeMap<MemberId, Vote>,
    refusals: BTreeMap<MemberId, SealFault>,
}

impl Round {
    /// A round without seals.
    pub fn new(members: Members, thread_id: ThreadId, deadlines: Deadlines) -> Self {
        let (seals, votes, refusals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { members, thread_id, deadlines, seals, votes, refusals }
    }

    /// Takes a seal.
    ///
    /// # Errors
    /// The reason to refuse it.
    pub fn seal(&mut self, seal: Seal, now_ms: i64) -> Result<(), SealFault> {
        let member = seal.member.clone();
        let checked = self.check_seal(&seal, now_ms);
        match &checked {
            Ok(()) => {
                self.refusals.remove(&member);
                self.seals.insert(member, seal);
            }
            Err(fault) => self.note(&member, fault),
        }
        checked
    }

    fn check_seal(&self, seal: &Seal, now_ms: i64) -> Result<(), SealFault> {
        let member = || seal.member.clone();
        if self.members.get(&seal.member).is_none() {
            return Err(SealFault::Stranger(member()));
        }
        if seal.thread_id != self.thread_id {
            return Err(SealFault::WrongThread(seal.thread_id.clone()));
        }
        if self.seals.contains_key(&seal.member) {
            return Err(SealFault::DoubleSeal(member()));
        }
        if now_ms > self.deadlines.seal_ms || !self.votes.is_empty() {
            return Err(SealFault::LateSeal(member()));
        }
        Ok(())
    }

    /// Opens a vote. After a refused opening the member may send the right one in time: only the sealed vote can ever count.
    ///
    /// # Errors
    /// The reason to refuse it. The vote of a refused opening has been read: the caller must not show it to other voters.
    pub fn open(&mut self, opening: Opening, now_ms: i64) -> Result<(), SealFault> {
        let member = opening.vote.member.clone();
        let checked = self.check_opening(&opening, now_ms);
        match &checked {
            Ok(()) => {
                self.votes.insert(member, opening.vote);
            }
            Err(fault) => self.note(&member, fault),
        }
        checked
    }

    fn check_opening(&self, opening: &Opening, now_ms: i64) -> Result<(), SealFault> {
        let member = &opening.vote.member;
        if opening.thread_id != self.thread_id {
            return Err(SealFault::WrongThread(opening.thread_id.clone()));
        }
        let Some(seal) = self.seals.get(member) else {
            return Err(SealFault::Unsealed(member.clone()));
        };
        if self.votes.contains_key(member) {
            return Err(SealFault::DoubleOpening(member.clone()));
        }
        let waiting = self.members.count() - self.seals.len();
        if waiting > 0 && now_ms <= self.deadlines.seal_ms && self.votes.is_empty() {
            return Err(SealFault::EarlyOpening(waiting));
        }
        if now_ms > self.deadlines.open_ms {
            return Err(SealFault::LateOpening(member.clone()));
        }
        if Seal::of(&self.thread_id, &opening.vote, &opening.nonce) != *seal {
            return Err(SealFault::Changed(member.clone()));
        }
        Ok(opening.vote.check(&self.members)?)
    }

    /// Keeps the latest reason for a member's absence. A double is no such reason: the first stands.
    fn note(&mut self, member: &MemberId, fault: &SealFault) {
        let is_double = matches!(fault, SealFault::DoubleSeal(_) | SealFault::DoubleOpening(_));
        if !is_double && self.members.get(member).is_some() {
            self.refusals.insert(member.clone(), fault.clone());
        }
    }

    /// Ends the round: votes that were opened, and every other member as absent with the reason.
    pub fn finish(mut self) -> Opened {
        let (mut votes, mut absent) = (Vec::new(), Vec::new());
        for member in self.members.iter().map(|member| &member.id) {
            if let Some(vote) = self.votes.remove(member) {
                votes.push(vote);
                continue;
            }
            let fault = self.refusals.remove(member).unwrap_or_else(|| match self.seals.get(member) {
                Some(_) => SealFault::Missing(member.clone()),
                None => SealFault::Unsealed(member.clone()),
            });
            absent.push(Refused { member: member.clone(), reason: fault.to_string() });
        }
        Opened { votes, absent }
    }
}
