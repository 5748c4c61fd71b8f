//! Decisions of the person here that are carried out again once what is refused is left out. Place in the flow: `again` collects → **owed** → the
//! front room carries out.

use crate::delta::RunRecord;
use crate::model::ids::{NeuronId, RunId};
use crate::store::CommitId;

/// Decisions of the person here that no list of operations does again.
#[derive(Clone, Debug)]
pub struct Owed {
    /// Wake as it was.
    pub was: CommitId,
    /// Runs that were taken back.
    pub reverts: Vec<RunId>,
    /// Runs that were approved, and that nobody has any more, each with the run of the person that says the same and whether that waits.
    pub approved: Vec<(RunId, RunId, bool)>,
    /// Neurons that were restored.
    pub restored: Vec<NeuronId>,
    /// Runs by which a person said what came of a run.
    pub outcomes: Vec<RunRecord>,
}

impl Owed {
    /// None yet.
    pub(super) fn of(was: CommitId) -> Self {
        Self { was, reverts: Vec::new(), approved: Vec::new(), restored: Vec::new(), outcomes: Vec::new() }
    }
}
