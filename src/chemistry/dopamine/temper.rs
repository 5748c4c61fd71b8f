//! How an agent's outcomes of late dispose it: mood and confidence, from the ledger itself.
//!
//! They are the figures that a chapter of the story measures, by the same formulas (docs/narrative.md), and come from the entries, never from a
//! chapter: no teller of stories can move a decision. They reach how decision explores and how soon it leaves an option, and no judgement.

use crate::delta::LedgerEntry;
use crate::model::ids::AgentName;
use crate::model::settings::Learning;

/// Share of an error that mood takes on.
const SMOOTHING: f64 = 0.2;
/// What an outcome keeps of its weight for confidence with each later one: a memory of fifty.
const KEPT: f64 = 0.98;

/// The disposition of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temper {
    /// The moving average of its errors, -1..=1.
    pub mood: f64,
    /// The outcome that it may expect of its next run, 0..=1.
    pub confidence: f64,
}

impl Temper {
    /// The disposition after these entries, newest first. Of no entries: no mood, and even odds.
    pub fn of(ledger: &[LedgerEntry], agent: &AgentName) -> Self {
        let (mut mood, mut sum, mut count) = (0.0, 0.0, 0.0);
        for entry in ledger.iter().rev().filter(|entry| entry.agent == *agent) {
            mood += SMOOTHING * (entry.error - mood);
            (sum, count) = (sum * KEPT + entry.outcome.value, count * KEPT + 1.0);
        }
        Self { mood, confidence: (1.0 + sum) / (2.0 + count) }
    }

    /// Negative errors in a row after which it leaves an option: `abandon_after + round(patience · confidence)`; 0: never.
    pub fn patience(&self, learning: &Learning) -> u32 {
        match learning.abandon_after {
            0 => 0,
            least => least + (learning.patience * self.confidence).round() as u32,
        }
    }

    /// The width of its draws: `exploration · max(0, 1 − mood_width · mood)`. Things that go worse than expected widen it.
    pub fn exploration(&self, learning: &Learning) -> f64 {
        learning.exploration * (1.0 - learning.mood_width * self.mood).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::{Method, Valued};
    use crate::model::Stamp;
    use crate::model::ids::RunId;

    fn entry(outcome: f64, error: f64) -> LedgerEntry {
        let run = RunId::parse("20260126t143200123z-abcd2345-decision").unwrap();
        LedgerEntry {
            agent: run.agent(),
            judged: run.clone(),
            run,
            at: Stamp::from_unix(0),
            prediction: Valued { text: None, value: outcome - error },
            outcome: Valued { text: None, value: outcome },
            error,
            method: Method::Number,
            chosen: None,
            pathway: vec![],
        }
    }

    #[test]
    fn mood_and_confidence_widen_delay_and_are_the_agents_own() {
        let decision = AgentName::parse("decision").unwrap();
        let on = Learning { patience: 4.0, mood_width: 2.0, ..Learning::default() };
        let none = Temper::of(&[], &decision);
        assert_eq!((none.mood, none.confidence, none.patience(&on)), (0.0, 0.5, 5));
        let bad: Vec<LedgerEntry> = (0..30).map(|_| entry(0.1, -0.4)).collect();
        let down = Temper::of(&bad, &decision);
        assert!((down.mood + 0.4).abs() < 0.01 && down.confidence < 0.2, "{down:?}");
        assert!(down.exploration(&on) > 1.7 * on.exploration && down.patience(&on) == 4);
        let good: Vec<LedgerEntry> = (0..30).map(|_| entry(0.9, 0.4)).collect();
        let up = Temper::of(&good, &decision);
        assert!(up.exploration(&on) < 0.3 * on.exploration && up.patience(&on) == 6);
        assert_eq!(Temper::of(&good, &AgentName::parse("memory").unwrap()), none);
        // Switched off, nothing of it reaches a decision.
        let off = Learning { patience: 0.0, mood_width: 0.0, ..Learning::default() };
        assert_eq!((up.exploration(&off), up.patience(&off)), (off.exploration, off.abandon_after));
        assert_eq!(up.patience(&Learning { abandon_after: 0, ..on }), 0);
    }
}
