//! The words that two texts share: where a text speaks of what a question asks.

use std::collections::BTreeSet;
use std::ops::Range;

use super::word::{Word, read, words_in};

/// A word of a text that a question has too, in any form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Where it stands in the text, bytes.
    pub range: Range<usize>,
    /// The stem by which the two are one word.
    pub stem: String,
}

/// The words of a text that a question has too, in their order. Function words count only where the question has no others.
pub fn shared(question: &str, text: &str) -> Vec<Shared> {
    let (language, words) = read(text);
    let asked = words_in(question, language);
    let content = |word: &&Word<'_>| !word.is_stop;
    let all_stop = asked.iter().all(|word| word.is_stop);
    let stems: BTreeSet<&str> =
        asked.iter().filter(|word| all_stop || content(word)).map(|word| word.stem.as_str()).collect();
    let found = words.iter().filter(|word| stems.contains(word.stem.as_str()));
    let shared =
        |word: &Word<'_>| Shared { range: word.start..word.start + word.surface.len(), stem: word.stem.clone() };
    found.map(shared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shared_in_any_form_and_in_three_languages() {
        for (question, text, expected) in [
            ("Who likes green tea?", "Anna liked the Green teas.", &["liked", "Green", "teas"][..]),
            ("Quand ferme le jardin ?", "Les jardins sont beaux.", &["jardins"]),
            ("京都で何を飲みましたか？", "京都で抹茶を飲みました。", &["京都", "飲"]),
            ("who is it", "It is Ben who called.", &["It", "is", "who"]),
            ("tea", "nothing of the kind", &[]),
            ("", "tea", &[]),
        ] {
            let found: Vec<&str> = shared(question, text).into_iter().map(|word| &text[word.range]).collect();
            assert_eq!(found, expected, "{question}");
        }
    }
}
