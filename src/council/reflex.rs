//! Voters without a model: three rules that read memories and past outcomes. The same input gives the same vote.
//!
//! A weakness: they count words and understand nothing. A memory is about the question if it has half of its words, and it speaks against the
//! question if one of both has a word of negation or failure and the other has none. Irony, conditions and comparisons are lost on them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::against::is_against;
use super::ids::rounded;
use super::rules::{ABOUT, GOOD_OUTCOME, POOR_OUTCOME, SURE_OF_NOTHING};
use super::vote::{Decision, Reply};
use crate::text;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Weighs memories for against memories against, each as one.
    Memories,
    /// Approves by trusted memories alone, at least two and none against; rejects where any memory speaks against.
    Caution,
    /// Goes by the mean outcome of past decisions on the question.
    Outcomes,
}

/// A memory as a voter sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its number in the evidence.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// Whether its origin is trusted.
    pub is_trusted: bool,
}

/// A past decision, and what it was worth.
#[derive(Clone, Debug, PartialEq)]
pub struct PastOutcome {
    /// The question and the choice.
    pub about: String,
    /// The outcome, 0..=1.
    pub value: f64,
}

fn stems(text: &str) -> BTreeSet<String> {
    text::words(text).into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
}

/// Whether a text has half of the words of a question.
fn is_about(question: &BTreeSet<String>, text: &str) -> bool {
    let shared = stems(text).intersection(question).count();
    shared > 0 && shared as f64 >= ABOUT * question.len() as f64
}

