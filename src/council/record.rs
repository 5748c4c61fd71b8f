//! The record of a council, and what people said of it later: files that are written once, in the tree of `refs/brain/reviews`.
//!
//! `councils/<yyyy>/<mm>/<dd>/<council>/council.json` is the council, `<closing>.json` beside it each approval, rejection or outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digest::{canonical, sha256_hex};
use super::escalation::{Escalation, Ruling, State, escalation_id};
use super::ids::{Family, MemberId, MindId, ThreadId};
use super::independence::{Minds, PastQuestion};
use super::message::AgentMessage;
use super::seal::{Opening, Seal};
use super::verdict::Verdict;
use super::vote::{Decision, Member, Members, Reply, Vote};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::json::{self, JsonError};

/// The folder of councils in the tree of decisions.
pub const COUNCILS: &str = "councils/";

/// The reason that a vote is refused whose member does not sign by itself, on a machine that lacks its key.
pub fn key_elsewhere(member: &MemberId) -> String {
    format!("the message of {member} is unsigned: the key that the document names for it is not kept on this machine")
}

/// The file of the council itself.
const COUNCIL: &str = "council.json";

/// A member as it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatRecord {
    /// Its id.
    pub id: MemberId,
    /// Its family.
    pub family: Family,
    /// The name of its role.
    pub role: String,
    /// Its mind: `reflex:memories`, `model:opus`, `command:vote`.
    pub mind: String,
    /// Its public ed25519 key, 64 hexadecimal digits.
    pub key: String,
}

impl SeatRecord {
    /// The mind in the seat, by which its past is known under any id.
    pub fn mind_id(&self) -> MindId {
        MindId::of(&self.family, &self.mind)
    }
}

/// A vote that counted: opened, under its seal, signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CastVote {
    /// Vote and nonce.
    pub opening: Opening,
    /// The seal, from before any vote was opened.
    pub seal: Seal,
    /// The message that brought it, signed by the member: its content is the seal, or of a program with a key of its own the vote.
    pub message: AgentMessage,
}

/// A council.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouncilRecord {
    /// The id by which people name it: twelve hexadecimal digits, as of an escalation.
    pub id: String,
    /// Its thread, a run id of a person: tells equal questions apart on machines that do not know of each other.
    pub council: RunId,
    /// The question.
    pub question: String,
    /// The person that asked: `Name <address>`.
    pub by: String,
    /// The time of the verdict, milliseconds since 1970.
    pub at_ms: i64,
    /// The run that the question is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The commit of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The digest of question, run, commit and document, which is a part of the thread that members sign: [`Self::binding`] of a council that may
    /// decide on the run, [`Self::advice`] of others. Empty: a record of an older version, whose votes are bound to no question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub binds: String,
    /// The document of the members and its blob, `council.json@BLOB`; empty: the three rules of git-brain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document: String,
    /// The members.
    pub members: Vec<SeatRecord>,
    /// Neurons that were shown as evidence, by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Votes that counted.
    pub votes: Vec<CastVote>,
    /// The verdict.
    pub verdict: Verdict,
}

impl CouncilRecord {
    /// The id that follows from thread and question.
    pub fn id_of(council: &RunId, question: &str) -> String {
        escalation_id(&context(council, question), 0)
    }

    /// The thread of its messages; of one that may decide on a run it says what the votes are about.
    pub fn thread_of(council: &RunId, binds: &str) -> ThreadId {
        if binds.is_empty() { council.as_str().into() } else { format!("{council}.{binds}").into() }
    }

    /// The digest of the subject of votes that decide on no run.
    pub fn advice(question: &str, run: Option<&RunId>, commit: Option<&str>, document: &str) -> String {
        let (run, commit) = (run.map_or("", RunId::as_str), commit.unwrap_or_default());
        let fields = [question.as_bytes(), run.as_bytes(), commit.as_bytes(), document.as_bytes()];
        sha256_hex(&canonical("alaya council advice 1", &fields))
    }

    /// The digest of what the votes on a run are about.
    pub fn binding(question: &str, run: &RunId, commit: &str, document: &str) -> String {
        let fields = [question.as_bytes(), run.as_str().as_bytes(), commit.as_bytes(), document.as_bytes()];
        sha256_hex(&canonical("alaya council question 1", &fields))
    }

