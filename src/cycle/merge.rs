//! Stage 5, merge: pending runs into wake, in run-id order, several in one critical section.
//!
//! The trunk lock gives order and throughput, compare-and-swap gives correctness. The typed merge works on trees, from
//! merge bases; git's own merge is never called.

use std::collections::{BTreeMap, HashMap};

use super::commit::{Committed, create_branch};
use super::sides::TreeSides;
use super::{Cycle, CycleError, signed};
use crate::merge::{self, Conflict, Decision, Options, Outcome};
use crate::model::ids::{AgentName, RunId};
use crate::model::json;
use crate::model::json::JsonError;
use crate::model::layout;
use crate::model::settings::MergePolicy;
use crate::store::{
    Author, Batch, BlobId, Branch, Clash, Commit, CommitId, CommitSpec, Left, LockName, ObjectWriter, RefChange,
    RefOutcome, Store, StoreError, Trailer, TreeEdit, TreeId,
};
use serde_json::Value;

/// Most lines of decisions in a merge commit's message; all can be recomputed from its parents and its policy.
const MESSAGE_LINES: usize = 30;

/// Something to merge into wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it was called: a branch, a run, a commit.
    pub name: String,
    /// The commit.
    pub commit: CommitId,
    /// The run's own branch, which goes when its run is in wake.
    pub branch: Option<Branch>,
    /// The run, where the branch names one.
    pub run: Option<RunId>,
    /// Who approved it, as `Name <address>`: a trailer of the merge.
    pub reviewed_by: Option<String>,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// Merged by this commit.
    Merged {
        /// The merge commit.
        commit: CommitId,
        /// What the policy settled.
        decisions: Vec<Decision>,
    },
    /// Wake had all of it.
    Already,
    /// The policy leaves it to a person; the branch stays, wake did not move for it.
    Conflict(Vec<Conflict>),
    /// It may not be merged.
    Refused(String),
}

/// What a merge did.
#[derive(Clone, Debug)]
pub struct Report {
    /// Each candidate's fate, in the order of merging.
    pub fates: Vec<(Candidate, Fate)>,
    /// Wake's tip afterwards.
    pub wake: CommitId,
    /// Files of a work tree that people have edited, and that were left alone.
    pub left: Vec<Left>,
}

impl Report {
    /// The fate of a run.
    pub fn of_run(&self, run: &RunId) -> Option<&Fate> {
        self.fates.iter().find(|(c, _)| c.run.as_ref() == Some(run)).map(|(_, fate)| fate)
    }
}

/// Each candidate with its fate, in the order of merging.
type Fates = Vec<(Candidate, Fate)>;

/// A candidate that merging stopped at, for a reason that is no fate.
struct Stopped {
    at: CommitId,
    error: CycleError,
}

/// How a try to merge ended.
enum Tried {
    Done(Report),
    /// Something that does not know our locks moved wake meanwhile.
    Lost,
    /// A run of another process cannot be merged, for a reason that is not in the brain: an object that it names is missing.
    Unreadable(CommitId),
}

impl Candidate {
    /// A run that this process has just committed.
    pub fn of_run(run: &Committed) -> Self {
        Self {
            name: run.branch.to_string(),
            commit: run.commit,
            branch: Some(run.branch.clone()),
            run: Some(run.run.clone()),
            reviewed_by: None,
        }
    }
}

impl Cycle {
    /// The branches of runs that are not in wake yet.
    pub fn run_branches(&self) -> Result<Vec<(Branch, CommitId)>, CycleError> {
        Ok(run_branches(&self.store)?)
    }

    /// Runs that wait on branches of their own and are not held for review.
    pub fn pending(&self) -> Result<Vec<Candidate>, CycleError> {
        let mut found = Vec::new();
        for (branch, commit) in self.run_branches()? {
            let candidate = candidate_of(branch, commit);
            if let Some(run) = &candidate.run
                && !self.is_held(commit, run)?
            {
                found.push(candidate);
            }
        }
        Ok(found)
    }

