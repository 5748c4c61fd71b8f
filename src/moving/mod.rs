//! Moving in and out: what other programs remember as pages of memories, and memories as their files.
//!
//! One table, [`FORMATS`], says for each format how it is known, read and written; `import`, `export`, their help and the documentation follow
//! from it. Place in the flow: a file → **moving** → memories, which are fed as any other; and memories → **moving** → a file. Must not know
//! git, folders or the network of neurons.
//!
//! - `page`: pieces of a page as memories, and back; `markdown`: notes as pages, and back
//! - `records`: entities, issues and memories of JSON; `stream`: JSON in lines or in one document, value by value
//! - `again`: what was written and comes in again; `write`: pages as files; `graph`: neurons as GraphML and JSON-LD; `place`: a page's name as a path

mod again;
pub mod graph;
pub mod markdown;
mod page;
pub mod place;
mod records;
pub mod stream;
pub mod write;

pub use again::Written;
pub use page::{Assembly, Page, Piece, Remembered, Role, remembered, stem};

use serde_json::Value;

use crate::client::Client;
use crate::model::Stamp;

/// A memory that comes in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Its text.
    pub text: String,
    /// Its label.
    pub source: Option<String>,
    /// What it belongs to.
    pub session: Option<String>,
    /// When it happened, as far as that tells it from others.
    pub at: Option<Stamp>,
    /// When it happened, where that says nothing about which memory it is.
    pub day: Option<Stamp>,
    /// Which piece of its page it is of, from 0.
    pub piece: usize,
    /// Its place among all that come in.
    pub order: u32,
}

/// Something that cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Unheld {
    /// Where it stands.
    pub place: String,
    /// Which part of it is not held, or why it is not read.
    pub what: String,
}

impl Unheld {
    /// Something at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// What a reader makes of a part of its input.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Pages, or parts of some.
    pub pages: Vec<Page>,
    /// What cannot be held.
    pub unheld: Vec<Unheld>,
}

/// What an input looks like from outside.
#[derive(Clone, Debug, Default)]
pub struct Peek {
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Folders at its top, also hidden ones.
    pub folders: Vec<String>,
    /// Beginnings of its files: of the file itself, or of some in the folder, with their paths there.
    pub heads: Vec<(String, String)>,
}

impl Peek {
    /// Objects that stand on lines of their own in the beginnings.
    fn objects(&self) -> impl Iterator<Item = Value> {
        let lines = self.heads.iter().filter(|(name, _)| !is_note(name)).flat_map(|(_, head)| head.lines().take(32));
        lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object)
    }

    fn has_object(&self, is: impl Fn(&Value) -> bool) -> bool {
        self.objects().any(|object| is(&object))
    }

    /// Whether a beginning is that of a JSON document that goes over several lines and has all these keys.
    fn is_document(&self, keys: &[&str]) -> bool {
        let has = |head: &str, key: &&str| {
            let quoted = format!("\"{key}\"");
            head.match_indices(&quoted).any(|(at, _)| head[at + quoted.len()..].trim_start().starts_with(':'))
        };
        let begins = |head: &str| head.trim_start().starts_with(['{', '[']);
        self.heads.iter().any(|(name, head)| !is_note(name) && begins(head) && keys.iter().all(|key| has(head, key)))
    }

    fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.heads.iter().filter(|(name, _)| is_note(name)).map(|(name, head)| (name.as_str(), head.as_str()))
    }

    /// Whether most notes below a folder have a property in their front matter.
    fn have_property(&self, below: &str, key: &str) -> bool {
        let has = |head: &str| {
            let head = head.replace("\r\n", "\n");
            let lines = markdown::front_matter(&head).0.unwrap_or_default();
            lines.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
        };
        let notes = self.notes().filter(|(name, _)| name.starts_with(below));
        let (with, all) = notes.fold((0, 0), |(with, all), (_, head)| (with + usize::from(has(head)), all + 1));
        with * 2 > all
    }
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// The brain's own document.
    Network,
    /// Triples, one JSON object a line.
    Triples,
    /// JSON values, each with the key of the list that it stands in and its place.
    Values(fn(&str, &Value, &str) -> Found),
    /// Notes of a folder; whether each line of a list is a piece.
    Notes(bool),
    /// Session logs of a coding agent.
    Turns(Client),
}

/// How a format is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The brain's own document.
    Network,
    /// Pages, into one file.
    Entities,
    /// Pages, each a file of a folder.
    Notes,
    /// Neurons, into one file.
    Neurons(graph::Shape),
}

/// A format.
pub struct Format {
    /// The word of the command line, and the detail of the origin.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Whether an input is of it. Formats are asked in the order of the table.
    pub is: fn(&Peek) -> bool,
    /// How it is read.
    pub reader: Option<Reader>,
    /// How it is written.
    pub writer: Option<Writer>,
    /// What both can hold.
    pub holds: &'static str,
    /// What is lost, and where that is listed.
    pub loses: &'static str,
}

/// Whether a file is a note by its name.
fn is_note(name: &str) -> bool {
    name.ends_with(".md") || name.ends_with(".markdown")
}

fn has(value: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.get(key).is_some())
}

fn never(_: &Peek) -> bool {
    false
}

