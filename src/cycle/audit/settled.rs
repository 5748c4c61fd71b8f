//! How a quarantine ends: a person who may decide accepts the commit as it is, or takes back what it did.

use std::collections::{BTreeMap, BTreeSet};

use super::Auditor;
use crate::audit::{Finding, Level, Rule, Settled};
use crate::cycle::admission::SAYS;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::Stamp;
use crate::model::ids::RunId;
use crate::review::{ReviewRecord, Verdict};
use crate::store::{Commit, CommitId, FileChange, Store, Tips, is_agents_address};

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
}

/// Commits that say that they revert others.
struct Undone<'c> {
    store: &'c Store,
    tips: &'c Tips,
    /// By the commit that they name.
    reverts: BTreeMap<String, Vec<Commit>>,
    /// Commits with something wrong, but for what is written once and no longer as it was.
    wrong: BTreeSet<String>,
}

impl<'c> Undone<'c> {
    fn of(auditor: &Auditor<'c>, tips: &'c Tips, open: &[Finding]) -> Result<Self, CycleError> {
        let mut reverts: BTreeMap<String, Vec<Commit>> = BTreeMap::new();
        if open.iter().any(is_undone_by_its_tree) {
            for commit in auditor.all_commits(tips)? {
                if let Some(named) = named_by(&commit) {
                    reverts.entry(named.to_owned()).or_default().push(commit);
                }
            }
        }
        let wrong = open.iter().filter(|finding| finding.rule != Rule::WrittenOnce);
        let wrong = wrong.map(|finding| finding.commit.clone()).collect();
        Ok(Self { store: &auditor.cycle.store, tips, reverts, wrong })
    }

    /// The commit that took back all that a finding is about; or that of the finding, if it gives back what was written once.
    fn settled(&self, finding: &Finding) -> Result<Option<Settled>, CycleError> {
        if !is_undone_by_its_tree(finding) {
            return Ok(None);
        }
        let Some(commit) = CommitId::parse(&finding.commit).ok().and_then(|id| self.store.commit(id).ok()) else {
            return Ok(None);
        };
        if let Some(by) = self.taken_back(&commit)? {
            return Ok(Some(settled_by(by, format!("taken back by the commit {}", by.id))));
        }
        let named = named_by(&commit).filter(|_| finding.rule == Rule::WrittenOnce);
        let named = named.and_then(|id| self.store.commit(CommitId::parse(id).ok()?).ok());
        match named {
            Some(named)
                if self.taken_back(&named)?.is_some_and(|by| by.id == commit.id)
                    && self.changes(&named)?.iter().any(|change| change.path == finding.path) =>
            {
                Ok(Some(settled_by(&commit, format!("gives back what the commit {} changed", named.id))))
            }
            _ => Ok(None),
        }
    }

    /// The commit that took another one back on each branch of ours that has it, and that was not taken back itself.
    fn taken_back(&self, named: &Commit) -> Result<Option<&Commit>, CycleError> {
        // A run that landed by a merge is also taken back by what names its own commit.
        let own = named.parents.get(1).map(ToString::to_string);
        let names = std::iter::once(named.id.to_string()).chain(own);
        for by in names.filter_map(|id| self.reverts.get(&id)).flatten() {
            let is_good = by.agents_hand().is_none() && !self.wrong.contains(&by.id.to_string());
            if is_good
                && self.is_on_each_line(named, by)?
                && takes_back(self.store, by, named)?
                && self.taken_back(by)?.is_none()
                && !self.is_in_force(named)?
                && !self.is_put_back(named, by)?
            {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    /// The tips on which something stands until it is taken back there: main, if it was made there; else wake; else the branches that wait.
    fn lines(&self, named: &Commit) -> Result<Vec<CommitId>, CycleError> {
        let trunks = [self.store.main(), self.store.wake()].map(|branch| self.tips.get(branch));
        for tip in trunks.into_iter().flatten() {
            if self.store.is_ancestor(named.id, *tip)? {
                return Ok(vec![*tip]);
            }
        }
        let mut lines = Vec::new();
        for tip in self.tips.values() {
            if self.store.is_ancestor(named.id, *tip)? {
                lines.push(*tip);
            }
        }
        Ok(lines)
    }

    fn changes(&self, named: &Commit) -> Result<Vec<FileChange>, CycleError> {
        let before = named.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
        Ok(self.store.diff(before, Some(named.tree), "")?)
    }

    fn is_on_each_line(&self, named: &Commit, by: &Commit) -> Result<bool, CycleError> {
        for tip in self.lines(named)? {
            if !self.store.is_ancestor(by.id, tip)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a file is again as a commit made it.
    fn is_in_force(&self, named: &Commit) -> Result<bool, CycleError> {
        for change in self.changes(named)?.iter().filter(|change| change.new.is_some()) {
            for tip in self.lines(named)? {
                if self.store.file(self.store.tree_of(tip)?, &change.path)? == change.new {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a commit upon the one that took another back made a file again as that had made it, and was not taken back itself. What a later run
    /// makes of such a file gives nothing back.
    fn is_put_back(&self, named: &Commit, by: &Commit) -> Result<bool, CycleError> {
        let changes = self.changes(named)?;
        for tip in self.lines(named)? {
            let upon = self.store.commits_within(tip, &[by.id], limits::AUDIT_WALK)?;
            let upon = upon.into_iter().map(|id| self.store.commit(id)).collect::<Result<Vec<_>, _>>()?;
            for change in changes.iter().filter(|change| change.new.is_some()) {
                let mut again: Vec<&Commit> = Vec::new();
                for commit in &upon {
                    if self.store.file(commit.tree, &change.path)? == change.new
                        && self.store.is_ancestor(by.id, commit.id)?
                    {
                        again.push(commit);
                    }
                }
                let ids: BTreeSet<CommitId> = again.iter().map(|commit| commit.id).collect();
                for commit in again.iter().filter(|commit| !commit.parents.iter().any(|id| ids.contains(id))) {
                    if self.taken_back(commit)?.is_none() {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// The commit that one says it reverts.
fn named_by(commit: &Commit) -> Option<&str> {
    commit.message.split_once(SAYS)?.1.get(..40)
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
fn takes_back(store: &Store, commit: &Commit, named: &Commit) -> Result<bool, CycleError> {
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
