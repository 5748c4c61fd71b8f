//! A council, held: members are asked side by side, each vote is sealed before any is opened, and the [room of councils](crate::council) decides.
//!
//! ```text
//! document of main ─▶ seats ─▶ asked side by side ─▶ signed, sealed ─▶ all opened ─▶ verdict ─▶ record
//! ```
//!
//! No member sees another's vote: each gets its question, its role and its slice of the evidence, and votes come together in this process alone.
//! Nothing is written here; `records` keeps what was decided.

mod ask;
mod gate;
mod outlines;
mod records;
mod standing;
mod told;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

use super::models::Models;
use super::snapshot::snapshot;
use super::{Cycle, CycleError, ledger};
use crate::activation::recall::Filters;
use crate::cognition::council::is_expectation;
use crate::council::document::{CouncilDocument, Mind, Seated};
use crate::council::ids::{MemberId, MindId, ThreadId};
use crate::council::independence::{Correlations, Minds};
use crate::council::message::{AgentMessage, CHAIR, Inbox, MessageType, Verifier};
use crate::council::record::{CastVote, Council, CouncilRecord, SeatRecord, key_elsewhere};
use crate::council::reflex::{PastOutcome, Shown};
use crate::council::roles::context_slices;
use crate::council::seal::{Deadlines, Nonce, Opening, Round, Seal};
use crate::council::verdict::decide_by_minds;
use crate::council::vote::{Decision, Members, Refused, Reply};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::json as model_json;
use crate::store::CommitId;
use crate::world::{MemberKey, Trust, is_own_host, is_signed, true_command};
use ask::{Said, Wants};

pub use ask::Spent;
pub use outlines::CouncilOutline;
pub use standing::{Earlier, Settled};

/// The document of a council that nobody names.
pub const DOCUMENT: &str = "council.json";
/// The folder of other documents of councils.
pub const FOLDER: &str = "councils";
/// The same, as paths begin.
pub const DOCUMENTS: &str = "councils/";
/// A council that is asked for.
#[derive(Clone, Debug)]
pub struct Convened<'a> {
    /// Its thread.
    pub council: RunId,
    /// The question.
    pub question: &'a str,
    /// The document of members on main; `None`: `council.json` if it is there, else three rules.
    pub document: Option<&'a str>,
    /// The time that members have, milliseconds.
    pub timeout_ms: u64,
    /// The run that the question is about, and its commit.
    pub run: Option<(RunId, CommitId)>,
    /// Whether the votes are bound to that run, so that they can decide on it.
    pub binds: bool,
    /// Words by which memories are recalled, where the question is no sentence.
    pub cue: Option<&'a str>,
    /// The person that asks: `Name <address>`.
    pub by: String,
}

/// The key of a member that is kept here.
#[derive(Clone, Debug, serde::Serialize)]
pub struct KeptKey {
    /// The member.
    pub member: String,
    /// The public key that is kept here.
    pub kept: String,
    /// The key that the document names; null: none.
    pub named: Option<String>,
    /// Whether both are one.
    pub is_named: bool,
}

/// A document of members on main.
#[derive(Clone, Debug)]
pub struct FoundDocument {
    /// Its path.
    pub path: String,
    /// Its blob.
    pub blob: String,
    /// The document.
    pub document: CouncilDocument,
}

/// What members are asked about, and what each is shown of it.
pub(super) struct Material {
    question: String,
    /// What it is about in words, which rules read.
    cue: String,
    /// Texts for models and programs, each with a word on an origin that is not trusted.
    evidence: Vec<String>,
    shown: Vec<Shown>,
    ids: Vec<String>,
    /// Of each member, in the order of members.
    slices: Vec<Vec<usize>>,
    outcomes: Vec<PastOutcome>,
}

/// Where votes come together: one sender after the other, checked and sealed as they come.
struct Desk<'a> {
    members: &'a Members,
    thread: &'a ThreadId,
    keys: &'a Keys,
    inbox: Inbox,
    round: Round,
    cast: Vec<CastVote>,
    refused: Vec<Refused>,
}

/// Keys of the members: the public one of each, and the private ones that are kept here.
struct Keys {
    public: BTreeMap<MemberId, String>,
    own: BTreeMap<MemberId, MemberKey>,
}

impl Verifier for Keys {
    fn verify(&self, sender_id: &MemberId, bytes: &[u8], signature: &str) -> bool {
        self.public.get(sender_id).is_some_and(|key| is_signed(key, bytes, signature))
    }
}

