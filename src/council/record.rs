//! The record of a council, and what people said of it later: files that are written once, in the tree of `refs/brain/reviews`.
//!
//! `councils/<yyyy>/<mm>/<dd>/<council>/council.json` is the council, `<closing>.json` beside it each approval, rejection or outcome.

use serde::{Deserialize, Serialize};

use super::digest::{canonical, sha256_hex};
use super::escalation::{Escalation, Ruling, State, escalation_id};
use super::ids::{Family, MemberId, ThreadId};
use super::independence::PastQuestion;
use super::message::AgentMessage;
use super::seal::{Opening, Seal};
use super::verdict::Verdict;
use super::vote::{Decision, Member, Members, Reply, Vote};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::json::{self, JsonError};

/// The folder of councils in the tree of decisions.
pub const COUNCILS: &str = "councils/";

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

    /// The decision that would have been right, by the newest word on the outcome.
    fn was_right(&self) -> Option<Decision> {
        let word = self.closings.iter().rev().find(|closing| matches!(closing.word, Word::Right | Word::Wrong))?;
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
        let outcome = self.was_right()?;
        let votes = self.record.votes.iter().map(|cast| &cast.opening.vote);
        Some(PastQuestion { outcome, votes: votes.map(|vote| (vote.member.clone(), vote.decision)).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::seal::Nonce;
    use super::super::tests::{members, votes};
    use super::super::verdict::{Concern, ConcernKind, Thresholds, decide};
    use super::*;

    fn run(text: &str) -> RunId {
        RunId::parse(text).unwrap()
    }

    fn record(decisions: &str) -> CouncilRecord {
        let (members, council) = (members("xyz"), run("20260126t150000000z-abcd2345-human"));
        let thread = CouncilRecord::thread_of(&council, "");
        let all = votes(&members, decisions);
        let cast = all.iter().map(|vote| {
            let nonce = Nonce([7; 32]);
            let seal = Seal::of(&thread, vote, &nonce);
            let message = AgentMessage {
                sender_id: vote.member.clone(),
                thread_id: thread.clone(),
                content: serde_json::to_string(&seal).unwrap(),
                ..AgentMessage::default()
            };
            CastVote { opening: Opening { thread_id: thread.clone(), vote: vote.clone(), nonce }, seal, message }
        });
        CouncilRecord {
            id: CouncilRecord::id_of(&council, "tea?"),
            question: "tea?".to_owned(),
            by: "Anna <anna@example.org>".to_owned(),
            at_ms: 1_769_438_000_000,
            run: None,
            commit: None,
            binds: String::new(),
            document: String::new(),
            members: members
                .iter()
                .map(|member| SeatRecord {
                    id: member.id.clone(),
                    family: member.family.clone(),
                    role: "critic".to_owned(),
                    mind: "reflex:memories".to_owned(),
                    key: String::new(),
                })
                .collect(),
            evidence: Vec::new(),
            votes: cast.collect(),
            verdict: decide("tea?", &members, &all, &[], &Thresholds::default()),
            council,
        }
    }

    fn closing(word: Word, second: u32) -> Closing {
        Closing {
            closing: run(&format!("20260126t1500{second:02}000z-abcd2345-human")),
            council: run("20260126t150000000z-abcd2345-human"),
            word,
            by: "Bob <bob@example.org>".to_owned(),
            at_ms: 1_769_438_000_000 + i64::from(second),
            about: None,
            why: String::new(),
        }
    }

    #[test]
    fn record_is_read_as_it_was_written_and_not_changed() {
        let record = record("AAR");
        let path = "councils/2026/01/26/20260126t150000000z-abcd2345-human/council.json";
        assert_eq!(record.path(), path);
        assert_eq!(CouncilRecord::decode(&record.encode(), path).unwrap(), record);
        type Spoil = fn(&mut CouncilRecord);
        let spoilt: [Spoil; 6] = [
            |r| r.question.push('!'),
            |r| r.id = "000000000000".to_owned(),
            |r| r.by = "nobody".to_owned(),
            |r| r.votes[0].opening.vote.decision = Decision::Reject,
            |r| r.votes[0].message.sender_id = "b".into(),
            |r| r.votes[1].opening.vote.member = "z".into(),
        ];
        for (at, spoil) in spoilt.iter().enumerate() {
            let mut other = record.clone();
            spoil(&mut other);
            assert!(CouncilRecord::decode(&other.encode(), path).is_err(), "{at}");
        }
        assert!(CouncilRecord::decode(&record.encode(), "councils/x/council.json").is_err());
    }

    #[test]
    fn record_of_votes_put_under_another_question_is_none() {
        let mut record = record("AAR");
        record.binds = CouncilRecord::advice(&record.question, None, None, "");
        let thread = CouncilRecord::thread_of(&record.council, &record.binds);
        for cast in &mut record.votes {
            cast.opening.thread_id = thread.clone();
            cast.seal = Seal::of(&thread, &cast.opening.vote, &cast.opening.nonce);
            cast.message.thread_id = thread.clone();
            cast.message.content = serde_json::to_string(&cast.seal).unwrap();
        }
        assert_eq!(CouncilRecord::decode(&record.encode(), &record.path()).unwrap(), record);
        assert!(!record.may_decide());
        record.question = "coffee?".to_owned();
        record.verdict.question = record.question.clone();
        record.id = CouncilRecord::id_of(&record.council, &record.question);
        let fault =
            |record: &CouncilRecord| CouncilRecord::decode(&record.encode(), &record.path()).unwrap_err().to_string();
        assert!(fault(&record).contains("does not follow from question"), "{}", fault(&record));
        for binds in [CouncilRecord::advice("coffee?", None, None, ""), String::new()] {
            record.binds = binds;
            assert!(fault(&record).contains("is not the vote that its member sealed"), "{}", fault(&record));
        }
    }

    #[test]
    fn record_whose_verdict_does_not_follow_from_its_votes_has_a_fault() {
        for decisions in ["AAR", "AR-", "AAA", "RR.", "...", "A--"] {
            assert_eq!(record(decisions).fault(), None, "{decisions}");
        }
        type Spoil = fn(&mut CouncilRecord);
        let spoilt: [(&str, Spoil); 12] = [
            ("members", |r| r.members.clear()),
            ("members", |r| r.members[1].id = "a".into()),
            ("quorum", |r| r.members.push(SeatRecord { id: "late".into(), ..r.members[0].clone() })),
            ("quorum", |r| r.votes.clear()),
            ("decision", |r| r.verdict.decision = Decision::Reject),
            ("confidence", |r| r.verdict.confidence = 1.0),
            ("quorum", |r| r.verdict.quorum.approve.minds = 9.0),
            ("quorum", |r| r.verdict.quorum.approve.members_for = 3),
            ("dissent", |r| r.verdict.dissent.clear()),
            ("question", |r| r.verdict.question.push('!')),
            ("run", |r| r.run = Some(run("20260126t150000000z-abcd2345-scribe"))),
            ("concerns", |r| {
                r.verdict.concerns.push(Concern { kind: ConcernKind::NoQuorum, sentence: String::new() });
            }),
        ];
        for (at, (field, spoil)) in spoilt.iter().enumerate() {
            let mut other = record("AAR");
            spoil(&mut other);
            assert_eq!(other.fault(), Some(*field), "{at}");
        }
        // A shared past lowers the minds, and may withhold a decision.
        let mut doubted = record("AAR");
        doubted.verdict.quorum.approve.minds = 1.5;
        assert_eq!(doubted.fault(), Some("decision"));
    }

    #[test]
    fn record_of_an_escalation_is_closed_by_the_first_ruling() {
        let mut council = Council { record: record("AR-"), closings: Vec::new() };
        assert_eq!((council.state(), council.decision(), council.past()), ("pending", Decision::Abstain, None));
        assert_eq!(council.escalation().unwrap().id, council.record.id);
        council.closings = vec![closing(Word::Reject, 1), closing(Word::Approve, 2), closing(Word::Right, 3)];
        assert_eq!((council.state(), council.decision()), ("rejected", Decision::Reject));
        assert_eq!(council.past().unwrap().outcome, Decision::Reject);
        council.closings.push(closing(Word::Wrong, 4));
        assert_eq!(council.past().unwrap().outcome, Decision::Approve, "the newest word on the outcome counts");
    }

    #[test]
    fn outcome_stays_about_the_decision_that_it_was_told_of() {
        let right = Closing { about: Some(Decision::Approve), ..closing(Word::Right, 3) };
        let mut council = Council { record: record("AR-"), closings: vec![closing(Word::Approve, 2), right] };
        assert_eq!((council.state(), council.is_right()), ("approved", Some(true)));
        // Elsewhere it had been rejected before.
        council.closings.insert(0, closing(Word::Reject, 1));
        assert_eq!((council.state(), council.is_right()), ("rejected", Some(false)));
        assert_eq!(council.past().unwrap().outcome, Decision::Approve);
    }

    #[test]
    fn record_of_a_decision_needs_no_person() {
        let mut council = Council { record: record("AAR"), closings: vec![closing(Word::Reject, 1)] };
        assert_eq!((council.state(), council.decision()), ("decided", Decision::Approve));
        council.closings.push(closing(Word::Wrong, 2));
        assert_eq!(council.past().unwrap().outcome, Decision::Reject);
    }

    #[test]
    fn closing_is_read_as_it_was_written() {
        let closing = closing(Word::Approve, 9);
        assert_eq!(Closing::decode(&closing.encode(), &closing.path()).unwrap(), closing);
        assert!(Closing::decode(&closing.encode(), "councils/x.json").is_err());
    }
}
