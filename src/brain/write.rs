//! Commands that write: run, apply, merge.

use serde::Serialize;

use super::inputs::{Source, read_source};
use super::{Brain, BrainError, Progress};
use crate::cycle::commit::{Draft, HELD_AS_ASKED, HELD_FOR_ORIGIN};
use crate::cycle::knowledge::name_statements;
use crate::cycle::merge::Fate;
use crate::cycle::network::TreeNetwork;
use crate::cycle::run::Failure;
use crate::cycle::{HUMAN, Inflow, RunBounds, RunSummary, Turned, quoted};
use crate::delta::{Applied, Document, DocumentError, OUTCOME};
use crate::limits;
use crate::merge::{Conflict, Decision};
use crate::model::ids::AgentName;
use crate::model::{Level, Origin, json};
use crate::store::TreeId;
use crate::world;

/// What a loop of runs did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// Runs, in the order of merging.
    pub runs: Vec<RunLine>,
    /// Runs that came to nothing.
    pub failures: Vec<FailureLine>,
    /// Why runs wait that nothing but the budget stops.
    pub unpaid: Vec<String>,
    /// Wake's tip.
    pub wake: String,
    /// What happened on the way.
    pub notes: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    /// The run.
    pub run: String,
    /// Its agent.
    pub agent: String,
    /// What woke it.
    pub trigger: String,
    /// Its commit.
    pub commit: String,
    /// The merge commit on wake; null: it stays on its branch.
    pub merged: Option<String>,
    /// What the policy settled.
    pub decisions: Vec<String>,
    /// What it could not.
    pub conflicts: Vec<Conflict>,
}

/// What would run now.
#[derive(Clone, Debug, Serialize)]
pub struct DueReport {
    /// One entry a run, in the order of merging.
    pub due: Vec<Due>,
}

/// A run that would start.
#[derive(Clone, Debug, Serialize)]
pub struct Due {
    /// Its agent.
    pub agent: String,
    /// What wakes it.
    pub trigger: String,
}

/// A run that came to nothing.
#[derive(Clone, Debug, Serialize)]
pub struct FailureLine {
    /// The run.
    pub run: String,
    /// Its agent.
    pub agent: String,
    /// Why.
    pub error: String,
    /// What to do.
    pub hint: Option<String>,
    /// The exit code that this failure has.
    pub code: u8,
}

/// What `apply` did.
#[derive(Clone, Debug, Serialize)]
pub struct ApplyReport {
    /// The run.
    pub run: String,
    /// Its branch; gone once it is merged.
    pub branch: String,
    /// Its commit; null with `--dry-run`.
    pub commit: Option<String>,
    /// Whether it is in wake.
    pub merged: bool,
    /// Wake's tip.
    pub wake: String,
    /// What the policy settled.
    pub decisions: Vec<Decision>,
    /// What it could not; the branch stays.
    pub conflicts: Vec<Conflict>,
    /// What the engine clamped or raised.
    pub notes: Vec<String>,
    /// What the delta does, rendered.
    pub effects: Vec<String>,
}

/// What `merge` did.
#[derive(Clone, Debug, Serialize)]
pub struct MergeReport {
    /// One entry a branch, in the order of merging.
    pub merges: Vec<MergeLine>,
    /// Wake's tip.
    pub wake: String,
    /// Files of a work tree that people have edited and that were left alone.
    pub left: Vec<String>,
}

/// One branch.
#[derive(Clone, Debug, Serialize)]
pub struct MergeLine {
    /// The branch, run or commit.
    pub branch: String,
    /// Whether wake has all of it now.
    pub merged: bool,
    /// The merge commit, if one was needed.
    pub commit: Option<String>,
    /// What the policy settled.
    pub decisions: Vec<Decision>,
    /// What it could not.
    pub conflicts: Vec<Conflict>,
    /// Why it may not be merged.
    pub refused: Option<String>,
}

/// What `merge-tree` found.
#[derive(Clone, Debug, Serialize)]
pub struct MergeTreeReport {
    /// The merged tree, written; with conflicts, left's side of them.
    pub tree: String,
    /// What the policy settled.
    pub decisions: Vec<Decision>,
    /// What it could not.
    pub conflicts: Vec<Conflict>,
}

/// A document that no trigger asked for, and why it is applied.
pub(super) struct Given {
    pub document: Document,
    /// The document as text: under fixed ids, part of what the run's id is made of.
    pub bytes: Vec<u8>,
    /// The line of each operation in it, where it was given as text.
    pub lines: Vec<usize>,
    pub agent: AgentName,
    pub reason: &'static str,
    pub cognition: String,
}

