//! Words of change: whether a sentence says that something is otherwise than it was, and what a question asks for that such a sentence
//! answers.
//!
//! General words of a language, in a file each beside this one. A sentence that asks, or that says nothing for sure, changes nothing. Must
//! not know which memory is older.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;

use super::language::{Language, is_hiragana};
use super::phrase::asks;
use super::prose::sentences;
use super::surface::is_apostrophe;
use super::word::{Word, words_in};

/// Most bytes between the parts of a phrase with a gap.
const GAP: usize = 32;

/// In which way a sentence says that something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Replaced,
    Ended,
    Present,
    Unsure,
    Before,
    /// Words that ask for a relation, by its number.
    About(u8),
    /// How that relation changes.
    By(u8),
}

/// The relations, as the files name them.
const RELATIONS: [&str; 5] = ["home", "work", "like", "use", "date"];

/// Where somebody lives: the first of [`RELATIONS`].
pub const HOME: u8 = 0;

/// One phrase: its parts as they stand in a row of words that is joined.
struct Phrase {
    kind: Kind,
    keys: Vec<String>,
    stems: Vec<String>,
}

/// The phrases of a language, and which relations its words ask for.
struct List {
    phrases: Vec<Phrase>,
    about: HashMap<String, u8>,
    /// Whoever only asks has no use for these.
    changing: OnceLock<Finder>,
    unsure: OnceLock<Finder>,
}

impl List {
    fn changing(&self) -> &Finder {
        let changes = |kind| matches!(kind, Kind::Replaced | Kind::Ended | Kind::Present | Kind::By(_));
        self.changing.get_or_init(|| Finder::of(&self.phrases, changes))
    }

    fn unsure(&self) -> &Finder {
        self.unsure.get_or_init(|| Finder::of(&self.phrases, |kind| kind == Kind::Unsure))
    }
}

/// Some of the phrases, all looked for in one pass, by their first parts.
struct Finder {
    firsts: AhoCorasick,
    /// Which phrase each first part is of.
    phrases: Vec<usize>,
}

impl Finder {
    fn of(phrases: &[Phrase], wanted: fn(Kind) -> bool) -> Self {
        let chosen: Vec<usize> = (0..phrases.len()).filter(|at| wanted(phrases[*at].kind)).collect();
        let firsts = chosen.iter().map(|at| phrases[*at].keys.first().map_or("", String::as_str));
        Self { firsts: AhoCorasick::new(firsts).expect("invariant: the lists are short"), phrases: chosen }
    }

    /// Whether words say one of these phrases.
    fn says(&self, list: &List, words: &[Word<'_>], is_japanese: bool) -> bool {
        let (text, _) = joined(words.iter().map(|word| word.key.as_str()), is_japanese);
        let mut found = self.firsts.find_overlapping_iter(&text);
        found.any(|found| {
            let keys = &list.phrases[self.phrases[found.pattern().as_usize()]].keys;
            keys.len() == 1 || find(&text, keys).is_some()
        })
    }
}

static ENGLISH: LazyLock<List> = LazyLock::new(|| list(include_str!("en.txt"), Language::English));
static FRENCH: LazyLock<List> = LazyLock::new(|| list(include_str!("fr.txt"), Language::French));
static JAPANESE: LazyLock<List> = LazyLock::new(|| list(include_str!("ja.txt"), Language::Japanese));

fn list(text: &'static str, language: Language) -> List {
    let mut kind = Kind::Unsure;
    let (mut phrases, mut about) = (Vec::new(), HashMap::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('[') {
            kind = kind_of(heading.trim_end_matches(']'));
            continue;
        }
        let is_one = language == Language::Japanese;
        let parts: Vec<Vec<Word<'_>>> = line.split('…').map(|part| words_in(part, Some(language))).collect();
        let joined_by = |of: for<'w> fn(&'w Word<'_>) -> &'w str| -> Vec<String> {
            parts.iter().map(|words| joined(words.iter().map(of), is_one).0).collect()
        };
        let phrase = Phrase { kind, keys: joined_by(|word| &word.key), stems: joined_by(|word| &word.stem) };
        match kind {
            Kind::About(relation) => {
                *about.entry(phrase.stems.concat().trim().to_owned()).or_default() |= 1 << relation
            }
            _ => phrases.push(phrase),
        }
    }
    List { phrases, about, changing: OnceLock::new(), unsure: OnceLock::new() }
}

fn kind_of(heading: &str) -> Kind {
    let relation = |name: &str| RELATIONS.iter().position(|known| *known == name).unwrap_or(RELATIONS.len()) as u8;
    match heading.split_once(' ') {
        None if heading == "replaced" => Kind::Replaced,
        None if heading == "ended" => Kind::Ended,
        None if heading == "present" => Kind::Present,
        None if heading == "before" => Kind::Before,
        Some((name, "about")) => Kind::About(relation(name)),
        Some((name, _)) => Kind::By(relation(name)),
        None => Kind::Unsure,
    }
}

/// Words as one string, and where each starts: between blanks, or in Japanese without, since dictionaries cut it where they like.
fn joined<'w>(words: impl Iterator<Item = &'w str>, is_japanese: bool) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for word in words {
        if !is_japanese {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(word);
    }
    if !is_japanese {
        text.push(' ');
    }
    (text, starts)
}

