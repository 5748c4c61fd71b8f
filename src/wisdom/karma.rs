//! Karma: how an exchange turned out, in one number from −1 to 1.
//!
//! `k = .5 · outcome + .3 · signed consensus − .2 · sycophancy`. Each part that is not known counts as 0. Nothing of it is stored: it follows from
//! the ledger, councils and the measures in trailers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::words::{action_stems, stems};
use crate::integrity::metrics::Counts;
use crate::model::ids::RunId;

/// Weights of the parts.
pub const OUTCOME: f64 = 0.5;
/// Weight of the consensus.
pub const CONSENSUS: f64 = 0.3;
/// Weight of sycophancy.
pub const SYCOPHANCY: f64 = 0.2;

/// How an exchange turned out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Karma {
    /// What came of it, −1 to 1; null: nobody said.
    pub outcome: Option<f64>,
    /// What a council thought of it: its confidence, negative where it rejected; null: none was asked.
    pub consensus: Option<f64>,
    /// How much of what was said is ritual, 0 to 1; null: no model spoke.
    pub sycophancy: Option<f64>,
}

impl Karma {
    /// The score, −1 to 1.
    pub fn score(&self) -> f64 {
        let part = |x: Option<f64>| x.unwrap_or(0.0);
        let score =
            OUTCOME * part(self.outcome) + CONSENSUS * part(self.consensus) - SYCOPHANCY * part(self.sycophancy);
        score.clamp(-1.0, 1.0)
    }
}

/// A value from 0 to 1 as one from −1 to 1.
pub fn signed(value: f64) -> f64 {
    (2.0 * value - 1.0).clamp(-1.0, 1.0)
}

/// How much of what a model said is ritual: apologies and mentions of being a model, for each utterance, at most 1.
pub fn sycophancy(counts: &Counts) -> f64 {
    let said = counts.utterances.max(1) as f64;
    ((counts.apologies + counts.self_references) as f64 / said).min(1.0)
}

/// One exchange: a case, what was done, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The run that acted.
    pub run: RunId,
    /// The run that said what came of it; later than `run`.
    pub judged_by: RunId,
    /// What it belongs to: a conversation, or the day of the run.
    pub session: String,
    /// The case, in words.
    pub condition: String,
    /// The action, in words.
    pub action: String,
    /// What came, in words; empty: only a number was given.
    pub effect: String,
    /// How it turned out.
    pub karma: Karma,
}

impl Exchange {
    /// Whether it went well; `None`: neither well nor badly.
    pub fn went_well(&self) -> Option<bool> {
        let score = self.karma.score();
        (score.abs() > 1e-9).then_some(score > 0.0)
    }
}

/// An exchange with the words that it is compared by.
#[derive(Clone, Debug)]
pub struct WordedExchange<'e> {
    /// The exchange.
    pub exchange: &'e Exchange,
    /// The words of the case.
    pub case: BTreeSet<String>,
    /// The words of the action.
    pub action: BTreeSet<String>,
    /// Those of them that say something by themselves.
    pub content: BTreeSet<String>,
    /// The words of what came.
    pub effect: BTreeSet<String>,
}

/// Exchanges with their words, each read once.
pub fn worded<'e>(exchanges: &'e [Exchange]) -> Vec<WordedExchange<'e>> {
    let read = |exchange: &'e Exchange| {
        let Exchange { condition, action, effect, .. } = exchange;
        let (case, content, effect) = (stems(condition), stems(action), stems(effect));
        WordedExchange { exchange, case, action: action_stems(action), content, effect }
    };
    exchanges.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_sum_of_its_parts_and_stays_in_range() {
        let karma = |outcome, consensus, sycophancy| Karma { outcome, consensus, sycophancy }.score();
        assert!((karma(Some(1.0), Some(0.5), Some(0.5)) - 0.55).abs() < 1e-12);
        assert!((karma(Some(-1.0), Some(-1.0), Some(1.0)) + 1.0).abs() < 1e-12);
        assert!((karma(Some(0.6), None, None) - 0.3).abs() < 1e-12);
        assert_eq!(karma(None, None, None), 0.0);
        for a in [-1.0, 0.0, 1.0] {
            for b in [-1.0, 1.0] {
                for c in [0.0, 1.0] {
                    assert!((-1.0..=1.0).contains(&karma(Some(a), Some(b), Some(c))));
                }
            }
        }
    }

    #[test]
    fn ritual_lowers_what_praise_gives() {
        let counts = |text: &str| Counts::of(text, crate::integrity::lang::Lang::En, 40);
        let plain = sycophancy(&counts("The gate opens by the left lever."));
        let ritual = sycophancy(&counts("I'm sorry, I apologize. As an AI, I cannot open it. I am sorry."));
        assert_eq!(plain, 0.0);
        assert!(ritual > 0.5 && ritual <= 1.0, "{ritual}");
    }
}
