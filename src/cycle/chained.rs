//! Thinking with the chain: a run's prompt goes through the steps of `[[chain.step]]`, and the last one writes the delta document.
//!
//! The same [machine](crate::cognition::chain::Machine) as in a chat, with the same budgets and the same end of loops. Its tools read
//! the network and nothing else, because nobody is there to confirm anything; a run that judges others has none, because it is not to see
//! who they are. What a tool has shown counts for the origin of the run, and its ids may be used in the document.
//!
//! Runs on a thread that may block, one for each run.

use std::sync::Arc;

use super::budget::{Exhausted, Payer};
use super::chat::Unanswered;
use super::models::Models;
use super::models::{broken_off, is_the_answers_fault, room_of};
use super::spawn::{Spawn, Thought, blocking};
use super::thinking::Question;
use super::tools::Tools;
use super::{Cycle, CycleError};
use crate::cognition::chain::{Machine, Mode, Plan, Step, Stop, Task, Told, Want, Why, Writing};
use crate::cognition::exchange::{Form, Request};
use crate::limits;
use crate::model::Origin;

/// Parts of what a model can read: the prompt has one, what steps said and tools gave another, an exchange of calls the third.
const PARTS: u32 = 3;

/// One run on its way through the chain.
struct Chained<'s> {
    spawn: &'s Spawn,
    question: Question,
    steps: Vec<Step>,
    tools: Tools<'s>,
    models: Arc<Models>,
    payer: Payer,
    /// The models that answered, in the order in which they first did.
    answered: Vec<String>,
    /// What came of the document, once there is one.
    done: Option<Result<Thought, CycleError>>,
    held: Option<Exhausted>,
}

impl Spawn {
    /// Thinks with the models of the chain.
    pub(super) async fn with_chain(self: Arc<Self>, repairs: u32) -> Result<Thought, CycleError> {
        let models =
            Arc::clone(self.cycle.models.as_ref().expect("invariant: made where an agent thinks with a model"));
        blocking(move || {
            let cycle = self.cycle.whole()?;
            Chained::new(&self, &cycle, models)?.think(repairs)
        })
        .await
    }
}

impl<'s> Chained<'s> {
    fn new(spawn: &'s Spawn, cycle: &'s Cycle, models: Arc<Models>) -> Result<Self, CycleError> {
        let settings = &cycle.shared.policy.settings.chain;
        let steps: Vec<Step> = settings.step.iter().map(Step::from).collect();
        if steps.is_empty() {
            return Err(CycleError::Refused {
                message: format!("{} thinks with the chain, and there is no [[chain.step]]", spawn.job.agent),
                hint: Some("name the steps in brain.toml; docs/chat.md says how".to_owned()),
            });
        }
        // A step whose model may not be asked is skipped like one that is offline; where none may, nothing is put together.
        let policy = &cycle.shared.policy;
        let usable = |step: &&Step| policy.model(&step.model).is_ok();
        let names: Vec<&str> = steps.iter().filter(usable).map(|step| step.model.as_str()).collect();
        if names.is_empty() {
            policy.model(&steps[0].model)?;
        }
        Ok(Self {
            question: spawn.question(&names, PARTS)?,
            spawn,
            steps,
            tools: Tools::of_the_network(cycle, spawn.tip, Origin::local()),
            models,
            payer: Payer::new(&spawn.job.agent, &spawn.job.roots),
            answered: Vec::new(),
            done: None,
            held: None,
        })
    }

