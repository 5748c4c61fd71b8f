//! The files that differ between two trees.
//!
//! A folder has hundreds of entries, of which a run changes one. So two folders are held against each other as bytes, and only the entries
//! between the first and the last that differ are read.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use git2::{ObjectType, Oid};

use super::{Entry, FOLDER, FileChange, Folder, ID, bad_path, bad_tree, disordered_tree, entries, in_order, join};
use crate::limits;
use crate::store::{Store, StoreError, TreeId};

/// The folders that a walk has opened. A few kilobytes of trees that name one another often have more paths than can be counted; a
/// brain's folders, whose files have names of their own, are each there once.
#[derive(Default)]
pub(super) struct Opened {
    folders: HashSet<Oid>,
    /// Entries of folders that were opened again.
    again: usize,
}

impl Opened {
    pub fn add(&mut self, id: Oid, count: impl FnOnce() -> usize, path: &str) -> Result<(), StoreError> {
        if !self.folders.insert(id) {
            self.again += count();
        }
        match self.again > limits::REPEATED_ENTRIES {
            true => Err(repeated(path)),
            false => Ok(()),
        }
    }
}

fn repeated(path: &str) -> StoreError {
    bad_path(path, "the same folders are there again and again, beyond all bounds")
}

/// A comparison under way.
struct Comparison {
    /// The folders opened on either side.
    opened: [Opened; 2],
    changes: Vec<FileChange>,
    /// It ends when there are more changes than that.
    most: usize,
}

impl Comparison {
    fn within(most: usize) -> Self {
        Self { opened: Default::default(), changes: Vec::new(), most }
    }

    /// The changes, by path.
    fn sorted(mut self) -> Vec<FileChange> {
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.changes
    }
}

impl Store {
    /// The files that differ between two trees (`None`: the empty one), under a folder if `prefix` is not empty,
    /// sorted by path.
    pub fn diff(&self, old: Option<TreeId>, new: Option<TreeId>, prefix: &str) -> Result<Vec<FileChange>, StoreError> {
        let all = self.diff_within(old, new, prefix, usize::MAX)?;
        Ok(all.expect("invariant: there are no more files than numbers"))
    }

    /// [`Store::diff`] if at most `most` files differ, else `None`. Costs no more than what it takes to find one too many.
    pub fn diff_within(
        &self,
        old: Option<TreeId>,
        new: Option<TreeId>,
        prefix: &str,
        most: usize,
    ) -> Result<Option<Vec<FileChange>>, StoreError> {
        let at = |root: Option<TreeId>| -> Result<Option<Entry>, StoreError> {
            let Some(root) = root else { return Ok(None) };
            if prefix.is_empty() { Ok(Some(Entry { mode: FOLDER, id: root.0 })) } else { self.entry(root, prefix) }
        };
        let mut comparison = Comparison::within(most);
        self.compare(at(old)?, at(new)?, prefix, &mut comparison)?;
        let changes = comparison.sorted();
        Ok((changes.len() <= most).then_some(changes))
    }

    /// The files that differ between two trees beside one folder of their roots, which is not opened.
    pub fn diff_beside(&self, old: TreeId, new: TreeId, folder: &str) -> Result<Vec<FileChange>, StoreError> {
        let mut roots = [self.load(old.0)?, self.load(new.0)?];
        for root in &mut roots {
            root.remove(folder.as_bytes());
        }
        let mut comparison = Comparison::within(usize::MAX);
        self.compare_entries(roots, "", &mut comparison)?;
        Ok(comparison.sorted())
    }

    /// Refuses trees of which a walk over some places would see the same folders again and again: git's own commands have no bound.
    pub(in crate::store) fn refuse_repeated(&self, root: TreeId, places: &[&str]) -> Result<(), StoreError> {
        let mut seen = HashMap::new();
        for place in places {
            let Some(folder) = self.folder(root, place)? else { continue };
            let all = self.count_entries(folder.0, place, 0, &mut seen)?;
            let once: u64 = seen.values().map(|(own, _)| own).sum();
            if all.saturating_sub(once) > limits::REPEATED_ENTRIES as u64 {
                return Err(repeated(place));
            }
        }
        Ok(())
    }

    /// The entries below a folder, those of a folder that is there twice counted twice. Opens each folder once; `seen` has the entries of
    /// its own, and of all below it.
    fn count_entries(
        &self,
        id: Oid,
        place: &str,
        depth: usize,
        seen: &mut HashMap<Oid, (u64, u64)>,
    ) -> Result<u64, StoreError> {
        if let Some((_, all)) = seen.get(&id) {
            return Ok(*all);
        }
        if depth > limits::TREE_DEPTH {
            return Err(bad_path(place, "it is too deep"));
        }
        let bytes = self.object(id, ObjectType::Tree, "tree")?;
        let (mut own, mut all) = (0, 0_u64);
        for entry in entries(&bytes) {
            let (_, entry) = entry.ok_or_else(|| bad_tree(id))?;
            own += 1;
            if entry.is_folder() {
                all = all.saturating_add(self.count_entries(entry.id, place, depth + 1, seen)?);
            }
        }
        all = all.saturating_add(own);
        seen.insert(id, (own, all));
        Ok(all)
    }

