//! A file of a work tree that did not follow its branch, and whether trying again may help.

use std::path::PathBuf;

/// A file of a work tree that did not follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The work tree.
    pub work_tree: PathBuf,
    /// The file's path in it.
    pub path: String,
    /// Why.
    pub reason: &'static str,
}

/// Reasons that may be gone the next time: the disk was full, or failed, or a person's `git commit` has its editor open.
pub(super) const UNREADABLE: &str = "it cannot be read";
pub(super) const UNWRITABLE: &str = "it could not be written";
pub(super) const LOCKED: &str = "another git command holds it";

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.work_tree.join(&self.path).display(), self.reason)
    }
}

impl Left {
    /// Whether trying again may help.
    pub(super) fn is_passing(&self) -> bool {
        [UNREADABLE, UNWRITABLE, LOCKED].contains(&self.reason)
    }

    /// Whether it is the index itself, whose lock is somebody else's.
    pub(super) fn is_locked(&self) -> bool {
        self.reason == LOCKED
    }
}
