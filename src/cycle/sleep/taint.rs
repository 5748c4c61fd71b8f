//! The snapshot without what is not approved: tainted neurons, connections to them, the records of tainted runs, what those runs
//! did to neurons that are not tainted themselves, the stimuli that they perceived or that wait, and their signals, answers, flags,
//! goals and judgements. Of a run that a person took back the same, and the record of the taking back with it.
//!
//! All of it stays in wake. So a sleep moves nothing to main that came from an origin that nobody here trusts, neither as a neuron nor as
//! a weight, a salience or a word.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::DOCUMENTS;
use super::survey::{Survey, read_all};
use crate::cycle::network::format_of;
use crate::cycle::{Cycle, CycleError};
use crate::delta::{Effect, RunOutline, RunRecord};
use crate::merge;
use crate::model::document::Stimulus;
use crate::model::ids::{NeuronId, RunId, StimulusId};
use crate::model::layout::{self, Place};
use crate::model::origin::Origins;
use crate::model::settings::MergePolicy;
use crate::model::{Neuron, json};
use crate::store::{Change, FileChange, ObjectWriter, TreeEdit, TreeId};

/// The snapshot of a sleep.
pub(super) struct Snapshot {
    pub tree: TreeId,
    /// Neurons that stay in wake.
    pub left_out: BTreeSet<NeuronId>,
    /// Neurons that nothing but tainted runs touched since main: their day is none.
    pub untouched: BTreeSet<NeuronId>,
    /// The runs since main, in outline.
    pub runs: Vec<(String, RunOutline)>,
}

impl Cycle {
    /// The tree without what is tainted: of this day, and of earlier ones, whose records `main` does not have either.
    ///
    /// A neuron that a tainted run has renamed and that main knows stays as main has it.
    pub(super) fn without_tainted(
        &self,
        writer: &ObjectWriter<'_>,
        survey: &Survey,
        sleep: &RunId,
        [main, tree]: [TreeId; 2],
        origins: &Origins,
    ) -> Result<Snapshot, CycleError> {
        let mut left_out: BTreeSet<NeuronId> = survey.noticed(|glance| glance.tainted).cloned().collect();
        let mut known = read_all(&self.store, main, left_out.iter().cloned())?;
        known.retain(|_, neuron| !origins.is_tainted(&neuron.origin));
        left_out.retain(|id| !known.contains_key(id));
        let runs = self.outlines_between(main, tree)?;
        let (approved, taken_back) = settled(runs.iter().map(|(_, run)| run));
        let mut held: Vec<&(String, RunOutline)> =
            runs.iter().filter(|(_, run)| origins.is_tainted(&run.origin) && !approved.contains(&run.run)).collect();
        let records = self.newest_first(tree, held.iter().map(|(path, _)| path))?;
        let files = self.without_files([main, tree], &records, origins)?;
        // What was taken back has no effect any more, and the record that took it back tells what it was.
        let records: Vec<RunRecord> = records.into_iter().filter(|record| !taken_back.contains(&record.run)).collect();
        let mut names: BTreeSet<&RunId> = held.iter().map(|(_, run)| &run.run).collect();
        // The oldest first: a taking back may be taken back.
        let mut backs: Vec<_> =
            runs.iter().filter(|(_, run)| run.run.is_a_persons() && !run.reverts.is_empty()).collect();
        backs.sort_by(|a, b| a.1.run.cmp(&b.1.run));
        for back in backs {
            if back.1.reverts.iter().any(|run| names.contains(run)) && names.insert(&back.1.run) {
                held.push(back);
            }
        }
        let mut changed = self.without_effects(tree, &records, sleep, &left_out)?;
        let consolidated = read_all(&self.store, main, changed.keys().cloned())?;
        let mut untouched = BTreeSet::new();
        // What main has of a neuron may point to one that wake has let go meanwhile.
        let mut of_main: BTreeSet<NeuronId> = known.keys().cloned().collect();
        for (id, before) in consolidated {
            let Some(now) = changed.get_mut(&id).filter(|now| says_as_much(&before, now)) else { continue };
            // Not even a mark of those runs: only what was approved meanwhile is news.
            if now.origin == before.origin {
                *now = before;
                of_main.insert(id.clone());
            }
            untouched.insert(id);
        }
        changed.extend(known);
        let sources = survey.pointing_to(&left_out).into_iter().filter(|id| !left_out.contains(id));
        for (id, neuron) in read_all(&self.store, tree, sources)? {
            changed.entry(id).or_insert(neuron);
        }
        let mut edits: Vec<TreeEdit> = left_out.iter().map(|id| TreeEdit::new(layout::neuron(id), None)).collect();
        let format = format_of(&self.store, tree)?;
        for (id, mut neuron) in changed {
            neuron.connections.retain(|c| !left_out.contains(&c.target));
            if of_main.contains(&id) {
                let mut there = Vec::with_capacity(neuron.connections.len());
                for connection in std::mem::take(&mut neuron.connections) {
                    if self.store.file(tree, &layout::neuron(&connection.target))?.is_some() {
                        there.push(connection);
                    }
                }
                neuron.connections = there;
            }
            let path = layout::neuron(&id);
            let bytes = neuron.encode_as(format);
            if self.store.read(tree, &path)?.as_ref() != Some(&bytes) {
                edits.push(TreeEdit::new(path, Some(bytes)));
            }
        }
        edits.extend(held.into_iter().map(|(path, _)| TreeEdit::new(path.clone(), None)));
        edits.extend(files);
        let tree = if edits.is_empty() { tree } else { writer.edit(Some(tree), edits)? };
        Ok(Snapshot { tree, left_out, untouched, runs })
    }

