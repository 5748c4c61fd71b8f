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

/// The change of one file between two trees.
struct ChangeOfFile {
    lines: Vec<Line>,
    /// If it is a neuron's: the neuron, before and after.
    neuron: Option<(NeuronId, Read, Read)>,
}

impl ChangeOfFile {
    fn neurons(&self) -> (Option<&Neuron>, Option<&Neuron>) {
        fn neuron(read: &Read) -> Option<&Neuron> {
            read.as_ref().map(|(neuron, _)| neuron.as_ref())
        }
        self.neuron.as_ref().map_or((None, None), |(_, before, after)| (neuron(before), neuron(after)))
    }
}

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

    /// Why a record does not say what changed from main's `before` to the snapshot, and from there to S's `tree`: each value
    /// before and after, and the totals. The reasons are the sleeper's own.
    pub(in crate::cycle) fn misstated(
        &self,
        record: &SleepRecord,
        before: TreeId,
        snapshot: TreeId,
        tree: TreeId,
    ) -> Result<Option<String>, CycleError> {
        let parts = [
            (before, snapshot, &record.learnt, &record.learnt_totals),
            (snapshot, tree, &record.consolidated, &record.consolidated_totals),
        ];
        for (old, new, said, said_totals) in parts {
            let mut open: HashMap<&str, &Line> = said.iter().map(|line| (line.what.as_str(), line)).collect();
            let (mut why, mut totals) = (None, Totals::default());
            if open.len() != said.len() {
                why = Some("says twice what became of something".to_owned());
            }
            self.each_change(old, new, &HashMap::new(), &|_, _| String::new(), &mut |change| {
                let (before, after) = change.neurons();
                totals.count(before, after);
                for line in change.lines {
                    // A sleep's own record tells of all files but itself.
                    if matches!(Place::of(&line.what), Place::Sleep(run) if run == record.run) {
                        continue;
                    }
                    let wrong = match open.remove(line.what.as_str()) {
                        None => "does not say that it changed".to_owned(),
                        Some(said) if said.old != line.old || said.new != line.new => {
                            format!("says that it went from {} to {}", said.old, said.new)
                        }
                        Some(_) => continue,
                    };
                    why.get_or_insert_with(|| format!("{wrong}: {} went from {} to {}", line.what, line.old, line.new));
                }
            })?;
            if let Some(line) = open.into_values().min_by_key(|line| &line.what) {
                why.get_or_insert_with(|| format!("says that {} changed, and it did not", line.what));
            }
            if totals != *said_totals {
                why.get_or_insert_with(|| {
                    format!("says in all {}, and it was {}", said_totals.words(), totals.words())
                });
            }
            if why.is_some() {
                return Ok(why);
            }
        }
        let mut totals = Totals::default();
        self.each_change(before, tree, &HashMap::new(), &|_, _| String::new(), &mut |change| {
            let (before, after) = change.neurons();
            totals.count(before, after);
        })?;
        let said = &record.totals;
        Ok((totals != *said).then(|| format!("says in all {}, and it was {}", said.words(), totals.words())))
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
        self.each_change(old, new, known, why, &mut |change| {
            let (before, after) = change.neurons();
            changes.totals.count(before, after);
            changes.lines.extend(change.lines);
            if let Some((id, before, after)) = change.neuron {
                changes.neurons.insert(id, (before, after));
            }
        })?;
        Ok(changes)
    }

    /// The same, one file after the other.
    fn each_change(
        &self,
        old: TreeId,
        new: TreeId,
        known: &HashMap<BlobId, Arc<Neuron>>,
        why: &dyn Fn(&str, Option<&Neuron>) -> String,
        see: &mut dyn FnMut(ChangeOfFile),
    ) -> Result<(), CycleError> {
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
                    let lines = lines(file(&before), file(&after), &|what| why(what, last));
                    see(ChangeOfFile { lines, neuron: Some((id, before, after)) });
                }
                _ => {
                    let blob = |file: Option<File>| file.map_or(Value::Null, |file| json!(file.blob.to_string()));
                    let (old, new) = (blob(change.old), blob(change.new));
                    let line = Line { why: why(&change.path, None), what: change.path, old, new };
                    see(ChangeOfFile { lines: vec![line], neuron: None });
                }
            }
        }
        Ok(())
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
