//! Files and standard input that people name on the command line, read within a bound.

use std::io::Read;
use std::path::Path;

use super::WorldError;

/// Reads a file of at most `max` bytes.
pub fn read_bounded(path: &Path, max: usize) -> Result<Vec<u8>, WorldError> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|source| WorldError::Read { path: name.clone(), source })?;
    bounded(file, name, max)
}

/// Reads standard input of at most `max` bytes.
pub fn read_stdin_bounded(max: usize) -> Result<Vec<u8>, WorldError> {
    bounded(std::io::stdin().lock(), "standard input".to_owned(), max)
}

fn bounded(reader: impl Read, name: String, max: usize) -> Result<Vec<u8>, WorldError> {
    let mut bytes = Vec::new();
    let read = reader.take(max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|source| WorldError::Read { path: name.clone(), source })?;
    if bytes.len() > max {
        return Err(WorldError::Large { path: name, max });
    }
    Ok(bytes)
}
