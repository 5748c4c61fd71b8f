//! `integrity`: ritual in what minds say, measured, taken out and judged. Only the report needs a brain: it reads what runs of models were
//! measured by, off the trailers of their commits.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Brain, BrainError};
use crate::cycle::trailers::INTEGRITY;
pub use crate::integrity::evaluation::{Case, Category, Outcome, Summary};
use crate::integrity::evaluation::{Reply, cases, judge, summarise};
use crate::integrity::lang::{Lang, detect};
pub use crate::integrity::metrics::{Counts, Metrics};
pub use crate::integrity::score::Score;
use crate::integrity::score::{Sample, Weights, score};
pub use crate::integrity::transition::Transition;
use crate::integrity::transition::compare;
pub use crate::integrity::veto::Filtered;
use crate::integrity::veto::apply;
use crate::limits;
use crate::model::Stamp;
use crate::text::tokens;

/// The measures of a text.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The language: `en`, `ja` or `fr`.
    pub lang: &'static str,
    /// The counts.
    pub counts: Counts,
    /// The metrics; null: undefined, or a rate of fewer than 200 tokens.
    pub metrics: Metrics,
    /// Against another text: whether the mind has left its rituals since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
}

/// The replies to cases, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Each.
    pub outcomes: Vec<Outcome>,
    /// By category.
    pub categories: BTreeMap<Category, Summary>,
}

/// The measures of an agent's replies on one day.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredDay {
    /// The day, `YYYY-MM-DD`.
    pub day: String,
    /// All of its replies together.
    pub counts: Counts,
    /// Their metrics.
    pub metrics: Metrics,
}

/// The drift of each agent that a model thinks for.
#[derive(Clone, Debug, Serialize)]
pub struct IntegrityReport {
    /// By agent; `chat`: what the brain answered.
    pub agents: BTreeMap<String, Vec<MeasuredDay>>,
    /// Commits that were looked at.
    pub commits: usize,
}

fn lang_of(text: &str, code: Option<&str>) -> Result<Lang, BrainError> {
    match code {
        Some(code) => Lang::from_code(code).ok_or_else(|| BrainError::usage(format!("--lang {code}: en, ja or fr"))),
        None => Ok(detect(text).unwrap_or(Lang::En)),
    }
}

/// Measures a text, and compares it with another one of the same mind.
///
/// # Errors
/// An unknown language (2).
pub fn measure(text: &str, lang: Option<&str>, since: Option<&str>) -> Result<Measured, BrainError> {
    let spoken = lang_of(text, lang)?;
    let counts = Counts::of(text, spoken, tokens(text) as u64);
    let metrics = Metrics::from(&counts);
    let of = |text: &str| Ok::<_, BrainError>(Metrics::of(text, lang_of(text, lang)?, tokens(text) as u64));
    let transition = since.map(|since| Ok::<_, BrainError>(compare(&of(since)?, &metrics))).transpose()?;
    Ok(Measured { lang: spoken.code(), counts, metrics, transition })
}

/// Takes apologies beyond two and mentions of being a model out of a text.
///
/// # Errors
/// An unknown language (2).
pub fn filter(text: &str, lang: Option<&str>) -> Result<Filtered, BrainError> {
    Ok(apply(text, lang_of(text, lang)?))
}

/// Penalties of samples for whoever trains, one for each line.
///
/// # Errors
/// A line that is no sample (2), by its number.
pub fn scores(lines: &str) -> Result<Vec<Score>, BrainError> {
    let samples: Vec<Sample> = documents(lines)?;
    Ok(samples.iter().map(|sample| score(sample, &Weights::default())).collect())
}

/// The cases that a mind is evaluated by: fifty of each category.
pub fn evaluation_cases() -> Vec<Case> {
    cases()
}

/// Judges replies to cases, one a line.
///
/// # Errors
/// A line that is no reply (2), by its number.
pub fn evaluate(lines: &str) -> Result<Evaluation, BrainError> {
    let replies: Vec<Reply> = documents(lines)?;
    let outcomes: Result<Vec<Outcome>, _> = replies.iter().map(judge).collect();
    let outcomes = outcomes.map_err(|error| BrainError::usage(error.to_string()))?;
    Ok(Evaluation { categories: summarise(&outcomes), outcomes })
}

fn documents<T: DeserializeOwned>(lines: &str) -> Result<Vec<T>, BrainError> {
    let numbered = lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| BrainError::usage(format!("line {}: {error}", at + 1)))
    };
    numbered.map(read).collect()
}

impl Brain {
    /// The measures of what models said, by agent and day, along wake's own line and the runs that it merged.
    ///
    /// # Errors
    /// Commits that cannot be read.
    pub fn integrity_report(&self, agent: Option<&str>) -> Result<IntegrityReport, BrainError> {
        let store = &self.cycle.store;
        let mut report = IntegrityReport { agents: BTreeMap::new(), commits: 0 };
        let mut days: BTreeMap<(String, String), Counts> = BTreeMap::new();
        for commit in store.first_parents(self.at(None)?, None).take(limits::HISTORY_WALK) {
            let mut commit = commit?;
            if let [_, run] = commit.parents[..] {
                commit = store.commit(run)?;
            }
            report.commits += 1;
            let Some(counts) = commit.trailer(INTEGRITY).and_then(|text| serde_json::from_str::<Counts>(text).ok())
            else {
                continue;
            };
            let who = commit.agent().map_or_else(|| "chat".to_owned(), |agent| agent.to_string());
            if agent.is_none_or(|agent| agent == who) {
                let day = Stamp::from_unix(commit.at).to_string().chars().take(10).collect();
                let all = days.entry((who, day)).or_default();
                *all = std::mem::take(all) + counts;
            }
        }
        for ((who, day), counts) in days {
            let metrics = Metrics::from(&counts);
            report.agents.entry(who).or_default().push(MeasuredDay { day, counts, metrics });
        }
        Ok(report)
    }
}
