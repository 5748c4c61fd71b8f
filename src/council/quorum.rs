//! The quorum: a decision needs enough members, enough families, and two effective minds.
//!
//! | count | rule |
//! |---|---|
//! | members | `3·k ≥ 2·n`; n are all members, absent and abstaining ones included |
//! | families | `3·k ≥ 2·n` over families; a family is for a decision if more than half of its cast votes are |
//! | minds | effective number of minds among those for the decision ≥ 2 |
//!
//! Source of the first two: seed 3.3.3 and the decisions on phase 2. With integers there is no .67, which 2 of 3 would fail.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::{Family, MemberId, rounded};
use super::independence::Correlations;
use super::rules::MINDS;
use super::vote::{Decision, Members, Vote};

/// The counts for one decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The decision.
    pub decision: Decision,
    /// Members for it.
    pub members_for: usize,
    /// All members, n.
    pub members: usize,
    /// Families for it.
    pub families_for: usize,
    /// All families.
    pub families: usize,
    /// Effective minds for it.
    pub minds: f64,
}

impl Tally {
    /// Whether enough members are for it.
    pub fn has_members(&self) -> bool {
        reaches_two_thirds(self.members_for, self.members)
    }

    /// Whether enough families are for it.
    pub fn has_families(&self) -> bool {
        reaches_two_thirds(self.families_for, self.families)
    }

    /// Whether enough effective minds are for it.
    pub fn has_minds(&self) -> bool {
        self.minds >= MINDS
    }

    /// Whether the decision is reached.
    pub fn is_reached(&self) -> bool {
        self.has_members() && self.has_families() && self.has_minds()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { decision, members_for, members, families_for, families, minds } = self;
        write!(f, "{decision}: {members_for} of {members} members, {families_for} of {families} families, ")?;
        write!(f, "{minds:.2} effective minds")
    }
}

/// Both counts, and the faults that they tolerate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quorum {
    /// The counts for approval.
    pub approve: Tally,
    /// The counts for rejection.
    pub reject: Tally,
    /// Faulty members that cannot turn a decision into its opposite: f = (n − 1) / 3, rounded down. They can stop one.
    pub tolerated_faults: usize,
}

impl Quorum {
    /// Counts admitted votes.
    pub fn count(members: &Members, votes: &[Vote], correlations: &Correlations) -> Self {
        let tally = |decision| tally(decision, members, votes, correlations);
        let tolerated_faults = tolerated_faults(members.count());
        Self { approve: tally(Decision::Approve), reject: tally(Decision::Reject), tolerated_faults }
    }

    /// The decision that is reached; `Abstain`: none. Both cannot be, as each needs two thirds of all members.
    pub fn decision(&self) -> Decision {
        let reached = [&self.approve, &self.reject].into_iter().find(|tally| tally.is_reached());
        reached.map_or(Decision::Abstain, |tally| tally.decision)
    }

    /// The counts for a decision. `Abstain` has none.
    pub fn tally(&self, decision: Decision) -> Option<&Tally> {
        [&self.approve, &self.reject].into_iter().find(|tally| tally.decision == decision)
    }
}

impl fmt::Display for Quorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (members, faults) = (self.approve.members, self.tolerated_faults);
        write!(f, "{}; {}; {members} members tolerate {faults} faulty", self.approve, self.reject)
    }
}

/// Faulty members that n members tolerate: n ≥ 3f + 1 (Lamport, Shostak and Pease 1982).
pub fn tolerated_faults(members: usize) -> usize {
    members.saturating_sub(1) / 3
}

fn reaches_two_thirds(count: usize, all: usize) -> bool {
    count > 0 && 3 * count >= 2 * all
}

fn tally(decision: Decision, members: &Members, votes: &[Vote], correlations: &Correlations) -> Tally {
    let families_for = families_for(decision, votes);
    Tally {
        decision,
        members_for: votes.iter().filter(|vote| vote.decision == decision).count(),
        members: members.count(),
        families_for: families_for.len(),
        families: members.families().len(),
        minds: effective_minds(&families_for, correlations),
    }
}

/// Families for a decision, each with its members for it. An abstention is a cast vote; an absent member has none.
fn families_for(decision: Decision, votes: &[Vote]) -> BTreeMap<&Family, Vec<&MemberId>> {
    let mut cast: BTreeMap<&Family, usize> = BTreeMap::new();
    let mut members_for: BTreeMap<&Family, Vec<&MemberId>> = BTreeMap::new();
    for vote in votes {
        *cast.entry(&vote.family).or_default() += 1;
        if vote.decision == decision {
            members_for.entry(&vote.family).or_default().push(&vote.member);
        }
    }
    members_for.retain(|family, members| 2 * members.len() > cast[family]);
    members_for
}

