//! Neurons and connections, and the canonical JSON of a neuron's file.
//!
//! Canonical: fixed key order, one field per line, one connection per line, connections sorted by target and type,
//! trailing newline. `encode(decode(x)) == x` for canonical `x`, and `decode(encode(n)) == n`. Optional fields that are
//! unset are not written. A file that a person wrote in another layout, or with fields missing that have a neutral
//! value, is read all the same.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ids::{NeuronId, RunId, StimulusId};
use super::json::{self, JsonError};
use super::{Origin, Stamp, salience};
use crate::limits;

/// A concept with decaying salience and weighted typed connections: one file of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neuron {
    /// The id, also the file's name.
    pub id: NeuronId,
    /// What it stands for, 1 to 4096 bytes; for an episodic neuron, the text.
    pub concept: String,
    /// What kind of neuron it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Salience as stored at `last_salience_update`, 0..=65535. Its value now is [`Neuron::salience_at`].
    #[serde(default)]
    pub salience: u16,
    /// When `salience` was stored.
    #[serde(default)]
    pub last_salience_update: Stamp,
    /// When the neuron was created.
    #[serde(default)]
    pub created_at: Stamp,
    /// When it was last activated; null if never.
    #[serde(default)]
    pub last_activated: Option<Stamp>,
    /// How many activations it has had, saturating.
    #[serde(default)]
    pub activation_count: u32,
    /// The last run that touched it.
    #[serde(default)]
    pub run: Option<RunId>,
    /// Xor of the 64-bit hashes of all runs that changed it, so that equal numbers by different runs differ as files.
    #[serde(default)]
    pub version: Version,
    /// Who gave it its concept and its type.
    #[serde(default)]
    pub named_by: NamedBy,
    /// Where it ultimately comes from.
    #[serde(default)]
    pub origin: Origin,
    /// People only: never pruned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// The run that archived it. In force only while it equals `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<RunId>,
    /// Episodic: the label of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Episodic: the session of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Episodic: the stimulus that it remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<StimulusId>,
    /// Outgoing connections, sorted by target and type, each pair at most once.
    #[serde(default, deserialize_with = "connections")]
    pub connections: Vec<Connection>,
}

/// A weighted typed edge, stored on its source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The neuron it points to.
    pub target: NeuronId,
    /// Strength, 0..=65535. At 0 it is not followed, and sleep removes it.
    pub weight: u16,
    /// What it does.
    #[serde(rename = "type")]
    pub link: Link,
}

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The word used in files and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    format!("{text:?} is none of {}", words.join(", "))
                })
            }
        }
    };
}

word_enum!(
    /// What kind of neuron it is. Source: MagistraAI's technical note, 1.1, and `signal` from 5.3.
    Kind {
        /// Part of the brain's own structure; never pruned.
        Core = "core",
        /// A circumstance: a session, a speaker, a place.
        Contextual = "contextual",
        /// One remembered input.
        Episodic = "episodic",
        /// A word, phrase or idea.
        Semantic = "semantic",
        /// A message kept as a neuron.
        Signal = "signal",
    }
);

word_enum!(
    /// What a connection does in propagation. Source: MagistraAI's technical note, 1.3. The order is the order in files.
    Link {
        /// A feeds the activation of B.
        FeedsInto = "feeds_into",
        /// A changes the context of B and never activates it.
        Influences = "influences",
        /// A lowers B.
        Inhibits = "inhibits",
        /// B can retrieve A: stored on A, followed from B.
        Recalls = "recalls",
        /// A change of A activates B.
        Triggers = "triggers",
    }
);

/// Xor of the 64-bit hashes of runs; sixteen hex digits in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub u64);

impl Version {
    /// Adds a run's hash, or takes it out again.
    #[must_use]
    pub fn toggled(self, run: &RunId) -> Self {
        Self(self.0 ^ run.hash64())
    }

