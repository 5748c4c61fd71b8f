//! A brain in a temporary folder, and real git beside it. For tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Author, CommitId, CommitSpec, FirstCommit, RefChange, RefOutcome, Store, TreeEdit, TreeId, create};

pub(super) struct Sandbox {
    folder: tempfile::TempDir,
}

pub(super) fn first() -> FirstCommit {
    FirstCommit {
        author: Author::User,
        at: 1_769_437_920,
        subject: "init: a brain".into(),
        body: String::new(),
        trailers: vec![("Format".into(), "1".into())],
    }
}

pub(super) fn seed() -> Vec<TreeEdit> {
    vec![
        TreeEdit::new("network/metadata.json", Some(b"{}\n".to_vec())),
        TreeEdit::new("network/neurons/ab/c/tea.json", Some(b"tea\n".to_vec())),
        TreeEdit::new("brain.toml", Some(b"# settings\n".to_vec())),
        TreeEdit { path: "hooks/post-commit".into(), change: super::Change::WriteExecutable(b"#!/bin/sh\n".to_vec()) },
    ]
}

/// Runs git without the machine's and the user's configuration.
pub(super) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = run(dir, arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    for (key, _) in std::env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(key);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("HOME", dir);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.invalid");
        command.env(format!("GIT_{role}_DATE"), "1769437920 +0000");
    }
    command.current_dir(dir).args(arguments).output().unwrap()
}

impl Sandbox {
    pub(super) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn brain() -> Self {
        let sandbox = Self::empty();
        create(&sandbox.path(), seed(), &first(), "git-brain").unwrap();
        sandbox.git(&["sparse-checkout", "disable"]);
        sandbox.git(&["config", "user.name", "Ann"]);
        sandbox.git(&["config", "user.email", "ann@example.invalid"]);
        sandbox
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("brain")
    }

    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Whether git succeeds.
    pub(super) fn try_git(&self, arguments: &[&str]) -> bool {
        run(&self.path(), arguments).status.success()
    }

    pub(super) fn fsck(&self) {
        let said = self.git(&["fsck", "--strict", "--full", "--no-dangling"]);
        assert_eq!(said, "");
    }
}

pub(super) fn spec(tree: TreeId, parents: &[CommitId], subject: &str, trailers: &[(&str, &str)]) -> CommitSpec {
    CommitSpec {
        tree,
        parents: parents.to_vec(),
        author: Author::Agent("memory".parse().unwrap()),
        at: 1_769_437_921,
        subject: subject.into(),
        body: String::new(),
        trailers: trailers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    }
}

/// Commits edits on top of a commit and publishes it.
pub(super) fn commit_on(store: &Store, parent: CommitId, edits: Vec<TreeEdit>) -> CommitId {
    let writer = store.writer().unwrap();
    let tree = writer.edit(Some(store.tree_of(parent).unwrap()), edits).unwrap();
    let commit = writer.commit(&spec(tree, &[parent], "change", &[])).unwrap();
    writer.publish().unwrap();
    commit
}

pub(super) fn advance(store: &Store, branch: &super::Branch, edits: Vec<TreeEdit>) -> (CommitId, Vec<super::Left>) {
    let old = store.need_tip(branch).unwrap();
    let new = commit_on(store, old, edits);
    match store.update_refs(&[RefChange::advance(branch.clone(), old, new)], "test").unwrap() {
        RefOutcome::Done { left } => (new, left),
        RefOutcome::Modified { .. } => panic!("nobody else is here"),
    }
}

pub(super) fn write(path: &str, content: &str) -> TreeEdit {
    TreeEdit::new(path, Some(content.as_bytes().to_vec()))
}

pub(super) fn remove(path: &str) -> TreeEdit {
    TreeEdit::new(path, None)
}
