//! A page: what another program remembers about one thing, in pieces, each of which becomes a memory; and back.
//!
//! ```text
//! source    page:NAME#ROLE HASH [~N] [#PART]     NAME is the page's own name, HASH that of the piece
//! session   NAME
//! text      TITLE, a newline, the piece
//! ```
//!
//! Labels follow from the content alone, so the same page makes the same memories on every machine, whatever stands above a piece.

use std::collections::{BTreeMap, HashMap};

use super::{Memory, Unheld};
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::{hash_fields, later_piece};
use crate::model::secret::Secrets;
use crate::text::wiki;

/// Longest name of a page in a label, bytes: behind it stand role, hash, number and part.
const NAME_BYTES: usize = limits::LABEL_BYTES - 32;
/// Longest title above a piece, bytes.
const TITLE_BYTES: usize = 200;
/// Digits of a piece's hash in its label.
const HASH_DIGITS: usize = 8;

/// What a piece is on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A paragraph, with a blank line before it.
    Paragraph,
    /// A line of a list as it is written, directly below the piece before it.
    Line,
    /// A statement about the page's thing.
    Observation,
    /// `TYPE [[TARGET]]`: how the page's thing is related to another.
    Relation,
    /// The lines of the front matter.
    Properties,
}

impl Role {
    const ALL: [Self; 5] = [Self::Paragraph, Self::Line, Self::Observation, Self::Relation, Self::Properties];

    fn sign(self) -> &'static str {
        match self {
            Self::Paragraph => "",
            Self::Line => "+",
            Self::Observation => "-",
            Self::Relation => ">",
            Self::Properties => ":",
        }
    }
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub role: Role,
    /// Its text, without the title.
    pub text: String,
    /// When it was written, if it says so itself.
    pub at: Option<Stamp>,
}

impl Piece {
    /// A piece that says nothing of its time.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), at: None }
    }

    /// The words of a line of a list that is all of the piece but for headings above it.
    pub fn item(&self) -> Option<&str> {
        let is_above = |line: &str| line.trim().is_empty() || line.starts_with('#');
        let above: usize = self.text.split_inclusive('\n').take_while(|line| is_above(line)).map(str::len).sum();
        let line = self.text.get(above..).filter(|rest| !rest.contains('\n'))?;
        line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))
    }

    /// The type and the target of a relation: of a line of a note as basic-memory writes it, with a type of one word or in quotes.
    pub fn relation(&self) -> Option<(&str, &str)> {
        let is_own = self.role == Role::Relation;
        let line = match self.role {
            Role::Relation => self.text.as_str(),
            Role::Line | Role::Paragraph => self.item()?,
            Role::Observation | Role::Properties => return None,
        };
        let (kind, rest) = line.split_once("[[")?;
        let (target, behind) = rest.split_once("]]")?;
        let is_context = behind.starts_with(" (") && behind.ends_with(')');
        let kind = kind.strip_suffix(' ')?;
        let quoted = ['"', '\''].into_iter().find_map(|mark| kind.strip_prefix(mark)?.strip_suffix(mark));
        let kind = if is_own { kind } else { quoted.unwrap_or(kind) };
        let is_plain = !kind.is_empty() && !target.is_empty() && !line.contains('\n');
        let is_word = quoted.is_some() || !kind.contains(char::is_whitespace);
        (is_plain && (is_own && behind.is_empty() || !is_own && is_word && (behind.is_empty() || is_context)))
            .then_some((kind, target))
    }
}

/// A relation as a line of a note: a type of several words stands in quotes.
pub fn relation_line(text: &str) -> String {
    let Some((kind, rest)) = text.split_once(" [[") else { return text.to_owned() };
    let quote = if kind.contains('"') { '\'' } else { '"' };
    match kind.contains(char::is_whitespace) && !kind.contains(quote) {
        true => format!("{quote}{kind}{quote} [[{rest}"),
        false => text.to_owned(),
    }
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// What it is called in its collection; of a file, its path without `.md`.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// When it was written, if it says so.
    pub at: Option<Stamp>,
}

