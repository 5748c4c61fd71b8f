//! From rows to the arrays of [`super::texts`].
//!
//! The same for all rows of a network and for those that differ from a base: what is counted over all memories (which words
//! are names, how long sessions are) is added to what [`Beneath`] says of the base's other rows. Must not know questions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::beneath::{Beneath, is_usually_small};
use super::finder::Finder;
use super::part::{Part, Placed, place, stems_of};
use super::texts::{NONE, Totals, tag};
use crate::activation::lexicon::LexiconBuf;
use crate::activation::reading::{CAPITAL, CONTENT, Role, Row, SMALL, WORD_SHIFT, Word};
use crate::activation::sections::Writer;
use crate::text::date;

/// Writes the arrays of some rows. `all` is how many nodes a base has rows for; `None` if the rows lie over one.
pub(super) fn assemble(parts: &[Part<'_>], beneath: &Beneath<'_>, all: Option<usize>, writer: &mut Writer) {
    let stems = stems_of(parts);
    let numbers: HashMap<&str, u32> = stems.iter().enumerate().map(|(at, stem)| (*stem, at as u32)).collect();
    let (rows, words) = place(parts, &numbers);
    let mut table = Table { stems, numbers, rows, words, all };
    table.rows.sort_unstable_by_key(|placed| placed.node);

    let capitals = table.capitals(beneath);
    let keys = table.keys(beneath, &capitals);
    let labels = table.labels(beneath);
    table.write_rows(&labels, writer);
    table.write_stems(&capitals, writer);
    table.write_postings(writer);
    table.write_names(&keys, writer);
    let sessions = table.write_sessions(&labels, beneath, writer);
    table.write_speakers(writer);
    let longest = keys.iter().filter(|(_, key)| key.name).map(|(text, _)| text.split(' ').count()).max();
    let mut totals = table.totals(beneath);
    totals.longest = totals.longest.max(longest.unwrap_or(1) as u64);
    totals.longest_title = totals.longest_title.max(table.write_titles(writer) as u64);
    (totals.sessions, totals.session_length) =
        (totals.sessions.wrapping_add(sessions.0 as u64), totals.session_length.wrapping_add(sessions.1 as u64));
    writer.put(tag::TOTALS, &[totals]);
}

/// The keys that mean something else to the base's memories because of these rows: they are a name now and were none, or
/// the other way round, or hide other names now and did not. And whether they are a name now.
pub(super) fn flipped(parts: &[Part<'_>], beneath: &Beneath<'_>) -> Vec<(String, bool)> {
    let stems = stems_of(parts);
    let numbers: HashMap<&str, u32> = stems.iter().enumerate().map(|(at, stem)| (*stem, at as u32)).collect();
    let (rows, words) = place(parts, &numbers);
    let table = Table { stems, numbers, rows, words, all: None };
    let capitals = table.capitals(beneath);
    let keys = table.keys(beneath, &capitals);
    let changed = keys.iter().filter(|(text, key)| key.name != beneath.is_name(text));
    let mut flipped: Vec<(String, bool)> = changed.map(|(text, key)| (text.clone(), key.name)).collect();
    let touched = table.stems.iter().copied().zip(capitals.iter().copied());
    let rest = beneath.stems_of_dirty().filter(|stem| !table.numbers.contains_key(stem));
    for (stem, counts) in touched.chain(rest.map(|stem| (stem, beneath.capitals(stem)))) {
        if is_usually_small(counts) != beneath.was_usually_small(stem) {
            flipped.extend(beneath.names_with(stem).into_iter().map(|name| (name, false)));
        }
    }
    flipped
}

/// A concept's key, or a word that is written as a name.
#[derive(Default)]
struct Key {
    name: bool,
    /// No description such as `city in Iowa`: none of its words is usually written with a small letter.
    proper: bool,
    concepts: Vec<u32>,
}

struct Table<'a> {
    stems: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
    rows: Vec<Placed<'a>>,
    words: Vec<Word>,
    all: Option<usize>,
}

/// Starts of rows and their items, in the making.
struct RowsBuf<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: bytemuck::Pod> RowsBuf<T> {
    fn new() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }

    fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.starts.push(u32::try_from(self.items.len()).expect("invariant: fewer than 2³² words"));
    }

    fn put(&self, starts: u32, items: u32, writer: &mut Writer) {
        writer.put(starts, &self.starts);
        writer.put(items, &self.items);
    }

    /// Rows of these (row, item) pairs, which come ascending by item: a counting sort.
    fn of(rows: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        pairs.iter().for_each(|(row, _)| starts[*row as usize + 1] += 1);
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let mut items = vec![T::zeroed(); pairs.len()];
        for (row, item) in pairs {
            items[next[*row as usize] as usize] = *item;
            next[*row as usize] += 1;
        }
        Self { starts, items }
    }
}

