//! The chain as a state machine. It says what it [wants](Machine::want) next and is [told](Machine::take) what came of it; it
//! calls nobody itself.
//!
//! **It ends, whatever it is told.** A step has a budget of turns, all steps together have one, and one turn is always kept for the
//! last step. The last turn of a step is asked without tools, so that a step that was stopped still says what it has. A step
//! is stopped by a call that it has made before (however it is written), by failures in a row, and by a guard that broke off what
//! it said, of which nothing is kept then. A call that changed
//! something makes it legal to look again.
//!
//! What a step said, and all that its tools gave, goes to the next step as data. The answer is what the last step said that
//! said anything: no text of ours ever stands in for one.
//!
//! Where a [document](Task::Write) is wanted, the last step writes it, without tools and in the form that was asked for; where that one
//! is not there, the last that was. What is refused may be written once more, within the same turns.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::{Datum, Mode, Offer, Plan, Step, Task, ToolUse, prompt, repeat, spoken};
use crate::cognition::exchange::{Message, Reply, Request, ToolCall, Usage, Voice};
use crate::limits;

/// What the chain wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Ask the model of a step.
    Ask {
        /// The step, counted from 0.
        step: usize,
        /// What to ask.
        request: Request,
    },
    /// Ask a person whether this call may be made; it changes something.
    Confirm {
        /// The step.
        step: usize,
        /// The call.
        call: ToolCall,
    },
    /// Run this tool.
    Call {
        /// The step.
        step: usize,
        /// The call.
        call: ToolCall,
    },
    /// Say whether this document can be used.
    Check {
        /// The step that wrote it.
        step: usize,
        /// What it wrote.
        text: String,
    },
    /// Nothing: see [`Machine::outcome`].
    Done,
}

/// What came of what the chain wanted.
#[derive(Clone, Debug)]
pub enum Told {
    /// The model answered.
    Reply(Reply),
    /// It did not.
    Unanswered(Why, String),
    /// The tool gave this.
    Gave(Value),
    /// The tool failed, or may not be called so: why, in a sentence for the model.
    Failed(String),
    /// The person allows the call.
    Confirmed,
    /// The person does not, or nobody answered in time: why.
    Denied(String),
    /// The document can be used.
    Holds,
    /// It cannot: why, in a sentence for the model.
    Refused(String),
}

/// Why a model did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// It cannot be reached, or failed.
    Offline,
    /// It may not be asked: not there, not trusted.
    Refused,
    /// Nothing but the budget stops it.
    Busy,
    /// The turns of the chain were used up before it.
    Turns,
}

/// Why a step was stopped before it said that it was ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It made a call a second time: of this tool.
    Repeated(String),
    /// So many calls in a row failed.
    Failures(u32),
    /// The document that it wrote cannot be used: why.
    Refused(String),
    /// A guard broke its answer off: why.
    Guarded(String),
    /// Its model went away, or its budget did.
    Unanswered(Why, String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Repeated(tool) => write!(f, "it called {tool} again with the same arguments"),
            Self::Failures(count) => write!(f, "{count} calls in a row failed"),
            Self::Refused(why) => write!(f, "what it wrote was refused: {why}"),
            Self::Guarded(why) => write!(f, "its answer was broken off: {why}"),
            Self::Unanswered(_, why) => f.write_str(why),
        }
    }
}

/// A step that ran: its model answered at least once.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Which step.
    pub step: usize,
    /// How often its model answered.
    pub turns: u32,
    /// What it said in the end; `None`: nothing.
    pub said: Option<String>,
    /// Why it was stopped; `None`: it was ready.
    pub stopped: Option<Stop>,
    /// The tools that it called.
    pub tools_used: Vec<ToolUse>,
    /// What its exchanges took.
    pub usage: Usage,
    /// What its tools gave, for the steps after it.
    data: Vec<Datum>,
}

/// A step whose model never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Which step.
    pub step: usize,
    /// Why.
    pub why: Why,
    /// The same in words.
    pub message: String,
}

/// What came of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer and the step that gave it; `None`: no step said anything.
    pub reply: Option<(String, usize)>,
    /// The steps that ran, in order.
    pub finished: Vec<Finished>,
    /// Those that did not.
    pub skipped: Vec<Skipped>,
    /// How often models answered, all steps together.
    pub turns: u32,
}

/// One chain on its way.
#[derive(Debug)]
pub struct Machine {
    plan: Plan,
    used: u32,
    finished: Vec<Finished>,
    skipped: Vec<Skipped>,
    current: Current,
    want: Want,
    /// True once a step has begun to write the document, and was there.
    written: bool,
    /// Steps that were there and may write the document in place of the last one, the last of them at the end.
    stand_ins: Vec<usize>,
}

