//! The ledger as a tree has it: the newest entries first, at a cost that does not grow with the ledger; and the runs that are taken back.

use std::collections::{BTreeMap, BTreeSet};

use super::CycleError;
use super::error::left_alone;
use crate::delta::{LedgerEntry, Prediction, RunRecord, UNSTATED, reverted_among};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::layout::{self, Place};
use crate::review::Verdict;
use crate::store::{File, Store, TreeId};

/// The newest judgements of the ledger, newest first: at most so many, and at most [`limits::LEDGER_BYTES`] of them. Without those that a
/// person took back, and without texts that nobody has judged.
///
/// # Errors
/// A folder that cannot be read; an entry that cannot is left alone.
pub fn newest(store: &Store, tree: TreeId, most: usize) -> Result<Vec<LedgerEntry>, CycleError> {
    let (mut entries, mut bytes) = (Vec::new(), 0);
    each_from_newest(store, tree, &mut |size, entry| {
        bytes += size;
        if entries.len() == most || bytes > limits::LEDGER_BYTES {
            return false;
        }
        entries.extend(Some(entry).filter(|entry| entry.method.is_value()));
        true
    })?;
    let back = taken_back(store, tree, entries.last().map(|entry| &entry.run))?;
    entries.retain(|entry| !back.contains(&entry.run));
    Ok(entries)
}

/// The files of a day that are of runs, newest first.
pub(super) fn newest_of_day(
    files: Vec<(String, File)>,
    run_of: impl Fn(Place) -> Option<RunId>,
) -> Vec<(RunId, String, File)> {
    let named = files.into_iter().filter_map(|(path, file)| Some((run_of(Place::of(&path))?, path, file)));
    let mut day: Vec<_> = named.collect();
    day.sort_by(|a, b| b.0.cmp(&a.0));
    day
}

/// The files of the newest entries, newest first, at most so many; none is read.
///
/// # Errors
/// A folder that cannot be read.
pub fn newest_files(store: &Store, tree: TreeId, most: usize) -> Result<Vec<(RunId, String, File)>, CycleError> {
    let mut found = Vec::new();
    each_day(store, tree, layout::LEDGER, &mut |files| {
        let day = newest_of_day(files, |place| match place {
            Place::Ledger(run) => Some(run),
            _ => None,
        });
        found.extend(day);
        Ok(found.len() < most)
    })?;
    found.truncate(most);
    Ok(found)
}

/// The runs that people took back since a run; none if there is no such run.
///
/// # Errors
/// A folder that cannot be read; a record that cannot is left alone.
pub fn taken_back(store: &Store, tree: TreeId, since: Option<&RunId>) -> Result<BTreeSet<RunId>, CycleError> {
    Ok(settled(store, tree, since)?.back)
}

/// Runs about which people said something later.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Those that were taken back.
    pub back: BTreeSet<RunId>,
    /// Those of origins that are not trusted which were approved.
    pub approved: BTreeSet<RunId>,
}

/// The runs about which people said something since a run; none if there is no such run. What was taken back itself says nothing.
///
/// # Errors
/// A folder that cannot be read; a record that cannot is left alone.
pub fn settled(store: &Store, tree: TreeId, since: Option<&RunId>) -> Result<Settled, CycleError> {
    let Some(since) = since else { return Ok(Settled::default()) };
    let mut records = Vec::new();
    each_day(store, tree, layout::RUNS, &mut |files| {
        let mut runs: Vec<_> = files
            .into_iter()
            .filter_map(|(path, file)| match Place::of(&path) {
                Place::Run(run) => Some((run, path, file)),
                _ => None,
            })
            .collect();
        let goes_on = runs.iter().all(|(run, ..)| run > since);
        runs.retain(|(run, ..)| run > since && run.is_a_persons());
        runs.sort_by(|a, b| b.0.cmp(&a.0));
        for (_, path, file) in runs {
            let bytes = store.read_file(file, &path)?;
            if RunRecord::may_settle(&bytes) {
                records.extend(left_alone(store, RunRecord::decode(&bytes, &path))?);
            }
        }
        Ok(goes_on)
    })?;
    let back: BTreeSet<RunId> = reverted_among(&records).into_keys().collect();
    let standing = records.into_iter().filter(|record| !back.contains(&record.run));
    Ok(Settled { approved: standing.flat_map(|record| record.approves).collect(), back })
}

/// Shows entries, newest first, with their sizes in bytes, as long as `see` wants more. Folders are dated, so that only the days that
/// are shown are looked into.
///
/// # Errors
/// A folder that cannot be read; an entry that cannot is left alone.
pub fn each_from_newest(
    store: &Store,
    tree: TreeId,
    see: &mut dyn FnMut(usize, LedgerEntry) -> bool,
) -> Result<(), CycleError> {
    each_day(store, tree, layout::LEDGER, &mut |files| each_of_day(store, tree, files, see))
}

