//! `integrity`: ritual in what minds say, measured, taken out and judged. Only the report needs a brain: it reads what runs of models were
//! measured by, off the trailers of their commits.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Brain, BrainError};
use crate::chemistry::dopamine::question_key;
use crate::cognition::council::is_expectation;
use crate::council::question::topic;
use crate::council::record::Council;
use crate::cycle::choices::{self, Choice};
use crate::cycle::ledger;
use crate::cycle::said::replies;
use crate::cycle::steering::steering;
use crate::delta::LedgerEntry;
pub use crate::integrity::calibration::{HedgeMeaning, HedgeValue, LEAST, StanceChanges};
use crate::integrity::calibration::{Prediction, Stance, hedge_value, stance_changes};
pub use crate::integrity::controller::Steering;
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
use crate::model::document::Cognition;
use crate::model::ids::AgentName;
use crate::model::settings::Steer;
use crate::model::{Stamp, plural};
use crate::picture::chart::{Chart, Column, Line, Panel};
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
    /// The language of that other text, where it is another one: lexicons of two languages do not find the same share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_lang: Option<&'static str>,
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

/// The drift of each agent that a model thinks for, and what outcomes say of its words.
#[derive(Clone, Debug, Serialize)]
pub struct IntegrityReport {
    /// By agent; `chat`: what the brain answered; `council`: the reasons that models gave for their votes.
    pub agents: BTreeMap<String, Vec<MeasuredDay>>,
    /// Commits that were looked at.
    pub commits: usize,
    /// What the last replies of a mind add to its next prompt, where they add something.
    pub steering: BTreeMap<String, Steering>,
    /// By agent, and `all`: how much more often a plain prediction was right than a hedged one. Absent where there are not both.
    pub hedges: BTreeMap<String, HedgeValue>,
    /// By agent, of a rule as `rule AGENT`, and by member of councils as `council MEMBER`: changes of stance of one mind on one question.
    pub stances: BTreeMap<String, StanceChanges>,
}

/// A line of the drift: its name, its colour, its figure.
type Drift = (&'static str, usize, fn(&Metrics) -> Option<f64>);
const RATIOS: [Drift; 3] = [
    ("assertion", 0, |metrics| metrics.assertion_ratio),
    ("silence", 2, |metrics| metrics.silence_ratio),
    ("guidance", 5, |metrics| metrics.guidance_rate),
];
const RATES: [Drift; 2] =
    [("self-reference", 3, |metrics| metrics.self_reference_rate), ("apologies", 7, |metrics| metrics.apology_density)];
/// The least ceiling of rates, so that one apology fills no plot.
const RATE: f64 = 5.0;

impl IntegrityReport {
    /// The drift as a chart: a row for each mind, ratios on the left and rates on the right, over the days.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let panel = |title: String, days: &[MeasuredDay], lines: &[Drift]| Panel {
            title,
            scale: (0.0, 1.0),
            columns: days.iter().map(|day| Column::named(&day.day)).collect(),
            lines: lines
                .iter()
                .map(|(name, colour, of)| Line::new(name, *colour, days.iter().map(|day| of(&day.metrics)).collect()))
                .collect(),
        };
        let row = |(name, days): (&String, &Vec<MeasuredDay>)| {
            let rates = panel("per 1,000 tokens".to_owned(), days, &RATES).reaching(RATE);
            vec![panel(format!("{name}: ratios"), days, &RATIOS), rates]
        };
        let read = plural(self.commits, "commit", "commits");
        let caption = match self.agents.is_empty() {
            true => format!("No reply of a model or a program was measured in {read}."),
            false => format!("metrics of replies by day, of {read}"),
        };
        Chart { title: "Drift of minds".to_owned(), caption, rows: self.agents.iter().map(row).collect() }
    }
}

