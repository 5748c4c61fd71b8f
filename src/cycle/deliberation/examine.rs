//! The gates of a candidate: the bench, and the programs of the settings.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Question;
use super::bench::Bench;
use super::minds::run_program;
use super::programs::Programs;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::forest::Forest;
use crate::deliberation::gates::{ALIGNMENT, ExecutionMode, GATES, GateRecord, GateResult, judge};
use crate::deliberation::record::ResultRecord;
use crate::deliberation::verdict::{Proposal, is_object};
use crate::model::deliberation::{Deliberation, UserGate};
use crate::model::ids::{concept_id, hash_fields};

/// The grounds on which a candidate is examined.
pub(super) struct Examined<'a> {
    pub question: &'a Question,
    pub settings: &'a Deliberation,
    pub before: &'a Forest,
    pub programs: &'a Programs,
    /// The hash of what the gates see.
    pub evidence: &'a str,
}

impl Cycle {
    /// The verdicts of the gates on a proposal on one tree. Nothing is written, and no mind is asked: the gate of alignment is not answered.
    ///
    /// # Errors
    /// Programs that are not trusted here; files that cannot be read; a topic that no memory is about.
    pub fn gates_of(&self, question: &Question, proposal: &Proposal) -> Result<GateRecord, CycleError> {
        let settings = self.deliberation_of_main()?;
        let wake = self.store.need_tip(self.store.wake())?;
        let mut past = self.cycles_of(self.store.tree_of(wake)?, &question.goal)?;
        let (before, _) = self.forest_after(&question.goal, &mut past, false)?;
        self.gates_beside(question, proposal, &before, settings.gates.brain)
    }

    fn gates_beside(
        &self,
        question: &Question,
        proposal: &Proposal,
        before: &Forest,
        needs_memories: bool,
    ) -> Result<GateRecord, CycleError> {
        let settings = self.deliberation_of_main()?;
        if !settings.gate.is_empty() {
            self.shared.policy.require_trusted_programs()?;
        }
        let [title] = question.trees.as_slice() else {
            return Err(CycleError::Usage { message: "one tree is examined on: --trees TOPIC".to_owned(), hint: None });
        };
        let wake = self.store.need_tip(self.store.wake())?;
        let bench = Bench::of(self, wake, title, (question.run.clone(), question.limits.clone()))?;
        if needs_memories {
            bench.need_memories(title)?;
        }
        let tree = concept_id(title).to_string();
        let programs = self.programs_of(&settings)?;
        let evidence = programs.evidence_of(&bench.evidence.hash(), &settings);
        let examined = Examined { question, settings: &settings, before, programs: &programs, evidence: &evidence };
        self.examine(&examined, &bench, &tree, proposal)
    }

    /// Measures a result again that another process measured, beside no other fruit.
    pub fn measured_again(&self, question: &Question, result: &ResultRecord) -> Result<GateRecord, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        let trees = vec![self.title_of(wake, &result.tree)?];
        self.gates_beside(&Question { trees, ..question.clone() }, &result.proposal, &Forest::default(), false)
    }

    /// The gates of a candidate: those that measure it on the brain, unless the goal has its own alone, and the programs of the settings.
    pub(super) fn examine(
        &self,
        job: &Examined<'_>,
        bench: &Bench<'_>,
        tree: &str,
        proposal: &Proposal,
    ) -> Result<GateRecord, CycleError> {
        let (domain, candidate) = (format!("{tree}@{}", job.evidence), proposal.key());
        // Another cycle, or another goal, is no other throw of the dice.
        let seed = hash_fields(&[domain.as_bytes(), candidate.as_bytes()]);
        let mut record = if job.settings.gates.brain {
            let promoted: Vec<&Value> = job.before.promoted().collect();
            let measured = bench.measure(&proposal.payload, &promoted, job.settings.gates.random, seed);
            judge(&measured, &job.settings.gates, domain, candidate, seed)
        } else {
            let asked = GATES.iter().filter(|(name, ..)| *name == ALIGNMENT).map(|(name, ..)| (*name).to_owned());
            GateRecord {
                domain,
                candidate,
                asked: asked.collect(),
                gates: Vec::new(),
                execution_mode: ExecutionMode::ToolExecuted,
            }
        };
        for gate in &job.settings.gate {
            record.asked.push(gate.name.clone());
            record.gates.push(self.ask_gate(job, gate, tree, proposal)?);
        }
        Ok(record)
    }

    /// Asks a gate that is a program, as it was when it was hashed. One that fails, takes too long or says something else has not passed the candidate.
    pub(super) fn ask_gate(
        &self,
        job: &Examined<'_>,
        gate: &UserGate,
        tree: &str,
        proposal: &Proposal,
    ) -> Result<GateResult, CycleError> {
        self.by_the_same(job.programs, job.settings, || self.run_gate(job, gate, tree, proposal))
    }

    fn run_gate(
        &self,
        job: &Examined<'_>,
        gate: &UserGate,
        tree: &str,
        proposal: &Proposal,
    ) -> Result<GateResult, CycleError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Answer {
            passed: bool,
            figure: Option<f64>,
            #[serde(default)]
            threshold: f64,
            #[serde(default)]
            note: String,
        }
        let input = json!({"goal": job.question.goal, "tree": tree, "candidate": proposal.key(), "proposal": proposal});
        let agent = job.question.run.agent();
        let failed = |note: String| GateResult {
            name: gate.name.clone(),
            hard: gate.hard,
            passed: false,
            figure: None,
            threshold: 0.0,
            note: note.chars().take(300).collect(),
            broken: true,
        };
        let said = match run_program(self, &agent, &gate.argv, &gate.reads, gate.timeout_ms, &input) {
            Ok(said) => said,
            Err(error @ (CycleError::Exhausted(_) | CycleError::Store(_) | CycleError::Busy(_))) => return Err(error),
            Err(error) => return Ok(failed(error.to_string())),
        };
        if !is_object(&said) {
            return Ok(failed("its answer is no object".to_owned()));
        }
        Ok(match serde_json::from_slice::<Answer>(&said) {
            Ok(answer) if answer.figure.is_none_or(f64::is_finite) => GateResult {
                passed: answer.passed,
                figure: answer.figure,
                threshold: answer.threshold,
                note: answer.note.chars().take(300).collect(),
                broken: false,
                ..failed(String::new())
            },
            Ok(_) => failed("its figure is no number".to_owned()),
            Err(error) => failed(format!("its answer is not of the form: {error}")),
        })
    }
}