impl Cycle {
    /// Documents of councils on main. One that cannot be read is left out: asking such a council names the fault.
    pub fn council_documents(&self) -> Result<Vec<FoundDocument>, CycleError> {
        let main = self.store.tree_of(self.store.need_tip(self.store.main())?)?;
        let mut paths = vec![DOCUMENT.to_owned()];
        if let Some(folder) = self.store.folder(main, FOLDER)? {
            let files = self.store.files(folder, "")?.into_iter();
            paths.extend(files.map(|(path, _)| format!("{DOCUMENTS}{path}")).filter(|path| path.ends_with(".json")));
        }
        let mut found = Vec::new();
        for path in paths {
            match self.council_document_at(&path) {
                Err(CycleError::Json(_)) => {}
                document => found.extend(document?),
            }
        }
        Ok(found)
    }

    /// The document at a path of main; `None`: there is none.
    fn council_document_at(&self, path: &str) -> Result<Option<FoundDocument>, CycleError> {
        let main = self.store.tree_of(self.store.need_tip(self.store.main())?)?;
        let Some(file) = self.store.file(main, path)? else { return Ok(None) };
        let bytes = self.store.read_file(file, path)?;
        let document = model_json::strict(&bytes, path, limits::COUNCIL_DOCUMENT_BYTES)?;
        Ok(Some(FoundDocument { path: path.to_owned(), blob: file.blob.to_string(), document }))
    }

