//! `sleep`, `restore`, `reject`, `watch`: the brain's nights.

use std::time::Duration;

use super::args;
use super::output::safe;
use super::output::short;
use super::{Done, Session};
use crate::brain::{
    Brain, BrainError, SleepReport, SleepRequest, SleepState, UndoReport, WatchEvent, Watched, is_sleep_branch,
};
use crate::model::plural;

pub(super) fn sleep(session: &Session, args: &args::Sleep) -> Done {
    let brain = session.brain()?;
    if args.undo {
        let report = brain.undo_sleep(args.writer.dry_run)?;
        session.out.report(&report, |report| undone(report, args.writer.dry_run));
        say_notes(session, &brain);
        return Ok(0);
    }
    let request = SleepRequest { review: args.review, dry_run: args.writer.dry_run, if_due: args.if_due };
    let report = brain.sleep(request)?;
    session.out.report(&report, told);
    say_notes(session, &brain);
    Ok(0)
}

/// Prints the notes that came up on the way.
fn say_notes(session: &Session, brain: &Brain) {
    if !session.out.is_json() {
        brain.take_notes().iter().for_each(|note| session.out.say(&safe(note)));
    }
}

pub(super) fn told(report: &SleepReport) -> String {
    let mut lines = Vec::new();
    let run = report.run.as_deref().unwrap_or_default();
    match report.state {
        SleepState::Quiet => return "Nothing happened since the last sleep.\n".to_owned(),
        SleepState::NotDue => return "It is not time to sleep.\n".to_owned(),
        SleepState::Rejected => return format!("Threw {run} away; wake is as it was.\n"),
        SleepState::DryRun => lines.push(match &report.branch {
            Some(branch) => format!("Would put {branch} on main:"),
            None => "Would sleep:".to_owned(),
        }),
        SleepState::Waiting => lines.push(format!(
            "Consolidated on {}, for you to look at. `git brain approve {0}` puts it on main, `git brain reject {0}` throws it away.",
            report.branch.as_deref().unwrap_or_default()
        )),
        SleepState::Slept => lines.push(format!("Slept: {run} is on main as {}.", short(&report.main))),
    }
    if let Some(because) = &report.because {
        lines[0] = format!("{} ({because})", lines[0]);
    }
    lines.push(format!("  learnt        {}", report.learnt.words()));
    lines.push(format!("  consolidated  {}", report.consolidated.words()));
    if report.distilled > 0 {
        lines.push(format!(
            "  distilled     {}: `git brain wisdom list`",
            plural(report.distilled, "seed of wisdom", "seeds of wisdom")
        ));
    }
    if report.left_out > 0 {
        lines.push(format!(
            "  left in wake  {} whose origin is not approved",
            plural(report.left_out, "neuron", "neurons")
        ));
    }
    let is_asked_ahead = report.state == SleepState::DryRun && report.branch.is_none();
    let most = if is_asked_ahead { SHOWN_DRY } else { SHOWN };
    lines.extend(report.changes.iter().take(most).map(|change| format!("    {}", safe(change))));
    if report.changes.len() > most {
        lines.push(format!("    … and {} more; --json has all", report.changes.len() - most));
    }
    if let (Some(run), Some(_)) = (&report.run, &report.record) {
        lines.push(format!("Every change, line by line: git brain show {run}"));
    }
    lines.extend(report.left.iter().map(|left| format!("left alone: {}", safe(left))));
    lines.join("\n") + "\n"
}

/// Changes that a person is shown at once.
const SHOWN: usize = 40;
/// Changes of a sleep that did not happen: examples beside the sums.
const SHOWN_DRY: usize = 5;

fn undone(report: &UndoReport, dry_run: bool) -> String {
    let verb = if dry_run { "Would take back" } else { "Took back" };
    let mut lines = vec![format!("{verb} {} ({}).", report.undone, short(&report.commit))];
    if !dry_run {
        lines.push("Main has the tree before it; wake keeps all it learnt, without that consolidation.".to_owned());
    }
    lines.extend(report.left.iter().map(|left| format!("left alone: {}", safe(left))));
    lines.join("\n") + "\n"
}

pub(super) fn reject(session: &Session, args: &args::Reject) -> Done {
    let branch = match args.branches.as_slice() {
        [branch] if is_sleep_branch(branch) => branch,
        _ => return super::review::reject(session, args),
    };
    let report = session.brain()?.reject(branch, args.writer.dry_run)?;
    session.out.report(&report, |report| match report.state {
        SleepState::DryRun => format!("Would throw {} away.\n", report.branch.as_deref().unwrap_or_default()),
        _ => told(report),
    });
    Ok(0)
}

pub(super) fn restore(session: &Session, args: &args::Restore) -> Done {
    let report = session.brain()?.restore(&args.neuron, args.writer.dry_run)?;
    session.out.report(&report, |report| {
        let verb = if args.writer.dry_run { "Would restore" } else { "Restored" };
        let mut lines = vec![format!("{verb} {} by {}.", args.neuron, report.run)];
        lines.extend(report.effects.iter().chain(&report.notes).map(|line| safe(line)));
        lines.join("\n") + "\n"
    });
    Ok(u8::from(!report.conflicts.is_empty()) * 3)
}

/// Wakes, sleeps and reports, in one process, until it is stopped. What fails after the first round is told, and tried again: the lock that
/// was busy will be free, and who broke `brain.toml` will mend it. Only where there is no brain any more, it ends.
pub(super) fn watch(session: &Session, args: &args::Watch) -> Done {
    if args.interval == 0 {
        return Err(BrainError::usage("--interval is at least 1 second"));
    }
    let mut watched = Watched::default();
    let mut last = String::new();
    for round in 0_u64.. {
        match look(session, &mut watched) {
            Ok(()) => last.clear(),
            Err(error) if args.once || round == 0 || error.exit_code() == USAGE => return Err(error),
            Err(error) => {
                let text = format!("the watch goes on, but: {error}");
                if text != last {
                    print(session, &WatchEvent::Note { at: session.world.now().to_string(), text: text.clone() });
                    last = text;
                }
            }
        }
        if args.once {
            break;
        }
        std::thread::sleep(Duration::from_secs(args.interval));
    }
    Ok(0)
}

/// Exit code of what is wrong with the call itself, such as a folder without a brain.
const USAGE: u8 = 2;

/// One round of a watch. The brain is opened anew: settings and agents may have changed.
fn look(session: &Session, watched: &mut Watched) -> Result<(), BrainError> {
    session.brain()?.watch(watched)?.iter().for_each(|event| print(session, event));
    Ok(())
}

fn print(session: &Session, event: &WatchEvent) {
    match session.out.is_json() {
        true => session.out.document(event),
        false => session.out.text(&(heard(event) + "\n")),
    }
}

fn heard(event: &WatchEvent) -> String {
    match event {
        WatchEvent::Ran { at, runs, failures, wake } => {
            let failed = if *failures > 0 { format!(", {failures} failed") } else { String::new() };
            format!("{at}  ran {runs}{failed}; wake is {}", short(wake))
        }
        WatchEvent::Slept { at, because, run, main, totals } => {
            format!("{at}  slept ({because}): {run}, main is {}; {}", short(main), totals.words())
        }
        WatchEvent::Note { at, text } => format!("{at}  {}", safe(text)),
    }
}
