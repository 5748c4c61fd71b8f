//! What keeps a git folder that somebody else made from reaching outside itself.
//!
//! A clone brings objects and nothing else. A folder that was copied, unpacked or lies on a shared disk brings its git
//! folder too, with configuration, links between work trees, and our own private folder: all of it written by whoever
//! made it. So nothing there may name a place that we then write to or delete.

use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::StoreError;
use crate::limits;

/// How deep links are looked for in the private folder: its folders, and the files in them.
const PRIVATE_DEPTH: usize = 2;
/// Our private folder in a git folder.
const PRIVATE: &str = "git-brain";

/// Whether a folder is the work tree of that git folder by its own word: its `.git` is the git folder, or a file that
/// names it. `core.worktree` and `worktrees/*/gitdir` alone could name anybody's folder.
///
/// # Errors
/// The disk fails, or there are too many open files: it may be one.
pub(super) fn leads_here(root: &Path, git_dir: &Path) -> std::io::Result<bool> {
    let link = root.join(".git");
    let Some(found) = present(std::fs::symlink_metadata(&link))? else { return Ok(false) };
    let named = if found.is_file() {
        let text = present(std::fs::read_to_string(&link))?.unwrap_or_default();
        let Some(named) = text.strip_prefix("gitdir:").map(str::trim) else { return Ok(false) };
        root.join(named)
    } else {
        link
    };
    let named = present(named.canonicalize())?;
    Ok(named.is_some() && named == present(git_dir.canonicalize())?)
}

