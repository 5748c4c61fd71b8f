//! Runs that are there twice: several commits of one, or several records. Asked of history as it is, so that each audit says the same of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Auditor;
use crate::audit::{Finding, Rule};
use crate::cycle::CycleError;
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::store::{BlobId, Commit, CommitId, Tips};

impl Auditor<'_> {
    /// Notes a commit that is a run where it was made. One that came before another audit is looked for where its record is known.
    pub(super) fn note_run(&mut self, run: &RunId, commit: CommitId) -> Result<(), CycleError> {
        let commits = self.runs.entry(run.clone()).or_default();
        commits.insert(commit);
        let mut is_twice = commits.len() > 1;
        if self.is_new && !is_twice {
            let store = &self.cycle.store;
            for known in self.audited.heads(store) {
                is_twice = is_twice || store.file(store.tree_of(known)?, &layout::run(run))?.is_some();
            }
        }
        if is_twice {
            self.audited.twice.insert(run.to_string());
        }
        Ok(())
    }

    /// Several commits of one run, and several records. The one that landed first stands; of those that did not land the oldest by its date.
    pub(super) fn doubles(&mut self, tips: &Tips) -> Result<(), CycleError> {
        let paths = self.other_records(tips)?;
        if self.audited.twice.is_empty() && paths.is_empty() {
            return Ok(());
        }
        let mut commits: BTreeMap<RunId, BTreeSet<(usize, i64, CommitId)>> = BTreeMap::new();
        let mut records: BTreeMap<&str, BTreeSet<(usize, i64, CommitId, BlobId)>> = BTreeMap::new();
        let store = &self.cycle.store;
        let line = store.first_parents(store.need_tip(store.wake())?, None).take(limits::AUDIT_WALK);
        let mut line: Vec<CommitId> = line.filter_map(Result::ok).map(|commit| commit.id).collect();
        line.reverse();
        let mut all = Vec::new();
        self.each_commit(tips, |commit| all.push(commit))?;
        for commit in all {
            if let (Some(run), [parent]) =
                (commit.trailer("Run").and_then(|run| RunId::parse(run).ok()), &commit.parents[..])
                && self.audited.twice.contains(run.as_str())
                && self
                    .historian
                    .run_in_place(&commit, *parent, std::slice::from_ref(&run))?
                    .is_some_and(|record| !record.is_left_over())
                && self.brings(&commit, &layout::run(&run))?.is_some()
            {
                let landed = self.landed_at(&line, commit.id)?;
                commits.entry(run).or_default().insert((landed, commit.committed, commit.id));
            }
            for path in &paths {
                if let Some(blob) = self.brings(&commit, path)? {
                    let landed = self.landed_at(&line, commit.id)?;
                    records.entry(path).or_default().insert((landed, commit.committed, commit.id, blob));
                }
            }
        }
        let mut found = Vec::new();
        for (run, commits) in commits {
            let first = commits.first().map(|(.., first)| *first);
            for (.., other) in commits.iter().skip(1) {
                let message = format!("is a second commit of {run}, which {} is", first.unwrap_or(*other));
                found.push(Finding::new(Rule::SingleWriter, *other, message).of_run(&run));
            }
        }
        for (path, records) in records {
            let Some((_, _, first, stands)) = records.first().copied() else { continue };
            let run = match Place::of(path) {
                Place::Run(run) => run.to_string(),
                _ => String::new(),
            };
            // Of a run that was thrown away its own commit is honest, and what brought it again is not.
            let left = store.tree_of(first).map_err(CycleError::from);
            let left = left.and_then(|tree| {
                Ok(RunId::parse(&run).ok().map(|run| self.cycle.record_in(tree, &run)).transpose()?.flatten())
            });
            let is_left_over = left?.is_some_and(|record| record.is_left_over());
            for (landed, _, other, _) in records.iter().filter(|(.., blob)| *blob != stands) {
                if let Some(by) = line.get(*landed).filter(|_| is_left_over) {
                    let message = format!(
                        "brings the record of a run again that was thrown away: {first} has what is left of it"
                    );
                    found.push(Finding::new(Rule::SingleWriter, *by, message).at(path, 1).of_run(&run));
                    continue;
                }
                let message = format!("is a second record of its run: {first} brought another one");
                found.push(Finding::new(Rule::SingleWriter, *other, message).at(path, 1).of_run(&run));
            }
        }
        found.into_iter().for_each(|finding| self.audited.add(finding));
        Ok(())
    }

    /// The place of the first commit of wake's own line that has a commit behind it; after all of them, if none has.
    fn landed_at(&self, line: &[CommitId], commit: CommitId) -> Result<usize, CycleError> {
        let (mut low, mut high) = (0, line.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.cycle.store.is_ancestor(commit, line[middle])? {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }

    /// Shows each commit behind those tips once.
    pub(super) fn each_commit(&self, tips: &Tips, mut show: impl FnMut(Commit)) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let mut seen = HashSet::new();
        for tip in tips.values() {
            for id in store.commits_within(*tip, &[], limits::AUDIT_WALK)? {
                // One that cannot be read was told already.
                if seen.insert(id)
                    && let Ok(commit) = store.commit(id)
                {
                    show(commit);
                }
            }
        }
        Ok(())
    }

    /// The file that a commit brings to a place where its parents have none.
    fn brings(&self, commit: &Commit, path: &str) -> Result<Option<BlobId>, CycleError> {
        let store = &self.cycle.store;
        let Some(file) = store.file(commit.tree, path)? else { return Ok(None) };
        for parent in &commit.parents {
            if store.file(store.tree_of(*parent)?, path)?.is_some() {
                return Ok(None);
            }
        }
        Ok(Some(file.blob))
    }

    /// The places of records that main, wake and waiting branches do not have alike.
    fn other_records(&self, tips: &Tips) -> Result<BTreeSet<String>, CycleError> {
        let store = &self.cycle.store;
        let mut paths = BTreeSet::new();
        let (main, wake) =
            (store.tree_of(store.need_tip(store.main())?)?, store.tree_of(store.need_tip(store.wake())?)?);
        for change in store.diff(Some(main), Some(wake), layout::RUNS)? {
            if change.old.is_some() && change.new.is_some() {
                paths.insert(change.path);
            }
        }
        for (branch, tip) in tips.iter().filter(|(branch, _)| *branch != store.main() && *branch != store.wake()) {
            let Some(run) = branch.as_str().rsplit('/').next().and_then(|name| RunId::parse(name).ok()) else {
                continue;
            };
            let path = layout::run(&run);
            let Some(own) = store.file(store.tree_of(*tip)?, &path)? else { continue };
            for trunk in [main, wake] {
                // What is left of a run stands in its place.
                let is_other = store.file(trunk, &path)?.is_some_and(|file| file.blob != own.blob);
                if is_other && !self.cycle.record_in(trunk, &run)?.is_some_and(|record| record.is_left_over()) {
                    paths.insert(path.clone());
                }
            }
        }
        Ok(paths)
    }
}
