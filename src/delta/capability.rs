//! Capabilities: what an agent's deltas may do. The engine checks every operation against them, whatever the cognition
//! says; people need none.

use crate::delta::Operation;
use crate::model::Kind;
use crate::model::document::Capabilities;
use crate::model::ids::AgentName;

/// The capabilities of one agent, ready to check operations against. The errors are sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    agent: AgentName,
    capabilities: Capabilities,
}

impl Limits {
    /// The limits of that agent.
    pub fn of(agent: &AgentName, capabilities: &Capabilities) -> Self {
        Self { agent: agent.clone(), capabilities: capabilities.clone() }
    }

    /// May it use that operation?
    pub fn check_operation(&self, op: &Operation) -> Result<(), String> {
        if self.capabilities.operations.iter().any(|name| name == op.name()) {
            return Ok(());
        }
        Err(format!("the agent {} may not {}", self.agent, op.name()))
    }

    /// May it make or change neurons of that type?
    pub fn check_kind(&self, kind: Kind) -> Result<(), String> {
        if self.capabilities.types.contains(&kind) {
            return Ok(());
        }
        Err(format!("the agent {} may not change {kind} neurons", self.agent))
    }

    /// May it change a weight by that much?
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
}
