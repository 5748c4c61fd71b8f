//! Faulty members: f of 3f + 1 can stop a decision and never turn it into its opposite.

use super::super::independence::Correlations;
use super::super::quorum::Quorum;
use super::super::verdict::{Thresholds, decide};
use super::super::vote::Decision;
use super::{SplitMix, all_decisions, members, votes};

fn is_opposite(one: Decision, other: Decision) -> bool {
    one != other && one != Decision::Abstain && other != Decision::Abstain
}

/// All subsets of so many places, as bits.
fn subsets(places: u32, size: u32) -> impl Iterator<Item = u32> {
    (0u32..1 << places).filter(move |subset| subset.count_ones() == size)
}

/// A vote vector with two bits a member; bits of a subset doubled select its members.
fn doubled(subset: u32) -> usize {
    (0..16).filter(|place| subset >> place & 1 == 1).map(|place| 3usize << (2 * place)).sum()
}

/// Every honest vote, every choice of f faulty members, and everything that they may say instead, silence included.
#[test]
fn faults_never_turn_a_decision_into_its_opposite() {
    let layouts = ["wxyz", "xxyz", "xxyy", "uvwxyzt", "xxyyzzw", "xxxxxyz"];
    let mut stopped = 0;
    for layout in layouts {
        let n = layout.len() as u32;
        let members = members(layout);
        // By the number of the vote vector: member i has the bits 2i and 2i + 1.
        let decided: Vec<Decision> = (0..1usize << (2 * n))
            .map(|vector| {
                let decisions: String = (0..n).map(|place| ['A', 'R', '-', '.'][vector >> (2 * place) & 3]).collect();
                Quorum::count(&members, &votes(&members, &decisions), &Correlations::default()).decision()
            })
            .collect();
        for subset in subsets(n, (n - 1) / 3) {
            let mask = doubled(subset);
            for (honest, decision) in decided.iter().enumerate().filter(|(_, d)| **d != Decision::Abstain) {
                // All values of the masked bits.
                let mut said = mask;
                loop {
                    let outcome = decided[honest & !mask | said];
                    assert!(!is_opposite(*decision, outcome), "{layout}: {honest:b} became {said:b} of {subset:b}");
                    stopped += usize::from(outcome == Decision::Abstain);
                    if said == 0 {
                        break;
                    }
                    said = (said - 1) & mask;
                }
            }
        }
    }
    assert!(stopped > 0, "faulty members can stop a decision");
}

/// With f + 1 faulty members the bound is lost: the test above would see it.
#[test]
fn faults_beyond_the_bound_can_turn_a_decision() {
    let members = members("wxyz");
    let decide = |decisions| Quorum::count(&members, &votes(&members, decisions), &Correlations::default()).decision();
    assert!(is_opposite(decide("AAAR"), decide("RRAR")));
}

/// Faulty members also choose confidence and reasoning, vote twice, and vote as strangers.
#[test]
fn faults_of_confidence_reasoning_and_number_turn_nothing() {
    let mut random = SplitMix(2);
    for (layout, f) in [("wxyz", 1), ("uvwxyzt", 2), ("xxyyzzw", 2)] {
        let members = members(layout);
        let all = all_decisions(layout.len());
        for _ in 0..3000 {
            let honest = votes(&members, &all[random.below(all.len())]);
            let before = decide("q", &members, &honest, &[], &Thresholds::default()).decision;
            let faulty: Vec<usize> = (0..f).map(|_| random.below(layout.len())).collect();
            let is_faulty = |id: &str| faulty.iter().any(|place| members.iter().nth(*place).unwrap().id.as_str() == id);
            let mut said: Vec<_> = honest.iter().filter(|vote| !is_faulty(vote.member.as_str())).cloned().collect();
            for place in &faulty {
                for _ in 0..1 + random.below(3) {
                    let decision = [Decision::Approve, Decision::Reject, Decision::Abstain][random.below(3)];
                    let mut vote = super::vote(&members, *place, decision);
                    vote.confidence = [0.0, 0.4, 1.0, 2.0][random.below(4)];
                    if random.below(2) == 0 && !honest.is_empty() {
                        vote.reasoning = honest[random.below(honest.len())].reasoning.clone();
                    }
                    if random.below(4) == 0 {
                        vote.member = "stranger".into();
                    }
                    said.insert(random.below(said.len() + 1), vote);
                }
            }
            let after = decide("q", &members, &said, &[], &Thresholds::default());
            assert!(!is_opposite(before, after.decision), "{layout} {before} {said:?}");
        }
    }
}
