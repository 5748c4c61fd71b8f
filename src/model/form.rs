//! The canonical form of a neuron's file, in both formats of a brain.
//!
//! Canonical: fixed key order, one field a line, one neuron a line under `connections`, sorted, trailing newline.
//! `decode(encode(n)) == n`, and `encode(decode(x)) == x` for canonical `x`. A file that a person wrote in another layout is
//! read all the same.
//!
//! Format 2 says nothing twice. What is absent is:
//!
//! | field | absent |
//! |---|---|
//! | `created_at` | 1970 |
//! | `last_salience_update` | `created_at` |
//! | `activation_count` | 0 |
//! | `last_activated` | `last_salience_update` where `activation_count` is above 0, else null: never |
//! | `version` | the hash of `run` alone; 0 without a run |
//! | `named_by` | rank 0, by `run`, for both names |
//! | `origin` | `local` |
//! | `connections` | none |
//!
//! `named_by` is a number where it is that rank by `run`; null where nobody gave the names; and one `{"rank", "run"}` where both are
//! the same. A connection is `"target": weight` where it feeds and recalls with one weight.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::marker::PhantomData;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ids::{NeuronId, RunId, StimulusId};
use super::json::{self, JsonError};
use super::neuron::{Connection, Name, NamedBy, Version};
use super::{Kind, Link, Neuron, Origin, Stamp};
use crate::limits;

/// The format of a brain's files. Every format is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Every field of a neuron, and every operation of a run, in full.
    One,
    /// Nothing derived, nothing twice.
    #[default]
    Two,
}

impl Format {
    /// The newest, which new brains have.
    pub const NEWEST: Self = Self::Two;

    /// The one of that number in `network/metadata.json`; one that is newer than this program is none that it writes.
    pub fn of(number: u32) -> Self {
        if number < 2 { Self::One } else { Self::Two }
    }

    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// A neuron as a file has it, in any format.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct NeuronFile {
    /// The id, also the file's name.
    id: NeuronId,
    /// What it stands for, 1 to 4096 bytes; for an episodic neuron, the text.
    concept: String,
    /// What kind of neuron it is.
    #[serde(rename = "type")]
    kind: Kind,
    /// Salience as stored at `last_salience_update`, 0..=65535.
    #[serde(default)]
    salience: u16,
    /// When it was created.
    created_at: Option<Stamp>,
    /// When `salience` was stored. Absent: `created_at`.
    last_salience_update: Option<Stamp>,
    /// When it was last activated; null: never. Absent: `last_salience_update`, if it was activated.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<Stamp>")]
    last_activated: Option<Option<Stamp>>,
    /// How many activations it has had, saturating.
    #[serde(default)]
    activation_count: u32,
    /// The last run that touched it.
    run: Option<RunId>,
    /// Xor of the 64-bit hashes of all runs that changed it. Absent: of `run` alone.
    version: Option<Version>,
    /// Who gave it its concept and its type. Absent: `run`, with rank 0. A number: `run`, with that rank. Null: nobody.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<NamedFile>")]
    named_by: Option<Option<NamedFile>>,
    /// Where it ultimately comes from.
    #[serde(default)]
    origin: Origin,
    /// People only: never pruned.
    #[serde(default)]
    pinned: bool,
    /// The run that archived it. In force only while it equals `run`.
    archived: Option<RunId>,
    /// Episodic: the label of the stimulus.
    source: Option<String>,
    /// Episodic: the session of the stimulus.
    session: Option<String>,
    /// Episodic: the stimulus that it remembers.
    stimulus: Option<StimulusId>,
    /// Outgoing connections by target: a weight that feeds and recalls, or weights by type. A list of single connections is
    /// read too.
    #[serde(default, deserialize_with = "connections")]
    #[schemars(with = "ConnectionsSchema")]
    connections: Vec<Connection>,
}

