//! `hook NAME`: what git's hooks call. The gate looks at what is about to be committed; the doorbells wake the brain.
//!
//! The gate keeps git's environment, because that names the index; it fails closed on what it cannot read of the brain's
//! own branches, and says nothing about other branches. The doorbells fail open: whatever goes wrong is in the log of the
//! private folder, and the person's commit stands.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use serde::Serialize;

use super::receive::{self, HookAnswer};
use super::{Brain, BrainError, World};
use crate::client::Client;
use crate::cycle::admission::secrets::added;
use crate::cycle::doorbell::{self, belled};
use crate::cycle::file::{Content, Finding, Level, dangling, examine, examine_place, is_ours, targets};
use crate::cycle::{Cycle, Policy, RunBounds};
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::model::secret::Secrets;
use crate::model::{Neuron, Stamp};
use crate::store::{
    Branch, CommitId, FileChange, HookName, HooksReport, LockName, Store, StoreError, TreeId, called_from,
};

/// The hook name by which a doorbell that must not wait calls this program again: `hook ring BRANCH`.
const RING: &str = "ring";
/// The hook name by which a doorbell that has brought everything in starts agents: `hook wake`.
const WAKE: &str = "wake";

/// What `hooks install`, `remove` and `status` answer.
#[derive(Clone, Debug, Serialize)]
pub struct HooksAnswer {
    /// Each hook.
    #[serde(flatten)]
    pub report: HooksReport,
    /// What the person should know.
    pub notes: Vec<String>,
}

impl Brain {
    /// Whether a hook is meant for a coding agent: by its name, which no hook of git has, or by an event that only coding agents have.
    pub fn is_client(name: &str, arguments: &[String]) -> bool {
        let is_known = |event: &str| Client::ALL.iter().any(|client| client.events().contains(&event));
        // In small letters an event may as well be a branch.
        let is_event = |event: &str| is_known(event) && event.contains(char::is_uppercase);
        let is_ours = [RING, WAKE, super::capture::CAPTURE].contains(&name) || HookName::parse(name).is_some();
        name.parse::<Client>().is_ok() || !is_ours && matches!(arguments, [event] if is_event(event))
    }

    /// Does what git's hook NAME is for. An unknown name, and a repository without a brain, are nobody's fault: exit 0.
    pub fn hook(dir: &Path, world: World, name: &str, arguments: &[String]) -> Result<HookAnswer, BrainError> {
        match HookName::parse(name) {
            Some(HookName::PreReceive) => receive::gate(&called_from(dir), world),
            Some(HookName::PostReceive) => {
                knock_everywhere(&called_from(dir), &world);
                Ok(HookAnswer::default())
            }
            Some(hook) if hook.is_gate() => gate(&called_from(dir), &world),
            Some(_) => {
                knock(&called_from(dir), &world);
                Ok(HookAnswer::default())
            }
            None => {
                match (name, arguments.first()) {
                    (RING, Some(branch)) => answer_the_bell(dir, world, branch),
                    (WAKE, None) => wake_agents(dir, world),
                    (super::capture::CAPTURE, None) => super::capture::capture(dir, &world),
                    _ => {}
                }
                Ok(HookAnswer::default())
            }
        }
    }

    /// Puts our block into git's hooks. From now on doorbells look at what comes; what is there is no news.
    pub fn install_hooks(dir: &Path, program: &str, dry_run: bool) -> Result<HooksAnswer, BrainError> {
        let store = Store::open(dir)?;
        let report = store.install_hooks(program, dry_run)?;
        if !dry_run {
            for (branch, tip) in belled(&store)? {
                if doorbell::mark(&store, &branch).is_none() {
                    doorbell::set_mark(&store, &branch, tip)?;
                }
            }
        }
        Ok(with_notes(report))
    }

    /// Takes our block out of git's hooks again.
    pub fn remove_hooks(dir: &Path, dry_run: bool) -> Result<HooksAnswer, BrainError> {
        Ok(with_notes(Store::open(dir)?.remove_hooks(dry_run)?))
    }

    /// How git's hooks are.
    pub fn hooks_status(dir: &Path, program: &str) -> Result<HooksAnswer, BrainError> {
        Ok(with_notes(Store::open(dir)?.hooks_status(program)?))
    }
}

fn with_notes(report: HooksReport) -> HooksAnswer {
    let mut notes = Vec::new();
    if report.shared {
        notes.push(format!(
            "core.hooksPath is {}, outside this repository: the hooks there run in other repositories too, and do nothing \
             where there is no brain",
            report.folder.display()
        ));
    }
    for hook in &report.hooks {
        notes.extend(hook.message.iter().map(|m| format!("{} is left as it is: {m}", hook.hook.as_str())));
    }
    HooksAnswer { report, notes }
}

