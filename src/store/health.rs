//! What is around the network and can go wrong: stray locks, the merge driver's configuration, an index behind its
//! branch. `doctor` asks; each repair does nothing where nothing is wrong.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::plumbing::git_at;
use super::worktree::{Left, sync_folder};
use super::{CommitId, Store, StoreError};
use crate::limits;
use crate::model::layout::{self, Place};

const DRIVER_KEY: &str = "merge.git-brain.driver";
const DRIVER_ARGUMENTS: &str = " merge-driver %O %A %B %P";
/// A lock file of git's that is older belongs to nobody: no command of git's holds one this long, an editor aside.
const STRAY: Duration = Duration::from_secs(3600);
const BLOCK: (&str, &str) = ("# git-brain: begin", "# git-brain: end");

/// How git is told about the typed merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// Its program is there.
    Configured,
    /// Nothing is configured.
    Absent,
    /// What is configured is not there any more.
    Gone,
}

/// An index that is older than its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The immutable files of the branch that the index lacks.
    pub missing: usize,
    /// The newest commit of the branch that the index can stem from, if there is one.
    pub stems_from: Option<CommitId>,
}

impl Store {
    /// True if there are so many packs that [`Store::maintain`] would repack.
    pub fn needs_maintenance(&self) -> bool {
        let entries = std::fs::read_dir(self.common.join("objects/pack")).into_iter().flatten().flatten();
        entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count() > limits::PACKS
    }

