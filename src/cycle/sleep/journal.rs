//! The record of a sleep, read off the trees: what changed from main to the snapshot and from there to S, and who did it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::prepare::{Prepared, Read as DayRead};
use crate::consolidation::record::{self, FileOf, Line, connection, lines, weights};
use crate::consolidation::{Largest, SleepRecord, Totals, Why};
use crate::cycle::{Cycle, CycleError};
use crate::delta::{Operation, RunOutline};
use crate::model::Neuron;
use crate::model::document::Goal;
use crate::model::ids::{NeuronId, RunId};
use crate::model::json::JsonError;
use crate::model::layout::{self, Place};
use crate::store::{BlobId, CommitId, File, FileChange, TreeId};

/// A neuron's file, read.
type Read = Option<(Arc<Neuron>, BlobId)>;

/// The change of one file between two trees.
struct ChangeOfFile {
    file: FileChange,
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

    /// Its lines; `why` gives the reason of each, from what changed and the neuron as it is in the end.
    fn lines(&self, why: &dyn Fn(&str, Option<&Neuron>) -> String) -> Vec<Line> {
        let Some((_, before, after)) = &self.neuron else {
            let blob = |file: Option<File>| file.map_or(Value::Null, |file| json!(file.blob.to_string()));
            let (old, new) = (blob(self.file.old), blob(self.file.new));
            return vec![Line { why: why(&self.file.path, None), what: self.file.path.clone(), old, new }];
        };
        fn side(read: &Read) -> Option<FileOf<'_>> {
            read.as_ref().map(|(neuron, blob)| FileOf { neuron, blob })
        }
        let last = after.as_ref().or(before.as_ref()).map(|(neuron, _)| neuron.as_ref());
        lines(side(before), side(after), &|what| why(what, last))
    }
}

/// A record as its file has it, and what its message shows.
pub(super) struct Journal {
    pub record: SleepRecord,
    pub largest: Largest,
}

/// Most changes that the message of S names; the record has all.
const LARGEST: usize = 12;

/// The largest changes of a record that has all of its lines.
pub(in crate::cycle) fn largest(record: &SleepRecord) -> Largest {
    let mut largest = Largest::new(LARGEST);
    record.learnt.iter().chain(&record.consolidated).for_each(|line| largest.see_line(line));
    largest
}

impl Cycle {
    /// The record of a sleep whose tree is `tree`, upon main's `main`, every change with its line.
    pub(super) fn journal(&self, prepared: &Prepared, main: CommitId, tree: TreeId) -> Result<SleepRecord, CycleError> {
        let before = self.store.tree_of(main)?;
        let runs = Runs::of(&self.day_of(prepared, before)?.runs);
        let mut learnt = Vec::new();
        let mut consolidated = Vec::new();
        let why = |what: &str, after: Option<&Neuron>| runs.who(what, after);
        let record =
            self.told(prepared, (main, tree), &mut |change| learnt.extend(change.lines(&why)), &mut |line| {
                consolidated.push(line)
            })?;
        Ok(SleepRecord { learnt, consolidated, ..record })
    }

    /// The same in format 2: without the lines that the trees say.
    pub(super) fn brief_journal(
        &self,
        prepared: &Prepared,
        main: CommitId,
        tree: TreeId,
    ) -> Result<Journal, CycleError> {
        let mut largest = Largest::new(LARGEST);
        let mut consolidated = Vec::new();
        let form =
            SleepRecord { format: record::BY_REFERENCE, usual: usual(&prepared.why), ..self.header(prepared, main) };
        let mut of_night = Largest::new(LARGEST);
        let record = self.told(
            prepared,
            (main, tree),
            &mut |change| {
                if let (Some(before), Some(after)) = change.neurons() {
                    for (target, link, old, new) in weights(Some(before), Some(after)) {
                        largest.see(old, new, || connection(&after.id, target, link), "");
                    }
                }
            },
            &mut |line| {
                of_night.see_line(&line);
                if !form.is_implied(&line) {
                    consolidated.push(line);
                }
            },
        )?;
        let day = self.day_of(prepared, self.store.tree_of(main)?)?;
        explain(&mut largest, &day.runs, |id| {
            let file = self.store.file(prepared.snapshot_tree, &layout::neuron(id))?;
            file.map(|file| self.shared.neurons.read(&self.store, file, &layout::neuron(id), id)).transpose()
        })?;
        let largest = largest.with(of_night);
        let (format, usual) = (form.format, form.usual);
        Ok(Journal { record: SleepRecord { format, usual, consolidated, ..record }, largest })
    }

    /// What was read of a sleep's day, with the outlines of its runs.
    fn day_of(&self, prepared: &Prepared, before: TreeId) -> Result<Rc<DayRead>, CycleError> {
        // Main may stand elsewhere than the last night left it: a person has moved it back.
        if !prepared.read.runs.is_empty() && prepared.read.since == self.store.folder(before, layout::RUNS)? {
            return Ok(Rc::clone(&prepared.read));
        }
        let runs = self.outlines_between(before, prepared.snapshot_tree)?;
        Ok(Rc::new(DayRead { runs, ..DayRead::default() }))
    }

