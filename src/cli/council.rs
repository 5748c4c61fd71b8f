//! `council`, and closings of its escalations by `approve` and `reject`.

use std::path::Path;

use super::output::safe_line;
use super::{Done, Session, args};
use crate::brain::council::{
    AlikeMinds, CitedItem, CouncilReport, CouncilRequest, KeptKey, MemberId, MindPast, Opinion, Tally, Verdict, count,
};
use crate::brain::{Brain, BrainError, path_in};
use crate::limits::DOCUMENT_BYTES;
use crate::model::json::inline;
use crate::model::plural;

/// The exit code of a question that a person must decide.
const ESCALATES: u8 = 1;
/// Characters of a memory that a vote cites.
const CITED: usize = 100;
/// Characters of a question in a list.
const QUESTION: usize = 60;

/// A verdict on votes that were collected.
#[derive(serde::Serialize)]
struct Counted<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// Whether a person decides, whatever the decision of the votes is.
    escalated: bool,
}

pub(super) fn council(session: &Session, args: &args::Council) -> Done {
    if let Some(file) = &args.votes {
        let verdict = count(&session.text_of(file, DOCUMENT_BYTES)?)?;
        session.out.report(&Counted { verdict: &verdict, escalated: verdict.escalates() }, |_| counted(&verdict));
        return Ok(if verdict.escalates() { ESCALATES } else { 0 });
    }
    if args.list {
        return list(session, args);
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
        let answer = if report.state == "approved" { "yes" } else { "no" };
        let (id, state, votes, question) = (&report.id, report.state, &report.votes, headline(&report.question));
        format!("Council {id} is {state}, the answer is {answer}{would}: {question}\n  its votes: {votes}\n")
    };
    match closed.as_slice() {
        [report] if ids.len() == 1 => session.out.report(report, line),
        _ if session.out.is_json() => session.out.document(&serde_json::json!({ "councils": closed })),
        closed => session.out.text(&closed.iter().map(line).collect::<String>()),
    }
    failed.map_or(Ok(0), Err)
}

fn list(session: &Session, args: &args::Council) -> Done {
    let (brain, fault) = session.look()?;
    let about = args.about.as_deref().unwrap_or_default();
    let councils = brain.councils(args.number as usize, args.pending, about)?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({ "councils": councils }));
    } else if councils.is_empty() && (args.pending || !about.is_empty()) {
        session.out.text("No such council. `git brain council --list` lists all.\n");
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
    let question = headline(&report.question);
    let cut: String = question.chars().take(QUESTION).collect();
    let more = if cut.len() < question.len() { "…" } else { "" };
    let outcome = report.outcome.map_or(String::new(), |outcome| format!(", {outcome}"));
    // Where no decision holds, the votes say more.
    let decision = match report.state {
        "pending" => format!("{} ({})", word(&report.decision), report.votes),
        _ => word(&report.decision),
    };
    let day = moment(report.at_ms).chars().take(10).collect::<String>();
    format!("{}  {day}  {:<10}  {decision:<7}{outcome}  {cut}{more}\n", report.id, report.state)
}

/// The first line of a question: that of a run has its whole record below.
fn headline(question: &str) -> String {
    let (first, rest) = question.trim().split_once('\n').unwrap_or((question.trim(), ""));
    let more = if rest.trim().is_empty() { "" } else { " …" };
    format!("{}{more}", safe_line(first.trim_end()))
}

fn moment(at_ms: i64) -> String {
    crate::model::Stamp::from_unix(at_ms.div_euclid(1000)).to_string()
}

fn word(decision: &impl serde::Serialize) -> String {
    inline(decision).trim_matches('"').to_owned()
}

fn held(report: &CouncilReport) -> String {
    let mut text = told(&report.verdict, &report.cited) + &past(report);
    text.extend(report.notes.iter().map(|note| format!("note: {}\n", safe_line(note))));
    text.extend(report.earlier.iter().map(|one| format!("note: {}\n", safe_line(&one.sentence()))));
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
        "pending" => format!(
            "Council {id} waits for a person, whose word is final. The votes: {}.\n  git brain approve {id}          answers yes\n  git brain reject {id} --why …   answers no\n",
            report.votes
        ),
        _ => format!(
            "Council {id} is kept: git brain council --outcome {id} right|wrong says later how it turned out.\n"
        ),
    };
    text
}

