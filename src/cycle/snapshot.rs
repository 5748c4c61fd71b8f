//! The snapshot of a tree: the kept one, or one that follows the tree from the nearest kept one, or one made of all neurons.

use super::network::decode_neuron;
use super::{Cycle, CycleError, count};
use crate::activation::{Collector, Snapshot};
use crate::limits;
use crate::model::Neuron;
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::store::{BlobId, LockName, Store, TreeId, cache_key};
use crate::world::progress::Work;

/// The snapshot of the network in a tree. What had to be made is kept for the next command, if that is possible.
///
/// # Errors
/// The tree, or a file's content, is not there.
pub fn snapshot(store: &Store, tree: TreeId) -> Result<Snapshot, CycleError> {
    let Some(neurons) = store.folder(tree, layout::NEURONS)? else { return Ok(Snapshot::of([])) };
    if let Some(kept) = store.cached(neurons) {
        return Ok(kept);
    }
    if let Some(followed) = follow(store, neurons)? {
        store.keep_cached(&followed);
        return Ok(followed);
    }
    // One process makes it, others wait for it. Without a lock (a read-only folder) each makes its own.
    let lock = store.lock(LockName::Snapshot);
    if let Some(kept) = store.cached(neurons) {
        return Ok(kept);
    }
    let built = build(store, neurons)?;
    if lock.is_ok() {
        store.keep_cached(&built);
    }
    Ok(built)
}

/// The snapshot of a tree where it is kept, follows from a kept one, or is of so few neurons that it is soon made; else `None`.
///
/// # Errors
/// The tree, or a file's content, is not there.
pub fn snapshot_at_hand(store: &Store, tree: TreeId) -> Result<Option<Snapshot>, CycleError> {
    let Some(neurons) = store.folder(tree, layout::NEURONS)? else { return Ok(Some(Snapshot::of([]))) };
    if let Some(kept) = store.cached(neurons) {
        return Ok(Some(kept));
    }
    match followed(store, neurons, limits::FOLLOWED_NEURONS)? {
        None if count::counts(store, tree)?.get("neurons").is_some_and(|all| *all <= limits::FOLLOWED_NEURONS) => {
            snapshot(store, tree).map(Some)
        }
        followed => Ok(followed),
    }
}

impl Cycle {
    /// What a command that changed the brain leaves in order: few packs, and the snapshot of wake, where so much differs from the newest
    /// kept one that the next question would have to wait for it. What fails is only noted: the question makes it.
    pub(super) fn tidy_up(&self) {
        if self.store.is_rehearsal() {
            return;
        }
        self.store.maintain();
        if let Err(error) = self.keep_up() {
            tracing::info!("the next question makes its snapshot: {error}");
        }
    }

    fn keep_up(&self) -> Result<(), CycleError> {
        let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
        let Some(neurons) = self.store.folder(tree, layout::NEURONS)? else { return Ok(()) };
        let newest = self.store.cached_trees().into_iter().next();
        // A tree that is not there any more says nothing.
        if !matches!(self.store.diff_within(newest, Some(neurons), "", limits::UNFOLLOWED_NEURONS), Ok(Some(_))) {
            snapshot(&self.store, tree)?;
            count::counts(&self.store, tree)?;
        }
        Ok(())
    }
}

/// The key of a snapshot that is kept nowhere.
pub const KEPT_NOWHERE: [u8; 20] = [0; 20];

/// The snapshot of a tree that is asked once, such as that of a run that waits: it follows the nearest kept one also by many files, and is
/// not kept.
pub fn snapshot_beside(store: &Store, tree: TreeId) -> Result<Snapshot, CycleError> {
    let Some(neurons) = store.folder(tree, layout::NEURONS)? else { return Ok(Snapshot::of([])) };
    if let Some(kept) = store.cached(neurons) {
        return Ok(kept);
    }
    match followed(store, neurons, limits::BESIDE_NEURONS)? {
        Some(followed) => Ok(followed),
        None => snapshot(store, tree),
    }
}

/// From the nearest kept snapshot by the files that differ, if they are few.
fn follow(store: &Store, neurons: TreeId) -> Result<Option<Snapshot>, CycleError> {
    let advanced = followed(store, neurons, limits::FOLLOWED_NEURONS)?;
    Ok(advanced.map(|advanced| if advanced.is_heavy() { advanced.compacted() } else { advanced }))
}

/// The same, of so many files and one share of all neurons.
fn followed(store: &Store, neurons: TreeId, most: usize) -> Result<Option<Snapshot>, CycleError> {
    for tree in store.cached_trees().into_iter().take(limits::SNAPSHOTS) {
        let Some(nearest) = store.cached(tree) else { continue };
        let most = most + nearest.graph().len() / limits::OVERLAY_SHARE;
        // A tree that is not there any more is no place to start from.
        let Ok(Some(changes)) = store.diff_within(Some(tree), Some(neurons), "", most) else { continue };
        let mut changed: Vec<(NeuronId, Option<Neuron>)> = Vec::new();
        for change in changes {
            let path = format!("{}/{}", layout::NEURONS, change.path);
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let neuron = change.new.map(|file| neuron_in(store, &path, &id, file.blob)).transpose()?.flatten();
            changed.push((id, neuron));
        }
        return Ok(Some(nearest.advanced(&changed, cache_key(neurons))));
    }
    Ok(None)
}

/// From all neurons, by as many threads as there are processors.
fn build(store: &Store, neurons: TreeId) -> Result<Snapshot, CycleError> {
    let files = store.files(neurons, "")?;
    let work = Work::begin("reading neurons", files.len());
    let work = &work;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    let folder = store.common_dir();
    let collectors: Vec<Collector> = std::thread::scope(|scope| {
        let shares = files.chunks(share).map(|files| {
            scope.spawn(move || {
                let store = Store::open(folder)?;
                let mut collector = Collector::default();
                for (path, file) in files {
                    work.step();
                    let path = format!("{}/{path}", layout::NEURONS);
                    if let Place::Neuron(id) = Place::of(&path)
                        && let Some(neuron) = neuron_in(&store, &path, &id, file.blob)?
                    {
                        collector.add(&neuron);
                    }
                }
                Ok(collector)
            })
        });
        let shares: Vec<_> = shares.collect();
        let joined = shares.into_iter().map(|share| share.join().expect("invariant: reading does not panic"));
        joined.collect::<Result<_, CycleError>>()
    })?;
    drop(files);
    Ok(Snapshot::build(collectors, cache_key(neurons)))
}

/// A neuron of the network. One that cannot be read is not found by anybody, and hides no other; `check` names it.
/// The neuron of a file; `None`: it cannot be read as one.
///
/// # Errors
/// The file's content is not there.
pub fn neuron_in(store: &Store, path: &str, id: &NeuronId, blob: BlobId) -> Result<Option<Neuron>, CycleError> {
    match decode_neuron(&store.blob(blob)?, path, id) {
        Err(error) if error.is_of_a_file() => Ok(None),
        read => read.map(Some),
    }
}
