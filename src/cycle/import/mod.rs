//! Import: a whole network, or triples, brought in by the person at this machine.
//!
//! Wishes for neurons come in parts, sorted by their place in the tree; each part becomes one run of `human`, whose record
//! holds its effects as any run's does, so that it can be replayed and taken back. Small imports are one run. The runs
//! are a chain on one branch, merged into wake by one merge commit: all of it, or nothing. No agent is started.
//!
//! - `document`: parts of a single-document network; `triples`: parts of a file of triples
//! - `patch`: what a wish makes of a neuron; here: from parts to commits
//!
//! *Memory* is some hundred bytes a neuron of the input and a few parts under way; *time* is spent on all processors.

mod document;
mod patch;
mod triples;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use patch::Patch;

use super::commit::{author, branch_of};
use super::merge::{Candidate, Fate};
use super::network::{decode_neuron, format_of};
use super::policy::HUMAN;
use super::{Cycle, CycleError};
use crate::delta::{Effect, RunRecord};
use crate::limits;
use crate::model::ids::{AgentName, NeuronId, RunId, hash64};
use crate::model::origin::Origins;
use crate::model::plural::which;
use crate::model::secret::Secrets;
use crate::model::{Format, Origin, Stamp, layout};
use crate::store::{
    BlobId, BulkWriter, Change, CommitId, CommitSpec, File, LockName, ObjectWriter, Packed, Packer, RefChange,
    RefOutcome, Store, StoreError, TreeEdit, TreeId,
};
use crate::world::{WorldError, open_input};

pub use triples::Triple;

/// How an import gets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportProgress {
    /// Bytes of the input that are read, of how many.
    Reading(u64, u64),
    /// Neurons that are written, of how many.
    Writing(usize, usize),
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The runs that it became; none if nothing was new.
    pub runs: Vec<RunId>,
    /// Neurons that it made.
    pub created: usize,
    /// Neurons that were there and were changed.
    pub changed: usize,
    /// Neurons that were there as it wants them.
    pub unchanged: usize,
    /// Connections that it asks for.
    pub connections: usize,
    /// SHA-256 of the input.
    pub sha256: String,
    /// Wake's tip afterwards.
    pub wake: Option<CommitId>,
    /// Why it stays on its branch, if it does.
    pub held: Option<String>,
    /// What happened on the way, one sentence each.
    pub notes: Vec<String>,
}

/// The wishes of an import, in parts.
trait Parts: Sync {
    /// How many parts.
    fn count(&self) -> usize;
    /// How many neurons.
    fn neurons(&self) -> usize;
    /// The wishes of a part, sorted by (folder, id). No neuron is in two parts.
    fn part(&self, index: usize) -> Result<Vec<Patch>, CycleError>;
    /// Whether the import itself brings that neuron.
    fn brings(&self, id: &NeuronId) -> bool;
}

/// A file that can be read twice.
struct Input {
    path: PathBuf,
    /// What it is called in errors.
    name: String,
    _kept: Option<tempfile::NamedTempFile>,
}

impl Input {
    /// Its name without folders, for commits.
    fn short(&self, secrets: &Secrets) -> String {
        let name = Path::new(&self.name).file_name();
        let name = name.map_or_else(|| self.name.clone(), |f| f.to_string_lossy().into_owned());
        secrets.redact(&name).into_owned()
    }
}

/// What an import is called in commits and records.
struct Label {
    /// The input, for errors.
    file: String,
    /// The input's name.
    name: String,
    /// SHA-256 of the input.
    sha256: String,
}

/// The number of the folder that a neuron's file lies in, in the order of the folders.
fn folder_number(id: &NeuronId) -> u16 {
    (hash64(id.as_str().as_bytes()) >> 52) as u16
}

/// The folder that a neuron's file lies in, and the file's name.
fn place_of(id: &NeuronId) -> (String, String) {
    let path = layout::neuron(id);
    let (folder, name) = path.rsplit_once('/').expect("invariant: a neuron lies in a folder");
    (folder.to_owned(), name.to_owned())
}

/// One folder of neurons in a part.
struct Folder {
    path: String,
    /// As wake has it.
    before: BTreeMap<String, File>,
    /// Files that the part writes.
    written: Vec<(String, BlobId)>,
}