    fn compare(
        &self,
        old: Option<Entry>,
        new: Option<Entry>,
        path: &str,
        comparison: &mut Comparison,
    ) -> Result<(), StoreError> {
        if old == new || comparison.changes.len() > comparison.most {
            return Ok(());
        }
        let (old_file, new_file) = (old.and_then(|e| e.file()), new.and_then(|e| e.file()));
        if old_file.is_some() || new_file.is_some() {
            comparison.changes.push(FileChange { path: path.to_owned(), old: old_file, new: new_file });
        }
        let mut bytes: [Option<Arc<[u8]>>; 2] = [None, None];
        for (side, entry) in [old, new].into_iter().enumerate() {
            let Some(entry) = entry.filter(Entry::is_folder) else { continue };
            let folder = self.object(entry.id, ObjectType::Tree, "tree")?;
            comparison.opened[side].add(entry.id, || entries(&folder).count(), path)?;
            bytes[side] = Some(folder);
        }
        let sides = [old, new].map(|entry| entry.map_or(Oid::ZERO_SHA1, |entry| entry.id));
        let [before, after] = [&bytes[0], &bytes[1]].map(|bytes| bytes.as_deref().unwrap_or_default());
        let (before, after) = differing(before, after);
        // A tree that is out of order ends what brings it, and not what mends it.
        self.compare_entries([entries_of(before, sides[0])?, folder(after, sides[1])?], path, comparison)
    }

    fn compare_entries(
        &self,
        [olds, mut news]: [Folder; 2],
        path: &str,
        comparison: &mut Comparison,
    ) -> Result<(), StoreError> {
        for (name, before) in olds {
            let after = news.remove(&name);
            if after != Some(before) {
                let path = join(path, &name, &after.unwrap_or(before))?;
                self.compare(Some(before), after, &path, comparison)?;
            }
        }
        for (name, after) in news {
            self.compare(None, Some(after), &join(path, &name, &after)?, comparison)?;
        }
        Ok(())
    }
}

/// A folder's entries out of the bytes of a tree, or of a part of it.
///
/// # Errors
/// Entries that do not parse, are not in git's order, or have one name twice: no git writes such a tree, and which entry counts is not said.
pub(super) fn folder(bytes: &[u8], id: Oid) -> Result<Folder, StoreError> {
    let (mut folder, mut last) = (Folder::new(), None);
    for entry in entries(bytes) {
        let (name, entry) = entry.ok_or_else(|| bad_tree(id))?;
        let is_after = last.replace((name, entry)).is_none_or(|last| in_order(last, (name, entry)).is_lt());
        if !is_after || folder.insert(name.to_vec(), entry).is_some() {
            return Err(disordered_tree(id));
        }
    }
    Ok(folder)
}

/// The same in any order; of a name that is there twice the last entry.
fn entries_of(bytes: &[u8], id: Oid) -> Result<Folder, StoreError> {
    entries(bytes).map(|e| e.map(|(n, e)| (n.to_vec(), e)).ok_or_else(|| bad_tree(id))).collect()
}

/// Two trees' bytes without the entries that both begin and end with; all of them where a tree is not in order, so that a name that
/// is there twice is seen twice.
fn differing<'b>(old: &'b [u8], new: &'b [u8]) -> (&'b [u8], &'b [u8]) {
    let begin = common(old.chunks(64).zip(new.chunks(64)), old.iter().zip(new), 64);
    let most = old.len().min(new.len()) - begin;
    let end = common(old.rchunks(64).zip(new.rchunks(64)), old.iter().rev().zip(new.iter().rev()), 64).min(most);
    match (cut(old, begin, end), cut(new, begin, end)) {
        (Some((from, to)), Some((new_from, new_to))) if from == new_from && old.len() - to == new.len() - new_to => {
            (&old[from..to], &new[new_from..new_to])
        }
        _ => (old, new),
    }
}

/// Bytes that two sides have in common, by whole chunks first.
fn common<'b>(
    chunks: impl Iterator<Item = (&'b [u8], &'b [u8])>,
    bytes: impl Iterator<Item = (&'b u8, &'b u8)>,
    size: usize,
) -> usize {
    let whole = chunks.take_while(|(a, b)| a.len() == size && a == b).count() * size;
    whole + bytes.skip(whole).take_while(|(a, b)| a == b).count()
}

/// The last border of entries within the first `begin` bytes of a tree, and the first one within its last `end` bytes; `None` unless
/// names ascend.
fn cut(bytes: &[u8], begin: usize, end: usize) -> Option<(usize, usize)> {
    let (mut from, mut to) = (0, None);
    let (mut at, mut last): (usize, &[u8]) = (0, &[]);
    loop {
        if at <= begin {
            from = at;
        }
        if to.is_none() && at >= from && bytes.len() - at <= end {
            to = Some(at);
        }
        if at == bytes.len() {
            return Some((from, to?));
        }
        // A mode has five or six digits.
        let space = if bytes.get(at + 5) == Some(&b' ') { 5 } else { 6 };
        let name = bytes.get(at + space + 1..)?;
        let name = &name[..memchr(name)?];
        if last.cmp(name) != Ordering::Less {
            return None;
        }
        last = name;
        at += space + 1 + name.len() + 1 + ID;
        if at > bytes.len() {
            return None;
        }
    }
}

/// Where a name ends.
fn memchr(bytes: &[u8]) -> Option<usize> {
    std::ffi::CStr::from_bytes_until_nul(bytes).ok().map(|name| name.count_bytes())
}