/// The schema of edges as [`edges`] reads them: by target, or a list of single ones.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
pub enum EdgesSchema<T, One> {
    /// By target.
    ByTarget(BTreeMap<NeuronId, ByTypeSchema<T>>),
    /// Each for itself.
    List(Vec<One>),
}

/// The schema of [`ByType`].
pub struct ByTypeSchema<T>(PhantomData<T>);

impl<T: schemars::JsonSchema> schemars::JsonSchema for ByTypeSchema<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByType".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        let types: serde_json::Map<String, serde_json::Value> =
            Link::ALL.iter().map(|link| (link.to_string(), value.clone().to_value())).collect();
        let by_type = serde_json::json!({"type": "object", "properties": types, "additionalProperties": false});
        schemars::json_schema!({"anyOf": [value, by_type]})
    }
}

/// The schema of a neuron's connections.
pub(super) type ConnectionsSchema = EdgesSchema<u16, Connection>;

/// `named_by` as a file has it.
#[derive(Debug, PartialEq, schemars::JsonSchema)]
#[serde(untagged)]
pub(super) enum NamedFile {
    /// That rank, by the neuron's run, for both names.
    Rank(u32),
    /// One for both names.
    Same(Name),
    /// One for each.
    Each(NamedBy),
}

impl NamedFile {
    /// The names of a neuron that this run touched last.
    fn of(self, run: Option<&RunId>) -> NamedBy {
        match self {
            Self::Rank(rank) => own_name(rank, run),
            Self::Same(name) => NamedBy { concept: name.clone(), kind: name },
            Self::Each(names) => names,
        }
    }
}

/// A field that is there, whatever it holds: `None` says absent, `Some(None)` null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for NamedFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = NamedFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rank, {\"rank\", \"run\"}, or {\"concept\", \"type\"}")
            }
            fn visit_u64<E: de::Error>(self, rank: u64) -> Result<NamedFile, E> {
                u32::try_from(rank).map(NamedFile::Rank).map_err(|_| E::custom(format!("the rank {rank} is too large")))
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<NamedFile, M::Error> {
                #[derive(Deserialize)]
                #[serde(rename_all = "snake_case")]
                enum Key {
                    Rank,
                    Run,
                    Concept,
                    Type,
                }
                let (mut rank, mut run, mut concept, mut kind) = (None, None, None, None);
                while let Some(key) = map.next_key()? {
                    let twice = match key {
                        Key::Rank => rank.replace(map.next_value::<u32>()?).map(|_| "rank"),
                        Key::Run => run.replace(map.next_value::<Option<RunId>>()?).map(|_| "run"),
                        Key::Concept => concept.replace(map.next_value::<Name>()?).map(|_| "concept"),
                        Key::Type => kind.replace(map.next_value::<Name>()?).map(|_| "type"),
                    };
                    if let Some(key) = twice {
                        return Err(de::Error::custom(format!("duplicate field `{key}`")));
                    }
                }
                match (rank.is_some() || run.is_some(), concept.is_some() || kind.is_some()) {
                    (true, true) => Err(de::Error::custom("has one name for both, and one for each")),
                    (true, false) => {
                        Ok(NamedFile::Same(Name { rank: rank.unwrap_or_default(), run: run.unwrap_or_default() }))
                    }
                    (false, _) => Ok(NamedFile::Each(NamedBy {
                        concept: concept.unwrap_or_default(),
                        kind: kind.unwrap_or_default(),
                    })),
                }
            }
        }
        deserializer.deserialize_any(Form)
    }
}

/// A weight that feeds and recalls.
const BOTH: [Link; 2] = [Link::FeedsInto, Link::Recalls];

/// The values of one target: by type, or one for a connection that feeds and recalls.
struct ByType<T>(Vec<(Link, T)>);