    /// The records of runs, the newest run first.
    fn newest_first<'p>(
        &self,
        tree: TreeId,
        paths: impl Iterator<Item = &'p String>,
    ) -> Result<Vec<RunRecord>, CycleError> {
        let mut records = Vec::new();
        for path in paths {
            let Some(bytes) = self.store.read(tree, path)? else { continue };
            records.push(RunRecord::decode(&bytes, path)?);
        }
        records.sort_by(|a, b| b.run.cmp(&a.run));
        Ok(records)
    }

    /// What those runs wrote beside neurons, as main has it: the stimuli that they perceived, and those of tainted origins that wait;
    /// their signals and answers; the flags, goals and judgements that they set last.
    fn without_files(
        &self,
        [main, tree]: [TreeId; 2],
        records: &[RunRecord],
        origins: &Origins,
    ) -> Result<Vec<TreeEdit>, CycleError> {
        let runs: BTreeSet<&RunId> = records.iter().map(|record| &record.run).collect();
        let mut stimuli: BTreeSet<StimulusId> = records.iter().flat_map(|record| record.stimuli.clone()).collect();
        let (mut found, mut waiting) = (Vec::new(), false);
        for change in self.store.diff(Some(main), Some(tree), layout::QUEUE)? {
            if let (Place::Queue(id), Some(entry)) = (Place::of(&change.path), change.new)
                && let Some(path) = layout::queued_path(&id, &self.store.content(entry.blob)?)
                && let Some(bytes) = self.store.read(tree, &path)?
                && Stimulus::decode(&bytes, &path).is_ok_and(|stimulus| origins.is_tainted(&stimulus.origin))
            {
                (waiting, _) = (true, stimuli.insert(id));
            }
        }
        if records.is_empty() && !waiting {
            return Ok(found);
        }
        for folder in DOCUMENTS {
            for FileChange { path, old, new } in self.store.diff(Some(main), Some(tree), folder)? {
                let held = match (Place::of(&path), new) {
                    (Place::Stimulus(id) | Place::Queue(id), Some(_)) => stimuli.contains(&id),
                    (
                        Place::Ledger(run) | Place::Deliberation(run) | Place::Wisdom(run) | Place::Sealed(run),
                        Some(_),
                    ) => runs.contains(&run),
                    (Place::Signal(..) | Place::Acknowledgement(..) | Place::Flag(_) | Place::Goal, Some(file)) => {
                        let by: SetBy = json::typed(&self.store.content(file.blob)?, &path)?;
                        by.run.is_some_and(|run| runs.contains(&run))
                    }
                    _ => false,
                };
                if held {
                    found.push(TreeEdit { path, change: old.map_or(Change::Remove, Change::Put) });
                }
            }
        }
        Ok(found)
    }

    /// Neurons that stay, without what the recorded runs did to them, the newest run first. What a person has approved stays as it is.
    fn without_effects(
        &self,
        tree: TreeId,
        records: &[RunRecord],
        sleep: &RunId,
        left_out: &BTreeSet<NeuronId>,
    ) -> Result<BTreeMap<NeuronId, Neuron>, CycleError> {
        let stays = |id: &&NeuronId| !left_out.contains(*id);
        let touched = records.iter().flat_map(|r| &r.effects).filter_map(Effect::id).filter(stays);
        let pointed = records.iter().flat_map(|r| &r.effects).flat_map(|e| &e.connections).map(|c| &c.target);
        let ids: BTreeSet<NeuronId> = touched.chain(pointed.filter(stays)).cloned().collect();
        let there = read_all(&self.store, tree, ids)?;
        let approved = |id: &NeuronId| there.get(id).is_some_and(|n| n.origin.is_approved());
        let mut without: BTreeMap<NeuronId, Neuron> = BTreeMap::new();
        for record in records {
            for effect in &record.effects {
                let Some((id, neuron)) = effect.id().and_then(|id| there.get_key_value(id)) else { continue };
                if left_out.contains(id) || approved(id) || effect.created.is_some() || effect.removed.is_some() {
                    continue;
                }
                let mut effect = effect.clone();
                effect.connections.retain(|c| !approved(&c.target));
                let neuron = without.remove(id).unwrap_or_else(|| neuron.clone());
                let (version, run) = (neuron.version.xor(effect.version_moved(&record.run)), neuron.run.clone());
                let merged = merge::take_back(&effect, sleep, &neuron, &MergePolicy::default());
                let taken = merged.neuron.unwrap_or(neuron);
                without.insert(id.clone(), Neuron { version, run, ..taken });
            }
        }
        Ok(without)
    }
}

