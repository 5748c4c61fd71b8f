//! What people trust, recorded outside any repository: a clone carries no trust along.
//!
//! Per brain (its private git folder) a list of (path, blob id). A changed file has another blob id, hence is inert again.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::World;
use crate::model::ids::hex_hash;

/// Why trust could not be read or recorded.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no place outside the repository.
    #[error("neither HOME nor XDG_STATE_HOME is set, so there is no place to record trust")]
    NoPlace,
    /// The record could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The record.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The record is damaged: nothing is trusted until it is removed.
    #[error("{path} is damaged ({message}); remove it and trust again")]
    Damaged {
        /// The record.
        path: String,
        /// What is wrong.
        message: String,
    },
}

/// The trusted blobs of one brain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// The brain's private git folder.
    pub brain: String,
    /// Path in the tree → blob id.
    pub trusted: BTreeMap<String, String>,
}

impl Trust {
    /// Reads what is trusted in the brain with that private git folder; nothing, if there is no record.
    pub fn load(world: &World, brain: &Path) -> Result<Self, TrustError> {
        let name = brain.display().to_string();
        let Ok(path) = record(world, brain) else {
            return Ok(Self { brain: name, trusted: BTreeMap::new() });
        };
        match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self { brain: name, trusted: BTreeMap::new() }),
            Err(source) => Err(TrustError::File { path: path.display().to_string(), source }),
            Ok(bytes) => {
                let trust: Self = serde_json::from_slice(&bytes)
                    .map_err(|e| TrustError::Damaged { path: path.display().to_string(), message: e.to_string() })?;
                // Two brains cannot share a record unless their names collide; then nothing is trusted.
                let ours = trust.brain == name;
                Ok(if ours { trust } else { Self { brain: name, trusted: BTreeMap::new() } })
            }
        }
    }

    /// Is that blob trusted at that path?
    pub fn covers(&self, path: &str, blob: &str) -> bool {
        self.trusted.get(path).is_some_and(|trusted| trusted == blob)
    }

    /// The blob that is trusted at that path, where that is another one.
    pub fn before(&self, path: &str, blob: &str) -> Option<String> {
        self.trusted.get(path).filter(|trusted| *trusted != blob).cloned()
    }

    /// Records it, readable by its owner alone, whole or not at all.
    pub fn save(&self, world: &World) -> Result<PathBuf, TrustError> {
        let path = record(world, Path::new(&self.brain))?;
        let fail = |source| TrustError::File { path: path.display().to_string(), source };
        let folder = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).map_err(fail)?;
        // A temporary file of this crate is made with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        file.write_all(&crate::model::json::pretty(self)).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&path).map_err(|e| fail(e.error))?;
        Ok(path)
    }
}

fn record(world: &World, brain: &Path) -> Result<PathBuf, TrustError> {
    let folder = world.state_dir().ok_or(TrustError::NoPlace)?.join("trust");
    Ok(folder.join(format!("{}.json", hex_hash(brain.display().to_string().as_bytes(), 16))))
}
