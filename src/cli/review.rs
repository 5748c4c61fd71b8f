//! `review`, and the decisions about runs: `approve` and `reject`.

#![allow(clippy::disallowed_methods, reason = "the boundary to the person's editor and terminal")]

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use super::args;
use super::editor::{edited, kept};
use super::output::{STYLES, safe, safe_line, short};
use super::{Done, Session};
use crate::brain::Unapproved;
use crate::brain::{
    Belief, Brain, BrainError, Decision, RemarkReport, RemarkRequest, ReviewLine, ReviewList, ReviewReport,
    ReviewRequest, ReviewVerdict, Source, Tone, blocks, html, markdown, path_in, plain, read_source,
};
use crate::limits::REVIEW_DECLINED;
use crate::model::{plural, ranges};

pub(super) fn review(session: &Session, args: &args::Review) -> Done {
    let brain = session.brain()?;
    if args.decided {
        let decisions = brain.decisions(args.number)?;
        match session.out.is_json() {
            true => session.out.document(&serde_json::json!({ "decisions": decisions })),
            false => session.out.paged(&decisions.iter().map(decided).collect::<String>()),
        }
        return Ok(0);
    }
    if args.interactive {
        return interactive(session, &brain, args);
    }
    if args.edit {
        return edit(session, &brain, args);
    }
    if args.again {
        return super::again::again(session, &brain, args);
    }
    if args.why.is_some() || args.forget {
        return remark(session, &brain, args);
    }
    if args.runs.is_empty() && args.format == args::ReviewFormat::Text {
        let list = brain.reviews()?;
        match session.out.is_json() {
            true => session.out.document(&list),
            false => session.out.paged(&listed(&list, args.all)),
        }
        return Ok(0);
    }
    let named = match args.runs.is_empty() {
        true => brain.reviews()?.waiting.into_iter().map(|line| line.branch).collect(),
        false => args.runs.clone(),
    };
    let beliefs: Vec<Belief> =
        named.iter().map(|run| brain.review(run, !args.no_questions)).collect::<Result<_, _>>()?;
    if session.out.is_json() {
        session.out.document(&serde_json::json!({ "reviews": beliefs }));
        return Ok(0);
    }
    let pages: Vec<_> =
        beliefs.iter().map(|belief| blocks(belief, args.all || args.format == args::ReviewFormat::Html)).collect();
    match args.format {
        args::ReviewFormat::Text => {
            let texts: Vec<String> = beliefs.iter().zip(&pages).map(|(belief, page)| shown(belief, page)).collect();
            session.out.paged(&texts.join("\n"));
        }
        args::ReviewFormat::Markdown => session.out.page(&pages.iter().map(|page| markdown(page)).collect::<String>()),
        args::ReviewFormat::Html => session.out.page(&html("Runs that wait for review", &pages)),
    }
    Ok(0)
}

/// Says of decisions that were made why, or that their words are told nobody any more.
fn remark(session: &Session, brain: &Brain, args: &args::Review) -> Done {
    let said = |run: &String| {
        brain.remark_on(&RemarkRequest {
            run: run.clone(),
            why: args.why.clone(),
            forget: args.forget,
            ..RemarkRequest::default()
        })
    };
    let remarks: Vec<RemarkReport> = args.runs.iter().map(said).collect::<Result<_, _>>()?;
    session.out.report(&serde_json::json!({ "remarks": remarks }), |_| remarks.iter().map(remarked).collect());
    Ok(0)
}

fn remarked(report: &RemarkReport) -> String {
    report.notes.iter().map(|note| format!("note: {}\n", safe(note))).collect()
}

/// A belief diff for a terminal, with what to do next.
fn shown(belief: &Belief, page: &[crate::brain::ReviewBlock]) -> String {
    let text = plain(page, &style);
    if belief.branch.is_empty() {
        return text;
    }
    let (run, settle) = (&belief.run, if belief.conflicts.is_empty() { "" } else { " --take run|wake" });
    format!("{text}\nNext: git brain approve {run}{settle}   git brain reject {run} --why TEXT\n")
}

