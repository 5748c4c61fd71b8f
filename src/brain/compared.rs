//! Files that are fed, held against what is remembered of them. Place in the flow: a feed reads files → **compared** → what is new is stored, what
//! leaves is archived. Must not write anything.
//!
//! A file that git has committed is one file for all who have the repository. Any other is its owner's: that of another person under the same
//! name is another file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::gone::{Compared, GoneFile, Leaving, may_replace, parted, stays};
use super::inputs::{FedFile, counted};
use super::reading::Reading;
use super::{Brain, BrainError};
use crate::cycle::edited::{FileMemory, NewPiece, Pieces, Successor, Whereabouts, compare};
use crate::cycle::feeders::Feeders;
use crate::cycle::stimulus::FileText;
use crate::model::document::FileKey;
use crate::model::ids::{StimulusId, TextHash, episode_id};
use crate::model::{Origin, Stamp, Stimulus, layout, plural};
use crate::store::TreeId;
use crate::world::{self, Named};

/// Memories by the key of their file.
type Memories = HashMap<FileKey, Vec<FileMemory>>;

impl Brain {
    /// Holds text files against their memories: what is gone, what leaves, and what is new in each file.
    #[allow(clippy::type_complexity, reason = "three lists that come of one comparison")]
    pub(super) fn compared(
        &self,
        reading: &Reading,
        origin: &Origin,
        tree: TreeId,
        fed: &mut Vec<FedFile>,
        notes: &mut Vec<String>,
    ) -> Result<(Vec<GoneFile>, Vec<Leaving>, Vec<Vec<NewPiece>>), BrainError> {
        let mut leaving = Vec::new();
        let before = self.files_below(&reading.scopes, &reading.said_gone)?;
        if reading.files.is_empty() && before.is_empty() {
            return Ok((Vec::new(), leaving, Vec::new()));
        }
        let mut feeders = Feeders::default();
        let others = self.keys_of_others(reading, origin, tree)?;
        let read: HashSet<FileKey> = reading
            .files
            .iter()
            .map(|file| file.key(origin))
            .chain(others.values().flatten().copied())
            .chain(reading.files.iter().filter(|file| is_own(file)).map(|file| file.key_of_all(origin)))
            .collect();
        let mut keys = read.clone();
        keys.extend(before.iter().map(|file| file.key));
        let memories = self.cycle.memories_of(tree, &keys)?;
        let none = Vec::new();
        let mut compared = Vec::new();
        let now = self.cycle.shared.world.now();
        for file in &reading.files {
            let memories = self.memories_here(file, origin, (&memories, &others), &mut feeders)?;
            let trusted = |memory: &FileMemory| may_replace(origin, &memory.origin);
            let may_go = |memory: &FileMemory| memory.now != Whereabouts::Pinned && trusted(memory);
            let hashes: Vec<TextHash> = file.pieces.iter().map(|piece| piece.hash).collect();
            let days: Vec<Option<Stamp>> = match memories.is_empty() {
                true => Vec::new(),
                false => file.pieces.iter().map(|piece| piece.day.filter(|day| *day <= now)).collect(),
            };
            let text = |at: usize| reading.spool.text(file.pieces[at].place);
            let pieces = Pieces { hashes: &hashes, days: &days, text: &text };
            let found = compare(&pieces, &file.label, &memories, may_go)?;
            notes.extend(stays(&file.label, &hashes, &memories, trusted));
            let mut count = counted(&file.label, &found);
            count.others = self.fed_by_others(found.retired.iter().map(|one| &one.memory.stimulus), &mut feeders)?;
            leaving.extend(found.retired.into_iter().map(|retired| {
                let reason = match retired.by {
                    Some(Successor::Memory(id)) => format!("replaced by {}", episode_id(&id)),
                    _ => format!("no longer in {}", file.label),
                };
                Leaving { stimulus: retired.memory.stimulus, reason, is_let_in: false }
            }));
            compared.push(Compared { file, new: found.new, count });
        }
        let mut gone = Vec::new();
        let names: HashSet<&str> = reading.files.iter().map(|file| file.session.as_str()).collect();
        for file in before.iter().filter(|file| !names.contains(file.label.as_str())) {
            let memories: Vec<&FileMemory> =
                memories.get(&file.key).unwrap_or(&none).iter().filter(|m| m.now != Whereabouts::Gone).collect();
            if memories.is_empty() {
                continue;
            }
            if world::named(&file.place) != Named::Nothing {
                let is_told =
                    reading.unread.iter().any(|unread| file.place.starts_with(world::true_path(unread.file.as_ref())));
                let count = plural(memories.len(), "memory of it stays", "memories of it stay");
                notes.extend((!is_told).then(|| match file.is_said {
                    true => format!("{} is there, or may not be looked at: {count}", file.label),
                    false => format!("{} is there and was passed over: {count}", file.label),
                }));
                continue;
            }
            let since = leaving.len();
            let mut parted = parted(file, &memories, origin, &mut compared, &mut leaving, notes, &reading.spool)?;
            if let Some(parted) = &mut parted {
                parted.others =
                    self.fed_by_others(leaving[since..].iter().map(|leaving| &leaving.stimulus), &mut feeders)?;
            }
            gone.extend(parted);
        }
        let mut new_pieces = Vec::new();
        for Compared { new, count, .. } in compared {
            new_pieces.push(new);
            fed.push(count);
        }
        // What a killed feed left.
        let successors: HashMap<&StimulusId, (&StimulusId, bool)> = read
            .iter()
            .flat_map(|key| memories.get(key).unwrap_or(&none))
            .filter(|memory| memory.now != Whereabouts::Gone)
            .flat_map(|memory| {
                let is_let_in = memory.now != Whereabouts::Waits;
                memory.stimulus.supersedes.iter().map(move |old| (old, (&memory.stimulus.id, is_let_in)))
            })
            .collect();
        for leaving in &mut leaving {
            if let Some((by, is_let_in)) = successors.get(&leaving.stimulus.id) {
                leaving.reason = format!("replaced by {}", episode_id(by));
                leaving.is_let_in = *is_let_in;
            }
        }
        Ok((gone, leaving, new_pieces))
    }

