//! One round of `watch`: wake what is due, sleep if it is time, say what happened. Where hooks ring, nobody needs it.

use serde::Serialize;

use super::{Brain, BrainError, RunBounds, SleepRequest, SleepState};
use crate::consolidation::Totals;
use crate::store::CommitId;

/// What a watcher has seen. A round in which nothing moved costs a look at a few refs.
#[derive(Debug, Default)]
pub struct Watched {
    seen: Option<(CommitId, CommitId, usize)>,
    asked_for_sleep: Option<i64>,
    told: Option<String>,
}

/// Something that a watcher tells.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// Agents ran.
    Ran {
        /// When.
        at: String,
        /// How many.
        runs: usize,
        /// How many came to nothing.
        failures: usize,
        /// Wake's tip.
        wake: String,
    },
    /// The brain slept.
    Slept {
        /// When.
        at: String,
        /// Why it was time.
        because: String,
        /// The sleep.
        run: String,
        /// Main's tip.
        main: String,
        /// What changed on main.
        totals: Totals,
    },
    /// Something else worth knowing.
    Note {
        /// When.
        at: String,
        /// In a sentence.
        text: String,
    },
}

/// How often it is asked whether it is time to sleep while nothing moves, seconds.
const ASK_SECONDS: i64 = 60;

impl Brain {
    /// One round.
    pub fn watch(&self, watched: &mut Watched) -> Result<Vec<WatchEvent>, BrainError> {
        let mut events = Vec::new();
        let at = || self.cycle.shared.world.now().to_string();
        let now = self.cycle.shared.world.now().unix();
        let state = self.moving_parts()?;
        let moved = watched.seen != Some(state);
        if moved {
            let ran = self.run(&RunBounds::default(), &mut |_| {})?;
            if !ran.runs.is_empty() || !ran.failures.is_empty() {
                let (runs, failures) = (ran.runs.len(), ran.failures.len());
                events.push(WatchEvent::Ran { at: at(), runs, failures, wake: ran.wake });
            }
            events.extend(ran.notes.into_iter().map(|text| WatchEvent::Note { at: at(), text }));
        }
        if moved || watched.asked_for_sleep.is_none_or(|asked| now - asked >= ASK_SECONDS) {
            watched.asked_for_sleep = Some(now);
            match self.sleep(SleepRequest { if_due: true, ..SleepRequest::default() }) {
                Ok(report) if report.state == SleepState::Slept => {
                    watched.told = None;
                    events.push(WatchEvent::Slept {
                        at: at(),
                        because: report.because.unwrap_or_default(),
                        run: report.run.unwrap_or_default(),
                        main: report.main,
                        totals: report.totals,
                    });
                }
                Ok(_) => watched.told = None,
                // What needs a person is told once, and the watch goes on.
                Err(error) => {
                    let text = format!("cannot sleep: {error}");
                    if watched.told.as_ref() != Some(&text) {
                        events.push(WatchEvent::Note { at: at(), text: text.clone() });
                        watched.told = Some(text);
                    }
                }
            }
        }
        watched.seen = Some(self.moving_parts()?);
        Ok(events)
    }

    /// What moves when there is something to do: both branches, and how many runs wait.
    fn moving_parts(&self) -> Result<(CommitId, CommitId, usize), BrainError> {
        let store = &self.cycle.store;
        Ok((store.need_tip(store.main())?, store.need_tip(store.wake())?, self.cycle.run_branches()?.len()))
    }
}
