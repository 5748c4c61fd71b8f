//! Branches of runs that a remote had when this machine last met it: a decision on another commit of such a run could not go there.
//!
//! The list is a private file, and what it names may be gone there by now: it warns early, and the judge of what goes out has the last word.

use std::collections::BTreeMap;

use super::Theirs;
use crate::cycle::commit::run_of;
use crate::cycle::merge::Candidate;
use crate::cycle::{Cycle, CycleError};
use crate::store::{Branch, CommitId, Remote, Tips};

/// The list, by remote and branch.
const FILE: &str = "waiting-there";

type Listed = BTreeMap<String, BTreeMap<String, String>>;

impl Cycle {
    /// Remembers the branches of runs that a remote has, with what it was just given; nothing in a rehearsal.
    pub(super) fn note_waiting_there(
        &self,
        remote: &Remote,
        theirs: &Theirs,
        pushed: &[(Branch, Option<CommitId>)],
    ) -> Result<(), CycleError> {
        if self.store.is_rehearsal() {
            return Ok(());
        }
        let mut tips: Tips = theirs.tips.clone();
        tips.extend(theirs.left_out.clone());
        for (branch, tip) in pushed {
            match tip {
                Some(tip) => drop(tips.insert(branch.clone(), *tip)),
                None => drop(tips.remove(branch)),
            }
        }
        let prefix = self.store.runs_prefix();
        tips.retain(|branch, _| run_of(&prefix, branch).is_some());
        let mut listed: Listed = self.private_document(FILE);
        let before = listed.clone();
        listed.remove(&remote.name);
        if !tips.is_empty() {
            let tips = tips.iter().map(|(branch, tip)| (branch.to_string(), tip.to_string())).collect();
            listed.insert(remote.name.clone(), tips);
        }
        match listed == before {
            true => Ok(()),
            false => self.keep_private(FILE, &listed),
        }
    }

    /// The branches of runs that a remote had, as far as their commits are here.
    pub(super) fn waiting_there(&self, remote: &Remote) -> Tips {
        let listed: Listed = self.private_document(FILE);
        let known = |(branch, tip): (String, String)| {
            let (branch, tip) = (Branch::parse(&branch).ok()?, CommitId::parse(&tip).ok()?);
            self.store.commit(tip).is_ok().then_some((branch, tip))
        };
        listed.get(&remote.name).cloned().into_iter().flatten().filter_map(known).collect()
    }

    /// The reason that an approval of a candidate could go to no remote: one has another commit of its run, and this one does not say that it waits.
    pub(in crate::cycle) fn other_there(&self, candidate: &Candidate) -> Result<Option<String>, CycleError> {
        let (Some(branch), Some(run)) = (&candidate.branch, &candidate.run) else { return Ok(None) };
        let own = self.commit_of_run(candidate.commit, run)?;
        // Made again with the words of its message it is judged by itself.
        if own.trailer("Review").is_some() {
            return Ok(None);
        }
        let listed: Listed = self.private_document(FILE);
        for (remote, tips) in listed {
            let Some(there) = tips.get(branch.as_str()).and_then(|tip| CommitId::parse(tip).ok()) else { continue };
            let is_below = |id| self.store.commit(there).is_ok() && self.store.is_ancestor(id, there).unwrap_or(false);
            if there == candidate.commit || is_below(own.id) {
                continue;
            }
            return Ok(Some(format!(
                "{branch} is {} here, and {remote} has {there}: the commit here was made again without the lines of its message that say that its run waits, and {remote} \
                 takes no approval of it; `git fetch {remote} +refs/heads/{branch}:refs/heads/{branch}` takes the other one, which can be decided on",
                own.id
            )));
        }
        Ok(None)
    }
}
