//! Votes and the members that may cast them.
//!
//! Owns the checks of one vote and of the list of members. Knows nothing of seals, messages and counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::canonical;
use super::ids::{Family, MemberId, ThreadId};
use crate::limits;
use crate::text::looks;

/// The recipient of a message to all. No member may have this id.
pub const BROADCAST: &str = "broadcast";

/// A decision of a member, or of the council. As the council's, `Abstain` means that none was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The answer to the question is yes.
    Approve,
    /// The answer to the question is no.
    Reject,
    /// Neither.
    Abstain,
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
        })
    }
}

/// A member of a council.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its id.
    pub id: MemberId,
    /// The family of its model.
    pub family: Family,
}

/// A fault of a list of members.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MembersFault {
    /// A council without members.
    #[error("the council has no members")]
    None,
    /// More members than `limits::COUNCIL_MEMBERS`.
    #[error("the council has {0} members, at most {max} are allowed", max = limits::COUNCIL_MEMBERS)]
    TooMany(usize),
    /// An id that is empty, has space around it, or is that of a message to all.
    #[error("member id {0:?} is empty, has space around it, or is reserved")]
    Id(String),
    /// A member without a family.
    #[error("member {0} has no family")]
    NoFamily(MemberId),
    /// A member that is listed twice.
    #[error("member {0} is listed twice")]
    Double(MemberId),
}

/// The members of a council: at least one, each once, each with a family. Their order is that of every list in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Member>", into = "Vec<Member>")]
pub struct Members(Vec<Member>);

impl Members {
    /// Checks a list of members.
    ///
    /// # Errors
    /// The first fault of the list.
    pub fn new(list: Vec<Member>) -> Result<Self, MembersFault> {
        if list.is_empty() {
            return Err(MembersFault::None);
        }
        if list.len() > limits::COUNCIL_MEMBERS {
            return Err(MembersFault::TooMany(list.len()));
        }
        let mut seen = BTreeSet::new();
        for member in &list {
            let id = member.id.as_str();
            if id.is_empty() || id.trim() != id || id.eq_ignore_ascii_case(BROADCAST) {
                return Err(MembersFault::Id(id.to_owned()));
            }
            if member.family.is_blank() {
                return Err(MembersFault::NoFamily(member.id.clone()));
            }
            if !seen.insert(&member.id) {
                return Err(MembersFault::Double(member.id.clone()));
            }
        }
        Ok(Self(list))
    }

    /// The number of members, n of every rule.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Members in order.
    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.0.iter()
    }

    /// The member with an id.
    pub fn get(&self, id: &MemberId) -> Option<&Member> {
        self.0.iter().find(|member| member.id == *id)
    }

    /// Families of the members, each once.
    pub fn families(&self) -> BTreeSet<&Family> {
        self.0.iter().map(|member| &member.family).collect()
    }
}

impl TryFrom<Vec<Member>> for Members {
    type Error = MembersFault;

    fn try_from(list: Vec<Member>) -> Result<Self, MembersFault> {
        Self::new(list)
    }
}

impl From<Members> for Vec<Member> {
    fn from(members: Members) -> Self {
        members.0
    }
}

/// A vote of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The member that votes.
    pub member: MemberId,
    /// Its family, as in the list of members.
    pub family: Family,
    /// Its decision.
    pub decision: Decision,
    /// Its confidence, 0..=1.
    pub confidence: f64,
    /// Its reasoning.
    pub reasoning: String,
    /// Pointers to its evidence, such as the numbers of items that it was shown.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// A voter's reply to its prompt: a vote without the names, which the caller knows better than the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The decision.
    pub decision: Decision,
    /// The confidence, 0..=1.
    pub confidence: f64,
    /// The reasoning.
    pub reasoning: String,
    /// The items of evidence that it rests on.
    #[serde(default)]
    pub evidence: Vec<String>,
}

impl Reply {
    /// The vote of a member that replied so.
    #[must_use]
    pub fn into_vote(self, member: &Member) -> Vote {
        Vote {
            member: member.id.clone(),
            family: member.family.clone(),
            decision: self.decision,
            // A zero has no sign.
            confidence: self.confidence + 0.0,
            reasoning: self.reasoning,
            evidence: self.evidence,
        }
    }
}

