//! Capabilities: what an agent's deltas may do. The engine checks every operation against them, whatever the cognition
//! says; people need none.
//!
//! Nothing here looks further than at the neurons that the delta names: a region is told from an id, and what is one's own from the
//! neuron itself. Sums (of a weight's changes, of strengths, of new neurons) are those of one delta.

use std::collections::BTreeMap;

use crate::delta::Operation;
use crate::delta::operation::Create;
use crate::model::document::{Capabilities, Region};
use crate::model::ids::{self, AgentName, GoalId, NeuronId, RunId};
use crate::model::{Kind, Link, Neuron};

/// What decimal fractions lose when they are added up.
const TOLERANCE: f64 = 1e-9;

/// The capabilities of one agent, ready to check operations against. The errors are sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    agent: AgentName,
    capabilities: Capabilities,
}

/// What a delta has used so far of what is bounded as a sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    created: u32,
    strength: BTreeMap<NeuronId, f64>,
    total_strength: f64,
}

impl Limits {
    /// The limits of that agent.
    pub fn of(agent: &AgentName, capabilities: &Capabilities) -> Self {
        Self { agent: agent.clone(), capabilities: capabilities.clone() }
    }

    /// What the agent's definition says.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// May it use that operation, as far as the operation alone tells?
    pub fn check_operation(&self, op: &Operation) -> Result<(), String> {
        if !self.capabilities.operations.iter().any(|name| name == op.name()) {
            return Err(format!("the agent {} may not {}", self.agent, op.name()));
        }
        match op {
            Operation::Signal(op) => self.check_name(&self.capabilities.signals_to, &op.to, "signal"),
            Operation::Flag(op) => self.check_name(&self.capabilities.flags, &op.name, "set the flag"),
            Operation::Outcome(op) => self.check_judged(&op.run),
            Operation::Create(op) => self.check_name_of(op),
            _ => Ok(()),
        }
    }

    fn check_name(&self, allowed: &Option<Vec<AgentName>>, name: &AgentName, what: &str) -> Result<(), String> {
        match allowed {
            Some(names) if !names.contains(name) => Err(format!("the agent {} may not {what} {name}", self.agent)),
            _ => Ok(()),
        }
    }

    /// Nobody judges himself: he would only ever be right.
    fn check_judged(&self, run: &RunId) -> Result<(), String> {
        let judged = run.agent();
        if judged == self.agent {
            return Err(format!("the agent {} may not judge its own runs", self.agent));
        }
        self.check_name(&self.capabilities.judges, &judged, "judge the runs of")
    }

    /// An id with a hash in it stands for what was hashed. Under another concept it would keep the right one out.
    fn check_name_of(&self, op: &Create) -> Result<(), String> {
        let Some(id) = op.id.as_ref().filter(|id| ids::looks_derived(id)) else { return Ok(()) };
        let mut rightful =
            vec![ids::concept_id(&op.concept), ids::speaker_id(&op.concept), ids::session_id(&op.concept)];
        rightful.extend(op.stimulus.as_ref().map(ids::episode_id));
        if rightful.contains(id) {
            return Ok(());
        }
        Err(format!("the id {id} has the form of a derived one, and is not that of its concept"))
    }

    /// May it make or change neurons of that type?
    pub fn check_kind(&self, kind: Kind) -> Result<(), String> {
        if self.capabilities.types.contains(&kind) {
            return Ok(());
        }
        Err(format!("the agent {} may not change {kind} neurons", self.agent))
    }

    /// May it change that neuron? `None`: it is made now.
    pub fn check_region(&self, id: &NeuronId, neuron: Option<&Neuron>) -> Result<(), String> {
        self.check_place(&self.capabilities.regions, id, neuron, "change")
    }

    /// May it make or change a connection of that type to that neuron?
    ///
    /// What a connection of type `triggers` fires is changed by it, so its target has to lie in the regions.
    pub fn check_target(&self, id: &NeuronId, neuron: Option<&Neuron>, link: Link) -> Result<(), String> {
        if let Some(links) = &self.capabilities.links
            && !links.contains(&link)
        {
            return Err(format!("the agent {} may not change {link} connections", self.agent));
        }
        if link == Link::Triggers {
            self.check_region(id, neuron)?;
        }
        let allowed = self.capabilities.targets.as_ref().or(self.capabilities.regions.as_ref());
        self.check_place(&allowed.cloned(), id, neuron, "connect to")
    }

    fn check_place(
        &self,
        regions: &Option<Vec<Region>>,
        id: &NeuronId,
        neuron: Option<&Neuron>,
        what: &str,
    ) -> Result<(), String> {
        let Some(regions) = regions else { return Ok(()) };
        let named_by = |n: &Neuron| n.named_by.concept.run.as_ref().is_some_and(|run| run.agent() == self.agent);
        let own = neuron.is_none_or(named_by);
        if regions.iter().any(|region| region.has(id.as_str(), own)) {
            return Ok(());
        }
        Err(format!("the agent {} may not {what} {id}, which is outside its regions", self.agent))
    }

    /// May it set that sub-goal?
    pub fn check_goal(&self, id: &GoalId, own: bool) -> Result<(), String> {
        match &self.capabilities.goals {
            Some(goals) if !goals.iter().any(|region| region.has(id.as_str(), own)) => {
                Err(format!("the agent {} may not set the goal {id}", self.agent))
            }
            _ => Ok(()),
        }
    }

    /// May it change a weight by that much? It counts from before the delta, so that small steps add up.
    pub fn check_change(&self, change: i64) -> Result<(), String> {
        let max = i64::from(self.capabilities.max_weight_delta);
        if change.abs() <= max {
            return Ok(());
        }
        Err(format!("the agent {} may change a weight by {max}, not by {change}", self.agent))
    }

    /// May one delta have that many operations?
    pub fn check_count(&self, operations: usize) -> Result<(), String> {
        let max = self.capabilities.max_operations as usize;
        if operations <= max {
            return Ok(());
        }
        Err(format!("the agent {} may propose {max} operations, not {operations}", self.agent))
    }

    /// May it make one more neuron?
    pub fn check_created(&self, spent: &mut Spent) -> Result<(), String> {
        spent.created += 1;
        match self.capabilities.max_created {
            Some(max) if spent.created > max => {
                Err(format!("the agent {} may make {max} neurons in one delta", self.agent))
            }
            _ => Ok(()),
        }
    }

    /// May it activate that neuron by so much more, 0..=1? What its operations bring along counts.
    pub fn check_strength(&self, id: &NeuronId, strength: f64, spent: &mut Spent) -> Result<(), String> {
        let (max, max_total) = (self.capabilities.max_strength, self.capabilities.max_total_strength);
        if max.is_none() && max_total.is_none() {
            return Ok(());
        }
        let here = spent.strength.entry(id.clone()).or_default();
        *here += strength;
        spent.total_strength += strength;
        if let Some(max) = max.filter(|max| *here > max + TOLERANCE) {
            return Err(format!("the agent {} may activate a neuron by {max}, not {id} by {here}", self.agent));
        }
        if let Some(max) = max_total.filter(|max| spent.total_strength > max + TOLERANCE) {
            return Err(format!("the agent {} may activate by {max} in one delta, all neurons together", self.agent));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "capability_tests.rs"]
mod tests;
