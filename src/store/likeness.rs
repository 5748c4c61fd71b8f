//! Which objects of some packs resemble which: where a commit changed a file or folder, the one that stood there before; where it
//! made one, one that it made beside it. What git finds by comparing sizes and names, history simply tells.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use git2::{ObjectType, Oid};

use super::commit::parse;
use super::tree::entries;
use super::{CommitId, Store};
use crate::limits;

/// So many new files are told apart from one: what reads one of them reads the other first.
const SIBLINGS: usize = 32;

/// Ids are hashes: their first bytes tell them apart.
#[derive(Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What is known of objects, by id.
pub(super) type ById<T> = HashMap<Oid, T, BuildHasherDefault<FirstBytes>>;

/// Some objects, and for each which of the others it resembles.
pub(super) struct Likeness<'s> {
    store: &'s Store,
    like: ById<Oid>,
    /// Folders that were walked: one that names itself again and again has more paths than can be counted.
    walked: HashSet<Oid>,
    /// For each kind of file the one that new ones are compared with, and how many were.
    eldest: HashMap<String, (Oid, usize)>,
}

impl<'s> Likeness<'s> {
    /// Walks what commits changed, in this order, as far as it is among these objects. What cannot be read has no likeness.
    pub fn of<T>(store: &'s Store, among: &ById<T>, commits: &[Oid]) -> Self {
        let mut found = Self { store, like: ById::default(), walked: HashSet::new(), eldest: HashMap::new() };
        for id in commits {
            let commit = |id: Oid| parse(CommitId(id), &found.content(id, ObjectType::Commit)?);
            let Some(new) = commit(*id) else { continue };
            let old = new.parents.first().and_then(|parent| commit(parent.0));
            found.folders(among, old.map(|old| old.tree.0), new.tree.0, "", 0);
        }
        found
    }

    /// What an object resembles.
    pub fn like(&self, id: Oid) -> Option<Oid> {
        self.like.get(&id).copied()
    }

    /// The content of an object, if it is of that kind and not too large. Nothing of it is remembered.
    pub fn content(&self, id: Oid, kind: ObjectType) -> Option<Vec<u8>> {
        let read = self.store.with_objects(|repository| {
            let odb = repository.odb()?;
            let (size, found) = odb.read_header(id)?;
            let fits = found == kind && size <= limits::DOCUMENT_BYTES;
            fits.then(|| odb.read(id).map(|object| object.data().to_vec())).transpose()
        });
        read.ok().flatten()
    }

    fn folders<T>(&mut self, among: &ById<T>, old: Option<Oid>, new: Oid, path: &str, depth: usize) {
        if !among.contains_key(&new) || old == Some(new) || depth > limits::TREE_DEPTH || !self.walked.insert(new) {
            return;
        }
        self.resembles(new, old.filter(|old| among.contains_key(old)));
        let Some(after) = self.content(new, ObjectType::Tree) else { return };
        let before = old.and_then(|old| self.content(old, ObjectType::Tree)).unwrap_or_default();
        // Both are in one order, so that what has the same name is met at once; what is not costs one likeness.
        let mut olds = entries(&before).flatten().peekable();
        for (name, entry) in entries(&after).flatten() {
            while olds.next_if(|(passed, _)| *passed < name).is_some() {}
            let old = olds.next_if(|(there, _)| *there == name).map(|(_, old)| old);
            let old = old.filter(|old| old.is_folder() == entry.is_folder()).map(|old| old.id);
            if entry.is_folder() {
                // Files of one kind lie in folders of one name below the first two.
                let path = if depth < 2 { &format!("{path}/{}", String::from_utf8_lossy(name)) } else { path };
                self.folders(among, old, entry.id, path, depth + 1);
            } else if old != Some(entry.id) && among.contains_key(&entry.id) && !self.like.contains_key(&entry.id) {
                match old {
                    Some(_) => self.resembles(entry.id, old.filter(|old| among.contains_key(old))),
                    None => self.sibling(entry.id, path, name),
                }
            }
        }
    }

    fn resembles(&mut self, new: Oid, old: Option<Oid>) {
        self.like.extend(old.filter(|old| *old != new).map(|old| (new, old)));
    }

    /// A new file resembles others that are new, if they are in one place and, where their names begin with a letter for their kind, of one kind.
    fn sibling(&mut self, new: Oid, path: &str, name: &[u8]) {
        let kind = if name.get(1) == Some(&b'-') { name[0] as char } else { ' ' };
        let (eldest, count) = self.eldest.entry(format!("{path}{kind}")).or_insert((new, 0));
        if *count >= SIBLINGS {
            (*eldest, *count) = (new, 0);
        }
        *count += 1;
        let eldest = *eldest;
        self.resembles(new, Some(eldest));
    }
}