/// Of a signal, an answer, a flag or a goal, the run that wrote it.
#[derive(Deserialize)]
pub(in crate::cycle) struct SetBy {
    #[serde(default)]
    pub run: Option<RunId>,
}

/// Whether a neuron was neither activated nor changed in between.
fn says_as_much(before: &Neuron, now: &Neuron) -> bool {
    let told = |n: &Neuron| {
        (n.concept.clone(), n.kind, n.activation_count, n.pinned, n.archived.clone(), n.connections.clone())
    };
    told(before) == told(now)
}

/// The runs that a person has approved, and those that a person has taken back: of the first nothing is held out, of the second the
/// effects are none.
pub(in crate::cycle) fn settled<'r>(runs: impl Iterator<Item = &'r RunOutline>) -> (BTreeSet<RunId>, BTreeSet<RunId>) {
    let (mut approved, mut taken_back) = (BTreeSet::new(), BTreeSet::new());
    let mut own: Vec<&RunOutline> = runs.filter(|run| run.run.is_a_persons()).collect();
    // The newest first: what was taken back itself says nothing any more.
    own.sort_by(|a, b| b.run.cmp(&a.run));
    for run in own {
        if !taken_back.contains(&run.run) {
            approved.extend(run.approves.iter().cloned());
            taken_back.extend(run.reverts.iter().cloned());
        }
    }
    (approved, taken_back)
}
