//! `outcome`, `ledger`, `goal`.

use super::args;
use super::output::safe;
use super::write::short;
use super::{Done, Session};
use crate::brain::{OutcomeReport, OutcomeRequest, Valued};

pub(super) fn outcome(session: &Session, args: &args::Outcome) -> Done {
    let request = OutcomeRequest {
        run: args.run.clone(),
        value: args.value,
        text: args.text.clone(),
        no_merge: args.no_merge,
        dry_run: args.writer.dry_run,
    };
    let report = session.brain()?.outcome(&request)?;
    session.out.report(&report, judged);
    Ok(if report.conflicts.is_empty() { 0 } else { 3 })
}

fn judged(report: &OutcomeReport) -> String {
    let said = |valued: &Valued| match &valued.text {
        Some(text) => format!("{:.3} ({})", valued.value, safe(text)),
        None => format!("{:.3}", valued.value),
    };
    let mut lines = vec![
        format!("expected  {}", said(&report.prediction)),
        format!("came      {}", said(&report.outcome)),
        format!("error     {:+.3}, by {}", report.error, report.method.as_str()),
    ];
    lines.extend(report.changes.iter().map(|line| safe(line)));
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe(note))));
    lines.extend(report.decisions.iter().map(|d| format!("merged {}", safe(&d.to_string()))));
    lines.extend(report.conflicts.iter().map(|c| format!("conflict: {}", safe(&c.to_string()))));
    lines.push(match (&report.commit, report.merged) {
        (None, _) => format!("would be run {}", report.run),
        (Some(_), true) => format!("{} is in wake, {}", report.run, short(&report.wake)),
        (Some(commit), false) => format!("{} is on {}, {}", report.run, report.branch, short(commit)),
    });
    lines.join("\n") + "\n"
}
