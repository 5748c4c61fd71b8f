//! `audit` and `bisect`.

#![allow(clippy::disallowed_methods, reason = "the boundary to the person's terminal, and to the command that judges")]

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::output::{STYLES, safe_line, short};
use super::{Done, Session, args};
use crate::brain::{
    AuditFinding, AuditLevel, AuditReport, AuditRule, AuditSample, BisectAnswer, BisectReport, BisectRequest, Brain,
    BrainError, Expectation,
};
use crate::model::plural;

/// Findings of an acceptance that are shown.
const SETTLED: usize = 20;
/// The exit code of a command that says nothing about answers, as in `git bisect run`.
const SKIPS: i32 = 125;

pub(super) fn audit(session: &Session, args: &args::Audit) -> Done {
    let (brain, fault) = match &args.action {
        Some(args::AuditAction::Accept { .. }) => (session.brain()?, None),
        _ => Brain::open_to_audit(&session.dir, session.world.clone(), &session.flags)?,
    };
    // The commit that brought it is among the findings, and hides none.
    if let Some(fault) = &fault {
        session.out.say(&format!("note: {fault}; the audit goes on without it"));
        fault.hint().iter().for_each(|hint| session.out.say(&format!("hint: {hint}")));
    }
    match &args.action {
        Some(args::AuditAction::Sample { seed, share, dry_run }) => {
            session.out.report(&brain.audit_sample(*seed, *share, *dry_run)?, sampled);
            return Ok(0);
        }
        Some(args::AuditAction::Accept { run, why }) => {
            let accepted = brain.audit_accept(run, why)?;
            session.out.report(&accepted, |accepted| {
                let commits: Vec<&str> = accepted.decisions.iter().map(|decision| short(&decision.commit)).collect();
                let of = if commits.iter().any(|commit| commit.starts_with(run.as_str()) || run.starts_with(commit)) {
                    String::new()
                } else {
                    format!("{}: ", safe_line(run))
                };
                let settles =
                    accepted.settles.iter().take(SETTLED).map(|one| {
                        format!("  settles {}  {}\n", one.finding.rule.id(), safe_line(&one.finding.message))
                    });
                let settles = settles.collect::<String>();
                let more = match accepted.settles.len().checked_sub(SETTLED) {
                    Some(more) if more > 0 => format!("  and {more} more\n"),
                    _ => String::new(),
                };
                let notes: String = accepted.notes.iter().map(|note| format!("note: {}\n", safe_line(note))).collect();
                format!(
                    "Accepted {of}{}, as {}.\n{settles}{more}{notes}",
                    commits.join(", "),
                    safe_line(&accepted.reviewer)
                )
            });
            return Ok(0);
        }
        None => {}
    }
    if let Some(forge) = args.ci {
        let file = brain.write_audit_workflow(super::write::workflow_of(forge), args.git.as_deref())?;
        let report = serde_json::json!({ "workflow": file });
        session.out.report(&report, |_| format!("Wrote {}: commit it.\n", safe_line(&file.display().to_string())));
        return Ok(0);
    }
    let bar = session.out.bar();
    let report =
        brain.audit(args.range.as_deref(), args.all, &mut |done, of| bar.set("audit ", done as u64, of as u64))?;
    drop(bar);
    match args.sarif {
        true => session.out.page(&format!("{}\n", report.sarif())),
        false => session.out.report(&report, audited),
    }
    Ok(report.exit_code())
}

