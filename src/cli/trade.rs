//! `import`, `export`, `schema`.

use super::output::{safe, safe_line};
use super::write::{code_of, ran};
use super::{Done, Session, args};
use crate::brain::schema::SCHEMAS;
use crate::brain::trade::{ImportProgress, ImportReport};
use crate::brain::{Brain, BrainError, ExportRequest, ImportRequest, Imported, MoveProgress, MovedIn, path_in};
use crate::model::plural;

/// Things that cannot be held which a terminal shows; `--json` has all.
const SHOWN: usize = 40;

pub(super) fn import(session: &Session, args: &args::Import) -> Done {
    let brain = session.brain()?;
    let bar = session.out.bar();
    let mut show = |progress: ImportProgress| match progress {
        ImportProgress::Reading(done, of) => bar.set("reading", done, of),
        ImportProgress::Writing(done, of) => bar.set("writing", done as u64, of as u64),
    };
    let dry_run = args.writer.dry_run;
    let report = match (&args.triples, &args.file) {
        (Some(triples), _) => brain.import_triples(&path_in(&session.dir, triples), dry_run, &mut show)?,
        (None, None) => return Err(BrainError::usage("name a file or folder, or --triples and a file")),
        (None, Some(file)) => {
            let request = ImportRequest {
                path: if file.as_os_str() == "-" { file.clone() } else { path_in(&session.dir, file) },
                format: args.format.clone(),
                origin: args.origin.clone(),
                no_run: args.no_run,
                dry_run,
            };
            let mut total = 0;
            let came = brain.import_from(&request, &mut |progress| match progress {
                MoveProgress::Network(of) => show(of),
                MoveProgress::Read(done, of) => bar.set("reading", done, of),
                MoveProgress::Loop(of) => bar.show(&of, &mut total),
            })?;
            match came {
                Imported::Network(report) => report,
                Imported::Memories(report) => {
                    drop(bar);
                    session.out.report(&*report, |report| moved_in(report, args));
                    return Ok(code_of(&report.ran));
                }
            }
        }
    };
    drop(bar);
    session.out.report(&report, imported);
    Ok(if report.held.is_some() { 3 } else { 0 })
}

fn moved_in(report: &MovedIn, args: &args::Import) -> String {
    let verb = if report.dry_run { "would import" } else { "imported" };
    let mut text = format!(
        "{verb} {} from {} of {}, {} known already; origin {}\n",
        plural(report.new, "memory", "memories"),
        plural(report.files, "file", "files"),
        report.format,
        report.known,
        report.origin,
    );
    if report.redacted > 0 {
        let secrets = plural(report.redacted, "secret is", "secrets are");
        text += &format!("  note: {secrets} not remembered: the text reads [redacted:KIND] there\n");
    }
    if args.no_run || report.dry_run {
        text.extend(report.ran.notes.iter().map(|note| format!("  note: {}\n", safe_line(note))));
    } else {
        text += &ran(&report.ran);
    }
    if report.unheld_count > 0 {
        text += &format!("{} cannot be held:\n", plural(report.unheld_count, "thing", "things"));
        for unheld in report.unheld.iter().take(SHOWN) {
            text += &format!("  {}: {}\n", safe_line(&unheld.place), safe_line(&unheld.what));
        }
        if report.unheld_count > SHOWN {
            text += &format!("  … and {} more; `--json` lists them\n", report.unheld_count - SHOWN);
        }
    }
    text
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
    let brain = session.brain()?;
    let request = ExportRequest {
        format: args.format.clone(),
        at: args.at.clone(),
        to: args.to.as_ref().map(|to| path_in(&session.dir, to)),
    };
    let bar = session.out.bar();
    let mut show = |done: usize, of: usize| bar.set("writing", done as u64, of as u64);
    let exported = brain.export_to(&request, &mut session.out.stream(), &mut show)?;
    drop(bar);
    exported.notes.iter().for_each(|note| session.out.say(&format!("note: {}", safe(note))));
    if let Some(to) = &exported.to {
        session.out.report(&exported, |exported| match exported.pages {
            Some(pages) => {
                let written = plural(exported.written, "memory", "memories");
                format!("exported {written} on {} to {}\n", plural(pages, "page", "pages"), safe_line(to))
            }
            None => format!("exported {} to {}\n", plural(exported.written, "neuron", "neurons"), safe_line(to)),
        });
    }
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
