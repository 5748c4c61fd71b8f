//! The words that two texts share: where a text speaks of what a question asks.

use std::collections::BTreeSet;
use std::ops::Range;

use super::language::stem;
use super::phrase::speaker;
use super::prose::sentences;
use super::word::{Word, read, words_in};

/// A word of a text that a question has too, in any form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Where it stands in the text, bytes.
    pub range: Range<usize>,
    /// The stem by which the two are one word.
    pub stem: String,
}

/// Where what is said begins in a text, behind the name of its speaker, bytes.
pub fn said_from(text: &str) -> usize {
    speaker(text).map_or(0, |(_, said)| text.trim_end().len() - said.len())
}

/// The words of a text that a question has too, in their order. Function words count only where the question has no others.
pub fn shared(question: &str, text: &str) -> Vec<Shared> {
    // As memories are read: a name must not decide in which language the rest is said.
    let head = said_from(text);
    let (language, said) = read(&text[head..]);
    let named = words_in(&text[..head], language);
    let asked = words_in(question, language);
    let content = |word: &&Word<'_>| !word.is_stop;
    let all_stop = asked.iter().all(|word| word.is_stop);
    // Each text has its own language: the words of the question are stemmed as those of the text are.
    let stems: BTreeSet<String> =
        asked.iter().filter(|word| all_stop || content(word)).map(|word| stem(&word.key, language)).collect();
    let all = named.iter().map(|word| (0, word)).chain(said.iter().map(|word| (head, word)));
    let found = all.filter(|(_, word)| stems.contains(word.stem.as_str()));
    let shared = |(start, word): (usize, &Word<'_>)| {
        let start = start + word.start;
        Shared { range: start..start + word.surface.len(), stem: word.stem.clone() }
    };
    found.map(shared).collect()
}

/// The sentences of a text that together have most of a question's words, as many as fit into so many characters; `…` where something is left out.
pub fn around(question: &str, text: &str, chars: usize) -> String {
    let length = |part: &Range<usize>| text[part.clone()].chars().count();
    if length(&(0..text.len())) <= chars {
        return text.to_owned();
    }
    let found = shared(question, text);
    let place = |sentence: &str| sentence.as_ptr() as usize - text.as_ptr() as usize;
    let parts: Vec<Range<usize>> =
        sentences(text).into_iter().map(|part| place(part)..place(part) + part.len()).collect();
    let (mut most, mut best) = (0, 0..0);
    for (first, part) in parts.iter().enumerate() {
        let fits = |last: &&Range<usize>| length(&(part.start..last.end)) <= chars;
        let end = parts[first..].iter().take_while(fits).last().unwrap_or(part).end;
        let within = found.iter().filter(|word| part.start <= word.range.start && word.range.end <= end);
        let count = within.map(|word| word.stem.as_str()).collect::<BTreeSet<_>>().len();
        if count > most || best.is_empty() {
            (most, best) = (count, part.start..end);
        }
    }
    if length(&best) > chars {
        let first =
            found.iter().find(|word| best.contains(&word.range.start)).map_or(best.start, |word| word.range.start);
        let end = text[first..best.end].char_indices().nth(chars).map_or(best.end, |(at, _)| first + at);
        best = first..end;
    }
    let cut = |is: bool| if is { "…" } else { "" };
    format!("{}{}{}", cut(best.start > 0), text[best.clone()].trim(), cut(best.end < text.trim_end().len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn around_has_the_sentences_that_speak_of_the_question() {
        let filler = "The rest of the report says nothing of interest to anybody here. ".repeat(12);
        let text = format!("{filler}BILL-921 failed because carts are unique by customer. {filler}");
        let part = around("what is BILL-921?", &text, 120);
        assert!(part.contains("BILL-921 failed because carts are unique") && part.chars().count() <= 122, "{part}");
        assert!(part.starts_with('…') && part.ends_with('…'), "{part}");
        assert_eq!(around("tea", "Short enough.", 120), "Short enough.");
        let long = format!("{} tea {}", "word ".repeat(80), "more ".repeat(80));
        assert!(around("tea", &long, 60).starts_with("…tea more"), "{}", around("tea", &long, 60));
        assert!(around("nothing", &text, 100).starts_with("The rest of the report"));
    }

    #[test]
    fn what_is_said_begins_behind_the_name() {
        for (text, said) in [
            ("Ben:  tea。 \u{3000}\n", "tea。 \u{3000}\n"),
            ("ベン：茶\u{3000}", "茶\u{3000}"),
            ("tea ", "tea "),
            ("", ""),
        ] {
            assert_eq!(&text[said_from(text)..], said);
        }
    }

    #[test]
    fn words_are_shared_in_any_form_and_in_three_languages() {
        for (question, text, expected) in [
            ("Who likes green tea?", "Anna liked the Green teas.", &["liked", "Green", "teas"][..]),
            ("Quand ferme le jardin ?", "Les jardins sont beaux.", &["jardins"]),
            ("京都で何を飲みましたか？", "京都で抹茶を飲みました。", &["京都", "飲"]),
            ("who is it", "It is Ben who called.", &["It", "is", "who"]),
            ("What were the teas of Ben?", "Ben: Green tea, good tea. \n", &["Ben", "tea", "tea"]),
            ("tea", "nothing of the kind", &[]),
            ("", "tea", &[]),
        ] {
            let found: Vec<&str> = shared(question, text).into_iter().map(|word| &text[word.range]).collect();
            assert_eq!(found, expected, "{question}");
        }
    }
}
