//! Independence of minds: the correlation of their errors on past questions whose outcome is known.
//!
//! A past belongs to a mind and not to a seat: a member under another id keeps the errors of its mind, and another mind under an old id has
//! none. A new mind has no past and counts as independent: this measure finds shared errors, and proves no independence.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ids::{MemberId, MindId, rounded};
use super::rules::{SHRINKAGE, USUAL};
use super::vote::{Decision, Members};

/// A past question: its votes and its known outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastQuestion {
    /// The decision that turned out right; `Abstain`: not known, and the question says nothing.
    pub outcome: Decision,
    /// The decision of each mind that voted, whatever number of seats it had.
    pub votes: BTreeMap<MindId, Decision>,
}

impl PastQuestion {
    /// Whether a mind erred. `None`: it did not vote, abstained, or the outcome is not known.
    pub fn has_erred(&self, mind: &MindId) -> Option<bool> {
        let decision = *self.votes.get(mind)?;
        let is_known = decision != Decision::Abstain && self.outcome != Decision::Abstain;
        is_known.then_some(decision != self.outcome)
    }
}

/// The minds of members. A member that is not listed is a mind of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minds(BTreeMap<MemberId, MindId>);

impl Minds {
    /// The mind of a member.
    pub fn of(&self, member: &MemberId) -> MindId {
        self.0.get(member).cloned().unwrap_or_else(|| member.into())
    }
}

impl FromIterator<(MemberId, MindId)> for Minds {
    fn from_iter<I: IntoIterator<Item = (MemberId, MindId)>>(minds: I) -> Self {
        Self(minds.into_iter().collect())
    }
}

/// Errors that two minds have in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedErrors {
    /// Their correlation, −1..=1.
    pub correlation: f64,
    /// Past questions with an outcome on which both voted.
    pub questions: u32,
}

/// Correlations of errors between pairs of minds. A pair without a common past has none and counts as 0, a mind with itself as 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correlations {
    minds: Minds,
    pairs: BTreeMap<(MindId, MindId), SharedErrors>,
}

impl Correlations {
    /// Measures the correlations of the minds of members on past questions.
    pub fn measure(members: &Members, minds: &Minds, history: &[PastQuestion]) -> Self {
        let mut correlations = Self { minds: minds.clone(), pairs: BTreeMap::new() };
        let all: BTreeSet<MindId> = members.iter().map(|member| minds.of(&member.id)).collect();
        for one in &all {
            for other in all.iter().filter(|other| *other > one) {
                let joint = joint_errors(one, other, history);
                if joint.questions() > 0 {
                    correlations.enter(one, other, shrunk_correlation(&joint), joint.questions());
                }
            }
        }
        correlations
    }

    /// Enters a correlation of one question. One that is no number counts as 0, others are brought into −1..=1.
    pub fn set(&mut self, one: &MemberId, other: &MemberId, correlation: f64) {
        let correlation = if correlation.is_nan() { 0.0 } else { correlation.clamp(-1.0, 1.0) };
        let (one, other) = (self.minds.of(one), self.minds.of(other));
        self.enter(&one, &other, correlation, 1);
    }

    fn enter(&mut self, one: &MindId, other: &MindId, correlation: f64, questions: u32) {
        let pair = (one.min(other).clone(), one.max(other).clone());
        self.pairs.insert(pair, SharedErrors { correlation, questions });
    }

    /// The errors that the minds of two members have in common; `None`: they have no common past, or are one mind.
    pub fn shared(&self, one: &MemberId, other: &MemberId) -> Option<SharedErrors> {
        let (one, other) = (self.minds.of(one), self.minds.of(other));
        self.pairs.get(&(one.clone().min(other.clone()), one.max(other))).copied()
    }

    /// The correlation of the minds of two members.
    pub fn between(&self, one: &MemberId, other: &MemberId) -> f64 {
        match self.minds.of(one) == self.minds.of(other) {
            true => 1.0,
            false => self.shared(one, other).map_or(0.0, |shared| shared.correlation),
        }
    }

