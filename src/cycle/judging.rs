//! From the outcome of a run to the corrective delta: by a number, or by a program that compares two texts. A text that no program judges
//! is kept for a person.
//!
//! A program that judges sees both texts and not who wrote them: the [`Veil`] takes out all that tells, and puts it back into the answer.

use super::network::TreeNetwork;
use super::one_answer::{Wanted, bad_template};
use super::policy::EVALUATOR;
use super::{Cycle, CycleError, Member, ledger};
use crate::chemistry::dopamine::{self, Judgement};
use crate::cognition::reflex::evaluator::{Past, correct};
use crate::cognition::{Snapshot, llm};
use crate::delta::{Document, DocumentError, LedgerEntry, Method, Operation, RunRecord, Valued};
use crate::model::document::{Cognition, Goal};
use crate::model::ids::{AgentName, RunId};
use crate::model::settings::Learning;
use crate::model::{Kind, Signal, json};
use crate::store::CommitId;

/// The name that stands for whoever made a prediction.
const SOMEBODY: &str = "somebody";

/// A corrective delta, not applied yet.
#[derive(Clone, Debug)]
pub struct Corrective {
    /// The document, by the evaluator.
    pub document: Document,
    /// What it rests on.
    pub judgement: Judgement,
    /// Connections that learn from it.
    pub credited: usize,
    /// Entries about the same run among the newest of the ledger.
    pub earlier: usize,
    /// How it was thought out, for the run's record.
    pub cognition: String,
}

impl Cycle {
    /// The corrective delta for a run of the tree of `tip`. A text without a number is put to the brain's own `evaluator`, if that is a
    /// trusted program.
    ///
    /// # Errors
    /// There is nothing to judge by, or the program gives no answer that holds.
    pub fn corrective(
        &self,
        tip: CommitId,
        record: &RunRecord,
        value: Option<f64>,
        text: Option<&str>,
    ) -> Result<Corrective, CycleError> {
        let tree = self.store.tree_of(tip)?;
        let network = TreeNetwork::remembering(&self.store, tree, &self.shared.neurons);
        let learning = &self.shared.policy.settings.learning;
        let entries = ledger::newest(&self.store, tree, learning.history)?;
        let goals = super::goals::open(&self.store, tree)?;
        let earlier = entries.iter().filter(|entry| entry.judged == record.run).count();
        let looked = Looked { network: &network, ledger: &entries, goals: &goals, learning };
        if let (None, Some(text), Some(judge)) = (value, text, self.judge_of_texts()) {
            let document = self.ask_judge(judge, tip, record, text, &looked)?;
            let outcome = document.ops.iter().find_map(|op| match op {
                Operation::Outcome(op) => Some(op),
                _ => None,
            });
            let Some(outcome) = outcome.filter(|op| op.run == record.run) else {
                return Err(CycleError::refused(format!("{EVALUATOR} gave no outcome of {}", record.run)));
            };
            let judgement = Judgement {
                prediction: Valued::expected(record.prediction.as_ref()),
                assumed: record.prediction.as_ref().and_then(|p| p.value).is_none(),
                outcome: Valued { text: outcome.text.clone(), value: outcome.value },
                error: outcome.error,
                method: outcome.method,
            };
            let credited = credited(&document);
            let cognition = match &judge.agent.cognition {
                Cognition::Llm { model, .. } => format!("llm:{model}"),
                _ => "command:evaluator".to_owned(),
            };
            return Ok(Corrective { judgement, credited, earlier, cognition, document });
        }
        let judgement = dopamine::judge(record.prediction.as_ref(), value, text)
            .map_err(|why| CycleError::usage(why.to_string()))?;
        let verdict = looked.correct(record, &judgement);
        if let Some(error) = network.take_failure() {
            return Err(error);
        }
        let agent = Some(evaluator());
        let document = Document { agent, prediction: None, ops: verdict.ops };
        Ok(Corrective {
            document,
            judgement,
            credited: verdict.credited,
            earlier,
            cognition: "reflex:evaluator".to_owned(),
        })
    }

    /// The brain's own evaluator, if it is a program or a model that may judge here.
    fn judge_of_texts(&self) -> Option<&Member> {
        let member = self.shared.policy.agents.get(&evaluator()).filter(|member| member.trusted)?;
        matches!(member.agent.cognition, Cognition::Command { .. } | Cognition::Llm { .. }).then_some(member)
    }