fn audited(report: &AuditReport) -> String {
    let [bold, end, faint, green, red] = STYLES;
    let mut text = String::new();
    for named in &report.findings {
        let finding = &named.finding;
        let is_open = named.settled.is_none();
        let style = match finding.level {
            AuditLevel::Quarantine if is_open => red,
            _ => bold,
        };
        let level = if is_open { finding.level.as_str() } else { "settled" };
        let place = match (finding.path.is_empty(), finding.line) {
            (true, _) => String::new(),
            (false, 0) => format!("{}: ", safe_line(&finding.path)),
            (false, line) => format!("{}:{line}: ", safe_line(&finding.path)),
        };
        let run = if finding.run.is_empty() { String::new() } else { format!("\n    run {}", safe_line(&finding.run)) };
        text += &format!(
            "{style}{level:<10}{end} {} {}  {place}{}{faint}  [{}]{end}{run}\n",
            short(&finding.commit),
            finding.rule.id(),
            safe_line(&finding.message),
            named.id,
        );
        if let Some(settled) = &named.settled {
            text += &format!(
                "    by {}, {}: {}\n",
                safe_line(&settled.by),
                safe_line(&settled.at),
                safe_line(&settled.why)
            );
        }
    }
    if report.left_off > 0 {
        text += &format!("{} more are not kept\n", report.left_off);
    }
    let counts: Vec<String> = report.counts.iter().map(|(rule, count)| format!("{count} {}", rule.id())).collect();
    let style = if report.level == AuditLevel::Quarantine { red } else { green };
    let of = if report.range.is_empty() { String::new() } else { format!(" of {}", safe_line(&report.range)) };
    text += &format!(
        "{style}{}{end}: {}{of} ({} new), {}, {}{}\n",
        report.level.as_str(),
        plural(report.commits, "commit", "commits"),
        report.new_commits,
        plural(report.runs, "run", "runs"),
        plural(report.decisions, "decision", "decisions"),
        if counts.is_empty() { String::new() } else { format!("; {}", counts.join(", ")) },
    );
    if !report.escalated.is_empty() {
        let by_run = |named: &&AuditFinding| {
            let finding = &named.finding;
            finding.rule != AuditRule::ForgedTrailer && finding.rule.ends_with_revert() && !finding.run.is_empty()
        };
        let open = report.findings.iter().filter(|named| report.escalated.contains(&named.id));
        let revert = if open.clone().any(|named| by_run(&named)) { "git brain revert RUN   " } else { "" };
        let by_git = open.clone().any(|named| named.finding.rule != AuditRule::Rewritten);
        let by_git = if by_git { "git revert [-m 1] COMMIT, where it was made: main or wake   " } else { "" };
        text += &format!("Next: git brain review   {revert}{by_git}git brain audit accept RUN|COMMIT --why TEXT\n");
    }
    text
}

fn sampled(sample: &AuditSample) -> String {
    let mut text = format!(
        "{} of {} drawn with seed {}, {} of earlier draws, {} escalated by the last audit:\n",
        sample.drawn.len(),
        plural(sample.of, "run", "runs"),
        sample.seed,
        sample.earlier.len(),
        sample.escalated.len()
    );
    sample.drawn.iter().for_each(|run| text += &format!("  {}\n", safe_line(run)));
    sample.earlier.iter().for_each(|run| text += &format!("  {}  drawn before\n", safe_line(run)));
    sample.escalated.iter().for_each(|run| text += &format!("  {}  escalated\n", safe_line(run)));
    text + "Next: git brain review RUN   git brain audit accept RUN\n"
}

pub(super) fn bisect(session: &Session, args: &args::Bisect) -> Done {
    let expectation = match (&args.expect, &args.avoid, &args.run) {
        (Some(text), ..) => Expectation::Holds(text.clone()),
        (None, Some(text), _) => Expectation::Avoids(text.clone()),
        (None, None, Some(_)) => Expectation::Judged,
        (None, None, None) => Expectation::Asked,
    };
    if args.top == 0 {
        return Err(BrainError::usage("--top 0: one answer at least must count"));
    }
    for text in [&args.expect, &args.avoid].into_iter().flatten() {
        if text.trim().is_empty() {
            return Err(BrainError::usage("--expect and --avoid need a text"));
        }
    }
    if expectation == Expectation::Asked && args.run.is_none() && !std::io::stdin().is_terminal() {
        return Err(BrainError::Usage {
            message: "standard input is no terminal to ask on".to_owned(),
            hint: Some("--expect TEXT, --avoid TEXT or --run CMD says which answers are right".to_owned()),
        });
    }
    let request = BisectRequest {
        question: args.question.join(" "),
        good: args.good.clone(),
        bad: args.bad.clone(),
        expectation,
        top: Some(args.top),
    };
    let mut asking = |commit: &str, answers: &[String], left: usize| match &args.run {
        Some(command) => by_command(session, command, commit, answers),
        None => by_person(session, commit, answers, left),
    };
    let report = session.brain()?.bisect(&request, &mut asking)?;
    session.out.report(&report, found);
    Ok(0)
}

