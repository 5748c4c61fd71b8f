//! Shared material of the tests, and the tests of several modules together.

mod exhaustive;
mod faults;
mod messages;
mod prompts;
mod seals;
mod verdicts;

use super::vote::{Decision, Member, Members, Vote};

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Members a, b, c, …, one for each letter of families.
pub(crate) fn members(families: &str) -> Members {
    let member = |(id, family): (char, char)| Member { id: id.to_string().into(), family: family.to_string().into() };
    Members::new(('a'..='z').zip(families.chars()).map(member).collect()).unwrap()
}

const REASONINGS: [&str; 7] = [
    "tests pass",
    "風が強い",
    "budget exceeded",
    "schnell und klein",
    "vu ailleurs",
    "rollback possible",
    "logs clean",
];

/// A vote of the member at a place, with confidence .9 and a reasoning that no other member has.
pub(crate) fn vote(members: &Members, place: usize, decision: Decision) -> Vote {
    let member = members.iter().nth(place).unwrap();
    let (id, family) = (member.id.clone(), member.family.clone());
    let reasoning = REASONINGS[place].to_owned();
    Vote { member: id, family, decision, confidence: 0.9, reasoning, evidence: vec![] }
}

/// Votes of all members, a letter each: A approves, R rejects, - abstains, . is absent.
pub(crate) fn votes(members: &Members, decisions: &str) -> Vec<Vote> {
    let vote = |(place, letter)| match letter {
        'A' => Some(vote(members, place, Decision::Approve)),
        'R' => Some(vote(members, place, Decision::Reject)),
        '-' => Some(vote(members, place, Decision::Abstain)),
        _ => None,
    };
    decisions.chars().enumerate().filter_map(vote).collect()
}

/// All strings of a length over the letters of votes.
pub(crate) fn all_decisions(length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    for _ in 0..length {
        all = all.iter().flat_map(|start| ["A", "R", "-", "."].map(|letter| format!("{start}{letter}"))).collect();
    }
    all
}
