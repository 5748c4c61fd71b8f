//! Handoffs: a question to a person or a watching agent, as a file beside the repository, and the answer as another.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Job;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::gates::GateRecord;
use crate::deliberation::roles::Role;
use crate::deliberation::tree::{Told, Unanswered};
use crate::deliberation::verdict::{self, Alignment, Malformed, Proposal};
use crate::limits;
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
}

impl Cycle {
    /// Asks for alternatives.
    pub(super) fn hand_off_alternatives(
        &self,
        job: &Job<'_>,
        tree: &str,
        all: &[Proposal],
    ) -> Result<Told, CycleError> {
        let schema = verdict::proposals_schema(&json!({"type": "object"}), (0, 2 * all.len()));
        let asked = self.hand_off(job, Role::Diverger, tree, json!({"proposals": all}), schema, |text| {
            verdict::proposals(text, 2 * all.len())
        })?;
        Ok(match asked {
            None => Told::TimedOut,
            Some(Ok(proposals)) => Told::Proposals(proposals),
            Some(Err(error)) => Told::Malformed(error.to_string()),
        })
    }

    /// Asks for an alignment.
    pub(super) fn hand_off_alignment(
        &self,
        job: &Job<'_>,
        tree: &str,
        proposal: &Proposal,
        record: &GateRecord,
    ) -> Result<Result<Alignment, Unanswered>, CycleError> {
        let about = json!({"proposal": proposal, "gates": record});
        let asked = self.hand_off(job, Role::Aligner, tree, about, verdict::alignment_schema(), verdict::alignment)?;
        Ok(match asked {
            None => Err(Unanswered::TimedOut),
            Some(answer) => answer.map_err(|error| Unanswered::Malformed(error.to_string())),
        })
    }

    fn hand_off<T>(
        &self,
        job: &Job<'_>,
        role: Role,
        tree: &str,
        about: Value,
        schema: Value,
        read: impl Fn(&str) -> Result<T, Malformed>,
    ) -> Result<Option<Result<T, Malformed>>, CycleError> {
        let run = job.question.run.as_str();
        let id = format!("h-{:016x}", hash_fields(&[run.as_bytes(), tree.as_bytes(), about.to_string().as_bytes()]));
        let goal = job.question.goal.to_string();
        let handoff = Handoff { id: id.clone(), role, goal, tree: tree.to_owned(), about, schema };
        self.store.put_handoff(&id, &serde_json::to_vec_pretty(&handoff).unwrap_or_default())?;
        let mut looks = 60_000 * u64::from(job.settings.handoff_minutes) / LOOK.as_millis() as u64;
        let answer = loop {
            if let Some(bytes) = self.store.answered_handoff(&id)? {
                break Some(bytes);
            }
            if looks == 0 {
                break None;
            }
            looks -= 1;
            std::thread::sleep(LOOK);
        };
        self.store.forget_handoff(&id)?;
        Ok(answer.map(|bytes| read(&String::from_utf8_lossy(&bytes))))
    }

    /// Why an answer is none to that question; `None`: it is one, or there is no such question.
    pub fn wrong_answer(&self, id: &str, answer: &str) -> Result<Option<String>, CycleError> {
        let Some(asked) = self.handoffs()?.into_iter().find(|one| one.id == id) else { return Ok(None) };
        let wrong = match asked.role {
            Role::Diverger => verdict::proposals(answer, usize::MAX).err(),
            _ => verdict::alignment(answer).err(),
        };
        Ok(wrong.map(|error| error.to_string()))
    }

    /// Forgets the questions of a deliberation that was cut off: nobody reads their answers any more. Only who alone deliberates may.
    pub fn forget_handoffs(&self) -> Result<(), CycleError> {
        for one in self.handoffs()? {
            self.store.forget_handoff(&one.id)?;
        }
        Ok(())
    }

    /// The questions that wait for somebody, by id.
    pub fn handoffs(&self) -> Result<Vec<Handoff>, CycleError> {
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        Ok(self.store.handoffs(limits::DELIBERATION_BYTES)?.into_iter().filter_map(read).collect())
    }
}
