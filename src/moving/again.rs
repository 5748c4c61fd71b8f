//! Pages that a brain wrote and reads again: nothing in them is new. Place in the flow: the brain's pages → **again** ← a page that comes in.

use std::collections::{HashMap, HashSet};

use super::page::{Page, Piece, Role};
use super::{markdown, records, write};
use crate::model::ids::hash_fields;

/// Pieces of a brain's pages as they read once they were written in any format. Holds 16 bytes of each.
#[derive(Debug, Default)]
pub struct Written {
    /// By page, text and how often it stands there.
    pieces: HashSet<u64>,
    /// By text alone.
    texts: HashSet<u64>,
}

impl Written {
    /// Adds a page, its path as a note, and the names that its memories are connected with.
    pub fn add(&mut self, page: &Page, path: &str, concepts: &[String]) {
        let note = markdown::exported(page, path, concepts);
        for by_line in [false, true] {
            self.see(&markdown::read(path.strip_suffix(".md").unwrap_or(path), &note, by_line));
        }
        // Of two pages of one title the second is called by its path.
        for name in [write::entity_name(page), &page.name] {
            let (entity, relations) = write::entity(page, name);
            for line in entity.iter().chain(&relations) {
                let value = serde_json::from_str(line).unwrap_or_default();
                records::server_memory("", &value, "").pages.iter().for_each(|page| self.see(page));
            }
        }
    }

    fn see(&mut self, page: &Page) {
        self.pieces.extend(keys(&page.name, page));
        self.texts.extend(page.pieces.iter().map(text_key));
    }

    /// Of each piece of a page that comes in, whether the brain has it. A piece that stands there twice is had once and once more.
    pub fn known(&self, page: &Page) -> Vec<bool> {
        let mut known: Vec<bool> = keys(&page.name, page).map(|key| self.pieces.contains(&key)).collect();
        if !known.contains(&true) && page.pieces.iter().any(has_concepts) {
            // A note that `export` made, and that was called otherwise or moved since.
            known = page.pieces.iter().map(|piece| self.texts.contains(&text_key(piece))).collect();
        }
        if known.contains(&true) {
            // Its names may be others by now.
            page.pieces.iter().zip(&mut known).for_each(|(piece, known)| *known |= is_made_by_export(piece));
        }
        known
    }
}

/// Whether a piece is front matter that only `export` makes.
fn is_made_by_export(piece: &Piece) -> bool {
    let is_made = |line: &str| ["title:", "page:", "concepts:", "  - \"[["].iter().any(|start| line.starts_with(start));
    piece.role == Role::Properties && piece.text.contains("concepts:") && piece.text.lines().all(is_made)
}

/// Whether a piece is front matter with the links that `export` makes of names.
fn has_concepts(piece: &Piece) -> bool {
    piece.role == Role::Properties && piece.text.contains("concepts:\n  - \"[[")
}

fn text_key(piece: &Piece) -> u64 {
    hash_fields(&[piece.text.as_bytes()])
}

/// Keys that tell the pieces of a page from others, and from those of the same text above them.
fn keys<'p>(name: &'p str, page: &'p Page) -> impl Iterator<Item = u64> + 'p {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    page.pieces.iter().map(move |piece| {
        let times = seen.entry(&piece.text).or_default();
        *times += 1;
        hash_fields(&[name.as_bytes(), piece.text.as_bytes(), &times.to_be_bytes()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, texts: &[&str]) -> Page {
        let pieces = texts.iter().map(|text| Piece::new(Role::Paragraph, *text)).collect();
        Page { name: name.to_owned(), title: super::super::page::stem(name).to_owned(), pieces, at: None }
    }

    #[test]
    fn a_page_as_it_was_written_brings_nothing_and_a_changed_one_what_changed() {
        let mut written = Written::default();
        // Few words stay with what follows, and a blank line cuts a text: what comes back is cut otherwise.
        let own = page("Days/2026-01-26", &["Two words", "The pump needs 3 bar.\n\nSo says [[Anna]].", "Tea at four."]);
        written.add(&own, "Days/2026-01-26.md", &["pump".to_owned()]);
        let note = markdown::exported(&own, "Days/2026-01-26.md", &["pump".to_owned()]);
        let back = markdown::read(&own.name, &note, false);
        assert_eq!(back.pieces.len(), 4);
        assert_eq!(written.known(&back), [true; 4]);
        let note = note.replace("four", "five").replace("[[pump]]", "[[bar]]");
        assert_eq!(written.known(&markdown::read(&own.name, &note, false)), [true, true, true, false]);
        assert_eq!(written.known(&page("Days/2026-01-27", &["Tea at four."])), [false]);
        let moved = markdown::read("Old/My day", &note, false);
        assert_eq!(written.known(&moved), [true, true, true, false], "it was called otherwise");
        assert_eq!(written.known(&page(&own.name, &["Tea at four.", "Tea at four."])), [true, false], "once more");
    }

    #[test]
    fn entities_and_relations_that_were_written_bring_nothing() {
        let mut written = Written::default();
        let own = page("shift", &["The pump needs 3 bar.\nSo says [[Anna]]."]);
        written.add(&own, "shift.md", &[]);
        let (entity, relations) = write::entity(&own, "shift");
        assert_eq!((entity.is_some(), relations.len()), (true, 1));
        for line in entity.iter().chain(&relations) {
            for page in records::server_memory("", &serde_json::from_str(line).unwrap(), "").pages {
                assert!(!written.known(&page).contains(&false), "{page:?}");
            }
        }
    }
}
