//! `integrity`.

use super::output::safe_line;
use super::vitals::Signs;
use super::{Done, Session, args};
use crate::brain::integrity::{
    Evaluation, HedgeMeaning, HedgeValue, IntegrityReport, LEAST, Measured, MeasuredDay, Metrics, StanceChanges,
    Steering, evaluate, evaluation_cases, filter, measure, scores,
};
use crate::limits::DOCUMENT_BYTES;
use crate::model::json::inline;
use crate::model::plural;

pub(super) fn integrity(session: &Session, args: &args::Integrity) -> Done {
    match &args.action {
        args::IntegrityAction::Measure { file, lang, since } => {
            let since = since.as_deref().map(|file| session.text_of(file, DOCUMENT_BYTES)).transpose()?;
            let measured = measure(&session.text_of(file, DOCUMENT_BYTES)?, lang.as_deref(), since.as_deref())?;
            session.out.report(&measured, told);
        }
        args::IntegrityAction::Filter { file, lang } => {
            let filtered = filter(&session.text_of(file, DOCUMENT_BYTES)?, lang.as_deref())?;
            if session.out.is_json() {
                session.out.document(&filtered);
            } else {
                session.out.product(&filtered.text);
            }
            if filtered.empty_refusal {
                session.out.say("note: the text refuses and offers no other way");
            }
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
        args::IntegrityAction::Report { agent, svg } => {
            let report = session.brain()?.integrity_report(agent.as_deref())?;
            if let Some(file) = svg {
                session.chart(file, &report.chart())?;
            }
            let signs = Signs::of(session.out.is_unicode());
            session.out.report(&report, |report| drift(report, signs));
        }
    }
    Ok(0)
}

/// A figure, or why there is none.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

/// The metrics, in the order of [`HEADS`] and [`PLOTS`].
fn all_of(metrics: &Metrics) -> [Option<f64>; 5] {
    [
        metrics.silence_ratio,
        metrics.self_reference_rate,
        metrics.apology_density,
        metrics.assertion_ratio,
        metrics.guidance_rate,
    ]
}

fn columns(metrics: &Metrics) -> String {
    all_of(metrics).map(|value| format!("{:>9}", figure(value))).join(" ")
}

/// The heads of [`columns`].
const HEADS: &str = "  silence self-refs apologies assertion  guidance";

fn told(measured: &Measured) -> String {
    let Measured { lang, counts, metrics, transition, other_lang } = measured;
    let few = if metrics.apology_density.is_none() { "; rates from 200 tokens on" } else { "" };
    let mut text = format!(
        "{lang}, {} utterances, {} tokens{few}\n{HEADS}\n{}\n",
        counts.utterances,
        counts.tokens,
        columns(metrics)
    );
    if let Some(transition) = transition {
        let known = transition.deltas.iter().flatten().count();
        let left = if transition.detected { "has left its rituals" } else { "has not left its rituals" };
        text += &match transition.is_decidable {
            true => format!("since then it {left}: confidence {:.2} against 0.62\n", transition.confidence),
            false => format!(
                "whether it has left its rituals since then cannot be told: {known} of 5 metrics are known of both texts, and rates need 200 tokens\n"
            ),
        };
        if let Some(other) = other_lang {
            text += &format!(
                "note: the other text is {other}, and the lexicons of two languages do not find the same share\n"
            );
        }
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

fn drift(report: &IntegrityReport, signs: Signs) -> String {
    let mut text = String::new();
    if report.agents.is_empty() {
        text += &format!(
            "No reply of a model or a program was measured in {}.\n",
            plural(report.commits, "commit", "commits")
        );
    }
    for (agent, days) in &report.agents {
        text += &format!("{}\n             replies {HEADS}\n", safe_line(agent));
        for day in days.iter().skip(days.len().saturating_sub(DAYS)) {
            text += &format!("  {} {:>7} {}\n", day.day, day.counts.replies, columns(&day.metrics));
        }
        if days.len() > DAYS {
            let older = plural(days.len() - DAYS, "older day is", "older days are");
            text += &format!("  {older} not in this table, and `--json` has all\n");
        }
        if days.len() > 1 {
            text += &plots(days, signs);
        }
        if let Some(asked) = report.steering.get(agent) {
            text += &format!("  its next prompt speaks of {}\n", words(asked));
        }
    }
    for (who, value) in &report.hedges {
        let HedgeValue { hedged, plain, difference, low, high, meaning } = value;
        let verdict = match meaning {
            HedgeMeaning::TooFew => format!("too few to say what a hedge means, {LEAST} of each are needed"),
            HedgeMeaning::Unknown => "a hedge tells nothing so far".to_owned(),
            HedgeMeaning::Meant => "a hedge means something".to_owned(),
            HedgeMeaning::Reversed => "a hedge means the opposite".to_owned(),
        };
        text += &format!(
            "{}: of {hedged} hedged and {plain} plain predictions, plain ones were right {difference:+.2} more often ({low:+.2} to {high:+.2}): {verdict}\n",
            safe_line(who)
        );
    }
    for (who, StanceChanges { stances, changes, unfounded }) in &report.stances {
        if *changes > 0 {
            // What an agent was shown when it chose is not recorded; what a council was shown is.
            let (voter, rule) = (who.strip_prefix("council "), who.strip_prefix("rule "));
            let evidence = if voter.is_some() { "new evidence" } else { "a new outcome of the question" };
            let chance = if rule.is_some() { "; a rule draws among options, and changes by design" } else { "" };
            text += &format!(
                "{}: {} in {}, {unfounded} of them without {evidence}{chance}\n",
                safe_line(who),
                plural(*changes, "change of mind", "changes of mind"),
                plural(*stances, "stance", "stances")
            );
        }
    }
    if !(report.hedges.is_empty() && report.stances.is_empty() && report.agents.is_empty()) {
        text += "`git brain ledger` has the calibration of predictions.\n";
    }
    text
}

/// Days that a plot shows, the newest.
const PLOTTED: usize = 60;
/// Names of the metrics, with the ends of their scales; 0: the greatest figure.
const PLOTS: [(&str, f64); 5] =
    [("silence", 1.0), ("self-refs", 0.0), ("apologies", 0.0), ("assertion", 1.0), ("guidance", 1.0)];

/// A line for each metric that two days have.
fn plots(days: &[MeasuredDay], signs: Signs) -> String {
    let shown = &days[days.len().saturating_sub(PLOTTED)..];
    let mut text = String::new();
    for (at, (name, end)) in PLOTS.into_iter().enumerate() {
        let values: Vec<Option<f64>> = shown.iter().map(|day| all_of(&day.metrics)[at]).collect();
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        let [first, .., last] = known[..] else { continue };
        let most = if end > 0.0 { end } else { known.iter().copied().fold(0.01, f64::max) };
        text += &format!("  {name:<10} |{}| {first:.2} to {last:.2}\n", signs.line(&values, most));
    }
    text
}

/// What a prompt speaks of.
fn words(asked: &Steering) -> String {
    let name = |value: String| value.trim_matches('"').replace('_', " ");
    let rituals = asked.rituals.iter().map(|ritual| name(inline(ritual)));
    let failures = asked
        .failures
        .iter()
        .map(|found| format!("{} ({})", name(inline(&found.failure)), name(inline(&found.mitigation))));
    rituals.chain(failures).collect::<Vec<_>>().join(", ")
}
