//! `decide`: a person's question with options, and decision's answer.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::write::Given;
use super::{Brain, BrainError, HUMAN, Progress, RunReport};
use crate::chemistry::dopamine::{option_id, question_key};
use crate::cycle::network::TreeNetwork;
use crate::cycle::{DECISION, RunBounds, ledger};
use crate::delta::operation::{Chosen, Send};
use crate::delta::{Document, Operation, RunRecord};
use crate::limits;
use crate::model::ids::{AgentName, RunId, SignalId};
use crate::model::neuron::check_concept;
use crate::model::{Signal, json};

/// A question with what can be chosen.
#[derive(Clone, Debug, Default)]
pub struct DecideRequest {
    /// The question.
    pub question: String,
    /// Two options or more.
    pub options: Vec<String>,
}

/// A decision.
#[derive(Clone, Debug, Serialize)]
pub struct DecideReport {
    /// Decision's run: `outcome` says what came of it.
    pub run: String,
    /// The question.
    pub question: String,
    /// The chosen option.
    pub choice: String,
    /// How good its outcome is expected to be, 0..=1; null where decision does not say.
    pub expected: Option<f64>,
    /// How far that may be from the truth, a standard deviation; null where decision does not say.
    pub spread: Option<f64>,
    /// `exploit`, `explore` or `abandon`; null where decision does not say.
    pub stance: Option<String>,
    /// Why, in words; null where decision does not say.
    pub why: Option<String>,
    /// Outcomes of the choice, among those that decision looks back on, that come from where nobody here trusts.
    pub untrusted: usize,
    /// What was weighed, as decision has it; null where it does not say.
    pub scores: Value,
    /// The runs that followed from the question.
    #[serde(flatten)]
    pub ran: RunReport,
}

impl Brain {
    /// Asks decision, lets agents run until all is quiet, and returns the answer.
    ///
    /// # Errors
    /// A question or an option that is no text, fewer than two options, one twice (exit code 2); decision is not here, is not trusted, or
    /// gives no answer (3).
    pub fn decide(
        &self,
        request: &DecideRequest,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<DecideReport, BrainError> {
        check(request)?;
        let decision = AgentName::parse(DECISION).expect("invariant: a valid name");
        let Some(member) = self.cycle.shared.policy.agents.get(&decision) else {
            return Err(BrainError::refused(format!("there is no agent {DECISION} in this brain")));
        };
        self.cycle.shared.policy.require_trust(member)?;
        let payload = json!({"kind": "action_required", "query": request.question, "options": request.options});
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let ops = vec![Operation::Signal(Send { to: decision.clone(), payload })];
        let document = Document { agent: Some(agent.clone()), prediction: None, ops };
        let bytes = json::pretty(&document);
        let cognition = "apply".to_owned();
        let asked = self.apply_given(
            Given { document, bytes, lines: Vec::new(), agent, reason: "decide", cognition },
            false,
            false,
        )?;
        if !asked.merged {
            return Err(BrainError::Refused {
                message: format!("the question waits on {}", asked.branch),
                hint: Some(format!("`git brain show {}` has it, `git brain merge {0}` lets it in", asked.run)),
            });
        }
        let run = RunId::parse(&asked.run).expect("invariant: the engine made it");
        let signal = Signal::id_of(&run, 0);
        let ran = self.run(&RunBounds::default(), progress)?;
        // Another process may have run decision meanwhile: then it was done before the run here began.
        let answered = self.answered(&decision, &signal)?;
        if let Some(record) = &answered
            && let Some(payload) = answer(record, &signal)
        {
            let mut report = report(record, payload, request, ran);
            report.ran.notes.extend(asked.notes);
            let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
            report.untrusted = self.untrusted(&network, &report)?;
            return Ok(report);
        }
        // What was answered is not asked again.
        if let Some(record) = answered {
            return Err(BrainError::Refused {
                message: format!("{DECISION} answered, and chose none of the options"),
                hint: Some(format!("`git brain show {}` has its answer", record.run)),
            });
        }
        let failed = ran.failures.iter().find(|failure| failure.agent == DECISION).map(|failure| failure.error.clone());
        let why = failed.or_else(|| ran.unpaid.first().cloned());
        Err(BrainError::Refused {
            message: match why {
                Some(why) => format!("{DECISION} gave no answer: {why}"),
                None => format!("{DECISION} gave no answer"),
            },
            hint: Some(format!(
                "`git brain run --agent {DECISION}` asks it again; `git brain log` shows what happened"
            )),
        })
    }
}

impl Brain {
    /// The record of the run that answered a signal, whoever started it.
    fn answered(&self, agent: &AgentName, signal: &SignalId) -> Result<Option<RunRecord>, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
        let Some(answer) = self.cycle.readable(network.acknowledgement(agent, signal))?.flatten() else {
            return Ok(None);
        };
        network.record(&answer.run)
    }