    /// Whether the run waits for a person: asked for, or in conflict. A commit upon it lets it in no sooner.
    pub(super) fn is_held(&self, tip: CommitId, run: &RunId) -> Result<bool, CycleError> {
        let mut commit = self.store.commit(tip)?;
        loop {
            if commit.trailer("Review").is_some() {
                return Ok(true);
            }
            let is_own = commit.trailer_values("Run").any(|named| named == run.as_str());
            let [below, ..] = commit.parents[..] else { return Ok(false) };
            if is_own || self.store.is_ancestor(below, self.store.need_tip(self.store.wake())?)? {
                return Ok(false);
            }
            commit = self.store.commit(below)?;
        }
    }

    /// Merges candidates into wake. With `dry_run` nothing is written.
    pub fn merge(&self, candidates: Vec<Candidate>, dry_run: bool) -> Result<Report, CycleError> {
        self.merge_with(candidates, &[], dry_run)
    }

    /// Merges the runs of a round into wake. What is not published yet is published with the merges, as one pack, and gets
    /// a branch only if it is not merged. That branch is made before wake moves, so that a kill loses no run of a round of
    /// which another is kept.
    pub fn merge_round(&self, round: &[Committed]) -> Result<Report, CycleError> {
        self.merge_with(round.iter().map(Candidate::of_run).collect(), round, false)
    }

    fn merge_with(&self, candidates: Vec<Candidate>, round: &[Committed], dry_run: bool) -> Result<Report, CycleError> {
        let report = {
            let _trunk = self.store.lock(LockName::Trunk)?;
            self.merge_held(candidates, round, dry_run)?
        };
        match (dry_run, round.is_empty()) {
            (true, _) => {}
            (false, true) => {
                self.store.maintain();
            }
            (false, false) => {
                self.store.maintain_between();
            }
        }
        Ok(report)
    }

    /// Merges candidates, and with them the runs that wait for whoever has the trunk: this process. Those are answered, and are
    /// not in the report. Call it under the trunk lock.
    pub(super) fn merge_held(
        &self,
        candidates: Vec<Candidate>,
        round: &[Committed],
        dry_run: bool,
    ) -> Result<Report, CycleError> {
        let mut guests = if dry_run { Vec::new() } else { self.guests(&candidates)? };
        let mut races = self.store.races(self.store.wake());
        loop {
            let offered: Vec<(&Candidate, &Batch)> = guests.iter().map(|guest| guest.offered()).collect();
            match self.try_merge(&candidates, round, &offered, dry_run)? {
                Tried::Done(mut report) => {
                    self.answer_guests(guests, &mut report);
                    return Ok(report);
                }
                Tried::Lost => races.lost()?,
                // Its submitter will see for itself what is wrong with it.
                Tried::Unreadable(guest) => guests.retain(|other| other.candidate.commit != guest),
            }
        }
    }

