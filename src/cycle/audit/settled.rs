//! How a quarantine ends: a person who may decide accepts the commit as it is, or takes back what it did.

use std::collections::{BTreeMap, BTreeSet};

use super::Auditor;
use crate::audit::{Finding, Level, Rule, Settled};
use crate::cycle::admission::SAYS;
use crate::cycle::{Cycle, CycleError};
use crate::model::Stamp;
use crate::model::ids::RunId;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{Commit, CommitId, Store, Tips, is_agents_address};

impl Cycle {
    /// The commits that people accepted by decisions of the audit, as far as their own commits made these decisions.
    pub fn accepted(&self) -> Result<BTreeMap<String, (ReviewRecord, CommitId)>, CycleError> {
        let mut accepted = BTreeMap::new();
        for (_, path) in self.review_paths()? {
            let Some(review) = self.review_at(&path)?.filter(|review| review.is_of_audit()) else { continue };
            if review.verdict == Verdict::Approve
                && self.is_added_by(&path, review.address())?
                && let Some(by) = self.decision_added_by(&path)?
            {
                accepted.insert(review.commit.clone(), (review, by));
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
        let accepted = self.cycle.accepted()?;
        for finding in &findings {
            let Some((review, by)) = accepted.get(&finding.commit) else { continue };
            let by = store.commit(*by)?;
            if by.agents_hand().is_none() && self.may_decide(review, &by) {
                let settled =
                    Settled { by: review.reviewer.clone(), at: review.at.to_string(), why: review.why.clone() };
                self.audited.settled.insert(finding.id(), settled);
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
            if let Some(by) = self.cycle.taken_back_by(tree, &run)? {
                let commit = store.commit(self.cycle.own_commit(wake, &by)?)?;
                if commit.agents_hand().is_none() && !wrong.contains(commit.id.to_string().as_str()) {
                    by_run.insert(finding.id(), settled_by(&commit, format!("taken back by {by}")));
                }
            }
        }
        let named: BTreeSet<&str> =
            open.iter().filter(|finding| is_undone_by_its_tree(finding)).map(|f| f.commit.as_str()).collect();
        let mut by_commit: BTreeMap<String, Settled> = BTreeMap::new();
        if !named.is_empty() {
            for commit in self.all_commits(tips)? {
                let Some((_, rest)) = commit.message.split_once(SAYS) else { continue };
                let Some(id) = rest.get(..40).filter(|id| named.contains(id)) else { continue };
                if commit.agents_hand().is_none()
                    && !wrong.contains(commit.id.to_string().as_str())
                    && takes_back(store, &commit, id)?
                {
                    by_commit
                        .insert(id.to_owned(), settled_by(&commit, format!("taken back by the commit {}", commit.id)));
                }
            }
        }
        for finding in &open {
            let of_commit = by_commit.get(&finding.commit).filter(|_| is_undone_by_its_tree(finding)).cloned();
            if let Some(settled) = by_run.remove(&finding.id()).or(of_commit) {
                self.audited.settled.insert(finding.id(), settled);
            }
        }
        Ok(())
    }
}

fn settled_by(commit: &Commit, why: String) -> Settled {
    let at = Stamp::from_unix(commit.committed).to_string();
    Settled { by: format!("{} <{}>", commit.author, commit.email), at, why }
}

/// Whether files as they were before end what a finding is about: history keeps a secret, and a tip that was rewritten.
fn is_undone_by_its_tree(finding: &Finding) -> bool {
    !matches!(finding.rule, Rule::Secret | Rule::Rewritten | Rule::ForeignRoot)
}

/// Whether a commit gives back each file that another one changed, as it was before that one.
fn takes_back(store: &Store, commit: &Commit, named: &str) -> Result<bool, CycleError> {
    let Some(named) = CommitId::parse(named).ok().and_then(|id| store.commit(id).ok()) else { return Ok(false) };
    let (Some(parent), [before, ..]) = (commit.parents.first(), &named.parents[..]) else { return Ok(false) };
    if !store.is_ancestor(named.id, commit.id)? {
        return Ok(false);
    }
    let found = store.tree_of(*parent)?;
    let mut is_any = false;
    for change in store.diff(Some(store.tree_of(*before)?), Some(named.tree), "")? {
        let (was, is) = (store.file(found, &change.path)?, store.file(commit.tree, &change.path)?);
        if is != change.old {
            return Ok(false);
        }
        is_any = is_any || was != is;
    }
    Ok(is_any)
}
