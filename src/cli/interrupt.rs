//! Ctrl-C on a terminal: a long command says how to go on, then ends.

#![allow(clippy::disallowed_methods, reason = "the boundary to the terminal")]

use std::io::{IsTerminal, Write};

use tokio::signal::unix::{SignalKind, signal};

use super::args::Command;

/// The exit code of a command that was interrupted: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// The way on after a command was interrupted, for commands that take long.
fn way_on(command: &Command) -> Option<&'static str> {
    match command {
        Command::Feed(_) => {
            Some("give the same command again: no text is stored twice. `git brain run` goes on with the stored ones")
        }
        Command::Run(_) => Some("`git brain run` goes on"),
        Command::Merge(_) => Some("`git brain merge` goes on with the runs that wait"),
        Command::Sleep(_) => Some("`git brain sleep` goes on, or begins again"),
        Command::Sync(_) => Some("`git brain sync` goes on"),
        _ => None,
    }
}

/// Waits for Ctrl-C beside a long command, where somebody sees it.
pub(super) fn listen(command: &Command) {
    let Some(way_on) = way_on(command).filter(|_| std::io::stderr().is_terminal()) else { return };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    let entered = runtime.enter();
    let Ok(mut interrupt) = signal(SignalKind::interrupt()) else { return };
    drop(entered);
    let waits = move || {
        if runtime.block_on(interrupt.recv()).is_some() {
            end(way_on);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("interrupt".to_owned()).spawn(waits) {
        tracing::info!("Ctrl-C is not heard: {error}");
    }
}

/// Ends the process as the signal would: whatever was acknowledged is on disk.
#[allow(clippy::exit, reason = "the other thread is in the middle of its work")]
fn end(way_on: &str) {
    let _ = writeln!(anstream::stderr(), "\ninterrupted; everything acknowledged is kept\nhint: {way_on}");
    std::process::exit(INTERRUPTED);
}
