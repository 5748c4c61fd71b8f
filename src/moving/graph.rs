//! Neurons as GraphML and as JSON-LD, one after the other.

use serde_json::{Map, Value, json};

use crate::model::Neuron;
use crate::text::xml;

/// A file of a whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// GraphML.
    GraphMl,
    /// JSON-LD.
    JsonLd,
}

/// Fields of a neuron in GraphML: name and type.
const FIELDS: [(&str, &str); 12] = [
    ("concept", "string"),
    ("type", "string"),
    ("salience", "int"),
    ("last_salience_update", "string"),
    ("created_at", "string"),
    ("last_activated", "string"),
    ("activation_count", "long"),
    ("origin", "string"),
    ("source", "string"),
    ("session", "string"),
    ("pinned", "boolean"),
    ("archived", "boolean"),
];

impl Shape {
    /// What stands before the first neuron.
    pub fn begin(self) -> String {
        match self {
            Self::GraphMl => {
                let mut text = concat!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ",
                    "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
                )
                .to_owned();
                for (name, kind) in FIELDS {
                    text += &format!("  <key id=\"{name}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n");
                }
                text += "  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"int\"/>\n";
                text += "  <key id=\"link\" for=\"edge\" attr.name=\"type\" attr.type=\"string\"/>\n";
                text + "  <graph id=\"brain\" edgedefault=\"directed\">\n"
            }
            Self::JsonLd => {
                let context = json!({
                    "@vocab": "https://git-brain.invalid/terms#",
                    "id": "@id",
                    "concept": "http://schema.org/text",
                    "target": {"@type": "@id"},
                    "created_at": {"@id": "http://schema.org/dateCreated", "@type": "http://www.w3.org/2001/XMLSchema#dateTime"},
                    "last_salience_update": {"@type": "http://www.w3.org/2001/XMLSchema#dateTime"},
                    "last_activated": {"@type": "http://www.w3.org/2001/XMLSchema#dateTime"},
                });
                format!("{{\n  \"@context\": {context},\n  \"@graph\": [")
            }
        }
    }

    /// A neuron with its connections; `number` counts from 0.
    pub fn neuron(self, neuron: &Neuron, number: usize) -> String {
        let fields = fields(neuron);
        match self {
            Self::GraphMl => {
                let mut text = format!("    <node id=\"{}\">\n", xml(neuron.id.as_str()));
                for (name, value) in &fields {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    text += &format!("      <data key=\"{name}\">{}</data>\n", xml(&value));
                }
                text += "    </node>\n";
                for connection in &neuron.connections {
                    text += &format!(
                        "    <edge source=\"{}\" target=\"{}\"><data key=\"weight\">{}</data><data key=\"link\">{}</data></edge>\n",
                        xml(neuron.id.as_str()),
                        xml(connection.target.as_str()),
                        connection.weight,
                        connection.link
                    );
                }
                text
            }
            Self::JsonLd => {
                let mut object = Map::new();
                object.insert("id".to_owned(), iri(neuron.id.as_str()));
                object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
                let connections = neuron.connections.iter().map(|connection| {
                    json!({"target": iri(connection.target.as_str()), "weight": connection.weight, "type": connection.link.to_string()})
                });
                object.insert("connections".to_owned(), connections.collect());
                let comma = if number == 0 { "" } else { "," };
                format!("{comma}\n    {}", Value::Object(object))
            }
        }
    }

    /// What stands after the last neuron.
    pub fn end(self) -> &'static str {
        match self {
            Self::GraphMl => "  </graph>\n</graphml>\n",
            Self::JsonLd => "\n  ]\n}\n",
        }
    }
}

/// Ids are no addresses, so they get a scheme of their own.
fn iri(id: &str) -> Value {
    Value::from(format!("urn:git-brain:{id}"))
}

fn fields(neuron: &Neuron) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("concept", Value::from(neuron.concept.as_str())),
        ("type", Value::from(neuron.kind.as_str())),
        ("salience", Value::from(neuron.salience)),
        ("last_salience_update", Value::from(neuron.last_salience_update.to_string())),
        ("created_at", Value::from(neuron.created_at.to_string())),
    ];
    fields.extend(neuron.last_activated.map(|at| ("last_activated", Value::from(at.to_string()))));
    fields.push(("activation_count", Value::from(neuron.activation_count)));
    fields.push(("origin", Value::from(neuron.origin.as_str())));
    fields.extend(neuron.source.as_deref().map(|source| ("source", Value::from(source))));
    fields.extend(neuron.session.as_deref().map(|session| ("session", Value::from(session))));
    fields.push(("pinned", Value::from(neuron.pinned)));
    fields.push(("archived", Value::from(neuron.is_archived())));
    fields
}
