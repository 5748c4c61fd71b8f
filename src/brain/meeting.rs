//! Corrections of one memory that machines made before they met: of two the later one stays, as on one machine. Place in the flow: `sync` →
//! **meeting** → a run of `human` that archives, which the next exchange brings to all.

use std::collections::{BTreeMap, BTreeSet};

use super::gone::Leaving;
use super::replaced::{Side, corrects_text, of_two};
use super::{Brain, BrainError};
use crate::cycle::commit::Draft;
use crate::cycle::network::TreeNetwork;
use crate::cycle::revert::{BROUGHT_BACK, Chosen};
use crate::cycle::snapshot::snapshot_beside;
use crate::cycle::statement::{Made, SETTLED};
use crate::delta::{Operation, RunRecord};
use crate::limits;
use crate::model::ids::{NeuronId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Neuron, Stimulus};
use crate::review::REASON;
use crate::store::CommitId;

/// Where it is kept from which commit on two machines went apart, until what they corrected is settled: in the cache.
const KEPT: &str = "meeting.json";

/// A correction that came since machines went apart.
struct Candidate {
    stimulus: Stimulus,
    memory: Neuron,
    /// All that it replaces.
    replaces: BTreeSet<StimulusId>,
    /// Whether a person approved it.
    is_approved: bool,
}

/// The sentence for a run that archived the memories which another one replaces.
fn replaces(run: &str, memory: &NeuronId) -> String {
    format!("{run} archived the memories that {memory} replaces")
}

impl Candidate {
    fn side(&self) -> Side<'_> {
        (&self.memory.origin, self.stimulus.source.as_deref(), self.memory.pinned, self.is_approved)
    }
}

impl Brain {
    /// The commit of wake from which on this machine and a remote went apart, and whether a sync before was cut off; kept until
    /// [`Brain::settle_meeting`].
    pub(super) fn before_meeting(&self, remote: Option<&str>) -> Result<(Option<CommitId>, bool), BrainError> {
        let store = &self.cycle.store;
        if let Some(Some(kept)) = store.cached_document::<Option<String>>(KEPT)
            && let Ok(commit) = CommitId::parse(&kept)
            && store.commit(commit).is_ok()
        {
            return Ok((Some(commit), true));
        }
        let base = store.seen(&store.remote(remote)?)?.get(store.wake()).copied();
        store.keep_document(KEPT, &base.map(|base| base.to_string()));
        Ok((base, false))
    }

    /// Archives the earlier one of two live corrections of one memory that came since machines went apart. Returns the notes on it.
    pub(super) fn settle_meeting(&self, base: Option<CommitId>, has_met: bool) -> Result<Vec<String>, BrainError> {
        let mut notes = if has_met { self.bring_back_what_they_replaced(base)? } else { Vec::new() };
        let mut found = if has_met { self.corrections_since(base)? } else { Vec::new() };
        // Agents of another machine, or of a gate, may have perceived them, where no person archives what they replace.
        for one in &found {
            notes.extend(self.replaced_elsewhere(one)?);
        }
        found.sort_by(|a, b| (a.stimulus.at, &a.stimulus.id).cmp(&(b.stimulus.at, &b.stimulus.id)));
        let mut by_memory: BTreeMap<&StimulusId, Vec<usize>> = BTreeMap::new();
        for (at, one) in found.iter().enumerate() {
            one.replaces.iter().for_each(|old| by_memory.entry(old).or_default().push(at));
        }
        let mut leaving: BTreeMap<usize, usize> = BTreeMap::new();
        for together in by_memory.values() {
            let Some((latest, earlier)) = together.split_last() else { continue };
            let may = |at: &&usize| self.may_overtake(found[*latest].side(), found[**at].side());
            leaving.extend(earlier.iter().filter(may).map(|at| (*at, *latest)));
        }
        let mut gone = Vec::new();
        for (earlier, later) in leaving {
            let (old, new) = (&found[earlier], &found[later]);
            if self.is_wanted_back(&old.memory)? {
                continue;
            }
            let reason = format!("replaced by {}", new.memory.id);
            notes.push(of_two(&old.memory.id, &new.memory.id));
            gone.push(Leaving { stimulus: old.stimulus.clone(), reason, is_let_in: true });
        }
        self.archive(&gone, None)?;
        self.cycle.store.keep_document(KEPT, &None::<String>);
        Ok(notes)
    }

