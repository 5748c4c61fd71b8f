//! A question as a person words it: whether it can be answered by yes or no, and whether another asks the same.

use crate::text;

/// Words that begin a question with more answers than yes and no, and greetings that ask nothing.
const OPEN: &str = "which what who whom whose how why when where hello hi thanks thank \
                    quel quelle quels quelles qui comment pourquoi quand combien bonjour merci";
/// The same in Japanese, wherever they stand.
const OPEN_JAPANESE: [&str; 12] =
    ["どの", "どれ", "どちら", "どう", "どこ", "何", "なぜ", "いつ", "誰", "いくら", "こんにちは", "ありがとう"];

/// A question without its case, spaces and marks: two with the same topic ask the same.
pub fn topic(question: &str) -> String {
    let is_in_word = |c: char| c.is_alphanumeric();
    let words = question.split(|c| !is_in_word(c)).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The word by which a question asks for more than yes or no. `None`: it has none. A weakness: it looks at the first word alone, and at a few
/// Japanese ones.
pub fn open_word(question: &str) -> Option<String> {
    let first = text::words(question).into_iter().next().map(|word| word.surface.to_lowercase());
    let opens = |word: &String| OPEN.split_whitespace().any(|listed| listed == word);
    first.filter(opens).or_else(|| {
        let found = OPEN_JAPANESE.iter().find(|word| question.contains(**word))?;
        Some((*found).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_of_a_question_asked_again_is_the_same() {
        assert_eq!(topic("Shall we  deploy on Friday?"), topic("shall we deploy, on friday"));
        assert_ne!(topic("Shall we deploy on Friday?"), topic("Shall we deploy on Monday?"));
        assert_eq!(topic("索引を再構築する?"), topic("索引を再構築する？"));
    }

    #[test]
    fn question_that_asks_for_more_than_yes_or_no_is_found_by_its_word() {
        let open = [
            "Which provider is cheaper?",
            "Hello, thank you, you are great",
            "Pourquoi payer ?",
            "どの案が安いですか?",
        ];
        for question in open {
            assert!(open_word(question).is_some(), "{question}");
        }
        let closed = ["Shall we deploy?", "Rebuild the index at night", "Faut-il payer ?", "索引を再構築しますか?", ""];
        for question in closed {
            assert_eq!(open_word(question), None, "{question}");
        }
    }
}
