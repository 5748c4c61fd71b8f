//! The ledger as a tree has it: the newest entries first, at a cost that does not grow with the ledger.

use super::CycleError;
use crate::delta::LedgerEntry;
use crate::limits;
use crate::model::layout::{self, Place};
use crate::store::{File, Store, TreeId};

/// The newest entries of the ledger, newest first: at most so many, and at most [`limits::LEDGER_BYTES`] of them.
///
/// # Errors
/// An entry that cannot be read.
pub fn newest(store: &Store, tree: TreeId, most: usize) -> Result<Vec<LedgerEntry>, CycleError> {
    let (mut entries, mut bytes) = (Vec::new(), 0);
    each_from_newest(store, tree, &mut |size, entry| {
        bytes += size;
        if entries.len() == most || bytes > limits::LEDGER_BYTES {
            return false;
        }
        entries.push(entry);
        true
    })?;
    Ok(entries)
}

/// Shows entries, newest first, with their sizes in bytes, as long as `see` wants more. Folders are dated, so that only the days that
/// are shown are looked into.
///
/// # Errors
/// An entry that cannot be read.
pub fn each_from_newest(
    store: &Store,
    tree: TreeId,
    see: &mut dyn FnMut(usize, LedgerEntry) -> bool,
) -> Result<(), CycleError> {
    let Some(root) = store.folder(tree, layout::LEDGER)? else { return Ok(()) };
    let below = |path: &str| -> Result<Vec<String>, CycleError> {
        let names = store.folder_names(root, path)?.into_iter().rev();
        Ok(names.map(|name| if path.is_empty() { name } else { format!("{path}/{name}") }).collect())
    };
    for year in below("")? {
        for month in below(&year)? {
            for day in below(&month)? {
                if !each_of_day(store, store.files(root, &day)?, see)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Shows the entries of one day, newest first; false if no more are wanted.
fn each_of_day(
    store: &Store,
    files: Vec<(String, File)>,
    see: &mut dyn FnMut(usize, LedgerEntry) -> bool,
) -> Result<bool, CycleError> {
    let named = files.into_iter().filter_map(|(path, file)| {
        let path = format!("{}/{path}", layout::LEDGER);
        match Place::of(&path) {
            Place::Ledger(run) => Some((run, path, file)),
            _ => None,
        }
    });
    let mut entries: Vec<_> = named.collect();
    entries.sort_by(|a, b| b.0.cmp(&a.0));
    for (_, path, file) in entries {
        let bytes = store.read_file(file, &path)?;
        if !see(bytes.len(), LedgerEntry::decode(&bytes, &path)?) {
            return Ok(false);
        }
    }
    Ok(true)
}
