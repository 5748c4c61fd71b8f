//! Newer memories that change what is shown: a hook puts text before an agent unasked, so what is out of date goes with what replaced it.

use super::{Brain, BrainError};
use crate::activation::recall::{Answer, Changes, Evidence, Found, changing, names_change};
use crate::cycle::network::TreeNetwork;
use crate::model::ids::NeuronId;
use crate::store::CommitId;

/// Memories for which newer ones are looked for.
const OLDER: usize = 3;
/// Newer memories that are looked at.
const NEWER: usize = 12;

impl Brain {
    /// Puts with each of the first memories of a commit what is newer and says that it changed: before it, but for what is not trusted beside what
    /// is, which comes behind it. `may_show` says which memories may come in.
    pub(super) fn with_newer(
        &self,
        found: Vec<Answer>,
        commit: CommitId,
        may_show: impl Fn(&Answer) -> bool,
        is_trusted: impl Fn(&Answer) -> bool,
    ) -> Result<Vec<Answer>, BrainError> {
        let older: Vec<&NeuronId> = found.iter().take(OLDER).map(|one| &one.id).collect();
        if older.is_empty() {
            return Ok(found);
        }
        let snapshot = self.snapshot_of(commit)?;
        let (index, now) = (snapshot.index(), self.cycle.shared.world.now());
        let newer = changing(&index, &older, NEWER);
        let tree = self.cycle.store.tree_of(commit)?;
        if newer.is_empty() {
            return Ok(found);
        }
        let (network, here) = (TreeNetwork::new(&self.cycle.store, tree), self.cycle.here(tree));
        let mut order = found;
        for id in newer {
            let names = |older: &Answer| older.id != id && names_change(&index, &older.id, &id);
            let Some(at) = order.iter().take(OLDER * 2).position(names) else { continue };
            let behind = |order: &[Answer], newer: &Answer| usize::from(!is_trusted(newer) && is_trusted(&order[at]));
            if let Some(from) = order.iter().position(|one| one.id == id) {
                let to = at + behind(&order, &order[from]);
                if from > to {
                    order[to..=from].rotate_right(1);
                }
                continue;
            }
            let Some(neuron) = network.neuron(&id)? else { continue };
            let salience = index.graph.find(&id).map_or(0, |node| index.graph.salience_at(node, now));
            let changes = Some(Changes { older: order[at].id.clone(), by: Evidence::Change });
            let activation = order[at].activation;
            let found = Found { id, activation, salience, context: 0.0, inhibition: 0.0, changes, path: Vec::new() };
            let code = here.as_ref().and_then(|here| here.seen(&neuron));
            let answer = Answer { code, ..Answer::of(found, &neuron, &[]) };
            if may_show(&answer) {
                order.insert(at + behind(&order, &answer), answer);
            }
        }
        Ok(order)
    }
}
