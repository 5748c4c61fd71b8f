//! Answers of a run to signals, which a person lets in by a run of his own. Place in the flow: a decision → **answers** → what lands.

use super::BrainError;
use crate::cycle::commit::Draft;
use crate::cycle::network::TreeNetwork;
use crate::delta::{Applied, Lookup, Operation};
use crate::model::Acknowledgement;
use crate::model::ids::AgentName;

/// Adds answers to signals of an agent to what a person's run does.
pub(super) fn answer_for(
    agent: &AgentName,
    answers: &[Operation],
    draft: &Draft,
    network: &TreeNetwork<'_>,
    applied: &mut Applied,
) -> Result<(), BrainError> {
    for op in answers {
        let Operation::Acknowledge(answer) = op else { continue };
        let Some((signal, is_answered)) = network.signal(agent, &answer.signal)? else {
            return Err(BrainError::refused(format!("there is no signal {} to {agent}", answer.signal)));
        };
        if !is_answered {
            applied.acknowledgements.push(Acknowledgement {
                signal: signal.id,
                by: agent.clone(),
                run: draft.run.clone(),
                created_at: draft.clock,
                payload: answer.payload.clone(),
            });
        }
    }
    Ok(())
}

/// Whether an operation lands by a reviewer's hand: what answers a signal is kept with the run itself.
pub(super) fn lands(op: &Operation) -> bool {
    !matches!(op, Operation::Acknowledge(_))
}
