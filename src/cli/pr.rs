//! `pr`: requests for review on a forge.

use super::output::safe;
use super::{Done, Session, args};
use crate::brain::{PrEntry, PrReport, PrRequest, RequestState, Written};

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
