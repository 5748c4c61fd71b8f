//! Trade: whole networks and triples in, the whole network out.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::{Brain, BrainError};
pub use crate::cycle::ImportProgress;
use crate::cycle::Imported;
use crate::limits;
use crate::model::shell_word;
use crate::world;

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ImportReport {
    /// Neurons that were made.
    pub created: usize,
    /// Neurons that were there and were changed.
    pub changed: usize,
    /// Neurons that were there as the input wants them.
    pub unchanged: usize,
    /// Connections that the input asks for.
    pub connections: usize,
    /// SHA-256 of the input.
    pub sha256: String,
    /// The runs that it became, all by `human`; none if nothing was new.
    pub runs: Vec<String>,
    /// Whether wake has all of it.
    pub merged: bool,
    /// Why it stays on its branch, if it does.
    pub held: Option<String>,
    /// Wake's tip afterwards.
    pub wake: Option<String>,
    /// Whether nothing was written because nothing was to be.
    pub dry_run: bool,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
}

/// What an export was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ExportReport {
    /// The commit.
    pub commit: String,
    /// How many neurons were written.
    pub neurons: usize,
    /// How many connections.
    pub connections: usize,
}

impl ImportReport {
    fn of(imported: Imported, dry_run: bool) -> Self {
        Self {
            created: imported.created,
            changed: imported.changed,
            unchanged: imported.unchanged,
            connections: imported.connections,
            sha256: imported.sha256,
            merged: !dry_run && imported.held.is_none(),
            runs: imported.runs.iter().map(ToString::to_string).collect(),
            held: imported.held,
            wake: imported.wake.map(|commit| commit.to_string()),
            dry_run,
            notes: imported.notes,
        }
    }
}

/// Whether the first line of a file is an object with a subject and an object.
fn begins_with_a_triple(file: &Path) -> bool {
    let Ok(opened) = world::open_input(file) else { return false };
    let mut line = Vec::new();
    let read = BufReader::new(opened.take(limits::DOCUMENT_BYTES as u64)).read_until(b'\n', &mut line);
    read.is_ok()
        && serde_json::from_slice::<Value>(&line)
            .is_ok_and(|line| line.get("subject").is_some() && line.get("object").is_some())
}

impl Brain {
    /// Imports a single-document network; `-` is standard input. No agent is started.
    ///
    /// Neurons that are there keep what the document does not say; what it says wins. All of it is merged, or nothing.
    ///
    /// # Errors
    /// With file, line and path: what does not parse (exit code 5), a connection to a neuron that is neither in the brain
    /// nor in the document, and a stamp in the future (3).
    pub fn import(
        &self,
        file: &Path,
        dry_run: bool,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<ImportReport, BrainError> {
        let imported = self.cycle.import_document(file, dry_run, progress);
        // Looked at only where it is no document: standard input can be read once.
        if matches!(imported, Err(BrainError::Json(_))) && file.as_os_str() != "-" && begins_with_a_triple(file) {
            return Err(BrainError::Usage {
                message: format!("{} is no document of a network: it has triples, one a line", file.display()),
                hint: Some(format!(
                    "`git brain import --triples {}`; each line is {{\"subject\", \"relation\", \"object\", \"source\"}}",
                    shell_word(&file.display().to_string())
                )),
            });
        }
        Ok(ImportReport::of(imported?, dry_run))
    }

    /// Imports triples, one JSON object a line; `-` is standard input. The same file again changes nothing.
    pub fn import_triples(
        &self,
        file: &Path,
        dry_run: bool,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<ImportReport, BrainError> {
        Ok(ImportReport::of(self.cycle.import_triples(file, dry_run, progress)?, dry_run))
    }

    /// Writes the network of a revision, by default wake's tip, as a single document.
    pub fn export(&self, at: Option<&str>, out: &mut dyn Write) -> Result<ExportReport, BrainError> {
        let store = &self.cycle.store;
        let commit = match at {
            None => store.need_tip(store.wake())?,
            Some(revision) => store
                .resolve(revision)?
                .ok_or_else(|| BrainError::usage(format!("{revision} names no commit of this repository")))?,
        };
        let from = self.cycle.export(commit, out)?;
        Ok(ExportReport { commit: from.commit.to_string(), neurons: from.neurons, connections: from.connections })
    }
}
