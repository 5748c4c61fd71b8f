//! The evaluator: an outcome beside the prediction of the run that it is the outcome of, and what the pathway learns from the
//! difference.
//!
//! Neutral: it sees both texts and does not ask who wrote them; only an agent's word on its own run is not taken. Drafts of predictions
//! are acknowledged, and strengthen nothing. Place in the flow: outcome → **evaluator** → corrective delta: `reinforce`, `outcome` for
//! the ledger, and a sub-goal where a pathway turns out to be worth it. Source: MagistraAI's technical note, 3.3 and 3.6.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::kind;
use super::proposal::{Proposal, clip};
use crate::chemistry::dopamine::{self, Judgement, Stance, credits, judgements_of, pathway, reinforcements, stance};
use crate::cognition::{Network, Snapshot};
use crate::delta::operation::{Outcome, SetGoal};
use crate::delta::{Document, Edge, LedgerEntry, Method, Operation, RunRecord};
use crate::limits;
use crate::model::document::{Goal, GoalLevel, GoalState};
use crate::model::ids::{GoalId, NeuronId, RunId, hash_fields};
use crate::model::neuron::check_concept;
use crate::model::settings::Learning;
use crate::model::{Settings, Signal};

/// The only sender that may judge its own runs: a person.
const PERSON: &str = "human";

/// How many of the first signals one run can answer: up to the second outcome, because a document holds one.
pub(super) fn answerable(signals: &[Signal]) -> usize {
    let outcomes = |(at, signal): (usize, &Signal)| is_outcome(signal).then_some(at);
    signals.iter().enumerate().filter_map(outcomes).nth(1).unwrap_or(signals.len()).min(super::proposal::SIGNALS)
}

fn is_outcome(signal: &Signal) -> bool {
    signal.payload_kind() == Some(kind::OUTCOME)
}

/// What the evaluator proposes.
pub(super) fn think(snapshot: &Snapshot, network: &dyn Network, settings: &Settings) -> Document {
    let mut proposal = Proposal::new(snapshot, network);
    let mut judged = false;
    for signal in proposal.signals() {
        match is_outcome(signal) {
            false => proposal.acknowledge_other(signal),
            // Stays unanswered, so that the next run takes it.
            true if judged => {}
            true => match asked(signal, network) {
                Ok((record, judgement)) => {
                    let past = Past { ledger: &snapshot.ledger, goals: &snapshot.goals };
                    let verdict = correct(&record, &judgement, past, network, &settings.learning);
                    verdict.ops.into_iter().for_each(|op| proposal.take(op));
                    let (run, error) = (&record.run, judgement.error);
                    let answer = match judgement.method {
                        Method::Unjudged => json!({"done": "kept", "run": run, "method": Method::Unjudged}),
                        method => json!({"done": "judged", "run": run, "error": error, "method": method}),
                    };
                    proposal.acknowledge(signal, answer);
                    judged = true;
                }
                Err(why) => proposal.acknowledge(signal, json!({"understood": false, "why": why})),
            },
        }
    }
    proposal.finish()
}

/// The run that a signal tells the outcome of, and the judgement.
fn asked(signal: &Signal, network: &dyn Network) -> Result<(RunRecord, Judgement), String> {
    let field = |name: &str| signal.payload.get(name).filter(|value| !value.is_null());
    let run = field("run").and_then(Value::as_str).and_then(|run| RunId::parse(run).ok()).ok_or("it names no run")?;
    if signal.from == run.agent() && signal.from.as_str() != PERSON {
        return Err("an agent does not judge its own run".to_owned());
    }
    let value = field("value").map(|value| value.as_f64().ok_or("the value is no number")).transpose()?;
    let text = field("text").map(|text| text.as_str().ok_or("the text is no text")).transpose()?;
    text.map_or(Ok(()), check_concept).map_err(|why| format!("the text {why}"))?;
    let record = network.record(&run).ok_or_else(|| format!("there is no run {run} here"))?;
    let judgement = dopamine::judge(record.prediction.as_ref(), value, text).map_err(|why| why.to_string())?;
    Ok((record, judgement))
}

/// What an evaluator knows beside the network.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Entries of the ledger, newest first.
    pub ledger: &'a [LedgerEntry],
    /// Open goals.
    pub goals: &'a [Goal],
}

/// What follows from a judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The pathway of the judged run itself, the connection nearest to the outcome last.
    pub pathway: Vec<Edge>,
    /// How many connections learn from it, of the judged run and of those before it.
    pub credited: usize,
    /// `reinforce`, if there is anything to learn; `outcome`; `goal`, if a stance has turned.
    pub ops: Vec<Operation>,
}

