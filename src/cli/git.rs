//! What git calls, and what people call about it: `hook`, `merge-driver`, `hooks`, `check`, `doctor`.

use super::args;
use super::output::safe;
use super::write::program;
use super::{Done, Session};
use crate::brain::{Brain, DriverFiles, Finding, Health, HookReport, HooksAnswer, Level};

/// `git brain hook`: everything goes to standard error, where git's user looks.
pub(super) fn hook(session: &Session, args: &args::Hook) -> Done {
    let answer = Brain::hook(&session.dir, session.world.clone(), &args.name, &args.args)?;
    session.out.say_all(&lines(&answer.findings));
    session.out.say_all(&answer.hints.iter().map(|hint| format!("hint: {hint}")).collect::<Vec<_>>());
    Ok(answer.exit)
}

pub(super) fn merge_driver(session: &Session, args: &args::MergeDriver) -> Done {
    let files = DriverFiles { base: &args.base, ours: &args.ours, theirs: &args.theirs, path: &args.path };
    let report = Brain::merge_driver(&session.dir, session.world.clone(), &session.flags, files);
    session.out.say_all(&report.hint.iter().map(|hint| format!("git-brain: {}", safe(hint))).collect::<Vec<_>>());
    Ok(report.exit)
}

pub(super) fn hooks(session: &Session, args: &args::Hooks) -> Done {
    let answer = match args.action {
        args::HooksAction::Install => Brain::install_hooks(&session.dir, &program(), args.writer.dry_run)?,
        args::HooksAction::Remove => Brain::remove_hooks(&session.dir, args.writer.dry_run)?,
        args::HooksAction::Status => Brain::hooks_status(&session.dir, &program())?,
    };
    session.out.report(&answer, hook_lines);
    session.out.say_all(&answer.notes);
    Ok(0)
}

fn hook_lines(answer: &HooksAnswer) -> String {
    let line = |hook: &HookReport| {
        let (state, done) = (word(&hook.state), word(&hook.done));
        format!("{:12} {state:10} {done:8} {}\n", hook.hook.as_str(), hook.path.display())
    };
    answer.report.hooks.iter().map(line).collect()
}

/// The word that JSON has for a small enum, for people as well.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn check(session: &Session, args: &args::Check) -> Done {
    if args.fix {
        let report = Brain::check_fix(&session.dir, args.dry_run)?;
        session.out.report(&report, |r| {
            let fixed = r.fixed.iter().map(|path| format!("{}: in canonical form now\n", safe(path)));
            fixed.chain(lines(&r.findings).into_iter().map(|line| line + "\n")).collect()
        });
        return Ok(u8::from(report.findings.iter().any(|f| f.level == Level::Error)));
    }
    let report = Brain::check(&session.dir, args.rev.as_deref())?;
    session.out.report(&report, |r| {
        let mut text: String = lines(&r.findings).into_iter().map(|line| line + "\n").collect();
        let (errors, files) = (r.findings.iter().filter(|f| f.level == Level::Error).count(), r.files);
        text.push_str(&format!("{files} files, {errors} wrong\n"));
        text
    });
    Ok(report.exit_code())
}

fn lines(findings: &[Finding]) -> Vec<String> {
    let line = |f: &Finding| {
        let level = if f.level == Level::Error { "error" } else { "warning" };
        format!("{}:{}: {level}: {}", safe(&f.path), f.line, safe(&f.message))
    };
    findings.iter().map(line).collect()
}

pub(super) fn doctor(session: &Session, args: &args::Writer) -> Done {
    let report = Brain::doctor(&session.dir, session.world.clone(), &session.flags, &program(), args.dry_run)?;
    session.out.report(&report, |r| {
        let mut text = String::new();
        for finding in &r.findings {
            let state = match (finding.state, r.dry_run) {
                (Health::Ok, _) => "ok        ",
                (Health::Repaired, false) => "repaired  ",
                (Health::Repaired, true) => "repairable",
                (Health::NeedsYou, _) => "needs you ",
            };
            text.push_str(&format!("{state}  {}: {}\n", finding.what, safe(&finding.message)));
            text.extend(finding.hint.iter().map(|hint| format!("            hint: {}\n", safe(hint))));
        }
        text
    });
    Ok(report.exit_code())
}