    /// A record without lines and totals.
    fn header(&self, prepared: &Prepared, main: CommitId) -> SleepRecord {
        SleepRecord {
            format: record::EVERY_LINE,
            run: prepared.run.clone(),
            at: prepared.at,
            base: main.to_string(),
            snapshot: prepared.snapshot.to_string(),
            left_out: prepared.left_out,
            learnt_totals: Totals::default(),
            consolidated_totals: Totals::default(),
            totals: Totals::default(),
            usual: None,
            further: 0,
            learnt: Vec::new(),
            consolidated: Vec::new(),
        }
    }

    /// Goes over what a day and a night changed; returns the record without lines.
    fn told(
        &self,
        prepared: &Prepared,
        (main, tree): (CommitId, TreeId),
        learnt: &mut dyn FnMut(ChangeOfFile),
        consolidated: &mut dyn FnMut(Line),
    ) -> Result<SleepRecord, CycleError> {
        let before = self.store.tree_of(main)?;
        let known = &prepared.read.neurons;
        let mut record = self.header(prepared, main);
        // Neurons that changed in either part, as they were at first and at last.
        let mut ends: BTreeMap<NeuronId, (Read, Read)> = BTreeMap::new();
        self.each_change(before, prepared.snapshot_tree, known, &mut |change| {
            let (old, new) = change.neurons();
            record.learnt_totals.count(old, new);
            if let Some((id, before, after)) = &change.neuron {
                ends.insert(id.clone(), (before.clone(), after.clone()));
            }
            learnt(change);
        })?;
        let reasons: HashMap<&str, &str> =
            prepared.why.iter().map(|why| (why.what.as_str(), why.reason.as_ref())).collect();
        let because = |what: &str, _: Option<&Neuron>| match reasons.get(what) {
            Some(reason) => (*reason).to_owned(),
            None if what == layout::chapter(&prepared.run) => "the story of the day".to_owned(),
            None if what.ends_with(" run") || what.ends_with(" version") => record::MARKS.to_owned(),
            None => format!("{} had it otherwise, or a person edited it", self.store.main()),
        };
        self.each_change(prepared.snapshot_tree, tree, known, &mut |change| {
            let (old, new) = change.neurons();
            record.consolidated_totals.count(old, new);
            if let Some((id, before, after)) = &change.neuron {
                let both = ends.entry(id.clone()).or_insert_with(|| (before.clone(), None));
                both.1.clone_from(after);
            }
            change.lines(&because).into_iter().for_each(&mut *consolidated);
        })?;
        for (first, last) in ends.values() {
            fn neuron(side: &Read) -> Option<&Neuron> {
                side.as_ref().map(|(neuron, _)| neuron.as_ref())
            }
            record.totals.count(neuron(first), neuron(last));
        }
        Ok(record)
    }

