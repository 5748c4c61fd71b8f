//! The doorbell: what people commit with plain git comes into the loop.
//!
//! git's post-commit and post-merge hooks say only that something happened. What it was is found by looking at the
//! branch, from the last commit that was looked at (a mark in the private folder, one file a branch) to its tip. So a
//! bell that did not ring, because a hook was off or a process was killed, is made up for by the next one.
//!
//! - Main's changes are merged into wake by the typed merge.
//! - Stimuli that were committed without a queue entry, and are not remembered yet, are queued.
//! - Stimuli that a `git revert` of their run put back into the queue leave it: they were taken back, as by `git brain revert`.
//! - Agents are woken by a process of its own that outlives the hook; see [`start`].
//!
//! A run that was merged or committed by this program rings nothing: its record is added by the very commit that names it.
//! The trailer alone proves nothing, because anybody can write it and squashes keep it.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::admission::SAYS;
use super::file::{Content, examine};
use super::merge::{Candidate, Fate};
use super::network::format_of;
use super::trailers::SLEEP;
use super::trunk::stimulus_trailers;
use super::{Cycle, CycleError};
use crate::model::ids::{RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::secret::Secrets;
use crate::store::{Branch, Commit, CommitId, FileChange, LOCAL_VARIABLES, LockName, Store, StoreError, TreeEdit};

const FOLDER: &str = "doorbell";
const LOG: &str = "hook.log";
/// The log begins anew beyond this size, bytes: nobody reads more.
const LOG_BYTES: u64 = 1 << 20;

/// What was behind a doorbell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rung {
    /// Whether a person changed something that agents may want to know.
    pub wakes: bool,
    /// The merge of main into wake.
    pub merged: Option<CommitId>,
    /// Stimuli that were queued.
    pub queued: Vec<StimulusId>,
    /// What a person should know, one sentence each.
    pub notes: Vec<String>,
}

/// The last commit of a branch that a doorbell looked at, if it is still in the repository.
pub fn mark(store: &Store, branch: &Branch) -> Option<CommitId> {
    let text = std::fs::read_to_string(mark_file(store, branch)).ok()?;
    let commit = CommitId::parse(text.trim()).ok()?;
    store.commit(commit).is_ok().then_some(commit)
}

/// Notes up to which commit of a branch doorbells have looked.
pub fn set_mark(store: &Store, branch: &Branch, commit: CommitId) -> Result<(), StoreError> {
    let path = mark_file(store, branch);
    let folder = store.private_dir().join(FOLDER);
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        writeln!(file, "{commit}")?;
        file.persist(&path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|source| StoreError::File { path: path.clone(), source })
}

/// The branches whose commits ring, with their tips: main and wake.
pub fn belled(store: &Store) -> Result<Vec<(Branch, CommitId)>, StoreError> {
    let mut found = Vec::new();
    for branch in [store.main(), store.wake()] {
        found.extend(store.tip(branch)?.map(|tip| (branch.clone(), tip)));
    }
    Ok(found)
}

fn mark_file(store: &Store, branch: &Branch) -> PathBuf {
    // No branch name has a percent sign, and a folder `a` could not stand beside a file `a`.
    store.private_dir().join(FOLDER).join(branch.as_str().replace('/', "%"))
}

/// Where doorbells write what nobody is there to read.
pub fn log_file(store: &Store) -> PathBuf {
    store.private_dir().join(LOG)
}

/// Adds a line to the log. There is nobody to tell if that fails. Names of files may hold secrets too.
pub fn log(store: &Store, text: &str) {
    let text = Secrets::default().redact(text).into_owned();
    if let Ok(mut file) = open_log(&log_file(store)) {
        let _ = writeln!(file, "{}", text.replace('\n', " "));
    }
}

fn open_log(path: &Path) -> std::io::Result<std::fs::File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() > LOG_BYTES) {
        std::fs::remove_file(path)?;
    }
    std::fs::OpenOptions::new().create(true).append(true).open(path)
}