/// The effective number of minds: `n² / Σ_ij r_ij` over the n families for the decision, each of which weighs 1.
///
/// `r_ij` is the correlation of errors: 1 of a family with itself, as copies count as one mind; between families the measured one of their
/// minds for the decision ([`Correlations::between_families`]), and 0 where nothing is known. A negative one counts as 0, so that nobody
/// weighs more than a mind.
///
/// Source: the effective sample size of Kish's design effect (Survey Sampling, 1965): the variance of a weighted mean of correlated values,
/// against that of independent ones. With equal weights and one r it is `n / (1 + (n − 1)·r)`.
///
/// A weakness: with equal r the rule allows `r ≤ (n − 2) / (2·(n − 1))`. Two families pass only where no positive r was measured, not even by
/// chance; three pass up to .25; above .5 no number of families does.
fn effective_minds(families_for: &BTreeMap<&Family, Vec<&MemberId>>, correlations: &Correlations) -> f64 {
    let mut variance = 0.0;
    for (family, members) in families_for {
        for (other_family, others) in families_for {
            variance += if family == other_family { 1.0 } else { correlations.between_families(members, others) };
        }
    }
    let total = families_for.len() as f64;
    if variance > 0.0 { rounded(total * total / variance) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SplitMix, members, votes};
    use super::*;

    fn count(families: &str, decisions: &str, correlations: &Correlations) -> Quorum {
        let members = members(families);
        Quorum::count(&members, &votes(&members, decisions), correlations)
    }

    #[test]
    fn quorum_counts_five_copies_as_one_mind() {
        let none = Correlations::default();
        let copies = count("xxxxx", "AAAAA", &none);
        assert_eq!((copies.approve.members_for, copies.approve.families_for), (5, 1));
        assert_eq!(copies.approve.minds, 1.0);
        assert_eq!(copies.decision(), Decision::Abstain);
        // Five copies and two others: enough members, and one family of three.
        let outvoted = count("xxxxxyz", "AAAAARR", &none);
        assert!(outvoted.approve.has_members() && !outvoted.approve.has_families());
        assert_eq!(outvoted.decision(), Decision::Abstain);
        assert_eq!(count("xxxxxyz", "AAAAAAR", &none).decision(), Decision::Approve);
    }

    #[test]
    fn quorum_needs_enough_members_besides_families() {
        // Both other families reject, and the five copies stop it: 2 of 7 members.
        let quorum = count("xxxxxyz", "AAA..RR", &Correlations::default());
        assert!(quorum.reject.has_families() && !quorum.reject.has_members());
        assert_eq!(quorum.decision(), Decision::Abstain);
    }

    #[test]
    fn quorum_of_two_of_three_holds() {
        assert_eq!(count("xyz", "AAR", &Correlations::default()).decision(), Decision::Approve);
        assert_eq!(count("xyz", "RR.", &Correlations::default()).decision(), Decision::Reject);
        assert_eq!(count("xyz", "A-.", &Correlations::default()).decision(), Decision::Abstain);
    }

    #[test]
    fn quorum_family_needs_more_than_half_of_its_cast_votes() {
        let families = |decisions| count("xxxxyz", decisions, &Correlations::default()).approve.families_for;
        assert_eq!(families("AARRAA"), 2, "half is not more than half");
        assert_eq!(families("AARAAA"), 3);
        assert_eq!(families("AA--AA"), 2, "an abstention is a cast vote");
        assert_eq!(families("AA..AA"), 3, "an absent member has none");
    }

    #[test]
    fn quorum_discounts_by_measured_correlation() {
        let minds = |r: f64, families: &str, decisions: &str| {
            let members = members(families);
            let mut correlations = Correlations::default();
            for one in members.iter() {
                for other in members.iter().filter(|other| other.id != one.id) {
                    correlations.set(&one.id, &other.id, r);
                }
            }
            let quorum = count(families, decisions, &correlations);
            (quorum.approve.minds, quorum.decision())
        };
        // n / (1 + (n − 1)·r).
        assert_eq!(minds(0.25, "wxyz", "AAAA"), (rounded(4.0 / 1.75), Decision::Approve));
        assert_eq!(minds(0.5, "wxyz", "AAAA"), (1.6, Decision::Abstain));
        assert_eq!(minds(1.0, "wxyz", "AAAA"), (1.0, Decision::Abstain));
        assert_eq!(minds(-0.9, "wxyz", "AAAA"), (4.0, Decision::Approve), "a negative one counts as 0");
        // Copies count as one, also where their measured correlation is low. 9 / (3 + 6 * .25) = 2.
        assert_eq!(minds(0.25, "xxxxyz", "AAAAAA"), (2.0, Decision::Approve));
        assert_eq!(minds(0.26, "xxxxyz", "AAAAAA").1, Decision::Abstain);
    }

    #[test]
    fn quorum_minds_lie_between_one_and_the_families_for_it() {
        let mut random = SplitMix(11);
        for _ in 0..2000 {
            let families: String = (0..1 + random.below(7)).map(|_| ['w', 'x', 'y', 'z'][random.below(4)]).collect();
            let decisions: String = families.chars().map(|_| ['A', 'R', '-', '.'][random.below(4)]).collect();
            let members = members(&families);
            let mut correlations = Correlations::default();
            for one in members.iter() {
                for other in members.iter().filter(|other| other.id != one.id) {
                    correlations.set(&one.id, &other.id, 2.0 * random.unit() - 1.0);
                }
            }
            let approve = count(&families, &decisions, &correlations).approve;
            let most = approve.families_for as f64;
            assert!(approve.minds >= most.min(1.0) - 1e-6 && approve.minds <= most, "{families} {decisions} {approve}");
        }
    }

    #[test]
    fn quorum_states_its_counts_and_faults() {
        let text = count("xyzw", "AAA.", &Correlations::default()).to_string();
        assert!(text.starts_with("approve: 3 of 4 members, 3 of 4 families, 3.00 effective minds; reject: 0 of 4"));
        assert!(text.ends_with("4 members tolerate 1 faulty"));
        assert_eq!([0, 1, 3, 4, 6, 7, 10].map(tolerated_faults), [0, 0, 0, 1, 1, 2, 3]);
    }
}