fn shown(report: &CouncilReport) -> String {
    let mut text = format!("council {}, {}: {}\n", report.id, report.state, word(&report.decision));
    text += &format!("  asked by {} on {}\n", safe_line(&report.by), moment(report.at_ms));
    if let Some(newer) = &report.superseded_by {
        text += &format!("  asked again since, by council {newer}\n");
    }
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
    text += &told(&report.verdict, &report.cited);
    text += &past(report);
    text.extend(report.note.iter().map(|note| format!("  {}\n", safe_line(note))));
    for closing in &report.closings {
        let why = if closing.why.is_empty() { String::new() } else { format!(": {}", safe_line(&closing.why)) };
        text += &format!("  {:<8} by {} on {}{why}\n", closing.word, safe_line(&closing.by), moment(closing.at_ms));
    }
    if report.state == "pending" && report.run.is_none() {
        let id = &report.id;
        text += &format!(
            "  git brain approve {id} answers yes, git brain reject {id} answers no; a person's word is final\n"
        );
    }
    text
}

/// Counts of how often each mind was right, and the two whose errors agree most; nothing where no council had an outcome yet.
fn past(report: &CouncilReport) -> String {
    let seats =
        |members: &[MemberId]| members.iter().map(|member| safe_line(member.as_str())).collect::<Vec<_>>().join("+");
    let mut text = String::new();
    if report.minds.iter().any(|mind| mind.judged > 0) {
        let of = |mind: &MindPast| match mind.judged {
            0 => format!("{} has no past", seats(&mind.members)),
            judged => format!("{} right {} of {judged}", seats(&mind.members), mind.right),
        };
        text += &format!("  so far   {}\n", report.minds.iter().map(of).collect::<Vec<_>>().join(", "));
    }
    if let Some(AlikeMinds { one, other, shared }) = &report.most_alike {
        let questions = plural(shared.questions as usize, "question", "questions");
        let (one, other, r) = (seats(one), seats(other), shared.correlation);
        text += &format!(
            "  alike    {one} and {other} cost the most minds: their errors correlate by {r:.2} over {questions}\n"
        );
    }
    text
}

fn counted(verdict: &Verdict) -> String {
    told(verdict, &[])
}

/// A verdict, its votes, and the memories that they cite. Its first word is the decision that holds: `abstain` where a person decides.
fn told(verdict: &Verdict, cited: &[CitedItem]) -> String {
    let question = headline(&verdict.question);
    let mut text = match verdict.escalates() {
        false => format!("{}, confidence {:.2}: {question}\n", word(&verdict.decision), verdict.confidence),
        true if verdict.support.is_empty() => format!("abstain, a person decides: {question}\n"),
        true => format!(
            "abstain, a person decides; the votes say {} with confidence {:.2}: {question}\n",
            word(&verdict.decision),
            verdict.confidence
        ),
    };
    for Tally { decision, members_for, members, families_for, families, minds } in
        [&verdict.quorum.approve, &verdict.quorum.reject]
    {
        text += &format!(
            "  {:<8} {members_for} of {members} members, {families_for} of {families} families, {minds:.2} minds\n",
            word(decision)
        );
    }
    text += &format!("  {} faulty members are tolerated\n", verdict.quorum.tolerated_faults);
    // Where no decision holds nothing is for or against it.
    let opinions = |heading: &str, all: &[Opinion]| -> String {
        let line = |one: &Opinion| {
            let heading = if heading.is_empty() { word(&one.decision) } else { heading.to_owned() };
            let (member, family) = (safe_line(one.member.as_str()), safe_line(one.family.as_str()));
            let cites = cited.iter().filter(|item| item.member == one.member.as_str()).map(citation);
            let said = safe_line(&one.reasoning);
            format!("  {heading:<8} {member} ({family}, {:.2}): {said}\n", one.confidence) + &cites.collect::<String>()
        };
        all.iter().map(line).collect()
    };
    let has_decided = !verdict.escalates();
    text += &opinions(if has_decided { "for" } else { "" }, &verdict.support);
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

/// A memory that a vote cites, in a line below the vote.
fn citation(cited: &CitedItem) -> String {
    let item: String = safe_line(&cited.item).chars().take(CITED).collect();
    match (&cited.neuron, &cited.text) {
        (Some(neuron), Some(text)) => {
            let text = safe_line(text);
            let cut: String = text.chars().take(CITED).collect();
            let more = if cut.len() < text.len() { "…" } else { "" };
            format!("           cites {item}: {neuron} {cut}{more}\n")
        }
        (Some(neuron), None) => format!("           cites {item}: {neuron}, which is gone\n"),
        (None, _) => format!("           cites {item:?}, which no member was shown\n"),
    }
}
