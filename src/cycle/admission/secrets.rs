//! Secrets that commits add: typed by hand and committed by plain git, where nothing redacts them.
//!
//! Judged of what this machine pushes and of what the gate is to take, and before a commit by its hook. Of what a remote has already nothing is
//! asked: it is out. Nor of what stands in the history before: a neuron with an old secret goes on changing.
//!
//! The list `secrets.allow` of main counts here whether or not this machine trusts it: it lets nothing through that is on this machine alone.

use aho_corasick::AhoCorasick;

use super::{Door, Judge, Kind};
use crate::cycle::file::Finding;
use crate::cycle::policy::secrets_of;
use crate::cycle::{Cycle, CycleError};
use crate::model::layout;
use crate::model::secret::Secrets;
use crate::store::{Commit, FileChange, Store, StoreError, Tips, TreeId};

impl Cycle {
    /// The secrets that are looked for at a door; `None`: none are.
    pub(super) fn secrets_for(
        &self,
        door: &Door,
        tips: &Tips,
        allow: &[String],
    ) -> Result<Option<Secrets>, CycleError> {
        if let Door::Sync | Door::Merge = door {
            return Ok(None);
        }
        let mut allow = allow.to_vec();
        if let Some(tip) = tips.get(self.store.main())
            && let Some(text) =
                self.store.tree_of(*tip).and_then(|tree| self.store.read(tree, layout::SETTINGS)).ok().flatten()
            && let Ok(settings) = crate::model::Settings::read(&String::from_utf8_lossy(&text), &[])
        {
            allow.extend(settings.secrets.allow);
        }
        match door {
            // The variables of the machine that has the gate are no secrets of who pushes.
            Door::Push { .. } => secrets_of(&allow, &[]).map(Some),
            _ => self.shared.policy.secrets_allowing(&self.shared.world, &allow).map(Some),
        }
    }
}

impl Judge<'_> {
    /// Secrets of a file that none of the commit's parents has.
    pub(super) fn secrets_of(
        &mut self,
        commit: &Commit,
        change: &FileChange,
        bytes: &[u8],
    ) -> Result<bool, CycleError> {
        let Some(secrets) = &self.secrets else { return Ok(false) };
        let store = &self.cycle.store;
        let parents = commit.parents.iter().map(|parent| store.tree_of(*parent)).collect::<Result<Vec<_>, _>>()?;
        let found = added(store, secrets, &change.path, bytes, &parents)?;
        let any = !found.is_empty();
        for finding in found {
            self.fault_of(Kind::Secret, commit, &finding.path, finding.line, finding.message);
        }
        Ok(any)
    }

    /// A secret in the message of a commit.
    pub(super) fn secrets_of_message(&mut self, commit: &Commit) -> Result<(), CycleError> {
        let Some(secrets) = &self.secrets else { return Ok(()) };
        let store = &self.cycle.store;
        for found in secrets.find(commit.message.as_bytes()) {
            let text = &commit.message.as_bytes()[found.start..found.end];
            let mut known = false;
            for parent in &commit.parents {
                known |= holds(store, store.tree_of(*parent)?, text)?;
            }
            if !known {
                self.fault_of(Kind::Secret, commit, "", 0, format!("has a secret in its message ({})", found.kind));
                break;
            }
        }
        Ok(())
    }
}

/// The secrets of a file that it did not have in one of those trees, and that no other file of the brain had there.
pub(crate) fn added(
    store: &Store,
    secrets: &Secrets,
    path: &str,
    bytes: &[u8],
    before: &[TreeId],
) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    for found in secrets.in_file(bytes) {
        let mut known = false;
        // The file itself is the likeliest place.
        for tree in before {
            let old = store.read(*tree, path)?;
            known |= old.is_some_and(|old| AhoCorasick::new([&found.text]).is_ok_and(|finder| finder.is_match(&old)));
        }
        for tree in before {
            known = known || holds(store, *tree, &found.text)?;
        }
        if !known {
            findings.push(Finding::error(path, found.line, said(&found.kind)));
        }
    }
    Ok(findings)
}

/// The sentence about a secret of that kind.
pub(crate) fn said(kind: &str) -> String {
    format!("holds a secret ({kind})")
}

/// Whether a file of the brain holds those bytes.
fn holds(store: &Store, tree: TreeId, text: &[u8]) -> Result<bool, StoreError> {
    let Ok(finder) = AhoCorasick::new([text]) else { return Ok(false) };
    for folder in [layout::NETWORK, layout::AGENTS] {
        for (_, file) in store.files(tree, folder)? {
            if file.is_regular() && finder.is_match(&*store.content(file.blob)?) {
                return Ok(true);
            }
        }
    }
    Ok(store.read(tree, layout::SETTINGS)?.is_some_and(|settings| finder.is_match(&settings)))
}
