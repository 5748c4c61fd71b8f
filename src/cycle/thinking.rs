//! Thinking with a model: from a snapshot to a run's commit, by way of a prompt, an answer, and where that is refused one
//! more answer.
//!
//! An answer that is not allowed leaves nothing behind: no commit, no file. The stimuli stay in the queue, and what was asked
//! and refused is the run's failure, told to whoever started it. What the answers cost is settled either way.

use std::sync::Arc;

use super::budget::Payer;
use super::network::TreeNetwork;
use super::run::{Spawn, Thought, blocking, shown};
use super::snapshot::snapshot;
use super::wake::Job;
use super::{Cycle, CycleError, judging::Veil};
use crate::activation::recall::Filters;
use crate::cognition::Snapshot;
use crate::cognition::exchange::Request;
use crate::cognition::llm;
use crate::delta::{Document, DocumentError};
use crate::model::Origin;
use crate::model::ids::{AgentName, NeuronId};
use crate::model::json::JsonError;
use crate::store::{CommitId, Store};

/// Tokens that a prompt has beside the network: the form of the answer, and what the protocol adds.
const OVERHEAD_TOKENS: u32 = 512;

/// Texts that memories are looked for with, and memories for each.
const CUES: usize = 8;
const MEMORIES: usize = 8;

impl Cycle {
    /// Memories that the stimuli and signals of a job bring to mind, the best of each first.
    pub(super) fn reminded(&self, tip: CommitId, job: &Job) -> Result<Vec<NeuronId>, CycleError> {
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
            let (remembered, _) = self.recall(tip, &snapshot, cue, filters, &mut |_, _| ())?;
            found.extend(remembered.into_iter().enumerate().map(|(rank, (_, neuron))| (rank, neuron.id)));
        }
        found.sort_by_key(|(rank, _)| *rank);
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }
}

/// What one run asks with.
struct Question {
    request: Request,
    veil: Option<Veil>,
    seen: Origin,
}

impl Spawn {
    /// Thinks with a model of the settings.
    pub(super) async fn with_model(self: Arc<Self>, model: &str, repairs: u32) -> Result<Thought, CycleError> {
        let models =
            Arc::clone(self.cycle.models.as_ref().expect("invariant: made where an agent thinks with a model"));
        let (spawn, named) = (Arc::clone(&self), model.to_owned());
        let Question { mut request, veil, seen } = blocking(move || spawn.question(&named)).await?;
        let veil = Arc::new(veil);
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
            let (spawn, veil, seen, text) = (Arc::clone(&self), Arc::clone(&veil), seen.clone(), reply.text.clone());
            let done = blocking(move || spawn.answered(&text, veil.as_ref().as_ref(), seen)).await;
            match done {
                Err(error) if left > 0 && is_the_answers_fault(&error) => {
                    left -= 1;
                    request.messages.extend([reply.message(), llm::refused(&error.to_string())]);
                }
                other => return other,
            }
        }
    }

    fn question(&self, model: &str) -> Result<Question, CycleError> {
        let shared = &self.cycle.shared;
        let settings = shared.policy.model(model)?;
        let member = shared.policy.agents.get(&self.job.agent);
        let member = member.ok_or_else(|| CycleError::refused(format!("there is no agent {}", self.job.agent)))?;
        let store = self.cycle.store()?;
        let network = TreeNetwork::remembering(&store, store.tree_of(self.tip)?, &shared.neurons);
        let snapshot = self.snapshot(&store, &network)?;
        let seen = shown(&snapshot);
        let (snapshot, veil) = match self.judges() {
            true => Veil::over(snapshot, &network).map(|(snapshot, veil)| (snapshot, Some(veil)))?,
            false => (snapshot, None),
        };
        let room = settings.context.saturating_sub(settings.max_tokens).saturating_sub(OVERHEAD_TOKENS);
        let request = self.request(&snapshot, member, room.min(shared.policy.settings.context.tokens))?;
        Ok(Question { request, veil, seen })
    }

    fn request(&self, snapshot: &Snapshot, member: &super::Member, tokens: u32) -> Result<Request, CycleError> {
        let may = &member.agent.capabilities;
        let (template, path) = match &member.prompt {
            Some(prompt) => (prompt.text.as_str(), prompt.path.as_str()),
            None => (llm::DEFAULT_TEMPLATE, "the prompt of the program"),
        };
        let messages = llm::messages(snapshot, may, template, tokens as usize)
            .map_err(|e| CycleError::Json(JsonError::at(path, e.line, "", e.message)))?;
        Ok(Request { messages, form: Some(llm::form(snapshot, may)), ..Request::default() })
    }

    /// From an answer to a commit on the run's branch; everything is checked, and nothing is written before that.
    fn answered(&self, text: &str, veil: Option<&Veil>, seen: Origin) -> Result<Thought, CycleError> {
        let what = format!("the answer of {}", self.job.agent);
        let document = Document::parse(llm::document_in(text).as_bytes(), &what).map_err(|e| match e {
            DocumentError::Json(e) => CycleError::Json(e),
            limit => CycleError::Document(limit),
        })?;
        let store: Store = self.cycle.store()?;
        let document = match veil {
            Some(veil) => self.lifted(veil, document, &store)?,
            None => document,
        };
        let Some(draft) = self.draft(document, seen)? else { return Ok(Thought::Nothing) };
        let applied = draft.apply(&store, &self.cycle.shared)?;
        draft.commit(&applied, &store, &self.cycle.shared).map(|committed| Thought::of(Some(committed)))
    }
}

/// A guard broke an answer off: no part of it is used, and it is not asked for again.
fn broken_off(agent: &AgentName, why: &str) -> CycleError {
    CycleError::refused(format!("the answer of {agent} was broken off: {why}"))
}

/// True if another answer may be a better one.
fn is_the_answers_fault(error: &CycleError) -> bool {
    matches!(error, CycleError::Json(_) | CycleError::Document(_) | CycleError::Refused { .. })
}
