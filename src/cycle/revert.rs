//! Taking back: from runs in wake to what one run of a person changes so that it is as if they had not been.
//!
//! A neuron that nothing else has touched since becomes what it was before, to the byte, marks included; one that the runs made goes.
//! Where others have touched it, the runs' effects are subtracted by the typed merge, and what the others did stays. Records, stimuli,
//! signals and answers stay: they are the audit. Signals that still wait are answered, so that they wake nobody.

mod back;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use back::{Back, Beside};

use super::commit::Amends;
use super::error::left_alone;
use super::network::TreeNetwork;
use super::statement::without_lost_ties;
use super::trailers::SLEEP;
use super::{Cycle, CycleError};
use crate::delta::{Applied, Operation, RunRecord, reverted_among};
use crate::limits;
use crate::model::ids::{NeuronId, RunId, StimulusId, episode_id};
use crate::model::layout::{self, Place};
use crate::model::{Neuron, Origin, Stamp};
use crate::review::REASON;
use crate::store::{CommitId, TreeEdit, TreeId};

/// What taking runs back does.
#[derive(Debug, Default)]
pub struct Reverted {
    /// What changes as by a delta.
    pub applied: Applied,
    /// What no delta can say.
    pub amends: Amends,
    /// Neurons that become exactly what they were before, those that go included.
    pub exact: usize,
}

/// What archived the memories that runs replaced.
#[derive(Debug, Default)]
pub struct Archivals {
    /// Runs that did nothing besides, newest first.
    pub alone: Chosen,
    /// Runs that did more.
    pub wider: Chosen,
    /// Memories that a night has removed since.
    pub removed: Vec<NeuronId>,
}

/// The runs that are to be taken back, newest first.
pub type Chosen = Vec<RunRecord>;

impl Cycle {
    /// One run, if it is in the tree and not taken back already.
    pub fn run_to_revert(&self, run: &RunId, tree: TreeId) -> Result<Chosen, CycleError> {
        let Some(record) = TreeNetwork::new(&self.store, tree).record(run)? else {
            let hint = match run.agent().as_str() == SLEEP {
                true => Some("that is a night: `git brain sleep --undo` takes the newest one back".to_owned()),
                false => match self.waiting_named(run.as_str())? {
                    Some(_) => Some(format!("it waits for review: `git brain reject {run}` throws it away")),
                    None => self.hint_of_unknown_run()?,
                },
            };
            return Err(CycleError::Refused { message: format!("there is no run {run} in wake"), hint });
        };
        if record.is_left_over() {
            let stands = self.decision_that_stands(&TreeNetwork::new(&self.store, tree), run)?;
            let told = stands.map(|review| self.with_remarks(review)).transpose()?;
            return Err(CycleError::Refused {
                message: format!("{run} was thrown away or amended, so there is nothing of it to take back"),
                hint: Some(match told {
                    Some(told) => told.way_back(),
                    None => "feeding or proposing it again brings it back".to_owned(),
                }),
            });
        }
        if let Some(by) = self.reverted(tree)?.get(run) {
            return Err(CycleError::Refused {
                message: format!("{run} is taken back already, by {by}"),
                hint: Some(format!("`git brain revert {by}` brings it back")),
            });
        }
        Ok(vec![record])
    }

    /// Where a run may be that wake has not.
    pub fn hint_of_unknown_run(&self) -> Result<Option<String>, CycleError> {
        Ok(match self.store.has_remote()? {
            true => Some(
                "`git brain sync` brings the runs of other machines; `git brain log` shows those that are here"
                    .to_owned(),
            ),
            false => Some("`git brain log` shows runs".to_owned()),
        })
    }

    /// All runs of an origin, and those that descend from its stimuli, that are not taken back already.
    pub fn runs_of_origin(&self, origin: &Origin, tree: TreeId) -> Result<Chosen, CycleError> {
        let mut records = self.run_records(tree, |_| true, |_| true)?;
        let reverted = reverted_among(&records);
        let stimuli: BTreeSet<StimulusId> = records
            .iter()
            .filter(|record| record.depth == 1 && record.origin.is_of(origin))
            .flat_map(|record| record.stimuli.iter().cloned())
            .collect();
        records.retain(|record| {
            let descends = record.stimuli.iter().any(|stimulus| stimuli.contains(stimulus));
            (record.origin.is_of(origin) || descends) && !reverted.contains_key(&record.run)
        });
        Ok(records)
    }