    fn ask_judge(
        &self,
        member: &Member,
        tip: CommitId,
        record: &RunRecord,
        text: &str,
        looked: &Looked<'_>,
    ) -> Result<Document, CycleError> {
        let (agent, at) = (evaluator(), self.shared.world.now());
        let newest = self.newest_run(tip)?;
        let run = self.new_run_id(&agent, tip, newest.as_ref(), &[text.as_bytes()], 0)?;
        let signal = Signal {
            id: Signal::id_of(&run, 0),
            kind: Kind::Signal,
            from: record.agent.clone(),
            to: agent.clone(),
            run: record.run.clone(),
            created_at: at,
            payload: serde_json::json!({"kind": "outcome", "run": record.run, "text": text}),
        };
        let snapshot = Snapshot {
            run,
            agent,
            at,
            trigger: "signal outcome".to_owned(),
            stimuli: Vec::new(),
            signals: vec![signal],
            active: Vec::new(),
            flags: Vec::new(),
            answers: Vec::new(),
            raised: Vec::new(),
            agents: Vec::new(),
            neurons: Vec::new(),
            ledger: Vec::new(),
            goals: Vec::new(),
            counsel: Vec::new(),
        };
        let (snapshot, veil) = Veil::over(snapshot, looked.network)?;
        let mut document = match &member.agent.cognition {
            Cognition::Llm { model, repairs } => {
                let may = &member.agent.capabilities;
                let (template, path) = Self::template(Some(member), llm::DEFAULT_TEMPLATE);
                let room = self.room_for(model)?.min(self.shared.policy.settings.context.tokens) as usize;
                let messages = llm::messages(&snapshot, may, template, room).map_err(|e| bad_template(path, e))?;
                let (form, roots) = (llm::form(&snapshot, may), &record.stimuli);
                let wanted = Wanted {
                    agent: &snapshot.agent,
                    model,
                    repairs: *repairs,
                    roots,
                    messages,
                    form,
                    temperature: None,
                    top_p: None,
                };
                self.one_answer(wanted, |text| {
                    let mut document = Document::parse(text.as_bytes(), "the answer of evaluator")?;
                    veil.work_out(&mut document);
                    veil.lift(document, looked)
                })?
            }
            program => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|e| CycleError::Busy(format!("cannot start a thread: {e}")))?;
                let asked = self.shared.ask(&snapshot.agent, &record.stimuli, program, json::pretty(&snapshot));
                let output =
                    runtime.block_on(asked)?.map_err(|exhausted| CycleError::Exhausted(exhausted.to_string()))?;
                let document = Document::parse(&output, "the delta of evaluator").map_err(|e| match e {
                    DocumentError::Json(e) => CycleError::Json(e),
                    limit => CycleError::Document(limit),
                })?;
                veil.lift(document, looked)?
            }
        };
        // Nobody sent a signal: there is nothing to answer.
        document.ops.retain(|op| !matches!(op, Operation::Acknowledge(_)));
        document.agent = Some(evaluator());
        Ok(document)
    }
}

fn evaluator() -> AgentName {
    AgentName::parse(EVALUATOR).expect("invariant: a constant name")
}

fn credited(document: &Document) -> usize {
    let edges = document.ops.iter().map(|op| match op {
        Operation::Reinforce(op) => op.pathway.len(),
        _ => 0,
    });
    edges.sum()
}

/// What a judgement is made with.
pub(super) struct Looked<'a> {
    pub network: &'a TreeNetwork<'a>,
    pub ledger: &'a [LedgerEntry],
    pub goals: &'a [Goal],
    pub learning: &'a Learning,
}

impl Looked<'_> {
    fn correct(&self, record: &RunRecord, judgement: &Judgement) -> crate::cognition::reflex::evaluator::Verdict {
        let past = Past { ledger: self.ledger, goals: self.goals };
        correct(record, judgement, past, self.network, self.learning)
    }
}

/// What a judging program does not see, and what stands for it.
pub(super) struct Veil {
    judged: Vec<Judged>,
}

/// A run that is judged.
struct Judged {
    /// The same id, by [`SOMEBODY`].
    shown: RunId,
    record: RunRecord,
    /// The outcome in words.
    text: Option<String>,
}

