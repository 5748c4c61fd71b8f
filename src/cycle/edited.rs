//! A file that is fed again: which of its memories are as before, which changed, which are gone.
//!
//! Nothing is stored of a file but its pieces, and their ids begin with the file's key. So its memories are found by
//! their names, and its text now is held against them: a piece with the same text is known, a similar one, or another at
//! the same place, replaces the old one, and what the file has no more goes. What a killed `feed` left is found again in the
//! same way by the next one. [`compare`] is a function of texts; finding memories reads a tree.
//!
//! A correction that a person fed is a memory of the file as well: it stands for the piece that it corrects, as long as the
//! file still has that piece.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::{Cycle, CycleError};
use crate::limits;

use crate::model::document::FileKey;
use crate::model::ids::{StimulusId, TextHash, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Origin, Stamp, Stimulus};
use crate::store::TreeId;
use crate::text;
use crate::world::WorldError;

/// How alike two texts are whose words overlap so far: one is an edit of the other, wherever it stands.
const SIMILAR: f64 = 0.5;
/// The same for two texts that stand at one place of the file.
const RELATED: f64 = 0.2;
/// Most pairs of texts that are compared; of more, only those that stand near each other.
const PAIRS: usize = 250_000;
/// How far apart those stand at most.
const NEAR: usize = 32;

/// Where the memory of a stimulus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// No memory yet: the stimulus waits.
    Waits,
    /// A memory that recall finds.
    Live,
    /// A memory that a person keeps.
    Pinned,
    /// Archived, forgotten, or taken back.
    Gone,
}

/// A memory of a file: a piece of it, or a correction of one.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMemory {
    /// What was fed.
    pub stimulus: Stimulus,
    /// Where it is now.
    pub now: Whereabouts,
    /// Where the memory comes from, which a person may have approved; of one that waits, where it was fed from.
    pub origin: Origin,
}

/// What a file says now against what is remembered of it. Indices are those of pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Pieces that are to be remembered, in order.
    pub new: Vec<NewPiece>,
    /// How many are remembered as they are.
    pub known: usize,
    /// Memories that the file no longer has.
    pub retired: Vec<Retired>,
}

/// A piece that is to be remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPiece {
    /// Its index.
    pub piece: usize,
    /// What it replaces.
    pub supersedes: Option<StimulusId>,
    /// Whether the file had it before, and it is not remembered any more.
    pub again: bool,
}

/// A memory that the file no longer has.
#[derive(Clone, Debug, PartialEq)]
pub struct Retired {
    /// The memory.
    pub memory: FileMemory,
    /// What replaces it.
    pub by: Option<Successor>,
}

/// What replaces a memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Successor {
    /// A piece that is new.
    Piece(usize),
    /// A memory that is there already.
    Memory(StimulusId),
}

impl Cycle {
    /// Where the memory of a stimulus is; `None`: this tree never had it at that path.
    pub fn whereabouts(&self, tree: TreeId, id: &StimulusId, path: &str) -> Result<Option<Whereabouts>, CycleError> {
        if self.store.file(tree, &layout::queue_entry(id))?.is_some() {
            return Ok(Some(Whereabouts::Waits));
        }
        let episode = episode_id(id);
        let place = layout::neuron(&episode);
        if let Some(file) = self.store.file(tree, &place)? {
            let neuron = self.shared.neurons.read(&self.store, file, &place, &episode)?;
            return Ok(Some(match (neuron.is_archived(), neuron.pinned) {
                (true, _) => Whereabouts::Gone,
                (false, true) => Whereabouts::Pinned,
                (false, false) => Whereabouts::Live,
            }));
        }
        Ok(self.store.file(tree, path)?.map(|_| Whereabouts::Gone))
    }

    /// Where the memory of a stimulus comes from, if there is one.
    fn memory_origin(&self, tree: TreeId, id: &StimulusId) -> Result<Option<Origin>, CycleError> {
        let episode = episode_id(id);
        let place = layout::neuron(&episode);
        let Some(file) = self.store.file(tree, &place)? else { return Ok(None) };
        Ok(Some(self.shared.neurons.read(&self.store, file, &place, &episode)?.origin.clone()))
    }