    /// The runs of an origin that a tree has and main has not, and the origins of those that come from it and from elsewhere.
    pub fn runs_of_origin_since(
        &self,
        origin: &Origin,
        main: TreeId,
        tree: TreeId,
    ) -> Result<(Vec<RunId>, BTreeSet<String>), CycleError> {
        let runs: Vec<crate::delta::RunOutline> =
            self.outlines_between(main, tree)?.into_iter().map(|(_, run)| run).collect();
        let origins = &self.shared.policy.settings.origins;
        let taken_back: BTreeSet<RunId> = runs.iter().flat_map(|run| run.reverts.iter().cloned()).collect();
        let approvals = runs.iter().filter(|run| !taken_back.contains(&run.run));
        let approved: BTreeSet<RunId> = approvals.flat_map(|run| run.approves.iter().cloned()).collect();
        let (whole, mixed): (Vec<_>, Vec<_>) = runs
            .into_iter()
            .filter(|run| run.origin.is_of(origin) && !approved.contains(&run.run))
            .partition(|run| origins.only_of(&run.origin, origin));
        Ok((whole.into_iter().map(|run| run.run).collect(), mixed.iter().map(|run| run.origin.to_string()).collect()))
    }

    /// What archived the memories that the stimuli of these runs replace: without those runs nothing replaces them.
    pub fn archivals_of(&self, chosen: &Chosen, tree: TreeId) -> Result<Archivals, CycleError> {
        let network = TreeNetwork::new(&self.store, tree);
        let going: BTreeSet<NeuronId> = chosen.iter().flat_map(|record| &record.stimuli).map(episode_id).collect();
        let (mut removed, mut found) = (Vec::new(), BTreeMap::new());
        for record in chosen {
            for op in &record.ops {
                let Operation::Archive(archive) = op else { continue };
                let Some(neuron) = network.neuron(&archive.id)? else {
                    removed.push(archive.id.clone());
                    continue;
                };
                // Whoever approved it archived that as well.
                let by = neuron.archived.map(|by| network.record(&by)).transpose()?.flatten();
                let by = by.filter(|by| by.trigger.strip_prefix(REASON) == Some(record.run.as_str()));
                if let Some(by) = by.filter(|by| chosen.iter().all(|record| record.run != by.run)) {
                    found.insert(by.run.clone(), (by, true));
                }
            }
        }
        // What replaced a memory and was replaced itself gives nothing back: what replaces it stands.
        // Of a run that is taken back already the memory is gone, or archived by a revert.
        let (mut open, reverted): (Vec<StimulusId>, _) = (Vec::new(), self.reverted(tree)?);
        for record in chosen {
            let is_taken_back = reverted.contains_key(&record.run);
            for id in &record.stimuli {
                let memory = network.neuron(&episode_id(id))?;
                let by = memory.as_ref().and_then(|memory| memory.archived.clone());
                let by = by.map(|by| network.record(&by)).transpose()?.flatten();
                let is_reverted = memory.as_ref().is_none_or(|_| by.is_some_and(|by| !by.reverts.is_empty()));
                let lives = memory.is_some_and(|memory| !memory.is_archived());
                if if is_taken_back { is_reverted } else { lives } {
                    open.push(id.clone());
                }
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.len() >= limits::REPLACED_CHAIN {
                break;
            }
            let replaces = network.stimulus_ever(&id)?.map(|stimulus| stimulus.supersedes).unwrap_or_default();
            for old in replaces.into_iter().filter(|old| seen.insert(old.clone())) {
                let memory = network.neuron(&episode_id(&old))?;
                if memory.is_none() {
                    removed.push(episode_id(&old));
                    open.push(old);
                }
                let by = memory.and_then(|neuron| neuron.archived);
                let Some(by) = by.filter(|by| by.is_a_persons() && !found.contains_key(by)) else { continue };
                let Some(record) = network.record(&by)?.filter(|_| chosen.iter().all(|record| record.run != by)) else {
                    continue;
                };
                let own: Vec<bool> =
                    record.ops.iter().map(|op| archives_for(&network, &going, op)).collect::<Result<_, _>>()?;
                if own.contains(&true) {
                    found.insert(by, (record, !own.contains(&false)));
                }
            }
        }
        let (alone, wider): (Vec<_>, Vec<_>) = found.into_values().rev().partition(|(_, is_alone)| *is_alone);
        let records = |of: Vec<(RunRecord, bool)>| of.into_iter().map(|(record, _)| record).collect();
        Ok(Archivals { alone: records(alone), wider: records(wider), removed })
    }

    /// Whether a memory that is gone had been archived by one of these runs, or for what they brought; or by none that stands.
    pub fn went_for(&self, chosen: &Chosen, memory: &Neuron, tree: TreeId) -> Result<bool, CycleError> {
        let Some(by) = &memory.archived else { return Ok(true) };
        if chosen.iter().any(|record| record.run == *by) {
            return Ok(true);
        }
        let network = TreeNetwork::new(&self.store, tree);
        let going: BTreeSet<NeuronId> = chosen.iter().flat_map(|record| &record.stimuli).map(episode_id).collect();
        for op in network.record(by)?.into_iter().flat_map(|record| record.ops) {
            let is_its = matches!(&op, Operation::Archive(archive) if archive.id == memory.id);
            if is_its && archives_for(&network, &going, &op)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The run that took one back, if that stands.
    pub fn taken_back_by(&self, tree: TreeId, run: &RunId) -> Result<Option<RunId>, CycleError> {
        Ok(self.reverted(tree)?.get(run).cloned())
    }

    /// The runs of a tree that are taken back, and by which run.
    pub fn reverted(&self, tree: TreeId) -> Result<Rc<BTreeMap<RunId, RunId>>, CycleError> {
        if let Some((of, known)) = &*self.taken_back.borrow()
            && *of == tree
        {
            return Ok(Rc::clone(known));
        }
        let reverted = Rc::new(reverted_among(&self.reverting_records(tree)?));
        *self.taken_back.borrow_mut() = Some((tree, Rc::clone(&reverted)));
        Ok(reverted)
    }

    /// The runs that are taken back once these are as well.
    fn taken_back_with<'r>(
        &self,
        chosen: impl Iterator<Item = &'r RunRecord> + Clone,
        tree: TreeId,
    ) -> Result<BTreeSet<RunId>, CycleError> {
        let going: BTreeSet<RunId> = chosen.clone().map(|record| record.run.clone()).collect();
        let others = match chosen.clone().all(|record| record.reverts.is_empty()) {
            true => BTreeMap::clone(&*self.reverted(tree)?),
            false => {
                let mut records = self.reverting_records(tree)?;
                records.retain(|record| !going.contains(&record.run));
                reverted_among(&records)
            }
        };
        Ok(others.into_keys().chain(going).collect())
    }

    /// The records of people that take runs back, newest first.
    pub fn reverting_records(&self, tree: TreeId) -> Result<Vec<RunRecord>, CycleError> {
        let mut records = self.run_records(tree, RunId::is_a_persons, RunRecord::may_revert)?;
        records.retain(|record| !record.reverts.is_empty());
        Ok(records)
    }

    /// The records of people's runs since a second, with a day for clocks that differ, newest first.
    pub fn persons_since(&self, tree: TreeId, seconds: i64) -> Result<Vec<RunRecord>, CycleError> {
        const DAY: i64 = 86_400;
        let since = (seconds - DAY).saturating_mul(1000);
        self.run_records(tree, |run| run.is_a_persons() && run.unix_ms() >= since, |_| true)
    }

    /// Records of a tree, newest first, of the runs and files that are wanted.
    fn run_records(
        &self,
        tree: TreeId,
        is_wanted: impl Fn(&RunId) -> bool,
        may_be: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<RunRecord>, CycleError> {
        let mut records = Vec::new();
        for (path, file) in self.store.files(tree, layout::RUNS)? {
            let Place::Run(run) = Place::of(&path) else { continue };
            if !is_wanted(&run) {
                continue;
            }
            let bytes = self.store.content(file.blob)?;
            if may_be(&bytes) {
                records.extend(left_alone(&self.store, RunRecord::decode(&bytes, &path))?);
            }
        }
        records.sort_by(|a, b| b.run.cmp(&a.run));
        Ok(records)
    }

    /// Cuts runs, newest first, into what one record can hold. Each part is taken back by a run of its own.
    pub fn parts_to_revert(chosen: Chosen) -> Vec<Chosen> {
        let mut parts: Vec<Chosen> = Vec::new();
        let mut effects = 0;
        for record in chosen {
            effects += record.effects.len();
            match parts.last_mut() {
                Some(last) if effects <= limits::REVERTED_EFFECTS => last.push(record),
                _ => {
                    effects = record.effects.len();
                    parts.push(vec![record]);
                }
            }
        }
        parts
    }

    /// What taking these runs back does to the tree of `base`, as the run `by` at `clock`.
    pub fn reverting(&self, chosen: &Chosen, base: CommitId, by: &RunId, clock: Stamp) -> Result<Reverted, CycleError> {
        let tree = self.store.tree_of(base)?;
        let beside = self.beside_reverts(chosen, tree)?;
        let taken_back = self.taken_back_with(chosen.iter().chain(&beside.twins), tree)?;
        let network = TreeNetwork::new(&self.store, tree);
        let mut with_effect = Chosen::new();
        for record in chosen {
            if self.has_effect(record, &network, &taken_back)? {
                with_effect.push(record.clone());
            }
        }
        let mut back = Back { cycle: self, tree, base, by, network, taken_back, out: Reverted::default() };
        back.neurons(&with_effect, &beside)?;
        back.signals(chosen, clock)?;
        back.switches(chosen)?;
        let mut out = back.out;
        let named = chosen.iter().chain(&beside.twins);
        out.amends.reverts = named.map(|record| record.run.clone()).collect();
        Ok(out)
    }

    /// Of what taking back would remove or change, makes what another tree has of it, without ties to what is not here. What is archived here already
    /// stays so, and so does what has such ties there and would only change: a night here took more from it than the revert does.
    pub fn as_there(&self, reverted: &mut Reverted, (base, there): (CommitId, CommitId)) -> Result<(), CycleError> {
        let theirs = TreeNetwork::new(&self.store, self.store.tree_of(there)?);
        let ours = TreeNetwork::new(&self.store, self.store.tree_of(base)?);
        let mut going: Vec<(NeuronId, Neuron)> =
            reverted.amends.removed.iter().map(|(id, now)| (id.clone(), now.clone())).collect();
        let changed = reverted.applied.neurons.iter().filter_map(|(id, (now, _))| Some((id.clone(), now.clone()?)));
        going.extend(changed.filter(|(_, now)| !now.is_archived()));
        let back: BTreeSet<NeuronId> = going.iter().map(|(id, _)| id.clone()).collect();
        for (id, now) in going {
            let Some(their) = theirs.neuron(&id)?.filter(|their| !their.is_archived()) else { continue };
            let is_here = |id: &NeuronId| Ok(back.contains(id) || ours.shared(id)?.is_some());
            let here = without_lost_ties(their.clone(), is_here)?;
            let after = reverted.applied.neurons.get(&id).map(|(_, after)| after);
            if here != their && after.is_some_and(|after| !after.is_archived() && after.concept == now.concept) {
                continue;
            }
            let their = here;
            reverted.amends.removed.remove(&id);
            // A record says what its commit does, and no more.
            if now == their {
                reverted.amends.unmarked.remove(&id);
                reverted.applied.neurons.remove(&id);
                continue;
            }
            reverted.amends.unmarked.insert(id.clone());
            reverted.applied.neurons.insert(id, (Some(now), their));
        }
        Ok(())
    }

    /// Whether taking a run back, after which those are taken back, changes anything: not where all that it took or brought back is taken back before
    /// and afterwards, or neither.
    fn has_effect(
        &self,
        record: &RunRecord,
        network: &TreeNetwork<'_>,
        after: &BTreeSet<RunId>,
    ) -> Result<bool, CycleError> {
        let before = self.reverted(network.tree)?;
        let (mut open, mut seen) = (record.reverts.clone(), BTreeSet::new());
        while let Some(run) = open.pop() {
            if !seen.insert(run.clone()) {
                continue;
            }
            // Of very many nobody asks.
            let Some(below) = network.record(&run)?.filter(|_| seen.len() < limits::REPLACED_CHAIN) else {
                return Ok(true);
            };
            if below.reverts.is_empty() && before.contains_key(&run) != after.contains(&run) {
                return Ok(true);
            }
            open.extend(below.reverts);
        }
        Ok(record.reverts.is_empty())
    }

    /// What other machines took back of what these runs took back.
    fn beside_reverts(&self, chosen: &Chosen, tree: TreeId) -> Result<Beside, CycleError> {
        let mut beside = Beside::default();
        let freed: BTreeSet<&RunId> = chosen.iter().flat_map(|record| &record.reverts).collect();
        if freed.is_empty() {
            return Ok(beside);
        }
        let records = self.reverting_records(tree)?;
        let reverted = reverted_among(&records);
        let others = records.into_iter().filter(|record| {
            let other = chosen.iter().all(|chosen| chosen.run != record.run) && !reverted.contains_key(&record.run);
            other && record.reverts.iter().any(|run| freed.contains(run))
        });
        let (twins, wider): (Vec<_>, Vec<_>) =
            others.partition(|record| record.reverts.iter().all(|run| freed.contains(run)));
        beside.twins = twins;
        let stays: BTreeSet<RunId> = wider.into_iter().flat_map(|record| record.reverts).collect();
        let network = TreeNetwork::new(&self.store, tree);
        for run in stays.iter().rev().filter(|run| freed.contains(run)) {
            beside.stays.extend(network.record(run)?);
        }
        Ok(beside)
    }

    /// The queue entries of stimuli of that origin: what is taken back must not be perceived afterwards.
    pub fn queued_of_origin(&self, origin: &Origin, tree: TreeId) -> Result<Vec<TreeEdit>, CycleError> {
        let network = TreeNetwork::new(&self.store, tree);
        let mut edits = Vec::new();
        for (path, file) in self.store.files(tree, layout::QUEUE)? {
            let Place::Queue(id) = Place::of(&path) else { continue };
            let stimulus = network.queued(&id, &self.store.content(file.blob)?)?;
            if stimulus.is_some_and(|stimulus| stimulus.origin.is_of(origin)) {
                edits.push(TreeEdit::new(path, None));
            }
        }
        Ok(edits)
    }
}

/// The memory in whose place another one is archived, by the reason of that.
pub fn replacer(reason: &str) -> Option<NeuronId> {
    let by = ["replaced by ", "corrected by "].iter().find_map(|how| reason.strip_prefix(how));
    by.and_then(|by| NeuronId::parse(by).ok())
}

/// The cognition of a run that restores a neuron.
pub const RESTORE: &str = "restore";

/// The trigger of one that no person asked for: something that had replaced the neuron is taken back.
pub const BROUGHT_BACK: &str = "brought back";

/// Whether an operation archives a memory for one that goes, or that is gone or archived: of several that replace one memory the first archived it, and
/// may have been taken back since.
fn archives_for(network: &TreeNetwork<'_>, going: &BTreeSet<NeuronId>, op: &Operation) -> Result<bool, CycleError> {
    let Operation::Archive(archive) = op else { return Ok(false) };
    let Some(by) = replacer(&archive.reason) else { return Ok(false) };
    Ok(going.contains(&by) || network.neuron(&by)?.is_none_or(|by| by.is_archived()))
}