    fn try_merge(
        &self,
        own: &[Candidate],
        round: &[Committed],
        guests: &[(&Candidate, &Batch)],
        dry_run: bool,
    ) -> Result<Tried, CycleError> {
        let mut candidates: Vec<&Candidate> =
            own.iter().chain(guests.iter().map(|(candidate, _)| *candidate)).collect();
        candidates.sort_by(|a, b| (&a.run, &a.name).cmp(&(&b.run, &b.name)));
        candidates.dedup();
        let rounds = round.iter().filter_map(|run| Some((run.commit, run.unpublished.as_ref()?)));
        let fresh: HashMap<CommitId, &Batch> =
            rounds.chain(guests.iter().map(|(guest, batch)| (guest.commit, *batch))).collect();
        let tip = self.store.need_tip(self.store.wake())?;
        let (fates, wake) = {
            let writer = self.store.writer()?;
            fresh.values().for_each(|batch| writer.add_batch(batch));
            let (fates, wake) = match self.merge_all(&writer, tip, &candidates) {
                Ok(merged) => merged,
                Err(Stopped { at, .. }) if guests.iter().any(|(guest, _)| guest.commit == at) => {
                    return Ok(Tried::Unreadable(at));
                }
                Err(Stopped { error, .. }) => return Err(error),
            };
            if dry_run {
                return Ok(Tried::Done(Report { fates, wake: tip, left: Vec::new() }));
            }
            writer.publish()?;
            (fates, wake)
        };
        let mut changes = Vec::new();
        if wake != tip {
            changes.push(RefChange::advance(self.store.wake().clone(), tip, wake));
        }
        for (candidate, fate) in &fates {
            let Some(branch) = &candidate.branch else { continue };
            let done = matches!(fate, Fate::Merged { .. } | Fate::Already);
            match self.store.tip(branch)? {
                None if !done && fresh.contains_key(&candidate.commit) => {
                    create_branch(&self.store, branch, candidate.commit)?;
                }
                // Whoever held the trunk before us may have merged it and removed its branch.
                Some(found) if done && found == candidate.commit => {
                    changes.push(RefChange::delete(branch.clone(), found));
                }
                _ => {}
            }
        }
        match self.store.update_refs(&changes, "git-brain: merge")? {
            RefOutcome::Done { left } => {
                self.note_conflicts(&fates)?;
                Ok(Tried::Done(Report { fates, wake, left }))
            }
            RefOutcome::Modified { branch, .. } if branch == *self.store.wake() => Ok(Tried::Lost),
            // Somebody else removed or moved a run's branch after wake had moved: their business.
            RefOutcome::Modified { .. } => Ok(Tried::Done(Report { fates, wake, left: Vec::new() })),
        }
    }

    /// Merges one after the other.
    fn merge_all(
        &self,
        writer: &ObjectWriter<'_>,
        tip: CommitId,
        candidates: &[&Candidate],
    ) -> Result<(Fates, CommitId), Stopped> {
        let mut current = tip;
        let mut newest = self.newest_run(tip).map_err(|error| Stopped { at: tip, error })?;
        let mut fates = Vec::new();
        for candidate in candidates {
            let fate = self.merge_one(writer, current, candidate, &mut newest);
            let fate = fate.map_err(|error| Stopped { at: candidate.commit, error })?;
            if let Fate::Merged { commit, .. } = &fate {
                current = *commit;
            }
            fates.push(((*candidate).clone(), fate));
        }
        Ok((fates, current))
    }

    /// Merges one candidate into a commit of wake, in the writer's batch.
    pub(super) fn merge_one(
        &self,
        writer: &ObjectWriter<'_>,
        current: CommitId,
        candidate: &Candidate,
        newest: &mut Option<RunId>,
    ) -> Result<Fate, CycleError> {
        let store = &self.store;
        if store.is_ancestor(candidate.commit, current)? {
            return Ok(Fate::Already);
        }
        let known: Vec<CommitId> = store.signed_since()?.into_iter().chain([current]).collect();
        if let Some((commit, why)) = signed::unsigned(store, candidate.commit, &known)?.first() {
            return Ok(Fate::Refused(format!("{}: commit {commit} {why}", candidate.name)));
        }
        let Some(base) = self.base_of(writer, current, candidate.commit)? else {
            return Ok(Fate::Refused(format!("{} has no history in common with wake", candidate.name)));
        };
        let (left, right) = (store.tree_of(current)?, store.tree_of(candidate.commit)?);
        let mut sides = TreeSides::new(self, base, left, right)?;
        if let Some(run) = &candidate.run
            && let Some(why) = sides.beyond(run)?
        {
            return Ok(Fate::Refused(format!("{} {why}", candidate.name)));
        }
        let from_main = store.tip(store.main())? == Some(candidate.commit);
        let mut outcome = self.merge_sides(&mut sides, &self.shared.policy.settings.merge, Options::default())?;
        let merged = writer.edit(Some(left), edits_of(&outcome))?;
        let tree = match from_main {
            true => writer.network_beside(merged, right)?,
            false => with_outside(store, writer, base, merged, right, &mut outcome)?,
        };
        if !outcome.conflicts.is_empty() {
            return Ok(Fate::Conflict(outcome.conflicts));
        }
        if tree == left && outcome.brought.is_empty() {
            return Ok(Fate::Already);
        }
        let brought = outcome.brought.iter().filter(|run| run.unix_ms() <= self.latest_ms());
        *newest = newest.take().into_iter().chain(brought.cloned()).max();
        let commit = writer.commit(&CommitSpec {
            tree,
            parents: vec![current, candidate.commit],
            author: Author::User,
            at: self.shared.world.commit_seconds(),
            subject: self.merge_subject(candidate)?,
            body: decision_lines(&outcome.decisions),
            trailers: self.merge_trailers(
                candidate.run.as_ref().map(RunId::agent).as_ref(),
                &outcome.brought,
                newest.as_ref(),
                candidate.reviewed_by.as_deref(),
            ),
        })?;
        Ok(Fate::Merged { commit, decisions: outcome.decisions })
    }