impl Page {
    /// The memories that the page makes. `order` is the number of memories before them, and is moved on. What cannot be held goes to `unheld`,
    /// with `place`; secrets go, and are counted.
    pub fn memories(
        &self,
        place: &str,
        secrets: &Secrets,
        order: &mut u32,
        unheld: &mut Vec<Unheld>,
    ) -> (Vec<Memory>, usize) {
        let mut redacted = 0;
        let mut clean = |text: &str| {
            let found = secrets.redact(text);
            if let std::borrow::Cow::Owned(_) = found {
                redacted += secrets.find(text.as_bytes()).len();
            }
            found.into_owned()
        };
        let (name, title) = (label_name(&clean(&self.name)), title_line(&clean(&self.title)));
        if name != self.name {
            unheld.push(Unheld::new(place, format!("its name: it is remembered as {name}")));
        }
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut made = Vec::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            let text = plain(&clean(&piece.text));
            if text.chars().count() != piece.text.chars().count() && !text.contains("[redacted:") {
                unheld.push(Unheld::new(place, "carriage returns or a mark of byte order"));
            } else if piece.text.chars().any(is_odd) {
                unheld.push(Unheld::new(place, "control characters: a space stands for each"));
            }
            let hash = hash_fields(&[b"piece", piece.role.sign().as_bytes(), text.as_bytes()]);
            let times = seen.entry(hash).or_default();
            *times += 1;
            let again = if *times > 1 { format!("~{times}") } else { String::new() };
            let label = format!("{}{name}#{}{:08x}{again}", wiki::PAGE, piece.role.sign(), hash >> 32);
            for (part, chunk) in chunks(&text, limits::STIMULUS_BYTES - title.len() - 1).into_iter().enumerate() {
                let behind = if part > 0 { format!("#{}", part + 1) } else { String::new() };
                made.push(Memory {
                    text: format!("{title}\n{chunk}"),
                    source: Some(format!("{label}{behind}")),
                    session: Some(name.clone()),
                    day: piece.at.or(self.at),
                    at: None,
                    piece: number,
                    order: *order,
                });
                *order = order.saturating_add(1);
            }
        }
        (made, redacted)
    }
}

/// A memory of a page, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The page's name.
    pub name: String,
    /// What the piece is.
    pub role: Role,
    /// The piece's label, which its parts share.
    pub label: String,
    /// Which part of the piece it is, from 1.
    pub part: u32,
}

/// Which piece of a page a memory is; `None`: it is of no page.
pub fn remembered(source: Option<&str>) -> Option<Remembered> {
    let source = source?;
    let whole = later_piece(source);
    let label = whole.unwrap_or(source);
    let part = whole.map_or(1, |label| source[label.len() + 1..].parse().unwrap_or(1));
    let (name, mark) = label.strip_prefix(wiki::PAGE)?.rsplit_once('#')?;
    let mark = mark.split_once('~').map_or(mark, |(mark, _)| mark);
    let hash = mark.get(mark.len().checked_sub(HASH_DIGITS)?..)?;
    let role = Role::ALL.into_iter().find(|role| role.sign() == &mark[..mark.len() - HASH_DIGITS])?;
    let is_hash = hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| Remembered { name: name.to_owned(), role, label: label.to_owned(), part })
}

/// Puts parts of pieces together again, in the order in which they come.
#[derive(Debug, Default)]
pub struct Assembly {
    pieces: Vec<Held>,
    places: BTreeMap<String, usize>,
}

/// A piece while its page is put together: the texts of its memories.
#[derive(Debug)]
struct Held {
    role: Role,
    texts: Vec<String>,
    is_titled: bool,
    at: Stamp,
}

