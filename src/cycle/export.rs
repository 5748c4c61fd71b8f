//! Export: the whole network as a single document, written as it is read.

use std::io::Write;

use super::network::decode_neuron;
use super::{Cycle, CycleError};
use crate::limits;
use crate::model::layout::{self, Place};
use crate::model::portable::{PortableMetadata, PortableNeuron};
use crate::model::{Metadata, Neuron, Stamp, json};
use crate::store::{CommitId, StoreError, TreeId};

/// The version of the single document, which is not that of the brain's files.
const DOCUMENT: &str = "1.0";

/// What an export was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFrom {
    /// The commit.
    pub commit: CommitId,
    /// How many neurons it has.
    pub neurons: usize,
    /// How many connections.
    pub connections: usize,
}

impl Cycle {
    /// Writes the network of a commit: one neuron a line, in the order of the tree, then `metadata` with what is derived.
    pub fn export(&self, commit: CommitId, out: &mut dyn Write) -> Result<ExportedFrom, CycleError> {
        let tree = self.store.tree_of(commit)?;
        let unwritten =
            |source| CycleError::Store(StoreError::File { path: std::path::PathBuf::from("the export"), source });
        let metadata = json::inline(&self.portable_metadata(commit)?);
        let mut from = ExportedFrom { commit, neurons: 0, connections: 0 };
        write!(out, "{{\n  \"neurons\": [").map_err(unwritten)?;
        self.each_neuron(tree, &mut |neuron| {
            from.connections += neuron.connections.len();
            let comma = if from.neurons == 0 { "" } else { "," };
            from.neurons += 1;
            write!(out, "{comma}\n    {}", json::inline(&PortableNeuron::from(neuron))).map_err(unwritten)
        })?;
        let end = if from.neurons == 0 { "" } else { "\n  " };
        write!(out, "{end}],\n  \"metadata\": {metadata}\n}}\n").and_then(|()| out.flush()).map_err(unwritten)?;
        Ok(from)
    }

    /// Hands over each neuron of a tree, in the order of the tree.
    pub fn each_neuron(
        &self,
        tree: TreeId,
        see: &mut dyn FnMut(Neuron) -> Result<(), CycleError>,
    ) -> Result<(), CycleError> {
        let mut failed: Option<CycleError> = None;
        self.store
            .each_file(tree, layout::NEURONS, &mut |path, file| {
                let mut one = || -> Result<(), CycleError> {
                    let Place::Neuron(id) = Place::of(path) else {
                        return Err(json::JsonError::at(path, 1, "", "nothing belongs there").into());
                    };
                    see(decode_neuron(&self.store.blob(file.blob)?, path, &id)?)
                };
                // The walk ends at the first error, whatever its kind.
                one().map_err(|error| {
                    let told = StoreError::BadPath { path: path.to_owned(), reason: "it cannot be exported" };
                    failed.get_or_insert(error);
                    told
                })
            })
            .map_err(|told| failed.take().unwrap_or(CycleError::Store(told)))
    }

    /// What the document says of the network: derived from the tree, and never stored in it.
    fn portable_metadata(&self, commit: CommitId) -> Result<PortableMetadata, CycleError> {
        let read = self.store.commit(commit)?;
        let stored: Option<Metadata> = match self.store.read(read.tree, layout::METADATA)? {
            Some(bytes) => Some(json::strict(&bytes, layout::METADATA, limits::DOCUMENT_BYTES)?),
            None => None,
        };
        let mut agents = Vec::new();
        for (path, _) in self.store.files(read.tree, layout::AGENTS)? {
            if let Place::Agent(name) = Place::of(&path) {
                agents.push(name);
            }
        }
        let mut runs = 0;
        self.store.each_file(read.tree, layout::RUNS, &mut |path, _| {
            runs += u64::from(matches!(Place::of(path), Place::Run(_)));
            Ok(())
        })?;
        Ok(PortableMetadata {
            version: stored.as_ref().map(|_| DOCUMENT.to_owned()),
            last_modified: Some(Stamp::from_unix(read.at)),
            active_agents: Some(agents),
            cycle_count: Some(runs),
            bootstrap_complete: stored.as_ref().map(|m| m.bootstrap_complete),
            seed_timestamp: stored.and_then(|m| m.seed_timestamp),
        })
    }
}