    /// The tree to merge from: the merge base's, several folded into one by the same merge, without the nights that both took back.
    pub(super) fn base_of(
        &self,
        writer: &ObjectWriter<'_>,
        left: CommitId,
        right: CommitId,
    ) -> Result<Option<TreeId>, CycleError> {
        let bases = self.store.merge_bases(left, right)?;
        let Some(first) = bases.first() else { return Ok(None) };
        let mut folded = self.store.tree_of(*first)?;
        for base in &bases[1..] {
            let (below, side) = (self.store.merge_bases(*first, *base)?, self.store.tree_of(*base)?);
            let Some(under) = below.first() else { continue };
            let under = self.without_nights_of_both(writer, self.store.tree_of(*under)?, &below, [*first, *base])?;
            (folded, _) = self.merged_tree(writer, under, folded, side)?;
        }
        self.without_nights_of_both(writer, folded, &bases, [left, right]).map(Some)
    }

    /// The typed merge of three trees, what lies outside the network included, as a tree.
    fn merged_tree(
        &self,
        writer: &ObjectWriter<'_>,
        base: TreeId,
        left: TreeId,
        right: TreeId,
    ) -> Result<(TreeId, Outcome), CycleError> {
        let mut outcome = self.merge_trees(base, left, right, Options::default())?;
        let merged = writer.edit(Some(left), edits_of(&outcome))?;
        let tree = with_outside(&self.store, writer, base, merged, right, &mut outcome)?;
        Ok((tree, outcome))
    }

    /// The typed merge of the networks of three trees.
    pub fn merge_trees(
        &self,
        base: TreeId,
        left: TreeId,
        right: TreeId,
        options: Options,
    ) -> Result<Outcome, CycleError> {
        self.merge_trees_by(&self.shared.policy.settings.merge, base, left, right, options)
    }

    /// The same by a policy that is not the brain's.
    pub(super) fn merge_trees_by(
        &self,
        policy: &MergePolicy,
        base: TreeId,
        left: TreeId,
        right: TreeId,
        options: Options,
    ) -> Result<Outcome, CycleError> {
        self.merge_sides(&mut TreeSides::new(self, base, left, right)?, policy, options)
    }

    fn merge_sides(
        &self,
        sides: &mut TreeSides<'_>,
        policy: &MergePolicy,
        options: Options,
    ) -> Result<Outcome, CycleError> {
        merge::three_way_with(sides, policy, options).map_err(|e| match e {
            merge::MergeError::Read { source, .. } => CycleError::Store(source),
            merge::MergeError::Json(error) => CycleError::Json(error),
            merge::MergeError::Misplaced(path) => {
                CycleError::Json(JsonError::at(&path, 1, "", "nothing belongs at this place"))
            }
            merge::MergeError::WrongId { path, id } => {
                CycleError::Json(JsonError::at(&path, 1, "id", format!("is {id}, and the path names another one")))
            }
        })
    }

