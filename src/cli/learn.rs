//! `decide`, `outcome`, `ledger`, `goal`.

use super::args;
use super::output::safe_line;
use super::write::landed;
use super::{Done, Session};
use crate::brain::{
    AgentCalibration, Calibration, DecideReport, DecideRequest, GoalReport, GoalsReport, LEAST_STATED, LedgerReport,
    Method, OutcomeReport, OutcomeRequest, Valued,
};
use crate::model::document::{Goal, GoalLevel, GoalState};
use crate::model::plural;

pub(super) fn decide(session: &Session, args: &args::Decide) -> Done {
    let request = DecideRequest { question: args.question.join(" "), options: args.options.clone() };
    let bar = session.out.bar();
    let mut total = 0;
    let report = session.brain()?.decide(&request, &mut |progress| bar.show(&progress, &mut total))?;
    drop(bar);
    session.out.report(&report, |report| decided(report, args.why));
    Ok(0)
}

fn decided(report: &DecideReport, why: bool) -> String {
    let mut text = format!("{}\n", safe_line(&report.choice));
    if let Some(expected) = report.expected {
        let spread = report.spread.map_or(String::new(), |spread| format!(" ± {spread:.2}"));
        text += &format!("  expected {expected:.2}{spread}, from 0 to 1\n");
    }
    if report.untrusted > 0 {
        let (outcomes, come) =
            (plural(report.untrusted, "outcome", "outcomes"), if report.untrusted == 1 { "comes" } else { "come" });
        text += &format!(
            "  note: {outcomes} that it looked back on {come} from an origin that is not trusted here: `git brain ledger` lists them\n"
        );
    }
    if why {
        let reason = [&report.stance, &report.why].map(|part| part.as_deref().map(safe_line));
        let reason: Vec<String> = reason.into_iter().flatten().collect();
        if !reason.is_empty() {
            text += &format!("  {}\n", reason.join(": "));
        }
        for option in report.scores.as_array().into_iter().flatten() {
            let (Some(name), Some(expected)) = (option["option"].as_str(), option["expected"].as_f64()) else {
                continue;
            };
            let spread = option["spread"].as_f64().map_or(String::new(), |spread| format!(" ± {spread:.2}"));
            let judged = plural(option["judged"].as_u64().unwrap_or(0) as usize, "outcome", "outcomes");
            let seeds: Vec<&str> =
                option["seeds"].as_array().into_iter().flatten().filter_map(|id| id.as_str()).collect();
            let seeds = if seeds.is_empty() { String::new() } else { format!("  by {}", safe_line(&seeds.join(", "))) };
            text += &format!("    {expected:.2}{spread}  {judged:<12}  {}{seeds}\n", safe_line(name));
        }
    }
    text += &format!("  run {}\n", report.run);
    text.extend(report.ran.failures.iter().map(|f| format!("  {} failed: {}\n", f.agent, safe_line(&f.error))));
    text + &format!("say what came of it: git brain outcome {} --value 0.0 to 1.0\n", report.run)
}

pub(super) fn outcome(session: &Session, args: &args::Outcome) -> Done {
    let request = OutcomeRequest {
        run: args.run.clone(),
        value: args.value,
        text: args.text.clone(),
        no_merge: args.no_merge,
        dry_run: args.writer.dry_run,
    };
    let report = session.brain()?.outcome(&request)?;
    session.out.report(&report, judged);
    Ok(if report.conflicts.is_empty() { 0 } else { 3 })
}

fn judged(report: &OutcomeReport) -> String {
    let said = |valued: &Valued| match &valued.text {
        Some(text) => format!("{:.3} ({})", valued.value, safe_line(text)),
        None => format!("{:.3}", valued.value),
    };
    let mut lines = vec![
        format!("expected  {}", said(&report.prediction)),
        match (report.method, &report.outcome.text) {
            (Method::Unjudged, Some(text)) => format!("came      {}, not judged", safe_line(text)),
            _ => format!("came      {}", said(&report.outcome)),
        },
    ];
    if report.method != Method::Unjudged {
        lines.push(format!("error     {:+.3}, by {}", report.error, report.method.as_str()));
    }
    lines.extend(report.changes.iter().map(|line| safe_line(line)));
    lines.extend(report.notes.iter().map(|note| format!("note: {}", safe_line(note))));
    lines.extend(report.decisions.iter().map(|d| format!("merged {}", safe_line(&d.to_string()))));
    lines.extend(report.conflicts.iter().map(|c| format!("conflict: {}", safe_line(&c.to_string()))));
    lines.push(landed(&report.run, report.commit.as_deref(), &report.branch, report.merged.then_some(&report.wake)));
    lines.join("\n") + "\n"
}

pub(super) fn ledger(session: &Session, args: &args::Ledger) -> Done {
    let brain = session.brain()?;
    let report = brain.ledger(args.number, args.agent.as_deref(), args.unjudged, args.at.as_deref())?;
    if let Some(file) = &args.svg {
        session.chart(file, &brain.ledger_chart(args.agent.as_deref(), args.at.as_deref())?)?;
    }
    match session.out.is_json() {
        true => session.out.document(&report),
        false => session.out.paged(&entries(&report, args.agent.as_deref(), args.unjudged)),
    }
    Ok(0)
}

