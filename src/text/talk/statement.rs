//! Statements that begin with a word that is also a verb: `Deploy is blocked`, `Merge commits are forbidden`, `Push auf main ist gesperrt`.
//!
//! Decided by form alone. An order has its object behind the verb, and other verbs only behind a word that opens a clause of their own (`the
//! test that fails`) or behind the subject of one (`the bug I saw`). A finite verb before all of these has the words before it as its subject.

use super::date;
use super::{english, french, german, spanish};
use crate::text::language::{self, Language};
use crate::text::surface::{fold, is_apostrophe};

/// A word of a sentence as the form needs it.
pub(super) struct Piece {
    /// Small letters, without accents.
    pub low: String,
    /// Small letters, as written.
    pub raw: String,
    /// Whether it is a name of code, a path, a flag or a quotation.
    pub is_code: bool,
    /// Whether it begins with a capital.
    pub capital: bool,
    /// Whether a comma or another sign ends the clause behind it.
    pub ends: bool,
}

/// The words of a sentence, with what is code in one piece.
pub(super) fn pieces(sentence: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for surface in sentence.split_whitespace() {
        let ends = surface.ends_with([',', ';', ':', '!', '?', '—', '–', '…']) || surface == "-";
        let bare = surface.trim_matches(|c: char| !c.is_alphanumeric());
        let mut signs = bare.chars().filter(|c| !c.is_alphanumeric() && !is_apostrophe(*c) && *c != '-');
        let is_quoted = surface.starts_with(['`', '"', '“', '«', '<', '-', '/', '.', '@', '#']) && surface.len() > 1;
        let is_code = is_quoted || surface.ends_with(['/', ')', '`']) || signs.next().is_some();
        let parts: Vec<&str> = if is_code { vec![bare] } else { bare.split(is_apostrophe).collect() };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let raw = part.to_lowercase();
            let capital = part.starts_with(char::is_uppercase);
            found.push(Piece { low: fold(&raw), raw, is_code, capital, ends: false });
        }
        if let Some(last) = found.last_mut() {
            last.ends |= ends;
        }
    }
    found
}

fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Whether a sentence, whose first word may be a verb, says how something is: a finite verb follows with the words before it as its subject.
pub(super) fn states(sentence: &str) -> bool {
    let words = pieces(sentence);
    let skipped = words.iter().take_while(|word| has(english::BEFORE_TASK, &word.low)).count();
    let words = &words[skipped.min(words.len())..];
    let language = language::language(sentence);
    let is_of = |wanted: Language| language.is_none_or(|language| language == wanted);
    is_of(Language::English) && states_in_english(words) || states_in_others(words, language == Some(Language::English))
}

fn states_in_english(words: &[Piece]) -> bool {
    let Some(verb) = words.first() else { return false };
    let is = |at: usize, list: &str| words.get(at).is_some_and(|word| !word.is_code && has(list, &word.low));
    for at in 1..words.len() {
        if words[at - 1].ends {
            return false;
        }
        let is_object = at == 1 && is(at, english::BEFORE_OBJECT);
        if is_object || is(at, english::OBJECT_PRONOUNS) || is(at, english::SUBORDINATORS) || is(at, PERSONS) {
            return false;
        }
        let word = &words[at];
        if word.is_code || is(at - 1, "to") {
            continue;
        }
        if has(english::FINITE, &word.low) {
            return true;
        }
        // `Build takes 14 minutes`; of `delete runs` the second word is what is deleted.
        let is_last = at + 1 == words.len() || word.ends;
        let is_thing = at == 1 && has(english::NO_NOUNS, &verb.low);
        let before = &words[at - 1];
        let is_counted = has(english::BEFORE_THINGS, &before.low) || has(english::BEFORE_OBJECT, &before.low);
        if has(english::SINGULAR, &word.low) && !is_last && !is_thing && !is_counted {
            return true;
        }
        let is_plural = at > 1 && !before.is_code && before.low.ends_with('s') && !before.low.ends_with("ss");
        if is_plural && has(english::PLURAL, &word.low) && !is(at + 1, "by") {
            return true;
        }
        // `Lint errors break the build`, `Rebase rewrites the history`: only a verb stands between a thing and `the`.
        let takes_object = is(at + 1, "the our my its their his her your a an") && !is_last;
        let is_word = !has(english::BETWEEN, &word.low)
            && !["ing", "ed", "ly"].iter().any(|end| word.low.ends_with(end))
            && !date::is_date(&word.raw);
        let singular = word.low.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.low.ends_with(end));
        let gives = at == 1 && (has(english::GIVES, &verb.low) || is_thing);
        if takes_object && is_word && (is_plural || singular && !before.low.ends_with('s') && !gives) {
            return true;
        }
    }
    false
}

/// Words that begin a clause of their own: who does something.
const PERSONS: &str = "i we you they he she it";

/// The same in German, French and Spanish; where the words look English, only by verbs that are no English words.
fn states_in_others(words: &[Piece], looks_english: bool) -> bool {
    let Some(verb) = words.first() else { return false };
    let is = |at: usize, list: &str| words.get(at).is_some_and(|word| !word.is_code && has(list, &word.low));
    // `Supprimer des lignes est réservé aux admins`: an infinitive with its object is a thing.
    let is_infinitive = ["er", "ir", "re"].iter().any(|end| verb.low.ends_with(end));
    for at in 1..words.len() {
        if words[at - 1].ends || is(at, french::SUBORDINATORS) || is(at, german::SUBORDINATORS) {
            return false;
        }
        if at == 1
            && (!is_infinitive && is(at, french::ARTICLES) || is(at, german::ARTICLES) || is(at, spanish::ARTICLES))
        {
            return false;
        }
        let word = &words[at];
        let is_finite = match looks_english {
            true => has(german::FINITE_ALONE, &word.low),
            false => {
                [french::FINITE, german::FINITE, german::FINITE_ALONE].iter().any(|list| has(list, &word.low))
                    || has(spanish::FINITE, &word.raw)
            }
        };
        if !word.is_code && !word.capital && is_finite {
            return true;
        }
    }
    false
}
