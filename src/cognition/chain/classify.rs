//! Does a message need all steps of the chain, or one? Any reason for all of them wins; without one it is one.

use super::Mode;
use crate::model::chain::Chain;
use crate::model::ids::normalise;
use crate::text;

/// What a message needs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complexity {
    /// How many steps.
    pub mode: Mode,
    /// The reason, in words; of a simple one, that there is none.
    pub why: String,
}

/// Says whether a message is simple or needs all steps, by its category, its words, its length and its parts.
#[must_use]
pub fn classify_complexity(message: &str, category: Option<&str>, settings: &Chain) -> Complexity {
    let reflexive = |why: String| Complexity { mode: Mode::Reflexive, why };
    let plain = folded(message);
    if let Some(category) = category.filter(|c| settings.categories.iter().any(|known| folded(known) == folded(c))) {
        return reflexive(format!("its category is {category}"));
    }
    let asked = |words: &[String]| words.iter().find(|word| stands_in(&plain, word)).cloned();
    if let Some(word) = asked(&settings.keywords) {
        return reflexive(format!("it says {word:?}"));
    }
    if let Some(word) = asked(&settings.tools) {
        return reflexive(format!("it asks for tools, by {word:?}"));
    }
    let length = message.trim().chars().count();
    if length >= settings.long as usize {
        return reflexive(format!("it has {length} characters"));
    }
    if is_multi_part(message) {
        return reflexive("it has several parts".to_owned());
    }
    Complexity { mode: Mode::Simple, why: "nothing in it asks for more".to_owned() }
}

/// Compatibility form, lower case, no accents, single spaces, plain apostrophes.
fn folded(text: &str) -> String {
    text::fold(&normalise(text)).replace('\u{2019}', "'")
}

/// Whether a word or phrase stands in a folded text: at a word's start, and up to its end unless it ends in `*`. Where
/// words have no spaces between them, anywhere.
fn stands_in(plain: &str, word: &str) -> bool {
    let open = word.ends_with('*');
    let wanted = folded(word.trim_end_matches('*'));
    let spaced = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let (Some(first), Some(last)) = (wanted.chars().next(), wanted.chars().next_back()) else { return false };
    plain.match_indices(&wanted).any(|(at, found)| {
        let before = plain[..at].chars().next_back().is_some_and(|c| spaced(c) || c == '_');
        let after = plain[at + found.len()..].chars().next().is_some_and(|c| spaced(c) || c == '_');
        (is_unspaced(first) || !before) && (open || is_unspaced(last) || !after)
    })
}

/// Scripts that are written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Several questions, several items, or several paragraphs.
fn is_multi_part(message: &str) -> bool {
    let mut asked = 0;
    let mut in_mark = false;
    for c in message.chars() {
        // `?!?` is one question.
        let mark = matches!(c, '?' | '？' | '!' | '！');
        asked += usize::from(matches!(c, '?' | '？') && !in_mark);
        in_mark = mark || (in_mark && c == ' ');
    }
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    let items = lines.iter().filter(|line| is_item(line)).count();
    let paragraphs = lines.split(|line| line.is_empty()).filter(|part| !part.is_empty()).count();
    asked >= 2 || items >= 2 || paragraphs >= 2
}

fn is_item(line: &str) -> bool {
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after.len() < line.len() && after.starts_with(['.', ')', '、', '．']);
    numbered || ["- ", "* ", "• ", "・"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, category: Option<&str>, expected: Mode) {
        let found = classify_complexity(message, category, &Chain::default());
        assert_eq!(found.mode, expected, "{message:?}: {}", found.why);
        assert!(!found.why.is_empty());
    }

    #[test]
    fn short_and_plain_is_simple() {
        for message in [
            "hello",
            "",
            "Where does Ann live?",
            "Quelle heure est-il ?",
            "アンはどこに住んでいますか？",
            "what?!?",
            "a profile of Ann, and the Paralysis cafe",
            "The filet mignon was good, and so was the old wine that we had with it on Sunday.",
            &"a ".repeat(99),
        ] {
            check(message, None, Mode::Simple);
            check(message, Some("simple"), Mode::Simple);
        }
    }

    #[test]
    fn any_reason_is_enough() {
        for message in [
            "ANALYSE this",
            "Peux-tu analyser ça ?",
            "donne une réponse DE\u{301}TAILLE\u{301}E",
            "une reponse detaillee",
            "Cherche  et explique la gravité",
            "Compare tea and coffee",
            "お茶とコーヒーを比較して",
            "詳しく教えて",
            "use list_dir on it",
            "lis le fichier",
            "このファイルを読んで",
            "Who is Ann? Where does she live?",
            "誰？どこ？",
            "do this:\n- one\n- two",
            "1. one\n2. two",
            "One thing.\n\nAnother thing.",
            &"é".repeat(200),
        ] {
            check(message, None, Mode::Reflexive);
        }
        for category in ["code", "Archi", "data-analyst", "RAISONNEMENT"] {
            check("hi", Some(category), Mode::Reflexive);
        }
    }

    #[test]
    fn the_bound_is_the_settings() {
        let settings = Chain { long: 5, keywords: Vec::new(), ..Chain::default() };
        assert_eq!(classify_complexity("12345", None, &settings).mode, Mode::Reflexive);
        assert_eq!(classify_complexity("1234", None, &settings).mode, Mode::Simple);
        assert_eq!(classify_complexity("why", None, &settings).mode, Mode::Simple);
    }
}
