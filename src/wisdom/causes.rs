//! The causal index: how often an effect came where a cause was there, and how often where it was not.
//!
//! `ΔP = P(e|c) − P(e|¬c)` (Allan 1980; Cheng 1997 has its limits). Causes are the words of case and action but function words, said before the act, and
//! the action as a whole; effects are `well`, `badly`, and the words of the outcome. A pair counts only where the cause is earlier than the effect; where words are
//! causes here and effects there, the stronger direction stays, so that the graph has no circle.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::karma::WordedExchange;
use crate::limits;
use crate::text;

/// The effect of an exchange that went well.
pub const WELL: &str = "well";
/// The effect of one that went badly.
pub const BADLY: &str = "badly";

/// How strongly a cause goes with an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Causal {
    /// A word, or a whole action in quotation marks.
    pub cause: String,
    /// `well`, `badly`, or a word of what came.
    pub effect: String,
    /// Exchanges with the cause, and those of them with the effect.
    pub with: [usize; 2],
    /// Exchanges without the cause, and those of them with the effect.
    pub without: [usize; 2],
    /// P(effect | cause) − P(effect | no cause), −1 to 1.
    pub strength: f64,
}

/// Counts of causes and effects.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    exchanges: usize,
    causes: BTreeMap<String, usize>,
    effects: BTreeMap<String, usize>,
    pairs: BTreeMap<(String, String), usize>,
}

/// An action as a cause of its own.
pub fn whole(action: &BTreeSet<String>) -> String {
    let words: Vec<&str> = action.iter().map(String::as_str).collect();
    format!("\"{}\"", words.join(" "))
}

impl Causes {
    /// The counts of exchanges. One whose outcome is no later than its act tells nothing of causes.
    pub fn of<'t, 'e: 't>(exchanges: impl Iterator<Item = &'t WordedExchange<'e>>) -> Self {
        let mut index = Self::default();
        for told in exchanges.filter(|told| told.exchange.run < told.exchange.judged_by) {
            let Some(well) = told.exchange.went_well() else { continue };
            let mut causes: BTreeSet<String> = told.case.union(&told.content).cloned().collect();
            causes.insert(whole(&told.action));
            let mut effects = told.effect.clone();
            effects.retain(|effect| !causes.contains(effect));
            effects.insert(if well { WELL } else { BADLY }.to_owned());
            index.exchanges += 1;
            let is_full =
                |map: &BTreeMap<String, usize>, key: &str| map.len() >= limits::CAUSES && !map.contains_key(key);
            causes.retain(|cause| !is_full(&index.causes, cause));
            effects.retain(|effect| !is_full(&index.effects, effect));
            for cause in &causes {
                *index.causes.entry(cause.clone()).or_default() += 1;
                for effect in &effects {
                    *index.pairs.entry((cause.clone(), effect.clone())).or_default() += 1;
                }
            }
            for effect in effects {
                *index.effects.entry(effect).or_default() += 1;
            }
        }
        index
    }

    /// How strongly a cause goes with an effect. `None`: one of both was never seen, or the cause was always there, so that nothing can be
    /// compared.
    pub fn strength(&self, cause: &str, effect: &str) -> Option<Causal> {
        let (with, came) = (*self.causes.get(cause)?, *self.effects.get(effect)?);
        let without = self.exchanges - with;
        if without == 0 {
            return None;
        }
        let both = self.pairs.get(&(cause.to_owned(), effect.to_owned())).copied().unwrap_or(0);
        let alone = came - both;
        Some(Causal {
            cause: cause.to_owned(),
            effect: effect.to_owned(),
            with: [with, both],
            without: [without, alone],
            strength: both as f64 / with as f64 - alone as f64 / without as f64,
        })
    }

    /// What causes an effect, the strongest first; of equally strong ones the more frequent.
    pub fn of_effect(&self, effect: &str) -> Vec<Causal> {
        let mut found: Vec<Causal> = self.causes.keys().filter_map(|cause| self.strength(cause, effect)).collect();
        found.sort_by(stronger);
        found
    }

    /// Causes of one of several effects, the strongest first.
    pub fn of_effects(&self, effects: &BTreeSet<String>) -> Vec<Causal> {
        let mut found: Vec<Causal> = effects.iter().flat_map(|effect| self.of_effect(effect)).collect();
        found.sort_by(stronger);
        found
    }

    /// The strongest edges from causes to effects that close no circle, at most so many.
    pub fn graph(&self, most: usize) -> Vec<Causal> {
        let mut all: Vec<Causal> =
            self.pairs.keys().filter_map(|(c, e)| self.strength(c, e)).filter(|c| c.strength > 0.0).collect();
        all.sort_by(stronger);
        let mut next: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut kept = Vec::new();
        for edge in all {
            if kept.len() == most {
                break;
            }
            if edge.cause == edge.effect || reaches(&next, &edge.effect, &edge.cause) {
                continue;
            }
            next.entry(edge.cause.clone()).or_default().insert(edge.effect.clone());
            kept.push(edge);
        }
        kept
    }
}

