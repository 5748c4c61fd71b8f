//! The person of this machine, and whose a memory is. Place in the flow: memories → **person** → what a session starts with, what a prompt is shown, and
//! what a correction may replace. Must not read or write a network.

use super::Brain;
use crate::client::Client;
use crate::model::ids::hash_fields;
use crate::model::origin::is_person;
use crate::model::{Level, Neuron, Origin};
use crate::store::{Store, is_unnamed};
use crate::text::talk::is_said_in;
use crate::world::random_id;

/// The class of origins of what hooks keep.
pub(super) const CLASS: &str = "hook";
/// Letters of a person's address in the origin of her sessions.
const NAME_CHARS: usize = 16;
/// Digits of a hash behind a name.
const HASH_CHARS: usize = 4;
/// The document of a clone that names a person who has told git no address.
const UNNAMED: &str = "person";

/// The person who works with a client here.
pub(super) struct Person {
    /// The origin of her sessions with that client.
    pub sessions: Origin,
    /// Her name in origins and labels.
    name: String,
}

impl Brain {
    /// Whether a memory may be shown to a client that has not asked for it: what another client's session said, what another person's agent
    /// remembered, and what programs fed, is shown where its origin is trusted, or a person approved it.
    pub(super) fn may_show(&self, origin: &Origin, source: Option<&str>, own: &Person) -> bool {
        let has = |classes: &[&str]| origin.classes().any(|class| classes.contains(&class));
        let is_of_another = has(&[CLASS]) && !origin.is_of(&own.sessions)
            || has(&["mcp"]) && source.is_none_or(|source| source != own.name)
            || has(&["http"]);
        !is_of_another || self.cycle.shared.policy.settings.origins.level(origin) == Level::Trusted
    }

    /// A name for the person of this machine.
    pub(super) fn person_here(&self) -> String {
        person_of(&self.cycle.store)
    }

    /// The person of this machine, at a client.
    pub(super) fn person_at(&self, client: Client) -> Person {
        Person { sessions: self.sessions_of(client), name: self.person_here() }
    }
}

/// A name for the person of a clone, by the address that git has: letters of it, and a hash. Whoever has told git none is another one in each clone: many
/// have none, and are not one person.
pub(super) fn person_of(store: &Store) -> String {
    let (_, address) = store.user();
    if is_unnamed(&address) {
        let known = || store.cached_document::<String>(UNNAMED).filter(|name| is_person(name));
        if known().is_none() {
            let number = random_id("").unwrap_or_default();
            store.keep_document(UNNAMED, &format!("unnamed-{}", number.get(..HASH_CHARS).unwrap_or("0000")));
        }
        return known().unwrap_or_else(|| "unnamed-0000".to_owned());
    }
    let name = address.split('@').next().unwrap_or_default().to_ascii_lowercase();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).take(NAME_CHARS).collect();
    let hash = hash_fields(&[address.to_ascii_lowercase().as_bytes()]) >> 48;
    format!("{name}-{hash:04x}")
}

impl Person {
    /// Whether she said that in a session with the client, or a program of hers was told to remember it.
    pub fn said(&self, neuron: &Neuron) -> bool {
        let (origin, source) = (&neuron.origin, neuron.source.as_deref());
        is_said_in(&self.sessions, origin, source)
            || origin.is_remembered(source) && origin.person(source) == Some(&self.name)
    }
}

/// Whether a program says it, and would take the place of what another person, or a program of hers, said.
pub(super) fn is_of_another(new: (&Origin, Option<&str>), old: (&Origin, Option<&str>)) -> bool {
    let is_of_program = new.0.classes().any(|class| PROGRAMS.contains(&class));
    let person = old.0.person(old.1);
    is_of_program && person.is_some() && new.0.person(new.1) != person
}

/// Classes of origins of coding agents and other programs.
pub(super) const PROGRAMS: [&str; 3] = ["hook", "mcp", "http"];
