//! What is around the network and can go wrong: stray locks, the merge driver's configuration, an index behind its
//! branch. `doctor` asks; each repair does nothing where nothing is wrong.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::left::Left;
use super::{Branch, CommitId, FileChange, LockName, RefChange, RefOutcome, Store, StoreError};
use crate::limits;
use crate::model::layout::{self, Place};

/// A lock file of git's that is older belongs to nobody: no command of git's holds one this long, an editor aside.
const STRAY: Duration = Duration::from_secs(3600);

/// An index that is older than its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The immutable files of the branch that the index lacks.
    pub missing: usize,
    /// The newest commit of the branch that the index can stem from, if there is one.
    pub stems_from: Option<CommitId>,
}

impl Store {
    /// Whether there are so many packs that [`Store::maintain`] would repack.
    pub fn needs_maintenance(&self) -> bool {
        let entries = std::fs::read_dir(self.common.join("objects/pack")).into_iter().flatten().flatten();
        entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count() > limits::PACKS
    }

    /// Whether a branch cannot be read: its file is empty or garbage, or its commit is not there. A branch that does not exist is none.
    pub fn is_damaged(&self, branch: &Branch) -> bool {
        match self.tip(branch) {
            Ok(None) => false,
            Ok(Some(commit)) => !self.is_readable(commit),
            Err(_) => true,
        }
    }

    fn is_readable(&self, commit: CommitId) -> bool {
        self.tree_of(commit).is_ok_and(|tree| self.files(tree, layout::AGENTS).is_ok())
    }

    /// The newest commit that a branch's reflog names and that is there, if there is one: what it was before it was damaged.
    pub fn last_readable(&self, branch: &Branch) -> Option<CommitId> {
        let log = std::fs::read_to_string(self.common.join("logs").join(branch.full())).ok()?;
        let news = log.lines().rev().filter_map(|line| CommitId::parse(line.split(' ').nth(1)?).ok());
        news.take(limits::HISTORY_WALK).find(|commit| self.is_readable(*commit))
    }

    /// Brings a damaged branch back to a commit. What its file held is kept beside, in the private folder.
    pub fn restore_branch(&self, branch: &Branch, commit: CommitId) -> Result<(), StoreError> {
        let _trunk = self.lock_within(LockName::Trunk, Duration::from_millis(limits::LOCK_WAIT_MS))?;
        let file = self.common.join(branch.full());
        if file.is_file() {
            let kept = self.private_dir().join("damaged").join(branch.as_str().replace('/', "-"));
            let folder = kept.parent().unwrap_or(&self.common);
            std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
            std::fs::rename(&file, &kept).map_err(StoreError::file(&file))?;
        }
        // Without its file, what `packed-refs` says comes to light.
        let change = match self.tip(branch)? {
            Some(old) => RefChange::advance(branch.clone(), old, commit),
            None => RefChange::create(branch.clone(), commit),
        };
        match self.update_refs(&[change], "git-brain: doctor")? {
            RefOutcome::Done { .. } => Ok(()),
            RefOutcome::Modified { .. } => Err(StoreError::Busy { what: format!("the branch {branch}"), holder: None }),
        }
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

    /// Sets a key of the repository's own configuration file.
    pub fn set_local_config(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let wrap = |e| StoreError::git(format!("configuration key {key}"), e);
        let mut config = git2::Config::open(&self.common.join("config")).map_err(wrap)?;
        config.set_str(key, value).map_err(wrap)
    }

    /// Whether the brain is a guest in a repository with branches of its own.
    pub fn is_in_repo(&self) -> bool {
        self.main.as_str().contains('/')
    }

    /// Whether a part of the brain's history is missing here. That of the code beside it may be: a clone may have cut that short.
    pub fn is_shallow(&self) -> bool {
        if !self.repository.is_shallow() {
            return false;
        }
        let listed = std::fs::read_to_string(self.repository.commondir().join("shallow")).unwrap_or_default();
        let cut: Vec<git2::Oid> = listed.lines().filter_map(|line| git2::Oid::from_str(line.trim()).ok()).collect();
        let origin = |branch: &super::Branch| format!("refs/remotes/origin/{branch}");
        let names = [self.main(), self.wake()].into_iter().flat_map(|branch| [branch.full(), origin(branch)]);
        let tips: Vec<git2::Oid> = names.filter_map(|name| self.repository.refname_to_id(&name).ok()).collect();
        // What cannot be walked lacks something.
        let reaches = |tip: &git2::Oid, cut: &git2::Oid| {
            tip == cut || self.repository.graph_descendant_of(*tip, *cut).unwrap_or(true)
        };
        tips.is_empty() || tips.iter().any(|tip| cut.iter().any(|cut| reaches(tip, cut)))
    }

    /// Whether a file of grafts says that commits have other parents than their own.
    pub fn has_grafts(&self) -> bool {
        let file = self.repository.commondir().join("info/grafts");
        std::fs::symlink_metadata(file).is_ok_and(|found| found.len() > 0)
    }

    /// Whether only a part of the tree is checked out here.
    pub fn is_sparse(&self) -> bool {
        let value = self.with(|r| r.config()?.snapshot()?.get_bool("core.sparseCheckout"));
        value.unwrap_or(false)
    }

    /// The command of git's that a person has begun here and not ended, such as a revert with conflicts: index and work tree are its.
    pub fn under_way(&self) -> Option<&'static str> {
        use git2::RepositoryState as State;
        match self.with(|r| Ok(r.state())).ok()? {
            State::Clean => None,
            State::Merge => Some("merge"),
            State::Revert | State::RevertSequence => Some("revert"),
            State::CherryPick | State::CherryPickSequence => Some("cherry-pick"),
            State::Bisect => Some("bisect"),
            State::ApplyMailbox | State::ApplyMailboxOrRebase => Some("am"),
            _ => Some("rebase"),
        }
    }