/// A part, packed.
struct Done {
    run: RunId,
    packed: Packed,
    record: BlobId,
    folders: Vec<Folder>,
    created: usize,
    changed: usize,
    unchanged: usize,
    connections: usize,
}

/// What all parts of an import share.
struct Frame<'a> {
    cycle_dir: &'a Path,
    parts: &'a dyn Parts,
    label: &'a Label,
    tip: CommitId,
    tree: TreeId,
    format: Format,
    runs: Vec<RunId>,
    now: Stamp,
    secrets: &'a Arc<Secrets>,
    origins: &'a Origins,
}

impl Cycle {
    /// Imports a single-document network from a file.
    pub fn import_document(
        &self,
        file: &Path,
        dry_run: bool,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<Imported, CycleError> {
        let input = self.input(file)?;
        let (parts, label) = document::Document::read(&input, self.shared.world.now(), &self.shared.secrets, progress)?;
        self.bring_in(&parts, &label, dry_run, progress)
    }

    /// Imports triples from a file of one JSON object a line.
    pub fn import_triples(
        &self,
        file: &Path,
        dry_run: bool,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<Imported, CycleError> {
        let floor = self.shared.policy.settings.learning.connect_floor.max(1);
        let input = self.input(file)?;
        let (mut triples, label) = triples::Triples::read(&input, floor, &self.shared.secrets, progress)?;
        let notes = triples.find_sources(&self.store, &self.dir)?;
        let mut imported = self.bring_in(&triples, &label, dry_run, progress)?;
        imported.notes.splice(0..0, notes);
        Ok(imported)
    }

    /// The input as a file that can be read twice: `-` and pipes are kept in the private folder meanwhile.
    fn input(&self, file: &Path) -> Result<Input, CycleError> {
        let name = file.display().to_string();
        let unread = |source| CycleError::World(WorldError::Read { path: name.clone(), source });
        let standard = file == Path::new("-");
        if !standard && std::fs::metadata(file).map_err(unread)?.is_file() {
            return Ok(Input { path: file.to_owned(), name, _kept: None });
        }
        let pipe = if standard { None } else { Some(open_input(file)?) };
        let folder = self.store.private_dir();
        let kept = std::fs::create_dir_all(&folder).and_then(|()| tempfile::NamedTempFile::new_in(&folder));
        let mut kept = kept.map_err(|source| StoreError::File { path: folder, source })?;
        let copied = match pipe {
            None => std::io::copy(&mut std::io::stdin().lock(), &mut kept),
            Some(mut pipe) => std::io::copy(&mut pipe, &mut kept),
        };
        copied.map_err(unread)?;
        let name = if standard { "standard input".to_owned() } else { name };
        Ok(Input { path: kept.path().to_owned(), name, _kept: Some(kept) })
    }

    fn bring_in(
        &self,
        parts: &dyn Parts,
        label: &Label,
        dry_run: bool,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<Imported, CycleError> {
        // Held to the end, so that the tip that the runs start from is the tip that they are merged into.
        let trunk = (!dry_run).then(|| self.store.lock(LockName::Trunk)).transpose()?;
        let tip = self.store.need_tip(self.store.wake())?;
        let tree = self.store.tree_of(tip)?;
        let frame = Frame {
            cycle_dir: &self.dir,
            parts,
            label,
            tip,
            tree,
            format: format_of(&self.store, tree)?,
            runs: self.import_runs(tip, label, parts.count())?,
            now: self.shared.world.now(),
            secrets: &self.shared.secrets,
            origins: &self.shared.policy.settings.origins,
        };
        let mut bulk = self.store.bulk()?;
        let writer = self.store.writer()?;
        let mut chain = Chain::new(self, &frame, &writer);
        frame.each_part(&mut |done| {
            chain.link(&mut bulk, done)?;
            progress(ImportProgress::Writing(chain.seen(), parts.neurons()));
            Ok(())
        })?;
        let Chain { mut imported, last, tree, .. } = chain;
        imported.sha256.clone_from(&label.sha256);
        imported.wake = Some(tip);
        if dry_run || imported.runs.is_empty() {
            return Ok(imported);
        }
        let merged = self.merge_commit(&writer, &frame, &imported, last, tree)?;
        // Until refs name what is in it.
        let _held = bulk.finish()?;
        writer.publish()?;
        self.move_refs(&mut imported, tip, last, merged, trunk)?;
        imported.notes.extend(self.store.take_notes());
        Ok(imported)
    }

    /// The ids of an import's runs, each later than the one before.
    fn import_runs(&self, tip: CommitId, label: &Label, count: usize) -> Result<Vec<RunId>, CycleError> {
        let human = AgentName::parse(HUMAN).expect("invariant: a literal name");
        let mut newest = self.newest_run(tip)?;
        let mut runs = Vec::with_capacity(count);
        for index in 0..count {
            let run = self.new_run_id(&human, tip, newest.as_ref(), &[b"import", label.sha256.as_bytes()], index)?;
            newest = Some(run.clone());
            runs.push(run);
        }
        Ok(runs)
    }

    /// The merge commit. Left is the base, so that the typed merge of each file is what the runs made of it.
    fn merge_commit(
        &self,
        writer: &ObjectWriter<'_>,
        frame: &Frame<'_>,
        imported: &Imported,
        last: CommitId,
        tree: TreeId,
    ) -> Result<CommitId, CycleError> {
        let human = AgentName::parse(HUMAN).expect("invariant: a literal name");
        Ok(writer.commit(&CommitSpec {
            tree,
            parents: vec![frame.tip, last],
            author: author(&human),
            at: self.shared.world.commit_seconds(),
            subject: format!("merge {HUMAN}: import {}: {}", frame.label.name, totals(imported)),
            body: format!("sha256 {}", frame.label.sha256),
            trailers: self.merge_trailers(Some(&human), &imported.runs, imported.runs.last(), None),
        })?)
    }

    /// Makes the branch, moves wake, removes the branch. Whoever moved wake without our lock gets an ordinary merge.
    fn move_refs(
        &self,
        imported: &mut Imported,
        tip: CommitId,
        last: CommitId,
        merged: CommitId,
        trunk: Option<crate::store::Lock>,
    ) -> Result<(), CycleError> {
        let run = imported.runs.last().expect("invariant: asked for only with runs").clone();
        let branch = branch_of(self.store.wake(), &run)?;
        let quiet = self.marker() == Some(tip);
        let changes = [
            RefChange::create(branch.clone(), last),
            RefChange::advance(self.store.wake().clone(), tip, merged),
            RefChange::delete(branch.clone(), last),
        ];
        let outcome = self.store.update_refs(&changes, "git-brain: import")?;
        drop(trunk);
        let left = match outcome {
            RefOutcome::Done { left } => {
                imported.wake = Some(merged);
                if quiet {
                    // What was imported has not happened: no agent is to look at all of it.
                    self.set_marker(merged)?;
                }
                left
            }
            RefOutcome::Modified { branch: moved, .. } if moved == *self.store.wake() => {
                let name = branch.to_string();
                let candidate =
                    Candidate { name, commit: last, branch: Some(branch), run: Some(run.clone()), reviewed_by: None };
                let report = self.merge(vec![candidate], false)?;
                imported.wake = Some(report.wake);
                imported.held = match report.of_run(&run) {
                    Some(Fate::Conflict(conflicts)) => Some(conflicts.iter().map(|c| format!("{c}; ")).collect()),
                    Some(Fate::Refused(why)) => Some(why.clone()),
                    _ => None,
                };
                report.left
            }
            RefOutcome::Modified { branch, .. } => {
                return Err(CycleError::Busy(format!("another process moved the branch {branch}")));
            }
        };
        imported.notes.extend(left.iter().map(|left| format!("left alone: {left}")));
        self.tidy_up();
        Ok(())
    }
}

fn totals(imported: &Imported) -> String {
    let parts = [(imported.created, "new"), (imported.changed, "changed")];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what} {}", which(&n, "neuron", "neurons")))
        .collect();
    if said.is_empty() { "nothing new".to_owned() } else { said.join(", ") }
}

/// The runs' commits, one on the other.
struct Chain<'a, 'w> {
    cycle: &'a Cycle,
    frame: &'a Frame<'a>,
    writer: &'a ObjectWriter<'w>,
    last: CommitId,
    tree: TreeId,
    /// The last folder of the part before: the next part may go on in it.
    open: Option<(String, BTreeMap<String, File>)>,
    imported: Imported,
}

impl<'a, 'w> Chain<'a, 'w> {
    fn new(cycle: &'a Cycle, frame: &'a Frame<'a>, writer: &'a ObjectWriter<'w>) -> Self {
        let imported = Imported::default();
        Self { cycle, frame, writer, last: frame.tip, tree: frame.tree, open: None, imported }
    }

    /// Neurons that are dealt with.
    fn seen(&self) -> usize {
        self.imported.created + self.imported.changed + self.imported.unchanged
    }

    /// Adds a part's commit. A part that changes nothing gets none.
    fn link(&mut self, bulk: &mut BulkWriter, done: Done) -> Result<(), CycleError> {
        let imported = &mut self.imported;
        imported.created += done.created;
        imported.changed += done.changed;
        imported.unchanged += done.unchanged;
        imported.connections += done.connections;
        if done.created + done.changed == 0 {
            return Ok(());
        }
        bulk.append(&done.packed)?;
        let mut edits = Vec::with_capacity(done.folders.len() + 1);
        for folder in done.folders {
            let mut files = match self.open.take() {
                Some((path, files)) if path == folder.path => files,
                _ => folder.before,
            };
            files.extend(folder.written.into_iter().map(|(name, blob)| (name, File::plain(blob))));
            edits.push(TreeEdit { path: folder.path.clone(), change: Change::PutFolder(bulk.folder(&files)?) });
            self.open = Some((folder.path, files));
        }
        edits.push(TreeEdit { path: layout::run(&done.run), change: Change::Put(File::plain(done.record)) });
        self.tree = self.writer.edit(Some(self.tree), edits)?;
        let run = &done.run;
        let part = Imported { created: done.created, changed: done.changed, ..Imported::default() };
        let mut trailers = vec![
            ("Agent".to_owned(), run.agent().to_string()),
            ("Run".to_owned(), run.to_string()),
            ("Trigger".to_owned(), "import".to_owned()),
        ];
        trailers.extend(self.cycle.shared.clock_trailer());
        self.last = self.writer.commit(&CommitSpec {
            tree: self.tree,
            parents: vec![self.last],
            author: author(&run.agent()),
            at: self.cycle.shared.world.commit_seconds(),
            subject: format!("{HUMAN}: import {}: {}", self.frame.label.name, totals(&part)),
            body: format!("sha256 {}", self.frame.label.sha256),
            trailers,
        })?;
        imported.runs.push(done.run);
        Ok(())
    }
}

impl Frame<'_> {
    /// Packs the parts on all processors and hands them over in order. The first error in that order is the answer.
    fn each_part(&self, take: &mut dyn FnMut(Done) -> Result<(), CycleError>) -> Result<(), CycleError> {
        let count = self.parts.count();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(limits::PARALLEL_RUNS).min(count);
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                let (next, stop) = (&next, &stop);
                scope.spawn(move || self.work(next, stop, &sender));
            }
            drop(sender);
            let ended = in_order(receiver, count, take);
            stop.store(true, Ordering::Relaxed);
            ended
        })
    }

    fn work(&self, next: &AtomicUsize, stop: &AtomicBool, sender: &SyncSender<(usize, Result<Done, CycleError>)>) {
        let mut worker = match Store::open(self.cycle_dir) {
            Ok(mut store) => {
                store.set_secrets(Arc::clone(self.secrets));
                let packer = Packer::new(store.guard());
                Worker { frame: self, store, packer, known: HashMap::new() }
            }
            Err(error) => {
                let _ = sender.send((next.fetch_add(1, Ordering::Relaxed), Err(error.into())));
                return;
            }
        };
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= self.parts.count() {
                return;
            }
            // Whoever takes the parts may have had enough.
            if sender.send((index, worker.pack(index))).is_err() {
                return;
            }
        }
    }
}