/// All formats.
pub const FORMATS: &[Format] = &[
    Format {
        name: "network",
        title: "a document of git-brain",
        is: |peek| !peek.is_folder && peek.is_document(&["neurons"]),
        reader: Some(Reader::Network),
        writer: Some(Writer::Network),
        holds: "neurons and connections with all numbers",
        loses: "history and stimuli",
    },
    Format {
        name: "triples",
        title: "triples, one JSON object a line",
        is: |peek| !peek.is_folder && peek.has_object(|object| has(object, &["subject", "relation", "object"])),
        reader: Some(Reader::Triples),
        writer: None,
        holds: "concepts and their connections",
        loses: "names of relations, which count as evidence",
    },
    Format {
        name: "server-memory",
        title: "the file of @modelcontextprotocol/server-memory",
        is: |peek| {
            peek.has_object(|object| {
                let kind = object.get("type").and_then(Value::as_str);
                kind == Some("entity") && has(object, &["name"])
                    || kind == Some("relation") && has(object, &["from", "to"])
            }) || peek.is_document(&["entities", "entityType"])
        },
        reader: Some(Reader::Values(records::server_memory)),
        writer: Some(Writer::Entities),
        holds: "entities with type and observations, relations with type",
        loses: "fields that the server does not know: listed",
    },
    Format {
        name: "beads",
        title: "issues of beads (`bd`), JSON Lines",
        is: |peek| {
            peek.has_object(|object| {
                has(object, &["id", "title", "created_at"])
                    && (has(object, &["issue_type"]) || has(object, &["status"]))
            })
        },
        reader: Some(Reader::Values(records::beads)),
        writer: None,
        holds: "texts, comments, dependencies, labels, state and dates of an issue",
        loses: "deleted issues and fields without text: listed",
    },
    Format {
        name: "mem0",
        title: "memories of mem0, as `get_all` returns them",
        is: |peek| peek.has_object(|object| has(object, &["id", "memory"])) || peek.is_document(&["memory", "id"]),
        reader: Some(Reader::Values(records::mem0)),
        writer: None,
        holds: "memories, whose they are, categories, metadata, relations and dates",
        loses: "hashes, scores and vectors",
    },
    Format {
        name: "claude-code",
        title: "session logs of Claude Code",
        is: |peek| {
            peek.has_object(|object| {
                has(object, &["sessionId", "type"]) && (has(object, &["uuid"]) || has(object, &["message"]))
            })
        },
        reader: Some(Reader::Turns(Client::ClaudeCode)),
        writer: None,
        holds: "words of the person, and last words of the agent",
        loses: "small talk, thoughts, calls of tools and their results",
    },
    Format {
        name: "codex",
        title: "session logs of Codex",
        is: |peek| {
            peek.has_object(|object| {
                let kind = object.get("type").and_then(Value::as_str);
                has(object, &["payload"])
                    && matches!(kind, Some("session_meta" | "response_item" | "event_msg" | "turn_context"))
            })
        },
        reader: Some(Reader::Turns(Client::Codex)),
        writer: None,
        holds: "words of the person, and last words of the agent",
        loses: "small talk, thoughts, calls of tools and their results",
    },
    Format {
        name: "letta",
        title: "a memory folder of Letta",
        is: |peek| {
            peek.is_folder
                && peek.folders.iter().any(|name| name == "system")
                && peek.have_property("system/", "description")
        },
        reader: Some(Reader::Notes(false)),
        writer: None,
        holds: "blocks with their front matter",
        loses: "files that are no Markdown: listed",
    },
    Format {
        name: "basic-memory",
        title: "a folder of basic-memory",
        is: |peek| peek.have_property("", "permalink"),
        reader: Some(Reader::Notes(true)),
        writer: None,
        holds: "notes to the byte; each observation and relation is a memory",
        loses: "files that are no Markdown: listed",
    },
    Format {
        name: "obsidian",
        title: "a vault of Obsidian, or any folder of Markdown",
        is: |peek| peek.notes().next().is_some(),
        reader: Some(Reader::Notes(false)),
        writer: None,
        holds: "notes to the byte; links and tags become connections",
        loses: "attachments, canvases and carriage returns: listed",
    },
    Format {
        name: "markdown",
        title: "a folder of Markdown, for Obsidian and basic-memory",
        is: never,
        reader: None,
        writer: Some(Writer::Notes),
        holds: "memories as notes, links, front matter",
        loses: "weights and salience",
    },
    Format {
        name: "graphml",
        title: "GraphML, for programs that draw networks",
        is: never,
        reader: None,
        writer: Some(Writer::Neurons(graph::Shape::GraphMl)),
        holds: "neurons and connections with all numbers",
        loses: "history and stimuli",
    },
    Format {
        name: "json-ld",
        title: "JSON-LD, for programs that read linked data",
        is: never,
        reader: None,
        writer: Some(Writer::Neurons(graph::Shape::JsonLd)),
        holds: "neurons and connections with all numbers",
        loses: "history and stimuli",
    },
];

/// The format of an input; `None`: it looks like none.
pub fn recognised(peek: &Peek) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.reader.is_some() && (format.is)(peek))
}

/// The format of that name.
///
/// # Errors
/// There is none that can be read, or written.
pub fn named(name: &str, is_written: bool) -> Result<&'static Format, String> {
    let fits = |format: &&Format| if is_written { format.writer.is_some() } else { format.reader.is_some() };
    FORMATS.iter().filter(fits).find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().filter(fits).map(|format| format.name).collect();
        format!("{name:?} is none of {}", names.join(", "))
    })
}

/// The lines of `--help` that name the formats.
pub fn help(is_written: bool) -> String {
    let fits = |format: &&Format| if is_written { format.writer.is_some() } else { format.reader.is_some() };
    FORMATS.iter().filter(fits).map(|format| format!("  {:<14} {}\n", format.name, format.title)).collect()
}
