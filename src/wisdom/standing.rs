//! How each seed stands: what the records say of it, held against what came since. Counsel: seeds for a question, the best first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::causes::{BADLY, Causes, WELL, whole};
use super::distil::{SESSIONS, SUPPORTS};
use super::karma::{Exchange, WordedExchange, worded};
use super::words::{action_stems, share, stems};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::wisdom::{Polarity, Seed, WisdomRecord};

/// Share of a seed's case that an exchange must speak of to count for or against it.
const OF_ITS_CASE: f64 = 0.75;
/// Similarity from which on a seed says something about a question.
const APPLIES: f64 = 0.3;
/// Fewest contradictions that retire a seed.
const RETIRES: usize = 2;

/// Whether a seed is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is told.
    Active,
    /// The runs that it cites do not bear it out: three supports out of two sessions, and every word of case and action in one of them.
    Unproven,
    /// It was contradicted as often as supported, and at least twice.
    Retired,
    /// A person took it back.
    Forgotten,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Unproven => "unproven",
            Self::Retired => "retired",
            Self::Forgotten => "forgotten",
        }
    }
}

/// A seed with what follows from the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedStanding {
    /// Its id.
    pub id: String,
    /// The seed.
    #[serde(flatten)]
    pub seed: Seed,
    /// The run that entered it.
    pub run: RunId,
    /// Outcomes for it, of the newest that are about it.
    pub support: usize,
    /// Outcomes against it.
    pub contradict: usize,
    /// (support + prior) / (support + contradict + 2); the prior is 1, or the teacher's confidence where it is inherited.
    pub confidence: f64,
    /// How much more often its effect comes with the action than without, in like cases, 0..=1.
    pub causal: f64,
    /// Whether it is told.
    pub state: State,
}

/// A seed that says something about a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Counsel {
    /// The seed's id.
    pub seed: String,
    /// The case.
    pub condition: String,
    /// The action.
    pub action: String,
    /// The effect.
    pub effect: String,
    /// Whether to do it.
    pub polarity: Polarity,
    /// How sure it is, 0..=1.
    pub confidence: f64,
    /// `.5` similarity `+ .3` causal strength `+ .2` confidence.
    pub rank: f64,
}

impl Counsel {
    /// The seed in one line, as agents and people read it.
    pub fn line(&self) -> String {
        seed_line(&self.condition, &self.action, &self.effect, self.polarity)
    }
}

/// A seed in one line.
pub fn seed_line(condition: &str, action: &str, effect: &str, polarity: Polarity) -> String {
    format!("{condition}: {} {action} ({effect})", polarity.as_str())
}

/// Whether an exchange is about a seed.
pub fn bears_on(seed: &Seed, exchange: &Exchange) -> bool {
    action_stems(&seed.action) == action_stems(&exchange.action)
        && share(&stems(&seed.condition), &stems(&exchange.condition)) >= OF_ITS_CASE
}

/// How every seed of the records stands, by id. Records and exchanges are in the order of their runs. The same records in any order give the same.
pub fn standings(records: &[WisdomRecord], exchanges: &[Exchange]) -> Vec<SeedStanding> {
    let mut seeds: BTreeMap<String, (RunId, &Seed)> = BTreeMap::new();
    let mut forgotten: BTreeSet<&str> = BTreeSet::new();
    let mut ordered: Vec<&WisdomRecord> = records.iter().collect();
    ordered.sort_by(|a, b| a.run.cmp(&b.run));
    for record in ordered {
        for seed in &record.teaching.seeds {
            // Own experience stands against what is inherited; else the first stands.
            let known = seeds.entry(seed.id()).or_insert((record.run.clone(), seed));
            if known.1.inherited.is_some() && seed.inherited.is_none() {
                *known = (record.run.clone(), seed);
            }
        }
        forgotten.extend(record.teaching.forget.iter().map(String::as_str));
    }
    let all = worded(exchanges);
    let standing = |(id, (run, seed)): (String, (RunId, &Seed))| {
        let is_forgotten = forgotten.contains(id.as_str());
        stand(id, run, seed, is_forgotten, &all)
    };
    seeds.into_iter().map(standing).collect()
}