/// Takes parts in order, whatever the order in which they come.
fn in_order(
    receiver: Receiver<(usize, Result<Done, CycleError>)>,
    count: usize,
    take: &mut dyn FnMut(Done) -> Result<(), CycleError>,
) -> Result<(), CycleError> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (index, done) in receiver {
        early.insert(index, done);
        while let Some(done) = early.remove(&next) {
            take(done?)?;
            next += 1;
        }
    }
    if next == count { Ok(()) } else { Err(CycleError::Busy("a thread of the import was cut off".to_owned())) }
}

/// One thread's view of the brain.
struct Worker<'a> {
    frame: &'a Frame<'a>,
    store: Store,
    packer: Packer,
    /// Neurons of the brain that connections point to.
    known: HashMap<NeuronId, bool>,
}

impl Worker<'_> {
    fn pack(&mut self, index: usize) -> Result<Done, CycleError> {
        let run = self.frame.runs[index].clone();
        let mut packed = Packed::default();
        let mut folders: Vec<Folder> = Vec::new();
        let (mut effects, mut origin) = (Vec::new(), patch::origin());
        let (mut created, mut changed, mut unchanged, mut connections) = (0, 0, 0, 0);
        for patch in self.frame.parts.part(index)? {
            self.check_targets(&patch)?;
            connections += patch.links.len();
            let id = &patch.wish.id;
            let (path, name) = place_of(id);
            if folders.last().is_none_or(|f| f.path != path) {
                let before = match self.store.folder(self.frame.tree, &path)? {
                    Some(folder) => self.store.plain_files(folder, &path)?,
                    None => BTreeMap::new(),
                };
                folders.push(Folder { path: path.clone(), before, written: Vec::new() });
            }
            let folder = folders.last_mut().expect("invariant: pushed above");
            let before = match folder.before.get(&name) {
                Some(file) => Some(decode_neuron(&self.store.blob(file.blob)?, &format!("{path}/{name}"), id)?),
                None => None,
            };
            let Some(after) = patch.apply(before.as_ref(), &run, self.frame.now) else {
                unchanged += 1;
                continue;
            };
            let bytes = after.encode_as(self.frame.format);
            if bytes.len() > limits::NEURON_BYTES {
                let message = format!("{id} would exceed {} bytes", limits::NEURON_BYTES);
                return Err(self.refused(&patch, message));
            }
            folder.written.push((name, self.packer.blob(&bytes, &mut packed)?));
            *(if before.is_some() { &mut changed } else { &mut created }) += 1;
            origin = patch::told(origin, before.as_ref(), &after, self.frame.origins);
            effects.push(Effect::between(before.as_ref(), &after));
        }
        folders.retain(|folder| !folder.written.is_empty());
        let record = self.record(run.clone(), index, origin, effects)?;
        let record = self.packer.blob(&record, &mut packed)?;
        Ok(Done { run, packed, record, folders, created, changed, unchanged, connections })
    }

    fn record(
        &self,
        run: RunId,
        index: usize,
        origin: Origin,
        mut effects: Vec<Effect>,
    ) -> Result<Vec<u8>, CycleError> {
        effects.sort_by(|a, b| a.neuron.cmp(&b.neuron));
        let label = self.frame.label;
        let part = format!("part {} of {}", index + 1, self.frame.parts.count());
        let record = RunRecord {
            agent: run.agent(),
            run,
            trigger: "import".to_owned(),
            cognition: "import".to_owned(),
            at: self.frame.now,
            depth: 0,
            base: Some(self.frame.tip.to_string()),
            origin,
            stimuli: Vec::new(),
            prediction: None,
            ops: Vec::new(),
            effects,
            notes: vec![format!("{part} of {} (sha256 {})", label.name, label.sha256)],
            reverts: Vec::new(),
            approves: Vec::new(),
        };
        let bytes = record.encode_as(self.frame.format);
        if bytes.len() > limits::DOCUMENT_BYTES {
            let message = format!("the record of {part} has {} bytes, too many", bytes.len());
            return Err(CycleError::refused(message));
        }
        Ok(bytes)
    }

    /// Every connection must point to a neuron that is there or comes along.
    fn check_targets(&mut self, patch: &Patch) -> Result<(), CycleError> {
        for wanted in &patch.links {
            let target = &wanted.target;
            if self.frame.parts.brings(target) {
                continue;
            }
            let there = match self.known.get(target) {
                Some(there) => *there,
                None => {
                    let there = self.store.file(self.frame.tree, &layout::neuron(target))?.is_some();
                    self.known.insert(target.clone(), there);
                    there
                }
            };
            if !there {
                let from = &patch.wish.id;
                let message = format!("{from} {} {target}: there is no neuron {target}", wanted.link);
                return Err(self.refused(patch, message));
            }
        }
        Ok(())
    }

    fn refused(&self, patch: &Patch, message: String) -> CycleError {
        CycleError::refused(format!("{}, line {}, {}: {message}", self.frame.label.file, patch.line, patch.place))
    }
}
