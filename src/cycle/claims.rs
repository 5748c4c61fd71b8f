//! Texts and signals that runs on branches have perceived and answered: nobody is asked for them again while those wait.

use std::collections::BTreeMap;

use super::trailers::ANSWERS;
use super::{Cycle, CycleError};
use crate::model::ids::{AgentName, SignalId, StimulusId};
use crate::store::Commit;

impl Cycle {
    /// Stimuli that runs on waiting branches have consumed: they are not due again, whatever the queue of wake says.
    pub fn claimed_stimuli(&self) -> Result<Vec<StimulusId>, CycleError> {
        let mut claimed = Vec::new();
        self.each_claim(&mut |_, commit| {
            claimed.extend(commit.trailer_values("Stimulus").filter_map(|id| StimulusId::parse(id).ok()));
        })?;
        Ok(claimed)
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
