//! A chat: a message in, an answer out, and both remembered.
//!
//! ```text
//! message ─▶ durable stimulus ─▶ the chain, or without models an extract ─▶ answer ─▶ stimulus ─▶ agents, until quiet
//! ```
//!
//! [`talk`] drives the [machine](crate::cognition::chain::Machine): it asks models through [`Asks`], runs [tools](super::tools), waits for people to confirm, and says
//! what happens while it happens. It does not know what a provider is. Where no model answers, it composes an extract of
//! memories, which says that it is one.

mod asking;
mod council;
mod talk;

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::Value;

use super::confirm::Confirmations;
use super::conversation::{self, Speaker};
use super::tools::Tools;
use super::{Cycle, CycleError, RunBounds};
pub use crate::cognition::chain::asked::{ChatRequest, Wanted};
use crate::cognition::chain::{Mode, ToolUse, Why};
use crate::cognition::exchange::{Reply, Request, Usage};
use crate::limits;
use crate::model::Origin;
use crate::model::ids::StimulusId;
use crate::model::layout;
use crate::store::Trailer;
use talk::Talk;

/// What can ask models by their names in the settings. **The one place where providers join.**
pub trait Asks {
    /// Asks a model, and lets `hear` know its text as it comes, and now and then nothing while it is silent; it can break off.
    ///
    /// # Errors
    /// It did not answer: it is offline, may not be asked, or nothing but the budget stops it.
    fn ask(
        &mut self,
        model: &str,
        request: &Request,
        hear: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Reply, Unanswered>;

    /// Says which stimuli all further questions descend from, for budgets.
    fn caused_by(&mut self, stimuli: &[StimulusId]) {
        let _ = stimuli;
    }
}

/// A model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// Why.
    pub why: Why,
    /// The same in words, with no key in them.
    pub message: String,
}

impl Unanswered {
    /// A model that gave no answer, or may not be asked.
    pub(super) fn of(error: &CycleError) -> Self {
        let why = if matches!(error, CycleError::Refused { .. }) { Why::Refused } else { Why::Offline };
        Self { why, message: error.to_string() }
    }
}

/// What the brain answers.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ChatAnswer {
    /// The answer.
    pub reply: String,
    /// How many steps answered.
    pub mode: Mode,
    /// Calls of models, all steps together.
    pub turns: u32,
    /// The steps that ran, in order.
    pub chain: Vec<ChainNode>,
    /// The tools that they called.
    pub tools_used: Vec<ToolUse>,
    /// The conversation, to go on with.
    pub conversation: String,
    /// What the answer cites.
    pub citations: Vec<Citation>,
    /// The step that gave the answer.
    #[serde(skip)]
    pub by: String,
    /// What a model said in its own words, before rituals were taken out; empty: no model gave the answer.
    #[serde(skip)]
    pub said: String,
    /// What happened on the way, in sentences.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A step that ran.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ChainNode {
    /// The step's name.
    pub node: String,
    /// The `[models.NAME]` that really answered; `extractive` where no model did.
    pub model: String,
    /// Calls of the model.
    pub turns: u32,
    /// The tools that it called.
    pub tools_used: Vec<ToolUse>,
    /// How long it took, milliseconds; 0 under a fixed clock.
    pub duration_ms: u64,
}

/// A neuron that an answer cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Citation {
    /// Its number in the answer.
    pub n: usize,
    /// The neuron.
    pub id: String,
    /// Its file.
    pub path: String,
    /// The commit in which it was read.
    pub commit: String,
}

/// What happens while an answer is on its way.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ChatEvent {
    /// It begins.
    Begins {
        /// The conversation.
        conversation: String,
        /// How many steps.
        mode: Mode,
        /// Why so many.
        why: String,
    },
    /// A step begins.
    StepBegins {
        /// Its name.
        node: String,
        /// Its model.
        model: String,
    },
    /// A model's text, as it comes; not yet an answer.
    Text {
        /// The step.
        node: String,
        /// The next piece. Empty: the model is silent, and whoever listens may say that it is gone.
        text: String,
    },
    /// A tool is called.
    ToolCalled {
        /// The step.
        node: String,
        /// The tool.
        name: String,
        /// Its arguments.
        args: Value,
    },
    /// A tool gave something, or failed: then it is an object with `error`.
    ToolGave {
        /// The step.
        node: String,
        /// The tool.
        name: String,
        /// What it gave.
        result: Value,
    },
    /// A call waits for a person; see `confirm`.
    NeedsConfirm {
        /// What to confirm.
        id: String,
        /// The step.
        node: String,
        /// The tool.
        name: String,
        /// Its arguments.
        args: Value,
        /// How long it waits.
        seconds: u64,
    },
    /// A call no longer waits: a person answered, or nobody in time.
    Confirmed {
        /// What waited.
        id: String,
        /// Whether the call may be made.
        allowed: bool,
        /// Why not; not there if it may.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A step has ended.
    StepEnds {
        /// Its name.
        node: String,
        /// Its model.
        model: String,
        /// Calls of the model.
        turns: u32,
        /// How long it took.
        duration_ms: u64,
        /// What its exchanges took.
        usage: Usage,
        /// What they cost by the prices of the settings, in millionths of their currency; 0: free, or no price is known.
        cost: u64,
        /// Why it was stopped; null: it was ready.
        stopped: Option<String>,
    },
    /// A step did not run.
    Skipped {
        /// Its name.
        node: String,
        /// Its model.
        model: String,
        /// Why, in a word.
        cause: Why,
        /// Why.
        why: String,
    },
    /// The answer is there. What is left is to remember it.
    Answered {
        /// The answer.
        answer: Box<ChatAnswer>,
        /// The step that gave it.
        by: String,
    },
}

