//! What a pathway's history says about using it again: exploit, explore, or abandon.

use serde::Serialize;

use crate::delta::{Edge, LedgerEntry, UNSTATED};
use crate::model::ids::{AgentName, NeuronId, RunId, concept_id};
use crate::model::settings::Learning;

/// What to do with a pathway. Source: MagistraAI's technical note, 3.3, exploration and exploitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stance {
    /// Its mean error is significantly positive: take it again.
    Exploit,
    /// Nothing significant is known: try it.
    Explore,
    /// It disappointed several times in a row: leave it.
    Abandon,
}

impl Stance {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exploit => "exploit",
            Self::Explore => "explore",
            Self::Abandon => "abandon",
        }
    }
}

/// Errors from which on a history can be significant: two that happen to agree are none.
const LEAST: usize = 3;
/// Student's t for a one-sided test at 5 %, by degrees of freedom from 1; beyond the table the last value, which is a little strict.
const STUDENT: [f64; 30] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
    1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
];

/// The stance that outcomes and errors, newest first, speak for. A pathway is abandoned after `learning.abandon_after` outcomes in a
/// row (0: never) that are below ½ and below what was expected; else it is exploited if a one-sided t-test at 5 % says that its mean outcome is above ½, which nothing known promises:
/// of at least three, `(mean − ½)/(s/√n) > t(n − 1)`; else it is to be explored. Outcomes that all are the same and above ½ are
/// significant.
pub fn stance(newest_first: &[(f64, f64)], learning: &Learning) -> Stance {
    let n = newest_first.len();
    let count = n as f64;
    let gains = || newest_first.iter().map(|(outcome, _)| outcome - UNSTATED);
    let mean = if n == 0 { 0.0 } else { gains().sum::<f64>() / count };
    let significant = n >= LEAST && mean > 0.0 && {
        let variance = gains().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0);
        mean > STUDENT[(n - 2).min(STUDENT.len() - 1)] * (variance / count).sqrt()
    };
    let bad = newest_first.iter().take_while(|(outcome, error)| *error < 0.0 && *outcome < UNSTATED).count() as u32;
    match learning.abandon_after {
        most if most > 0 && bad >= most => Stance::Abandon,
        _ if significant => Stance::Exploit,
        _ => Stance::Explore,
    }
}

/// The outcomes and errors of a pathway, in the order of the entries: of those whose pathway has the same last connection, the one nearest to the
/// outcome. A pathway without connections has no history.
pub fn judgements_of<'e>(entries: impl IntoIterator<Item = &'e LedgerEntry>, pathway: &[Edge]) -> Vec<(f64, f64)> {
    let Some(last) = pathway.last() else { return Vec::new() };
    let same = entries.into_iter().filter(|entry| entry.pathway.last() == Some(last));
    same.map(|entry| (entry.outcome.value, entry.error)).collect()
}

/// What came of the options of one question so far.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The place of the option, the outcome and the error of each run that was judged, newest first.
    entries: Vec<(usize, f64, f64)>,
}

/// The outcomes of one run, which may be several.
struct Tried<'e> {
    run: &'e RunId,
    option: usize,
    outcomes: f64,
    errors: f64,
    count: f64,
}

impl History {
    /// The entries of a ledger, newest first, that tell of these options: by `agent`, of the same option in the same question, or in
    /// another one that came to it by the same last connection. An entry that names no option, as older brains wrote them, tells of the
    /// first option with the same last connection. Words are compared without case and punctuation. A run is one try: of several outcomes of it their mean
    /// counts, where the newest stands.
    pub fn of(ledger: &[LedgerEntry], agent: &AgentName, question: &str, options: &[(&str, &[Edge])]) -> Self {
        let asked = question_key(question);
        let ids: Vec<NeuronId> = options.iter().map(|(option, _)| option_id(option)).collect();
        let place = |entry: &LedgerEntry| {
            let by_way = |at: usize| entry.pathway.last().is_some_and(|last| options[at].1.last() == Some(last));
            match &entry.chosen {
                Some(chosen) if entry.agent == *agent => {
                    let option = option_id(&chosen.option);
                    let at = ids.iter().position(|id| *id == option)?;
                    (by_way(at) || question_key(&chosen.question) == asked).then_some(at)
                }
                Some(_) => None,
                None => (0..options.len()).find(|at| by_way(*at)),
            }
        };
        let mut tried: Vec<Tried<'_>> = Vec::new();
        for entry in ledger {
            let Some(option) = place(entry) else { continue };
            let at = tried.iter().position(|one| (one.run, one.option) == (&entry.judged, option));
            let at = at.unwrap_or_else(|| {
                tried.push(Tried { run: &entry.judged, option, outcomes: 0.0, errors: 0.0, count: 0.0 });
                tried.len() - 1
            });
            let one = &mut tried[at];
            (one.outcomes, one.errors, one.count) =
                (one.outcomes + entry.outcome.value, one.errors + entry.error, one.count + 1.0);
        }
        let mean = |one: Tried<'_>| (one.option, one.outcomes / one.count, one.errors / one.count);
        Self { entries: tried.into_iter().map(mean).collect() }
    }

