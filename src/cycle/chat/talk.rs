//! One message on its way to an answer: what the chain wants is done, or without models an extract is made.

use std::ops::ControlFlow;

use serde_json::Value;

use super::{Around, ChainNode, ChatAnswer, ChatEvent, ChatRequest, Citation, EXTRACTIVE, Unanswered, Wanted};
use crate::cognition::chain::classify::classify_complexity;
use crate::cognition::chain::extract::{self, Evidence, Quote};
use crate::cognition::chain::{Datum, Machine, Mode, Offer, Outcome, Plan, Step, Stop, Task, Told, ToolUse, Want, Why};
use crate::cognition::exchange::{Request, ToolCall, Usage};
use crate::cognition::guard::Voiced;
use crate::cycle::models::room_of;
use crate::cycle::steering::{self, lang_of};
use crate::cycle::tools::Tools;
use crate::cycle::{Cycle, CycleError};
use crate::integrity::inject::{Injection, inject};
use crate::integrity::veto;
use crate::limits;
use crate::model::{layout, plural};
use crate::store::CommitId;
use crate::text::tokens;

/// One message on its way to an answer.
pub(super) struct Talk<'c, 'a> {
    pub cycle: &'c Cycle,
    pub tip: CommitId,
    /// The conversation.
    pub name: String,
    pub message: String,
    pub tools: Tools<'c>,
    pub around: Around<'a>,
    pub notes: Vec<String>,
    /// True once nobody listens any more.
    pub unheard: bool,
}

impl Talk<'_, '_> {
    /// The answer, with what was said in the conversation before.
    pub fn answer(&mut self, request: &ChatRequest, said: Vec<String>) -> Result<ChatAnswer, CycleError> {
        if request.mode == Wanted::Council {
            return self.council_answer(request.dry_run);
        }
        let settings = &self.cycle.shared.policy.settings.chain;
        let needs = classify_complexity(&self.message, request.category.as_deref(), settings);
        let (mode, why) = match request.mode {
            Wanted::Auto | Wanted::Council => (needs.mode, needs.why),
            Wanted::Simple => (Mode::Simple, "it was asked for".to_owned()),
            Wanted::Reflexive => (Mode::Reflexive, "it was asked for".to_owned()),
        };
        self.say(ChatEvent::Begins { conversation: self.name.clone(), mode, why });
        let mut chain = Vec::new();
        let mut outcome = None;
        if !settings.step.is_empty() {
            let plan = self.plan(mode, said)?;
            let (nodes, came) = self.drive(plan)?;
            (chain, outcome) = (nodes, Some(came));
        }
        let turns = outcome.as_ref().map_or(0, |outcome| outcome.turns);
        let mut said = String::new();
        let (reply, by) = match outcome.as_ref().and_then(|outcome| outcome.reply.clone()) {
            Some((text, step)) => {
                let answered = settings.step[step].name.clone();
                if mode == Mode::Simple {
                    chain.retain(|node| node.node == answered);
                }
                said.clone_from(&text);
                (self.filtered(text), answered)
            }
            None => {
                let (nodes, reply) = self.extract(mode, outcome.as_ref(), !request.dry_run)?;
                if mode == Mode::Simple {
                    chain.clear();
                }
                chain.extend(nodes);
                (reply, chain.last().map(|node| node.node.clone()).unwrap_or_default())
            }
        };
        let reply = self.cycle.shared.secrets.redact(&reply).into_owned();
        Ok(ChatAnswer {
            citations: self.citations(&reply),
            reply,
            mode,
            turns,
            tools_used: chain.iter().flat_map(|node| node.tools_used.iter().cloned()).collect(),
            chain,
            conversation: self.name.clone(),
            by,
            said,
            notes: std::mem::take(&mut self.notes),
        })
    }