impl Brain {
    /// Evaluates triggers, runs agents side by side, merges, until quiet or bounded.
    pub fn run(&self, bounds: &RunBounds, progress: &mut dyn FnMut(Progress)) -> Result<RunReport, BrainError> {
        if let Some(agent) = &bounds.agent {
            let Some(member) = self.cycle.shared.policy.agents.get(agent) else {
                return Err(self.cycle.shared.policy.authority(agent).map_or_else(
                    |error| error,
                    |_| BrainError::usage(format!("{agent} is a person and cannot be run; apply a delta instead")),
                ));
            };
            self.cycle.shared.policy.require_trust(member)?;
        }
        let finished = self.finish_left();
        let turned = self.cycle.until_quiet(bounds, progress).map_err(|error| self.cycle.on_branches(error))?;
        let mut report = report(turned);
        report.notes.extend(finished);
        report.notes.extend(self.land_late(&merged_of(&report))?);
        self.archive_late(report.runs.iter().filter(|run| run.merged.is_some()).map(|run| run.run.as_str()))?;
        report.notes.extend(self.ask_councils()?);
        if !report.notes.iter().any(|note| note.contains(" unanswered (")) {
            report.notes.extend(self.cycle.silent_note(self.at(None)?)?);
        }
        Ok(report)
    }

    /// The same on what comes in meanwhile. All of that is stored, also where running fails.
    pub(super) fn run_on(
        &self,
        inflow: &mut Inflow<'_>,
        low: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<RunReport, BrainError> {
        let mut is_stored = true;
        let mut bring = |progress: &mut dyn FnMut(Progress)| {
            let came = inflow(progress);
            is_stored &= came.is_ok();
            came
        };
        let turned = self.cycle.until_quiet_with(&RunBounds::default(), &mut bring, low, progress);
        while turned.is_err() && is_stored && inflow(progress)?.is_some() {}
        let mut report = report(turned?);
        report.notes.extend(self.land_late(&merged_of(&report))?);
        Ok(report)
    }

    /// Archives what runs that landed replace, where rules of review made that wait.
    fn archive_late<'r>(&self, merged: impl Iterator<Item = &'r str>) -> Result<(), BrainError> {
        if self.rules_may_hold() {
            self.archive_replaced_by(merged)?;
        }
        Ok(())
    }

    /// What would run now; nothing is written.
    pub fn due(&self) -> Result<DueReport, BrainError> {
        let tip = self.at(None)?;
        let aside = self.cycle.aside_in(self.cycle.store.tree_of(tip)?)?.stimuli.into_keys().collect();
        let jobs = self.cycle.due(tip, self.cycle.marker(), &aside, (true, false))?;
        let due = jobs.into_iter().map(|job| Due { agent: job.agent.to_string(), trigger: job.reason }).collect();
        Ok(DueReport { due })
    }

    /// Applies one delta document as one run.
    pub fn apply(
        &self,
        source: &Source,
        agent: Option<&str>,
        no_merge: bool,
        dry_run: bool,
    ) -> Result<ApplyReport, BrainError> {
        let (bytes, what) = read_source(source, limits::DELTA_BYTES).map_err(|error| match error {
            // A document beyond the bound is refused, as a document with too many operations is.
            world::WorldError::Large { path, max } => {
                BrainError::Document(DocumentError::Limit(format!("{path} has more than {max} bytes")))
            }
            other => BrainError::World(other),
        })?;
        // Before anything is said of it or made of it.
        let notice = self.cycle.shared.secrets.notice(&bytes);
        let bytes = self.cycle.shared.secrets.redact_json(&bytes).unwrap_or(bytes);
        let document = Document::parse(&bytes, &what)?;
        let agent = self.agent_of(&document, agent)?;
        let lines = Document::lines(&bytes);
        let given = Given { document, bytes, lines, agent, reason: "by hand", cognition: "apply".to_owned() };
        let mut report = self.apply_given(given, no_merge, dry_run)?;
        report.notes.extend(notice);
        Ok(report)
    }

    /// Applies a document that no trigger asked for.
    pub(super) fn apply_given(&self, given: Given, no_merge: bool, dry_run: bool) -> Result<ApplyReport, BrainError> {
        self.apply_from(given, None, no_merge, dry_run)
    }

