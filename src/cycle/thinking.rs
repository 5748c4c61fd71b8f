//! Thinking with a model: from a snapshot to a run's commit, by way of a prompt, an answer, and where that is refused one
//! more answer.
//!
//! An answer that is not allowed leaves nothing behind: no commit, no file. The stimuli stay in the queue, and what was asked
//! and refused is the run's failure, told to whoever started it. What the answers cost is settled either way.

use std::sync::Arc;

use super::budget::Payer;
use super::job::Job;
use super::models::{broken_off, is_the_answers_fault, room_of};
use super::network::TreeNetwork;
use super::snapshot::snapshot;
use super::spawn::{Spawn, Thought, blocking, shown};
use super::{Cycle, CycleError, Member, judging::Veil, steering};
use crate::activation::recall::Filters;
use crate::cognition::Snapshot;
use crate::cognition::exchange::{Form, Message, Request};
use crate::cognition::llm;
use crate::delta::{Document, DocumentError};
use crate::model::Origin;
use crate::model::ids::NeuronId;
use crate::model::json::JsonError;
use crate::store::{CommitId, Store};
use crate::text::tokens;

/// Texts that memories are looked for with, and memories for each.
const CUES: usize = 8;
const MEMORIES: usize = 8;

impl Cycle {
    /// Memories that the stimuli and signals of a job recall, the best of each first, each with its strength: 1 for a best one.
    pub(super) fn reminded(&self, tip: CommitId, job: &Job) -> Result<Vec<(NeuronId, f64)>, CycleError> {
        let said = |payload: &serde_json::Value| {
            ["query", "text"].iter().filter_map(|key| payload.get(key)?.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let stimuli = job.stimuli.iter().map(|stimulus| stimulus.text.clone());
        let cues: Vec<String> = stimuli.chain(job.signals.iter().flat_map(|signal| said(&signal.payload))).collect();
        if cues.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = snapshot(&self.store, self.store.tree_of(tip)?)?;
        let mut found = Vec::new();
        for cue in cues.iter().take(CUES) {
            let filters = Filters { top: Some(MEMORIES), ..Filters::default() };
            let (remembered, _) = self.recall(tip, &snapshot, cue, filters, job.clock, &mut |_, _| ())?;
            found.extend(remembered.into_iter().enumerate().map(|(rank, recalled)| (rank, recalled.neuron.id)));
        }
        found.sort_by_key(|(rank, _)| *rank);
        Ok(found.into_iter().map(|(rank, id)| (id, 1.0 - rank as f64 / MEMORIES as f64)).collect())
    }
}

/// What one run asks with.
pub(super) struct Question {
    /// The instructions, and the snapshot as data.
    pub messages: Vec<Message>,
    /// What the agent sees.
    pub snapshot: Snapshot,
    /// What it does not, and puts back into its answer.
    pub veil: Option<Veil>,
    /// The origin of all that it sees.
    pub seen: Origin,
}

impl Spawn {
    /// Thinks with a model of the settings.
    pub(super) async fn with_model(self: Arc<Self>, model: &str, repairs: u32) -> Result<Thought, CycleError> {
        let models =
            Arc::clone(self.cycle.models.as_ref().expect("invariant: made where an agent thinks with a model"));
        let (spawn, named) = (Arc::clone(&self), model.to_owned());
        let (question, mut request) = blocking(move || {
            let question = spawn.question(&[&named], 1)?;
            let form = Some(spawn.form(&question.snapshot)?);
            Ok((Arc::new(question), form))
        })
        .await
        .map(|(question, form)| {
            let messages = question.messages.clone();
            (question, Request { messages, form, ..Request::default() })
        })?;
        let payer = Payer::new(&self.job.agent, &self.job.roots);
        let mut left = repairs;
        loop {
            let reply = match models.ask(&payer, model, &request, None).await? {
                Ok(reply) => reply,
                Err(exhausted) => return Ok(Thought::Held(exhausted)),
            };
            if let Some(why) = &reply.broken_off {
                return Err(broken_off(&self.job.agent, why));
            }
            let (spawn, question, text) = (Arc::clone(&self), Arc::clone(&question), reply.text.clone());
            let done =
                blocking(move || spawn.answered(&text, question.veil.as_ref(), question.seen.clone(), None)).await;
            match done {
                Err(error) if left > 0 && is_the_answers_fault(&error) => {
                    left -= 1;
                    request.messages.extend([reply.message(), Message::refused(&error.to_string())]);
                }
                other => return other,
            }
        }
    }

    /// What is asked. The prompt takes one of so many `parts` of what the smallest of the models can read.
    pub(super) fn question(&self, models: &[&str], parts: u32) -> Result<Question, CycleError> {
        let shared = &self.cycle.shared;
        let mut room = shared.policy.settings.context.tokens;
        for model in models {
            room = room.min(room_of(shared.policy.model(model)?) / parts);
        }
        let member = self.member()?;
        let store = self.cycle.store()?;
        let network = TreeNetwork::remembering(&store, store.tree_of(self.tip)?, &shared.neurons);
        let snapshot = self.snapshot(&store, &network)?;
        let seen = shown(&snapshot);
        let (snapshot, veil) = match self.judges() {
            true => Veil::over(snapshot, &network).map(|(snapshot, veil)| (snapshot, Some(veil)))?,
            false => (snapshot, None),
        };
        let (template, path) = match &member.prompt {
            Some(prompt) => (prompt.text.as_str(), prompt.path.as_str()),
            None => (llm::DEFAULT_TEMPLATE, "the prompt of the program"),
        };
        let read: Vec<&str> = snapshot.stimuli.iter().map(|stimulus| stimulus.text.as_str()).collect();
        let addition = steering::addition(&store, shared, self.tip, Some(&self.job.agent), &read.join("\n"))?;
        let room = (room as usize).saturating_sub(tokens(&addition));
        let mut messages = llm::messages(&snapshot, &member.agent.capabilities, template, room)
            .map_err(|e| CycleError::Json(JsonError::at(path, e.line, "", e.message)))?;
        if let Some(instructions) = messages.first_mut().filter(|_| !addition.is_empty()) {
            instructions.text = format!("{}\n\n{addition}", instructions.text.trim_end());
        }
        Ok(Question { messages, snapshot, veil, seen })
    }

    /// The form of the answer to what the agent sees.
    pub(super) fn form(&self, snapshot: &Snapshot) -> Result<Form, CycleError> {
        Ok(llm::form(snapshot, &self.member()?.agent.capabilities))
    }

    fn member(&self) -> Result<&Member, CycleError> {
        let member = self.cycle.shared.policy.agents.get(&self.job.agent);
        member.ok_or_else(|| CycleError::refused(format!("there is no agent {}", self.job.agent)))
    }

    /// From an answer to a commit on the run's branch; everything is checked, and nothing is written before that. `cognition` says
    /// how it was thought, where the definition alone does not.
    pub(super) fn answered(
        &self,
        text: &str,
        veil: Option<&Veil>,
        seen: Origin,
        cognition: Option<String>,
    ) -> Result<Thought, CycleError> {
        let what = format!("the answer of {}", self.job.agent);
        let mut document = Document::parse(llm::document_in(text).as_bytes(), &what).map_err(|e| match e {
            DocumentError::Json(e) => CycleError::Json(e),
            limit => CycleError::Document(limit),
        })?;
        let store: Store = self.cycle.store()?;
        let document = match veil {
            Some(veil) => {
                veil.work_out(&mut document);
                self.lifted(veil, document, &store)?
            }
            None => document,
        };
        let Some(mut draft) = self.draft(document, seen)? else { return Ok(Thought::Nothing) };
        draft.cognition = cognition.unwrap_or(draft.cognition);
        let applied = draft.apply(&store, &self.cycle.shared)?;
        draft.settle(&applied, &store, &self.cycle.shared, true).map(|committed| Thought::of(Some(committed)))
    }
}
