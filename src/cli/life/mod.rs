//! `demo --days N`: a brain lives N days and nights, and shows what git says of it. Nothing is staged: every step is a
//! command of the library, on input that stands in `texts`, on a clock that moves from hour to hour (`days`). Ids follow
//! from a seed, so that the same N gives the same neurons; commits are marked `Clock: fixed`.

#![allow(clippy::disallowed_methods, reason = "the demo plays a person, who edits a file and runs git")]

mod days;
mod texts;

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use self::days::{Day, FORGET_DAYS, FORGET_SUBJECT, Life, Tried, git};
use super::output::safe;
use super::output::short;
use super::{Done, Session, learn, story};
use crate::brain::{Brain, BrainError, SleepState};
use crate::model::{Kind, NeuronId, plural, shell_word};

/// Commits of the neuron's life that are shown: the first ones and the last ones.
const FIRST: usize = 3;
const LAST: usize = 3;
/// Parts of the life in its curve, at most.
const PARTS: usize = 10;
/// Lines of each that are shown.
const LINES: usize = 6;

/// Lives the days, then shows them.
pub(super) fn life(session: &Session, dir: &Path, number: u64) -> Done {
    let say = |text: &str| session.out.say(text);
    say(&format!(
        "A brain lives {}, on a clock of its own. Ids are seeded: the same number, the same brain.",
        plural(number, "day", "days")
    ));
    say("A decision is shown with its stance, what it expected, and what came.\n");
    say(&format!("$ git brain init {}", shell_word(&dir.display().to_string())));
    let (mut life, made) = Life::begin(session, dir, number)?;
    let mut lived = Vec::new();
    for day in 1..=number {
        let day = life.day(day)?;
        say(&diary(&day, number));
        lived.push(day);
    }
    let brain = life.brain(life.at(number, 23))?;
    let neuron = most_changed(&brain, dir)?;
    let path = neuron.as_ref().map(|(_, path)| path.as_str());
    let ledger = brain.ledger(0, None, false, None)?;
    let undo = match lived.iter().rev().filter_map(|day| day.sleep.as_ref()).find(|s| s.state == SleepState::Slept) {
        Some(sleep) => Some((brain.undo_sleep(true)?, sleep)),
        None => None,
    };
    if session.out.is_json() {
        session.out.document(&json!({
            "dir": dir, "init": made, "days": lived, "curve": parts(&lived), "ledger": ledger, "story": brain.story(1, None, false)?,
            "neuron": neuron.as_ref().map(|(id, path)| json!({"id": id, "path": path})),
            "undo": undo.as_ref().map(|(report, _)| report),
        }));
        return Ok(0);
    }
    let show = |text: &str| session.out.line(text);
    show(&curve(&lived));
    show("$ git log --oneline main");
    show(&git(dir, &["log", "--oneline", "--no-decorate", "main"], "")?);
    show(&remarks(&lived));
    if let Some(path) = path {
        show(&format!(
            "$ git log -p --reverse main -- {path}      (the concept that changed in most nights; its salience and weights alone)"
        ));
        show(&safe(&neurons_life(dir, path)?));
    }
    show("$ git brain story -n 1");
    show(story::newest(&brain)?.trim_end());
    show("");
    show("$ git brain ledger                (its sums)");
    show(&learn::summary(&ledger));
    show("$ git brain goal list");
    show(&learn::goals(&brain.goals(None)?));
    if let Some((report, sleep)) = &undo {
        show("$ git brain sleep --undo --dry-run");
        show(&format!("would take back {} ({}):", report.undone, short(&report.commit)));
        show(&format!(
            "  main gets the tree before it; wake keeps all it learnt, and loses: {}\n",
            sleep.consolidated.words()
        ));
    }
    show(&further(dir, neuron.as_ref().map(|(id, _)| id)));
    Ok(0)
}

/// A part of the life, and how well it went.
#[derive(Serialize)]
struct Part {
    /// Its first and its last day.
    days: (u64, u64),
    /// How far what was expected of decisions was from what came: the mean; null without decisions.
    error: Option<f64>,
    /// What came of decisions: the mean; null without decisions.
    came: Option<f64>,
    /// The share of questions that were answered well; null without questions.
    right: Option<f64>,
}

/// The life in at most ten parts.
fn parts(lived: &[Day]) -> Vec<Part> {
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let of = |days: &[Day]| Part {
        days: (days[0].day, days[days.len() - 1].day),
        error: mean(days.iter().flat_map(|d| &d.tried).map(|t| (t.expected - t.came).abs()).collect()),
        came: mean(days.iter().flat_map(|d| &d.tried).map(|t| t.came).collect()),
        right: mean(days.iter().flat_map(|d| &d.asked).map(|a| f64::from(u8::from(a.right))).collect()),
    };
    lived.chunks(lived.len().div_ceil(PARTS).max(1)).map(of).collect()
}

/// The same as lines with bars.
fn curve(lived: &[Day]) -> String {
    let mut text =
        "Learning: outcomes of decisions, their distance from the expectations, questions answered well\n".to_owned();
    for Part { days: (first, last), error, came, right } in parts(lived) {
        let bar = |value: f64| "#".repeat((value * 20.0).round() as usize);
        let cell = |value: Option<f64>| value.map_or(" –  ".to_owned(), |value| format!("{value:.2}"));
        let came_bar = bar(came.unwrap_or(0.0));
        text += &format!(
            "  days {first:>3} to {last:>3}  came {} {came_bar:<20}  error {}  right {}\n",
            cell(came),
            cell(error),
            cell(right)
        );
    }
    text
}

