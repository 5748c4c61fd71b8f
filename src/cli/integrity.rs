//! `integrity`.

use super::output::{safe, safe_line};
use super::{Done, Session, args};
use crate::brain::integrity::{
    Evaluation, IntegrityReport, Measured, Metrics, evaluate, evaluation_cases, filter, measure, scores,
};
use crate::limits::DOCUMENT_BYTES;
use crate::model::json::inline;

pub(super) fn integrity(session: &Session, args: &args::Integrity) -> Done {
    match &args.action {
        args::IntegrityAction::Measure { file, lang, since } => {
            let since = since.as_deref().map(|file| session.text_of(file, DOCUMENT_BYTES)).transpose()?;
            let measured = measure(&session.text_of(file, DOCUMENT_BYTES)?, lang.as_deref(), since.as_deref())?;
            session.out.report(&measured, told);
        }
        args::IntegrityAction::Filter { file, lang } => {
            let filtered = filter(&session.text_of(file, DOCUMENT_BYTES)?, lang.as_deref())?;
            session.out.report(&filtered, |filtered| safe(&filtered.text));
        }
        args::IntegrityAction::Evaluate { cases: true, .. } => {
            let cases: String = evaluation_cases().iter().map(|case| inline(case) + "\n").collect();
            session.out.text(&cases);
        }
        args::IntegrityAction::Evaluate { file, .. } => {
            session.out.report(&evaluate(&session.text_of(file, DOCUMENT_BYTES)?)?, judged);
        }
        args::IntegrityAction::Score { file } => {
            let lines: String =
                scores(&session.text_of(file, DOCUMENT_BYTES)?)?.iter().map(|score| inline(score) + "\n").collect();
            session.out.text(&lines);
        }
        args::IntegrityAction::Report { agent } => {
            session.out.report(&session.brain()?.integrity_report(agent.as_deref())?, drift);
        }
    }
    Ok(0)
}

/// A figure, or why there is none.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn columns(metrics: &Metrics) -> String {
    let all = [
        metrics.silence_ratio,
        metrics.self_reference_rate,
        metrics.apology_density,
        metrics.assertion_ratio,
        metrics.guidance_rate,
    ];
    all.map(|value| format!("{:>9}", figure(value))).join(" ")
}

/// The heads of [`columns`].
const HEADS: &str = "  silence self-refs apologies assertion  guidance";

fn told(measured: &Measured) -> String {
    let Measured { lang, counts, metrics, transition } = measured;
    let few = if metrics.apology_density.is_none() { "; rates from 200 tokens on" } else { "" };
    let mut text = format!(
        "{lang}, {} utterances, {} tokens{few}\n{HEADS}\n{}\n",
        counts.utterances,
        counts.tokens,
        columns(metrics)
    );
    if let Some(transition) = transition {
        let left = if transition.detected { "has left its rituals" } else { "has not left its rituals" };
        text += &format!("since then it {left}: confidence {:.2} against 0.62\n", transition.confidence);
    }
    text
}

fn judged(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    for (category, summary) in &evaluation.categories {
        let rating = summary.mean_rating.map(|rating| format!(", rated {rating:.1}")).unwrap_or_default();
        let name = inline(category);
        text += &format!("{:<26} {} of {} pass{rating}\n", name.trim_matches('"'), summary.passed, summary.total);
    }
    for outcome in evaluation.outcomes.iter().filter(|outcome| !outcome.passed).take(SHOWN) {
        text += &format!("  {}: {}\n", safe_line(&outcome.id), safe_line(&outcome.failures.join("; ")));
    }
    text
}

/// Failures that are shown at once; `--json` has all.
const SHOWN: usize = 20;
/// Days that are shown of each agent.
const DAYS: usize = 14;

fn drift(report: &IntegrityReport) -> String {
    if report.agents.is_empty() {
        return format!("No reply of a model was measured in {} commits.\n", report.commits);
    }
    let mut text = String::new();
    for (agent, days) in &report.agents {
        text += &format!("{}\n             replies {HEADS}\n", safe_line(agent));
        for day in days.iter().skip(days.len().saturating_sub(DAYS)) {
            text += &format!("  {} {:>7} {}\n", day.day, day.counts.replies, columns(&day.metrics));
        }
    }
    text
}
