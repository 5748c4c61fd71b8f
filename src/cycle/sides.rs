//! Three trees of the repository, for the typed merge. Looks into them no more than it must: most of a merge's time is
//! spent on finding and reading what right changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::network::Neurons;
use super::{Cycle, CycleError};
use crate::delta::RunRecord;
use crate::merge::{self, Side};
use crate::model::Neuron;
use crate::model::document::{Goal, GoalLevel};
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::store::{File, Store, StoreError, TreeId};

/// Three trees of the repository, as the pure merge sees them.
pub(super) struct TreeSides<'s> {
    store: &'s Store,
    neurons: &'s Neurons,
    base: TreeId,
    left: TreeId,
    right: TreeId,
    /// What right changed, by path: the files of base and right need no second look into their trees.
    pub changes: BTreeMap<String, (Option<File>, Option<File>)>,
}

impl<'s> TreeSides<'s> {
    /// Compares right with the base.
    pub fn new(cycle: &'s Cycle, base: TreeId, left: TreeId, right: TreeId) -> Result<Self, StoreError> {
        let (store, neurons) = (&cycle.store, &cycle.shared.neurons);
        let changes = store.diff(Some(base), Some(right), "")?;
        let changes = changes.into_iter().map(|change| (change.path, (change.old, change.new))).collect();
        Ok(Self { store, neurons, base, left, right, changes })
    }

    /// Whether an answer comes in the place of one that stands in for it.
    fn is_answered(
        &self,
        place: &Place,
        path: &str,
        (old, new): (Option<File>, Option<File>),
    ) -> Result<bool, StoreError> {
        let (Place::Acknowledgement(..), Some(old), Some(new)) = (place, old, new) else { return Ok(false) };
        Ok(place.is_answered(&self.store.read_file(old, path)?, &self.store.read_file(new, path)?))
    }

    /// What right changed that the branch of a run may not, in words: anything outside the network, what is written once and for
    /// all, and, for agents, terminal goals. A branch may have commits that no run of this program made.
    pub fn beyond(&self, run: &RunId) -> Result<Option<String>, CycleError> {
        for (path, (old, new)) in &self.changes {
            if !path.starts_with("network/") {
                return Ok(Some(format!("touches {path}, outside network/")));
            }
            match Place::of(path) {
                place if place.is_immutable() && old.is_some() && !self.is_answered(&place, path, (*old, *new))? => {
                    return Ok(Some(format!("changes {path}, which stays as it was written")));
                }
                Place::Goal if !run.is_a_persons() => {
                    for file in [old, new].into_iter().flatten() {
                        let goal = Goal::decode(&self.store.read_file(*file, path)?, path)?;
                        if goal.level == GoalLevel::Terminal {
                            return Ok(Some(format!(
                                "changes {path}, a terminal goal, which only people set and change"
                            )));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn tree(&self, side: Side) -> TreeId {
        match side {
            Side::Base => self.base,
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }

    fn file(&self, side: Side, path: &str) -> Result<Option<File>, StoreError> {
        match (side, self.changes.get(path)) {
            (Side::Left, Some((old, _))) if self.left == self.base => Ok(*old),
            (Side::Base, Some((old, _))) => Ok(*old),
            (Side::Right, Some((_, new))) => Ok(*new),
            _ => self.store.file(self.tree(side), path),
        }
    }
}

impl merge::Sides for TreeSides<'_> {
    type Error = StoreError;

    fn changed(&mut self, side: Side) -> Result<Vec<String>, StoreError> {
        if side == Side::Right {
            return Ok(self.changes.keys().cloned().collect());
        }
        let changes = self.store.diff(Some(self.base), Some(self.tree(side)), "")?;
        Ok(changes.into_iter().map(|change| change.path).collect())
    }

    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(file) = self.file(side, path)? else { return Ok(None) };
        // A symlink or submodule beside the network is merged nowhere: left has something there, which may go, and the others nothing.
        if !file.is_regular() && !path.starts_with("network/") {
            return Ok((side == Side::Left).then(Vec::new));
        }
        self.store.read_file(file, path).map(Some)
    }

    fn known(&mut self, side: Side, path: &str, id: &NeuronId) -> Result<Option<Arc<Neuron>>, StoreError> {
        let file = self.file(side, path)?.filter(File::is_regular);
        Ok(file.and_then(|file| self.neurons.known(file.blob, id)))
    }

    fn reverting(&mut self, side: Side) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut found = Vec::new();
        for (path, file) in self.store.files(self.tree(side), layout::RUNS)? {
            if matches!(Place::of(&path), Place::Run(run) if run.is_a_persons()) {
                let bytes = self.store.read_file(file, &path)?;
                found.extend(RunRecord::may_revert(&bytes).then_some((path, bytes)));
            }
        }
        Ok(found)
    }
}