/// What was read; `None` where there is no such thing, or another thing of its name. A failure of the system stays an error: whoever
/// took it for an absence would leave undone what is due.
pub(super) fn present<T>(read: std::io::Result<T>) -> std::io::Result<Option<T>> {
    use std::io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
    match read {
        Ok(found) => Ok(Some(found)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | IsADirectory | InvalidData) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The repository in whose work tree a bare one lies. Files of a clone can look like a bare repository, configuration and
/// all, and a command that is run inside such a folder would take it for the one that is meant.
pub(super) fn embedded_in(repository: &git2::Repository) -> Option<PathBuf> {
    let above = repository.is_bare().then(|| repository.path().parent())??;
    let around = git2::Repository::discover(above).ok()?;
    around.workdir().map(Path::to_owned)
}

/// Refuses a private folder that is a symlink or has one in it: we write, append and delete there.
pub(super) fn refuse_links(private: &Path) -> Result<(), StoreError> {
    for entry in walkdir::WalkDir::new(private).follow_root_links(false).max_depth(PRIVATE_DEPTH) {
        // What another process renames or removes meanwhile is no link.
        let Ok(entry) = entry else { continue };
        if entry.path_is_symlink() {
            return Err(StoreError::Link { path: entry.into_path() });
        }
    }
    Ok(())
}

/// Refuses what git and libgit2 write to where it is a link out of the git folder: they would follow it. `objects` and `refs` may be links.
pub(super) fn refuse_links_away(git_dir: &Path, common: &Path) -> Result<(), StoreError> {
    let written = ["HEAD", "config", "config.worktree", "index", "packed-refs", "info", "logs", "worktrees"];
    for path in [git_dir, common].iter().flat_map(|folder| written.map(|name| folder.join(name))) {
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(StoreError::Link { path });
        }
    }
    Ok(())
}

/// Refuses pipes, sockets and devices where git, libgit2 and this program read: they would be waited for. `around` is a folder in or above which
/// a repository is looked for, before anything of it is read.
pub(super) fn refuse_irregular(around: &Path) -> Result<(), StoreError> {
    let around = std::path::absolute(around).unwrap_or_else(|_| around.to_owned());
    for above in around.ancestors() {
        let named = above.join(".git");
        let git_dir = match std::fs::symlink_metadata(&named) {
            Ok(found) if found.is_file() => {
                let text = std::fs::read_to_string(&named).unwrap_or_default();
                above.join(text.strip_prefix("gitdir:").unwrap_or_default().trim())
            }
            Ok(_) => named,
            Err(_) if above.join("objects").is_dir() && above.join("refs").is_dir() => above.to_owned(),
            Err(_) => continue,
        };
        refuse_irregular_in(&git_dir)?;
        let common = std::fs::read_to_string(git_dir.join("commondir")).unwrap_or_default();
        return if common.is_empty() { Ok(()) } else { refuse_irregular_in(&git_dir.join(common.trim())) };
    }
    Ok(())
}

/// Refuses a `.gitattributes` that is a pipe, socket or device in a folder on the way to a file of a work tree: who asks git for the file's
/// attributes would wait for it.
pub(super) fn refuse_waiting(root: &Path, path: &str) -> Result<(), StoreError> {
    let mut at = root.to_owned();
    for part in Path::new(path).components() {
        let attributes = at.join(".gitattributes");
        if std::fs::metadata(&attributes).is_ok_and(|found| waits(found.file_type())) {
            return Err(StoreError::Irregular { path: attributes });
        }
        at.push(part);
    }
    Ok(())
}

/// Whether it is a pipe or device. To open a socket fails at once.
fn waits(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

fn refuse_irregular_in(git_dir: &Path) -> Result<(), StoreError> {
    let walks = [
        ("", 1),
        ("objects", 2),
        ("refs", 64),
        ("logs", 64),
        ("info", 2),
        ("hooks", 1),
        ("worktrees", 2),
        (PRIVATE, 3),
    ];
    for (name, depth) in walks {
        for entry in walkdir::WalkDir::new(git_dir.join(name)).min_depth(1).max_depth(depth).into_iter().flatten() {
            let (kind, path) = (entry.file_type(), entry.into_path());
            // A hook that is a link to `/dev/null` is none.
            let led = kind.is_symlink()
                && std::fs::metadata(&path).is_ok_and(|found| waits(found.file_type()))
                && path.canonicalize().is_ok_and(|to| to != Path::new("/dev/null"));
            if led || waits(kind) {
                return Err(StoreError::Irregular { path });
            }
            refuse_oversized(name, &path)?;
        }
    }
    Ok(())
}

/// Refuses a file that git or this program reads whole and that is larger than any that either writes. Caches are mapped.
fn refuse_oversized(folder: &str, path: &Path) -> Result<(), StoreError> {
    let limit = match folder {
        "" if path.file_name().is_some_and(|name| name == "config" || name == "config.worktree") => {
            limits::GIT_CONFIG_BYTES
        }
        PRIVATE if !path.parent().is_some_and(|parent| parent.ends_with("cache")) => limits::PRIVATE_BYTES,
        _ => return Ok(()),
    };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() > limit => {
            Err(StoreError::Oversized { path: path.to_owned(), bytes: found.len(), limit })
        }
        _ => Ok(()),
    }
}

/// Refuses a git folder that says that its objects and refs are another repository's, unless it is a folder of that one's `worktrees/`,
/// as `git worktree` makes them: who was given the folder would write where its maker likes.
pub(super) fn refuse_borrowed(git_dir: &Path, common: &Path) -> Result<(), StoreError> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (git_dir, common) = (whole(git_dir), whole(common));
    if git_dir == common || git_dir.parent() == Some(&common.join("worktrees")) {
        return Ok(());
    }
    Err(StoreError::Borrowed { path: git_dir, from: common })
}

/// The lock file that a plan names, if it is one of git's locks in that git folder: no other file is ever removed.
pub(super) fn own_lock(common: &Path, named: &Path) -> Option<PathBuf> {
    let path = common.join(named);
    let (folder, name) = (path.parent()?.canonicalize().ok()?, path.file_name()?);
    let inside = folder.starts_with(common.canonicalize().ok()?);
    let is_lock = Path::new(name).extension().is_some_and(|e| e == "lock");
    let is_plain = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    (inside && is_lock && is_plain).then_some(path)
}

