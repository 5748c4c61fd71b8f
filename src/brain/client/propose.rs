//! Proposals and outcomes of a client: a delta as a run of its agent that waits for a person, and what came of a run or a memory.

use serde::{Deserialize, Serialize};

use super::page::cost;
use super::{Client, Desk};
use crate::activation::recall::Filters;
use crate::activation::ways;
use crate::brain::outcome::check_value;
use crate::brain::write::Given;
use crate::brain::{Brain, BrainError, FeedRequest, Source};
use crate::cycle::network::TreeNetwork;
use crate::cycle::recall::Asker;
use crate::delta::operation::Create;
use crate::delta::{Document, Operation, Prediction};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, RunId};
use crate::model::{Origin, json};
use crate::text::tokens;

/// What became of a delta.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Proposal {
    /// The run; of an answer the question.
    pub run: String,
    /// `waits` for a person, or `landed` in wake; `answered`: it was an answer to a question.
    pub state: &'static str,
    /// What it does, in the brain's words.
    pub changes: Vec<String>,
    /// What is worth knowing, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notes: Vec<String>,
}

/// What came of a run or a memory.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameRequest {
    /// The run, or a memory that was relied on.
    pub of: String,
    /// What came, in words.
    pub text: String,
    /// What that is worth, 0..=1.
    pub value: Option<f64>,
}

/// What the brain made of an outcome.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Came {
    /// The run that is judged.
    pub run: String,
    /// What it had expected, 0..=1; absent: it is not judged yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// What came minus that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// What is worth knowing, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notes: Vec<String>,
}

impl Desk {
    /// Answers a question of a deliberation that waits.
    ///
    /// # Errors
    /// No such question waits, or the answer is not of its form (2).
    pub fn answer(&self, client: &Client, question: &str, answer: &str) -> Result<Proposal, BrainError> {
        let brain = self.brain()?;
        if answer.len() > limits::DELTA_BYTES {
            return Err(BrainError::refused(format!("the answer has more than {} bytes", limits::DELTA_BYTES)));
        }
        brain.answer_handoff(question, answer, Some(&client.origin()))?;
        Ok(Proposal { run: question.to_owned(), state: "answered", changes: Vec::new(), notes: Vec::new() })
    }

    /// Applies a delta as a run of the client's agent. It waits on its branch unless the owner's definition of that agent lets it land.
    /// `what` names it in errors.
    ///
    /// # Errors
    /// A document that is none (exit code 5), is too large or by somebody else, or does what the agent may not (3).
    pub fn propose(&self, client: &Client, document: &[u8], what: &str) -> Result<Proposal, BrainError> {
        let brain = self.brain()?;
        if document.len() > limits::DELTA_BYTES {
            return Err(BrainError::refused(format!("{what} has more than {} bytes", limits::DELTA_BYTES)));
        }
        let secrets = &brain.cycle.shared.secrets;
        let notice = secrets.notice(document);
        let bytes = secrets.redact_json(document).unwrap_or_else(|| document.to_vec());
        let document = Document::parse(&bytes, what)?;
        let agent = client.agent();
        if let Some(other) = document.agent.as_ref().filter(|other| **other != agent) {
            return Err(BrainError::refused(format!("the delta says that it is by {other}, and {agent} proposes it")));
        }
        if document.ops.is_empty() {
            return Err(BrainError::Usage {
                message: "the delta has no operations".to_owned(),
                hint: Some("`read` with the id `delta` tells which there are".to_owned()),
            });
        }
        if let Some(same) = brain.proposed_already(&agent, &client.origin(), &document)? {
            return Ok(same);
        }
        // Where all of it stands on one line, lines tell nothing.
        let lines = if bytes.contains(&b'\n') { Document::lines(&bytes) } else { Vec::new() };
        let given =
            Given { document, bytes, lines, agent, reason: "by a client", cognition: client.class().to_owned() };
        let report = brain.apply_from(given, Some(&client.origin()), false, false)?;
        let mut notes = report.notes;
        notes.extend(notice);
        notes.extend(report.conflicts.iter().map(|conflict| format!("conflict: {conflict}")));
        if !report.merged {
            notes.push(format!("a person decides: git brain review {}", report.run));
        }
        let state = if report.merged { "landed" } else { "waits" };
        Ok(Proposal { run: report.run, state, changes: report.effects, notes }.bounded())
    }