    /// The files that were ever fed under the names of their places, and those names. Costs a look at the names of all stimuli.
    pub fn files_fed(&self, tree: TreeId) -> Result<BTreeMap<FileKey, String>, CycleError> {
        let mut paths = Vec::new();
        self.store.each_file(tree, layout::STIMULI, &mut |path, file| {
            if let Place::Stimulus(id) = Place::of(path)
                && let Some(key) = FileKey::in_id(&id)
            {
                paths.push((key, path.to_owned(), file));
            }
            Ok(())
        })?;
        let mut found = BTreeMap::new();
        // Those of other people are theirs to say.
        let owner = self.store.user().1;
        let is_key_of = |name: &str, origin: &Origin, key: FileKey| {
            FileKey::of(name, name, origin, &owner) == key
                || !FileKey::is_personal(name) && FileKey::of(name, name, origin, "") == key
        };
        for (key, path, file) in paths {
            if found.contains_key(&key) {
                continue;
            }
            let stimulus = Stimulus::decode(&self.store.read_file(file, &path)?, &path)?;
            if let Some(name) = stimulus.session.filter(|name| is_key_of(name, &stimulus.origin, key)) {
                found.insert(key, name);
            }
        }
        Ok(found)
    }

    /// The keys under which files of those names were ever fed from an origin, whoever's they were. Costs a look at the names of all stimuli, and
    /// at one of each file.
    pub fn keys_named(
        &self,
        tree: TreeId,
        names: &HashSet<&str>,
        origin: &Origin,
    ) -> Result<HashMap<String, Vec<FileKey>>, CycleError> {
        let mut first = HashMap::new();
        self.store.each_file(tree, layout::STIMULI, &mut |path, file| {
            if let Place::Stimulus(id) = Place::of(path)
                && let Some(key) = FileKey::in_id(&id)
            {
                first.entry(key).or_insert_with(|| (path.to_owned(), file));
            }
            Ok(())
        })?;
        let mut found: HashMap<String, Vec<FileKey>> = HashMap::new();
        for (key, (path, file)) in first {
            let stimulus = Stimulus::decode(&self.store.read_file(file, &path)?, &path)?;
            let of = |name: &&String| {
                let label = stimulus.source.as_deref().and_then(|source| source.rsplit_once('#'));
                names.contains(name.as_str()) && label.is_none_or(|(label, _)| label == name.as_str())
            };
            if let Some(name) = stimulus.session.as_ref().filter(of).filter(|_| stimulus.origin == *origin) {
                found.entry(name.clone()).or_default().push(key);
            }
        }
        Ok(found)
    }

    /// All that was ever fed of some files. Costs a look at the names of all stimuli.
    pub fn memories_of(
        &self,
        tree: TreeId,
        files: &HashSet<FileKey>,
    ) -> Result<HashMap<FileKey, Vec<FileMemory>>, CycleError> {
        let mut paths = Vec::new();
        self.store.each_file(tree, layout::STIMULI, &mut |path, file| {
            if let Place::Stimulus(id) = Place::of(path)
                && let Some(key) = FileKey::in_id(&id).filter(|key| files.contains(key))
            {
                paths.push((key, id, path.to_owned(), file));
            }
            Ok(())
        })?;
        let mut found: HashMap<FileKey, Vec<FileMemory>> = HashMap::new();
        for (key, id, path, file) in paths {
            let stimulus = Stimulus::decode(&self.store.read_file(file, &path)?, &path)?;
            let now = self.whereabouts(tree, &id, &path)?.unwrap_or(Whereabouts::Gone);
            let origin = self.memory_origin(tree, &id)?.unwrap_or_else(|| stimulus.origin.clone());
            found.entry(key).or_default().push(FileMemory { stimulus, now, origin });
        }
        Ok(found)
    }
}

/// The pieces of a file, of which only hashes are held.
pub struct Pieces<'p> {
    /// Their hashes.
    pub hashes: &'p [TextHash],
    /// Their days, as far as the file tells them; none if nobody asks.
    pub days: &'p [Option<Stamp>],
    /// Reads one.
    pub text: &'p dyn Fn(usize) -> Result<String, WorldError>,
}

