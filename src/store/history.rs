//! History: merge bases, ancestry, the newest run, walks. Commits of the open batch take part.

use std::collections::{BTreeSet, HashSet};

use super::{Commit, CommitId, Store, StoreError};
use crate::limits;
use crate::model::RunId;

/// Trailer that names the run of a commit.
const RUN: &str = "Run";
/// Trailer of wake's merge commits: the newest run in their whole history.
const NEWEST_RUN: &str = "Newest-Run";

impl Store {
    /// The best common ancestors of two commits, all of them, sorted. The typed merge folds several into one base.
    pub fn merge_bases(&self, left: CommitId, right: CommitId) -> Result<Vec<CommitId>, StoreError> {
        let (open_left, front_left) = self.frontier(left)?;
        let (open_right, front_right) = self.frontier(right)?;
        let mut bases: BTreeSet<CommitId> = open_left.intersection(&open_right).copied().collect();
        for a in &front_left {
            for b in &front_right {
                bases.extend(self.stored_bases(*a, *b)?);
            }
        }
        let all: Vec<CommitId> = bases.iter().copied().collect();
        if all.len() > 1 && !(open_left.is_empty() && open_right.is_empty()) {
            for one in &all {
                for other in &all {
                    if one != other && self.is_ancestor(*one, *other)? {
                        bases.remove(one);
                    }
                }
            }
        }
        Ok(bases.into_iter().collect())
    }

