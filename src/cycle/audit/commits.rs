//! Checks of a commit by its own difference: authors, records, definitions of main at that time, core neurons and the ledger.

use std::collections::BTreeMap;

use super::Auditor;
use super::story::told_awake;
use crate::audit::difference::{Change, faults};
use crate::audit::{Finding, Level, Rule};
use crate::cycle::admission::author::is_squashed;
use crate::cycle::said::{measured, said_by};
use crate::cycle::trailers::{INTEGRITY, SLEEP, SLEEP_TRAILER, SNAPSHOT_TRAILER};
use crate::cycle::{CycleError, EVALUATOR, bootstrap};
use crate::delta::{Document, LedgerEntry, Limits, Operation, RunRecord};
use crate::integrity::metrics::Counts;
use crate::limits;
use crate::model::ids::{NeuronId, RunId};
use crate::model::layout::{self, Place};
use crate::model::{Kind, Link, Neuron};
use crate::store::{Commit, CommitId, FileChange, Store, TreeId};

/// Whether sleep and agents have to leave a neuron as it is.
fn is_kept(neuron: &Neuron) -> bool {
    neuron.kind == Kind::Core || neuron.pinned
}

fn neuron_at(store: &Store, tree: TreeId, id: &NeuronId) -> Result<Option<Neuron>, CycleError> {
    let path = layout::neuron(id);
    let bytes = store.read(tree, &path)?;
    Ok(bytes.and_then(|bytes| Neuron::decode(&bytes, &path).ok()))
}

/// The neurons that a commit touched, as they were and are. What cannot be read is a fault already.
fn touched(store: &Store, changes: &[FileChange]) -> Result<BTreeMap<NeuronId, Change>, CycleError> {
    let mut found = BTreeMap::new();
    for change in changes {
        let Place::Neuron(id) = Place::of(&change.path) else { continue };
        let read = |file: Option<crate::store::File>| -> Result<Option<Neuron>, CycleError> {
            let Some(file) = file.filter(|file| file.is_regular()) else { return Ok(None) };
            Ok(Neuron::decode(&store.content(file.blob)?, &change.path).ok())
        };
        let (before, after) = (read(change.old)?, read(change.new)?);
        // Laid out anew, it says the same.
        if before != after {
            found.insert(id, (before, after));
        }
    }
    Ok(found)
}

