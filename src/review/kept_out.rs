//! The words of a run that a decision does not let in: those that all machines and agents may be told, and of the others a short digest.
//!
//! *Invariant:* words that speak of a secret are told nobody, because a run may be rejected for just that.

use std::collections::BTreeSet;

use super::belief::is_said;
use super::page::visible;
use super::record::Verdict;
use crate::delta::{Operation, RunRecord};
use crate::limits;
use crate::model::Kind;
use crate::model::ids::NeuronId;

/// Longest statement, characters.
const LONGEST: usize = 300;

/// One line, without what steers, cut where it is long.
pub fn clip(text: &str) -> String {
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The words of a run that a decision does not let in, memories first, the longest of them first: all that it states; where it states nothing,
/// the longest name. At most [`limits::REVIEW_DECLINED`].
pub fn kept_out(
    verdict: Verdict,
    kept: &[usize],
    record: &RunRecord,
    words_of: impl Fn(&NeuronId) -> String,
) -> Vec<String> {
    let away = (1..=record.ops.len()).filter(|number| verdict == Verdict::Reject || !kept.contains(number));
    let said = away.filter_map(|number| match &record.ops[number - 1] {
        Operation::Create(create) if !is_said(create.kind, &create.concept) => Some((0, create.concept.clone())),
        Operation::Create(create) => Some((2 + u8::from(create.kind == Kind::Episodic), create.concept.clone())),
        Operation::Reword(reword) => Some((3, reword.concept.clone())),
        Operation::Archive(archive) => Some((2, format!("archives: {}", words_of(&archive.id)))),
        Operation::Retype(retype) => Some((1, format!("{}: {}", retype.kind, words_of(&retype.id)))),
        Operation::Goal(goal) => Some((2, format!("goal: {}", goal.text))),
        Operation::Flag(flag) => Some((1, format!("flag: {}", flag.name))),
        _ => None,
    });
    let mut said: Vec<(u8, String)> = said.collect();
    said.sort_by_key(|(rank, text)| std::cmp::Reverse((*rank, text.len())));
    let most = if said.first().is_some_and(|(rank, _)| *rank == 0) { 1 } else { limits::REVIEW_DECLINED };
    let mut seen = BTreeSet::new();
    let stated = said.into_iter().filter(|(rank, _)| most == 1 || *rank > 0).map(|(_, text)| text);
    stated.filter(|text| seen.insert(text.clone())).take(most).collect()
}
