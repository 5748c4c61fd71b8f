//! What recall reads of each neuron's text: words, speaker, session and times, in compact rows.
//!
//! One neuron's row depends on that neuron alone, so that an index of all rows is the same whether they were read at once
//! or run by run. Place in the flow: neurons → **rows** → index. Must not know other neurons, or questions.

use std::collections::HashMap;

use jiff::civil::Date;

use crate::model::ids::{NeuronId, concept_id, later_piece, normalise, speaker_id};
use crate::model::{Kind, Neuron};
use crate::text::date::{self, Period};
use crate::text::{self, Language, Markup};

/// A word of a row: the number of its stem, shifted by [`WORD_SHIFT`], and flags.
pub type Word = u32;
/// By how much a stem's number is shifted in a [`Word`].
pub const WORD_SHIFT: u32 = 6;
/// Not a function word.
pub const CONTENT: u32 = 1;
/// A content word with a capital inside a sentence.
pub const CAPITAL: u32 = 2;
/// A content word that starts with a small letter.
pub const SMALL: u32 = 4;
/// A word of the sentence that says that something changed: see [`text::change`].
pub const CHANGED: u32 = 8;
/// A word of that sentence that says whose something is.
pub const OWNER: u32 = 16;
/// The last word of a text that ends as a question.
pub const ASKS: u32 = 32;

/// What a neuron is to recall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// Nothing: not there any more, archived, or of a kind that is never found by words.
    None = 0,
    /// An episodic neuron, or a statement: what is answered.
    Memory = 1,
    /// A semantic neuron: what memories can share.
    Concept = 2,
    /// The neuron of somebody who speaks.
    Speaker = 3,
    /// A concept that is a date: found by its words, but no name.
    Dated = 4,
    /// What was said in a conversation and is evidence for nothing, such as a question to the brain: no count is of it, and no
    /// answer but that of [`super::recall::talk()`].
    Talk = 5,
}

impl Role {
    /// The role that is stored as `value`.
    pub fn of(value: u8) -> Self {
        [Self::None, Self::Memory, Self::Concept, Self::Speaker, Self::Dated, Self::Talk]
            .into_iter()
            .find(|role| *role as u8 == value)
            .unwrap_or(Self::None)
    }
}

/// First and last day of a period; see [`period`].
pub type Days = [i32; 2];

/// One neuron as recall reads it. Borrowed from a [`Batch`], or from an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// What it is to recall.
    pub role: Role,
    /// Unix seconds of its creation.
    pub created: i64,
    /// 1 + the language's place among [`LANGUAGES`]; 0: cannot be told.
    pub language: u8,
    /// The classes of its origin: see [`crate::model::Origin::class_bits`].
    pub origins: u8,
    /// Of a memory that says who speaks: [`speaker_hash`]; else 0.
    pub speaker: u64,
    /// Of a memory: [`text_hash`] of what was said; else 0.
    pub text: u64,
    /// Of a memory with a label: a hash of it, the same for all pieces of one text; else 0.
    pub document: u32,
    /// The session's label; empty for none.
    pub session: &'a str,
    /// Of a speaker: the words of the name, joined by spaces.
    pub name: &'a str,
    /// How many words the title has, and how many without what stands in brackets at its end; 0 for no title.
    pub title: [u8; 2],
    /// The words in their order; those of a title come first.
    pub words: &'a [Word],
    /// The day on which it happened, and the times that its text names.
    pub periods: &'a [Days],
}

impl Row<'_> {
    /// The row of a neuron that is nothing to recall.
    pub const NONE: Row<'static> = Row {
        role: Role::None,
        created: 0,
        language: 0,
        origins: 0,
        speaker: 0,
        text: 0,
        document: 0,
        session: "",
        name: "",
        title: [0; 2],
        words: &[],
        periods: &[],
    };

    /// Whether two rows are equal, whose words number different stems.
    pub fn says_the_same<'s>(
        &self,
        stem: impl Fn(Word) -> &'s str,
        other: &Row<'_>,
        other_stem: impl Fn(Word) -> &'s str,
    ) -> bool {
        let flags = |word: Word| word & ((1 << WORD_SHIFT) - 1);
        let same =
            |(a, b): (&Word, &Word)| flags(*a) == flags(*b) && stem(a >> WORD_SHIFT) == other_stem(b >> WORD_SHIFT);
        Row { words: &[], ..*self } == Row { words: &[], ..*other }
            && self.words.len() == other.words.len()
            && self.words.iter().zip(other.words).all(same)
    }
}