impl<'de, T: Deserialize<'de> + Copy> Deserialize<'de> for ByType<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Copy> Visitor<'de> for Form<T> {
            type Value = ByType<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value, or values by type")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ByType<T>, E> {
                T::deserialize(number.into_deserializer()).map(both)
            }
            fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<ByType<T>, S::Error> {
                T::deserialize(SeqAccessDeserializer::new(seq)).map(both)
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<ByType<T>, M::Error> {
                let mut values = Vec::with_capacity(2);
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(ByType(values))
            }
        }
        deserializer.deserialize_any(Form(PhantomData))
    }
}

fn both<T: Copy>(value: T) -> ByType<T> {
    ByType(BOTH.map(|link| (link, value)).to_vec())
}

/// An edge of a neuron, with what is said of it.
type EdgeOf<T> = (NeuronId, Link, T);

/// Reads what is said of edges, by target or as a list of single ones in any order; sorted.
pub fn edges<'de, T, One, D>(deserializer: D, single: impl Fn(One) -> EdgeOf<T>) -> Result<Vec<EdgeOf<T>>, D::Error>
where
    T: Deserialize<'de> + Copy,
    One: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Form<T, One, F>(F, PhantomData<(T, One)>);
    impl<'de, T, One, F> Visitor<'de> for Form<T, One, F>
    where
        T: Deserialize<'de> + Copy,
        One: Deserialize<'de>,
        F: Fn(One) -> EdgeOf<T>,
    {
        type Value = Vec<EdgeOf<T>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("connections by target, or a list of them")
        }
        fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
            let mut list = Vec::new();
            while let Some(one) = seq.next_element()? {
                list.push((self.0)(one));
            }
            Ok(list)
        }
        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut list = Vec::new();
            while let Some((target, ByType(values))) = map.next_entry::<NeuronId, ByType<T>>()? {
                list.extend(values.into_iter().map(|(link, value)| (target.clone(), link, value)));
            }
            Ok(list)
        }
    }
    let mut list = deserializer.deserialize_any(Form(single, PhantomData))?;
    if !list.is_sorted_by(|a, b| (&a.0, a.1) <= (&b.0, b.1)) {
        list.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    }
    Ok(list)
}

/// For a document that may leave `named_by` out, and does not say of whose run a rank is.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NamedBy>, D::Error> {
    Ok(Option::<NamedFile>::deserialize(deserializer)?.map(|named| named.of(None)))
}

/// For a document that may leave them out.
pub(super) fn some_connections<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Connection>>, D::Error> {
    connections(deserializer).map(Some)
}

fn connections<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Connection>, D::Error> {
    let list = edges(deserializer, |c: Connection| (c.target, c.link, c.weight))?;
    Ok(list.into_iter().map(|(target, link, weight)| Connection { target, weight, link }).collect())
}

/// The version of what one run alone has touched.
fn own_version(run: Option<&RunId>) -> Version {
    run.map_or_else(Version::default, |run| Version::default().toggled(run))
}

/// A rank by the neuron's own run, for both names.
fn own_name(rank: u32, run: Option<&RunId>) -> NamedBy {
    let name = Name { rank, run: run.cloned() };
    NamedBy { concept: name.clone(), kind: name }
}

impl<'de> Deserialize<'de> for Neuron {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NeuronFile::deserialize(deserializer).map(Self::from)
    }
}

impl From<NeuronFile> for Neuron {
    fn from(file: NeuronFile) -> Self {
        let created_at = file.created_at.unwrap_or_default();
        let last_salience_update = file.last_salience_update.unwrap_or(created_at);
        let run = file.run;
        let named_by = match file.named_by {
            None => own_name(0, run.as_ref()),
            Some(None) => NamedBy::default(),
            Some(Some(named)) => named.of(run.as_ref()),
        };
        Self {
            id: file.id,
            concept: file.concept,
            kind: file.kind,
            salience: file.salience,
            last_salience_update,
            created_at,
            last_activated: file
                .last_activated
                .unwrap_or_else(|| (file.activation_count > 0).then_some(last_salience_update)),
            activation_count: file.activation_count,
            version: file.version.unwrap_or_else(|| own_version(run.as_ref())),
            named_by,
            run,
            origin: file.origin,
            pinned: file.pinned,
            archived: file.archived,
            source: file.source,
            session: file.session,
            stimulus: file.stimulus,
            connections: file.connections,
        }
    }
}

