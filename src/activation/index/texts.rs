//! The texts of a network as arrays: forward (node → words, names, times) and inverted (stem, name, session → nodes).
//!
//! A view of a snapshot's sections. A base holds a row for every node; what lies over it holds rows of the nodes that differ, under
//! the same numbers, and everything that is counted over all nodes anew. Must not know how it is made, or questions.

use crate::activation::lexicon::Lexicon;
use crate::activation::reading::{Days, Role, Row, Word};
use crate::activation::sections::{Damaged, Sections};

/// No session.
pub(super) const NONE: u32 = u32::MAX;

/// The sections, by their tags.
pub(super) mod tag {
    pub const NODES: u32 = 100;
    pub const ROLES: u32 = 101;
    pub const CREATED: u32 = 102;
    pub const LANGUAGES: u32 = 103;
    pub const SPEAKERS: u32 = 104;
    pub const SESSIONS: u32 = 105;
    pub const LENGTHS: u32 = 106;
    pub const WORD_ROWS: u32 = 107;
    pub const WORDS: u32 = 108;
    pub const PERIOD_ROWS: u32 = 109;
    pub const PERIODS: u32 = 110;
    pub const STEM_ENDS: u32 = 111;
    pub const STEM_BYTES: u32 = 112;
    pub const CAPITALS: u32 = 113;
    pub const POSTING_ROWS: u32 = 114;
    pub const POSTINGS: u32 = 115;
    pub const FREQUENCIES: u32 = 116;
    pub const CONCEPT_ROWS: u32 = 117;
    pub const CONCEPTS: u32 = 118;
    pub const KEY_ENDS: u32 = 119;
    pub const KEY_BYTES: u32 = 120;
    pub const KEY_NAMES: u32 = 121;
    pub const KEY_CONCEPT_ROWS: u32 = 122;
    pub const KEY_CONCEPTS: u32 = 123;
    pub const KEY_MEMORY_ROWS: u32 = 124;
    pub const KEY_MEMORIES: u32 = 125;
    pub const NAME_ROWS: u32 = 126;
    pub const NAMES: u32 = 127;
    pub const LABEL_ENDS: u32 = 128;
    pub const LABEL_BYTES: u32 = 129;
    pub const LABEL_TOTALS: u32 = 130;
    pub const MEMBER_ROWS: u32 = 131;
    pub const MEMBERS: u32 = 132;
    pub const SPEAKER_ENDS: u32 = 133;
    pub const SPEAKER_BYTES: u32 = 134;
    pub const SPEAKER_ROWS: u32 = 135;
    pub const SPEAKER_NODES: u32 = 136;
    pub const TOTALS: u32 = 137;
    pub const KEY_OF: u32 = 138;
    pub const TITLES: u32 = 139;
    pub const TITLE_ENDS: u32 = 140;
    pub const TITLE_BYTES: u32 = 141;
    pub const TITLE_ROWS: u32 = 142;
    pub const TITLED: u32 = 143;
    pub const TEXTS: u32 = 144;
    pub const DOCUMENTS: u32 = 145;
    pub const ORIGINS: u32 = 146;
}

/// What is counted over all texts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
pub(super) struct Totals {
    /// Memories.
    pub memories: u64,
    /// Content words of all memories.
    pub length: u64,
    /// Memories by language, as [`crate::activation::reading::LANGUAGES`] orders them.
    pub languages: [u64; 5],
    /// Sessions with a memory.
    pub sessions: u64,
    /// Content words of all memories with a session.
    pub session_length: u64,
    /// At least the words of the longest name.
    pub longest: u64,
    /// At least the words of the longest title.
    pub longest_title: u64,
}

/// The arrays. `…_rows` say where the rows of the array after them start and end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'a> {
    /// The nodes of the rows, ascending; empty in a base, whose rows are all nodes.
    pub nodes: &'a [u32],
    roles: &'a [u8],
    created: &'a [i64],
    languages: &'a [u8],
    origins: &'a [u8],
    speakers: &'a [u64],
    texts: &'a [u64],
    documents: &'a [u32],
    sessions: &'a [u32],
    lengths: &'a [u32],
    /// Of each row: see [`Row::title`].
    titles: &'a [[u8; 2]],
    words: Rows<'a, Word>,
    periods: Rows<'a, Days>,
    pub stems: Lexicon<'a>,
    /// Per stem: with a capital inside a sentence, with a small letter.
    pub capitals: &'a [[u32; 2]],
    postings: Rows<'a, u32>,
    frequencies: &'a [u16],
    concepts: Rows<'a, u32>,
    /// Stems of a concept or of a name, joined by spaces.
    pub keys: Lexicon<'a>,
    names_flag: &'a [u8],
    key_of: &'a [u32],
    key_concepts: Rows<'a, u32>,
    key_memories: Rows<'a, u32>,
    names: Rows<'a, u32>,
    /// Stems of titles, joined by spaces.
    pub title_keys: Lexicon<'a>,
    titled: Rows<'a, u32>,
    pub labels: Lexicon<'a>,
    /// Per session: content words, memories.
    pub label_totals: &'a [[u64; 2]],
    members: Rows<'a, u32>,
    pub speaker_names: Lexicon<'a>,
    speaker_nodes: Rows<'a, u32>,
    pub totals: Totals,
}