fn entries(report: &LedgerReport, agent: Option<&str>, only_unjudged: bool) -> String {
    if let (0, Some(agent)) = (report.considered, agent) {
        return format!("no run of {} was judged yet\n{}", safe_line(agent), silent(report));
    }
    if only_unjudged && report.entries.is_empty() {
        return "no outcome waits for a judge\n".to_owned();
    }
    if report.considered == 0 {
        let hint = "nothing was judged yet; `git brain outcome RUN` says what came of a run\n";
        return format!("{hint}{}", silent(report));
    }
    let mut text = String::new();
    for entry in &report.entries {
        let (expected, came) = (entry.prediction.value, entry.outcome.value);
        text += &match entry.method {
            Method::Unjudged => format!("        expected {expected:.3}, not judged"),
            method => {
                let assumed = if report.unstated.contains(&entry.run) { " (not said by the run)" } else { "" };
                format!("{:+.3}  expected {expected:.3}{assumed}, came {came:.3} ({})", entry.error, method.as_str())
            }
        };
        text += &format!("  {}  {}\n", entry.at, entry.judged);
        let said = |label: &str, words: &Option<String>| {
            words.as_ref().map_or(String::new(), |words| format!("        {label}: {}\n", safe_line(words)))
        };
        text += &said("expected", &entry.prediction.text);
        text += &said("came    ", &entry.outcome.text);
    }
    for agent in &report.agents {
        text += &format!("\n{}\n{}", agent.agent, figures(&agent.calibration));
        let open = report.without_outcome.iter().find(|(name, _)| name.as_str() == agent.agent);
        text.extend(open.map(|(_, count)| format!("  {}\n", open_ones(*count))));
    }
    if let Some(all) = report.all.as_ref().filter(|_| report.agents.len() > 1) {
        text += &format!("\nall\n{}", figures(all));
    }
    let silent = silent(report);
    if !silent.is_empty() {
        text += &format!("\n{silent}");
    }
    if report.unjudged > 0 && !only_unjudged {
        let waiting = plural(report.unjudged, "outcome waits", "outcomes wait");
        text += &format!("\n{waiting} for a judge; `git brain ledger --unjudged` lists them\n");
    }
    if report.older {
        text += "\nthere are older entries, which are not counted\n";
    }
    text
}

fn open_ones(count: usize) -> String {
    let has = if count == 1 { "has" } else { "have" };
    format!("{} {has} no outcome yet", plural(count, "prediction", "predictions"))
}

/// Agents that expected something, and of which nothing was judged.
fn silent(report: &LedgerReport) -> String {
    let is_judged = |name: &str| report.agents.iter().any(|agent| agent.agent == name);
    let silent = report.without_outcome.iter().filter(|(name, _)| !is_judged(name.as_str()));
    silent.map(|(name, count)| format!("{name}: {}\n", open_ones(*count))).collect()
}

/// Each agent's figures in a line.
pub(super) fn summary(report: &LedgerReport) -> String {
    let line = |agent: &AgentCalibration| format!("{:<9}{}", agent.agent, sums(&agent.calibration));
    report.agents.iter().map(line).collect()
}

fn sums(of: &Calibration) -> String {
    let states = match of.count - of.stated {
        0 => String::new(),
        unstated => format!(" ({unstated} without a value, taken as 0.5)"),
    };
    let calibration = match (of.calibration_error, of.by_chance) {
        (None, _) => "no calibration: no run stated a value".to_owned(),
        (Some(error), None) => {
            format!("calibration error {error:.3} of {} stated: too few to say, {LEAST_STATED} are needed", of.stated)
        }
        (Some(error), Some((low, high))) => {
            let told = if error > high { "more than chance" } else { "no more than chance" };
            let stated = of.stated;
            format!("calibration error {error:.3} of {stated} stated: {told}, which gives {low:.3} to {high:.3}")
        }
    };
    format!(
        "  {} judged{states}, mean error {:+.3}, mean absolute error {:.3}, Brier score {:.3}, {calibration}\n",
        of.count, of.mean_error, of.mean_absolute_error, of.brier
    )
}

fn figures(of: &Calibration) -> String {
    let mut text = sums(of);
    for bin in &of.bins {
        let (predicted, observed) = (bin.predicted, bin.observed);
        text += &format!("  {:.1} to {:.1}  {:>5}", bin.from, bin.to, bin.count);
        text += &format!("  expected {predicted:.3}, came {observed:.3}\n");
    }
    text
}

pub(super) fn goal(session: &Session, args: &args::Goal) -> Done {
    let brain = session.brain()?;
    let report = match &args.action {
        args::GoalAction::List { at } => {
            session.out.report(&brain.goals(at.as_deref())?, goals);
            return Ok(0);
        }
        args::GoalAction::Add { text, neuron, writer } => brain.add_goal(text, neuron.as_deref(), writer.dry_run)?,
        args::GoalAction::Close { id, abandoned, writer, .. } => {
            let state = if *abandoned { GoalState::Abandoned } else { GoalState::Reached };
            brain.close_goal(id, state, writer.dry_run)?
        }
    };
    session.out.report(&report, set);
    Ok(if report.merged || report.commit.is_none() { 0 } else { 3 })
}

fn set(report: &GoalReport) -> String {
    let verb = if report.commit.is_some() { "is" } else { "would be" };
    let notes: String = report.notes.iter().map(|note| format!("note: {}\n", safe_line(note))).collect();
    format!("{} {verb} {}\n{notes}", report.goal, report.state.as_str())
}

pub(super) fn goals(report: &GoalsReport) -> String {
    if report.goals.is_empty() {
        return "no goals; `git brain goal add TEXT` sets one\n".to_owned();
    }
    let line = |goal: &Goal| {
        let level = if goal.level == GoalLevel::Terminal { "terminal" } else { "sub" };
        let neuron = goal.neuron.as_ref().map_or(String::new(), |id| format!("  neuron {id}"));
        let parent = goal.parent.as_ref().map_or(String::new(), |id| format!("  for {id}"));
        format!("{:<9} {level:<8} {}  {}{neuron}{parent}\n", goal.state.as_str(), goal.id, safe_line(&goal.text))
    };
    report.goals.iter().map(line).collect()
}
