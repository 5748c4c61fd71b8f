//! `check`: the format of every file of a tree, in one pass; and `check --fix`, canonical form for files of the work tree.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use super::{Brain, BrainError};
use crate::cycle::admission::file::{Content, Finding, Level, dangling, examine, examine_place, is_ours, targets};
use crate::cycle::signed;
use crate::model::ids::{NeuronId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Format, Metadata, Neuron};
use crate::store::{CommitId, File, Store, StoreError, TreeId};

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The commit that was checked.
    pub commit: String,
    /// How many files were read.
    pub files: usize,
    /// What is wrong, by path and line.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// 0: nothing is wrong; 1: something is.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.findings.iter().any(|f| f.level == Level::Error))
    }
}

/// What `check --fix` did.
#[derive(Clone, Debug, Serialize)]
pub struct FixReport {
    /// Files that were rewritten in canonical form, or would be.
    pub fixed: Vec<String>,
    /// Files that a person must put right.
    pub findings: Vec<Finding>,
}

impl Brain {
    /// Checks every file of a commit; wake's tip by default; and, where signatures are required, who signed what led to it. Needs no settings or agents that can be read: those are
    /// checked as well.
    pub fn check(dir: &Path, revision: Option<&str>) -> Result<CheckReport, BrainError> {
        let store = Store::open(dir)?;
        let commit = match revision {
            None => store.need_tip(store.wake())?,
            Some(text) => store.resolve(text)?.ok_or_else(|| BrainError::usage(format!("{text} names no commit")))?,
        };
        let (files, mut findings) = check_tree(&store, store.tree_of(commit)?)?;
        let since: Vec<CommitId> = store.signed_since()?.into_iter().collect();
        let unsigned = signed::unsigned(&store, commit, &since)?;
        findings.extend(unsigned.into_iter().map(|(commit, why)| Finding::error(&commit.to_string(), 0, why)));
        Ok(CheckReport { commit: commit.to_string(), files, findings })
    }

    /// Rewrites neurons of the work tree that are readable but not canonical. Nothing is staged or committed.
    pub fn check_fix(dir: &Path, dry_run: bool) -> Result<FixReport, BrainError> {
        let store = Store::open(dir)?;
        let mut report = FixReport { fixed: Vec::new(), findings: Vec::new() };
        // A sparse work tree may have a neuron without it.
        let metadata = match (store.read_work_file(layout::METADATA)?, store.head()?) {
            (None, (_, Some(head))) => store.read(store.tree_of(head)?, layout::METADATA)?,
            (on_disk, _) => on_disk,
        };
        let metadata = metadata.and_then(|bytes| serde_json::from_slice::<Metadata>(&bytes).ok());
        let format = metadata.map_or(Format::NEWEST, |metadata| metadata.form());
        for path in store.work_files(layout::NEURONS)? {
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let Some(bytes) = store.read_work_file(&path)? else { continue };
            match Neuron::decode(&bytes, &path) {
                Ok(neuron) if neuron.id == id && neuron.canonical_format(&bytes).is_none() => {
                    if !dry_run {
                        store.replace_work_file(&path, &neuron.encode_as(format))?;
                    }
                    report.fixed.push(path);
                }
                _ => report.findings.extend(examine(&path, &bytes).findings),
            }
        }
        Ok(report)
    }
}

/// Checks all files of the brain in a tree: how many, and what is wrong.
pub(super) fn check_tree(store: &Store, tree: TreeId) -> Result<(usize, Vec<Finding>), BrainError> {
    let mut files: Vec<(String, File)> = store.files(tree, "")?;
    files.retain(|(path, _)| is_ours(path));
    let neurons: HashSet<NeuronId> = files.iter().filter_map(|(path, _)| neuron_at(path)).collect();
    let paths: HashSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut findings = Vec::new();
    for required in [layout::METADATA, layout::SETTINGS] {
        if !paths.contains(required) {
            findings.push(Finding::error(required, 1, "is missing"));
        }
    }
    for (path, file) in &files {
        match examine_place(path, *file) {
            Err(finding) => {
                findings.push(finding);
                continue;
            }
            Ok(finding) => findings.extend(finding),
        }
        let bytes = match store.blob(file.blob) {
            Ok(bytes) => bytes,
            Err(error @ (StoreError::Missing { .. } | StoreError::BadObject { .. })) => {
                findings.push(Finding::error(path, 1, error.to_string()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let examined = examine(path, &bytes);
        findings.extend(examined.findings);
        match examined.content {
            Content::Neuron(neuron) => {
                let missing: Vec<_> = targets(&neuron).into_iter().filter(|id| !neurons.contains(*id)).collect();
                findings.extend(dangling(path, &bytes, &missing));
            }
            Content::Queue(_, named) if !paths.contains(named.as_str()) => {
                findings.push(Finding::error(path, 1, format!("names {named}, which is not there")));
            }
            Content::Queue(id, _) if neurons.contains(&episode_id(&id)) => {
                findings.push(Finding::warning(path, 1, "its stimulus is consumed already"));
            }
            Content::Queue(..) | Content::Alone => {}
        }
    }
    findings.sort();
    Ok((files.len(), findings))
}

/// The neuron whose file this is.
pub(super) fn neuron_at(path: &str) -> Option<NeuronId> {
    match Place::of(path) {
        Place::Neuron(id) => Some(id),
        _ => None,
    }
}
