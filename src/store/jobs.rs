//! Work that is left for a process in the background: small files, one for each name, the newest wins.
//!
//! They lie beside the records of trust, outside any repository: a job names a file to be read and words that a person said, and a folder that was
//! copied from elsewhere brings none.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Store, StoreError};
use crate::model::ids::hash_fields;

/// The folder of jobs, in that of the person's own state.
const JOBS: &str = "captures";

impl Store {
    /// The folder of this brain's jobs.
    pub fn job_folder(&self, state: &Path) -> PathBuf {
        state.join(JOBS).join(format!("{:016x}", hash_fields(&[self.common_dir().as_os_str().as_encoded_bytes()])))
    }
}

/// Leaves a job, in place of one of the same name.
pub fn leave_job(folder: &Path, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(name).with_extension("json");
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(content)?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|source| StoreError::File { path: path.clone(), source })
}

/// The files of the jobs that wait.
pub fn jobs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// Takes a job away, and returns what it says; nothing where another process was faster.
pub fn take_job(path: &Path) -> Option<Vec<u8>> {
    let content = std::fs::read(path).ok();
    std::fs::remove_file(path).ok()?;
    content
}