    /// Says what came of a run, or of relying on a memory: a stimulus of the client's origin that answers it.
    ///
    /// # Errors
    /// No such run or memory, or a value that is out of range (exit code 2); a run that waits (3).
    pub fn outcome(&self, client: &Client, request: &CameRequest) -> Result<Came, BrainError> {
        // Before anything is written.
        check_value("value", request.value)?;
        if request.text.trim().is_empty() || request.text.len() > limits::STIMULUS_BYTES {
            return Err(BrainError::usage(format!("text says what came, in at most {} bytes", limits::STIMULUS_BYTES)));
        }
        let run = self.brain()?.run_behind(client, &request.of)?;
        let (brain, kept, _) = self.store(&FeedRequest {
            sources: vec![Source::Text(request.text.clone())],
            origin: Some(client.origin().to_string()),
            answers: Some(run.to_string()),
            value: request.value,
            // Words that were said before are an outcome again.
            again: true,
            ..FeedRequest::default()
        })?;
        let mut notes = kept.notes;
        let said = |text: Option<&str>| text.is_some_and(|text| text == request.text.trim());
        let entries = brain.entries_of(&run)?;
        let entry = entries.iter().find(|entry| said(entry.outcome.text.as_deref()));
        if entry.is_none() {
            notes.push("it is kept, and judged later".to_owned());
        }
        Ok(Came {
            run: run.to_string(),
            expected: entry.map(|entry| entry.prediction.value),
            error: entry.map(|entry| entry.error),
            notes,
        })
    }
}

impl Proposal {
    /// As many of the changes as an answer has room for, each cut to a line.
    fn bounded(mut self) -> Self {
        let all = self.changes.len();
        self.changes.truncate(limits::CLIENT_LINES);
        self.changes.iter_mut().for_each(|change| *change = super::clip(change));
        let more = |kept: usize| format!("… and {} more: `read` the run", all - kept);
        while !self.changes.is_empty() && cost(&self) + tokens(&more(0)) > limits::CLIENT_TOKENS {
            self.changes.pop();
        }
        let kept = self.changes.len();
        if kept < all {
            self.changes.push(more(kept));
        }
        self
    }
}

impl Brain {
    /// The waiting run by which an agent has proposed the same.
    fn proposed_already(
        &self,
        agent: &AgentName,
        origin: &Origin,
        document: &Document,
    ) -> Result<Option<Proposal>, BrainError> {
        // An id that the document does not say is made of the concept.
        let says_ids = document.ops.iter().any(|op| matches!(op, Operation::Create(op) if op.id.is_some()));
        let wanted = plain(&document.ops, says_ids);
        for (branch, tip, run) in self.cycle.branches_of_runs()? {
            if run.agent() != *agent {
                continue;
            }
            let Ok(waiting) = self.cycle.waiting_run(branch, tip, run) else { continue };
            let Ok(record) = self.cycle.waiting_record(&waiting) else { continue };
            if record.prediction == document.prediction
                && record.origin == *origin
                && plain(&record.ops, says_ids) == wanted
            {
                let proposal = Proposal {
                    changes: record.ops.iter().map(crate::review::belief::operation).collect(),
                    state: "waits",
                    notes: vec![format!("it was proposed before and waits: git brain review {}", waiting.run)],
                    run: waiting.run.to_string(),
                };
                return Ok(Some(proposal.bounded()));
            }
        }
        Ok(None)
    }

    /// The run of that id; for a memory, a new run of the client that relied on it: it predicts what the memory says, by the ways on which a
    /// recall finds it, and changes nothing.
    fn run_behind(&self, client: &Client, of: &str) -> Result<RunId, BrainError> {
        let id = of.split_once('@').map_or(of, |(id, _)| id);
        if let Ok(run) = RunId::parse(id) {
            return Ok(run);
        }
        let unknown = || BrainError::Absent {
            message: format!("{} is no run or memory here", super::clip(of)),
            hint: Some("`recall` cites memories, and `read` with `why` names their runs".to_owned()),
        };
        let id = NeuronId::parse(id).map_err(|_| unknown())?;
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        let neuron = network.neuron(&id)?.ok_or_else(unknown)?;
        let snapshot = self.snapshot_of(wake)?;
        let filters = Filters { top: Some(limits::CLIENT_MEMORIES), ..Filters::default() };
        let now = self.cycle.shared.world.now();
        let asked = Asker { now, tokens: None, own: None };
        let (found, _) = self.cycle.recall_fitting(wake, &snapshot, &neuron.concept, filters, asked, &mut |_, _| ())?;
        let pathway = ways(&snapshot.index(), found.iter().map(|one| &one.found).filter(|one| one.id == id));
        let agent = client.agent();
        let prediction = Prediction { text: Some(neuron.concept), pathway, ..Prediction::default() };
        let document = Document { agent: Some(agent.clone()), prediction: Some(prediction), ops: Vec::new() };
        let bytes = json::pretty(&document);
        let cognition = client.class().to_owned();
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: "relied on a memory", cognition };
        let report = self.apply_from(given, Some(&client.origin().and(&neuron.origin.passed_on())), false, false)?;
        RunId::parse(&report.run).map_err(|_| unknown())
    }
}

/// Operations as they are compared: a record says of a neuron that is made also its id and time, and has its connections behind it.
fn plain(ops: &[Operation], with_ids: bool) -> Vec<String> {
    let mut plain: Vec<String> = ops
        .iter()
        .map(|op| match op {
            Operation::Create(op) => {
                let id = op.id.clone().filter(|_| with_ids);
                json::inline(&Operation::Create(Create { id, at: None, ..op.clone() }))
            }
            op => json::inline(op),
        })
        .collect();
    plain.sort();
    plain
}
