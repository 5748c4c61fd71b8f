//! `init`, `feed`, `run`, `apply`, `merge`, `merge-tree`.

use std::io::IsTerminal;

use super::args;
use super::output::{program, safe_line, short};
use super::{Done, Session};
use crate::brain::{
    ApplyReport, Brain, BrainError, Correction, DayEdge, Due, FedFile, FeedReport, FeedRequest, InitReport,
    InitRequest, MergeReport, RunBounds, RunReport, Source, Workflow, path_in, sources,
};
use crate::model::{AgentName, plural, shell_word};

pub(super) fn init(session: &Session, args: &args::Init) -> Done {
    let dir = args.dir.clone().map_or_else(|| session.dir.clone(), |dir| session.dir.join(dir));
    let request = InitRequest { dir, in_repo: args.in_repo, program: program() };
    if args.writer.dry_run {
        let dir = request.dir.display();
        session.out.say(&match (args.bare, args.in_repo) {
            (true, _) => format!("would make {dir} a remote for brains: a bare repository with a gate"),
            (false, true) => {
                format!("would make a brain in the repository {dir}, or adopt the one that it or its remote has")
            }
            (false, false) => format!("would make a brain in {dir}"),
        });
        return Ok(0);
    }
    if args.bare {
        return super::sync::init_bare(session, &request, args);
    }
    if args.ci.is_some()
        && let Ok(brain) = Brain::open(&request.dir, session.world.clone(), &[])
    {
        write_workflow(session, &brain, args)?;
        return Ok(0);
    }
    let (brain, report) = Brain::init(&request, session.world.clone())?;
    let wants_hooks = if args.in_repo { args.hooks } else { !args.no_hooks };
    if wants_hooks {
        super::house::install_hooks(session, &request.dir)?;
    }
    session.out.report(&report, made);
    write_workflow(session, &brain, args)?;
    report.notes.iter().for_each(|note| session.out.say(&format!("hint: {note}")));
    for note in brain.take_notes() {
        session.out.say(&note);
    }
    Ok(0)
}

/// The workflow of a forge.
pub(super) fn workflow_of(forge: args::CiForge) -> Workflow {
    match forge {
        args::CiForge::Github => Workflow::Github,
        args::CiForge::Gitlab => Workflow::Gitlab,
        args::CiForge::Forgejo => Workflow::Forgejo,
    }
}

/// Writes the workflow for a forge, if one is wanted.
fn write_workflow(session: &Session, brain: &Brain, args: &args::Init) -> Result<(), BrainError> {
    let Some(workflow) = args.ci.map(workflow_of) else { return Ok(()) };
    let file = brain.write_workflow(workflow, args.git.as_deref())?;
    let file = file.display();
    session
        .out
        .say(&format!("Wrote {file}: commit it on the forge's default branch; docs/review.md says what it needs."));
    if args.git.is_none() {
        session.out.say("It installs git-brain by the name of the crate; --git URL names a repository instead.");
    }
    Ok(())
}

fn made(report: &InitReport) -> String {
    let dir = shell_word(&report.dir.display().to_string());
    if report.adopted && report.first_runs.runs.is_empty() {
        let (place, main, wake) = (report.dir.display(), &report.main, &report.wake);
        return format!(
            "Adopted the brain in {place} (branches {main} and {wake}).\n\
             Next: git brain -C {dir} sync   brings what waits at the remote\n"
        );
    }
    let verb = if report.adopted { "Adopted the" } else { "Made a" };
    let runs = plural(report.first_runs.runs.len(), "agent", "agents");
    format!(
        "{verb} brain in {} (branches {} and {}); {runs} introduced themselves.\n\
         Next: git brain -C {} feed \"Anna moved to Kyoto in May\"\n",
        report.dir.display(),
        report.main,
        report.wake,
        dir
    )
}

pub(super) fn feed(session: &Session, args: &args::Feed) -> Done {
    let named = if args.inputs.is_empty() { Ok(Vec::new()) } else { sources(&session.dir, &args.inputs) };
    let mut inputs = match named {
        Ok(inputs) => inputs,
        Err(error) => {
            return Err(match session.brain() {
                Ok(brain) => brain.missing(&args.inputs, error),
                Err(_) => error,
            });
        }
    };
    inputs.extend(args.said.clone().map(Source::Text));
    inputs.extend(args.file.iter().map(|file| match file.as_os_str() == "-" {
        true => Source::Stdin,
        false => Source::File(path_in(&session.dir, file)),
    }));
    inputs.extend(args.gone.iter().map(|gone| Source::Gone(path_in(&session.dir, gone))));
    let brain = session.brain()?;
    let at = args.at.as_deref().map(|at| brain.moment("at", at, DayEdge::Noon)).transpose()?;
    if let Some(subject) = &args.subject {
        return super::subject::seal(session, subject, inputs, at, args.writer.dry_run);
    }
    let request = FeedRequest {
        sources: inputs,
        at,
        source: args.source.clone(),
        session: args.session.clone(),
        answers: args.answers.clone(),
        value: args.value,
        corrects: args.corrects.clone(),
        origin: args.origin.clone(),
        again: args.again,
        no_run: args.no_run,
        dry_run: args.writer.dry_run,
        ..FeedRequest::default()
    };
    let bar = session.out.bar();
    let mut total = 0;
    let report = brain.feed(&request, &mut |progress| bar.show(&progress, &mut total))?;
    drop(bar);
    for unread in &report.unread {
        session.out.say(&format!("error: {}", safe_line(&unread.error)));
    }
    session.out.report(&report, |r| fed(r, &request));
    let unread = report.unread.iter().map(|unread| unread.code).max().unwrap_or(0);
    Ok(code_of(&report.ran).max(unread))
}