impl schemars::JsonSchema for Neuron {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Neuron".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        NeuronFile::json_schema(generator)
    }
}

impl Neuron {
    /// The canonical bytes of the neuron's file in the newest format.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_as(Format::NEWEST)
    }

    /// The canonical bytes of the neuron's file.
    pub fn encode_as(&self, format: Format) -> Vec<u8> {
        let mut out = String::with_capacity(640 + self.connections.len() * 80 + self.concept.len());
        self.write(format, Lines::Each, &mut out);
        out.push('\n');
        out.into_bytes()
    }

    /// The same on one line, in the newest format, as records of runs have it.
    pub fn write_inline(&self, out: &mut String) {
        self.write(Format::Two, Lines::One, out);
    }

    fn write(&self, format: Format, lines: Lines, out: &mut String) {
        let (before, between, after) = match lines {
            Lines::One => ("{\"", ", \"", "}"),
            Lines::Each => ("{\n  \"", ",\n  \"", "\n}"),
        };
        let mut separator = before;
        self.fields(format, &mut |key, value| {
            out.push_str(separator);
            separator = between;
            out.push_str(key);
            out.push_str("\": ");
            out.push_str(value);
        });
        if format == Format::One || !self.connections.is_empty() {
            out.push_str(between);
            out.push_str("connections\": ");
            match format {
                Format::One => list_of(&self.connections, out),
                Format::Two => by_target(&self.connections, lines, out),
            }
        }
        out.push_str(after);
    }

    /// Gives every field but `connections`, as JSON, in the order of the file.
    fn fields(&self, format: Format, put: &mut dyn FnMut(&str, &str)) {
        let whole = format == Format::One;
        put("id", &json::inline(&self.id));
        put("concept", &json::inline(&self.concept));
        put("type", &json::inline(&self.kind));
        put("salience", &self.salience.to_string());
        if whole {
            put("last_salience_update", &json::inline(&self.last_salience_update));
        }
        put("created_at", &json::inline(&self.created_at));
        if !whole && self.last_salience_update != self.created_at {
            put("last_salience_update", &json::inline(&self.last_salience_update));
        }
        let expected = (self.activation_count > 0).then_some(self.last_salience_update);
        if whole || self.last_activated != expected {
            put("last_activated", &json::inline(&self.last_activated));
        }
        if whole || self.activation_count > 0 {
            put("activation_count", &self.activation_count.to_string());
        }
        if whole || self.run.is_some() {
            put("run", &json::inline(&self.run));
        }
        if whole || self.version != own_version(self.run.as_ref()) {
            put("version", &json::inline(&self.version));
        }
        match (whole, &self.named_by) {
            (true, names) => put("named_by", &json::inline(names)),
            (_, names) if *names == own_name(0, self.run.as_ref()) => {}
            (_, names) if *names == NamedBy::default() => put("named_by", "null"),
            (_, NamedBy { concept, kind }) if concept == kind && concept.run == self.run => {
                put("named_by", &concept.rank.to_string());
            }
            (_, NamedBy { concept, kind }) if concept == kind => put("named_by", &json::inline(concept)),
            (_, names) => put("named_by", &json::inline(names)),
        }
        if whole || self.origin != Origin::default() {
            put("origin", &json::inline(&self.origin));
        }
        if self.pinned {
            put("pinned", "true");
        }
        if let Some(run) = &self.archived {
            put("archived", &json::inline(run));
        }
        for (key, label) in [("source", &self.source), ("session", &self.session)] {
            if let Some(label) = label {
                put(key, &json::inline(label));
            }
        }
        if let Some(stimulus) = &self.stimulus {
            put("stimulus", &json::inline(stimulus));
        }
    }

    /// Reads a neuron's file of any format. `what` names it in errors. Bounds, order and duplicates are checked.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        if bytes.len() > limits::MERGED_NEURON_BYTES {
            let message = format!("{} bytes, a neuron has at most {}", bytes.len(), limits::MERGED_NEURON_BYTES);
            return Err(JsonError::at(what, 1, "", message));
        }
        let neuron: Self = json::typed(bytes, what)?;
        json::object(bytes, what)?;
        neuron
            .check_bounds()
            .map_err(|(path, message)| JsonError::at(what, json::line_of_key(bytes, path), path, message))?;
        Ok(neuron)
    }

    /// The format of which these bytes are this neuron's canonical file; the newest is asked first.
    pub fn canonical_format(&self, bytes: &[u8]) -> Option<Format> {
        [Format::Two, Format::One].into_iter().find(|format| self.encode_as(*format) == bytes)
    }

    /// Whether its file could be larger than that, in some format.
    pub fn is_larger_than(&self, bytes: usize) -> bool {
        let surely = 1024 + 2 * self.concept.len() + self.connections.len() * (64 + limits::ID_BYTES);
        surely > bytes && self.encode_as(Format::One).len() > bytes
    }
}