fn style(tone: Tone, text: &str) -> String {
    let [bold, end, faint, green, red] = STYLES;
    let begin = match tone {
        Tone::Plain => return safe_line(text),
        Tone::Strong => bold,
        Tone::Faint => faint,
        Tone::Added | Tone::Inserted => green,
        Tone::Removed | Tone::Deleted => red,
    };
    format!("{begin}{}{end}", safe_line(text))
}

fn listed(list: &ReviewList, all: bool) -> String {
    let councils = match list.councils {
        0 => String::new(),
        councils => format!(
            "{} a person's word: git brain council --list --pending\n",
            plural(councils, "council awaits", "councils await")
        ),
    };
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &list.audit {
        *seen.entry(&item.because).or_default() += 1;
    }
    let most = if all { usize::MAX } else { ASKED };
    let folded = seen.iter().filter(|(_, count)| **count > most);
    let folded: String = folded
        .map(|(because, count)| {
            let more = plural(count - most, "other", "others");
            format!("  … and {more}  {}: git brain review --all\n", safe_line(because))
        })
        .collect();
    seen.clear();
    let few = list.audit.iter().filter(|item| {
        let count = seen.entry(&item.because).or_default();
        *count += 1;
        *count <= most
    });
    let asked = few.map(|item| {
        let what: Vec<&str> =
            [item.run.as_str(), short(&item.commit)].into_iter().filter(|text| !text.is_empty()).collect();
        let undo = if item.undo.is_empty() { String::new() } else { format!("    undo: {}\n", safe_line(&item.undo)) };
        let words = if item.words.is_empty() { String::new() } else { format!("    {}\n", safe_line(&item.words)) };
        format!("  {}  {}\n{words}{undo}", safe_line(&what.join("  ")), safe_line(&item.because))
    });
    let audit = match list.audit.len() {
        0 => String::new(),
        count => format!(
            "The audit asks about {}: git brain review RUN|COMMIT   git brain audit accept RUN|COMMIT --why TEXT\n{}",
            plural(count, "run or commit", "runs or commits"),
            asked.collect::<String>() + &folded
        ),
    };
    let stopped: String = list
        .standoffs
        .iter()
        .map(|standoff| {
            let hint = standoff.hint.as_ref().map(|hint| format!("  hint: {}\n", safe(hint))).unwrap_or_default();
            format!("{}\n{hint}", safe_line(&standoff.line()))
        })
        .collect();
    let origins: String = list.unapproved.iter().take(ORIGINS).map(|one| unapproved(one) + "\n").collect();
    let sleep = |branch: &String| {
        format!(
            "a sleep waits: git brain diff main {branch}   git brain approve {branch}   git brain reject {branch}\n"
        )
    };
    let sleeps: String = list.sleeps.iter().map(sleep).collect();
    let councils = stopped + &sleeps + &councils + &audit + &origins;
    if list.waiting.is_empty() && !list.sleeps.is_empty() {
        return councils;
    }
    if list.waiting.is_empty() {
        return format!("Nothing waits for review.\n{councils}");
    }
    let mut text = format!("{}, the most consequential first:\n", plural(list.waiting.len(), "run waits", "runs wait"));
    list.waiting.iter().for_each(|line| text += &told(line));
    text + "\nNext: git brain review RUN   git brain review -i\n" + &councils
}

/// Runs and commits that the audit asks about for the same rules, and that are listed unless all are asked for.
const ASKED: usize = 10;
/// Origins whose statements wait that are named at once.
pub(super) const ORIGINS: usize = 8;

/// The number of statements of an origin that wait, and the command for them, in a line.
pub(super) fn unapproved(one: &Unapproved) -> String {
    let statements = plural(one.statements, "statement", "statements");
    let wait = if one.statements == 1 { "waits" } else { "wait" };
    let (origin, command) = (safe_line(&one.origin), safe_line(&one.command));
    format!("{statements} of {origin} {wait} for approval: {command}   (--dry-run lists them)")
}