/// Holds the pieces of a file against its memories. `label` is the file's; `may_go` says which memories may be retired. A piece that is told to
/// be of another day than its memory is a change.
///
/// # Errors
/// Those of reading a piece.
pub fn compare(
    pieces: &Pieces<'_>,
    label: &str,
    memories: &[FileMemory],
    may_go: impl Fn(&FileMemory) -> bool,
) -> Result<Comparison, WorldError> {
    let days = pieces.days;
    // A text that stands in a file twice is one memory.
    let mut first: HashMap<TextHash, usize> = HashMap::with_capacity(pieces.hashes.len());
    for (at, piece) in pieces.hashes.iter().enumerate() {
        first.entry(*piece).or_insert(at);
    }
    let mut live: Vec<&FileMemory> = memories.iter().filter(|memory| memory.now != Whereabouts::Gone).collect();
    // As they stood in the file; what was fed later was put before what stood there.
    live.sort_by(|a, b| {
        (a.stimulus.order, b.stimulus.at, &a.stimulus.id).cmp(&(b.stimulus.order, a.stimulus.at, &b.stimulus.id))
    });
    let is_piece = |s: &Stimulus| s.source.as_deref() == Some(Stimulus::label_in(label, &s.text).as_str());
    // Which piece each memory stands for. A piece before a correction, a pinned one before both.
    let mut standing: Vec<Option<usize>> = vec![None; live.len()];
    let mut stood_for: BTreeMap<usize, &StimulusId> = BTreeMap::new();
    let mut retired = Vec::new();
    let mut by_rank: Vec<usize> = (0..live.len()).collect();
    by_rank.sort_by_key(|at| (live[*at].now != Whereabouts::Pinned, !is_piece(&live[*at].stimulus)));
    for at in &by_rank {
        let memory = live[*at];
        let Some(piece) = first.get(&TextHash::of(&memory.stimulus.text)) else { continue };
        if is_redated(&memory.stimulus, days.get(*piece).copied().flatten()) && may_go(memory) {
            continue;
        }
        match stood_for.get(piece) {
            // Fed on two machines, or brought back by hand.
            Some(other) if may_go(memory) => {
                let by = Some(Successor::Memory((*other).clone()));
                retired.push(Retired { memory: memory.clone(), by });
            }
            Some(_) => {}
            None => drop(stood_for.insert(*piece, &memory.stimulus.id)),
        }
        standing[*at] = Some(*piece);
    }
    let lineage = Lineage::of(memories);
    for at in by_rank {
        let memory = live[at];
        if standing[at].is_some() || is_piece(&memory.stimulus) {
            continue;
        }
        let corrected = lineage.corrected(&memory.stimulus, is_piece);
        if let Some(piece) = corrected.iter().find_map(|text| first.get(&TextHash::of(text))) {
            standing[at] = Some(*piece);
            stood_for.entry(*piece).or_insert(&memory.stimulus.id);
        }
    }
    let mut wanted: Vec<usize> = first.into_values().collect();
    wanted.sort_unstable();
    let missing: Vec<usize> = wanted.iter().copied().filter(|piece| !stood_for.contains_key(piece)).collect();
    let mut leaving: Vec<usize> = Vec::new();
    for at in (0..live.len()).filter(|at| standing[*at].is_none() && may_go(live[*at])) {
        match lineage.successor(&live[at].stimulus.id, &live) {
            // What a killed feed left.
            Some(by) => {
                let by = Some(Successor::Memory(by.clone()));
                retired.push(Retired { memory: live[at].clone(), by });
            }
            None => leaving.push(at),
        }
    }
    let texts = Texts { text: pieces.text, live: &live, standing: &standing };
    let pairs = texts.pairs(&missing, &leaving)?;
    let successors: HashMap<usize, usize> = pairs.iter().map(|(piece, at)| (*at, *piece)).collect();
    for at in leaving {
        let by = successors.get(&at).copied().map(Successor::Piece);
        retired.push(Retired { memory: live[at].clone(), by });
    }
    let had: HashSet<TextHash> = memories.iter().map(|memory| TextHash::of(&memory.stimulus.text)).collect();
    let new = missing.into_iter().map(|piece| NewPiece {
        piece,
        supersedes: pairs.get(&piece).map(|at| live[*at].stimulus.id.clone()),
        again: had.contains(&pieces.hashes[piece]),
    });
    Ok(Comparison { new: new.collect(), known: stood_for.len(), retired })
}