    /// The outcomes with the places of their options, oldest first.
    pub fn outcomes(&self) -> Vec<(usize, f64)> {
        self.entries.iter().rev().map(|(at, outcome, _)| (*at, *outcome)).collect()
    }

    /// The newest error, whichever option it was.
    pub fn newest_error(&self) -> Option<f64> {
        self.entries.first().map(|(.., error)| *error)
    }

    /// How often an option was judged.
    pub fn count(&self, option: usize) -> usize {
        self.entries.iter().filter(|(at, ..)| *at == option).count()
    }

    /// How many of the newest errors of an option in a row are negative.
    pub fn disappointed(&self, option: usize) -> u32 {
        let errors = self.entries.iter().filter(|(at, ..)| *at == option);
        errors.take_while(|(.., error)| *error < 0.0).count() as u32
    }

    /// Whether the newest outcome of an option has kept at least half of its weight.
    pub fn is_fresh(&self, option: usize, kept: f64) -> bool {
        let age = self.entries.iter().position(|(at, ..)| *at == option);
        age.is_some_and(|age| (0..age).fold(1.0, |weight, _| weight * kept) >= 0.5)
    }
}

/// The id by which an option is found again: of its words without case and the punctuation round them.
pub fn option_id(option: &str) -> NeuronId {
    concept_id(&question_key(option))
}

/// A question without case and the punctuation round its words: two with the same key are one question.
pub fn question_key(question: &str) -> String {
    let outside = |c: char| c.is_ascii_punctuation() || "¿¡？！。、…".contains(c);
    let words = question.split_whitespace().map(|word| word.trim_matches(outside)).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    if words.is_empty() { question.trim().to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of predictions of ½.
    fn judged(errors: &[f64]) -> Vec<(f64, f64)> {
        errors.iter().map(|error| (error + 0.5, *error)).collect()
    }

    fn of(newest_first: &[f64]) -> Stance {
        stance(&judged(newest_first), &Learning::default())
    }

    #[test]
    fn nothing_known_is_explored() {
        assert_eq!(of(&[]), Stance::Explore);
        assert_eq!(of(&[0.4, 0.4]), Stance::Explore, "two are too few");
        assert_eq!(of(&[0.4, -0.4, 0.4]), Stance::Explore, "they scatter");
        assert_eq!(of(&[0.0, 0.0, 0.0, 0.0]), Stance::Explore, "what was expected teaches nothing");
    }

    #[test]
    fn a_significantly_positive_mean_is_exploited() {
        assert_eq!(of(&[0.2, 0.2, 0.2]), Stance::Exploit);
        // Mean .3, s .1, n 3: t = 5.196 > 2.920. With .1, .3, .5 it is 2.598.
        assert_eq!(of(&[0.2, 0.3, 0.4]), Stance::Exploit);
        assert_eq!(of(&[0.1, 0.3, 0.5]), Stance::Explore);
        let long: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 0.5 } else { -0.3 }).collect();
        assert_eq!(of(&long), Stance::Exploit, "t = 2.5 with 99 degrees of freedom");
    }

    #[test]
    fn accurate_predictions_of_a_good_pathway_do_not_end_its_exploitation() {
        assert_eq!(stance(&[(0.9, 0.0), (0.88, -0.02), (0.91, 0.01)], &Learning::default()), Stance::Exploit);
        assert_eq!(stance(&[(0.9, -0.01); 9], &Learning::default()), Stance::Exploit, "hardly worse than expected");
        assert_eq!(stance(&[(0.3, 0.0), (0.3, 0.0), (0.3, 0.0)], &Learning::default()), Stance::Explore);
    }

    #[test]
    fn negative_errors_in_a_row_end_it() {
        assert_eq!(of(&[-0.1, -0.1]), Stance::Explore);
        let gone = of(&[-0.1, -0.2, -0.3, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]);
        assert_eq!(gone, Stance::Abandon);
        assert_eq!(of(&[0.1, -0.2, -0.3, -0.9]), Stance::Explore, "it came back");
        let patient = Learning { abandon_after: 0, ..Learning::default() };
        assert_eq!(stance(&judged(&[-0.1; 50]), &patient), Stance::Explore);
    }
}
