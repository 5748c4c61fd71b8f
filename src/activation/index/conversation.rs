//! What was said in conversations and is no evidence, beside what is: looked through row by row, because nothing counts it.

use std::collections::BTreeSet;

use super::texts::Texts;
use super::{Index, SESSION_B, SESSION_K1, SessionIx, idf, mean, saturated};
use crate::activation::graph::NodeIx;
use crate::activation::reading::{CONTENT, Role, WORD_SHIFT};

impl<'a> Index<'a> {
    /// All turns of conversations that are no evidence, ascending by number, each with how well it matches some words (BM25 among
    /// such turns) and [`crate::activation::reading::text_hash`] of what it says. Linear in what was talked.
    pub(in crate::activation) fn talk(&self, stems: &[&str]) -> Vec<(NodeIx, f64, u64)> {
        let over = self.over.as_ref().map_or(&[][..], |over| over.nodes);
        let base = self.base.of_role(Role::Talk).filter(|node| over.binary_search(node).is_err());
        let mut rows: Vec<(NodeIx, u64, Vec<u32>, u64)> = Vec::new();
        count(&self.base, base, stems, &mut rows);
        if let Some(over) = &self.over {
            count(over, over.of_role(Role::Talk), stems, &mut rows);
        }
        let mean = mean(rows.iter().map(|row| row.1).sum(), rows.len() as u64);
        let found = |at: usize| rows.iter().filter(|row| row.2[at] > 0).count();
        let rarity: Vec<f64> = (0..stems.len()).map(|at| idf(found(at), rows.len())).collect();
        let score = |length: u64, counts: &[u32]| -> f64 {
            let of = |(n, rarity): (&u32, &f64)| {
                rarity * saturated(f64::from(*n), length as f64 / mean, SESSION_K1, SESSION_B)
            };
            counts.iter().zip(&rarity).map(of).sum()
        };
        rows.iter().map(|(node, length, counts, text)| (*node, score(*length, counts), *text)).collect()
    }

    /// The session of that label, if a memory or a turn has it.
    pub fn session(&self, label: &str) -> Option<SessionIx> {
        let of_base = self.base.labels.find(label);
        let own = || Some(self.base.labels.len() + self.over.as_ref()?.labels.find(label)?);
        of_base.or_else(own).map(|at| SessionIx::new(at as u32))
    }

    /// The labels of all sessions, some of them perhaps twice.
    pub fn session_labels(&self) -> impl Iterator<Item = &str> + '_ {
        let of_base = (0..self.base.labels.len()).map(|at| self.base.labels.get(at));
        let own = self.over.iter().flat_map(|over| (0..over.labels.len()).map(|at| over.labels.get(at)));
        of_base.chain(own)
    }

    /// The weight of a word, by its key: the inverse document frequency that recall has it by. A word that no memory has counts
    /// like one of a single memory, and no brain as smaller than `least`.
    pub fn rarity_weight(&self, key: &str, least: usize) -> f64 {
        idf(self.having(&self.forms_of(key, key)).count().max(1), self.memories().max(least))
    }

    /// How many memories share one of these words, by their stems, and how many of those have another one as well.
    pub fn sharing_words(&self, stems: &[&str], another: &str) -> (usize, usize) {
        let sharing: BTreeSet<NodeIx> =
            stems.iter().flat_map(|stem| self.postings(stem)).map(|(node, ..)| node).collect();
        let having = self.postings(another).filter(|(node, ..)| sharing.contains(node)).count();
        (sharing.len(), having)
    }
}

/// Of these nodes: content words, how often each stem, hash of the text.
fn count(
    texts: &Texts<'_>,
    nodes: impl Iterator<Item = u32>,
    stems: &[&str],
    rows: &mut Vec<(NodeIx, u64, Vec<u32>, u64)>,
) {
    let numbers: Vec<Option<usize>> = stems.iter().map(|stem| texts.stems.find(stem)).collect();
    for node in nodes {
        let Some(row) = texts.find(node) else { continue };
        let words = texts.words(row);
        let length = words.iter().filter(|word| **word & CONTENT != 0).count() as u64;
        let times = |number: &Option<usize>| {
            words.iter().filter(|word| Some((**word >> WORD_SHIFT) as usize) == *number).count() as u32
        };
        rows.push((NodeIx(node), length, numbers.iter().map(times).collect(), texts.text(row)));
    }
}