// The doorbells.

/// Looks whether there is news, and hands it on. Never waits for another process, and never fails.
fn knock(dir: &Path, world: &World) {
    if world.in_hook() {
        return;
    }
    let Ok(store) = Store::open(dir) else { return };
    if let Err(error) = knock_at(&store, dir, world) {
        doorbell::log(&store, &format!("{} doorbell: {error}", world.now()));
    }
}

fn knock_at(store: &Store, dir: &Path, world: &World) -> Result<(), BrainError> {
    let Some(branch) = store.head()?.0 else { return Ok(()) };
    let Some((_, tip)) = belled(store)?.into_iter().find(|(belled, _)| *belled == branch) else { return Ok(()) };
    if doorbell::mark(store, &branch) == Some(tip) {
        return Ok(());
    }
    let started = |arguments: &[&str]| {
        doorbell::start(store, arguments).map_err(|source| {
            BrainError::Store(StoreError::File { path: "git-brain, in the background".into(), source })
        })
    };
    // What would make the commit wait, another process at work or a repack, is for the background.
    let free = store.try_lock(LockName::Trunk)?.is_some();
    if !free || store.needs_maintenance() {
        return started(&["hook", RING, branch.as_str()]);
    }
    let cycle = Cycle::open(dir, world.clone(), &[])?;
    if rung(&cycle, &branch)? {
        started(&["hook", WAKE])?;
    }
    Ok(())
}

/// Something was pushed: what came on main and wake is looked at in the background, whoever pushed waits for nothing.
fn knock_everywhere(dir: &Path, world: &World) {
    if world.in_hook() {
        return;
    }
    let Ok(store) = Store::open(dir) else { return };
    let Ok(branches) = belled(&store) else { return };
    for (branch, tip) in branches {
        if doorbell::mark(&store, &branch) == Some(tip) {
            continue;
        }
        if let Err(error) = doorbell::start(&store, &["hook", RING, branch.as_str()]) {
            doorbell::log(&store, &format!("{} doorbell: {error}", world.now()));
        }
    }
}

/// In the background: the whole of it.
fn answer_the_bell(dir: &Path, world: World, branch: &str) {
    doorbell::detach();
    let Ok(store) = Store::open(dir) else { return };
    let now = world.now();
    let answer = || -> Result<(), BrainError> {
        let branch = Branch::parse(branch)?;
        if !belled(&store)?.iter().any(|(belled, _)| *belled == branch) {
            return Ok(());
        }
        let cycle = Cycle::open(dir, world, &[])?;
        if rung(&cycle, &branch)? {
            cycle.until_quiet(&RunBounds::default(), &mut |_| {})?;
        }
        Ok(())
    };
    if let Err(error) = answer() {
        doorbell::log(&store, &format!("{now} doorbell: {error}"));
    }
}

/// In the background: agents alone.
fn wake_agents(dir: &Path, world: World) {
    doorbell::detach();
    let Ok(store) = Store::open(dir) else { return };
    let now = world.now();
    let run = || Cycle::open(dir, world, &[])?.until_quiet(&RunBounds::default(), &mut |_| {});
    if let Err(error) = run() {
        doorbell::log(&store, &format!("{now} doorbell: {error}"));
    }
}

/// Brings in what is new on a branch; true if agents should look at it.
fn rung(cycle: &Cycle, branch: &Branch) -> Result<bool, BrainError> {
    let rung = cycle.ring(branch)?;
    let now: Stamp = cycle.shared.world.now();
    for note in &rung.notes {
        doorbell::log(&cycle.store, &format!("{now} {note}"));
    }
    Ok(rung.wakes || !rung.queued.is_empty())
}

// The gate.

fn gate(dir: &Path, world: &World) -> Result<HookAnswer, BrainError> {
    let store = match Store::open(dir) {
        Ok(store) => store,
        Err(StoreError::NoBrain { .. } | StoreError::NoRepository { .. }) => return Ok(HookAnswer::default()),
        Err(error) => return Err(error.into()),
    };
    let (branch, head) = store.head()?;
    if !is_of_the_brain(&store, branch.as_ref(), head)? {
        return Ok(HookAnswer::default());
    }
    let changes = store.staged()?;
    let secrets = Policy::load(&store, world, &[]).and_then(|policy| policy.secrets(world)).unwrap_or_default();
    let mut gate = Gate::new(&store, head, &changes, secrets)?;
    for change in &changes {
        gate.judge(change)?;
    }
    gate.refuse_orphans()?;
    Ok(gate.answer())
}