pub(super) fn fed(report: &FeedReport, request: &FeedRequest) -> String {
    const SHOWN: usize = 20;
    let mut text: String = report.files.iter().take(SHOWN).map(fed_file).collect();
    if report.files.len() > SHOWN {
        text += &format!("… and {} more files\n", report.files.len() - SHOWN);
    }
    for gone in report.gone.iter().take(SHOWN) {
        let file = safe_line(&gone.file);
        text += &match &gone.moved_to {
            Some(other) => {
                format!("{file} moved to {}, {} archived{}\n", safe_line(other), gone.archived, fed_by(&gone.others))
            }
            None if gone.stay > 0 => {
                format!("{file} is not there: {}\n", plural(gone.stay, "memory of it stays", "memories of it stay"))
            }
            None => format!("{file}: gone, {} archived{}\n", gone.archived, fed_by(&gone.others)),
        };
    }
    if report.gone.len() > SHOWN {
        text += &format!("… and {} more that are gone\n", report.gone.len() - SHOWN);
    }
    if report.gone.iter().any(|gone| gone.stay > 0) {
        text += "`git brain feed --gone PATH` archives the memories of files that are not there\n";
    }
    for run in &report.archived {
        text += &format!("archived what was replaced or is gone; `git brain revert {run}` brings it back\n");
    }
    if let Some(Correction { corrects, by, fed_by }) = &report.corrected {
        let verb = match (request.dry_run, report.archived.is_empty()) {
            (true, _) => "would be replaced by",
            (false, false) => "is replaced by",
            (false, true) => "stays until it is replaced by",
        };
        let of = fed_by.as_ref().map(|by| format!(", fed by {},", safe_line(by))).unwrap_or_default();
        text += &format!("{}{of} {verb} {}\n", safe_line(corrects), safe_line(by));
    }
    let known = if report.known > 0 { format!(", {} known already", report.known) } else { String::new() };
    let verb = if request.dry_run { "would store" } else { "stored" };
    text += &format!("{verb} {}{known}\n", plural(report.stimuli.len(), "stimulus", "stimuli"));
    if request.no_run || request.dry_run {
        text.extend(report.ran.notes.iter().map(|note| format!("  note: {}\n", safe_line(note))));
        return text;
    }
    text + &ran(&report.ran)
}

/// `diary.md: 2 new, 1 changed, 14 known`.
fn fed_file(file: &FedFile) -> String {
    let counts = [
        (file.new, "new"),
        (file.moved, "moved"),
        (file.changed, "changed"),
        (file.removed, "removed"),
        (file.known, "known"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let counts = if counts.is_empty() { "empty".to_owned() } else { counts.join(", ") };
    format!("{}: {counts}{}\n", safe_line(&file.file), fed_by(&file.others))
}

/// ` (4 fed by anna@example.org)`: what went and was somebody else's.
fn fed_by(others: &std::collections::BTreeMap<String, usize>) -> String {
    let each: Vec<String> = others.iter().map(|(by, count)| format!("{count} fed by {}", safe_line(by))).collect();
    if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) }
}

pub(super) fn ran(report: &RunReport) -> String {
    let mut lines: Vec<String> = Vec::new();
    const SHOWN: usize = 20;
    for run in report.runs.iter().take(SHOWN) {
        let state = match (&run.merged, run.decisions.len()) {
            (None, _) => ", stays on its branch".to_owned(),
            (Some(_), 0) => String::new(),
            (Some(_), settled) => format!(", the merge settled {}", plural(settled, "field", "fields")),
        };
        lines.push(format!("  {:<11} {}  ({}){state}", run.agent, run.run, safe_line(&run.trigger)));
    }
    if report.runs.len() > SHOWN {
        lines.push(format!("  … and {} more; `git brain log` has all", report.runs.len() - SHOWN));
    }
    for failure in &report.failures {
        lines.push(format!("  {:<11} failed: {}", failure.agent, safe_line(&failure.error)));
        lines.extend(failure.hint.iter().map(|hint| format!("      hint: {hint}")));
    }
    lines.extend(report.notes.iter().map(|note| format!("  note: {}", safe_line(note))));
    let quiet = if report.runs.is_empty() && report.failures.is_empty() { "all is quiet" } else { "quiet again" };
    lines.push(format!("{}; {quiet}", plural(report.runs.len(), "run", "runs")));
    lines.join("\n") + "\n"
}