/// A reason to refuse a vote.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum VoteFault {
    /// A second vote of the same member. The first stands.
    #[error("member {0} has voted already")]
    Double(MemberId),
    /// A vote of no member.
    #[error("{0} is not a member of this council")]
    Stranger(MemberId),
    /// A family that is not the member's.
    #[error("member {member} is of family {listed}, its vote claims {claimed}")]
    Family {
        /// The member.
        member: MemberId,
        /// Its family in the list of members.
        listed: Family,
        /// The family in its vote.
        claimed: Family,
    },
    /// A confidence outside 0..=1, or no number.
    #[error("confidence {confidence} of member {member} is outside 0..=1")]
    Confidence {
        /// The member.
        member: MemberId,
        /// Its confidence.
        confidence: f64,
    },
    /// A reasoning without a letter or digit.
    #[error("member {0} gives no reasoning")]
    NoReasoning(MemberId),
    /// A reasoning or evidence larger than `limits` allows.
    #[error("reasoning or evidence of member {0} is too long")]
    TooLong(MemberId),
}

impl Vote {
    /// Checks a vote by itself, against the list of members.
    ///
    /// # Errors
    /// The first reason to refuse it.
    pub fn check(&self, members: &Members) -> Result<(), VoteFault> {
        let id = || self.member.clone();
        let Some(member) = members.get(&self.member) else {
            return Err(VoteFault::Stranger(id()));
        };
        if member.family != self.family {
            let (listed, claimed) = (member.family.clone(), self.family.clone());
            return Err(VoteFault::Family { member: id(), listed, claimed });
        }
        // NaN is in no range.
        if !(0.0..=1.0).contains(&self.confidence) {
            return Err(VoteFault::Confidence { member: id(), confidence: self.confidence });
        }
        if !looks(&self.reasoning).chars().any(char::is_alphanumeric) {
            return Err(VoteFault::NoReasoning(id()));
        }
        let has_long_evidence = self.evidence.iter().any(|item| item.len() > limits::COUNCIL_EVIDENCE_BYTES);
        let is_too_long = self.reasoning.len() > limits::COUNCIL_REASONING_BYTES || has_long_evidence;
        if is_too_long || self.evidence.len() > limits::COUNCIL_EVIDENCE_ITEMS {
            return Err(VoteFault::TooLong(id()));
        }
        Ok(())
    }

    /// Bytes that a seal covers: every field, and the thread, so that a vote counts for one question alone.
    pub fn canonical_bytes(&self, thread_id: &ThreadId) -> Vec<u8> {
        // 0 and −0 are equal, and so are their bytes.
        let confidence = (self.confidence + 0.0).to_bits().to_be_bytes();
        let decision = self.decision.to_string();
        let mut fields = vec![
            thread_id.as_str().as_bytes(),
            self.member.as_str().as_bytes(),
            self.family.as_str().as_bytes(),
            decision.as_bytes(),
            &confidence,
            self.reasoning.as_bytes(),
        ];
        fields.extend(self.evidence.iter().map(|item| item.as_bytes()));
        canonical("alaya council vote 1", &fields)
    }
}

/// A vote or opening that was refused, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The member whose it claims to be.
    pub member: MemberId,
    /// The reason, in a sentence.
    pub reason: String,
}

/// Votes that were admitted, one of each member at most.
#[derive(Clone, Debug)]
pub struct Ballot<'m> {
    members: &'m Members,
    votes: BTreeMap<MemberId, Vote>,
}

impl<'m> Ballot<'m> {
    /// A ballot without votes.
    pub fn new(members: &'m Members) -> Self {
        Self { members, votes: BTreeMap::new() }
    }

    /// Admits a vote.
    ///
    /// # Errors
    /// The reason to refuse it. Of two votes of a member the first stands, also where they are equal.
    pub fn cast(&mut self, vote: Vote) -> Result<(), VoteFault> {
        vote.check(self.members)?;
        if self.votes.contains_key(&vote.member) {
            return Err(VoteFault::Double(vote.member));
        }
        self.votes.insert(vote.member.clone(), vote);
        Ok(())
    }

