//! Entities of server-memory, issues of beads and memories of mem0 as pages.

use serde_json::{Map, Value};

use super::markdown::stamp;
use super::page::{Page, Piece, Role, scalar};
use super::{Found, Unheld};
use crate::model::Stamp;

/// Says that a value is not read.
fn refused(place: &str, what: impl Into<String>) -> Found {
    Found { pages: Vec::new(), unheld: vec![Unheld::new(place, what)] }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn date(value: &Value, key: &str) -> Option<Stamp> {
    match value.get(key)? {
        Value::Number(number) => Stamp::exactly(number.as_i64()?),
        other => stamp(other.as_str()?),
    }
}

/// Fields that no reader knows and that have a value.
fn unknown(value: &Value, known: &[&str], place: &str, unheld: &mut Vec<Unheld>) {
    let said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) => true,
    };
    let fields = value.as_object().into_iter().flatten();
    let names: Vec<String> = fields
        .filter(|(key, value)| !known.contains(&key.as_str()) && said(value))
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    if !names.is_empty() {
        unheld.push(Unheld::new(
            place,
            format!("{} {}", if names.len() == 1 { "field" } else { "fields" }, names.join(", ")),
        ));
    }
}

/// A line of a server-memory file: an entity or a relation. In a document, the list says which.
pub fn server_memory(list: &str, value: &Value, place: &str) -> Found {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or(match list {
        "entities" => "entity",
        "relations" => "relation",
        _ => "",
    });
    match kind {
        "entity" => entity(value, place),
        "relation" => relation(value, place),
        _ => refused(place, "is neither an entity nor a relation"),
    }
}

fn entity(value: &Value, place: &str) -> Found {
    let Some(name) = text(value, "name") else { return refused(place, "an entity without a name") };
    let mut found = Found::default();
    let mut pieces = Vec::new();
    match value.get("entityType") {
        Some(Value::String(kind)) => pieces.push(Piece::new(Role::Properties, format!("type: {}", scalar(kind)))),
        None | Some(Value::Null) => pieces.push(Piece::new(Role::Properties, "")),
        Some(_) => return refused(place, "`entityType` is no text"),
    }
    let none = Vec::new();
    for (at, observation) in value.get("observations").and_then(Value::as_array).unwrap_or(&none).iter().enumerate() {
        match observation.as_str() {
            Some(said) => pieces.push(Piece::new(Role::Observation, said)),
            None => found.unheld.push(Unheld::new(place, format!("observation {} is no text", at + 1))),
        }
    }
    if value.get("observations").is_some_and(|list| !list.is_array()) {
        found.unheld.push(Unheld::new(place, "`observations` is no list"));
    }
    unknown(value, &["type", "name", "entityType", "observations"], place, &mut found.unheld);
    found.pages.push(Page { name: name.to_owned(), title: name.to_owned(), pieces, at: None });
    found
}

fn relation(value: &Value, place: &str) -> Found {
    let (Some(from), Some(to), Some(kind)) = (text(value, "from"), text(value, "to"), text(value, "relationType"))
    else {
        return refused(place, "a relation without `from`, `to` or `relationType`");
    };
    let piece = Piece::new(Role::Relation, format!("{kind} [[{to}]]"));
    if piece.relation() != Some((kind, to)) {
        return refused(place, "a relation with brackets or a new line in its type or target");
    }
    let mut found = Found::default();
    unknown(value, &["type", "from", "to", "relationType"], place, &mut found.unheld);
    found.pages.push(Page { name: from.to_owned(), title: from.to_owned(), pieces: vec![piece], at: None });
    found
}

/// Fields of an issue of beads that are properties, as words.
const BEADS_WORDS: [&str; 11] = [
    "status",
    "issue_type",
    "assignee",
    "owner",
    "created_by",
    "external_ref",
    "close_reason",
    "created_at",
    "updated_at",
    "closed_at",
    "due_at",
];
/// The same, as numbers.
const BEADS_NUMBERS: [&str; 2] = ["priority", "estimated_minutes"];
/// The fields that are read otherwise, or that beads derives.
const BEADS_OTHERS: [&str; 13] = [
    "id",
    "title",
    "labels",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "comments",
    "dependencies",
    "content_hash",
    "dependency_count",
    "dependent_count",
    "comment_count",
];

