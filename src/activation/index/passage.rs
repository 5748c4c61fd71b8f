//! Lengths of texts, and passages: how much of what is looked for stands together in a long one.

use super::texts::Texts;
use super::{Forms, Index, mean};
use crate::activation::graph::NodeIx;
use crate::activation::reading::WORD_SHIFT;

/// Words with a weight each, and the numbers of their stems in the base and over it with the word's place.
pub(in crate::activation) struct Weighed {
    weights: Vec<f64>,
    base: Vec<(u32, usize)>,
    over: Vec<(u32, usize)>,
}

impl<'a> Index<'a> {
    /// Content words of a memory of mean length, at least 1.
    pub(in crate::activation) fn mean_length(&self) -> f64 {
        let totals = self.totals();
        mean(totals.length, totals.memories)
    }

    /// Content words of a memory.
    pub(in crate::activation) fn length(&self, node: NodeIx) -> u32 {
        self.at(node).map_or(0, |(texts, row, _)| texts.length(row))
    }

    /// By what the pieces of one text are known; 0 for what has no label.
    pub(in crate::activation) fn document(&self, node: NodeIx) -> u32 {
        self.at(node).map_or(0, |(texts, row, _)| texts.document(row))
    }

    /// Of the weights of the stems that a memory has, the share that its best passage of so many words has; 1 for a memory that is no longer.
    pub(in crate::activation) fn best_passage(&self, node: NodeIx, asked: &Weighed, window: usize) -> f64 {
        let Some((texts, row, is_over)) = self.at(node) else { return 1.0 };
        let words = texts.words(row);
        if words.len() <= window {
            return 1.0;
        }
        let numbers = if is_over { &asked.over } else { &asked.base };
        let number = |word: &u32| {
            let at = numbers.binary_search_by_key(&(word >> WORD_SHIFT), |(number, _)| *number).ok()?;
            Some(numbers[at].1)
        };
        let hits: Vec<(usize, usize)> =
            words.iter().enumerate().filter_map(|(at, word)| Some((at, number(word)?))).collect();
        let (mut times, mut held, mut best, mut first) = (vec![0_u32; asked.weights.len()], 0.0, 0.0_f64, 0);
        for (at, cue) in &hits {
            while hits[first].0 + window <= *at {
                let gone = hits[first].1;
                times[gone] -= 1;
                held -= if times[gone] == 0 { asked.weights[gone] } else { 0.0 };
                first += 1;
            }
            held += if times[*cue] == 0 { asked.weights[*cue] } else { 0.0 };
            times[*cue] += 1;
            best = best.max(held);
        }
        let mut all: Vec<usize> = hits.into_iter().map(|(_, cue)| cue).collect();
        all.sort_unstable();
        all.dedup();
        let all: f64 = all.into_iter().map(|cue| asked.weights[cue]).sum();
        if all > 0.0 { (best / all).min(1.0) } else { 1.0 }
    }

    /// Words with their weights, to be looked for in many memories.
    pub(in crate::activation) fn weighed<'f>(&self, words: impl Iterator<Item = (&'f Forms, f64)> + Clone) -> Weighed {
        let of = |texts: &Texts<'a>| {
            let stems =
                words.clone().enumerate().flat_map(|(at, (forms, _))| forms.stems().map(move |stem| (stem, at)));
            let numbers = stems.filter_map(|(stem, at)| Some((texts.stems.find(stem)? as u32, at)));
            let mut numbers: Vec<(u32, usize)> = numbers.collect();
            numbers.sort_unstable();
            numbers.dedup_by_key(|(number, _)| *number);
            numbers
        };
        let over = self.over.as_ref().map(of).unwrap_or_default();
        Weighed { weights: words.clone().map(|(_, weight)| weight).collect(), base: of(&self.base), over }
    }
}