/// What came true is at least this much.
const TRUE: f64 = 0.5;

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
    let (mut transition, mut other_lang) = (None, None);
    if let Some(since) = since {
        let other = lang_of(since, lang)?;
        transition = Some(compare(&Metrics::of(since, other, tokens(since) as u64), &metrics));
        other_lang = Some(other.code()).filter(|_| other != spoken);
    }
    Ok(Measured { lang: spoken.code(), counts, metrics, transition, other_lang })
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
    /// The measures of what models said, by agent and day, along wake's own line and the runs that it merged; what is added to their next
    /// prompts; and what the ledger says of hedges and of changes of mind.
    ///
    /// # Errors
    /// Commits, entries or councils that cannot be read; an agent that nobody knows (2).
    pub fn integrity_report(&self, agent: Option<&str>) -> Result<IntegrityReport, BrainError> {
        let (store, tip) = (&self.cycle.store, self.at(None)?);
        let is_meant = |who: &str| agent.is_none_or(|agent| agent == who);
        let mut commits = 0;
        let mut days: BTreeMap<(String, String), Counts> = BTreeMap::new();
        let mut measured = |who: String, at: i64, counts: Counts| {
            if is_meant(&who) {
                let day = Stamp::from_unix(at).to_string().chars().take(10).collect();
                *days.entry((who, day)).or_default() += counts;
            }
        };
        for reply in replies(store, tip).take(limits::HISTORY_WALK) {
            commits += 1;
            let Some(reply) = reply? else { continue };
            measured(reply.agent.map_or_else(|| CHAT.to_owned(), |agent| agent.to_string()), reply.at, reply.counts);
        }
        let councils = self.cycle.councils()?;
        for record in councils.iter().map(|council| &council.record) {
            for said in record.reasonings_of_models() {
                measured(COUNCIL.to_owned(), record.at_ms.div_euclid(1000), counted(said));
            }
        }
        let mut agents: BTreeMap<String, Vec<MeasuredDay>> = BTreeMap::new();
        for ((who, day), counts) in days {
            let metrics = Metrics::from(&counts);
            agents.entry(who).or_default().push(MeasuredDay { day, counts, metrics });
        }
        let mut report = IntegrityReport {
            agents,
            commits,
            steering: BTreeMap::new(),
            hedges: BTreeMap::new(),
            stances: BTreeMap::new(),
        };
        if self.cycle.shared.policy.settings.integrity.steer != Steer::Off {
            let agents = &self.cycle.shared.policy.agents;
            // Programs word their prompts themselves.
            let is_steered = |name: &AgentName| {
                let cognition = agents.get(name).map(|member| &member.agent.cognition);
                matches!(cognition, Some(Cognition::Llm { .. } | Cognition::Chain { .. }))
            };
            for who in report.agents.keys().filter(|who| *who != COUNCIL) {
                let name = AgentName::parse(who).ok().filter(|_| who != CHAT);
                if who != CHAT && !name.as_ref().is_some_and(is_steered) {
                    continue;
                }
                let asked = steering(store, &self.cycle.shared, tip, name.as_ref())?;
                if asked != Steering::default() {
                    report.steering.insert(who.clone(), asked);
                }
            }
        }
        let tree = store.tree_of(tip)?;
        let entries = ledger::newest(store, tree, limits::LEDGER_ENTRIES)?;
        let mut stated = Vec::new();
        for entry in entries.iter().filter(|entry| is_meant(entry.agent.as_str())) {
            if ledger::states_value(store, tree, entry)? {
                stated.push(entry);
            }
        }
        report.hedges = hedges(stated);
        let mut chosen = choices::newest(store, tree, limits::LEDGER_ENTRIES)?;
        chosen.retain(|choice| is_meant(choice.agent.as_str()));
        report.stances = stances(&chosen, &entries);
        if is_meant(COUNCIL) {
            report.stances.extend(stances_in_councils(&councils));
        }
        if let Some(name) = agent.filter(|name| [CHAT, COUNCIL].iter().all(|voice| voice != name)) {
            let agents = &self.cycle.shared.policy.agents;
            let is_known = agents.keys().any(|known| known.as_str() == name)
                || !(report.agents.is_empty() && report.hedges.is_empty() && report.stances.is_empty());
            if !is_known {
                let read = plural(commits, "commit", "commits");
                return Err(BrainError::Usage {
                    message: format!("--agent {name}: there is no such agent, and nothing by it in {read}"),
                    hint: Some(format!(
                        "there are {}, {CHAT} and {COUNCIL}",
                        agents.keys().map(AgentName::as_str).collect::<Vec<_>>().join(", ")
                    )),
                });
            }
        }
        Ok(report)
    }
}

/// What stands for answers of the chat, and for votes.
const CHAT: &str = "chat";
const COUNCIL: &str = "council";
/// Begins the cognition of a rule in its records, and the name of one in a report.
const REFLEX: &str = "reflex:";
const RULE: &str = "rule";

fn counted(text: &str) -> Counts {
    Counts::of(text, detect(text).unwrap_or(Lang::En), tokens(text) as u64)
}

