//! Independence of members: the correlation of their errors on past questions whose outcome is known.
//!
//! A new member has no past and counts as independent: this measure finds shared errors, and proves no independence. A member whose model
//! is exchanged needs a new id, or its old errors speak for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{MemberId, rounded};
use super::rules::{SHRINKAGE, USUAL};
use super::vote::{Decision, Members};

/// A past question: its votes and its known outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastQuestion {
    /// The decision that turned out right; `Abstain`: not known, and the question says nothing.
    pub outcome: Decision,
    /// The decision of each member that voted.
    pub votes: BTreeMap<MemberId, Decision>,
}

impl PastQuestion {
    /// Whether a member erred. `None`: it did not vote, abstained, or the outcome is not known.
    fn has_erred(&self, member: &MemberId) -> Option<bool> {
        let decision = *self.votes.get(member)?;
        let is_known = decision != Decision::Abstain && self.outcome != Decision::Abstain;
        is_known.then_some(decision != self.outcome)
    }
}

/// Correlations of errors between pairs of members, −1..=1. A pair without one counts as 0, a member with itself as 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Correlations(BTreeMap<MemberId, BTreeMap<MemberId, f64>>);

impl Correlations {
    /// Measures the correlations of members on past questions.
    pub fn measure(members: &Members, history: &[PastQuestion]) -> Self {
        let mut correlations = Self::default();
        let ids: Vec<&MemberId> = members.iter().map(|member| &member.id).collect();
        for (place, one) in ids.iter().enumerate() {
            for other in &ids[place + 1..] {
                let correlation = shrunk_correlation(&joint_errors(one, other, history));
                // A pair without a correlation counts as 0.
                if correlation != 0.0 {
                    correlations.set(one, other, correlation);
                }
            }
        }
        correlations
    }

    /// Enters a correlation in both directions. One that is no number counts as 0, others are brought into −1..=1.
    pub fn set(&mut self, one: &MemberId, other: &MemberId, correlation: f64) {
        let correlation = if correlation.is_nan() { 0.0 } else { correlation.clamp(-1.0, 1.0) };
        for (row, column) in [(one, other), (other, one)] {
            self.0.entry(row.clone()).or_default().insert(column.clone(), correlation);
        }
    }

    /// The correlation of two members.
    pub fn between(&self, one: &MemberId, other: &MemberId) -> f64 {
        if one == other {
            return 1.0;
        }
        self.0.get(one).and_then(|row| row.get(other)).copied().unwrap_or(0.0)
    }
}

/// Questions that both members of a pair voted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JointErrors {
    both: u32,
    first: u32,
    second: u32,
    neither: u32,
}

fn joint_errors(one: &MemberId, other: &MemberId, history: &[PastQuestion]) -> JointErrors {
    let mut joint = JointErrors::default();
    for question in history {
        match question.has_erred(one).zip(question.has_erred(other)) {
            Some((true, true)) => joint.both += 1,
            Some((true, false)) => joint.first += 1,
            Some((false, true)) => joint.second += 1,
            Some((false, false)) => joint.neither += 1,
            None => {}
        }
    }
    joint
}

