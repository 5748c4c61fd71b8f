//! Recall at a commit: from a question to the best memories, read from git, with what is not trusted held back. For whoever
//! asks: a person, or a tool that a model calls.

use super::network::TreeNetwork;
use super::{Cycle, CycleError, EmbeddingProgress, Meaning};
use crate::activation::Snapshot;
use crate::activation::recall::{Filters, Found, answer};
use crate::limits;
use crate::model::Neuron;
use crate::model::settings::Origins;
use crate::store::CommitId;

/// What was found, best first, and what a person should know about it.
pub type Remembered = (Vec<(Found, Neuron)>, Vec<String>);

impl Cycle {
    /// The best memories of a commit for a question. The vectors of embeddings are filled in where the settings ask for them.
    ///
    /// # Errors
    /// Neurons that cannot be read. An endpoint that fails is a note.
    pub fn recall(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: Filters,
        progress: EmbeddingProgress<'_>,
    ) -> Result<Remembered, CycleError> {
        let settings = &self.shared.policy.settings;
        let Meaning { alike, notes } = self.meaning(commit, snapshot, query, progress)?;
        let top = filters.top;
        let filters = Filters { meaning: alike, ..filters };
        let now = self.shared.world.now();
        let ask = |filters: &Filters| answer(&snapshot.index(), query, now, settings, filters);
        let mut found = self.found(commit, ask(&filters))?;
        let origins = &settings.origins;
        if found.iter().any(|(_, neuron)| origins.is_tainted(&neuron.origin)) {
            let wide = Filters { top: Some(limits::RANKED_WITH_TAINT), ..filters };
            found = self.found(commit, ask(&wide))?;
            hold_back_tainted(&mut found, top.unwrap_or(settings.recall.top), origins);
        }
        Ok((found, notes))
    }

    /// What was found with its neurons.
    fn found(&self, commit: CommitId, found: Vec<Found>) -> Result<Vec<(Found, Neuron)>, CycleError> {
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let mut read = Vec::with_capacity(found.len());
        for found in found {
            if let Some(neuron) = network.neuron(&found.id)? {
                read.push((found, neuron));
            }
        }
        Ok(read)
    }
}

/// Keeps the best `top` of what was found, best first, where some is not trusted: that counts less by `[origins] weight`, and has at
/// most `[origins] share` of the places, all its origins together, unless nothing else is there to fill them.
fn hold_back_tainted(found: &mut Vec<(Found, Neuron)>, top: usize, origins: &Origins) {
    let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin);
    for (found, neuron) in &mut *found {
        if tainted(neuron) {
            found.activation *= f64::from(origins.weight) / 1000.0;
        }
    }
    found.sort_by(|(a, _), (b, _)| b.activation.total_cmp(&a.activation).then_with(|| a.id.cmp(&b.id)));
    let most = (top * origins.share as usize).div_ceil(100);
    let mut places = 0;
    let (kept, mut late): (Vec<_>, Vec<_>) = std::mem::take(found).into_iter().partition(|(_, neuron)| {
        places += usize::from(tainted(neuron));
        !tainted(neuron) || places <= most
    });
    *found = kept;
    found.truncate(top);
    late.truncate(top - found.len());
    found.append(&mut late);
}
