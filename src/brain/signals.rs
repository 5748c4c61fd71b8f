//! `signals`: who asked whom, what was answered, and asking again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::write::Given;
use super::{Brain, BrainError, HUMAN, Progress, RunReport};
use crate::cycle::inhibition::Waiting;
use crate::cycle::signals::Sent;
use crate::cycle::{Aside, RunBounds};
use crate::delta::operation::Send;
use crate::delta::{Document, Operation};
use crate::model::ids::{AgentName, RunId};
use crate::model::{Signal, Stamp, json, plural};
use crate::trigger::{self, Happened};

/// Signals to list.
#[derive(Clone, Debug, Default)]
pub struct SignalsRequest {
    /// At most so many, the newest.
    pub number: usize,
    /// Only those to or from this agent.
    pub agent: Option<String>,
    /// Only those that nobody has answered.
    pub unanswered: bool,
    /// The brain at a commit.
    pub at: Option<String>,
}

/// Signals.
#[derive(Clone, Debug, Serialize)]
pub struct SignalsReport {
    /// The newest, newest first.
    pub signals: Vec<SignalLine>,
    /// How many there are of those that were asked for.
    pub total: usize,
    /// How many of these nobody has answered.
    pub unanswered: usize,
}

/// A signal and its answer.
#[derive(Clone, Debug, Serialize)]
pub struct SignalLine {
    /// Its id.
    pub id: String,
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// The run that sent it.
    pub run: String,
    /// The sender's clock.
    pub at: Stamp,
    /// Seconds since then, by this machine's clock.
    pub age: u64,
    /// `unanswered`, `answered`, or `refused` where the engine answered that nobody will.
    pub state: &'static str,
    /// Why nobody has answered it; null where somebody has.
    pub why: Option<String>,
    /// What it says.
    pub payload: Value,
    /// The run that answered it.
    pub answered_by: Option<String>,
    /// What that said.
    pub answer: Option<Value>,
}

/// Signals that were sent again.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayReport {
    /// The run whose signals they were.
    pub replayed: String,
    /// The run that sent them again.
    pub run: String,
    /// How many.
    pub count: usize,
    /// The runs that followed.
    #[serde(flatten)]
    pub ran: RunReport,
}

impl Brain {
    /// Signals with their answers, newest first.
    ///
    /// # Errors
    /// A name that is none, a revision that names no commit (exit code 2).
    pub fn signals(&self, request: &SignalsRequest) -> Result<SignalsReport, BrainError> {
        let agent = request.agent.as_deref().map(AgentName::parse).transpose();
        let agent = agent.map_err(|e| BrainError::usage(e.to_string()))?;
        let tip = self.at(request.at.as_deref())?;
        let tree = self.cycle.store.tree_of(tip)?;
        let mut sent = self.cycle.signals(tree)?;
        sent.retain(|sent| agent.as_ref().is_none_or(|agent| sent.signal.from == *agent || sent.signal.to == *agent));
        sent.retain(|sent| !request.unanswered || sent.answer.is_none());
        let now = self.cycle.shared.world.now();
        let (total, unanswered) = (sent.len(), sent.iter().filter(|sent| sent.answer.is_none()).count());
        let shown: Vec<Sent> = sent.into_iter().rev().take(request.number).collect();
        let open = shown.iter().any(|sent| sent.answer.is_none());
        let (last, aside) = match open {
            true => (self.last_runs(tip)?, self.cycle.aside_in(tree)?),
            false => Default::default(),
        };
        let line = |sent: Sent| {
            let why = sent.answer.is_none().then(|| self.why_silent(&sent.signal, &last, &aside));
            line(sent, why, now)
        };
        Ok(SignalsReport { total, unanswered, signals: shown.into_iter().map(line).collect() })
    }

