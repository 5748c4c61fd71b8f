//! The tally: how many runs each stimulus has caused, whichever process started them, and how many reflexes ran on a day.

use std::collections::HashMap;

use super::{CycleError, Shared};
use crate::model::Stamp;
use crate::model::ids::{AgentName, StimulusId, hash_fields, hash64};

const DAY_SECONDS: i64 = 86_400;

/// The day (UTC) of a stamp, days since 1970.
pub(super) fn day_of(at: Stamp) -> i64 {
    at.unix().div_euclid(DAY_SECONDS)
}

/// The runs that stimuli have caused, as all processes know them and as this command goes on.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: HashMap<u64, u32>,
    /// Of those, the runs of this command that one agent had for the signals of one other.
    pairs: HashMap<(u64, u64), u32>,
}

/// Why a run does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All its stimuli have caused as many runs as they may.
    Stimulus,
    /// Half of what they may cause went to the signals of its sender to its agent.
    Pair,
}

/// Under this hash, which no stimulus has but by chance, the tally counts runs of reflexes.
const REFLEX_RUNS: u64 = 0;

pub(super) fn hash_of(root: &StimulusId) -> u64 {
    hash64(root.as_str().as_bytes())
}

impl Tally {
    /// The number of runs that a stimulus has caused, today and yesterday, in whatever process.
    fn caused(&self, root: &StimulusId) -> u32 {
        self.counts.get(&hash_of(root)).copied().unwrap_or(0)
    }

    /// Counts a run that is about to start for that of its stimuli which has caused fewest: many that came in one batch may cause together as
    /// much as each by itself. For the signals of one sender an agent gets half of what a stimulus may cause, and no more: the rest is for others.
    pub fn add<'r>(
        &mut self,
        roots: &'r [StimulusId],
        agent: &AgentName,
        sender: Option<&AgentName>,
        most: u32,
    ) -> Result<&'r StimulusId, Full> {
        let pair = sender.map(|sender| hash_fields(&[agent.as_str().as_bytes(), sender.as_str().as_bytes()]));
        let of_pair = |root: &StimulusId| pair.and_then(|pair| self.pairs.get(&(hash_of(root), pair))).copied();
        let least = |has_room: &dyn Fn(&StimulusId) -> bool| {
            roots.iter().filter(|root| self.caused(root) < most && has_room(root)).min_by_key(|root| self.caused(root))
        };
        let has_share = |root: &StimulusId| of_pair(root).is_none_or(|had| had < most.div_ceil(2));
        let Some(found) = least(&has_share) else {
            return Err(if least(&|_| true).is_some() { Full::Pair } else { Full::Stimulus });
        };
        *self.counts.entry(hash_of(found)).or_default() += 1;
        if let Some(pair) = pair {
            *self.pairs.entry((hash_of(found), pair)).or_default() += 1;
        }
        Ok(found)
    }
}

impl Shared {
    /// The tally at the start of a command, which holds the lock of the cycle.
    pub(super) fn tally(&self) -> Result<Tally, CycleError> {
        let today = day_of(self.world.now());
        Ok(Tally { counts: self.account.tally(&[today - 1, today])?, ..Tally::default() })
    }

    /// Makes known to all processes what a round starts: the stimuli that its runs count for, and how many are reflexes.
    pub(super) fn keep_tally<'a>(
        &self,
        roots: impl Iterator<Item = &'a StimulusId>,
        reflexes: usize,
    ) -> Result<(), CycleError> {
        let today = day_of(self.world.now());
        let hashes: Vec<u64> = roots.map(hash_of).chain(std::iter::repeat_n(REFLEX_RUNS, reflexes)).collect();
        Ok(self.account.count(today, today - 1, &hashes)?)
    }

    /// Runs of reflexes today.
    pub(super) fn reflex_runs(&self) -> Result<u64, CycleError> {
        let today = day_of(self.world.now());
        Ok(self.account.tally(&[today])?.get(&REFLEX_RUNS).copied().unwrap_or(0).into())
    }
}
