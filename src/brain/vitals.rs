//! The vital signs of a brain: what `vitals` computes, of what this reads.
//!
//! Bounded whatever the size of the brain: of structure, memories, changes and ledger a part is looked at, and each figure says
//! how much of how much. Nothing is written but the snapshot that recall keeps anyway.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError, LogEntry, NarrativeGap};
use crate::activation::recall::{Filters, answer};
use crate::activation::{Cue, Graph, Index, NodeIx, Profile, Propagation, propagate};
use crate::chemistry::dopamine::{Calibration, calibration};
use crate::cycle::network::{TreeNetwork, decode_neuron};
use crate::cycle::{count, ledger};
use crate::delta::LedgerEntry;
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::layout::{self, Place};
use crate::model::settings::Activation;
use crate::model::{Link, Neuron, Stamp};
use crate::store::{CommitId, File, TreeId};
use crate::vitals::cloze::{AGES, Asked, Field, Recalled, age};
use crate::vitals::verdict::{Constant, Findings, Waves};
use crate::vitals::{Branching, Cloze, Excerpt, RecallByAge, Saliences, Structure, Verdict};

/// Where the last vital signs are kept, in the cache.
const KEPT: &str = "vitals.json";

/// How far the network is a brain.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Vitals {
    /// How vivid it is.
    pub saliences: Saliences,
    /// How many runs a run causes.
    pub branching: Branching,
    /// Its structure against chance; null where there are fewer than two pairs of connected neurons.
    pub structure: Option<Structure>,
    /// Predictions against outcomes; null where none was judged.
    pub calibration: Option<Calibration>,
    /// How far the story that it tells of itself is from the ledger; null where nothing tells one.
    pub narrative_gap: Option<NarrativeGap>,
    /// What it still knows of what it was told.
    pub recall_by_age: RecallByAge,
    /// What is not consolidated yet.
    pub since_sleep: SinceSleep,
    /// Is it a brain yet: the verdict on each criterion.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
}

/// What wake has and main has not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SinceSleep {
    /// Main's tip.
    pub main: String,
    /// Neurons that were made.
    pub neurons_made: usize,
    /// Neurons that were changed.
    pub neurons_changed: usize,
    /// Neurons that are gone.
    pub neurons_gone: usize,
    /// Of those, how many were read for what follows.
    pub read: usize,
    /// Connections that were made, those of new neurons included.
    pub connections_made: usize,
    /// Connections with more weight.
    pub connections_strengthened: usize,
    /// Connections with less weight.
    pub connections_weakened: usize,
    /// Connections that are gone.
    pub connections_gone: usize,
}

impl Brain {
    /// The vital signs of wake at the clock.
    ///
    /// # Errors
    /// Neurons, ledger entries or commits that cannot be read.
    pub fn vitals(&self) -> Result<Vitals, BrainError> {
        let wake = self.at(None)?;
        let tree = self.cycle.store.tree_of(wake)?;
        let now = self.cycle.shared.world.now();
        let snapshot = self.snapshot_of(wake)?;
        let graph = snapshot.graph();
        let excerpt = Excerpt::of(&graph, now, limits::MEASURED_NEURONS);
        let hops = self.cycle.shared.policy.settings.activation.max_depth;
        let entries = ledger::newest(&self.cycle.store, tree, limits::MEASURED_ENTRIES)?;
        let mut stated = Vec::new();
        for entry in &entries {
            stated.push((entry, ledger::states_value(&self.cycle.store, tree, entry)?));
        }
        let mut vitals = Vitals {
            saliences: Saliences::of(&graph, now),
            branching: Branching::of(&self.cycle.rounds(wake, limits::ROUNDS_WALK)?),
            structure: Structure::of(&excerpt, hops),
            calibration: calibration(stated.iter().map(|(entry, is_stated)| (*entry, *is_stated))),
            narrative_gap: self.narrative_gap(None)?,
            recall_by_age: self.recall_by_age(&snapshot.index(), tree, now)?,
            since_sleep: self.since_sleep(wake)?,
            verdicts: Vec::new(),
        };
        vitals.verdicts = self.verdicts(wake, &graph, &entries, &vitals)?;
        Ok(vitals)
    }

