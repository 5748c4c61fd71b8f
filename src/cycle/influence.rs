//! How much one origin that is not trusted may bring in a day: beyond `[origins] influence` its stimuli wait in the queue.
//!
//! What was perceived today is read off the day's records, which every process sees alike. What waits is due again at the next
//! command, and perceived on a later day.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::job::Cause;
use super::{Cycle, CycleError};
use crate::delta::RunRecord;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::model::plural::which;
use crate::model::{Level, Origin, Stamp, Stimulus, plural};
use crate::store::TreeId;

impl Cycle {
    /// Leaves of the waiting stimuli those that their origin may still bring today, oldest first.
    pub(super) fn hold_to_influence(&self, tree: TreeId, waiting: &mut Vec<Arc<Stimulus>>) -> Result<(), CycleError> {
        let origins = &self.shared.policy.settings.origins;
        let bounded = |origin: &Origin| origins.influence > 0 && origins.level(origin) == Level::Tainted;
        if !waiting.iter().any(|stimulus| bounded(&stimulus.origin)) {
            return Ok(());
        }
        let mut perceived = self.perceived_today(tree)?;
        let mut late: BTreeMap<String, usize> = BTreeMap::new();
        waiting.retain(|stimulus| {
            if !bounded(&stimulus.origin) {
                return true;
            }
            let brought = perceived.entry(stimulus.origin.to_string()).or_default();
            *brought += 1;
            let in_time = *brought <= origins.influence_of(&stimulus.origin);
            if !in_time {
                *late.entry(stimulus.origin.to_string()).or_default() += 1;
            }
            in_time
        });
        self.held_by_influence.replace(late);
        Ok(())
    }

    /// What waits because its origin has brought its share today, one sentence each.
    pub(super) fn influence_notes(&self) -> Vec<String> {
        let origins = &self.shared.policy.settings.origins;
        let note = |(origin, count): (String, usize)| {
            let most =
                Origin::parse(&origin).map_or(u64::from(origins.influence), |origin| origins.influence_of(&origin));
            let (what, waits) = (plural(count, "stimulus", "stimuli"), which(&count, "waits", "wait"));
            format!("{what} of {origin} {waits} for another day: origins.influence lets {most} of one origin in a day")
        };
        self.held_by_influence.take().into_iter().map(note).collect()
    }

    /// How many stimuli of each origin the runs of today have consumed.
    fn perceived_today(&self, tree: TreeId) -> Result<BTreeMap<String, u64>, CycleError> {
        let now = Stamp::from_unix(self.shared.world.now_ms().div_euclid(1000));
        let (year, month, day) = now.date();
        let folder = format!("{}/{year:04}/{month:02}/{day:02}", layout::RUNS);
        let mut perceived: BTreeMap<String, u64> = BTreeMap::new();
        for (path, file) in self.store.files(tree, &folder)? {
            let Place::Run(run) = Place::of(&path) else { continue };
            if !self.consumes_queue(&run.agent()) {
                continue;
            }
            let cause =
                self.cause_of(&run, || RunRecord::decode(&self.store.content(file.blob)?, &path).map_err(Into::into));
            let Some(cause) = self.readable(cause)? else { continue };
            if cause.depth == 1 {
                *perceived.entry(cause.origin.to_string()).or_default() += cause.stimuli.len() as u64;
            }
        }
        Ok(perceived)
    }

    /// What a run was to those after it; its record is read once in a command.
    fn cause_of(&self, run: &RunId, read: impl FnOnce() -> Result<RunRecord, CycleError>) -> Result<Cause, CycleError> {
        if let Some(known) = self.causes.borrow().get(run) {
            return Ok(known.clone());
        }
        let cause = Cause::from(read()?);
        self.causes.borrow_mut().insert(run.clone(), cause.clone());
        Ok(cause)
    }
}
