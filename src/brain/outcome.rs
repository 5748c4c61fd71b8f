//! `outcome`: what came of a run, beside what it predicted; and what its pathway learns from the difference.

use serde::Serialize;

use super::inputs::Source;
use super::write::Given;
use super::{Brain, BrainError, FeedReport, FeedRequest};
use crate::cycle::EVALUATOR;
use crate::cycle::judging::Corrective;
use crate::cycle::ledger::each_from_newest;
use crate::cycle::network::TreeNetwork;
use crate::delta::{LedgerEntry, Method, OUTCOME, RunRecord, Valued};
use crate::merge::{Conflict, Decision};
use crate::model::ids::{AgentName, RunId};
use crate::model::neuron::check_concept;
use crate::model::{Origin, json};

/// What `outcome` is asked for: a value or a text or both.
#[derive(Clone, Debug, Default)]
pub struct OutcomeRequest {
    /// The run that is judged.
    pub run: String,
    /// What the outcome is worth, 0..=1.
    pub value: Option<f64>,
    /// The outcome in words.
    pub text: Option<String>,
    /// Leave the run on its branch, for review.
    pub no_merge: bool,
    /// Write nothing.
    pub dry_run: bool,
}

/// What `outcome` did.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeReport {
    /// The corrective run.
    pub run: String,
    /// The run that is judged.
    pub judged: String,
    /// What it expected.
    pub prediction: Valued,
    /// What came.
    pub outcome: Valued,
    /// What came minus what was expected.
    pub error: f64,
    /// How the outcome got its value.
    pub method: Method,
    /// Connections that learn from it.
    pub credited: usize,
    /// What it changes, rendered.
    pub changes: Vec<String>,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// Its branch; gone once it is merged.
    pub branch: String,
    /// Its commit; null with `--dry-run`.
    pub commit: Option<String>,
    /// Whether it is in wake.
    pub merged: bool,
    /// Wake's tip.
    pub wake: String,
    /// What the policy settled.
    pub decisions: Vec<Decision>,
    /// What it could not; the branch stays.
    pub conflicts: Vec<Conflict>,
}

impl Brain {
    /// Judges a run by its outcome, as one corrective run of the evaluator.
    ///
    /// # Errors
    /// No run of that name, no value or text or one out of range (exit code 2); a run that waits on its branch (3).
    pub fn outcome(&self, request: &OutcomeRequest) -> Result<OutcomeReport, BrainError> {
        self.outcome_from(request, None)
    }

    /// The same of an outcome that comes from elsewhere: its run, and all that it moves, has that origin.
    pub(super) fn outcome_from(
        &self,
        request: &OutcomeRequest,
        from: Option<&Origin>,
    ) -> Result<OutcomeReport, BrainError> {
        check_value("--value", request.value)?;
        if let Some(text) = &request.text {
            check_concept(text).map_err(|why| BrainError::usage(format!("--text {why}")))?;
        }
        let record = self.judged(&request.run)?;
        let text = request.text.as_deref().map(|text| self.cycle.shared.secrets.redact(text));
        let made = self.cycle.corrective(self.at(None)?, &record, request.value, text.as_deref())?;
        let Corrective { document, judgement, credited, earlier, cognition } = made;
        let agent = AgentName::parse(EVALUATOR).expect("invariant: a constant name");
        let bytes = json::pretty(&document);
        let given = Given { document, bytes, lines: Vec::new(), agent, reason: OUTCOME, cognition };
        let applied = self.apply_from(given, from, request.no_merge, request.dry_run)?;
        let mut notes = applied.notes;
        notes.extend(request.text.as_deref().and_then(|text| self.cycle.shared.secrets.notice(text.as_bytes())));
        if earlier > 0 {
            let times = if earlier == 1 { "once".to_owned() } else { format!("{earlier} times") };
            notes.push(format!("{} was judged {times} before; this counts beside it", record.run));
        }
        if judgement.method == Method::Unjudged {
            let run = &record.run;
            notes.push(format!(
                "words are no value: nothing learns from them until `git brain outcome {run} --value 0 to 1`, or until a trusted evaluator judges"
            ));
        }
        if credited == 0 && judgement.error != 0.0 {
            notes.push(format!("no connection is known that led to {}: nothing learns from it", record.run));
        }
        Ok(OutcomeReport {
            run: applied.run,
            judged: record.run.to_string(),
            prediction: judgement.prediction,
            outcome: judgement.outcome,
            error: judgement.error,
            method: judgement.method,
            credited,
            changes: applied.effects,
            notes,
            branch: applied.branch,
            commit: applied.commit,
            merged: applied.merged,
            wake: applied.wake,
            decisions: applied.decisions,
            conflicts: applied.conflicts,
        })
    }