fn told(line: &ReviewLine) -> String {
    let [bold, end, faint, ..] = STYLES;
    let head =
        format!("{bold}{:>6.2}  {}{end}  {}", line.consequence, safe_line(&line.agent), safe_line(&line.changes));
    let expected = line.expected.map(|value| format!(", expects {value:.2}")).unwrap_or_default();
    let who = match line.reviewers.is_empty() {
        true => String::new(),
        false => format!(", for {}", safe_line(&line.reviewers.join(" or "))),
    };
    let who = match line.council.as_str() {
        "" => who,
        path => format!("{who}, or the council of {}: git brain council --branch RUN", safe_line(path)),
    };
    let broken = line.broken.as_deref().map(|why| format!("        cannot be read: {}\n", safe_line(why)));
    format!(
        "{head}\n        {faint}{}  about {}  ({}{expected}{who}){end}\n{}",
        safe_line(&line.run),
        line.at,
        safe_line(&match line.waits.as_str() {
            "origin" => format!("from {}", line.origin),
            waits => waits.to_owned(),
        }),
        broken.unwrap_or_default()
    )
}

fn decided(Decision { review, counts, is_unsigned, stands, is_open, of_another }: &Decision) -> String {
    let uncounted = match (counts, stands) {
        (true, _) if *of_another => "\n        is about another commit of the run, and lets this one not in",
        (true, false) if *is_open => "\n        is not carried out yet: `git brain review` lists the run",
        (false, _) if *is_unsigned => {
            "\n        does not count: its commit is not by its reviewer, or lacks a signature that counts here"
        }
        (false, _) => "\n        does not count today: `[review]` names others for that run",
        (true, false) => {
            "\n        does not stand: wake has not what it decided, because it was undone or another decision came first"
        }
        (true, true) => "",
    };
    let why = if review.why.is_empty() { String::new() } else { format!(": {}", safe_line(&review.why)) };
    let kept = match review.of {
        0 => String::new(),
        of => {
            let kept = ranges(&review.kept);
            let kept = if kept.is_empty() || review.keeps_all() { String::new() } else { format!(" (--only {kept})") };
            let edited = if review.edited > 0 { format!(", and {} edited", review.edited) } else { String::new() };
            format!(" {} of {}{kept}{edited}", review.kept.len(), plural(of, "operation", "operations"))
        }
    };
    let lands = review.lands.as_ref().map(|run| format!("\n        landed as {run}")).unwrap_or_default();
    let (done, what) = match review.is_of_audit() {
        false => (review.verdict.done(), review.run.to_string()),
        // Of what no run made the decision names itself.
        true if review.run == review.review => ("accepted", short(&review.commit).to_owned()),
        true => ("accepted", format!("{}, which names {}", short(&review.commit), review.run)),
    };
    format!(
        "{}  {}{kept}  {}\n        by {} ({}){why}{lands}{uncounted}\n",
        review.at,
        done,
        what,
        safe_line(&review.reviewer),
        safe_line(&review.via)
    )
}

/// Decides on a run that waits; `None`: nothing of that name does.
pub(super) fn approve(session: &Session, brain: &Brain, run: &str, args: &args::Approve) -> Done {
    let mut request = ReviewRequest::new(run, ReviewVerdict::Approve, args.why.as_deref().unwrap_or_default());
    (request.only, request.take) = (numbers(brain, run, &args.only)?, args.take.clone());
    (request.seen, request.dry_run, request.forget) = (args.at.clone(), args.writer.dry_run, args.forget);
    request.document = args.document.as_deref().map(|path| document(session, path)).transpose()?;
    let report = brain.decide_run(&request)?;
    session.out.report(&report, carried_out);
    Ok(0)
}

/// Approves several runs, one after the other: one that cannot be approved stops none behind it.
pub(super) fn approve_each(session: &Session, brain: &Brain, args: &args::Approve) -> Done {
    each(session, &args.what, |run| {
        let mut request = ReviewRequest::new(run, ReviewVerdict::Approve, args.why.as_deref().unwrap_or_default());
        request.dry_run = args.writer.dry_run;
        brain.decide_run(&request)
    })
}

/// What came of several decisions.
#[derive(serde::Serialize)]
struct Decisions {
    decided: Vec<ReviewReport>,
}