    /// What a model said as a person reads it: without rituals, by the settings.
    fn filtered(&mut self, said: String) -> String {
        let settings = &self.cycle.shared.policy.settings.integrity;
        let lang = lang_of(&self.message);
        let mut text = said;
        if settings.filter {
            let filtered = veto::apply(&text, lang);
            self.notes.extend(filtered.applied.iter().map(|veto| veto.told().to_owned()));
            if filtered.empty_refusal {
                self.notes.push("the answer refuses and offers no other way".to_owned());
            }
            // An answer that is nothing but ritual is better than none.
            if !filtered.text.trim().is_empty() {
                text = filtered.text;
            }
        }
        let injected = inject(&text, lang, Injection { enabled: settings.inject });
        if injected.changed > 0 {
            self.notes.push(format!(
                "{} said plainly",
                plural(injected.changed, "hedged sentence is", "hedged sentences are")
            ));
        }
        injected.text
    }

    /// Tells what happens, as long as somebody listens.
    pub fn say(&mut self, event: ChatEvent) {
        if !self.unheard {
            self.unheard = (self.around.hear)(event).is_break();
        }
    }

    /// # Errors
    /// Nobody listens any more.
    fn still_heard(&self) -> Result<(), CycleError> {
        if self.unheard { Err(CycleError::Unheard) } else { Ok(()) }
    }

    /// What an exchange costs by the price of its model, in millionths.
    fn cost(&self, model: &str, usage: Usage) -> u64 {
        let models = &self.cycle.shared.policy.settings.models;
        models.get(model).map_or(0, |model| model.cost(usage.input, usage.output).micros)
    }

    /// What the chain starts from: the steps of the settings, the best memories, and the conversation so far.
    fn plan(&mut self, mode: Mode, said: Vec<String>) -> Result<Plan, CycleError> {
        let settings = &self.cycle.shared.policy.settings.chain;
        let mut background = Vec::new();
        let memories = self.tools.evidence(&self.message)?;
        if !memories.is_empty() {
            let lines: Vec<String> = memories.iter().map(|m| format!("[{}] {}", m.n, m.text)).collect();
            background.push(Datum { label: "memories of the brain".to_owned(), text: lines.join("\n") });
        }
        if !said.is_empty() {
            background.push(Datum { label: "the conversation so far".to_owned(), text: said.join("\n") });
        }
        let tools = self.tools.offers();
        let steering = steering::addition(&self.cycle.store, &self.cycle.shared, self.tip, None, &self.message)?;
        if let Err(why) = self.cycle.shared.policy.core_module() {
            self.notes.push(why);
        }
        Ok(Plan {
            task: Task::Answer(self.message.clone()),
            mode,
            turns: settings.turns,
            steps: settings.step.iter().map(Step::from).collect(),
            room: self.room(&tools, &steering),
            tools,
            background,
            steering,
        })
    }

    /// Bytes of data that the smallest of the models can read beside the message and the tools, which are told twice: one half for what a
    /// step begins with, the other for what its calls give. Four bytes are taken for a token.
    fn room(&self, tools: &[Offer], steering: &str) -> usize {
        let policy = &self.cycle.shared.policy;
        let models = policy.settings.chain.step.iter().filter_map(|step| policy.model(&step.model).ok());
        let Some(room) = models.map(room_of).min() else { return limits::CHAIN_DATA_BYTES };
        let told = |offer: &Offer| tokens(&offer.tool.description) + tokens(&offer.tool.parameters.to_string());
        let taken = tokens(&self.message) + tokens(steering) + 2 * tools.iter().map(told).sum::<usize>();
        ((room as usize).saturating_sub(taken) / 2 * 4).min(limits::CHAIN_DATA_BYTES)
    }