impl Veil {
    /// Takes out of a snapshot all that tells who predicted or who says what came: senders, runs, other agents, and the network. A signal
    /// of an outcome gets both texts instead; others keep their kind alone.
    pub(super) fn over(mut snapshot: Snapshot, network: &TreeNetwork<'_>) -> Result<(Snapshot, Self), CycleError> {
        let mut judged = Vec::new();
        snapshot.agents.retain(|agent| agent.name == snapshot.agent);
        snapshot.neurons.clear();
        snapshot.active.clear();
        snapshot.ledger.clear();
        snapshot.goals.clear();
        for signal in &mut snapshot.signals {
            let run = signal.payload.get("run").and_then(|run| RunId::parse(run.as_str()?).ok());
            let record = match run.filter(|_| signal.payload_kind() == Some("outcome")) {
                Some(run) => network.record(&run)?,
                None => None,
            };
            let payload = match &record {
                Some(record) => {
                    let text = signal.payload.get("text").and_then(|text| text.as_str());
                    let (shown, expected) = (veiled(&record.run), Valued::expected(record.prediction.as_ref()));
                    let payload = serde_json::json!({
                        "kind": "outcome", "run": shown, "prediction": expected,
                        "outcome": {"text": text, "value": signal.payload.get("value")},
                    });
                    judged.push(Judged { shown, record: record.clone(), text: text.map(str::to_owned) });
                    payload
                }
                None => serde_json::json!({"kind": signal.payload_kind()}),
            };
            signal.payload = payload;
            signal.from = AgentName::parse(SOMEBODY).expect("invariant: a constant name");
            signal.run = veiled(&signal.run);
        }
        Ok((snapshot, Self { judged }))
    }

    /// Works out the error of each outcome from its value and what was predicted: a model is asked what something is worth, and not to
    /// calculate.
    pub(super) fn work_out(&self, document: &mut Document) {
        for op in &mut document.ops {
            let Operation::Outcome(outcome) = op else { continue };
            if let Some(judged) = self.judged.iter().find(|judged| judged.shown == outcome.run) {
                outcome.error = dopamine::prediction_error(
                    outcome.value,
                    Valued::expected(judged.record.prediction.as_ref()).value,
                );
            }
        }
    }

    /// Puts the runs back into what a program answered. An outcome without `reinforce` gets what follows from it.
    pub(super) fn lift(&self, mut document: Document, looked: &Looked<'_>) -> Result<Document, CycleError> {
        let corrected = document.ops.iter().any(|op| matches!(op, Operation::Reinforce(_)));
        let mut ops = Vec::with_capacity(document.ops.len());
        for op in document.ops {
            let Operation::Outcome(mut outcome) = op else {
                ops.push(op);
                continue;
            };
            let Some(judged) = self.judged.iter().find(|judged| judged.shown == outcome.run) else {
                return Err(CycleError::refused(format!("{} was not to be judged", outcome.run)));
            };
            outcome.run = judged.record.run.clone();
            outcome.method = Method::Model;
            outcome.text = outcome.text.take().or_else(|| judged.text.clone());
            if corrected {
                ops.push(Operation::Outcome(outcome));
                continue;
            }
            let judgement = Judgement {
                prediction: Valued::expected(judged.record.prediction.as_ref()),
                assumed: judged.record.prediction.as_ref().and_then(|p| p.value).is_none(),
                outcome: Valued { text: outcome.text, value: outcome.value },
                error: outcome.error,
                method: outcome.method,
            };
            ops.extend(looked.correct(&judged.record, &judgement).ops);
        }
        document.ops = ops;
        match looked.network.take_failure() {
            Some(error) => Err(error),
            None => Ok(document),
        }
    }
}

/// A run's id without its agent's name.
fn veiled(run: &RunId) -> RunId {
    let agent = run.agent();
    let stem = run.as_str().strip_suffix(agent.as_str()).expect("invariant: a run's id ends with its agent");
    RunId::parse(&format!("{stem}{SOMEBODY}")).expect("invariant: another agent makes another run id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veiled_run_keeps_its_time_and_loses_its_agent() {
        let run = RunId::parse("20260126t143200123z-abcd2345-decision").unwrap();
        assert_eq!(veiled(&run).as_str(), "20260126t143200123z-abcd2345-somebody");
        assert_eq!(veiled(&run).unix_ms(), run.unix_ms());
    }
}