/// Holds the memories of a file that is gone against pieces that are new elsewhere: which piece replaces which memory. An equal
/// text first, then an edit of it; nothing where no text is equal. `text` reads a piece by its place in `new`.
///
/// # Errors
/// Those of reading a piece.
pub fn moved(
    new: &[TextHash],
    memories: &[&FileMemory],
    text: &dyn Fn(usize) -> Result<String, WorldError>,
) -> Result<Vec<(usize, usize)>, WorldError> {
    let mut by_text: HashMap<TextHash, Vec<usize>> = HashMap::new();
    for (at, memory) in memories.iter().enumerate().rev() {
        by_text.entry(TextHash::of(&memory.stimulus.text)).or_default().push(at);
    }
    let equal = |(piece, hash)| by_text.get_mut(hash).and_then(Vec::pop).map(|at| (piece, at));
    let mut pairs: Vec<(usize, usize)> = new.iter().enumerate().filter_map(equal).collect();
    if pairs.is_empty() {
        return Ok(pairs);
    }
    let (taken, gone): (HashSet<usize>, HashSet<usize>) = pairs.iter().copied().unzip();
    let rest: Vec<usize> = (0..new.len()).filter(|at| !taken.contains(at)).collect();
    let left: Vec<usize> = (0..memories.len()).filter(|at| !gone.contains(at)).collect();
    let live: Vec<&FileMemory> = left.iter().map(|at| memories[*at]).collect();
    let standing = vec![None; live.len()];
    let texts = Texts { text: &|at| text(rest[at]), live: &live, standing: &standing };
    let all: (Vec<usize>, Vec<usize>) = ((0..rest.len()).collect(), (0..live.len()).collect());
    let mut edits: Vec<(usize, usize)> = texts.pairs(&all.0, &all.1)?.into_iter().collect();
    edits.sort_unstable();
    pairs.extend(edits.into_iter().map(|(n, o)| (rest[n], left[o])));
    Ok(pairs)
}

/// Whether a file told another day of a text before. A memory whose time was given, or is that of its feed, keeps it.
fn is_redated(stimulus: &Stimulus, day: Option<Stamp>) -> bool {
    const DAY: i64 = 86_400;
    let given = |file| Stimulus::id_in(file, Some(stimulus.at), &stimulus.text, None) == stimulus.id;
    let is_dated = stimulus.at.unix().rem_euclid(DAY) == DAY / 2 && !FileKey::in_id(&stimulus.id).is_some_and(given);
    day.is_some_and(|day| is_dated && day != stimulus.at)
}

/// Which stimuli replaced which.
struct Lineage<'m> {
    by_id: HashMap<&'m StimulusId, &'m Stimulus>,
}

impl<'m> Lineage<'m> {
    fn of(memories: &'m [FileMemory]) -> Self {
        Self { by_id: memories.iter().map(|memory| (&memory.stimulus.id, &memory.stimulus)).collect() }
    }

    /// The texts of the pieces that a correction stands for: those that it, or what it corrects, replaced first.
    fn corrected(&self, correction: &'m Stimulus, is_piece: impl Fn(&Stimulus) -> bool) -> Vec<&'m str> {
        let mut texts = Vec::new();
        let mut seen = HashSet::from([&correction.id]);
        let mut next: Vec<&StimulusId> = correction.supersedes.iter().collect();
        while let Some(id) = next.pop() {
            let Some(older) = self.by_id.get(id).filter(|_| seen.insert(id)) else { continue };
            if is_piece(older) {
                texts.push(older.text.as_str());
            } else {
                next.extend(&older.supersedes);
            }
        }
        texts
    }

    /// What is live and says that it replaces a stimulus.
    fn successor(&self, old: &StimulusId, live: &[&'m FileMemory]) -> Option<&'m StimulusId> {
        live.iter().find(|memory| memory.stimulus.supersedes.contains(old)).map(|memory| &memory.stimulus.id)
    }
}

/// The pieces of a file and its live memories, in the order of the file, with the piece that each stands for.
struct Texts<'t> {
    text: &'t dyn Fn(usize) -> Result<String, WorldError>,
    live: &'t [&'t FileMemory],
    standing: &'t [Option<usize>],
}

impl Texts<'_> {
    fn new_words(&self, piece: usize) -> Result<Words, WorldError> {
        Ok(Words::of(&(self.text)(piece)?))
    }

    fn old_words(&self, at: usize) -> Words {
        Words::of(&self.live[at].stimulus.text)
    }