/// The languages, in the order in which rows number them.
pub const LANGUAGES: [Language; 5] =
    [Language::English, Language::French, Language::Japanese, Language::German, Language::Spanish];

/// Rows of some neurons, with the stems that they number. Several batches can be read side by side.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The neurons, in the order in which they were read.
    pub ids: Vec<NeuronId>,
    stems: Vec<String>,
    numbers: HashMap<String, u32>,
    rows: Vec<Owned>,
    words: Vec<Word>,
    periods: Vec<Days>,
}

#[derive(Clone, Debug)]
struct Owned {
    role: Role,
    created: i64,
    language: u8,
    origins: u8,
    speaker: u64,
    text: u64,
    document: u32,
    session: Option<String>,
    name: String,
    title: [u8; 2],
    words: std::ops::Range<usize>,
    periods: std::ops::Range<usize>,
}

/// Whether a concept is what an agent or a person stated in a sentence: then it is found as memories are. Names and titles that
/// reflexes and imports make of texts are in their normal form, under the id of that form.
pub fn is_statement(neuron: &Neuron) -> bool {
    let (concept, id) = (&neuron.concept, &neuron.id);
    // No name ends so, and a script without case has no other form.
    let is_ended = concept.ends_with(['。', '！']);
    let is_name = || !is_ended && normalise(concept) == *concept && concept_id(concept) == *id;
    neuron.kind == Kind::Semantic && !is_name() && text::states(&neuron.concept)
}

impl Batch {
    /// Reads a neuron; `None` under an id that is not there any more.
    pub fn read(&mut self, id: &NeuronId, neuron: Option<&Neuron>) {
        let (words, periods) = (self.words.len(), self.periods.len());
        let mut row = Owned {
            role: Role::None,
            created: 0,
            language: 0,
            origins: 0,
            speaker: 0,
            text: 0,
            document: 0,
            session: None,
            name: String::new(),
            title: [0; 2],
            words: words..words,
            periods: periods..periods,
        };
        if let Some(neuron) = neuron.filter(|neuron| !neuron.is_archived()) {
            row.created = neuron.created_at.unix();
            row.origins = neuron.origin.class_bits();
            match neuron.kind {
                Kind::Episodic => self.memory(neuron, &mut row),
                _ if is_statement(neuron) => self.memory(neuron, &mut row),
                Kind::Semantic => self.concept(neuron, &mut row),
                Kind::Contextual if neuron.id == speaker_id(&neuron.concept) => {
                    row.role = Role::Speaker;
                    let parts: Vec<String> = text::words(&neuron.concept).into_iter().map(|word| word.key).collect();
                    row.name = parts.join(" ");
                }
                _ => {}
            }
        }
        row.words.end = self.words.len();
        row.periods.end = self.periods.len();
        self.ids.push(id.clone());
        self.rows.push(row);
    }

    fn memory(&mut self, neuron: &Neuron, row: &mut Owned) {
        let speaker = text::speaker(&neuron.concept);
        let evidence = text::talk::evidence(neuron.source.as_deref(), neuron.session.as_deref(), &neuron.concept);
        row.role = if evidence.is_none() { Role::Talk } else { Role::Memory };
        row.speaker = speaker.map_or(0, |(name, _)| speaker_hash(speaker_id(name).as_str()));
        row.text = text_hash(said(&neuron.concept));
        row.document = neuron.source.as_deref().map_or(0, document_hash);
        // Of a message that tells and asks, the words of what it tells.
        let said = said(evidence.as_deref().unwrap_or(&neuron.concept));
        row.session = neuron.session.clone();
        let (language, words) = text::read(said);
        row.language = language.map_or(0, number);
        // A heading in the middle of a text is not what the text is called.
        let is_later = neuron.source.as_deref().is_some_and(|source| later_piece(source).is_some());
        if let Some(title) = text::title(said).filter(|_| !is_later) {
            let start = said.find(title).unwrap_or(0);
            let inside = |form: &str| words.iter().filter(|word| word.start < start + form.len()).count();
            row.title = [title, text::bare_title(title)].map(|form| u8::try_from(inside(form)).unwrap_or(0));
        }
        let markup = Markup::of(said);
        let mut parts = Vec::new();
        let marks = text::change::marks(said, language, &words);
        let last = words.len().checked_sub(1).filter(|_| text::asks(said));
        for (at, word) in words.into_iter().enumerate() {
            parts.extend(text::identifier_parts(&word, language));
            let first = word.surface.chars().next().unwrap_or(' ');
            let capital = !word.is_stop && first.is_uppercase() && markup.is_inside(word.start);
            let small = !word.is_stop && first.is_lowercase();
            let mark = marks.get(at).copied().unwrap_or_default();
            let changed = u32::from(mark.is_inside) * CHANGED + u32::from(mark.is_owner) * OWNER;
            let flags = u32::from(!word.is_stop) * CONTENT + u32::from(capital) * CAPITAL + u32::from(small) * SMALL;
            let asks = u32::from(last == Some(at)) * ASKS;
            self.word(word.stem, flags | changed | asks);
        }
        parts.into_iter().for_each(|part| self.word(part, CONTENT));
        if let Some(day) = date::day_of(neuron.created_at.unix()) {
            self.periods.extend(date::periods(said, day).iter().map(days));
            self.periods.push(days(&Period::day(day)));
        }
    }