pub(super) fn reject(session: &Session, args: &args::Reject) -> Done {
    let brain = session.brain()?;
    if args.at.is_some() && args.branches.len() > 1 {
        return Err(BrainError::usage("--at speaks of one run"));
    }
    if super::council::are_councils(&brain, &args.branches)? {
        if args.at.is_some() || args.forget {
            return Err(BrainError::usage("--at and --forget speak of a run, and this is a council"));
        }
        return super::council::close(session, &brain, &args.branches, false, &args.why, args.writer.dry_run);
    }
    let decide = |branch: &String| {
        let mut request = ReviewRequest::new(branch, ReviewVerdict::Reject, &args.why);
        (request.seen, request.dry_run, request.forget) = (args.at.clone(), args.writer.dry_run, args.forget);
        brain.decide_run(&request)
    };
    if let [branch] = args.branches.as_slice() {
        session.out.report(&decide(branch)?, carried_out);
        return Ok(0);
    }
    each(session, &args.branches, decide)
}

/// Decides on several runs, one after the other: one that cannot be decided on stops none behind it.
fn each(session: &Session, runs: &[String], decide: impl Fn(&String) -> Result<ReviewReport, BrainError>) -> Done {
    let (mut reports, mut failed) = (Vec::new(), None);
    for run in runs {
        match decide(run) {
            Ok(report) => reports.push(report),
            Err(error) => {
                session.out.say(&format!("{run}: {error}"));
                failed = failed.or(Some(error));
            }
        }
    }
    session.out.report(&Decisions { decided: reports }, |all| all.decided.iter().map(carried_out).collect());
    failed.map_or(Ok(0), Err)
}

/// Operations that are named by number, by range, or by a neuron: its own and those that make the concepts that it leads to.
fn numbers(brain: &Brain, run: &str, named: &[String]) -> Result<Vec<usize>, BrainError> {
    let range = |text: &str| {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        Some(from.trim().parse::<usize>().ok()?..=to.trim().parse::<usize>().ok()?)
    };
    if named.iter().any(|name| name.trim().is_empty()) {
        return Err(BrainError::usage("--only: nothing stands between two commas; --only 1,3-5 names operations"));
    }
    let mut all = std::collections::BTreeSet::new();
    let (numbers, neurons): (Vec<&String>, Vec<&String>) = named.iter().partition(|name| range(name).is_some());
    for name in numbers {
        let Some(range) = range(name) else { continue };
        if range.is_empty() || *range.start() == 0 {
            return Err(BrainError::usage(format!("--only {name}: names no operation; they are counted from 1")));
        }
        if brain.part_of(run, &[name]).is_ok_and(|part| !part.is_empty()) {
            return Err(BrainError::usage(format!(
                "--only {name}: a neuron of the run is called so too: name its operations by other ranges"
            )));
        }
        all.extend(range.take(crate::limits::DELTA_OPS));
    }
    if !neurons.is_empty() {
        let neurons: Vec<&str> = neurons.into_iter().map(String::as_str).collect();
        let part = brain.part_of(run, &neurons)?;
        // Nothing named is the whole run: what has no operations of its own is refused.
        if part.is_empty() {
            return Err(BrainError::usage(format!(
                "--only {}: no operation of the run is about it",
                neurons.join(",")
            )));
        }
        all.extend(part);
    }
    Ok(all.into_iter().collect())
}

fn document(session: &Session, path: &Path) -> Result<String, BrainError> {
    let source = match path == Path::new("-") {
        true => Source::Stdin,
        false => Source::File(path_in(&session.dir, path)),
    };
    let (bytes, name) = read_source(&source, crate::limits::DELTA_BYTES)?;
    String::from_utf8(bytes).map_err(|_| BrainError::usage(format!("{name} is no text")))
}

