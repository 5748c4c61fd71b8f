//! `hook CLIENT EVENT`, `setup`: coding agents.

use std::io::IsTerminal;

use super::args;
use super::output::{program, safe};
use super::{Done, Session};
use crate::brain::{Brain, BrainError, SetupOrder, SetupReport, SetupRequest, SetupState, Source, read_source};
use crate::limits;

/// The exit code of a hook that was called wrongly. Clients take 2 for an order to stop what they do.
const WRONG: u8 = 1;

pub(super) fn hook(session: &Session, args: &args::Hook) -> Done {
    match answered(session, args) {
        Ok(text) => {
            session.out.text(&text);
            Ok(0)
        }
        Err(error) => {
            session.out.say(&format!("error: {}", safe(&error.to_string())));
            error.hint().iter().for_each(|hint| session.out.say(&format!("hint: {}", safe(hint))));
            Ok(WRONG)
        }
    }
}

fn answered(session: &Session, args: &args::Hook) -> Result<String, BrainError> {
    let [event] = args.args.as_slice() else {
        return Err(BrainError::usage(format!("name one event: git brain hook {} EVENT", args.name)));
    };
    let input = match std::io::stdin().is_terminal() {
        true => Vec::new(),
        false => read_source(&Source::Stdin, limits::HOOK_INPUT_BYTES)?.0,
    };
    let dir = session.is_said.then_some(session.dir.as_path());
    Brain::client_hook(dir, session.world.clone(), &session.flags, &args.name, event, &input)
}

pub(super) fn setup(session: &Session, args: &args::Setup) -> Done {
    let order = match (args.check, args.remove) {
        (true, _) => SetupOrder::Check,
        (_, true) => SetupOrder::Remove,
        _ => SetupOrder::Install,
    };
    let request = SetupRequest {
        client: args.client.clone(),
        user: args.user,
        plugin: args.plugin.clone(),
        program: program(),
        order,
        dry_run: args.writer.dry_run,
    };
    let report = Brain::setup(&session.dir, &session.world, &request)?;
    session.out.report(&report, set_up);
    Ok(u8::from(!report.faults.is_empty()))
}

fn set_up(report: &SetupReport) -> String {
    let mut lines: Vec<String> = Vec::new();
    for file in &report.files {
        let state = match (file.state, report.dry_run) {
            (SetupState::Missing, _) => "nothing of ours",
            (SetupState::Differs, _) => "differs",
            (SetupState::Ready, _) => "ready",
            (SetupState::Written, false) => "written",
            (SetupState::Written, true) => "would write",
            (SetupState::Cleaned, false) => "taken out",
            (SetupState::Cleaned, true) => "would take out",
            (SetupState::Removed, false) => "removed",
            (SetupState::Removed, true) => "would remove",
            (SetupState::Shared, _) => "stays for another client",
        };
        lines.push(format!("{state:<15} {}", safe(&file.path.display().to_string())));
    }
    lines.extend(report.remarks.iter().map(|remark| format!("next: {}", safe(remark))));
    lines.extend(report.faults.iter().map(|fault| format!("fault: {}", safe(fault))));
    lines.join("\n") + "\n"
}
