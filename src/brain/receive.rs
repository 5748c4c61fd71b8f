//! The gate of a bare repository, and the doorbell behind it.
//!
//! The gate keeps git's environment, because that names the quarantine in which the pushed objects lie. It fails closed:
//! on what it cannot read, on its own errors, where there is no brain.

use std::path::Path;

use serde::Serialize;

use super::check::finding_of;
use super::{Brain, BrainError, InitReport, RunReport, World};
use crate::cycle::admission::Kind;
use crate::cycle::file::Finding;
use crate::cycle::signed;
use crate::cycle::sync::receive::{NOT_REMOVED, Update, receive};
use crate::limits;
use crate::model::plural;
use crate::store;
use crate::world;

/// The answer of a hook to git.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HookAnswer {
    /// The exit code: 1 refuses, where git asks for permission.
    pub exit: u8,
    /// The faults of what is about to be committed.
    pub findings: Vec<Finding>,
    /// The remedies, for the person.
    pub hints: Vec<String>,
    /// Sentences worth knowing where nothing is wrong.
    pub notes: Vec<String>,
}

/// Judges the push that git describes on standard input.
pub(super) fn gate(dir: &Path, world: World) -> Result<HookAnswer, BrainError> {
    let input = world::read_stdin_bounded(limits::DELTA_BYTES)?;
    let text = String::from_utf8(input).map_err(|_| BrainError::refused("the names of what is pushed are no UTF-8"))?;
    let updates = Update::read_all(&text)?;
    let faults = receive(dir, world, &updates)?;
    let findings = faults.iter().take(limits::NAMED_FAULTS).map(finding_of);
    let mut hints = Vec::new();
    let has = |kind| faults.iter().any(|fault| fault.kind == kind);
    if has(Kind::Signature) {
        let wake = updates.iter().find(|update| update.name.ends_with("/wake"));
        let tip = wake.into_iter().chain(&updates).find_map(|update| update.new);
        if let Some(tip) = tip {
            hints.extend(signed::remedies(&store::Store::open(dir)?, &tip.to_string()));
        }
    }
    if has(Kind::WakeOnMain) {
        hints.push("wake was merged into main with plain git: `git brain sync` there names the way back".to_owned());
    }
    if faults.len() > limits::NAMED_FAULTS {
        hints.push(format!("{} more are not shown", faults.len() - limits::NAMED_FAULTS));
    }
    if !faults.is_empty() {
        let on = "; `git brain check` on the machine that pushes names the same commits, and `git brain sync --without-refused` there goes on without them";
        let unsigned_alone = faults.iter().all(|fault| fault.kind == Kind::Signature);
        let removal_alone = faults.iter().all(|fault| fault.message.ends_with(NOT_REMOVED));
        let on = match removal_alone {
            true => "; a run that waits goes by a decision: `git brain reject RUN`, then `git brain sync`",
            false if unsigned_alone => "",
            false => on,
        };
        if has(Kind::Unapproved) {
            hints.push("decisions come by `git brain sync`, which pushes refs/brain/reviews before wake".to_owned());
        }
        hints.push(format!("nothing was let in{on}"));
    }
    let notes = if faults.is_empty() { waiting_after(dir, &updates)?.into_iter().collect() } else { Vec::new() };
    Ok(HookAnswer { exit: u8::from(!faults.is_empty()), findings: findings.collect(), hints, notes })
}

/// The runs that wait for a decision once a push is in, where it brings or removes one.
fn waiting_after(dir: &Path, updates: &[Update]) -> Result<Option<String>, BrainError> {
    let store = store::Store::open(dir)?;
    let prefix = store.runs_prefix();
    let runs = |update: &&Update| update.name.starts_with(&format!("refs/heads/{prefix}"));
    if !updates.iter().any(|update| runs(&update)) {
        return Ok(None);
    }
    let there = store.branches(&prefix)?.into_iter().map(|(branch, _)| branch.full());
    let mut names: std::collections::BTreeSet<String> = there.collect();
    for update in updates.iter().filter(runs) {
        match update.new {
            Some(_) => drop(names.insert(update.name.clone())),
            None => drop(names.remove(&update.name)),
        }
    }
    let waits = plural(names.len(), "run waits", "runs wait");
    Ok(Some(format!("{waits} for a decision here: `git brain sync`, then `git brain review`")))
}

impl Brain {
    /// Makes a bare repository that machines of a brain sync through, or makes an existing bare one that.
    pub fn init_bare(dir: &Path, in_repo: bool, program: &str) -> Result<InitReport, BrainError> {
        let made = store::create_bare(dir, in_repo, program)?;
        Ok(InitReport {
            notes: Vec::new(),
            dir: std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()),
            main: made.main.to_string(),
            wake: made.wake.to_string(),
            adopted: made.adopted,
            first_runs: RunReport::default(),
        })
    }
}