/// Starts this program on the brain, with no stream and no variable of the caller's git: whoever committed waits for
/// nothing. What it prints goes to the log.
pub fn start(store: &Store, arguments: &[&str]) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let log = open_log(&log_file(store))?;
    command.arg("-C").arg(store.common_dir()).args(arguments).current_dir(store.common_dir());
    LOCAL_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.env("BRAIN_IN_HOOK", "doorbell");
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    // Nobody waits for it: this process ends at once, and init takes the child over, which begins with `detach`.
    command.spawn().map(drop)
}

/// Leaves the session of whoever started this process, so that closing their terminal does not end it.
pub fn detach() {
    // Fails only for the leader of a process group, which is detached enough.
    let _ = rustix::process::setsid();
}

impl Cycle {
    /// Looks at what a branch, main or wake, has since the last look, and brings it into the loop.
    pub fn ring(&self, branch: &Branch) -> Result<Rung, CycleError> {
        let store = &self.store;
        let tip = store.need_tip(branch)?;
        let mut rung = Rung::default();
        let from = self.looked_at(branch, tip)?;
        if from == Some(tip) {
            return Ok(rung);
        }
        let before = from.map(|commit| store.tree_of(commit)).transpose()?;
        let changes = ours(store.diff(before, Some(store.tree_of(tip)?), "")?);
        let known: Vec<CommitId> = from.into_iter().collect();
        let mut stimuli: Vec<(StimulusId, String)> = Vec::new();
        let mut taken_back: Vec<StimulusId> = Vec::new();
        for id in store.commits_beyond(tip, &known)? {
            let commit = store.commit(id)?;
            if brings_its_own_run(store, &commit)? {
                continue;
            }
            let changes = ours(store.diff(first_parent_tree(store, &commit)?, Some(commit.tree), "")?);
            rung.wakes |= !changes.is_empty();
            taken_back.extend(requeued(store, &commit, &changes)?);
            stimuli.extend(committed_alone(changes));
        }
        // A merge brings what the commits behind it brought.
        stimuli.sort();
        stimuli.dedup();
        if branch == store.main() && !changes.is_empty() {
            self.bring_main(tip, &mut rung)?;
        }
        rung.queued = self.queue_stored(&stimuli)?;
        if branch == store.wake() {
            self.leave_queue(&taken_back)?;
        }
        set_mark(store, branch, tip)?;
        Ok(rung)
    }

    /// From where to look: the mark, or where a rewritten branch left it. Without a mark, where main and wake last were one.
    fn looked_at(&self, branch: &Branch, tip: CommitId) -> Result<Option<CommitId>, CycleError> {
        let store = &self.store;
        let other = if branch == store.main() { store.wake() } else { store.main() };
        let last = match mark(store, branch) {
            Some(mark) => Some(mark),
            None => store.tip(other)?,
        };
        match last {
            Some(commit) if store.is_ancestor(commit, tip)? => Ok(Some(commit)),
            Some(commit) => Ok(store.merge_bases(commit, tip)?.first().copied()),
            None => Ok(None),
        }
    }

    fn bring_main(&self, tip: CommitId, rung: &mut Rung) -> Result<(), CycleError> {
        let main = self.store.main().to_string();
        let candidate = Candidate { name: main.clone(), commit: tip, branch: None, run: None, reviewed_by: None };
        let report = self.merge(vec![candidate], false)?;
        for (_, fate) in report.fates {
            match fate {
                Fate::Merged { commit, .. } => rung.merged = Some(commit),
                Fate::Already => {}
                Fate::Conflict(conflicts) => rung
                    .notes
                    .extend(conflicts.iter().map(|conflict| format!("{main} is not merged into wake: {conflict}"))),
                Fate::Refused(why) => rung.notes.push(format!("{main} is not merged into wake: {why}")),
            }
        }
        let edited = report.left.iter().map(|left| format!("left alone: {} ({})", left.path, left.reason));
        rung.notes.extend(edited);
        Ok(())
    }

