//! `check`: the format of every file of a tree, in one pass; and `check --fix`, canonical form for files of the work tree.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use serde::Serialize;

use super::council::{check_members, check_members_by};
use super::{Brain, BrainError, World};
use crate::council::record::COUNCILS;
use crate::cycle::admission::secrets::said;
use crate::cycle::admission::{Fault, is_dated_ahead, late_fields, late_run};
use crate::cycle::council::{DOCUMENT, FOLDER};
use crate::cycle::file::{Content, Finding, Level, dangling, examine, examine_place, is_ours, targets};
use crate::cycle::{Cycle, Policy};
use crate::cycle::{merge::run_branches, remedy, signed};
use crate::limits;
use crate::model::ids::episode_id;
use crate::model::layout::{self, Place};
use crate::model::secret::Secrets;
use crate::model::{Format, Metadata, Neuron, Settings};
use crate::review::ReviewRecord;
use crate::review::remark::REMARKS;
use crate::store::{Branch, CommitId, File, Store, StoreError, TreeId};
use crate::world::progress::Work;

/// Documents of councils on main that name no council, and names of documents that are not there.
fn broken_councils(store: &Store) -> Result<Vec<Finding>, StoreError> {
    let Some(main) = store.tip(store.main())? else { return Ok(Vec::new()) };
    let tree = store.tree_of(main)?;
    let mut paths = vec![DOCUMENT.to_owned()];
    if let Some(folder) = store.folder(tree, FOLDER)? {
        let files = store.files(folder, "")?.into_iter().map(|(path, _)| format!("{FOLDER}/{path}"));
        paths.extend(files.filter(|path| path.ends_with(".json")));
    }
    let text = store.read(tree, layout::SETTINGS)?.unwrap_or_default();
    // Settings that cannot be read are a finding of their own.
    let settings = Settings::read(&String::from_utf8_lossy(&text), &[]).ok();
    let members = |text: &str| match &settings {
        Some(settings) => check_members_by(text, settings),
        None => check_members(text),
    };
    let mut broken = Vec::new();
    let named: BTreeSet<&str> = settings.iter().flat_map(|settings| settings.review.councils()).collect();
    for named in named {
        if store.file(tree, named)?.is_none() {
            let why = format!("[review] names the council {named}, and {} has no such file", store.main());
            broken.push(Finding::error(layout::SETTINGS, 1, why));
        }
    }
    for path in paths {
        let Some(bytes) = store.read(tree, &path)? else { continue };
        let fault = match bytes.len() > limits::COUNCIL_DOCUMENT_BYTES {
            true => Some(format!("has more than {} bytes", limits::COUNCIL_DOCUMENT_BYTES)),
            false => members(&String::from_utf8_lossy(&bytes)).err().map(|error| error.to_string()),
        };
        broken.extend(fault.map(|fault| Finding::error(&path, 1, format!("names no council: {fault}"))));
    }
    Ok(broken)
}

/// Decisions that no other machine takes: they and those upon them stay here.
fn broken_decisions(store: &Store, world: &World) -> Result<Vec<Finding>, BrainError> {
    let Some(tip) = store.reviews()? else { return Ok(Vec::new()) };
    let mut broken = late_commits(store, tip, world)?;
    for (path, file) in store.files(store.tree_of(tip)?, "")? {
        if ![COUNCILS, REMARKS].iter().any(|folder| path.starts_with(folder))
            && let Err(error) = ReviewRecord::decode(&store.read_file(file, &path)?, &path)
        {
            broken.push(Finding::error(&path, 1, error.to_string()));
        }
    }
    Ok(broken)
}