fn lists(language: Option<Language>) -> &'static List {
    match language {
        Some(Language::French) => &FRENCH,
        Some(Language::Japanese) => &JAPANESE,
        _ => &ENGLISH,
    }
}

/// Where the parts of a phrase stand, one after the other; the first place.
fn find(text: &str, parts: &[String]) -> Option<Range<usize>> {
    let (first, rest) = parts.split_first()?;
    let mut from = 0;
    while let Some(at) = text[from..].find(first.as_str()) {
        let start = from + at;
        let mut end = start + first.len();
        let follows = rest.iter().all(|part| {
            // The blank between two words belongs to both.
            let next = end - usize::from(part.starts_with(' '));
            let found = text[next..].find(part.as_str()).filter(|gap| *gap <= GAP);
            found.inspect(|gap| end = next + gap + part.len()).is_some()
        });
        if follows {
            return Some(start..end);
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// What a word is in a text that says that something changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// It stands in the sentence that says so.
    pub is_inside: bool,
    /// The sentence speaks of something of it, as in `Anna's brother`.
    pub is_owner: bool,
}

/// Marks the words of the first sentence that says for sure that something changed; empty if none does.
pub fn marks(said: &str, language: Option<Language>, words: &[Word<'_>]) -> Vec<Mark> {
    let list = lists(language);
    let is_one = language == Some(Language::Japanese);
    if !list.changing().says(list, words, is_one) {
        return Vec::new();
    }
    for sentence in sentences(said) {
        let start = sentence.as_ptr() as usize - said.as_ptr() as usize;
        let inside = start..start + sentence.len();
        let from = words.partition_point(|word| word.start < inside.start);
        let to = words.partition_point(|word| word.start < inside.end);
        let row = &words[from..to.max(from)];
        if !asks(sentence) && list.changing().says(list, row, is_one) && !list.unsure().says(list, row, is_one) {
            let mark = |at: usize| Mark {
                is_inside: (from..to).contains(&at),
                is_owner: (from..to).contains(&at) && is_owner(said, language, words, at),
            };
            return (0..words.len()).map(mark).collect();
        }
    }
    Vec::new()
}

/// Whether a word says whose something is.
fn is_owner(said: &str, language: Option<Language>, words: &[Word<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| words[before].key.as_str());
    let rest = &said[words[at].start + words[at].surface.len()..];
    match language {
        Some(Language::French) => matches!(before, "de" | "d" | "du" | "des"),
        Some(Language::Japanese) => rest.starts_with('の'),
        _ => before == "of" || rest.starts_with(is_apostrophe),
    }
}

/// What the sentence of a memory says that changes something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Something new holds in the place of something older.
    pub replaced: bool,
    /// Something holds no more.
    pub ended: bool,
    /// It holds now.
    pub present: bool,
    /// Which relations it changes, a bit each, and the place of the first word that says so.
    pub relations: Vec<(u8, usize)>,
    /// Which words say all that.
    pub by: Vec<bool>,
}

/// What a sentence says by its stems, of which [`marks`] has seen that it says something.
pub fn change(language: Option<Language>, stems: &[&str]) -> Change {
    let (text, starts) = joined(stems.iter().copied(), language == Some(Language::Japanese));
    let mut change = Change { by: vec![false; stems.len()], ..Change::default() };
    for phrase in &lists(language).phrases {
        let is_said = matches!(phrase.kind, Kind::Replaced | Kind::Ended | Kind::Present | Kind::By(_));
        let Some(found) = is_said.then(|| find(&text, &phrase.stems)).flatten() else { continue };
        // Blanks around it are no part of the words; of a phrase with a gap the words inside are not its own.
        let from = starts.partition_point(|start| *start <= found.start).saturating_sub(1);
        let from = from
            + usize::from(text[found.start..].starts_with(' ') && starts.get(from).is_some_and(|s| *s < found.start));
        let last = starts.partition_point(|start| *start + 1 < found.end).saturating_sub(1);
        match phrase.kind {
            Kind::Replaced => change.replaced = true,
            Kind::Ended => change.ended = true,
            Kind::Present => change.present = true,
            Kind::By(relation) => change.relations.push((relation, from)),
            _ => {}
        }
        if phrase.stems.len() == 1 {
            change.by[from..=last.max(from)].fill(true);
        } else {
            (change.by[from], change.by[last]) = (true, true);
        }
    }
    change
}

/// Which relations a stem asks for, a bit each.
pub fn about(language: Option<Language>, stem: &str) -> u8 {
    let about = &lists(language).about;
    if language == Some(Language::Japanese) {
        // Its words are cut before or behind what is inflected.
        let starts = about.iter().filter(|(word, _)| stem.starts_with(word.as_str()));
        return starts.fold(0, |all, (_, bit)| all | bit);
    }
    about.get(stem).copied().unwrap_or(0)
}

/// Whether a stem is but how a Japanese word ends: hiragana alone.
pub fn is_ending(stem: &str) -> bool {
    stem.chars().all(is_hiragana)
}

/// Whether a question asks for what was, not for what is.
pub fn asks_before(question: &str, language: Option<Language>) -> bool {
    let words = words_in(question, language);
    let (text, _) = joined(words.iter().map(|word| word.key.as_str()), language == Some(Language::Japanese));
    lists(language).phrases.iter().any(|phrase| phrase.kind == Kind::Before && find(&text, &phrase.keys).is_some())
}

#[cfg(test)]
mod tests;
