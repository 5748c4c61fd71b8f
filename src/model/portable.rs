//! The single document: a whole network in one JSON file, in the form of MagistraAI's technical note, 1.1 and 7.1. What `export`
//! prints and `import` reads.
//!
//! A neuron here is what it is, without which of this brain's runs made it so: `run`, `version` and `named_by` are
//! accepted, so that a neuron's own file can be pasted in, and not taken over. What a document leaves out is `None`.

use serde::{Deserialize, Serialize};

use super::ids::{AgentName, NeuronId, RunId, StimulusId};
use super::json::{self, JsonError};
use super::neuron::{Connection, NamedBy, Version, check_concept, check_label};
use super::{Kind, Neuron, Origin, Stamp, form};
use crate::limits;

/// The document. It is read and written neuron by neuron; the type stands for its schema, and for small documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortableNetwork {
    /// Where the schema is described.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The neurons, in any order.
    pub neurons: Vec<PortableNeuron>,
    /// About the network. Derived by `export`; `import` checks it and takes nothing over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PortableMetadata>,
}

/// A neuron of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortableNeuron {
    /// The id.
    pub id: NeuronId,
    /// What it stands for, 1 to 4096 bytes.
    pub concept: String,
    /// What kind of neuron it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Salience as stored at `last_salience_update`, 0..=65535; missing: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salience: Option<u16>,
    /// When `salience` was stored; missing: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_salience_update: Option<Stamp>,
    /// When it was created; missing: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Stamp>,
    /// When it was last activated; missing: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_activated: Option<Stamp>,
    /// How many activations it has had; missing: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_count: Option<u32>,
    /// Not taken over, but for `archived`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Not taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Not taken over.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "form::named")]
    #[schemars(with = "Option<form::NamedFile>")]
    pub named_by: Option<NamedBy>,
    /// Where it ultimately comes from; missing: `import`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Never pruned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// True, or the run in `run`: it is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<Archived>,
    /// Episodic: the label of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Episodic: the session of the stimulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Episodic: the stimulus that it remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimulus: Option<StimulusId>,
    /// Outgoing connections, each pair of target and type at most once; missing: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "form::some_connections")]
    #[schemars(with = "Option<form::ConnectionsSchema>")]
    pub connections: Option<Vec<Connection>>,
}

/// Whether a neuron is archived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Archived {
    /// It is, or it is not.
    Flag(bool),
    /// As in a neuron's own file: in force while it equals `run`.
    Run(RunId),
}

/// About the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PortableMetadata {
    /// Version of the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When the network was changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Stamp>,
    /// The agents that the brain has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_agents: Option<Vec<AgentName>>,
    /// How many runs it has had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle_count: Option<u64>,
    /// True once the agents have been introduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_complete: Option<bool>,
    /// When that was; null: not yet.
    pub seed_timestamp: Option<Stamp>,
}

impl PortableNeuron {
    /// Reads one neuron. Errors have its own lines, from 1, and paths inside it.
    pub fn decode(bytes: &[u8], what: &str) -> Result<Self, JsonError> {
        // The derived reader refuses duplicate and unknown fields, and no field of it is of free form: the slower reader
        // is only asked for the place of an error.
        let mut neuron: Self = match serde_json::from_slice(bytes) {
            Ok(neuron) => neuron,
            Err(_) => json::strict(bytes, what, limits::IMPORT_NEURON_BYTES)?,
        };
        json::object(bytes, what)?;
        if neuron.run.is_some() {
            // A neuron's own file, which leaves out what its other fields say.
            neuron.last_salience_update = neuron.last_salience_update.or(neuron.created_at);
            let activated = neuron.activation_count.is_some_and(|count| count > 0);
            neuron.last_activated = neuron.last_activated.or(neuron.last_salience_update.filter(|_| activated));
        }
        neuron.check().map_err(|(path, message)| JsonError::at(what, json::line_of_key(bytes, path), path, message))?;
        Ok(neuron)
    }

    /// Bounds that types do not hold. The error is (path, what is wrong).
    fn check(&self) -> Result<(), (&'static str, String)> {
        check_concept(&self.concept).map_err(|m| ("concept", m))?;
        for (path, label) in [("source", &self.source), ("session", &self.session)] {
            if let Some(label) = label {
                check_label(label).map_err(|m| (path, m))?;
            }
        }
        let mut pairs: Vec<_> = self.connections.iter().flatten().map(|c| (&c.target, c.link)).collect();
        pairs.sort();
        match pairs.windows(2).find(|p| p[0] == p[1]) {
            Some(twice) => Err(("connections", format!("two connections {} to {}", twice[0].1, twice[0].0))),
            None => Ok(()),
        }
    }