/// Casts the vote of a rule.
pub fn reply(rule: Rule, question: &str, memories: &[Shown], outcomes: &[PastOutcome]) -> Reply {
    let (words, turned) = (stems(question), is_against(question));
    let about: Vec<&Shown> = memories.iter().filter(|memory| is_about(&words, &memory.text)).collect();
    let (against, support): (Vec<&Shown>, Vec<&Shown>) =
        about.into_iter().partition(|memory| is_against(&memory.text) != turned);
    match rule {
        Rule::Memories => {
            let (s, c) = (support.len(), against.len());
            let decision = match s.cmp(&c) {
                std::cmp::Ordering::Greater => Decision::Approve,
                std::cmp::Ordering::Less => Decision::Reject,
                std::cmp::Ordering::Equal => Decision::Abstain,
            };
            let told =
                format!("Memories for it among those shown: {}, against it: {}", items(&support), items(&against));
            of(decision, (s.max(c), s.min(c)), told, support.iter().chain(&against))
        }
        Rule::Caution => {
            let trusted: Vec<&Shown> = support.iter().copied().filter(|memory| memory.is_trusted).collect();
            let strange = support.len() - trusted.len();
            if !against.is_empty() {
                let told = format!("Memories against it among those shown: {}. Caution needs no more", items(&against));
                return of(Decision::Reject, (against.len(), trusted.len()), told, against.iter());
            }
            let decision = if trusted.len() >= 2 { Decision::Approve } else { Decision::Abstain };
            let told = format!(
                "Memories against it: none. For it: {} of a trusted origin, and {strange} of others, which do not count",
                items(&trusted)
            );
            of(decision, (trusted.len(), 0), told, trusted.iter())
        }
        Rule::Outcomes => {
            let values: Vec<f64> =
                outcomes.iter().filter(|past| is_about(&words, &past.about)).map(|past| past.value).collect();
            if values.is_empty() {
                return of(
                    Decision::Abstain,
                    (0, 0),
                    "The ledger has no outcome of such a decision".to_owned(),
                    [].iter(),
                );
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let good = values.iter().filter(|value| **value >= 0.5).count();
            let poor = values.len() - good;
            let (decision, counts) = match mean {
                mean if mean >= GOOD_OUTCOME => (Decision::Approve, (good, poor)),
                mean if mean <= POOR_OUTCOME => (Decision::Reject, (poor, good)),
                _ => (Decision::Abstain, (0, 0)),
            };
            let told = format!("Past outcomes of such decisions: {}, their mean: {mean:.2}", values.len());
            of(decision, counts, told, [].iter())
        }
    }
}

/// The number of memories, and which of those shown they are: `2 (0, 3)`.
fn items(memories: &[&Shown]) -> String {
    let numbers: Vec<String> = memories.iter().map(|memory| memory.number.to_string()).collect();
    if numbers.is_empty() { "none".to_owned() } else { format!("{} ({})", numbers.len(), numbers.join(", ")) }
}

/// A reply. Its confidence is `(s + 1) / (s + c + 2)`, s being the cases for the decision and c those against it (Laplace's rule of succession).
fn of<'s>(
    decision: Decision,
    (s, c): (usize, usize),
    told: String,
    evidence: impl Iterator<Item = &'s &'s Shown>,
) -> Reply {
    let confidence = match decision {
        Decision::Abstain => SURE_OF_NOTHING,
        _ => rounded((s as f64 + 1.0) / (s as f64 + c as f64 + 2.0)),
    };
    let evidence = evidence.map(|memory| memory.number.to_string()).collect();
    Reply { decision, confidence, reasoning: format!("{told}."), evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(texts: &[(&str, bool)]) -> Vec<Shown> {
        let memory = |(number, (text, is_trusted)): (usize, &(&str, bool))| Shown {
            number,
            text: (*text).to_owned(),
            is_trusted: *is_trusted,
        };
        texts.iter().enumerate().map(memory).collect()
    }

    #[test]
    fn reflex_weighs_support_against_contradiction() {
        let memories = shown(&[
            ("The index was rebuilt at night and all went well.", true),
            ("Rebuilding the index at night took an hour.", false),
            ("The index rebuild at night failed once.", true),
            ("Anna likes tea.", true),
        ]);
        let vote = |rule| reply(rule, "Rebuild the index at night?", &memories, &[]);
        let weighed = vote(Rule::Memories);
        assert_eq!((weighed.decision, weighed.confidence), (Decision::Approve, 0.6));
        assert_eq!(weighed.evidence, ["0", "1", "2"]);
        assert_eq!(weighed.reasoning, "Memories for it among those shown: 2 (0, 1), against it: 1 (2).");
        assert_eq!(vote(Rule::Caution).decision, Decision::Reject);
        assert_eq!(vote(Rule::Outcomes).decision, Decision::Abstain);
        let denied = reply(Rule::Memories, "Never rebuild the index at night?", &memories, &[]);
        assert_eq!(denied.decision, Decision::Reject, "{denied:?}");
    }

    #[test]
    fn reflex_of_caution_counts_trusted_support_alone() {
        let texts = ["Deploy on Friday worked.", "Deploy on Friday was fine."];
        let vote = |trusted| {
            reply(Rule::Caution, "Deploy on Friday?", &shown(&[(texts[0], true), (texts[1], trusted)]), &[]).decision
        };
        assert_eq!((vote(true), vote(false)), (Decision::Approve, Decision::Abstain));
    }

    #[test]
    fn reflex_of_outcomes_goes_by_their_mean() {
        let past = |value| PastOutcome { about: "deploy on Friday: yes".to_owned(), value };
        let vote = |values: &[f64]| {
            let outcomes: Vec<_> = values.iter().copied().map(past).collect();
            reply(Rule::Outcomes, "Deploy on Friday?", &[], &outcomes).decision
        };
        assert_eq!(vote(&[0.9, 0.8]), Decision::Approve);
        assert_eq!(vote(&[0.1]), Decision::Reject);
        assert_eq!(vote(&[0.5]), Decision::Abstain);
    }

    #[test]
    fn reflex_reads_japanese_and_knows_nothing_of_an_empty_brain() {
        let memories = shown(&[("索引の再構築は失敗した。", true)]);
        assert_eq!(reply(Rule::Memories, "索引を再構築する?", &memories, &[]).decision, Decision::Reject);
        for rule in [Rule::Memories, Rule::Caution, Rule::Outcomes] {
            let vote = reply(rule, "Anything?", &[], &[]);
            assert_eq!((vote.decision, vote.confidence), (Decision::Abstain, SURE_OF_NOTHING));
            assert!(reply(rule, "", &[], &[]).reasoning.len() > 3);
        }
    }
}
