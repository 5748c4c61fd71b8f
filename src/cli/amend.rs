//! `approve`, `revert`: what a person says of what others brought.

use super::args;
use super::output::short;
use super::output::{safe, safe_line};
use super::{Done, Session};
use crate::brain::{AmendReport, BrainError, is_run, is_sleep_branch};
use crate::model::plural;

pub(super) fn approve(session: &Session, args: &args::Approve) -> Done {
    let brain = session.brain()?;
    if let [branch] = args.what.as_slice()
        && is_sleep_branch(branch)
    {
        if args.of_one_run() {
            return Err(BrainError::usage(
                "--only, --take, --document, --at and --forget speak of one run that waits, and a sleep lands whole",
            ));
        }
        let report = brain.approve(branch, args.writer.dry_run)?;
        session.out.report(&report, super::night::told);
        return Ok(0);
    }
    if super::council::are_councils(&brain, &args.what)? {
        if args.of_one_run() {
            return Err(BrainError::usage(
                "--only, --take, --document, --at and --forget speak of a run, and this is a council",
            ));
        }
        let why = args.why.as_deref().unwrap_or_default();
        return super::council::close(session, &brain, &args.what, true, why, args.writer.dry_run);
    }
    if let [run] = args.what.as_slice()
        && brain.is_reviewed(run)?
    {
        return super::review::approve(session, &brain, run, args);
    }
    let mut names_runs = false;
    for name in &args.what {
        names_runs = names_runs || is_run(name) || brain.is_reviewed(name)?;
    }
    if args.what.len() > 1 && names_runs {
        if args.of_one_run() {
            return Err(BrainError::usage("--only, --take, --document, --at and --forget speak of one run"));
        }
        return super::review::approve_each(session, &brain, args);
    }
    if args.of_one_run() {
        return Err(BrainError::usage("--only, --take, --document, --at and --forget speak of one run that waits"));
    }
    let why = args.why.as_deref().unwrap_or_default();
    let report = match &args.origin {
        Some(origin) => brain.approve_origin(origin, why, args.writer.dry_run)?,
        None => brain.approve_neurons(&args.what, why, args.writer.dry_run)?,
    };
    session.out.report(&report, |report| told(report, "approve", "Approved"));
    Ok(0)
}

pub(super) fn revert(session: &Session, args: &args::Revert) -> Done {
    let brain = session.brain()?;
    let report = match (args.what.as_ref().or(args.run.as_ref()), &args.origin) {
        (Some(what), _) => brain.revert_run(what, args.writer.dry_run)?,
        (None, origin) => brain.revert_origin(origin.as_deref().unwrap_or_default(), args.writer.dry_run)?,
    };
    session.out.report(&report, |report| told(report, "take back", "Took back"));
    Ok(0)
}

fn told(report: &AmendReport, would: &str, did: &str) -> String {
    let verb = if report.dry_run { format!("Would {would}") } else { did.to_owned() };
    let mut lines = vec![format!(
        "{verb} {}: {}",
        plural(report.runs.len(), "run", "runs"),
        plural(report.neurons.len() + report.removed.len(), "neuron", "neurons")
    )];
    let statements = report.statements.iter().map(|one| {
        let origin = safe_line(&one.origin);
        format!("  {}  {}  {}  [{origin}]", &one.at[..10], one.id, safe_line(&clip(&one.text)))
    });
    let shown: Vec<String> = match report.statements.is_empty() {
        true => report.effects.iter().map(|line| format!("  {}", safe(line))).collect(),
        false => statements.collect(),
    };
    lines.extend(shown.iter().take(SHOWN).cloned());
    if shown.len() > SHOWN {
        lines.push(format!("  … and {} more; --json has all", shown.len() - SHOWN));
    }
    let others = report.neurons.len().saturating_sub(report.statements.len());
    if !report.statements.is_empty() && others > 0 {
        lines.push(format!("  … and {}, which these name", plural(others, "concept", "concepts")));
    }
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe(note))));
    if !report.by.is_empty() && !report.dry_run {
        lines.push(format!("{} in wake, {}", report.by.join(", "), short(&report.wake)));
    }
    lines.join("\n") + "\n"
}

/// The beginning of a statement, for a line.
fn clip(text: &str) -> String {
    const CHARS: usize = 160;
    let end = if text.chars().nth(CHARS).is_some() { "…" } else { "" };
    text.chars().take(CHARS).collect::<String>() + end
}

/// Effects or statements that a person is shown at once.
const SHOWN: usize = 40;
