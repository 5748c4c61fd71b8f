//! Thinking with a council: an agent's trigger convenes it, and its verdicts are the run.
//!
//! The record is kept before the run is committed, under an id that follows from what asked. So a process that is killed in between asks nobody a
//! second time: the next run of the agent finds the record and goes on.

use std::cmp::min;

use super::CycleError;
use super::commit::Committed;
use super::council::Convened;
use super::jobs::all_of;
use super::network::TreeNetwork;
use super::policy::HUMAN;
use super::spawn::Spawn;
use crate::cognition::council::{Asked, document, questions};
use crate::council::record::{Council, CouncilRecord};
use crate::cycle::Cycle;
use crate::model::Origin;
use crate::model::ids::{AgentName, NeuronId, RunId, hash_fields};
use crate::store::is_agents_address;

impl Spawn {
    /// Thinks with a council of main. Blocks until its members have answered.
    pub(super) fn with_council(&self, members: &str, timeout_s: u64) -> Result<Option<Committed>, CycleError> {
        let (cycle, store) = (self.cycle.whole()?, self.cycle.store()?);
        let shared = &self.cycle.shared;
        let network = TreeNetwork::remembering(&store, store.tree_of(self.tip)?, &shared.neurons);
        let snapshot = self.snapshot(&store, &network)?;
        let asked = questions(&snapshot);
        let may = shared.policy.agents.get(&self.job.agent).map(|member| member.agent.capabilities.clone());
        let may = may.unwrap_or_default();
        // Only who would lower a flag has to know whether others wait.
        let is_raised = may.flags.iter().flatten().next().is_some_and(|flag| snapshot.flags.contains(flag));
        // A run that nothing asks lowers the flag once people have answered.
        if asked.is_empty() && (!is_raised || !cycle.pending_councils()?.is_empty()) {
            return Err(CycleError::refused(format!("nothing asks the council of {}", self.job.agent)));
        }
        let (refused, asked): (Vec<Asked>, Vec<Asked>) = asked.into_iter().partition(|asked| asked.fault.is_some());
        let mut ruled = Vec::new();
        for asked in asked {
            let record = self.ruled(&cycle, &asked, members, timeout_s)?;
            ruled.push((asked, record));
        }
        let mut shown: Vec<Origin> = self.job.stimuli.iter().map(|stimulus| stimulus.origin.clone()).collect();
        let evidence = ruled.iter().flat_map(|(_, record)| &record.evidence);
        for id in evidence.filter_map(|id| NeuronId::parse(id).ok()) {
            shown.extend(network.neuron(&id)?.map(|neuron| neuron.origin));
        }
        let seen = all_of(shown);
        let ids: Vec<&str> = ruled.iter().map(|(_, record)| record.id.as_str()).collect();
        let waits = |council: &Council| !ids.contains(&council.record.id.as_str());
        let others_wait = is_raised && cycle.pending_councils()?.iter().any(waits);
        let document = document(&ruled, &refused, others_wait, &snapshot, &may);
        let Some(draft) = self.draft(document, seen)? else { return Ok(None) };
        let applied = draft.apply(&store, shared)?;
        draft.settle(&applied, &store, shared, true).map(Some)
    }

    /// The council on a question: held, and kept; or the one that was kept before this process was cut off.
    fn ruled(&self, cycle: &Cycle, asked: &Asked, members: &str, timeout_s: u64) -> Result<CouncilRecord, CycleError> {
        let (_, address) = cycle.store.user();
        if is_agents_address(&address) {
            return Err(CycleError::Refused {
                message: format!("{address} is an agent's address, and a council is kept under a person's"),
                hint: Some("`git config user.email` names the person whose machine asks".to_owned()),
            });
        }
        let person = AgentName::parse(HUMAN).expect("invariant: a name");
        let bits = hash_fields(&[b"council", self.job.agent.as_str().as_bytes(), asked.by.as_bytes()]);
        let at = min(asked.at.unix() * 1000, cycle.shared.world.now_ms());
        let council = RunId::new(at, bits >> 24, &person);
        let path = CouncilRecord::path_of(&council);
        if let Some(tip) = cycle.store.reviews()?
            && let Some(file) = cycle.store.file(cycle.store.tree_of(tip)?, &path)?
        {
            let record = CouncilRecord::decode(&cycle.store.read_file(file, &path)?, &path)?;
            if record.question == asked.question {
                return Ok(record);
            }
        }
        let record = cycle.hold_council(&Convened {
            council,
            question: &asked.question,
            document: Some(members).filter(|members| !members.is_empty()),
            timeout_ms: timeout_s.saturating_mul(1000),
            run: None,
            binds: false,
            cue: None,
            by: cycle.store.person(),
        })?;
        cycle.keep_council(&record)?;
        Ok(record)
    }
}
