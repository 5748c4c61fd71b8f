//! The tally: how many runs each stimulus has caused, whichever process started them, and how many reflexes ran on a day.

use std::collections::HashMap;

use super::{CycleError, Shared};
use crate::model::Stamp;
use crate::model::ids::{StimulusId, hash64};

const DAY_SECONDS: i64 = 86_400;

/// The day (UTC) of a stamp, days since 1970.
pub(super) fn day_of(at: Stamp) -> i64 {
    at.unix().div_euclid(DAY_SECONDS)
}

/// What stimuli have caused, as all processes know it and as this command goes on.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: HashMap<u64, u32>,
}

/// Under this hash, which no stimulus has but by chance, the tally counts runs of reflexes.
const REFLEX_RUNS: u64 = 0;

pub(super) fn hash_of(root: &StimulusId) -> u64 {
    hash64(root.as_str().as_bytes())
}

impl Tally {
    /// How many runs a stimulus has caused, today and yesterday, in whatever process.
    fn caused(&self, root: &StimulusId) -> u32 {
        self.counts.get(&hash_of(root)).copied().unwrap_or(0)
    }

    /// Counts a run that is about to start for that of its stimuli which has caused fewest: many that came in one batch may cause together as
    /// much as each by itself. `None`: all have caused so many.
    pub fn add<'r>(&mut self, roots: &'r [StimulusId], most: u32) -> Option<&'r StimulusId> {
        let least = roots.iter().min_by_key(|root| self.caused(root)).filter(|root| self.caused(root) < most)?;
        *self.counts.entry(hash_of(least)).or_default() += 1;
        Some(least)
    }
}

impl Shared {
    /// The tally at the start of a command, which holds the lock of the cycle.
    pub(super) fn tally(&self) -> Result<Tally, CycleError> {
        let today = day_of(self.world.now());
        Ok(Tally { counts: self.account.tally(&[today - 1, today])? })
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