/// What came of a decision.
fn carried_out(report: &ReviewReport) -> String {
    let (verb, would) = match report.verdict {
        ReviewVerdict::Approve => ("Approved", "approve"),
        ReviewVerdict::Amend => ("Amended", "amend"),
        ReviewVerdict::Reject => ("Threw away", "throw away"),
    };
    if report.already {
        return report.notes.iter().map(|note| format!("{}\n", safe(note))).collect();
    }
    let verb = if report.dry_run { format!("Would {would}") } else { verb.to_owned() };
    let mut lines = vec![format!("{verb} {}, as {}.", report.run, safe_line(&report.reviewer))];
    if let Some(landed) = &report.landed {
        lines.push(match report.dry_run {
            true => "  a run of yours with this would be in wake".to_owned(),
            false => format!("  {landed} is in wake in its place"),
        });
    }
    if report.verdict == ReviewVerdict::Reject && report.everywhere && !report.dry_run {
        lines.push("  the next sync tells all machines; what caused it does not wake its agent again".to_owned());
    }
    if let Some(error) = report.error {
        let expected = report.expected.map_or("nothing stated".to_owned(), |value| format!("{value:.2}"));
        lines.push(format!(
            "  learnt: expected {expected}, came {:.2}, error {error:+.2}, {} credited",
            report.value,
            plural(report.credited, "connection", "connections")
        ));
    }
    if let Some(first) = report.told.first() {
        let (first, more) = (safe_line(first), report.told.len() - 1);
        // A decision keeps so many: how many there were beside them it does not say.
        let least = if report.told.len() + report.forgotten >= REVIEW_DECLINED { "at least " } else { "" };
        let more = match more {
            0 => String::new(),
            more => format!(" and {least}{} more", plural(more, "statement", "statements")),
        };
        let back = match report.dry_run {
            true => "--forget keeps that from them".to_owned(),
            false => format!("`git brain review {} --forget` takes that back", report.run),
        };
        lines.push(format!("  machines and agents are told what stays out: \"{first}\"{more}; {back}"));
    }
    if report.forgotten > 0 {
        let count = plural(report.forgotten, "statement that stays out is", "statements that stay out are");
        lines.push(format!("  {count} kept back: the decision has no words of it"));
    }
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe(note))));
    if !report.dry_run {
        lines.push(format!("wake is {}", short(&report.wake)));
    }
    lines.join("\n") + "\n"
}

/// Lets a person edit what a run proposes, and lands that.
fn edit(session: &Session, brain: &Brain, args: &args::Review) -> Done {
    let [run] = args.runs.as_slice() else {
        return Err(BrainError::usage("--edit takes one run"));
    };
    brain.check_reviewer(run)?;
    match edited(brain, run)? {
        None => {
            session.out.say("Nothing was changed: nothing is decided.");
            Ok(1)
        }
        Some(text) => {
            let mut request = ReviewRequest::new(run, ReviewVerdict::Approve, args.why.as_deref().unwrap_or_default());
            (request.document, request.forget) = (Some(text.clone()), args.forget);
            match brain.decide_run(&request) {
                Ok(report) => session.out.report(&report, carried_out),
                Err(error) => return Err(kept(error, &text)),
            }
            Ok(0)
        }
    }
}

/// Goes through what waits, the most consequential first.
fn interactive(session: &Session, brain: &Brain, args: &args::Review) -> Done {
    let ReviewList { waiting, sleeps, .. } = brain.reviews()?;
    let wanted = |line: &&ReviewLine| {
        args.runs.is_empty() || args.runs.iter().any(|run| *run == line.branch || *run == line.run)
    };
    let runs: Vec<&ReviewLine> = waiting.iter().filter(wanted).collect();
    if runs.is_empty() {
        let said = match sleeps.len() {
            0 => "Nothing waits for review.\n".to_owned(),
            count => format!(
                "No run waits for review. {}: `git brain review` names the commands.\n",
                plural(count, "sleep waits", "sleeps wait")
            ),
        };
        session.out.text(&said);
        return Ok(0);
    }
    let mut input = std::io::stdin().lock();
    let mut undecided = runs.len();
    for (index, line) in runs.iter().enumerate() {
        // What was decided before may have changed what this one would do.
        let belief = brain.review(&line.run, !args.no_questions)?;
        session.out.text(&plain(&blocks(&belief, args.all), &style));
        loop {
            let place = format!("({}/{})", index + 1, runs.len());
            session
                .out
                .text(&format!("{place} approve, reject, forget, only N,N, take run|wake|N=run, edit, skip, quit, ? "));
            let mut answer = String::new();
            if input.read_line(&mut answer).map_err(|e| BrainError::usage(format!("standard input: {e}")))? == 0 {
                session.out.text("\n");
                return Ok(left(session, undecided));
            }
            let mut ask = || {
                session.out.text("why? (an empty line: no reason) ");
                let mut why = String::new();
                input.read_line(&mut why).map_err(|e| BrainError::usage(format!("standard input: {e}")))?;
                Ok(why.trim().to_owned())
            };
            match decision(brain, &belief, answer.trim(), &mut ask) {
                Ok(Answer::Decided(report)) => {
                    session.out.text(&carried_out(&report));
                    undecided -= 1;
                    break;
                }
                Ok(Answer::Skip) => break,
                Ok(Answer::Quit) => return Ok(left(session, undecided)),
                Ok(Answer::Say(text)) => session.out.text(&text),
                // One that fails stops no other.
                Err(error) => {
                    let hint = error.hint().map(|hint| format!("hint: {}\n", safe(&hint))).unwrap_or_default();
                    session.out.text(&format!("error: {}\n{hint}", safe(&error.to_string())));
                }
            }
        }
    }
    Ok(left(session, undecided))
}

