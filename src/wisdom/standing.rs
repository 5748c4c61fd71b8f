//! How each seed stands: what the records say of it, held against what came since. Counsel: seeds for a question, the best first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bound::{WORD, lower_bound};
use super::causes::{BADLY, Causes, WELL, whole};
use super::distil::{LIKE, SESSIONS, SUPPORTS};
use super::karma::{Exchange, WordedExchange, worded};
use super::words::{PlainAction, Said, action_stems, likeness, share, stems};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::wisdom::{Polarity, Seed, WisdomRecord};
use crate::model::within;

/// Share of a seed's case that an exchange must speak of to count for or against it.
const OF_ITS_CASE: f64 = 0.75;
/// Share of a case, weighed by rarity, that a question must speak of for the seed to say something about it.
const APPLIES: f64 = 0.6;
/// Fewest words of a case that it must speak of; of a shorter case all.
const WORDS: usize = 2;

/// Whether a seed is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is told.
    Active,
    /// The runs that it cites do not bear it out: three supports out of two sessions, and every word of case and action in each of them.
    Unproven,
    /// Outcomes no longer show surely that it does anything.
    Retired,
    /// A person took it, or one that says nearly the same, back.
    Forgotten,
    /// It comes from where nobody here trusts, until a person approves that.
    Waiting,
}

impl State {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Unproven => "unproven",
            Self::Retired => "retired",
            Self::Forgotten => "forgotten",
            Self::Waiting => "waiting",
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
    let gone: Vec<Lesson> =
        forgotten.iter().filter_map(|id| seeds.get(*id)).map(|(_, seed)| Lesson::of(seed)).collect();
    let all = worded(exchanges);
    let standing = |(id, (run, seed)): (String, (RunId, &Seed))| {
        let is_forgotten = forgotten.contains(id.as_str()) || is_found(seed) && Lesson::of(seed).is_near_any(&gone);
        stand(id, run, seed, is_forgotten, &all)
    };
    seeds.into_iter().map(standing).collect()
}

/// The seeds of records that nobody has approved yet, without those that are known: they wait, and no outcome is held against them.
pub fn waiting(records: &[WisdomRecord], known: &[SeedStanding]) -> Vec<SeedStanding> {
    let mut found: BTreeMap<String, SeedStanding> = BTreeMap::new();
    for record in records {
        for seed in &record.teaching.seeds {
            let id = seed.id();
            if known.iter().all(|known| known.id != id) {
                let standing = stand(id.clone(), record.run.clone(), seed, false, &[]);
                found.entry(id).or_insert(SeedStanding { state: State::Waiting, ..standing });
            }
        }
    }
    found.into_values().collect()
}

/// Whether a seed that outcomes or a bundle bring says nearly what a forgotten one says.
pub fn is_kept_out(seed: &Seed, known: &[SeedStanding]) -> bool {
    let gone = known.iter().filter(|known| known.state == State::Forgotten);
    let gone: Vec<Lesson> = gone.map(|known| Lesson::of(&known.seed)).collect();
    is_found(seed) && Lesson::of(seed).is_near_any(&gone)
}

/// Whether a seed is no person's own word: that is heard also where it comes near to one that was forgotten.
fn is_found(seed: &Seed) -> bool {
    !seed.sources.is_empty() || seed.inherited.is_some()
}

/// The words of a seed by which lessons are compared.
struct Lesson {
    case: BTreeSet<String>,
    action: PlainAction,
    polarity: Polarity,
}

impl Lesson {
    fn of(seed: &Seed) -> Self {
        Self { case: stems(&seed.condition), action: PlainAction::of(&seed.action), polarity: seed.polarity }
    }

    /// Whether one of others says nearly the same: the same of the same action, in a case that is like this one, or part of it, or has it as a part.
    fn is_near_any(&self, others: &[Self]) -> bool {
        others.iter().any(|other| {
            let (a, b) = (&self.case, &other.case);
            let is_like = likeness(a, b) >= LIKE || share(a, b) >= 1.0 || share(b, a) >= 1.0;
            self.polarity == other.polarity && is_like && self.action.is_same(&other.action)
        })
    }
}