    /// Is it a brain yet, by the vital signs and by what wake's history and its waves say.
    fn verdicts(
        &self,
        wake: CommitId,
        graph: &Graph<'_>,
        entries: &[LedgerEntry],
        vitals: &Vitals,
    ) -> Result<Vec<Verdict>, BrainError> {
        let (store, settings) = (&self.cycle.store, &self.cycle.shared.policy.settings);
        let counts = count::counts(store, store.tree_of(wake)?)?;
        let files = counts.get("neurons").copied().unwrap_or(0);
        let nodes = (0..graph.len() as u32).map(NodeIx);
        let read = nodes.filter(|node| graph.is_present(*node) || graph.is_archived(*node)).count();
        let rounds = self.cycle.rounds(wake, limits::ROUNDS_WALK)?;
        let started = |least: usize| rounds.iter().map(|r| r.started).filter(|n| *n >= least).sum::<usize>();
        let mut settled = 0;
        for commit in store.first_parents(wake, None).take(limits::ROUNDS_WALK) {
            settled += LogEntry::settled(&commit?).count();
        }
        let pairs: Vec<(f64, f64)> = entries.iter().map(|e| (e.prediction.value, e.outcome.value)).collect();
        let findings = Findings {
            files: (files, read),
            beside: (started(2), started(1), self.cycle.pending()?.len()),
            settled,
            waves: waves(graph, self.cycle.shared.world.now(), &settings.activation),
            branching: (&vitals.branching, settings.inhibition.ratio),
            structure: vitals.structure.as_ref(),
            predictions: vitals.calibration.as_ref().map(|calibration| (calibration, Constant::of(&pairs))),
            recall: &vitals.recall_by_age,
        };
        Ok(findings.verdicts())
    }

    /// The vital signs of a brain as large as that: those of now where that takes a moment or is wished, else those that were kept last,
    /// if any were, which say when they were taken.
    pub(super) fn vitals_at_hand(&self, neurons: usize, now: bool) -> Result<Option<Vitals>, BrainError> {
        if now || neurons <= limits::VITALS_AT_ONCE {
            return self.vitals_kept().map(Some);
        }
        Ok(self.cycle.store.cached_document(KEPT))
    }

    /// The vital signs of now, which are kept.
    fn vitals_kept(&self) -> Result<Vitals, BrainError> {
        let vitals = self.vitals()?;
        self.cycle.store.keep_document(KEPT, &vitals);
        Ok(vitals)
    }

    /// Takes the vital signs of a large brain, for those who ask by day. What fails is only noted.
    pub(super) fn leave_vitals(&self) {
        let taken = (|| {
            let neurons = self.snapshot_of(self.at(None)?)?.graph().len();
            if neurons > limits::VITALS_AT_ONCE { self.vitals_kept().map(drop) } else { Ok(()) }
        })();
        if let Err(error) = taken {
            let error: BrainError = error;
            tracing::info!("no vital signs were taken: {error}");
        }
    }

    /// Asks for memories by cloze questions, at most [`limits::CLOZES`] of each age.
    fn recall_by_age(&self, index: &Index<'_>, tree: TreeId, now: Stamp) -> Result<RecallByAge, BrainError> {
        let settings = &self.cycle.shared.policy.settings;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let top = settings.recall.top;
        let filters = Filters { top: Some(top), ..Filters::default() };
        let mut texts: BTreeMap<NodeIx, String> = BTreeMap::new();
        let mut text = |node: NodeIx| -> Result<String, BrainError> {
            if let Some(known) = texts.get(&node) {
                return Ok(known.clone());
            }
            let id = NeuronId::parse(index.graph.id(node)).ok();
            let neuron = id.map(|id| network.shared(&id)).transpose()?.flatten();
            let concept = neuron.map(|neuron| neuron.concept.clone()).unwrap_or_default();
            Ok(texts.entry(node).or_insert(concept).clone())
        };
        // By what is said, which is as good as chance, and the same on every machine.
        let mut by_age: [Vec<(u64, NodeIx)>; AGES.len()] = Default::default();
        for (node, said) in index.said() {
            by_age[age(index.created(node), now)].push((said, node));
        }
        let mut ages = Vec::new();
        for ((name, _), mut memories) in AGES.into_iter().zip(by_age) {
            memories.sort_unstable_by_key(|(said, node)| (*said, index.graph.order(*node)));
            let mut answers = Vec::new();
            for (_, node) in memories.iter().take(limits::CLOZES) {
                let Some(cloze) = Cloze::of(&text(*node)?, |stem| index.rarity(stem)) else { continue };
                let stems: Vec<&str> = cloze.stems.iter().map(String::as_str).collect();
                let (memories, having) = index.sharing_words(&stems, &cloze.missing);
                let field = Field { memories, having };
                // Where nothing shares a word with the question, every answer is right.
                if field.distractors() == 0 {
                    continue;
                }
                let looked_at = field.looked_at(top);
                let found = answer(index, &cloze.question, now, settings, &filters);
                let nodes: Vec<NodeIx> = found.iter().filter_map(|found| index.graph.find(&found.id)).collect();
                let rank = nodes.iter().position(|found| found == node).map(|at| at + 1);
                let mut hit = false;
                for found in nodes.into_iter().take(looked_at) {
                    hit = hit || cloze.is_answered_by(&text(found)?);
                }
                let (chance, distractors) = (field.chance(looked_at), field.distractors());
                answers.push(Asked { hit, rank, chance, distractors });
            }
            ages.push(Recalled::of(name, memories.len(), &answers));
        }
        Ok(RecallByAge { ages, top })
    }