/// Shows the files of each day of a dated folder, newest day first, as long as `see` wants more.
pub(super) fn each_day(
    store: &Store,
    tree: TreeId,
    folder: &str,
    see: &mut dyn FnMut(Vec<(String, File)>) -> Result<bool, CycleError>,
) -> Result<(), CycleError> {
    let Some(root) = store.folder(tree, folder)? else { return Ok(()) };
    let below = |path: &str| -> Result<Vec<String>, CycleError> {
        let names = store.folder_names(root, path)?.into_iter().rev();
        Ok(names.map(|name| if path.is_empty() { name } else { format!("{path}/{name}") }).collect())
    };
    for year in below("")? {
        for month in below(&year)? {
            for day in below(&month)? {
                let files = store.files(root, &day)?.into_iter();
                if !see(files.map(|(path, file)| (format!("{folder}/{path}"), file)).collect())? {
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
    tree: TreeId,
    files: Vec<(String, File)>,
    see: &mut dyn FnMut(usize, LedgerEntry) -> bool,
) -> Result<bool, CycleError> {
    let named = files.into_iter().filter_map(|(path, file)| match Place::of(&path) {
        Place::Ledger(run) => Some((run, path, file)),
        _ => None,
    });
    let mut entries: Vec<_> = named.collect();
    entries.sort_by(|a, b| b.0.cmp(&a.0));
    for (_, path, file) in entries {
        let bytes = store.read_file(file, &path)?;
        let Some(entry) = left_alone(store, LedgerEntry::decode(&bytes, &path))? else { continue };
        if !see(bytes.len(), as_told(store, tree, entry)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An entry as it is told: of a run that a decision threw away or amended since, without words of its prediction. An approval that gave way to that
/// decision had taught them.
pub(super) fn as_told(store: &Store, tree: TreeId, mut entry: LedgerEntry) -> Result<LedgerEntry, CycleError> {
    if entry.prediction.text.is_none() && entry.chosen.is_none() {
        return Ok(entry);
    }
    let path = layout::run(&entry.judged);
    let Some(bytes) = store.read(tree, &path)?.filter(|bytes| RunRecord::may_be_left_over(bytes)) else {
        return Ok(entry);
    };
    // Of a run that cannot be read nobody knows what became of it.
    if left_alone(store, RunRecord::decode(&bytes, &path))?.is_none_or(|record| record.is_left_over()) {
        (entry.prediction.text, entry.chosen) = (None, None);
    }
    Ok(entry)
}

/// Whether the run that an entry judges stated a value. [`UNSTATED`] stands in the entry of one that named none, and is no word of its agent.
///
/// # Errors
/// A folder that cannot be read; a record that cannot is left alone.
pub fn states_value(store: &Store, tree: TreeId, entry: &LedgerEntry) -> Result<bool, CycleError> {
    if entry.prediction.value != UNSTATED {
        return Ok(true);
    }
    let path = layout::run(&entry.judged);
    let Some(bytes) = store.read(tree, &path)? else { return Ok(false) };
    let prediction = left_alone(store, RunRecord::decode(&bytes, &path))?.and_then(|record| record.prediction);
    Ok(prediction.is_some_and(|prediction| prediction.value.is_some()))
}

/// By agent, the runs without an outcome that expected something, of the newest `most` runs. Without those that were taken back or thrown away.
///
/// # Errors
/// A folder that cannot be read; a record that cannot is left alone.
pub fn without_outcome(
    store: &Store,
    tree: TreeId,
    most: usize,
    judged: &BTreeSet<RunId>,
) -> Result<BTreeMap<AgentName, usize>, CycleError> {
    let (mut open, mut looked): (Vec<RunRecord>, usize) = (Vec::new(), 0);
    each_day(store, tree, layout::RUNS, &mut |files| {
        let day = newest_of_day(files, |place| match place {
            Place::Run(run) => Some(run),
            _ => None,
        });
        for (run, path, file) in day.into_iter().take(most - looked) {
            looked += 1;
            if judged.contains(&run) {
                continue;
            }
            let bytes = store.read_file(file, &path)?;
            if RunRecord::may_predict(&bytes) {
                let record = left_alone(store, RunRecord::decode(&bytes, &path))?;
                let says = |p: &Prediction| p.text.is_some() || p.value.is_some() || p.chosen.is_some();
                open.extend(record.filter(|r| r.prediction.as_ref().is_some_and(says) && !r.is_left_over()));
            }
        }
        Ok(looked < most)
    })?;
    let back = taken_back(store, tree, open.last().map(|record| &record.run))?;
    let mut by_agent = BTreeMap::new();
    for record in open.into_iter().filter(|record| !back.contains(&record.run)) {
        *by_agent.entry(record.agent).or_default() += 1;
    }
    Ok(by_agent)
}

/// Whether an entry is what a review taught, and no outcome that somebody saw.
pub(super) fn is_a_decision(entry: &LedgerEntry) -> bool {
    let said =
        |text: &str| [Verdict::Approve, Verdict::Reject, Verdict::Amend].iter().any(|verdict| is_by(text, *verdict));
    entry.outcome.text.as_deref().is_some_and(said)
}

fn is_by(text: &str, verdict: Verdict) -> bool {
    text.starts_with(&format!("{} by ", verdict.done()))
}

/// Whether the words of an outcome are those of a review that let not all in.
pub(super) fn is_of_review(text: &str) -> bool {
    [Verdict::Reject, Verdict::Amend].iter().any(|verdict| is_by(text, *verdict))
}
