//! Gates that are programs, and the data that they see, as hashes: a judge that was mended is another judge, and its data are evidence.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
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
    /// The files, each as it was before it was read.
    files: Vec<Touched>,
}

/// A file, and what no program can set as it likes: a file that was changed and changed back has another place or another time of change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Touched {
    path: PathBuf,
    /// Device, inode, size, and the time of change in seconds and nanoseconds; none: it is not there.
    state: Option<[i128; 5]>,
}

impl Touched {
    fn of(path: &Path) -> Self {
        let state = std::fs::metadata(path).ok().map(|meta| {
            let (place, change) = ((meta.dev(), meta.ino()), (meta.ctime(), meta.ctime_nsec()));
            [place.0.into(), place.1.into(), meta.size().into(), change.0.into(), change.1.into()]
        });
        Self { path: path.to_owned(), state }
    }
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
        let (rules, data) = self.files_of(settings)?;
        let files = rules.iter().chain(&data).map(|path| Touched::of(path)).collect();
        Ok(Programs { rules: hash_of_files(&rules)?, data: hash_of_files(&data)?, files })
    }

    /// Measures by the gates that were hashed and no others: they and their data are the same before and after, and nobody touched them in between.
    ///
    /// # Errors
    /// They are others: then nothing of what was measured counts.
    pub(super) fn by_the_same<T>(
        &self,
        programs: &Programs,
        settings: &Deliberation,
        measure: impl FnOnce() -> Result<T, CycleError>,
    ) -> Result<T, CycleError> {
        if settings.gate.is_empty() {
            return measure();
        }
        let mut before = self.touched(settings)?;
        if before != programs.files {
            // What was touched may have the same bytes, such as after a checkout.
            let now = self.programs_of(settings)?;
            if (&now.rules, &now.data) != (&programs.rules, &programs.data) {
                return Err(changed(&programs.files, &now.files));
            }
            before = now.files;
        }
        let measured = measure()?;
        let after = self.touched(settings)?;
        if before == after { Ok(measured) } else { Err(changed(&before, &after)) }
    }

    fn touched(&self, settings: &Deliberation) -> Result<Vec<Touched>, CycleError> {
        let (rules, data) = self.files_of(settings)?;
        Ok(rules.iter().chain(&data).map(|path| Touched::of(path)).collect())
    }

    /// The files of the programs and those of their data.
    fn files_of(&self, settings: &Deliberation) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CycleError> {
        let here = |listed: &String| match (listed.strip_prefix("~/"), &self.shared.place.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(listed),
        };
        let is_of_system = |at: usize, path: &Path| at == 0 && SYSTEM.iter().any(|place| path.starts_with(place));
        let (mut rules, mut data) = (Vec::new(), Vec::new());
        for gate in &settings.gate {
            for (at, named) in gate.argv.iter().enumerate() {
                let path = PathBuf::from(named);
                if path.is_absolute() && path.is_file() && !is_of_system(at, &path) {
                    rules.push(path);
                }
            }
            for path in gate.reads.iter().map(here) {
                all_of(path, &mut data)?;
            }
        }
        Ok((rules, data))
    }
}

/// The refusal of what was measured by files that changed meanwhile, with the first of them.
fn changed(before: &[Touched], after: &[Touched]) -> CycleError {
    let one =
        before.iter().find(|file| !after.contains(file)).or_else(|| after.iter().find(|file| !before.contains(file)));
    let path = one.map(|file| file.path.display().to_string()).unwrap_or_default();
    CycleError::Refused {
        message: format!("{path} changed while the gates of [deliberation] measured, so the cycle counts for nothing"),
        hint: Some("nothing of it is kept; once gates and their data are at rest, `git brain deliberate` measures by what lies there".to_owned()),
    }
}

/// A file, or all files of a folder by name. What cannot be read is not seen by the program either.
fn all_of(path: PathBuf, files: &mut Vec<PathBuf>) -> Result<(), CycleError> {
    let Ok(entries) = std::fs::read_dir(&path) else {
        files.push(path);
        return if files.len() > limits::GATE_FILES { Err(too_much()) } else { Ok(()) };
    };
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
            _ => all_of(path, files)?,
        }
    }
    Ok(())
}

fn too_much() -> CycleError {
    CycleError::refused(format!(
        "the gates of [deliberation] read more than {} MiB or {} files, so no cycle could say on what it was judged: name less in `reads`",
        limits::GATE_DATA_BYTES >> 20,
        limits::GATE_FILES
    ))
}

/// The hash of files, of the path and the content of each; of none it is empty.
fn hash_of_files(files: &[PathBuf]) -> Result<String, CycleError> {
    let (mut fields, mut bytes) = (Vec::new(), 0);
    for path in files {
        // A pipe would wait for a writer.
        let Some(mut file) = path.is_file().then(|| File::open(path).ok()).flatten() else { continue };
        let (mut state, mut piece) = (Vec::new(), Vec::new());
        loop {
            piece.clear();
            let taken = Read::take(&mut file, limits::GATE_PIECE_BYTES as u64).read_to_end(&mut piece);
            if taken.unwrap_or(0) == 0 {
                break;
            }
            bytes += piece.len() as u64;
            state = hash_of(&[&state, &piece]).into_bytes();
            if bytes > limits::GATE_DATA_BYTES {
                return Err(too_much());
            }
        }
        fields.push(path.display().to_string());
        fields.push(String::from_utf8_lossy(&state).into_owned());
    }
    let fields: Vec<&[u8]> = fields.iter().map(String::as_bytes).collect();
    Ok(if fields.is_empty() { String::new() } else { hash_of(&fields) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_and_changed_back_was_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("gate"), folder.path().join("other"));
        std::fs::write(&path, "strict").unwrap();
        let (before, hash) = (Touched::of(&path), hash_of_files(std::slice::from_ref(&path)).unwrap());
        assert_eq!(before, Touched::of(&path));
        std::fs::write(&other, "strict").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(hash, hash_of_files(std::slice::from_ref(&path)).unwrap());
        assert_ne!(before, Touched::of(&path));
    }
}