/// What the log does not say by itself.
fn remarks(lived: &[Day]) -> String {
    let mut text = String::new();
    for day in lived {
        if day.sleep.as_ref().is_some_and(|sleep| sleep.state == SleepState::Quiet) {
            text += &format!("On {} nothing happened, so that night made no commit.\n", day.date);
        }
        if day.person.is_some() {
            text += &format!(
                "On {} a person set `prune_age_days` to {FORGET_DAYS}: by default a brain forgets after a year, which no demo shows.\n",
                day.date
            );
        }
        if day.under_way.is_some() {
            text += &format!(
                "On {} a run was under way at night; it was merged the day after, and is in the next night.\n",
                day.date
            );
        }
    }
    text
}

/// A day in a few lines.
fn diary(day: &Day, of: u64) -> String {
    let mut lines = vec![format!("{}  day {} of {of}", day.date, day.day)];
    lines.extend(day.merged.as_ref().map(|_| "the run that was under way is merged".to_owned()));
    match day.texts.is_empty() {
        true => lines.push("nothing happens".to_owned()),
        false => lines.push(format!(
            "{} told, {}",
            plural(day.texts.len(), "text", "texts"),
            plural(day.runs, "run", "runs")
        )),
    }
    lines.extend(day.person.as_ref().map(|_| format!("a person commits to main: {FORGET_SUBJECT}")));
    for tried in &day.tried {
        let Tried { query, choice, stance, expected, came, .. } = tried;
        lines.push(format!("{query}: {choice} ({stance}), expected {expected:.2}, came {came:.2}"));
    }
    lines.extend(day.asked.as_ref().map(|asked| {
        let answer = asked.answer.as_deref().map_or("nothing comes to mind".to_owned(), safe);
        format!("{} {answer}", asked.question)
    }));
    lines.extend(day.archived.as_ref().map(|word| format!("memory is asked to archive \"{word}\"")));
    lines.extend(day.under_way.as_ref().map(|branch| format!("a run is under way: {branch}")));
    lines.push(match &day.sleep {
        Some(sleep) if sleep.state == SleepState::Slept => format!("slept: {}", sleep.totals.words()),
        _ => "a night without a commit".to_owned(),
    });
    lines.join("\n    ")
}

/// The concept whose file most commits of main changed, with its path; of several the first.
fn most_changed(brain: &Brain, dir: &Path) -> Result<Option<(NeuronId, String)>, BrainError> {
    let log = git(dir, &["log", "--format=", "--name-only", "main", "--", "network/neurons"], "")?;
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    log.lines().filter(|line| !line.is_empty()).for_each(|path| *counts.entry(path).or_default() += 1);
    let mut best: Option<(usize, NeuronId, String)> = None;
    for neuron in brain.neurons(Some("main"))?.into_iter().filter(|neuron| neuron.kind == Kind::Semantic) {
        let path = crate::model::layout::neuron(&neuron.id);
        let count = counts.get(path.as_str()).copied().unwrap_or(0);
        if best.as_ref().is_none_or(|(most, ..)| count > *most) {
            best = Some((count, neuron.id, path));
        }
    }
    Ok(best.map(|(_, id, path)| (id, path)))
}

/// The nights of a neuron as `git log -p` tells them, without what is bookkeeping.
fn neurons_life(dir: &Path, path: &str) -> Result<String, BrainError> {
    let log =
        git(dir, &["log", "-p", "-U0", "--reverse", "--no-color", "--format=%x00%as  %s", "main", "--", path], "")?;
    let nights: Vec<&str> = log.split('\0').filter(|night| !night.trim().is_empty()).collect();
    let mut text = String::new();
    for (index, night) in nights.iter().enumerate() {
        if nights.len() > FIRST + LAST && index == FIRST {
            text += &format!("… and {} nights more\n", nights.len() - FIRST - LAST);
        }
        if index >= FIRST && index + LAST < nights.len() {
            continue;
        }
        let mut lines = night.lines();
        text += &format!("{}\n", lines.next().unwrap_or_default());
        let telling = |line: &&str| {
            let told = line.strip_prefix(['+', '-']).unwrap_or_default().trim_start_matches([' ', '{']);
            ["\"concept\":", "\"salience\":", "\"archived\":", "\"target\":"].iter().any(|name| told.starts_with(name))
        };
        let shown: Vec<&str> = lines.filter(telling).collect();
        shown.iter().take(LINES).for_each(|line| text += &format!("    {line}\n"));
        if shown.len() > LINES {
            text += &format!("    … {} more\n", plural(shown.len() - LINES, "line", "lines"));
        }
    }
    Ok(text)
}

fn further(dir: &Path, neuron: Option<&NeuronId>) -> String {
    let why = format!("git brain why {}", neuron.map_or("NEURON", NeuronId::as_str));
    let rows = [
        ("git show main", "a night, with its largest changes"),
        (&why, "the runs that made it"),
        ("git brain recall \"Ben Claire\"", "the memories of both"),
        ("git brain story", "every night's chapter"),
        ("git brain sleep --undo", "the last night taken back"),
    ];
    let rows: String = rows.iter().map(|(command, what)| format!("  {command:<35} {what}\n")).collect();
    format!(
        "The brain is in {}. Try there:\n{rows}Its commits say `Clock: fixed`: other machines refuse them, because these days never were.",
        dir.display()
    )
}