    /// Says in a report of `feed` what became of the outcome that was fed. A text that was known already went to no agent: it is judged here.
    pub(super) fn say_what_came(
        &self,
        run: &str,
        request: &FeedRequest,
        report: &mut FeedReport,
    ) -> Result<(), BrainError> {
        let record = self.judged(run)?;
        let entries = self.entries_of(&record.run)?;
        let texts = request.sources.iter().filter_map(|source| match source {
            Source::Text(text) => Some(text),
            _ => None,
        });
        let said = |entry: &LedgerEntry, text: &str| entry.outcome.text.as_deref() == Some(text);
        let new = texts.clone().find(|text| !entries.iter().any(|entry| said(entry, text)));
        if let (true, Some(text)) = (report.stimuli.is_empty(), new) {
            let judged = OutcomeRequest {
                run: run.to_owned(),
                value: request.value,
                text: Some(text.clone()),
                ..OutcomeRequest::default()
            };
            // It is the word of who says it now, whoever said it before.
            let origin = self.claimed_origin(request.origin.as_deref())?;
            let from = Some(&origin).filter(|origin| **origin != Origin::local());
            report.ran.wake = self.outcome_from(&judged, from)?.wake;
        }
        if request.no_run && !report.stimuli.is_empty() {
            return Ok(());
        }
        let now = self.entries_of(&record.run)?;
        let ran = |entry: &LedgerEntry| report.ran.runs.iter().any(|line| line.run == entry.run.as_str());
        let is_new = now.first().is_some_and(ran);
        let note = match now.first() {
            Some(_) if !is_new && !report.stimuli.is_empty() => {
                format!(
                    "{run}: what you said is not judged yet; `git brain status` and `git brain signals --unanswered` show what waits"
                )
            }
            Some(entry) if entry.method == Method::Unjudged => {
                format!("{run}: the words are kept and teach nothing until `git brain outcome {run} --value 0 to 1`")
            }
            Some(entry) => format!(
                "{run}: expected {:.3}, came {:.3}, error {:+.3}",
                entry.prediction.value, entry.outcome.value, entry.error
            ),
            None => format!("{run} is not judged; `git brain outcome {run} --value 0 to 1` does it"),
        };
        report.ran.notes.push(note);
        if record.prediction.as_ref().and_then(|p| p.value).is_none() {
            report.ran.notes.push(format!("{run} had predicted no value: 0.5 is assumed"));
        }
        Ok(())
    }

    /// The entries about a run among the newest of the ledger, newest first.
    pub(super) fn entries_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, BrainError> {
        let store = &self.cycle.store;
        let (mut found, mut seen) = (Vec::new(), 0);
        each_from_newest(store, store.tree_of(self.at(None)?)?, &mut |_, entry| {
            seen += 1;
            found.extend(Some(entry).filter(|entry| entry.judged == *run));
            seen < self.cycle.shared.policy.settings.learning.history
        })?;
        Ok(found)
    }

    /// The record of a run that can be judged: it must be in wake.
    pub(super) fn judged(&self, name: &str) -> Result<RunRecord, BrainError> {
        let unknown = |message: String| BrainError::Absent {
            message,
            hint: Some("`git brain log` shows runs, and `recall --learn` names its own".to_owned()),
        };
        let run = RunId::parse(name).map_err(|e| unknown(e.to_string()))?;
        let store = &self.cycle.store;
        if let Some(record) = TreeNetwork::new(store, store.tree_of(self.at(None)?)?).record(&run)? {
            return Ok(record);
        }
        match store.tip(&crate::cycle::commit::branch_of(store.wake(), &run)?)? {
            Some(_) => Err(BrainError::Refused {
                message: format!("{run} waits on its branch"),
                hint: Some(format!("`git brain merge {run}` first: only merged runs can have outcomes")),
            }),
            None if store.has_remote()? => Err(BrainError::Absent {
                message: format!("there is no run {run} in wake"),
                hint: self.cycle.hint_of_unknown_run()?,
            }),
            None => Err(unknown(format!("there is no run {run} in wake"))),
        }
    }
}

/// Refuses a value that is none.
pub(super) fn check_value(name: &str, value: Option<f64>) -> Result<(), BrainError> {
    match value.filter(|value| !(0.0..=1.0).contains(value)) {
        Some(value) => Err(BrainError::usage(format!("{name} {value} is not between 0 and 1"))),
        None => Ok(()),
    }
}
