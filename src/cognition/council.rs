//! A council as an agent's cognition: what it is asked, and its verdicts as a delta document. Pure: who asks the members is the cycle's work.
//!
//! A verdict answers the signal that asked, or is told to other agents; what waits for a person raises a flag. No memory is made of it: the next
//! council on that question would read its own verdict as evidence.

use serde_json::{Value, json};

use super::Snapshot;
use crate::council::record::CouncilRecord;
use crate::council::vote::Decision;
use crate::delta::operation::{Acknowledge, Operation, Prediction, Send, SetFlag};
use crate::delta::{Document, RunRecord};
use crate::limits;
use crate::model::capabilities::Capabilities;
use crate::model::ids::{AgentName, SignalId};
use crate::model::{Stamp, json as model_json, within};

/// The kind of a verdict's payload.
const VERDICT: &str = "verdict";
/// How the cognition of such a run begins in its record.
const COGNITION: &str = "council:";
/// Bytes of a question that its refusal repeats.
const REFUSED_BYTES: usize = 200;

/// How the prediction of a run begins that a council decided.
const EXPECTED: &str = "the council is right to ";

/// Whether words are those by which the run of a council predicts that its decision is right.
#[must_use]
pub fn is_expectation(text: &str) -> bool {
    text.starts_with(EXPECTED)
}

/// The council whose decision a run was, by its id; `None`: it was none, or that of several questions.
#[must_use]
pub fn decided_in(record: &RunRecord) -> Option<&str> {
    let is_one = record.cognition.starts_with(COGNITION) && record.prediction.is_some();
    let payloads = record.ops.iter().filter_map(|op| match op {
        Operation::Acknowledge(Acknowledge { payload, .. }) | Operation::Signal(Send { payload, .. }) => Some(payload),
        _ => None,
    });
    let mut verdicts = payloads.filter(|payload| payload["kind"] == VERDICT).filter_map(|one| one["council"].as_str());
    verdicts.next().filter(|_| is_one)
}

/// A question that a run puts to its council.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// The reason to ask no member: it is too long to be shown whole, or says nothing.
    pub fault: Option<String>,
    /// The signal that asks; `None`: stimuli do, or what woke the agent.
    pub signal: Option<SignalId>,
    /// What asks, by its id: the same question asked again by another is another council.
    pub by: String,
    /// When it asked.
    pub at: Stamp,
}

impl Asked {
    fn new(question: &str, signal: Option<SignalId>, by: String, at: Stamp) -> Self {
        let (question, most) = (question.trim().to_owned(), limits::COUNCIL_QUESTION_BYTES);
        let fault = match question.len() {
            _ if !question.chars().any(char::is_alphanumeric) => Some("the question is empty".to_owned()),
            bytes if bytes > most => {
                Some(format!("the question has {bytes} bytes, and a council is asked at most {most}"))
            }
            _ => None,
        };
        Self { question, fault, signal, by, at }
    }
}

/// The questions of a snapshot: each signal asks one, all stimuli together one, and where there are neither the active neurons or raised flags.
#[must_use]
pub fn questions(snapshot: &Snapshot) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    for signal in &snapshot.signals {
        let words = ["question", "query", "text"].iter().find_map(|key| signal.payload.get(key)?.as_str());
        let says_its_kind_alone = signal.payload.as_object().is_some_and(|all| all.keys().all(|key| key == "kind"));
        let question = match words {
            Some(words) => words.to_owned(),
            None if says_its_kind_alone => String::new(),
            None => model_json::inline(&signal.payload),
        };
        let by = format!("signal {}", signal.id);
        asked.push(Asked::new(&question, Some(signal.id.clone()), by, signal.created_at));
    }
    if !snapshot.stimuli.is_empty() {
        let ids: Vec<&str> = snapshot.stimuli.iter().map(|stimulus| stimulus.id.as_str()).collect();
        let texts: Vec<&str> = snapshot.stimuli.iter().map(|stimulus| stimulus.text.as_str()).collect();
        let at = snapshot.stimuli.iter().map(|stimulus| stimulus.at).max().unwrap_or(snapshot.at);
        asked.push(Asked::new(&texts.join("\n"), None, format!("stimuli {}", ids.join(" ")), at));
    }
    if asked.is_empty() {
        let is_active = |id| snapshot.active.contains(id);
        let active = snapshot.neurons.iter().filter(|neuron| is_active(&neuron.id));
        let mut texts: Vec<&str> = active.map(|neuron| neuron.concept.as_str()).collect();
        if texts.is_empty() {
            // Its own flag says what it left to a person, and is no question.
            let others = snapshot.raised.iter().filter(|flag| flag.by.as_ref() != Some(&snapshot.agent));
            texts = others.map(|flag| flag.reason.as_str()).collect();
        }
        asked.push(Asked::new(&texts.join("\n"), None, format!("run {}", snapshot.run), snapshot.at));
    }
    // An empty signal is answered, so that it does not wait for ever.
    asked.retain(|asked| asked.signal.is_some() || !asked.question.is_empty());
    // Stimuli are consumed by this run; signals that are left wake the next one.
    while asked.len() > limits::COUNCILS_PER_RUN {
        let Some(last) = asked.iter().rposition(|asked| asked.signal.is_some()) else { break };
        asked.remove(last);
    }
    asked
}

