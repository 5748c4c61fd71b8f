//! Recall at a commit: from a question to the best memories, read from git, with what is not trusted held back. For whoever
//! asks: a person, or a tool that a model calls.

use super::conversation::talk_of;
use super::network::TreeNetwork;
use super::{Cycle, CycleError, EmbeddingProgress, Meaning};
use crate::activation::Snapshot;
use crate::activation::recall::{Filters, Found, answer, found_talk, talk};
use crate::limits;
use crate::model::Neuron;
use crate::model::settings::Origins;
use crate::store::CommitId;
use crate::text::talk::{Said, Talk};

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
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let read = |found: &Found| network.neuron(&found.id);
        let origins = &settings.origins;
        let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin);
        let mut found = as_far_as(ask(&filters), usize::MAX, tainted, read)?;
        if found.iter().any(|(_, neuron)| tainted(neuron)) {
            let top = top.unwrap_or(settings.recall.top);
            let wide = Filters { top: Some(limits::RANKED_WITH_TAINT), ..filters };
            found = as_far_as(ask(&wide), top, tainted, read)?;
            hold_back_tainted(&mut found, top, origins);
        }
        Ok((found, notes))
    }

    /// The best turns of conversations of a commit for a question: what was asked, ordered and answered, and is no evidence. `said`
    /// leaves out what the other side said.
    ///
    /// # Errors
    /// Neurons that cannot be read.
    pub fn recall_talk(
        &self,
        commit: CommitId,
        snapshot: &Snapshot,
        query: &str,
        filters: &Filters,
        said: Said,
    ) -> Result<Vec<(Found, Neuron)>, CycleError> {
        let (index, now) = (snapshot.index(), self.shared.world.now());
        let top = filters.top.unwrap_or(self.shared.policy.settings.recall.top);
        let network = TreeNetwork::new(&self.store, self.store.tree_of(commit)?);
        let mut turns = Vec::new();
        for (node, score) in talk(&index, query, now, filters) {
            if turns.len() == top {
                break;
            }
            let Some(found) = found_talk(&index, node, score, now) else { continue };
            let Some(neuron) = network.neuron(&found.id)? else { continue };
            let is_answer = talk_of(&neuron) == Some(Talk::Answer);
            if said == Said::ByBoth || is_answer == (said == Said::ByBrain) {
                turns.push((found, neuron));
            }
        }
        Ok(turns)
    }
}

/// What was found with its neurons, best first, until so many are there that are not tainted. What comes after them has no greater
/// activation, and of the tainted an even smaller one: none of it is among the best.
fn as_far_as(
    found: Vec<Found>,
    enough: usize,
    tainted: impl Fn(&Neuron) -> bool,
    read: impl Fn(&Found) -> Result<Option<Neuron>, CycleError>,
) -> Result<Vec<(Found, Neuron)>, CycleError> {
    let (mut kept, mut trusted) = (Vec::new(), 0);
    for found in found {
        if trusted >= enough {
            break;
        }
        if let Some(neuron) = read(&found)? {
            trusted += usize::from(!tainted(&neuron));
            kept.push((found, neuron));
        }
    }
    Ok(kept)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{Kind, Origin, Stamp};

    /// A neuron, tainted or not, as a recall finds it.
    fn found(n: usize, activation: f64) -> Found {
        let id = format!("n-{n:03}").parse().unwrap();
        Found { id, activation, salience: 0, context: 0.0, inhibition: 0.0, path: Vec::new() }
    }

    proptest! {
        /// To read no more than is needed gives what reading all of it gives.
        #[test]
        fn the_best_are_among_what_is_read(
            ranked in proptest::collection::vec((0_u8..20, any::<bool>()), 0..60), top in 1_usize..12, weight in 0_u32..=1000, share in 0_u32..=100
        ) {
            let origins = Origins { weight, share, ..Origins::default() };
            let mut all: Vec<(Found, bool)> =
                ranked.iter().enumerate().map(|(n, (rank, tainted))| (found(n, f64::from(*rank)), *tainted)).collect();
            all.sort_by(|(a, _), (b, _)| b.activation.total_cmp(&a.activation).then_with(|| a.id.cmp(&b.id)));
            let origin = |tainted: bool| Origin::parse(if tainted { "http" } else { "local" }).unwrap();
            let reads = Cell::new(0);
            let read = |one: &Found| {
                reads.set(reads.get() + 1);
                let tainted = all.iter().find(|(known, _)| known.id == one.id).unwrap().1;
                let mut neuron = Neuron::new(one.id.clone(), "x", Kind::Semantic, Stamp::from_unix(0));
                neuron.origin = origin(tainted);
                Ok(Some(neuron))
            };
            let list = || all.iter().map(|(found, _)| found.clone()).collect::<Vec<Found>>();
            let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin);
            let mut whole = as_far_as(list(), usize::MAX, tainted, read).unwrap();
            reads.set(0);
            let mut part = as_far_as(list(), top, tainted, read).unwrap();
            let needed = all.iter().take_while({ let mut trusted = 0; move |(_, tainted)| { let go_on = trusted < top; trusted += usize::from(!tainted); go_on } }).count();
            prop_assert_eq!(reads.get(), needed);
            hold_back_tainted(&mut whole, top, &origins);
            hold_back_tainted(&mut part, top, &origins);
            let ids = |found: &[(Found, Neuron)]| found.iter().map(|(found, _)| found.id.to_string()).collect::<Vec<_>>();
            prop_assert_eq!(ids(&part), ids(&whole));
        }
    }
}
