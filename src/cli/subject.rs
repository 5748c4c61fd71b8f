//! `subject`, and `feed --subject`.

use std::path::Path;

use serde_json::json;

use super::args::{self, SubjectAction};
use super::output::safe_line;
use super::{Done, Session};
use crate::brain::{
    BrainError, SealReport, SealRequest, Source, SubjectLine, SubjectList, SubjectMemories, SubjectMemory,
    SubjectReport,
};
use crate::limits;
use crate::model::{Stamp, plural};

pub(super) fn subject(session: &Session, args: &args::Subject) -> Done {
    let brain = session.brain()?;
    match &args.action {
        SubjectAction::Add { name, key, writer } => {
            let key = match key.as_deref() {
                Some("-") => Some(session.text_of(Path::new("-"), limits::SUBJECT_KEY_LINE_BYTES)?),
                key => key.map(str::to_owned),
            };
            let verb = if key.is_some() { "took the key of" } else { "added" };
            let report = brain.add_subject(name, key.as_deref(), writer.dry_run)?;
            session.out.report(&report, |report| changed(report, verb));
        }
        SubjectAction::List => {
            let list = brain.subjects()?;
            session.out.report(&list, listed);
            return Ok(u8::from(!list.damaged.is_empty()));
        }
        SubjectAction::Show { name } => {
            let shown = brain.subject_memories(name)?;
            session.out.report(&shown, told);
            return Ok(u8::from(!shown.damaged.is_empty()));
        }
        SubjectAction::Key { name } => {
            let key = brain.subject_key(name)?;
            session.out.report(&json!({"key": key}), |_| format!("{key}\n"));
        }
        SubjectAction::Forget { names, writer } => {
            let report = brain.forget_subjects(names, writer.dry_run)?;
            session.out.report(&report, |report| changed(report, "forgot"));
        }
    }
    Ok(0)
}

/// `feed --subject`.
pub(super) fn seal(
    session: &Session,
    subject: &str,
    sources: Vec<Source>,
    at: Option<Stamp>,
    dry_run: bool,
) -> Result<u8, BrainError> {
    let request = SealRequest { subject: subject.to_owned(), sources, at, dry_run };
    session.out.report(&session.brain()?.seal(&request)?, sealed);
    Ok(0)
}

fn line(subject: &SubjectLine) -> String {
    let memories = plural(subject.memories, "memory", "memories");
    let state = match (subject.forgotten, subject.key) {
        (true, _) => format!("forgotten, {memories} that no key opens"),
        (false, false) => format!("{memories}, no key here"),
        (false, true) => memories,
    };
    let name = subject.name.as_deref().map_or_else(|| "-".to_owned(), safe_line);
    format!("{name}  {state}  {}\n", subject.id)
}

fn listed(list: &SubjectList) -> String {
    let mut text: String = list.subjects.iter().map(line).collect();
    if list.subjects.is_empty() {
        text += "No subjects. `git brain subject add NAME` adds one.\n";
    }
    text.extend(list.damaged.iter().map(|damage| format!("error: {damage}\n")));
    if list.stray_keys > 0 {
        let keys = plural(list.stray_keys, "key opens", "keys open");
        text += &format!(
            "{keys} no card of this brain, in {}: `git brain subject forget ID` destroys one\n",
            safe_line(&list.folder)
        );
    }
    text + &noted(&list.notes)
}

fn told(shown: &SubjectMemories) -> String {
    let line = |memory: &SubjectMemory| {
        format!("{}  {}\n", memory.at.to_string().chars().take(10).collect::<String>(), safe_line(&memory.text))
    };
    let mut text: String = shown.memories.iter().map(line).collect();
    if shown.memories.is_empty() {
        text += "No memories.\n";
    }
    text.extend(shown.damaged.iter().map(|damage| format!("error: {damage}\n")));
    text + &noted(&shown.notes)
}

fn changed(report: &SubjectReport, verb: &str) -> String {
    let would = if report.dry_run { "would have " } else { "" };
    let mut text = match report.subjects.len() {
        0 => "Nothing new.\n".to_owned(),
        count => format!("{would}{verb} {}\n", plural(count, "subject", "subjects")),
    };
    if !report.dry_run {
        text.extend(report.subjects.iter().map(|id| format!("  {id}\n")));
    }
    if report.destroyed > 0 {
        text += &format!("destroyed {} of this machine\n", plural(report.destroyed, "key", "keys"));
    }
    text += &noted(&report.notes);
    text.extend(report.run.iter().map(|run| format!("  run {run}\n")));
    text
}

fn sealed(report: &SealReport) -> String {
    let verb = if report.dry_run { "would have sealed" } else { "sealed" };
    let known = match report.known {
        0 => String::new(),
        known => format!(", {known} sealed already"),
    };
    let memories = plural(report.sealed, "memory", "memories");
    let mut text = format!("{verb} {memories} for {}{known}\n", report.subject);
    text += &noted(&report.notes);
    text.extend(report.runs.iter().map(|run| format!("  run {run}\n")));
    text
}

fn noted(notes: &[String]) -> String {
    notes.iter().map(|note| format!("note: {}\n", safe_line(note))).collect()
}