    /// Whether its votes may decide on the run that it is about.
    pub fn may_decide(&self) -> bool {
        let (Some(run), Some(commit)) = (&self.run, &self.commit) else { return false };
        !self.binds.is_empty() && self.binds == Self::binding(&self.question, run, commit, &self.document)
    }

    /// Whether the digest is that of question, run, commit and document; also where there is none.
    fn is_bound(&self) -> bool {
        let advice = || Self::advice(&self.question, self.run.as_ref(), self.commit.as_deref(), &self.document);
        self.binds.is_empty() || self.may_decide() || self.binds == advice()
    }

    /// The folder of a council and what people said of it.
    pub fn folder(council: &RunId) -> String {
        let id = council.as_str();
        format!("{COUNCILS}{}/{}/{}/{council}", &id[..4], &id[4..6], &id[6..8])
    }

    /// The path in the tree of decisions.
    pub fn path(&self) -> String {
        Self::path_of(&self.council)
    }

    /// The path of a council with that thread.
    pub fn path_of(council: &RunId) -> String {
        format!("{}/{COUNCIL}", Self::folder(council))
    }

    /// Whether a path is that of a council, and not of a closing.
    pub fn is_at(path: &str) -> bool {
        path.starts_with(COUNCILS) && path.ends_with(&format!("/{COUNCIL}"))
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads a council that lies at a path.
    ///
    /// # Errors
    /// It is no council, is not canonical, or lies where another belongs; its id, a seal or a message does not fit the rest.
    pub fn decode(bytes: &[u8], path: &str) -> Result<Self, JsonError> {
        let council: Self = json::strict(bytes, path, limits::COUNCIL_RECORD_BYTES)?;
        let wrong = |field: &str, why: &str| Err(JsonError::at(path, 1, field, why));
        if council.path() != path || !council.council.is_a_persons() {
            return wrong("council", "belongs elsewhere");
        }
        if council.id != Self::id_of(&council.council, &council.question) {
            return wrong("id", "does not follow from council and question");
        }
        if !council.is_bound() {
            return wrong("binds", "does not follow from question, run, commit and document");
        }
        check_person(&council.by, path, "by")?;
        let thread = Self::thread_of(&council.council, &council.binds);
        for (at, cast) in council.votes.iter().enumerate() {
            let vote = &cast.opening.vote;
            let is_seated = council.members.iter().any(|seat| seat.id == vote.member && seat.family == vote.family);
            if !is_seated || !cast.is_of(&thread) {
                return wrong(&format!("votes[{at}]"), "is not the vote that its member sealed");
            }
        }
        if council.encode() != bytes {
            return wrong("", "is not canonical");
        }
        Ok(council)
    }

    /// The first field that does not follow from the others: the verdict from votes of members, the question of a run from that run. What comes
    /// from elsewhere is held against this.
    pub fn fault(&self) -> Option<&'static str> {
        let member = |seat: &SeatRecord| Member { id: seat.id.clone(), family: seat.family.clone() };
        let Ok(members) = Members::new(self.members.iter().map(member).collect()) else { return Some("members") };
        let is_its = match (&self.run, &self.commit) {
            (Some(run), Some(_)) => self.question.starts_with(&Self::question_of(run)),
            (None, None) => true,
            _ => false,
        };
        if !is_its {
            return Some("run");
        }
        let votes: Vec<Vote> = self.votes.iter().map(|cast| cast.opening.vote.clone()).collect();
        self.verdict.fault(&self.question, &members, &votes)
    }

    /// The first words of the question whether a run shall land.
    pub fn question_of(run: &RunId) -> String {
        format!("Shall the run {run} of {} land", run.agent())
    }

    /// What the models among its members gave as reasons.
    pub fn reasonings_of_models(&self) -> Vec<&str> {
        let is_model =
            |member: &MemberId| self.members.iter().any(|seat| seat.id == *member && seat.mind.starts_with("model:"));
        let votes = self.votes.iter().map(|cast| &cast.opening.vote).filter(|vote| is_model(&vote.member));
        votes.map(|vote| vote.reasoning.as_str()).collect()
    }

