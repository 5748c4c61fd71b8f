//! `goal`: what all of it is for. People set terminal goals; the evaluator sets what serves them.

use serde::Serialize;

use super::write::Given;
use super::{Brain, BrainError, HUMAN};
use crate::cycle::goals;
use crate::cycle::network::TreeNetwork;
use crate::delta::operation::SetGoal;
use crate::delta::{Document, Operation};
use crate::model::document::{Goal, GoalLevel, GoalState};
use crate::model::ids::{AgentName, GoalId, NeuronId};
use crate::model::json;
use crate::model::neuron::check_concept;

/// All goals.
#[derive(Clone, Debug, Serialize)]
pub struct GoalsReport {
    /// By id.
    pub goals: Vec<Goal>,
}

/// A goal that was set.
#[derive(Clone, Debug, Serialize)]
pub struct GoalReport {
    /// The goal.
    pub goal: String,
    /// How it stands now.
    pub state: GoalState,
    /// The run that set it.
    pub run: String,
    /// Its commit; null with `--dry-run`.
    pub commit: Option<String>,
    /// Whether it is in wake.
    pub merged: bool,
    /// Wake's tip.
    pub wake: String,
    /// Sentences for people, such as one about a secret that was taken out.
    pub notes: Vec<String>,
}

impl Brain {
    /// All goals of a revision, wake's tip by default.
    ///
    /// # Errors
    /// A goal that cannot be read (exit code 5), a revision that names no commit (2).
    pub fn goals(&self, at: Option<&str>) -> Result<GoalsReport, BrainError> {
        let store = &self.cycle.store;
        Ok(GoalsReport { goals: goals::all(store, store.tree_of(self.at(at)?)?)? })
    }

    /// Sets a terminal goal, as a run of yours. One with that text is opened again.
    ///
    /// # Errors
    /// A text that is none (exit code 2), a neuron that is not there (3).
    pub fn add_goal(&self, text: &str, neuron: Option<&str>, dry_run: bool) -> Result<GoalReport, BrainError> {
        check_concept(text).map_err(|why| BrainError::usage(format!("the goal {why}")))?;
        let neuron = neuron.map(NeuronId::parse).transpose().map_err(|e| BrainError::usage(e.to_string()))?;
        if let Some(id) = &neuron
            && TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?).neuron(id)?.is_none()
        {
            return Err(BrainError::Refused {
                message: format!("there is no neuron {id}"),
                hint: Some(format!("`git brain find {id}` finds concepts by their words, with their ids")),
            });
        }
        // Its id is made of its text.
        let (clean, notice) =
            (self.cycle.shared.secrets.redact(text), self.cycle.shared.secrets.notice(text.as_bytes()));
        let (level, state) = (GoalLevel::Terminal, GoalState::Open);
        let no_neuron = neuron.is_none().then(|| {
            "it stands for no neuron, so no decision counts it: `git brain goal add TEXT --neuron ID` names one"
                .to_owned()
        });
        let goal = SetGoal { id: None, text: clean.into_owned(), level, neuron, parent: None, state };
        let mut report = self.set_goal(goal, dry_run)?;
        report.notes.extend(notice);
        report.notes.extend(no_neuron);
        Ok(report)
    }

    /// Closes a goal, as a run of yours. What you closed, no agent opens again.
    ///
    /// # Errors
    /// There is no such goal (exit code 2).
    pub fn close_goal(&self, id: &str, state: GoalState, dry_run: bool) -> Result<GoalReport, BrainError> {
        let id = GoalId::parse(id).map_err(|e| BrainError::usage(e.to_string()))?;
        let Some(goal) = self.goals(None)?.goals.into_iter().find(|goal| goal.id == id) else {
            return Err(BrainError::Usage {
                message: format!("there is no goal {id}"),
                hint: Some("`git brain goal list` shows all".to_owned()),
            });
        };
        let Goal { id, text, level, neuron, parent, .. } = goal;
        self.set_goal(SetGoal { id: Some(id), text, level, neuron, parent, state }, dry_run)
    }

    fn set_goal(&self, op: SetGoal, dry_run: bool) -> Result<GoalReport, BrainError> {
        let goal = op.id.clone().unwrap_or_else(|| Goal::id_of(&op.text)).to_string();
        let state = op.state;
        let agent = AgentName::parse(HUMAN).expect("invariant: a valid name");
        let document = Document { agent: Some(agent.clone()), prediction: None, ops: vec![Operation::Goal(op)] };
        let bytes = json::pretty(&document);
        let given =
            Given { document, bytes, lines: Vec::new(), agent, reason: "by hand", cognition: "apply".to_owned() };
        let applied = self.apply_given(given, false, dry_run)?;
        let (run, commit, merged, wake) = (applied.run, applied.commit, applied.merged, applied.wake);
        Ok(GoalReport { goal, state, run, commit, merged, wake, notes: applied.notes })
    }
}