    /// Does what the chain wants until it wants nothing more.
    fn drive(&mut self, plan: Plan) -> Result<(Vec<ChainNode>, Outcome), CycleError> {
        let steps = plan.steps.clone();
        let mut machine = Machine::new(plan);
        let mut nodes: Vec<ChainNode> = Vec::new();
        let (mut skipped, mut begun, mut started, mut cost, mut allowed) = (0, None, 0, 0, false);
        loop {
            while let Some(done) = machine.finished().get(nodes.len()) {
                let step = &steps[done.step];
                let node = ChainNode {
                    node: step.name.clone(),
                    model: step.model.clone(),
                    turns: done.turns,
                    tools_used: done.tools_used.clone(),
                    duration_ms: self.since(started),
                };
                self.ended(&node, done.usage, cost, done.stopped.as_ref());
                if done.said.is_none() && !matches!(done.stopped, Some(Stop::Guarded(_))) {
                    self.notes.push(format!("{} answered with nothing", node.node));
                }
                nodes.push(node);
            }
            while let Some(gone) = machine.skipped().get(skipped) {
                skipped += 1;
                let (node, model) = (steps[gone.step].name.clone(), steps[gone.step].model.clone());
                self.notes.push(format!("{node} did not answer: {}", gone.message));
                self.say(ChatEvent::Skipped { node, model, cause: gone.why, why: gone.message.clone() });
            }
            // What a person has allowed is done, also where whoever asked has gone meanwhile.
            if !allowed {
                self.still_heard()?;
            }
            let told = match machine.want().clone() {
                Want::Done => return Ok((nodes, machine.outcome())),
                Want::Ask { step: at, request } => {
                    let step = &steps[at];
                    if begun != Some(at) {
                        (begun, started, cost) = (Some(at), self.cycle.shared.world.now_ms(), 0);
                        self.say(ChatEvent::StepBegins { node: step.name.clone(), model: step.model.clone() });
                    }
                    self.still_heard()?;
                    let told = self.ask(step, &request);
                    if let Told::Reply(reply) = &told {
                        cost = self.cost(&step.model, reply.usage).saturating_add(cost);
                    }
                    told
                }
                // No document is wanted of a chat.
                Want::Check { .. } => Told::Refused("nothing is to be written".to_owned()),
                Want::Confirm { step, call } => self.confirm(&steps[step].name, &call),
                Want::Call { step, call } => match self.call(&steps[step].name, &call, allowed) {
                    Ok(value) => Told::Gave(value),
                    Err(why) => Told::Failed(why),
                },
            };
            allowed = matches!(told, Told::Confirmed);
            machine.take(told);
        }
    }

    fn since(&self, started_ms: i64) -> u64 {
        u64::try_from(self.cycle.shared.world.now_ms().saturating_sub(started_ms)).unwrap_or(0)
    }

    fn ended(&mut self, node: &ChainNode, usage: Usage, cost: u64, stopped: Option<&Stop>) {
        let stopped = stopped.map(ToString::to_string);
        if let Some(why) = &stopped {
            self.notes.push(format!("{} was stopped: {why}", node.node));
        }
        let (name, model, turns) = (node.node.clone(), node.model.clone(), node.turns);
        self.say(ChatEvent::StepEnds { node: name, model, turns, duration_ms: node.duration_ms, usage, cost, stopped });
    }

