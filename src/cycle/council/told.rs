//! Outcomes of councils that are told of a run: of the one that the decision was, where a council thought for an agent, and of the one that it was about.

use std::collections::{BTreeMap, BTreeSet};

use crate::cognition::council::{decided_in, is_expectation};
use crate::council::record::Council;
use crate::council::vote::Decision;
use crate::cycle::network::TreeNetwork;
use crate::cycle::{Cycle, CycleError, ledger};
use crate::delta::UNSTATED;
use crate::limits;
use crate::model::ids::RunId;

impl Cycle {
    /// Says of councils whether their decisions turned out right by the newest outcome of their runs. An outcome of an origin that is not trusted says
    /// nothing, and neither does one of a half. Where main names reviewers, what they say of the council itself counts alone.
    ///
    /// # Errors
    /// An entry or a record that cannot be read.
    pub fn tell_outcomes(&self, councils: &mut [Council]) -> Result<(), CycleError> {
        if councils.iter().all(|council| council.record.verdict.escalates()) {
            return Ok(());
        }
        // Who may not judge a council does not do it by one of its runs.
        if self.review_of_main()?.names_reviewers() {
            return Ok(());
        }
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::new(&self.store, tree);
        let origins = &self.shared.policy.settings.origins;
        let about: BTreeSet<RunId> = councils.iter().filter_map(|council| council.record.run.clone()).collect();
        let mut told: BTreeMap<String, Option<bool>> = BTreeMap::new();
        let mut of_runs: BTreeMap<RunId, Option<bool>> = BTreeMap::new();
        for entry in ledger::newest(&self.store, tree, limits::COUNCIL_HISTORY)? {
            let value = entry.outcome.value;
            let went_well = (value != UNSTATED).then_some(value > UNSTATED);
            let decided = match entry.prediction.text.as_deref().is_some_and(is_expectation) {
                true => network.record(&entry.judged)?.as_ref().and_then(decided_in).map(str::to_owned),
                false => None,
            };
            let is_new = decided.as_ref().is_some_and(|id| !told.contains_key(id));
            // That a run was let in or thrown away is no outcome of it: it is what the council decided.
            let is_about = about.contains(&entry.judged) && !of_runs.contains_key(&entry.judged);
            let is_of_run = is_about && !ledger::is_a_decision(&entry);
            if !is_new && !is_of_run {
                continue;
            }
            if network.origin_of(&entry.run)?.is_some_and(|origin| origins.is_tainted(&origin)) {
                continue;
            }
            if is_of_run {
                of_runs.insert(entry.judged.clone(), went_well);
            }
            if let Some(id) = decided.filter(|_| is_new) {
                told.insert(id, went_well);
            }
        }
        for council in councils.iter_mut().filter(|council| !council.record.verdict.escalates()) {
            let record = &council.record;
            // Of a run that it was about the question was whether that shall land.
            let of_run = record.run.as_ref().and_then(|run| of_runs.get(run).copied().flatten());
            let landed_rightly = of_run.map(|went_well| went_well == (record.verdict.decision == Decision::Approve));
            council.told = told.get(&record.id).copied().flatten().or(landed_rightly);
        }
        Ok(())
    }
}