impl<'a> Table<'a> {
    fn words(&self, placed: &Placed<'_>) -> &[Word] {
        &self.words[placed.words.clone()]
    }

    fn of_role(&self, role: Role) -> impl Iterator<Item = &Placed<'a>> {
        self.rows.iter().filter(move |placed| placed.row.role == role)
    }

    fn stem(&self, word: Word) -> &'a str {
        self.stems[(word >> WORD_SHIFT) as usize]
    }

    /// Per stem, how often memories write it with a capital inside a sentence, and with a small letter: everywhere.
    fn capitals(&self, beneath: &Beneath<'_>) -> Vec<[u32; 2]> {
        let mut counts: Vec<[u32; 2]> = self.stems.iter().map(|stem| beneath.capitals(stem)).collect();
        for word in self.of_role(Role::Memory).flat_map(|placed| self.words(placed)) {
            let count = &mut counts[(word >> WORD_SHIFT) as usize];
            count[0] += u32::from(word & CAPITAL != 0);
            count[1] += u32::from(word & SMALL != 0);
        }
        counts
    }

    /// Keys of concepts, and words that are written as names: more often with a capital inside a sentence than without one.
    ///
    /// Over a base also all of its keys that may have changed, or that a row here holds.
    fn keys(&self, beneath: &Beneath<'_>, capitals: &[[u32; 2]]) -> BTreeMap<String, Key> {
        let mut keys: BTreeMap<String, Key> = BTreeMap::new();
        for placed in self.of_role(Role::Concept).filter(|placed| !placed.words.is_empty()) {
            let stems: Vec<&str> = self.words(placed).iter().map(|word| self.stem(*word)).collect();
            keys.entry(stems.join(" ")).or_default().concepts.push(placed.node);
        }
        for (stem, counts) in self.stems.iter().zip(capitals) {
            if is_written_as_name(*counts) || beneath.has_key(stem) {
                keys.entry((*stem).to_owned()).or_default();
            }
        }
        let mut note = |key: String| _ = keys.entry(key).or_default();
        let rest = |key: &String| beneath.has_key(key) || is_written_as_name(beneath.capitals(key));
        let dirty = beneath.keys_of_dirty().filter(|key| !self.numbers.contains_key(key.as_str()));
        dirty.filter(rest).for_each(&mut note);
        if beneath.has_base() {
            for placed in self.of_role(Role::Memory) {
                let stems: Vec<&str> = self.words(placed).iter().map(|word| self.stem(*word)).collect();
                beneath.names_in(&stems).into_iter().for_each(&mut note);
            }
        }
        for (text, key) in &mut keys {
            key.name = !date::is_date(text)
                && match self.numbers.get(text.as_str()) {
                    Some(stem) => is_written_as_name(capitals[*stem as usize]),
                    None if text.contains(' ') => !key.concepts.is_empty() || beneath.has_concepts(text),
                    None => is_written_as_name(beneath.capitals(text)),
                };
            let counts =
                |stem| self.numbers.get(stem).map_or_else(|| beneath.capitals(stem), |at| capitals[*at as usize]);
            key.proper = !text.split(' ').any(|stem| is_usually_small(counts(stem)));
        }
        keys
    }

    /// The rows as they are written: of a base one for each node, else those that there are.
    fn slots(&self) -> impl Iterator<Item = Option<&Placed<'a>>> {
        let mut rows = self.rows.iter().peekable();
        let dense = self.all.is_some();
        (0..self.all.unwrap_or(self.rows.len()))
            .map(move |at| if dense { rows.next_if(|placed| placed.node as usize == at) } else { rows.next() })
    }

    fn write_rows(&self, labels: &[&str], writer: &mut Writer) {
        let number = |label: &str| labels.binary_search(&label).map_or(NONE, |at| at as u32);
        let (mut words, mut periods) = (RowsBuf::new(), RowsBuf::new());
        let (mut roles, mut created, mut languages) = (Vec::new(), Vec::new(), Vec::new());
        let (mut speakers, mut sessions, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut titles, mut texts, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        let mut origins = Vec::new();
        for placed in self.slots() {
            let (row, of_all) = placed.map_or((Row::NONE, &[][..]), |placed| (placed.row, self.words(placed)));
            roles.push(row.role as u8);
            created.push(row.created);
            languages.push(row.language);
            origins.push(row.origins);
            speakers.push(row.speaker);
            texts.push(row.text);
            documents.push(row.document);
            titles.push(row.title);
            sessions.push(if row.session.is_empty() { NONE } else { number(row.session) });
            lengths.push(of_all.iter().filter(|word| **word & CONTENT != 0).count() as u32);
            words.push(of_all.iter().copied());
            periods.push(row.periods.iter().copied());
        }
        let nodes: Vec<u32> = self.rows.iter().map(|placed| placed.node).collect();
        writer.put(tag::NODES, if self.all.is_none() { &nodes[..] } else { &[] });
        writer.put(tag::ROLES, &roles);
        writer.put(tag::CREATED, &created);
        writer.put(tag::LANGUAGES, &languages);
        writer.put(tag::ORIGINS, &origins);
        writer.put(tag::SPEAKERS, &speakers);
        writer.put(tag::TEXTS, &texts);
        writer.put(tag::DOCUMENTS, &documents);
        writer.put(tag::TITLES, &titles);
        writer.put(tag::SESSIONS, &sessions);
        writer.put(tag::LENGTHS, &lengths);
        words.put(tag::WORD_ROWS, tag::WORDS, writer);
        periods.put(tag::PERIOD_ROWS, tag::PERIODS, writer);
    }

    fn write_stems(&self, capitals: &[[u32; 2]], writer: &mut Writer) {
        let stems = LexiconBuf::of(self.stems.iter().copied());
        writer.put(tag::STEM_ENDS, &stems.ends);
        writer.put(tag::STEM_BYTES, &stems.bytes);
        writer.put(tag::CAPITALS, capitals);
    }

    fn write_postings(&self, writer: &mut Writer) {
        let mut stems: Vec<u32> = Vec::new();
        let mut each = |with: &mut dyn FnMut(u32, u32, usize)| {
            for placed in self.of_role(Role::Memory) {
                stems.clear();
                stems.extend(self.words(placed).iter().map(|word| word >> WORD_SHIFT));
                stems.sort_unstable();
                stems.chunk_by(|a, b| a == b).for_each(|same| with(same[0], placed.node, same.len()));
            }
        };
        // A counting sort in two passes: pairs of all words would take several times the room of what is written.
        let mut starts = vec![0_u32; self.stems.len() + 1];
        each(&mut |stem, _, _| starts[stem as usize + 1] += 1);
        (0..self.stems.len()).for_each(|stem| starts[stem + 1] += starts[stem]);
        let all = starts.last().map_or(0, |all| *all as usize);
        let (mut next, mut nodes, mut times) = (starts.clone(), vec![0_u32; all], vec![0_u16; all]);
        each(&mut |stem, node, count| {
            let at = &mut next[stem as usize];
            (nodes[*at as usize], times[*at as usize]) = (node, u16::try_from(count).unwrap_or(u16::MAX));
            *at += 1;
        });
        writer.put(tag::POSTING_ROWS, &starts);
        writer.put(tag::POSTINGS, &nodes);
        writer.put(tag::FREQUENCIES, &times);
        drop((next, nodes, times));

        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for placed in self.rows.iter().filter(|placed| matches!(placed.row.role, Role::Concept | Role::Dated)) {
            stems.clear();
            stems.extend(self.words(placed).iter().map(|word| word >> WORD_SHIFT));
            stems.sort_unstable();
            stems.dedup();
            pairs.extend(stems.iter().map(|stem| (*stem, placed.node)));
        }
        RowsBuf::of(self.stems.len(), &pairs).put(tag::CONCEPT_ROWS, tag::CONCEPTS, writer);
    }

    /// Keys, and which memory holds which name.
    fn write_names(&self, keys: &BTreeMap<String, Key>, writer: &mut Writer) {
        let names = || keys.iter().zip(0_u32..).filter(|((_, key), _)| key.name);
        let finder = Finder::of(names().map(|((text, key), at)| (text.as_str(), at, key.proper)), &self.numbers);
        let named: HashMap<&str, u32> = names().map(|((text, _), at)| (text.as_str(), at)).collect();
        let mut held: Vec<(u32, u32)> = Vec::new();
        let mut of_row = RowsBuf::new();
        for placed in self.slots() {
            let memory = placed.filter(|placed| placed.row.role == Role::Memory);
            let titles = memory.into_iter().flat_map(|placed| self.titles(placed));
            let titled: Vec<u32> = titles.filter_map(|title| named.get(title.as_str()).copied()).collect();
            let mut names = memory.map_or_else(Vec::new, |placed| finder.names_in(self.words(placed)));
            names.extend(titled);
            names.sort_unstable();
            names.dedup();
            held.extend(memory.iter().flat_map(|placed| names.iter().map(|name| (*name, placed.node))));
            of_row.push(names);
        }
        let lexicon = LexiconBuf::of(keys.keys().map(String::as_str));
        writer.put(tag::KEY_ENDS, &lexicon.ends);
        writer.put(tag::KEY_BYTES, &lexicon.bytes);
        writer.put(tag::KEY_NAMES, &keys.values().map(|key| u8::from(key.name)).collect::<Vec<_>>());
        let mut concepts = RowsBuf::new();
        keys.values().for_each(|key| concepts.push(key.concepts.iter().copied()));
        let mut key_of = vec![NONE; self.all.unwrap_or(self.rows.len())];
        for (key, node) in (0_u32..).zip(keys.values()).flat_map(|(at, key)| key.concepts.iter().map(move |n| (at, *n)))
        {
            let slot = match self.all {
                Some(_) => Ok(node as usize),
                None => self.rows.binary_search_by_key(&node, |placed| placed.node),
            };
            slot.into_iter().for_each(|slot| key_of[slot] = key);
        }
        writer.put(tag::KEY_OF, &key_of);
        concepts.put(tag::KEY_CONCEPT_ROWS, tag::KEY_CONCEPTS, writer);
        RowsBuf::of(keys.len(), &held).put(tag::KEY_MEMORY_ROWS, tag::KEY_MEMORIES, writer);
        of_row.put(tag::NAME_ROWS, tag::NAMES, writer);
    }

    /// A memory's title with and without what stands in brackets at its end, by its stems.
    fn titles(&self, placed: &Placed<'_>) -> BTreeSet<String> {
        let lengths = placed.row.title.into_iter().map(usize::from).filter(|length| *length > 0);
        let words = self.words(placed);
        let stems = |length: usize| words[..length.min(words.len())].iter().map(|word| self.stem(*word));
        lengths.map(|length| stems(length).collect::<Vec<_>>().join(" ")).collect()
    }

    /// Which memories have which title. Returns how many words the longest has.
    fn write_titles(&self, writer: &mut Writer) -> usize {
        let mut titles: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for placed in self.of_role(Role::Memory) {
            self.titles(placed).into_iter().for_each(|title| titles.entry(title).or_default().push(placed.node));
        }
        let lexicon = LexiconBuf::of(titles.keys().map(String::as_str));
        let mut titled = RowsBuf::new();
        titles.values().for_each(|nodes| titled.push(nodes.iter().copied()));
        writer.put(tag::TITLE_ENDS, &lexicon.ends);
        writer.put(tag::TITLE_BYTES, &lexicon.bytes);
        titled.put(tag::TITLE_ROWS, tag::TITLED, writer);
        titles.keys().map(|title| title.split(' ').count()).max().unwrap_or(1)
    }

    /// The sessions of these memories and of talk, and those of which the base's rows do not count any more: they may be shorter than the
    /// base has them, or empty.
    fn labels<'b>(&'b self, beneath: &'b Beneath<'_>) -> Vec<&'b str> {
        let turns = self.of_role(Role::Memory).chain(self.of_role(Role::Talk));
        let labels = turns.map(|placed| placed.row.session).filter(|label| !label.is_empty());
        let labels: BTreeSet<&str> = labels.chain(beneath.sessions_of_dirty()).collect();
        labels.into_iter().collect()
    }

    /// Sessions and how long they are everywhere. Returns by how much their number and length differ from what lies beneath.
    fn write_sessions(&self, labels: &[&str], beneath: &Beneath<'_>, writer: &mut Writer) -> (i64, i64) {
        let mut members: Vec<(u32, u32)> = Vec::new();
        let mut totals: Vec<[u64; 2]> = labels.iter().map(|label| beneath.session(label)).collect();
        let mut length = 0;
        for placed in self.of_role(Role::Memory) {
            if let Ok(at) = labels.binary_search(&placed.row.session) {
                let words = self.words(placed).iter().filter(|word| **word & CONTENT != 0).count() as u64;
                members.push((at as u32, placed.node));
                totals[at][0] += words;
                totals[at][1] += 1;
                length += words as i64;
            }
        }
        let came = |(label, total): (&&str, &[u64; 2])| i64::from(total[1] > 0) - i64::from(beneath.had_session(label));
        let number = labels.iter().zip(&totals).map(came).sum();
        let lexicon = LexiconBuf::of(labels.iter().copied());
        writer.put(tag::LABEL_ENDS, &lexicon.ends);
        writer.put(tag::LABEL_BYTES, &lexicon.bytes);
        writer.put(tag::LABEL_TOTALS, &totals);
        RowsBuf::of(labels.len(), &members).put(tag::MEMBER_ROWS, tag::MEMBERS, writer);
        (number, length)
    }

    fn write_speakers(&self, writer: &mut Writer) {
        let mut names: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for placed in self.of_role(Role::Speaker) {
            names.entry(placed.row.name).or_default().push(placed.node);
        }
        let lexicon = LexiconBuf::of(names.keys().copied());
        let mut nodes = RowsBuf::new();
        names.values().for_each(|row| nodes.push(row.iter().copied()));
        writer.put(tag::SPEAKER_ENDS, &lexicon.ends);
        writer.put(tag::SPEAKER_BYTES, &lexicon.bytes);
        nodes.put(tag::SPEAKER_ROWS, tag::SPEAKER_NODES, writer);
    }

    fn totals(&self, beneath: &Beneath<'_>) -> Totals {
        let mut totals = beneath.totals();
        for placed in self.of_role(Role::Memory) {
            totals.memories += 1;
            totals.length += self.words(placed).iter().filter(|word| **word & CONTENT != 0).count() as u64;
            if let Some(count) = usize::from(placed.row.language).checked_sub(1) {
                totals.languages[count] += 1;
            }
        }
        totals
    }
}

/// Whether a word is written as a name: more often with a capital inside a sentence than with a small letter.
pub(super) fn is_written_as_name([capital, small]: [u32; 2]) -> bool {
    capital > small
}
