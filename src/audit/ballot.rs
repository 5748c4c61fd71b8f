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
    if verdict.decision == Decision::Abstain {
        return None;
    }
    let members = record.members.len();
    let all: BTreeSet<&str> = record.members.iter().map(|seat| seat.family.as_str()).collect();
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
    let decided = all.len() >= 2 || verdict.escalates();
    (!decided).then(|| "decides alone, and all its members are of one family".to_owned())
}
