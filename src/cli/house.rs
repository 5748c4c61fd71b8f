//! `hooks`, `hook`, `merge-driver`, `check`, `doctor`, `trust`: the house around the network.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use super::args;
use super::output::safe;
use super::output::{program, short};
use super::{Done, Session};
use crate::brain::{
    Brain, BrainError, CheckReport, CheckedOut, CheckoutReport, DoctorReport, DriverFiles, Finding, FixReport, Health,
    HookDone, HookState, HooksAnswer, Level, TrustItem, TrustReport, UpgradeReport,
};
use crate::model::plural;

pub(super) fn hooks(session: &Session, args: &args::Hooks) -> Done {
    let dir = &session.dir;
    let answer = match args.action {
        args::HooksAction::Install => Brain::install_hooks(dir, &program(), args.writer.dry_run)?,
        args::HooksAction::Remove => Brain::remove_hooks(dir, args.writer.dry_run)?,
        args::HooksAction::Status => Brain::hooks_status(dir, &program())?,
    };
    session.out.report(&answer, hooked);
    let closed = answer.report.hooks.iter().any(|hook| hook.state == HookState::Closed);
    Ok(u8::from(closed && matches!(args.action, args::HooksAction::Install)))
}

fn hooked(answer: &HooksAnswer) -> String {
    let mut lines: Vec<String> = Vec::new();
    for hook in &answer.report.hooks {
        let state = match (hook.done, hook.state) {
            (HookDone::Created | HookDone::Added | HookDone::Replaced, _) => "installed",
            (HookDone::Removed | HookDone::Deleted, _) => "removed",
            (HookDone::Nothing, HookState::Installed) => "installed already",
            (HookDone::Nothing, HookState::Altered) => "differs from what this program writes",
            (HookDone::Nothing, HookState::Missing) => "not installed",
            (HookDone::Nothing, HookState::Closed) => "left alone",
        };
        let why = hook.message.as_deref().map(|m| format!(": {}", safe(m))).unwrap_or_default();
        lines.push(format!("{:<40} {state}{why}", safe(&hook.path.display().to_string())));
    }
    lines.extend(answer.notes.iter().map(|note| format!("note: {}", safe(note))));
    lines.join("\n") + "\n"
}

pub(super) fn hook(session: &Session, args: &args::Hook) -> Done {
    if Brain::is_client(&args.name, &args.args) {
        return super::client::hook(session, args);
    }
    let answer = Brain::hook(&session.dir, session.world.clone(), &args.name, &args.args)?;
    if session.out.is_json() {
        session.out.document(&answer);
    } else if !answer.findings.is_empty() {
        // Git shows a hook's standard error to the person whose commit it is.
        session.out.say(&found(&answer.findings));
        answer.hints.iter().for_each(|hint| session.out.say(&format!("hint: {hint}")));
    } else {
        answer.notes.iter().for_each(|note| session.out.say(&safe(note)));
    }
    Ok(answer.exit)
}

pub(super) fn merge_driver(session: &Session, args: &args::MergeDriver) -> Done {
    let files = DriverFiles { base: &args.base, ours: &args.ours, theirs: &args.theirs, path: &args.path };
    let report = Brain::merge_driver(&session.dir, session.world.clone(), &session.flags, files);
    if let Some(hint) = &report.hint {
        session.out.say(&safe(hint));
    }
    Ok(report.exit)
}

