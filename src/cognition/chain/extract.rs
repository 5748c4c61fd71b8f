//! An answer without a model: sentences of memories that say most of what was asked, each with its citation, word for word.
//!
//! Nothing is concluded and nothing worded anew; the answer says so itself. A citation holds if the sentence stands in the
//! memory that it names.

use std::collections::BTreeSet;

use crate::limits;
use crate::text::{self, Language};

/// A memory that may be quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Its number in citations, from 1.
    pub n: usize,
    /// What it says.
    pub text: String,
}

/// A sentence, and the memory that it is said to stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The memory's number.
    pub n: usize,
    /// The sentence.
    pub sentence: String,
}

/// Chooses sentences that answer a question, best first: of the best memories that share words with it, the sentence that shares most.
#[must_use]
pub fn compose(question: &str, evidence: &[Evidence]) -> Vec<Quote> {
    let language = text::language(question);
    let asked: BTreeSet<String> = content(question, language);
    let mut quotes: Vec<Quote> = Vec::new();
    let mut covered: BTreeSet<String> = BTreeSet::new();
    for memory in evidence {
        let best = text::sentences(&memory.text)
            .into_iter()
            .map(|sentence| {
                (content(sentence, language).intersection(&asked).cloned().collect::<BTreeSet<_>>(), sentence)
            })
            // Of equals the first.
            .rev()
            .max_by_key(|(shared, _)| shared.len());
        let Some((shared, sentence)) = best else { continue };
        // The best memory is quoted whatever its words are; what comes after it must say more of what was asked, or as much.
        let enough = shared.len() * 2 >= covered.len() && !shared.is_empty();
        let sentence = sentence.trim();
        if (quotes.is_empty() || enough)
            && !sentence.is_empty()
            && !quotes.iter().any(|quote| quote.sentence == sentence)
        {
            quotes.push(Quote { n: memory.n, sentence: sentence.to_owned() });
            if shared.len() > covered.len() {
                covered = shared;
            }
        }
        if quotes.len() == limits::EXTRACTED_SENTENCES {
            break;
        }
    }
    quotes
}

fn content(text: &str, fallback: Option<Language>) -> BTreeSet<String> {
    text::words_in(text, fallback).into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
}

/// True if the sentence stands in the text, word for word.
#[must_use]
pub fn holds(sentence: &str, text: &str) -> bool {
    !sentence.trim().is_empty() && text.contains(sentence)
}

/// The answer that the quotes make, in the language of what was said; it says what it is. Where nothing was found and nothing was
/// asked, it says that it is remembered, if it `remembers`.
#[must_use]
pub fn worded(said: &str, quotes: &[Quote], remembers: bool) -> String {
    let (opening, nothing, kept) = match text::language(said) {
        Some(Language::French) => (
            "De mémoire, mot pour mot, sans modèle :",
            "Rien ne me vient à l'esprit.",
            "Rien ne me vient à l'esprit ; je me souviendrai de ce que tu as dit.",
        ),
        Some(Language::Japanese) => (
            "記憶からの引用です（モデルは使っていません）：",
            "何も思い出せません。",
            "何も思い出せませんが、今の言葉は覚えておきます。",
        ),
        _ => (
            "From memory, word for word, without a model:",
            "Nothing comes to mind.",
            "Nothing comes to mind; I will remember what you said.",
        ),
    };
    if quotes.is_empty() {
        let statement = remembers && !text::asks(said);
        return if statement { kept } else { nothing }.to_owned();
    }
    let lines: Vec<String> = quotes.iter().map(|quote| format!("- {} [{}]", quote.sentence, quote.n)).collect();
    format!("{opening}\n{}", lines.join("\n"))
}

/// The numbers that a text cites as `[1]` or `[1, 2]`, each once, in the order in which they stand there.
#[must_use]
pub fn cited(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((inside, _)) = part.split_once(']') else { continue };
        let numbers: Option<Vec<usize>> = inside.split(',').map(|n| n.trim().parse().ok()).collect();
        for n in numbers.unwrap_or_default() {
            if !found.contains(&n) {
                found.push(n);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(texts: &[&str]) -> Vec<Evidence> {
        texts.iter().enumerate().map(|(at, text)| Evidence { n: at + 1, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn the_sentence_that_says_most_is_quoted_and_cited() {
        let memories =
            evidence(&["It rained. Ann moved to Oslo in May.", "Bob likes tea.", "Oslo is where Ann works."]);
        let quotes = compose("When did Ann move to Oslo?", &memories);
        assert_eq!(quotes[0], Quote { n: 1, sentence: "Ann moved to Oslo in May.".into() });
        assert!(quotes.iter().all(|quote| quote.n != 2), "{quotes:?}");
        assert!(quotes.iter().all(|q| holds(&q.sentence, &memories[q.n - 1].text)));
        let worded = worded("When did Ann move to Oslo?", &quotes, true);
        assert!(worded.contains("May. [1]") && worded.contains("without a model"), "{worded}");
        assert_eq!(cited(&worded), quotes.iter().map(|q| q.n).collect::<Vec<_>>());
    }

    #[test]
    fn it_says_in_three_languages_that_nothing_was_found() {
        for (question, part) in [
            ("Where is Ann?", "comes to mind"),
            ("Où est la voiture de ma sœur ?", "esprit"),
            ("猫はどこですか", "思い出せ"),
        ] {
            assert!(worded(question, &[], true).contains(part), "{question}");
        }
    }

    #[test]
    fn what_was_only_said_is_remembered() {
        let said = "I bought a red bicycle in Lyon.";
        assert!(worded(said, &[], true).contains("remember") && !worded(said, &[], false).contains("remember"));
    }

    #[test]
    fn citations_are_numbers_in_brackets() {
        assert_eq!(cited("a [1] b [2, 1] [x] [3"), [1, 2]);
        assert_eq!(cited("[18446744073709551616] [] [ 4 ]"), [4]);
        assert!(!holds("", "abc") && !holds("x", "abc") && holds("b", "abc"));
    }
}
