//! Git's own commands as children, where git knows best: which files are staged in whatever kind of index, where hooks
//! lie, how texts merge. Arguments only, no shell; nothing of the repository's content is executed, and nothing that its
//! configuration names: `shadow` has the git folder that these commands are given.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::confine::plain_path;
use super::disk::sync_folder;
use super::tree::File;
use super::{BlobId, Branch, CommitId, FileChange, Store, StoreError, child};
use crate::model::{Stamp, layout};

/// Variables that tie a process to one repository or one command of git's: what `git rev-parse --local-env-vars` prints, and
/// the quarantine of a receiving hook. What a doorbell starts must not inherit them.
pub const LOCAL_VARIABLES: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_QUARANTINE_PATH",
];

/// The tree without files. Git knows it without having it.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The repository that git means when it calls a hook or a merge driver from `dir`: its `GIT_DIR`, else `dir`.
pub fn called_from(dir: &Path) -> PathBuf {
    variable("GIT_DIR").map_or_else(|| dir.to_owned(), |git_dir| dir.join(git_dir))
}

/// Git without a monitor of files, hooks, a pager, and objects from elsewhere. What works on a repository is given a
/// [`Shadow`](super::shadow::Shadow) of it besides.
pub(super) fn tame_git() -> Command {
    let mut git = Command::new("git");
    // An object that is not here is fetched by a partial clone, over whatever transport its configuration names. The
    // first variable is known since git 2.45; the second forbids every transport, in older ones as well.
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "").env("GIT_TERMINAL_PROMPT", "0");
    git.env("GIT_OPTIONAL_LOCKS", "0");
    git.args(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    git
}

/// A path of git's configuration as git itself finds it, the repository's own included, and where it was said, in git's words: `local`,
/// `worktree`, `global`, `system`. The only command that is given all of a repository's configuration; `git config --get` runs nothing.
pub(super) fn configured_path(git_dir: &Path, key: &str) -> Result<Option<(String, PathBuf)>, StoreError> {
    // Before everything else, or git would give what we say in its place.
    let mut git = Command::new("git");
    for name in LOCAL_VARIABLES {
        git.env_remove(name);
    }
    git.env("GIT_DIR", git_dir).args(["--no-pager", "config", "--null", "--show-scope", "--type=path", "--get", key]);
    let ended = child::ended(git.current_dir(git_dir), b"").map_err(StoreError::file("git config"))?;
    let said = String::from_utf8_lossy(&ended.stdout);
    let mut fields = said.split('\0');
    let (scope, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    Ok((ended.status.success() && !path.is_empty()).then(|| (scope.to_owned(), PathBuf::from(path))))
}

fn output(git: &mut Command, arguments: &[&str]) -> Result<Vec<u8>, StoreError> {
    let what = format!("git {}", arguments.first().copied().unwrap_or_default());
    let fail = |message: String| StoreError::File { path: what.clone().into(), source: std::io::Error::other(message) };
    let ended = child::ended(git, b"").map_err(StoreError::file(&what))?;
    if !ended.status.success() {
        return Err(fail(format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim())));
    }
    Ok(ended.stdout)
}

/// The version of the git command, as (major, minor); `None` if there is none.
pub fn git_version() -> Option<(u32, u32)> {
    let ended = child::ended(Command::new("git").arg("version"), b"").ok()?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let mut numbers = text.split_whitespace().nth(2)?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The moment that git takes a date in words for, such as `last friday`, at `now` and in UTC; `None` where it sees no date. Git looks
/// at no repository and no configuration.
///
/// # Errors
/// Git cannot be started.
pub fn date_in_words(text: &str, now: Stamp) -> Result<Option<Stamp>, StoreError> {
    let mut git = tame_git();
    for name in LOCAL_VARIABLES {
        git.env_remove(name);
    }
    git.env("GIT_DIR", "/dev/null").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    // Git's own tests fix its clock so.
    git.env("GIT_TEST_DATE_NOW", now.unix().to_string()).env("TZ", "UTC");
    git.args(["-c", &format!("brain.date={text}"), "config", "--type=expiry-date", "--get", "brain.date"]);
    let ended = child::ended(&mut git, b"").map_err(StoreError::file("git"))?;
    let seconds = String::from_utf8_lossy(&ended.stdout).trim().parse().ok();
    Ok(seconds.filter(|_| ended.status.success()).map(Stamp::from_unix))
}

/// Merges three text files as git would without a driver, into `ours`, with marks where both sides changed the same
/// lines. True: without conflict.
pub fn merge_texts(base: &Path, ours: &Path, theirs: &Path) -> Result<bool, StoreError> {
    let mut git = tame_git();
    // In no repository.
    git.env("GIT_DIR", "/dev/null");
    git.args(["merge-file", "-q", "-L", "ours", "-L", "base", "-L", "theirs", "--"]).args([ours, base, theirs]);
    let status = git.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(StoreError::file("git merge-file"))?;
    Ok(status.success())
}

/// Replaces a file whole or not at all; it keeps its permissions.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let permissions = std::fs::metadata(path)?.permissions();
        let mut file = tempfile::Builder::new().prefix(".git-brain-").tempfile_in(folder)?;
        file.write_all(content)?;
        std::fs::set_permissions(file.path(), permissions)?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(StoreError::file(path))?;
    sync_folder(folder)
}