/// Whether plain predictions are right more often than hedged ones, by agent and for all. Of a run that was judged several times the newest
/// outcome counts. The same words of an agent are one prediction, and under `all` those of several agents as well: copies are no further evidence.
/// `entries` are the newest first, of predictions whose value was stated.
fn hedges<'e>(entries: impl IntoIterator<Item = &'e LedgerEntry>) -> BTreeMap<String, HedgeValue> {
    let mut judged = BTreeSet::new();
    let mut said: BTreeMap<(&str, String), (Prediction, usize)> = BTreeMap::new();
    for entry in entries {
        let Some(text) = entry.prediction.text.as_ref().filter(|_| judged.insert(&entry.judged)) else { continue };
        // The words behind a council's expectation are those of whoever asked it.
        if is_expectation(text) {
            continue;
        }
        let is_right = (entry.outcome.value >= TRUE) == (entry.prediction.value >= TRUE);
        for who in [entry.agent.as_str(), "all"] {
            let new = || (Prediction { hedged: counted(text).hedging > 0, right: 0.0 }, 0);
            let (prediction, runs) = said.entry((who, topic(text))).or_insert_with(new);
            prediction.right += f64::from(u8::from(is_right));
            *runs += 1;
        }
    }
    let mut predictions: BTreeMap<String, Vec<Prediction>> = BTreeMap::new();
    for ((who, _), (Prediction { hedged, right }, runs)) in said {
        predictions.entry(who.to_owned()).or_default().push(Prediction { hedged, right: right / runs as f64 });
    }
    predictions.into_iter().filter_map(|(who, all)| Some((who, hedge_value(&all)?))).collect()
}

/// Changes of an agent's choice on one question, oldest run first. Evidence is the outcomes of earlier choices on it that were known by then, of
/// any agent: a run is shown the newest of the ledger. What one mind chose and then another, because the agent thinks with another model now, is no change of mind.
fn stances(choices: &[Choice], entries: &[LedgerEntry]) -> BTreeMap<String, StanceChanges> {
    let mut outcomes: BTreeMap<String, Vec<&LedgerEntry>> = BTreeMap::new();
    for entry in entries {
        if let Some(chosen) = &entry.chosen {
            outcomes.entry(question_key(&chosen.question)).or_default().push(entry);
        }
    }
    let mut by_mind: BTreeMap<(&str, &str, String), Vec<Stance>> = BTreeMap::new();
    for Choice { run, agent, cognition, chosen } in choices.iter().rev() {
        let (agent, question) = (agent.as_str(), question_key(&chosen.question));
        let known = outcomes.get(&question).into_iter().flatten();
        let known = known.filter(|entry| entry.run.unix_ms() <= run.unix_ms() && entry.judged != *run);
        let stance =
            Stance { value: topic(&chosen.option), evidence: known.map(|entry| entry.run.to_string()).collect() };
        by_mind.entry((agent, cognition, question)).or_default().push(stance);
    }
    let mut found: BTreeMap<String, StanceChanges> = BTreeMap::new();
    for ((agent, cognition, _), stances) in by_mind {
        let who = if cognition.starts_with(REFLEX) { format!("{RULE} {agent}") } else { agent.to_owned() };
        *found.entry(who).or_default() += stance_changes(&stances);
    }
    found
}

/// Changes of a member's vote on one question. Evidence is what its councils were shown. A member is its mind: another one that has its id in
/// another document is another member.
fn stances_in_councils(councils: &[Council]) -> BTreeMap<String, StanceChanges> {
    let mut by_mind: BTreeMap<(&str, &str, &str, String), Vec<Stance>> = BTreeMap::new();
    for record in councils.iter().map(|council| &council.record) {
        for vote in record.votes.iter().map(|cast| &cast.opening.vote) {
            let Some(seat) = record.members.iter().find(|seat| seat.id == vote.member) else { continue };
            let stance =
                Stance { value: vote.decision.to_string(), evidence: record.evidence.iter().cloned().collect() };
            let mind = (seat.id.as_str(), seat.family.as_str(), seat.mind.as_str(), topic(&record.question));
            by_mind.entry(mind).or_default().push(stance);
        }
    }
    let mut found: BTreeMap<String, StanceChanges> = BTreeMap::new();
    for ((member, ..), stances) in by_mind {
        *found.entry(format!("{COUNCIL} {member}")).or_default() += stance_changes(&stances);
    }
    found
}
