//! Gates that are programs, and the data that they see, as hashes: a judge that was mended is another judge, and its data are evidence.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::deliberation::Deliberation;
use crate::model::ids::hash_fields;

/// Places of programs that come with the machine: an upgrade of an interpreter changes no gate.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/opt/homebrew"];

/// The files of all gates.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// The hash of the programs, and of files that their arguments name; empty: there are none.
    pub rules: String,
    /// The hash of what they may read beside that; empty: there is nothing.
    data: String,
}

impl Programs {
    /// The hash of what candidates are judged on, given that of the memories: gates of the brain see these, programs what they read.
    pub fn evidence_of(&self, memories: &str, settings: &Deliberation) -> String {
        match (settings.gates.brain, self.data.is_empty()) {
            (true, true) => memories.to_owned(),
            (true, false) => hash_of(&[memories.as_bytes(), self.data.as_bytes()]),
            (false, _) => hash_of(&[self.data.as_bytes()]),
        }
    }
}

fn hash_of(fields: &[&[u8]]) -> String {
    format!("{:016x}", hash_fields(fields))
}

impl Cycle {
    /// Reads what the gates of the settings consist of.
    ///
    /// # Errors
    /// More files or bytes than are read.
    pub(super) fn programs_of(&self, settings: &Deliberation) -> Result<Programs, CycleError> {
        let here = |listed: &String| match (listed.strip_prefix("~/"), &self.shared.place.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(listed),
        };
        let is_of_system = |at: usize, path: &Path| at == 0 && SYSTEM.iter().any(|place| path.starts_with(place));
        let (mut rules, mut data) = (Seen::default(), Seen::default());
        for gate in &settings.gate {
            for (at, named) in gate.argv.iter().enumerate() {
                let path = PathBuf::from(named);
                if path.is_absolute() && path.is_file() && !is_of_system(at, &path) {
                    rules.file(&path)?;
                }
            }
            for path in gate.reads.iter().map(here) {
                data.all_of(&path)?;
            }
        }
        Ok(Programs { rules: rules.hash(), data: data.hash() })
    }
}

/// Files, each with its path and the hash of its content.
#[derive(Default)]
struct Seen {
    fields: Vec<String>,
    bytes: u64,
}

impl Seen {
    fn hash(&self) -> String {
        let fields: Vec<&[u8]> = self.fields.iter().map(String::as_bytes).collect();
        if fields.is_empty() { String::new() } else { hash_of(&fields) }
    }

    /// A file, or all files of a folder by name. What cannot be read is not seen by the program either.
    fn all_of(&mut self, path: &Path) -> Result<(), CycleError> {
        let Ok(entries) = std::fs::read_dir(path) else { return self.file(path) };
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // A program leaves these behind, and reads nothing of them that its files do not say.
            let is_left = name.starts_with('.') || name == "__pycache__";
            let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
            match is_link {
                _ if is_left => {}
                // A circle of links has no end.
                true if path.is_dir() => {}
                _ => self.all_of(&path)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), CycleError> {
        // A pipe would wait for a writer.
        let Some(mut file) = path.is_file().then(|| File::open(path).ok()).flatten() else { return Ok(()) };
        let (mut state, mut piece) = (Vec::new(), Vec::new());
        loop {
            piece.clear();
            let taken = Read::take(&mut file, limits::GATE_PIECE_BYTES as u64).read_to_end(&mut piece);
            if taken.unwrap_or(0) == 0 {
                break;
            }
            self.bytes += piece.len() as u64;
            state = hash_of(&[&state, &piece]).into_bytes();
            if self.bytes > limits::GATE_DATA_BYTES || self.fields.len() > 2 * limits::GATE_FILES {
                return Err(CycleError::refused(format!(
                    "the gates of [deliberation] read more than {} MiB or {} files, so no cycle could say on what it was judged: name less in `reads`",
                    limits::GATE_DATA_BYTES >> 20,
                    limits::GATE_FILES
                )));
            }
        }
        self.fields.push(path.display().to_string());
        self.fields.push(String::from_utf8_lossy(&state).into_owned());
        Ok(())
    }
}
