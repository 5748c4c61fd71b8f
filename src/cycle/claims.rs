//! Texts and signals that runs on branches have perceived and answered: nobody is asked for them again while those wait.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::trailers::ANSWERS;
use super::{Cycle, CycleError};
use crate::model::Stimulus;
use crate::model::ids::{AgentName, SignalId, StimulusId};
use crate::store::Commit;

/// Stimuli that runs on waiting branches have consumed.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Those of any agent.
    pub all: HashSet<StimulusId>,
    /// Those of each.
    by: BTreeMap<AgentName, HashSet<StimulusId>>,
}

impl Cycle {
    /// Stimuli that runs on waiting branches have consumed: they are not due again, whatever the queue of wake says.
    pub fn claimed_stimuli(&self) -> Result<Claims, CycleError> {
        let mut claims = Claims::default();
        self.each_claim(&mut |_, commit| {
            let stimuli = || commit.trailer_values("Stimulus").filter_map(|id| StimulusId::parse(id).ok());
            claims.all.extend(stimuli());
            if let Some(agent) = commit.agent() {
                claims.by.entry(agent).or_default().extend(stimuli());
            }
        })?;
        Ok(claims)
    }

    /// The stimuli of a queue that are due for an agent: those that no run on a branch has consumed. A reflex, which costs nothing, passes over its own
    /// alone: where its run is gone and another agent's waits, it perceives the text all the same.
    pub(super) fn unclaimed(&self, queue: &[Arc<Stimulus>], claims: &Claims, agent: &AgentName) -> Vec<Arc<Stimulus>> {
        let none = HashSet::new();
        let claimed = match self.reflex(agent) {
            Some(_) => claims.by.get(agent).unwrap_or(&none),
            None => &claims.all,
        };
        queue.iter().filter(|stimulus| !claimed.contains(&stimulus.id)).cloned().collect()
    }

    /// Signals to an agent that runs of it which wait for a person have answered, each with that run.
    pub fn claimed_signals(&self, agent: &AgentName) -> Result<BTreeMap<SignalId, String>, CycleError> {
        let mut claimed = BTreeMap::new();
        self.each_claim(&mut |run, commit| {
            if commit.agent().is_some_and(|by| by == *agent) {
                let answered = commit.trailer_values(ANSWERS).filter_map(|id| SignalId::parse(id).ok());
                claimed.extend(answered.map(|id| (id, run.to_owned())));
            }
        })?;
        Ok(claimed)
    }

    /// The own commits of runs on branches, each with its run.
    fn each_claim(&self, see: &mut dyn FnMut(&str, &Commit)) -> Result<(), CycleError> {
        for (branch, tip) in self.run_branches()? {
            let run = branch.as_str().rsplit('/').next().unwrap_or_default();
            let of_run = |commit: &Commit| commit.trailer_values("Run").any(|named| named == run);
            let tip = self.store.commit(tip)?;
            if of_run(&tip) {
                see(run, &tip);
            } else if let Some(below) = tip.parents.first() {
                // A note about a conflict lies above the run's own commit.
                Some(self.store.commit(*below)?).filter(of_run).iter().for_each(|commit| see(run, commit));
            }
        }
        Ok(())
    }
}
