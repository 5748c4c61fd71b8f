//! Moving a branch that exists, as git's files have it: `<ref>.lock`, compare, reflog, rename.
//!
//! It is what libgit2 does, but for one thing: libgit2 waits until the reflog's line and its folder are on disk as well, which
//! is two of the seven fsyncs of a publication. The reflog helps people after the fact; that a ref survives a power failure
//! does not depend on it, and git itself does not wait for it either. Whatever is unusual is left to libgit2.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use git2::{ErrorClass, ErrorCode, ReferenceType};

use super::{Branch, CommitId, Step, Store};
use crate::limits;
use crate::store::disk::sync_folder;

/// A lock file of ours; dropping it removes it, unless it has become the ref.
struct RefLock(Option<PathBuf>);

impl Drop for RefLock {
    fn drop(&mut self) {
        let _ = self.0.as_ref().map(std::fs::remove_file);
    }
}

impl Store {
    /// Moves a branch by compare-and-swap; it is on disk when this returns. `None`: nothing was done, and libgit2 is to see to it.
    pub(super) fn advance(
        &self,
        branch: &Branch,
        expected: CommitId,
        new: CommitId,
        reason: &str,
    ) -> Result<Option<Step>, git2::Error> {
        let name = branch.full();
        let (path, log) = (self.common.join(&name), self.common.join("logs").join(&name));
        // Whether there shall be a reflog is a matter of configuration; a branch that is checked out has HEAD's as well; and one that is
        // packed may have an empty folder of its name.
        if !log.is_file() || self.is_head(&name) || path.is_dir() {
            return Ok(None);
        }
        let lock = self.common.join(format!("{name}.lock"));
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&lock) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                let text = format!("failed to lock {}", lock.display());
                return Err(git2::Error::new(ErrorCode::Locked, ErrorClass::Os, text));
            }
            // A ref that is packed may have no folder.
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(os(&lock, &e)),
        };
        let mut guard = RefLock(Some(lock.clone()));
        match self.repository.find_reference(&name) {
            Ok(found) if found.kind() != Some(ReferenceType::Direct) => return Ok(None),
            Ok(found) if found.target() != Some(expected.0) => {
                return Ok(Some(Step::Found(found.target().map(CommitId))));
            }
            Ok(_) => {}
            Err(e) if e.code() == ErrorCode::NotFound => return Ok(Some(Step::Found(None))),
            Err(e) => return Err(e),
        }
        file.write_all(format!("{new}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(|e| os(&lock, &e))?;
        let line = self.log_line(expected, new, reason);
        let logged = OpenOptions::new().append(true).open(&log).and_then(|mut log| log.write_all(line.as_bytes()));
        logged.map_err(|e| os(&log, &e))?;
        if *branch == self.wake {
            self.shorten(&log);
        }
        std::fs::rename(&lock, &path).map_err(|e| os(&path, &e))?;
        // From now on, a lock of that name is somebody else's.
        guard.0 = None;
        let folder = path.parent().unwrap_or(&self.common);
        sync_folder(folder).map_err(|e| git2::Error::new(ErrorCode::GenericError, ErrorClass::Os, e.to_string()))?;
        Ok(Some(Step::Made))
    }

    /// Whether a HEAD that libgit2 would log for names the branch.
    fn is_head(&self, name: &str) -> bool {
        let head = format!("ref: {name}");
        let on = |folder: &std::path::Path| {
            std::fs::read_to_string(folder.join("HEAD")).is_ok_and(|text| text.trim_end() == head)
        };
        on(&self.common) || on(self.repository.path())
    }

    /// Forgets the older half of a reflog that has grown beyond [`limits::WAKE_REFLOG_BYTES`]: wake's history has all that it was, and the
    /// newest lines are what mends a damaged ref. Whoever else writes to a reflog holds its ref's lock, as the caller does.
    fn shorten(&self, log: &std::path::Path) {
        let shortened = || -> std::io::Result<()> {
            if std::fs::metadata(log)?.len() <= limits::WAKE_REFLOG_BYTES {
                return Ok(());
            }
            let text = std::fs::read(log)?;
            let half = text.len() / 2;
            let line = text[half..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| half + at + 1);
            let mut file = tempfile::NamedTempFile::new_in(self.private_dir())?;
            file.as_file().set_permissions(std::fs::metadata(log)?.permissions())?;
            file.write_all(&text[line..])?;
            file.persist(log).map_err(|e| e.error).map(drop)
        };
        // A long reflog does no harm.
        if let Err(error) = shortened() {
            tracing::info!("{} was not shortened: {error}", log.display());
        }
    }

    /// A line of a reflog, as git writes it: old, new, who, when, a tab, why.
    fn log_line(&self, old: CommitId, new: CommitId, reason: &str) -> String {
        let (name, email) = self.user();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        format!("{old} {new} {name} <{email}> {seconds} +0000\t{}\n", reason.replace(['\n', '\r'], " "))
    }
}

fn os(path: &std::path::Path, error: &std::io::Error) -> git2::Error {
    git2::Error::new(ErrorCode::GenericError, ErrorClass::Os, format!("{}: {error}", path.display()))
}