    /// Takes back what archived the memories that runs replaced which a machine has taken back since that commit: another one carried them out
    /// meanwhile. Of memories that a night has removed since, history has the last state.
    fn bring_back_what_they_replaced(&self, base: Option<CommitId>) -> Result<Vec<String>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let old = base.map(|base| store.tree_of(base)).transpose()?;
        let changes = store.diff_within(old, Some(tree), layout::RUNS, limits::FOLLOWED_NEURONS)?;
        let network = TreeNetwork::new(store, tree);
        let (mut taken_back, mut brought) = (BTreeMap::new(), Vec::new());
        // What a revert brought back may be corrected by what its machine did not know.
        let mut back = BTreeSet::new();
        for change in changes.unwrap_or_default().into_iter().filter(|change| change.old.is_none()) {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            if !run.is_a_persons() {
                continue;
            }
            let by = network.record(&run)?.filter(|by| !by.reverts.is_empty() || by.trigger == BROUGHT_BACK);
            let Some(by) = by else { continue };
            back.extend(by.effects.iter().filter_map(|effect| effect.id().map(ToString::to_string)));
            for run in &by.reverts {
                if self.cycle.taken_back_by(tree, run)?.is_some() {
                    taken_back.extend(network.record(run)?.map(|record| (run.clone(), record)));
                }
            }
            brought.extend((!by.reverts.is_empty()).then_some(by));
        }
        let mut notes = self.settle_statements(&brought)?;
        let back: Vec<String> = back.into_iter().collect();
        notes.extend(self.settle_rivals(&back)?);
        for record in taken_back.into_values() {
            notes.extend(self.bring_back_what_it_replaced(record)?);
        }
        Ok(notes)
    }

    /// Takes back what archived the memories that a run replaced which is taken back, and that nothing else replaces. A sentence for each.
    fn bring_back_what_it_replaced(&self, record: RunRecord) -> Result<Vec<String>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let (mut notes, run, chosen) = (Vec::new(), record.run.clone(), vec![record]);
        let (archivals, _) = self.archivals_beside(&chosen)?;
        let is_reverted = |one: &RunRecord| self.cycle.taken_back_by(tree, &one.run).is_ok_and(|by| by.is_some());
        let (reverted, still): (Chosen, Chosen) = archivals.into_iter().partition(is_reverted);
        if !still.is_empty() {
            notes.extend(still.iter().map(|one| {
                format!("{} archived what {run} replaced, which is taken back, and is taken back with it", one.run)
            }));
            self.revert(still, None, false)?;
        }
        // A merge archives again what one side unarchived and the other one removed, and a night removes it.
        let archived = reverted.into_iter().flat_map(|one| one.ops).filter_map(|op| match op {
            Operation::Archive(archive) => Some(archive.id),
            _ => None,
        });
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut missed = Vec::new();
        for id in archived.chain(self.cycle.archivals_of(&chosen, tree)?.removed) {
            let memory = match network.neuron(&id)? {
                Some(memory) => Some(memory),
                None => self.cycle.as_it_went(&id).ok().map(|(memory, ..)| memory),
            };
            missed.extend(memory.map(|memory| (memory.created_at, id)));
        }
        // The newest first: what it replaces stays away with it.
        missed.sort_by(|a, b| b.cmp(a));
        for (_, id) in missed {
            if self.is_missed(&id, &chosen)? {
                let by = self.restore_for(Some(BROUGHT_BACK), id.as_str(), false)?.run;
                notes.push(format!(
                    "{id}, which {run} archived or replaced, is brought back by {by}: {run} is taken back"
                ));
            }
        }
        notes.extend(self.bring_back_overtaken(&chosen)?);
        Ok(notes)
    }

    /// Brings back the corrections that gave way to later ones which are taken back, and archives again what they replace. A sentence for each.
    fn bring_back_overtaken(&self, chosen: &Chosen) -> Result<Vec<String>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut going = BTreeSet::new();
        for id in chosen.iter().flat_map(|record| &record.stimuli) {
            if network.stimulus_ever(id)?.is_some_and(|stimulus| corrects_text(&stimulus)) {
                going.insert(format!("replaced by {}", episode_id(id)));
            }
        }
        let since = chosen.iter().map(|record| record.run.unix_ms() / 1000).min();
        let Some(since) = since.filter(|_| !going.is_empty()) else { return Ok(Vec::new()) };
        let (mut notes, mut back) = (Vec::new(), Vec::new());
        let reverted = self.cycle.reverted(tree)?;
        let records = self.cycle.persons_since(tree, since)?;
        for record in records.into_iter().filter(|record| !reverted.contains_key(&record.run)) {
            for op in &record.ops {
                let Operation::Archive(archive) = op else { continue };
                if !going.contains(&archive.reason) || !self.is_missed(&archive.id, chosen)? {
                    continue;
                }
                let by = self.restore_for(Some(BROUGHT_BACK), archive.id.as_str(), false)?.run;
                notes.push(format!("{}, which gave way to a later correction, is brought back by {by}", archive.id));
                back.push(archive.id.to_string());
                let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(None)?)?);
                if let Some(memory) = network.neuron(&archive.id)? {
                    let by = self.archive_for(&memory, self.is_approved(&memory)?)?;
                    notes.extend(by.iter().map(|run| replaces(run, &memory.id)));
                }
            }
        }
        notes.extend(self.settle_rivals(&back)?);
        Ok(notes)
    }

    /// Archives what a live memory replaces and nobody archived for it: who did and brought it back wanted both. A sentence for each run that does.
    fn replaced_elsewhere(&self, one: &Candidate) -> Result<Vec<String>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::remembering(&self.cycle.store, tree, &self.cycle.shared.neurons);
        let mut is_live = false;
        for old in &one.stimulus.supersedes {
            is_live |= network.neuron(&episode_id(old))?.is_some_and(|old| !old.is_archived());
        }
        let Some(run) = one.memory.run.as_ref().filter(|_| is_live) else { return Ok(Vec::new()) };
        let reason = format!("replaced by {}", one.memory.id);
        let is_its = |op: &Operation| matches!(op, Operation::Archive(archive) if archive.reason == reason);
        // The text may be older than the run that touched its memory last.
        let since = (run.unix_ms() / 1000).min(one.stimulus.at.unix());
        if self.cycle.persons_since(tree, since)?.iter().any(|record| record.ops.iter().any(is_its)) {
            return Ok(Vec::new());
        }
        let by = self.archive_for(&one.memory, one.is_approved)?;
        Ok(by.iter().map(|run| replaces(run, &one.memory.id)).collect())
    }

    /// The same of a run that was just taken back, and of those that made what it replaced and were taken back before.
    pub(super) fn bring_back_below(&self, record: RunRecord) -> Result<Vec<String>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(None)?)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut older = BTreeSet::new();
        for stimulus in &record.stimuli {
            older.extend(self.older_than(&network, stimulus)?.into_iter().map(|older| older.id));
        }
        if older.is_empty() && !record.ops.iter().any(|op| matches!(op, Operation::Archive(_))) {
            return Ok(Vec::new());
        }
        let mut notes = self.bring_back_what_it_replaced(record)?;
        if !older.is_empty() {
            for run in self.cycle.reverted(tree)?.keys() {
                let record = network.record(run)?;
                if let Some(record) = record.filter(|record| record.stimuli.iter().any(|id| older.contains(id))) {
                    notes.extend(self.bring_back_what_it_replaced(record)?);
                }
            }
        }
        Ok(notes)
    }

    /// Settles memories that several made: of those records, or of runs that they took back or brought back.
    pub(super) fn settle_statements(&self, brought: &[RunRecord]) -> Result<Vec<String>, BrainError> {
        if brought.is_empty() {
            return Ok(Vec::new());
        }
        let (base, by) = self.person_run(&[SETTLED.as_bytes()])?;
        let mut applied = self.cycle.settling(brought, base, &by)?;
        self.keep_marks(&mut applied, &BTreeSet::new())?;
        if !applied.neurons.is_empty() {
            let draft = Draft::by_hand(&self.cycle.shared, base, by, SETTLED)?;
            self.land(Draft { reason: SETTLED.to_owned(), ..draft }, &applied, false)?;
        }
        Ok(applied.notes)
    }

    /// Whether a memory is archived or gone because of these runs, which are taken back, and none that lives replaces it.
    fn is_missed(&self, id: &NeuronId, chosen: &Chosen) -> Result<bool, BrainError> {
        let (store, wake) = (&self.cycle.store, self.at(None)?);
        let tree = store.tree_of(wake)?;
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let memory = match network.neuron(id)? {
            Some(memory) if !memory.is_archived() => return Ok(false),
            Some(memory) => memory,
            None => match self.cycle.as_it_went(id) {
                Ok((memory, ..)) => memory,
                // A shallow clone may have no history of it.
                Err(_) => return Ok(false),
            },
        };
        // What made it may be taken back as well.
        let (reverted, made) = (self.cycle.reverted(tree)?, Made::from([(id.clone(), memory.created_at)]));
        let told = self.cycle.told_without(&made, wake, &|run| reverted.contains_key(run))?;
        if told.get(id).is_some_and(|told| told.neuron.is_none()) {
            return Ok(false);
        }
        let is_theirs = self.cycle.went_for(chosen, &memory, tree)?;
        let Some(stimulus) = &memory.stimulus else { return Ok(is_theirs) };
        let snapshot = snapshot_beside(store, tree)?;
        Ok(is_theirs && self.replacers(wake, &network, &snapshot, (stimulus, &memory.concept))?.is_empty())
    }

    /// The live memories that came, or landed, since a commit and replace others; of files none, whose newest feed says what they have.
    fn corrections_since(&self, base: Option<CommitId>) -> Result<Vec<Candidate>, BrainError> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.at(None)?)?;
        let old = base.map(|base| store.tree_of(base)).transpose()?;
        let changes = |folder| store.diff_within(old, Some(tree), folder, limits::FOLLOWED_NEURONS);
        let came = changes(layout::STIMULI)?.unwrap_or_default().into_iter().filter(|change| change.old.is_none());
        let landed = changes(layout::QUEUE)?.unwrap_or_default().into_iter().filter(|change| change.new.is_none());
        let mut ids: BTreeSet<StimulusId> = came
            .chain(landed)
            .filter_map(|change| match Place::of(&change.path) {
                Place::Stimulus(id) | Place::Queue(id) => Some(id),
                _ => None,
            })
            .collect();
        let network = TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons);
        let mut found = Vec::new();
        // What a rejection that was taken back let in was in no queue any more.
        for change in changes(layout::RUNS)?.unwrap_or_default().into_iter().filter(|change| change.old.is_none()) {
            let Place::Run(run) = Place::of(&change.path) else { continue };
            if !run.is_a_persons() {
                continue;
            }
            let record = network.record(&run)?.filter(|record| record.trigger.starts_with(REASON));
            ids.extend(record.into_iter().flat_map(|record| record.stimuli));
        }
        for id in ids {
            let Some(stimulus) = network.stimulus_ever(&id)?.filter(corrects_text) else { continue };
            let Some(memory) = network.neuron(&episode_id(&id))?.filter(|memory| !memory.is_archived()) else {
                continue;
            };
            let older = self.older_than(&network, &id)?;
            let replaces = older.into_iter().map(|older| older.id).chain(stimulus.supersedes.iter().cloned()).collect();
            let is_approved = self.is_approved(&memory)?;
            found.push(Candidate { stimulus, memory, replaces, is_approved });
        }
        Ok(found)
    }
}
