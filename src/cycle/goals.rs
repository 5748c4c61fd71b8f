//! Goals as a tree has them.

use std::collections::BTreeSet;

use super::CycleError;
use super::error::left_alone;
use crate::model::document::{Goal, GoalLevel, GoalState};
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::store::{Store, TreeId};

/// All goals of a tree, by id. One that cannot be read is left alone.
///
/// # Errors
/// A folder that cannot be read.
pub fn all(store: &Store, tree: TreeId) -> Result<Vec<Goal>, CycleError> {
    let mut goals = Vec::new();
    for (path, file) in store.files(tree, layout::GOALS)? {
        if Place::of(&path) == Place::Goal {
            goals.extend(left_alone(store, Goal::decode(&store.read_file(file, &path)?, &path))?);
        }
    }
    goals.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(goals)
}

/// The goals that are open, by id.
///
/// # Errors
/// A folder that cannot be read.
pub fn open(store: &Store, tree: TreeId) -> Result<Vec<Goal>, CycleError> {
    let mut goals = all(store, tree)?;
    goals.retain(|goal| goal.state == GoalState::Open);
    Ok(goals)
}

/// The neurons that stand for open terminal goals: sleep never prunes these.
///
/// # Errors
/// A folder that cannot be read.
pub fn terminal_goal_neurons(store: &Store, tree: TreeId) -> Result<BTreeSet<NeuronId>, CycleError> {
    let terminal = open(store, tree)?.into_iter().filter(|goal| goal.level == GoalLevel::Terminal);
    Ok(terminal.filter_map(|goal| goal.neuron).collect())
}