fn stand(id: String, run: RunId, seed: &Seed, is_forgotten: bool, all: &[WordedExchange<'_>]) -> SeedStanding {
    let (case, action) = (stems(&seed.condition), action_stems(&seed.action));
    let wanted = seed.polarity == Polarity::Do;
    let in_case: Vec<&WordedExchange<'_>> = all.iter().filter(|told| share(&case, &told.case) >= OF_ITS_CASE).collect();
    let about = in_case.iter().rev().filter(|told| told.action == action);
    let judged: Vec<bool> =
        about.filter_map(|told| Some(told.exchange.went_well()? == wanted)).take(limits::SEED_OUTCOMES).collect();
    let others = in_case.iter().rev().filter(|told| told.action != action);
    let of_others: Vec<bool> =
        others.filter_map(|told| Some(told.exchange.went_well()? == wanted)).take(limits::SEED_OUTCOMES).collect();
    let support = judged.iter().filter(|good| **good).count();
    let contradict = judged.len() - support;
    let prior = seed.inherited.as_ref().map_or(1.0, |from| from.confidence);
    let confidence = (support as f64 + prior) / (judged.len() + 2) as f64;
    let compared = Causes::of(in_case.iter().copied());
    let compared = compared.strength(&whole(&action), if wanted { WELL } else { BADLY });
    let taught = seed.inherited.as_ref().map_or(0.0, |from| from.causal / 2.0);
    let causal = compared.map_or(taught, |found| found.strength).clamp(0.0, 1.0);
    let word = if seed.sources.is_empty() { WORD } else { 0.0 };
    // A word is held against what else was done as soon as most of what came here speaks against it.
    let others = if word > 0.0 && contradict <= support { Vec::new() } else { of_others };
    let bound = lower_bound(judged.iter().copied(), others.into_iter(), word);
    let state = if is_forgotten {
        State::Forgotten
    } else if !seed.sources.is_empty() && !is_proven(seed, [&case, &action], wanted, all) {
        State::Unproven
    } else if bound > 0.0 {
        State::Active
    } else {
        State::Retired
    };
    let seed = Seed { effect: effect_of(seed, wanted, all), ..seed.clone() };
    SeedStanding { id, seed, run, support, contradict, confidence, causal, state }
}

/// What came of the runs that a seed cites, by the newest that went as it says and has words; the word of a person or of a teacher, where it cites
/// none. A text that an agent wrote into a seed is told to nobody.
fn effect_of(seed: &Seed, wanted: bool, all: &[WordedExchange<'_>]) -> String {
    if seed.sources.is_empty() {
        return seed.effect.clone();
    }
    let came = all.iter().rev().map(|told| told.exchange);
    let came = came.filter(|e| seed.sources.contains(&e.run) && e.went_well() == Some(wanted));
    let mut said = came.map(|e| within(&e.effect, limits::SEED_TEXT_BYTES).trim()).filter(|effect| !effect.is_empty());
    said.next().unwrap_or(seed.polarity.plain_effect()).to_owned()
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

/// Whether every word of a seed's case and action was said in an exchange.
fn is_said_in([case, action]: [&BTreeSet<String>; 2], told: &WordedExchange<'_>) -> bool {
    let said: BTreeSet<String> = [&told.case, &told.action, &told.effect].into_iter().flatten().cloned().collect();
    share(action, &said) >= 1.0 && share(case, &said) >= 1.0
}

/// Active seeds whose case a text speaks of, the best first; without a text all active ones, by cause and confidence.
pub fn applicable<'s>(
    standings: impl Iterator<Item = &'s SeedStanding>,
    text: Option<&str>,
    most: usize,
) -> Vec<Counsel> {
    let standings: Vec<&SeedStanding> = standings.collect();
    let rarity = Rarity::of(standings.iter().map(|standing| standing.seed.condition.as_str()));
    let asked = text.map(|text| (stems(text), Said::each_of(text)));
    let counsel = |standing: &&SeedStanding| {
        let seed = &standing.seed;
        let similarity = asked.as_ref().map_or(Some(0.0), |(asked, said)| {
            let case = Said::of(&seed.condition);
            rarity.applies(&case, said).then(|| similarity(&stems(&seed.condition), asked))
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
    let mut found: Vec<Counsel> = standings.iter().filter(|s| s.state == State::Active).filter_map(counsel).collect();
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.seed.cmp(&b.seed)));
    found.truncate(most);
    found
}

/// The rarity of words among the cases of seeds.
#[derive(Default)]
struct Rarity {
    cases: usize,
    of: BTreeMap<String, usize>,
}

impl Rarity {
    fn of<'c>(conditions: impl Iterator<Item = &'c str>) -> Self {
        let cases: BTreeSet<BTreeSet<String>> = conditions.map(|condition| Said::of(condition).words).collect();
        let mut of: BTreeMap<String, usize> = BTreeMap::new();
        cases.iter().flatten().for_each(|word| *of.entry(word.clone()).or_default() += 1);
        Self { cases: cases.len(), of }
    }

    /// `ln(1 + N / n)`, for a word in n of N cases (Sparck Jones 1972).
    fn weight(&self, word: &str) -> f64 {
        (1.0 + self.cases.max(1) as f64 / self.of.get(word).copied().unwrap_or(1) as f64).ln()
    }

    /// Whether most of a case is in what was said, and at least two words of it.
    fn covers(&self, case: &Said, said: &Said) -> bool {
        let weigh = |words: &mut dyn Iterator<Item = &String>| words.map(|word| self.weight(word)).sum::<f64>();
        let common: Vec<&String> = case.words.intersection(&said.words).collect();
        !common.is_empty()
            && common.len() >= WORDS.min(case.words.len())
            && weigh(&mut common.iter().copied()) >= APPLIES * weigh(&mut case.words.iter()) - 1e-9
    }

    /// Whether a case is spoken of in a text, the whole of it first and then its sentences: in a sentence, or else in all of it, that denies something
    /// where the case does.
    fn applies(&self, case: &Said, text: &[Said]) -> bool {
        let Some((whole, sentences)) = text.split_first() else { return false };
        let spoken: Vec<&Said> = sentences.iter().filter(|said| self.covers(case, said)).collect();
        let told = if spoken.is_empty() { vec![whole] } else { spoken };
        told.iter().any(|said| said.is_negated == case.is_negated && self.covers(case, said))
    }
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

/// Expectation of an option before anything is known of it here: the given mean, drawn towards 1 by seeds that say `do` and towards 0 by those that
/// say `avoid`, each as far as its confidence and the likeness of its case go. Of several the strongest says how far, and all together where to: so
/// their order says nothing, seeds against each other meet between, and two that rest on the same runs weigh no more than one.
pub fn expected_of(mean: f64, question: &str, option: &str, counsel: &[Counsel]) -> f64 {
    if counsel.is_empty() {
        return mean;
    }
    let (asked, said) = (stems(question), Said::each_of(question));
    let applies = |one: &&Counsel| {
        let case = Said::of(&one.condition);
        Rarity::default().applies(&case, &said)
    };
    let (mut strongest, mut all, mut good) = (0.0_f64, 0.0, 0.0);
    for one in about(option, counsel).filter(applies) {
        let weight = one.confidence * similarity(&stems(&one.condition), &asked);
        strongest = strongest.max(weight);
        all += weight;
        good += if one.polarity == Polarity::Do { weight } else { 0.0 };
    }
    if all > 0.0 { mean + strongest * (good / all - mean) } else { mean }
}

/// The seeds that are told and say the opposite of one, of the same action in a like case.
pub fn against<'s>(seed: &Seed, known: &'s [SeedStanding]) -> Vec<&'s SeedStanding> {
    let opposite = match seed.polarity {
        Polarity::Do => Polarity::Avoid,
        Polarity::Avoid => Polarity::Do,
    };
    let lesson = Lesson { polarity: opposite, ..Lesson::of(seed) };
    let is_told = |one: &&SeedStanding| one.state == State::Active;
    known.iter().filter(is_told).filter(|one| lesson.is_near_any(&[Lesson::of(&one.seed)])).collect()
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
