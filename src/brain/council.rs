//! `council`: several minds vote on one question. Votes that somebody else collected are counted without a brain.

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError, ReviewReport};
use crate::council::document::{CouncilDocument, Mind};
use crate::council::independence::PastQuestion;
use crate::council::record::{Closing, Council, CouncilRecord, SeatRecord, Word};
use crate::council::vote::{Decision, Members, Vote};
use crate::cycle::council::{Convened, Settled};
use crate::limits;
use crate::model::Settings;
use crate::model::ids::RunId;
use crate::model::models::KnownMind;
use crate::model::within;
use crate::review::page::{self, visible};
use crate::store::CommitId;
use crate::world::{is_own_host, true_command};

pub use crate::council::ids::MemberId;
pub use crate::council::minds::{AlikeMinds, MindPast};
pub use crate::council::quorum::Tally;
pub use crate::council::verdict::{Opinion, Thresholds, Verdict};
pub use crate::cycle::council::{Earlier, KeptKey};

/// The document that votes are counted from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Collected {
    question: String,
    members: Members,
    votes: Vec<Vote>,
    /// Questions that were voted on before and whose outcome is known: errors that members share are discounted.
    #[serde(default)]
    history: Vec<PastQuestion>,
    #[serde(default)]
    thresholds: Thresholds,
}

/// Counts the votes of a document.
///
/// # Errors
/// A document of another form (2), with its line.
pub fn count(document: &str) -> Result<Verdict, BrainError> {
    let collected: Collected =
        serde_json::from_str(document).map_err(|error| BrainError::usage(format!("the council: {error}")))?;
    let Collected { question, members, votes, history, thresholds } = collected;
    if question.trim().is_empty() {
        return Err(BrainError::usage("the council: the question is empty"));
    }
    if let Some((name, value)) = thresholds.out_of_range() {
        return Err(BrainError::usage(format!(
            "the council: the threshold {name} is {value}, and thresholds are 0 to 1"
        )));
    }
    Ok(crate::council::verdict::decide(&question, &members, &votes, &history, &thresholds))
}

/// Checks a document of members as far as that needs no settings. Models count as known, each as a mind and a family of its own.
///
/// # Errors
/// A document of another form (2).
pub fn check_members(document: &str) -> Result<(), BrainError> {
    let mut read = members_in(document)?;
    for seat in &mut read.members {
        if let Mind::Model { model } = &seat.mind {
            seat.family.get_or_insert_with(|| model.as_str().into());
        }
    }
    let any = |model: &str| Some(KnownMind { family: None, mind: model.to_owned() });
    read.seated(any).map(drop).map_err(|fault| BrainError::usage(format!("the members: {fault}")))
}

/// Checks a document of members by settings, as they are asked.
///
/// # Errors
/// A document that names no council by them (2).
pub(super) fn check_members_by(document: &str, settings: &Settings) -> Result<(), BrainError> {
    let mind_of = |model: &str| settings.models.get(model).map(|model| model.as_mind_on(is_own_host));
    let seated = members_in(document)?.seated_here(mind_of, true_command);
    seated.map(drop).map_err(|fault| BrainError::usage(format!("the members: {fault}")))
}

fn members_in(document: &str) -> Result<CouncilDocument, BrainError> {
    serde_json::from_str(document).map_err(|error| BrainError::usage(format!("the members: {error}")))
}

/// A question for a council.
#[derive(Clone, Debug, Default)]
pub struct CouncilRequest {
    /// The question.
    pub question: String,
    /// The document of members, a path on main; absent: `council.json`, or three rules.
    pub members: Option<String>,
    /// The time that members have, seconds.
    pub timeout_s: u64,
    /// A run that waits, in place of a question: whether it shall land.
    pub branch: Option<String>,
    /// Keep nothing.
    pub dry_run: bool,
}

/// An item of evidence that a vote cites.
#[derive(Clone, Debug, Serialize)]
pub struct CitedItem {
    /// The member.
    pub member: String,
    /// The item, as the vote names it.
    pub item: String,
    /// The neuron that was shown under that number; null: none was, and the citation is invented.
    pub neuron: Option<String>,
    /// Its text as it is now; null: it is gone.
    pub text: Option<String>,
}

