//! The record of a sleep, read off the trees: what changed from main to the snapshot and from there to S, and who did it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::prepare::Prepared;
use crate::consolidation::record::{FileOf, Line, lines};
use crate::consolidation::{SleepRecord, Totals};
use crate::cycle::{Cycle, CycleError};
use crate::delta::{Operation, RunOutline};
use crate::model::Neuron;
use crate::model::document::Goal;
use crate::model::ids::{NeuronId, RunId};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::store::{BlobId, CommitId, File, TreeId};

/// A neuron's file, read.
type Read = Option<(Arc<Neuron>, String)>;

/// The changes between two trees.
#[derive(Default)]
struct Changes {
    lines: Vec<Line>,
    totals: Totals,
    /// Neurons that changed, before and after.
    neurons: BTreeMap<NeuronId, (Read, Read)>,
}

impl Cycle {
    /// The record of a sleep whose tree is `tree`, upon main's `main`.
    pub(super) fn journal(&self, prepared: &Prepared, main: CommitId, tree: TreeId) -> Result<SleepRecord, CycleError> {
        let before = self.store.tree_of(main)?;
        let runs = match prepared.read.runs.is_empty() {
            true => Runs::of(&self.outlines_between(before, prepared.snapshot_tree)?),
            false => Runs::of(&prepared.read.runs),
        };
        let known = &prepared.read.neurons;
        let learnt = self.changes(before, prepared.snapshot_tree, known, &|what, after| runs.who(what, after))?;
        let reasons: HashMap<&str, &str> =
            prepared.why.iter().map(|why| (why.what.as_str(), why.reason.as_str())).collect();
        let because = |what: &str, _: Option<&Neuron>| match reasons.get(what) {
            Some(reason) => (*reason).to_owned(),
            None if what == layout::chapter(&prepared.run) => "the story of the day".to_owned(),
            None if what.ends_with(" run") || what.ends_with(" version") => "this sleep".to_owned(),
            None => format!("{} had it otherwise, or a person edited it", self.store.main()),
        };
        let consolidated = self.changes(prepared.snapshot_tree, tree, known, &because)?;
        let mut totals = Totals::default();
        let both: BTreeSet<&NeuronId> = learnt.neurons.keys().chain(consolidated.neurons.keys()).collect();
        for id in both {
            let first = learnt.neurons.get(id).or(consolidated.neurons.get(id)).map(|(before, _)| before);
            let last = consolidated.neurons.get(id).or(learnt.neurons.get(id)).map(|(_, after)| after);
            fn neuron(side: Option<&Read>) -> Option<&Neuron> {
                side.and_then(Option::as_ref).map(|(neuron, _)| neuron.as_ref())
            }
            totals.count(neuron(first), neuron(last));
        }
        Ok(SleepRecord {
            run: prepared.run.clone(),
            at: prepared.at,
            base: main.to_string(),
            snapshot: prepared.snapshot.to_string(),
            left_out: prepared.left_out,
            learnt_totals: learnt.totals,
            consolidated_totals: consolidated.totals,
            totals,
            further: 0,
            learnt: learnt.lines,
            consolidated: consolidated.lines,
        })
    }

    /// The record of a sleep that a tree has, all its parts.
    pub fn sleep_record(&self, tree: TreeId, run: &RunId) -> Result<Option<SleepRecord>, CycleError> {
        let path = layout::sleep(run);
        let Some(bytes) = self.store.read(tree, &path)? else { return Ok(None) };
        let mut record = SleepRecord::decode(&bytes, &path)?;
        for part in 2..record.further + 2 {
            let path = layout::sleep_part(run, part);
            let bytes = self.store.read(tree, &path)?;
            let missing = || CycleError::Json(JsonError::at(&path, 1, "", "is missing"));
            record.append(&bytes.ok_or_else(missing)?, &path)?;
        }
        Ok(Some(record))
    }

