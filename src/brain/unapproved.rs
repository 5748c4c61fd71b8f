//! Statements that no person has approved, counted by their origin. Place in the flow: wake and what was counted last → **unapproved** → `status`,
//! `review`, `prime`. Must not walk all neurons of a large brain: it follows the last count by what differs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError};
use crate::activation::reading::{Role, is_statement};
use crate::cycle::conversation::talk_of;
use crate::cycle::network::TreeNetwork;
use crate::cycle::snapshot::{neuron_in, snapshot_at_hand};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::model::{Kind, Neuron, Origin};
use crate::store::{FileChange, TreeId};

/// Where the last count is kept, in the cache.
const KEPT: &str = "unapproved.json";
/// Memories that are read where nothing was counted before: the newest of those from elsewhere.
const READ: usize = 2_000;

/// Statements of an origin that wait for a person's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Unapproved {
    /// Where they come from.
    pub origin: String,
    /// Number of them; of many the least.
    pub statements: usize,
    /// The command that approves them; with `--dry-run` it lists them.
    pub command: String,
}

/// A count as it is kept.
#[derive(Default, Serialize, Deserialize)]
struct Count {
    /// The folder of neurons that it is of.
    of: String,
    by_origin: BTreeMap<String, usize>,
}

impl Brain {
    /// Statements of wake that wait for a person's approval, by origin, most first. Costs what differs from when they were last counted.
    pub fn unapproved(&self) -> Result<Vec<Unapproved>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let Some(neurons) = store.folder(tree, layout::NEURONS)? else { return Ok(Vec::new()) };
        let kept: Option<Count> = store.cached_document(KEPT);
        let count = match kept {
            Some(kept) if kept.of == neurons.to_string() => kept.by_origin,
            kept => {
                let followed = kept.map(|kept| self.follow(kept, neurons)).transpose()?.flatten();
                let Some(counted) =
                    followed.map_or_else(|| self.count_unapproved(tree), |counted| Ok(Some(counted)))?
                else {
                    return Ok(Vec::new());
                };
                let kept = Count { of: neurons.to_string(), by_origin: counted };
                store.keep_document(KEPT, &kept);
                kept.by_origin
            }
        };
        let origins = &self.cycle.shared.policy.settings.origins;
        let is_tainted = |origin: &str| Origin::parse(origin).is_ok_and(|origin| origins.is_tainted(&origin));
        let waiting = |(origin, statements): (String, usize)| {
            let command = format!("git brain approve --origin {origin}");
            (statements > 0 && is_tainted(&origin)).then_some(Unapproved { origin, statements, command })
        };
        let mut found: Vec<Unapproved> = count.into_iter().filter_map(waiting).collect();
        found.sort_by(|a, b| b.statements.cmp(&a.statements).then_with(|| a.origin.cmp(&b.origin)));
        Ok(found)
    }

    /// The same count after what differs; `None`: too much does.
    fn follow(&self, kept: Count, now: TreeId) -> Result<Option<BTreeMap<String, usize>>, BrainError> {
        let store = &self.cycle.store;
        let Ok(of) = TreeId::parse(&kept.of) else { return Ok(None) };
        // A tree that is not there any more is no place to start from.
        let Ok(Some(changes)) = store.diff_within(Some(of), Some(now), "", limits::FOLLOWED_NEURONS) else {
            return Ok(None);
        };
        let mut count = kept.by_origin;
        for FileChange { path, old, new } in changes {
            let path = format!("{}/{path}", layout::NEURONS);
            let Place::Neuron(id) = Place::of(&path) else { continue };
            let counted = |file: Option<crate::store::File>| -> Result<Option<String>, BrainError> {
                let neuron = file.map(|file| neuron_in(store, &path, &id, file.blob)).transpose()?.flatten();
                Ok(neuron.as_ref().and_then(counted))
            };
            if let Some(origin) = counted(old)?
                && let Some(statements) = count.get_mut(&origin)
            {
                *statements = statements.saturating_sub(1);
            }
            if let Some(origin) = counted(new)? {
                *count.entry(origin).or_default() += 1;
            }
        }
        count.retain(|_, statements| *statements > 0);
        Ok(Some(count))
    }

    /// Counts anew, by what the snapshot says comes from elsewhere; `None`: there is none at hand, and to make one would take long.
    fn count_unapproved(&self, tree: TreeId) -> Result<Option<BTreeMap<String, usize>>, BrainError> {
        let store = &self.cycle.store;
        let Some(snapshot) = snapshot_at_hand(store, tree)? else { return Ok(None) };
        let (graph, index) = (snapshot.graph(), snapshot.index());
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let is_meant =
            |node: &_| graph.is_foreign(*node) && !graph.is_archived(*node) && index.role(*node) == Role::Memory;
        let mut nodes: Vec<_> = graph.nodes().filter(is_meant).collect();
        if nodes.len() > READ {
            nodes.select_nth_unstable_by_key(READ, |node| std::cmp::Reverse(index.created(*node).unix()));
            nodes.truncate(READ);
        }
        let mut count = BTreeMap::new();
        for node in nodes {
            let Ok(id) = NeuronId::parse(graph.id(node)) else { continue };
            if let Some(origin) = network.shared(&id)?.and_then(|neuron| counted(&neuron)) {
                *count.entry(origin).or_default() += 1;
            }
        }
        Ok(Some(count))
    }
}

/// The origin under which a neuron is counted, if it is.
fn counted(neuron: &Neuron) -> Option<String> {
    (neuron.origin.is_foreign() && is_told(neuron)).then(|| neuron.origin.to_string())
}

/// Whether a neuron states something that may be believed: live, and no part of a conversation that is evidence for nothing.
pub(super) fn is_told(neuron: &Neuron) -> bool {
    (neuron.kind == Kind::Episodic || is_statement(neuron)) && !neuron.is_archived() && talk_of(neuron).is_none()
}