    /// The admitted votes, in the order of members.
    pub fn into_votes(mut self) -> Vec<Vote> {
        self.members.iter().filter_map(|member| self.votes.remove(&member.id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, vote};
    use super::*;

    #[test]
    fn vote_is_refused_with_a_reason() {
        type Spoil = fn(&mut Vote);
        let cases: [(&str, Spoil); 11] = [
            ("z is not a member", |v| v.member = "z".into()),
            ("a is of family x, its vote claims y", |v| v.family = "y".into()),
            ("outside 0..=1", |v| v.confidence = 1.0001),
            ("outside 0..=1", |v| v.confidence = -0.1),
            ("outside 0..=1", |v| v.confidence = f64::NAN),
            ("outside 0..=1", |v| v.confidence = f64::INFINITY),
            ("no reasoning", |v| v.reasoning.clear()),
            ("no reasoning", |v| v.reasoning = " \n\u{200b}…\u{3164}".into()),
            ("too long", |v| v.reasoning = "r".repeat(limits::COUNCIL_REASONING_BYTES + 1)),
            ("too long", |v| v.evidence = vec!["e".into(); limits::COUNCIL_EVIDENCE_ITEMS + 1]),
            ("too long", |v| v.evidence = vec!["e".repeat(limits::COUNCIL_EVIDENCE_BYTES + 1)]),
        ];
        let members = members("xy");
        for (reason, spoil) in cases {
            let mut spoilt = vote(&members, 0, Decision::Approve);
            assert_eq!(spoilt.check(&members), Ok(()));
            spoil(&mut spoilt);
            let fault = Ballot::new(&members).cast(spoilt).unwrap_err().to_string();
            assert!(fault.contains(reason), "{fault}");
        }
    }

    #[test]
    fn vote_at_the_ends_of_confidence_is_admitted() {
        let members = members("x");
        for confidence in [0.0, -0.0, 1.0] {
            let vote = Vote { confidence, ..vote(&members, 0, Decision::Reject) };
            assert_eq!(vote.check(&members), Ok(()));
        }
    }

    #[test]
    fn vote_is_refused_a_second_time_and_the_first_stands() {
        let members = members("xy");
        let mut ballot = Ballot::new(&members);
        ballot.cast(vote(&members, 1, Decision::Reject)).unwrap();
        ballot.cast(vote(&members, 0, Decision::Approve)).unwrap();
        let again = ballot.cast(vote(&members, 1, Decision::Approve)).unwrap_err();
        assert_eq!(again, VoteFault::Double("b".into()));
        let decisions: Vec<Decision> = ballot.into_votes().iter().map(|vote| vote.decision).collect();
        assert_eq!(decisions, [Decision::Approve, Decision::Reject], "in the order of members");
    }

    #[test]
    fn members_are_refused_with_a_reason() {
        let member = |id: &str, family: &str| Member { id: id.into(), family: family.into() };
        let many = (0..=limits::COUNCIL_MEMBERS).map(|place| member(&format!("m{place}"), "x")).collect();
        let cases = [
            (vec![], "no members"),
            (many, "65 members"),
            (vec![member("", "x")], "is empty"),
            (vec![member("a ", "x")], "space around it"),
            (vec![member("Broadcast", "x")], "reserved"),
            (vec![member("a", " ")], "no family"),
            (vec![member("a", "\u{200b}")], "no family"),
            (vec![member("a", "x"), member("a", "y")], "listed twice"),
        ];
        for (list, reason) in cases {
            let fault = Members::new(list).unwrap_err().to_string();
            assert!(fault.contains(reason), "{fault}");
        }
        assert!(serde_json::from_str::<Members>("[]").is_err(), "reading checks too");
    }

    #[test]
    fn reply_becomes_the_vote_of_its_member() {
        let members = members("xy");
        let text = r#"{"decision":"reject","confidence":0.25,"reasoning":"no test","evidence":["2"],"mood":"fine"}"#;
        let reply: Reply = serde_json::from_str(text).unwrap();
        let vote = reply.into_vote(members.get(&"b".into()).unwrap());
        assert_eq!((vote.member.as_str(), vote.family.as_str()), ("b", "y"));
        assert_eq!(vote.check(&members), Ok(()));
    }
}
