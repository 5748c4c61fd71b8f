//! How far an audit came, and what it found: kept in the cache by the rules and by what else its results follow from, so that the next one looks at
//! what is new, and again at what was wrong.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::audit::drift::Voice;
use crate::audit::{Finding, Level, Settled, worst};
use crate::limits;
use crate::store::{Branch, CommitId, Store, Tips};

/// The name of the kept state.
const KEPT: &str = "audit.json";

/// A history that was audited, up to somewhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Audited {
    /// The rules and settings by which it was audited.
    pub(super) grounds: String,
    /// The tips of the last audit that came to its end: an audit by other grounds begins anew, and still knows them.
    seen: BTreeMap<String, String>,
    /// The same of decisions.
    seen_reviews: Option<String>,
    /// Branches that were rewritten between two audits.
    pub(super) rewritten: BTreeSet<Finding>,
    /// The tips behind which all was audited by these grounds.
    heads: BTreeMap<String, String>,
    reviews: Option<String>,
    /// Commits that were passed, and none of whose children was.
    frontier: BTreeSet<String>,
    /// Versions of main by which runs were judged, each with the time since which it is in force.
    pub(super) eras: Vec<(String, i64)>,
    /// The newest time of a commit that was passed.
    newest: i64,
    /// Commits that had findings: each audit judges them again, because what a commit is held against goes on.
    suspects: BTreeSet<String>,
    /// Decisions that count for nothing.
    #[serde(default)]
    pub(super) void: BTreeSet<String>,
    /// The same of decisions.
    doubtful: BTreeSet<String>,
    /// Runs on which people decided otherwise.
    pub(super) disputed: BTreeSet<String>,
    /// Runs of which there are several commits.
    pub(super) twice: BTreeSet<String>,
    /// What each agent said first, and newest, and where it drifted.
    pub(super) voices: BTreeMap<String, Voice>,
    pub(super) drifts: BTreeSet<Finding>,
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
    /// Findings that are settled, by their ids.
    pub settled: BTreeMap<String, Settled>,
}

impl Audited {
    pub(super) fn load(store: &Store) -> Option<Self> {
        store.cached_document::<Self>(KEPT)
    }

    pub(super) fn keep(&self, store: &Store) {
        store.keep_document(KEPT, self);
    }

    /// Nothing, but for the tips that were seen.
    pub(super) fn anew(self, grounds: String) -> Self {
        let Self { seen, seen_reviews, rewritten, .. } = self;
        Self { grounds, seen, seen_reviews, rewritten, ..Self::default() }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        match self.findings.len() < limits::AUDIT_FINDINGS || self.findings.contains(&finding) {
            true => drop(self.findings.insert(finding)),
            false => self.left_off += 1,
        }
    }

    /// Whether versions of main leave all that was passed as it is: those that were known are, and others came into force later, by more than
    /// clocks may differ.
    pub(super) fn goes_on_by(&self, eras: &[(String, i64)]) -> bool {
        let is_later = |(_, since): &(String, i64)| since.saturating_sub(limits::FUTURE_SECONDS) > self.newest;
        self.frontier.is_empty() || eras.strip_prefix(&self.eras[..]).is_some_and(|others| others.iter().all(is_later))
    }

    /// Notes that a commit of that time was audited; its parents were before.
    pub(super) fn passed(&mut self, id: CommitId, parents: &[CommitId], committed: i64) {
        self.newest = self.newest.max(committed);
        for parent in parents {
            self.frontier.remove(&parent.to_string());
        }
        self.frontier.insert(id.to_string());
        self.commits += 1;
        self.fresh += 1;
    }

    /// The commits behind which all was audited.
    pub(super) fn known(&self, store: &Store) -> Vec<CommitId> {
        there(store, self.frontier.iter())
    }

    /// Where an audit that came to its end saw a branch.
    pub(super) fn seen(&self, branch: &Branch) -> Option<CommitId> {
        CommitId::parse(self.seen.get(branch.as_str())?).ok()
    }

    pub(super) fn seen_reviews(&self) -> Option<CommitId> {
        CommitId::parse(self.seen_reviews.as_ref()?).ok()
    }

    /// Where the last audit by these grounds came to its end.
    pub(super) fn head(&self, branch: &Branch) -> Option<CommitId> {
        CommitId::parse(self.heads.get(branch.as_str())?).ok()
    }

    /// The tips of the last audit by these grounds.
    pub(super) fn heads(&self, store: &Store) -> Vec<CommitId> {
        there(store, self.heads.values())
    }

    pub(super) fn reviews(&self) -> Option<CommitId> {
        CommitId::parse(self.reviews.as_ref()?).ok()
    }

    /// Notes that a commit has to be judged again.
    pub(super) fn suspect(&mut self, id: CommitId) {
        if self.suspects.len() < limits::AUDIT_FINDINGS {
            self.suspects.insert(id.to_string());
        }
    }

    pub(super) fn doubt(&mut self, id: CommitId) {
        if self.doubtful.len() < limits::AUDIT_FINDINGS {
            self.doubtful.insert(id.to_string());
        }
    }

    /// The commits to judge again, of those that are here, whether or not they can be read.
    pub(super) fn suspects(&self, store: &Store) -> Vec<CommitId> {
        let ids = self.suspects.iter().filter_map(|id| CommitId::parse(id).ok());
        ids.filter(|id| !store.has_no_object(*id)).collect()
    }

    pub(super) fn doubtful(&self, store: &Store) -> Vec<CommitId> {
        there(store, self.doubtful.iter())
    }

    /// Notes that the audit came to its end.
    pub(super) fn finish(&mut self, tips: &Tips, reviews: Option<CommitId>) {
        self.heads = tips.iter().map(|(branch, tip)| (branch.to_string(), tip.to_string())).collect();
        self.reviews = reviews.map(|tip| tip.to_string());
        (self.seen, self.seen_reviews) = (self.heads.clone(), self.reviews.clone());
    }

    /// The findings, by commit.
    pub fn list(&self) -> Vec<Finding> {
        // Two checks can say the same of a file: the one that knows the run tells more.
        let of_runs = self.findings.iter().filter(|finding| !finding.run.is_empty()).map(Finding::id);
        let of_runs: BTreeSet<String> = of_runs.collect();
        let tells_most = |finding: &&Finding| !finding.run.is_empty() || !of_runs.contains(&finding.id());
        self.findings.iter().filter(tells_most).cloned().collect()
    }

    /// The findings that nobody settled.
    pub fn open(&self) -> Vec<Finding> {
        self.list().into_iter().filter(|finding| !self.settled.contains_key(&finding.id())).collect()
    }

    /// The worst level of what is not settled.
    pub fn level(&self) -> Level {
        worst(&self.open())
    }
}

fn there<'i>(store: &Store, ids: impl Iterator<Item = &'i String>) -> Vec<CommitId> {
    ids.filter_map(|id| CommitId::parse(id).ok()).filter(|id| store.commit(*id).is_ok()).collect()
}
