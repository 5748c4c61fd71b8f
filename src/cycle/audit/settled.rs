//! How a quarantine ends: a person who may decide accepts the commit as it is, or takes back what it did.

use std::collections::{BTreeMap, BTreeSet};

use super::Auditor;
use super::undone::{Undone, settled_by};
use crate::audit::{Finding, Level, Settled};
use crate::cycle::{Cycle, CycleError};
use crate::model::ids::RunId;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{CommitId, Tips, is_agents_address};

/// Decisions by the ids of the findings that they accept, each with the commit that made it.
pub type Accepted = BTreeMap<String, Vec<(ReviewRecord, CommitId)>>;

impl Cycle {
    /// Those of some findings that people accepted, by their ids, each with its decisions and the commits that made these, as far as they are their
    /// authors'.
    pub fn accepted(&self, findings: &[Finding]) -> Result<Accepted, CycleError> {
        let known: BTreeSet<String> = findings.iter().map(Finding::id).collect();
        let mut accepted = Accepted::new();
        for (_, path) in self.review_paths()? {
            let read = self.read_or_told(self.review_at(&path))?;
            let Some(mut review) = read.filter(ReviewRecord::is_of_audit) else { continue };
            review.accepts.retain(|finding| known.contains(finding));
            if !review.accepts.is_empty()
                && review.verdict == Verdict::Approve
                && self.read_or_told(self.is_added_by(&path, review.address()))?
                && let Some(by) = self.read_or_told(self.decision_added_by(&path))?
            {
                for finding in std::mem::take(&mut review.accepts) {
                    accepted.entry(finding).or_default().push((review.clone(), by));
                }
            }
        }
        Ok(accepted)
    }

    /// Why somebody may not decide on a finding of the audit; `None`: main lets them.
    pub fn may_not_accept(&self, address: &str) -> Result<Option<String>, CycleError> {
        if is_agents_address(address) {
            return Ok(Some(format!("{address} is an agent's address, and agents review nothing")));
        }
        let review = self.review_of_main()?;
        let rules = review.rule.iter().map(|rule| Some(rule.name.as_str()));
        let named: Vec<&[String]> = std::iter::once(None).chain(rules).map(|rule| review.reviewers_of(rule)).collect();
        let may = named.iter().any(|names| names.is_empty() || names.iter().any(|name| name == address));
        let others: BTreeSet<&str> = named.into_iter().flatten().map(String::as_str).collect();
        let others: Vec<&str> = others.into_iter().collect();
        Ok((!may).then(|| format!("{address} may not decide on that: {} may", others.join(", "))))
    }
}

impl Auditor<'_> {
    /// Notes the findings that people settled.
    pub(super) fn settle(&mut self, tips: &Tips) -> Result<(), CycleError> {
        self.audited.settled.clear();
        let findings = self.audited.list();
        if findings.is_empty() {
            return Ok(());
        }
        let store = &self.cycle.store;
        let accepted = self.cycle.accepted(&findings)?;
        for finding in &findings {
            for (review, by) in accepted.get(&finding.id()).into_iter().flatten() {
                let by = store.commit(*by)?;
                if review.commit == finding.commit && by.agents_hand().is_none() && self.may_decide(review, &by) {
                    let settled =
                        Settled { by: review.reviewer.clone(), at: review.at.to_string(), why: review.why.clone() };
                    self.audited.settled.insert(finding.id(), settled);
                    break;
                }
            }
        }
        if self.audited.open().iter().any(|finding| finding.level == Level::Quarantine) {
            self.settle_reverted(tips)?;
        }
        Ok(())
    }

    /// The same of what a later commit took back, which nothing is wrong with.
    fn settle_reverted(&mut self, tips: &Tips) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let open = self.audited.open();
        let wrong: BTreeSet<&str> = open.iter().map(|finding| finding.commit.as_str()).collect();
        let kept: BTreeSet<&str> = open
            .iter()
            .filter(|finding| !finding.rule.ends_with_revert())
            .map(|finding| finding.commit.as_str())
            .collect();
        let tree = store.tree_of(store.need_tip(store.wake())?)?;
        let wake = store.need_tip(store.wake())?;
        let mut by_run: BTreeMap<String, Settled> = BTreeMap::new();
        for finding in open.iter().filter(|finding| !kept.contains(finding.commit.as_str())) {
            let Ok(run) = RunId::parse(&finding.run) else { continue };
            // A commit that only names a run did what no record says, and taking back the run leaves it.
            if let Some(by) = self.cycle.taken_back_by(tree, &run)?
                && self.brought(wake, &run, &finding.commit)?
            {
                let commit = store.commit(self.cycle.own_commit(wake, &by)?)?;
                if commit.agents_hand().is_none() && !wrong.contains(commit.id.to_string().as_str()) {
                    by_run.insert(finding.id(), settled_by(&commit, format!("taken back by {by}")));
                }
            }
        }
        let undone = Undone::of(self, tips, &open)?;
        for finding in &open {
            let settled = match by_run.remove(&finding.id()) {
                None => undone.settled(finding)?,
                by_run => by_run,
            };
            if let Some(settled) = settled {
                self.audited.settled.insert(finding.id(), settled);
            }
        }
        Ok(())
    }

    /// Whether a commit is the one of a run, or the one by which it landed.
    fn brought(&self, wake: CommitId, run: &RunId, commit: &str) -> Result<bool, CycleError> {
        Ok(self.cycle.commits_that_made(wake, run)?.iter().any(|id| id.to_string() == commit))
    }
}