/// The corrective operations for a run whose outcome was judged.
pub fn correct(
    record: &RunRecord,
    judgement: &Judgement,
    past: Past<'_>,
    network: &dyn Network,
    learning: &Learning,
) -> Verdict {
    let look = |id: &NeuronId| network.neuron(id);
    let own = pathway(record, &look);
    let mut trails = vec![(0, own.clone())];
    if learning.eligibility > 0.0 {
        let before = causes(record, network).into_iter();
        trails.extend(before.map(|(distance, record)| (distance, pathway(&record, &look))));
    }
    let credits = credits(judgement.error, &trails, learning);
    let mut ops = reinforcements(&credits);
    ops.push(Operation::Outcome(Outcome {
        run: record.run.clone(),
        value: judgement.outcome.value,
        text: judgement.outcome.text.clone(),
        error: judgement.error,
        method: judgement.method,
        pathway: own.clone(),
    }));
    if judgement.method.is_value() {
        ops.extend(sub_goal(&own, judgement, past, network, learning).map(Operation::Goal));
    }
    Verdict { pathway: own, credited: credits.len(), ops }
}

/// The runs behind a run, with their distance from it: those whose signals it answered, then those behind these; nearest first, at most
/// [`limits::CREDITED_RUNS`].
fn causes(record: &RunRecord, network: &dyn Network) -> Vec<(u32, RunRecord)> {
    let senders = |record: &RunRecord| -> BTreeSet<RunId> {
        let answered = record.ops.iter().filter_map(|op| match op {
            Operation::Acknowledge(op) => network.sender(&record.agent, &op.signal),
            _ => None,
        });
        answered.collect()
    };
    let mut seen = BTreeSet::from([record.run.clone()]);
    let mut found: Vec<(u32, RunRecord)> = Vec::new();
    let mut at = 0;
    let mut here = Some((0, senders(record)));
    while let Some((distance, runs)) = here {
        for run in runs {
            if found.len() < limits::CREDITED_RUNS && seen.insert(run.clone()) {
                found.extend(network.record(&run).map(|record| (distance + 1, record)));
            }
        }
        here = found.get(at).map(|(distance, record)| (*distance, senders(record)));
        at += 1;
    }
    found
}

/// The sub-goal of a pathway whose stance has turned: opened where it is worth exploiting, abandoned where it only disappoints. What a
/// person has set is left alone. Source: MagistraAI's technical note, 3.3, the hierarchy of goals.
fn sub_goal(
    pathway: &[Edge],
    judgement: &Judgement,
    past: Past<'_>,
    network: &dyn Network,
    learning: &Learning,
) -> Option<SetGoal> {
    let neuron = network.neuron(dopamine::end(pathway)?)?;
    let mut judged = vec![(judgement.outcome.value, judgement.error)];
    judged.extend(judgements_of(past.ledger, pathway));
    let stance = stance(&judged, learning);
    let id = sub_goal_id(&neuron.id);
    let there = network.goal(&id);
    if there.as_ref().is_some_and(|goal| goal.is_a_persons()) {
        return None;
    }
    match (stance, there) {
        (Stance::Exploit, there) if there.as_ref().is_none_or(|goal| goal.state != GoalState::Open) => {
            let served = |goal: &&Goal| {
                let Some(other) = goal.neuron.as_ref().filter(|_| goal.level == GoalLevel::Terminal) else {
                    return false;
                };
                let points = |from: &crate::model::Neuron, to: &NeuronId| {
                    from.connections.iter().any(|c| c.target == *to && c.weight > 0)
                };
                *other == neuron.id
                    || points(&neuron, other)
                    || network.neuron(other).is_some_and(|other| points(&other, &neuron.id))
            };
            let parent = past.goals.iter().find(served).map(|goal| goal.id.clone());
            let text = format!("reach {:?}", clip(&neuron.concept, limits::LABEL_BYTES));
            let level = GoalLevel::Sub;
            Some(SetGoal { id: Some(id), text, level, neuron: Some(neuron.id), parent, state: GoalState::Open })
        }
        (Stance::Abandon, Some(goal)) if goal.state == GoalState::Open => Some(SetGoal {
            id: Some(id),
            text: goal.text,
            level: GoalLevel::Sub,
            neuron: goal.neuron,
            parent: goal.parent,
            state: GoalState::Abandoned,
        }),
        _ => None,
    }
}

/// The sub-goal that stands for a neuron: one each.
pub fn sub_goal_id(neuron: &NeuronId) -> GoalId {
    let id = format!("sub-{:016x}", hash_fields(&[b"sub-goal", neuron.as_str().as_bytes()]));
    GoalId::parse(&id).expect("invariant: a prefix and a hash make an id")
}

#[cfg(test)]
#[path = "evaluator_tests.rs"]
mod tests;