/// Where the trees of wake and main are kept, in the cache, in which `status` found nothing that cannot be read.
const READABLE: &str = "readable.json";

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The commit that was checked.
    pub commit: String,
    /// The branch or commit: wake, or as it was named.
    pub name: String,
    /// How many files were read.
    pub files: usize,
    /// What is wrong, by path and line.
    pub findings: Vec<Finding>,
    /// Where no commit was named: the other branches of the brain.
    pub branches: Vec<BranchCheck>,
    /// Where no commit was named, and there is a remote: commits that it lacks, and that it would refuse.
    pub refused: Vec<Finding>,
    /// Remedies of the refused commits, one sentence each.
    pub hints: Vec<String>,
}

/// The findings on a branch that differs from wake: main, or a run that waits.
#[derive(Clone, Debug, Serialize)]
pub struct BranchCheck {
    /// The branch.
    pub branch: String,
    /// Its tip.
    pub commit: String,
    /// The number of files that differ from wake's, and were read.
    pub files: usize,
    /// The faults of those.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// 0: nothing is wrong; 1: something is.
    pub fn exit_code(&self) -> u8 {
        let elsewhere = self.branches.iter().flat_map(|branch| &branch.findings);
        u8::from(self.findings.iter().chain(elsewhere).chain(&self.refused).any(|f| f.level == Level::Error))
    }
}

/// What `check --fix` did.
#[derive(Clone, Debug, Serialize)]
pub struct FixReport {
    /// Files that were rewritten in canonical form, or would be.
    pub fixed: Vec<String>,
    /// Files that a person must put right.
    pub findings: Vec<Finding>,
}

impl Brain {
    /// Checks every file of a commit; and, where signatures are required, who signed what led to it. Needs no settings or agents
    /// that can be read: those are checked as well. Where no commit is named: wake's tip, and what main and runs that wait have other than
    /// wake.
    pub fn check(dir: &Path, world: &World, revision: Option<&str>) -> Result<CheckReport, BrainError> {
        let store = Store::open(dir)?;
        let commit = match revision {
            None => store.need_tip(store.wake())?,
            Some(text) => store.resolve(text)?.ok_or_else(|| BrainError::usage(format!("{text} names no commit")))?,
        };
        // Where settings or agents cannot be read, by the rules alone.
        let policy = Policy::load(&store, world, &[]).ok();
        let secrets = policy.map(|policy| policy.secrets_allowing(world, &policy.settings.secrets.allow)).transpose();
        let secrets = secrets.ok().flatten().unwrap_or_default();
        let look = Look { latest: Some(world.latest_seconds()), secrets: Some(&secrets) };
        let (files, mut findings) = check_tree(&store, store.tree_of(commit)?, look)?;
        let branches = if revision.is_none() { check_branches(&store, look)? } else { Vec::new() };
        findings.extend(late_commits(&store, commit, world)?);
        let since = store.signed_since()?;
        let unsigned = signed::unsigned(&store, commit, &since)?;
        let unsigned = unsigned.into_iter().map(|(id, why)| {
            Finding::error(&id.to_string(), 0, format!("{why}; {}", signed::remedy(&store, &commit.to_string())))
        });
        findings.extend(unsigned);
        let name = revision.map_or_else(|| store.wake().to_string(), str::to_owned);
        let (refused, mut hints) = match revision {
            None => refused_here(dir, world)?,
            Some(_) => Default::default(),
        };
        if revision.is_none() || Some(commit) == store.tip(store.main())? {
            findings.extend(broken_councils(&store)?);
        }
        if revision.is_none() {
            let (landed, hint) = landed_unapproved(dir, world)?;
            findings.extend(landed);
            hints.extend(hint);
            findings.extend(unopened(dir, world, store.tree_of(commit)?));
            let decisions = broken_decisions(&store, world)?;
            if !decisions.is_empty() {
                hints.push(
                    "`git brain sync --without-refused` goes on without decisions that no other machine takes"
                        .to_owned(),
                );
            }
            findings.extend(decisions);
        }
        Ok(CheckReport { commit: commit.to_string(), name, files, findings, branches, refused, hints })
    }