/// What an answer by no model is said to be of.
pub const EXTRACTIVE: &str = "extractive";

/// Is told what happens. [`ControlFlow::Break`]: nobody listens any more; it is told nothing more, and no model is asked any more.
pub type Hear<'a> = &'a mut dyn FnMut(ChatEvent) -> ControlFlow<()>;

/// What an answer needs of the world around it.
pub struct Around<'a> {
    /// Who asks models.
    pub models: &'a mut dyn Asks,
    /// What waits for people.
    pub confirmations: &'a Confirmations,
    /// Who is told what happens.
    pub hear: Hear<'a>,
}

impl Cycle {
    /// Answers a message, and remembers both.
    ///
    /// # Errors
    /// The message is empty or too long; no model answered and nothing comes to mind; nobody listens any more; the brain cannot be
    /// read or written. The message is remembered all the same, unless it is empty or too long.
    pub fn chat(&self, request: &ChatRequest, origin: &Origin, around: Around<'_>) -> Result<ChatAnswer, CycleError> {
        let message = self.message_of(request)?;
        let mut tip = self.store.need_tip(self.store.wake())?;
        // What waits, as after a feed that was cut off, is perceived before it is asked for. What fails there fails again below, and is told.
        if !request.dry_run && self.store.folder(self.store.tree_of(tip)?, layout::QUEUE)?.is_some() {
            drop(self.until_quiet(&RunBounds::default(), &mut |_| ()));
            tip = self.store.need_tip(self.store.wake())?;
        }
        let name = match &request.conversation {
            Some(name) => self.shared.secrets.redact(name).into_owned(),
            None => self.new_conversation(&message, tip),
        };
        conversation::check_name(&name)?;
        let before = self.said_before(tip, &name, limits::CHAT_HISTORY)?;
        let asked = self.turn(Speaker::Person, &name, &message, origin, 0)?;
        if !request.dry_run {
            self.hear(&asked, &[])?;
        }
        let roots: Vec<StimulusId> = asked.iter().map(|stimulus| stimulus.id.clone()).collect();
        around.models.caused_by(&roots);
        let mut tools = Tools::new(self, tip, origin.clone());
        let said: Vec<String> = before.iter().map(|(who, neuron)| worded(*who, &neuron.concept)).collect();
        before.iter().for_each(|(_, neuron)| tools.shown(neuron));
        let mut talk = Talk { cycle: self, tip, name, message, tools, around, notes: Vec::new(), unheard: false };
        let answer = talk.answer(request, said);
        if request.dry_run {
            return answer;
        }
        let mut notes: Vec<String> = self.shared.secrets.notice(request.message.as_bytes()).into_iter().collect();
        if let Ok(answer) = &answer {
            let reply = self.turn(Speaker::Brain, &talk.name, &answer.reply, &talk.tools.origin(), asked.len());
            // Whoever waited for it has the answer, whatever becomes of it here.
            if let Err(error) = reply.and_then(|reply| self.hear(&reply, &answered_by(answer, &talk.message))) {
                notes.push(format!("the answer is not remembered: {error}"));
            }
            talk.say(ChatEvent::Answered { answer: Box::new(answer.clone()), by: answer.by.clone() });
        }
        // The answer stands, and what was said is durable: the next command perceives what this one cannot.
        match self.until_quiet(&RunBounds::default(), &mut |_| ()) {
            Ok(turned) => {
                notes.extend(turned.failures.iter().map(|f| format!("{} failed: {}", f.run.agent(), f.error)));
                notes.extend(turned.notes);
            }
            Err(error) => notes.push(format!("the message waits to be perceived: {error}")),
        }
        answer.map(|mut answer| {
            answer.notes.extend(notes);
            answer
        })
    }

    fn message_of(&self, request: &ChatRequest) -> Result<String, CycleError> {
        let message = self.shared.secrets.redact(request.message.trim()).into_owned();
        if message.is_empty() {
            return Err(CycleError::usage("there is nothing to answer: the message is empty"));
        }
        let most = limits::CHAT_MESSAGE_BYTES;
        if message.len() > most {
            return Err(CycleError::refused(format!("the message has {} bytes, more than {most}", message.len())));
        }
        Ok(message)
    }
}

/// What the commit of an answer says of who gave it: each step that ran with its model and turns, and the models that were called.
fn answered_by(answer: &ChatAnswer, message: &str) -> Vec<Trailer> {
    let step = |node: &ChainNode| ("Chain".to_owned(), format!("{} {} {}", node.node, node.model, node.turns));
    let mut trailers: Vec<Trailer> = answer.chain.iter().map(step).collect();
    let mut models: Vec<&str> = Vec::new();
    for node in answer.chain.iter().filter(|node| node.turns > 0) {
        if !models.contains(&node.model.as_str()) {
            models.push(&node.model);
        }
    }
    if !models.is_empty() {
        trailers.push(("Model".to_owned(), models.join(",")));
        // What was said is measured, and not what was left of it.
        trailers.extend(super::said::measured_about(&answer.said, message));
    }
    trailers
}

fn worded(who: Speaker, text: &str) -> String {
    let who = if who == Speaker::Person { "person" } else { "you" };
    format!("{who}: {text}")
}
