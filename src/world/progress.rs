//! How far a command is: told by whichever stage works, and shown by the front door that has a terminal. Elsewhere it goes nowhere.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Shows how far something is: the work, how much is done, and of how much; 0: that is not known.
pub type Show = fn(&'static str, u64, u64);

static SHOW: OnceLock<Show> = OnceLock::new();

/// Names the place that shows how far the work of this process is. The first one stays.
pub fn show_by(show: Show) {
    let _ = SHOW.set(show);
}

/// Tells how far something is.
pub fn report(what: &'static str, done: u64, of: u64) {
    if let Some(show) = SHOW.get() {
        show(what, done, of);
    }
}

/// Work of which so much is there to do, by as many threads as like.
#[derive(Debug)]
pub struct Work {
    what: &'static str,
    of: u64,
    done: AtomicU64,
}

impl Work {
    /// Work that begins.
    pub fn begin(what: &'static str, of: usize) -> Self {
        report(what, 0, of as u64);
        Self { what, of: of as u64, done: AtomicU64::new(0) }
    }

    /// One more is done.
    pub fn step(&self) {
        report(self.what, self.done.fetch_add(1, Ordering::Relaxed) + 1, self.of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static TOLD: Mutex<Vec<(&str, u64, u64)>> = Mutex::new(Vec::new());

    #[test]
    fn work_is_told_from_its_beginning_to_its_end_by_all_threads() {
        show_by(|what, done, of| {
            if what == "a test" {
                TOLD.lock().unwrap().push((what, done, of));
            }
        });
        let work = Work::begin("a test", 20);
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| (0..5).for_each(|_| work.step())))));
        let mut told = TOLD.lock().unwrap().clone();
        told.sort_unstable();
        assert_eq!(told, (0..=20).map(|done| ("a test", done, 20)).collect::<Vec<_>>());
    }
}