    /// The same of a document that comes `from` a client, whose agent's definition says what of it lands at once.
    pub(super) fn apply_from(
        &self,
        given: Given,
        from: Option<&Origin>,
        no_merge: bool,
        dry_run: bool,
    ) -> Result<ApplyReport, BrainError> {
        let Given { mut document, bytes, mut lines, agent, reason, cognition } = given;
        // What was not given as text, such as a goal.
        let pretty = json::pretty(&document);
        let notice = self.cycle.shared.secrets.notice(&pretty);
        if let Some(clean) = self.cycle.shared.secrets.redact_json(&pretty) {
            document = Document::parse(&clean, "the document")?;
        }
        let base = self.at(None)?;
        let newest = self.cycle.newest_run(base)?;
        let run = self.cycle.new_run_id(&agent, base, newest.as_ref(), &[&bytes], 0)?;
        let shared = &self.cycle.shared;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(base)?);
        shared.make_no_doubles(&network, &mut document, &mut lines)?;
        name_statements(&mut document);
        let origin = quoted::by_hand(&document, &network, &shared.policy.settings.origins)?;
        let mut draft = Draft {
            reason: reason.to_owned(),
            lines,
            document,
            origin,
            held: no_merge.then(|| HELD_AS_ASKED.to_owned()),
            ..Draft::by_hand(shared, base, run, &cognition)?
        };
        if let Some(from) = from {
            draft.origin = draft.origin.and(from);
            let level = shared.policy.settings.origins.level(&draft.origin);
            if level == Level::Refused {
                let why = format!("origin {} is refused here, by [origins] of the settings", draft.origin);
                return Err(BrainError::refused(why));
            }
            let changes_nothing = draft.document.ops.is_empty() && level < Level::Review;
            let lands = draft.authority.1.as_ref().is_none_or(|limits| self.lands(&draft.origin, limits));
            // An outcome lands as the text would that says it; a person's own document is held where their origin is.
            let is_outcome = reason == OUTCOME && level < Level::Review;
            let is_persons = draft.authority.1.is_none() && level >= Level::Review;
            let lands = (lands || changes_nothing || is_outcome) && !is_persons;
            draft.held = draft.held.or_else(|| (!lands).then(|| HELD_FOR_ORIGIN.to_owned()));
        }
        let applied = draft.apply(&self.cycle.store, shared)?;
        let mut draft = draft;
        draft.hold_by_rules(&applied, &shared.policy.settings.review);
        let mut report = self.land(draft, &applied, dry_run)?;
        report.notes.extend(notice);
        Ok(report)
    }

    /// Commits what a draft does and merges it into wake, unless it is held.
    pub(super) fn land(&self, mut draft: Draft, applied: &Applied, dry_run: bool) -> Result<ApplyReport, BrainError> {
        let origins = &self.cycle.shared.policy.settings.origins;
        draft.origin = draft.origin.and(&quoted::by_effects(applied, origins));
        let (run, held) = (draft.run.clone(), draft.held.is_some());
        let mut answer = ApplyReport {
            run: run.to_string(),
            branch: crate::cycle::commit::branch_of(self.cycle.store.wake(), &run)?.to_string(),
            commit: None,
            merged: false,
            wake: draft.base.to_string(),
            decisions: Vec::new(),
            conflicts: Vec::new(),
            notes: applied.notes.clone(),
            effects: rendered(applied),
        };
        if origins.is_tainted(&draft.origin) {
            answer.notes.push(format!(
                "it takes up what comes from {}: the record stays off {} until you approve that",
                draft.origin,
                self.cycle.store.main()
            ));
        }
        if dry_run {
            return Ok(answer);
        }
        let (store, shared) = (&self.cycle.store, &self.cycle.shared);
        if held {
            answer.commit = Some(draft.commit(applied, store, shared)?.commit.to_string());
            return Ok(answer);
        }
        // On a branch it would wait for the day on which its key counts, and land then without a word.
        if run.is_a_persons() {
            self.cycle.refuse_key()?;
        }
        let committed = draft.commit_unpublished(applied, store, shared)?;
        let landed = self.cycle.land(&committed)?;
        answer.commit = Some(committed.commit.to_string());
        answer.wake = landed.wake.to_string();
        match landed.fate {
            Fate::Merged { decisions, .. } => {
                answer.merged = true;
                answer.decisions = decisions;
            }
            Fate::Already => answer.merged = true,
            Fate::Conflict(conflicts) => answer.conflicts = conflicts,
            Fate::Refused(why) => return Err(BrainError::refused(why)),
        }
        Ok(answer)
    }

    /// Who applies a document: the flag and the document must agree; nobody named is the person.
    fn agent_of(&self, document: &Document, flag: Option<&str>) -> Result<AgentName, BrainError> {
        let flag = flag.map(AgentName::parse).transpose().map_err(|e| BrainError::refused(e.to_string()))?;
        match (&document.agent, flag) {
            (Some(named), Some(flag)) if *named != flag => {
                Err(BrainError::refused(format!("the document is by {named}, not by {flag}")))
            }
            (_, Some(flag)) => Ok(flag),
            (Some(named), None) => Ok(named.clone()),
            (None, None) => Ok(AgentName::parse(HUMAN).expect("invariant: a valid name")),
        }
    }

    /// Merges branches, runs or commits into wake; all pending runs if none is named.
    pub fn merge(&self, names: &[String], dry_run: bool) -> Result<MergeReport, BrainError> {
        let candidates = match names.is_empty() {
            true => self.cycle.pending()?,
            false => names.iter().map(|name| self.cycle.candidate(name)).collect::<Result<_, _>>()?,
        };
        let report = self.cycle.merge_judged(candidates, !names.is_empty(), dry_run)?;
        let merges = report.fates.into_iter().map(|(candidate, fate)| {
            let mut line = MergeLine {
                branch: candidate.name,
                merged: matches!(fate, Fate::Merged { .. } | Fate::Already),
                commit: None,
                decisions: Vec::new(),
                conflicts: Vec::new(),
                refused: None,
            };
            match fate {
                Fate::Merged { commit, decisions } => {
                    line.commit = (!dry_run).then(|| commit.to_string());
                    line.decisions = decisions;
                }
                Fate::Already => {}
                Fate::Conflict(conflicts) => line.conflicts = conflicts,
                Fate::Refused(why) => line.refused = Some(why),
            }
            line
        });
        let merges: Vec<MergeLine> = merges.collect();
        let mut wake = report.wake.to_string();
        if !dry_run {
            let merged = merges.iter().filter(|line| line.merged);
            if !self
                .archive_replaced_by(merged.map(|line| line.branch.rsplit('/').next().unwrap_or_default()))?
                .is_empty()
            {
                wake = self.at(None)?.to_string();
            }
        }
        Ok(MergeReport {
            merges,
            wake,
            left: report
                .left
                .iter()
                .map(|l| format!("{}: {}", l.work_tree.join(&l.path).display(), l.reason))
                .collect(),
        })
    }

    /// The typed merge of three trees or commits.
    pub fn merge_tree(&self, base: &str, left: &str, right: &str) -> Result<MergeTreeReport, BrainError> {
        let tree = |text: &str| self.tree_named(text);
        let (tree, outcome) = self.cycle.write_merged_tree(tree(base)?, tree(left)?, tree(right)?)?;
        Ok(MergeTreeReport { tree: tree.to_string(), decisions: outcome.decisions, conflicts: outcome.conflicts })
    }

    /// The tree of a commit, or a tree by its id.
    fn tree_named(&self, text: &str) -> Result<TreeId, BrainError> {
        let store = &self.cycle.store;
        if let Some(commit) = store.resolve(text)? {
            return Ok(store.tree_of(commit)?);
        }
        let tree = TreeId::parse(text).map_err(|_| BrainError::usage(format!("{text} names no commit or tree")))?;
        store.files(tree, "network/metadata")?;
        Ok(tree)
    }
}