    /// Every change of the network between two trees, but for runs, signals, stimuli and records of sleeps that wait.
    fn changes(
        &self,
        old: TreeId,
        new: TreeId,
        known: &HashMap<BlobId, Arc<Neuron>>,
        why: &dyn Fn(&str, Option<&Neuron>) -> String,
    ) -> Result<Changes, CycleError> {
        let mut changes = Changes::default();
        for change in self.store.diff(Some(old), Some(new), layout::NETWORK)? {
            match Place::of(&change.path) {
                Place::Run(_) | Place::RunNote(_) | Place::Signal(..) | Place::Acknowledgement(..) => {}
                Place::Stimulus(_) | Place::Queue(_) => {}
                Place::Neuron(id) => {
                    let read = |file: Option<File>| -> Result<Read, CycleError> {
                        let read = file.map(|file| {
                            let neuron = match known.get(&file.blob) {
                                Some(neuron) if neuron.id == id => Arc::clone(neuron),
                                _ => self.shared.neurons.read(&self.store, file, &change.path, &id)?,
                            };
                            Ok::<_, CycleError>((neuron, file.blob.to_string()))
                        });
                        read.transpose()
                    };
                    let (before, after) = (read(change.old)?, read(change.new)?);
                    fn file(read: &Read) -> Option<FileOf<'_>> {
                        read.as_ref().map(|(neuron, blob)| FileOf { neuron, blob })
                    }
                    let last = after.as_ref().or(before.as_ref()).map(|(neuron, _)| neuron.as_ref());
                    changes.lines.extend(lines(file(&before), file(&after), &|what| why(what, last)));
                    changes.totals.count(
                        before.as_ref().map(|(neuron, _)| neuron.as_ref()),
                        after.as_ref().map(|(neuron, _)| neuron.as_ref()),
                    );
                    changes.neurons.insert(id, (before, after));
                }
                _ => {
                    let blob = |file: Option<File>| file.map_or(Value::Null, |file| json!(file.blob.to_string()));
                    let (old, new) = (blob(change.old), blob(change.new));
                    changes.lines.push(Line { why: why(&change.path, None), what: change.path, old, new });
                }
            }
        }
        Ok(changes)
    }
}

/// Which run did what, as their records say.
struct Runs(HashMap<String, RunId>);

impl Runs {
    fn of(records: &[(String, RunOutline)]) -> Self {
        let mut found: HashMap<String, RunId> = HashMap::new();
        let mut did = |what: String, run: &RunId| {
            let last = found.entry(what).or_insert_with(|| run.clone());
            if *last < *run {
                *last = run.clone();
            }
        };
        for (_, record) in records {
            // It completes the bootstrap, which no operation says.
            if record.run.agent().as_str() == "bootstrap" {
                did(layout::METADATA.to_owned(), &record.run);
            }
            for op in &record.ops {
                match op {
                    Operation::Outcome(_) => did(layout::ledger(&record.run), &record.run),
                    Operation::Flag(set) => did(layout::flag(&set.name), &record.run),
                    Operation::Goal(set) => {
                        let id = set.id.clone().unwrap_or_else(|| Goal::id_of(&set.text));
                        did(layout::goal(&id), &record.run);
                    }
                    _ => {}
                }
            }
            for effect in &record.effects {
                let id = &effect.neuron;
                if effect.created {
                    did(format!("neuron {id}"), &record.run);
                    continue;
                }
                for (target, link) in &effect.connections {
                    did(format!("{id} connections.{target}.{link}"), &record.run);
                }
                for field in &effect.fields {
                    did(format!("{id} {field}"), &record.run);
                }
            }
        }
        Self(found)
    }

    /// The run that did it; where no record says so, the last one that touched the neuron.
    fn who(&self, what: &str, neuron: Option<&Neuron>) -> String {
        match self.0.get(what).or_else(|| neuron.and_then(|n| n.run.as_ref())) {
            Some(run) => run.to_string(),
            None => "no run".to_owned(),
        }
    }
}