    fn think(mut self, repairs: u32) -> Result<Thought, CycleError> {
        let mut machine = Machine::new(self.plan(repairs)?);
        loop {
            let told = match machine.want().clone() {
                Want::Done => break,
                Want::Ask { step, request } => self.ask(step, request)?,
                Want::Call { call, .. } => match self.tools.run(&call) {
                    Ok(value) => Told::Gave(value),
                    Err(why) => Told::Failed(why),
                },
                Want::Confirm { .. } => Told::Denied("there is no terminal to confirm it on".to_owned()),
                Want::Check { text, .. } => self.check(&text)?,
            };
            machine.take(told);
        }
        if let Some(done) = self.done {
            return done;
        }
        let outcome = machine.outcome();
        let guarded = outcome.finished.iter().rev().find_map(|step| match &step.stopped {
            Some(Stop::Guarded(why)) => Some(why),
            _ => None,
        });
        let reasons: Vec<&str> = outcome.skipped.iter().map(|skipped| skipped.message.as_str()).collect();
        let only_budget = outcome.skipped.iter().all(|skipped| skipped.why == Why::Busy);
        match (self.held, guarded) {
            (Some(exhausted), _) if only_budget => Ok(Thought::Held(exhausted)),
            (_, Some(why)) => Err(broken_off(&self.spawn.job.agent, why)),
            _ => Err(CycleError::Unanswered(format!("no model wrote the document ({})", reasons.join("; ")))),
        }
    }

    fn plan(&self, repairs: u32) -> Result<Plan, CycleError> {
        let policy = &self.spawn.cycle.shared.policy;
        let mut room = limits::CHAIN_DATA_BYTES;
        for step in &self.steps {
            // Four bytes are taken for a token, as everywhere.
            let tokens = policy.model(&step.model).map_or(u32::MAX, room_of) / PARTS;
            room = room.min(tokens as usize * 4);
        }
        let [instructions, data] = &self.question.messages[..] else {
            return Err(CycleError::refused("a prompt has instructions and data"));
        };
        let form = self.form()?;
        let (instructions, data) = (instructions.text.clone(), data.text.clone());
        Ok(Plan {
            task: Task::Write(Writing { instructions, data, form, repairs }),
            mode: Mode::Reflexive,
            turns: policy.settings.chain.turns,
            steps: self.steps.clone(),
            tools: if self.question.veil.is_some() { Vec::new() } else { self.tools.offers() },
            background: Vec::new(),
            // The agent's instructions have it.
            steering: String::new(),
            room,
        })
    }

    /// The form of the document: the agent may speak of what its prompt shows, and of what its tools have shown.
    fn form(&self) -> Result<Form, CycleError> {
        let mut snapshot = self.question.snapshot.clone();
        for id in self.tools.numbered() {
            if snapshot.neurons.iter().all(|neuron| neuron.id != *id) {
                snapshot.neurons.extend(self.tools.look_up(id)?);
            }
        }
        self.spawn.form(&snapshot)
    }

    fn ask(&mut self, step: usize, mut request: Request) -> Result<Told, CycleError> {
        let model = self.steps[step].model.clone();
        if request.form.is_some() {
            request.form = Some(self.form()?);
        }
        let asked = self.models.ask(&self.payer, &model, &request, None);
        Ok(match tokio::runtime::Handle::current().block_on(asked) {
            Ok(Ok(reply)) => {
                if !self.answered.contains(&model) {
                    self.answered.push(model);
                }
                Told::Reply(reply)
            }
            Ok(Err(exhausted)) => {
                let message = exhausted.to_string();
                self.held = Some(exhausted);
                Told::Unanswered(Why::Busy, message)
            }
            Err(error) => {
                let Unanswered { why, message } = Unanswered::of(&error);
                Told::Unanswered(why, message)
            }
        })
    }

    /// Does what the document says, if it can be done. The run comes from where all that was shown comes from.
    fn check(&mut self, text: &str) -> Result<Told, CycleError> {
        let seen = self.question.seen.and(&self.tools.origin());
        let cognition = Some(format!("chain:{}", self.answered.join(",")));
        match self.spawn.answered(text, self.question.veil.as_ref(), seen, cognition) {
            Ok(thought) => {
                self.done = Some(Ok(thought));
                Ok(Told::Holds)
            }
            Err(error) if is_the_answers_fault(&error) => {
                let why = error.to_string();
                self.done = Some(Err(error));
                Ok(Told::Refused(why))
            }
            Err(error) => Err(error),
        }
    }
}
