//! Signed runs: whether what comes from a branch was signed by who may.
//!
//! Asked before commits that wake does not have are merged, wherever they come from, and by `check`. The rule is about
//! commits, not about files: a record can be carried anywhere, and a signature covers exactly one commit with its parents.

use super::sleep::{SLEEP, SLEEP_TRAILER};
use crate::model::ids::RunId;
use crate::store::{Commit, CommitId, Signature, Store, StoreError};

/// Why the commits that lead to `tip` and not to one of `known` may not come in; nothing, if they may, or if signatures are
/// not required here. One sentence a commit, oldest first.
///
/// Each of them must be signed by a key that may sign for its author's address. An agent's address signs runs of that
/// agent alone, that of sleep its own commits; what else there is (merges, stimuli, settings) is signed by people.
pub fn unsigned(store: &Store, tip: CommitId, known: &[CommitId]) -> Result<Vec<(CommitId, String)>, StoreError> {
    if !store.requires_signatures()? {
        return Ok(Vec::new());
    }
    let mut refused = Vec::new();
    for id in store.commits_beyond(tip, known)? {
        refused.extend(unsigned_commit(store, &store.commit(id)?)?.map(|why| (id, why)));
    }
    Ok(refused)
}

/// Why that commit does not have the signature that it needs.
pub fn unsigned_commit(store: &Store, commit: &Commit) -> Result<Option<String>, StoreError> {
    if let Some(why) = out_of_role(commit) {
        return Ok(Some(why));
    }
    Ok(match store.signature(commit.id, &commit.email)? {
        Signature::Good => None,
        Signature::Missing => Some("is not signed, and signatures are required here".to_owned()),
        Signature::Bad(said) => Some(format!("is not signed by {}: {said}", commit.email)),
    })
}

/// Why a commit is not what its author may make, whatever its signature.
fn out_of_role(commit: &Commit) -> Option<String> {
    let agent = commit.agent()?;
    let named =
        |key: &str| -> Vec<Option<RunId>> { commit.trailer_values(key).map(|run| RunId::parse(run).ok()).collect() };
    let sleeps = agent.as_str() == SLEEP;
    let runs = named(if sleeps { SLEEP_TRAILER } else { "Run" });
    let own = matches!(runs.as_slice(), [Some(run)] if run.agent() == agent);
    // A sleep ends with a merge of its own into wake.
    let alone = commit.parents.len() == 1 || sleeps;
    (!own || !alone).then(|| format!("is by {agent}, and no run of {agent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TreeId;

    fn commit(email: &str, parents: usize, runs: &[&str]) -> Commit {
        let id = "0123456789012345678901234567890123456789";
        Commit {
            id: CommitId::parse(id).unwrap(),
            tree: TreeId::parse(id).unwrap(),
            parents: vec![CommitId::parse(id).unwrap(); parents],
            author: String::new(),
            email: email.to_owned(),
            at: 0,
            committed: 0,
            message: String::new(),
            trailers: runs.iter().map(|run| ("Run".to_owned(), (*run).to_owned())).collect(),
        }
    }

    #[test]
    fn an_agent_signs_its_own_runs_and_nothing_else() {
        let (own, other) = ("20260101t100000000z-abcd2345-memory", "20260101t100000000z-abcd2345-decision");
        let memory = "memory@git-brain.invalid";
        for (email, parents, runs, allowed) in [
            (memory, 1, &[own][..], true),
            (memory, 1, &[other], false),
            (memory, 1, &[], false),
            (memory, 1, &[own, own], false),
            (memory, 2, &[own], false),
            ("ann@example.org", 2, &[own, other], true),
            ("git-brain@git-brain.invalid", 2, &[], true),
        ] {
            assert_eq!(out_of_role(&commit(email, parents, runs)).is_none(), allowed, "{email} {parents} {runs:?}");
        }
    }
}