/// A word of a person, as a report has it.
#[derive(Clone, Debug, Serialize)]
pub struct ClosingLine {
    /// `approve`, `reject`, `right` or `wrong`.
    pub word: &'static str,
    /// The person.
    pub by: String,
    /// The time, milliseconds since 1970.
    pub at_ms: i64,
    /// The reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A council.
#[derive(Clone, Debug, Serialize)]
pub struct CouncilReport {
    /// Its id.
    pub id: String,
    /// Its thread.
    pub council: String,
    /// The question.
    pub question: String,
    /// `decided` by the council; or the state of its escalation: `pending`, `approved` or `rejected`.
    pub state: &'static str,
    /// Whether the council left it to a person, whatever its members said.
    pub escalated: bool,
    /// The decision that holds; `abstain`: none yet.
    pub decision: Decision,
    /// The outcome, `right` or `wrong`; null: not known.
    pub outcome: Option<&'static str>,
    /// The person that asked.
    pub by: String,
    /// The time of the verdict, milliseconds since 1970.
    pub at_ms: i64,
    /// The run that it is about; null: none.
    pub run: Option<String>,
    /// The document of members and its blob; empty: three rules.
    pub document: String,
    /// The members.
    pub members: Vec<SeatRecord>,
    /// Neurons that were shown as evidence.
    pub evidence: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict with the reasons of all sides.
    #[serde(skip)]
    pub words: String,
    /// The votes in words, `2 of 3 members say yes, 1 says no`.
    pub votes: String,
    /// Counts of how often each mind was right in past councils with an outcome; a list has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub minds: Vec<MindPast>,
    /// The two minds that voted alike and whose past errors agree most: they cost the most effective minds. Absent: no two agree, or it is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_alike: Option<AlikeMinds>,
    /// Items of evidence that votes cite, in the order of votes; a list has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<CitedItem>,
    /// The council that asked the same question later, of one that is superseded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Earlier councils on the same question, newest first, of one that was just held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    /// Notes on the question and the document of members, of one that was just held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Words of people on it, oldest first.
    pub closings: Vec<ClosingLine>,
    /// The decision on a run that was carried out; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried: Option<ReviewReport>,
    /// Why a run that a council may decide on is left to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

impl CouncilReport {
    pub(super) fn of(council: Council, dry_run: bool) -> Self {
        let (state, decision) = (council.state(), council.decision());
        let outcome = council.is_right().map(|right| if right { "right" } else { "wrong" });
        let Council { record, closings, .. } = council;
        let words = record.answer();
        let line = |closing: Closing| ClosingLine {
            word: closing.word.as_str(),
            by: closing.by,
            at_ms: closing.at_ms,
            why: closing.why,
        };
        Self {
            id: record.id,
            council: record.council.to_string(),
            question: record.question,
            state,
            escalated: record.verdict.escalates(),
            decision,
            outcome,
            by: record.by,
            at_ms: record.at_ms,
            run: record.run.map(|run| run.to_string()),
            document: record.document,
            members: record.members,
            evidence: record.evidence,
            words,
            votes: record.verdict.votes_in_words(),
            minds: Vec::new(),
            most_alike: None,
            cited: Vec::new(),
            superseded_by: None,
            earlier: Vec::new(),
            notes: Vec::new(),
            verdict: record.verdict,
            closings: closings.into_iter().map(line).collect(),
            carried: None,
            note: None,
            dry_run,
        }
    }

    /// The council for a program that reads it: only a person answers.
    pub(super) fn in_words(&self) -> String {
        let Self { question, state, decision, words, .. } = self;
        let mut text = format!("{question}\n{state}: {decision}\n\n{words}\n");
        let said = self.closings.iter().map(|one| format!("{} by {}: {}\n", one.word, one.by, one.why));
        text.extend(said);
        text
    }
}

/// An opinion of a member, as a page shows it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct MemberOpinion {
    /// The member.
    pub member: String,
    /// Its family.
    pub family: String,
    /// `approve`, `reject` or `abstain`.
    pub decision: String,
    /// Its confidence, 0..=1.
    pub confidence: f64,
    /// Its reasoning.
    pub reasoning: String,
}

/// A council that left its decision to a person.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PendingCouncil {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The person that asked.
    pub by: String,
    /// Why a person decides, a sentence each.
    pub concerns: Vec<String>,
    /// The opinions of members.
    pub opinions: Vec<MemberOpinion>,
    /// Members without a vote.
    pub absent: Vec<String>,
}