/// Rows of different lengths in one array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a, T> {
    starts: &'a [u32],
    items: &'a [T],
}

impl<'a, T> Rows<'a, T> {
    /// A row; empty if there is none.
    pub fn row(&self, at: usize) -> &'a [T] {
        self.items.get(self.range(at)).unwrap_or_default()
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }
}

impl<'a> Texts<'a> {
    /// The texts of a snapshot.
    pub fn of(sections: &'a Sections) -> Result<Self, Damaged> {
        let lexicon = |ends, bytes| Ok(Lexicon { ends: sections.array(ends)?, bytes: sections.array(bytes)? });
        let numbers = |starts, items| rows::<u32>(sections, starts, items);
        Ok(Self {
            nodes: sections.array(tag::NODES)?,
            roles: sections.array(tag::ROLES)?,
            created: sections.array(tag::CREATED)?,
            languages: sections.array(tag::LANGUAGES)?,
            origins: sections.array(tag::ORIGINS)?,
            speakers: sections.array(tag::SPEAKERS)?,
            texts: sections.array(tag::TEXTS)?,
            documents: sections.array(tag::DOCUMENTS)?,
            sessions: sections.array(tag::SESSIONS)?,
            lengths: sections.array(tag::LENGTHS)?,
            titles: sections.array(tag::TITLES)?,
            words: numbers(tag::WORD_ROWS, tag::WORDS)?,
            periods: rows(sections, tag::PERIOD_ROWS, tag::PERIODS)?,
            stems: lexicon(tag::STEM_ENDS, tag::STEM_BYTES)?,
            capitals: sections.array(tag::CAPITALS)?,
            postings: numbers(tag::POSTING_ROWS, tag::POSTINGS)?,
            frequencies: sections.array(tag::FREQUENCIES)?,
            concepts: numbers(tag::CONCEPT_ROWS, tag::CONCEPTS)?,
            keys: lexicon(tag::KEY_ENDS, tag::KEY_BYTES)?,
            names_flag: sections.array(tag::KEY_NAMES)?,
            key_of: sections.array(tag::KEY_OF)?,
            key_concepts: numbers(tag::KEY_CONCEPT_ROWS, tag::KEY_CONCEPTS)?,
            key_memories: numbers(tag::KEY_MEMORY_ROWS, tag::KEY_MEMORIES)?,
            names: numbers(tag::NAME_ROWS, tag::NAMES)?,
            title_keys: lexicon(tag::TITLE_ENDS, tag::TITLE_BYTES)?,
            titled: numbers(tag::TITLE_ROWS, tag::TITLED)?,
            labels: lexicon(tag::LABEL_ENDS, tag::LABEL_BYTES)?,
            label_totals: sections.array(tag::LABEL_TOTALS)?,
            members: numbers(tag::MEMBER_ROWS, tag::MEMBERS)?,
            speaker_names: lexicon(tag::SPEAKER_ENDS, tag::SPEAKER_BYTES)?,
            speaker_nodes: numbers(tag::SPEAKER_ROWS, tag::SPEAKER_NODES)?,
            totals: *sections.array::<Totals>(tag::TOTALS)?.first().ok_or(Damaged::Section(tag::TOTALS))?,
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// The row of a node.
    pub fn find(&self, node: u32) -> Option<usize> {
        if self.nodes.is_empty() {
            return ((node as usize) < self.len()).then_some(node as usize);
        }
        self.nodes.binary_search(&node).ok()
    }

    /// The node of a row.
    pub fn node(&self, row: usize) -> u32 {
        self.nodes.get(row).copied().unwrap_or(row as u32)
    }

    pub fn role(&self, row: usize) -> Role {
        self.roles.get(row).map_or(Role::None, |role| Role::of(*role))
    }

    /// True for the row of a memory.
    pub fn is_memory(&self, row: usize) -> bool {
        self.roles.get(row) == Some(&(Role::Memory as u8))
    }

    /// The nodes of all memories, ascending.
    pub fn memories(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.of_role(Role::Memory)
    }

    /// The nodes of a role, ascending.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = u32> + use<'a> {
        let (roles, nodes) = (self.roles, self.nodes);
        let rows = (0..roles.len()).filter(move |row| roles[*row] == role as u8);
        rows.map(move |row| nodes.get(row).copied().unwrap_or(row as u32))
    }

    pub fn created(&self, row: usize) -> i64 {
        self.created.get(row).copied().unwrap_or(0)
    }

    /// See [`Row::origins`].
    pub fn origins(&self, row: usize) -> u8 {
        self.origins.get(row).copied().unwrap_or(0)
    }

    /// See [`Row::language`].
    pub fn language(&self, row: usize) -> u8 {
        self.languages.get(row).copied().unwrap_or(0)
    }

    pub fn speaker(&self, row: usize) -> u64 {
        self.speakers.get(row).copied().unwrap_or(0)
    }

    pub fn text(&self, row: usize) -> u64 {
        self.texts.get(row).copied().unwrap_or(0)
    }

    /// See [`Row::document`].
    pub fn document(&self, row: usize) -> u32 {
        self.documents.get(row).copied().unwrap_or(0)
    }

    /// Content words of a memory.
    pub fn length(&self, row: usize) -> u32 {
        self.lengths.get(row).copied().unwrap_or(0)
    }

    /// The number of a row's session among [`Texts::labels`].
    pub fn session(&self, row: usize) -> Option<usize> {
        self.sessions.get(row).filter(|session| **session != NONE).map(|session| *session as usize)
    }

    /// All that was read of a node. Its words number [`Texts::stems`].
    pub fn row(&self, row: usize) -> Row<'a> {
        let role = self.role(row);
        let name = if role == Role::Speaker { self.speaker_name(self.node(row)) } else { "" };
        Row {
            role,
            created: self.created(row),
            language: self.language(row),
            origins: self.origins(row),
            speaker: self.speaker(row),
            text: self.text(row),
            document: self.document(row),
            session: self.session(row).map_or("", |session| self.labels.get(session)),
            name,
            title: self.titles.get(row).copied().unwrap_or_default(),
            words: self.words.row(row),
            periods: self.periods.row(row),
        }
    }

    /// The stem with that number.
    pub fn stem(&self, number: u32) -> &'a str {
        self.stems.get(number as usize)
    }

