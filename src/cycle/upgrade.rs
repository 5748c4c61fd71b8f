//! A brain's files in the newest format, in one commit of wake. What is recorded stays as it was written.

use super::network::{decode_neuron, metadata_of};
use super::{Cycle, CycleError};
use crate::model::document::FORMAT;
use crate::model::layout::{self, Place};
use crate::model::{Format, Metadata, json};
use crate::store::{CommitId, LockName, Store, TreeEdit, TreeId};

/// What an upgrade did.
#[derive(Clone, Debug)]
pub struct Upgraded {
    /// The format before.
    pub from: u32,
    /// Neurons that are written anew.
    pub rewritten: usize,
    /// Its commit; `None`: nothing was to be done, or it was a rehearsal.
    pub commit: Option<CommitId>,
}

impl Cycle {
    /// Writes wake's neurons in the newest format, and says so in `network/metadata.json`. What they say does not change. Nothing is
    /// written with `dry_run`.
    pub fn upgrade(&self, dry_run: bool) -> Result<Upgraded, CycleError> {
        if dry_run {
            let tree = self.store.tree_of(self.store.need_tip(self.store.wake())?)?;
            let edits = self.anew(tree)?;
            let rewritten = edits.iter().filter(|edit| edit.path != layout::METADATA).count();
            return Ok(Upgraded { from: metadata_of(&self.store, tree)?.format, rewritten, commit: None });
        }
        let _trunk = self.store.lock(LockName::Trunk)?;
        let mut done = Upgraded { from: FORMAT, rewritten: 0, commit: None };
        let subject = format!("upgrade: the network's files in format {FORMAT}");
        done.commit = self.change_wake(&subject, &mut |tree| {
            let edits = self.anew(tree)?;
            done.from = metadata_of(&self.store, tree)?.format;
            done.rewritten = edits.iter().filter(|edit| edit.path != layout::METADATA).count();
            Ok((edits, Vec::new()))
        })?;
        Ok(done)
    }

    /// The files of a tree that are not in the newest format.
    fn anew(&self, tree: TreeId) -> Result<Vec<TreeEdit>, CycleError> {
        let store = &self.store;
        let metadata = metadata_of(store, tree)?;
        let mut edits = Vec::new();
        for (path, file) in store.files(tree, layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let bytes = store.blob(file.blob)?;
            let neuron = decode_neuron(&bytes, &path, &id)?;
            let anew = neuron.encode_as(Format::NEWEST);
            if anew != bytes {
                edits.push(TreeEdit::new(path, Some(anew)));
            }
        }
        if metadata.format < FORMAT {
            let metadata = Metadata { format: FORMAT, ..metadata };
            edits.push(TreeEdit::new(layout::METADATA, Some(json::pretty(&metadata))));
        }
        Ok(edits)
    }
}

/// Refuses a brain that a newer program has written: this one would read it wrongly, or not at all.
pub(super) fn check_known(store: &Store) -> Result<(), CycleError> {
    let Some(wake) = store.tip(store.wake())? else { return Ok(()) };
    let Some(bytes) = store.read(store.tree_of(wake)?, layout::METADATA)? else { return Ok(()) };
    // Of a newer format nothing is known but that number. What is broken otherwise is `check`'s to tell.
    let number =
        serde_json::from_slice::<serde_json::Value>(&bytes).ok().and_then(|value| value.get("format")?.as_u64());
    match number {
        Some(newer) if newer > u64::from(FORMAT) => Err(CycleError::Refused {
            message: format!("this brain is in format {newer}, and this program knows formats up to {FORMAT}"),
            hint: Some("install a newer git-brain; `git brain --version` says which one this is".to_owned()),
        }),
        _ => Ok(()),
    }
}