/// The document of verdicts, and of questions that nobody was asked. `others_wait`: whether escalations of earlier councils still wait for a person.
#[must_use]
pub fn document(
    ruled: &[(Asked, CouncilRecord)],
    refused: &[Asked],
    others_wait: bool,
    snapshot: &Snapshot,
    may: &Capabilities,
) -> Document {
    let allows = |operation: &str| may.operations.iter().any(|allowed| allowed == operation);
    let mut ops = Vec::new();
    let ruled_payloads = ruled.iter().map(|(asked, record)| (asked, payload_of(record)));
    for (asked, payload) in ruled_payloads.chain(refused.iter().map(|asked| (asked, refusal_of(asked)))) {
        match &asked.signal {
            Some(signal) if allows("acknowledge") => {
                ops.push(Operation::Acknowledge(Acknowledge { signal: signal.clone(), payload }))
            }
            Some(_) => {}
            None if allows("signal") => {
                let told = |to: AgentName| Operation::Signal(Send { to, payload: payload.clone() });
                ops.extend(told_to(snapshot, may).into_iter().map(told));
            }
            None => {}
        }
    }
    let waiting: Vec<&str> =
        ruled.iter().filter(|(_, record)| record.verdict.escalates()).map(|(_, record)| record.id.as_str()).collect();
    if let Some(name) = may.flags.iter().flatten().next().filter(|_| allows("flag")) {
        let is_on = snapshot.flags.contains(name);
        if !waiting.is_empty() {
            let reason = format!("a council leaves to a person: git brain approve {}, or reject", waiting.join(" "));
            ops.push(Operation::Flag(SetFlag { name: name.clone(), value: true, reason }));
        } else if is_on && !others_wait {
            let reason = "no council waits for a person".to_owned();
            ops.push(Operation::Flag(SetFlag { name: name.clone(), value: false, reason }));
        }
    }
    Document { agent: None, prediction: prediction(ruled), ops }
}

/// Agents that hear of a verdict that no signal asked for.
fn told_to(snapshot: &Snapshot, may: &Capabilities) -> Vec<AgentName> {
    let is_there =
        |name: &AgentName| *name != snapshot.agent && snapshot.agents.iter().any(|agent| agent.name == *name);
    let named = may.signals_to.iter().flatten().filter(|name| is_there(name)).cloned();
    named.collect()
}

/// The answer to a question that nobody was asked.
fn refusal_of(asked: &Asked) -> Value {
    let (fault, beginning) = (asked.fault.as_deref().unwrap_or_default(), within(&asked.question, REFUSED_BYTES));
    json!({"kind": "refused", "question": beginning, "text": format!("no council was asked: {fault}")})
}

/// A verdict as others read it.
fn payload_of(record: &CouncilRecord) -> Value {
    let verdict = &record.verdict;
    json!({
        "kind": VERDICT,
        "council": record.id,
        "question": record.question,
        "decision": if verdict.escalates() { Decision::Abstain } else { verdict.decision },
        "confidence": verdict.confidence,
        "escalated": verdict.escalates(),
        "text": record.answer(),
    })
}

/// What a run of one decided question expects: that the decision turns out right.
fn prediction(ruled: &[(Asked, CouncilRecord)]) -> Option<Prediction> {
    let [(_, record)] = ruled else { return None };
    let verdict = &record.verdict;
    if verdict.escalates() {
        return None;
    }
    let text = format!("{EXPECTED}{} this: {}", verdict.decision, record.question);
    Some(Prediction {
        text: Some(within(&text, limits::COUNCIL_QUESTION_BYTES).to_owned()),
        value: Some(verdict.confidence),
        pathway: Vec::new(),
        spread: None,
        chosen: None,
    })
}
