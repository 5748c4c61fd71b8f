//! Words that cases and actions are compared by: stems without function words, so that spelling and order say nothing.

use std::collections::BTreeSet;

use crate::text::{self, Language};

/// Function words that turn a case into its opposite.
const NEGATIONS: [&str; 22] = [
    "not",
    "no",
    "never",
    "without",
    "nor",
    "none",
    "isn't",
    "don't",
    "doesn't",
    "can't",
    "won't",
    "ne",
    "pas",
    "jamais",
    "sans",
    "aucun",
    "aucune",
    "ni",
    "ない",
    "なし",
    "ず",
    "ません",
];

/// The stems of all words of an action: a function word can make it another one.
pub fn action_stems(text: &str) -> BTreeSet<String> {
    text::words(text).into_iter().map(|w| w.stem).collect()
}

/// Words that make no other action of one.
const FILLERS: [&str; 48] = [
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "our",
    "my",
    "your",
    "its",
    "their",
    "just",
    "now",
    "then",
    "please",
    "always",
    "again",
    "le",
    "la",
    "les",
    "un",
    "une",
    "des",
    "du",
    "de",
    "ce",
    "cette",
    "ces",
    "notre",
    "nos",
    "votre",
    "vos",
    "toujours",
    "simplement",
    "rapidement",
    "vite",
    "の",
    "を",
    "は",
    "が",
    "に",
    "で",
    "と",
    "も",
    "この",
    "その",
    "すぐ",
];

/// Words that end as `quickly` does and say what is done, or to what.
const NO_MANNER: [&str; 6] = ["anomaly", "assembly", "comply", "family", "multiply", "supply"];

/// The stems of an action's words but those that make no other one of it, whatever language the few words are taken for: of each word the shortest
/// stem; of an action without any, of all.
pub fn plain_action(text: &str) -> BTreeSet<String> {
    const LANGUAGES: [Language; 4] = [Language::English, Language::French, Language::German, Language::Spanish];
    let is_manner = |word: &str| word.len() > 5 && word.ends_with("ly") && !NO_MANNER.contains(&word);
    let says = |w: &text::Word<'_>| !FILLERS.contains(&w.key.as_str()) && !is_manner(&w.key);
    let shortest = |w: text::Word<'_>| {
        let stems = LANGUAGES.map(|language| text::stem(&w.key, Some(language)));
        stems.into_iter().min_by(|a, b| (a.len(), a).cmp(&(b.len(), b))).unwrap_or(w.stem)
    };
    let plain: BTreeSet<String> = text::words(text).into_iter().filter(says).map(shortest).collect();
    if plain.is_empty() { action_stems(text) } else { plain }
}

/// The stems of a text's content words and negations; of a text without any, of all its words.
pub fn stems(text: &str) -> BTreeSet<String> {
    let words = text::words(text);
    let says = |w: &&text::Word<'_>| !w.is_stop || NEGATIONS.contains(&w.key.as_str());
    let content: BTreeSet<String> = words.iter().filter(says).map(|w| w.stem.clone()).collect();
    if content.is_empty() { words.into_iter().map(|w| w.stem).collect() } else { content }
}

/// The content words of a text, and whether it denies something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Stems of its content words; of a text without any, of all its words.
    pub words: BTreeSet<String>,
    /// Whether there is a negation in it.
    pub is_negated: bool,
}

impl Said {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let all = text::words(text);
        let negates = |w: &text::Word<'_>| NEGATIONS.contains(&w.key.as_str());
        let content: BTreeSet<String> =
            all.iter().filter(|w| !w.is_stop && !negates(w)).map(|w| w.stem.clone()).collect();
        let is_negated = all.iter().any(negates);
        let words = if content.is_empty() { all.into_iter().map(|w| w.stem).collect() } else { content };
        Self { words, is_negated }
    }

    /// A text as a whole, and each of its sentences where it has several.
    pub fn each_of(text: &str) -> Vec<Self> {
        let mut all = vec![Self::of(text)];
        let sentences = text::sentences(text);
        if sentences.len() > 1 {
            all.extend(sentences.into_iter().map(Self::of));
        }
        all
    }
}

/// How many of the first words are among the second, as a share of the first; 0 where there are none.
pub fn share(of: &BTreeSet<String>, within: &BTreeSet<String>) -> f64 {
    if of.is_empty() { 0.0 } else { of.intersection(within).count() as f64 / of.len() as f64 }
}

/// Common words over all words: 1 for equal sets, 0 for sets that share nothing (Jaccard 1901).
pub fn likeness(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count() as f64;
    let all = a.len() as f64 + b.len() as f64 - common;
    if all > 0.0 { common / all } else { 0.0 }
}

/// The words of a text whose stems are kept, in its order, as one line; the text itself where that is all of them.
pub fn only(text: &str, kept: &BTreeSet<String>) -> String {
    if stems(text).is_subset(kept) {
        return text.to_owned();
    }
    let words = text::words(text);
    let found: Vec<&str> = words.iter().filter(|w| kept.contains(&w.stem)).map(|w| w.surface).collect();
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_order_case_or_function_words() {
        assert_eq!(stems("Which lever opens the gate?"), stems("the gate opens which LEVER"));
        assert!((likeness(&stems("open the gate"), &stems("open the door")) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(share(&stems("gate"), &stems("open the gate")), 1.0);
        assert_eq!(share(&stems(""), &stems("gate")), 0.0);
        assert_ne!(stems("the gate is shut"), stems("the gate is not shut"));
        assert_ne!(action_stems("right lever"), action_stems("lever"));
        for (one, other) in [
            ("cover the hay", "quickly cover our hay"),
            ("左のレバーを引く", "左レバーを引く"),
            ("couvrir le foin", "couvrez vite le foin"),
        ] {
            assert_eq!(plain_action(one), plain_action(other));
        }
        assert_ne!(plain_action("run the assembly"), plain_action("run"));
    }

    #[test]
    fn only_kept_words_stay_in_their_order() {
        let kept = stems("lever gate");
        assert_eq!(only("which lever opens the gate at dawn", &kept), "lever gate");
        assert_eq!(only("the gate's lever", &kept), "the gate's lever");
    }
}
