//! The forms by which a word of a question is looked for: its stem in each language that memories are in.
//!
//! A language is guessed for each text alone, and a short text or question shows little of its own. So a word is stemmed for each memory as that
//! memory's words are, whatever the question's language is, and all memories that have it are found by one cue.

use super::{Index, Length, idf, saturated};
use crate::activation::graph::NodeIx;
use crate::activation::reading::{self, LANGUAGES};
use crate::text::{self, Word};

/// Characters that all forms of a word begin with.
const BEGINNING: usize = 3;

/// The stems of a word, each with the languages in which the word has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::activation) struct Forms {
    /// The stem by which the word is named in answers.
    pub stem: String,
    /// Each stem with a bit for each [`reading::Row::language`] that has it.
    of: Vec<(String, u8)>,
}

impl Forms {
    /// A stem that is the same in all languages.
    pub fn one(stem: &str) -> Self {
        Self { stem: stem.to_owned(), of: vec![(stem.to_owned(), u8::MAX)] }
    }

    /// The stems, each once.
    pub fn stems(&self) -> impl Iterator<Item = &str> + Clone {
        self.of.iter().map(|(stem, _)| stem.as_str())
    }

    /// The stem in texts of a language; `None` where it cannot be told.
    pub fn stem_in(&self, language: Option<text::Language>) -> &str {
        let bit = 1 << language.map_or(0, reading::number);
        self.of.iter().find(|(_, languages)| languages & bit != 0).map_or(&self.stem, |(stem, _)| stem)
    }
}

impl<'a> Index<'a> {
    /// The forms of a word of a question.
    pub(in crate::activation) fn forms(&self, word: &Word<'_>) -> Forms {
        self.forms_of(&word.key, &word.stem)
    }

    /// The forms of the word of that key, named by a stem.
    pub(super) fn forms_of(&self, key: &str, named: &str) -> Forms {
        let counts = self.totals().languages;
        let known = (0..LANGUAGES.len()).filter(|at| counts[*at] > 0).map(|at| Some(LANGUAGES[at]));
        let mut of: Vec<(String, u8)> = Vec::new();
        for language in [None].into_iter().chain(known) {
            let stem = text::stem(key, language);
            let bit = 1 << language.map_or(0, reading::number);
            match of.iter_mut().find(|(other, _)| *other == stem) {
                Some((_, languages)) => *languages |= bit,
                None => of.push((stem, bit)),
            }
        }
        if let [(_, languages)] = &mut of[..] {
            *languages = u8::MAX;
        }
        Forms { stem: named.to_owned(), of }
    }

    /// Memories that have a stem.
    pub(in crate::activation) fn with_stem(&self, stem: &str) -> impl Iterator<Item = NodeIx> + use<'_, 'a> {
        self.postings(stem).map(|(node, ..)| node)
    }

    /// Memories that have a word, how often, and the content words of each.
    pub(super) fn having<'f>(&'f self, forms: &'f Forms) -> impl Iterator<Item = (NodeIx, u16, u32)> + use<'f, 'a> {
        forms.of.iter().flat_map(move |(stem, languages)| {
            let is_read_so = move |node: NodeIx| *languages == u8::MAX || languages & 1 << self.language_of(node) != 0;
            self.postings(stem).filter(move |(node, ..)| is_read_so(*node))
        })
    }

    /// The memories that a word brings to mind, with a strength in (0, 1), the saturated frequency of the word in them, and
    /// those that a concept of that word alone leads to, by the weight of the edge.
    pub(in crate::activation) fn word(&self, forms: &Forms, length: Length) -> Vec<(NodeIx, f64)> {
        let usual = self.mean_length().max(length.short);
        let strength = |n, words| saturated(f64::from(n), f64::from(words) / usual, length.k1, length.b);
        let mut found: Vec<(NodeIx, f64)> =
            self.having(forms).map(|(node, n, words)| (node, strength(n, words))).collect();
        let names = forms.stems().filter_map(|stem| self.name(stem)).filter(|name| !self.is_name(*name));
        for name in names.collect::<Vec<_>>() {
            let mut led = self.led_to(name);
            if !led.is_empty() {
                found.sort_unstable_by_key(|(node, _)| *node);
                led.retain(|(node, _)| found.binary_search_by_key(node, |(node, _)| *node).is_err());
                found.extend(led);
            }
        }
        found
    }

    /// The strength of a word in a memory that has it once.
    pub(in crate::activation) fn once(&self, memory: NodeIx, length: Length) -> f64 {
        let usual = self.mean_length().max(length.short);
        saturated(1.0, f64::from(self.length(memory)) / usual, length.k1, length.b)
    }

    /// The neurons of speakers whose name is another form of a word: `Decided` of `decide`. Names that texts write as names are left out.
    pub(in crate::activation) fn speakers_like(&self, word: &Word<'_>) -> Vec<NodeIx> {
        let begins: String = word.key.chars().take(BEGINNING).collect();
        let forms = self.forms(word);
        let languages: Vec<Option<text::Language>> = [None].into_iter().chain(self.languages().map(Some)).collect();
        let is_like = |name: &str| {
            let has = |language: &Option<text::Language>| {
                let stem = text::stem(name, *language);
                stem == forms.stem_in(*language) && !self.name(&stem).is_some_and(|name| self.is_name(name))
            };
            name != word.key && !name.contains(' ') && languages.iter().any(has)
        };
        let of = |texts: &super::Texts<'a>| -> Vec<u32> {
            let names = texts.speaker_names.starting_with(&begins);
            let like = names.filter(|name| is_like(texts.speaker_names.get(*name)));
            like.flat_map(|name| texts.speakers(name)).copied().collect()
        };
        let own = self.over.as_ref().map(of).unwrap_or_default();
        self.lives(&of(&self.base)).chain(own.into_iter().map(NodeIx)).collect()
    }

    /// The inverse document frequency of a word.
    pub(in crate::activation) fn idf_of(&self, forms: &Forms) -> f64 {
        idf(self.having(forms).count(), self.memories())
    }

    /// The same as if there were at least so many memories: in a brain of one, what it says would count next to nothing.
    pub(in crate::activation) fn idf_among(&self, forms: &Forms, least: usize) -> f64 {
        idf(self.having(forms).count(), self.memories().max(least))
    }

    /// Whether a memory has a word.
    pub(in crate::activation) fn has(&self, memory: NodeIx, forms: &Forms) -> bool {
        let stem = forms.stem_in(reading::language(self.language_of(memory)));
        self.stems_in(memory).contains(&stem)
    }

    /// See [`reading::Row::language`].
    fn language_of(&self, node: NodeIx) -> u8 {
        self.at(node).map_or(0, |(texts, row, _)| texts.language(row))
    }
}