/// The step that is under way.
#[derive(Debug, Default)]
struct Current {
    step: usize,
    /// Most turns that it may take here and now.
    budget: u32,
    /// Whether it writes the document.
    writes: bool,
    turns: u32,
    /// The exchange with its model so far, beyond the opening.
    messages: Vec<Message>,
    queue: VecDeque<Pending>,
    seen: BTreeSet<u64>,
    failures: u32,
    stopped: Option<Stop>,
    tools_used: Vec<ToolUse>,
    data: Vec<Datum>,
    usage: Usage,
}

/// A call that its model made.
#[derive(Clone, Debug)]
struct Pending {
    call: ToolCall,
    /// False: the model wrote it as text, and is answered as text.
    native: bool,
    key: u64,
}

impl Machine {
    /// A chain that has not begun.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let mut machine = Self {
            plan,
            used: 0,
            finished: Vec::new(),
            skipped: Vec::new(),
            current: Current::default(),
            want: Want::Done,
            written: false,
            stand_ins: Vec::new(),
        };
        machine.begin(0);
        machine
    }

    /// What it wants next.
    #[must_use]
    pub fn want(&self) -> &Want {
        &self.want
    }

    /// The steps that ran so far.
    #[must_use]
    pub fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// The steps that did not.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Tells what came of what it wanted. What does not answer that is passed over.
    pub fn take(&mut self, told: Told) {
        match (self.want.clone(), told) {
            (Want::Ask { .. }, Told::Reply(reply)) => self.replied(reply),
            (Want::Ask { .. }, Told::Unanswered(why, message)) => self.unanswered(why, message),
            (Want::Confirm { step, call }, Told::Confirmed) => self.want = Want::Call { step, call },
            (Want::Confirm { .. }, Told::Denied(why) | Told::Failed(why)) => self.came(Err(why)),
            (Want::Check { text, .. }, Told::Holds) => self.finish(Some(text)),
            (Want::Check { text, .. }, Told::Refused(why)) => self.refused(text, why),
            (Want::Call { .. }, Told::Gave(value)) => self.came(Ok(value)),
            (Want::Call { .. }, Told::Failed(why)) => self.came(Err(why)),
            _ => {}
        }
    }

    /// What came of it.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        let reply = self.finished.iter().rev().find_map(|step| Some((step.said.clone()?, step.step)));
        Outcome { reply, finished: self.finished, skipped: self.skipped, turns: self.used }
    }

    /// Begins a step, or the first after it for which turns are left.
    fn begin(&mut self, first: usize) {
        let count = self.plan.steps.len();
        for step in first..count {
            let is_last = step + 1 == count;
            let left = self.plan.turns.saturating_sub(self.used).saturating_sub(if is_last { 0 } else { self.kept() });
            let budget = self.plan.steps[step].turns.min(left);
            if budget > 0 {
                let writes = is_last && matches!(self.plan.task, Task::Write(_));
                self.current = Current { step, budget, writes, ..Current::default() };
                self.ask();
                return;
            }
            let message = format!("the {} turns of the chain were used up", self.plan.turns);
            self.skipped.push(Skipped { step, why: Why::Turns, message });
        }
        self.stand_in();
    }

    /// Turns that are kept for the last step.
    fn kept(&self) -> u32 {
        match (&self.plan.task, self.plan.steps.last()) {
            (Task::Write(writing), Some(last)) => last.turns.min(writing.repairs.saturating_add(1)),
            // In simple mode the others are there for when this one is not, and nothing is kept for them.
            _ => u32::from(self.plan.mode == Mode::Reflexive),
        }
    }

    /// Lets the last step that was there write the document, where the one that should is not.
    fn stand_in(&mut self) {
        self.want = Want::Done;
        if !matches!(self.plan.task, Task::Write(_)) {
            return;
        }
        // In the place of the last step, with what was kept for that.
        let budget = self.plan.turns.saturating_sub(self.used).min(self.kept());
        if self.written || budget == 0 {
            return;
        }
        if let Some(step) = self.stand_ins.pop() {
            self.current = Current { step, budget, writes: true, ..Current::default() };
            self.ask();
        }
    }

    fn step(&self) -> &Step {
        &self.plan.steps[self.current.step]
    }

    /// Whether the next question to this step's model is its last.
    fn is_last_turn(&self) -> bool {
        self.current.stopped.is_some() || self.current.turns + 1 >= self.current.budget
    }

    fn ask(&mut self) {
        let (last, writes) = (self.is_last_turn(), self.current.writes);
        let tools: &[Offer] = if last || writes { &[] } else { &self.plan.tools };
        let earlier = self.earlier();
        let mut data: Vec<&Datum> = self.plan.background.iter().chain(&earlier).collect();
        if last && !writes {
            // Without the exchange of calls: where no tools are offered, providers refuse messages that speak of some.
            data.extend(&self.current.data);
        }
        let mut messages = prompt::opening(&self.plan, &data, self.step().role, tools, writes);
        if !last || writes {
            messages.extend(self.current.messages.iter().cloned());
        }
        let form = match &self.plan.task {
            Task::Write(writing) if writes => Some(writing.form.clone()),
            _ => None,
        };
        let tools = tools.iter().map(|offer| offer.tool.clone()).collect();
        let request = Request { messages, tools, form, ..Request::default() };
        self.want = Want::Ask { step: self.current.step, request };
    }

    /// What the steps before this one have gathered and said.
    fn earlier(&self) -> Vec<Datum> {
        let mut data = Vec::new();
        for step in &self.finished {
            data.extend(step.data.iter().cloned());
            let name = &self.plan.steps[step.step].name;
            data.extend(step.said.iter().map(|text| Datum { label: format!("what {name} said"), text: text.clone() }));
        }
        data
    }

    fn replied(&mut self, reply: Reply) {
        let last = self.is_last_turn();
        self.used += 1;
        self.current.turns += 1;
        self.current.usage.input = self.current.usage.input.saturating_add(reply.usage.input);
        self.current.usage.output = self.current.usage.output.saturating_add(reply.usage.output);
        self.written |= self.current.writes;
        if let Some(why) = reply.broken_off {
            self.current.stopped = Some(Stop::Guarded(why));
            return self.finish(None);
        }
        if self.current.writes {
            let text = spoken::without_thoughts(&reply.text);
            self.want = Want::Check { step: self.current.step, text };
            return;
        }
        let spoken = spoken::read(&reply.text);
        let calls = if last { Vec::new() } else { self.calls_of(&reply, spoken.calls) };
        if calls.is_empty() {
            return self.finish((!spoken.text.is_empty()).then_some(spoken.text));
        }
        let native = calls[0].native;
        let (kept, dropped) = calls.split_at(calls.len().min(limits::CALLS_PER_REPLY));
        let text = prompt::clipped(&reply.text, limits::CHAIN_REPLY_BYTES).0.to_owned();
        let said = if native { calls.iter().map(|pending| pending.call.clone()).collect() } else { Vec::new() };
        self.current.messages.push(Message { voice: Voice::Assistant, text, calls: said, answers: None });
        for pending in dropped {
            let why = format!("not called: at most {} calls at a time", limits::CALLS_PER_REPLY);
            self.answer(pending, &why);
        }
        self.current.queue = kept.iter().cloned().collect();
        self.next_call();
    }

    /// A document that cannot be used may be written once more, as often as the plan and the turns allow.
    fn refused(&mut self, text: String, why: String) {
        let Task::Write(writing) = &self.plan.task else { return };
        let turns = self.current.turns;
        let may = turns <= writing.repairs && turns < self.current.budget && self.used < self.plan.turns;
        if !may {
            self.current.stopped = Some(Stop::Refused(why));
            return self.finish(None);
        }
        let text = prompt::clipped(&text, limits::CHAIN_REPLY_BYTES).0;
        self.current.messages.extend([Message::new(Voice::Assistant, text), Message::refused(&why)]);
        self.ask();
    }

    /// The calls of a reply: those that it makes as such, else those that it writes.
    fn calls_of(&self, reply: &Reply, written: Vec<(String, Value)>) -> Vec<Pending> {
        let turn = self.current.turns;
        let pending = |call: ToolCall, native: bool| {
            let offer = self.offer(&call.name);
            let key = repeat::key(&repeat::name(&call.name), &call.arguments, offer);
            Pending { call, native, key }
        };
        if reply.calls.is_empty() {
            let named = written.into_iter().enumerate().map(|(index, (name, arguments))| ToolCall {
                id: format!("t{turn}-{}", index + 1),
                name,
                arguments: repeat::as_object(&arguments),
            });
            return named.map(|call| pending(call, false)).collect();
        }
        let tidy = |call: &ToolCall| ToolCall { arguments: repeat::as_object(&call.arguments), ..call.clone() };
        reply.calls.iter().map(|call| pending(tidy(call), true)).collect()
    }

    fn offer(&self, name: &str) -> Option<&Offer> {
        self.plan.tools.iter().find(|offer| offer.tool.name == repeat::name(name))
    }

    /// Goes to the next call of the queue, or asks the model again.
    fn next_call(&mut self) {
        loop {
            let Some(pending) = self.current.queue.front().cloned() else { return self.ask() };
            if self.current.stopped.is_none() && !self.current.seen.insert(pending.key) {
                self.current.stopped = Some(Stop::Repeated(repeat::name(&pending.call.name)));
            }
            if self.current.stopped.is_some() {
                self.current.queue.clear();
                return self.ask();
            }
            let step = self.current.step;
            let Some(offer) = self.offer(&pending.call.name) else {
                let known: Vec<&str> = self.plan.tools.iter().map(|offer| offer.tool.name.as_str()).collect();
                let name = &pending.call.name;
                self.enter(Err(format!("there is no tool {name:?}; the tools are {}", known.join(", "))));
                continue;
            };
            let (name, changes) = (offer.tool.name.clone(), offer.changes);
            if !pending.call.arguments.is_object() {
                let example = "such as {\"argument\": \"value\"}";
                self.enter(Err(format!("the arguments of {name} are no JSON object, {example}")));
                continue;
            }
            let call = ToolCall { name, ..pending.call };
            self.want = if changes { Want::Confirm { step, call } } else { Want::Call { step, call } };
            return;
        }
    }

    fn came(&mut self, result: Result<Value, String>) {
        self.enter(result);
        self.next_call();
    }

    /// Records what came of the first call of the queue, and takes it off.
    fn enter(&mut self, result: Result<Value, String>) {
        let Some(pending) = self.current.queue.pop_front() else { return };
        let name = repeat::name(&pending.call.name);
        let changes = self.offer(&name).is_some_and(|offer| offer.changes);
        let (failed, value) = match result {
            Ok(value) => (false, value),
            Err(why) => (true, json!({ "error": why })),
        };
        if failed {
            self.current.failures += 1;
            if self.current.failures >= limits::CHAIN_FAILURES {
                self.current.stopped = Some(Stop::Failures(self.current.failures));
            }
        } else {
            self.current.failures = 0;
            if changes {
                // What was read before may be another now.
                self.current.seen = BTreeSet::from([pending.key]);
            }
        }
        let text = as_text(&value);
        self.answer(&pending, &text);
        let label = format!("{name} {} gave", pending.call.arguments);
        self.current.data.push(Datum { label: one_line(&label), text });
        self.current.tools_used.push(ToolUse { name, args: pending.call.arguments, result: value });
    }

    /// Tells the model what came of a call, in the form in which it made it.
    fn answer(&mut self, pending: &Pending, text: &str) {
        let room = self.room_left();
        let (kept, whole) = prompt::clipped(text, limits::TOOL_RESULT_BYTES.min(room));
        let cut = if whole { String::new() } else { format!("\n(cut off: {} bytes in all)", text.len()) };
        let quoted = format!("[data: {} gave]\n{}{cut}", one_line(&pending.call.name), prompt::quoted(kept));
        let message = match pending.native {
            true => Message::answer(&pending.call, quoted),
            false => Message::new(Voice::User, quoted),
        };
        self.current.messages.push(message);
    }

    /// Bytes of results that the exchange may still take.
    fn room_left(&self) -> usize {
        let answers = self.current.messages.iter().filter(|message| message.voice != Voice::Assistant);
        let taken: usize = answers.map(|message| message.text.len()).sum();
        self.plan.room.saturating_sub(taken)
    }

    fn unanswered(&mut self, why: Why, message: String) {
        if self.current.turns == 0 {
            if self.current.writes && self.finished.iter().any(|done| done.step == self.current.step) {
                // It was there before, and is no step that did not run.
                return self.stand_in();
            }
            self.skipped.push(Skipped { step: self.current.step, why, message });
            return self.begin(self.current.step + 1);
        }
        self.current.stopped = Some(Stop::Unanswered(why, message));
        self.finish(None);
    }

    fn finish(&mut self, said: Option<String>) {
        let current = std::mem::take(&mut self.current);
        let answered = said.is_some();
        self.stand_ins.push(current.step);
        self.finished.push(Finished {
            step: current.step,
            turns: current.turns,
            said,
            stopped: current.stopped,
            tools_used: current.tools_used,
            usage: current.usage,
            data: current.data,
        });
        if current.writes || answered && self.plan.mode == Mode::Simple {
            self.want = Want::Done;
        } else {
            self.begin(current.step + 1);
        }
    }
}

/// A tool's result as models read it.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("error") => {
            format!("error: {}", fields["error"].as_str().unwrap_or_default())
        }
        other => other.to_string(),
    }
}

/// Text for one line of ours, bounded.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() || matches!(c, '[' | ']') { ' ' } else { c }).collect();
    prompt::clipped(&plain, limits::ID_BYTES * 3).0.to_owned()
}
