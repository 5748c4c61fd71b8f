//! `council`, and closings of its escalations by `approve` and `reject`.

use std::path::Path;

use super::output::safe_line;
use super::{Done, Session, args};
use crate::brain::council::{CouncilReport, CouncilRequest, KeptKey, Opinion, Tally, Verdict, count};
use crate::brain::{Brain, BrainError, path_in};
use crate::limits::DOCUMENT_BYTES;
use crate::model::json::inline;

/// The exit code of a question that a person must decide.
const ESCALATES: u8 = 1;
/// Characters of a question in a list.
const QUESTION: usize = 60;

pub(super) fn council(session: &Session, args: &args::Council) -> Done {
    if let Some(file) = &args.votes {
        let verdict = count(&session.text_of(file, DOCUMENT_BYTES)?)?;
        session.out.report(&verdict, counted);
        return Ok(if verdict.escalates() { ESCALATES } else { 0 });
    }
    if args.list {
        return list(session, args.number as usize);
    }
    if args.keys {
        let (brain, fault) = session.look()?;
        let keys = brain.council_keys(args.members.as_deref())?;
        session.out.report(&serde_json::json!({ "keys": keys }), |_| keys.iter().map(key_line).collect());
        return fault.map_or(Ok(0), Err);
    }
    if let Some(id) = &args.show {
        let (brain, fault) = session.look()?;
        session.out.report(&brain.council_of(id)?, shown);
        return fault.map_or(Ok(0), Err);
    }
    if let [id, outcome] = args.outcome.as_slice() {
        let is_right = match outcome.as_str() {
            "right" => true,
            "wrong" => false,
            _ => return Err(BrainError::usage(format!("--outcome {id} {outcome}: an outcome is right or wrong"))),
        };
        let report = session.brain()?.council_outcome(id, is_right, args.why.as_deref().unwrap_or_default())?;
        session
            .out
            .report(&report, |report| format!("Council {}: {} was {outcome}.\n", report.id, word(&report.decision)));
        return Ok(0);
    }
    // The call of older versions counted such a file.
    if let [file] = args.question.as_slice()
        && path_in(&session.dir, Path::new(file)).is_file()
    {
        return Err(BrainError::Usage {
            message: format!("{file} is a file, and no question"),
            hint: Some(format!("`git brain council --votes {file}` counts its votes")),
        });
    }
    let request = CouncilRequest {
        question: args.question.join(" "),
        members: args.members.clone(),
        timeout_s: args.timeout,
        branch: args.branch.clone(),
        dry_run: args.writer.dry_run,
    };
    let report = session.brain()?.council(&request)?;
    session.out.report(&report, held);
    Ok(if report.verdict.escalates() || report.note.is_some() { ESCALATES } else { 0 })
}

/// Whether all names, one at least, are ids of councils.
pub(super) fn are_councils(brain: &Brain, names: &[String]) -> Result<bool, BrainError> {
    for name in names {
        if !brain.is_council(name)? {
            return Ok(false);
        }
    }
    Ok(!names.is_empty())
}

/// Approves or rejects the escalations of councils. One that cannot be closed stops no other; the first failure is the command's.
pub(super) fn close(
    session: &Session,
    brain: &Brain,
    ids: &[String],
    approves: bool,
    why: &str,
    dry_run: bool,
) -> Done {
    let mut failed = None;
    let mut closed = Vec::new();
    for id in ids {
        match brain.close_council(id, approves, why, dry_run) {
            Ok(report) => closed.push(report),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => {
                session.out.say(&format!("{id}: {error}"));
                failed.get_or_insert(error);
            }
        }
    }
    let line = |report: &CouncilReport| {
        let would = if report.dry_run { " (dry run: nothing was written)" } else { "" };
        format!("Council {} is {}{would}: {}\n", report.id, report.state, safe_line(&report.question))
    };
    match closed.as_slice() {
        [report] if ids.len() == 1 => session.out.report(report, line),
        _ if session.out.is_json() => session.out.document(&serde_json::json!({ "councils": closed })),
        closed => session.out.text(&closed.iter().map(line).collect::<String>()),
    }
    failed.map_or(Ok(0), Err)
}

fn list(session: &Session, most: usize) -> Done {
    let (brain, fault) = session.look()?;
    let councils = brain.councils(most)?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({ "councils": councils }));
    } else if councils.is_empty() {
        session.out.text("No council was held. `git brain council QUESTION` asks one.\n");
    } else {
        session.out.text(&councils.iter().map(line).collect::<String>());
    }
    fault.map_or(Ok(0), Err)
}