/// Format 1.
fn list_of(connections: &[Connection], out: &mut String) {
    if connections.is_empty() {
        out.push_str("[]");
        return;
    }
    for (index, c) in connections.iter().enumerate() {
        out.push_str(if index == 0 { "[\n" } else { ",\n" });
        // As [`json::inline`] has it. A hub has thousands, and an id has nothing that must be escaped.
        let (target, weight, link) = (&c.target, c.weight, c.link);
        write!(out, "    {{\"target\": \"{target}\", \"weight\": {weight}, \"type\": \"{link}\"}}")
            .expect("invariant: a string takes what is written to it");
    }
    out.push_str("\n  ]");
}

/// The layout of [`by_target`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// All on one.
    One,
    /// One for each target.
    Each,
}

/// A connection, or a change of one, that is written under its target.
pub trait Pointing {
    /// The target.
    fn target(&self) -> &NeuronId;
    /// The type.
    fn link(&self) -> Link;
    /// What is said of the connection, as JSON on one line.
    fn write(&self, out: &mut String);
}

impl Pointing for Connection {
    fn target(&self) -> &NeuronId {
        &self.target
    }
    fn link(&self) -> Link {
        self.link
    }
    fn write(&self, out: &mut String) {
        write!(out, "{}", self.weight).expect("invariant: a string takes what is written to it");
    }
}

/// Writes connections, sorted by target and type, with each target once: one value where the target is fed and recalls alike,
/// else values by type.
pub fn by_target<T: Pointing>(list: &[T], lines: Lines, out: &mut String) {
    let (before, between, after) = match lines {
        Lines::One => ("{\"", ", \"", "}"),
        Lines::Each => ("{\n    \"", ",\n    \"", "\n  }"),
    };
    let mut values = [String::new(), String::new()];
    // An id has nothing that must be escaped.
    for (index, group) in list.chunk_by(|a, b| a.target() == b.target()).enumerate() {
        out.push_str(if index == 0 { before } else { between });
        out.push_str(group[0].target().as_str());
        out.push_str("\": ");
        if let [one, other] = group
            && BOTH == [one.link(), other.link()]
        {
            for (value, item) in values.iter_mut().zip([one, other]) {
                value.clear();
                item.write(value);
            }
            if values[0] == values[1] {
                out.push_str(&values[0]);
                continue;
            }
        }
        for (index, item) in group.iter().enumerate() {
            out.push_str(if index == 0 { "{\"" } else { ", \"" });
            out.push_str(item.link().as_str());
            out.push_str("\": ");
            item.write(out);
        }
        out.push('}');
    }
    out.push_str(after);
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
