//! The rule as the seed prints it (3.3.3), reported beside the verdict and never used for it.
//!
//! It counts members without families, over cast votes, against .67; its likeness of reasonings is always 0 and its diversity always .5, as
//! printed, so that only a unanimous low confidence counts as a shared failure.

use serde::{Deserialize, Serialize};

use super::ids::rounded;
use super::rules::LOW_CONFIDENCE;
use super::vote::{Decision, Vote};

/// The ratio as printed.
const QUORUM_RATIO: f64 = 0.67;
/// The confidence as printed.
const CONFIDENCE: f64 = 0.7;

/// The result of the printed rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// Its decision; null: too few votes were cast.
    pub decision: Option<Decision>,
    /// Its confidence: the mean of all cast votes, those against the decision included.
    pub confidence: f64,
    /// Whether it escalates.
    pub escalates: bool,
}

impl Printed {
    /// Applies the printed rule to the admitted votes of n members.
    pub fn of(members: usize, votes: &[Vote]) -> Self {
        let cast = votes.len() as f64;
        if votes.is_empty() || cast < members as f64 * QUORUM_RATIO {
            return Self { decision: None, confidence: 0.0, escalates: false };
        }
        let is_unanimous = votes.iter().all(|vote| vote.decision == votes[0].decision);
        if is_unanimous && votes.iter().all(|vote| vote.confidence < LOW_CONFIDENCE) {
            return Self { decision: Some(Decision::Abstain), confidence: 0.0, escalates: true };
        }
        let reaches = |decision| {
            let count = votes.iter().filter(|vote| vote.decision == decision).count();
            count as f64 / cast >= QUORUM_RATIO
        };
        let decision = [Decision::Approve, Decision::Reject].into_iter().find(|decision| reaches(*decision));
        let decision = decision.unwrap_or(Decision::Abstain);
        let confidence = rounded(votes.iter().map(|vote| vote.confidence).sum::<f64>() / cast);
        let escalates = confidence < CONFIDENCE || decision == Decision::Abstain;
        Self { decision: Some(decision), confidence, escalates }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{members, votes};
    use super::*;

    #[test]
    fn printed_rule_fails_two_of_three() {
        let members = members("xyz");
        let printed = |decisions: &str| Printed::of(3, &votes(&members, decisions));
        assert_eq!(printed("AAR").decision, Some(Decision::Abstain));
        assert_eq!(printed("AA.").decision, None, "two votes are no quorum of three");
        assert_eq!(printed("AAA").decision, Some(Decision::Approve));
        assert!(!printed("AAA").escalates && printed("AAR").escalates);
    }

    #[test]
    fn printed_rule_withholds_a_unanimous_low_confidence() {
        let members = members("xyz");
        let mut low = votes(&members, "RRR");
        low.iter_mut().for_each(|vote| vote.confidence = 0.49);
        let expected = Printed { decision: Some(Decision::Abstain), confidence: 0.0, escalates: true };
        assert_eq!(Printed::of(3, &low), expected);
        low[0].confidence = 0.5;
        assert_eq!(Printed::of(3, &low).decision, Some(Decision::Reject));
    }
}
