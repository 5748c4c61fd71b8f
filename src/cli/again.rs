//! `review --again`: rejections that are taken back.

use super::args;
use super::output::safe;
use super::{Done, Session};
use crate::brain::{Brain, Reconsidered};

/// Takes rejections back.
pub(super) fn again(session: &Session, brain: &Brain, args: &args::Review) -> Done {
    let taken = |run: &String| brain.reconsider(run, args.why.as_deref(), args.dry_run);
    let reports: Vec<Reconsidered> = args.runs.iter().map(taken).collect::<Result<_, _>>()?;
    session.out.report(&serde_json::json!({ "again": reports }), |_| {
        reports.iter().map(|report| reconsidered(report, args.dry_run)).collect()
    });
    Ok(0)
}

fn reconsidered(report: &Reconsidered, dry_run: bool) -> String {
    let (run, again) = (&report.run, &report.again.run);
    let mut text = match (dry_run, report.again.merged) {
        (true, _) => format!("The rejection of {run} would be taken back.\n"),
        (_, true) => format!("The rejection of {run} is taken back: {again} is in wake in its place.\n"),
        (_, false) => format!("The rejection of {run} is taken back: {again} waits in its place.\n"),
    };
    if dry_run {
        text.extend(report.again.effects.iter().map(|effect| format!("  {}\n", safe(effect))));
    }
    text.extend(report.error.map(|error| format!("  learnt: error {error:+.2}\n")));
    text.extend(report.again.conflicts.iter().map(|conflict| format!("conflict: {}\n", safe(&conflict.to_string()))));
    let notes = report.again.notes.iter().chain(&report.notes);
    text.extend(notes.map(|note| format!("note: {}\n", safe(note))));
    text
}