    /// What two versions differ by.
    #[must_use]
    pub fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let value = u64::from_str_radix(&text, 16).ok().filter(|_| hex);
        value.map(Self).ok_or_else(|| serde::de::Error::custom("a version is sixteen hex digits"))
    }
}

impl schemars::JsonSchema for Version {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Version".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9a-f]{16}$"})
    }
}

/// Who gave a neuron its concept and its type; the merge lets the greater name win.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedBy {
    /// For `concept`.
    #[serde(default)]
    pub concept: Name,
    /// For `type`.
    #[serde(default, rename = "type")]
    pub kind: Name,
}

/// Rank and run of a name. Greater is stronger: first by rank, then by run id.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// The greater of the priority of the agent when its run gave the name, and the rank of the name it replaced.
    #[serde(default)]
    pub rank: u32,
    /// The run that gave it; null if the name came with an import or from a person's hand.
    #[serde(default)]
    pub run: Option<RunId>,
}

impl Neuron {
    /// A new neuron with neutral values, created at `at`.
    pub fn new(id: NeuronId, concept: impl Into<String>, kind: Kind, at: Stamp) -> Self {
        Self {
            id,
            concept: concept.into(),
            kind,
            salience: 0,
            last_salience_update: at,
            created_at: at,
            last_activated: None,
            activation_count: 0,
            run: None,
            version: Version::default(),
            named_by: NamedBy::default(),
            origin: Origin::default(),
            pinned: false,
            archived: None,
            source: None,
            session: None,
            stimulus: None,
            connections: Vec::new(),
        }
    }

    /// Salience at `now`, 0..=65535: a pure read.
    pub fn salience_at(&self, now: Stamp) -> u16 {
        salience::salience_at(self.salience, self.last_salience_update, now)
    }

    /// The write rule: decay to the clock, add, saturate, stamp, count. Stamps never run backwards.
    pub fn activate(&mut self, added: u16, clock: Stamp) {
        let now = self.last_salience_update.max(clock);
        self.salience = self.salience_at(now).saturating_add(added);
        self.last_salience_update = now;
        self.last_activated = Some(self.last_activated.map_or(now, |last| last.max(now)));
        self.activation_count = self.activation_count.saturating_add(1);
    }

    /// The connection to `target` of that type, if the file has it.
    pub fn connection(&self, target: &NeuronId, link: Link) -> Option<&Connection> {
        self.position(target, link).ok().map(|i| &self.connections[i])
    }

    /// The weight of a connection; an absent one counts as 0.
    pub fn weight(&self, target: &NeuronId, link: Link) -> u16 {
        self.connection(target, link).map_or(0, |c| c.weight)
    }

    /// Sets a connection's weight, adding the connection in its place if it is absent.
    pub fn set_weight(&mut self, target: &NeuronId, link: Link, weight: u16) {
        match self.position(target, link) {
            Ok(i) => self.connections[i].weight = weight,
            Err(i) => self.connections.insert(i, Connection { target: target.clone(), weight, link }),
        }
    }

    fn position(&self, target: &NeuronId, link: Link) -> Result<usize, usize> {
        self.connections.binary_search_by(|c| (&c.target, c.link).cmp(&(target, link)))
    }

    /// True if the run that last touched it archived it.
    pub fn is_archived(&self) -> bool {
        self.archived.is_some() && self.archived == self.run
    }

