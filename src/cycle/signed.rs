//! Signed runs: whether what comes from a branch was signed by who may.
//!
//! Asked before commits that wake does not have are merged, wherever they come from, and by `check`. The rule is about
//! commits, not about files: a record can be carried anywhere, and a signature covers exactly one commit with its parents.

use super::trailers::{SLEEP, SLEEP_TRAILER, SNAPSHOT_TRAILER, UNDOES_TRAILER};
use crate::model::ids::RunId;
use crate::store::{CONFIG_SINCE, Commit, CommitId, Signature, Store, StoreError};

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

/// The ways to let commits in whose key is not among the signers, or signed truly then and may not any more: `commit` is an id, or a
/// command in `$(…)`.
pub fn remedies(store: &Store, commit: &str) -> Vec<String> {
    let add = store.signers_file().map(|file| {
        format!(
            "if the key is one that may sign for that address, add a line with the address and the key to {}, on each machine that checks and at the gate",
            file.display()
        )
    });
    let since = format!(
        "if they are good, and were made before signing was set up there, or their key was removed or has expired since: `git config --add {CONFIG_SINCE} {commit}` \
         lets in all that leads to that commit, in this repository; each that lacks them needs it, the gate too (docs/signing.md). `git config brain.sign true` signs from now on"
    );
    add.into_iter().chain([since]).collect()
}

/// The same as one sentence.
pub fn remedy(store: &Store, commit: &str) -> String {
    remedies(store, commit).join("; ")
}

/// What people committed on main here without the signatures that are required, and that wake does not have yet: what is wrong, and the way out.
/// Plain git signs commits where `commit.gpgsign` or `-S` says so; `brain.sign` is about git-brain's own.
pub fn unsigned_main(store: &Store) -> Result<Option<(String, String)>, StoreError> {
    let (main, wake) = (store.need_tip(store.main())?, store.need_tip(store.wake())?);
    let known: Vec<CommitId> = std::iter::once(wake).chain(store.signed_since()?).collect();
    let refused = unsigned(store, main, &known)?;
    let Some((first, _)) = refused.first() else { return Ok(None) };
    let said: Vec<String> = refused.iter().map(|(id, why)| format!("{}: {id}: {why}", store.main())).collect();
    let hint = match store.commit(*first)?.parents.first() {
        Some(base) => format!(
            "`git rebase --no-ff -S {base} {}` signs what you committed since, with the key that git is told of (docs/signing.md)",
            store.main()
        ),
        None => remedy(store, &main.to_string()),
    };
    Ok(Some((said.join("\n"), hint)))
}

/// A signature that a commit lacks.
#[derive(Clone, Debug)]
pub struct Lack {
    /// Why it does not count.
    pub why: String,
    /// Whether there is a whole one by a key that may not sign for the author, or not any more: nobody can tell which.
    pub is_by_another_key: bool,
}

/// Why that commit does not have the signature that it needs.
pub fn unsigned_commit(store: &Store, commit: &Commit) -> Result<Option<String>, StoreError> {
    Ok(lack(store, commit)?.map(|lack| lack.why))
}

/// The same, and whether another key signed it.
pub fn lack(store: &Store, commit: &Commit) -> Result<Option<Lack>, StoreError> {
    // It follows from its parents, which are asked for theirs.
    if store.is_seam(commit)? {
        return Ok(None);
    }
    let lacks = |why, is_by_another_key| Some(Lack { why, is_by_another_key });
    if let Some(why) = out_of_role(commit) {
        return Ok(lacks(why, false));
    }
    let by = |said| format!("is not signed by {}: {said}", commit.email);
    Ok(match store.signature(commit.id, &commit.email)? {
        Signature::Good => None,
        Signature::Missing => lacks("is not signed, and signatures are required here".to_owned(), false),
        Signature::OtherKey(said) => lacks(by(said), true),
        Signature::Bad(said) => lacks(by(said), false),
    })
}

/// Why a commit is not what its author may make, whatever its signature.
fn out_of_role(commit: &Commit) -> Option<String> {
    let Some(agent) = commit.agent() else {
        let odd = commit.is_of_agents_domain();
        return odd.then(|| format!("is by {}, which is no agent's address", commit.email));
    };
    let named =
        |key: &str| -> Vec<Option<RunId>> { commit.trailer_values(key).map(|run| RunId::parse(run).ok()).collect() };
    let sleeps = agent.as_str() == SLEEP;
    let runs = named(if sleeps { SLEEP_TRAILER } else { "Run" });
    let own = matches!(runs.as_slice(), [Some(run)] if run.agent() == agent);
    let says = |keys: &[&str]| keys.iter().any(|key| commit.trailer(key).is_some());
    let alone = match (sleeps, commit.parents.len()) {
        // A sleep ends with a typed merge of its own into wake.
        (true, 2) => says(&["Policy"]) && says(&[SNAPSHOT_TRAILER]) && !says(&[UNDOES_TRAILER]),
        (true, parents) => parents == 1 && !says(&[UNDOES_TRAILER]),
        (false, parents) => {
            parents == 1 && !says(&[SLEEP_TRAILER, SNAPSHOT_TRAILER, UNDOES_TRAILER, "Policy", "Newest-Run"])
        }
    };
    (!own || !alone).then(|| format!("is by {agent}, and no run of {agent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TreeId;

    fn commit(email: &str, parents: usize, trailers: &[(&str, &str)]) -> Commit {
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
            committer: email.to_owned(),
            encoding: None,
            is_by_one: true,
            trailers: trailers.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn an_agent_signs_its_own_runs_and_nothing_else() {
        let own = ("Run", "20260101t100000000z-abcd2345-memory");
        let other = ("Run", "20260101t100000000z-abcd2345-decision");
        let night = "20260101t100000000z-abcd2345-sleep";
        let (sleep, snapshot, policy) = (("Sleep", night), ("Snapshot", "x"), ("Policy", "default"));
        let (memory, sleeper) = ("memory@git-brain.invalid", "sleep@git-brain.invalid");
        for (email, parents, trailers, allowed) in [
            (memory, 1, &[own][..], true),
            (memory, 1, &[other], false),
            (memory, 1, &[], false),
            (memory, 1, &[own, own], false),
            (memory, 2, &[own], false),
            (memory, 0, &[own], false),
            (memory, 1, &[own, sleep], false),
            (memory, 1, &[own, snapshot], false),
            (memory, 1, &[own, ("Undoes", night)], false),
            (memory, 1, &[own, policy], false),
            (memory, 1, &[own, ("Newest-Run", own.1)], false),
            (sleeper, 1, &[sleep], true),
            (sleeper, 1, &[own], false),
            (sleeper, 1, &[sleep, ("Undoes", night)], false),
            (sleeper, 2, &[sleep, snapshot, policy], true),
            (sleeper, 2, &[sleep, snapshot], false),
            (sleeper, 2, &[sleep, policy], false),
            ("ann@example.org", 2, &[own, other], true),
            ("git-brain@git-brain.invalid", 2, &[], true),
            ("Memory@Git-Brain.Invalid", 1, &[own], false),
            ("two words@git-brain.invalid", 1, &[own], false),
        ] {
            let said = out_of_role(&commit(email, parents, trailers));
            assert_eq!(said.is_none(), allowed, "{email} {parents} {trailers:?}");
        }
    }
}