    /// The typed merge of three trees or commits, as a tree that is written: what `git brain merge-tree` prints.
    pub fn write_merged_tree(
        &self,
        base: TreeId,
        left: TreeId,
        right: TreeId,
    ) -> Result<(TreeId, Outcome), CycleError> {
        let writer = self.store.writer()?;
        let merged = self.merged_tree(&writer, base, left, right)?;
        writer.publish()?;
        Ok(merged)
    }

    fn merge_subject(&self, candidate: &Candidate) -> Result<String, CycleError> {
        let commit = self.store.commit(candidate.commit)?;
        Ok(format!("merge {}", commit.subject()))
    }

    /// The trailers of a merge commit that brings those runs.
    pub(super) fn merge_trailers(
        &self,
        agent: Option<&AgentName>,
        brought: &[RunId],
        newest: Option<&RunId>,
        reviewed_by: Option<&str>,
    ) -> Vec<Trailer> {
        let mut trailers: Vec<Trailer> = Vec::new();
        trailers.extend(agent.map(|agent| ("Agent".to_owned(), agent.to_string())));
        trailers.extend(brought.iter().map(|run| ("Run".to_owned(), run.to_string())));
        let policy = self.shared.policy.blob.map_or("default".to_owned(), |blob: BlobId| blob.to_string());
        trailers.push(("Policy".to_owned(), policy));
        trailers.extend(newest.map(|run| ("Newest-Run".to_owned(), run.to_string())));
        trailers.extend(reviewed_by.map(|by| ("Reviewed-by".to_owned(), by.to_owned())));
        trailers.extend(self.shared.clock_trailer());
        trailers
    }

    /// Keeps what the policy could not decide beside the run's record, on the run's own branch, once.
    fn note_conflicts(&self, fates: &[(Candidate, Fate)]) -> Result<(), CycleError> {
        for (candidate, fate) in fates {
            let (Fate::Conflict(conflicts), Some(branch), Some(run)) = (fate, &candidate.branch, &candidate.run) else {
                continue;
            };
            let tree = self.store.tree_of(candidate.commit)?;
            let path = layout::conflicts(run);
            if self.store.file(tree, &path)?.is_some() {
                continue;
            }
            let note = BTreeMap::from([("conflicts", conflicts)]);
            let writer = self.store.writer()?;
            let tree = writer.edit(Some(tree), vec![TreeEdit::new(path, Some(json::pretty(&note)))])?;
            let commit = writer.commit(&CommitSpec {
                tree,
                parents: vec![candidate.commit],
                author: Author::User,
                at: self.shared.world.commit_seconds(),
                subject: format!("conflict: {} needs a decision", run),
                body: conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
                trailers: vec![("Agent".into(), run.agent().to_string()), ("Review".into(), "conflict".into())],
            })?;
            writer.publish()?;
            let change = RefChange::advance(branch.clone(), candidate.commit, commit);
            // Whoever moved the branch meanwhile knows more than this note.
            let _ = self.store.update_refs(&[change], "git-brain: conflict")?;
        }
        Ok(())
    }

    /// Finds what a person names: a branch, a run id, or a commit.
    pub fn candidate(&self, name: &str) -> Result<Candidate, CycleError> {
        if let Ok(run) = RunId::parse(name) {
            let branch = super::commit::branch_of(self.store.wake(), &run)?;
            if let Some(commit) = self.store.tip(&branch)? {
                return Ok(candidate_of(branch, commit));
            }
        }
        if let Ok(branch) = Branch::parse(name)
            && let Some(commit) = self.store.tip(&branch)?
        {
            return Ok(candidate_of(branch, commit));
        }
        let plain = |commit| Candidate { name: name.to_owned(), commit, branch: None, run: None, reviewed_by: None };
        // The branch of a merged run is gone, and its record is in wake: a script that resumes may name it again.
        let last = name.rsplit('/').next().unwrap_or(name);
        if let Ok(run) = RunId::parse(last) {
            let wake = self.store.need_tip(self.store.wake())?;
            if self.store.file(self.store.tree_of(wake)?, &layout::run(&run))?.is_some() {
                return Ok(plain(wake));
            }
        }
        match self.store.resolve(name)? {
            Some(commit) => Ok(plain(commit)),
            None => match self.waiting_named(name)? {
                Some(waiting) => Ok(candidate_of(waiting.branch, waiting.tip)),
                None => Err(CycleError::Usage {
                    message: format!("{name} is no branch, run or commit"),
                    hint: Some("`git branch --list 'agents/*'` shows the runs that wait".to_owned()),
                }),
            },
        }
    }
}

