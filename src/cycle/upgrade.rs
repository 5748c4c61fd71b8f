//! A brain's files in the newest format, in one commit of wake. Records, stimuli and signals stay as they were written.

use serde::Serialize;

use super::network::{decode_neuron, metadata_of};
use super::{Cycle, CycleError};
use crate::model::document::FORMAT;
use crate::model::layout::{self, Place};
use crate::model::{Metadata, json};
use crate::store::{LockName, Store, TreeEdit, TreeId};

/// The result of an upgrade.
#[derive(Clone, Debug, Serialize)]
pub struct UpgradeReport {
    /// The format before.
    pub from: u32,
    /// The newest format.
    pub to: u32,
    /// The number of neurons written anew.
    pub rewritten: usize,
    /// Its commit on wake; null where everything was in the newest format already, and with `--dry-run`.
    pub commit: Option<String>,
}

impl Cycle {
    /// Writes wake's neurons in the newest format, and the number of that into `network/metadata.json`. No value changes. With
    /// `dry_run` it only counts.
    pub fn upgrade(&self, dry_run: bool) -> Result<UpgradeReport, CycleError> {
        let mut report = UpgradeReport { from: FORMAT, to: FORMAT, rewritten: 0, commit: None };
        if dry_run {
            let tip = self.store.need_tip(self.store.wake())?;
            self.anew(self.store.tree_of(tip)?, &mut report)?;
            return Ok(report);
        }
        let _trunk = self.store.lock(LockName::Trunk)?;
        let subject = format!("upgrade: the network's files in format {FORMAT}");
        let commit =
            self.change_wake(&subject, &mut |tree| self.anew(tree, &mut report).map(|edits| (edits, Vec::new())))?;
        report.commit = commit.map(|commit| commit.to_string());
        Ok(report)
    }

    /// The files of a tree that are not in the newest format, written in it.
    fn anew(&self, tree: TreeId, report: &mut UpgradeReport) -> Result<Vec<TreeEdit>, CycleError> {
        let store = &self.store;
        let mut edits = Vec::new();
        for (path, file) in store.files(tree, layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let bytes = store.blob(file.blob)?;
            let anew = decode_neuron(&bytes, &path, &id)?.encode();
            if anew != bytes {
                edits.push(TreeEdit::new(path, Some(anew)));
            }
        }
        let metadata = metadata_of(store, tree)?;
        (report.from, report.rewritten) = (metadata.format, edits.len());
        if metadata.format < FORMAT {
            let metadata = Metadata { format: FORMAT, ..metadata };
            edits.push(TreeEdit::new(layout::METADATA, Some(json::pretty(&metadata))));
        }
        Ok(edits)
    }
}

/// Refuses a brain that a newer program has written: this one would read it wrongly, or not at all.
pub fn check_known(store: &Store) -> Result<(), CycleError> {
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