    /// The canonical bytes of the neuron's file.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = String::with_capacity(640 + self.connections.len() * 80 + self.concept.len());
        out.push('{');
        let mut first = true;
        let mut field = |key: &str, value: String| {
            out.push_str(if first { "\n  \"" } else { ",\n  \"" });
            out.push_str(key);
            out.push_str("\": ");
            out.push_str(&value);
            first = false;
        };
        let label = |text: &Option<String>| text.as_ref().map(json::inline);
        field("id", json::inline(&self.id));
        field("concept", json::inline(&self.concept));
        field("type", json::inline(&self.kind));
        field("salience", self.salience.to_string());
        field("last_salience_update", json::inline(&self.last_salience_update));
        field("created_at", json::inline(&self.created_at));
        field("last_activated", json::inline(&self.last_activated));
        field("activation_count", self.activation_count.to_string());
        field("run", json::inline(&self.run));
        field("version", json::inline(&self.version));
        field("named_by", json::inline(&self.named_by));
        field("origin", json::inline(&self.origin));
        if self.pinned {
            field("pinned", "true".to_owned());
        }
        if let Some(run) = &self.archived {
            field("archived", json::inline(run));
        }
        if let Some(source) = label(&self.source) {
            field("source", source);
        }
        if let Some(session) = label(&self.session) {
            field("session", session);
        }
        if let Some(stimulus) = &self.stimulus {
            field("stimulus", json::inline(stimulus));
        }
        field("connections", encode_connections(&self.connections));
        out.push_str("\n}\n");
        out.into_bytes()
    }

    /// Reads a neuron's file. `what` names it in errors. Bounds, order and duplicates are checked.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        if bytes.len() > limits::NEURON_BYTES {
            let message = format!("{} bytes, a neuron has at most {}", bytes.len(), limits::NEURON_BYTES);
            return Err(JsonError::at(what, 1, "", message));
        }
        let neuron: Self = json::typed(bytes, what)?;
        json::object(bytes, what)?;
        neuron
            .check_bounds()
            .map_err(|(path, message)| JsonError::at(what, json::line_of_key(bytes, path), path, message))?;
        Ok(neuron)
    }

    fn check_bounds(&self) -> Result<(), (&'static str, String)> {
        check_concept(&self.concept).map_err(|m| ("concept", m))?;
        for (path, label) in [("source", &self.source), ("session", &self.session)] {
            if let Some(label) = label {
                check_label(label).map_err(|m| (path, m))?;
            }
        }
        let pairs = self.connections.windows(2);
        if let Some(pair) = pairs.into_iter().find(|p| (&p[0].target, p[0].link) == (&p[1].target, p[1].link)) {
            let message = format!("two connections {} to {}", pair[0].link, pair[0].target);
            return Err(("connections", message));
        }
        Ok(())
    }
}

fn encode_connections(connections: &[Connection]) -> String {
    if connections.is_empty() {
        return "[]".to_owned();
    }
    use std::fmt::Write;
    let mut out = String::with_capacity(connections.len() * 80);
    for (index, c) in connections.iter().enumerate() {
        out.push_str(if index == 0 { "[\n" } else { ",\n" });
        // As [`json::inline`] has it. A hub has thousands, and an id has nothing that must be escaped.
        let (target, weight, link) = (&c.target, c.weight, c.link);
        write!(out, "    {{\"target\": \"{target}\", \"weight\": {weight}, \"type\": \"{link}\"}}")
            .expect("invariant: a string takes what is written to it");
    }
    out.push_str("\n  ]");
    out
}

/// Reads connections in any order, and sorts them.
fn connections<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Connection>, D::Error> {
    let mut list = Vec::<Connection>::deserialize(deserializer)?;
    list.sort_by(|a, b| (&a.target, a.link).cmp(&(&b.target, b.link)));
    Ok(list)
}

/// A concept has 1 to 4096 bytes, is not blank, and has no control characters but tab and newline.
pub fn check_concept(text: &str) -> Result<(), String> {
    check_text(text, limits::CONCEPT_BYTES, &['\n', '\t'])
}

/// A label has 1 to 256 bytes, is not blank, and has no control characters.
pub fn check_label(text: &str) -> Result<(), String> {
    check_text(text, limits::LABEL_BYTES, &[])
}