    /// Whether `old` is `new` or one of its ancestors.
    pub fn is_ancestor(&self, old: CommitId, new: CommitId) -> Result<bool, StoreError> {
        let (open, front) = self.frontier(new)?;
        if old == new || open.contains(&old) {
            return Ok(true);
        }
        if self.pending.borrow().contains_key(&old.0) {
            return Ok(false);
        }
        for commit in front {
            let below = || match self.with_objects(|r| r.graph_descendant_of(commit.0, old.0)) {
                Ok(is_below) => Ok(is_below),
                Err(e) if is_of_a_header(&e) => Ok(self.by_parents([commit], &HashSet::new())?.contains(&old)),
                Err(e) => Err(StoreError::git(format!("history of {commit}"), e)),
            };
            if commit == old || below()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commits at and behind some, without others and what is behind those, parents first, by the lines of their headers that name parents: git goes
    /// on behind a commit of which it reads nothing else.
    fn by_parents(
        &self,
        tips: impl IntoIterator<Item = CommitId>,
        without: &HashSet<CommitId>,
    ) -> Result<Vec<CommitId>, StoreError> {
        let (mut found, mut seen) = (Vec::new(), without.clone());
        let mut open: Vec<(CommitId, bool)> = tips.into_iter().map(|id| (id, false)).collect();
        while let Some((id, is_done)) = open.pop() {
            if is_done {
                found.push(id);
            } else if seen.insert(id) {
                open.push((id, true));
                open.extend(self.parents_named(id)?.into_iter().map(|parent| (parent, false)));
            }
        }
        Ok(found)
    }

    /// The newest run of a history that started no later than that millisecond, by run id. A `Newest-Run` trailer settles all that is behind
    /// it; otherwise, and where it names a later run, `Run` trailers are gathered from parent to parent.
    pub fn newest_run(&self, from: CommitId, latest_ms: i64) -> Result<Option<RunId>, StoreError> {
        let mut newest: Option<RunId> = None;
        let (mut is_ahead, in_time) = (false, |run: &RunId| run.unix_ms() <= latest_ms);
        let (mut seen, mut open) = (HashSet::from([from]), vec![from]);
        while let Some(id) = open.pop() {
            if seen.len() > limits::HISTORY_WALK {
                if is_ahead {
                    break;
                }
                return Err(StoreError::TooLong { commits: limits::HISTORY_WALK, from: from.to_string() });
            }
            let commit = match self.commit(id) {
                Ok(commit) => commit,
                // One that cannot be read names no run; the audit names it.
                Err(error @ StoreError::BadObject { .. }) => {
                    let parents = self.parents_named(id).map_err(|_| error)?;
                    open.extend(parents.into_iter().filter(|parent| seen.insert(*parent)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let named = commit.trailer(NEWEST_RUN).and_then(|t| RunId::parse(t).ok());
            let settled = named.clone().filter(in_time);
            is_ahead |= named.is_some() && settled.is_none();
            let runs = commit.trailer_values(RUN).filter_map(|t| RunId::parse(t).ok()).filter(in_time);
            newest = newest.into_iter().chain(runs).chain(settled.clone()).max();
            if settled.is_none() {
                open.extend(commit.parents.into_iter().filter(|parent| seen.insert(*parent)));
            }
        }
        Ok(newest)
    }

    /// The commits from `from` along first parents, newest first, up to and without `stop`.
    pub fn first_parents(
        &self,
        from: CommitId,
        stop: Option<CommitId>,
    ) -> impl Iterator<Item = Result<Commit, StoreError>> + '_ {
        let mut next = Some(from);
        std::iter::from_fn(move || {
            let id = next.take().filter(|id| Some(*id) != stop)?;
            let commit = self.commit(id);
            // Whoever can do without a commit that cannot be read goes on behind it.
            next = match &commit {
                Ok(commit) => commit.parents.first().copied(),
                Err(_) => self.parents_named(id).ok().and_then(|parents| parents.first().copied()),
            };
            Some(commit)
        })
    }

    /// The commits that `tip` has and `hidden` have not, parents before children.
    pub fn commits_beyond(&self, tip: CommitId, hidden: &[CommitId]) -> Result<Vec<CommitId>, StoreError> {
        self.commits_within(tip, hidden, limits::HISTORY_WALK)
    }

    /// The same, at most so many.
    pub fn commits_within(&self, tip: CommitId, hidden: &[CommitId], most: usize) -> Result<Vec<CommitId>, StoreError> {
        let (mut unpublished, front) = self.frontier(tip)?;
        let mut hidden_front = BTreeSet::new();
        for id in hidden {
            let (ours, published) = self.frontier(*id)?;
            unpublished.retain(|id| !ours.contains(id));
            hidden_front.extend(published);
        }
        let walked = self.with_objects(|r| {
            let mut walk = r.revwalk()?;
            walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE)?;
            front.iter().try_for_each(|id| walk.push(id.0))?;
            hidden_front.iter().try_for_each(|id| walk.hide(id.0))?;
            walk.take(most.saturating_add(1)).collect::<Result<Vec<_>, _>>()
        });
        let walked = match walked {
            Ok(walked) => walked,
            Err(e) if is_of_a_header(&e) => {
                let behind: HashSet<CommitId> = self.by_parents(hidden_front, &HashSet::new())?.into_iter().collect();
                self.by_parents(front, &behind)?.into_iter().map(|id| id.0).collect()
            }
            Err(e) => return Err(StoreError::git(format!("history of {tip}"), e)),
        };
        if walked.len() > most {
            return Err(StoreError::TooLong { commits: most, from: tip.to_string() });
        }
        let mut found: Vec<CommitId> = walked.into_iter().map(CommitId).collect();
        let mut open = vec![tip];
        while let Some(id) = open.last().copied() {
            let parents = if unpublished.contains(&id) { self.commit(id)?.parents } else { Vec::new() };
            match parents.into_iter().find(|parent| unpublished.contains(parent)) {
                Some(parent) => open.push(parent),
                None => {
                    open.pop();
                    found.extend(unpublished.remove(&id).then_some(id));
                }
            }
        }
        Ok(found)
    }

    /// The unpublished commits at and behind a commit, and the published ones where those end.
    fn frontier(&self, from: CommitId) -> Result<(BTreeSet<CommitId>, BTreeSet<CommitId>), StoreError> {
        let (mut unpublished, mut front) = (BTreeSet::new(), BTreeSet::new());
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if !self.pending.borrow().contains_key(&id.0) {
                front.insert(id);
            } else if unpublished.insert(id) {
                open.extend(self.commit(id)?.parents);
            }
        }
        Ok((unpublished, front))
    }

    fn stored_bases(&self, a: CommitId, b: CommitId) -> Result<Vec<CommitId>, StoreError> {
        match self.with_objects(|r| r.merge_bases(a.0, b.0)) {
            Ok(ids) => Ok(ids.iter().map(|id| CommitId(*id)).collect()),
            Err(e) if e.code() == git2::ErrorCode::NotFound && self.has(a.0) && self.has(b.0) => Ok(Vec::new()),
            Err(e) => Err(StoreError::git(format!("merge bases of {a} and {b}"), e)),
        }
    }
}

/// Whether libgit2 could not read the header of a commit on the way.
fn is_of_a_header(error: &git2::Error) -> bool {
    matches!(error.class(), git2::ErrorClass::Odb | git2::ErrorClass::Object | git2::ErrorClass::Invalid)
        && error.code() == git2::ErrorCode::GenericError
}

#[cfg(test)]
mod tests;
