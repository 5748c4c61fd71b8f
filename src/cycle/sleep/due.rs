//! When it is time to sleep: by the clock, after many runs, when too much is active, or when the machine idles.

use std::fmt;

use super::SLEEP_TRAILER;
use crate::cycle::network::decode_neuron;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};

/// What happened since the last sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// Hours since it; since the brain's birth if it never slept.
    pub hours: f64,
    /// Runs that were merged.
    pub runs: usize,
    /// Neurons that changed and are above `sleep.threshold` now.
    pub vivid: usize,
    /// True if the network differs from what it was.
    pub any: bool,
}

/// Why it is time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DueBecause {
    /// So many hours have passed.
    Hours(f64),
    /// So many runs were merged.
    Runs(usize),
    /// So many neurons are vivid.
    Saturation(usize),
    /// The machine's load per processor is that low.
    Idle(f64),
}

impl fmt::Display for DueBecause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hours(hours) => write!(f, "{hours:.0} hours since the last sleep"),
            Self::Runs(runs) => write!(f, "{runs} runs since the last sleep"),
            Self::Saturation(vivid) => write!(f, "{vivid} vivid neurons"),
            Self::Idle(load) => write!(f, "the machine is idle: load {load:.2} per processor"),
        }
    }
}

impl Cycle {
    /// What happened since the last sleep. Costs what happened, not the size of the brain.
    pub fn activity(&self) -> Result<Activity, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        // After an undone sleep nobody sleeps over the same day by himself: that somebody took it back had a reason.
        let since = self.last_waking(wake)?;
        let tree = self.store.tree_of(wake)?;
        let evening = since.as_ref().map_or_else(|| self.evening(wake), |commit| Ok(commit.tree))?;
        let now = self.shared.world.now();
        let slept = since.as_ref().and_then(|c| c.trailer(SLEEP_TRAILER)).and_then(|run| RunId::parse(run).ok());
        let start = match slept {
            Some(run) => Some(run.unix_ms() / 1000),
            None => self.metadata(tree)?.seed_timestamp.map(|at| at.unix()),
        };
        let mut activity = Activity {
            hours: start.map_or(0.0, |start| (now.unix() - start).max(0) as f64 / 3600.0),
            any: self.store.folder(tree, layout::NETWORK)? != self.store.folder(evening, layout::NETWORK)?,
            ..Activity::default()
        };
        if !activity.any {
            return Ok(activity);
        }
        for commit in self.store.first_parents(wake, since.map(|c| c.id)).take(limits::HISTORY_WALK) {
            activity.runs += commit?.trailer_values("Run").count();
        }
        let threshold = self.shared.policy.settings.sleep.threshold;
        for change in self.store.diff(Some(evening), Some(tree), layout::NEURONS)? {
            let (Place::Neuron(id), Some(file)) = (Place::of(&change.path), change.new) else { continue };
            let neuron = decode_neuron(&self.store.content(file.blob)?, &change.path, &id)?;
            activity.vivid += usize::from(neuron.salience_at(now) > threshold);
        }
        Ok(activity)
    }

    /// Why it is time to sleep, if it is.
    pub fn sleep_due(&self) -> Result<Option<DueBecause>, CycleError> {
        let settings = &self.shared.policy.settings.sleep;
        let activity = self.activity()?;
        if !activity.any {
            return Ok(None);
        }
        let reached = |bound: u32, value: usize| bound > 0 && value >= bound as usize;
        if settings.every_hours > 0 && activity.hours >= f64::from(settings.every_hours) {
            return Ok(Some(DueBecause::Hours(activity.hours)));
        }
        if reached(settings.after_runs, activity.runs) {
            return Ok(Some(DueBecause::Runs(activity.runs)));
        }
        if reached(settings.saturation, activity.vivid) {
            return Ok(Some(DueBecause::Saturation(activity.vivid)));
        }
        let load = self.shared.world.load_per_processor().filter(|load| *load < settings.idle_load);
        Ok(load.map(DueBecause::Idle))
    }
}
