//! Work that is left for a process in the background: small files in the private folder, one for each name, the newest wins.

use std::io::Write;
use std::path::PathBuf;

use super::{Store, StoreError};

/// The folder of jobs, in the private folder.
const JOBS: &str = "captures";

impl Store {
    /// Leaves a job, in place of one of the same name.
    pub fn leave_job(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let folder = self.private_dir().join(JOBS);
        let path = folder.join(name).with_extension("json");
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(content)?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| StoreError::File { path: path.clone(), source })
    }

    /// The files of the jobs that wait.
    pub fn jobs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.private_dir().join(JOBS)).into_iter().flatten().filter_map(Result::ok);
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
    }

    /// Takes a job away, and returns what it says; nothing where another process was faster.
    pub fn take_job(&self, path: &std::path::Path) -> Option<Vec<u8>> {
        let content = std::fs::read(path).ok();
        std::fs::remove_file(path).ok()?;
        content
    }
}