    /// Files of wake, main and runs that wait that cannot be read, with what to do, one sentence each. Of wake and main what differs from
    /// the trees in which this found nothing wrong, or from each other; of a run what differs from wake. Nothing where that is more than
    /// [`limits::STATUS_FILES`]: `check` looks at everything.
    pub(super) fn broken_files(&self) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = |tip: CommitId| store.tree_of(tip);
        let (wake, main) = (tree(store.need_tip(store.wake())?)?, tree(store.need_tip(store.main())?)?);
        let mut pairs = vec![(store.wake().to_string(), wake, main), (store.main().to_string(), main, wake)];
        for (branch, tip) in run_branches(store)? {
            pairs.push((branch.to_string(), tree(tip)?, wake));
        }
        let kept: BTreeMap<String, String> = store.cached_document(READABLE).unwrap_or_default();
        let mut readable = kept.clone();
        let mut broken = Vec::new();
        for (branch, tree, other) in pairs {
            let stays = [store.wake(), store.main()].iter().any(|stays| branch == stays.as_str());
            let within = |other| check_changes(store, tree, other, limits::STATUS_FILES, Look::default());
            // A tree that is not there any more is nothing to start from.
            let known = kept.get(&branch).and_then(|tree| TreeId::parse(tree).ok());
            let checked = known.and_then(|known| within(known).ok().flatten());
            let Some((_, findings)) = checked.map_or_else(|| within(other), |checked| Ok(Some(checked)))? else {
                continue;
            };
            let mut errors = findings.iter().filter(|finding| finding.level == Level::Error).peekable();
            if stays && errors.peek().is_none() {
                readable.insert(branch.clone(), tree.to_string());
            }
            for finding in errors.take(limits::TOLD_FILES) {
                broken.push(format!("{branch}: {finding}; {}", remedy(&branch, &finding.path, stays)));
            }
        }
        if readable != kept {
            store.keep_document(READABLE, &readable);
        }
        Ok(broken)
    }

    /// Rewrites neurons of the work tree that are readable but not canonical. Nothing is staged or committed.
    pub fn check_fix(dir: &Path, dry_run: bool) -> Result<FixReport, BrainError> {
        let store = Store::open(dir)?;
        let mut report = FixReport { fixed: Vec::new(), findings: Vec::new() };
        // A sparse work tree may have a neuron without it.
        let metadata = match (store.read_work_file(layout::METADATA)?, store.head()?) {
            (None, (_, Some(head))) => store.read(store.tree_of(head)?, layout::METADATA)?,
            (on_disk, _) => on_disk,
        };
        let metadata = metadata.and_then(|bytes| serde_json::from_slice::<Metadata>(&bytes).ok());
        let format = metadata.map_or(Format::NEWEST, |metadata| metadata.form());
        for path in store.work_files(layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let Some(bytes) = store.read_work_file(&path)? else { continue };
            match Neuron::decode(&bytes, &path) {
                Ok(neuron) if neuron.id == id && neuron.canonical_format(&bytes).is_none() => {
                    if !dry_run {
                        store.replace_work_file(&path, &neuron.encode_as(format))?;
                    }
                    report.fixed.push(path);
                }
                _ => report.findings.extend(examine(&path, &bytes).findings),
            }
        }
        Ok(report)
    }
}

/// Commits that the remote lacks and would refuse. Where settings or agents cannot be read, that is a finding already.
fn refused_here(dir: &Path, world: &World) -> Result<(Vec<Finding>, Vec<String>), BrainError> {
    let Ok(cycle) = Cycle::open(dir, world.clone(), &[]) else { return Ok(Default::default()) };
    let refused = cycle.refused_here()?;
    let hints: BTreeSet<String> = refused.keys().map(|branch| way_on(&cycle, branch)).collect();
    let faults: BTreeSet<&Fault> = refused.values().flatten().collect();
    Ok((faults.into_iter().map(finding_of).collect(), hints.into_iter().collect()))
}