/// An issue of beads.
pub fn beads(_: &str, value: &Value, place: &str) -> Found {
    let (Some(id), Some(title)) = (text(value, "id"), text(value, "title")) else {
        return refused(place, "an issue without `id` or `title`");
    };
    if text(value, "status") == Some("tombstone") || text(value, "deleted_at").is_some() {
        return refused(place, format!("{id} was deleted"));
    }
    let mut found = Found::default();
    let mut properties = vec![format!("title: {}", scalar(title))];
    for key in BEADS_WORDS {
        properties.extend(text(value, key).map(|said| format!("{key}: {}", scalar(said))));
    }
    for key in BEADS_NUMBERS {
        properties.extend(value.get(key).filter(|number| number.is_number()).map(|number| format!("{key}: {number}")));
    }
    let labels: Vec<&str> =
        value.get("labels").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if !labels.is_empty() {
        properties.push(format!("tags: [{}]", labels.join(", ")));
    }
    let mut pieces = vec![Piece::new(Role::Properties, properties.join("\n"))];
    for (key, heading) in [
        ("description", None),
        ("design", Some("Design")),
        ("acceptance_criteria", Some("Acceptance criteria")),
        ("notes", Some("Notes")),
    ] {
        if let Some(said) = text(value, key) {
            let heading = heading.map_or(String::new(), |heading| format!("## {heading}\n\n"));
            let page = super::markdown::read(id, &format!("{heading}{said}"), false);
            // A text that begins as front matter does is a text.
            let is_text = page.pieces.iter().all(|piece| piece.role == Role::Paragraph);
            if is_text { pieces.extend(page.pieces) } else { pieces.push(Piece::new(Role::Paragraph, heading + said)) }
        }
    }
    for comment in value.get("comments").and_then(Value::as_array).into_iter().flatten() {
        if let Some(said) = text(comment, "text") {
            let author = text(comment, "author").unwrap_or("an unknown author");
            let at = date(comment, "created_at");
            let day = at.map_or(String::new(), |at| format!(", {at}"));
            pieces.push(Piece { role: Role::Paragraph, text: format!("Comment of {author}{day}:\n\n{said}"), at });
        }
    }
    for other in value.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        let target = text(other, "depends_on_id");
        match target
            .map(|to| Piece::new(Role::Relation, format!("{} [[{to}]]", text(other, "type").unwrap_or("blocks"))))
        {
            Some(piece) if piece.relation().is_some() => pieces.push(piece),
            _ => found.unheld.push(Unheld::new(place, format!("a dependency of {id} without a target"))),
        }
    }
    unknown(value, &[&BEADS_WORDS[..], &BEADS_NUMBERS, &BEADS_OTHERS].concat(), place, &mut found.unheld);
    let at = date(value, "updated_at").or_else(|| date(value, "created_at"));
    found.pages.push(Page { name: id.to_owned(), title: format!("{id} {title}"), pieces, at });
    found
}

/// A memory of mem0, or a relation of its graph.
pub fn mem0(list: &str, value: &Value, place: &str) -> Found {
    if list == "relations" || has_all(value, &["source", "relationship"]) {
        return graph_relation(value, place);
    }
    let Some(said) = text(value, "memory").or_else(|| text(value, "text")).or_else(|| text(value, "data")) else {
        return refused(place, "a memory without a text in `memory`");
    };
    let mut found = Found::default();
    let whose =
        ["user_id", "agent_id", "run_id", "app_id"].into_iter().find_map(|key| text(value, key)).unwrap_or("mem0");
    let mut marks = Vec::new();
    let categories: Vec<&str> =
        value.get("categories").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    marks.extend(categories.iter().map(|category| format!("#{}", category.replace(' ', "-"))));
    let marked = ["agent_id", "run_id", "app_id", "actor_id", "role", "expiration_date"];
    let marked = marked.into_iter().filter_map(|key| Some((key, text(value, key)?)));
    let says_more =
        |(key, said): &(&str, &str)| *said != whose && !(*key == "role" && *said == "user") && !said.contains('\n');
    marks.extend(marked.filter(says_more).map(|(key, said)| format!("({key}: {said})")));
    for (key, field) in value.get("metadata").and_then(Value::as_object).unwrap_or(&Map::new()) {
        let field = field.as_str().map_or_else(|| field.to_string(), str::to_owned);
        if field.contains('\n') {
            found.unheld.push(Unheld::new(place, format!("metadata `{key}` with more than one line")));
        } else if !field.is_empty() {
            marks.push(format!("({key}: {field})"));
        }
    }
    let said = if marks.is_empty() { said.to_owned() } else { format!("{said}\n{}", marks.join(" ")) };
    const KNOWN: [&str; 19] = [
        "id",
        "memory",
        "text",
        "data",
        "hash",
        "user_id",
        "agent_id",
        "run_id",
        "app_id",
        "actor_id",
        "role",
        "expiration_date",
        "metadata",
        "categories",
        "created_at",
        "updated_at",
        "score",
        "structured_attributes",
        "type",
    ];
    unknown(value, &KNOWN, place, &mut found.unheld);
    let at = date(value, "created_at").or_else(|| date(value, "updated_at"));
    let piece = Piece { role: Role::Observation, text: said, at };
    found.pages.push(Page { name: whose.to_owned(), title: whose.to_owned(), pieces: vec![piece], at });
    found
}

fn has_all(value: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.get(key).is_some())
}

fn graph_relation(value: &Value, place: &str) -> Found {
    let to = text(value, "target").or_else(|| text(value, "destination"));
    let kind = text(value, "relationship").or_else(|| text(value, "relation"));
    let (Some(from), Some(to), Some(kind)) = (text(value, "source"), to, kind) else {
        return refused(place, "a relation without `source`, `relationship` or `target`");
    };
    let piece = Piece::new(Role::Relation, format!("{kind} [[{to}]]"));
    if piece.relation() != Some((kind, to)) {
        return refused(place, "a relation with brackets or a new line in its type or target");
    }
    Found {
        pages: vec![Page { name: from.to_owned(), title: from.to_owned(), pieces: vec![piece], at: None }],
        unheld: Vec::new(),
    }
}
