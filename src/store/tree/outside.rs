//! What lies outside the network: people's files, of any name, mode and content. They are merged as git merges what nobody opens:
//! entry by entry, whole.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::difference::Opened;
use super::{Entry, FOLDER, File, Folder, encode, is_inside, join};
use crate::model::layout;
use crate::store::{ObjectWriter, StoreError, TreeId};

/// A path outside the network that two sides changed in two ways: the file that base, left and right have there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The path.
    pub path: String,
    /// The base's, left's and right's file.
    pub sides: [Option<File>; 3],
}

/// A three-way merge of folders under way.
struct Entries<'w, 's> {
    writer: &'w ObjectWriter<'s>,
    opened: [Opened; 3],
    clashes: Vec<Clash>,
}

impl ObjectWriter<'_> {
    /// The network of one tree beside all else of another.
    pub fn network_beside(&self, network: TreeId, others: TreeId) -> Result<TreeId, StoreError> {
        let (mut theirs, mut ours) = (self.store.load(others.0)?, self.store.load(network.0)?);
        let name = layout::NETWORK.as_bytes();
        theirs.remove(name);
        theirs.extend(ours.remove_entry(name));
        self.folder_of(theirs)
    }

    /// Left, and outside the network what right changed since the base. Where left changed the same in another way it stays as left
    /// has it, and is a clash.
    pub fn outside_merged(
        &self,
        base: TreeId,
        left: TreeId,
        right: TreeId,
    ) -> Result<(TreeId, Vec<Clash>), StoreError> {
        let mut merge = Entries { writer: self, opened: Default::default(), clashes: Vec::new() };
        let sides = [base, left, right].map(|tree| Some(Entry { mode: FOLDER, id: tree.0 }));
        let merged = merge.entry(sides, "")?;
        let tree = merged.map_or_else(|| self.folder_of(Folder::new()), |entry| Ok(TreeId(entry.id)))?;
        Ok((tree, merge.clashes))
    }

    fn folder_of(&self, rows: Folder) -> Result<TreeId, StoreError> {
        self.tree(encode(rows.into_iter().map(|(name, entry)| (Cow::Owned(name), entry)).collect()))
    }
}

impl Entries<'_, '_> {
    fn entry(&mut self, sides: [Option<Entry>; 3], path: &str) -> Result<Option<Entry>, StoreError> {
        let [base, left, right] = sides;
        if is_inside(path) || right == base || left == right {
            return Ok(left);
        }
        if left == base && !path.is_empty() {
            return Ok(right);
        }
        if sides.iter().flatten().any(|entry| !entry.is_folder()) {
            let sides = sides.map(|side| side.and_then(|entry| entry.file()));
            self.clashes.push(Clash { path: path.to_owned(), sides });
            return Ok(left);
        }
        let mut folders: [Folder; 3] = Default::default();
        for ((folder, side), opened) in folders.iter_mut().zip(sides).zip(&mut self.opened) {
            let Some(side) = side else { continue };
            *folder = self.writer.store.load(side.id)?;
            opened.add(side.id, || folder.len(), path)?;
        }
        let names: BTreeSet<Vec<u8>> = folders.iter().flat_map(|folder| folder.keys().cloned()).collect();
        let mut merged = Folder::new();
        for name in names {
            let sides = [0, 1, 2].map(|side| folders[side].get(&name).copied());
            let any = sides.iter().flatten().next().expect("invariant: the name is of one of them");
            let path = join(path, &name, any)?;
            merged.extend(self.entry(sides, &path)?.map(|entry| (name, entry)));
        }
        match merged.is_empty() && !path.is_empty() {
            true => Ok(None),
            false => Ok(Some(Entry { mode: FOLDER, id: self.writer.folder_of(merged)?.0 })),
        }
    }
}