    /// Lock files of git's own that have lain around for an hour.
    pub fn stray_locks(&self) -> Vec<PathBuf> {
        let plain = ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"];
        let mut candidates: Vec<PathBuf> = plain.iter().map(|name| self.common.join(name)).collect();
        candidates.push(self.repository.path().join("index.lock"));
        let refs = walkdir::WalkDir::new(self.common.join("refs")).into_iter().flatten();
        candidates
            .extend(refs.map(walkdir::DirEntry::into_path).filter(|p| p.extension().is_some_and(|x| x == "lock")));
        let old = |path: &PathBuf| {
            let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > STRAY))
        };
        candidates.retain(old);
        candidates.sort();
        candidates.dedup();
        candidates
    }

    /// How git is told about the typed merge.
    pub fn driver_state(&self) -> Result<DriverState, StoreError> {
        let Some(value) = self.local_config(DRIVER_KEY)? else { return Ok(DriverState::Absent) };
        let Some(word) = value.strip_suffix(DRIVER_ARGUMENTS) else { return Ok(DriverState::Gone) };
        let quoted = word.strip_prefix('\'').and_then(|w| w.strip_suffix('\''));
        let program = quoted.map_or(word.to_owned(), |w| w.replace("'\\''", "'").replace("%%", "%"));
        // A bare name is looked for on the PATH of whoever merges.
        let there = !program.contains('/') || Path::new(&program).exists();
        Ok(if there { DriverState::Configured } else { DriverState::Gone })
    }

    /// Tells git about the typed merge. `program` is a path or a name on `PATH`.
    pub fn configure_driver(&self, program: &str) -> Result<(), StoreError> {
        let word = format!("'{}'", program.replace('\'', "'\\''").replace('%', "%%"));
        self.set_local_config("merge.git-brain.name", "git-brain's typed merge")?;
        self.set_local_config(DRIVER_KEY, &format!("{word}{DRIVER_ARGUMENTS}"))
    }

    /// Sets a key of the repository's own configuration file.
    pub fn set_local_config(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let wrap = |e| StoreError::git(format!("configuration key {key}"), e);
        let mut config = git2::Config::open(&self.common.join("config")).map_err(wrap)?;
        config.set_str(key, value).map_err(wrap)
    }

    /// True if git's attributes lead neurons to the typed merge.
    pub fn attributes_apply(&self) -> Result<bool, StoreError> {
        let here = self.work_dir().unwrap_or_else(|| self.common.clone());
        let sample = format!("{}/00/0/sample.json", layout::NEURONS);
        let said = git_at(&here, &["check-attr", "-z", "merge", "--", &sample])?;
        Ok(said.split('\0').nth(2) == Some("git-brain"))
    }

    /// Writes our block of `info/attributes` anew, in place of what is left of an older one.
    pub fn repair_attributes(&self) -> Result<(), StoreError> {
        let folder = self.common.join("info");
        let path = folder.join("attributes");
        let text = match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(StoreError::file(&path))?,
        };
        // In a repository with other branches than the brain's, only files that can be the network's.
        let pattern = if self.is_in_repo() { "/network/*/**/*.json" } else { "network/**" };
        let mut lines: Vec<&str> = text.lines().collect();
        let begin = lines.iter().position(|line| *line == BLOCK.0);
        let end = lines.iter().position(|line| *line == BLOCK.1);
        if let (Some(begin), Some(end)) = (begin, end.filter(|end| begin.is_some_and(|begin| begin < *end))) {
            lines.drain(begin..=end);
        }
        let (metadata, network) =
            (format!("/{} merge=git-brain -text", layout::METADATA), format!("{pattern} merge=git-brain -text"));
        lines.extend([BLOCK.0, &metadata, &network, BLOCK.1]);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&folder)?;
            let mut made = tempfile::NamedTempFile::new_in(&folder)?;
            made.write_all((lines.join("\n") + "\n").as_bytes())?;
            made.as_file().sync_all()?;
            made.persist(&path).map(drop).map_err(|e| e.error)
        };
        write().map_err(StoreError::file(&path))?;
        sync_folder(&folder)
    }

    /// True if the brain is a guest in a repository with branches of its own.
    pub fn is_in_repo(&self) -> bool {
        self.main.as_str().contains('/')
    }

    /// True if only a part of the tree is checked out here.
    pub fn is_sparse(&self) -> bool {
        let value = self.with(|r| r.config()?.snapshot()?.get_bool("core.sparseCheckout"));
        value.unwrap_or(false)
    }

    /// Whether the index lacks immutable files of HEAD: then it was left behind when its branch moved.
    pub fn behind(&self) -> Result<Option<Behind>, StoreError> {
        let (_, Some(head)) = self.head()? else { return Ok(None) };
        if self.work_dir().is_none() {
            return Ok(None);
        }
        let mut missing: Vec<String> = Vec::new();
        for change in self.staged()? {
            let immutable = Place::of(&change.path).is_immutable();
            if immutable && change.old.is_some() && change.new.is_none() {
                missing.push(change.path);
            }
        }
        if missing.is_empty() {
            return Ok(None);
        }
        let mut stems_from = None;
        for commit in self.first_parents(head, None).take(limits::HISTORY_WALK) {
            let commit = commit?;
            let mut any = false;
            for path in &missing {
                if self.file(commit.tree, path)?.is_some() {
                    any = true;
                    break;
                }
            }
            if !any {
                stems_from = Some(commit.id);
                break;
            }
        }
        Ok(Some(Behind { missing: missing.len(), stems_from }))
    }

    /// Lets index and work tree follow from the commit that they stem from. What a person edited or staged stays.
    pub fn catch_up(&self, stems_from: CommitId) -> Result<Vec<Left>, StoreError> {
        match self.head()? {
            (Some(branch), Some(head)) => self.follow(&branch, Some(stems_from), head),
            _ => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::{Sandbox, commit_on, write};
    use super::super::{RefChange, RefOutcome};
    use super::*;

    const RECORD: &str = "network/sleep/one.json";
    const TEA: &str = "network/neurons/ab/c/tea.json";

    /// Moves main as another machine's git would: the work tree does not follow.
    fn behind() -> Sandbox {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let old = store.need_tip(store.main()).unwrap();
        let new = commit_on(&store, old, vec![write(RECORD, "{}\n"), write(TEA, "tea, later\n")]);
        sandbox.git(&["checkout", "-q", "--detach"]);
        let moved = store.update_refs(&[RefChange::advance(store.main().clone(), old, new)], "test").unwrap();
        assert!(matches!(moved, RefOutcome::Done { .. }));
        sandbox.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        sandbox
    }

    #[test]
    fn an_index_behind_its_branch_catches_up_and_edits_stay() {
        let sandbox = behind();
        let store = sandbox.store();
        let first = store.first_parents(store.need_tip(store.main()).unwrap(), None).last().unwrap().unwrap().id;
        assert_eq!(store.behind().unwrap(), Some(Behind { missing: 1, stems_from: Some(first) }));
        std::fs::write(sandbox.path().join("brain.toml"), "# mine\n").unwrap();
        assert_eq!(store.catch_up(first).unwrap(), []);
        assert_eq!(store.behind().unwrap(), None);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), " M brain.toml\n");
        assert_eq!(std::fs::read_to_string(sandbox.path().join(TEA)).unwrap(), "tea, later\n");
    }

    #[test]
    fn what_was_edited_is_left_and_reported() {
        let sandbox = behind();
        let store = sandbox.store();
        std::fs::write(sandbox.path().join(TEA), "mine\n").unwrap();
        let from = store.behind().unwrap().unwrap().stems_from.unwrap();
        let left = store.catch_up(from).unwrap();
        assert_eq!(left.iter().map(|l| l.path.as_str()).collect::<Vec<_>>(), [TEA]);
        assert_eq!(std::fs::read_to_string(sandbox.path().join(TEA)).unwrap(), "mine\n");
    }

    #[test]
    fn the_driver_and_the_attributes_are_put_right() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        assert_eq!(store.driver_state().unwrap(), DriverState::Configured);
        store.configure_driver("/no where/100%/it's").unwrap();
        assert_eq!(store.driver_state().unwrap(), DriverState::Gone);
        let there = sandbox.beside("100% it's");
        std::fs::write(&there, "").unwrap();
        store.configure_driver(there.to_str().unwrap()).unwrap();
        assert_eq!(store.driver_state().unwrap(), DriverState::Configured);
        sandbox.git(&["config", "--unset", DRIVER_KEY]);
        assert_eq!(store.driver_state().unwrap(), DriverState::Absent);

        let attributes = sandbox.path().join(".git/info/attributes");
        assert!(store.attributes_apply().unwrap());
        std::fs::write(&attributes, "*.md text").unwrap();
        assert!(!store.attributes_apply().unwrap());
        store.repair_attributes().unwrap();
        assert!(store.attributes_apply().unwrap());
        let once = std::fs::read_to_string(&attributes).unwrap();
        assert!(once.starts_with("*.md text\n"), "{once}");
        store.repair_attributes().unwrap();
        assert_eq!(std::fs::read_to_string(&attributes).unwrap(), once);
    }

    #[test]
    fn only_old_locks_are_stray() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let lock = sandbox.path().join(".git/refs/heads/wake.lock");
        let file = std::fs::File::create(&lock).unwrap();
        assert_eq!(store.stray_locks(), Vec::<PathBuf>::new());
        file.set_modified(SystemTime::now() - STRAY * 2).unwrap();
        assert_eq!(store.stray_locks(), [lock]);
    }
}
