//! Commands that write: feed, run, apply, merge.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Brain, BrainError, Progress};
use crate::cycle::commit::{Draft, HELD_AS_ASKED};
use crate::cycle::merge::Fate;
use crate::cycle::run::Failure;
use crate::cycle::stimulus::{self, Input, Labels};
use crate::cycle::{EVALUATOR, HUMAN, RunBounds, RunSummary, Turned};
use crate::delta::{Applied, Document, DocumentError};
use crate::limits;
use crate::merge::{Conflict, Decision};
use crate::model::ids::{AgentName, RunId};
use crate::model::json::{self, JsonError};
use crate::model::secret::Secrets;
use crate::model::{Level, Origin, Stamp};
use crate::store::TreeId;
use crate::world;

/// Where input comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A text given directly.
    Text(String),
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// What `feed` is asked for.
#[derive(Clone, Debug, Default)]
pub struct FeedRequest {
    /// The inputs, in order.
    pub sources: Vec<Source>,
    /// When it happened.
    pub at: Option<Stamp>,
    /// Its label.
    pub source: Option<String>,
    /// What it belongs to.
    pub session: Option<String>,
    /// The run whose action it answers: what is fed is its outcome as well.
    pub answers: Option<String>,
    /// Where it ultimately comes from, `class` or `class:detail`; this machine by default.
    pub origin: Option<String>,
    /// Only store it.
    pub no_run: bool,
    /// Write nothing.
    pub dry_run: bool,
}