    fn concept(&mut self, neuron: &Neuron, row: &mut Owned) {
        let start = self.words.len();
        for word in text::words(&neuron.concept) {
            self.word(word.stem, u32::from(!word.is_stop) * CONTENT);
        }
        let stems: Vec<&str> = self.words[start..].iter().map(|word| self.stem(word >> WORD_SHIFT)).collect();
        let dated = date::is_date(&neuron.concept) || date::is_date(&stems.join(" "));
        row.role = if dated { Role::Dated } else { Role::Concept };
    }

    fn word(&mut self, stem: String, flags: u32) {
        let next = self.stems.len() as u32;
        let number = *self.numbers.entry(stem).or_insert_with_key(|stem| {
            self.stems.push(stem.clone());
            next
        });
        self.words.push(number << WORD_SHIFT | flags);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A row. Its words number this batch's stems.
    pub fn row(&self, at: usize) -> Row<'_> {
        let row = &self.rows[at];
        Row {
            role: row.role,
            created: row.created,
            language: row.language,
            origins: row.origins,
            speaker: row.speaker,
            text: row.text,
            document: row.document,
            session: row.session.as_deref().unwrap_or_default(),
            name: &row.name,
            title: row.title,
            words: &self.words[row.words.clone()],
            periods: &self.periods[row.periods.clone()],
        }
    }

    /// How many stems there are.
    pub fn stems(&self) -> usize {
        self.stems.len()
    }

    /// The stem with that number.
    pub fn stem(&self, number: u32) -> &str {
        &self.stems[number as usize]
    }
}

/// What a row keeps of the speaker whose neuron has that id.
pub fn speaker_hash(id: &str) -> u64 {
    crate::model::ids::hash64(id.as_bytes()).max(1)
}

/// What a memory says, without the name of who says it.
pub fn said(concept: &str) -> &str {
    text::speaker(concept).map_or(concept, |(_, said)| said)
}

/// By what equal texts are known, whoever says them: 64 bits of SHA-256. Never 0.
pub fn text_hash(said: &str) -> u64 {
    crate::model::ids::hash64(said.as_bytes()).max(1)
}

/// By what the pieces of one text are known, whose labels are `LABEL`, `LABEL#2`, `LABEL#3`, …: never 0.
fn document_hash(source: &str) -> u32 {
    let label = later_piece(source).unwrap_or(source);
    (crate::model::ids::hash64(label.as_bytes()) as u32).max(1)
}

/// The number of a language in rows: see [`Row::language`].
pub fn number(language: Language) -> u8 {
    1 + LANGUAGES.iter().position(|known| *known == language).unwrap_or(LANGUAGES.len()) as u8
}

/// The language that a row says.
pub fn language(number: u8) -> Option<Language> {
    LANGUAGES.get(usize::from(number).checked_sub(1)?).copied()
}

fn days(period: &Period) -> Days {
    [day_number(period.first), day_number(period.last)]
}

/// A date in one number that grows with it: year, month, day.
fn day_number(date: Date) -> i32 {
    i32::from(date.year()) << 9 | i32::from(date.month()) << 5 | i32::from(date.day())
}

