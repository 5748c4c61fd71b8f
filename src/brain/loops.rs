//! Whether the loops between agents are alive: when each ran last, what nobody has answered it, and what it waits for in vain.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Brain, BrainError};
use crate::limits;
use crate::model::document::Condition;
use crate::model::ids::{AgentName, NeuronId};
use crate::model::layout;
use crate::model::{Agent, Stamp};
use crate::store::{CommitId, TreeId};

/// An agent that has not run for so long while others did is quiet.
const QUIET_SECONDS: i64 = 86_400;

/// An agent's part in the loops.
#[derive(Clone, Debug, Serialize)]
pub struct AgentLoop {
    /// The agent.
    pub agent: String,
    /// When its newest run was committed, RFC 3339; null if it is not among the newest [`limits::LOOP_WALK`] of wake.
    pub last_run: Option<String>,
    /// Its trigger, a condition each: any one wakes it.
    pub waits_for: Vec<String>,
    /// Whether others have run since, for a day or longer, and it has not.
    pub quiet: bool,
    /// Signals to it that nobody has answered; null where there are too many signals to look at.
    pub unanswered: Option<usize>,
    /// Neurons whose activation its trigger waits for, and that do not exist.
    pub missing: Vec<String>,
}

impl Brain {
    /// The loops as they stand. Costs the newest commits of wake and, where any signal is unanswered, the signals.
    pub(super) fn loops(
        &self,
        wake: CommitId,
        signals: usize,
        unanswered: usize,
    ) -> Result<Vec<AgentLoop>, BrainError> {
        let store = &self.cycle.store;
        let policy = &self.cycle.shared.policy;
        let tree = store.tree_of(wake)?;
        let last = self.last_runs(wake)?;
        let open = match (unanswered, signals) {
            (0, _) => Some(BTreeMap::new()),
            (_, ..=limits::LOOP_SIGNALS) => Some(self.cycle.unanswered_since(None, wake)?),
            _ => None,
        };
        let newest = last.values().copied().max().unwrap_or(0);
        let mut loops = Vec::new();
        for member in policy.agents.values() {
            let name = &member.agent.name;
            loops.push(AgentLoop {
                agent: name.to_string(),
                last_run: last.get(name).map(|at| Stamp::from_unix(*at).to_string()),
                waits_for: member.agent.trigger.any.iter().map(ToString::to_string).collect(),
                quiet: last.get(name).is_none_or(|at| newest - at >= QUIET_SECONDS),
                unanswered: open.as_ref().map(|open| open.get(name).copied().unwrap_or(0)),
                missing: self.waits_in_vain(tree, &member.agent)?.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(loops)
    }

    /// When the newest run of each agent was committed, of those among the newest [`limits::LOOP_WALK`] of wake.
    pub(super) fn last_runs(&self, wake: CommitId) -> Result<BTreeMap<AgentName, i64>, BrainError> {
        let mut waiting: BTreeSet<&AgentName> = self.cycle.shared.policy.agents.keys().collect();
        let mut last = BTreeMap::new();
        for commit in self.cycle.store.first_parents(wake, None).take(limits::LOOP_WALK) {
            let commit = commit?;
            if let Some(agent) = commit.trailer("Agent").and_then(|name| AgentName::parse(name).ok())
                && waiting.remove(&agent)
            {
                last.insert(agent, commit.at);
            }
            if waiting.is_empty() {
                break;
            }
        }
        Ok(last)
    }

    /// Neurons that an agent's trigger waits for, and that a tree does not have.
    pub(super) fn waits_in_vain(&self, tree: TreeId, agent: &Agent) -> Result<Vec<NeuronId>, BrainError> {
        let mut missing = Vec::new();
        for condition in &agent.trigger.any {
            let Condition::Neuron { id, .. } = condition else { continue };
            if self.cycle.store.file(tree, &layout::neuron(id))?.is_none() && !missing.contains(id) {
                missing.push(id.clone());
            }
        }
        Ok(missing)
    }
}
