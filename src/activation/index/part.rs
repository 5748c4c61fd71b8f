//! Rows of different origin, whose words number different stems, brought to one numbering.

use std::collections::HashMap;

use crate::activation::lexicon::Lexicon;
use crate::activation::reading::{Batch, Row, WORD_SHIFT, Word};

/// Rows that number the same stems.
pub(super) struct Part<'a> {
    pub stems: Stems<'a>,
    /// Node and row. No node twice, over all parts.
    pub rows: Vec<(u32, Row<'a>)>,
}

/// Where the numbers of stems point.
#[derive(Clone, Copy)]
pub(super) enum Stems<'a> {
    Batch(&'a Batch),
    Lexicon(Lexicon<'a>),
}

impl<'a> Stems<'a> {
    /// How many there are; rows may use few of them.
    fn len(self) -> usize {
        match self {
            Self::Batch(batch) => batch.stems(),
            Self::Lexicon(stems) => stems.len(),
        }
    }

    fn get(self, number: u32) -> &'a str {
        match self {
            Self::Batch(batch) => batch.stem(number),
            Self::Lexicon(stems) => stems.get(number as usize),
        }
    }
}

impl Part<'_> {
    /// The numbers of the stems that the rows use, ascending. Costs what the rows hold, not how many stems there are.
    fn used(&self) -> Vec<u32> {
        let words = || self.rows.iter().flat_map(|(_, row)| row.words).map(|word| word >> WORD_SHIFT);
        if words().count() < self.stems.len() / 16 {
            let mut used: Vec<u32> = words().collect();
            used.sort_unstable();
            used.dedup();
            return used;
        }
        let mut used = vec![false; self.stems.len()];
        words().for_each(|number| used[number as usize] = true);
        (0..).zip(used).filter(|(_, used)| *used).map(|(number, _)| number).collect()
    }
}

/// One row with its words by the numbers of all.
pub(super) struct Placed<'a> {
    pub node: u32,
    pub row: Row<'a>,
    pub words: std::ops::Range<usize>,
}

/// All stems that some rows use, ascending.
pub(super) fn stems_of<'a>(parts: &[Part<'a>]) -> Vec<&'a str> {
    let mut stems: Vec<&str> = Vec::new();
    for part in parts {
        stems.extend(part.used().into_iter().map(|number| part.stems.get(number)));
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// The rows of all parts and, one after the other, their words by the numbers of all.
pub(super) fn place<'a>(parts: &[Part<'a>], numbers: &HashMap<&str, u32>) -> (Vec<Placed<'a>>, Vec<Word>) {
    let all_rows = || parts.iter().flat_map(|part| &part.rows);
    let mut rows = Vec::with_capacity(all_rows().count());
    let mut words = Vec::with_capacity(all_rows().map(|(_, row)| row.words.len()).sum());
    for part in parts {
        let used = part.used();
        let known: Vec<u32> = used.iter().map(|number| numbers[part.stems.get(*number)]).collect();
        let all = used.len() == part.stems.len();
        let number = |word: Word| {
            let own = word >> WORD_SHIFT;
            known[if all { own as usize } else { used.partition_point(|number| *number < own) }]
        };
        for (node, row) in &part.rows {
            let start = words.len();
            let flags = (1 << WORD_SHIFT) - 1;
            words.extend(row.words.iter().map(|word| number(*word) << WORD_SHIFT | word & flags));
            rows.push(Placed { node: *node, row: *row, words: start..words.len() });
        }
    }
    (rows, words)
}
