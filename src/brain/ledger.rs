//! `ledger`: what runs expected beside what came of it, and how well each agent knows itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Brain, BrainError, StoryView};
use crate::chemistry::dopamine::{Calibration, calibration};
use crate::cycle::ledger::{each_from_newest, newest, states_value, taken_back, without_outcome};
use crate::delta::{LedgerEntry, Method, render};
use crate::limits;
use crate::model::ids::{AgentName, HUMAN, RunId};

/// The ledger.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerReport {
    /// The newest entries, newest first.
    pub entries: Vec<LedgerEntry>,
    /// Each agent's predictions, by name.
    pub agents: Vec<AgentCalibration>,
    /// All of them; null if there are none.
    pub all: Option<Calibration>,
    /// How many entries the figures rest on: the newest, at most [`limits::LEDGER_ENTRIES`].
    pub considered: usize,
    /// Runs with an outcome in words that nobody has judged yet, of these.
    pub unjudged: usize,
    /// Whether there are older ones.
    pub older: bool,
    /// Of the entries, the corrective runs of those whose run stated no value: .5 stands for it.
    pub unstated: BTreeSet<RunId>,
    /// By agent, the runs that expected something and have no outcome yet, of the newest [`limits::LEDGER_ENTRIES`] runs.
    pub without_outcome: BTreeMap<AgentName, usize>,
}

/// The predictions of one agent beside what came.
#[derive(Clone, Debug, Serialize)]
pub struct AgentCalibration {
    /// Its name.
    pub agent: String,
    /// Its figures.
    #[serde(flatten)]
    pub calibration: Calibration,
}

/// The newest of the ledger beside the newest of the story, for a page.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LedgerView {
    /// The commit in which both were read.
    pub at: String,
    /// The newest judgements, newest first.
    pub entries: Vec<Judgement>,
    /// The newest chapter, or before the first sleep what would be told now; null: there is nothing to tell of.
    pub story: Option<StoryView>,
}

/// A judgement without its pathway, its texts cut to a line.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Judgement {
    /// The run that was judged.
    pub judged: String,
    /// Its agent.
    pub agent: String,
    /// The clock of the judgement.
    pub at: String,
    /// The value that was expected, 0..=1.
    pub expected: f64,
    /// The expectation in words.
    pub expected_text: Option<String>,
    /// The value of the outcome, 0..=1.
    pub came: f64,
    /// The outcome in words.
    pub came_text: Option<String>,
    /// The outcome less the expectation, -1..=1.
    pub error: f64,
}

impl From<&LedgerEntry> for Judgement {
    fn from(entry: &LedgerEntry) -> Self {
        let cut = |text: &Option<String>| text.as_deref().map(render::clip);
        Self {
            judged: entry.judged.to_string(),
            agent: entry.agent.to_string(),
            at: entry.at.to_string(),
            expected: entry.prediction.value,
            expected_text: cut(&entry.prediction.text),
            came: entry.outcome.value,
            came_text: cut(&entry.outcome.text),
            error: entry.error,
        }
    }
}

impl Brain {
    /// The newest judgements, at most `number`, beside the newest of the story.
    ///
    /// # Errors
    /// An entry that cannot be read (exit code 5), a revision that names no commit (2).
    pub fn ledger_view(&self, number: usize, at: Option<&str>) -> Result<LedgerView, BrainError> {
        let commit = self.at(at)?;
        let tree = self.cycle.store.tree_of(commit)?;
        let entries = newest(&self.cycle.store, tree, number)?;
        Ok(LedgerView {
            at: commit.to_string(),
            entries: entries.iter().map(Judgement::from).collect(),
            story: self.story_view(tree)?,
        })
    }

    /// The newest entries of the ledger, and the calibration of predictions; of one agent, if one is named. Without those that were taken
    /// back; if asked for, only outcomes that nobody has judged yet.
    ///
    /// # Errors
    /// An entry that cannot be read (exit code 5), a revision that names no commit (2), an agent that nobody knows (2).
    pub fn ledger(
        &self,
        number: usize,
        agent: Option<&str>,
        unjudged: bool,
        at: Option<&str>,
    ) -> Result<LedgerReport, BrainError> {
        let agent = agent.map(AgentName::parse).transpose().map_err(|e| BrainError::usage(e.to_string()))?;
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(at)?)?;
        let (mut entries, mut seen, mut older) = (Vec::new(), 0, false);
        each_from_newest(store, tree, &mut |_, entry: LedgerEntry| {
            older = seen == limits::LEDGER_ENTRIES;
            seen += 1;
            if !older && agent.as_ref().is_none_or(|wanted| *wanted == entry.agent) {
                entries.push(entry);
            }
            !older
        })?;
        let back = taken_back(store, tree, entries.last().map(|entry: &LedgerEntry| &entry.run))?;
        entries.retain(|entry| !back.contains(&entry.run));
        // Newest first: what was judged after its words waits no more.
        let mut judged = BTreeSet::new();
        let mut waiting = BTreeSet::new();
        for entry in &entries {
            if entry.method.is_value() {
                judged.insert(&entry.judged);
            } else if entry.method == Method::Unjudged && !judged.contains(&entry.judged) {
                waiting.insert(entry.run.clone());
            }
        }
        let mut by_agent: BTreeMap<&AgentName, Vec<(&LedgerEntry, bool)>> = BTreeMap::new();
        let mut unstated = BTreeSet::new();
        for entry in entries.iter().filter(|entry| entry.method != Method::Unjudged) {
            let is_stated = states_value(store, tree, entry)?;
            if !is_stated {
                unstated.insert(entry.run.clone());
            }
            by_agent.entry(&entry.agent).or_default().push((entry, is_stated));
        }
        let all = calibration(by_agent.values().flatten().copied());
        let figures = |(agent, entries): (&AgentName, Vec<(&LedgerEntry, bool)>)| {
            calibration(entries).map(|calibration| AgentCalibration { agent: agent.to_string(), calibration })
        };
        let agents: Vec<AgentCalibration> = by_agent.into_iter().filter_map(figures).collect();
        let considered = entries.len();
        let has_outcome = entries.iter().map(|entry| entry.judged.clone()).collect();
        let mut without_outcome = without_outcome(store, tree, limits::LEDGER_ENTRIES, &has_outcome)?;
        without_outcome.retain(|name, _| agent.as_ref().is_none_or(|wanted| wanted == name));
        let known = &self.cycle.shared.policy.agents;
        if let Some(name) = agent.filter(|name| {
            let is_there = known.contains_key(name) || name.as_str() == HUMAN || !without_outcome.is_empty();
            considered == 0 && !is_there
        }) {
            return Err(BrainError::Usage {
                message: format!("--agent {name}: there is no such agent, and nothing by it in the ledger"),
                hint: Some(format!("there are {}", known.keys().map(AgentName::as_str).collect::<Vec<_>>().join(", "))),
            });
        }
        if unjudged {
            entries.retain(|entry| waiting.contains(&entry.run));
        }
        entries.truncate(number);
        unstated.retain(|run| entries.iter().any(|entry| entry.run == *run));
        let unjudged = waiting.len();
        Ok(LedgerReport { entries, agents, all, considered, unjudged, older, unstated, without_outcome })
    }
}
