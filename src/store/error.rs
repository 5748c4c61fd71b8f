//! What can go wrong in the store, each naming the path, ref or object.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::shell_word;

/// A failure of the store. A lost race for a ref is none: see [`super::RefOutcome`].
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No repository at or above the folder.
    #[error("{} is in no git repository", path.display())]
    NoRepository {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A repository of another user, which git does not open (CVE-2022-24765).
    #[error("{} is owned by another user", path.display())]
    OtherOwner {
        /// The work tree, or the bare repository.
        path: PathBuf,
    },
    /// A repository, but no brain: `brain.main` and `brain.wake` are not in its local configuration.
    #[error("{} is in no brain: the repository's own configuration names no brain.main and brain.wake", path.display())]
    NoBrain {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// `init` where a brain is already.
    #[error("{} already is a brain", path.display())]
    AlreadyBrain {
        /// The repository.
        path: PathBuf,
    },
    /// `init` in a folder with something in it.
    #[error("{} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// `init` in a clone of a remote that has nothing yet.
    #[error("{} is a clone of a remote that has no commit yet, so there is no brain to adopt", path.display())]
    EmptyClone {
        /// The folder.
        path: PathBuf,
    },
    /// `init` in a clone that has not all of a brain.
    #[error("{} has {what}", path.display())]
    PartOfBrain {
        /// The folder.
        path: PathBuf,
        /// The part of it, in words.
        what: &'static str,
        /// The way to the rest.
        remedy: &'static str,
    },
    /// `init` inside a repository.
    #[error("{} lies inside the git repository {}", path.display(), repository.display())]
    InsideRepository {
        /// The folder.
        path: PathBuf,
        /// The repository around it.
        repository: PathBuf,
    },
    /// A git folder that names another repository's as its own.
    #[error(
        "{path}: its file `commondir` says that its objects and refs are those of {from}, which does not know it as a work tree"
    )]
    Borrowed {
        /// The git folder.
        path: PathBuf,
        /// The other one.
        from: PathBuf,
    },
    /// A symlink where this program writes or deletes.
    #[error("{} is a symlink, or lies behind one; nothing of a brain is written through links", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A pipe, socket or device in the git folder: whoever reads it waits, or never ends.
    #[error("{} is no regular file; a git folder has regular files and folders alone", path.display())]
    Irregular {
        /// Which.
        path: PathBuf,
    },
    /// A file in the git folder that is read whole, and is larger than any of its kind.
    #[error("{} has {bytes} bytes, and {limit} are the most that is read of it", path.display())]
    Oversized {
        /// Which.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The most.
        limit: u64,
    },
    /// A bare repository among the files of another one: a clone could have brought it, with its configuration.
    #[error("{} lies among the files of {}, and may have come with them", path.display(), repository.display())]
    Embedded {
        /// The bare repository.
        path: PathBuf,
        /// The repository around it.
        repository: PathBuf,
    },
    /// A branch that does not exist.
    #[error("there is no branch {branch}")]
    NoBranch {
        /// Its short name.
        branch: String,
    },
    /// A branch name that is refused.
    #[error("{name:?} is no branch name: {reason}")]
    BadBranch {
        /// The name.
        name: String,
        /// Why.
        reason: &'static str,
    },
    /// A ref that cannot be made, because another is in its place.
    #[error("{name} cannot be made: {other} is in its place, and git has no ref in the place of another")]
    InTheWay {
        /// The ref.
        name: String,
        /// The other one.
        other: String,
    },
    /// A path that is refused, in a tree or for one.
    #[error("path {path:?} is refused: {reason}")]
    BadPath {
        /// The path.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// A trailer's key that is refused.
    #[error("{key:?} is no trailer key")]
    BadTrailer {
        /// The key.
        key: String,
    },
    /// An object that is not there.
    #[error("{what} {id} is missing from the repository")]
    Missing {
        /// What it should be.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// An object that does not parse, is of the wrong kind, or is too large.
    #[error("{what} {id} is bad: {reason}")]
    BadObject {
        /// What it should be.
        what: &'static str,
        /// Its id.
        id: String,
        /// Why.
        reason: String,
    },
    /// Somebody else holds a lock for longer than a command waits.
    #[error("{what} is held by another process{}", holder.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
    Busy {
        /// The lock or ref.
        what: String,
        /// Who, if known.
        holder: Option<String>,
    },
    /// The repository itself, and not the person, leads hooks to a place outside.
    #[error("hooks are not written to {}: it is outside this repository, whose own core.hooksPath, or a link, leads there", folder.display())]
    HooksAway {
        /// The place.
        folder: PathBuf,
    },
    /// No other repository to sync with.
    #[error("there is no remote to sync with{}", listed(known))]
    NoRemote {
        /// The remotes that there are.
        known: Vec<String>,
    },
    /// A remote's name or address that is refused.
    #[error("{name:?} is no remote: {reason}")]
    BadRemote {
        /// The name.
        name: String,
        /// Why.
        reason: &'static str,
    },
    /// Git could not talk to another repository.
    #[error("{remote}: {message}")]
    Remote {
        /// Its name or address.
        remote: String,
        /// What git said.
        message: String,
    },
    /// A second batch of objects was begun before the first was published or dropped.
    #[error("a batch of objects is already open on this store")]
    BatchOpen,
    /// A history longer than is walked.
    #[error("no answer within {commits} commits from {from}")]
    TooLong {
        /// The bound.
        commits: usize,
        /// Where the walk began.
        from: String,
    },
    /// Signing is asked for, or signatures are, and it cannot be done.
    #[error("{message}")]
    Signing {
        /// What is wrong.
        message: String,
    },
    /// What was to be written holds a secret. The secret itself is never told.
    #[error("{what} would hold a secret ({kind}), and is not written")]
    Secret {
        /// The path, or what kind of object it is.
        what: String,
        /// The kind of secret.
        kind: &'static str,
    },
    /// A file operation failed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// libgit2 failed.
    #[error("{what}: {}", source.message())]
    Git {
        /// What was being done, with the ref or object.
        what: String,
        /// Why.
        source: git2::Error,
    },
}

/// The way out where the system does not let this user read or write a file.
pub fn permission_hint(path: &Path, source: &io::Error) -> Option<String> {
    if source.kind() != io::ErrorKind::PermissionDenied {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = shell_word(&folder.display().to_string());
    Some(format!(
        "`ls -la {folder}` shows owners and modes: give the command as the owner, or change them by `chown` or `chmod`"
    ))
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(" of that name; there are {}", known.join(", ")) }
}

impl StoreError {
    pub(super) fn git(what: impl Into<String>, source: git2::Error) -> Self {
        Self::Git { what: what.into(), source }
    }

    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// The same, naming the path where that is known.
    pub(super) fn at(self, path: &str) -> Self {
        match self {
            Self::Secret { kind, .. } => Self::Secret { what: path.to_owned(), kind },
            other => other,
        }
    }

    /// Whether the system refused, and not what was asked for is wrong.
    pub fn is_of_the_system(&self) -> bool {
        match self {
            Self::File { .. } => true,
            Self::Git { source, .. } => source.class() == git2::ErrorClass::Os,
            _ => false,
        }
    }

    /// What the user can do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        let is_private = |path: &Path| path.components().any(|part| part.as_os_str() == "git-brain");
        let text = match self {
            Self::File { path, source } if source.kind() == std::io::ErrorKind::IsADirectory && is_private(path) => {
                "a file belongs there, and none of them is history: remove the folder, and give the command again"
                    .to_owned()
            }
            Self::File { path, source } => permission_hint(path, source)?,
            Self::Git { source, .. } if source.message().ends_with("Permission denied") => {
                "another user owns that file, or its mode forbids it: give the command as its owner, or `chown` it".to_owned()
            }
            Self::OtherOwner { path } => format!(
                "if you trust its owner: git config --global --add safe.directory {}",
                shell_word(&path.display().to_string())
            ),
            Self::NoRepository { .. } => "`git brain init DIR` makes a brain".to_owned(),
            Self::NoBrain { .. } => {
                "`git brain init --in-repo` puts a brain into this repository, or adopts the one of its origin"
                    .to_owned()
            }
            Self::NoBranch { branch } if branch.starts_with("brain/") => {
                "`git brain init --in-repo` takes the brain of the remote, or makes one where that has none".to_owned()
            }
            Self::EmptyClone { .. } => "first, in a brain that is to be shared: `git remote add origin ADDRESS && git brain sync`; \
                                        then here `git fetch && git brain init`"
                .to_owned(),
            Self::PartOfBrain { remedy, .. } => (*remedy).to_owned(),
            Self::InsideRepository { .. } => {
                "`git brain init --in-repo` puts the brain on branches of its own in that repository".to_owned()
            }
            Self::Signing { .. } => {
                "docs/signing.md says how commits are signed, `git config --local --list` what is set".to_owned()
            }
            Self::BadObject { reason, .. } if reason.starts_with("it is damaged") => {
                "`git brain doctor` names the file, and `git fsck --full` all that is damaged; a new clone of another machine or of a backup has it whole"
                    .to_owned()
            }
            Self::NotEmpty { .. } => "name a folder that is empty or does not exist yet".to_owned(),
            Self::HooksAway { .. } => "if that is where your hooks are, say so yourself: `git config --global core.hooksPath FOLDER`; if not, \
                 `git config --local --unset core.hooksPath`, and no link in place of the folder"
                .to_owned(),
            Self::NoRemote { .. } => {
                "`git brain sync NAME-OR-ADDRESS`; `git remote add origin ADDRESS` gives it a name, and `git config \
                 brain.remote NAME` chooses one of several"
                    .to_owned()
            }
            Self::Remote { .. } => "`git ls-remote` with the same name or address shows what git can reach".to_owned(),
            Self::Busy { what, .. } if what.ends_with(".lock") => {
                format!("if no git command is running there, remove {what}")
            }
            Self::Busy { .. } => "try again when the other command has ended".to_owned(),
            Self::Git { source, .. } if source.class() == git2::ErrorClass::Reference => {
                "`git brain doctor` brings a damaged branch back".to_owned()
            }
            Self::InTheWay { other, .. } => super::in_the_way::remedy(other),
            Self::Missing { .. } => {
                "`git fsck` tells what else is missing; a shallow or partial clone is not enough".to_owned()
            }
            Self::Secret { kind, .. } => format!(
                "take it out; or if it is none, let its kind ({kind}) or a pattern of it through by secrets.allow"
            ),
            _ => return None,
        };
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_error_names_path_and_remedy() {
        let denied = |path: &str| StoreError::file(path)(io::ErrorKind::PermissionDenied.into());
        let error = denied("/home/ann/my notes/.git/config");
        assert!(error.to_string().starts_with("/home/ann/my notes/.git/config: "), "{error}");
        assert!(
            error.hint().unwrap().starts_with("`ls -la '/home/ann/my notes/.git'` shows owners"),
            "{:?}",
            error.hint()
        );
        assert!(denied("config").hint().unwrap().starts_with("`ls -la .` "));
        assert_eq!(StoreError::file("x")(io::ErrorKind::NotFound.into()).hint(), None);
    }
}
