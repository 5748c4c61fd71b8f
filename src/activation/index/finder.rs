//! Finds names in texts.

use std::collections::HashMap;

use crate::activation::reading::{WORD_SHIFT, Word};

/// Finds names in rows of numbered words.
pub(super) struct Finder {
    /// First two stems → names that start with them, longest first.
    several: HashMap<(u32, u32), Vec<Several>>,
    single: HashMap<u32, u32>,
}

/// A name of several words.
struct Several {
    /// Its stems from the third on.
    rest: Vec<u32>,
    key: u32,
    proper: bool,
}

impl Finder {
    /// `names`: each name's stems, joined by spaces, its key, and whether it hides the names inside it.
    pub fn of<'n>(names: impl Iterator<Item = (&'n str, u32, bool)>, numbers: &HashMap<&str, u32>) -> Self {
        let mut finder = Self { several: HashMap::new(), single: HashMap::new() };
        for (text, key, proper) in names {
            let stems: Option<Vec<u32>> = text.split(' ').map(|stem| numbers.get(stem).copied()).collect();
            match stems.as_deref() {
                Some([only]) => drop(finder.single.insert(*only, key)),
                Some([first, second, rest @ ..]) => {
                    let name = Several { rest: rest.to_vec(), key, proper };
                    finder.several.entry((*first, *second)).or_default().push(name);
                }
                _ => {}
            }
        }
        finder.several.values_mut().for_each(|list| list.sort_by_key(|name| std::cmp::Reverse(name.rest.len())));
        finder
    }

    /// The keys in a row of words, ascending: at each word the longest that starts there, and single words only where no
    /// longer one covers them, so that a town in the name of a club is not taken for the town. A description covers
    /// nothing: the town in `city in Iowa` is the town.
    pub fn names_in(&self, words: &[Word]) -> Vec<u32> {
        let stem = |at: usize| words[at] >> WORD_SHIFT;
        let mut found = Vec::new();
        let mut covered = vec![false; words.len()];
        for at in 0..words.len().saturating_sub(1) {
            let Some(list) = self.several.get(&(stem(at), stem(at + 1))) else { continue };
            let fits = |rest: &[u32]| {
                let end = at + 2 + rest.len();
                end <= words.len() && rest.iter().enumerate().all(|(i, s)| stem(at + 2 + i) == *s)
            };
            if let Some(name) = list.iter().find(|name| fits(&name.rest)) {
                found.push(name.key);
                if name.proper {
                    covered[at..at + 2 + name.rest.len()].fill(true);
                }
            }
        }
        let single = (0..words.len()).filter(|at| !covered[*at]);
        found.extend(single.filter_map(|at| self.single.get(&stem(at)).copied()));
        found.sort_unstable();
        found.dedup();
        found
    }
}
