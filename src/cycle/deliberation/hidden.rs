//! Hidden gates that gave no answer: the coordinator asks them again by itself, because proposers are not told, and so propose the candidate no more.

use std::collections::BTreeMap;

use super::Job;
use super::examine::Examined;
use crate::cycle::{Cycle, CycleError};
use crate::deliberation::classes::classify;
use crate::deliberation::record::ResultRecord;
use crate::limits;

impl Cycle {
    /// The results of earlier cycles, measured by the same rules on the evidence of today, of which hidden gates that had given no answer give one now.
    pub(super) fn hidden_asked_again(
        &self,
        job: &Job<'_>,
        evidence: &BTreeMap<String, String>,
    ) -> Result<Vec<ResultRecord>, CycleError> {
        let mut newest: BTreeMap<&str, (&ResultRecord, &String)> = BTreeMap::new();
        for (_, cycle) in job.past.iter().filter(|(_, cycle)| cycle.rules == job.rules) {
            for result in &cycle.results {
                let today = evidence.get(&result.tree);
                if let Some(hash) = today.filter(|hash| cycle.evidence.get(&result.tree) == Some(*hash)) {
                    newest.insert(&result.key, (result, hash));
                }
            }
        }
        let mut open: Vec<_> = newest.into_values().filter(|(one, _)| one.lacks_hidden(job.settings)).collect();
        if !open.is_empty() {
            // Where many wait, each has its turn.
            let turn = job.before.cycle as usize % open.len();
            open.rotate_left(turn);
            open.truncate(limits::GATES_ASKED_AGAIN);
        }
        let mut again = Vec::new();
        for (result, hash) in open {
            let Some(mut record) = result.record.clone() else { continue };
            let (question, settings, before, programs) = (job.question, job.settings, job.before, job.programs);
            let by = Examined { question, settings, before, programs, evidence: hash };
            for gate in job.settings.gate.iter().filter(|gate| gate.hidden) {
                let said = record.gates.iter_mut().find(|said| said.name == gate.name && said.broken);
                if let Some(said) = said {
                    *said = self.ask_gate(&by, gate, &result.tree, &result.proposal)?;
                }
            }
            if record.gates.iter().filter(|gate| gate.broken).count() < broken_in(result) {
                let class = classify(&record, result.is_sick);
                let record = Some(record);
                again.push(ResultRecord { record, asked_again: true, class, risks: Vec::new(), ..result.clone() });
            }
        }
        Ok(again)
    }
}

fn broken_in(result: &ResultRecord) -> usize {
    result.record.iter().flat_map(|record| &record.gates).filter(|gate| gate.broken).count()
}
