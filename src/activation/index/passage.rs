//! Lengths of texts, and passages: how much of what is looked for stands together in a long one.

use super::texts::Texts;
use super::{Index, mean};
use crate::activation::graph::NodeIx;
use crate::activation::reading::WORD_SHIFT;

/// Stems by their numbers in the base and over it, with a weight each.
pub(in crate::activation) struct Weighed {
    base: Vec<(u32, f64)>,
    over: Vec<(u32, f64)>,
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
    pub(in crate::activation) fn best_passage(&self, node: NodeIx, stems: &Weighed, window: usize) -> f64 {
        let Some((texts, row, is_over)) = self.at(node) else { return 1.0 };
        let words = texts.words(row);
        if words.len() <= window {
            return 1.0;
        }
        let numbers = if is_over { &stems.over } else { &stems.base };
        let number = |word: &u32| numbers.binary_search_by_key(&(word >> WORD_SHIFT), |(number, _)| *number).ok();
        let hits: Vec<(usize, usize)> =
            words.iter().enumerate().filter_map(|(at, word)| Some((at, number(word)?))).collect();
        let (mut times, mut held, mut best, mut first) = (vec![0_u32; numbers.len()], 0.0, 0.0_f64, 0);
        for (at, cue) in &hits {
            while hits[first].0 + window <= *at {
                let gone = hits[first].1;
                times[gone] -= 1;
                held -= if times[gone] == 0 { numbers[gone].1 } else { 0.0 };
                first += 1;
            }
            held += if times[*cue] == 0 { numbers[*cue].1 } else { 0.0 };
            times[*cue] += 1;
            best = best.max(held);
        }
        let mut all: Vec<usize> = hits.into_iter().map(|(_, cue)| cue).collect();
        all.sort_unstable();
        all.dedup();
        let all: f64 = all.into_iter().map(|cue| numbers[cue].1).sum();
        if all > 0.0 { (best / all).min(1.0) } else { 1.0 }
    }

    /// Stems with their weights, to be looked for in many memories.
    pub(in crate::activation) fn weighed<'s>(&self, stems: impl Iterator<Item = (&'s str, f64)> + Clone) -> Weighed {
        let of = |texts: &Texts<'a>| {
            let numbers = stems.clone().filter_map(|(stem, weight)| Some((texts.stems.find(stem)? as u32, weight)));
            let mut numbers: Vec<(u32, f64)> = numbers.collect();
            numbers.sort_unstable_by_key(|(number, _)| *number);
            numbers.dedup_by_key(|(number, _)| *number);
            numbers
        };
        let over = self.over.as_ref().map(of).unwrap_or_default();
        Weighed { base: of(&self.base), over }
    }
}
