//! `import`, `export`, `schema`.

use super::output::safe;
use super::{Done, Session, args};
use crate::brain::schema::SCHEMAS;
use crate::brain::trade::{ImportProgress, ImportReport};
use crate::brain::{Brain, BrainError};
use crate::model::plural;

pub(super) fn import(session: &Session, args: &args::Import) -> Done {
    let brain = session.brain()?;
    let bar = session.out.bar();
    let mut show = |progress: ImportProgress| match progress {
        ImportProgress::Reading(done, of) => bar.set("reading", done, of),
        ImportProgress::Writing(done, of) => bar.set("writing", done as u64, of as u64),
    };
    let dry_run = args.writer.dry_run;
    let report = match (&args.triples, &args.file) {
        (Some(triples), _) => brain.import_triples(triples, dry_run, &mut show)?,
        (None, Some(file)) => brain.import(file, dry_run, &mut show)?,
        (None, None) => return Err(BrainError::usage("name a file, or --triples and a file")),
    };
    drop(bar);
    session.out.report(&report, imported);
    Ok(if report.held.is_some() { 3 } else { 0 })
}

fn imported(report: &ImportReport) -> String {
    let verb = if report.dry_run { "would make" } else { "made" };
    let mut text = format!(
        "{verb} {}, change {}, leave {} as they are; {} in {}\n",
        plural(report.created, "neuron", "neurons"),
        report.changed,
        report.unchanged,
        plural(report.connections, "connection", "connections"),
        plural(report.runs.len(), "run", "runs"),
    );
    text.extend(report.held.iter().map(|why| format!("stays on its branch: {}\n", safe(why))));
    text.extend(report.notes.iter().map(|note| format!("note: {}\n", safe(note))));
    text
}

pub(super) fn export(session: &Session, args: &args::Export) -> Done {
    session.brain()?.export(args.at.as_deref(), &mut session.out.stream())?;
    Ok(0)
}

pub(super) fn schema(session: &Session, args: &args::Schema) -> Done {
    if session.out.is_json() && args.name.is_none() {
        session.out.document(&serde_json::json!({"schemas": SCHEMAS}));
        return Ok(0);
    }
    let text = Brain::schema(args.name.as_deref())?;
    session.out.paged(&text);
    Ok(0)
}