fn rendered(applied: &crate::delta::Applied) -> Vec<String> {
    let effects = applied.neurons.values().map(|(before, after)| {
        let effect = crate::delta::Effect::between(before.as_ref(), after);
        crate::delta::render::effect(&effect, Some(after))
    });
    effects.flatten().collect()
}

fn report(turned: Turned) -> RunReport {
    RunReport {
        runs: turned.runs.into_iter().map(run_line).collect(),
        failures: turned.failures.into_iter().map(failure_line).collect(),
        unpaid: turned.unpaid,
        wake: turned.wake.to_string(),
        notes: turned.notes,
    }
}

/// The runs that landed.
fn merged_of(report: &RunReport) -> Vec<String> {
    report.runs.iter().filter(|run| run.merged.is_some()).map(|run| run.run.clone()).collect()
}

fn run_line(run: RunSummary) -> RunLine {
    RunLine {
        agent: run.run.agent().to_string(),
        run: run.run.to_string(),
        trigger: run.trigger,
        commit: run.commit.to_string(),
        merged: run.merged.map(|c| c.to_string()),
        decisions: run.decisions,
        conflicts: run.conflicts,
    }
}

fn failure_line(failure: Failure) -> FailureLine {
    FailureLine {
        run: failure.run.to_string(),
        agent: failure.job.agent.to_string(),
        error: failure.error.to_string(),
        hint: failure.error.hint(),
        code: failure.error.exit_code(),
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