/// Whether what is checked out is the brain's: its branches, or one that came from them. In a repository that a brain was
/// put into, branches of code may have a folder `network/` of their own, and that is none of our business.
pub(super) fn is_of_the_brain(
    store: &Store,
    branch: Option<&Branch>,
    head: Option<CommitId>,
) -> Result<bool, BrainError> {
    let runs = store.main().as_str().rsplit_once('/').map_or("agents/".to_owned(), |(f, _)| format!("{f}/agents/"));
    if branch.is_some_and(|b| b == store.main() || b == store.wake() || b.as_str().starts_with(&runs)) {
        return Ok(true);
    }
    let Some(head) = head else { return Ok(false) };
    if store.file(store.tree_of(head)?, layout::METADATA)?.is_none() {
        return Ok(false);
    }
    for (_, tip) in belled(store)? {
        if !store.merge_bases(head, tip)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A look at the changes of one commit to be.
struct Gate<'s> {
    store: &'s Store,
    /// HEAD's tree.
    head: Option<TreeId>,
    /// What becomes of each changed path: true if it is there afterwards.
    after: BTreeMap<&'s str, bool>,
    /// Immutable files that a revert under way may take back.
    reverted: HashSet<String>,
    /// Neurons that go.
    gone: BTreeSet<NeuronId>,
    findings: Vec<Finding>,
    /// Secrets that no commit may add.
    secrets: Secrets,
    stale: bool,
    fixable: bool,
    secret: bool,
}

impl<'s> Gate<'s> {
    fn new(
        store: &'s Store,
        head: Option<CommitId>,
        changes: &'s [FileChange],
        secrets: Secrets,
    ) -> Result<Self, BrainError> {
        let mut reverted = HashSet::new();
        if let Some(commit) = store.reverting() {
            let commit = store.commit(commit)?;
            let before = commit.parents.first().map(|parent| store.tree_of(*parent)).transpose()?;
            let added = store.diff(before, Some(commit.tree), layout::NETWORK)?.into_iter();
            reverted.extend(added.filter(|change| change.old.is_none()).map(|change| change.path));
        }
        Ok(Self {
            store,
            head: head.map(|head| store.tree_of(head)).transpose()?,
            after: changes.iter().map(|change| (change.path.as_str(), change.new.is_some())).collect(),
            reverted,
            gone: BTreeSet::new(),
            findings: Vec::new(),
            secrets,
            stale: false,
            fixable: false,
            secret: false,
        })
    }

    fn judge(&mut self, change: &FileChange) -> Result<(), BrainError> {
        let path = change.path.as_str();
        let place = Place::of(path);
        if place.is_immutable() && change.old.is_some() && !self.may_go(change) && !self.mends(change)? {
            let what = if change.new.is_some() { "changed" } else { "removed" };
            let message =
                format!("would be {what}, and it is written once for ever: the index is older than its branch");
            self.findings.push(Finding::error(path, 1, message));
            self.stale = true;
            return Ok(());
        }
        let Some(file) = change.new else {
            match place {
                Place::Neuron(id) => drop(self.gone.insert(id)),
                Place::Metadata => self.findings.push(Finding::error(path, 1, "would be removed")),
                _ => {}
            }
            return Ok(());
        };
        match examine_place(path, file) {
            Err(finding) => {
                self.findings.push(finding);
                return Ok(());
            }
            Ok(finding) => self.findings.extend(finding),
        }
        let bytes = self.store.blob(file.blob)?;
        let examined = examine(path, &bytes);
        self.fixable |= examined.findings.iter().any(|f| f.message.contains("canonical"));
        self.findings.extend(examined.findings);
        if is_ours(path) {
            self.refuse_secrets(path, &bytes)?;
        }
        match examined.content {
            Content::Neuron(neuron) => {
                let old = change.old.map(|old| self.store.blob(old.blob)).transpose()?;
                let old = old.and_then(|bytes| Neuron::decode(&bytes, path).ok());
                self.warn_of_age(path, old.as_ref(), &neuron);
                self.judge_connections(path, old.as_ref(), &neuron, &bytes)?;
            }
            Content::Queue(_, named) if !self.has(&named)? => {
                self.findings.push(Finding::error(path, 1, format!("names {named}, which is not there")));
            }
            Content::Queue(..) | Content::Alone => {}
        }
        Ok(())
    }

    /// Secrets that neither what is checked out has nor main or wake.
    fn refuse_secrets(&mut self, path: &str, bytes: &[u8]) -> Result<(), BrainError> {
        let mut before: Vec<TreeId> = self.head.into_iter().collect();
        if !self.secrets.in_file(bytes).is_empty() {
            for (_, tip) in belled(self.store)? {
                before.push(self.store.tree_of(tip)?);
            }
        }
        let found = added(self.store, &self.secrets, path, bytes, &before)?;
        self.secret |= !found.is_empty();
        self.findings.extend(found);
        Ok(())
    }

    /// A neuron's file from before a run that HEAD has: who edited it then, or checked it out, takes back what was done since.
    fn warn_of_age(&mut self, path: &str, old: Option<&Neuron>, neuron: &Neuron) {
        if let Some(run) = old.and_then(|old| old.run.as_ref()).filter(|run| neuron.run.as_ref() < Some(*run)) {
            let message = format!("is from before {run}: this commit takes back what the brain did to it since");
            self.findings.push(Finding { level: Level::Warning, ..Finding::error(path, 1, message) });
        }
    }

    /// A revert takes a run's record back; it never changes one.
    fn may_go(&self, change: &FileChange) -> bool {
        change.new.is_none() && self.reverted.contains(&change.path)
    }

    /// Whether a file that nobody can read becomes one that can be read.
    fn mends(&self, change: &FileChange) -> Result<bool, BrainError> {
        let (Some(old), Some(_)) = (change.old, change.new) else { return Ok(false) };
        let examined = examine(&change.path, &self.store.blob(old.blob)?);
        Ok(examined.findings.iter().any(|finding| finding.level == Level::Error))
    }

    /// Connections to what is not there: a fault if this commit makes them, worth a word if they were there before.
    fn judge_connections(
        &mut self,
        path: &str,
        old: Option<&Neuron>,
        neuron: &Neuron,
        bytes: &[u8],
    ) -> Result<(), BrainError> {
        let mut missing = Vec::new();
        for target in targets(neuron) {
            if !self.has(&layout::neuron(target))? {
                missing.push(target);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let was_there: HashSet<&NeuronId> = old.into_iter().flat_map(targets).collect();
        for id in missing {
            let known = was_there.contains(id) && !self.gone_now(id);
            let level = if known { Level::Warning } else { Level::Error };
            let found = dangling(path, bytes, &[id]).into_iter();
            self.findings.extend(found.map(|finding| Finding { level, ..finding }));
        }
        Ok(())
    }

    fn gone_now(&self, id: &NeuronId) -> bool {
        self.after.get(layout::neuron(id).as_str()) == Some(&false)
    }

    /// Whether the commit will have the file.
    fn has(&self, path: &str) -> Result<bool, BrainError> {
        if let Some(there) = self.after.get(path) {
            return Ok(*there);
        }
        match self.head {
            Some(tree) => Ok(self.store.file(tree, path)?.is_some()),
            None => Ok(false),
        }
    }

    /// Where neurons go: looks for unchanged neurons that still point to them. The only look at the whole network.
    fn refuse_orphans(&mut self) -> Result<(), BrainError> {
        let Some(tree) = self.head.filter(|_| !self.gone.is_empty()) else { return Ok(()) };
        for (path, file) in self.store.files(tree, layout::NEURONS)? {
            if self.after.contains_key(path.as_str()) || !file.is_regular() {
                continue;
            }
            let bytes = self.store.blob(file.blob)?;
            let Ok(neuron) = Neuron::decode(&bytes, &path) else { continue };
            let missing: Vec<_> = targets(&neuron).into_iter().filter(|id| self.gone.contains(*id)).collect();
            self.findings.extend(dangling(&path, &bytes, &missing));
        }
        Ok(())
    }

    fn answer(mut self) -> HookAnswer {
        self.findings.sort();
        let mut hints = Vec::new();
        if self.stale {
            hints.push(
                "the branch moved on while the index stayed: `git brain doctor` brings index and untouched files up to \
                 date; or `git reset`, then stage your own changes again"
                    .to_owned(),
            );
        }
        if self.fixable {
            hints.push(
                "`git brain check --fix` puts files of the work tree into canonical form; then `git add` them"
                    .to_owned(),
            );
        }
        if self.secret {
            hints.push(
                "take the secret out of the file; what is none is let through by `secrets.allow` in brain.toml, once that is committed on main \
                 and trusted here (docs/format.md)"
                    .to_owned(),
            );
        }
        let refused = self.findings.iter().any(|f| f.level == Level::Error);
        if refused && hints.is_empty() {
            hints.push("`git commit --no-verify` commits all the same; merges will then refuse it".to_owned());
        }
        HookAnswer { exit: u8::from(refused), findings: self.findings, hints, notes: Vec::new() }
    }
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