    /// The pairs of which one may be an edit of the other: likeness, and their places in `missing` and `leaving`. Of the words of many texts
    /// only those of neighbours are held.
    fn alike(&self, missing: &[usize], leaving: &[usize]) -> Result<Vec<(f64, usize, usize)>, WorldError> {
        let near = if missing.len().saturating_mul(leaving.len()) <= PAIRS { usize::MAX } else { NEAR };
        let mut alike: Vec<(f64, usize, usize)> = Vec::new();
        let mut note = |likeness: f64, n, o| {
            if likeness >= SIMILAR {
                alike.push((likeness, n, o));
            }
        };
        let new = |n: usize| self.new_words(missing[n]);
        let old = |o: usize| Ok(self.old_words(leaving[o]));
        match missing.len() < leaving.len() {
            true => {
                neighbours(near, (leaving.len(), old), (missing.len(), new), |likeness, o, n| note(likeness, n, o))?
            }
            false => neighbours(near, (missing.len(), new), (leaving.len(), old), note)?,
        }
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        Ok(alike)
    }

    /// Which piece replaces which memory: first those most alike, then those alone at one place.
    fn pairs(&self, missing: &[usize], leaving: &[usize]) -> Result<HashMap<usize, usize>, WorldError> {
        let mut pairs: HashMap<usize, usize> = HashMap::new();
        if missing.is_empty() || leaving.is_empty() {
            return Ok(pairs);
        }
        let mut taken = HashSet::new();
        for (_, n, o) in self.alike(missing, leaving)? {
            if !pairs.contains_key(&missing[n]) && taken.insert(o) {
                pairs.insert(missing[n], leaving[o]);
            }
        }
        let mut places: BTreeMap<Option<usize>, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        let standing: HashSet<usize> = self.standing.iter().copied().flatten().collect();
        for n in (0..missing.len()).filter(|n| !pairs.contains_key(&missing[*n])) {
            let before = (0..missing[n]).rev().find(|piece| standing.contains(piece));
            places.entry(before).or_default().0.push(n);
        }
        for o in (0..leaving.len()).filter(|o| !taken.contains(o)) {
            let before = self.standing[..leaving[o]].iter().rev().find_map(|piece| *piece);
            places.entry(before).or_default().1.push(o);
        }
        for (ns, os) in places.into_values() {
            if let ([n], [o]) = (ns.as_slice(), os.as_slice())
                && self.new_words(missing[*n])?.likeness(&self.old_words(leaving[*o])) >= RELATED
            {
                pairs.insert(missing[*n], leaving[*o]);
            }
        }
        Ok(pairs)
    }
}

/// Tells the likeness of each text of one row with those of another that stand no further than `near` from its place. Holds the words of these.
fn neighbours(
    near: usize,
    (rows, row): (usize, impl Fn(usize) -> Result<Words, WorldError>),
    (others, other): (usize, impl Fn(usize) -> Result<Words, WorldError>),
    mut note: impl FnMut(f64, usize, usize),
) -> Result<(), WorldError> {
    let mut held: VecDeque<(usize, Words)> = VecDeque::new();
    let mut next = 0;
    for at in 0..rows {
        let words = row(at)?;
        while next < others.min(at.saturating_add(near).saturating_add(1)) {
            held.push_back((next, other(next)?));
            next += 1;
        }
        while held.front().is_some_and(|(first, _)| first.saturating_add(near) < at) {
            held.pop_front();
        }
        held.iter().for_each(|(by, theirs)| note(words.likeness(theirs), at, *by));
    }
    Ok(())
}

/// The words of a text, each with how often it stands there.
struct Words {
    counts: HashMap<String, usize>,
    all: usize,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let words = text::words(text);
        let all = words.len().min(limits::COMPARED_WORDS);
        words.into_iter().take(all).for_each(|word| *counts.entry(word.key).or_default() += 1);
        Self { counts, all }
    }

    /// The share of words that two texts have in common, 0..=1 (Dice).
    fn likeness(&self, other: &Self) -> f64 {
        let common: usize =
            self.counts.iter().map(|(word, n)| other.counts.get(word).map_or(0, |other| *n.min(other))).sum();
        match self.all + other.all {
            0 => 0.0,
            sum => 2.0 * common as f64 / sum as f64,
        }
    }
}

#[cfg(test)]
#[path = "edited_tests.rs"]
mod tests;
