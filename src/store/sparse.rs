//! Which files of a branch are on disk: git's sparse checkout, read and set.
//!
//! A brain's network is read from git's objects by everything here; only people look at its files. `init` leaves it out of the work
//! tree, `git brain checkout` brings it there. What git writes (`core.sparseCheckout`, `info/sparse-checkout`, in patterns or
//! in cones) is understood as it is, whoever wrote it.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Serialize;

use super::intent::Plan;
use super::{LockName, Store, StoreError, child};
use crate::model::layout;

const SWITCH: &str = "core.sparseCheckout";
const CONES: &str = "core.sparseCheckoutCone";
/// The key by which each work tree has a configuration of its own besides.
const OWN_CONFIG: &str = "extensions.worktreeConfig";
const PATTERNS: &str = "info/sparse-checkout";

/// The part of the network that a work tree holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedOut {
    /// All of it.
    All,
    /// These folders.
    Folders(Vec<String>),
    /// Nothing.
    Nothing,
}

impl CheckedOut {
    /// The patterns of git, one a line: everything, without `network/`, with the folders in it that are wanted.
    fn patterns(&self) -> String {
        let mut lines = "/*\n".to_owned();
        if *self != Self::All {
            lines.push_str("!/network/\n");
        }
        if let Self::Folders(folders) = self {
            folders.iter().for_each(|folder| lines.push_str(&format!("/{folder}/\n")));
        }
        lines
    }

    /// The part that these patterns of ours name; `None` for a person's.
    fn of_patterns(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        match (lines.next(), lines.next()) {
            (Some("/*"), None) => return Some(Self::All),
            (Some("/*"), Some("!/network/")) => {}
            _ => return None,
        }
        let folder = |line: &str| Some(line.strip_prefix('/')?.strip_suffix('/')?.to_owned());
        let folders: Vec<String> = lines.map(folder).collect::<Option<_>>()?;
        let plain = folders.iter().all(|folder| folder.starts_with("network/") && !folder.contains(['*', '?', '[']));
        match folders.is_empty() {
            true => Some(Self::Nothing),
            false => plain.then_some(Self::Folders(folders)),
        }
    }

    /// This and some folders more. A folder inside of one that is there adds nothing.
    #[must_use]
    pub fn and(self, more: Vec<String>) -> Self {
        let mut folders = match self {
            Self::All => return Self::All,
            Self::Folders(folders) => folders,
            Self::Nothing => Vec::new(),
        };
        for folder in more {
            if !folders.iter().any(|known| folder == *known || folder.starts_with(&format!("{known}/"))) {
                folders.retain(|known| !known.starts_with(&format!("{folder}/")));
                folders.push(folder);
            }
        }
        Self::Folders(folders)
    }
}

/// The files that a work tree leaves out.
pub(super) struct Sparse(Option<Gitignore>);

impl Sparse {
    /// Of the work tree whose own git folder (not the common one) is `git_dir`. A checkout that says it is sparse and has no
    /// readable patterns is taken by git for a full one, and here.
    pub fn of(git_dir: &Path) -> Self {
        Self(patterns_of(git_dir).map(|text| matcher(&text)))
    }

