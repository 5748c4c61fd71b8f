//! How close the best answers come to the question, so that a brain can say that it knows nothing about something.
//!
//! The share of the question's content words, by their rarity, that one of the first answers has; half of it where the question
//! names a speaker and another one says it. It tells a subject that was never spoken of; it cannot tell a wrong detail of a
//! subject that was (`docs/recall.md` has the curve).

use std::collections::BTreeSet;

use super::Found;
use super::question::{Speakers, says_when, speakers, words_asked};
use crate::activation::graph::NodeIx;
use crate::activation::index::{Forms, Index};
use crate::text;
use crate::text::Word;

/// Below this nothing that was found is close to the question: chosen on two sets so that one question in twenty that has an
/// answer is below.
pub const CLOSE: f64 = 0.2;
/// Memories that a brain counts as having, at least, for the rarity of its words.
const FEW: usize = 16;
/// How many answers are looked at.
const FIRST: usize = 3;
/// What an answer counts that is not by the speaker whom the question names.
const OTHER_SPEAKER: f64 = 0.5;

/// How close the first of the answers come to a question: 0..=1. A question without content words is as close as anything is found.
pub fn closeness<'f>(
    index: &Index<'_>,
    question: &str,
    found: impl IntoIterator<Item = &'f Found, IntoIter: Clone>,
) -> f64 {
    let mut found = found.into_iter().peekable();
    let words = words_asked(index, question);
    let Speakers { named, spoken, before_colon } = speakers(index, &words);
    // When something was is said by its date, not by its words.
    let dated = text::date::asked(question);
    let is_said = |word: &Word<'_>| !dated.is_empty() && says_when(word);
    let content = words.iter().zip(&spoken).filter(|(word, is_name)| !word.is_stop && !**is_name && !is_said(word));
    let mut asked: Vec<(Forms, f64)> = Vec::new();
    for (word, _) in content {
        if asked.iter().all(|(forms, _)| forms.stem != word.stem) {
            let forms = index.forms(word);
            let weight = index.idf_among(&forms, FEW);
            asked.push((forms, weight));
        }
    }
    let all: f64 = asked.iter().map(|(_, weight)| weight).sum();
    if all <= 0.0 {
        let of_date: BTreeSet<NodeIx> =
            dated.iter().flat_map(|asked| index.date(asked)).map(|(node, _)| node).collect();
        let is_of_day = |found: &Found| index.graph.find(&found.id).is_some_and(|node| of_date.contains(&node));
        let is_close = dated.is_empty() || found.clone().take(FIRST).any(is_of_day);
        return if found.peek().is_some() && is_close { 1.0 } else { 0.0 };
    }
    let close = |found: &Found| {
        let node = index.graph.find(&found.id)?;
        let labels = |forms: &Forms| before_colon.get(&forms.stem).is_some_and(|of| of.contains(&node));
        let says = |(forms, _): &&(Forms, f64)| index.has(node, forms) || labels(forms);
        let covered: f64 = asked.iter().filter(says).map(|(_, weight)| weight).sum();
        let speaker = index.speaker(node);
        let is_meant = named.is_empty() || speaker == 0 || named.contains_key(&speaker);
        Some(covered / all * if is_meant { 1.0 } else { OTHER_SPEAKER })
    };
    found.take(FIRST).filter_map(close).fold(0.0, f64::max)
}

/// The closeness of a text that is no memory of the network to a question, by the same measure: 0..=1; 0 where the question has no content words.
pub fn closeness_of_text(index: &Index<'_>, question: &str, told: &str) -> f64 {
    let asked: Vec<Word<'_>> = words_asked(index, question).into_iter().filter(|word| !word.is_stop).collect();
    let words = text::words_in(told, index.language());
    let says = |asked: &&Word<'_>| words.iter().any(|word| word.stem == asked.stem || word.key == asked.key);
    let mut seen = BTreeSet::new();
    let (mut all, mut covered) = (0.0, 0.0);
    for word in asked.iter().filter(|word| seen.insert(word.stem.as_str())) {
        let weight = index.idf_among(&index.forms(word), FEW);
        all += weight;
        covered += if says(&word) { weight } else { 0.0 };
    }
    if all > 0.0 { covered / all } else { 0.0 }
}
