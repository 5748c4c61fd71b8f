//! Asking a model: is it trusted, is there a budget, what does it answer, what did it cost.
//!
//! Whoever asks, for an agent or for a conversation, asks here. The cost is reserved before the call and settled after it; what
//! was refused without being read costs nothing. Secrets leave neither in a request nor come back in a reply.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::sync::{Mutex, OnceCell};

use super::budget::{Exhausted, Payer, Reservation};
use super::{CycleError, Shared};
use crate::cognition::exchange::{Message, Reply, Request, Usage, Voice};
use crate::cognition::guard::{By, Ritual, Stopped, Watch};
use crate::integrity::controller::Feedback;
use crate::llm::{Cassette, Endpoint, LlmError, Piece, Provider, key_in_environment};
use crate::model::ids::AgentName;
use crate::model::models::Model;
use crate::model::secret::Secrets;
use crate::model::spending::Cost;
use crate::store::credential;

/// Hears what a model says, and may end it.
pub type Listener<'l> = &'l mut (dyn FnMut(&str) -> ControlFlow<()> + Send);

/// The models of a brain, as long as one runtime lives: connections are kept between exchanges.
pub struct Models {
    shared: Arc<Shared>,
    cassette: Option<Cassette>,
    providers: Mutex<HashMap<String, Arc<OnceCell<Provider>>>>,
    /// Keys that `git credential` gave.
    lent: Mutex<Vec<Secrets>>,
}

/// A call that is under way. Whoever gives it up in the middle pays what was reserved: nobody says what it cost until then.
struct Open {
    shared: Arc<Shared>,
    reservation: Option<Reservation>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            // What cannot be written stays reserved, and so spent.
            let _ = self.shared.settle(reservation, None);
        }
    }
}

impl Models {
    /// Nothing is reached yet.
    ///
    /// # Errors
    /// The cassette that the environment names cannot be used.
    pub fn new(shared: Arc<Shared>) -> Result<Self, CycleError> {
        let cassette = shared.world.cassette().map(|said| Cassette::open(&said)).transpose()?;
        Ok(Self { shared, cassette, providers: Mutex::default(), lent: Mutex::default() })
    }

    /// What an exchange costs at most: what the request has, and the longest answer.
    fn at_most(model: &Model, request: &Request) -> Cost {
        let most = if request.max_tokens == 0 { model.max_tokens } else { request.max_tokens.min(model.max_tokens) };
        model.cost(request.tokens(), u64::from(most))
    }

    /// Asks a model of the settings, and lets `hear` know its text as it comes. Every piece passes the [guards](Watch) first.
    ///
    /// # Errors
    /// It is not there or not trusted, or gives no answer by its deadline. Nothing but the budget is a value, and so is an answer
    /// that a guard broke off.
    pub async fn ask(
        &self,
        payer: &Payer,
        name: &str,
        request: &Request,
        mut hear: Option<Listener<'_>>,
    ) -> Result<Result<Reply, Exhausted>, CycleError> {
        let shared = &self.shared;
        let model = shared.policy.model(name)?;
        let request = self.clean(request);
        if let Some(reply) = self.cassette.as_ref().map(|cassette| cassette.play(name, &request)).transpose()?.flatten()
        {
            return Ok(Ok(reply));
        }
        // Nobody has to read a document of a form, and none can go on after a word in between.
        let corrects = shared.policy.settings.integrity.feedback && request.form.is_none();
        let mut reply = match self.exchange(payer, (name, model), &request, &mut hear, corrects).await? {
            Ok((first, Some(feedback))) => {
                let went_on = [first.message(), Message::new(Voice::User, format!("{} {GO_ON}", feedback.text()))];
                let messages = request.messages.iter().cloned().chain(went_on).collect();
                let onward = Request { messages, ..request.clone() };
                match self.exchange(payer, (name, model), &onward, &mut hear, false).await? {
                    Ok((rest, _)) => joined(first, rest),
                    // What was said is whole up to there.
                    Err(_) => first,
                }
            }
            Ok((reply, None)) => reply,
            Err(exhausted) => return Ok(Err(exhausted)),
        };
        reply = Self::cleaned(reply, &shared.secrets);
        for lent in self.lent.lock().await.iter() {
            reply = Self::cleaned(reply, lent);
        }
        if let Some(cassette) = &self.cassette {
            cassette.keep(name, &request, &reply)?;
        }
        Ok(Ok(reply))
    }

