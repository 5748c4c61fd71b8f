//! Maintenance: one pack per commit makes many packs, which git puts together.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::intent::discard_rubbish;
use super::writer::{KEEP_TEXT, SCRATCH};
use super::{LockName, Store, StoreError};
use crate::limits;

/// What a killed process left half written is rubbish after this long.
const RUBBISH: Duration = Duration::from_secs(24 * 3600);

impl Store {
    /// Repacks if there are more than [`limits::PACKS`] packs; true if it did.
    ///
    /// A geometric repack puts small packs together and drops no object, reachable or not, so that it is safe
    /// beside writers; nothing is ever pruned. Skipped without a word if git is missing or another process is at it.
    pub fn maintain(&self) -> Result<bool, StoreError> {
        self.maintain_beyond(limits::PACKS)
    }

    pub(super) fn maintain_beyond(&self, bound: usize) -> Result<bool, StoreError> {
        let folder = self.common.join("objects/pack");
        if count_packs(&folder) <= bound {
            return Ok(false);
        }
        let Some(_alone) = self.try_lock(LockName::Maintenance)? else { return Ok(false) };
        remove_rubbish(&self.common.join("objects"));
        let mut git = Command::new("git");
        for (key, _) in std::env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("GIT_")) {
            git.env_remove(key);
        }
        git.arg("--git-dir").arg(&self.common);
        git.args(["-c", "core.fsync=all", "-c", "core.hooksPath=/dev/null"]);
        git.args(["repack", "--geometric=2", "-d", "-n", "-q", "--write-midx"]);
        let ended = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match ended {
            Ok(status) => Ok(status.success()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(StoreError::file("git repack")(e)),
        }
    }
}

fn count_packs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
}

/// What killed processes left: folders with half-made packs, and `.keep`s.
fn remove_rubbish(objects: &Path) {
    for entry in std::fs::read_dir(objects).into_iter().flatten().flatten() {
        let half_made = entry.file_name().to_string_lossy().starts_with(SCRATCH);
        let modified = entry.metadata().and_then(|m| m.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if half_made && age.is_some_and(|age| age > RUBBISH) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    for entry in std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = || std::fs::read(&path).is_ok_and(|text| text == KEEP_TEXT.as_bytes());
        if path.extension().is_some_and(|x| x == "keep")
            && ours()
            && let Ok(file) = std::fs::File::open(&path)
        {
            discard_rubbish(&path, &file);
        }
    }
}

#[cfg(test)]
mod tests;