    /// The minds of its members.
    pub fn minds(&self) -> Minds {
        self.members.iter().map(|seat| (seat.id.clone(), seat.mind_id())).collect()
    }

    /// The vote of each mind: of one with several seats what more than half of its votes say, else an abstention.
    pub fn votes_of_minds(&self) -> BTreeMap<MindId, Decision> {
        let (minds, mut cast) = (self.minds(), BTreeMap::<MindId, Vec<Decision>>::new());
        for vote in self.votes.iter().map(|cast| &cast.opening.vote) {
            cast.entry(minds.of(&vote.member)).or_default().push(vote.decision);
        }
        let of_all = |votes: Vec<Decision>| {
            let is_most = |decision: &Decision| 2 * votes.iter().filter(|vote| *vote == decision).count() > votes.len();
            [Decision::Approve, Decision::Reject].into_iter().find(is_most).unwrap_or(Decision::Abstain)
        };
        cast.into_iter().map(|(mind, votes)| (mind, of_all(votes))).collect()
    }

    /// Members whose votes were refused because their keys lie on another machine than the one that asked.
    pub fn without_kept_key(&self) -> impl Iterator<Item = &MemberId> {
        let refused = self.verdict.refused.iter();
        refused.filter(|refused| refused.reason == key_elsewhere(&refused.member)).map(|refused| &refused.member)
    }

    /// The escalation, pending; `None`: the council decided.
    pub fn escalation(&self) -> Option<Escalation> {
        let open = || Escalation::open(&context(&self.council, &self.question), 0, self.verdict.clone(), self.at_ms);
        self.verdict.escalates().then(open)
    }
}

impl CastVote {
    /// Whether it was sealed and announced in this thread.
    pub(super) fn is_of(&self, thread: &ThreadId) -> bool {
        let Opening { thread_id, vote, nonce } = &self.opening;
        thread_id == thread && Seal::of(thread, vote, nonce) == self.seal && self.is_announced(thread)
    }

    /// Whether its message, by the member in this thread, holds the seal or the vote.
    fn is_announced(&self, thread: &ThreadId) -> bool {
        let vote = &self.opening.vote;
        let holds_seal = || serde_json::from_str::<Seal>(&self.message.content).is_ok_and(|seal| seal == self.seal);
        let holds_vote = || {
            let reply = serde_json::from_str::<Reply>(&self.message.content).ok();
            reply.is_some_and(|reply| {
                let Reply { decision, confidence, reasoning, evidence } = reply;
                (decision, confidence) == (vote.decision, vote.confidence)
                    && reasoning == vote.reasoning
                    && evidence == vote.evidence
            })
        };
        self.message.sender_id == vote.member && self.message.thread_id == *thread && (holds_seal() || holds_vote())
    }
}

fn context(council: &RunId, question: &str) -> String {
    format!("{council}\n{question}")
}

fn check_person(by: &str, path: &str, field: &str) -> Result<(), JsonError> {
    let is_named = by.ends_with('>') && by.matches(['<', '>']).count() == 2;
    if !is_named || by.len() > limits::REVIEWER_BYTES || by.chars().any(char::is_control) {
        return Err(JsonError::at(path, 1, field, "is no name and address"));
    }
    Ok(())
}

/// The address of a person that is written `Name <address>`.
pub fn address(by: &str) -> &str {
    by.rsplit_once('<').map_or(by, |(_, rest)| rest).trim_end_matches('>')
}

/// A word of a person on a council.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// The escalation is decided: yes.
    Approve,
    /// The escalation is decided: no.
    Reject,
    /// The decision turned out right.
    Right,
    /// The decision turned out wrong.
    Wrong,
}

impl Word {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }
}

