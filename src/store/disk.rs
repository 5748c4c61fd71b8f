//! Small steps on the disk that several places take.

use std::fs::File;
use std::path::Path;

use super::StoreError;

/// Waits until a folder's entries are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(folder).and_then(|f| f.sync_all()).map_err(StoreError::file(folder))?;
    }
    Ok(())
}

/// Removes a file of ours that would stand in others' way, twice if it must be: nobody else will.
pub(super) fn discard(path: &Path) {
    let _ = std::fs::remove_file(path).or_else(absent_is_fine).or_else(|_| std::fs::remove_file(path));
}

/// Removing what is not there is no error.
pub(super) fn absent_is_fine(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
