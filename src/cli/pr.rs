//! `pr` and `ci`: requests for review on a forge, and the bot that lands what was approved there.

use super::output::safe;
use super::{Done, Session, args};
use crate::brain::{CiReport, CiRequest, CiRun, PrEntry, PrReport, PrRequest, RequestState, Written};
use crate::model::plural;

pub(super) fn pr(session: &Session, args: &args::Pr) -> Done {
    let brain = session.brain()?;
    let wanted =
        PrRequest { branches: args.branches.clone(), remote: args.remote.clone(), dry_run: args.writer.dry_run };
    let report = brain.pr(&wanted)?;
    session.out.report(&report, told);
    Ok(0)
}

fn told(report: &PrReport) -> String {
    let mut lines: Vec<String> = report.requests.iter().map(|entry| line(entry, report.dry_run)).collect();
    if lines.is_empty() {
        lines.push("No run waits for review.".to_owned());
    }
    if report.requests.iter().any(|entry| entry.shows_more && entry.request != Written::Unchanged) {
        let remote = safe(&report.remote);
        lines.push(format!("note: {remote} lacks commits of wake, and requests show those too; `git brain sync {remote}` brings them there"));
    }
    lines.extend(report.lacks.iter().map(|lacks| format!("note: {}", safe(lacks))));
    lines.join("\n") + "\n"
}

fn line(entry: &PrEntry, dry_run: bool) -> String {
    let done = match (entry.state, entry.request) {
        (Some(RequestState::Merged), Written::Unchanged) => "merged there",
        (Some(RequestState::Closed), Written::Unchanged) => "closed there",
        (_, Written::Made) if dry_run => "would be opened",
        (_, Written::Updated) if dry_run => "would be updated",
        (_, Written::Made) => "opened",
        (_, Written::Updated) => "updated",
        (_, Written::Unchanged) => "unchanged",
    };
    let id = entry.id.as_deref().map(|id| format!(" #{}", safe(id))).unwrap_or_default();
    let place = entry.url.as_deref().map_or(id, |url| format!(" {}", safe(url)));
    format!("{} {done}{place}", safe(&entry.branch))
}

/// Exit code of commits that are not let in.
const REFUSED: u8 = 3;

/// Exit code of a forge that failed.
const UNANSWERED: u8 = 2;

/// Exit code 1: a run, or the commit of a merge queue, does not verify.
pub(super) fn ci(session: &Session, args: &args::Ci) -> Done {
    let brain = session.brain()?;
    let wanted = CiRequest { remote: args.remote.clone(), no_forge: args.no_forge, dry_run: args.writer.dry_run };
    let report = brain.ci(&wanted)?;
    session.out.report(&report, attended);
    let is_sound =
        report.runs.iter().all(|run| run.verified) && report.queue.as_ref().is_none_or(|queue| queue.verified);
    Ok(match (report.synced, is_sound, report.answered) {
        (false, ..) => REFUSED,
        (true, false, _) => 1,
        (true, true, false) => UNANSWERED,
        (true, true, true) => 0,
    })
}

fn attended(report: &CiReport) -> String {
    let mut lines: Vec<String> = report.merged.iter().map(|branch| format!("{} merged", safe(branch))).collect();
    lines.extend(report.runs.iter().flat_map(|run| one(run, report.dry_run)));
    // What a dry run would bring waits nowhere yet, and the note of its sync says so.
    if lines.is_empty() && !report.notes.iter().any(|note| note.ends_with("`git brain review`")) {
        lines.push("Nothing waits.".to_owned());
    }
    if let Some(queue) = &report.queue {
        let verifies = if queue.verified { "verifies" } else { "does not verify:" };
        lines.push(format!("{} of the merge queue {verifies}", super::output::short(&queue.commit)));
        lines.extend(queue.problems.iter().map(|problem| format!("    {}", safe(problem))));
    }
    lines.extend(report.closed.iter().map(|request| format!("{} closed", safe(request))));
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe(note))));
    lines.push(format!("wake is {}", super::output::short(&report.wake)));
    lines.join("\n") + "\n"
}

fn one(run: &CiRun, dry_run: bool) -> Vec<String> {
    let state = match (&run.decided, &run.waits_for) {
        (Some(verdict), _) => {
            let by = run.by.as_deref().map(|by| format!(" by {}", safe(by))).unwrap_or_default();
            let would = if dry_run { "would be " } else { "" };
            format!("{would}{}{by}", verdict.done())
        }
        (None, Some(why)) => format!("waits: {}", safe(why)),
        (None, None) => "waits".to_owned(),
    };
    let mut lines = vec![format!("{} {state}", safe(&run.branch))];
    if !run.verified {
        let count = plural(run.problems.len(), "problem", "problems");
        lines.push(format!("  does not verify, {count}:"));
        lines.extend(run.problems.iter().map(|problem| format!("    {}", safe(problem))));
    }
    lines.extend(run.request.iter().map(|entry| format!("  {}", line(entry, dry_run))));
    lines
}