    /// One exchange, paid. The second value: the model is to go on with this in mind.
    async fn exchange(
        &self,
        payer: &Payer,
        (name, model): (&str, &Model),
        request: &Request,
        hear: &mut Option<Listener<'_>>,
        corrects: bool,
    ) -> Result<Result<(Reply, Option<Feedback>), Exhausted>, CycleError> {
        let shared = &self.shared;
        let mut open = match shared.reserve(payer, Self::at_most(model, request))? {
            Ok(reservation) => Open { shared: Arc::clone(shared), reservation: Some(reservation) },
            Err(exhausted) => return Ok(Err(exhausted)),
        };
        // Guards alone do not mind to hear the beginning of an answer again.
        let may_repeat = hear.is_none();
        let mut watch = Watch::usual();
        if corrects {
            watch = watch.and(Ritual::default());
        }
        let mut heard = |piece: Piece<'_>| {
            let (text, said) = match piece {
                Piece::Text(text) => (text, true),
                Piece::Thought(text) => (text, false),
            };
            match hear.as_mut().filter(|_| said) {
                _ if !watch.lets_pass(By { agent: payer.agent.as_str(), model: name, thinks: !said }, text) => {
                    ControlFlow::Break(())
                }
                Some(hear) => hear(text),
                None => ControlFlow::Continue(()),
            }
        };
        let answered = match self.provider(name, model).await {
            Ok(provider) => {
                let provider = provider.get().expect("invariant: set by now");
                provider.ask(request, Some(&mut heard), may_repeat).await
            }
            Err(error) => Err(error),
        };
        let (broken_off, feedback) = match watch.stopped() {
            Some(Stopped::Off(why)) => (Some(why), None),
            Some(Stopped::ToCorrect(feedback)) => (None, Some(feedback)),
            None => (None, None),
        };
        let answered = answered.map(|reply| Reply { broken_off, ..reply });
        let reservation = open.reservation.take().expect("invariant: taken here alone");
        match &answered {
            Ok(reply) => shared.settle(reservation, Some(model.cost(reply.usage.input, reply.usage.output)))?,
            // Nothing was read, so nothing is paid.
            Err(LlmError::Settings { .. } | LlmError::Unreachable { .. } | LlmError::Status { .. }) => {
                shared.release(reservation)?;
            }
            // Nobody says what an answer cost that did not come.
            Err(_) => shared.settle(reservation, None)?,
        }
        // A call that it made already is an answer.
        answered
            .map(|reply| {
                let feedback = feedback.filter(|_| reply.calls.is_empty());
                Ok((reply, feedback))
            })
            .map_err(CycleError::from)
    }

    async fn provider(&self, name: &str, model: &Model) -> Result<Arc<OnceCell<Provider>>, LlmError> {
        let cell = Arc::clone(self.providers.lock().await.entry(name.to_owned()).or_default());
        cell.get_or_try_init(|| async {
            let key = self.key(name, model).await?;
            Provider::new(Endpoint::chat(name, model, key)?, model.clone()).await
        })
        .await?;
        Ok(cell)
    }

    /// The key: of the environment, or what `git credential` has for the address.
    async fn key(&self, name: &str, model: &Model) -> Result<Option<String>, LlmError> {
        if !model.key_from_git {
            return key_in_environment(name, model, &self.shared.world);
        }
        let fail = |message: String| LlmError::Settings { name: name.to_owned(), message };
        let address = Endpoint::chat(name, model, None)?.address();
        let asked = tokio::task::spawn_blocking(move || credential(&address)).await;
        let key = asked.map_err(|e| fail(e.to_string()))?.map_err(|e| fail(e.to_string()))?;
        let key = key.ok_or_else(|| fail("git credential has no key for its address".to_owned()))?;
        // It stands in no variable, so that nobody has known it for a secret before.
        self.lent.lock().await.push(Secrets::new(&[], std::slice::from_ref(&key)).map_err(|e| fail(e.to_string()))?);
        Ok(Some(key))
    }

    /// The request without secrets.
    fn clean(&self, request: &Request) -> Request {
        let mut request = request.clone();
        for message in &mut request.messages {
            message.text = self.shared.secrets.redact(&message.text).into_owned();
        }
        request
    }

    /// The reply without secrets: a model may say again what it once read, and an endpoint what it was sent.
    fn cleaned(mut reply: Reply, secrets: &Secrets) -> Reply {
        reply.text = secrets.redact(&reply.text).into_owned();
        for call in &mut reply.calls {
            let text = call.arguments.to_string();
            let clean = secrets.redact_json(text.as_bytes());
            if let Some(arguments) = clean.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
                call.arguments = arguments;
            }
        }
        reply
    }
}

/// What a model is told behind a word on how to go on.
const GO_ON: &str = "Go on from where you stopped. Do not repeat what you said.";

/// An answer that was broken off once, with what the model went on with.
fn joined(first: Reply, rest: Reply) -> Reply {
    let gap =
        if first.text.ends_with(char::is_whitespace) || rest.text.starts_with(char::is_whitespace) { "" } else { " " };
    let usage = Usage {
        input: first.usage.input.saturating_add(rest.usage.input),
        output: first.usage.output.saturating_add(rest.usage.output),
    };
    Reply { text: format!("{}{gap}{}", first.text, rest.text), usage, ..rest }
}

/// Tokens that a prompt has beside the network: the form of the answer, and what the protocol adds.
const OVERHEAD_TOKENS: u32 = 512;

/// Tokens of a prompt that a model can read and still answer.
pub(super) fn room_of(model: &Model) -> u32 {
    model.context.saturating_sub(model.max_tokens).saturating_sub(OVERHEAD_TOKENS)
}

/// A guard broke an answer off: no part of it is used, and it is not asked for again.
pub(super) fn broken_off(agent: &AgentName, why: &str) -> CycleError {
    CycleError::refused(format!("the answer of {agent} was broken off: {why}"))
}

/// Whether another answer may be a better one.
pub(super) fn is_the_answers_fault(error: &CycleError) -> bool {
    matches!(error, CycleError::Json(_) | CycleError::Document(_) | CycleError::Refused { .. })
}
