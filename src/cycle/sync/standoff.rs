//! What stopped a sync and is not settled: read off the wake and main that a remote had when it was last seen, by the merge that stopped. Nothing
//! is stored; as soon as the two can be merged, there is none.

use serde::Serialize;

use super::trunks::Joined;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::merge::Conflict;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::review::REASON;
use crate::store::{Tips, TreeId};
use serde_json::Value;

/// A remote with which this brain cannot be merged.
#[derive(Clone, Debug, Serialize)]
pub struct Standoff {
    /// The remote.
    pub remote: String,
    /// What is left to a person.
    pub message: String,
    /// Who said what, a line each.
    pub said: Vec<String>,
    /// The way out.
    pub hint: Option<String>,
}

impl Standoff {
    /// All of it in one line.
    pub fn line(&self) -> String {
        let said = if self.said.is_empty() { String::new() } else { format!("; {}", self.said.join("; ")) };
        format!("sync with {} is stopped: {}{said}", self.remote, self.message)
    }
}

impl Cycle {
    /// The remotes with which a sync would stop, as far as it is known here. Where nothing waits to be merged that costs a look at some refs.
    pub fn standoffs(&self) -> Result<Vec<Standoff>, CycleError> {
        let mut found = Vec::new();
        for remote in self.store.remotes()? {
            let seen = self.store.seen(&remote)?;
            let mut is_merged = true;
            for (branch, tip) in &seen {
                is_merged &= self.store.is_ancestor(*tip, self.store.need_tip(branch)?)?;
            }
            if !is_merged && let Some((message, hint)) = self.stops(&seen)? {
                found.push(Standoff { said: self.sides_of(&seen)?, remote: remote.name, message, hint });
            }
        }
        Ok(found)
    }

    /// Why main and wake here do not go together with those, and the way out.
    fn stops(&self, theirs: &Tips) -> Result<Option<(String, Option<String>)>, CycleError> {
        let store = &self.store;
        let here = Joined { main: store.need_tip(store.main())?, wake: store.need_tip(store.wake())? };
        let writer = store.writer()?;
        match self.joined(&writer, here, theirs) {
            Ok(_) => Ok(None),
            Err(CycleError::Refused { message, hint }) => Ok(Some((message, hint))),
            Err(error) => Err(error),
        }
    }

    /// Who said what where two wakes are in conflict.
    pub(super) fn sides_of(&self, theirs: &Tips) -> Result<Vec<String>, CycleError> {
        let store = &self.store;
        let Some(there) = theirs.get(store.wake()).copied() else { return Ok(Vec::new()) };
        let here = store.need_tip(store.wake())?;
        let writer = store.writer()?;
        let Some(base) = self.base_of(&writer, here, there)? else { return Ok(Vec::new()) };
        let (ours, theirs) = (store.tree_of(here)?, store.tree_of(there)?);
        let outcome = self.merge_trees(base, ours, theirs, crate::merge::Options::default())?;
        let mut said = Vec::new();
        for conflict in outcome.conflicts.iter().take(limits::NAMED_FAULTS) {
            for (place, tree, value) in [("here", ours, &conflict.left), ("there", theirs, &conflict.right)] {
                let who = self.who_said((base, tree), conflict, value)?;
                said.extend(who.map(|who| format!("{place} {} {} is {value}, {who}", conflict.neuron, conflict.field)));
            }
        }
        Ok(said)
    }

    /// The newest run that wrote a value on one side, with the decision by which it landed.
    fn who_said(
        &self,
        (base, tree): (TreeId, TreeId),
        conflict: &Conflict,
        value: &Value,
    ) -> Result<Option<String>, CycleError> {
        let mut newest: Option<(RunId, String)> = None;
        for change in self.store.diff(Some(base), Some(tree), layout::RUNS)? {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            if newest.as_ref().is_some_and(|(known, _)| *known > run) {
                continue;
            }
            let Some(record) = self.record_in(tree, &run)? else { continue };
            let wrote =
                record.effects.iter().filter(|effect| effect.id().is_some_and(|id| id.as_str() == conflict.neuron));
            let mut wrote = wrote.filter(|effect| match conflict.field.as_str() {
                "concept" => effect.concept.as_ref().is_some_and(|(_, now)| value.as_str() == Some(now.value.as_str())),
                "type" => effect.kind.as_ref().is_some_and(|(_, now)| value.as_str() == Some(now.value.as_str())),
                _ => false,
            });
            if wrote.next().is_some() {
                newest = Some((run, record.trigger));
            }
        }
        let Some((run, trigger)) = newest else { return Ok(None) };
        let about =
            trigger.strip_prefix(REASON).and_then(|about| RunId::parse(about).ok()).unwrap_or_else(|| run.clone());
        for review in self.reviews_of(&about)?.iter().rev() {
            if review.lands.as_ref().is_none_or(|lands| *lands == run) && self.counts_for_its_run(review)? {
                return Ok(Some(format!("by {run}, {}", review.words())));
            }
        }
        Ok(Some(format!("by {run}")))
    }
}