    /// The correlation of two families by their members: the mean over pairs of a mind of the one and a mind of the other, each pair once and
    /// weighted by its questions, a negative one as 0. Seats that repeat a mind and minds without a past change nothing.
    pub fn between_families(&self, one: &[&MemberId], other: &[&MemberId]) -> f64 {
        let minds = |of: &[&MemberId]| of.iter().map(|member| (self.minds.of(member), (*member).clone())).collect();
        let (ones, others): (BTreeMap<MindId, MemberId>, BTreeMap<MindId, MemberId>) = (minds(one), minds(other));
        let (mut sum, mut questions) = (0.0, 0.0);
        for pair in ones.values().flat_map(|one| others.values().map(move |other| (one, other))) {
            if let Some(shared) = self.shared(pair.0, pair.1) {
                sum += f64::from(shared.questions) * shared.correlation.max(0.0);
                questions += f64::from(shared.questions);
            }
        }
        if questions > 0.0 { sum / questions } else { 0.0 }
    }
}

/// Questions that both minds of a pair voted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JointErrors {
    both: u32,
    first: u32,
    second: u32,
    neither: u32,
}

impl JointErrors {
    fn questions(&self) -> u32 {
        self.both + self.first + self.second + self.neither
    }
}

fn joint_errors(one: &MindId, other: &MindId, history: &[PastQuestion]) -> JointErrors {
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
        let (a, b) = (MindId::from("a"), MindId::from("b"));
        let question = |outcome, votes: &[(&MindId, Decision)]| PastQuestion {
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
                members.iter().zip(errors).map(|(member, erred)| ((&member.id).into(), decision(erred))).collect();
            history.push(PastQuestion { outcome: Decision::Approve, votes });
        }
        let found = Correlations::measure(&members, &Minds::default(), &history);
        let [a, b, c] = ["a", "b", "c"].map(MemberId::from);
        assert!((found.between(&a, &b) - 0.5).abs() < 0.07, "{}", found.between(&a, &b));
        assert!(found.between(&a, &c).abs() < 0.07);
        assert_eq!(found.between(&a, &b), found.between(&b, &a));
        assert_eq!(found.between(&c, &c), 1.0);
    }

    #[test]
    fn independence_of_families_counts_each_mind_once_and_leaves_out_minds_without_a_past() {
        let mind = |name: &str| MindId::from(name);
        let wrong = |minds: &[&str]| PastQuestion {
            outcome: Decision::Reject,
            votes: minds.iter().map(|name| (mind(name), Decision::Approve)).collect(),
        };
        let history = vec![wrong(&["old", "other"]); 5];
        let seats = [("a", "old"), ("a2", "old"), ("a3", "new"), ("b", "other"), ("b2", "other")];
        let minds: Minds = seats.iter().map(|(seat, name)| (MemberId::from(*seat), mind(name))).collect();
        let listed = seats.iter().map(|(seat, _)| {
            let family = if seat.starts_with('a') { "x" } else { "y" };
            super::super::vote::Member { id: (*seat).into(), family: family.into() }
        });
        let members = Members::new(listed.collect()).unwrap();
        let found = Correlations::measure(&members, &minds, &history);
        let ids: Vec<MemberId> = seats.iter().map(|(seat, _)| MemberId::from(*seat)).collect();
        let [a, a2, a3, b, b2] = ids.iter().collect::<Vec<_>>().try_into().unwrap();
        let one_seat_each = found.between_families(&[a], &[b]);
        assert_eq!(one_seat_each, 0.333333);
        assert_eq!(found.between_families(&[a, a2, a3], &[b, b2]), one_seat_each);
        assert_eq!(found.between_families(&[a3], &[b]), 0.0, "a new mind has no past");
        assert_eq!((found.between(a, a2), found.between(a2, b2)), (1.0, 0.333333), "a past goes with the mind");
        // A past of its own counts by its questions: (5 · .333 + 1 · 0) / 6.
        let mut history = history;
        history.push(PastQuestion { outcome: Decision::Approve, ..wrong(&["new", "other"]) });
        let found = Correlations::measure(&members, &minds, &history);
        let r = found.shared(a, b).unwrap();
        assert_eq!(r.questions, 5);
        assert!((found.between_families(&[a, a2, a3], &[b, b2]) - 5.0 * r.correlation / 6.0).abs() < 1e-9);
    }
}