    /// Whose file a file is: the person's who feeds it, or nobody's own, where git has committed it, somebody gave it a label, or nobody
    /// else feeds this brain.
    pub(super) fn owner_of(&self, place: &Path, name: &str, has_label: bool) -> Result<String, BrainError> {
        let store = &self.cycle.store;
        if has_label || !FileKey::is_personal(name) && (!self.cycle.has_others()? || self.is_committed(place)?) {
            return Ok(String::new());
        }
        Ok(store.user().1)
    }

    fn is_committed(&self, place: &Path) -> Result<bool, BrainError> {
        let root = self.cycle.store.work_dir().map(|root| world::true_path(&root));
        let below = root.and_then(|root| place.strip_prefix(root).ok()?.to_str().map(str::to_owned));
        Ok(below.map(|path| self.cycle.store.is_committed(&path)).transpose()?.unwrap_or(false))
    }

    /// Of files that are everybody's, what was fed under the same name by people whose own they were then.
    fn keys_of_others(
        &self,
        reading: &Reading,
        origin: &Origin,
        tree: TreeId,
    ) -> Result<HashMap<String, Vec<FileKey>>, BrainError> {
        let is_all = |file: &&FileText| file.owner.is_empty() && !file.has_label;
        let names: HashSet<&str> = reading.files.iter().filter(is_all).map(|file| file.session.as_str()).collect();
        if names.is_empty() || !self.cycle.has_others()? {
            // A brain that has no remote any more has what was this person's own.
            let owner = self.cycle.store.user().1;
            let key = |name: &str| vec![FileKey::of(name, name, origin, &owner)];
            return Ok(names.into_iter().map(|name| (name.to_owned(), key(name))).collect());
        }
        self.cycle.keys_named(tree, &names, origin)
    }

    /// The memories of a file, as far as they are this person's where the file is: what was fed under its name before files had owners is that
    /// of whoever fed it.
    fn memories_here(
        &self,
        file: &FileText,
        origin: &Origin,
        (memories, others): (&Memories, &HashMap<String, Vec<FileKey>>),
        feeders: &mut Feeders,
    ) -> Result<Vec<FileMemory>, BrainError> {
        let of = |key: &FileKey| memories.get(key).into_iter().flatten().cloned();
        let mut found: Vec<FileMemory> = of(&file.key(origin)).collect();
        if is_own(file) {
            let all: Vec<FileMemory> = of(&file.key_of_all(origin)).collect();
            for memory in all.into_iter().filter(|memory| memory.now != Whereabouts::Gone) {
                if self.fed_by_others(std::iter::once(&memory.stimulus), feeders)?.is_empty() {
                    found.push(memory);
                }
            }
        } else if !file.has_label {
            let keys = others.get(&file.session).into_iter().flatten().filter(|key| **key != file.key(origin));
            found.extend(keys.flat_map(of));
        }
        Ok(found)
    }

    /// How many of those stimuli other people fed, by address.
    pub(super) fn fed_by_others<'s>(
        &self,
        stimuli: impl Iterator<Item = &'s Stimulus>,
        feeders: &mut Feeders,
    ) -> Result<BTreeMap<String, usize>, BrainError> {
        let paths: Vec<String> = stimuli.map(|stimulus| layout::stimulus(&stimulus.id, stimulus.at)).collect();
        self.cycle.fed_by_others(paths.iter().map(String::as_str), feeders)
    }
}

/// Whether a file of the work tree is the person's own, and those of others under its name are not.
fn is_own(file: &FileText) -> bool {
    !file.owner.is_empty() && !FileKey::is_personal(&file.label)
}
