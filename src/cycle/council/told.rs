//! Outcomes of councils that thought for agents: told of the run that the decision was, as of any run.

use std::collections::BTreeMap;

use crate::cognition::council::{decided_in, is_expectation};
use crate::council::record::Council;
use crate::cycle::network::TreeNetwork;
use crate::cycle::{Cycle, CycleError, ledger};
use crate::delta::UNSTATED;
use crate::limits;

impl Cycle {
    /// Says of councils whether their decisions turned out right by the newest outcome of their runs. An outcome of an origin that is not trusted says
    /// nothing, and neither does one of a half.
    ///
    /// # Errors
    /// An entry or a record that cannot be read.
    pub fn tell_outcomes(&self, councils: &mut [Council]) -> Result<(), CycleError> {
        if councils.iter().all(|council| council.record.verdict.escalates()) {
            return Ok(());
        }
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let network = TreeNetwork::new(&self.store, tree);
        let origins = &self.shared.policy.settings.origins;
        let mut told: BTreeMap<String, Option<bool>> = BTreeMap::new();
        for entry in ledger::newest(&self.store, tree, limits::COUNCIL_HISTORY)? {
            if !entry.prediction.text.as_deref().is_some_and(is_expectation) {
                continue;
            }
            let Some(record) = network.record(&entry.judged)? else { continue };
            let Some(id) = decided_in(&record).filter(|id| !told.contains_key(*id)) else { continue };
            if network.origin_of(&entry.run)?.is_none_or(|origin| !origins.is_tainted(&origin)) {
                let value = entry.outcome.value;
                told.insert(id.to_owned(), (value != UNSTATED).then_some(value > UNSTATED));
            }
        }
        for council in councils.iter_mut().filter(|council| !council.record.verdict.escalates()) {
            council.told = told.get(&council.record.id).copied().flatten();
        }
        Ok(())
    }
}
