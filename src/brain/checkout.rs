//! `checkout`: files of the network in the work tree, for people who look at them or edit them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Brain, BrainError};
use crate::model::layout;
use crate::store::{CheckedOut, Store};

/// A work tree, and the part of the network in it.
#[derive(Clone, Debug, Serialize)]
pub struct CheckoutReport {
    /// The work tree.
    pub work_tree: PathBuf,
    /// The part of the network that is in it.
    pub on_disk: CheckedOut,
    /// The number of files that its branch has there.
    pub files: usize,
    /// Files that stay where they are not wanted, because they were edited. Git adds them with `git add --sparse`.
    pub left: Vec<String>,
}

impl Brain {
    /// Brings the network's files into the work tree around `dir`; where `folders` are named (`neurons` or `network/neurons`) those beside
    /// what is there already, none with `none`. No branch moves, nothing that was edited is lost.
    ///
    /// # Errors
    /// Usage: no branch of a brain is checked out there, or a folder is none of its network.
    pub fn checkout(dir: &Path, folders: &[String], none: bool) -> Result<CheckoutReport, BrainError> {
        let store = Store::open(dir)?;
        let (branch, head) = store.head()?;
        let tree = head.map(|head| store.tree_of(head)).transpose()?;
        let of_brain = tree.filter(|tree| store.file(*tree, layout::METADATA).is_ok_and(|found| found.is_some()));
        let (Some(work_tree), Some(tree)) = (store.work_dir(), of_brain) else {
            return Err(BrainError::Usage {
                message: "no branch of the brain is checked out here".to_owned(),
                hint: Some(format!("`git worktree add ../brain {}`, and give this command there", store.wake())),
            });
        };
        let mut wanted = Vec::new();
        for folder in folders {
            let inside = folder.trim_start_matches("./").trim_end_matches('/');
            let inside = inside.strip_prefix("network/").unwrap_or(inside);
            let path = if inside == "network" { inside.to_owned() } else { format!("{}/{inside}", layout::NETWORK) };
            let plain =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            if !path.split('/').all(plain) || store.folder(tree, &path)?.is_none() {
                let branch = branch.map_or_else(|| "HEAD".to_owned(), |branch| branch.to_string());
                let hint = format!("`git ls-tree {branch} network/` lists them");
                return Err(BrainError::Usage { message: format!("{branch} has no folder {path}"), hint: Some(hint) });
            }
            wanted.push(path);
        }
        let all = !none && (wanted.is_empty() || wanted.iter().any(|path| path == layout::NETWORK));
        let on_disk = match (none, all) {
            (true, _) => CheckedOut::Nothing,
            (_, true) => CheckedOut::All,
            _ => store.checked_out().unwrap_or(CheckedOut::Nothing).and(wanted),
        };
        let left = store.check_out(&on_disk)?;
        let folders = match &on_disk {
            CheckedOut::All => vec![layout::NETWORK.to_owned()],
            CheckedOut::Folders(folders) => folders.clone(),
            CheckedOut::Nothing => Vec::new(),
        };
        let mut files = 0;
        for folder in folders {
            for (path, _) in store.files(tree, &folder)? {
                files += usize::from(store.is_on_disk(&path));
            }
        }
        Ok(CheckoutReport { work_tree, on_disk, files, left })
    }
}