    /// The latest stamp in it, with its path.
    pub fn latest_stamp(&self) -> Option<(Stamp, &'static str)> {
        let stamps = [
            (self.last_salience_update, "last_salience_update"),
            (self.created_at, "created_at"),
            (self.last_activated, "last_activated"),
        ];
        stamps.into_iter().filter_map(|(stamp, path)| Some((stamp?, path))).max()
    }

    /// Whether it is archived; `None`: the document does not say.
    pub fn is_archived(&self) -> Option<bool> {
        self.archived.as_ref().map(|archived| match archived {
            Archived::Flag(flag) => *flag,
            Archived::Run(run) => run.is_a_persons() || self.run.as_ref() == Some(run),
        })
    }
}

impl From<Neuron> for PortableNeuron {
    fn from(neuron: Neuron) -> Self {
        let archived = neuron.is_archived().then_some(Archived::Flag(true));
        Self {
            id: neuron.id,
            concept: neuron.concept,
            kind: neuron.kind,
            salience: Some(neuron.salience),
            last_salience_update: Some(neuron.last_salience_update),
            created_at: Some(neuron.created_at),
            last_activated: neuron.last_activated,
            activation_count: Some(neuron.activation_count),
            run: None,
            version: None,
            named_by: None,
            origin: Some(neuron.origin),
            pinned: neuron.pinned.then_some(true),
            archived,
            source: neuron.source,
            session: neuron.session,
            stimulus: neuron.stimulus,
            connections: Some(neuron.connections),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_neurons_and_a_neurons_own_file_are_read() {
        let seed = br#"{"id": "n_core_memory", "concept": "state_storage", "type": "core", "salience": 0,
            "connections": [{"target": "n_core_perception", "weight": 30000, "type": "feeds_into"}]}"#;
        let neuron = PortableNeuron::decode(seed, "x").unwrap();
        assert_eq!((neuron.salience, neuron.created_at, neuron.is_archived()), (Some(0), None, None));
        let files = [include_str!("../../tests/golden/neuron.json"), include_str!("../../tests/golden/neuron-1.json")];
        for own in files {
            let neuron = PortableNeuron::decode(own.as_bytes(), "x").unwrap();
            assert_eq!(neuron.source.as_deref(), Some("D1:3"));
            let there = Neuron::decode(own.as_bytes(), "x").unwrap();
            let plain = PortableNeuron {
                run: None,
                version: None,
                named_by: None,
                origin: Some(there.origin.clone()),
                ..neuron
            };
            assert_eq!(PortableNeuron::from(there), plain);
        }
    }

    #[test]
    fn an_archive_counts_while_it_is_in_force() {
        let (a, b) = ("20260126t143200123z-abcd2345-memory", "20260127t143200123z-abcd2345-memory");
        for (fields, expected) in [
            ("\"archived\": true".to_owned(), Some(true)),
            ("\"archived\": false".to_owned(), Some(false)),
            (format!("\"run\": \"{a}\", \"archived\": \"{a}\""), Some(true)),
            (format!("\"run\": \"{b}\", \"archived\": \"{a}\""), Some(false)),
            ("\"pinned\": true".to_owned(), None),
        ] {
            let text = format!("{{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", {fields}}}");
            let neuron = PortableNeuron::decode(text.as_bytes(), "x").unwrap();
            assert_eq!(neuron.is_archived(), expected, "{fields}");
        }
    }

    #[test]
    fn wrong_neurons_are_refused_with_line_and_path() {
        for (text, line, part) in [
            ("{\"id\": \"a\", \"concept\": \"a\",\n\"type\": \"idea\"}", 2, "type"),
            ("{\"id\": \"a\", \"concept\": \"a\"}", 1, "type"),
            ("{\"id\": \"a\", \"id\": \"a\", \"concept\": \"a\", \"type\": \"core\"}", 1, "twice"),
            ("{\"id\": \"a\",\n \"concept\": \" \", \"type\": \"core\"}", 2, "concept"),
            ("{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\",\n\"speed\": 3}", 2, "speed"),
            (
                "{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\", \"connections\": [\n{\"target\": \"B\", \"weight\": 1, \"type\": \"feeds_into\"}]}",
                2,
                "connections[0].target",
            ),
            (
                "{\"id\": \"a\", \"concept\": \"a\", \"type\": \"core\",\n\"connections\": [{\"target\": \"b\", \"weight\": 1, \"type\": \"feeds_into\"}, {\"target\": \"b\", \"weight\": 2, \"type\": \"feeds_into\"}]}",
                2,
                "two connections",
            ),
        ] {
            let error = PortableNeuron::decode(text.as_bytes(), "x").unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