fn by_command(session: &Session, command: &str, commit: &str, answers: &[String]) -> Result<BisectAnswer, BrainError> {
    let failed = |error: std::io::Error| BrainError::usage(format!("--run {command}: {error}"));
    let mut child = Command::new("sh")
        .args(["-c", command])
        .current_dir(&session.dir)
        .env("BRAIN_REV", commit)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        let lines: String =
            answers.iter().map(|answer| answer.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
        // A command that looks at the commit alone does not read them.
        let _ = stdin.write_all(lines.as_bytes());
    }
    match child.wait().map_err(failed)?.code() {
        Some(0) => Ok(BisectAnswer::Good),
        Some(SKIPS) => Ok(BisectAnswer::Skip),
        Some(1..SKIPS) => Ok(BisectAnswer::Bad),
        _ => Err(BrainError::usage(format!("--run {command}: ended neither with 0 to 125 nor of itself"))),
    }
}

fn by_person(session: &Session, commit: &str, answers: &[String], left: usize) -> Result<BisectAnswer, BrainError> {
    session.out.say(&format!("\nat {}, {}:", short(commit), plural(left, "commit left", "commits left")));
    for (at, answer) in answers.iter().enumerate() {
        session.out.say(&format!("  {}. {}", at + 1, safe_line(answer)));
    }
    if answers.is_empty() {
        session.out.say("  no answer");
    }
    loop {
        session.out.say("Is that right? y: yes, n: no, s: skip, q: stop");
        let mut line = String::new();
        if !matches!(std::io::stdin().lock().read_line(&mut line), Ok(1..)) {
            return Err(BrainError::usage("stopped: no answer was given"));
        }
        match line.trim() {
            "y" | "yes" => return Ok(BisectAnswer::Good),
            "n" | "no" => return Ok(BisectAnswer::Bad),
            "s" | "skip" => return Ok(BisectAnswer::Skip),
            "q" | "quit" => return Err(BrainError::usage("stopped")),
            _ => {}
        }
    }
}

fn found(report: &BisectReport) -> String {
    let [bold, end, ..] = STYLES;
    let mut text = match &report.run {
        Some(run) => format!(
            "{bold}{run}{end} answers wrongly first, after {}:\n",
            plural(report.questions, "question", "questions")
        ),
        None => format!(
            "{bold}{}{end} answers wrongly first, after {}:\n",
            short(&report.commit),
            plural(report.questions, "question", "questions")
        ),
    };
    let by = report.author.as_ref().unwrap_or(&report.by);
    text += &format!("  by {}, commit {}: {}\n", safe_line(by), short(&report.commit), safe_line(&report.subject));
    report.words.iter().for_each(|words| text += &format!("  says: {}\n", safe_line(words)));
    report.gone.iter().for_each(|words| text += &format!("  takes away: {}\n", safe_line(words)));
    report.because.iter().for_each(|words| text += &format!("  because of: {}\n", safe_line(words)));
    report.decision.iter().for_each(|decision| text += &format!("  {}\n", safe_line(decision)));
    if !report.or.is_empty() {
        let or: Vec<&str> = report.or.iter().map(|id| short(id)).collect();
        text += &format!("  or one of these, whose answers were skipped: {}\n", or.join(", "));
    }
    report.notes.iter().for_each(|note| text += &format!("note: {}\n", safe_line(note)));
    match &report.undo {
        Some(undo) => text + &format!("Next: {undo}\n"),
        None => text,
    }
}
