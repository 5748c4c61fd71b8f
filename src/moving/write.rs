//! Pages as the file of server-memory.

use serde_json::json;

use super::page::{Page, Piece, Role};
use crate::text::wiki;

/// The type of an entity that no page tells.
const UNKNOWN: &str = "memory";

/// What a page is called as an entity: as links call it.
pub fn entity_name(page: &Page) -> &str {
    if page.title.starts_with(&page.name) { &page.name } else { &page.title }
}

/// The lines of a page: its entity, if it says more than relations, and its relations.
pub fn entity(page: &Page, name: &str) -> (Option<String>, Vec<String>) {
    let (mut kind, mut observations) = (None, Vec::new());
    let mut relations: Vec<(String, String)> = Vec::new();
    let mut is_thing = false;
    for piece in &page.pieces {
        match (piece.role, piece.relation()) {
            (Role::Relation | Role::Line | Role::Paragraph, Some((kind, to))) => {
                is_thing |= piece.role != Role::Relation;
                relations.push((kind.to_owned(), to.to_owned()));
                // A context in brackets has no other place.
                if !piece.text.ends_with("]]") {
                    observations.push(said(piece).to_owned());
                }
            }
            (Role::Properties, _) => {
                is_thing = true;
                // Of an entity without a type there is an empty block, or an empty type.
                let is_said = piece.text.is_empty() || piece.text.lines().any(|line| line.starts_with("type:"));
                let said = || wiki::property(&piece.text, "type").unwrap_or_default();
                kind = kind.or_else(|| is_said.then(said));
                let rest: Vec<&str> =
                    piece.text.lines().filter(|line| !line.starts_with("type:") && !line.is_empty()).collect();
                if !rest.is_empty() {
                    observations.push(rest.join("\n"));
                }
            }
            _ => {
                is_thing = true;
                observations.push(said(piece).to_owned());
                relations.extend(links(piece).map(|to| ("links_to".to_owned(), to)));
            }
        }
    }
    let entity = is_thing.then(|| {
        let kind = kind.unwrap_or_else(|| UNKNOWN.to_owned());
        json!({"type": "entity", "name": name, "entityType": kind, "observations": observations}).to_string()
    });
    let mut seen = std::collections::HashSet::new();
    relations.retain(|relation| seen.insert(relation.clone()));
    let lines = relations
        .iter()
        .map(|(kind, to)| json!({"type": "relation", "from": name, "to": to, "relationType": kind}).to_string());
    (entity, lines.collect())
}

/// The words of a piece, without the mark of a list's line.
fn said(piece: &Piece) -> &str {
    match piece.role {
        Role::Line | Role::Paragraph => piece.item().unwrap_or_else(|| piece.text.trim_matches('\n')),
        _ => &piece.text,
    }
}

/// The pages that a paragraph links to.
fn links(piece: &Piece) -> impl Iterator<Item = String> {
    let found = if matches!(piece.role, Role::Paragraph | Role::Line) {
        wiki::names(&format!("\n{}", piece.text))
    } else {
        Vec::new()
    };
    let text = format!("\n{}", piece.text);
    found.into_iter().filter(move |(at, _)| *at > 1 && text[..*at].ends_with("[[")).map(|(_, name)| name)
}
