//! How far an audit came, and what it found: kept in the cache by the version of the rules, so that the next one looks at what is new alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::audit::drift::Voice;
use crate::audit::{Finding, Level, VERSION, worst};
use crate::cycle::CycleError;
use crate::limits;
use crate::store::{Branch, CommitId, Store, Tips};

/// The name of the kept state.
const KEPT: &str = "audit.json";

/// A history that was audited, up to somewhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Audited {
    rules: u32,
    /// The tips of the last audit that came to its end.
    heads: BTreeMap<String, String>,
    reviews: Option<String>,
    /// Commits that were passed, and none of whose children was.
    frontier: BTreeSet<String>,
    /// What each agent said first, and newest.
    pub(super) voices: BTreeMap<String, Voice>,
    /// Commits that were audited, in all.
    pub commits: usize,
    /// Runs among them.
    pub runs: usize,
    /// Commits of decisions.
    pub decisions: usize,
    /// Commits that this audit passed.
    #[serde(skip)]
    pub fresh: usize,
    /// Findings beyond the most that are kept.
    pub left_off: usize,
    /// What is wrong.
    pub findings: BTreeSet<Finding>,
}

impl Audited {
    pub(super) fn load(store: &Store) -> Option<Self> {
        store.cached_document::<Self>(KEPT).filter(|kept| kept.rules == VERSION)
    }

    pub(super) fn keep(&mut self, store: &Store) {
        self.rules = VERSION;
        store.keep_document(KEPT, self);
    }

    pub(super) fn add(&mut self, finding: Finding) {
        match self.findings.len() < limits::AUDIT_FINDINGS || self.findings.contains(&finding) {
            true => drop(self.findings.insert(finding)),
            false => self.left_off += 1,
        }
    }

    /// Notes that a commit was audited; its parents were before.
    pub(super) fn passed(&mut self, id: CommitId, parents: &[CommitId]) {
        for parent in parents {
            self.frontier.remove(&parent.to_string());
        }
        self.frontier.insert(id.to_string());
        self.commits += 1;
        self.fresh += 1;
    }

    /// The commits behind which all was audited.
    pub(super) fn known(&self, store: &Store) -> Vec<CommitId> {
        let parsed = self.frontier.iter().filter_map(|id| CommitId::parse(id).ok());
        parsed.filter(|id| store.commit(*id).is_ok()).collect()
    }

    pub(super) fn head(&self, branch: &Branch) -> Option<CommitId> {
        CommitId::parse(self.heads.get(branch.as_str())?).ok()
    }

    pub(super) fn reviews(&self) -> Option<CommitId> {
        CommitId::parse(self.reviews.as_ref()?).ok()
    }

    /// The commits of a branch since the last audit that came to its end, those of one that was cut off included.
    pub(super) fn since_last(
        &self,
        store: &Store,
        branch: &Branch,
        tip: CommitId,
        new: HashSet<CommitId>,
    ) -> Result<HashSet<CommitId>, CycleError> {
        // Of this walk, nothing was hidden: nothing was cut off either.
        if self.fresh == self.commits {
            return Ok(new);
        }
        let hidden: Vec<CommitId> = self.heads.values().filter_map(|id| CommitId::parse(id).ok()).collect();
        let hidden: Vec<CommitId> = hidden.into_iter().filter(|id| store.commit(*id).is_ok()).collect();
        let is_trunk = branch == store.main() || branch == store.wake();
        match is_trunk {
            true => Ok(store.commits_within(tip, &hidden, limits::AUDIT_WALK)?.into_iter().collect()),
            false => Ok(new),
        }
    }

    /// Notes that the audit came to its end.
    pub(super) fn finish(&mut self, tips: &Tips, reviews: Option<CommitId>) {
        self.heads = tips.iter().map(|(branch, tip)| (branch.to_string(), tip.to_string())).collect();
        self.reviews = reviews.map(|tip| tip.to_string());
    }

    /// The findings, by commit.
    pub fn list(&self) -> Vec<Finding> {
        self.findings.iter().cloned().collect()
    }

    /// The worst level.
    pub fn level(&self) -> Level {
        worst(&self.list())
    }
}
