//! A run on its way: what it needs of the cycle, where it starts, and what came of thinking.

use std::path::PathBuf;
use std::sync::Arc;

use super::budget::Exhausted;
use super::commit::Committed;
use super::job::Job;
use super::jobs::all_of;
use super::models::Models;
use super::{Cycle, CycleError};
use crate::cognition::Snapshot;
use crate::model::Origin;
use crate::model::ids::{NeuronId, RunId};
use crate::store::{CommitId, Objects, Store};

/// The part of the cycle that a run needs, without its repository handle.
#[derive(Clone)]
pub(super) struct Part {
    pub dir: PathBuf,
    pub shared: Arc<super::Shared>,
    pub recent: Objects,
    /// The models, where an agent thinks with one.
    pub models: Option<Arc<Models>>,
}

impl Part {
    /// The repository, opened by the thread that asks.
    pub fn store(&self) -> Result<Store, CycleError> {
        let mut store = Store::open_sharing(&self.dir, Objects::clone(&self.recent))?;
        store.set_secrets(Arc::clone(&self.shared.secrets));
        Ok(store)
    }

    /// The brain, opened by the thread that asks.
    pub fn whole(&self) -> Result<Cycle, CycleError> {
        Ok(Cycle::beside(self.dir.clone(), self.store()?, Arc::clone(&self.shared)))
    }
}

/// The result of thinking.
pub(super) enum Thought {
    Committed(Box<Committed>),
    Nothing,
    Held(Exhausted),
}

impl Thought {
    pub fn of(committed: Option<Committed>) -> Self {
        committed.map_or(Self::Nothing, |committed| Self::Committed(Box::new(committed)))
    }
}

/// The origin of all that a snapshot shows. A program may obey any text that it reads; a rule obeys none.
pub(super) fn shown(snapshot: &Snapshot) -> Origin {
    let neurons = snapshot.neurons.iter().map(|n| n.origin.clone());
    let stimuli = snapshot.stimuli.iter().map(|s| s.origin.clone());
    all_of(neurons.chain(stimuli))
}

/// One run on its way.
pub(super) struct Spawn {
    pub cycle: Part,
    pub tip: CommitId,
    pub run: RunId,
    pub job: Job,
    /// Memories that its stimuli and signals recall, best first, with the strength of each; none for a rule, which asks for them itself.
    pub reminded: Vec<(NeuronId, f64)>,
}

/// Runs blocking work on the runtime's threads for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CycleError> + Send + 'static,
) -> Result<T, CycleError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(CycleError::Busy(format!("a run was cut off: {e}"))))
}
