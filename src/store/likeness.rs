//! Which objects of some packs resemble which: where a commit changed a file or folder, the one that stood there before; where it
//! made one, one that it made beside it. What git finds by comparing sizes and names, history simply tells.

use std::collections::HashMap;

use super::CommitId;
use super::commit::{Commit, parse};
use super::pack::{COMMIT, TREE};
use super::packed::{NONE, Packed};
use super::tree::entries;
use crate::limits;

/// So many new files are told apart from one: what reads one of them reads the other first.
const SIBLINGS: usize = 32;

/// Some objects, and for each which of the others it resembles.
pub(super) struct Likeness {
    /// By number, or [`NONE`].
    like: Vec<u32>,
    /// Folders that were walked: one that names itself again and again has more paths than can be counted.
    walked: Vec<bool>,
    /// For each kind of file the one that new ones are compared with, and how many were.
    eldest: HashMap<String, (u32, usize)>,
}

impl Likeness {
    /// None resembles another.
    pub fn none() -> Self {
        Self { like: Vec::new(), walked: Vec::new(), eldest: HashMap::new() }
    }

    /// Walks what commits changed, in this order, as far as it is among these objects. What cannot be read has no likeness.
    pub fn of(packed: &mut Packed, commits: &[u32]) -> Self {
        let (like, walked) = (vec![NONE; packed.len()], vec![false; packed.len()]);
        let mut found = Self { like, walked, eldest: HashMap::new() };
        for number in commits {
            let Some(new) = commit(packed, *number) else { continue };
            let parent = new.parents.first().and_then(|parent| packed.number(parent.0));
            let old = parent.and_then(|parent| commit(packed, parent)).and_then(|old| packed.number(old.tree.0));
            if let Some(new) = packed.number(new.tree.0) {
                found.folders(packed, old, new, "", 0);
            }
        }
        found
    }

    /// What an object resembles.
    pub fn like(&self, number: u32) -> Option<u32> {
        self.like.get(number as usize).copied().filter(|like| *like != NONE)
    }

    fn folders(&mut self, packed: &mut Packed, old: Option<u32>, new: u32, path: &str, depth: usize) {
        if old == Some(new) || depth > limits::TREE_DEPTH || std::mem::replace(&mut self.walked[new as usize], true) {
            return;
        }
        self.resembles(new, old);
        let mut folder = |number: u32| packed.content(number).filter(|(kind, _)| *kind == TREE).map(|(_, bytes)| bytes);
        let Some(after) = folder(new) else { return };
        let before = old.and_then(folder).unwrap_or_default();
        // Both are in one order, so that what has the same name is met at once; what is not costs one likeness.
        let mut olds = entries(&before).flatten().peekable();
        for (name, entry) in entries(&after).flatten() {
            while olds.next_if(|(passed, _)| *passed < name).is_some() {}
            let old = olds.next_if(|(there, _)| *there == name).map(|(_, old)| old);
            let old = old.filter(|old| old.is_folder() == entry.is_folder()).map(|old| old.id);
            if old == Some(entry.id) {
                continue;
            }
            let Some(new) = packed.number(entry.id) else { continue };
            let there = old.and_then(|old| packed.number(old));
            if entry.is_folder() {
                // Files of one kind lie in folders of one name below the first two.
                let path = if depth < 2 { &format!("{path}/{}", String::from_utf8_lossy(name)) } else { path };
                self.folders(packed, there, new, path, depth + 1);
            } else if self.like(new).is_none() {
                match old {
                    Some(_) => self.resembles(new, there),
                    None => self.sibling(new, path, name),
                }
            }
        }
    }

    fn resembles(&mut self, new: u32, old: Option<u32>) {
        if let Some(old) = old.filter(|old| *old != new) {
            self.like[new as usize] = old;
        }
    }

    /// A new file resembles others that are new, if they are in one place and, where their names begin with a letter for their kind, of one kind.
    fn sibling(&mut self, new: u32, path: &str, name: &[u8]) {
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

fn commit(packed: &mut Packed, number: u32) -> Option<Commit> {
    let (kind, content) = packed.content(number)?;
    (kind == COMMIT).then(|| parse(CommitId(packed.entry(number).id), &content)).flatten()
}
