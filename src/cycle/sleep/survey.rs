//! One look at every neuron of a tree, by as many threads as there are processors. What no rule concerns is not kept.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::consolidation::{Glance, Neurons, Now};
use crate::cycle::CycleError;
use crate::cycle::network::decode_neuron;
use crate::limits;
use crate::model::Neuron;
use crate::model::ids::{NeuronId, hash64};
use crate::model::layout::{self, Place};
use crate::store::{BlobId, File, Store, TreeId};
use crate::world::progress::Work;

/// The neurons of a tree that rules concern, and who points to whom.
#[derive(Default)]
pub(super) struct Survey {
    /// Neurons that a rule concerns by themselves, with what the look told.
    noticed: Vec<(NeuronId, Glance)>,
    /// Neurons that changed since the evening before, with the salience that they were left with.
    pub changed: Vec<(u16, NeuronId)>,
    /// Those neurons, as many as are kept.
    pub kept: HashMap<BlobId, Arc<Neuron>>,
    /// All of them, for rules that concern neurons for their neighbours: in the order of the files.
    all: Vec<NeuronId>,
    /// (hash of the target's id, index in `all` of the source), one per connection.
    pointing: Vec<(u64, u32)>,
}

impl Survey {
    /// Looks at every neuron of a tree. Those in files of `changed` are kept, at most [`limits::DAY_NEURONS`]: the record asks for them
    /// again.
    pub fn of(store: &Store, tree: TreeId, now: Now<'_>, changed: &HashSet<BlobId>) -> Result<Self, CycleError> {
        let Some(folder) = store.folder(tree, layout::NEURONS)? else { return Ok(Self::default()) };
        let files = store.files(folder, "")?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = files.len().div_ceil(threads).max(1);
        let quarantine = store.quarantine();
        let work = Work::begin("looking at neurons", files.len());
        let (dir, most) = (store.common_dir(), limits::DAY_NEURONS / threads);
        let eye = Eye { dir, quarantine: &quarantine, now, changed, most, work: &work };
        let parts: Vec<Self> = std::thread::scope(|scope| {
            let shares: Vec<_> = files.chunks(share).map(|files| scope.spawn(move || eye.part(files))).collect();
            let joined = shares.into_iter().map(|share| share.join().expect("invariant: reading does not panic"));
            joined.collect::<Result<_, CycleError>>()
        })?;
        let mut survey = Self::default();
        for part in parts {
            let first = survey.all.len() as u32;
            survey.noticed.extend(part.noticed);
            survey.changed.extend(part.changed);
            survey.kept.extend(part.kept);
            survey.all.extend(part.all);
            survey.pointing.extend(part.pointing.into_iter().map(|(target, source)| (target, first + source)));
        }
        Ok(survey)
    }

    fn look(&mut self, neuron: &Neuron, now: Now<'_>) {
        let glance = now.glance(neuron);
        let source = self.all.len() as u32;
        self.all.push(neuron.id.clone());
        self.pointing.extend(neuron.connections.iter().map(|c| (hash64(c.target.as_str().as_bytes()), source)));
        if glance.silent || glance.archived || glance.weak || glance.tainted || now.is_vivid(&glance) {
            self.noticed.push((neuron.id.clone(), glance));
        }
    }

    /// The neurons of which the look told something.
    pub fn noticed(&self, tells: impl Fn(&Glance) -> bool) -> impl Iterator<Item = &NeuronId> {
        self.noticed.iter().filter(move |(_, glance)| tells(glance)).map(|(id, _)| id)
    }

    /// Neurons that have a connection to one of those (and rarely others, whose targets hash alike).
    pub fn pointing_to(&self, targets: &BTreeSet<NeuronId>) -> BTreeSet<NeuronId> {
        if targets.is_empty() {
            return BTreeSet::new();
        }
        let hashes: HashSet<u64> = targets.iter().map(|id| hash64(id.as_str().as_bytes())).collect();
        let sources = self.pointing.iter().filter(|(target, _)| hashes.contains(target));
        sources.map(|(_, source)| self.all[*source as usize].clone()).collect()
    }

    /// Every neuron's id.
    pub fn ids(&self) -> impl Iterator<Item = &NeuronId> {
        self.all.iter()
    }
}

/// What a thread needs to look.
#[derive(Clone, Copy)]
struct Eye<'a> {
    dir: &'a Path,
    /// What a gate judges is not part of its repository yet.
    quarantine: &'a [PathBuf],
    now: Now<'a>,
    changed: &'a HashSet<BlobId>,
    /// Neurons to keep.
    most: usize,
    work: &'a Work,
}

impl Eye<'_> {
    fn part(self, files: &[(String, File)]) -> Result<Survey, CycleError> {
        let store = Store::open(self.dir)?;
        self.quarantine.iter().try_for_each(|objects| store.add_quarantine(objects))?;
        let mut part = Survey::default();
        for (path, file) in files {
            self.work.step();
            let path = format!("{}/{path}", layout::NEURONS);
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let neuron = decode_neuron(&store.content(file.blob)?, &path, &id)?;
            part.look(&neuron, self.now);
            if self.changed.contains(&file.blob) {
                part.changed.push((neuron.salience, id));
                if part.kept.len() < self.most {
                    part.kept.insert(file.blob, Arc::new(neuron));
                }
            }
        }
        Ok(part)
    }
}

/// Reads neurons of a tree that are there.
pub(super) fn read_all(
    store: &Store,
    tree: TreeId,
    ids: impl IntoIterator<Item = NeuronId>,
) -> Result<BTreeMap<NeuronId, Neuron>, CycleError> {
    let mut neurons = BTreeMap::new();
    for id in ids {
        let path = layout::neuron(&id);
        if let Some(bytes) = store.read(tree, &path)? {
            let neuron = decode_neuron(&bytes, &path, &id)?;
            neurons.insert(id, neuron);
        }
    }
    Ok(neurons)
}

/// The same for rules to work on, without another copy of what is known.
pub(super) fn read_shared(
    store: &Store,
    tree: TreeId,
    ids: impl IntoIterator<Item = NeuronId>,
    known: &HashMap<BlobId, Arc<Neuron>>,
) -> Result<Neurons, CycleError> {
    let mut neurons = Neurons::new();
    for id in ids {
        let path = layout::neuron(&id);
        let Some(file) = store.file(tree, &path)? else { continue };
        let neuron = match known.get(&file.blob).filter(|neuron| neuron.id == id) {
            Some(neuron) => Arc::clone(neuron),
            None => Arc::new(decode_neuron(&store.read_file(file, &path)?, &path, &id)?),
        };
        neurons.insert(id, neuron);
    }
    Ok(neurons)
}
