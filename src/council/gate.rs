//! A council that decides on a run: whether its record carries a decision, judged from the record and the document of main alone.
//!
//! Whoever holds the record can judge it: members and keys are those of main, each vote is signed by the key that main names, about this
//! question, run and commit, and the verdict is counted again from those votes. Members without a key in the document count as absent.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::document::{CouncilDocument, Mind, Seated};
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
    /// Members that are programs: they sign by themselves where their key is kept nowhere else.
    programs: BTreeSet<MemberId>,
    /// The role and the mind of each member, as a record names them.
    minds: BTreeMap<MemberId, (String, String)>,
    thresholds: Thresholds,
}

/// The progress of a council that did not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Enough members voted under keys of the document: it had its say, and people decide.
    Whole,
    /// Too few members voted to decide anything, as where an endpoint was down.
    TooFew,
    /// No member voted, so nothing was said that another try could be rolled against.
    Nobody,
    /// By another document, or under other keys than the document names.
    Elsewhere,
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
        let seated = document.seated(|model| seats.models.get(model).cloned());
        let (members, seated) = seated.map_err(|fault| wrong(&fault))?;
        let is_program = |seat: &&Seated| matches!(seat.mind, Mind::Command { .. });
        let programs = seated.iter().filter(is_program).map(|seat| seat.member.id.clone()).collect();
        let minds = seated.iter().map(|seat| (seat.member.id.clone(), (seat.role.name.clone(), seat.mind.name())));
        let minds = minds.collect();
        let keys = seated.into_iter().filter_map(|seat| Some((seat.member.id, seat.key?))).collect();
        Ok(Self { source: seats.source.clone(), members, keys, programs, minds, thresholds: document.thresholds })
    }

    /// The document, `council.json@BLOB`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Why no vote of its members can decide on a run: too few of them have keys of their own. `None`: they can.
    pub fn lacks_keys(&self) -> Option<String> {
        let distinct: BTreeSet<&String> = self.keys.values().collect();
        if distinct.len() < self.keys.len() {
            return Some("two members have one key".to_owned());
        }
        let (keyed, all) = (self.keys.len(), self.members.count());
        let (families, of) = (self.families_among(|id| self.keys.contains_key(id)), self.members.families().len());
        (!self.can_decide(|id| self.keys.contains_key(id))).then(|| {
            format!("{keyed} of {all} members and {families} of {of} families have a key there, and two thirds of each and two families are needed")
        })
    }

    /// The reason that its members cannot decide where they are asked: keys of too many lie on another machine. `kept` is the public key that is kept here for a
    /// member, `leave_unsigned` are programs that are known not to sign by themselves. `None`: they can.
    pub fn lacks_kept(
        &self,
        kept: impl Fn(&MemberId) -> Option<String>,
        leave_unsigned: &BTreeSet<MemberId>,
    ) -> Option<String> {
        let signs = |id: &MemberId| self.programs.contains(id) && !leave_unsigned.contains(id);
        let votes = |id: &MemberId| self.keys.get(id).is_some_and(|key| signs(id) || kept(id).as_ref() == Some(key));
        let missing: Vec<&str> = self.keys.keys().filter(|id| !votes(id)).map(MemberId::as_str).collect();
        (!self.can_decide(votes)).then(|| {
            format!("the keys that the document names for {} are not kept on this machine", missing.join(", "))
        })
    }

    /// The progress of a council about a run by this document.
    pub fn asked(&self, record: &CouncilRecord, verifier: &impl Fn(&str, &[u8], &str) -> bool) -> Asked {
        let is_keyed =
            |(id, key): (&MemberId, &String)| record.members.iter().any(|seat| seat.id == *id && seat.key == *key);
        if record.document != self.source || !record.may_decide() || !self.keys.iter().all(is_keyed) {
            return Asked::Elsewhere;
        }
        let has_voted = |id: &MemberId| {
            let Some(key) = self.keys.get(id) else { return false };
            let verifier = Key { key, is_signed: verifier };
            record.votes.iter().any(|cast| cast.opening.vote.member == *id && is_its_own(cast, record, &verifier))
        };
        match (self.can_decide(has_voted), self.keys.keys().any(has_voted)) {
            (true, _) => Asked::Whole,
            (_, true) => Asked::TooFew,
            (_, false) => Asked::Nobody,
        }
    }

    fn families_among(&self, votes: impl Fn(&MemberId) -> bool) -> usize {
        let families = self.members.iter().filter(|member| votes(&member.id)).map(|member| &member.family);
        families.collect::<BTreeSet<_>>().len()
    }

    /// Whether members that vote are enough to decide: two thirds of members and families, and two families.
    fn can_decide(&self, votes: impl Fn(&MemberId) -> bool) -> bool {
        let (members, all) = (self.members.iter().filter(|member| votes(&member.id)).count(), self.members.count());
        let (families, of) = (self.families_among(votes), self.members.families().len());
        3 * members >= 2 * all && families >= 2 && 3 * families >= 2 * of
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
            let is_mind =
                self.minds.get(&member.id).is_some_and(|(role, mind)| *role == seat.role && *mind == seat.mind);
            member.id == seat.id && member.family == seat.family && key.is_none_or(|key| *key == seat.key) && is_mind
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