/// The period that a row keeps as `days`.
pub fn period(days: Days) -> Option<Period> {
    let date = |n: i32| Date::new((n >> 9) as i16, (n >> 5 & 15) as i8, (n & 31) as i8).ok();
    Some(Period { first: date(days[0])?, last: date(days[1])? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Stamp;

    fn read(neuron: &Neuron) -> (Batch, Vec<String>) {
        let mut batch = Batch::default();
        batch.read(&neuron.id, Some(neuron));
        let stems = batch.row(0).words.iter().map(|word| batch.stem(word >> WORD_SHIFT).to_owned()).collect();
        (batch, stems)
    }

    #[test]
    fn a_memory_keeps_words_speaker_session_and_times() {
        let at = Stamp::from_unix(1_684_000_000);
        let mut neuron =
            Neuron::new(NeuronId::parse("e-1").unwrap(), "Anna: We met Olga yesterday.", Kind::Episodic, at);
        neuron.session = Some("s1".to_owned());
        let (batch, stems) = read(&neuron);
        let row = batch.row(0);
        assert_eq!(stems, ["we", "met", "olga", "yesterday"]);
        assert_eq!((row.role, row.session, row.language), (Role::Memory, "s1", 1));
        let flags: Vec<u32> = row.words.iter().map(|word| word & 7).collect();
        assert_eq!(flags, [0, CONTENT | SMALL, CONTENT | CAPITAL, CONTENT | SMALL]);
        assert_eq!(row.speaker, speaker_hash(speaker_id("Anna").as_str()));
        assert_eq!(row.text, text_hash("We met Olga yesterday."), "what is said, without who says it");
        let periods: Vec<String> = row.periods.iter().map(|d| period(*d).unwrap().first.to_string()).collect();
        assert_eq!(periods, ["2023-05-12", "2023-05-13"]);
    }

    #[test]
    fn a_concept_in_a_whole_sentence_is_found_as_memories_are() {
        let role = |id: NeuronId, concept: &str| {
            let neuron = Neuron::new(id, concept, Kind::Semantic, Stamp::from_unix(1_684_000_000));
            read(&neuron).0.row(0).role
        };
        for stated in [
            "Certificates are renewed 20 days before they end.",
            "Die Bestellung wird am Montag verschickt",
            "Les factures Stripe partent chez Benoît",
            "抹茶は宇治から東京へ毎週運ばれます。",
        ] {
            assert_eq!(role(NeuronId::parse("n1").unwrap(), stated), Role::Memory, "{stated}");
        }
        assert_eq!(role(concept_id("抹茶は宇治から運ばれます。"), "抹茶は宇治から運ばれます。"), Role::Memory);
        for name in ["The Lord of the Rings", "rotating the API keys", "抹茶", "a"] {
            assert_eq!(role(NeuronId::parse("n1").unwrap(), name), Role::Concept, "{name}");
        }
        // As a reflex makes one of a heading.
        let heading = "readme for debian package of procps";
        assert_eq!(role(concept_id(heading), heading), Role::Concept);
        assert_eq!(role(NeuronId::parse("n1").unwrap(), heading), Role::Memory);
    }

    #[test]
    fn a_message_that_tells_and_asks_is_read_for_what_it_tells() {
        let at = Stamp::from_unix(1_684_000_000);
        let mut neuron =
            Neuron::new(NeuronId::parse("e-1").unwrap(), "Olga moved. Where is the ladder?", Kind::Episodic, at);
        assert_eq!(read(&neuron).1, ["olga", "move", "where", "is", "the", "ladder"], "fed");
        (neuron.source, neuron.session) = (Some("chat:c1".to_owned()), Some("c1".to_owned()));
        let (batch, stems) = read(&neuron);
        assert_eq!((batch.row(0).role, stems.join(" ")), (Role::Memory, "olga move".to_owned()));
        neuron.concept = "Where is the ladder?".to_owned();
        let (batch, stems) = read(&neuron);
        assert_eq!((batch.row(0).role, batch.row(0).session, stems.len()), (Role::Talk, "c1", 4));
    }

    #[test]
    fn what_is_gone_archived_or_structure_has_no_role() {
        let id = NeuronId::parse("x").unwrap();
        let core = Neuron::new(id.clone(), "x", Kind::Core, Stamp::from_unix(0));
        let mut batch = Batch::default();
        batch.read(&id, None);
        batch.read(&id, Some(&core));
        batch.read(&id, Some(&Neuron::new(speaker_id("Ivo K"), "Ivo K", Kind::Contextual, Stamp::from_unix(0))));
        batch.read(&id, Some(&Neuron::new(id.clone(), "6 January", Kind::Semantic, Stamp::from_unix(0))));
        let roles: Vec<Role> = (0..4).map(|at| batch.row(at).role).collect();
        assert_eq!(roles, [Role::None, Role::None, Role::Speaker, Role::Dated]);
        assert_eq!(batch.row(2).name, "ivo k");
    }
}