impl Auditor<'_> {
    /// The findings of a commit beside those of the gate.
    pub(super) fn own_checks(&mut self, commit: &Commit) -> Result<Vec<Finding>, CycleError> {
        let store = &self.cycle.store;
        let mut found = Vec::new();
        if commit.parents.is_empty() && !self.historian.is_root(commit.id) {
            found.push(Finding::new(
                Rule::ForeignRoot,
                commit.id,
                "begins a history of its own, which is not that of main",
            ));
        }
        if let Some(counts) = commit.trailer(INTEGRITY).and_then(|text| serde_json::from_str::<Counts>(text).ok()) {
            let who = commit.agent().map_or_else(|| "chat".to_owned(), |agent| agent.to_string());
            // A voice is heard once.
            let drift = self.is_new.then(|| self.audited.voices.entry(who.clone()).or_default().hear(counts)).flatten();
            if let Some(what) = drift {
                let run = commit.trailer("Run").unwrap_or_default();
                let finding = Finding::new(Rule::MetricDrift, commit.id, format!("{who} drifts: {what}")).of_run(run);
                self.audited.drifts.insert(finding.clone());
                self.audited.add(finding);
            }
        }
        self.dates(commit, &mut found)?;
        let [parent] = commit.parents[..] else { return Ok(found) };
        let before = store.tree_of(parent)?;
        let changes = store.diff(Some(before), Some(commit.tree), "")?;
        let added: Vec<RunId> = changes
            .iter()
            .filter_map(|change| match Place::of(&change.path) {
                Place::Run(run) if change.old.is_none() => Some(run),
                _ => None,
            })
            .collect();
        let is_sleep = commit.trailer(SLEEP_TRAILER).is_some();
        let is_undo = commit.trailer("Undoes").is_some();
        let by_agent = commit.agent().filter(|agent| agent.as_str() != SLEEP);
        let in_place = self.historian.run_in_place(commit, parent, &added)?;
        self.written_once(commit, &changes, &mut found);
        let is_agents = by_agent.is_some() || commit.is_of_agents_domain() && !is_sleep || in_place.is_some();
        if (is_agents || commit.agents_hand().is_some())
            && let Some(change) = changes.iter().find(|change| !change.path.starts_with("network/"))
        {
            let message = "is changed by a run of an agent: settings, definitions and council members are for people";
            found.push(Finding::new(Rule::PolicyByAgent, commit.id, message).at(&change.path, 1));
        }
        if is_sleep {
            self.sleep(commit, parent, &mut found)?;
        }
        if is_sleep || is_undo {
            return Ok(found);
        }
        self.ledger(commit, &changes, &mut found)?;
        found.extend(told_awake(commit, &changes));
        if let Some(agent) = &by_agent
            && added.iter().any(|run| run.agent() != *agent)
        {
            let message = format!("is by {agent}, and has a record of another agent's run");
            found.push(Finding::new(Rule::SingleWriter, commit.id, message));
        }
        let neurons = touched(store, &changes)?;
        if let Some(record) = &in_place {
            self.audited.runs += usize::from(self.is_new);
            self.run(commit, record, &neurons, &mut found)?;
            self.authority(commit, parent, record, &mut found)?;
        } else if let [run] = &added[..]
            && run.is_a_persons()
            && let Some(record) = self.cycle.record_in(commit.tree, run)?
            && record.base.as_ref().is_none_or(|base| *base == parent.to_string())
        {
            self.audited.runs += usize::from(self.is_new);
            self.record(commit, &record, &neurons, &mut found);
        }
        Ok(found)
    }

    /// A commit that is older than its parents, by more than clocks may differ.
    fn dates(&self, commit: &Commit, found: &mut Vec<Finding>) -> Result<(), CycleError> {
        for parent in &commit.parents {
            let Ok(parent) = self.cycle.store.commit(*parent) else { continue };
            if parent.committed.saturating_sub(commit.committed) > limits::FUTURE_SECONDS {
                let mut finding = Finding::new(
                    Rule::Clock,
                    commit.id,
                    format!("is dated before {}, upon which it was made", parent.id),
                );
                // A clock that is wrong is no fault of who worked by it: what rests on the date is asked otherwise.
                finding.level = Level::Warn;
                found.push(finding);
                break;
            }
        }
        Ok(())
    }

    /// Files that are written once, whoever changes them; what a `git revert` takes back goes as the gate allows.
    fn written_once(&self, commit: &Commit, changes: &[FileChange], found: &mut Vec<Finding>) {
        let immutable = |change: &&FileChange| {
            let place = Place::of(&change.path);
            change.old.is_some() && change.new.is_some() && place.is_immutable() && !place.lesser_stands()
        };
        found.extend(changes.iter().filter(immutable).map(|change| {
            Finding::new(Rule::WrittenOnce, commit.id, "is changed, and it is written once for ever")
                .at(&change.path, 1)
        }));
    }

    /// A run of an agent, where it was made.
    fn run(
        &mut self,
        commit: &Commit,
        record: &RunRecord,
        neurons: &BTreeMap<NeuronId, Change>,
        found: &mut Vec<Finding>,
    ) -> Result<(), CycleError> {
        // A person leaves the record of a run that is thrown away; the gate asks whether that person may.
        if record.is_left_over() {
            return Ok(());
        }
        self.note_run(&record.run, commit.id)?;
        if let Some(parent) = commit.parents.first()
            && let Some(newest) = self.cycle.newest_run(*parent)?.filter(|newest| *newest > record.run)
        {
            let message =
                format!("is of {}, and starts from {newest}, which is newer: ids grow along history", record.run);
            found.push(Finding::new(Rule::Clock, commit.id, message).of_run(&record.run));
        }
        if is_squashed(commit) {
            self.record(commit, record, neurons, found);
            return Ok(());
        }
        for (key, is) in [("Run", record.run.as_str()), ("Agent", record.agent.as_str())] {
            if commit.trailer(key) != Some(is) {
                let message = format!("does not say {key}: {is}, as its record does");
                found.push(Finding::new(Rule::ForgedTrailer, commit.id, message).of_run(&record.run));
            }
        }
        self.record(commit, record, neurons, found);
        for (id, (before, after)) in neurons {
            let Some(before) = before.as_ref().filter(|before| is_kept(before)) else { continue };
            let what = match after {
                None => "is removed",
                Some(after) if before.pinned && !after.pinned => "is unpinned",
                Some(after) if before.kind == Kind::Core && after.kind != Kind::Core => "is retyped",
                Some(after) if after.is_archived() && !before.is_archived() => "is archived",
                Some(_) => continue,
            };
            let message = format!("is core or pinned, and {what} by an agent");
            found.push(Finding::new(Rule::CorePruned, commit.id, message).at(&layout::neuron(id), 1));
        }
        if let Some(told) = commit.trailer(INTEGRITY) {
            let document = Document { agent: None, prediction: record.prediction.clone(), ops: record.ops.clone() };
            let is = measured(&said_by(&document)).map(|(_, value)| value);
            if is.as_deref() != Some(told) {
                let message = "has measures that are not those of what its run said";
                found.push(Finding::new(Rule::MetricForged, commit.id, message));
            }
        }
        Ok(())
    }

    /// A record against the neurons, and connections that say opposite things.
    fn record(
        &self,
        commit: &Commit,
        record: &RunRecord,
        neurons: &BTreeMap<NeuronId, Change>,
        found: &mut Vec<Finding>,
    ) {
        for (id, fault) in faults(record, neurons) {
            found.push(
                Finding::new(Rule::RecordMismatch, commit.id, fault).at(&layout::neuron(&id), 1).of_run(&record.run),
            );
        }
        let opposed = |neuron: &Neuron| -> Vec<NeuronId> {
            let has = |target: &NeuronId, link| neuron.connection(target, link).is_some_and(|c| c.weight > 0);
            let ties = neuron.connections.iter().filter(|c| c.link == Link::FeedsInto && c.weight > 0);
            ties.filter(|c| has(&c.target, Link::Inhibits)).map(|c| c.target.clone()).collect()
        };
        for (id, (before, after)) in neurons {
            let was = before.as_ref().map(opposed).unwrap_or_default();
            let new = after.as_ref().map(opposed).unwrap_or_default().into_iter().find(|target| !was.contains(target));
            if let Some(target) = new {
                let message = format!("feeds {target} and inhibits it");
                found.push(Finding::new(Rule::Contradiction, commit.id, message).at(&layout::neuron(id), 1));
            }
        }
    }

    /// A run's operations against the definitions of main at its time.
    fn authority(
        &self,
        commit: &Commit,
        parent: CommitId,
        record: &RunRecord,
        found: &mut Vec<Finding>,
    ) -> Result<(), CycleError> {
        if record.agent.as_str() == EVALUATOR {
            return Ok(());
        }
        // A client that the brain has no file of has the definition that the engine gives it.
        let client = bootstrap::client(&record.agent);
        // Nothing is made before what it is made upon.
        let started = self.cycle.store.commit(parent)?.committed;
        let made = commit.committed.max(started);
        let (eras, of_then) = self.historian.eras_around(started, made);
        let mut wrong = None;
        let then = eras.get(of_then).map(|era| (of_then, era));
        for (at, era) in then.into_iter().chain(eras.iter().enumerate().rev()) {
            let why = match self.historian.agent(era, &record.agent).or(client.as_ref()) {
                None => {
                    Some(format!("there was no agent {} on main at its time ({})", record.agent, short(era.commit)))
                }
                Some(agent) => may(&Limits::from(agent), record).err(),
            };
            match why {
                None if at == of_then || era.since == made => return Ok(()),
                None => {
                    let (when, other) = if at < of_then { ("before", at + 1) } else { ("of", at) };
                    let of = short(eras[other].commit);
                    let name = &record.agent;
                    let message =
                        format!("rests on the definition of {name} {when} {of}, by its date another one was in force");
                    found.push(Finding::new(Rule::OldAuthority, commit.id, message).of_run(&record.run));
                    return Ok(());
                }
                Some(why) => wrong = wrong.or(Some(why)),
            }
        }
        found.extend(wrong.map(|why| Finding::new(Rule::Capability, commit.id, why).of_run(&record.run)));
        Ok(())
    }

    /// A sleep removes, archives or unpins no core or pinned neuron: of what both the day and main had.
    fn sleep(&self, commit: &Commit, parent: CommitId, found: &mut Vec<Finding>) -> Result<(), CycleError> {
        let store = &self.cycle.store;
        let before = store.tree_of(parent)?;
        let snapshot = commit.trailer(SNAPSHOT_TRAILER).and_then(|id| CommitId::parse(id).ok());
        let Some(day) = snapshot.and_then(|id| store.commit(id).ok()) else { return Ok(()) };
        for change in store.diff(Some(day.tree), Some(commit.tree), layout::NEURONS)? {
            let (Place::Neuron(id), Some(_)) = (Place::of(&change.path), change.old) else { continue };
            let Some(was) = neuron_at(store, day.tree, &id)?.filter(is_kept) else { continue };
            let on_main = neuron_at(store, before, &id)?;
            // Main gets nothing of an origin that it does not trust.
            if on_main.is_none() && self.cycle.settings_at(parent)?.origins.is_tainted(&was.origin) {
                continue;
            }
            let what = match neuron_at(store, commit.tree, &id)? {
                None => "is removed",
                Some(now) if was.pinned && !now.pinned && on_main.is_none_or(|main| main.pinned) => "is unpinned",
                Some(now) if now.is_archived() && !was.is_archived() => "is archived",
                Some(_) => continue,
            };
            let message = format!("is core or pinned, and {what} by a sleep");
            found.push(Finding::new(Rule::CorePruned, commit.id, message).at(&change.path, 1));
        }
        Ok(())
    }

    /// Ledger entries without the run and the prediction that they are about.
    fn ledger(&self, commit: &Commit, changes: &[FileChange], found: &mut Vec<Finding>) -> Result<(), CycleError> {
        for change in changes.iter().filter(|change| change.old.is_none()) {
            let (Some(new), Place::Ledger(run)) = (change.new, Place::of(&change.path)) else { continue };
            let why = self.ledger_fault(commit, &run, &self.cycle.store.content(new.blob)?, &change.path)?;
            found.extend(why.map(|why| Finding::new(Rule::LedgerGap, commit.id, why).at(&change.path, 1)));
        }
        Ok(())
    }

    fn ledger_fault(
        &self,
        commit: &Commit,
        run: &RunId,
        bytes: &[u8],
        path: &str,
    ) -> Result<Option<String>, CycleError> {
        // What does not parse was told already.
        let Ok(entry) = LedgerEntry::decode(bytes, path) else { return Ok(None) };
        let Some(own) = self.cycle.record_in(commit.tree, run)? else {
            return Ok(Some(format!("is of {run}, of which there is no record")));
        };
        let judges = |op: &Operation| matches!(op, Operation::Outcome(outcome) if outcome.run == entry.judged);
        if !own.ops.iter().any(judges) {
            return Ok(Some(format!("judges {}, and the operations of {run} do not", entry.judged)));
        }
        let Some(judged) = self.cycle.record_in(commit.tree, &entry.judged)? else {
            return Ok(Some(format!("judges {}, of which there is no record", entry.judged)));
        };
        let stated = judged.prediction.as_ref().and_then(|prediction| prediction.value);
        let is_other = stated.is_some_and(|value| (value - entry.prediction.value).abs() > 1e-9);
        let error = entry.outcome.value - entry.prediction.value;
        Ok(match () {
            () if is_other => Some(format!("says that {} expected {}", entry.judged, entry.prediction.value)),
            () if (error - entry.error).abs() > 1e-6 => {
                Some(format!("has the error {}, which is not outcome minus prediction", entry.error))
            }
            () => None,
        })
    }
}

fn short(id: CommitId) -> String {
    id.to_string().chars().take(12).collect()
}

/// Whether an agent may do what a record says, as far as record and definition alone tell.
fn may(limits: &Limits, record: &RunRecord) -> Result<(), String> {
    limits.check_count(record.ops.len())?;
    for op in &record.ops {
        limits.check_operation(op)?;
    }
    let made = record.effects.iter().filter(|effect| effect.created.is_some());
    let asked = record.ops.iter().filter(|op| matches!(op, Operation::Create(_))).count();
    for neuron in made.filter_map(|effect| effect.created.as_ref()).take(asked) {
        limits.check_kind(neuron.kind)?;
    }
    Ok(())
}