/// The word of a person on a council, later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// Its id, a run id of a person: the file's name.
    pub closing: RunId,
    /// The council.
    pub council: RunId,
    /// The word.
    pub word: Word,
    /// The person: `Name <address>`.
    pub by: String,
    /// The time, milliseconds since 1970.
    pub at_ms: i64,
    /// Of an outcome, the decision that it is about: another one may stand once two machines have met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Decision>,
    /// The reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Closing {
    /// The path in the tree of decisions.
    pub fn path(&self) -> String {
        format!("{}/{}.json", CouncilRecord::folder(&self.council), self.closing)
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        json::pretty(self)
    }

    /// Reads a closing that lies at a path.
    ///
    /// # Errors
    /// It is none, is not canonical, or lies where another belongs.
    pub fn decode(bytes: &[u8], path: &str) -> Result<Self, JsonError> {
        let closing: Self = json::strict(bytes, path, limits::REVIEW_BYTES)?;
        check_person(&closing.by, path, "by")?;
        if closing.path() != path || !closing.closing.is_a_persons() {
            return Err(JsonError::at(path, 1, "closing", "belongs elsewhere"));
        }
        if closing.encode() != bytes {
            return Err(JsonError::at(path, 1, "", "is not canonical"));
        }
        Ok(closing)
    }
}

/// A council with what people said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Council {
    /// The record.
    pub record: CouncilRecord,
    /// The words of people on it, in the order in which they came.
    pub closings: Vec<Closing>,
    /// Whether its decision turned out right by an outcome of the run that it was, where an agent thought with it. A word of a person on the council
    /// itself counts before it.
    pub told: Option<bool>,
}

impl Council {
    /// The word that closed it: the first ruling. `None`: none has.
    pub fn ruling(&self) -> Option<&Closing> {
        self.closings.iter().find(|closing| matches!(closing.word, Word::Approve | Word::Reject))
    }

    /// The escalation with its state: of several rulings the first stands. `None`: the council decided.
    pub fn escalation(&self) -> Option<Escalation> {
        let mut escalation = self.record.escalation()?;
        for closing in &self.closings {
            let ruling = match closing.word {
                Word::Approve => Ruling::Approve,
                Word::Reject => Ruling::Reject,
                Word::Right | Word::Wrong => continue,
            };
            // A later one changes nothing.
            let _ = escalation.close(ruling, &closing.by, closing.at_ms);
        }
        Some(escalation)
    }

    /// The state in a word: `decided` by the council, or `pending`, `approved`, `rejected`.
    pub fn state(&self) -> &'static str {
        match self.escalation().map(|escalation| escalation.state) {
            None => "decided",
            Some(State::Pending) => "pending",
            Some(State::Approved { .. }) => "approved",
            Some(State::Rejected { .. }) => "rejected",
        }
    }

    /// The decision that holds, by the council or by a person; `Abstain`: none yet.
    pub fn decision(&self) -> Decision {
        match self.escalation().map(|escalation| escalation.state) {
            None => self.record.verdict.decision,
            Some(State::Pending) => Decision::Abstain,
            Some(State::Approved { .. }) => Decision::Approve,
            Some(State::Rejected { .. }) => Decision::Reject,
        }
    }

    /// The newest word on the outcome by its time, and of one time by its id: on every machine the same, whichever synced first.
    pub fn newest_outcome(&self) -> Option<&Closing> {
        let words = self.closings.iter().filter(|closing| matches!(closing.word, Word::Right | Word::Wrong));
        words.max_by_key(|closing| (closing.at_ms, &closing.closing))
    }

    /// The decision that would have been right, by the newest word on the outcome.
    fn was_right(&self) -> Option<Decision> {
        let Some(word) = self.newest_outcome() else {
            return match (self.record.verdict.decision, self.told.filter(|_| !self.record.verdict.escalates())?) {
                (Decision::Approve, true) | (Decision::Reject, false) => Some(Decision::Approve),
                (Decision::Reject, true) | (Decision::Approve, false) => Some(Decision::Reject),
                (Decision::Abstain, _) => None,
            };
        };
        match (word.about.unwrap_or_else(|| self.decision()), word.word) {
            (Decision::Approve, Word::Right) | (Decision::Reject, Word::Wrong) => Some(Decision::Approve),
            (Decision::Reject, Word::Right) | (Decision::Approve, Word::Wrong) => Some(Decision::Reject),
            _ => None,
        }
    }

    /// Whether the decision that stands turned out right.
    pub fn is_right(&self) -> Option<bool> {
        let right = self.was_right().filter(|_| self.decision() != Decision::Abstain)?;
        Some(right == self.decision())
    }

    /// The past question that it became; `None`: its outcome is not known.
    pub fn past(&self) -> Option<PastQuestion> {
        Some(PastQuestion { outcome: self.was_right()?, votes: self.record.votes_of_minds() })
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