    fn ask(&mut self, step: &Step, request: &Request) -> Told {
        let filter = self.cycle.shared.policy.settings.integrity.filter;
        let mut voice = filter.then(|| Voiced::new(lang_of(&self.message)));
        let Around { models, hear, .. } = &mut self.around;
        let unheard = &mut self.unheard;
        let mut pass_on = |text: String| {
            if !*unheard {
                *unheard = hear(ChatEvent::Text { node: step.name.clone(), text }).is_break();
            }
            if *unheard { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut has_begun = false;
        let asked = models.ask(&step.model, request, &mut |piece: &str| {
            // The answer is read without the white space before it.
            let text = if has_begun { piece } else { piece.trim_start() };
            has_begun |= !text.is_empty();
            let heard = voice.as_mut().map_or_else(|| text.to_owned(), |voice| voice.pass(text));
            // A sentence that is held back is no silence.
            if heard.is_empty() && !piece.is_empty() {
                return ControlFlow::Continue(());
            }
            pass_on(heard)
        });
        // The last sentence is held back until it is known to be whole.
        let rest = voice.map(Voiced::end).unwrap_or_default();
        if !rest.is_empty() {
            let _ = pass_on(rest);
        }
        match asked {
            Ok(reply) => Told::Reply(reply),
            Err(Unanswered { why, message }) => {
                Told::Unanswered(why, self.cycle.shared.secrets.redact(&message).into_owned())
            }
        }
    }

    /// Asks a person whether a call may be made, if it could be carried out at all.
    fn confirm(&mut self, node: &str, call: &ToolCall) -> Told {
        if let Err(why) = self.tools.check(call) {
            return Told::Failed(why);
        }
        let arguments = call.arguments.to_string();
        let bits = self.cycle.shared.world.id_bits(&[b"confirm", call.id.as_bytes(), arguments.as_bytes()]);
        let id = format!("{:012x}", bits >> 16);
        let seconds = self.around.confirmations.seconds();
        self.around.confirmations.expect(&id, node, &call.name, &call.arguments);
        self.say(ChatEvent::NeedsConfirm {
            id: id.clone(),
            node: node.to_owned(),
            name: call.name.clone(),
            args: call.arguments.clone(),
            seconds,
        });
        if self.unheard {
            self.around.confirmations.forget(&id);
            return Told::Denied("the client disconnected".to_owned());
        }
        let why = match self.around.confirmations.wait(&id) {
            Some(true) => None,
            Some(false) => Some("the person does not allow it".to_owned()),
            None => Some(format!("it was not confirmed within {}", plural(seconds as usize, "second", "seconds"))),
        };
        self.say(ChatEvent::Confirmed { id, allowed: why.is_none(), why: why.clone() });
        why.map_or(Told::Confirmed, Told::Denied)
    }

    /// Calls a tool. Where nobody listens any more it is not called, unless a person has allowed this very call.
    fn call(&mut self, node: &str, call: &ToolCall, allowed: bool) -> Result<Value, String> {
        let (name, args) = (call.name.clone(), call.arguments.clone());
        self.say(ChatEvent::ToolCalled { node: node.to_owned(), name: name.clone(), args });
        if self.unheard && !allowed {
            return Err("the client disconnected".to_owned());
        }
        let given = self.tools.run(call);
        let result = given.clone().unwrap_or_else(|why| serde_json::json!({ "error": why }));
        self.say(ChatEvent::ToolGave { node: node.to_owned(), name, result });
        given
    }

    /// An answer without a model: recall, compose, check every citation.
    fn extract(
        &mut self,
        mode: Mode,
        outcome: Option<&Outcome>,
        remembers: bool,
    ) -> Result<(Vec<ChainNode>, String), CycleError> {
        self.still_heard()?;
        let mut nodes = Vec::new();
        let started = self.begins("recall");
        let query = call("recall", serde_json::json!({ "query": self.message }));
        let recalled = self.use_tool("recall", &query);
        let (evidence, turns) = evidence(&recalled.result);
        nodes.push(self.extracted("recall", vec![recalled], started));

        let started = self.begins("compose");
        // A word that cannot be looked up says as much as any other.
        let weight = |key: &str| self.tools.rarity(key).unwrap_or(1.0);
        let quotes = extract::compose(&self.message, &evidence, &weight);
        let turns = extract::turns(&self.message, &turns);
        nodes.push(self.extracted("compose", Vec::new(), started));

        let started = self.begins("check");
        let (mut held, mut read): (Vec<Quote>, Vec<ToolUse>) = (Vec::new(), Vec::new());
        for quote in quotes {
            let Some(id) = self.tools.cited(quote.n).cloned() else { continue };
            let look = call("read_neuron", serde_json::json!({ "id": id }));
            let used = self.use_tool("check", &look);
            let stands = used.result["concept"].as_str().is_some_and(|text| extract::holds(&quote.sentence, text));
            read.push(used);
            match stands {
                true => held.push(quote),
                false => self.notes.push(format!("[{}] does not say what it was cited for, and is left out", quote.n)),
            }
        }
        nodes.push(self.extracted("check", read, started));
        if let (true, Some(outcome)) = (held.is_empty() && turns.is_empty(), outcome) {
            return Err(silent(outcome));
        }
        if mode == Mode::Simple {
            let tools_used = nodes.iter().flat_map(|node| node.tools_used.iter().cloned()).collect();
            let duration_ms = nodes.iter().map(|node| node.duration_ms).sum();
            nodes.truncate(1);
            nodes
                .iter_mut()
                .for_each(|node| (node.tools_used, node.duration_ms) = (Vec::clone(&tools_used), duration_ms));
        }
        Ok((nodes, extract::worded(&self.message, &held, &turns, remembers)))
    }

    fn begins(&mut self, node: &str) -> i64 {
        self.say(ChatEvent::StepBegins { node: node.to_owned(), model: EXTRACTIVE.to_owned() });
        self.cycle.shared.world.now_ms()
    }

    fn use_tool(&mut self, node: &str, call: &ToolCall) -> ToolUse {
        let result = self.call(node, call, false).unwrap_or_else(|why| serde_json::json!({ "error": why }));
        ToolUse { name: call.name.clone(), args: call.arguments.clone(), result }
    }

    fn extracted(&mut self, name: &str, tools_used: Vec<ToolUse>, started_ms: i64) -> ChainNode {
        let duration_ms = self.since(started_ms);
        let node = ChainNode { node: name.to_owned(), model: EXTRACTIVE.to_owned(), turns: 0, tools_used, duration_ms };
        self.ended(&node, Usage::default(), 0, None);
        node
    }

    /// What the answer cites that was shown; numbers that stand for nothing are noted.
    fn citations(&mut self, reply: &str) -> Vec<Citation> {
        let mut citations = Vec::new();
        for n in extract::cited(reply) {
            match self.tools.cited(n) {
                Some(id) => citations.push(Citation {
                    n,
                    id: id.to_string(),
                    path: layout::neuron(id),
                    commit: self.tip.to_string(),
                }),
                None => self.notes.push(format!("the answer cites [{n}], and nothing was shown under that number")),
            }
        }
        citations
    }
}

/// What of the memories that a tool gave is evidence, and what turns of conversations.
fn evidence(given: &Value) -> (Vec<Evidence>, Vec<Evidence>) {
    let memories = given["memories"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (quotable, turns): (Vec<&Value>, Vec<&Value>) =
        memories.iter().partition(|memory| memory["no_evidence"].is_null());
    let of = |memory: &Value| {
        Some(Evidence {
            n: usize::try_from(memory["n"].as_u64()?).ok()?,
            text: memory["text"].as_str()?.to_owned(),
            source: memory["source"].as_str().map(str::to_owned),
            at: memory["at"].as_str().and_then(|at| at.parse().ok()),
            origin: memory["origin"].as_str().filter(|origin| *origin != "local").map(str::to_owned),
        })
    };
    (quotable.into_iter().filter_map(of).collect(), turns.into_iter().filter_map(of).collect())
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: name.to_owned(), name: name.to_owned(), arguments }
}

/// Models were asked, none said anything, and memory has nothing either.
fn silent(outcome: &Outcome) -> CycleError {
    let reasons: Vec<&str> = outcome.skipped.iter().map(|skipped| skipped.message.as_str()).collect();
    let said = match (outcome.finished.is_empty(), reasons.is_empty()) {
        (true, _) => format!("no model answered ({})", reasons.join("; ")),
        (false, true) => "the models answered with nothing".to_owned(),
        (false, false) => format!("the models answered with nothing, or not at all ({})", reasons.join("; ")),
    };
    let message = format!("{said}, and nothing comes to mind");
    let only_budget = outcome.finished.is_empty() && outcome.skipped.iter().all(|skipped| skipped.why == Why::Busy);
    if only_budget { CycleError::Exhausted(message) } else { CycleError::Unanswered(message) }
}