    /// Whether the index lacks immutable files of HEAD: then it was left behind when its branch moved, or a person staged their removal.
    pub fn behind(&self) -> Result<Option<Behind>, StoreError> {
        let (_, Some(head)) = self.head()? else { return Ok(None) };
        if self.work_dir().is_none() || self.under_way().is_some() {
            return Ok(None);
        }
        let staged = self.staged()?;
        let goes = |change: &&FileChange| {
            Place::of(&change.path).is_immutable() && change.old.is_some() && change.new.is_none()
        };
        let missing: Vec<String> = staged.iter().filter(goes).map(|change| change.path.clone()).collect();
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
                // An index that was left behind lacks all that came since, and not just these files.
                let tree = self.tree_of(head)?;
                let since = self.diff(Some(commit.tree), Some(tree), "")?;
                let differs: HashSet<&str> = staged.iter().map(|change| change.path.as_str()).collect();
                let mut ours = since.iter().filter(|change| Place::of(&change.path) != Place::Other);
                let all = ours.all(|change| differs.contains(change.path.as_str()));
                stems_from = Some(commit.id).filter(|_| all);
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
    use super::super::sandbox::{Sandbox, advance, commit_on, write};
    use super::super::{RefChange, RefOutcome};
    use super::*;

    const RECORD: &str = "network/escalations/one.json";
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
    fn a_removal_that_a_person_staged_and_a_revert_under_way_are_left_alone() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let records =
            [write(RECORD, "{}\n"), write("network/escalations/two.json", "{}\n"), write(TEA, "tea, later\n")];
        let new = advance(&store, store.main(), records.into()).0;
        sandbox.git(&["checkout", "-q", "main"]);
        sandbox.git(&["rm", "-q", "--cached", RECORD]);
        assert_eq!(store.behind().unwrap(), Some(Behind { missing: 1, stems_from: None }), "the rest is there");
        sandbox.git(&["reset", "-q", "--hard"]);
        std::fs::write(sandbox.path().join(TEA), "later still\n").unwrap();
        sandbox.git(&["commit", "-qam", "later"]);
        let reverted = sandbox.try_git(&["revert", "--no-edit", &new.to_string()]);
        assert!(!reverted, "it conflicts");
        assert_eq!(store.under_way(), Some("revert"));
        assert_eq!(store.behind().unwrap(), None);
        sandbox.git(&["revert", "--abort"]);
        assert_eq!(store.under_way(), None);
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
    fn a_damaged_branch_comes_back_to_what_its_reflog_names() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let tips: Vec<CommitId> =
            (0..3).map(|n| advance(&store, store.wake(), vec![write("n", &format!("{n}\n"))]).0).collect();
        assert!(!store.is_damaged(store.wake()) && !store.is_damaged(&Branch::parse("none").unwrap()));
        let file = sandbox.path().join(".git/refs/heads/wake");
        for damage in ["", "garbage\n", "0123456789012345678901234567890123456789\n"] {
            std::fs::write(&file, damage).unwrap();
            let store = sandbox.store();
            assert!(store.is_damaged(store.wake()), "{damage:?}");
            assert_eq!(store.last_readable(store.wake()), Some(tips[2]));
            store.restore_branch(store.wake(), tips[2]).unwrap();
            assert_eq!(store.tip(store.wake()).unwrap(), Some(tips[2]), "{damage:?}");
            sandbox.fsck();
        }
        assert!(store.private_dir().join("damaged/wake").exists());
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