/// A file of a work tree, if no folder on its way, and not itself, is a symlink.
pub(super) fn plain_path(root: &Path, path: &str) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for part in Path::new(path).components() {
        let std::path::Component::Normal(name) = part else { return None };
        at.push(name);
        if std::fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink()) {
            return None;
        }
    }
    Some(at)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::store::sandbox::Sandbox;

    #[test]
    fn a_work_tree_says_itself_whose_it_is() {
        let sandbox = Sandbox::brain();
        let other = tempfile::tempdir().unwrap();
        let git_dir = sandbox.path().join(".git");
        assert!(leads_here(&sandbox.path(), &git_dir).unwrap());
        assert!(!leads_here(other.path(), &git_dir).unwrap(), "no .git");
        std::fs::write(other.path().join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        assert!(leads_here(other.path(), &git_dir).unwrap());
        std::fs::write(other.path().join(".git"), "gitdir: /elsewhere\n").unwrap();
        assert!(!leads_here(other.path(), &git_dir).unwrap());
        std::fs::remove_file(other.path().join(".git")).unwrap();
        symlink(".git", other.path().join(".git")).unwrap();
        assert!(leads_here(other.path(), &git_dir).is_err(), "nobody can say");
    }

    #[test]
    fn links_in_the_private_folder_are_refused() {
        let sandbox = Sandbox::brain();
        let (store, outside) = (sandbox.store(), tempfile::tempdir().unwrap());
        let private = store.private_dir();
        assert!(refuse_links(&private).is_ok());
        assert!(refuse_links(&private.join("not-there")).is_ok());
        for name in ["hook.log", "locks/other"] {
            symlink(outside.path(), private.join(name)).unwrap();
            assert!(refuse_links(&private).unwrap_err().to_string().contains(name));
            std::fs::remove_file(private.join(name)).unwrap();
        }
        std::fs::rename(&private, sandbox.path().join("moved")).unwrap();
        symlink(sandbox.path().join("moved"), &private).unwrap();
        assert!(refuse_links(&private).is_err());
    }

    #[test]
    fn a_git_folder_borrows_from_nobody_but_as_a_work_tree_of_his() {
        let (sandbox, other) = (Sandbox::brain(), tempfile::tempdir().unwrap());
        let (victim, copy) = (sandbox.path().join(".git"), other.path().join(".git"));
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(copy.join(folder)).unwrap();
        }
        std::fs::write(copy.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(copy.join("commondir"), format!("{}\n", victim.display())).unwrap();
        let refused = crate::store::Store::open(other.path()).err().unwrap().to_string();
        assert!(refused.contains("commondir") && refused.contains(victim.to_str().unwrap()), "{refused}");
        assert!(
            refuse_borrowed(&victim, &victim).is_ok() && refuse_borrowed(&victim.join("worktrees/w"), &victim).is_ok()
        );
    }

    #[test]
    fn only_locks_in_the_git_folder_are_ours_to_remove() {
        let sandbox = Sandbox::brain();
        let (common, outside) = (sandbox.path().join(".git"), tempfile::tempdir().unwrap());
        let precious = outside.path().join("precious.lock");
        std::fs::write(&precious, "").unwrap();
        std::fs::write(common.join("refs/heads/wake.lock"), "").unwrap();
        symlink(&precious, common.join("refs/heads/main.lock")).unwrap();
        symlink(outside.path(), common.join("away")).unwrap();
        assert!(own_lock(&common, Path::new("refs/heads/wake.lock")).is_some());
        assert!(own_lock(&common, &common.join("refs/heads/wake.lock")).is_some());
        for named in [precious.to_str().unwrap(), "config", "refs/heads/main.lock", "away/precious.lock", "none.lock"] {
            assert_eq!(own_lock(&common, Path::new(named)), None, "{named}");
        }
    }

    #[test]
    fn no_file_is_reached_through_a_link() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), root.path().join("network")).unwrap();
        symlink("/dev/zero", root.path().join("brain.toml")).unwrap();
        for path in ["network/neurons/a.json", "network", "brain.toml", "../x", "/x"] {
            assert_eq!(plain_path(root.path(), path), None, "{path}");
        }
        assert!(plain_path(root.path(), "agents/a.json").is_some());
    }
}
