//! How far a command is, on standard error, where that is a terminal: nothing in the first second, then one line until something is printed.
//!
//! Stages tell what they do and how much of it is done, from whichever thread and as often as they like. One thread draws.

#![allow(
    clippy::disallowed_methods,
    reason = "the boundary to the terminal: what takes long is measured by the real clock"
)]

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::Command;
use crate::brain::{Progress, show_progress_by};

/// Time after which a person wants to know whether anything happens.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two drawings.
const DRAWN_EACH: Duration = Duration::from_millis(100);

/// The work that is under way.
struct Shown {
    begun: Instant,
    what: &'static str,
    done: u64,
    of: u64,
    is_drawn: bool,
    bar: Option<ProgressBar>,
}

static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<Shown>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Commands that only work, and talk with nobody meanwhile.
fn works(command: &Command) -> bool {
    !matches!(
        command,
        Command::Chat(_)
            | Command::Serve(_)
            | Command::Mcp(_)
            | Command::Watch(_)
            | Command::Hook(_)
            | Command::Confine(_)
            | Command::MergeDriver(_)
            | Command::Demo(_)
            | Command::Events(_)
    ) && !matches!(command, Command::Review(review) if review.interactive || review.edit)
        && !matches!(command, Command::Bisect(_) | Command::Trust(_))
}

/// Shows from now on how far this command is.
pub(super) fn begin(command: &Command, json: bool) {
    if json || !std::io::stderr().is_terminal() || !works(command) {
        return;
    }
    *shown() = Some(Shown { begun: Instant::now(), what: "", done: 0, of: 0, is_drawn: false, bar: None });
    show_progress_by(report);
}

/// Notes how far something is; the first note of a command starts the thread that draws.
fn report(what: &'static str, done: u64, of: u64) {
    let mut shown = shown();
    let Some(shown) = shown.as_mut() else { return };
    (shown.what, shown.done, shown.of) = (what, done, of);
    if !std::mem::replace(&mut shown.is_drawn, true) {
        std::thread::spawn(draw);
    }
}

/// Draws until there is nothing to show any more.
fn draw() {
    loop {
        std::thread::sleep(DRAWN_EACH);
        let mut shown = shown();
        let Some(shown) = shown.as_mut().filter(|shown| shown.is_drawn) else { return };
        if shown.begun.elapsed() < PATIENCE {
            continue;
        }
        let (done, of) = (shown.done, shown.of);
        // The first frame has its words as well.
        let is_new = shown.bar.is_none();
        let bar =
            shown.bar.get_or_insert_with(|| ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::hidden()));
        bar.set_length(of);
        bar.set_position(done.min(of.max(1)));
        let template = if of > 0 { "{msg} {bar:30} {human_pos}/{human_len}" } else { "{spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(shown.what);
        if is_new {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.tick();
    }
}

/// Takes the line away, before something else is printed. Work that goes on shows it again.
pub(super) fn clear() {
    if let Some(shown) = shown().as_mut() {
        shown.is_drawn = false;
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// What a command itself tells of how far it is.
pub(crate) struct Bar;

impl Bar {
    /// Shows how far something is.
    pub(crate) fn set(&self, what: &'static str, done: u64, of: u64) {
        report(what, done, of);
    }

    /// Follows the loop.
    pub(crate) fn show(&self, progress: &Progress, total: &mut u64) {
        match *progress {
            Progress::Stored(done, of) => {
                *total = of as u64;
                report("storing", done as u64, of as u64);
            }
            Progress::Running(..) if *total == 0 => report("running agents", 0, 0),
            Progress::Running(..) => {}
            Progress::Merged(_, consumed) => {
                *total = (*total).max(consumed as u64);
                report("perceived", consumed as u64, *total);
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        clear();
    }
}