fn found(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let level = if finding.level == Level::Warning { "warning: " } else { "" };
        format!("{level}{}", safe(&finding.to_string()))
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn check(session: &Session, args: &args::Check) -> Done {
    if args.fix {
        let report = Brain::check_fix(&session.dir, args.writer.dry_run)?;
        session.out.report(&report, fixed);
        return Ok(u8::from(!report.findings.is_empty()));
    }
    let report = Brain::check(&session.dir, &session.world, args.rev.as_deref())?;
    session.out.report(&report, checked);
    Ok(report.exit_code())
}

fn checked(report: &CheckReport) -> String {
    let mut lines = Vec::new();
    if report.findings.is_empty() {
        lines.push(format!("{} at {}: all good", plural(report.files, "file", "files"), short(&report.commit)));
    } else {
        lines.push(found(&report.findings));
        let findings = plural(report.findings.len(), "finding", "findings");
        let files = plural(report.files, "file", "files");
        lines.push(format!("{findings} in {files} of {}", safe(&report.name)));
    }
    for branch in report.branches.iter().filter(|branch| !branch.findings.is_empty()) {
        let name = safe(&branch.branch);
        lines.extend(found(&branch.findings).lines().map(|line| format!("{name}: {line}")));
        let findings = plural(branch.findings.len(), "finding", "findings");
        lines.push(format!("{findings} in {} of {name}", plural(branch.files, "file", "files")));
    }
    if !report.refused.is_empty() {
        lines.push("the remote lacks these commits, and would refuse them:".to_owned());
        lines.push(found(&report.refused));
    }
    lines.extend(report.hints.iter().map(|hint| format!("hint: {}", safe(hint))));
    lines.join("\n") + "\n"
}

fn fixed(report: &FixReport) -> String {
    let mut lines: Vec<String> = report.fixed.iter().map(|path| format!("canonical now: {}", safe(path))).collect();
    if !report.findings.is_empty() {
        lines.push(found(&report.findings));
    }
    if lines.is_empty() {
        lines.push("every neuron of the work tree is canonical".to_owned());
    }
    lines.join("\n") + "\n"
}

pub(super) fn checkout(session: &Session, args: &args::Checkout) -> Done {
    let report = Brain::checkout(&session.dir, &args.folders, args.none)?;
    session.out.report(&report, checked_out);
    Ok(0)
}

fn checked_out(report: &CheckoutReport) -> String {
    let place = safe(&report.work_tree.display().to_string());
    let files = plural(report.files, "file", "files");
    let mut lines = vec![match &report.on_disk {
        CheckedOut::All => format!("{files} of network/ in {place}"),
        CheckedOut::Folders(folders) => format!("{files} of {} in {place}", safe(&folders.join(", "))),
        CheckedOut::Nothing => format!("network/ is not in {place}; `git brain show` and `git show` read it"),
    }];
    if !report.left.is_empty() {
        lines.push(
            "left, because you edited it; `git add --sparse FILE` stages it, `git restore FILE` takes it back:"
                .to_owned(),
        );
        lines.extend(report.left.iter().map(|path| format!("  {}", safe(path))));
    }
    lines.join("\n") + "\n"
}

pub(super) fn doctor(session: &Session, args: &args::Writer) -> Done {
    let report = Brain::doctor(&session.dir, session.world.clone(), &session.flags, &program(), args.dry_run)?;
    session.out.report(&report, diagnosed);
    Ok(report.exit_code())
}

pub(super) fn upgrade(session: &Session, args: &args::Writer) -> Done {
    let report = session.brain()?.upgrade(args.dry_run)?;
    session.out.report(&report, upgraded);
    Ok(0)
}

fn upgraded(report: &UpgradeReport) -> String {
    let neurons = plural(report.rewritten, "neuron", "neurons");
    match (&report.commit, report.from < report.to || report.rewritten > 0) {
        (Some(commit), _) => format!(
            "{neurons} written in format {} by {}. The next sleep brings them to main.{}\n",
            report.to,
            short(commit),
            older(report, "read it no more")
        ),
        (None, true) => {
            format!("would write {neurons} in format {}.{}\n", report.to, older(report, "would read it no more"))
        }
        (None, false) => format!("nothing to do: everything is in format {}\n", report.to),
    }
}

/// The consequence for programs that know only the former format.
fn older(report: &UpgradeReport, then: &str) -> String {
    match report.from < report.to {
        true => format!(
            " The brain was in format {}: programs that know no other {then}, on this machine and on all that sync with it.",
            report.from
        ),
        false => " An undo, or a run from before the upgrade, had brought them back.".to_owned(),
    }
}

fn diagnosed(report: &DoctorReport) -> String {
    let mut lines = Vec::new();
    for found in &report.findings {
        let state = match (found.state, report.dry_run) {
            (Health::Ok, _) => "ok      ",
            (Health::Repaired, false) => "repaired",
            (Health::Repaired, true) => "would do",
            (Health::NeedsYou, _) => "you     ",
        };
        lines.push(format!("{state}  {}: {}", found.what, safe(&found.message)));
        lines.extend(found.hint.iter().map(|hint| format!("          hint: {}", safe(hint))));
    }
    lines.join("\n") + "\n"
}

/// Installs our hooks and says what could not be done; called by `init`.
pub(super) fn install_hooks(session: &Session, dir: &Path) -> Result<(), BrainError> {
    let answer = Brain::install_hooks(dir, &program(), false)?;
    for hook in answer.report.hooks.iter().filter(|hook| hook.state == HookState::Closed) {
        let why = hook.message.as_deref().unwrap_or_default();
        session.out.say(&format!("{}: {}", hook.path.display(), safe(why)));
    }
    answer.notes.iter().for_each(|note| session.out.say(&safe(note)));
    Ok(())
}

pub(super) fn trust(session: &Session, args: &args::Trust) -> Done {
    let (brain, fault) = session.look()?;
    if args.revoke {
        if !args.writer.dry_run {
            let report = brain.revoke_trust()?;
            session.out.report(&report, |_| "nothing of this brain is trusted on this machine any more\n".to_owned());
        }
        return fault.map_or(Ok(0), Err);
    }
    let found = brain.trust_list()?;
    let open: Vec<TrustItem> = found.items.iter().filter(|item| !item.trusted).cloned().collect();
    if args.list || args.writer.dry_run || open.is_empty() {
        session.out.report(&found, listed);
        return fault.map_or(Ok(0), Err);
    }
    session.out.say(listed(&found).trim_end());
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            return Err(BrainError::Refused {
                message: "nothing was trusted: standard input is no terminal to ask on".to_owned(),
                hint: Some("look at the list, then `git brain trust --yes`".to_owned()),
            });
        }
        if !confirmed(session) {
            return Err(BrainError::refused("nothing was trusted"));
        }
    }
    let report = brain.trust(&open)?;
    session.out.report(&report, |r| format!("trusted {}\n", plural(r.items.len(), "file", "files")));
    fault.map_or(Ok(0), Err)
}

fn listed(report: &TrustReport) -> String {
    if report.items.is_empty() {
        return "nothing here needs trust: all agents are the bootstrap's own\n".to_owned();
    }
    let line = |item: &TrustItem| {
        let state = if item.trusted { "trusted" } else { "inert  " };
        let changed = item.before.as_ref().map_or_else(String::new, |before| {
            format!("           changed since you trusted it: git diff {} {}\n", short(before), short(&item.blob))
        });
        let (path, grants) = (safe(&item.path), safe(&item.grants));
        format!("{state}  {path} ({})\n           may {grants}\n{changed}", short(&item.blob))
    };
    let confinement = report.confinement.iter().map(|text| format!("{text}\n"));
    report.items.iter().map(line).chain(confinement).collect()
}

fn confirmed(session: &Session) -> bool {
    session.out.say("Trust exactly these files on this machine? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Carries out what the engine orders for a program of an agent. What cannot be done is said to the engine.
pub(super) fn confine(args: &args::Confine) -> u8 {
    crate::brain::confine(&args.orders, args.probe)
}