/// Sealed memories that do not open though their subject's key is on this machine. A record or key that cannot be read is a finding of its own.
fn unopened(dir: &Path, world: &World, tree: TreeId) -> Vec<Finding> {
    let held = Cycle::open(dir, world.clone(), &[]).and_then(|cycle| cycle.held(tree));
    let damages = held.map(|held| held.damages).unwrap_or_default();
    let finding = |damage: crate::sealed::Damage| {
        let crate::sealed::Damage { path, id, subject } = damage;
        Finding::error(&path, 1, format!("{id} does not open with the key of {subject}: it was changed, or moved"))
    };
    damages.into_iter().map(finding).collect()
}

/// Runs of wake that had to wait and that nobody who may has approved, as far as decisions are known here, and what to do.
fn landed_unapproved(dir: &Path, world: &World) -> Result<(Vec<Finding>, Option<String>), BrainError> {
    let Ok(cycle) = Cycle::open(dir, world.clone(), &[]) else { return Ok(Default::default()) };
    let landed: Vec<Finding> = cycle.unapproved_here()?.iter().map(finding_of).collect();
    let hint = match (landed.is_empty(), cycle.store.reviews()?) {
        (true, _) => None,
        (false, Some(_)) => Some("`git brain revert RUN` takes back what landed without its approval".to_owned()),
        (false, None) => Some(
            "no decision is known here: `git brain sync` brings those of a remote; what landed without one, `git brain revert RUN` takes back"
                .to_owned(),
        ),
    };
    Ok((landed, hint))
}

/// The command that goes on where the remote would refuse that branch.
pub(super) fn way_on(cycle: &Cycle, branch: &Branch) -> String {
    match branch == cycle.store.main() || branch == cycle.store.wake() {
        true => "`git brain sync --without-refused` goes on without them; with --dry-run it says what it would do"
            .to_owned(),
        false => format!("`git brain reject {branch}` throws that run away"),
    }
}

/// A fault of a commit, at its file where it is in one.
pub(super) fn finding_of(fault: &Fault) -> Finding {
    match fault.path.is_empty() {
        true => Finding::error(&fault.commit, fault.line, fault.message.clone()),
        false => Finding::error(&fault.path, fault.line, format!("{} (commit {})", fault.message, fault.commit)),
    }
}

/// Commits that are dated ahead of the clock, or name such runs: every other machine refuses them.
fn late_commits(store: &Store, tip: CommitId, world: &World) -> Result<Vec<Finding>, BrainError> {
    let latest = world.latest_seconds();
    let mut findings = Vec::new();
    for id in store.commits_beyond(tip, &[])? {
        let commit = store.commit(id)?;
        let late = late_run(&commit, latest)
            .map(|(key, run)| format!("names {run} ({key}), which is dated ahead of the clock here"));
        let dated = (is_dated_ahead(&commit, latest) && !world.is_fixed())
            .then(|| "is dated ahead of the clock here".to_owned());
        findings.extend(late.into_iter().chain(dated).map(|what| Finding::error(&id.to_string(), 0, what)));
    }
    Ok(findings)
}

/// Checks main and the branches of runs that wait, as far as they differ from wake.
pub(super) fn check_branches(store: &Store, look: Look<'_>) -> Result<Vec<BranchCheck>, BrainError> {
    let wake = store.tree_of(store.need_tip(store.wake())?)?;
    let mut branches = vec![(store.main().clone(), store.need_tip(store.main())?)];
    branches.extend(run_branches(store)?);
    let mut checks = Vec::new();
    for (branch, commit) in branches {
        let checked = check_changes(store, store.tree_of(commit)?, wake, usize::MAX, look)?;
        let (files, findings) = checked.unwrap_or_default();
        checks.push(BranchCheck { branch: branch.to_string(), commit: commit.to_string(), files, findings });
    }
    Ok(checks)
}

/// Checks beside the format: dates and secrets.
#[derive(Clone, Copy, Default)]
pub(super) struct Look<'a> {
    /// The last second that a date may name.
    pub latest: Option<i64>,
    /// Secrets that are named. The repository holds them already, so that they are no error.
    pub secrets: Option<&'a Secrets>,
}

