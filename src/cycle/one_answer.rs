//! One answer of a model outside of the loop: where an agent is asked for a document that is no run of its own, as a judge of texts or
//! for a night's text.
//!
//! The same rules as in a run: the definition and the model have to be trusted, the prompt holds what the model can read, what came from
//! elsewhere is data, the answer has a form, what cannot be used is told once more, and every call is paid.

use std::sync::Arc;

use super::budget::Payer;
use super::models::Models;
use super::models::{broken_off, is_the_answers_fault, room_of};
use super::{Cycle, CycleError, Member};
use crate::cognition::exchange::{Form, Message, Reply, Request};
use crate::cognition::llm;
use crate::model::ids::{AgentName, StimulusId};
use crate::model::json::JsonError;

/// What an agent is asked for.
pub(super) struct Wanted<'a> {
    /// The agent.
    pub agent: &'a AgentName,
    /// The `[models.NAME]` that thinks for it.
    pub model: &'a str,
    /// How often an answer that cannot be used may be given once more.
    pub repairs: u32,
    /// The stimuli that the question descends from.
    pub roots: &'a [StimulusId],
    /// Instructions and data.
    pub messages: Vec<Message>,
    /// The form of the answer.
    pub form: Form,
    /// How freely the model draws; `None`: as its settings say.
    pub temperature: Option<f64>,
    /// The share of the probability that it draws from; `None`: as the provider has it.
    pub top_p: Option<f64>,
}

impl Cycle {
    /// Tokens that a prompt for a model may take.
    pub(super) fn room_for(&self, model: &str) -> Result<u32, CycleError> {
        Ok(room_of(self.shared.policy.model(model)?))
    }

    /// The instructions of an agent: its own template if a person has written one, else the given one.
    pub(super) fn template<'m>(member: Option<&'m Member>, usual: &'m str) -> (&'m str, &'m str) {
        match member.and_then(|member| member.prompt.as_ref()) {
            Some(prompt) => (prompt.text.as_str(), prompt.path.as_str()),
            None => (usual, "the prompt of the program"),
        }
    }

    /// Asks, and reads the answer; `read` says what cannot be used.
    pub(super) fn one_answer<T>(
        &self,
        wanted: Wanted<'_>,
        mut read: impl FnMut(&str) -> Result<T, CycleError>,
    ) -> Result<T, CycleError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| CycleError::Busy(format!("cannot start a thread: {e}")))?;
        let models = Models::new(Arc::clone(&self.shared))?;
        let answer = runtime.block_on(answer_of(&models, wanted, &mut read, &mut |_| ()));
        // A name that is still being looked up must not hold back the answer.
        runtime.shutdown_background();
        answer
    }
}

/// Asks a model, and reads its answer, for callers that ask several at once. `paid` hears of each exchange.
pub(super) async fn answer_of<T>(
    models: &Models,
    wanted: Wanted<'_>,
    read: &mut impl FnMut(&str) -> Result<T, CycleError>,
    paid: &mut impl FnMut(&Reply),
) -> Result<T, CycleError> {
    let payer = Payer::new(wanted.agent, wanted.roots);
    let mut request = Request {
        messages: wanted.messages,
        form: Some(wanted.form),
        temperature: wanted.temperature,
        top_p: wanted.top_p,
        ..Request::default()
    };
    let mut left = wanted.repairs;
    loop {
        let reply = match models.ask(&payer, wanted.model, &request, None).await? {
            Ok(reply) => reply,
            Err(exhausted) => return Err(CycleError::Exhausted(exhausted.to_string())),
        };
        paid(&reply);
        if let Some(why) = &reply.broken_off {
            return Err(broken_off(wanted.agent, why));
        }
        match read(llm::document_in(&reply.text)) {
            Err(error) if left > 0 && is_the_answers_fault(&error) => {
                left -= 1;
                request.messages.extend([reply.message(), Message::refused(&error.to_string())]);
            }
            other => return other,
        }
    }
}

/// A template that cannot be used, by its file.
pub(super) fn bad_template(path: &str, error: llm::PromptError) -> CycleError {
    CycleError::Json(JsonError::at(path, error.line, "", error.message))
}
