//! The votes of a council, counted again in integers, by no line of what counted them first.

use std::collections::{BTreeMap, BTreeSet};

use crate::council::record::CouncilRecord;
use crate::council::vote::Decision;

/// Why a verdict does not follow from the votes of its record; `None`: it can.
///
/// Past councils can only take away from a decision: shared errors make two families one mind. So without them, what two thirds of members and
/// families are not for is no decision whatever happened before.
pub fn fault(record: &CouncilRecord) -> Option<String> {
    let verdict = &record.verdict;
    if verdict.question != record.question {
        return Some("has the verdict of another question".to_owned());
    }
    let mut voted = BTreeSet::new();
    let mut families: BTreeMap<&str, BTreeMap<Decision, usize>> = BTreeMap::new();
    let mut by_member: BTreeMap<Decision, usize> = BTreeMap::new();
    for cast in &record.votes {
        let vote = &cast.opening.vote;
        if !voted.insert(vote.member.as_str()) {
            return Some(format!("counts two votes of {}", vote.member));
        }
        *by_member.entry(vote.decision).or_default() += 1;
        *families.entry(vote.family.as_str()).or_default().entry(vote.decision).or_default() += 1;
    }
    let listed = |opinions: &[crate::council::verdict::Opinion]| opinions.len();
    let (support, dissent) = (listed(&verdict.support), listed(&verdict.dissent));
    if support + dissent + verdict.abstentions.len() != record.votes.len() {
        return Some(format!(
            "lists {} opinions of {} votes",
            support + dissent + verdict.abstentions.len(),
            voted.len()
        ));
    }
    let of_one: BTreeSet<&str> = record.members.iter().map(|seat| seat.family.as_str()).collect();
    if of_one.len() < MINDS && !verdict.escalates() {
        return Some("decides alone, and all its members are of one family".to_owned());
    }
    if verdict.decision == Decision::Abstain {
        return (!verdict.escalates()).then(|| "reaches no decision, and does not escalate".to_owned());
    }
    let members = record.members.len();
    let all = of_one;
    let for_it = by_member.get(&verdict.decision).copied().unwrap_or(0);
    let is_for = |votes: &&BTreeMap<Decision, usize>| {
        let cast: usize = votes.values().sum();
        2 * votes.get(&verdict.decision).copied().unwrap_or(0) > cast
    };
    let families_for = families.values().filter(is_for).count();
    let needs = |what: &str, k: usize, n: usize| {
        (3 * k < 2 * n).then(|| format!("says {}, and {k} of {n} {what} are for that", verdict.decision))
    };
    if let Some(fault) = needs("members", for_it, members).or_else(|| needs("families", families_for, all.len())) {
        return Some(fault);
    }
    if families_for < MINDS {
        return Some(format!("says {}, and one family alone is for that", verdict.decision));
    }
    let means = families.keys().filter_map(|family| {
        let of: Vec<f64> = record
            .votes
            .iter()
            .map(|cast| &cast.opening.vote)
            .filter(|vote| vote.decision == verdict.decision && vote.family.as_str() == *family)
            .map(|vote| vote.confidence)
            .collect();
        (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
    });
    let means: Vec<f64> = means.collect();
    let confidence = means.iter().sum::<f64>() / means.len().max(1) as f64 - verdict.penalty;
    let is_told = (confidence.max(0.0) - verdict.confidence).abs() < TOLERANCE && verdict.penalty >= 0.0;
    (!is_told).then(|| format!("has the confidence {}, and its votes {confidence:.4}", verdict.confidence))
}

/// Families that a decision needs.
const MINDS: usize = 2;
/// The difference that rounding may leave.
const TOLERANCE: f64 = 1e-5;