impl Assembly {
    /// Adds a memory of the page.
    pub fn add(&mut self, of: &Remembered, text: &str, at: Stamp) {
        match self.places.get(&of.label).filter(|_| of.part > 1) {
            Some(place) => self.pieces[*place].texts.push(text.to_owned()),
            None => {
                self.places.insert(of.label.clone(), self.pieces.len());
                self.pieces.push(Held { role: of.role, texts: vec![text.to_owned()], is_titled: true, at });
            }
        }
    }

    /// Adds a memory that was on no page: a paragraph.
    pub fn add_plain(&mut self, text: &str, at: Stamp) {
        self.pieces.push(Held { role: Role::Paragraph, texts: vec![text.to_owned()], is_titled: false, at });
    }

    /// The page. Its title is the first line that most of its memories share: one that was reworded since may have none.
    pub fn finish(self, name: String) -> Page {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for text in self.pieces.iter().filter(|piece| piece.is_titled).flat_map(|piece| &piece.texts) {
            *counts.entry(first_line(text)).or_default() += 1;
        }
        let title = counts.into_iter().max_by_key(|(_, count)| *count).map(|(title, _)| title.to_owned());
        let body = |text: &str| match (text.split_once('\n'), &title) {
            (Some((first, body)), Some(title)) if first == title => body.to_owned(),
            _ => text.to_owned(),
        };
        let piece = |held: &Held| {
            let texts = held.texts.iter().map(|text| if held.is_titled { body(text) } else { text.clone() });
            Piece { role: held.role, text: texts.collect(), at: Some(held.at) }
        };
        let pieces = self.pieces.iter().map(piece).collect();
        let title = title.unwrap_or_else(|| stem(&name).to_owned());
        Page { name, title, pieces, at: None }
    }
}

fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(first, _)| first)
}

/// The last part of a page's name.
pub fn stem(name: &str) -> &str {
    name.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(name)
}

/// A scalar as a line of front matter has it: plain where every reader takes it for the same text, else as a JSON string.
pub fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(char::is_alphabetic)
        && text.trim() == text
        && !text.ends_with(':')
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(char::is_control)
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// The name of a page as labels have it: short enough, on one line.
fn label_name(name: &str) -> String {
    let one_line: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if one_line == name && name.len() <= NAME_BYTES && !name.trim().is_empty() {
        return one_line;
    }
    let hash = format!("{:08x}…", hash_fields(&[b"page", name.as_bytes()]) >> 32);
    let mut from = (one_line.len() + hash.len()).saturating_sub(NAME_BYTES);
    while !one_line.is_char_boundary(from) {
        from += 1;
    }
    hash + &one_line[from..]
}

/// A title as one line.
fn title_line(title: &str) -> String {
    let mut line: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() > TITLE_BYTES {
        let end = (0..=TITLE_BYTES).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        line.truncate(end);
    }
    if line.trim().is_empty() { "untitled".to_owned() } else { line }
}

fn is_odd(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

/// A text without control characters but tab and newline.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().map(|c| if is_odd(c) { ' ' } else { c }).collect()
}

/// Cuts a text that is too long for one memory at ends of lines, sentences or words. Put together, the chunks are the text.
fn chunks(text: &str, most: usize) -> Vec<&str> {
    let mut rest = text;
    let mut found = Vec::new();
    while rest.len() > most || !found.is_empty() && rest.len() > limits::PIECE_BYTES {
        let most = limits::PIECE_BYTES.min(most);
        let reach = (0..=most).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(most);
        let head = &rest[..reach];
        let after = |sign: &str| head.rfind(sign).map(|at| at + sign.len()).filter(|at| *at > most / 3);
        let at = after("\n").or_else(|| after(". ")).or_else(|| after("。")).or_else(|| after(" ")).unwrap_or(reach);
        let (chunk, behind) = rest.split_at(at);
        found.push(chunk);
        rest = behind;
    }
    if !rest.is_empty() || found.is_empty() {
        found.push(rest);
    }
    found
}
