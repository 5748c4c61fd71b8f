//! `merge-driver %O %A %B %P`: what git calls for one file of the network, in merge, rebase, cherry-pick and revert.
//!
//! Reads three files and HEAD, writes at most %A. The decision is `merge::drive`'s. Where git's attributes bring a file
//! here that is none of the brain's, it is merged as git would have merged it.

use std::path::Path;

use serde::Serialize;

use super::hook::is_of_the_brain;
use super::{Brain, BrainError, Override, World};
use crate::cycle::Cycle;
use crate::limits;
use crate::merge::{Drive, DriverAnswer, drive};
use crate::model::ids::RunId;
use crate::model::layout;
use crate::store::{CommitId, Store, StoreError, called_from, merge_texts, replace_file};
use crate::world::read_bounded;

/// What the driver answers git.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DriverReport {
    /// 0: %A is the result; 1: a person decides.
    pub exit: u8,
    /// Why, and what the person can do.
    pub hint: Option<String>,
}

/// The files that git hands over.
#[derive(Clone, Copy, Debug)]
pub struct DriverFiles<'a> {
    /// %O; empty where both sides added the file.
    pub base: &'a Path,
    /// %A; the result is written here.
    pub ours: &'a Path,
    /// %B.
    pub theirs: &'a Path,
    /// %P, the path in the tree.
    pub path: &'a str,
}

impl Brain {
    /// Merges one file. Whatever goes wrong leaves %A as it is and is a conflict for git, never a wrong result.
    pub fn merge_driver(dir: &Path, world: World, flags: &[Override], files: DriverFiles<'_>) -> DriverReport {
        let refuse = |error: BrainError| {
            let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            DriverReport { exit: 1, hint: Some(format!("{}: {error}{hint}", files.path)) }
        };
        merge_one(dir, world, flags, files).unwrap_or_else(refuse)
    }
}

fn merge_one(dir: &Path, world: World, flags: &[Override], files: DriverFiles<'_>) -> Result<DriverReport, BrainError> {
    let place = called_from(dir);
    match Store::open(&place) {
        Ok(store) => {
            let (branch, head) = store.head()?;
            if !is_of_the_brain(&store, branch.as_ref(), head)? {
                return as_text(files);
            }
        }
        Err(StoreError::NoBrain { .. } | StoreError::NoRepository { .. }) => return as_text(files),
        Err(error) => return Err(error.into()),
    }
    let cycle = Cycle::open(&place, world, flags)?;
    let read = |path: &Path| read_bounded(path, limits::DOCUMENT_BYTES);
    let (base, current, other) = (read(files.base)?, read(files.ours)?, read(files.theirs)?);
    let call = Drive { path: files.path, base: &base, current: &current, other: &other };
    let head = cycle.store.head()?.1;
    let mut failed = None;
    let recorded = |run: &RunId| {
        is_recorded(&cycle.store, head, run).unwrap_or_else(|error| {
            failed = Some(error);
            false
        })
    };
    let answer = drive(&call, &cycle.shared.policy.settings.merge, recorded)?;
    if let Some(error) = failed {
        return Err(error);
    }
    match answer {
        DriverAnswer::TakeCurrent => Ok(DriverReport::default()),
        DriverAnswer::Take(bytes) => {
            replace_file(files.ours, &bytes)?;
            Ok(DriverReport::default())
        }
        DriverAnswer::Refuse { hint } => Ok(DriverReport { exit: 1, hint: Some(format!("{}: {hint}", files.path)) }),
        DriverAnswer::NotOurs => as_text(files),
    }
}

fn is_recorded(store: &Store, head: Option<CommitId>, run: &RunId) -> Result<bool, BrainError> {
    let Some(head) = head else { return Ok(false) };
    Ok(store.file(store.tree_of(head)?, &layout::run(run))?.is_some())
}

fn as_text(files: DriverFiles<'_>) -> Result<DriverReport, BrainError> {
    let clean = merge_texts(files.base, files.ours, files.theirs)?;
    Ok(DriverReport { exit: u8::from(!clean), hint: None })
}