    /// Speakers are few: all names are looked through.
    fn speaker_name(&self, node: u32) -> &'a str {
        let named = (0..self.speaker_names.len()).find(|name| self.speaker_nodes.row(*name).contains(&node));
        named.map_or("", |name| self.speaker_names.get(name))
    }

    pub fn words(&self, row: usize) -> &'a [Word] {
        self.words.row(row)
    }

    pub fn periods(&self, row: usize) -> &'a [Days] {
        self.periods.row(row)
    }

    /// Memories with a stem, ascending, and how often each has it.
    pub fn postings(&self, stem: usize) -> (&'a [u32], &'a [u16]) {
        (self.postings.row(stem), self.frequencies.get(self.postings.range(stem)).unwrap_or_default())
    }

    /// Concepts with a stem, ascending.
    pub fn concepts(&self, stem: usize) -> &'a [u32] {
        self.concepts.row(stem)
    }

    /// Whether a key is a name: memories share it.
    pub fn is_name(&self, key: usize) -> bool {
        self.names_flag.get(key).is_some_and(|flag| *flag != 0)
    }

    /// The key of a concept's row; none for what has no words or is a date.
    pub fn key(&self, row: usize) -> Option<usize> {
        self.key_of.get(row).filter(|key| **key != NONE).map(|key| *key as usize)
    }

    /// The concepts of a key, ascending.
    pub fn key_concepts(&self, key: usize) -> &'a [u32] {
        self.key_concepts.row(key)
    }

    /// The memories whose texts hold a name, ascending.
    pub fn key_memories(&self, key: usize) -> &'a [u32] {
        self.key_memories.row(key)
    }

    /// The keys of the names in a row's text.
    pub fn names(&self, row: usize) -> &'a [u32] {
        self.names.row(row)
    }

    /// The memories that have a title, ascending.
    pub fn titled(&self, title: usize) -> &'a [u32] {
        self.titled.row(title)
    }

    /// The memories of a session, ascending.
    pub fn members(&self, session: usize) -> &'a [u32] {
        self.members.row(session)
    }

    /// The neurons of speakers of a name.
    pub fn speakers(&self, name: usize) -> &'a [u32] {
        self.speaker_nodes.row(name)
    }
}

/// The rows of two sections.
pub(super) fn rows<'a, T: bytemuck::Pod>(
    sections: &'a Sections,
    starts: u32,
    items: u32,
) -> Result<Rows<'a, T>, Damaged> {
    Ok(Rows { starts: sections.array(starts)?, items: sections.array(items)? })
}