fn check_text(text: &str, max: usize, allowed: &[char]) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if text.len() > max {
        return Err(format!("has {} bytes, the limit is {max}", text.len()));
    }
    match text.chars().find(|c| c.is_control() && !allowed.contains(c)) {
        Some(c) => Err(format!("has the control character U+{:04X}", c as u32)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Neuron {
        let at: Stamp = "2026-01-26T14:32:00Z".parse().unwrap();
        let mut n = Neuron::new(NeuronId::parse("tea-1f3c").unwrap(), "tea \"vert\"", Kind::Episodic, at);
        n.activate(45000, at);
        n.run = Some(RunId::parse("20260126t143200123z-abcd2345-memory").unwrap());
        n.version = Version::default().toggled(n.run.as_ref().unwrap());
        n.source = Some("D1:3".into());
        n.session = Some("session_1".into());
        n.set_weight(&NeuronId::parse("b").unwrap(), Link::Recalls, 7);
        n.set_weight(&NeuronId::parse("b").unwrap(), Link::FeedsInto, 50000);
        n.set_weight(&NeuronId::parse("a").unwrap(), Link::Triggers, 1);
        n
    }

    #[test]
    fn canonical_form_is_the_golden_file() {
        let text = String::from_utf8(sample().encode()).unwrap();
        let golden = include_str!("../../tests/golden/neuron.json");
        assert_eq!(text, golden);
        assert_eq!(Neuron::decode(golden.as_bytes(), "golden").unwrap(), sample());
    }

    #[test]
    fn other_layouts_read_as_the_same_neuron() {
        let value: serde_json::Value = serde_json::from_slice(&sample().encode()).unwrap();
        assert_eq!(Neuron::decode(value.to_string().as_bytes(), "x").unwrap(), sample());
        let seed = br#"{"id": "n", "concept": "c", "type": "core", "salience": 45000,
            "last_salience_update": "2026-01-26T14:32:00Z", "connections": []}"#;
        assert_eq!(Neuron::decode(seed, "x").unwrap().salience, 45000);
    }

    #[test]
    fn wrong_files_are_refused_with_line_and_path() {
        let cases = [
            ("{\"id\": \"a\",\n\"concept\": \"c\",\n\"type\": \"core\", \"speed\": 1}", 3, "speed"),
            ("{\"id\": \"a\", \"concept\": \"c\", \"type\": \"core\",\n\"salience\": 70000}", 2, "salience"),
            ("{\"id\": \"a\", \"id\": \"a\", \"concept\": \"c\", \"type\": \"core\"}", 1, "duplicate"),
            ("{\"id\": \"A\", \"concept\": \"c\", \"type\": \"core\"}", 1, "id"),
            ("{\"id\": \"a\",\n\"concept\": \" \", \"type\": \"core\"}", 2, "concept"),
            (
                "{\"id\": \"a\", \"concept\": \"c\", \"type\": \"core\", \"connections\": [\n{\"target\": \"b\", \"weight\": 1, \"type\": \"feeds_into\"}, {\"target\": \"b\", \"weight\": 2, \"type\": \"feeds_into\"}]}",
                1,
                "two connections",
            ),
        ];
        for (text, line, part) in cases {
            let error = Neuron::decode(text.as_bytes(), "x.json").unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn activation_decays_adds_saturates_and_never_turns_back() {
        let mut n = sample();
        let later = Stamp::from_unix(n.last_salience_update.unix() + 24 * 3600);
        n.activate(1000, later);
        assert_eq!((n.salience, n.activation_count), (35355 + 1000, 2));
        n.activate(65535, Stamp::from_unix(0));
        assert_eq!((n.salience, n.last_salience_update, n.last_activated), (65535, later, Some(later)));
    }

    #[test]
    fn an_archive_holds_until_the_next_touch() {
        let mut n = sample();
        n.archived = n.run.clone();
        assert!(n.is_archived());
        n.run = Some(RunId::parse("20260127t143200123z-abcd2345-memory").unwrap());
        assert!(!n.is_archived());
    }
}
