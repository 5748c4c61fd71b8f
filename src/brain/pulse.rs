//! What changes while somebody looks: where wake and main stand, which runs wait, and the neurons that a step of wake touched.

use serde::Serialize;

use super::{Brain, BrainError, LogEntry};
use crate::limits;
use crate::model::layout::{self, Place};
use crate::picture::Mark;
use crate::store::CommitId;

/// Where a brain stands. Two that are equal have nothing to tell each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Pulse {
    /// Wake's tip.
    pub wake: String,
    /// Main's tip: a sleep moves it.
    pub main: String,
    /// Runs on branches of their own.
    pub waiting: usize,
    /// The tips of those branches, as one number.
    #[serde(skip)]
    pub branches: u64,
}

/// What a move of wake touched.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Moved {
    /// Wake's tip before.
    pub from: String,
    /// Wake's tip after.
    pub wake: String,
    /// Neurons that were made or changed.
    pub neurons: Vec<Touched>,
    /// How many more were.
    pub left_out: usize,
    /// The commits of wake in between, newest first; the first of many.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub entries: Vec<LogEntry>,
}

/// A neuron that a move of wake touched.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Touched {
    /// The neuron.
    pub id: String,
    /// `born`, `changed` or `gone`.
    pub mark: &'static str,
}

impl Brain {
    /// Where the brain stands: refs alone are read.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn pulse(&self) -> Result<Pulse, BrainError> {
        let store = &self.cycle.store;
        let branches = self.cycle.run_branches()?;
        let tips: Vec<String> = branches.iter().map(|(branch, tip)| format!("{branch} {tip}")).collect();
        let fields: Vec<&[u8]> = tips.iter().map(String::as_bytes).collect();
        Ok(Pulse {
            wake: store.need_tip(store.wake())?.to_string(),
            main: store.need_tip(store.main())?.to_string(),
            waiting: branches.len(),
            branches: crate::model::ids::hash_fields(&fields),
        })
    }

    /// What a move of wake between two commits touched.
    ///
    /// # Errors
    /// No such commits (exit code 2); trees that cannot be read.
    pub fn moved(&self, from: &str, to: &str) -> Result<Moved, BrainError> {
        let (before, after) = (self.at(Some(from))?, self.at(Some(to))?);
        let touched = self.touched(before, after)?;
        let left_out = touched.len().saturating_sub(limits::LIT_NEURONS);
        let neurons = touched.into_iter().take(limits::LIT_NEURONS);
        let neurons = neurons.map(|(id, mark)| Touched { id, mark: mark.as_str() }).collect();
        let commits = self.cycle.store.first_parents(after, Some(before)).take(limits::VIEW_TOUCHES);
        let entries = commits.map(|commit| self.entry(&commit?)).collect::<Result<_, _>>()?;
        Ok(Moved { from: before.to_string(), wake: after.to_string(), neurons, left_out, entries })
    }

    /// The neurons that differ between two commits, by their ids. Only trees are read.
    /// The commit of main that the last sleep before a commit of wake made.
    ///
    /// # Errors
    /// A revision that names no commit.
    pub fn slept_before(&self, at: &str) -> Result<String, BrainError> {
        let (store, at) = (&self.cycle.store, self.at(Some(at))?);
        let main = store.need_tip(store.main())?;
        Ok(store.merge_bases(main, at)?.first().copied().unwrap_or(main).to_string())
    }

    pub(super) fn touched(&self, from: CommitId, to: CommitId) -> Result<Vec<(String, Mark)>, BrainError> {
        let store = &self.cycle.store;
        let changes = store.diff(Some(store.tree_of(from)?), Some(store.tree_of(to)?), layout::NEURONS)?;
        let touched = changes.iter().filter_map(|change| {
            let Place::Neuron(id) = Place::of(&change.path) else { return None };
            let mark = match (&change.old, &change.new) {
                (None, _) => Mark::Born,
                (_, None) => Mark::Gone,
                _ => Mark::Changed,
            };
            Some((id.to_string(), mark))
        });
        Ok(touched.collect())
    }
}