    /// Whether the members of a document of main may be asked on this machine.
    pub fn may_ask_council(&self, path: &str) -> Result<bool, CycleError> {
        match self.council_document(Some(path)) {
            Ok(found) => Ok(found.is_some()),
            Err(CycleError::Refused { .. } | CycleError::Usage { .. } | CycleError::Json(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The document that is asked for, trusted where it needs trust; `None`: three rules.
    fn council_document(&self, named: Option<&str>) -> Result<Option<FoundDocument>, CycleError> {
        let path = named.unwrap_or(DOCUMENT);
        let may_be = path == DOCUMENT || path.starts_with(DOCUMENTS) && path.ends_with(".json");
        if !may_be {
            return Err(CycleError::Usage {
                message: format!("{path}: members are written in {DOCUMENT} or {DOCUMENTS}NAME.json"),
                hint: Some(format!("such a file is committed on {}", self.store.main())),
            });
        }
        let Some(found) = self.council_document_at(path)? else {
            return match named {
                None => Ok(None),
                Some(_) => Err(no_document(self.store.main(), path)),
            };
        };
        let trust = Trust::load(&self.shared.world, &self.store.private_dir())?;
        if found.document.needs_trust() && !trust.covers(path, &found.blob) {
            return Err(CycleError::Refused {
                message: format!("{path} is not trusted on this machine, so its models and programs are inert"),
                hint: Some("look at it, then `git brain trust`".to_owned()),
            });
        }
        Ok(Some(found))
    }

    /// Asks the members, and decides. Nothing is written.
    ///
    /// # Errors
    /// The document cannot be read, is not trusted or names no council (2, 3, 5); no key or no randomness. A member that fails is absent, with the
    /// reason in the verdict.
    pub fn hold_council(&self, convened: &Convened<'_>) -> Result<CouncilRecord, CycleError> {
        self.hold_paid_council(convened).map(|(record, _)| record)
    }

    /// The same, with the exchanges of its models.
    ///
    /// # Errors
    /// As [`Cycle::hold_council`].
    pub(super) fn hold_paid_council(
        &self,
        convened: &Convened<'_>,
    ) -> Result<(CouncilRecord, BTreeMap<MemberId, Spent>), CycleError> {
        let spent = RefCell::new(BTreeMap::new());
        let found = self.council_document(convened.document)?;
        let source = found.as_ref().map_or(String::new(), |found| format!("{}@{}", found.path, found.blob));
        let place = found.as_ref().map_or(DOCUMENT, |found| found.path.as_str()).to_owned();
        let document = found.map_or_else(CouncilDocument::of_reflexes, |found| found.document);
        let settings = &self.shared.policy.settings;
        let (members, seats) = document
            .seated_here(|model| settings.models.get(model).map(|model| model.as_mind_on(is_own_host)), true_command)
            .map_err(|fault| CycleError::usage(format!("{place}: {fault}")))?;
        let keys = self.council_keys(&seats)?;
        let past = self.past_councils()?;
        let material = self.material(convened, seats.len(), &past)?;
        let history: Vec<_> = past.iter().filter_map(Council::past).collect();
        let (run, commit) = convened.run.as_ref().map(|(run, commit)| (run, commit.to_string())).unzip();
        let binds = match (run, &commit) {
            (Some(run), Some(commit)) if convened.binds => {
                CouncilRecord::binding(convened.question, run, commit, &source)
            }
            _ => CouncilRecord::advice(convened.question, run, commit.as_deref(), &source),
        };
        let thread = CouncilRecord::thread_of(&convened.council, &binds);
        let world = &self.shared.world;
        let seal_ms = world.now_ms().saturating_add(i64::try_from(convened.timeout_ms).unwrap_or(i64::MAX));
        let deadlines = Deadlines { seal_ms, open_ms: seal_ms.saturating_add(limits::COUNCIL_OPEN_MS) };
        let desk = RefCell::new(Desk {
            members: &members,
            thread: &thread,
            keys: &keys,
            inbox: Inbox::new(CHAIR.into(), thread.clone()),
            round: Round::new(members.clone(), thread.clone(), deadlines),
            cast: Vec::new(),
            refused: Vec::new(),
        });
        let wants = Wants {
            thread: &thread,
            members: &members,
            material: &material,
            timeout_ms: convened.timeout_ms,
            run: convened.run.as_ref().filter(|_| convened.binds).map(|(run, commit)| (run, commit.to_string())),
            document: &source,
            kept: keys.own.keys().cloned().collect(),
            spent: &spent,
        };
        let models = Models::new(Arc::clone(&self.shared))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| CycleError::Busy(format!("cannot start a thread: {e}")))?;
        let taken = runtime.block_on(join_all(seats.iter().enumerate().map(async |(place, seat)| {
            let begun_ms = world.now_ms();
            let said = self.ask_member(&models, &wants, place, seat).await;
            let took_ms = u64::try_from(world.now_ms() - begun_ms).unwrap_or(0);
            spent.borrow_mut().entry(seat.member.id.clone()).or_default().duration_ms = took_ms;
            said.into_iter().try_for_each(|said| desk.borrow_mut().take(self, seat, said))
        })));
        // A name that is still being looked up must not hold back the verdict.
        runtime.shutdown_background();
        taken.into_iter().collect::<Result<(), CycleError>>()?;
        let Desk { mut round, cast, mut refused, .. } = desk.into_inner();
        // All have answered or failed, so the time for seals is over.
        let opened_ms = world.now_ms().max(seal_ms.saturating_add(1));
        for one in &cast {
            if let Err(fault) = round.open(one.opening.clone(), opened_ms) {
                refused.push(Refused { member: one.opening.vote.member.clone(), reason: fault.to_string() });
            }
        }
        let opened = round.finish();
        let is_told = |absent: &Refused| refused.iter().any(|one| one.member == absent.member);
        let silent: Vec<Refused> = opened.absent.into_iter().filter(|absent| !is_told(absent)).collect();
        refused.extend(silent);
        let mind = |seat: &Seated| (seat.member.id.clone(), MindId::of(&seat.member.family, &seat.mind.name()));
        let minds: Minds = seats.iter().map(mind).collect();
        let correlations = Correlations::measure(&members, &minds, &history);
        let mut verdict =
            decide_by_minds(convened.question, &members, &opened.votes, &correlations, &document.thresholds);
        verdict.refused.extend(refused);
        let has_counted = |one: &CastVote| opened.votes.contains(&one.opening.vote);
        let record = CouncilRecord {
            id: CouncilRecord::id_of(&convened.council, convened.question),
            council: convened.council.clone(),
            question: convened.question.to_owned(),
            by: convened.by.clone(),
            at_ms: world.now_ms(),
            run: convened.run.as_ref().map(|(run, _)| run.clone()),
            commit: convened.run.as_ref().map(|(_, commit)| commit.to_string()),
            binds,
            document: source,
            members: seats.iter().map(|seat| seat_record(seat, &keys)).collect(),
            evidence: material.ids,
            votes: cast.into_iter().filter(has_counted).collect(),
            verdict,
        };
        Ok((record, spent.take()))
    }

    /// Keys of members as they are kept here, made when first needed: what the document of members can name.
    ///
    /// # Errors
    /// The document cannot be read; no key can be made.
    pub fn kept_keys(&self, document: Option<&str>) -> Result<Vec<KeptKey>, CycleError> {
        let path = document.unwrap_or(DOCUMENT);
        let found = self.council_document_at(path)?.ok_or_else(|| no_document(self.store.main(), path))?;
        let mut keys = Vec::new();
        for seat in found.document.members {
            let made = MemberKey::of(&self.shared.world, &self.store.private_dir(), seat.id.as_str());
            let kept = made.map_err(|error| CycleError::refused(error.to_string()))?.public();
            keys.push(KeptKey {
                member: seat.id.to_string(),
                is_named: seat.key.as_ref() == Some(&kept),
                named: seat.key,
                kept,
            });
        }
        Ok(keys)
    }

    /// Keys of the members; those of members without one of their own are made when first needed.
    fn council_keys(&self, seats: &[Seated]) -> Result<Keys, CycleError> {
        let (mut public, mut own) = (BTreeMap::new(), BTreeMap::new());
        for seat in seats {
            let id = &seat.member.id;
            let made = MemberKey::of(&self.shared.world, &self.store.private_dir(), id.as_str());
            let made = made.map_err(|error| CycleError::refused(error.to_string()))?;
            let key = seat.key.clone().unwrap_or_else(|| made.public());
            // Under another key than the one that is kept here the member signs by itself.
            if key == made.public() {
                own.insert(id.clone(), made);
            }
            public.insert(id.clone(), key);
        }
        Ok(Keys { public, own })
    }

    /// Memories that the question recalls, dealt to the members, and outcomes of the past.
    fn material(&self, convened: &Convened<'_>, members: usize, past: &[Council]) -> Result<Material, CycleError> {
        let (question, cue) = (convened.question, convened.cue.unwrap_or(convened.question));
        let wake = self.store.need_tip(self.store.wake())?;
        let tree = self.store.tree_of(wake)?;
        let (snapshot, now) = (snapshot(&self.store, tree)?, self.shared.world.now());
        let filters = Filters { top: Some(limits::COUNCIL_MEMORIES), ..Filters::default() };
        let (found, _) = self.recall(wake, &snapshot, cue, filters, now, &mut |_, _| ())?;
        let origins = &self.shared.policy.settings.origins;
        let (mut evidence, mut shown, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for (number, recalled) in found.into_iter().enumerate() {
            let neuron = recalled.neuron;
            let (text, is_trusted) = (neuron.concept.clone(), !origins.is_tainted(&neuron.origin));
            let mark = if is_trusted { String::new() } else { format!(" (from {}, not trusted)", neuron.origin) };
            evidence.push(format!("{text}{mark}"));
            shown.push(Shown { number, text, is_trusted });
            ids.push(neuron.id.to_string());
        }
        let mut outcomes = Vec::new();
        for entry in ledger::newest(&self.store, tree, limits::COUNCIL_HISTORY)? {
            // Whether a council was right is no answer to its question: that is told of the council below.
            if entry.prediction.text.as_deref().is_some_and(is_expectation) {
                continue;
            }
            let chosen = entry.chosen.map(|chosen| format!("{} {}", chosen.question, chosen.option));
            let about = chosen.or(entry.prediction.text).or_else(|| entry.outcome.text.clone());
            outcomes.extend(about.map(|about| PastOutcome { about, value: entry.outcome.value }));
        }
        for council in past {
            let value = match council.past().map(|past| past.outcome) {
                Some(Decision::Approve) => 1.0,
                Some(Decision::Reject) => 0.0,
                Some(Decision::Abstain) | None => continue,
            };
            outcomes.push(PastOutcome { about: council.record.question.clone(), value });
        }
        let slices = context_slices(cue, &evidence, members);
        Ok(Material { question: question.to_owned(), cue: cue.to_owned(), evidence, shown, ids, slices, outcomes })
    }
}

impl Desk<'_> {
    /// Takes one thing that a member said: a vote is checked and sealed, and what is refused is kept with the reason.
    fn take(&mut self, cycle: &Cycle, seat: &Seated, said: Result<Said, String>) -> Result<(), CycleError> {
        let taken = match said {
            Ok(said) => self.sealed(cycle, seat, said)?,
            Err(reason) => Err(reason),
        };
        if let Err(reason) = taken {
            let reason = cycle.shared.secrets.redact(&reason).into_owned();
            self.refused.push(Refused { member: seat.member.id.clone(), reason });
        }
        Ok(())
    }

    fn sealed(&mut self, cycle: &Cycle, seat: &Seated, said: Said) -> Result<Result<(), String>, CycleError> {
        let (world, member) = (&cycle.shared.world, &seat.member);
        let nonce = Nonce(world.nonce()?);
        let now_ms = world.now_ms();
        let (reply, signed) = match said {
            Said::Plain(reply) => (reply, None),
            Said::Signed(message) => match self.opened(cycle, seat, &message, now_ms) {
                Ok(reply) => (reply, Some(message)),
                Err(reason) => return Ok(Err(reason)),
            },
        };
        let vote = reply.into_vote(member);
        if let Err(fault) = vote.check(self.members) {
            return Ok(Err(fault.to_string()));
        }
        let seal = Seal::of(self.thread, &vote, &nonce);
        let message = match signed {
            Some(message) => message,
            None => {
                let mut message = AgentMessage {
                    sender_id: member.id.clone(),
                    recipient_id: CHAIR.into(),
                    message_type: MessageType::VoteSubmit,
                    content: model_json::inline(&seal),
                    timestamp: now_ms,
                    thread_id: self.thread.clone(),
                    ..AgentMessage::default()
                };
                let Some(key) = self.keys.own.get(&member.id) else {
                    return Ok(Err(key_elsewhere(&member.id)));
                };
                message.signature = key.sign(&message.canonical_bytes());
                if let Err(fault) = self.inbox.take(&message, now_ms, self.keys) {
                    return Ok(Err(fault.to_string()));
                }
                message
            }
        };
        if let Err(fault) = self.round.seal(seal.clone(), now_ms) {
            return Ok(Err(fault.to_string()));
        }
        let opening = Opening { thread_id: self.thread.clone(), vote, nonce };
        self.cast.push(CastVote { opening, seal, message });
        Ok(Ok(()))
    }

    /// The reply in a message that a program signed itself.
    fn opened(&mut self, cycle: &Cycle, seat: &Seated, message: &AgentMessage, now_ms: i64) -> Result<Reply, String> {
        // A secret was taken out of the output, so that the signature fits no longer.
        if message.content.contains("[redacted:") {
            return Err("the message holds a secret, and is signed with it".to_owned());
        }
        self.inbox.take(message, now_ms, self.keys).map_err(|fault| fault.to_string())?;
        if message.sender_id != seat.member.id {
            return Err(format!("the message is of {}, and not of this member", message.sender_id));
        }
        if message.message_type != MessageType::VoteSubmit {
            return Err("the message is no VOTE_SUBMIT".to_owned());
        }
        if message.recipient_id.as_str() != CHAIR || !message.parent_message_id.as_str().is_empty() {
            return Err(format!("a vote is sent to {CHAIR}, as an answer to no other message"));
        }
        if cycle.shared.secrets.redact(&message.content) != message.content {
            return Err("the message holds a secret, and is signed with it".to_owned());
        }
        let content: serde_json::Value = serde_json::from_str(&message.content)
            .map_err(|error| format!("the content of the message is no JSON: {error}"))?;
        ask::reply_of(content, seat, "the content of the message is no vote")
    }
}

fn no_document(main: &crate::store::Branch, path: &str) -> CycleError {
    CycleError::Usage {
        message: format!("{main} has no file {path}"),
        hint: Some(format!("commit the document of members there: `git add {path}`, `git commit`")),
    }
}

fn seat_record(seat: &Seated, keys: &Keys) -> SeatRecord {
    SeatRecord {
        id: seat.member.id.clone(),
        family: seat.member.family.clone(),
        role: seat.role.name.clone(),
        mind: seat.mind.name(),
        key: keys.public.get(&seat.member.id).cloned().unwrap_or_default(),
    }
}

/// What trust of a document allows, in a sentence.
pub fn grants_of(document: &CouncilDocument) -> String {
    let told = document.members.iter().filter_map(|seat| match &seat.mind {
        Mind::Reflex { .. } => None,
        Mind::Model { model } => Some(format!("ask the model {model}")),
        Mind::Command { argv, reads } if reads.is_empty() => Some(format!("run {}, confined", argv.join(" "))),
        Mind::Command { argv, reads } => Some(format!("run {}, confined, read {}", argv.join(" "), reads.join(" "))),
    });
    let told: std::collections::BTreeSet<String> = told.collect();
    format!("{} as members of a council", told.into_iter().collect::<Vec<_>>().join(", "))
}
