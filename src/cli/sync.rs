//! `sync`: many machines.

use super::output::safe;
use super::output::short;
use super::{Done, Session, args};
use crate::brain::{Brain, InitRequest, SyncReport};
use crate::model::{plural, shell_word};

pub(super) fn sync(session: &Session, args: &args::Sync) -> Done {
    let brain = session.brain()?;
    let report = brain.sync(args.remote.as_deref(), args.without_refused, args.writer.dry_run)?;
    session.out.report(&report, told);
    Ok(0)
}

/// `init --bare`.
pub(super) fn init_bare(session: &Session, request: &InitRequest, args: &args::Init) -> Done {
    let report = Brain::init_bare(&request.dir, args.in_repo, &request.program)?;
    if !args.no_hooks {
        super::house::install_hooks(session, &request.dir)?;
    }
    session.out.report(&report, |report| {
        let dir = safe(&report.dir.display().to_string());
        format!(
            "{dir} is a remote for brains (branches {} and {}); its gate looks at what is pushed.\n\
             Next, in a brain: git remote add origin {} && git brain sync\n",
            report.main,
            report.wake,
            shell_word(&dir)
        )
    });
    Ok(0)
}

fn told(report: &SyncReport) -> String {
    let fetched = plural(report.fetched, "commit", "commits");
    let mut lines = Vec::new();
    let decided = report.decisions_in + report.decisions_out > 0;
    match (report.dry_run, report.fetched, report.pushed.is_empty()) {
        (true, ..) => lines.push(format!("{}: {fetched} would come in. Nothing was moved.", safe(&report.remote))),
        (_, 0, true) if report.moved => {
            lines.push(format!("{}: what had been fetched before is merged here.", safe(&report.remote)));
        }
        (_, 0, true) if !decided => lines.push(format!("{}: nothing new here or there.", safe(&report.remote))),
        _ => lines.push(format!("{}: {fetched} came in.", safe(&report.remote))),
    }
    let would = if report.dry_run { "would come" } else { "came" };
    let decisions = |count| plural(count, "decision", "decisions");
    if report.decisions_in > 0 {
        lines.push(format!("  {} {would} in: `git brain review --decided`", decisions(report.decisions_in)));
    }
    if report.decisions_out > 0 {
        let would = if report.dry_run { "would go" } else { "went" };
        lines.push(format!("  {} {would} out", decisions(report.decisions_out)));
    }
    for pushed in &report.pushed {
        lines.push(match &pushed.commit {
            Some(commit) => format!("  {} is {} there", pushed.branch, short(commit)),
            None => format!("  {} is gone there: its run landed or was rejected", pushed.branch),
        });
    }
    for pushed in &report.would_push {
        lines.push(match &pushed.commit {
            Some(_) => format!("  {} would go there", pushed.branch),
            None => format!("  {} would go away there: its run landed or was rejected", pushed.branch),
        });
    }
    if report.dry_run && (report.rescued.is_some() || !report.notes.is_empty()) {
        lines.push("The sync would say:".to_owned());
    }
    if let Some(old) = &report.rescued {
        lines.push(format!(
            "main there was pushed first and stands; main as it was here, {}, is kept as a rescue ref, and what it \
             consolidated is in wake",
            short(old)
        ));
    }
    lines.extend(report.notes.iter().map(|note| safe(note)));
    lines.extend(report.left.iter().map(|left| format!("left alone: {}", safe(left))));
    lines.join("\n") + "\n"
}
