//! Choices that runs made among the options of a question, read off their records: whether anything came of them is the ledger's.

use super::CycleError;
use super::error::left_alone;
use super::ledger::{each_day, newest_of_day, taken_back};
use crate::delta::{Chosen, RunRecord};
use crate::limits;
use crate::model::ids::{AgentName, RunId};
use crate::model::layout::{self, Place};
use crate::store::{Store, TreeId};

/// A choice.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The run that made it.
    pub run: RunId,
    /// Its agent.
    pub agent: AgentName,
    /// How it thought, as its record says.
    pub cognition: String,
    /// The question and the option.
    pub chosen: Chosen,
}

/// The newest choices, newest first, at most so many, of the newest [`limits::HISTORY_WALK`] runs. Without those that a person took back.
///
/// # Errors
/// A record that cannot be read.
pub fn newest(store: &Store, tree: TreeId, most: usize) -> Result<Vec<Choice>, CycleError> {
    let (mut choices, mut looked): (Vec<Choice>, usize) = (Vec::new(), 0);
    each_day(store, tree, layout::RUNS, &mut |files| {
        let day = newest_of_day(files, |place| match place {
            Place::Run(run) => Some(run),
            _ => None,
        });
        for (_, path, file) in day {
            looked += 1;
            let bytes = store.read_file(file, &path)?;
            if !RunRecord::may_choose(&bytes) {
                continue;
            }
            let Some(record) = left_alone(store, RunRecord::decode(&bytes, &path))? else { continue };
            let RunRecord { run, agent, cognition, prediction, .. } = record;
            let chosen = prediction.and_then(|prediction| prediction.chosen);
            choices.extend(chosen.map(|chosen| Choice { run, agent, cognition, chosen }));
        }
        Ok(choices.len() < most && looked < limits::HISTORY_WALK)
    })?;
    choices.truncate(most);
    let back = taken_back(store, tree, choices.last().map(|choice| &choice.run))?;
    choices.retain(|choice| !back.contains(&choice.run));
    Ok(choices)
}