/// What `feed` did.
#[derive(Clone, Debug, Serialize)]
pub struct FeedReport {
    /// Ids of the stimuli that are new.
    pub stimuli: Vec<String>,
    /// How many were known already.
    pub known: usize,
    /// The runs that followed; absent with `--no-run`.
    #[serde(flatten)]
    pub ran: RunReport,
}

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
    /// True if it is in wake.
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
    /// True if wake has all of it now.
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
    /// Stores stimuli durably, then runs agents until quiet.
    pub fn feed(&self, request: &FeedRequest, progress: &mut dyn FnMut(Progress)) -> Result<FeedReport, BrainError> {
        let answers = request.answers.as_deref().map(|run| self.judged(run)).transpose()?.map(|record| record.run);
        let origin = self.claimed_origin(request.origin.as_deref())?;
        let (inputs, subject) = read_inputs(request, answers, &self.cycle.shared.secrets)?;
        let world = &self.cycle.shared.world;
        let tip = self.at(None)?;
        let backend = self.cycle.backend(tip)?;
        let random = |index: usize, input: &Input| {
            world.id_bits(&[backend.as_bytes(), input.text.as_bytes(), &(index as u64).to_be_bytes()])
        };
        let stimuli = stimulus::stimuli(inputs, world.now(), &origin, random).map_err(|(index, field, message)| {
            BrainError::refused(format!("input {}, {field}: {message}", index + 1))
        })?;
        if request.dry_run {
            let ids = stimuli.iter().map(|s| s.id.to_string()).collect();
            let ran = RunReport { wake: tip.to_string(), ..RunReport::default() };
            return Ok(FeedReport { stimuli: ids, known: 0, ran });
        }
        let new = self.cycle.store_stimuli(&stimuli, &subject, &[], progress)?;
        let known = stimuli.len() - new.len();
        let mut ran = match request.no_run {
            true => RunReport { wake: self.at(None)?.to_string(), ..RunReport::default() },
            false => self.run(&RunBounds::default(), progress)?,
        };
        if let Some(run) = &request.answers
            && !self.cycle.shared.policy.agents.keys().any(|agent| agent.as_str() == EVALUATOR)
        {
            // A brain of before there was one.
            ran.notes.push(format!("no agent {EVALUATOR} is here to judge; `git brain outcome {run}` does"));
        }
        Ok(FeedReport { stimuli: new.iter().map(ToString::to_string).collect(), known, ran })
    }

    /// Where input is said to come from. Nobody can say that it is more than of this machine.
    pub(super) fn claimed_origin(&self, label: Option<&str>) -> Result<Origin, BrainError> {
        let Some(label) = label else { return Ok(Origin::local()) };
        let origin = Origin::parse(label).map_err(BrainError::usage)?;
        // Files that say so stay readable: only whoever names an origin now is asked to name all of it.
        if origin.is_cut_off() {
            return Err(BrainError::usage(format!("the origin {origin} has nothing after the colon")));
        }
        if !origin.may_be_claimed() {
            return Err(BrainError::refused(format!("nothing that is fed comes from {origin}")));
        }
        if self.cycle.shared.policy.settings.origins.level(&origin) == Level::Refused {
            return Err(BrainError::refused(format!(
                "what comes from {origin} is refused here, by [origins] of the settings"
            )));
        }
        Ok(origin)
    }

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
        Ok(report(self.cycle.until_quiet(bounds, progress)?))
    }

    /// What would run now; nothing is written.
    pub fn due(&self) -> Result<DueReport, BrainError> {
        let tip = self.at(None)?;
        let jobs = self.cycle.due(tip, self.cycle.marker(), &Default::default(), true)?;
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
        let bytes = self.cycle.shared.secrets.redact_json(&bytes).unwrap_or(bytes);
        let document = Document::parse(&bytes, &what)?;
        let agent = self.agent_of(&document, agent)?;
        let lines = Document::lines(&bytes);
        let given = Given { document, bytes, lines, agent, reason: "by hand", cognition: "apply".to_owned() };
        self.apply_given(given, no_merge, dry_run)
    }

    /// Applies a document that no trigger asked for.
    pub(super) fn apply_given(&self, given: Given, no_merge: bool, dry_run: bool) -> Result<ApplyReport, BrainError> {
        let Given { mut document, bytes, lines, agent, reason, cognition } = given;
        // What was not given as text, such as a goal.
        if let Some(clean) = self.cycle.shared.secrets.redact_json(&json::pretty(&document)) {
            document = Document::parse(&clean, "the document")?;
        }
        let base = self.at(None)?;
        let newest = self.cycle.store.newest_run(base)?;
        let run = self.cycle.new_run_id(&agent, base, newest.as_ref(), &[&bytes], 0)?;
        let shared = &self.cycle.shared;
        let draft = Draft {
            reason: reason.to_owned(),
            lines,
            document,
            held: no_merge.then_some(HELD_AS_ASKED),
            ..Draft::by_hand(shared, base, run, &cognition)?
        };
        let applied = draft.apply(&self.cycle.store, shared)?;
        self.land(draft, &applied, dry_run)
    }

    /// Commits what a draft does and merges it into wake, unless it is held.
    pub(super) fn land(&self, draft: Draft, applied: &Applied, dry_run: bool) -> Result<ApplyReport, BrainError> {
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
        if dry_run {
            return Ok(answer);
        }
        let (store, shared) = (&self.cycle.store, &self.cycle.shared);
        if held {
            answer.commit = Some(draft.commit(applied, store, shared)?.commit.to_string());
            return Ok(answer);
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
        let report = self.cycle.merge(candidates, dry_run)?;
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
        Ok(MergeReport {
            merges: merges.collect(),
            wake: report.wake.to_string(),
            left: report.left.iter().map(|l| format!("{}/{}: {}", l.work_tree.display(), l.path, l.reason)).collect(),
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

/// Reads what is fed; the second value names it in the commit's subject.
fn read_inputs(
    request: &FeedRequest,
    answers: Option<RunId>,
    secrets: &Secrets,
) -> Result<(Vec<Input>, String), BrainError> {
    let clean = |label: &Option<String>| label.as_deref().map(|label| secrets.redact(label).into_owned());
    let (source, session) = (clean(&request.source), clean(&request.session));
    let labels = Labels { at: request.at, source, session, answers };
    let mut inputs = Vec::new();
    let mut names = Vec::new();
    for source in &request.sources {
        let (bytes, what) = read_source(source, limits::INPUT_BYTES)?;
        let is_batch = matches!(source, Source::File(path) if has_extension(path, "jsonl"));
        if is_batch {
            inputs.extend(stimulus::from_jsonl(&bytes, &what, &labels, secrets)?);
            names.push(secrets.redact(&file_name(&what)).into_owned());
            continue;
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            JsonError::at(&what, line, "", "is not UTF-8")
        })?;
        // Before it is divided and before ids are made of it.
        let text = secrets.redact(&text);
        match source {
            Source::File(_) => {
                let name = secrets.redact(&file_name(&what)).into_owned();
                inputs.extend(stimulus::from_text(&text, &name, &labels));
                names.push(name);
            }
            Source::Text(_) | Source::Stdin => {
                inputs.extend(stimulus::from_argument(&text, &labels));
                names.push(crate::delta::render::clip(&text));
            }
        }
    }
    if inputs.is_empty() {
        return Err(BrainError::usage("there is nothing to feed: the input is empty"));
    }
    Ok((inputs, names.join(", ")))
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(wanted))
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().map(|n| n.to_string_lossy().into_owned());
    name.unwrap_or_else(|| path.to_owned()).chars().filter(|c| !c.is_control()).take(200).collect()
}

fn read_source(source: &Source, max: usize) -> Result<(Vec<u8>, String), world::WorldError> {
    match source {
        Source::Text(text) => Ok((text.clone().into_bytes(), "the text".to_owned())),
        Source::Stdin => Ok((world::read_stdin_bounded(max)?, "standard input".to_owned())),
        Source::File(path) => Ok((world::read_bounded(path, max)?, path.display().to_string())),
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