/// Puts the words that were said in the place of the stems by which causes were compared: of each the newest.
pub fn spelt(causes: &mut [Causal], exchanges: &[WordedExchange<'_>]) {
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for told in exchanges {
        let e = told.exchange;
        said.insert(whole(&told.action), format!("\"{}\"", e.action.split_whitespace().collect::<Vec<_>>().join(" ")));
        for word in [&e.condition, &e.action, &e.effect].into_iter().flat_map(|text| text::words(text)) {
            said.insert(word.stem, word.key);
        }
    }
    for causal in causes {
        for text in [&mut causal.cause, &mut causal.effect] {
            if let Some(word) = said.get(text).filter(|_| ![WELL, BADLY].contains(&text.as_str())) {
                text.clone_from(word);
            }
        }
    }
}

/// Exchanges with a cause below which its strength says little.
const FEW: usize = 2;

fn stronger(a: &Causal, b: &Causal) -> std::cmp::Ordering {
    // A word that was there once, as a number of a ticket, stands behind all others.
    let is_rare = |c: &Causal| c.with[0] < FEW;
    let by_strength = is_rare(a)
        .cmp(&is_rare(b))
        .then_with(|| b.strength.total_cmp(&a.strength))
        .then_with(|| b.with[0].cmp(&a.with[0]));
    // A word says more than the one action that it stands in.
    let is_whole = |c: &Causal| c.cause.starts_with('"');
    let by_kind = by_strength.then_with(|| is_whole(a).cmp(&is_whole(b)));
    by_kind.then_with(|| (&a.cause, &a.effect).cmp(&(&b.cause, &b.effect)))
}

fn reaches(next: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(here) = open.pop() {
        if here == to {
            return true;
        }
        if seen.insert(here) {
            open.extend(next.get(here).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wisdom::karma::worded;
    use crate::wisdom::standing::fixture::exchange;

    #[test]
    fn strength_is_the_difference_of_both_shares() {
        let told = [
            exchange(1, "wet", "umbrella", 1.0),
            exchange(2, "wet", "umbrella", 1.0),
            exchange(3, "wet", "hat", 0.0),
            exchange(4, "dry", "hat", 1.0),
        ];
        let index = Causes::of(worded(&told).iter());
        let found = index.strength("umbrella", WELL).unwrap();
        assert_eq!((found.with, found.without), ([2, 2], [2, 1]));
        assert!((found.strength - 0.5).abs() < 1e-12);
        assert_eq!(index.of_effect(BADLY)[0].cause, "hat");
        assert!(index.strength("unheard", WELL).is_none());
    }

    #[test]
    fn function_words_cause_nothing_and_causes_are_told_in_words_that_were_said() {
        let told = [
            exchange(1, "the builds retried", "retry with batches", 1.0),
            exchange(2, "a build retries", "retry with batches", 1.0),
            exchange(3, "a build stands", "wait for the worker", 0.0),
        ];
        let told = worded(&told);
        let mut found = Causes::of(told.iter()).of_effect(WELL);
        spelt(&mut found, &told);
        let causes: Vec<&str> = found.iter().map(|one| one.cause.as_str()).collect();
        assert!(causes.contains(&"batches") && causes.contains(&"\"retry with batches\""), "{causes:?}");
        assert!(!causes.iter().any(|cause| ["the", "with", "for", "a"].contains(cause)), "{causes:?}");
    }

    #[test]
    fn word_that_was_there_once_stands_behind_those_that_came_again() {
        let told = [
            exchange(1, "ticket1 wet", "umbrella", 1.0),
            exchange(2, "ticket2 wet", "umbrella", 1.0),
            exchange(3, "ticket3 wet", "umbrella", 0.0),
            exchange(4, "ticket4 dry", "hat", 0.0),
        ];
        let found = Causes::of(worded(&told).iter()).of_effect(WELL);
        let place = |cause: &str| found.iter().position(|one| one.cause == cause).unwrap();
        assert!(place("umbrella") < place("ticket1"), "{found:?}");
    }

    #[test]
    fn what_is_always_there_and_what_comes_too_late_cause_nothing() {
        let mut told = vec![exchange(1, "wet", "umbrella", 1.0), exchange(2, "wet", "hat", 0.0)];
        assert!(Causes::of(worded(&told).iter()).strength("wet", WELL).is_none());
        let (run, judged_by) = (told[1].run.clone(), told[1].judged_by.clone());
        (told[1].run, told[1].judged_by) = (judged_by, run);
        let index = Causes::of(worded(&told).iter());
        assert!(index.strength("hat", BADLY).is_none(), "the outcome is older than the act");
    }

    #[test]
    fn the_graph_has_no_circle() {
        let mut rain = exchange(1, "rain", "walk", 1.0);
        rain.effect = "mud".into();
        let mut mud = exchange(2, "mud", "ride", 0.0);
        mud.effect = "rain".into();
        let told = [rain, mud, exchange(3, "sun", "rest", 1.0)];
        let graph = Causes::of(worded(&told).iter()).graph(100);
        let has = |cause: &str, effect: &str| graph.iter().any(|edge| edge.cause == cause && edge.effect == effect);
        assert!(has("rain", "mud") ^ has("mud", "rain"), "{graph:?}");
        assert!(has("rest", WELL));
    }
}