fn key_line(key: &KeptKey) -> String {
    let named = match (&key.named, key.is_named) {
        (_, true) => "the document names it",
        (Some(_), false) => "the document names another one",
        (None, false) => "the document names none",
    };
    format!("{}  {}  {named}\n", key.kept, safe_line(&key.member))
}

fn line(report: &CouncilReport) -> String {
    let question = safe_line(&report.question);
    let cut: String = question.chars().take(QUESTION).collect();
    let more = if cut.len() < question.len() { "…" } else { "" };
    let outcome = report.outcome.map_or(String::new(), |outcome| format!(", {outcome}"));
    format!("{}  {:<8}  {:<7}{outcome}  {cut}{more}\n", report.id, report.state, word(&report.decision))
}

fn word(decision: &impl serde::Serialize) -> String {
    inline(decision).trim_matches('"').to_owned()
}

fn held(report: &CouncilReport) -> String {
    let mut text = counted(&report.verdict);
    if report.dry_run {
        return text + "Dry run: nothing was written.\n";
    }
    let id = &report.id;
    if let Some(done) = &report.carried {
        let run = safe_line(&done.run);
        return text + &format!("Council {id} {} {run}: git brain review --decided\n", done.verdict.done());
    }
    if let Some(note) = &report.note {
        text += &format!("{}\n", safe_line(note));
    }
    if let (Some(run), "pending") = (&report.run, report.state) {
        let run = safe_line(run);
        return text
            + &format!("People decide on the run: git brain approve {run}, or git brain reject {run} --why …\n");
    }
    text += &match report.state {
        "pending" => format!("Council {id} waits: git brain approve {id}, or git brain reject {id} --why …\n"),
        _ => format!(
            "Council {id} is kept: git brain council --outcome {id} right|wrong says later how it turned out.\n"
        ),
    };
    text
}

fn shown(report: &CouncilReport) -> String {
    let mut text = format!("council {}, {}: {}\n", report.id, report.state, word(&report.decision));
    text += &format!("  asked by {}\n", safe_line(&report.by));
    if let Some(run) = &report.run {
        text += &format!("  about    {}\n", safe_line(run));
    }
    for seat in &report.members {
        text += &format!(
            "  member   {} ({}), {}, {}\n",
            safe_line(seat.id.as_str()),
            safe_line(seat.family.as_str()),
            safe_line(&seat.role),
            safe_line(&seat.mind)
        );
    }
    text += &counted(&report.verdict);
    for closing in &report.closings {
        let why = if closing.why.is_empty() { String::new() } else { format!(": {}", safe_line(&closing.why)) };
        text += &format!("  {:<8} by {}{why}\n", closing.word, safe_line(&closing.by));
    }
    text
}

fn counted(verdict: &Verdict) -> String {
    let mut text = format!(
        "{}, confidence {:.2}: {}\n",
        word(&verdict.decision),
        verdict.confidence,
        safe_line(&verdict.question)
    );
    for Tally { decision, members_for, members, families_for, families, minds } in
        [&verdict.quorum.approve, &verdict.quorum.reject]
    {
        text += &format!(
            "  {:<8} {members_for} of {members} members, {families_for} of {families} families, {minds:.2} minds\n",
            word(decision)
        );
    }
    text += &format!("  {} faulty members are tolerated\n", verdict.quorum.tolerated_faults);
    // Without a decision nothing is for or against it.
    let opinions = |heading: &str, all: &[Opinion]| -> String {
        let line = |one: &Opinion| {
            let heading = if heading.is_empty() { word(&one.decision) } else { heading.to_owned() };
            let (member, family) = (safe_line(one.member.as_str()), safe_line(one.family.as_str()));
            format!("  {heading:<8} {member} ({family}, {:.2}): {}\n", one.confidence, safe_line(&one.reasoning))
        };
        all.iter().map(line).collect()
    };
    let has_decided = !verdict.support.is_empty();
    text += &opinions("for", &verdict.support);
    text += &opinions(if has_decided { "against" } else { "" }, &verdict.dissent);
    text += &opinions("abstains", &verdict.abstentions);
    text.extend(verdict.absent.iter().map(|member| format!("  absent   {}\n", safe_line(member.as_str()))));
    text.extend(
        verdict
            .refused
            .iter()
            .map(|vote| format!("  refused  {}: {}\n", safe_line(vote.member.as_str()), safe_line(&vote.reason))),
    );
    text.extend(verdict.concerns.iter().map(|concern| format!("a person decides: {}\n", safe_line(&concern.sentence))));
    text
}