    /// Why nobody has answered a signal.
    fn why_silent(&self, signal: &Signal, last: &BTreeMap<AgentName, i64>, aside: &Aside) -> String {
        let to = &signal.to;
        if to.as_str() == HUMAN {
            return "it is for you: people read signals, and need not answer".to_owned();
        }
        let Some(member) = self.cycle.shared.policy.agents.get(to) else {
            return match self.cycle.shared.policy.is_broken(to) {
                true => format!("the definition of {to} cannot be read: `git brain status` says where"),
                false => format!("there is no agent {to}"),
            };
        };
        let alone = Happened { clock: signal.created_at, signals: vec![signal.clone()], ..Happened::default() };
        if let Ok(claimed) = self.cycle.claimed_signals(to)
            && let Some(run) = claimed.get(&signal.id)
        {
            return format!("its answer waits for review: `git brain review {run}`");
        }
        let is_held = |held: &Waiting| held.signals.contains(&signal.id);
        match aside.signals.get(&signal.id).or(aside.silent.get(&signal.id)) {
            _ if !member.trusted => format!("{to} is not trusted here: `git brain trust` shows what it may do"),
            _ if self.cycle.held_back().get(to).is_some_and(is_held) => {
                "it waits for the brake, or for the budget: `git brain run` goes on, and says what holds it".to_owned()
            }
            Some(reason) => {
                let did =
                    if aside.signals.contains_key(&signal.id) { "failed at it: " } else { "has not answered it: " };
                format!("{} {did}{}; `git brain run --agent {to}` asks again", reason.agent, reason.why)
            }
            None if !self.cycle.may_answer(to) => {
                format!("{to} may not answer: its operations do not name `acknowledge`")
            }
            None if last.get(to).is_some_and(|at| *at > signal.created_at.unix()) => {
                format!("{to} has run since, and did not answer")
            }
            None if trigger::wakes(&member.agent, &alone).is_none() => format!("it does not wake {to} by itself"),
            None => {
                format!("{to} has ended no run since: `git brain run --agent {to}` asks it, and says what it fails at")
            }
        }
    }

    /// Sends the signals of a run again, in your name, and lets agents run until all is quiet.
    ///
    /// # Errors
    /// No such run in wake, or one that sent nothing (exit code 2); one of an origin that is not approved (exit code 3).
    pub fn replay(&self, run: &str, progress: &mut dyn FnMut(Progress)) -> Result<ReplayReport, BrainError> {
        let run = RunId::parse(run).map_err(|e| BrainError::usage(e.to_string()))?;
        let sent = self.cycle.signals(self.cycle.store.tree_of(self.at(None)?)?)?;
        let again = sent.into_iter().map(|sent| sent.signal).filter(|signal| signal.run == run);
        let ops: Vec<Operation> =
            again.map(|signal| Operation::Signal(Send { to: signal.to, payload: signal.payload })).collect();
        if ops.is_empty() {
            return Err(BrainError::Usage {
                message: format!("wake has no signals of {run}"),
                hint: Some("`git brain signals` lists those that were sent, with their runs".to_owned()),
            });
        }
        let origin = self.judged(run.as_str())?.origin;
        if self.cycle.shared.policy.settings.origins.is_tainted(&origin) {
            return Err(BrainError::Refused {
                message: format!("{run} comes of {origin}, and would be asked again in your name"),
                hint: Some(
                    "`git brain show` has its signals: send what you trust of them by `git brain apply`".to_owned(),
                ),
            });
        }
        let count = ops.len();
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let document = Document { agent: Some(agent.clone()), prediction: None, ops };
        let bytes = json::pretty(&document);
        let (reason, cognition) = ("replay", "apply".to_owned());
        let given = Given { document, bytes, lines: Vec::new(), agent, reason, cognition };
        let asked = self.apply_given(given, false, false)?;
        if !asked.merged {
            return Err(BrainError::refused(format!(
                "{} on {}: they wait for review",
                plural(count, "signal", "signals"),
                asked.branch
            )));
        }
        let ran = self.run(&RunBounds::default(), progress)?;
        Ok(ReplayReport { replayed: run.to_string(), run: asked.run, count, ran })
    }
}

fn line(Sent { signal, answer }: Sent, why: Option<String>, now: Stamp) -> SignalLine {
    let refused = |payload: &Value| payload.get("refused").is_some();
    SignalLine {
        id: signal.id.to_string(),
        from: signal.from.to_string(),
        to: signal.to.to_string(),
        run: signal.run.to_string(),
        at: signal.created_at,
        age: now.seconds_since(signal.created_at),
        state: match &answer {
            None => "unanswered",
            Some(answer) if refused(&answer.payload) => "refused",
            Some(_) => "answered",
        },
        why,
        payload: signal.payload,
        answered_by: answer.as_ref().map(|answer| answer.run.to_string()),
        answer: answer.map(|answer| answer.payload),
    }
}
