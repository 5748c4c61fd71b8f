//! What a base says of all rows but those that lie over it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::texts::{Texts, Totals};
use crate::activation::reading::{CAPITAL, CONTENT, Role, SMALL, WORD_SHIFT};

/// A base without some of its rows, or nothing.
#[derive(Default)]
pub(super) struct Beneath<'a> {
    base: Option<Texts<'a>>,
    /// The nodes whose rows do not count, ascending.
    dirty: Vec<u32>,
    /// Per stem, what the rows that do not count have of [`Texts::capitals`].
    capitals: HashMap<usize, [u32; 2]>,
    /// The same of [`Texts::label_totals`].
    sessions: BTreeMap<&'a str, [u64; 2]>,
    keys: BTreeSet<String>,
    totals: Totals,
}

impl<'a> Beneath<'a> {
    /// Nothing lies beneath.
    pub fn nothing() -> Self {
        Self { totals: Totals { longest: 1, longest_title: 1, ..Totals::default() }, ..Self::default() }
    }

    /// A base without the rows of the nodes `dirty`, which are ascending.
    pub fn of(base: Texts<'a>, dirty: Vec<u32>) -> Self {
        let mut this = Self { base: Some(base), totals: base.totals, ..Self::default() };
        for row in dirty.iter().filter_map(|node| base.find(*node)) {
            match base.role(row) {
                Role::Memory => this.without_memory(base, row),
                Role::Concept => {
                    let stems = base.words(row).iter().map(|word| base.stems.get((word >> WORD_SHIFT) as usize));
                    let key = stems.collect::<Vec<_>>().join(" ");
                    if !key.is_empty() {
                        this.keys.insert(key);
                    }
                }
                Role::None | Role::Speaker | Role::Dated | Role::Talk => {}
            }
        }
        this.dirty = dirty;
        this
    }

    fn without_memory(&mut self, base: Texts<'a>, at: usize) {
        let row = base.row(at);
        for word in row.words.iter().filter(|word| **word & (CAPITAL | SMALL) != 0) {
            let count = self.capitals.entry((word >> WORD_SHIFT) as usize).or_default();
            count[0] += u32::from(word & CAPITAL != 0);
            count[1] += u32::from(word & SMALL != 0);
        }
        let length = row.words.iter().filter(|word| **word & CONTENT != 0).count() as u64;
        self.totals.memories -= 1;
        self.totals.length -= length;
        if let Some(language) = usize::from(row.language).checked_sub(1) {
            self.totals.languages[language] -= 1;
        }
        if !row.session.is_empty() {
            let session = self.sessions.entry(row.session).or_default();
            session[0] += length;
            session[1] += 1;
            self.totals.session_length -= length;
        }
        let content = row.words.iter().filter(|word| **word & CONTENT != 0);
        self.keys.extend(content.map(|word| base.stem(word >> WORD_SHIFT).to_owned()));
    }

    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// How memories write a stem: with a capital inside a sentence, with a small letter.
    pub fn capitals(&self, stem: &str) -> [u32; 2] {
        let Some(base) = self.base else { return [0; 2] };
        let Some(at) = base.stems.find(stem) else { return [0; 2] };
        let all = base.capitals.get(at).copied().unwrap_or_default();
        let without = self.capitals.get(&at).copied().unwrap_or_default();
        [all[0] - without[0], all[1] - without[1]]
    }

    /// Whether the base has this key.
    pub fn has_key(&self, key: &str) -> bool {
        self.base.is_some_and(|base| base.keys.find(key).is_some())
    }

    /// What may be a key, or a name, because of rows that do not count.
    pub fn keys_of_dirty(&self) -> impl Iterator<Item = String> + use<'_, 'a> {
        self.keys.iter().cloned()
    }

    /// The stems whose counts are others without the rows that do not count.
    pub fn stems_of_dirty(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.base.into_iter().flat_map(|base| self.capitals.keys().map(move |stem| base.stems.get(*stem)))
    }

    /// Whether the base has it that a stem is usually written with a small letter.
    pub fn was_usually_small(&self, stem: &str) -> bool {
        let counts = self.base.and_then(|base| base.capitals.get(base.stems.find(stem)?).copied());
        is_usually_small(counts.unwrap_or_default())
    }

    /// The base's names of several words, of which this stem is one.
    pub fn names_with(&self, stem: &str) -> Vec<String> {
        let Some(base) = self.base else { return Vec::new() };
        let concepts = base.stems.find(stem).map_or(&[][..], |stem| base.concepts(stem));
        let keys = concepts.iter().filter_map(|node| base.key(base.find(*node)?)).filter(|key| base.is_name(*key));
        keys.map(|key| base.keys.get(key).to_owned()).filter(|name| name.contains(' ')).collect()
    }

    /// Whether this key is a name in the base.
    pub fn is_name(&self, key: &str) -> bool {
        self.base.is_some_and(|base| base.keys.find(key).is_some_and(|at| base.is_name(at)))
    }

    /// Whether the base has a memory of this session.
    pub fn had_session(&self, label: &str) -> bool {
        let Some(base) = self.base else { return false };
        base.labels.find(label).and_then(|at| base.label_totals.get(at)).is_some_and(|[_, members]| *members > 0)
    }

    /// Whether a concept of this key counts.
    pub fn has_concepts(&self, key: &str) -> bool {
        let Some(base) = self.base else { return false };
        let Some(at) = base.keys.find(key) else { return false };
        base.key_concepts(at).iter().any(|node| self.dirty.binary_search(node).is_err())
    }

    /// The base's names of several words that occur in a row of stems.
    pub fn names_in(&self, stems: &[&str]) -> Vec<String> {
        let Some(base) = self.base else { return Vec::new() };
        let mut found = Vec::new();
        for at in 0..stems.len() {
            let mut key = stems[at].to_owned();
            for stem in stems[at + 1..].iter().take(base.totals.longest as usize - 1) {
                key.push(' ');
                key.push_str(stem);
                if !base.keys.has_prefix(&key) {
                    break;
                }
                if base.keys.find(&key).is_some_and(|at| base.is_name(at)) {
                    found.push(key.clone());
                }
            }
        }
        found
    }

    /// Sessions of memories that do not count, ascending.
    pub fn sessions_of_dirty(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.sessions.keys().copied()
    }

    /// Content words and memories of a session.
    pub fn session(&self, label: &str) -> [u64; 2] {
        let Some(base) = self.base else { return [0; 2] };
        let Some(at) = base.labels.find(label) else { return [0; 2] };
        let all = base.label_totals.get(at).copied().unwrap_or_default();
        let without = self.sessions.get(label).copied().unwrap_or_default();
        [all[0] - without[0], all[1] - without[1]]
    }

    /// What is counted over all that counts; sessions that are empty now are still in `sessions`.
    pub fn totals(&self) -> Totals {
        self.totals
    }
}

/// Whether a word is usually written with a small letter.
pub(super) fn is_usually_small([capital, small]: [u32; 2]) -> bool {
    small >= capital && small > 0
}
