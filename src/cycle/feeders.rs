//! Who fed what: read off the commits of wake that brought stimuli, because no file says it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Cycle, CycleError};
use crate::limits;
use crate::model::layout;
use crate::store::{CommitId, TreeId};

/// Looks for the people who fed stimuli. What one commit brought is looked for once.
#[derive(Debug, Default)]
pub struct Feeders {
    /// Wake's own line, newest first.
    line: Vec<CommitId>,
    known: HashMap<String, String>,
}

impl Cycle {
    /// Whether others may feed this brain: it has, or had, a remote.
    pub fn has_others(&self) -> Result<bool, CycleError> {
        Ok(self.store.has_remote()? || !self.store.seen_anywhere()?.is_empty())
    }

    /// How many of those stimuli other people fed, by address; none where nobody else feeds this brain.
    pub fn fed_by_others<'s>(
        &self,
        paths: impl Iterator<Item = &'s str>,
        feeders: &mut Feeders,
    ) -> Result<BTreeMap<String, usize>, CycleError> {
        let mut others = BTreeMap::new();
        if !self.has_others()? {
            return Ok(others);
        }
        let own = self.store.user().1;
        for path in paths {
            if let Some(by) = self.fed_by(path, feeders)?.filter(|by| *by != own) {
                *others.entry(by).or_insert(0) += 1;
            }
        }
        Ok(others)
    }

    /// The address of the person who fed the stimulus at a path of wake; `None`: its history is too long, or an agent brought it.
    pub fn fed_by(&self, path: &str, feeders: &mut Feeders) -> Result<Option<String>, CycleError> {
        if let Some(by) = feeders.known.get(path) {
            return Ok(Some(by.clone()).filter(|by| !by.is_empty()));
        }
        if feeders.line.is_empty() {
            feeders.line = self.line_of(self.store.need_tip(self.store.wake())?, &HashSet::new())?;
        }
        let mut line = feeders.line.clone();
        for _ in 0..limits::SYNC_ROUNDS {
            // What is written once is in all that follows.
            let mut fails = None;
            let with = line.partition_point(|id| match self.has(*id, path) {
                Ok(has) => has,
                Err(error) => {
                    fails.get_or_insert(error);
                    false
                }
            });
            if let Some(error) = fails {
                return Err(error);
            }
            let Some(id) = with.checked_sub(1).map(|at| line[at]) else { break };
            let commit = self.store.commit(id)?;
            let mut below = None;
            for parent in &commit.parents {
                if self.has(*parent, path)? {
                    below = Some(*parent);
                    break;
                }
            }
            let Some(below) = below else {
                let by = if commit.is_of_agents_domain() { String::new() } else { commit.email.clone() };
                let before: Option<TreeId> =
                    commit.parents.first().map(|parent| self.store.tree_of(*parent)).transpose()?;
                for change in self.store.diff(before, Some(commit.tree), layout::STIMULI)? {
                    feeders.known.insert(change.path, by.clone());
                }
                return Ok(Some(by).filter(|by| !by.is_empty()));
            };
            // A merge brought it: the line that had it, down to where it left this one.
            let on_line: HashSet<CommitId> = line.into_iter().collect();
            line = self.line_of(below, &on_line)?;
        }
        Ok(None)
    }

    fn has(&self, commit: CommitId, path: &str) -> Result<bool, CycleError> {
        Ok(self.store.file(self.store.tree_of(commit)?, path)?.is_some())
    }

    /// The first parents of a commit, itself first, down to one of `known`.
    fn line_of(&self, from: CommitId, known: &HashSet<CommitId>) -> Result<Vec<CommitId>, CycleError> {
        let mut line = Vec::new();
        for commit in self.store.first_parents(from, None).take(limits::HISTORY_WALK) {
            let id = commit?.id;
            if known.contains(&id) {
                break;
            }
            line.push(id);
        }
        Ok(line)
    }
}