/// The branches of runs that are not in wake yet.
pub fn run_branches(store: &Store) -> Result<Vec<(Branch, CommitId)>, StoreError> {
    let wake = store.wake().as_str();
    let folder = wake.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    store.branches(&format!("{folder}agents/"))
}

/// Why a branch of a run waits for a person, and what to do.
pub fn waits_because(tip: &Commit, branch: &Branch) -> (&'static str, String) {
    let run = branch.as_str().rsplit('/').next().unwrap_or_default();
    match tip.trailer("Review") {
        Some("conflict") => (
            "conflicts with wake",
            format!(
                "`git brain review {run}` shows where; then `git brain approve {run} --take run` or `--take wake`, or \
                 `git brain reject {run}`"
            ),
        ),
        _ => (
            "waits for review",
            format!("`git brain review {run}` shows it; then `git brain approve {run}` or `git brain reject {run}`"),
        ),
    }
}

/// A branch as a candidate: `…agents/<name>/<run>` is a run's own branch.
fn candidate_of(branch: Branch, commit: CommitId) -> Candidate {
    let name = branch.as_str();
    let run = name.rsplit_once('/').and_then(|(folder, last)| {
        let run = RunId::parse(last).ok()?;
        let agent = AgentName::parse(folder.rsplit('/').next()?).ok()?;
        (run.agent() == agent && format!("/{folder}").ends_with(&format!("/agents/{agent}"))).then_some(run)
    });
    let own = run.is_some().then(|| branch.clone());
    Candidate { name: name.to_owned(), commit, branch: own, run, reviewed_by: None }
}

pub(super) fn edits_of(outcome: &Outcome) -> Vec<TreeEdit> {
    outcome.edits.iter().map(|edit| TreeEdit::new(edit.path.clone(), edit.content.clone())).collect()
}

/// What right changed outside the network since the base, brought to a tree; what both changed is a conflict.
fn with_outside(
    store: &Store,
    writer: &ObjectWriter<'_>,
    base: TreeId,
    left: TreeId,
    right: TreeId,
    outcome: &mut Outcome,
) -> Result<TreeId, StoreError> {
    let (tree, clashes) = writer.outside_merged(base, left, right)?;
    for clash in clashes {
        outcome.conflicts.push(conflict_of(store, clash)?);
    }
    Ok(tree)
}

/// A clash as the typed merge tells its conflicts.
pub(super) fn conflict_of(store: &Store, clash: Clash) -> Result<Conflict, StoreError> {
    let mut values = [const { Value::Null }; 3];
    for (value, file) in values.iter_mut().zip(clash.sides) {
        let Some(file) = file else { continue };
        // The commit of a submodule is in another repository.
        *value = match file.is_submodule() {
            true => Value::String(file.blob.to_string()),
            false => merge::file_value(Some(&store.content(file.blob)?)),
        };
    }
    let [base, left, right] = values;
    Ok(Conflict { neuron: clash.path, field: "file".to_owned(), base, left, right, runs: Vec::new() })
}

/// Conflicts in a line.
pub(super) fn in_words(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

pub(super) fn decision_lines(decisions: &[Decision]) -> String {
    let mut lines: Vec<String> = decisions.iter().take(MESSAGE_LINES).map(ToString::to_string).collect();
    if decisions.len() > MESSAGE_LINES {
        lines.push(format!("… and {} more decisions", decisions.len() - MESSAGE_LINES));
    }
    lines.join("\n")
}
