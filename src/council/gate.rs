//! A council that decides on a run: whether its record carries a decision, judged from the record and the document of main alone.
//!
//! Whoever holds the record can judge it: members and keys are those of main, each vote is signed by the key that main names, about this
//! question, run and commit, and the verdict is counted again from those votes. Members without a key in the document count as absent.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::document::CouncilDocument;
use super::ids::MemberId;
use super::message::{CHAIR, MessageType, Verifier};
use super::record::{CastVote, CouncilRecord, SeatRecord};
use super::verdict::{Thresholds, decide};
use super::vote::{Decision, Members, Vote};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::review::CouncilSeats;

/// The members that decide, as one state of main names them.
#[derive(Clone, Debug)]
pub struct Gate {
    source: String,
    members: Members,
    keys: BTreeMap<MemberId, String>,
    thresholds: Thresholds,
}

/// What a council has to be about.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its commit.
    pub commit: &'a str,
    /// The question about them, where the commit is known here.
    pub question: Option<String>,
}

/// A reason why a council decides nothing about a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GateFault {
    /// Main has no such document, or one that names no council.
    #[error("main has no council that can be read: {0}")]
    Document(String),
    /// Other members were asked.
    #[error("it asked the members of {asked}, and main has {source_of_main}")]
    OtherDocument {
        /// The document of the record.
        asked: String,
        /// The document of main.
        source_of_main: String,
    },
    /// Another run, commit or question.
    #[error("it is about another run, commit or question")]
    OtherSubject,
    /// A record of a council that gives advice.
    #[error("its votes are not bound to a run")]
    Unbound,
    /// A list of members that is not that of the document.
    #[error("its members or keys are not those of {0}")]
    OtherMembers(String),
    /// A vote that is not its member's.
    #[error("the vote of {0} is not signed by the key that main names, about this question")]
    Forged(MemberId),
    /// Too few votes under keys of main.
    #[error("the votes under keys of the document decide nothing: {0}")]
    Undecided(String),
    /// Another verdict than the votes give.
    #[error("its verdict says {said}, and its votes say {counted}")]
    OtherVerdict {
        /// The verdict of the record.
        said: Decision,
        /// The votes.
        counted: Decision,
    },
}

impl Gate {
    /// Reads the document.
    ///
    /// # Errors
    /// It is no document of members.
    pub fn read(seats: &CouncilSeats) -> Result<Self, GateFault> {
        let wrong = |fault: &dyn std::fmt::Display| GateFault::Document(format!("{}: {fault}", seats.source));
        let document: CouncilDocument = serde_json::from_str(&seats.text).map_err(|error| wrong(&error))?;
        let seated = document.seated(|model| seats.families.get(model).cloned());
        let (members, seated) = seated.map_err(|fault| wrong(&fault))?;
        let keys = seated.into_iter().filter_map(|seat| Some((seat.member.id, seat.key?))).collect();
        Ok(Self { source: seats.source.clone(), members, keys, thresholds: document.thresholds })
    }

    /// The document, `council.json@BLOB`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Why no vote of its members can decide on a run: too few of them have keys of their own. `None`: they can.
    pub fn lacks_keys(&self) -> Option<String> {
        let (keyed, all) = (self.keys.len(), self.members.count());
        let distinct: BTreeSet<&String> = self.keys.values().collect();
        if distinct.len() < keyed {
            return Some("two members have one key".to_owned());
        }
        let families = self.members.iter().filter(|member| self.keys.contains_key(&member.id));
        let families: BTreeSet<_> = families.map(|member| &member.family).collect();
        let of = self.members.families().len();
        let can = 3 * keyed >= 2 * all && families.len() >= 2 && 3 * families.len() >= 2 * of;
        (!can).then(|| {
            format!("{keyed} of {all} members and {} of {of} families have a key there, and two thirds of each and two families are needed", families.len())
        })
    }

    /// The decision that a record carries.
    ///
    /// # Errors
    /// The first reason why it carries none.
    pub fn decided(
        &self,
        record: &CouncilRecord,
        subject: &Subject<'_>,
        verifier: &impl Fn(&str, &[u8], &str) -> bool,
    ) -> Result<Decision, GateFault> {
        if record.document != self.source {
            let (asked, source_of_main) = (record.document.clone(), self.source.clone());
            return Err(GateFault::OtherDocument { asked, source_of_main });
        }
        if record.run.as_ref() != Some(subject.run)
            || record.commit.as_deref() != Some(subject.commit)
            || subject.question.as_ref().is_some_and(|question| *question != record.question)
        {
            return Err(GateFault::OtherSubject);
        }
        if record.binds != CouncilRecord::binding(&record.question, subject.run, subject.commit, &record.document) {
            return Err(GateFault::Unbound);
        }
        let is_same = |(member, seat): (&super::vote::Member, &SeatRecord)| {
            let key = self.keys.get(&member.id);
            member.id == seat.id && member.family == seat.family && key.is_none_or(|key| *key == seat.key)
        };
        if self.members.count() != record.members.len() || !self.members.iter().zip(&record.members).all(is_same) {
            return Err(GateFault::OtherMembers(self.source.clone()));
        }
        if let Some(why) = self.lacks_keys() {
            return Err(GateFault::Undecided(why));
        }
        let mut votes: Vec<Vote> = Vec::new();
        for cast in &record.votes {
            let vote = &cast.opening.vote;
            let Some(key) = self.keys.get(&vote.member) else { continue };
            let verifier = Key { key, is_signed: verifier };
            if !is_its_own(cast, record, &verifier) || votes.iter().any(|other| other.member == vote.member) {
                return Err(GateFault::Forged(vote.member.clone()));
            }
            votes.push(vote.clone());
        }
        let counted = decide(&record.question, &self.members, &votes, &[], &self.thresholds);
        if let Some(concern) = counted.concerns.first() {
            return Err(GateFault::Undecided(concern.sentence.clone()));
        }
        // Members without keys, and errors that were shared before, can make a council hold back, and never decide.
        if record.verdict.escalates() || record.verdict.decision != counted.decision {
            return Err(GateFault::OtherVerdict { said: record.verdict.decision, counted: counted.decision });
        }
        Ok(counted.decision)
    }
}

/// One key, as what checks signatures.
struct Key<'a, F> {
    key: &'a str,
    is_signed: &'a F,
}

impl<F: Fn(&str, &[u8], &str) -> bool> Verifier for Key<'_, F> {
    fn verify(&self, _: &MemberId, bytes: &[u8], signature: &str) -> bool {
        (self.is_signed)(self.key, bytes, signature)
    }
}

/// Whether a member has signed this vote, in this thread, while the council was held.
fn is_its_own(cast: &CastVote, record: &CouncilRecord, verifier: &impl Verifier) -> bool {
    let message = &cast.message;
    let thread = CouncilRecord::thread_of(&record.council, &record.binds);
    let (from, to) = (record.council.unix_ms(), record.at_ms.max(record.council.unix_ms()));
    let is_in_time = message.timestamp >= from.saturating_sub(limits::COUNCIL_WINDOW_MS)
        && message.timestamp <= to.saturating_add(limits::COUNCIL_WINDOW_MS)
        && to - from <= i64::try_from(limits::COMMAND_TIMEOUT_MAX_MS).unwrap_or(i64::MAX) + limits::COUNCIL_WINDOW_MS;
    cast.is_of(&thread)
        && message.message_type == MessageType::VoteSubmit
        && message.recipient_id.as_str() == CHAIR
        && is_in_time
        && verifier.verify(&message.sender_id, &message.canonical_bytes(), &message.signature)
}