impl Store {
    /// The branch that is checked out (`None`: detached), and its commit (`None`: unborn).
    pub fn head(&self) -> Result<(Option<Branch>, Option<CommitId>), StoreError> {
        let name = self.with(|r| Ok(r.find_reference("HEAD")?.symbolic_target().map(|t| t.map(str::to_owned))));
        let name = match name {
            Ok(name) => name.ok().flatten(),
            Err(e) if e.code() == git2::ErrorCode::NotFound => None,
            Err(e) => return Err(StoreError::git("HEAD", e)),
        };
        let branch = name.and_then(|n| Branch::parse(n.strip_prefix("refs/heads/")?).ok());
        Ok((branch, self.ref_target("HEAD")?))
    }

    /// Whether a path is in the commit that is checked out, or in main.
    pub fn is_committed(&self, path: &str) -> Result<bool, StoreError> {
        for commit in [self.head()?.1, self.tip(self.main())?].into_iter().flatten() {
            if self.file(self.tree_of(commit)?, path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commit that a `git revert` under way takes back.
    pub fn reverting(&self) -> Option<CommitId> {
        let text = std::fs::read_to_string(self.repository.path().join("REVERT_HEAD")).ok()?;
        CommitId::parse(text.trim()).ok()
    }

    /// What the index, the one that git's environment names, has otherwise than HEAD in the brain's own files.
    pub fn staged(&self) -> Result<Vec<FileChange>, StoreError> {
        self.read_quarantine()?;
        let (_, head) = self.head()?;
        if let Some(head) = head {
            self.refuse_repeated(self.tree_of(head)?, &[layout::NETWORK, layout::AGENTS])?;
        }
        let head = head.map_or(EMPTY_TREE.to_owned(), |commit| commit.to_string());
        let top = |path: &str| format!(":(top){path}");
        let places = [top(layout::NETWORK), top(layout::AGENTS), top(layout::SETTINGS)];
        let shadow = self.shadow()?;
        let mut git = shadow.git();
        if let Some(index) = variable("GIT_INDEX_FILE") {
            git.env("GIT_INDEX_FILE", std::path::absolute(index).map_err(StoreError::file("GIT_INDEX_FILE"))?);
        }
        git.current_dir(self.work_dir().unwrap_or_else(|| self.repository.path().to_owned()));
        let arguments = ["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", &head, "--"];
        git.args(arguments).args(places);
        let raw = output(&mut git, &arguments)?;
        let bad =
            || StoreError::File { path: "git diff-index".into(), source: std::io::Error::other("unknown output") };
        parse_raw(&raw).ok_or_else(bad)
    }
}

/// Files of the work tree, as a person sees them.
impl Store {
    /// The plain files under a folder of the work tree, sorted; no symlink is followed. Empty without a work tree.
    pub fn work_files(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let Some(root) = self.work_dir() else { return Ok(Vec::new()) };
        let Some(start) = plain_path(&root, folder) else { return Ok(Vec::new()) };
        if !start.is_dir() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(&start).sort_by_file_name() {
            let entry = entry.map_err(|e| StoreError::file(&start)(e.into()))?;
            let path = entry.path().strip_prefix(&root).ok().and_then(Path::to_str);
            found.extend(path.filter(|_| entry.file_type().is_file()).map(str::to_owned));
        }
        Ok(found)
    }

    /// A plain file of the work tree; `None` if there is none, it lies behind a symlink, or is larger than any document.
    pub fn read_work_file(&self, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(path) = self.work_dir().and_then(|root| plain_path(&root, path)) else { return Ok(None) };
        let small = |meta: &std::fs::Metadata| meta.is_file() && meta.len() <= crate::limits::DOCUMENT_BYTES as u64;
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if small(&meta) => std::fs::read(&path).map(Some).map_err(StoreError::file(path)),
            Ok(_) => Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::file(path)(e)),
        }
    }

    /// Replaces a file of the work tree whole.
    pub fn replace_work_file(&self, path: &str, content: &[u8]) -> Result<(), StoreError> {
        let place = self.work_dir().and_then(|root| plain_path(&root, path));
        let path = place.ok_or_else(|| StoreError::Link { path: path.into() })?;
        replace_file(&path, content)
    }
}

/// Reads `:<old mode> <new mode> <old id> <new id> <status>\0<path>\0` again and again.
fn parse_raw(raw: &[u8]) -> Option<Vec<FileChange>> {
    let mut fields = raw.split(|b| *b == 0).map(String::from_utf8_lossy);
    let mut changes = Vec::new();
    loop {
        let header = fields.next()?;
        if header.is_empty() {
            return Some(changes);
        }
        let words: Vec<&str> = header.strip_prefix(':')?.split(' ').collect();
        let [old_mode, new_mode, old, new, _] = words.as_slice() else { return None };
        let file = |mode: &str, id: &str| -> Option<Option<File>> {
            let mode = u32::from_str_radix(mode, 8).ok()?;
            Some(if mode == 0 { None } else { Some(File { blob: BlobId::parse(id).ok()?, mode }) })
        };
        changes.push(FileChange {
            path: fields.next()?.into_owned(),
            old: file(old_mode, old)?,
            new: file(new_mode, new)?,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::{Sandbox, git};
    use super::*;

    #[test]
    fn gits_own_list_of_local_variables_is_in_ours() {
        let said = git(Path::new("/"), &["rev-parse", "--local-env-vars"]);
        for name in said.lines() {
            assert!(LOCAL_VARIABLES.contains(&name), "{name}");
        }
    }

    #[test]
    fn staged_is_what_the_index_has_and_the_head_has_not() {
        let sandbox = Sandbox::brain();
        let write = |path: &str, text: &str| {
            let path = sandbox.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("network/neurons/ab/c/tea.json", "coffee\n");
        write("network/new file.json", "é\n");
        write("README.md", "not ours\n");
        sandbox.git(&["add", "-A"]);
        write("network/neurons/ab/c/tea.json", "edited again, not staged\n");
        sandbox.git(&["rm", "-q", "--cached", "brain.toml"]);
        let store = sandbox.store();
        let staged = store.staged().unwrap();
        let seen: Vec<_> = staged.iter().map(|c| (c.path.as_str(), c.old.is_some(), c.new.is_some())).collect();
        let tea = "network/neurons/ab/c/tea.json";
        assert_eq!(seen, [("brain.toml", true, false), (tea, true, true), ("network/new file.json", false, true)]);
        assert_eq!(store.blob(staged[1].new.unwrap().blob).unwrap(), b"coffee\n");
    }

    #[test]
    fn an_unborn_head_is_compared_with_nothing() {
        let sandbox = Sandbox::brain();
        sandbox.git(&["checkout", "-q", "--orphan", "other"]);
        let store = sandbox.store();
        assert_eq!(store.head().unwrap(), (Some(Branch::parse("other").unwrap()), None));
        assert_eq!(store.staged().unwrap().len(), 3);
    }

    #[test]
    fn texts_merge_or_conflict() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (base, other) = (file("o", "1\n2\n3\n4\n5\n"), file("b", "1\n2\n3\n4\nfive\n"));
        let ours = file("a", "one\n2\n3\n4\n5\n");
        assert!(merge_texts(&base, &ours, &other).unwrap());
        assert_eq!(std::fs::read_to_string(&ours).unwrap(), "one\n2\n3\n4\nfive\n");
        let ours = file("a", "1\n2\n3\n4\n6\n");
        assert!(!merge_texts(&base, &ours, &other).unwrap());
    }
}
