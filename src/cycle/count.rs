//! The number of files of each kind that the network has.
//!
//! Followed from the counts that were kept last by the files that differ, so that asking costs what happened since.

use std::collections::BTreeMap;

use crate::model::layout::{self, Place};
use crate::store::{Store, StoreError, TreeId};

/// Where the last counts are kept, in the cache.
const KEPT: &str = "counts.json";

/// The files of a tree's network, counted by [`word`].
pub fn counts(store: &Store, tree: TreeId) -> Result<BTreeMap<String, usize>, StoreError> {
    let Some(network) = store.folder(tree, layout::NETWORK)? else { return Ok(BTreeMap::new()) };
    let kept: Option<(String, BTreeMap<String, usize>)> = store.cached_document(KEPT);
    let kept = kept.and_then(|(of, counts)| Some((TreeId::parse(&of).ok()?, counts)));
    if let Some((_, counts)) = kept.as_ref().filter(|(of, _)| *of == network) {
        return Ok(counts.clone());
    }
    // A tree that is not there any more is no place to start from.
    let followed = kept.and_then(|(of, counts)| follow(store, of, counts, network));
    let counts = match followed {
        Some(counts) => counts,
        None => {
            let mut counts = BTreeMap::new();
            store.each_file(tree, layout::NETWORK, &mut |path, _| {
                *counts.entry(word(path).to_owned()).or_default() += 1;
                Ok(())
            })?;
            counts
        }
    };
    store.keep_document(KEPT, &(network.to_string(), &counts));
    Ok(counts)
}

fn follow(
    store: &Store,
    of: TreeId,
    mut counts: BTreeMap<String, usize>,
    now: TreeId,
) -> Option<BTreeMap<String, usize>> {
    for change in store.diff(Some(of), Some(now), "").ok()? {
        let count = counts.entry(word(&format!("{}/{}", layout::NETWORK, change.path)).to_owned()).or_default();
        match (change.old, change.new) {
            (None, Some(_)) => *count = count.checked_add(1)?,
            // Fewer than none: what was kept is not the truth.
            (Some(_), None) => *count = count.checked_sub(1)?,
            _ => {}
        }
    }
    Some(counts)
}

/// A path's kind in a word, for counting.
pub fn word(path: &str) -> &'static str {
    Place::of(path).plural()
}
