//! Words of a memory, each with its flags: for the comparison of two memories.

use super::Index;
use crate::activation::graph::NodeIx;
use crate::activation::reading::{self, CHANGED, Role, WORD_SHIFT};
use crate::text::Language;

/// A memory, word by word.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// Unix seconds of its creation.
    pub created: i64,
    /// The speaker: see [`reading::speaker_hash`]; 0: none.
    pub speaker: u64,
    /// Its language, if it shows.
    pub language: Option<Language>,
    /// The stems of its words in their order, each with its flags.
    pub words: Vec<(&'a str, u32)>,
}

impl<'a> Index<'a> {
    /// The words of a memory of at most so many content words.
    pub(in crate::activation) fn told(&self, node: NodeIx, most: usize) -> Option<Told<'a>> {
        let (texts, row, _) = self.at(node)?;
        if texts.length(row) as usize > most || texts.role(row) != Role::Memory {
            return None;
        }
        let words = texts.words(row).iter();
        let flags = |word: u32| word & ((1 << WORD_SHIFT) - 1);
        Some(Told {
            created: texts.created(row),
            speaker: texts.speaker(row),
            language: reading::language(texts.language(row)),
            words: words.map(|word| (texts.stem(word >> WORD_SHIFT), flags(*word))).collect(),
        })
    }

    /// Whether a memory of at most so many content words says that something changed.
    pub(in crate::activation) fn says_change(&self, node: NodeIx, most: usize) -> bool {
        self.at(node).is_some_and(|(texts, row, _)| {
            texts.length(row) as usize <= most && texts.words(row).iter().any(|word| word & CHANGED != 0)
        })
    }
}