fn left(session: &Session, undecided: usize) -> u8 {
    if undecided > 0 {
        session.out.text(&format!("{} undecided.\n", plural(undecided, "run stays", "runs stay")));
    }
    0
}

enum Answer {
    Decided(Box<ReviewReport>),
    Skip,
    Quit,
    Say(String),
}

/// What a line of a person means. A decision that lets not all in and gives no reason is asked for one by `ask`.
fn decision(
    brain: &Brain,
    belief: &Belief,
    line: &str,
    ask: &mut dyn FnMut() -> Result<String, BrainError>,
) -> Result<Answer, BrainError> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let forgets = rest.split_whitespace().any(|word| word == FORGET);
    let rest: Vec<&str> = rest.split_whitespace().filter(|word| *word != FORGET).collect();
    let rest = rest.join(" ");
    let (first, why) = rest.split_once(' ').unwrap_or((&rest, ""));
    let list = || first.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut request = ReviewRequest::new(&belief.run, ReviewVerdict::Approve, &rest);
    (request.seen, request.forget) = (Some(belief.commit.clone()), forgets);
    let mut text = None;
    match word {
        "a" | "approve" | "y" => return Ok(Answer::Decided(Box::new(brain.decide_run(&request)?))),
        "r" | "reject" => request.verdict = ReviewVerdict::Reject,
        "f" | "forget" => (request.verdict, request.forget) = (ReviewVerdict::Reject, true),
        "o" | "only" => {
            request.only = numbers(brain, &belief.run, &list())?;
            request.why = why.to_owned();
        }
        "t" | "take" => {
            request.take = list();
            request.why = why.to_owned();
        }
        "e" | "edit" => match edited(brain, &belief.run)? {
            Some(after) => text = Some(after),
            None => return Ok(Answer::Say("Nothing was changed.\n".to_owned())),
        },
        "s" | "skip" | "n" | "" => return Ok(Answer::Skip),
        "q" | "quit" => return Ok(Answer::Quit),
        _ => return Ok(Answer::Say(HELP.to_owned())),
    }
    if request.why.is_empty() {
        // What cannot be done is said before a reason is asked for.
        let tried = ReviewRequest { document: text.clone(), dry_run: true, ..request.clone() };
        brain.decide_run(&tried).map_err(|error| match &text {
            Some(text) => kept(error, text),
            None => error,
        })?;
        request.why = ask()?;
    }
    request.document.clone_from(&text);
    let report = brain.decide_run(&request);
    let report = report.map_err(|error| match &text {
        Some(text) => kept(error, text),
        None => error,
    })?;
    Ok(Answer::Decided(Box::new(report)))
}

/// The word that keeps words out of a decision.
const FORGET: &str = "--forget";

const HELP: &str = "\
a, y  approve [WHY]      let the run land as it is
r     reject [WHY]       throw it away; the reason is a lesson for its agent
f     forget [WHY]       throw it away, and keep its words back: a secret, talk about people
o     only N,N [WHY]     let only these operations land
t     take SIDE [WHY]    settle conflicts: run, wake, or N=run,M=wake
e     edit [WHY]         edit what it proposes, and let that land
s, n  skip               decide later, as an empty line does
q     quit               end here; what was decided stays
A reason that is left out is asked for, but of an approval; --forget anywhere on the line keeps back the words that stay out.
";
