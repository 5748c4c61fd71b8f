//! The bootstrap brain: the files of this project's own `network/`, `agents/`, `hooks/` and `brain.toml`, embedded.
//! `init` lays them out; what equals them needs no trust.

use serde_json::json;

use crate::model::ids::AgentName;
use crate::model::{Agent, Neuron, Stamp};

/// A file of the bootstrap brain.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path in the tree.
    pub path: &'static str,
    /// Its content.
    pub content: &'static str,
}

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(File { path: $path, content: include_str!(concat!("../../", $path)) }),+]
    };
}

/// All of them, sorted by path. A test holds the list against the folders.
pub const FILES: &[File] = files![
    "agents/affect.json",
    "agents/bootstrap.json",
    "agents/decision.json",
    "agents/evaluator.json",
    "agents/memory.json",
    "agents/perception.json",
    "brain.toml",
    "hooks/post-commit",
    "hooks/post-merge",
    "hooks/pre-commit",
    "network/metadata.json",
    "network/neurons/14/2/external_stimulus.json",
    "network/neurons/35/7/n_core_memory.json",
    "network/neurons/39/7/n_core_decision.json",
    "network/neurons/7a/0/decision_point.json",
    "network/neurons/b8/c/n_core_affect.json",
    "network/neurons/c5/e/n_core_perception.json",
];

/// The tree of a new brain: neurons are stamped with the time of its birth.
pub fn tree(born: Stamp) -> Vec<(String, Vec<u8>)> {
    FILES.iter().map(|file| (file.path.to_owned(), content(file, born))).collect()
}

fn content(file: &File, born: Stamp) -> Vec<u8> {
    let bytes = file.content.as_bytes();
    if !file.path.starts_with(crate::model::layout::NEURONS) {
        return bytes.to_vec();
    }
    let mut neuron = Neuron::decode(bytes, file.path).expect("invariant: the bootstrap neurons are tested");
    neuron.created_at = born;
    neuron.last_salience_update = born;
    neuron.encode()
}

/// The evaluator's definition, for brains that are older than it.
pub fn evaluator() -> Agent {
    let path = "agents/evaluator.json";
    let file = FILES.iter().find(|file| file.path == path).expect("invariant: it is in the list");
    Agent::decode(file.content.as_bytes(), path).expect("invariant: the bootstrap agents are tested")
}

/// Beginnings of the names of agents that are programs by a tool protocol, or by HTTP.
const CLIENTS: [&str; 2] = ["mcp-", "http-"];

/// The definition of a client that the brain has no file of: what it proposes waits for a person, whatever its origin.
pub fn client(name: &AgentName) -> Option<Agent> {
    CLIENTS.iter().find_map(|start| name.as_str().strip_prefix(start)).filter(|client| !client.is_empty())?;
    let definition = json!({
        "$schema": "urn:git-brain:schema:agent:1",
        "name": name,
        "role": "A program that comes by the Model Context Protocol or by HTTP. It comes by itself, and nothing wakes it.",
        "trigger": {"any": []},
        "cognition": {"kind": "reflex", "rule": "memory"},
        "capabilities": {
            "operations": ["create", "connect", "adjust", "disconnect", "reword", "archive"],
            "types": ["contextual", "episodic", "semantic"],
            "max_weight_delta": 6554,
            "max_operations": 100,
            "origins": []
        },
    });
    let agent = Agent::decode(definition.to_string().as_bytes(), "the definition of a client");
    Some(agent.expect("invariant: a test decodes it"))
}

/// Whether that content at that path is the bootstrap's own.
pub fn is_builtin(path: &str, content: &[u8]) -> bool {
    FILES.iter().any(|file| file.path == path && file.content.as_bytes() == content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::layout::Place;
    use crate::model::{Metadata, Settings};

    #[test]
    fn the_list_is_the_folders() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = vec!["brain.toml".to_owned()];
        for folder in ["agents", "hooks", "network"] {
            for entry in walkdir::WalkDir::new(root.join(folder)) {
                let entry = entry.unwrap();
                if entry.file_type().is_file() {
                    found.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        let listed: Vec<_> = FILES.iter().map(|f| f.path.to_owned()).collect();
        assert_eq!(listed, found);
    }

    #[test]
    fn every_file_is_valid_and_canonical_and_in_its_place() {
        for file in FILES {
            let bytes = file.content.as_bytes();
            match Place::of(file.path) {
                Place::Neuron(id) => {
                    let neuron = Neuron::decode(bytes, file.path).unwrap();
                    assert_eq!((neuron.id.clone(), neuron.encode()), (id, bytes.to_vec()), "{}", file.path);
                }
                Place::Agent(name) => assert_eq!(Agent::decode(bytes, file.path).unwrap().name, name),
                Place::Settings => assert_eq!(Settings::read(file.content, &[]).unwrap(), Settings::default()),
                Place::Metadata => assert!(!serde_json::from_slice::<Metadata>(bytes).unwrap().bootstrap_complete),
                place => assert_eq!((place, file.path.starts_with("hooks/")), (Place::Other, true), "{}", file.path),
            }
        }
    }
}