    /// What changed between main and wake.
    fn since_sleep(&self, wake: CommitId) -> Result<SinceSleep, BrainError> {
        let store = &self.cycle.store;
        let main = store.need_tip(store.main())?;
        let mut found = SinceSleep { main: main.to_string(), ..SinceSleep::default() };
        let changes = store.diff(Some(store.tree_of(main)?), Some(store.tree_of(wake)?), layout::NEURONS)?;
        // Paths are by a hash of the id, so that those at the front are no worse than any others.
        for change in changes {
            let Place::Neuron(id) = Place::of(&change.path) else { continue };
            match (&change.old, &change.new) {
                (None, _) => found.neurons_made += 1,
                (_, None) => found.neurons_gone += 1,
                _ => found.neurons_changed += 1,
            }
            if found.read == limits::MEASURED_CHANGES {
                continue;
            }
            found.read += 1;
            let read = |file: Option<File>| -> Result<BTreeMap<(NeuronId, Link), u16>, BrainError> {
                let Some(file) = file else { return Ok(BTreeMap::new()) };
                Ok(weights(&decode_neuron(&store.content(file.blob)?, &change.path, &id)?))
            };
            found.compare(&read(change.old)?, &read(change.new)?);
        }
        Ok(found)
    }
}

/// Waves from the most salient neurons, with the beam and without it.
fn waves(graph: &Graph<'_>, now: Stamp, activation: &Activation) -> Waves {
    let mut salient: Vec<(u16, u64, NodeIx)> =
        graph.nodes().map(|node| (graph.salience_at(node, now), graph.order(node), node)).collect();
    let all = salient.len().max(1) as f64;
    salient.sort_unstable_by_key(|(salience, order, _)| (std::cmp::Reverse(*salience), *order));
    let (profile, wide) = (Profile::seed(activation), Profile::seed(&Activation { beam: 0, ..activation.clone() }));
    let (mut found, mut kept, mut whole) = (Waves::default(), 0.0, 0.0);
    for (.., node) in salient.into_iter().take(limits::MEASURED_WAVES) {
        let cue = [Cue::new(node, 1.0)];
        let wave = propagate(graph, &cue, now, &profile);
        found.count += 1;
        found.reached += wave.activation.len() as f64 / all;
        if wave.cut.beam > 0 {
            found.cut += 1;
            let sum = |wave: &Propagation| wave.activation.iter().map(|(_, x)| x).sum::<f64>();
            kept += sum(&wave);
            whole += sum(&propagate(graph, &cue, now, &wide));
        }
    }
    found.reached /= found.count.max(1) as f64;
    found.kept = if whole > 0.0 { kept / whole } else { 1.0 };
    found
}

fn weights(neuron: &Neuron) -> BTreeMap<(NeuronId, Link), u16> {
    neuron.connections.iter().map(|c| ((c.target.clone(), c.link), c.weight)).collect()
}

impl SinceSleep {
    fn compare(&mut self, before: &BTreeMap<(NeuronId, Link), u16>, after: &BTreeMap<(NeuronId, Link), u16>) {
        self.connections_gone += before.keys().filter(|key| !after.contains_key(key)).count();
        for (key, weight) in after {
            let counter = match before.get(key) {
                None => &mut self.connections_made,
                Some(old) if old < weight => &mut self.connections_strengthened,
                Some(old) if old > weight => &mut self.connections_weakened,
                Some(_) => continue,
            };
            *counter += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_what_became_of_them() {
        let of = |list: &[(&str, u16)]| {
            list.iter().map(|(id, weight)| ((NeuronId::parse(id).unwrap(), Link::FeedsInto), *weight)).collect()
        };
        let mut found = SinceSleep::default();
        found.compare(&of(&[("a", 5), ("b", 5), ("c", 5), ("d", 5)]), &of(&[("a", 6), ("b", 4), ("c", 5), ("e", 1)]));
        let counted = (found.connections_made, found.connections_strengthened, found.connections_weakened);
        assert_eq!((counted, found.connections_gone), ((1, 1, 1), 1));
    }
}