    /// Whether the file at this path, from the root of the work tree, is not on disk.
    pub fn leaves_out(&self, path: &str) -> bool {
        // The last pattern that matches the path decides, else the last one that matches its folder, and so on upwards.
        self.0.as_ref().is_some_and(|patterns| !patterns.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// The patterns of a sparse checkout; `None` where it is a full one.
fn patterns_of(git_dir: &Path) -> Option<String> {
    let on = git2::Repository::open(git_dir)
        .and_then(|repository| repository.config()?.snapshot()?.get_bool(SWITCH))
        .unwrap_or(false);
    on.then(|| std::fs::read_to_string(git_dir.join(PATTERNS)).ok()).flatten()
}

fn matcher(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        // Git warns of a pattern that it cannot read, and goes on.
        if let Err(error) = builder.add_line(None, line) {
            tracing::info!("{PATTERNS}: {error}");
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

impl Store {
    /// Lets a work tree that is about to be made be without the network.
    pub(super) fn start_sparse(&self) -> Result<(), StoreError> {
        let _intent = self.intend(Plan::default().lock("config.lock", None))?;
        self.set_local_config(CONES, "false")?;
        self.set_local_config(SWITCH, "true")?;
        let path = self.common.join(PATTERNS);
        let folder = path.parent().unwrap_or(&self.common);
        std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
        std::fs::write(&path, CheckedOut::Nothing.patterns()).map_err(StoreError::file(&path))?;
        std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(StoreError::file(&path))
    }

    /// The part of the network that the work tree holds; `None` where a person said it in patterns of their own.
    pub fn checked_out(&self) -> Option<CheckedOut> {
        match patterns_of(self.repository.path()) {
            None => Some(CheckedOut::All),
            Some(text) => CheckedOut::of_patterns(&text),
        }
    }

    /// Brings files of the network into the work tree, or takes them from it. Git does it, and leaves alone what a person edited: those
    /// files are returned.
    ///
    /// # Errors
    /// There is no work tree, or another git command holds the index.
    pub fn check_out(&self, wanted: &CheckedOut) -> Result<Vec<String>, StoreError> {
        let failed = |said: &str| StoreError::File {
            path: "git sparse-checkout".into(),
            source: std::io::Error::other(said.trim().to_owned()),
        };
        let root = self.work_dir().ok_or_else(|| failed("there is no work tree"))?;
        // Nobody moves a branch under the work tree meanwhile.
        let _alone = self.lock(LockName::Trunk)?;
        let arguments: &[&str] = match wanted {
            CheckedOut::All => &["sparse-checkout", "disable"],
            _ => &["sparse-checkout", "set", "--no-cone", "--stdin"],
        };
        let folder = self.repository.path().join("info");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let shadow = self.shadow()?;
        let mut git = shadow.git();
        git.current_dir(&root).env("GIT_WORK_TREE", &root).args(arguments);
        let ended = child::ended(&mut git, wanted.patterns().as_bytes()).map_err(StoreError::file("git"))?;
        if !ended.status.success() {
            return Err(failed(&String::from_utf8_lossy(&ended.stderr)));
        }
        self.set_sparse(*wanted != CheckedOut::All)?;
        if *wanted != CheckedOut::Nothing {
            // What somebody removed from the disk comes back too; git takes that for an edit. Nothing is written over.
            let in_root = |arguments: &[&str], input: &[u8]| {
                let mut git = shadow.git();
                git.current_dir(&root).env("GIT_WORK_TREE", &root).args(arguments);
                child::ended(&mut git, input).map_err(StoreError::file("git"))
            };
            let gone = in_root(&["ls-files", "-z", "--deleted", "--", layout::NETWORK], b"")?;
            if !gone.stdout.is_empty() {
                in_root(&["checkout-index", "-q", "-u", "-z", "--stdin"], &gone.stdout)?;
            }
        }
        // Of its words those with a tab before them are paths.
        Ok(String::from_utf8_lossy(&ended.stderr)
            .lines()
            .filter_map(|line| line.strip_prefix('\t'))
            .map(str::to_owned)
            .collect())
    }

    /// Whether a file of the network is in the work tree, and not behind a link.
    pub fn is_on_disk(&self, path: &str) -> bool {
        let Some(root) = self.work_dir() else { return false };
        let is_folder = std::fs::symlink_metadata(root.join(layout::NETWORK)).is_ok_and(|found| found.is_dir());
        is_folder && std::fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_file())
    }

    /// Says in the repository's configuration that this work tree is sparse, or is not, as `git sparse-checkout` would: that of a linked
    /// work tree is its own.
    fn set_sparse(&self, on: bool) -> Result<(), StoreError> {
        let wrap = |e| StoreError::git("configuration of the work tree", e);
        let git_dir = self.repository.path();
        let _intent = self.intend(Plan::default().lock("config.lock", None))?;
        let mut shared = git2::Config::open(&self.common.join("config")).map_err(wrap)?;
        let own = shared.get_bool(OWN_CONFIG).unwrap_or(false);
        let mut config = match own || self.repository.is_worktree() {
            true => git2::Config::open(&git_dir.join("config.worktree")).map_err(wrap)?,
            false => git2::Config::open(&self.common.join("config")).map_err(wrap)?,
        };
        if self.repository.is_worktree() && !own {
            // What is true of the main work tree alone must not be said of all.
            let mut main = git2::Config::open(&self.common.join("config.worktree")).map_err(wrap)?;
            for key in ["core.bare", "core.worktree"] {
                if let Ok(value) = shared.get_string(key)
                    && value != "false"
                {
                    main.set_str(key, &value).and_then(|()| shared.remove(key)).map_err(wrap)?;
                }
            }
            shared.set_bool(OWN_CONFIG, true).map_err(wrap)?;
        }
        config.set_bool(CONES, false).and_then(|()| config.set_bool(SWITCH, on)).map_err(wrap)
    }
}
