//! Proposals to another repository: a push to a place that is no branch of the brain, or with words for the other side.
//!
//! Nothing is forced: a branch of a run moves by what is expected of it, and what is proposed elsewhere (`refs/for/wake`) is for the
//! other side to judge.

use super::remote::{failed, said};
use super::{Branch, CommitId, PushOutcome, Pushed, Remote, Store, StoreError};

/// Where it is remembered that a branch was proposed: `<remote>/<branch>` below it.
const PROPOSED: &str = "refs/git-brain/proposed";

/// A push of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A branch of a run, which is `old` there (`None`: it does not exist).
    Branch(Branch, Option<CommitId>),
    /// A full reference that nobody reads back.
    Reference(String),
}

impl Store {
    /// The address of a remote, as git understands it.
    pub fn address(&self, remote: &Remote) -> Result<String, StoreError> {
        if !self.remote_names()?.contains(&remote.address) {
            return Ok(remote.address.clone());
        }
        let ended = self.transport(&["remote", "get-url", "--", &remote.address])?;
        let text = String::from_utf8_lossy(&ended.stdout).lines().next().unwrap_or_default().to_owned();
        if ended.status.success() && !text.is_empty() { Ok(text) } else { Err(failed(remote, &ended)) }
    }

    /// Pushes one commit with options, and returns what the other side said beside the outcome.
    pub fn propose(
        &self,
        remote: &Remote,
        (commit, target): (CommitId, &Target),
        options: &[String],
    ) -> Result<(PushOutcome, String), StoreError> {
        if let (Target::Branch(branch, old), true) = (target, options.is_empty()) {
            let wish = Pushed { branch: branch.clone(), old: *old, new: Some(commit) };
            return Ok((self.push(remote, &[wish])?, String::new()));
        }
        let (name, lease) = match target {
            Target::Branch(branch, old) => {
                let name = branch.full();
                let old = old.map_or(String::new(), |id| id.to_string());
                (name.clone(), Some(format!("--force-with-lease={name}:{old}")))
            }
            Target::Reference(name) => (name.clone(), None),
        };
        let spec = format!("{commit}:{name}");
        let mut arguments = vec!["push", "--porcelain", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
        arguments.extend(lease.as_deref());
        for option in options {
            arguments.extend(["-o", option.as_str()]);
        }
        arguments.extend(["--", remote.address.as_str(), spec.as_str()]);
        let ended = self.transport(&arguments)?;
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        if ended.status.success() {
            return Ok((PushOutcome::Done, said(&err)));
        }
        let reasons: Vec<&str> = out.lines().filter(|line| line.starts_with('!')).collect();
        if reasons.is_empty() {
            return Err(failed(remote, &ended));
        }
        let outcome = match reasons.iter().any(|line| line.contains("stale info")) {
            true => PushOutcome::Modified,
            false => PushOutcome::Refused(format!("{}\n{}", reasons.join("\n"), said(&err)).trim().to_owned()),
        };
        Ok((outcome, String::new()))
    }

    /// The commit of a branch that was proposed to a remote last, where the remote itself cannot be asked.
    pub fn proposed(&self, remote: &Remote, branch: &Branch) -> Result<Option<CommitId>, StoreError> {
        self.ref_target(&format!("{PROPOSED}/{}/{branch}", remote.name))
    }

    /// Remembers that a commit was proposed.
    pub fn note_proposed(&self, remote: &Remote, branch: &Branch, commit: CommitId) -> Result<(), StoreError> {
        let name = format!("{PROPOSED}/{}/{branch}", remote.name);
        let made = self.with(|r| r.reference(&name, commit.0, true, "git-brain: pr").map(|_| ()));
        made.map_err(|e| StoreError::git(name, e))
    }
}