    /// The number of outcomes of the question, whatever option they are of, that runs of little trust brought, among those that decision looks back on.
    fn untrusted(&self, network: &TreeNetwork<'_>, report: &DecideReport) -> Result<usize, BrainError> {
        let settings = &self.cycle.shared.policy.settings;
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let mut found = 0;
        for entry in ledger::newest(&self.cycle.store, tree, settings.learning.history)? {
            let is_its = |c: &Chosen| question_key(&c.question) == question_key(&report.question);
            if !entry.chosen.as_ref().is_some_and(is_its) {
                continue;
            }
            let origin = self.cycle.readable(network.origin_of(&entry.run))?.flatten();
            found += usize::from(origin.is_some_and(|origin| settings.origins.is_tainted(&origin)));
        }
        Ok(found)
    }
}

fn check(request: &DecideRequest) -> Result<(), BrainError> {
    let usage = |message: String| {
        let hint = Some("git brain decide \"what to drink?\" --option tea --option coffee".to_owned());
        BrainError::Usage { message, hint }
    };
    check_concept(&request.question).map_err(|why| usage(format!("the question {why}")))?;
    let mut seen = BTreeSet::new();
    for option in &request.options {
        check_concept(option).map_err(|why| usage(format!("the option {option:?} {why}")))?;
        if option.len() > limits::LABEL_BYTES {
            return Err(usage(format!("an option has {} bytes, the limit is {}", option.len(), limits::LABEL_BYTES)));
        }
        if !seen.insert(option_id(option)) {
            return Err(usage(format!("the option {option:?} is given twice")));
        }
    }
    match request.options.len() {
        0 | 1 => Err(usage("a decision needs two options or more".to_owned())),
        n if n > limits::OPTIONS => Err(usage(format!("{n} options are given, the limit is {}", limits::OPTIONS))),
        _ => Ok(()),
    }
}

/// What a run answered to a request: the payload of the signal that names it, or of the acknowledgement.
fn answer<'r>(record: &'r RunRecord, signal: &SignalId) -> Option<&'r Value> {
    let acknowledged = record.ops.iter().find_map(|op| match op {
        Operation::Acknowledge(op) if op.signal == *signal => Some(&op.payload),
        _ => None,
    })?;
    let told = record.ops.iter().find_map(|op| match op {
        Operation::Signal(op) if op.payload["request"] == signal.as_str() => Some(&op.payload),
        _ => None,
    });
    Some(told.unwrap_or(acknowledged)).filter(|payload| payload["choice"].is_string())
}

fn report(record: &RunRecord, payload: &Value, request: &DecideRequest, ran: RunReport) -> DecideReport {
    let word = |key: &str| payload[key].as_str().map(str::to_owned);
    let prediction = record.prediction.as_ref();
    DecideReport {
        run: record.run.to_string(),
        question: request.question.clone(),
        choice: word("choice").unwrap_or_default(),
        expected: prediction.and_then(|p| p.value),
        spread: prediction.and_then(|p| p.spread),
        stance: word("stance"),
        // A model says why in the text of its answer.
        why: word("why").or_else(|| word("text")),
        untrusted: 0,
        scores: payload["scores"].clone(),
        ran,
    }
}
