//! Handoffs: a question to a person or a watching agent, as a file beside the repository, and the answer as another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Job;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::gates::GateRecord;
use crate::deliberation::held;
use crate::deliberation::roles::Role;
use crate::deliberation::tree::{Told, Unanswered};
use crate::deliberation::verdict::{self, Alignment, Proposal};
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::hash_fields;

/// How often it is looked for an answer.
const LOOK: Duration = Duration::from_millis(200);

/// A question that waits for somebody.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// Its id.
    pub id: String,
    /// `diverger` or `aligner`.
    pub role: Role,
    /// The goal.
    pub goal: String,
    /// The tree.
    pub tree: String,
    /// What is asked about.
    pub about: Value,
    /// The schema of the answer.
    pub schema: Value,
    /// Until when an answer counts, where no deliberation waits for it: a later run of the agent finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Stamp>,
}

/// A question before it is put.
struct Asked {
    role: Role,
    /// The proposals that it is about, by key: whichever run asks, it is the same question.
    keys: Vec<String>,
    about: Value,
    schema: Value,
}

impl Cycle {
    /// Asks for alternatives.
    pub(super) fn hand_off_alternatives(
        &self,
        job: &Job<'_>,
        tree: &str,
        all: &[Proposal],
    ) -> Result<Told, CycleError> {
        let asked = Asked {
            role: Role::Diverger,
            keys: all.iter().map(Proposal::key).collect(),
            about: json!({"proposals": all}),
            schema: verdict::proposals_schema(&json!({"type": "object"}), (0, 2 * all.len())),
        };
        let answer = self.hand_off(job, tree, vec![asked])?.pop().flatten();
        Ok(match answer.map(|text| verdict::proposals(&text, 2 * all.len())) {
            None => Told::TimedOut,
            Some(Ok(proposals)) => Told::Proposals(proposals),
            Some(Err(error)) => Told::Malformed(error.to_string()),
        })
    }

    /// Asks for an alignment of each candidate, all at once.
    pub(super) fn hand_off_alignments(
        &self,
        job: &Job<'_>,
        tree: &str,
        all: &[(Proposal, GateRecord)],
    ) -> Result<Vec<Result<Alignment, Unanswered>>, CycleError> {
        let asked = all.iter().map(|(proposal, record)| Asked {
            role: Role::Aligner,
            keys: vec![proposal.key()],
            about: json!({"proposal": proposal, "gates": record}),
            schema: verdict::alignment_schema(),
        });
        let answers = self.hand_off(job, tree, asked.collect())?.into_iter();
        let read = |text: String| verdict::alignment(&text).map_err(|error| Unanswered::Malformed(error.to_string()));
        Ok(answers.map(|answer| answer.map_or(Err(Unanswered::TimedOut), read)).collect())
    }

    /// Puts questions, and waits for the answers: for all of them no longer than for one. A run of an agent waits for none: its questions stay.
    fn hand_off(&self, job: &Job<'_>, tree: &str, all: Vec<Asked>) -> Result<Vec<Option<String>>, CycleError> {
        let (goal, minutes) = (job.question.goal.to_string(), job.settings.handoff_minutes);
        let later = self.shared.world.now().unix() + 60 * i64::from(minutes);
        let until = (!job.question.waits).then(|| Stamp::from_unix(later));
        let mut ids = Vec::with_capacity(all.len());
        for Asked { role, keys, about, schema } in all {
            let mut fields = vec![goal.as_bytes(), tree.as_bytes(), role.as_str().as_bytes()];
            fields.extend(keys.iter().map(String::as_bytes));
            let id = format!("h-{:016x}", hash_fields(&fields));
            let handoff =
                Handoff { id: id.clone(), role, goal: goal.clone(), tree: tree.to_owned(), about, schema, until };
            self.store.put_handoff(&id, &serde_json::to_vec_pretty(&handoff).unwrap_or_default())?;
            ids.push(id);
        }
        let looks_for = if job.question.waits { 60_000 * u64::from(minutes) / LOOK.as_millis() as u64 } else { 0 };
        let mut answers: Vec<Option<Vec<u8>>> = vec![None; ids.len()];
        for look in 0..=looks_for {
            for (id, answer) in ids.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                *answer = self.store.answered_handoff(id)?;
                if answer.is_some() {
                    // Whoever looks sees what is open.
                    self.store.forget_handoff(id)?;
                }
            }
            if answers.iter().all(Option::is_some) {
                break;
            }
            if look < looks_for {
                std::thread::sleep(LOOK);
            }
        }
        for (id, answer) in ids.iter().zip(&answers) {
            if answer.is_none() && (job.question.waits || minutes == 0) {
                self.store.forget_handoff(id)?;
            }
        }
        Ok(answers.into_iter().map(|answer| answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())).collect())
    }

    /// Why an answer is none to that question; `None`: it is one, or there is no such question.
    pub fn wrong_answer(&self, id: &str, answer: &str) -> Result<Option<String>, CycleError> {
        let Some(asked) = self.handoffs()?.into_iter().find(|one| one.id == id) else { return Ok(None) };
        let document = match serde_json::from_str(answer) {
            Ok(document) => document,
            Err(error) => return Ok(Some(format!("line {}: {error}", error.line()))),
        };
        let read = match asked.role {
            Role::Diverger => verdict::proposals(answer, usize::MAX).map(drop),
            _ => verdict::alignment(answer).map(drop),
        };
        Ok(held::hold(&document, &asked.schema).and(read).err().map(|error| error.to_string()))
    }

    /// Forgets the questions of a deliberation that was cut off, and those of agents whose time is over. One that was answered meanwhile stays for the
    /// deliberation that asks it again. Only who alone deliberates may.
    pub fn forget_handoffs(&self) -> Result<(), CycleError> {
        let now = self.shared.world.now();
        let is_over = |one: &Handoff| one.until.is_none_or(|until| until <= now);
        for one in self.handoffs()?.into_iter().filter(is_over) {
            if one.until.is_some() || self.store.answered_handoff(&one.id)?.is_none() {
                self.store.forget_handoff(&one.id)?;
            }
        }
        Ok(())
    }

    /// Those that have no answer yet, and for which one would count.
    pub fn open_handoffs(&self) -> Result<Vec<Handoff>, CycleError> {
        let (now, mut open) = (self.shared.world.now(), Vec::new());
        for one in self.handoffs()? {
            if one.until.is_none_or(|until| until > now) && self.store.answered_handoff(&one.id)?.is_none() {
                open.push(one);
            }
        }
        Ok(open)
    }

    /// The questions that wait for somebody, or for whoever reads the answer, by id.
    pub fn handoffs(&self) -> Result<Vec<Handoff>, CycleError> {
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        Ok(self.store.handoffs(limits::DELIBERATION_BYTES)?.into_iter().filter_map(read).collect())
    }
}
