//! The story, which is held against the ledger and never read for anything else: chapters that no sleep told, and a gap above the alarm.

use super::Auditor;
use crate::audit::{Finding, Rule};
use crate::cycle::CycleError;
use crate::model::layout::{self, Place};
use crate::store::{Commit, FileChange};

/// Chapters that a commit brings and that is no sleep.
pub(super) fn told_awake(commit: &Commit, changes: &[FileChange]) -> Vec<Finding> {
    let added = |change: &&FileChange| change.old.is_none() && matches!(Place::of(&change.path), Place::Chapter(_));
    let told = |change: &FileChange| {
        Finding::new(Rule::NarrativeForged, commit.id, "is told by a commit that is no sleep").at(&change.path, 1)
    };
    changes.iter().filter(added).map(told).collect()
}

impl Auditor<'_> {
    /// Whether the newest story of wake left the ledger.
    pub(super) fn story_gap(&mut self) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let wake = store.need_tip(store.wake())?;
        let tree = store.tree_of(wake)?;
        let alarm = self.cycle.settings_of_main()?.serotonin.alarm;
        let files = store.files(tree, layout::NARRATIVE)?;
        // Their paths sort by date.
        let Some((path, file)) = files.into_iter().max_by(|a, b| a.0.cmp(&b.0)) else { return Ok(()) };
        let value: serde_json::Value = match serde_json::from_slice(&store.content(file.blob)?) {
            Ok(value) => value,
            Err(_) => return Ok(()),
        };
        let gap = value.pointer("/gap/total").and_then(serde_json::Value::as_f64).unwrap_or(0.0);
        if gap > alarm {
            let message = format!("tells a story that is {gap:.2} away from the ledger, and {alarm:.2} is the alarm");
            self.audited.add(Finding::new(Rule::NarrativeGap, wake, message).at(&path, 1));
        }
        Ok(())
    }
}