fn stand(id: String, run: RunId, seed: &Seed, is_forgotten: bool, all: &[WordedExchange<'_>]) -> SeedStanding {
    let (case, action) = (stems(&seed.condition), action_stems(&seed.action));
    let wanted = seed.polarity == Polarity::Do;
    let in_case: Vec<&WordedExchange<'_>> = all.iter().filter(|told| share(&case, &told.case) >= OF_ITS_CASE).collect();
    let about = in_case.iter().rev().filter(|told| told.action == action);
    let judged: Vec<bool> =
        about.filter_map(|told| Some(told.exchange.went_well()? == wanted)).take(limits::SEED_OUTCOMES).collect();
    let support = judged.iter().filter(|good| **good).count();
    let contradict = judged.len() - support;
    let prior = seed.inherited.as_ref().map_or(1.0, |from| from.confidence);
    let confidence = (support as f64 + prior) / (judged.len() + 2) as f64;
    let compared = Causes::of(in_case.iter().copied());
    let compared = compared.strength(&whole(&action), if wanted { WELL } else { BADLY });
    let taught = seed.inherited.as_ref().map_or(0.0, |from| from.causal / 2.0);
    let causal = compared.map_or(taught, |found| found.strength).clamp(0.0, 1.0);
    let state = if is_forgotten {
        State::Forgotten
    } else if contradict >= RETIRES && contradict >= support {
        State::Retired
    } else if seed.sources.is_empty() || is_proven(seed, [&case, &action], wanted, all) {
        State::Active
    } else {
        State::Unproven
    };
    SeedStanding { id, seed: seed.clone(), run, support, contradict, confidence, causal, state }
}

/// Whether the cited runs bear a seed out: at least three that went as it says, of at least two sessions, and in all of them together every word of
/// case and action. What a model made up is in none.
fn is_proven(seed: &Seed, words: [&BTreeSet<String>; 2], wanted: bool, all: &[WordedExchange<'_>]) -> bool {
    let bears = |told: &&WordedExchange<'_>| {
        let e = told.exchange;
        seed.sources.contains(&e.run) && e.went_well() == Some(wanted) && is_said_in(words, told)
    };
    let cited: Vec<&Exchange> = all.iter().filter(bears).map(|told| told.exchange).collect();
    let runs: BTreeSet<&RunId> = cited.iter().map(|e| &e.run).collect();
    let sessions: BTreeSet<&str> = cited.iter().map(|e| e.session.as_str()).collect();
    runs.len() >= SUPPORTS && sessions.len() >= SESSIONS
}

/// Whether every word of a seed's action, and most of those of its case, were said in an exchange.
fn is_said_in([case, action]: [&BTreeSet<String>; 2], told: &WordedExchange<'_>) -> bool {
    let said: BTreeSet<String> = [&told.case, &told.action, &told.effect].into_iter().flatten().cloned().collect();
    share(action, &said) >= 1.0 && share(case, &said) >= OF_ITS_CASE
}

/// Active seeds that say something about a text, the best first; without a text all active ones, by cause and confidence.
pub fn applicable<'s>(
    standings: impl Iterator<Item = &'s SeedStanding>,
    text: Option<&str>,
    most: usize,
) -> Vec<Counsel> {
    let asked = text.map(stems);
    let counsel = |standing: &SeedStanding| {
        let seed = &standing.seed;
        let similarity = asked.as_ref().map_or(Some(0.0), |asked| {
            Some(similarity(&stems(&seed.condition), asked)).filter(|similarity| *similarity >= APPLIES)
        })?;
        Some(Counsel {
            seed: standing.id.clone(),
            condition: seed.condition.clone(),
            action: seed.action.clone(),
            effect: seed.effect.clone(),
            polarity: seed.polarity,
            confidence: standing.confidence,
            rank: 0.5 * similarity + 0.3 * standing.causal + 0.2 * standing.confidence,
        })
    };
    let mut found: Vec<Counsel> = standings.filter(|s| s.state == State::Active).filter_map(counsel).collect();
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.seed.cmp(&b.seed)));
    found.truncate(most);
    found
}

/// Common words over the geometric mean of both numbers of words (Ochiai 1957).
fn similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count() as f64;
    if common == 0.0 { 0.0 } else { common / (a.len() as f64 * b.len() as f64).sqrt() }
}

/// The seeds whose action an option is.
pub fn about<'c>(option: &str, counsel: &'c [Counsel]) -> impl Iterator<Item = &'c Counsel> {
    let option = action_stems(option);
    counsel.iter().filter(move |one| action_stems(&one.action) == option)
}

/// What to expect of an option before anything is known of it here: the given mean, drawn by each seed about it to 1 or to 0, as far as the seed's
/// confidence and the likeness of its case go.
pub fn expected_of(mean: f64, question: &str, option: &str, counsel: &[Counsel]) -> f64 {
    if counsel.is_empty() {
        return mean;
    }
    let asked = stems(question);
    about(option, counsel).fold(mean, |mean, one| {
        let weight = one.confidence * similarity(&stems(&one.condition), &asked);
        let target = if one.polarity == Polarity::Do { 1.0 } else { 0.0 };
        mean + weight * (target - mean)
    })
}

#[cfg(test)]
pub(super) mod fixture {
    use super::*;
    use crate::model::ids::{AgentName, RunId};
    use crate::wisdom::karma::{Karma, signed};

    pub fn run(day: u32, agent: &str) -> RunId {
        let ms = 1_769_437_920_000 + i64::from(day) * 86_400_000 + i64::from(agent.len() as u32);
        RunId::new(ms, u64::from(day), &AgentName::parse(agent).unwrap())
    }

    pub fn exchange(day: u32, condition: &str, action: &str, value: f64) -> Exchange {
        Exchange {
            run: run(day, "decision"),
            judged_by: run(day, "evaluator"),
            session: format!("day {day}"),
            condition: condition.into(),
            action: action.into(),
            effect: String::new(),
            karma: Karma { outcome: Some(signed(value)), consensus: None, sycophancy: None },
        }
    }
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