/// Checks all files of the brain in a tree: how many, and what is wrong.
pub(super) fn check_tree(store: &Store, tree: TreeId, look: Look<'_>) -> Result<(usize, Vec<Finding>), BrainError> {
    let files: Vec<(String, File)> = store.files(tree, "")?;
    let paths: HashSet<String> = files.iter().map(|(path, _)| path.clone()).collect();
    examine_all(store, files, look, &mut |path| Ok(paths.contains(path)))
}

/// Checks the files of the brain that another tree has not, as [`check_tree`] does, and by the tree alone what they name; `None` where
/// more than `most` files differ.
fn check_changes(
    store: &Store,
    tree: TreeId,
    other: TreeId,
    most: usize,
    look: Look<'_>,
) -> Result<Option<(usize, Vec<Finding>)>, BrainError> {
    let Some(changes) = store.diff_within(Some(other), Some(tree), "", most)? else { return Ok(None) };
    let files = changes.into_iter().filter_map(|change| Some((change.path, change.new?))).collect();
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut is_there = |path: &str| {
        if let Some(known) = known.get(path) {
            return Ok(*known);
        }
        let found = store.file(tree, path)?.is_some();
        known.insert(path.to_owned(), found);
        Ok(found)
    };
    examine_all(store, files, look, &mut is_there).map(Some)
}

/// Examines files of a tree, of which `is_there` says whether it has a path.
fn examine_all(
    store: &Store,
    mut files: Vec<(String, File)>,
    look: Look<'_>,
    is_there: &mut dyn FnMut(&str) -> Result<bool, StoreError>,
) -> Result<(usize, Vec<Finding>), BrainError> {
    // A link has no place on the branches of a brain, wherever it is.
    files.retain(|(path, file)| is_ours(path) || !file.is_regular());
    let mut findings = Vec::new();
    for required in [layout::METADATA, layout::SETTINGS] {
        if !is_there(required)? {
            findings.push(Finding::error(required, 1, "is missing"));
        }
    }
    let work = Work::begin("checking files", files.len());
    for (path, file) in &files {
        work.step();
        match examine_place(path, *file) {
            Err(finding) => {
                findings.push(finding);
                continue;
            }
            Ok(finding) => findings.extend(finding),
        }
        let bytes = match store.blob(file.blob) {
            Ok(bytes) => bytes,
            Err(error @ (StoreError::Missing { .. } | StoreError::BadObject { .. })) => {
                findings.push(Finding::error(path, 1, error.to_string()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let examined = examine(path, &bytes);
        let secrets = look.secrets.map(|secrets| secrets.in_file(&bytes)).into_iter().flatten();
        findings.extend(secrets.map(|found| {
            Finding::warning(path, found.line, format!("{}; change it, because history keeps it", said(&found.kind)))
        }));
        let late = look.latest.map(|latest| late_fields(path, &bytes, &examined.content, latest)).into_iter().flatten();
        findings
            .extend(late.map(|(line, what)| Finding::error(path, line, format!("{what} is ahead of the clock here"))));
        findings.extend(examined.findings);
        match examined.content {
            Content::Neuron(neuron) => {
                let mut missing = Vec::new();
                for id in targets(&neuron) {
                    if !is_there(&layout::neuron(id))? {
                        missing.push(id);
                    }
                }
                findings.extend(dangling(path, &bytes, &missing));
            }
            Content::Queue(_, named) if !is_there(&named)? => {
                findings.push(Finding::error(path, 1, format!("names {named}, which is not there")));
            }
            Content::Queue(id, _) if is_there(&layout::neuron(&episode_id(&id)))? => {
                findings.push(Finding::warning(path, 1, "its stimulus is consumed already"));
            }
            Content::Queue(..) | Content::Alone => {}
        }
    }
    findings.sort();
    Ok((files.len(), findings))
}
