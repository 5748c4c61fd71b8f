//! When it is time to sleep: by the clock, after many runs, when too much is active, or when the machine idles.

use std::fmt;
use std::sync::Arc;

use crate::cycle::network::decode_neuron;
use crate::cycle::trailers::{SLEEP_TRAILER, UNDOES_TRAILER};
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::layout::{self, Place};
use crate::model::{Kind, Neuron, Stamp, plural};
use crate::store::{CommitId, TreeId};
use crate::trigger::CONSOLIDATION_DUE;

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
            Self::Hours(hours) => write!(f, "{} since the last sleep", plural(hours.round(), "hour", "hours")),
            Self::Runs(runs) => write!(f, "{} since the last sleep", plural(*runs, "run", "runs")),
            Self::Saturation(vivid) => f.write_str(&plural(*vivid, "vivid neuron", "vivid neurons")),
            Self::Idle(load) => write!(f, "the machine is idle: load {load:.2} per processor"),
        }
    }
}

/// Hours by which a night may come before `sleep.every_hours` are over.
const EARLY_HOURS: f64 = 0.25;

impl Cycle {
    /// Why it is time to sleep, if it is. Costs at most what happened since the last sleep; and without `thorough`, which leaves out how
    /// many neurons are vivid and how idle the machine is, no more than a look at `sleep.after_runs` commits: agents ask it in each
    /// command.
    pub fn sleep_due(&self, thorough: bool) -> Result<Option<DueBecause>, CycleError> {
        let settings = &self.shared.policy.settings.sleep;
        let wake = self.store.need_tip(self.store.wake())?;
        // After an undone sleep nobody sleeps over the same day by himself: that somebody took it back had a reason.
        let since = self.last_waking(wake)?;
        let tree = self.store.tree_of(wake)?;
        let evening = match &since {
            Some(commit) => self.evening_of(commit)?.wake,
            None => self.birth()?,
        };
        if self.store.folder(tree, layout::NETWORK)? == self.store.folder(evening, layout::NETWORK)? {
            return Ok(None);
        }
        let now = self.shared.world.now();
        let name = since.as_ref().and_then(|c| c.trailer(SLEEP_TRAILER).or(c.trailer(UNDOES_TRAILER)));
        let start = match name.and_then(|run| RunId::parse(run).ok()) {
            Some(run) => Some(run.unix_ms() / 1000),
            None => self.metadata(tree)?.seed_timestamp.map(|at| at.unix()),
        };
        // A night under a clock that was ahead is no reason to wait until that day comes.
        let apart = |start: i64| match now.unix() - start {
            ahead if ahead < -limits::FUTURE_SECONDS => -ahead,
            passed => passed.max(0),
        };
        let hours = start.map_or(0.0, |start| apart(start) as f64 / 3600.0);
        // A timer of every day comes a little early now and then.
        if settings.every_hours > 0 && hours >= f64::from(settings.every_hours) - EARLY_HOURS {
            return Ok(Some(DueBecause::Hours(hours)));
        }
        if settings.after_runs > 0 {
            let mut runs = 0;
            for commit in self.store.first_parents(wake, since.map(|c| c.id)).take(limits::HISTORY_WALK) {
                runs += commit?.trailer_values("Run").count();
                if runs >= settings.after_runs as usize {
                    return Ok(Some(DueBecause::Runs(runs)));
                }
            }
        }
        if !thorough {
            return Ok(None);
        }
        if settings.saturation > 0 {
            let vivid = self.vivid_since(evening, tree)?;
            if vivid >= settings.saturation as usize {
                return Ok(Some(DueBecause::Saturation(vivid)));
            }
        }
        let load = self.shared.world.load_per_processor().filter(|load| *load < settings.idle_load);
        Ok(load.map(DueBecause::Idle))
    }

    /// Whether an agent was asked already in this evening: since the last sleep it ran because sleep was due.
    pub(in crate::cycle) fn evening_asked(&self, wake: CommitId, agent: &AgentName) -> Result<bool, CycleError> {
        let since = self.last_waking(wake)?.map(|commit| commit.id);
        for commit in self.store.first_parents(wake, since).take(limits::HISTORY_WALK) {
            let commit = commit?;
            let (true, Some(run)) = (commit.trailer("Agent") == Some(agent.as_str()), commit.parents.get(1)) else {
                continue;
            };
            if self.store.commit(*run)?.trailer("Trigger").is_some_and(|why| why.contains(CONSOLIDATION_DUE)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The most vivid memories since the last sleep, most vivid first. Of a long day the first files are looked at.
    pub(in crate::cycle) fn vivid_memories(&self, clock: Stamp) -> Result<Vec<Arc<Neuron>>, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        let evening = match self.last_waking(wake)? {
            Some(commit) => self.evening_of(&commit)?.wake,
            None => self.birth()?,
        };
        let mut found: Vec<Arc<Neuron>> = Vec::new();
        let changes = self.store.diff(Some(evening), Some(self.store.tree_of(wake)?), layout::NEURONS)?;
        for change in changes.into_iter().take(limits::DAY_MEMORIES) {
            let (Place::Neuron(id), Some(file)) = (Place::of(&change.path), change.new) else { continue };
            let neuron = self.readable(self.shared.neurons.read(&self.store, file, &change.path, &id))?;
            found.extend(neuron.filter(|n| n.kind == Kind::Episodic && !n.is_archived()));
        }
        found.sort_by(|a, b| b.salience_at(clock).cmp(&a.salience_at(clock)).then_with(|| a.id.cmp(&b.id)));
        found.truncate(limits::ACTIVE_BESIDE);
        Ok(found)
    }

    /// How many of the neurons that differ between two trees are above the threshold now.
    fn vivid_since(&self, old: TreeId, new: TreeId) -> Result<usize, CycleError> {
        let (now, threshold) = (self.shared.world.now(), self.shared.policy.settings.sleep.threshold);
        let mut vivid = 0;
        for change in self.store.diff(Some(old), Some(new), layout::NEURONS)? {
            let (Place::Neuron(id), Some(file)) = (Place::of(&change.path), change.new) else { continue };
            let neuron = self.readable(decode_neuron(&self.store.content(file.blob)?, &change.path, &id))?;
            vivid += usize::from(neuron.is_some_and(|neuron| neuron.salience_at(now) > threshold));
        }
        Ok(vivid)
    }
}