/// Conflicts leave work for a person; a failure has its own code; what waits for its budget is busy.
pub(super) fn code_of(report: &RunReport) -> u8 {
    let failed = report.failures.iter().map(|f| f.code).max().unwrap_or(0);
    if failed > 0 {
        return failed;
    }
    if report.runs.iter().any(|r| !r.conflicts.is_empty()) {
        return 3;
    }
    // Nothing but the budget stops what is due.
    if report.unpaid.is_empty() { 0 } else { 6 }
}

pub(super) fn run(session: &Session, args: &args::Run) -> Done {
    let brain = session.brain()?;
    let agent = args.agent.as_deref().map(AgentName::parse).transpose();
    let agent = agent.map_err(|e| BrainError::usage(e.to_string()))?;
    if args.writer.dry_run {
        let due = brain.due()?;
        session.out.report(&due, |report| {
            let line = |due: &Due| format!("  {:<11} ({})\n", due.agent, safe_line(&due.trigger));
            let lines: String = report.due.iter().map(line).collect();
            if lines.is_empty() { "all is quiet\n".to_owned() } else { lines }
        });
        return Ok(0);
    }
    let bounds = RunBounds { max_runs: args.max_runs, agent, ..RunBounds::default() };
    let bar = session.out.bar();
    let mut total = 0;
    let report = brain.run(&bounds, &mut |progress| bar.show(&progress, &mut total))?;
    drop(bar);
    session.out.report(&report, ran);
    Ok(code_of(&report))
}

pub(super) fn apply(session: &Session, args: &args::Apply) -> Done {
    let brain = session.brain()?;
    let source = match args.file.as_os_str() == "-" {
        true => Source::Stdin,
        false => Source::File(args.file.clone()),
    };
    if matches!(source, Source::Stdin) && std::io::stdin().is_terminal() {
        session.out.say("reading a delta document from the terminal; end it with Ctrl-D");
    }
    let report = brain.apply(&source, args.agent.as_deref(), args.no_merge, args.writer.dry_run)?;
    session.out.report(&report, applied);
    Ok(if report.conflicts.is_empty() { 0 } else { 3 })
}

fn applied(report: &ApplyReport) -> String {
    let mut lines: Vec<String> = report.effects.iter().map(|l| safe_line(l)).collect();
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe_line(note))));
    lines.extend(report.decisions.iter().map(|d| format!("merged {}", safe_line(&d.to_string()))));
    lines.extend(report.conflicts.iter().map(|c| format!("conflict: {}", safe_line(&c.to_string()))));
    lines.push(landed(&report.run, report.commit.as_deref(), &report.branch, report.merged.then_some(&report.wake)));
    lines.join("\n") + "\n"
}

/// Where a run is now: in wake at that tip, on its branch, or nowhere yet.
pub(super) fn landed(run: &str, commit: Option<&str>, branch: &str, wake: Option<&String>) -> String {
    match (commit, wake) {
        (None, _) => format!("would be run {run}"),
        (Some(_), Some(wake)) => format!("{run} is in wake, {}", short(wake)),
        (Some(commit), None) => {
            format!("{run} waits on {branch}, {}: `git brain review {run}` shows it", short(commit))
        }
    }
}

pub(super) fn merge(session: &Session, args: &args::Merge) -> Done {
    let report = session.brain()?.merge(&args.branch, args.writer.dry_run)?;
    session.out.report(&report, merged);
    let all = report.merges.iter().all(|m| m.conflicts.is_empty() && m.refused.is_none());
    Ok(if all { 0 } else { 3 })
}

pub(super) fn merged(report: &MergeReport) -> String {
    let mut lines = Vec::new();
    for line in &report.merges {
        let state = match (&line.refused, line.conflicts.is_empty(), line.merged, &line.commit) {
            (Some(why), ..) => format!("refused: {}", safe_line(why)),
            (_, false, ..) => "stays for review".to_owned(),
            (_, _, true, Some(commit)) => format!("merged by {}", short(commit)),
            _ => "wake has it already".to_owned(),
        };
        lines.push(format!("{}: {state}", safe_line(&line.branch)));
        lines.extend(line.decisions.iter().map(|d| format!("  {}", safe_line(&d.to_string()))));
        lines.extend(line.conflicts.iter().map(|c| format!("  conflict: {}", safe_line(&c.to_string()))));
    }
    lines.extend(report.left.iter().map(|left| format!("left alone: {}", safe_line(left))));
    if lines.is_empty() {
        lines.push("no run waits".to_owned());
    }
    lines.join("\n") + "\n"
}

pub(super) fn merge_tree(session: &Session, args: &args::MergeTree) -> Done {
    let report = session.brain()?.merge_tree(&args.base, &args.left, &args.right)?;
    session.out.report(&report, |r| {
        let mut text = format!("{}\n", r.tree);
        text.extend(r.conflicts.iter().map(|c| format!("conflict: {}\n", safe_line(&c.to_string()))));
        text
    });
    Ok(if report.conflicts.is_empty() { 0 } else { 3 })
}