    /// A record of either format with all of its lines, read off the trees: main before, the snapshot, and S.
    pub(in crate::cycle) fn with_lines(
        &self,
        record: SleepRecord,
        before: TreeId,
        snapshot: TreeId,
        tree: TreeId,
    ) -> Result<SleepRecord, CycleError> {
        if record.format != record::BY_REFERENCE {
            return Ok(record);
        }
        let runs = Runs::of(&self.outlines_between(before, snapshot)?);
        let (mut learnt, mut consolidated) = (Vec::new(), Vec::new());
        let known = HashMap::new();
        self.each_change(before, snapshot, &known, &mut |change| {
            learnt.extend(change.lines(&|what, after| runs.who(what, after)));
        })?;
        let said: HashMap<&str, &str> =
            record.consolidated.iter().map(|line| (line.what.as_str(), line.why.as_str())).collect();
        self.each_change(snapshot, tree, &known, &mut |change| {
            for line in change.lines(&|_, _| String::new()) {
                let why = said.get(line.what.as_str()).copied().or_else(|| record.implied(&line));
                if let Some(why) = why.filter(|_| !is_record_of(&record.run, &line)) {
                    consolidated.push(Line { why: why.to_owned(), ..line });
                }
            }
        })?;
        Ok(SleepRecord { learnt, consolidated, ..record })
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
        let brief = record.format == record::BY_REFERENCE;
        let parts = [
            (before, snapshot, &record.learnt, &record.learnt_totals, brief),
            (snapshot, tree, &record.consolidated, &record.consolidated_totals, false),
        ];
        for (old, new, said, said_totals, by_reference) in parts {
            let mut open: HashMap<&str, &Line> = said.iter().map(|line| (line.what.as_str(), line)).collect();
            let (mut why, mut totals) = (None, Totals::default());
            if open.len() != said.len() {
                why = Some("says twice what became of something".to_owned());
            }
            self.each_change(old, new, &HashMap::new(), &mut |change| {
                let (before, after) = change.neurons();
                totals.count(before, after);
                if by_reference {
                    return;
                }
                for line in change.lines(&|_, _| String::new()) {
                    // A sleep's own record tells of all files but itself.
                    if is_record_of(&record.run, &line) {
                        continue;
                    }
                    let wrong = match open.remove(line.what.as_str()) {
                        None if record.implied(&line).is_some() => continue,
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
        self.each_change(before, tree, &HashMap::new(), &mut |change| {
            let (before, after) = change.neurons();
            totals.count(before, after);
        })?;
        let said = &record.totals;
        Ok((totals != *said).then(|| format!("says in all {}, and it was {}", said.words(), totals.words())))
    }

    /// The record of a sleep that a tree has, with all of its lines.
    ///
    /// # Errors
    /// A commit that a record of format 2 refers to is not here, as in a clone of main alone.
    pub fn sleep_record(&self, tree: TreeId, run: &RunId) -> Result<Option<SleepRecord>, CycleError> {
        let Some(record) = self.sleep_file(tree, run)? else { return Ok(None) };
        if record.format != record::BY_REFERENCE {
            return Ok(Some(record));
        }
        let tree_of = |id: &str| {
            let commit = CommitId::parse(id).ok().and_then(|id| self.store.commit(id).ok());
            commit.map(|commit| commit.tree).ok_or_else(|| CycleError::Refused {
                message: format!("the record of {run} refers to commit {id}, which is not here"),
                hint: Some(format!("fetch {} and {} with their history", self.store.main(), self.store.wake())),
            })
        };
        let (before, snapshot) = (tree_of(&record.base)?, tree_of(&record.snapshot)?);
        self.with_lines(record, before, snapshot, tree).map(Some)
    }

    /// The record of a sleep that a tree has, all its parts, with the lines that its files have.
    pub(in crate::cycle) fn sleep_file(&self, tree: TreeId, run: &RunId) -> Result<Option<SleepRecord>, CycleError> {
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

    /// Every change of the network between two trees, one file after the other, but for runs, signals, stimuli and records of sleeps that
    /// wait.
    fn each_change(
        &self,
        old: TreeId,
        new: TreeId,
        known: &HashMap<BlobId, Arc<Neuron>>,
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
                            Ok::<_, CycleError>((neuron, file.blob))
                        });
                        read.transpose()
                    };
                    let (before, after) = (read(change.old)?, read(change.new)?);
                    see(ChangeOfFile { file: change, neuron: Some((id, before, after)) });
                }
                _ => see(ChangeOfFile { file: change, neuron: None }),
            }
        }
        Ok(())
    }
}

/// True for the change of a file of that sleep's record.
fn is_record_of(run: &RunId, line: &Line) -> bool {
    matches!(Place::of(&line.what), Place::Sleep(named) if named == *run)
}

/// The commonest reason of connections, where a record can leave it out.
fn usual(why: &[Why]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for why in why.iter().filter(|why| !why.what.starts_with("neuron ")) {
        *counts.entry(&why.reason).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(reason, _)| reason.to_owned())
}

/// Says of each weight of the day that moved most which run did it.
fn explain(
    largest: &mut Largest,
    runs: &[(String, RunOutline)],
    neuron: impl Fn(&NeuronId) -> Result<Option<Arc<Neuron>>, CycleError>,
) -> Result<(), CycleError> {
    let wanted: HashSet<String> = largest.unexplained().map(|moved| moved.what.clone()).collect();
    let runs = Runs::that_did(runs, &|what| wanted.contains(what));
    for moved in largest.unexplained() {
        let id = moved.what.split(' ').next().and_then(|id| NeuronId::parse(id).ok());
        let neuron = id.map(|id| neuron(&id)).transpose()?.flatten();
        moved.why = runs.who(&moved.what, neuron.as_deref());
    }
    Ok(())
}

/// Which run did what, as their records say.
struct Runs(HashMap<String, RunId>);

impl Runs {
    fn of(records: &[(String, RunOutline)]) -> Self {
        Self::that_did(records, &|_| true)
    }

    /// Of what is asked for alone.
    fn that_did(records: &[(String, RunOutline)], is_asked: &dyn Fn(&str) -> bool) -> Self {
        let mut found: HashMap<String, RunId> = HashMap::new();
        let mut did = |what: String, run: &RunId| {
            if !is_asked(&what) {
                return;
            }
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
                    Operation::Deliberate(_) => did(layout::deliberation(&record.run), &record.run),
                    Operation::Wisdom(_) => did(layout::wisdom(&record.run), &record.run),
                    Operation::Seal(_) => did(layout::sealed(&record.run), &record.run),
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
                    did(connection(id, target, *link), &record.run);
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