impl PendingCouncil {
    fn of(record: CouncilRecord) -> Self {
        let verdict = record.verdict;
        let all = verdict.support.into_iter().chain(verdict.dissent).chain(verdict.abstentions);
        let opinion = |one: Opinion| MemberOpinion {
            member: one.member.to_string(),
            family: one.family.to_string(),
            decision: one.decision.to_string(),
            confidence: one.confidence,
            reasoning: one.reasoning,
        };
        Self {
            id: record.id,
            question: record.question,
            by: record.by,
            concerns: verdict.concerns.into_iter().map(|concern| concern.sentence).collect(),
            opinions: all.map(opinion).collect(),
            absent: verdict.absent.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Bytes kept for the sentence that says that a run was cut.
const CUT_BYTES: usize = 128;

impl Brain {
    /// Asks the members of a council, decides, and keeps the record.
    ///
    /// # Errors
    /// A question that is empty or too long, a document that is none (2); one that is not trusted (3); a record that is too long (3).
    pub fn council(&self, request: &CouncilRequest) -> Result<CouncilReport, BrainError> {
        let timeout_ms = request.timeout_s.saturating_mul(1000);
        if timeout_ms == 0 || timeout_ms > limits::COMMAND_TIMEOUT_MAX_MS {
            let most = limits::COMMAND_TIMEOUT_MAX_MS / 1000;
            return Err(BrainError::usage(format!("--timeout {}: it is 1 to {most} seconds", request.timeout_s)));
        }
        if let Some(waiting) =
            request.branch.as_deref().map(|name| self.cycle.waiting_named(name)).transpose()?.flatten()
            && let Some(gate) = self.council_for(&waiting)?
            && request.members.as_deref().is_none_or(|path| gate.0.council_of(gate.1.as_deref()) == Some(path))
        {
            let turn = self.council_turn(&waiting, timeout_ms)?;
            return self.council_decides(&waiting, &gate, timeout_ms, request.dry_run, turn);
        }
        let (asked, run) = match &request.branch {
            None => (request.question.trim().to_owned(), None),
            Some(branch) => self.question_of_run(branch)?,
        };
        let question = self.cycle.shared.secrets.redact(&asked).into_owned();
        if !question.chars().any(char::is_alphanumeric) {
            return Err(BrainError::usage("the question is empty"));
        }
        if question.len() > limits::COUNCIL_QUESTION_BYTES {
            return Err(BrainError::Usage {
                message: format!(
                    "the question has {} bytes, at most {} are asked",
                    question.len(),
                    limits::COUNCIL_QUESTION_BYTES
                ),
                hint: Some(
                    "`git brain feed` remembers longer material, and members are shown what it recalls".to_owned(),
                ),
            });
        }
        // Of a run the question is ours.
        let (mut earlier, mut notes) = (Vec::new(), Vec::new());
        if request.branch.is_none() {
            earlier = self.cycle.earlier_councils(&question)?;
            notes = self.cycle.council_notes(&question, request.members.as_deref())?;
        }
        let record = self.cycle.hold_council(&Convened {
            council: self.new_persons_run(&["council", &question])?,
            question: &question,
            document: request.members.as_deref(),
            timeout_ms,
            run,
            binds: false,
            cue: None,
            by: self.asker()?,
        })?;
        if !request.dry_run {
            self.cycle.keep_council(&record)?;
        }
        let report = self.council_view(Council { record, closings: Vec::new(), told: None }, request.dry_run)?;
        Ok(CouncilReport { earlier, notes, ..report })
    }

    /// The question whether a waiting run shall land, with its operations as far as they fit, and the run with its commit.
    fn question_of_run(&self, name: &str) -> Result<(String, Option<(RunId, CommitId)>), BrainError> {
        let Some(waiting) = self.cycle.waiting_named(name)? else {
            return Err(BrainError::Usage {
                message: format!("{name} is no run that waits"),
                hint: Some("`git brain review` lists the runs that wait".to_owned()),
            });
        };
        let belief = self.cycle.belief(&waiting)?;
        let origin =
            if belief.tainted { format!(", from {}, which is not trusted", belief.origin) } else { String::new() };
        let mut question = format!("{}{origin}?\n\n", CouncilRecord::question_of(&waiting.run));
        // All that a person sees, as far as it fits.
        let shown = page::markdown(&page::blocks(&belief, true));
        let room = limits::COUNCIL_QUESTION_BYTES - question.len() - CUT_BYTES;
        let part = within(&shown, room);
        question += part;
        if part.len() < shown.len() {
            question += &format!("\n\n{} bytes more of this run are not shown here.", shown.len() - part.len());
        }
        Ok((question, Some((waiting.run.clone(), waiting.commit.id))))
    }

    /// The newest council on a commit of a run, in a sentence.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub(super) fn advice_on(&self, run: &str, commit: &str) -> Result<Option<String>, BrainError> {
        let outlines = self.cycle.council_outlines()?;
        let newest = outlines.iter().rev().find(|outline| {
            outline.run.as_ref().is_some_and(|of| of.as_str() == run) && outline.commit.as_deref() == Some(commit)
        });
        let Some(council) = self.cycle.councils_of(newest)?.pop() else { return Ok(None) };
        let (id, state, verdict) = (&council.record.id, council.state(), &council.record.verdict);
        let withheld = self.cycle.withheld(&council.record)?;
        let told = match verdict.concerns.first() {
            _ if withheld.is_some() => format!("it decides nothing: {}", withheld.unwrap_or_default()),
            None => format!("{}, confidence {:.2}", verdict.decision, verdict.confidence),
            Some(concern) => format!("{state}: {}", concern.sentence),
        };
        let lands = if !council.record.may_decide() { ", which lands nothing by itself" } else { "" };
        let (by, members) = (&council.record.by, council.record.members.len());
        Ok(Some(format!("council {id} of {members} members, asked by {by}{lands}: {told}")))
    }

    /// Keys of members that are kept on this machine, for the document of members.
    ///
    /// # Errors
    /// There is no such document (2), or it cannot be read (5).
    pub fn council_keys(&self, members: Option<&str>) -> Result<Vec<KeptKey>, BrainError> {
        self.cycle.kept_keys(members)
    }

    /// Councils, newest first, at most `most`: those that wait for a person alone, or those whose question or reasons have all words of a text.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn councils(&self, most: usize, waiting: bool, about: &str) -> Result<Vec<CouncilReport>, BrainError> {
        let outlines = self.cycle.council_outlines()?;
        let words: Vec<String> = about.split_whitespace().map(str::to_lowercase).collect();
        let has_words = |council: &Council| {
            let reasons = council.closings.iter().map(|closing| closing.why.as_str());
            let text: Vec<&str> = std::iter::once(council.record.question.as_str()).chain(reasons).collect();
            let text = text.join("\n").to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut found = Vec::new();
        let mut councils = self.cycle.councils()?;
        self.cycle.tell_outcomes(&mut councils)?;
        for council in councils.into_iter().rev().filter(has_words) {
            let line = self.council_line(council, &outlines, false)?;
            if !waiting || line.state == "pending" {
                found.push(line);
            }
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }

    /// Councils that wait for a person's word, newest first, at most as many as are listed at once.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub fn pending_councils(&self) -> Result<Vec<PendingCouncil>, BrainError> {
        let pending = self.cycle.pending_councils()?.into_iter().rev().take(limits::COUNCILS_SHOWN);
        Ok(pending.map(|council| PendingCouncil::of(council.record)).collect())
    }

    /// The council of an id.
    ///
    /// # Errors
    /// There is none (2).
    pub fn council_of(&self, id: &str) -> Result<CouncilReport, BrainError> {
        self.council_view(self.council_named(id)?, false)
    }

    /// Approves or rejects an escalation, once.
    ///
    /// # Errors
    /// There is no such council (2); it decided by itself, is closed, or the person may not close it (3).
    pub fn close_council(
        &self,
        id: &str,
        approves: bool,
        why: &str,
        dry_run: bool,
    ) -> Result<CouncilReport, BrainError> {
        let council = self.council_named(id)?;
        let id = council.record.id.clone();
        let withheld = self.cycle.withheld(&council.record)?;
        if let (Some(why), Some(run)) = (&withheld, &council.record.run) {
            return Err(BrainError::Refused {
                message: format!(
                    "council {id} decides nothing on {run}: {why}; nothing lands by a word on the council"
                ),
                hint: Some(format!("`git brain approve {run}` or `git brain reject {run}` decides on the run")),
            });
        }
        let Some(escalation) = council.escalation() else {
            return Err(BrainError::Refused {
                message: format!("council {id} decided by itself: {}", council.decision()),
                hint: Some(format!("`git brain council --outcome {id} wrong` says that it was wrong")),
            });
        };
        if let Some(run) = council.record.run.as_ref().filter(|_| council.record.may_decide()) {
            return Err(BrainError::Refused {
                message: format!("council {id} left {run} to people, and nothing lands by a word on the council"),
                hint: Some(format!("`git brain approve {run}` or `git brain reject {run}` decides on the run")),
            });
        }
        if council.state() != "pending" {
            let by = council.ruling().map_or("", |closing| closing.by.as_str());
            return Err(BrainError::refused(format!(
                "council {} was {} by {by} already",
                escalation.id,
                council.state()
            )));
        }
        match self.cycle.waits_no_more(&council, &self.cycle.council_outlines()?)? {
            Some(Settled::AskedAgain(newer)) => {
                return Err(BrainError::Refused {
                    message: format!("council {id} waits no more: its question was asked again, by council {newer}"),
                    hint: Some(format!("`git brain council --show {newer}` shows that one")),
                });
            }
            Some(Settled::ByRun) => {
                return Err(BrainError::refused(format!("council {id} waits no more: people decided on its run")));
            }
            None => {}
        }
        let word = if approves { Word::Approve } else { Word::Reject };
        self.add_word(council, word, why, dry_run)
    }

    /// Says how a decision turned out. The newest word counts, by its time.
    ///
    /// # Errors
    /// There is no such council (2); it has no decision yet, or the person may not speak on it (3).
    pub fn council_outcome(&self, id: &str, is_right: bool, why: &str) -> Result<CouncilReport, BrainError> {
        let council = self.council_named(id)?;
        let id = &council.record.id;
        if council.decision() == Decision::Abstain || self.cycle.withheld(&council.record)?.is_some() {
            let hint = match self.cycle.waits_no_more(&council, &self.cycle.council_outlines()?)? {
                Some(Settled::AskedAgain(newer)) => format!(
                    "its question was asked again, by council {newer}: `git brain council --show {newer}` shows that one"
                ),
                Some(Settled::ByRun) => {
                    "people decided on its run: `git brain outcome RUN` says what came of that".to_owned()
                }
                None => format!("`git brain approve {id}` or `git brain reject {id} --why …` decides it"),
            };
            return Err(BrainError::Refused {
                message: format!("council {id} has no decision yet, so nothing can be right or wrong"),
                hint: Some(hint),
            });
        }
        self.add_word(council, if is_right { Word::Right } else { Word::Wrong }, why, false)
    }

    fn add_word(
        &self,
        mut council: Council,
        word: Word,
        why: &str,
        dry_run: bool,
    ) -> Result<CouncilReport, BrainError> {
        let world = &self.cycle.shared.world;
        let id = council.record.id.clone();
        if world.in_hook() {
            return Err(BrainError::Refused {
                message: "git-brain started this program (BRAIN_IN_HOOK is set), and only a person speaks on a council"
                    .to_owned(),
                hint: Some(format!("`git brain council --show {id}` in a terminal of yours")),
            });
        }
        let by = self.cycle.store.person();
        if let Some(others) = self.cycle.speakers_beside(&by)? {
            return Err(BrainError::Refused {
                message: format!("{by} may not decide on council {id}: {others} may"),
                hint: Some("`[review]` of brain.toml names the reviewers, of all runs or by a rule".to_owned()),
            });
        }
        let why = visible(&self.cycle.shared.secrets.redact(why));
        let is_outcome = matches!(word, Word::Right | Word::Wrong);
        // Who speaks after a word that he knows is later, whatever the clock there said.
        let known = council.newest_outcome().filter(|_| is_outcome).map(|closing| closing.at_ms.saturating_add(1));
        let closing = Closing {
            closing: self.new_persons_run(&["council", &id, word.as_str()])?,
            council: council.record.council.clone(),
            word,
            by,
            at_ms: world.now_ms().max(known.unwrap_or(i64::MIN)),
            about: is_outcome.then(|| council.decision()),
            why,
        };
        if closing.encode().len() > limits::REVIEW_BYTES {
            return Err(BrainError::usage(format!("--why is longer than {} bytes", limits::REVIEW_BYTES)));
        }
        if !dry_run {
            self.cycle.keep_closing(&council.record, &closing)?;
        }
        council.closings.push(closing);
        self.council_view(council, dry_run)
    }
}