    /// Queues stimuli whose files are in wake and that neither wait nor are remembered.
    fn queue_stored(&self, stimuli: &[(StimulusId, String)]) -> Result<Vec<StimulusId>, CycleError> {
        if stimuli.is_empty() {
            return Ok(Vec::new());
        }
        let store = &self.store;
        let _trunk = store.lock(LockName::Trunk)?;
        let mut queued = Vec::new();
        self.change_wake("stimulus: committed by hand", &mut |tree| {
            let mut edits = Vec::new();
            queued.clear();
            let format = format_of(store, tree)?;
            for (id, path) in stimuli {
                let entry = layout::queue_entry(id);
                let here = store.file(tree, path)?.is_some();
                let waits = store.file(tree, &entry)?.is_some();
                let remembered = store.file(tree, &layout::neuron(&episode_id(id)))?.is_some();
                if here && !waits && !remembered {
                    edits.push(TreeEdit::new(entry, Some(layout::queued(path, format))));
                    queued.push(id.clone());
                }
            }
            Ok((edits, stimulus_trailers(&queued)))
        })?;
        Ok(queued)
    }
}

impl Cycle {
    /// Takes stimuli out of wake's queue.
    fn leave_queue(&self, stimuli: &[StimulusId]) -> Result<(), CycleError> {
        if stimuli.is_empty() {
            return Ok(());
        }
        let _trunk = self.store.lock(LockName::Trunk)?;
        self.leave_queue_alone(stimuli)
    }

    /// The same for whoever has the lock of the trunk.
    pub(super) fn leave_queue_alone(&self, stimuli: &[StimulusId]) -> Result<(), CycleError> {
        self.change_wake("stimulus: taken back", &mut |tree| {
            let mut edits = Vec::new();
            for id in stimuli {
                let entry = layout::queue_entry(id);
                if self.store.file(tree, &entry)?.is_some() {
                    edits.push(TreeEdit::new(entry, None));
                }
            }
            Ok((edits, stimulus_trailers(stimuli)))
        })?;
        Ok(())
    }
}

/// The stimuli that a commit by which git takes another one back puts into the queue again: those that were there before it.
fn requeued(store: &Store, commit: &Commit, changes: &[FileChange]) -> Result<Vec<StimulusId>, StoreError> {
    if !commit.message.contains(SAYS) {
        return Ok(Vec::new());
    }
    let Some(before) = first_parent_tree(store, commit)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.old.is_none()) {
        let (Place::Queue(id), Some(entry)) = (Place::of(&change.path), change.new) else { continue };
        let content = examine(&change.path, &store.content(entry.blob)?).content;
        if let Content::Queue(_, path) = content
            && store.file(before, &path)?.is_some()
        {
            found.push(id);
        }
    }
    Ok(found)
}

fn ours(changes: Vec<FileChange>) -> Vec<FileChange> {
    changes.into_iter().filter(|change| !matches!(Place::of(&change.path), Place::Other)).collect()
}

fn first_parent_tree(store: &Store, commit: &Commit) -> Result<Option<crate::store::TreeId>, StoreError> {
    commit.parents.first().map(|parent| store.tree_of(*parent)).transpose()
}

/// Stimuli whose files a commit adds without a queue entry. One that came with it was queued by `feed`: if its memory is gone, a sleep
/// has pruned it.
fn committed_alone(changes: Vec<FileChange>) -> Vec<(StimulusId, String)> {
    let mut stimuli: Vec<(StimulusId, String)> = Vec::new();
    let mut queued: HashSet<StimulusId> = HashSet::new();
    for change in changes.into_iter().filter(|change| change.old.is_none()) {
        match Place::of(&change.path) {
            Place::Stimulus(id) => stimuli.push((id, change.path)),
            Place::Queue(id) => drop(queued.insert(id)),
            _ => {}
        }
    }
    stimuli.retain(|(id, _)| !queued.contains(id));
    stimuli
}

/// Whether the commit names a run, or a sleep, and adds its record.
fn brings_its_own_run(store: &Store, commit: &Commit) -> Result<bool, StoreError> {
    let before = first_parent_tree(store, commit)?;
    for run in commit.trailer_values("Run").filter_map(|text| RunId::parse(text).ok()) {
        let record = if run.agent().as_str() == SLEEP { layout::sleep(&run) } else { layout::run(&run) };
        let was_there = match before {
            Some(tree) => store.file(tree, &record)?.is_some(),
            None => false,
        };
        if !was_there && store.file(commit.tree, &record)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