/// The correlation of errors times m / (m + 10), m being the shared questions.
///
/// With x and y 1 for an error and 0 for none, over the shared questions: `Σ (x − μ)(y − ν) / √(Σ (x − μ)² · Σ (y − ν)²)`, where μ and ν are the
/// members' own shares of errors, but no more than [`USUAL`]. Up to that share this is the phi coefficient, Pearson's correlation of two yes-or-no
/// values. Above it errors are no noise of a sound mind, in the sense of Condorcet's jury (1785), and count as shared where both make them: two
/// members that err on every question have 1, where phi is undefined. Members without any error have 0: right answers in common say nothing
/// about errors.
///
/// The factor pulls a correlation of few questions toward 0, as a credibility weight does (Bühlmann 1967): 10 questions count half, 90 count
/// nine tenths.
fn shrunk_correlation(joint: &JointErrors) -> f64 {
    let [both, first, second, neither] = [joint.both, joint.first, joint.second, joint.neither].map(f64::from);
    let shared = both + first + second + neither;
    let usual = |errors: f64| (errors / shared.max(1.0)).min(USUAL);
    let (one, other) = (usual(both + first), usual(both + second));
    let (err, not) = (|mean: f64| 1.0 - mean, |mean: f64| -mean);
    let common = both * err(one) * err(other)
        + first * err(one) * not(other)
        + second * not(one) * err(other)
        + neither * not(one) * not(other);
    let spread = |errors: f64, mean: f64| errors * err(mean).powi(2) + (shared - errors) * mean.powi(2);
    let spreads = spread(both + first, one) * spread(both + second, other);
    // A member without errors.
    if spreads <= 0.0 {
        return 0.0;
    }
    rounded(common / spreads.sqrt() * shared / (shared + SHRINKAGE))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SplitMix, members};
    use super::*;

    fn phi(both: u32, first: u32, second: u32, neither: u32) -> f64 {
        shrunk_correlation(&JointErrors { both, first, second, neither })
    }

    #[test]
    fn independence_matches_figures_worked_by_hand() {
        assert_eq!(phi(5, 0, 0, 5), 0.5, "phi 1, ten questions");
        assert_eq!(phi(0, 5, 5, 0), -0.5, "phi -1, ten questions");
        assert_eq!(phi(45, 0, 0, 45), 0.9, "phi 1, ninety questions");
        assert_eq!(phi(10, 10, 10, 10), 0.0);
        // (6 * 60 - 14 * 20) / sqrt(20 * 80 * 26 * 74) = 80 / 1754.54, times 100 / 110.
        assert_eq!(phi(6, 14, 20, 60), 0.041451);
    }

    #[test]
    fn independence_of_members_without_errors_is_unknown() {
        assert_eq!(phi(0, 0, 0, 50), 0.0, "all right together says nothing about errors");
        assert_eq!(phi(0, 10, 0, 40), 0.0);
        assert_eq!(phi(0, 0, 0, 0), 0.0);
    }

    #[test]
    fn independence_counts_errors_on_every_question_as_shared() {
        // m / (m + 10): the correlation itself is 1.
        assert_eq!(phi(1, 0, 0, 0), 0.090909);
        assert_eq!(phi(5, 0, 0, 0), 0.333333);
        assert_eq!(phi(100, 0, 0, 0), 0.909091);
        assert_eq!(phi(5, 0, 0, 1), 0.375, "one right answer in common takes nothing away");
        // One always errs, the other on 8 of 10: (.5 · .3) / √(.25 · .25) = .6, times 10 / 20.
        assert_eq!(phi(8, 2, 0, 0), 0.3);
        // One always errs, and the other as a sound mind does.
        assert_eq!(phi(3, 7, 0, 0), 0.0);
    }

    #[test]
    fn independence_skips_abstentions_absence_and_unknown_outcomes() {
        let (a, b) = (MemberId::from("a"), MemberId::from("b"));
        let question = |outcome, votes: &[(&MemberId, Decision)]| PastQuestion {
            outcome,
            votes: votes.iter().map(|(member, decision)| ((*member).clone(), *decision)).collect(),
        };
        use Decision::{Abstain, Approve, Reject};
        let history = [
            question(Approve, &[(&a, Reject), (&b, Reject)]),
            question(Reject, &[(&a, Reject), (&b, Reject)]),
            question(Reject, &[(&a, Approve), (&b, Reject)]),
            question(Reject, &[(&a, Reject), (&b, Approve)]),
            question(Approve, &[(&a, Abstain), (&b, Reject)]),
            question(Approve, &[(&b, Reject)]),
            question(Abstain, &[(&a, Approve), (&b, Reject)]),
        ];
        let joint = joint_errors(&a, &b, &history);
        assert_eq!(joint, JointErrors { both: 1, first: 1, second: 1, neither: 1 });
    }

    #[test]
    fn independence_is_symmetric_and_finds_a_known_correlation() {
        let members = members("xyz");
        let mut random = SplitMix(7);
        let mut history = Vec::new();
        for _ in 0..2000 {
            let shared = random.unit() < 0.3;
            // a and b err together half of the time (phi .5 by construction: each follows the shared error with probability sqrt .5).
            let mut err = |follows: f64| if random.unit() < follows { shared } else { random.unit() < 0.3 };
            let errors = [err(0.5f64.sqrt()), err(0.5f64.sqrt()), err(0.0)];
            let decision = |erred| if erred { Decision::Reject } else { Decision::Approve };
            let votes =
                members.iter().zip(errors).map(|(member, erred)| (member.id.clone(), decision(erred))).collect();
            history.push(PastQuestion { outcome: Decision::Approve, votes });
        }
        let found = Correlations::measure(&members, &history);
        let [a, b, c] = ["a", "b", "c"].map(MemberId::from);
        assert!((found.between(&a, &b) - 0.5).abs() < 0.07, "{}", found.between(&a, &b));
        assert!(found.between(&a, &c).abs() < 0.07);
        assert_eq!(found.between(&a, &b), found.between(&b, &a));
        assert_eq!(found.between(&c, &c), 1.0);
    }
}
